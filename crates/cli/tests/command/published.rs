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
    let short = home.json(0, ["published", file]);
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
