//! Names into places, conditions onto levels.
//!
//! A name is looked for among the tables of its query, and then in the query around it; what is
//! found there becomes a value that comes from outside. A sub-query that takes nothing of the rows
//! around it is asked once, before the first row; any other is asked for each row of the last level
//! that it refers to.

mod aliases;
mod writes;

use aliases::{named_item, order_without_aliases, without_aliases};
pub(crate) use writes::{columns_of, plan_delete, plan_insert, plan_update};

use std::cell::RefCell;
use std::mem;
use std::sync::Arc;

use super::access::{self, AccessQuestion, Spares, Wish};
use super::kinds;
use super::{Answers, Call, First, Grouping, Level, Query, SortNeed, Source, SubQuery, Table};
use crate::error::{NameFault, Result, SqlError};
use crate::expr::Expr;
use crate::operand::Operand;
use crate::parse::{
    self, Aggregate, Direction, Distinct, Expr as Written, Item, Join, Lock, Operator, Select,
};

/// Where tables are looked up.
pub(crate) trait Catalog {
    /// The table of this name.
    ///
    /// # Errors
    /// There is none.
    fn table(&self, name: &str) -> Result<Arc<Table>>;

    /// The value of a variable of the session.
    ///
    /// # Errors
    /// There is none.
    fn session_variable(&self, name: &str) -> Result<Operand<'static>> {
        Err(SqlError::NoVariable(name.to_owned()))
    }
}

/// How a question is answered.
pub(crate) fn plan_select(select: &Select, catalog: &dyn Catalog) -> Result<Query> {
    Ok(Planner::new(&select.from, catalog, None)?.select(select)?.0)
}

/// What a default is.
pub(crate) fn plan_constant(written: &Written) -> Result<Expr> {
    plan_value("a default", written, &NoTables)
}

/// A value that is made of constants and of the variables that a catalog has; `what` names it where
/// it is not.
pub(crate) fn plan_value(what: &str, written: &Written, catalog: &dyn Catalog) -> Result<Expr> {
    let planner = Planner::new(&[], catalog, None)?;
    let expr = planner.plain(written)?;
    let mut is_constant = true;
    expr.visit_parts(&mut |part| {
        let is_later =
            matches!(part, Expr::Param(_) | Expr::Query(_) | Expr::InQuery(..) | Expr::Now);
        is_constant &= !is_later;
    });
    if is_constant {
        Ok(expr)
    } else {
        Err(SqlError::Unknown(format!("{what} that is no constant")))
    }
}

struct NoTables;

impl Catalog for NoTables {
    fn table(&self, name: &str) -> Result<Arc<Table>> {
        Err(NameFault::NoColumn.with_sentence(format!("{name} where a constant is wanted")))
    }
}

/// One query while it is planned.
struct Planner<'p> {
    catalog: &'p dyn Catalog,
    outer: Option<&'p Planner<'p>>,
    tables: Vec<NamedLevel>,
    /// What was found outside.
    from_outside: RefCell<Vec<Expr>>,
    queries: RefCell<Vec<SubQuery>>,
}

/// A level and its names.
struct NamedLevel {
    alias: String,
    join: Join,
    on: Option<Written>,
    kind: Kind,
}

enum Kind {
    /// A table, and the index that the statement names.
    Table(Arc<Table>, Option<usize>),
    /// Taken out when its level is made; the names stay.
    Query(RefCell<Option<Box<Query>>>, Vec<String>),
}

/// What groups there are, while items are resolved.
struct Groups {
    by: Vec<Expr>,
    calls: RefCell<Vec<Call>>,
}

/// A condition, and whether it is that of a LEFT JOIN of a level.
struct Condition {
    expr: Expr,
    of_join: Option<usize>,
}

impl<'p> Planner<'p> {
    fn new(
        from: &[parse::From],
        catalog: &'p dyn Catalog,
        outer: Option<&'p Planner<'p>>,
    ) -> Result<Planner<'p>> {
        let named = |from: &parse::From| {
            let kind = match &from.source {
                parse::Source::Table(name, forced) => {
                    let table = catalog.table(name)?;
                    let forced = forced.as_ref().map(|forced| {
                        let found = table
                            .indexes
                            .iter()
                            .position(|index| index.name.eq_ignore_ascii_case(forced));
                        let missing = format!("{name} has no index {forced}");
                        found.ok_or_else(|| NameFault::NoIndex.with_sentence(missing))
                    });
                    Kind::Table(table.clone(), forced.transpose()?)
                }
                parse::Source::Query(select) => {
                    let query = plan_select(select, catalog)?;
                    let names = query.names.clone();
                    Kind::Query(RefCell::new(Some(Box::new(query))), names)
                }
            };
            let (alias, on) = (from.alias.clone(), from.on.clone());
            Ok(NamedLevel { alias, join: from.join, on, kind })
        };
        let tables = from.iter().map(named).collect::<Result<_>>()?;
        let (from_outside, queries) = Default::default();
        Ok(Planner { catalog, outer, tables, from_outside, queries })
    }

    /// Plans the question; gives what it takes from outside, too.
    fn select(self, select: &Select) -> Result<(Query, Vec<Expr>)> {
        let conditions = self.conditions(&select.filter)?;
        let groups = self.groups(select)?;
        let mut names = Vec::new();
        let mut items = Vec::new();
        for item in &select.items {
            self.item(item, groups.as_ref(), &mut names, &mut items)?;
        }
        let visible = items.len();
        let order =
            order_without_aliases(&select.order, &select.items, &|name| self.plain(name).is_ok());
        let order = self.order(&order, groups.as_ref(), &names, &mut items, visible)?;
        if select.distinct == Distinct::Yes && items.len() > visible {
            return Err(SqlError::Unknown("DISTINCT rows in an order that is not told".to_owned()));
        }
        let having = match (&select.having, &groups) {
            (Some(having), Some(groups)) => {
                let having = without_aliases(having, &select.items, &|name| {
                    self.plain(name).is_ok_and(|plain| groups.by.contains(&plain))
                });
                conjunction(self.resolve(&having, Some(groups))?)
            }
            (Some(_), None) => return Err(SqlError::Unknown("HAVING without groups".to_owned())),
            (None, _) => Vec::new(),
        };
        let (limit, offset) = (self.limit(&select.limit)?, self.limit(&select.offset)?);
        let grouping = groups.map(|groups| Grouping {
            by: groups.by,
            aggregates: groups.calls.into_inner(),
            having,
            first: First::All,
        });
        let query = Query {
            levels: Vec::new(),
            filter: Vec::new(),
            queries: Vec::new(),
            names,
            columns: Arc::default(),
            items,
            grouping,
            order,
            sorted: SortNeed::AsTheyCome,
            distinct: select.distinct,
            limit,
            offset,
            lock: select.lock,
        };
        let mut query = self.with_levels(query, conditions)?;
        query.columns = kinds::columns(&query).into();
        if let Some(grouping) = &query.grouping {
            let mut of_groups = query.items.iter().chain(&grouping.having);
            if of_groups.any(|expr| asks_rows(expr, &query.queries)) {
                let what = "a sub-query that is asked for each group";
                return Err(SqlError::Unknown(what.to_owned()));
            }
        }
        Ok((query, self.from_outside.into_inner()))
    }

    /// How many rows are told, or passed over: known before there is one.
    fn limit(&self, written: &Option<Written>) -> Result<Option<Expr>> {
        let Some(written) = written else { return Ok(None) };
        match self.plain(written)? {
            limit @ (Expr::Constant(_) | Expr::Param(_)) => Ok(Some(limit)),
            _ => Err(SqlError::Unknown("a LIMIT that is neither a number nor a mark".to_owned())),
        }
    }

    fn table(&self, level: usize) -> Result<Arc<Table>> {
        match &self.tables[level].kind {
            Kind::Table(table, _) => Ok(table.clone()),
            Kind::Query(..) => Err(SqlError::Unknown("a query in the place of a table".to_owned())),
        }
    }

    fn item(
        &self,
        item: &Item,
        groups: Option<&Groups>,
        names: &mut Vec<String>,
        items: &mut Vec<Expr>,
    ) -> Result<()> {
        let of = match item {
            Item::One(expr, alias) => {
                let name = match (alias, expr) {
                    (Some(alias), _) => alias.clone(),
                    (None, Written::Column(_, column)) => column.clone(),
                    (None, _) => unreachable!("what is no column is called as it is written"),
                };
                names.push(name);
                items.push(self.resolve(expr, groups)?);
                return Ok(());
            }
            Item::All(of) => of,
        };
        let mut any = false;
        for (level, named) in self.tables.iter().enumerate() {
            if of.as_ref().is_some_and(|of| !of.eq_ignore_ascii_case(&named.alias)) {
                continue;
            }
            any = true;
            for (index, name) in named.columns().enumerate() {
                items.push(named.at(level, index));
                names.push(name.to_owned());
            }
        }
        match (any, groups) {
            (true, None) => Ok(()),
            (true, Some(_)) => Err(SqlError::Unknown("* of groups".to_owned())),
            (false, _) => {
                Err(NameFault::TableNotAsked.with_sentence("* of a table that is not asked"))
            }
        }
    }

    /// By which items rows are ordered; those that are not told are added to the items.
    fn order(
        &self,
        order: &[parse::Order],
        groups: Option<&Groups>,
        names: &[String],
        items: &mut Vec<Expr>,
        visible: usize,
    ) -> Result<Vec<(usize, Direction)>> {
        let mut places = Vec::new();
        for one in order {
            let told = match &one.by {
                Written::Column(None, name) => {
                    names.iter().position(|known| known.eq_ignore_ascii_case(name))
                }
                Written::Int(place) => {
                    let place = usize::try_from(*place).ok().filter(|place| *place > 0);
                    let place = place.filter(|place| *place <= visible);
                    Some(
                        place.ok_or_else(|| {
                            NameFault::NoColumn.with_sentence("ORDER BY a column that is not told")
                        })? - 1,
                    )
                }
                _ => None,
            };
            let place = match told {
                Some(place) => place,
                None => {
                    let by = self.resolve(&one.by, groups)?;
                    items.iter().position(|item| *item == by).unwrap_or_else(|| {
                        items.push(by);
                        items.len() - 1
                    })
                }
            };
            places.push((place, one.direction));
        }
        Ok(places)
    }

    fn groups(&self, select: &Select) -> Result<Option<Groups>> {
        let counts = select.items.iter().any(|item| match item {
            Item::One(expr, _) => has_aggregate(expr),
            Item::All(_) => false,
        }) || select.having.as_ref().is_some_and(has_aggregate);
        if select.group.is_empty() && !counts {
            return Ok(None);
        }
        if select.lock != Lock::None {
            return Err(SqlError::Unknown("FOR UPDATE of groups".to_owned()));
        }
        let by = select.group.iter().map(|by| match named_item(by, &select.items) {
            // A column of a table comes before a name that the statement gives.
            Some(item) => self.plain(by).or_else(|_| self.plain(item)),
            None => self.plain(by),
        });
        Ok(Some(Groups { by: by.collect::<Result<_>>()?, calls: RefCell::default() }))
    }

    /// WHERE and ON, each part by itself.
    fn conditions(&self, filter: &Option<Written>) -> Result<Vec<Condition>> {
        let mut conditions = Vec::new();
        for (level, named) in self.tables.iter().enumerate() {
            let Some(on) = &named.on else { continue };
            let of_join = (named.join == Join::Left).then_some(level);
            let parts = conjunction(self.plain(on)?).into_iter();
            conditions.extend(parts.map(|expr| Condition { expr, of_join }));
        }
        if let Some(filter) = filter {
            let parts = conjunction(self.plain(filter)?).into_iter();
            conditions.extend(parts.map(|expr| Condition { expr, of_join: None }));
        }
        Ok(conditions)
    }

    fn plain(&self, written: &Written) -> Result<Expr> {
        self.resolve(written, None)
    }

    /// Resolves names; with groups, what is not one of them has to be made of them.
    fn resolve(&self, written: &Written, groups: Option<&Groups>) -> Result<Expr> {
        if let Some(groups) = groups
            && !has_aggregate(written)
            && !matches!(written, Written::Query(_) | Written::InQuery(..))
        {
            let plain = self.plain(written)?;
            if let Some(group) = groups.by.iter().position(|by| *by == plain) {
                return Ok(Expr::Group(group));
            }
        }
        let boxed = |of: &Written| Ok::<_, SqlError>(Box::new(self.resolve(of, groups)?));
        let all = |list: &[Written]| {
            list.iter().map(|one| self.resolve(one, groups)).collect::<Result<Vec<_>>>()
        };
        Ok(match written {
            Written::Null => Expr::Constant(Operand::Null),
            Written::Int(number) => Expr::Constant(Operand::Int(*number)),
            Written::Decimal(units, scale) => Expr::Constant(Operand::Decimal(*units, *scale)),
            Written::Text(text) => Expr::Constant(Operand::of_text(text).into_owned()),
            Written::Param(index) => Expr::Param(*index),
            Written::Column(table, name) => {
                if groups.is_some() {
                    return Err(SqlError::Unknown(format!(
                        "{name} beside groups: it is neither grouped by nor aggregated"
                    )));
                }
                self.name(table.as_deref(), name)?
            }
            Written::Negative(of) => Expr::Negative(boxed(of)?),
            Written::Not(of) => Expr::Not(boxed(of)?),
            Written::Binary(operator, left, right) => {
                Expr::Binary(*operator, boxed(left)?, boxed(right)?)
            }
            Written::IsNull(of) => Expr::IsNull(boxed(of)?),
            Written::Between(of, low, high) => between(boxed(of)?, boxed(low)?, boxed(high)?),
            Written::In(of, list) => Expr::In(boxed(of)?, all(list)?),
            Written::InQuery(of, select) => {
                Expr::InQuery(boxed(of)?, self.query(select, Answers::Set)?)
            }
            Written::Like(of, pattern) => Expr::Like(boxed(of)?, boxed(pattern)?),
            Written::Query(select) => Expr::Query(self.query(select, Answers::OneValue)?),
            Written::Call(function, arguments) => kinds::call_at_scale(*function, all(arguments)?),
            Written::Variable(name) => Expr::Constant(self.catalog.session_variable(name)?),
            Written::Now => Expr::Now,
            Written::CountAll => {
                let one = Expr::Constant(Operand::Int(1));
                aggregate(groups, Aggregate::Count, Distinct::No, one)?
            }
            Written::Aggregate(of, distinct, inner) => {
                aggregate(groups, *of, *distinct, self.plain(inner)?)?
            }
        })
    }

    fn query(&self, select: &Select, answers: Answers) -> Result<usize> {
        let planner = Planner::new(&select.from, self.catalog, Some(self))?;
        let (query, outer) = planner.select(select)?;
        if query.names.len() != 1 {
            return Err(SqlError::Syntax("a query in an expression asks for one value".to_owned()));
        }
        let mut queries = self.queries.borrow_mut();
        queries.push(SubQuery { query, outer, answers });
        Ok(queries.len() - 1)
    }

    fn name(&self, table: Option<&str>, name: &str) -> Result<Expr> {
        let mut found = None;
        for (level, named) in self.tables.iter().enumerate() {
            if table.is_some_and(|table| !table.eq_ignore_ascii_case(&named.alias)) {
                continue;
            }
            let column = named.columns().position(|known| known.eq_ignore_ascii_case(name));
            let Some(column) = column else { continue };
            if found.is_some() {
                let what = format!("{name} is a column of two tables");
                return Err(NameFault::TwoColumns.with_sentence(what));
            }
            found = Some(named.at(level, column));
        }
        if let Some(found) = found {
            return Ok(found);
        }
        let Some(outer) = self.outer else {
            let table = table.map(|table| format!("{table}.")).unwrap_or_default();
            let what = format!("there is no column {table}{name} here");
            return Err(NameFault::NoColumn.with_sentence(what));
        };
        let outside = outer.name(table, name)?;
        let mut all = self.from_outside.borrow_mut();
        let known = all.iter().position(|known| *known == outside);
        Ok(Expr::Outer(known.unwrap_or_else(|| {
            all.push(outside);
            all.len() - 1
        })))
    }

    /// Puts conditions onto levels and chooses how each level is read.
    fn with_levels(&self, mut query: Query, conditions: Vec<Condition>) -> Result<Query> {
        query.queries = self.queries.take();
        let mut of_level: Vec<[Vec<Expr>; 2]> =
            self.tables.iter().map(|_| [vec![], vec![]]).collect();
        let mut asks: Vec<Vec<usize>> = vec![Vec::new(); self.tables.len()];
        for (index, ask) in query.queries.iter().enumerate() {
            if let Some(level) = ask.outer.iter().filter_map(|expr| last_level(expr, &[])).max() {
                asks[level].push(index);
            }
        }
        for Condition { expr, of_join } in conditions {
            let last = last_level(&expr, &query.queries);
            if of_join.is_some() && (last > of_join || asks_rows(&expr, &query.queries)) {
                let what = "a LEFT JOIN whose condition asks more than the tables so far";
                return Err(SqlError::Unknown(what.to_owned()));
            }
            let Some(level) = of_join.max(last) else {
                query.filter.push(expr);
                continue;
            };
            let is_later = of_join.is_none()
                && (self.tables[level].join == Join::Left || asks_rows(&expr, &query.queries));
            of_level[level][usize::from(is_later)].push(expr);
        }
        let mut needed: Vec<Vec<usize>> = vec![Vec::new(); self.tables.len()];
        note_columns(&query, &of_level, &mut needed);
        let wish = wish(&query, self.tables.len());
        let mut ordered = false;
        for (level, named) in self.tables.iter().enumerate() {
            let [filter, after] = mem::take(&mut of_level[level]);
            let asks = mem::take(&mut asks[level]);
            let columns = mem::take(&mut needed[level]);
            let (source, filter) = match &named.kind {
                Kind::Query(made, _) => {
                    let made = made.take().expect("a level is made once");
                    (Source::Query(made), filter)
                }
                Kind::Table(table, forced) => {
                    let chosen = access::choose_index(AccessQuestion {
                        table,
                        level,
                        conditions: &filter,
                        forced: *forced,
                        order: wish.as_ref().filter(|_| level == 0),
                        columns,
                        is_known: &|expr| is_known(expr, level, &query.queries),
                    });
                    ordered |= chosen.ordered;
                    let left = filter.into_iter().enumerate();
                    let left = left.filter(|(index, _)| !chosen.used.contains(index));
                    (Source::Table(chosen.access), left.map(|(_, expr)| expr).collect())
                }
            };
            let alias = named.alias.clone();
            query.levels.push(Level { source, alias, join: named.join, filter, asks, after });
        }
        settle_order(&mut query, ordered);
        Ok(query)
    }
}

impl NamedLevel {
    fn columns(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        match &self.kind {
            Kind::Table(table, _) => Box::new(table.columns.iter().map(|column| &*column.name)),
            Kind::Query(_, names) => Box::new(names.iter().map(String::as_str)),
        }
    }

    fn at(&self, level: usize, column: usize) -> Expr {
        match &self.kind {
            Kind::Table(table, _) => Expr::Column(level, column, table.columns[column].kind),
            Kind::Query(..) => Expr::Made(level, column),
        }
    }
}

fn aggregate(
    groups: Option<&Groups>,
    aggregate: Aggregate,
    distinct: Distinct,
    of: Expr,
) -> Result<Expr> {
    let Some(groups) = groups else {
        return Err(SqlError::Unknown("an aggregate of what is not grouped yet".to_owned()));
    };
    let mut calls = groups.calls.borrow_mut();
    let call = Call { aggregate, distinct, of };
    let known = calls.iter().position(|known| *known == call);
    Ok(Expr::Aggregate(known.unwrap_or_else(|| {
        calls.push(call);
        calls.len() - 1
    })))
}

/// What has no parts is compared with each end by itself, so that an index can take the ends.
fn between(of: Box<Expr>, low: Box<Expr>, high: Box<Expr>) -> Expr {
    let is_small = matches!(
        *of,
        Expr::Constant(_) | Expr::Param(_) | Expr::Column(..) | Expr::Made(..) | Expr::Outer(_)
    );
    if !is_small {
        return Expr::Between(of, low, high);
    }
    let low = Expr::Binary(Operator::GreaterEqual, of.clone(), low);
    let high = Expr::Binary(Operator::LessEqual, of, high);
    Expr::Binary(Operator::And, Box::new(low), Box::new(high))
}

/// What AND ties together, part by part.
fn conjunction(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Binary(Operator::And, left, right) => {
            let mut all = conjunction(*left);
            all.extend(conjunction(*right));
            all
        }
        other => vec![other],
    }
}

fn has_aggregate(written: &Written) -> bool {
    match written {
        Written::Aggregate(..) | Written::CountAll => true,
        Written::Negative(of)
        | Written::Not(of)
        | Written::IsNull(of)
        | Written::InQuery(of, _) => has_aggregate(of),
        Written::Binary(_, left, right) | Written::Like(left, right) => {
            has_aggregate(left) || has_aggregate(right)
        }
        Written::Between(of, low, high) => [of, low, high].into_iter().any(|it| has_aggregate(it)),
        Written::In(of, list) => has_aggregate(of) || list.iter().any(has_aggregate),
        Written::Call(_, arguments) => arguments.iter().any(has_aggregate),
        Written::Null
        | Written::Int(_)
        | Written::Decimal(..)
        | Written::Text(_)
        | Written::Param(_)
        | Written::Column(..)
        | Written::Query(_)
        | Written::Variable(_)
        | Written::Now => false,
    }
}

/// The last level that an expression refers to, by itself or in a sub-query.
fn last_level(expr: &Expr, queries: &[SubQuery]) -> Option<usize> {
    let mut last = None;
    expr.visit_parts(&mut |part| match part {
        Expr::Column(level, ..) | Expr::Made(level, _) => last = last.max(Some(*level)),
        Expr::Query(query) | Expr::InQuery(_, query) => {
            if let Some(ask) = queries.get(*query) {
                let levels = ask.outer.iter().filter_map(|outer| last_level(outer, queries));
                last = last.max(levels.max());
            }
        }
        _ => {}
    });
    last
}

/// Whether an expression has a sub-query in it that is asked for each row.
fn asks_rows(expr: &Expr, queries: &[SubQuery]) -> bool {
    let mut asks = false;
    expr.visit_parts(&mut |part| {
        if let Expr::Query(query) | Expr::InQuery(_, query) = part {
            asks |= queries[*query].outer.iter().any(|outer| last_level(outer, queries).is_some());
        }
    });
    asks
}

/// Whether an expression is known before there is a row of this level.
fn is_known(expr: &Expr, level: usize, queries: &[SubQuery]) -> bool {
    last_level(expr, queries).is_none_or(|last| last < level) && !asks_rows(expr, queries)
}

/// Notes which columns of each level are asked for.
fn note_columns(query: &Query, conditions: &[[Vec<Expr>; 2]], needed: &mut [Vec<usize>]) {
    let mut note = |expr: &Expr| {
        expr.visit_parts(&mut |part| {
            if let Expr::Column(level, column, _) = part
                && !needed[*level].contains(column)
            {
                needed[*level].push(*column);
            }
        });
    };
    query.items.iter().for_each(&mut note);
    conditions.iter().flatten().flatten().for_each(&mut note);
    query.queries.iter().flat_map(|ask| &ask.outer).for_each(&mut note);
    if let Some(grouping) = &query.grouping {
        grouping.by.iter().for_each(&mut note);
        grouping.aggregates.iter().for_each(|call| note(&call.of));
    }
    needed.iter_mut().for_each(|columns| columns.sort_unstable());
}

/// In which order rows of the first level had best come.
fn wish(query: &Query, levels: usize) -> Option<Wish> {
    let column = |expr: &Expr| match expr {
        Expr::Column(0, column, _) => Some(*column),
        _ => None,
    };
    if let Some(grouping) = &query.grouping {
        let [call] = &grouping.aggregates[..] else { return None };
        let direction = match call.aggregate {
            Aggregate::Min => Direction::Up,
            Aggregate::Max => Direction::Down,
            _ => return None,
        };
        if !grouping.by.is_empty() || levels > 1 {
            return None;
        }
        let columns = vec![column(&call.of)?];
        return Some(Wish { columns, direction, spares: Spares::AllButOne });
    }
    let &(_, direction) = query.order.first()?;
    let columns = query
        .order
        .iter()
        .map(|&(place, of)| (of == direction).then(|| column(&query.items[place])).flatten())
        .collect::<Option<_>>()?;
    let spares = if query.limit.is_some() { Spares::Rest } else { Spares::Sorting };
    Some(Wish { columns, direction, spares })
}

/// What follows from whether rows come in the order that was wished for.
fn settle_order(query: &mut Query, ordered: bool) {
    let is_plain = query.levels.iter().all(|level| level.after.is_empty());
    if let Some(grouping) = &mut query.grouping
        && ordered
        && is_plain
    {
        // As MySQL does it: where an index leads to the one row that is asked for.
        grouping.first = First::IsEnough;
    }
    let comes = ordered && query.grouping.is_none() && query.distinct == Distinct::No;
    if !query.order.is_empty() && !comes {
        query.sorted = SortNeed::Afterwards;
    }
    if !comes && query.grouping.as_ref().is_none_or(|grouping| grouping.first == First::All) {
        for level in &mut query.levels {
            if let Source::Table(access) = &mut level.source {
                access.direction = Direction::Up;
            }
        }
    }
}
