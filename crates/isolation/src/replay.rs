//! A witness, played again: how often the anomaly is there when sessions do no more than it takes.
//!
//! ```text
//!   stories of a witness ─▶ each once, until one shows the anomaly ─▶ that one N times
//!                                                                      │
//!                            k of N, with an interval ◀────────────────┘
//! ```
//!
//! The play by which a story was chosen does not count. Steps are sent one after the other, so that
//! an anomaly that needs two statements to be at work at the same moment is not seen again; then
//! nothing is taken back, and 0 of N is what is said.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dbdyno_cases::{Case, StepAction, parse};
use dbdyno_model::Interval;
use dbdyno_model::isolation::{CaseOutcome, CaseTold, IsolationLevel};
use dbdyno_stats::{SHOWN_CONFIDENCE, share_interval};
use dbdyno_wire::WireError;

use crate::bench::Bench;
use crate::cases::with_table;

/// What the table of a script is called.
const TABLE: &str = "dbdyno_witness";

/// An anomaly that a history has, and the stories that may show it.
#[derive(Clone, Debug)]
pub struct AnomalyWitness {
    /// What it is called.
    pub anomaly: String,
    /// Case files, the likeliest first; else why there is none.
    pub stories: Result<Vec<String>, String>,
}

/// A witness that was played again.
#[derive(Clone, Debug)]
pub struct WitnessReplay {
    /// What it is called.
    pub anomaly: String,
    /// The story, as a case file.
    pub case: String,
    /// The same as SQL, for as many terminals as there are sessions.
    pub sql: String,
    /// How many sessions take part.
    pub sessions: u8,
    /// How often it was played, after it had been chosen.
    pub runs: u32,
    /// In how many of these the anomaly was seen.
    pub seen: u32,
    /// In how many a statement had to wait,
    pub waited: u32,
    /// and in how many which error came back.
    pub refused: BTreeMap<String, u32>,
}

impl WitnessReplay {
    /// The share of plays that show it, with its 95 % interval.
    ///
    /// # Panics
    /// Never: the confidence is one.
    #[must_use]
    pub fn rate(&self) -> Interval {
        share_interval(u64::from(self.seen), u64::from(self.runs), SHOWN_CONFIDENCE)
            .expect("a confidence")
    }
}

impl Bench<'_, '_> {
    /// Plays each witness again, so many times; fewer if it is stopped.
    ///
    /// # Errors
    /// Those of cases.
    pub(crate) fn replay(
        &mut self,
        level: IsolationLevel,
        witnesses: &[AnomalyWitness],
        runs: u32,
    ) -> Result<Vec<WitnessReplay>, WireError> {
        let mut all = Vec::new();
        for witness in witnesses {
            let stories = witness.stories.iter().flatten();
            let cases: Vec<(String, Case)> =
                stories.filter_map(|text| Some((text.clone(), parse(text).ok()?))).collect();
            let mut chosen = cases.first();
            for one in &cases {
                let told = self.play_cases(level, std::slice::from_ref(&one.1))?;
                if told.iter().any(|told| told.outcome == CaseOutcome::Occurs) {
                    chosen = Some(one);
                    break;
                }
            }
            if let Some((text, case)) = chosen.filter(|_| !self.is_stopped()) {
                all.push(self.again(level, &witness.anomaly, text, case, runs)?);
            }
        }
        Ok(all)
    }

    fn again(
        &mut self,
        level: IsolationLevel,
        anomaly: &str,
        text: &str,
        case: &Case,
        runs: u32,
    ) -> Result<WitnessReplay, WireError> {
        let plays = vec![case.clone(); runs as usize];
        let told = self.play_cases(level, &plays)?;
        let mut refused = BTreeMap::new();
        for play in &told {
            let mut errors: Vec<String> =
                play.steps.iter().filter_map(|step| step.answer.error()).collect();
            errors.sort();
            errors.dedup();
            errors.into_iter().for_each(|error| *refused.entry(error).or_insert(0) += 1);
        }
        let count =
            |is: &dyn Fn(&CaseTold) -> bool| told.iter().filter(|play| is(play)).count() as u32;
        Ok(WitnessReplay {
            anomaly: anomaly.to_owned(),
            case: text.to_owned(),
            sql: self.sql_script(level, case, text),
            sessions: case.sessions(),
            runs: told.len() as u32,
            seen: count(&|play| play.outcome == CaseOutcome::Occurs),
            waited: count(&|play| play.steps.iter().any(|step| step.waited.is_some())),
            refused,
        })
    }

    /// The story as SQL, each line in the session that the comment above it names.
    fn sql_script(&self, level: IsolationLevel, case: &Case, text: &str) -> String {
        let occurs = text.lines().find_map(|line| line.strip_prefix("occurs: ")).unwrap_or("");
        let wanted = |name: &str| {
            occurs.split(" and ").find_map(|atom| atom.strip_prefix(name)?.strip_prefix(" is "))
        };
        let rows = case.rows.iter().map(|(id, value)| format!("({id}, {value}, 0)"));
        let mut out = format!(
            "-- {} at {level}.\n-- A terminal for each session; say each line in the one that the \
             comment above it names,\n-- in this order. The anomaly is there if all answers are \
             those behind the statements.\n\n-- T1\nCREATE TABLE {TABLE} (id INT NOT NULL PRIMARY \
             KEY, value INT, mark INT);\nINSERT INTO {TABLE} (id, value, mark) VALUES {};\n",
            case.anomaly,
            rows.collect::<Vec<_>>().join(", "),
        );
        for session in 1..=case.sessions() {
            let _ = writeln!(out, "\n-- T{session}");
            self.words.first(level).iter().for_each(|sql| out.push_str(&format!("{sql};\n")));
        }
        let mut speaker = 0;
        for step in &case.steps {
            if step.session != speaker {
                speaker = step.session;
                let _ = writeln!(out, "\n-- T{speaker}");
            }
            let said = match step.action {
                StepAction::Begin => self.words.begin_statements(),
                StepAction::BeginSnapshot => self.words.begin_snapshot(TABLE),
                StepAction::Commit => vec!["COMMIT".to_owned()],
                StepAction::Rollback => vec!["ROLLBACK".to_owned()],
                StepAction::Statement => vec![with_random_table(step.sql_in(self.dialect()))],
            };
            said.iter().for_each(|sql| out.push_str(&format!("{sql};\n")));
            if let Some(rows) = step.name.as_deref().and_then(wanted) {
                out.truncate(out.trim_end().len());
                let _ = writeln!(out, "   -- {rows}");
            }
        }
        let _ = writeln!(out, "\n-- T1\nDROP TABLE {TABLE};");
        out
    }
}

fn with_random_table(sql: &str) -> String {
    with_table(sql, TABLE)
}
