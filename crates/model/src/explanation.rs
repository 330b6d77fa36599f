//! Where a difference comes from: causes, each with its share, what is left, and how it is known.
//!
//! ```text
//!   cost of an operation in test  =  1 + eq_range_index_dive_limit + innodb_adaptive_hash_index
//!     (base = 1)                       + the other 63 settings     + code
//! ```
//!
//! What an operation costs, in instructions or in time, is what independent causes add to; rates
//! are not. So a part is worth a share of what an operation costs in base, and points of rQPS,
//! which are told by the rates of trials. Parts add up to the whole exactly in both.

use crate::arm::PerArm;
use crate::deadlock::DeadlockCounts;
use crate::ledger::Ledger;
use crate::plan::Cell;
use crate::profile::{Match, Waits};
use crate::run::RunId;
use crate::server_facts::FactComparison;
use crate::verdict::{Interval, Verdict};
use crate::words::words;

/// Which arm is given what the other one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrialDirection {
    /// Test is given base's value: what it gains is what the difference is worth.
    TestAsBase,
    /// Base is given test's value, where test cannot be given base's: what base loses.
    BaseAsTest,
}

impl TrialDirection {
    /// Both, the usual one first.
    pub const BOTH: [TrialDirection; 2] = [TrialDirection::TestAsBase, TrialDirection::BaseAsTest];

    /// `test-as-base` or `base-as-test`, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TrialDirection::TestAsBase => "test-as-base",
            TrialDirection::BaseAsTest => "base-as-test",
        }
    }
}

/// A difference between two arms that can be taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// What it is called: `eq_range_index_dive_limit`, `optimizer_switch mrr`, `wake`.
    pub name: String,
    /// The facts of the audit in which it shows.
    pub facts: Vec<String>,
    /// What the test arm is told to be as base is: words behind its target and their values. Empty
    /// where there is nothing that it could be told.
    pub told: Vec<(String, String)>,
    /// What the base arm is told to be as test is, likewise.
    pub given: Vec<(String, String)>,
    /// The value in base.
    pub base: String,
    /// The value in test.
    pub test: String,
    /// How likely it is to matter, beside others; see `dbdyno_explain`.
    pub weight: f64,
}

impl Suspect {
    /// What an arm is told in this direction.
    pub fn lines(&self, direction: TrialDirection) -> &[(String, String)] {
        match direction {
            TrialDirection::TestAsBase => &self.told,
            TrialDirection::BaseAsTest => &self.given,
        }
    }
}

/// What facts of a cell point to before anything is tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prior {
    /// What an operation seems to cost more of: `commits, logs and syncs`.
    pub points_to: Vec<&'static str>,
    /// The facts, as a sentence.
    pub why: String,
    /// The differences that may cost that, in the order in which they are tried.
    pub first: Vec<String>,
}

/// A difference that was not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntriedDifference {
    /// The fact, or the name of the suspect.
    pub name: String,
    /// The value in base, if it has one.
    pub base: Option<String>,
    /// The value in test, if it has one.
    pub test: Option<String>,
    /// Why not.
    pub why: String,
    /// Whether it is a condition under which the program runs, which may cost what else is called
    /// code: a limit, processors, a disk, a delay.
    pub is_condition: bool,
}

impl UntriedDifference {
    /// Why what follows from another difference is not tried, up to the name of that.
    pub const FOLLOWS: &str = "it follows from";

    /// Whether it comes and goes with another difference, which was tried.
    pub fn is_follower(&self) -> bool {
        self.why.starts_with(UntriedDifference::FOLLOWS)
    }
}

/// A difference of two servers that cannot be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The fact of the audit, `table.sbtest1.indexes`, or what the servers count,
    /// `handler_read_next`.
    pub name: String,
    /// The value in base, if it has one.
    pub base: Option<String>,
    /// The value in test, if it has one.
    pub test: Option<String>,
    /// What it means, and what to do.
    pub advice: &'static str,
}

words! {
    /// In what a difference is seen.
    #[derive(PartialOrd, Ord)]
    Witness {
        /// Instructions for an operation, under callgrind, with one client.
        Instructions = "instructions",
        /// Operations in a second.
        Rate = "rate",
    }
}

/// What a part of a difference is worth, in both measures; each is computed from what trials have
/// found, and neither is scaled into the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// What it adds to the cost of an operation, as a share of the cost in base, with its 95 %
    /// interval; below 0 where it makes test cheaper.
    pub cost: Interval,
    /// What it adds to the rate, in points (hundredths) of rQPS, with its 95 % interval; below 0
    /// where it makes test slower.
    pub points: Interval,
}

/// A cause that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundCause {
    /// What is unequal.
    pub suspect: Suspect,
    /// How that is known.
    pub direction: TrialDirection,
    /// Its share: the mean over all orders in which the causes can be taken back (Shapley, "A Value
    /// for n-Person Games", 1953).
    pub worth: Worth,
    /// What it is worth if it alone is taken back, or alone given to base, as one trial has found.
    pub alone: Worth,
}

/// What each of two causes brings back alone, by what both bring back together, where they make the
/// difference only together: nearly all.
const NEARLY_ALL: std::ops::RangeInclusive<f64> = 0.8..=1.25;

/// Two causes that are worth more, or less, together than each by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Interaction {
    /// Their names.
    pub names: [String; 2],
    /// What each of them is worth if it alone is taken back, and both of them together.
    pub each: [Worth; 2],
    /// See `each`.
    pub together: Worth,
    /// What both together are worth beyond the sum of each.
    pub worth: Worth,
}

impl Interaction {
    /// Whether they make the difference only together: each of them alone costs next to nothing as
    /// long as the other one is as in base, so that either one taken back brings back all that both
    /// do.
    pub fn is_only_together(&self) -> bool {
        let of_both = self.together.points.estimate;
        self.each.iter().all(|one| NEARLY_ALL.contains(&(one.points.estimate / of_both)))
    }
}

/// A difference in one witness, parted: causes, the other suspects together, and code add up to the
/// total.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceAccount {
    /// In what it is seen.
    pub witness: Witness,
    /// What test needs more than base for an operation.
    pub total: Worth,
    /// The causes, the largest first.
    pub causes: Vec<FoundCause>,
    /// What they are worth together beyond what each of them is worth alone; nothing of one.
    pub together: Worth,
    /// Differences that are proved to be worth something alone, where the search ended before it
    /// was known what they are worth together with the causes. They stand among the others.
    pub not_told_apart: Vec<FoundCause>,
    /// All other suspects that were tried, taken back together beside the causes, or given to base
    /// so.
    pub others: Worth,
    /// What they are worth together while the causes are as test has them; `None` where that was
    /// not tried as a whole.
    pub others_alone: Option<Worth>,
    /// What is left when all are taken back.
    pub code: Worth,
    /// Pairs of causes that do not add up.
    pub interactions: Vec<Interaction>,
}

/// What is left when all that can be taken back is: whether it is known to be the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CodeStanding {
    /// It is next to nothing, or instructions show it, or the programs differ and nothing else.
    #[default]
    Code,
    /// It is the code or these conditions, which were not tried.
    CodeOrUntried(Vec<String>),
    /// The programs are the same: these conditions, which were not tried.
    Untried(Vec<String>),
    /// The programs are the same, and no other condition is known to differ.
    Unexplained,
}

impl CodeStanding {
    /// The conditions that were not tried.
    pub fn untried_conditions(&self) -> &[String] {
        match self {
            CodeStanding::CodeOrUntried(names) | CodeStanding::Untried(names) => names,
            CodeStanding::Code | CodeStanding::Unexplained => &[],
        }
    }

    /// `code`, `code-or-untried`, `untried` or `unexplained`, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            CodeStanding::Code => "code",
            CodeStanding::CodeOrUntried(_) => "code-or-untried",
            CodeStanding::Untried(_) => "untried",
            CodeStanding::Unexplained => "unexplained",
        }
    }
}

/// A function whose instructions changed, with all that can be made equal made so.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeChange {
    /// Its name; of one that is called otherwise in test, both: `old → new`.
    pub name: String,
    /// How the names of both sides were matched.
    pub matched: Match,
    /// Instructions of its own for an operation, test − base.
    pub own_per_op: f64,
}

words! {
    /// In what two plans of a statement differ.
    #[derive(PartialOrd, Ord)]
    PlanClass {
        /// Order of tables, index or kind of access.
        Shape = "shape",
        /// The bounds between which is read.
        Bounds = "bounds",
        /// The number of rows that is expected.
        Estimate = "estimate",
        /// Nothing, and rows are expected that are not met in one of them.
        Misestimate = "misestimate",
    }
}

/// A statement whose plan is not the same in both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanChange {
    /// Which statement of the load, from 1.
    pub statement: u32,
    /// In what it differs most.
    pub class: PlanClass,
    /// What differs, in base.
    pub base: String,
    /// The same in test.
    pub test: String,
    /// The first decision in which the optimizers part, where both told theirs.
    pub parting: Option<PlanParting>,
    /// What brings the plan of base back on test, where it was tried.
    pub cause: Option<PlanCause>,
    /// Columns of its tables whose histograms are not the same: suspected, where estimates are.
    pub histograms: Vec<HistogramDifference>,
    /// What either optimizer would have taken next; `None` where it told of nothing else.
    pub runner_up: PerArm<Option<RunnerUp>>,
}

/// The best plan that was not taken, beside the one that was.
#[derive(Clone, Debug, PartialEq)]
pub struct RunnerUp {
    /// What it does otherwise: `join order of few, many`, `access of t: scan`.
    pub what: String,
    /// What the plan costs that was taken, in the unit of that optimizer.
    pub cost: f64,
    /// What this one costs, or the least that it may cost where it was not weighed to its end.
    pub other: f64,
}

impl RunnerUp {
    /// How many times as much it costs: the nearer to 1, the sooner the plan flips.
    pub fn cost_ratio(&self) -> f64 {
        if self.cost > 0.0 { self.other / self.cost } else { f64::INFINITY }
    }
}

/// How firmly an arm takes a plan for a statement of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanStability {
    /// The load.
    pub load: String,
    /// Which statement of it, from 1.
    pub statement: u32,
    /// What either optimizer would have taken next.
    pub runner_up: PerArm<Option<RunnerUp>>,
    /// What it took with fresh samples of its statistics; `None` where none were taken.
    pub sampled: PerArm<Option<SampledPlans>>,
}

/// The plans of a statement under so many samples of the statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledPlans {
    /// Samples.
    pub samples: u32,
    /// Those under which the plan was not that of the statistics as they were.
    pub flipped: u32,
    /// Their share among all samples that could have been taken, with its 95 % interval.
    pub share: Interval,
    /// The fewest rows and the most that a step of it expected.
    pub rows: [u64; 2],
    /// Each plan with the samples under which it was taken, the most frequent first.
    pub plans: Vec<(String, u32)>,
}

/// A column of which the optimizers know different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramDifference {
    /// `orders.status`.
    pub column: String,
    /// What base knows of it: `equi-height, 100 buckets`; `none` where it knows nothing.
    pub base: String,
    /// The same of test.
    pub test: String,
}

/// The first decision in which two optimizers part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanParting {
    /// At which step, and of what: `range of t2.range_in_b`.
    pub at: String,
    /// What base has decided, with its numbers; `None` where it came to no such step.
    pub base: Option<String>,
    /// The same of test.
    pub test: Option<String>,
}

/// What brings the plan of base back on test, found with EXPLAIN alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCause {
    /// What does it; `None` where nothing that was tried does.
    pub remedy: Option<PlanRemedy>,
    /// What could not be tried, and why.
    pub untried: Option<String>,
}

/// What a session of test is given so that it plans as base does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRemedy {
    /// Settings as base has them: `optimizer_switch='hash_join=off'`.
    pub settings: Vec<String>,
    /// Constants of the cost model as base has them, which are those of a whole server:
    /// `mysql.server_cost row_evaluate_cost=0.2`.
    pub costs: Vec<String>,
    /// Whose statistics the optimizer of test believes in meanwhile.
    pub statistics: StatisticsOf,
}

impl PlanRemedy {
    /// Settings that do it whatever the statistics.
    pub fn of_settings_alone(settings: Vec<String>) -> PlanRemedy {
        PlanRemedy { settings, costs: Vec::new(), statistics: StatisticsOf::Itself }
    }
}

/// Whose statistics an optimizer believes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatisticsOf {
    /// Its own server's.
    Itself,
    /// Of columns those of base, transplanted: histograms, and what is counted with them.
    BaseOfColumns,
    /// All those of base, transplanted.
    Base,
}

/// An arm of a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The run in which it was tried.
    pub run: RunId,
    /// In what it was looked at.
    pub witness: Witness,
    /// Which arm was changed: test, or base.
    pub direction: TrialDirection,
    /// Names of the suspects that were made equal in it.
    pub equal: Vec<String>,
    /// What an operation costs in it more than in base; `None` where it could not be tried.
    pub worth: Option<Worth>,
    /// Why it could not be tried.
    pub why: Option<String>,
}

/// What the lines that take a loss away do in the cells of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// What test is told, as in an option file: `NAME=VALUE`.
    pub lines: Vec<String>,
    /// What it does, cell by cell; `None` where that was not looked at.
    pub elsewhere: Option<Elsewhere>,
    /// Cells beside the explained one in which it was not tried.
    pub cells_left: usize,
}

/// What a remedy costs or gains in all cells of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Elsewhere {
    /// The run of test, as base, and test with the remedy.
    pub run: RunId,
    /// In what it is seen.
    pub witness: Witness,
    /// The cells of the run.
    pub cells: Vec<RemedyCell>,
}

/// What a remedy does in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct RemedyCell {
    /// Where.
    pub cell: Cell,
    /// Test with the remedy ÷ test, with its 95 % interval: of rates, or of instructions for an
    /// operation.
    pub ratio: Interval,
    /// What is proved of it. Of instructions, fewer is faster.
    pub verdict: Verdict,
}

/// Where the difference of two arms in a cell comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The run that is explained.
    pub run: RunId,
    /// What the arms are called: base and test.
    pub labels: [String; 2],
    /// Their cell.
    pub cell: Cell,
    /// Parts of the difference by each witness: the one by which causes were looked for, then the
    /// one that confirms them.
    pub accounts: Vec<DifferenceAccount>,
    /// How many suspects were tried.
    pub tried: usize,
    /// The least worth that was looked for: what is smaller stands with the others.
    pub least: f64,
    /// What the facts of the cell point to, which was tried first; `None` where they point to
    /// nothing that differs.
    pub prior: Option<Prior>,
    /// What speaks against looking for causes in the servers, such as a client that is the limit.
    pub limit: Option<String>,
    /// Differences of which no share is measured, though they are known to matter: those of servers
    /// that cannot be started again. The likely ones first.
    pub leads: Vec<Lead>,
    /// What takes the loss away, and what it does in other cells.
    pub remedy: Option<Remedy>,
    /// What was not tried, or did not take what it was told.
    pub untried: Vec<UntriedDifference>,
    /// Statements whose plans differ.
    pub plans: Vec<PlanChange>,
    /// Where the time of an operation goes in both arms, where rates were measured.
    pub ledger: Option<Ledger>,
    /// What the rest of the ledger was parted by, where waits were looked at.
    pub waits: Option<Waits>,
    /// Why they could not be looked at, where they should have been.
    pub unwaited: Option<String>,
    /// What the servers did for an operation by their own account, what differs most first.
    pub work: Vec<FactComparison>,
    /// Deadlocks in the cell, by what they have in common, the most frequent first.
    pub deadlocks: Vec<DeadlockCounts>,
    /// Transactions of others that were open when the cell began or ended, a line each, those who
    /// wait beneath whom they wait for; by arm.
    pub blockers: PerArm<Vec<String>>,
    /// Whether what the accounts call code is known to be that.
    pub code_standing: CodeStanding,
    /// What changed most in the code, by instructions.
    pub code: Vec<CodeChange>,
    /// Which share of the instructions of each arm has no name of a function, where they are too
    /// unequal for functions and layers to be told.
    pub nameless: Option<PerArm<f64>>,
    /// All arms that were tried, in order.
    pub trials: Vec<Trial>,
    /// What is left open, if it ended before everything was tried.
    pub open: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_make_it_only_together_where_either_one_brings_back_what_both_do() {
        let worth = |points: f64| {
            let of = |estimate: f64| Interval { estimate, low: estimate, high: estimate };
            Worth { cost: of(-points / 100.0), points: of(points) }
        };
        let is = |one: f64, other: f64, both: f64| {
            Interaction {
                names: ["a", "b"].map(str::to_owned),
                each: [worth(one), worth(other)],
                together: worth(both),
                worth: worth(both - one - other),
            }
            .is_only_together()
        };
        assert!(is(-97.0, -96.0, -97.0) && is(40.0, 38.0, 41.0));
        assert!(!is(-19.0, -0.4, -99.0) && !is(-30.0, -30.0, -50.0));
        assert!(!is(-97.0, -97.0, -0.01) && !is(-97.0, 97.0, -97.0) && !is(1.0, 1.0, 0.0));
    }
}
