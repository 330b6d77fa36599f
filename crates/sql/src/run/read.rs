//! The part of an index that a level looks at.
//!
//! ```text
//!   equal (w = 1, i IN (7, 3, 7))   low -, high -        (1, 3)   (1, 7)      in order, each once
//!   equal (w = 1)                   low o >= 5           from (1, 5) to all that begin with (1)
//! ```

use std::ops;

use dbdyno_engine::row::Row;
use dbdyno_engine::session::{self, Fields, Intent, Path, Range, Scan, Statement, Visit};
use dbdyno_engine::value::{Datum, Kind};

use super::Flow;
use super::keys::{self, Place};
use crate::error::{Result, SqlError};
use crate::expr::{Answer, Frame};
use crate::operand::Operand;
use crate::parse::Direction;
use crate::plan::{Access, Bounded, COLUMNS_MOST, End, Equal, PRIMARY};

/// What was made of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It is not asked for.
    PassedOver,
    /// It is.
    Taken,
    /// It is, and no other.
    TakenLast,
}

/// Looks at a row. Where rows are locked its primary key, in bytes, comes first; where they are
/// not, that may be empty.
pub(super) type Eye<'l> = &'l mut dyn FnMut(&[u8], Row<'_>) -> Result<Look>;

/// Shows all rows of a part of an index.
pub(super) fn read(
    statement: &mut Statement<'_>,
    access: &Access,
    intent: Intent,
    frame: &Frame<'_>,
    look: Eye<'_>,
) -> Result<Flow> {
    let mut reader = Reader { statement, access, intent, frame, look };
    reader.equal(&mut [Datum::Null; COLUMNS_MOST], 0)
}

struct Reader<'r, 's, 'e> {
    statement: &'s mut Statement<'e>,
    access: &'r Access,
    intent: Intent,
    frame: &'r Frame<'r>,
    look: Eye<'r>,
}

impl Reader<'_, '_, '_> {
    /// Puts a value, or each of several, into the key at this place and goes on with the next.
    fn equal(&mut self, key: &mut [Datum<'_>; COLUMNS_MOST], place: usize) -> Result<Flow> {
        let frame = self.frame;
        let Some(equal) = self.access.equal.get(place) else { return self.bounds(key, place) };
        let kind = self.kind(place);
        match equal {
            Equal::One(expr) => {
                let value = expr.value(frame)?;
                let Place::At(datum) = keys::place(&value, kind)? else { return Ok(Flow::More) };
                self.equal(&mut with(key, place, datum), place + 1)
            }
            Equal::AnyOf(list) => {
                let values = list.iter().map(|expr| expr.value(frame));
                let values: Vec<Operand<'_>> = values.collect::<Result<_>>()?;
                self.each(&values, kind, key, place)
            }
            Equal::Answer(query) => match &frame.answers[*query] {
                Answer::Set(values) => self.each(values, kind, key, place),
                Answer::Value(_) => unreachable!("a value where a set is asked for"),
            },
        }
    }

    fn each(
        &mut self,
        values: &[Operand<'_>],
        kind: Kind,
        key: &[Datum<'_>; COLUMNS_MOST],
        place: usize,
    ) -> Result<Flow> {
        let mut data = Vec::with_capacity(values.len());
        for value in values {
            if let Place::At(datum) = keys::place(value, kind)? {
                data.push(datum);
            }
        }
        data.sort_unstable();
        data.dedup();
        for datum in data {
            if self.equal(&mut with(key, place, datum), place + 1)? == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    /// Reads what lies between the bounds behind these equal values.
    fn bounds(&mut self, key: &[Datum<'_>; COLUMNS_MOST], equal: usize) -> Result<Flow> {
        let is_whole = self.access.index == PRIMARY
            && equal > 0
            && equal == self.access.table.indexes[PRIMARY].columns.len();
        if is_whole && self.intent == Intent::Read {
            return self.get(&key[..equal]);
        }
        let (mut low, mut high) = (None, None);
        let frame = self.frame;
        let values = [&self.access.low, &self.access.high]
            .map(|bound| bound.as_ref().map(|bound| bound.by.value(frame)).transpose());
        let [low_value, high_value] = values;
        let (low_value, high_value) = (low_value?, high_value?);
        if let (Some(bound), Some(value)) = (&self.access.low, &low_value) {
            low = match lower(value, self.kind(equal), bound)? {
                Edge::Nothing => return Ok(Flow::More),
                Edge::Open => None,
                Edge::At(datum, end) => Some((datum, end)),
            };
        }
        if let (Some(bound), Some(value)) = (&self.access.high, &high_value) {
            high = match upper(value, self.kind(equal), bound)? {
                Edge::Nothing => return Ok(Flow::More),
                Edge::Open => None,
                Edge::At(datum, end) => Some((datum, end)),
            };
        }
        // NULL lies below all values, and no comparison with it holds.
        if high.is_some() && low.is_none() {
            low = Some((Datum::Null, End::Outside));
        }
        let mut from = *key;
        let mut to = *key;
        let range = Range { from: edge(&mut from, equal, low), to: edge(&mut to, equal, high) };
        self.scan(range)
    }

    fn scan(&mut self, range: Range<'_>) -> Result<Flow> {
        let access = self.access;
        let path = match access.index {
            PRIMARY => Path::Primary,
            secondary => Path::Secondary(secondary - 1),
        };
        let direction = match access.direction {
            Direction::Up => session::Direction::Up,
            Direction::Down => session::Direction::Down,
        };
        let fields = if access.is_covered() { Fields::OfIndex } else { Fields::All };
        let scan = Scan { path, range, direction, intent: self.intent, fields };
        let mut flow = Flow::More;
        let mut failed: Option<SqlError> = None;
        let look = &mut *self.look;
        self.statement.scan(&access.table.handle, &scan, |key, row| match look(key, row) {
            Ok(Look::PassedOver) => Visit::Pass,
            Ok(Look::Taken) => Visit::On,
            Ok(Look::TakenLast) => {
                flow = Flow::Enough;
                Visit::Stop
            }
            Err(error) => {
                failed = Some(error);
                Visit::Stop
            }
        })?;
        match failed {
            Some(error) => Err(error),
            None => Ok(flow),
        }
    }

    /// The one row of a whole primary key.
    fn get(&mut self, key: &[Datum<'_>]) -> Result<Flow> {
        let table = &self.access.table.handle;
        let Some(row) = self.statement.get(table, key, self.intent)? else {
            return Ok(Flow::More);
        };
        Ok(match (self.look)(&[], row)? {
            Look::PassedOver | Look::Taken => Flow::More,
            Look::TakenLast => Flow::Enough,
        })
    }

    /// What a column of the index holds.
    fn kind(&self, place: usize) -> Kind {
        let table = &self.access.table;
        table.columns[table.indexes[self.access.index].columns[place]].kind
    }
}

/// The key with one value more.
fn with<'d>(
    key: &[Datum<'d>; COLUMNS_MOST],
    place: usize,
    datum: Datum<'d>,
) -> [Datum<'d>; COLUMNS_MOST] {
    let mut key = *key;
    key[place] = datum;
    key
}

/// One end of a range.
enum Edge<'a> {
    /// No value is inside.
    Nothing,
    /// All are.
    Open,
    At(Datum<'a>, End),
}

fn lower<'a>(value: &'a Operand<'a>, kind: Kind, bound: &Bounded) -> Result<Edge<'a>> {
    Ok(match keys::place(value, kind)? {
        Place::At(datum) => Edge::At(datum, bound.end),
        Place::Above(datum) => Edge::At(datum, End::Outside),
        Place::Beyond(order) if order.is_lt() => Edge::Open,
        Place::Beyond(_) | Place::Nowhere => Edge::Nothing,
    })
}

fn upper<'a>(value: &'a Operand<'a>, kind: Kind, bound: &Bounded) -> Result<Edge<'a>> {
    Ok(match keys::place(value, kind)? {
        Place::At(datum) => Edge::At(datum, bound.end),
        Place::Above(datum) => Edge::At(datum, End::Inside),
        Place::Beyond(order) if order.is_gt() => Edge::Open,
        Place::Beyond(_) | Place::Nowhere => Edge::Nothing,
    })
}

/// An end of a range as the engine takes it: behind the values that are equal.
fn edge<'k, 'd>(
    key: &'k mut [Datum<'d>; COLUMNS_MOST],
    equal: usize,
    edge: Option<(Datum<'d>, End)>,
) -> ops::Bound<&'k [Datum<'d>]> {
    let Some((datum, end)) = edge else {
        let key = &key[..equal];
        return if equal == 0 { ops::Bound::Unbounded } else { ops::Bound::Included(key) };
    };
    key[equal] = datum;
    let key = &key[..=equal];
    match end {
        End::Inside => ops::Bound::Included(key),
        End::Outside => ops::Bound::Excluded(key),
    }
}
