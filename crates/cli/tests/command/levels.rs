//! Tables that are filled anew within a cell, and intervals of stored runs.

use dbdyno_store::Store;

use crate::common::{Home, turn};

/// Six pairs in three fillings, twice.
#[test]
fn fillings_are_stored_and_intervals_of_stored_runs_are_named() {
    let _turn = turn();
    let home = Home::new();
    let flags = "--quick --rows 2000 --seconds 0.2 --warm-up 0.2 --rounds 6 --seed 3 --reloads 2";
    for name in ["one", "two"] {
        let words = ["compare", "sqlite:", "sqlite:", "--name", name].into_iter();
        let done = home.dbdyno(words.chain(flags.split(' ')));
        assert!([0, 3].contains(&done.code), "{done:?}");
        let store = Store::open(&home.path().join("dbdyno.db")).unwrap();
        let run = store.load(&store.resolve(&format!("@{name}")).unwrap()).unwrap();
        assert_eq!((run.plan.reloads, run.rounds.len()), (2, 12), "{done:?}");
        for round in &run.rounds {
            let part = round.key.pair / 2;
            assert_eq!((round.filling, round.life), (part, part), "{:?}", round.key);
        }
    }
    let both = home.dbdyno(["compare", "@one", "@two", "--format", "json"]);
    assert!([0, 3].contains(&both.code), "{both:?}");
    let comparison: serde_json::Value = serde_json::from_str(&both.out).unwrap();
    let cell = &comparison["cells"][0];
    let interval = cell["interval"].as_str().unwrap();
    assert!(["welch", "fieller"].contains(&interval), "{cell}");
    assert!(!cell["interval_why"].as_str().unwrap().is_empty(), "{cell}");
    let text = home.dbdyno(["compare", "@one", "@two"]).out;
    assert!(text.contains(&format!("{interval}, ")), "{interval} is missing in {text}");
}
