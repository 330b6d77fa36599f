//! A history from what a file calls things: names of keys and values become dense numbers.
//!
//! A value belongs to its key: `5` of `x` and `5` of `y` are two versions. A value `0` that no
//! transaction writes is what the key held at the beginning, in every format: most clients that
//! begin with rows of 0 do not record their writer. Elements of lists are as they stand.

use std::collections::{HashMap, HashSet};

use crate::history::{
    ABSENT, History, INITIAL, Keys, Op, OperationKind, Origin, Times, TransactionOutcome, Txn,
    WriteId,
};

/// How a file writes a name. Of the same letters, a text and a number are two values for whoever
/// wrote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameForm {
    /// Between quotes.
    Text,
    /// Behind a colon.
    Keyword,
    /// A number or another word, or several of them.
    Bare,
}

/// In which form each name was written first.
#[derive(Debug, Default)]
pub(crate) struct NameForms {
    forms: HashMap<String, NameForm>,
}

impl NameForms {
    /// Notes the form of a name.
    ///
    /// # Errors
    /// It was written in another form before.
    pub(crate) fn require_form(&mut self, name: &str, form: NameForm) -> Result<(), String> {
        match self.forms.get(name) {
            Some(known) if *known == form => Ok(()),
            Some(_) => Err(written_in_two_forms(name)),
            None => {
                self.forms.insert(name.to_owned(), form);
                Ok(())
            }
        }
    }
}

/// Collects transactions.
#[derive(Debug)]
pub struct Builder {
    history: History,
    keys: HashMap<String, u32>,
    names: Vec<String>,
    values: HashMap<(u32, String), WriteId>,
    /// By key and by version, where the file says it.
    key_forms: Vec<Option<NameForm>>,
    value_forms: Vec<Option<NameForm>>,
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
            history: History::with_key_names(),
            keys: HashMap::new(),
            names: Vec::new(),
            values: HashMap::new(),
            key_forms: Vec::new(),
            value_forms: Vec::new(),
        }
    }

    /// The number of a key, as it is written.
    ///
    /// # Errors
    /// It was written in another form before.
    pub(crate) fn key_in_form(&mut self, name: &str, form: NameForm) -> Result<u32, String> {
        let key = self.key(name);
        require_form(&mut self.key_forms, key, form, name)?;
        Ok(key)
    }

    /// The id of the version of a key, as it is written.
    ///
    /// # Errors
    /// It was written in another form before.
    pub(crate) fn value_in_form(
        &mut self,
        key: u32,
        name: &str,
        form: NameForm,
    ) -> Result<WriteId, String> {
        let id = self.value(key, name);
        require_form(&mut self.value_forms, id, form, name)?;
        Ok(id)
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

    /// Adds a transaction of which the file says where it stands; all of a history have to be added
    /// so.
    pub(crate) fn push_from(&mut self, txn: Txn, ops: &[Op], origin: Origin) {
        self.history.push(txn, ops);
        self.history.origins.push(origin);
    }

    /// Forgets all times where a transaction that committed has none, whose answer would be before
    /// all others. What did not commit and does not say when it was given up was so behind what
    /// its session had done.
    pub(crate) fn require_all_times(&mut self) {
        let history = &mut self.history;
        let mut told = vec![0; history.session_count()];
        for txn in 0..history.len() {
            let latest = &mut told[history.session[txn] as usize];
            let end = &mut history.times[txn].commit_return_ns;
            if *end == 0 && history.outcome[txn] != TransactionOutcome::Ok {
                *end = *latest;
            }
            *latest = (*latest).max(*end);
        }
        let all = history.times.iter().zip(&history.outcome);
        let mut committed = all.filter(|(_, outcome)| **outcome == TransactionOutcome::Ok);
        if committed.any(|(times, _)| times.commit_return_ns == 0) {
            history.times.fill(Times::default());
        }
    }

    /// The history, in the order of completion where transactions have times, else as pushed.
    #[must_use]
    pub fn finish(self) -> History {
        let mut history = self.history;
        history.key_count = self.names.len() as u32;
        history.keys = Keys::Named(self.names);
        let zeros = (0..history.key_count)
            .filter_map(|key| self.values.get(&(key, "0".to_owned())).copied());
        let zeros: HashSet<WriteId> = zeros.collect();
        begin_with(&mut history, zeros);
        history.sort_by_completion();
        history
    }
}

fn require_form(
    forms: &mut Vec<Option<NameForm>>,
    number: u32,
    form: NameForm,
    name: &str,
) -> Result<(), String> {
    let place = number as usize;
    if forms.len() <= place {
        forms.resize(place + 1, None);
    }
    if *forms[place].get_or_insert(form) == form {
        return Ok(());
    }
    Err(written_in_two_forms(name))
}

fn written_in_two_forms(name: &str) -> String {
    format!(
        "{name} stands here in another form than before ({name} and \"{name}\", or :{name}): \
         whoever wrote them has two values, others read one; write it in one way"
    )
}

/// Takes versions for what keys held at the beginning, unless one wrote them, or they stand in
/// a list, which says what they follow.
fn begin_with(history: &mut History, mut versions: HashSet<WriteId>) {
    for op in &history.ops {
        let is_read = matches!(op.kind, OperationKind::Read | OperationKind::CurrentRead);
        if !is_read || op.prev < ABSENT {
            versions.remove(&op.value);
        }
    }
    if versions.is_empty() {
        return;
    }
    for op in &mut history.ops {
        let has_versions = !matches!(
            op.kind,
            OperationKind::Scan | OperationKind::CurrentScan | OperationKind::Count
        );
        for id in [&mut op.value, &mut op.prev] {
            if has_versions && versions.contains(id) {
                *id = INITIAL;
            }
        }
    }
}
