//! Servers that belong together, through the command: in the background, and as arms.

use std::process::Stdio;

use dbdyno_wire::{Client, Endpoint};
use serde_json::Value;

use crate::common::{BRIEF, Home, eventually, finish, processes_in, turn};
use crate::servers::{Store, are_here, home, sandboxes_of};

/// Ends background servers however the test ends.
struct Ending<'a>(&'a Home, &'a str);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        for word in ["stop", "rm"] {
            self.0.dbdyno(["server", word, self.1]);
        }
    }
}

fn connect(url: &str) -> Box<dyn Client> {
    let target = url.parse::<dbdyno_model::ArmSpec>().unwrap().target;
    let dbdyno_model::Target::Url(url) = target else { panic!() };
    let endpoint = Endpoint {
        transport: url.transport,
        user: url.user,
        password: url.password.unwrap(),
        database: url.database,
        security: dbdyno_wire::Security::without_tls(),
    };
    Box::new(dbdyno_wire::mysql::MysqlConnection::connect(&endpoint).unwrap())
}

/// Roles and URLs as `server start` prints them.
fn members(out: &str) -> Vec<(&str, &str)> {
    out.lines().map(|line| line.split_once(' ').unwrap()).map(|(a, b)| (a, b.trim())).collect()
}

#[test]
fn a_source_and_its_replica_run_in_the_background_until_they_are_told_to_end() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let name = format!("t-{}", std::process::id());
    let second = format!("{name}.2");
    let _ending = Ending(&home, &name);
    let server = |words: &[&str]| home.dbdyno([&["server"], words].concat());
    let started = server(&["start", "mariadb:10.11?topology=replicas:1", "--name", &name]);
    assert_eq!(started.code, 0, "{started:?}");
    let all = members(&started.out);
    assert_eq!((all.len(), all[0].0, all[1].0), (2, "source", "replica"), "{}", started.err);
    let (mut source, mut replica) = (connect(all[0].1), connect(all[1].1));
    source.run("CREATE TABLE t (a INT PRIMARY KEY)").unwrap();
    source.run("INSERT INTO t VALUES (42)").unwrap();
    eventually("the row on the replica", || {
        replica.query("SELECT a FROM t").is_ok_and(|rows| rows.first_value() == Some("42"))
    });
    let listed = server(&["ls"]).out;
    let line = |name: &str| listed.lines().find(|l| l.trim().starts_with(name)).unwrap();
    assert!(line(&name).ends_with("source of replicas:1"), "{listed}");
    assert!(line(&second).ends_with(&format!("replica of {name}")), "{listed}");
    assert!(server(&["logs", &second]).out.contains("Slave I/O thread: connected"));
    let refused = server(&["stop", &second]);
    assert!(refused.code == 2 && refused.err.contains(&format!("name {name}")), "{refused:?}");
    assert_eq!(server(&["stop", &name]).code, 0);
    let again = server(&["start", &name]);
    assert_eq!(again.code, 0, "{again:?}");
    let mut replica = connect(members(&again.out)[1].1);
    assert_eq!(replica.query("SELECT a FROM t").unwrap().first_value(), Some("42"));
    let delayed = server(&["start", "mariadb:10.11?topology=replicas:1&delay=1ms"]);
    assert!(delayed.code == 2 && delayed.err.contains("dbdyno compare"), "{delayed:?}");
    assert_eq!(server(&["stop", &name]).code, 0);
    assert_eq!(server(&["rm", &name]).code, 0);
    let left = [&name, &second].map(|name| home.path().join("bg").join(name).exists());
    assert_eq!(left, [false, false]);
}

/// Their first password is renewed when all of them run; a standby then logs in to the source with
/// the next one, and a log of all statements shows neither.
#[test]
fn members_that_log_statements_come_up_again_with_passwords_that_stand_in_no_log() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let name = format!("p-{}", std::process::id());
    let _ending = Ending(&home, &name);
    let server = |words: &[&str]| home.dbdyno([&["server"], words].concat());
    for arm in [
        "postgres:17?topology=replicas:1&log_statement=all",
        "mariadb:10.11?topology=replicas:1&binlog=on&general_log=1&log_output=FILE",
    ] {
        let started = server(&["start", arm, "--name", &name]);
        assert_eq!(started.code, 0, "{started:?}");
        assert_eq!(server(&["stop", &name]).code, 0);
        let again = server(&["start", &name]);
        assert_eq!(again.code, 0, "{again:?}");
        let (_, url) = members(&again.out)[0];
        let (_, account) = url.split_once("://dbdyno:").unwrap();
        let (password, _) = account.split_once('@').unwrap();
        let (mut logs, mut folders) = (0, Vec::new());
        for member in [name.clone(), format!("{name}.2")] {
            folders.push(home.path().join("bg").join(member));
        }
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(path);
                } else if path.to_string_lossy().ends_with("log") {
                    logs += 1;
                    let text = std::fs::read(&path).unwrap();
                    let text = String::from_utf8_lossy(&text);
                    assert!(!text.contains(password), "{}", path.display());
                }
            }
        }
        assert!(logs >= 2, "{logs}");
        assert_eq!(server(&["stop", &name]).code, 0);
        assert_eq!(server(&["rm", &name]).code, 0);
    }
}

#[test]
fn nodes_of_galera_come_back_equal_after_a_write_between_their_departures() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let name = format!("g-{}", std::process::id());
    let _ending = Ending(&home, &name);
    let server = |words: &[&str]| home.dbdyno([&["server"], words].concat());
    let started = server(&["start", "mariadb:10.11?topology=galera:3", "--name", &name]);
    assert_eq!(started.code, 0, "{started:?}");
    let all = members(&started.out);
    assert_eq!(all.iter().map(|(role, _)| *role).collect::<Vec<_>>(), ["node"; 3]);
    let count = |url: &str| {
        let rows = connect(url).query("SELECT count(*) FROM t").ok()?;
        rows.first_value().map(str::to_owned)
    };
    let mut first = connect(all[0].1);
    first.run("CREATE TABLE t (a INT PRIMARY KEY)").unwrap();
    first.run("INSERT INTO t VALUES (1)").unwrap();
    eventually("the row on the last node", || count(all[2].1).as_deref() == Some("1"));
    // The last leaves, and misses a row.
    connect(all[2].1).run("SHUTDOWN").unwrap();
    let last = home.path().join("bg").join(format!("{name}.3"));
    eventually("the end of the last node", || processes_in(&last).is_empty());
    first.run("INSERT INTO t VALUES (2)").unwrap();
    let again = server(&["start", &name]);
    assert_eq!(again.code, 0, "{again:?}");
    for (_, url) in members(&again.out) {
        assert_eq!(count(url).as_deref(), Some("2"), "{again:?}");
    }
    let refused = server(&["start", "mariadb:10.11?topology=galera:3&delay=1ms"]);
    assert!(refused.code == 2 && refused.err.contains("nothing can stand between"), "{refused:?}");
    assert_eq!(server(&["stop", &name]).code, 0);
    assert_eq!(server(&["rm", &name]).code, 0);
}

#[test]
fn a_server_is_compared_with_one_that_has_a_standby_far_away() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let test = "postgres:17?topology=replicas:1&delay=2ms&synchronous_standby_names=*\
                &synchronous_commit=on";
    let more = ["--rounds", "1", "--load", "update-nonindex", "--format", "json"];
    let args = [&["compare", "postgres:17", test][..], &BRIEF, &more].concat();
    let done = finish(store.command(&home, &args));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    let p50 = |arm: &str| run["cells"][0][arm]["latency_us"]["p50"].as_f64().unwrap();
    // A commit waits for the standby, which is 2 ms away in each direction.
    assert!(p50("test") >= 4_000.0, "{run}");
    let shown = finish(store.command(&home, &["diff", "@last", "--format", "json", "--all"]));
    assert!(shown.out.contains("topology.delay_out_ns_p50"), "{shown:?}");
    assert!(shown.out.contains("topology.shape"), "{shown:?}");
}

#[test]
fn a_killed_dbdyno_takes_a_whole_group_with_it() {
    let Some(home) = home() else { return };
    if !are_here(["mvn", "mvn"]) {
        return;
    }
    let _turn = turn();
    let store = Store::new();
    let more = ["--rounds", "10000"];
    let arms = ["compare", "sqlite:", "mysql:8.0.33?topology=group:3"];
    let args = [&arms[..], &BRIEF, &more].concat();
    let mut command = store.command(&home, &args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    home.wait_for_rounds(&mut child, &store.path(), 2);
    let sandboxes = sandboxes_of(&home, child.id());
    let running = sandboxes.iter().filter(|sandbox| !processes_in(sandbox).is_empty());
    assert_eq!(running.count(), 3, "{sandboxes:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the end of the members", || {
        sandboxes.iter().all(|sandbox| processes_in(sandbox).is_empty())
    });
    let next = store.command(&home, &["compare", "sqlite:?no=1", "sqlite:"]);
    assert_eq!(finish(next).code, 2);
    assert!(sandboxes.iter().all(|sandbox| !sandbox.exists()), "{sandboxes:?}");
}
