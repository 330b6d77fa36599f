//! What servers say of their own work, read before and after a round.
//!
//! ```text
//!   look ─▶ lead-in │ window │ ─▶ look        on a connection of its own, outside of the window
//!      └──── what was done in between, less what a look does itself ────┘ ÷ statements
//! ```
//!
//! `model::server_facts` says which facts there are and where each stands in a release; here the
//! questions are made of it, one for each place. A look is counted by the server like any other
//! work: two in succession tell once what it adds, and that is taken away from each round.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use dbdyno_load::Connector;
use dbdyno_model::server_facts::{
    ASKED, FACTS, FactKind, FactPlace, STATEMENTS, ServerFact, TRANSACTIONS, reading,
    release_number,
};
use dbdyno_model::{Product, Readings};
use dbdyno_probe::ServerProbe;
use dbdyno_wire::Client;

use super::error_log::ErrorLog;

/// What was read, by the name of the fact.
pub(crate) type Facts = BTreeMap<&'static str, f64>;

/// What the clients did in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundWork {
    pub(crate) statements: u64,
    pub(crate) events: u64,
    /// Rows that they were sent.
    pub(crate) rows: u64,
}

/// Who asks a server about itself.
pub(crate) struct Observer {
    client: RefCell<Box<dyn Client>>,
    log: Option<ErrorLog>,
    questions: Vec<Question>,
    /// What a look adds to counters.
    own: Facts,
}

/// One question, and what its answer tells.
struct Question {
    sql: String,
    answers: Answers,
}

enum Answers {
    /// Rows of a name and a value.
    Lines(Vec<(&'static str, FactPlace)>),
    /// One row with a value for each of these facts.
    Columns(Vec<&'static str>),
    /// The text of `SHOW ENGINE INNODB STATUS`.
    Text(Vec<(&'static str, FactPlace)>),
}

impl Observer {
    /// Connects to a server; `None` where the arm is none, or does not let us in.
    pub(crate) fn open(connector: &Connector, probe: Option<&ServerProbe>) -> Option<Observer> {
        let is_server = matches!(connector, Connector::Mysql(_) | Connector::Postgres(_));
        let client = is_server.then(|| connector.onlooker().ok())??.client;
        let (product, release) = release_of(connector, client.server_version());
        Some(Observer {
            client: RefCell::new(client),
            log: probe.map(|probe| ErrorLog::new(probe, product)),
            questions: questions(product, release),
            own: Facts::new(),
        })
    }

    /// The same, knowing what its own looks add to what the server counts.
    pub(crate) fn of_rounds(
        connector: &Connector,
        probe: Option<&ServerProbe>,
    ) -> Option<Observer> {
        let mut observer = Observer::open(connector, probe)?;
        // The first of all looks is dearer than those that follow.
        let [_, before, after] = [(); 3].map(|()| observer.look());
        observer.own = after
            .iter()
            .filter_map(|(name, now)| Some((*name, now - before.get(*name)?)))
            .collect();
        Some(observer)
    }

    /// Reads all facts. What is refused or not there is left out.
    pub(crate) fn look(&self) -> Facts {
        let mut facts = Facts::new();
        let mut client = self.client.borrow_mut();
        for question in &self.questions {
            question.ask(&mut **client, &mut facts);
        }
        let log_bytes = self.log.as_ref().and_then(ErrorLog::told_bytes);
        facts.extend(log_bytes.map(|bytes| ("error_log_bytes", bytes)));
        facts
    }

    /// Notes what was done since a look `before`, in which the clients did what they `asked`.
    pub(crate) fn note(&self, before: &Facts, asked: RoundWork, readings: &mut Readings) {
        let now = self.look();
        let added = |name: &str| -> Option<f64> {
            let own = self.own.get(name).copied().unwrap_or(0.0);
            Some((now.get(name)? - before.get(name)? - own).max(0.0))
        };
        // What a transaction is made of only its clients have counted.
        let by_transactions = || {
            Some(added(TRANSACTIONS)? * asked.statements as f64 / (asked.events as f64).max(1.0))
        };
        let Some(statements) = added(STATEMENTS).or_else(by_transactions) else { return };
        readings.set(&reading(STATEMENTS), Some(statements));
        let sent = asked.rows as f64 * statements / (asked.statements as f64).max(1.0);
        readings.set(&reading("rows_sent"), Some(sent));
        for fact in FACTS {
            match fact.kind {
                FactKind::Counter => readings.set(&fact.reading(), added(fact.name)),
                FactKind::Gauge => readings.set(&fact.reading(), now.get(fact.name).copied()),
                FactKind::Each(..) => {}
            }
        }
    }
}

/// Which release a server is. MariaDB says so in its version; some put MySQL's `5.5.5-` before it.
fn release_of(connector: &Connector, version: &str) -> (Product, u32) {
    match connector {
        Connector::Postgres(_) => (Product::Postgres, release_number(version)),
        _ if version.contains("MariaDB") => {
            let own = version.strip_prefix("5.5.5-").unwrap_or(version);
            (Product::MariaDb, release_number(own))
        }
        _ => (Product::MySql, release_number(version)),
    }
}

/// One question for each place in which a release has facts.
fn questions(product: Product, release: u32) -> Vec<Question> {
    let all = ASKED.iter().chain(FACTS);
    let known: Vec<(&ServerFact, FactPlace)> =
        all.filter_map(|fact| Some((fact, fact.place(product, release)?))).collect();
    let of = |is: fn(&FactPlace) -> bool| -> Vec<(&'static str, FactPlace)> {
        known
            .iter()
            .filter(|(_, place)| is(place))
            .map(|(fact, place)| (fact.name, *place))
            .collect()
    };
    let mut questions = Vec::new();
    let mut ask = |sql: String, answers| questions.push(Question { sql, answers });
    let status = of(is_status);
    if !status.is_empty() {
        let names: Vec<String> = status
            .iter()
            .flat_map(|(_, place)| lines_of(place))
            .map(|name| format!("'{name}'"))
            .collect();
        let sql = format!("SHOW GLOBAL STATUS WHERE variable_name IN ({})", names.join(", "));
        ask(sql, Answers::Lines(status));
    }
    let metrics = of(|place| matches!(place, FactPlace::Metric(_)));
    if !metrics.is_empty() {
        let names = metrics.iter().map(|(_, place)| format!("'{}'", first_word(place)));
        let names: Vec<String> = names.collect();
        let sql = format!(
            "SELECT name, `COUNT` FROM information_schema.innodb_metrics WHERE status = 'enabled' \
             AND name IN ({})",
            names.join(", ")
        );
        ask(sql, Answers::Lines(metrics));
    }
    let text = of(|place| matches!(place, FactPlace::Innodb(_) | FactPlace::InnodbLess(..)));
    if !text.is_empty() {
        ask("SHOW ENGINE INNODB STATUS".to_owned(), Answers::Text(text));
    }
    let views: BTreeSet<&str> = known.iter().filter_map(|(_, place)| view_of(place)).collect();
    for view in views {
        let of_view = known.iter().filter(|(_, place)| view_of(place) == Some(view));
        let (names, columns): (Vec<&str>, Vec<&str>) =
            of_view.map(|(fact, place)| (fact.name, expression(place))).unzip();
        ask(format!("SELECT {} FROM {view}", columns.join(", ")), Answers::Columns(names));
    }
    questions
}

fn is_status(place: &FactPlace) -> bool {
    use FactPlace::{Status, StatusLess, StatusPlus};
    matches!(place, Status(_) | StatusLess(..) | StatusPlus(..))
}

/// The lines in which a place stands.
fn lines_of(place: &FactPlace) -> Vec<&'static str> {
    match place {
        FactPlace::StatusLess(one, other) | FactPlace::StatusPlus(one, other) => vec![one, other],
        one => vec![first_word(one)],
    }
}

fn view_of(place: &FactPlace) -> Option<&'static str> {
    match place {
        FactPlace::View(view, _) => Some(view),
        _ => None,
    }
}

fn expression(place: &FactPlace) -> &'static str {
    match place {
        FactPlace::View(_, expression) => expression,
        _ => first_word(place),
    }
}

/// The name under which a line stands.
fn first_word(place: &FactPlace) -> &'static str {
    match place {
        FactPlace::Status(name)
        | FactPlace::StatusLess(name, _)
        | FactPlace::StatusPlus(name, _)
        | FactPlace::Metric(name)
        | FactPlace::Innodb(name)
        | FactPlace::InnodbLess(name, _)
        | FactPlace::View(name, _) => name,
        FactPlace::ErrorLog | FactPlace::Clients => "",
    }
}

impl Question {
    fn ask(&self, client: &mut dyn Client, facts: &mut Facts) {
        let Ok(answer) = client.query(&self.sql) else { return };
        match &self.answers {
            Answers::Columns(names) => {
                let Some(row) = answer.rows.first() else { return };
                for (name, value) in names.iter().zip(row) {
                    let value = value.as_deref().and_then(|value| value.parse().ok());
                    facts.extend(value.map(|value: f64| (*name, value)));
                }
            }
            Answers::Lines(wanted) => {
                let lines: BTreeMap<String, f64> = answer.rows.iter().filter_map(line).collect();
                facts.extend(wanted.iter().filter_map(|(name, place)| {
                    Some((*name, told(place, |name| lines.get(&name.to_lowercase()).copied())?))
                }));
            }
            Answers::Text(wanted) => {
                let text = answer.rows.first().and_then(|row| row.last()?.as_deref()).unwrap_or("");
                facts.extend(wanted.iter().filter_map(|(name, place)| {
                    Some((*name, told(place, |words| number_behind(text, words))?))
                }));
            }
        }
    }
}

/// A name, in small letters as no release writes them alike, and a number.
fn line(row: &Vec<Option<String>>) -> Option<(String, f64)> {
    let [Some(name), Some(value), ..] = row.as_slice() else { return None };
    Some((name.to_lowercase(), value.parse().ok()?))
}

/// What a place tells, of lines that can be found by name.
fn told(place: &FactPlace, find: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    match place {
        FactPlace::Status(name) | FactPlace::Metric(name) | FactPlace::Innodb(name) => find(name),
        FactPlace::StatusLess(name, less) | FactPlace::InnodbLess(name, less) => {
            Some(find(name)? - find(less)?)
        }
        FactPlace::StatusPlus(name, more) => Some(find(name)? + find(more)?),
        FactPlace::View(..) | FactPlace::ErrorLog | FactPlace::Clients => None,
    }
}

/// The number that follows words at the beginning of a line.
fn number_behind(text: &str, words: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(words))?;
    line.trim().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_monitor_are_found_by_their_words() {
        let text = "Trx id counter 12\nHistory list length 37\n---\nLog sequence number    48200\n\
                    Last checkpoint at  47000, more\n";
        assert_eq!(number_behind(text, "History list length"), Some(37.0));
        let less = FactPlace::InnodbLess("Trx id counter", "History list length");
        assert_eq!(told(&less, |words| number_behind(text, words)), Some(-25.0));
        assert_eq!(number_behind(text, "Last checkpoint at"), Some(47000.0));
        assert_eq!(number_behind("History list length\n", "History list length"), None);
    }

    #[test]
    fn a_release_is_asked_one_question_for_each_place() {
        let of = |product, release| questions(product, release).into_iter().map(|one| one.sql);
        let mysql: Vec<String> = of(Product::MySql, 5_06_24).collect();
        assert!(mysql.iter().any(|sql| sql == "SHOW ENGINE INNODB STATUS"), "{mysql:?}");
        let new: Vec<String> = of(Product::MySql, 9_07_04).collect();
        assert!(!new.iter().any(|sql| sql == "SHOW ENGINE INNODB STATUS"), "{new:?}");
        let postgres: Vec<String> = of(Product::Postgres, 12_22_00).collect();
        assert!(!postgres.iter().any(|sql| sql.contains("pg_stat_wal")), "{postgres:?}");
        let by_view = postgres.iter().filter(|sql| sql.contains("pg_stat_database")).count();
        assert_eq!(by_view, 1, "{postgres:?}");
    }
}
