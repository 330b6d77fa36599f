//! A terminal: where it stands, and what its user draws inputs from.

use dbdyno_model::random::RandomStream;

use super::fill::{DISTRICTS, Warehouses};
use super::random::Constants;

/// One terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terminal {
    /// Size of the tables.
    pub size: Warehouses,
    /// Constants of NURand.
    pub constants: Constants,
    /// Its warehouse, from 1.
    pub warehouse: i64,
    /// Its district, from 1, for Stock-Level.
    pub district: i64,
}

impl Terminal {
    /// Terminal number `client`. Neighbours sit in different warehouses; when every warehouse has
    /// one, the next district gets its own.
    pub(super) fn new(size: Warehouses, client: u32) -> Terminal {
        let client = u64::from(client);
        Terminal {
            size,
            constants: Constants::from_seed(size.seed),
            warehouse: (1 + client % size.warehouses) as i64,
            district: (1 + client / size.warehouses % DISTRICTS) as i64,
        }
    }

    /// A warehouse that is not this one; with one warehouse there is no other.
    pub(crate) fn other_warehouse(&self, random: &mut RandomStream) -> i64 {
        let others = self.size.warehouses - 1;
        if others == 0 {
            return self.warehouse;
        }
        let other = 1 + random.next_below(others) as i64;
        if other < self.warehouse { other } else { other + 1 }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use dbdyno_model::random;

    use super::*;

    pub(crate) fn terminal(warehouses: u64, client: u32) -> Terminal {
        let size = Warehouses { warehouses, items: 100_000, customers: 3000, seed: 5 };
        Terminal::new(size, client)
    }

    pub(crate) fn draws<T>(count: u64, mut draw: impl FnMut(&mut RandomStream) -> T) -> Vec<T> {
        (0..count).map(|operation| draw(&mut random::stream(&[99, operation]))).collect()
    }

    #[test]
    fn terminals_are_spread_over_warehouses_then_districts() {
        let seat = |client| {
            let terminal = terminal(3, client);
            (terminal.warehouse, terminal.district)
        };
        assert_eq!([0, 1, 2, 3].map(seat), [(1, 1), (2, 1), (3, 1), (1, 2)]);
        let all: std::collections::BTreeSet<_> = (0..30).map(seat).collect();
        assert_eq!(all.len(), 30, "ten terminals for each warehouse");
        assert_eq!(seat(30), (1, 1));
    }

    #[test]
    fn other_warehouses_are_all_the_others() {
        let terminal = terminal(4, 1);
        let mut cells = [0; 5];
        for warehouse in draws(3_000, |random| terminal.other_warehouse(random)) {
            cells[warehouse as usize] += 1;
        }
        assert_eq!((cells[0], cells[2]), (0, 0), "its own");
        assert!([1, 3, 4].iter().all(|&other| (850..1150).contains(&cells[other])), "{cells:?}");
    }
}
