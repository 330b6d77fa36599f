//! Two engines, row by row.
//!
//! No session may write meanwhile. What is compared is what stands in front: the bytes of rows,
//! which are the same where the values are.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::{position, tables};
use crate::engine::Engine;
use crate::key::Key;
use crate::table::Table;

/// The first difference between a source and its replica, in words; `None` where there is none.
/// What the replica keeps for itself is none.
pub fn difference(source: &Engine, replica: &Engine) -> Option<String> {
    let own = [position::NAME, tables::NAME];
    let mut found = replica.tables();
    found.retain(|table| !own.contains(&table.name()));
    let expected = source.tables();
    if table_names(&expected) != table_names(&found) {
        let [expected, found] = [&expected, &found].map(|tables| table_names(tables).join(", "));
        return Some(format!("the source has the tables {expected}, its replica has {found}"));
    }
    expected.iter().zip(&found).find_map(|(source, replica)| {
        let what = of_table(source, replica)?;
        Some(format!("{}: {what}", source.name()))
    })
}

fn table_names(tables: &[Arc<Table>]) -> Vec<String> {
    tables.iter().map(|table| table.name().to_owned()).collect()
}

fn of_table(source: &Table, replica: &Table) -> Option<String> {
    if source.current_spec() != replica.current_spec() {
        return Some("other columns or indexes".to_owned());
    }
    let (mut expected, mut found) = (Rows::new(source), Rows::new(replica));
    let mut place = 0_u64;
    loop {
        let pair = (expected.next(), found.next());
        place += 1;
        return match pair {
            (None, None) => None,
            (Some(source), Some(replica)) if source == replica => continue,
            (Some((key, _)), Some((other, _))) if key == other => {
                Some(format!("row {place} is another one"))
            }
            (source, replica) => {
                let lacks = source.is_some_and(|(key, _)| {
                    replica.is_none_or(|(other, _)| key.bytes() < other.bytes())
                });
                let who = if lacks { "the replica lacks" } else { "only the replica has" };
                Some(format!("{who} row {place}"))
            }
        };
    }
}

/// The rows of a table in the order of their keys.
struct Rows<'a> {
    table: &'a Table,
    from: Option<Key>,
    read: VecDeque<(Key, Box<[u8]>)>,
}

impl Rows<'_> {
    fn new(table: &Table) -> Rows<'_> {
        Rows { table, from: Some(Key::default()), read: VecDeque::new() }
    }
}

impl Iterator for Rows<'_> {
    type Item = (Key, Box<[u8]>);

    fn next(&mut self) -> Option<(Key, Box<[u8]>)> {
        while self.read.is_empty() {
            let from = self.from.take()?;
            let read = &mut self.read;
            self.from = self.table.rows.read_on(from.bytes(), None, |key, chain, _| {
                if let Some(row) = &chain.row {
                    read.push_back((Key::new(key), row.clone()));
                }
                ControlFlow::Continue(())
            });
        }
        self.read.pop_front()
    }
}
