//! What rows have that are put in, and by which names answers are grouped: as MySQL 8.0.33 answers
//! the same statements.

use super::Client;

const TABLES: [&str; 2] = [
    "CREATE TABLE q (id INT NOT NULL AUTO_INCREMENT, a INT DEFAULT 5, c CHAR(4), v VARCHAR(4) NOT \
     NULL DEFAULT 'x', CONSTRAINT pk PRIMARY KEY (id), CONSTRAINT uq UNIQUE (c, v, a))",
    "CREATE TABLE r (a INT NOT NULL, b INT)",
];

#[test]
fn a_default_stands_where_a_value_may() {
    let mut client = Client::after(&TABLES);
    let mut numbers = Vec::new();
    for sql in [
        "INSERT INTO q VALUES (DEFAULT, DEFAULT, 'ab', DEFAULT)",
        "INSERT INTO q () VALUES ()",
        "INSERT INTO q VALUES (), ()",
        "INSERT INTO q (a, v) VALUES (6, DEFAULT), (DEFAULT, 'y')",
        "INSERT INTO q (id, a) VALUES (50, 1)",
        "INSERT INTO q (id, a) VALUES (60, 2), (61, 3)",
        "INSERT INTO q (id, a) VALUES (NULL, 20), (70, 21), (NULL, 22)",
    ] {
        numbers.push(client.ask(sql).unwrap().1.first_number.unwrap());
    }
    assert_eq!(numbers, [1, 2, 3, 5, 50, 61, 62], "given by the table, else the last of the rows");
    assert_eq!(client.told("SELECT last_insert_id()"), "62", "what rows bring is no news");
    assert_eq!(client.told("SELECT * FROM q WHERE id < 4"), "1|5|ab|x; 2|5|NULL|x; 3|5|NULL|x");
    client.ask("UPDATE q SET a = 9, v = DEFAULT, c = DEFAULT WHERE id IN (1, 6)").unwrap();
    assert_eq!(client.told("SELECT * FROM q WHERE id IN (1, 6)"), "1|9|NULL|x; 6|9|NULL|x");
    for (sql, code) in [
        ("INSERT INTO r VALUES ()", 1364),
        ("INSERT INTO r (b) VALUES (1)", 1364),
        ("INSERT INTO r VALUES (DEFAULT, 1)", 1364),
        ("UPDATE r SET a = DEFAULT", 1364),
        ("INSERT INTO r VALUES (1, 2), (1)", 1136),
        ("INSERT INTO r VALUES (1, 2), ()", 1136),
        ("INSERT INTO r (a, a) VALUES (1, 2)", 1110),
    ] {
        assert_eq!(client.ask(sql).unwrap_err().code(), code, "{sql}");
    }
    assert_eq!(client.told("SELECT count(*) FROM r"), "0");
}

/// Texts compare as with `utf8mb4_0900_bin`, where blanks at the end count.
#[test]
fn a_char_keeps_no_blanks_at_the_end() {
    let mut client = Client::after(&TABLES);
    client
        .ask("INSERT INTO q (c, v) VALUES ('ab  ', 'ab '), ('abcd   ', 'y'), ('    ', 'z')")
        .unwrap();
    for (sql, rows) in [
        ("SELECT length(c), length(v) FROM q ORDER BY id", "2|3; 4|1; 0|1"),
        ("SELECT id FROM q WHERE c = 'ab'", "1"),
        ("SELECT id FROM q WHERE c = 'ab  '", ""),
        ("SELECT id FROM q WHERE v = 'ab '", "1"),
        ("SELECT id FROM q WHERE c = ''", "3"),
    ] {
        assert_eq!(client.told(sql), rows, "{sql}");
    }
    let same = client.ask("UPDATE q SET c = 'ab ' WHERE id = 1").unwrap().1;
    assert_eq!((same.affected, same.found), (0, 1), "it is as it was");
    assert_eq!(client.ask("INSERT INTO q (c) VALUES ('abcde')").unwrap_err().code(), 1406);
    let twice = client.ask("INSERT INTO q (c, v) VALUES ('ab   ', 'ab ')");
    assert_eq!(twice.unwrap_err().code(), 1062);
}

#[test]
fn names_that_a_statement_gives_are_known_to_its_groups() {
    let mut client = Client::after(&TABLES);
    client
        .ask("INSERT INTO q (id, a, c) VALUES (1, 5, 'a'), (2, 6, 'a'), (3, 5, 'b'), (4, 9, 'c')")
        .unwrap();
    for (sql, rows) in [
        ("SELECT a AS k, count(*) AS n FROM q GROUP BY k ORDER BY k", "5|2; 6|1; 9|1"),
        ("SELECT a, count(*) AS n FROM q GROUP BY a HAVING n > 1", "5|2"),
        (
            "SELECT a + 1 AS a1, count(*) n FROM q GROUP BY a1 HAVING n > 0 AND a1 > 6 ORDER BY \
             n + 1, a1",
            "7|1; 10|1",
        ),
        ("SELECT a, sum(id) FROM q GROUP BY a HAVING `sum(id)` > 3 ORDER BY a", "5|4; 9|4"),
        // A column comes before such a name in GROUP BY, and in HAVING one that is grouped by.
        ("SELECT a * 2 AS a, max(id) FROM q GROUP BY a ORDER BY a", "10|3; 12|2; 18|4"),
        ("SELECT a AS b, max(id) AS a FROM q GROUP BY b HAVING a > 5 ORDER BY b", "6|2; 9|4"),
        ("SELECT a AS x FROM q ORDER BY -x, id", "9; 6; 5; 5"),
    ] {
        assert_eq!(client.told(sql), rows, "{sql}");
    }
    let unknown = client.ask("SELECT a FROM q GROUP BY a HAVING nothing > 1").unwrap_err();
    assert_eq!(unknown.code(), 1054);
}
