//! What is asked again: a query that was answered wrongly, before the round ends, and an event that
//! was rolled back, if it was.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_load::again::{RepeatedAnswer, WrongAnswer};
use dbdyno_load::closed::{run_sharded, run_threads};
use dbdyno_load::{Connector, LoadError, RoundSpec};
use dbdyno_model::{Dialect, Processors};
use dbdyno_wire::mock::{Login, MockProtocol, MockReply, MockServer, Script, Turn};
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

const TABLES: Tables = Tables { count: 1, rows: 1000, seed: 1 };
const BOTH: [MockProtocol; 2] = [MockProtocol::Mysql, MockProtocol::Postgres];
/// Of a round that an error ends, however late on a busy machine.
const UNTIL_IT_FAILS: Duration = Duration::from_secs(60);

/// How often a query is asked that is answered wrongly again.
const TIMES: usize = 10;

/// What the statements of a connection are answered, and its controls after the first.
struct Answers(Vec<MockReply>, MockReply);

impl Script for Answers {
    fn statement_turn(&self, _connection: u64, statement: u64) -> Turn {
        Turn::now(self.0[statement as usize].clone())
    }

    fn control_reply(&self, _connection: u64, control: u64) -> MockReply {
        if control == 0 { MockReply::Affected(0) } else { self.1.clone() }
    }
}

fn rows(count: u32) -> MockReply {
    MockReply::Rows { count, width: 119 }
}

fn refused() -> MockReply {
    MockReply::Error { code: 1146, sqlstate: "42S02", message: "no such table".into() }
}

/// A round of one client that its error ends.
struct Failed {
    error: LoadError,
    statements: u64,
    controls: u64,
}

fn failed(protocol: MockProtocol, load: &str, answers: &[MockReply], sharded: Sharded) -> Failed {
    failed_with(protocol, load, Answers(answers.to_vec(), MockReply::Affected(0)), sharded)
}

fn failed_with(protocol: MockProtocol, load: &str, answers: Answers, sharded: Sharded) -> Failed {
    let script = Arc::new(answers);
    let server = MockServer::start(protocol, Login::without_password("bench"), script).unwrap();
    let (connector, dialect) = match protocol {
        MockProtocol::Mysql => (Connector::Mysql(server.endpoint()), Dialect::Mysql),
        MockProtocol::Postgres => (Connector::Postgres(server.endpoint()), Dialect::Postgres),
    };
    let load = ReadyLoad::compile(&resolve_load(load, TABLES).unwrap(), dialect).unwrap();
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
    Failed { error, statements: server.statements(), controls: server.control_count() }
}

#[derive(Clone, Copy, Debug)]
enum Sharded {
    No,
    Yes,
}

const EITHER: [Sharded; 2] = [Sharded::No, Sharded::Yes];

/// In both protocols, with a thread for each client and without.
fn each_way(check: impl Fn(MockProtocol, Sharded) + Sync) {
    std::thread::scope(|scope| {
        for (protocol, sharded) in BOTH.iter().flat_map(|both| EITHER.map(|each| (*both, each))) {
            let check = &check;
            scope.spawn(move || check(protocol, sharded));
        }
    });
}

fn often(reply: MockReply) -> Vec<MockReply> {
    vec![reply; TIMES]
}

/// The third point query of a transaction finds no row; then come the answers in it, and those in
/// a new one.
#[test]
fn a_row_that_is_missing_in_a_transaction_is_asked_for_in_it_and_in_a_new_one() {
    let one = || vec![rows(1)];
    let late = || vec![rows(0), rows(3), rows(1)];
    for (within, anew, said) in [
        (one(), one(), "transaction: 1 row; in a new one: 1 row; the rows are there: the first"),
        (late(), one(), "transaction: 1 row at time 3; in a new one: 1 row; the rows are there: "),
        (often(rows(0)), one(), "0 rows at time 10; in a new one: 1 row; the rows are there, and"),
        (often(rows(0)), late(), "new one: 1 row at time 3; the rows are there, and that trans"),
        (often(rows(0)), often(rows(0)), "in a new one: 0 rows at time 10; the table is wrong"),
        (one(), often(rows(2)), "1 row; in a new one: 2 rows at time 10; the table is wrong"),
        (vec![refused()], one(), "in the same transaction: no answer (the server refused: no such"),
        (vec![refused()], vec![refused()], "what the table holds is not known"),
    ] {
        let before = [rows(1), rows(1), rows(0)];
        let answers = [&before[..], &within, &anew].concat();
        each_way(|protocol, sharded| {
            let failed = failed(protocol, "read-only", &answers, sharded);
            let text = failed.error.to_string();
            assert!(text.starts_with("wrong result: SELECT c FROM sbtest1 WHERE id="), "{text}");
            assert!(text.contains("returned 0 rows, right is 1; asked again in the"), "{text}");
            assert!(text.contains(said), "{sharded:?}: {text}");
            let LoadError::WrongResult { found, .. } = failed.error else { panic!("{text}") };
            let WrongAnswer { values, again: Some(again), file: None } = *found else {
                panic!("{text}")
            };
            let id: u64 = values.parse().unwrap();
            assert!((1..=TABLES.rows).contains(&id) && text.contains(&format!("with {id} ")));
            let refused = |reply: &RepeatedAnswer| matches!(reply, RepeatedAnswer::Refused(_));
            assert_eq!(again.within.as_ref().map(refused), Some(within == [self::refused()]));
            assert_eq!(refused(&again.anew), anew == [self::refused()]);
            assert_eq!(failed.statements, answers.len() as u64);
            assert_eq!(failed.controls, 2, "BEGIN and ROLLBACK");
        });
    }
}

#[test]
fn a_query_that_is_alone_is_asked_for_by_itself() {
    for (anew, said) in [
        (vec![rows(1)], "asked again: 1 row; the rows are there: the first answer was wrong"),
        (often(rows(0)), "asked again: 0 rows at time 10; the table is wrong"),
    ] {
        let answers = [&[rows(1), rows(2)][..], &anew].concat();
        each_way(|protocol, sharded| {
            let failed = failed(protocol, "point-query", &answers, sharded);
            let text = failed.error.to_string();
            assert!(text.contains("returned 2 rows, right is 1; asked again: "), "{text}");
            assert!(text.contains(said), "{text}");
            assert_eq!((failed.statements, failed.controls), (answers.len() as u64, 0));
        });
    }
}

/// Asking again would change something: that is left alone.
#[test]
fn a_change_is_not_asked_again() {
    each_way(|protocol, sharded| {
        let failed = failed(protocol, "update-nonindex", &[MockReply::Affected(0)], sharded);
        let text = failed.error.to_string();
        assert!(text.contains("changed 0 rows, right is 1; the server's answers"), "{text}");
        let LoadError::WrongResult { found, .. } = failed.error else { panic!("{text}") };
        assert_eq!(found.again, None);
        assert_eq!(failed.statements, 1);
    });
}

/// What a deadlock leaves of a transaction is nothing; what another error leaves, BEGIN would
/// commit if it were not for the ROLLBACK.
#[test]
fn a_rollback_that_is_refused_ends_the_round() {
    let deadlock = MockReply::Error { code: 1213, sqlstate: "40P01", message: "deadlock".into() };
    let killed = MockReply::Error { code: 1317, sqlstate: "70100", message: "interrupted".into() };
    each_way(|protocol, sharded| {
        let answers = Answers(vec![rows(1), deadlock.clone()], killed.clone());
        let failed = failed_with(protocol, "read-only", answers, sharded);
        let text = failed.error.to_string();
        assert!(text.contains("interrupted") && text.ends_with("statement: ROLLBACK"), "{text}");
        assert_eq!((failed.statements, failed.controls), (2, 2));
    });
}

/// A dialogue knows what it needs, and no right number of rows: one is asked for.
#[test]
fn a_row_that_a_dialogue_needs_is_asked_for_in_its_transaction_and_in_a_new_one() {
    for (within, anew, said) in [
        (vec![rows(1)], vec![rows(1)], "transaction: 1 row; in a new one: 1 row; the rows are th"),
        (often(rows(0)), vec![rows(0), rows(1)], "new one: 1 row at time 2; the rows are there, "),
        (often(rows(0)), often(rows(0)), "in a new one: 0 rows at time 10; the table is wrong"),
    ] {
        let answers = [&[rows(0)][..], &within, &anew].concat();
        for protocol in BOTH {
            let failed = failed(protocol, "list-append", &answers, Sharded::No);
            let text = failed.error.to_string();
            assert!(text.starts_with("wrong answer: row "), "{text}");
            assert!(text.contains("; asked again in the same "), "{text}");
            assert!(text.contains(said), "{text}");
            assert!(matches!(failed.error, LoadError::MissingRow { .. }));
            assert_eq!(failed.statements, answers.len() as u64);
            assert_eq!(failed.controls, 2, "BEGIN and ROLLBACK");
        }
    }
}
