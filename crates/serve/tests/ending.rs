//! How a server ends, and what is there when it begins again.

use std::thread;

use dbdyno_wire::Client as _;
use dbdyno_wire::mysql::MysqlConnection;

use crate::place::{connect, endpoint, in_directory, refused, rows, server};

#[test]
fn what_was_committed_is_there_after_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let server = in_directory(directory.path());
    let mut client = connect(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let insert = client.prepare("INSERT INTO t VALUES (?)").unwrap();
    for id in 0..200 {
        client.execute(insert, &vec![dbdyno_wire::Param::Int(id)]).unwrap();
    }
    client.run("BEGIN").unwrap();
    client.run("INSERT INTO t VALUES (1000)").unwrap();
    server.stop().unwrap();
    assert!(client.run("COMMIT").is_err(), "nobody answers any more");
    let server = in_directory(directory.path());
    assert_eq!(rows(&mut connect(&server), "SELECT count(*), max(id) FROM t"), ["200|199"]);
    server.stop().unwrap();
}

/// Ending reads looks to the server as if the client had gone.
#[test]
fn what_is_asked_when_the_end_comes_is_answered() {
    let server = server();
    let mut other = connect(&server);
    let endpoint = endpoint(&server);
    let sleeper = thread::spawn(move || {
        let mut client = MysqlConnection::connect(&endpoint).unwrap();
        client.query("SELECT sleep(0.3)").map(|done| done.rows)
    });
    // Some sleep is under way; a slow host may have seen its end, and then shows nothing.
    let mut works = || {
        let all = rows(&mut other, "SHOW PROCESSLIST");
        all.iter().filter(|row| row.contains("|Query|")).count()
    };
    // The one that looks works too.
    while works() < 2 && !sleeper.is_finished() {
        thread::yield_now();
    }
    server.stop().unwrap();
    assert_eq!(sleeper.join().unwrap().unwrap(), [[Some("0".to_owned())]]);
}

#[test]
fn who_waits_for_a_lock_does_not_hold_up_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let server = in_directory(directory.path());
    let mut holder = connect(&server);
    holder.run("CREATE TABLE t (id INT PRIMARY KEY, n INT)").unwrap();
    holder.run("INSERT INTO t VALUES (1, 0)").unwrap();
    holder.run("BEGIN").unwrap();
    holder.run("UPDATE t SET n = 1 WHERE id = 1").unwrap();
    let endpoint = endpoint(&server);
    let waiter = thread::spawn(move || {
        let mut client = MysqlConnection::connect(&endpoint).unwrap();
        client.run("UPDATE t SET n = 2 WHERE id = 1")
    });
    // It waits, or has not asked yet: the end comes either way, and it is told or cut off.
    while rows(&mut holder, "SHOW STATUS LIKE 'lock_waits'") == ["lock_waits|0"] {
        thread::yield_now();
    }
    server.stop().unwrap();
    assert_eq!(refused(waiter.join().unwrap()), (1317, "70100".to_owned()));
    let server = in_directory(directory.path());
    assert_eq!(rows(&mut connect(&server), "SELECT n FROM t"), ["0"]);
    server.stop().unwrap();
}
