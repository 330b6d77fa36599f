//! Random transactions on few rows, and the history that the clients recorded of them.
//!
//! ```text
//!   row   id │ v: id of the write that made it │ prev: id of the write before
//!   read  SELECT v, prev … WHERE id = ?                              what was seen, and its place
//!   write UPDATE … SET prev = v, v = ID WHERE id = ?, then a read    its own place
//! ```
//!
//! Each version names the one before it, so that the order of versions is known to whoever reads
//! them, and every level is decided in a time that grows with the history and no faster
//! (`dbdyno_check`). Few rows make many conflicts: a history without any proves nothing. At the end
//! one more transaction reads every row, which places the versions that nobody saw.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_cases::Family;
use dbdyno_check::{
    HEADER, Kind, Level, OpRecord, Outcome, Times, Txn, UNKNOWN, WriteIds, encode_end,
};
use dbdyno_load::Clock;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_model::random::{Stream, stream};
use dbdyno_wire::{Client, WireError};

use super::bench::Bench;
use super::words::RANDOM as TABLE;

/// How often clients look whether the time is over.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Operations of a transaction are one to so many.
const OPERATIONS_MOST: u64 = 5;
/// Of a hundred operations so many write, and so many read what is the latest.
const WRITES: u64 = 40;
const LOCKING_READS: u64 = 10;
/// Of a hundred transactions so many are rolled back on purpose, so that their writes must not be
/// seen.
const ROLLBACKS: u64 = 4;

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub struct RandomLoad {
    /// Sessions at a time.
    pub clients: u32,
    /// How much each of them asks at each level.
    pub extent: Extent,
    /// Rows: the fewer, the more conflicts.
    pub keys: u64,
    /// Decides what every client asks.
    pub seed: u64,
}

/// When a client has asked enough.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// After so many seconds.
    Seconds(f64),
    /// After so many transactions, refused ones among them.
    Transactions(u64),
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Seconds(seconds) => write!(f, "{seconds} s"),
            Extent::Transactions(count) => write!(f, "{count} transactions of each"),
        }
    }
}

/// What the clients of one level recorded.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The level that sessions asked for.
    pub level: IsolationLevel,
    /// What the server promises there.
    pub promise: Level,
    /// The history, as [`dbdyno_check::read_records`] reads it.
    pub records: Vec<u8>,
    /// How often transactions were refused, by the error.
    pub refused: BTreeMap<String, u64>,
}

/// What a family of servers promises of a level: their manuals, and Hermitage for PostgreSQL.
fn promise(family: Family, level: IsolationLevel) -> Level {
    match (family, level) {
        (Family::Sqlite, _) | (_, IsolationLevel::Serializable) => Level::Serializable,
        (Family::Mysql, IsolationLevel::RepeatableRead) => Level::InnodbRepeatableRead,
        (_, IsolationLevel::RepeatableRead) => Level::SnapshotIsolation,
        // PostgreSQL takes the name of the lowest level for that of the next.
        (Family::Postgres, _) | (_, IsolationLevel::ReadCommitted) => Level::ReadCommitted,
        (_, IsolationLevel::ReadUncommitted) => Level::ReadUncommitted,
    }
}

impl Bench<'_, '_> {
    /// Drives the clients at one level.
    ///
    /// # Errors
    /// A connection that broke, or a statement that is refused for another reason than others'
    /// transactions.
    pub(super) fn random(
        &mut self,
        level: IsolationLevel,
        load: RandomLoad,
    ) -> Result<Recorded, WireError> {
        let mut control = self.station.connector.connect()?;
        self.fill_random(&mut *control, load.keys)?;
        let mut sessions = Vec::new();
        for number in 0..load.clients {
            let mut client = self.station.connector.connect()?;
            self.words.first(level).iter().try_for_each(|sql| client.run(sql).map(|_| ()))?;
            if let Some(Err(error)) = self.words.helpful().map(|sql| client.run(sql))
                && error.is_fatal()
            {
                return Err(error);
            }
            sessions.push(Session::new(client, number, load, self.words.has_locking_reads()));
        }
        self.tell(&format!("{level}: random transactions, {}", load.extent));
        let is_over = AtomicBool::new(false);
        let clock = self.clock;
        let ended: Vec<Result<Session, WireError>> = thread::scope(|scope| {
            let (most, until) = match load.extent {
                Extent::Seconds(seconds) => {
                    (u64::MAX, Some(clock.now() + Duration::from_secs_f64(seconds)))
                }
                Extent::Transactions(count) => (count, None),
            };
            let is_over = &is_over;
            let drive = |session: Session| scope.spawn(move || session.drive(clock, most, is_over));
            let threads: Vec<_> = sessions.into_iter().map(drive).collect();
            let is_late = || until.is_some_and(|until| clock.now() >= until);
            // One that ends before its time has failed, and the others need not go on.
            let has_failed = || until.is_some() && threads.iter().any(|one| one.is_finished());
            let are_done = || threads.iter().all(|one| one.is_finished());
            while !is_late() && !self.is_stopped() && !has_failed() && !are_done() {
                thread::sleep(LOOK_EVERY);
            }
            is_over.store(true, Ordering::Relaxed);
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        });
        let mut records = HEADER.to_vec();
        let mut refused = BTreeMap::new();
        for session in ended {
            let session = session?;
            records.extend_from_slice(&session.records);
            for (error, count) in session.refused {
                *refused.entry(error).or_insert(0) += count;
            }
        }
        let last = Session::new(control, load.clients, load, false);
        records.extend(last.read_all(clock)?);
        Ok(Recorded { level, promise: promise(self.words.family, level), records, refused })
    }

    fn fill_random(&self, control: &mut dyn Client, keys: u64) -> Result<(), WireError> {
        control.run(&format!("DROP TABLE IF EXISTS {TABLE}"))?;
        control.run(&format!(
            "CREATE TABLE {TABLE} (id INT NOT NULL PRIMARY KEY, v BIGINT, prev BIGINT){}",
            self.words.storage()
        ))?;
        for id in 0..keys {
            control.run(&format!("INSERT INTO {TABLE} (id, v, prev) VALUES ({id}, 0, 0)"))?;
        }
        Ok(())
    }
}

/// A client and what it recorded.
struct Session {
    client: Box<dyn Client>,
    number: u32,
    keys: u64,
    ids: WriteIds,
    random: Stream,
    /// How a read of the latest version is spelled; `None`: the server has none.
    locking: Option<&'static str>,
    records: Vec<u8>,
    refused: BTreeMap<String, u64>,
}

impl Session {
    fn new(client: Box<dyn Client>, number: u32, load: RandomLoad, locks: bool) -> Session {
        Session {
            client,
            number,
            keys: load.keys,
            ids: WriteIds::new(number, load.clients + 1, 0),
            random: stream(&[load.seed, u64::from(number)]),
            locking: locks.then_some(" FOR UPDATE"),
            records: Vec::new(),
            refused: BTreeMap::new(),
        }
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
        self.client.run("BEGIN")?;
        times.begin_return_ns = ns();
        let mut ops = 0;
        let count = 1 + self.random.below(OPERATIONS_MOST);
        let mut asked = (0..count).try_for_each(|_| self.operation(&mut ops));
        times.commit_invoke_ns = ns();
        let mut outcome = Outcome::Failed;
        if asked.is_ok() && self.random.below(100) >= ROLLBACKS {
            asked = self.client.run("COMMIT").map(|_| ());
            outcome = match &asked {
                Ok(()) => Outcome::Ok,
                Err(WireError::Server(_)) => Outcome::Failed,
                Err(_) => Outcome::Unknown,
            };
        }
        match asked {
            // For the sake of others: a deadlock, a wait that took too long, a row that changed.
            Err(refusal @ WireError::Server(_)) if refusal.is_retryable() => {
                let told = match &refusal {
                    WireError::Server(error) if error.code == 0 => error.sqlstate.clone(),
                    WireError::Server(error) => format!("error {}", error.code),
                    other => other.to_string(),
                };
                *self.refused.entry(told).or_insert(0) += 1;
                self.roll_back()?;
            }
            Err(error) => return Err(error),
            Ok(()) if outcome == Outcome::Failed => self.roll_back()?,
            Ok(()) => {}
        }
        times.commit_return_ns = ns();
        let txn = Txn { session: self.number, outcome, times, token: 0 };
        self.records.extend_from_slice(&encode_end(txn, ops));
        Ok(())
    }

    fn roll_back(&mut self) -> Result<(), WireError> {
        // After an error the transaction may be gone, which some servers complain about.
        match self.client.run("ROLLBACK") {
            Err(error) if error.is_fatal() => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn operation(&mut self, ops: &mut u32) -> Result<(), WireError> {
        let key = self.random.below(self.keys);
        let kind = self.random.below(100);
        if kind < WRITES
            && let Some(id) = self.ids.take()
        {
            let place = self.records.len();
            // Noted before it is sent: whatever becomes of it, it may be seen.
            self.note(ops, OpRecord { kind: Kind::Write, table: 0, key, value: id, prev: UNKNOWN });
            self.client.run(&format!("UPDATE {TABLE} SET prev = v, v = {id} WHERE id = {key}"))?;
            let (value, prev) = self.read(key, "")?;
            let own = OpRecord { kind: Kind::Read, table: 0, key, value, prev };
            if value == id {
                let known = OpRecord { kind: Kind::Write, ..own };
                self.records[place..place + 16].copy_from_slice(&known.encode());
            }
            self.note(ops, own);
            return Ok(());
        }
        let (kind, how) = match self.locking.filter(|_| kind < WRITES + LOCKING_READS) {
            Some(how) => (Kind::CurrentRead, how),
            None => (Kind::Read, ""),
        };
        let (value, prev) = self.read(key, how)?;
        self.note(ops, OpRecord { kind, table: 0, key, value, prev });
        Ok(())
    }

    fn note(&mut self, ops: &mut u32, op: OpRecord) {
        self.records.extend_from_slice(&op.encode());
        *ops += 1;
    }

    /// The version of a row and the one before it.
    fn read(&mut self, key: u64, how: &str) -> Result<(u32, u32), WireError> {
        let sql = format!("SELECT v, prev FROM {TABLE} WHERE id = {key}{how}");
        let rows = self.client.query(&sql)?.rows;
        let row = rows.first().map_or(&[][..], Vec::as_slice);
        let number = |at: usize| row.get(at)?.as_deref()?.parse::<u32>().ok();
        match (number(0), number(1)) {
            (Some(0), Some(_)) => Ok((0, UNKNOWN)),
            (Some(value), Some(prev)) => Ok((value, prev)),
            _ => Err(WireError::Protocol(format!(
                "{sql} has {} rows, and not one with two numbers",
                rows.len()
            ))),
        }
    }

    /// Reads every row in a transaction of its own, when nobody else is there any more.
    fn read_all(mut self, clock: &Clock) -> Result<Vec<u8>, WireError> {
        let now = u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX);
        let mut ops = 0;
        for key in 0..self.keys {
            let (value, prev) = self.read(key, "")?;
            self.note(&mut ops, OpRecord { kind: Kind::Read, table: 0, key, value, prev });
        }
        let times = Times {
            begin_invoke_ns: now,
            begin_return_ns: now,
            commit_invoke_ns: now,
            commit_return_ns: u64::try_from(clock.now().as_nanos()).unwrap_or(u64::MAX),
        };
        let txn = Txn { session: self.number, outcome: Outcome::Ok, times, token: 0 };
        self.records.extend_from_slice(&encode_end(txn, ops));
        self.client.run(&format!("DROP TABLE {TABLE}"))?;
        self.client.close();
        Ok(self.records)
    }
}
