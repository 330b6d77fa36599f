//! Writing a run while it goes.

use dbdyno_model::{
    ArmIndex, ArmSpec, EndedArm, Environment, LatencyHistogram, Plan, Round, RoundKey, RunId,
    RunStatus, Target, Warning,
};
use rusqlite::{Connection, OptionalExtension, ToSql, Transaction, params, params_from_iter};
use sha2::{Digest, Sha256};

use crate::Store;
use crate::codec;
use crate::error::{Result, StoreError};
use crate::seal;
use crate::terms;
use crate::transaction::{WriteError, seq_of};

/// What is known of a run when it begins.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// A name given by the user, for `@name`.
    pub name: Option<&'a str>,
    /// When it began, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The version of dbdyno.
    pub tool_version: &'a str,
    /// The command that reproduces the run, without passwords.
    pub command: &'a str,
    /// What is to be measured. Passwords in its URLs are not stored.
    pub plan: &'a Plan,
}

/// The name of the one metric whose series is kept.
pub(crate) const SERIES_METRIC: &str = "statements";
/// The name of the metric whose histogram every round has.
pub(crate) const HISTOGRAM_METRIC: &str = "event_latency_ns";
/// The metrics whose histograms rounds of the open loop have as well.
pub(crate) const RESPONSE_METRIC: &str = "event_response_ns";
pub(crate) const LAG_METRIC: &str = "send_lag_ns";
/// What the names of classes stand behind: their series, and their histograms if they count events.
pub(crate) const CLASS_SERIES: &str = "class:";
pub(crate) const CLASS_HISTOGRAM: &str = "class_latency_ns:";
/// Rounds of the open loop have this one as well.
pub(crate) const CLASS_RESPONSE: &str = "class_response_ns:";

/// Ids tried before giving up; with a million runs stored, one try in 4 000 finds its id taken.
const ID_TRIES: usize = 16;

const INSERT_ROUND: &str = "INSERT INTO round (run, load, clients, pair, arm, started_unix_ms, \
     wall_ns, events, statements, rows_read, rows_changed, retries, server_cpu_ns, \
     server_kernel_ns, client_cpu_ns, client_kernel_ns, server_context_switches, \
     client_context_switches, server_read_bytes, server_written_bytes, client_run_delay_ns, \
     pauses_ns, longest_pause_ns, life, offered, unanswered, filling) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
     ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27)";

impl Store {
    /// Begins a run and gives it an id. Its status is *partial* until [`Store::finish`].
    ///
    /// # Errors
    /// A name that `@name` could not find, a password in the command, a target whose text does not
    /// read back to the same target, or a file that cannot be written.
    pub fn begin_run(&mut self, new: &NewRun) -> Result<RunId> {
        check_name(new.name)?;
        check_command(new.command)?;
        check_plan(new.plan)?;
        let key = self.seal_key.clone();
        self.write(|transaction| {
            let id = fresh_id(transaction)?;
            insert_run(transaction, &id, new)?;
            seal::set(transaction, key.as_ref(), seq_of(transaction, &id)?)?;
            Ok(id)
        })
    }

    /// Stores what is true of one arm, in place of what was stored before.
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn set_environment(
        &mut self,
        run: &RunId,
        arm: impl Into<ArmIndex>,
        environment: &Environment,
    ) -> Result<()> {
        let arm = arm.into();
        self.change_run(run, |transaction, seq| {
            let environment = intern(transaction, environment)?;
            transaction.execute(
                "UPDATE arm SET environment = ?3 WHERE run = ?1 AND arm = ?2",
                params![seq, arm.to_string(), environment],
            )?;
            Ok(())
        })
    }

    /// Stores that an arm has ended before the run did.
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn end_arm(&mut self, run: &RunId, ended: &EndedArm) -> Result<()> {
        self.write(|transaction| {
            let seq = seq_of(transaction, run)?;
            transaction.execute(
                "UPDATE arm SET ended = ?3 WHERE run = ?1 AND arm = ?2",
                params![seq, ended.arm.to_string(), ended.why],
            )?;
            Ok(())
        })
    }

    /// Stores a round. When this returns, it survives the death of the process.
    ///
    /// # Errors
    /// No such run, a round that is stored already, or a file that cannot be written.
    pub fn add_round(&mut self, run: &RunId, round: &Round) -> Result<()> {
        let key = &round.key;
        let mut encoded = Vec::new();
        for (metric, histogram) in histograms_of(round) {
            let bytes = codec::encode_histogram(histogram).map_err(|why| {
                StoreError::NotStorable(format!("{}: {why}", describe_round(key)))
            })?;
            encoded.push((metric, bytes, histogram.count()));
        }
        self.write(|transaction| {
            let run = seq_of(transaction, run)?;
            let seq = insert_round(transaction, run, round)?;
            for (metric, slots) in series_of(round) {
                let slots = codec::encode_series(slots);
                let (slot_ns, sum) =
                    (as_signed(round.series.slot_ns), as_signed(codec::fnv1a(&slots)));
                let insert = "INSERT INTO series VALUES (?1, ?2, ?3, ?4, ?5)";
                transaction.execute(insert, params![seq, metric, slot_ns, slots, sum])?;
            }
            for (position, class) in round.classes.iter().enumerate() {
                let (counted, count) = (class.count_unit().name(), as_signed(class.count));
                let insert = "INSERT INTO class VALUES (?1, ?2, ?3, ?4, ?5)";
                let values = params![seq, position as i64, class.name, counted, count];
                transaction.execute(insert, values)?;
            }
            for (metric, bytes, count) in &encoded {
                transaction.execute(
                    "INSERT INTO histogram VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![seq, metric, bytes, as_signed(*count), as_signed(codec::fnv1a(bytes))],
                )?;
            }
            for (name, value) in round.readings.iter() {
                let insert = "INSERT INTO reading VALUES (?1, ?2, ?3)";
                transaction.execute(insert, params![seq, name, value])?;
            }
            Ok(())
        })
    }

    /// Stores a warning, after those that the run has. One that it has is not stored again: a run
    /// that is taken up says most of them twice.
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn add_warning(&mut self, run: &RunId, warning: &Warning) -> Result<()> {
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO warning (run, severity, code, text) SELECT ?1, ?2, ?3, ?4 \
                 WHERE NOT EXISTS (SELECT 1 FROM warning WHERE run = ?1 AND severity = ?2 \
                 AND code = ?3 AND text = ?4)",
                params![
                    seq_of(transaction, run)?,
                    warning.severity.name(),
                    warning.code,
                    warning.text
                ],
            )?;
            Ok(())
        })
    }

    /// Makes a run that has stopped one that goes on: its status is *partial* again.
    ///
    /// # Errors
    /// No such run, a run that is complete, or a file that cannot be written.
    pub fn reopen_run(&mut self, run: &RunId) -> Result<()> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE run SET status = ?2 WHERE seq = ?1 AND status <> ?3",
                params![
                    seq_of(transaction, run)?,
                    RunStatus::Partial.name(),
                    RunStatus::Complete.name()
                ],
            )?;
            if changed == 1 {
                return Ok(());
            }
            Err(WriteError::Meaning(StoreError::AlreadyComplete(run.0.clone())))
        })
    }

    /// Stores how far the run got.
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn finish(&mut self, run: &RunId, status: RunStatus) -> Result<()> {
        self.write(|transaction| {
            transaction.execute(
                "UPDATE run SET status = ?2 WHERE seq = ?1",
                params![seq_of(transaction, run)?, status.name()],
            )?;
            Ok(())
        })
    }

    /// Lets a run go on for longer than was planned, or by another rule: takes the number of pairs
    /// and restarts, `stopping` and `limit_ns` from `plan`. Its status is *partial*
    /// again until [`Store::finish`].
    ///
    /// # Errors
    /// No such run, or a file that cannot be written.
    pub fn extend(&mut self, run: &RunId, plan: &Plan) -> Result<()> {
        self.change_run(run, |transaction, seq| {
            transaction.execute(
                "UPDATE run SET pairs = ?2, restarts = ?3, status = ?4 WHERE seq = ?1",
                params![
                    seq,
                    plan.schedule.pairs,
                    plan.schedule.restarts,
                    RunStatus::Partial.name()
                ],
            )?;
            terms::write(transaction, seq, plan)?;
            Ok(())
        })
    }

    /// Changes what a run would carry out, and seals it again if it was sealed.
    pub(crate) fn change_run(
        &mut self,
        run: &RunId,
        work: impl FnOnce(&Transaction, i64) -> std::result::Result<(), WriteError>,
    ) -> Result<()> {
        let key = self.seal_key.clone();
        self.write(|transaction| {
            let seq = seq_of(transaction, run)?;
            seal::keep_seal(transaction, key.as_ref(), seq, || work(transaction, seq))
        })
    }
}

/// A `u64` as SQLite can hold it.
pub(crate) fn as_signed(number: u64) -> i64 {
    number as i64
}

/// All histograms of a round, by metric.
fn histograms_of(round: &Round) -> Vec<(String, &LatencyHistogram)> {
    let mut histograms = vec![(HISTOGRAM_METRIC.to_owned(), &round.latency)];
    if let Some(open) = &round.open {
        histograms.push((RESPONSE_METRIC.to_owned(), &open.response));
        histograms.push((LAG_METRIC.to_owned(), &open.lag));
    }
    for class in &round.classes {
        let Some(times) = &class.times else { continue };
        histograms.push((format!("{CLASS_HISTOGRAM}{}", class.name), &times.latency));
        let response = times.response.as_ref();
        histograms.extend(response.map(|times| (format!("{CLASS_RESPONSE}{}", class.name), times)));
    }
    histograms
}

/// All series of a round, by metric.
fn series_of(round: &Round) -> Vec<(String, &[u64])> {
    let mut series = vec![(SERIES_METRIC.to_owned(), &*round.series.statements)];
    let of_class = round.classes.iter();
    series.extend(of_class.map(|class| (format!("{CLASS_SERIES}{}", class.name), &*class.slots)));
    series
}

/// A round in the words of an error.
pub(crate) fn describe_round(key: &RoundKey) -> String {
    format!("round {} × {}, pair {}, {}", key.cell.load, key.cell.clients, key.pair, key.arm)
}

fn check_name(name: Option<&str>) -> Result<()> {
    match name {
        Some(name) if name.trim().is_empty() || name == "last" => {
            Err(StoreError::BadName(name.to_owned()))
        }
        Some(name) if name.chars().any(char::is_control) => {
            Err(StoreError::BadName(name.to_owned()))
        }
        _ => Ok(()),
    }
}

/// Looks for a URL with a password anywhere in the command, also behind `--flag=`.
fn check_command(command: &str) -> Result<()> {
    for word in command.split(|c: char| c.is_whitespace() || c == '\'' || c == '"') {
        let flagged = word.split_once('=').map(|(_, value)| value);
        for text in [Some(word), flagged].into_iter().flatten() {
            if let Ok(spec) = text.parse::<ArmSpec>()
                && let Target::Url(url) = spec.target
                && url.password.is_some_and(|password| !password.is_empty())
            {
                return Err(StoreError::PasswordInCommand);
            }
        }
    }
    Ok(())
}

/// A run that could not be loaded must not be begun.
fn check_plan(plan: &Plan) -> Result<()> {
    for (arm, spec) in plan.arms.iter() {
        let mut spec = spec.clone();
        if let Target::Url(url) = &mut spec.target {
            url.password = None;
        }
        let text = spec.to_string();
        let back = text.parse::<ArmSpec>();
        if back.map(|back| back.target) != Ok(spec.target) || !spec.slow.is_finite() {
            return Err(StoreError::NotStorable(format!("the {arm} arm {text:?}")));
        }
    }
    for (index, stage) in plan.question.stages.iter().enumerate() {
        if stage.to_string().parse().as_ref() != Ok(stage) {
            return Err(StoreError::NotStorable(format!("the stage {stage}")));
        }
        if plan.question.stages[..index]
            .iter()
            .any(|other| other.measured_label().is_some() && other == stage)
        {
            return Err(StoreError::NotStorable(format!("{stage}, measured a second time,")));
        }
    }
    if plan.rule.budget.is_nan() {
        return Err(StoreError::NotStorable("a budget of NaN".to_owned()));
    }
    Ok(())
}

fn fresh_id(connection: &Connection) -> std::result::Result<RunId, WriteError> {
    for _ in 0..ID_TRIES {
        let id: String =
            connection.query_row("SELECT lower(hex(randomblob(4)))", [], |row| row.get(0))?;
        let taken: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?1)",
            [&id],
            |row| row.get(0),
        )?;
        if !taken {
            return Ok(RunId(id));
        }
    }
    Err(WriteError::Meaning(StoreError::NotStorable(
        "another run: the ids are used up, so it".to_owned(),
    )))
}

fn insert_run(
    connection: &Connection,
    id: &RunId,
    new: &NewRun,
) -> std::result::Result<(), WriteError> {
    let plan = new.plan;
    let (names, values) = terms::columns(plan);
    let insert = format!(
        "INSERT INTO run (id, name, started_unix_ms, status, tool_version, command, {}) \
         VALUES (?, ?, ?, ?, ?, ?{})",
        names.join(", "),
        ", ?".repeat(values.len())
    );
    let (started, status) = (as_signed(new.started_unix_ms), RunStatus::Partial.name());
    let run: [&dyn ToSql; 6] =
        [&id.0, &new.name, &started, &status, &new.tool_version, &new.command];
    let values = values.iter().map(|value| value as &dyn ToSql);
    connection.execute(&insert, params_from_iter(run.into_iter().chain(values)))?;
    let seq = connection.last_insert_rowid();
    for (position, stage) in plan.question.stages.iter().enumerate() {
        connection.execute(
            "INSERT INTO plan_stage VALUES (?1, ?2, ?3, ?4)",
            params![seq, position as i64, stage.to_string(), stage.measured_label()],
        )?;
    }
    for (position, file) in plan.question.files.iter().enumerate() {
        connection.execute(
            "INSERT INTO plan_file VALUES (?1, ?2, ?3, ?4)",
            params![seq, position as i64, file.file, file.text],
        )?;
    }
    for (position, clients) in plan.question.clients.iter().enumerate() {
        connection.execute(
            "INSERT INTO plan_clients VALUES (?1, ?2, ?3)",
            params![seq, position as i64, clients],
        )?;
    }
    for (arm, spec) in plan.arms.iter() {
        connection.execute(
            "INSERT INTO arm (run, arm, target, slow) VALUES (?1, ?2, ?3, ?4)",
            params![seq, arm.to_string(), spec.to_string(), spec.slow],
        )?;
    }
    terms::write(connection, seq, plan)?;
    Ok(())
}

fn insert_round(
    connection: &Connection,
    run: i64,
    round: &Round,
) -> std::result::Result<i64, WriteError> {
    let (key, cost) = (&round.key, &round.cost);
    let result = connection.execute(
        INSERT_ROUND,
        params![
            run,
            key.cell.load,
            key.cell.clients,
            key.pair,
            key.arm.to_string(),
            as_signed(round.started_unix_ms),
            as_signed(round.wall_ns),
            as_signed(round.events),
            as_signed(round.statements),
            as_signed(round.rows_read),
            as_signed(round.rows_changed),
            as_signed(round.retries),
            cost.server_cpu_ns.map(as_signed),
            cost.server_kernel_ns.map(as_signed),
            cost.client_cpu_ns.map(as_signed),
            cost.client_kernel_ns.map(as_signed),
            cost.server_context_switches.map(as_signed),
            cost.client_context_switches.map(as_signed),
            cost.server_read_bytes.map(as_signed),
            cost.server_written_bytes.map(as_signed),
            cost.client_run_delay_ns.map(as_signed),
            round.pauses.map(|pauses| as_signed(pauses.sum_ns)),
            round.pauses.map(|pauses| as_signed(pauses.longest_ns)),
            round.start,
            round.open.as_ref().map(|open| as_signed(open.offered)),
            round.open.as_ref().map(|open| as_signed(open.unanswered)),
            round.filling,
        ],
    );
    match result {
        Ok(_) => Ok(connection.last_insert_rowid()),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
        {
            let round = describe_round(key);
            Err(WriteError::Meaning(StoreError::DuplicateRound(round)))
        }
        Err(error) => Err(WriteError::Sqlite(error)),
    }
}

/// The row of an environment with exactly these facts, made if there is none.
fn intern(
    connection: &Connection,
    environment: &Environment,
) -> std::result::Result<i64, WriteError> {
    let mut hash = Sha256::new();
    for (name, value) in &environment.facts {
        for text in [name, value] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    let sha256 = hash.finalize().to_vec();
    let known = connection
        .query_row("SELECT id FROM environment WHERE sha256 = ?1", [&sha256], |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection.execute("INSERT INTO environment (sha256) VALUES (?1)", [&sha256])?;
    let id = connection.last_insert_rowid();
    let mut insert = connection.prepare("INSERT INTO environment_fact VALUES (?1, ?2, ?3)")?;
    for (name, value) in &environment.facts {
        insert.execute(params![id, name, value])?;
    }
    Ok(id)
}
