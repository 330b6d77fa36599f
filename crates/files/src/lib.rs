//! Files whose names come from outside: a user's words, an `!include`, a service file, a profile.
//!
//! ```text
//!   name ──look, without opening──▶ a regular file, on a disk? ──▶ opened: what was looked at
//!             (O_PATH, fstatfs)         │
//!                                       └─ a folder, pipe, socket, device, a file that the kernel
//!                                          makes up ──▶ refused by its kind
//! ```
//!
//! To read what is no file on a disk does something, and so may already its opening: a named pipe
//! waits for a writer, `/dev/zero` never ends, `/proc/kmsg` waits for the kernel's next message and
//! takes it away from others, a watchdog restarts the machine. So nothing is opened before it is
//! known, and what is opened is what was known: a name that is changed in between changes nothing.

pub mod owner;

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::libc::{O_NOCTTY, O_NONBLOCK, O_PATH};
use nix::sys::statfs::fstatfs;

/// File systems whose files the kernel makes up when they are read, by their numbers in Linux'
/// `include/uapi/linux/magic.h`.
const MADE_UP: [i64; 18] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0xcafe_4a11, // bpf
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x5a3c_69f0, // apparmorfs
    0x6573_5543, // fusectl
    0x4249_4e4d, // binfmt_misc
    0x1980_0202, // mqueue
    0x6e73_6673, // nsfs
];

/// Where open files stand by number.
const BY_NUMBER: [&str; 3] = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"];
/// Names of the shell for what it hands over, and of what is empty.
const BY_NAME: [&str; 2] = ["/dev/stdin", "/dev/null"];

/// Bytes that there is room for before anything is read: most files of the kernel are shorter, and
/// take one call.
const USUAL: usize = 4 << 10;

/// Opens a regular file on a disk.
///
/// # Errors
/// There is none, it may not be read, or it is something else, which the error names with the kind
/// [`io::ErrorKind::InvalidInput`].
pub fn open(path: &Path) -> io::Result<File> {
    let found = look(path)?;
    let same = format!("/proc/self/fd/{}", found.as_raw_fd());
    File::options().read(true).custom_flags(O_NONBLOCK | O_NOCTTY).open(same)
}

/// Opens what a user names to be read: a file on a disk, or what the shell hands over by its
/// number, which is meant to be read and whose other end is there. `/dev/null` is empty.
///
/// # Errors
/// Those of [`open`]: a folder, a device, a named pipe, what the kernel makes up.
pub fn open_named(path: &Path) -> io::Result<File> {
    if is_handed_over(path) { File::open(path) } else { open(path) }
}

fn is_handed_over(path: &Path) -> bool {
    let Some(path) = path.to_str() else { return false };
    BY_NAME.contains(&path)
        || BY_NUMBER.iter().any(|known| {
            path.strip_prefix(known).is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
}

/// Looks at what is to be opened by others, SQLite for one, without opening it: to close a file
/// takes away the locks that a process has on it.
///
/// # Errors
/// There is none, or it is something else than a regular file on a disk, as with [`open`].
pub fn check_regular_file(path: &Path) -> io::Result<()> {
    look(path).map(drop)
}

/// Whether the kernel makes up what stands in a directory: `/proc/self/fd`, where open files are.
///
/// # Errors
/// There is none, or it may not be looked at.
pub fn is_folder_of_kernel(folder: &Path) -> io::Result<bool> {
    is_made_up(&File::options().read(true).custom_flags(O_PATH).open(folder)?)
}

/// The file as it can be named and not read.
fn look(path: &Path) -> io::Result<File> {
    let found = File::options().read(true).custom_flags(O_PATH).open(path)?;
    let kind = found.metadata()?.file_type();
    let refused = match () {
        () if kind.is_dir() => Some("it is a folder"),
        () if kind.is_fifo() => Some("it is a named pipe; if it is meant, give it as /dev/stdin"),
        () if kind.is_socket() => Some("it is a socket"),
        () if !kind.is_file() => Some("it is a device"),
        () if is_made_up(&found)? => Some("the kernel makes it up; copy it into a file"),
        () => None,
    };
    match refused {
        Some(what) => Err(io::Error::new(io::ErrorKind::InvalidInput, what)),
        None => Ok(found),
    }
}

fn is_made_up(file: &File) -> io::Result<bool> {
    // 32 bits are the number; some kinds of processors extend their sign.
    let number = fstatfs(file)?.filesystem_type().0 & 0xffff_ffff;
    Ok(MADE_UP.contains(&number))
}

/// What is in a regular file of at most `most` bytes on a disk.
///
/// # Errors
/// Those of [`open`], a file that is larger, or one that cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, most)
}

/// What comes from something open, of at most `most` bytes.
///
/// # Errors
/// It is larger, which is the kind [`io::ErrorKind::FileTooLarge`], or cannot be read.
pub fn read_from(source: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("it is larger than {} MiB, the most that is read", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// What is said of a file that is refused for its kind.
    fn refused(path: &Path) -> String {
        let error = read(path, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", path.display());
        error.to_string()
    }

    #[test]
    fn what_is_no_file_on_a_disk_is_refused_by_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // Nobody ever writes into it: to open it would be to wait.
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        symlink("/proc/self/environ", at("link")).unwrap();
        for (path, kind) in [
            (folder.path(), "a folder"),
            (&at("pipe"), "a named pipe"),
            (&at("socket"), "a socket"),
            (Path::new("/dev/zero"), "a device"),
            (Path::new("/proc/version"), "the kernel"),
            (Path::new("/sys/devices/system/cpu/online"), "the kernel"),
            (&at("link"), "the kernel"),
        ] {
            assert!(refused(path).contains(kind), "{}", path.display());
            assert!(
                check_regular_file(path).unwrap_err().to_string().contains(kind),
                "{}",
                path.display()
            );
        }
        assert!(is_folder_of_kernel(Path::new("/proc/self/fd")).unwrap());
        assert!(!is_folder_of_kernel(folder.path()).unwrap());
    }

    #[test]
    fn a_file_is_read_by_its_name_and_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "a = 1").unwrap();
        symlink(&file, &link).unwrap();
        for path in [&file, &link] {
            assert_eq!(read(path, 5).unwrap(), b"a = 1");
        }
        assert_eq!(read(&file, 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let missing = read(&folder.path().join("none"), 9).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert_eq!(read_from(io::repeat(0), 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
