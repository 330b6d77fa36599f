//! Which file a process has at an address, as `perf record` notes it.

use std::collections::HashMap;

use super::space::{Mapping, Space};

/// Files by number, each once.
#[derive(Debug, Default)]
pub(super) struct Objects {
    numbers: HashMap<String, u32>,
    paths: Vec<String>,
}

impl Objects {
    pub(super) fn number_of(&mut self, path: &str) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = self.paths.len() as u32;
        self.numbers.insert(path.to_owned(), number);
        self.paths.push(path.to_owned());
        number
    }

    pub(super) fn path(&self, number: u32) -> &str {
        &self.paths[number as usize]
    }
}

/// A place in a file; of the kernel its own address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// Number among [`Objects`].
    pub(super) object: u32,
    /// Offset in the file.
    pub(super) offset: u64,
}

/// Where nothing is mapped.
pub(super) const UNKNOWN: Place = Place { object: u32::MAX, offset: 0 };

/// In front of a stack whose thread could go on, and has no processor.
pub(super) const READY: Place = Place { object: u32::MAX, offset: 1 };

/// What processes have mapped so far.
#[derive(Debug, Default)]
pub(super) struct Maps {
    spaces: HashMap<i32, Space>,
}

impl Maps {
    /// A file, or a part of one, is mapped; what was there is gone.
    pub(super) fn map(&mut self, pid: i32, start: u64, length: u64, object: u32, offset: u64) {
        let end = start.saturating_add(length);
        let mapping = Mapping { start, end, object, shift: offset.wrapping_sub(start) };
        self.spaces.entry(pid).or_default().map(mapping);
    }

    /// A process begins with what its parent has, and both share it.
    pub(super) fn fork(&mut self, parent: i32, child: i32) {
        if parent != child
            && let Some(space) = self.spaces.get(&parent).cloned()
        {
            self.spaces.insert(child, space);
        }
    }

    /// A process becomes another program.
    pub(super) fn exec(&mut self, pid: i32) {
        self.spaces.remove(&pid);
    }

    pub(super) fn place_of(&self, pid: i32, address: u64) -> Option<Place> {
        let mapping = self.spaces.get(&pid)?.mapping_at(address)?;
        Some(Place { object: mapping.object, offset: address.wrapping_add(mapping.shift) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_what_was_mapped_there_last() {
        let mut objects = Objects::default();
        let (server, library) =
            (objects.number_of("/usr/sbin/mysqld"), objects.number_of("/lib/c.so"));
        assert_eq!(objects.number_of("/usr/sbin/mysqld"), server);
        let mut maps = Maps::default();
        maps.map(7, 0x1000, 0x1000, server, 0x400);
        maps.map(7, 0x1800, 0x100, library, 0);
        let place = |maps: &Maps, pid, address| {
            maps.place_of(pid, address).map(|place| (objects.path(place.object), place.offset))
        };
        assert_eq!(place(&maps, 7, 0x1010), Some(("/usr/sbin/mysqld", 0x410)));
        assert_eq!(place(&maps, 7, 0x1801), Some(("/lib/c.so", 1)));
        assert_eq!(place(&maps, 7, 0x1900), Some(("/usr/sbin/mysqld", 0xd00)));
        assert_eq!(place(&maps, 7, 0xfff), None);
        maps.fork(7, 8);
        maps.exec(7);
        assert_eq!(place(&maps, 7, 0x1010), None);
        assert_eq!(place(&maps, 8, 0x1010), Some(("/usr/sbin/mysqld", 0x410)));
    }
}
