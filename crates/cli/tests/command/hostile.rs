//! What servers, stores and files of somebody else make of a terminal, a spreadsheet, a workflow
//! and a page: nothing.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use dbdyno_model::foreign::is_nonprinting;
use dbdyno_model::{EndedArm, RunId, Severity, Warning};
use dbdyno_store::{NewRun, Store};
use dbdyno_wire::mock::{FixedScript, Login, MockProtocol, MockReply, MockServer, Turn};

use crate::common::{Done, Home, finish};

const BASE: &str = "mock:?noise=0.01&seed=3";
const TEST: &str = "mock:?noise=0.01&rate=900&seed=3";
const SHORT: [&str; 5] = ["--quick", "--rounds", "8", "--rows", "2000"];

/// Titles, colours and cursors of terminals by C0 and C1, directions, lines, commands of runners,
/// markup, a formula.
const HOSTILE: &str = "=cmd|' /C calc'!A0\u{1b}]0;title\u{7}\u{1b}[8m\u{9b}2J\u{202e}\u{2066}\u{7f}\
     \u{200b}\r\n::error::made up\n##vso[task.setvariable variable=a]b\u{2028}\
     </script><script>alert(1)</script>\u{0}<img src=x onerror=alert(1)>|[a](javascript:alert(1))@all";

/// The colours of reports, which are the only sequences that may be written.
fn without_colours(text: &str) -> String {
    let codes = ["0", "1", "2", "31", "32", "33", "1;33"].map(|code| format!("\u{1b}[{code}m"));
    codes.iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
}

#[track_caller]
fn assert_harmless(what: &str, text: &str) {
    let is_bad = |c: char| is_nonprinting(c) && !matches!(c, '\n' | '\t' | '\r');
    let found = text.char_indices().find(|(_, c)| is_bad(*c));
    let near = found.map(|(at, c)| {
        let from = text.char_indices().map(|(i, _)| i).rfind(|i| i + 60 < at).unwrap_or(0);
        format!("{c:?} after {:?}", &text[from..at])
    });
    assert!(near.is_none(), "{what}: {near:?}");
    assert!(!text.replace("\r\n", "\n").contains('\r'), "{what}: a carriage return");
    // Annotations are plain text, and the command of Markdown stands in a fence.
    let markup = |line: &str| {
        (line.contains("<script>alert") || line.contains("<img src=x")) && !line.starts_with("::")
    };
    let lines = without_fences(text);
    let found = lines.iter().find(|line| is_marked_up(what) && markup(line));
    assert!(found.is_none(), "{what}: {found:?}");
}

/// The lines outside of fences, each of which ends with as many backquotes as it begins with.
fn without_fences(text: &str) -> Vec<&str> {
    let (mut lines, mut fence) = (Vec::new(), None);
    for line in text.lines() {
        let quotes = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if quotes >= 3 => fence = Some(quotes),
            None => lines.push(line),
            Some(count) if quotes >= count && line.len() == quotes => fence = None,
            Some(_) => {}
        }
    }
    assert!(fence.is_none(), "a fence has no end: {text}");
    lines
}

fn is_marked_up(what: &str) -> bool {
    ["markdown", "github", "junit", "page", "md", "svg"].iter().any(|shape| what.ends_with(shape))
}

/// What is printed is read by runners, too.
#[track_caller]
fn assert_no_command(what: &str, text: &str) {
    let is_command = |line: &str| {
        let line = line.trim_start();
        line.starts_with("::")
            && !line.starts_with("::warning title=dbdyno%3A")
            && !line.starts_with("::error title=dbdyno%3A")
            && !line.starts_with("::notice title=dbdyno%3A")
    };
    let command = text.lines().find(|line| is_command(line) || line.contains("##vso["));
    assert!(command.is_none(), "{what}: {command:?}");
}

/// A run of models, written again with hostile texts in everything that a server says.
fn hostile_run(home: &Home) -> RunId {
    let args = [&["compare", BASE, TEST][..], &SHORT].concat();
    let done = home.dbdyno(args);
    assert_eq!(done.code, 0, "{done:?}");
    let mut run = home.last_run();
    for round in &mut run.rounds {
        for class in &mut round.classes {
            class.name = format!("{}{HOSTILE}", class.name);
        }
    }
    let mut store = Store::open(&home.path().join("dbdyno.db")).unwrap();
    let id = store
        .begin_run(&NewRun {
            name: Some("hostile"),
            started_unix_ms: run.started_unix_ms + 1,
            tool_version: HOSTILE,
            command: HOSTILE,
            plan: &run.plan,
        })
        .unwrap();
    for arm in run.plan.arms.indices() {
        let mut environment = run.environment[arm].clone();
        let facts = ["server.version", "variable.sync_binlog", "plan.point-query", HOSTILE];
        for (at, fact) in facts.iter().enumerate() {
            environment.facts.insert((*fact).to_owned(), format!("{arm}{at}{HOSTILE}"));
        }
        store.set_environment(&id, arm, &environment).unwrap();
    }
    for round in &run.rounds {
        store.add_round(&id, round).unwrap();
    }
    for (severity, code) in [(Severity::Caution, "caution"), (Severity::Note, HOSTILE)] {
        let warning = Warning { severity, code: code.to_owned(), text: HOSTILE.to_owned() };
        store.add_warning(&id, &warning).unwrap();
    }
    let ended = EndedArm { arm: run.plan.arms.indices().nth(1).unwrap(), why: HOSTILE.to_owned() };
    store.end_arm(&id, &ended).unwrap();
    store.finish(&id, run.status).unwrap();
    id
}

fn shown(home: &Home, args: &[&str]) -> Done {
    let mut command = home.command(args);
    command.env_remove("GITHUB_STEP_SUMMARY").env_remove("NO_COLOR");
    let done = finish(command);
    assert!(!done.err.contains("panicked") && done.code < 4, "{args:?}: {done:?}");
    done
}

#[test]
fn no_stored_text_steers_anything() {
    let home = Home::new();
    let id = hostile_run(&home).0;
    let mut all: Vec<Vec<&str>> = vec![vec!["runs"], vec!["history"], vec!["show", &id, "--all"]];
    for format in ["text", "json", "jsonl", "csv", "markdown", "github", "junit", "benchfmt"] {
        all.push(vec!["show", &id, "--format", format]);
        all.push(vec!["show", &id, "--all", "--format", format, "--color", "always"]);
    }
    for format in ["json", "csv", "markdown"] {
        all.push(vec!["history", "--format", format]);
    }
    for section in ["cost", "doubt", "engine", "facts", "notes"] {
        all.push(vec!["show", &id, "--section", section]);
    }
    for args in all {
        let done = shown(&home, &args);
        let what = args.join(" ").replace(" --color always", "");
        assert!(!done.out.is_empty(), "{what}: {done:?}");
        let out = match args.contains(&"always") {
            true => without_colours(&done.out),
            false => done.out.clone(),
        };
        assert_harmless(&what, &out);
        assert_harmless(&what, &done.err);
        assert_no_command(&what, &out);
        assert_no_command(&what, &done.err);
        if args.contains(&"csv") {
            assert_no_formula(&what, &done.out);
        }
        if args.contains(&"json") {
            serde_json::from_str::<serde_json::Value>(&done.out).unwrap();
        }
    }
}

/// Every cell of a spreadsheet that begins like a formula is a number.
#[track_caller]
fn assert_no_formula(what: &str, csv: &str) {
    for cell in csv.split([',', '\n']).map(|cell| cell.trim_start_matches('"')) {
        let is_formula = cell.starts_with(['=', '+', '-', '@']);
        assert!(!is_formula || cell.trim().parse::<f64>().is_ok(), "{what}: {cell:?}");
    }
}

#[test]
fn no_page_or_drawing_has_what_steers() {
    let home = Home::new();
    let id = hostile_run(&home).0;
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let page = path("page.html");
    assert_eq!(shown(&home, &["report", &id, "--output", &page]).code, 0);
    assert_harmless("page", &std::fs::read_to_string(&page).unwrap());
    for ending in ["md", "csv", "json", "svg"] {
        let still = path(&format!("still.{ending}"));
        let done = shown(&home, &["report", &id, "--static", &still]);
        assert_eq!(done.code, 0, "{done:?}");
        let text = std::fs::read_to_string(&still).unwrap();
        assert_harmless(ending, &text);
        if ending == "csv" {
            assert_no_formula("still.csv", &text);
        }
    }
}

/// Stores of before may lack parts of a plan, and a store of somebody else anything.
#[test]
fn a_run_without_stages_or_clients_is_told() {
    let home = Home::new();
    let args = [&["compare", BASE, TEST][..], &SHORT].concat();
    assert_eq!(home.dbdyno(args).code, 0);
    let whole = home.last_run();
    let page = home.path().join("page.html").to_str().unwrap().to_owned();
    for (at, (has_stages, has_clients, has_rounds)) in
        [(false, true, true), (true, false, true), (false, false, true), (false, false, false)]
            .into_iter()
            .enumerate()
    {
        let mut plan = whole.plan.clone();
        if !has_stages {
            plan.question.stages.clear();
        }
        if !has_clients {
            plan.question.clients.clear();
        }
        let id = {
            let mut store = Store::open(&home.path().join("dbdyno.db")).unwrap();
            let new = NewRun {
                name: None,
                started_unix_ms: whole.started_unix_ms + 1 + at as u64,
                tool_version: "0.0.1",
                command: "dbdyno compare",
                plan: &plan,
            };
            let id = store.begin_run(&new).unwrap();
            for round in whole.rounds.iter().filter(|_| has_rounds) {
                store.add_round(&id, round).unwrap();
            }
            store.finish(&id, whole.status).unwrap();
            id.0
        };
        let mut all = vec![vec!["runs"], vec!["history"], vec!["show", &id, "--all"]];
        for format in ["text", "json", "csv", "markdown", "github", "junit", "benchfmt"] {
            all.push(vec!["show", &id, "--format", format]);
        }
        all.push(vec!["report", &id, "--output", &page]);
        for args in all {
            shown(&home, &args);
        }
        for ending in ["svg", "md", "csv", "json"] {
            let still = home.path().join(format!("still.{ending}"));
            let done = shown(&home, &["report", &id, "--static", still.to_str().unwrap()]);
            assert_eq!(done.code, 0, "{done:?}");
            let text = std::fs::read_to_string(&still).unwrap();
            let tells = ending != "svg" || text.contains("no cell was measured");
            assert!(!text.is_empty() && tells, "{ending}: {text}");
        }
    }
}

/// Keys of a history and names of functions are those of a file of somebody else.
#[test]
fn no_picture_or_kept_stack_has_what_steers() {
    let home = Home::new();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (key, other) = ("k\u{202e}##vso[task.x]\u{1b}[8m", "l##[error]");
    let history = format!(
        "{{:type :ok, :f :txn, :process 0, :value [[:append \"{key}\" 1] [:r \"{other}\" [2]]]}}\n\
         {{:type :ok, :f :txn, :process 1, :value [[:append \"{other}\" 2] [:r \"{key}\" [1]]]}}\n"
    );
    std::fs::write(path("history.edn"), history).unwrap();
    let pictures = path("pictures");
    let done = shown(&home, &["check", &path("history.edn"), "--pictures", &pictures]);
    assert_eq!(done.code, 1, "{done:?}");
    let mut seen = 0;
    for picture in std::fs::read_dir(&pictures).unwrap() {
        let text = std::fs::read_to_string(picture.unwrap().path()).unwrap();
        assert_harmless("picture.svg", &text);
        assert_no_command("picture", &text);
        assert!(!text.contains("##[") && text.contains("task.x"), "{text}");
        seen += 1;
    }
    assert!(seen > 0, "{done:?}");
}

/// A megabyte of hostile words, to a login and to the first question, in both languages.
#[test]
fn no_error_of_a_server_steers_or_floods_a_terminal() {
    let home = Home::new();
    for (protocol, scheme) in [(MockProtocol::Mysql, "mysql"), (MockProtocol::Postgres, "postgres")]
    {
        let message = HOSTILE.replace('\u{0}', "").repeat(4000);
        let refusal = MockReply::Error { code: 1105, sqlstate: "HY000", message };
        let script = Arc::new(FixedScript(Turn::now(refusal)));
        let server = MockServer::start(protocol, Login::without_password("bob"), script).unwrap();
        let address = server.endpoint().transport;
        let url = format!("{scheme}://bob@{address}/dbdyno?tls=off");
        for args in [
            vec!["diff", &*url, "sqlite:"],
            vec!["compare", &*url, "sqlite:", "--quick"],
            vec!["verify", &*url],
        ] {
            let done = shown(&home, &args);
            let what = format!("{scheme} {}", args[0]);
            assert_harmless(&what, &done.err);
            assert_harmless(&what, &done.out);
            assert_no_command(&what, &done.err);
            assert!(done.err.len() < 64_000, "{what}: {}", done.err.len());
            assert_ne!(done.code, 0, "{what}");
            assert!(done.err.contains("=cmd|"), "{what} tells what the server said: {}", done.err);
        }
    }
}

fn with_closed(mut command: Command, is_stderr: bool) -> std::process::ExitStatus {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    match is_stderr {
        true => command.stdout(Stdio::null()).stderr(writer),
        false => command.stdout(writer).stderr(Stdio::null()),
    };
    command.status().unwrap()
}

#[test]
fn whoever_looks_away_changes_no_exit_code() {
    let home = Home::new();
    let compare = [&["compare", BASE, TEST][..], &SHORT].concat();
    for (args, code) in [
        (&["runs"][..], 0),
        (&["--help"], 0),
        (&["no-such-command"], 2),
        (&["runs", "--store", "/nowhere/at/all"], 2),
        (&["runs", "--store", "new.db"], 2),
        (&["history", "--store", "new.db"], 2),
        (&["published", "none.toml", "--store", "new.db"], 2),
        (&compare, 0),
    ] {
        let ended = |is_stderr| with_closed(home.command(args), is_stderr).code();
        assert_eq!(ended(true), Some(code), "{args:?} with a closed stderr");
        assert_eq!(ended(false), Some(code), "{args:?} with a closed stdout");
    }
}

#[test]
fn a_full_disk_is_told() {
    let home = Home::new();
    for args in [&["loads"][..], &["--help"], &["--version"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let mut command = home.command(args);
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.starts_with("dbdyno: could not write to stdout: No space left"), "{told}");
    }
}

#[test]
fn what_is_no_file_is_refused_and_a_pipe_of_the_shell_is_read() {
    let home = Home::new();
    let pipe = home.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let pipe = pipe.to_str().unwrap();
    for args in [
        &["check", pipe][..],
        &["deadlocks", pipe],
        &["run", pipe],
        &["history", pipe],
        &["loads", "--load-file", pipe],
        &["verify", "sqlite:", "--case-file", pipe],
        &["profile", "--base", pipe, "--test", pipe],
        &["compare", "sqlite:", "sqlite:", "--load-file", pipe],
        &["runs", "--store", pipe],
    ] {
        let done = home.dbdyno(args);
        assert!(done.code == 2 && done.err.contains("pipe"), "{args:?}: {done:?}");
    }
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"w(x,1,0,0)\n").unwrap();
    drop(writer);
    let mut command = home.command(["check", "/dev/stdin"]);
    command.stdin(reader);
    let done = finish(command);
    assert!(done.out.contains("1 transactions"), "{done:?}");
}

/// A log of a directory that could not be read was passed over, and what broke a level with it.
#[test]
fn no_part_of_the_history_of_a_directory_is_passed_over() {
    let home = Home::new();
    let at = |name: &str| home.path().join(name);
    let name = |path: &Path| path.to_str().unwrap().to_owned();
    let (logs, run) = (at("logs"), at("run"));
    std::fs::create_dir(&logs).unwrap();
    std::fs::create_dir(&run).unwrap();
    let text = "{\"session\": 0, \"ops\": [[\"w\", \"x\", 1]]}\n";
    std::fs::write(run.join("history.json"), text).unwrap();
    std::fs::write(run.join("history.txt"), "w(x,1,0,0)\nw(x,2,0,1)\n").unwrap();
    let whole = home.dbdyno(["check", &name(&run)]);
    assert!(whole.out.contains("history.json; not read: history.txt"), "{whole:?}");
    for (log, value) in [("J1.log", 1), ("J2.log", 2)] {
        let line = format!("{{\"value\": [[\"w\", \"x\", {value}]]}}\n");
        std::fs::write(logs.join(log), line).unwrap();
    }
    assert_eq!(home.dbdyno(["check", &name(&logs)]).code, 0);
    for (directory, part) in [(&logs, "J3.log"), (&run, "history.edn"), (&run, "history.jsonl")] {
        let part = directory.join(part);
        let refused = |kind: &str| {
            let done = home.dbdyno(["check", &name(directory)]);
            assert!(done.code == 2 && done.err.contains(&name(&part)), "{kind}: {done:?}");
            assert!(done.err.contains(kind), "{kind}: {done:?}");
        };
        nix::unistd::mkfifo(&part, nix::sys::stat::Mode::S_IRWXU).unwrap();
        refused("a named pipe");
        std::fs::remove_file(&part).unwrap();
        for (target, kind) in [("gone", "No such file"), ("/dev/zero", "a device")] {
            std::os::unix::fs::symlink(target, &part).unwrap();
            refused(kind);
            std::fs::remove_file(&part).unwrap();
        }
        std::fs::create_dir(&part).unwrap();
        refused("a folder");
        std::fs::remove_dir(&part).unwrap();
    }
    std::fs::write(logs.join("J3.log.gz"), "").unwrap();
    let packed = home.dbdyno(["check", &name(&logs)]);
    assert!(packed.code == 2 && packed.err.contains("J3.log.gz"), "{packed:?}");
}

#[test]
fn a_place_far_to_the_right_is_told() {
    let home = Home::new();
    let file = home.path().join("wide.toml");
    let write = |path: &Path| std::fs::write(path, format!("name = {}x", " ".repeat(70_000)));
    write(&file).unwrap();
    let path = file.to_str().unwrap();
    for args in [&["run", path][..], &["compare", "sqlite:", "sqlite:", "--load-file", path]] {
        let done = home.dbdyno(args);
        assert!(done.code == 2 && done.err.contains(":1:70008: "), "{args:?}: {done:?}");
    }
}

/// A run of the store of somebody else, and one of our own that somebody has changed: `resume` and
/// `explain` would start what it names, and send its statements.
#[test]
fn what_a_strangers_store_names_is_not_carried_out() {
    let (theirs, ours) = (Home::new(), Home::new());
    let args = [&["compare", BASE, TEST][..], &SHORT].concat();
    let mut child = theirs.start_and_halt(args, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let store = theirs.path().join("dbdyno.db");
    let store = store.to_str().unwrap();
    let rounds = theirs.last_run().rounds.len();
    let refused = ours.dbdyno(["resume", "--store", store]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let run = theirs.last_run();
    let told = [
        format!("run {} was not begun from this home", run.id),
        format!("test: to run, in this process, {TEST}"),
        "--trust-store".to_owned(),
    ];
    for part in told {
        assert!(refused.err.contains(&part), "{part:?} is missing in {}", refused.err);
    }
    assert_eq!((theirs.last_run().rounds.len(), theirs.last_run().status), (rounds, run.status));

    let trusted = ours.dbdyno(["resume", "--store", store, "--trust-store"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert!(trusted.err.contains("was not begun from this home"), "it is said all the same");

    // What is known is shown; what would have to be tried is not.
    let explain = ["explain", "@last", "--by", "rate", "--store", store];
    let shown = ours.dbdyno([&explain[..], &["--limit", "0"]].concat());
    assert!(shown.code == 3 && shown.out.contains("point-query"), "{shown:?}");
    let refused = ours.dbdyno(explain);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("was not begun from this home"), "{refused:?}");
    let own = theirs.dbdyno([&explain[..4], &["--limit", "1s"]].concat());
    assert!(own.code != 2 && !own.err.contains("not begun from this home"), "{own:?}");
}

/// The file of an experiment may come from anywhere: what reaches beyond servers that dbdyno starts
/// itself is said, and not done before the user trusts it.
#[test]
fn what_a_strangers_experiment_reaches_is_not_done_unasked() {
    let (home, folder) = (Home::new(), Home::new());
    let at = |name: &str| folder.path().join(name);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("postgres://ann@127.0.0.1:{}/shop", listener.local_addr().unwrap().port());
    let load = "name = \"theirs\"\nabout = \"x\"\ngroup = \"read\"\n[[event]]\nname = \"e\"\n\
                [[event.step]]\nsql = \"ATTACH '/tmp/theirs.db' AS a\"\n";
    std::fs::create_dir(at("inside")).unwrap();
    std::fs::write(at("inside/theirs.toml"), load).unwrap();
    std::fs::write(at("kept.html"), "a page of the user's").unwrap();
    std::fs::write(at("secret.toml"), "hunter2-of-somebody").unwrap();
    std::os::unix::fs::symlink(at("secret.toml"), at("inside/link.toml")).unwrap();
    let secret = format!("load-file = \"{}\"", at("secret.toml").display());
    let report = format!("report = \"{}\"", at("kept.html").display());
    for (base, flag, told) in [
        (url.as_str(), "rows = 10", "base: to log in with your account to postgres://ann@"),
        ("postgres:17?archive_command=rm", "rows = 10", "archive_command=rm"),
        ("mysql:8.0?my-cnf=x.cnf", "rows = 10", "my-cnf=x.cnf"),
        ("sqlite:", "load = \"theirs.toml\"", "sql = \"ATTACH '/tmp/theirs.db' AS a\""),
        ("sqlite:", "load = \"warm:link.toml\"", "link.toml, elsewhere"),
        ("sqlite:", "rate = \"file:../secret.toml\"", "secret.toml, elsewhere"),
        ("sqlite:", secret.as_str(), "secret.toml, elsewhere"),
        (BASE, report.as_str(), "to write"),
        (BASE, "store = \"x.db\"", "to write x.db"),
        (BASE, "format = \"github\"", "to write /tmp/summary-of-a-workflow"),
        ("mysql:8.0?mysqlx=ON", "rows = 10", "mysqlx=ON"),
        ("postgres:17?shared_preload_libraries=auto_explain", "rows = 10", "auto_explain"),
        ("postgres:17?include_if_exists=x", "rows = 10", "include_if_exists=x"),
        ("mysql:8.0?early_plugin_load=keyring_file.so", "rows = 10", "keyring_file"),
        ("mysql:8.0?general_log_f=x", "rows = 10", "general_log_f=x"),
        ("mysql:8.0?group_replication_group_seeds=10.0.0.1:3306", "rows = 10", "group_seeds"),
        ("mariadb:10.11?feedback=ON", "rows = 10", "feedback=ON"),
        ("mariadb:10.11?feedbac=on", "rows = 10", "feedbac=on"),
        ("rocksdb:?wal_dir=..&WAL_ttl_seconds=1", "rows = 10", "wal_dir=.."),
        ("rocksdb:?write_buffer_size=999999999999", "rows = 10", "write_buffer_size"),
        ("rocksdb:?db_log_dir=7", "rows = 10", "db_log_dir=7"),
        ("sqlite:?temp_store_directory=x", "rows = 10", "temp_store_directory=x"),
    ] {
        let file = at("inside/asks.toml");
        std::fs::write(&file, experiment(base, flag)).unwrap();
        let mut command = home.command(["run", file.to_str().unwrap(), "--rounds", "8"]);
        command.env("PGPASSWORD", "hunter2");
        command.env("GITHUB_STEP_SUMMARY", "/tmp/summary-of-a-workflow");
        let refused = finish(command);
        assert_eq!(refused.code, 2, "{base} {flag}: {refused:?}");
        for part in [told, "--trust-experiment"] {
            assert!(refused.err.contains(part), "{part:?} is missing in {}", refused.err);
        }
        assert!(!refused.err.contains("hunter2"), "{refused:?}");
    }
    assert!(listener.accept().is_err(), "nobody has been asked");
    assert_eq!(std::fs::read_to_string(at("kept.html")).unwrap(), "a page of the user's");

    // What would become a flag of its own is none.
    for smuggled in [
        format!("\"report={}\" = true", at("kept.html").display()),
        format!("verbose = [\"--report={}\"]", at("kept.html").display()),
        format!("verbose = \"--report={}\"", at("kept.html").display()),
        "\"load-file=theirs.toml\" = true".to_owned(),
        "verbose = \"--load-file=inside/theirs.toml\"".to_owned(),
        "verbose = \"--rate=file:/etc/passwd\"".to_owned(),
    ] {
        let file = at("inside/asks.toml");
        std::fs::write(&file, experiment(BASE, &smuggled)).unwrap();
        let refused = home.dbdyno([&["run", file.to_str().unwrap()][..], &SHORT].concat());
        assert_eq!(refused.code, 2, "{smuggled}: {refused:?}");
        assert!(!refused.err.contains("root:"), "{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(at("kept.html")).unwrap(), "a page of the user's");

    // What keeps to models is carried out as it is, also with a page that the user asks for.
    let file = at("inside/asks.toml");
    let file = file.to_str().unwrap();
    std::fs::write(file, experiment(BASE, "seed = 3")).unwrap();
    let page = at("asked.html");
    let run = [&["run", file][..], &SHORT, &["--report", page.to_str().unwrap()]].concat();
    let done = home.dbdyno(run);
    assert!(done.code != 2 && page.exists(), "{done:?}");
    // And what is trusted, wherever the word stands.
    std::fs::write(file, experiment(BASE, &report)).unwrap();
    for args in [&["run", "--trust-experiment", file][..], &["run", file, "--trust-experiment"]] {
        let done = home.dbdyno([args, &SHORT].concat());
        assert!(done.code != 2 && done.err.contains("to write"), "{done:?}");
        assert!(std::fs::read_to_string(at("kept.html")).unwrap().contains("<html"));
        std::fs::write(at("kept.html"), "").unwrap();
    }
}

fn experiment(base: &str, flag: &str) -> String {
    format!(
        "question = \"q\"\nsource = \"s\"\nbase = {base:?}\ntest = {TEST:?}\nflags = {{ {flag} }}\n\
         found = \"f\"\n[[expect]]\nwhat = \"rate\"\nsign = \"equal\"\nwhy = \"w\"\n"
    )
}
