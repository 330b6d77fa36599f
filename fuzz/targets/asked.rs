//! What a client is asked for while its server says whatever it likes.

use dbdyno_wire::{BulkTarget, Client, Param, RowBuffer};
use libfuzzer_sys::arbitrary::{self, Arbitrary};

#[derive(Arbitrary, Debug, PartialEq)]
pub enum Asked {
    /// Nothing but to come in.
    Login,
    Run,
    Query,
    Prepare,
    Execute,
    Bulk,
    Fetch,
}

impl Asked {
    /// Asks; `one` is a statement with one mark. Whether the answer is one or an error is the
    /// answer's business.
    pub fn ask_server(&self, client: &mut dyn Client, one: &str) {
        let values = vec![Param::Int(1)];
        match self {
            Asked::Login => {}
            Asked::Run => drop(client.run("SELECT 1")),
            Asked::Query => drop(client.query("SELECT 1")),
            Asked::Prepare => drop(client.prepare(one)),
            Asked::Execute => {
                if let Ok(statement) = client.prepare(one) {
                    drop(client.execute(statement, &values));
                }
            }
            Asked::Bulk => {
                let target = BulkTarget { table: "t", columns: &["id".to_owned()], numbers: &[] };
                drop(client.bulk_load(&target, &mut |_| false));
            }
            Asked::Fetch => {
                if let Ok(statement) = client.prepare(one) {
                    drop(client.fetch(statement, &values, &mut RowBuffer::new()));
                }
            }
        }
    }
}
