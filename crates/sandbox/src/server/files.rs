//! What a server leaves on the file system and in the kernel.

use std::io;
use std::path::Path;

use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::foreign_files::{private_dir, read_plain};
use crate::process::GONE_WITHIN_S;
use crate::tool::run;

/// Makes `to`, which does not exist, a copy of the data directory `from`.
pub(crate) fn copy_data(from: &Path, to: &Path) -> Result<(), SandboxError> {
    // Under the account to which both belong: neither is a place in which root may believe a name.
    let mut copy = child::foreign_program(Path::new("cp"), Path::new("/"));
    copy.args(["-a", "--reflink=auto"]).arg(from).arg(to);
    let output = run(copy, "cp")?;
    if output.status.success() {
        return Ok(());
    }
    let detail = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(SandboxError::io("copy", from)(io::Error::other(detail)))
}

/// Makes a server's own directory, with a copy of a data directory in it.
pub(crate) fn lay_out(work: &Path, data: &Path) -> Result<(), SandboxError> {
    for dir in [work, &work.join("tmp")] {
        private_dir(dir).map_err(SandboxError::io("create", dir))?;
    }
    copy_data(data, &work.join("data"))
}

/// Removes the System V segment by which PostgreSQL guards a data directory: it outlives a killed
/// server. Its number is in the seventh line of `postmaster.pid`. Only one that belongs to the
/// account of the servers and that no process has attached is removed. A process that was killed
/// lets go of its memory a moment after it has left `/proc`, which is waited for.
pub(crate) fn remove_shared_memory(data: &Path) {
    let Ok(text) = read_plain(&data.join("postmaster.pid")) else { return };
    let Some(id) = shared_memory_id(&text) else { return };
    let deadline = Deadline::after_seconds(GONE_WITHIN_S);
    let mut attached = attached_to(id);
    while attached.is_some_and(|count| count > 0) && deadline.pause_to_the_end() {
        attached = attached_to(id);
    }
    if attached == Some(0) {
        // SAFETY: IPC_RMID takes no pointer.
        unsafe { nix::libc::shmctl(id, nix::libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// How many processes have a segment attached; `None` where there is none that belongs to the
/// account of the servers.
fn attached_to(id: i32) -> Option<u64> {
    let owner = child::account_of_servers();
    // SAFETY: `status` is plain data that the kernel fills, of the type that IPC_STAT asks for.
    let (known, status) = unsafe {
        let mut status: nix::libc::shmid_ds = std::mem::zeroed();
        (nix::libc::shmctl(id, nix::libc::IPC_STAT, &raw mut status) == 0, status)
    };
    (known && status.shm_perm.uid == owner).then_some(status.shm_nattch)
}

/// The segment's number: the second word of the seventh line.
fn shared_memory_id(postmaster_pid: &str) -> Option<i32> {
    postmaster_pid.lines().nth(6)?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_is_read_from_the_seventh_line_and_from_no_other() {
        let file =
            "1234\n/h/data\n1760000000\n54321\n/h\n127.0.0.1\n  6291501    98305\nready   \n";
        assert_eq!(shared_memory_id(file), Some(98_305));
        assert_eq!(shared_memory_id("1234\n/h/data\n"), None);
        assert_eq!(shared_memory_id(&file.replace("98305", "x")), None);
    }
}
