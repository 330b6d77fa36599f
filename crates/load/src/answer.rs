//! What came of an event: what its statements did, whether that is right, or why it failed.

use dbdyno_wire::{Client, StatementCounts, StatementId, WireError};
use dbdyno_workload::{Call, CallValue, Event, Expect, ReadyLoad, Statement};

use crate::again::{WrongAnswer, ask_again};
use crate::asking::ROLLBACK;
use crate::error::LoadError;

/// Contention lets somebody through: what was rolled back so often in a row never will be.
const RETRIES_MOST: u64 = 10_000;

/// What the statements of an event did together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventAnswer {
    /// Statements executed.
    pub statements: u64,
    /// Rows returned.
    pub rows_read: u64,
    /// Rows changed.
    pub rows_changed: u64,
    /// Times that the event was rolled back for the sake of others and asked again.
    pub retries: u64,
    /// The kind of the event, as [`dbdyno_workload::Filing`] counts them: in a dialogue, its class.
    pub kind: u32,
}

impl EventAnswer {
    /// The answer to an event of which nothing has been answered.
    #[inline]
    pub(crate) fn for_event(event: &Event) -> EventAnswer {
        EventAnswer { kind: event.kind, ..EventAnswer::default() }
    }

    #[inline]
    pub(crate) fn count(&mut self, outcome: StatementCounts) {
        self.statements += 1;
        self.rows_read += outcome.rows;
        self.rows_changed += outcome.affected;
    }
}

/// Counts that an event was rolled back for the sake of others and is to be asked again.
///
/// # Errors
/// [`LoadError::RolledBack`] where that has happened [`RETRIES_MOST`] times in a row.
pub(crate) fn count_retry(retries: &mut u64) -> Result<(), LoadError> {
    *retries += 1;
    if *retries >= RETRIES_MOST { Err(LoadError::RolledBack(*retries)) } else { Ok(()) }
}

/// Why an event was not carried out.
pub(crate) enum Setback {
    /// It was rolled back for the sake of others, and is to be asked again.
    AskAgain,
    /// It failed for good.
    Failed(LoadError),
}

/// What an error of one of an event's `statements` statements means.
///
/// Two clients that delete and put back the same row can meet in the primary key: the second INSERT
/// finds the first one's row. sysbench asks again, and so do we, but only where the event has other
/// statements and the load deletes: elsewhere it would mean that the tables are not what they
/// should be, and asking again would find the same row without end.
pub(crate) fn classify_error(
    load: &ReadyLoad,
    error: WireError,
    statement: u32,
    statements: usize,
) -> Setback {
    if error.is_retryable() || (statements > 1 && is_duplicate(&error) && deletes(load)) {
        return Setback::AskAgain;
    }
    Setback::Failed(LoadError::of_statement(error, || sql_of(load, statement)))
}

/// What a ROLLBACK that failed means: what the transaction has done until then is still there, and
/// MySQL's BEGIN would commit it, a DELETE without its INSERT.
#[cold]
pub(crate) fn rollback_error(error: WireError) -> LoadError {
    LoadError::of_statement(error, || ROLLBACK.to_owned())
}

fn deletes(load: &ReadyLoad) -> bool {
    load.statements()
        .iter()
        .filter_map(first_word)
        .any(|first_word| first_word.eq_ignore_ascii_case("delete"))
}

fn first_word(statement: &Statement) -> Option<String> {
    statement.sql.trim_start().get(..6).map(str::to_owned)
}

fn sql_of(load: &ReadyLoad, statement: u32) -> String {
    load.statements()[statement as usize].sql.clone()
}

fn is_duplicate(error: &WireError) -> bool {
    const MYSQL_DUPLICATE: u16 = 1062;
    match error {
        WireError::Server(error) => match error.code {
            0 => error.sqlstate == "23505",
            code => code == MYSQL_DUPLICATE,
        },
        _ => false,
    }
}

/// Whether this is the answer that the call must get.
#[inline]
pub(crate) fn is_right(call: &Call, outcome: StatementCounts) -> bool {
    match call.expect {
        None => true,
        Some(Expect::Rows(low, high)) => (low..=high).contains(&outcome.rows),
        Some(Expect::Changed(low, high)) => (low..=high).contains(&outcome.affected),
    }
}

/// What an answer that is not right means. The client is asked again, and is not to be used any
/// more.
#[cold]
pub(crate) fn wrong_result_error(
    client: &mut dyn Client,
    prepared: &[Option<StatementId>],
    load: &ReadyLoad,
    event: &Event,
    call: &Call,
    outcome: StatementCounts,
) -> LoadError {
    let again = ask_again(client, prepared, load, event, call);
    LoadError::WrongResult {
        sql: sql_of(load, call.statement),
        expect: call.expect.expect("what expects nothing is right"),
        outcome,
        found: Box::new(WrongAnswer {
            values: shown(event, call),
            again,
            file: load.file().map(str::to_owned),
        }),
    }
}

/// The parameters of a call: `4711, 'abc', NULL`.
fn shown(event: &Event, call: &Call) -> String {
    event
        .values(call)
        .iter()
        .map(|value| match *value {
            CallValue::Null => "NULL".to_owned(),
            CallValue::Int(number) => number.to_string(),
            CallValue::Text { start, length } => {
                format!("'{}'", String::from_utf8_lossy(event.text_slice(start, length)))
            }
        })
        .collect::<Vec<_>>()
        .join(", ")
}
