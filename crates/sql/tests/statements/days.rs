//! Days and points in time, as MySQL 8.0.33 answers the same statements.

use super::Client;

const TABLE: [&str; 4] = [
    "CREATE TABLE d (id INT PRIMARY KEY, day DATE, a DATETIME, m DATETIME(3), u TIMESTAMP(6), \
     KEY (day), KEY (a))",
    "INSERT INTO d VALUES (1, '2026-11-25 23:59:59.4', '2026-11-25 19:30:00.5', \
     '2026-11-25 19:30:00.1235', '2026-11-25 19:30:00.1234567')",
    "INSERT INTO d VALUES (2, '2026-12-31 23:59:59.5', '2026-12-31 23:59:59.999999', \
     '1969-12-31 23:59:59.9995', '1969-12-31')",
    "INSERT INTO d VALUES (3, '1969-12-31', '1969-12-31 23:59:59.5', '2026-11-25T19:30:00', NULL)",
];

#[test]
fn a_column_keeps_as_many_digits_as_it_has() {
    let mut client = Client::after(&TABLE);
    assert_eq!(
        client.told("SELECT * FROM d ORDER BY id"),
        "1|2026-11-25|2026-11-25 19:30:01|2026-11-25 19:30:00.124|2026-11-25 19:30:00.123457; \
         2|2027-01-01|2027-01-01 00:00:00|1970-01-01 00:00:00.000|1969-12-31 00:00:00.000000; \
         3|1969-12-31|1970-01-01 00:00:00|2026-11-25 19:30:00.000|NULL"
    );
    client.ask("UPDATE d SET day = a, a = u WHERE id = 2").unwrap();
    assert_eq!(client.told("SELECT day, a FROM d WHERE id = 2"), "2027-01-01|1969-12-31 00:00:00");
}

#[test]
fn days_and_times_are_compared_and_told() {
    let mut client = Client::after(&TABLE);
    for (sql, rows) in [
        ("SELECT id FROM d WHERE day > '2026-11-25 12:00:00' ORDER BY id", "2"),
        ("SELECT id FROM d WHERE day = '2026-11-25 12:00:00'", ""),
        ("SELECT id FROM d WHERE day >= '2026-11-25' ORDER BY day DESC", "2; 1"),
        ("SELECT id FROM d WHERE a < '2026-11-25 19:30:00.7' ORDER BY id", "3"),
        ("SELECT id FROM d WHERE a = '2026-11-25 19:30:01'", "1"),
        ("SELECT id FROM d WHERE day BETWEEN '1969-12-31' AND '2026-11-25' ORDER BY id", "1; 3"),
        (
            "SELECT concat(day, '|', a, '|', m) FROM d WHERE id = 1",
            "2026-11-25|2026-11-25 19:30:01|2026-11-25 19:30:00.124",
        ),
        ("SELECT min(day), max(a) FROM d", "1969-12-31|2027-01-01 00:00:00"),
        (
            "SELECT day, count(*) FROM d GROUP BY day ORDER BY day",
            "1969-12-31|1; 2026-11-25|1; 2027-01-01|1",
        ),
        ("SELECT id FROM d WHERE day < a ORDER BY id", "1; 3"),
        ("SELECT length(day), right(day, 2) FROM d WHERE id = 1", "10|25"),
        ("SELECT DISTINCT day FROM d ORDER BY day", "1969-12-31; 2026-11-25; 2027-01-01"),
    ] {
        assert_eq!(client.told(sql), rows, "{sql}");
    }
}

/// Text was kept in a column of days as it was.
#[test]
fn what_is_no_day_is_refused() {
    let mut client = Client::after(&TABLE);
    for (sql, code) in [
        ("INSERT INTO d (id, day) VALUES (4, 'hello')", 1292),
        ("INSERT INTO d (id, day) VALUES (4, '')", 1292),
        ("INSERT INTO d (id, day) VALUES (4, '2026-02-29')", 1292),
        ("INSERT INTO d (id, a) VALUES (4, '2026-02-30')", 1292),
        ("INSERT INTO d (id, a) VALUES (4, '9999-12-31 23:59:59.5')", 1264),
        ("INSERT INTO d (id, day) VALUES (4, 20261125)", 1292),
        ("SELECT id FROM d WHERE day = 'hello'", 1292),
        ("SELECT now() < 'today'", 1292),
        ("CREATE TABLE e (at DATETIME(7))", 1235),
    ] {
        let error = client.ask(sql).expect_err(sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
    }
    assert_eq!(client.told("SELECT count(*) FROM d"), "3");
}
