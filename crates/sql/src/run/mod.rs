//! Plans, executed.
//!
//! ```text
//!   level 0 ─ row ─► level 1 ─ row ─► … ─► output ─► sorted, told once ─► skipped, cut ─► sink
//!                                            └─► groups ─┘
//! ```
//!
//! Rows of the last level are looked at where they lie and told at once; rows of the levels before
//! it are copied, since the next level is read while they are needed. A question about one row
//! copies nothing and allocates nothing.

mod change;
mod group;
mod keys;
mod output;
mod read;
mod sink;
mod tape;

pub(crate) use change::{
    InsertResult, UpdatedRows, delete, evaluate, evaluate_constant, insert, insert_lines, update,
};
pub use sink::Sink;

use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_engine::session::{Intent, RunningStatement};

use crate::column::ResultColumn;
use crate::error::{Result, SqlError};
use crate::expr::{Answer, BoundRow, Frame, LevelRow, Params, all_hold};
use crate::operand::{self, Operand, OwnedOperand};
use crate::parse::{Join, Lock};
use crate::plan::{Access, Answers, Level, Query, Source, SubQuery};
use crate::watch::StatementWatch;
use output::Output;
use read::Look;
use sink::Flow;

/// What a statement is executed with.
#[derive(Clone, Copy)]
pub(crate) struct ExecutionInput<'a> {
    pub params: &'a dyn Params,
    /// Microseconds since 1970; 0 if the statement does not ask.
    pub now: i64,
    pub watch: &'a StatementWatch<'a>,
}

impl<'a> ExecutionInput<'a> {
    /// What expressions are evaluated in where there are no rows.
    fn frame(self) -> Frame<'a> {
        Frame {
            params: self.params,
            now: self.now,
            watch: self.watch,
            outer: &[],
            answers: &[],
            rows: None,
            group: &[],
            aggregates: &[],
        }
    }
}

/// Answers a question; returns how many rows were told.
pub(crate) fn select(
    statement: &mut RunningStatement<'_>,
    query: &Query,
    given: ExecutionInput<'_>,
    sink: &mut dyn Sink,
) -> Result<u64> {
    answer(statement, query, given, &[], sink)
}

fn answer(
    statement: &mut RunningStatement<'_>,
    query: &Query,
    given: ExecutionInput<'_>,
    outer: &[OwnedOperand],
    sink: &mut dyn Sink,
) -> Result<u64> {
    let mut walk = Walk::new(statement, query, given, outer);
    walk.ask_once()?;
    let frame = walk.ground.frame(None);
    let has_rows = all_hold(&query.filter, &frame)?;
    let mut output = Output::new(query, &frame, sink)?;
    if has_rows && output.rows_wanted() == Flow::More {
        walk.level(0, None, &mut |frame| output.add_row(frame))?;
    }
    output.finish(&walk.ground.frame(None))
}

/// Takes a row that all levels agree on.
type Take<'t> = &'t mut dyn FnMut(&Frame<'_>) -> Result<Flow>;

/// The levels of one query, while they are walked through.
struct Walk<'w, 's, 'e> {
    statement: &'s mut RunningStatement<'e>,
    ground: Ground<'w>,
    /// Rows of levels that are queries, once they were asked for.
    made: Vec<Option<Vec<Vec<OwnedOperand>>>>,
    /// Bytes that are kept of the answers of sub-queries.
    kept: Vec<usize>,
}

/// What a query has beside the rows of its levels.
struct Ground<'w> {
    query: &'w Query,
    given: ExecutionInput<'w>,
    outer: &'w [OwnedOperand],
    answers: Vec<Answer>,
}

/// A level, and the rows of those before it.
#[derive(Clone, Copy)]
struct Here<'a> {
    number: usize,
    level: &'a Level,
    before: Option<&'a BoundRow<'a>>,
}

impl Ground<'_> {
    fn frame<'a>(&'a self, rows: Option<&'a BoundRow<'a>>) -> Frame<'a> {
        Frame { outer: self.outer, answers: &self.answers, rows, ..self.given.frame() }
    }
}

impl<'a> Here<'a> {
    /// The level at one of its rows.
    fn at(self, row: LevelRow<'a>) -> BoundRow<'a> {
        BoundRow { level: self.number, row, before: self.before }
    }
}

impl<'w, 's, 'e> Walk<'w, 's, 'e> {
    fn new(
        statement: &'s mut RunningStatement<'e>,
        query: &'w Query,
        given: ExecutionInput<'w>,
        outer: &'w [OwnedOperand],
    ) -> Walk<'w, 's, 'e> {
        let ground = Ground { query, given, outer, answers: Vec::new() };
        Walk { statement, ground, made: Vec::new(), kept: vec![0; query.queries.len()] }
    }

    /// Asks the sub-queries that are the same for all rows.
    fn ask_once(&mut self) -> Result<()> {
        let query = self.ground.query;
        for (index, sub) in query.queries.iter().enumerate() {
            self.ground.answers.push(Answer::Value(Operand::Null));
            if !query.levels.iter().any(|level| level.asks.contains(&index)) {
                self.ask(index, sub, None)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, index: usize, sub: &SubQuery, rows: Option<&BoundRow<'_>>) -> Result<()> {
        let frame = self.ground.frame(rows);
        let outer = sub.outer.iter().map(|expr| Ok(expr.value(&frame)?.into_owned()));
        let outer: Vec<OwnedOperand> = outer.collect::<Result<_>>()?;
        // Its former answer makes room for this one.
        self.ground.given.watch.release_bytes(std::mem::take(&mut self.kept[index]));
        self.ground.answers[index] = Answer::Value(Operand::Null);
        let (rows, bytes) = collected(self.statement, &sub.query, self.ground.given, &outer)?;
        self.kept[index] = bytes;
        let mut values: Vec<OwnedOperand> = rows.into_iter().flatten().collect();
        self.ground.answers[index] = match sub.answers {
            Answers::OneValue if values.len() > 1 => {
                return Err(SqlError::Value(
                    "a query in an expression has several rows".to_owned(),
                ));
            }
            Answers::OneValue => Answer::Value(values.pop().unwrap_or(Operand::Null)),
            Answers::Set => {
                values.sort_by(operand::exact_order);
                values.dedup_by(|later, first| operand::exact_order(later, first).is_eq());
                Answer::Set(values)
            }
        };
        Ok(())
    }

    fn level(
        &mut self,
        number: usize,
        before: Option<&BoundRow<'_>>,
        take: Take<'_>,
    ) -> Result<Flow> {
        let levels = &self.ground.query.levels;
        let Some(level) = levels.get(number) else { return take(&self.ground.frame(before)) };
        let here = Here { number, level, before };
        match &level.source {
            Source::Table(access) if is_simple(level) && number + 1 == levels.len() => {
                self.last(here, access, take)
            }
            Source::Table(access) => self.copied(here, access, take),
            Source::Query(inner) => self.made(here, inner, take),
        }
    }

    /// The last level: rows are looked at where they lie.
    fn last(&mut self, here: Here<'_>, access: &Access, take: Take<'_>) -> Result<Flow> {
        let Walk { statement, ground, .. } = self;
        let frame = ground.frame(here.before);
        read::read(statement, access, intent(ground.query), &frame, &mut |_, row| {
            let bound = here.at(LevelRow::Stored(row));
            let frame = frame.with_row(&bound);
            if !all_hold(&here.level.filter, &frame)? {
                return Ok(Look::PassedOver);
            }
            Ok(match take(&frame)? {
                Flow::More => Look::Taken,
                Flow::Enough => Look::TakenLast,
            })
        })
    }

    /// Another level: rows are copied, then the next level is read for each.
    fn copied(&mut self, here: Here<'_>, access: &Access, take: Take<'_>) -> Result<Flow> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let Walk { statement, ground, .. } = self;
        let frame = ground.frame(here.before);
        read::read(statement, access, intent(ground.query), &frame, &mut |_, row| {
            let bound = here.at(LevelRow::Stored(row));
            if !all_hold(&here.level.filter, &frame.with_row(&bound))? {
                return Ok(Look::PassedOver);
            }
            frame.watch.keep_bytes(row.bytes().len() + size_of::<usize>())?;
            bytes.extend_from_slice(row.bytes());
            ends.push(bytes.len());
            Ok(Look::Taken)
        })?;
        let kept = bytes.len() + size_of_val(&*ends);
        let mut start = 0;
        for end in &ends {
            let row = access.table.handle.layout().view_row(&bytes[start..*end]);
            start = *end;
            if self.on(here, LevelRow::Stored(row), take)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        self.ground.given.watch.release_bytes(kept);
        self.missing(here, ends.is_empty(), take)
    }

    /// A level of a query in the place of a table, which is asked once.
    fn made(&mut self, here: Here<'_>, inner: &Query, take: Take<'_>) -> Result<Flow> {
        self.made.resize(self.ground.query.levels.len(), None);
        let made = match self.made[here.number].take() {
            Some(made) => made,
            None => {
                let (mut rows, _) = collected(self.statement, inner, self.ground.given, &[])?;
                if inner.is_materialized() {
                    rows.iter_mut().flatten().for_each(operand::keep_told_digits);
                }
                rows
            }
        };
        let mut is_alone = true;
        let mut flow = Flow::More;
        for row in &made {
            self.ground.given.watch.pass_row()?;
            let row = LevelRow::Made(row);
            if !all_hold(&here.level.filter, &self.ground.frame(Some(&here.at(row))))? {
                continue;
            }
            is_alone = false;
            flow = self.on(here, row, take)?;
            if flow == Flow::Enough {
                break;
            }
        }
        self.made[here.number] = Some(made);
        match flow {
            Flow::Enough => Ok(flow),
            Flow::More => self.missing(here, is_alone, take),
        }
    }

    /// The left side of a LEFT JOIN that found no right side.
    fn missing(&mut self, here: Here<'_>, is_alone: bool, take: Take<'_>) -> Result<Flow> {
        if here.level.join != Join::Left || !is_alone {
            return Ok(Flow::More);
        }
        self.on(here, LevelRow::Missing, take)
    }

    /// Goes on behind a row of this level, if it is one that counts.
    fn on(&mut self, here: Here<'_>, row: LevelRow<'_>, take: Take<'_>) -> Result<Flow> {
        let bound = here.at(row);
        for &ask in &here.level.asks {
            self.ask(ask, &self.ground.query.queries[ask], Some(&bound))?;
        }
        match all_hold(&here.level.after, &self.ground.frame(Some(&bound)))? {
            true => self.level(here.number + 1, Some(&bound), take),
            false => Ok(Flow::More),
        }
    }
}

fn intent(query: &Query) -> Intent {
    match query.lock {
        Lock::None => Intent::Read,
        Lock::Share => Intent::Share,
        Lock::Update => Intent::Update,
    }
}

/// Whether a row of this level counts as soon as it fulfils its filter.
fn is_simple(level: &Level) -> bool {
    level.join == Join::Inner && level.asks.is_empty() && level.after.is_empty()
}

/// All rows of a query, and how many bytes are kept of them; what it kept besides is kept no more.
fn collected(
    statement: &mut RunningStatement<'_>,
    query: &Query,
    given: ExecutionInput<'_>,
    outer: &[OwnedOperand],
) -> Result<(Vec<Vec<OwnedOperand>>, usize)> {
    let watch = given.watch;
    let before = watch.kept_bytes();
    let mut collector =
        RowCollector { watch, rows: Vec::new(), row: Vec::new(), bytes: 0, refused: None };
    answer(statement, query, given, outer, &mut collector)?;
    if let Some(refused) = collector.refused {
        return Err(refused);
    }
    watch.release_all_but(before + collector.bytes as u64);
    Ok((collector.rows, collector.bytes))
}

/// Rows that are kept.
struct RowCollector<'a> {
    watch: &'a StatementWatch<'a>,
    rows: Vec<Vec<OwnedOperand>>,
    row: Vec<OwnedOperand>,
    bytes: usize,
    /// There is no room for more.
    refused: Option<SqlError>,
}

impl Sink for RowCollector<'_> {
    fn begin_rows(&mut self, _columns: &Arc<[ResultColumn]>) {}

    fn value(&mut self, value: &Operand<'_>) {
        let text = if let Operand::Text(text) = value { text.len() } else { 0 };
        let bytes = size_of::<OwnedOperand>() + text;
        match self.watch.keep_bytes(bytes) {
            Ok(()) => self.row.push(value.as_ref().into_owned()),
            Err(refused) => self.refused = Some(refused),
        }
        self.bytes += bytes;
    }

    fn end_row(&mut self) -> ControlFlow<()> {
        self.rows.push(std::mem::take(&mut self.row));
        if self.refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
