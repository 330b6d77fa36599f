//! What a statement says, before anything is known of the tables it names.

use dbdyno_engine::value::ValueType;
use dbdyno_model::design::Isolation;

use crate::host::Kill;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Select(Select),
    Explain(Select),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    CreateTable(CreateTable),
    AddKeys(AddKeys),
    DropTable {
        name: String,
        if_there: bool,
    },
    /// All rows away.
    Truncate(String),
    /// Nothing to do: there are no statistics.
    Analyze(Vec<String>),
    /// When its view is opened, and what it may do where that is said.
    Begin(Snapshot, Option<Access>),
    Commit,
    Rollback,
    Savepoint(String),
    RollbackTo(String),
    Release(String),
    SetTransaction(Scope, Characteristics),
    /// All that is in memory to a file, and the log up to there away.
    Checkpoint,
    /// Variables of the session, in the order in which they are set.
    Set(Vec<Assignment>),
    Show(Show),
    /// What is done to the session of this number.
    Kill(u64, Kill),
    /// The one schema is to be used from now on: its name.
    Use(String),
}

/// When a transaction at repeatable read gets its view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Snapshot {
    AtFirstRead,
    AtOnce,
}

/// What transactions are; what is not said stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Characteristics {
    pub isolation: Option<Isolation>,
    pub access: Option<Access>,
}

/// Whether a transaction may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
}

/// Which transactions something is said of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All that follow on this connection.
    Session,
    /// The next one alone, if it is about transactions; else the session.
    Next,
}

/// A variable and its new value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assignment {
    pub scope: Scope,
    pub name: String,
    pub value: Expr,
}

/// What is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Show {
    /// The fields of the design and the variables, whose names are of this form.
    Variables(Option<Vec<u8>>),
    /// The counters whose names are of this form.
    Status(Option<Vec<u8>>),
    /// Tables whose names are of this form.
    Tables(Detail, Option<Vec<u8>>),
    /// Columns of a table whose names are of this form.
    Columns(Detail, String, Option<Vec<u8>>),
    /// Indexes of a table.
    Indexes(String),
    /// The statement that makes a table.
    CreateTable(String),
    /// The one schema, if its name is of this form.
    Databases(Option<Vec<u8>>),
    /// The sessions of the server.
    Processes,
    /// How far the replica is, where there is one.
    Replica,
    /// Where the rows of the replica are others when it has applied all.
    Comparison,
    /// There are none: what MySQL warns of is refused here.
    Warnings,
}

/// How much is shown of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Usual,
    Full,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Select {
    pub distinct: Distinct,
    pub items: Vec<Item>,
    pub from: Vec<From>,
    pub filter: Option<Expr>,
    pub group: Vec<Expr>,
    pub having: Option<Expr>,
    pub order: Vec<Order>,
    pub limit: Option<Expr>,
    pub offset: Option<Expr>,
    pub lock: Lock,
}

/// Whether a row is told once only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Distinct {
    #[default]
    No,
    Yes,
}

/// What rows are locked for as they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Lock {
    #[default]
    None,
    Share,
    Update,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// `*`, or `t.*`.
    All(Option<String>),
    /// A value and its name: the one that it is given, or what is written.
    One(Expr, Option<String>),
}

/// A table, and how it is joined to those before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct From {
    pub source: Source,
    /// By which its columns are called.
    pub alias: String,
    pub join: Join,
    pub on: Option<Expr>,
}

/// Where rows come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// A table, and the index that is to be used where one is named.
    Table(String, Option<String>),
    Query(Box<Select>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    Inner,
    Left,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Order {
    pub by: Expr,
    pub direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Up,
    Down,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Insert {
    pub table: String,
    /// None are named: all, in the order of the table.
    pub columns: Vec<String>,
    /// None in a row: a row of defaults.
    pub rows: Vec<Vec<GivenValue>>,
}

/// What a column is given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GivenValue {
    Written(Expr),
    /// Its default.
    Default,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Update {
    pub table: From,
    pub set: Vec<(String, GivenValue)>,
    pub filter: Option<Expr>,
    pub order: Vec<Order>,
    pub limit: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Delete {
    pub table: From,
    pub filter: Option<Expr>,
    pub order: Vec<Order>,
    pub limit: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CreateTable {
    pub name: String,
    /// Nothing is done where there is one of this name.
    pub unless_there: bool,
    pub columns: Vec<ColumnDefinition>,
    pub primary: Vec<String>,
    pub indexes: Vec<IndexDefinition>,
}

/// Keys for a table that is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AddKeys {
    pub table: String,
    /// Columns of a primary key; none where there is to be none.
    pub primary: Vec<String>,
    pub indexes: Vec<IndexDefinition>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnDefinition {
    pub name: String,
    pub kind: ValueType,
    pub nullable: bool,
    pub default: Option<Expr>,
    pub counts_up: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexDefinition {
    /// The one that it is given.
    pub name: Option<String>,
    pub columns: Vec<String>,
    pub unique: bool,
}

/// A value, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Null,
    Int(i64),
    /// Units, and digits behind the point.
    Decimal(i128, u8),
    Text(Vec<u8>),
    /// The parameter of this number, from 0.
    Param(usize),
    /// Table if one is named, column.
    Column(Option<String>, String),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>),
    /// Whether the first is not below the second and not above the third.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Vec<Expr>),
    InQuery(Box<Expr>, Box<Select>),
    Like(Box<Expr>, Box<Expr>),
    Query(Box<Select>),
    Call(Function, Vec<Expr>),
    /// A variable of the session, or what a function without arguments tells of it, as
    /// `connection_id()`.
    Variable(String),
    Aggregate(Aggregate, Distinct, Box<Expr>),
    CountAll,
    Now,
}

impl Expr {
    /// Puts something else in the place of this expression and of those within it, where `other`
    /// has something; sub-queries stay as they are.
    pub(crate) fn replace_parts(&mut self, other: &mut dyn FnMut(&Expr) -> Option<Expr>) {
        if let Some(other) = other(self) {
            *self = other;
            return;
        }
        match self {
            Expr::Null
            | Expr::Int(_)
            | Expr::Decimal(..)
            | Expr::Text(_)
            | Expr::Param(_)
            | Expr::Column(..)
            | Expr::Query(_)
            | Expr::Variable(_)
            | Expr::CountAll
            | Expr::Now
            // What is aggregated is of rows, which have no such names.
            | Expr::Aggregate(..) => {}
            Expr::Negative(of) | Expr::Not(of) | Expr::IsNull(of) | Expr::InQuery(of, _) => {
                of.replace_parts(other);
            }
            Expr::Binary(_, left, right) | Expr::Like(left, right) => {
                left.replace_parts(other);
                right.replace_parts(other);
            }
            Expr::Between(of, low, high) => {
                [of, low, high].into_iter().for_each(|part| part.replace_parts(other));
            }
            Expr::In(of, list) => {
                of.replace_parts(other);
                list.iter_mut().for_each(|part| part.replace_parts(other));
            }
            Expr::Call(_, all) => all.iter_mut().for_each(|part| part.replace_parts(other)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Abs,
    Coalesce,
    Concat,
    Length,
    Lower,
    Right,
    Sleep,
    Upper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Average,
    Count,
    Max,
    Min,
    Sum,
}
