//! Plans that were made to change on real servers: in what, where the optimizers part, and what
//! brings the plan of base back. Nothing is measured.

use serde_json::Value;

use crate::common::{Home, turn};
use crate::servers;

/// A join of a small and a large table, in SQL that both families know.
const JOIN: &str = "\
name = 'few-and-many'
group = 'range-aggregate'
trend = 'steady'

[[table]]
name = 'plans_few'
rows = 100
create = 'CREATE TABLE plans_few (id BIGINT PRIMARY KEY, b BIGINT, c BIGINT)'
columns = { id = '{row}', b = '{row}', c = '{row}' }

[[table]]
name = 'plans_many'
rows = '100%'
create = 'CREATE TABLE plans_many (id BIGINT PRIMARY KEY, b BIGINT, d BIGINT)'
after = ['CREATE INDEX plans_many_b ON plans_many (b)']
columns = { id = '{row}', b = '{int 1..200}', d = '{int 1..1000}' }

[[event]]
name = 'join'
transaction = false

[[event.step]]
sql = 'SELECT sum(m.d) FROM plans_many m JOIN plans_few f ON m.b = f.b WHERE f.c <> {int -9..0}'
rows = 1
";

/// The plan of the only statement, as `diff` tells it.
fn changed(home: &Home, arms: [&str; 2], load: &str, rows: &str) -> Value {
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let store = results.path().join("results.db");
    let place = ["--store", store.to_str().unwrap(), "diff", arms[0], arms[1]];
    let told = home.json(0, place.into_iter().chain(["--load", load, "--rows", rows]));
    let plans = told["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 1, "{told}");
    plans[0].clone()
}

fn case(file: &str) -> String {
    format!("{}/../../experiments/cases/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Two settings that only together flip the plan are found, and what is planted beside is not.
#[test]
fn settings_that_change_a_plan_of_postgres_are_found_without_any_load() {
    let Some(home) = servers::home() else { return };
    let files = tempfile::tempdir().unwrap();
    let load = files.path().join("join.toml");
    std::fs::write(&load, JOIN).unwrap();
    let planted = "postgres:15?enable_hashjoin=off&random_page_cost=2&from_collapse_limit=9";
    let load = load.to_str().unwrap();
    let plan = changed(&home, ["postgres:15", planted], load, "20000");
    assert_eq!(plan["class"], "shape", "{plan}");
    assert_eq!(plan["parting"]["at"], "node 2", "{plan}");
    let cause = &plan["cause"];
    let settings = cause["settings"].as_array().unwrap();
    assert!(settings.contains(&"enable_hashjoin='on'".into()), "{plan}");
    assert!(!settings.contains(&"from_collapse_limit='8'".into()), "{plan}");
    assert_eq!(cause["statistics_of_base"], false, "{plan}");
    assert!(cause["untried"].as_str().unwrap().contains("since 18"), "{plan}");
}

/// What is told of stale statistics: that they are it, where it shows, and how wrong they are.
#[test]
fn stale_statistics_of_mariadb_are_told_from_its_code() {
    let Some(home) = servers::home() else { return };
    let load = case("stale-statistics.load.toml");
    let stale = "mariadb:10.11?innodb_stats_auto_recalc=OFF";
    let plan = changed(&home, ["mariadb:10.11", stale], &load, "5000");
    assert_eq!(plan["parting"]["at"], "access of t2 after t1: ref by stale_in_b", "{plan}");
    assert_eq!(plan["cause"]["settings"], Value::Array(Vec::new()), "{plan}");
    assert_eq!(plan["cause"]["statistics_of_base"], true, "{plan}");
    assert_eq!(plan["cause"]["untried"], Value::Null, "{plan}");
    assert!(plan["test"].as_str().unwrap().contains("q-error"), "{plan}");
}

/// The canary: of two equal servers no plan is told.
#[test]
fn plans_of_equal_servers_are_equal() {
    let Some(home) = servers::home() else { return };
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let store = results.path().join("results.db");
    let place = ["--store", store.to_str().unwrap(), "diff", "mariadb:10.11", "mariadb:10.11"];
    let load = case("stale-statistics.load.toml");
    let told = home.json(0, place.into_iter().chain(["--load", &load, "--rows", "5000"]));
    assert_eq!(told["plans"], Value::Array(Vec::new()), "{told}");
}
