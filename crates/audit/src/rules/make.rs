//! How a rule of the table is written: of facts, of numbers within a tolerance, of warnings.

use dbdyno_model::Weight;

use super::{Looks, Rule, Tolerance};
use crate::sources::Citation;
use crate::topic::Topic;

pub(super) const fn fact_rule(
    key: &'static str,
    topic: Topic,
    weights: (Weight, Weight),
    forms: &'static [&'static str],
    advice: &'static str,
    sources: &'static [Citation],
) -> Rule {
    Rule {
        key,
        topic,
        looks_at: Looks::Facts(forms),
        weight: weights.0,
        of_release: weights.1,
        tolerance: None,
        advice,
        sources,
    }
}

pub(super) const fn number_rule(
    key: &'static str,
    topic: Topic,
    weights: (Weight, Weight),
    forms: &'static [&'static str],
    tolerance: Tolerance,
    advice: &'static str,
    sources: &'static [Citation],
) -> Rule {
    fact_rule(key, topic, weights, forms, advice, sources).with_tolerance(tolerance)
}

pub(super) const fn warning_rule(
    key: &'static str,
    found: (Weight, &'static [&'static str]),
    advice: &'static str,
    sources: &'static [Citation],
) -> Rule {
    Rule {
        key,
        topic: Topic::Course,
        looks_at: Looks::Warnings(found.1),
        weight: found.0,
        of_release: found.0,
        tolerance: None,
        advice,
        sources,
    }
}

impl Rule {
    pub(super) const fn with_tolerance(mut self, tolerance: Tolerance) -> Rule {
        self.tolerance = Some(tolerance);
        self
    }
}
