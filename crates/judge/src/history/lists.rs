//! Lists in rows of JSON: no cell holds one, and what was measured may stand in it.
//!
//! ```text
//!   "mean": 9.1, "times": [9.0, 9.1, 9.2]     samples of a figure beside them: no loss
//!   "cores": [0, 1, 2, 3]                     the same in each row: a fact
//!   "argv": ["-n", "30000"]                   words: a label, which may part rows
//!   "load_time": 140, "result": [[3.1, 0.2]]  figures of their own, as ClickBench has them
//! ```
//!
//! Which of the numbers of a list belong together, a list does not say: percentiles stand there
//! with their values, histograms with their bounds. So figures in lists are not guessed, but told
//! as what is not read.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::endings;
use super::kinds::quoted_value;

/// A figure and what it is of the samples differ by this share at most; figures are rounded.
const ROUNDING_MOST: f64 = 0.005;

/// Values that are copied to the entries of a list, some two hundred bytes each.
const COPIES_MOST: usize = 1_000_000;

/// A list of words with more letters is no label.
const LABEL_MOST: usize = 1_000;

/// The words of a list that has nothing else, as one label: arguments, tags and flags tell what was
/// run.
pub(super) fn label_of(list: &[Value]) -> Option<String> {
    let words: Vec<&str> = list.iter().map(Value::as_str).collect::<Option<_>>()?;
    let label = words.join(" ");
    (!words.is_empty() && label.len() <= LABEL_MOST).then_some(label)
}

/// The entries of a list, each with a copy of what stands beside the list.
///
/// # Errors
/// The copies are more than can be held.
pub(super) fn entries_of_list(outer: &Value, items: Vec<Value>) -> Result<Vec<Value>, String> {
    let names = outer.as_object().map_or(0, serde_json::Map::len);
    if names.saturating_mul(items.len()) > COPIES_MOST {
        return Err(format!(
            "{} entries with {names} names beside them are more than can be held; keep those that \
             matter",
            items.len()
        ));
    }
    for item in &items {
        let mut names = item.as_object().into_iter().flatten();
        let twice = names.find(|(name, value)| {
            outer.get(*name).is_some_and(|beside| is_plain(beside) && beside != *value)
        });
        if let Some((name, _)) = twice {
            return Err(format!(
                "{name:?} stands in the entries of a list and beside it, with other values; keep \
                 one of the two, or rename it"
            ));
        }
    }
    let fields = outer_fields(outer);
    Ok(items.into_iter().map(|item| with_outer_fields(&fields, item)).collect())
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// What an object says of each entry of a list in it: its plain values, and how its run ended.
pub(super) fn outer_fields(outer: &Value) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, value) in outer.as_object().into_iter().flatten() {
        if is_plain(value) {
            fields.insert(name.clone(), value.clone());
        } else if let Some(cell) = endings::ending_cell(name, value) {
            fields.insert(name.clone(), Value::String(cell));
        } else if endings::unread_ending(name, value).is_some() {
            // Each entry has a copy, so that it is a short one; it is as little read as the whole.
            fields.insert(name.clone(), Value::String(quoted_value(value)));
        }
    }
    fields
}

/// An object with what the object around it says beside.
pub(super) fn with_outer_fields(outer: &Map<String, Value>, item: Value) -> Value {
    match item {
        Value::Object(item) => {
            let mut all = outer.clone();
            all.extend(item);
            Value::Object(all)
        }
        item => item,
    }
}

/// What is known of the lists of one name.
struct List {
    first: Value,
    differs: bool,
    /// Whether it has numbers of which no figure beside them is made.
    is_measured: bool,
}

/// The lists of all rows by their names.
#[derive(Default)]
pub(super) struct Lists(BTreeMap<String, List>);

impl Lists {
    /// Takes the list of one row; `beside` are the numbers of the object that it stands in, in
    /// rising order.
    pub(super) fn add_list(&mut self, name: String, list: Value, beside: &[f64]) {
        let is_measured = has_number(&list) && !is_summed_up(&list, beside);
        match self.0.get_mut(&name) {
            Some(known) => {
                known.differs |= known.first != list;
                known.is_measured |= is_measured;
            }
            None => drop(self.0.insert(name, List { first: list, differs: false, is_measured })),
        }
    }

    /// The names of those that are figures by themselves, and what is to be said of all others.
    pub(super) fn figures_and_rest(self) -> (Vec<String>, Option<String>) {
        let (mut figures, mut others) = (Vec::new(), Vec::new());
        for (name, list) in self.0 {
            if list.differs && list.is_measured { &mut figures } else { &mut others }.push(name);
        }
        let left_out = others.split_first().map(|(list, more)| {
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("Lists are no values and were left out: {list:?}{more}.")
        });
        (figures, left_out)
    }
}

fn has_number(value: &Value) -> bool {
    match value {
        Value::Number(_) => true,
        Value::Array(list) => list.iter().any(has_number),
        Value::Object(object) => object.values().any(has_number),
        _ => false,
    }
}

/// Whether one of the numbers beside a list, which are in rising order, is its mean, its median,
/// its least or its largest number.
fn is_summed_up(list: &Value, beside: &[f64]) -> bool {
    let numbers: Option<Vec<f64>> =
        list.as_array().into_iter().flatten().map(Value::as_f64).collect();
    let Some(mut numbers) = numbers.filter(|numbers| !numbers.is_empty()) else { return false };
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len();
    let mean = numbers.iter().sum::<f64>() / count as f64;
    let median = dbdyno_stats::median(&numbers).unwrap_or(mean);
    let figures = [mean, median, numbers[0], numbers[count - 1]];
    figures.iter().any(|figure| {
        let reach = ROUNDING_MOST * figure.abs();
        let least = beside.partition_point(|number| *number < figure - reach);
        beside.get(least).is_some_and(|number| *number <= figure + reach)
    })
}
