//! All processes of the host, as the kernel lists them.

use dbdyno_host::{Host, kernel};

use crate::error::NotObservable;
use crate::parse::{self, Stat};

pub(crate) fn all_processes(host: &dyn Host) -> Result<Vec<Stat>, NotObservable> {
    let pids = host.numeric_names(&kernel::proc_path(""))?;
    Ok(pids.into_iter().filter_map(|pid| read_stat(host, pid)).collect())
}

pub(crate) fn read_stat(host: &dyn Host, pid: u32) -> Option<Stat> {
    parse::process_stat(&host.kernel_file(&kernel::process_path(pid, "stat")).ok()?)
}
