//! Where a difference comes from: models in virtual time, whose truth is known, and servers of
//! which a setting is known to cost.

use std::collections::BTreeSet;
use std::path::Path;

use dbdyno_model::{ArmIndex, Product};
use dbdyno_store::Store;
use dbdyno_wire::Client;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Home, end, signal, turn};
use crate::{profile, servers};

/// Rounds vary by 2 % and starts by 1 %, as on a quiet host.
const ARM: &str = "mock:?noise=0.02&restarts=0.01";

/// The only explanation.
fn only(told: &Value) -> &Value {
    assert_eq!(told["schema"], 1);
    let all = told["explanations"].as_array().unwrap();
    assert_eq!(all.len(), 1, "{told}");
    &all[0]
}

/// The explanation that is printed, in one line whatever the width is.
fn printed<'w>(home: &Home, words: impl IntoIterator<Item = &'w str>) -> String {
    home.dbdyno(words).out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn causes(account: &Value) -> Vec<&str> {
    let causes = account["causes"].as_array().unwrap();
    causes.iter().map(|cause| cause["name"].as_str().unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Of the sum of all lines, what the sum line has.
fn adds_up(account: &Value) {
    let causes = account["causes"].as_array().unwrap();
    for unit in ["cost_share", "points"] {
        let parts = causes.iter().chain([&account["others"], &account["code"]]);
        let sum: f64 = parts.map(|part| number(&part[unit])).sum();
        assert!((sum - number(&account["total"][unit])).abs() < 1e-6, "{account}");
        // As shares do, and so does what single trials prove.
        let alone = causes.iter().map(|cause| &cause["alone"]);
        let parts = alone.chain(["together", "others", "code"].map(|part| &account[part]));
        let sum: f64 = parts.map(|part| number(&part[unit])).sum();
        assert!((sum - number(&account["total"][unit])).abs() < 1e-6, "{account}");
    }
}

/// What a cause of this name is worth alone, in points.
fn points_alone(account: &Value, name: &str) -> f64 {
    let mut causes = account["causes"].as_array().unwrap().iter();
    let cause = causes.find(|cause| cause["name"] == name);
    number(&cause.unwrap_or_else(|| panic!("{name}: {account}"))["alone"]["points"])
}

/// An operation takes 175 times as long: syncs make 170 of that, and without them the rate is
/// still a fifth. Taken back alone they bring back nineteen points, and not ninety-seven. What
/// brings back the other eighty, which is nothing beside a factor of 175, is a cause, too.
#[test]
fn points_are_what_trials_give_back_where_a_factor_is_large() {
    let home = Home::new();
    let test = format!("{ARM}&sync_us=170000&rate=200&jitter=0.1");
    let told = home.json(0, ["explain", ARM, &test, "--rows", "2000"]);
    let account = &only(&told)["accounts"][0];
    let mut found = causes(account);
    found.sort_unstable();
    assert_eq!(found, ["rate", "sync_us"], "{told}");
    adds_up(account);
    assert!((points_alone(account, "sync_us") + 19.4).abs() < 2.0, "{told}");
    assert!(points_alone(account, "rate").abs() < 1.0, "{told}");
    assert!((number(&account["together"]["points"]) + 80.0).abs() < 10.0, "{told}");
    assert!(number(&account["others"]["points"]).abs() < 10.0, "{told}");
    let text = printed(&home, ["explain"]);
    assert!(text.contains("a cause as it is worth if it alone is taken back"), "{text}");
    assert!(text.contains("both together, beyond that"), "{text}");
    assert!(text.contains("sync_us −") && text.contains("points beyond that, code"), "{text}");
}

/// Each round loses nine tenths, which two words make together: each of them alone makes nothing,
/// and either one taken back heals all. Two innocent ones differ, too.
const TOGETHER: &str = "spikes=1&spike=0.9&client_us=12&jitter=0.1";

#[test]
fn what_two_settings_make_together_is_told_of_both() {
    let home = Home::new();
    let base = format!("{ARM}&spikes=0&spike=0");
    let test = format!("{ARM}&{TOGETHER}");
    let told = home.json(0, ["explain", &base, &test, "--rows", "2000"]);
    let account = &only(&told)["accounts"][0];
    let mut found = causes(account);
    found.sort_unstable();
    assert_eq!(found, ["spike", "spikes"], "{told}");
    adds_up(account);
    for name in found {
        assert!((points_alone(account, name) + 90.0).abs() < 8.0, "{told}");
    }
    assert!((number(&account["together"]["points"]) - 90.0).abs() < 12.0, "{told}");
    assert_eq!(account["interactions"][0]["only_together"], true, "{told}");
    let text = printed(&home, ["explain"]);
    assert!(text.contains("only together −"), "{text}");
    assert!(text.contains("so that either one heals it"), "{text}");
}

/// The time is over when both are proved alone, and before they were taken back together: no one of
/// them is named as if the other were innocent.
#[test]
fn where_a_limit_ends_the_search_no_second_half_is_called_innocent() {
    let home = Home::new();
    let base = format!("{ARM}&start_s=0.1&spikes=0&spike=0");
    let test = format!("{ARM}&start_s=0.1&{TOGETHER}");
    assert_eq!(home.dbdyno(["compare", &base, &test, "--rows", "2000"]).code, 0);
    let mut told = home.json(3, ["explain", "--limit", "0"]);
    for _ in 0..200 {
        let account = &only(&told)["accounts"][0];
        if account["causes"].as_array().is_some_and(|causes| !causes.is_empty()) {
            break;
        }
        told = home.json(3, ["explain", "--limit", "20s"]);
    }
    let account = &only(&told)["accounts"][0];
    let names = |of: &str| {
        let of = account[of].as_array().unwrap().iter();
        of.map(|cause| cause["name"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
    };
    let all: BTreeSet<String> = names("causes").union(&names("not_told_apart")).cloned().collect();
    assert_eq!(all, BTreeSet::from(["spike", "spikes"].map(str::to_owned)), "{told}");
    assert_eq!(names("causes").len(), 1, "{told}");
    let text = printed(&home, ["explain", "--limit", "0"]);
    assert!(text.contains("not told apart from it: spike"), "{text}");
    assert!(text.contains("taken back alone is worth −"), "{text}");
    assert!(text.contains("others, taken back as well"), "{text}");
}

/// A tenth of the rate and a coherency ten times as large at four clients: 11 % and about 10 % of
/// the cost of an operation. Three more words differ and change nothing.
#[test]
fn two_causes_among_five_differences_are_found_and_add_up() {
    let home = Home::new();
    for seed in 1..=3 {
        let base = format!("{ARM}&kappa=0.001&seed={seed}");
        let innocent = "cpu_us=60&client_us=12&jitter=0.1";
        let test = format!("{ARM}&rate=900&kappa=0.01&seed={seed}&{innocent}");
        let told = home.json(0, ["explain", &base, &test, "--clients", "4", "--rows", "2000"]);
        let one = only(&told);
        let account = &one["accounts"][0];
        assert_eq!(account["witness"], "rate", "a model executes nothing that could be counted");
        let mut found = causes(account);
        found.sort_unstable();
        assert_eq!(found, ["kappa", "rate"], "{one}");
        adds_up(account);
        let worth = |name: &str| {
            let mut causes = account["causes"].as_array().unwrap().iter();
            number(&causes.find(|cause| cause["name"] == name).unwrap()["cost_share"])
        };
        // By the universal scalability law, N = 4: 1 + κN(N − 1) is 1.012 in base, 1.12 in test.
        let (rate, kappa) = (1.0 / 0.9, 1.12 / 1.012);
        let whole = rate * kappa - 1.0;
        let half = (whole - (rate - 1.0) - (kappa - 1.0)) / 2.0;
        assert!((worth("rate") - (rate - 1.0 + half)).abs() < 0.025, "{one}");
        assert!((worth("kappa") - (kappa - 1.0 + half)).abs() < 0.025, "{one}");
        assert!(number(&account["others"]["cost_share"]).abs() < 0.03, "{one}");
        assert!(number(&account["code"]["cost_share"]).abs() < 0.03, "{one}");
    }
}

/// Coherency costs with several clients only: the line that takes it away is found with four, and
/// with one client it changes nothing. What was measured is not measured again.
#[test]
fn what_takes_the_loss_away_is_measured_in_the_other_cells() {
    let home = Home::new();
    let base = format!("{ARM}&kappa=0.001");
    let test = format!("{ARM}&kappa=0.02&cpu_us=60");
    let words = ["--clients", "1,4", "--rows", "2000"];
    let told = home.json(0, ["explain", &base, &test].into_iter().chain(words));
    let remedy = &only(&told)["remedy"];
    assert_eq!(remedy["lines"], serde_json::json!(["kappa=0.001"]), "{told}");
    assert_eq!(
        (&remedy["witness"], &remedy["cells_left"]),
        (&"rate".into(), &0.into()),
        "{remedy}"
    );
    let cell = |clients: u64| {
        let mut cells = remedy["cells"].as_array().unwrap().iter();
        cells.find(|cell| cell["clients"] == clients).unwrap_or_else(|| panic!("{remedy}"))
    };
    // By the universal scalability law, 1 + κN(N − 1): 1.24 and 1.012 with four clients.
    assert!((number(&cell(4)["ratio"]) - 1.24 / 1.012).abs() < 0.04, "{remedy}");
    assert_eq!(cell(4)["verdict"], "faster", "{remedy}");
    assert!((number(&cell(1)["ratio"]) - 1.0).abs() < 0.04, "{remedy}");
    assert_ne!(cell(1)["verdict"], "faster", "{remedy}");
    let before = home.dbdyno(["runs", "--trials"]).out;
    let text = home.dbdyno(["explain"]).out;
    assert!(text.contains("on test: kappa=0.001") && text.contains("without it (run "), "{text}");
    assert_eq!(home.dbdyno(["runs", "--trials"]).out, before);
}

/// A run of one cell has no elsewhere.
#[test]
fn where_there_is_no_other_cell_nothing_more_is_measured() {
    let home = Home::new();
    let told = home.json(0, ["explain", ARM, &format!("{ARM}&rate=900"), "--rows", "2000"]);
    let remedy = &only(&told)["remedy"];
    assert_eq!(remedy["run"], Value::Null, "{remedy}");
    assert_eq!(remedy["cells_left"], 0, "{remedy}");
}

/// Of a thousand microseconds the client works nine hundred: whatever the servers are, it is what
/// was measured.
#[test]
fn where_the_client_is_the_limit_no_server_is_accused() {
    let home = Home::new();
    let base = format!("{ARM}&client_us=950");
    let test = format!("{base}&rate=950");
    let words = ["--rows", "2000"];
    let told = home.json(3, ["explain", &base, &test].into_iter().chain(words));
    let one = only(&told);
    assert!(one["limit"].as_str().unwrap().contains("the client is saturated"), "{one}");
    assert!(one["accounts"].as_array().unwrap().is_empty(), "{one}");
    assert!(one["trials"].as_array().unwrap().is_empty(), "nothing is tried: {one}");
    let text = home.dbdyno(["explain"]).out;
    assert!(text.contains("the client is the limit"), "{text}");
}

/// What is slowed on purpose is slowed by no setting, and by no code of one program either: what
/// was not tried is named, and it is open.
#[test]
fn what_was_not_tried_is_named_before_the_code_of_one_program() {
    let home = Home::new();
    let test = format!("{ARM}&slow=10%");
    let told = home.json(3, ["explain", ARM, &test, "--rows", "2000"]);
    let one = only(&told);
    let account = &one["accounts"][0];
    assert_eq!(causes(account), [""; 0], "{told}");
    adds_up(account);
    assert!((number(&account["code"]["points"]) + 10.0).abs() < 2.0, "{told}");
    assert_eq!(account["code"]["points"], account["total"]["points"], "{told}");
    assert_eq!(
        (&one["code_is"], &one["code_or"]),
        (&"untried".into(), &serde_json::json!(["slow"]))
    );
    assert_eq!(one["untried"][0]["condition"], true, "{told}");
    let text = printed(&home, ["explain"]);
    assert!(text.contains("no setting makes it; slow (not tried) −"), "{text}");
    assert!(text.contains("not tried: slow −") && !text.contains("code −"), "{text}");
    assert!(text.contains("not complete: both arms run the same program"), "{text}");
}

/// The run has measured rates alone: what test needs as it is has to be counted, also where nothing
/// can be taken back.
#[test]
fn what_was_not_counted_is_counted_before_it_is_called_code() {
    let _turn = turn();
    let home = Home::new();
    let few = ["--quick", "--rounds", "4", "--seconds", "0.1", "--restarts", "0"];
    let words = ["compare", "sqlite:", "sqlite:?slow=30%", "--rows", "1000", "--warm-up", "0.2"];
    home.dbdyno(words.iter().chain(&few));
    let told = home.json(0, ["explain", "@last", "--load", "point-query", "--count-only"]);
    let account = &only(&told)["accounts"][0];
    assert_eq!((&account["witness"], causes(account).len()), (&"instructions".into(), 0), "{told}");
    // The delay of the rate is no work of SQLite, which was counted and needs the same.
    let trials = only(&told)["trials"].as_array().unwrap().iter();
    let counted = trials.filter(|trial| trial["witness"] == "instructions").count();
    assert_eq!(counted, 1, "{told}");
    assert!(number(&account["code"]["cost_share"]).abs() < 0.01, "{told}");
}

/// What is counted starts slowly under valgrind, so that cells which want the same tried share a
/// trial; one that is not asked for is not counted.
#[test]
#[ignore = "soak: callgrind of SQLite once more; what_was_not_counted_… is in make test"]
fn cells_that_want_the_same_are_counted_together() {
    let _turn = turn();
    let home = Home::new();
    let few = ["--quick", "--rounds", "4", "--seconds", "0.1", "--restarts", "0"];
    let words = ["compare", "sqlite:", "sqlite:?slow=30%", "--rows", "1000", "--warm-up", "0.2"];
    let loads = ["--load", "point-query,scan,hot-points"];
    home.dbdyno(words.iter().chain(&loads).chain(&few));
    let asked = ["explain", "@last", "--load", "hot-points,point-query", "--count-only"];
    let told = home.json(0, asked);
    let all = told["explanations"].as_array().unwrap();
    let trials: Vec<&Value> = all.iter().map(|one| &one["trials"]).collect();
    assert_eq!((trials.len(), trials[0].as_array().unwrap().len()), (2, 1), "{told}");
    assert_eq!(trials[0][0]["run"], trials[1][0]["run"], "{told}");
    let run = home.json(0, ["show", trials[0][0]["run"].as_str().unwrap()]);
    let counted = run["counts"].as_array().unwrap().iter();
    let counted: Vec<&str> = counted.map(|count| count["load"].as_str().unwrap()).collect();
    assert_eq!(counted, ["point-query", "hot-points"], "in the order of the run");
}

/// The trials of the only explanation, each by what was equal in it.
fn tried(told: &Value) -> Vec<Vec<&str>> {
    let names = |trial: &Value| {
        let equal = only(told)["trials"][trial.as_u64().unwrap() as usize]["equal"].as_array();
        equal.unwrap().iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>()
    };
    let all = 0..only(told)["trials"].as_array().unwrap().len();
    let trials = all.map(|at| names(&at.into()));
    trials.filter(|equal: &Vec<&str>| !equal.is_empty()).collect()
}

/// Pairs of each run that was a trial.
fn pairs_of_trials(home: &Home, told: &Value) -> Vec<usize> {
    let store = Store::open(&home.path().join("dbdyno.db")).unwrap();
    let trials = only(told)["trials"].as_array().unwrap().iter();
    let runs: BTreeSet<&str> = trials.map(|trial| trial["run"].as_str().unwrap()).collect();
    let pairs = |run: &str| {
        let run = store.load(&store.resolve_run(run).unwrap()).unwrap();
        run.rounds.iter().filter(|round| round.key.arm == ArmIndex::BASE).count()
    };
    runs.into_iter().map(pairs).collect()
}

/// A commit waits for six milliseconds, and processors do nothing meanwhile: what costs syncs is
/// tried first, alone and with all others, and a factor of seven is known after a few pairs.
#[test]
fn what_commits_wait_for_is_tried_first_and_takes_few_trials() {
    let home = Home::new();
    for seed in 1..=3 {
        let base = format!("{ARM}&seed={seed}");
        let innocent = "client_us=12&jitter=0.1&kappa=0.001&cpu_us=55&row_us=1";
        let test = format!("{base}&sync_us=6000&{innocent}");
        let told = home.json(0, ["explain", &base, &test, "--rows", "2000"]);
        let one = only(&told);
        assert_eq!(causes(&one["accounts"][0]), ["sync_us"], "{one}");
        adds_up(&one["accounts"][0]);
        let points = number(&one["accounts"][0]["causes"][0]["points"]);
        assert!((points + 600.0 / 7.0).abs() < 6.0, "{one}");
        assert_eq!(one["prior"]["first"], serde_json::json!(["kappa", "sync_us"]), "{one}");
        assert!(one["prior"]["why"].as_str().unwrap().contains("waiting"), "{one}");
        assert_eq!(tried(&told).len(), 4, "all, each that may wait, and the others: {one}");
        let pairs = pairs_of_trials(&home, &told);
        assert!(pairs.iter().all(|pairs| *pairs <= 10), "{pairs:?}: {one}");
    }
    let text = printed(&home, ["explain"]);
    assert!(text.contains("was tried first: kappa, sync_us"), "{text}");
}

/// Processors work for a fifth of the time more, and the ledger says so: a row costs more.
#[test]
fn what_costs_processor_time_is_tried_first_where_processors_work_more() {
    let home = Home::new();
    let base = format!("{ARM}&kappa=0.001&jitter=0.1");
    let test = format!("{ARM}&kappa=0.002&row_us=20");
    let load = ["--rows", "2000", "--load", "random-points_range=10"];
    let told = home.json(0, ["explain", &base, &test].into_iter().chain(load));
    let one = only(&told);
    assert_eq!(causes(&one["accounts"][0]), ["row_us"], "{one}");
    assert_eq!(one["prior"]["points_to"], serde_json::json!(["processor time"]), "{one}");
    assert_eq!(one["prior"]["first"], serde_json::json!(["row_us"]), "{one}");
    assert_eq!(tried(&told).len(), 3, "all, the one, and the others: {one}");
}

/// What is small is measured in as many pairs as part it.
#[test]
fn a_small_difference_is_measured_to_the_end_of_its_plan() {
    let home = Home::new();
    let told =
        home.json(0, ["explain", ARM, &format!("{ARM}&rate=960&cpu_us=51"), "--rows", "2000"]);
    assert_eq!(causes(&only(&told)["accounts"][0]), ["rate"], "{told}");
    let pairs = pairs_of_trials(&home, &told);
    assert!(pairs.iter().all(|pairs| *pairs == 96), "{pairs:?}");
}

/// The ledger of a model: what its words say that client and server need, and the rest.
#[test]
fn the_ledger_of_a_cell_adds_up() {
    let home = Home::new();
    let test = format!("{ARM}&rate=500&cpu_us=300");
    let told = home.json(0, ["explain", ARM, &test, "--rows", "2000"]);
    let ledger = &only(&told)["ledger"];
    let lines = ledger["lines"].as_array().unwrap();
    for side in ["base_us", "test_us", "difference_us"] {
        let sum: f64 = lines.iter().map(|line| number(&line[side])).sum();
        assert!((sum - number(&ledger["total"][side])).abs() < 1e-6, "{side}: {ledger}");
    }
    // 250 µs of work more of a thousand: a fifth less, where the rate is half.
    assert!((number(&ledger["rqps_of_work"]) - 0.8).abs() < 0.03, "{ledger}");
    assert!((number(&ledger["rqps"]) - 0.5).abs() < 0.02, "{ledger}");
    let rest = lines.last().unwrap();
    assert!(number(&rest["difference_us"]) > 600.0, "half of it is waiting: {ledger}");
}

/// Trials are kept: the same question costs nothing more, and whoever lists runs is not shown them.
#[test]
fn what_was_tried_is_not_tried_again_and_trials_are_no_runs_of_the_user() {
    let home = Home::new();
    let test = format!("{ARM}&rate=850&cpu_us=60");
    let first = home.json(0, ["explain", ARM, &test, "--rows", "2000"]);
    let runs = |flags: &[&str]| home.dbdyno([&["runs"], flags].concat()).out;
    assert_eq!(runs(&[]).lines().count(), 1, "{}", runs(&[]));
    let before = runs(&["--trials"]);
    assert!(before.lines().count() > 1, "{before}");
    let again = home.json(0, ["explain"]);
    assert_eq!(again, first, "and @last is the run that was explained, no trial");
    assert_eq!(runs(&["--trials"]), before);
    let text = home.dbdyno(["explain"]).out;
    assert!(
        text.contains("rate −") && text.contains("as base has it, on test: (no rate)"),
        "{text}"
    );
}

/// When the time is over a trial is cut short, it says what is open, and the next one goes on from
/// there: in the end the same causes are found as without a limit.
#[test]
fn an_explanation_that_ran_out_of_time_goes_on() {
    const ROUNDS_A_MINUTE: usize = 600;
    let home = Home::new();
    let base = format!("{ARM}&start_s=0.1");
    let test = format!("{base}&rate=900&kappa=0.01&cpu_us=60&client_us=12&jitter=0.1");
    let arms = ["compare", &base, &test, "--clients", "4", "--rows", "2000"];
    assert_eq!(home.dbdyno(arms).code, 0);
    let rounds = || {
        let runs = home.dbdyno(["runs", "--trials"]).out;
        let done = |word: &str| word.split_once('/')?.0.parse::<usize>().ok();
        runs.split_whitespace().filter_map(done).sum::<usize>()
    };
    let short = home.dbdyno(["explain", "--limit", "1s"]);
    assert!(short.out.contains("nothing could be kept; give a longer --limit"), "{short:?}");
    assert!(short.err.contains("at most, longer than the limit of 1 s"), "{short:?}");
    let (mut before, mut limits, mut together) = (rounds(), 0, 0);
    let mut proved = BTreeSet::new();
    let whole = loop {
        let told = home.dbdyno(["explain", "--limit", "1m", "--format", "json"]);
        let now = rounds();
        if told.code == 0 {
            break serde_json::from_str::<Value>(&told.out).unwrap();
        }
        limits += 1;
        assert_eq!(told.code, 3, "{told:?}");
        let open = serde_json::from_str::<Value>(&told.out).unwrap();
        assert!(only(&open)["open"].as_str().unwrap().contains("continues from here"), "{open}");
        assert!(now > before && now - before <= ROUNDS_A_MINUTE, "{before} {now}");
        // What all are worth together is known from the first trial, and each cause as soon as it
        // is proved.
        if let Some(account) = only(&open)["accounts"].get(0) {
            proved.extend(causes(account).into_iter().map(str::to_owned));
            adds_up(account);
            let parts = account["causes"].as_array().unwrap().iter().chain([&account["others"]]);
            let all: f64 = parts.map(|part| number(&part["cost_share"])).sum();
            assert!((all - 0.23).abs() < 0.05, "{open}");
            together += 1;
        }
        let known = home.json(3, ["explain", "--limit", "0"]);
        assert_eq!(only(&known)["trials"], only(&open)["trials"], "nothing new is begun: {known}");
        before = now;
    };
    assert!(limits > 1 && together > 0, "{limits}, {together}");
    let found = causes(&only(&whole)["accounts"][0]);
    assert_eq!(found.len(), 2, "{whole}");
    assert!(!proved.is_empty(), "nothing was told before all was known");
    assert!(proved.iter().all(|one| found.contains(&one.as_str())), "guessed: {proved:?}");
    adds_up(&only(&whole)["accounts"][0]);
}

/// Stopped in the measuring that comes first, nothing is called unproved.
#[test]
fn an_explanation_that_is_stopped_while_it_measures_says_so() {
    let home = Home::new();
    let test = format!("{ARM}&rate=900");
    let child = home.start_and_halt(["explain", ARM, &test, "--rows", "2000"], 4);
    signal(&child, Signal::SIGINT);
    let done = end(child);
    assert_eq!(done.code, 130, "{done:?}");
    let id = home.last_run().id;
    assert!(
        done.err.contains(&format!("dbdyno resume {id}, and then dbdyno explain {id}")),
        "{done:?}"
    );
    assert!(!done.err.contains("is proved"), "{done:?}");
}

/// The canary: of two equal models nothing is proved, so that nothing is explained; and if it is
/// asked for nevertheless, no cause is named in at least 9 of 10.
#[test]
fn equal_arms_have_no_cause() {
    let home = Home::new();
    let mut named = 0;
    for seed in 1..=10 {
        let base = format!("{ARM}&seed={seed}");
        let test = format!("{base}&cpu_us=51&client_us=11&warm_s=0.9&start_s=0.9");
        let words = ["--quick", "--rows", "2000"];
        let measured = home.dbdyno(["compare", &base, &test].into_iter().chain(words));
        assert!([0, 3].contains(&measured.code), "{measured:?}");
        let told = home.json(0, ["explain", "@last", "--load", "point-query"]);
        named += u32::from(!causes(&only(&told)["accounts"][0]).is_empty());
    }
    assert!(named <= 1, "{named} of 10 have a cause");
}

#[test]
fn what_cannot_be_explained_is_refused_with_what_can() {
    let home = Home::new();
    let test = format!("{ARM}&rate=900");
    let three = ["compare", ARM, ARM, &test, "--quick", "--rows", "2000", "--name", "three"];
    assert_eq!(home.dbdyno(three).code, 0);
    for (words, hint) in [
        (&["explain", "@three"][..], "@three/test, @three/test2"),
        (&["explain", "@three/test", "--load", "scan"], "it has point-query"),
        (&["explain", "@three/test2", "--by", "instructions"], "leave out --by"),
        (&["explain", "@three/test2", "--format", "csv"], "take text, json or markdown"),
        (&["compare", ARM, ARM, ARM, "--explain"], "dbdyno explain @last/test2"),
        (&["compare", ARM, ARM, "--explain", "--format", "json"], "leave it out"),
    ] {
        let done = home.dbdyno(words.iter().copied());
        assert!(done.code == 2 && done.err.contains(hint), "{words:?}: {done:?}");
    }
    let one = home.json(0, ["explain", "@three/test2"]);
    assert_eq!(causes(&only(&one)["accounts"][0]), ["rate"]);
}

/// It may be slower all the same, and "nothing to explain" would be an answer.
#[test]
fn a_cell_without_a_verdict_is_no_answer() {
    let home = Home::new();
    let noisy = "mock:?noise=0.2&seed=1";
    let test = format!("{noisy}&rate=990");
    let words = ["--load", "point-query", "--rounds", "8", "--restarts", "0"];
    let measured = home.dbdyno(["compare", noisy, &test].into_iter().chain(words));
    assert!(measured.out.contains("cannot tell"), "{measured:?}");
    let told = home.dbdyno(["explain", "@last"]);
    assert!(told.code == 3 && told.err.contains("not all cells have a verdict"), "{told:?}");
}

/// What `compare` proves is explained after it, where that is wanted.
#[test]
fn compare_explains_what_it_proves() {
    let home = Home::new();
    let test = format!("{ARM}&rate=900");
    let words = ["--quick", "--rows", "2000", "--explain", "--format", "markdown"];
    let done = home.dbdyno(["compare", ARM, &test].into_iter().chain(words));
    assert!(done.out.contains("| rate | not said → 900 |"), "{done:?}");
    let equal = home.dbdyno(["compare", ARM, ARM].into_iter().chain(words));
    assert!(equal.err.contains("nothing to explain"), "{equal:?}");
}

/// A cause that is planted into one of two servers of one release is the first line, and what is
/// planted beside it and costs nothing is not named: nobody waits for a lock. (`old_blocks_time`
/// stood there, and costs a third of a per cent.)
#[test]
fn a_setting_of_mariadb_is_found_by_its_instructions() {
    let Some(home) = servers::home() else { return };
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let store = results.path().join("results.db");
    let planted = "mariadb:10.11?innodb_adaptive_hash_index=ON&innodb_lock_wait_timeout=60";
    let words = ["--load", "hot-points", "--rows", "5000", "--count-only"];
    let place = ["--store", store.to_str().unwrap(), "explain", "mariadb:10.11", planted];
    let told = home.json(0, place.into_iter().chain(words));
    let account = &only(&told)["accounts"][0];
    assert_eq!(causes(account), ["innodb_adaptive_hash_index"], "{told}");
    adds_up(account);
    // Two starts of one server have differed by 0.006, in comparisons of keys; AHI is worth 0.39.
    assert!(number(&account["others"]["cost_share"]).abs() < 0.01, "{told}");
    assert!(number(&account["code"]["cost_share"]).abs() < 0.01, "one release: {told}");
}

/// The allocator is no setting of the server's own, and is taken back as one. By instructions it is
/// worth a few thousandths here, so that it is tried and is no cause.
#[test]
#[ignore = "soak: callgrind of a server once more; a_setting_of_mariadb_… is in make test"]
fn an_allocator_that_is_loaded_before_can_be_taken_back() {
    let Some(home) = servers::home() else { return };
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let store = results.path().join("results.db");
    let planted = "mariadb:10.11?allocator=jemalloc&innodb_lock_wait_timeout=60";
    let words = ["--load", "point-query", "--rows", "2000", "--count-only"];
    let place = ["--store", store.to_str().unwrap()];
    let arms = ["compare", "mariadb:10.11", planted];
    let counted = home.dbdyno(place.into_iter().chain(arms).chain(words));
    assert!([0, 3].contains(&counted.code), "{counted:?}");
    let ask = ["explain", "@last", "--load", "point-query", "--count-only"];
    let ask = || place.into_iter().chain(ask);
    // Servers that are started under callgrind answer nothing for longer than that: no trial is
    // over, however slow the machine is.
    let short = home.json(3, ask().chain(["--limit", "1s"]));
    assert!(only(&short)["open"].as_str().unwrap().contains("time limit"), "{short}");
    assert_eq!(only(&short)["trials"], serde_json::json!([]), "{short}");
    let told = home.json(0, ask());
    let one = only(&told);
    assert_eq!(causes(&one["accounts"][0]), [""; 0], "{told}");
    adds_up(&one["accounts"][0]);
    let alone = |trial: &&Value| trial["equal"] == serde_json::json!(["allocator"]);
    let trial = one["trials"].as_array().unwrap().iter().find(alone);
    let trial = trial.unwrap_or_else(|| panic!("the allocator was not taken back: {told}"));
    assert!(number(&trial["cost_share"]).abs() < 0.02, "{told}");
}

/// Group commits of test wait 3 ms for eight transactions, and two clients never have as many.
#[test]
#[ignore = "soak: rounds and profiles of a server; parts of ledgers are tested without one"]
fn what_sessions_wait_for_parts_the_rest() {
    let Some(home) = servers::home().filter(|_| profile::can_sample()) else { return };
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let store = results.path().join("results.db");
    let stored = ["--store", store.to_str().unwrap()];
    let base = "mariadb:10.11?log_bin=on&binlog_commit_wait_usec=3000";
    let test = format!("{base}&binlog_commit_wait_count=8");
    let measured = ["compare", base, &test, "--load", "update-index", "--clients", "2"];
    let short = ["--rows", "2000", "--rounds", "6", "--seconds", "0.5", "--warm-up", "0.2"];
    let done = home.dbdyno(stored.into_iter().chain(measured).chain(short));
    assert!(done.code == 0 || done.code == 3, "{done:?}");
    let asked = ["explain", "@last", "--load", "update-index", "--by", "rate"];
    let told = home.json(0, stored.into_iter().chain(asked));
    let one = only(&told);
    let lines = one["ledger"]["lines"].as_array().unwrap();
    let of_rest = lines.iter().rposition(|line| line["is_part"] == false).unwrap();
    let parts = &lines[of_rest + 1..];
    assert!(parts.len() > 1, "{one}");
    for unit in ["base_us", "test_us", "difference_us"] {
        let sum: f64 = parts.iter().map(|part| number(&part[unit])).sum();
        let whole = number(&lines[of_rest][unit]);
        assert!((sum - whole).abs() <= 1e-6 * whole.abs(), "{unit}: {sum} of {whole}: {one}");
    }
    let waited: f64 = parts[..parts.len() - 1].iter().map(|part| number(&part["test_us"])).sum();
    assert!(waited > 1_500.0, "half of the pause, seen as waiting in the server: {one}");
    // What is known is not looked at again.
    let again = home.json(0, stored.into_iter().chain(asked));
    assert_eq!(only(&again)["ledger"], one["ledger"]);
}

/// Two servers that are not ours, one of which lacks an index and has old row versions: nothing is
/// started again, and both are named, without a share.
#[test]
fn servers_by_url_are_answered_as_far_as_they_can_be() {
    let Some(home) = servers::home() else { return };
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let running = ["", "innodb_lock_wait_timeout=7"]
        .map(|told| servers::Running::told(&home, Product::MariaDb, "10.11", told));
    let [base, test] = &running;
    have_orders(base, ", KEY customer (customer)");
    have_orders(test, "");
    let view = old_versions(test, "item = item + 1 WHERE id = 1 + n % 100", 12_000);
    let store = results.path().join("results.db");
    let one = explained_by_url(&home, &store, &running, &[]);
    let leads = leads(&one);
    assert_eq!(leads[0], "table.orders.indexes", "{one}");
    assert!(leads[1].starts_with("step[") && leads[1].ends_with(".blockers"), "{one}");
    assert!(leads[2].starts_with("step[") && leads[2].ends_with(".debt"), "{one}");
    assert!(leads.contains(&"handler_read_rnd_next"), "{one}");
    let blockers = one["blockers"]["test"].as_array().unwrap();
    assert!(blockers[0].as_str().unwrap().ends_with(", idle"), "the view is open: {one}");
    assert_eq!(one["blockers"]["base"], serde_json::json!([]), "{one}");
    // Forty orders of a customer by the index, and twenty thousand without it.
    let by_index = number(&work_of(&one, "handler_read_next")["base"]);
    assert!((by_index - 40.0).abs() < 1.0, "{one}");
    let scanned = number(&work_of(&one, "handler_read_rnd_next")["test"]);
    // A server may count the farewell of a connection in the round after.
    assert!((scanned / 20_001.0 - 1.0).abs() < 0.05, "{one}");
    assert_eq!(work_of(&one, "handler_read_rnd_next")["telling"], true, "{one}");
    assert!(number(&work_of(&one, "history_list")["test"]) > 10_000.0, "{one}");
    let text = home.dbdyno(["--store", store.to_str().unwrap(), "explain", "--load", "customer"]);
    assert!(text.out.contains("what servers did for an operation"), "{text:?}");
    assert!(text.out.contains("test has transactions of others:"), "{text:?}");
    assert!(leads.contains(&"innodb_lock_wait_timeout"), "{one}");
    assert!(one["accounts"].as_array().unwrap().is_empty(), "{one}");
    assert!(
        one["open"].as_str().unwrap().contains("dbdyno cannot restart a server by URL"),
        "{one}"
    );
    assert!(one["ledger"]["total"]["difference_us"].is_number(), "{one}");
    drop(view);
    running.into_iter().for_each(servers::Running::stop);
}

/// A view that was forgotten keeps the old entries of an index, which each query of its key passes:
/// nothing else differs, so that view and history are the first two lines.
#[test]
#[ignore = "soak: a million transactions; servers_by_url_… has twelve thousand"]
fn a_history_list_of_a_million_is_the_first_lead() {
    let Some(home) = servers::home() else { return };
    let (_turn, results) = (turn(), tempfile::tempdir().unwrap());
    let running =
        ["", ""].map(|told| servers::Running::told(&home, Product::MariaDb, "10.11", told));
    running.iter().for_each(|server| have_orders(server, ", KEY customer (customer)"));
    // Each order goes to the next customer fifty times: all have forty of them in the end again.
    let moved = "customer = (customer + 1) % 500 WHERE id = 1 + n % 20000";
    let view = old_versions(&running[1], moved, 1_000_000);
    // Passing what is marked as deleted is cheap: some rounds on a busy host do not prove it.
    let words = ["--load", "customer"];
    let one = explained_by_url(&home, &results.path().join("results.db"), &running, &words);
    let leads = leads(&one);
    assert!(leads[0].starts_with("step[") && leads[0].ends_with(".blockers"), "{one}");
    assert!(leads[1].starts_with("step[") && leads[1].ends_with(".debt"), "{one}");
    assert!(number(&work_of(&one, "history_list")["test"]) >= 1e6, "{one}");
    drop(view);
    running.into_iter().for_each(servers::Running::stop);
}

/// Twenty thousand orders of five hundred customers.
fn have_orders(server: &servers::Running, index: &str) {
    let fill = "INSERT INTO orders SELECT seq, seq % 500, seq % 7 FROM seq_1_to_20000";
    let columns = format!("id INT PRIMARY KEY, customer INT, item INT{index}");
    let mut client = server.connect(&server.own_database());
    for sql in ["DROP TABLE IF EXISTS orders", &format!("CREATE TABLE orders ({columns})"), fill] {
        client.run(sql).unwrap();
    }
}

/// Versions that an open view, which is returned, still needs: purge cannot take them.
fn old_versions(server: &servers::Running, change: &str, times: u32) -> Box<dyn Client> {
    let mut view = server.connect(&server.own_database());
    view.run("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    let mut writer = server.connect(&server.own_database());
    writer
        .run(&format!(
            "BEGIN NOT ATOMIC DECLARE n INT DEFAULT 0; WHILE n < {times} DO \
             UPDATE orders SET {change}; SET n = n + 1; END WHILE; END"
        ))
        .unwrap();
    view
}

/// The explanation of a comparison of two servers in the orders of a customer.
fn explained_by_url(
    home: &Home,
    store: &Path,
    running: &[servers::Running; 2],
    words: &[&str],
) -> Value {
    let load = store.with_file_name("customer.load.toml");
    let text = "name = \"customer\"\ngroup = \"point\"\ntables = \"none\"\n\n[[step]]\n\
                sql = \"SELECT count(*) FROM orders WHERE customer = {int 1..400}\"\nrows = 1\n";
    std::fs::write(&load, text).unwrap();
    let urls = running
        .each_ref()
        .map(|server| server.tcp(&format!("dbdyno:{}", server.password()), &server.own_database()));
    let stored = ["--store", store.to_str().unwrap()];
    let measured = ["compare", &urls[0], &urls[1], "--quick", "--rounds", "4", "--seconds", "0.5"];
    let of_load = ["--warm-up", "0.2", "--load", load.to_str().unwrap()];
    home.dbdyno(stored.into_iter().chain(measured).chain(of_load));
    let explain = ["explain", "@last"].iter().chain(words).copied();
    let told = home.json(3, stored.into_iter().chain(explain));
    only(&told).clone()
}

/// The names of what may be the cause, the likeliest first.
fn leads(one: &Value) -> Vec<&str> {
    let leads = one["leads"].as_array().unwrap();
    leads.iter().map(|lead| lead["name"].as_str().unwrap()).collect()
}

/// What servers did for an operation, by name.
fn work_of<'a>(one: &'a Value, name: &str) -> &'a Value {
    let mut facts = one["work"].as_array().unwrap().iter();
    facts.find(|fact| fact["fact"] == name).unwrap_or_else(|| panic!("{name}: {one}"))
}
