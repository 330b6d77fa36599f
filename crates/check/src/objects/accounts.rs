//! Which accounts a bank has, and which of them each read tells.
//!
//! ```text
//!   read {0 60, 1 40}     transfer 0 ──5──▶ 1     read {0 55, 1 35, 2 10}     also adds up to 100
//! ```
//!
//! Jepsen's bank is given its accounts: a read of another one is an error, and of one that a read
//! lacks it says nothing. Where the accounts are not stated, those are known that a read has or a
//! confirmed transfer names; the sum of a read that lacks one of them is not that of all accounts.
//! A row has an account in each place, so that rows of two lengths contradict each other.

use std::collections::BTreeSet;

use super::finding::ObjectVerdict;
use super::operation::{Operation, Value};

/// Examples that are told.
const TOLD: usize = 4;

/// What the accounts of reads say beside their sums.
pub(super) struct AccountFinding {
    /// Where the sums alone do not decide.
    pub(super) verdict: Option<ObjectVerdict>,
    pub(super) note: Option<String>,
}

impl AccountFinding {
    fn from_verdict(verdict: ObjectVerdict) -> AccountFinding {
        AccountFinding { verdict: Some(verdict), note: None }
    }
}

/// Compares the accounts of reads with those that are stated, or with each other.
pub(super) fn compare_accounts(
    reads: &[&Operation],
    operations: &[Operation],
    stated: Option<&[String]>,
) -> AccountFinding {
    if let Some(verdict) = rows_of_other_lengths(reads, stated) {
        return AccountFinding::from_verdict(verdict);
    }
    let known: BTreeSet<String> = match stated {
        Some(stated) => stated.iter().cloned().collect(),
        None => known_accounts(reads, operations),
    };
    let mut unexpected = Vec::new();
    let mut lacking = Vec::new();
    for read in reads {
        let own = account_names(read);
        if let Some(account) = own.difference(&known).next() {
            unexpected.push(format!("{}: there is no account {account}", read.display_text()));
        }
        if let Some(account) = known.difference(&own).next() {
            lacking.push(format!("account {account} is not in {}", read.display_text()));
        }
    }
    if !unexpected.is_empty() {
        let mut evidence = vec![format!("{} of {} reads", unexpected.len(), reads.len())];
        evidence.extend(unexpected.into_iter().take(TOLD));
        let anomaly = "unexpected account".to_owned();
        return AccountFinding::from_verdict(ObjectVerdict::Broken { anomaly, evidence });
    }
    let Some(example) = lacking.first() else {
        return AccountFinding { verdict: None, note: None };
    };
    let lack = format!("{} of {} reads lack an account: {example}", lacking.len(), reads.len());
    if stated.is_some() {
        let note = format!("{lack}; Jepsen's bank allows that where the sum is right");
        return AccountFinding { verdict: None, note: Some(note) };
    }
    AccountFinding::from_verdict(ObjectVerdict::CannotTell(format!(
        "{lack}, so that nothing says what all accounts add up to there; state with --accounts \
         which there are, and reads are judged as Jepsen's bank judges them, by their sums"
    )))
}

/// The accounts that reads have, or transfers that were confirmed name.
fn known_accounts(reads: &[&Operation], operations: &[Operation]) -> BTreeSet<String> {
    let mut known: BTreeSet<String> = reads.iter().flat_map(|read| account_names(read)).collect();
    let are_named = reads.iter().all(|read| read.result.as_items().is_none());
    for transfer in operations.iter().filter(|one| are_named && one.is_ok("transfer")) {
        let Value::Map(pairs) = &transfer.value else { continue };
        let ends = pairs.iter().filter(|(name, _)| ["from", "to"].contains(&&*name.display_text()));
        known.extend(ends.map(|(_, account)| account.display_text()));
    }
    known
}

/// The accounts of a read; those of a row are its places.
fn account_names(read: &Operation) -> BTreeSet<String> {
    match &read.result {
        Value::Map(pairs) => pairs.iter().map(|(account, _)| account.display_text()).collect(),
        Value::Items(items) => (0..items.len()).map(|place| place.to_string()).collect(),
        _ => BTreeSet::new(),
    }
}

/// What is wrong with rows of another length than the stated one, or than that of the first.
fn rows_of_other_lengths(reads: &[&Operation], stated: Option<&[String]>) -> Option<ObjectVerdict> {
    let mut rows = reads.iter().filter_map(|read| Some((read, read.result.as_items()?.len())));
    let (first, length) = rows.clone().next()?;
    let expected = stated.map_or(length, <[String]>::len);
    let (other, its) = rows.find(|(_, length)| *length != expected)?;
    let (anomaly, known) = match stated {
        Some(_) => ("wrong number of accounts", format!("{expected} accounts are stated")),
        None => {
            let first = first.display_text();
            ("two numbers of accounts", format!("{first} has {length} accounts"))
        }
    };
    let evidence = vec![known, format!("{} has {its} accounts", other.display_text())];
    Some(ObjectVerdict::Broken { anomaly: anomaly.to_owned(), evidence })
}
