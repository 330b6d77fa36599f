//! More than two arms in one run: measured together, judged in pairs, told as one family. Models in
//! virtual time, of which the truth is known.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::{Home, end, measured_pairs, signal, turn};

/// Rounds vary by 2 % and starts by 1 %, as on a quiet host.
const ARM: &str = "mock:?noise=0.02&restarts=0.01";

fn compare(arms: &[&str], more: &str) -> Vec<String> {
    let words = std::iter::once("compare").chain(arms.iter().copied());
    let words = words.chain(["--quick", "--rows", "2000"]);
    words.chain(more.split_whitespace()).map(str::to_owned).collect()
}

/// The verdicts of an arm in all cells, against the reference or against the arm before.
fn verdicts<'a>(run: &'a Value, arm: &str, of: &str) -> Vec<&'a str> {
    let cells = run["cells"].as_array().unwrap().iter();
    let arm = |cell: &'a Value| -> &'a Value {
        let arms = cell["arms"].as_array().unwrap();
        arms.iter().find(|one| one["arm"] == arm).unwrap()
    };
    cells.filter_map(|cell| arm(cell)[of]["verdict"].as_str()).collect()
}

/// The anchor and the canary in one: what was planted into the third of four equal arms is found
/// there, against base and against the arm before, and nowhere else.
#[test]
fn what_is_planted_into_the_third_of_four_arms_is_found_in_no_other() {
    let home = Home::new();
    for seed in 1..=4 {
        let equal = format!("{ARM}&seed={seed}");
        let slower = format!("{equal}&slow=8%");
        let arms = [&*equal, &*equal, &*slower, &*equal];
        let run = home.json(0, compare(&arms, "--load point-query,scan --budget 5%"));
        assert_eq!((&run["schema"], &run["against"]), (&2.into(), &"base".into()));
        assert_eq!(verdicts(&run, "test", "answer"), ["equal"; 2], "{run}");
        assert_eq!(verdicts(&run, "test2", "answer"), ["slower"; 2], "{run}");
        assert_eq!(verdicts(&run, "test3", "answer"), ["equal"; 2], "{run}");
        assert_eq!(verdicts(&run, "base", "answer"), [""; 0], "it is the reference");
        assert_eq!(verdicts(&run, "test2", "against_before"), ["slower"; 2], "{run}");
        assert_eq!(verdicts(&run, "test3", "against_before"), ["faster"; 2], "{run}");
        assert_eq!(run["family"]["cells"], 6, "three arms in two cells are one family");
    }
}

/// Two arms of a larger run are judged as a run of two is, but for what their family tells.
#[test]
fn a_pair_of_a_larger_run_is_shown_as_a_run_of_two() {
    let home = Home::new();
    let (slower, faster) = (format!("{ARM}&rate=900"), format!("{ARM}&rate=1100"));
    let all = home.json(0, compare(&[ARM, &slower, &faster], "--name three"));
    let pair = home.json(0, ["show", "@three", "--arm", "test2"]);
    assert_eq!(pair["schema"], 1);
    assert_eq!(pair["family"]["cells"], 2, "who looks at one arm is told what all of them allow");
    assert!(pair["test"]["label"].as_str().unwrap().starts_with(&faster), "{pair}");
    let of_all = &all["cells"][0]["arms"][2]["answer"];
    for name in ["rqps", "rqps_low", "rqps_high", "verdict", "pairs", "p_value"] {
        assert_eq!(pair["cells"][0][name], of_all[name], "{name}");
    }
    // Against another arm, by name and by target; the ratio of ratios is the ratio.
    let by_name = home.json(0, ["show", "@three", "--arm", "test2", "--against", "test"]);
    let by_target = home.json(0, ["show", "@three", "--arm", &faster, "--against", "before"]);
    assert_eq!(by_name["cells"][0], by_target["cells"][0]);
    let whole = home.json(0, ["show", "@three", "--against", "test"]);
    assert_eq!(verdicts(&whole, "base", "answer"), ["faster"]);
    assert_eq!(whole["cells"][0]["arms"][2]["answer"]["rqps"], by_name["cells"][0]["rqps"]);
    for wrong in ["test3", "mysql:5.6", "base"] {
        let done = home.dbdyno(["show", "@three", "--arm", wrong]);
        assert_eq!(done.code, 2, "{done:?}");
    }
}

/// What takes two stored runs, or one of two arms, takes an arm of a larger one with its base.
#[test]
fn an_arm_of_a_larger_run_is_a_run_to_others() {
    let home = Home::new();
    let slower = format!("{ARM}&rate=900");
    home.json(0, compare(&[ARM, ARM, &slower], "--name first --budget 5%"));
    home.json(0, compare(&[ARM, &slower, ARM], "--name second --budget 5%"));
    for whole in [&["diff", "@first"][..], &["compare", "@first", "@second/test"]] {
        let done = home.dbdyno(whole);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains("@first/test, @first/test2"), "{done:?}");
    }
    let diff = home.json(0, ["diff", "@first/test2"]);
    assert_eq!(diff["test"]["label"], format!("{slower} (mock)"));
    let two = home.json(0, ["compare", "@first/test2", "@second/test", "--budget", "5%"]);
    assert_eq!(two["cells"][0]["verdict"], "equal", "{two}");
    let history = home.json(0, ["history", "--metric", "rqps"]);
    let series = history["series"].as_array().unwrap();
    assert_eq!(series.len(), 2, "an equal arm and a slower one: {history}");
    for one in series {
        let points = one["points"].as_array().unwrap().iter();
        let runs: Vec<&str> = points.map(|point| point["run"].as_str().unwrap()).collect();
        assert_eq!(runs, ["@first", "@second"], "{history}");
    }
}

/// A gate asks all cells of all arms.
#[test]
fn one_arm_that_is_too_slow_fails_the_gate() {
    let home = Home::new();
    let slower = format!("{ARM}&rate=900");
    let done = home.dbdyno(compare(&[ARM, ARM, &slower], "--gate rqps>0.95"));
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("gate   rqps > 0.95 fails: point-query at 1 client"), "{done:?}");
    assert_eq!(home.dbdyno(["show", "--gate", "rqps > 0.8"]).code, 0);
}

/// An arm that cannot be set up, and one that dies on the way, end their own columns; the others
/// are measured as if they had been alone, and the run says what happened.
#[test]
fn an_arm_that_dies_ends_its_own_column() {
    let home = Home::new();
    let dies = format!("{ARM}&dies_s=90");
    let slower = format!("{ARM}&slow=10%");
    let flags = "--load point-query,scan,read-write";
    let run = home.json(3, compare(&[ARM, &dies, &slower], flags));
    assert_eq!(run["status"], "complete");
    assert_eq!(verdicts(&run, "test2", "answer"), ["slower"; 3], "{run}");
    let measured = verdicts(&run, "test", "answer").len();
    assert!((1..3).contains(&measured), "it died in between: {measured}");
    let why = run["arms"][1]["ended"].as_str().unwrap();
    assert!(why.starts_with("test") && why.contains("a model that was to die"), "{why}");
    assert!(run["arms"][0]["ended"].is_null() && run["arms"][2]["ended"].is_null());
    let codes = run["warnings"].as_array().unwrap().iter().map(|one| one["code"].clone());
    assert_eq!(codes.filter(|code| code == "arm-ended").count(), 1);
    let shown = home.dbdyno(["show"]).out;
    assert!(shown.starts_with("ENDED: test (mock:"), "{shown}");
    // With two arms there is nobody left to compare the other one with.
    let done = home.dbdyno(compare(&[ARM, &dies], flags));
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("to go on from there: dbdyno resume"), "{done:?}");
}

#[test]
fn an_arm_that_cannot_be_opened_is_left_out() {
    let (home, _turn) = (Home::new(), turn());
    let cannot = "sqlite:?journal_mode=nonsense";
    let flags = "--seconds 0.1 --rounds 2 --restarts 0 --warm-up 0.1";
    let run = home.json(3, compare(&["sqlite:", cannot, "sqlite:"], flags));
    assert!(run["arms"][1]["ended"].as_str().unwrap().contains("journal_mode"), "{run}");
    assert!(run["cells"][0]["arms"][1]["did"].is_null());
    assert_eq!(measured_pairs(&run["cells"][0]["arms"][2]["answer"]), 2);
    // Without base the others are judged against the first of them.
    let run = home.json(3, compare(&[cannot, "sqlite:", "sqlite:"], flags));
    assert_eq!(run["against"], "test", "{run}");
    assert_eq!(measured_pairs(&run["cells"][0]["arms"][2]["answer"]), 2);
    let done = home.dbdyno(compare(&["sqlite:", cannot], flags));
    assert_eq!(done.code, 2, "{done:?}");
}

/// A run of four arms that was killed goes on where it was, and is in the end what it would have
/// been.
#[test]
fn a_killed_run_of_four_arms_goes_on() {
    let home = Home::new();
    let slower = format!("{ARM}&slow=10%");
    let arms = [ARM, ARM, ARM, &slower];
    let flags = "--load point-query,scan --rounds 16 --restarts 3 --budget 5%";
    let child = home.start_and_halt(compare(&arms, flags), 88);
    signal(&child, Signal::SIGKILL);
    end(child);
    assert_eq!(home.last_run().rounds.len(), 88, "22 blocks");
    let run = home.json(0, ["resume"]);
    assert_eq!(run["status"], "complete");
    let after = home.last_run();
    for arm in after.plan.arms.indices() {
        let pairs: Vec<u32> = after.arm(arm).rounds().map(|round| round.key.pair).collect();
        let all: Vec<u32> = (0..16).chain(0..16).collect();
        assert_eq!(pairs, all, "{arm}");
    }
    assert_eq!(verdicts(&run, "test3", "answer"), ["slower"; 2], "{run}");
}

/// A run that left something open is made longer until all arms are decided, or nothing is left.
#[test]
fn an_undecided_run_of_three_arms_is_made_longer() {
    let home = Home::new();
    // Rounds that eight of cannot tell, and three times as many can.
    let arm = "mock:?noise=0.012&restarts=0.004&seed=4";
    let little = format!("{arm}&slow=8%");
    let run = home.json(3, compare(&[arm, arm, &little], "--rounds 8 --restarts 3 --budget 3%"));
    let pairs = |run: &Value| run["cells"][0]["arms"][2]["answer"]["pairs"].as_u64().unwrap();
    let longer = home.json(0, ["resume", "--until", "decided"]);
    assert!(pairs(&longer) > pairs(&run), "{longer}");
    assert_eq!(verdicts(&longer, "test", "answer"), ["equal"], "{longer}");
    assert_eq!(verdicts(&longer, "test2", "answer"), ["slower"], "{longer}");
}

/// What ends a cell is that all arms are decided in it.
#[test]
fn a_cell_ends_when_all_arms_are_decided() {
    let home = Home::new();
    let (much, little) = (format!("{ARM}&slow=20%"), format!("{ARM}&slow=4%"));
    let run = |arms: &[&str]| home.json(0, compare(arms, "--until decided --budget 3%"));
    let soon = run(&[ARM, &much])["cells"][0]["pairs"].as_u64().unwrap();
    let of_three = run(&[ARM, &much, &little])["cells"][0]["arms"].clone();
    let of_three = [1, 2].map(|at| of_three[at]["answer"]["pairs"].as_u64().unwrap());
    assert_eq!(of_three[0], of_three[1], "all arms are measured to the end of the cell");
    assert!(of_three[0] > soon, "{of_three:?}, {soon}");
}

/// Every shape tells of every arm.
#[test]
fn every_shape_has_all_arms() {
    let home = Home::new();
    let slower = format!("{ARM}&slow=10%");
    let flags = "--load point-query,scan --clients 1,4";
    home.json(0, compare(&[ARM, ARM, &slower, ARM], &format!("{flags} --budget 5%")));
    let csv = home.dbdyno(["show", "--format", "csv"]).out;
    assert_eq!(csv.lines().count(), 1 + 4 * 4, "{csv}");
    let markdown = home.dbdyno(["show", "--format", "markdown"]).out;
    assert_eq!(markdown.lines().filter(|line| line.starts_with("| point-query")).count(), 2);
    let text = home.dbdyno(["show", "--intervals"]).out;
    assert!(text.contains("▼ 0.9") && text.contains(" to 0.9"), "{text}");
    let page = home.path().join("page.html");
    let done = home.dbdyno(["report", "--output", page.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{done:?}");
    let page = std::fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("<td class=\"picture\"><svg").count(), 4, "each row is drawn");
    assert_eq!(page.matches("<article id=").count(), 3 * 4, "each answer has its evidence");
    let costs = home.dbdyno(["show", "--section", "cost"]).out;
    assert!(costs.contains("server CPU µs/op") && !text.contains("server CPU µs/op"), "{costs}");
    assert!(page.contains("--arm test2") && !page.contains("<script"), "no script is needed");
    let listed = home.dbdyno(["runs"]).out;
    assert_eq!(listed.matches(" → ").count(), 3, "{listed}");
}

/// Twelve loads of three groups, each of which falls twice: the first fall is the one that is told.
#[test]
fn where_a_group_starts_to_fall_is_told() {
    let home = Home::new();
    let (once, twice) = (format!("{ARM}&slow=9%"), format!("{ARM}&slow=20%"));
    let loads = "--load point-query,hot-points,points-covered-pk,points-notcovered-pk,\
                 range-covered-pk,range-covered-si,range-notcovered-pk,range-notcovered-si,\
                 update-index,update-nonindex,insert,delete --budget 5% --rounds 24 --restarts 5";
    let run = home.json(0, compare(&[ARM, ARM, &once, &twice], loads));
    let groups = run["groups"].as_array().unwrap();
    let of = |name: &str| -> Vec<String> {
        groups.iter().map(|group| group[name].as_str().unwrap_or("null").to_owned()).collect()
    };
    assert_eq!(of("group"), ["point", "range", "write", "null"], "and all loads together");
    assert_eq!(of("falls_with"), ["test2"; 4], "{run}");
    assert_eq!(of("may_fall_with"), ["null"; 4]);
    for group in groups {
        let arms = group["arms"].as_array().unwrap();
        let median = |arm: usize, of: &str| arms[arm][of]["median"].as_f64().unwrap();
        assert!((median(2, "answer") - 0.91).abs() < 0.03, "{group}");
        assert!((median(3, "answer") - 0.80).abs() < 0.03, "{group}");
        assert!((median(3, "against_before") - 0.80 / 0.91).abs() < 0.03, "{group}");
        assert_eq!(arms[3]["answer"]["slower"], arms[3]["answer"]["cells"]);
    }
    let text = home.dbdyno(["show"]).out;
    assert!(text.contains("starts to fall: rows by key with test2; rows by range with"), "{text}");
    let text = home.dbdyno(["show", "--all"]).out;
    assert!(text.contains("rows by key: starts to fall with test2 (median 0.9"), "{text}");
}

/// A client that shares its server's processor dilutes the rate: by the server's own time the arm
/// is as much slower as it needs more of it.
#[test]
fn rates_by_processor_time_leave_the_client_out() {
    let home = Home::new();
    let (base, dear) = (format!("{ARM}&cpu_us=50"), format!("{ARM}&cpu_us=80"));
    let run = home.json(0, compare(&[&base, &base, &dear], "--pin same --budget 5%"));
    let cell = &run["cells"][0];
    assert_eq!(cell["one_processor"], true, "{cell}");
    let by_cpu = |arm: usize| &cell["arms"][arm]["by_server_cpu"];
    let ratio = by_cpu(2)["rqps"].as_f64().unwrap();
    assert!((ratio - 50.0 / 80.0).abs() < 0.01, "{cell}");
    assert_eq!((&by_cpu(2)["verdict"], &by_cpu(0)["verdict"]), (&"slower".into(), &Value::Null));
    let cost = &cell["arms"][2]["costs"][0];
    assert_eq!(
        (&cost["cost"], &cost["verdict"]),
        (&"server_cpu_us_per_op".into(), &"higher".into())
    );
    let text = home.dbdyno(["show", "--section", "cost"]).out;
    assert!(text.contains("rQPS by server CPU") && text.contains("▼ 0.6"), "{text}");
    // With clients elsewhere there is nothing to leave out.
    let apart = home.json(0, compare(&[&base, &base, &dear], "--pin split --budget 5%"));
    assert_eq!(apart["cells"][0]["one_processor"], false);
    assert!(apart["cells"][0]["arms"][2]["by_server_cpu"].is_null());
}

/// A drawing of two arms and of more, and the other shapes by their endings.
#[test]
fn a_report_without_a_script_is_what_its_ending_says() {
    let home = Home::new();
    let slower = format!("{ARM}&slow=10%");
    home.json(0, compare(&[ARM, &slower], "--load point-query,scan --name two --budget 5%"));
    home.json(0, compare(&[ARM, ARM, &slower], "--name three --budget 5%"));
    let write = |run: &str, file: &str| {
        let path = home.path().join(file);
        let done = home.dbdyno(["report", run, "--static", path.to_str().unwrap()]);
        assert_eq!(done.code, 0, "{done:?}");
        std::fs::read_to_string(path).unwrap()
    };
    for (run, arms) in [("@two", 1), ("@three", 2)] {
        let svg = write(run, "table.svg");
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{svg}");
        assert!(svg.contains("<rect class=\"worse") && svg.contains(">▼ 0."), "{svg}");
        assert!(svg.contains(&format!("{arms} arm")), "{svg}");
        let json: Value = serde_json::from_str(&write(run, "table.json")).unwrap();
        assert_eq!(json["schema"], arms);
        assert_eq!(write(run, "table.csv"), home.dbdyno(["show", run, "--format", "csv"]).out);
        assert!(write(run, "table.md").contains("| point-query"));
    }
    assert!(!home.path().join("dbdyno-@two.html").exists());
    let refused = home.dbdyno(["report", "@two", "--static", "table.png"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains(".svg, .md, .csv or .json, and .png is none of them"));
}
