//! Runs that end when they are decided, when their time is up, or when somebody makes them longer:
//! models in virtual time, so that the same is found on every host.

use dbdyno_model::{RunStatus, Stopping};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Home, end, signal};

/// Rounds vary by 2 % and starts by 1 %, as on a quiet host.
const BASE: &str = "mock:?noise=0.02&restarts=0.01";
const FLAGS: &str = "--quick --seconds 0.3 --warm-up 0.2 --rows 2000 --format json";

fn compare(lost: &str, more: &str) -> Vec<String> {
    compare_with(BASE, lost, more)
}

fn compare_with(base: &str, lost: &str, more: &str) -> Vec<String> {
    let test = format!("{base}{lost}");
    let words = ["compare", base, &test].into_iter();
    words.chain(FLAGS.split(' ')).chain(more.split(' ')).map(str::to_owned).collect()
}

fn cell(out: &str) -> Value {
    let run: Value = serde_json::from_str(out).unwrap_or_else(|error| panic!("{error}: {out}"));
    assert_eq!(run["status"], "complete");
    run["cells"][0].clone()
}

/// A planted slowdown ends a cell long before its last pair, and what is shown later is what was
/// decided then.
#[test]
fn a_cell_ends_when_it_is_decided() {
    let home = Home::new();
    let done = home.dbdyno(compare("&slow=8%", "--until decided --rounds 160 --limit 1h"));
    let decided = cell(&done.out);
    assert_eq!(decided["verdict"], "slower", "{done:?}");
    let number = |name: &str| decided[name].as_f64().unwrap();
    assert!(number("rqps_low") < 0.92 && 0.92 < number("rqps_high"), "{decided}");
    let run = home.last_run();
    let (Stopping::Decided { pairs, horizon }, Some(_)) =
        (&run.plan.rule.stopping, run.plan.schedule.limit_ns)
    else {
        panic!("{:?}", run.plan)
    };
    assert!(run.rounds.len() < (pairs * horizon) as usize, "it took half of all: {done:?}");
    assert!(decided["looks"].as_u64().unwrap() >= 1);
    let shown = home.dbdyno(["show", "--format", "json"]);
    for name in ["verdict", "rqps_low", "rqps_high", "looks", "pairs"] {
        assert_eq!(cell(&shown.out)[name], decided[name], "{name}");
    }
    let text = home.dbdyno(["show"]);
    assert!(text.out.contains(", analysed "), "{text:?}");
}

/// The rule goes on where nothing is to be found: of two equal arms the budget of 5 % is proved.
#[test]
fn a_cell_of_two_equal_arms_ends_when_that_is_proved() {
    let home = Home::new();
    let done = home.dbdyno(compare("", "--until decided --budget 5% --rounds 400"));
    let decided = cell(&done.out);
    assert_eq!(decided["verdict"], "equal", "{done:?}");
    assert!(decided["pairs"].as_u64().unwrap() < 200, "{decided}");
}

/// Runs that their results ended are compared by intervals that allowed for it. They end while
/// their intervals are nearly as wide as what they found, so that rounds vary little here.
#[test]
fn two_runs_that_ended_when_they_were_decided_can_be_compared() {
    let home = Home::new();
    let until = "--until decided --rounds 160 --limit 1h --seed 3 --name";
    for (lost, name) in [("&slow=40%", "slow"), ("&slow=20%", "less")] {
        let base = "mock:?noise=0.004&restarts=0.002";
        let done = home.dbdyno(compare_with(base, lost, &format!("{until} {name}")));
        assert_eq!(cell(&done.out)["verdict"], "slower", "{done:?}");
    }
    let both = home.dbdyno(["compare", "@slow", "@less", "--format", "json"]);
    let between = cell(&both.out);
    assert_eq!((&between["verdict"], &between["interval"]), (&"faster".into(), &"sequence".into()));
    let number = |name: &str| between[name].as_f64().unwrap();
    let truth = 0.8 / 0.6;
    assert!(number("rqps_low") < truth && truth < number("rqps_high"), "{between}");
    let text = home.dbdyno(["compare", "@slow", "@less", "--all"]).out;
    assert!(text.contains("results could end a run"), "{text}");
}

/// Time that is shorter than the rounds of a stretch ends the run after the first one, and after
/// one more when it is bought again: two stretches decide nothing.
#[test]
fn a_cell_ends_when_its_time_is_up_and_can_be_made_longer() {
    let home = Home::new();
    let done = home.dbdyno(compare("", "--until decided --budget 0% --rounds 20 --limit 1s"));
    assert!(done.err.contains("ends after 1 s in any case"), "{done:?}");
    let before = home.last_run();
    assert_eq!(before.plan.rule.stopping, Stopping::Decided { pairs: 2, horizon: 10 });
    assert_eq!((before.status, before.rounds.len()), (RunStatus::Complete, 4), "{done:?}");
    assert_eq!(cell(&done.out)["verdict"], "undecided", "{done:?}");
    let longer = home.dbdyno(["resume", "--limit", "1s", "--format", "json"]);
    let after = home.last_run();
    assert_eq!(after.rounds.len(), 8, "{longer:?}");
    assert_eq!(after.rounds[..4], before.rounds);
    assert_eq!(after.plan.rule.stopping, before.plan.rule.stopping, "the rule is kept");
}

/// The time of a limit is that of the clock, whatever passes it: here starts of ten seconds.
#[test]
fn starts_count_towards_the_limit() {
    let home = Home::new();
    let rounds = |start_s: &str| {
        let lost = format!("&start_s={start_s}");
        let base = format!("{BASE}{lost}");
        let words = "--rounds 64 --restarts 31 --budget 0% --limit 3m".split(' ');
        let first = ["compare", &base, &base].into_iter().chain(FLAGS.split(' '));
        let done = home.dbdyno(first.chain(words));
        assert!([0, 3].contains(&done.code), "{done:?}");
        home.last_run().rounds.len()
    };
    assert_eq!(rounds("0.1"), 128, "all");
    // A start of two pairs takes 20 s of starts and about 2 s of rounds and warm-ups.
    let few = rounds("10");
    assert!((24..=36).contains(&few), "{few}");
}

/// A limit leaves room for several looks, and for a warm-up that is no larger than it.
#[test]
fn a_limit_is_parted_into_several_looks() {
    let home = Home::new();
    let words = "--seconds 0.1 --rows 2000 --budget 0% --until decided --limit 40s";
    let done = home.dbdyno(["compare", BASE, BASE].into_iter().chain(words.split(' ')));
    let plan = home.last_run().plan;
    let (pairs, horizon) = plan.rule.stopping.look_schedule().unwrap();
    assert_eq!(pairs, 2, "{done:?}");
    // Four are planned however little time there is.
    assert!(horizon >= 5, "{done:?}");
    assert!(10 * plan.schedule.warm_up_ns <= plan.schedule.limit_ns.unwrap(), "{done:?}");
    assert!(done.err.contains("noise of 3 % a pair assumed"), "{done:?}");
}

/// A run that was judged once says so when it is looked at from then on. Two pairs decide nothing,
/// so it goes on.
#[test]
fn a_run_that_was_judged_once_is_looked_at_when_it_is_made_longer() {
    let home = Home::new();
    let done = home.dbdyno(compare("", "--rounds 2 --budget 0%"));
    assert_eq!(cell(&done.out)["looks"], Value::Null);
    let longer = home.dbdyno(["resume", "--rounds", "+8", "--format", "json"]);
    let run = home.last_run();
    assert_eq!(run.plan.rule.stopping, Stopping::Extended { pairs: 2, judged: vec![1] });
    assert!(run.rounds.len() >= 12, "{longer:?}");
    assert!(cell(&longer.out)["looks"].is_u64(), "{longer:?}");
    assert!(run.warnings.iter().any(|warning| warning.code == "extended"), "{longer:?}");
}

/// Ctrl-C, and the same rule goes on from the stored rounds.
#[test]
fn a_run_that_is_looked_at_goes_on_by_its_rule() {
    let home = Home::new();
    let args = compare("", "--until decided --budget 0% --rounds 16");
    let child = home.start_and_halt(args, 8);
    signal(&child, Signal::SIGINT);
    assert_eq!(end(child).code, 130);
    let before = home.last_run();
    assert_eq!((before.status, before.rounds.len()), (RunStatus::Interrupted, 8));
    let resumed = home.dbdyno(["resume", "--format", "json"]);
    let after = home.last_run();
    assert_eq!(after.plan, before.plan);
    assert_eq!(after.status, RunStatus::Complete, "{resumed:?}");
    assert!(cell(&resumed.out)["looks"].is_u64(), "{resumed:?}");
}

/// What is planned for an effect, and what is said where there is no time for it.
#[test]
fn an_effect_that_takes_too_long_is_said_beforehand() {
    let home = Home::new();
    let refused = home.dbdyno(compare("", "--detect 0.5% --restarts 0"));
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("cannot find 0.5 %"), "{refused:?}");
    let done = home.dbdyno(compare("", "--detect 0.5% --limit 90s"));
    for part in ["cannot find 0.5 % in", "on this host: needs about", " it finds "] {
        assert!(done.err.contains(part), "{part:?} is missing in {done:?}");
    }
    assert!(matches!(home.last_run().plan.rule.stopping, Stopping::Detect { .. }), "{done:?}");
    // What a run has measured is what the next one is planned with, which is judged once.
    home.dbdyno(compare("", "--rounds 8 --restarts 0"));
    let again = home.dbdyno(compare("", "--detect 40% --power 95% --limit 60s"));
    assert_eq!(home.last_run().plan.rule.stopping, Stopping::Fixed, "{again:?}");
    assert!(again.err.contains("a pair in run"), "{again:?}");
}
