//! Explaining a difference: trials are carried out until it is known which causes make it.
//!
//! ```text
//!   explained run ─▶ suspects ─▶ look ─▶ sets to try ─▶ a trial run: base, test, and test with
//!                      ▲          │                     each of these sets made equal to base
//!                      │          │                              │
//!                      │          └─ causes ─▶ all their subsets │ once more by rate
//!                      └───────────────────────── store ◀────────┘
//! ```
//!
//! What test does not take is tried once all else is known: base is given what test has, and what
//! base loses is taken out of the code. Last, the lines that take the loss away are measured in
//! all cells of the run (`remedy`).
//!
//! Several cells of a run are explained one after the other, and share what they can: a trial that
//! counts instructions counts them for all loads whose own search wants the same next.
//!
//! Trials are runs like others, stored beside the one that they explain. What is known is read from
//! them each time, so that an explanation which was interrupted goes on where it was, and a second
//! one costs nothing. A trial of rates that was cut short tells nothing before it is whole: it is
//! taken up by whoever wants the same.

mod conclusion;
mod known;
mod question;
mod remedy;
mod time_limit;
mod trial;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dbdyno_explain::profile::compare_waits;
use dbdyno_explain::{
    CauseTrials, NextTrials, Pointing, SearchFinding, SearchLimits, Set, SetAnswer, Suspects,
    all_subsets, difference_account, find_suspects, next_trials, proved_causes, refused_suspects,
    told_apart, with_given, with_not_told_apart,
};
use dbdyno_judge::cautions::saturation::factor_of_client;
use dbdyno_lab::{Lab, LabError, Progress, for_people};
use dbdyno_model::{
    Arm, ArmIndex, ArmSpec, CellComparison, DifferenceAccount, Explanation, Prior, RunId, RunPair,
    RunStatus, Severity, Target, TrialDirection, Witness, Worth,
};
use dbdyno_sandbox::SandboxError;

use known::{Evidence, View};
pub use question::ExplainQuestion;
use time_limit::{TimeLimit, with_time_limit};

/// Finely enough that nothing innocent stands above 2 %: the least share of the cost of an
/// operation that is looked for.
const LEAST_INSTRUCTIONS: f64 = 0.005;
const LEAST_RATE: f64 = 0.02;
/// How many times its standard error an effect must be.
const ERRORS: f64 = 3.0;
/// Parts of a group.
const PARTS: usize = 4;
/// Sets of a trial × the loads for which it may count them: it ends after some minutes, and what is
/// told first of many loads is what all differences are worth together.
const COUNTED_MOST: usize = 24;
/// Causes whose interplay is told; the smallest of more stand with the others.
const CAUSES_MOST: usize = 4;
/// Suspects that are named where it is said which ones are tried first.
const FIRST_TOLD: usize = 3;
/// Instructions must show so much of what the rate shows, or something else is looked for.
const SHOWN: f64 = 0.3;
/// How the codes of warnings begin that speak of the client.
const OF_THE_CLIENT: &str = "client-";

/// Finds where a difference comes from.
///
/// # Errors
/// Whatever is in the way of a trial. What was tried until then is stored.
pub fn explain_difference(
    lab: &mut Lab<'_>,
    question: &ExplainQuestion<'_>,
) -> Result<Explanation, LabError> {
    let limit = question.limit_ms.map(Duration::from_millis);
    with_time_limit(lab, limit, |lab, limit| explained(lab, question, limit))
}

fn explained(
    lab: &mut Lab<'_>,
    question: &ExplainQuestion<'_>,
    time: &TimeLimit<'_>,
) -> Result<Explanation, LabError> {
    let comparison = dbdyno_judge::compare_run(question.run)?;
    let measured = comparison.cells.iter().find(|cell| cell.cell == *question.cell);
    let pointing = measured.map(|cell| pointing(lab, question, cell)).transpose()?;
    let pointing = pointing.unwrap_or_default();
    let suspects: Suspects = find_suspects(&question.run.arm_specs(), &comparison.audit, &pointing);
    let prior = pointing.prior_for(&suspects.tried);
    let evidence = Evidence::new(question, &suspects.tried)?;
    let times = measured.map_or(1.0, |cell| 1.0 / cell.rqps.estimate);
    let mut case = Case {
        question,
        suspects: &suspects,
        evidence,
        time,
        times,
        prior,
        given: None,
        limit: measured.and_then(|cell| limit_of(question.run, cell)),
        began_ms: lab.clock.unix_ms(),
        has_begun: false,
        has_kept: false,
        open: None,
    };
    let mut found = SearchFinding::default();
    if case.limit.is_some() || case.has_strangers() {
        return case.into_explanation(lab, &comparison, Vec::new(), &found);
    }
    case.evidence.read(lab)?;
    case.tell_prior(lab);
    let mut accounts = case.accounts(lab, measured, &mut found)?;
    if accounts.is_empty() && case.open.is_some() {
        case.evidence.read_unfinished(lab)?;
        accounts.extend(case.together(&mut found)?);
    }
    case.into_explanation(lab, &comparison, accounts, &found)
}

/// What the facts of a cell point to: those of the run, and waits where they were looked at before.
fn pointing(
    lab: &Lab<'_>,
    question: &ExplainQuestion<'_>,
    cell: &CellComparison,
) -> Result<Pointing, LabError> {
    let ledger = dbdyno_judge::cell_ledger(question.run, question.run, cell)?;
    let work = dbdyno_judge::compare_work(question.run, cell)?;
    let looked_at = lab.store.waits_of(&question.run.whole.id, question.cell)?;
    let waits = (!looked_at.is_empty()).then(|| compare_waits(question.cell.clients, &looked_at));
    Ok(Pointing::of_cell(cell, ledger.as_ref(), &work, waits.as_ref()))
}

/// Whether the instructions show what the rate shows; where there is no rate, they are all.
fn shows(account: &DifferenceAccount, measured: Option<&CellComparison>) -> bool {
    let Some(cell) = measured else { return true };
    let slower = 1.0 / cell.rqps.estimate - 1.0;
    let more = account.total.cost.estimate;
    // Causes may balance each other; what is nothing beside the rate explains nothing of it.
    let least = LEAST_RATE.max(SHOWN * slower.abs());
    let by_parts = account.causes.iter().any(|cause| cause.worth.cost.estimate.abs() >= least);
    by_parts || slower.abs() < LEAST_RATE || (more * slower > 0.0 && more / slower >= SHOWN)
}

/// How finely instructions are looked at.
fn limits_of_counts(evidence: &Evidence<'_>) -> SearchLimits {
    limits_of(LEAST_INSTRUCTIONS, evidence.counted_times())
}

/// How finely is looked where an operation of test takes so many times what it takes in base: a
/// share of the slower arm's time, for a hundredth of base's is within the noise of a test that
/// takes many times as long, and of the faster arm's rate.
fn limits_of(least: f64, times: f64) -> SearchLimits {
    SearchLimits {
        least: least * times.max(1.0),
        least_rate: least * times.recip().max(1.0),
        errors: ERRORS,
        parts: PARTS,
    }
}

/// What says that the client was measured and not the servers; none of a difference that the
/// client cannot make, however it was held up.
fn limit_of(run: RunPair<'_>, cell: &CellComparison) -> Option<String> {
    let ratio = cell.rqps.estimate;
    let slower = if ratio < 1.0 { Arm::Test } else { Arm::Base };
    if ratio.max(ratio.recip()) > factor_of_client(run, &cell.cell, slower) * (1.0 + LEAST_RATE) {
        return None;
    }
    let texts: Vec<&str> = cell
        .warnings
        .iter()
        .filter(|warning| {
            warning.severity == Severity::Blocks && warning.code.starts_with(OF_THE_CLIENT)
        })
        .map(|warning| warning.text.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Whether a part is worth so much in time or in the rate, and is not known to be worth nothing.
fn matters(part: &Worth, limits: &SearchLimits) -> bool {
    let parts = [(&part.cost, limits.least), (&part.points, 100.0 * limits.least_rate)];
    parts.iter().any(|(of, least)| of.estimate.abs() >= *least && of.low * of.high > 0.0)
}

/// An explanation on its way.
struct Case<'a> {
    question: &'a ExplainQuestion<'a>,
    suspects: &'a Suspects,
    evidence: Evidence<'a>,
    time: &'a TimeLimit<'a>,
    /// How many times as long as in base an operation takes in test.
    times: f64,
    /// What the facts of the cell point to.
    prior: Option<Prior>,
    /// What base was given, once that has been searched.
    given: Option<SearchFinding>,
    /// Why the servers are not searched for a cause.
    limit: Option<String>,
    /// When it began, whether a trial was begun since, and whether anything of one was kept.
    began_ms: u64,
    has_begun: bool,
    has_kept: bool,
    /// Why it ended before its end.
    open: Option<String>,
}

impl Case<'_> {
    fn base(&self) -> &ArmSpec {
        self.question.run.spec_on(Arm::Base)
    }

    fn test(&self) -> &ArmSpec {
        self.question.run.spec_on(Arm::Test)
    }

    /// Whether one of the servers is not dbdyno's to start again with other settings.
    fn has_strangers(&self) -> bool {
        [self.base(), self.test()].into_iter().any(|spec| matches!(spec.target, Target::Url(_)))
    }

    /// The difference parted in one witness after the other, as far as there is time: causes are
    /// found in the first that shows it, and confirmed in the next one.
    fn accounts(
        &mut self,
        lab: &mut Lab<'_>,
        measured: Option<&CellComparison>,
        found: &mut SearchFinding,
    ) -> Result<Vec<DifferenceAccount>, LabError> {
        let mut accounts: Vec<DifferenceAccount> = Vec::new();
        let mut witnesses = self.witnesses()?;
        if let Some(text) = measured.map(|cell| self.is_waiting(cell)).transpose()?.flatten() {
            lab.watch.report_progress(Progress::Trial(&text));
            witnesses.retain(|witness| *witness == Witness::Rate);
        }
        for witness in witnesses {
            if accounts.is_empty() {
                match self.search(lab, View::of_test(witness), &Set::new())? {
                    Some(of_witness) => *found = of_witness,
                    None => break,
                }
            }
            let parted = if accounts.is_empty() {
                self.parted_first(lab, witness, found)?
            } else {
                self.parted(lab, witness, found)?
            };
            let Some(mut account) = parted else { break };
            // What instructions did not show, such as waiting, shows when they are confirmed.
            if !accounts.is_empty() && matters(&account.others, &self.limits(witness)) {
                let view = View::of_test(witness);
                let Some(more) = self.search(lab, view, &Set::new())? else { break };
                found.causes.extend(more.causes);
                found.refused.extend(more.refused);
                let Some(again) = self.parted(lab, witness, found)? else { break };
                account = again;
            }
            let Some(account) = self.with_given(lab, account, found)? else { break };
            let shows = witness == Witness::Rate || shows(&account, measured);
            if shows || self.question.by.is_some() {
                accounts.push(account);
            } else {
                // What instructions do not show is looked for by rates from the beginning.
                self.given = None;
            }
            let may_confirm = self.question.rates.is_some() && witness == Witness::Instructions;
            if !may_confirm {
                break;
            }
        }
        Ok(accounts)
    }

    /// Says that causes are looked for by rates alone, where nobody has asked for a witness and
    /// processors take so little of the difference that instructions cannot show it.
    fn is_waiting(&self, cell: &CellComparison) -> Result<Option<String>, LabError> {
        if self.question.by.is_some() || self.question.rates.is_none() {
            return Ok(None);
        }
        let Some(ledger) = dbdyno_judge::cell_ledger(self.question.run, self.question.run, cell)?
        else {
            return Ok(None);
        };
        let share = ledger.work_share_most().filter(|share| *share < SHOWN);
        let is_large = (1.0 / ledger.rqps - 1.0).abs() >= LEAST_RATE;
        Ok(share.filter(|_| is_large).map(|share| {
            format!(
                "processors take at most {:.0} % of the difference, so that instructions cannot \
                 show it: causes are looked for by rates",
                100.0 * share
            )
        }))
    }

    /// In what is looked, one after the other.
    fn witnesses(&self) -> Result<Vec<Witness>, LabError> {
        let can_count = is_counted(self.base()) && is_counted(self.test());
        let rate = self.question.rates.map(|_| Witness::Rate);
        let all = match self.question.by {
            Some(Witness::Instructions) if !can_count => {
                let text = "instructions are counted of releases, sqlite: and engine:; leave out \
                            --by, and causes are looked for by rates";
                return Err(LabError::Unlike(text.to_owned()));
            }
            Some(Witness::Rate) => vec![Witness::Rate],
            None if !can_count => rate.into_iter().collect(),
            Some(Witness::Instructions) | None => {
                [Witness::Instructions].into_iter().chain(rate).collect()
            }
        };
        Ok(all)
    }

    fn limits(&self, witness: Witness) -> SearchLimits {
        match witness {
            Witness::Instructions => limits_of_counts(&self.evidence),
            Witness::Rate => limits_of(LEAST_RATE, self.times),
        }
    }

    /// Tries until nothing more is to be tried, without those that are `left_out`; `None` if it has
    /// to end before.
    fn search(
        &mut self,
        lab: &mut Lab<'_>,
        view: View,
        left_out: &Set,
    ) -> Result<Option<SearchFinding>, LabError> {
        let limits = self.limits(view.witness);
        let (mut attempted, mut told) = (BTreeSet::<Set>::new(), Set::new());
        loop {
            let known = self.evidence.known_answers(view, &attempted);
            self.tell_proved(lab, &known, &limits, &mut told);
            let mut dropped = self.evidence.out_of(view.direction);
            dropped.extend(left_out);
            match next_trials(&self.suspects.tried, &known, &limits, &dropped) {
                NextTrials::Done(found) => return Ok(Some(found)),
                NextTrials::Wanted(sets) => {
                    if !self.tried(lab, view, &sets, &mut attempted)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Says what is tried first, and why.
    fn tell_prior(&self, lab: &mut Lab<'_>) {
        let Some(prior) = &self.prior else { return };
        let (first, more) = prior.first.split_at(prior.first.len().min(FIRST_TOLD));
        let more = if more.is_empty() { String::new() } else { format!(", {} more", more.len()) };
        let text = format!("{}: first {}{more}", prior.why, first.join(", "));
        lab.watch.report_progress(Progress::Trial(&text));
    }

    /// Tells the causes that are proved and have not been told yet, while others are looked for.
    fn tell_proved(
        &self,
        lab: &mut Lab<'_>,
        known: &BTreeMap<Set, SetAnswer>,
        limits: &SearchLimits,
        told: &mut Set,
    ) {
        for (one, alone) in proved_causes(known, limits) {
            if told.insert(one) {
                let (cost, half) = (alone.cost, 2.0 * alone.error);
                lab.watch.report_progress(Progress::Trial(&format!(
                    "proved: with {} alone made equal, an operation takes ×{cost:.2} ± {half:.2} \
                     of base",
                    self.suspects.tried[one].name
                )));
            }
        }
    }

    /// What is known where it had to end before all causes were found: those that are proved, and
    /// what all differences are worth together.
    fn together(&self, found: &mut SearchFinding) -> Result<Option<DifferenceAccount>, LabError> {
        for witness in self.witnesses()? {
            let view = View::of_test(witness);
            let known = self.evidence.known_answers(view, &BTreeSet::new());
            *found = SearchFinding { causes: Set::new(), refused: refused_suspects(&known) };
            let all = self.all(found);
            let proved =
                proved_causes(&known, &self.limits(witness)).into_iter().map(|(one, _)| one);
            let proved: Vec<usize> = proved.collect();
            found.causes = told_apart(proved.iter().copied().take(CAUSES_MOST), &known);
            let trials = CauseTrials { known: &known, causes: &found.causes, all: &all };
            let base_error = self.evidence.base_error(witness);
            let tried = &self.suspects.tried;
            let account =
                difference_account(witness, tried, &trials, &self.limits(witness), base_error);
            if let Some(account) = account.filter(|_| self.evidence.has_answer(view, &Set::new())) {
                let others = proved.into_iter().filter(|one| !found.causes.contains(one));
                return Ok(Some(with_not_told_apart(account, tried, &known, others, base_error)));
            }
        }
        Ok(None)
    }

    /// As [`Case::parted`], by what causes were looked for: a cause that is smaller than was looked
    /// for, as a share and alone, stands with the others. Two starts of a server may differ by as
    /// much, and that seems to be interplay.
    fn parted_first(
        &mut self,
        lab: &mut Lab<'_>,
        witness: Witness,
        found: &mut SearchFinding,
    ) -> Result<Option<DifferenceAccount>, LabError> {
        let account = self.parted(lab, witness, found)?;
        let SearchLimits { least, least_rate, .. } = self.limits(witness);
        let is_small = |worth: &Worth| {
            worth.cost.estimate.abs() < least && worth.points.estimate.abs() < 100.0 * least_rate
        };
        let causes = account.iter().flat_map(|account| &account.causes);
        let small = causes.filter(|cause| is_small(&cause.worth) && is_small(&cause.alone));
        let small: BTreeSet<&str> = small.map(|cause| cause.suspect.name.as_str()).collect();
        if small.is_empty() {
            return Ok(account);
        }
        found.causes.retain(|one| !small.contains(self.suspects.tried[*one].name.as_str()));
        self.parted(lab, witness, found)
    }

    /// Parts the difference among causes that were found: what is lacking for it is tried.
    fn parted(
        &mut self,
        lab: &mut Lab<'_>,
        witness: Witness,
        found: &SearchFinding,
    ) -> Result<Option<DifferenceAccount>, LabError> {
        let view = View::of_test(witness);
        let mut attempted: BTreeSet<Set> = BTreeSet::new();
        loop {
            let known = self.evidence.known_answers(view, &attempted);
            let all = self.all(found);
            let causes = self.largest(&found.causes, &known);
            let trials = CauseTrials { known: &known, causes: &causes, all: &all };
            let base_error = self.evidence.base_error(witness);
            let (tried, limits) = (&self.suspects.tried, self.limits(witness));
            let parted = difference_account(witness, tried, &trials, &limits, base_error);
            let is_known = self.evidence.has_answer(view, &Set::new());
            if let Some(account) = parted.filter(|_| is_known) {
                return Ok(Some(account));
            }
            let mut lacking = all_subsets(&causes);
            lacking.push(all);
            lacking.retain(|set| !self.evidence.has_answer(view, set) && !attempted.contains(set));
            lacking.dedup();
            if lacking.is_empty() {
                let text = "test does not start with all of these differences taken back together";
                self.open = Some(text.to_owned());
                return Ok(None);
            }
            if !self.tried(lab, view, &lacking, &mut attempted)? {
                return Ok(None);
            }
        }
    }

    /// Takes out of the code what base loses when it is given what test does not give back, where
    /// anything is left for the code. `None` if it has to end before.
    fn with_given(
        &mut self,
        lab: &mut Lab<'_>,
        account: DifferenceAccount,
        found: &SearchFinding,
    ) -> Result<Option<DifferenceAccount>, LabError> {
        let view = View { witness: account.witness, direction: TrialDirection::BaseAsTest };
        let limits = self.limits(view.witness);
        let pool = self.to_be_given(found);
        if pool.is_empty() || (self.given.is_none() && !matters(&account.code, &limits)) {
            return Ok(Some(account));
        }
        let others = (0..self.suspects.tried.len()).filter(|one| !pool.contains(one)).collect();
        let given = match self.given.take() {
            Some(given) => given,
            None => match self.search(lab, view, &others)? {
                Some(given) => given,
                None => return Ok(None),
            },
        };
        self.given = Some(given.clone());
        let mut attempted: BTreeSet<Set> = BTreeSet::new();
        loop {
            let known = self.evidence.known_answers(view, &attempted);
            let out = self.evidence.out_of(view.direction);
            let all: Set = pool
                .iter()
                .filter(|one| !given.refused.contains(one) && !out.contains(one))
                .copied()
                .collect();
            let causes = self.largest(&given.causes, &known);
            let trials = CauseTrials { known: &known, causes: &causes, all: &all };
            let error = self.evidence.base_error(view.witness);
            if let Some(whole) = with_given(&account, &self.suspects.tried, &trials, error) {
                return Ok(Some(whole));
            }
            let mut lacking = all_subsets(&causes);
            lacking.push(all);
            lacking.retain(|set| !self.evidence.has_answer(view, set) && !attempted.contains(set));
            lacking.dedup();
            if lacking.is_empty() {
                // Each by itself is known; the code keeps what they are worth.
                return Ok(Some(account));
            }
            if !self.tried(lab, view, &lacking, &mut attempted)? {
                return Ok(None);
            }
        }
    }

    /// All that can be taken back, each by itself.
    fn all(&self, found: &SearchFinding) -> Set {
        let out = self.evidence.out_of(TrialDirection::TestAsBase);
        (0..self.suspects.tried.len())
            .filter(|one| !found.refused.contains(one) && !out.contains(one))
            .collect()
    }

    /// What cannot be taken back and can be given to base.
    fn to_be_given(&self, found: &SearchFinding) -> Set {
        let tried = &self.suspects.tried;
        let follow: Set = self
            .evidence
            .suspect_followers(TrialDirection::TestAsBase)
            .into_values()
            .flatten()
            .collect();
        (0..tried.len())
            .filter(|one| {
                let cannot = found.refused.contains(one) || tried[*one].told.is_empty();
                cannot && !tried[*one].given.is_empty() && !follow.contains(one)
            })
            .collect()
    }

    /// The causes that are worth most by themselves, as many as are told apart.
    fn largest(&self, causes: &Set, known: &BTreeMap<Set, SetAnswer>) -> Set {
        let cost = |set: &Set| match known.get(set) {
            Some(SetAnswer::Is(value)) => Some(value.cost),
            _ => None,
        };
        let nothing = cost(&Set::new()).unwrap_or(1.0);
        let alone = |one: usize| cost(&Set::from([one])).map_or(0.0, |cost| (cost - nothing).abs());
        let mut all: Vec<usize> = causes.iter().copied().collect();
        all.sort_by(|a, b| alone(*b).total_cmp(&alone(*a)));
        all.into_iter().take(CAUSES_MOST).collect()
    }

    /// Tries as many of these sets as one run takes; `false` if it has to end before.
    fn tried(
        &mut self,
        lab: &mut Lab<'_>,
        view: View,
        sets: &[Set],
        attempted: &mut BTreeSet<Set>,
    ) -> Result<bool, LabError> {
        if !self.may_begin() {
            return Ok(false);
        }
        let batch = &sets[..sets.len().min(self.sets_of_a_trial(view.witness))];
        self.tell(lab, view, batch, sets.len());
        let loads = self.loads_that_want(lab, view, batch)?;
        let what = trial::TrialRequest { view, sets: batch, loads: &loads };
        self.has_begun = true;
        let done = trial::carry_out(lab, self.question, &self.suspects.tried, &what);
        self.evidence.read(lab)?;
        let is_refused = match &done {
            Err(LabError::Sandbox(arm, SandboxError::StartFailed { .. })) => {
                *arm != ArmIndex::BASE && !self.time.is_over()
            }
            _ => false,
        };
        // Where none of its arms starts there is no run; all of them were refused.
        let is_over = is_refused || self.whole(lab, done)?.is_some();
        if is_over {
            attempted.extend(batch.iter().cloned());
        }
        Ok(is_over)
    }

    /// The run of a trial that has come to its end; `None` if the time was over before. What rates
    /// have been measured is kept then; counts are kept of whole loads.
    fn whole(
        &mut self,
        lab: &Lab<'_>,
        done: Result<RunId, LabError>,
    ) -> Result<Option<RunId>, LabError> {
        let begun = match done {
            Ok(id) => Some(id),
            Err(error) if !self.time.is_cause_of(&error) => return Err(error),
            Err(LabError::BrokeOff(id, _)) => Some(id),
            Err(_) => None,
        };
        let run = begun.map(|id| lab.store.load(&id)).transpose()?;
        self.has_kept |= run.as_ref().is_some_and(|run| {
            run.rounds.iter().any(|round| round.started_unix_ms >= self.began_ms)
        });
        let whole = run.filter(|run| run.status == RunStatus::Complete).map(|run| run.id);
        match whole {
            Some(_) => self.has_kept = true,
            None => self.ends_here(),
        }
        Ok(whole)
    }

    /// How many sets one trial takes.
    fn sets_of_a_trial(&self, witness: Witness) -> usize {
        let most = trial::arms_most(witness);
        match witness {
            Witness::Instructions => {
                (COUNTED_MOST / (1 + self.question.beside.len())).clamp(1, most)
            }
            Witness::Rate => most,
        }
    }

    /// The load of the cell, and those beside it for which one of these sets is to be tried as
    /// well.
    fn loads_that_want(
        &self,
        lab: &Lab<'_>,
        view: View,
        sets: &[Set],
    ) -> Result<Vec<String>, LabError> {
        let mut loads = vec![self.question.cell.load.clone()];
        if view != View::of_test(Witness::Instructions) {
            return Ok(loads);
        }
        for cell in self.question.beside {
            if loads.contains(&cell.load) {
                continue;
            }
            let question = ExplainQuestion { cell, ..*self.question };
            let evidence = Evidence::from_counts(&question, &self.suspects.tried, lab)?;
            let known = evidence.known_answers(view, &BTreeSet::new());
            let dropped = evidence.out_of(view.direction);
            let limits = limits_of_counts(&evidence);
            let is_wanted = match next_trials(&self.suspects.tried, &known, &limits, &dropped) {
                NextTrials::Wanted(wanted) => wanted.iter().any(|set| sets.contains(set)),
                NextTrials::Done(_) => false,
            };
            // Test as it is takes part in each trial.
            if is_wanted || !evidence.has_answer(view, &Set::new()) {
                loads.push(cell.load.clone());
            }
        }
        Ok(loads)
    }

    /// Whether there is time for another run.
    fn may_begin(&mut self) -> bool {
        let ends = self.time.is_over();
        if ends {
            self.ends_here();
        }
        !ends
    }

    /// Says why it ends before its end.
    fn ends_here(&mut self) {
        let by = match (self.question.rates, self.question.by) {
            (None, _) => " --count-only",
            (Some(_), Some(Witness::Rate)) => " --by rate",
            (Some(_), Some(Witness::Instructions)) => " --by instructions",
            (Some(_), None) => "",
        };
        let id = &self.question.run.whole.id;
        let continues = format!("dbdyno explain {id}{by} continues from here");
        let text = match (self.time.is_asked(), self.has_begun && !self.has_kept) {
            (true, _) => format!("it was interrupted; {continues}"),
            (false, false) => format!("the time limit was reached; {continues}"),
            (false, true) => "the time limit was reached within the first trial, of which nothing \
                              could be kept; give a longer --limit"
                .to_owned(),
        };
        self.open = Some(text);
    }

    /// How long a trial takes, and whether the limit is shorter.
    fn longest(&self, witness: Witness, sets: usize) -> String {
        let limit = self.question.limit_ms.map(Duration::from_millis);
        match (trial::longest_trial_time(self.question, witness, sets), limit) {
            (Some(longest), Some(limit)) if limit < longest => format!(
                "; {} at most, longer than the limit of {}: what is measured by then is kept",
                for_people(longest),
                for_people(limit)
            ),
            (Some(longest), _) => format!("; {} at most", for_people(longest)),
            (None, Some(_)) => "; servers start under valgrind, which takes minutes, and what \
                                the limit cuts short of this is not kept"
                .to_owned(),
            (None, None) => String::new(),
        }
    }

    fn tell(&self, lab: &mut Lab<'_>, view: View, batch: &[Set], wanted: usize) {
        let what = match view.witness {
            Witness::Instructions => "instructions are counted",
            Witness::Rate => "rates are measured",
        };
        let how = match view.direction {
            TrialDirection::TestAsBase => "taken back",
            TrialDirection::BaseAsTest => "given to base",
        };
        let later = wanted - batch.len();
        let later = if later > 0 { format!("; {later} sets after them") } else { String::new() };
        let tried = batch.iter().flatten().collect::<BTreeSet<_>>().len();
        let sets = batch.iter().filter(|set| !set.is_empty()).count();
        let longest = self.longest(view.witness, sets);
        let text = match tried {
            0 => format!("{what} of both arms as they are{longest}"),
            _ => format!(
                "{what} with {tried} of {} differences {how}, in {} sets{later}{longest}",
                self.suspects.tried.len(),
                batch.len(),
            ),
        };
        lab.watch.report_progress(Progress::Trial(&text));
    }
}

fn is_counted(spec: &ArmSpec) -> bool {
    matches!(spec.target, Target::Release(_) | Target::Sqlite(_) | Target::Engine(_))
}
