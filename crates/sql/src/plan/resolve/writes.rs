//! What statements write: the values of new rows, which rows are changed, and to what.

use std::sync::Arc;

use super::{Planner, Table};
use crate::error::{NameFault, Result, SqlError};
use crate::expr::{Expr, of_datum};
use crate::parse::{self, Distinct, Expr as Written, GivenValue, Lock};
use crate::plan::resolve::Catalog;
use crate::plan::{Change, Insert, Query, SortNeed};

/// How rows are put in.
pub(crate) fn plan_insert(insert: &parse::Insert, catalog: &dyn Catalog) -> Result<Insert> {
    let table = catalog.table(&insert.table)?;
    let (given, from) = if insert.columns.is_empty() {
        (table.columns.len(), (0..table.columns.len()).map(Some).collect())
    } else {
        (insert.columns.len(), columns_of(&table, &insert.columns)?)
    };
    // `()` is a row of defaults.
    let is_empty = insert.columns.is_empty() && insert.rows.iter().all(Vec::is_empty);
    let (given, from) = if is_empty { (0, vec![None; from.len()]) } else { (given, from) };
    let mut columns = vec![0; given];
    for (column, place) in from.iter().enumerate() {
        place.iter().for_each(|place| columns[*place] = column);
    }
    let planner = Planner::new(&[], catalog, None)?;
    let mut rows = Vec::with_capacity(insert.rows.len());
    for row in &insert.rows {
        let values = row.len();
        if values != given {
            let text = format!("a row has {values} values for {given} columns");
            return Err(SqlError::RowWidth(text));
        }
        let values = row.iter().zip(&columns);
        let values = values.map(|(value, column)| planner.given(value, &table, *column));
        rows.push(values.collect::<Result<_>>()?);
    }
    check_defaults(&table, &from)?;
    if !planner.queries.borrow().is_empty() {
        return Err(SqlError::Unknown("a sub-query among the values of an INSERT".to_owned()));
    }
    Ok(Insert { table, from, rows })
}

/// Refuses rows without a value for a column that has no default.
fn check_defaults(table: &Table, from: &[Option<usize>]) -> Result<()> {
    let missing =
        (0..from.len()).find(|column| from[*column].is_none() && table.needs_value(*column));
    match missing {
        Some(column) => Err(SqlError::NoDefault(table.columns[column].name.clone())),
        None => Ok(()),
    }
}

/// For each column of the table its place among those that are named.
pub(crate) fn columns_of(table: &Table, named: &[String]) -> Result<Vec<Option<usize>>> {
    let mut from = vec![None; table.columns.len()];
    for (place, name) in named.iter().enumerate() {
        let column = column(table, name)?;
        if from[column].replace(place).is_some() {
            return Err(NameFault::ValueTwice.with_sentence(format!("{name} is named twice")));
        }
    }
    Ok(from)
}

/// Which rows are changed, and to what.
pub(crate) fn plan_update(update: &parse::Update, catalog: &dyn Catalog) -> Result<Change> {
    let from = [update.table.clone()];
    let planner = Planner::new(&from, catalog, None)?;
    let table = planner.table(0)?;
    let mut set = Vec::with_capacity(update.set.len());
    for (name, value) in &update.set {
        let column = column(&table, name)?;
        let value = planner.given(value, &table, column)?;
        check_unset(&table, &set, &value)?;
        set.push((column, value));
    }
    let tail = Tail { filter: &update.filter, order: &update.order, limit: &update.limit };
    Ok(Change { which: planner.which(&tail)?, set })
}

/// Refuses a value that is made of a column which was set before it: MySQL takes what was set,
/// other servers what the row had.
fn check_unset(table: &Table, set: &[(usize, Expr)], value: &Expr) -> Result<()> {
    let mut read = None;
    value.visit_parts(&mut |part| {
        if let Expr::Column(_, column, _) = part
            && set.iter().any(|(known, _)| known == column)
        {
            read = Some(*column);
        }
    });
    match read {
        Some(column) => {
            let name = &table.columns[column].name;
            Err(SqlError::Unknown(format!("an UPDATE that reads {name} after it has set it")))
        }
        None => Ok(()),
    }
}

/// Which rows are taken away.
pub(crate) fn plan_delete(delete: &parse::Delete, catalog: &dyn Catalog) -> Result<Change> {
    let from = [delete.table.clone()];
    let planner = Planner::new(&from, catalog, None)?;
    planner.table(0)?;
    let tail = Tail { filter: &delete.filter, order: &delete.order, limit: &delete.limit };
    Ok(Change { which: planner.which(&tail)?, set: Vec::new() })
}

fn column(table: &Table, name: &str) -> Result<usize> {
    let missing =
        || NameFault::NoColumn.with_sentence(format!("{} has no column {name}", table.name));
    table.column(name).ok_or_else(missing)
}

/// WHERE, ORDER BY and LIMIT of a statement that writes.
struct Tail<'a> {
    filter: &'a Option<Written>,
    order: &'a [parse::Order],
    limit: &'a Option<Written>,
}

impl Planner<'_> {
    /// The rows of the one table that a statement writes to.
    fn which(self, tail: &Tail<'_>) -> Result<Query> {
        let conditions = self.conditions(tail.filter)?;
        let mut items = Vec::new();
        let order = self.order(tail.order, None, &[], &mut items, 0)?;
        let limit = self.limit(tail.limit)?;
        let query = Query {
            levels: Vec::new(),
            filter: Vec::new(),
            queries: Vec::new(),
            names: Vec::new(),
            columns: Arc::default(),
            items,
            grouping: None,
            order,
            sorted: SortNeed::AsTheyCome,
            distinct: Distinct::No,
            limit,
            offset: None,
            lock: Lock::Update,
        };
        let query = self.with_levels(query, conditions)?;
        if query.sorted == SortNeed::Afterwards {
            let what = "an ORDER BY that no index has, in a statement that writes";
            return Err(SqlError::Unknown(what.to_owned()));
        }
        if query.levels.iter().any(|level| !level.asks.is_empty()) {
            let what = "a sub-query that is asked for each row, in a statement that writes";
            return Err(SqlError::Unknown(what.to_owned()));
        }
        Ok(query)
    }

    /// What a column is given.
    fn given(&self, value: &GivenValue, table: &Table, column: usize) -> Result<Expr> {
        let about = &table.columns[column];
        match value {
            GivenValue::Written(written) => self.plain(written),
            GivenValue::Default if table.needs_value(column) => {
                Err(SqlError::NoDefault(about.name.clone()))
            }
            GivenValue::Default => {
                let default = of_datum(about.default.datum(), about.kind);
                Ok(Expr::Constant(default.into_owned()))
            }
        }
    }
}
