//! A profile by function, whatever it was read from.
//!
//! Stacks have weights: how often each was seen, or how long, as some tools print it (periods of
//! the clock in nanoseconds). What is known of chance depends on how many samples there were, so
//! that the weight of one sample is kept beside the sums. A name is kept once, however often it
//! stands in a profile and what is made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::form::Measure;

/// What was sampled, by function: weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The weight of one sample: 1, or where stacks have times, the smallest of them, as a rule
    /// that of a stack that was seen once. Where it is not, fewer samples are reckoned with than
    /// there were, and intervals are wider.
    pub unit: f64,
    /// Samples of a function itself.
    pub own: BTreeMap<Arc<str>, f64>,
    /// Samples of a function and all that it called, by its caller; the outermost has none.
    pub by_caller: BTreeMap<(Arc<str>, Arc<str>), f64>,
    /// All samples.
    pub total: f64,
    /// Whether it is an excerpt: some of the samples are those of functions that are not told.
    pub is_excerpt: bool,
    /// What weights count.
    pub measure: Measure,
    /// What the text was taken for, in words.
    pub taken_for: String,
}

/// What functions are called together that an excerpt does not tell.
pub(super) const LEFT_OUT: &str = "[left out of an excerpt]";

impl Profile {
    /// Puts all functions but these together: nobody knows what an excerpt lacks of them.
    fn keep(&mut self, known: &BTreeSet<Arc<str>>) {
        let is_known = |name: &Arc<str>| known.contains(name) || **name == *LEFT_OUT;
        let mut rest = 0.0;
        self.own.retain(|name, own| {
            rest += if is_known(name) { 0.0 } else { *own };
            is_known(name)
        });
        if rest > 0.0 {
            *self.own.entry(LEFT_OUT.into()).or_default() += rest;
        }
        self.by_caller
            .retain(|(caller, name), _| is_known(name) && (caller.is_empty() || is_known(caller)));
    }
}

/// Reduces profiles to the functions that each excerpt among them tells.
pub(super) fn reduce<'a>(profiles: impl Iterator<Item = &'a mut Profile>) {
    let mut profiles: Vec<&mut Profile> = profiles.collect();
    let told = |one: &&mut Profile| one.own.keys().cloned().collect::<BTreeSet<Arc<str>>>();
    let known = profiles.iter().filter(|one| one.is_excerpt).map(told);
    if let Some(known) = known.reduce(|a, b| a.intersection(&b).cloned().collect()) {
        profiles.iter_mut().for_each(|one| one.keep(&known));
    }
}
