//! Lines as statements of one client of the engine: each is answered or refused in words.

#![no_main]

use std::sync::Arc;

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, Options, Upkeep};
use dbdyno_model::Design;
use dbdyno_sql::{Connection, Operand, Sink};
use libfuzzer_sys::fuzz_target;

const TABLES: [&str; 4] = [
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, k INT, p DECIMAL(8,2), c VARCHAR(9), d \
     DATETIME, INDEX k_1 (k), INDEX c_p (c, p), UNIQUE k_c (k, c))",
    "CREATE TABLE s (a INT, b INT, t_id INT NOT NULL DEFAULT 3, n TEXT, PRIMARY KEY (a, b))",
    "INSERT INTO t VALUES (1, 3, 1.50, 'b', '2026-11-22'), (2, NULL, NULL, NULL, NULL), (3, 5, \
     -0.05, 'B', '1969-12-31 23:59:59'), (4, -3, 20, 'a ', '0001-01-01')",
    "INSERT INTO s VALUES (1, 1, 1, 'x'), (1, 2, 1, ''), (2, 1, 4, NULL)",
];
/// Longer scripts say nothing that shorter ones do not.
const LINES_MOST: usize = 8;

/// Counts rows; a value is written out, as a client would.
#[derive(Default)]
struct Told {
    rows: u64,
    text: String,
}

impl Sink for Told {
    fn begin(&mut self, _columns: &[String]) {}

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
