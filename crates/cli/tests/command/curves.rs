//! Several client counts, and several numbers of rows, as a user meets them.

use crate::common::{Home, SHORT, turn};
use serde_json::Value;

/// Whether both arms have been fitted, or it is said why not.
fn is_told(of: &Value) -> bool {
    let warnings = of["warnings"].as_array().unwrap();
    of["base"].is_object() && of["test"].is_object() || !warnings.is_empty()
}

#[test]
fn client_counts_become_a_curve_and_sizes_a_line() {
    let _turn = turn();
    let home = Home::new();
    let page = home.path().join("page.html");
    let loads = "random-points_range=10,random-points,random-points_range=1000";
    let measured = |more: [&str; 6]| {
        let short = SHORT.into_iter().filter(|flag| !["--seconds", "1"].contains(flag));
        let flags = ["--rounds", "2", "--seconds", "0.2", "--restarts", "0", "--format", "json"];
        let first = ["compare", "sqlite:", "sqlite:"].into_iter().chain(short);
        let args: Vec<&str> = first.chain(more).chain(flags).collect();
        let done = home.dbdyno(&args);
        assert!(done.code == 0 || done.code == 3, "{}: {}", done.code, done.err);
        serde_json::from_str::<Value>(&done.out).expect("one JSON object")
    };
    let page_flag = page.to_str().unwrap();
    let run = measured(["--load", "point-query", "--clients", "1,2,3,4", "--report", page_flag]);
    let curve = &run["curves"][0];
    let points = curve["points"].as_array().unwrap();
    let clients: Vec<u64> = points.iter().map(|point| point["clients"].as_u64().unwrap()).collect();
    assert_eq!((clients, &curve["load"]), (vec![1, 2, 3, 4], &"point-query".into()));
    assert!(is_told(curve), "{curve}");
    assert!(run["costs"].is_null(), "one size is no line");
    let page = std::fs::read_to_string(&page).unwrap();
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 1);
    for laws in ["little-broken", "miscounted"] {
        assert!(!page.contains(laws), "a round that was measured breaks no law: {laws}");
    }
    let run = measured(["--load", loads, "--clients", "1", "--name", "sizes"]);
    let costs = run["costs"].as_array().unwrap();
    let measures: Vec<&str> = costs.iter().map(|cost| cost["measure"].as_str().unwrap()).collect();
    assert_eq!(measures, ["server_cpu", "elapsed"]);
    for cost in costs {
        let rows: Vec<f64> = cost["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["rows"].as_f64().unwrap())
            .collect();
        assert_eq!(rows, [10.0, 100.0, 1000.0]);
        assert!(is_told(cost), "{cost}");
        // More rows cost more processor time. Rounds of other cells have met another host.
        let value = |at: usize| cost["points"][at]["base"]["value"].as_f64().unwrap();
        let grows = value(0) < value(1) && value(1) < value(2);
        assert!(grows || cost["measure"] == "elapsed", "{cost}");
    }
    assert!(run["curves"].is_null(), "one client count is no curve");
}
