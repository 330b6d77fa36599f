//! Stories as text.
//!
//! ```text
//!   # Anything behind a hash at the beginning of a line is for the reader.
//!   case: P4
//!   anomaly: P4
//!   about: Two read the same value and write it back; one of the two writes is lost.
//!   source: Hermitage
//!   rows: 1:10 2:20
//!   setup: create index by_value on test (value)
//!   prevented: mysql serializable
//!   prevented: postgres from repeatable-read
//!   occurs: t1 is 1:10 and t2 is 1:10
//!
//!   T1: begin
//!   T1: select id, value from test where id = 1 => t1
//!   T2 waits: update test set value = 12 where id = 1
//!     postgres: …                       the step above, as this dialect spells it
//!   T1: commit
//! ```
//!
//! `waits` behind a session says that waiting is part of the story. `begin`, `begin snapshot`,
//! `commit` and `rollback` are said in the words of each server.

use std::fmt;

use dbdyno_model::Dialect;
use dbdyno_model::isolation::IsolationLevel;

use crate::case::{Case, PromiseFamily, StepAction, StoryStatement, StoryStep};
use crate::condition::{Atom, Condition, END, RowText, Says, column_count};
use crate::possible::impossible_atom;
use crate::rows::PossibleRows;

/// What is wrong with a story, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for CaseError {}

type Result<T> = std::result::Result<T, CaseError>;

/// Sessions of a story, at most.
const SESSIONS_MOST: u8 = 3;
/// Keys of the head, in the order in which people are asked for them.
const KEYS: [&str; 8] =
    ["case", "anomaly", "about", "source", "rows", "setup", "prevented", "occurs"];
const DIALECTS: [(&str, Dialect); 4] = [
    ("mysql", Dialect::Mysql),
    ("postgres", Dialect::Postgres),
    ("sqlite", Dialect::Sqlite),
    ("engine", Dialect::Engine),
];

/// Reads the story of a case of somebody's own.
///
/// # Errors
/// The first thing that is wrong, with its line and column.
pub fn parse(text: &str) -> Result<Case> {
    let mut story = Story::default();
    for (index, whole) in text.lines().enumerate() {
        let line = Line { number: index + 1, whole, text: whole };
        let line = line.trimmed();
        if !line.text.is_empty() && !line.text.starts_with('#') {
            story.take(line)?;
        }
    }
    story.finish(text.lines().count().max(1))
}

/// Part of a line that knows where it stands.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    whole: &'a str,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn trimmed(self) -> Line<'a> {
        Line { text: self.text.trim(), ..self }
    }

    fn part(self, text: &'a str) -> Line<'a> {
        Line { text, ..self }
    }

    /// Both sides of the first `mark`.
    fn split(self, mark: &str) -> Option<(Line<'a>, Line<'a>)> {
        let (before, after) = self.text.split_once(mark)?;
        Some((self.part(before).trimmed(), self.part(after).trimmed()))
    }

    /// Words, each of which knows where it stands.
    fn words(self) -> impl Iterator<Item = Line<'a>> {
        self.text.split_whitespace().map(move |word| self.part(word))
    }

    fn statement(self) -> StoryStatement {
        StoryStatement { line: self.number, sql: self.text.to_owned() }
    }

    fn error(self, message: impl Into<String>) -> CaseError {
        // Both are slices of one line: where one begins in the other is the distance of addresses.
        let offset = (self.text.as_ptr() as usize).saturating_sub(self.whole.as_ptr() as usize);
        let before = self.whole.get(..offset).unwrap_or(self.whole);
        CaseError { line: self.number, column: before.chars().count() + 1, message: message.into() }
    }
}

/// Where a condition names an answer: line, column, name.
type Mention = (usize, usize, String);

#[derive(Default)]
struct Story {
    head: Vec<(&'static str, String)>,
    rows: Option<Vec<(i64, i64)>>,
    setup: Vec<StoryStatement>,
    prevented: Vec<(PromiseFamily, Vec<IsolationLevel>)>,
    occurs: Option<(Condition, Vec<Mention>)>,
    steps: Vec<StoryStep>,
}

impl Story {
    fn take(&mut self, line: Line<'_>) -> Result<()> {
        let Some((key, value)) = line.split(":") else {
            return Err(
                line.error("a line is `key: value`, or `T1: statement` for a step of session 1")
            );
        };
        if let Some(dialect) = self.spelling(line, key)? {
            let step = self.steps.last_mut().ok_or_else(|| {
                key.error("a dialect spells the step above it, and there is none yet")
            })?;
            if step.action != StepAction::Statement {
                return Err(key.error(
                    "begin, commit and rollback are said in the words of each server; a dialect \
                     spells a statement",
                ));
            }
            step.spelled.push((dialect, not_empty(value)?.statement()));
            return Ok(());
        }
        match KEYS.into_iter().find(|known| *known == key.text) {
            Some(known) => self.key(known, key, not_empty(value)?),
            None => self.step(key, not_empty(value)?),
        }
    }

    /// The dialect that an indented line is of.
    fn spelling(&self, line: Line<'_>, key: Line<'_>) -> Result<Option<Dialect>> {
        if !line.whole.starts_with([' ', '\t']) {
            return Ok(None);
        }
        let known = DIALECTS.into_iter().find(|(name, _)| *name == key.text);
        known.map(|(_, dialect)| Some(dialect)).ok_or_else(|| {
            key.error("an indented line says how mysql, postgres, sqlite or engine spells a step")
        })
    }

    fn key(&mut self, known: &'static str, key: Line<'_>, value: Line<'_>) -> Result<()> {
        let twice = || key.error(format!("{known} is there already"));
        match known {
            "prevented" => self.prevented.push(promise(value)?),
            "setup" => self.setup.push(value.statement()),
            "rows" if self.rows.is_some() => return Err(twice()),
            "rows" => self.rows = Some(value.words().map(row).collect::<Result<_>>()?),
            "occurs" if self.occurs.is_some() => return Err(twice()),
            "occurs" => self.occurs = Some(condition(value)?),
            _ if self.head.iter().any(|(key, _)| *key == known) => return Err(twice()),
            _ => self.head.push((known, value.text.to_owned())),
        }
        Ok(())
    }

    fn step(&mut self, key: Line<'_>, value: Line<'_>) -> Result<()> {
        let (who, waits) = match key.text.split_once(' ') {
            Some((who, "waits")) => (who, true),
            Some(_) => {
                return Err(key.error("behind a session stands a colon, or `waits:`"));
            }
            None => (key.text, false),
        };
        let session = who.strip_prefix('T').and_then(|number| number.parse::<u8>().ok());
        let session = session.filter(|session| (1..=SESSIONS_MOST).contains(session));
        let Some(session) = session else {
            return Err(key.error(format!(
                "nobody knows what {:?} is; a step begins with T1:, T2: or T3:, the rest of a \
                 story with {}",
                key.text,
                KEYS.join(", ")
            )));
        };
        let (sql, name) = match value.text.rsplit_once(" => ") {
            Some((sql, name)) => (sql.trim(), Some(self.named(value.part(name).trimmed())?)),
            None => (value.text, None),
        };
        let action = match sql {
            "begin" => StepAction::Begin,
            "begin snapshot" => StepAction::BeginSnapshot,
            "commit" => StepAction::Commit,
            "rollback" => StepAction::Rollback,
            _ => StepAction::Statement,
        };
        let (line, sql, spelled) = (key.number, sql.to_owned(), Vec::new());
        let waits_anyway = waits;
        self.steps.push(StoryStep { line, session, action, sql, spelled, name, waits_anyway });
        Ok(())
    }

    fn named(&self, name: Line<'_>) -> Result<String> {
        if name.text.is_empty()
            || !name.text.chars().all(|c: char| c.is_ascii_alphanumeric() || c == '-')
        {
            return Err(name.error("the name of an answer has letters, digits and hyphens"));
        }
        if name.text == END {
            return Err(name.error("`end` is what is in the table at the end; take another name"));
        }
        if self.steps.iter().any(|step| step.name.as_deref() == Some(name.text)) {
            return Err(name.error(format!("another answer is called {} already", name.text)));
        }
        Ok(name.text.to_owned())
    }

    fn finish(self, lines: usize) -> Result<Case> {
        let at_end = |message: String| CaseError { line: lines, column: 1, message };
        let head = |wanted: &str| {
            let found = self.head.iter().find(|(key, _)| *key == wanted);
            found
                .map(|(_, value)| value.clone())
                .ok_or_else(|| at_end(format!("there is no line `{wanted}: …`")))
        };
        let (occurs, names) =
            self.occurs.as_ref().ok_or_else(|| at_end("there is no line `occurs: …`".into()))?;
        let unknown = names.iter().find(|(.., name)| {
            *name != END && !self.steps.iter().any(|step| step.name.as_deref() == Some(&**name))
        });
        if let Some((line, column, name)) = unknown {
            let message = format!("no step ends with `=> {name}`");
            return Err(CaseError { line: *line, column: *column, message });
        }
        let rows = self.rows.clone().unwrap_or_else(|| vec![(1, 10), (2, 20)]);
        let table = PossibleRows::of_story(&rows, &self.setup, &self.steps);
        if let Some((place, message)) = impossible_atom(occurs, &self.steps, &table) {
            let (line, column, _) = &names[place];
            return Err(CaseError { line: *line, column: *column, message });
        }
        if self.steps.is_empty() {
            return Err(at_end("there is no step; the first one could be `T1: begin`".to_owned()));
        }
        Ok(Case {
            is_published: false,
            name: head("case")?,
            anomaly: head("anomaly")?,
            about: head("about")?,
            source: head("source")?,
            rows,
            setup: self.setup.clone(),
            prevented: self.prevented.clone(),
            occurs: occurs.clone(),
            steps: self.steps,
        })
    }
}

fn not_empty(line: Line<'_>) -> Result<Line<'_>> {
    if line.text.is_empty() { Err(line.error("nothing stands behind the colon")) } else { Ok(line) }
}

fn row(word: Line<'_>) -> Result<(i64, i64)> {
    let numbers = word.text.split_once(':');
    let numbers = numbers.and_then(|(id, value)| Some((id.parse().ok()?, value.parse().ok()?)));
    numbers.ok_or_else(|| word.error("a row is ID:VALUE, as 1:10"))
}

/// `mysql serializable`, `postgres from repeatable-read`.
fn promise(value: Line<'_>) -> Result<(PromiseFamily, Vec<IsolationLevel>)> {
    let mut words = value.words();
    let first = words.next().unwrap_or(value);
    let family = PromiseFamily::ALL.into_iter().find(|family| family.name() == first.text);
    let family = family
        .ok_or_else(|| first.error(format!("a promise begins with one of {}", family_names())))?;
    let mut levels = Vec::new();
    let mut from = false;
    for word in words {
        if word.text == "from" && levels.is_empty() {
            from = true;
            continue;
        }
        let known = IsolationLevel::named(word.text).ok_or_else(|| {
            let all = IsolationLevel::ALL.map(IsolationLevel::name).join(", ");
            word.error(format!("levels are {all}; `from LEVEL` means it and all above"))
        })?;
        if from && !levels.is_empty() {
            return Err(word.error("behind `from` stands one level, which means it and all above"));
        }
        match from {
            true => levels.extend(IsolationLevel::ALL.into_iter().filter(|level| *level >= known)),
            false => levels.push(known),
        }
    }
    if levels.is_empty() {
        Err(value.error("a promise names a level"))
    } else {
        Ok((family, levels))
    }
}

fn family_names() -> String {
    PromiseFamily::ALL.map(PromiseFamily::name).join(", ")
}

/// A condition, and where it names answers.
fn condition(value: Line<'_>) -> Result<(Condition, Vec<Mention>)> {
    let mut any_of = vec![Vec::new()];
    let mut names = Vec::new();
    let mut words = value.words().peekable();
    loop {
        let Some(name) = words.next() else {
            return Err(value.error("a condition is NAME is ROWS, NAME has ROW and so on"));
        };
        let place = name.error("");
        names.push((place.line, place.column, name.text.to_owned()));
        let verb = words.next().unwrap_or(name);
        let mut rest = Vec::new();
        while let Some(word) = words.next_if(|word| !matches!(word.text, "and" | "or")) {
            rest.push(word);
        }
        let says = says(verb, &rest)?;
        let atom = Atom { name: name.text.to_owned(), says };
        any_of.last_mut().expect("it begins with one").push(atom);
        match words.next().map(|word| word.text) {
            Some("or") => any_of.push(Vec::new()),
            Some(_) => {}
            None => return Ok((Condition { any_of }, names)),
        }
    }
}

fn says(verb: Line<'_>, rest: &[Line<'_>]) -> Result<Says> {
    match (verb.text, rest) {
        ("is", [not, rest @ ..]) if not.text == "not" => answer_rows(verb, rest).map(Says::IsNot),
        ("is", rest) => answer_rows(verb, rest).map(Says::Is),
        ("has", [row]) => answer_row(*row).map(Says::Has),
        ("lacks", [row]) => answer_row(*row).map(Says::Lacks),
        ("has" | "lacks", _) => Err(verb.error("one row stands here, as 1:10")),
        ("changed", [number]) => {
            let count = number.text.parse().ok();
            count.map(Says::Changed).ok_or_else(|| number.error("a number of rows stands here"))
        }
        _ => Err(verb.error("an answer `is`, `is not`, `has`, `lacks` or `changed`")),
    }
}

/// The rows of an answer, which have the same columns.
fn answer_rows(verb: Line<'_>, words: &[Line<'_>]) -> Result<Vec<RowText>> {
    match words {
        [] => Err(verb.error("rows stand here, as 1:10 2:20, or `nothing`")),
        [one] if one.text == "nothing" => Ok(Vec::new()),
        [first, ..] => {
            let width = column_count(first.text);
            if let Some(other) = words.iter().find(|word| column_count(word.text) != width) {
                let message =
                    format!("rows of one answer have the same columns: {} has {width}", first.text);
                return Err(other.error(message));
            }
            words.iter().map(|word| answer_row(*word)).collect()
        }
    }
}

/// A row as answers have it: no server answers `01` or `1O`.
fn answer_row(word: Line<'_>) -> Result<RowText> {
    if word.text.split(':').all(is_column) {
        return Ok(word.text.to_owned());
    }
    Err(word.error(
        "a row is its columns with colons between them, each a number as servers write it, or \
         null, as 1:10 or 2:null; rows have blanks between them",
    ))
}

/// A whole number in its one spelling, a number with decimals, or no value.
fn is_column(text: &str) -> bool {
    let decimals =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, is_fraction) = match text.split_once('.') {
        Some((whole, digits)) => (whole, decimals(digits)),
        None => (text, true),
    };
    let number = whole.parse::<i64>().ok().map(|number| number.to_string());
    text == "null" || is_fraction && number.is_some_and(|number| number == whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::case::StepAction;
    use dbdyno_model::isolation::Promise;

    const STORY: &str = "\
# A story.
case: two
anomaly: P4
about: What happens.
source: nobody
rows: 1:10
setup: insert into test select 2, 20
prevented: mysql serializable
prevented: postgres from repeatable-read
occurs: one is 1:10 and two is not 1:11 2:20 or end lacks 1:12

T1: begin snapshot
T1: select id, value from test => one
T2 waits: select id, value from test for update => two
  sqlite: select id, value from test
T1: commit
";

    #[test]
    fn a_story_is_read_as_it_is_written() {
        let case = parse(STORY).unwrap();
        assert_eq!((case.name.as_str(), case.rows.as_slice()), ("two", &[(1, 10)][..]));
        assert_eq!((case.sessions(), case.steps.len(), case.setup.len()), (2, 4, 1));
        assert_eq!(case.steps[0].action, StepAction::BeginSnapshot);
        let locked = &case.steps[2];
        assert!(locked.waits_anyway && !case.steps[1].waits_anyway);
        assert_eq!(locked.sql_in(Dialect::Sqlite), "select id, value from test");
        assert_eq!(locked.sql_in(Dialect::Mysql), "select id, value from test for update");
        let promise = |family, level| case.server_promise(family, level);
        assert_eq!(promise(PromiseFamily::Mysql, IsolationLevel::Serializable), Promise::Prevents);
        assert_eq!(promise(PromiseFamily::Mysql, IsolationLevel::RepeatableRead), Promise::Open);
        assert_eq!(
            promise(PromiseFamily::Postgres, IsolationLevel::Serializable),
            Promise::Prevents
        );
        assert_eq!(case.occurs.any_of.len(), 2);
        assert_eq!(case.occurs.any_of[0].len(), 2);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let with = |from: &str, to: &str| parse(&STORY.replace(from, to)).unwrap_err().to_string();
        for (from, to, wanted) in [
            ("case: two\n", "", "line 15, column 1: there is no line `case: …`"),
            ("anomaly: P4", "anomaly: P4\nanomaly: P4", "line 4, column 1: anomaly is there"),
            ("source: nobody", "sauce: nobody", "line 5, column 1: nobody knows what \"sauce\""),
            ("rows: 1:10", "rows: 1:10 ten", "line 6, column 12: a row is ID:VALUE"),
            ("mysql serial", "oracle serial", "line 8, column 12: a promise begins with one of"),
            ("mysql serializable", "mysql serial", "line 8, column 18: levels are"),
            ("mysql serializable", "mysql", "line 8, column 12: a promise names a level"),
            ("one is 1:10", "uno is 1:10", "line 10, column 9: no step ends with `=> uno`"),
            ("two is not", "two isn't", "line 10, column 29: an answer `is`"),
            ("lacks 1:12", "lacks", "line 10, column 53: one row stands here"),
            ("lacks 1:12", "lacks 1:O", "line 10, column 59: a row is its columns"),
            ("lacks 1:12", "lacks 1:12,2:0", "line 10, column 59: a row is its columns"),
            ("one is 1:10", "one is 1:010", "line 10, column 16: a row is its columns"),
            ("one is 1:10", "one is 1:10 NULL:3", "line 10, column 21: a row is its columns"),
            ("one is 1:10", "one is 1:10 2", "line 10, column 21: rows of one answer"),
            ("end lacks 1:12", "end is 2:0 2:1", "line 10, column 49: 2 is the id of one row"),
            ("end lacks 1:12", "end has 1", "line 10, column 49: end has id and value"),
            ("end lacks 1:12", "end changed 2", "line 10, column 49: end has rows"),
            ("one is 1:10", "one changed 1", "line 10, column 9: one has rows"),
            ("one is 1:10", "one is 10", "line 10, column 9: one has 2 columns"),
            ("and two is not", "and one is 1:11 and two is not", "line 10, column 25: nothing can"),
            (
                "from repeatable-read",
                "from repeatable-read serializable",
                "line 9, column 42: behind `from` stands one level",
            ),
            ("T1: begin", "T4: begin", "line 12, column 1: nobody knows what \"T4\""),
            ("T2 waits:", "T2 sleeps:", "line 14, column 1: behind a session stands a colon"),
            ("  sqlite:", "  sybase:", "line 15, column 3: an indented line says how"),
            ("=> two", "=> one", "line 14, column 52: another answer is called one"),
            ("=> two", "=> end", "line 14, column 52: `end` is what is in the table"),
            ("T1: commit", "T1:", "line 16, column 4: nothing stands behind the colon"),
            ("T1: commit", "commit", "line 16, column 1: a line is `key: value`"),
        ] {
            let error = with(from, to);
            assert!(error.starts_with(wanted), "{from:?} → {to:?}: {error}");
        }
        assert!(parse("").is_err());
    }

    proptest! {
        /// Whatever is taken away or put in, there is a case or a sentence.
        #[test]
        fn no_text_breaks_it(at in 0..STORY.len(), cut in 0..40_usize, put in "\\PC{0,6}") {
            let end = (at + cut).min(STORY.len());
            let text = format!("{}{put}{}", &STORY[..at], &STORY[end..]);
            if let Err(error) = parse(&text) {
                prop_assert!(error.line >= 1 && error.column >= 1);
            }
        }
    }
}
