//! TPC-C by name: `tpcc?warehouses=2&think=on`.

use std::sync::Arc;

use crate::catalog::entry::{Entry, Made};
use crate::load::{Content, Group, Trend, Unit};
use crate::spec::{Options, SpecError};
use crate::table::Tables;
use crate::tpcc::{CUSTOMERS, ITEMS, Pace, Tpcc, Warehouses};

pub(super) fn entries() -> Vec<Entry> {
    vec![Entry {
        name: "tpcc",
        about: "TPC-C: five transactions, nine tables (warehouses=, think=on, items=, customers=)",
        group: Group::Write,
        make: tpcc,
    }]
}

fn tpcc(options: &mut Options, tables: Tables) -> Result<Made, SpecError> {
    let size = Warehouses {
        warehouses: options.number("warehouses", 1, 1, 10_000)?,
        // Fewer would leave nothing to deliver, or make every order take the same rows.
        items: options.number("items", ITEMS, 100, ITEMS)?,
        customers: options.number("customers", CUSTOMERS, 10, CUSTOMERS)?,
        seed: tables.seed,
    };
    let pace = match options.word("think", &["off", "on"])? {
        "on" => Pace::Think,
        _ => Pace::Saturate,
    };
    Ok(Made {
        dataset: Arc::new(size),
        content: Content::Dialogue(Arc::new(Tpcc { size, pace })),
        trend: Trend::Grows,
        unit: Unit::Transactions,
        background: None,
    })
}
