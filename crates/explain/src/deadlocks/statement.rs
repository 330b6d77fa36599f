//! Statements with `?` for each literal, by the rules of their dialect.
//!
//! ```text
//!                 MySQL, MariaDB                     PostgreSQL
//!   literals      'it''s \' 7'  "the same"  0xFF     'it''s'  E'\''  $tag$…$tag$  $1
//!   names         `a b`                              "a b"
//!   comments      -- …   # …   /* … */               -- …   /* … /* … */ … */
//! ```
//!
//! Comments are left out: an apostrophe in one begins no literal, and what is written there may be
//! a secret. A text between double quotes is a name in MySQL only with ANSI_QUOTES, which a log
//! does not say; it becomes a hole, but for where a statement has a table and no literal can stand:
//! two tables are no one kind. Whether a backslash protects a mark depends on a mode, too, and logs
//! cut statements off: where marks do not come out even and a backslash stands before one, all from
//! that literal on is one hole. So it is from a comment on that some releases execute, if it has a
//! mark.
//!
//! A literal may have lines that look like those of a log. Where a statement ends within one, what
//! is told next may be the rest of it ([`super::open_statements`]).

use dbdyno_model::Dialect;

use super::literal_scan::LiteralScan;
use super::one_line::IN_DOUBT;
use crate::beginning::text_beginning;

/// Bytes of a statement that are kept of a log; servers cut them off much earlier by themselves.
const BYTES_MOST: usize = 64 << 10;
/// Bytes of a quoted name with its quotes, some of them doubled, at most.
const NAME_BYTES_MOST: usize = 128;
/// What stands behind one that was cut off here.
const CUT: &str = " …";

/// A statement as a log tells it, line by line, as much of it as is sensible.
#[derive(Clone)]
pub(super) struct Statement {
    text: String,
    /// How many more lines are taken.
    left: usize,
    is_cut: bool,
    /// Whether what follows is in doubt.
    is_doubtful: bool,
    /// Bytes at which no line was missing of a literal, as it was looked at last: many lines of
    /// others may stand there.
    looked_at: usize,
}

impl Default for Statement {
    fn default() -> Statement {
        Statement::of_lines(usize::MAX)
    }
}

impl Statement {
    /// One of at most so many lines.
    pub(super) fn of_lines(most: usize) -> Statement {
        Statement {
            text: String::new(),
            left: most,
            is_cut: false,
            is_doubtful: false,
            looked_at: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Adds a line.
    pub(super) fn push_line(&mut self, line: &str) {
        let room = BYTES_MOST - self.text.len().min(BYTES_MOST);
        if self.left == 0 || room <= 1 {
            self.is_cut |= !line.trim().is_empty();
            return;
        }
        self.left -= 1;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let part = text_beginning(line, room - 1);
        self.text.push_str(part);
        self.is_cut |= part.len() < line.len();
    }

    /// The statement with `?` for each literal; what was cut off is told.
    pub(super) fn with_holes(&self, dialect: Dialect) -> String {
        let text = statement_with_holes(&self.text, dialect);
        if self.is_cut { text + CUT } else { text }
    }

    /// Whether the next line may be within a literal or a comment of it.
    pub(super) fn is_open(&self, dialect: Dialect) -> bool {
        self.is_doubtful || self.is_cut || LiteralScan::of_text(&self.text, dialect).is_open()
    }

    /// A line of it is missing: what follows is in doubt where that may have ended a literal.
    pub(super) fn miss_line(&mut self, dialect: Dialect) {
        let is_known = self.is_doubtful || self.looked_at == self.text.len();
        if !is_known && self.is_open(dialect) {
            self.text.push(IN_DOUBT);
            self.is_doubtful = true;
        }
        self.looked_at = self.text.len();
    }

    /// A statement of which nothing is certain.
    pub(super) fn in_doubt() -> Statement {
        Statement { text: IN_DOUBT.into(), ..Statement::default() }
    }
}

/// A statement with `?` for each literal, one space between words, and a list of literals as one.
/// Dialects other than PostgreSQL's are read as MySQL's.
pub fn statement_with_holes(sql: &str, dialect: Dialect) -> String {
    let family = Reader::of_dialect(dialect);
    let mut text = String::with_capacity(sql.len());
    let parts = sql.split_once(IN_DOUBT);
    let sql = parts.map_or(sql.trim(), |(sure, _)| sure.trim_start());
    let is_of_accounts = contains_word(sql, "identified");
    let mut strings = Strings { sql, known: Vec::new(), is_of_accounts };
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (token, length) = family.token(rest, first, &text, &mut strings);
        rest = &rest[length..];
        match token {
            Token::Space => space(&mut text),
            Token::Literal => hole(&mut text),
            Token::Text(token) => text.push_str(token),
        }
        one_row(&mut text);
    }
    if parts.is_some() && !text.ends_with('?') {
        hole(&mut text);
    }
    text.trim_end().to_owned()
}

/// Words behind which a sign is that of a number.
const SIGNED: [&str; 11] =
    ["values", "select", "return", "then", "else", "when", "and", "or", "in", "between", "like"];

enum Token<'a> {
    Space,
    Literal,
    Text(&'a str),
}

/// The rules of a family.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    Mysql,
    Postgres,
}

/// Whether a backslash protects the character behind it.
#[derive(Clone, Copy, PartialEq)]
enum Backslash {
    Protects,
    IsPlain,
}

impl Reader {
    fn of_dialect(dialect: Dialect) -> Reader {
        match dialect {
            Dialect::Postgres => Reader::Postgres,
            _ => Reader::Mysql,
        }
    }

    /// The token at the beginning of a text that is not empty, and its length in bytes; `before`
    /// is what was read until then.
    fn token<'a>(
        self,
        rest: &'a str,
        first: char,
        before: &str,
        strings: &mut Strings<'_>,
    ) -> (Token<'a>, usize) {
        let run = |is: fn(char) -> bool| rest.find(|c: char| !is(c)).unwrap_or(rest.len());
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '@';
        if let Some(length) = self.comment(rest) {
            return (Token::Space, length);
        }
        if let Some(length) = self.name_in_quotes(rest, first, before, strings) {
            return (Token::Text(&rest[..length]), length);
        }
        if let Some(length) = self.literal(rest, first, before, strings) {
            return (Token::Literal, length);
        }
        let length = match first {
            c if c.is_whitespace() => return (Token::Space, run(char::is_whitespace)),
            '"' if self == Reader::Postgres => {
                let end = end_of(rest, first, Backslash::IsPlain).unwrap_or(rest.len());
                if !may_be_name(&rest[..end]) {
                    return (Token::Literal, rest.len());
                }
                end
            }
            '"' | '`' => end_of(rest, first, Backslash::IsPlain).unwrap_or(rest.len()),
            // What is executed of a comment.
            '/' if self == Reader::Mysql && rest.starts_with("/*!") => {
                if is_of_two_senses(rest) {
                    return (Token::Literal, rest.len());
                }
                3
            }
            c if is_word(c) => run(is_word),
            c => c.len_utf8(),
        };
        (Token::Text(&rest[..length]), length)
    }

    /// Bytes of a column's name in the quotes of a literal. One whose end is in doubt is none: what
    /// is behind it may be a secret.
    fn name_in_quotes(
        self,
        rest: &str,
        first: char,
        before: &str,
        strings: &Strings<'_>,
    ) -> Option<usize> {
        // Nothing is looked for behind what is no quote: there are as many as letters. Behind the
        // AS of an account stands its password.
        let is_quoted =
            self == Reader::Mysql && matches!(first, '\'' | '"') && !strings.is_of_accounts;
        let is_name = is_for_a_name(before) || (first == '"' && is_for_a_table(before));
        if !is_quoted || !is_name {
            return None;
        }
        let end = end_of(rest, first, Backslash::Protects)?;
        (!rest[..end].contains('\\')).then_some(end)
    }

    /// Bytes of the literal with which a text begins.
    fn literal(
        self,
        rest: &str,
        first: char,
        before: &str,
        strings: &mut Strings<'_>,
    ) -> Option<usize> {
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        if let Some(length) = doubled(rest).or_else(|| typeset(rest, first)) {
            return Some(length);
        }
        match (first, self) {
            ('\'', Reader::Postgres) => {
                let mut letters = before.chars().rev();
                let escapes = matches!(letters.next(), Some('e' | 'E'))
                    && !letters.next().is_some_and(|c| c.is_alphanumeric() || c == '_');
                let backslash = if escapes { Backslash::Protects } else { Backslash::IsPlain };
                Some(strings.string(rest, '\'', backslash))
            }
            ('\'' | '"', Reader::Mysql) => Some(strings.string(rest, first, Backslash::Protects)),
            ('$', Reader::Postgres) => {
                let number = digits(&rest[1..]);
                if number > 0 {
                    return Some(1 + number);
                }
                dollar_quoted(rest)
            }
            (c, _) if c.is_ascii_digit() => {
                // PostgreSQL 16 reads `1_000` as a number; names of MySQL may begin with digits.
                let parts = if self == Reader::Postgres { &['.', '_'][..] } else { &['.'] };
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !parts.contains(&c));
                Some(end.unwrap_or(rest.len()))
            }
            _ => None,
        }
    }

    /// Bytes of the comment with which a text begins.
    fn comment(self, rest: &str) -> Option<usize> {
        let line = || rest.find('\n').unwrap_or(rest.len());
        let is_dashes = rest.strip_prefix("--").is_some_and(|behind| {
            self == Reader::Postgres || behind.chars().next().is_none_or(char::is_whitespace)
        });
        if is_dashes || (self == Reader::Mysql && rest.starts_with('#')) {
            return Some(line());
        }
        if !rest.starts_with("/*") || (self == Reader::Mysql && rest.starts_with("/*!")) {
            return None;
        }
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(mark) = rest[at..].find(['/', '*']).map(|length| at + length) {
            at = mark + 2;
            match rest.get(mark..at) {
                Some("*/") => depth -= 1,
                Some("/*") if depth == 0 || self == Reader::Postgres => depth += 1,
                _ => at = mark + 1,
            }
            if depth == 0 {
                return Some(at);
            }
        }
        Some(rest.len())
    }
}

/// Whether a string behind this text is the name of a column in MySQL: behind AS, a name in quotes
/// or with its table, or a bracket. Behind a word alone it may be a literal, as in
/// `DATE '2026-01-01'`.
fn is_for_a_name(before: &str) -> bool {
    let text = before.trim_end();
    let last = text.rsplit(|c: char| !is_of_a_word(c)).next().unwrap_or_default();
    let is_qualified = !last.is_empty() && text[..text.len() - last.len()].ends_with('.');
    last.eq_ignore_ascii_case("as") || is_qualified || text.ends_with([')', '`'])
}

/// Whether only a table can stand behind this text: `INSERT INTO`, `JOIN`, `UPDATE` and `DELETE
/// FROM` at the beginning, and a point. Behind other FROMs stand literals, too.
fn is_for_a_table(before: &str) -> bool {
    let text = before.trim_end();
    let last = text.rsplit(|c: char| !is_of_a_word(c)).next().unwrap_or_default();
    text.ends_with('.')
        || ["into", "join"].iter().any(|word| last.eq_ignore_ascii_case(word))
        || ["update", "delete from"].iter().any(|begin| text.eq_ignore_ascii_case(begin))
}

/// Whether what some servers execute of a comment has a mark that ends behind it: those that do not
/// execute it read on behind it, and the others within what the mark begins.
fn is_of_two_senses(comment: &str) -> bool {
    let Some((inside, _)) = comment[3..].split_once("*/") else { return false };
    let mut rest = inside;
    while let Some(at) = rest.find(['\'', '"', '`', '\\', '#', '-', '/']) {
        rest = &rest[at..];
        let length = match rest.chars().next() {
            Some(mark @ ('\'' | '"' | '`')) => end_of(rest, mark, Backslash::IsPlain),
            Some('-') if !rest.starts_with("--") => Some(1),
            Some('/') if !rest.starts_with("/*") => Some(1),
            _ => None,
        };
        let Some(length) = length.filter(|length| !rest[..*length].contains('\\')) else {
            return true;
        };
        rest = &rest[length..];
    }
    false
}

/// Whether what stands between double quotes may be a name of PostgreSQL, which has 63 bytes at
/// most. What has commas and lines is none: the quotes are those of a record with commas that was
/// cut.
fn may_be_name(quoted: &str) -> bool {
    quoted.len() <= NAME_BYTES_MOST && !quoted.contains([',', '\n', '$'])
}

/// Whether a text has this word of small letters, in letters of any case.
fn contains_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !is_of_a_word(c)).any(|one| one.eq_ignore_ascii_case(word))
}

fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The strings of a statement.
struct Strings<'a> {
    sql: &'a str,
    /// By mark and the meaning of a backslash: from which bytes on all strings end.
    known: Vec<((char, Backslash), Vec<bool>)>,
    /// Whether it speaks of how somebody is identified.
    is_of_accounts: bool,
}

impl Strings<'_> {
    /// Bytes of the string with which the rest of the statement begins. One that does not end, and
    /// has a mark behind a backslash, ends where the text does, whatever the backslash means.
    fn string(&mut self, rest: &str, mark: char, backslash: Backslash) -> usize {
        let end = end_of(rest, mark, backslash);
        let doubtful = format!("\\{mark}");
        match end {
            Some(end) if !rest[..end].contains(&doubtful) => end,
            Some(end) if self.is_even(self.sql.len() - rest.len() + end, mark, backslash) => end,
            _ => rest.len(),
        }
    }

    /// Whether every string from this byte on that this mark begins ends, too.
    fn is_even(&mut self, from: usize, mark: char, backslash: Backslash) -> bool {
        let key = (mark, backslash);
        if !self.known.iter().any(|(known, _)| *known == key) {
            self.known.push((key, evenness(self.sql.as_bytes(), mark as u8, backslash)));
        }
        let known = self.known.iter().find(|(known, _)| *known == key);
        known.is_some_and(|(_, even)| even[from])
    }
}

/// For each byte, whether all strings behind it end if it stands in none; from the last one on, so
/// that each byte is looked at once.
fn evenness(sql: &[u8], mark: u8, backslash: Backslash) -> Vec<bool> {
    let mut outside = vec![true; sql.len() + 1];
    let mut inside = vec![false; sql.len() + 2];
    for at in (0..sql.len()).rev() {
        let is_mark = sql[at] == mark;
        outside[at] = if is_mark { inside[at + 1] } else { outside[at + 1] };
        let is_pair = (sql[at] == b'\\' && backslash == Backslash::Protects)
            || (is_mark && sql.get(at + 1) == Some(&mark));
        inside[at] = if is_pair {
            inside[at + 2]
        } else if is_mark {
            outside[at + 1]
        } else {
            inside[at + 1]
        };
    }
    outside
}

/// Bytes up to the end of what is quoted; a doubled mark is within.
fn end_of(rest: &str, mark: char, backslash: Backslash) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let is_doubled = c == mark && chars.peek().is_some_and(|(_, next)| *next == mark);
        if c == '\\' && backslash == Backslash::Protects || is_doubled {
            chars.next();
        } else if c == mark {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// Bytes of `''a''`, a literal of a statement that stood in a literal itself: an empty literal has
/// no word behind it. A mark of its own is four there.
fn doubled(rest: &str) -> Option<usize> {
    let behind = rest.strip_prefix("''")?;
    behind.chars().next().filter(|c| c.is_alphanumeric())?;
    let mut at = 2;
    while let Some(mark) = rest[at..].find('\'').map(|length| at + length) {
        let marks = rest[mark..].bytes().take_while(|byte| *byte == b'\'').count();
        at = mark + marks;
        if !marks.is_multiple_of(4) {
            return Some(at);
        }
    }
    Some(rest.len())
}

/// Bytes of a literal between the quotation marks that a program for texts has made of plain ones.
fn typeset(rest: &str, first: char) -> Option<usize> {
    let marks = [['‘', '’'], ['“', '”']].into_iter().find(|marks| marks.contains(&first))?;
    let inside = &rest[first.len_utf8()..];
    let end = inside.char_indices().find(|(_, c)| marks.contains(c));
    Some(end.map_or(rest.len(), |(at, c)| first.len_utf8() + at + c.len_utf8()))
}

/// Bytes of `$tag$ … $tag$`.
fn dollar_quoted(rest: &str) -> Option<usize> {
    let tag = rest[1..].find('$').map(|length| &rest[..length + 2])?;
    let is_tag = tag[1..tag.len() - 1].chars().all(|c| c.is_alphanumeric() || c == '_');
    is_tag.then(|| rest[tag.len()..].find(tag).map_or(rest.len(), |at| at + 2 * tag.len()))
}

fn space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

/// Words behind which a list of literals may stand without brackets.
const BEFORE_LISTS: [&str; 8] =
    ["select", "distinct", "all", "by", "limit", "returning", "values", "return"];

/// Whether what is read until here is a list of literals alone, of which the last is the hole at
/// its end: `(?`, `(a, ?`, `LIMIT ?`, and not `a + ?`.
fn is_list(text: &str) -> bool {
    let Some(before) = text.strip_suffix('?').map(str::trim_end) else { return false };
    let last = before.rsplit(|c: char| !is_of_a_word(c)).next().unwrap_or_default();
    before.is_empty()
        || before.ends_with(['(', ','])
        || BEFORE_LISTS.iter().any(|word| word.eq_ignore_ascii_case(last))
}

/// Adds a hole, unless it goes on a list of them. A sign belongs to it where nothing stands before
/// that it could be taken from.
fn hole(text: &mut String) {
    if let Some(before) = text.trim_end().strip_suffix(['-', '+']) {
        let before = before.trim_end();
        let last = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        let is_word = last.is_some_and(|word| SIGNED.iter().any(|w| w.eq_ignore_ascii_case(word)));
        if is_word || before.is_empty() || before.ends_with(['(', ',', '=', '<', '>']) {
            let length = text.trim_end().len() - 1;
            text.truncate(length);
        }
    }
    let before = text.trim_end();
    if before.strip_suffix(',').is_some_and(|list| is_list(list.trim_end())) {
        let length = before.len() - 1;
        text.truncate(length);
        text.truncate(text.trim_end().len());
    } else {
        text.push('?');
    }
}

/// Takes away a row of holes that goes on a list of them: `(?), (?)`.
fn one_row(text: &mut String) {
    let Some(before) = text.strip_suffix("(?)") else { return };
    let list = before.trim_end().strip_suffix(',').map(str::trim_end);
    if let Some(list) = list.filter(|list| list.ends_with("(?)")) {
        let length = list.len();
        text.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these showed what stands between the marks.
    #[test]
    fn no_secret_stands_behind_what_two_servers_read_otherwise() {
        for sql in [
            "UPDATE t SET pw = /*!99999 it's */ 'SECRET', b = 5",
            "INSERT /*!99999 don't */ INTO t VALUES ('SECRET', 'SECRET')",
            "UPDATE t SET pw = /*!80000 \" */ \"SECRET\"",
            "UPDATE t SET pw = /*!80000 ` */ 'SECRET'",
            "SELECT TRIM(LEADING /*!99999 ) */ \"x\" FROM \"SECRET\")",
            "SELECT * FROM t FOR SYSTEM_TIME FROM \"SECRET\" TO \"SECRET\"",
            "UPDATE t FOR PORTION OF p FROM \"SECRET\" TO \"SECRET\" SET a = 1",
            "PREPARE s FROM \"UPDATE users SET pw='SECRET'\"",
            "SELECT a IS NOT DISTINCT FROM \"SECRET\"",
            "SELECT /*!99999 into */ \"SECRET\"",
        ] {
            let told = statement_with_holes(sql, Dialect::Mysql);
            assert!(!told.contains("SECRET"), "{sql}: {told}");
        }
        let executed = "SELECT /*!40001 SQL_NO_CACHE */ a FROM t WHERE b = 'x'";
        let told = statement_with_holes(executed, Dialect::Mysql);
        assert_eq!(told, "SELECT /*!? SQL_NO_CACHE */ a FROM t WHERE b = ?");
    }

    #[test]
    fn what_is_in_doubt_is_a_hole_to_the_end() {
        for (sql, told) in [
            ("UPDATE t SET a = \u{f8fe}, b = 'secret'", "UPDATE t SET a = ?"),
            ("UPDATE t SET a = 'one\ntwo\u{f8fe}secret', 'x'", "UPDATE t SET a = ?"),
            ("UPDATE t SET a\u{f8fe}", "UPDATE t SET a?"),
        ] {
            assert_eq!(statement_with_holes(sql, Dialect::Mysql), told);
            assert_eq!(statement_with_holes(sql, Dialect::Postgres), told);
        }
    }

    #[test]
    fn literals_are_holes_and_names_stay() {
        for (sql, mysql, postgres) in [
            (
                "UPDATE t1 SET a = a + 7,\n  b='it''s 7' WHERE w=1",
                "UPDATE t1 SET a = a + ?, b=? WHERE w=?",
                "UPDATE t1 SET a = a + ?, b=? WHERE w=?",
            ),
            (
                "SELECT c FROM `t 1` WHERE id IN (1, 2,3 , 4)",
                "SELECT c FROM `t 1` WHERE id IN (?)",
                "SELECT c FROM `t 1` WHERE id IN (?)",
            ),
            (
                "SET token=\"s3\\\"cret\" WHERE \"a\"",
                "SET token=? WHERE ?",
                "SET token=\"s3\\\"cret\" WHERE \"a\"",
            ),
            (
                "INSERT INTO \"a\".\"t\" (\"b\", \"c\") VALUES (\"b\", 'c')",
                "INSERT INTO \"a\".\"t\" (?) VALUES (?)",
                "INSERT INTO \"a\".\"t\" (\"b\", \"c\") VALUES (\"b\", ?)",
            ),
            (
                "DELETE FROM \"t\" WHERE \"a\" = TRIM(BOTH 'x' FROM \"b\")",
                "DELETE FROM \"t\" WHERE ? = TRIM(BOTH ? FROM ?)",
                "DELETE FROM \"t\" WHERE \"a\" = TRIM(BOTH ? FROM \"b\")",
            ),
            (
                "UPDATE \"t\" JOIN \"u\" SET a = CONCAT(\"b\", (\"c\"))",
                "UPDATE \"t\" JOIN \"u\" SET a = CONCAT(?, (?))",
                "UPDATE \"t\" JOIN \"u\" SET a = CONCAT(\"b\", (\"c\"))",
            ),
            ("SELECT 'x\\'y', b = 0xFF", "SELECT ?, b = ?", "SELECT ?"),
            ("SELECT E'x\\'y' = b'01'", "SELECT E? = b?", "SELECT E? = b?"),
            ("SELECT 'x\\', 'y'", "SELECT ?", "SELECT ?"),
            ("SELECT 'cut\\'off", "SELECT ?", "SELECT ?off"),
            (
                "INSERT INTO t VALUES (1.5e3, 'ä', NULL)",
                "INSERT INTO t VALUES (?, NULL)",
                "INSERT INTO t VALUES (?, NULL)",
            ),
            ("SELECT $1, $body$it's$body$, $$x$$", "SELECT $1, $body$it?", "SELECT ?"),
            ("a -- don't\n= 'x'", "a = ?", "a = ?"),
            ("a # don't\n= 'x'", "a = ?", "a # don?x?"),
            ("a--1 /* don't */ + /*+ x */ 'x'", "a--? + ?", "a"),
            ("/* a /* b */ c */ d", "c */ d", "d"),
            ("/*!50000 SET a = 'x' */", "/*!? SET a = ? */", ""),
            ("SELECT sbtest1.k", "SELECT sbtest1.k", "SELECT sbtest1.k"),
            ("b = 1_000_000 - 0x_ff", "b = ?_000_000 - ?_ff", "b = ? - ?"),
            (
                "INSERT INTO t VALUES (1, 'a') , (-2,'b'),(3, 'c')",
                "INSERT INTO t VALUES (?)",
                "INSERT INTO t VALUES (?)",
            ),
            (
                "SET a = -5, b = a - 5, c = a -5 WHERE d IN (-1, +2) AND e > -1 AND -3 < e",
                "SET a = ?, b = a - ?, c = a -? WHERE d IN (?) AND e > ? AND ? < e",
                "SET a = ?, b = a - ?, c = a -? WHERE d IN (?) AND e > ? AND ? < e",
            ),
            // A column's name in quotes is a name, and what comes behind it another column.
            ("SELECT x AS 'alias', 1", "SELECT x AS 'alias', ?", "SELECT x AS ?, ?"),
            ("SELECT x AS 'alias'", "SELECT x AS 'alias'", "SELECT x AS ?"),
            ("SELECT x as \"it''s\", 1, 2", "SELECT x as \"it''s\", ?", "SELECT x as \"it''s\", ?"),
            ("SELECT x AS 'a\\', 'secret'", "SELECT x AS ?", "SELECT x AS ?, ?"),
            ("SELECT x AS 'cut", "SELECT x AS ?", "SELECT x AS ?"),
            (
                "SELECT COUNT(*) 'n', t.a 'b', `c` 'd', 7",
                "SELECT COUNT(*) 'n', t.a 'b', `c` 'd', ?",
                "SELECT COUNT(*) ?, t.a ?, `c` ?, ?",
            ),
            (
                "SELECT x 'a', 1 FROM t WHERE d = DATE '2026-01-01'",
                "SELECT x ?, ? FROM t WHERE d = DATE ?",
                "SELECT x ?, ? FROM t WHERE d = DATE ?",
            ),
            (
                "SELECT CAST('7' AS CHAR), 1",
                "SELECT CAST(? AS CHAR), ?",
                "SELECT CAST(? AS CHAR), ?",
            ),
            // Elements that are more than a literal are no list of literals.
            ("SELECT a + 1, 2, 3", "SELECT a + ?, ?", "SELECT a + ?, ?"),
            (
                "SELECT 1, 2 FROM t LIMIT 5, 10",
                "SELECT ? FROM t LIMIT ?",
                "SELECT ? FROM t LIMIT ?",
            ),
            (
                "INSERT INTO t VALUES (1, a, 2, 3)",
                "INSERT INTO t VALUES (?, a, ?)",
                "INSERT INTO t VALUES (?, a, ?)",
            ),
            ("'never ends", "?", "?"),
            ("(56, ''OBriens'', ''x'', '', 3)", "(?)", "(?)"),
            ("a = '' AND b = ''c", "a = ? AND b = ?", "a = ? AND b = ?"),
            ("a=’b’ AND c = “d e”", "a=? AND c = ?", "a=? AND c = ?"),
            ("a = ‘never ends", "a = ?", "a = ?"),
            ("/* never ends", "", ""),
            ("", "", ""),
        ] {
            assert_eq!(statement_with_holes(sql, Dialect::Mysql), mysql, "{sql}");
            assert_eq!(statement_with_holes(sql, Dialect::Postgres), postgres, "{sql}");
        }
    }
}
