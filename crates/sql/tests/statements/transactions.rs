//! What is said of transactions, as MySQL 8.0.33 takes the same statements.

use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_sql::{Operand, ResultColumn, Sink};

use super::Client;

/// Runs statements one after another; each with its rows, or with the number of its refusal.
fn follow(client: &mut Client, steps: &[(&str, &str)]) {
    for (number, (sql, expected)) in steps.iter().enumerate() {
        let got = match client.ask(sql) {
            Ok((rows, _)) => super::shown(&rows),
            Err(error) => error.code().to_string(),
        };
        assert_eq!(got, *expected, "step {number}: {sql}");
    }
}

const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(9))";

/// The savepoint was forgotten, and the row stayed.
#[test]
fn a_savepoint_begins_a_transaction_where_statements_are_none() {
    follow(
        &mut Client::after(&[TABLE]),
        &[
            ("SET autocommit=0", ""),
            ("SAVEPOINT a", ""),
            ("INSERT INTO t (id) VALUES (1)", ""),
            ("ROLLBACK TO a", ""),
            ("COMMIT", ""),
            ("SELECT count(*) FROM t", "0"),
            ("COMMIT", ""),
            ("SET autocommit=1", ""),
            ("SAVEPOINT a", ""),
            ("ROLLBACK TO a", "1305"),
        ],
    );
}

#[test]
fn a_transaction_that_reads_only_writes_nothing() {
    follow(
        &mut Client::after(&[TABLE, "INSERT INTO t VALUES (4, 'd')"]),
        &[
            ("START TRANSACTION READ ONLY", ""),
            ("INSERT INTO t (id) VALUES (1)", "1792"),
            ("UPDATE t SET c = 'x'", "1792"),
            ("SELECT id FROM t FOR UPDATE", "1792"),
            ("SELECT id FROM t FOR SHARE", "4"),
            // It ends the transaction before it.
            ("CREATE TABLE u (id INT)", ""),
            ("INSERT INTO t (id) VALUES (1)", ""),
            ("SET TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE", ""),
            ("INSERT INTO t (id) VALUES (2)", "1792"),
            ("SELECT count(*) FROM t", "2"),
            ("INSERT INTO t (id) VALUES (2)", ""),
            ("SET SESSION TRANSACTION READ ONLY", ""),
            ("SELECT @@transaction_read_only, @@session.tx_read_only", "1|1"),
            ("DELETE FROM t", "1792"),
            ("DROP TABLE u", "1792"),
            ("BEGIN", ""),
            ("DELETE FROM t", "1792"),
            ("COMMIT", ""),
            ("START TRANSACTION READ WRITE, WITH CONSISTENT SNAPSHOT", ""),
            ("INSERT INTO t (id) VALUES (3)", ""),
            ("COMMIT WORK AND NO CHAIN NO RELEASE", ""),
            ("SET @@session.transaction_read_only = 0", ""),
            ("BEGIN WORK", ""),
            ("DELETE FROM t", ""),
            ("ROLLBACK WORK", ""),
            ("SELECT count(*) FROM t", "4"),
            ("START TRANSACTION READ ONLY, READ WRITE", "1064"),
            ("COMMIT AND CHAIN", "1235"),
        ],
    );
}

#[test]
fn a_level_is_of_the_next_transaction_or_of_the_session() {
    let mut client = Client::after(&[TABLE, "INSERT INTO t VALUES (1, 'a')"]);
    let mut beside = client.beside();
    let at = "SELECT @@transaction_isolation";
    follow(
        &mut client,
        &[
            ("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ""),
            (at, "REPEATABLE-READ"),
            ("SET @@transaction_isolation = 'READ-COMMITTED'", ""),
            (at, "REPEATABLE-READ"),
            ("BEGIN", ""),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "1568"),
            ("SELECT c FROM t", "a"),
        ],
    );
    beside.ask("UPDATE t SET c = 'b'").unwrap();
    follow(&mut client, &[("SELECT c FROM t", "b"), ("COMMIT", ""), ("BEGIN", "")]);
    follow(&mut client, &[("SELECT c FROM t", "b")]);
    beside.ask("UPDATE t SET c = 'c'").unwrap();
    follow(
        &mut client,
        &[
            ("SELECT c FROM t", "b"),
            ("COMMIT", ""),
            ("SET transaction_isolation = 'SERIALIZABLE'", ""),
            (at, "SERIALIZABLE"),
            ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE", ""),
            (at, "READ-COMMITTED"),
            ("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "1235"),
        ],
    );
}

/// Truncates the table of a question that is about to read it.
struct TruncationBefore {
    other: Client,
    rows: usize,
}

impl Sink for TruncationBefore {
    fn begin_rows(&mut self, _columns: &Arc<[ResultColumn]>) {
        self.other.ask("TRUNCATE t").unwrap();
    }

    fn value(&mut self, _value: &Operand<'_>) {}

    fn end_row(&mut self) -> ControlFlow<()> {
        self.rows += 1;
        ControlFlow::Continue(())
    }
}

/// It was told that there is no such table.
#[test]
fn a_question_whose_table_is_truncated_meanwhile_has_its_rows() {
    let mut client = Client::after(&[TABLE, "INSERT INTO t VALUES (1, 'a'), (2, 'b')"]);
    for sql in ["SELECT id FROM t", "SELECT c FROM t WHERE id = 2"] {
        client.ask("INSERT INTO t VALUES (3, 'c')").unwrap();
        client.ask("TRUNCATE t").unwrap();
        client.ask("INSERT INTO t VALUES (1, 'a'), (2, 'b')").unwrap();
        let mut sink = TruncationBefore { other: client.beside(), rows: 0 };
        let done = client.connection.run(sql, &mut sink).unwrap();
        assert_eq!(done.rows, sink.rows as u64, "{sql}");
        assert!(sink.rows > 0, "{sql}");
        assert_eq!(client.told("SELECT count(*) FROM t"), "0");
    }
}
