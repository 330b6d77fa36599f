//! The part of an index that a level looks at.
//!
//! ```text
//!   equal (w = 1, i IN (7, 3, 7))   low -, high -        (1, 3)   (1, 7)      in order, each once
//!   equal (w = 1)                   low o >= 5           from (1, 5) to all that begin with (1)
//! ```

use std::ops;

use dbdyno_engine::row::RowView;
use dbdyno_engine::session::{self, Fields, Intent, Path, Range, RunningStatement, Scan, Visit};
use dbdyno_engine::value::{Datum, ValueType};

use super::keys::{self, Place};
use super::sink::Flow;
use crate::error::{Result, SqlError};
use crate::expr::{Answer, Frame};
use crate::operand::Operand;
use crate::parse::Direction;
use crate::plan::{Access, COLUMNS_MOST, End, Equal, PRIMARY, RangeEnd};

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
pub(super) type Eye<'l> = &'l mut dyn FnMut(&[u8], RowView<'_>) -> Result<Look>;

/// Shows all rows of a part of an index.
pub(super) fn read(
    statement: &mut RunningStatement<'_>,
    access: &Access,
    intent: Intent,
    frame: &Frame<'_>,
    look: Eye<'_>,
) -> Result<Flow> {
    // A look that finds no row counts: joins may consist of nothing else.
    frame.watch.pass_row()?;
    let mut reader = Reader { statement, access, intent, frame, look };
    reader.equal(&mut [Datum::Null; COLUMNS_MOST], 0)
}

struct Reader<'r, 's, 'e> {
    statement: &'s mut RunningStatement<'e>,
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
                let Place::At(datum) = keys::place_of(&value, kind)? else { return Ok(Flow::More) };
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
        kind: ValueType,
        key: &[Datum<'_>; COLUMNS_MOST],
        place: usize,
    ) -> Result<Flow> {
        let mut data = Vec::with_capacity(values.len());
        for value in values {
            if let Place::At(datum) = keys::place_of(value, kind)? {
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
        // NULL lies below all values, and no comparison with it holds, not even with what is below
        // or above all that the column can have.
        let is_compared = self.access.low.is_some() || self.access.high.is_some();
        if is_compared && low.is_none() {
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
            Direction::Up => session::ScanDirection::Up,
            Direction::Down => session::ScanDirection::Down,
        };
        let fields = if access.is_covered() { Fields::OfIndex } else { Fields::All };
        let scan = Scan { path, range, direction, intent: self.intent, fields };
        let mut flow = Flow::More;
        let mut failed: Option<SqlError> = None;
        let look = &mut *self.look;
        let watch = self.frame.watch;
        self.statement.scan_rows(&access.table.handle, &scan, |key, row| {
            match watch.pass_row().and_then(|()| look(key, row)) {
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
    fn kind(&self, place: usize) -> ValueType {
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

fn lower<'a>(value: &'a Operand<'a>, kind: ValueType, bound: &RangeEnd) -> Result<Edge<'a>> {
    Ok(match keys::place_of(value, kind)? {
        Place::At(datum) => Edge::At(datum, bound.end),
        Place::Above(datum) => Edge::At(datum, End::Outside),
        Place::Beyond(order) if order.is_lt() => Edge::Open,
        Place::Beyond(_) | Place::Nowhere => Edge::Nothing,
    })
}

fn upper<'a>(value: &'a Operand<'a>, kind: ValueType, bound: &RangeEnd) -> Result<Edge<'a>> {
    Ok(match keys::place_of(value, kind)? {
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

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use dbdyno_engine::disk::SimDisk;
    use dbdyno_engine::{Engine, EngineOptions};
    use dbdyno_model::Design;

    use crate::{Operand, Sink, SqlConnection};

    #[derive(Default)]
    struct Seen(Vec<String>);

    impl Sink for Seen {
        fn begin_rows(&mut self, _columns: &Arc<[crate::ResultColumn]>) {}

        fn value(&mut self, value: &Operand<'_>) {
            self.0.push(value.to_string());
        }

        fn end_row(&mut self) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    fn client() -> SqlConnection {
        let disk = Arc::new(SimDisk::default());
        let engine = Engine::open(disk, &Design::default(), EngineOptions::default()).unwrap();
        SqlConnection::new(Arc::new(engine), || 0)
    }

    fn said(client: &mut SqlConnection, sql: &str) -> String {
        let mut seen = Seen::default();
        client.run(sql, &mut seen).unwrap_or_else(|error| panic!("{sql}: {error}"));
        seen.0.join(" ")
    }

    #[test]
    fn null_is_neither_above_nor_below_what_a_column_cannot_have() {
        let mut client = client();
        said(&mut client, "CREATE TABLE t (id INT PRIMARY KEY, k INT, KEY k (k))");
        said(&mut client, "INSERT INTO t VALUES (1, NULL), (2, -5), (3, 5)");
        let all = "99999999999999999999";
        for (filter, ids) in [
            (format!("k > -{all}"), "2 3"),
            (format!("k >= -{all} AND k < {all}"), "2 3"),
            (format!("k < {all}"), "2 3"),
            (format!("k > {all}"), ""),
            (format!("k < -{all}"), ""),
            ("k < 5".to_owned(), "2"),
            ("k > -5".to_owned(), "3"),
            ("k > NULL".to_owned(), ""),
        ] {
            for lock in ["", " FOR UPDATE"] {
                let by_index = format!("SELECT id FROM t FORCE INDEX (k) WHERE {filter}{lock}");
                assert_eq!(said(&mut client, &by_index), ids, "{by_index}");
                let by_row = format!("SELECT id FROM t FORCE INDEX (PRIMARY) WHERE {filter}{lock}");
                assert_eq!(said(&mut client, &by_row), ids, "{by_row}");
            }
        }
    }

    #[test]
    fn values_of_several_kinds_have_an_order() {
        let mut client = client();
        said(&mut client, "CREATE TABLE t (id INT PRIMARY KEY, k INT, c CHAR(9))");
        for id in 0..60 {
            let k = if id % 3 == 0 { "NULL".to_owned() } else { (id * 37 % 50).to_string() };
            let c = ["x", "9", "10", "-"][id % 4];
            said(&mut client, &format!("INSERT INTO t VALUES ({id}, {k}, '{c}')"));
        }
        let in_order = said(&mut client, "SELECT coalesce(k, c) FROM t ORDER BY 1");
        let (numbers, texts): (Vec<_>, Vec<_>) = (0..60).partition(|id| id % 3 != 0);
        let mut numbers: Vec<_> = numbers.into_iter().map(|id: usize| id * 37 % 50).collect();
        numbers.sort_unstable();
        let mut texts: Vec<_> = texts.into_iter().map(|id| ["x", "9", "10", "-"][id % 4]).collect();
        texts.sort_unstable();
        let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
        assert_eq!(in_order, format!("{} {}", numbers.join(" "), texts.join(" ")));
        // A text that is a number is equal to it, wherever it stands among texts.
        let is_in = "SELECT 9 IN (SELECT c FROM t WHERE c IN ('9', '10')), \
                     10 IN (SELECT c FROM t WHERE c IN ('9', '10')), \
                     8 IN (SELECT c FROM t WHERE c IN ('9', '10'))";
        assert_eq!(said(&mut client, is_in), "1 1 0");
    }

    #[test]
    fn a_sum_may_be_long_and_not_without_end() {
        let mut client = client();
        let sum = |many: usize| format!("SELECT 1{}", " + 1".repeat(many));
        assert_eq!(said(&mut client, &sum(200)), "201");
        for long in [sum(50_000), format!("SELECT 1{}", " IS NULL".repeat(50_000))] {
            assert_eq!(client.run(&long, &mut Seen::default()).unwrap_err().code(), 1235);
        }
    }
}
