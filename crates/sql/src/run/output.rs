//! From rows that all levels agree on to those that are told.

use super::group::Groups;
use super::sink::{Flow, Sink};
use super::tape::Tape;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Frame, all_hold};
use crate::parse::Distinct;
use crate::plan::{First, Query, SortNeed};

/// What becomes of the rows of one query.
pub(super) struct Output<'q, 'k> {
    query: &'q Query,
    groups: Option<Groups<'q>>,
    told: RowOutput<'q, 'k>,
}

/// Rows on their way to the sink.
struct RowOutput<'q, 'k> {
    query: &'q Query,
    sink: &'k mut dyn Sink,
    /// Rows that are put in order first, or told once.
    tape: Option<Tape>,
    limits: Limits,
    count: u64,
}

/// How many rows are passed over, and how many are told at most.
pub(super) struct Limits {
    pub skip: u64,
    pub left: u64,
}

impl<'q, 'k> Output<'q, 'k> {
    pub(super) fn new(
        query: &'q Query,
        frame: &Frame<'_>,
        sink: &'k mut dyn Sink,
    ) -> Result<Output<'q, 'k>> {
        let is_kept = query.sorted == SortNeed::Afterwards || query.distinct == Distinct::Yes;
        Ok(Output {
            query,
            groups: query.grouping.as_ref().map(Groups::new),
            told: RowOutput {
                query,
                sink,
                tape: is_kept.then(Tape::default),
                limits: Limits::from_query(query, frame)?,
                count: 0,
            },
        })
    }

    /// Whether any row can be told.
    pub(super) fn rows_wanted(&self) -> Flow {
        if self.told.limits.left == 0 { Flow::Enough } else { Flow::More }
    }

    /// Takes a row.
    pub(super) fn add_row(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        let Some(groups) = &mut self.groups else { return self.told.take(frame) };
        groups.add_row(frame)?;
        let grouping = self.query.grouping.as_ref();
        let is_enough = grouping.is_some_and(|grouping| grouping.first == First::IsEnough);
        Ok(if is_enough && groups.has_any() { Flow::Enough } else { Flow::More })
    }

    /// Tells what was kept; returns how many rows were told in all.
    pub(super) fn finish(mut self, frame: &Frame<'_>) -> Result<u64> {
        if let (Some(groups), Some(grouping)) = (self.groups.take(), &self.query.grouping) {
            let told = &mut self.told;
            groups.for_each_group(|group, aggregates| {
                let frame = Frame { group, aggregates, ..*frame };
                if !all_hold(&grouping.having, &frame)? {
                    return Ok(true);
                }
                Ok(told.take(&frame)? == Flow::More)
            })?;
        }
        self.told.finish()
    }
}

impl RowOutput<'_, '_> {
    fn take(&mut self, frame: &Frame<'_>) -> Result<Flow> {
        if let Some(tape) = &mut self.tape {
            tape.begin_row();
            let before = tape.bytes();
            for item in &self.query.items {
                tape.push(&item.value(frame)?);
            }
            frame.watch.keep_bytes(tape.bytes() - before)?;
            return Ok(Flow::More);
        }
        if self.limits.left == 0 {
            return Ok(Flow::Enough);
        }
        if self.limits.skip > 0 {
            self.limits.skip -= 1;
            return Ok(Flow::More);
        }
        for item in &self.query.items[..self.query.names.len()] {
            self.sink.value(&item.value(frame)?);
        }
        Ok(self.end_row())
    }

    fn end_row(&mut self) -> Flow {
        let is_enough = self.sink.end_row().is_break();
        self.count += 1;
        self.limits.left = if is_enough { 0 } else { self.limits.left - 1 };
        if self.limits.left == 0 { Flow::Enough } else { Flow::More }
    }

    fn finish(mut self) -> Result<u64> {
        let Some(mut tape) = self.tape.take() else { return Ok(self.count) };
        let (order, width) = (&self.query.order, self.query.names.len());
        if self.query.distinct == Distinct::Yes {
            tape.keep_distinct(order, width);
        } else {
            tape.sort(order);
        }
        let first = usize::try_from(self.limits.skip).unwrap_or(usize::MAX);
        for row in first..tape.len() {
            if self.limits.left == 0 {
                break;
            }
            tape.row_values(row).take(width).for_each(|value| self.sink.value(&value));
            self.end_row();
        }
        Ok(self.count)
    }
}

impl Limits {
    pub(super) fn from_query(query: &Query, frame: &Frame<'_>) -> Result<Limits> {
        Ok(Limits {
            skip: number(&query.offset, frame)?.unwrap_or(0),
            left: number(&query.limit, frame)?.unwrap_or(u64::MAX),
        })
    }
}

/// LIMIT or OFFSET.
fn number(expr: &Option<Expr>, frame: &Frame<'_>) -> Result<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    let (units, scale) = expr.value(frame)?.units_and_scale()?;
    match u64::try_from(units) {
        Ok(number) if scale == 0 => Ok(Some(number)),
        _ => Err(SqlError::Value("LIMIT takes a whole number that is not negative".to_owned())),
    }
}
