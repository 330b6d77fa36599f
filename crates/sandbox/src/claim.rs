//! A directory that belongs to one running dbdyno.
//!
//! ```text
//!   run/NAME-PID-N/
//!     owner     who made it: pid, start time, boot; locked for as long as the owner lives
//!     server    the server that was started in it: pid, start time, boot
//!     log       what that server wrote
//!     s/        the server's own: data, socket, temporary files
//! ```
//!
//! A claim is dead when its owner is not running *and* nobody holds the lock. The second half
//! covers a home that is shared by containers, where the pids of one mean nothing in another.
//! Making a claim and sweeping exclude each other by a lock on `run/` as a whole, so that no claim
//! is seen half made.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::cgroup;
use crate::error::SandboxError;
use crate::home::{Home, set_mode};
use crate::process::{Identity, kill_servers_in};
use crate::server::remove_shared_memory;

/// Longer names would not fit into a socket's address together with the home.
const MAX_NAME_BYTES: usize = 12;

/// A directory in `run/`; dropping it removes the directory.
#[derive(Debug)]
pub(crate) struct Claim {
    dir: PathBuf,
    _owner: File,
}

impl Claim {
    /// Makes a directory for `name`.
    pub(crate) fn new(home: &Home, name: &str) -> Result<Claim, SandboxError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = home.run().join(format!("{}-{}-{number}", tame(name), std::process::id()));
        let _exclusive = lock_run(home)?;
        if dir.exists() {
            // The pid has been used before, and its claim was never swept.
            fs::remove_dir_all(&dir).map_err(SandboxError::io("remove", &dir))?;
        }
        fs::create_dir(&dir).map_err(SandboxError::io("create", &dir))?;
        set_mode(&dir, 0o755)?;
        let path = dir.join("owner");
        let failed = || SandboxError::io("write", &path);
        let mut owner = File::create_new(&path).map_err(failed())?;
        let own = Identity::own().ok_or_else(|| failed()(std::io::ErrorKind::NotFound.into()))?;
        owner.write_all(own.to_line().as_bytes()).map_err(failed())?;
        owner.lock().map_err(failed())?;
        Ok(Claim { dir, _owner: owner })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A name that fits into a path and into a socket's address.
fn tame(name: &str) -> String {
    let plain = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-');
    plain.take(MAX_NAME_BYTES).collect()
}

fn lock_run(home: &Home) -> Result<File, SandboxError> {
    let path = home.dir().join("run.lock");
    let open = File::options().create(true).truncate(false).write(true).open(&path);
    let file = open.map_err(SandboxError::io("open", &path))?;
    file.lock().map_err(SandboxError::io("lock", &path))?;
    Ok(file)
}

/// See [`Home::sweep`].
pub(crate) fn sweep(home: &Home) -> Vec<String> {
    let Ok(_exclusive) = lock_run(home) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(home.run()) else { return Vec::new() };
    let dirs = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    dirs.filter(|dir| !owner_lives(dir)).filter_map(|dir| clean(home, &dir)).collect()
}

fn owner_lives(dir: &Path) -> bool {
    let path = dir.join("owner");
    let text = fs::read_to_string(&path).unwrap_or_default();
    if Identity::from_line(&text).is_some_and(|owner| owner.lives()) {
        return true;
    }
    let held = |file: File| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
    File::open(&path).is_ok_and(held)
}

/// Kills the servers that work in `dir` and removes what the system keeps for them outside of it.
pub(crate) fn end_servers(home: &Home, dir: &Path) -> Vec<i32> {
    let killed = kill_servers_in(&home.servers(), dir);
    remove_shared_memory(&dir.join("s/data"));
    killed
}

fn clean(home: &Home, dir: &Path) -> Option<String> {
    let recorded = fs::read_to_string(dir.join("server")).unwrap_or_default();
    let recorded = Identity::from_line(&recorded).filter(Identity::lives);
    let mut killed = Vec::new();
    if let Some(server) = recorded {
        server.kill();
        killed.push(server.pid);
    }
    for pid in end_servers(home, dir) {
        if !killed.contains(&pid) {
            killed.push(pid);
        }
    }
    cgroup::sweep(dir);
    fs::remove_dir_all(dir).ok()?;
    let name = dir.file_name()?.to_string_lossy();
    let mut text = format!("removed {name}, whose dbdyno is gone");
    if !killed.is_empty() {
        let pids: Vec<_> = killed.iter().map(ToString::to_string).collect();
        text.push_str(&format!(", and killed what ran there (pid {})", pids.join(", ")));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        set_mode(dir.path(), 0o755).unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        (dir, home)
    }

    #[test]
    fn a_claim_is_removed_on_drop_and_a_living_one_is_never_swept() {
        let (_dir, home) = home();
        let scratch = home.scratch("sqlite").unwrap();
        fs::write(scratch.path().join("x.db"), "x").unwrap();
        // Even if the owner's record cannot be read, the lock tells that it lives.
        fs::write(scratch.path().join("owner"), "garbage").unwrap();
        assert!(home.sweep().is_empty());
        assert!(scratch.path().join("x.db").exists());
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_dead_owner_left_is_removed_whatever_its_record_says() {
        let (_dir, home) = home();
        let own = Identity::own().unwrap().to_line();
        let reused = own.replacen(' ', " 9", 1);
        for (name, owner) in [("a", "999999999 5 x\n"), ("b", ""), ("c", "1"), ("d", &reused)] {
            let dir = home.run().join(name);
            fs::create_dir_all(dir.join("s/data")).unwrap();
            fs::write(dir.join("owner"), owner).unwrap();
        }
        fs::create_dir(home.run().join("e")).unwrap();
        let done = home.sweep();
        assert_eq!(done.len(), 5, "{done:?}");
        assert_eq!(fs::read_dir(home.run()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_cannot_leave_the_directory() {
        assert_eq!(tame("../../etc/a name that is long"), "etcanamethat");
        let (_dir, home) = home();
        let scratch = home.scratch("../x").unwrap();
        assert_eq!(scratch.path().parent(), Some(home.run().as_path()));
    }
}
