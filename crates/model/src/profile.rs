//! Two sets of profiles compared function by function, for an operation.
//!
//! ```text
//!   cost of a function  =  its own samples ÷ operations                     k
//!   relative            =  k in test ÷ k in base − 1
//!   weighted            =  (k in test − k in base) ÷ Σ k in base            adds up to the change
//! ```
//!
//! Kravtchuk's table sorts by the first column and needs a multiplier typed by hand; here the
//! weights add up to the change of the whole by themselves, and each has an interval.

use crate::arm::{Arm, PerArm};
use crate::verdict::Interval;
use crate::words::words;

/// By what name all functions stand together that an excerpt of a profile does not tell.
pub const LEFT_OUT: &str = "[left out of an excerpt]";
/// By what name all functions stand together that have no names on a side, and those that may be
/// among them.
pub const NAMELESS: &str = "[functions without names]";

words! {
    /// How a function of one side was found on the other.
    #[derive(PartialOrd, Ord)]
    Match {
        /// By its name as it stands in the file.
        Exact = "exact",
        /// By its name without parameters, templates and what compilers add.
        Plain = "plain",
        /// By who calls it and whom it calls, under another name.
        Renamed = "renamed",
        /// Not: it is on one side only.
        Alone = "alone",
    }
}

/// A function in both sets of profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionDifference {
    /// Its name; `OLD → NEW` where it was renamed.
    pub name: String,
    /// How it was matched.
    pub matched: Match,
    /// Its share of all samples of each side.
    pub share: PerArm<f64>,
    /// The share of each side that is not told, or rounded away, and may be its; 0 where all is
    /// told.
    pub hidden_share: PerArm<f64>,
    /// Test ÷ base − 1, of its cost for an operation; infinite where base does not have it.
    pub relative: f64,
    /// What it adds to the cost of an operation, as a share of that in base; without limits where
    /// the number of samples is not told.
    pub weighted: Interval,
    /// The chance of so large a change where nothing changed; absent where the number of samples
    /// is not told.
    pub p_value: Option<f64>,
    /// The same among so many functions (Benjamini and Hochberg).
    pub q_value: Option<f64>,
    /// The caller under which others lost, or gained, what this one gained or lost.
    pub moved_within: Option<String>,
}

/// Why a side does not tell all of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntoldReason {
    /// The side has an excerpt that lacks it.
    Excerpt,
    /// It may be among the functions of the side that have no names.
    Nameless,
}

/// A function that a side does not tell, or not all of it, so that nothing is known of a
/// difference.
#[derive(Clone, Debug, PartialEq)]
pub struct UntoldFunction {
    /// Its name.
    pub name: String,
    /// Its share of the samples of each side, in the profiles that tell it or are whole; absent
    /// where none is.
    pub share: PerArm<Option<f64>>,
    /// The sides that do not tell it, or not all of it.
    pub lacking: PerArm<bool>,
    /// Why they do not.
    pub reason: UntoldReason,
}

/// A function under its callers, in a tree of the stacks of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameNode {
    /// Its name in base; in test, where base does not have it.
    pub name: String,
    /// What it and all that it calls cost, as a share of what an operation of base costs.
    pub cost: PerArm<f64>,
    /// How wide it is drawn: its own cost in the dearer arm, and the widths of all that it calls.
    pub width: f64,
    /// What it calls, the widest first.
    pub callees: Vec<FlameNode>,
}

/// Which function of a stack its samples count for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FunctionPlace {
    /// The innermost, which works.
    #[default]
    Innermost,
    /// The first one above what all waits have in common: the kernel's switch, conditions and
    /// mutexes of libraries, and the server's own wrappers of them.
    Waiting,
}

/// The difference of two sets of profiles.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileDifference {
    /// Functions, those first that changed most.
    pub functions: Vec<FunctionDifference>,
    /// What an operation costs more in test, as a share of what it costs in base.
    pub total: Interval,
    /// What the cost of an operation is: processor time, cycles, time of threads.
    pub measure: String,
    /// Which function of a stack it counts for.
    pub place: FunctionPlace,
    /// Profiles on each side.
    pub profiles: PerArm<usize>,
    /// Samples on each side; absent where its profiles tell shares alone.
    pub samples: PerArm<Option<f64>>,
    /// Whether operations were known; without them both sides count as equally costly.
    pub scale: ProfileScale,
    /// How many times as far samples of one side are apart as those of pure chance; absent where
    /// the number of samples of a side is.
    pub dispersion: Option<f64>,
    /// Share of base's samples that was matched in each way.
    pub matched: Vec<(Match, f64)>,
    /// Functions that not all excerpts tell, and those that may be among others without names,
    /// those first that have most of each; they are in what is left out, or has no names, and of
    /// none of them is a difference known.
    pub untold: Vec<UntoldFunction>,
    /// The share of samples of each side that are of functions without names.
    pub nameless_share: PerArm<f64>,
    /// The programs of each side that are counted together, and their shares, the largest first;
    /// none where one is counted, or the profiles do not tell them.
    pub programs: PerArm<Vec<(String, f64)>>,
    /// The share of idle in all that was sampled of each side: it is left out.
    pub idle_share: PerArm<f64>,
}

/// What sessions of an arm waited for in one start of its server.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitProfile {
    /// Whose it is.
    pub arm: Arm,
    /// The start, from 0.
    pub start: u32,
    /// Each class of waits, with the working that they leave.
    pub classes: Vec<ClassWait>,
}

/// What an operation waits for one class of reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassWait {
    /// The class.
    pub name: String,
    /// Microseconds for an operation.
    pub us: f64,
    /// In which function most of it is waited; empty: in none that has a name.
    pub function: String,
}

/// What a session of a server waits for in an operation, line by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits {
    /// The lines, which add up to the total in each arm and in the difference.
    pub lines: Vec<WaitLine>,
    /// From one operation of a client to its next one.
    pub total: WaitLine,
    /// Clients.
    pub clients: u32,
    /// Profiles of each arm, each in a start of its own.
    pub profiles: PerArm<usize>,
}

/// A line of [`Waits`].
#[derive(Clone, Debug, PartialEq)]
pub struct WaitLine {
    /// What is waited for.
    pub name: String,
    /// Microseconds for an operation.
    pub us: PerArm<f64>,
    /// Test − base, with its 95 % interval; `None` where an arm has one profile.
    pub difference_us: Option<Interval>,
    /// In which function most of it is waited, in each arm.
    pub function: PerArm<Option<String>>,
}

/// By what profiles are made comparable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileScale {
    /// The operations that were carried out while each was taken.
    Operations,
    /// Their samples: only shares are compared.
    Samples,
}
