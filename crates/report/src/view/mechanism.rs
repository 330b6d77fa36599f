//! What a mechanism of a reference engine did, in the words of the JSON contract.

use dbdyno_model::experiment::FigureOutcome;
use serde::Serialize;

use super::values::if_finite;

/// A figure in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MechanismView {
    /// Label of the load.
    pub load: String,
    /// Number of clients.
    pub clients: u32,
    /// What is counted: `A / B` is A for each B, else it is for each statement.
    pub figure: String,
    /// The mean of the base arm's rounds.
    pub base: Option<f64>,
    /// The mean of the test arm's rounds.
    pub test: Option<f64>,
    /// Test ÷ base.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of its 95 % interval.
    pub ratio_high: Option<f64>,
}

impl From<&FigureOutcome> for MechanismView {
    fn from(outcome: &FigureOutcome) -> MechanismView {
        let of = |end: fn(&dbdyno_model::Interval) -> f64| {
            outcome.ratio.as_ref().and_then(|ratio| if_finite(end(ratio)))
        };
        MechanismView {
            load: outcome.cell.load.clone(),
            clients: outcome.cell.clients,
            figure: outcome.figure.to_string(),
            base: outcome.base.and_then(if_finite),
            test: outcome.test.and_then(if_finite),
            ratio: of(|ratio| ratio.estimate),
            ratio_low: of(|ratio| ratio.low),
            ratio_high: of(|ratio| ratio.high),
        }
    }
}
