//! What sessions wait for: the time between two operations of a client, parted by where its thread
//! had no processor.
//!
//! ```text
//!   N clients × time ÷ operations  =  working  +  each class of waits            (Little's law)
//! ```
//!
//! A wait belongs to the first class of its family that has one of the functions in its stack;
//! what has none is a line of its own. Background threads wait for themselves, and are left out: a
//! session is a thread that was seen in the function that serves commands. What a session that
//! nobody speaks to waits for is left out, too. The working is what the waits leave, so that the
//! lines add up. Of servers only: an embedded arm works in the threads of its clients.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{
    ClassWait, Dialect, Interval, Ledger, LedgerLine, LineStanding, PerArm, WaitLine, WaitProfile,
    Waits,
};
use dbdyno_stats as stats;
use dbdyno_symbols::plain_name;

use super::form::ProfileError;
use super::read::each_stack;

/// A profile of waits: see `dbdyno_probe::perf::Kind::Waits`.
#[derive(Clone, Copy, Debug)]
pub struct WaitStacks<'t> {
    /// Stacks that begin with their threads, with microseconds.
    pub stacks: &'t str,
    /// Operations that were carried out meanwhile.
    pub operations: f64,
    /// How long it took.
    pub wall_ns: u64,
}

const WORKING: &str = "working";
const OTHER: &str = "other waits";
const CLIENT: &str = "the client: its next statement";
const PROCESSOR: &str = "a processor";
/// What is left of the rest of a ledger.
const NETWORK: &str = "the network, wake-ups, and what was not observed";
/// How stacks say that their thread could go on (`dbdyno_probe::perf`).
pub(super) const READY: &str = "[waits for a processor]";
/// A session that waits for its client so much of the time has none that asks.
const IDLE_SHARE: f64 = 0.999;
const CONFIDENCE: f64 = 0.95;
const LATCHES: &str = "latches, mutexes and conditions";

/// How functions begin that serve commands; one of them is in the stacks of every session.
const SESSIONS: [(Dialect, &str); 2] = [
    (Dialect::Mysql, "do_command do_handle_one_connection handle_one_connection"),
    (Dialect::Postgres, "PostgresMain BackendMain"),
];

/// Classes, the first that fits first, with how their functions begin.
const MYSQL: [(&str, &str); 10] = [
    (PROCESSOR, READY),
    ("row locks", "lock_wait_suspend_thread lock_wait lock_wait_suspend"),
    (
        "table and metadata locks",
        "MDL_wait MDL_context::acquire_lock wait_for_lock thr_multi_lock thr_lock",
    ),
    (
        "logs, written and synced",
        "__x64_sys_fsync __x64_sys_fdatasync log_write_up_to log_wait_for log_write_flush \
         log_flush log_buffer fil_flush os_file_flush MYSQL_BIN_LOG::sync_binlog_file \
         __x64_sys_sync_file_range",
    ),
    (
        "commits of others, in one group",
        "Stage_manager Commit_stage_manager MYSQL_BIN_LOG::change_stage \
         MYSQL_BIN_LOG::ordered_commit MYSQL_BIN_LOG::queue_for_group_commit wait_for_commit \
         group_commit_lock THD::wait_for_wakeup_ready wait_for_prior_commit",
    ),
    // Whoever commits waits for the log, also where the functions in between have no names.
    ("logs, written and synced", "ha_commit_trans trans_commit innobase_commit"),
    (
        "data files",
        "buf_read_page buf_read_ahead buf_LRU_get_free buf_flush_single buf_wait_for_read \
         os_file_io os_file_read os_file_pread os_aio fil_io pread __x64_sys_pread64 \
         __x64_sys_io_getevents __x64_sys_pwrite64",
    ),
    (
        "sending to the client",
        "net_write net_flush vio_write my_net_write net_send __x64_sys_sendto \
         Protocol_classic::send_eof Protocol_classic::flush",
    ),
    (
        CLIENT,
        "Protocol_classic::get_command Protocol_classic::read_packet my_net_read net_read_packet \
         net_read_raw vio_read vio_io_wait vio_socket_io_wait __x64_sys_recvfrom __x64_sys_poll \
         __x64_sys_ppoll threadpool_",
    ),
    (
        LATCHES,
        "rw_lock_ sync_array_ os_event PolicyMutex TTAS ssux_ srw_ sux_ inline_mysql_mutex \
         pthread_mutex __lll_lock pthread_rwlock safe_mutex __x64_sys_futex",
    ),
];
const POSTGRES: [(&str, &str); 8] = [
    (PROCESSOR, READY),
    ("row locks", "ProcSleep XactLockTableWait WaitOnLock MultiXactIdWait"),
    ("table and metadata locks", "LockRelation LockAcquire"),
    (
        "logs, written and synced",
        "CommitTransaction XLogFlush XLogWrite issue_xlog_fsync XLogBackgroundFlush __x64_sys_fdatasync \
         __x64_sys_fsync XLogInsert",
    ),
    (
        "data files",
        "mdread mdstartreadv FileRead FileStartReadV WaitReadBuffers pread FileWrite mdwrite \
         __x64_sys_pread64 __x64_sys_preadv __x64_sys_pwrite64",
    ),
    (LATCHES, "LWLock PGSemaphore s_lock perform_spin __x64_sys_futex"),
    ("sending to the client", "secure_write internal_flush pq_flush __x64_sys_sendto"),
    (
        CLIENT,
        "secure_read pq_recvbuf pq_getbyte pq_startmsgread SocketBackend ReadCommand \
         __x64_sys_recvfrom __x64_sys_epoll_wait __x64_sys_poll",
    ),
];

/// Parts the time of an operation of so many clients by class of waits.
///
/// # Errors
/// The first line that is no stack.
pub fn by_class(
    dialect: Dialect,
    clients: u32,
    waited: &WaitStacks<'_>,
) -> Result<Vec<ClassWait>, ProfileError> {
    let seen = WaitClassTimes::of(dialect, clients, waited)?;
    let class = |(name, us): (&&str, &f64)| {
        let own = seen.functions.iter().filter(|((class, _), _)| class == name);
        let most = own.max_by(|a, b| a.1.total_cmp(b.1));
        let function = most.map_or_else(String::new, |((_, function), _)| function.clone());
        ClassWait { name: (*name).to_owned(), us: *us, function }
    };
    Ok(seen.us.iter().map(class).collect())
}

/// What both arms wait for: lines with intervals from start to start.
pub fn compare_waits(clients: u32, all: &[WaitProfile]) -> Waits {
    let seen: PerArm<Vec<&[ClassWait]>> = PerArm::from_fn(|arm| {
        all.iter().filter(|one| one.arm == arm).map(|one| one.classes.as_slice()).collect()
    });
    let classes = all.iter().flat_map(|one| &one.classes);
    let names: BTreeSet<&str> = classes.map(|class| class.name.as_str()).collect();
    let mut lines: Vec<WaitLine> =
        names.into_iter().map(|name| line(name, &seen, &|one| one.name == name)).collect();
    let largest = |line: &WaitLine| line.us.base.max(line.us.test);
    lines.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    // What the server does first, and what it has nothing to do with last.
    lines.sort_by_key(|line| match line.name.as_str() {
        WORKING => 0,
        CLIENT => 2,
        _ => 1,
    });
    let total = line("an operation", &seen, &|_| true);
    let profiles = PerArm::from_fn(|arm| seen[arm].len());
    Waits { lines, total, clients, profiles }
}

/// Puts what the servers waited for below the rest of a ledger, its last line: as shares of the
/// time of an operation, for waits are looked at in rounds of their own, which are slower. What
/// they leave of the rest is its last part.
pub fn part_rest(ledger: &mut Ledger, waits: &Waits) {
    let Some(rest) = ledger.lines.last().cloned() else { return };
    let scale = PerArm::from_fn(|arm| ledger.total.us[arm] / waits.total.us[arm]);
    let most = scale.base.max(scale.test);
    let half = |interval: Interval| (interval.high - interval.low) / 2.0;
    let part = |name: &str, us: PerArm<f64>, half: f64| {
        let estimate = us.test - us.base;
        let difference_us = Interval { estimate, low: estimate - half, high: estimate + half };
        LedgerLine { name: name.to_owned(), is_part: LineStanding::OfLine, us, difference_us }
    };
    let mut parts: Vec<LedgerLine> = Vec::new();
    for line in waits.lines.iter().filter(|line| line.name != WORKING && line.name != CLIENT) {
        let us = PerArm::from_fn(|arm| line.us[arm] * scale[arm]);
        parts.push(part(&line.name, us, line.difference_us.map_or(f64::NAN, half) * most));
    }
    let left =
        PerArm::from_fn(|arm| rest.us[arm] - parts.iter().map(|part| part.us[arm]).sum::<f64>());
    let halves =
        parts.iter().map(|part| half(part.difference_us)).chain([half(rest.difference_us)]);
    let width = halves.map(|half| half * half).sum::<f64>().sqrt();
    parts.push(part(NETWORK, left, width));
    ledger.lines.extend(parts);
}

/// A line of the classes that are picked.
fn line(
    name: &str,
    seen: &PerArm<Vec<&[ClassWait]>>,
    is_of_line: &dyn Fn(&ClassWait) -> bool,
) -> WaitLine {
    let picked = |classes: &&[ClassWait]| {
        classes.iter().filter(|one| is_of_line(one)).map(|one| one.us).sum::<f64>()
    };
    let values = PerArm::from_fn(|arm| seen[arm].iter().map(picked).collect::<Vec<f64>>());
    let us =
        PerArm::from_fn(|arm| values[arm].iter().sum::<f64>() / values[arm].len().max(1) as f64);
    // Judged near 0, where a difference is as well an exponent as a number.
    let scale = us.base.max(us.test).max(f64::MIN_POSITIVE);
    let scaled = PerArm::from_fn(|arm| values[arm].iter().map(|us| us / scale).collect::<Vec<_>>());
    let of_two = stats::welch(&scaled.base, &scaled.test, CONFIDENCE).ok();
    let difference_us = of_two.filter(|of| of.degrees_of_freedom > 0.0).map(|of| Interval {
        estimate: us.test - us.base,
        low: of.ratio.low.ln() * scale,
        high: of.ratio.high.ln() * scale,
    });
    let function = PerArm::from_fn(|arm| {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for class in seen[arm].iter().copied().flatten() {
            if is_of_line(class) && !class.function.is_empty() {
                *sums.entry(&class.function).or_default() += class.us;
            }
        }
        let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(function, _)| function.to_owned())
    });
    WaitLine { name: name.to_owned(), us, difference_us, function }
}

/// A profile by class: microseconds for an operation.
struct WaitClassTimes {
    us: BTreeMap<&'static str, f64>,
    /// By class and by the function that waits.
    functions: BTreeMap<(&'static str, String), f64>,
}

impl WaitClassTimes {
    fn of(
        dialect: Dialect,
        clients: u32,
        waited: &WaitStacks<'_>,
    ) -> Result<WaitClassTimes, ProfileError> {
        let mut threads: BTreeMap<String, Thread> = BTreeMap::new();
        each_stack(waited.stacks, None, &mut |seen| {
            let [thread, functions @ ..] = seen.stack else { return };
            let thread = threads.entry((*thread).to_owned()).or_default();
            thread.add(dialect, functions, seen.total_weight());
        })?;
        let wall_us = waited.wall_ns as f64 / 1e3;
        let asked = threads.into_values().filter(|thread| {
            let for_client = thread.us.get(CLIENT).copied().unwrap_or(0.0);
            thread.is_session && for_client < IDLE_SHARE * wall_us
        });
        let mut seen = WaitClassTimes { us: BTreeMap::new(), functions: BTreeMap::new() };
        for thread in asked {
            for (class, us) in thread.us {
                *seen.us.entry(class).or_default() += us / waited.operations;
            }
            for (place, us) in thread.functions {
                *seen.functions.entry(place).or_default() += us / waited.operations;
            }
        }
        let whole = f64::from(clients) * wall_us / waited.operations;
        let waits: f64 = seen.us.values().sum();
        seen.us.insert(WORKING, whole - waits);
        Ok(seen)
    }
}

#[derive(Default)]
struct Thread {
    is_session: bool,
    us: BTreeMap<&'static str, f64>,
    functions: BTreeMap<(&'static str, String), f64>,
}

impl Thread {
    fn add(&mut self, dialect: Dialect, functions: &[&str], us: f64) {
        let serves = SESSIONS.iter().filter(|(of, _)| *of == dialect);
        let serves = serves.flat_map(|(_, names)| names.split(' ')).collect::<Vec<_>>();
        self.is_session |=
            functions.iter().any(|function| serves.iter().any(|name| function.starts_with(name)));
        let (class, names) = class_of(dialect, functions);
        *self.us.entry(class).or_default() += us;
        // The innermost function of the server says more than the call of the kernel.
        let own = functions.iter().rev().find(|name| !name.ends_with("_[k]") && **name != READY);
        let named = functions.iter().rev().find(|function| {
            names.split_whitespace().any(|name| function.starts_with(name))
                && !function.ends_with("_[k]")
        });
        let function = named.or(own).map_or_else(String::new, |name| plain_name(name));
        *self.functions.entry((class, function)).or_default() += us;
    }
}

/// The class of a stack, and how the functions of that class begin.
fn class_of(dialect: Dialect, functions: &[&str]) -> (&'static str, &'static str) {
    let classes: &[(&str, &str)] = match dialect {
        Dialect::Mysql => &MYSQL,
        Dialect::Postgres => &POSTGRES,
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => &[],
    };
    let has = |names: &str| {
        let mut names = names.split_whitespace();
        names.any(|name| functions.iter().any(|function| function.starts_with(name)))
    };
    let ready = functions.contains(&READY).then_some((PROCESSOR, ""));
    let found = classes.iter().skip(1).find(|(_, names)| has(names)).copied();
    ready.or(found).unwrap_or((OTHER, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{Arm, Cell};

    const SESSION: &str = "thread 7;handle_one_connection;do_command;";

    fn of(base: &[&str], test: &[&str]) -> Waits {
        let profile = |arm, (start, stacks): (usize, &&str)| {
            let waited = WaitStacks { stacks, operations: 10.0, wall_ns: 1_000_000 };
            let classes = by_class(Dialect::Mysql, 2, &waited).unwrap();
            WaitProfile { arm, start: start as u32, classes }
        };
        let base = base.iter().enumerate().map(|one| profile(Arm::Base, one));
        let test = test.iter().enumerate().map(|one| profile(Arm::Test, one));
        compare_waits(2, &base.chain(test).collect::<Vec<_>>())
    }

    fn us(waits: &Waits, name: &str) -> (f64, f64) {
        let line = waits.lines.iter().find(|line| line.name == name);
        let line = line.unwrap_or_else(|| panic!("{waits:?}"));
        (line.us.base.round(), line.us.test.round())
    }

    /// Two clients for 1 ms and ten operations: 200 µs an operation.
    #[test]
    fn the_time_of_an_operation_is_parted_and_adds_up() {
        let base = format!(
            "{SESSION}Protocol_classic::get_command(X*);vio_read;__x64_sys_poll_[k] 500\n\
             {SESSION}trans_commit;log_write_up_to(lsn_t);os_event::wait 100\n\
             {SESSION}row_search_mvcc;[waits for a processor] 50\n\
             thread 9;srv_purge_thread;os_event::wait 1000\n\
             thread 8;do_command;vio_read;__x64_sys_poll_[k] 1000\n"
        );
        let test = base.replace(
            "log_write_up_to(lsn_t);os_event::wait 100",
            "row_upd;lock_wait_suspend_thread;os_event::wait 300",
        );
        let found = of(&[&base], &[&test]);
        assert_eq!(us(&found, CLIENT), (50.0, 50.0), "thread 8 has nobody who asks");
        assert_eq!(us(&found, "logs, written and synced"), (10.0, 0.0));
        assert_eq!(us(&found, "row locks"), (0.0, 30.0));
        assert_eq!(us(&found, PROCESSOR), (5.0, 5.0));
        assert_eq!(us(&found, WORKING), (135.0, 115.0));
        for arm in Arm::BOTH {
            let sum: f64 = found.lines.iter().map(|line| line.us[arm]).sum();
            assert!((sum - 200.0).abs() < 1e-9 && (found.total.us[arm] - 200.0).abs() < 1e-9);
        }
        let names: Vec<&str> = found.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!((names[0], names[names.len() - 1]), (WORKING, CLIENT));
        assert_eq!(found.lines[0].difference_us, None, "of one profile nothing is known");
        let locks = found.lines.iter().find(|line| line.name == "row locks").unwrap();
        assert_eq!(locks.function.test.as_deref(), Some("lock_wait_suspend_thread"));
    }

    #[test]
    fn differences_have_intervals_from_start_to_start() {
        let profile =
            |us: u32| format!("{SESSION}trans_commit;log_write_up_to;os_event::wait {us}\n");
        let [a, b, c] = [100, 110, 90].map(profile);
        let [d, e, f] = [300, 320, 280].map(profile);
        let found = of(&[&a, &b, &c], &[&d, &e, &f]);
        let log = found.lines.iter().find(|line| line.name.starts_with("logs")).unwrap();
        let of = log.difference_us.unwrap();
        assert!((of.estimate - 20.0).abs() < 1e-9 && of.low > 10.0 && of.high < 30.0, "{of:?}");
    }

    /// The ledger's operation takes half of that under the recorder: parts of its rest are shares.
    #[test]
    fn waits_part_the_rest_of_a_ledger() {
        let profile =
            |us: u32| format!("{SESSION}trans_commit;log_write_up_to;os_event::wait {us}\n");
        let [a, b, c, d] = [100, 110, 300, 320].map(profile);
        let found = of(&[&a, &b], &[&c, &d]);
        let line = |name: &str, base: f64, test: f64| LedgerLine {
            name: name.into(),
            is_part: LineStanding::Whole,
            us: PerArm { base, test },
            difference_us: Interval {
                estimate: test - base,
                low: test - base - 1.0,
                high: test - base + 1.0,
            },
        };
        let nothing = Interval { estimate: 1.0, low: 1.0, high: 1.0 };
        let mut ledger = Ledger {
            cell: Cell { load: "update".into(), clients: 2 },
            lines: vec![line("server", 70.0, 70.0), line("the rest", 30.0, 80.0)],
            total: line("an operation", 100.0, 150.0),
            rest_share: 0.3,
            rqps_of_work: nothing,
            rqps: 0.7,
        };
        part_rest(&mut ledger, &found);
        let parts: Vec<&LedgerLine> =
            ledger.lines.iter().filter(|line| line.is_part == LineStanding::OfLine).collect();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["logs, written and synced", NETWORK]);
        // 10.5 of 200 µs, and 31 of 200.
        assert!((parts[0].us.base - 5.25).abs() < 1e-9 && (parts[0].us.test - 23.25).abs() < 1e-9);
        for arm in Arm::BOTH {
            let sum: f64 = parts.iter().map(|part| part.us[arm]).sum();
            assert!((sum - ledger.lines[1].us[arm]).abs() < 1e-9, "{ledger:?}");
        }
        let sum: f64 = parts.iter().map(|part| part.difference_us.estimate).sum();
        assert!((sum - 50.0).abs() < 1e-9, "{ledger:?}");
    }
}
