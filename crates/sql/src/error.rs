//! Why a statement was not executed, with the numbers by which MySQL's clients know.

use std::fmt;

use dbdyno_engine::EngineError;

use crate::host::StatementStop;

/// Why a statement was not executed.
#[derive(Debug)]
pub enum SqlError {
    /// It cannot be read: what is wrong with it.
    Syntax(String),
    /// It can be read by others: the construct that is not among those of the loads.
    Unknown(String),
    /// A name that means nothing here, or something that it may not: a sentence.
    Name(NameFault, String),
    /// A row of values that are not as many as its columns: a sentence.
    RowWidth(String),
    /// A row without a value for this column, which has no default and takes no NULL.
    NoDefault(String),
    /// A value that is not of the kind that is wanted: a sentence.
    Value(String),
    /// A statement that changes rows divides by zero.
    DivisionByZero,
    /// A value that is no point in time where one is wanted: a sentence.
    Time(String),
    /// A number of parameters that is not that of the marks: given, wanted.
    Parameters(usize, usize),
    /// A question asks for so many columns, and more than are told.
    TooManyColumns(usize),
    /// There is no variable of this name.
    NoVariable(String),
    /// A variable that cannot be set.
    ReadOnly(String),
    /// A variable does not take a value: name, value.
    VariableValue(String, String),
    /// There is one schema, and it is not called so.
    NoDatabase(String),
    /// The transaction is to read only, and the statement writes.
    ReadOnlyTransaction,
    /// What the next transaction is to be cannot be said while one is open.
    TransactionOpen,
    /// The statement was ended.
    Stopped(StatementStop),
    /// More bytes of rows than these would be kept until the statement ends.
    TooMuchKept(u64),
    /// There is no session of this number.
    NoSession(u64),
    /// The engine's refusal.
    Engine(EngineError),
}

/// What is wrong with a name; numbers and states after MySQL's `errmsg-utf8.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// There is no such column.
    NoColumn,
    /// It is a column of two tables.
    TwoColumns,
    /// There is no such column for a key.
    NoKeyColumn,
    /// There is no such index.
    NoIndex,
    /// There is no such table to be taken away.
    NoTableToDrop,
    /// There is no table of this name among those that are asked.
    TableNotAsked,
    /// A table has two columns of this name.
    ColumnTwice,
    /// A table has two keys of this name.
    KeyTwice,
    /// A column is given two values.
    ValueTwice,
}

impl NameFault {
    fn code(self) -> u16 {
        match self {
            NameFault::NoColumn => 1054,
            NameFault::TwoColumns => 1052,
            NameFault::NoKeyColumn => 1072,
            NameFault::NoIndex => 1176,
            NameFault::NoTableToDrop | NameFault::TableNotAsked => 1051,
            NameFault::ColumnTwice => 1060,
            NameFault::KeyTwice => 1061,
            NameFault::ValueTwice => 1110,
        }
    }

    fn sqlstate(self) -> &'static str {
        match self {
            NameFault::NoColumn => "42S22",
            NameFault::TwoColumns => "23000",
            NameFault::NoTableToDrop | NameFault::TableNotAsked => "42S02",
            NameFault::ColumnTwice => "42S21",
            NameFault::NoKeyColumn
            | NameFault::NoIndex
            | NameFault::KeyTwice
            | NameFault::ValueTwice => "42000",
        }
    }

    /// A name with this fault, and a sentence about it.
    pub(crate) fn with_sentence(self, sentence: impl Into<String>) -> SqlError {
        SqlError::Name(self, sentence.into())
    }
}

/// Columns that a question asks for at most, as in MySQL; the protocol counts them in 16 bits.
pub(crate) const TOLD_MOST: usize = 4_096;

/// What is done, or why not.
pub type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// MySQL's number of the error.
    pub fn code(&self) -> u16 {
        match self {
            SqlError::Syntax(_) => 1064,
            SqlError::Unknown(_) => 1235,
            SqlError::Name(fault, _) => fault.code(),
            SqlError::RowWidth(_) => 1136,
            SqlError::NoDefault(_) => 1364,
            SqlError::Value(_) => 1366,
            SqlError::Time(_) => 1292,
            SqlError::DivisionByZero => 1365,
            SqlError::Parameters(..) => 1210,
            SqlError::TooManyColumns(_) => 1117,
            SqlError::NoVariable(_) => 1193,
            SqlError::ReadOnly(_) => 1238,
            SqlError::VariableValue(..) => 1231,
            SqlError::NoDatabase(name) if is_of_mysql(name) => 1235,
            SqlError::NoDatabase(_) => 1049,
            SqlError::ReadOnlyTransaction => 1792,
            SqlError::TransactionOpen => 1568,
            SqlError::Stopped(StatementStop::TimeOver) => 3024,
            SqlError::Stopped(_) => 1317,
            SqlError::TooMuchKept(_) => 1041,
            SqlError::NoSession(_) => 1094,
            SqlError::Engine(error) => error.code(),
        }
    }

    /// The same, with the place in the text where reading ended.
    pub(crate) fn with_place(self, place: Place) -> SqlError {
        match self {
            SqlError::Syntax(text) => SqlError::Syntax(format!("{text}, at {place}")),
            SqlError::Unknown(construct) => SqlError::Unknown(format!("{construct}, at {place}")),
            other => other,
        }
    }

    /// The SQLSTATE that MySQL gives with that number.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            SqlError::Syntax(_)
            | SqlError::Unknown(_)
            | SqlError::VariableValue(..)
            | SqlError::NoDatabase(_) => "42000",
            SqlError::Name(fault, _) => fault.sqlstate(),
            SqlError::RowWidth(_) => "21S01",
            SqlError::Time(_) => "22007",
            SqlError::DivisionByZero => "22012",
            SqlError::Value(_)
            | SqlError::NoDefault(_)
            | SqlError::Parameters(..)
            | SqlError::TooManyColumns(_)
            | SqlError::NoVariable(_)
            | SqlError::ReadOnly(_) => "HY000",
            SqlError::ReadOnlyTransaction => "25006",
            SqlError::TransactionOpen => "25001",
            SqlError::Stopped(StatementStop::TimeOver)
            | SqlError::TooMuchKept(_)
            | SqlError::NoSession(_) => "HY000",
            SqlError::Stopped(_) => "70100",
            SqlError::Engine(error) => error.sqlstate(),
        }
    }
}

/// Where in a text something begins: lines and columns from 1, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place of this byte of the text.
    pub(crate) fn of_byte(text: &str, at: usize) -> Place {
        let before = &text[..at];
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Place { line, column: before[begin..].chars().count() + 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Whether a schema is one that MySQL always has, and the engine has not.
fn is_of_mysql(name: &str) -> bool {
    const OF_MYSQL: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];
    OF_MYSQL.iter().any(|known| name.eq_ignore_ascii_case(known))
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SqlError::Syntax(text)
            | SqlError::Name(_, text)
            | SqlError::RowWidth(text)
            | SqlError::Value(text)
            | SqlError::Time(text) => f.write_str(text),
            SqlError::Unknown(construct) => write!(
                f,
                "the reference engine does not know {construct}; docs/ENGINE.md has the SQL that \
                 it knows"
            ),
            SqlError::NoDefault(column) => {
                write!(f, "{column} has no default, and the row has no value for it")
            }
            SqlError::Parameters(given, wanted) => {
                write!(f, "the statement takes {wanted} parameters and was given {given}")
            }
            SqlError::TooManyColumns(count) => {
                write!(f, "{count} columns are asked for, of at most {TOLD_MOST}")
            }
            SqlError::NoVariable(name) => write!(f, "there is no variable {name} here"),
            SqlError::ReadOnly(name) => write!(f, "{name} can be read and not set"),
            SqlError::VariableValue(name, value) => {
                write!(f, "{name} cannot be {value:?} here; statements would mean something else")
            }
            SqlError::NoDatabase(name) if is_of_mysql(name) => write!(
                f,
                "the reference engine does not have the schema {name}: SHOW TABLES, SHOW COLUMNS, \
                 SHOW INDEX and SHOW CREATE TABLE tell what is there; docs/ENGINE.md has the SQL \
                 that it knows"
            ),
            SqlError::NoDatabase(name) => {
                write!(f, "there is no database {name}; SHOW DATABASES tells the one that is")
            }
            SqlError::DivisionByZero => f.write_str(
                "a division by zero, which a statement that changes rows may not have; a question has \
                 NULL there",
            ),
            SqlError::ReadOnlyTransaction => {
                f.write_str("the transaction is READ ONLY, and the statement writes")
            }
            SqlError::TransactionOpen => f.write_str(
                "SET TRANSACTION is about the next transaction, and one is open; end it first, or \
                 say SET SESSION TRANSACTION",
            ),
            SqlError::Stopped(StatementStop::Killed) => {
                f.write_str("the statement was killed by another session")
            }
            SqlError::Stopped(StatementStop::TimeOver) => {
                f.write_str("the statement took longer than max_execution_time, and was ended")
            }
            SqlError::Stopped(StatementStop::ClientGone) => {
                f.write_str("nobody waits for the answer any more")
            }
            SqlError::TooMuchKept(most) => write!(
                f,
                "more than {most} bytes of rows would be kept to be ordered or grouped; ask for \
                 them in parts"
            ),
            SqlError::NoSession(id) => write!(f, "there is no session {id}; SHOW PROCESSLIST"),
            SqlError::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SqlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SqlError::Engine(error) => Some(error),
            _ => None,
        }
    }
}

impl From<EngineError> for SqlError {
    fn from(error: EngineError) -> SqlError {
        SqlError::Engine(error)
    }
}
