//! What all waits have in common, and the function that tells them apart.
//!
//! ```text
//!   finish_task_switch, schedule, futex_wait       the kernel takes the processor away
//!   pthread_cond_wait, os_event::wait              a library and the server's own wrapper of it
//!   lock_wait_suspend_thread                       who waits: this one tells
//!   row_search_mvcc, …
//! ```
//!
//! Compared by the innermost function, all threads that wait are one: a condition is waited for by
//! whoever has nothing to do, and by whoever is held up.

use std::sync::LazyLock;

/// Functions that go off the processor, whole names.
const SWITCHES: [&str; 7] = [
    "finish_task_switch",
    "schedule",
    "__schedule",
    "context_switch",
    "__switch_to",
    "preempt_schedule_common",
    "preempt_schedule",
];

/// How names begin of functions that wait for whatever they are asked to: of the kernel, of
/// libraries, and of servers.
const PRIMITIVES: &str = "schedule_timeout schedule_hrtimeout schedule_preempt io_schedule \
    _cond_resched __cond_resched preempt_schedule __preempt_schedule prepare_to_wait do_wait_intr \
    futex_wait_queue futex_wait_restart futex_abstimed futex_do_wait do_futex sys_futex __x64_sys_futex __se_sys_futex __do_sys_futex __futex_ ___futex_ \
    entry_SYSCALL do_syscall_64 x64_sys_call el0_svc el0t_64 invoke_syscall do_el0_svc \
    __wait_on_bit wait_on_bit bit_wait out_of_line_wait wait_woken wait_for_completion \
    rwsem_down call_rwsem_down down_read down_write __down mutex_lock __mutex_lock rt_mutex \
    percpu_down \
    pthread_cond_ pthread_mutex_ pthread_rwlock_ __lll_ lll_ ___lll \
    sem_wait sem_timedwait __new_sem_ __sem_ sem_clockwait do_futex_wait semop \
    std::condition_variable std::_V2::condition_variable std::mutex std::timed_mutex \
    std::shared_mutex std::unique_lock std::lock_guard std::__condvar std::recursive_mutex \
    __gthread_ parking_lot std::sys:: std::sync::condvar std::sync::mutex \
    safe_mutex_ safe_cond_ my_cond_ native_cond_ native_mutex_ my_mutex_ inline_mysql_ \
    mysql_cond_ mysql_mutex_ mysql_rwlock_ psi_cond psi_mutex psi_rwlock \
    os_cond_ os_event os_mutex_ os_thread_sleep my_sleep pg_usleep s_lock perform_spin_delay \
    _L_lock_ _L_mutex_ _L_cond_ _L_timedlock_ _L_robust_ sync_array_ sync_cell PolicyMutex TTAS ssux_ srw_ sux_ rw_lock_ mutex_enter \
    mutex_spin_wait sync_mutex OSMutex \
    jdk.internal.misc.Unsafe.park sun.misc.Unsafe.park java.util.concurrent.locks. Unsafe_Park \
    Parker:: ObjectMonitor:: PlatformEvent os::PlatformEvent java.lang.Object.wait \
    rocksdb::port:: LWLock PGSemaphore WaitLatch WaitEventSetWait ConditionVariableSleep ConditionVariableTimedSleep";
/// The same, parted once: each stack of a profile is held against all of them.
static PRIMITIVE_BEGINNINGS: LazyLock<Vec<&str>> =
    LazyLock::new(|| PRIMITIVES.split_whitespace().collect());

/// Methods of locks and conditions as debuggers print them that know no class of what was inlined:
/// `wait (this=0x7f10)` of `os_event`, `enter` of a mutex, `wr_wait` of `ssux_lock`.
const METHODS: [&str; 16] = [
    "wait",
    "wait_low",
    "wait_time_low",
    "timed_wait",
    "wait_for",
    "wait_until",
    "enter",
    "lock",
    "rd_lock",
    "wr_lock",
    "rd_wait",
    "wr_wait",
    "update_lock",
    "s_lock",
    "x_lock",
    "u_lock",
];

/// System calls that wait for anything: they tell something unless a wrapper called them.
const CALLS: [&str; 9] = [
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "select",
    "poll",
    "ppoll",
    "epoll_wait",
    "epoll_pwait",
    "syscall",
];
/// Where threads begin: all have that in common, too.
const BEGINNINGS: [&str; 6] =
    ["start_thread", "clone", "clone3", "main", "__libc_start_main", "_start"];

/// Whether a function takes a thread off the processor.
pub(super) fn is_switch(function: &str) -> bool {
    SWITCHES.contains(&bare(function))
}

/// Without its mark of the kernel, pieces that a compiler made, version and arguments.
fn bare(function: &str) -> &str {
    let name = function.strip_suffix("_[k]").unwrap_or(function);
    let name = name.split(['(', '<', '@']).next().unwrap_or(name);
    name.split_once('.').map_or(name, |(name, _)| name)
}

/// Whether all kinds of waits go through a function.
fn is_primitive(function: &str) -> bool {
    let whole = function.trim_start();
    is_switch(function)
        || bare(function) == "futex_wait"
        || METHODS.contains(&bare(function))
        || PRIMITIVE_BEGINNINGS.iter().any(|begin| whole.starts_with(begin))
        || has_no_name(function)
}

/// A mark between stacks of the kernel and the user, or a file in place of a function.
fn has_no_name(function: &str) -> bool {
    is_mark(function) || is_file(function)
}

/// A mark between stacks of the kernel and the user.
fn is_mark(function: &str) -> bool {
    matches!(function, "-" | "--" | "")
}

/// A file in place of a function.
fn is_file(function: &str) -> bool {
    function.starts_with('[') && function.ends_with(']')
}

/// Which function of a stack, the outermost first, tells why it waits: the first one outside of
/// all primitives. Of a stack that works, or has nothing else, the innermost is. Where all callers
/// of what waits have no name, the innermost of them is: which function waits is not known.
pub(super) fn telling_function<'s>(stack: &[&'s str]) -> &'s str {
    let mut outermost = stack.last().copied().unwrap_or_default();
    for (at, function) in stack.iter().enumerate().rev() {
        let (callers, is_call) = (&stack[..at], CALLS.contains(&bare(function)));
        let caller = callers.last().copied().unwrap_or_default();
        let is_of_wrapper = is_call && is_primitive(caller) && !has_no_name(caller);
        if BEGINNINGS.contains(&bare(function)) {
            return outermost;
        }
        if !is_primitive(function) && !is_of_wrapper {
            let is_called_by_file = is_call && is_file(caller) && callers.iter().all(is_no_caller);
            return if is_called_by_file { caller } else { function };
        }
        if !has_no_name(function) || is_file(function) && !has_no_name(outermost) {
            outermost = function;
        }
    }
    outermost
}

/// Whether a function tells nothing of what it calls.
fn is_no_caller(function: &&str) -> bool {
    has_no_name(function) || BEGINNINGS.contains(&bare(function))
}

/// `main;read;schedule;--;try_to_wake_up;swapper/0`: the stack that waited, without the one that
/// woke it, which `offwaketime` writes behind a mark. Between user and kernel `offcputime` writes
/// the same mark, and there nobody has gone off the processor before it.
pub(super) fn without_waker(stack: &str) -> &str {
    for mark in [";--;", ";-;"] {
        let mut found = stack.match_indices(mark).map(|(at, _)| &stack[..at]);
        if let Some(waiting) = found.find(|before| before.rsplit(';').next().is_some_and(is_switch))
        {
            return waiting;
        }
    }
    stack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_that_waits_is_found_above_primitives() {
        for (stack, tells) in [
            (
                "one;row;lock_wait_suspend_thread;os_event::wait;pthread_cond_wait",
                "lock_wait_suspend_thread",
            ),
            (
                "one;log_write_up_to(unsigned long);os_event::wait_low(long);pthread_cond_wait@@GLIBC_2.3.2;futex_wait;entry_SYSCALL_64;do_syscall_64;__x64_sys_futex_[k];do_futex_[k];schedule_[k];finish_task_switch.isra.0_[k]",
                "log_write_up_to(unsigned long)",
            ),
            ("main;do_command;fsync_caller;fsync;-;schedule;finish_task_switch", "fsync"),
            (
                "handle_one;open_table;safe_mutex_lock;pthread_mutex_lock;_L_mutex_lock_1133;__lll_lock_wait",
                "open_table",
            ),
            (
                "start_thread;srv_monitor_thread;os_event_wait_time_low;os_cond_wait_timed;pthread_cond_timedwait",
                "srv_monitor_thread",
            ),
            ("srv_master_thread;os_thread_sleep(unsigned long);select", "srv_master_thread"),
            ("BackgroundWriterMain;pg_usleep;select", "BackgroundWriterMain"),
            ("sleeper;nanosleep", "nanosleep"),
            ("PostgresMain;ProcSleep;WaitLatch;WaitEventSetWait;epoll_wait", "ProcSleep"),
            ("do_command;vio_io_wait;poll", "poll"),
            ("main;row_search_mvcc", "row_search_mvcc"),
            ("start_thread;os_event::wait;pthread_cond_wait", "os_event::wait"),
            ("pthread_cond_wait", "pthread_cond_wait"),
            (
                "start_thread;row_ins;rw_lock_x_lock_func;sync_array_wait_event;os_event::wait_low;wait;pthread_cond_wait",
                "row_ins",
            ),
            (
                "mysql_execute;wait<lambda>(condition_variable:103);pthread_cond_wait",
                "mysql_execute",
            ),
            (
                "handle;buf_page_get_gen;enter;TTASEventMutex::wait;os_event::wait",
                "buf_page_get_gen",
            ),
            ("start_thread;wait;pthread_cond_wait", "wait"),
            (
                "Mutex::wait;std::condition_variable::wait(std::unique_lock<std::mutex>&);[libc.so.6]",
                "Mutex::wait",
            ),
            ("[unknown];[mysqld];__futex_abstimed_wait_cancelable64", "[mysqld]"),
            ("clone3;start_thread;[mysqld];os_event::wait;[libc.so.6];futex_wait", "[mysqld]"),
            ("[libc.so.6];start_thread;os_event::wait;pthread_cond_wait", "os_event::wait"),
            ("start_thread;[mysqld];clock_nanosleep", "[mysqld]"),
            ("do_command;[mysqld];poll", "poll"),
            ("[unknown];-;futex_wait;schedule", "[unknown]"),
            ("-;futex_wait;schedule", "futex_wait"),
        ] {
            let functions: Vec<&str> = stack.split(';').collect();
            assert_eq!(telling_function(&functions), tells, "{stack}");
        }
    }

    /// Who woke a thread is none of the functions that it waits in.
    #[test]
    fn wakers_are_no_functions() {
        for (stack, is) in [
            ("sshd;read;schedule;--;wake_up;swapper/0", "sshd;read;schedule"),
            (
                "sshd;down_write;_cond_resched;preempt_schedule_common;-;",
                "sshd;down_write;_cond_resched;preempt_schedule_common",
            ),
            ("mysqld;do_command;-;sys_read;schedule", "mysqld;do_command;-;sys_read;schedule"),
        ] {
            assert_eq!(without_waker(stack), is);
        }
    }
}
