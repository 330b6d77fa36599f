//! What the values of an expression are, as far as that is known before there are any.
//!
//! Clients are told it with the names of columns. Where it is not sure it is not told: values then
//! go as texts, which every client takes.

use super::{Query, Source};
use crate::column::{ColumnKind, ResultColumn};
use crate::expr::Expr;
use crate::operand::{DIVISION_DIGITS, Operand, told_together};
use crate::parse::{Aggregate, Function, Operator};

/// The columns of an answer.
pub(super) fn columns(query: &Query) -> Vec<ResultColumn> {
    let told = query.names.iter().zip(&query.items);
    told.map(|(name, item)| ResultColumn { name: name.clone(), kind: kind(item, query) }).collect()
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
        Expr::Negative(of) => match kind(of, query) {
            number @ (ColumnKind::Int | ColumnKind::Decimal(_)) => number,
            _ => ColumnKind::Any,
        },
        Expr::Not(_)
        | Expr::IsNull(_)
        | Expr::Between(..)
        | Expr::In(..)
        | Expr::InQuery(..)
        | Expr::Like(..) => ColumnKind::Int,
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
    if is_null(expr) { ColumnKind::Int } else { kind(expr, query) }
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
        Expr::AtScale(_, scale) => ColumnKind::Decimal(*scale),
        Expr::Negative(of) => return known_scale(of),
        Expr::Binary(operator, left, right) => {
            let [left, right] = [left, right].map(|of| {
                let scale = if is_null(of) { Some(0) } else { known_scale(of) };
                scale.map_or(ColumnKind::Any, ColumnKind::Decimal)
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
        Operand::Int(_) => ColumnKind::Int,
        Operand::Decimal(_, scale) => ColumnKind::Decimal(*scale),
        Operand::Quotient(_, digits) => ColumnKind::Decimal(digits.told),
        Operand::Text(text) => ColumnKind::Text(text.len() as u32),
        Operand::Timestamp(_, digits) => ColumnKind::Timestamp(*digits),
        Operand::Date(_) => ColumnKind::Date,
    }
}

/// Sums of whole numbers are decimals, since they may outgrow 64 bits.
fn aggregated(aggregate: Aggregate, of: ColumnKind) -> ColumnKind {
    let scale = match of {
        ColumnKind::Int => 0,
        ColumnKind::Decimal(scale) => scale,
        _ => return if aggregate == Aggregate::Count { ColumnKind::Int } else { plain(of) },
    };
    match aggregate {
        Aggregate::Count => ColumnKind::Int,
        Aggregate::Sum => ColumnKind::Decimal(scale),
        Aggregate::Average => ColumnKind::Decimal(told_together(scale, DIVISION_DIGITS)),
        Aggregate::Min | Aggregate::Max => of,
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
    let is_whole = left == ColumnKind::Int && right == ColumnKind::Int;
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
        ) => ColumnKind::Int,
        (_, None) => ColumnKind::Any,
        (Operator::Divide, Some((left, _))) => {
            ColumnKind::Decimal(told_together(left, DIVISION_DIGITS))
        }
        // They may outgrow 64 bits, which a column of whole numbers has no room for.
        (_, Some(_)) if is_whole => ColumnKind::Decimal(0),
        (Operator::Multiply, Some((left, right))) => {
            ColumnKind::Decimal(told_together(left, right))
        }
        (_, Some((left, right))) => ColumnKind::Decimal(left.max(right)),
    }
}

/// What holds values of both kinds.
fn common_kind(left: ColumnKind, right: ColumnKind) -> ColumnKind {
    match (left, right, scale(left), scale(right)) {
        _ if left == right => left,
        (_, _, Some(left), Some(right)) => ColumnKind::Decimal(left.max(right)),
        (ColumnKind::Text(left), ColumnKind::Text(right), ..) => ColumnKind::Text(left.max(right)),
        (ColumnKind::Timestamp(left), ColumnKind::Timestamp(right), ..) => {
            ColumnKind::Timestamp(left.max(right))
        }
        _ => ColumnKind::Any,
    }
}

fn scale(kind: ColumnKind) -> Option<u8> {
    match kind {
        ColumnKind::Int => Some(0),
        ColumnKind::Decimal(scale) => Some(scale),
        _ => None,
    }
}

fn called(function: Function, arguments: &[Expr], query: &Query) -> ColumnKind {
    match function {
        Function::Length | Function::Sleep => ColumnKind::Int,
        Function::Abs | Function::Coalesce => {
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
