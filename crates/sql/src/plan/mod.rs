//! How a question is answered.
//!
//! ```text
//!   SELECT c_discount, w_tax FROM tpcc_customer JOIN tpcc_warehouse ON w_id=c_w_id WHERE …
//!
//!   level 0   tpcc_customer    by PRIMARY (c_w_id = ?, c_d_id = ?, c_id = ?)
//!   level 1   tpcc_warehouse   by PRIMARY (w_id = c_w_id of level 0)
//!   output    c_discount, w_tax
//! ```
//!
//! Tables are joined in the order in which they are written, row by row: what MySQL does where it
//! is told STRAIGHT_JOIN. Each condition stands at the first level where all that it refers to is
//! known; one that decides which rows of an index are looked at stands there and nowhere else.
//! There are no statistics, so a plan follows from the statement and the tables alone; see
//! [`access`] for the choice of an index.

mod access;
mod explain;
mod kinds;
mod resolve;
mod shape;

pub(crate) use access::{Access, End, Equal, RangeEnd};
pub(crate) use explain::explain_query;
pub(crate) use resolve::{
    Catalog, columns_of, plan_constant, plan_delete, plan_insert, plan_select, plan_update,
    plan_value,
};
pub(crate) use shape::{COLUMNS_MOST, PRIMARY, Table};

use std::sync::Arc;

use crate::column::ResultColumn;
use crate::expr::Expr;
use crate::parse::{Aggregate, Direction, Distinct, Join, Lock};

/// A question with all names resolved.
#[derive(Debug)]
pub(crate) struct Query {
    pub levels: Vec<Level>,
    /// Conditions that refer to no table: without them there are no rows.
    pub filter: Vec<Expr>,
    pub queries: Vec<SubQuery>,
    /// Names of what is told.
    pub names: Vec<String>,
    /// The same with what is known of the values.
    pub columns: Arc<[ResultColumn]>,
    /// What is told, and behind it what it is only ordered by.
    pub items: Vec<Expr>,
    pub grouping: Option<Grouping>,
    /// Places among the items.
    pub order: Vec<(usize, Direction)>,
    /// Whether rows come in that order by themselves.
    pub sorted: SortNeed,
    pub distinct: Distinct,
    pub limit: Option<Expr>,
    pub offset: Option<Expr>,
    pub lock: Lock,
}

impl Query {
    /// Whether MySQL puts its rows into a table where it stands in the place of one: then no more
    /// is left of a number than what is told of it. Other queries become part of the outer one.
    pub(crate) fn is_materialized(&self) -> bool {
        self.grouping.is_some() || self.distinct == Distinct::Yes || self.limit.is_some()
    }
}

/// Whether rows come in the order that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortNeed {
    /// They do, or none is asked for.
    AsTheyCome,
    /// They are sorted before any is told.
    Afterwards,
}

/// A table, or a query in the place of one, and which of its rows count.
#[derive(Debug)]
pub(crate) struct Level {
    pub source: Source,
    /// What the statement calls it.
    pub alias: String,
    pub join: Join,
    /// What a row must fulfil to be looked at; with a LEFT JOIN, its condition.
    pub filter: Vec<Expr>,
    /// Sub-queries that refer to this level, by number: asked anew for each row.
    pub asks: Vec<usize>,
    /// What must hold after that; with a LEFT JOIN, what WHERE says of its rows.
    pub after: Vec<Expr>,
}

#[derive(Debug)]
pub(crate) enum Source {
    Table(Access),
    Query(Box<Query>),
}

/// How rows become groups.
#[derive(Debug)]
pub(crate) struct Grouping {
    pub by: Vec<Expr>,
    pub aggregates: Vec<Call>,
    pub having: Vec<Expr>,
    /// An aggregate of whose rows, as they come, the first is enough.
    pub first: First,
}

/// Whether all rows have to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// They have to.
    All,
    /// The first one that is not NULL has the least, or the greatest, of all.
    IsEnough,
}

/// An aggregate: what, once for each value or for each row, of what. COUNT(*) is that of 1.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub aggregate: Aggregate,
    pub distinct: Distinct,
    pub of: Expr,
}

/// A query within an expression.
#[derive(Debug)]
pub(crate) struct SubQuery {
    pub query: Query,
    /// What it refers to outside; where nothing, it is asked once.
    pub outer: Vec<Expr>,
    pub answers: Answers,
}

/// What a sub-query is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    OneValue,
    Set,
}

/// Rows that are put in.
#[derive(Debug)]
pub(crate) struct Insert {
    pub table: Arc<Table>,
    /// For each column of the table the place of its value in a row.
    pub from: Vec<Option<usize>>,
    pub rows: Vec<Vec<Expr>>,
}

/// Rows that are changed, or taken away where nothing is set.
#[derive(Debug)]
pub(crate) struct Change {
    /// Which; its one level is a table.
    pub which: Query,
    /// Column, new value.
    pub set: Vec<(usize, Expr)>,
}
