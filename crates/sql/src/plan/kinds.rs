//! What the values of an expression are, as far as that is known before there are any.
//!
//! Clients are told it with the names of columns. Where it is not sure it is not told: values then
//! go as texts, which every client takes.

use super::{Level, Query, Source};
use crate::column::{ColumnKind, ColumnOrigin, ResultColumn};
use crate::expr::Expr;
use crate::operand::{DIVISION_DIGITS, Operand, told_together};
use crate::parse::{Aggregate, Function, Join, Operator};

/// The columns of an answer.
pub(super) fn columns(query: &Query) -> Vec<ResultColumn> {
    let told = query.names.iter().zip(&query.items);
    told.map(|(name, item)| ResultColumn {
        name: name.clone(),
        kind: kind(item, query),
        is_required: is_required(item, query),
        origin: origin(item, query),
    })
    .collect()
}

/// Whether an expression is never NULL, as far as clients are told it.
fn is_required(expr: &Expr, query: &Query) -> bool {
    match expr {
        Expr::Constant(value) => !value.is_null(),
        Expr::Column(level, column, _) => match &query.levels[*level] {
            Level { source: Source::Table(access), join: Join::Inner, .. } => {
                !access.table.columns[*column].nullable
            }
            _ => false,
        },
        Expr::Made(level, column) => match &query.levels[*level] {
            Level { source: Source::Query(inner), join: Join::Inner, .. } => {
                inner.columns[*column].is_required
            }
            _ => false,
        },
        Expr::Group(index) => {
            let grouping = query.grouping.as_ref();
            grouping.is_some_and(|grouping| is_required(&grouping.by[*index], query))
        }
        Expr::Aggregate(index) => {
            let grouping = query.grouping.as_ref();
            grouping.is_some_and(|all| all.aggregates[*index].aggregate == Aggregate::Count)
        }
        _ => false,
    }
}

/// The column of a table that an expression is.
fn origin(expr: &Expr, query: &Query) -> Option<ColumnOrigin> {
    match expr {
        Expr::Column(level, column, _) => match &query.levels[*level] {
            Level { source: Source::Table(access), alias, .. } => {
                Some(ColumnOrigin::of_table(&access.table.handle, alias, *column))
            }
            _ => None,
        },
        Expr::Made(level, column) => match &query.levels[*level] {
            Level { source: Source::Query(inner), alias, .. } => {
                let ResultColumn { name, origin, .. } = &inner.columns[*column];
                let origin = origin.as_ref()?;
                let table = if inner.is_materialized() { origin.of_copy() } else { origin.clone() };
                Some(ColumnOrigin { alias: alias.clone(), column: name.clone(), ..table })
            }
            _ => None,
        },
        Expr::Group(index) => origin(&query.grouping.as_ref()?.by[*index], query),
        _ => None,
    }
}

fn kind(expr: &Expr, query: &Query) -> ColumnKind {
    match expr {
        Expr::Constant(value) => of_value(value),
        Expr::Column(_, _, kind) => ColumnKind::from(*kind),
        Expr::Made(level, column) => match query.levels.get(*level).map(|level| &level.source) {
            Some(Source::Query(inner)) => inner.columns[*column].kind,
            _ => ColumnKind::Any,
        },
        Expr::Group(index) => match &query.grouping {
            Some(grouping) => kind(&grouping.by[*index], query),
            None => ColumnKind::Any,
        },
        Expr::Aggregate(index) => match &query.grouping {
            Some(grouping) => {
                let call = &grouping.aggregates[*index];
                aggregated(call.aggregate, kind(&call.of, query))
            }
            None => ColumnKind::Any,
        },
        Expr::Query(index) => match query.queries[*index].query.columns.first() {
            Some(column) => column.kind,
            None => ColumnKind::Any,
        },
        Expr::Negative(of) => unsized_kind(kind(of, query)),
        Expr::Not(_)
        | Expr::IsNull(_)
        | Expr::Between(..)
        | Expr::In(..)
        | Expr::InQuery(..)
        | Expr::Like(..) => ColumnKind::BIGINT,
        Expr::Binary(operator, left, right) => {
            combined(*operator, number_kind(left, query), number_kind(right, query))
        }
        Expr::Call(function, arguments) => called(*function, arguments, query),
        Expr::AtScale(of, _) => kind(of, query),
        Expr::Now => ColumnKind::Timestamp(0),
        Expr::Param(_) | Expr::Outer(_) => ColumnKind::Any,
    }
}

/// The kind of a number in a sum or a product, where NULL is a whole one.
fn number_kind(expr: &Expr, query: &Query) -> ColumnKind {
    if is_null(expr) { ColumnKind::BIGINT } else { kind(expr, query) }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(Operand::Null))
}

/// A call; where it gives one of several numbers, that has as many digits behind the point as any
/// of them, as far as that is known before there are rows.
pub(super) fn call_at_scale(function: Function, arguments: Vec<Expr>) -> Expr {
    let most = arguments.iter().filter_map(known_scale).max();
    let call = Expr::Call(function, arguments);
    match most {
        Some(scale) if function == Function::Coalesce && scale > 0 => {
            Expr::AtScale(Box::new(call), scale)
        }
        _ => call,
    }
}

/// The digits behind the point of a number, where the expression alone says it.
fn known_scale(expr: &Expr) -> Option<u8> {
    let kind = match expr {
        Expr::Constant(value) => of_value(value),
        Expr::Column(_, _, kind) => ColumnKind::from(*kind),
        Expr::AtScale(_, scale) => ColumnKind::of_scale(*scale),
        Expr::Negative(of) => return known_scale(of),
        Expr::Binary(operator, left, right) => {
            let [left, right] = [left, right].map(|of| {
                let scale = if is_null(of) { Some(0) } else { known_scale(of) };
                scale.map_or(ColumnKind::Any, ColumnKind::of_scale)
            });
            combined(*operator, left, right)
        }
        _ => return None,
    };
    scale(kind)
}

fn of_value(value: &Operand<'_>) -> ColumnKind {
    match value {
        Operand::Null => ColumnKind::Any,
        Operand::Int(_) => ColumnKind::BIGINT,
        Operand::Decimal(_, scale) => ColumnKind::of_scale(*scale),
        Operand::Quotient(_, digits) => ColumnKind::of_scale(digits.told),
        Operand::Text(text) => ColumnKind::Text(text.len() as u32),
        Operand::Timestamp(_, digits) => ColumnKind::Timestamp(*digits),
        Operand::Date(_) => ColumnKind::Date,
    }
}

/// Sums of whole numbers are decimals, since they may outgrow 64 bits.
fn aggregated(aggregate: Aggregate, of: ColumnKind) -> ColumnKind {
    match (aggregate, scale(of)) {
        (Aggregate::Count, _) => ColumnKind::BIGINT,
        (_, None) => plain(of),
        (Aggregate::Sum, Some(scale)) => ColumnKind::of_scale(scale),
        (Aggregate::Average, Some(scale)) => {
            ColumnKind::of_scale(told_together(scale, DIVISION_DIGITS))
        }
        (Aggregate::Min | Aggregate::Max, Some(_)) => of,
    }
}

/// The least of texts is a text, and the sum of texts is a number of a scale that is not known.
fn plain(of: ColumnKind) -> ColumnKind {
    match of {
        ColumnKind::Timestamp(_) | ColumnKind::Date => of,
        _ => ColumnKind::Any,
    }
}

fn combined(operator: Operator, left: ColumnKind, right: ColumnKind) -> ColumnKind {
    let scales = match (scale(left), scale(right)) {
        (Some(left), Some(right)) => Some((left, right)),
        _ => None,
    };
    let is_whole = left.is_whole() && right.is_whole();
    match (operator, scales) {
        (
            Operator::Or
            | Operator::And
            | Operator::Equal
            | Operator::Unequal
            | Operator::Less
            | Operator::LessEqual
            | Operator::Greater
            | Operator::GreaterEqual,
            _,
        ) => ColumnKind::BIGINT,
        (_, None) => ColumnKind::Any,
        (Operator::Divide, Some((left, _))) => {
            ColumnKind::of_scale(told_together(left, DIVISION_DIGITS))
        }
        // Where they outgrow 64 bits the answer is refused, as MySQL does it.
        (_, Some(_)) if is_whole => ColumnKind::BIGINT,
        (Operator::Multiply, Some((left, right))) => {
            ColumnKind::of_scale(told_together(left, right))
        }
        (_, Some((left, right))) => ColumnKind::of_scale(left.max(right)),
    }
}

/// The kind of a number whose sign is another than before: it may need the next byte.
fn unsized_kind(of: ColumnKind) -> ColumnKind {
    match of {
        ColumnKind::Int { .. } => ColumnKind::BIGINT,
        ColumnKind::Decimal { .. } => of,
        _ => ColumnKind::Any,
    }
}

/// What holds values of both kinds.
fn common_kind(left: ColumnKind, right: ColumnKind) -> ColumnKind {
    match (left, right, scale(left), scale(right)) {
        _ if left == right => left,
        _ if left.is_whole() && right.is_whole() => ColumnKind::BIGINT,
        (_, _, Some(left), Some(right)) => ColumnKind::of_scale(left.max(right)),
        (ColumnKind::Text(left), ColumnKind::Text(right), ..) => ColumnKind::Text(left.max(right)),
        (ColumnKind::Timestamp(left), ColumnKind::Timestamp(right), ..) => {
            ColumnKind::Timestamp(left.max(right))
        }
        _ => ColumnKind::Any,
    }
}

fn scale(kind: ColumnKind) -> Option<u8> {
    match kind {
        ColumnKind::Int { .. } => Some(0),
        ColumnKind::Decimal { scale, .. } => Some(scale),
        _ => None,
    }
}

fn called(function: Function, arguments: &[Expr], query: &Query) -> ColumnKind {
    match function {
        Function::Length | Function::Sleep => ColumnKind::BIGINT,
        Function::Abs => unsized_kind(number_kind(&arguments[0], query)),
        Function::Coalesce => {
            // NULL is of the kind of whatever it stands beside.
            let others = arguments.iter().filter(|argument| !is_null(argument));
            others
                .map(|argument| kind(argument, query))
                .reduce(common_kind)
                .unwrap_or(ColumnKind::Any)
        }
        Function::Concat | Function::Lower | Function::Right | Function::Upper => ColumnKind::Any,
    }
}
