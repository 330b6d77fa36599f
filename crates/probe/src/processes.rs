//! All processes of the host, as the kernel lists them.

use crate::error::NotObservable;
use crate::parse::{self, Stat};

/// Ids of all processes, in no order.
pub(crate) fn all_pids() -> Result<Vec<u32>, NotObservable> {
    let fail = |error: std::io::Error| NotObservable::Proc("/proc".to_owned(), error.to_string());
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc").map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        pids.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(pids)
}

pub(crate) fn all_processes() -> Result<Vec<Stat>, NotObservable> {
    Ok(all_pids()?.into_iter().filter_map(read_stat).collect())
}

pub(crate) fn read_stat(pid: u32) -> Option<Stat> {
    parse::stat(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}
