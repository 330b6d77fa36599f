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
//! Trials are runs like others, stored beside the one that they explain. What is known is read from
//! them each time, so that an explanation which was interrupted goes on where it was, and a second
//! one costs nothing.

mod known;
mod question;
mod trial;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use dbdyno_explain::{
    Found, Limits, Look, Set, Suspects, Told, account, look, plan_changes, subsets, suspects,
};
use dbdyno_model::{
    Account, ArmSpec, CellComparison, CodeChange, Comparison, Explanation, Ledger, Target, Untried,
    Witness, Worth,
};

use crate::error::LabError;
use crate::laboratory::Lab;
use crate::watch::Progress;
use known::Evidence;
pub use question::Question;

/// Finely enough that nothing innocent stands above 2 %: the least share of the cost of an
/// operation that is looked for.
const LEAST_INSTRUCTIONS: f64 = 0.005;
const LEAST_RATE: f64 = 0.02;
/// How many times its standard error an effect must be.
const ERRORS: f64 = 3.0;
/// Parts of a group.
const PARTS: usize = 4;
/// Causes whose interplay is told; the smallest of more stand with the others.
const CAUSES_MOST: usize = 4;
/// Instructions must show so much of what the rate shows, or something else is looked for.
const SHOWN: f64 = 0.3;
/// Functions of the code that are named.
const FUNCTIONS_NAMED: usize = 8;

/// Finds where a difference comes from.
///
/// # Errors
/// Whatever is in the way of a trial. What was tried until then is stored.
pub fn explain(lab: &mut Lab<'_>, question: &Question<'_>) -> Result<Explanation, LabError> {
    let comparison = dbdyno_judge::compare(question.run)?;
    let suspects: Suspects = suspects(&question.run.plan.arms, &comparison.audit);
    let began_ms = lab.clock.unix_ms();
    let evidence = Evidence::new(question, &suspects.tried)?;
    let of_cell = |cell: &&CellComparison| cell.cell == *question.cell;
    let measured = comparison.cells.iter().find(of_cell);
    // Where test takes many times as long, a hundredth of base's time is nothing.
    let times = measured.map_or(1.0, |cell| (1.0 / cell.rqps.estimate).max(1.0));
    let mut case = Case { question, suspects: &suspects, evidence, began_ms, times, open: None };
    case.evidence.read(lab)?;
    let mut accounts: Vec<Account> = Vec::new();
    let mut found = Found::default();
    for witness in case.witnesses()? {
        if accounts.is_empty() {
            match case.search(lab, witness)? {
                Some(of_witness) => found = of_witness,
                None => break,
            }
        }
        let Some(mut account) = case.parted(lab, witness, &found)? else { break };
        // What instructions did not show, such as waiting, shows when they are confirmed.
        if !accounts.is_empty() && matters(&account.others, case.limits(witness).least) {
            let Some(more) = case.search(lab, witness)? else { break };
            found.causes.extend(more.causes);
            found.refused.extend(more.refused);
            let Some(again) = case.parted(lab, witness, &found)? else { break };
            account = again;
        }
        let shows = witness == Witness::Rate || shows(&account, measured);
        if shows || question.by.is_some() {
            accounts.push(account);
        }
        let may_confirm = question.rates.is_some() && witness == Witness::Instructions;
        if !may_confirm {
            break;
        }
    }
    case.concluded(lab, &comparison, accounts, &found)
}

/// Whether the instructions show what the rate shows; where there is no rate, they are all.
fn shows(account: &Account, measured: Option<&CellComparison>) -> bool {
    let Some(cell) = measured else { return true };
    let slower = 1.0 / cell.rqps.estimate - 1.0;
    let more = account.total.cost.estimate;
    // Causes may balance each other; what is nothing beside the rate explains nothing of it.
    let least = LEAST_RATE.max(SHOWN * slower.abs());
    let by_parts = account.causes.iter().any(|cause| cause.worth.cost.estimate.abs() >= least);
    by_parts || slower.abs() < LEAST_RATE || (more * slower > 0.0 && more / slower >= SHOWN)
}

/// Whether a part is worth so much, and is not known to be worth nothing.
fn matters(part: &Worth, least: f64) -> bool {
    part.cost.estimate.abs() >= least && part.cost.low * part.cost.high > 0.0
}

/// An explanation on its way.
struct Case<'a> {
    question: &'a Question<'a>,
    suspects: &'a Suspects,
    evidence: Evidence<'a>,
    began_ms: u64,
    /// How many times as long as in base an operation takes in test, at least 1.
    times: f64,
    /// Why it ended before its end.
    open: Option<String>,
}

impl Case<'_> {
    fn base(&self) -> &ArmSpec {
        &self.question.run.plan.arms.base
    }

    fn test(&self) -> &ArmSpec {
        &self.question.run.plan.arms.test
    }

    /// In what is looked, one after the other.
    fn witnesses(&self) -> Result<Vec<Witness>, LabError> {
        let is_url = |spec: &ArmSpec| matches!(spec.target, Target::Url(_));
        if is_url(self.base()) || is_url(self.test()) {
            return Err(LabError::Unlike(
                "an explanation starts the servers again with other settings, and a server by URL \
                 is not dbdyno's to start; compare releases such as mysql:8.0 with the settings of \
                 your servers (my-cnf=FILE), and explain that"
                    .to_owned(),
            ));
        }
        let is_counted = |spec: &ArmSpec| {
            matches!(spec.target, Target::Release(_) | Target::Sqlite(_) | Target::Engine(_))
        };
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

    fn limits(&self, witness: Witness) -> Limits {
        let least = match witness {
            Witness::Instructions => LEAST_INSTRUCTIONS,
            Witness::Rate => LEAST_RATE * self.times,
        };
        Limits { least, errors: ERRORS, parts: PARTS }
    }

    /// Tries until nothing more is to be tried; `None` if it has to end before.
    fn search(&mut self, lab: &mut Lab<'_>, witness: Witness) -> Result<Option<Found>, LabError> {
        let limits = self.limits(witness);
        let mut attempted: BTreeSet<Set> = BTreeSet::new();
        loop {
            let known = self.evidence.known(witness, &attempted);
            let dropped = self.evidence.followers().into_values().flatten().collect();
            match look(&self.suspects.tried, &known, &limits, &dropped) {
                Look::Done(found) => return Ok(Some(found)),
                Look::Wanted(sets) => {
                    if !self.tried(lab, witness, &sets, &mut attempted)? {
                        return Ok(None);
                    }
                }
            }
        }
    }

    /// Parts the difference among causes that were found: what is lacking for it is tried.
    fn parted(
        &mut self,
        lab: &mut Lab<'_>,
        witness: Witness,
        found: &Found,
    ) -> Result<Option<Account>, LabError> {
        let mut attempted: BTreeSet<Set> = BTreeSet::new();
        loop {
            let known = self.evidence.known(witness, &attempted);
            let all = self.all(found);
            let causes = self.largest(&found.causes, &known);
            let least = self.limits(witness).least;
            let parts = (&causes, &all);
            let is_there = |set: &Set| self.evidence.has(witness, set) || attempted.contains(set);
            let parted = account(witness, &self.suspects.tried, &known, parts, least);
            let is_known = self.evidence.has(witness, &Set::new());
            if let Some(account) = parted.filter(|_| is_known) {
                return Ok(Some(account));
            }
            let mut lacking = subsets(&causes);
            lacking.push(all);
            lacking.retain(|set| !is_there(set));
            lacking.dedup();
            if lacking.is_empty() {
                let text = "test does not start with all of these differences taken back together";
                self.open = Some(text.to_owned());
                return Ok(None);
            }
            if !self.tried(lab, witness, &lacking, &mut attempted)? {
                return Ok(None);
            }
        }
    }

    /// All that can be taken back, each by itself.
    fn all(&self, found: &Found) -> Set {
        let follow: Set = self.evidence.followers().into_values().flatten().collect();
        let is_in = |one: &usize| !found.refused.contains(one) && !follow.contains(one);
        (0..self.suspects.tried.len()).filter(is_in).collect()
    }

    /// The causes that are worth most by themselves, as many as are told apart.
    fn largest(&self, causes: &Set, known: &std::collections::BTreeMap<Set, Told>) -> Set {
        let cost = |set: &Set| match known.get(set) {
            Some(Told::Is(value)) => Some(value.cost),
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
        witness: Witness,
        sets: &[Set],
        attempted: &mut BTreeSet<Set>,
    ) -> Result<bool, LabError> {
        let spent_ms = lab.clock.unix_ms().saturating_sub(self.began_ms);
        if self.question.limit_ms.is_some_and(|limit| spent_ms >= limit) {
            let text = "the time that it may take was over; the same command goes on from here";
            self.open = Some(text.to_owned());
            return Ok(false);
        }
        let batch = &sets[..sets.len().min(trial::arms_most(witness))];
        self.tell(lab, witness, batch, sets.len());
        trial::carry_out(lab, self.question, &self.suspects.tried, witness, batch)?;
        attempted.extend(batch.iter().cloned());
        self.evidence.read(lab)?;
        if lab.stop.load(Ordering::Relaxed) {
            let text = "it was interrupted; the same command goes on from here";
            self.open = Some(text.to_owned());
            return Ok(false);
        }
        Ok(true)
    }

    fn tell(&self, lab: &mut Lab<'_>, witness: Witness, batch: &[Set], wanted: usize) {
        let what = match witness {
            Witness::Instructions => "instructions are counted",
            Witness::Rate => "rates are measured",
        };
        let later = wanted - batch.len();
        let later = if later > 0 { format!("; {later} sets after them") } else { String::new() };
        let text = format!(
            "{what} with {} of {} differences taken back, in {} sets{later}",
            batch.iter().flatten().collect::<BTreeSet<_>>().len(),
            self.suspects.tried.len(),
            batch.len(),
        );
        lab.watch.progress(Progress::Trial(&text));
    }

    fn concluded(
        self,
        lab: &Lab<'_>,
        comparison: &Comparison,
        accounts: Vec<Account>,
        found: &Found,
    ) -> Result<Explanation, LabError> {
        let trials = self.evidence.trials();
        let code = self.code(lab, found)?;
        let ledger = self.ledger(lab, comparison)?;
        let suspects = self.suspects;
        let mut untried: Vec<Untried> = found
            .refused
            .iter()
            .map(|one| &suspects.tried[*one])
            .map(|suspect| Untried {
                name: suspect.name.clone(),
                base: Some(suspect.base.clone()),
                test: Some(suspect.test.clone()),
                why: "test does not take the value of base".to_owned(),
            })
            .collect();
        for (leader, follow) in self.evidence.followers() {
            untried.extend(follow.into_iter().map(|one| Untried {
                name: suspects.tried[one].name.clone(),
                base: Some(suspects.tried[one].base.clone()),
                test: Some(suspects.tried[one].test.clone()),
                why: format!("it follows from {}", suspects.tried[leader].name),
            }));
        }
        untried.extend(suspects.untried.iter().cloned());
        let tried = self.all(found).len();
        let least = match accounts.first() {
            Some(account) => self.limits(account.witness).least,
            None => LEAST_RATE,
        };
        Ok(Explanation {
            run: self.question.run.id.clone(),
            labels: [comparison.labels.base.clone(), comparison.labels.test.clone()],
            cell: self.question.cell.clone(),
            accounts,
            tried,
            least,
            untried,
            plans: plan_changes(&comparison.audit, &self.question.cell.load),
            ledger,
            code,
            trials,
            open: self.open,
        })
    }

    /// Where the time of an operation goes, by layer where it was counted.
    fn ledger(&self, lab: &Lab<'_>, comparison: &Comparison) -> Result<Option<Ledger>, LabError> {
        let of_cell = |one: &&CellComparison| one.cell == *self.question.cell;
        let Some(cell) = comparison.cells.iter().find(of_cell) else { return Ok(None) };
        let mut run = self.question.run.clone();
        if let Some((counted, pairing)) = self.evidence.counted_with(lab, &Set::new())? {
            run.counts = counted.of_pair(pairing).counts;
        }
        Ok(dbdyno_judge::ledger(&run, cell)?)
    }

    /// What changed most in the code: functions, with all made equal that can be.
    fn code(&self, lab: &Lab<'_>, found: &Found) -> Result<Vec<CodeChange>, LabError> {
        let all = self.all(found);
        let Some((run, pairing)) = self.evidence.counted_with(lab, &all)? else {
            return Ok(Vec::new());
        };
        let pair = dbdyno_judge::compare_pair(&run, pairing)?;
        let counts = pair.counts.into_iter().find(|one| one.load == self.question.cell.load);
        let functions = counts.into_iter().flat_map(|one| one.functions);
        let named = functions.filter(|one| !one.name.is_empty());
        let change = |one: dbdyno_model::FunctionChange| CodeChange {
            own_per_op: one.own_per_op.test - one.own_per_op.base,
            name: one.name,
        };
        Ok(named.map(change).take(FUNCTIONS_NAMED).collect())
    }
}
