//! The machine that dbdyno runs on.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, IoSliceMut};
use std::net::IpAddr;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, SysconfVar, sysconf};

use crate::error::HostError;
use crate::host::{FileKind, FileStatus, Host, ProcessMemory, SharedHost};
use crate::kernel;
use crate::launch::Launch;
use crate::machine::{EndSignal, Machine, RunningProgram, SharedMachine};
use crate::start;

/// The unit of `st_blocks`, whatever the file system's own is.
const BLOCK: u64 = 512;
const PAGE: u64 = 4096;
/// Bytes of an entry of pagemap, and the bit that says that the page is in memory.
const ENTRY: u64 = 8;
const PRESENT: u64 = 1 << 63;
/// Addresses that are read at once.
const ADDRESSES: usize = 512;

/// The machine that dbdyno runs on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local;

/// The machine that dbdyno runs on, to be looked at by several.
pub fn local_host() -> SharedHost {
    Arc::new(Local)
}

/// The machine that dbdyno runs on, for several to start programs on.
pub fn local_machine() -> SharedMachine {
    Arc::new(Local)
}

impl Host for Local {
    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, HostError> {
        let bytes = File::open(path).and_then(|file| dbdyno_files::read_from(file, most));
        bytes.map_err(|error| HostError::new("read", path, error))
    }

    fn read_at(&self, path: &Path, offset: u64, most: u64) -> Result<Vec<u8>, HostError> {
        read_at(path, offset, most).map_err(|error| HostError::new("read", path, error))
    }

    fn names(&self, folder: &Path) -> Result<Vec<OsString>, HostError> {
        let listed = fs::read_dir(folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
        listed.map_err(|error| HostError::new("listed", folder, error))
    }

    fn link_target(&self, path: &Path) -> Result<PathBuf, HostError> {
        fs::read_link(path).map_err(|error| HostError::new("read as a link", path, error))
    }

    fn status(&self, path: &Path) -> Result<FileStatus, HostError> {
        let found = fs::metadata(path).map_err(|e| HostError::new("looked at", path, e))?;
        Ok(status_of(&found))
    }

    fn link_status(&self, path: &Path) -> Result<FileStatus, HostError> {
        let found = fs::symlink_metadata(path).map_err(|e| HostError::new("looked at", path, e))?;
        Ok(status_of(&found))
    }

    fn without_links(&self, path: &Path) -> Result<PathBuf, HostError> {
        fs::canonicalize(path).map_err(|error| HostError::new("followed", path, error))
    }

    fn interface_addresses(&self) -> Result<Vec<IpAddr>, HostError> {
        let place = Path::new("the list of network interfaces");
        let found = getifaddrs().map_err(|error| HostError::new("read", place, error.into()))?;
        Ok(found.filter_map(|one| address_of(&one)).collect())
    }

    fn cpu_ns(&self, pid: u32) -> Option<u64> {
        clock_ns(clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?)
    }

    fn tick_ns(&self) -> u64 {
        let ticks_per_s = sysconf(SysconfVar::CLK_TCK).ok().flatten();
        1_000_000_000 / ticks_per_s.map_or(100, |ticks| ticks.max(1) as u64)
    }

    fn process_memory(&self, pid: u32) -> Option<Box<dyn ProcessMemory>> {
        let has_usual_pages = sysconf(SysconfVar::PAGE_SIZE).ok()?? as u64 == PAGE;
        let pagemap = File::open(kernel::process_path(pid, "pagemap")).ok()?;
        let memory = LocalMemory { pid: Pid::from_raw(i32::try_from(pid).ok()?), pagemap };
        // Who may see the map of a process may still not be allowed to read its memory.
        (has_usual_pages && memory.read(&[0]) != Err(Errno::EPERM)).then(|| Box::new(memory) as _)
    }

    fn own_pid(&self) -> Option<u32> {
        Some(std::process::id())
    }
}

impl Machine for Local {
    fn start(&self, launch: Launch) -> Result<Box<dyn RunningProgram>, HostError> {
        let program = PathBuf::from(launch.program());
        start::start(launch).map_err(|error| HostError::new("run", &program, error))
    }

    fn signal_process(&self, pid: u32, signal: EndSignal) -> Result<(), HostError> {
        start::signal_process(pid, signal)
            .map_err(|error| HostError::new("ended", &kernel::process_path(pid, ""), error))
    }

    fn keep_on(&self, thread: u32, processors: &[usize]) -> Result<(), HostError> {
        start::keep_on(thread, processors)
            .map_err(|error| HostError::new("placed", &kernel::process_path(thread, ""), error))
    }
}

fn read_at(path: &Path, offset: u64, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < most {
        let begin = bytes.len();
        let room = usize::try_from(most).unwrap_or(usize::MAX).min(begin + (1 << 20));
        bytes.resize(room, 0);
        let read = file.read_at(&mut bytes[begin..], offset + begin as u64)?;
        bytes.truncate(begin + read);
        if read == 0 {
            break;
        }
    }
    Ok(bytes)
}

fn status_of(found: &Metadata) -> FileStatus {
    let kind = found.file_type();
    let kind = if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Folder
    } else if kind.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Special
    };
    FileStatus {
        kind,
        uid: found.uid(),
        gid: found.gid(),
        mode: found.mode() & 0o7777,
        bytes: found.len(),
        stored_bytes: found.blocks() * BLOCK,
        identity: (found.dev(), found.ino()),
    }
}

fn address_of(interface: &InterfaceAddress) -> Option<IpAddr> {
    let address = interface.address?;
    let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip())))
}

fn clock_ns(clock: ClockId) -> Option<u64> {
    let time = clock_gettime(clock).ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).ok()?)
}

/// `/proc/PID/pagemap` says which pages are there, `process_vm_readv` reads them.
#[derive(Debug)]
struct LocalMemory {
    pid: Pid,
    pagemap: File,
}

impl LocalMemory {
    fn read(&self, addresses: &[u64]) -> Result<usize, Errno> {
        let addresses = &addresses[..addresses.len().min(ADDRESSES)];
        let remote: Vec<RemoteIoVec> = addresses
            .iter()
            .map(|&address| RemoteIoVec { base: address as usize, len: 1 })
            .collect();
        let mut bytes = [0; ADDRESSES];
        let local = &mut [IoSliceMut::new(&mut bytes[..addresses.len()])];
        process_vm_readv(self.pid, local, &remote)
    }
}

impl ProcessMemory for LocalMemory {
    fn resident_pages(&self, address: u64, pages: usize) -> Vec<bool> {
        let mut entries = vec![0; pages * ENTRY as usize];
        let got = self.pagemap.read_at(&mut entries, address / PAGE * ENTRY).unwrap_or(0);
        let (entries, _) = entries[..got].as_chunks::<{ ENTRY as usize }>();
        entries.iter().map(|entry| u64::from_ne_bytes(*entry) & PRESENT != 0).collect()
    }

    fn touch_addresses(&self, addresses: &[u64]) -> usize {
        self.read(addresses).unwrap_or(0)
    }

    fn touch_ns(&self, address: u64) -> Option<u64> {
        let began_ns = clock_ns(ClockId::CLOCK_MONOTONIC)?;
        self.read(&[address]).ok()?;
        Some(clock_ns(ClockId::CLOCK_MONOTONIC)?.saturating_sub(began_ns))
    }
}
