//! What a file of dbcop says that it has, held against what it has.
//!
//! ```text
//!   params   n_node          sessions                       as many, or the file is not whole
//!            n_variable      variables                      as many at most
//!            n_transaction   transactions of a session      as many at most
//!            n_event         events of a transaction        as many at most
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
    pub(super) fn require_sessions(&self, all: &[Vec<Transaction>]) -> Result<(), String> {
        if self.sessions.is_some_and(|stated| stated != all.len() as u64) {
            return Err(contradiction("n_node", self.sessions, all.len(), "sessions"));
        }
        let longest = counted_sessions(all).map(<[Transaction]>::len).max();
        let largest = counted_sessions(all).flatten().map(|one| one.parts.len()).max();
        at_most("n_transaction", self.transactions, longest, "transactions in a session")?;
        at_most("n_event", self.events, largest, "events in a transaction")?;
        let parts = all.iter().flatten().flat_map(|one| &one.parts);
        let keys: BTreeSet<&str> = parts.map(SessionOperation::key).collect();
        at_most("n_variable", self.variables, Some(keys.len()), "variables")
    }
}

/// The sessions without the transaction that a translator has put before all others.
fn counted_sessions(all: &[Vec<Transaction>]) -> impl Iterator<Item = &[Transaction]> {
    let sessions = all.iter().enumerate();
    sessions.map(|(at, one)| one.get(usize::from(at == 0)..).unwrap_or_default())
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
