//! Which index a level reads, and which part of it.
//!
//! ```text
//!   PRIMARY (ol_w_id, ol_d_id, ol_o_id, ol_number)
//!            =        =        ≥ <                      equal ×2, then bounds
//! ```
//!
//! For each index the conditions are matched with its columns from the left: equalities, lists
//! among them, as long as there are any, then bounds of the column after them. The index is taken
//! that has, by turns:
//!
//! 1. all columns of a unique key equal, for that is one row,
//! 2. the most columns equal,
//! 3. bounds on the next one,
//! 4. an order that spares work,
//! 5. all columns that are asked for, so that rows need not be looked up,
//! 6. the first place among the table's indexes; the primary key is the first of all.
//!
//! A statement that names its index gets it. There are no statistics, so the choice is the same on
//! empty tables and on full ones.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{PRIMARY, Table};
use crate::expr::Expr;
use crate::parse::{Direction, Operator};

/// A part of an index.
#[derive(Debug)]
pub(crate) struct Access {
    pub table: Arc<Table>,
    pub index: usize,
    /// What the first columns are equal to.
    pub equal: Vec<Equal>,
    pub low: Option<RangeEnd>,
    pub high: Option<RangeEnd>,
    pub direction: Direction,
    /// Columns that are asked for, in order.
    pub columns: Vec<usize>,
}

impl Access {
    /// Whether a secondary index has all columns that are asked for.
    pub(crate) fn is_covered(&self) -> bool {
        self.index != PRIMARY
            && self.columns.iter().all(|&column| self.table.index_covers(self.index, column))
    }
}

/// What a column is equal to.
#[derive(Clone, Debug)]
pub(crate) enum Equal {
    One(Expr),
    AnyOf(Vec<Expr>),
    /// Any value of the answer of a sub-query.
    Answer(usize),
}

/// An end of a range.
#[derive(Clone, Debug)]
pub(crate) struct RangeEnd {
    pub by: Expr,
    pub end: End,
}

/// Whether the bound itself is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Inside,
    Outside,
}

/// What the choice is made from.
pub(super) struct AccessQuestion<'a> {
    pub table: &'a Arc<Table>,
    pub level: usize,
    /// Conditions that may decide which rows are looked at.
    pub conditions: &'a [Expr],
    /// An index that the statement names.
    pub forced: Option<usize>,
    /// In which order rows are to come, if that matters.
    pub order: Option<&'a Wish>,
    /// Columns that are asked for.
    pub columns: Vec<usize>,
    /// Whether an expression is known before a row of this level is.
    pub is_known: &'a dyn Fn(&Expr) -> bool,
}

/// An order that spares work.
pub(super) struct Wish {
    pub columns: Vec<usize>,
    pub direction: Direction,
    pub spares: Spares,
}

/// What rows in order spare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spares {
    /// Sorting: worth an index only if rows need not be looked up for it.
    Sorting,
    /// All rows behind the last one that is asked for.
    Rest,
    /// All rows but one, if no other condition is left.
    AllButOne,
}

/// What was chosen, and which conditions it has made good, by number.
pub(super) struct AccessChoice {
    pub access: Access,
    pub used: Vec<usize>,
    pub ordered: bool,
}

/// Chooses an index.
pub(super) fn choose_index(wanted: AccessQuestion<'_>) -> AccessChoice {
    let all = 0..wanted.table.indexes.len();
    let tried = all.filter(|index| wanted.forced.is_none_or(|forced| forced == *index));
    let best = tried.map(|index| Try::new(&wanted, index)).max_by_key(Try::rank);
    let best = best.expect("a table has a primary key, if only a hidden one");
    let ordered = best.ordered;
    let direction = match wanted.order {
        Some(wish) if ordered => wish.direction,
        _ => Direction::Up,
    };
    AccessChoice {
        access: Access {
            table: wanted.table.clone(),
            index: best.index,
            equal: best.equal,
            low: best.low,
            high: best.high,
            direction,
            columns: wanted.columns,
        },
        used: best.used,
        ordered,
    }
}

/// An index, and what the conditions make of it.
struct Try {
    index: usize,
    equal: Vec<Equal>,
    low: Option<RangeEnd>,
    high: Option<RangeEnd>,
    used: Vec<usize>,
    is_one_row: bool,
    covers: bool,
    ordered: bool,
    is_order_worth_it: bool,
}

impl Try {
    fn new(wanted: &AccessQuestion<'_>, number: usize) -> Try {
        let index = &wanted.table.indexes[number];
        let mut made = Try {
            index: number,
            equal: Vec::new(),
            low: None,
            high: None,
            used: Vec::new(),
            is_one_row: false,
            covers: wanted.columns.iter().all(|&column| wanted.table.index_covers(number, column)),
            ordered: false,
            is_order_worth_it: false,
        };
        for &column in &index.columns {
            let matched =
                wanted.conditions.iter().enumerate().find_map(|(condition, expr)| {
                    Some((condition, equality(wanted, column, expr)?))
                });
            let Some((condition, equal)) = matched else {
                made.take_bounds(wanted, column);
                break;
            };
            made.equal.push(equal);
            made.used.push(condition);
        }
        let columns = index.columns.len();
        made.is_one_row = index.unique && columns > 0 && made.equal.len() == columns;
        if let Some(wish) = wanted.order {
            let is_left = made.used.len() < wanted.conditions.len();
            let is_in_vain = wish.spares == Spares::AllButOne && is_left;
            made.ordered = !is_in_vain && made.is_ordered(wanted, &wish.columns);
            made.is_order_worth_it =
                made.ordered && (made.covers || wish.spares != Spares::Sorting);
        }
        made
    }

    fn take_bounds(&mut self, wanted: &AccessQuestion<'_>, column: usize) {
        for (condition, expr) in wanted.conditions.iter().enumerate() {
            let Some((operator, by)) = comparison(wanted, column, expr) else { continue };
            let (place, end) = match operator {
                Operator::Greater => (&mut self.low, End::Outside),
                Operator::GreaterEqual => (&mut self.low, End::Inside),
                Operator::Less => (&mut self.high, End::Outside),
                Operator::LessEqual => (&mut self.high, End::Inside),
                _ => continue,
            };
            // A second bound on the same side stays a condition.
            if place.is_none() {
                *place = Some(RangeEnd { by: by.clone(), end });
                self.used.push(condition);
            }
        }
    }

    /// Whether rows come in the order asked for: by the columns behind those that are equal to one
    /// value each. An index is followed by the primary key.
    fn is_ordered(&self, wanted: &AccessQuestion<'_>, order: &[usize]) -> bool {
        if self.is_one_row && self.equal.iter().all(|equal| matches!(equal, Equal::One(_))) {
            return true;
        }
        if self.equal.iter().any(|equal| !matches!(equal, Equal::One(_))) {
            return false;
        }
        let indexes = &wanted.table.indexes;
        let own = indexes[self.index].columns.iter();
        let behind = if self.index == PRIMARY { &[][..] } else { &indexes[PRIMARY].columns };
        let all: Vec<usize> = own.chain(behind).copied().collect();
        let fixed = &all[..self.equal.len()];
        let mut rest = all[self.equal.len()..].iter().filter(|column| !fixed.contains(*column));
        let mut open = order.iter().filter(|column| !fixed.contains(*column));
        open.all(|column| rest.next() == Some(column))
    }

    fn rank(&self) -> impl Ord + use<> {
        let bounds = usize::from(self.low.is_some()) + usize::from(self.high.is_some());
        let first = Reverse(self.index);
        (self.is_one_row, self.equal.len(), bounds, self.is_order_worth_it, self.covers, first)
    }
}

/// What the column is equal to by this condition, if it says so.
fn equality(wanted: &AccessQuestion<'_>, column: usize, condition: &Expr) -> Option<Equal> {
    let is_column = |expr: &Expr| is_column(wanted, column, expr);
    match condition {
        Expr::In(of, list) if is_column(of) && list.iter().all(wanted.is_known) => {
            Some(Equal::AnyOf(list.clone()))
        }
        Expr::InQuery(of, query) if is_column(of) && (wanted.is_known)(&Expr::Query(*query)) => {
            Some(Equal::Answer(*query))
        }
        _ => match comparison(wanted, column, condition)? {
            (Operator::Equal, by) => Some(Equal::One(by.clone())),
            _ => None,
        },
    }
}

/// How the column compares to something that is known, by this condition.
fn comparison<'e>(
    wanted: &AccessQuestion<'_>,
    column: usize,
    condition: &'e Expr,
) -> Option<(Operator, &'e Expr)> {
    let Expr::Binary(operator, left, right) = condition else { return None };
    if is_column(wanted, column, left) && (wanted.is_known)(right) {
        return Some((*operator, right));
    }
    if is_column(wanted, column, right) && (wanted.is_known)(left) {
        let turned = match operator {
            Operator::Less => Operator::Greater,
            Operator::LessEqual => Operator::GreaterEqual,
            Operator::Greater => Operator::Less,
            Operator::GreaterEqual => Operator::LessEqual,
            other => *other,
        };
        return Some((turned, left));
    }
    None
}

fn is_column(wanted: &AccessQuestion<'_>, column: usize, expr: &Expr) -> bool {
    matches!(expr, Expr::Column(level, found, _) if (*level, *found) == (wanted.level, column))
}
