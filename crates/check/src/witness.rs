//! What a drawing of a cycle shows: transactions, their operations, and why each arrow is there.

use std::collections::BTreeMap;

use crate::footprint::is_write;
use crate::history::{History, Op};
use crate::level::Dependency;
use crate::region::CycleStep;

/// Lanes beside each other that somebody could still follow.
const LANES_MOST: usize = 64;

/// An operation on the cycle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WitnessOperation {
    /// Its place in its transaction.
    pub place: usize,
    pub txn: usize,
    pub text: String,
}

/// A dependency: the operations at its ends (none of sessions and time), and a sentence.
#[derive(Debug)]
pub(crate) struct Arrow {
    pub from: (usize, Option<usize>),
    pub to: (usize, Option<usize>),
    pub label: String,
    pub reason: String,
}

/// A cycle as it is drawn.
#[derive(Debug)]
pub(crate) struct Witness {
    /// Transactions, in the order of the cycle.
    pub lanes: Vec<usize>,
    /// The place of each in that order.
    columns: BTreeMap<usize, usize>,
    /// Their operations on the cycle, each transaction's in its order.
    pub ops: Vec<WitnessOperation>,
    pub arrows: Vec<Arrow>,
}

impl Witness {
    pub(crate) fn from_steps(history: &History, steps: &[CycleStep]) -> Witness {
        let mut lanes: Vec<usize> = steps.iter().map(|step| step.from).collect();
        let mut columns: BTreeMap<usize, usize> =
            lanes.iter().enumerate().map(|(column, txn)| (*txn, column)).collect();
        for reader in steps.iter().filter_map(|step| step.by) {
            columns.entry(reader).or_insert_with(|| {
                lanes.push(reader);
                lanes.len() - 1
            });
        }
        let mut witness = Witness { lanes, columns, ops: Vec::new(), arrows: Vec::new() };
        for step in steps {
            let ends = ends(history, step);
            let place = |txn: usize| ends.iter().find(|op| op.txn == txn).map(|op| op.place);
            let assumed = if step.is_assumed { "?" } else { "" };
            let label = format!("{}{assumed}", step.dependency.short_name());
            let (from, to) = ((step.from, place(step.from)), (step.to, place(step.to)));
            let reason = reason(history, step, &label);
            witness.arrows.push(Arrow { from, to, label, reason });
            witness.ops.extend(ends);
        }
        let columns = &witness.columns;
        witness.ops.sort_by_key(|op| (op.place, columns.get(&op.txn)));
        witness.ops.dedup();
        witness
    }

    /// The column of a transaction.
    pub(crate) fn lane_index(&self, txn: usize) -> usize {
        self.columns.get(&txn).copied().unwrap_or(0)
    }

    /// Whether they can be drawn beside each other.
    pub(crate) fn has_room(&self) -> bool {
        self.lanes.len() <= LANES_MOST
    }
}

/// The operations that make an edge.
fn ends(history: &History, step: &CycleStep) -> Vec<WitnessOperation> {
    let wrote = |txn: usize, version: Option<u32>| written(history, step, txn, version);
    let read = |txn: usize| read(history, step, txn);
    let (from, to) = (step.from, step.to);
    match step.dependency {
        Dependency::Session | Dependency::RealTime | Dependency::CommitAsked => Vec::new(),
        Dependency::Last => vec![wrote(to, Some(step.version))],
        Dependency::Write => vec![wrote(from, Some(step.version)), wrote(to, None)],
        Dependency::Read | Dependency::CurrentRead => {
            vec![wrote(from, Some(step.version)), read(to)]
        }
        Dependency::Seen => {
            let both = [wrote(from, None), wrote(to, Some(step.version))];
            both.into_iter().chain(step.by.map(read)).collect()
        }
        _ => vec![read(from), wrote(to, None)],
    }
}

/// The write of a transaction to the key of an edge, of that version or of any.
fn written(
    history: &History,
    step: &CycleStep,
    txn: usize,
    version: Option<u32>,
) -> WitnessOperation {
    let ops = history.ops(txn);
    let found = ops.iter().position(|op| {
        op.key == step.key && is_write(op.kind) && version.is_none_or(|version| op.value == version)
    });
    let place = found.unwrap_or(0);
    let value = history.value_shown(ops[place].value);
    WitnessOperation { place, txn, text: format!("w({}) = {value}", shown_key(history, step)) }
}

/// The read of a transaction of the version of an edge, or else its first one of the key.
fn read(history: &History, step: &CycleStep, txn: usize) -> WitnessOperation {
    let ops = history.ops(txn);
    let is_it = |op: &Op| op.key == step.key && !is_write(op.kind);
    let place = ops.iter().position(|op| is_it(op) && op.value == step.version);
    let place = place.or_else(|| ops.iter().position(is_it)).unwrap_or(0);
    let value = history.value_shown(step.version);
    WitnessOperation { place, txn, text: format!("r({}) = {value}", shown_key(history, step)) }
}

fn shown_key(history: &History, step: &CycleStep) -> String {
    history.key_shown(step.key.min(history.key_count.saturating_sub(1)))
}

/// Why an edge is there, as a sentence.
fn reason(history: &History, step: &CycleStep, label: &str) -> String {
    let (from, to) = (step.from, step.to);
    let head = format!("T{from} ─{label}→ T{to}");
    let what = match step.dependency {
        Dependency::Session => {
            format!("session {} asked T{to} after T{from}", { history.txn(from).session })
        }
        Dependency::CommitAsked => format!("T{from} asked for its commit before T{to} did"),
        Dependency::RealTime => format!("T{to} began after T{from} was answered"),
        of_versions => {
            let (key, value) = (history.key_shown(step.key), history.value_shown(step.version));
            match of_versions {
                Dependency::Last => format!("T{to} wrote {key} = {value}, the last version"),
                Dependency::Seen => {
                    let reader = step.by.unwrap_or(to);
                    format!(
                        "T{reader} had to see T{from}, and read {key} = {value} of T{to}: so \
                         T{from} wrote {key} before that"
                    )
                }
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
