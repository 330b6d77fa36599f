//! What is answered to what is asked.

use dbdyno_engine::disk::SimDisk;
use dbdyno_model::Secret;
use dbdyno_serve::{EngineListener, Listener, ServeLimits};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client as _, Endpoint, Param, RowBuffer};

use crate::place::{
    Raw, connect, connect_openly, endpoint, in_directory, open_server, refused, rows, server,
    settings,
};

#[test]
fn rows_are_the_same_as_text_and_as_bytes() {
    let server = server();
    let mut client = connect(&server);
    client
        .run(
            "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, d DECIMAL(8,2), c \
             CHAR(20), at DATETIME(6), on_day DATE)",
        )
        .unwrap();
    let made = client
        .run(
            "INSERT INTO t (d, c, at, on_day) VALUES (-1.5, 'caf\u{e9}', \
             '2026-11-25 19:30:00.25', '2026-11-25'), (NULL, '', NULL, NULL), (12345.67, 'x', \
             '1969-12-31', '1969-12-31 23:59:59')",
        )
        .unwrap();
    assert_eq!(made.affected, 3);
    let asked = "SELECT id, d, c, at, id + 1, d * 2, count(*), on_day, COALESCE(SUM(d), 0), \
                 COALESCE(NULL, id) FROM t GROUP BY id, d, c, at, on_day ORDER BY id";
    let text = rows(&mut client, asked);
    assert_eq!(
        text,
        [
            "1|-1.50|caf\u{e9}|2026-11-25 19:30:00.250000|2|-3.00|1|2026-11-25|-1.50|1",
            "2|NULL||NULL|3|NULL|1|NULL|0.00|2",
            "3|12345.67|x|1969-12-31 00:00:00.000000|4|24691.34|1|1969-12-31|12345.67|3",
        ]
    );
    let statement = client.prepare(asked).unwrap();
    let mut buffer = RowBuffer::new();
    client.fetch(statement, &Vec::new(), &mut buffer).unwrap();
    let binary: Vec<String> = (0..buffer.rows())
        .map(|row| {
            let value = |column| match buffer.text_at(row, column) {
                Some(text) => String::from_utf8_lossy(text).into_owned(),
                None => "NULL".to_owned(),
            };
            (0..10).map(value).collect::<Vec<_>>().join("|")
        })
        .collect();
    // The client speaks latin1, and kept rows are in its bytes.
    let latin1: Vec<String> = text.iter().map(|row| row.replace('\u{e9}', "\u{fffd}")).collect();
    assert_eq!(binary, latin1);
    server.stop().unwrap();
}

#[test]
fn statements_are_prepared_executed_and_forgotten() {
    let server = server();
    let mut client = connect(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY, c CHAR(10))").unwrap();
    let insert = client.prepare("INSERT INTO t (id, c) VALUES (?, ?)").unwrap();
    for id in 0..300_i64 {
        let args = vec![Param::Int(id), Param::Text(b"abc")];
        assert_eq!(client.execute(insert, &args).unwrap().affected, 1);
    }
    let range = client.prepare("SELECT c FROM t WHERE id BETWEEN ? AND ?").unwrap();
    let args = vec![Param::Int(10), Param::Text(b"109")];
    assert_eq!(client.execute(range, &args).unwrap().rows, 100);
    // Bytes that are no text were kept as they were, and came back as something else.
    client.run("SET NAMES utf8mb4").unwrap();
    let wrong = vec![Param::Int(1_000), Param::Text(b"caf\xE9")];
    assert_eq!(refused(client.execute(insert, &wrong)), (1366, "HY000".to_owned()));
    // A table that is made anew is found by the statements that ask for it.
    client.run("DROP TABLE t").unwrap();
    assert_eq!(refused(client.execute(range, &args)), (1146, "42S02".to_owned()));
    client.run("CREATE TABLE t (c CHAR(3), x INT, id INT PRIMARY KEY)").unwrap();
    client.run("INSERT INTO t VALUES ('new', 1, 50)").unwrap();
    assert_eq!(client.execute(range, &args).unwrap().rows, 1);
    assert_eq!(refused(client.prepare("BEGIN")), (1295, "HY000".to_owned()));
    assert_eq!(refused(client.prepare("SELECT x FROM u")), (1146, "42S02".to_owned()));
    server.stop().unwrap();
}

#[test]
fn transactions_are_those_of_the_session() {
    let server = server();
    let (mut one, mut two) = (connect(&server), connect(&server));
    one.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    one.run("BEGIN").unwrap();
    one.run("INSERT INTO t VALUES (1)").unwrap();
    assert!(rows(&mut two, "SELECT id FROM t").is_empty());
    one.run("ROLLBACK").unwrap();
    one.run("SET autocommit=0").unwrap();
    one.run("INSERT INTO t VALUES (2)").unwrap();
    assert!(rows(&mut two, "SELECT id FROM t").is_empty());
    one.run("COMMIT").unwrap();
    assert_eq!(rows(&mut two, "SELECT id FROM t"), ["2"]);
    one.run("INSERT INTO t VALUES (3)").unwrap();
    // Who goes without a word has not committed.
    drop(one);
    let mut three = connect(&server);
    three.run("SET autocommit=0").unwrap();
    three.run("INSERT INTO t VALUES (4)").unwrap();
    three.run("SET autocommit=1").unwrap();
    assert_eq!(rows(&mut two, "SELECT id FROM t WHERE id <> 3"), ["2", "4"]);
    three.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").unwrap();
    assert_eq!(rows(&mut three, "SELECT @@transaction_isolation"), ["READ-COMMITTED"]);
    server.stop().unwrap();
}

#[test]
fn errors_have_the_numbers_of_mysql() {
    let server = server();
    let mut client = connect(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY, c CHAR(2))").unwrap();
    client.run("INSERT INTO t VALUES (1, 'a')").unwrap();
    for (sql, code, sqlstate) in [
        ("SELEC 1", 1064, "42000"),
        ("REPLACE INTO t VALUES (1, 'b')", 1235, "42000"),
        ("SELECT 'a", 1064, "42000"),
        ("  ", 1065, "42000"),
        ("SELECT x FROM t", 1054, "42S22"),
        ("SELECT c FROM t, t AS u", 1052, "23000"),
        ("SELECT u.* FROM t", 1051, "42S02"),
        ("SELECT c FROM t FORCE INDEX (i)", 1176, "42000"),
        ("DROP TABLE u", 1051, "42S02"),
        ("INSERT INTO t VALUES (2)", 1136, "21S01"),
        ("INSERT INTO t (c) VALUES ('b')", 1364, "HY000"),
        ("INSERT INTO t VALUES (DEFAULT, 'b')", 1364, "HY000"),
        ("INSERT INTO t (id, id) VALUES (2, 3)", 1110, "42000"),
        ("CREATE TABLE u (a INT, A INT)", 1060, "42S21"),
        ("CREATE TABLE u (a INT, KEY k (a), KEY k (a))", 1061, "42000"),
        ("CREATE TABLE u (a INT, KEY (b))", 1072, "42000"),
        ("SELECT 1 FROM u", 1146, "42S02"),
        ("INSERT INTO t VALUES (1, 'b')", 1062, "23000"),
        ("INSERT INTO t VALUES (2, 'abc')", 1406, "22001"),
        ("INSERT INTO t VALUES (5000000000, 'a')", 1264, "22003"),
        ("CREATE TABLE t (id INT)", 1050, "42S01"),
        ("USE elsewhere", 1049, "42000"),
        ("SET nothing=1", 1193, "HY000"),
        ("SET version='9'", 1238, "HY000"),
        ("SET sql_mode='ANSI_QUOTES'", 1231, "42000"),
        ("SET GLOBAL wait_timeout=1", 1235, "42000"),
        ("CREATE DATABASE other", 1235, "42000"),
        ("SELECT /*+ NO_INDEX(t) */ c FROM t", 1235, "42000"),
    ] {
        let got = refused(client.query(sql));
        assert_eq!(got, (code, sqlstate.to_owned()), "{sql}");
    }
    assert_eq!(rows(&mut client, "SELECT c FROM t"), ["a"], "and the connection goes on");
    server.stop().unwrap();
}

#[test]
fn what_clients_ask_when_they_connect_is_answered() {
    let server = server();
    let mut client = connect(&server);
    let asked = "/* mysql-connector-j-8.0.33 */SELECT @@session.auto_increment_increment AS \
                 auto_increment_increment, @@character_set_client AS character_set_client, \
                 @@license, @@autocommit, database(), user(), @@max_allowed_packet";
    let expected = "1|latin1|MIT OR Apache-2.0|1|test|dbdyno@localhost|67108864";
    assert_eq!(rows(&mut client, asked), [expected]);
    for set in [
        "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
        "SET character_set_results = NULL",
        "SET SESSION wait_timeout=31536000, @@net_write_timeout = 60",
        "set autocommit=1, sql_mode=CONCAT(@@sql_mode,',STRICT_TRANS_TABLES')",
        "SET NAMES 'latin1'",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        "COMMIT /* done */;",
        "CREATE TABLE IF NOT EXISTS t (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' \
         NOT NULL, PRIMARY KEY (id)) /*! ENGINE = innodb */ ",
        "CREATE TABLE IF NOT EXISTS t (id INT)",
        "SELECT AVG(id) FROM (SELECT * FROM t FORCE KEY (PRIMARY) LIMIT 5) t",
    ] {
        client.run(set).unwrap_or_else(|error| panic!("{set}: {error}"));
    }
    client.run("INSERT INTO t (k) VALUES (7), (8)").unwrap();
    assert_eq!(rows(&mut client, "SELECT LAST_INSERT_ID()"), ["1"]);
    assert_eq!(rows(&mut client, "SHOW TABLES"), ["t"]);
    assert_eq!(rows(&mut client, "SHOW DATABASES"), ["test"]);
    assert_eq!(
        rows(&mut client, "SHOW VARIABLES LIKE 'Auto%'"),
        ["auto_increment_increment|1", "auto_increment_offset|1", "autocommit|ON",]
    );
    assert_eq!(rows(&mut client, "SHOW VARIABLES LIKE 'view'"), ["view|vector"]);
    assert!(rows(&mut client, "SHOW WARNINGS").is_empty());
    let columns = ["id|int|NO|PRI|NULL|auto_increment", "k|int|NO||0|"];
    assert_eq!(rows(&mut client, "SHOW COLUMNS FROM t"), columns);
    assert_eq!(rows(&mut client, "SELECT CURRENT_TIMESTAMP"), ["2026-11-25 19:30:00"]);
    server.stop().unwrap();
}

/// As MySQL 8.0.33 tells them, but for comments, which are not kept, and statistics.
#[test]
fn tables_are_told_in_the_shape_of_mysql() {
    let server = server();
    let mut client = connect(&server);
    client
        .run(
            "CREATE TABLE `test`.`t` (id INT PRIMARY KEY COMMENT 'number', c VARCHAR(9) CHARACTER \
             SET utf8mb4 COLLATE utf8mb4_bin, at DATETIME(3) DEFAULT '2026-11-25', UNIQUE (c), KEY \
             (id, c), KEY id_2 (c), INDEX (id)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 \
             COLLATE=utf8mb4_bin COMMENT='kept'",
        )
        .unwrap();
    for (sql, expected) in [
        ("SHOW FULL TABLES FROM test LIKE 't'", &["t|BASE TABLE"][..]),
        ("SHOW DATABASES LIKE 'te%'", &["test"]),
        ("SHOW COLUMNS FROM test.t LIKE 'c%'", &["c|varchar(9)|YES|UNI|NULL|"]),
        ("DESCRIBE t c", &["c|varchar(9)|YES|UNI|NULL|"]),
        (
            "SHOW FULL COLUMNS FROM t FROM test LIKE 'i%'",
            &["id|int|NULL|NO|PRI|NULL||select,insert,update,references|"],
        ),
        (
            "SHOW INDEX FROM t FROM test",
            &[
                "t|0|PRIMARY|1|id|A|NULL|NULL|NULL||BTREE|||YES|NULL",
                "t|0|c|1|c|A|NULL|NULL|NULL|YES|BTREE|||YES|NULL",
                "t|1|id|1|id|A|NULL|NULL|NULL||BTREE|||YES|NULL",
                "t|1|id|2|c|A|NULL|NULL|NULL|YES|BTREE|||YES|NULL",
                "t|1|id_2|1|c|A|NULL|NULL|NULL|YES|BTREE|||YES|NULL",
                "t|1|id_3|1|id|A|NULL|NULL|NULL||BTREE|||YES|NULL",
            ],
        ),
        ("SELECT `test`.`t`.`c`, t.id FROM `test`.`t` WHERE test.t.id > 0", &[]),
    ] {
        assert_eq!(rows(&mut client, sql), expected, "{sql}");
    }
    let made = rows(&mut client, "SHOW CREATE TABLE t").remove(0);
    let (_, made) = made.split_once('|').unwrap();
    client.run("DROP TABLE test.t").unwrap();
    client.run(made).unwrap_or_else(|error| panic!("{made}: {error}"));
    assert!(rows(&mut client, "SHOW CREATE TABLE t")[0].ends_with(made), "{made}");
    for sql in ["SELECT 1 FROM elsewhere.t", "SHOW TABLES FROM elsewhere", "DROP TABLE other.t"] {
        assert_eq!(refused(client.run(sql)).0, 1049, "{sql}");
    }
    // MySQL has these, and the engine has not: that is no wrong name of a client.
    for sql in ["DROP TABLE mysql.t", "SELECT 1 FROM INFORMATION_SCHEMA.tables"] {
        assert_eq!(refused(client.run(sql)).0, 1235, "{sql}");
    }
    server.stop().unwrap();
}

/// As MySQL 8.0.33 tells them, but for the lengths of what is computed.
#[test]
fn columns_are_told_with_their_tables_types_and_keys() {
    let server = open_server(ServeLimits::default());
    let mut client = connect_openly(&server);
    client
        .run(
            "CREATE TABLE m (id INT NOT NULL AUTO_INCREMENT, a TINYINT, b SMALLINT UNSIGNED NOT \
             NULL, c MEDIUMINT UNSIGNED, e BIGINT UNSIGNED NOT NULL DEFAULT 3, f DECIMAL(10,2), h \
             CHAR(5), i VARCHAR(20) NOT NULL, j TEXT, k DATE, l DATETIME(3), PRIMARY KEY (id), \
             UNIQUE (i), KEY (a, b))",
        )
        .unwrap();
    client
        .run("INSERT INTO m VALUES (7, -3, 65535, 16777215, 9, 1.5, 'ab', 'x', 'y', NULL, NULL)")
        .unwrap();
    let mut raw = Raw::let_in(&server);
    let mut told = |sql: &str| {
        raw.send(0, &[b"\x03", sql.as_bytes()].concat());
        let (_, count) = raw.packet();
        let columns: Vec<String> = (0..count[0]).map(|_| definition(&raw.packet().1)).collect();
        // Definitions end, and rows.
        (0..2).for_each(|_| while raw.packet().1[0] != 0xFE {});
        columns
    };
    assert_eq!(
        told("SELECT * FROM m AS t"),
        [
            "test.t(m).id(id) type 3, 11 wide, flags 0x4203",
            "test.t(m).a(a) type 1, 4 wide, flags 0x4008",
            "test.t(m).b(b) type 2, 5 wide, flags 0x5021",
            "test.t(m).c(c) type 9, 8 wide, flags 0x20",
            "test.t(m).e(e) type 8, 20 wide, flags 0x21",
            "test.t(m).f(f) type 246, 12 wide, flags 0x0",
            "test.t(m).h(h) type 254, 20 wide, flags 0x80",
            "test.t(m).i(i) type 253, 80 wide, flags 0x5085",
            "test.t(m).j(j) type 252, 262140 wide, flags 0x90",
            "test.t(m).k(k) type 10, 10 wide, flags 0x80",
            "test.t(m).l(l) type 12, 23 wide, flags 0x80",
        ]
    );
    for (sql, expected) in [
        ("SELECT u.id AS x FROM m LEFT JOIN m u ON u.id = m.a", ".u(m).x(id) type 3"),
        ("SELECT d.z FROM (SELECT id AS z FROM m) d", ".d(m).z(z) type 3"),
        ("SELECT a, count(*) FROM m GROUP BY a", ".m(m).a(a) type 1"),
        ("SELECT max(b) FROM m", ".().max(b)() type 2"),
        ("SELECT -a FROM m", ".().-a() type 8"),
        ("SELECT a + 1 FROM m", ".().a + 1() type 8"),
        ("SELECT 'abc'", ".().abc() type 253"),
        ("SHOW WARNINGS", ".().Level() type 253"),
    ] {
        let first = told(sql).remove(0);
        assert!(first.contains(expected), "{sql}: {first}");
    }
    // In binary each has the bytes of its type.
    let statement = client.prepare("SELECT id, a, b, c, e, -a FROM m WHERE id > ?").unwrap();
    let mut buffer = RowBuffer::new();
    client.fetch(statement, &vec![Param::Int(0)], &mut buffer).unwrap();
    let values = (0..6).map(|column| String::from_utf8_lossy(buffer.text_at(0, column).unwrap()));
    assert_eq!(values.collect::<Vec<_>>(), ["7", "-3", "65535", "16777215", "9", "3"]);
    let refusal = refused(client.query("SELECT e + 9223372036854775807 FROM m"));
    assert_eq!(refusal, (1690, "22003".to_owned()));
    server.stop().unwrap();
}

/// A column as it is told: schema, table with the one behind it, name with the one behind it.
fn definition(payload: &[u8]) -> String {
    let mut rest = payload;
    let mut text = || {
        let (length, after) = rest.split_first().unwrap();
        let (text, after) = after.split_at(usize::from(*length));
        rest = after;
        String::from_utf8_lossy(text).into_owned()
    };
    let [_, schema, table, table_behind, name, behind] = std::array::from_fn(|_| text());
    let width = u32::from_le_bytes(rest[3..7].try_into().unwrap());
    let flags = u16::from_le_bytes(rest[8..10].try_into().unwrap());
    let code = rest[7];
    format!(
        "{schema}.{table}({table_behind}).{name}({behind}) type {code}, {width} wide, flags \
         {flags:#x}"
    )
}

#[test]
fn changes_are_told_in_words_as_well() {
    let server = open_server(ServeLimits::default());
    let mut client = connect_openly(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)").unwrap();
    let mut raw = Raw::let_in(&server);
    let mut words = |sql: &str| {
        raw.send(0, &[b"\x03", sql.as_bytes()].concat());
        let (_, ok) = raw.packet();
        assert_eq!(ok[0], 0, "{sql}");
        // Rows, number, status, warnings; then the words behind their length.
        (ok[2], String::from_utf8_lossy(&ok[7..]).into_owned())
    };
    let records = "&Records: 2  Duplicates: 0  Warnings: 0".to_owned();
    let matched = "(Rows matched: 2  Changed: 1  Warnings: 0".to_owned();
    assert_eq!(words("INSERT INTO t (v) VALUES (1), (2)"), (1, records));
    assert_eq!(words("INSERT INTO t VALUES (50, 2)"), (50, String::new()));
    assert_eq!(words("UPDATE t SET v = 1 WHERE id < 3"), (0, matched));
    assert_eq!(words("DELETE FROM t WHERE id < 3"), (0, String::new()));
    server.stop().unwrap();
}

#[test]
fn a_question_without_a_limit_has_that_of_the_session() {
    let server = server();
    let mut client = connect(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    client.run("INSERT INTO t VALUES (1), (2), (3)").unwrap();
    let all = client.prepare("SELECT id FROM t").unwrap();
    client.run("SET SQL_SELECT_LIMIT = 2").unwrap();
    assert_eq!(client.execute(all, &Vec::new()).unwrap().rows, 2);
    assert_eq!(rows(&mut client, "SELECT id FROM t LIMIT 3").len(), 3);
    assert_eq!(rows(&mut client, "SELECT max(id) FROM (SELECT id FROM t) AS x"), ["3"]);
    client.run("SET SQL_SELECT_LIMIT = DEFAULT").unwrap();
    assert_eq!(client.execute(all, &Vec::new()).unwrap().rows, 3);
    server.stop().unwrap();
}

#[test]
fn who_is_not_known_is_refused() {
    let server = server();
    let wrong = |change: fn(&mut Endpoint)| {
        let mut endpoint = endpoint(&server);
        change(&mut endpoint);
        refused(MysqlConnection::connect(&endpoint))
    };
    let denied = (1045, "28000".to_owned());
    assert_eq!(wrong(|it| it.password = Secret::new("wrong")), denied);
    assert_eq!(wrong(|it| it.password = Secret::default()), denied);
    assert_eq!(wrong(|it| it.user = "root".to_owned()), denied);
    assert_eq!(wrong(|it| it.database = "other".to_owned()), (1049, "42000".to_owned()));
    let mut raw = Raw::greeted(&server);
    raw.hello("dbdyno");
    assert_eq!(raw.error(), 1045, "no proof");
    server.stop().unwrap();
}

#[test]
fn an_account_without_a_password_takes_no_proof() {
    let server = open_server(ServeLimits::default());
    let mut raw = Raw::let_in(&server);
    raw.send(0, b"\x0e");
    assert_eq!(raw.packet(), (1, vec![0, 0, 0, 2, 0, 0, 0]), "PING is answered by OK");
    raw.send(0, b"\x04t\0");
    assert_eq!(raw.error(), 1047, "COM_FIELD_LIST");
    raw.send(0, b"\x1f");
    assert_eq!(raw.packet().1[0], 0, "COM_RESET_CONNECTION");
    raw.send(0, b"\x02elsewhere");
    assert_eq!(raw.error(), 1049, "COM_INIT_DB");
    raw.send(0, b"\x02test");
    assert_eq!(raw.packet().1[0], 0);
    let mut denied = Raw::greeted(&server);
    denied.hello("root");
    assert_eq!(denied.error(), 1045);
    server.stop().unwrap();
}

/// The packets of an answer that ends with the second EOF.
fn rows_of(raw: &mut Raw) -> Vec<Vec<u8>> {
    let (mut packets, mut ends) = (Vec::new(), 0);
    while ends < 2 {
        let (_, payload) = raw.packet();
        ends += usize::from(payload[0] == 0xFE);
        packets.push(payload);
    }
    packets
}

#[test]
fn values_come_in_pieces_and_are_used_once() {
    let server = open_server(ServeLimits::default());
    let mut raw = Raw::let_in(&server);
    raw.send(0, b"\x16SELECT concat(?, 'x')");
    assert_eq!(raw.packet().1[..9], [0, 1, 0, 0, 0, 1, 0, 1, 0], "one column, one mark");
    assert_eq!(rows_of(&mut raw).len(), 4, "its mark and its column");
    raw.send(0, b"\x18\x01\0\0\0\0\0in two ");
    raw.send(0, b"\x18\x01\0\0\0\0\0pieces");
    raw.send(0, b"\x17\x01\0\0\0\0\x01\0\0\0\0\x01\xFD\0");
    assert_eq!(rows_of(&mut raw)[3], b"\0\0\x0Ein two piecesx");
    raw.send(0, b"\x17\x01\0\0\0\0\x01\0\0\0\0\0\x01b");
    assert_eq!(rows_of(&mut raw)[3], b"\0\0\x02bx", "the type is that of before");
    // Those that were sent and not executed are forgotten on request.
    raw.send(0, b"\x18\x01\0\0\0\0\0never");
    raw.send(0, b"\x1A\x01\0\0\0");
    assert_eq!(raw.packet().1[0], 0);
    raw.send(0, b"\x17\x01\0\0\0\0\x01\0\0\0\0\0\x01c");
    assert_eq!(rows_of(&mut raw)[3], b"\0\0\x02cx");
    server.stop().unwrap();
}

#[test]
fn characters_are_those_of_the_session() {
    let server = open_server(ServeLimits::default());
    let mut raw = Raw::let_in(&server);
    raw.send(0, b"\x16SELECT '\xC3\xA9' AS `\xC3\xA9`");
    raw.packet();
    let is_of = |payload: &[u8], name: &[u8]| payload.windows(name.len()).any(|at| at == name);
    assert!(is_of(&raw.packet().1, b"\x02\xC3\xA9"));
    raw.packet();
    let mut told = |set: &[u8]| {
        raw.send(0, &[b"\x03SET NAMES ", set].concat());
        assert_eq!(raw.packet().1[0], 0);
        raw.send(0, b"\x17\x01\0\0\0\0\x01\0\0\0");
        rows_of(&mut raw)
    };
    let utf8 = told(b"utf8mb4");
    assert!(is_of(&utf8[1], b"\x02\xC3\xA9\0\x0C\x2D\0"), "utf8mb4_general_ci");
    assert_eq!(utf8[3], b"\0\0\x02\xC3\xA9");
    let latin1 = told(b"latin1");
    assert!(is_of(&latin1[1], b"\x01\xE9\0\x0C\x08\0"), "latin1_swedish_ci");
    assert_eq!(latin1[3], b"\0\0\x01\xE9");
    server.stop().unwrap();
}

#[test]
fn more_columns_than_can_be_counted_are_refused() {
    let server = server();
    let mut client = connect(&server);
    let most = format!("SELECT 1{}", ", 1".repeat(4_095));
    assert_eq!(client.query(&most).unwrap().rows[0].len(), 4_096);
    let statement = client.prepare(&most).unwrap();
    assert_eq!(client.execute(statement, &Vec::new()).unwrap().rows, 1);
    let more = format!("{most}, 1");
    assert_eq!(refused(client.query(&more)), (1117, "HY000".to_owned()));
    assert_eq!(refused(client.prepare(&more)), (1117, "HY000".to_owned()));
    server.stop().unwrap();
}

#[test]
fn a_request_of_several_packets_is_one() {
    let directory = tempfile::tempdir().unwrap();
    let server = in_directory(directory.path());
    let mut client = connect(&server);
    client.run("CREATE TABLE t (id INT PRIMARY KEY, a LONGTEXT, b LONGTEXT)").unwrap();
    let (a, b) = ("a".repeat(9 << 20), "b".repeat((8 << 20) + 1));
    client.run(&format!("INSERT INTO t VALUES (1, '{a}', '{b}')")).unwrap();
    let lengths = format!("{}|{}", a.len(), b.len());
    assert_eq!(rows(&mut client, "SELECT length(a), length(b) FROM t"), [lengths]);
    let whole = client.query("SELECT a, b FROM t").unwrap().rows;
    assert!(whole[0] == [Some(a), Some(b)], "a row of two packets as well");
    server.stop().unwrap();
}

#[test]
fn a_unix_socket_serves_as_well() {
    let directory = tempfile::tempdir().unwrap();
    let listener = Listener::bind_unix(&directory.path().join("s")).unwrap();
    let engine = crate::place::on_disk(&SimDisk::default());
    let settings = settings(ServeLimits::default(), crate::place::PASSWORD);
    let server = EngineListener::start(listener, engine, settings).unwrap();
    assert_eq!(rows(&mut connect(&server), "SELECT 1 + 1"), ["2"]);
    server.stop().unwrap();
}
