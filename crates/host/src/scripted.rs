//! A machine that is a text, for tests.
//!
//! ```text
//!   a comment, up to the first place
//!   @ /proc/7/stat                      a file: its lines, up to the next place
//!   7 (mariadbd) S 1 7 7 0 …
//!   @ /proc/7/exe -> /usr/sbin/mariadbd a link
//!   @ /proc/7/io !                      there, and not to be read by us
//!   @ /srv/data 1777 1000:1000          a folder, or a file or link, with a mode and owners
//! ```
//!
//! What a process has in memory is a file of it, `/proc/7/pagemap`: a line of `START END NS` for
//! each piece, its addresses in hexadecimal digits and what reading a byte there takes.
//!
//! Folders are there because something lies in them. What belongs to nobody that is named is root's
//! and readable by all. Links at the end of a path are followed, those on the way are not.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::net::IpAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::HostError;
use crate::host::{FileKind, FileStatus, Host, ProcessMemory};
use crate::kernel;
use crate::launch::Launch;
use crate::machine::{EndSignal, Machine, RunningProgram};

/// As many links as the kernel follows in one path.
const LINKS_MOST: usize = 40;

/// A machine that is a text. What is killed is gone from it, and nothing is started on it. It can
/// be changed while it is looked at, as machines do.
#[derive(Debug, Default)]
pub struct ScriptedHost {
    places: Mutex<BTreeMap<PathBuf, Place>>,
    cpu_ns: Mutex<BTreeMap<u32, u64>>,
    addresses: Vec<IpAddr>,
    own_pid: Option<u32>,
}

#[derive(Clone, Debug)]
struct Place {
    content: Content,
    mode: u32,
    owners: (u32, u32),
}

#[derive(Clone, Debug)]
enum Content {
    Bytes(Vec<u8>),
    Folder,
    Link(PathBuf),
    Forbidden,
}

impl ScriptedHost {
    /// The machine that this text describes.
    ///
    /// # Panics
    /// The text is none: a test is wrong.
    pub fn new(text: &str) -> ScriptedHost {
        let host = ScriptedHost::default();
        host.add_places(text);
        host
    }

    /// Adds places, or puts them in the place of what was there.
    ///
    /// # Panics
    /// As [`ScriptedHost::new`].
    pub fn add_places(&self, text: &str) {
        let mut places = text.split("\n@ ");
        let before = places.next().unwrap_or_default();
        for place in before.strip_prefix("@ ").into_iter().chain(places) {
            let (head, content) = place.split_once('\n').unwrap_or((place, ""));
            let ends = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            self.add_place(head, format!("{content}{ends}").into_bytes());
        }
    }

    fn add_place(&self, head: &str, bytes: Vec<u8>) {
        let (head, target) = match head.split_once(" -> ") {
            Some((head, target)) => (head, Some(target)),
            None => (head, None),
        };
        let (path, rest) = head.split_once(' ').unwrap_or((head, ""));
        assert!(path.starts_with('/'), "a place is an absolute path: {head:?}");
        let content = match target {
            Some(target) => Content::Link(target.into()),
            None if rest == "!" => Content::Forbidden,
            None if bytes.is_empty() && !rest.is_empty() => Content::Folder,
            None => Content::Bytes(bytes),
        };
        let is_plain = rest.is_empty() || rest == "!";
        let (mode, owners) = if is_plain { (0o755, (0, 0)) } else { mode_and_owners(rest) };
        let place = Place { content, mode, owners };
        self.places.lock().expect("no test panics here").insert(path.into(), place);
    }

    /// Takes a place away, and all below it.
    pub fn remove(&self, path: &Path) {
        let mut places = self.places.lock().expect("no test panics here");
        places.retain(|known, _| !known.starts_with(path));
    }

    /// A process has used so much processor time since it began.
    pub fn set_cpu_ns(&self, pid: u32, cpu_ns: u64) {
        self.cpu_ns.lock().expect("no test panics here").insert(pid, cpu_ns);
    }

    /// Has these addresses of network interfaces.
    #[must_use]
    pub fn with_addresses(self, addresses: &[IpAddr]) -> ScriptedHost {
        ScriptedHost { addresses: addresses.to_vec(), ..self }
    }

    /// Runs dbdyno under this number.
    #[must_use]
    pub fn with_own_pid(self, pid: u32) -> ScriptedHost {
        ScriptedHost { own_pid: Some(pid), ..self }
    }

    /// What is at the end of all links.
    fn end_of(&self, path: &Path) -> io::Result<(PathBuf, Place)> {
        let mut path = path.to_owned();
        for _ in 0..LINKS_MOST {
            let place = self.place(&path)?;
            let Content::Link(target) = &place.content else { return Ok((path, place)) };
            path = path.parent().unwrap_or(Path::new("/")).join(target);
        }
        Err(io::Error::other("too many links"))
    }

    fn place(&self, path: &Path) -> io::Result<Place> {
        let places = self.places.lock().expect("no test panics here");
        if let Some(place) = places.get(path) {
            return Ok(place.clone());
        }
        if places.keys().any(|known| known.starts_with(path)) {
            return Ok(Place { content: Content::Folder, mode: 0o755, owners: (0, 0) });
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.end_of(path)?.1.content {
            Content::Bytes(bytes) => Ok(bytes),
            Content::Forbidden => Err(io::ErrorKind::PermissionDenied.into()),
            Content::Folder | Content::Link(_) => Err(io::ErrorKind::IsADirectory.into()),
        }
    }

    fn listed(&self, folder: &Path) -> io::Result<Vec<OsString>> {
        let (folder, place) = self.end_of(folder)?;
        match place.content {
            Content::Folder => {}
            Content::Forbidden => return Err(io::ErrorKind::PermissionDenied.into()),
            Content::Bytes(_) | Content::Link(_) => {
                return Err(io::ErrorKind::NotADirectory.into());
            }
        }
        let places = self.places.lock().expect("no test panics here");
        let below = places.keys().filter_map(|known| known.strip_prefix(&folder).ok());
        let names = below.filter_map(|rest| Some(rest.components().next()?.as_os_str().to_owned()));
        Ok(names.collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// Addresses that have memory, and what reading a byte there takes.
#[derive(Debug)]
struct ScriptedMemory(Vec<(Range<u64>, u64)>);

impl ProcessMemory for ScriptedMemory {
    fn resident_pages(&self, address: u64, pages: usize) -> Vec<bool> {
        let addresses = (0..pages as u64).map(|page| address + page * 4096);
        addresses.map(|address| self.touch_ns(address).is_some()).collect()
    }

    fn touch_addresses(&self, addresses: &[u64]) -> usize {
        addresses.iter().filter(|address| self.touch_ns(**address).is_some()).count()
    }

    fn touch_ns(&self, address: u64) -> Option<u64> {
        self.0.iter().find(|(piece, _)| piece.contains(&address)).map(|(_, ns)| *ns)
    }
}

/// `10000 18000 700`: addresses from the first up to the second, and nanoseconds.
fn piece_of(line: &str) -> (Range<u64>, u64) {
    let words: Vec<&str> = line.split(' ').collect();
    let [start, end, ns] = words[..] else { panic!("not START END NS: {line:?}") };
    let [start, end] = [start, end]
        .map(|text| u64::from_str_radix(text, 16).expect("an address in hexadecimal digits"));
    (start..end, ns.parse().expect("nanoseconds"))
}

/// `1777 1000:100`.
fn mode_and_owners(text: &str) -> (u32, (u32, u32)) {
    text.split_once(' ')
        .and_then(|(mode, owners)| {
            let (uid, gid) = owners.split_once(':')?;
            Some((u32::from_str_radix(mode, 8).ok()?, (uid.parse().ok()?, gid.parse().ok()?)))
        })
        .unwrap_or_else(|| panic!("no mode and owners: {text:?}"))
}

fn status_of(path: &Path, place: &Place) -> FileStatus {
    let (kind, bytes) = match &place.content {
        Content::Bytes(bytes) => (FileKind::File, bytes.len() as u64),
        Content::Forbidden => (FileKind::File, 0),
        Content::Folder => (FileKind::Folder, 0),
        Content::Link(_) => (FileKind::Link, 0),
    };
    let numbers = path.as_os_str().as_encoded_bytes().iter();
    let number = numbers.fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(*byte));
    FileStatus {
        kind,
        uid: place.owners.0,
        gid: place.owners.1,
        mode: place.mode,
        bytes,
        stored_bytes: bytes.next_multiple_of(4096),
        identity: (1, number),
    }
}

impl Machine for ScriptedHost {
    fn start(&self, launch: Launch) -> Result<Box<dyn RunningProgram>, HostError> {
        Err(HostError::new("run", Path::new(launch.program()), io::ErrorKind::Unsupported.into()))
    }

    fn signal_process(&self, pid: u32, _signal: EndSignal) -> Result<(), HostError> {
        self.link_status(&kernel::process_path(pid, "stat"))?;
        self.remove(&kernel::process_path(pid, ""));
        Ok(())
    }

    fn keep_on(&self, thread: u32, _processors: &[usize]) -> Result<(), HostError> {
        self.link_status(&kernel::process_path(thread, "")).map(drop)
    }
}

impl Host for ScriptedHost {
    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, HostError> {
        let bytes = self.bytes(path).and_then(|bytes| dbdyno_files::read_from(&*bytes, most));
        bytes.map_err(|error| HostError::new("read", path, error))
    }

    fn read_at(&self, path: &Path, offset: u64, most: u64) -> Result<Vec<u8>, HostError> {
        let bytes = self.bytes(path).map_err(|error| HostError::new("read", path, error))?;
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        Ok(rest[..rest.len().min(most as usize)].to_vec())
    }

    fn names(&self, folder: &Path) -> Result<Vec<OsString>, HostError> {
        self.listed(folder).map_err(|error| HostError::new("listed", folder, error))
    }

    fn link_target(&self, path: &Path) -> Result<PathBuf, HostError> {
        let found = match self.place(path) {
            Ok(Place { content: Content::Link(target), .. }) => Ok(target),
            Ok(Place { content: Content::Forbidden, .. }) => {
                Err(io::ErrorKind::PermissionDenied.into())
            }
            Ok(_) => Err(io::ErrorKind::InvalidInput.into()),
            Err(error) => Err(error),
        };
        found.map_err(|error| HostError::new("read as a link", path, error))
    }

    fn status(&self, path: &Path) -> Result<FileStatus, HostError> {
        let (end, place) =
            self.end_of(path).map_err(|error| HostError::new("looked at", path, error))?;
        Ok(status_of(&end, &place))
    }

    fn link_status(&self, path: &Path) -> Result<FileStatus, HostError> {
        let place = self.place(path).map_err(|error| HostError::new("looked at", path, error))?;
        Ok(status_of(path, &place))
    }

    fn without_links(&self, path: &Path) -> Result<PathBuf, HostError> {
        let end = self.end_of(path).map_err(|error| HostError::new("followed", path, error))?;
        Ok(end.0)
    }

    fn interface_addresses(&self) -> Result<Vec<IpAddr>, HostError> {
        Ok(self.addresses.clone())
    }

    fn cpu_ns(&self, pid: u32) -> Option<u64> {
        self.cpu_ns.lock().expect("no test panics here").get(&pid).copied()
    }

    fn tick_ns(&self) -> u64 {
        10_000_000
    }

    fn process_memory(&self, pid: u32) -> Option<Box<dyn ProcessMemory>> {
        let text = self.kernel_text(&kernel::process_path(pid, "pagemap"))?;
        Some(Box::new(ScriptedMemory(text.lines().map(piece_of).collect())))
    }

    fn own_pid(&self) -> Option<u32> {
        self.own_pid
    }
}
