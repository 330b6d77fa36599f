//! The reference engine as an arm: a server without a wire, in the client's own threads.
//!
//! ```text
//!   EngineArm ── one engine in a directory, shared
//!      ├── client ── Connection: SQL of MySQL's, planned once ── session
//!      └── client ── …
//! ```
//!
//! Where its design has a replica, that is another engine in a directory below, which follows the
//! log of the first in threads of its own.
//!
//! Threads of its own purge old versions and write checkpoints; like RocksDB's they are not part of
//! a client's cost, see `lab::cost`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use dbdyno_engine::follow::{self, ReplicaComparison};
use dbdyno_engine::{Engine, EngineError, Interruption, Replica};
use dbdyno_model::{Design, LatencyHistogram};
use dbdyno_sql::{Operand, Params, ResultColumn, Sink, SqlConnection, SqlError, StatementEffect};
use dbdyno_wire::{
    Args, BulkTarget, Client, Param, RowBuffer, Rows, ServerError, StatementCounts, StatementId,
    WireError,
};
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};

use crate::error::still_open;

/// What the mechanisms of an engine have done.
pub use dbdyno_engine::meter::MeterCounts as EngineCounts;

/// An engine that is open.
#[derive(Clone)]
pub struct EngineArm {
    engine: Arc<Engine>,
    replica: Option<Arc<Replica>>,
    directory: PathBuf,
}

impl EngineArm {
    /// Opens the engine in a directory, which is empty or that of an engine of any design.
    ///
    /// # Errors
    /// The disk's refusal, or what is there is not what an engine left.
    pub fn open(directory: &Path, design: &Design) -> Result<EngineArm, WireError> {
        let opened = follow::open_in(directory, design, monotonic_ns);
        let (engine, replica) = opened.map_err(|error| refused(SqlError::Engine(error)))?;
        let replica = replica.map(Arc::new);
        Ok(EngineArm { engine, replica, directory: directory.to_owned() })
    }

    /// Closes the engine and opens it again: its rows are read from its disk into other memory.
    pub(crate) fn open_again(self) -> Result<EngineArm, WireError> {
        let EngineArm { engine, replica, directory } = self;
        let design = *engine.design();
        if let Some(replica) = replica {
            let replica = Arc::into_inner(replica).ok_or_else(|| still_open("the replica"))?;
            replica.stop().map_err(|error| refused(SqlError::Engine(error)))?;
        }
        let engine = Arc::into_inner(engine).ok_or_else(|| still_open("the engine"))?;
        engine.close().map_err(|error| refused(SqlError::Engine(error)))?;
        EngineArm::open(&directory, &design)
    }

    /// How the names of its own threads begin.
    pub const THREADS: &str = "engine:";

    /// Where its log and its checkpoints are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What its mechanisms did since it was opened.
    pub fn meter_counts(&self) -> EngineCounts {
        self.engine.meter_counts()
    }

    /// The lags of the replica's transactions since this was asked last, where there is one: from
    /// when they began to commit here until they were visible there. Nanoseconds.
    pub fn take_lag(&self) -> Option<LatencyHistogram> {
        self.replica.as_ref().map(|replica| replica.take_lag())
    }

    /// Lets the replica apply all, where there is one, and holds it against its source row by row.
    /// Nobody may write meanwhile.
    ///
    /// # Errors
    /// The replica has ended, and why.
    pub fn compare_replica(&self) -> Result<Option<ReplicaComparison>, WireError> {
        let compared = self.replica.as_ref().map(|replica| replica.compare_rows()).transpose();
        compared.map_err(|error| refused(SqlError::Engine(error)))
    }

    /// Ends all waits of clients for locks, and lets nobody wait for one as long as this is held.
    pub(crate) fn interrupt_waits(&self) -> Interruption<'_> {
        self.engine.interrupt_waits()
    }

    /// Bytes that rows, versions and indexes take in memory; all of them are looked at.
    pub fn heap_bytes(&self) -> usize {
        self.engine.heap_bytes()
    }

    /// The engine itself, for whoever asks it without SQL.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Its design.
    pub fn design(&self) -> &Design {
        self.engine.design()
    }

    pub(crate) fn client(&self) -> Box<dyn Client> {
        self.watched_client().0
    }

    /// A client, and what shows to other threads whether it waits.
    pub fn watched_client(&self) -> (Box<dyn Client>, EngineWatch) {
        let connection = SqlConnection::new(self.engine.clone(), now_us);
        let watch = EngineWatch(connection.wait_watch());
        (Box::new(EngineClient { connection }), watch)
    }
}

impl std::fmt::Debug for EngineArm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineArm").field("design", self.design()).finish()
    }
}

/// The monotonic clock of the system, nanoseconds.
fn monotonic_ns() -> u64 {
    // Linux always has this clock; it can fail for a wrong address only.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| time.num_nanoseconds() as u64)
}

/// Microseconds since 1970, for CURRENT_TIMESTAMP.
#[expect(clippy::disallowed_methods, reason = "a row may carry the time of day")]
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}

/// Shows whether a client waits for a lock.
#[derive(Clone)]
pub struct EngineWatch(dbdyno_engine::session::WaitWatch);

impl EngineWatch {
    /// Whether it waits, and goes on waiting until another client does something.
    pub fn is_waiting(&self) -> bool {
        self.0.is_waiting()
    }
}

/// A connection.
struct EngineClient {
    connection: SqlConnection,
}

impl Client for EngineClient {
    fn prepare(&mut self, sql: &str) -> Result<StatementId, WireError> {
        let number = self.connection.prepare(sql).map_err(refused)?;
        Ok(StatementId(number as u32))
    }

    fn execute(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
    ) -> Result<StatementCounts, WireError> {
        self.execute_into(statement, args, &mut CountSink)
    }

    fn fetch(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        into: &mut RowBuffer,
    ) -> Result<StatementCounts, WireError> {
        into.begin_rows(0);
        self.execute_into(statement, args, &mut BufferSink(into))
    }

    fn run(&mut self, sql: &str) -> Result<StatementCounts, WireError> {
        self.connection.run(sql, &mut CountSink).map(outcome).map_err(refused)
    }

    fn query(&mut self, sql: &str) -> Result<Rows, WireError> {
        let mut shown = TextSink::default();
        self.connection.run(sql, &mut shown).map_err(refused)?;
        Ok(shown.rows)
    }

    /// One transaction.
    fn bulk_load(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        if let Some((column, _)) = target.numbers.first() {
            let (column, table) = (&target.columns[*column], target.table);
            let message = format!("{column} of {table}: the engine has no columns of bits");
            return Err(refused(SqlError::Value(message)));
        }
        self.connection.bulk_insert(target.table, target.columns, more).map_err(refused)
    }

    fn server_version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn connection_id(&self) -> u64 {
        0
    }

    fn close(self: Box<Self>) {}
}

impl EngineClient {
    fn execute_into(
        &mut self,
        statement: StatementId,
        args: &dyn Args,
        sink: &mut dyn Sink,
    ) -> Result<StatementCounts, WireError> {
        let done = self.connection.execute(statement.0 as usize, &EngineParameters(args), sink);
        done.map(outcome).map_err(refused)
    }
}

/// Parameters as the engine takes them.
struct EngineParameters<'a>(&'a dyn Args);

impl Params for EngineParameters<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn get(&self, index: usize) -> Operand<'_> {
        match self.0.get(index) {
            Param::Null => Operand::Null,
            Param::Int(number) => Operand::Int(number),
            Param::Text(text) => Operand::of_text(text),
        }
    }
}

/// Rows are looked at and counted.
struct CountSink;

impl Sink for CountSink {
    fn begin_rows(&mut self, _columns: &Arc<[ResultColumn]>) {}

    fn value(&mut self, value: &Operand<'_>) {
        std::hint::black_box(value);
    }

    fn end_row(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Rows are kept for a dialogue.
struct BufferSink<'a>(&'a mut RowBuffer);

impl Sink for BufferSink<'_> {
    fn begin_rows(&mut self, columns: &Arc<[ResultColumn]>) {
        self.0.begin_rows(columns.len());
    }

    fn value(&mut self, value: &Operand<'_>) {
        match value {
            Operand::Null => self.0.push_null(),
            Operand::Text(text) => self.0.push_text(text),
            shown => self.0.push_shown(shown),
        }
    }

    fn end_row(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Rows are kept as text.
#[derive(Default)]
struct TextSink {
    rows: Rows,
    row: Vec<Option<String>>,
}

impl Sink for TextSink {
    fn begin_rows(&mut self, columns: &Arc<[ResultColumn]>) {
        self.rows.columns = columns.iter().map(|column| column.name.clone()).collect();
    }

    fn value(&mut self, value: &Operand<'_>) {
        let is_null = matches!(value, Operand::Null);
        self.row.push((!is_null).then(|| value.to_string()));
    }

    fn end_row(&mut self) -> ControlFlow<()> {
        self.rows.rows.push(std::mem::take(&mut self.row));
        ControlFlow::Continue(())
    }
}

fn outcome(done: StatementEffect) -> StatementCounts {
    StatementCounts { rows: done.rows, affected: done.affected }
}

/// The engine's errors in the terms of a server: MySQL's.
fn refused(error: SqlError) -> WireError {
    if matches!(error, SqlError::Engine(EngineError::Interrupted)) {
        return WireError::Interrupted;
    }
    WireError::Server(ServerError {
        code: error.code(),
        sqlstate: error.sqlstate().to_owned(),
        message: error.to_string().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_with_another_row_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let design = "topology=replica:1&device=none&depend=dag&apply=dag:2".parse().unwrap();
        let arm = EngineArm::open(directory.path(), &design).unwrap();
        let mut client = arm.client();
        client.run("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL)").unwrap();
        for id in 1..=50 {
            client.run(&format!("INSERT INTO t VALUES ({id}, {id})")).unwrap();
        }
        let standing = arm.compare_replica().unwrap().unwrap();
        assert_eq!(standing.difference, None);
        assert!(arm.take_lag().unwrap().count() >= 50);
        let replica = arm.replica.as_ref().unwrap().replica_engine().clone();
        let mut other = SqlConnection::new(replica, now_us);
        for (sql, said) in [
            ("UPDATE t SET v = 9 WHERE id = 7", "t: row 7 is another one"),
            ("DELETE FROM t WHERE id = 7", "t: the replica lacks row 7"),
            ("INSERT INTO t VALUES (7, 7)", "None"),
            ("INSERT INTO t VALUES (0, 0)", "t: only the replica has row 1"),
        ] {
            other.run(sql, &mut CountSink).unwrap();
            let found = arm.compare_replica().unwrap().unwrap().difference;
            let told = client.query("CHECK REPLICA").unwrap().rows;
            assert_eq!(told, [vec![Some("0".to_owned()), found.clone()]], "{sql}");
            assert_eq!(found.unwrap_or_else(|| "None".to_owned()), said, "{sql}");
        }
    }
}
