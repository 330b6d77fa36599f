//! Locks of InnoDB as it prints them, with the records that they are of.
//!
//! ```text
//!   RECORD LOCKS space id 2 page no 4 n bits 72 index k of table `d`.`t` trx id 33 lock_mode X
//!   Record lock, heap no 3 PHYSICAL RECORD: …    ◀── a record of the page, a bit of the lock
//!    1: len 6; hex 000000000722; …               ◀── the transaction that changed it last
//! ```
//!
//! Two are of the same records as far as both tell them. Of a line that is cut the mode is not
//! known.

use std::collections::BTreeMap;

use crate::beginning::{shortened_text, text_beginning};

/// Bytes of a lock that is looked for in several lines.
pub(super) const LOCK_BYTES_MOST: usize = 1_000;
/// Bytes of the names of an index and its table; of what else a lock or a transaction is told by.
/// A name has 64 characters at most.
pub(super) const NAME_BYTES_MOST: usize = 2_000;
/// What may stand behind the mode of a lock, each by itself.
const BEHIND_MODE: [&str; 4] =
    ["locks gap before rec", "locks rec but not gap", "insert intention", "waiting"];
/// Bytes of a mode: `AUTO-INC`.
const MODE_BYTES_MOST: usize = 8;
/// Fields of six bytes that are kept of a record: the transaction's stands behind the key.
const VERSIONS_MOST: usize = 8;
/// Records of a page have numbers below this.
const RECORDS_MOST: u32 = 1 << 13;

/// A lock that is told of.
pub(super) struct Lock {
    pub(super) transaction: String,
    /// Index, table and mode.
    pub(super) text: String,
    /// Space, page, index and table.
    pub(super) place: String,
    /// Records of the page, as far as they are told, a bit each.
    records: Vec<u64>,
    /// Who changed a record last, and what else has six bytes in it.
    versions: BTreeMap<u32, Vec<u64>>,
    /// The record that is being told.
    record: Option<u32>,
    pub(super) state: LockState,
    /// Where it is told of.
    pub(super) line: usize,
    pub(super) ending: Ending,
}

/// Whether the words of a lock's mode go on to their end.
#[derive(PartialEq)]
pub(super) enum Ending {
    Whole,
    Cut,
}

#[derive(PartialEq)]
pub(super) enum LockState {
    Waiting,
    Held,
}

impl Lock {
    /// Takes the line of a record, or of a field of it.
    pub(super) fn take_record_line(&mut self, line: &str) {
        if let Some(record) = record_number(line).filter(|record| *record < RECORDS_MOST) {
            let (word, bit) = ((record / 64) as usize, record % 64);
            self.records.resize(self.records.len().max(word + 1), 0);
            self.records[word] |= 1 << bit;
            self.record = Some(record);
        } else if let (Some(record), Some(version)) = (self.record, version(line)) {
            let versions = self.versions.entry(record).or_default();
            if versions.len() < VERSIONS_MOST {
                versions.push(version);
            }
        }
    }

    /// Whether both are of the same records, as far as these are told.
    pub(super) fn meets_lock(&self, other: &Lock) -> bool {
        let is_untold = self.records.is_empty() || other.records.is_empty();
        self.place == other.place && (is_untold || self.shares_a_record(other))
    }

    fn shares_a_record(&self, other: &Lock) -> bool {
        let words = self.records.iter().zip(&other.records);
        words.zip(0_u32..).any(|((one, another), word)| {
            let shared = one & another;
            let records = (0..u64::BITS).filter(|bit| shared >> bit & 1 == 1);
            records.map(|bit| word * u64::BITS + bit).any(|it| self.tells_the_same(other, it))
        })
    }

    /// Whether a record has not been changed between the two, as far as that is told: a deadlock is
    /// printed at one moment.
    fn tells_the_same(&self, other: &Lock, record: u32) -> bool {
        match (self.versions.get(&record), other.versions.get(&record)) {
            // Of one that is cut not all is told.
            (Some(one), Some(another)) => one.len() != another.len() || one == another,
            _ => true,
        }
    }
}

/// A line of a lock. Numbers of transactions have two parts in MySQL 5.0 and 5.1.
pub(super) fn read_lock(line: &str) -> Option<Lock> {
    // A line of a literal may look like one, and have what stands behind the literal.
    if line.contains(['\'', '"']) {
        return None;
    }
    let (of_page, rest) = match line.strip_prefix("RECORD LOCKS ") {
        Some(rest) => rest.split_at(rest.find("index ")?),
        None => ("", line.strip_prefix("TABLE LOCK ")?),
    };
    let (place, rest) = rest.split_once(" trx id ")?;
    let mode = rest.find(" lock")?;
    let (transaction, mode) = (rest[..mode].trim(), rest[mode..].trim());
    if ["lock", "lock_mode", "lock mode"].contains(&mode) {
        return None;
    }
    let ending = ending(mode);
    let (mode, state) = match mode.strip_suffix(" waiting") {
        Some(mode) => (mode, LockState::Waiting),
        None => (mode, LockState::Held),
    };
    let mode = shown_mode(mode);
    let place = shortened_text(place, NAME_BYTES_MOST);
    let text = format!("{}: {mode}", place.replace('`', ""));
    let page = of_page.split(" n bits").next().unwrap_or_default();
    let page = text_beginning(page, NAME_BYTES_MOST);
    let transaction = text_beginning(transaction, NAME_BYTES_MOST).to_owned();
    let place = format!("{page} {place}");
    Some(Lock {
        transaction,
        text,
        place,
        records: Vec::new(),
        versions: BTreeMap::new(),
        record: None,
        state,
        line: 0,
        ending,
    })
}

/// A mode as it is shown: what no server writes is a hole.
fn shown_mode(mode: &str) -> String {
    let behind = mode.strip_prefix("lock_mode ").or(mode.strip_prefix("lock mode "));
    let words = behind.unwrap_or(mode).split_whitespace();
    let shown: Vec<&str> = words.clone().take_while(|word| is_word_of_a_mode(word)).collect();
    let hole = if shown.len() < words.count() { "?" } else { "" };
    format!("{} {hole}", shown.join(" ")).trim().to_owned()
}

fn is_word_of_a_mode(word: &str) -> bool {
    let is_mode = word.len() <= MODE_BYTES_MOST
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-' || byte == b'_');
    is_mode || word == "lock" || BEHIND_MODE.iter().any(|it| it.split(' ').any(|it| it == word))
}

/// Whether the words of a mode end: of `lock_mode X locks gap bef` something is lost.
fn ending(mode: &str) -> Ending {
    let behind = mode.strip_prefix("lock_mode ").or(mode.strip_prefix("lock mode "));
    let Some(behind) = behind else { return Ending::Cut };
    let mut rest = behind.split_once(' ').map_or("", |(_, rest)| rest).trim();
    while let Some(next) = BEHIND_MODE.iter().find_map(|words| rest.strip_prefix(words)) {
        rest = next.trim_start();
    }
    // `locks gap bef`, or `locks gap bef ore rec` where two lines were put together.
    let first = rest.split(' ').next().unwrap_or_default();
    let is_begun = !rest.is_empty() && BEHIND_MODE.iter().any(|words| words.starts_with(first));
    if is_begun { Ending::Cut } else { Ending::Whole }
}

/// Whether a line is a lock that goes on in the next one.
pub(super) fn is_begun_lock(line: &str) -> bool {
    line.starts_with("RECORD LOCKS ")
        && line.len() < LOCK_BYTES_MOST
        && !line.contains(['\'', '"'])
        && read_lock(line).is_none()
}

/// Whether a line has nothing but what may stand at the end of a lock.
pub(super) fn is_lock_end(line: &str) -> bool {
    const WORDS: [&str; 9] =
        ["waiting", "locks", "rec", "but", "not", "gap", "before", "insert", "intention"];
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some() && words.all(|word| WORDS.contains(&word))
}

/// The name of a table, without its database, out of `index x of table `d`.`t``, in small letters.
pub(super) fn table_name(place: &str) -> String {
    let table = place.rsplit_once("table ").map_or(place, |(_, table)| table).trim();
    let table = table.rsplit_once('.').map_or(table, |(_, table)| table);
    table.trim_matches('`').to_lowercase()
}

/// `Record lock, heap no 2 PHYSICAL RECORD: …`
pub(super) fn record_number(line: &str) -> Option<u32> {
    line.strip_prefix("Record lock, heap no ")?.split(' ').next()?.parse().ok()
}

/// `3: len 4; hex 80000003; asc …`, a field of a record.
pub(super) fn is_record_field(line: &str) -> bool {
    line.split_once(": len ").is_some_and(|(number, rest)| {
        number.bytes().all(|byte| byte.is_ascii_digit()) && rest.contains("; hex ")
    })
}

/// `1: len 6; hex 000000000722; asc …`: the transaction that changed a record last has six bytes.
fn version(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(": len 6; hex ")?;
    let (hex, _) = rest.split_once(';')?;
    u64::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 12)
}
