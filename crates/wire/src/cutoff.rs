//! The moment after which nobody waits for a server any more.
//!
//! ```text
//!   question ── deadline noted ── bytes … bytes ── answered ── deadline gone
//!                     │
//!   one thread: ──────┴─ it has passed ──▶ shutdown(socket) ──▶ whoever reads or writes returns
//!   cut_all (the user wants to stop) ────▶ the same, for all sockets of this process
//!   AllCut (a limit of time has passed) ─▶ the same, and while it lives none is opened
//! ```
//!
//! A server that is silent, that sends without end, or a byte now and then, is left in this way in
//! whatever call its client is: in a handshake of TLS, in a read, in a write to a full buffer. It
//! costs nothing where statements are measured: a round notes one deadline for all of them.
//!
//! What is noted is a weak handle: a socket that was closed meanwhile, and whose number belongs to
//! another one by now, is not touched.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{Shutdown, shutdown};

use crate::error::WireError;

/// How long answers are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// For each question so long, to the last byte of its answer.
    Each(Duration),
    /// For all questions from now on together, so that none of them looks at a clock.
    Whole(Duration),
}

impl Patience {
    /// For what a server answers from memory and catalogues; connections have it at first.
    pub const QUESTION: Patience = Patience::Each(Duration::from_secs(120));
    /// For what goes through whole tables: filling, indexes, statistics, VACUUM, checks.
    pub const WORK: Patience = Patience::Each(Duration::from_secs(24 * 3600));
}

/// Bounds how long a connection is waited for. Dropping it lets the connection alone.
#[derive(Debug)]
pub(crate) struct Cutoff {
    number: u64,
    fate: Arc<AtomicU8>,
    /// What was noted last.
    limit: Duration,
    /// How long each question may take, where each is timed.
    each: Option<Duration>,
    /// Whether the connection has failed already, and only leave is taken.
    is_parting: bool,
}

const ALIVE: u8 = 0;
const LATE: u8 = 1;
const STOPPED: u8 = 2;

impl Cutoff {
    /// Watches over a socket, without a deadline yet.
    ///
    /// # Errors
    /// The operating system gives no thread for it.
    pub(crate) fn for_socket(socket: Weak<OwnedFd>) -> io::Result<Cutoff> {
        let mut table = table();
        if !table.is_watched {
            thread::Builder::new().name("wire-cutoff".to_owned()).spawn(watch)?;
            table.is_watched = true;
        }
        table.last += 1;
        let (number, fate) = (table.last, Arc::new(AtomicU8::new(ALIVE)));
        let entry = Entry { socket, fate: Arc::clone(&fate), due: None };
        if table.is_all_cut() {
            entry.cut(STOPPED);
        }
        table.open.insert(number, entry);
        Ok(Cutoff { number, fate, limit: Duration::ZERO, each: None, is_parting: false })
    }

    /// From now on answers are waited for so long.
    pub(crate) fn set_patience(&mut self, patience: Patience) {
        match patience {
            Patience::Each(each) => {
                self.each = Some(each);
                self.lift_deadline();
            }
            Patience::Whole(whole) => {
                self.each = None;
                self.set_deadline(whole);
            }
        }
    }

    /// A question is asked.
    #[inline]
    pub(crate) fn begin_request(&mut self) {
        if let Some(each) = self.each {
            self.set_deadline(each);
        }
    }

    /// It is answered.
    #[inline]
    pub(crate) fn end_request(&mut self) {
        if self.each.is_some() {
            self.lift_deadline();
        }
    }

    /// Cuts the socket off when so much time has passed from now.
    #[expect(clippy::disallowed_methods, reason = "whoever waits for others needs a limit")]
    pub(crate) fn set_deadline(&mut self, within: Duration) {
        self.limit = within;
        table().set(self.number, Instant::now().checked_add(within));
    }

    /// The same where the connection is of no further use: what has failed before is the cause.
    pub(crate) fn part_within(&mut self, within: Duration) {
        if self.fate.load(Ordering::Acquire) == ALIVE {
            self.is_parting = true;
        }
        let limit = self.limit;
        self.set_deadline(within);
        self.limit = limit;
    }

    /// Takes the deadline back.
    pub(crate) fn lift_deadline(&mut self) {
        table().set(self.number, None);
    }

    /// Why a connection is of no use, where it was cut off here.
    #[cold]
    pub(crate) fn explain_error(&self, error: WireError) -> WireError {
        match (self.fate.load(Ordering::Acquire), error) {
            (LATE, error) if error.is_fatal() && !self.is_parting => WireError::Late(self.limit),
            (STOPPED, error) if error.is_fatal() => WireError::Cut,
            (_, error) => error,
        }
    }
}

impl Drop for Cutoff {
    fn drop(&mut self) {
        let mut table = table();
        table.set(self.number, None);
        table.open.remove(&self.number);
    }
}

/// Cuts off all connections of this process, and those that would follow: it is to stop, and what
/// they wait for may never come.
pub fn cut_all() {
    let mut table = table();
    table.is_over = true;
    table.open.values().for_each(|entry| entry.cut(STOPPED));
}

/// While it lives, all connections of this process are cut off, and those that would follow: what
/// is being done has had its time. What is begun afterwards can connect again.
#[derive(Debug)]
pub struct AllCut(());

impl AllCut {
    /// Cuts them off.
    pub fn cut_connections() -> AllCut {
        let mut table = table();
        table.cuts += 1;
        table.open.values().for_each(|entry| entry.cut(STOPPED));
        AllCut(())
    }
}

impl Drop for AllCut {
    fn drop(&mut self) {
        table().cuts -= 1;
    }
}

/// Whether [`cut_all`] was called, or an [`AllCut`] lives.
pub fn is_all_cut() -> bool {
    table().is_all_cut()
}

/// A socket that is watched over.
struct Entry {
    socket: Weak<OwnedFd>,
    fate: Arc<AtomicU8>,
    due: Option<Instant>,
}

impl Entry {
    fn cut(&self, fate: u8) {
        // The first cause stands.
        let _ = self.fate.compare_exchange(ALIVE, fate, Ordering::AcqRel, Ordering::Acquire);
        if let Some(socket) = self.socket.upgrade() {
            // One whose other end has gone is cut off already.
            let _ = shutdown(&socket, Shutdown::Both);
        }
    }
}

/// All sockets that are watched over.
struct Table {
    last: u64,
    open: BTreeMap<u64, Entry>,
    due: BTreeSet<(Instant, u64)>,
    /// When the thread looks next; `None` until it is told.
    looks_at: Option<Instant>,
    is_watched: bool,
    is_over: bool,
    /// How many [`AllCut`] there are.
    cuts: u32,
}

static TABLE: Mutex<Table> = Mutex::new(Table {
    last: 0,
    open: BTreeMap::new(),
    due: BTreeSet::new(),
    looks_at: None,
    is_watched: false,
    is_over: false,
    cuts: 0,
});
static TOLD: Condvar = Condvar::new();

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    fn is_all_cut(&self) -> bool {
        self.is_over || self.cuts > 0
    }

    fn set(&mut self, number: u64, due: Option<Instant>) {
        let Some(entry) = self.open.get_mut(&number) else { return };
        if let Some(before) = std::mem::replace(&mut entry.due, due) {
            self.due.remove(&(before, number));
        }
        let Some(due) = due else { return };
        self.due.insert((due, number));
        // A thread that looks too early looks again; so most questions wake nobody.
        if self.looks_at.is_none_or(|at| due < at) {
            self.looks_at = Some(due);
            TOLD.notify_one();
        }
    }

    fn cut_late(&mut self, now: Instant) {
        while let Some(&(due, number)) = self.due.first()
            && due <= now
        {
            self.due.pop_first();
            if let Some(entry) = self.open.get_mut(&number) {
                entry.due = None;
                entry.cut(LATE);
            }
        }
    }
}

/// Looks whenever a deadline passes.
#[expect(clippy::disallowed_methods, reason = "whoever waits for others needs a limit")]
fn watch() {
    let mut table = table();
    loop {
        let now = Instant::now();
        table.cut_late(now);
        table.looks_at = table.due.first().map(|&(due, _)| due);
        let wait = table.looks_at.map(|due| due.saturating_duration_since(now));
        table = match wait {
            Some(wait) => TOLD.wait_timeout(table, wait).unwrap_or_else(PoisonError::into_inner).0,
            None => TOLD.wait(table).unwrap_or_else(PoisonError::into_inner),
        };
    }
}
