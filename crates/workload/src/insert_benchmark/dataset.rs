//! The tables as a dataset: made empty, filled by the first step itself.

use dbdyno_model::Dialect;

use super::sizes::Sizes;
use super::sql;
use crate::dataset::{Dataset, TableScript};

/// Tables `pi1 … piN`, one for each client, without rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseTables {
    /// Number of clients.
    pub clients: u32,
    /// The sizes of the benchmark: other sizes are another set of tables.
    pub sizes: Sizes,
    /// Seed of the rows.
    pub seed: u64,
}

const COLUMNS: [&str; 7] =
    ["transactionid", "dateandtime", "cashregisterid", "customerid", "productid", "price", "data"];

impl Dataset for PurchaseTables {
    fn key(&self) -> String {
        format!("insert-benchmark{} clients={} seed={}", self.sizes, self.clients, self.seed)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        let script = |client| TableScript {
            name: sql::table(client),
            create: sql::create(dialect, client),
            columns: COLUMNS.map(str::to_owned).to_vec(),
            numbers: Vec::new(),
            reshaped: Vec::new(),
            finish: sql::finish(dialect, client),
        };
        (0..self.clients).map(script).collect()
    }

    fn unit_count(&self, _table: usize) -> u64 {
        0
    }

    fn push(&self, _table: usize, _unit: u64, _rows: &mut Vec<u8>) -> u64 {
        0
    }

    /// Of the rows that the load steps insert.
    fn bytes(&self) -> u64 {
        const ROW_BYTES: u64 = 70;
        u64::from(self.clients) * (self.sizes.nr1 + self.sizes.nr2) * ROW_BYTES
    }
}
