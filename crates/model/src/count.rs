//! Instructions per operation: a second witness, which no host disturbs.
//!
//! ```text
//!   rate          what the user gets; wanders with the host       rQPS 0.72 ± 3 %
//!   instructions  what the code does; repeats to a thousandth     ×1.557 ± 0.2 %
//!      both say more work ──▶ the code path explains so much of the difference
//!      the counts are equal ─▶ it is waiting, memory or I/O
//! ```
//!
//! Counted are the instructions in user space, of the thread or process that answers one client,
//! under callgrind; the kernel's are not.

use crate::arm::PerArm;
use crate::arms::ArmIndex;
use crate::verdict::Interval;
use crate::warning::Warning;
use crate::words::words;

words! {
    /// Whether instructions are counted.
    #[derive(Default)]
    Counting {
        /// They are not.
        #[default]
        No = "no",
        /// After the measuring of rates.
        Beside = "beside",
        /// And nothing else is measured.
        Only = "only",
    }
}

/// What one arm needed in one repetition of a load. Both arms are asked the same in a repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountSample {
    /// Label of the load.
    pub load: String,
    /// Which arm.
    pub arm: ArmIndex,
    /// Which repetition, from 0.
    pub repeat: u32,
    /// Statements that were executed.
    pub operations: u64,
    /// Instructions of the one that answered them.
    pub instructions: u64,
}

/// What one function of an arm needed, over all repetitions of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionCount {
    /// Label of the load.
    pub load: String,
    /// Which arm.
    pub arm: ArmIndex,
    /// Its name without parameters; empty for what has no name in that file.
    pub name: String,
    /// The file that it is in: program or library, without its directory.
    pub object: String,
    /// Instructions of its own, per statement.
    pub own_per_op: f64,
    /// Instructions of its own and of what it called, per statement.
    pub inclusive_per_op: f64,
}

/// What a function called, and what that cost.
#[derive(Clone, Debug, PartialEq)]
pub struct CallCount {
    /// Label of the load.
    pub load: String,
    /// Which arm.
    pub arm: ArmIndex,
    /// Who called: a name without parameters.
    pub caller: String,
    /// Who was called.
    pub callee: String,
    /// Instructions of what was called and of all that it called in turn, per statement.
    pub inclusive_per_op: f64,
}

/// All that a run has counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCounts {
    /// Repetitions, in the order of counting.
    pub samples: Vec<CountSample>,
    /// Functions that make up all but a hundredth of a percent of an arm each.
    pub functions: Vec<FunctionCount>,
    /// Calls between functions that have names, as small as these at least.
    pub calls: Vec<CallCount>,
}

impl RunCounts {
    /// Whether a load has been counted in this arm.
    pub fn has_sample(&self, load: &str, arm: ArmIndex) -> bool {
        self.samples.iter().any(|sample| sample.load == load && sample.arm == arm)
    }
}

words! {
    /// What counts of a load say of the test arm.
    CountVerdict {
        /// It needs more instructions.
        More = "more",
        /// Any difference is smaller than the budget.
        Equal = "equal",
        /// It needs fewer.
        Fewer = "fewer",
        /// The repetitions do not decide it.
        Undecided = "undecided",
    }
}

/// One function in both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionChange {
    /// Its name without parameters; empty for what has no name in that file.
    pub name: String,
    /// The file that it is in.
    pub object: String,
    /// Instructions of its own, per statement.
    pub own_per_op: PerArm<f64>,
    /// With what it called.
    pub inclusive_per_op: PerArm<f64>,
}

/// What the instructions of one load say, with one client.
#[derive(Clone, Debug, PartialEq)]
pub struct CountComparison {
    /// Label of the load.
    pub load: String,
    /// Repetitions that both arms have.
    pub repeats: u32,
    /// Instructions per statement, with the 95 % interval over repetitions.
    pub per_op: PerArm<Interval>,
    /// Test ÷ base, with the 95 % interval over repetitions: above 1 the test arm needs more.
    pub ratio: Interval,
    /// The answer.
    pub verdict: CountVerdict,
    /// What is wrong with it; one that blocks is why there is no verdict.
    pub warnings: Vec<Warning>,
    /// Functions, those that changed most first.
    pub functions: Vec<FunctionChange>,
    /// Share of the instructions that fell into functions with a name.
    pub named_share: PerArm<f64>,
    /// What rate and instructions say together, for each client count, a sentence each.
    pub together: Vec<String>,
}
