//! What ends a statement before it has its answer: another session, a limit of time, its client
//! that has gone, an answer that is too long.
//!
//! The question goes through 2 400³ rows, which takes the better part of an hour. Where nothing
//! ends it, its limit of time does, with another number: the clock of these servers goes on by a
//! millisecond whenever somebody looks at it.

use std::thread;

use dbdyno_engine::disk::SimDisk;
use dbdyno_serve::{EngineListener, ServeLimits};
use dbdyno_wire::Client as _;
use dbdyno_wire::mysql::MysqlConnection;

use crate::place::{
    Raw, connect, connect_openly, endpoint, on_disk, open_server, refused, rows, serve,
};

const ENDLESS: &str = "SELECT count(*) FROM t AS a, t AS b, t AS c";
const KILLED: u16 = 1317;

/// A server with a table of 2 400 rows.
fn server(limits: ServeLimits) -> EngineListener {
    let server = serve(on_disk(&SimDisk::default()), limits);
    fill(&mut connect(&server));
    server
}

fn fill(client: &mut MysqlConnection) {
    client.run("CREATE TABLE t (id INT PRIMARY KEY, n INT)").unwrap();
    for from in (0..2_400).step_by(200) {
        let values: Vec<String> = (from..from + 200).map(|id| format!("({id}, 0)")).collect();
        client.run(&format!("INSERT INTO t VALUES {}", values.join(", "))).unwrap();
    }
}

/// A session that asks in a thread of its own, and its number.
fn ask(
    server: &EngineListener,
    sql: &'static str,
) -> (String, thread::JoinHandle<Result<u64, dbdyno_wire::WireError>>) {
    let mut client = MysqlConnection::connect(&endpoint(server)).unwrap();
    client.run("SET max_execution_time = 4000000").unwrap();
    let id = rows(&mut client, "SELECT connection_id()").remove(0);
    (id, thread::spawn(move || client.run(sql).map(|done| done.rows)))
}

/// Waits until a session is as it is told.
fn see(client: &mut MysqlConnection, id: &str, command: &str) {
    let told = format!("{id}|dbdyno|localhost|test|{command}|NULL|NULL|NULL");
    while !rows(client, "SHOW FULL PROCESSLIST").contains(&told) {
        thread::yield_now();
    }
}

#[test]
fn another_session_ends_a_statement() {
    let server = server(ServeLimits::default());
    let mut other = connect(&server);
    let (id, asked) = ask(&server, ENDLESS);
    see(&mut other, &id, "Query");
    other.run(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(refused(asked.join().unwrap()).0, KILLED);
    let (id, asked) = ask(&server, "SELECT sleep(3600)");
    see(&mut other, &id, "Query");
    other.run(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(refused(asked.join().unwrap()).0, KILLED);
    assert_eq!(refused(other.run("KILL QUERY 4000000")).0, 1094);
    server.stop().unwrap();
}

#[test]
fn another_session_ends_a_wait_for_a_lock_and_a_connection() {
    let server = server(ServeLimits::default());
    let (mut holder, mut idle) = (connect(&server), connect(&server));
    holder.run("BEGIN").unwrap();
    holder.run("UPDATE t SET n = 1 WHERE id = 1").unwrap();
    for kill in ["KILL QUERY", "KILL"] {
        let waits = rows(&mut holder, "SHOW STATUS LIKE 'lock_waits'");
        let (id, asked) = ask(&server, "UPDATE t SET n = 2 WHERE id = 1");
        while rows(&mut holder, "SHOW STATUS LIKE 'lock_waits'") == waits {
            thread::yield_now();
        }
        holder.run(&format!("{kill} {id}")).unwrap();
        assert_eq!(refused(asked.join().unwrap()).0, KILLED, "{kill}");
    }
    // What was ended once is not ended again, and may wait.
    let id = rows(&mut idle, "SELECT connection_id()").remove(0);
    holder.run(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(rows(&mut idle, "SELECT count(*) FROM t"), ["2400"]);
    holder.run(&format!("KILL CONNECTION {id}")).unwrap();
    assert!(idle.run("SELECT 1").is_err());
    holder.run("COMMIT").unwrap();
    assert_eq!(rows(&mut holder, "SELECT n FROM t WHERE id = 1"), ["1"]);
    server.stop().unwrap();
}

#[test]
fn a_question_ends_after_its_limit_and_a_change_does_not() {
    let server = server(ServeLimits::default());
    let mut client = connect(&server);
    client.run("SET SESSION max_execution_time = 1").unwrap();
    assert_eq!(refused(client.run(ENDLESS)).0, 3024);
    assert_eq!(client.run("UPDATE t SET n = n + 1").unwrap().affected, 2_400);
    client.run("SET max_execution_time = 0").unwrap();
    assert_eq!(rows(&mut client, "SELECT sum(n) FROM t"), ["2400"]);
    server.stop().unwrap();
}

#[test]
fn a_statement_ends_with_its_client() {
    let server = open_server(ServeLimits::default());
    fill(&mut connect_openly(&server));
    let mut other = connect_openly(&server);
    let mut gone = Raw::let_in(&server);
    for sql in ["BEGIN", "UPDATE t SET n = 7 WHERE id = 7"] {
        gone.send(0, &[b"\x03", sql.as_bytes()].concat());
        assert_eq!(gone.packet().1[0], 0, "OK");
    }
    gone.send(0, &[b"\x03", ENDLESS.as_bytes()].concat());
    while rows(&mut other, "SHOW PROCESSLIST").len() < 2 {
        thread::yield_now();
    }
    drop(gone);
    while rows(&mut other, "SHOW PROCESSLIST").len() > 1 {
        thread::yield_now();
    }
    assert_eq!(other.run("UPDATE t SET n = 8 WHERE id = 7").unwrap().affected, 1);
    server.stop().unwrap();
}

#[test]
fn an_answer_that_is_too_long_ends_its_statement() {
    let limits = ServeLimits { answer_bytes: 1 << 16, ..ServeLimits::default() };
    let long = server(limits);
    let mut client = connect(&long);
    client.run("SET max_execution_time = 4000000").unwrap();
    let product = "SELECT a.id, b.id, c.id FROM t AS a, t AS b, t AS c";
    assert_eq!(refused(client.run(product)).0, 1041);
    assert_eq!(rows(&mut client, &format!("{product} LIMIT 2")).len(), 2, "and it goes on");
    long.stop().unwrap();
    let limits = ServeLimits { all_answer_bytes: 1 << 20, ..ServeLimits::default() };
    let many = server(limits);
    let mut client = connect(&many);
    client.run("SET max_execution_time = 4000000").unwrap();
    let error = client.run(product).map(|done| done.rows).unwrap_err();
    assert!(error.to_string().contains("all connections together"), "{error}");
    many.stop().unwrap();
}
