//! Why a plan of test is not that of base: what brings base's plan back, tried with EXPLAIN alone.
//!
//! ```text
//!   statement whose facts differ ─▶ settings of base, for a session of test      (its statistics)
//!                                ─▶ prices of base, for the optimizer of test
//!                                ─▶ statistics of base in the tables of test ─┬─ alone: all, and
//!                                                                             │  those of columns
//!                                                                             └─ with the others
//! ```
//!
//! It is done where all arms stand filled and are not measured yet: both servers are there, a trial
//! costs some milliseconds, and what was found is a fact like others, for `diff`, `compare` and
//! `explain` alike. Each trial has a session of its own. Prices and statistics are given back
//! afterwards; but a server that has read statistics anew has lost what it had counted since, so
//! that they are lent only where nothing is measured afterwards.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dbdyno_explain::{Set, cause_text, planner_settings, smallest_set};
use dbdyno_load::Connector;
use dbdyno_model::{
    ArmIndex, Arms, Dialect, Environment, Plan, PlanCause, PlanRemedy, Severity, StatisticsOf,
    Warning,
};
use dbdyno_server::{
    LentStatistics, OptimizerPrice, StatisticsExtent, differing_prices, lend_prices,
    lend_statistics, loan_refusal,
};
use dbdyno_workload::planned;

use super::misestimate;
use super::plans::{self, LoadStatement, PlanShape};
use crate::arm::Station;
use crate::error::LabError;

/// Whether test is lent what is no session's: statistics, and prices of the optimizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loan {
    /// Nothing: test is measured with its own.
    None,
    /// Test is given those of base for a moment.
    Taken,
}

/// A statement is carried out for each trial of its estimates: it may read so many times fewer rows
/// than one that is carried out once.
const TRIALS_OF_ESTIMATES: f64 = 50.0;

/// What brings the plan of base back, by the fact in which that is told.
type Remedies = BTreeMap<String, PlanRemedy>;

/// Notes of each arm, for the statements that it plans otherwise than base does, what brings the
/// plan of base back.
///
/// # Errors
/// Loads that cannot be resolved; statistics that could not be given back.
pub(crate) fn look_for_causes(
    plan: &Plan,
    stations: &mut Arms<Station>,
    loan: Loan,
) -> Result<(), LabError> {
    let Some(base) = stations.get(ArmIndex::BASE) else { return Ok(()) };
    let (environment, dialect) = (base.environment.clone(), base.dialect);
    let connector = base.connector.clone();
    if !matches!(dialect, Dialect::Mysql | Dialect::Postgres) {
        return Ok(());
    }
    for arm in stations.indices().filter(|arm| *arm != ArmIndex::BASE) {
        let station = &stations[arm];
        if station.dialect != dialect || station.shares_tables() {
            continue;
        }
        let changed = changed(plan, dialect, &environment, &station.environment)?;
        if !changed.is_empty() {
            let base = &connector;
            let case = Case { base, environment: &environment, changed, loan };
            case.solved(arm, &mut stations[arm])?;
        }
    }
    Ok(())
}

/// A statement that test plans otherwise.
struct PlanDivergence {
    /// The fact in which the answer is told.
    fact: String,
    asked: LoadStatement,
    /// What base has.
    shape: String,
    bounds: String,
    rows: u64,
    /// What test has.
    shape_of_test: String,
    rows_of_test: u64,
    /// The q-error of base, where the plan is the same and the estimates are not.
    q: Option<f64>,
}

impl PlanDivergence {
    fn of(
        label: &str,
        number: usize,
        asked: &LoadStatement,
        facts: [&Environment; 2],
    ) -> Option<PlanDivergence> {
        let value = |kind: &str| {
            let name = format!("{kind}[{label}].{number}");
            facts.map(|facts| facts.get(&name).to_owned())
        };
        let [shape, shape_of_test] = value("plan");
        let [bounds, bounds_of_test] = value("bounds");
        let rows = value("estimate").map(|rows| rows.parse::<u64>().unwrap_or(0));
        let is_known = !shape.is_empty() && !shape_of_test.is_empty();
        let is_same = shape == shape_of_test && bounds == bounds_of_test && alike(rows[0], rows[1]);
        let q = value("q_error").map(|q| q.parse::<f64>().ok());
        let q = match q {
            [Some(base), Some(test)] if is_same && !as_wrong(base, test) => Some(base),
            _ => None,
        };
        (is_known && (!is_same || q.is_some())).then(|| PlanDivergence {
            fact: format!("plan_cause[{label}].{number}"),
            asked: asked.clone(),
            shape,
            bounds,
            rows: rows[0],
            shape_of_test,
            rows_of_test: rows[1],
            q,
        })
    }

    /// Whether a plan is that of base in what differs most: of another shape the shape, else the
    /// bounds and the estimate.
    fn is_of_base(&self, planned: &PlanShape) -> bool {
        let bounds = planned.bounds.as_deref().unwrap_or_default();
        planned.shape == self.shape
            && (self.shape != self.shape_of_test
                || (bounds == self.bounds && alike(planned.rows, self.rows)))
    }
}

/// Whether two estimates are one to the audit.
fn alike(base: u64, test: u64) -> bool {
    is_allowed("plan-estimate", base as f64, test as f64)
}

/// Whether two q-errors are one to the audit.
fn as_wrong(base: f64, test: f64) -> bool {
    is_allowed("plan-misestimate", base, test)
}

fn is_allowed(rule: &str, base: f64, test: f64) -> bool {
    let rule = dbdyno_audit::rules::RULES.iter().find(|one| one.key == rule);
    let allowed = rule.and_then(|rule| rule.tolerance).expect("numbers may be so far apart");
    let (low, high) = (base.min(test), base.max(test));
    high < allowed.least || high <= allowed.ratio * low
}

fn changed(
    plan: &Plan,
    dialect: Dialect,
    base: &Environment,
    test: &Environment,
) -> Result<Vec<PlanDivergence>, LabError> {
    let mut changed = Vec::new();
    for label in plan.labels() {
        if planned::dataset_of_step(plan, label).is_some() {
            continue;
        }
        let statements = plans::statements(&planned::planned_load(plan, label)?, dialect);
        let numbered = statements.iter().enumerate();
        changed.extend(
            numbered.filter_map(|(at, one)| PlanDivergence::of(label, at + 1, one, [base, test])),
        );
    }
    Ok(changed)
}

/// The statements of an arm that are planned otherwise.
struct Case<'a> {
    base: &'a Connector,
    environment: &'a Environment,
    changed: Vec<PlanDivergence>,
    loan: Loan,
}

impl Case<'_> {
    fn solved(self, arm: ArmIndex, station: &mut Station) -> Result<(), LabError> {
        let all = planner_settings(station.dialect, self.environment, &station.environment);
        let tests = Sessions { connector: station.connector.clone(), dialect: station.dialect };
        let settings = tests.taken(all);
        let by_settings = |one: &PlanDivergence| {
            let found = tests.least(one, &settings)?;
            Some(PlanRemedy::of_settings_alone(found))
        };
        let mut remedies = Remedies::new();
        for one in &self.changed {
            remedies.extend(by_settings(one).map(|remedy| (one.fact.clone(), remedy)));
        }
        let untried = match self.may_lend(station) {
            Ok(()) => {
                let prices = differing_prices(self.environment, &station.environment);
                let lender = Lender { case: &self, arm, tests: &tests, prices: &prices };
                lender.tried(&settings, &mut remedies)?
            }
            Err(why) => vec![why.to_owned()],
        };
        let untried = (!untried.is_empty()).then(|| untried.join("; "));
        for one in &self.changed {
            let remedy = remedies.remove(&one.fact);
            let cause = PlanCause { remedy, untried: untried.clone() };
            station.environment.set(one.fact.clone(), cause_text(&cause));
        }
        if self.may_lend(station).is_ok() {
            station.warnings.extend(self.not_as_before(arm, &tests));
        }
        Ok(())
    }

    /// Whether test may be given what is no session's; or why not.
    fn may_lend(&self, station: &Station) -> Result<(), &'static str> {
        let is_alone = station.is_ours() && station.ensemble().is_none();
        match (is_alone, self.loan) {
            (true, Loan::Taken) => Ok(()),
            (true, Loan::None) => Err("statistics and prices are lent by `dbdyno diff`, and not \
                                       before test is measured with its own"),
            (false, _) => {
                Err("the statistics and prices of a server that is not dbdyno's own, or \
                               that has members, are not touched")
            }
        }
    }

    /// What is said where a plan of test is not what it was before its statistics were taken away
    /// and given back.
    fn not_as_before(&self, arm: ArmIndex, tests: &Sessions) -> Option<Warning> {
        let is_other = |one: &&PlanDivergence| {
            tests.planned(&one.asked, &[]).is_some_and(|planned| {
                planned.shape != one.shape_of_test || !alike(planned.rows, one.rows_of_test)
            })
        };
        let one = self.changed.iter().find(is_other)?;
        let text = format!(
            "{arm}: the plan of a statement is not what it was before its statistics were \
             exchanged and given back; run it again, the statement is: {}",
            one.asked.sql
        );
        Some(Warning::new(Severity::Caution, "plan-not-as-before", text))
    }
}

/// Sessions of test.
struct Sessions {
    connector: Connector,
    dialect: Dialect,
}

impl Sessions {
    /// The settings that a session takes.
    fn taken(&self, settings: Vec<String>) -> Vec<String> {
        let Ok(mut client) = self.connector.connect_for_work() else { return Vec::new() };
        let taken = settings.into_iter().filter(|told| client.run(&format!("SET {told}")).is_ok());
        let taken = taken.collect();
        client.close();
        taken
    }

    /// The plan of a statement in a session of its own with these settings.
    fn planned(&self, asked: &LoadStatement, settings: &[&String]) -> Option<PlanShape> {
        let mut client = self.connector.connect_for_work().ok()?;
        let set = settings.iter().try_for_each(|told| client.run(&format!("SET {told}")).map(drop));
        let planned = set.ok().and_then(|()| plans::plan(&mut *client, self.dialect, asked));
        client.close();
        planned
    }

    /// Whether a session with these settings plans a statement as base does; of one whose estimates
    /// alone are other ones, whether it is as right as base, for which it is carried out.
    fn is_as_base(&self, one: &PlanDivergence, settings: &[&String]) -> bool {
        let Some(q) = one.q else {
            return self
                .planned(&one.asked, settings)
                .is_some_and(|planned| one.is_of_base(&planned));
        };
        let Ok(mut client) = self.connector.connect_for_work() else { return false };
        let set = settings.iter().try_for_each(|told| client.run(&format!("SET {told}")).map(drop));
        let rows = one.rows.max(one.rows_of_test) as f64 * TRIALS_OF_ESTIMATES;
        let carried_out = set
            .ok()
            .and_then(|()| misestimate::of_nodes(&mut *client, self.dialect, &one.asked.sql, rows));
        client.close();
        carried_out.and_then(|own| own.parse().ok()).is_some_and(|own| as_wrong(q, own))
    }

    /// As few settings as bring the plan of base back.
    fn least(&self, one: &PlanDivergence, settings: &[String]) -> Option<Vec<String>> {
        let known: RefCell<BTreeMap<Set, bool>> = RefCell::default();
        let found = smallest_set(settings.len(), |set: &Set| {
            if let Some(does) = known.borrow().get(set) {
                return *does;
            }
            let told: Vec<&String> = set.iter().map(|at| &settings[*at]).collect();
            let does = self.is_as_base(one, &told);
            known.borrow_mut().insert(set.clone(), does);
            does
        });
        Some(found?.into_iter().map(|at| settings[at].clone()).collect())
    }
}

/// Lends test what is base's, one kind after the other.
struct Lender<'a> {
    case: &'a Case<'a>,
    arm: ArmIndex,
    tests: &'a Sessions,
    prices: &'a [OptimizerPrice],
}

impl Lender<'_> {
    /// Adds what statistics, prices and settings do together; what is simpler replaces what is not.
    /// Says what could not be tried.
    fn tried(&self, settings: &[String], remedies: &mut Remedies) -> Result<Vec<String>, LabError> {
        let mut untried = Vec::new();
        let prices: Vec<&OptimizerPrice> = self.prices.iter().collect();
        if !prices.is_empty()
            && self.case.changed.iter().any(|one| !remedies.contains_key(&one.fact))
        {
            self.by_prices(&prices, StatisticsOf::Itself, remedies, &mut untried)?;
        }
        for (extent, whose) in [
            (StatisticsExtent::All, StatisticsOf::Base),
            (StatisticsExtent::Columns, StatisticsOf::BaseOfColumns),
        ] {
            match self.lent(extent) {
                Ok(None) => {}
                Ok(Some(lent)) => {
                    let tried = self.with_statistics(whose, settings, remedies, &mut untried);
                    self.given_back(lent)?;
                    tried?;
                }
                Err(why) if untried.contains(&why) => {}
                Err(why) => untried.push(why),
            }
        }
        Ok(untried)
    }

    /// Gives test statistics of base; `None` where they are the same.
    fn lent(&self, extent: StatisticsExtent) -> Result<Option<LentStatistics>, String> {
        let of_base = self.case.base.open_onlooker().map_err(loan_refusal)?;
        let of_test = self.tests.connector.open_onlooker().map_err(loan_refusal)?;
        let client = self.tests.connector.connect_for_work().map_err(loan_refusal)?;
        lend_statistics(of_base, of_test, client, extent)
    }

    /// Now that test has statistics of base: these alone before anything else; with settings and
    /// prices where nothing else does it.
    fn with_statistics(
        &self,
        whose: StatisticsOf,
        settings: &[String],
        remedies: &mut Remedies,
        untried: &mut Vec<String>,
    ) -> Result<(), LabError> {
        let of = |settings| PlanRemedy { settings, costs: Vec::new(), statistics: whose };
        let mut left = 0;
        for one in &self.case.changed {
            if self.tests.is_as_base(one, &[]) {
                remedies.insert(one.fact.clone(), of(Vec::new()));
            } else if !remedies.contains_key(&one.fact) {
                let found = self.tests.least(one, settings);
                left += usize::from(found.is_none());
                remedies.extend(found.map(|found| (one.fact.clone(), of(found))));
            }
        }
        let prices: Vec<&OptimizerPrice> = self.prices.iter().collect();
        if left > 0 && !prices.is_empty() {
            self.by_prices(&prices, whose, remedies, untried)?;
        }
        Ok(())
    }

    /// As few prices as bring the plan of base back, where nothing else has.
    fn by_prices(
        &self,
        prices: &[&OptimizerPrice],
        whose: StatisticsOf,
        remedies: &mut Remedies,
        untried: &mut Vec<String>,
    ) -> Result<(), LabError> {
        for one in &self.case.changed {
            if remedies.contains_key(&one.fact) {
                continue;
            }
            let failed: RefCell<Option<LendFailure>> = RefCell::default();
            let found = smallest_set(prices.len(), |set: &Set| {
                let chosen: Vec<&OptimizerPrice> = set.iter().map(|at| prices[*at]).collect();
                failed.borrow().is_none()
                    && self.does(one, &chosen).unwrap_or_else(|error| {
                        *failed.borrow_mut() = Some(error);
                        false
                    })
            });
            match failed.into_inner() {
                Some(LendFailure::ToGiveBack(error)) => return Err(error),
                Some(LendFailure::ToLend(why)) => {
                    untried.push(why);
                    return Ok(());
                }
                None => {}
            }
            let costs = |set: Set| set.into_iter().map(|at| prices[at].as_assignment()).collect();
            let remedy = found.map(costs).map(|costs| PlanRemedy {
                settings: Vec::new(),
                costs,
                statistics: whose,
            });
            remedies.extend(remedy.map(|remedy| (one.fact.clone(), remedy)));
        }
        Ok(())
    }

    /// Whether test plans as base does with these prices of base.
    fn does(&self, one: &PlanDivergence, prices: &[&OptimizerPrice]) -> Result<bool, LendFailure> {
        let client = self.tests.connector.connect_for_work().map_err(loan_refusal);
        let lent = client.and_then(|client| lend_prices(client, prices));
        let lent = lent.map_err(LendFailure::ToLend)?;
        let does = self.tests.is_as_base(one, &[]);
        self.given_back(lent).map_err(LendFailure::ToGiveBack)?;
        Ok(does)
    }

    fn given_back(&self, lent: LentStatistics) -> Result<(), LabError> {
        let what = "statistics and prices".to_owned();
        lent.give_back().map_err(|error| LabError::Server(self.arm, what, error))
    }
}

/// Why a price was not tried.
enum LendFailure {
    ToLend(String),
    ToGiveBack(LabError),
}
