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

use dbdyno_document::Text;
use dbdyno_model::isolation::{CaseTold, IsolationTold, StepAnswer, StepTold, StepWait};

use super::cells::outcome_word;

/// How far the lane of a session is from that of the one before it.
const LANE: usize = 24;

/// All stories of a server, each as its lines.
pub(super) fn story_lines(told: &IsolationTold) -> Vec<Vec<Text>> {
    let cases =
        told.levels.iter().flat_map(|level| level.cases.iter().map(move |case| (level, case)));
    let story = cases.map(|(level, case)| {
        let title = format!("{} at {}: {}", case.name, level.level, ending(case));
        let about = format!("  {}", case.about);
        [title, about].into_iter().chain(lanes(case)).map(Text::from).collect()
    });
    story.collect()
}

fn ending(case: &CaseTold) -> String {
    let mark = match (case.breaks_promise(), case.exceeds_promise()) {
        (true, _) => ", and this server is known to prevent it",
        (_, true) => ", though that is not known of this server",
        _ => "",
    };
    let word = match &case.outcome {
        dbdyno_model::isolation::CaseOutcome::Unknown(why) => format!("unknown: {why}"),
        outcome => outcome_word(outcome),
    };
    format!("{word}{mark}")
}

fn lanes(case: &CaseTold) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, step) in case.steps.iter().enumerate() {
        lines.push(match &step.waited {
            Some(wait) => line(step, &format!("{} … waits{}", step.sql, whom(wait))),
            None => line(step, &format!("{}{}", step.sql, answer(&step.answer))),
        });
        let late = case
            .steps
            .iter()
            .filter(|late| late.waited.as_ref().and_then(|wait| wait.until) == Some(index));
        lines.extend(late.map(|late| line(late, &format!("…{}", answer(&late.answer)))));
    }
    lines
}

fn line(step: &StepTold, text: &str) -> String {
    let indent = 2 + LANE * usize::from(step.session.saturating_sub(1));
    format!("{}T{} {text}", " ".repeat(indent), step.session)
}

fn whom(wait: &StepWait) -> String {
    let names: Vec<String> = wait.for_whom.iter().map(|session| format!("T{session}")).collect();
    if names.is_empty() { String::new() } else { format!(" for {}", names.join(" and ")) }
}

fn answer(answer: &StepAnswer) -> String {
    match answer {
        StepAnswer::Rows(rows) if rows.is_empty() => " → nothing".to_owned(),
        StepAnswer::Rows(rows) => {
            format!(
                " → {}",
                rows.iter()
                    .map(|row| {
                        row.iter()
                            .map(|value| value.clone().unwrap_or_else(|| "null".to_owned()))
                            .collect::<Vec<_>>()
                            .join(":")
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        }
        StepAnswer::Changed(0) => String::new(),
        StepAnswer::Changed(1) => " → 1 row".to_owned(),
        StepAnswer::Changed(rows) => format!(" → {rows} rows"),
        StepAnswer::Refused { message, .. } => {
            format!(" → error {}: {message}", answer.error().unwrap_or_default())
        }
        StepAnswer::LeftOut => " (left out)".to_owned(),
        StepAnswer::Nothing => " → no answer".to_owned(),
    }
}
