//! How long the memory of a server takes to be reached, and fetching what was taken away.
//!
//! ```text
//!   /proc/PID/maps      mappings that may be written: of the process alone, or shared with others
//!   /proc/PID/pagemap   which of their pages the kernel has in memory; no others are read
//!   process_vm_readv    a byte of such a page: a microsecond — or a hundred, if the host of this
//!                       virtual machine has taken the page away and must bring it back
//! ```
//!
//! A hypervisor may take pages away that rest and give them back when they are touched; the kernel
//! of the guest knows nothing of it, counts no fault, and charges the time to whoever touches the
//! page. A server that is asked for rows all over its tables pays for pages that rested while
//! others were measured, and its neighbour with the same tables pays less or more by luck
//! (`docs/journal/2026-11-26-memory-at-rest.md`). Pages in the guest's own swap are left alone.

use std::collections::BTreeMap;
use std::ops::Range;

use dbdyno_host::{Host, ProcessMemory, kernel};

use crate::error::NotObservable;
use crate::server::ServerProbe;

const PAGE: u64 = 4096;
/// Mappings that end beyond this are reserved addresses, of which hardly any has memory.
const LARGEST: u64 = 256 << 30;
/// A page that takes longer than this was not there, nor than so many times the quickest one: where
/// the kernel is slow by itself, it is slow with all of them.
const AWAY_NS: u64 = 10_000;
const AWAY_TIMES: u64 = 10;
/// Addresses that are tried for each page that is to be found in memory.
const TRIES: usize = 16;
/// Pages that are looked up, and read, at once.
const CHUNK: usize = 512;

/// What reading pages showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// Pages that were read, each for itself.
    pub pages: u64,
    /// Those of them that had been taken away.
    pub away: u64,
    /// What reading those took, nanoseconds, all of them together.
    pub away_ns: u64,
}

/// The memory of a server's processes, by the mappings that they had when they were looked at.
pub struct HeldMemory {
    processes: Vec<ProcessMappings>,
}

struct ProcessMappings {
    memory: Box<dyn ProcessMemory>,
    mappings: Vec<Mapping>,
}

/// Addresses of a mapping, and of what it is a part if others map it too.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    addresses: Range<u64>,
    shared: Option<SharedMapping>,
}

/// A piece of memory that several processes map: its file, and where in it a mapping begins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SharedMapping {
    file: String,
    offset: u64,
}

impl ServerProbe {
    /// The memory that the server's processes hold now; `None` if the kernel does not let us look,
    /// or has pages of another size than is usual.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn held_memory(&self) -> Result<Option<HeldMemory>, NotObservable> {
        let pids = self.process_ids()?.into_iter();
        let processes: Vec<ProcessMappings> =
            pids.filter_map(|pid| ProcessMappings::of(self.host(), pid)).collect();
        Ok((!processes.is_empty()).then_some(HeldMemory { processes }))
    }
}

impl HeldMemory {
    /// Reads a byte from each of so many pages, chosen by these random numbers; fewer where hardly
    /// any address has memory.
    pub fn sample(&self, pages: usize, mut random: impl FnMut() -> u64) -> Reach {
        let mut took_ns = Vec::with_capacity(pages);
        let mappings = || {
            let all = self.processes.iter();
            all.flat_map(|process| process.mappings.iter().map(move |of| (process, of)))
        };
        let total: u64 = mappings().map(|(_, mapping)| mapping.pages()).sum();
        for _ in 0..pages * TRIES {
            if total == 0 || took_ns.len() == pages {
                break;
            }
            let mut at = random() % total;
            let found = mappings().find(|(_, mapping)| match at.checked_sub(mapping.pages()) {
                Some(behind) => {
                    at = behind;
                    false
                }
                None => true,
            });
            let Some((process, mapping)) = found else { break };
            let address = mapping.addresses.start + at * PAGE;
            if process.memory.resident_pages(address, 1).first() == Some(&true) {
                took_ns.extend(process.memory.touch_ns(address));
            }
        }
        Reach::of(&took_ns)
    }

    /// Reads a byte of every page that is in memory, so that the host has all of them back; returns
    /// how many there were. Of memory that processes share, each page is read once.
    pub fn fetch(&self) -> u64 {
        let mut read: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        let mut pages = 0;
        for process in &self.processes {
            for mapping in &process.mappings {
                let seen = mapping.shared.as_ref().map(|of| {
                    let seen = read.entry(of.file.as_str()).or_default();
                    let end = of.offset / PAGE + mapping.pages();
                    seen.resize(seen.len().max(end as usize), false);
                    &mut seen[(of.offset / PAGE) as usize..]
                });
                pages += process.fetch(mapping, seen);
            }
        }
        pages
    }
}

impl Reach {
    /// By what each page took.
    fn of(took_ns: &[u64]) -> Reach {
        let quickest = took_ns.iter().copied().min().unwrap_or(0);
        let limit = AWAY_NS.max(AWAY_TIMES * quickest);
        let away = || took_ns.iter().filter(|took| **took > limit);
        let (pages, away_ns) = (took_ns.len() as u64, away().sum());
        Reach { pages, away: away().count() as u64, away_ns }
    }
}

impl ProcessMappings {
    /// `None` for a process that has ended or may not be looked into.
    fn of(host: &dyn Host, pid: u32) -> Option<ProcessMappings> {
        let maps = host.kernel_text(&kernel::process_path(pid, "maps"))?;
        let mappings: Vec<Mapping> = maps.lines().filter_map(Mapping::read).collect();
        let memory = host.process_memory(pid)?;
        (!mappings.is_empty()).then_some(ProcessMappings { memory, mappings })
    }

    /// Reads the pages of a mapping that are in memory and not `seen`, and notes them as seen.
    fn fetch(&self, mapping: &Mapping, mut seen: Option<&mut [bool]>) -> u64 {
        let mut fetched = 0;
        for from in (0..mapping.pages() as usize).step_by(CHUNK) {
            let count = CHUNK.min(mapping.pages() as usize - from);
            let begin = mapping.addresses.start + from as u64 * PAGE;
            let mut there = Vec::new();
            for (at, present) in self.memory.resident_pages(begin, count).into_iter().enumerate() {
                let is_known = seen.as_deref_mut().is_some_and(|seen| {
                    let before = seen[from + at];
                    seen[from + at] |= present;
                    before
                });
                if present && !is_known {
                    there.push(begin + at as u64 * PAGE);
                }
            }
            if !there.is_empty() {
                fetched += self.memory.touch_addresses(&there) as u64;
            }
        }
        fetched
    }
}

impl Mapping {
    fn pages(&self) -> u64 {
        (self.addresses.end - self.addresses.start) / PAGE
    }

    /// A line of maps, if memory is behind it and no file: `start-end rw-p offset dev inode path`.
    fn read(line: &str) -> Option<Mapping> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let addresses = number(start)?..number(end)?;
        let permissions = words.next()?;
        let offset = number(words.next()?)?;
        let (device, inode) = (words.next()?, words.next()?);
        let path = words.next().unwrap_or_default();
        let bytes = addresses.end.checked_sub(addresses.start)?;
        let is_small = offset.checked_add(bytes)? <= LARGEST;
        let is_written = permissions.starts_with("rw");
        let is_memory = ["/dev/zero", "/SYSV", "/dev/shm/", "/memfd:", "[anon_shmem"];
        let shared = match permissions.ends_with('s') {
            true if is_memory.iter().any(|name| path.starts_with(name)) => {
                Some(SharedMapping { file: format!("{device} {inode}"), offset })
            }
            true => return None,
            false if inode != "0" => return None,
            false => None,
        };
        (is_small && is_written).then_some(Mapping { addresses, shared })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dbdyno_host::{Local, ScriptedHost, SharedHost, local_host};

    use super::*;

    #[test]
    fn memory_is_told_from_files_and_from_addresses_that_are_only_reserved() {
        let memory = "7f00-9f00 rw-p 00000000 00:00 0 ";
        let found = Mapping::read(memory).unwrap();
        assert_eq!((found.addresses, found.shared), (0x7f00..0x9f00, None));
        assert!(Mapping::read("1000-2000 rw-p 00000000 00:00 0    [heap]").is_some());
        let shared = "1000-5000 rw-s 00002000 00:01 1034   /dev/zero (deleted)";
        let file = Some(SharedMapping { file: "00:01 1034".to_owned(), offset: 0x2000 });
        assert_eq!(Mapping::read(shared).unwrap().shared, file);
        for none in [
            "1000-2000 r-xp 00000000 fe:00 77   /usr/sbin/mysqld",
            "1000-2000 rw-p 00000000 fe:00 77   /usr/sbin/mysqld",
            "1000-2000 rw-s 00000000 fe:00 78   /var/lib/mysql/data.mdb",
            "1000-2000 ---p 00000000 00:00 0",
            "1000-80000000000 rw-p 00000000 00:00 0",
            "1000-2000 rw-s fffffffffffff000 00:01 1034   /dev/zero (deleted)",
            "1000-2000 rw-s 80000000000 00:01 1034   /dev/zero (deleted)",
            "2000-1000 rw-p 00000000 00:00 0",
            "",
            "nothing of the kind",
        ] {
            assert_eq!(Mapping::read(none), None, "{none}");
        }
    }

    #[test]
    fn pages_that_were_written_are_found_and_read_and_no_others() {
        // Of 64 pages, the odd ones are written; the others have no memory, unless the kernel gives
        // it in large pieces. So much room is mapped anew, and not what somebody had freed.
        let pages = 64;
        let mut block = Vec::<u8>::with_capacity(64 << 20);
        let start = (block.as_ptr() as u64).next_multiple_of(PAGE);
        let base = (start - block.as_ptr() as u64) as usize;
        for page in (1..pages).step_by(2) {
            block.spare_capacity_mut()[base + page * PAGE as usize].write(7);
        }
        let own = ProcessMappings::of(&Local, std::process::id()).unwrap();
        let addresses = start..start + pages as u64 * PAGE;
        let mapping = Mapping { addresses, shared: None };
        let before = own.memory.resident_pages(start, pages);
        let written = before.iter().filter(|there| **there).count();
        assert!((pages / 2..=pages).contains(&written), "{written}");
        assert_eq!(own.fetch(&mapping, None), written as u64);
        assert_eq!(own.memory.resident_pages(start, pages), before, "reading gives no memory");

        let mut seen = vec![false; pages];
        assert_eq!(own.fetch(&mapping, Some(&mut seen)), written as u64);
        assert_eq!(own.fetch(&mapping, Some(&mut seen)), 0, "each page once");

        let mut next = 0;
        let random = || {
            next += 1;
            next * 7
        };
        let held =
            HeldMemory { processes: vec![ProcessMappings { mappings: vec![mapping], ..own }] };
        let reach = held.sample(20, random);
        assert_eq!(reach.pages, 20);
        assert!(reach.away <= reach.pages);
    }

    #[test]
    fn pages_that_take_far_longer_than_others_were_away() {
        let reach = Reach::of(&[700, 1_100, 9_900, 110_000, 900, 90_000]);
        assert_eq!(reach, Reach { pages: 6, away: 2, away_ns: 200_000 });
        // A kernel that is slow with each of them has taken none away.
        assert_eq!(Reach::of(&[12_000, 15_000, 31_000, 119_000]).away, 0);
        assert_eq!(Reach::of(&[12_000, 15_000, 31_000, 121_000]).away, 1);
    }

    /// A postmaster and a backend that share 16 pages, of which each has touched others, and have
    /// one piece each for themselves. Those from 0x20000 on were taken away by the host.
    const SHARING: &str = "\
@ /proc/5/stat
5 (postgres) S 1 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 50
@ /proc/5/maps
10000-20000 rw-s 00000000 00:01 1034   /dev/zero (deleted)
20000-24000 rw-p 00000000 00:00 0
@ /proc/5/pagemap
10000 18000 700
20000 24000 150000
@ /proc/6/stat
6 (postgres) S 5 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 60
@ /proc/6/maps
30000-40000 rw-s 00000000 00:01 1034   /dev/zero (deleted)
50000-51000 rw-p 00000000 00:00 0      [heap]
@ /proc/6/pagemap
34000 3c000 700
50000 51000 900
";

    #[test]
    fn memory_that_processes_share_is_fetched_once_and_what_was_away_is_told() {
        let host: SharedHost = Arc::new(ScriptedHost::new(SHARING));
        let held = ServerProbe::of_process(&host, 5).held_memory().unwrap().unwrap();
        // 12 of the 16 that they share, 4 of one and 1 of the other.
        assert_eq!(held.fetch(), 12 + 4 + 1);
        let mut pages = 0..;
        let reach = held.sample(21, || pages.next().unwrap());
        assert_eq!(reach, Reach { pages: 21, away: 4, away_ns: 4 * 150_000 });
    }

    #[test]
    fn memory_that_may_not_be_looked_at_is_not_known() {
        let host = ScriptedHost::new(SHARING);
        for pid in [5, 6] {
            host.add_places(&format!("@ /proc/{pid}/pagemap !"));
        }
        let host: SharedHost = Arc::new(host);
        let held = ServerProbe::of_process(&host, 5).held_memory().unwrap();
        assert!(held.is_none());
    }

    #[test]
    fn the_memory_of_this_process_and_of_none() {
        let block = vec![1u8; 256 * PAGE as usize];
        let held = ServerProbe::of_process(&local_host(), std::process::id())
            .held_memory()
            .unwrap()
            .unwrap();
        assert!(held.fetch() >= 256);
        drop(block);
        let empty = HeldMemory { processes: Vec::new() };
        assert_eq!((empty.sample(5, || 3), empty.fetch()), (Reach::default(), 0));
    }
}
