//! The same history for all certifiers, and what each must say of it.
//!
//! ```text
//!   oracle   an ordered map of all rows that ever were
//!   exact    says what the oracle says
//!   others   refuse what it refuses, and more; name no earlier transaction
//! ```

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::design::Certify;
use dbdyno_model::random::{RandomStream, mix_bits, stream};
use dbdyno_replica::certify::{CertifierAction, CertifierEvent};
use dbdyno_replica::{Certifier, RowKey, Sequence};
use proptest::prelude::*;

/// All that passed, and nothing forgotten.
#[derive(Default)]
struct Oracle {
    newest: Sequence,
    last: BTreeMap<RowKey, Sequence>,
}

impl Oracle {
    fn last_writer(&self, row: RowKey) -> Sequence {
        self.last.get(&row).copied().unwrap_or_default()
    }

    fn passed(&mut self, rows: &[RowKey]) {
        self.newest = self.newest.next();
        self.last.extend(rows.iter().map(|&row| (row, self.newest)));
    }

    fn newest(&self, rows: &[RowKey]) -> Sequence {
        rows.iter().map(|&row| self.last_writer(row)).max().unwrap_or_default()
    }
}

fn rows(random: &mut RandomStream, keys: u64) -> Vec<RowKey> {
    let many = 1 + random.next_below(8);
    (0..many).map(|_| RowKey(mix_bits(random.next_below(keys)))).collect()
}

/// A step of a history: how far back a snapshot lies, or how far back it is stable.
#[derive(Clone, Debug)]
enum Step {
    Transaction(u64, Vec<u64>),
    Ddl,
    Stable(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (0..12_u64, prop::collection::vec(0..60_u64, 1..6))
            .prop_map(|(back, rows)| Step::Transaction(back, rows)),
        1 => Just(Step::Ddl),
        2 => (12..40_u64).prop_map(Step::Stable),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    /// Exact is the oracle, but for what is forgotten, which only older snapshots ask for.
    #[test]
    fn exact_says_what_the_oracle_says(steps in steps()) {
        let mut exact = Certifier::new(Certify::Exact, Sequence::NONE);
        let mut oracle = Oracle::default();
        // All up to the last that said nothing of its rows may have written any.
        let mut alone = Sequence::NONE;
        for step in steps {
            let newest = exact.newest_sequence();
            prop_assert_eq!(newest, oracle.newest);
            match step {
                Step::Stable(back) => {
                    let stable = Sequence(newest.0.saturating_sub(back));
                    exact.handle_event(CertifierEvent::Stable(stable));
                }
                Step::Ddl => {
                    let event = CertifierEvent::Transaction { snapshot: newest, rows: &[] };
                    let action = exact.handle_event(event);
                    let (sequence, last_committed) = (newest.next(), newest);
                    prop_assert_eq!(action, CertifierAction::Passed { sequence, last_committed });
                    oracle.passed(&[]);
                    alone = sequence;
                }
                Step::Transaction(back, rows) => {
                    let snapshot = Sequence(newest.0.saturating_sub(back));
                    let rows: Vec<_> = rows.into_iter().map(|row| RowKey(mix_bits(row))).collect();
                    let last = oracle.newest(&rows).max(alone);
                    let event = CertifierEvent::Transaction { snapshot, rows: &rows };
                    let action = exact.handle_event(event);
                    if last > snapshot {
                        prop_assert_eq!(action, CertifierAction::Refused { newest: last });
                        continue;
                    }
                    let CertifierAction::Passed { sequence, last_committed } = action else {
                        panic!("{action:?}")
                    };
                    prop_assert_eq!(sequence, newest.next());
                    prop_assert!(last_committed == last.max(exact.barrier()));
                    let previous = exact.previous_writers().iter().copied();
                    let previous: BTreeSet<_> =
                        previous.filter(|&w| w > exact.barrier()).collect();
                    let all = rows.iter().map(|&row| oracle.last_writer(row));
                    let expected: BTreeSet<_> = all.filter(|&w| w > exact.barrier()).collect();
                    prop_assert_eq!(previous, expected);
                    oracle.passed(&rows);
                }
            }
        }
    }
}

/// What a certifier said of a history, each refused transaction left out of what follows: so all
/// are asked the same as long as they agree, and each is held against an oracle of its own.
fn follow(certify: Certify, seed: u64, transactions: u64, keys: u64) -> (u64, u64) {
    let mut certifier = Certifier::new(certify, Sequence::NONE);
    let mut oracle = Oracle::default();
    let (mut refused, mut needless) = (0, 0);
    for number in 0..transactions {
        let mut random = stream(&[seed, number]);
        let newest = certifier.newest_sequence();
        if random.next_below(200) == 0 {
            certifier.handle_event(CertifierEvent::Stable(Sequence(newest.0.saturating_sub(20))));
        }
        let snapshot = Sequence(newest.0.saturating_sub(random.next_below(20)));
        let rows = rows(&mut random, keys);
        let last = oracle.newest(&rows);
        match certifier.handle_event(CertifierEvent::Transaction { snapshot, rows: &rows }) {
            CertifierAction::Refused { newest } => {
                assert!(newest > snapshot && newest >= last, "{certify}");
                refused += 1;
                needless += u64::from(last <= snapshot);
            }
            CertifierAction::Passed { sequence, last_committed } => {
                assert!(last <= snapshot, "{certify} let a conflict pass: {number} of {seed}");
                assert!(last <= last_committed && last_committed < sequence, "{certify}");
                for &row in &rows {
                    let writer = oracle.last_writer(row);
                    let named = certifier.previous_writers().iter().any(|&named| named >= writer);
                    assert!(named || writer <= certifier.barrier(), "{certify} forgot {writer}");
                }
                oracle.passed(&rows);
            }
            CertifierAction::Collected(_) => panic!("a transaction is no clean-up"),
        }
    }
    (refused, needless)
}

#[test]
fn every_variant_refuses_what_must_be_refused_and_forgets_no_writer() {
    for certify in Certify::ALL {
        let mut sums = (0, 0);
        for seed in 0..4 {
            let (refused, needless) = follow(certify, seed, 2_000, 1_000);
            sums = (sums.0 + refused, sums.1 + needless);
        }
        assert!(sums.0 > 200, "{certify} refused {}", sums.0);
        let most = match certify {
            // All is forgotten at each clean-up, and who is under way is refused.
            Certify::Array => sums.0,
            Certify::Direct => sums.0 / 50,
            Certify::Hash | Certify::Exact => 0,
        };
        assert!(sums.1 <= most, "{certify} refused {} of {} for nothing", sums.1, sums.0);
    }
}

/// Whatever the variant: whoever waits for all that it names waits for all that it must.
#[test]
fn what_is_named_leads_to_every_earlier_writer() {
    for certify in Certify::ALL {
        let mut certifier = Certifier::new(certify, Sequence::NONE);
        let mut all: Vec<Vec<RowKey>> = Vec::new();
        // Of each transaction, those that are applied before it starts.
        let mut before: Vec<BTreeSet<u64>> = vec![BTreeSet::new()];
        for number in 0..600 {
            let mut random = stream(&[3, number]);
            let newest = certifier.newest_sequence();
            if number % 200 == 199 {
                certifier.handle_event(CertifierEvent::Stable(Sequence(newest.0 - 50)));
            }
            // Places of the direct table that two rows share: the low 22 bits are few.
            let rows: Vec<_> = (0..3)
                .map(|_| {
                    RowKey(
                        random.next_below(50)
                            | random.next_below(20) << 22
                            | random.next_below(9) << 48,
                    )
                })
                .collect();
            let step = certifier
                .handle_event(CertifierEvent::Transaction { snapshot: newest, rows: &rows });
            let CertifierAction::Passed { sequence, last_committed } = step else {
                panic!("{step:?}")
            };
            let mut mine: BTreeSet<u64> = (1..=certifier.barrier().0).collect();
            for named in certifier.previous_writers() {
                mine.extend(&before[named.0 as usize]);
                mine.insert(named.0);
            }
            for &row in &rows {
                let writers = all.iter().enumerate().filter(|(_, rows)| rows.contains(&row));
                for (writer, _) in writers {
                    assert!(mine.contains(&(writer as u64 + 1)), "{certify}: {sequence} {writer}");
                    assert!((writer as u64) < last_committed.0);
                }
            }
            before.push(mine);
            all.push(rows);
        }
    }
}

/// A 512th entry of a bucket and a sequence that no 16 bits hold.
#[test]
fn an_array_that_is_full_begins_anew() {
    let mut array = Certifier::new(Certify::Array, Sequence::NONE);
    let pass = |array: &mut Certifier, rows: &[RowKey]| {
        let snapshot = array.newest_sequence();
        let action = array.handle_event(CertifierEvent::Transaction { snapshot, rows });
        let CertifierAction::Passed { sequence, last_committed } = action else {
            panic!("{action:?}")
        };
        (sequence.0, last_committed.0)
    };
    for row in 0..511 {
        assert_eq!(pass(&mut array, &[RowKey(row)]), (row + 1, 0));
    }
    assert_eq!(pass(&mut array, &[RowKey(511)]), (512, 511), "it waits for all");
    assert_eq!(pass(&mut array, &[RowKey(511)]), (513, 512), "and is known itself");
    assert_eq!(pass(&mut array, &[RowKey(0)]), (514, 511), "all before are a barrier");
    let many: Vec<_> = (0..600).map(RowKey).collect();
    assert_eq!(pass(&mut array, &many), (515, 514));
    assert_eq!(pass(&mut array, &[RowKey(1 << 60)]), (516, 515), "too large to be known");
    for sequence in 517..=515 + 65_535 {
        assert_eq!(pass(&mut array, &[RowKey(1 << 61)]).0, sequence);
    }
    assert_eq!(pass(&mut array, &[RowKey(1 << 62)]), (66_051, 66_050), "65536 after the base");
    let refused = array.handle_event(CertifierEvent::Transaction {
        snapshot: Sequence(9),
        rows: &[RowKey(1 << 63)],
    });
    assert_eq!(refused, CertifierAction::Refused { newest: Sequence(66_050) });
}
