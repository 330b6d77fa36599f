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
mod tape;

pub(crate) use change::{bulk, constant, delete, insert, update};

use dbdyno_engine::session::{Intent, Statement};

use crate::error::{Result, SqlError};
use crate::expr::{Answer, Bound, Frame, LevelRow, Params, all_hold};
use crate::operand::{self, Operand, Owned};
use crate::parse::{Join, Lock};
use crate::plan::{Access, Answers, Level, Query, Source, SubQuery};
use output::Output;
use read::Look;

/// Where the rows of an answer go.
pub trait Sink {
    /// Rows with these columns follow; none may.
    fn begin(&mut self, columns: &[String]);
    /// The next value of a row.
    fn value(&mut self, value: &Operand<'_>);
    /// The row has all its values.
    fn end_row(&mut self);
}

/// What a statement is executed with.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub params: &'a dyn Params,
    /// Microseconds since 1970; 0 if the statement does not ask.
    pub now: i64,
}

impl<'a> Given<'a> {
    /// What expressions are evaluated in where there are no rows.
    fn frame(self) -> Frame<'a> {
        Frame {
            params: self.params,
            now: self.now,
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
    statement: &mut Statement<'_>,
    query: &Query,
    given: Given<'_>,
    sink: &mut dyn Sink,
) -> Result<u64> {
    answer(statement, query, given, &[], sink)
}

/// Whether more rows are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    More,
    Enough,
}

fn answer(
    statement: &mut Statement<'_>,
    query: &Query,
    given: Given<'_>,
    outer: &[Owned],
    sink: &mut dyn Sink,
) -> Result<u64> {
    let mut walk = Walk::new(statement, query, given, outer);
    walk.ask_once()?;
    let frame = walk.frame(None);
    if !all_hold(&query.filter, &frame)? {
        return no_rows(&walk, sink);
    }
    let mut output = Output::new(query, &frame, sink)?;
    if output.flow() == Flow::More {
        walk.level(0, None, &mut |frame| output.take(frame))?;
    }
    output.finish(&walk.frame(None))
}

/// What a question without rows tells: aggregates of nothing.
fn no_rows(walk: &Walk<'_, '_, '_>, sink: &mut dyn Sink) -> Result<u64> {
    let frame = walk.frame(None);
    Output::new(walk.query, &frame, sink)?.finish(&frame)
}

/// Takes a row that all levels agree on.
type Take<'t> = &'t mut dyn FnMut(&Frame<'_>) -> Result<Flow>;

/// The levels of one query, while they are walked through.
struct Walk<'w, 's, 'e> {
    statement: &'s mut Statement<'e>,
    query: &'w Query,
    given: Given<'w>,
    outer: &'w [Owned],
    answers: Vec<Answer>,
    /// Rows of levels that are queries, once they were asked for.
    made: Vec<Option<Vec<Vec<Owned>>>>,
}

impl<'w, 's, 'e> Walk<'w, 's, 'e> {
    fn new(
        statement: &'s mut Statement<'e>,
        query: &'w Query,
        given: Given<'w>,
        outer: &'w [Owned],
    ) -> Walk<'w, 's, 'e> {
        Walk { statement, query, given, outer, answers: Vec::new(), made: Vec::new() }
    }

    fn frame<'a>(&'a self, rows: Option<&'a Bound<'a>>) -> Frame<'a> {
        Frame { outer: self.outer, answers: &self.answers, rows, ..self.given.frame() }
    }

    /// Asks the sub-queries that are the same for all rows.
    fn ask_once(&mut self) -> Result<()> {
        for (index, sub) in self.query.queries.iter().enumerate() {
            self.answers.push(Answer::Value(Operand::Null));
            if !self.query.levels.iter().any(|level| level.asks.contains(&index)) {
                self.ask(index, sub, None)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, index: usize, sub: &SubQuery, rows: Option<&Bound<'_>>) -> Result<()> {
        let frame = self.frame(rows);
        let outer = sub.outer.iter().map(|expr| Ok(expr.value(&frame)?.into_owned()));
        let outer: Vec<Owned> = outer.collect::<Result<_>>()?;
        let mut kept = Kept::default();
        answer(self.statement, &sub.query, self.given, &outer, &mut kept)?;
        let mut values: Vec<Owned> = kept.rows.into_iter().flatten().collect();
        self.answers[index] = match sub.answers {
            Answers::OneValue if values.len() > 1 => {
                return Err(SqlError::Value(
                    "a query in an expression has several rows".to_owned(),
                ));
            }
            Answers::OneValue => Answer::Value(values.pop().unwrap_or(Operand::Null)),
            Answers::Set => {
                values.sort_by(operand::order);
                values.dedup_by(|later, first| operand::order(later, first).is_eq());
                Answer::Set(values)
            }
        };
        Ok(())
    }

    fn level(&mut self, level: usize, rows: Option<&Bound<'_>>, take: Take<'_>) -> Result<Flow> {
        let query = self.query;
        let Some(at) = query.levels.get(level) else { return take(&self.frame(rows)) };
        match &at.source {
            Source::Table(access) if is_simple(at) && level + 1 == query.levels.len() => {
                self.last(level, at, access, rows, take)
            }
            Source::Table(access) => self.copied(level, at, access, rows, take),
            Source::Query(inner) => self.made(level, at, inner, rows, take),
        }
    }

    /// The last level: rows are looked at where they lie.
    fn last(
        &mut self,
        level: usize,
        at: &Level,
        access: &Access,
        rows: Option<&Bound<'_>>,
        take: Take<'_>,
    ) -> Result<Flow> {
        let (outer, answers) = (self.outer, &self.answers[..]);
        let frame = Frame { outer, answers, rows, ..self.given.frame() };
        read::read(self.statement, access, intent(self.query), &frame, &mut |_, row| {
            let bound = Bound { level, row: LevelRow::Stored(row), before: rows };
            let frame = frame.with(&bound);
            if !all_hold(&at.filter, &frame)? {
                return Ok(Look::PassedOver);
            }
            Ok(match take(&frame)? {
                Flow::More => Look::Taken,
                Flow::Enough => Look::TakenLast,
            })
        })
    }

    /// Another level: rows are copied, then the next level is read for each.
    fn copied(
        &mut self,
        level: usize,
        at: &Level,
        access: &Access,
        rows: Option<&Bound<'_>>,
        take: Take<'_>,
    ) -> Result<Flow> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let (outer, answers) = (self.outer, &self.answers[..]);
        let frame = Frame { outer, answers, rows, ..self.given.frame() };
        read::read(self.statement, access, intent(self.query), &frame, &mut |_, row| {
            let bound = Bound { level, row: LevelRow::Stored(row), before: rows };
            if !all_hold(&at.filter, &frame.with(&bound))? {
                return Ok(Look::PassedOver);
            }
            bytes.extend_from_slice(row.bytes());
            ends.push(bytes.len());
            Ok(Look::Taken)
        })?;
        let mut start = 0;
        for end in &ends {
            let row = access.table.handle.layout().row(&bytes[start..*end]);
            start = *end;
            let bound = Bound { level, row: LevelRow::Stored(row), before: rows };
            if self.on(level, at, &bound, take)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        self.missing(level, at, ends.is_empty(), rows, take)
    }

    /// A level of a query in the place of a table, which is asked once.
    fn made(
        &mut self,
        level: usize,
        at: &Level,
        inner: &Query,
        rows: Option<&Bound<'_>>,
        take: Take<'_>,
    ) -> Result<Flow> {
        self.made.resize(self.query.levels.len(), None);
        let made = match self.made[level].take() {
            Some(made) => made,
            None => {
                let mut kept = Kept::default();
                answer(self.statement, inner, self.given, &[], &mut kept)?;
                kept.rows
            }
        };
        let mut is_alone = true;
        let mut flow = Flow::More;
        for row in &made {
            let bound = Bound { level, row: LevelRow::Made(row), before: rows };
            if !all_hold(&at.filter, &self.frame(Some(&bound)))? {
                continue;
            }
            is_alone = false;
            flow = self.on(level, at, &bound, take)?;
            if flow == Flow::Enough {
                break;
            }
        }
        self.made[level] = Some(made);
        match flow {
            Flow::Enough => Ok(flow),
            Flow::More => self.missing(level, at, is_alone, rows, take),
        }
    }

    /// The left side of a LEFT JOIN that found no right side.
    fn missing(
        &mut self,
        level: usize,
        at: &Level,
        is_alone: bool,
        rows: Option<&Bound<'_>>,
        take: Take<'_>,
    ) -> Result<Flow> {
        if at.join != Join::Left || !is_alone {
            return Ok(Flow::More);
        }
        self.on(level, at, &Bound { level, row: LevelRow::Missing, before: rows }, take)
    }

    /// Goes on behind a row of this level, if it is one that counts.
    fn on(&mut self, level: usize, at: &Level, bound: &Bound<'_>, take: Take<'_>) -> Result<Flow> {
        for &ask in &at.asks {
            self.ask(ask, &self.query.queries[ask], Some(bound))?;
        }
        match all_hold(&at.after, &self.frame(Some(bound)))? {
            true => self.level(level + 1, Some(bound), take),
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

/// Rows that are kept.
#[derive(Default)]
struct Kept {
    rows: Vec<Vec<Owned>>,
    row: Vec<Owned>,
}

impl Sink for Kept {
    fn begin(&mut self, _columns: &[String]) {}

    fn value(&mut self, value: &Operand<'_>) {
        self.row.push(value.as_ref().into_owned());
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }
}
