//! The rate over the number of clients as one object, with what differs between two of them.
//!
//! ```text
//!   X │          ·  peak (N*, X_max)        X(N) = λ·N / (1 + σ·(N−1) + κ·N·(N−1))
//!     │     ·         ·                     λ  what one client alone does
//!     │  ·                  ·               σ  contention: waiting in a queue for each other
//!     │·                                    κ  coherency: talking to each other
//!     └────────────────────────── N
//! ```
//!
//! The universal scalability law (Gunther, *Guerrilla Capacity Planning*, Springer 2007, ch. 4–6).

use crate::arm::PerArm;
use crate::rate::RateUnit;
use crate::verdict::{Interval, Verdict};
use crate::warning::Warning;
use crate::words::words;

/// The curves of both arms under one load.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveComparison {
    /// Label of the load.
    pub load: String,
    /// What the rates count.
    pub unit: RateUnit,
    /// Every client count that was measured, in order.
    pub points: Vec<CurvePoint>,
    /// The fitted curves; `None` where there are too few points for any.
    pub fit: Option<CurveFit>,
    /// What the reader of the curves must know, among it why there is no fit or no verdict.
    pub warnings: Vec<Warning>,
}

/// What was measured at one client count.
#[derive(Clone, Debug, PartialEq)]
pub struct CurvePoint {
    /// Number of clients.
    pub clients: u32,
    /// Rates in the unit of the curve, with their 95 % intervals.
    pub rates: PerArm<Interval>,
    /// Whether the fit rests on this point.
    pub place: PointPlace,
}

/// Whether a point has a part in the fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointPlace {
    /// It has.
    Fitted,
    /// It was left out; a warning of the curve says why.
    LeftOut,
}

/// The fitted curves of both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveFit {
    /// Each arm's curve.
    pub arms: PerArm<UslCurve>,
    /// The five questions, in the order of [`CurveQuestion::ALL`]; empty where the law does not
    /// describe the points.
    pub changes: Vec<CurveChange>,
}

/// The curve of one arm. A bound that lies beyond twice the largest number of clients that was
/// measured is infinite: it was not measured.
#[derive(Clone, Debug, PartialEq)]
pub struct UslCurve {
    /// λ: the rate of one client alone.
    pub lambda: Interval,
    /// σ ≥ 0: contention.
    pub sigma: Interval,
    /// κ ≥ 0: coherency.
    pub kappa: Interval,
    /// N*: the number of clients with the highest rate.
    pub peak_clients: Interval,
    /// X_max: that rate.
    pub peak_rate: Interval,
    /// The largest distance of a point from the curve, as a share of the rate.
    pub misfit: f64,
    /// The curve with its band, from 1 client to twice the largest number measured.
    pub band: Vec<BandPoint>,
}

/// The curve at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandPoint {
    /// Number of clients; between whole ones, too.
    pub clients: f64,
    /// The rate with its 95 % interval.
    pub rate: Interval,
}

words! {
    /// What is asked of two curves.
    CurveQuestion {
        /// Did one client alone become slower (λ)?
        SingleClient = "single_client",
        /// Do clients wait more for each other (σ)?
        Contention = "contention",
        /// Do they pay more for each other's presence (κ)?
        Coherency = "coherency",
        /// Is the highest rate lower (X_max)?
        PeakRate = "peak_rate",
        /// Is it reached with fewer clients (N*)?
        PeakClients = "peak_clients",
    }
}

/// The answer to one of the five.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveChange {
    /// What was asked.
    pub question: CurveQuestion,
    /// Test ÷ base with its 95 % interval, below 1 where the test arm is the worse one: of λ, X_max
    /// and N* themselves; for σ and κ of the rate at the largest number of clients, as far as the
    /// change of this parameter explains it. λ, σ and κ together explain all of it.
    pub effect: Interval,
    /// The answer, the five together.
    pub verdict: Verdict,
}
