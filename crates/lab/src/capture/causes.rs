//! Why a plan of test is not that of base: what brings base's plan back, tried with EXPLAIN alone.
//!
//! ```text
//!   statement whose facts differ ─▶ settings of base, for a session of test      (its statistics)
//!                                ─▶ statistics of base in the tables of test ─┬─ alone
//!                                                                             └─ with settings
//! ```
//!
//! It is done where all arms stand filled and are not measured yet: both servers are there, a trial
//! costs some milliseconds, and what was found is a fact like others, for `diff`, `compare` and
//! `explain` alike. Each trial has a session of its own. Statistics are given back afterwards; but
//! a server that has read them anew has lost what it had counted since, so that they are exchanged
//! only where nothing is measured afterwards.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dbdyno_explain::{Set, cause_written, planner_settings, smallest};
use dbdyno_load::Connector;
use dbdyno_model::{
    ArmIndex, Arms, Dialect, Environment, Plan, PlanCause, PlanRemedy, Severity, StatisticsOf,
    Warning,
};
use dbdyno_workload::planned;

use super::plans::{self, Planned};
use super::statistics::{self, Transplant};
use crate::arm::Station;
use crate::error::LabError;

/// What becomes of the statistics of test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistics {
    /// They stay: test is measured with them.
    Kept,
    /// Test is given those of base for a moment.
    Exchanged,
}

/// Notes of each arm, for the statements that it plans otherwise than base does, what brings the
/// plan of base back.
///
/// # Errors
/// Loads that cannot be resolved; statistics that could not be given back.
pub(crate) fn look(
    plan: &Plan,
    stations: &mut Arms<Station>,
    statistics: Statistics,
) -> Result<(), LabError> {
    let Some(base) = stations.get(ArmIndex::BASE) else { return Ok(()) };
    let (environment, dialect) = (base.environment.clone(), base.dialect);
    let connector = base.connector.clone();
    if !matches!(dialect, Dialect::Mysql | Dialect::Postgres) {
        return Ok(());
    }
    for arm in stations.indices().into_iter().filter(|arm| *arm != ArmIndex::BASE) {
        let station = &stations[arm];
        if station.dialect != dialect || station.shares_tables() {
            continue;
        }
        let changed = changed(plan, dialect, &environment, &station.environment)?;
        if !changed.is_empty() {
            let base = &connector;
            let case = Case { base, environment: &environment, changed, statistics };
            case.solved(arm, &mut stations[arm])?;
        }
    }
    Ok(())
}

/// A statement that test plans otherwise.
struct Changed {
    /// The fact in which the answer is told.
    fact: String,
    sql: String,
    /// What base has.
    shape: String,
    bounds: String,
    rows: u64,
    /// What test has.
    shape_of_test: String,
    rows_of_test: u64,
}

impl Changed {
    fn of(label: &str, number: usize, sql: &str, facts: [&Environment; 2]) -> Option<Changed> {
        let value = |kind: &str| {
            let name = format!("{kind}[{label}].{number}");
            facts.map(|facts| facts.get(&name).to_owned())
        };
        let [shape, shape_of_test] = value("plan");
        let [bounds, bounds_of_test] = value("bounds");
        let rows = value("estimate").map(|rows| rows.parse::<u64>().unwrap_or(0));
        let is_known = !shape.is_empty() && !shape_of_test.is_empty();
        let is_same = shape == shape_of_test && bounds == bounds_of_test && alike(rows[0], rows[1]);
        (is_known && !is_same).then(|| Changed {
            fact: format!("plan_cause[{label}].{number}"),
            sql: sql.to_owned(),
            shape,
            bounds,
            rows: rows[0],
            shape_of_test,
            rows_of_test: rows[1],
        })
    }

    /// Whether a plan is that of base in what differs most: of another shape the shape, else the
    /// bounds and the estimate.
    fn is_of_base(&self, planned: &Planned) -> bool {
        let bounds = planned.bounds.as_deref().unwrap_or_default();
        planned.shape == self.shape
            && (self.shape != self.shape_of_test
                || (bounds == self.bounds && alike(planned.rows, self.rows)))
    }
}

/// Whether two estimates are one to the audit.
fn alike(base: u64, test: u64) -> bool {
    let rule = dbdyno_audit::rules::RULES.iter().find(|rule| rule.key == "plan-estimate");
    let allowed = rule.and_then(|rule| rule.tolerance).expect("estimates may be so far apart");
    let (low, high) = (base.min(test) as f64, base.max(test) as f64);
    high < allowed.least || high <= allowed.ratio * low
}

fn changed(
    plan: &Plan,
    dialect: Dialect,
    base: &Environment,
    test: &Environment,
) -> Result<Vec<Changed>, LabError> {
    let mut changed = Vec::new();
    for label in plan.labels() {
        if planned::dataset_of_step(plan, label).is_some() {
            continue;
        }
        let statements = plans::statements(&planned::resolve(plan, label)?, dialect);
        let numbered = statements.iter().enumerate();
        changed
            .extend(numbered.filter_map(|(at, sql)| Changed::of(label, at + 1, sql, [base, test])));
    }
    Ok(changed)
}

/// The statements of an arm that are planned otherwise.
struct Case<'a> {
    base: &'a Connector,
    environment: &'a Environment,
    changed: Vec<Changed>,
    statistics: Statistics,
}

impl Case<'_> {
    fn solved(self, arm: ArmIndex, station: &mut Station) -> Result<(), LabError> {
        let all = planner_settings(station.dialect, self.environment, &station.environment);
        let tests = Sessions { connector: station.connector.clone(), dialect: station.dialect };
        let settings = tests.taken(all);
        let by_settings: BTreeMap<&str, Vec<String>> = self
            .changed
            .iter()
            .filter_map(|one| Some((&*one.fact, tests.least(one, &settings)?)))
            .collect();
        let is_alone = station.is_ours() && station.ensemble().is_none();
        let transplant = match (is_alone, self.statistics) {
            (true, Statistics::Exchanged) => {
                statistics::transplant(self.base, &station.connector, station.dialect)
            }
            (true, Statistics::Kept) => Err("statistics are exchanged by `dbdyno diff`, and not \
                                             before test is measured with its own"
                .to_owned()),
            (false, _) => Err("the statistics of a server that is not dbdyno's own, or that has \
                               members, are not touched"
                .to_owned()),
        };
        let untried = transplant.as_ref().err().cloned();
        let mut facts = Vec::new();
        for one in &self.changed {
            let by_settings = by_settings.get(&*one.fact).cloned();
            let remedy = match &transplant {
                Ok(_) => tests.with_statistics(one, by_settings, &settings),
                Err(_) => by_settings.map(PlanRemedy::of_settings_alone),
            };
            let cause = PlanCause { remedy, untried: untried.clone() };
            facts.push((one.fact.clone(), cause_written(&cause)));
        }
        let given_back = transplant.map_or(Ok(()), Transplant::give_back);
        given_back.map_err(|error| LabError::Server(arm, "statistics".to_owned(), error))?;
        for (fact, cause) in facts {
            station.environment.set(fact, cause);
        }
        if untried.is_none() {
            station.warnings.extend(self.not_as_before(arm, &tests));
        }
        Ok(())
    }

    /// What is said where a plan of test is not what it was before its statistics were taken away
    /// and given back.
    fn not_as_before(&self, arm: ArmIndex, tests: &Sessions) -> Option<Warning> {
        let is_other = |one: &&Changed| {
            tests.planned(&one.sql, &[]).is_some_and(|planned| {
                planned.shape != one.shape_of_test || !alike(planned.rows, one.rows_of_test)
            })
        };
        let one = self.changed.iter().find(is_other)?;
        let text = format!(
            "{arm}: the plan of a statement is not what it was before its statistics were \
             exchanged and given back; run it again, the statement is: {}",
            one.sql
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
        let Ok(mut client) = self.connector.connect() else { return Vec::new() };
        let taken = settings.into_iter().filter(|told| client.run(&format!("SET {told}")).is_ok());
        let taken = taken.collect();
        client.close();
        taken
    }

    /// The plan of a statement in a session of its own with these settings.
    fn planned(&self, sql: &str, settings: &[&String]) -> Option<Planned> {
        let mut client = self.connector.connect().ok()?;
        let set = settings.iter().try_for_each(|told| client.run(&format!("SET {told}")).map(drop));
        let planned = set.ok().and_then(|()| plans::plan(&mut *client, self.dialect, sql));
        client.close();
        planned
    }

    /// As few settings as bring the plan of base back.
    fn least(&self, one: &Changed, settings: &[String]) -> Option<Vec<String>> {
        let known: RefCell<BTreeMap<Set, bool>> = RefCell::default();
        let found = smallest(settings.len(), |set: &Set| {
            if let Some(does) = known.borrow().get(set) {
                return *does;
            }
            let told: Vec<&String> = set.iter().map(|at| &settings[*at]).collect();
            let does =
                self.planned(&one.sql, &told).is_some_and(|planned| one.is_of_base(&planned));
            known.borrow_mut().insert(set.clone(), does);
            does
        });
        Some(found?.into_iter().map(|at| settings[at].clone()).collect())
    }

    /// What brings the plan of base back, now that test has the statistics of base: these alone
    /// before any setting, and settings with them where neither does by itself.
    fn with_statistics(
        &self,
        one: &Changed,
        by_settings: Option<Vec<String>>,
        settings: &[String],
    ) -> Option<PlanRemedy> {
        let of_base = |settings| PlanRemedy { settings, statistics: StatisticsOf::Base };
        let planned = self.planned(&one.sql, &[]);
        match planned.is_some_and(|planned| one.is_of_base(&planned)) {
            true => Some(of_base(Vec::new())),
            false => by_settings
                .map(PlanRemedy::of_settings_alone)
                .or_else(|| self.least(one, settings).map(of_base)),
        }
    }
}
