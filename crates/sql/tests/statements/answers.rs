//! What statements mean. MariaDB 10.11 gave the same answers to all questions and expressions here,
//! but to those of which it is said that it did not.

use dbdyno_sql::Operand;
use proptest::prelude::*;

use super::Client;

const SHOP: [&str; 2] = [
    "CREATE TABLE t (id INT PRIMARY KEY, k INT, p DECIMAL(8,2), c VARCHAR(9), u INT, INDEX k_1 \
     (k), UNIQUE u_1 (u))",
    "INSERT INTO t VALUES (1, 3, 1.50, 'b', 10), (2, NULL, NULL, NULL, NULL), (3, 5, -0.05, 'B', \
     NULL), (4, 3, 20.00, 'a ', 7), (5, -1, 0.00, 'a', 8)",
];

fn expressions(cases: &[(&str, &str)]) {
    let mut client = Client::new();
    for (expression, value) in cases {
        assert_eq!(client.told(&format!("SELECT {expression}")), *value, "{expression}");
    }
}

fn questions(cases: &[(&str, &str)]) {
    let mut client = Client::after(&SHOP);
    for (sql, rows) in cases {
        assert_eq!(client.told(sql), *rows, "{sql}");
    }
}

#[test]
fn null_is_unknown() {
    expressions(&[
        ("NULL = NULL", "NULL"),
        ("NULL <> 1", "NULL"),
        ("NULL IS NULL", "1"),
        ("1 IS NOT NULL", "1"),
        ("TRUE + TRUE", "2"),
        ("NOT FALSE FROM DUAL WHERE TRUE", "1"),
        ("NOT NULL", "NULL"),
        ("NULL AND 0", "0"),
        ("0 AND NULL", "0"),
        ("NULL AND 1", "NULL"),
        ("NULL OR 1", "1"),
        ("1 OR NULL", "1"),
        ("NULL OR 0", "NULL"),
        ("1 IN (2, NULL)", "NULL"),
        ("1 IN (1, NULL)", "1"),
        ("1 NOT IN (2, NULL)", "NULL"),
        ("NULL IN (1)", "NULL"),
        ("5 BETWEEN NULL AND 3", "0"),
        ("5 BETWEEN NULL AND 7", "NULL"),
        ("2 + 3 BETWEEN NULL AND 3", "0"),
        ("2 + 3 BETWEEN 1 AND NULL", "NULL"),
        ("2 + 3 BETWEEN 4 AND 5", "1"),
        ("2 + 3 NOT BETWEEN 6 AND NULL", "1"),
        ("NULL + 1", "NULL"),
        ("- NULL", "NULL"),
        ("NULL LIKE 'a'", "NULL"),
        ("concat('a', NULL)", "NULL"),
        ("right('a', NULL)", "NULL"),
        ("right(NULL, 1)", "NULL"),
        ("coalesce(NULL, NULL, 3)", "3"),
        ("ifnull(NULL, 'x')", "x"),
        ("length(NULL)", "NULL"),
    ]);
}

#[test]
fn rows_of_which_that_is_unknown_are_not_told() {
    questions(&[
        ("SELECT id FROM t WHERE k <> 3 ORDER BY id", "3; 5"),
        ("SELECT id FROM t WHERE NOT k = 3 ORDER BY id", "3; 5"),
        ("SELECT id FROM t WHERE k < 4 ORDER BY id", "1; 4; 5"),
        ("SELECT id FROM t WHERE k = NULL", ""),
        ("SELECT id FROM t WHERE k NOT IN (3, NULL)", ""),
        ("SELECT id FROM t WHERE k IN (3, NULL) ORDER BY id", "1; 4"),
        ("SELECT id FROM t WHERE k NOT IN (SELECT u FROM t)", ""),
        ("SELECT id FROM t WHERE k NOT IN (SELECT u FROM t WHERE u > 0) ORDER BY id", "1; 3; 4; 5"),
        ("SELECT count(*) FROM t WHERE u NOT IN (SELECT k FROM t WHERE id > 9)", "5"),
        ("SELECT id FROM t ORDER BY k, id", "2; 5; 1; 4; 3"),
        ("SELECT id FROM t ORDER BY k DESC, id", "3; 1; 4; 5; 2"),
        ("SELECT count(*), count(k), count(DISTINCT k) FROM t", "5|4|3"),
        ("SELECT sum(k), min(k), max(k) FROM t", "10|-1|5"),
        ("SELECT count(*), sum(k), min(k), avg(k) FROM t WHERE id > 9", "0|NULL|NULL|NULL"),
        ("SELECT k, count(*) FROM t GROUP BY k ORDER BY k", "NULL|1; -1|1; 3|2; 5|1"),
        ("SELECT DISTINCT k FROM t ORDER BY k", "NULL; -1; 3; 5"),
    ]);
}

#[test]
fn a_unique_key_takes_null_again_and_again() {
    let mut client = Client::after(&SHOP);
    client.ask("INSERT INTO t (id) VALUES (6), (7)").unwrap();
    assert_eq!(client.told("SELECT id FROM t WHERE u IS NULL ORDER BY id"), "2; 3; 6; 7");
    assert_eq!(client.ask("INSERT INTO t (id, u) VALUES (8, 10)").unwrap_err().code(), 1062);
    assert_eq!(client.ask("UPDATE t SET u=7 WHERE id=6").unwrap_err().code(), 1062);
}

#[test]
fn numbers_are_exact_and_have_mysqls_digits() {
    expressions(&[
        ("0.1 + 0.2", "0.3"),
        ("0.1 + 0.2 = 0.3", "1"),
        ("1.10 + 1", "2.10"),
        ("1/3", "0.3333"),
        ("-2/3", "-0.6667"),
        ("10.00/3", "3.333333"),
        ("1/0", "NULL"),
        ("7 % 3", "1"),
        ("-7 % 3", "-1"),
        ("7 % -3", "1"),
        ("7.5 % 2", "1.5"),
        ("7 % 0", "NULL"),
        ("2.5 * 2.50", "6.250"),
        ("1 - 1.005", "-0.005"),
        ("-(-0.05)", "0.05"),
        ("abs(-2.50)", "2.50"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1.0 = 1", "1"),
        ("'2' > '10'", "1"),
        ("'2' > 10", "0"),
        ("2 + 3 * 4 - 1", "13"),
        ("10 - 4 - 3", "3"),
        ("NOT 1 = 2", "1"),
    ]);
    questions(&[
        ("SELECT sum(p), min(p), max(p) FROM t", "21.45|-0.05|20.00"),
        ("SELECT avg(k), avg(p) FROM t WHERE k = 3", "3.0000|10.750000"),
        ("SELECT id FROM t WHERE p > 1.499 AND p <= 20 ORDER BY p", "1; 4"),
    ]);
}

/// Where MariaDB says 1690 and 1.
#[test]
fn what_mysql_answers_otherwise() {
    expressions(&[("9223372036854775807 + 1", "9223372036854775808"), ("'a' = 'a '", "0")]);
    questions(&[(
        "SELECT coalesce(p, 0) AS q, count(*) FROM t GROUP BY coalesce(p, 0) ORDER BY q",
        "-0.05|1; 0.00|2; 1.50|1; 20.00|1",
    )]);
}

#[test]
fn equal_numbers_are_one_group_however_they_are_written() {
    questions(&[
        ("SELECT count(*) FROM t GROUP BY coalesce(p, 0) ORDER BY coalesce(p, 0)", "1; 2; 1; 1"),
        ("SELECT count(DISTINCT coalesce(p, 0)) FROM t", "4"),
        ("SELECT count(*) FROM t WHERE 20 IN (SELECT p FROM t)", "5"),
    ]);
}

#[test]
fn what_is_put_in_is_rounded_half_away_from_zero() {
    let mut client = Client::after(&[
        "CREATE TABLE d (id INT PRIMARY KEY, p DECIMAL(8,2), n INT, c VARCHAR(9) DEFAULT 'none')",
        "INSERT INTO d (id, p, n) VALUES (1, 1.005, 2.5), (2, -1.005, -2.5), (3, '1.004', '2.4')",
        "UPDATE d SET c = p * 2 WHERE id = 1",
    ]);
    let rows = "1|1.01|3|2.02; 2|-1.01|-3|none; 3|1.00|2|none";
    assert_eq!(client.told("SELECT * FROM d ORDER BY id"), rows);
}

#[test]
fn texts_compare_as_bytes() {
    expressions(&[
        ("'a' = 'A'", "0"),
        ("'B' < 'a'", "1"),
        ("'a' < 'ab'", "1"),
        ("length('é')", "2"),
        ("upper('ab')", "AB"),
        ("lower('AB')", "ab"),
        ("concat('a', 1, 2.50)", "a12.50"),
        ("upper('aéß')", "AÉß"),
        ("lower('AÉİ')", "aéi"),
        ("right('abcd', 3)", "bcd"),
        ("right('dé', 1)", "é"),
        ("right('ab', 9)", "ab"),
        ("right('ab', 0)", ""),
        ("right('ab', -1)", ""),
        ("'it''s'", "it's"),
        (r"'a\'b'", "a'b"),
        ("'abc' LIKE 'a%'", "1"),
        ("'abc' LIKE '_b_'", "1"),
        ("'abc' LIKE 'B%'", "0"),
        (r"'abc' LIKE 'a\%c'", "0"),
        (r"'a%c' LIKE 'a\%c'", "1"),
        ("'' LIKE '%'", "1"),
        ("'é' LIKE '_'", "1"),
        ("'xéa' LIKE '%_a'", "1"),
        ("'aéb' LIKE 'a_b'", "1"),
        ("'é' LIKE '__'", "0"),
    ]);
    questions(&[
        ("SELECT id FROM t ORDER BY c", "2; 3; 5; 4; 1"),
        ("SELECT min(c), max(c) FROM t", "B|b"),
        ("SELECT id FROM t WHERE c >= 'a' AND c < 'b' ORDER BY id", "4; 5"),
    ]);
}

#[test]
fn limits_pass_over_and_cut() {
    // By an index, by sorting, of groups, and of rows that are told once.
    for select in [
        "SELECT id FROM t ORDER BY id",
        "SELECT id FROM t ORDER BY id + 0",
        "SELECT id FROM t GROUP BY id ORDER BY id",
        "SELECT DISTINCT id FROM t ORDER BY id",
    ] {
        let mut client = Client::after(&SHOP);
        for (limit, rows) in [
            ("LIMIT 0", ""),
            ("LIMIT 2", "1; 2"),
            ("LIMIT 2 OFFSET 1", "2; 3"),
            ("LIMIT 1, 2", "2; 3"),
            ("LIMIT 9 OFFSET 4", "5"),
            ("LIMIT 9 OFFSET 5", ""),
            ("LIMIT 18446744073709551615 OFFSET 3", "4; 5"),
        ] {
            assert_eq!(client.told(&format!("{select} {limit}")), rows, "{select} {limit}");
        }
        let marks = vec![Operand::Int(2), Operand::Int(1)];
        let told = client.told_with(&format!("{select} LIMIT ? OFFSET ?"), marks).unwrap();
        assert_eq!(told, "2; 3");
    }
    let mut client = Client::after(&SHOP);
    assert_eq!(client.ask("DELETE FROM t WHERE k = 3 LIMIT 1").unwrap().1.affected, 1);
    assert_eq!(client.ask("UPDATE t SET c='x' ORDER BY id DESC LIMIT 2").unwrap().1.affected, 2);
    assert_eq!(client.told("SELECT id, c FROM t ORDER BY id"), "2|NULL; 3|B; 4|x; 5|x");
}

#[test]
fn tables_are_joined() {
    questions(&[
        ("SELECT a.id, b.id FROM t a JOIN t b ON a.k = b.k WHERE a.id < b.id", "1|4"),
        (
            "SELECT a.id, b.id FROM t a LEFT JOIN t b ON b.id = a.k ORDER BY a.id",
            "1|3; 2|NULL; 3|5; 4|3; 5|NULL",
        ),
        ("SELECT a.id FROM t a LEFT JOIN t b ON b.id = a.k WHERE b.id IS NULL ORDER BY 1", "2; 5"),
        ("SELECT count(*) FROM t a LEFT JOIN t b ON b.id = a.k AND b.p > 100", "5"),
        ("SELECT count(*) FROM t a LEFT JOIN t b ON a.id = 1 AND b.id > 3", "6"),
        ("SELECT d.k, d.n FROM (SELECT k, count(*) AS n FROM t GROUP BY k) d WHERE d.n > 1", "3|2"),
        (
            "SELECT id FROM t a WHERE k = (SELECT max(k) FROM t b WHERE b.u = a.u) ORDER BY id",
            "1; 4; 5",
        ),
        ("SELECT k, sum(p) FROM t GROUP BY k HAVING count(*) > 1", "3|21.50"),
    ]);
}

#[test]
fn the_rows_that_are_meant_are_known_before_one_changes() {
    let mut client = Client::after(&SHOP);
    assert_eq!(client.ask("UPDATE t SET k = k + 10 WHERE k > 0").unwrap().1.affected, 3);
    assert_eq!(client.told("SELECT k FROM t ORDER BY k"), "NULL; -1; 13; 13; 15");
    // What becomes what it was has not changed.
    let done = client.ask("UPDATE t SET k = 13 WHERE k > 0").unwrap().1;
    assert_eq!((done.affected, done.found), (1, 3));
    assert_eq!(client.ask("UPDATE t SET id = id + 1").unwrap_err().code(), 1062);
    assert_eq!(client.told("SELECT id FROM t ORDER BY id"), "1; 2; 3; 4; 5");
}

#[test]
fn a_statement_has_one_time() {
    expressions(&[
        ("now()", "2026-11-22 10:30:00"),
        ("CURRENT_TIMESTAMP = now()", "1"),
        ("now() > '2026-11-22'", "1"),
    ]);
}

/// Divisions go on with more digits than they tell, as MySQL 8.0.33 answers the same.
#[test]
fn quotients_keep_more_than_they_tell() {
    expressions(&[
        ("1/3", "0.3333"),
        ("2/3", "0.6667"),
        ("-2/3", "-0.6667"),
        ("1/3 + 1/3 + 1/3", "1.0000"),
        // More digits than 128 bits have room for, of which some are told.
        ("3.1415926535/2.7182818284", "1.15572734978299"),
        ("20000 + 3.1415926535/2.7182818284", "20001.15572734978299"),
        ("20000 > 3.1415926535/2.7182818284", "1"),
        ("20000000000/3.1415926535", "6366197723.8578"),
        ("20.000000001/3.0000000001", "6.6666666667778"),
        ("1/1/1/1/1/1", "1.00000000000000000000"),
        ("1/3/1/1/1/1/1/1/1/1", "0.333333333000000000000000000000"),
        ("1000000/3/3/3/3", "12345.6790123456666667"),
        ("(1/3)*(1/3)*(1/3)*(1/3)*(1/3)", "0.00411522631687242802"),
        (
            "0.1234567890123456789012345678*0.1234567890123456789012345678",
            "0.015241578753238836750495351540",
        ),
        ("(2/3) * 3", "2.0000"),
        ("2/3 = 0.6667", "0"),
        ("2/3 < 0.6667", "1"),
        ("3.14159/1235", "0.002543797"),
        ("(1234.5678 / -32768) * (10 / 12.50)", "-0.030140815200"),
        ("99.995/2147483647", "0.0000000"),
        ("99.995/2147483647 > 0", "1"),
        ("10.00/3/7", "0.4761904761"),
        ("(10.00/3) * 3", "10.000000"),
        ("concat(1/3)", "0.3333"),
        ("length(1/3)", "6"),
        ("(1/3) % 0.3", "0.0333"),
        ("coalesce(2, 1.25) / (12.50 + 2)", "0.137931"),
        ("coalesce(NULL / 3, 5)", "5.0000"),
        ("coalesce(5, NULL * 2.5)", "5.0"),
    ]);
    let mut client = Client::after(&[
        "CREATE TABLE q (id INT PRIMARY KEY, i INT, d DECIMAL(8,2))",
        "INSERT INTO q VALUES (1, 3, 10), (2, 7, 3.14), (3, 3, 10)",
    ]);
    for (sql, rows) in [
        ("SELECT sum(1/3), avg(1/3) FROM q", "1.0000|0.33333333"),
        ("SELECT sum(d/i), avg(d) FROM q", "7.115238|7.713333"),
        ("SELECT d/i, count(*) FROM q GROUP BY d/i ORDER BY 1", "0.448571|1; 3.333333|2"),
        ("SELECT DISTINCT d/i FROM q ORDER BY d/i DESC", "3.333333; 0.448571"),
        ("SELECT id FROM q WHERE d/i > 3.333333 ORDER BY id", "1; 3"),
    ] {
        assert_eq!(client.told(sql), rows, "{sql}");
    }
    client.ask("UPDATE q SET d = 2/3, i = 20/3 WHERE id = 1").unwrap();
    assert_eq!(client.told("SELECT d, i FROM q WHERE id = 1"), "0.67|7");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Exact arithmetic, held against what sum, product, quotient and rest have to fulfil.
    #[test]
    fn arithmetic_is_that_of_fractions(
        a in -10_000_000_i128..10_000_000, b in -10_000_000_i128..10_000_000,
        a_scale in 0_u8..3, b_scale in 0_u8..3,
    ) {
        let (one, other) = (Operand::Decimal(a, a_scale), Operand::Decimal(b, b_scale));
        let asked = format!(
            "SELECT {one} + {other}, {one} - {other}, {one} * {other}, {one} / {other}, \
             {one} % {other}, {one} < {other}"
        );
        let (rows, _) = Client::new().ask(&asked).unwrap();
        // In millionths everything here is a whole number.
        let millionths = |units: i128, scale: u8| units * 10_i128.pow(u32::from(6 - scale));
        let value = |place: usize| match &rows[0][place] {
            Operand::Int(number) => Some(millionths(i128::from(*number), 0)),
            Operand::Decimal(units, scale) => Some(millionths(*units, *scale)),
            Operand::Null => None,
            other => panic!("{other:?}"),
        };
        let product = millionths(a * b, a_scale + b_scale);
        let (a, b) = (millionths(a, a_scale), millionths(b, b_scale));
        prop_assert_eq!(value(0), Some(a + b));
        prop_assert_eq!(value(1), Some(a - b));
        prop_assert_eq!(value(2), Some(product));
        prop_assert_eq!(value(5), Some(millionths(i128::from(a < b), 0)));
        if b == 0 {
            prop_assert_eq!((value(3), value(4)), (None, None));
            return Ok(());
        }
        let rest = value(4).unwrap();
        prop_assert!(rest.abs() < b.abs() && (a - rest) % b == 0);
        prop_assert!(rest == 0 || (rest < 0) == (a < 0));
        // Four digits more than the dividend has, and none of so many digits lies nearer; of two
        // that are as near the one farther from zero.
        let (quotient, scale) = rows[0][3].told_number().unwrap();
        prop_assert_eq!(scale, a_scale + 4);
        let unit = millionths(1, scale);
        let (told, exact) = (quotient * unit * b, a * millionths(1, 0));
        let off = 2 * (told - exact).abs();
        prop_assert!(off <= unit * b.abs());
        prop_assert!(off < unit * b.abs() || told.abs() > exact.abs());
    }
}

/// MySQL puts the rows of such a query into a table, with the digits that it tells.
#[test]
fn a_query_in_the_place_of_a_table_has_what_is_told_of_it() {
    questions(&[
        ("SELECT sum(q) FROM (SELECT k, 1/3 AS q FROM t GROUP BY k) d", "1.3332"),
        ("SELECT q * 3 FROM (SELECT max(id/3) AS q FROM t) d", "5.0001"),
        ("SELECT sum(q) FROM (SELECT DISTINCT 1/3 AS q FROM t) d", "0.3333"),
        ("SELECT sum(q) FROM (SELECT 1/3 AS q FROM t LIMIT 3) d", "0.9999"),
        ("SELECT sum(q) FROM (SELECT 1/3 AS q FROM t) d", "1.6667"),
        ("SELECT id FROM t WHERE 0.3333 IN (SELECT id/3 FROM t)", ""),
        ("SELECT id FROM t WHERE id/3 IN (SELECT id/3 FROM t WHERE k = 3)", "1; 4"),
    ]);
}

/// Of a sub-query that is asked for each row nothing is kept but its last answer: all that these
/// have been are 1.2 GB.
#[test]
fn an_answer_makes_room_for_the_next() {
    let mut client = Client::after(&[
        "CREATE TABLE many (id INT PRIMARY KEY)",
        "CREATE TABLE one (id INT PRIMARY KEY, c VARCHAR(1000000))",
    ]);
    let text = Operand::Text(vec![b'a'; 1_000_000].into());
    client.told_with("INSERT INTO one VALUES (1, ?)", vec![text]).unwrap();
    for from in (0..600).step_by(100) {
        let ids: Vec<String> = (from..from + 100).map(|id| format!("({id})")).collect();
        client.told(&format!("INSERT INTO many VALUES {}", ids.join(", ")));
    }
    let sorted = "(SELECT c FROM one WHERE one.id <> many.id - 1000 ORDER BY c, id DESC LIMIT 1)";
    let question = format!("SELECT count(*), max(length({sorted})) FROM many");
    assert_eq!(client.told(&question), "600|1000000");
}
