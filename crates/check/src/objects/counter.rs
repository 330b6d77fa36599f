//! A counter: a read lies between what was certainly added before it, and what may have been.
//!
//! ```text
//!   add 1 ├───┤          certain: 1        read ├──────┤
//!   add 2         ├───────────?            may be there: 2        1 ≤ read ≤ 3
//! ```
//!
//! It begins at 0, as Jepsen's does. A negative amount lowers the lower bound. In a file that
//! begins late each read says what the counter may have held where it begins, and all must agree.

use super::finding::ObjectVerdict;
use super::operation::Operation;
use crate::history::TransactionOutcome;
use crate::late::LateBeginning;

/// Examples that are told.
const TOLD: usize = 4;

/// What is added up over time: at an event, so much more is certain, or may be.
struct Bounds {
    /// Events at which an amount becomes possible or certain: the event, and what the lower and
    /// the upper bound gain.
    begun: Vec<(u32, i128, i128)>,
    ended: Vec<(u32, i128, i128)>,
}

impl Bounds {
    fn of(operations: &[Operation]) -> Result<Bounds, String> {
        let mut bounds = Bounds { begun: Vec::new(), ended: Vec::new() };
        for add in operations.iter().filter(|one| one.function == "add") {
            let amount = add.value.as_number();
            let amount =
                amount.ok_or_else(|| format!("no number is added: {}", add.display_text()))?;
            let amount = i128::from(amount);
            if add.may_have_happened() {
                bounds.begun.push((add.began, amount.min(0), amount.max(0)));
            }
            if add.outcome == TransactionOutcome::Ok {
                bounds.ended.push((add.ended, amount.max(0), amount.min(0)));
            }
        }
        for events in [&mut bounds.begun, &mut bounds.ended] {
            events.sort_unstable();
            let (mut low, mut high) = (0, 0);
            for (_, one, other) in events {
                (low, high) = (low + *one, high + *other);
                (*one, *other) = (low, high);
            }
        }
        Ok(bounds)
    }

    /// The least and the most that a read may have seen.
    fn at(&self, read: &Operation) -> (i128, i128) {
        let before = |events: &[(u32, i128, i128)], event: u32| {
            let count = events.partition_point(|(at, ..)| *at < event);
            count.checked_sub(1).map_or((0, 0), |last| (events[last].1, events[last].2))
        };
        let (possible, certain) =
            (before(&self.begun, read.ended), before(&self.ended, read.began));
        (possible.0 + certain.0, possible.1 + certain.1)
    }
}

pub(super) fn judge_counter(
    operations: &[Operation],
    late: Option<LateBeginning>,
) -> Result<(ObjectVerdict, Vec<String>), String> {
    let bounds = Bounds::of(operations)?;
    if let Some(late) = late {
        return Ok((judge_late_counter(operations, &bounds, late)?, Vec::new()));
    }
    let first = operations.iter().filter(|one| one.function == "add").map(|one| one.began).min();
    let (mut count, mut compared) = (0, 0);
    let mut wrong = Vec::new();
    for read in operations.iter().filter(|one| one.is_ok("read")) {
        let value = number_read(read)?;
        let (low, high) = bounds.at(read);
        count += 1;
        compared += usize::from(first.is_some_and(|first| first < read.ended));
        if !(low..=high).contains(&value) {
            wrong.push(format!("{}: it must be from {low} to {high}", read.display_text()));
        }
    }
    let notes = vec!["the counter is taken to begin at 0".to_owned()];
    if wrong.is_empty() && compared == 0 {
        let why = "no read was answered after a number was sent to be added, so that no sum was \
                   compared; needed is a read behind an :add";
        return Ok((ObjectVerdict::NothingCompared(why.to_owned()), notes));
    }
    if wrong.is_empty() {
        return Ok((
            ObjectVerdict::Holds(format!("each of {count} reads is within its bounds")),
            notes,
        ));
    }
    let mut evidence = vec![format!("{} of {count} reads are out of bounds", wrong.len())];
    evidence.extend(wrong.into_iter().take(TOLD));
    Ok((ObjectVerdict::Broken { anomaly: "impossible sum".to_owned(), evidence }, notes))
}

fn number_read(read: &Operation) -> Result<i128, String> {
    let value = read.result.as_number().map(i128::from);
    value.ok_or_else(|| format!("no number was read: {}", read.display_text()))
}

/// What a read says that the counter held where the file begins.
#[derive(Clone, Copy)]
struct BaseBounds<'a> {
    least: i128,
    most: i128,
    read: &'a Operation,
}

impl BaseBounds<'_> {
    fn display_text(&self) -> String {
        let BaseBounds { least, most, read } = self;
        format!("{}: the counter held from {least} to {most} before the file", read.display_text())
    }
}

/// Judges a counter that may have held anything where the file begins.
fn judge_late_counter(
    operations: &[Operation],
    bounds: &Bounds,
    late: LateBeginning,
) -> Result<ObjectVerdict, String> {
    let own = operations.iter().filter(|one| one.is_ok("read") && !one.began_before_the_file());
    let mut reads: Vec<&Operation> = own.collect();
    reads.sort_by_key(|read| read.ended);
    // Those of the reads since the last contradiction that say the most.
    let mut tightest: Option<(BaseBounds<'_>, BaseBounds<'_>)> = None;
    let (mut since, mut count, mut evidence) = (0, 0, Vec::new());
    for &read in reads.iter() {
        let (value, (low, high)) = (number_read(read)?, bounds.at(read));
        if read.began < since {
            continue;
        }
        let own = BaseBounds { least: value - high, most: value - low, read };
        let Some((lower, upper)) = &mut tightest else {
            tightest = Some((own, own));
            continue;
        };
        if own.least > lower.least {
            *lower = own;
        }
        if own.most < upper.most {
            *upper = own;
        }
        if lower.least > upper.most {
            if evidence.is_empty() {
                evidence = vec![lower.display_text(), upper.display_text()];
            }
            (since, count, tightest) = (read.ended, count + 1, None);
        }
    }
    Ok(match reads.len() {
        _ if count > 0 => {
            ObjectVerdict::from_contradictions(count, late, "impossible sum", evidence)
        }
        0 | 1 => ObjectVerdict::NothingCompared(
            "fewer than two reads began and were answered in the file, so that no sum was compared"
                .to_owned(),
        ),
        reads => ObjectVerdict::Holds(format!(
            "{reads} reads agree on what the counter held where the file begins"
        )),
    })
}
