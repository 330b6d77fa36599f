//! Under which conditions a server's process lives: its program, allocator, limits and disk.
//!
//! ```text
//!   /proc/PID/exe       the program, compilers /proc/PID/limits   what it may have
//!   /proc/PID/maps      the allocator          /proc/PID/cgroup   what its group may have
//!   /proc/PID/cwd       the data directory: MySQL, MariaDB and PostgreSQL all work inside it
//!   /proc/PID/fd/2      the error log
//! ```
//!
//! What may not be read, or is not there, is left out. An allocator that is linked into the program
//! itself cannot be told from the C library's this way; MariaDB names its own in a variable.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use dbdyno_host::{FileKind, Host, kernel};
use object::{Object as _, ObjectSection as _, ReadCache};

use crate::facts::filesystem_facts;
use crate::server::ServerProbe;

/// Limits that change what a server does, as `/proc/PID/limits` calls them, and as we do.
const LIMITS: [(&str, &str); 5] = [
    ("Max open files", "open_files"),
    ("Max locked memory", "locked_memory"),
    ("Max address space", "address_space"),
    ("Max stack size", "stack"),
    ("Max core file size", "core_file"),
];

/// Libraries that replace the C library's allocator.
const ALLOCATORS: [&str; 5] =
    ["libjemalloc", "libtcmalloc", "libmimalloc", "libhoard", "librpmalloc"];

/// Files of a control group that limit processor or memory, by the version of control groups.
const GROUP_FILES: [(&str, &str); 6] = [
    ("cpu.max", "cpu_max"),
    ("memory.max", "memory_max"),
    ("cpu.cfs_quota_us", "cpu_quota_us"),
    ("cpu.cfs_period_us", "cpu_period_us"),
    ("memory.limit_in_bytes", "memory_limit"),
    ("cpuset.cpus", "cpus"),
];

impl ServerProbe {
    /// The program that the root process runs; `None` if nobody may know.
    pub fn binary_path(&self) -> Option<PathBuf> {
        self.host().link_target(&self.file("exe")).ok()
    }

    /// Facts about the root process by name: `process.binary`, `process.compiler`,
    /// `process.allocator`, `process.limit.open_files`, `process.filesystem.type`, …
    pub fn process_facts(&self) -> Vec<(String, String)> {
        let text = |name: &str| self.host().kernel_text(&self.file(name));
        let mut facts = Vec::new();
        let mut set = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                facts.push((format!("process.{name}"), value));
            }
        };
        set("binary", self.binary_path().map(|path| path.display().to_string()));
        set("compiler", compilers(self.host(), &self.file("exe")));
        set("allocator", text("maps").and_then(|maps| allocator(&maps)));
        let status = text("status").unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        set("processors", allowed.map(|list| list.trim().to_owned()));
        let limits = text("limits").unwrap_or_default();
        for (theirs, ours) in LIMITS {
            set(&format!("limit.{ours}"), limit(&limits, theirs));
        }
        let groups = text("cgroup").unwrap_or_default();
        for (ours, value) in group_limits(self.host(), &groups) {
            set(&format!("cgroup.{ours}"), Some(value));
        }
        if let Some(directory) = self.data_directory() {
            for (name, value) in filesystem_facts(self.host(), &directory) {
                set(name.strip_prefix("host.").unwrap_or(&name), Some(value));
            }
        }
        facts
    }

    /// The directory in which the server works, which is that of its data.
    pub(crate) fn data_directory(&self) -> Option<PathBuf> {
        self.host().link_target(&self.file("cwd")).ok()
    }

    /// A file of the kernel about the root process.
    fn file(&self, name: &str) -> PathBuf {
        kernel::process_path(self.root_pid(), name)
    }

    /// Length of the file that the server's errors go to, bytes; `None` if they go elsewhere.
    pub fn error_log_bytes(&self) -> Option<u64> {
        let file = self.host().status(&self.file("fd/2")).ok()?;
        (file.kind == FileKind::File).then_some(file.bytes)
    }

    /// What was written to that file behind its first `from` bytes, at most `most` of it; `None` if
    /// it cannot be read.
    pub fn error_log_since(&self, from: u64, most: u64) -> Option<Vec<u8>> {
        self.error_log_bytes()?;
        self.host().read_at(&self.file("fd/2"), from, most).ok()
    }
}

/// The compilers that worked on a program, as each leaves its name in the section `.comment`:
/// `GCC 12.1.1, GCC 8.5.0`, for the C library's own start-up code is among them. Debian's packages
/// have none: it is stripped.
fn compilers(host: &dyn Host, program: &Path) -> Option<String> {
    let length = host.status(program).ok()?.bytes;
    let cache = ReadCache::new(HostFile { host, path: program, length, at: 0 });
    let file = object::File::parse(&cache).ok()?;
    let comment = file.section_by_name(".comment")?.data().ok()?;
    Some(compilers_of(comment))
}

/// A file of a host, of which parts are read.
struct HostFile<'h> {
    host: &'h dyn Host,
    path: &'h Path,
    length: u64,
    at: u64,
}

impl Read for HostFile<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let found = self.host.read_at(self.path, self.at, bytes.len() as u64);
        let found = found.map_err(|error| error.into_source())?;
        bytes[..found.len()].copy_from_slice(&found);
        self.at += found.len() as u64;
        Ok(found.len())
    }
}

impl Seek for HostFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// Of texts such as `GCC: (GNU) 4.1.2 20080704 (Red Hat 4.1.2-46)`, each name with its first
/// version, once.
fn compilers_of(comment: &[u8]) -> String {
    let texts = comment.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let name = |text: Cow<'_, str>| {
        let is_version =
            |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
        // Builders put their own names in brackets, versions of packages among them.
        let outside: String = text
            .split_inclusive(['(', ')'])
            .filter(|part| !part.ends_with(')'))
            .map(|part| part.trim_end_matches('('))
            .collect();
        let version = outside.split_whitespace().find(is_version)?.to_owned();
        let family = ["GCC", "clang", "LLD", "rustc"].into_iter().find(|one| text.contains(one))?;
        Some(format!("{family} {version}"))
    };
    let names: BTreeSet<String> = texts.filter_map(name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// The library whose `malloc` is used, by the names of mapped files.
fn allocator(maps: &str) -> Option<String> {
    let files = || maps.lines().filter_map(|line| line.rsplit('/').next());
    let replaced = files().find(|file| ALLOCATORS.iter().any(|name| file.starts_with(name)));
    let own = || {
        files()
            .find(|file| file.starts_with("libc.so") || file.starts_with("libc-2"))
            .map(|_| "glibc")
            .or_else(|| files().find(|file| file.starts_with("ld-musl")).map(|_| "musl"))
    };
    replaced.or_else(own).map(str::to_owned)
}

/// The soft limit of this name; the columns are aligned with two spaces or more.
fn limit(limits: &str, name: &str) -> Option<String> {
    let values = limits.lines().find_map(|line| line.strip_prefix(name))?;
    let mut columns = values.split("  ").map(str::trim).filter(|column| !column.is_empty());
    columns.next().map(str::to_owned)
}

/// What the groups of `/proc/PID/cgroup` may have, where they are limited at all.
fn group_limits(host: &dyn Host, groups: &str) -> Vec<(&'static str, String)> {
    let root = Path::new(kernel::CONTROL_GROUPS);
    const UNLIMITED: [&str; 4] = ["max", "max 100000", "-1", "9223372036854771712"];
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = path.trim_start_matches('/');
        for (file, ours) in GROUP_FILES {
            let controller = file.split('.').next().unwrap_or_default();
            let base = match controllers {
                "" => root.to_owned(),
                list if list.split(',').any(|one| one == controller) => root.join(list),
                _ => continue,
            };
            let Some(value) = host.kernel_text(&base.join(path).join(file)) else { continue };
            let value = value.trim();
            if !value.is_empty() && !UNLIMITED.contains(&value) {
                found.push((ours, value.to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use dbdyno_host::{Local, ScriptedHost, local_host};

    use super::*;

    const MAPS: &str = "\
        5555 r-xp 00000000 fe:01 12 /usr/sbin/mariadbd\n\
        7f00 r--p 00000000 fe:01 13 /usr/lib/x86_64-linux-gnu/libc.so.6\n";

    #[test]
    fn a_preloaded_allocator_is_seen_before_the_c_library() {
        assert_eq!(allocator(MAPS).as_deref(), Some("glibc"));
        let jemalloc = format!("{MAPS}7f01 r-xp 0 fe:01 14 /usr/lib/libjemalloc.so.2\n");
        assert_eq!(allocator(&jemalloc).as_deref(), Some("libjemalloc.so.2"));
        assert_eq!(allocator("5555 r-xp 0 fe:01 12 /opt/static\n"), None);
    }

    #[test]
    fn the_soft_limit_is_the_first_column() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 1048576              files\n\
                      Max core file size        0                    unlimited            bytes\n";
        assert_eq!(limit(limits, "Max open files").as_deref(), Some("1024"));
        assert_eq!(limit(limits, "Max core file size").as_deref(), Some("0"));
        assert_eq!(limit(limits, "Max stack size"), None);
    }

    #[test]
    fn compilers_are_known_by_what_they_leave_in_a_program() {
        let comment = b"GCC: (GNU) 4.1.2 20080704 (Red Hat 4.1.2-46)\0\0GCC: (GNU) 4.1.2 20080704 \
                        (Red Hat 4.1.2-48)\0Ubuntu clang version 14.0.0-1ubuntu1\0\
                        GCC: (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0\0nonsense";
        assert_eq!(compilers_of(comment), "GCC 4.1.2, GCC 7.5.0, clang 14.0.0-1ubuntu1");
        assert_eq!(compilers_of(b""), "");
        let own = compilers(&Local, Path::new("/proc/self/exe")).unwrap();
        assert!(own.contains("rustc "), "this test was made by rustc: {own}");
    }

    #[test]
    fn a_group_that_is_not_limited_says_nothing() {
        let host = ScriptedHost::new(
            "@ /sys/fs/cgroup/db/cpu.max\nmax 100000\n@ /sys/fs/cgroup/db/memory.max\n1073741824\n",
        );
        let limits = group_limits(&host, "0::/db\n");
        assert_eq!(limits, [("memory_max", "1073741824".to_owned())]);
    }

    #[test]
    fn this_process_has_a_program_an_allocator_and_a_disk() {
        let facts = ServerProbe::of_process(&local_host(), std::process::id()).process_facts();
        for name in ["process.binary", "process.allocator", "process.limit.open_files"] {
            assert!(facts.iter().any(|(known, _)| known == name), "{name} in {facts:?}");
        }
        assert!(facts.iter().any(|(known, _)| known == "process.filesystem.type"), "{facts:?}");
    }
}
