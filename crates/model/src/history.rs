//! What many runs say together: a figure over time, its levels, and where they changed.
//!
//! ```text
//!   qps │ · ·:· ·.·:··.        .:·        values: one figure of one run each
//!       │               .·:·.:            levels: medians between shifts
//!       └────────────────────────── runs
//!          level        ↑ shift    ↑ shift
//!                   earliest…latest       the first run of the new level, give or take
//! ```

use crate::verdict::Interval;
use crate::warning::{Severity, Warning};
use crate::words::words;

/// The code of a warning: from where it is known which direction is good; a caution where nothing
/// says it.
const DIRECTION: &str = "direction";

/// How sizes of changes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeScale {
    /// As shares of the level before: −0.05 is 5 % less. Values must be positive.
    Share,
    /// In the unit of the values.
    Difference,
}

words! {
    /// Which direction is good.
    Better {
        /// More is better: rates.
        Higher = "higher",
        /// Less is better: times and costs.
        Lower = "lower",
    }
}

impl Better {
    /// The other one.
    pub fn opposite(self) -> Better {
        match self {
            Better::Higher => Better::Lower,
            Better::Lower => Better::Higher,
        }
    }
}

/// Against what a change was tested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NullKind {
    /// The values in any other order.
    Permutation,
    /// Values of which each resembles the one before it, with this correlation.
    Correlated(f64),
}

words! {
    /// What a proved change is worth.
    ShiftWeight {
        /// At least as large as the budget, and nearly every value of the new level lies beyond
        /// nearly every value of the old one.
        Alarm = "alarm",
        /// At least as large as the budget, but single values of both levels overlap.
        Overlaps = "overlaps",
        /// Smaller than the budget.
        WithinBudget = "within-budget",
    }
}

/// A step from one level to another. Places are indices of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// The first value of the new level.
    pub first: usize,
    /// It could be this one, at the earliest (95 %).
    pub earliest: usize,
    /// It could be this one, at the latest (95 %).
    pub latest: usize,
    /// Chance of something as clear where nothing changed.
    pub p_value: f64,
    /// Where nothing changed in which sense.
    pub null: NullKind,
    /// New level against old one, with its 95 % interval, in the scale of the series.
    pub size: Interval,
    /// Median before, back to the shift before it.
    pub before: f64,
    /// Median after, up to the next shift.
    pub after: f64,
    /// Chance that a value of the new level lies beyond one of the old level, on the side of the
    /// change; 0.5 to 1.
    pub superiority: f64,
    /// What it is worth.
    pub weight: ShiftWeight,
}

/// A stretch in which the level slides rather than steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slide {
    /// Its first value.
    pub from: usize,
    /// One past its last value.
    pub to: usize,
    /// Change from its beginning to its end, in the scale of the series.
    pub size: f64,
}

/// Two levels between which values jump to and fro.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// The upper one against the lower one, in the scale of the series.
    pub apart: f64,
    /// Share of the values at the upper one.
    pub share_upper: f64,
    /// How often neighbours lie at two levels.
    pub crossings: usize,
}

/// What one series says.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SeriesChanges {
    /// Steps, in order.
    pub shifts: Vec<Shift>,
    /// Stretches that slide, in order.
    pub slides: Vec<Slide>,
    /// Two levels beside each other, if there are.
    pub modes: Option<Modes>,
    /// Correlation of neighbouring values around their levels, corrected for its bias.
    pub autocorrelation: f64,
    /// Values far from their neighbours on both sides, which no test looked at: their indices, in
    /// order.
    pub strays: Vec<usize>,
}

/// One value of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryPoint {
    /// Milliseconds since 1970; `None` where a file gives another order.
    pub unix_ms: Option<i64>,
    /// What the run is called: its id, name or version.
    pub label: String,
    /// What was measured: version or commit; empty where it is not known.
    pub version: String,
    /// The value.
    pub value: f64,
}

/// Something of the environment that changed where a level did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The index of the first point with the new value.
    pub at: usize,
    /// Name of the fact.
    pub fact: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// A shift that was found before the latest runs came, and is not found any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LapsedShift {
    /// Where it was.
    pub first: usize,
    /// With so many values it was last found.
    pub found_with: usize,
}

/// One figure of one thing over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HistorySeries {
    /// What was measured, e.g. `point-query at 1 client`, or the name of a column.
    pub name: String,
    /// Against what and where, in words; empty for files.
    pub about: String,
    /// Which figure: `rqps`, `qps`, `server_cpu_us_per_op`, `latency_us_p99`, or a column.
    pub metric: String,
    /// Which direction is good.
    pub better: Better,
    /// How sizes are told.
    pub scale: ChangeScale,
    /// Values in the order of time.
    pub points: Vec<HistoryPoint>,
    /// What they say.
    pub changes: SeriesChanges,
    /// For each shift, what else changed there.
    pub causes: Vec<Vec<Cause>>,
    /// For each shift, with how many values it was first found, of the latest lengths that were
    /// looked at; `None` if with all of these, and there were shorter ones.
    pub first_found: Vec<Option<usize>>,
    /// The same of when it was first found as the alarm that it is; of a shift that is none, as
    /// many values as there are.
    pub first_alarmed: Vec<Option<usize>>,
    /// Shifts that the latest runs took away.
    pub lapsed: Vec<LapsedShift>,
    /// Where E-divisive sees changes: first values of new levels. `None` if it was not asked.
    pub e_divisive: Option<Vec<usize>>,
    /// What the reader must know.
    pub warnings: Vec<Warning>,
}

impl HistorySeries {
    /// Whether a change of this size, in the scale of the series, is one to the worse.
    pub fn is_worse(&self, size: f64) -> bool {
        match self.better {
            Better::Higher => size < 0.0,
            Better::Lower => size > 0.0,
        }
    }

    /// Whether nothing says which direction of the figure is good, so that `better` is assumed.
    pub fn is_direction_assumed(&self) -> bool {
        let mut warnings = self.warnings.iter();
        warnings.any(|warning| warning.code == DIRECTION && warning.severity == Severity::Caution)
    }
}

/// All series that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchmarkHistory {
    /// Where they come from: a store or a file.
    pub source: String,
    /// Smallest change that matters, in the scale of each series (shares).
    pub budget: f64,
    /// Least chance that a value of the new level lies beyond one of the old level, for an alarm.
    pub superiority: f64,
    /// Chance of any false change in a series in which nothing changes.
    pub alpha: f64,
    /// One for each thing and figure.
    pub series: Vec<HistorySeries>,
    /// What the reader must know of the whole.
    pub warnings: Vec<Warning>,
}
