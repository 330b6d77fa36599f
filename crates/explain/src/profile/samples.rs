//! A profile by function, whatever it was read from.
//!
//! Stacks have weights: how often each was seen, or how long, as some tools print it (periods of
//! the clock in nanoseconds). What is known of chance depends on how many samples there were, so
//! that the weight of one sample is kept beside the sums. A name is kept once, however often it
//! stands in a profile and what is made of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dbdyno_model::{FunctionPlace, LEFT_OUT};

use super::form::ProfileMeasure;
use super::programs::Programs;

/// What was sampled, by function: weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The weight of one sample: 1, or the period of a clock. Absent where weights are sums of
    /// amounts and how many samples they stand for is not told.
    pub unit: Option<f64>,
    /// Which function of a stack it counts for.
    pub place: FunctionPlace,
    /// Samples of a function itself.
    pub own: BTreeMap<Arc<str>, f64>,
    /// Samples of a function and all that it called, by its caller; the outermost has none.
    pub by_caller: BTreeMap<(Arc<str>, Arc<str>), f64>,
    /// All samples.
    pub total: f64,
    /// Whether it is an excerpt: some of the samples are those of functions that are not told.
    pub is_excerpt: bool,
    /// What functions that are not told weigh together, at most: what is left out, and what
    /// rounding hides.
    pub left_out_most: f64,
    /// What weights count.
    pub measure: ProfileMeasure,
    /// What the text was taken for, in words.
    pub taken_for: String,
    /// All programs in the text, and their shares of what is not idle, the largest first; none
    /// where it does not tell them.
    pub programs: Vec<(String, f64)>,
    /// The share of idle in all that the text has; it is not counted.
    pub idle_share: f64,
    /// The program that is counted alone.
    pub process: Option<String>,
}

impl Profile {
    /// The same, of a text beside which programs and idle are told, in samples.
    pub fn with_programs(mut self, programs: &BTreeMap<String, f64>, idle: f64) -> Profile {
        let programs = Programs::from_weights(programs, idle);
        self.taken_for += &programs.shares_text(None);
        (self.programs, self.idle_share) = (programs.busy_shares(), programs.idle_share());
        self
    }

    /// A profile without samples.
    pub(crate) fn without_samples() -> Profile {
        Profile {
            unit: Some(f64::MIN_POSITIVE),
            place: FunctionPlace::Innermost,
            own: BTreeMap::new(),
            by_caller: BTreeMap::new(),
            total: 0.0,
            is_excerpt: false,
            left_out_most: 0.0,
            measure: ProfileMeasure::UNTOLD,
            taken_for: String::new(),
            programs: Vec::new(),
            idle_share: 0.0,
            process: None,
        }
    }

    /// All of these, added up; of none, nothing.
    pub(super) fn sum<'p>(all: impl Iterator<Item = &'p Profile>) -> Profile {
        let mut sum = Profile::without_samples();
        for profile in all {
            sum.unit = sum.unit.zip(profile.unit).map(|(one, other)| one.max(other));
            if profile.place == FunctionPlace::Waiting {
                sum.place = profile.place;
            }
            sum.total += profile.total;
            for (name, own) in &profile.own {
                *sum.own.entry(name.clone()).or_default() += own;
            }
            for (place, samples) in &profile.by_caller {
                *sum.by_caller.entry(place.clone()).or_default() += samples;
            }
        }
        sum
    }

    /// Puts these functions with what is left out: nobody knows what an excerpt lacks of them.
    pub(super) fn leave_out(&mut self, unknown: &BTreeSet<Arc<str>>) {
        self.put_together(unknown, LEFT_OUT);
    }

    /// Puts these functions together under one name.
    pub(super) fn put_together(&mut self, unknown: &BTreeSet<Arc<str>>, under: &str) {
        let is_known = |name: &Arc<str>| !unknown.contains(name);
        let mut rest = 0.0;
        self.own.retain(|name, own| {
            rest += if is_known(name) { 0.0 } else { *own };
            is_known(name)
        });
        if rest > 0.0 {
            *self.own.entry(under.into()).or_default() += rest;
        }
        self.by_caller
            .retain(|(caller, name), _| is_known(name) && (caller.is_empty() || is_known(caller)));
    }
}
