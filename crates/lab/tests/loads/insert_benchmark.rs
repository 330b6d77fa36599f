//! The ten steps of the Insert Benchmark in two places: the same rows after each of those that
//! write so many, and queries that find some in the others.

use std::sync::Arc;
use std::time::Duration;

use dbdyno_load::crew::{Conditions, Crew, CrewMeasured, TimedRound};
use dbdyno_model::Processors;
use dbdyno_workload::insert_benchmark::{
    BenchmarkStep, Class, ConnectionRole, LOAD_STEPS, RolePart, Sizes, Work, expand_benchmark, sql,
};
use dbdyno_workload::{Content, Load, ReadyLoad};

use super::place::{GO_ON, Place, difference, home, turn};

const SIZE: &str = "insert-benchmark?nr1=2000&nr2=1000";
const SEED: u64 = 5;
const CLIENTS: u32 = 2;
const FREE: Conditions<'_> = Conditions { slow: 0.0, processors: Processors::ANY, stop: &GO_ON };

fn scripts(step: BenchmarkStep, sizes: &Sizes, place: &Place) -> Vec<(ConnectionRole, ReadyLoad)> {
    let part = RolePart::of_foreground(step, sizes, CLIENTS, SEED);
    let ready = |role| {
        let content = Content::Dialogue(Arc::new(RolePart { role, ..part.clone() }));
        let load = Load { content, ..step.load(sizes, CLIENTS, SEED) };
        (role, ReadyLoad::compile(&load, place.dialect).unwrap())
    };
    RolePart::step_roles(step, sizes, place.dialect).into_iter().map(ready).collect()
}

/// Carries out a step; query steps go on from insert to insert.
fn step(step: BenchmarkStep, sizes: &Sizes, place: &Place, next: &mut Vec<u64>) -> CrewMeasured {
    let scripts = scripts(step, sizes, place);
    let named = |error| -> CrewMeasured { panic!("{} on {}: {error}", step.name(), place.name) };
    let work = step.planned_work(sizes);
    let first = match work {
        Work::QueriesAtRate(_) => next.clone(),
        Work::Commits(_) | Work::Indexes => vec![0; CLIENTS as usize],
    };
    let mut crew = Crew::open(&place.connector, &scripts, &first).unwrap();
    let quiet = &mut |_| {};
    let measured = match work {
        Work::Commits(commits) => crew.run_commits(commits, &FREE, quiet),
        Work::Indexes => {
            let scripts = (0..CLIENTS).map(|client| sql::indexes(place.dialect, client));
            crew.run_scripts(&scripts.collect::<Vec<_>>(), &FREE, quiet)
        }
        Work::QueriesAtRate(rate) => {
            let (lead_in, window) = (Duration::from_millis(50), Duration::from_millis(400));
            let rows_per_commit = step.rows_per_commit();
            let timed = TimedRound { rate, rows_per_commit, first_query: 0, lead_in, window };
            crew.run_timed(&timed, &FREE, quiet)
        }
    };
    if let Work::QueriesAtRate(_) = work {
        *next = crew.next_commits();
    }
    measured.unwrap_or_else(named)
}

/// The rows of each client without their ids, of which PostgreSQL sets some aside and throws them
/// away.
fn content(sizes: &Sizes, place: &Place) -> Vec<String> {
    let dataset = LOAD_STEPS[0].load(sizes, CLIENTS, SEED).dataset;
    let tables = dataset.tables(place.dialect).into_iter();
    let of_table = |table: dbdyno_workload::TableScript| {
        let mut columns = table.columns;
        columns.retain(|column| column != "transactionid");
        place.content(&table.name, &columns)
    };
    tables.flat_map(of_table).collect()
}

/// Carries out all steps in both places and compares what they leave.
fn ten_steps(places: [Place; 2]) {
    let (stages, sizes) = expand_benchmark(SIZE).unwrap().unwrap();
    let steps = BenchmarkStep::all_in_order(&sizes);
    assert_eq!(stages.iter().filter_map(dbdyno_model::Stage::measured_label).count(), steps.len());
    for place in &places {
        place.fill(&*steps[0].load(&sizes, CLIENTS, SEED).dataset);
    }
    let mut next = [vec![0; CLIENTS as usize], vec![0; CLIENTS as usize]];
    for &one in &steps {
        let measured = [0, 1].map(|index| step(one, &sizes, &places[index], &mut next[index]));
        if LOAD_STEPS.contains(&one) {
            let [rows, others] = places.each_ref().map(|place| content(&sizes, place));
            assert_eq!(difference(&rows, &others), None, "after {}", one.name());
            let counts =
                |m: &CrewMeasured| [Class::Insert, Class::Delete].map(|c| m.turns_of(c).count);
            let [count, other] = measured.each_ref().map(counts);
            assert_eq!(count, other, "{}", one.name());
            continue;
        }
        for (measured, place) in measured.iter().zip(&places) {
            let found = measured.turns_of(Class::Query).count > 0 && measured.rows_read > 0;
            assert!(found, "{} on {}: {measured:?}", one.name(), place.name);
        }
    }
    places.into_iter().for_each(Place::stop);
}

#[test]
fn the_ten_steps_leave_the_same_rows_on_mariadb_and_on_postgres() {
    let Some(home) = home() else { return };
    let _turn = turn();
    ten_steps(Place::servers(&home));
}

#[test]
fn the_ten_steps_leave_the_same_rows_on_the_engine_and_on_sqlite() {
    let _turn = turn();
    ten_steps(Place::embedded());
}
