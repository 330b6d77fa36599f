//! What became of an anomaly, from what the sessions were answered.

use dbdyno_model::isolation::{CaseOutcome, StepAnswer, StepTold};

use crate::case::{Case, StepAction};
use crate::condition::END;

/// A step that was sent: which one of the case it is, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedStep {
    /// Its place in the case, from 0.
    pub place: usize,
    /// What was said and answered.
    pub told: StepTold,
}

/// Errors by which servers keep transactions apart: MySQL's of deadlocks, waits that took too long,
/// rows that changed, tables that changed, and locks that are not waited for.
const NUMBERS: [u16; 5] = [1213, 1205, 1020, 1412, 3572];
/// SQLSTATEs for the same: serialization failures, deadlocks, locks that are not to be had.
const STATES: [&str; 3] = ["40001", "40P01", "55P03"];

/// The classes of SQLSTATEs for statements that cannot be carried out as they are written, or that
/// have another number of values than columns.
const FAULTY: [&str; 2] = ["42", "21"];
/// What is no SQL at all, by number of MySQL and by SQLSTATE.
const NO_SQL: (u16, &str) = (1064, "42601");
/// Statements after which another one may name what is not there any more, or is there already.
const DEFINING: [&str; 5] = ["create", "drop", "alter", "rename", "truncate"];

/// Judges a case by its steps, in any order, and by the rows that were left.
pub fn judge_case(case: &Case, steps: &[PlayedStep], end: &StepAnswer) -> CaseOutcome {
    if let Some(silent) = steps.iter().find(|one| one.told.answer == StepAnswer::Nothing) {
        return CaseOutcome::Unknown(format!(
            "T{} had no answer to `{}`, and the server does not say that it waits",
            silent.told.session, silent.told.sql
        ));
    }
    if let Some(text) = steps.iter().find_map(|one| stranger(&one.told)) {
        return CaseOutcome::Unknown(text);
    }
    let answer = |name: &str| {
        if name == END {
            return Some(end);
        }
        let mut steps = steps.iter();
        let named = steps.find(|one| case.steps[one.place].name.as_deref() == Some(name))?;
        Some(&named.told.answer)
    };
    let all_committed = steps
        .iter()
        .filter(|one| case.steps[one.place].action == StepAction::Commit)
        .all(|one| matches!(one.told.answer, StepAnswer::Changed(_)));
    if all_committed && case.occurs.is_met_by(answer) {
        return CaseOutcome::Occurs;
    }
    if let Some(error) = steps.iter().find_map(|one| one.told.answer.error()) {
        return CaseOutcome::ByError(error);
    }
    let waited =
        |one: &PlayedStep| one.told.waited.is_some() && !case.steps[one.place].waits_anyway;
    if steps.iter().any(waited) { CaseOutcome::ByWaiting } else { CaseOutcome::BySnapshot }
}

/// What a server says that has nothing to do with other transactions.
fn stranger(told: &StepTold) -> Option<String> {
    let StepAnswer::Refused { code, sqlstate, message } = &told.answer else { return None };
    let is_known = match code {
        0 => STATES.contains(&sqlstate.as_str()),
        code => NUMBERS.contains(code),
    };
    (!is_known).then(|| format!("T{} was refused `{}`: {message}", told.session, told.sql))
}

/// The first statement of a case of which a server says that it is no SQL of its, or that it names
/// what is not there; its place in the case, and what was said. Where the case itself defines and
/// drops, what is not there may be its point: then only what is no SQL is a fault.
pub fn faulty_statement<'a>(case: &Case, told: &'a [StepTold]) -> Option<(usize, &'a str)> {
    let has_definitions = case.steps.iter().any(|step| is_definition(&step.sql));
    told.iter().enumerate().find_map(|(at, step)| {
        let StepAnswer::Refused { code, sqlstate, message } = &step.answer else { return None };
        let is_no_sql = *code == NO_SQL.0 || sqlstate == NO_SQL.1;
        let is_faulty = FAULTY.iter().any(|class| sqlstate.starts_with(class));
        let place = place_of_step(case, told, at)?;
        (is_no_sql || is_faulty && !has_definitions).then_some((place, message.as_str()))
    })
}

/// Whether a statement makes, changes or drops a table.
fn is_definition(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default().to_lowercase();
    DEFINING.contains(&first.as_str())
}

/// Which step of a case was sent as the one at this place: of equal ones of a session, the one that
/// as many came before.
fn place_of_step(case: &Case, told: &[StepTold], at: usize) -> Option<usize> {
    let session = told[at].session;
    let before = told[..at].iter().filter(|one| one.session == session).count();
    let mut of_session = case.steps.iter().enumerate().filter(|(_, one)| one.session == session);
    of_session.nth(before).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use dbdyno_model::isolation::StepWait;

    use super::*;
    use crate::parse::parse;

    const STORY: &str = "case: P4\nanomaly: P4\nabout: x\nsource: x\n\
        occurs: t1 is 1:10 and t2 is 1:10\n\
        T1: select id, value from test => t1\nT2: select id, value from test => t2\nT2 waits: update x\nT1: commit\nT2: commit\n";

    /// Of equal statements of a session the one is meant that was refused; where a case drops what
    /// it reads, that is its point.
    #[test]
    fn the_statement_that_was_refused_is_the_fault_unless_the_case_defines() {
        let story = |more: &str| {
            let head =
                "case: x\nanomaly: P4\nabout: x\nsource: x\noccurs: end is 1:10\nrows: 1:10\n";
            let steps = "T1: select value from test\nT2: select 1\nT1: select value from test\n";
            parse(&format!("{head}T1: begin\n{steps}{more}T1: commit\n")).unwrap()
        };
        let refused = |code, sqlstate: &str| StepAnswer::Refused {
            code,
            sqlstate: sqlstate.to_owned(),
            message: "no".to_owned(),
        };
        let told = |last: StepAnswer| {
            let answers = [StepAnswer::Changed(0), rows("10"), rows("1"), last];
            let sessions = [1, 1, 2, 1];
            let steps = answers.into_iter().zip(sessions).map(|(answer, session)| StepTold {
                session,
                sql: String::new(),
                answer,
                waited: None,
            });
            steps.collect::<Vec<_>>()
        };
        let place = |case: &Case, last| faulty_statement(case, &told(last)).map(|(place, _)| place);
        assert_eq!(place(&story(""), refused(1146, "42S02")), Some(3));
        assert_eq!(place(&story("T2: drop table aux\n"), refused(1146, "42S02")), None);
        assert_eq!(place(&story("T2: drop table aux\n"), refused(1064, "42000")), Some(3));
        assert_eq!(place(&story(""), refused(1213, "40001")), None);
        assert_eq!(place(&story(""), refused(1062, "23000")), None);
    }

    fn rows(text: &str) -> StepAnswer {
        let value = |value: &str| Some(value.to_owned());
        StepAnswer::Rows(vec![text.split(':').map(value).collect()])
    }

    fn played(answers: [StepAnswer; 5], waits: Option<usize>) -> CaseOutcome {
        let case = parse(STORY).unwrap();
        let played = |(place, answer): (usize, StepAnswer)| PlayedStep {
            place,
            told: StepTold {
                session: case.steps[place].session,
                sql: case.steps[place].sql.clone(),
                answer,
                waited: (waits == Some(place))
                    .then(|| StepWait { for_whom: vec![1], until: Some(3) }),
            },
        };
        let steps: Vec<PlayedStep> = answers.into_iter().enumerate().map(played).collect();
        judge_case(&case, &steps, &rows("1:12"))
    }

    fn refused(code: u16, sqlstate: &str) -> StepAnswer {
        StepAnswer::Refused { code, sqlstate: sqlstate.to_owned(), message: "no".to_owned() }
    }

    #[test]
    fn an_anomaly_counts_if_it_was_read_and_all_committed() {
        let done = || StepAnswer::Changed(0);
        let seen = [rows("1:10"), rows("1:10"), done(), done(), done()];
        assert_eq!(played(seen.clone(), Some(2)), CaseOutcome::Occurs);
        let mut other = seen.clone();
        other[1] = rows("1:11");
        assert_eq!(played(other.clone(), Some(2)), CaseOutcome::BySnapshot);
        assert_eq!(played(other, Some(1)), CaseOutcome::ByWaiting);
        let mut aborted = seen.clone();
        (aborted[2], aborted[4]) = (refused(1213, "40001"), StepAnswer::LeftOut);
        assert_eq!(played(aborted, None), CaseOutcome::ByError("1213".to_owned()));
        let mut at_commit = seen;
        at_commit[4] = refused(0, "40001");
        assert_eq!(played(at_commit, None), CaseOutcome::ByError("40001".to_owned()));
    }

    #[test]
    fn what_is_no_conflict_or_no_answer_is_no_verdict() {
        let done = || StepAnswer::Changed(0);
        let mut wrong = [rows("1:10"), rows("1:10"), refused(1064, "42000"), done(), done()];
        assert!(
            matches!(played(wrong.clone(), None), CaseOutcome::Unknown(why) if why.contains("T2"))
        );
        wrong[2] = StepAnswer::Nothing;
        assert!(
            matches!(played(wrong, None), CaseOutcome::Unknown(why) if why.contains("no answer"))
        );
    }
}
