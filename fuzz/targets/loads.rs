//! Files that describe loads: refused with a place, or a load that has rows and events in each
//! dialect.

#![no_main]

use dbdyno_model::Dialect;
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{Catalog, Custom, Event, ReadyLoad, Tables};
use libfuzzer_sys::fuzz_target;

const TABLES: Tables = Tables { count: 2, rows: 100, seed: 7 };
const DIALECTS: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

fuzz_target!(|text: &str| {
    let custom = match Custom::parse("load.toml", text) {
        Ok(custom) => custom,
        Err(error) => return assert!(error.to_string().contains("load.toml")),
    };
    let mut catalog = Catalog::default();
    if catalog.add_custom(custom).is_err() {
        return;
    }
    let name = catalog.custom_loads().next().unwrap().name.clone();
    let Ok(load) = catalog.resolve_load(&name, TABLES) else { return };
    for dialect in DIALECTS {
        for (index, _) in load.dataset.tables(dialect).iter().enumerate() {
            let units = load.dataset.unit_count(index);
            (0..units.min(3)).for_each(|unit| {
                load.dataset.push(index, unit, &mut Vec::new());
            });
        }
        let Ok(ready) = ReadyLoad::compile(&load, dialect) else { continue };
        if let EventSource::Program(program) = ready.event_source() {
            let mut event = Event::default();
            (0..4).for_each(|operation| program.fill_event(1, operation, &mut event));
        }
    }
});
