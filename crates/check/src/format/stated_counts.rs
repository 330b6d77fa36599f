//! What a file of dbcop says that it has, held against what it has.
//!
//! ```text
//!   params   n_node = sessions                      as many, or the file is not whole
//!            n_variable, n_transaction, n_event     as many at most: of all, a session, a transaction
//! ```
//!
//! The translator of Cobra's logs (Plume's `BE19_translator`) puts a transaction of its own before
//! the first one, which writes all variables: it is none of those that are counted. It also says
//! how many transactions there are in all, so that a session may have fewer.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::count_of;
use super::sessions::{SessionOperation, Transaction};

/// The counts of `params`; what is not told is not known.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StatedCounts {
    pub(super) sessions: Option<u64>,
    /// Of all transactions.
    pub(super) variables: Option<u64>,
    /// Of a session, at most.
    pub(super) transactions: Option<u64>,
    /// Of a transaction, at most.
    pub(super) events: Option<u64>,
}

impl StatedCounts {
    /// Those of an object.
    ///
    /// # Errors
    /// It is no object, or one of them is no whole number.
    pub(super) fn from_params(params: &Value) -> Result<StatedCounts, String> {
        if !params.is_object() && !params.is_null() {
            return Err("it is no object".to_owned());
        }
        Ok(StatedCounts {
            sessions: count_of(params, "n_node")?,
            variables: count_of(params, "n_variable")?,
            transactions: count_of(params, "n_transaction")?,
            events: count_of(params, "n_event")?,
        })
    }

    /// Holds sessions against the counts.
    ///
    /// # Errors
    /// What the file says and what it has, where it has other sessions, or more of another thing.
    pub(super) fn require(&self, all: &[Vec<Transaction>]) -> Result<(), String> {
        if self.sessions.is_some_and(|stated| stated != all.len() as u64) {
            return Err(contradiction("n_node", self.sessions, all.len(), "sessions"));
        }
        let (first, others) = all.split_first().map_or((&[][..], &[][..]), |(first, others)| {
            (first.get(1..).unwrap_or_default(), others)
        });
        let counted = || std::iter::once(first).chain(others.iter().map(Vec::as_slice));
        let longest = counted().map(<[Transaction]>::len).max();
        let largest = counted().flatten().map(|one| one.parts.len()).max();
        at_most("n_transaction", self.transactions, longest, "transactions in a session")?;
        at_most("n_event", self.events, largest, "events in a transaction")?;
        let parts = all.iter().flatten().flat_map(|one| &one.parts);
        let keys: BTreeSet<&str> = parts.map(SessionOperation::key).collect();
        at_most("n_variable", self.variables, Some(keys.len()), "variables")
    }
}

/// Refuses more than is stated.
fn at_most(
    name: &str,
    stated: Option<u64>,
    found: Option<usize>,
    what: &str,
) -> Result<(), String> {
    let found = found.unwrap_or(0);
    match stated {
        Some(most) if found as u64 > most => Err(contradiction(name, stated, found, what)),
        _ => Ok(()),
    }
}

fn contradiction(name: &str, stated: Option<u64>, found: usize, what: &str) -> String {
    let stated = stated.unwrap_or(0);
    format!("{name} is {stated}, and there are {found} {what}: the file is damaged, or not whole")
}
