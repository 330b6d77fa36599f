//! What is known so far, from the explained run and from its trials in the store.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_explain::{
    Set, Told, TriedArm, Value, by_instructions, by_rate, learn, named_in, tried_arms,
};
use dbdyno_model::{
    ArmIndex, ArmsComparison, Interval, Pairing, Reference, Run, Trial, Witness, Worth,
};

use super::Case;
use crate::error::LabError;
use crate::laboratory::Lab;

/// Half a 95 % interval, in standard errors.
const WIDE: f64 = 1.959_964;

impl Case<'_> {
    /// What is known by this witness. Sets that were attempted in vain count as refused.
    pub(super) fn known(
        &self,
        lab: &Lab<'_>,
        witness: Witness,
        attempted: &BTreeSet<Set>,
    ) -> Result<BTreeMap<Set, Told>, LabError> {
        let mut known = BTreeMap::new();
        for run in self.runs(lab, witness)? {
            for (arm, told) in self.of_run(&run, witness)? {
                if let Some(told) = told {
                    learn(&mut known, &arm, told);
                }
            }
        }
        for set in attempted {
            known.entry(set.clone()).or_insert_with(|| Told::Refused(Set::new()));
        }
        // Before anything is tried, what test needs stands for itself: it is tried beside.
        known.entry(Set::new()).or_insert(Told::Is(Value { cost: 1.0, error: 0.0 }));
        Ok(known)
    }

    /// The explained run and its trials in this cell.
    fn runs(&self, lab: &Lab<'_>, witness: Witness) -> Result<Vec<Run>, LabError> {
        let explained = self.question.run;
        let mut runs = vec![explained.clone()];
        for (id, of) in lab.store.trials_of(&explained.id)? {
            if of == witness {
                let run = lab.store.load(&id)?;
                runs.extend(Some(run).filter(|run| self.is_of_cell(run, witness)));
            }
        }
        Ok(runs)
    }

    fn is_of_cell(&self, run: &Run, witness: Witness) -> bool {
        let cell = self.question.cell;
        let is_at = witness == Witness::Instructions || run.plan.clients == [cell.clients];
        is_at && run.plan.labels() == [cell.load.as_str()]
    }

    /// What the arms of a run tell, `None` for one that has told nothing yet.
    fn of_run(
        &self,
        run: &Run,
        witness: Witness,
    ) -> Result<Vec<(TriedArm, Option<Told>)>, LabError> {
        let arms = tried_arms(run, self.base(), self.test(), &self.suspects.tried);
        let compared = match witness {
            Witness::Rate if !run.rounds.is_empty() => {
                let base = Reference::Arm(ArmIndex::BASE);
                Some(dbdyno_judge::compare_arms(run, base)?)
            }
            _ => None,
        };
        let told = |arm: TriedArm| {
            let told = match run.ended.iter().find(|ended| ended.arm == arm.arm) {
                Some(ended) => {
                    Some(Told::Refused(named_in(&ended.why, &arm.told, &self.suspects.tried)))
                }
                None => self.value(run, compared.as_ref(), witness, arm.arm).map(Told::Is),
            };
            (arm, told)
        };
        Ok(arms.into_iter().map(told).collect())
    }

    fn value(
        &self,
        run: &Run,
        compared: Option<&ArmsComparison>,
        witness: Witness,
        arm: ArmIndex,
    ) -> Option<Value> {
        match witness {
            Witness::Instructions => by_instructions(run, &self.question.cell.load, arm),
            Witness::Rate => by_rate(compared?.of(arm, self.question.cell)?),
        }
    }

    /// All arms that were tried, in order, for those who want to see for themselves.
    pub(super) fn trials(&self, lab: &Lab<'_>) -> Result<Vec<Trial>, LabError> {
        let mut trials = Vec::new();
        for (id, witness) in lab.store.trials_of(&self.question.run.id)? {
            let run = lab.store.load(&id)?;
            if !self.is_of_cell(&run, witness) {
                continue;
            }
            for (arm, told) in self.of_run(&run, witness)? {
                let equal = arm.told.difference(&arm.not_taken);
                let why = run.ended.iter().find(|ended| ended.arm == arm.arm);
                let worth = |value: Value| {
                    let (more, half) = (value.cost - 1.0, WIDE * value.error);
                    Worth { cost: Interval { estimate: more, low: more - half, high: more + half } }
                };
                trials.push(Trial {
                    run: id.clone(),
                    witness,
                    equal: equal.map(|one| self.suspects.tried[*one].name.clone()).collect(),
                    worth: match told {
                        Some(Told::Is(value)) => Some(worth(value)),
                        _ => None,
                    },
                    why: why.map(|ended| ended.why.clone()),
                });
            }
        }
        Ok(trials)
    }

    /// A trial by instructions in which exactly these were equal, and its arm beside base.
    pub(super) fn counted_with(
        &self,
        lab: &Lab<'_>,
        all: &Set,
    ) -> Result<Option<(Run, Pairing)>, LabError> {
        for run in self.runs(lab, Witness::Instructions)? {
            let arms = tried_arms(&run, self.base(), self.test(), &self.suspects.tried);
            let is_all = |arm: &TriedArm| {
                arm.told.difference(&arm.not_taken).copied().collect::<Set>() == *all
            };
            let found = arms.iter().find(|arm| {
                is_all(arm) && by_instructions(&run, &self.question.cell.load, arm.arm).is_some()
            });
            if let Some(TriedArm { arm, .. }) = found {
                let pairing = Pairing { base: ArmIndex::BASE, test: *arm };
                return Ok(Some((run, pairing)));
            }
        }
        Ok(None)
    }
}
