//! One word for what became of an anomaly, or of a case of somebody's own, at a level.

use std::fmt;

use dbdyno_model::isolation::{CaseOutcome, CaseTold, IsolationTold, LevelTold};

/// What stands in a cell: what became of the cases of a subject, and a mark.
pub(super) struct Cell<'a> {
    cases: Vec<&'a CaseTold>,
}

/// What stands in one place of a table: the published cases of an anomaly, or somebody's own case.
pub(super) fn subject_name(case: &CaseTold) -> String {
    if case.is_published {
        case.anomaly.clone()
    } else {
        format!("{} ({})", case.name, case.anomaly)
    }
}

/// The subjects of all cases, in the order in which they come.
pub(super) fn subject_names(all: &[IsolationTold]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for case in all.iter().flat_map(|told| &told.levels).flat_map(|level| &level.cases) {
        let name = subject_name(case);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The cell of a subject.
pub(super) fn cell<'a>(level: &'a LevelTold, subject: &str) -> Cell<'a> {
    Cell { cases: level.cases.iter().filter(|case| subject_name(case) == subject).collect() }
}

/// What became of a case, in a word or two.
pub(super) fn outcome_word(outcome: &CaseOutcome) -> String {
    match outcome {
        CaseOutcome::Occurs => "occurs".to_owned(),
        CaseOutcome::ByWaiting => "waits".to_owned(),
        CaseOutcome::ByError(error) => format!("error {error}"),
        CaseOutcome::BySnapshot => "snapshot".to_owned(),
        CaseOutcome::Unknown(_) => "unknown".to_owned(),
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.cases.iter().filter(|case| case.outcome == CaseOutcome::Occurs).count();
        match (
            self.cases.as_slice(),
            self.cases.iter().find(|case| matches!(case.outcome, CaseOutcome::Unknown(_))),
        ) {
            ([], _) => return f.pad("–"),
            _ if seen == self.cases.len() => f.write_str("occurs")?,
            _ if seen > 0 => f.write_str("some")?,
            (_, Some(case)) => f.write_str(&outcome_word(&case.outcome))?,
            (cases, None) => f.write_str(&how(cases))?,
        }
        if self.cases.iter().any(|case| case.breaks_promise()) {
            f.write_str(" !")?;
        } else if seen == 0 && self.cases.iter().all(|case| case.exceeds_promise()) {
            f.write_str(" *")?;
        }
        Ok(())
    }
}

/// How an anomaly was prevented whose cases were prevented in several ways: an error says more than
/// a wait, and that more than nothing.
fn how(cases: &[&CaseTold]) -> String {
    // Of several that weigh the same the first one speaks.
    let heaviest = cases.iter().rev().max_by_key(|case| match case.outcome {
        CaseOutcome::ByError(_) => 2,
        CaseOutcome::ByWaiting => 1,
        _ => 0,
    });
    heaviest.map_or_else(String::new, |case| outcome_word(&case.outcome))
}
