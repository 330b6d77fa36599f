//! What PostgreSQL says of a process that waits: for what, and who is in its way.
//!
//! ```text
//!   Process 12 waits for ShareLock on transaction 7; blocked by process 13.
//!   Prozess 12 wartet auf ShareLock-Sperre auf Transaktion 7; blockiert von Prozess 13.
//! ```
//!
//! A line of a literal may look like that, and go on with what stands behind the literal: of a lock
//! the words of servers are shown, and their numbers.

use crate::beginning::shortened_text;

/// Characters before the number of a process, in any language: `Der Prozess `.
const WORDS_MOST: usize = 24;
/// Bytes of what a lock is told by, and of the name of a table, which has 63 at most.
const NAME_BYTES_MOST: usize = 1_000;
/// Bytes of the name of a mode: `ShareUpdateExclusiveLock`.
const MODE_BYTES_MOST: usize = 24;

/// Where the English sentence of a wait begins, whatever stands before it: `Process 7 waits for `.
pub(super) fn wait_sentence(text: &str) -> Option<&str> {
    let verb = text.find(" waits for ")?;
    let digits = text[..verb].bytes().rev().take_while(u8::is_ascii_digit).count();
    let begin = text[..verb - digits].strip_suffix("Process ")?.len();
    (digits > 0).then(|| &text[begin..])
}

/// A sentence that tells of a wait.
pub(super) struct Wait {
    pub(super) process: u64,
    pub(super) lock: String,
    /// Whether words stand in it that no server writes.
    pub(super) is_unclear: bool,
    pub(super) blocker: Option<u64>,
}

/// Whether a text ends with a time in milliseconds, as what `log_lock_waits` writes of a wait.
fn has_time_at_end(text: &str) -> bool {
    let until = text.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    let number = text[..until].trim_end_matches(|c: char| c.is_ascii_digit());
    let before = number.strip_suffix(['.', ',']);
    before.is_some_and(|before| before.ends_with(|c: char| c.is_ascii_digit()))
}

/// Who waits, and for what: a process, a mode of lock, and behind it who is in the way.
pub(super) fn read_wait(text: &str) -> Option<Wait> {
    let text = wait_sentence(text).unwrap_or(text);
    let (process, rest) = number_in(text)?;
    let mode = rest.split(|c: char| !c.is_ascii_alphabetic());
    let mode = mode.into_iter().find(|word| word.len() > 4 && word.ends_with("Lock"))?;
    let last = number_at_end(rest).filter(|_| !has_time_at_end(rest))?;
    let Some(english) = rest.strip_prefix(" waits for ") else {
        is_translation(rest).then_some(())?;
        let lock = translated(mode, rest);
        return Some(Wait { process, lock, is_unclear: false, blocker: Some(last) });
    };
    let (lock, blocked) = english.split_once(';').unwrap_or((english, ""));
    let blocker = blocked.split_once("blocked by process ").and_then(|(_, rest)| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    });
    let mut words = lock.split_whitespace();
    let is_unclear = !words.all(|word| {
        word.starts_with(|c: char| c.is_ascii_digit() || "([".contains(c))
            || is_word_of_a_lock(word)
    });
    Some(Wait { process, lock: general(lock), is_unclear, blocker })
}

/// Whether a text may be the sentence of a wait in another language: it has two clauses, and no
/// cells. A row of `pg_locks` has numbers and a mode as well, and tells of no deadlock.
fn is_translation(rest: &str) -> bool {
    rest.contains([';', '；', '、', '，']) && !rest.contains(['|', '\t', '│'])
}

/// A lock in English, of a sentence in another language: what is locked is told by how many numbers
/// stand in the sentence before that of the process in the way, for their order is kept.
fn translated(mode: &str, sentence: &str) -> String {
    let mode = shortened_text(mode, NAME_BYTES_MOST);
    let is_tuple = sentence.split('(').skip(1).any(|part| {
        let inside = part.split(')').next().unwrap_or_default();
        inside.split_once(',').is_some_and(|(one, other)| {
            [one, other].iter().all(|part| part.trim().parse::<u64>().is_ok())
        })
    });
    let runs = sentence.split(|c: char| !c.is_ascii_digit());
    let mut numbers: Vec<&str> = runs.filter(|run| !run.is_empty()).collect();
    numbers.pop();
    if let Some(key) = advisory_key(sentence) {
        return format!("{mode} on advisory lock {key}");
    }
    match numbers.as_slice() {
        [_] => format!("{mode} on transaction ?"),
        [relation, database] if !sentence.contains(&format!("{relation}/{database}")) => {
            format!("{mode} on relation {relation} of database {database}")
        }
        [_, _, relation, database] if is_tuple => {
            format!("{mode} on tuple ? of relation {relation} of database {database}")
        }
        [] => mode.into_owned(),
        [_, _] => format!("{mode} on virtual transaction ?"),
        numbers => format!("{mode} on {}", shortened_text(&numbers.join(" "), NAME_BYTES_MOST)),
    }
}

/// The end of the first number of a text, or of the text.
pub(super) fn after_number(text: &str) -> usize {
    let begin = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let digits = text[begin..].bytes().take_while(u8::is_ascii_digit).count();
    begin + digits
}

/// The first number of a text that has little before it, and what is behind the number.
pub(super) fn number_in(text: &str) -> Option<(u64, &str)> {
    let at = text.find(|c: char| c.is_ascii_digit())?;
    if text[..at].chars().count() > WORDS_MOST || text[..at].contains([';', '(', '=', '\'']) {
        return None;
    }
    let length = text[at..].find(|c: char| !c.is_ascii_digit())?;
    Some((text[at..at + length].parse().ok()?, &text[at + length..]))
}

/// The number with which a sentence ends, or that stands in its last words.
fn number_at_end(text: &str) -> Option<u64> {
    let mut digits = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    digits.next_back()?.parse().ok()
}

/// A lock without what is different in each deadlock: `ShareLock on transaction ?`. The numbers of
/// relations are kept, for they are all that is told of a table.
fn general(lock: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    let lock = shortened_text(lock, NAME_BYTES_MOST);
    for word in lock.split_whitespace() {
        let last = words.last().copied().unwrap_or_default();
        let is_chance = word.starts_with('(') || last == "transaction";
        let is_known = is_word_of_a_lock(word) || is_number_of_a_lock(word, last);
        words.push(if is_known && !is_chance { word } else { "?" });
    }
    let name = words.join(" ");
    match (advisory_key(&name), name.split_once('[')) {
        (Some(key), Some((before, _))) => format!("{before}{key}"),
        _ => name,
    }
}

/// Whether a word stands in what a server says of a lock: a line of a literal may look like that,
/// and go on with something else.
fn is_word_of_a_lock(word: &str) -> bool {
    const WORDS: [&str; 20] = [
        "on",
        "of",
        "relation",
        "database",
        "extension",
        "page",
        "tuple",
        "transaction",
        "virtual",
        "speculative",
        "token",
        "object",
        "class",
        "user",
        "advisory",
        "lock",
        "remote",
        "apply",
        "frozen",
        "ids",
    ];
    let is_mode = word.ends_with("Lock") && word.len() <= MODE_BYTES_MOST;
    is_mode || WORDS.contains(&word)
}

/// Whether a word is a number that stands behind this one in what a server says of a lock.
fn is_number_of_a_lock(word: &str, before: &str) -> bool {
    let is_key = word.starts_with('[') && before == "lock";
    let is_named = ["relation", "database", "page", "object", "class", "token"].contains(&before);
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || b"[],".contains(&byte));
    (is_key || is_named) && is_number
}

/// The key of an advisory lock, `[16388,0,102074,5]`: a database, two halves of what a program has
/// numbered, and the kind of key, which alone is kept: 1 for one number, 2 for two, others for
/// extensions. The numbers are others in each deadlock.
fn advisory_key(text: &str) -> Option<String> {
    let (key, _) = text.split_once('[')?.1.split_once(']')?;
    let numbers: Vec<&str> = key.split(',').collect();
    let [_, _, _, kind] = numbers[..] else { return None };
    let are_numbers = numbers.iter().all(|number| number.parse::<u32>().is_ok());
    are_numbers.then(|| format!("[?,?,?,{kind}]"))
}
