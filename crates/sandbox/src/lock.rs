//! Locks of a home: each says who has it, and whoever waits says for whom.
//!
//! ```text
//!   HOME/lock        while a tree or a template is being made
//!   HOME/run.lock    while a claim is made, or dead ones are swept away
//! ```
//!
//! The lock is the kernel's (`flock`), and ends with its process. What stands in the file is for
//! people, and is believed only if the process still is the one that wrote it. The file is private:
//! whoever may open it may hold it.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use dbdyno_host::{Host, kernel};

use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::process::Identity;

/// Looks before it is said for whom one waits, each after a hundredth of a second: who only sweeps
/// is done sooner, and that is nobody's concern.
const QUIET_POLLS: u32 = 300;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: LockedFile,
}

/// A file that is locked until this is dropped. Closing it does not suffice: the lock is that of
/// all copies of the descriptor, and a child has one from the moment at which another thread forks
/// it up to its `exec`.
#[derive(Debug)]
pub(crate) struct LockedFile(pub(crate) File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked once it is closed everywhere.
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// Takes it, unless somebody has it.
    pub(crate) fn try_acquire(host: &dyn Host, path: &Path) -> Result<Option<Lock>, SandboxError> {
        let open = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(nix::libc::O_NOFOLLOW)
            .open(path);
        let file = open.map_err(SandboxError::io("open", path))?;
        match file.try_lock() {
            Ok(()) => sign(host, file).map(Some).map_err(SandboxError::io("write", path)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(SandboxError::io("lock", path)(error)),
        }
    }

    /// Takes it as soon as whoever has it lets go, for `within_s` seconds at most; if that is not
    /// within a few, `progress` hears for whom it waits.
    pub(crate) fn acquire_within(
        host: &dyn Host,
        path: &Path,
        within_s: u64,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Lock, SandboxError> {
        if let Some(lock) = Lock::try_acquire(host, path)? {
            return Ok(lock);
        }
        let deadline = Deadline::after_seconds(within_s);
        let (mut told, mut polls) = (None, 0);
        while deadline.pause() {
            if let Some(lock) = Lock::try_acquire(host, path)? {
                return Ok(lock);
            }
            polls += 1;
            if polls < QUIET_POLLS {
                continue;
            }
            let holder = holder_of(host, path);
            if told.as_ref() != Some(&holder) {
                let place = path.display();
                progress(&format!(
                    "waiting for {holder}, which holds {place}, for {within_s} s at most"
                ));
                told = Some(holder);
            }
        }
        Err(SandboxError::Busy { place: path.to_owned(), holder: holder_of(host, path), within_s })
    }
}

/// Says in the file whose it is.
fn sign(host: &dyn Host, mut file: File) -> std::io::Result<Lock> {
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.set_len(0)?;
    let own = Identity::own_process(host).map(|own| own.to_line()).unwrap_or_default();
    file.write_all(own.as_bytes())?;
    Ok(Lock { _file: LockedFile(file) })
}

/// Who has a lock, in words. One that was taken this moment may not be signed yet.
pub(crate) fn holder_of(host: &dyn Host, path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let Some(owner) = Identity::from_line(&text).filter(|owner| owner.is_alive(host)) else {
        return "another dbdyno".to_owned();
    };
    let words = host.kernel_file(&kernel::process_path(owner.pid, "cmdline")).unwrap_or_default();
    format!("`{}` (pid {})", command_of(&words), owner.pid)
}

/// `dbdyno server get`: the program and its commands, without arguments, which may be secret.
fn command_of(words: &[u8]) -> String {
    let mut words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().escape_debug().to_string();
    let commands = words.take(2).take_while(|word| is_command(word));
    [program]
        .into_iter()
        .chain(commands.map(|word| word.into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn is_command(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use dbdyno_host::Local;

    use super::*;

    #[test]
    fn whoever_waits_says_for_whom_and_how_long() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let mut said = Vec::new();
        let held =
            Lock::acquire_within(&Local, &path, 0, &mut |_| unreachable!("it was free")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        let error = Lock::acquire_within(&Local, &path, 0, &mut |text| said.push(text.to_owned()))
            .unwrap_err();
        let own = format!("(pid {})", std::process::id());
        assert!(error.to_string().contains(&own), "{error}");
        drop(held);

        // Another one that has it and another that waits.
        let held = Lock::acquire_within(&Local, &path, 60, &mut |_| {}).unwrap();
        let mut held = Some(held);
        Lock::acquire_within(&Local, &path, 60, &mut |text| {
            said.push(text.to_owned());
            held = None;
        })
        .unwrap();
        let last = said.last().unwrap();
        assert!(last.contains(&own) && last.contains("60 s"), "{last}");
    }

    #[test]
    fn a_copy_of_the_descriptor_that_a_child_still_has_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = Lock::try_acquire(&Local, &path).unwrap().unwrap();
        let _of_a_child = held._file.0.try_clone().unwrap();
        assert!(Lock::try_acquire(&Local, &path).unwrap().is_none());
        drop(held);
        assert!(Lock::try_acquire(&Local, &path).unwrap().is_some());
    }

    #[test]
    fn a_link_in_the_place_of_a_lock_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, target) = (dir.path().join("lock"), dir.path().join("victim"));
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(Lock::try_acquire(&Local, &path).is_err());
        assert!(!target.exists());
    }

    #[test]
    fn a_holder_is_shown_without_its_arguments() {
        let line = |words: &[&str]| command_of(words.join("\0").as_bytes());
        let told = line(&["/usr/bin/dbdyno", "server", "get", "mysql:8.0"]);
        assert_eq!(told, "dbdyno server get");
        let told = line(&["dbdyno", "compare", "mysql://u:secret@h/", "sqlite:"]);
        assert_eq!(told, "dbdyno compare");
        assert_eq!(line(&["x/\u{1b}[31m", "--home", "a"]), "\\u{1b}[31m");
        assert_eq!(line(&[""]), "");
    }
}
