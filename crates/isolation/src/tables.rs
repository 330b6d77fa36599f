//! The tables of cases, interleavings, random transactions and recorded loads, for whoever marks
//! what is ours on another's server.

use dbdyno_model::Dialect;
use dbdyno_workload::Dataset;
use dbdyno_workload::dataset::TableScript;
use dbdyno_workload::versioned::VersionedRowKind;

use crate::words::{CASES, INTERLEAVINGS, RANDOM};

/// Tables that come and go; they are never filled from here.
#[derive(Debug)]
pub(crate) struct Tables;

impl Dataset for Tables {
    fn key(&self) -> String {
        "isolation".to_owned()
    }

    fn tables(&self, _dialect: Dialect) -> Vec<TableScript> {
        let loads = VersionedRowKind::ALL.map(VersionedRowKind::table);
        [CASES, INTERLEAVINGS, RANDOM].into_iter().chain(loads).map(script_of_table).collect()
    }

    fn seed(&self) -> u64 {
        0
    }

    fn unit_count(&self, _table: usize) -> u64 {
        0
    }

    fn push(&self, _table: usize, _unit: u64, _rows: &mut Vec<u8>) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn script_of_table(name: &str) -> TableScript {
    TableScript {
        name: name.to_owned(),
        create: String::new(),
        columns: Vec::new(),
        numbers: Vec::new(),
        reshaped: Vec::new(),
        finish: Vec::new(),
    }
}
