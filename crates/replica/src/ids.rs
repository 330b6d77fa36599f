//! Numbers of transactions, and what stands for a row.

use std::fmt;

use dbdyno_model::random::mix_bits;

/// The place of a transaction in the one order of all: 1, 2, 3, …
///
/// MySQL's `sequence_number`. 0 is before all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(pub u64);

impl Sequence {
    /// Before the first.
    pub const NONE: Sequence = Sequence(0);

    /// The one after it.
    #[inline]
    #[must_use]
    pub fn next(self) -> Sequence {
        Sequence(self.0 + 1)
    }

    /// The one before it; before the first there is none.
    #[inline]
    #[must_use]
    pub fn before(self) -> Sequence {
        Sequence(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What stands for a value of a unique key: 64 bits of a hash, as in the writesets of MySQL
/// (`transaction_write_set_extraction`). Two that are the same by chance make a dependency or a
/// conflict that there is not; none that there is gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey(pub u64);

/// So that not all that is zero has zero for its hash.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl RowKey {
    /// That of a key's bytes in the index with this number. It stands in logs: it stays as it is.
    ///
    /// Eight bytes at a time through the mixer of SplitMix64.
    #[inline]
    pub fn of_index_key(index: u32, key: &[u8]) -> RowKey {
        let (words, rest) = key.as_chunks::<8>();
        let start =
            mix_bits(GOLDEN_GAMMA ^ (u64::from(index) << 32 | key.len() as u64 & 0xffff_ffff));
        let hash =
            words.iter().fold(start, |hash, word| hash_step(hash, u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        RowKey(mix_bits(hash_step(hash, u64::from_le_bytes(last))))
    }
}

fn hash_step(hash: u64, word: u64) -> u64 {
    mix_bits(hash ^ word).wrapping_add(hash.rotate_left(23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn keys_that_differ_a_little_have_other_numbers() {
        let mut seen = HashSet::new();
        for index in 0..4 {
            for key in 0..10_000_u64 {
                for length in [1, 3, 8, 9, 17] {
                    let mut bytes = [0; 17];
                    bytes[..8].copy_from_slice(&key.to_be_bytes());
                    bytes[9..].copy_from_slice(&key.to_le_bytes());
                    if length >= 8 || key < 1 {
                        assert!(seen.insert(RowKey::of_index_key(index, &bytes[..length])));
                    }
                }
            }
        }
    }

    #[test]
    fn what_stands_in_logs_stays_as_it_is() {
        let known =
            [RowKey::of_index_key(0, b""), RowKey::of_index_key(7, b"a key of 20 bytes...")];
        assert_eq!(known.map(|key| key.0), [8_737_740_127_629_949_287, 1_903_587_640_271_340_439]);
    }
}
