//! What an explanation says in the end: accounts, what was not tried and why not, the ledger, and
//! what else is known of two servers.

use dbdyno_explain::{
    SearchFinding, SearchLimits, Set, code_changes, find_leads, is_condition_of_process,
    is_same_program, plan_changes, unequal_nameless_shares,
};
use dbdyno_model::{
    CellComparison, CodeChange, CodeStanding, Comparison, DifferenceAccount, Explanation,
    FactComparison, Ledger, PerArm, Suspect, TrialDirection, UntriedDifference, Witness, Worth,
};

use crate::waiting::Waiting;
use crate::{Case, LEAST_RATE, SHOWN, matters};
use dbdyno_lab::{Lab, LabError, blockers_of, deadlocks_of};

/// Functions of the code that are named.
const FUNCTIONS_NAMED: usize = 8;
/// Names of conditions that a sentence has.
const CONDITIONS_NAMED: usize = 4;

/// What is left open where no trial could tell what is left.
fn why_open(standing: &CodeStanding) -> Option<String> {
    let (named, more) = standing
        .untried_conditions()
        .split_at(standing.untried_conditions().len().min(CONDITIONS_NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let names = named.join(", ") + &more;
    match standing {
        CodeStanding::Code => None,
        CodeStanding::CodeOrUntried(_) => Some(format!(
            "{names} {} not the same in both arms and no trial takes that back: that or the code \
             makes what is left; compare arms that are alike in it",
            is_or_are(standing)
        )),
        CodeStanding::Untried(_) => Some(format!(
            "both arms run the same program, {names} {} not the same, and no trial takes that \
             back: it is what is left; compare arms that are alike in it",
            is_or_are(standing)
        )),
        CodeStanding::Unexplained => Some(
            "both arms run the same program and all that is known to differ was taken back, so \
             that it is not known what makes the rest; measure it again, with more rounds"
                .to_owned(),
        ),
    }
}

/// Why it is not known whether what was tried makes a difference of the rate: no cause is proved,
/// and what all of it is worth together may be half of the difference or more.
fn why_undecided(
    account: &DifferenceAccount,
    tried: usize,
    limits: &SearchLimits,
) -> Option<String> {
    let DifferenceAccount { witness, causes, others, total, .. } = account;
    let is_searched = *witness == Witness::Rate && tried > 0 && causes.is_empty();
    let is_open = matters(total, limits) && !matters(others, limits) && may_be_half(others, total);
    (is_searched && is_open).then(|| {
        let (low, high) = (others.points.low, others.points.high);
        format!(
            "what was tried is worth {low:+.0} to {high:+.0} points together: most of the \
             difference, or nothing of it; compare the two again with more rounds, and explain that"
        )
    })
}

/// Whether a part may be half of a difference or more, by its interval.
fn may_be_half(part: &Worth, total: &Worth) -> bool {
    let far_end = if total.points.estimate < 0.0 { -part.points.low } else { part.points.high };
    far_end >= total.points.estimate.abs() / 2.0
}

fn is_or_are(standing: &CodeStanding) -> &'static str {
    if standing.untried_conditions().len() == 1 { "is" } else { "are" }
}

/// Why nothing is tried of servers that were named by URL.
const STRANGERS: &str = "dbdyno cannot restart a server by URL with other settings, so that no \
                         share is measured; compare releases such as mysql:8.0 with the settings \
                         of your servers (my-cnf=FILE), and explain that";

impl Case<'_> {
    pub(crate) fn into_explanation(
        mut self,
        lab: &mut Lab<'_>,
        comparison: &Comparison,
        accounts: Vec<DifferenceAccount>,
        found: &SearchFinding,
    ) -> Result<Explanation, LabError> {
        let remedy = self.find_remedy(lab, &accounts)?;
        let (code, nameless) = self.code(lab, found)?;
        let mut ledger = self.ledger(lab, comparison)?;
        let waiting = match &mut ledger {
            Some(ledger) => self.with_waits(lab, ledger)?,
            None => Waiting::NotAsked,
        };
        let (waits, unwaited) = match waiting {
            Waiting::NotAsked => (None, None),
            Waiting::Unknown(why) => (None, Some(why)),
            Waiting::Known(waits) => (Some(waits), None),
        };
        let work = self.work(comparison)?;
        let is_strange = self.has_strangers();
        let least = match accounts.first() {
            Some(account) => self.limits(account.witness).least,
            None => LEAST_RATE,
        };
        let untried = self.untried(found, is_strange);
        let code_standing = self.code_standing(comparison, &accounts, &untried);
        let why_left = why_open(&code_standing);
        let tried = self.all(found).len() + self.was_given(found).len();
        let limits = self.limits(Witness::Rate);
        let mut undecided = accounts.iter().filter_map(|one| why_undecided(one, tried, &limits));
        let undecided = undecided.next();
        Ok(Explanation {
            run: self.question.run.whole.id.clone(),
            labels: [comparison.labels.base.clone(), comparison.labels.test.clone()],
            cell: self.question.cell.clone(),
            accounts,
            tried,
            least,
            prior: self.prior.clone(),
            limit: self.limit.clone(),
            leads: if is_strange { find_leads(&comparison.audit, &work) } else { Vec::new() },
            remedy,
            untried,
            plans: plan_changes(&comparison.audit, &self.question.cell.load),
            ledger,
            waits,
            unwaited,
            work,
            deadlocks: deadlocks_of(self.question.run, self.question.cell),
            blockers: blockers_of(self.question.run, self.question.cell),
            code_standing,
            code,
            nameless,
            trials: self.evidence.informative_trials(),
            open: self
                .open
                .or(undecided)
                .or(why_left)
                .or_else(|| is_strange.then(|| STRANGERS.to_owned())),
        })
    }

    /// What base was given and took.
    fn was_given(&self, found: &SearchFinding) -> Set {
        let Some(given) = &self.given else { return Set::new() };
        let out = self.evidence.out_of(TrialDirection::BaseAsTest);
        self.to_be_given(found)
            .into_iter()
            .filter(|one| !given.refused.contains(one) && !out.contains(one))
            .collect()
    }

    /// What was not tried, and why not.
    fn untried(&self, found: &SearchFinding, is_strange: bool) -> Vec<UntriedDifference> {
        let tried = &self.suspects.tried;
        let untried = |suspect: &Suspect, why: String| UntriedDifference {
            name: suspect.name.clone(),
            base: Some(suspect.base.clone()),
            test: Some(suspect.test.clone()),
            why,
            is_condition: is_condition_of_process(suspect),
        };
        let given = self.was_given(found);
        let follow = self.evidence.suspect_followers(TrialDirection::TestAsBase);
        let is_left = |one: &usize| {
            let cannot = found.refused.contains(one) || tried[*one].told.is_empty();
            cannot && !given.contains(one)
        };
        let mut all: Vec<UntriedDifference> = (0..tried.len())
            .filter(is_left)
            .map(|one| untried(&tried[one], self.why_not_given(one).to_owned()))
            .collect();
        for (leader, followers) in follow {
            let why = format!("{} {}", UntriedDifference::FOLLOWS, tried[leader].name);
            all.extend(followers.iter().map(|one| untried(&tried[*one], why.clone())));
        }
        // Of servers that cannot be started again all that matters is told as leads.
        all.extend(self.suspects.untried.iter().filter(|_| !is_strange).cloned());
        all
    }

    /// Whether what no trial took away is known to be the code. Instructions that show it know no
    /// limit and no delay.
    fn code_standing(
        &self,
        comparison: &Comparison,
        accounts: &[DifferenceAccount],
        untried: &[UntriedDifference],
    ) -> CodeStanding {
        let mut by_rate = accounts.iter().filter(|account| account.witness == Witness::Rate);
        let Some(DifferenceAccount { code, total, .. }) = by_rate.next() else {
            return CodeStanding::Code;
        };
        let mut counted =
            accounts.iter().filter(|account| account.witness == Witness::Instructions);
        let is_shown =
            counted.any(|account| account.code.cost.estimate / code.cost.estimate >= SHOWN);
        let is_same = is_same_program(&self.question.run.arm_specs(), &comparison.audit);
        let limits = self.limits(Witness::Rate);
        // The code of one program makes nothing, however wide the interval is.
        let is_doubtful = is_same && matters(total, &limits) && may_be_half(code, total);
        if is_shown || !matters(code, &limits) && !is_doubtful {
            return CodeStanding::Code;
        }
        // Of one program, what no trial takes back is all that can make what is left.
        let names: Vec<String> = untried
            .iter()
            .filter(|one| one.is_condition || (is_same && !one.is_follower()))
            .map(|one| one.name.clone())
            .collect();
        match (is_same, names.is_empty()) {
            (true, true) => CodeStanding::Unexplained,
            (true, false) => CodeStanding::Untried(names),
            (false, true) => CodeStanding::Code,
            (false, false) => CodeStanding::CodeOrUntried(names),
        }
    }

    fn why_not_given(&self, one: usize) -> &'static str {
        let suspect = &self.suspects.tried[one];
        match (&self.given, suspect.given.is_empty(), suspect.told.is_empty()) {
            (_, true, _) => "test does not take the value of base",
            (Some(_), false, _) => "neither arm takes the value of the other",
            (None, false, true) => "only the release of base has it, and nothing is left for it",
            (None, false, false) => {
                "test does not take the value of base, and nothing is left for it"
            }
        }
    }

    /// Where the time of an operation goes, by layer where it was counted.
    fn ledger(&self, lab: &Lab<'_>, comparison: &Comparison) -> Result<Option<Ledger>, LabError> {
        let Some(cell) =
            comparison.cells.iter().find(|one: &&CellComparison| one.cell == *self.question.cell)
        else {
            return Ok(None);
        };
        let run = self.question.run;
        let counted = self.evidence.counted_with(lab, &Set::new())?;
        let counted = counted.as_ref().map_or(run, |(counted, pairing)| counted.pair(*pairing));
        Ok(dbdyno_judge::cell_ledger(run, counted, cell)?)
    }

    /// What the servers did for an operation, by their own account.
    fn work(&self, comparison: &Comparison) -> Result<Vec<FactComparison>, LabError> {
        let cell = comparison.cells.iter().find(|one| one.cell == *self.question.cell);
        Ok(cell
            .map(|cell| dbdyno_judge::compare_work(self.question.run, cell))
            .transpose()?
            .unwrap_or_default())
    }

    /// What changed most in the code: functions, with all made equal that can be; or the shares
    /// without a name, where they are too unequal for that.
    fn code(
        &self,
        lab: &Lab<'_>,
        found: &SearchFinding,
    ) -> Result<(Vec<CodeChange>, Option<PerArm<f64>>), LabError> {
        let all = self.all(found);
        let Some((run, pairing)) = self.evidence.counted_with(lab, &all)? else {
            return Ok((Vec::new(), None));
        };
        let load = &self.question.cell.load;
        let mut changes = code_changes(&run.counts, pairing, load);
        changes.truncate(FUNCTIONS_NAMED);
        Ok((changes, unequal_nameless_shares(&run.counts, pairing, load)))
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Interval;

    use super::*;

    fn worth(points: f64, half: f64) -> Worth {
        let interval = |estimate: f64, half: f64| Interval {
            estimate,
            low: estimate - half,
            high: estimate + half,
        };
        Worth { cost: interval(-points / 50.0, half / 50.0), points: interval(points, half) }
    }

    fn account(others: Worth) -> DifferenceAccount {
        DifferenceAccount {
            witness: Witness::Rate,
            total: worth(-87.0, 3.0),
            causes: Vec::new(),
            together: worth(0.0, 0.0),
            not_told_apart: Vec::new(),
            others,
            others_alone: None,
            code: worth(-6.0, 45.0),
            interactions: Vec::new(),
        }
    }

    /// A setting that made all of the loss was denied once, for the interval of its trial just
    /// reached zero.
    #[test]
    fn what_may_be_all_of_the_loss_is_not_denied() {
        let limits = crate::limits_of(LEAST_RATE, 8.0);
        let why = |others| why_undecided(&account(others), 1, &limits);
        let told = why(worth(-81.0, 85.0)).unwrap();
        assert!(told.contains("-166 to +4 points"), "{told}");
        assert_eq!(why(worth(-3.0, 20.0)), None, "it is less than half of it");
        assert_eq!(why(worth(-81.0, 20.0)), None, "it is proved");
        assert_eq!(why_undecided(&account(worth(-81.0, 85.0)), 0, &limits), None, "none was tried");
    }
}
