//! Runs that end when they are decided, when their time is up, or when somebody makes them longer.

use dbdyno_model::{Run, RunStatus, Stopping};
use dbdyno_store::Store;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Home, end, signal, turn};

/// Short rounds of few rows.
const FLAGS: &str = "--quick --seconds 0.3 --warm-up 0.2 --rows 2000 --format json";

fn compare(test: &'static str, more: &'static str) -> Vec<&'static str> {
    let words = ["compare", "sqlite:", test].into_iter();
    words.chain(FLAGS.split(' ')).chain(more.split(' ')).collect()
}

fn load(home: &Home) -> Run {
    let store = Store::open(&home.path().join("dbdyno.db")).unwrap();
    store.load(&store.resolve("@last").unwrap()).unwrap()
}

fn cell(out: &str) -> Value {
    let run: Value = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert_eq!(run["status"], "complete");
    run["cells"][0].clone()
}

/// A planted slowdown ends a cell long before its last pair, and what is shown later is what was
/// decided then. The limit is there to be stored; no host is so slow that it ends the run.
#[test]
fn a_cell_ends_when_it_is_decided() {
    let _turn = turn();
    let home = Home::new();
    let done = home.dbdyno(compare("sqlite:?slow=80%", "--until decided --rounds 80 --limit 1h"));
    let decided = cell(&done.out);
    assert_eq!(decided["verdict"], "slower", "{done:?}");
    let run = load(&home);
    let (Stopping::Decided { pairs, horizon }, Some(_)) = (&run.plan.stopping, run.plan.limit_ns)
    else {
        panic!("{:?}", run.plan)
    };
    assert!(run.rounds.len() < 2 * (pairs * horizon) as usize, "it ended late: {done:?}");
    assert!(decided["looks"].as_u64().unwrap() >= 1);
    let shown = home.dbdyno(["show", "--format", "json"]);
    for name in ["verdict", "rqps_low", "rqps_high", "looks", "pairs"] {
        assert_eq!(cell(&shown.out)[name], decided[name], "{name}");
    }
    let text = home.dbdyno(["show"]);
    assert!(text.out.contains("looked at"), "{text:?}");
}

/// Runs that their results ended are compared by intervals that allowed for it. On a busy host a
/// run may end while its interval is nearly as wide as its slowdown, so one of them is far slower.
#[test]
fn two_runs_that_ended_when_they_were_decided_can_be_compared() {
    let _turn = turn();
    let home = Home::new();
    for (test, words) in [
        ("sqlite:?slow=90%", "--until decided --rounds 80 --limit 1h --seed 3 --name slow"),
        ("sqlite:?slow=40%", "--until decided --rounds 80 --limit 1h --seed 3 --name less"),
    ] {
        let done = home.dbdyno(compare(test, words));
        assert_eq!(cell(&done.out)["verdict"], "slower", "{done:?}");
    }
    let both = home.dbdyno(["compare", "@slow", "@less", "--format", "json"]);
    let between = cell(&both.out);
    assert_eq!((&between["verdict"], &between["interval"]), (&"faster".into(), &"sequence".into()));
    let text = home.dbdyno(["compare", "@slow", "@less"]).out;
    assert!(text.contains("results could end a run"), "{text}");
}

/// Time that is shorter than the rounds of a stretch ends the run after the first one, and after
/// one more when it is bought again: two stretches decide nothing, whatever the host does.
#[test]
fn a_cell_ends_when_its_time_is_up_and_can_be_made_longer() {
    let _turn = turn();
    let home = Home::new();
    let done =
        home.dbdyno(compare("sqlite:", "--until decided --budget 0% --rounds 20 --limit 1s"));
    assert!(done.err.contains("ends after 1 s in any case"), "{done:?}");
    let before = load(&home);
    assert_eq!(before.plan.stopping, Stopping::Decided { pairs: 2, horizon: 10 });
    assert_eq!((before.status, before.rounds.len()), (RunStatus::Complete, 4), "{done:?}");
    assert_eq!(cell(&done.out)["verdict"], "undecided", "{done:?}");
    let longer = home.dbdyno(["resume", "--limit", "1s", "--format", "json"]);
    let after = load(&home);
    assert_eq!(after.rounds.len(), 8, "{longer:?}");
    assert_eq!(after.rounds[..4], before.rounds);
    assert_eq!(after.plan.stopping, before.plan.stopping, "the rule is kept");
}

/// A limit leaves room for several looks, and for a warm-up that is no larger than it.
#[test]
fn a_limit_is_parted_into_several_looks() {
    let _turn = turn();
    let home = Home::new();
    let words = "--seconds 0.1 --rows 2000 --budget 0% --until decided --limit 12s";
    let done = home.dbdyno(["compare", "sqlite:", "sqlite:"].into_iter().chain(words.split(' ')));
    let plan = load(&home).plan;
    let (pairs, horizon) = plan.stopping.looks().unwrap();
    assert_eq!(pairs, 2, "{done:?}");
    // Four are planned however little time there is.
    assert!(horizon >= 5, "{done:?}");
    assert!(10 * plan.warm_up_ns <= plan.limit_ns.unwrap(), "{done:?}");
    assert!(done.err.contains("noise of 3 % a pair assumed"), "{done:?}");
}

/// A run that was judged once says so when it is looked at from then on. Two pairs decide nothing,
/// so it goes on.
#[test]
fn a_run_that_was_judged_once_is_looked_at_when_it_is_made_longer() {
    let _turn = turn();
    let home = Home::new();
    let done = home.dbdyno(compare("sqlite:", "--rounds 2 --budget 0%"));
    assert_eq!(cell(&done.out)["looks"], Value::Null);
    let longer = home.dbdyno(["resume", "--rounds", "+8", "--format", "json"]);
    let run = load(&home);
    assert_eq!(run.plan.stopping, Stopping::Extended { pairs: 2, judged: vec![1] });
    assert!(run.rounds.len() >= 12, "{longer:?}");
    assert!(cell(&longer.out)["looks"].is_u64(), "{longer:?}");
    assert!(run.warnings.iter().any(|warning| warning.code == "extended"), "{longer:?}");
}

/// Ctrl-C, and the same rule goes on from the stored rounds.
#[test]
fn a_run_that_is_looked_at_goes_on_by_its_rule() {
    let _turn = turn();
    let home = Home::new();
    let args = compare("sqlite:", "--until decided --budget 0% --rounds 16");
    let store = home.path().join("dbdyno.db");
    let mut child = home.start(args);
    home.wait_for_rounds(&mut child, &store, 2);
    signal(&child, Signal::SIGINT);
    assert_eq!(end(child).code, 130);
    let before = load(&home);
    let resumed = home.dbdyno(["resume", "--format", "json"]);
    let after = load(&home);
    assert_eq!(after.plan, before.plan);
    assert_eq!(after.status, RunStatus::Complete, "{resumed:?}");
    assert!(cell(&resumed.out)["looks"].is_u64(), "{resumed:?}");
}

/// What is planned for an effect, and what is said where there is no time for it.
#[test]
fn an_effect_that_takes_too_long_is_said_beforehand() {
    let _turn = turn();
    let home = Home::new();
    let refused = home.dbdyno(compare("sqlite:", "--detect 0.5% --restarts 0"));
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("cannot find 0.5 %"), "{refused:?}");
    let done = home.dbdyno(compare("sqlite:", "--detect 0.5% --limit 9s"));
    for part in ["cannot find 0.5 % in 9 s on this host: needs about", "; in 9 s it finds"] {
        assert!(done.err.contains(part), "{part:?} is missing in {done:?}");
    }
    assert!(matches!(load(&home).plan.stopping, Stopping::Detect { .. }), "{done:?}");
    // What a run has measured is what the next one is planned with, which is judged once. Whatever
    // noise it had, the limit is the end.
    home.dbdyno(compare("sqlite:", "--rounds 8 --restarts 0"));
    let again = home.dbdyno(compare("sqlite:", "--detect 40% --power 95% --limit 6s"));
    assert_eq!(load(&home).plan.stopping, Stopping::Fixed, "{again:?}");
    assert!(again.err.contains("a pair in run"), "{again:?}");
}
