//! What is true of an arm, as flat facts that can be compared line by line.
//!
//! ```text
//!   when         what                                          names
//!   it is up     version, settings, build                      server. variable. neutral. …
//!                its process, limits, allocator, disk          process.
//!   it is full   tables: kind, indexes, rows, sum, size        table. data.
//!                plan, its bounds and the answer of every      plan[LOAD]. bounds[…] estimate[…]
//!                statement; what led to the plan, and how      result[…] decisions[…]
//!                wrong its estimates are                       q_error[…] q_reads[…]
//!                the prices of its optimizer, what it knows    cost. data.TABLE.histograms
//!                of columns, and the best plan not taken       histograms[…] runner_up[…]
//!   all are      what brings the plan of base back, and what   plan_cause[…] samples[…]
//!                fresh samples of statistics make of plans
//!   each cell    debt at its beginning, log, fsyncs, pages,    step[LOAD at N clients].
//!                plans that are others than when it was full
//! ```
//!
//! What is different in every instance by nature is replaced by a word, so that equal arms compare
//! equal. What cannot be observed is left out; `dbdyno_audit` says what an inequality means.

mod bounds;
mod causes;
mod error_log;
mod facts;
mod flips;
mod histograms;
mod locks;
mod measured_plans;
mod misestimate;
mod plans;
mod runner_up;
mod server_work;
mod tables;

use dbdyno_load::Connector;
use dbdyno_model::{Environment, Plan};
use dbdyno_probe::ServerProbe;
use dbdyno_server::note_prices;

use crate::arm::Station;
use crate::error::LabError;
use dbdyno_workload::planned::{self, datasets_of};

pub(crate) use causes::{Loan, look_for_causes};
pub(crate) use facts::{Observer, RoundWork};
pub(crate) use flips::look_for_flips;
pub use locks::{blockers_of, deadlocks_of};
pub(crate) use measured_plans::note_measured_plans;
pub(crate) use server_work::Meter;

/// Facts that begin so are about a cell that was measured.
pub(crate) const STEP: &str = "step[";
/// Facts that begin so are made anew with each data directory, or are different in each start.
pub(crate) const OF_THE_MOMENT: [&str; 13] = [
    STEP,
    "estimate[",
    "decisions[",
    "q_error[",
    "q_reads[",
    "plan_cause[",
    "histograms[",
    "runner_up[",
    "samples[",
    "data.",
    "process.pid",
    "topology.delay_out_",
    "topology.delay_back_",
];

/// Notes under which conditions the process of an arm lives.
pub(crate) fn note_process(
    probe: &ServerProbe,
    instance: &[(String, &str)],
    environment: &mut Environment,
) {
    for (name, value) in probe.process_facts() {
        environment.set(name, dbdyno_server::without_instance(&value, instance));
    }
}

/// Notes what the tables of an arm are, and how the loads of the plan are answered. Tables that an
/// arm shares are those of `shared`.
///
/// # Errors
/// Loads that cannot be resolved. A question that a server refuses leaves its facts out.
pub(crate) fn note_tables_and_loads(
    plan: &Plan,
    station: &mut Station,
    shared: Option<Environment>,
) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    let facts = match shared {
        Some(shared) => shared,
        None => looked_at(plan, station, &datasets)?,
    };
    for (name, value) in facts.facts {
        station.environment.facts.entry(name).or_insert(value);
    }
    Ok(())
}

fn looked_at(
    plan: &Plan,
    station: &Station,
    datasets: &[std::sync::Arc<dyn dbdyno_workload::Dataset>],
) -> Result<Environment, LabError> {
    let mut facts = Environment::default();
    let Ok(mut client) = station.connector.connect() else { return Ok(facts) };
    // Statements are planned as those of the load, and the rest is looked at by a session that
    // calls nothing of anybody else.
    let Ok(mut onlooker) = station.connector.open_onlooker() else { return Ok(facts) };
    for dataset in datasets {
        tables::note_tables(&mut onlooker, station.dialect, &**dataset, &mut facts);
    }
    note_prices(&mut *onlooker.client, onlooker.server, &mut facts);
    let known = histograms::column_histograms(&mut onlooker);
    for label in plan.labels() {
        if planned::dataset_of_step(plan, label).is_none() {
            let load = planned::planned_load(plan, label)?;
            plans::note_plans(&mut *client, station.dialect, label, &load, &mut facts);
            let statements = plans::statements(&load, station.dialect);
            let statements: Vec<String> = statements.into_iter().map(|one| one.sql).collect();
            tables::look_at_others(&mut onlooker, station.dialect, &statements, &mut facts);
            if let Some(known) = &known {
                histograms::look_at_statements(known, label, &statements, &mut facts);
            }
        }
    }
    if let Some(known) = &known {
        histograms::look_at_tables(known, station.dialect, &mut facts);
    }
    onlooker.client.close();
    client.close();
    leave_out_password(&station.connector, &mut facts);
    Ok(facts)
}

/// Leaves out what a server repeats of the password with which it is asked.
pub(crate) fn leave_out_password(connector: &Connector, environment: &mut Environment) {
    if let Connector::Mysql(endpoint) | Connector::Postgres(endpoint) = connector {
        dbdyno_server::hide_password(&endpoint.password, environment);
    }
}
