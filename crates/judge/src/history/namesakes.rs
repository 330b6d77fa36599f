//! Benches of github-action-benchmark that have one name in a run, and are told apart by what they
//! say in `extra`.
//!
//! ```text
//!   name      extra             run 1   run 2   run 3
//!   rows/s    OTLP, batched       100     101     100      each comes back: three series
//!   rows/s    OTAP, batched       100     100      99
//!   rows/s    transformed          99      99      69
//!
//!   parse     1 204 samples       3.1                      none comes back: nobody knows which is
//!   parse     64 samples          9.0                      which
//! ```
//!
//! Taken for repeats of one measurement, of which the median counts, what only one of them lost was
//! in no figure, and a bench more was a change of all.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// How often an `extra` has to come, in the mean, to be a bench's.
const RETURNS_LEAST: usize = 2;

/// The names of a suite that several benches of a run have.
#[derive(Default)]
pub(super) struct Namesakes {
    parted: BTreeSet<String>,
    /// Those whose benches cannot be told apart.
    pub(super) doubtful: BTreeSet<String>,
}

impl Namesakes {
    /// Of the runs of a suite.
    pub(super) fn of_runs(runs: &[Value]) -> Namesakes {
        let mut benches: BTreeMap<&str, Benches<'_>> = BTreeMap::new();
        for run in runs {
            let mut in_run: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            for bench in run.get("benches").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = bench.get("name").and_then(Value::as_str) {
                    in_run.entry(name).or_default().push(extra_of(bench));
                }
            }
            for (name, extras) in in_run {
                benches.entry(name).or_default().note_run(&extras);
            }
        }
        let mut namesakes = Namesakes::default();
        for (name, of) in benches.into_iter().filter(|(_, of)| of.are_several) {
            if of.come_back() {
                namesakes.parted.insert(name.to_owned());
            } else if of.extras.len() > 1 {
                namesakes.doubtful.insert(name.to_owned());
            }
        }
        namesakes
    }

    /// How a bench is called, so that no other one of its run is called so.
    pub(super) fn bench_name(&self, name: String, bench: &Value) -> String {
        let extra = extra_of(bench).split_whitespace().collect::<Vec<_>>().join(" ");
        if extra.is_empty() || !self.parted.contains(&name) {
            return name;
        }
        format!("{name}, {extra}")
    }
}

/// The benches of one name.
#[derive(Default)]
struct Benches<'v> {
    extras: BTreeSet<&'v str>,
    count: usize,
    /// Whether a run has several of them.
    are_several: bool,
    /// Whether a run has two with the same words.
    has_repeats: bool,
}

impl<'v> Benches<'v> {
    fn note_run(&mut self, extras: &[&'v str]) {
        let different: BTreeSet<&str> = extras.iter().copied().collect();
        self.are_several |= extras.len() > 1;
        self.has_repeats |= different.len() < extras.len();
        self.count += extras.len();
        self.extras.extend(different);
    }

    fn come_back(&self) -> bool {
        !self.has_repeats && RETURNS_LEAST * self.extras.len() <= self.count
    }
}

fn extra_of(bench: &Value) -> &str {
    bench.get("extra").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(extra: impl Fn(usize, usize) -> String) -> Vec<Value> {
        let bench = |run: usize, at: usize| {
            format!("{{\"name\":\"rate\",\"value\":1,\"extra\":{:?}}}", extra(run, at))
        };
        let run = |run: usize| {
            let text = format!("{{\"benches\":[{},{}]}}", bench(run, 0), bench(run, 1));
            serde_json::from_str(&text).unwrap()
        };
        (0..6).map(run).collect()
    }

    #[test]
    fn benches_of_one_name_are_parted_by_words_that_come_back() {
        let bench = |run: &Value| run["benches"][1].clone();
        let own = runs(|_, at| format!("pipeline\n{at}"));
        let namesakes = Namesakes::of_runs(&own);
        assert_eq!(namesakes.bench_name("rate".into(), &bench(&own[0])), "rate, pipeline 1");
        assert_eq!(namesakes.bench_name("other".into(), &bench(&own[0])), "other");
        let samples = runs(|run, at| format!("{} samples", 7 * run + 100 * at));
        let namesakes = Namesakes::of_runs(&samples);
        assert_eq!(namesakes.bench_name("rate".into(), &bench(&samples[0])), "rate");
        assert_eq!(namesakes.doubtful.len(), 1);
        let repeats = runs(|_, _| "the same".to_owned());
        let namesakes = Namesakes::of_runs(&repeats);
        assert_eq!(namesakes.bench_name("rate".into(), &bench(&repeats[0])), "rate");
        assert!(namesakes.doubtful.is_empty(), "repeats of one");
    }
}
