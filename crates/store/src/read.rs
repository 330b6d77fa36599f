//! Reading runs back.
//!
//! A run is loaded inside one read transaction: while another process adds rounds, the reader sees
//! the file as it was at one moment. Whatever does not fit the model is an error that names the run
//! and the place, never a panic and never a default.

use std::collections::BTreeMap;

use dbdyno_model::terms::TermValue;
use dbdyno_model::{
    ArmIndex, ArmSpec, Arms, Cell, ClassTally, ClassTimes, ClassUnit, Cost, EndedArm, Environment,
    LatencyHistogram, LoadFile, OpenLoop, Pauses, Plan, Readings, Round, RoundKey, Run, RunId,
    RunStatus, Series, Severity, Stage, TERMS, Warning,
};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Row, RowIndex, Statement, params};

use crate::Store;
use crate::codec;
use crate::error::{Result, StoreError};
use crate::seal;
use crate::sound;
use crate::terms;
use crate::write::{
    CLASS_HISTOGRAM, CLASS_RESPONSE, CLASS_SERIES, HISTOGRAM_METRIC, LAG_METRIC, RESPONSE_METRIC,
    SERIES_METRIC, describe_round,
};

/// A line of `dbdyno runs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its id.
    pub id: RunId,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// When it began: `2025-01-31 23:59:59 UTC`.
    pub started: String,
    /// The arms as the user wrote them, without passwords.
    pub arms: Vec<String>,
    /// Number of cells of its plan.
    pub cells: u64,
    /// Rounds that were measured.
    pub rounds_done: u64,
    /// Rounds that its plan asks for.
    pub rounds_planned: u64,
    /// How far it got.
    pub status: RunStatus,
    /// The run that it was made to explain, if it is a trial.
    pub explains: Option<RunId>,
    /// What its user wanted to remember of it.
    pub note: Option<String>,
    /// Why it broke off, if it did and was not completed since.
    pub broke_off: Option<String>,
}

/// What a store holds.
#[derive(Debug)]
pub struct StoreListing {
    /// The runs, newest first.
    pub runs: Vec<RunSummary>,
    /// What is wrong with those that cannot be read: [`StoreError::Corrupt`] each.
    pub corrupt: Vec<StoreError>,
}

/// Rows of one kind that a run has at most, rounds aside: those of its plan, what is true of its
/// arms, its warnings. A server of today tells some thousand facts, and an experiment has
/// [`ArmIndex::MOST`] of them.
const ROWS_MOST: usize = 50_000;
/// Bytes of all facts of a run, at most: two servers have some 60 KB, and `history` reads those of
/// each run.
const FACTS_BYTES_MOST: usize = 16 << 20;
/// Warnings of a run that are read; a run has a few.
const WARNINGS_MOST: usize = 10_000;
/// Files of custom loads, and the bytes of one: what is read of a file.
const FILES_MOST: usize = 100;
const FILE_BYTES_MOST: usize = 1 << 20;
/// What nothing is carried out of; the rest of the row is [`seal::PLAN`].
const SELECT_RUN: &str =
    "SELECT seq, name, started_unix_ms, status, tool_version FROM run WHERE id = ?1";

const SELECT_ROUNDS: &str = "SELECT load, clients, pair, arm, started_unix_ms, wall_ns, events, \
     statements, rows_read, rows_changed, retries, server_cpu_ns, server_kernel_ns, \
     client_cpu_ns, client_kernel_ns, server_context_switches, client_context_switches, \
     server_read_bytes, server_written_bytes, slot_ns, slots, s.fnv1a, h.hdr, h.count, h.fnv1a, \
     client_run_delay_ns, pauses_ns, longest_pause_ns, life, \
     offered, unanswered, o.hdr, o.count, o.fnv1a, l.hdr, l.count, l.fnv1a, r.seq, filling \
     FROM round r \
     LEFT JOIN series s ON s.round = r.seq AND s.metric = ?2 \
     LEFT JOIN histogram h ON h.round = r.seq AND h.metric = ?3 \
     LEFT JOIN histogram o ON o.round = r.seq AND o.metric = ?4 \
     LEFT JOIN histogram l ON l.round = r.seq AND l.metric = ?5 \
     WHERE run = ?1 ORDER BY r.seq";

const SELECT_CLASSES: &str = "SELECT c.name, c.counted, c.count, s.slots, s.fnv1a, \
     h.hdr, h.count, h.fnv1a, o.hdr, o.count, o.fnv1a \
     FROM class c \
     LEFT JOIN series s ON s.round = c.round AND s.metric = ?2 || c.name \
     LEFT JOIN histogram h ON h.round = c.round AND h.metric = ?3 || c.name \
     LEFT JOIN histogram o ON o.round = c.round AND o.metric = ?4 || c.name \
     WHERE c.round = ?1 ORDER BY c.position";

const SELECT_SUMMARIES: &str = "SELECT id, name, \
     coalesce(strftime('%Y-%m-%d %H:%M:%S UTC', started_unix_ms / 1000, 'unixepoch'), '?'), \
     (SELECT group_concat(target, char(10)) FROM \
     (SELECT target FROM arm WHERE run = seq ORDER BY length(arm), arm LIMIT 13)), \
     (SELECT count(label) FROM plan_stage WHERE run = seq) * \
     (SELECT count(*) FROM plan_clients WHERE run = seq), \
     (SELECT count(*) FROM round WHERE round.run = run.seq), pairs, status, \
     (SELECT e.id FROM trial t JOIN run e ON e.seq = t.explains WHERE t.run = run.seq), \
     (SELECT value FROM plan_term WHERE plan_term.run = run.seq AND plan_term.name = 'note'), \
     (SELECT text FROM warning WHERE warning.run = run.seq AND code = ?1 \
     AND run.status = ?2 ORDER BY warning.seq DESC LIMIT 1) \
     FROM run ORDER BY seq DESC";

impl Store {
    /// Loads a run with everything that was measured. Passwords are not in the store: a URL in the
    /// plan comes back without one.
    ///
    /// # Errors
    /// No such run, a run that is not as it was written, or a file that cannot be read.
    pub fn load(&self, id: &RunId) -> Result<Run> {
        let snapshot =
            self.connection().unchecked_transaction().map_err(|error| self.explain(error))?;
        let reader = Reader { store: self, id };
        let (seq, mut run) = reader.run(&snapshot)?;
        self.look_at_seal(&snapshot, id, seq)?;
        reader.plan(&snapshot, seq, &mut run.plan)?;
        let mut environments = reader.environments(&snapshot, seq)?;
        run.environment = Arms::from_fn(run.plan.arms.indices(), |arm| {
            environments.remove(&arm).unwrap_or_default()
        });
        reader.rounds(&snapshot, seq, &mut run)?;
        run.ended = reader.ended(&snapshot, seq)?;
        let counts = crate::counts::read(&snapshot, seq);
        run.counts = counts.map_err(|error| reader.fail("counts", error))?;
        reader.refuse("counts", sound::wrong_in_counts(&run.counts))?;
        run.warnings = reader.warnings(&snapshot, seq)?;
        Ok(run)
    }

    /// The plan of a run, without what was measured by it.
    ///
    /// # Errors
    /// Those of [`Store::load`].
    pub fn plan(&self, id: &RunId) -> Result<Plan> {
        let snapshot =
            self.connection().unchecked_transaction().map_err(|error| self.explain(error))?;
        let reader = Reader { store: self, id };
        let (seq, mut run) = reader.run(&snapshot)?;
        reader.plan(&snapshot, seq, &mut run.plan)?;
        Ok(run.plan)
    }

    /// When the last of all runs began, milliseconds since 1970; `None` where there is no run.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn last_started_unix_ms(&self) -> Result<Option<u64>> {
        let sql = "SELECT max(started_unix_ms) FROM run";
        let last: std::result::Result<Option<i64>, _> =
            self.connection().query_row(sql, [], |row| row.get(0));
        Ok(last.map_err(|error| self.explain(error))?.map(|ms| ms as u64))
    }

    /// All runs. One that is not as it was written hides no other.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn list(&self) -> Result<StoreListing> {
        let explain = |error| self.explain(error);
        let mut statement = self.connection().prepare(SELECT_SUMMARIES).map_err(explain)?;
        let of_partial = [Warning::BROKE_OFF, RunStatus::Partial.name()];
        let mut rows = statement.query(of_partial).map_err(explain)?;
        let mut listed = StoreListing { runs: Vec::new(), corrupt: Vec::new() };
        while let Some(row) = rows.next().map_err(explain)? {
            let id = RunId(row.get(0).map_err(explain)?);
            match (Reader { store: self, id: &id }).summary(row) {
                Ok(summary) => listed.runs.push(summary),
                Err(error @ StoreError::Corrupt { .. }) => listed.corrupt.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(listed)
    }
}

/// Reads one run, and knows its id for the errors.
struct Reader<'a> {
    store: &'a Store,
    id: &'a RunId,
}

impl Reader<'_> {
    fn corrupt(&self, place: &str, what: impl Into<String>) -> StoreError {
        StoreError::Corrupt { run: self.id.0.clone(), place: place.to_owned(), what: what.into() }
    }

    fn refuse(&self, place: &str, wrong: Option<String>) -> Result<()> {
        wrong.map_or(Ok(()), |what| Err(self.corrupt(place, what)))
    }

    /// A value of the wrong type is a corrupt run; anything else is the file's trouble.
    fn fail(&self, place: &str, error: rusqlite::Error) -> StoreError {
        match error {
            rusqlite::Error::SqliteFailure(..) => self.store.explain(error),
            other => self.corrupt(place, other.to_string()),
        }
    }

    fn get<T: FromSql>(&self, row: &Row, index: impl RowIndex, place: &str) -> Result<T> {
        row.get(index).map_err(|error| self.fail(place, error))
    }

    fn get_u64(&self, row: &Row, index: impl RowIndex, place: &str) -> Result<u64> {
        self.get::<i64>(row, index, place).map(|number| number as u64)
    }

    fn get_optional_u64(&self, row: &Row, index: usize, place: &str) -> Result<Option<u64>> {
        let number = self.get::<Option<i64>>(row, index, place)?;
        Ok(number.map(|number| number as u64))
    }

    fn status(&self, name: &str) -> Result<RunStatus> {
        RunStatus::named(name)
            .ok_or_else(|| self.corrupt("status", format!("unknown status {name:?}")))
    }

    fn arm(&self, name: &str, place: &str) -> Result<ArmIndex> {
        ArmIndex::from_name(name)
            .ok_or_else(|| self.corrupt(place, format!("unknown arm {name:?}")))
    }

    fn summary(&self, row: &Row) -> Result<RunSummary> {
        let place = "list of runs";
        let cells = self.get_u64(row, 4, place)?;
        let pairs: u32 = self.get(row, 6, place)?;
        let arms: Vec<String> =
            self.get::<String>(row, 3, place)?.lines().map(str::to_owned).collect();
        Ok(RunSummary {
            id: self.id.clone(),
            name: self.get(row, 1, place)?,
            started: self.get(row, 2, place)?,
            cells,
            rounds_done: self.get_u64(row, 5, place)?,
            rounds_planned: cells.saturating_mul(arms.len() as u64 * u64::from(pairs)),
            status: self.status(&self.get::<String>(row, 7, place)?)?,
            explains: self.get::<Option<String>>(row, 8, place)?.map(RunId),
            note: self.get(row, 9, place)?,
            broke_off: self.get(row, 10, place)?,
            arms,
        })
    }

    /// The row of the run; what lives in other tables is left empty.
    fn run(&self, connection: &Connection) -> Result<(i64, Run)> {
        let place = "run";
        let mut statement =
            connection.prepare(SELECT_RUN).map_err(|error| self.fail(place, error))?;
        let mut rows = statement.query([&self.id.0]).map_err(|error| self.fail(place, error))?;
        let row = rows.next().map_err(|error| self.fail(place, error))?;
        let Some(row) = row else {
            return Err(StoreError::UnknownRun(
                self.id.0.clone(),
                self.store.similar_names(&self.id.0)?,
            ));
        };
        let seq = self.get(row, 0, place)?;
        let (command, plan) = self.plan_of_row(connection, seq)?;
        let run = Run {
            id: self.id.clone(),
            name: self.get(row, 1, place)?,
            started_unix_ms: self.get_u64(row, 2, place)?,
            status: self.status(&self.get::<String>(row, 3, place)?)?,
            tool_version: self.get(row, 4, place)?,
            command,
            plan,
            environment: Arms::default(),
            rounds: Vec::new(),
            ended: Vec::new(),
            counts: dbdyno_model::RunCounts::default(),
            warnings: Vec::new(),
        };
        self.refuse(place, sound::wrong_in_run(&run))?;
        Ok((seq, run))
    }

    /// The command of a run, and of its plan what stands in the same row.
    fn plan_of_row(&self, connection: &Connection, seq: i64) -> Result<(String, Plan)> {
        let place = "run";
        let mut statement =
            connection.prepare(seal::PLAN).map_err(|error| self.fail(place, error))?;
        let mut rows = statement.query([seq]).map_err(|error| self.fail(place, error))?;
        let row = rows.next().map_err(|error| self.fail(place, error))?;
        let row = row.ok_or_else(|| self.corrupt(place, "it has no row by its number"))?;
        let mut plan = Plan::default();
        for term in TERMS.iter().filter(|term| term.is_column) {
            let place = term.name;
            let text = match term.value(&plan) {
                TermValue::Share(_) => self.get::<f64>(row, place, place)?.to_string(),
                TermValue::Text(_) => self.get(row, place, place)?,
                TermValue::Number(_) | TermValue::Absent => {
                    self.get_u64(row, place, place)?.to_string()
                }
            };
            term.read(&mut plan, &text).map_err(|what| self.corrupt(place, what))?;
        }
        Ok((self.get(row, 0, place)?, plan))
    }

    /// All arms, in their order; none is left out in between.
    fn arms(&self, connection: &Connection, run: i64) -> Result<Arms<ArmSpec>> {
        let place = "arms";
        let mut specs: BTreeMap<ArmIndex, ArmSpec> = BTreeMap::new();
        self.each_of_few(connection, seal::ARMS, run, place, ROWS_MOST, |row| {
            let arm = self.arm(&self.get::<String>(row, 0, place)?, place)?;
            let spec = self.get::<String>(row, 1, place)?.parse::<ArmSpec>();
            let of = format!("{arm} arm");
            let spec = spec.map_err(|error| self.corrupt(&of, error.to_string()))?;
            let spec = ArmSpec { slow: self.get(row, 2, place)?, ..spec };
            if specs.insert(arm, spec).is_some() {
                return Err(self.corrupt(&of, "it stands there twice"));
            }
            Ok(())
        })?;
        let last = specs.keys().last().map_or(0, |last| last.position() + 1);
        if last != specs.len() || last < 2 {
            return Err(self.corrupt(place, "one is left out"));
        }
        Ok(specs.into_values().collect())
    }

    fn ended(&self, connection: &Connection, run: i64) -> Result<Vec<EndedArm>> {
        let sql = "SELECT arm, ended FROM arm WHERE run = ?1 AND ended IS NOT NULL \
                   ORDER BY length(arm), arm";
        let place = "ended arms";
        let mut ended = Vec::new();
        self.each(connection, sql, params![run], place, |row| {
            let arm = self.arm(&self.get::<String>(row, 0, place)?, place)?;
            ended.push(EndedArm { arm, why: self.get(row, 1, place)? });
            Ok(())
        })?;
        Ok(ended)
    }

    /// What was true of the arms.
    fn environments(
        &self,
        connection: &Connection,
        run: i64,
    ) -> Result<BTreeMap<ArmIndex, Environment>> {
        let place = "environment";
        let mut environments: BTreeMap<ArmIndex, Environment> = BTreeMap::new();
        let mut bytes = 0;
        self.each_of_few(connection, seal::FACTS, run, place, ROWS_MOST, |row| {
            let arm = self.arm(&self.get::<String>(row, 0, place)?, place)?;
            let facts = &mut environments.entry(arm).or_default().facts;
            let (name, value): (String, String) =
                (self.get(row, 1, place)?, self.get(row, 2, place)?);
            bytes += name.len() + value.len();
            if bytes > FACTS_BYTES_MOST {
                let mib = FACTS_BYTES_MOST >> 20;
                return Err(self.corrupt(place, format!("facts of more than {mib} MiB")));
            }
            facts.insert(name, value);
            Ok(())
        })?;
        Ok(environments)
    }

    fn stages(&self, connection: &Connection, run: i64) -> Result<Vec<Stage>> {
        let place = "stages";
        let mut stages = Vec::new();
        self.each_of_few(connection, seal::STAGES, run, place, ROWS_MOST, |row| {
            let stage = self.get::<String>(row, 1, place)?.parse();
            stages.push(stage.map_err(|what: String| self.corrupt(place, what))?);
            Ok(())
        })?;
        Ok(stages)
    }

    fn files(&self, connection: &Connection, run: i64) -> Result<Vec<LoadFile>> {
        let place = "custom loads";
        let mut files = Vec::new();
        self.each_of_few(connection, seal::FILES, run, place, FILES_MOST, |row| {
            let (file, text): (_, String) = (self.get(row, 1, place)?, self.get(row, 2, place)?);
            if text.len() > FILE_BYTES_MOST {
                return Err(self.corrupt(place, "a file of more than a megabyte"));
            }
            files.push(LoadFile { file, text });
            Ok(())
        })?;
        Ok(files)
    }

    /// Everything of a plan that stands in tables of its own.
    fn plan(&self, connection: &Connection, run: i64, plan: &mut Plan) -> Result<()> {
        plan.arms = self.arms(connection, run)?;
        plan.question.stages = self.stages(connection, run)?;
        plan.question.files = self.files(connection, run)?;
        plan.question.clients = self.clients(connection, run)?;
        self.terms(connection, run, plan)?;
        self.refuse("plan", sound::wrong_in_plan(plan))
    }

    fn terms(&self, connection: &Connection, run: i64, plan: &mut Plan) -> Result<()> {
        let place = "terms of the plan";
        self.each_of_few(connection, seal::TERMS, run, place, ROWS_MOST, |row| {
            let (name, value): (String, String) =
                (self.get(row, 0, place)?, self.get(row, 1, place)?);
            terms::apply_term(plan, &name, &value).map_err(|what| self.corrupt(place, what))
        })
    }

    fn clients(&self, connection: &Connection, run: i64) -> Result<Vec<u32>> {
        let place = "client counts";
        let mut clients = Vec::new();
        self.each_of_few(connection, seal::CLIENTS, run, place, ROWS_MOST, |row| {
            clients.push(self.get(row, 1, place)?);
            Ok(())
        })?;
        Ok(clients)
    }

    fn warnings(&self, connection: &Connection, run: i64) -> Result<Vec<Warning>> {
        let sql = "SELECT severity, code, text FROM warning WHERE run = ?1 ORDER BY seq";
        let place = "warnings";
        let mut warnings = Vec::new();
        self.each_of_few(connection, sql, run, place, WARNINGS_MOST, |row| {
            let severity: String = self.get(row, 0, place)?;
            warnings.push(Warning {
                severity: Severity::named(&severity)
                    .ok_or_else(|| self.corrupt(place, format!("unknown severity {severity:?}")))?,
                code: self.get(row, 1, place)?,
                text: self.get(row, 2, place)?,
            });
            Ok(())
        })?;
        Ok(warnings)
    }

    /// Adds the rounds of all arms to a run of which the plan is known.
    fn rounds(&self, connection: &Connection, seq: i64, run: &mut Run) -> Result<()> {
        let mut rounds: Vec<(i64, Round)> = Vec::new();
        let values = params![seq, SERIES_METRIC, HISTOGRAM_METRIC, RESPONSE_METRIC, LAG_METRIC];
        self.each(connection, SELECT_ROUNDS, values, "rounds", |row| {
            let arm = self.arm(&self.get::<String>(row, 3, "rounds")?, "rounds")?;
            let seq: i64 = self.get(row, 37, "rounds")?;
            if rounds.last().is_some_and(|(last, _)| *last >= seq) {
                return Err(self.corrupt("rounds", "a round stands there twice"));
            }
            rounds.push((seq, self.round(row, arm)?));
            Ok(())
        })?;
        let mut readings = self.readings(connection, seq)?;
        let mut statement =
            connection.prepare(SELECT_CLASSES).map_err(|error| self.fail("classes", error))?;
        for (seq, round) in rounds {
            let classes = self.classes(&mut statement, seq, &round)?;
            let round = Round { readings: readings.remove(&seq).unwrap_or_default(), ..round };
            self.refuse(&describe_round(&round.key), sound::wrong_in_readings(&round))?;
            if run.plan.arms.get(round.key.arm).is_none() {
                return Err(self.corrupt(&describe_round(&round.key), "the run has no such arm"));
            }
            run.rounds.push(Round { classes, ..round });
        }
        Ok(())
    }

    /// The classes of a round of which everything else is known.
    fn classes(
        &self,
        statement: &mut Statement<'_>,
        seq: i64,
        round: &Round,
    ) -> Result<Vec<ClassTally>> {
        let place = describe_round(&round.key);
        let fail = |error| self.fail(&place, error);
        let values = params![seq, CLASS_SERIES, CLASS_HISTOGRAM, CLASS_RESPONSE];
        let mut rows = statement.query(values).map_err(fail)?;
        let mut classes = Vec::new();
        while let Some(row) = rows.next().map_err(fail)? {
            let counted: String = self.get(row, 1, &place)?;
            let times = match ClassUnit::named(&counted) {
                Some(ClassUnit::Statements) => None,
                Some(ClassUnit::Events) => Some(ClassTimes {
                    latency: self.histogram(row, 5, &place)?,
                    response: match round.open {
                        Some(_) => Some(self.histogram(row, 8, &place)?),
                        None => None,
                    },
                }),
                None => return Err(self.corrupt(&place, format!("a class of {counted:?}"))),
            };
            let count = self.get_u64(row, 2, &place)?;
            self.refuse(&place, sound::wrong_in_amount("events of a class", count))?;
            classes.push(ClassTally {
                name: self.get(row, 0, &place)?,
                count,
                slots: self.slots(row, 3, &place)?,
                times,
            });
        }
        Ok(classes)
    }

    /// By number of the round.
    fn readings(&self, connection: &Connection, run: i64) -> Result<BTreeMap<i64, Readings>> {
        let sql = "SELECT round, name, value FROM reading JOIN round ON round = seq WHERE run = ?1";
        let place = "readings";
        let mut readings: BTreeMap<i64, Readings> = BTreeMap::new();
        self.each(connection, sql, params![run], place, |row| {
            let name: String = self.get(row, 1, place)?;
            let value: f64 = self.get(row, 2, place)?;
            if !value.is_finite() {
                return Err(self.corrupt(place, format!("{value} as {name} is no number")));
            }
            readings.entry(self.get(row, 0, place)?).or_default().set(&name, Some(value));
            Ok(())
        })?;
        Ok(readings)
    }

    fn round(&self, row: &Row, arm: ArmIndex) -> Result<Round> {
        let key = RoundKey {
            cell: Cell { load: self.get(row, 0, "rounds")?, clients: self.get(row, 1, "rounds")? },
            pair: self.get(row, 2, "rounds")?,
            arm,
        };
        let place = describe_round(&key);
        let round = Round {
            key,
            start: self.get(row, 28, &place)?,
            filling: self.get(row, 38, &place)?,
            started_unix_ms: self.get_u64(row, 4, &place)?,
            wall_ns: self.get_u64(row, 5, &place)?,
            events: self.get_u64(row, 6, &place)?,
            statements: self.get_u64(row, 7, &place)?,
            rows_read: self.get_u64(row, 8, &place)?,
            rows_changed: self.get_u64(row, 9, &place)?,
            retries: self.get_u64(row, 10, &place)?,
            cost: self.cost(row, &place)?,
            pauses: self.pauses(row, &place)?,
            series: self.series(row, &place)?,
            classes: Vec::new(),
            latency: self.histogram(row, 22, &place)?,
            open: self.open_loop(row, &place)?,
            readings: Readings::default(),
        };
        self.refuse(&place, sound::wrong_in_round(&round))?;
        Ok(round)
    }

    fn cost(&self, row: &Row, place: &str) -> Result<Cost> {
        Ok(Cost {
            server_cpu_ns: self.get_optional_u64(row, 11, place)?,
            server_kernel_ns: self.get_optional_u64(row, 12, place)?,
            client_cpu_ns: self.get_optional_u64(row, 13, place)?,
            client_kernel_ns: self.get_optional_u64(row, 14, place)?,
            server_context_switches: self.get_optional_u64(row, 15, place)?,
            client_context_switches: self.get_optional_u64(row, 16, place)?,
            server_read_bytes: self.get_optional_u64(row, 17, place)?,
            server_written_bytes: self.get_optional_u64(row, 18, place)?,
            client_run_delay_ns: self.get_optional_u64(row, 25, place)?,
        })
    }

    fn pauses(&self, row: &Row, place: &str) -> Result<Option<Pauses>> {
        let sum_ns = self.get_optional_u64(row, 26, place)?;
        let longest_ns = self.get_optional_u64(row, 27, place)?;
        match (sum_ns, longest_ns) {
            (Some(sum_ns), Some(longest_ns)) => Ok(Some(Pauses { sum_ns, longest_ns })),
            (None, None) => Ok(None),
            _ => Err(self.corrupt(place, "only one of two columns tells of pauses")),
        }
    }

    fn series(&self, row: &Row, place: &str) -> Result<Series> {
        let (slot_ns, statements) = (self.get_u64(row, 19, place)?, self.slots(row, 20, place)?);
        Ok(Series { slot_ns, statements })
    }

    /// The slots whose bytes and checksum begin at column `at`.
    fn slots(&self, row: &Row, at: usize, place: &str) -> Result<Vec<u64>> {
        let slots: Vec<u8> = self.get(row, at, place)?;
        if codec::fnv1a(&slots) != self.get_u64(row, at + 1, place)? {
            return Err(self.corrupt(place, "the series does not match its checksum"));
        }
        let slots = codec::decode_series(&slots).map_err(|what| self.corrupt(place, what))?;
        self.refuse(place, sound::wrong_in_slots(&slots))?;
        Ok(slots)
    }

    fn open_loop(&self, row: &Row, place: &str) -> Result<Option<OpenLoop>> {
        let Some(offered) = self.get_optional_u64(row, 29, place)? else {
            return Ok(None);
        };
        Ok(Some(OpenLoop {
            offered,
            unanswered: self.get_u64(row, 30, place)?,
            response: self.histogram(row, 31, place)?,
            lag: self.histogram(row, 34, place)?,
        }))
    }

    /// The histogram whose bytes, count and checksum begin at column `at`.
    fn histogram(&self, row: &Row, at: usize, place: &str) -> Result<LatencyHistogram> {
        let hdr: Vec<u8> = self.get(row, at, place)?;
        if codec::fnv1a(&hdr) != self.get_u64(row, at + 2, place)? {
            return Err(self.corrupt(place, "the histogram does not match its checksum"));
        }
        let histogram = codec::decode_histogram(&hdr).map_err(|what| self.corrupt(place, what))?;
        if histogram.count() != self.get_u64(row, at + 1, place)? {
            return Err(self.corrupt(place, "the histogram has not as many values as were put in"));
        }
        self.refuse(place, sound::wrong_in_amount("values in a histogram", histogram.count()))?;
        Ok(histogram)
    }

    fn each(
        &self,
        connection: &Connection,
        sql: &str,
        values: impl rusqlite::Params,
        place: &str,
        mut take: impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let fail = |error| self.fail(place, error);
        let mut statement = connection.prepare(sql).map_err(fail)?;
        let mut rows = statement.query(values).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            take(row)?;
        }
        Ok(())
    }

    /// The same of what a run has no more than `most` of.
    fn each_of_few(
        &self,
        connection: &Connection,
        sql: &str,
        run: i64,
        place: &str,
        most: usize,
        mut take: impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let mut count = 0;
        self.each(connection, sql, params![run], place, |row| {
            count += 1;
            if count > most {
                let what = format!("more than {most} of a run, which has a few");
                return Err(self.corrupt(place, what));
            }
            take(row)
        })
    }
}

impl Store {
    pub(crate) fn query_texts(&self, sql: &str, value: &str) -> Result<Vec<String>> {
        let explain = |error| self.explain(error);
        let mut statement = self.connection().prepare(sql).map_err(explain)?;
        let rows = statement.query_map([value], |row| row.get(0));
        rows.map_err(explain)?.collect::<rusqlite::Result<_>>().map_err(explain)
    }

    pub(crate) fn query_text(&self, sql: &str, value: &str) -> Result<Option<String>> {
        self.connection()
            .query_row(sql, [value], |row| row.get(0))
            .optional()
            .map_err(|error| self.explain(error))
    }
}
