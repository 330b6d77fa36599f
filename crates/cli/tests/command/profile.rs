//! Profiles that are taken: of a database in our threads, one arm of which is slowed on purpose.

use std::process::Command;

use serde_json::Value;

use crate::common::{Home, turn};

/// Whether the processors of this host can be sampled.
pub(crate) fn can_sample() -> bool {
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "cpu-clock", "-a", "-o", "/dev/null", "true"]);
    perf.output().is_ok_and(|output| output.status.success())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A quarter of the time between two statements is spent in one function, `spin` of the client.
#[test]
fn a_function_that_one_arm_alone_spends_time_in_is_told_and_profiles_are_kept() {
    let _turn = turn();
    let home = Home::new();
    let kept = home.path().join("kept");
    let words = ["profile", "sqlite:", "sqlite:?slow=25%", "--rows", "1000", "--profiles", "2"];
    let page = home.path().join("page.html");
    let written = [&kept, &page].map(|path| path.to_str().unwrap());
    let more = ["--seconds", "2s", "--keep", written[0], "--report", written[1]];
    let words: Vec<&str> = words.into_iter().chain(more).collect();
    if !can_sample() {
        let done = home.dbdyno(&words);
        assert!(done.code == 2 && done.err.contains("perf"), "{done:?}");
        return;
    }
    let told = home.json(0, &words);
    assert_eq!(told["scale"], "operations");
    assert_eq!((&told["base_profiles"], &told["test_profiles"]), (&2.into(), &2.into()));
    let functions = told["functions"].as_array().unwrap();
    let has =
        |name: &str| functions.iter().any(|one| one["function"].as_str().unwrap().contains(name));
    assert!(has("sqlite3"), "callers and callees have names: {told}");
    let sum: f64 = functions.iter().map(|one| number(&one["weighted"])).sum();
    assert!((sum - number(&told["total"])).abs() < 1e-9, "{sum} {}", told["total"]);

    // With all that it calls it takes a quarter; a busy host leaves it some of that.
    let within = |name: &str| {
        let text = std::fs::read_to_string(kept.join(name)).unwrap();
        let mut lines = text.lines();
        let told = lines.next().unwrap();
        assert!(told.starts_with("# event: ") && told.contains("clock"), "{told}");
        assert!(lines.next().unwrap().starts_with("# samples: "), "{text}");
        assert!(lines.next().unwrap().starts_with("# period: "), "{text}");
        let lines = lines.map(|line| line.rsplit_once(' ').unwrap());
        let samples = lines.map(|(stack, count)| (stack, count.parse::<f64>().unwrap()));
        let (mut spinning, mut all) = (0.0, 0.0);
        for (stack, count) in samples {
            all += count;
            spinning += if stack.contains("spin<") { count } else { 0.0 };
        }
        spinning / all
    };
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("spin\\u003c") && page.contains("id=\"flame-data\""), "the page");
    // An arm that is not slowed asks for how long it is to spin, too: some sample may be there.
    assert!(within("base-1.folded") < 0.01, "{}", within("base-1.folded"));
    assert!(within("test-1.folded") > 0.05, "{}", within("test-1.folded"));

    let file = |name: &str| kept.join(name).display().to_string();
    let (base, test) = (["base-1.folded", "base-2.folded"], ["test-1.folded", "test-2.folded"]);
    let again = ["profile", "--base"].map(str::to_owned).into_iter().chain(base.map(file));
    let again: Vec<String> = again.chain(["--test".to_owned()]).chain(test.map(file)).collect();
    let again = home.json(0, &again);
    assert_eq!(again["base_samples"], told["base_samples"]);
    assert_eq!(again["measure"], told["measure"]);
    assert_eq!(again["functions"].as_array().unwrap().len(), functions.len());
}

#[test]
fn what_cannot_be_sampled_is_said() {
    let home = Home::new();
    for (words, told) in [
        (vec!["sqlite:", "sqlite:", "--load", "sysbench-32"], "profiles are of one load"),
        (vec!["mock:", "mock:"], "a model uses no processor"),
        (vec!["sqlite:", "sqlite:", "--waits"], "waits are profiled in servers"),
        (vec!["sqlite:"], "2 values required"),
        (vec!["--base", "Cargo.toml"], "--test"),
    ] {
        let done = home.dbdyno([vec!["profile"], words].concat());
        assert!(done.code == 2 && done.err.contains(told), "{done:?}");
    }
}
