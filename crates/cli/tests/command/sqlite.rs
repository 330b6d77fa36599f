//! The whole chain on the embedded arm: measured, printed, stored, found again, killed.

use std::path::Path;

use crate::common::{BRIEF, Done, Home, end, finish, measured_pairs, signal, turn};
use nix::sys::signal::Signal;
use serde_json::Value;

/// Checks that `object` has exactly the names of the contract, each of the type that it promises:
/// `n` number, `?` number or null, `s` text, `S` text or null, `o` object, `a` list.
fn check_names(place: &str, object: &Value, names: &[(&str, char)]) {
    let object = object.as_object().unwrap_or_else(|| panic!("{place} is no object"));
    for (name, kind) in names {
        let value = object.get(*name).unwrap_or_else(|| panic!("{place} has no {name:?}"));
        let fits = match kind {
            'n' => value.is_number(),
            '?' => value.is_number() || value.is_null(),
            's' => value.is_string(),
            'S' => value.is_string() || value.is_null(),
            'o' => value.is_object(),
            'a' => value.is_array(),
            kind => panic!("no such kind: {kind}"),
        };
        assert!(fits, "{place}.{name} is {value}");
    }
}

const RUN: [(&str, char); 13] = [
    ("schema", 'n'),
    ("tool_version", 's'),
    ("run", 's'),
    ("name", 'S'),
    ("status", 's'),
    ("command", 's'),
    ("started_unix_ms", 'n'),
    ("seed", 'n'),
    ("budget", 'n'),
    ("base", 'o'),
    ("test", 'o'),
    ("cells", 'a'),
    ("warnings", 'a'),
];
const CELL: [(&str, char); 15] = [
    ("load", 's'),
    ("clients", 'n'),
    ("rqps", 'n'),
    ("rqps_low", '?'),
    ("rqps_high", '?'),
    ("verdict", 's'),
    ("pairs", 'n'),
    ("pairs_dropped", 'n'),
    ("detectable", '?'),
    ("pairs_missing", '?'),
    ("minutes_missing", '?'),
    ("looks", '?'),
    ("base", 'o'),
    ("test", 'o'),
    ("warnings", 'a'),
];
const ARM: [(&str, char); 11] = [
    ("qps", 'n'),
    ("qps_low", '?'),
    ("qps_high", '?'),
    ("tps", 'n'),
    ("server_cpu_us_per_op", 'n'),
    ("client_cpu_us_per_op", 'n'),
    ("context_switches_per_op", 'n'),
    ("read_kb_per_op", '?'),
    ("written_kb_per_op", '?'),
    ("retries_per_event", 'n'),
    ("latency_us", 'o'),
];
const LATENCY: [(&str, char); 5] =
    [("p50", 'n'), ("p95", 'n'), ("p99", 'n'), ("p999", 'n'), ("max", 'n')];
const WARNING: [(&str, char); 3] = [("severity", 's'), ("code", 's'), ("text", 's')];

fn check_contract(run: &Value) {
    check_names("run", run, &RUN);
    assert_eq!(run["schema"], 1);
    for warning in run["warnings"].as_array().unwrap() {
        check_names("warning", warning, &WARNING);
        let severity = warning["severity"].as_str().unwrap();
        assert!(["note", "caution", "blocks"].contains(&severity), "{severity}");
    }
    for cell in run["cells"].as_array().unwrap() {
        check_names("cell", cell, &CELL);
        let verdict = cell["verdict"].as_str().unwrap();
        assert!(["slower", "equal", "faster", "undecided"].contains(&verdict), "{verdict}");
        for arm in ["base", "test"] {
            check_names("run's arm", &run[arm], &[("label", 's')]);
            check_names(arm, &cell[arm], &ARM);
            check_names("latency_us", &cell[arm]["latency_us"], &LATENCY);
        }
        for warning in cell["warnings"].as_array().unwrap() {
            check_names("warning", warning, &WARNING);
        }
    }
}

fn compare<'a>(base: &'a str, test: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["compare", base, test][..], &BRIEF, more].concat()
}

/// Whether a page asks for nothing: no address in any place from which a browser fetches.
fn check_page(path: &Path) {
    let page = std::fs::read_to_string(path).unwrap();
    assert!(page.starts_with("<!") || page.starts_with("<html"), "{}", &page[..40]);
    let flat: String = page.to_lowercase().split_whitespace().collect();
    for fetched in ["src=", "href=", "url(", "@import", "action=", "data="] {
        for quote in ["\"", "'", ""] {
            for address in ["http:", "https:", "//"] {
                let reference = format!("{fetched}{quote}{address}");
                assert!(!flat.contains(&reference), "{} fetches {reference}", path.display());
            }
        }
    }
    for call in ["fetch(", "xmlhttprequest", "websocket(", "sendbeacon", "<iframe"] {
        assert!(!flat.contains(call), "{} has {call}", path.display());
    }
}

#[test]
fn a_run_is_printed_stored_found_again_and_compared() {
    let _turn = turn();
    let home = Home::new();
    let page = home.path().join("page.html");
    let page_flag = page.to_str().unwrap();
    let name = ["--rounds", "3", "--load", "point-query,update-nonindex", "--name", "first"];
    // Neither waits for a disk that others keep busy.
    let base = "sqlite:?synchronous=off&journal_mode=wal";
    let mut args = compare(base, "sqlite:?synchronous=off", &name);
    let seconds = args.iter().position(|flag| *flag == "--seconds").unwrap();
    args[seconds + 1] = "0.4";
    args.extend(["--report", page_flag, "--format", "json"]);
    let Done { code, out, err } = home.dbdyno(&args);
    assert!(code == 0 || code == 3, "{code}: {err}");
    let first: Value = serde_json::from_str(&out).expect("stdout has nothing but one JSON object");
    check_contract(&first);
    let cells = first["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    assert_eq!(cells[1]["load"], "update-nonindex");
    assert_eq!(measured_pairs(&cells[1]), 3);
    assert_eq!((&first["status"], &first["name"]), (&"complete".into(), &"first".into()));
    assert!(first["test"]["label"].as_str().unwrap().contains("synchronous=off"));
    let undecided = cells.iter().any(|cell| cell["verdict"] == "undecided");
    assert_eq!(code, if undecided { 3 } else { 0 }, "{first}");
    for part in ["plan ", "3 pairs", "run ", "report "] {
        assert!(err.contains(part), "{part:?} is missing in: {err}");
    }
    check_page(&page);
    assert!(home.sandboxes().is_empty());

    let id = first["run"].as_str().unwrap();
    for run in ["@last", "@first", id, &id[..4]] {
        assert_eq!(home.json(0, ["show", run]), first, "{run}");
    }
    let text = home.dbdyno(["show", "--all"]).out;
    let markdown = home.dbdyno(["show", "--all", "--format", "markdown"]).out;
    for part in ["point-query", "update-nonindex", "sqlite:?synchronous=off", "p99"] {
        assert!(text.contains(part) && markdown.contains(part), "{part}: {text}{markdown}");
    }
    assert!(!text.contains('\u{1b}'), "colour in a pipe");
    check_csv(&home.dbdyno(["show", "--format", "csv"]).out);
    let runs = home.dbdyno(["runs"]).out;
    assert!(runs.lines().count() == 1 && runs.contains(id) && runs.contains("@first"), "{runs}");
    let again = home.path().join("again.html");
    assert_eq!(home.dbdyno(["report", "@first", "-o", again.to_str().unwrap()]).code, 0);
    check_page(&again);

    // The second one is as the first says that it can be repeated.
    let repeat = first["command"].as_str().unwrap().replace('\'', "");
    let second = home.dbdyno(repeat.split(' ').skip(1));
    assert!([0, 3].contains(&second.code), "{second:?}");
    let both = home.dbdyno(["compare", "@first", "@last", "--format", "json"]);
    assert_eq!(both.code, 0, "{both:?}");
    let both: Value = serde_json::from_str(&both.out).unwrap();
    check_contract(&both);
    let codes = both["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]);
    assert!(codes.into_iter().any(|code| code == "ratio-of-ratios"), "{both}");
}

/// One row a cell, the contract's names flattened.
fn check_csv(csv: &str) {
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let arms = ["base", "test"];
    let flat = |names: &[(&str, char)], prefix: &str| {
        let wanted = names.iter().filter(|(_, kind)| !"oa".contains(*kind));
        let missing = wanted.map(|(name, _)| format!("{prefix}{name}"));
        let missing: Vec<_> = missing.filter(|name| !header.contains(&name.as_str())).collect();
        assert!(missing.is_empty(), "{missing:?} is missing in {header:?}");
    };
    flat(&CELL, "");
    for arm in arms {
        flat(&ARM, &format!("{arm}_"));
        flat(&LATENCY, &format!("{arm}_latency_us_"));
    }
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 2, "{csv}");
    assert!(rows.iter().all(|row| row.split(',').count() == header.len()), "{csv}");
}

#[test]
fn ctrl_c_ends_the_demo_and_a_filling_too() {
    let _turn = turn();
    let home = Home::new();
    let page = home.path().join("demo.html");
    let mut demo = home.start(["demo", "-o", page.to_str().unwrap()]);
    home.wait_for_rounds(&mut demo, &home.path().join("dbdyno.db"), 2);
    signal(&demo, Signal::SIGINT);
    let done = end(demo);
    assert_eq!(done.code, 130, "{done:?}");
    check_page(&page);

    let large = ["compare", "sqlite:", "sqlite:", "--rows", "2000000000"];
    let filling = home.start(large);
    crate::common::eventually("the scratch directory", || !home.sandboxes().is_empty());
    signal(&filling, Signal::SIGINT);
    let Done { code, out, err } = end(filling);
    assert_eq!((code, out.as_str()), (130, ""), "{err}");
    assert!(home.sandboxes().is_empty());
}

#[test]
fn a_killed_run_is_a_shorter_run_and_the_next_start_cleans_up() {
    let _turn = turn();
    let home = Home::new();
    let mut child = home.start(compare("sqlite:", "sqlite:", &["--rounds", "10000"]));
    home.wait_for_rounds(&mut child, &home.path().join("dbdyno.db"), 4);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(home.sandboxes().len(), 3, "its two arms, and the sign that it measured");
    let shown = home.dbdyno(["show", "--format", "json"]);
    let run: Value = serde_json::from_str(&shown.out).unwrap();
    check_contract(&run);
    assert_eq!(run["status"], "partial");
    assert!(run["cells"][0]["pairs"].as_u64().unwrap() >= 1, "{run}");

    let next = home.dbdyno(compare("sqlite:", "sqlite:", &["--rounds", "1"]));
    assert_eq!(next.code, 3, "{next:?}");
    assert_eq!(next.err.matches("cleaned up: ").count(), 3, "{}", next.err);
    assert!(home.sandboxes().is_empty());
}

#[test]
fn two_at_once_in_one_home_do_not_touch_each_other() {
    let _turn = turn();
    let home = Home::new();
    let mut flags = compare("sqlite:", "sqlite:", &["--rounds", "1"]);
    // Long enough that both get a turn in every window.
    let seconds = flags.iter().position(|flag| *flag == "--seconds").unwrap();
    flags[seconds + 1] = "3";
    let both = [home.start(&flags), home.start(&flags)].map(end);
    for done in &both {
        assert!([0, 3].contains(&done.code), "{done:?}");
        assert!(!done.err.contains("cleaned up"), "{done:?}");
    }
    let runs = home.dbdyno(["runs"]).out;
    assert_eq!(runs.matches("complete").count(), 2, "{runs}");
}

/// A command within a file system of so many megabytes at `dir`, which is not its home yet;
/// `before` is run there first. `None` where this account may not mount.
fn on_small_disk(dir: &str, size_mb: u32, before: &str) -> Option<std::process::Command> {
    // Inside, uid 0 is not the real one, under which servers would run as somebody else.
    let script = format!(
        "mount -t tmpfs -o size={size_mb}m,mode=755 none {dir} && {before} \
         exec unshare --user --map-user=1000 --map-group=1000 -- \"$@\""
    );
    let command = |script: &str| {
        let mut inside = std::process::Command::new("unshare");
        inside.args(["-rm", "sh", "-c", script, "sh"]);
        inside
    };
    let mount = format!("mount -t tmpfs none {dir}");
    let possible = command(&mount).output().is_ok_and(|output| output.status.success());
    if !possible {
        crate::common::skipped("this account may not mount a file system of its own");
    }
    possible.then(|| command(&script))
}

#[test]
fn a_full_disk_is_a_sentence() {
    let _turn = turn();
    let home = Home::new();
    let (base, test) = ("sqlite:", "sqlite:?synchronous=off");
    let command = home.command(["compare", base, test, "--quick", "--rows", "200000"]);
    let Some(mut inside) = on_small_disk(home.path().to_str().unwrap(), 3, "") else { return };
    inside.arg(command.get_program()).args(command.get_args());
    inside.env("DBDYNO_HOME", home.path());
    let Done { code, out, err } = finish(inside);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("full") && err.contains("room"), "{err}");
    assert!(!err.contains("panicked"), "{err}");
}

/// SQLite wants room beside its file for whoever reads; nobody else has it open here.
#[test]
fn what_was_stored_is_read_on_a_full_disk() {
    let _turn = turn();
    let home = Home::new();
    let words =
        ["compare", "mock:", "mock:?slow=30%", "--quick", "--rounds", "4", "--rows", "1000"];
    home.dbdyno(words);
    let (of_home, dir) = (home.path().to_str().unwrap(), tempfile::tempdir().unwrap());
    let dir = dir.path().to_str().unwrap();
    let fill = format!(
        "cp -r --preserve=mode {of_home}/. {dir}/ && ! cat /dev/zero > {dir}/filling 2>/dev/null &&"
    );
    let Some(mut inside) = on_small_disk(dir, 4, &fill) else { return };
    inside.arg(home.command(["show"]).get_program()).arg("show").env("DBDYNO_HOME", dir);
    let on_full_disk = finish(inside);
    assert_eq!(on_full_disk.out, home.dbdyno(["show"]).out, "{}", on_full_disk.err);
    assert_eq!(on_full_disk.code, 0, "{}", on_full_disk.err);
}
