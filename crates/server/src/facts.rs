//! What servers say of their own work.
//!
//! `model::server_facts` says which facts there are and where each stands in a release; here the
//! questions are made of it, one for each place. A fact is also asked for alone, then at each of
//! its places until one is answered: the length of the history list is read so and in no other way.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::live_facts::LIVE_FACTS;
use dbdyno_model::server_facts::{ASKED, FACTS, FactPlace, ServerFact, find_fact};
use dbdyno_wire::{Client, WireError};

use crate::family::ServerRelease;
use crate::innodb::INNODB_STATUS;

/// What was read, by the name of the fact.
pub type FactValues = BTreeMap<&'static str, f64>;

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

/// What a release is asked of its own work.
pub struct FactReader {
    questions: Vec<Question>,
}

impl FactReader {
    /// All of a release that a comparison reads.
    pub fn for_release(server: ServerRelease) -> FactReader {
        FactReader { questions: questions(&placed(ASKED.iter().chain(FACTS), server)) }
    }

    /// All that a release tells.
    pub fn for_live_view(server: ServerRelease) -> FactReader {
        let all = ASKED.iter().chain(FACTS).chain(LIVE_FACTS);
        FactReader { questions: questions(&placed(all, server)) }
    }

    /// Reads all of it. What is refused or not there is left out.
    pub fn read(&self, client: &mut dyn Client) -> FactValues {
        let mut facts = FactValues::new();
        for question in &self.questions {
            let _left_out = question.ask(client, &mut facts);
        }
        facts
    }

    /// In how many questions.
    pub fn question_count(&self) -> usize {
        self.questions.len()
    }

    /// The words of a question, by number from 0.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn question_text(&self, question: usize) -> &str {
        &self.questions[question].sql
    }

    /// Asks one question, by number from 0, and adds what its answer tells.
    ///
    /// # Errors
    /// The server's refusal, or a broken connection.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn ask_question(
        &self,
        question: usize,
        client: &mut dyn Client,
        facts: &mut FactValues,
    ) -> Result<(), WireError> {
        self.questions[question].ask(client, facts)
    }
}

/// Reads one fact, at the first of its places that is answered; `None` where the server does not
/// tell it, or not us.
///
/// # Errors
/// A broken connection.
pub fn read_fact(
    client: &mut dyn Client,
    server: ServerRelease,
    name: &str,
) -> Result<Option<f64>, WireError> {
    let Some((fact, product)) = find_fact(name).zip(server.family().product) else {
        return Ok(None);
    };
    for place in fact.places_in(product, server.version_number()) {
        for question in questions(&[(fact, place)]) {
            let mut facts = FactValues::new();
            match question.ask(client, &mut facts) {
                Err(error) if error.is_fatal() => return Err(error),
                Err(_) => {}
                Ok(()) if facts.is_empty() => {}
                Ok(()) => return Ok(facts.values().next().copied()),
            }
        }
    }
    Ok(None)
}

/// A fact, and where it stands.
type PlacedFact = (&'static ServerFact, FactPlace);

/// Those of these facts that a release tells, each at its best place.
fn placed(
    all: impl Iterator<Item = &'static ServerFact>,
    server: ServerRelease,
) -> Vec<PlacedFact> {
    let Some(product) = server.family().product else { return Vec::new() };
    all.filter_map(|fact| Some((fact, fact.place_in(product, server.version_number())?))).collect()
}

/// One question for each place in which these facts stand.
fn questions(known: &[PlacedFact]) -> Vec<Question> {
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
        ask(INNODB_STATUS.to_owned(), Answers::Text(text));
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
    fn ask(&self, client: &mut dyn Client, facts: &mut FactValues) -> Result<(), WireError> {
        let answer = client.query(&self.sql)?;
        match &self.answers {
            Answers::Columns(names) => {
                let Some(row) = answer.rows.first() else { return Ok(()) };
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
        Ok(())
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
    use dbdyno_model::Dialect;

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
        let of = |version, dialect| {
            let reader = FactReader::for_release(ServerRelease::of_version(version, dialect));
            reader.questions.into_iter().map(|one| one.sql)
        };
        let mysql: Vec<String> = of("5.6.24", Dialect::Mysql).collect();
        assert!(mysql.iter().any(|sql| sql == "SHOW ENGINE INNODB STATUS"), "{mysql:?}");
        let new: Vec<String> = of("9.7.4", Dialect::Mysql).collect();
        assert!(!new.iter().any(|sql| sql == "SHOW ENGINE INNODB STATUS"), "{new:?}");
        let postgres: Vec<String> = of("12.22", Dialect::Postgres).collect();
        assert!(!postgres.iter().any(|sql| sql.contains("pg_stat_wal")), "{postgres:?}");
        let by_view = postgres.iter().filter(|sql| sql.contains("pg_stat_database")).count();
        assert_eq!(by_view, 1, "{postgres:?}");
    }
}
