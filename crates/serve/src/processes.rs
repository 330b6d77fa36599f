//! The sessions of a server, as they see each other, and what ends their statements.
//!
//! ```text
//!   session 7   request ── begin ── rows … is it to end? … rows ── end
//!                                         │
//!   KILL QUERY 7 ───────── killed ────────┤  it waits for a lock: the wait is ended
//!   max_execution_time ─── due ───────────┤
//!   its client ─────────── has gone ──────┘
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dbdyno_engine::session::WaitWatch;
use dbdyno_sql::{Kill, ProcessRow, SessionHost, StatementStop};
use dbdyno_wire::SocketWatch;

/// All sessions of a server.
#[derive(Debug, Default)]
pub(crate) struct ProcessTable {
    open: Mutex<BTreeMap<u32, Arc<Process>>>,
    /// Reading is ended by the server itself, which looks to a session as if its client had gone.
    lets_finish: AtomicBool,
}

/// One session.
pub(crate) struct Process {
    row: ProcessRow,
    socket: SocketWatch,
    wait: WaitWatch,
    killed: AtomicU8,
    is_busy: AtomicBool,
    uptime_ns: fn() -> u64,
    /// How long a question may take, in nanoseconds; 0 for as long as it takes.
    limit_ns: AtomicU64,
    /// When the question is to end that is answered now, by that clock; 0 for never.
    due_ns: AtomicU64,
}

const ALIVE: u8 = 0;
const QUERY: u8 = 1;
const CONNECTION: u8 = 2;

/// A session in the table, which leaves it when this is dropped.
pub(crate) struct ProcessEntry<'t> {
    table: &'t ProcessTable,
    pub process: Arc<Process>,
}

impl ProcessTable {
    /// Adds a session.
    pub(crate) fn add_session(
        &self,
        id: u32,
        user: &str,
        socket: SocketWatch,
        wait: WaitWatch,
        uptime_ns: fn() -> u64,
    ) -> ProcessEntry<'_> {
        let process = Arc::new(Process {
            row: ProcessRow { id, user: user.to_owned(), is_busy: false, is_waiting: false },
            socket,
            wait,
            killed: AtomicU8::new(ALIVE),
            is_busy: AtomicBool::new(false),
            uptime_ns,
            limit_ns: AtomicU64::new(0),
            due_ns: AtomicU64::new(0),
        });
        self.open().insert(id, process.clone());
        ProcessEntry { table: self, process }
    }

    /// Whether what is asked already is answered whatever becomes of reading: the server ends.
    pub(crate) fn let_finish(&self, lets_finish: bool) {
        self.lets_finish.store(lets_finish, Ordering::SeqCst);
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Process>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ProcessEntry<'_> {
    fn drop(&mut self) {
        self.table.open().remove(&self.process.row.id);
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("row", &self.row).finish_non_exhaustive()
    }
}

impl Process {
    /// A request is to be answered; whether the session may go on. What was said of an earlier
    /// statement is not said of this one.
    #[inline]
    pub(crate) fn begin_request(&self) -> bool {
        self.is_busy.store(true, Ordering::Relaxed);
        let limit_ns = self.limit_ns.load(Ordering::Relaxed);
        if limit_ns > 0 {
            self.due_ns.store((self.uptime_ns)().saturating_add(limit_ns), Ordering::Relaxed);
        }
        self.killed.load(Ordering::SeqCst) == ALIVE || self.pass_killed_query()
    }

    /// What was killed was the statement before; whether the session may go on.
    #[cold]
    fn pass_killed_query(&self) -> bool {
        let passed = self.killed.compare_exchange(QUERY, ALIVE, Ordering::SeqCst, Ordering::SeqCst);
        if passed.is_ok() {
            self.wait.allow_waits();
        }
        // The connection may have been killed meanwhile.
        self.killed.load(Ordering::SeqCst) != CONNECTION
    }

    /// It is answered.
    #[inline]
    pub(crate) fn end_request(&self) {
        self.is_busy.store(false, Ordering::Relaxed);
    }

    /// How long a question may take.
    pub(crate) fn set_limit(&self, limit: Option<Duration>) {
        let limit_ns = limit.map_or(0, |limit| limit.as_nanos());
        let limit_ns = u64::try_from(limit_ns).unwrap_or(u64::MAX);
        self.limit_ns.store(limit_ns, Ordering::Relaxed);
        self.due_ns.store(0, Ordering::Relaxed);
    }

    fn kill(&self, what: Kill) {
        match what {
            // Where nothing is done there is nothing to end.
            Kill::Query if !self.is_busy.load(Ordering::Relaxed) => (),
            Kill::Query => {
                // In this order: the next request that sees it killed lets it wait again.
                self.wait.interrupt_wait();
                let _ =
                    self.killed.compare_exchange(ALIVE, QUERY, Ordering::SeqCst, Ordering::SeqCst);
            }
            Kill::Connection => {
                self.killed.store(CONNECTION, Ordering::SeqCst);
                self.socket.end_reading();
                self.wait.interrupt_wait();
            }
        }
    }

    fn is_late(&self) -> bool {
        let due_ns = self.due_ns.load(Ordering::Relaxed);
        due_ns > 0 && (self.uptime_ns)() >= due_ns
    }
}

/// The server around one session.
pub(crate) struct ProcessHost {
    pub table: Arc<ProcessTable>,
    pub process: Arc<Process>,
}

impl SessionHost for ProcessHost {
    fn stop(&self, reads_only: bool) -> Option<StatementStop> {
        if self.process.killed.load(Ordering::SeqCst) != ALIVE {
            return Some(StatementStop::Killed);
        }
        if reads_only && self.process.is_late() {
            return Some(StatementStop::TimeOver);
        }
        // In this order: once reading is ended, it is known by whom.
        let is_gone = self.process.socket.is_hung_up();
        let lets_finish = self.table.lets_finish.load(Ordering::SeqCst);
        (is_gone && !lets_finish).then_some(StatementStop::ClientGone)
    }

    fn kill(&self, id: u64, what: Kill) -> bool {
        let found = u32::try_from(id).ok().and_then(|id| self.table.open().get(&id).cloned());
        found.inspect(|process| process.kill(what)).is_some()
    }

    fn list_processes(&self) -> Vec<ProcessRow> {
        let open = self.table.open();
        open.values()
            .map(|process| ProcessRow {
                is_busy: process.is_busy.load(Ordering::Relaxed),
                is_waiting: process.wait.is_waiting(),
                ..process.row.clone()
            })
            .collect()
    }
}
