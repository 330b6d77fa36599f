//! Cases, played.

use dbdyno_cases::{Case, PlayedStep, StepAction, StoryStep, judge_case};
use dbdyno_model::isolation::{
    CaseOutcome, CaseTold, IsolationLevel, RefusedSetup, StepAnswer, StepTold,
};
use dbdyno_wire::{Client, WireError};

use crate::bench::Bench;
use crate::steps::{Effect, Line, Stage, WaitAttribution, few_rows};
use crate::words::CASES as TABLE;

/// What the table is called in stories.
const NAME_IN_STORIES: &str = "test";
/// Sessions of a story, at most.
const SESSIONS: usize = 3;

impl Bench<'_, '_> {
    /// Plays all cases at a level; fewer if it is stopped.
    ///
    /// # Errors
    /// A connection that broke, or a table that cannot be made.
    pub(crate) fn play_cases(
        &mut self,
        level: IsolationLevel,
        cases: &[Case],
    ) -> Result<Vec<CaseTold>, WireError> {
        let mut told = Vec::new();
        let Some(first) = cases.first() else { return Ok(told) };
        let mut control = self.station.connector.connect()?;
        let mut stage = self.open_stage(level, SESSIONS)?;
        make(&mut *control, first)?;
        for case in cases {
            if self.is_stopped() {
                break;
            }
            self.report_progress(&format!("{level}: {}", case.name));
            if stage.is_spoiled() {
                stage = self.open_stage(level, SESSIONS)?;
            }
            control.run(&format!("DROP TABLE {TABLE}"))?;
            make(&mut *control, case)?;
            told.push(match set_up(&mut *control, case)? {
                Some(refused) => self.unplayed(level, case, refused),
                None => self.case(&mut stage, &mut *control, level, case)?,
            });
        }
        drop(stage);
        control.run(&format!("DROP TABLE {TABLE}"))?;
        control.close();
        Ok(told)
    }

    /// Sessions at a level.
    pub(crate) fn open_stage(
        &self,
        level: IsolationLevel,
        count: usize,
    ) -> Result<Stage, WireError> {
        let mut first = self.words.first(level);
        if let Some(sql) = self.words.deadlock_timeout_statement() {
            let mut client = self.station.connector.connect()?;
            // It takes a privilege, without which deadlocks are found later.
            if client.run(sql).is_ok() {
                first.push(sql.to_owned());
            }
            client.close();
        }
        Stage::open(&self.station.connector, count, &first, self.clock)
    }

    /// A case that could not begin.
    fn unplayed(&self, level: IsolationLevel, case: &Case, refused: RefusedSetup) -> CaseTold {
        let sql = &case.setup[refused.place].sql;
        let why = format!("its setup was refused, `{sql}`: {}", refused.message);
        CaseTold {
            name: case.name.clone(),
            anomaly: case.anomaly.clone(),
            is_published: case.is_published,
            about: case.about.clone(),
            outcome: CaseOutcome::Unknown(why),
            promise: case.server_promise(self.promise_family(), level),
            steps: Vec::new(),
            refused_setup: Some(refused),
        }
    }

    fn case(
        &self,
        stage: &mut Stage,
        control: &mut dyn Client,
        level: IsolationLevel,
        case: &Case,
    ) -> Result<CaseTold, WireError> {
        let script: Vec<Line> = case.steps.iter().map(|step| self.line(step)).collect();
        let told = stage.play_script(&script, WaitAttribution::Told)?;
        let end = few_rows(control, &format!("SELECT id, value FROM {TABLE} ORDER BY id"))?;
        let played = |one: crate::steps::StepReport| PlayedStep {
            place: one.place,
            told: StepTold {
                session: case.steps[one.place].session,
                sql: case.steps[one.place].sql_in(self.dialect()).to_owned(),
                answer: one.answer,
                waited: one.waited,
            },
        };
        let played: Vec<PlayedStep> = told.into_iter().map(played).collect();
        Ok(CaseTold {
            name: case.name.clone(),
            anomaly: case.anomaly.clone(),
            is_published: case.is_published,
            about: case.about.clone(),
            outcome: judge_case(case, &played, &StepAnswer::Rows(end)),
            promise: case.server_promise(self.promise_family(), level),
            steps: played.into_iter().map(|one| one.told).collect(),
            refused_setup: None,
        })
    }

    fn line(&self, step: &StoryStep) -> Line {
        let (statements, effect) = match step.action {
            StepAction::Begin => (self.words.begin_statements(), Effect::Begins),
            StepAction::BeginSnapshot => (self.words.begin_snapshot(TABLE), Effect::Begins),
            StepAction::Commit => (vec!["COMMIT".to_owned()], Effect::Ends),
            StepAction::Rollback => (vec!["ROLLBACK".to_owned()], Effect::Ends),
            StepAction::Statement => {
                (vec![with_table(step.sql_in(self.dialect()), TABLE)], Effect::Goes)
            }
        };
        Line { session: usize::from(step.session - 1), statements, effect }
    }
}

fn make(control: &mut dyn Client, case: &Case) -> Result<(), WireError> {
    control
        .run(&format!("CREATE TABLE {TABLE} (id INT NOT NULL PRIMARY KEY, value INT, mark INT)"))?;
    let rows: Vec<String> =
        case.rows.iter().map(|(id, value)| format!("({id}, {value}, 0)")).collect();
    if !rows.is_empty() {
        let rows = rows.join(", ");
        control.run(&format!("INSERT INTO {TABLE} (id, value, mark) VALUES {rows}"))?;
    }
    Ok(())
}

/// Carries out what a case has before its steps, up to the first statement that the server refuses.
fn set_up(control: &mut dyn Client, case: &Case) -> Result<Option<RefusedSetup>, WireError> {
    for (place, statement) in case.setup.iter().enumerate() {
        match control.run(&with_table(&statement.sql, TABLE)) {
            Ok(_) => {}
            Err(WireError::Server(said)) => {
                return Ok(Some(RefusedSetup { place, message: said.message.into() }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The statement with the table's own name where the story says `test`.
pub(crate) fn with_table(sql: &str, table: &str) -> String {
    let mut text = String::new();
    let mut rest = sql;
    while let Some(at) = rest.find(NAME_IN_STORIES) {
        let behind = &rest[at + NAME_IN_STORIES.len()..];
        let stands_alone = !rest[..at].ends_with(is_name_char) && !behind.starts_with(is_name_char);
        text.push_str(&rest[..at]);
        text.push_str(if stands_alone { table } else { NAME_IN_STORIES });
        rest = behind;
    }
    text.push_str(rest);
    text
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_story_gets_its_name_on_the_server() {
        let told = with_table("insert into test select * from test where tested = attest", TABLE);
        let wanted = "insert into dbdyno_cases select * from dbdyno_cases where tested = attest";
        assert_eq!(told, wanted);
    }
}
