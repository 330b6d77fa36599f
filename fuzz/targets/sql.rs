//! Lines as statements of one client of the engine: each is answered or refused in words.

#![no_main]

#[path = "../../crates/sql/tests/statements/tables.rs"]
mod tables;

use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, EngineOptions, Upkeep};
use dbdyno_model::Design;
use dbdyno_sql::{Operand, ResultColumn, Sink, SqlConnection};
use libfuzzer_sys::fuzz_target;

use tables::TABLES;

/// Longer scripts say nothing that shorter ones do not.
const LINES_MOST: usize = 8;

/// Counts rows; a value is written out, as a client would.
#[derive(Default)]
struct RowCounter {
    rows: u64,
    text: String,
}

impl Sink for RowCounter {
    fn begin_rows(&mut self, _columns: &Arc<[ResultColumn]>) {}

    fn value(&mut self, value: &Operand<'_>) {
        self.text = value.to_string();
    }

    fn end_row(&mut self) -> ControlFlow<()> {
        self.rows += 1;
        ControlFlow::Continue(())
    }
}

fuzz_target!(|script: &str| {
    // It does what it says.
    if script.to_ascii_lowercase().contains("sleep") {
        return;
    }
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(SimDisk::default()), &Design::default(), options).unwrap();
    let mut client = SqlConnection::new(Arc::new(engine), || 1_795_343_400_999_999);
    for sql in TABLES {
        client.run(sql, &mut RowCounter::default()).unwrap();
    }
    for sql in script.lines().take(LINES_MOST) {
        let mut counter = RowCounter::default();
        match client.run(sql, &mut counter) {
            Ok(done) => assert_eq!(done.rows, counter.rows),
            Err(error) => assert!(!error.to_string().is_empty() && error.code() > 0),
        }
    }
});
