//! Functions of the C library, which exports each under several names.
//!
//! ```text
//!   __GI___libc_read   __libc_read   __read   read            one function, at one address
//!   ___pthread_mutex_lock   __pthread_mutex_lock   pthread_mutex_lock
//! ```
//!
//! Which of them a tool prints depends on the tables of symbols that it found: debug packages have
//! the first ones, and a stripped library the last one. `__GI_` is glibc's mark of a name for calls
//! from within (its `include/libc-symbols.h`), and no program has it. The other marks may begin
//! a name of a server's own, so that they are taken off known functions only.

/// The mark of a name for calls from within the library.
const WITHIN: &str = "__GI_";
/// What stands before a name that the library exports a second time.
const MARKS: [&str; 3] = ["__libc_", "___", "__"];
/// How the names begin that are kept for threads of POSIX ("System Interfaces", 2.2.2): those of
/// `pthread.h`, and no program's own.
const THREADS: &str = "pthread_";
/// Functions that glibc defines under a name with a mark and makes known without one (`weak_alias`
/// in its sources): those that wait, read and write, and manage memory and processes.
const EXPORTED: &str = "\
    accept calloc clock_gettime clock_nanosleep clone clone3 close connect epoll_wait fcntl \
    fcntl64 fdatasync fork free fsync getpid gettimeofday lseek lseek64 madvise malloc memalign \
    mmap mmap64 mprotect msync munmap nanosleep open open64 openat openat64 pause poll pread \
    pread64 pselect pwrite pwrite64 read readv realloc recv recvfrom recvmsg sbrk sched_yield \
    select semop semtimedop send sendmmsg sendmsg sendto sigaction sigsuspend sigtimedwait sigwait \
    sigwaitinfo sleep vfork wait wait4 waitpid write writev";

/// The name under which programs call a function of the C library; any other name stays. The
/// version of a symbol, its file and its copy stay behind it.
pub(crate) fn libc_name(name: &str) -> &str {
    let name = without_within_mark(name);
    let end = name.find('@').or_else(|| name.find(" [")).unwrap_or(name.len());
    let exported = MARKS.iter().find_map(|mark| {
        let function = name[..end].strip_prefix(mark)?;
        let is_known = function.starts_with(THREADS)
            || EXPORTED.split_ascii_whitespace().any(|known| known == function);
        is_known.then_some(&name[mark.len()..])
    });
    exported.unwrap_or(name)
}

/// `__poll` of `__GI___poll`.
fn without_within_mark(name: &str) -> &str {
    let mut name = name;
    while let Some(rest) = name.strip_prefix(WITHIN) {
        if !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            break;
        }
        name = rest;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_of_the_library_are_one_function() {
        for (name, is) in [
            ("__GI_fsync", "fsync"),
            ("__fsync", "fsync"),
            ("__GI___libc_read", "read"),
            ("__libc_pread64", "pread64"),
            ("___pthread_mutex_lock", "pthread_mutex_lock"),
            ("__pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait@@GLIBC_2.3.2"),
            ("__poll [clone .cold]", "poll [clone .cold]"),
            ("__libc_malloc", "malloc"),
            ("__GI___futex_abstimed_wait64", "__futex_abstimed_wait64"),
            ("__GI__IO_file_write", "_IO_file_write"),
        ] {
            assert_eq!(libc_name(name), is, "{name}");
            assert_eq!(libc_name(is), is);
        }
    }

    /// WiredTiger and Berkeley DB begin names of their own with underscores.
    #[test]
    fn names_of_a_server_stay() {
        for name in [
            "__log_fsync",
            "__wt_read",
            "__os_read",
            "_read",
            "____read",
            "__libc_start_main",
            "__schedule",
            "__poll::read",
            "__read(int)",
            "__GI_",
            "A::__read",
        ] {
            assert_eq!(libc_name(name), name);
        }
    }
}
