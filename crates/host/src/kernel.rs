//! Where Linux shows what it knows: `/proc`, `/sys` and the groups that it limits.
//!
//! Their names are made here, so that no other crate can open such a file past its host by a text
//! of its own (`cargo xtask tidy`).

use std::path::{Path, PathBuf};

/// Where control groups are.
pub const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// Bytes of such a file that are read at most. The longest list the functions of the kernel (some
/// 15 MB), the sockets of a machine (150 B each) and the mappings of a process (100 B each;
/// `vm.max_map_count` permits 65 530 of them by default).
pub const LONGEST: u64 = 256 << 20;

/// What the kernel says of the machine: `net/tcp`, `meminfo`; with an empty name, the folder that
/// has a folder for each process.
pub fn proc_path(name: &str) -> PathBuf {
    Path::new("/proc").join(name)
}

/// What it says of a process: `stat`, `fd`, `exe`.
pub fn process_path(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// What it says of devices, and of itself: `devices/system/cpu`.
pub fn sys_path(name: &str) -> PathBuf {
    Path::new("/sys").join(name)
}
