//! The same history for all trackers and appliers: the same rows in the end, and nobody starts
//! before those that he depends on have committed.
//!
//! ```text
//!   source    rows of each transaction, and how many had committed when it began to
//!   replica   executed: looks who wrote its rows last        must be who did so on the source
//!             committed: writes them
//!             killed: forgets all but who has committed, and begins anew
//! ```

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::design::{Apply, ApplyOrder, Certify, Depend};
use dbdyno_model::random::stream;
use dbdyno_replica::apply::{ApplyAction, ApplyEvent};
use dbdyno_replica::depend::TrackerEvent as Told;
use dbdyno_replica::{Applier, ApplySchedule, RowKey, Sequence, Tracker};

use crate::history::{self, Keys};

/// What a source has in its log.
struct Source(Vec<(Sequence, Vec<RowKey>)>);

impl Source {
    /// Groups of up to eight commit together, as far as their rows let them.
    fn new(seed: u64, transactions: u64) -> Source {
        let mut last: BTreeMap<RowKey, Sequence> = BTreeMap::new();
        let mut all = Vec::new();
        for number in 0..transactions {
            let mut random = stream(&[seed, number, 1]);
            let before = Sequence(number);
            let mut rows = Vec::new();
            history::rows(
                Keys::Uniform(40),
                seed,
                number,
                1 + random.next_below(4) as usize,
                &mut rows,
            );
            if random.next_below(60) == 0 {
                rows.clear();
            }
            let latest = rows.iter().filter_map(|row| last.get(row)).max().copied();
            let group = Sequence(number.saturating_sub(random.next_below(8)));
            let parent = latest.unwrap_or_default().max(group).min(before);
            last.extend(rows.iter().map(|&row| (row, before.next())));
            all.push((parent, rows));
        }
        Source(all)
    }
}

/// A replica: its rows, and who has committed.
#[derive(Default)]
struct Replica {
    rows: BTreeMap<RowKey, Sequence>,
    committed: BTreeSet<Sequence>,
}

impl Replica {
    fn low(&self) -> Sequence {
        let mut low = Sequence::NONE;
        while self.committed.contains(&low.next()) {
            low = low.next();
        }
        low
    }
}

struct Design {
    depend: Depend,
    certify: Certify,
    apply: Apply,
    order: ApplyOrder,
}

/// Applies all, or until it is killed, which is after `steps` steps.
fn run(source: &Source, replica: &mut Replica, design: &Design, seed: u64, steps: u64) {
    let start = replica.low();
    let mut tracker = Tracker::new(design.depend, design.certify, start);
    let mut applier = Applier::new(design.apply, design.order, start);
    let mut random = stream(&[seed, 2]);
    let (mut running, mut actions) = (Vec::new(), Vec::new());
    let mut arrived = start.0 as usize;
    let check = |replica: &Replica, sequence: Sequence| {
        let (_, rows) = &source.0[sequence.0 as usize - 1];
        for row in rows {
            let before = source.0[..sequence.0 as usize - 1].iter();
            let last = before.rev().position(|(_, rows)| rows.contains(row));
            let last = last.map(|back| Sequence(sequence.0 - 1 - back as u64));
            assert_eq!(replica.rows.get(row).copied(), last, "{sequence} started too early");
        }
        if rows.is_empty() {
            assert_eq!(replica.low(), sequence.before(), "{sequence} is not alone");
        }
    };
    for _ in 0..steps {
        let all = source.0.len();
        if running.is_empty() && arrived == all {
            break;
        }
        if arrived < all && (running.is_empty() || random.next_below(2) == 0) {
            let (parent, rows) = &source.0[arrived];
            if random.next_below(50) == 0 {
                tracker.handle_event(Told::Applied(applier.low_water_mark()));
            }
            let dependencies =
                tracker.handle_event(Told::Committed { parent: *parent, rows }).unwrap();
            arrived += 1;
            match replica.committed.contains(&dependencies.sequence) {
                true => {
                    applier.handle_event(ApplyEvent::Known(dependencies.sequence), &mut actions)
                }
                false => applier.handle_event(ApplyEvent::Arrived(dependencies), &mut actions),
            }
        } else if !running.is_empty() {
            let who = running.swap_remove(random.next_below(running.len() as u64) as usize);
            applier.handle_event(ApplyEvent::Executed(who), &mut actions);
        }
        while let Some(action) = actions.pop() {
            match action {
                ApplyAction::Execute(sequence) => {
                    check(replica, sequence);
                    running.push(sequence);
                    assert!(running.len() <= design.apply.workers() as usize);
                }
                ApplyAction::Commit(sequence) => {
                    let kept = design.order == ApplyOrder::Kept;
                    assert!(!kept || replica.low() == sequence.before(), "{sequence}");
                    let (_, rows) = &source.0[sequence.0 as usize - 1];
                    replica.rows.extend(rows.iter().map(|&row| (row, sequence)));
                    assert!(replica.committed.insert(sequence), "{sequence} twice");
                    applier.handle_event(ApplyEvent::Committed(sequence), &mut actions);
                }
            }
        }
    }
}

fn designs() -> impl Iterator<Item = Design> {
    let trackers = [
        (Depend::CommitOrder, Certify::Exact),
        (Depend::Writeset, Certify::Exact),
        (Depend::Dag, Certify::Exact),
        (Depend::Dag, Certify::Hash),
        (Depend::Dag, Certify::Direct),
    ];
    let appliers = [Apply::Serial, Apply::Lwm(1), Apply::Lwm(5), Apply::Dag(1), Apply::Dag(5)];
    let others = trackers.into_iter().flat_map(move |(depend, certify)| {
        let orders = ApplyOrder::ALL.iter();
        orders
            .flat_map(move |&order| appliers.map(|apply| Design { depend, certify, apply, order }))
    });
    // It takes 256 MiB, which are cleared with each DDL.
    let (depend, certify) = (Depend::Dag, Certify::Array);
    let array = Design { depend, certify, apply: Apply::Dag(5), order: ApplyOrder::Free };
    others.chain([array])
}

#[test]
fn every_variant_leads_to_the_same_rows() {
    for seed in 0..2 {
        let source = Source::new(seed, 300);
        let mut serial: BTreeMap<RowKey, Sequence> = BTreeMap::new();
        for (place, (_, rows)) in source.0.iter().enumerate() {
            serial.extend(rows.iter().map(|&row| (row, Sequence(place as u64 + 1))));
        }
        for design in designs() {
            let mut replica = Replica::default();
            run(&source, &mut replica, &design, seed, u64::MAX);
            assert_eq!(replica.rows, serial);
            assert_eq!(replica.low(), Sequence(300));
        }
    }
}

/// Killed again and again, with whatever was executed and had not committed.
#[test]
fn a_replica_that_begins_anew_applies_what_it_has_not() {
    for seed in 0..2 {
        let source = Source::new(seed, 200);
        for (place, design) in designs().enumerate() {
            let mut replica = Replica::default();
            let mut life = 0;
            while replica.low() < Sequence(200) {
                let steps = 1 + stream(&[seed, place as u64, life]).next_below(90);
                run(&source, &mut replica, &design, seed ^ life << 8, steps);
                life += 1;
            }
            assert!(life > 2, "it was killed");
        }
    }
}

/// How parallel a history is, in virtual time, each transaction taking one unit.
fn parallelism(depend: Depend, certify: Certify, apply: Apply, keys: Keys, many: u64) -> f64 {
    let mut tracker = Tracker::new(depend, certify, Sequence::NONE);
    let applier = Applier::new(apply, ApplyOrder::Free, Sequence::NONE);
    let mut schedule = ApplySchedule::new(applier, 1 << 14, |_| 1);
    let mut rows = Vec::new();
    for number in 0..many {
        history::rows(keys, 1, number, 20, &mut rows);
        // As if all 64 clients of the source were in one group: it says no less.
        let parent = Sequence(number.saturating_sub(number % 64));
        let told = Told::Committed { parent, rows: &rows };
        schedule
            .add_transaction(tracker.handle_event(told).expect("a transaction has dependencies"));
    }
    schedule.finish().mean_parallelism()
}

/// A replica of 64 workers, 20 rows of 100,000 a transaction.
#[test]
fn true_dependencies_leave_workers_busy_where_the_low_water_mark_does_not() {
    let (dag, lwm) = (Apply::Dag(64), Apply::Lwm(64));
    let uniform = Keys::Uniform(100_000);
    let exact = |apply| parallelism(Depend::Dag, Certify::Exact, apply, uniform, 30_000);
    let (true_ones, low_water) = (exact(dag), exact(lwm));
    assert!(true_ones >= 60.0, "{true_ones}");
    assert!((15.0..25.0).contains(&low_water), "{low_water}");
    let lossy = parallelism(Depend::Dag, Certify::Direct, dag, uniform, 30_000);
    assert!(lossy >= 0.94 * true_ones, "{lossy}");
    // Whoever writes 20 rows writes the hottest one: nothing is left to do side by side.
    let pareto = parallelism(Depend::Dag, Certify::Exact, dag, Keys::Pareto(100_000), 5_000);
    assert!((1.0..2.0).contains(&pareto), "{pareto}");
}
