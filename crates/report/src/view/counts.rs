//! Instructions per operation in the JSON contract.

use dbdyno_model::{Arm, CountComparison, CountVerdict, FunctionChange, Interval};
use serde::{Serialize, Serializer};

use super::values::{WarningView, if_finite};

/// What the instructions of one load say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountView {
    /// Label of the load.
    pub load: String,
    /// Repetitions that both arms have.
    pub repeats: u32,
    /// Instructions per statement, of the reference arm.
    pub base: CountArmView,
    /// Of the arm under test.
    pub test: CountArmView,
    /// Test ÷ base.
    pub ratio: Option<f64>,
    /// Lower bound of its 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper bound.
    pub ratio_high: Option<f64>,
    /// `more`, `equal`, `fewer` or `undecided`.
    #[serde(serialize_with = "named")]
    pub verdict: CountVerdict,
    /// What is wrong with it; one that blocks is why there is no verdict.
    pub warnings: Vec<WarningView>,
    /// What rate and instructions say together, a sentence for each client count.
    pub together: Vec<String>,
    /// By function, those that changed most first.
    pub functions: Vec<FunctionView>,
}

/// One arm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CountArmView {
    /// Instructions per statement.
    pub instructions_per_op: Option<f64>,
    /// Lower bound of its 95 % interval.
    pub instructions_per_op_low: Option<f64>,
    /// Upper bound.
    pub instructions_per_op_high: Option<f64>,
    /// Share of them in functions that have a name.
    pub named_share: Option<f64>,
}

/// One function in both arms, per statement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionView {
    /// Its name without parameters; `null` for what has no name in that file.
    pub function: Option<String>,
    /// Program or library.
    pub object: String,
    /// Instructions of its own.
    pub base_own: Option<f64>,
    /// Instructions of its own.
    pub test_own: Option<f64>,
    /// With what it called.
    pub base_inclusive: Option<f64>,
    /// With what it called.
    pub test_inclusive: Option<f64>,
}

fn named<S: Serializer>(verdict: &CountVerdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.name())
}

impl CountView {
    pub(super) fn new(count: &CountComparison) -> CountView {
        let arm = |arm: Arm| {
            let Interval { estimate, low, high } = count.per_op[arm];
            CountArmView {
                instructions_per_op: if_finite(estimate),
                instructions_per_op_low: if_finite(low),
                instructions_per_op_high: if_finite(high),
                named_share: if_finite(count.named_share[arm]),
            }
        };
        CountView {
            load: count.load.clone(),
            repeats: count.repeats,
            base: arm(Arm::Base),
            test: arm(Arm::Test),
            ratio: if_finite(count.ratio.estimate),
            ratio_low: if_finite(count.ratio.low),
            ratio_high: if_finite(count.ratio.high),
            verdict: count.verdict,
            warnings: count.warnings.iter().map(WarningView::new).collect(),
            together: count.together.clone(),
            functions: count.functions.iter().map(FunctionView::new).collect(),
        }
    }
}

impl FunctionView {
    fn new(change: &FunctionChange) -> FunctionView {
        FunctionView {
            function: Some(change.name.clone()).filter(|name| !name.is_empty()),
            object: change.object.clone(),
            base_own: if_finite(change.own_per_op.base),
            test_own: if_finite(change.own_per_op.test),
            base_inclusive: if_finite(change.inclusive_per_op.base),
            test_inclusive: if_finite(change.inclusive_per_op.test),
        }
    }
}
