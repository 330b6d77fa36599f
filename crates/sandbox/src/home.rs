//! The one directory in which everything lives, and the rules for touching it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::foreign_files::create_fresh;

const MARKER: &str = "dbdyno-home";
const MARKER_TEXT: &str =
    "This directory belongs to dbdyno, which creates and deletes files in it.\n";

/// A unix socket's path may have 107 bytes; this many remain for the home, the rest is
/// `/run/NAME-PID-N/s/.s.PGSQL.PORT`.
const MAX_PATH_BYTES: usize = 60;

/// Seconds to wait for another dbdyno that downloads and unpacks.
const LOCK_WITHIN_S: u64 = 600;

/// Where dbdyno keeps its servers, its data directories and its store. The crate's documentation
/// shows what is in it.
#[derive(Clone, Debug)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// Opens the home, creating it if need be: `dir`; else `$DBDYNO_HOME`; else `/var/lib/dbdyno`
    /// for uid 0; else `$XDG_DATA_HOME/dbdyno` or `~/.local/share/dbdyno`.
    ///
    /// # Errors
    /// [`SandboxError::NotOurs`] for a directory that holds something else or belongs to somebody
    /// else; [`SandboxError::Io`].
    pub fn open(dir: Option<&Path>) -> Result<Home, SandboxError> {
        let dir = match dir {
            Some(dir) => dir.to_owned(),
            None => default_dir(|name| std::env::var_os(name), child::is_root())?,
        };
        fs::create_dir_all(&dir).map_err(SandboxError::io("create", &dir))?;
        // Executables are found by their path in /proc, which never has symbolic links in it.
        let dir = dir.canonicalize().map_err(SandboxError::io("resolve", &dir))?;
        check_path(&dir)?;
        claim_marker(&dir)?;
        for part in ["run", "servers", "templates", "images", "tools", "apt", "bg", "receipts"] {
            let part = dir.join(part);
            fs::create_dir_all(&part).map_err(SandboxError::io("create", &part))?;
            let is_private = part.ends_with("apt") || part.ends_with("receipts");
            let mode = if is_private { 0o700 } else { 0o755 };
            set_mode(&part, mode)?;
        }
        Ok(Home { dir })
    }

    /// The directory itself, absolute and without symbolic links.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the store is.
    pub fn store_path(&self) -> PathBuf {
        self.dir.join("dbdyno.db")
    }

    pub(crate) fn servers(&self) -> PathBuf {
        self.dir.join("servers")
    }

    pub(crate) fn templates(&self) -> PathBuf {
        self.dir.join("templates")
    }

    pub(crate) fn images(&self) -> PathBuf {
        self.dir.join("images")
    }

    pub(crate) fn background(&self) -> PathBuf {
        self.dir.join("bg")
    }

    /// What was left at servers that are not ours; see [`crate::Receipt`].
    pub(crate) fn receipts(&self) -> PathBuf {
        self.dir.join("receipts")
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// Takes the lock under which trees and templates are made; tells `progress` if it must wait.
    pub(crate) fn lock(&self, progress: &mut dyn FnMut(&str)) -> Result<File, SandboxError> {
        if let Some(lock) = self.try_lock()? {
            return Ok(lock);
        }
        progress("waiting for another dbdyno that is unpacking a server");
        let deadline = Deadline::after_seconds(LOCK_WITHIN_S);
        while deadline.pause() {
            if let Some(lock) = self.try_lock()? {
                return Ok(lock);
            }
        }
        Err(SandboxError::Busy { place: self.dir.join("lock") })
    }

    pub(crate) fn try_lock(&self) -> Result<Option<File>, SandboxError> {
        let path = self.dir.join("lock");
        let open = File::options().create(true).truncate(false).write(true).open(&path);
        let file = open.map_err(SandboxError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(fs::TryLockError::WouldBlock) => Ok(None),
            Err(fs::TryLockError::Error(error)) => Err(SandboxError::io("lock", &path)(error)),
        }
    }

    /// Servers of a root's dbdyno run as another account, which must be able to get here; arms that
    /// start none need no such home.
    pub(crate) fn check_traversable(&self) -> Result<(), SandboxError> {
        if !child::is_root() {
            return Ok(());
        }
        let status = child::foreign(Path::new("true"), &self.dir).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) if error.raw_os_error() == Some(nix::libc::EINVAL) => {
                let reason = "this root cannot become uid 65534, under which servers run (a user \
                              namespace without that uid?); run dbdyno as an ordinary user";
                Err(self.not_ours(reason))
            }
            _ => Err(self.not_ours(
                "uid 65534, under which servers run, cannot enter it (a directory above it lacks \
                 the x permission for others)",
            )),
        }
    }

    fn not_ours(&self, reason: &str) -> SandboxError {
        SandboxError::NotOurs { place: self.dir.clone(), reason: reason.to_owned() }
    }
}

/// The home when the caller names none. `variable` reads the environment.
fn default_dir(
    variable: impl Fn(&str) -> Option<OsString>,
    root: bool,
) -> Result<PathBuf, SandboxError> {
    let variable = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(dir) = variable("DBDYNO_HOME") {
        return Ok(dir);
    }
    if root {
        return Ok(PathBuf::from("/var/lib/dbdyno"));
    }
    let data = variable("XDG_DATA_HOME").filter(|dir| dir.is_absolute());
    let data = data.or_else(|| variable("HOME").map(|home| home.join(".local/share")));
    let data = data.ok_or_else(|| SandboxError::NotOurs {
        place: PathBuf::from("~/.local/share/dbdyno"),
        reason: "HOME is not set".to_owned(),
    })?;
    Ok(data.join("dbdyno"))
}

/// The path goes into apt's configuration, into the search path of executables and into the address
/// of sockets; each of them has characters or a length that it cannot take.
fn check_path(dir: &Path) -> Result<(), SandboxError> {
    let refuse = |reason: String| Err(SandboxError::NotOurs { place: dir.to_owned(), reason });
    let Some(text) = dir.to_str() else {
        return refuse("its path is not UTF-8".to_owned());
    };
    if text.len() > MAX_PATH_BYTES {
        let bytes = text.len();
        return refuse(format!(
            "its path has {bytes} bytes, more than the {MAX_PATH_BYTES} that leave room for the \
             name of a unix socket"
        ));
    }
    if let Some(c) =
        text.chars().find(|c| c.is_control() || c.is_whitespace() || ":;$\"'\\".contains(*c))
    {
        return refuse(format!("its path has the character {c:?} in it"));
    }
    Ok(())
}

fn claim_marker(dir: &Path) -> Result<(), SandboxError> {
    let refuse = |reason: String| Err(SandboxError::NotOurs { place: dir.to_owned(), reason });
    let marker = dir.join(MARKER);
    if !marker.is_file() {
        let mut entries = fs::read_dir(dir).map_err(SandboxError::io("read", dir))?;
        if let Some(Ok(entry)) = entries.next()
            && !marker.is_file()
        {
            let found = entry.file_name().to_string_lossy().into_owned();
            return refuse(format!("it holds {found:?} and has no marker file {MARKER:?}"));
        }
        let created = File::options().create(true).truncate(true).write(true).open(&marker);
        created
            .and_then(|mut file| file.write_all(MARKER_TEXT.as_bytes()))
            .map_err(SandboxError::io("create", &marker))?;
        set_mode(dir, 0o755)?;
    }
    let owner = fs::metadata(&marker).map_err(SandboxError::io("read", &marker))?.uid();
    let own = nix::unistd::geteuid().as_raw();
    if owner != own {
        return refuse(format!("it belongs to uid {owner}, and this dbdyno runs as uid {own}"));
    }
    Ok(())
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), SandboxError> {
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).map_err(SandboxError::io("set the mode of", path))
}

/// Writes a file that appears whole or not at all, readable by its owner only.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), SandboxError> {
    let fresh = path.with_extension("new");
    let write = || -> io::Result<()> {
        create_fresh(&fresh)?.write_all(text.as_bytes())?;
        fs::rename(&fresh, path)
    };
    write().map_err(SandboxError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_found_in_the_documented_order() {
        let with = |set: &[(&str, &str)], root| {
            let variable = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            default_dir(variable, root).map(|dir| dir.to_str().unwrap().to_owned())
        };
        let all = [("DBDYNO_HOME", "/d"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(with(&all, true).unwrap(), "/d");
        assert_eq!(with(&all[1..], true).unwrap(), "/var/lib/dbdyno");
        assert_eq!(with(&all[1..], false).unwrap(), "/x/dbdyno");
        assert_eq!(with(&all[2..], false).unwrap(), "/h/.local/share/dbdyno");
        assert_eq!(
            with(&[("XDG_DATA_HOME", "x"), ("HOME", "/h")], false).unwrap(),
            "/h/.local/share/dbdyno"
        );
        assert!(with(&[], false).unwrap_err().to_string().contains("DBDYNO_HOME"));
    }

    #[test]
    fn paths_that_a_part_of_the_machinery_cannot_take_are_refused() {
        for wrong in ["/a:b", "/a b", "/a\"b", "/a$b", "/a\nb", &format!("/{}", "x".repeat(60))] {
            assert!(check_path(Path::new(wrong)).is_err(), "{wrong:?} was taken");
        }
        assert!(check_path(Path::new("/home/an.user-1/.local/share/dbdyno")).is_ok());
    }

    #[test]
    fn a_directory_with_other_things_in_it_is_not_ours() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        set_mode(dir.path(), 0o755).unwrap();
        fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        let error = Home::open(Some(dir.path())).unwrap_err();
        assert!(matches!(error, SandboxError::NotOurs { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("thesis.tex") && text.contains("DBDYNO_HOME"), "{text}");
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "something was written into a foreign directory");
        fs::remove_file(dir.path().join("thesis.tex")).unwrap();
        Home::open(Some(dir.path())).unwrap();
        Home::open(Some(dir.path())).unwrap();
    }

    /// What starts no server needs no home that servers can enter; what starts one is told why not.
    #[test]
    fn a_home_that_only_its_owner_may_enter_is_for_arms_without_servers() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        set_mode(dir.path(), 0o700).unwrap();
        let home = Home::open(Some(&dir.path().join("home"))).unwrap();
        match home.check_traversable() {
            Err(error) => assert!(error.to_string().contains("cannot enter it"), "{error}"),
            // Servers of an ordinary user run under its own account.
            Ok(()) => assert!(!child::is_root()),
        }
    }
}
