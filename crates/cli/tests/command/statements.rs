//! Statements of clients of others, sent to the reference engine as a server and to MariaDB 10.11
//! by dbdyno's own client: Callaghan's `iibench` and BenchmarkSQL. What MariaDB answers, the engine
//! answers alike, as text and prepared; what it does not know, it refuses by name.
//!
//! ```text
//!   # a comment                     ! words of the engine's refusal of the next statement
//!   a statement, with marks ──┬─ as text: values in the place of marks ──▶ engine, MariaDB
//!       values                └─ prepared ───────────────────────────────▶ engine, MariaDB
//!       other values
//! ```

use dbdyno_model::Product;
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client as _, Param, RowBuffer, WireError};
use nix::sys::signal::Signal;

use crate::common::{Home, turn};
use crate::serve::Served;
use crate::servers;
use crate::shared::Guest;

/// How statements that have marks are sent.
#[derive(Clone, Copy, Debug)]
enum Form {
    Text,
    Prepared,
}

/// A statement with the values for its marks.
#[derive(Debug)]
struct Step<'s> {
    sql: &'s str,
    /// As they are written in SQL.
    values: Vec<&'s str>,
    /// Words of the engine's refusal.
    refused: Option<&'s str>,
}

/// What a server said.
#[derive(Debug, PartialEq)]
enum Said {
    Rows(Vec<Vec<Option<String>>>),
    Named(Vec<String>, Vec<Vec<Option<String>>>),
    Changed(u64),
    Refused(u16, String),
}

/// The steps of a file: one for each line of values, one for a statement without.
fn steps(file: &str) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut words = None;
    for line in file.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(refusal) = line.strip_prefix("! ") {
            words = Some(refusal);
        } else if let Some(values) = line.strip_prefix("    ") {
            let values = values_of(values);
            match steps.last_mut() {
                Some(step) if step.values.is_empty() => step.values = values,
                Some(&mut Step { sql, .. }) => steps.push(Step { sql, values, refused: None }),
                None => panic!("values of no statement: {line}"),
            }
        } else {
            steps.push(Step { sql: line, values: Vec::new(), refused: words.take() });
        }
    }
    for Step { sql, values, .. } in &steps {
        assert_eq!(sql.matches('?').count(), values.len(), "{sql}");
    }
    steps
}

/// Values with commas between them; a comma in a text parts nothing.
fn values_of(line: &str) -> Vec<&str> {
    let mut is_text = false;
    let parts = line.split(|character| {
        is_text ^= character == '\'';
        character == ',' && !is_text
    });
    parts.map(str::trim).collect()
}

/// The characters of a value that is written in SQL; `None` is NULL.
fn characters(value: &str) -> Option<String> {
    match value.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(text) => Some(text.replace("''", "'")),
        None if value == "NULL" => None,
        None => Some(value.to_owned()),
    }
}

impl Step<'_> {
    /// Whether it asks for rows, and whether it is of rows at all.
    fn begins(&self, words: &[&str]) -> bool {
        let first = self.sql.split([' ', '(']).next().unwrap_or_default();
        words.iter().any(|word| word.eq_ignore_ascii_case(first))
    }

    fn say(&self, client: &mut MysqlConnection, form: Form) -> Said {
        let is_of_rows = self.begins(&["select", "insert", "update", "delete"]);
        let said = match form {
            Form::Prepared if is_of_rows => self.execute(client),
            _ => self.query(client),
        };
        said.unwrap_or_else(|error| match error {
            WireError::Server(error) => Said::Refused(error.code, error.to_string()),
            other => panic!("{}: {other}", self.sql),
        })
    }

    fn query(&self, client: &mut MysqlConnection) -> Result<Said, WireError> {
        let mut parts = self.sql.split('?');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (value, part) in self.values.iter().zip(parts) {
            text = text + value + part;
        }
        if self.begins(&["select"]) {
            let rows = client.query(&text)?;
            return Ok(Said::Named(rows.columns, rows.rows));
        }
        Ok(Said::Changed(client.run(&text)?.affected))
    }

    fn execute(&self, client: &mut MysqlConnection) -> Result<Said, WireError> {
        let statement = client.prepare(self.sql)?;
        let texts: Vec<_> = self.values.iter().map(|value| characters(value)).collect();
        let params = self.values.iter().zip(&texts).map(|(value, text)| match value.parse() {
            Ok(number) => Param::Int(number),
            Err(_) => text.as_deref().map_or(Param::Null, |text| Param::Text(text.as_bytes())),
        });
        let params: Vec<Param<'_>> = params.collect();
        let mut buffer = RowBuffer::new();
        let outcome = client.fetch(statement, &params, &mut buffer)?;
        if !self.begins(&["select"]) {
            return Ok(Said::Changed(outcome.affected));
        }
        let value = |row, column| {
            let text = buffer.text_at(row, column)?;
            Some(String::from_utf8_lossy(text).into_owned())
        };
        let row = |row| (0..buffer.columns()).map(|column| value(row, column)).collect();
        Ok(Said::Rows((0..buffer.rows()).map(row).collect()))
    }
}

/// Sends all statements of a file to both, in both forms.
fn are_answered_alike(file: &str) {
    let Some(shared) = servers::home() else { return };
    let _turn = turn();
    let home = Home::new();
    let steps = steps(file);
    assert!(steps.iter().any(|step| step.refused.is_some()));
    for form in [Form::Text, Form::Prepared] {
        let data = home.path().join(format!("{form:?}"));
        let served = Served::start(&home, &data, &["--design", "device=none"]);
        let mariadb = Guest::on(&shared, Product::MariaDb, "10.11");
        let mut real = MysqlConnection::connect(&mariadb.endpoint()).unwrap();
        let mut ours = served.connect();
        for step in &steps {
            let [ours, real] = [&mut ours, &mut real].map(|client| step.say(client, form));
            match (step.refused, ours, real) {
                (None, Said::Refused(ours, _), Said::Refused(real, _)) => {
                    assert_eq!(ours, real, "{form:?} {step:?}");
                }
                (None, ours, real) => assert_eq!(ours, real, "{form:?} {step:?}"),
                (Some(words), Said::Refused(1235, said), Said::Changed(_)) => {
                    assert!(said.contains(words), "{said}: {step:?}");
                }
                (Some(_), ours, real) => panic!("{step:?}: {ours:?}, and MariaDB: {real:?}"),
            }
        }
        drop(ours);
        assert_eq!(served.end(Signal::SIGTERM), Some(0));
    }
}

#[test]
fn iibench_is_answered_as_by_mariadb() {
    are_answered_alike(include_str!("statements/iibench.txt"));
}

#[test]
fn benchmarksql_is_answered_as_by_mariadb() {
    are_answered_alike(include_str!("statements/benchmarksql.txt"));
}
