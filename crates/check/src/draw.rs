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
//! the cycle is one line, and checking it needs no other part of the history. Lanes
//! that a line has no room for stand below the others. Where there are more lanes than can be
//! followed, only the edges are shown.

use std::fmt::Write as _;

use crate::anomaly::cycle_name;
use crate::check::LevelVerdict;
use crate::history::History;
use crate::region::CycleStep;
use crate::versions::{Flaw, FlawKind};
use crate::witness::Witness;

/// Columns of a lane at least.
const LANE: usize = 24;
/// Columns of all lanes beside each other.
const COLUMNS: usize = 96;

/// The drawing of what breaks a level, empty where nothing does.
#[must_use]
pub fn violation_drawing(history: &History, verdict: &LevelVerdict) -> String {
    match verdict {
        LevelVerdict::Cycle(_, cycle) => lanes(history, &cycle.steps),
        LevelVerdict::Flaw(flaw) => flawed(history, flaw),
        LevelVerdict::Vanished(lost) => {
            let (key, seen) = (history.key_shown(lost.key), history.value_shown(lost.version));
            let (txn, writer) = (lane_name(history, lost.txn), lane_name(history, lost.writer));
            format!(
                "{txn} saw a write of {writer}, and after that {key} = {seen}, older than what \
                 {writer} wrote\n{}",
                origins(history, &[lost.txn, lost.writer])
            )
        }
        LevelVerdict::NoOrder(_, cycles) => {
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
        LevelVerdict::Holds(_) | LevelVerdict::CannotTell(_) => String::new(),
    }
}

fn lanes(history: &History, steps: &[CycleStep]) -> String {
    let witness = Witness::from_steps(history, steps);
    let mut out = String::new();
    if witness.has_room() {
        let names: Vec<String> = witness.lanes.iter().map(|txn| lane_name(history, *txn)).collect();
        let texts = names.iter().chain(witness.ops.iter().map(|shown| &shown.text));
        let longest = texts.map(|text| text.chars().count() + 2).max().unwrap_or(0);
        let lane = longest.max(LANE);
        let beside = (COLUMNS / lane).max(1);
        for first in (0..names.len()).step_by(beside) {
            let end = names.len().min(first + beside);
            if first > 0 {
                out.push('\n');
            }
            for name in &names[first..end] {
                let _ = write!(out, "{name:<lane$}");
            }
            let own =
                |txn: usize| witness.lane_index(txn).checked_sub(first).filter(|at| *at < beside);
            for shown in &witness.ops {
                if let Some(at) = own(shown.txn) {
                    let _ = write!(out, "\n{:1$}{2}", "", at * lane, shown.text);
                }
            }
            out.push('\n');
        }
    } else {
        let _ = writeln!(out, "a cycle of {} transactions", witness.lanes.len());
    }
    for arrow in &witness.arrows {
        let _ = writeln!(out, "{}", arrow.reason);
    }
    if witness.has_room() {
        out += &origins(history, &witness.lanes);
    }
    out.lines().fold(String::new(), |all, line| all + line.trim_end() + "\n")
}

/// What the file calls transactions, a line each, where it says anything.
fn origins(history: &History, txns: &[usize]) -> String {
    txns.iter()
        .filter_map(|txn| Some(format!("T{txn} is {}\n", history.origin_text(*txn)?)))
        .collect()
}

/// What a lane is called.
pub(crate) fn lane_name(history: &History, txn: usize) -> String {
    format!("T{txn}, session {}", history.txn(txn).session)
}

fn flawed(history: &History, flaw: &Flaw) -> String {
    let (key, version) = (history.key_shown(flaw.key), history.value_shown(flaw.version));
    let txn = lane_name(history, flaw.txn);
    let other = flaw.other.map_or(String::new(), |other| lane_name(history, other));
    let instead = history.value_shown(flaw.instead);
    let what = match flaw.kind {
        FlawKind::GarbageRead => {
            format!("{txn} read {key} = {version}, which was never written there")
        }
        FlawKind::DuplicateWrite => format!("{other} and {txn} both wrote {key} = {version}"),
        FlawKind::IncompatibleOrder if flaw.other.is_none() => {
            format!("{txn} wrote {key} = {version} after {instead}, which it had not written yet")
        }
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
    let txns: Vec<usize> = std::iter::once(flaw.txn).chain(flaw.other).collect();
    what + "\n" + &origins(history, &txns)
}
