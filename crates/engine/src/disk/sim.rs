//! A disk in memory that keeps no more than it promised.
//!
//! ```text
//!   write  [ab]      write [cd]      sync      write [ef]      write [EF]     ✗ crash
//!      └──────┬────────┘               │           │               │
//!             └──── durable ◄──────────┘           └─── each sector: [··] or [ef] or [EF]
//! ```
//!
//! A crash comes at an operation that the test chooses; that operation is done in part, and every
//! later one fails. [`SimDisk::after_crash`] is what the next process finds: all that was synced,
//! and of the rest, for each sector of 512 bytes on its own, what it held after some of its writes.
//! So writes are lost, torn, and overtake each other; a file's length and its bytes do too. Names
//! are durable in the order in which they were changed, as in a file system with a journal, up to
//! some change that was not yet synced.
//!
//! An operation can also fail without a crash: a write half done, as on a full disk, a change of
//! names not at all. When a sync fails, its bytes can still be read, and never become durable: what
//! Linux does with a page whose writing failed.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use dbdyno_model::random::{RandomStream, stream};

use super::{Disk, File};
use crate::sync::Mutex;

/// What is written as one, bytes.
const SECTOR: usize = 512;

/// The disk, empty at first. Clones are the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    files: Vec<Content>,
    names: BTreeMap<String, usize>,
    /// Changes of names since the directory was synced, oldest first.
    renamed: Vec<BTreeMap<String, usize>>,
    durable_names: BTreeMap<String, usize>,
    operations: u64,
    crash_at: Option<u64>,
    fail_at: Option<u64>,
    fail_sync_at: Option<u64>,
    crashed: bool,
}

#[derive(Clone, Default)]
struct Content {
    /// What readers see.
    bytes: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

struct SimFile {
    disk: SimDisk,
    index: usize,
}

impl SimDisk {
    /// Operations that changed or synced something, so far.
    pub fn operations(&self) -> u64 {
        self.with(|state| state.operations)
    }

    /// Crashes in the midst of the operation that has so many before it.
    pub fn crash_at(&self, operation: u64) {
        self.with(|state| state.crash_at = Some(operation));
    }

    /// Lets the operation that has so many before it fail.
    pub fn fail_at(&self, operation: u64) {
        self.with(|state| state.fail_at = Some(operation));
    }

    /// Lets the operation that has so many before it fail and lose its bytes, if it is a sync.
    pub fn fail_sync_at(&self, operation: u64) {
        self.with(|state| state.fail_sync_at = Some(operation));
    }

    /// Whether the crash has come.
    pub fn has_crashed(&self) -> bool {
        self.with(|state| state.crashed)
    }

    /// What the next process finds when the power is lost now; this disk stays as it is. The seed
    /// decides what is left of what was not synced.
    #[must_use]
    pub fn after_crash(&self, seed: u64) -> SimDisk {
        let after = SimDisk::default();
        let mut random = stream(&[seed]);
        let (files, names) = self.with(|state| {
            let kept = random.next_below(state.renamed.len() as u64 + 1) as usize;
            let names = match kept {
                0 => &state.durable_names,
                kept => &state.renamed[kept - 1],
            };
            (
                state.files.iter().map(|content| content.survivors(&mut random)).collect(),
                names.clone(),
            )
        });
        after.with(|state: &mut State| {
            state.files = files;
            state.durable_names.clone_from(&names);
            state.names = names;
        });
        after
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().expect("no thread panics with it"))
    }
}

fn lost() -> io::Error {
    io::Error::other("the simulated disk has lost its power")
}

fn failed() -> io::Error {
    io::Error::other("the simulated device has failed")
}

impl State {
    /// Counts an operation. `Ok(false)`: the crash comes in the midst of it.
    fn operation(&mut self) -> io::Result<bool> {
        self.readable()?;
        self.crashed = self.crash_at == Some(self.operations);
        self.operations += 1;
        Ok(!self.crashed)
    }

    /// Whether the operation that comes next fails.
    fn fails(&self) -> bool {
        self.fail_at == Some(self.operations)
    }

    fn readable(&self) -> io::Result<()> {
        if self.crashed { Err(lost()) } else { Ok(()) }
    }

    fn find(&self, name: &str) -> io::Result<usize> {
        self.names
            .get(name)
            .copied()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no {name}")))
    }

    /// Changes names; durable when the directory is synced.
    fn rename(&mut self, change: impl FnOnce(&mut BTreeMap<String, usize>)) -> io::Result<()> {
        let fails = self.fails();
        let whole = self.operation()?;
        if fails {
            return Err(failed());
        }
        change(&mut self.names);
        self.renamed.push(self.names.clone());
        if whole { Ok(()) } else { Err(lost()) }
    }

    fn change(&mut self, index: usize, mut change: Change) -> io::Result<()> {
        let fails = self.fails();
        let whole = self.operation()?;
        if let (Change::Write(_, bytes), true) = (&mut change, fails) {
            bytes.truncate(bytes.len() / 2);
        }
        let content = &mut self.files[index];
        change.apply(&mut content.bytes);
        content.unsynced.push(change);
        match (fails, whole) {
            (true, _) => Err(failed()),
            (false, true) => Ok(()),
            (false, false) => Err(lost()),
        }
    }

    fn sync(&mut self, index: usize) -> io::Result<()> {
        let fails = self.fails() || self.fail_sync_at == Some(self.operations);
        if !self.operation()? {
            return Err(lost());
        }
        let content = &mut self.files[index];
        if fails {
            content.unsynced.clear();
            return Err(failed());
        }
        for change in content.unsynced.drain(..) {
            change.apply(&mut content.durable);
        }
        Ok(())
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::Write(offset, written) => {
                bytes.resize(bytes.len().max(offset + written.len()), 0);
                bytes[*offset..offset + written.len()].copy_from_slice(written);
            }
            Change::Truncate(size) => bytes.resize(*size, 0),
        }
    }
}

impl Content {
    /// What a crash leaves.
    fn survivors(&self, random: &mut RandomStream) -> Content {
        let mut stages = vec![self.durable.clone()];
        for change in &self.unsynced {
            let mut next = stages.last().expect("there is a first").clone();
            change.apply(&mut next);
            stages.push(next);
        }
        let all = stages.len() as u64;
        // Often all or nothing, as when a machine stops long after the last write.
        let bias = random.next_below(4);
        let mut stage = || match bias {
            0 => 0,
            1 => all as usize - 1,
            _ => random.next_below(all) as usize,
        };
        let mut bytes = vec![0; stages[stage()].len()];
        for (index, sector) in bytes.chunks_mut(SECTOR).enumerate() {
            let from = &stages[stage()];
            let from = &from[(index * SECTOR).min(from.len())..];
            let kept = sector.len().min(from.len());
            sector[..kept].copy_from_slice(&from[..kept]);
        }
        Content { durable: bytes.clone(), bytes, unsynced: Vec::new() }
    }
}

impl Disk for SimDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.with(|state| {
            state.readable()?;
            Ok(state.names.keys().cloned().collect())
        })
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let index = self.with(|state| {
            state.files.push(Content::default());
            let index = state.files.len() - 1;
            state.rename(|names| {
                names.insert(name.to_owned(), index);
            })?;
            Ok::<_, io::Error>(index)
        })?;
        Ok(Arc::new(SimFile { disk: self.clone(), index }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let index = self.with(|state| {
            state.readable()?;
            state.find(name)
        })?;
        Ok(Arc::new(SimFile { disk: self.clone(), index }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.with(|state| {
            let index = state.find(from)?;
            state.rename(|names| {
                names.remove(from);
                names.insert(to.to_owned(), index);
            })
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.with(|state| {
            state.find(name)?;
            state.rename(|names| {
                names.remove(name);
            })
        })
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.with(|state| {
            let fails = state.fails();
            if !state.operation()? {
                return Err(lost());
            }
            if fails {
                return Err(failed());
            }
            state.durable_names = state.names.clone();
            state.renamed.clear();
            Ok(())
        })
    }
}

impl File for SimFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.disk.with(|state| {
            state.readable()?;
            let bytes = &state.files[self.index].bytes;
            let from = &bytes[(offset as usize).min(bytes.len())..];
            let read = buffer.len().min(from.len());
            buffer[..read].copy_from_slice(&from[..read]);
            Ok(read)
        })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let write = Change::Write(offset as usize, bytes.to_vec());
        self.disk.with(|state| state.change(self.index, write))
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.with(|state| state.sync(self.index))
    }

    fn size(&self) -> io::Result<u64> {
        self.disk.with(|state| {
            state.readable()?;
            Ok(state.files[self.index].bytes.len() as u64)
        })
    }

    fn truncate(&self, size: u64) -> io::Result<()> {
        self.disk.with(|state| state.change(self.index, Change::Truncate(size as usize)))
    }
}
