//! Random transactions on few rows, and the history that the clients recorded of them.
//!
//! ```text
//!   row   id │ v0: id of the write that made it │ prev0: id of the write before │ v1 │ prev1
//!   read  SELECT v0, prev0, v1, prev1 … WHERE id = ?                 what was seen, and its place
//!   write UPDATE … SET prev0 = v0, v0 = ID WHERE id = ?, then a read its own place
//! ```
//!
//! Each version names the one before it, so that the order of versions is known to whoever reads
//! them, and every level is decided in a time that grows with the history and no faster
//! (`dbdyno_check`). Few rows make many conflicts: a history without any proves nothing. The first
//! transaction of the history puts all rows there, and at the end one more reads every row, which
//! places the versions that nobody saw.
//!
//! Rows are also replaced (a deletion and an insertion in one transaction, as sysbench has it) and
//! searched for by a range of keys. Every row is there for whoever looks: a row that is missed is
//! noted as absent, and judged as any other read.
//!
//! A row has two columns that are written apart, and each is a key of the history (its table is the
//! number of the column): whoever has written one of them sees the other as it is now, even where a
//! plain read before saw it as it was (Jepsen, *MySQL 8.0.34*, 2023: non-repeatable reads). Such a
//! read is noted as what it is, one of the latest version.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_check::{
    ABSENT, HEADER, INITIAL, Level, OpRecord, OperationKind, Times, TransactionOutcome, Txn,
    UNKNOWN, WriteIds, encode_end,
};
use dbdyno_lab::promised_level;
use dbdyno_load::{Clock, Connector, LoadError, drop_tables};
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_model::random::{RandomStream, stream};
use dbdyno_wire::{Client, ServerError, WireError};

use crate::bench::Bench;
use crate::in_process::{Discipline, in_one_thread, on_threads};
use crate::random_load::{AskingLimit, RandomLoad, Threads};
use crate::row_log::{LogReader, RowLog};
use crate::words::RANDOM as TABLE;

/// How often clients look whether the time is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Operations of a transaction are one to so many.
const OPERATIONS_MOST: u64 = 5;
/// Of a hundred operations so many write, and so many read what is the latest.
const WRITES: u64 = 40;
const LOCKING_READS: u64 = 10;
/// So many replace a row, and so many read a range of rows, of which a part is locked.
const REPLACEMENTS: u64 = 6;
const RANGES: u64 = 12;
const LOCKING_RANGES: u64 = 3;
/// Rows of a range at most.
const RANGE_MOST: u64 = 4;
/// Rows that an answer may have for them: a row may be seen in two versions, as an anomaly, and not
/// in versions without end, all of which are recorded.
const FOUND_MOST: usize = 64;
/// So long a client tries to connect again after it has lost its connection, and so often.
const COME_BACK: Duration = Duration::from_secs(10);
const COME_BACK_EVERY: Duration = Duration::from_millis(50);
/// By which servers say that they end a connection: MySQL's errors, and SQLSTATEs.
const ENDS: [u16; 3] = [1053, 1317, 1927];
const END_STATES: [&str; 3] = ["57P01", "57P02", "57P03"];
/// Bytes of an operation in the records.
const RECORD: usize = 16;
/// Columns of a row that are written apart.
const COLUMNS: u16 = 2;
/// Of a hundred transactions so many are rolled back on purpose, so that their writes must not be
/// seen.
const ROLLBACKS: u64 = 4;

/// What the clients of one level recorded.
#[derive(Clone, Debug)]
pub struct LevelRecord {
    /// The level that sessions asked for.
    pub level: IsolationLevel,
    /// What the server promises there.
    pub promise: Level,
    /// Whose promise it is, as a case file has it.
    pub family: &'static str,
    /// Of whom it is promised.
    pub of: PromiseScope,
    /// The history, as [`dbdyno_check::read_records`] reads it.
    pub records: Vec<u8>,
    /// How often transactions were refused, by the error.
    pub refused: BTreeMap<String, u64>,
    /// How often a client lost its connection, and went on with another one.
    pub lost: u64,
    /// Transactions that were not recorded, for want of room: the history ends before them.
    pub unrecorded: u64,
    /// What the server's own log has of the same time, where it was asked for.
    pub log: Option<RowLog>,
}

/// Of whom a level is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseScope {
    /// Of all transactions.
    OfAll,
    /// Of those that read without locks all through, or with locks all through.
    OfDisciplined,
}

impl Bench<'_, '_> {
    /// Drives the clients at one level, of the embedded engine in each way in which something is
    /// promised of it.
    ///
    /// # Errors
    /// Those of [`Bench::random`].
    pub(crate) fn record_level(
        &mut self,
        level: IsolationLevel,
        load: RandomLoad,
    ) -> Result<Vec<LevelRecord>, WireError> {
        let Connector::Engine(arm) = &self.station.connector else {
            return Ok(vec![self.random(level, load)?]);
        };
        let disciplines: &[Discipline] = match level {
            IsolationLevel::RepeatableRead => &[Discipline::None, Discipline::Mixed],
            _ => &[Discipline::None],
        };
        let mut all = Vec::new();
        for &discipline in disciplines {
            if self.is_stopped() {
                break;
            }
            self.report_progress(&format!("{level}: random transactions, {}", load.extent));
            let written = match load.threads {
                Threads::OneForAll => in_one_thread(arm.design(), level, discipline, load),
                Threads::OneEach => {
                    on_threads(arm.engine(), level, discipline, load, self.clock, &|| {
                        self.is_stopped()
                    })
                }
            };
            let (records, refused) = written.map_err(|error| {
                WireError::Server(ServerError {
                    code: error.code(),
                    sqlstate: error.sqlstate().to_owned(),
                    message: error.to_string().into(),
                })
            })?;
            let family = self.words.family;
            // Locks are held until commits are answered: what is serializable there is strictly so.
            let (promise, of) = match (promised_level(family, level), discipline) {
                (_, Discipline::Mixed) => (Level::StrictSerializable, PromiseScope::OfDisciplined),
                (Level::Serializable, _) => (Level::StrictSerializable, PromiseScope::OfAll),
                (promise, _) => (promise, PromiseScope::OfAll),
            };
            let family = family.name();
            all.push(LevelRecord {
                level,
                promise,
                family,
                of,
                records,
                refused,
                lost: 0,
                unrecorded: 0,
                log: None,
            });
        }
        Ok(all)
    }

    /// Drives the clients at one level.
    ///
    /// # Errors
    /// A connection that broke, or a statement that is refused for another reason than others'
    /// transactions.
    fn random(
        &mut self,
        level: IsolationLevel,
        load: RandomLoad,
    ) -> Result<LevelRecord, WireError> {
        let mut control = self.station.connector.connect()?;
        self.make_table(&mut *control)?;
        let log =
            load.reads_log.then(|| LogReader::open_at_end(&self.station.connector)).transpose()?;
        let door =
            Door { connector: self.station.connector.clone(), first: Vec::new(), helpful: None };
        let mut keeper = Session::new(door, load.clients, load, false)?;
        keeper.fill(self.clock)?;
        let mut sessions = Vec::new();
        for number in 0..load.clients {
            let door = Door {
                connector: self.station.connector.clone(),
                first: self.words.first(level),
                helpful: self.words.deadlock_timeout_statement(),
            };
            sessions.push(Session::new(door, number, load, self.words.has_locking_reads())?);
        }
        self.report_progress(&format!("{level}: random transactions, {}", load.extent));
        let mut records = HEADER.to_vec();
        let (mut refused, mut lost) = (BTreeMap::new(), 0);
        for session in self.drive_at_once(sessions, load.extent) {
            let session = session?;
            records.extend_from_slice(&session.records);
            lost += session.lost;
            for (error, count) in session.refused {
                *refused.entry(error).or_insert(0) += count;
            }
        }
        control.close();
        records.extend(keeper.read_all(self.clock)?);
        let log = log.map(|log| log.read_changes(COLUMNS)).transpose()?;
        let (of, family) = (PromiseScope::OfAll, self.words.family);
        let (promise, family) = (promised_level(family, level), family.name());
        Ok(LevelRecord { level, promise, family, of, records, refused, lost, unrecorded: 0, log })
    }

    /// Drives each session in a thread of its own, until the extent is reached or somebody stops
    /// it.
    fn drive_at_once(
        &self,
        sessions: Vec<Session>,
        extent: AskingLimit,
    ) -> Vec<Result<Session, WireError>> {
        let clock = self.clock;
        let is_over = &AtomicBool::new(false);
        thread::scope(|scope| {
            let (most, until) = match extent {
                AskingLimit::Seconds(seconds) => {
                    (u64::MAX, Some(clock.now() + Duration::from_secs_f64(seconds)))
                }
                AskingLimit::Transactions(count) => (count, None),
            };
            let threads: Vec<_> = sessions
                .into_iter()
                .map(|session| scope.spawn(move || session.drive(clock, most, is_over)))
                .collect();
            loop {
                let is_late = until.is_some_and(|until| clock.now() >= until);
                let finished = threads.iter().filter(|one| one.is_finished()).count();
                // One that ends before its time has failed, and the others need not go on.
                let has_failed = until.is_some() && finished > 0;
                if is_late || self.is_stopped() || has_failed || finished == threads.len() {
                    break;
                }
                thread::sleep(LOOK_EVERY);
            }
            is_over.store(true, Ordering::Relaxed);
            let ended = threads.into_iter().map(thread::ScopedJoinHandle::join);
            ended
                .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    fn make_table(&self, control: &mut dyn Client) -> Result<(), WireError> {
        // Of ours alone: where several schemas are searched, another one may have its own.
        drop_tables(&self.station.connector, &[TABLE.to_owned()]).map_err(|error| match error {
            LoadError::Wire(error, _) => error,
            other => WireError::Protocol(other.to_string()),
        })?;
        control.run(&format!(
            "CREATE TABLE {TABLE} (id INT NOT NULL PRIMARY KEY, v0 BIGINT, prev0 BIGINT, v1 \
             BIGINT, prev1 BIGINT){}",
            self.words.storage_clause()
        ))?;
        Ok(())
    }
}

/// Of each column the version and the one before it.
type Row = [(u32, u32); COLUMNS as usize];
/// What is read where no row is.
const NO_ROW: Row = [(ABSENT, UNKNOWN); COLUMNS as usize];

/// How a client connects.
struct Door {
    connector: Connector,
    /// What it says first,
    first: Vec<String>,
    /// and what may be refused.
    helpful: Option<&'static str>,
}

impl Door {
    fn open(&self) -> Result<Box<dyn Client>, WireError> {
        let mut client = self.connector.connect()?;
        self.first.iter().try_for_each(|sql| client.run(sql).map(|_| ()))?;
        match self.helpful.map(|sql| client.run(sql)) {
            Some(Err(error)) if error.is_fatal() => Err(error),
            _ => Ok(client),
        }
    }
}

/// A client and what it recorded.
struct Session {
    door: Door,
    client: Box<dyn Client>,
    lost: u64,
    number: u32,
    keys: u64,
    ids: WriteIds,
    random: RandomStream,
    /// How a read of the latest version is spelled; `None`: the server has none.
    locking: Option<&'static str>,
    /// Rows that the transaction has written to.
    written: Vec<u64>,
    records: Vec<u8>,
    refused: BTreeMap<String, u64>,
}

impl Session {
    fn new(door: Door, number: u32, load: RandomLoad, locks: bool) -> Result<Session, WireError> {
        let client = door.open()?;
        Ok(Session {
            door,
            client,
            lost: 0,
            number,
            keys: load.keys,
            ids: WriteIds::new(number, load.clients + 1, 0),
            random: stream(&[load.seed, u64::from(number)]),
            locking: locks.then_some(" FOR UPDATE"),
            written: Vec::new(),
            records: Vec::new(),
            refused: BTreeMap::new(),
        })
    }

    /// Asks one transaction after the other, so many at most, until it is over.
    fn drive(
        mut self,
        clock: &Clock,
        most: u64,
        is_over: &AtomicBool,
    ) -> Result<Session, WireError> {
        for _ in 0..most {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            self.transaction(clock)?;
        }
        Ok(self)
    }

    fn transaction(&mut self, clock: &Clock) -> Result<(), WireError> {
        let ns = || u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX);
        let mut times = Times { begin_invoke_ns: ns(), ..Times::default() };
        if let Err(error) = self.client.run("BEGIN") {
            return self.come_back(clock, error);
        }
        times.begin_return_ns = ns();
        self.written.clear();
        let mut ops = 0;
        let count = 1 + self.random.next_below(OPERATIONS_MOST);
        let mut asked = (0..count).try_for_each(|_| self.operation(&mut ops));
        times.commit_invoke_ns = ns();
        let mut outcome = TransactionOutcome::Failed;
        if asked.is_ok() && self.random.next_below(100) >= ROLLBACKS {
            asked = self.client.run("COMMIT").map(|_| ());
            outcome = match &asked {
                Ok(()) => TransactionOutcome::Ok,
                Err(refusal) if refusal.is_retryable() => TransactionOutcome::Failed,
                Err(_) => TransactionOutcome::Unknown,
            };
        }
        // For the sake of others: a deadlock, a wait that took too long, a row that changed.
        if let Err(refusal @ WireError::Server(error)) = &asked
            && refusal.is_retryable()
        {
            let told = match error.code {
                0 => error.sqlstate.clone(),
                code => format!("error {code}"),
            };
            *self.refused.entry(told).or_insert(0) += 1;
            asked = Ok(());
        }
        if asked.is_ok() && outcome == TransactionOutcome::Failed {
            asked = self.roll_back();
        }
        times.commit_return_ns = ns();
        let txn = Txn { session: self.number, outcome, times, token: 0 };
        self.records.extend_from_slice(&encode_end(txn, ops));
        asked.or_else(|error| self.come_back(clock, error))
    }

    fn roll_back(&mut self) -> Result<(), WireError> {
        // After an error the transaction may be gone, which some servers complain about.
        match self.client.run("ROLLBACK") {
            Err(error) if is_lost(&error) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Connects again where an error says that the connection is lost.
    fn come_back(&mut self, clock: &Clock, error: WireError) -> Result<(), WireError> {
        if !is_lost(&error) {
            return Err(error);
        }
        let until = clock.now() + COME_BACK;
        loop {
            match self.door.open() {
                Ok(client) => self.client = client,
                Err(_) if clock.now() < until => {
                    thread::sleep(COME_BACK_EVERY);
                    continue;
                }
                Err(error) => return Err(error),
            }
            self.lost += 1;
            return Ok(());
        }
    }

    /// Puts all rows there, in a transaction of its own.
    fn fill(&mut self, clock: &Clock) -> Result<(), WireError> {
        let now = || u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX);
        let mut times = Times { begin_invoke_ns: now(), ..Times::default() };
        times.begin_return_ns = times.begin_invoke_ns;
        self.client.run("BEGIN")?;
        let mut ops = 0;
        for key in 0..self.keys {
            self.insert(&mut ops, key, [INITIAL; COLUMNS as usize])?;
        }
        times.commit_invoke_ns = now();
        self.client.run("COMMIT")?;
        times.commit_return_ns = now();
        let txn = Txn { session: self.number, outcome: TransactionOutcome::Ok, times, token: 0 };
        self.records.extend_from_slice(&encode_end(txn, ops));
        Ok(())
    }

    /// A row that is not there, behind these versions of its columns.
    fn insert(
        &mut self,
        ops: &mut u32,
        key: u64,
        after: [u32; COLUMNS as usize],
    ) -> Result<(), WireError> {
        let mut values = key.to_string();
        for (table, prev) in (0..COLUMNS).zip(after) {
            let Some(value) = self.ids.next_id() else { return Err(used_up()) };
            self.note(ops, OpRecord { kind: OperationKind::Insert, table, key, value, prev });
            values.push_str(&format!(", {value}, {prev}"));
        }
        let columns = "id, v0, prev0, v1, prev1";
        self.client.run(&format!("INSERT INTO {TABLE} ({columns}) VALUES ({values})"))?;
        Ok(())
    }

    /// Deletes a row and puts another one in its place.
    fn replace(&mut self, ops: &mut u32, key: u64) -> Result<(), WireError> {
        let (kind, how) = match self.locking {
            Some(how) => (OperationKind::CurrentRead, how),
            None => (OperationKind::Read, ""),
        };
        let row = self.read(key, how)?;
        self.note_row(ops, kind, key, row);
        if row == NO_ROW {
            return Ok(());
        }
        let mut after = [INITIAL; COLUMNS as usize];
        for (table, (prev, _)) in (0..COLUMNS).zip(row) {
            let Some(value) = self.ids.next_id() else { return Err(used_up()) };
            self.note(ops, OpRecord { kind: OperationKind::Delete, table, key, value, prev });
            after[usize::from(table)] = value;
        }
        self.client.run(&format!("DELETE FROM {TABLE} WHERE id = {key}"))?;
        self.written.push(key);
        self.insert(ops, key, after)
    }

    /// Reads the rows of a range of keys.
    fn search(&mut self, ops: &mut u32, locks: bool) -> Result<(), WireError> {
        let first = self.random.next_below(self.keys);
        let last = (first + self.random.next_below(RANGE_MOST)).min(self.keys - 1);
        let how = self.locking.filter(|_| locks).unwrap_or_default();
        let sql = format!(
            "SELECT v0, prev0, v1, prev1, id FROM {TABLE} WHERE id BETWEEN {first} AND {last}{how}"
        );
        let rows = self.client.query(&sql)?.rows;
        let found = found_of(&rows, first..=last)
            .map_err(|what| WireError::Protocol(format!("{sql} has {what}")))?;
        let (scan, read) = match how {
            "" => (OperationKind::Scan, OperationKind::Read),
            _ => (OperationKind::CurrentScan, OperationKind::CurrentRead),
        };
        let (value, prev) = ((last - first + 1) as u32, found.len() as u32);
        for table in 0..COLUMNS {
            self.note(ops, OpRecord { kind: scan, table, key: first, value, prev });
            for (key, row) in &found {
                let (value, prev) = row[usize::from(table)];
                let kind =
                    if self.written.contains(key) { OperationKind::CurrentRead } else { read };
                self.note(ops, OpRecord { kind, table, key: *key, value, prev });
            }
        }
        Ok(())
    }

    fn operation(&mut self, ops: &mut u32) -> Result<(), WireError> {
        let kind = self.random.next_below(100);
        if kind >= 100 - RANGES {
            return self.search(ops, kind >= 100 - LOCKING_RANGES);
        }
        let key = self.random.next_below(self.keys);
        if kind >= 100 - RANGES - REPLACEMENTS {
            return self.replace(ops, key);
        }
        if kind < WRITES
            && let Some(id) = self.ids.next_id()
        {
            let table = self.random.next_below(u64::from(COLUMNS)) as u16;
            let place = self.records.len();
            // Noted before it is sent: whatever becomes of it, it may be seen.
            self.note(
                ops,
                OpRecord { kind: OperationKind::Write, table, key, value: id, prev: UNKNOWN },
            );
            let done = self.client.run(&format!(
                "UPDATE {TABLE} SET prev{table} = v{table}, v{table} = {id} WHERE id = {key}"
            ))?;
            if done.affected == 0 {
                // PostgreSQL's READ COMMITTED passes over a row that was replaced while it waited.
                let missed = OpRecord {
                    kind: OperationKind::CurrentRead,
                    table,
                    key,
                    value: ABSENT,
                    prev: UNKNOWN,
                };
                self.records[place..place + RECORD].copy_from_slice(&missed.encode());
                return Ok(());
            }
            self.written.push(key);
            let row = self.read(key, "")?;
            let (value, prev) = row[usize::from(table)];
            if value == id {
                let known = OpRecord { kind: OperationKind::Write, table, key, value, prev };
                self.records[place..place + RECORD].copy_from_slice(&known.encode());
            }
            self.note_row(ops, OperationKind::CurrentRead, key, row);
            return Ok(());
        }
        let (kind, how) = match self.locking.filter(|_| kind < WRITES + LOCKING_READS) {
            Some(how) => (OperationKind::CurrentRead, how),
            None if self.written.contains(&key) => (OperationKind::CurrentRead, ""),
            None => (OperationKind::Read, ""),
        };
        let row = self.read(key, how)?;
        self.note_row(ops, kind, key, row);
        Ok(())
    }

    fn note_row(&mut self, ops: &mut u32, kind: OperationKind, key: u64, row: Row) {
        for (table, (value, prev)) in (0..COLUMNS).zip(row) {
            self.note(ops, OpRecord { kind, table, key, value, prev });
        }
    }

    fn note(&mut self, ops: &mut u32, op: OpRecord) {
        self.records.extend_from_slice(&op.encode());
        *ops += 1;
    }

    /// The version of each column and the one before it.
    fn read(&mut self, key: u64, how: &str) -> Result<Row, WireError> {
        let sql = format!("SELECT v0, prev0, v1, prev1 FROM {TABLE} WHERE id = {key}{how}");
        let rows = self.client.query(&sql)?.rows;
        match &rows[..] {
            [] => Some(NO_ROW),
            [row] => row_of(row),
            _ => None,
        }
        .ok_or_else(|| {
            let text = format!("{sql} has {} rows, and not one with four numbers", rows.len());
            WireError::Protocol(text)
        })
    }

    /// Reads every row in a transaction of its own, when nobody else is there any more.
    fn read_all(mut self, clock: &Clock) -> Result<Vec<u8>, WireError> {
        let now = u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX);
        let mut ops = 0;
        for key in 0..self.keys {
            let row = loop {
                match self.read(key, "") {
                    Ok(row) => break row,
                    Err(error) => self.come_back(clock, error)?,
                }
            };
            self.note_row(&mut ops, OperationKind::Read, key, row);
        }
        let times = Times {
            begin_invoke_ns: now,
            begin_return_ns: now,
            commit_invoke_ns: now,
            commit_return_ns: u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX),
        };
        let txn = Txn { session: self.number, outcome: TransactionOutcome::Ok, times, token: 0 };
        self.records.extend_from_slice(&encode_end(txn, ops));
        while let Err(error) = self.client.run(&format!("DROP TABLE IF EXISTS {TABLE}")) {
            self.come_back(clock, error)?;
        }
        self.client.close();
        Ok(self.records)
    }
}

/// The versions of a row from its first four cells.
fn row_of(cells: &[Option<String>]) -> Option<Row> {
    let number = |at: usize| cells.get(at)?.as_deref()?.parse::<u32>().ok();
    let column = |at: usize| Some((number(2 * at)?, number(2 * at + 1)?));
    Some([column(0)?, column(1)?])
}

/// The rows of a range of keys, and their keys; what else the answer has.
fn found_of(
    rows: &[Vec<Option<String>>],
    keys: RangeInclusive<u64>,
) -> Result<Vec<(u64, Row)>, String> {
    if rows.len() > FOUND_MOST {
        return Err(format!("{} rows for {RANGE_MOST} keys at most", rows.len()));
    }
    let found = rows.iter().map(|cells| {
        let key = cells.get(4).and_then(|cell| cell.as_deref()?.parse::<u64>().ok());
        key.filter(|key| keys.contains(key)).zip(row_of(cells))
    });
    found.collect::<Option<_>>().ok_or_else(|| "another row".to_owned())
}

fn used_up() -> WireError {
    WireError::Protocol("32 bits of versions are used up; ask less".to_owned())
}

/// Whether the connection is of no further use.
fn is_lost(error: &WireError) -> bool {
    match error {
        WireError::Server(said) => {
            ENDS.contains(&said.code) || END_STATES.contains(&said.sqlstate.as_str())
        }
        WireError::Broken(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_rows_of_its_range_and_not_without_end() {
        let row = |key: &str| {
            let cells = ["1", "2", "3", "4", key].map(|cell| Some(cell.to_owned()));
            cells.to_vec()
        };
        let found = found_of(&[row("5"), row("6"), row("5")], 5..=6).unwrap();
        assert_eq!(found.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [5, 6, 5]);
        assert_eq!(found[0].1, [(1, 2), (3, 4)]);
        for other in ["7", "x"] {
            assert_eq!(found_of(&[row(other)], 5..=6).unwrap_err(), "another row");
        }
        let many = vec![row("5"); FOUND_MOST + 1];
        assert_eq!(found_of(&many[1..], 5..=6).unwrap().len(), FOUND_MOST);
        assert!(found_of(&many, 5..=6).unwrap_err().starts_with("65 rows"));
    }
}
