//! Loads whose rows tell their versions, by name: `register?rows=100&level=serializable`.

use std::sync::Arc;

use dbdyno_model::isolation::IsolationLevel;

use crate::catalog::entry::{Entry, Made};
use crate::load::{Content, Group, Trend, Unit};
use crate::spec::{Options, SpecError};
use crate::table::Tables;
use crate::versioned::{SIZE_MOST, Shape, Versioned, VersionedRows};

/// Where the level is left to the server.
const OF_SERVER: &str = "default";

pub(super) fn entries() -> Vec<Entry> {
    let entry =
        |shape: Shape, about, make| Entry { name: shape.name(), about, group: Group::Write, make };
    vec![
        entry(
            Shape::Register,
            "rows that carry their previous version: can be recorded (rows=, size=, level=)",
            |options, tables| versioned(Shape::Register, options, tables),
        ),
        entry(
            Shape::List,
            "appends to lists of 32 elements: can be recorded (rows=, size=, level=)",
            |options, tables| versioned(Shape::List, options, tables),
        ),
        entry(
            Shape::Counter,
            "distinct amounts added to counters: can be recorded (rows=, size=, level=)",
            |options, tables| versioned(Shape::Counter, options, tables),
        ),
    ]
}

fn versioned(shape: Shape, options: &mut Options, tables: Tables) -> Result<Made, SpecError> {
    let seed = tables.seed;
    let rows = options.number("rows", 1000, 1, 1_000_000)?;
    let size = options.number("size", 4, 1, SIZE_MOST as u64)? as usize;
    let mut words = vec![OF_SERVER];
    words.extend(IsolationLevel::ALL.map(IsolationLevel::name));
    let level = IsolationLevel::named(options.word("level", &words)?);
    let rows = VersionedRows { shape, rows, seed };
    Ok(Made {
        dataset: Arc::new(rows),
        content: Content::Dialogue(Arc::new(Versioned { rows, size, level, seed })),
        trend: Trend::Steady,
        unit: Unit::Transactions,
        background: None,
    })
}
