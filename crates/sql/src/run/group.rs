//! Rows into groups.
//!
//! ```text
//!   row ─► values by which it is grouped ─► group ─► each aggregate takes its value
//! ```
//!
//! Sums and averages are exact decimals, as wide as 128 bits. Groups come out in no order that
//! means anything, but always in the same one.

use std::collections::{BTreeMap, BTreeSet};

use super::tape;
use crate::error::Result;
use crate::expr::Frame;
use crate::operand::{self, Operand, OwnedOperand};
use crate::parse::{Aggregate, Distinct};
use crate::plan::{Call, Grouping};

/// The groups of one query.
pub(super) struct Groups<'q> {
    grouping: &'q Grouping,
    /// By what makes them equal, whatever the scale of their numbers.
    all: BTreeMap<Vec<u8>, Group>,
    key: Vec<u8>,
}

/// The values of its first row by which it is grouped, and what the aggregates have come to.
struct Group {
    by: Vec<OwnedOperand>,
    sums: Vec<Sum>,
}

/// What an aggregate has come to.
struct Sum {
    /// Values that are not NULL.
    count: i64,
    /// Their sum, or the least or greatest of them.
    value: OwnedOperand,
    /// Which there were, where each counts once.
    seen: BTreeSet<Vec<u8>>,
}

/// Bytes of an entry of a tree besides what is in it, about.
const KEPT_OF_ENTRY: usize = 48;

impl<'q> Groups<'q> {
    pub(super) fn new(grouping: &'q Grouping) -> Groups<'q> {
        let mut groups = Groups { grouping, all: BTreeMap::new(), key: Vec::new() };
        if grouping.by.is_empty() {
            // What is not grouped is one group, even of no rows.
            let group = Group { by: Vec::new(), sums: groups.sums() };
            groups.all.insert(Vec::new(), group);
        }
        groups
    }

    fn sums(&self) -> Vec<Sum> {
        self.grouping
            .aggregates
            .iter()
            .map(|_| Sum { count: 0, value: Operand::Null, seen: BTreeSet::new() })
            .collect()
    }

    /// Takes a row.
    pub(super) fn add_row(&mut self, frame: &Frame<'_>) -> Result<()> {
        self.key.clear();
        for by in &self.grouping.by {
            tape::push(&operand::canonical_form(&by.value(frame)?), &mut self.key);
        }
        if !self.all.contains_key(&self.key) {
            let by = self.grouping.by.iter().map(|by| Ok(by.value(frame)?.into_owned()));
            let group = Group { by: by.collect::<Result<_>>()?, sums: self.sums() };
            let values = size_of_val(&*group.by) + size_of_val(&*group.sums);
            let kept = 2 * self.key.len() + size_of::<Group>() + KEPT_OF_ENTRY + values;
            frame.watch.keep_bytes(kept)?;
            self.all.insert(self.key.clone(), group);
        }
        let group = self.all.get_mut(&self.key).expect("it was put there if it was not");
        for (sum, call) in group.sums.iter_mut().zip(&self.grouping.aggregates) {
            frame.watch.keep_bytes(sum.take(call, call.of.value(frame)?)?)?;
        }
        Ok(())
    }

    /// Whether an aggregate has had any value.
    pub(super) fn has_any(&self) -> bool {
        self.all.values().flat_map(|group| &group.sums).any(|sum| sum.count > 0)
    }

    /// Calls `tell` with each group: the values by which it is grouped, and the aggregates.
    pub(super) fn for_each_group(
        self,
        mut tell: impl FnMut(&[OwnedOperand], &[OwnedOperand]) -> Result<bool>,
    ) -> Result<()> {
        for Group { by, sums } in self.all.into_values() {
            let aggregates = sums.into_iter().zip(&self.grouping.aggregates);
            let aggregates: Vec<OwnedOperand> =
                aggregates.map(|(sum, call)| sum.end(call)).collect::<Result<_>>()?;
            if !tell(&by, &aggregates)? {
                break;
            }
        }
        Ok(())
    }
}

impl Sum {
    /// Takes a value; how many bytes more are kept.
    fn take(&mut self, call: &Call, value: Operand<'_>) -> Result<usize> {
        if value.is_null() {
            return Ok(0);
        }
        let mut kept = 0;
        if call.distinct == Distinct::Yes {
            let mut bytes = Vec::new();
            tape::push(&operand::canonical_form(&value), &mut bytes);
            kept = bytes.len() + KEPT_OF_ENTRY;
            if !self.seen.insert(bytes) {
                return Ok(0);
            }
        }
        self.count += 1;
        let is_first = self.count == 1;
        match call.aggregate {
            Aggregate::Count => {}
            Aggregate::Sum | Aggregate::Average if is_first => {
                self.value = operand::add(&Operand::Int(0), &value)?;
            }
            Aggregate::Sum | Aggregate::Average => {
                self.value = operand::add(&self.value, &value)?;
            }
            Aggregate::Min | Aggregate::Max => {
                let order = operand::sort_order(&value, &self.value);
                let is_better =
                    if call.aggregate == Aggregate::Min { order.is_lt() } else { order.is_gt() };
                if is_first || is_better {
                    kept += text_bytes(&value).saturating_sub(text_bytes(&self.value));
                    self.value = value.into_owned();
                }
            }
        }
        Ok(kept)
    }

    fn end(self, call: &Call) -> Result<OwnedOperand> {
        match call.aggregate {
            Aggregate::Count => Ok(Operand::Int(self.count)),
            Aggregate::Average => operand::divide(&self.value, &Operand::Int(self.count)),
            Aggregate::Sum | Aggregate::Min | Aggregate::Max => Ok(self.value),
        }
    }
}

fn text_bytes(value: &Operand<'_>) -> usize {
    if let Operand::Text(text) = value { text.len() } else { 0 }
}
