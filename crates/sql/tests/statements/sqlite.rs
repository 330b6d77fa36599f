//! Random statements, with SQLite as the oracle.
//!
//! ```text
//!   seed ─► statement ─┬─ as the engine has it ─► rows ─┐
//!                      └─ as SQLite has it ─────► rows ─┴─ the same, and in the same order where
//!                                                          one is asked for
//! ```
//!
//! What the two write differently is written differently: SQLite has no exact decimals, so money
//! is in whole cents there; and its `concat` passes over NULL. What they mean differently is not
//! asked: quotients (whole ones in SQLite), what a text is as a number (0 in SQLite), an UPDATE of
//! a unique key in many rows (which row comes first is nobody's promise). Of FORCE INDEX SQLite
//! knows nothing: whichever index is taken, the rows are the same.

use dbdyno_model::random::{RandomStream, stream};
use dbdyno_sql::Operand;
use rusqlite::types::ValueRef;

use super::Client;

const SEEDS: u64 = 60;
const STATEMENTS: u64 = 120;

const TABLES: [[&str; 2]; 2] = [
    [
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, p DECIMAL(10,2), c VARCHAR(20), u INT, INDEX \
         k_1 (k), INDEX c_k (c, k), INDEX p_1 (p, id), UNIQUE u_1 (u))",
        "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, k INTEGER, p INTEGER, c TEXT, u INTEGER \
         UNIQUE)",
    ],
    [
        "CREATE TABLE s (a INT, b INT, t_id INT, q DECIMAL(10,2), n VARCHAR(20), PRIMARY KEY (a, \
         b), INDEX by_t (t_id, q))",
        "CREATE TABLE s (a INTEGER NOT NULL, b INTEGER NOT NULL, t_id INTEGER, q INTEGER, n TEXT, \
         PRIMARY KEY (a, b))",
    ],
];
const INDEXES: [&str; 5] = ["PRIMARY", "k_1", "c_k", "p_1", "u_1"];
const LETTERS: [&str; 9] = ["", "a", "A", "ab", "b", "B", "ba", "a ", "abc"];

/// The same in the words of both.
#[derive(Clone, Debug)]
struct Said {
    engine: String,
    sqlite: String,
}

/// What a value is. A truth is a whole number as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    Money,
    Text,
}

/// A column that can be named: kind, name.
type Column = (Kind, &'static str);

const OF_T: [Column; 5] = [
    (Kind::Whole, "id"),
    (Kind::Whole, "k"),
    (Kind::Money, "p"),
    (Kind::Text, "c"),
    (Kind::Whole, "u"),
];
const OF_S: [Column; 5] = [
    (Kind::Whole, "a"),
    (Kind::Whole, "b"),
    (Kind::Whole, "t_id"),
    (Kind::Money, "q"),
    (Kind::Text, "n"),
];

fn same(text: impl Into<String>) -> Said {
    let engine = text.into();
    Said { sqlite: engine.clone(), engine }
}

/// Puts parts in the place of each `#`, in order.
fn say(form: &str, parts: &[&Said]) -> Said {
    differ(form, form, parts)
}

/// The same where the two have different forms.
fn differ(engine: &str, sqlite: &str, parts: &[&Said]) -> Said {
    let fill = |form: &str, part: fn(&Said) -> &String| {
        let mut pieces = form.split('#');
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for (piece, said) in pieces.zip(parts) {
            text.push_str(part(said));
            text.push_str(piece);
        }
        text
    };
    Said { engine: fill(engine, |said| &said.engine), sqlite: fill(sqlite, |said| &said.sqlite) }
}

fn list(all: &[Said]) -> Said {
    let text = |part: fn(&Said) -> &str| all.iter().map(part).collect::<Vec<_>>().join(", ");
    Said { engine: text(|said| &said.engine), sqlite: text(|said| &said.sqlite) }
}

/// Makes statements up.
struct Author {
    random: RandomStream,
    /// What can be named, with the table where there are several.
    scope: Vec<(Kind, String)>,
    nests: Nests,
}

/// Whether queries stand in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nests {
    No,
    /// Those that are the same for all rows.
    Once,
    /// Those that ask for the row as well.
    ForEachRow,
}

impl Author {
    fn new(random: RandomStream) -> Author {
        Author { random, scope: Vec::new(), nests: Nests::ForEachRow }
    }

    /// Writes something that has only such queries in it.
    fn nesting(&mut self, nests: Nests, write: impl FnOnce(&mut Author) -> Said) -> Said {
        let before = std::mem::replace(&mut self.nests, nests);
        let said = write(self);
        self.nests = before;
        said
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.next_below(bound)
    }

    fn any<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    fn enter(&mut self, tables: &[(&str, &[Column])]) {
        let names = tables.iter().flat_map(|(alias, columns)| {
            columns.iter().map(move |(kind, name)| (*kind, format!("{alias}{name}")))
        });
        self.scope = names.collect();
    }

    fn kind(&mut self) -> Kind {
        *self.any(&[Kind::Whole, Kind::Whole, Kind::Money, Kind::Text])
    }

    fn literal(&mut self, kind: Kind) -> Said {
        if self.below(9) == 0 {
            return same("NULL");
        }
        match kind {
            Kind::Whole => same((self.below(12) as i64 - 3).to_string()),
            Kind::Money => money(*self.any(&[0, 5, -5, 150, 1_250, 1_251, -300, 99_999])),
            Kind::Text => {
                let letters = *self.any(&LETTERS);
                same(format!("'{letters}'"))
            }
        }
    }

    fn value(&mut self, kind: Kind, depth: u64) -> Said {
        let columns: Vec<_> = self.scope.iter().filter(|(of, _)| *of == kind).cloned().collect();
        if !columns.is_empty() && self.below(2) == 0 {
            let (_, name) = self.any(&columns);
            return same(name.clone());
        }
        if depth == 0 {
            return self.literal(kind);
        }
        let choice = self.below(9);
        let [one, other] = [0, 1].map(|_| self.value(kind, depth - 1));
        match (kind, choice) {
            (_, 0) => say("coalesce(#, #)", &[&one, &other]),
            (Kind::Whole, 1) => say("(# % (# % 7 + 11))", &[&one, &other]),
            (Kind::Whole, 2) => say("abs(#)", &[&one]),
            (Kind::Whole, 3) => {
                let text = self.value(Kind::Text, depth - 1);
                say("length(#)", &[&text])
            }
            (Kind::Whole, 4) => say("(#)", &[&self.truth(depth - 1)]),
            (Kind::Whole, 5) if self.nests != Nests::No => self.nested_value(),
            (Kind::Text, 1 | 2) => differ("concat(#, #)", "(# || #)", &[&one, &other]),
            (Kind::Text, 3) => say("upper(#)", &[&one]),
            (Kind::Text, 4) => say("lower(#)", &[&one]),
            (Kind::Money, 1) => {
                let whole = self.value(Kind::Whole, depth - 1);
                differ("(# + 0.00)", "(# * 100)", &[&whole])
            }
            (Kind::Money, 2) => say("abs(#)", &[&one]),
            (Kind::Money, 3) => say("(- #)", &[&one]),
            (Kind::Money, 4) => say("(# - #)", &[&one, &other]),
            (Kind::Whole, 6) => say("(- #)", &[&one]),
            (Kind::Whole, 7) => say("(# - #)", &[&one, &other]),
            (Kind::Whole | Kind::Money, _) => say("(# + #)", &[&one, &other]),
            (Kind::Text, _) => self.literal(kind),
        }
    }

    fn truth(&mut self, depth: u64) -> Said {
        let kind = self.kind();
        let [one, other, third] = [0, 1, 2].map(|_| self.value(kind, depth.saturating_sub(1)));
        if depth > 0 {
            match self.below(8) {
                0 | 1 => {
                    let form = *self.any(&["(# AND #)", "(# OR #)"]);
                    let [one, other] = [0, 1].map(|_| self.truth(depth - 1));
                    return say(form, &[&one, &other]);
                }
                2 => return say("(NOT #)", &[&self.truth(depth - 1)]),
                3 if self.nests != Nests::No => return self.nested_truth(&one, kind),
                _ => {}
            }
        }
        match self.below(10) {
            0 => say("(# IS NULL)", &[&one]),
            1 => say("(# IS NOT NULL)", &[&one]),
            2 => say("(# BETWEEN # AND #)", &[&one, &other, &third]),
            3 => say("(# NOT BETWEEN # AND #)", &[&one, &other, &third]),
            4 => say("(# IN (#, #))", &[&one, &other, &third]),
            5 => say("(# NOT IN (#, #))", &[&one, &other, &third]),
            6 => {
                let text = self.value(Kind::Text, 0);
                let pattern = *self.any(&["a%", "%b", "_", "%", "a_", "", "%a%"]);
                say(&format!("(# LIKE '{pattern}')"), &[&text])
            }
            7 if kind == Kind::Money => {
                let whole = self.value(Kind::Whole, 0);
                differ("(# < #)", "(# * 100 < #)", &[&whole, &one])
            }
            _ => {
                let operator = *self.any(&["=", "<>", "!=", "<", "<=", ">", ">="]);
                say(&format!("(# {operator} #)"), &[&one, &other])
            }
        }
    }

    /// A query that makes one whole number; it may ask for what is around it.
    fn nested_value(&mut self) -> Said {
        let around = self.around(Kind::Whole);
        let form = *self.any(&[
            "(SELECT count(*) FROM s z WHERE z.t_id = #)",
            "(SELECT max(z.b) FROM s z WHERE z.a < #)",
            "(SELECT min(z.t_id) FROM s z)",
            "(SELECT z.b FROM s z WHERE z.a = # AND z.b = 1)",
        ]);
        say(form, &[&around])
    }

    fn nested_truth(&mut self, one: &Said, kind: Kind) -> Said {
        let column = match kind {
            Kind::Whole => *self.any(&["t_id", "b"]),
            Kind::Money => "q",
            Kind::Text => "n",
        };
        let around = self.around(Kind::Whole);
        let filter = *self.any(&["", " WHERE z.a > 2", " WHERE z.t_id = #", " WHERE z.b > 99"]);
        let is = *self.any(&["IN", "NOT IN"]);
        say(&format!("(# {is} (SELECT z.{column} FROM s z{filter}))"), &[one, &around])
    }

    /// A column of the query around, or a literal.
    fn around(&mut self, kind: Kind) -> Said {
        let columns: Vec<_> = self.scope.iter().filter(|(of, _)| *of == kind).cloned().collect();
        match columns.is_empty() || self.nests == Nests::Once {
            true => self.literal(kind),
            false => same(self.any(&columns).1.clone()),
        }
    }

    /// A number alone would be the place of an item where rows are ordered or grouped.
    fn no_place(&self, said: Said) -> Said {
        let is_column = self.scope.iter().any(|(_, name)| *name == said.engine);
        if is_column { said } else { say("coalesce(#, NULL)", &[&said]) }
    }

    fn filter(&mut self) -> Said {
        match self.below(4) {
            0 => same(""),
            // Flat, as it is mostly said, so that indexes have something to take.
            1 => {
                let [one, other] = [0, 1].map(|_| self.truth(0));
                say(" WHERE # AND #", &[&one, &other])
            }
            _ => {
                let truth = self.truth(2);
                say(" WHERE #", &[&truth])
            }
        }
    }

    /// An order with a key at its end, so that there is one only; and maybe a limit.
    fn order(&mut self, key: &str) -> Said {
        let kind = self.kind();
        let by = self.value(kind, 1);
        let by = self.no_place(by);
        let down = *self.any(&["", " DESC"]);
        let order = match self.below(3) {
            0 => same(format!(" ORDER BY {key}")),
            1 => same(format!(" ORDER BY {}", key.replace(',', " DESC,") + " DESC")),
            _ => say(&format!(" ORDER BY #{down}, {key}"), &[&by]),
        };
        let limit = match self.below(3) {
            0 => format!(" LIMIT {}", self.below(12)),
            1 => format!(" LIMIT {} OFFSET {}", self.below(12), self.below(12)),
            _ => String::new(),
        };
        say(&format!("#{limit}"), &[&order])
    }

    fn items(&mut self) -> Said {
        let items: Vec<Said> = (0..1 + self.below(3))
            .map(|_| {
                let kind = self.kind();
                self.value(kind, 2)
            })
            .collect();
        list(&items)
    }

    /// A question, and whether its rows are in order.
    fn question(&mut self) -> (Said, Order) {
        match self.below(8) {
            0..=2 => self.of_one_table(),
            3 | 4 => self.of_two_tables(),
            5 => self.of_groups(),
            6 => {
                self.enter(&[("", &OF_T)]);
                let (items, filter) = (self.items(), self.filter());
                (say("SELECT DISTINCT # FROM t#", &[&items, &filter]), Order::Any)
            }
            _ => self.of_made_rows(),
        }
    }

    fn of_one_table(&mut self) -> (Said, Order) {
        self.enter(&[("", &OF_T)]);
        let (items, filter, order) = (self.items(), self.filter(), self.order("id"));
        let index = match self.below(3) {
            0 => same(""),
            _ => {
                let index = *self.any(&INDEXES);
                differ(&format!(" FORCE INDEX ({index})"), "", &[])
            }
        };
        (say("SELECT # FROM t###", &[&items, &index, &filter, &order]), Order::Asked)
    }

    fn of_two_tables(&mut self) -> (Said, Order) {
        self.enter(&[("x.", &OF_T), ("y.", &OF_S)]);
        let items = self.items();
        let join = *self.any(&["JOIN", "LEFT JOIN", "INNER JOIN"]);
        let more = self.nesting(Nests::No, |author| author.truth(1));
        let on = match self.below(4) {
            0 => say("y.t_id = x.id AND #", &[&more]),
            1 => same("x.id = y.t_id"),
            2 => same("y.a = x.k AND y.b > 1"),
            _ => more,
        };
        let (filter, order) = (self.filter(), self.order("x.id, y.a, y.b"));
        let form = format!("SELECT # FROM t x {join} s y ON ###");
        (say(&form, &[&items, &on, &filter, &order]), Order::Asked)
    }

    fn of_groups(&mut self) -> (Said, Order) {
        self.enter(&[("", &OF_T)]);
        let kind = self.kind();
        let by = self.nesting(Nests::No, |author| author.value(kind, 1));
        let by = self.no_place(by);
        let of = self.nesting(Nests::No, |author| author.value(Kind::Whole, 1));
        let filter = self.filter();
        if self.below(3) == 0 {
            let form = "SELECT count(*), min(k), max(k), max(p), min(c), sum(#), count(#) FROM t#";
            return (say(form, &[&of, &of, &filter]), Order::Asked);
        }
        let having = *self.any(&["", " HAVING count(*) > 1", " HAVING max(k) > 2 OR sum(p) < 0"]);
        let items = "#, count(*), sum(#), min(c), max(p), count(DISTINCT k)";
        let form = format!("SELECT {items} FROM t# GROUP BY #{having}");
        (say(&form, &[&by, &of, &filter, &by]), Order::Any)
    }

    fn of_made_rows(&mut self) -> (Said, Order) {
        self.enter(&[("", &OF_T)]);
        let made = "(SELECT k AS g, count(*) AS m, max(p) AS v FROM t# GROUP BY k)";
        let made = say(made, &[&self.filter()]);
        self.scope = vec![
            (Kind::Whole, "d.g".to_owned()),
            (Kind::Whole, "d.m".to_owned()),
            (Kind::Money, "d.v".to_owned()),
            (Kind::Whole, "y.id".to_owned()),
            (Kind::Text, "y.c".to_owned()),
        ];
        let (items, filter) = (self.items(), self.filter());
        let join = *self.any(&["JOIN", "LEFT JOIN"]);
        let form = match self.below(2) {
            0 => format!("SELECT # FROM t y {join} # d ON d.g = y.k#"),
            _ => format!("SELECT # FROM # d {join} t y ON y.k = d.g#"),
        };
        (say(&form, &[&items, &made, &filter]), Order::Any)
    }

    /// A statement that changes something.
    fn change(&mut self) -> Said {
        self.enter(&[]);
        match self.below(6) {
            0 | 1 => {
                let rows: Vec<Said> = (0..1 + self.below(3)).map(|_| self.row_of_t()).collect();
                say("INSERT INTO t VALUES #", &[&list(&rows)])
            }
            2 => self.row_into_s(),
            3 => {
                let table = *self.any(&["t", "s"]);
                self.enter(&[("", if table == "t" { &OF_T } else { &OF_S })]);
                let nests = if table == "t" { Nests::Once } else { Nests::No };
                let truth = self.nesting(nests, |author| author.truth(1));
                // Not too many at a time.
                let few = *self.any(&["= 0", "= 1", "= 2"]);
                let key = if table == "t" { "id" } else { "a" };
                say(&format!("DELETE FROM {table} WHERE {key} % 5 {few} AND #"), &[&truth])
            }
            4 => {
                let (id, u) = (self.below(25), self.literal(Kind::Whole));
                say(&format!("UPDATE t SET u = # WHERE id = {id}"), &[&u])
            }
            _ => self.update(),
        }
    }

    fn row_of_t(&mut self) -> Said {
        let id = self.below(25);
        let [k, u] = [0, 1].map(|_| self.literal(Kind::Whole));
        let (p, c) = (self.literal(Kind::Money), self.literal(Kind::Text));
        say(&format!("({id}, #, #, #, #)"), &[&k, &p, &c, &u])
    }

    fn row_into_s(&mut self) -> Said {
        let (a, b, t_id) = (self.below(6), 1 + self.below(3), self.below(25));
        let (q, n) = (self.literal(Kind::Money), self.literal(Kind::Text));
        let row = format!("({b}, {a}, {t_id}, #, #)");
        say(&format!("INSERT INTO s (b, a, t_id, n, q) VALUES {row}"), &[&n, &q])
    }

    fn update(&mut self) -> Said {
        self.enter(&[("", &OF_T)]);
        let set = match self.below(3) {
            0 => {
                let value = self.nesting(Nests::Once, |author| author.value(Kind::Whole, 2));
                say("k = (#) % 9", &[&value])
            }
            1 => {
                let (p, c) = (self.literal(Kind::Money), self.literal(Kind::Text));
                say("c = #, p = #", &[&c, &p])
            }
            _ => say("c = upper(c), k = #", &[&self.literal(Kind::Whole)]),
        };
        let filter = self.nesting(Nests::Once, Author::filter);
        say("UPDATE t SET ##", &[&set, &filter])
    }
}

/// Whether rows come in an order that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Asked,
    Any,
}

fn money(cents: i64) -> Said {
    let sign = if cents < 0 { "-" } else { "" };
    let (whole, rest) = (cents.abs() / 100, cents.abs() % 100);
    let (engine, sqlite) = (format!("{sign}{whole}.{rest:02}"), cents.to_string());
    Said { engine, sqlite }
}

/// Both, with the same tables.
struct Pair {
    engine: Client,
    sqlite: rusqlite::Connection,
}

impl Pair {
    fn new() -> Pair {
        let engine = Client::after(&TABLES.map(|[engine, _]| engine));
        let sqlite = rusqlite::Connection::open_in_memory().unwrap();
        sqlite.execute_batch("PRAGMA case_sensitive_like = ON").unwrap();
        TABLES.iter().for_each(|[_, sql]| sqlite.execute_batch(sql).unwrap());
        Pair { engine, sqlite }
    }

    fn told(&mut self, said: &Said, order: Order) -> [Vec<String>; 2] {
        let rows = self.engine.ask(&said.engine);
        let (rows, _) = rows.unwrap_or_else(|error| panic!("{said:#?}: {error}"));
        let line = |row: &Vec<Operand<'static>>| row.iter().map(plain).collect::<Vec<_>>();
        let mut engine: Vec<String> = rows.iter().map(|row| line(row).join("|")).collect();
        let mut statement =
            self.sqlite.prepare(&said.sqlite).unwrap_or_else(|error| panic!("{said:#?}: {error}"));
        let columns = statement.column_count();
        let told = statement.query_map([], |row| {
            let values = (0..columns).map(|column| row.get_ref(column).map(of_sqlite));
            Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
        });
        let mut sqlite: Vec<String> = told.unwrap().collect::<rusqlite::Result<_>>().unwrap();
        if order == Order::Any {
            engine.sort_unstable();
            sqlite.sort_unstable();
        }
        [engine, sqlite]
    }

    fn are_alike(&mut self, said: &Said, order: Order) {
        let [engine, sqlite] = self.told(said, order);
        assert_eq!(engine, sqlite, "{said:#?}");
    }

    /// Changes both, or none if one of them refuses.
    fn change(&mut self, said: &Said) -> bool {
        let engine = self.engine.ask(&said.engine);
        let sqlite = self.sqlite.execute(&said.sqlite, []);
        match (&engine, &sqlite) {
            (Ok(_), Ok(_)) => true,
            (Err(error), Err(_)) => {
                assert_eq!(error.code(), 1062, "{said:#?}: {error}");
                false
            }
            _ => panic!("{said:#?}: {engine:?}, {sqlite:?}"),
        }
    }
}

/// A value of the engine in SQLite's words: money in cents.
fn plain(value: &Operand<'_>) -> String {
    match value {
        Operand::Null => "NULL".to_owned(),
        Operand::Decimal(units, 2) => units.to_string(),
        Operand::Int(number) => number.to_string(),
        Operand::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
        other => panic!("{other:?} is neither whole nor money"),
    }
}

fn of_sqlite(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sqlite_gives_the_same_answers() {
    let (mut changed, mut refused, mut asked) = (0, 0, 0);
    for seed in 0..SEEDS {
        let mut pair = Pair::new();
        let mut author = Author::new(stream(&[seed]));
        for _ in 0..20 {
            pair.change(&say("INSERT INTO t VALUES #", &[&author.row_of_t()]));
            pair.change(&author.row_into_s());
        }
        let mut open = false;
        for _ in 0..STATEMENTS {
            match author.below(12) {
                0..=2 => match pair.change(&author.change()) {
                    true => changed += 1,
                    false => refused += 1,
                },
                3 if !open => {
                    pair.change(&same("BEGIN"));
                    open = true;
                }
                4 if open => {
                    let end = *author.any(&["COMMIT", "ROLLBACK"]);
                    pair.change(&same(end));
                    open = false;
                }
                5 if open => {
                    pair.change(&same("SAVEPOINT z"));
                    for _ in 0..3 {
                        let change = author.change();
                        pair.change(&change);
                    }
                    pair.change(&same("ROLLBACK TO z"));
                }
                _ => {
                    let (question, order) = author.question();
                    pair.are_alike(&question, order);
                    asked += 1;
                }
            }
            for table in ["t", "s"] {
                pair.are_alike(&same(format!("SELECT * FROM {table}")), Order::Any);
            }
        }
    }
    assert!(changed > SEEDS * 10 && refused > SEEDS && asked > SEEDS * 60);
}
