//! A part of the lock table: the queues of the places whose hash falls into it.
//!
//! ```text
//!   place ──hash──► shard ──► heads: hash → slot ──► slots: │ queue │ queue │ free │ queue │ …
//!                                                            └─ next of the same hash ──►
//! ```
//!
//! A queue stays in its slot as long as anybody holds or waits for something there. So a
//! transaction remembers eight bytes for each place, and gives it back without looking for it.
//! Slots are used again with what they have allocated.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::address::Address;
use super::claims::Claim;
use super::queue::{Queue, QueueAnswer};
use super::request::Place;
use super::transaction::LockTrx;
use crate::ids::{IndexId, TableId};
use crate::sync::Arc;

/// The name of a place: of a row, of what lies after the last row, or of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot<'a> {
    /// What it is, and of which index or table.
    room: u64,
    key: &'a [u8],
}

/// One part of the lock table.
#[derive(Debug, Default)]
pub(super) struct Shard {
    heads: HashMap<u64, u32, BuildHasherDefault<Identity>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    hash: u64,
    room: u64,
    key: Vec<u8>,
    /// The next slot with the same hash, or [`NONE`].
    next: u32,
    queue: Queue,
}

const NONE: u32 = u32::MAX;
/// Slots beyond so many give their memory back when they are not used.
const KEPT: usize = 4_096;
const SUPREMUM: u64 = 1;
const TABLE: u64 = 2;
/// An odd number without a pattern: the golden ratio.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

impl<'a> Spot<'a> {
    pub(super) fn of_row(index: IndexId, place: Place<'a>) -> Spot<'a> {
        let room = u64::from(index.0) << 2;
        match place {
            Place::Key(key) => Spot { room, key },
            Place::Supremum => Spot { room: room | SUPREMUM, key: &[] },
        }
    }

    pub(super) fn table(table: TableId) -> Spot<'a> {
        Spot { room: u64::from(table.0) << 2 | TABLE, key: &[] }
    }

    /// A number of which all bits depend on all of the name.
    pub(super) fn hash(&self) -> u64 {
        let start = mix(self.room ^ (self.key.len() as u64) << 48);
        let (words, rest) = self.key.as_chunks::<8>();
        let hash = words.iter().fold(start, |hash, word| mix(hash ^ u64::from_le_bytes(*word)));
        let rest = rest.iter().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
        mix(hash ^ rest)
    }

    /// The index, and the key if it is not the gap after the last one; `None` for a table.
    pub(super) fn of_index(&self) -> Option<(IndexId, Option<&'a [u8]>)> {
        let index = IndexId((self.room >> 2) as u32);
        let key = (self.room & SUPREMUM == 0).then_some(self.key);
        (self.room & TABLE == 0).then_some((index, key))
    }

    /// In words, as deadlocks are printed.
    pub(super) fn in_words(&self) -> String {
        let number = self.room >> 2;
        if self.room & TABLE != 0 {
            return format!("table {number}");
        }
        if self.room & SUPREMUM != 0 {
            return format!("index {number} after the last key");
        }
        let hex: String = self.key.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("index {number} key {hex}")
    }
}

impl Shard {
    /// Asks for a claim on a place; this is shard `number`. After a conflict a claim is at the
    /// place that is told, else perhaps none.
    pub(super) fn request_claim(
        &mut self,
        trx: &Arc<LockTrx>,
        spot: Spot<'_>,
        hash: u64,
        claim: Claim,
        number: u32,
    ) -> (QueueAnswer, Address) {
        let at = |slot| Address { shard: number, slot };
        match self.find(spot, hash) {
            Some(slot) => (self.queue(slot).request_claim(trx, claim, at(slot)), at(slot)),
            // Where no claim is, nothing is kept of an intention.
            None if claim.held_part().is_none() => (QueueAnswer::Granted, at(NONE)),
            None => {
                let slot = self.make(spot, hash);
                (self.queue(slot).request_claim(trx, claim, at(slot)), at(slot))
            }
        }
    }

    /// The slot of a place where anybody holds or waits for something.
    pub(super) fn find(&self, spot: Spot<'_>, hash: u64) -> Option<u32> {
        let mut slot = *self.heads.get(&hash)?;
        while slot != NONE {
            let found = &self.slots[slot as usize];
            if found.spot() == spot {
                return Some(slot);
            }
            slot = found.next;
        }
        None
    }

    /// The slot of a place, which is made if there is none.
    pub(super) fn find_or_make(&mut self, spot: Spot<'_>, hash: u64) -> u32 {
        self.find(spot, hash).unwrap_or_else(|| self.make(spot, hash))
    }

    fn make(&mut self, spot: Spot<'_>, hash: u64) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 places are locked")
        });
        let next = self.heads.insert(hash, slot).unwrap_or(NONE);
        let made = &mut self.slots[slot as usize];
        made.key.clear();
        made.key.extend_from_slice(spot.key);
        (made.hash, made.room, made.next) = (hash, spot.room, next);
        slot
    }

    pub(super) fn queue(&mut self, slot: u32) -> &mut Queue {
        &mut self.slots[slot as usize].queue
    }

    /// The name of the place of a slot, and its queue.
    pub(super) fn spot_and_queue(&self, slot: u32) -> (Spot<'_>, &Queue) {
        let slot = &self.slots[slot as usize];
        (slot.spot(), &slot.queue)
    }

    /// Frees a slot where nothing is held or waited for any more.
    pub(super) fn free_if_idle(&mut self, slot: u32) {
        let (hash, next) = match &self.slots[slot as usize] {
            used if !used.queue.is_empty() => return,
            idle => (idle.hash, idle.next),
        };
        let head = self.heads.get_mut(&hash).expect("a place in use has its hash");
        if *head == slot {
            match next {
                NONE => drop(self.heads.remove(&hash)),
                next => *head = next,
            }
        } else {
            let mut before = *head;
            while self.slots[before as usize].next != slot {
                before = self.slots[before as usize].next;
            }
            self.slots[before as usize].next = next;
        }
        if self.free.len() >= KEPT {
            self.slots[slot as usize] = Slot::default();
        }
        self.free.push(slot);
    }

    /// Ends all waits here; adds those to wake.
    pub(super) fn interrupt_waits(&mut self, wake: &mut Vec<Arc<LockTrx>>) {
        self.slots.iter_mut().for_each(|slot| slot.queue.interrupt_waits(wake));
    }

    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl Default for Slot {
    fn default() -> Slot {
        Slot { hash: 0, room: 0, key: Vec::new(), next: NONE, queue: Queue::default() }
    }
}

impl Slot {
    fn spot(&self) -> Spot<'_> {
        Spot { room: self.room, key: &self.key }
    }
}

fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ MIX) * u128::from(MIX);
    product as u64 ^ (product >> 64) as u64
}

/// A hash is its own hash.
#[derive(Default)]
pub(super) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only hashes are hashed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_the_same_hash_are_told_apart() {
        let mut shard = Shard::default();
        let keys = [b"a".as_slice(), b"b", b"c", b""];
        let spots = keys.map(|key| Spot::of_row(IndexId(1), Place::Key(key)));
        let slots = spots.map(|spot| shard.find_or_make(spot, 7));
        for (spot, slot) in spots.iter().zip(slots) {
            assert_eq!(shard.find(*spot, 7), Some(slot));
        }
        let end = Spot::of_row(IndexId(1), Place::Supremum);
        assert_eq!(shard.find(end, 7), None, "after the last key is not the empty key");
        for gone in [1, 3, 0, 2] {
            shard.free_if_idle(slots[gone]);
            assert_eq!(shard.find(spots[gone], 7), None);
        }
        assert_eq!((shard.places(), shard.heads.len()), (0, 0));
        assert_eq!(shard.find_or_make(end, 7), slots[2], "slots are used again");
    }
}
