//! What the online judge keeps of versions: their readers, and which are gone.

use std::hash::Hasher;

use crate::history::{UNKNOWN, WriteId};

/// Readers of a version that are kept before those are looked for that are gone.
const READERS_KEPT: u32 = 64;

/// Readers of a version.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) head: u32,
    count: u32,
    look_at: u32,
}

pub(super) const EMPTY: List = List { head: UNKNOWN, count: 0, look_at: READERS_KEPT };

/// All lists of readers.
#[derive(Debug, Default)]
pub(super) struct Readers {
    pub(super) all: Vec<Reader>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    pub(super) number: u32,
    /// It read the latest version, not that of a snapshot.
    pub(super) is_current: bool,
    pub(super) next: u32,
}

impl Readers {
    /// One more; those before `floor` go when there are many.
    pub(super) fn add_reader(
        &mut self,
        list: List,
        number: u32,
        is_current: bool,
        floor: u32,
    ) -> List {
        let mut list = list;
        if list.count >= list.look_at {
            list = self.prune_readers(list, floor);
            list.look_at = READERS_KEPT.max(2 * list.count);
        }
        let reader = Reader { number, is_current, next: list.head };
        let place = match self.free.pop() {
            Some(place) => {
                self.all[place as usize] = reader;
                place
            }
            None => {
                self.all.push(reader);
                self.all.len() as u32 - 1
            }
        };
        List { head: place, count: list.count + 1, ..list }
    }

    /// The list without those before `floor`.
    pub(super) fn prune_readers(&mut self, list: List, floor: u32) -> List {
        let (mut kept, mut at) = (EMPTY, list.head);
        while at != UNKNOWN {
            let reader = self.all[at as usize];
            if reader.number < floor {
                self.free.push(at);
            } else {
                self.all[at as usize].next = kept.head;
                kept = List { head: at, count: kept.count + 1, ..kept };
            }
            at = reader.next;
        }
        kept
    }
}

/// Ids are dense: a multiplication spreads them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dense(u64);

impl Hasher for Dense {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }
    fn write_u32(&mut self, id: u32) {
        // 2⁶⁴ divided by the golden ratio: Knuth, *Sorting and Searching*, 6.4.
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A set of ids.
#[derive(Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn set(&mut self, id: WriteId) {
        let place = id as usize / 64;
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] |= 1 << (id % 64);
    }

    pub(super) fn has_id(&self, id: WriteId) -> bool {
        self.0.get(id as usize / 64).is_some_and(|word| word & 1 << (id % 64) != 0)
    }
}
