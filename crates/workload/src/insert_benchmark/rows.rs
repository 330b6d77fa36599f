//! The rows: sales at a cash register, each a pure function of seed, client and number.
//!
//! ```text
//!   ('2025-01-01 00:00:07',  417,     90210,   4711,  99.00, 'aaaaaaaQ2x8fZ')
//!     dateandtime            register customer product price  data
//!     number / 1000          <1 000   <100 000 <10 000 <500   10 to 20 characters, the first half
//!                                                             'a', the other half random: it can
//!                                                             be compressed by half
//! ```

use std::io::Write as _;

use dbdyno_model::calendar::date_of_days;
use dbdyno_model::random::{self, RandomStream};

/// Values of `cashregisterid` are below this.
pub(crate) const REGISTERS: u64 = 1000;
/// Values of `customerid` are below this.
pub(super) const CUSTOMERS: u64 = 100_000;
/// Values of `productid` are below this.
pub(crate) const PRODUCTS: u64 = 10_000;
/// Values of `price` are below this.
pub(crate) const PRICES: u64 = 500;

/// Rows that carry the same second.
const ROWS_PER_SECOND: u64 = 1000;
/// 2025-01-01, in days since 1970-01-01.
const FIRST_DAY: u64 = 20_089;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// All rows of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsertRows {
    /// Seed of the whole benchmark.
    pub seed: u64,
    /// Which client, from 0.
    pub client: u32,
}

/// One row, without the id that the server gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsertRow {
    /// Seconds since the first row.
    pub second: u64,
    /// Which cash register.
    pub register: u64,
    /// Which customer.
    pub customer: u64,
    /// Which product.
    pub product: u64,
    /// Price.
    pub price: u64,
    data: [u8; 20],
    data_length: usize,
}

impl InsertRows {
    /// Row number `number`, from 0.
    pub(crate) fn row_at(&self, number: u64) -> InsertRow {
        let key = [self.seed, random::key_of("insert-benchmark"), u64::from(self.client), number];
        let mut random = random::stream(&key);
        let mut row = InsertRow {
            second: number / ROWS_PER_SECOND,
            register: random.next_below(REGISTERS),
            customer: random.next_below(CUSTOMERS),
            product: random.next_below(PRODUCTS),
            price: random.next_below(PRICES),
            data: [b'a'; 20],
            data_length: 10 + random.next_below(11) as usize,
        };
        let half = row.data_length / 2;
        random_characters(&mut random, &mut row.data[half..row.data_length]);
        row
    }
}

fn random_characters(random: &mut RandomStream, into: &mut [u8]) {
    let mut bits = random.next_u64();
    for character in into {
        *character = BASE64[(bits % 64) as usize];
        // Ten characters at most, six bits each.
        bits >>= 6;
    }
}

impl InsertRow {
    /// The column `data`.
    pub fn data(&self) -> &[u8] {
        &self.data[..self.data_length]
    }

    /// Appends the row as an INSERT lists it, brackets included.
    pub(crate) fn push_values(&self, sql: &mut Vec<u8>) {
        let (year, month, day) = date_of_days((FIRST_DAY + self.second / 86_400) as i64);
        let second = self.second % 86_400;
        let (hour, minute) = (second / 3600, second / 60 % 60);
        let written = write!(
            sql,
            "('{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}',{},{},{},{}.00,'",
            second % 60,
            self.register,
            self.customer,
            self.product,
            self.price,
        );
        written.expect("writing to memory does not fail");
        sql.extend_from_slice(self.data());
        sql.extend_from_slice(b"')");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_a_function_of_seed_client_and_number() {
        let row = |seed, client, number| InsertRows { seed, client }.row_at(number);
        assert_eq!(row(1, 0, 5), row(1, 0, 5));
        assert_ne!(row(1, 0, 5), row(2, 0, 5));
        assert_ne!(row(1, 0, 5), row(1, 1, 5));
        assert_ne!(row(1, 0, 5), row(1, 0, 6));
    }

    #[test]
    fn values_fill_their_ranges_and_half_of_the_data_compresses() {
        let rows = InsertRows { seed: 3, client: 0 };
        let (mut least, mut most) = (100, 0);
        let (mut price, mut letters) = (0.0, 0);
        for number in 0..20_000 {
            let row = rows.row_at(number);
            assert!(row.register < 1000 && row.customer < 100_000 && row.product < 10_000);
            least = row.data().len().min(least);
            most = row.data().len().max(most);
            price += row.price as f64 / 20_000.0;
            assert!(row.data()[..row.data().len() / 2].iter().all(|&byte| byte == b'a'));
            letters += row.data()[row.data().len() / 2..].iter().filter(|&&c| c == b'a').count();
        }
        assert_eq!((least, most), (10, 20));
        // The mean of 0..500 is 249.5, that of 20 000 of them is within ±1.02 (σ) × 4 of it.
        assert!((price - 249.5).abs() < 4.1, "{price}");
        // About 160 000 random characters, 1 in 64 of them an 'a': 2 500 ± 4 σ of 50.
        assert!((2300..2700).contains(&letters), "{letters}");
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(date_of_days(FIRST_DAY as i64), (2025, 1, 1));
        let mut sql = Vec::new();
        InsertRows { seed: 1, client: 0 }.row_at(86_400_000 + 3_725_999).push_values(&mut sql);
        let sql = String::from_utf8(sql).unwrap();
        assert!(sql.starts_with("('2025-01-02 01:02:05',"), "{sql}");
    }
}
