//! What certification costs a row, what cleaning up costs, and what parallelism is lost.
//!
//! ```text
//!   cargo bench -p dbdyno-replica --bench certify [-- TRANSACTIONS]
//! ```
//!
//! Transactions of 20 rows, keys drawn evenly. Processor time of the thread, each figure the median
//! of five with the least and the most; a clean-up comes after every eighth part and forgets all
//! but the last eighth, and the longest of all is shown. The first eighth is shown by itself: a
//! table's memory is had from the kernel there, a page at a time. The schedule is that of 64
//! workers in virtual time, each transaction one unit: exact, and the same on every machine.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;

use dbdyno_model::design::{Apply, ApplyOrder, Certify, Depend};
use dbdyno_replica::certify::{CertifierAction, CertifierEvent};
use dbdyno_replica::depend::TrackerEvent as Told;
use dbdyno_replica::{Applier, ApplySchedule, Certifier, RowKey, Sequence, Tracker};
use rustix::time::{ClockId, clock_gettime};

#[path = "../tests/history/mod.rs"]
mod history;

use history::Keys;

const ROWS: usize = 20;
const REPEATS: usize = 5;
const PARTS: usize = 8;

fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

struct Cost {
    /// ns a row of the first part.
    first: f64,
    /// ns a row of the others, without cleaning up.
    later: f64,
    longest_ns: u64,
}

fn cost(certify: Certify, rows: &[RowKey]) -> Cost {
    let mut certifier = Certifier::new(certify, Sequence::NONE);
    let (mut spent, mut longest_ns) = (Vec::new(), 0);
    let of_part = rows.len().div_ceil(PARTS * ROWS) * ROWS;
    for part in rows.chunks(of_part) {
        let start = thread_ns();
        for rows in part.chunks(ROWS) {
            let snapshot = certifier.newest_sequence();
            let action = certifier.handle_event(CertifierEvent::Transaction { snapshot, rows });
            assert!(matches!(black_box(action), CertifierAction::Passed { .. }));
        }
        let done = thread_ns();
        let stable = Sequence(certifier.newest_sequence().0 - (part.len() / ROWS) as u64);
        black_box(certifier.handle_event(CertifierEvent::Stable(stable)));
        spent.push(done - start);
        longest_ns = longest_ns.max(thread_ns() - done);
    }
    let later: u64 = spent[1..].iter().sum();
    let first = spent[0] as f64 / of_part as f64;
    Cost { first, later: later as f64 / (rows.len() - of_part) as f64, longest_ns }
}

fn parallelism(certify: Certify, apply: Apply, rows: &[RowKey]) -> f64 {
    let mut tracker = Tracker::new(Depend::Dag, certify, Sequence::NONE);
    let applier = Applier::new(apply, ApplyOrder::Free, Sequence::NONE);
    let mut schedule = ApplySchedule::new(applier, 1 << 14, |_| 1);
    for rows in rows.chunks(ROWS) {
        let told = Told::Committed { parent: Sequence::NONE, rows };
        schedule
            .add_transaction(tracker.handle_event(told).expect("a transaction has dependencies"));
    }
    schedule.finish().mean_parallelism()
}

fn main() {
    let transactions = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let transactions: u64 = transactions.unwrap_or(65_536).max(2 * PARTS as u64);
    println!("{transactions} transactions of {ROWS} rows; 64 workers");
    let drawn = [100_000, 1_000_000, 10_000_000].map(Keys::Uniform);
    for keys in drawn.into_iter().chain([Keys::Pareto(100_000)]) {
        let (mut all, mut some) = (Vec::new(), Vec::new());
        for number in 0..transactions {
            history::rows(keys, 1, number, ROWS, &mut some);
            all.extend_from_slice(&some);
        }
        println!(
            "\n{keys:?}   ns a row (least, most)   first   longest clean-up   lwm:64   dag:64"
        );
        for certify in Certify::ALL {
            let mut costs: Vec<_> = (0..REPEATS).map(|_| cost(certify, &all)).collect();
            costs.sort_by(|a, b| a.later.total_cmp(&b.later));
            let (least, most) = (costs[0].later, costs[REPEATS - 1].later);
            let longest_ns = costs.iter().map(|cost| cost.longest_ns).max().unwrap_or(0);
            println!(
                "  {:<8} {:7.1} ({least:.1}, {most:.1})   {:7.1}   {:9.3} ms   {:7.2}  {:7.2}",
                certify.name(),
                costs[REPEATS / 2].later,
                costs[REPEATS / 2].first,
                longest_ns as f64 / 1e6,
                parallelism(certify, Apply::Lwm(64), &all),
                parallelism(certify, Apply::Dag(64), &all),
            );
        }
    }
}
