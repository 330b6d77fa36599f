//! All small interleavings, played and counted.
//!
//! ```text
//!   schedule ─▶ rows of its own ─▶ played ─┬─ at once · waited · refused        (`steps`)
//!                                          └─ a serial order that does the same? (`cases::serial`)
//! ```

use dbdyno_cases::serial::{ValueOperation, has_serial_order, is_serializable, value_of};
use dbdyno_cases::{Interleaving, InterleavingSize, KeyOperation};
use dbdyno_model::isolation::{IsolationLevel, Permissiveness, ShapeTold, StepAnswer};
use dbdyno_wire::{Client, WireError};

use crate::bench::{Bench, IsolationQuestion};
use crate::steps::{Effect, Line, StepReport, WaitAttribution, few_rows};
use crate::words::INTERLEAVINGS as TABLE;

/// Rows of an INSERT.
const ROWS_AT_ONCE: u64 = 500;
/// How often progress is told, in interleavings.
const TELL_EVERY: usize = 100;

impl Bench<'_, '_> {
    /// Plays all shapes at a level.
    ///
    /// # Errors
    /// A connection that broke, or a table that cannot be made.
    pub(crate) fn play_shapes(
        &mut self,
        level: IsolationLevel,
        question: &IsolationQuestion<'_>,
    ) -> Result<Vec<ShapeTold>, WireError> {
        let shapes = question.shapes.iter();
        shapes.map(|(shape, most)| self.shape(level, *shape, *most, question.seed)).collect()
    }

    fn shape(
        &mut self,
        level: IsolationLevel,
        shape: InterleavingSize,
        most: u64,
        seed: u64,
    ) -> Result<ShapeTold, WireError> {
        let schedules = shape.sample_schedules(most, seed);
        let mut counts = Permissiveness::default();
        let mut example = None;
        self.for_each_schedule(level, shape, &schedules, |told, control, schedule, rows| {
            let played = outcome(told, control, schedule, rows)?;
            count(&mut counts, &played);
            if played.went == Went::AtOnce && !played.is_serial && example.is_none() {
                example = Some(schedule.to_string());
            }
            Ok(())
        })?;
        let canonical = shape.count();
        Ok(ShapeTold { shape: shape.to_string(), canonical, counts, example })
    }

    /// Plays schedules at a level, each on rows of its own, and gives what was told of each; fewer
    /// if it is stopped.
    ///
    /// # Errors
    /// A connection that broke, or a table that cannot be made.
    pub(crate) fn for_each_schedule(
        &mut self,
        level: IsolationLevel,
        shape: InterleavingSize,
        schedules: &[Interleaving],
        mut give: impl FnMut(
            &[StepReport],
            &mut dyn Client,
            &Interleaving,
            Rows,
        ) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let mut control = self.station.connector.connect()?;
        self.fill(&mut *control, schedules.len() as u64 * u64::from(shape.keys))?;
        let mut stage = self.open_stage(level, usize::from(shape.transactions))?;
        for (index, schedule) in schedules.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            if index % TELL_EVERY == 0 {
                self.report_progress(&format!("{level}: {shape}, {index} of {}", schedules.len()));
            }
            if stage.is_spoiled() {
                stage = self.open_stage(level, usize::from(shape.transactions))?;
            }
            let rows = Rows { first: index as u64 * u64::from(shape.keys) + 1, shape };
            let told =
                stage.play_script(&self.script(schedule, rows), WaitAttribution::AsNeeded)?;
            give(&told, &mut *control, schedule, rows)?;
        }
        drop(stage);
        control.run(&format!("DROP TABLE {TABLE}"))?;
        control.close();
        Ok(())
    }

    fn fill(&self, control: &mut dyn Client, rows: u64) -> Result<(), WireError> {
        let storage = self.words.storage_clause();
        control.run(&format!(
            "CREATE TABLE {TABLE} (id INT NOT NULL PRIMARY KEY, value INT){storage}"
        ))?;
        for from in (1..=rows).step_by(ROWS_AT_ONCE as usize) {
            let ids = from..=rows.min(from + ROWS_AT_ONCE - 1);
            let rows: Vec<String> = ids.map(|id| format!("({id}, 0)")).collect();
            let rows = rows.join(", ");
            control.run(&format!("INSERT INTO {TABLE} (id, value) VALUES {rows}"))?;
        }
        if let Some(sql) = self.words.analyze_statement(TABLE) {
            control.query(&sql)?;
        }
        Ok(())
    }

    /// What the sessions say.
    fn script(&self, schedule: &Interleaving, rows: Rows) -> Vec<Line> {
        let mut begun = vec![false; usize::from(rows.shape.transactions)];
        let line = |(step, (who, what)): (usize, &(u8, KeyOperation))| {
            let is_first = !std::mem::replace(&mut begun[usize::from(*who)], true);
            let mut statements = if is_first { self.words.begin_statements() } else { Vec::new() };
            statements.push(rows.sql(step, *what));
            let effect = match what {
                KeyOperation::Commit => Effect::Ends,
                _ if is_first => Effect::Begins,
                _ => Effect::Goes,
            };
            Line { session: usize::from(*who), statements, effect }
        };
        schedule.steps.iter().enumerate().map(line).collect()
    }
}

/// The rows of one interleaving, a row for each key.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    first: u64,
    shape: InterleavingSize,
}

impl Rows {
    fn sql(self, step: usize, what: KeyOperation) -> String {
        let id = |key: u8| self.first + u64::from(key);
        match what {
            KeyOperation::Read(key) => format!("SELECT value FROM {TABLE} WHERE id = {}", id(key)),
            KeyOperation::Write(key) => {
                let value = value_of(step);
                format!("UPDATE {TABLE} SET value = {value} WHERE id = {}", id(key))
            }
            KeyOperation::Commit => "COMMIT".to_owned(),
        }
    }

    fn question(self) -> String {
        let last = self.first + u64::from(self.shape.keys) - 1;
        let first = self.first;
        format!("SELECT value FROM {TABLE} WHERE id >= {first} AND id <= {last} ORDER BY id")
    }
}

/// How it went.
#[derive(Clone, Copy, PartialEq)]
enum Went {
    AtOnce,
    Waited,
    Refused,
    RefusedAfterWaiting,
    Unknown,
}

struct Outcome {
    went: Went,
    is_allowed: bool,
    is_serial: bool,
}

fn outcome(
    told: &[StepReport],
    control: &mut dyn Client,
    schedule: &Interleaving,
    rows: Rows,
) -> Result<Outcome, WireError> {
    let end = few_rows(control, &rows.question())?;
    let end: Vec<i64> = end.iter().map(|row| first_number(row)).collect();
    let transactions = committed(schedule, told);
    Ok(Outcome {
        went: went(told),
        is_allowed: is_serializable(schedule),
        is_serial: has_serial_order(&transactions, &end),
    })
}

fn went(told: &[StepReport]) -> Went {
    let waited = told.iter().any(|one| one.waited.is_some());
    let refused = told.iter().any(|one| matches!(one.answer, StepAnswer::Refused { .. }));
    if told.iter().any(|one| one.answer == StepAnswer::Nothing) {
        return Went::Unknown;
    }
    match (waited, refused) {
        (false, false) => Went::AtOnce,
        (true, false) => Went::Waited,
        (false, true) => Went::Refused,
        (true, true) => Went::RefusedAfterWaiting,
    }
}

fn count(counts: &mut Permissiveness, one: &Outcome) {
    counts.played += 1;
    if one.went == Went::Unknown {
        counts.unknown += 1;
        return;
    }
    counts.allowed += u64::from(one.is_allowed);
    counts.not_serializable += u64::from(!one.is_serial);
    let place = match (one.is_allowed, one.went, one.is_serial) {
        (false, Went::AtOnce, _) => &mut counts.let_through,
        (false, ..) => return,
        (true, Went::AtOnce, true) => &mut counts.completed,
        (true, Went::AtOnce, false) => &mut counts.misread,
        (true, Went::Waited, _) => &mut counts.waited,
        (true, Went::RefusedAfterWaiting, _) => &mut counts.refused_after_waiting,
        (true, Went::Refused, _) => &mut counts.aborted,
        (true, Went::Unknown, _) => unreachable!("it is counted above"),
    };
    *place += 1;
}

/// What those did that committed, in their own order.
fn committed(schedule: &Interleaving, told: &[StepReport]) -> Vec<Vec<ValueOperation>> {
    let count = schedule.steps.iter().map(|(who, _)| who + 1).max().unwrap_or(0);
    let of = |wanted: u8| -> Option<Vec<ValueOperation>> {
        let mut done = Vec::new();
        for one in told {
            let (who, what) = schedule.steps[one.place];
            match (what, &one.answer) {
                _ if who != wanted => {}
                (KeyOperation::Commit, StepAnswer::Changed(_)) => return Some(done),
                (KeyOperation::Read(key), StepAnswer::Rows(rows)) => {
                    done.push(ValueOperation::Read(
                        key,
                        rows.first().map_or(-1, |row| first_number(row)),
                    ));
                }
                (KeyOperation::Write(key), StepAnswer::Changed(_)) => {
                    done.push(ValueOperation::Write(key, value_of(one.place)));
                }
                _ => return None,
            }
        }
        None
    };
    (0..count).filter_map(of).collect()
}

/// The number in the first column; none that anybody writes where there is no number.
pub(crate) fn first_number(row: &[Option<String>]) -> i64 {
    row.first().and_then(|value| value.as_deref()?.parse().ok()).unwrap_or(-1)
}
