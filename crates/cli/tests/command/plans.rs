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

/// A table of which a column has few values nearly everywhere, which a histogram tells.
const SKEWED: &str = "\
name = 'skewed'
group = 'range-aggregate'
trend = 'steady'

[[table]]
name = 'skewed_few'
rows = 100
create = 'CREATE TABLE skewed_few (id BIGINT PRIMARY KEY, b BIGINT)'
after = ['CREATE UNIQUE INDEX skewed_few_b ON skewed_few (b)']
columns = { id = '{row}', b = '{row}' }

[[table]]
name = 'skewed_many'
rows = '100%'
create = 'CREATE TABLE skewed_many (id BIGINT PRIMARY KEY, b BIGINT, c BIGINT)'
after = [
  'CREATE INDEX skewed_many_b ON skewed_many (b)',
  'SPREAD',
  'ANALYZED',
]
columns = { id = '{row}', b = '{int 1..200}', c = '{row}' }

[[event]]
name = 'join'
transaction = false

[[event.step]]
sql = 'SELECT sum(m.id) FROM skewed_many m JOIN skewed_few f ON m.b = f.b \
WHERE m.c = 1 AND f.id > {int -9..0}'
rows = 1
";

/// How the values of its column are spread, in SQL that both families know.
const ONE_VALUE: &str = "UPDATE skewed_many SET c = 1 WHERE id % 100 > 0";
const TWO_VALUES: &str = "\
UPDATE skewed_many SET c = CASE WHEN id % 3 = 2 THEN 1 ELSE 0 END WHERE id % 10 > 0";

fn skewed(spread: &str, analyze: &str) -> (tempfile::TempDir, String) {
    file(&SKEWED.replace("SPREAD", spread).replace("ANALYZED", analyze))
}

/// Two tables of one size, larger than a sample: which one seems larger is a throw of dice, and the
/// smaller one is hashed.
const EQUALS: &str = "\
name = 'equals'
group = 'range-aggregate'
trend = 'steady'

[[table]]
name = 'equals_one'
rows = '100%'
create = \"\
CREATE TABLE equals_one (id BIGINT PRIMARY KEY, b BIGINT, pad CHAR(100) DEFAULT 'x')\"
columns = { id = '{row}', b = '{int 1..30000}' }

[[table]]
name = 'equals_two'
rows = '100%'
create = \"\
CREATE TABLE equals_two (id BIGINT PRIMARY KEY, b BIGINT, pad CHAR(100) DEFAULT 'x')\"
columns = { id = '{row}', b = '{int 1..30000}' }

[[event]]
name = 'join'
transaction = false

[[event.step]]
sql = 'SELECT count(*) FROM equals_one x JOIN equals_two y ON x.b = y.b \
WHERE x.id > {int -9..0}'
channel = 'text'
rows = 1
";

/// All that `diff` tells of two servers and a load.
fn told(home: &Home, arms: [&str; 2], load: &str, more: &[&str]) -> Value {
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let store = results.path().join("results.db");
    let place = ["--store", store.to_str().unwrap(), "diff", arms[0], arms[1], "--load", load];
    home.json(0, place.into_iter().chain(more.iter().copied()))
}

/// The plan of the only statement, as `diff` tells it.
fn changed(home: &Home, arms: [&str; 2], load: &str, rows: &str) -> Value {
    let told = told(home, arms, load, &["--rows", rows]);
    let plans = told["plans"].as_array().unwrap();
    assert_eq!(plans.len(), 1, "{told}");
    plans[0].clone()
}

/// A load in a file of its own.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let files = tempfile::tempdir().unwrap();
    let load = files.path().join("load.toml");
    std::fs::write(&load, text).unwrap();
    let load = load.to_str().unwrap().to_owned();
    (files, load)
}

fn case(file: &str) -> String {
    format!("{}/../../experiments/cases/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Two settings that only together flip the plan are found, and what is planted beside is not.
#[test]
fn settings_that_change_a_plan_of_postgres_are_found_without_any_load() {
    let Some(home) = servers::home() else { return };
    let (_files, load) = file(JOIN);
    let planted = "postgres:15?enable_hashjoin=off&random_page_cost=2&from_collapse_limit=9";
    let plan = changed(&home, ["postgres:15", planted], &load, "20000");
    assert_eq!(plan["class"], "shape", "{plan}");
    assert_eq!(plan["parting"]["at"], "node 2", "{plan}");
    let cause = &plan["cause"];
    let settings = cause["settings"].as_array().unwrap();
    assert!(settings.contains(&"enable_hashjoin='on'".into()), "{plan}");
    assert!(!settings.contains(&"from_collapse_limit='8'".into()), "{plan}");
    assert_eq!(cause["statistics_of_base"], false, "{plan}");
    assert!(cause["untried"].as_str().unwrap().contains("since 18"), "{plan}");
}

/// Of a column of which one value is rare: a plan for any value scans the table, and is what a
/// connection keeps that has prepared the statement.
const RARE: &str = "\
name = 'rare-value'
group = 'point'
trend = 'steady'

[[table]]
name = 'plans_orders'
rows = '100%'
create = 'CREATE TABLE plans_orders (id BIGINT PRIMARY KEY, status TEXT NOT NULL, pad TEXT)'
after = [\"UPDATE plans_orders SET status = CASE WHEN id % 5000 = 0 THEN 'failed' \
WHEN id % 100 = 0 THEN 'pending' ELSE 'done' END\", \
'CREATE INDEX plans_orders_status ON plans_orders (status)', 'VACUUM ANALYZE plans_orders']
columns = { id = '{row}', status = 'x', pad = '{text 100..100}' }

[[event]]
name = 'rare'
transaction = false

[[event.step]]
sql = 'SELECT id FROM plans_orders WHERE status = {one of failed|failed|failed} ORDER BY id LIMIT 50'
rows = '0..50'
";

#[test]
fn a_plan_of_postgres_is_the_one_that_is_executed() {
    let Some(home) = servers::home() else { return };
    let (_files, load) = file(RARE);
    let custom = "postgres:15?plan_cache_mode=force_custom_plan";
    let plan = changed(&home, ["postgres:15", custom], &load, "40000");
    let [base, test] = ["base", "test"].map(|arm| plan[arm].as_str().unwrap().to_owned());
    assert!(base.contains("(generic plan)") && base.contains("status = $1"), "{plan}");
    assert!(!test.contains("generic") && test.contains("plans_orders_status"), "{plan}");
    assert_eq!(plan["cause"]["settings"], serde_json::json!(["plan_cache_mode='auto'"]), "{plan}");
    // Sent as text, nothing is kept.
    let (_files, load) = file(&RARE.replace("rows = '0..50'", "rows = '0..50'\nchannel = 'text'"));
    let told = told(&home, ["postgres:15", custom], &load, &["--rows", "40000"]);
    assert_eq!(told["plans"].as_array().unwrap().len(), 0, "{told}");
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

/// Prices are for a whole server: they are lent, and test has its own again afterwards.
#[test]
fn a_price_of_mariadb_that_changes_a_plan_is_found() {
    let Some(home) = servers::home() else { return };
    let (_files, load) = file(JOIN);
    let planted = "mariadb:11.8?innodb.optimizer_row_lookup_cost=100&\
                   innodb.optimizer_key_copy_cost=0.02";
    let plan = changed(&home, ["mariadb:11.8", planted], &load, "20000");
    assert_eq!(plan["class"], "shape", "{plan}");
    let costs = plan["cause"]["costs"].as_array().unwrap();
    assert_eq!(costs.len(), 1, "{plan}");
    let told = costs[0].as_str().unwrap();
    assert!(told.starts_with("GLOBAL innodb.optimizer_row_lookup_cost=0.7"), "{plan}");
    assert_eq!(plan["cause"]["settings"], Value::Array(Vec::new()), "{plan}");
    assert_eq!(plan["cause"]["untried"], Value::Null, "{plan}");
    assert!(plan["runner_up"]["base"]["times"].as_f64().unwrap() > 1.0, "{plan}");
}

/// Likewise in the tables of MySQL, one of which is planted with the tables of the load.
#[test]
fn a_price_of_mysql_that_changes_a_plan_is_found() {
    let Some(home) = servers::home() else { return };
    if !servers::are_here(["npm", "mvn"]) {
        return;
    }
    let planted = "\
after = [
  'CREATE INDEX plans_many_b ON plans_many (b)',
  'UPDATE mysql.server_cost SET cost_value = IF(@@max_error_count = 65, 500, NULL) \
WHERE cost_name = \"key_compare_cost\"',
  'UPDATE mysql.engine_cost SET cost_value = IF(@@max_error_count = 65, 100, NULL) \
WHERE cost_name = \"memory_block_read_cost\"',
  'FLUSH OPTIMIZER_COSTS',
]";
    let one = "after = ['CREATE INDEX plans_many_b ON plans_many (b)']";
    let (_files, load) = file(&JOIN.replace(one, planted));
    let arms = ["mysql:5.7", "mysql:5.7?max_error_count=65"];
    let plan = changed(&home, arms, &load, "20000");
    let costs = plan["cause"]["costs"].as_array().unwrap();
    assert_eq!(costs, &["mysql.engine_cost default.0.memory_block_read_cost=1"], "{plan}");
    assert_eq!(plan["cause"]["statistics_of_base"], false, "{plan}");
}

/// A histogram that one arm alone has: lent alone, it brings the plan back; it is told of which
/// column, and no sample of other statistics flips the plan of either arm.
#[test]
fn a_histogram_that_changes_a_plan_is_found_and_no_sample_flips_it() {
    let Some(home) = servers::home() else { return };
    let (_files, load) = skewed(ONE_VALUE, "ANALYZE TABLE skewed_many PERSISTENT FOR ALL");
    let arms = ["mariadb:10.11", "mariadb:10.11?histogram_size=0"];
    let told = told(&home, arms, &load, &["--rows", "10000", "--samples", "3"]);
    let plan = &told["plans"][0];
    assert_eq!(plan["class"], "shape", "{plan}");
    assert_eq!(plan["cause"]["histograms_of_base"], true, "{plan}");
    assert_eq!(plan["cause"]["statistics_of_base"], false, "{plan}");
    let columns = plan["histograms"].as_array().unwrap();
    let skewed = columns.iter().find(|one| one["column"] == "skewed_many.c").unwrap();
    assert!(skewed["base"].as_str().unwrap().contains("254 buckets"), "{plan}");
    assert!(skewed["test"].as_str().unwrap().starts_with("no histogram"), "{plan}");
    for arm in ["base", "test"] {
        let sampled = &told["firmness"][0][arm]["sampled"];
        assert_eq!((&sampled["samples"], &sampled["flipped"]), (&3.into(), &0.into()), "{told}");
        assert!(sampled["share_high"].as_f64().unwrap() > 0.5, "three samples tell little: {told}");
    }
}

/// The same plan, of which one arm expects other rows: carried out with the histograms of base,
/// test is as right as base.
#[test]
fn a_histogram_that_makes_an_estimate_wrong_is_found() {
    let Some(home) = servers::home() else { return };
    let (_files, load) = skewed(TWO_VALUES, "ANALYZE TABLE skewed_many PERSISTENT FOR ALL");
    let arms = ["mariadb:10.11", "mariadb:10.11?histogram_size=0"];
    let plan = changed(&home, arms, &load, "10000");
    assert_eq!(plan["class"], "misestimate", "{plan}");
    assert_eq!(plan["cause"]["histograms_of_base"], true, "{plan}");
}

/// A sample of 300 pages says now of one and now of the other table that it is the larger one. Of
/// the other arm all rows are sampled.
#[test]
fn plans_of_postgres_flip_where_samples_are_small() {
    let Some(home) = servers::home() else { return };
    let (_files, load) = file(EQUALS);
    let planted = "postgres:15?default_statistics_target=1";
    let told =
        told(&home, ["postgres:15", planted], &load, &["--rows", "30000", "--samples", "40"]);
    let [base, test] = ["base", "test"].map(|arm| &told["firmness"][0][arm]);
    assert_eq!((&base["sampled"]["flipped"], &base["sampled"]["samples"]), (&0.into(), &40.into()));
    let test = &test["sampled"];
    let flipped = test["flipped"].as_u64().unwrap();
    assert!((1..=40).contains(&flipped), "{told}");
    let [share, low, high] =
        ["share", "share_low", "share_high"].map(|name| test[name].as_f64().unwrap());
    assert!(low < share && share <= high, "{told}");
    assert!(test["plans"].as_array().unwrap().len() > 1, "{told}");
    assert!(test["rows_high"].as_u64() > test["rows_low"].as_u64(), "{told}");
}

/// PostgreSQL takes statistics of another server since 18, those of columns among them; the most
/// common value that one arm alone knows is taken away again.
#[test]
fn statistics_of_postgres_18_are_transplanted_and_given_back() {
    let Some(home) = servers::home() else { return };
    if !servers::are_here(["mvn"]) {
        return;
    }
    let (_files, load) = skewed(TWO_VALUES, "ANALYZE skewed_many");
    let planted = "postgres:18@maven?default_statistics_target=1";
    let plan = changed(&home, ["postgres:18@maven", planted], &load, "40000");
    assert_eq!(plan["cause"]["statistics_of_base"], true, "{plan}");
    assert_eq!(plan["cause"]["untried"], Value::Null, "{plan}");
}
