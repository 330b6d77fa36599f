//! What a write is called, in rows and in records.

/// The name of a write: the client, and which of its writes in this round.
///
/// In a row it is one number, `number << 14 | client + 1`, which is never 0, the value of a row
/// that nobody wrote. Names of a client grow, and are distinct amounts for a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteName {
    /// Who writes, from 0.
    pub client: u32,
    /// Which of its writes, from 1.
    pub number: u32,
}

const CLIENT_BITS: u32 = 14;

impl WriteName {
    /// Clients that have names.
    pub(crate) const CLIENTS_MOST: u32 = (1 << CLIENT_BITS) - 1;

    /// As it stands in a row.
    #[must_use]
    pub fn pack(self) -> u64 {
        u64::from(self.number) << CLIENT_BITS | u64::from(self.client + 1)
    }

    /// The name that a number in a row stands for, if it is one.
    #[must_use]
    pub fn unpack(packed: u64) -> Option<WriteName> {
        let client = (packed & u64::from(WriteName::CLIENTS_MOST)) as u32;
        let number = u32::try_from(packed >> CLIENT_BITS).ok()?;
        (client > 0 && number > 0).then(|| WriteName { client: client - 1, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_being_packed_and_other_numbers_are_none() {
        for client in [0, 1, 77, WriteName::CLIENTS_MOST - 1] {
            for number in [1, 2, u32::MAX] {
                let name = WriteName { client, number };
                assert_eq!(WriteName::unpack(name.pack()), Some(name));
            }
        }
        for packed in [0, 1, WriteName::CLIENTS_MOST.into(), 1 << CLIENT_BITS, u64::MAX] {
            assert_eq!(WriteName::unpack(packed), None, "{packed}");
        }
    }
}
