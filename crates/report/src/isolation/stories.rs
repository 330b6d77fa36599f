//! What was said and answered, session beside session.
//!
//! ```text
//!   T1 begin
//!                         T2 begin
//!   T1 update … → 1 changed
//!                         T2 update … … waits for T1
//!   T1 commit → ok
//!                         T2 … → 1 changed
//! ```

use dbdyno_document::layout::printable;
use dbdyno_model::isolation::{CaseTold, IsolationTold, StepAnswer, StepTold, StepWait};

use super::cells::word;

/// How far the lane of a session is from that of the one before it.
const LANE: usize = 24;

/// All stories of a server. Each begins with an empty line.
pub(super) fn stories(told: &IsolationTold) -> String {
    let mut text = String::new();
    for level in &told.levels {
        for case in &level.cases {
            text.push_str(&format!("\n{} at {}: {}\n", case.name, level.level, ending(case)));
            text.push_str(&format!("  {}\n", printable(&case.about)));
            text.push_str(&lanes(case));
        }
    }
    text
}

fn ending(case: &CaseTold) -> String {
    let mark = match (case.breaks_promise(), case.exceeds_promise()) {
        (true, _) => ", and this server is known to prevent it",
        (_, true) => ", though that is not known of this server",
        _ => "",
    };
    let word = match &case.outcome {
        dbdyno_model::isolation::CaseOutcome::Unknown(why) => format!("unknown: {why}"),
        outcome => word(outcome),
    };
    printable(&format!("{word}{mark}"))
}

fn lanes(case: &CaseTold) -> String {
    let mut text = String::new();
    for (index, step) in case.steps.iter().enumerate() {
        let said = printable(&step.sql);
        match &step.waited {
            Some(wait) => {
                text.push_str(&line(step, &format!("{said} … waits{}", whom(wait))));
            }
            None => text.push_str(&line(step, &format!("{said}{}", answer(&step.answer)))),
        }
        for late in &case.steps {
            let until = late.waited.as_ref().and_then(|wait| wait.until);
            if until == Some(index) {
                text.push_str(&line(late, &format!("…{}", answer(&late.answer))));
            }
        }
    }
    text
}

fn line(step: &StepTold, text: &str) -> String {
    let indent = 2 + LANE * usize::from(step.session.saturating_sub(1));
    format!("{}T{} {text}\n", " ".repeat(indent), step.session)
}

fn whom(wait: &StepWait) -> String {
    let names: Vec<String> = wait.for_whom.iter().map(|session| format!("T{session}")).collect();
    if names.is_empty() { String::new() } else { format!(" for {}", names.join(" and ")) }
}

fn answer(answer: &StepAnswer) -> String {
    printable(&match answer {
        StepAnswer::Rows(rows) if rows.is_empty() => " → nothing".to_owned(),
        StepAnswer::Rows(rows) => {
            let row = |row: &Vec<Option<String>>| {
                row.iter()
                    .map(|value| value.clone().unwrap_or_else(|| "null".to_owned()))
                    .collect::<Vec<_>>()
                    .join(":")
            };
            format!(" → {}", rows.iter().map(row).collect::<Vec<_>>().join(" "))
        }
        StepAnswer::Changed(0) => String::new(),
        StepAnswer::Changed(1) => " → 1 row".to_owned(),
        StepAnswer::Changed(rows) => format!(" → {rows} rows"),
        StepAnswer::Refused { message, .. } => {
            format!(" → error {}: {message}", answer.error().unwrap_or_default())
        }
        StepAnswer::LeftOut => " (left out)".to_owned(),
        StepAnswer::Nothing => " → no answer".to_owned(),
    })
}
