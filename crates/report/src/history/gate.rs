//! What a gate says of a history, in sentences and as checks.

use dbdyno_document::number::GLUE;
use dbdyno_model::{
    BenchmarkHistory, GateOutcome, HistoryGateAnswer, HistorySeries, SeriesGateAnswer,
    SeriesGateReason, Severity, ShiftWeight, Slide, Warning,
};

use super::words;
use crate::ci::{CheckStatus, CheckSuite, GateResult, NamedCheck, status_of_part};

/// What a gate on the latest values says, in sentences: the first series of each kind of reason,
/// and how many more there are.
pub fn history_gate_sentences(
    history: &BenchmarkHistory,
    answer: &HistoryGateAnswer,
) -> Vec<String> {
    match answer.outcome {
        GateOutcome::Holds => vec![format!(
            "holds: no change to the worse alarms among the latest {} values",
            answer.latest
        )],
        GateOutcome::Fails => vec![failure_sentence(history, answer)],
        GateOutcome::CannotTell => {
            let all = [
                unknown_directions(history, answer),
                doubtful_series(history, answer),
                doubts_of_whole(history, answer),
            ];
            all.into_iter().flatten().map(|why| format!("cannot tell: {why}")).collect()
        }
    }
}

/// The same as the answer of a gate, in one sentence.
pub fn history_gate_result(history: &BenchmarkHistory, answer: &HistoryGateAnswer) -> GateResult {
    GateResult {
        name: format!("--gate {}", answer.latest),
        outcome: answer.outcome,
        sentence: history_gate_sentences(history, answer).join("; "),
    }
}

/// A history as checks, one for each series, and one for the gate where there is one; `file` is
/// what it was read from.
pub fn history_checks(
    history: &BenchmarkHistory,
    answer: Option<&HistoryGateAnswer>,
    file: Option<&str>,
) -> Vec<CheckSuite> {
    let gate = answer.map(|answer| history_gate_result(history, answer).gate_suite(file));
    let answers = answer.into_iter().flat_map(|answer| answer.series.iter().map(Some));
    let series = history.series.iter().zip(answers.chain(std::iter::repeat(None)));
    let checks = series.map(|(series, answer)| NamedCheck {
        class: "history".to_owned(),
        name: series_name(series),
        status: series_status(series, answer),
        message: series_sentence(series, answer),
        doubts: other_warnings(series, answer).chain(&history.warnings).filter_map(doubt).collect(),
        file: file.map(str::to_owned),
        seconds: 0.0,
    });
    let suite = CheckSuite { name: history.source.clone(), checks: checks.collect() };
    gate.into_iter().chain([suite]).collect()
}

/// The changes that let a gate fail: the latest of the first series that has one, and how many more
/// series have.
fn failure_sentence(history: &BenchmarkHistory, answer: &HistoryGateAnswer) -> String {
    let mut failing = series_of(history, answer, |reason| match reason {
        SeriesGateReason::Alarm(_) => true,
        SeriesGateReason::UnknownDirection
        | SeriesGateReason::Slide(_)
        | SeriesGateReason::Doubt(_) => false,
    });
    let Some((series, reason)) = failing.next() else { return "fails".to_owned() };
    let change = reason_sentence(series, reason);
    let more = match failing.count() {
        0 => String::new(),
        more => format!(", and {more} more series change to the worse"),
    };
    format!("fails: {:?}: {change}{more}", series_name(series))
}

/// That a figure changed of which nobody knows whether that is to the worse, and what says it.
fn unknown_directions(history: &BenchmarkHistory, answer: &HistoryGateAnswer) -> Option<String> {
    let mut open =
        series_of(history, answer, |reason| *reason == SeriesGateReason::UnknownDirection);
    let (first, _) = open.next()?;
    let more = match open.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{:?}{more} {}", series_name(first), unknown_direction(first)))
}

/// The series that may hide a change, and the reason of the first.
fn doubtful_series(history: &BenchmarkHistory, answer: &HistoryGateAnswer) -> Option<String> {
    let mut open = series_of(history, answer, |reason| match reason {
        SeriesGateReason::Slide(_) | SeriesGateReason::Doubt(_) => true,
        SeriesGateReason::Alarm(_) | SeriesGateReason::UnknownDirection => false,
    });
    let (first, reason) = open.next()?;
    let more = match open.count() {
        0 => String::new(),
        more => format!(" ({more} more series leave such a doubt)"),
    };
    Some(format!("{:?}: {}{more}", series_name(first), reason_sentence(first, reason)))
}

/// What is not known of the whole.
fn doubts_of_whole(history: &BenchmarkHistory, answer: &HistoryGateAnswer) -> Option<String> {
    let doubts = answer.doubts.iter().map(|&at| history.warnings[at].text.as_str());
    let doubts: Vec<&str> = doubts.collect();
    (!doubts.is_empty()).then(|| doubts.join("; "))
}

/// Series with such reasons, and the first of them.
fn series_of<'a>(
    history: &'a BenchmarkHistory,
    answer: &'a HistoryGateAnswer,
    is_sought: impl Fn(&SeriesGateReason) -> bool,
) -> impl Iterator<Item = (&'a HistorySeries, SeriesGateReason)> {
    let series = history.series.iter().zip(&answer.series);
    series.filter_map(move |(series, answer)| {
        let reason = answer.reasons.iter().find(|reason| is_sought(reason))?;
        Some((series, *reason))
    })
}

fn reason_sentence(series: &HistorySeries, reason: SeriesGateReason) -> String {
    match reason {
        SeriesGateReason::Alarm(at) => words::shift_phrase(series, &series.changes.shifts[at]),
        SeriesGateReason::UnknownDirection => format!("it {}", unknown_direction(series)),
        SeriesGateReason::Slide(at) => {
            let Slide { from, to, size } = series.changes.slides[at];
            let size = words::size(series, size).replace(GLUE, " ");
            format!("values {} to {to} of {} slide by {size}", from + 1, series.points.len())
        }
        SeriesGateReason::Doubt(at) => series.warnings[at].text.replace(GLUE, " "),
    }
}

fn unknown_direction(series: &HistorySeries) -> String {
    format!(
        "changed, and nothing says whether more of it is better; say --better higher or --better \
         lower, with --metric {:?} where other figures have the other direction",
        series.metric
    )
}

/// What a series is called among all that there are: those of a store may differ only in what they
/// are against, and where.
fn series_name(series: &HistorySeries) -> String {
    let HistorySeries { name, about, metric, .. } = series;
    let metric = if name == metric { String::new() } else { format!(": {metric}") };
    let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
    format!("{name}{metric}{about}")
}

/// Without a gate nothing fails, and what alarms to the worse is told as such.
fn series_status(series: &HistorySeries, answer: Option<&SeriesGateAnswer>) -> CheckStatus {
    if let Some(answer) = answer {
        return status_of_part(answer.outcome);
    }
    let is_assumed = series.is_direction_assumed();
    let mut alarms =
        series.changes.shifts.iter().filter(|shift| shift.weight == ShiftWeight::Alarm);
    if alarms.any(|shift| is_assumed || series.is_worse(shift.size.estimate)) {
        CheckStatus::Worse
    } else {
        CheckStatus::Passed
    }
}

/// Why the gate does not hold for a series, else what was found in it.
fn series_sentence(series: &HistorySeries, answer: Option<&SeriesGateAnswer>) -> String {
    let says = answer.and_then(|answer| match answer.outcome {
        GateOutcome::Holds => None,
        GateOutcome::Fails => Some((answer, "fails")),
        GateOutcome::CannotTell => Some((answer, "cannot tell")),
    });
    if let Some((answer, says)) = says {
        let reasons = answer.reasons.iter().map(|reason| reason_sentence(series, *reason));
        return format!("gate {says}: {}", reasons.collect::<Vec<String>>().join("; "));
    }
    let changes = series.changes.shifts.iter().map(|shift| {
        format!("{}: {}", words::shift_answer(series, shift), words::shift_phrase(series, shift))
    });
    let changes: Vec<String> = changes.collect();
    if changes.is_empty() {
        let count = crate::words::count_with_noun(series.points.len() as u64, "value");
        return format!("no change found in {}", count.replace(GLUE, " "));
    }
    changes.join("; ")
}

/// What is to be known of a series beside the reasons of its answer.
fn other_warnings<'a>(
    series: &'a HistorySeries,
    answer: Option<&'a SeriesGateAnswer>,
) -> impl Iterator<Item = &'a Warning> {
    let warnings = series.warnings.iter().enumerate().filter(move |(at, _)| {
        !answer.is_some_and(|answer| answer.reasons.contains(&SeriesGateReason::Doubt(*at)))
    });
    warnings.map(|(_, warning)| warning)
}

/// What speaks against an answer.
fn doubt(warning: &Warning) -> Option<String> {
    let is_doubt = warning.severity != Severity::Note;
    is_doubt.then(|| format!("{}: {}", warning.severity.name(), warning.text.replace(GLUE, " ")))
}
