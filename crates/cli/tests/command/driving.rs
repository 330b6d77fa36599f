//! Ways of driving on real servers: crowds that think, events at a rate.

use dbdyno_model::random;
use serde_json::Value;

use crate::common::{Done, Home, SHORT, finish, turn};
use crate::servers::{self, Store};

/// One comparison: its JSON, and the text of `dbdyno show`.
fn measure(home: &Home, base: &str, test: &str, flags: &[&str]) -> (Value, String) {
    let store = Store::new();
    let args = [&["compare", base, test][..], flags].concat();
    let mut command = store.command(home, &args);
    command.args(["--format", "json"]);
    let Done { code, out, err } = finish(command);
    assert!([0, 3].contains(&code), "{err}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(run["status"], "complete", "{err}");
    // What is stored is what was shown first.
    let stored = finish(store.command(home, &["show", "--format", "json"])).out;
    assert_eq!(serde_json::from_str::<Value>(&stored).unwrap()["cells"], run["cells"]);
    (run, finish(store.command(home, &["show", "--all"])).out)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn codes(warnings: &Value) -> Vec<&str> {
    warnings.as_array().unwrap().iter().map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// More clients than get a thread each. About 600 events a second are due, of which a busy machine
/// answers fewer; each client asks at most once in half a second.
fn a_crowd(server: &str) {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let more = "--clients 600 --think 500ms..1.5s --rounds 1";
    let flags: Vec<&str> = SHORT.into_iter().chain(more.split(' ')).collect();
    let (run, text) = measure(&home, server, server, &flags);
    assert_eq!(run["driving"], "think 500ms..1.5s");
    assert!(codes(&run["warnings"]).contains(&"sharded-clients"), "{run}");
    let cell = &run["cells"][0];
    assert_eq!((&cell["clients"], &cell["measure"]), (&600.into(), &"response".into()));
    for arm in ["base", "test"] {
        let tps = number(&cell[arm]["tps"]);
        assert!((50.0..1_200.0).contains(&tps), "{tps} events/s: {cell}");
        assert!(number(&cell[arm]["latency_us"]["p50"]) > 0.0, "{cell}");
        assert!(cell[arm]["response_us"].is_null(), "pauses are a closed loop: {cell}");
        assert!(number(&cell[arm]["server_cpu_us_per_op"]) > 0.0, "{cell}");
    }
    // It is the head of a column, which may be wrapped.
    for part in "response time of clients that think 500ms..1.5s".split(' ') {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let command = run["command"].as_str().unwrap();
    assert!(command.contains("--clients 600") && command.contains("--think 500ms..1.5s"));
}

#[test]
fn a_crowd_that_thinks_is_served_by_mariadb() {
    a_crowd("mariadb:10.11");
}

#[test]
#[ignore = "soak: six hundred processes; sandbox has a thousand clients, and MariaDB a crowd"]
fn a_crowd_that_thinks_is_served_by_postgres() {
    a_crowd("postgres:15");
}

/// Events of a Poisson process that fall into a window of so many seconds, for one pair of a plan
/// with seed 1: written down independently of the schedule. Gaps are −ln u, the lead-in runs at the
/// same rate.
fn poisson_events(pair: u64, rate: f64, lead_in_s: f64, window_s: f64) -> u64 {
    let seed = random::stream(&[1, 0x7363_6865_6475_6c65, pair]).next_u64();
    let (mut sum, mut inside) = (0.0, 0);
    for event in 0.. {
        let bits = random::stream(&[seed, 0x6172_7269_7661_6c73, event]).next_u64() >> 11;
        sum -= ((bits as f64 + 0.5) / (1_u64 << 53) as f64).ln();
        let time = sum / rate - lead_in_s;
        if time >= window_s {
            return inside;
        }
        inside += u64::from(time >= 0.0);
    }
    unreachable!()
}

/// What is shown and stored of both arms when `offered` events are due in all of two rounds of a
/// second.
fn offered_exactly(run: &Value, text: &str, rate: &str, offered: u64) {
    assert_eq!(run["driving"], format!("rate {rate}"));
    let cell = &run["cells"][0];
    assert_eq!(cell["measure"], "response");
    for arm in ["base", "test"] {
        let arm = &cell[arm];
        let count = number(&arm["offered_per_second"]) * 2.0;
        assert!((count - offered as f64).abs() < 1e-6, "{count} offered, {offered} due: {cell}");
        assert!(number(&arm["unanswered"]) < offered as f64 / 2.0, "{cell}");
        let p50 = |name: &str| number(&arm[name]["p50"]);
        assert!(p50("latency_us") > 0.0 && p50("response_us") > 0.0, "{cell}");
        // Nobody is answered earlier than from the intended moment.
        let max = |name: &str| number(&arm[name]["max"]);
        assert!(max("response_us") >= max("lag_us"), "{cell}");
    }
    for row in ["latency p99", "response p99", "offered events/s", "generator's lag p99"] {
        assert!(text.contains(row), "{row} is missing in {text}");
    }
}

fn at_rate(rate: &str) -> Vec<&str> {
    let more = ["--rate", rate, "--clients", "4", "--rounds", "2"];
    [&SHORT[..], &more].concat()
}

#[test]
fn mariadb_is_offered_what_a_poisson_schedule_says() {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let rate = "poisson:400";
    let (run, text) = measure(&home, "mariadb:10.11", "mariadb:10.11", &at_rate(rate));
    let offered = [0, 1].map(|pair| poisson_events(pair, 400.0, 0.2, 1.0)).iter().sum();
    offered_exactly(&run, &text, rate, offered);
}

#[test]
fn postgres_is_offered_what_steps_say() {
    let Some(home) = servers::home() else { return };
    let _turn = turn();
    let rate = "steps:100,500@500ms";
    let (run, text) = measure(&home, "postgres:15", "postgres:15", &at_rate(rate));
    offered_exactly(&run, &text, rate, 2 * (50 + 250));
}
