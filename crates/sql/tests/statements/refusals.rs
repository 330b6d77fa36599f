//! What is not answered: with which number, in which words, and with nothing done.

use dbdyno_sql::Operand;

use super::{Client, Marks, Told, shown};

const TABLES: [&str; 3] = [
    "CREATE TABLE t (id INT PRIMARY KEY, k INT, c VARCHAR(2) NOT NULL, u INT, UNIQUE u_1 (u))",
    "CREATE TABLE s (a INT PRIMARY KEY, t_id INT)",
    "INSERT INTO t VALUES (1, 1, 'a', 1), (2, NULL, 'b', 2)",
];

fn are_refused(code: u16, cases: &[(&str, &str)]) {
    let mut client = Client::after(&TABLES);
    let before = client.told("SELECT * FROM t ORDER BY id");
    for (sql, words) in cases {
        let error = client.ask(sql).expect_err(sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        let said = error.to_string();
        assert!(said.contains(words), "{sql}: {said}");
        if code == 1235 {
            assert!(said.contains("docs/ENGINE.md"), "{sql}: {said}");
        }
    }
    assert_eq!(client.told("SELECT * FROM t ORDER BY id"), before);
}

#[test]
fn what_is_no_statement_is_said_to_end_or_to_stay_open() {
    are_refused(
        1064,
        &[
            ("", "the statement ends before a statement"),
            ("SELECT", "ends before"),
            ("SELECT id FROM t WHERE", "ends before"),
            ("SELECT id FROM t WHERE id IN (1", "ends before )"),
            ("SELECT 'a", "opened and not closed"),
            ("SELECT `a", "opened and not closed"),
            ("SELEC 1", "no statement of MySQL begins with SELEC"),
            ("SELECT abs(1, 2)", "abs does not take 2 arguments"),
            ("SELECT id FROM t WHERE k IN (SELECT 1, 2)", "one value"),
        ],
    );
}

#[test]
fn what_is_beyond_the_subset_is_named() {
    are_refused(
        1235,
        &[
            ("SELECT 1 UNION SELECT 2", "UNION SELECT 2"),
            ("SELECT table_name FROM information_schema.tables", "the schema information_schema"),
            ("CREATE TABLE x (id INT PRIMARY KEY) AUTO_INCREMENT=5", "AUTO_INCREMENT=5 of a table"),
            ("SELECT id FROM t RIGHT JOIN s ON a = id", "RIGHT JOIN"),
            ("SELECT /*+ NO_INDEX(t) */ id FROM t", "*+ NO_INDEX"),
            ("SELECT id ^ 1 FROM t", "'^'"),
            ("SET autocommit = (SELECT 1)", "a value that is no constant"),
            ("SELECT EXISTS (SELECT 1)", "the function exists"),
            ("SELECT CASE WHEN 1 THEN 2 END", "THEN 2 END"),
            ("SELECT id FROM t LIMIT id", "a LIMIT that is neither a number nor a mark"),
            ("DELETE FROM t LIMIT 1 + 1", "a LIMIT that is neither a number nor a mark"),
            ("SELECT k, id FROM t GROUP BY k", "id beside groups"),
            ("SELECT k FROM t HAVING k > 1", "HAVING without groups"),
            ("SELECT k FROM t WHERE sum(k) > 1", "aggregate"),
            ("SELECT k FROM t GROUP BY k FOR UPDATE", "FOR UPDATE of groups"),
            ("SELECT k, (SELECT max(a) FROM s WHERE t_id = k) FROM t GROUP BY k", "for each group"),
            ("DELETE FROM t WHERE k > (SELECT max(a) FROM s WHERE t_id = t.id)", "for each row"),
            ("UPDATE t SET k = (SELECT max(a) FROM s WHERE t_id = t.id)", "for each row"),
            ("INSERT INTO t VALUES (9, (SELECT 1), 'c', 9)", "a sub-query among the values"),
            ("UPDATE t SET k = 5 ORDER BY c", "ORDER BY that no index has"),
            ("UPDATE t SET k = k + 1, u = k", "an UPDATE that reads k after it has set it"),
            (
                "SELECT id FROM t LEFT JOIN s ON a = (SELECT max(z.k) FROM t z WHERE z.k = t_id)",
                "LEFT",
            ),
            ("SELECT t.id FROM t LEFT JOIN s ON s.a = z.id JOIN t z ON z.id = t.k", "LEFT JOIN"),
            ("CREATE TABLE x (a DOUBLE)", "the type DOUBLE"),
            ("CREATE TABLE x (a VARCHAR(4611686018427387905))", "VARCHAR(4611686018427387905)"),
            ("CREATE TABLE x (a DECIMAL(30,19))", "30 digits with 19 behind the point"),
            ("CREATE TABLE x (a DECIMAL(66,2))", "66 digits"),
            ("CREATE TABLE x (a DECIMAL(4,5))", "4 digits with 5"),
            ("CREATE TABLE x (a INT DEFAULT CURRENT_TIMESTAMP)", "default that is no constant"),
            ("SET GLOBAL autocommit = 0", "SET GLOBAL"),
            ("GRANT ALL ON t TO me", "GRANT"),
        ],
    );
}

#[test]
fn names_that_mean_nothing_or_two_things_are_told() {
    are_refused(
        1054,
        &[
            ("SELECT x FROM t", "no column x"),
            ("SELECT t.id FROM t a", "no column t.id"),
            ("SELECT id FROM t ORDER BY 2", "ORDER BY a column that is not told"),
            ("INSERT INTO t (id, x) VALUES (1, 2)", "t has no column x"),
            ("UPDATE t SET x = 1", "t has no column x"),
        ],
    );
    for (code, sql, words) in [
        (1051, "DROP TABLE nowhere", "no table nowhere"),
        (1051, "SELECT z.* FROM t", "not asked"),
        (1052, "SELECT id FROM t a JOIN t b ON a.id = b.id", "id is a column of two tables"),
        (1060, "CREATE TABLE d (a INT PRIMARY KEY, b INT, A INT)", "d has two columns A"),
        (1061, "CREATE TABLE d (a INT, INDEX i (a), KEY I (a))", "d has two keys I"),
        (1061, "ALTER TABLE t ADD INDEX U_1 (k)", "t has two keys U_1"),
        (1072, "CREATE TABLE x (a INT, PRIMARY KEY (b))", "x has no column b"),
        (1110, "INSERT INTO t (id, id) VALUES (1, 2)", "id is named twice"),
        (1136, "INSERT INTO t (id) VALUES (1, 2)", "2 values for 1 columns"),
        (1176, "SELECT id FROM t FORCE INDEX (i)", "t has no index i"),
    ] {
        are_refused(code, &[(sql, words)]);
    }
    are_refused(1146, &[("SELECT 1 FROM nowhere", "nowhere"), ("TRUNCATE nowhere", "nowhere")]);
    are_refused(1050, &[("CREATE TABLE t (a INT)", "t")]);
}

/// The server says `ERROR_FOR_DIVISION_BY_ZERO` of itself.
#[test]
fn a_change_does_not_divide_by_zero() {
    are_refused(
        1365,
        &[
            ("UPDATE t SET k = 1 / 0", "division by zero"),
            ("UPDATE t SET k = 5 WHERE id % (id - id) = 1", "division by zero"),
            ("DELETE FROM t WHERE 1 / (k - k) > 0", "division by zero"),
            ("INSERT INTO t (id, c) VALUES (9 % 0, 'x')", "division by zero"),
        ],
    );
    let mut client = Client::after(&TABLES);
    assert_eq!(
        client.told("SELECT 1 / 0, 5 % 0, id / (k - k) FROM t WHERE id = 1"),
        "NULL|NULL|NULL"
    );
    assert_eq!(client.ask("UPDATE t SET u = NULL / 0 WHERE id = 1").unwrap().1.affected, 1);
}

#[test]
fn values_of_the_wrong_kind_are_shown() {
    are_refused(
        1366,
        &[
            ("SELECT 1 + 'abc'", "'abc' where a number is wanted"),
            ("SELECT id FROM t WHERE id = 'abc'", "'abc' where a number is wanted"),
            ("SELECT id FROM t WHERE c + 0 = 1", "'a' where a number is wanted"),
            ("SELECT 5 IN (SELECT c FROM t)", "where a number is wanted"),
            ("SELECT now() + 1", "a time where a number is wanted"),
            ("SELECT id FROM t LIMIT -1", "not negative"),
            ("SELECT id FROM t LIMIT 1.5", "a whole number"),
            ("SELECT id FROM t LIMIT NULL", "NULL where a number is wanted"),
            ("SELECT (SELECT id FROM t)", "several rows"),
            ("SELECT 99999999999999999999 * 99999999999999999999", "more than 38 digits"),
            ("SELECT (-170141183460469231731687303715884105727 - 1) % -1", "more than 38 digits"),
            ("INSERT INTO t (id, k, c) VALUES (9, 'x', 'x')", "'x' where a number is wanted"),
            ("UPDATE t SET k = c", "'a' where a number is wanted"),
            ("CREATE TABLE x (a INT DEFAULT 'none')", "'none' where a number is wanted"),
            ("CREATE TABLE x (a TINYINT DEFAULT 128)", "a default of a that it takes itself"),
        ],
    );
}

#[test]
fn the_engine_refuses_with_mysqls_numbers_and_nothing_is_done() {
    are_refused(
        1062,
        &[
            ("INSERT INTO t VALUES (8, 8, 'h', 8), (2, 2, 'b', 9)", "PRIMARY"),
            ("INSERT INTO t VALUES (8, 8, 'h', 8), (9, 2, 'b', 2)", "u_1"),
            ("UPDATE t SET u = 7", "u_1"),
        ],
    );
    are_refused(
        1048,
        &[
            ("INSERT INTO t VALUES (8, 8, NULL, 8)", "c"),
            ("UPDATE t SET c = NULL WHERE id = 1", "c"),
        ],
    );
    are_refused(1364, &[("INSERT INTO t (k, c) VALUES (1, 'x')", "id has no default")]);
}

#[test]
fn what_a_column_has_no_room_for_is_neither_cut_nor_bent() {
    are_refused(
        1264,
        &[
            ("INSERT INTO t (id, k, c) VALUES (9, 9223372036854775808, 'x')", "k takes whole"),
            ("INSERT INTO t (id, k, c) VALUES (2147483648, 1, 'x')", "id takes whole numbers of 4"),
            ("UPDATE t SET k = k - 2147483650 WHERE id = 1", "k takes whole numbers of 4 bytes"),
        ],
    );
    are_refused(
        1406,
        &[
            ("UPDATE t SET c = 'abc' WHERE id = 1", "c takes up to 2 characters"),
            ("INSERT INTO t VALUES (8, 8, 'h', 8), (9, 9, 'aéi', 9)", "c takes up to 2 characters"),
        ],
    );
    let mut client = Client::after(&[
        "CREATE TABLE d (id SMALLINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, p DECIMAL(4,2), q DECIMAL)",
        "INSERT INTO d VALUES (65534, 99.99, 9999999999), (NULL, -99.994, -9999999999.4)",
    ]);
    for (sql, code) in [
        ("INSERT INTO d (p) VALUES (1)", 1264),
        ("UPDATE d SET p = p + 0.005 WHERE id = 65534", 1264),
        ("UPDATE d SET q = q + 1 WHERE id = 65534", 1264),
        ("UPDATE d SET id = -1 WHERE id = 65534", 1264),
    ] {
        let error = client.ask(sql).expect_err(sql);
        assert_eq!((error.code(), error.sqlstate()), (code, "22003"), "{sql}: {error}");
    }
    let rows = "65534|99.99|9999999999; 65535|-99.99|-9999999999";
    assert_eq!(client.told("SELECT * FROM d ORDER BY id"), rows);
    let mut client = Client::after(&[
        "CREATE TABLE u (id TINYINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, k DECIMAL(0))",
        "INSERT INTO u VALUES (NULL, 1)",
    ]);
    assert_eq!(client.ask("INSERT INTO u VALUES (256, 2)").unwrap_err().code(), 1264);
    client.ask("INSERT INTO u VALUES (NULL, 3)").unwrap();
    assert_eq!(client.told("SELECT * FROM u ORDER BY id"), "1|1; 2|3");
}

/// As with MySQL, which prepares it again by itself.
#[test]
fn a_prepared_statement_knows_the_table_of_today() {
    let mut client = Client::after(&TABLES);
    let count = client.connection.prepare("SELECT count(*), max(k) FROM t").unwrap();
    let ask = |client: &mut Client| {
        let mut told = Told::default();
        client.connection.execute(count, &Marks(Vec::new()), &mut told)?;
        dbdyno_sql::Result::Ok(shown(&told.rows))
    };
    assert_eq!(ask(&mut client).unwrap(), "2|1");
    client.ask("TRUNCATE TABLE t").unwrap();
    assert_eq!(ask(&mut client).unwrap(), "0|NULL");
    client.ask("INSERT INTO t (id, k, c) VALUES (1, 7, 'x')").unwrap();
    assert_eq!(ask(&mut client).unwrap(), "1|7");
    client.ask("DROP TABLE t").unwrap();
    assert_eq!(ask(&mut client).unwrap_err().code(), 1146);
    client.ask("CREATE TABLE t (a INT, k INT)").unwrap();
    client.ask("INSERT INTO t VALUES (1, 3), (2, 4)").unwrap();
    assert_eq!(ask(&mut client).unwrap(), "2|4");
    client.ask("DROP TABLE t").unwrap();
    client.ask("CREATE TABLE t (a INT)").unwrap();
    assert_eq!(ask(&mut client).unwrap_err().code(), 1054);
}

/// Two wait for a table: who empties it, and behind him somebody else, who finds the empty one.
#[test]
fn who_waits_for_a_table_that_is_emptied_finds_the_empty_one() {
    for (second, left) in [
        ("INSERT INTO n VALUES (2, 2)", Some("2|2")),
        ("TRUNCATE TABLE n", Some("")),
        ("ALTER TABLE n ADD INDEX k_1 (k)", Some("")),
        ("DROP TABLE IF EXISTS n", None),
    ] {
        let mut owner = Client::after(&["CREATE TABLE n (id INT PRIMARY KEY, k INT)"]);
        owner.ask("BEGIN").unwrap();
        owner.ask("INSERT INTO n VALUES (1, 1)").unwrap();
        let mut watch = owner.beside();
        let mut waits = || -> u64 {
            let (rows, _) = watch.ask("SHOW STATUS").unwrap();
            let row = rows.iter().find(|row| row[0].to_string() == "lock_waits");
            row.expect("it is counted")[1].to_string().parse().unwrap()
        };
        std::thread::scope(|scope| {
            for (place, sql) in ["TRUNCATE TABLE n", second].into_iter().enumerate() {
                let mut client = owner.beside();
                let told = move || client.ask(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                let waiting = scope.spawn(told);
                while waits() <= place as u64 {
                    assert!(!waiting.is_finished(), "{sql} does not wait");
                    std::thread::yield_now();
                }
            }
            owner.ask("COMMIT").unwrap();
        });
        match left {
            Some(left) => assert_eq!(owner.told("SELECT * FROM n"), left, "{second}"),
            None => assert_eq!(owner.ask("SELECT * FROM n").unwrap_err().code(), 1146),
        }
    }
}

#[test]
fn a_table_that_is_emptied_is_the_same_and_numbers_from_1() {
    let mut client = Client::after(&[
        "CREATE TABLE n (id INT PRIMARY KEY AUTO_INCREMENT, k INT, UNIQUE u (k))",
        "INSERT INTO n (k) VALUES (1), (2)",
        "TRUNCATE TABLE n",
        "INSERT INTO n (k) VALUES (2), (1)",
    ]);
    assert_eq!(client.told("SELECT * FROM n ORDER BY id"), "1|2; 2|1");
    assert_eq!(client.ask("INSERT INTO n (k) VALUES (1)").unwrap_err().code(), 1062);
}

#[test]
fn marks_want_as_many_parameters() {
    let mut client = Client::after(&TABLES);
    let error = client.told_with("SELECT ? + ?", vec![Operand::Int(1)]).unwrap_err();
    assert_eq!((error.code(), error.sqlstate()), (1210, "HY000"));
    assert!(error.to_string().contains("takes 2 parameters and was given 1"), "{error}");
    let both = vec![Operand::Int(1), Operand::Decimal(25, 1)];
    assert_eq!(client.told_with("SELECT ? + ?", both).unwrap(), "3.5");
}

#[test]
fn a_table_without_rows_takes_a_primary_key() {
    let mut client = Client::after(&[
        "CREATE TABLE p (a INT, b INT, INDEX b_1 (b))",
        "ALTER TABLE p ADD CONSTRAINT p_1 PRIMARY KEY (a), ADD CONSTRAINT p_2 UNIQUE (b, a)",
        "INSERT INTO p VALUES (2, 1), (1, 1)",
        "CREATE TABLE r (a INT, b INT)",
        "INSERT INTO r VALUES (1, 1), (1, 2)",
    ]);
    let foreign = "ALTER TABLE p ADD CONSTRAINT p_3 FOREIGN KEY (b) REFERENCES q (a)";
    for (sql, code, words) in [
        ("INSERT INTO p VALUES (1, 9)", 1062, "PRIMARY of p"),
        ("INSERT INTO p (b) VALUES (9)", 1364, "a has no default"),
        ("ALTER TABLE p ADD PRIMARY KEY (b)", 1068, "p has a primary key"),
        ("ALTER TABLE r ADD PRIMARY KEY (a), ADD PRIMARY KEY (b)", 1068, "r has a primary key"),
        ("CREATE TABLE q (a INT PRIMARY KEY, PRIMARY KEY (a))", 1068, "q has a primary key"),
        ("CREATE TABLE q (a INT PRIMARY KEY, b INT PRIMARY KEY)", 1068, "q has a primary key"),
        ("ALTER TABLE r ADD PRIMARY KEY (a)", 1235, "r has some"),
        ("ALTER TABLE r ADD PRIMARY KEY (c)", 1072, "r has no column c"),
        (foreign, 1235, "FOREIGN KEY (b)"),
        ("ALTER TABLE p ADD COLUMN c INT", 1235, "COLUMN c"),
    ] {
        let error = client.ask(sql).expect_err(sql);
        assert_eq!(error.code(), code, "{sql}: {error}");
        assert!(error.to_string().contains(words), "{sql}: {error}");
    }
    assert_eq!(client.told("SELECT * FROM p"), "1|1; 2|1", "in the order of the key");
    client.ask("DELETE FROM r").unwrap();
    client.ask("ALTER TABLE r ADD PRIMARY KEY (b)").unwrap();
    client.ask("INSERT INTO r VALUES (1, 2), (1, 1)").unwrap();
    assert_eq!(client.told("SELECT * FROM r"), "1|1; 1|2");
}
