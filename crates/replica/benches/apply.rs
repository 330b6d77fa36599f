//! How many transactions a replica can execute at a time: dependencies by appliers, in virtual
//! time.
//!
//! ```text
//!   cargo bench -p dbdyno-replica --bench apply [-- TRANSACTIONS]
//! ```
//!
//! 64 workers, transactions of 20 rows of 100,000 keys, drawn evenly and as Pareto has it, and of
//! one row; each takes one unit. On the source groups of 64 commit together, as far as their rows
//! let them. Nothing is measured: the figures are the same on every machine.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::collections::HashMap;

use dbdyno_model::design::{Apply, ApplyOrder, Certify, Depend};
use dbdyno_replica::depend::TrackerEvent as Told;
use dbdyno_replica::{Applier, ApplySchedule, RowKey, Sequence, Tracker};

#[path = "../tests/history/mod.rs"]
mod history;

use history::Keys;

const KEYS: u64 = 100_000;
const CLIENTS: u64 = 64;

/// The log of a source: for each transaction its commit parent and its rows. Groups of the clients
/// that are there commit together; who meets a row of his own group goes with the next one.
fn log(keys: Keys, many: usize, transactions: u64) -> Vec<(Sequence, Vec<RowKey>)> {
    let mut last: HashMap<RowKey, Sequence> = HashMap::new();
    let (mut log, mut rows) = (Vec::new(), Vec::new());
    let mut group = Sequence::NONE;
    for number in 0..transactions {
        history::rows(keys, 1, number, many, &mut rows);
        let sequence = Sequence(number + 1);
        let latest = rows.iter().filter_map(|row| last.get(row)).max().copied();
        if latest.unwrap_or_default() > group || number - group.0 == CLIENTS {
            group = Sequence(number);
        }
        last.extend(rows.iter().map(|&row| (row, sequence)));
        log.push((group, rows.clone()));
    }
    log
}

fn parallelism(
    depend: Depend,
    apply: Apply,
    order: ApplyOrder,
    log: &[(Sequence, Vec<RowKey>)],
) -> f64 {
    let mut tracker = Tracker::new(depend, Certify::Direct, Sequence::NONE);
    let applier = Applier::new(apply, order, Sequence::NONE);
    let mut schedule = ApplySchedule::new(applier, 1 << 14, |_| 1);
    for (parent, rows) in log {
        let told = Told::Committed { parent: *parent, rows };
        schedule
            .add_transaction(tracker.handle_event(told).expect("a transaction has dependencies"));
    }
    schedule.finish().mean_parallelism()
}

fn main() {
    let transactions = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let transactions: u64 = transactions.unwrap_or(65_536);
    let histories = [
        ("20 rows, uniform", Keys::Uniform(KEYS), 20),
        ("20 rows, Pareto", Keys::Pareto(KEYS), 20),
        ("1 row, uniform", Keys::Uniform(KEYS), 1),
        ("1 row, Pareto", Keys::Pareto(KEYS), 1),
    ];
    println!("{transactions} transactions, {KEYS} keys, 64 workers");
    for (name, keys, many) in histories {
        let log = log(keys, many, transactions);
        println!("\n{name:<18} lwm:64 free   dag:64 free   dag:64 kept");
        for depend in Depend::ALL {
            let of = |apply, order| parallelism(depend, apply, order, &log);
            println!(
                "  {:<16} {:11.2}   {:11.2}   {:11.2}",
                depend.name(),
                of(Apply::Lwm(64), ApplyOrder::Free),
                of(Apply::Dag(64), ApplyOrder::Free),
                of(Apply::Dag(64), ApplyOrder::Kept),
            );
        }
    }
}
