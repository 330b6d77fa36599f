//! Values of every type, through both protocols of the same server: what a prepared statement
//! returns in binary form must be, character by character, what the server itself writes in text
//! form. And parameters as text must be taken for every type.

use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client, Param, RowBuffer, StatementCounts};

/// A column of each type and values for it, in SQL.
const TYPES: &[(&str, &[&str])] = &[
    ("TINYINT", &["-128", "0", "127"]),
    ("TINYINT UNSIGNED", &["0", "255"]),
    ("SMALLINT", &["-32768", "32767"]),
    ("SMALLINT UNSIGNED", &["65535"]),
    ("MEDIUMINT", &["-8388608", "8388607"]),
    ("MEDIUMINT UNSIGNED", &["16777215"]),
    ("INT", &["-2147483648", "2147483647"]),
    ("INT UNSIGNED", &["4294967295"]),
    ("INT(8) ZEROFILL", &["0", "42", "4294967295"]),
    ("BIGINT", &["-9223372036854775808", "9223372036854775807"]),
    ("BIGINT UNSIGNED", &["18446744073709551615"]),
    ("BIGINT ZEROFILL", &["7"]),
    ("YEAR", &["0", "1901", "2026"]),
    ("BIT(12)", &["b'100000000001'"]),
    ("DECIMAL(12,2)", &["-10.00", "9999999999.99", "0"]),
    ("DECIMAL(4,4)", &["0.9999", "0.0001"]),
    ("DECIMAL(9,3) ZEROFILL", &["3.5"]),
    ("FLOAT", &["1.5", "-0.1", "123456.789", "1e20", "1e-20", "16777216", "0.000123456789"]),
    ("FLOAT(7,3)", &["1.5", "-0.0625"]),
    (
        "DOUBLE",
        &[
            "0.1",
            "-123.456",
            "1e15",
            "1e14",
            "123456789012345678",
            "1e-15",
            "1e-16",
            "2.5e300",
            "5e-324",
            "1.7976931348623157e308",
            "999999999999999",
            "9999999999999999",
            "0.30000000000000004",
        ],
    ),
    ("DOUBLE(10,2)", &["1.125", "-7"]),
    ("DOUBLE ZEROFILL", &["2.5"]),
    ("DATE", &["'2026-01-02'", "'0000-00-00'", "'9999-12-31'"]),
    ("DATETIME", &["'2026-01-02 03:04:05'", "'2026-01-02'", "'0000-00-00'"]),
    ("DATETIME(6)", &["'2026-01-02 03:04:05.000006'", "'2026-01-02 03:04:05'", "'0000-00-00'"]),
    ("DATETIME(3)", &["'2026-01-02 03:04:05.6'", "'2026-01-02'"]),
    ("TIMESTAMP(1) NULL", &["'2026-01-02 03:04:05.9'", "'2026-01-02'"]),
    ("TIMESTAMP NULL", &["'2026-01-02 03:04:05'"]),
    ("TIME", &["'-838:59:59'", "'00:00:00'", "'01:02:03'", "'100:00:00'"]),
    ("TIME(6)", &["'-00:00:00.000001'", "'00:00:00'", "'23:59:59.5'"]),
    ("CHAR(9)", &["'x'", "''"]),
    ("VARCHAR(300)", &["REPEAT('y', 300)", "'€ÿ'"]),
    ("VARBINARY(9)", &["X'00FF'"]),
    ("MEDIUMTEXT", &["REPEAT('z', 70000)"]),
    ("BLOB", &["X'80'"]),
    ("ENUM('a','b')", &["'b'"]),
    ("SET('a','b')", &["'a,b'", "''"]),
    ("JSON", &["'{\"a\": 1}'"]),
];

/// Every type comes back as the text protocol has it, NULL among the values of each.
pub(crate) fn read_back(ann: &mut MysqlConnection) {
    ann.run("SET sql_mode=''").unwrap();
    let mut rows = RowBuffer::new();
    for (number, (kind, values)) in TYPES.iter().enumerate() {
        ann.run(&format!("CREATE TABLE ty{number} (id INT, v {kind})")).unwrap();
        for (id, value) in values.iter().chain(&["NULL"]).enumerate() {
            ann.run(&format!("INSERT INTO ty{number} VALUES ({id}, {value})")).unwrap();
        }
        let sql = format!("SELECT id, v, HEX(v) FROM ty{number} ORDER BY id");
        let text = ann.query(&sql).unwrap();
        let statement = ann.prepare(&sql).unwrap();
        let outcome = ann.fetch(statement, &vec![], &mut rows).unwrap();
        assert_eq!(outcome, StatementCounts { rows: values.len() as u64 + 1, affected: 0 });
        assert_eq!((rows.rows(), rows.columns()), (values.len() + 1, 3));
        for (row, expected) in text.rows.iter().enumerate() {
            assert_eq!(rows.int(row, 0), Some(row as i64));
            let got = rows.text_at(row, 1).map(latin1);
            assert_eq!(got, expected[1], "{kind}, {}", values.get(row).unwrap_or(&"NULL"));
            assert_eq!(rows.text_at(row, 2).map(latin1), expected[2]);
        }
        assert_eq!(rows.text_at(values.len(), 1), None, "{kind}: NULL");
    }
    expressions(ann, &mut rows);
    random_doubles(ann, &mut rows);
    parameters_as_text(ann, &mut rows);
}

fn latin1(bytes: &[u8]) -> String {
    // The characters of the values above that are not ASCII.
    bytes.iter().map(|&byte| if byte == 0x80 { '€' } else { char::from(byte) }).collect()
}

/// Results that no table has: sums and averages are decimals, NOW has a fraction, NULL a type.
fn expressions(ann: &mut MysqlConnection, rows: &mut RowBuffer) {
    let sql = "SELECT SUM(seq), AVG(seq), COUNT(*), MAX(seq)/3, NULL, 'x', 1e0, ROUND(2.5e0, 1), \
               TIMESTAMP'2026-01-02 03:04:05.12', SEC_TO_TIME(3599.5), -1 FROM seq_1_to_10";
    let text = ann.query(sql).unwrap();
    let statement = ann.prepare(sql).unwrap();
    ann.fetch(statement, &vec![], rows).unwrap();
    let got: Vec<_> =
        (0..rows.columns()).map(|column| rows.text_at(0, column).map(latin1)).collect();
    assert_eq!(got, text.rows[0]);
    assert_eq!(rows.int(0, 0), Some(55), "a sum without a fraction is an integer");

    let none = ann.prepare("SELECT seq, 'x' FROM seq_1_to_10 WHERE seq > 99").unwrap();
    assert_eq!(ann.fetch(none, &vec![], rows).unwrap(), StatementCounts::default());
    assert_eq!((rows.rows(), rows.columns(), rows.text_at(0, 0)), (0, 2, None));
    let change = ann.prepare("UPDATE ty0 SET v=1 WHERE id=0").unwrap();
    assert_eq!(ann.fetch(change, &vec![], rows).unwrap().affected, 1);
    assert_eq!((rows.rows(), rows.columns()), (0, 0));
    let call = ann.prepare("CALL p()").unwrap();
    assert_eq!(ann.fetch(call, &vec![], rows).unwrap().rows, 7);
    assert_eq!((rows.rows(), rows.columns()), (4, 2), "the last result");
    let refused = ann.prepare("SELECT (SELECT seq FROM seq_1_to_2)").unwrap();
    assert!(ann.fetch(refused, &vec![], rows).is_err_and(|error| !error.is_fatal()));
}

/// Numbers from all over the range; the server draws them and the server writes them.
fn random_doubles(ann: &mut MysqlConnection, rows: &mut RowBuffer) {
    ann.run("CREATE TABLE rd (d DOUBLE, f FLOAT)").unwrap();
    ann.run(
        "INSERT INTO rd SELECT v, IF(ABS(v) < 1e38, v, 0) FROM \
         (SELECT (RAND(seq)-0.5)*POW(10, RAND(seq+9)*60-30) v FROM seq_1_to_20000) s",
    )
    .unwrap();
    let text = ann.query("SELECT d, f FROM rd").unwrap();
    let statement = ann.prepare("SELECT d, f FROM rd").unwrap();
    ann.fetch(statement, &vec![], rows).unwrap();
    assert_eq!(rows.rows(), 20_000);
    for (row, expected) in text.rows.iter().enumerate() {
        for (column, expected) in expected.iter().enumerate() {
            assert_eq!(rows.text_at(row, column).map(latin1), *expected);
        }
    }
}

/// What TPC-C sends: decimals, moments and characters as text, also where the column is a number.
fn parameters_as_text(ann: &mut MysqlConnection, rows: &mut RowBuffer) {
    let types =
        "BIGINT, INT, SMALLINT, DECIMAL(12,2), DATETIME, TIMESTAMP NULL, CHAR(9), VARCHAR(9)";
    let columns: Vec<String> =
        types.split(", ").enumerate().map(|(index, kind)| format!("c{index} {kind}")).collect();
    ann.run(&format!("CREATE TABLE pt ({})", columns.join(", "))).unwrap();
    let insert = ann.prepare("INSERT INTO pt VALUES (?,?,?,?,?,?,?,?)").unwrap();
    let values = [
        "-9223372036854775808",
        "-2147483648",
        "32767",
        "-1234567.89",
        "2026-01-02 03:04:05",
        "2026-02-03 04:05:06",
        "abc",
        "def",
    ];
    let as_text: Vec<_> = values.iter().map(|value| Param::Text(value.as_bytes())).collect();
    assert_eq!(ann.execute(insert, &as_text).unwrap().affected, 1);
    let select = ann
        .prepare(
            "SELECT * FROM pt WHERE c0=? AND c1=? AND c2=? AND c3=? AND c4=? AND c5=? AND c6=? \
             AND c7=?",
        )
        .unwrap();
    assert_eq!(ann.fetch(select, &as_text, rows).unwrap().rows, 1);
    for (column, value) in values.iter().enumerate() {
        assert_eq!(rows.text_at(0, column), Some(value.as_bytes()));
    }
}
