//! What breaks a level, as a drawing of the transactions that have a part in it.
//!
//! ```text
//!   T0, session 0        T1, session 1
//!   r(x) = initial
//!                        w(x) = 2
//!   …
//!   T0 ─rw→ T1   T0 read x = initial, and T1 wrote the version after it
//! ```
//!
//! Only the operations on the cycle are shown, each lane in the order of its client: each edge of
//! the cycle is one line, and whoever wants to check it needs no other part of the history.

use std::fmt::Write as _;

use crate::anomaly::cycle_name;
use crate::check::Verdict;
use crate::footprint::is_write;
use crate::history::{History, Op};
use crate::level::Dependency;
use crate::region::Step;
use crate::versions::{Flaw, FlawKind};

/// Columns of a lane.
const LANE: usize = 24;

/// The drawing of what breaks a level, empty where nothing does.
#[must_use]
pub fn drawn(history: &History, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Cycle(_, cycle) => lanes(history, &cycle.steps),
        Verdict::Flaw(flaw) => flawed(history, flaw),
        Verdict::Vanished(lost) => {
            let (key, seen) = (history.key_name(lost.key), history.value_name(lost.version));
            let (txn, writer) = (named(history, lost.txn), named(history, lost.writer));
            format!(
                "{txn} saw a write of {writer}, and after that {key} = {seen}, older than what \
                 {writer} wrote\n"
            )
        }
        Verdict::NoOrder(_, cycles) => {
            let mut out = String::from("every order of the versions has one of these cycles\n");
            for (at, cycle) in (1..).zip(cycles) {
                let _ = write!(
                    out,
                    "\n{at}. {}\n{}",
                    cycle_name(&cycle.steps),
                    lanes(history, &cycle.steps)
                );
            }
            out
        }
        Verdict::Holds(_) | Verdict::CannotTell(_) => String::new(),
    }
}

fn lanes(history: &History, steps: &[Step]) -> String {
    let lanes: Vec<usize> = steps.iter().map(|step| step.from).collect();
    let mut out = String::new();
    for txn in &lanes {
        let _ = write!(out, "{:<LANE$}", format!("{}  ", named(history, *txn)));
    }
    let lane = |txn: usize| lanes.iter().position(|known| *known == txn).unwrap_or(0);
    let ends = steps.iter().filter_map(|step| ends(history, step)).flatten();
    let mut rows: Vec<(usize, usize, String)> =
        ends.map(|(txn, place, text)| (place, lane(txn), text)).collect();
    rows.sort();
    rows.dedup();
    for (_, lane, row) in rows {
        let _ = write!(out, "\n{:indent$}{row}", "", indent = lane * LANE);
    }
    out.push('\n');
    for step in steps {
        let _ = writeln!(out, "{}", reason(history, step));
    }
    out.lines().fold(String::new(), |all, line| all + line.trim_end() + "\n")
}

/// The operations at both ends of an edge: the transaction, the place in it, the text.
fn ends(history: &History, step: &Step) -> Option<[(usize, usize, String); 2]> {
    if matches!(step.dependency, Dependency::Session | Dependency::RealTime) {
        return None;
    }
    let key = history.key_name(step.key);
    let wrote = |txn: usize, version: Option<u32>| {
        let is_it = |op: &Op| version.is_none_or(|version| op.value == version);
        let ops = history.ops(txn);
        let found = ops.iter().position(|op| op.key == step.key && is_write(op.kind) && is_it(op));
        let place = found.unwrap_or(0);
        (txn, place, format!("w({key}) = {}", history.value_name(ops[place].value)))
    };
    let read = |txn: usize| {
        let ops = history.ops(txn);
        let is_it = |op: &Op| op.key == step.key && !is_write(op.kind);
        let place = ops.iter().position(|op| is_it(op) && op.value == step.version);
        let place = place.or_else(|| ops.iter().position(is_it)).unwrap_or(0);
        (txn, place, format!("r({key}) = {}", history.value_name(step.version)))
    };
    Some(match step.dependency {
        Dependency::Write => [wrote(step.from, Some(step.version)), wrote(step.to, None)],
        Dependency::Read | Dependency::CurrentRead => {
            [wrote(step.from, Some(step.version)), read(step.to)]
        }
        _ => [read(step.from), wrote(step.to, None)],
    })
}

fn reason(history: &History, step: &Step) -> String {
    let (from, to) = (step.from, step.to);
    let assumed = if step.is_assumed { "?" } else { "" };
    let head = format!("T{from} ─{}{assumed}→ T{to}", step.dependency.short());
    let what = match step.dependency {
        Dependency::Session => {
            format!("session {} asked T{to} after T{from}", { history.txn(from).session })
        }
        Dependency::RealTime => format!("T{to} began after T{from} was answered"),
        of_versions => {
            let (key, value) = (history.key_name(step.key), history.value_name(step.version));
            match of_versions {
                Dependency::Write if step.is_assumed => {
                    format!("if T{to} wrote {key} after {value}, which T{from} wrote")
                }
                _ if step.is_assumed => {
                    format!("T{from} read {key} = {value}: if T{to} wrote {key} after that")
                }
                Dependency::Write => format!("T{to} replaced {key} = {value}, which T{from} wrote"),
                Dependency::Read | Dependency::CurrentRead => {
                    format!("T{to} read {key} = {value}, which T{from} wrote")
                }
                _ => format!("T{from} read {key} = {value}, which T{to} replaced"),
            }
        }
    };
    format!("{head}   {what}")
}

fn named(history: &History, txn: usize) -> String {
    format!("T{txn}, session {}", history.txn(txn).session)
}

fn flawed(history: &History, flaw: &Flaw) -> String {
    let (key, version) = (history.key_name(flaw.key), history.value_name(flaw.version));
    let txn = named(history, flaw.txn);
    let other = flaw.other.map_or(String::new(), |other| named(history, other));
    let instead = history.value_name(flaw.instead);
    let what = match flaw.kind {
        FlawKind::GarbageRead => format!("{txn} read {key} = {version}, which nobody wrote there"),
        FlawKind::DuplicateWrite => format!("{other} and {txn} both wrote {key} = {version}"),
        FlawKind::IncompatibleOrder => {
            format!(
                "{txn} and {other}: {version} and {instead} claim one place among those of {key}"
            )
        }
        FlawKind::Internal => {
            format!("{txn} read {key} = {version}; its own writes say {instead}")
        }
        FlawKind::AbortedRead => {
            format!("{txn} read {key} = {version}, which {other} wrote and rolled back")
        }
        FlawKind::IntermediateRead => {
            format!("{txn} read {key} = {version}, which {other} wrote and replaced itself")
        }
    };
    what + "\n"
}
