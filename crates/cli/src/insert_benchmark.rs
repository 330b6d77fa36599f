//! `--load insert-benchmark`: one word for ten steps, with rounds of its own.

use dbdyno_model::{Plan, Stage};
use dbdyno_workload::insert_benchmark::{BenchmarkStep, LOAD_STEPS};

/// Rounds of each arm in each step, where the flags do not say.
const PAIRS: u32 = 20;
/// Queries before the window opens in each round of a query step.
const LEAD_IN_NS: u64 = 300_000_000;

/// How the Insert Benchmark is measured where the flags do not say.
pub(crate) struct Rounds {
    /// Rounds of each arm in each step.
    pub pairs: u32,
    /// Length of the whole of a query step on each arm, seconds.
    pub step_seconds: u64,
    /// Load before the window opens.
    pub lead_in_ns: u64,
}

/// How loads are measured whose query steps take this long; `None` for other loads.
pub(crate) fn rounds(step_seconds: Option<u64>) -> Option<Rounds> {
    step_seconds.map(|step_seconds| Rounds { pairs: PAIRS, step_seconds, lead_in_ns: LEAD_IN_NS })
}

/// Whether the steps of a plan can follow each other.
///
/// # Errors
/// A sentence that says what is missing.
pub(crate) fn check_step_order(plan: &Plan) -> Result<(), String> {
    let loads: Vec<&str> = plan.question.stages.iter().filter_map(Stage::load).collect();
    let steps: Vec<_> = loads.iter().filter_map(|load| BenchmarkStep::find(load)).collect();
    if steps.is_empty() {
        return Ok(());
    }
    if steps.len() < loads.len() || plan.labels().len() < loads.len() {
        return Err("the Insert Benchmark runs by itself, because its rounds are not those of \
                    other loads; compare the other loads in a run of their own"
            .to_owned());
    }
    if plan.question.clients.len() > 1 {
        return Err("the Insert Benchmark has a table for each client, so it takes one number of \
                    clients; give --clients once and run it again for the next number"
            .to_owned());
    }
    let found: Vec<_> = steps.into_iter().flatten().collect();
    let order: Vec<BenchmarkStep> = found.iter().map(|(step, _)| *step).collect();
    let known = order.iter().take_while(|step| LOAD_STEPS.contains(step)).count();
    let begins = order[..known] == LOAD_STEPS[..known] && known > 0;
    let queries_follow = known == order.len() || known == LOAD_STEPS.len();
    let alike = found.iter().all(|(_, sizes)| *sizes == found[0].1);
    let again = order.iter().enumerate().any(|(at, step)| order[..at].contains(step));
    if begins && queries_follow && alike && !again {
        return Ok(());
    }
    Err("the steps of the Insert Benchmark build on each other: l.i0, l.x, l.i1, l.i2, then any of \
         qrN and qpN, all with the same options; --load insert-benchmark names all of them"
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::choose_loads;

    fn plan(words: &[&str], clients: &[u32]) -> Plan {
        // Word by word: what is asked twice is left out within one.
        let stages = |word: &&str| choose_loads(&[(*word).to_owned()], &[], None).unwrap().stages;
        let mut plan = crate::plan::tests::some_plan();
        plan.question.stages = words.iter().flat_map(stages).collect();
        plan.question.clients = clients.to_vec();
        plan
    }

    #[test]
    fn the_whole_is_its_steps_and_some_of_them_may_be_left_out_at_the_end() {
        let whole = plan(&["insert-benchmark?nr1=1000"], &[1]);
        assert_eq!(whole.labels().len(), 10);
        assert_eq!(whole.labels()[0], "l.i0?nr1=1000");
        assert_eq!(check_step_order(&whole), Ok(()));
        for good in [&["l.i0"][..], &["l.i0", "l.x", "l.i1", "l.i2", "qp7"], &["point-query"]] {
            assert_eq!(check_step_order(&plan(good, &[1])), Ok(()), "{good:?}");
        }
    }

    /// Its steps are not warmed up, and those that load take what the servers need.
    #[test]
    fn its_queries_have_a_length_beforehand() {
        use crate::plan::{Words, announcement_of_plan};

        let told = |loads: &[&str]| {
            let mut plan = plan(loads, &[1]);
            plan.schedule.pairs = 20;
            plan.schedule.round_ns = 3_000_000_000;
            plan.schedule.warm_up_ns = 60_000_000_000;
            announcement_of_plan(&plan, &[], Words::Few)
        };
        let whole = told(&["insert-benchmark"]);
        assert!(whole.contains("about 12 min of queries, and what loading takes"), "{whole}");
        let loading = told(&["l.i0", "l.x"]);
        assert!(loading.contains("as long as loading takes"), "{loading}");
    }

    #[test]
    fn what_cannot_follow_is_refused() {
        for (loads, clients, hint) in [
            (&["l.i0", "point-query"][..], &[1][..], "by itself"),
            (&["warm:point-query", "l.i0"], &[1], "by itself"),
            (&["insert-benchmark"], &[1, 2], "one number of clients"),
            (&["qr100"], &[1], "build on each other"),
            (&["l.x", "l.i0"], &[1], "build on each other"),
            (&["l.i0", "l.i0"], &[1], "build on each other"),
            (&["l.i0", "qr100"], &[1], "build on each other"),
            (&["l.i0", "l.x?nr1=1000"], &[1], "same options"),
        ] {
            let error = check_step_order(&plan(loads, clients)).unwrap_err();
            assert!(error.contains(hint), "{loads:?}: {error}");
        }
    }
}
