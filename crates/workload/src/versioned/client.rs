//! A client of such a load: what it asks, and what it notes of the answers.

use dbdyno_model::random::{self, Prefix, RandomStream};
use dbdyno_model::{Dialect, isolation::IsolationLevel};

use super::name::WriteName;
use super::rows::{DIGITS, VersionedRows, list_element};
use super::shape::{ROLLBACKS_ONE_IN, SIZE_MOST, VersionedRowKind, WINDOW};
use super::statements::{self, Ask};
use crate::dialogue::{AnswerRows, Arg, Deed, Link, OperationNote, Partner, TurnFault};

/// What clients of a load have in common, beside their rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionedTerms {
    pub(super) size: usize,
    pub(super) level: Option<IsolationLevel>,
    pub(super) seed: u64,
}

/// One client.
pub(super) struct Client {
    shape: VersionedRowKind,
    rows: u64,
    size: usize,
    /// What it still has to say to have its level.
    level: Option<(IsolationLevel, Dialect)>,
    prefix: Prefix,
    number: u32,
    /// Writes so far.
    writes: u32,
    /// Rows that the open transaction wrote to.
    written: [u64; SIZE_MOST],
    writes_open: usize,
    /// By row of lists, the last element whose place was noted; empty for other shapes.
    told: Vec<u64>,
    /// What stood there before the open transaction: what is rolled back tells nothing.
    told_before: [(u64, u64); SIZE_MOST],
    tells_open: usize,
}

impl Client {
    pub(super) fn new(
        rows: &VersionedRows,
        terms: VersionedTerms,
        client: u32,
        dialect: Dialect,
    ) -> Client {
        let VersionedRows { shape, rows, .. } = *rows;
        let lists = if shape == VersionedRowKind::List { rows as usize + 1 } else { 0 };
        Client {
            shape,
            rows,
            size: terms.size,
            level: terms.level.map(|level| (level, dialect)),
            prefix: Prefix::from_parts(&[
                terms.seed,
                random::key_of(shape.name()),
                u64::from(client),
            ]),
            number: client,
            writes: 0,
            written: [0; SIZE_MOST],
            writes_open: 0,
            told: vec![0; lists],
            told_before: [(0, 0); SIZE_MOST],
            tells_open: 0,
        }
    }

    /// Asks for the level, the first time.
    fn ask_for_level(&mut self, link: &mut dyn Link) -> Result<(), TurnFault> {
        if self.number >= WriteName::CLIENTS_MOST {
            let most = WriteName::CLIENTS_MOST;
            return Err(TurnFault::Wrong(format!(
                "more than {most} clients, who have no names here"
            )));
        }
        if let Some((level, dialect)) = self.level {
            if let Some(sql) = statements::level(level, dialect) {
                link.run_text(&sql)?;
            }
            self.level = None;
        }
        Ok(())
    }

    /// Forgets what a transaction noted that was not committed.
    fn take_back(&mut self) {
        for (key, told) in self.told_before[..self.tells_open].iter().rev() {
            self.told[*key as usize] = *told;
        }
        self.tells_open = 0;
        self.writes_open = 0;
    }

    fn operation(
        &mut self,
        key: u64,
        random: &mut RandomStream,
        link: &mut dyn Link,
    ) -> Result<(), TurnFault> {
        if random.next_below(2) == 0 {
            return self.read(key, link);
        }
        self.writes = self.writes.checked_add(1).ok_or_else(used_up)?;
        let name = WriteName { client: self.number, number: self.writes };
        match self.shape {
            VersionedRowKind::Register => self.replace(key, name, link)?,
            VersionedRowKind::List => {
                link.note_operation(noted(Deed::Append, key, name.pack(), None));
                write(key, Arg::Text(&list_element(name)), link)?;
            }
            VersionedRowKind::Counter => {
                link.note_operation(noted(Deed::Append, key, name.pack(), None));
                write(key, Arg::Int(name.pack() as i64), link)?;
                self.written(key);
                return self.read(key, link);
            }
        }
        self.written(key);
        Ok(())
    }

    fn written(&mut self, key: u64) {
        self.written[self.writes_open] = key;
        self.writes_open += 1;
    }

    /// A register gets a new version, which is read at once: the row says what it replaced.
    fn replace(&mut self, key: u64, name: WriteName, link: &mut dyn Link) -> Result<(), TurnFault> {
        let value = name.pack();
        let is_recorded = link.is_recorded();
        let asked = match write(key, Arg::Int(value as i64), link) {
            Ok(()) if is_recorded => register(key, link).map(Some),
            Ok(()) => one_row(key, link).map(|()| None),
            Err(fault) => Err(fault),
        };
        match asked {
            Ok(None) => Ok(()),
            Ok(Some((seen, prev))) if seen == value => {
                link.note_operation(noted(Deed::Write, key, value, Some(prev)));
                Ok(())
            }
            Ok(Some((seen, prev))) => {
                link.note_operation(noted(Deed::Write, key, value, None));
                link.note_operation(noted(Deed::CurrentRead, key, seen, Some(prev)));
                Ok(())
            }
            // Whatever became of it, somebody may see it.
            Err(fault) => {
                link.note_operation(noted(Deed::Write, key, value, None));
                Err(fault)
            }
        }
    }

    fn read(&mut self, key: u64, link: &mut dyn Link) -> Result<(), TurnFault> {
        if !link.is_recorded() {
            return one_row(key, link);
        }
        // Whoever has written a row sees the latest version of it.
        let is_current = self.written[..self.writes_open].contains(&key);
        match self.shape {
            VersionedRowKind::Register => {
                let (value, prev) = register(key, link)?;
                link.note_operation(read_of(is_current, key, value, Some(prev)));
            }
            VersionedRowKind::Counter => {
                let sum = fetched(key, link)?.int(0, 0).ok_or_else(|| nothing_there(key))?;
                let deed = if is_current { Deed::CurrentSum } else { Deed::Sum };
                link.note_operation(noted(deed, key, sum as u64, None));
            }
            VersionedRowKind::List => {
                let mut names = [0; WINDOW];
                let text = fetched(key, link)?.text_at(0, 0).ok_or_else(|| nothing_there(key))?;
                let names = elements(text, &mut names).ok_or_else(|| nothing_there(key))?;
                self.note_list(key, names, is_current, link);
            }
        }
        Ok(())
    }

    /// The last element is what was read; of those before it the order is noted where it was not
    /// before.
    fn note_list(&mut self, key: u64, names: &[u64], is_current: bool, link: &mut dyn Link) {
        let [rest @ .., last] = names else {
            return link.note_operation(read_of(is_current, key, 0, None));
        };
        // A list that has lost nothing yet begins with what follows the value that nobody wrote.
        let before_all = (names.len() < WINDOW).then_some(0);
        let prev = rest.last().copied().or(before_all);
        link.note_operation(read_of(is_current, key, *last, prev));
        let told = self.told[key as usize];
        if told == *last {
            return;
        }
        for (at, value) in rest.iter().enumerate().rev().take_while(|(_, value)| **value != told) {
            let prev = if at == 0 { before_all } else { Some(rest[at - 1]) };
            if prev.is_some() {
                link.note_operation(noted(Deed::Order, key, *value, prev));
            }
        }
        if self.tells_open < SIZE_MOST {
            self.told_before[self.tells_open] = (key, told);
            self.tells_open += 1;
            self.told[key as usize] = *last;
        }
    }
}

impl Partner for Client {
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        self.take_back();
        self.ask_for_level(link)?;
        let mut random = self.prefix.stream(&[operation]);
        let mut keys = [0; SIZE_MOST];
        let keys = &mut keys[..self.size];
        keys.iter_mut().for_each(|key| *key = 1 + random.next_below(self.rows));
        // In one order for all, so that few transactions wait for each other in a circle.
        keys.sort_unstable();
        link.run(Ask::Begin as usize, &[])?;
        for key in keys {
            self.operation(*key, &mut random, link)?;
        }
        if random.next_below(ROLLBACKS_ONE_IN) == 0 {
            link.run(Ask::Rollback as usize, &[])?;
            self.take_back();
        } else {
            link.run(Ask::Commit as usize, &[])?;
            (self.tells_open, self.writes_open) = (0, 0);
        }
        Ok(0)
    }

    fn survey_rows(&mut self, link: &mut dyn Link) -> Result<(), TurnFault> {
        let shape = self.shape;
        let mut seen = Vec::with_capacity(self.rows as usize);
        let answer = link.fetch(Ask::ReadAll as usize, &[])?;
        for row in 0..answer.rows() {
            let key = answer.int(row, 0).ok_or_else(|| nothing_there(0))? as u64;
            let number = |column| answer.int(row, column).map(|value| value as u64);
            let mut names = [0; WINDOW];
            let cells = match shape {
                VersionedRowKind::Register => {
                    number(1).zip(number(2)).map(|(v, prev)| vec![prev, v])
                }
                VersionedRowKind::Counter => number(1).map(|sum| vec![sum]),
                VersionedRowKind::List => answer
                    .text_at(row, 1)
                    .and_then(|text| elements(text, &mut names).map(<[u64]>::to_vec)),
            };
            seen.push((key, cells.ok_or_else(|| nothing_there(key))?));
        }
        for (key, cells) in seen {
            match (shape, &cells[..]) {
                (VersionedRowKind::Register, [prev, value]) => {
                    link.note_operation(read_of(false, key, *value, Some(*prev)));
                }
                (VersionedRowKind::Counter, [sum]) => {
                    link.note_operation(noted(Deed::Sum, key, *sum, None));
                }
                _ => self.note_list(key, &cells, false, link),
            }
        }
        Ok(())
    }
}

fn noted(deed: Deed, key: u64, value: u64, prev: Option<u64>) -> OperationNote {
    OperationNote { deed, key, value, prev }
}

fn read_of(is_current: bool, key: u64, value: u64, prev: Option<u64>) -> OperationNote {
    noted(if is_current { Deed::CurrentRead } else { Deed::Read }, key, value, prev)
}

/// Changes one row.
fn write(key: u64, value: Arg<'_>, link: &mut dyn Link) -> Result<(), TurnFault> {
    let done = link.run(Ask::Write as usize, &[value, Arg::Int(key as i64)])?;
    if done.changed == 1 {
        return Ok(());
    }
    Err(TurnFault::Wrong(format!("a write of row {key} changed {} rows, right is 1", done.changed)))
}

/// Reads one row without a look at it.
fn one_row(key: u64, link: &mut dyn Link) -> Result<(), TurnFault> {
    match link.run(Ask::Read as usize, &[Arg::Int(key as i64)])?.rows {
        1 => Ok(()),
        _ => Err(nothing_there(key)),
    }
}

fn fetched(key: u64, link: &mut dyn Link) -> Result<&dyn AnswerRows, TurnFault> {
    let answer = link.fetch(Ask::Read as usize, &[Arg::Int(key as i64)])?;
    if answer.rows() == 1 { Ok(answer) } else { Err(nothing_there(key)) }
}

/// The version of a register and the one before it.
fn register(key: u64, link: &mut dyn Link) -> Result<(u64, u64), TurnFault> {
    let answer = fetched(key, link)?;
    match (answer.int(0, 0), answer.int(0, 1)) {
        (Some(value), Some(prev)) => Ok((value as u64, prev as u64)),
        _ => Err(nothing_there(key)),
    }
}

/// The names in a list, in its order; `None` for a text that is no list.
fn elements<'n>(text: &[u8], names: &'n mut [u64; WINDOW]) -> Option<&'n [u64]> {
    let count = text.len() / DIGITS;
    if !text.len().is_multiple_of(DIGITS) || count > names.len() {
        return None;
    }
    for (name, digits) in names.iter_mut().zip(text.chunks_exact(DIGITS)) {
        *name = digits.iter().try_fold(0, |sum, digit| {
            digit.is_ascii_digit().then(|| sum * 10 + u64::from(digit - b'0'))
        })?;
    }
    Some(&names[..count])
}

#[cold]
fn nothing_there(key: u64) -> TurnFault {
    TurnFault::Wrong(format!("row {key} is not there, or holds something else than versions"))
}

#[cold]
fn used_up() -> TurnFault {
    TurnFault::Wrong("32 bits of writes are used up; make rounds shorter".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_back_as_they_were_written() {
        let name = |number| WriteName { client: 3, number };
        let text: Vec<u8> = (1..=3).flat_map(|number| list_element(name(number))).collect();
        let mut names = [0; WINDOW];
        let read = elements(&text, &mut names).unwrap();
        assert_eq!(read, [1, 2, 3].map(|number| name(number).pack()));
        assert_eq!(elements(b"", &mut names), Some(&[][..]));
        for wrong in [&text[1..], &b"0000000000x001"[..], &[b'1'; DIGITS * 33][..]] {
            assert_eq!(elements(wrong, &mut names), None);
        }
    }
}
