//! The one directory in which everything lives, and the rules for touching it.
//!
//! ```text
//!                              root's dbdyno         anybody else's
//!   HOME, servers/, run/ …     root:nogroup 0710     USER 0700      passages
//!     run/NAME-PID-N/s         nobody       0700     USER 0700      a server's own
//!     servers/TREE             root         0755     USER 0755      what the makers publish
//!     apt/, receipts/, files   root    0700, 0600    USER 0700, 0600
//! ```
//!
//! A *passage* is a directory through which the account of the servers gets to what it may read,
//! by its group, and which nobody else can enter. It cannot list it, either.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use dbdyno_host::{SharedHost, SharedMachine, local_machine};

use crate::child;
use crate::error::SandboxError;
use crate::foreign_files::create_fresh;
use crate::lock::Lock;
use crate::ownership::own_directory;
use crate::process;

const MARKER: &str = "dbdyno-home";
const MARKER_TEXT: &str =
    "This directory belongs to dbdyno, which creates and deletes files in it.\n";

/// A unix socket's path may have 107 bytes; this many remain for the home, the rest is
/// `/run/NAME-PID-N/s/.s.PGSQL.PORT`.
const MAX_PATH_BYTES: usize = 60;

/// Seconds to wait for another dbdyno that downloads and unpacks.
const LOCK_WITHIN_S: u64 = 600;
/// Seconds to wait for another dbdyno that clears away what was left behind, gigabytes perhaps.
const RUN_LOCK_WITHIN_S: u64 = 120;

/// Directories that are passages.
const PASSAGES: [&str; 6] = ["run", "servers", "templates", "images", "tools", "bg"];
/// Directories that servers have nothing to do with.
const PRIVATE: [&str; 2] = ["apt", "receipts"];
/// Files that earlier releases made readable for all.
const FILES: [&str; 6] =
    ["dbdyno.db", "dbdyno.db-wal", "dbdyno.db-shm", "dbdyno.db-journal", "lock", "run.lock"];

/// Where dbdyno keeps its servers, its data directories and its store. The crate's documentation
/// shows what is in it.
#[derive(Clone, Debug)]
pub struct Home {
    machine: SharedMachine,
    host: SharedHost,
    dir: PathBuf,
    notes: Vec<String>,
}

impl Home {
    /// Opens the home, creating it if need be: `dir`; else `$DBDYNO_HOME`; else `/var/lib/dbdyno`
    /// for uid 0; else `$XDG_DATA_HOME/dbdyno` or `~/.local/share/dbdyno`.
    ///
    /// # Errors
    /// [`SandboxError::NotOurs`] for a directory that holds something else or belongs to somebody
    /// else; [`SandboxError::Exposed`] where somebody else may write to it, or rename it or a
    /// directory above it; [`SandboxError::Io`].
    pub fn open(dir: Option<&Path>) -> Result<Home, SandboxError> {
        let dir = match dir {
            Some(dir) => dir.to_owned(),
            None => default_dir(|name| std::env::var_os(name), child::is_root())?,
        };
        // Before anything is made there.
        check_path(&dir)?;
        // Executables are found by their path in /proc, which never has symbolic links in it.
        let dir = own_directory(&dir)?;
        check_path(&dir)?;
        let is_new = claim_marker(&dir)?;
        let mut notes = Vec::new();
        if make_private(&dir)? && !is_new {
            let shown = dir.display();
            notes.push(format!("made {shown} private: other users could read what is in it"));
        }
        let machine = local_machine();
        Ok(Home { host: machine.clone(), machine, dir, notes })
    }

    /// The machine on which its servers are started.
    pub(crate) fn machine(&self) -> &SharedMachine {
        &self.machine
    }

    /// The same, to be looked at.
    pub fn host(&self) -> &SharedHost {
        &self.host
    }

    /// Memory of that machine, in MB; 0 where its kernel does not say.
    pub fn memory_mb(&self) -> u64 {
        process::memory_mb(&*self.host)
    }

    /// What was mended when it was opened, a clause each.
    pub fn repair_notes(&self) -> &[String] {
        &self.notes
    }

    /// The directory itself, absolute and without symbolic links.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the store is.
    pub fn store_path(&self) -> PathBuf {
        self.dir.join("dbdyno.db")
    }

    pub(crate) fn servers_dir(&self) -> PathBuf {
        self.dir.join("servers")
    }

    /// The folder of the release of this home that a file lies in, if it is one of them.
    pub fn release_with(&self, file: &Path) -> Option<PathBuf> {
        let servers = self.servers_dir();
        let release = file.strip_prefix(&servers).ok()?.components().next()?;
        Some(servers.join(release))
    }

    pub(crate) fn templates(&self) -> PathBuf {
        self.dir.join("templates")
    }

    pub(crate) fn images(&self) -> PathBuf {
        self.dir.join("images")
    }

    pub(crate) fn background_dir(&self) -> PathBuf {
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
    pub(crate) fn lock(&self, progress: &mut dyn FnMut(&str)) -> Result<Lock, SandboxError> {
        Lock::acquire_within(&*self.host, &self.dir.join("lock"), LOCK_WITHIN_S, progress)
    }

    pub(crate) fn try_lock(&self) -> Result<Option<Lock>, SandboxError> {
        Lock::try_acquire(&*self.host, &self.dir.join("lock"))
    }

    /// Keeps others from making claims and from sweeping; tells `progress` if it must wait.
    pub(crate) fn lock_run(&self, progress: &mut dyn FnMut(&str)) -> Result<Lock, SandboxError> {
        Lock::acquire_within(&*self.host, &self.dir.join("run.lock"), RUN_LOCK_WITHIN_S, progress)
    }

    /// Servers of a root's dbdyno run as another account, which must be able to get here; arms that
    /// start none need no such home.
    pub(crate) fn check_traversable(&self) -> Result<(), SandboxError> {
        if !child::is_root() {
            return Ok(());
        }
        let passes = child::foreign_program(Path::new("true"), &self.dir);
        let status = self.machine.start(passes).map_err(|error| error.into_source());
        let status = status.and_then(|mut program| program.wait());
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

/// Makes sure of the marker; whether it was not there.
fn claim_marker(dir: &Path) -> Result<bool, SandboxError> {
    let refuse = |reason: String| Err(SandboxError::NotOurs { place: dir.to_owned(), reason });
    let marker = dir.join(MARKER);
    let is_new = !marker.is_file();
    if is_new {
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
    }
    let owner = fs::metadata(&marker).map_err(SandboxError::io("read", &marker))?.uid();
    let own = nix::unistd::geteuid().as_raw();
    if owner != own {
        return refuse(format!("it belongs to uid {owner}, and this dbdyno runs as uid {own}"));
    }
    Ok(is_new)
}

/// Takes from others what earlier releases, or the user's umask, gave them, and makes what is not
/// there yet; whether somebody could see what is in the home.
fn make_private(dir: &Path) -> Result<bool, SandboxError> {
    let mode = |path: &Path| fs::symlink_metadata(path).map(|found| found.mode() & 0o7777);
    let before = mode(dir).map_err(SandboxError::io("read", dir))?;
    make_passage(dir)?;
    for part in PASSAGES {
        make_passage(&dir.join(part))?;
    }
    for part in PRIVATE.map(|part| dir.join(part)) {
        make_passage(&part)?;
        set_mode(&part, 0o700)?;
    }
    for file in FILES.map(|file| dir.join(file)) {
        if mode(&file).is_ok_and(|mode| mode & 0o077 != 0) && !file.is_symlink() {
            set_mode(&file, 0o600)?;
        }
    }
    Ok(before & 0o067 != 0)
}

/// Makes a directory a passage, see the module; it may be there already.
pub(crate) fn make_passage(dir: &Path) -> Result<(), SandboxError> {
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(SandboxError::io("create", dir)(error));
        }
        _ => {}
    }
    // Where there is no such group (a user namespace without it) there is no such account, either.
    let is_shared = child::is_root() && chown(dir, None, Some(child::UNPRIVILEGED)).is_ok();
    set_mode(dir, if is_shared { 0o710 } else { 0o700 })
}

pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<(), SandboxError> {
    let permissions = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, permissions).map_err(SandboxError::io("set the mode of", path))
}

/// Makes a file, or empties one, that only its owner may read: a log. A link is not followed.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(true).write(true).mode(0o600);
    let file = options.custom_flags(nix::libc::O_NOFOLLOW).open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    Ok(file)
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

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn what_is_in_a_home_is_for_its_owner_and_its_servers_alone() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(&dir.path().join("home"))).unwrap();
        assert!(home.repair_notes().is_empty(), "{:?}", home.repair_notes());
        drop(home.lock(&mut |_| {}).unwrap());
        let scratch = home.create_scratch("x", &mut |_| {}).unwrap();
        create_private(&scratch.path().join("log")).unwrap();
        let passage = if child::is_root() { 0o710 } else { 0o700 };
        assert_eq!(mode(home.dir()), passage);
        assert_eq!(mode(scratch.path()), passage);
        for part in PASSAGES {
            assert_eq!(mode(&home.dir().join(part)), passage, "{part}");
        }
        for part in PRIVATE {
            assert_eq!(mode(&home.dir().join(part)), 0o700, "{part}");
        }
        let files = ["lock", "run.lock"].map(|name| home.dir().join(name));
        for file in files.into_iter().chain(["owner", "log"].map(|n| scratch.path().join(n))) {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        if child::is_root() {
            let group = fs::metadata(home.dir()).unwrap().gid();
            assert_eq!(group, child::UNPRIVILEGED, "servers cannot pass");
        }
    }

    #[test]
    fn a_home_that_others_can_read_is_made_private_and_that_is_said_once() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        Home::open(Some(dir.path())).unwrap();
        set_mode(dir.path(), 0o755).unwrap();
        fs::write(dir.path().join("dbdyno.db"), "").unwrap();
        set_mode(&dir.path().join("dbdyno.db"), 0o644).unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        assert!(
            home.repair_notes().len() == 1 && home.repair_notes()[0].contains("private"),
            "{home:?}"
        );
        assert_eq!(mode(&dir.path().join("dbdyno.db")), 0o600);
        assert!(Home::open(Some(dir.path())).unwrap().repair_notes().is_empty());
    }

    #[test]
    fn a_home_into_which_others_may_write_is_refused_with_the_command_that_mends_it() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        Home::open(Some(dir.path())).unwrap();
        for wide in [0o777, 0o1777, 0o703] {
            set_mode(dir.path(), wide).unwrap();
            let error = Home::open(Some(dir.path())).unwrap_err();
            assert!(matches!(error, SandboxError::Exposed { .. }), "{wide:o}: {error}");
            let text = error.to_string();
            let mend = format!("chmod go-w {}", dir.path().display());
            assert!(text.contains(&mend) && text.contains(&format!("{wide:04o}")), "{text}");
        }
        set_mode(dir.path(), 0o755).unwrap();
        Home::open(Some(dir.path())).unwrap();
    }
}
