//! Random statements to the reference engine as a server and to MySQL 8.0, which it says it is:
//! what both answer is the same, and what the engine does not know it refuses by name.
//!
//! ```text
//!   seed ─▶ script of statements ─┬─▶ engine    rows, count of changed rows, or a number
//!                                 └─▶ MySQL     the same, or the script is told with its seed
//! ```
//!
//! MySQL rounds what a DATETIME is compared with where it looks it up in an index, and elsewhere
//! not: columns without digits are compared with whole seconds. Texts compare as bytes on both
//! (`utf8mb4_0900_bin`). It is not MariaDB, which cuts the time of day off what days are compared
//! with, has a zero with a sign that is unequal to zero, and compares quotients by fewer digits.
//! `SOAK_SEED=N` begins at another seed.

use dbdyno_model::Product;
use dbdyno_model::random::{self, RandomStream};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client as _, WireError};
use nix::sys::signal::Signal;

use crate::common::Home;
use crate::serve::Served;
use crate::servers::{self, Running};

const SCRIPTS: u64 = 400;
const STATEMENTS: usize = 30;

const TABLES: [&str; 4] = [
    "DROP TABLE IF EXISTS t",
    "DROP TABLE IF EXISTS s",
    "CREATE TABLE t (id INT PRIMARY KEY, i INT, b BIGINT NOT NULL DEFAULT 7, \
     d DECIMAL(8,2), e DECIMAL(12,4), c VARCHAR(9) COLLATE utf8mb4_0900_bin, day DATE, at \
     DATETIME, m DATETIME(3), KEY (i), KEY (c, d), KEY (day), KEY (at))",
    "CREATE TABLE s (a INT PRIMARY KEY, x DECIMAL(6,1), n VARCHAR(5) COLLATE utf8mb4_0900_bin)",
];

/// A division by zero in a change, which MySQL does not meet where it has decided without it.
const BY_ZERO: u16 = 1365;
/// Refusals of the engine where others would answer: a construct that it does not know, a value
/// that is not of the kind that is wanted, a column that would be read after it was set.
const BY_NAME: [u16; 2] = [1235, 1366];

/// What a server said to a statement.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Rows(Vec<Vec<Option<String>>>),
    Changed(u64),
    Refused(u16),
}

/// Writes statements.
struct Writer {
    stream: RandomStream,
    /// Rows so far; numbers that a server gives to rows that it refuses are others.
    rows: u64,
}

/// What an expression is of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number,
    Text,
    Time,
}

impl Writer {
    fn below(&mut self, bound: u64) -> u64 {
        self.stream.next_below(bound)
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn literal(&mut self, kind: Kind) -> String {
        let plain = match kind {
            Kind::Number => &[
                "0",
                "1",
                "-1",
                "2",
                "7",
                "10",
                "-0.5",
                "0.005",
                "1.005",
                "12.50",
                "99.995",
                "1234.5678",
                "2147483647",
                "-32768",
                "3.14159",
                "2.718281828459",
                "20000000.5",
            ][..],
            Kind::Text => &["''", "'a'", "'B'", "'ab'", "'a '", "'12'", "'é'", "'%'", "'zz9'"],
            Kind::Time => &[
                "'2026-11-25'",
                "'2026-11-25 19:30:00'",
                "'2026-11-25 19:30:00.5'",
                "'2026-12-31 23:59:59.9995'",
                "'1969-12-31 23:59:59'",
                "'2024-02-29'",
                "'2026-11-25 00:00:00.000001'",
            ],
        };
        let at = self.below(plain.len() as u64 + 1) as usize;
        plain.get(at).map_or_else(|| "NULL".to_owned(), |&text| text.to_owned())
    }

    fn column(&mut self, kind: Kind) -> &'static str {
        match kind {
            Kind::Number => self.one_of(&["t.id", "t.i", "t.b", "t.d", "t.e"]),
            Kind::Text => "t.c",
            Kind::Time => self.one_of(&["t.day", "t.at", "t.m"]),
        }
    }

    fn expression(&mut self, kind: Kind, depth: u32) -> String {
        if depth == 0 || self.below(3) == 0 {
            return if self.below(3) == 0 {
                self.literal(kind)
            } else {
                self.column(kind).to_owned()
            };
        }
        let one = self.expression(kind, depth - 1);
        let other = self.expression(kind, depth - 1);
        match kind {
            Kind::Number => match self.below(9) {
                0 => format!("({one} + {other})"),
                1 => format!("({one} - {other})"),
                2 => format!("({one} * {other})"),
                3 => format!("({one} / {other})"),
                4 => format!("({one} % {other})"),
                5 => format!("abs({one})"),
                6 => format!("coalesce({one}, {other})"),
                7 => format!("(-{one})"),
                _ => format!("length({})", self.expression(Kind::Text, depth - 1)),
            },
            Kind::Text => match self.below(5) {
                0 => format!("concat({one}, {other})"),
                1 => format!("lower({one})"),
                2 => format!("upper({one})"),
                3 => format!("right({one}, 2)"),
                _ => format!("ifnull({one}, {other})"),
            },
            // A literal beside a column is a text to the one and a time to the other.
            Kind::Time => self.column(kind).to_owned(),
        }
    }

    fn kind(&mut self) -> Kind {
        [Kind::Number, Kind::Number, Kind::Text, Kind::Time][self.below(4) as usize]
    }

    fn condition(&mut self, depth: u32) -> String {
        if depth > 0 && self.below(2) == 0 {
            let (one, other) = (self.condition(depth - 1), self.condition(depth - 1));
            return match self.below(3) {
                0 => format!("({one} AND {other})"),
                1 => format!("({one} OR {other})"),
                _ => format!("(NOT {one})"),
            };
        }
        let kind = self.kind();
        let left = match kind {
            Kind::Time => self.column(kind).to_owned(),
            _ => self.expression(kind, 1),
        };
        if left == "t.at" {
            let at = self.one_of(&["'2026-11-25'", "'2026-11-25 19:30:00'", "t.m", "NULL"]);
            return format!("{left} {} {at}", self.one_of(&["=", "<", ">=", "<>"]));
        }
        let right = self.expression(kind, u32::from(kind != Kind::Time));
        match self.below(6) {
            0 => format!("{left} IS NULL"),
            1 => format!("{left} BETWEEN {right} AND {}", self.literal(kind)),
            2 => format!("{left} IN ({right}, {})", self.literal(kind)),
            3 if kind == Kind::Text => {
                format!("{left} LIKE {}", self.one_of(&["'a%'", "'_'", "''"]))
            }
            _ => {
                let operator = self.one_of(&["=", "<", ">", "<=", ">=", "<>"]);
                format!("{left} {operator} {right}")
            }
        }
    }

    fn insert(&mut self) -> String {
        let mut rows = Vec::new();
        for _ in 0..=self.below(4) {
            let numbers: Vec<String> = (0..4).map(|_| self.literal(Kind::Number)).collect();
            let text = self.literal(Kind::Text);
            let times: Vec<String> = (0..3).map(|_| self.literal(Kind::Time)).collect();
            self.rows += 1;
            let id = self.rows;
            rows.push(format!("({id}, {}, {text}, {})", numbers.join(", "), times.join(", ")));
        }
        format!("INSERT INTO t (id, i, b, d, e, c, day, at, m) VALUES {}", rows.join(", "))
    }

    fn update(&mut self) -> String {
        let (column, kind) = [
            ("i", Kind::Number),
            ("b", Kind::Number),
            ("d", Kind::Number),
            ("e", Kind::Number),
            ("c", Kind::Text),
            ("day", Kind::Time),
            ("at", Kind::Time),
            ("m", Kind::Time),
        ][self.below(8) as usize];
        let value = self.expression(kind, 1);
        format!("UPDATE t SET {column} = {value} WHERE {}", self.condition(1))
    }

    fn question(&mut self) -> String {
        let filter = self.condition(2);
        match self.below(5) {
            0 => {
                let by = self.column(Kind::Number);
                let kind = self.kind();
                let of = self.column(kind);
                let number = self.expression(Kind::Number, 1);
                format!(
                    "SELECT {by}, count(*), count(DISTINCT {of}), min({of}), max({of}), \
                     sum({number}) FROM t WHERE {filter} GROUP BY {by} HAVING count(*) > 0 ORDER \
                     BY {by}"
                )
            }
            1 => {
                let join = self.one_of(&["JOIN", "LEFT JOIN"]);
                format!(
                    "SELECT t.id, s.a, s.x, coalesce(s.n, 'none') FROM t {join} s ON s.a = t.i \
                     WHERE {filter} ORDER BY t.id, s.a"
                )
            }
            2 => {
                let number = self.expression(Kind::Number, 2);
                let (told, behind) = [
                    (number.clone(), ""),
                    (number.clone(), " ORDER BY t.id LIMIT 5"),
                    (format!("DISTINCT {number}"), ""),
                    (format!("max({number})"), " GROUP BY t.i"),
                ][self.below(4) as usize]
                    .clone();
                format!(
                    "SELECT count(*), sum(d.q), max(d.q * 3), min(d.q > 1) FROM (SELECT {told} AS \
                     q FROM t WHERE {filter}{behind}) AS d"
                )
            }
            _ => {
                let kinds = [self.kind(), self.kind(), self.kind()];
                let items = kinds.map(|kind| self.expression(kind, 2)).join(", ");
                let truth = self.condition(1);
                let order = self.column(kinds[0]);
                let limit = self.one_of(&["", " LIMIT 3", " LIMIT 2 OFFSET 1"]);
                format!(
                    "SELECT t.id, {items}, {truth} FROM t WHERE {filter} ORDER BY {order}, \
                     t.id{limit}"
                )
            }
        }
    }

    fn statement(&mut self) -> String {
        match self.below(20) {
            0..=3 => self.insert(),
            4..=6 => self.update(),
            7 => format!("DELETE FROM t WHERE {}", self.condition(1)),
            8 => {
                self.one_of(&["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT p", "ROLLBACK TO p"]).into()
            }
            9 => {
                let (a, x) = (self.below(12), self.literal(Kind::Number));
                format!("INSERT INTO s VALUES ({a}, {x}, {})", self.literal(Kind::Text))
            }
            _ => self.question(),
        }
    }
}

fn ask(client: &mut MysqlConnection, sql: &str) -> Said {
    let said = if sql.starts_with("SELECT") {
        client.query(sql).map(|rows| Said::Rows(rows.rows))
    } else {
        client.run(sql).map(|done| Said::Changed(done.affected))
    };
    said.unwrap_or_else(|error| match error {
        WireError::Server(error) => Said::Refused(error.code),
        other => panic!("{sql}: {other}"),
    })
}

/// Whether what the engine said is right beside what MySQL did.
fn is_right(engine: &Said, mysql: &Said) -> bool {
    match (engine, mysql) {
        (Said::Refused(code), _) if BY_NAME.contains(code) => true,
        (Said::Refused(BY_ZERO), Said::Changed(0)) => true,
        // The engine looks for all rows before it changes the first.
        (Said::Refused(BY_ZERO), Said::Refused(1264)) => true,
        (engine, mysql) => engine == mysql,
    }
}

#[test]
#[ignore = "soak: thousands of random statements on two servers"]
fn random_statements_are_answered_as_by_mysql() {
    let Some(shared) = servers::home() else { return };
    let home = Home::new();
    let served = Served::start(&home, &home.path().join("tables"), &["--design", "device=none"]);
    let mut engine = served.connect();
    // Else it would hear every client in latin1.
    let server = Running::told(&shared, Product::MySql, "8.0", "charset=utf8mb4");
    let mut mysql = MysqlConnection::connect(&server.endpoint()).unwrap();
    // Literals are compared as the engine compares them.
    mysql.run("SET collation_connection = utf8mb4_0900_bin").unwrap();
    let first = std::env::var("SOAK_SEED").map_or(0, |seed| seed.parse().expect("a number"));
    let (mut alike, mut by_name, mut wrong) = (0_u64, 0_u64, Vec::new());
    for seed in first..first + SCRIPTS {
        let mut writer =
            Writer { stream: random::stream(&[random::key_of("statements"), seed]), rows: 0 };
        for client in [&mut engine, &mut mysql] {
            let _ = client.run("ROLLBACK");
            for sql in TABLES {
                client.run(sql).unwrap();
            }
        }
        for number in 0..STATEMENTS {
            let sql = writer.statement();
            let said = [ask(&mut engine, &sql), ask(&mut mysql, &sql)];
            if said[0] == said[1] {
                alike += 1;
            } else if is_right(&said[0], &said[1]) {
                by_name += 1;
                if !sql.starts_with("SELECT") {
                    // They hold other rows from here on.
                    break;
                }
            } else {
                wrong.push(format!(
                    "seed {seed}, {number}: {sql}\n  {:?}\n  {:?}",
                    said[0], said[1]
                ));
                break;
            }
        }
    }
    println!("{alike} alike, {by_name} refused by name");
    assert!(wrong.is_empty(), "{} of {SCRIPTS}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(alike > 4 * by_name, "{alike} alike, {by_name} refused by name");
    server.stop();
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
}
