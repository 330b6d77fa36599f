//! What is left alone on a server that is not ours: tables that were there, and settings, also when
//! the run is interrupted at the worst moment.

use std::process::Stdio;

use dbdyno_model::Product;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Done, Home, end, eventually, finish, signal, turn};
use crate::servers::{Running, Store, home};
use crate::shared::Guest;

const OWN_LOAD: &str = "\
name = 'theirs'
group = 'write'
tables = 'none'
[[step]]
sql = 'SELECT note FROM theirs WHERE id = {int 1..50}'
rows = 1
[[step]]
sql = 'UPDATE theirs SET n = n + 1 WHERE id = {int 1..50}'
changed = 1
";

/// The user's own table, of which the rows `ids` are there.
fn with_theirs(home: &Home, product: Product, version: &'static str, ids: &[u32]) -> Guest {
    let guest = Guest::on(home, product, version);
    let mut client = guest.connect();
    client.run("CREATE TABLE theirs (id INTEGER PRIMARY KEY, n INTEGER, note VARCHAR(9))").unwrap();
    for id in ids {
        client.run(&format!("INSERT INTO theirs VALUES ({id}, 0, 'keep {id}')")).unwrap();
    }
    client.close();
    guest
}

/// Measures the load that asks their table.
fn measure(home: &Home, guest: &Guest, flags: &str) -> Done {
    let store = Store::new();
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    std::fs::write(file.path(), OWN_LOAD).unwrap();
    let (url, load) = (guest.url(), file.path().to_str().unwrap());
    let flags = format!("--quick --seconds 0.5 --warm-up 0.1 {flags} --load");
    let args = [&["compare", &url, &url][..], &flags.split(' ').collect::<Vec<_>>(), &[load]];
    finish(store.command(home, &args.concat()))
}

/// The user's own table, asked where it is.
fn asks_what_is_there(product: Product, version: &'static str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let all: Vec<u32> = (1..=50).collect();
    let guest = with_theirs(&home, product, version, &all);
    let done = measure(&home, &guest, "--rounds 2 --clients 2 --format json");
    assert_eq!(done.code, 3, "two rounds are too few for a verdict: {done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    let cell = &run["cells"][0];
    assert_eq!((&cell["load"], &cell["pairs"]), (&"theirs".into(), &2.into()), "{run}");
    assert!(cell["test"]["qps"].as_f64().is_some_and(|rate| rate > 0.0), "{run}");

    assert_eq!(guest.tables(), "1", "their table is gone, or a marker is left");
    assert_eq!(guest.ask("SELECT count(*) FROM theirs WHERE note LIKE 'keep %'"), "50");
    let changed: i64 = guest.ask("SELECT sum(n) FROM theirs").parse().unwrap();
    assert!(changed > 0, "nothing was asked of it");
}

#[test]
fn a_load_asks_tables_of_mariadb_that_are_there_already() {
    asks_what_is_there(Product::MariaDb, "10.11");
}

#[test]
fn a_load_asks_tables_of_postgres_that_are_there_already() {
    asks_what_is_there(Product::Postgres, "15");
}

/// One row of the user's table is not there, as if the server had lost it.
fn a_row_that_is_gone_is_said_to_be_gone(product: Product, version: &'static str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let others: Vec<u32> = (1..=50).filter(|id| *id != 37).collect();
    let guest = with_theirs(&home, product, version, &others);
    let done = measure(&home, &guest, "--rounds 1 --clients 1");
    let said = done.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(done.code, 2, "{done:?}");
    assert!(said.contains(" with 37 returned 0 rows, and "), "{said}");
    assert!(said.contains(".toml expects 1; asked again in the same transaction:"), "{said}");
    assert!(
        said.contains("transaction: 0 rows at time 10; in a new one: 0 rows at time 10; either "),
        "{said}"
    );
    assert_eq!(guest.tables(), "1", "their table is gone, or a marker is left");
}

#[test]
fn a_row_that_mariadb_has_lost_is_said_to_be_gone() {
    a_row_that_is_gone_is_said_to_be_gone(Product::MariaDb, "10.11");
}

#[test]
fn a_row_that_postgres_has_lost_is_said_to_be_gone() {
    a_row_that_is_gone_is_said_to_be_gone(Product::Postgres, "15");
}

/// What settling lowers on servers of our own, and all else that could have been set.
const SETTINGS: &str = "SELECT md5(group_concat(concat(variable_name, '=', variable_value) \
                        ORDER BY variable_name SEPARATOR '\\n')) \
                        FROM information_schema.global_variables \
                        WHERE variable_name NOT LIKE 'gtid%' AND variable_name NOT IN \
                        ('timestamp', 'innodb_buffer_pool_load_now', 'insert_id')";

/// How often somebody has looked at what is left to do.
const LOOKS: &str = "SELECT variable_value FROM information_schema.global_status \
                     WHERE variable_name = 'COM_SHOW_STATUS'";

/// A transaction from before the run keeps old row versions alive, so that settling waits.
#[test]
fn ctrl_c_while_a_guest_settles_leaves_settings_and_tables_as_they_were() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let running = Running::start(&home, Product::MariaDb, "10.11");
    let own = running.own_database();
    let mut control = running.connect(&own);
    control.run("SET SESSION group_concat_max_len=1000000").unwrap();
    let mut settings = || control.query(SETTINGS).unwrap().first_value().unwrap().to_owned();
    let before = settings();
    let mut holder = running.connect(&own);
    holder.run("CREATE TABLE theirs (id INTEGER) ENGINE=InnoDB").unwrap();
    holder.run("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();

    let url = running.socket(&format!("dbdyno:{}", running.password()), "settling");
    let flags = "--quick --rounds 1 --seconds 2 --warm-up 0.1 --rows 5000 --clients 2 \
                 --load update-index,settle,point-query";
    let args = [&["compare", &url, &url][..], &flags.split(' ').collect::<Vec<_>>()].concat();
    let store = Store::new();
    let mut command = store.command(&home, &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("settling", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it had settled");
        running.ask(LOOKS).parse::<u64>().unwrap() >= 5
    });
    assert_eq!(settings(), before, "settling has changed a setting of a guest");
    assert!(running.has_database("settling"));
    signal(&child, Signal::SIGINT);
    let done = end(child);
    assert_eq!(done.code, 130, "{done:?}");

    assert_eq!(settings(), before);
    assert!(!running.has_database("settling"), "the database that we made is left");
    assert_eq!(running.tables(), "1", "their own table is gone, or something is left");
    holder.run("ROLLBACK").unwrap();
    running.stop();
}
