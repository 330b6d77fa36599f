//! `dbdyno verify`: what is known of servers is seen, what is planted wrong is told, and who waits
//! is asked of the server.

use std::collections::BTreeMap;
use std::process::Stdio;

use dbdyno_model::Product;
use serde_json::Value;

use crate::common::{Home, end, finish, turn};
use crate::servers::{Store, home};
use crate::shared::Guest;

/// What became of a case at a level: its outcome, and the error where it is one.
fn outcome(told: &Value, server: usize, level: &str, case: &str) -> String {
    let named = |list: &Value, key: &str, name: &str| {
        let all = list.as_array().unwrap();
        let found = all.iter().find(|one| one[key] == name);
        found.unwrap_or_else(|| panic!("no {name} in {list}")).clone()
    };
    let level = named(&told["servers"][server]["levels"], "level", level);
    let case = named(&level["cases"], "case", case);
    match case["error"].as_str() {
        Some(error) => format!("error {error}"),
        None => case["outcome"].as_str().unwrap().to_owned(),
    }
}

fn hold(told: &Value, server: usize, wanted: &[(&str, &str, &str)]) {
    for (level, case, wanted) in wanted {
        assert_eq!(outcome(told, server, level, case), *wanted, "{server}, {case} at {level}");
    }
}

const RC: &str = "read-committed";
const RR: &str = "repeatable-read";
const SER: &str = "serializable";

#[test]
fn facts_of_mariadb_and_postgres_are_seen() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let targets = ["mariadb:10.11", "mariadb:10.11?innodb_snapshot_isolation=ON", "postgres:15"];
    let mut command = store.command(&home, &["verify"]);
    command.args(targets).args(["--cases", "--format", "json"]);
    let done = finish(command);
    // MDEV-40092 is open: a promise of snapshot isolation that this release does not keep.
    assert!(matches!(done.code, 0 | 1), "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(told["servers"][0]["family"], "mysql");
    assert_eq!(told["servers"][1]["family"], "innodb-snapshot");

    // Hermitage's table, and Jepsen's findings.
    let innodb = [
        ("read-uncommitted", "G0", "waits"),
        ("read-uncommitted", "G1a", "occurs"),
        ("read-uncommitted", "G1b", "occurs"),
        ("read-uncommitted", "G1c", "occurs"),
        ("read-uncommitted", "OTV", "occurs"),
        (RC, "G1a", "snapshot"),
        (RC, "OTV", "snapshot"),
        (RC, "PMP", "occurs"),
        (RC, "P4", "occurs"),
        (RC, "G-single", "occurs"),
        (RC, "own-view", "snapshot"),
        (RC, "counter", "waits"),
        (RR, "PMP", "snapshot"),
        (RR, "PMP-write", "occurs"),
        (RR, "P4", "occurs"),
        (RR, "G-single", "snapshot"),
        (RR, "G-single-predicate", "snapshot"),
        (RR, "G-single-write", "occurs"),
        (RR, "own-update", "occurs"),
        (RR, "own-column", "occurs"),
        (RR, "own-view", "occurs"),
        (RR, "G2-item", "occurs"),
        (SER, "P4", "error 1213"),
        (SER, "G-single-write", "error 1213"),
        (SER, "G2-item", "error 1213"),
        (SER, "G2", "error 1213"),
        (SER, "G2-two-edges", "error 1213"),
        (SER, "G1a", "waits"),
    ];
    hold(&told, 0, &innodb);
    let snapshot = [
        (RC, "P4", "occurs"),
        (RR, "P4", "error 1020"),
        (RR, "PMP-write", "error 1020"),
        (RR, "G-single-write", "error 1020"),
        (RR, "own-update", "error 1020"),
        (RR, "own-column", "error 1020"),
        (RR, "own-view", "error 1020"),
        (RR, "G2-item", "occurs"),
        (SER, "P4", "error 1213"),
    ];
    hold(&told, 1, &snapshot);
    let postgres = [
        ("read-uncommitted", "G1a", "snapshot"),
        (RC, "G0", "waits"),
        (RC, "PMP-write", "occurs"),
        (RC, "P4", "occurs"),
        (RR, "P4", "error 40001"),
        (RR, "PMP", "snapshot"),
        (RR, "G-single", "snapshot"),
        (RR, "G-single-write", "error 40001"),
        (RR, "G2-item", "occurs"),
        (RR, "G2", "occurs"),
        (RR, "G2-two-edges", "occurs"),
        (SER, "G2-item", "error 40001"),
        (SER, "G2", "error 40001"),
        (SER, "G2-two-edges", "error 40001"),
    ];
    hold(&told, 2, &postgres);
    waits_have_a_reason(&told);
}

/// Every wait is for somebody, and ended behind a later step or with a deadlock.
fn waits_have_a_reason(told: &Value) {
    let mut waits = 0;
    for server in told["servers"].as_array().unwrap() {
        for level in server["levels"].as_array().unwrap() {
            for case in level["cases"].as_array().unwrap() {
                assert_ne!(case["outcome"], "unknown", "{case}");
                for step in case["steps"].as_array().unwrap() {
                    if step["waited"] == true {
                        waits += 1;
                        let whom = step["waited_for"].as_array().unwrap();
                        assert!(!whom.is_empty() && !whom.contains(&step["session"]), "{case}");
                        assert!(step["answered_after_step"].is_u64(), "{case}");
                    }
                }
            }
        }
    }
    assert!(waits > 50, "{waits}");
}

/// A case whose promise is wrong: read skew is not prevented at read committed.
const PLANTED: &str = "\
case: planted
anomaly: G-single
about: Read skew, said to be impossible.
source: planted
prevented: mysql from read-committed
occurs: first is 1:10 and later is 2:18

T1: begin
T2: begin
T1: select id, value from test where id = 1 => first
T2: update test set value = 18 where id = 2
T2: commit
T1: select id, value from test where id = 2 => later
T1: commit
";

#[test]
fn a_promise_that_is_broken_is_told() {
    let home = Home::new();
    let file = home.path().with_extension("case");
    std::fs::write(&file, PLANTED).unwrap();
    let file_name = file.to_str().unwrap();
    let verify = |level: &str| {
        home.dbdyno(["verify", "engine:", "--case-file", file_name, "--level", level])
    };
    let broken = verify(RC);
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.out.contains("occurs !"), "{broken:?}");
    assert!(broken.out.contains("planted was seen"), "{broken:?}");
    let kept = verify(RR);
    assert_eq!(kept.code, 0, "{kept:?}");
    let without = PLANTED.replace(" => later", "");
    std::fs::write(&file, without).unwrap();
    let wrong = verify(RC);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""), "{wrong:?}");
    assert!(wrong.err.contains("line 6, column 27: no step ends with `=> later`"), "{wrong:?}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_case_of_a_file_is_found_by_its_name() {
    let home = Home::new();
    let file = home.path().with_extension("case");
    std::fs::write(&file, PLANTED).unwrap();
    let path = file.to_str().unwrap();
    let own = ["verify", "engine:", "--cases", "--case-file", path, "--level", RR, "--case"];
    let verify = |name: &str| home.dbdyno([&own[..], &[name]].concat());
    let planted = verify("planted");
    assert_eq!(planted.code, 0, "{planted:?}");
    assert!(planted.out.contains("G-single") && !planted.out.contains("G1a"), "{planted:?}");
    let as_well = verify("G1a");
    assert!(as_well.out.contains("G-single") && as_well.out.contains("G1a"), "{as_well:?}");
    let unknown = verify("plante");
    assert_eq!((unknown.code, unknown.out.as_str()), (2, ""), "{unknown:?}");
    assert!(unknown.err.contains("unknown case"), "{unknown:?}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn what_cannot_be_told_is_no_verdict_and_a_fault_of_the_file_is_told_with_its_line() {
    let home = Home::new();
    let file = home.path().with_extension("case");
    let verified = |text: &str, target: &str| {
        std::fs::write(&file, text).unwrap();
        let level = ["--level", "serializable"];
        let args = ["verify", target, "--case-file", file.to_str().unwrap()];
        let done = home.dbdyno(args.iter().chain(&level));
        std::fs::remove_file(&file).unwrap();
        done
    };
    let twice = "insert into test (id, value) values (2, 1)";
    let sound = PLANTED.lines().position(|line| line.ends_with("where id = 2")).unwrap();
    let with_more = |statement: &str| {
        let mut lines: Vec<String> = PLANTED.lines().map(str::to_owned).collect();
        let session = lines[sound].split(':').next().unwrap().to_owned();
        lines.insert(sound + 1, format!("{session}: {statement}"));
        lines.join("\n")
    };
    for target in ["engine:", "sqlite:"] {
        let done = verified(&with_more(twice), target);
        assert_eq!(done.code, 3, "a key that is there is no fault of the file: {done:?}");
        assert!(done.out.contains("unknown at serializable"), "{done:?}");
        for fault in ["updaet test set value = 1", "select nobody from test"] {
            let done = verified(&with_more(fault), target);
            let place = format!(", line {}: {target} refuses `{fault}`", sound + 2);
            assert!(done.code == 2 && done.err.contains(&place), "{place}: {done:?}");
        }
    }
    let beside = with_more("select value from test\n  sqlite: select nobody from test");
    let done = verified(&beside, "sqlite:");
    let place = format!(", line {}: sqlite: refuses `select nobody from test`", sound + 3);
    assert!(done.code == 2 && done.err.contains(&place), "{place}: {done:?}");
    let set_up = PLANTED.replacen("\nT1: ", "\nsetup: create indx x on test (value)\nT1: ", 1);
    let line = 1 + set_up.lines().position(|line| line.starts_with("setup")).unwrap();
    for target in ["engine:", "sqlite:"] {
        let done = verified(&set_up, target);
        let place = format!("case, line {line}: {target} refuses `create indx x on test (value)`");
        assert!(done.code == 2 && done.err.contains(&place), "{place}: {done:?}");
        assert!(done.out.contains("its setup was refused"), "{done:?}");
    }
    let spelled = PLANTED.replacen(": begin\n", ": begin\n  sqlite: begin immediate\n", 1);
    let done = verified(&spelled, "engine:");
    assert!(done.code == 2 && done.err.contains("a dialect spells a statement"), "{done:?}");
}

#[test]
fn interleavings_are_counted_on_a_server_and_in_our_threads() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let mariadb = Guest::on(&home, Product::MariaDb, "10.11").url();
    let mut command = store.command(&home, &["verify", "engine:", &mariadb, "sqlite:"]);
    command.args(["--interleavings=2x2x2,3x2x1", "--sample", "150", "--format", "json"]);
    command.args(["--level", "read-committed,serializable"]);
    let done = finish(command);
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    for server in told["servers"].as_array().unwrap() {
        for level in server["levels"].as_array().unwrap() {
            for shape in level["interleavings"].as_array().unwrap() {
                let count = |name: &str| shape[name].as_u64().unwrap();
                let parts = ["completed", "waited", "refused_after_waiting", "refused", "misread"];
                let parts: u64 = parts.iter().map(|name| count(name)).sum();
                assert_eq!((count("unknown"), parts), (0, count("allowed")), "{shape}");
                assert!(count("completed") > 0, "{shape}");
                if level["level"] == SER {
                    assert_eq!(count("not_serializable") + count("let_through"), 0, "{shape}");
                }
            }
        }
    }
    // The engine and InnoDB lock alike; SQLite refuses who would wait.
    let of = |server: usize| &told["servers"][server]["levels"][0]["interleavings"][0];
    assert!(of(0)["misread"].as_u64() > Some(0) && of(1)["misread"] == of(0)["misread"]);
    assert_eq!(of(2)["waited"], 0);
}

/// The paths of protocols, played on servers: InnoDB of MariaDB 10.11 and PostgreSQL go as the
/// protocols say that are theirs, and not as others say.
#[test]
fn servers_go_as_their_protocols_say() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let parted = |protocol: &str, target: &str| {
        let args = ["model", protocol, "--format", "json", "--run", target];
        let done = finish(store.command(&home, &args));
        let told: Value = serde_json::from_str(&done.out).unwrap();
        let server = &told["servers"][0];
        assert!(server["played"].as_u64().unwrap() > 400, "{server}");
        let kinds = server["differences"].as_object().unwrap();
        let parted: u64 = kinds.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(done.code, i32::from(parted > 0), "{done:?}");
        parted
    };
    let mariadb = Guest::on(&home, Product::MariaDb, "10.11").url();
    let postgres = Guest::on(&home, Product::Postgres, "15").url();
    for (protocol, target) in [
        ("2pl-queued", &*mariadb),
        ("mariadb-si", "mariadb:10.11?innodb_snapshot_isolation=ON"),
        ("si-first-updater", &*postgres),
    ] {
        assert_eq!(parted(protocol, target), 0, "{protocol} {target}");
    }
    for (protocol, target) in [("2pl", &mariadb), ("innodb-rr", &postgres)] {
        assert!(parted(protocol, target) > 0, "{protocol} {target}");
    }
}

/// Clients record what they see of random transactions on few rows. What each server promises of a
/// level is proved of its history, conflicts included; the history is judged alike from its file.
#[test]
fn random_transactions_have_what_servers_promise() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let mariadb = Guest::on(&home, Product::MariaDb, "10.11").url();
    let postgres = Guest::on(&home, Product::Postgres, "15").url();
    let targets = ["engine:", "sqlite:", &mariadb, &postgres];
    let mut command = store.command(&home, &["verify", "--repeat", "1"]);
    command.args(targets).args(["--transactions", "100", "--clients", "4", "--keys", "4"]);
    command.args(["--format", "json"]);
    let done = finish(command);
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    let servers = told["servers"].as_array().unwrap();
    let levels: Vec<&Value> =
        servers.iter().flat_map(|server| server["levels"].as_array().unwrap()).collect();
    assert_eq!(levels.len(), 4 + 1 + 4 + 4, "the levels that they have, one of the engine twice");
    for level in levels {
        let history = &level["history"];
        let first = &history["levels"][0];
        assert_eq!(first["level"], level["promise"]);
        assert_eq!(first["verdict"], "holds", "{level}");
        let seen = ["committed", "ww", "wr"].map(|name| history[name].as_u64().unwrap());
        assert!(seen.iter().all(|count| *count > 0), "nobody met anybody: {level}");
        assert_eq!(history["unplaced"], 0, "the order of versions is known: {level}");
    }

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history");
    let mut command = store.command(&home, &["verify", &mariadb, "--level", RR]);
    command.args(["--transactions", "100", "--keys", "4", "--format", "json", "--export"]);
    command.arg(&file);
    let done = finish(command);
    let told: Value = serde_json::from_str(&done.out).unwrap();
    let told = &told["servers"][0]["levels"][0]["history"];
    let mut command = store.command(&home, &["check", "--format", "json", "--level"]);
    command.arg("innodb-repeatable-read,read-committed,snapshot-isolation,serializable");
    command.arg(&file);
    let checked = finish(command);
    let mut checked: Value = serde_json::from_str(&checked.out).unwrap();
    let taken_for = checked.as_object_mut().unwrap().remove("taken_for");
    assert_eq!(taken_for.unwrap(), "records of dbdyno");
    assert_eq!(&checked, told, "the same from the file");

    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let mut command = store.command(&home, &["check"]);
    command.arg(&file);
    let cut = finish(command);
    assert!(cut.code == 2 && cut.err.contains("a part is missing"), "{cut:?}");
}

/// Loads of the catalog are asked and recorded by the clients of the closed loop: what servers
/// promise of a level is proved of lists, counters and registers alike.
#[test]
fn recorded_loads_have_what_servers_promise() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let mariadb = &*Guest::on(&home, Product::MariaDb, "10.11").url();
    let postgres = &*Guest::on(&home, Product::Postgres, "15").url();
    for (kind, targets, count) in [
        ("lists", &["engine:", mariadb, postgres][..], 3 + 4 + 4),
        ("counters", &["sqlite:", mariadb], 1 + 4),
        ("registers", &["engine:", postgres], 3 + 4),
    ] {
        let mut command = store.command(&home, &["verify", "--kind", kind, "--format", "json"]);
        command.args(targets);
        command.args(["--transactions", "40", "--clients", "4", "--keys", "4"]);
        let done = finish(command);
        assert_eq!(done.code, 0, "{kind}: {done:?}");
        let told: Value = serde_json::from_str(&done.out).unwrap();
        let servers = told["servers"].as_array().unwrap().iter();
        let levels: Vec<&Value> =
            servers.flat_map(|server| server["levels"].as_array().unwrap()).collect();
        assert_eq!(levels.len(), count, "the levels that they have");
        for level in levels {
            let history = &level["history"];
            assert_eq!(history["levels"][0]["level"], level["promise"]);
            assert_eq!(history["levels"][0]["verdict"], "holds", "{kind}: {level}");
            let seen = ["committed", "ww", "wr"].map(|name| history[name].as_u64().unwrap());
            assert!(seen.iter().all(|count| *count > 0), "nobody met anybody: {level}");
            assert_eq!(history["unplaced"], 0, "the order of versions is known: {level}");
            assert_eq!(level["unrecorded"], 0);
        }
    }
}

/// What InnoDB's repeatable read is known to let through is found in each kind of rows, and in a
/// file of lists as Elle has them just so.
#[test]
fn known_anomalies_are_found_in_recorded_loads() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let dir = tempfile::tempdir().unwrap();
    let mariadb = Guest::on(&home, Product::MariaDb, "10.11").url();
    let names = "innodb-repeatable-read,read-committed,snapshot-isolation,serializable";
    for kind in ["registers", "lists", "counters"] {
        let file = dir.path().join(format!("{kind}.edn"));
        let mut command = store.command(&home, &["verify", &mariadb, "--kind", kind]);
        command.args(["--level", RR, "--transactions", "150", "--clients", "4", "--keys", "3"]);
        command.args(["--format", "json", "--export"]);
        command.arg(&file);
        let done = finish(command);
        assert_eq!(done.code, 0, "{kind}: {done:?}");
        let told: Value = serde_json::from_str(&done.out).unwrap();
        let levels = &told["servers"][0]["levels"][0]["history"]["levels"];
        let verdicts = |levels: &Value| -> BTreeMap<String, String> {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let levels = levels.as_array().unwrap().iter();
            levels.map(|level| (text(&level["level"]), text(&level["verdict"]))).collect()
        };
        let seen = verdicts(levels);
        assert_eq!(seen["snapshot-isolation"], "broken", "{kind}: {levels}");
        assert_eq!(seen["serializable"], "broken", "{kind}: {levels}");
        if kind == "registers" {
            continue;
        }
        let mut command = store.command(&home, &["check", "--format", "json", "--level", names]);
        command.arg(&file);
        let checked = finish(command);
        let checked: Value = serde_json::from_str(&checked.out).unwrap();
        assert_eq!(verdicts(&checked["levels"]), seen, "{kind}, read back");
    }
}

/// Judged while it goes on, a load has what its server promises, and lacks what it does not.
#[test]
fn loads_are_judged_while_they_go_on() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let mariadb = Guest::on(&home, Product::MariaDb, "10.11").url();
    let mut command = store.command(&home, &["verify", &mariadb, "--online", "--kind"]);
    command.args(["lists", "--level", "repeatable-read,serializable", "--format", "json"]);
    command.args(["--transactions", "300", "--clients", "4", "--keys", "3"]);
    let done = finish(command);
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    let levels = told["online"][0]["levels"].as_array().unwrap();
    let verdict = |at: usize, name: &str| {
        let all = levels[at]["levels"].as_array().unwrap();
        all.iter().find(|one| one["level"] == name).unwrap()["verdict"].clone()
    };
    assert_eq!(verdict(0, "innodb-repeatable-read"), "holds");
    assert_eq!(verdict(0, "serializable"), "broken");
    assert_eq!(verdict(1, "serializable"), "holds");
    for level in levels {
        assert!(level["committed"].as_u64().unwrap() > 900, "{level}");
    }
    let mut command =
        store.command(&home, &["verify", "engine:", "--online", "--kind", "counters"]);
    command.args(["--transactions", "1"]);
    assert_eq!(finish(command).code, 2, "sums are matched at the end");
}

/// Levels of a server with their witnesses.
fn witnesses<'a>(told: &'a Value, level: &str) -> Vec<&'a Value> {
    let levels = told["servers"][0]["levels"].as_array().unwrap().iter();
    let of_level = levels.filter(|one| one["level"] == level && one["of"] == "all");
    of_level.flat_map(|one| one["witnesses"].as_array().unwrap()).collect()
}

/// Sessions of the engine in one thread, judged as those of a server: its levels hold, and each of
/// three faults that break them is found.
#[test]
fn the_engine_keeps_its_levels_and_faults_in_it_are_found() {
    let home = Home::new();
    let verify = |planted: &str| {
        let target = format!("engine:?planted={planted}");
        let mut args = vec!["verify", &target, "--one-thread", "--transactions", "400"];
        args.extend(["--clients", "6", "--keys", "8", "--repeat", "0", "--format", "json"]);
        home.dbdyno(args)
    };
    let sound = verify("nothing");
    assert_eq!(sound.code, 0, "{sound:?}");
    let told: Value = serde_json::from_str(&sound.out).unwrap();
    let levels = told["servers"][0]["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 4, "three levels, one of them twice");
    for level in levels {
        assert_eq!(level["history"]["levels"][0]["verdict"], "holds", "{level}");
        let seen = ["ww", "wr", "rw"].map(|name| level["history"][name].as_u64().unwrap());
        assert!(seen.iter().all(|count| *count > 500), "{level}");
    }
    for planted in ["views-reused", "gaps-open", "purge-early"] {
        let faulty = verify(planted);
        assert_eq!(faulty.code, 1, "{planted}: {faulty:?}");
    }
}

/// It was refused: nobody asked it which sessions wait, and it has no READ UNCOMMITTED.
#[test]
fn the_engine_as_a_server_goes_as_the_engine() {
    let home = Home::new();
    for how in ["--cases", "--interleavings=2x1x2"] {
        let [embedded, served] = ["engine:", "engine:?wire=on"].map(|target| {
            let told = home.json(0, ["verify", target, how]);
            let mut levels = told["servers"][0]["levels"].clone();
            for level in levels.as_array_mut().unwrap() {
                // What each session was answered has other words over the wire.
                for case in level["cases"].as_array_mut().into_iter().flatten() {
                    case.as_object_mut().unwrap().remove("steps");
                }
            }
            levels
        });
        assert_eq!(embedded, served, "{how}");
    }
}

/// What a history has becomes a case and a script, which show it whenever they are played.
#[test]
fn an_anomaly_is_played_again_from_its_file() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let args = ["verify", "engine:", "--one-thread", "--transactions", "200", "--level", RR];
    let more = ["--keys", "8", "--repeat", "5", "--scripts", folder, "--format", "json"];
    let done = home.dbdyno(args.into_iter().chain(more));
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    let all = witnesses(&told, RR);
    for anomaly in ["lost update", "write skew (G2-item)", "G-single"] {
        let one = all.iter().find(|one| one["anomaly"] == anomaly);
        let one = one.unwrap_or_else(|| panic!("no {anomaly} in {told}"));
        assert_eq!((&one["runs"], &one["seen"]), (&5.into(), &5.into()), "{one}");
    }
    let file = dir.path().join("engine--repeatable-read-lost-update");
    let script = std::fs::read_to_string(file.with_extension("sql")).unwrap();
    assert!(script.contains("\n-- T2\nBEGIN;\n"), "{script}");
    let case = file.with_extension("case");
    let args = ["verify", "engine:", "--case-file", case.to_str().unwrap(), "--level", RR];
    let again = home.dbdyno(args);
    assert!(again.out.contains("occurs"), "{again:?}");
}

/// Anomalies that servers allow at repeatable read are found from a blank start, and shown by
/// sessions that do no more than it takes.
#[test]
fn anomalies_of_servers_are_found_and_played_again() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    for (guest, wanted) in [
        (
            Guest::on(&home, Product::MariaDb, "10.11"),
            &[
                "G-single",
                "lost update",
                "non-repeatable read through an own update",
                "write skew (G2-item)",
            ][..],
        ),
        (Guest::on(&home, Product::Postgres, "15"), &["write skew (G2-item)"]),
    ] {
        // Who meets whom is up to the host, and not every cycle is a story of three sessions.
        let mut missing = wanted.to_vec();
        for seed in 1..=10 {
            let seed = seed.to_string();
            let mut command = store.command(&home, &["verify", &guest.url(), "--level", RR]);
            command.args(["--transactions", "400", "--keys", "4", "--seed", &seed]);
            command.args(["--format", "json"]);
            let done = finish(command);
            assert_eq!(done.code, 0, "{done:?}");
            let told: Value = serde_json::from_str(&done.out).unwrap();
            for one in witnesses(&told, RR).iter().filter(|one| one["runs"] == 20) {
                let is_wanted = missing.iter().position(|anomaly| one["anomaly"] == *anomaly);
                if let Some(at) = is_wanted {
                    assert_eq!(one["seen"], 20, "{one}");
                    missing.remove(at);
                }
            }
            if missing.is_empty() {
                break;
            }
        }
        assert!(missing.is_empty(), "in none of ten histories: {missing:?}");
    }
}

/// Somebody kills connections of clients: they go on with others, and the promise is still judged.
#[test]
fn a_connection_that_is_lost_ends_no_history() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let guest = Guest::on(&home, Product::MariaDb, "10.11");
    let args = ["verify", &guest.url(), "--level", RR, "--repeat", "0"];
    let mut command = store.command(&home, &args);
    command.args(["--transactions", "1500", "--clients", "4", "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut killer = guest.connect();
    let at_work = "SELECT id FROM information_schema.processlist WHERE db = database() \
                   AND info LIKE '%dbdyno_random WHERE id%' AND id <> connection_id()";
    let mut killed = 0;
    while killed < 5 && child.try_wait().unwrap().is_none() {
        for row in killer.query(at_work).unwrap().rows {
            // It may have gone by itself.
            killed += u32::from(killer.run(&format!("KILL {}", row[0].as_ref().unwrap())).is_ok());
        }
    }
    let done = end(child);
    assert_eq!((done.code, killed > 0), (0, true), "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    let level = &told["servers"][0]["levels"][0];
    assert!(level["connections_lost"].as_u64() > Some(0), "{level}");
    assert_eq!(level["history"]["levels"][0]["verdict"], "holds", "{level}");
}

#[test]
fn the_log_of_a_server_has_what_its_clients_were_answered() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let mut command = store.command(&home, &["verify", "--repeat", "0", "--row-log"]);
    command.args(["mariadb:10.11?binlog=on&binlog_format=ROW", "postgres:15?wal_level=logical"]);
    command.args(["--level", SER, "--transactions", "100", "--clients", "4", "--keys", "4"]);
    command.args(["--format", "json"]);
    let done = finish(command);
    assert_eq!(done.code, 0, "{done:?}");
    let told: Value = serde_json::from_str(&done.out).unwrap();
    for server in told["servers"].as_array().unwrap() {
        let level = &server["levels"][0];
        assert_eq!(level["row_log"]["agrees"], true, "{level}");
        let [transactions, changes] =
            ["transactions", "changes"].map(|name| level["row_log"][name].as_u64().unwrap());
        assert!(0 < transactions && transactions < changes, "{level}");
        assert!(transactions < level["history"]["committed"].as_u64().unwrap(), "{level}");
    }
    let mut command = store.command(&home, &["verify", "sqlite:", "--row-log"]);
    command.args(["--level", SER, "--transactions", "1"]);
    let done = finish(command);
    assert!(done.code == 2 && done.err.contains("leave out --row-log"), "{done:?}");
}

#[test]
fn one_file_has_one_history() {
    let home = Home::new();
    let done = home.dbdyno(["verify", "engine:", "--export", "/dev/null"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("name one target, and one level"), "{done:?}");
    // What was played would be lost, or an hour would be.
    let nowhere = "nowhere/history.edn";
    let long = ["--level", "serializable", "--seconds", "3600", "--export", nowhere];
    let done = home.dbdyno(["verify", "engine:"].into_iter().chain(long));
    assert!(done.code == 2 && done.err.contains(nowhere), "{done:?}");
    let done = home.dbdyno(["verify", "engine:", "--repeat", "0", "--scripts", "scripts"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("leave --repeat out"), "{done:?}");
    let done = home.dbdyno(["verify", "sqlite:", "--one-thread", "--transactions", "1"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("drives engine: alone"), "{done:?}");
}
