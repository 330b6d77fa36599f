//! What a query is answered when it is asked again, after an answer that was wrong.
//!
//! ```text
//!   wrong ──▶ again, in the same transaction ──▶ ROLLBACK ──▶ again, in a new one
//!              │ right: the answer was wrong                   │ right: the rows are there
//!              │ wrong: its snapshot, or the table             │ wrong: the table is wrong
//! ```
//!
//! A wrong number of rows says that something is wrong and not what: a server may have lost rows,
//! or have them and not have shown them. The next answers part the two. There is no later time for
//! it: the round is over, and its servers will be stopped.
//!
//! A server may go on answering wrongly as long as one of its threads, off the processor, has left
//! a change half done (MySQL's bug 101667 does so, see `docs/ISOLATION.md`). So the question is
//! put ten times in half a second before its answer counts as wrong for good.

use std::fmt;
use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use dbdyno_wire::{Args, Client, Param, StatementCounts, StatementId, WireError};
use dbdyno_workload::{Arg, Call, Event, Expect, ReadyLoad, StatementKind};

use crate::asking::{ROLLBACK, execute};

/// What is known of a statement that was answered wrongly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongAnswer {
    /// Its parameters, for people.
    pub values: String,
    /// What came when it was asked again; `None` if asking again would change something.
    pub again: Option<AskedAgain>,
    /// The file that says what is right, where a user wrote it.
    pub file: Option<String>,
}

/// The answers to a query that was asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedAgain {
    /// In the transaction in which it was answered wrongly; `None` if it was alone.
    pub within: Option<RepeatedAnswer>,
    /// By itself, once that transaction was rolled back.
    pub anew: RepeatedAnswer,
    /// Rows that are right, the least and the most.
    right: (u64, u64),
}

/// One of these answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepeatedAnswer {
    /// This many rows, when it was asked for this often: once, until the answer was right, or as
    /// often as it is asked at most.
    Rows(u64, u32),
    /// None, and why.
    Refused(String),
}

/// How often it is asked at most. Between two times there are 1, 2, 4 … 256 ms, 511 ms in all.
const TIMES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Asks a query again that was answered wrongly; `None` if it is not one that can be asked again
/// without changing anything. The transaction is rolled back.
pub(crate) fn ask_again(
    client: &mut dyn Client,
    prepared: &[Option<StatementId>],
    load: &ReadyLoad,
    event: &Event,
    call: &Call,
) -> Option<AskedAgain> {
    let Some(Expect::Rows(low, high)) = call.expect else { return None };
    let statements = load.statements();
    if !is_query(&statements[call.statement as usize].sql) {
        return None;
    }
    let mut sql = String::new();
    let mut ask = |client: &mut dyn Client| {
        ask_often(low..=high, || execute(client, prepared, load, event, call, &mut sql))
    };
    let first = &statements[event.calls.first()?.statement as usize];
    let within = (first.kind == StatementKind::Control).then(|| {
        let answer = ask(client);
        // Where it fails, the question that follows does so too and says why.
        let _ = client.run(ROLLBACK);
        answer
    });
    Some(AskedAgain { within, anew: ask(client), right: (low, high) })
}

/// A query of a dialogue that no row answered, as it was asked.
///
/// Which answer would have been right only the dialogue knows. That there is a row now where there
/// was none before says by itself that the first answer was wrong, or is not true any more.
#[derive(Debug)]
pub(crate) enum NoRow {
    /// A prepared statement with its parameters.
    Prepared(StatementId, Vec<OwnParameter>),
    /// A text.
    Text(String),
}

/// A parameter of its own.
#[derive(Debug)]
pub(crate) enum OwnParameter {
    Null,
    Int(i64),
    Text(Vec<u8>),
}

impl NoRow {
    /// A prepared statement; `None` if it does more than read.
    pub(crate) fn from_prepared(id: StatementId, sql: &str, values: &[Arg<'_>]) -> Option<NoRow> {
        is_query(sql).then(|| {
            NoRow::Prepared(
                id,
                values
                    .iter()
                    .map(|value| match *value {
                        Arg::Null => OwnParameter::Null,
                        Arg::Int(number) => OwnParameter::Int(number),
                        Arg::Text(text) => OwnParameter::Text(text.to_vec()),
                    })
                    .collect(),
            )
        })
    }

    /// A text; `None` if it does more than read.
    pub(crate) fn from_text(sql: &str) -> Option<NoRow> {
        is_query(sql).then(|| NoRow::Text(sql.to_owned()))
    }

    /// Asks again. Within a transaction it is asked there first, and the transaction is rolled
    /// back.
    pub(crate) fn ask_again(&self, client: &mut dyn Client, in_transaction: bool) -> AskedAgain {
        let right = (1, u64::MAX);
        let ask = |client: &mut dyn Client| {
            ask_often(right.0..=right.1, || match self {
                NoRow::Prepared(id, values) => client.execute(*id, &Values(values)),
                NoRow::Text(sql) => client.run(sql),
            })
        };
        let within = in_transaction.then(|| {
            let answer = ask(client);
            let _ = client.run(ROLLBACK);
            answer
        });
        AskedAgain { within, anew: ask(client), right }
    }
}

struct Values<'a>(&'a [OwnParameter]);

impl Args for Values<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Param<'_> {
        match &self.0[index] {
            OwnParameter::Null => Param::Null,
            OwnParameter::Int(number) => Param::Int(*number),
            OwnParameter::Text(text) => Param::Text(text),
        }
    }
}

/// Asks until the number of rows is right, there is none, or it was asked often enough.
fn ask_often(
    right: RangeInclusive<u64>,
    mut ask: impl FnMut() -> Result<StatementCounts, WireError>,
) -> RepeatedAnswer {
    let (mut times, mut pause) = (1, FIRST_PAUSE);
    loop {
        match ask() {
            Err(error) => return RepeatedAnswer::Refused(error.to_string()),
            Ok(StatementCounts { rows, .. }) if times == TIMES || right.contains(&rows) => {
                return RepeatedAnswer::Rows(rows, times);
            }
            Ok(_) => thread::sleep(pause),
        }
        (times, pause) = (times + 1, 2 * pause);
    }
}

/// Whether a statement only reads, as far as its first word tells.
fn is_query(sql: &str) -> bool {
    sql.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("select"))
}

impl AskedAgain {
    fn is_right(&self, answer: &RepeatedAnswer) -> bool {
        let (low, high) = self.right;
        matches!(answer, RepeatedAnswer::Rows(rows, _) if (low..=high).contains(rows))
    }

    /// Whether the rows were there in the end: then the first answer was wrong, and not what it was
    /// held against.
    pub(crate) fn is_right_now(&self) -> bool {
        self.is_right(&self.anew)
    }

    /// The answers, in words.
    pub(crate) fn answers_text(&self) -> String {
        let anew = &self.anew;
        match &self.within {
            Some(within) => {
                format!("asked again in the same transaction: {within}; in a new one: {anew}")
            }
            None => format!("asked again: {anew}"),
        }
    }

    /// What follows from the answers, for people.
    pub(crate) fn likely_meaning(&self) -> &'static str {
        let refused = |answer: &RepeatedAnswer| matches!(answer, RepeatedAnswer::Refused(_));
        if refused(&self.anew) {
            return "what the table holds is not known";
        }
        match (&self.within, self.is_right(&self.anew)) {
            (_, false) => {
                "the table is wrong: the server lost or doubled rows, or something else changes \
                 its tables"
            }
            (Some(within), true) if !self.is_right(within) && !refused(within) => {
                "the rows are there, and that transaction did not see them: its snapshot was \
                 wrong, or something else changed the tables and changed them back"
            }
            (_, true) => {
                "the rows are there: the first answer was wrong (MySQL gives such answers with \
                 innodb_adaptive_hash_index=ON, its bug 101667: try OFF), or something else \
                 changed the tables and changed them back"
            }
        }
    }
}

impl fmt::Display for RepeatedAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepeatedAnswer::Rows(rows, times) => {
                write!(f, "{rows} row{}", if *rows == 1 { "" } else { "s" })?;
                match times {
                    1 => Ok(()),
                    times => write!(f, " at time {times}"),
                }
            }
            RepeatedAnswer::Refused(why) => write!(f, "no answer ({why})"),
        }
    }
}

/// `asked again in the same transaction: 1 row; in a new one: 1 row; the rows are there: …`
impl fmt::Display for AskedAgain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.answers_text(), self.likely_meaning())
    }
}
