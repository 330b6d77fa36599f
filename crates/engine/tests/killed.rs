//! `kill -9`, on a real disk: a process writes, is killed without warning, and what it had
//! acknowledged is there when the engine is opened again.
//!
//! ```text
//!   test ── starts itself as a child ──► threads commit 1, 2, 3 … each, and print what is done
//!     └── reads lines, kills, opens the directory: at least what was printed, nothing twice,
//!         no half transactions; then the next child goes on from there
//! ```

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path as FilePath;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineOptions, EngineSession, IndexSpec, Path, Scan, Table,
    TableSpec, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::{LogBuffer, Wake};

/// Where a child finds its directory, and the design that it opens it with.
const DIRECTORY: &str = "DBDYNO_ENGINE_KILLED";
const LOG: &str = "DBDYNO_ENGINE_KILLED_LOG";
const WRITERS: i64 = 4;
/// Children that are killed, one after the other.
const LIVES: usize = 8;
/// Acknowledged transactions after which a child is killed: more each time.
const COMMITS: usize = 60;

fn open(directory: &FilePath) -> Engine {
    let log = match std::env::var(LOG).as_deref() {
        Ok("linked") => LogBuffer::Linked,
        _ => LogBuffer::Latched,
    };
    let design = Design { log, wake: Wake::Group, ..Design::default() };
    // So small that checkpoints and files of the log come and go while it is written.
    let options =
        EngineOptions { checkpoint_bytes: 4_096, segment_bytes: 2_048, ..EngineOptions::default() };
    Engine::open(Arc::new(RealDisk::open(directory).unwrap()), &design, options).unwrap()
}

/// Two rows are written by each transaction: `writer, number` once with each sign.
fn spec() -> TableSpec {
    let columns =
        ["writer", "number", "twin"].map(|name| ColumnSpec::required(name, ValueType::BIGINT));
    let indexes = vec![IndexSpec::non_unique("twin", &[2])];
    TableSpec { indexes, ..TableSpec::new("t", columns.into(), &[0, 1]) }
}

/// The highest number of each writer, by either index; what is there is checked to be whole.
fn highest(session: &mut EngineSession, table: &Arc<Table>) -> BTreeMap<i64, i64> {
    let rows = [Path::Primary, Path::Secondary(0)].map(|path| {
        let mut rows = Vec::new();
        let visit = |_: &[u8], row: dbdyno_engine::RowView<'_>| {
            let [Datum::Int(writer), Datum::Int(number)] = [row.get(0), row.get(1)] else {
                panic!("numbers");
            };
            rows.push((writer, number));
            Visit::On
        };
        session.statement(|it| it.scan_rows(table, &Scan::whole_index(path), visit)).unwrap();
        rows.sort_unstable();
        rows
    });
    assert_eq!(rows[0], rows[1], "the indexes agree");
    let mut highest = BTreeMap::new();
    for writer in 1..=WRITERS {
        let numbers: Vec<i64> = rows[0]
            .iter()
            .filter(|row| row.0.abs() == writer)
            .map(|row| row.0.signum() * row.1)
            .collect();
        let most = numbers.iter().copied().max().unwrap_or(0);
        let whole: Vec<i64> = (-most..=most).filter(|number| *number != 0).collect();
        let mut found = numbers;
        found.sort_unstable();
        assert_eq!(found, whole, "writer {writer}: all up to the last, each with its twin");
        highest.insert(writer, most);
    }
    highest
}

/// The child: writes until it is killed.
#[test]
#[ignore = "is started by the other test, to be killed"]
fn writes_until_it_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let engine = open(FilePath::new(&directory));
    let table = engine.table("t").unwrap_or_else(|_| engine.create_table(spec()).unwrap());
    let from = highest(&mut engine.session(), &table);
    thread::scope(|scope| {
        for writer in 1..=WRITERS {
            let (mut session, table, first) = (engine.session(), &table, from[&writer] + 1);
            scope.spawn(move || {
                for number in first.. {
                    session.begin(None).unwrap();
                    for sign in [1, -1] {
                        let row = [sign * writer, number, sign * number].map(Datum::Int);
                        session.statement(|it| it.insert(table, &row)).unwrap();
                    }
                    session.commit().unwrap();
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "done {writer} {number}").and_then(|()| out.flush()).unwrap();
                }
            });
        }
    });
}

fn start(directory: &FilePath, log: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "killed::writes_until_it_is_killed",
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=2",
        ])
        .env(DIRECTORY, directory)
        .env(LOG, log)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn is_killed_again_and_again(log: &str) {
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged: BTreeMap<i64, i64> = (1..=WRITERS).map(|writer| (writer, 0)).collect();
    for life in 1..=LIVES {
        let mut child = start(directory.path(), log);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut done = 0;
        let take = |line: String, acknowledged: &mut BTreeMap<i64, i64>| {
            let Some(numbers) = line.strip_prefix("done ") else { return 0 };
            let (writer, number) = numbers.split_once(' ').unwrap();
            let [writer, number] = [writer, number].map(|text| text.parse::<i64>().unwrap());
            let known = acknowledged.get_mut(&writer).unwrap();
            assert_eq!(number, *known + 1, "writer {writer} goes on where it was");
            *known = number;
            1
        };
        while done < life * COMMITS {
            let line = lines.next().expect("the child writes until it is killed").unwrap();
            done += take(line, &mut acknowledged);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had said before it died; the last line may be cut off.
        for line in lines.map_while(Result::ok).filter(|line| line.split(' ').count() == 3) {
            let numbers: Vec<i64> =
                line.split(' ').skip(1).filter_map(|n| n.parse().ok()).collect();
            if numbers.len() == 2 && numbers[1] == acknowledged[&numbers[0]] + 1 {
                take(line, &mut acknowledged);
            }
        }
        let engine = open(directory.path());
        let table = engine.table("t").unwrap();
        let there = highest(&mut engine.session(), &table);
        for (writer, known) in &mut acknowledged {
            let there = there[writer];
            assert!(there >= *known, "writer {writer}: {known} was acknowledged, {there} is there");
            assert!(there <= *known + 1, "one at a time: {known}, {there}");
            *known = there;
        }
    }
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    is_killed_again_and_again("latched");
}

#[test]
fn it_survives_with_the_linked_log_as_well() {
    is_killed_again_and_again("linked");
}
