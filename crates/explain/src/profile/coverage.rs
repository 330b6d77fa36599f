//! How much of what was sampled a table tells.
//!
//! ```text
//!   rows, rounded       99.98 %      within their rounding: the whole
//!                       97.2 %       2.8 % are left out, and what rounding hides
//! ```
//!
//! The rounding of three thousand rows may hide as much as a cut takes away. So what rows lack of
//! the whole is kept beside them whichever it is: they are shares of the whole, and not of their
//! own sum.

/// How much of what was sampled a text tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Coverage {
    /// Whether some of the samples are those of functions that are not told.
    pub(super) is_excerpt: bool,
    /// What such functions weigh together, at most.
    pub(super) left_out_most: f64,
    /// What the functions that are told lack of the whole: left out, or hidden by rounding. Nobody
    /// knows which of them it is of.
    pub(super) rest: f64,
}

impl Coverage {
    /// All functions are told.
    pub(super) const WHOLE: Coverage =
        Coverage { is_excerpt: false, left_out_most: 0.0, rest: 0.0 };

    /// Of a table whose rows add up to so much of a whole, and are rounded so far together: all in
    /// one direction if it comes to that, for rows of one sample are.
    pub(super) fn of_table(told: f64, whole: f64, rounding: f64) -> Coverage {
        let rest = Some(whole - told).filter(|rest| *rest > NO_REST * whole).unwrap_or(0.0);
        Coverage { is_excerpt: rest > rounding, left_out_most: rest + rounding, rest }
    }
}

/// The share of a whole that is nothing: sums of numbers of a computer are not exact.
const NO_REST: f64 = 1e-9;
