//! Loads whose rows tell their versions, by name: `register?rows=100&level=serializable`.

use std::sync::Arc;

use dbdyno_model::isolation::IsolationLevel;

use crate::catalog::entry::{LoadEntry, LoadParts};
use crate::load::{Content, LoadGroup, Trend, Unit};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;
use crate::versioned::{SIZE_MOST, VersionedLoad, VersionedRowKind, VersionedRows};

/// Where the level is left to the server.
const OF_SERVER: &str = "default";

pub(super) fn entries() -> Vec<LoadEntry> {
    let entry = |shape: VersionedRowKind, about, make| LoadEntry {
        name: shape.name(),
        about,
        group: LoadGroup::Write,
        make,
    };
    vec![
        entry(
            VersionedRowKind::Register,
            "rows that carry their previous version: can be recorded (rows=, size=, level=)",
            |options, tables| versioned(VersionedRowKind::Register, options, tables),
        ),
        entry(
            VersionedRowKind::List,
            "appends to lists of 32 elements: can be recorded (rows=, size=, level=)",
            |options, tables| versioned(VersionedRowKind::List, options, tables),
        ),
        entry(
            VersionedRowKind::Counter,
            "distinct amounts added to counters: can be recorded (rows=, size=, level=)",
            |options, tables| versioned(VersionedRowKind::Counter, options, tables),
        ),
    ]
}

fn versioned(
    shape: VersionedRowKind,
    options: &mut SpecOptions,
    tables: Tables,
) -> Result<LoadParts, SpecError> {
    let seed = tables.seed;
    let rows = options.take_number("rows", 1000, 1, 1_000_000)?;
    let size = options.take_number("size", 4, 1, SIZE_MOST as u64)? as usize;
    let mut words = vec![OF_SERVER];
    words.extend(IsolationLevel::ALL.map(IsolationLevel::name));
    let level = IsolationLevel::named(options.take_one_of("level", &words)?);
    let rows = VersionedRows { shape, rows, seed };
    Ok(LoadParts {
        dataset: Arc::new(rows),
        content: Content::Dialogue(Arc::new(VersionedLoad { rows, size, level, seed })),
        trend: Trend::Steady,
        unit: Unit::Transactions,
        background: None,
    })
}
