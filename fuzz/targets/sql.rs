//! Lines as statements of one client of the engine: each is answered or refused in words.

#![no_main]

#[path = "../../crates/sql/tests/statements/tables.rs"]
mod tables;

use std::sync::Arc;

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, Options, Upkeep};
use dbdyno_model::Design;
use dbdyno_sql::{Column, Connection, Operand, Sink};
use libfuzzer_sys::fuzz_target;

use tables::TABLES;

/// Longer scripts say nothing that shorter ones do not.
const LINES_MOST: usize = 8;

/// Counts rows; a value is written out, as a client would.
#[derive(Default)]
struct Told {
    rows: u64,
    text: String,
}

impl Sink for Told {
    fn begin(&mut self, _columns: &Arc<[Column]>) {}

    fn value(&mut self, value: &Operand<'_>) {
        self.text = value.to_string();
    }

    fn end_row(&mut self) {
        self.rows += 1;
    }
}

fuzz_target!(|script: &str| {
    // It does what it says.
    if script.to_ascii_lowercase().contains("sleep") {
        return;
    }
    let options = Options { upkeep: Upkeep::OnDemand, ..Options::default() };
    let engine = Engine::open(Arc::new(SimDisk::default()), &Design::default(), options).unwrap();
    let mut client = Connection::new(Arc::new(engine), || 1_795_343_400_999_999);
    for sql in TABLES {
        client.run(sql, &mut Told::default()).unwrap();
    }
    for sql in script.lines().take(LINES_MOST) {
        let mut told = Told::default();
        match client.run(sql, &mut told) {
            Ok(done) => assert_eq!(done.rows, told.rows),
            Err(error) => assert!(!error.to_string().is_empty() && error.code() > 0),
        }
    }
});
