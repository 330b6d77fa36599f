//! A bank: transfers change no total.
//!
//! ```text
//!   read  {0 40, 1 60}   = 100        transfer 0 ──10──▶ 1        read  {0 30, 1 70}   = 100
//! ```
//!
//! The total is that of the reads before the first transfer, or one that the user states. Two reads
//! whose totals differ contradict each other whatever it is. Of which accounts a sum is says
//! [`super::accounts`].

use super::accounts::compare_accounts;
use super::finding::ObjectVerdict;
use super::operation::{Operation, Value, first_reads};

/// Examples that are told.
const TOLD: usize = 4;

/// Where the total of a bank is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Total {
    /// The user stated it.
    Stated(i64),
    /// So many reads were answered before the first transfer was sent.
    Shown(i64, usize),
}

impl Total {
    fn amount(self) -> i64 {
        match self {
            Total::Stated(amount) | Total::Shown(amount, _) => amount,
        }
    }

    /// Whether it is known from so many reads, and none is left that was compared with it.
    fn is_of_all(self, reads: usize) -> bool {
        matches!(self, Total::Shown(_, before) if before == reads)
    }

    fn told(self) -> String {
        match self {
            Total::Stated(amount) => format!("the total is {amount}, as stated"),
            Total::Shown(amount, reads) => format!(
                "the total is {amount}: that of {reads} reads before the first transfer was sent"
            ),
        }
    }
}

/// Whether a transfer says from where it goes to where.
fn names_accounts(transfer: &Value) -> bool {
    let Value::Map(pairs) = transfer else { return false };
    ["from", "to"].iter().all(|end| pairs.iter().any(|(name, _)| name.display_text() == *end))
}

/// The balances of a read, of accounts with names or of a row of them.
fn balances(read: &Operation) -> Result<Vec<Option<i64>>, String> {
    let all: Vec<&Value> = match &read.result {
        Value::Map(pairs) => pairs.iter().map(|(_, balance)| balance).collect(),
        Value::Items(items) => items.iter().collect(),
        other => {
            return Err(format!(
                "{} is no map of balances: {}",
                other.display_text(),
                read.display_text()
            ));
        }
    };
    all.into_iter()
        .map(|balance| match balance {
            Value::Nil => Ok(None),
            Value::Number(number) => Ok(Some(*number)),
            other => {
                Err(format!("{} is no balance: {}", other.display_text(), read.display_text()))
            }
        })
        .collect()
}

fn sum(balances: &[Option<i64>]) -> i128 {
    balances.iter().flatten().map(|balance| i128::from(*balance)).sum()
}

pub(super) fn judge_bank(
    operations: &[Operation],
    stated: Option<i64>,
    accounts: Option<&[String]>,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    let transfers = operations.iter().filter(|one| one.function == "transfer");
    if let Some(other) = transfers.clone().find(|one| !names_accounts(&one.value)) {
        let what = "a transfer has {:from, :to, :amount} as its :value";
        return Err(format!("{what}: {}", other.display_text()));
    }
    let mut reads: Vec<(&Operation, Vec<Option<i64>>)> = Vec::new();
    for read in operations.iter().filter(|one| one.is_ok("read")) {
        reads.push((read, balances(read)?));
    }
    if reads.is_empty() {
        return Err("no read of the accounts was answered: there is nothing to add up".to_owned());
    }
    let missing: Vec<&Operation> =
        reads.iter().filter(|(_, all)| all.contains(&None)).map(|(read, _)| *read).collect();
    if !missing.is_empty() {
        return Ok((broken("balance missing", missing.len(), reads.len(), &missing), Vec::new()));
    }
    let told: Vec<&Operation> = reads.iter().map(|(read, _)| *read).collect();
    let of_accounts = compare_accounts(&told, operations, accounts);
    let Some(total) = total(operations, stated)? else {
        let by_accounts =
            of_accounts.verdict.filter(|it| matches!(it, ObjectVerdict::Broken { .. }));
        return Ok((two_totals(&reads).or(by_accounts).ok_or_else(|| untold(&reads))?, Vec::new()));
    };
    let amount = i128::from(total.amount());
    let wrong: Vec<&Operation> =
        reads.iter().filter(|(_, all)| sum(all) != amount).map(|(read, _)| *read).collect();
    let mut notes = vec![total.told()];
    let has_negative = |all: &[Option<i64>]| all.iter().flatten().any(|balance| *balance < 0);
    let negative = reads.iter().filter(|(_, all)| has_negative(all)).count();
    if negative > 0 {
        notes.push(format!(
            "{negative} reads have a negative balance; the file does not say whether that is \
             forbidden"
        ));
    }
    notes.extend(of_accounts.note);
    let finding = if !wrong.is_empty() {
        broken("wrong total", wrong.len(), reads.len(), &wrong)
    } else if let Some(verdict) = of_accounts.verdict {
        verdict
    } else if stated.is_none() && reads.iter().all(|(_, all)| all.is_empty()) {
        ObjectVerdict::NothingCompared("no read has an account: there is nothing to add up".into())
    } else if total.is_of_all(reads.len()) {
        ObjectVerdict::NothingCompared(
            "no read was answered after a transfer was sent, so that nothing was compared with \
             what the accounts added up to before; state the total with --total"
                .to_owned(),
        )
    } else {
        ObjectVerdict::Holds(format!("each of {} reads adds up to {amount}", reads.len()))
    };
    Ok((finding, notes))
}

/// Two reads that contradict each other, if there are any.
fn two_totals(reads: &[(&Operation, Vec<Option<i64>>)]) -> Option<ObjectVerdict> {
    let (first, all) = reads.first()?;
    let (other, its) = reads.iter().find(|(_, other)| sum(other) != sum(all))?;
    let evidence = vec![
        format!("{} adds up to {}", first.display_text(), sum(all)),
        format!("{} adds up to {}", other.display_text(), sum(its)),
    ];
    Some(ObjectVerdict::Broken { anomaly: "two totals".to_owned(), evidence })
}

/// Why nothing can be said of reads that agree.
fn untold(reads: &[(&Operation, Vec<Option<i64>>)]) -> String {
    format!(
        "no read was answered before the first transfer was sent, so that nothing says what the \
         accounts add up to; all {} reads add up to {}: state the total with --total",
        reads.len(),
        reads.first().map_or(0, |(_, all)| sum(all))
    )
}

/// The total, where anything says it.
fn total(operations: &[Operation], stated: Option<i64>) -> Result<Option<Total>, String> {
    if let Some(amount) = stated {
        return Ok(Some(Total::Stated(amount)));
    }
    let mut shown = None;
    let mut count = 0;
    for read in first_reads(operations) {
        let own = sum(&balances(read)?);
        if *shown.get_or_insert(own) != own {
            return Ok(None);
        }
        count += 1;
    }
    let amount = shown.and_then(|amount| i64::try_from(amount).ok());
    Ok(amount.map(|amount| Total::Shown(amount, count)))
}

fn broken(anomaly: &str, count: usize, of: usize, wrong: &[&Operation]) -> ObjectVerdict {
    let sum_of = |read: &Operation| balances(read).map(|all| sum(&all)).unwrap_or_default();
    let mut evidence = vec![format!("{count} of {of} reads")];
    evidence.extend(
        wrong
            .iter()
            .take(TOLD)
            .map(|read| format!("{} adds up to {}", read.display_text(), sum_of(read))),
    );
    ObjectVerdict::Broken { anomaly: anomaly.to_owned(), evidence }
}
