//! `kill -9` of a process in which a source is written to and its replica follows, on a real disk:
//! each goes on where it was, and in the end they are the same.
//!
//! ```text
//!   test ── starts itself as a child ──► threads commit and print; a replica applies
//!     └── kills it after so many lines, opens both directories: the replica catches up;
//!         row by row the same; then the next child goes on from there
//! ```

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path as FilePath;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;

use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::follow::difference;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineOptions, IndexSpec, Replica, TableSpec, UpdateResult,
    ValueType,
};
use dbdyno_model::Design;
use dbdyno_model::random::stream;

const DIRECTORY: &str = "DBDYNO_REPLICA_KILLED";
const DESIGN: &str = "DBDYNO_REPLICA_KILLED_DESIGN";
const WRITERS: u64 = 4;
const LIVES: usize = 6;
/// Acknowledged transactions after which a child is killed: more each time.
const COMMITS: usize = 60;

/// A source and its replica; the files of their logs are small, so that many come and go.
fn open(directory: &FilePath, design: &str) -> (Arc<Engine>, Replica) {
    let design: Design = format!("topology=replica:1&{design}").parse().unwrap();
    let engine = |name: &str, design: &Design| {
        let options = EngineOptions {
            checkpoint_bytes: 8_192,
            segment_bytes: 4_096,
            ..EngineOptions::default()
        };
        let disk = RealDisk::open(&directory.join(name)).unwrap();
        Arc::new(Engine::open(Arc::new(disk), design, options).unwrap())
    };
    let source = engine("source", &design);
    let replica = Replica::start(source.clone(), engine("replica", &Design::default()), None);
    (source, replica.unwrap())
}

fn spec() -> TableSpec {
    let columns = ["id", "number"].map(|name| ColumnSpec::required(name, ValueType::BIGINT));
    let indexes = vec![IndexSpec::non_unique("number", &[1])];
    TableSpec { indexes, ..TableSpec::new("t", columns.into(), &[0]) }
}

/// The child: rows are put in, changed and taken out until it is killed.
#[test]
#[ignore = "is started by the other test, to be killed"]
fn writes_until_it_is_killed() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let (source, _replica) = open(FilePath::new(&directory), &std::env::var(DESIGN).unwrap());
    let table = source.table("t").unwrap_or_else(|_| source.create_table(spec()).unwrap());
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (mut session, table) = (source.session(), &table);
            scope.spawn(move || {
                for number in 0.. {
                    let mut random = stream(&[writer, number]);
                    let (id, value) =
                        (random.next_below(50) as i64, random.next_below(1_000) as i64);
                    let key = [Datum::Int(id)];
                    let done = session.statement(|it| {
                        if value % 5 == 0 {
                            return it.delete(table, &key).map(|_| ());
                        }
                        let set = |row: &mut dbdyno_engine::RowWriter| {
                            row.set(1, Datum::Int(value));
                            Ok(())
                        };
                        match it.update(table, &key, |_, row| set(row))? {
                            UpdateResult::Missing => {
                                it.insert(table, &[key[0], Datum::Int(value)]).map(|_| ())
                            }
                            _ => Ok(()),
                        }
                    });
                    if done.is_ok() {
                        let mut out = std::io::stdout().lock();
                        writeln!(out, "done").and_then(|()| out.flush()).unwrap();
                    }
                }
            });
        }
    });
}

fn start(directory: &FilePath, design: &str) -> Child {
    let child = "replica_killed::writes_until_it_is_killed";
    Command::new(std::env::current_exe().unwrap())
        .args([child, "--exact", "--ignored", "--nocapture", "--test-threads=2"])
        .env(DIRECTORY, directory)
        .env(DESIGN, design)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn is_killed_again_and_again(design: &str) {
    let directory = tempfile::tempdir().unwrap();
    for life in 1..=LIVES {
        let mut child = start(directory.path(), design);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let done = lines.map_while(Result::ok).filter(|line| line == "done");
        assert_eq!(
            done.take(life * COMMITS).count(),
            life * COMMITS,
            "it writes until it is killed"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let (source, replica) = open(directory.path(), design);
        replica.catch_up().unwrap();
        assert_eq!(difference(&source, replica.replica_engine()), None, "life {life}");
        replica.stop().unwrap();
    }
}

#[test]
fn a_replica_survives_kill_9_without_a_gap() {
    is_killed_again_and_again("depend=dag&apply=dag:4");
}

#[test]
fn it_survives_with_the_order_kept_and_nothing_synced_as_well() {
    is_killed_again_and_again("depend=writeset&apply=lwm:3&apply_order=kept&device=none");
}
