//! Does the machine let a server have so many connections? Asked before it is started, so that a
//! limit of the kernel is a sentence and not a client that is turned away in the middle.
//!
//! ```text
//!   MySQL family a connection is a thread and an open file of one process
//!   PostgreSQL   a connection is a process, with memory of its own
//! ```

use std::fs;

use dbdyno_model::Product;
use nix::sys::resource::{Resource, getrlimit};

use crate::error::SandboxError;

/// What a server has open, and runs, besides its connections.
const BESIDES: u64 = 600;
/// What a connection of PostgreSQL takes for itself, KB, after a prepared point query: 1 500 were
/// measured with 15.20, and the kernel's page tables come on top; see the journal on many clients.
const POSTGRES_KB: u64 = 2_000;

/// What the kernel allows.
struct KernelLimits {
    open_files: Option<u64>,
    /// Threads and processes: the smallest limit that is known, with its name.
    tasks: Option<(u64, &'static str)>,
    memory_kb: Option<u64>,
}

/// Refuses if the machine is too small for a server with so many connections.
pub(crate) fn require(
    purpose: &str,
    product: Product,
    connections: u32,
) -> Result<(), SandboxError> {
    let hard = |resource| getrlimit(resource).ok().map(|(_, hard)| hard);
    let kernel = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let tasks = [
        (
            hard(Resource::RLIMIT_NPROC),
            "raise the limit (ulimit -Hu, /etc/security/limits.conf, LimitNPROC=)",
        ),
        (kernel("pid_max"), "raise it with sysctl kernel.pid_max"),
        (kernel("threads-max"), "raise it with sysctl kernel.threads-max"),
    ];
    let known = tasks.into_iter().filter_map(|(limit, name)| Some((limit?, name)));
    let allowed = KernelLimits {
        open_files: hard(Resource::RLIMIT_NOFILE),
        tasks: known.min_by_key(|(limit, _)| *limit),
        memory_kb: available_kb(),
    };
    enough(purpose, product, connections, &allowed)
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

fn available_kb() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

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
