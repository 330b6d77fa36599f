//! Permissiveness of results: of all that a few transactions may read, what a level allows, and
//! what a protocol lets happen.
//!
//! ```text
//!   history of a transaction   at most M of  w(k) · r(k)=initial · r(k)=T1's · r(k)=T2's …
//!   set of histories           one for each transaction; an empty one is a transaction less
//!
//!   2 transactions × 2 keys × ≤ 2 operations    73² =     5 329 sets,  647 serializable
//!   3 transactions × 2 keys × ≤ 2 operations   111³ = 1 367 631 sets
//!                                                │
//!                one of each class of sets that differ in names of transactions and keys alone
//!                     │ level: every execution                 │ protocol: every schedule
//!                     ▼                                        ▼
//!                  allowed?                                 produced?
//! ```
//!
//! The sets are those of MongoDB's permissiveness (`ClientCentric.tla`, *Design and Modular
//! Verification of Distributed Transactions in MongoDB*, VLDB 2025), and a read of a key that the
//! transaction has written itself must see its own write, which is not asked for there: 647 instead
//! of 793 for the first line. A value is the transaction that wrote it.
//!
//! The protocol is run on one set of programs of each class, by all schedules in which nobody waits
//! and nobody is rolled back: a request that waits is a request that comes later, and who is rolled
//! back is a transaction less. The machine's full graph, with waits and victims, gives the same
//! (a test compares them).

use std::collections::HashSet;

use dbdyno_cases::{InterleavingSize, KeyOperation};
use dbdyno_check::Level;

use crate::explore::Protocol;
use crate::level::{Footprint, allows_footprints};
use crate::outcome::{Did, MOST, ProtocolOutcome};
use crate::single::{Phase, Single, SingleAction, SingleState};

/// Sets of histories are counted up to so many.
pub(crate) const MOST_SETS: u64 = 200_000_000;

/// How many sets are allowed, and how many are produced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Sets.
    pub all: u64,
    /// Of these, allowed by the level.
    pub allowed: u64,
    /// Of those allowed, produced by the protocol.
    pub produced: u64,
    /// Produced although the level does not allow them.
    pub let_through: u64,
}

impl Share {
    /// Produced, of those allowed.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.produced as f64 / self.allowed.max(1) as f64
    }

    fn add(&mut self, weight: u64, allowed: bool, produced: bool) {
        self.all += weight;
        self.allowed += if allowed { weight } else { 0 };
        self.produced += if allowed && produced { weight } else { 0 };
        self.let_through += if !allowed && produced { weight } else { 0 };
    }
}

/// The count of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Results {
    /// The level.
    pub level: Level,
    /// With all names.
    pub sets: Share,
    /// Once up to names of transactions and of keys.
    pub classes: Share,
}

/// An operation as a code: writes first, then reads by key and value.
type Code = usize;

/// What one transaction may have done, in an order that numbers it.
struct Histories {
    shape: InterleavingSize,
    /// By number, the operations.
    all: Vec<Vec<Code>>,
    /// By renaming, by number, the number of what it becomes.
    renamed: Vec<Vec<u32>>,
    /// By transaction, by number: what levels ask for; `None` if it contradicts its own writes.
    footprints: Vec<Vec<Option<Footprint>>>,
    renamings: Vec<Renaming>,
}

/// Transactions and keys by other names.
struct Renaming {
    txns: [u8; MOST],
    keys: [u8; MOST],
}

impl Histories {
    fn of(shape: InterleavingSize) -> Histories {
        let (txns, keys) = (usize::from(shape.transactions), usize::from(shape.keys));
        let codes = keys + keys * (txns + 1);
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..shape.operations {
            let until = all.len();
            for at in from..until {
                for code in 0..codes {
                    all.push([&all[at][..], &[code]].concat());
                }
            }
            from = until;
        }
        let mut histories = Histories {
            shape,
            all,
            renamed: Vec::new(),
            footprints: Vec::new(),
            renamings: Vec::new(),
        };
        for txns_to in crate::level::all_orders(txns) {
            for keys_to in crate::level::all_orders(keys) {
                let renaming = Renaming { txns: *txns_to, keys: *keys_to };
                let renamed = histories.all.iter();
                let renamed = renamed.map(|ops| histories.number(ops, &renaming)).collect();
                histories.renamed.push(renamed);
                histories.renamings.push(renaming);
            }
        }
        histories.footprints = (0..txns)
            .map(|txn| histories.all.iter().map(|ops| histories.footprint(txn, ops)).collect())
            .collect();
        histories
    }

    fn codes(&self) -> usize {
        let (txns, keys) = (usize::from(self.shape.transactions), usize::from(self.shape.keys));
        keys + keys * (txns + 1)
    }

    /// A write of a key, or a read of a key and a value: 0 the first, then transactions.
    fn decoded(&self, code: Code) -> (usize, Option<usize>) {
        let (txns, keys) = (usize::from(self.shape.transactions), usize::from(self.shape.keys));
        match code.checked_sub(keys) {
            None => (code, None),
            Some(read) => (read / (txns + 1), Some(read % (txns + 1))),
        }
    }

    fn coded(&self, key: usize, read: Option<usize>) -> Code {
        let (txns, keys) = (usize::from(self.shape.transactions), usize::from(self.shape.keys));
        read.map_or(key, |value| keys + key * (txns + 1) + value)
    }

    /// The number of a history, after renaming.
    fn number(&self, ops: &[Code], to: &Renaming) -> u32 {
        let codes = self.codes();
        let mut shorter = 0;
        let mut of_length = 1;
        for _ in 0..ops.len() {
            shorter += of_length;
            of_length *= codes;
        }
        let place = ops.iter().fold(0, |place, code| {
            let (key, read) = self.decoded(*code);
            let value =
                |value: usize| value.checked_sub(1).map_or(0, |who| 1 + usize::from(to.txns[who]));
            place * codes + self.coded(usize::from(to.keys[key]), read.map(value))
        });
        (shorter + place) as u32
    }

    fn footprint(&self, txn: usize, ops: &[Code]) -> Option<Footprint> {
        let mut one = Footprint::default();
        for code in ops {
            let (key, read) = self.decoded(*code);
            let has_written = one.wrote & (1 << key) != 0;
            match read {
                None => one.wrote |= 1 << key,
                Some(value) if has_written && value != txn + 1 => return None,
                Some(value) if !has_written => one.read[key] |= 1 << value,
                Some(_) => {}
            }
        }
        Some(one)
    }

    /// How many sets there are.
    fn sets(&self) -> u64 {
        (self.all.len() as u64).pow(u32::from(self.shape.transactions))
    }

    /// The set as a number.
    fn set(&self, numbers: &[u32]) -> u64 {
        let base = self.all.len() as u64;
        numbers.iter().fold(0, |set, number| set * base + u64::from(*number))
    }

    /// The set under a renaming.
    fn image(&self, numbers: &[u32], renaming: usize) -> u64 {
        let mut image = [0; MOST];
        for (who, number) in numbers.iter().enumerate() {
            let to = usize::from(self.renamings[renaming].txns[who]);
            image[to] = self.renamed[renaming][*number as usize];
        }
        self.set(&image[..numbers.len()])
    }

    /// If it is the first of its class, how many sets the class has.
    fn weight(&self, numbers: &[u32]) -> Option<u64> {
        let own = self.set(numbers);
        let mut same = 0;
        for renaming in 0..self.renamings.len() {
            let image = self.image(numbers, renaming);
            if image < own {
                return None;
            }
            same += u64::from(image == own);
        }
        Some(self.renamings.len() as u64 / same)
    }

    /// The first of its class.
    fn first_of_class(&self, numbers: &[u32]) -> u64 {
        let images = (0..self.renamings.len()).map(|renaming| self.image(numbers, renaming));
        images.min().unwrap_or(0)
    }

    /// The numbers of what the transactions of an outcome did.
    fn numbers_of(&self, outcome: &ProtocolOutcome) -> [u32; MOST] {
        let same = Renaming { txns: [0, 1, 2], keys: [0, 1, 2] };
        let code = |did: Did| match did {
            Did::Read(key, seen) => {
                self.coded(usize::from(key), Some(seen.writer().map_or(0, |who| who + 1)))
            }
            Did::Write(key) => self.coded(usize::from(key), None),
            Did::Nothing => unreachable!("operations that are there are something"),
        };
        let mut ops = Vec::with_capacity(MOST);
        std::array::from_fn(|who| {
            ops.clear();
            if !outcome.rolled_back[who] {
                ops.extend(outcome.ops[who].iter().map(code));
            }
            self.number(&ops, &same)
        })
    }
}

/// What a protocol produces: the first set of each class.
pub struct ProducedHistories {
    histories: Histories,
    classes: HashSet<u64>,
}

impl ProducedHistories {
    /// Nothing yet; `None` if there are more than 200 million sets of this shape.
    #[must_use]
    pub fn new(shape: InterleavingSize) -> Option<ProducedHistories> {
        let (txns, keys) = (u64::from(shape.transactions), u64::from(shape.keys));
        let codes = keys * (txns + 2);
        let one: u64 = (0..=u32::from(shape.operations)).map(|length| codes.pow(length)).sum();
        let is_few = one.pow(u32::from(shape.transactions)) <= MOST_SETS;
        is_few
            .then(|| ProducedHistories { histories: Histories::of(shape), classes: HashSet::new() })
    }

    /// Adds an outcome. One in which a transaction has seen what was rolled back is in no set.
    pub fn add_outcome(&mut self, outcome: &ProtocolOutcome) {
        if outcome.rolled_back.contains(&true) {
            return;
        }
        let numbers = self.histories.numbers_of(outcome);
        let count = usize::from(self.histories.shape.transactions);
        self.classes.insert(self.histories.first_of_class(&numbers[..count]));
    }

    /// Runs a protocol of one server on all programs and all schedules without waits.
    #[must_use]
    pub fn of_protocol(protocol: &Single) -> Option<ProducedHistories> {
        let mut produced = ProducedHistories::new(protocol.shape)?;
        let mut seen = HashSet::new();
        for programs in produced.programs() {
            run(protocol, &programs, &protocol.initial(), &mut |state| {
                let Some(outcome) = protocol.outcome_of(state) else { return };
                let numbers = produced.histories.numbers_of(&outcome);
                if seen.insert(numbers) {
                    produced.add_outcome(&outcome);
                }
            });
        }
        Some(produced)
    }

    /// One set of programs of each class, as operations by transaction.
    fn programs(&self) -> Vec<Vec<Vec<KeyOperation>>> {
        let histories = &self.histories;
        // Programs are histories that read the first version only.
        let is_program = |ops: &Vec<Code>| {
            ops.iter().all(|code| matches!(histories.decoded(*code).1, None | Some(0)))
        };
        let numbers: Vec<u32> = (0..histories.all.len())
            .filter(|number| is_program(&histories.all[*number]))
            .map(|number| number as u32)
            .collect();
        let mut chosen = Vec::new();
        let count = usize::from(histories.shape.transactions);
        each_set(count, &numbers, &mut |set| {
            if histories.weight(set).is_some() {
                let ops = set.iter().map(|number| histories.all[*number as usize].iter());
                chosen.push(
                    ops.map(|ops| {
                        ops.map(|code| match histories.decoded(*code) {
                            (key, None) => KeyOperation::Write(key as u8),
                            (key, Some(_)) => KeyOperation::Read(key as u8),
                        })
                        .collect()
                    })
                    .collect(),
                );
            }
        });
        chosen
    }

    /// Counts for some levels at once.
    #[must_use]
    pub fn count(&self, levels: &[Level]) -> Vec<Results> {
        let histories = &self.histories;
        let none = Share::default();
        let mut results: Vec<Results> = levels
            .iter()
            .map(|level| Results { level: *level, sets: none, classes: none })
            .collect();
        let numbers: Vec<u32> = (0..histories.all.len() as u32).collect();
        let mut footprints = [Footprint::default(); MOST];
        each_set(usize::from(histories.shape.transactions), &numbers, &mut |set| {
            let Some(weight) = histories.weight(set) else { return };
            let produced = self.classes.contains(&histories.set(set));
            let mut is_whole = true;
            for (who, number) in set.iter().enumerate() {
                match histories.footprints[who][*number as usize] {
                    Some(footprint) => footprints[who] = footprint,
                    None => is_whole = false,
                }
            }
            for one in &mut results {
                let allowed = is_whole && allows_footprints(one.level, &footprints[..set.len()]);
                one.sets.add(weight, allowed, produced);
                one.classes.add(1, allowed, produced);
            }
        });
        debug_assert!(results.iter().all(|one| one.sets.all == histories.sets()), "none is lost");
        results
    }
}

/// All choices of `count` of these numbers.
fn each_set(count: usize, numbers: &[u32], visit: &mut impl FnMut(&[u32])) {
    let mut places = [0_usize; MOST];
    let mut set = [0_u32; MOST];
    loop {
        for who in 0..count {
            set[who] = numbers[places[who]];
        }
        visit(&set[..count]);
        let Some(who) = (0..count).rev().find(|who| places[*who] + 1 < numbers.len()) else {
            return;
        };
        places[who] += 1;
        places[who + 1..count].fill(0);
    }
}

/// All schedules of these programs in which nobody waits and nobody is rolled back.
fn run(
    protocol: &Single,
    programs: &[Vec<KeyOperation>],
    state: &SingleState,
    end: &mut impl FnMut(&SingleState),
) {
    let mut is_end = true;
    for (who, program) in programs.iter().enumerate() {
        let what = match state.phase_of(who) {
            Phase::Idle if program.is_empty() => continue,
            Phase::Idle | Phase::Open => {
                program.get(state.operations_of(who).len()).copied().unwrap_or(KeyOperation::Commit)
            }
            _ => continue,
        };
        is_end = false;
        let next = protocol.next_state(state, SingleAction::Asks(who as u8, what));
        if next.is_smooth() {
            run(protocol, programs, &next, end);
        }
    }
    if is_end {
        end(state);
    }
}
