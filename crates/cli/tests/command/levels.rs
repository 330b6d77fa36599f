//! Tables that are filled anew within a cell, and intervals of stored runs.

use crate::common::Home;

const ARM: &str = "mock:?noise=0.02&restarts=0.01&fillings=0.02";

/// Six pairs in three fillings, twice.
#[test]
fn fillings_are_stored_and_intervals_of_stored_runs_are_named() {
    let home = Home::new();
    let flags = "--quick --rows 2000 --seconds 0.2 --warm-up 0.2 --rounds 6 --seed 3 --reloads 2";
    for name in ["one", "two"] {
        let words = ["compare", ARM, ARM, "--name", name].into_iter();
        let done = home.dbdyno(words.chain(flags.split(' ')));
        assert!([0, 3].contains(&done.code), "{done:?}");
        let run = home.last_run();
        assert_eq!((run.plan.schedule.reloads, run.rounds.len()), (2, 12), "{done:?}");
        for round in &run.rounds {
            let part = round.key.pair / 2;
            assert_eq!((round.filling, round.start), (part, part), "{:?}", round.key);
        }
    }
    let both = home.dbdyno(["compare", "@one", "@two", "--format", "json"]);
    assert!([0, 3].contains(&both.code), "{both:?}");
    let comparison: serde_json::Value = serde_json::from_str(&both.out).unwrap();
    let cell = &comparison["cells"][0];
    let interval = cell["interval"].as_str().unwrap();
    assert!(["welch", "fieller"].contains(&interval), "{cell}");
    assert!(!cell["interval_why"].as_str().unwrap().is_empty(), "{cell}");
    let text = home.dbdyno(["compare", "@one", "@two", "--section", "doubt"]).out;
    assert!(text.contains(&format!("{interval}, ")), "{interval} is missing in {text}");
}

/// What fillings, starts and rounds vary by is found again, and so is where the next minute is best
/// spent.
#[test]
fn doubt_is_parted_by_where_it_comes_from() {
    let home = Home::new();
    let flags = "--quick --rows 2000 --rounds 96 --restarts 23 --reloads 11 --format json";
    for (arm, level) in [
        ("mock:?noise=0.05", "pair"),
        ("mock:?noise=0.01&restarts=0.05", "life"),
        ("mock:?noise=0.01&fillings=0.05", "filling"),
    ] {
        let done = home.dbdyno(["compare", arm, arm].into_iter().chain(flags.split(' ')));
        assert!([0, 3].contains(&done.code), "{done:?}");
        let run: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        let levels = &run["cells"][0]["levels"];
        let most = levels.as_array().unwrap_or_else(|| panic!("{run}")).iter().max_by(|a, b| {
            let share = |level: &serde_json::Value| level["share"].as_f64().unwrap_or(0.0);
            share(a).total_cmp(&share(b))
        });
        assert_eq!(most.unwrap()["level"], level, "{arm}: {levels}");
    }
}
