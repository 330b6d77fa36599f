//! Which sessions wait for which, as the server says.
//!
//! ```text
//!   MySQL from 8.0 on, with performance schema    data_lock_waits: who, and for whom
//!   other InnoDB    SHOW ENGINE INNODB STATUS     who waits: fresh, and not always complete
//!                   innodb_trx                    who waits: complete, kept for 100 ms, see below
//!                   innodb_lock_waits             for whom: likewise
//!   PostgreSQL      pg_blocking_pids()            both
//!   served engine   SHOW PROCESSLIST              who waits
//!   others          –                             refused: nothing is concluded from time
//! ```
//!
//! `innodb_trx` and `innodb_lock_waits` are copies that InnoDB makes anew only if nobody has read
//! them for 100 ms (`CACHE_MIN_IDLE_TIME_US` in its trx0i_s.cc): who asks more often is told the
//! same for ever. They are never read sooner than that. The monitor is always fresh, but that of
//! MySQL 9.7 leaves out a SELECT that waits at SERIALIZABLE.

use std::time::Duration;

use dbdyno_wire::{Client, Rows, WireError};

use crate::family::{ServerRelease, WaitSource, way_for};
use crate::innodb::innodb_status;

/// How long the tables of InnoDB are left alone before they are read again.
const CACHE_IDLE: Duration = Duration::from_millis(120);
const TRANSACTIONS: &str =
    "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
/// A lock is called by the thread that wrote it down, and where a row was changed and nobody had to
/// write down a lock for that, it is whoever waits that does so. The lock of its table is a
/// transaction's own doing: by that it is found whose transaction is in the way.
const LOCK_WAITS: &str = "SELECT DISTINCT r.processlist_id, \
     coalesce(t.processlist_id, b.processlist_id), 0 \
     FROM performance_schema.data_lock_waits w \
     JOIN performance_schema.threads r ON r.thread_id = w.requesting_thread_id \
     JOIN performance_schema.threads b ON b.thread_id = w.blocking_thread_id \
     LEFT JOIN performance_schema.data_locks l ON l.lock_type = 'TABLE' \
     AND l.engine_transaction_id = w.blocking_engine_transaction_id \
     LEFT JOIN performance_schema.threads t ON t.thread_id = l.thread_id";
const OLD_LOCK_WAITS: &str = "SELECT DISTINCT r.trx_mysql_thread_id, b.trx_mysql_thread_id, \
     coalesce(w.blocking_lock_id = b.trx_requested_lock_id, 0) \
     FROM information_schema.innodb_lock_waits w \
     JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id \
     JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id";

/// Whom a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// The session, by its id.
    pub id: u64,
    /// Whether it is in the way with a lock that it waits for itself. MariaDB tells of those that
    /// stand behind, too, which are in nobody's way.
    pub by_request: bool,
}

/// A connection on which a server is asked which sessions wait.
pub struct BlockingWatch {
    client: Box<dyn Client>,
    source: WaitSource,
    /// Whether the monitor and the tables of InnoDB are asked.
    by_tables: bool,
    /// When these tables were read last.
    read: Option<Duration>,
}

/// What was seen of one session: for which it waits, as far as that was told.
pub type Waiting = Option<Option<Vec<u64>>>;

impl BlockingWatch {
    /// One on a connection of its own.
    ///
    /// # Errors
    /// A server of a family that does not say which sessions wait.
    pub fn from_client(
        mut client: Box<dyn Client>,
        server: ServerRelease,
    ) -> Result<BlockingWatch, WireError> {
        let Some(source) = way_for(server.family().waits, server) else {
            let name = server.family().name;
            return Err(WireError::Protocol(format!(
                "{name} does not say which sessions wait for which, or it is not known how to ask \
                 it; statements of several sessions are played on MySQL, MariaDB, PostgreSQL, \
                 SQLite and the embedded engine"
            )));
        };
        let by_tables = match source {
            WaitSource::LockWaits => !has_performance_schema(&mut *client),
            WaitSource::Innodb => true,
            WaitSource::BlockingPids | WaitSource::ProcessList => false,
        };
        Ok(BlockingWatch { client, source, by_tables, read: None })
    }

    /// Which of the sessions with these ids wait, and for which ids where that is told.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn look_at_sessions(
        &mut self,
        ids: &[u64],
        now: &dyn Fn() -> Duration,
    ) -> Result<Vec<Waiting>, WireError> {
        if self.by_tables {
            return self.look_at_tables(ids, now);
        }
        let pairs = match self.source {
            WaitSource::BlockingPids => {
                let all: Vec<String> = ids.iter().map(u64::to_string).collect();
                let sql = format!(
                    "SELECT p, array_to_string(pg_blocking_pids(p), ',') \
                     FROM unnest('{{{}}}'::int[]) AS p",
                    all.join(",")
                );
                self.client.query(&sql)?
            }
            WaitSource::LockWaits | WaitSource::Innodb => self.client.query(LOCK_WAITS)?,
            WaitSource::ProcessList => {
                let sessions = self.client.query("SHOW PROCESSLIST")?;
                return Ok(waiting_in_list(ids, &sessions));
            }
        };
        Ok(named(ids, &blocked_by(&pairs)))
    }

    fn look_at_tables(
        &mut self,
        ids: &[u64],
        now: &dyn Fn() -> Duration,
    ) -> Result<Vec<Waiting>, WireError> {
        let mut waiting = waiting_in_monitor(&innodb_status(&mut *self.client)?);
        if self.read.is_none_or(|read| now().saturating_sub(read) >= CACHE_IDLE) {
            let all = self.client.query(TRANSACTIONS)?;
            self.read = Some(now());
            let ids = all.rows.iter().filter_map(|row| row.first()?.as_ref()?.parse::<u64>().ok());
            waiting.extend(ids);
        }
        Ok(ids.iter().map(|id| waiting.contains(id).then_some(None)).collect())
    }

    /// Whether a circle of waits is broken before anybody can be seen waiting in it: InnoDB looks
    /// for one when a wait begins, MySQL from 8.0.18 on and PostgreSQL some time later.
    pub fn breaks_circles_at_once(&self) -> bool {
        matches!(self.source, WaitSource::Innodb | WaitSource::ProcessList)
    }

    /// For which each of these sessions waits; `None` where the server does not say.
    pub fn find_blockers(
        &mut self,
        ids: &[u64],
        now: &dyn Fn() -> Duration,
    ) -> Option<Vec<Vec<Blocker>>> {
        if !self.by_tables {
            return None;
        }
        if let Some(read) = self.read {
            std::thread::sleep(CACHE_IDLE.saturating_sub(now().saturating_sub(read)));
        }
        let answer = self.client.query(OLD_LOCK_WAITS).ok();
        self.read = Some(now());
        let pairs = blocked_by(&answer?);
        // MySQL 8.0 has no such table.
        (!pairs.is_empty()).then(|| {
            ids.iter()
                .map(|id: &u64| -> Vec<Blocker> {
                    pairs.iter().filter(|pair| pair.0 == *id).map(|pair| pair.1).collect()
                })
                .collect()
        })
    }

    /// Ends a session from outside.
    pub fn end_session(&mut self, id: u64) {
        let sql = match self.source {
            WaitSource::BlockingPids => format!("SELECT pg_terminate_backend({id})"),
            WaitSource::LockWaits | WaitSource::Innodb | WaitSource::ProcessList => {
                format!("KILL {id}")
            }
        };
        // Where it cannot be ended it ends with its server.
        let _ = self.client.query(&sql);
    }
}

fn has_performance_schema(client: &mut dyn Client) -> bool {
    let asked = client.query("SELECT @@performance_schema");
    asked.is_ok_and(|rows| rows.first_value() == Some("1"))
}

/// For whom each of these waits, if it waits. Who is told to wait for himself waits for somebody
/// else, see [`LOCK_WAITS`].
fn named(ids: &[u64], pairs: &[(u64, Blocker)]) -> Vec<Waiting> {
    ids.iter()
        .map(|id| {
            let own: Vec<u64> =
                pairs.iter().filter(|pair| pair.0 == *id).map(|pair| pair.1.id).collect();
            let others: Vec<u64> = own.iter().copied().filter(|whom| whom != id).collect();
            let is_whole = others.len() == own.len();
            (!own.is_empty()).then(|| is_whole.then_some(others))
        })
        .collect()
}

/// Which of these sessions are in a list of all as waiting for a lock; for whom it does not tell.
fn waiting_in_list(ids: &[u64], sessions: &Rows) -> Vec<Waiting> {
    let [id, state] =
        ["Id", "State"].map(|name| sessions.columns.iter().position(|column| column == name));
    let (Some(id), Some(state)) = (id, state) else { return vec![None; ids.len()] };
    let waits = sessions.rows.iter().filter(|row| row[state].as_deref() == Some(WAITS));
    let waiting: Vec<u64> = waits.filter_map(|row| row[id].as_ref()?.parse().ok()).collect();
    ids.iter().map(|id| waiting.contains(id).then_some(None)).collect()
}

/// What the served engine calls a session that waits for a lock and goes on waiting until another
/// does something.
const WAITS: &str = "waiting for a lock";

/// Rows of a session and those that it waits for, one a row or with commas between them.
fn blocked_by(rows: &Rows) -> Vec<(u64, Blocker)> {
    let mut pairs = Vec::new();
    for row in &rows.rows {
        let [Some(waits), Some(whom), rest @ ..] = row.as_slice() else { continue };
        let Ok(waits) = waits.parse() else { continue };
        let by_request = rest.first().is_some_and(|told| told.as_deref() == Some("1"));
        pairs.extend(
            whom.split(',')
                .filter_map(|id| Some((waits, Blocker { id: id.parse().ok()?, by_request }))),
        );
    }
    pairs
}

/// Connections whose transactions the monitor of InnoDB calls waiting:
///
/// ```text
///   ---TRANSACTION 1811, ACTIVE 2 sec starting index read
///   mysql tables in use 1, locked 1
///   LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
///   MySQL thread id 9, OS thread handle …
/// ```
fn waiting_in_monitor(text: &str) -> Vec<u64> {
    let mut waiting = Vec::new();
    let mut waits = false;
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("---TRANSACTION ") {
            (inside, waits) = (true, false);
        } else if !inside {
            // A deadlock further up tells of transactions as they were.
        } else if line.starts_with("LOCK WAIT ") {
            waits = true;
        } else if let Some((_, rest)) = line.split_once(" thread id ") {
            let id = rest.split(|c: char| !c.is_ascii_digit()).next();
            if waits && let Some(id) = id.and_then(|id| id.parse().ok()) {
                waiting.push(id);
            }
            waits = false;
        }
    }
    waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MariaDB 10.11.19 and MySQL 8.0.33, shortened; the deadlock above is over.
    const MONITOR: &str = "\
------------------------
LATEST DETECTED DEADLOCK
------------------------
*** (1) TRANSACTION:
TRANSACTION 41, ACTIVE 1 sec starting index read
LOCK WAIT 3 lock struct(s), heap size 1128, 2 row lock(s)
MariaDB thread id 77, OS thread handle 1, query id 9 localhost dbdyno Updating
------------
TRANSACTIONS
------------
---TRANSACTION (0x7f0001), not started
0 lock struct(s), heap size 1128, 0 row lock(s)
---TRANSACTION 43, ACTIVE 0 sec starting index read
mysql tables in use 1, locked 1
LOCK WAIT 2 lock struct(s), heap size 1128, 1 row lock(s)
MariaDB thread id 8, OS thread handle 2, query id 30 localhost dbdyno Updating
update test set value = 12 where id = 1
------- TRX HAS BEEN WAITING 105 us FOR THIS LOCK TO BE GRANTED:
RECORD LOCKS space id 5 page no 3 n bits 320 index PRIMARY of table `d`.`t` trx id 43 waiting
---TRANSACTION 42, ACTIVE 0 sec
2 lock struct(s), heap size 1128, 1 row lock(s), undo log entries 1
MySQL thread id 9, OS thread handle 3, query id 31 localhost dbdyno
";

    #[test]
    fn the_monitor_tells_who_waits_now() {
        assert_eq!(waiting_in_monitor(MONITOR), [8]);
        assert!(waiting_in_monitor("").is_empty());
    }

    #[test]
    fn who_waits_for_himself_waits_for_somebody_unnamed() {
        let pair = |waits, id| (waits, Blocker { id, by_request: false });
        let seen = named(&[1, 2, 3], &[pair(1, 1), pair(3, 1), pair(3, 2)]);
        assert_eq!(seen, [Some(None), None, Some(Some(vec![1, 2]))]);
    }
}
