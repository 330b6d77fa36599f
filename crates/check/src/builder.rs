//! A history from what a file calls things: names of keys and values become dense numbers.
//!
//! A value belongs to its key: `5` of `x` and `5` of `y` are two versions.

use std::collections::HashMap;

use crate::history::{ABSENT, History, Keys, Op, Txn, WriteId};

/// Collects transactions.
#[derive(Debug)]
pub struct Builder {
    history: History,
    keys: HashMap<String, u32>,
    names: Vec<String>,
    values: HashMap<(u32, String), WriteId>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Builder {
        Builder {
            history: History::named(),
            keys: HashMap::new(),
            names: Vec::new(),
            values: HashMap::new(),
        }
    }

    /// The number of a key.
    pub fn key(&mut self, name: &str) -> u32 {
        if let Some(&key) = self.keys.get(name) {
            return key;
        }
        let key = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.keys.insert(name.to_owned(), key);
        key
    }

    /// The id of the version of a key that is called `name`.
    pub fn value(&mut self, key: u32, name: &str) -> WriteId {
        let history = &mut self.history;
        *self.values.entry((key, name.to_owned())).or_insert_with(|| {
            history.value_names.push(name.to_owned());
            history.id_count = (history.id_count + 1).min(ABSENT);
            history.id_count - 1
        })
    }

    /// Adds a transaction.
    pub fn push(&mut self, txn: Txn, ops: &[Op]) {
        self.history.push(txn, ops);
    }

    /// The history, in the order of completion where transactions have times, else as pushed.
    #[must_use]
    pub fn finish(self) -> History {
        let mut history = self.history;
        history.key_count = self.names.len() as u32;
        history.keys = Keys::Named(self.names);
        history.sort_by_completion();
        history
    }
}
