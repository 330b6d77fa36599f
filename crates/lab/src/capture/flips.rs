//! How often a plan flips with nothing but another sample of the statistics.
//!
//! ```text
//!   n times   ANALYZE the tables of a statement ─▶ EXPLAIN ─▶ the plan that was noted, or another
//! ```
//!
//! InnoDB looks at twenty random pages of an index, PostgreSQL at thirty thousand random rows of a
//! table; smaller tables are looked at as a whole, and nothing flips. Only servers that dbdyno has
//! started are sampled, after all else that is noted of them: they have other statistics then.

use std::sync::atomic::{AtomicBool, Ordering};

use dbdyno_explain::{sampled_plans, sampled_plans_text};
use dbdyno_load::LoadError;
use dbdyno_model::{ArmIndex, Arms, Dialect, Plan, SampledPlans};
use dbdyno_server::sample_statistics;
use dbdyno_wire::WireError;
use dbdyno_workload::planned;

use super::plans::{self, LoadStatement};
use super::tables;
use crate::arm::Station;
use crate::error::LabError;

/// Has each arm of ours take so many samples, and notes what its plans were under each.
///
/// # Errors
/// Loads that cannot be resolved; a server that does not take statistics; an interruption.
pub(crate) fn look_for_flips(
    plan: &Plan,
    stations: &mut Arms<Station>,
    samples: u32,
    stop: &AtomicBool,
) -> Result<(), LabError> {
    for arm in stations.indices() {
        let station = &mut stations[arm];
        let is_alone = station.is_ours() && station.ensemble().is_none();
        let is_planned = matches!(station.dialect, Dialect::Mysql | Dialect::Postgres);
        if is_alone && is_planned {
            let statements = statements(plan, station)?;
            let sampled = sampled(arm, station, &statements, samples, stop)?;
            for (statement, one) in statements.iter().zip(sampled) {
                if let Some(one) = one {
                    station.environment.set(statement.fact.clone(), sampled_plans_text(&one));
                }
            }
        }
    }
    Ok(())
}

/// A statement whose plan is noted.
struct Statement {
    fact: String,
    asked: LoadStatement,
    /// Its plan under the statistics as they are.
    plan: String,
    tables: Vec<String>,
}

fn statements(plan: &Plan, station: &Station) -> Result<Vec<Statement>, LabError> {
    let facts = &station.environment;
    let tables = tables::noted_tables(facts);
    let mut found = Vec::new();
    for label in plan.labels() {
        if planned::dataset_of_step(plan, label).is_some() {
            continue;
        }
        let all = plans::statements(&planned::planned_load(plan, label)?, station.dialect);
        for (at, asked) in all.into_iter().enumerate() {
            let place = format!("{label}].{}", at + 1);
            let shape = facts.get(&format!("plan[{place}"));
            if shape.is_empty() {
                continue;
            }
            let plan = named(shape, facts.get(&format!("bounds[{place}")));
            let tables = tables
                .iter()
                .filter(|table| tables::has_word(&asked.sql, table))
                .cloned()
                .collect();
            found.push(Statement { fact: format!("samples[{place}"), asked, plan, tables });
        }
    }
    Ok(found)
}

/// A plan by its shape and its bounds.
fn named(shape: &str, bounds: &str) -> String {
    if bounds.is_empty() { shape.to_owned() } else { format!("{shape} | {bounds}") }
}

fn sampled(
    arm: ArmIndex,
    station: &Station,
    statements: &[Statement],
    samples: u32,
    stop: &AtomicBool,
) -> Result<Vec<Option<SampledPlans>>, LabError> {
    let refused = |error: WireError| LabError::Server(arm, "ANALYZE".to_owned(), error);
    let mut client = station.connector.connect_for_work().map_err(refused)?;
    let mut tables: Vec<&String> = statements.iter().flat_map(|one| &one.tables).collect();
    tables.sort();
    tables.dedup();
    let mut seen: Vec<Vec<(String, u64)>> = statements.iter().map(|_| Vec::new()).collect();
    for _ in 0..samples {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::Load(arm, "ANALYZE".to_owned(), LoadError::Interrupted));
        }
        for table in &tables {
            sample_statistics(&mut *client, station.dialect, table).map_err(refused)?;
        }
        for (statement, seen) in statements.iter().zip(&mut seen) {
            let planned = plans::plan(&mut *client, station.dialect, &statement.asked);
            seen.extend(planned.map(|planned| {
                let bounds = planned.bounds.unwrap_or_default();
                (named(&planned.shape, &bounds), planned.rows)
            }));
        }
    }
    client.close();
    Ok(statements.iter().zip(seen).map(|(one, seen)| sampled_plans(&one.plan, &seen)).collect())
}
