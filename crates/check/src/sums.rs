//! Counters whose sums name their versions.
//!
//! ```text
//!   recorded    append x id 7 · sum x 42            7 adds a(7), and then reads its own sum
//!   settled     append x id 7 after 5               5 is whose sum is 42 - a(7)
//! ```
//!
//! A client that adds to a counter knows what it added and, once it has read, to which sum. So a
//! sum names a version as an id does, and the version before is found by subtraction. Amounts are
//! distinct: two increments that began at one sum end at two, both of which follow it, and a lost
//! update shows. A recorder cannot know whose a sum is while it runs; it notes sums
//! ([`SumRecord`]), and [`settle_sums`] puts ids in their place.
//!
//! What is not told: an increment whose transaction broke before it read its sum has a place only
//! if the sum of another is its amount away from a known one. A sum that none made, and that is not
//! explained so, is a version that none wrote. Where a sum was made twice, by chance, once by a
//! transaction that was rolled back, the other one is meant.

use crate::history::{INITIAL, OperationKind, TransactionOutcome, UNKNOWN, WriteId};
use crate::record::{HEADER, OpRecord, Raw, visit_transactions};

/// A counter that was read. The words of a record, but for the second one, which is the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumRecord {
    /// As [`OpRecord::table`].
    pub table: u16,
    /// As [`OpRecord::key`].
    pub key: u64,
    /// What was read.
    pub sum: u64,
    /// Whether it is the latest one: behind an own increment.
    pub is_current: bool,
}

impl SumRecord {
    /// Its 16 bytes.
    #[must_use]
    pub fn encode(self) -> [u8; 16] {
        let op = OpRecord {
            kind: OperationKind::Read,
            table: self.table,
            key: self.key,
            value: 0,
            prev: 0,
        };
        let mut bytes = op.encode();
        let kind = if self.is_current { Raw::CURRENT_SUM } else { Raw::SUM };
        bytes[7] = (kind as u8) << 4 | bytes[7] & 15;
        bytes[8..].copy_from_slice(&self.sum.to_le_bytes());
        bytes
    }
}

/// Whose version a sum of a counter is.
struct Sums {
    /// Counter, sum, whether it was rolled back, id: sorted.
    known: Vec<(u64, u64, bool, WriteId)>,
    /// Counter and id of increments that never read their sum: sorted.
    unread: Vec<(u64, WriteId)>,
    /// An id that no write has.
    nobody: WriteId,
}

impl Sums {
    fn of(records: &[u8]) -> Sums {
        let mut sums = Sums { known: Vec::new(), unread: Vec::new(), nobody: 1 };
        visit_transactions(records, |ops, outcome| {
            let next = ops.iter().skip(1).map(Some).chain([None]);
            for (op, next) in
                ops.iter().zip(next).filter(|(op, _)| op.is_kind(OperationKind::Append))
            {
                sums.nobody = sums.nobody.max(op.value() + 1);
                match next.filter(|next| next.kind() == Raw::CURRENT_SUM) {
                    Some(own) => {
                        let is_failed = outcome == TransactionOutcome::Failed;
                        sums.known.push((op.packed_key(), own.sum(), is_failed, op.value()));
                    }
                    None => sums.unread.push((op.packed_key(), op.value())),
                }
            }
        });
        sums.known.sort_unstable();
        sums.unread.sort_unstable();
        sums
    }

    fn made(&self, place: u64, sum: u64) -> Option<WriteId> {
        if sum == 0 {
            return Some(INITIAL);
        }
        let at = self.known.partition_point(|known| (known.0, known.1) < (place, sum));
        let found = self.known.get(at)?;
        ((found.0, found.1) == (place, sum)).then_some(found.3)
    }

    fn version(&self, place: u64, sum: u64, amount: &impl Fn(WriteId) -> u64) -> WriteId {
        let by_chance = || {
            let first = self.unread.partition_point(|(other, _)| *other < place);
            let own = self.unread[first..].iter().take_while(|(other, _)| *other == place);
            let from = |id: WriteId| sum.checked_sub(amount(id));
            own.map(|(_, id)| *id)
                .find(|id| from(*id).is_some_and(|before| self.made(place, before).is_some()))
        };
        self.made(place, sum).or_else(by_chance).unwrap_or(self.nobody)
    }
}

/// Puts ids in the place of sums in records, with [`HEADER`] before them. `amount` is what the
/// increment of an id adds, never 0.
pub fn settle_sums(records: &mut [u8], amount: impl Fn(WriteId) -> u64) {
    let sums = Sums::of(records);
    let mut at = HEADER.len().min(records.len());
    // The increment before a record: its counter and id.
    let mut own: Option<(u64, WriteId)> = None;
    while let Some(raw) = Raw::read_at(records, at) {
        let next = Raw::read_at(records, at + raw.len());
        match raw.kind() {
            Raw::SUM | Raw::CURRENT_SUM => {
                let is_current = raw.kind() == Raw::CURRENT_SUM;
                let is_own = own.filter(|(place, _)| is_current && *place == raw.packed_key());
                let value = match is_own {
                    Some((_, id)) => id,
                    None => sums.version(raw.packed_key(), raw.sum(), &amount),
                };
                let kind =
                    if is_current { OperationKind::CurrentRead } else { OperationKind::Read };
                raw.with_operation(kind, value, UNKNOWN).write_at(records, at);
                own = None;
            }
            _ if raw.is_kind(OperationKind::Append) => {
                let sum = next.filter(|next| next.kind() == Raw::CURRENT_SUM).map(|own| own.sum());
                let prev = sum.map_or(UNKNOWN, |sum| {
                    let before = sum.checked_sub(amount(raw.value()));
                    before.map_or(sums.nobody, |sum| sums.version(raw.packed_key(), sum, &amount))
                });
                raw.with_operation(OperationKind::Append, raw.value(), prev).write_at(records, at);
                own = Some((raw.packed_key(), raw.value()));
            }
            _ => own = None,
        }
        at += raw.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Times, Txn};
    use crate::record::{encode_end, read_records};
    use crate::versions::FlawKind;
    use crate::{Checker, Level, LevelVerdict};

    /// Amounts by id.
    fn amount(id: WriteId) -> u64 {
        [0, 5, 11, 23, 47][id as usize]
    }

    fn add(id: WriteId, sum: u64) -> Vec<u8> {
        let op =
            OpRecord { kind: OperationKind::Append, table: 1, key: 9, value: id, prev: UNKNOWN };
        let own = SumRecord { table: 1, key: 9, sum, is_current: true };
        [op.encode(), own.encode()].concat()
    }

    fn read(sum: u64) -> Vec<u8> {
        SumRecord { table: 1, key: 9, sum, is_current: false }.encode().to_vec()
    }

    fn judged(all: &[(Vec<u8>, TransactionOutcome)]) -> LevelVerdict {
        let mut records = HEADER.to_vec();
        for (at, (ops, outcome)) in all.iter().enumerate() {
            records.extend(ops);
            let at = at as u64 + 1;
            let times = Times { begin_invoke_ns: at, commit_return_ns: at, ..Times::default() };
            let txn = Txn { session: at as u32, outcome: *outcome, times, token: 0 };
            records.extend(encode_end(txn, ops.len() as u32 / 16));
        }
        settle_sums(&mut records, amount);
        let history = read_records(&records).unwrap();
        Checker::new(&history).level_verdict(Level::Serializable)
    }

    fn flaw(verdict: &LevelVerdict) -> Option<FlawKind> {
        match verdict {
            LevelVerdict::Flaw(flaw) => Some(flaw.kind),
            _ => None,
        }
    }

    #[test]
    fn sums_that_follow_each_other_are_an_order() {
        let (ok, failed) = (TransactionOutcome::Ok, TransactionOutcome::Failed);
        let all = [(add(1, 5), ok), (add(2, 16), failed), (add(3, 28), ok), (read(28), ok)];
        assert!(matches!(judged(&all), LevelVerdict::Holds(_)));
        let again = [(add(1, 5), ok), (read(0), ok), (add(2, 16), ok), (read(16), ok)];
        assert!(matches!(judged(&again), LevelVerdict::Holds(_)));
    }

    #[test]
    fn two_increments_of_one_sum_are_a_lost_update() {
        let all = [
            (add(1, 5), TransactionOutcome::Ok),
            (add(2, 11), TransactionOutcome::Ok),
            (read(11), TransactionOutcome::Ok),
        ];
        assert_eq!(flaw(&judged(&all)), Some(FlawKind::IncompatibleOrder));
    }

    #[test]
    fn what_was_rolled_back_is_not_to_be_seen() {
        let (ok, failed) = (TransactionOutcome::Ok, TransactionOutcome::Failed);
        assert_eq!(
            flaw(&judged(&[(add(1, 5), failed), (read(5), ok)])),
            Some(FlawKind::AbortedRead)
        );
        // Its sum was never read by itself, and is its amount away from a known one.
        let unread = add(2, 16)[..16].to_vec();
        let all = [(add(1, 5), ok), (unread, failed), (read(16), ok)];
        assert_eq!(flaw(&judged(&all)), Some(FlawKind::AbortedRead));
        assert_eq!(flaw(&judged(&[(add(1, 5), ok), (read(6), ok)])), Some(FlawKind::GarbageRead));
    }
}
