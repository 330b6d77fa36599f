//! What takes a loss away, and what that costs elsewhere: test against test with the causes taken
//! back, in all cells of the run that is explained.
//!
//! ```text
//!   causes that make test slower ─▶ lines of an option file ─▶ a run: test, test with the lines
//!                                                              every load × every client count
//! ```
//!
//! A run of several cells is measured so by itself, up to eight cells beside the explained one: it
//! takes two arms and no search, a fraction of what finding the causes took. Beyond that it would
//! take longer than the explanation, and the reader is told that it was not done.

use dbdyno_explain::{is_limit, made_equal};
use dbdyno_model::{
    ArmSpec, Cell, Comparison, CountVerdict, DifferenceAccount, Elsewhere, Pairing, Remedy,
    RemedyCell, Run, Suspect, Target, TrialDirection, Verdict, Witness, setting,
};

use crate::{Case, trial};
use dbdyno_lab::{Lab, LabError, Progress};

/// Cells beside the explained one that are measured.
const CELLS_MOST: usize = 8;

impl Case<'_> {
    /// What takes the loss away, if anything does.
    pub(crate) fn find_remedy(
        &mut self,
        lab: &mut Lab<'_>,
        accounts: &[DifferenceAccount],
    ) -> Result<Option<Remedy>, LabError> {
        let Some(account) = accounts.last() else { return Ok(None) };
        let helping = account.causes.iter().filter(|cause| {
            cause.direction == TrialDirection::TestAsBase && cause.worth.cost.estimate > 0.0
        });
        let causes: Vec<&Suspect> = helping.map(|cause| &cause.suspect).collect();
        if causes.is_empty() {
            return Ok(None);
        }
        let with_it = made_equal(self.test(), TrialDirection::TestAsBase, causes.iter().copied());
        let told = causes.iter().flat_map(|suspect| &suspect.told);
        let lines = told.map(|(name, value)| self.line(name, value)).collect();
        let cells = self.cells_of(account.witness);
        let others = cells.iter().filter(|cell| *cell != self.question.cell).count();
        let mut remedy = Remedy { lines, elsewhere: None, cells_left: others };
        if (1..=CELLS_MOST).contains(&others)
            && let Some(run) = self.with_remedy(lab, account.witness, with_it)?
        {
            let elsewhere = elsewhere(&run, account.witness, self.question.cell)?;
            remedy.cells_left = cells.len()
                - cells
                    .iter()
                    .filter(|cell| elsewhere.cells.iter().any(|one| one.cell == **cell))
                    .count();
            remedy.elsewhere = Some(elsewhere);
        }
        Ok(Some(remedy))
    }

    /// An option of test as it is written in its configuration.
    fn line(&self, name: &str, value: &str) -> String {
        // Of other settings of a server, one without a value is a bare switch.
        let is_left_out = match &self.test().target {
            Target::Release(release) => {
                setting::is_accumulated(release.product, name) || is_limit(name)
            }
            _ => true,
        };
        if value.is_empty() && is_left_out {
            return format!("(no {name})");
        }
        format!("{}={value}", name.strip_prefix("loose_").unwrap_or(name))
    }

    /// Where a remedy could show something: instructions know no numbers of clients.
    fn cells_of(&self, witness: Witness) -> Vec<Cell> {
        let plan = self.question.run.plan();
        match witness {
            Witness::Rate => plan.cells(),
            Witness::Instructions => {
                let clients = self.question.cell.clients;
                plan.labels()
                    .into_iter()
                    .map(|load| Cell { load: load.to_owned(), clients })
                    .collect()
            }
        }
    }

    /// The run of test and of test with the remedy: that of the store, or a new one. `None` if it
    /// has to end before.
    fn with_remedy(
        &mut self,
        lab: &mut Lab<'_>,
        witness: Witness,
        with_it: ArmSpec,
    ) -> Result<Option<Run>, LabError> {
        if let Some(known) = self.known_remedy(lab, witness, &with_it)? {
            return Ok(Some(known));
        }
        if !self.may_begin() {
            return Ok(None);
        }
        let text = "the remedy is tried in all cells of the run";
        lab.watch.report_progress(Progress::Trial(text));
        self.has_begun = true;
        let done = trial::carry_out_remedy(lab, self.question, witness, with_it);
        let whole = self.whole(lab, done)?;
        Ok(whole.map(|run| lab.store.load(&run)).transpose()?)
    }

    fn known_remedy(
        &self,
        lab: &Lab<'_>,
        witness: Witness,
        with_it: &ArmSpec,
    ) -> Result<Option<Run>, LabError> {
        for (id, of) in lab.store.trials_of(&self.question.run.whole.id)? {
            if of != witness {
                continue;
            }
            let run = lab.store.load(&id)?;
            let arms = run.plan.pair_specs(Pairing::USUAL);
            let is_it = arms.base == self.test() && arms.test == with_it;
            if is_it && run.status == dbdyno_model::RunStatus::Complete {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}

/// What the remedy does, cell by cell.
fn elsewhere(run: &Run, witness: Witness, explained: &Cell) -> Result<Elsewhere, LabError> {
    let comparison = dbdyno_judge::compare_run(run.first_pair())?;
    let cells = match witness {
        Witness::Rate => by_rate(&comparison),
        Witness::Instructions => by_instructions(&comparison, explained.clients),
    };
    Ok(Elsewhere { run: run.id.clone(), witness, cells })
}

fn by_rate(comparison: &Comparison) -> Vec<RemedyCell> {
    let cells = comparison.cells.iter();
    cells
        .map(|one| RemedyCell { cell: one.cell.clone(), ratio: one.rqps, verdict: one.verdict })
        .collect()
}

/// Cells are called as those of the run, though instructions are those of one client.
fn by_instructions(comparison: &Comparison, clients: u32) -> Vec<RemedyCell> {
    let cell = |one: &dbdyno_model::CountComparison| RemedyCell {
        cell: Cell { load: one.load.clone(), clients },
        ratio: one.ratio,
        verdict: match one.verdict {
            CountVerdict::More => Verdict::Slower,
            CountVerdict::Fewer => Verdict::Faster,
            CountVerdict::Equal => Verdict::Equal,
            CountVerdict::Undecided => Verdict::Undecided,
        },
    };
    comparison.counts.iter().map(cell).collect()
}
