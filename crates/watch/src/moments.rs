//! What was read of a server, and when, as what it is by the second.
//!
//! ```text
//!   counter   1 000 at 10.0 s, 1 500 at 11.0 s   ─▶ 500/s
//!   gauge     7                                  ─▶ 7
//!   each      rows 500/s, statements 50/s        ─▶ 10 rows for each statement
//! ```
//!
//! Each fact has its own moment, since not all are asked for each second. A counter that has fallen
//! began anew: there is no rate until it was read twice again.

use std::collections::BTreeMap;

use dbdyno_model::metric_lessons::find_lessons;
use dbdyno_model::server_facts::{FactKind, ServerFact};

/// What each metric is by the second, by its name.
pub type MetricValues = BTreeMap<&'static str, f64>;

/// The latest moment of each fact of one server.
pub(crate) struct FactMoments {
    facts: BTreeMap<&'static str, &'static ServerFact>,
    latest: BTreeMap<&'static str, FactMoment>,
}

#[derive(Clone, Copy)]
struct FactMoment {
    at_ns: u64,
    value: f64,
}

impl Default for FactMoments {
    fn default() -> FactMoments {
        let facts =
            find_lessons(None).into_iter().map(|lesson| (lesson.name, lesson.server_fact()));
        FactMoments { facts: facts.collect(), latest: BTreeMap::new() }
    }
}

impl FactMoments {
    /// Takes what was read at this moment; tells what it is by the second.
    pub(crate) fn take_reading(
        &mut self,
        at_ns: u64,
        read: &BTreeMap<&'static str, f64>,
    ) -> MetricValues {
        let mut values = MetricValues::new();
        let mut rates = MetricValues::new();
        for (&name, &value) in read {
            let before = self.latest.insert(name, FactMoment { at_ns, value });
            let kind = self.facts.get(name).map(|fact| fact.kind);
            if kind == Some(FactKind::Gauge) {
                values.insert(name, value);
            } else if let Some(rate) = before.and_then(|before| before.rate_until(at_ns, value)) {
                rates.insert(name, rate);
            }
        }
        for (&name, fact) in &self.facts {
            let value = match fact.kind {
                FactKind::Gauge => None,
                FactKind::Counter => rates.get(name).copied(),
                FactKind::Each(one, of) => {
                    let of = rates.get(of).copied().filter(|of| *of > 0.0);
                    rates.get(one).copied().zip(of).map(|(one, of)| one / of)
                }
            };
            values.extend(value.map(|value| (name, value)));
        }
        values
    }

    /// Forgets all of it: the server has begun anew.
    pub(crate) fn forget_all(&mut self) {
        self.latest.clear();
    }
}

impl FactMoment {
    /// How much was added in each second until then; `None` where it has fallen, or no time went
    /// by.
    fn rate_until(self, at_ns: u64, value: f64) -> Option<f64> {
        let seconds = at_ns.checked_sub(self.at_ns).filter(|ns| *ns > 0)? as f64 / 1e9;
        let added = value - self.value;
        (added >= 0.0).then_some(added / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn read(facts: &[(&'static str, f64)]) -> BTreeMap<&'static str, f64> {
        facts.iter().copied().collect()
    }

    #[test]
    fn counters_are_rates_between_their_own_moments_and_gauges_are_levels() {
        let mut moments = FactMoments::default();
        let first =
            read(&[("rows_examined", 100.0), ("rows_sent", 10.0), ("threads_running", 3.0)]);
        let told = moments.take_reading(10 * SECOND, &first);
        assert_eq!(told, read(&[("threads_running", 3.0)]), "no rate from one reading");
        let told = moments.take_reading(11 * SECOND, &read(&[("rows_sent", 60.0)]));
        assert_eq!(told, read(&[("rows_sent", 50.0)]), "what was not read is absent");
        let second = read(&[("rows_examined", 1_100.0), ("rows_sent", 160.0)]);
        let told = moments.take_reading(12 * SECOND, &second);
        assert_eq!(told["rows_examined"], 500.0, "over the two seconds since it was read");
        assert_eq!(told["rows_sent"], 100.0);
        assert_eq!(told["rows_examined_per_row_sent"], 5.0);
    }

    #[test]
    fn a_counter_that_begins_anew_has_no_rate() {
        let mut moments = FactMoments::default();
        moments.take_reading(SECOND, &read(&[("rows_sent", 1e9)]));
        assert_eq!(moments.take_reading(2 * SECOND, &read(&[("rows_sent", 5.0)])), read(&[]));
        let again = moments.take_reading(3 * SECOND, &read(&[("rows_sent", 9.0)]));
        assert_eq!(again, read(&[("rows_sent", 4.0)]));
        moments.forget_all();
        assert_eq!(moments.take_reading(4 * SECOND, &read(&[("rows_sent", 10.0)])), read(&[]));
        assert_eq!(
            moments.take_reading(4 * SECOND, &read(&[("rows_sent", 10.0)])),
            read(&[]),
            "no time"
        );
    }
}
