//! Intervals, detectable effects and verdicts.
//!
//! The unit of replication is the *round*: one measurement of one arm. Seconds within a round share
//! the caches, the neighbours and the temperature of that round, so averaging more of them does not
//! make the answer surer. Rounds come in pairs, base and test next to each other, and what is
//! analysed is one number per pair:
//!
//! ```text
//!   host        ~~~~\____/~~~~~~\____          drifts; both rounds of a pair see the same of it
//!   rounds      B T  T B  T B  B T
//!   d = ln(T/B)  ·    ·    ·    ·              one log-ratio per pair: drift cancels
//!               └────────┬───────┘
//!        mean ± t·s/√k  ─┴─►  rQPS = exp(mean), with its interval
//! ```
//!
//! Logarithms make slower and faster mirror images: swapping the arms turns 0.8 into 1.25 and every
//! verdict into its opposite, exactly.
//!
//! # Why 95 % is shown and 99 % decides
//!
//! The interval that people read is the usual one, 95 %. A verdict is another matter: a run has
//! tens of cells, and a cell in which nothing changed is found *slower* or *faster* as often as the
//! level allows. With 40 such cells and a 5 % level 87 of 100 runs have at least one false verdict;
//! users then learn to ignore the tool. At 1 % ([`DECISION_ALPHA`]) two runs in three have none,
//! for half as many pairs again at the same power. So an interval of 95 % may exclude 1 while the
//! verdict is still undecided: that is not a contradiction, it is what [`Judgement::pairs_missing`]
//! is for.
//!
//! ```text
//!              1−b    1    1/(1−b)        b = budget
//!               ┊     ┊     ┊
//!   equal       ┊   ├─┼──┤  ┊             the 95 % interval lies within the budget
//!   slower  ├───┊─┤   ┊     ┊             else: the 99 % interval excludes 1
//!   undecided ├─┊─────┼──┤  ┊             else
//! ```
//!
//! *Equal* is proved, never assumed: not having found a difference is `undecided`.
//!
//! Everything is a pure function of its arguments, and states its assumptions. Signs in the data
//! that an assumption fails ([`Judgement::warnings`]) are values that are stored with the result.

pub mod agreement;
mod anytime;
mod bootstrap;
mod change;
mod confidence;
mod control_limits;
mod correlation;
mod decision;
mod drift;
mod error;
mod false_discoveries;
mod fieller;
mod fit;
mod interval;
mod joint;

mod levels;
mod median;
mod paired;
mod planning;
mod power;
mod quotient;
mod rank;
mod replicates;
mod row_cost;
mod runs;
mod sequence;
mod several_questions;
mod share;
mod single_interval;
mod slope;
mod starts;
mod student;
mod suspicion;
mod tails;
mod usl;

pub use anytime::{anytime_half, anytime_reach, beside_looks, judge_anytime};
pub use bootstrap::{BCA_MIN, BcaEstimate, bca};
pub use change::{
    CHANGE_VALUES_LEAST, ChangeOptions, E_DIVISIVE_MOST, FarExcess, LatestApart, LatestValues,
    ModeShift, SpreadShift, UnprovedStep, chance_of_as_many, change_points, e_divisive, far_excess,
    is_same_shift, latest_apart, latest_half_beyond, latest_values, mode_shifts, spread_shift,
    unproved_step,
};
pub use confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
pub use control_limits::ControlLimits;
pub use decision::Judgement;
pub use drift::{Drift, DriftVerdict, RateAt, estimate_drift};
pub use error::StatsError;
pub use false_discoveries::{FALSE_DISCOVERIES, benjamini_hochberg};
pub use fieller::{FiellerEstimate, fieller};
pub use fit::PointLogs;
pub use interval::{geometric_mean_interval, mean_interval};
pub use joint::{JointJudgement, judge_jointly};
pub use levels::{
    Component, Costs, LevelAdvice, spending_advice, variance_components, variance_shares,
};
pub use median::median;
pub use paired::{PairedEstimate, UnpairedEstimate, paired_estimate, welch};
pub use planning::{
    Amount, PAIRS_TRIED, Price, STARTS_LEAST, Spread, found_in_one_start, least_pairs, least_time,
};
pub use power::{MIN_PAIRS, PAIRS_CAP, POWER, detectable_change, pairs_needed};
pub use rank::{RankEstimate, mann_whitney, signed_rank};
pub use replicates::Nest;
pub use row_cost::{RowCosts, row_costs};
pub use runs::{RunStarts, judge_runs};
pub use sequence::{ConfidenceSequence, Look, judge_sequence, starts_missing};
pub use share::share_interval;
pub use single_interval::{judge_pairs, judge_unpaired};
pub use slope::{Slope, is_steady, slope};
pub use starts::{BETWEEN_STARTS_SD, JudgementTerms, judge_nested, judge_starts};
pub use student::normal_p_value;
pub use tails::Tails;
pub use usl::{Curves, fit_usl};
