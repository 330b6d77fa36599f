//! What is asked: transaction *k* of client *i* is a pure function of the seed.
//!
//! ```text
//!   sysbench   sbtest (id, k, c, pad)     index k
//!   TPC-C      warehouse ─ district ─ customer (index last name) ─ history
//!              item ─ stock              orders ─ new_order, order_line
//! ```
//!
//! A client of sysbench's transaction writes only rows of its own, those whose number leaves its
//! own when divided by the number of clients: what is there in the end then does not hang on who
//! came first, and with uniform numbers hardly anybody would have met another one anyway. Clients
//! of TPC-C do meet, at warehouses and districts. There it is the values that do not hang on the
//! order: numbers are added up, and a stock that runs low gets 91 more, so that what is left of it
//! is one number between 10 and 100.

use dbdyno_model::random::{Prefix, RandomStream};

use crate::failure::Failure;
use crate::text::random_digits;

/// How large tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Rows of sysbench's table.
    pub rows: i64,
    /// TPC-C's warehouses.
    pub warehouses: i64,
    /// TPC-C's items, of which every warehouse has a stock.
    pub items: i64,
    /// TPC-C's customers of each district.
    pub customers: i64,
}

/// Districts of each warehouse.
const DISTRICTS: i64 = 10;
/// Last names: customer c of a district has name c modulo this.
const NAMES: i64 = 100;

/// Bytes of the text that is read.
pub(crate) const C_BYTES: usize = 120;
/// Bytes of a last name, with which the text of a customer begins.
pub(crate) const LAST_BYTES: usize = 16;

/// A table of TPC-C. A row is the numbers of its key, more numbers, and texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TpccTable {
    /// Its place among [`TABLES`].
    pub place: usize,
    /// Its name.
    pub name: &'static str,
    /// How many numbers are its key; none where a row has none.
    pub key: usize,
    /// How many numbers more there are.
    pub numbers: usize,
    /// How long its texts are.
    pub texts: &'static [usize],
}

/// Tax, paid.
pub const WAREHOUSE: TpccTable = TpccTable::new(0, "warehouse", 1, 2, &[80]);
/// By warehouse: tax, next order, paid.
pub const DISTRICT: TpccTable = TpccTable::new(1, "district", 2, 3, &[80]);
/// By district: discount, balance, payments; last name and more. An index has the last names.
pub const CUSTOMER: TpccTable = TpccTable::new(2, "customer", 3, 3, &[LAST_BYTES, 300]);
/// Warehouse, district, customer, amount.
pub const HISTORY: TpccTable = TpccTable::new(3, "history", 0, 4, &[]);
/// Price.
pub const ITEM: TpccTable = TpccTable::new(4, "item", 1, 1, &[24]);
/// By warehouse and item: what is left, sold, orders.
pub const STOCK: TpccTable = TpccTable::new(5, "stock", 2, 3, &[250]);
/// By district: customer, entry, lines.
pub const ORDERS: TpccTable = TpccTable::new(6, "orders", 3, 3, &[]);
/// By district.
pub const NEW_ORDER: TpccTable = TpccTable::new(7, "new_order", 3, 0, &[]);
/// By order: item, warehouse that has it, quantity, amount.
pub const ORDER_LINE: TpccTable = TpccTable::new(8, "order_line", 4, 4, &[24]);

/// All of them.
pub const TABLES: [TpccTable; 9] =
    [WAREHOUSE, DISTRICT, CUSTOMER, HISTORY, ITEM, STOCK, ORDERS, NEW_ORDER, ORDER_LINE];

/// A row of one of them.
#[derive(Clone, Copy, Debug)]
pub struct TpccRow<'a> {
    /// Where it belongs.
    pub table: TpccTable,
    /// Its key.
    pub key: &'a [i64],
    /// The other numbers.
    pub numbers: &'a [i64],
    /// Its texts, one behind the other.
    pub text: &'a [u8],
}

impl TpccTable {
    const fn new(
        place: usize,
        name: &'static str,
        key: usize,
        numbers: usize,
        texts: &'static [usize],
    ) -> TpccTable {
        TpccTable { place, name, key, numbers, texts }
    }

    /// A row of it.
    pub(crate) fn make_row<'a>(
        self,
        key: &'a [i64],
        numbers: &'a [i64],
        text: &'a [u8],
    ) -> TpccRow<'a> {
        TpccRow { table: self, key, numbers, text }
    }

    /// The numbers of its key that do not hang on who came first, as that of an order does.
    pub(crate) fn settled_keys(self) -> impl Iterator<Item = usize> {
        let is_counted = [ORDERS, NEW_ORDER, ORDER_LINE].contains(&self);
        (0..self.key).filter(move |&place| place != 2 || !is_counted)
    }
}

/// A row of sysbench's table, its number aside.
#[derive(Clone, Debug)]
pub struct Sbtest {
    /// The indexed number.
    pub k: i64,
    /// The text that is read.
    pub c: [u8; C_BYTES],
    /// The rest.
    pub pad: [u8; 60],
}

/// sysbench's `oltp_read_write`.
#[derive(Clone, Debug)]
pub struct ReadWrite {
    /// Rows that are read one by one.
    pub points: [i64; 10],
    /// Where ranges begin: as they are, sum of k, ordered by c, different c.
    pub ranges: [i64; 4],
    /// The row whose k becomes one more.
    pub index_update: i64,
    /// The row that gets this c.
    pub update: (i64, [u8; C_BYTES]),
    /// The row that is deleted and put in anew.
    pub replace: (i64, Sbtest),
}

/// Rows of each range.
pub(crate) const RANGE: i64 = 100;

/// TPC-C's order.
#[derive(Clone, Debug)]
pub struct NewOrder {
    /// The warehouse.
    pub warehouse: i64,
    /// The district.
    pub district: i64,
    /// The customer.
    pub customer: i64,
    /// When it came in.
    pub entry: i64,
    /// Item, warehouse that has it, quantity; in the order of their stocks, so that orders wait for
    /// each other and not around a ring.
    pub lines: Vec<(i64, i64, i64)>,
}

/// TPC-C's payment.
#[derive(Clone, Debug)]
pub struct Payment {
    /// The warehouse.
    pub warehouse: i64,
    /// The district.
    pub district: i64,
    /// Who pays.
    pub payer: Payer,
    /// Cents.
    pub amount: i64,
}

/// How a customer is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payer {
    /// By number.
    Number(i64),
    /// By last name: the one in the middle of all who have it.
    Name(i64),
}

/// The questions of one client.
#[derive(Clone, Debug)]
pub struct Questions {
    scale: Scale,
    clients: i64,
    client: i64,
    prefix: Prefix,
}

impl Questions {
    /// The questions of one client of several.
    pub fn new(scale: Scale, seed: u64, clients: i64, client: i64) -> Questions {
        let prefix = Prefix::from_parts(&[seed, client as u64]);
        Questions { scale, clients, client, prefix }
    }

    /// A row, uniformly.
    #[inline]
    pub fn point_query(&self, number: u64) -> i64 {
        one_of(&mut self.prefix.stream(&[number]), self.scale.rows)
    }

    /// sysbench's transaction.
    pub fn read_write(&self, number: u64) -> ReadWrite {
        let mut random = self.prefix.stream(&[number]);
        let random = &mut random;
        let rows = self.scale.rows;
        let last = (rows - RANGE + 1).max(1);
        ReadWrite {
            points: std::array::from_fn(|_| one_of(random, rows)),
            ranges: std::array::from_fn(|_| one_of(random, last)),
            index_update: self.own(random),
            update: (self.own(random), random_digits(random)),
            replace: (self.own(random), sbtest(random, rows)),
        }
    }

    /// TPC-C's order.
    pub fn new_order(&self, number: u64) -> NewOrder {
        let mut random = self.prefix.stream(&[number]);
        let random = &mut random;
        let Scale { warehouses, items, customers, .. } = self.scale;
        let warehouse = one_of(random, warehouses);
        let many = 4 + one_of(random, 11);
        let line = |_| {
            let supply = if warehouses > 1 && random.next_below(100) == 0 {
                warehouse % warehouses + 1
            } else {
                warehouse
            };
            (one_of(random, items), supply, one_of(random, 10))
        };
        let mut lines: Vec<_> = (0..many).map(line).collect();
        lines.sort_unstable_by_key(|&(item, supply, _)| (supply, item));
        let district = one_of(random, DISTRICTS);
        let customer = one_of(random, customers);
        NewOrder { warehouse, district, customer, entry: number as i64, lines }
    }

    /// TPC-C's payment.
    pub fn payment(&self, number: u64) -> Payment {
        let mut random = self.prefix.stream(&[number]);
        let random = &mut random;
        let Scale { warehouses, customers, .. } = self.scale;
        let payer = if random.next_below(100) < 60 {
            Payer::Name(one_of(random, NAMES.min(customers)) % NAMES)
        } else {
            Payer::Number(one_of(random, customers))
        };
        Payment {
            warehouse: one_of(random, warehouses),
            district: one_of(random, DISTRICTS),
            payer,
            amount: 100 * one_of(random, 5_000),
        }
    }

    /// Whether a transaction of TPC-C is an order, of which there are slightly more.
    pub fn is_order(&self, number: u64) -> bool {
        self.prefix.stream(&[number, 1]).next_below(88) < 45
    }

    /// A row of this client's own.
    fn own(&self, random: &mut RandomStream) -> i64 {
        let rounds = self.scale.rows / self.clients;
        (one_of(random, rounds) - 1) * self.clients + self.client + 1
    }
}

/// Puts the rows in that tables begin with, those of each table in the order of its key.
///
/// # Errors
/// Those of `to`.
pub(crate) fn fill_tables(scale: &Scale, to: &mut impl Filling) -> Result<(), Failure> {
    let prefix = Prefix::from_parts(&[0x5b7e_5701]);
    for id in 1..=scale.rows {
        to.put_sbtest_row(id, &sbtest(&mut prefix.stream(&[id as u64]), scale.rows))?;
    }
    for i in 1..=scale.items {
        to.put_row(ITEM.make_row(&[i], &[100 + i * 7 % 9_900], &filler::<24>(&[0, i])))?;
    }
    for w in 1..=scale.warehouses {
        to.put_row(WAREHOUSE.make_row(&[w], &[w % 20, 0], &filler::<80>(&[1, w])))?;
        for i in 1..=scale.items {
            let text = filler::<250>(&[2, w, i]);
            to.put_row(STOCK.make_row(&[w, i], &[10 + (w + i) % 91, 0, 0], &text))?;
        }
        for d in 1..=DISTRICTS {
            to.put_row(DISTRICT.make_row(&[w, d], &[d % 20, 1, 0], &filler::<80>(&[3, w, d])))?;
            for c in 1..=scale.customers {
                let text = [&name(c % NAMES)[..], &filler::<300>(&[4, w, d, c])].concat();
                to.put_row(CUSTOMER.make_row(&[w, d, c], &[c % 50, -1_000, 0], &text))?;
            }
        }
    }
    Ok(())
}

/// Who puts them in.
pub(crate) trait Filling {
    /// A row of sysbench's table.
    fn put_sbtest_row(&mut self, id: i64, row: &Sbtest) -> Result<(), Failure>;

    /// A row of another one.
    fn put_row(&mut self, row: TpccRow<'_>) -> Result<(), Failure>;
}

/// A text that fills a row up, by what it is for.
fn filler<const LENGTH: usize>(key: &[i64]) -> [u8; LENGTH] {
    let start = Prefix::from_parts(&[0xf111]);
    let key: Vec<u64> = key.iter().map(|&part| part as u64).collect();
    random_digits(&mut start.stream(&key))
}

/// The last name of a customer, by its number.
pub fn name(number: i64) -> [u8; LAST_BYTES] {
    const SYLLABLES: [&str; 10] =
        ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    let mut name = [b' '; LAST_BYTES];
    let parts = [number / 100 % 10, number / 10 % 10, number % 10];
    let text: String = parts.iter().map(|&part| SYLLABLES[part as usize]).collect();
    let text = &text.as_bytes()[..text.len().min(LAST_BYTES)];
    name[..text.len()].copy_from_slice(text);
    name
}

/// What is left of a stock.
pub(crate) fn stock_left(quantity: i64, ordered: i64) -> i64 {
    if quantity - ordered >= 10 { quantity - ordered } else { quantity - ordered + 91 }
}

fn sbtest(random: &mut RandomStream, rows: i64) -> Sbtest {
    Sbtest { k: one_of(random, rows), c: random_digits(random), pad: random_digits(random) }
}

/// From 1 to `most`.
#[inline]
fn one_of(random: &mut RandomStream, most: i64) -> i64 {
    random.next_below(most as u64) as i64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Scale = Scale { rows: 1_000, warehouses: 2, items: 50, customers: 30 };

    #[test]
    fn clients_write_rows_of_their_own() {
        for clients in [1, 3, 64] {
            for client in 0..clients {
                let questions = Questions::new(SCALE, 1, clients, client);
                for number in 0..200 {
                    let what = questions.read_write(number);
                    for id in [what.index_update, what.update.0, what.replace.0] {
                        assert_eq!((id - 1) % clients, client);
                        assert!((1..=SCALE.rows).contains(&id));
                    }
                    assert!(what.ranges.iter().all(|from| from + RANGE - 1 <= SCALE.rows));
                }
            }
        }
    }

    #[test]
    fn questions_are_the_same_again_and_others_for_others() {
        let points = |seed, client| -> Vec<i64> {
            let questions = Questions::new(SCALE, seed, 4, client);
            (0..20).map(|number| questions.point_query(number)).collect()
        };
        assert_eq!(points(1, 2), points(1, 2));
        assert_ne!(points(1, 2), points(1, 3));
        assert_ne!(points(1, 2), points(2, 2));
    }

    #[test]
    fn what_is_left_of_a_stock_does_not_hang_on_the_order_of_orders() {
        let left = |orders: &[i64]| orders.iter().fold(50, |left, &many| stock_left(left, many));
        let orders = [10, 9, 8, 10, 10, 7, 3];
        let reversed: Vec<i64> = orders.iter().rev().copied().collect();
        assert_eq!(left(&orders), left(&reversed));
        assert!((10..=100).contains(&left(&orders)));
    }

    #[test]
    fn orders_have_five_to_fifteen_lines_in_order() {
        let questions = Questions::new(SCALE, 1, 1, 0);
        let orders: Vec<_> = (0..500).map(|number| questions.new_order(number)).collect();
        let lines = |of: fn(usize, usize) -> usize| orders.iter().map(|o| o.lines.len()).reduce(of);
        assert_eq!((lines(usize::min), lines(usize::max)), (Some(5), Some(15)));
        assert!(orders.iter().all(|order| order.lines.is_sorted_by_key(|line| (line.1, line.0))));
        assert!(orders.iter().flat_map(|o| &o.lines).all(|line| (1..=10).contains(&line.2)));
        let payers = (0..500).map(|number| questions.payment(number).payer);
        let named = payers.filter(|payer| matches!(payer, Payer::Name(_))).count();
        assert!((250..350).contains(&named), "{named}");
    }
}
