//! How the rounds of a cell are measured: what the rate counts, and from when latencies do.
//!
//! ```text
//!   Load ── unit ───▶ RateUnit    what is shown, compared and judged
//!       └── rests ──▶ Since       clients that rest are late against their intention
//! ```

use dbdyno_model::{Cell, Driving, Plan, RateUnit, Round, Since};
use dbdyno_workload::Unit;

use dbdyno_workload::planned;

/// How the rounds of a cell are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellUnits {
    /// What the rate counts.
    pub(crate) unit: RateUnit,
    /// From when latencies count.
    pub(crate) since: Since,
}

impl CellUnits {
    /// That of a cell; a load that is not known any more is told in statements.
    pub(crate) fn of_cell(plan: &Plan, cell: &Cell) -> CellUnits {
        let load = planned::planned_load(plan, &cell.load).ok();
        let unit = match load.as_ref().map(|load| load.unit) {
            Some(Unit::Rows(rows)) => RateUnit::Rows(rows),
            Some(Unit::Transactions) => RateUnit::Transactions,
            Some(Unit::Statements) | None => RateUnit::Queries,
        };
        let rests = match plan.question.driving {
            Driving::Closed => load.is_some_and(|load| load.rests_between_events()),
            Driving::Thinking(_) => true,
            // The schedule decides; its response times stand apart from latencies.
            Driving::Open(_) | Driving::Search(_) => false,
        };
        CellUnits { unit, since: if rests { Since::Intended } else { Since::Sent } }
    }

    /// The rate of a round in the unit.
    pub(crate) fn rate(&self, round: &Round) -> f64 {
        self.unit.rate(round)
    }

    /// A rate in words: `5400/s`, `120000 rows/s`, `900 transactions/min`.
    pub(crate) fn rate_text(&self, rate: f64) -> String {
        match self.unit {
            RateUnit::Queries => format!("{rate:.0}/s"),
            RateUnit::Rows(_) | RateUnit::Transactions => {
                format!("{rate:.0} {}", self.unit.name())
            }
        }
    }
}
