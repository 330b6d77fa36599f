//! What is concluded of a run, and what may be done with it: models in virtual time, of which the
//! truth is known, so that the same is found on every host.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Done, Home, end, measured_pairs, signal};

/// Rounds vary by 2 % and starts by 1 %, as on a quiet host.
const BASE: &str = "mock:?noise=0.02&restarts=0.01";

fn compare(base: &str, test: &str, more: &str) -> Vec<String> {
    let words = ["compare", base, test, "--quick", "--rows", "2000"].into_iter();
    words.chain(more.split_whitespace()).map(str::to_owned).collect()
}

fn cell(home: &Home, code: i32, base: &str, test: &str, more: &str) -> Value {
    home.json(code, compare(base, test, more))["cells"][0].clone()
}

/// The anchor: an arm that loses a twentieth of its rate on purpose is found, in each of ten runs,
/// and the interval holds the truth in all of them but one at most.
#[test]
fn a_planted_slowdown_is_found_and_fails_the_gate() {
    let home = Home::new();
    let mut held = 0;
    for seed in 1..=10 {
        let arm = format!("{BASE}&seed={seed}");
        let gate = "--gate rqps>0.98";
        let cell = cell(&home, 1, &arm, &format!("{arm}&slow=5%"), gate);
        assert_eq!(cell["verdict"], "slower", "{cell}");
        let number = |name: &str| cell[name].as_f64().unwrap();
        held += u32::from(number("rqps_low") < 0.95 && 0.95 < number("rqps_high"));
    }
    assert!(held >= 9, "{held} of 10");
    let told = home.dbdyno(["show", "--gate", "rqps > 0.98"]).err;
    assert!(told.contains("gate   rqps > 0.98 fails: point-query"), "{told}");
    let shown = home.json(0, ["show"]);
    let warnings = shown["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "slowed"), "{shown}");
    let gate = |gate: &str| home.dbdyno(["show", "--gate", gate]).code;
    assert_eq!((gate("rqps > 0.98"), gate("rqps > 0.1")), (1, 0));
    let inside = format!("rqps > {}", shown["cells"][0]["rqps"]);
    assert_eq!(gate(&inside), 3, "a gate inside of the interval");
}

/// The canary: the same question to two arms alike must not find what is not there.
#[test]
fn no_slowdown_is_found_where_none_was_planted() {
    let home = Home::new();
    for seed in 1..=10 {
        let arm = format!("{BASE}&seed={seed}");
        let done = home.dbdyno(compare(&arm, &arm, "--budget 5% --format json"));
        let run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        assert_eq!(run["cells"][0]["verdict"], "equal", "{run}");
    }
    // Every one of them is an arm compared with itself, and none was called different.
    let tests = home.json(3, ["show", "--gate", "rqps > 1"])["self_tests"].clone();
    assert_eq!((&tests["cells"], &tests["wrong"]), (&9.into(), &0.into()), "{tests}");
}

/// What falls on both arms is no difference: a host that wanders and slows down.
#[test]
fn a_drifting_host_is_no_difference() {
    let home = Home::new();
    let arm = "mock:?noise=0.01&host=0.05&ar=0.9&drift=-0.3";
    let equal = cell(&home, 0, arm, arm, "--budget 5% --restarts 0");
    assert_eq!(equal["verdict"], "equal", "{equal}");
    let slower = cell(&home, 0, arm, &format!("{arm}&slow=20%"), "--restarts 0");
    assert_eq!(slower["verdict"], "slower", "{slower}");
}

/// A host that takes memory of one arm away makes that arm slower, and it is no slower server: the
/// memory is brought back before its rounds, or there is no verdict.
#[test]
fn memory_that_the_host_takes_away_is_no_difference() {
    let home = Home::new();
    let test = format!("{BASE}&away=0.1");
    for load in ["point-query", "update-one"] {
        let more = |keep: &str| format!("--budget 5% --load {load} --keep-memory {keep}");
        for keep in ["auto", "always"] {
            let kept = cell(&home, 0, BASE, &test, &more(keep));
            assert_eq!(kept["verdict"], "equal", "{keep}: {kept}");
        }
        let told = home.json(0, ["show"])["warnings"].to_string();
        assert!(!told.contains("memory-at-rest"), "asked for: {told}");

        let left = cell(&home, 3, BASE, &test, &more("never"));
        assert_eq!(left["verdict"], "undecided", "{left}");
        let warnings = left["warnings"].to_string();
        assert!(warnings.contains("test: when its rounds began"), "{warnings}");
        assert!(warnings.contains("10.0 % of its pages"), "{warnings}");
        assert!(left["rqps"].as_f64().unwrap() < 0.95, "{left}");
    }
    home.json(0, compare(BASE, &test, "--budget 5%"));
    let told = home.json(0, ["show"])["warnings"].to_string();
    assert!(told.contains("before a round of test, 10.0 % of its pages"), "{told}");
}

/// An arm that slows down while it is measured has no one rate, and that is said.
#[test]
fn an_arm_that_drifts_by_itself_is_told() {
    let home = Home::new();
    let drifting = "mock:?noise=0.01&drift=-0.2";
    let cell = home.json(0, compare("mock:?noise=0.01", drifting, "--restarts 0"));
    let warnings = cell["cells"][0]["warnings"].as_array().unwrap();
    let codes: Vec<&str> = warnings.iter().map(|one| one["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"trend") && codes.contains(&"not-stationary"), "{codes:?}");
}

/// A server that is held up for longer than a round now and then does not end the run: that is
/// said, and where it happens often there is no verdict.
#[test]
fn a_server_that_stands_still_for_a_round_is_told() {
    let home = Home::new();
    for (share, severity) in [("0.02", "caution"), ("0.3", "blocks")] {
        let still = format!("{BASE}&stall_s=0.3&stalls={share}");
        let done = home.dbdyno(compare(BASE, &still, "--restarts 3 --format json"));
        let run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        let cell = &run["cells"][0];
        let warnings = cell["warnings"].as_array().unwrap();
        let told = warnings.iter().find(|warning| warning["code"] == "stood-still");
        assert_eq!(told.unwrap_or_else(|| panic!("{cell}"))["severity"], severity, "{cell}");
        assert!(severity == "caution" || cell["verdict"] == "undecided", "{cell}");
    }
}

/// Of 32 cells of equal arms one is off by more than chance allows a single one: the family takes
/// that back, and tells of no cell that it differs. (So it is with five of the seeds 1 to 30.)
#[test]
fn of_a_suite_of_equal_arms_nothing_is_told() {
    let home = Home::new();
    let arm = format!("{BASE}&seed=16");
    let flags = "--load sysbench-32 --rounds 16 --restarts 7 --seed 4 --format json";
    let done = home.dbdyno(compare(&arm, &arm, flags));
    let run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 32);
    for cell in cells {
        assert!(["undecided", "equal"].contains(&cell["verdict"].as_str().unwrap()), "{cell}");
    }
    let warnings = cells.iter().flat_map(|cell| cell["warnings"].as_array().unwrap());
    let taken_back = warnings.filter(|warning| warning["code"] == "many-cells").count();
    assert_eq!(taken_back, 1, "{run}");
}

/// Where the answer lies is known: four connections that take 5 ms an event do 800 of them a
/// second, and 400 where each is drawn out to twice its time.
#[test]
fn the_highest_rate_is_found() {
    let home = Home::new();
    let flags = "--load point-query --clients 4 --rounds 4 --find-max";
    let mut args = compare("mock:?rate=200", "mock:?rate=200&slow=50%", flags);
    args.push("p95 < 100ms".to_owned());
    let done = home.dbdyno(args.into_iter().chain(["--format".to_owned(), "json".to_owned()]));
    let run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    let cell = &run["cells"][0];
    assert_eq!(cell["measure"], "max_rate");
    for (arm, truth) in [("base", 800.0), ("test", 400.0)] {
        let rate = cell[arm]["max_rate"].as_f64().unwrap();
        // A window of half a second is over before a queue of 100 ms has built up at 1.1 times it.
        assert!((0.9 * truth..1.25 * truth).contains(&rate), "{arm}: {rate} of {truth}");
    }
    assert!(home.dbdyno(["show"]).out.contains("events/s with p95 < 100ms"));
}

#[test]
fn reads_take_turns_in_slices_and_writes_do_not() {
    let home = Home::new();
    for (load, more, is_cut) in [
        ("point-query", "", true),
        ("point-query", "--slice none", false),
        ("update-nonindex", "", false),
    ] {
        let flags = format!("--load {load} --rounds 3 --format json {more}");
        let arm = "mock:?rate=20000&noise=0.01";
        let Done { out, err, .. } = home.dbdyno(compare(arm, arm, &flags));
        let run: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        let warnings = run["warnings"].as_array().unwrap();
        let is_told = warnings.iter().any(|warning| warning["code"] == "interleaved");
        assert_eq!(is_told, is_cut, "{load} {more}");
        assert_eq!(measured_pairs(&run["cells"][0]), 3);
    }
}

/// It is talk: stdout is the same whether it was shown or not. What is of a run is shown always.
#[test]
fn a_note_on_the_method_is_shown_once_for_each_store() {
    const NOTE: &str = "take turns in slices";
    let (home, other) = (Home::new(), Home::new());
    let (base, test) = ("mock:?rate=20000&noise=0.01", "mock:?rate=20000&noise=0.01&slow=5%");
    let notes_of = |home: &Home, more: &str| {
        let flags = format!("--load point-query --rounds 3 {more}");
        let done = home.dbdyno(compare(base, test, &flags));
        assert!(done.err.contains("\ncaution test is slowed by 5 %"), "{done:?}");
        assert!(!done.out.contains(NOTE) || more == "--all", "{done:?}");
        done.err.matches(NOTE).count()
    };
    assert_eq!([notes_of(&home, ""), notes_of(&home, ""), notes_of(&home, "--all")], [1, 0, 0]);
    assert_eq!(notes_of(&other, ""), 1, "another store");
    for more in [&["--all"][..], &["--section", "notes"]] {
        let shown = home.dbdyno([&["show"], more].concat()).out;
        assert!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(NOTE), "{shown}");
    }
}

#[test]
fn stored_runs_of_unequal_shape_are_not_compared() {
    let home = Home::new();
    for (rows, name) in [("2000", "small"), ("3000", "large")] {
        let flags = format!("--rounds 1 --rows {rows} --name {name}");
        let args = compare(BASE, BASE, "")
            .into_iter()
            .filter(|word| !["--rows", "2000"].contains(&word.as_str()));
        let done = home.dbdyno(args.chain(flags.split(' ').map(str::to_owned)));
        assert_eq!(done.code, 3, "{done:?}");
        assert!(done.err.contains("the next release will exit with 0 here"), "{done:?}");
    }
    // Who looks at an undecided run has seen it; a gate is another question.
    for (code, args) in [
        (0, &["show", "@small"][..]),
        (0, &["show", "@small", "--format", "csv"]),
        (3, &["show", "@small", "--gate", "rqps > 0.99"]),
    ] {
        let done = home.dbdyno(args);
        assert_eq!(done.code, code, "{args:?}: {done:?}");
    }
    let Done { code, out, err } = home.dbdyno(["compare", "@small", "@last"]);
    assert_eq!((code, out.as_str()), (2, ""));
    for part in ["--rows is 2000 in the one and 3000 in the other", "repeat one of them"] {
        assert!(err.contains(part), "{part} is missing in: {err}");
    }
}

#[test]
fn what_was_measured_until_ctrl_c_is_kept() {
    let home = Home::new();
    let args = compare(BASE, BASE, "--rounds 10000 --format json");
    let child = home.start_and_halt(args, 41);
    signal(&child, Signal::SIGINT);
    let Done { code, out, err } = end(child);
    assert_eq!(code, 130, "{err}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(run["status"], "interrupted");
    assert_eq!(measured_pairs(&run["cells"][0]), 20, "{run}");
    assert!(run["warnings"].as_array().unwrap().iter().any(|w| w["code"] == "not-finished"));
    assert!(home.dbdyno(["runs"]).out.contains("interrupted"));
    let shown = home.dbdyno(["show", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&shown.out).unwrap(), run);
}

/// The same words and seeds, the same answer to the last digit.
#[test]
fn a_run_of_models_can_be_repeated_exactly() {
    let figures = || {
        let home = Home::new();
        let arm = format!("{BASE}&host=0.03&ar=0.5&jitter=0.2&spikes=0.02");
        let done = home.dbdyno(compare(&arm, &format!("{arm}&slow=2%"), "--format json"));
        let mut run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        run["run"] = Value::Null;
        run
    };
    assert_eq!(figures(), figures());
}

#[test]
fn models_and_servers_do_not_take_turns() {
    let home = Home::new();
    for (args, said) in [
        (&["mock:", "sqlite:"][..], "a model runs in virtual time"),
        (&["mock:", "mock:", "--load", "tpcc"], "answers the same to everything"),
        (&["mock:", "mock:", "--count"], "is a model"),
        (&["mock:?nois=1", "mock:"], "no word of it"),
    ] {
        let done = home.dbdyno([&["compare"][..], args].concat());
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(said), "{said}: {}", done.err);
    }
}

/// What a model answers is a function of its words: not of what else the store has.
#[test]
fn the_same_command_finds_the_same_whatever_ran_before() {
    let home = Home::new();
    let found = || {
        let cell = cell(&home, 1, BASE, "mock:?rate=940&noise=0.02&seed=3", "--gate rqps>0.99");
        ["rqps", "rqps_low", "rqps_high"].map(|name| cell[name].as_f64().unwrap())
    };
    let first = found();
    cell(&home, 0, "mock:?seed=9", "mock:?seed=8", "--gate rqps>0.5");
    assert_eq!(found(), first);
}
