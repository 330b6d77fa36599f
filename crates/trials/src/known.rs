//! What is known so far, from the explained run and from its trials in the store.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_explain::{
    CostEstimate, Set, SetAnswer, Starts, TriedArm, beside_base, by_rate, named_in, of_base,
    pool_starts, record_answer, relative_cost, suspect_followers, tried_arm,
};
use dbdyno_model::{
    Pairing, Run, RunId, RunPair, RunStatus, Suspect, Trial, TrialDirection, Witness,
};

use crate::question::ExplainQuestion;
use dbdyno_lab::{Lab, LabError};

/// Pairs of a trial that was cut short, at least, before it is believed.
const PAIRS_LEAST: usize = 16;

/// In what is looked for causes, and from which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) witness: Witness,
    pub(crate) direction: TrialDirection,
}

impl View {
    /// Differences are taken back in test.
    pub(crate) fn of_test(witness: Witness) -> View {
        View { witness, direction: TrialDirection::TestAsBase }
    }
}

/// What runs have told of the suspects, each read once.
pub(crate) struct Evidence<'a> {
    question: &'a ExplainQuestion<'a>,
    suspects: &'a [Suspect],
    /// The explained run, once for each witness, and its trials in the order of the store.
    runs: Vec<RunTrials>,
}

/// What a run has told by a witness.
struct RunTrials {
    run: RunId,
    witness: Witness,
    arms: Vec<HeardArm>,
    /// Tables and rows of each: what an operation needs is compared where these are the same.
    size: (u32, u64),
    /// Instructions for an operation of base, in this start of it.
    base: Option<CostEstimate>,
}

struct HeardArm {
    tried: TriedArm,
    /// Instructions, or time, for an operation by that in base beside it; `None` where it has told
    /// nothing.
    told: Option<SetAnswer>,
    /// Why it ended before the run did.
    why: Option<String>,
}

impl<'a> Evidence<'a> {
    /// What the explained run itself tells.
    pub(crate) fn new(
        question: &'a ExplainQuestion<'a>,
        suspects: &'a [Suspect],
    ) -> Result<Evidence<'a>, LabError> {
        let mut evidence = Evidence { question, suspects, runs: Vec::new() };
        for witness in [Witness::Instructions, Witness::Rate] {
            let heard = evidence.hear(question.run.whole, &[question.run.pairing], witness)?;
            evidence.runs.push(heard);
        }
        Ok(evidence)
    }

    /// What the explained run and its trials tell of another cell by instructions alone.
    pub(crate) fn from_counts(
        question: &'a ExplainQuestion<'a>,
        suspects: &'a [Suspect],
        lab: &Lab<'_>,
    ) -> Result<Evidence<'a>, LabError> {
        let mut evidence = Evidence { question, suspects, runs: Vec::new() };
        evidence.runs.push(evidence.hear(
            question.run.whole,
            &[question.run.pairing],
            Witness::Instructions,
        )?);
        evidence.read_of(lab, |witness| witness == Witness::Instructions)?;
        Ok(evidence)
    }

    /// Reads the trials that have not been read yet and have something to tell: of rates those that
    /// are whole.
    pub(crate) fn read(&mut self, lab: &Lab<'_>) -> Result<(), LabError> {
        self.read_of(lab, |_| true)
    }

    fn read_of(
        &mut self,
        lab: &Lab<'_>,
        is_asked: impl Fn(Witness) -> bool,
    ) -> Result<(), LabError> {
        for (id, witness) in lab.store.trials_of(&self.question.run.whole.id)? {
            if !is_asked(witness) || self.runs.iter().any(|heard| heard.run == id) {
                continue;
            }
            let run = lab.store.load(&id)?;
            let is_whole = run.status == RunStatus::Complete || witness == Witness::Instructions;
            if is_whole && self.is_of_cell(&run, witness) {
                let heard = self.hear(&run, &run.plan.against_base(), witness)?;
                self.runs.push(heard);
            }
        }
        Ok(())
    }

    /// Reads trials of rates, too, that were cut short, where they have pairs enough for an
    /// interval: the time ended them, and not what they had found, so that it holds as that of any
    /// run. For an answer that has to be given now; who goes on measures them to their end.
    pub(crate) fn read_unfinished(&mut self, lab: &Lab<'_>) -> Result<(), LabError> {
        for (id, witness) in lab.store.trials_of(&self.question.run.whole.id)? {
            if witness != Witness::Rate || self.runs.iter().any(|heard| heard.run == id) {
                continue;
            }
            let run = lab.store.load(&id)?;
            if run.first_pair().rounds().count() >= 2 * PAIRS_LEAST
                && self.is_of_cell(&run, witness)
            {
                let heard = self.hear(&run, &run.plan.against_base(), witness)?;
                self.runs.push(heard);
            }
        }
        Ok(())
    }

    fn is_of_cell(&self, run: &Run, witness: Witness) -> bool {
        let cell = self.question.cell;
        match witness {
            Witness::Instructions => run.plan.labels().contains(&cell.load.as_str()),
            Witness::Rate => {
                run.plan.question.clients == [cell.clients]
                    && run.plan.labels() == [cell.load.as_str()]
            }
        }
    }

    /// What these arms of a run have told, each beside the same base.
    fn hear(&self, run: &Run, arms: &[Pairing], witness: Witness) -> Result<RunTrials, LabError> {
        let tried = arms
            .iter()
            .filter_map(|arm| tried_arm(run.pair(*arm), self.question.run, self.suspects));
        let heard = |tried: TriedArm| -> Result<HeardArm, LabError> {
            let ended = run.ended.iter().find(|ended| ended.arm == tried.pairing.test);
            let named = |why: &str| named_in(why, tried.direction, &tried.told, self.suspects);
            let told = match ended {
                Some(ended) => Some(SetAnswer::Refused(named(&ended.why))),
                None => self.value(run.pair(tried.pairing), witness)?.map(SetAnswer::Is),
            };
            Ok(HeardArm { tried, told, why: ended.map(|ended| ended.why.clone()) })
        };
        let base = match (witness, arms.first()) {
            (Witness::Instructions, Some(first)) => {
                of_base(&run.counts, &self.question.cell.load, first.base)
            }
            _ => None,
        };
        let size = (run.plan.question.tables, run.plan.question.rows);
        let arms = tried.map(heard).collect::<Result<_, LabError>>()?;
        Ok(RunTrials { run: run.id.clone(), witness, arms, size, base })
    }

    fn value(&self, arms: RunPair<'_>, witness: Witness) -> Result<Option<CostEstimate>, LabError> {
        let cell = self.question.cell;
        Ok(match witness {
            Witness::Instructions => beside_base(&arms.whole.counts, &cell.load, arms.pairing),
            Witness::Rate => {
                let cells = dbdyno_judge::compare_run(arms)?.cells;
                cells.iter().find(|of| of.cell == *cell).and_then(by_rate)
            }
        })
    }

    /// What is known of this view. Sets that were attempted in vain count as refused.
    pub(crate) fn known_answers(
        &self,
        view: View,
        attempted: &BTreeSet<Set>,
    ) -> BTreeMap<Set, SetAnswer> {
        let mut known = self.told(view);
        for set in attempted {
            known.entry(set.clone()).or_insert_with(|| SetAnswer::Refused(Set::new()));
        }
        // Before anything is tried, what test needs stands for itself: it is tried beside. Base as
        // it is costs what it costs, by which all is divided.
        let error = match view.direction {
            TrialDirection::TestAsBase => 0.0,
            TrialDirection::BaseAsTest => self.base_error(view.witness),
        };
        known.entry(Set::new()).or_insert(SetAnswer::Is(CostEstimate { cost: 1.0, error }));
        known
    }

    /// What base is off by itself, as a share of what an operation needs there. Rates are divided
    /// by the base beside them, so that it is in their errors.
    pub(crate) fn base_error(&self, witness: Witness) -> f64 {
        let of_witness = self.runs.iter().filter(|heard| heard.witness == witness);
        let bases = of_witness.filter_map(|heard| self.base_of(heard));
        bases.map(|base| base.mean_error).fold(0.0, f64::max)
    }

    /// Base in all runs whose tables are as large as those of this one.
    fn base_of(&self, heard: &RunTrials) -> Option<Starts> {
        let alike = self.runs.iter().filter(|other| other.size == heard.size);
        pool_starts(&alike.filter_map(|other| other.base).collect::<Vec<_>>())
    }

    /// What an arm has told, by base.
    fn by_base(&self, heard: &RunTrials, told: &SetAnswer) -> SetAnswer {
        match (told, heard.base, self.base_of(heard)) {
            (SetAnswer::Is(value), Some(beside), Some(starts)) => {
                SetAnswer::Is(relative_cost(*value, beside, starts))
            }
            _ => told.clone(),
        }
    }

    /// Whether a run has told of this set in this view.
    pub(crate) fn has_answer(&self, view: View, set: &Set) -> bool {
        let is_base = view.direction == TrialDirection::BaseAsTest && set.is_empty();
        is_base || self.told(view).contains_key(set)
    }

    /// What runs have told of this view.
    fn told(&self, view: View) -> BTreeMap<Set, SetAnswer> {
        let followers = self.suspect_followers(view.direction);
        let mut known = BTreeMap::new();
        let of_witness = self.runs.iter().filter(|heard| heard.witness == view.witness);
        for heard in of_witness {
            for arm in heard.arms.iter().filter(|arm| arm.tried.direction == view.direction) {
                if let Some(told) = &arm.told {
                    record_answer(&mut known, &arm.tried, self.by_base(heard, told), &followers);
                }
            }
        }
        known
    }

    /// Which suspects follow from which, as far as trials in this direction have shown.
    pub(crate) fn suspect_followers(&self, direction: TrialDirection) -> BTreeMap<usize, Set> {
        let arms = self.runs.iter().flat_map(|heard| &heard.arms).map(|arm| &arm.tried);
        suspect_followers(
            &arms.filter(|arm| arm.direction == direction).cloned().collect::<Vec<_>>(),
        )
    }

    /// What takes no part in trials of this direction: what follows from others, and what the arm
    /// cannot be told.
    pub(crate) fn out_of(&self, direction: TrialDirection) -> Set {
        let tried = self.suspects;
        let untold = (0..tried.len()).filter(|one| tried[*one].lines(direction).is_empty());
        untold.chain(self.suspect_followers(direction).into_values().flatten()).collect()
    }

    /// How many times as many instructions as in base an operation needs in test.
    pub(crate) fn counted_times(&self) -> f64 {
        let known = self.known_answers(View::of_test(Witness::Instructions), &BTreeSet::new());
        match known.get(&Set::new()) {
            Some(SetAnswer::Is(value)) => value.cost,
            _ => 1.0,
        }
    }

    /// All arms that were tried and have told something, in order, for those who want to see for
    /// themselves.
    pub(crate) fn informative_trials(&self) -> Vec<Trial> {
        let trials = self.runs.iter().filter(|heard| heard.run != self.question.run.whole.id);
        let arms = trials.flat_map(|heard| heard.arms.iter().map(move |arm| (heard, arm)));
        let arms = arms.filter(|(_, arm)| arm.told.is_some());
        let trial = |(heard, arm): (&RunTrials, &HeardArm)| Trial {
            run: heard.run.clone(),
            witness: heard.witness,
            direction: arm.tried.direction,
            equal: arm
                .tried
                .told
                .difference(&arm.tried.not_taken)
                .map(|one| self.suspects[*one].name.clone())
                .collect(),
            worth: match arm.told.as_ref().map(|told| self.by_base(heard, told)) {
                Some(SetAnswer::Is(value)) => Some(value.beside_base()),
                _ => None,
            },
            why: arm.why.clone(),
        };
        arms.map(trial).collect()
    }

    /// A run by instructions in which exactly these were equal, and its arm beside base.
    pub(crate) fn counted_with(
        &self,
        lab: &Lab<'_>,
        all: &Set,
    ) -> Result<Option<(Run, Pairing)>, LabError> {
        let followers = self.suspect_followers(TrialDirection::TestAsBase);
        let counted = self.runs.iter().filter(|heard| heard.witness == Witness::Instructions);
        for heard in counted {
            let arms =
                heard.arms.iter().filter(|arm| arm.tried.direction == TrialDirection::TestAsBase);
            for arm in arms.filter(|arm| matches!(arm.told, Some(SetAnswer::Is(_)))) {
                let mut known = BTreeMap::new();
                let told = arm.told.clone().expect("it has told something");
                record_answer(&mut known, &arm.tried, told, &followers);
                if matches!(known.get(all), Some(SetAnswer::Is(_))) {
                    return Ok(Some((lab.store.load(&heard.run)?, arm.tried.pairing)));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_judge::sample;
    use dbdyno_model::{ArmIndex, Environment};

    /// What was counted of an arm is looked up under the number that it has in its run.
    #[test]
    fn an_explained_arm_keeps_its_number() {
        let mut run = sample::point_queries("engine:", 1, |_| {});
        run.plan.arms.push(ArmIndex(2), "engine:?view=csn".parse().unwrap());
        run.environment.push(ArmIndex(2), Environment::default());
        let explained = run.pair(Pairing { base: ArmIndex::BASE, test: ArmIndex(2) });
        let tried = tried_arm(explained, explained, &[]).unwrap();
        assert_eq!((tried.pairing, tried.told.len()), (explained.pairing, 0));
    }
}
