//! The example of a custom load, from its file to the report, and on when the file has gone.

use dbdyno_model::ArmIndex;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{BRIEF, Home, end, finish, signal, turn};
use crate::servers::{Store, home};

const FLAGS: &str = "compare sqlite:?journal_mode=wal&synchronous=normal \
                     sqlite:?journal_mode=wal&synchronous=off --quick --rounds 6 --seconds 0.2 --warm-up 0.2 --rows 2000 --clients 1,2 \
                     --load";

/// The example under a name of its own, so that it can be taken away.
fn shop(home: &Home) -> PathBuf {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/shop.toml");
    let file = home.path().with_extension("toml");
    std::fs::copy(example, &file).unwrap();
    file
}

fn args(file: &Path) -> Vec<String> {
    let mut args: Vec<String> = FLAGS.split_whitespace().map(str::to_owned).collect();
    args.push(format!("{}?rand=uniform,point-query", file.display()));
    args
}

#[test]
fn the_example_is_measured_and_goes_on_without_its_file() {
    let _turn = turn();
    let home = Home::new();
    let file = shop(&home);
    let store = home.path().join("dbdyno.db");
    let mut child = home.start(args(&file));
    // Within the second of four cells: new rows must not meet those of the first one.
    home.wait_for_rounds(&mut child, &store, 15);
    signal(&child, Signal::SIGINT);
    let done = end(child);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(done.code, 130, "{done:?}");

    let resumed = home.dbdyno(["resume", "--format", "json"]);
    assert!([0, 3].contains(&resumed.code), "{resumed:?}");
    let run: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!(run["status"], "complete");
    let cells = run["cells"].as_array().unwrap();
    let loads: Vec<&str> = cells.iter().map(|cell| cell["load"].as_str().unwrap()).collect();
    let shop = "shop?rand=uniform";
    assert_eq!(loads, [shop, shop, "point-query", "point-query"]);
    for cell in &cells[..2] {
        // 60 % of the events are two statements, 30 % are eight, 10 % are three.
        let (qps, tps) = (&cell["base"]["qps"], &cell["base"]["tps"]);
        let statements = qps.as_f64().unwrap() / tps.as_f64().unwrap();
        assert!((3.0..5.0).contains(&statements), "{statements} statements an event");
    }
    let command = run["command"].as_str().unwrap();
    assert!(command.contains("--load-file") && command.contains("shop?rand=uniform"), "{command}");
    let shown = home.dbdyno(["show"]);
    assert!(shown.out.contains(shop), "{shown:?}");
}

/// Each answer of this load is one that the server gives only if it holds what it was sent, and the
/// tables of both families are found to be the same.
#[test]
fn columns_of_bits_and_documents_hold_what_was_generated() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let load = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/columns.toml");
    let more = ["--load", load, "--clients", "2", "--rounds", "1", "--format", "json"];
    let args = [&["compare", "mariadb:10.11", "postgres:15"][..], &BRIEF, &more].concat();
    let done = finish(store.command(&home, &args));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&run["status"], &run["cells"][0]["load"]), (&"complete".into(), &"columns".into()));
    let results = dbdyno_store::Store::open(&store.path()).unwrap();
    let run = results.load(&results.resolve_run("@last").unwrap()).unwrap();
    let [base, test] = [ArmIndex::BASE, ArmIndex::TEST].map(|arm| {
        let environment = &run.environment[arm];
        ["data.place.sum", "data.device.sum"].map(|sum| environment.facts[sum].clone())
    });
    assert_eq!(base, test, "both hold the same rows");
}

/// The examples that have every key of a file, on two families.
#[test]
fn every_key_is_measured() {
    let Some(home) = home() else { return };
    let _turn = turn();
    measure_examples(&home, ["mariadb:10.11", "postgres:15"]);
}

#[test]
#[ignore = "soak: MySQL is downloaded; it differs from MariaDB in what UPDATE counts, and in dates"]
fn every_key_is_measured_on_mysql() {
    let Some(home) = home() else { return };
    let _turn = turn();
    measure_examples(&home, ["mysql:8.0.33@maven", "postgres:15"]);
}

fn measure_examples(home: &Home, arms: [&str; 2]) {
    let store = Store::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(here.join("../../docs/guide/custom-loads.md")).unwrap();
    let (_, rest) = guide.split_once("```toml\nname = \"hot-rows\"").unwrap();
    let hot_rows = format!("name = \"hot-rows\"{}", rest.split("```").next().unwrap());
    let file = store.path().with_file_name("hot-rows.toml");
    std::fs::write(&file, hot_rows).unwrap();
    let ledger = here.join("../../examples/ledger.toml");
    let loads = format!("{},{}", ledger.display(), file.display());
    let more = ["--load", &loads, "--clients", "2", "--rounds", "1", "--format", "json"];
    let args = [&["compare"], &arms[..], &BRIEF, &more].concat();
    let done = finish(store.command(home, &args));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(run["status"], "complete");
    let cells = run["cells"].as_array().unwrap();
    let loads: Vec<&str> = cells.iter().map(|cell| cell["load"].as_str().unwrap()).collect();
    assert_eq!(loads, ["ledger", "hot-rows"]);
}

/// What the file says wrongly is not the server's fault, and is not met once more.
#[test]
fn a_wrong_answer_is_held_against_the_file() {
    let _turn = turn();
    let home = Home::new();
    let file = home.path().with_extension("toml");
    let statements = [
        ("UPDATE t SET a = 1 WHERE id = -1", "changed = 1", "write changed = \"0..1\" in "),
        ("SELECT a FROM t WHERE id < 4", "rows = 4", "says wrongly what is right, by rows, or "),
    ];
    for (sql, right, said) in statements {
        std::fs::write(
            &file,
            format!(
                "name = \"wrong\"\ngroup = \"write\"\n\
                 [[table]]\nname = \"t\"\nrows = 100\n\
                 create = \"CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)\"\n\
                 columns = {{ id = \"{{row}}\", a = \"0\" }}\n\
                 [[step]]\nsql = \"{sql}\"\n{right}\n"
            ),
        )
        .unwrap();
        let done = home.dbdyno(["compare", "sqlite:", "sqlite:", "--load", file.to_str().unwrap()]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(said), "{done:?}");
        let expected = format!(" rows, and {} expects ", file.display());
        let at = |text: &str| done.err.find(text).unwrap_or(usize::MAX);
        assert!(at(&expected) < at(said), "{done:?}");
        assert!(at(said) < at("the server"), "the server is blamed first: {done:?}");
        let mend = format!("mend {} and compare again", file.display());
        assert!(done.err.contains(&mend) && !done.err.contains("dbdyno resume"), "{done:?}");
    }
    std::fs::remove_file(&file).unwrap();
}

/// A server without a strict mode cuts what does not fit: 1 000 to 127, eight letters to three. The
/// rows were then not those of the load, and nothing said so.
#[test]
fn rows_that_do_not_fit_are_refused_whatever_the_mode_of_the_server() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let file = store.path().with_file_name("narrow.toml");
    std::fs::write(
        &file,
        "name = \"narrow\"\ngroup = \"point\"\n\
         [[table]]\nname = \"t\"\nrows = 100\n\
         create = \"CREATE TABLE t (id INTEGER PRIMARY KEY, a TINYINT)\"\n\
         columns = { id = \"{row}\", a = \"{int 500..1000}\" }\n\
         [[event]]\nname = \"read\"\n[[event.step]]\n\
         sql = \"SELECT a FROM t WHERE id = {id}\"\nrows = 1\n",
    )
    .unwrap();
    let args = ["diff", "mariadb:10.11?sql_mode=", "mariadb:10.11", "--load-file"];
    let more = [file.to_str().unwrap(), "--load", "narrow"];
    let done = finish(store.command(&home, &[&args[..], &more].concat()));
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("Out of range value for column 'a'"), "{done:?}");
}
