//! A directory that belongs to one running dbdyno.
//!
//! ```text
//!   run/NAME-PID-N/
//!     owner     who made it: pid, start time, boot; locked for as long as the owner lives
//!     beside-…  who began to measure while the owner measured, left by them
//!     server    the server that was started in it: pid, start time, boot
//!     log       what that server wrote
//!     s/        the server's own: data, socket, temporary files
//! ```
//!
//! Making a claim and sweeping dead ones away, see `sweep`, exclude each other by a lock on `run/`
//! as a whole, so that no claim is seen half made.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::SandboxError;
use crate::home::{Home, create_private, make_passage};
use crate::lock::holder_of;
use crate::process::Identity;
use crate::removal;

/// Name of the claims of those who measure.
const MEASURES: &str = "measures";

/// How the files begin by which others tell a claim of [`MEASURES`] of themselves.
const BESIDE: &str = "beside-";

/// Longer names would not fit into a socket's address together with the home.
const MAX_NAME_BYTES: usize = 12;

/// A directory in `run/`; dropping it removes the directory.
#[derive(Debug)]
pub(crate) struct Claim {
    dir: PathBuf,
    _owner: File,
}

impl Claim {
    /// Makes a directory for `name`; tells `progress` if it must wait.
    pub(crate) fn new(
        home: &Home,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Claim, SandboxError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let _exclusive = home.lock_run(progress)?;
        let dir = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let dir = home.run().join(format!("{}-{}-{number}", tame(name), std::process::id()));
            if !dir.exists() {
                break dir;
            }
            // The pid has been used before, and its claim was never swept; or it is that of a
            // dbdyno of another container, in which pids mean something else.
            if !owner_lives(home, &dir) {
                removal::remove(&dir)?;
                break dir;
            }
        };
        make_passage(&dir)?;
        let path = dir.join("owner");
        let failed = || SandboxError::io("write", &path);
        let mut owner = create_private(&path).map_err(failed())?;
        let own = Identity::own_process(&**home.host())
            .ok_or_else(|| failed()(std::io::ErrorKind::NotFound.into()))?;
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
        let _ = removal::remove(&self.dir);
    }
}

impl Home {
    /// A directory for files of this run, removed when the value is dropped, or by a later sweep.
    /// `name` is up to 12 letters, digits and hyphens; `progress` hears for whom it waits.
    ///
    /// # Errors
    /// [`SandboxError::Busy`] if another dbdyno keeps everybody waiting; [`SandboxError::Io`].
    pub fn create_scratch(
        &self,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Scratch, SandboxError> {
        Claim::new(self, name, progress).map(|claim| Scratch { claim })
    }

    /// Tells other dbdynos of this home that this one measures, for as long as the value lives,
    /// and leaves its name with those who measure now: they may look when it is gone.
    ///
    /// # Errors
    /// As [`Home::create_scratch`].
    pub fn announce_measuring(
        &self,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Scratch, SandboxError> {
        let own = self.create_scratch(MEASURES, progress)?;
        let name = holder_of(&**self.host(), &own.path().join("owner"));
        let sign = own.path().file_name().unwrap_or_default().to_string_lossy();
        for other in self.claims_of_others(&own) {
            // It may end at this moment, and its directory with it. What it reads is complete.
            let written = own.path().join(BESIDE);
            let _gone = fs::write(&written, &name)
                .and_then(|()| fs::rename(&written, other.join(format!("{BESIDE}{sign}"))));
        }
        Ok(own)
    }

    /// The dbdynos of this home that measure now, or have begun to measure since the one that has
    /// announced itself by `own`, but for that one: `` `dbdyno compare` (pid 4711) ``, sorted.
    pub fn others_who_measure(&self, own: &Scratch) -> BTreeSet<String> {
        let dirs = self.claims_of_others(own).into_iter();
        let living = dirs.map(|dir| holder_of(&**self.host(), &dir.join("owner")));
        let entries = fs::read_dir(own.path()).into_iter().flatten().flatten();
        let traces = entries.filter(|entry| {
            let name = entry.file_name();
            name.to_str().is_some_and(|name| name.len() > BESIDE.len() && name.starts_with(BESIDE))
        });
        let traces = traces.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        living.chain(traces).collect()
    }

    /// Where those who measure now have announced themselves.
    fn claims_of_others(&self, own: &Scratch) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.run()) else { return Vec::new() };
        let dirs = entries.flatten().map(|entry| entry.path());
        let dirs = dirs.filter(|dir| is_sign_of_measuring(dir) && dir != own.path());
        dirs.filter(|dir| owner_lives(self, dir)).collect()
    }
}

/// A guarded directory: see [`Home::create_scratch`].
#[derive(Debug)]
pub struct Scratch {
    claim: Claim,
}

impl Scratch {
    /// The directory.
    pub fn path(&self) -> &Path {
        self.claim.dir()
    }
}

/// Whether the dbdyno of a claim still runs.
pub(crate) fn owner_lives(home: &Home, dir: &Path) -> bool {
    let path = dir.join("owner");
    let text = fs::read_to_string(&path).unwrap_or_default();
    if Identity::from_line(&text).is_some_and(|owner| owner.is_alive(&**home.host())) {
        return true;
    }
    File::open(&path).is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// Whether a directory in `run/` says that somebody measures.
fn is_sign_of_measuring(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(MEASURES)).is_some_and(|rest| rest.starts_with('-'))
}

/// A name that fits into a path and into a socket's address.
fn tame(name: &str) -> String {
    let plain = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-');
    plain.take(MAX_NAME_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        (dir, home)
    }

    #[test]
    fn a_claim_is_removed_on_drop_and_a_living_one_is_never_swept() {
        let (_dir, home) = home();
        let scratch = home.create_scratch("sqlite", &mut |_| {}).unwrap();
        fs::write(scratch.path().join("x.db"), "x").unwrap();
        // Even if the owner's record cannot be read, the lock tells that it lives.
        fs::write(scratch.path().join("owner"), "garbage").unwrap();
        assert!(home.remove_leftovers(&mut |_| {}).is_empty());
        assert!(scratch.path().join("x.db").exists());
        let path = scratch.path().to_owned();
        drop(scratch);
        assert!(!path.exists());
    }

    /// A child stands for the other one: it lives, and its claim names it.
    #[test]
    fn who_else_measures_in_a_home_is_told_as_long_as_they_live() {
        let (_dir, home) = home();
        let own = home.announce_measuring(&mut |_| {}).unwrap();
        assert!(home.others_who_measure(&own).is_empty(), "the own claim is told");
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let dir = home.run().join(format!("{MEASURES}-{}-0", other.id()));
        fs::create_dir(&dir).unwrap();
        let identity = Identity::of_process(&**home.host(), other.id()).unwrap();
        fs::write(dir.join("owner"), identity.to_line()).unwrap();
        // A child that the kernel still loads has no name.
        let mut told = home.others_who_measure(&own);
        while told.iter().any(|name| name.starts_with("``")) {
            std::thread::yield_now();
            told = home.others_who_measure(&own);
        }
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(told, BTreeSet::from([format!("`sleep` (pid {})", other.id())]));
        assert!(home.others_who_measure(&own).is_empty(), "one that is gone is told");
    }

    /// Both are this process, in two roles: one begins and ends while the other one measures.
    #[test]
    fn who_has_measured_meanwhile_is_told_after_he_is_gone() {
        let (_dir, home) = home();
        let long = home.announce_measuring(&mut |_| {}).unwrap();
        let short = home.announce_measuring(&mut |_| {}).unwrap();
        let own = holder_of(&**home.host(), &short.path().join("owner"));
        drop(short);
        assert_eq!(home.others_who_measure(&long), BTreeSet::from([own]));
        let later = home.announce_measuring(&mut |_| {}).unwrap();
        drop(long);
        assert!(home.others_who_measure(&later).is_empty(), "who has ended before is told");
    }

    /// Two containers with one home: each dbdyno has the pid 1, and neither knows the other by it.
    #[test]
    fn a_claim_of_the_same_pid_that_lives_elsewhere_is_left_alone() {
        let (_dir, home) = home();
        let first = home.create_scratch("same", &mut |_| {}).unwrap();
        let path = first.path().to_str().unwrap().to_owned();
        let (before, number) = path.rsplit_once('-').unwrap();
        let number: u32 = number.parse().unwrap();
        // What stands where the next ones would be is locked by somebody who still writes there.
        let theirs: Vec<(PathBuf, File)> = (1..20)
            .map(|more| {
                let dir = PathBuf::from(format!("{before}-{}", number + more));
                fs::create_dir(&dir).unwrap();
                let owner = File::create(dir.join("owner")).unwrap();
                owner.lock().unwrap();
                (dir, owner)
            })
            .collect();
        let second = home.create_scratch("same", &mut |_| {}).unwrap();
        assert!(theirs.iter().all(|(dir, _)| dir.join("owner").exists() && dir != second.path()));
    }

    #[test]
    fn a_name_cannot_leave_the_directory() {
        assert_eq!(tame("../../etc/a name that is long"), "etcanamethat");
        let (_dir, home) = home();
        let scratch = home.create_scratch("../x", &mut |_| {}).unwrap();
        assert_eq!(scratch.path().parent(), Some(home.run().as_path()));
    }
}
