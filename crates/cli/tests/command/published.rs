//! Printed figures held against runs whose truth is known: models in virtual time.

use std::fs;

use serde_json::Value;

use crate::common::Home;

/// Ten per cent slower than base, and of equal processor time.
const FILE: &str = r#"
question = "Is a model as slow as it was told to be?"
source = "Nobody, a model"
base = "mock:?noise=0.01&restarts=0.002&seed=3"
test = "mock:?noise=0.01&restarts=0.002&seed=3&rate=900"
flags = { load = "point-query,scan", quick = true, rows = 2000, name = "told" }
quick = { load = "point-query", name = "told-quick" }
found = "what was told"

[stands-for]
"1" = "mock:?noise=0.01&restarts=0.002&seed=3"
"2" = "mock:?noise=0.01&restarts=0.002&seed=3&rate=900"

[[published]]
of = "as told"
base = "1"
test = "2"

[published.ratios]
point-query = 0.9
scan = 0.8
insert = 0.9

[published.because]
scan = "it was printed wrong"

[[published]]
of = "the other way round"
base = "2"
test = "1"

[published.ratios]
point-query = 1.11

[[published]]
of = "who is not here"
base = "1"
test = "3"

[published.ratios]
point-query = 0.9

[[expect]]
what = "rate"
sign = "less"
why = "it was told so"
"#;

fn standings(table: &Value) -> Vec<&str> {
    let rows = table["rows"].as_array().unwrap();
    rows.iter().map(|row| row["standing"].as_str().unwrap()).collect()
}

/// What was planted is confirmed, what was printed wrong is not, and what was not measured is never
/// held to have been.
#[test]
fn printed_figures_are_held_against_the_newest_run() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("told.toml");
    fs::write(&file, FILE).unwrap();
    let file = file.to_str().unwrap();
    let missing = home.dbdyno(["published", file]);
    assert_eq!(missing.code, 2, "{missing:?}");
    assert!(missing.err.contains("no run of this experiment is stored"), "{missing:?}");
    // The short form first: it measures one load.
    let short = home.dbdyno(["run", file, "--quick"]);
    assert_eq!(short.code, 0, "{short:?}");
    assert!(short.err.contains("= confirmed"), "{short:?}");
    let short = home.json(3, ["published", file]);
    assert_eq!(
        standings(&short["published"][0]["tables"][0]),
        ["confirmed", "not testable here", "not testable here"]
    );
    // The whole form comes before it, whichever is newer.
    let whole = home.dbdyno(["run", file]);
    assert_eq!(whole.code, 1, "one figure differs: {whole:?}");
    let whole = home.json(1, ["published", file]);
    let whole = &whole["published"][0];
    let tables = whole["tables"].as_array().unwrap();
    assert_eq!(standings(&tables[0]), ["confirmed", "different here", "not testable here"]);
    assert_eq!(tables[0]["rows"][1]["because"], "it was printed wrong");
    assert_eq!(standings(&tables[1]), ["confirmed"], "the arms the other way round");
    assert_eq!(standings(&tables[2]), ["not testable here"], "no arm stands for release 3");
    assert_eq!(tables[2]["agreement"], Value::Null);
    assert_eq!(tables[0]["agreement"]["rows"], 2);
    let signs = whole["signs"].as_array().unwrap();
    assert!(signs.iter().all(|sign| sign["standing"] == "confirmed"), "{signs:?}");
    let command = whole["command"].as_str().unwrap();
    assert!(!command.contains("--store") && !command.contains("--home"), "{command}");
}

/// Two loads of two tables are printed wrong, one of them twice: each is explained once, the one
/// further off first, and what agrees is not.
#[test]
fn what_lies_beyond_the_tolerance_is_explained_once() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("told.toml");
    let text = FILE
        .replace("load = \"point-query,scan\"", "load = \"point-query,scan,insert\"")
        .replace("insert = 0.9", "insert = 0.7")
        .replace("point-query = 1.11", "point-query = 1.11\nscan = 1.3");
    fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(home.dbdyno(["run", file]).code, 1);
    let unasked = home.json(1, ["published", file]);
    assert_eq!(unasked["published"][0]["explained"], Value::Array(Vec::new()));
    let told = home.json(1, ["published", file, "--explain", "--limit", "1h"]);
    let explained = told["published"][0]["explained"].as_array().unwrap();
    let printed: Vec<(&Value, &Value)> =
        explained.iter().map(|one| (&one["theirs"], &one["of"])).collect();
    let expected = [(0.7, "as told"), (1.3, "the other way round"), (0.8, "as told")];
    let expected = expected.map(|(theirs, of)| (Value::from(theirs), Value::from(of)));
    assert!(printed.iter().copied().eq(expected.iter().map(|(theirs, of)| (theirs, of))), "{told}");
    let of = |one: &Value| {
        let cause = &one["accounts"][0]["causes"][0];
        let names = [&one["load"], &one["test"], &cause["name"], &cause["test"]];
        names.map(|name| name.as_str().unwrap_or_default().to_owned())
    };
    let found: Vec<[String; 4]> = explained.iter().map(of).collect();
    let slow = "mock:?noise=0.01&restarts=0.002&seed=3&rate=900 (mock)";
    let fast = "mock:?noise=0.01&restarts=0.002&seed=3 (mock)";
    let expected = [
        ["insert", slow, "rate", "900"],
        ["scan", fast, "rate", ""],
        ["scan", slow, "rate", "900"],
    ];
    assert_eq!(found, expected.map(|one| one.map(str::to_owned)), "{told}");
    for (format, shown) in [("text", "insert at 1 client: rQPS"), ("markdown", "### Explained")] {
        let page = home.dbdyno(["published", file, "--explain", "--format", format]);
        assert!(page.out.contains(shown), "{format}: {page:?}");
    }
    let refused = home.dbdyno(["published", file, "--explain", "--format", "csv"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("no shape in csv"), "{refused:?}");
}
