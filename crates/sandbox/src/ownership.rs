//! Whether a directory is ours alone to change: owner and mode of it and of all above it.
//!
//! ```text
//!   /                          root's, writable by nobody else
//!   /tmp                       root's, writable by all, sticky: what is in it stays its owner's
//!   /tmp/x ──▶ /srv/dbdyno     a link is root's or ours, and what it leads to is looked at as well
//!   /srv/dbdyno                ours, writable by nobody else
//! ```
//!
//! Whoever may rename a directory on the way decides what dbdyno finds at its end: programs to
//! start, passwords, files to overwrite. The rules are those of OpenSSH for `~/.ssh`, with two
//! additions: a sticky directory may be written by all, and a group that has no member but us
//! counts as ourselves. They are applied from `/` on, so that nothing which was looked at can be
//! exchanged afterwards by anybody but root and ourselves.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use dbdyno_host::{FileKind, FileStatus, Host, HostError, Local, kernel};
use nix::unistd::{Gid, Group, Uid, User};

use crate::child;
use crate::error::SandboxError;

/// As many symbolic links as the kernel follows in one path.
const MOST_LINKS: usize = 40;
const STICKY: u32 = 0o1000;
const GROUP_WRITES: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;

/// Makes sure that only root and this account can change what is in `dir`, which is made, private,
/// if it is not there; returns it without symbolic links.
///
/// # Errors
/// [`SandboxError::Exposed`] for the first directory or link on the way that somebody else owns or
/// may write to, with the command that mends it; [`SandboxError::Io`].
pub fn own_directory(dir: &Path) -> Result<PathBuf, SandboxError> {
    let absolute = std::path::absolute(dir).map_err(SandboxError::io("find", dir))?;
    let account = Account::own();
    let Walk { mut at, missing } = walk(&Local, &absolute, &account)?;
    let count = missing.len();
    for (number, name) in (1..).zip(missing) {
        at.push(name);
        // What servers need to get through is for `Home` to say; above it they only pass.
        let mode = if number < count && child::is_root() { 0o711 } else { 0o700 };
        match fs::DirBuilder::new().mode(mode).create(&at) {
            // Another dbdyno made it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made
                .and_then(|()| fs::set_permissions(&at, fs::Permissions::from_mode(mode)))
                .map_err(SandboxError::io("create", &at))?,
        }
    }
    account.check_own(&at, &look(&Local, &at)?)?;
    Ok(at)
}

fn look(host: &dyn Host, path: &Path) -> Result<FileStatus, SandboxError> {
    host.link_status(path).map_err(of_host("read", path))
}

/// An error of a host, as one of a place of this one.
fn of_host<'a>(what: &'static str, path: &'a Path) -> impl Fn(HostError) -> SandboxError + 'a {
    move |error| SandboxError::io(what, path)(error.into_source())
}

/// Who we are, and who counts as root.
struct Account {
    uid: u32,
    /// The group that has no member but us.
    group: Option<u32>,
    /// As whom this user namespace shows all accounts that it does not know, root's among them.
    unknown: Option<u32>,
}

impl Account {
    fn own() -> Account {
        let uid = nix::unistd::geteuid();
        Account { uid: uid.as_raw(), group: private_group(uid), unknown: unknown_account() }
    }

    fn is_trusted(&self, uid: u32) -> bool {
        uid == self.uid || uid == 0 || self.unknown == Some(uid)
    }

    /// Bits of the mode by which others may write.
    fn writable(&self, place: &FileStatus) -> u32 {
        let is_ours = place.gid == 0 || self.group == Some(place.gid);
        place.mode & if is_ours { OTHERS_WRITE } else { OTHERS_WRITE | GROUP_WRITES }
    }

    /// A directory or a link on the way.
    fn check_above(&self, path: &Path, place: &FileStatus) -> Result<(), SandboxError> {
        if !self.is_trusted(place.uid) {
            let whose = "whoever owns it decides what is found in it";
            return Err(exposed(path, place, whose, self.mend_owner(path)));
        }
        let is_link = place.kind == FileKind::Link;
        if is_link || place.mode & STICKY != 0 || self.writable(place) == 0 {
            return Ok(());
        }
        let others = "others may rename what is in it";
        Err(exposed(path, place, others, mend_mode(path)))
    }

    /// The directory itself: nobody may write to it, sticky or not.
    fn check_own(&self, path: &Path, place: &FileStatus) -> Result<(), SandboxError> {
        if place.uid != self.uid {
            let whose = "it belongs to somebody else";
            return Err(exposed(path, place, whose, self.mend_owner(path)));
        }
        if self.writable(place) == 0 {
            return Ok(());
        }
        let others = "others may have put anything into it";
        Err(exposed(path, place, others, mend_mode(path)))
    }

    fn mend_owner(&self, path: &Path) -> String {
        format!("chown -h {} {}", name_of(self.uid), path.display())
    }
}

fn mend_mode(path: &Path) -> String {
    format!("chmod go-w {}", path.display())
}

fn exposed(path: &Path, place: &FileStatus, why: &'static str, mend: String) -> SandboxError {
    let (owner, mode) = (name_of(place.uid), place.mode);
    SandboxError::Exposed { place: path.to_owned(), owner, mode, why, mend }
}

/// `ann`, or the number of an account that has no name.
fn name_of(uid: u32) -> String {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

/// The account's own group, where it is called like the account and lists nobody else: then what
/// the group may do, only the account may.
fn private_group(uid: Uid) -> Option<u32> {
    let user = User::from_uid(uid).ok()??;
    let group = Group::from_gid(Gid::from_raw(user.gid.as_raw())).ok()??;
    let is_private = group.name == user.name && group.mem.iter().all(|name| *name == user.name);
    is_private.then(|| group.gid.as_raw())
}

/// See [`Account::unknown`]; `None` where each account is known.
fn unknown_account() -> Option<u32> {
    let overflow = Local.kernel_text(&kernel::proc_path("sys/kernel/overflowuid"))?;
    let overflow = overflow.trim().parse().ok()?;
    let map = Local.kernel_text(&kernel::proc_path("self/uid_map"))?;
    (!is_mapped(&map, overflow)).then_some(overflow)
}

/// Lines of `FIRST OUTSIDE COUNT`.
fn is_mapped(map: &str, uid: u32) -> bool {
    let uid = u64::from(uid);
    map.lines()
        .filter_map(|line: &str| -> Option<(u64, u64)> {
            let mut words = line.split_whitespace().map(str::parse::<u64>);
            let (first, _, count) = (words.next()?.ok()?, words.next()?, words.next()?.ok()?);
            Some((first, first + count))
        })
        .any(|(first, end)| (first..end).contains(&uid))
}

/// How far a path leads.
#[derive(Debug)]
struct Walk {
    /// What is there, without links.
    at: PathBuf,
    /// What is not.
    missing: Vec<OsString>,
}

/// Follows an absolute path and checks all that lies above its end.
fn walk(host: &dyn Host, path: &Path, account: &Account) -> Result<Walk, SandboxError> {
    let mut at = PathBuf::from("/");
    let mut left: Vec<OsString> = Vec::new();
    push(&mut left, path);
    let mut links = 0;
    account.check_above(&at, &look(host, &at)?)?;
    while let Some(name) = left.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let place = match host.link_status(&next) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let missing = [name].into_iter().chain(left.into_iter().rev()).collect();
                return Ok(Walk { at, missing });
            }
            Err(error) => return Err(of_host("read", &next)(error)),
        };
        match place.kind {
            FileKind::Folder if left.is_empty() => at = next,
            FileKind::Folder => {
                account.check_above(&next, &place)?;
                at = next;
            }
            FileKind::Link if links < MOST_LINKS => {
                account.check_above(&next, &place)?;
                let target = host.link_target(&next).map_err(of_host("read", &next))?;
                links += 1;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                push(&mut left, &target);
            }
            FileKind::Link => {
                let error = io::Error::other("too many symbolic links");
                return Err(SandboxError::io("follow", path)(error));
            }
            FileKind::File | FileKind::Special => {
                return Err(SandboxError::io("open", &next)(io::ErrorKind::NotADirectory.into()));
            }
        }
    }
    Ok(Walk { at, missing: Vec::new() })
}

/// Puts the names of a path on a stack, the first on top.
fn push(stack: &mut Vec<OsString>, path: &Path) {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    stack.extend(names);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use dbdyno_host::ScriptedHost;

    use super::*;

    const ANN: Account = Account { uid: 1000, group: Some(1000), unknown: None };
    const ROOT: Account = Account { uid: 0, group: Some(0), unknown: None };

    /// Walks through a file system that is a table: name, owner, group, mode, and a link's target.
    fn walked(
        account: &Account,
        path: &str,
        table: &[(&str, u32, u32, u32, &str)],
    ) -> Result<Walk, String> {
        let host = ScriptedHost::default();
        for &(path, uid, gid, mode, target) in table {
            let arrow = if target.is_empty() || target == "file" { "" } else { " -> " };
            let rest = match target {
                "file" => "\ntext\n",
                target => target,
            };
            host.add_places(&format!("@ {path} {mode:o} {uid}:{gid}{arrow}{rest}"));
        }
        walk(&host, Path::new(path), account).map_err(|error| error.to_string())
    }

    const SLASH: (&str, u32, u32, u32, &str) = ("/", 0, 0, 0o755, "");
    const TMP: (&str, u32, u32, u32, &str) = ("/tmp", 0, 0, 0o1777, "");

    #[test]
    fn what_lies_above_is_roots_or_ours_and_written_by_nobody_else() {
        let home = |uid, gid, mode| [SLASH, ("/h", 0, 0, 0o755, ""), ("/h/a", uid, gid, mode, "")];
        let path = "/h/a/x/dyno";
        let Walk { at, missing } = walked(&ANN, path, &home(1000, 1000, 0o755)).unwrap();
        assert_eq!((at, missing), ("/h/a".into(), vec!["x".into(), "dyno".into()]));
        for (uid, gid, mode) in [(0, 0, 0o755), (0, 0, 0o775), (1000, 1000, 0o775)] {
            walked(&ANN, path, &home(uid, gid, mode)).unwrap();
        }
        for (uid, gid, mode) in [(1001, 1001, 0o755), (1000, 100, 0o775), (1000, 1000, 0o777)] {
            let error = walked(&ANN, path, &home(uid, gid, mode)).unwrap_err();
            assert!(error.contains("/h/a") && error.contains(&format!("{mode:04o}")), "{error}");
        }
        let error = walked(&ROOT, path, &home(4_000_000, 0, 0o755)).unwrap_err();
        assert!(error.contains("4000000") && error.contains("chown -h root /h/a"), "{error}");
        let error = walked(&ROOT, path, &home(0, 100, 0o775)).unwrap_err();
        assert!(error.contains("chmod go-w /h/a"), "{error}");
    }

    #[test]
    fn a_sticky_directory_keeps_what_is_ours_and_not_what_is_anothers() {
        let table = [SLASH, TMP, ("/tmp/d", 1000, 1000, 0o700, "")];
        assert_eq!(walked(&ANN, "/tmp/d/x", &table).unwrap().at, Path::new("/tmp/d"));
        let table = [SLASH, TMP, ("/tmp/d", 1001, 1001, 0o755, "")];
        assert!(walked(&ANN, "/tmp/d/x", &table).unwrap_err().contains("/tmp/d"));
    }

    #[test]
    fn links_are_followed_and_both_ends_are_looked_at() {
        let real = ("/srv/d", 0, 0, 0o755, "");
        let srv = ("/srv", 0, 0, 0o755, "");
        let link = |uid, target| [SLASH, TMP, srv, real, ("/tmp/l", uid, 0, 0o777, target)];
        let walk = walked(&ROOT, "/tmp/l/x/../y", &link(0, "../srv/d")).unwrap();
        assert_eq!((walk.at, walk.missing.len()), ("/srv/d".into(), 3));
        assert_eq!(walked(&ROOT, "/tmp/l", &link(0, "/srv/d/.")).unwrap().at, Path::new("/srv/d"));
        assert!(walked(&ROOT, "/tmp/l", &link(1001, "/srv/d")).unwrap_err().contains("/tmp/l"));
        assert!(walked(&ROOT, "/tmp/l", &link(0, "/tmp/l")).unwrap_err().contains("links"));
        let open = [SLASH, TMP, ("/open", 0, 0, 0o777, ""), ("/tmp/l", 0, 0, 0o777, "/open/x")];
        assert!(walked(&ROOT, "/tmp/l/y", &open).unwrap_err().contains("/open"));
        let file = [SLASH, ("/f", 0, 0, 0o644, "file")];
        assert!(walked(&ROOT, "/f/x", &file).unwrap_err().contains("/f"));
    }

    #[test]
    fn accounts_that_a_namespace_does_not_know_are_told_from_one_that_it_knows() {
        assert!(is_mapped("         0          0 4294967295\n", 65_534));
        assert!(!is_mapped("0 1000 1\n", 65_534) && is_mapped("0 0 1\n65534 65534 1\n", 65_534));
        assert!(!is_mapped("", 65_534) && !is_mapped("x", 65_534));
        let inside = Account { uid: 0, group: None, unknown: Some(65_534) };
        let table = [("/", 65_534, 65_534, 0o755, ""), ("/h", 0, 0, 0o755, "")];
        assert!(walked(&inside, "/h/x", &table).is_ok() && walked(&ROOT, "/h/x", &table).is_err());
    }

    #[test]
    fn the_directory_itself_is_ours_and_is_made_private() {
        let dir = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        let made = own_directory(&dir.path().join("a/b")).unwrap();
        assert_eq!((made.clone(), mode(&made)), (dir.path().join("a/b"), 0o700));
        for wide in [0o770, 0o777, 0o1777] {
            fs::set_permissions(&made, fs::Permissions::from_mode(wide)).unwrap();
            let found = own_directory(&made);
            let is_shared = wide & OTHERS_WRITE != 0 || Account::own().group.is_none();
            assert_eq!(found.is_err(), is_shared, "{wide:o}: {found:?}");
        }
        fs::set_permissions(&made, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(own_directory(&made).is_ok(), "what others may only read is for the caller");
        if child::is_root() {
            std::os::unix::fs::chown(&made, Some(4_000_000), None).unwrap();
            let error = own_directory(&made).unwrap_err().to_string();
            assert!(error.contains("4000000") && error.contains("chown"), "{error}");
        }
    }
}
