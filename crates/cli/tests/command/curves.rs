//! Several client counts, and several numbers of rows, as a user meets them.

use crate::common::Home;
use serde_json::Value;

fn measured(home: &Home, arms: [&str; 2], flags: &[&str]) -> Value {
    let args = [&["compare"][..], &arms, flags, &["--format", "json"]].concat();
    let done = home.dbdyno(&args);
    assert!(done.code == 0 || done.code == 3, "{}: {}", done.code, done.err);
    serde_json::from_str::<Value>(&done.out).expect("one JSON object")
}

/// Contention of 2 % in base and of 6 % in test are what the curves say.
#[test]
fn client_counts_become_a_curve() {
    let home = Home::new();
    let page = home.path().join("page.html");
    let arms = ["mock:?noise=0.01&sigma=0.02", "mock:?noise=0.01&sigma=0.06"];
    let clients = ["--clients", "1,2,4,8,16,32", "--load", "point-query", "--quick"];
    let more = ["--rounds", "16", "--rows", "2000", "--report", page.to_str().unwrap()];
    let run = measured(&home, arms, &[&clients[..], &more].concat());
    let curve = &run["curves"][0];
    let points = curve["points"].as_array().unwrap();
    let clients: Vec<u64> = points.iter().map(|point| point["clients"].as_u64().unwrap()).collect();
    assert_eq!((clients, &curve["load"]), (vec![1, 2, 4, 8, 16, 32], &"point-query".into()));
    for (arm, truth) in [("base", 0.02), ("test", 0.06)] {
        let sigma = &curve[arm]["sigma"];
        let (low, high) = (sigma["low"].as_f64().unwrap(), sigma["high"].as_f64().unwrap());
        assert!(low < truth && truth < high && high - low < 0.03, "{arm}: {curve}");
    }
    assert!(run["costs"].is_null(), "one size is no line");
    let page = std::fs::read_to_string(&page).unwrap();
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 1);
    for laws in ["little-broken", "miscounted"] {
        assert!(!page.contains(laws), "a round that was measured breaks no law: {laws}");
    }
}

/// A row costs base 2 µs and test 3 µs, and an event 40 µs beside that, is what the lines say.
#[test]
fn numbers_of_rows_become_a_line() {
    let home = Home::new();
    let loads = "random-points_range=10,random-points,random-points_range=1000";
    let arms = ["mock:?rate=20000&cpu_us=40&row_us=2&noise=0.01"; 2];
    let arms = [arms[0].to_owned(), arms[1].replace("row_us=2", "row_us=3")];
    let more = ["--quick", "--rounds", "16", "--rows", "2000", "--load", loads];
    let run = measured(&home, [&arms[0], &arms[1]], &more);
    let costs = run["costs"].as_array().unwrap();
    let measures: Vec<&str> = costs.iter().map(|cost| cost["measure"].as_str().unwrap()).collect();
    assert_eq!(measures, ["server_cpu", "elapsed"]);
    for cost in costs {
        let points = cost["points"].as_array().unwrap();
        let rows: Vec<f64> = points.iter().map(|point| point["rows"].as_f64().unwrap()).collect();
        assert_eq!(rows, [10.0, 100.0, 1000.0]);
        for (arm, truth) in [("base", 2.0), ("test", 3.0)] {
            let bound = |name: &str| cost[arm]["per_row_us"][name].as_f64().unwrap();
            let is_told = 0.99 * bound("low") < truth && truth < 1.01 * bound("high");
            assert!(is_told, "{arm}: {cost}");
        }
    }
    assert!(run["curves"].is_null(), "one client count is no curve");
}
