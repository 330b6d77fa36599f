//! Two arms of a run, which is what is judged.
//!
//! ```text
//!   run     base │ test │ test2 │ test3     in the order of measuring
//!   pair    base ◀───────── test2           the same run, without a look at its other arms
//! ```
//!
//! A pair borrows its run and copies nothing. What is true of the run as a whole is true of each of
//! its pairs: its plan, its name, its warnings.

use crate::arm::{Arm, PerArm};
use crate::arms::{ArmIndex, Pairing};
use crate::count::{CountSample, FunctionCount};
use crate::plan::Plan;
use crate::round::Round;
use crate::run::{Environment, Run};
use crate::target::ArmSpec;

impl Run {
    /// Two of its arms.
    pub fn pair(&self, pairing: Pairing) -> RunPair<'_> {
        RunPair { whole: self, pairing }
    }

    /// Base and the first test: all that a run of two arms has.
    pub fn first_pair(&self) -> RunPair<'_> {
        self.pair(Pairing::USUAL)
    }

    /// One of its arms.
    pub fn arm(&self, arm: ArmIndex) -> RunArm<'_> {
        RunArm { run: self, arm }
    }
}

/// Two arms of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunPair<'r> {
    /// The run that both are of.
    pub whole: &'r Run,
    /// Which two.
    pub pairing: Pairing,
}

impl<'r> RunPair<'r> {
    /// What was to be measured, of all arms of the run.
    pub fn plan(self) -> &'r Plan {
        &self.whole.plan
    }

    /// What both arms are.
    pub fn arm_specs(self) -> PerArm<&'r ArmSpec> {
        self.plan().pair_specs(self.pairing)
    }

    /// What the arm on a side is.
    pub fn spec_on(self, side: Arm) -> &'r ArmSpec {
        self.arm_on(side).spec()
    }

    /// What was true of the arm on a side.
    pub fn environment(self, side: Arm) -> &'r Environment {
        &self.whole.environment[self.pairing.arm_on(side)]
    }

    /// The side that an arm is on; `None` of an arm of another pair.
    pub(crate) fn side_of(self, arm: ArmIndex) -> Option<Arm> {
        Arm::BOTH.into_iter().find(|side| self.pairing.arm_on(*side) == arm)
    }

    /// The rounds of both arms, in the order of measuring.
    pub fn rounds(self) -> impl Iterator<Item = &'r Round> {
        self.whole.rounds.iter().filter(move |round| self.side_of(round.key.arm).is_some())
    }

    /// The rounds of the arm on a side, in the order of measuring.
    pub fn rounds_of(self, side: Arm) -> impl Iterator<Item = &'r Round> {
        self.arm_on(side).rounds()
    }

    /// The arm on a side.
    pub fn arm_on(self, side: Arm) -> RunArm<'r> {
        RunArm { run: self.whole, arm: self.pairing.arm_on(side) }
    }
}

/// One arm of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunArm<'r> {
    /// The run that it is of.
    pub run: &'r Run,
    /// Which one.
    pub arm: ArmIndex,
}

impl<'r> RunArm<'r> {
    /// What it is.
    pub fn spec(self) -> &'r ArmSpec {
        &self.run.plan.arms[self.arm]
    }

    /// Its rounds, in the order of measuring.
    pub fn rounds(self) -> impl Iterator<Item = &'r Round> {
        self.run.rounds.iter().filter(move |round| round.key.arm == self.arm)
    }

    /// The repetitions in which its instructions were counted.
    pub fn samples(self) -> impl Iterator<Item = &'r CountSample> {
        self.run.counts.samples.iter().filter(move |sample| sample.arm == self.arm)
    }

    /// What its functions needed.
    pub fn functions(self) -> impl Iterator<Item = &'r FunctionCount> {
        self.run.counts.functions.iter().filter(move |function| function.arm == self.arm)
    }
}
