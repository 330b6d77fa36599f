//! Which transactions are active, asked one at a time: a table in shards.
//!
//! ```text
//!   id mod shards ──► shard [latch | ids]  shard [latch | ids]  …        a line each
//! ```
//!
//! MySQL parted this table from the latch of its views (WL#10314, 256 shards by id), so that
//! asking about one transaction does not stop those that open views. With one shard all ask at one
//! latch.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use crate::ids::TrxId;
use crate::sync::Mutex;

/// Active transactions by id.
#[derive(Debug)]
pub(super) struct Registry {
    shards: Box<[Shard]>,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    ids: Mutex<HashSet<u64, BuildHasherDefault<Spread>>>,
}

impl Registry {
    pub(super) fn new(shards: u32) -> Registry {
        Registry { shards: (0..shards.max(1)).map(|_| Shard::default()).collect() }
    }

    /// Takes in one that begins.
    pub(super) fn insert_trx(&self, trx: TrxId) {
        let fresh = self.shard(trx).lock().expect("nobody panics over a shard").insert(trx.0);
        assert!(fresh, "transaction {trx} began twice");
    }

    /// Takes out one that ended.
    pub(super) fn remove_trx(&self, trx: TrxId) {
        let was = self.shard(trx).lock().expect("nobody panics over a shard").remove(&trx.0);
        assert!(was, "transaction {trx} ended and was not active");
    }

    /// Whether it began and has not ended.
    pub(super) fn contains(&self, trx: TrxId) -> bool {
        self.shard(trx).lock().expect("nobody panics over a shard").contains(&trx.0)
    }

    fn shard(&self, trx: TrxId) -> &Mutex<HashSet<u64, BuildHasherDefault<Spread>>> {
        &self.shards[(trx.0 % self.shards.len() as u64) as usize].ids
    }
}

/// Spreads ids, which come from ourselves and in order: one multiplication by 2⁶⁴ ÷ the golden
/// ratio (Knuth, "The Art of Computer Programming" 3, § 6.4).
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, id: u64) {
        let product = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("ids are hashed, nothing else");
    }
}
