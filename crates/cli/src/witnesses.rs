//! The anomalies of a recorded history: which there are, and how each does when played again.
//!
//! ```text
//!   lost update ×412, first after 0.02 s                      in the history
//!     again, 2 sessions step by step: 20 of 20 (84 to 100 %)  on the server, by `lab`
//! ```

use std::fmt::Write as _;
use std::path::Path;

use dbdyno_check::{Checker, CycleStep, History, LevelVerdict, PairAnomaly};
use dbdyno_lab::{
    AnomalyWitness, Origin, Threads, WitnessReplay, anomaly_file_name, refined, witness_stories,
};
use dbdyno_model::isolation::IsolationLevel;
use serde_json::{Value, json};

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
pub(crate) fn anomalies(
    history: &History,
    checker: &Checker<'_>,
    threads: Threads,
) -> Vec<Anomaly> {
    let times = |txn: usize| history.txn(txn).times;
    let begin = (0..history.len()).map(|txn| times(txn).begin_invoke_ns).min().unwrap_or(0);
    let first_s = |kind: &PairAnomaly| {
        let ends = kind.examples.iter().flatten().map(|step| times(step.from).commit_return_ns);
        let by_example = ends.collect::<Vec<_>>();
        let first = by_example.chunks(2).filter_map(|pair| pair.iter().max()).min();
        let first = first.filter(|_| threads == Threads::OneEach);
        first.map(|end| end.saturating_sub(begin) as f64 / 1e9)
    };
    let kinds = checker.pair_anomalies(|name, steps| refined(history, name, steps));
    kinds.into_iter().map(|kind| Anomaly { first_s: first_s(&kind), kind }).collect()
}

/// What is worth playing again: what breaks the promise, and each kind of anomaly beside it.
pub(crate) fn of(
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
        let stories = |steps: &[CycleStep; 2]| witness_stories(history, steps, &origin);
        let (good, bad): (Vec<_>, Vec<_>) =
            kind.examples.iter().map(stories).partition(Result::is_ok);
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
pub(crate) fn unplayed(witnesses: &[AnomalyWitness]) -> Vec<(String, String)> {
    witnesses
        .iter()
        .filter_map(|one| Some((one.anomaly.clone(), one.stories.clone().err()?)))
        .collect()
}

/// What was seen and what came of it, indented as the rest of a level is.
pub(crate) fn text(
    anomalies: &[Anomaly],
    replayed: &[WitnessReplay],
    shows_scripts: bool,
) -> String {
    let mut out = String::new();
    let of = |name: &str| replayed.iter().find(|one| one.anomaly == name);
    for Anomaly { kind, first_s } in anomalies {
        let PairAnomaly { name, pairs, .. } = kind;
        let first = first_s.map_or(String::new(), |first| format!(", first after {first:.2} s"));
        let _ = writeln!(out, "    {name} ×{pairs}{first}");
        out.extend(of(name).map(|one| again(one, shows_scripts)));
    }
    let is_listed =
        |one: &&WitnessReplay| anomalies.iter().any(|known| known.kind.name == one.anomaly);
    for one in replayed.iter().filter(|one| !is_listed(one)) {
        let _ = writeln!(out, "    {}", one.anomaly);
        out.push_str(&again(one, shows_scripts));
    }
    out
}

fn again(one: &WitnessReplay, shows_script: bool) -> String {
    let rate = one.rate();
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let mut out = format!(
        "      played again by {} sessions, a statement at a time: {} of {} (95 %: {} to {} %)\n",
        one.sessions,
        one.seen,
        one.runs,
        percent(rate.low),
        percent(rate.high),
    );
    let mut what = Vec::new();
    if one.waited > 0 {
        what.push(format!("a statement waited in {}", one.waited));
    }
    what.extend(one.refused.iter().map(|(error, count)| format!("error {error} in {count}")));
    if one.seen == 0 {
        let text = "it takes more than that: statements at work at the same time, or what the \
                    sessions did before";
        what.push(text.to_owned());
    }
    if !what.is_empty() {
        let _ = writeln!(out, "      {}", what.join("; "));
    }
    if shows_script {
        one.sql.lines().for_each(|line| {
            let _ = writeln!(out, "        {line}");
        });
    }
    out.lines().fold(String::new(), |all, line| all + line.trim_end() + "\n")
}

/// Kinds of anomalies as JSON.
pub(crate) fn anomalies_json(anomalies: &[Anomaly]) -> Value {
    let one = |one: &Anomaly| {
        let Anomaly { kind, first_s } = one;
        json!({ "anomaly": kind.name, "pairs": kind.pairs, "first_s": first_s })
    };
    anomalies.iter().map(one).collect()
}

/// Witnesses that were played again as JSON.
pub(crate) fn json(replayed: &[WitnessReplay]) -> Value {
    let one = |one: &WitnessReplay| {
        let rate = one.rate();
        json!({
            "anomaly": one.anomaly, "sessions": one.sessions, "runs": one.runs, "seen": one.seen,
            "rate_low": rate.low, "rate_high": rate.high,
            "waited": one.waited, "refused": one.refused, "case": one.case, "sql": one.sql,
        })
    };
    replayed.iter().map(one).collect()
}

/// Writes each witness as a case file and as SQL.
pub(crate) fn keep(
    folder: &Path,
    target: &str,
    level: IsolationLevel,
    replayed: &[WitnessReplay],
) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let target: String =
        target.chars().map(|c| if is_plain(c) { c } else { '-' }).collect::<String>();
    for one in replayed {
        let name = format!("{target}-{level}-{}", anomaly_file_name(&one.anomaly));
        for (ending, text) in [("case", &one.case), ("sql", &one.sql)] {
            let path = folder.join(format!("{name}.{ending}"));
            files::write(&path, output::harmless(text).as_bytes())?;
        }
    }
    Ok(())
}
