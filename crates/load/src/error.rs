//! Why a load could not be carried on.

use dbdyno_model::Processors;
use std::fmt;

use dbdyno_server::{CatalogueError, Refusal};
use dbdyno_wire::{ServerError, StatementCounts, WireError};
use dbdyno_workload::Expect;
use nix::errno::Errno;

use crate::again::{AskedAgain, WrongAnswer};

/// Connections that a server keeps for its superuser, and our own for looking at it.
const SPARE_PLACES: u32 = 20;

/// Why a load could not be carried on.
#[derive(Debug)]
pub enum LoadError {
    /// A statement or a connection failed. Carries the statement, if there was one.
    Wire(WireError, Option<String>),
    /// A statement was answered, and wrongly.
    WrongResult {
        /// The statement.
        sql: String,
        /// What would have been right.
        expect: Expect,
        /// What came.
        outcome: StatementCounts,
        /// With which parameters, and what came afterwards.
        found: Box<WrongAnswer>,
    },
    /// A transaction found something that cannot be: what it was, for people.
    WrongAnswer(String),
    /// A query found no row where a transaction needs one.
    MissingRow {
        /// What the transaction says of it.
        what: String,
        /// What came afterwards.
        again: Box<AskedAgain>,
    },
    /// The load cannot be carried out here: why, and what to try.
    Unfit(String),
    /// A table that dbdyno would make is there already.
    TableExists(String),
    /// What is called as a table of ours is none of ours.
    NotOurs {
        /// The name.
        name: String,
        /// What it is, as the catalogue has it.
        what: String,
    },
    /// In the database of this name stands the marker of a dbdyno that this home knows nothing of.
    MarkedByOthers {
        /// The database.
        database: String,
        /// What is known of the marker: a sentence, or nothing.
        known: String,
    },
    /// Another dbdyno works in the database of this name.
    InUse(String),
    /// The window closed before any event was finished.
    NothingFinished,
    /// The server rolled one transaction back so often in a row, for the sake of others.
    RolledBack(u64),
    /// Clients cannot be kept on these processors.
    Placement(Processors, std::io::Error),
    /// This process may not open as many files as it has clients.
    TooFewFiles {
        /// Clients that were asked for.
        clients: u32,
        /// Files that they need.
        needed: u64,
        /// Files that the kernel lets this process open at most.
        allowed: u64,
    },
    /// The server has no place for all clients.
    ServerFull {
        /// Clients that were asked for.
        clients: u32,
        /// Clients that got in before.
        inside: usize,
        /// Its `max_connections`, if it still told.
        places: Option<u64>,
        /// Its own words.
        refusal: Box<ServerError>,
    },
    /// The kernel does not let us wait for many connections at a time.
    Polling(std::io::Error),
    /// The user asked to stop.
    Interrupted,
}

impl LoadError {
    /// What an error of a statement means.
    pub(crate) fn of_statement(error: WireError, sql: impl FnOnce() -> String) -> LoadError {
        match error {
            WireError::Interrupted | WireError::Cut => LoadError::Interrupted,
            error => LoadError::Wire(error, Some(sql())),
        }
    }

    /// Whether a statement is the reason, or what is taken for its right answer: the same statement
    /// of the same load will fail again.
    pub fn is_of_statement(&self) -> bool {
        match self {
            LoadError::WrongResult { found, .. } => {
                !found.again.as_ref().is_some_and(AskedAgain::is_right_now)
            }
            LoadError::Wire(WireError::Server(error), Some(_)) => error.is_of_statement(),
            _ => false,
        }
    }

    /// Whether a value was too large for its column.
    pub fn is_out_of_range(&self) -> bool {
        let LoadError::Wire(WireError::Server(error), Some(_)) = self else { return false };
        error.sqlstate == "22003"
    }

    /// Whether the user asked to stop.
    pub fn is_interruption(&self) -> bool {
        matches!(self, LoadError::Interrupted | LoadError::Wire(WireError::Cut, _))
    }

    pub(crate) fn of_polling(error: Errno) -> LoadError {
        LoadError::Polling(error.into())
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Wire(error, None) => write!(f, "{error}"),
            LoadError::Wire(error, Some(sql)) => write!(f, "{error}; statement: {}", clip(sql)),
            LoadError::WrongResult { sql, expect, outcome, found } => {
                wrong_result(f, sql, *expect, *outcome, found)
            }
            LoadError::WrongAnswer(what) => write!(
                f,
                "wrong answer: {what}; the server's answers cannot be trusted, or something else \
                 changes its tables"
            ),
            LoadError::MissingRow { what, again } => write!(f, "wrong answer: {what}; {again}"),
            LoadError::Unfit(why) => f.write_str(why),
            LoadError::TableExists(name) => write!(
                f,
                "table {name} exists already and dbdyno overwrites nothing; name an empty database \
                 in the URL, or drop the table if it is not needed"
            ),
            LoadError::NotOurs { name, what } => write!(
                f,
                "{} is {} and no table of this dbdyno, and dbdyno takes nothing of others away; \
                 name another database in the URL, or remove it if it is not needed",
                name.escape_debug(),
                what.escape_debug()
            ),
            LoadError::MarkedByOthers { database, known } => write!(
                f,
                "the database {} has a table dbdyno_tables, with which a dbdyno marks its tables, \
                 and this home (--home) has no receipt for it, so that nothing was touched; {known}\
                 if no dbdyno works there, drop dbdyno_tables and the tables of its loads (sbtest1 \
                 …) by hand, or name another database in the URL",
                database.escape_debug()
            ),
            LoadError::InUse(name) => write!(
                f,
                "another dbdyno works in the database {name} and the two would measure each other; \
                 wait until it is done, or name another database in the URL"
            ),
            LoadError::NothingFinished => f.write_str(
                "not one event was finished while the window was open; try longer rounds \
                 (--seconds) or fewer clients",
            ),
            LoadError::RolledBack(times) => write!(
                f,
                "the server rolled one transaction back {times} times in a row for the sake of \
                 others (a deadlock, or no order of transactions): no contention does that; look \
                 for a proxy that answers in its place, and for transactions that others left open"
            ),
            LoadError::Placement(processors, error) => write!(
                f,
                "clients cannot be kept on processors {processors}: {error}; try --pin none"
            ),
            LoadError::TooFewFiles { clients, needed, allowed } => write!(
                f,
                "{clients} clients need {needed} open files and the kernel allows this process \
                 {allowed}; raise the hard limit (ulimit -Hn, /etc/security/limits.conf, \
                 LimitNOFILE=) or use fewer clients"
            ),
            LoadError::ServerFull { clients, inside, places, refusal } => {
                server_full(f, *clients, *inside, *places, refusal)
            }
            LoadError::Polling(error) => write!(
                f,
                "the kernel does not let us wait for so many connections: {error}; use fewer \
                 clients"
            ),
            LoadError::Interrupted => f.write_str("stopped on request"),
        }
    }
}

fn wrong_result(
    f: &mut fmt::Formatter<'_>,
    sql: &str,
    expect: Expect,
    outcome: StatementCounts,
    WrongAnswer { values, again, file }: &WrongAnswer,
) -> fmt::Result {
    let (what, got, low, high) = match expect {
        Expect::Rows(low, high) => ("returned", outcome.rows, low, high),
        Expect::Changed(low, high) => ("changed", outcome.affected, low, high),
    };
    write!(f, "wrong result: {} ", clip(sql))?;
    if !values.is_empty() {
        write!(f, "with {} ", clip(values))?;
    }
    // What came and what was expected say by themselves nothing against the server.
    match file {
        Some(file) => write!(f, "{what} {got} rows, and {file} expects ")?,
        None => write!(f, "{what} {got} rows, right is ")?,
    }
    match high {
        high if high == low => write!(f, "{low}; ")?,
        u64::MAX => write!(f, "{low} or more; ")?,
        high => write!(f, "{low} to {high}; ")?,
    }
    match (again, file) {
        (Some(again), Some(file)) if !again.is_right_now() => {
            let (answers, meaning) = (again.answers_text(), again.likely_meaning());
            write!(f, "{answers}; either {file} says wrongly what is right, by rows, or {meaning}")
        }
        (Some(again), _) => write!(f, "{again}"),
        (None, Some(file)) => what_the_file_says(f, file, sql, expect, got),
        (None, None) => f.write_str(UNTRUSTED),
    }
}

const UNTRUSTED: &str =
    "the server's answers cannot be trusted, or something else changes its tables";

/// What a load of the user's own takes for right may be the fault.
fn what_the_file_says(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    sql: &str,
    expect: Expect,
    got: u64,
) -> fmt::Result {
    let is_update = sql.split_whitespace().next().is_some_and(|w| w.eq_ignore_ascii_case("update"));
    match expect {
        Expect::Changed(low, high) if is_update && got < low => {
            let most = if high == u64::MAX { String::new() } else { high.to_string() };
            write!(
                f,
                "either no such row is there, or it was so already, which MySQL and MariaDB do not \
                 count: where either may be, write changed = \"{got}..{most}\" in {file}"
            )
        }
        Expect::Rows(..) | Expect::Changed(..) => write!(
            f,
            "either {file} says wrongly what is right, by {}, or {UNTRUSTED}",
            match expect {
                Expect::Rows(..) => "rows",
                Expect::Changed(..) => "changed",
            }
        ),
    }
}

fn server_full(
    f: &mut fmt::Formatter<'_>,
    clients: u32,
    inside: usize,
    places: Option<u64>,
    refusal: &ServerError,
) -> fmt::Result {
    write!(f, "the server let in {inside} of {clients} clients and refused the next: {refusal}; ")?;
    if let Some(places) = places {
        write!(f, "its max_connections is {places}, ")?;
    }
    let wanted = clients + SPARE_PLACES;
    match refusal.code {
        0 => write!(
            f,
            "set max_connections = {wanted} in postgresql.conf and restart it, or use fewer clients"
        ),
        1135 => f.write_str(
            "the kernel gives it no more threads: raise kernel.threads-max, kernel.pid_max, \
             LimitNPROC= or TasksMax= of its unit, or use fewer clients",
        ),
        _ => write!(
            f,
            "try SET GLOBAL max_connections = {wanted} (and see max_user_connections and \
             open_files_limit), or use fewer clients"
        ),
    }
}

impl std::error::Error for LoadError {}

impl From<Refusal> for LoadError {
    fn from(refusal: Refusal) -> LoadError {
        LoadError::Wire(refusal.error, refusal.sql)
    }
}

impl From<CatalogueError> for LoadError {
    fn from(error: CatalogueError) -> LoadError {
        match error {
            CatalogueError::Refused(refusal) => refusal.into(),
            CatalogueError::NotOurs { name, what } => LoadError::NotOurs { name, what },
        }
    }
}

impl From<WireError> for LoadError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Cut => LoadError::Interrupted,
            error => LoadError::Wire(error, None),
        }
    }
}

/// Statements with a hundred parameters are cut, on a character boundary.
fn clip(sql: &str) -> String {
    const LIMIT: usize = 120;
    match sql.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{} …", &sql[..end]),
        None => sql.to_owned(),
    }
}

/// A database in our threads is to be closed, and somebody has it still.
pub(crate) fn still_open(what: &str) -> WireError {
    WireError::Server(ServerError {
        code: 0,
        sqlstate: "HY000".to_owned(),
        message: format!("{what} cannot be opened again: a client of it is still there").into(),
    })
}
