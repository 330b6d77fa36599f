//! Texts that are nearly statements, and some that are none: each is answered or refused in words,
//! and none of them ends the process.
//!
//! ```text
//!   statements ─► words ─► one gone · one twice · two swapped · one from elsewhere · a byte wrong
//! ```
//!
//! What ran before counts: tables come, change and go while this lasts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dbdyno_model::random::{RandomStream, stream};

use super::Client;
use super::tables::TABLES;

const TEXTS: u64 = 30_000;
/// With so many statements a client begins anew.
const LIFE: u64 = 500;

const STATEMENTS: [&str; 33] = [
    "SELECT * FROM t WHERE id = 3",
    "SELECT c , id FROM t WHERE k BETWEEN 1 AND 4 ORDER BY c DESC , id LIMIT 2 OFFSET 1",
    "SELECT DISTINCT c FROM t WHERE p < 2.5 ORDER BY c",
    "SELECT k , sum ( p ) , avg ( k ) , count ( DISTINCT c ) FROM t GROUP BY k HAVING k > 0",
    "SELECT max ( k ) , min ( d ) FROM t WHERE c LIKE 'a%' AND NOT p IS NULL",
    "SELECT x . id , y . n FROM t x LEFT JOIN s y ON y . t_id = x . id AND y . a > 1 WHERE k > 0",
    "SELECT count ( * ) FROM t o STRAIGHT_JOIN t i ON i . id = o . k WHERE o . id < 9",
    "SELECT id FROM t WHERE k IN ( SELECT a FROM s WHERE t_id = id ) OR k NOT IN ( 1 , NULL )",
    "SELECT d . k FROM ( SELECT k , count ( * ) AS n FROM t GROUP BY k ) d WHERE d . n >= 1",
    "SELECT ( SELECT max ( n ) FROM s WHERE t_id = t . id ) , coalesce ( k , p , 0 ) FROM t",
    "SELECT abs ( - k ) , length ( c ) , lower ( c ) , concat ( c , p ) , ifnull ( k , 1 ) FROM t",
    "SELECT k / p , k % 3 , p * p , k - id , now ( ) FROM t FORCE INDEX ( k_1 ) WHERE k > - 1",
    "SELECT id FROM t WHERE d >= '2026-11-22 00:00:00' FOR UPDATE",
    "SELECT id FROM t WHERE k = 3 LOCK IN SHARE MODE",
    "INSERT INTO t ( k , p , c ) VALUES ( 7 , 1.005 , 'q' ) , ( 8 , - 2 , NULL )",
    "INSERT INTO s VALUES ( 3 , 3 , 3 , 'three' )",
    "UPDATE t SET k = k + 1 , c = concat ( c , 'x' ) WHERE id = 2",
    "UPDATE s SET b = b + 10 WHERE a IN ( 1 , 2 )",
    "UPDATE t SET p = ( SELECT max ( a ) FROM s ) WHERE k IN ( SELECT b FROM s )",
    "DELETE FROM t WHERE id >= 7 ORDER BY id LIMIT 5",
    "DELETE FROM s WHERE a = 1 AND b > 1",
    "CREATE TABLE x ( a INT PRIMARY KEY , b CHAR ( 3 ) NOT NULL DEFAULT 'y' , INDEX b_1 ( b ) )",
    "CREATE UNIQUE INDEX i ON s ( t_id , n )",
    "ALTER TABLE t ADD INDEX d_1 ( d )",
    "DROP TABLE IF EXISTS x",
    "TRUNCATE TABLE s",
    "BEGIN",
    "COMMIT",
    "ROLLBACK TO SAVEPOINT z",
    "SAVEPOINT z",
    "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "EXPLAIN SELECT id FROM t WHERE c = 'a' AND p > 0 ORDER BY id",
    "SHOW STATUS",
];

/// What is put where it need not belong.
const ODD: [&str; 24] = [
    "0",
    "-9223372036854775808",
    "9223372036854775807",
    "170141183460469231731687303715884105727",
    "0.000000000000000000000000000001",
    "99999999999999999999999999999.99",
    "NULL",
    "''",
    "'9999-12-31 23:59:59.999999'",
    "'%\\\\'",
    "`id`",
    "t.*",
    "?",
    ";",
    "(",
    ")",
    "( SELECT 1 )",
    "( SELECT NULL FROM t )",
    "NOT",
    "IS NOT NULL",
    "CURRENT_TIMESTAMP",
    "sum ( k )",
    "\u{e9}\u{1f980}",
    "\u{0}",
];

fn any<'a>(random: &mut RandomStream, of: &[&'a str]) -> &'a str {
    of[random.next_below(of.len() as u64) as usize]
}

fn statement(random: &mut RandomStream) -> String {
    let mut words: Vec<&str> = any(random, &STATEMENTS).split(' ').collect();
    for _ in 0..random.next_below(4) {
        let at = random.next_below(words.len() as u64) as usize;
        match random.next_below(7) {
            0 if words.len() > 1 => {
                words.remove(at);
            }
            1 => words.insert(at, words[at]),
            2 => {
                let other = random.next_below(words.len() as u64) as usize;
                words.swap(at, other);
            }
            3 => words.truncate(at + 1),
            4 => words[at] = any(random, &ODD),
            5 => words.insert(at, any(random, &ODD)),
            _ => {
                let elsewhere: Vec<&str> = any(random, &STATEMENTS).split(' ').collect();
                words[at] = any(random, &elsewhere);
            }
        }
    }
    let mut text = words.join(" ");
    if random.next_below(10) == 0 {
        let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        if !places.is_empty() {
            let place = places[random.next_below(places.len() as u64) as usize];
            let odd = char::from_u32(random.next_below(0x250) as u32).unwrap_or('\u{fffd}');
            text.insert(place, odd);
        }
    }
    text
}

#[test]
fn whatever_is_said_is_answered_or_refused_in_words() {
    let mut client = Client::after(&TABLES);
    let (mut answered, mut refused) = (0, 0);
    for number in 0..TEXTS {
        if number % LIFE == 0 {
            client = Client::after(&TABLES);
        }
        let text = statement(&mut stream(&[number]));
        match catch_unwind(AssertUnwindSafe(|| client.ask(&text))) {
            Ok(Ok(_)) => answered += 1,
            Ok(Err(error)) => {
                refused += 1;
                assert!(!error.to_string().is_empty(), "{text}");
                assert!(error.code() > 0 && error.sqlstate().len() == 5, "{text}");
            }
            Err(_) => panic!("number {number} ended in a panic: {text}"),
        }
    }
    assert!(answered > TEXTS / 10 && refused > TEXTS / 10, "{answered} and {refused}");
}

#[test]
fn bytes_without_meaning_are_refused() {
    let mut client = Client::after(&TABLES);
    for number in 0..TEXTS {
        let mut random = stream(&[1 << 32, number]);
        let length = random.next_below(40);
        let bytes: Vec<u8> = (0..length).map(|_| random.next_below(256) as u8).collect();
        let text = String::from_utf8_lossy(&bytes);
        assert!(client.ask(&text).is_err(), "{text}");
    }
}
