//! TPC-C by name: `tpcc?warehouses=2&think=on`.

use std::sync::Arc;

use crate::catalog::entry::{LoadEntry, LoadParts};
use crate::load::{Content, LoadGroup, Trend, Unit};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;
use crate::tpcc::{CUSTOMERS, ITEMS, Tpcc, UserPace, Warehouses};

pub(super) fn entries() -> Vec<LoadEntry> {
    vec![LoadEntry {
        name: "tpcc",
        about: "TPC-C: five transactions, nine tables (warehouses=, think=on, items=, customers=)",
        group: LoadGroup::Write,
        make: tpcc,
    }]
}

fn tpcc(options: &mut SpecOptions, tables: Tables) -> Result<LoadParts, SpecError> {
    let size = Warehouses {
        warehouses: options.take_number("warehouses", 1, 1, 10_000)?,
        // Fewer would leave nothing to deliver, or make every order take the same rows.
        items: options.take_number("items", ITEMS, 100, ITEMS)?,
        customers: options.take_number("customers", CUSTOMERS, 10, CUSTOMERS)?,
        seed: tables.seed,
    };
    let pace = match options.take_one_of("think", &["off", "on"])? {
        "on" => UserPace::Think,
        _ => UserPace::Saturate,
    };
    Ok(LoadParts {
        dataset: Arc::new(size),
        content: Content::Dialogue(Arc::new(Tpcc { size, pace })),
        trend: Trend::Grows,
        unit: Unit::Transactions,
        background: None,
    })
}
