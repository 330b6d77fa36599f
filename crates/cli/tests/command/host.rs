//! A host that is not as usual for a while: pairs are left out by what it shows, never by results.

use dbdyno_model::Run;
use serde_json::Value;

use crate::common::{Home, measured_pairs};

const FLAGS: &str = "--rounds 60 --restarts 0 --seconds 0.2 --warm-up 0.3 --rows 2000 --slice none";

fn compare(home: &Home, words: &str) -> (Value, Run) {
    let arm = format!("mock:?noise=0.01&seed=5{words}");
    let slower = format!("{arm}&slow=10%");
    let args = ["compare", &arm, &slower, "--format", "json"].into_iter().chain(FLAGS.split(' '));
    let done = home.dbdyno(args);
    let run: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    (run["cells"][0].clone(), home.last_run())
}

/// Where the hypervisor gives a tenth of the time to others now and then, the pairs that met that
/// are left out, and no others; what is left says what a quiet host says.
#[test]
fn pairs_that_met_a_neighbour_are_left_out() {
    let home = Home::new();
    let (cell, run) = compare(&home, "&steal=0.04&stolen=0.5");
    assert_eq!(measured_pairs(&cell), 60);
    let mut stolen: Vec<u32> = run
        .rounds
        .iter()
        .filter(|round| round.readings.get("host.steal_share").unwrap() > 0.1)
        .map(|round| round.key.pair)
        .collect();
    stolen.dedup();
    assert!((4..30).contains(&stolen.len()), "{stolen:?}");
    assert_eq!(cell["pairs_dropped"].as_u64().unwrap() as usize, stolen.len(), "{cell}");
    let warnings = cell["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "pairs-dropped"), "{warnings:?}");
    let rqps = cell["rqps"].as_f64().unwrap();
    assert!((rqps - 0.9).abs() < 0.004, "rounds of half the rate are not among them: {cell}");
}

/// The canary of the sieve: rounds that are slow while the host is as usual are kept, every one.
#[test]
fn slow_rounds_of_a_quiet_host_are_kept() {
    let home = Home::new();
    let (cell, _) = compare(&home, "&spikes=0.2&spike=0.5");
    assert_eq!((&cell["pairs"], &cell["pairs_dropped"]), (&60.into(), &0.into()), "{cell}");
}

/// A client whose threads wait for a processor is late with everything that it asks.
#[test]
fn a_client_without_a_processor_of_its_own_is_told() {
    let home = Home::new();
    let codes = |words: &str| -> Vec<String> {
        let (cell, _) = compare(&home, words);
        let warnings = cell["warnings"].as_array().unwrap().iter();
        let codes = warnings.map(|warning| warning["code"].as_str().unwrap().to_owned());
        codes.filter(|code| code.starts_with("client-")).collect()
    };
    assert_eq!(codes("&lag=0.1"), [""; 0]);
    assert_eq!(codes("&lag=0.4"), ["client-lag"; 2], "both arms");
    let busy = codes("&client_us=900");
    assert_eq!(busy.iter().filter(|code| *code == "client-saturated").count(), 2, "{busy:?}");
}
