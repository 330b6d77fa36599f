//! `dbdyno watch`: lines of figures of servers that run, one that goes away and another that stays.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use dbdyno_model::Product;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::common::turn;
use crate::servers::{self, Running, Store};
use crate::shared::Guest;

/// Two servers, of which one is stopped between two lines: the other goes on, and Ctrl-C is the
/// usual end. What the looks themselves ask is enough to be seen in the figures.
#[test]
fn a_server_that_goes_away_is_told_and_the_others_go_on() {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let leaving = Running::start(&home, Product::MariaDb, "10.11");
    let staying = Guest::on(&home, Product::Postgres, "15");
    let account = format!("dbdyno:{}", leaving.password());
    let url = leaving.tcp(&account, &leaving.own_database());
    let store = Store::new();
    let mut command = store.command(&home, &["watch", &url, &staying.url(), "--format", "json"]);
    let mut watch = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let is_of_leaving = |line: &Value| line["server"].as_str().unwrap().starts_with("127.0.0.1:");
    let figure = |line: &Value, name: &str| line["metrics"][name].as_f64();
    let first = lines.find(is_of_leaving).unwrap();
    assert!(figure(&first, "statements") > Some(0.0), "{first}");
    assert!(figure(&first, "threads_running") >= Some(1.0), "{first}");
    let other = lines.find(|line| !is_of_leaving(line)).unwrap();
    assert!(figure(&other, "threads_running") >= Some(1.0), "{other}");
    assert_eq!(figure(&other, "statements"), None, "PostgreSQL counts none: {other}");
    leaving.stop();
    let gone = lines.find(|line| line.get("gone").is_some()).unwrap();
    assert!(is_of_leaving(&gone) && gone.get("metrics").is_none(), "{gone}");
    let later = lines.find(|line| !is_of_leaving(line)).unwrap();
    assert!(figure(&later, "threads_connected") >= Some(1.0), "{later}");
    kill(Pid::from_raw(watch.id() as i32), Signal::SIGINT).unwrap();
    drop(lines);
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    assert!(!format!("{first}{gone}").contains(&account), "no password is shown");
}
