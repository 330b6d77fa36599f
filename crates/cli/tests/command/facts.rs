//! What servers tell of their own work, and of deadlocks.

use std::path::Path;

use dbdyno_model::metric_lessons::find_lessons;
use dbdyno_model::server_facts::{FACTS, FactPlace, STATEMENTS, fact_reading, release_number};
use dbdyno_model::{Arm, ArmIndex, Product, Run};
use dbdyno_server::{FactReader, ServerRelease};
use dbdyno_store::Store;

use crate::common::{Home, turn};
use crate::servers;

/// Facts that depend on instruments which servers do not have on by themselves.
const MAY_BE_OFF: [&str; 2] = ["file_wait_ms", "latch_wait_ms"];

/// Each fact that the table has for a release is told by it in every round.
pub(crate) fn are_told(store: &Path, products: [Product; 2], versions: [&str; 2]) {
    let run = last_run(store);
    for (arm, (product, version)) in Arm::BOTH.into_iter().zip(products.into_iter().zip(versions)) {
        let release = release_number(version);
        for fact in FACTS {
            let is_told =
                fact.place_in(product, release).is_some() && !MAY_BE_OFF.contains(&fact.name);
            let rounds = run.rounds.iter().filter(|round| round.key.arm == arm.into() && is_told);
            for round in rounds {
                let seen = round.readings.get(&fact.reading_name());
                let what = format!("{} of {version} in {}", fact.name, round.key.cell);
                assert!(seen.is_some(), "{what} is not told");
                assert!(seen.unwrap() >= 0.0, "{what}: {seen:?}");
            }
        }
        for round in run.rounds.iter().filter(|round| round.key.arm == arm.into()) {
            let counted = round.readings.get(&fact_reading("statements")).unwrap_or(0.0);
            assert!(counted > 0.0, "{version} counts no statements in {}", round.key.cell);
        }
    }
}

fn last_run(store: &Path) -> Run {
    let store = Store::open(store).unwrap();
    store.load(&store.resolve_run("@last").unwrap()).unwrap()
}

/// What is not there to be told: no standby follows these servers.
const NOTHING_THERE: [&str; 1] = ["standby_behind_bytes"];

/// Each metric of the dictionary that a release is said to have is told by it, and is no negative
/// number.
fn metrics_are_told(releases: &[(Product, &str)]) {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let mut missing = Vec::new();
    for &(product, version) in releases {
        let server = servers::Running::start(&home, product, version);
        let mut client = server.connect(&server.own_database());
        // PostgreSQL adds up over tables and indexes, of which there are none in the beginning.
        client.run("CREATE TABLE row_of_one (id INT PRIMARY KEY)").unwrap();
        let told = ServerRelease::of_version(client.server_version(), product.dialect());
        let values = FactReader::for_live_view(told).read(&mut *client);
        for fact in find_lessons(None).into_iter().map(|lesson| lesson.server_fact()) {
            let elsewhere = [FactPlace::Clients, FactPlace::ErrorLog];
            let place = fact.place_in(product, told.version_number());
            let is_told = place.is_some_and(|place| !elsewhere.contains(&place))
                && !MAY_BE_OFF.contains(&fact.name)
                && !NOTHING_THERE.contains(&fact.name);
            let value = values.get(fact.name);
            // Connections are taken off, and not all of them ask something.
            let least = if fact.name == STATEMENTS { f64::MIN } else { 0.0 };
            if is_told && value.is_none_or(|value| *value < least) {
                missing.push(format!("{} of {product:?} {version}: {value:?}", fact.name));
            }
        }
        drop(client);
        server.stop();
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn metrics_of_the_dictionary_are_told_by_servers() {
    metrics_are_told(&[(Product::MariaDb, "10.11"), (Product::Postgres, "15")]);
}

#[test]
#[ignore = "soak: MySQL is downloaded, and each boundary between releases takes two servers"]
fn metrics_of_the_dictionary_are_told_by_releases_at_each_boundary() {
    metrics_are_told(&[
        (Product::MySql, "5.7"),
        (Product::MySql, "8.0"),
        (Product::MySql, "9.7"),
        (Product::MariaDb, "11.8"),
        (Product::Postgres, "13"),
        (Product::Postgres, "17"),
    ]);
}

const TRANSFER: &str = r#"
name = "transfer"
group = "write"
transaction = true

[[table]]
name = "account"
rows = 4
create = "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)"
columns = { id = "{row}", balance = "0" }

[[step]]
sql = "UPDATE account SET balance = balance + 1 WHERE id = {int 1..4}"
changed = 1

[[step]]
sql = "UPDATE account SET balance = balance - 1 WHERE id = {int 1..4}"
changed = 1
"#;

/// Clients that lock rows in any order, on a server that logs each deadlock because it was told to
/// and on one that always does. PostgreSQL looks for a deadlock after `deadlock_timeout`, 1 s as it
/// comes, and a session tells its counts at most once a second: the round is three of these long.
#[test]
fn every_deadlock_of_both_families_is_in_a_cluster_of_its_cell() {
    let Some(home) = servers::home() else { return };
    let (_turn, store) = (turn(), servers::Store::new());
    let directory = tempfile::tempdir().unwrap();
    let load = directory.path().join("transfer.load.toml");
    std::fs::write(&load, TRANSFER).unwrap();
    let base = "mariadb:10.11?innodb_print_all_deadlocks=ON";
    let test = "postgres:15?deadlock_timeout=20ms";
    let words = "--quick --seconds 3 --warm-up 0.2 --rounds 1 --clients 6 --restarts 0 --load";
    let words = words.split(' ').chain(load.to_str());
    let args: Vec<&str> = ["compare", base, test].into_iter().chain(words).collect();
    let done = crate::common::finish(store.command(&home, &args));
    assert_eq!(done.code, 3, "{done:?}");
    let run = last_run(&store.path());
    for arm in Arm::BOTH {
        let of_arm = run.rounds.iter().filter(|round| round.key.arm == arm.into());
        let counted: f64 = of_arm.filter_map(|round| round.readings.get("server.deadlocks")).sum();
        let clusters: Vec<(&String, u64)> = run.environment[arm.into()]
            .facts
            .iter()
            .filter(|(name, _)| name.contains(".deadlock["))
            .map(|(name, count)| (name, count.parse().unwrap()))
            .collect();
        assert!(counted > 0.0, "{arm}: six clients with four rows: {done:?}");
        let told: u64 = clusters.iter().map(|(_, count)| count).sum();
        assert!(told as f64 >= counted, "{arm} told {told} of {counted}: {clusters:?}");
        let update = "UPDATE account SET balance = balance + ? WHERE id = ?";
        let other = "UPDATE account SET balance = balance - ? WHERE id = ?";
        let is_ours = |name: &str| name.contains(update) || name.contains(other);
        assert!(clusters.iter().all(|(name, _)| is_ours(name)), "{clusters:?}");
    }
    let table = "of table dbdyno.account";
    let names = run.environment[ArmIndex::BASE].facts.keys();
    assert!(
        names.into_iter().any(|name| name.contains(table)),
        "{:?}",
        run.environment[ArmIndex::BASE]
    );
}

/// The logs of real servers that the parser is tested on.
#[test]
fn deadlocks_of_logs_are_clustered_by_the_command() {
    let home = Home::new();
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../explain/tests/deadlocks");
    let log = |name: &str| logs.join(name).to_str().unwrap().to_owned();
    let files = [log("mysql-5.6.24.log"), log("postgres-15.20.log")];
    let told = home.json(0, ["deadlocks".to_owned()].into_iter().chain(files.clone()));
    assert_eq!((&told["schema"], &told["deadlocks"]), (&1.into(), &8.into()), "{told}");
    let counts: Vec<u64> = told["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cluster| cluster["count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [3, 3, 1, 1], "{told}");
    let text = home.dbdyno(["deadlocks", &files[0]]).out;
    assert!(text.starts_with("4 deadlocks of 2 kinds\n"), "{text}");
    assert!(text.contains("waits for index PRIMARY of table dbdyno.stock: X"), "{text}");
    let twice =
        home.dbdyno(["deadlocks", &log("mysql-8.0.33.status"), &log("mysql-8.0.33.status")]);
    assert!(twice.out.contains("1 deadlock is shown 2 times, and counts once"), "{twice:?}");
    // Of the first deadlock of PostgreSQL's log the second wait is cut off.
    let whole = std::fs::read_to_string(&files[1]).unwrap();
    let waits = whole.split("\tProcess ").next().unwrap();
    let cut = home.path().join("cut.log");
    std::fs::write(
        &cut,
        format!(
            "{waits}\tProcess 7 waits for ShareLock on transaction 8; blocked by process 5758.\n"
        ),
    )
    .unwrap();
    let told = home.json(0, ["deadlocks", cut.to_str().unwrap()]);
    let part = &told["inputs"][0]["in_part"][0];
    assert!(part["line"].is_u64() && part["missing"].is_string(), "{told}");
    let text = home.dbdyno(["deadlocks", cut.to_str().unwrap()]).out;
    assert!(text.contains("a deadlock is told in part; not told is"), "{text}");
    assert!(text.contains("waits for a lock that is not told"), "{text}");
    let missing = home.dbdyno(["deadlocks", "/nowhere/error.log"]);
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(missing.err.contains("could not read /nowhere/error.log"), "{missing:?}");
    let empty = home.dbdyno(["deadlocks", "/dev/null"]);
    assert_eq!((empty.code, empty.out.as_str()), (2, ""), "{empty:?}");
    assert!(empty.err.contains("none of its 0 lines is of a log"), "{empty:?}");
}
