//! What is said of a query that was answered wrongly: it is asked again before the round ends.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::again::Repeated;
use dbdyno_load::closed::{run_sharded, run_threads};
use dbdyno_load::{Connector, LoadError, RoundSpec};
use dbdyno_model::{Dialect, Processors};
use dbdyno_wire::mock::{Login, MockServer, Protocol, Reply, Script, Turn};
use dbdyno_workload::{ReadyLoad, Tables, resolve};

const TABLES: Tables = Tables { count: 1, rows: 1000, seed: 1 };
const BOTH: [Protocol; 2] = [Protocol::Mysql, Protocol::Postgres];
/// Of a round that an error ends, however late on a busy machine.
const UNTIL_IT_FAILS: Duration = Duration::from_secs(60);

/// What the first statements of a connection are answered; the others get one row.
struct Answers(Vec<Reply>);

impl Script for Answers {
    fn turn(&self, _connection: u64, statement: u64) -> Turn {
        self.0.get(statement as usize).map_or_else(Turn::point, |reply| Turn::now(reply.clone()))
    }
}

fn rows(count: u32) -> Reply {
    Reply::Rows { count, width: 119 }
}

fn refused() -> Reply {
    Reply::Error { code: 1146, sqlstate: "42S02", message: "no such table".into() }
}

/// A round of one client that its error ends.
struct Failed {
    error: LoadError,
    statements: u64,
    controls: u64,
}

fn failed(protocol: Protocol, load: &str, answers: &[Reply], sharded: Sharded) -> Failed {
    let script = Arc::new(Answers(answers.to_vec()));
    let server = MockServer::start(protocol, Login::trust("bench"), script).unwrap();
    let (connector, dialect) = match protocol {
        Protocol::Mysql => (Connector::Mysql(server.endpoint()), Dialect::Mysql),
        Protocol::Postgres => (Connector::Postgres(server.endpoint()), Dialect::Postgres),
    };
    let load = ReadyLoad::compile(&resolve(load, TABLES).unwrap(), dialect).unwrap();
    let spec = RoundSpec {
        load: &load,
        connector: &connector,
        clients: 1,
        first_operation: 0,
        lead_in: Duration::ZERO,
        window: UNTIL_IT_FAILS,
        think: None,
        slow: 0.0,
        processors: Processors::ANY,
        kept: None,
        record: None,
        stop: &AtomicBool::new(false),
    };
    let run = match sharded {
        Sharded::No => run_threads,
        Sharded::Yes => run_sharded,
    };
    let error = run(&spec, &mut |_| {}).unwrap_err();
    Failed { error, statements: server.statements(), controls: server.controls() }
}

#[derive(Clone, Copy, Debug)]
enum Sharded {
    No,
    Yes,
}

const EITHER: [Sharded; 2] = [Sharded::No, Sharded::Yes];

/// The third point query of a transaction finds no row; then come the two answers.
#[test]
fn a_row_that_is_missing_in_a_transaction_is_asked_for_in_it_and_in_a_new_one() {
    for (within, anew, said) in [
        (rows(1), rows(1), "same transaction: 1 row; in a new one: 1 row; the rows are there: the"),
        (
            rows(0),
            rows(1),
            "same transaction: 0 rows; in a new one: 1 row; the rows are there, and",
        ),
        (rows(0), rows(0), "same transaction: 0 rows; in a new one: 0 rows; the table is wrong"),
        (rows(1), rows(2), "same transaction: 1 row; in a new one: 2 rows; the table is wrong"),
        (refused(), rows(1), "no such table"),
        (refused(), refused(), "what the table holds is not known"),
    ] {
        for (protocol, sharded) in BOTH.iter().flat_map(|both| EITHER.map(|each| (*both, each))) {
            let answers = [rows(1), rows(1), rows(0), within.clone(), anew.clone()];
            let failed = failed(protocol, "read-only", &answers, sharded);
            let text = failed.error.to_string();
            assert!(text.starts_with("wrong result: SELECT c FROM sbtest1 WHERE id="), "{text}");
            assert!(
                text.contains("returned 0 rows, right is 1 to 1; asked again in the"),
                "{text}"
            );
            assert!(text.contains(said), "{sharded:?}: {text}");
            let refusals = [&within, &anew].iter().filter(|reply| ***reply == refused()).count();
            let LoadError::WrongResult { values, again: Some(again), .. } = failed.error else {
                panic!("{text}")
            };
            let id: u64 = values.parse().unwrap();
            assert!((1..=TABLES.rows).contains(&id) && text.contains(&format!("with {id} ")));
            let refused = |reply: &Repeated| matches!(reply, Repeated::Refused(_));
            let answers = again.within.iter().chain([&again.anew]);
            assert_eq!(answers.filter(|reply| refused(reply)).count(), refusals);
            assert_eq!((failed.statements, failed.controls), (5, 2), "BEGIN and ROLLBACK");
        }
    }
}

#[test]
fn a_query_that_is_alone_is_asked_once_more() {
    for (anew, said) in [
        (rows(1), "asked again: 1 row; the rows are there: the first answer was wrong, or"),
        (rows(0), "asked again: 0 rows; the table is wrong"),
    ] {
        for (protocol, sharded) in BOTH.iter().flat_map(|both| EITHER.map(|each| (*both, each))) {
            let answers = [rows(1), rows(2), anew.clone()];
            let failed = failed(protocol, "point-query", &answers, sharded);
            let text = failed.error.to_string();
            assert!(text.contains("returned 2 rows, right is 1 to 1; asked again: "), "{text}");
            assert!(text.contains(said), "{text}");
            assert_eq!((failed.statements, failed.controls), (3, 0));
        }
    }
}

/// Asking again would change something: that is left alone.
#[test]
fn a_change_is_not_asked_again() {
    for (protocol, sharded) in BOTH.iter().flat_map(|both| EITHER.map(|each| (*both, each))) {
        let failed = failed(protocol, "update-nonindex", &[Reply::Affected(0)], sharded);
        let text = failed.error.to_string();
        assert!(text.contains("changed 0 rows, right is 1 to 1; the server's answers"), "{text}");
        assert!(matches!(failed.error, LoadError::WrongResult { again: None, .. }));
        assert_eq!(failed.statements, 1);
    }
}
