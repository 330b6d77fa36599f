//! Where the time of an operation goes in both arms, line by line.
//!
//! ```text
//!   time of an operation  =  client's code + client's kernel + waiting for a processor
//!                            + server's code (by layer, where it was counted) + server's kernel
//!                            + the rest: storage, locks, logs, and what nobody observed
//! ```
//!
//! The lines add up to the time of an operation exactly, in both arms and in their difference; the
//! rest is a line like any other, so that nobody takes what was not seen for what is not there.

use crate::arm::PerArm;
use crate::plan::Cell;
use crate::verdict::Interval;

/// The lines that stand by themselves, in their order.
pub const LEDGER_LINES: [&str; 6] = [
    "client, its code",
    "client, its kernel",
    "client, waiting for a processor",
    "server, its code",
    "server, its kernel",
    "the rest: storage, locks, logs, and what was not observed",
];

/// A line of a ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerLine {
    /// What took the time.
    pub name: String,
    /// Whether it is a part of the line before it that has no part: code of the server by layer.
    pub is_part: LineStanding,
    /// Microseconds for an operation in each arm.
    pub us: PerArm<f64>,
    /// Test − base, with its 95 % interval; that of a part is known by its share of instructions
    /// and has the interval of the whole in its measure.
    pub difference_us: Interval,
}

/// Whether a line stands by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStanding {
    /// It does.
    Whole,
    /// It is a part of the line by itself that stands before it.
    OfLine,
}

/// The time of an operation in both arms of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// The cell.
    pub cell: Cell,
    /// Its lines; those that stand by themselves add up to the total.
    pub lines: Vec<LedgerLine>,
    /// Microseconds from one operation of a client to its next one.
    pub total: LedgerLine,
    /// Share of the base's time that no line but the rest has.
    pub rest_share: f64,
    /// The rQPS that the processor time alone would make, beside the one that was measured: how
    /// much of the difference is work and not waiting (Amdahl's law).
    pub rqps_of_work: Interval,
    /// What was measured.
    pub rqps: f64,
}

impl Ledger {
    /// What processors take of the difference, as a share of it; `None` of equal arms.
    pub fn work_share(&self) -> Option<f64> {
        let longer = |rqps: f64| 1.0 / rqps - 1.0;
        let share = longer(self.rqps_of_work.estimate) / longer(self.rqps);
        share.is_finite().then_some(share)
    }

    /// The most that processors take of the difference, as a share of it, by the interval of
    /// [`Ledger::rqps_of_work`]; 0 where they take less in the slower arm. `None` of equal arms.
    pub fn work_share_most(&self) -> Option<f64> {
        let longer = |rqps: f64| 1.0 / rqps - 1.0;
        let whole = longer(self.rqps);
        let ends = [self.rqps_of_work.low, self.rqps_of_work.high];
        let most = ends.map(|end| longer(end) / whole).into_iter().fold(0.0, f64::max);
        most.is_finite().then_some(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(rqps: f64, low: f64, high: f64) -> Ledger {
        let nothing = Interval { estimate: 0.0, low: 0.0, high: 0.0 };
        let total = LedgerLine {
            name: String::new(),
            is_part: LineStanding::Whole,
            us: PerArm::default(),
            difference_us: nothing,
        };
        Ledger {
            cell: Cell { load: "update-index".to_owned(), clients: 1 },
            lines: Vec::new(),
            total,
            rest_share: 0.0,
            rqps_of_work: Interval { estimate: (low + high) / 2.0, low, high },
            rqps,
        }
    }

    /// `sync_binlog` 0 → 1 on a disk that syncs in milliseconds: 1 933 µs more, 266 of them work.
    #[test]
    fn what_waits_is_known_by_what_processors_take() {
        let share = ledger(0.11, 0.45, 0.50).work_share_most().unwrap();
        assert!((share - (1.0 / 0.45 - 1.0) / (1.0 / 0.11 - 1.0)).abs() < 1e-9 && share < 0.16);
        let all = ledger(0.70, 0.69, 0.74).work_share_most().unwrap();
        assert!(all > 1.0, "{all}");
        assert_eq!(
            ledger(0.70, 1.05, 1.10).work_share_most(),
            Some(0.0),
            "it works less, and waits"
        );
        let faster = ledger(1.50, 1.05, 1.10).work_share_most().unwrap();
        assert!((faster - (1.0 / 1.10 - 1.0) / (1.0 / 1.5 - 1.0)).abs() < 1e-9);
        assert_eq!(ledger(1.0, 0.99, 1.01).work_share_most(), None);
    }
}
