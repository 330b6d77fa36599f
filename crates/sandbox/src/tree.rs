//! A new tree of files, made of what somebody else packed: every file that comes out of an archive,
//! a package or a folder is written here, and nowhere else.
//!
//! ```text
//!   member's name ─▶ plain parts, none `..` ─▶ directories, opened one below the other,
//!                                              none of them a link
//!   content ─▶ limits ─▶ a new file, 0644 or 0755       links ─▶ kept until all files are there
//!   device, pipe, socket ─▶ refused                              ─▶ made ─▶ does it stay inside?
//! ```
//!
//! The rights of the members are not taken over, but for "may be executed": no bit that gives
//! another account's rights survives. Links are made last, so that no file is ever written through
//! one; then each is followed step by step, as the kernel would, and must end in the tree. Nobody
//! but us may write here meanwhile, because the tree lies in a directory of our own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, symlinkat, unlinkat};

use crate::error::SandboxError;
use crate::space::free_mb;

const MB: u64 = 1 << 20;
/// The largest tree; the makers' archives with all their tests and symbols have 5 GB.
const MOST_MB: u64 = 16 << 10;
/// The most files and directories; the largest that was seen has 31 000.
const MOST_FILES: u64 = 200_000;
/// How many directories may lie in each other.
const DEEPEST: usize = 40;
/// What an archive of any size may become.
const ALWAYS_MB: u64 = 64;
/// What it may become besides, times its own size. 3 to 12 was seen of packages with a server.
const MOST_TIMES: u64 = 60;
/// Room on the disk that is left to others.
const LEFT_MB: u64 = 256;
/// Links that lead on to links, as many as the kernel follows.
const HOPS: usize = 40;
/// Steps in which all links of a tree are followed: for as many links as the largest server has
/// files, 60 each.
const STEPS_MOST: u64 = 2_000_000;
/// Characters of a member's name that an error repeats.
const SHOWN: usize = 120;
const PIECE: usize = 256 << 10;

/// What becomes of links that lead out of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outward {
    /// The whole is refused.
    Refused,
    /// They are not made.
    LeftOut,
}

/// Whether a file may be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Program,
    Data,
}

impl Kind {
    /// What the bits of a mode say.
    pub(crate) fn of_mode(mode: u32) -> Kind {
        if mode & 0o111 == 0 { Kind::Data } else { Kind::Program }
    }
}

/// A tree that is being made.
pub(crate) struct NewTree {
    root: OwnedFd,
    place: PathBuf,
    /// What is unpacked, for errors.
    source: PathBuf,
    outward: Outward,
    links: BTreeMap<PathBuf, PathBuf>,
    most: Most,
    bytes: u64,
    members: u64,
}

/// How many bytes may come, and why no more.
#[derive(Clone, Copy)]
struct Most {
    bytes: u64,
    why: TreeExcess,
}

#[derive(Clone, Copy)]
enum TreeExcess {
    Size,
    Ratio,
    Disk,
}

impl NewTree {
    /// Begins a tree in `place`, which is made unless it is there. `packed_bytes` is the size of
    /// the archive; `None` of what is not packed.
    pub(crate) fn create_in(
        place: &Path,
        source: &Path,
        packed_bytes: Option<u64>,
        outward: Outward,
    ) -> Result<NewTree, SandboxError> {
        let failed = || SandboxError::io("create", place);
        fs::create_dir_all(place).map_err(failed())?;
        fs::set_permissions(place, fs::Permissions::from_mode(0o755)).map_err(failed())?;
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let root = openat(AT_FDCWD, place, flags, Mode::empty());
        let root = root.map_err(|errno| failed()(errno.into()))?;
        let room = free_mb(place)?.saturating_sub(LEFT_MB).saturating_mul(MB);
        let ratio = packed_bytes.map_or(u64::MAX, |packed| {
            (ALWAYS_MB * MB).saturating_add(packed.saturating_mul(MOST_TIMES))
        });
        let limits = [
            (MOST_MB * MB, TreeExcess::Size),
            (ratio, TreeExcess::Ratio),
            (room, TreeExcess::Disk),
        ];
        let (bytes, why) = limits.into_iter().min_by_key(|(bytes, _)| *bytes).unwrap_or(limits[0]);
        Ok(NewTree {
            root,
            place: place.to_owned(),
            source: source.to_owned(),
            outward,
            links: BTreeMap::new(),
            most: Most { bytes, why },
            bytes: 0,
            members: 0,
        })
    }

    /// The most bytes that the members may have together.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.most.bytes
    }

    /// Makes a directory, unless it is there.
    pub(crate) fn directory(&mut self, name: &[u8]) -> Result<(), SandboxError> {
        let parts = self.count(name)?;
        self.enter(&parts, name).map(drop)
    }

    /// Writes a file; one of this name that came before is replaced.
    pub(crate) fn file(
        &mut self,
        name: &[u8],
        kind: Kind,
        content: &mut dyn Read,
    ) -> Result<(), SandboxError> {
        let parts = self.count(name)?;
        let Some((last, parents)) = parts.split_last() else {
            return Err(self.refusal_error(name, "it is a file without a name"));
        };
        let dir = self.enter(parents, name)?;
        self.make_way(&dir, last, name)?;
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let made = openat(&dir, last.as_os_str(), flags | OFlag::O_NOFOLLOW, Mode::S_IRWXU);
        let mut file = File::from(made.map_err(|errno| self.failed(name, errno))?);
        let mut piece = vec![0; PIECE];
        loop {
            let read = match content.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.unreadable_error(error)),
            };
            self.bytes = self.bytes.saturating_add(read as u64);
            if self.bytes > self.most.bytes {
                return Err(self.too_large());
            }
            let wrote = file.write_all(&piece[..read]);
            wrote.map_err(SandboxError::io("write", &self.place))?;
        }
        let mode = if kind == Kind::Program { 0o755 } else { 0o644 };
        let set = file.set_permissions(fs::Permissions::from_mode(mode));
        set.map_err(SandboxError::io("set the mode of", &self.place))
    }

    /// Remembers a symbolic link.
    pub(crate) fn add_link(&mut self, name: &[u8], target: &[u8]) -> Result<(), SandboxError> {
        let parts = self.count(name)?;
        if parts.is_empty() || target.is_empty() || target.len() > 4095 || target.contains(&0) {
            return Err(self.refusal_error(name, "it is a link without a name or a target"));
        }
        let path: PathBuf = parts.iter().collect();
        self.links.insert(path, PathBuf::from(OsString::from_vec(target.to_vec())));
        Ok(())
    }

    /// Gives a file that came before a second name.
    pub(crate) fn second_name(&mut self, name: &[u8], of: &[u8]) -> Result<(), SandboxError> {
        let (parts, first) = (self.count(name)?, self.parts(of)?);
        let path: PathBuf = first.iter().collect();
        if let Some(target) = self.links.get(&path).cloned() {
            self.links.insert(parts.iter().collect(), target);
            return Ok(());
        }
        let (Some((last, parents)), Some((old, theirs))) = (parts.split_last(), first.split_last())
        else {
            return Err(self.refusal_error(name, "it is a link without a name or a target"));
        };
        let from = self.enter(theirs, name)?;
        let there = fstatat(&from, old.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW);
        if !there.is_ok_and(|found| SFlag::from_bits_truncate(found.st_mode) == SFlag::S_IFREG) {
            let why = format!("it is a second name of {}, which is not in it before", shown(of));
            return Err(self.refusal_error(name, &why));
        }
        if path == parts.iter().collect::<PathBuf>() {
            return Ok(());
        }
        let dir = self.enter(parents, name)?;
        self.make_way(&dir, last, name)?;
        let made = linkat(&from, old.as_os_str(), &dir, last.as_os_str(), AtFlags::empty());
        made.map_err(|errno| self.failed(name, errno))
    }

    /// Refuses a member that is nothing which a server needs: a device, a pipe, a socket.
    pub(crate) fn special_file_error(&self, name: &[u8]) -> SandboxError {
        self.refusal_error(name, "it is a device, a pipe or a socket, which no server brings along")
    }

    /// Makes the links, and looks where they lead. Returns what was left out.
    pub(crate) fn finish(mut self) -> Result<Vec<String>, SandboxError> {
        let links = std::mem::take(&mut self.links);
        let mut left_out = Vec::new();
        for (path, target) in &links {
            let name = path.as_os_str().as_bytes();
            let parts = self.parts(name)?;
            let Some((last, parents)) = parts.split_last() else { continue };
            let dir = self.enter(parents, name)?;
            match symlinkat(target.as_path(), &dir, last.as_os_str()) {
                // What is there came as a file or a directory of another package.
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(errno) => return Err(self.failed(name, errno)),
            }
        }
        let mut walk = LinkWalk::of_tree(&self.root);
        for (path, target) in &links {
            match walk.end_of(path) {
                LinkEnd::Inside => continue,
                LinkEnd::Outside => {}
                LinkEnd::TooFar => return Err(self.unsuitable(too_many_steps())),
            }
            let (name, to) = (path.as_os_str().as_bytes(), shown(target.as_os_str().as_bytes()));
            if self.outward == Outward::Refused {
                let why = format!(
                    "it is a link that leads out, to {to}; put there what it leads to, or leave it \
                     out"
                );
                return Err(self.refusal_error(name, &why));
            }
            let gone = fs::remove_file(self.place.join(path));
            gone.map_err(SandboxError::io("remove", &self.place.join(path)))?;
            left_out.push(format!("{} → {to}", shown(name)));
        }
        Ok(left_out)
    }

    /// Counts a member, and takes its name apart.
    fn count(&mut self, name: &[u8]) -> Result<Vec<OsString>, SandboxError> {
        self.members += 1;
        if self.members > MOST_FILES {
            let what = format!("it has more than {MOST_FILES} files");
            return Err(self.unsuitable(format!("{what}; {}", TreeExcess::Size.remedy())));
        }
        self.parts(name)
    }

    /// The parts of a name within the tree.
    fn parts(&self, name: &[u8]) -> Result<Vec<OsString>, SandboxError> {
        let text = String::from_utf8_lossy(name);
        if text.chars().any(char::is_control) {
            return Err(
                self.refusal_error(name, "its name has characters in it that steer a terminal")
            );
        }
        let mut parts = Vec::new();
        for component in Path::new(OsStr::from_bytes(name)).components() {
            match component {
                Component::Normal(part) => parts.push(part.to_owned()),
                Component::CurDir => {}
                _ => return Err(self.refusal_error(name, "its name leads out of the archive")),
            }
        }
        if parts.len() > DEEPEST {
            let why = format!("it lies in more than {DEEPEST} directories");
            return Err(self.refusal_error(name, &why));
        }
        Ok(parts)
    }

    /// Opens a directory of the tree, one below the other, making what is not there. A link on the
    /// way is refused by the kernel.
    fn enter(&self, parts: &[OsString], name: &[u8]) -> Result<OwnedFd, SandboxError> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let own = self.root.as_fd().try_clone_to_owned();
        let mut dir = own.map_err(SandboxError::io("open", &self.place))?;
        for part in parts {
            let made = mkdirat(&dir, part.as_os_str(), Mode::from_bits_truncate(0o755));
            let next = openat(&dir, part.as_os_str(), flags, Mode::empty());
            let next = next.map_err(|errno| self.failed(name, errno))?;
            if made.is_ok() {
                // Whatever the mask of this process.
                let open = Mode::from_bits_truncate(0o755);
                let set = nix::sys::stat::fchmod(&next, open);
                set.map_err(|errno| self.failed(name, errno))?;
            }
            dir = next;
        }
        Ok(dir)
    }

    /// Removes a file of this name.
    fn make_way(&self, dir: &OwnedFd, last: &OsStr, name: &[u8]) -> Result<(), SandboxError> {
        match unlinkat(dir, last, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(self.failed(name, errno)),
        }
    }

    /// The error of a content that cannot be read.
    pub(crate) fn unreadable_error(&self, error: io::Error) -> SandboxError {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return self.too_large();
        }
        let detail = format!("it is torn or damaged: {error}");
        SandboxError::Damaged { place: self.source.clone(), detail }
    }

    fn too_large(&self) -> SandboxError {
        let most_mb = self.most.bytes / MB;
        let (what, remedy) = (self.most.why.what(), self.most.why.remedy());
        if let TreeExcess::Disk = self.most.why {
            let purpose = format!("unpacking {}", self.source.display());
            let (place, needed_mb) = (self.place.clone(), most_mb + LEFT_MB + 1);
            return SandboxError::NoSpace { place, purpose, needed_mb, free_mb: most_mb };
        }
        self.unsuitable(format!("unpacked it has more than {most_mb} MB, {what}; {remedy}"))
    }

    pub(crate) fn refusal_error(&self, name: &[u8], why: &str) -> SandboxError {
        self.unsuitable(format!("{} in it is refused: {why}", shown(name)))
    }

    fn failed(&self, name: &[u8], errno: Errno) -> SandboxError {
        match errno {
            Errno::ELOOP | Errno::ENOTDIR | Errno::EISDIR => self
                .refusal_error(name, "it lies behind a link, or is a file and a directory at once"),
            Errno::ENAMETOOLONG => self.refusal_error(name, "its name is too long"),
            _ => SandboxError::io("write", &self.place)(errno.into()),
        }
    }

    fn unsuitable(&self, reason: String) -> SandboxError {
        SandboxError::Unsuitable { what: self.source.display().to_string(), reason }
    }
}

/// Looks once more at the links of a part of a tree that becomes a tree of its own: what led to
/// another part leads out now. Returns what was left out.
///
/// # Errors
/// [`SandboxError::Unsuitable`] for the first of them, if none may lead out.
pub(crate) fn confine_links(
    part: &Path,
    source: &Path,
    outward: Outward,
) -> Result<Vec<String>, SandboxError> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let root = openat(AT_FDCWD, part, flags, Mode::empty());
    let root = root.map_err(|errno| SandboxError::io("open", part)(errno.into()))?;
    let (mut left_out, mut walk) = (Vec::new(), LinkWalk::of_tree(&root));
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let place = part.join(&folder);
        for entry in fs::read_dir(&place).map_err(SandboxError::io("read", &place))? {
            let entry = entry.map_err(SandboxError::io("read", &place))?;
            let kind = entry.file_type().map_err(SandboxError::io("read", &place))?;
            let path = folder.join(entry.file_name());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                match walk.end_of(&path) {
                    LinkEnd::Inside => continue,
                    LinkEnd::Outside => {}
                    LinkEnd::TooFar => {
                        let what = source.display().to_string();
                        return Err(SandboxError::Unsuitable { what, reason: too_many_steps() });
                    }
                }
                let target = fs::read_link(entry.path()).unwrap_or_default();
                let [name, to] = [&path, &target].map(|path| shown(path.as_os_str().as_bytes()));
                if outward == Outward::Refused {
                    return Err(SandboxError::Unsuitable {
                        what: source.display().to_string(),
                        reason: leads_out(&name, &to),
                    });
                }
                let gone = fs::remove_file(entry.path());
                gone.map_err(SandboxError::io("remove", &entry.path()))?;
                left_out.push(format!("{name} → {to}"));
            }
        }
    }
    Ok(left_out)
}

/// What is said of a link that leads out.
fn leads_out(name: &str, to: &str) -> String {
    format!(
        "{name} is a link that leads out of the server's folder, to {to}; put there what it leads \
         to, or leave it out"
    )
}

fn too_many_steps() -> String {
    let remedy = TreeExcess::Size.remedy();
    format!("its links are followed in more than {STEPS_MOST} steps; {remedy}")
}

/// Where a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkEnd {
    /// In the tree, or nowhere.
    Inside,
    Outside,
    /// Behind more steps than are left.
    TooFar,
}

/// Follows links within a tree. Many that lead through the same ones would take hours: the steps
/// of all are counted together.
struct LinkWalk<'r> {
    root: &'r OwnedFd,
    steps_left: u64,
}

impl LinkWalk<'_> {
    fn of_tree(root: &OwnedFd) -> LinkWalk<'_> {
        LinkWalk { root, steps_left: STEPS_MOST }
    }

    /// Follows a path as the kernel does, one step after the other.
    fn end_of(&mut self, path: &Path) -> LinkEnd {
        let mut ahead: Vec<OsString> =
            path.iter().rev().map(OsStr::to_owned).collect::<Vec<OsString>>();
        let mut at: Vec<OsString> = Vec::new();
        let mut hops = 0;
        while let Some(part) = ahead.pop() {
            let Some(left) = self.steps_left.checked_sub(1) else { return LinkEnd::TooFar };
            self.steps_left = left;
            if part == "." {
                continue;
            }
            if part == ".." {
                if at.pop().is_none() {
                    return LinkEnd::Outside;
                }
                continue;
            }
            at.push(part);
            let here: PathBuf = at.iter().collect();
            let Ok(target) = readlinkat(self.root, &here) else { continue };
            let target = PathBuf::from(target);
            hops += 1;
            if hops > HOPS || target.is_absolute() {
                return LinkEnd::Outside;
            }
            at.pop();
            for component in target.components().rev() {
                ahead.push(component.as_os_str().to_owned());
            }
        }
        LinkEnd::Inside
    }
}

impl TreeExcess {
    fn what(self) -> &'static str {
        match self {
            TreeExcess::Size => "which is the limit",
            TreeExcess::Ratio => "far more than a packed server grows to",
            TreeExcess::Disk => "",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            TreeExcess::Size => "take out of it what is not the server, and try again",
            TreeExcess::Ratio => {
                "if you trust it, unpack it yourself and name the folder: `dbdyno server get SERVER \
                 --from FOLDER`"
            }
            TreeExcess::Disk => "",
        }
    }
}

/// A name of a member as an error shows it: escaped and cut.
fn shown(name: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(name).chars().take(SHOWN).collect();
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each link alone is short: what they take together is counted.
    #[test]
    fn links_are_followed_in_so_many_steps_together() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("d")).unwrap();
        for (name, target) in [("a", "d/../end"), ("b", "a"), ("c", "a"), ("out", "..")] {
            std::os::unix::fs::symlink(target, place.path().join(name)).unwrap();
        }
        let root = openat(AT_FDCWD, place.path(), OFlag::O_DIRECTORY, Mode::empty()).unwrap();
        // Itself, the link that it leads to, and the three parts of that one's target.
        let mut walk = LinkWalk { root: &root, steps_left: 9 };
        assert_eq!(walk.end_of(Path::new("b")), LinkEnd::Inside);
        assert_eq!((walk.steps_left, walk.end_of(Path::new("c"))), (4, LinkEnd::TooFar));
        assert_eq!(LinkWalk::of_tree(&root).end_of(Path::new("c")), LinkEnd::Inside);
        assert_eq!(LinkWalk::of_tree(&root).end_of(Path::new("out")), LinkEnd::Outside);
    }
}
