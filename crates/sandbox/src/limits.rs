//! Does the machine let a server have so many connections? Asked before it is started, so that a
//! limit of the kernel is a sentence and not a client that is turned away in the middle.
//!
//! ```text
//!   MySQL family a connection is a thread and an open file of one process
//!   PostgreSQL   a connection is a process, with memory of its own
//! ```

use dbdyno_host::{Host, kernel};
use dbdyno_model::Product;
use nix::sys::resource::{Resource, getrlimit};

use crate::error::SandboxError;

/// What a server has open, and runs, besides its connections.
const BESIDES: u64 = 600;
/// What a connection of PostgreSQL takes for itself, KB, after a prepared point query: 1 500 were
/// measured with 15.20, and the kernel's page tables come on top; see the journal on many clients.
const POSTGRES_KB: u64 = 2_000;

/// What the kernel allows.
#[derive(Debug, PartialEq, Eq)]
struct KernelLimits {
    open_files: Option<u64>,
    /// Threads and processes: the smallest limit that is known, with its name.
    tasks: Option<(u64, &'static str)>,
    memory_kb: Option<u64>,
}

/// Refuses if the machine is too small for a server with so many connections.
pub(crate) fn require_limits(
    host: &dyn Host,
    purpose: &str,
    product: Product,
    connections: u32,
) -> Result<(), SandboxError> {
    let hard = |resource| getrlimit(resource).ok().map(|(_, hard)| hard);
    let allowed = allowed(host, hard(Resource::RLIMIT_NPROC), hard(Resource::RLIMIT_NOFILE));
    enough(purpose, product, connections, &allowed)
}

/// What a kernel allows to an account that has these limits of its own.
fn allowed(host: &dyn Host, processes: Option<u64>, open_files: Option<u64>) -> KernelLimits {
    let sysctl = |name: &str| {
        host.kernel_text(&kernel::proc_path("sys/kernel").join(name))?.trim().parse::<u64>().ok()
    };
    let tasks = [
        (processes, "raise the limit (ulimit -Hu, /etc/security/limits.conf, LimitNPROC=)"),
        (sysctl("pid_max"), "raise it with sysctl kernel.pid_max"),
        (sysctl("threads-max"), "raise it with sysctl kernel.threads-max"),
    ];
    let known = tasks.into_iter().filter_map(|(limit, name)| Some((limit?, name)));
    KernelLimits {
        open_files,
        tasks: known.min_by_key(|(limit, _)| *limit),
        memory_kb: available_kb(host),
    }
}

fn enough(
    purpose: &str,
    product: Product,
    connections: u32,
    allowed: &KernelLimits,
) -> Result<(), SandboxError> {
    let connections = u64::from(connections);
    let needed = connections + BESIDES;
    let memory_kb = match product {
        Product::MySql | Product::MariaDb => 0,
        Product::Postgres => connections * POSTGRES_KB,
    };
    let files = "raise the limit (ulimit -Hn, /etc/security/limits.conf, LimitNOFILE=)";
    let few = [
        ("open files", needed, allowed.open_files, files),
        (
            "threads or processes",
            needed,
            allowed.tasks.map(|(limit, _)| limit),
            allowed.tasks.map_or("", |(_, name)| name),
        ),
        ("KB of free memory", memory_kb, allowed.memory_kb, "end what else runs"),
    ];
    for (what, needed, allowed, raise) in few {
        if let Some(allowed) = allowed.filter(|&allowed| allowed < needed) {
            let purpose = format!("{purpose} with {connections} connections");
            return Err(SandboxError::TooSmall { purpose, what, needed, allowed, raise });
        }
    }
    Ok(())
}

fn available_kb(host: &dyn Host) -> Option<u64> {
    let text = host.kernel_text(&kernel::proc_path("meminfo"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use dbdyno_host::ScriptedHost;

    use super::*;

    #[test]
    fn the_smallest_limit_of_tasks_counts_and_what_is_not_told_is_not_one() {
        let host = ScriptedHost::new(
            "@ /proc/sys/kernel/pid_max\n32768\n@ /proc/sys/kernel/threads-max\n500000\n\
             @ /proc/meminfo\nMemTotal: 16000000 kB\nMemAvailable:   8000000 kB\n",
        );
        let found = allowed(&host, Some(60_000), Some(4_096));
        let tasks = Some((32_768, "raise it with sysctl kernel.pid_max"));
        let expected = KernelLimits { open_files: Some(4_096), tasks, memory_kb: Some(8_000_000) };
        assert_eq!(found, expected);
        let nothing = KernelLimits { open_files: None, tasks: None, memory_kb: None };
        assert_eq!(allowed(&ScriptedHost::default(), None, None), nothing);
        assert_eq!(allowed(&host, Some(900), None).tasks.map(|(limit, _)| limit), Some(900));
    }

    #[test]
    fn what_is_too_small_is_named_with_what_to_raise() {
        let large = || KernelLimits {
            open_files: Some(20_000),
            tasks: Some((32_768, "sysctl kernel.pid_max")),
            memory_kb: Some(16_000_000),
        };
        for product in [Product::MariaDb, Product::Postgres] {
            assert!(enough("starting it", product, 5_100, &large()).is_ok());
        }
        let few_files = KernelLimits { open_files: Some(4_096), ..large() };
        let few_tasks = KernelLimits { tasks: Some((4_194, "sysctl kernel.pid_max")), ..large() };
        let small = KernelLimits { memory_kb: Some(8_000_000), ..large() };
        for (allowed, parts) in [
            (&few_files, ["4096", "ulimit -Hn"]),
            (&few_tasks, ["4194", "kernel.pid_max"]),
            (&small, ["have 8000000", "fewer --clients"]),
        ] {
            let error = enough("starting it", Product::Postgres, 5_100, allowed).unwrap_err();
            let text = error.to_string();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(text.contains("starting it with 5100 connections"), "{text}");
        }
        assert!(enough("starting it", Product::MariaDb, 5_100, &small).is_ok());
    }
}
