//! The anomalies of a recorded history: which there are, and how each does when played again.
//!
//! ```text
//!   lost update ×412, first after 0.02 s                      in the history
//!     again, 2 sessions step by step: 20 of 20 (84 to 100 %)  on the server, by `lab`
//! ```

use std::path::Path;

use dbdyno_check::{Checker, History, LevelVerdict, PairAnomaly};
use dbdyno_isolation::{
    AnomalyWitness, Origin, Threads, WitnessReplay, anomaly_file_name, refine_anomaly_name,
    witness_stories,
};
use dbdyno_report::verdicts::{PairFinding, RandomLevel, ReplayFinding, UnplayedAnomaly};

use crate::failure::Failure;
use crate::{files, output};

/// Stories of a witness that are tried, at most.
const STORIES_MOST: usize = 24;

/// A kind of anomaly of two transactions, and when the first one was complete.
pub(crate) struct Anomaly {
    kind: PairAnomaly,
    /// Since the first statement of the history; `None` where a clock of turns was read.
    first_s: Option<f64>,
}

/// What two transactions of a history did to each other.
pub(crate) fn find_anomalies(
    history: &History,
    checker: &Checker<'_>,
    threads: Threads,
) -> Vec<Anomaly> {
    let begin = (0..history.len()).map(|txn| history.txn(txn).times.begin_invoke_ns).min();
    let kinds = checker.pair_anomalies(|name, steps| refine_anomaly_name(history, name, steps));
    let anomalies = kinds.into_iter().map(|kind| {
        let first = first_end_ns(history, &kind).filter(|_| threads == Threads::OneEach);
        let first = first.map(|end| end.saturating_sub(begin.unwrap_or(0)) as f64 / 1e9);
        Anomaly { first_s: first, kind }
    });
    anomalies.collect()
}

/// When the first of the examples was complete: both of its transactions had committed.
fn first_end_ns(history: &History, kind: &PairAnomaly) -> Option<u64> {
    let ends = kind.examples.iter().filter_map(|steps| {
        steps.iter().map(|step| history.txn(step.from).times.commit_return_ns).max()
    });
    ends.min()
}

/// What is worth playing again: what breaks the promise, and each kind of anomaly beside it.
pub(crate) fn anomaly_witnesses(
    history: &History,
    anomalies: &[Anomaly],
    promise: &LevelVerdict,
    prevented: &Option<String>,
    source: &str,
) -> Vec<AnomalyWitness> {
    let mut all = Vec::new();
    if let LevelVerdict::Cycle(name, cycle) = promise {
        let origin = Origin { anomaly: name, source, prevented: prevented.clone() };
        let stories = witness_stories(history, &cycle.steps, &origin);
        all.push(AnomalyWitness { anomaly: name.clone(), stories });
    }
    for Anomaly { kind, .. } in anomalies {
        if promise.anomaly() == Some(kind.name.as_str()) {
            continue;
        }
        let origin = Origin { anomaly: &kind.name, source, prevented: None };
        let stories = kind.examples.iter().map(|steps| witness_stories(history, steps, &origin));
        let (good, bad): (Vec<_>, Vec<_>) = stories.partition(Result::is_ok);
        let good: Vec<String> = good.into_iter().flatten().flatten().take(STORIES_MOST).collect();
        let stories = match bad.into_iter().find_map(Result::err) {
            Some(why) if good.is_empty() => Err(why),
            _ => Ok(good),
        };
        all.push(AnomalyWitness { anomaly: kind.name.clone(), stories });
    }
    all
}

/// Witnesses that have no script, and why.
pub(crate) fn unplayed_anomalies(witnesses: &[AnomalyWitness]) -> Vec<UnplayedAnomaly> {
    let unplayed = witnesses.iter().filter_map(|one| {
        let why = one.stories.as_ref().err()?;
        Some(UnplayedAnomaly { anomaly: one.anomaly.clone(), why: why.clone() })
    });
    unplayed.collect()
}

/// A kind of anomaly, as it is told.
pub(crate) fn pair_finding(of: Anomaly) -> PairFinding {
    PairFinding { anomaly: of.kind.name, pairs: of.kind.pairs, first_s: of.first_s }
}

/// What came of an anomaly that was played again.
pub(crate) fn replay_finding(of: WitnessReplay) -> ReplayFinding {
    let rate = of.rate();
    ReplayFinding {
        anomaly: of.anomaly,
        sessions: of.sessions,
        runs: of.runs,
        seen: of.seen,
        rate_low: rate.low,
        rate_high: rate.high,
        waited: of.waited,
        refused: of.refused,
        case: of.case,
        sql: of.sql,
    }
}

/// Writes each witness as a case file and as SQL.
pub(crate) fn write_witnesses(
    folder: &Path,
    target: &str,
    level: &RandomLevel,
) -> Result<(), Failure> {
    let target = target.replace(|c: char| !(c.is_ascii_alphanumeric() || ".-_".contains(c)), "-");
    for one in &level.witnesses {
        let name = format!("{target}-{}-{}", level.level, anomaly_file_name(&one.anomaly));
        for (ending, text) in [("case", &one.case), ("sql", &one.sql)] {
            let path = folder.join(format!("{name}.{ending}"));
            files::write(&path, output::sanitize_text(text).as_bytes())?;
        }
    }
    Ok(())
}
