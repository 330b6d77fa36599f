//! The reference engine as an arm, measured for real.

use serde_json::Value;

use crate::common::{BRIEF, Home, turn};

#[test]
fn two_designs_are_compared_and_what_differs_is_varied() {
    let _turn = turn();
    let home = Home::new();
    let base = "engine:?device=none";
    let test = "engine:?view=csn&device=none&slow=60%";
    let load = ["--rounds", "3", "--pin", "none", "--format", "json"];
    let load = [&load[..], &["--load", "point-query,settle,update-index"]].concat();
    let run = home.dbdyno([&["compare", base, test][..], &BRIEF, &load].concat());
    assert!([0, 1, 3].contains(&run.code), "{run:?}");
    let run: Value = serde_json::from_str(&run.out).unwrap();
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2, "{cells:?}");
    for cell in cells {
        for arm in ["base", "test"] {
            assert!(cell[arm]["qps"].as_f64().unwrap() > 0.0, "{cell}");
            assert!(cell[arm]["server_cpu_us_per_op"].as_f64().unwrap() > 0.0, "{cell}");
        }
    }
    let unequal = run["audit"]["unequal"].as_array().unwrap();
    let varied: Vec<&Value> = unequal.iter().filter(|one| one["weight"] == "varied").collect();
    assert!(varied.iter().any(|one| one["name"] == "variable.view"), "{unequal:?}");
    let codes: Vec<&str> =
        run["warnings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"settled") && !codes.contains(&"several-mechanisms"), "{codes:?}");
}

#[test]
fn a_comparison_of_several_mechanisms_says_so() {
    let _turn = turn();
    let home = Home::new();
    let args = ["compare", "engine:?device=none", "engine:?device=none&view=csn&wake=futex"];
    let load = ["--rounds", "3", "--pin", "none", "--format", "json"];
    let load = [&load[..], &["--load", "tpcc?items=200&customers=30"]].concat();
    let run = home.dbdyno([&args[..], &BRIEF, &load].concat());
    assert!([0, 1, 3].contains(&run.code), "{run:?}");
    let run: Value = serde_json::from_str(&run.out).unwrap();
    let warnings = run["warnings"].as_array().unwrap();
    let told = warnings.iter().find(|one| one["code"] == "several-mechanisms").unwrap();
    assert!(told["text"].as_str().unwrap().contains("view: vector, csn"), "{told}");
}

#[test]
fn what_the_clients_of_an_arm_record_is_judged_with_its_rounds() {
    let _turn = turn();
    let home = Home::new();
    let compare = |test: &str, load: &str| {
        let more = ["--rounds", "3", "--pin", "none", "--format", "json", "--load", load];
        home.dbdyno([&["compare", "engine:?device=none", test][..], &BRIEF, &more].concat())
    };
    let run = compare("engine:?device=none&record=on", "register?rows=20");
    assert!([0, 1, 3].contains(&run.code), "{run:?}");
    let run: Value = serde_json::from_str(&run.out).unwrap();
    let warnings = run["cells"][0]["warnings"].as_array().unwrap();
    let notes: Vec<&str> = warnings
        .iter()
        .filter(|one| one["code"] == "isolation")
        .map(|one| one["text"].as_str().unwrap())
        .collect();
    let [note] = notes[..] else { panic!("of the arm that records, once: {warnings:?}") };
    assert!(note.contains("test recorded") && note.contains("is proved of each"), "{note}");
    let refused = compare("engine:?device=none&record=on", "point-query");
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("do not carry their versions"), "{refused:?}");
}

#[test]
fn what_is_no_design_is_refused_with_what_is_one() {
    let home = Home::new();
    for (target, said) in [
        ("engine:?view=vectro", "vector, hybrid, cached, csn"),
        ("engine:?views=csn", "a design has view, view_close"),
        ("engine:1", "fields of a design"),
        ("engin:", "did you mean \"engine\""),
    ] {
        let done = home.dbdyno(["compare", "engine:", target, "--load", "point-query"]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(said), "{target}: {done:?}");
    }
}

/// Over the wire it is the served engine that holds its replica against itself.
#[test]
fn a_served_engine_has_a_replica_as_one_in_process_has() {
    let _turn = turn();
    let home = Home::new();
    let arms = ["topology=replica:1", "topology=replica:1&wire=on"];
    let arms = arms.map(|arm| format!("engine:?device=none&{arm}"));
    let load = ["--rounds", "3", "--pin", "none", "--format", "json"];
    let load = [&load[..], &["--load", "write-only", "--clients", "4"]].concat();
    let run = home.dbdyno([&["compare", &arms[0], &arms[1]][..], &BRIEF, &load].concat());
    assert!([0, 1, 3].contains(&run.code), "{run:?}");
    let rounds = home.last_run().rounds;
    assert_eq!(rounds.len(), 6);
    for round in &rounds {
        // What is not there was not held against its source.
        let behind = round.readings.get("engine.replica_behind_bytes");
        assert!(behind.is_some(), "{:?}", round.key);
    }
}

/// Two ways to apply: each replica has the rows of its source after every round, or the run ends.
#[test]
fn replicas_follow_and_are_held_against_their_sources() {
    let _turn = turn();
    let home = Home::new();
    let arms = ["commit-order&apply=lwm:4", "dag&apply=dag:4"];
    let arms = arms.map(|arm| format!("engine:?device=none&topology=replica:1&depend={arm}"));
    let load = ["--rounds", "3", "--pin", "none", "--format", "json"];
    let load = [&load[..], &["--load", "write-only", "--clients", "4"]].concat();
    let run = home.dbdyno([&["compare", &arms[0], &arms[1]][..], &BRIEF, &load].concat());
    assert!([0, 1, 3].contains(&run.code), "{run:?}");
    let run: Value = serde_json::from_str(&run.out).unwrap();
    let told = run["warnings"].as_array().unwrap();
    let differ = told.iter().find(|one| one["code"] == "several-mechanisms").unwrap();
    assert!(differ["text"].as_str().unwrap().contains("apply: lwm:4, dag:4"), "{differ}");
}
