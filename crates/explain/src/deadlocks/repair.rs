//! What has become of a whole text on its way, and is undone before it is read.
//!
//! ```text
//!   &quot;, …<br>        a page's marks, where it has them throughout
//!   pod-0 db …, 12⇥ …   the same words, or the line's number, before each line
//!   … locks gap bef⏎    a screen's lines: all long ones have one length, and the next goes on
//!   ore rec …
//! ```
//!
//! A page's marks are known by themselves. The other repairs are tried only where a text tells a
//! deadlock in part or not at all, and kept only where less is missing with them: a text that tells
//! its deadlocks whole stays as it is.

use super::carried::{container_prefix, line_head};
use super::innodb::has_broken_state;
use super::one_line::IN_DOUBT;
use super::order::begins_with_date;
use crate::beginning::text_beginning;

/// What was undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogRepair {
    /// Marks of HTML were read as what they stand for.
    Markup,
    /// Words or numbers before each line were taken off.
    Prefixes,
    /// Lines that were wrapped at so many columns were joined.
    Wraps(usize),
}

impl LogRepair {
    /// For people, behind what the text was taken for.
    pub fn name(self) -> String {
        match self {
            LogRepair::Markup => "with marks of HTML, read as what they stand for".to_owned(),
            LogRepair::Prefixes => "with words before each line, taken off".to_owned(),
            LogRepair::Wraps(columns) => {
                format!("with lines wrapped at {columns} columns, joined")
            }
        }
    }
}

/// A text as it was before, with what was undone.
pub(super) struct RepairedText {
    pub(super) text: String,
    pub(super) repair: LogRepair,
    /// For each of its lines where it began in the text that came, from 1; nothing where lines
    /// are the same.
    pub(super) begins: Vec<usize>,
}

/// Columns at which lines are wrapped.
const COLUMNS: std::ops::RangeInclusive<usize> = 40..=300;
/// Bytes of an entity, as `&quot;`.
const ENTITY_BYTES: usize = 7;
/// Words before each line that are the names of where it comes from.
const WORDS_MOST: usize = 3;
/// Different words before the lines of one text.
const NAMES_MOST: usize = 32;
/// Bytes that are looked at of joined lines for those of a text: a line of one column has the
/// bytes of a name before it.
const LOOKS_MOST: usize = 12;

/// A text without the marks of a page, if it has any.
pub(super) fn without_markup(text: &str) -> Option<RepairedText> {
    let ends = ["<br>", "<br/>", "<br />"];
    let is_page = text.contains("<br") && {
        let filled = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let broken = filled.clone().filter(|line| ends.iter().any(|end| line.ends_with(end)));
        2 * broken.count() >= filled.count()
    };
    let mut plain = String::new();
    if is_page {
        for line in text.lines() {
            let line = line.trim_end();
            let end = ends.iter().find_map(|end| line.strip_suffix(end));
            plain.push_str(end.unwrap_or(line));
            plain.push('\n');
        }
    }
    let text = if is_page { &plain } else { text };
    let decoded = without_entities(text);
    let text = decoded.or_else(|| is_page.then(|| plain.clone()))?;
    Some(RepairedText { text, repair: LogRepair::Markup, begins: Vec::new() })
}

/// A text with the characters that its entities stand for. One of which the character stands in
/// the text as well is left: it was written so, and a quote in a literal must not end it.
fn without_entities(text: &str) -> Option<String> {
    if !["&quot;", "&#", "&lt;", "&gt;", "&apos;"].iter().any(|entity| text.contains(entity)) {
        return None;
    }
    let all_named = text.split('&').skip(1).all(|rest| entity(rest).is_some());
    let standing: Vec<char> =
        ['"', '\'', '<', '>', '`'].into_iter().filter(|it| text.contains(*it)).collect();
    let mut whole = String::with_capacity(text.len());
    let mut is_changed = false;
    let mut parts = text.split('&');
    whole.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let found = entity(part).filter(|(character, _)| match character {
            '&' => all_named,
            character => !standing.contains(character),
        });
        match found {
            Some((character, rest)) => {
                is_changed = true;
                whole.push(character);
                whole.push_str(rest);
            }
            None => {
                whole.push('&');
                whole.push_str(part);
            }
        }
    }
    is_changed.then_some(whole)
}

/// The character for which an entity stands, and what is behind it.
fn entity(text: &str) -> Option<(char, &str)> {
    let (name, rest) = text.split_once(';').filter(|(name, _)| name.len() < ENTITY_BYTES)?;
    let character = match name.to_ascii_lowercase().as_str() {
        "quot" | "#34" | "#x22" => '"',
        "apos" | "#39" | "#039" | "#x27" => '\'',
        "lt" | "#60" | "#x3c" => '<',
        "gt" | "#62" | "#x3e" => '>',
        "#96" | "#x60" => '`',
        "amp" | "#38" | "#x26" => '&',
        _ => return None,
    };
    Some((character, rest))
}

/// What a text may have been, each with one thing undone.
pub(super) fn repaired_texts(text: &str) -> impl Iterator<Item = RepairedText> {
    let words = (1..=WORDS_MOST).rev().map(move |count| without_words(text, count));
    let prefixes = [without_numbers(text), without_beginning(text)].into_iter().chain(words);
    let prefixes = prefixes.flatten().map(|text| RepairedText {
        text,
        repair: LogRepair::Prefixes,
        begins: Vec::new(),
    });
    prefixes.chain([Wrap::Anywhere, Wrap::Words].into_iter().filter_map(|at| unwrapped(text, at)))
}

/// Lines without their numbers, which grow by one.
fn without_numbers(text: &str) -> Option<String> {
    let (mut plain, mut last) = (String::with_capacity(text.len()), None);
    for line in text.lines() {
        let begun = line.trim_start();
        if !begun.is_empty() {
            let digits = begun.bytes().take_while(u8::is_ascii_digit).count();
            let number: u64 = begun[..digits].parse().ok()?;
            if last.is_some_and(|last: u64| last.checked_add(1) != Some(number)) {
                return None;
            }
            last = Some(number);
            let rest = &begun[digits..];
            let marks = ["\t", ": ", " | ", "| ", ". ", ") ", " "];
            let behind = marks.iter().find_map(|mark| rest.strip_prefix(mark));
            plain.push_str(behind.or(Some(rest).filter(|rest| rest.is_empty()))?);
        }
        plain.push('\n');
    }
    Some(plain)
}

/// Lines without what all of them begin with.
fn without_beginning(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut common = line_head(lines.next()?);
    for line in lines {
        let same = common.char_indices().zip(line.chars());
        let end = same.take_while(|((_, a), b)| a == b).last();
        common = &common[..end.map_or(0, |((at, character), _)| at + character.len_utf8())];
    }
    let common = common.trim_end_matches(|c: char| c.is_alphanumeric());
    let is_told = !common.trim().is_empty();
    is_told.then(|| {
        let rests = text.lines().map(|line| line.strip_prefix(common).unwrap_or_default());
        rests.map(|rest| rest.to_owned() + "\n").collect()
    })
}

/// Lines whose first words are the names of where they come from, as a cluster's client has them.
fn without_words(text: &str, count: usize) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        if !line.trim().is_empty() {
            let end = line.match_indices(' ').nth(count - 1).map(|(at, _)| at);
            let (before, rest) = line.split_at(end?);
            let name = before.replace(' ', "/");
            if name.split('/').any(str::is_empty) || name.contains([']', '\t']) {
                return None;
            }
            plain.push_str(&format!("[pod/{name}] {}", &rest[1..]));
            if !names.contains(&name) {
                names.push(name);
            }
            if names.len() > NAMES_MOST {
                return None;
            }
        }
        plain.push('\n');
    }
    (!names.is_empty()).then_some(plain)
}

/// Where a screen or a page has broken lines.
#[derive(Clone, Copy, PartialEq)]
enum Wrap {
    /// Before the first word for which there was no room.
    Words,
    /// Where the line was full.
    Anywhere,
}

/// A text whose lines are joined that are as long as its longest one, or leave no room for the
/// next word.
fn unwrapped(text: &str, at: Wrap) -> Option<RepairedText> {
    let most = text.lines().map(columns).max().filter(|most| COLUMNS.contains(most))?;
    let (mut whole, mut begins) = (String::with_capacity(text.len()), Vec::new());
    let (mut last, mut joined) = ("", JoinedLine::default());
    let (mut looked_at, mut joints, mut full) = (0, 0, 0);
    for (number, line) in (1..).zip(text.lines()) {
        let joint = joint(last, line, most, at);
        match joint.filter(|_| !joined.is_whole(&whole, line, &mut looked_at)) {
            Some(joint) => {
                joints += 1;
                full += usize::from(columns(last) == most);
                if may_have_comment(last) {
                    whole.push(IN_DOUBT);
                }
                whole.push_str(joint);
            }
            None => {
                if number > 1 {
                    whole.push('\n');
                }
                joined = JoinedLine { begin: whole.len(), ..JoinedLine::default() };
                begins.push(number);
            }
        }
        whole.push_str(line);
        last = line;
    }
    debug_assert!(looked_at <= LOOKS_MOST * (whole.len() + 1), "not linear");
    // Words seldom fill a line: where most lines are full they were broken anywhere.
    let is_of_words = at == Wrap::Words && 2 * full <= joints;
    let is_changed = joints > 0 && (at == Wrap::Anywhere || is_of_words);
    let repair = LogRepair::Wraps(most);
    is_changed.then_some(RepairedText { text: whole, repair, begins })
}

/// Whether a line may be one of a statement with a comment that ends where the line does: whether
/// it was broken there, nobody knows.
fn may_have_comment(line: &str) -> bool {
    let is_of_locks = ["RECORD LOCKS ", "TABLE LOCK ", "Record lock, ", "---"];
    let has_mark = line.contains('#') || line.contains("--") || line.ends_with('-');
    has_mark && !is_of_locks.iter().any(|words| line.starts_with(words))
}

/// What stood between two lines where they were one.
fn joint(last: &str, next: &str, most: usize, at: Wrap) -> Option<&'static str> {
    let is_full = columns(last) == most;
    let has_name = container_prefix(line_head(next)).is_some_and(|it| it.name.is_some());
    if last.trim().is_empty() || next.trim().is_empty() || begins_own(next) || has_name {
        return None;
    }
    if at == Wrap::Anywhere {
        return is_full.then_some("");
    }
    let first = next.split(' ').next().unwrap_or_default();
    let has_room = columns(last) + 1 + columns(first) <= most;
    if has_room || next.starts_with(char::is_whitespace) || last.starts_with("---") {
        return None;
    }
    // A word that is longer than a line is broken where the line is full.
    let word = last.rsplit(' ').next().unwrap_or_default();
    let is_one_word = is_full && columns(word) + columns(first) > most;
    Some(if is_one_word || last.ends_with(' ') { "" } else { " " })
}

/// Columns of a line on a screen.
fn columns(line: &str) -> usize {
    line.trim_end_matches('\r')
        .chars()
        .fold(0, |at, c| if c == '\t' { at / 8 * 8 + 8 } else { at + 1 })
}

/// Whether a line begins as a server begins one.
fn begins_own(line: &str) -> bool {
    const WORDS: [&str; 12] = [
        "***",
        "---",
        "===",
        "RECORD LOCKS ",
        "TABLE LOCK ",
        "Record lock, ",
        "TRANSACTION ",
        "mysql tables in use ",
        "LOCK WAIT ",
        "MySQL thread id ",
        "MariaDB thread id ",
        "LATEST DETECTED",
    ];
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let counted = &text[digits..];
    let of_process = text.strip_prefix("Process ").is_some_and(|rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.starts_with(':') || rest.starts_with(" waits ")
    });
    WORDS.iter().any(|words| text.starts_with(words))
        || (digits > 0 && [": len ", " lock struct(s)"].iter().any(|it| counted.starts_with(it)))
        || of_process
        || begins_with_date(text)
}

/// The line that is being joined, as far as it tells whether the server's line ends there. All
/// lines of a text may be joined to one, so that what was looked at is not looked at again.
#[derive(Default)]
struct JoinedLine {
    /// Where it begins in the text.
    begin: usize,
    /// How many bytes of it were looked at.
    passed: usize,
    is_thread: bool,
    /// Where the number of its query stands in it.
    query: Option<usize>,
    /// Words from there on.
    words: usize,
    is_in_word: bool,
}

impl JoinedLine {
    /// Whether it ends where the server's line does: the line of a thread, which has the host, the
    /// user and what it does behind its query, and is followed by the statement. Counts the bytes
    /// that are looked at.
    fn is_whole(&mut self, text: &str, next: &str, looked_at: &mut usize) -> bool {
        const THREAD: &str = "thread id ";
        const QUERY: &str = "query id ";
        let line = &text[self.begin..];
        // A name may have begun in what is passed.
        let from = text_beginning(line, self.passed.saturating_sub(THREAD.len())).len();
        let added = &line[from..];
        *looked_at += added.len();
        self.is_thread |= added.contains(THREAD);
        self.query = self.query.or_else(|| added.find(QUERY).map(|at| from + at + QUERY.len()));
        let Some(query) = self.query else {
            self.passed = line.len();
            return false;
        };
        for character in line[self.passed.max(query)..].chars() {
            let is_of_word = !character.is_whitespace();
            self.words += usize::from(is_of_word && !self.is_in_word);
            self.is_in_word = is_of_word;
        }
        self.passed = line.len();
        let is_state = ["update", "for update", "rows for update"].contains(&next.trim());
        self.is_thread && self.words > 3 && !is_state && !has_broken_state(line, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_read_where_the_text_is_a_page() {
        assert_eq!(
            without_entities("a = &quot;b&quot; &amp;&amp; c &lt; 1"),
            Some("a = \"b\" && c < 1".into())
        );
        // A quote within a literal would end it.
        assert_eq!(without_entities("a = 'O&#39;Brien'"), None);
        assert_eq!(without_entities("a &b; c"), None);
        // The text is not looked through for each of them.
        let many = without_entities(&"&quot;".repeat(200_000));
        assert!(many.is_some_and(|text| text.bytes().eq([b'"'; 200_000])));
    }

    /// All lines are as long as the longest, and of one line therefore: the reader itself asserts
    /// that it looks at none again and again.
    #[test]
    fn lines_that_are_all_joined_are_passed_once() {
        for part in ["a12 : ", "query id 7 ", "thread id 7 ", "query id", "ä"] {
            let line = part.repeat(200 / part.chars().count()) + "x\n";
            let text = line.repeat(1_000);
            assert!(unwrapped(&text, Wrap::Anywhere).is_some_and(|it| it.begins == [1]), "{part}");
            assert!(unwrapped(&text, Wrap::Words).is_none(), "{part}: words fill no lines");
        }
    }

    /// A name may be broken, and words are counted across joints.
    #[test]
    fn the_line_of_a_thread_ends_wherever_it_is_broken() {
        let thread = "MySQL thread id 7, query id 2 h u s t";
        for at in 1..thread.len() {
            let (mut joined, mut looked_at) = (JoinedLine::default(), 0);
            assert!(!joined.is_whole(&thread[..at.min(34)], "next", &mut looked_at));
            assert!(joined.is_whole(thread, "next", &mut looked_at), "{at}");
            assert!(!joined.is_whole(thread, " update", &mut looked_at), "{at}");
        }
    }

    #[test]
    fn numbers_and_words_are_taken_off_that_all_lines_have() {
        assert_eq!(without_numbers(" 9\tx\n10\t\ty\n").as_deref(), Some("x\n\ty\n"));
        assert_eq!(without_numbers("1\tx\n3\ty\n"), None);
        assert_eq!(without_beginning("# 1x\n#\ty\n").as_deref(), Some(" 1x\n\ty\n"));
        let words = without_words("a-0 db x\nb-0 db \ty\n", 2);
        assert_eq!(words.as_deref(), Some("[pod/a-0/db] x\n[pod/b-0/db] \ty\n"));
    }
}
