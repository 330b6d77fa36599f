//! The initial population (clause 4.3.3.1), each unit by itself.
//!
//! ```text
//!   item        i                              stock      warehouse × item
//!   warehouse   w                              history    as customer
//!   district    warehouse × 10                 orders     warehouse × 10 × customers
//!   customer    warehouse × 10 × customers     new_order  the last 30 % of them
//!                                              order_line 5 … 15 rows for each of them
//! ```
//!
//! A unit is a row but for order lines, where it is an order. Which customer placed an order is a
//! computed permutation, and how many lines it has is asked in two places and therefore a function
//! of its own. With fewer customers than 3000 the shares stay those of the standard (70 % of the
//! orders are delivered), and so do the sums that consistency conditions compare.

use dbdyno_model::Dialect;
use dbdyno_model::random::{self, RandomStream};

use super::consistency;
use super::random::{
    A_LAST, Constants, nurand, permuted_index, push_capitals, push_cents, push_decimal,
    push_digits, push_last_name, push_letters, uniform,
};
use super::schema::{TABLES, Table};
use crate::dataset::{Dataset, TableScript};
use crate::text::push_number;

/// Districts of a warehouse.
pub(super) const DISTRICTS: u64 = 10;
/// Different last names, where there are that many customers.
const NAMES: u64 = 1000;
/// When everything happened that had happened before.
const POPULATED: &[u8] = b"2026-01-01 00:00:00";

/// The tables of TPC-C at some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warehouses {
    /// Number of warehouses.
    pub warehouses: u64,
    /// Number of items; 100 000 by the standard.
    pub items: u64,
    /// Customers of a district, and orders that they placed; 3000 by the standard.
    pub customers: u64,
    /// Seed of the contents.
    pub seed: u64,
}

/// What an order looks like before a load touches it.
struct Order {
    warehouse: u64,
    district: u64,
    number: u64,
}

impl Warehouses {
    /// Different last names in a district.
    pub fn names(&self) -> u64 {
        self.customers.min(NAMES)
    }

    /// The last order of each district that is delivered: 2100 of 3000.
    pub(crate) fn last_delivered(&self) -> u64 {
        self.customers * 7 / 10
    }

    fn districts(&self) -> u64 {
        self.warehouses * DISTRICTS
    }

    fn stream(&self, table: Table, unit: u64) -> RandomStream {
        random::stream(&[self.seed, random::key_of("tpcc rows"), table as u64, unit])
    }

    fn order(&self, unit: u64, per_district: u64, first: u64) -> Order {
        let district = unit / per_district;
        Order {
            warehouse: 1 + district / DISTRICTS,
            district: 1 + district % DISTRICTS,
            number: first + unit % per_district,
        }
    }

    /// The customer who placed an order: every customer of a district one of the first orders.
    fn customer_of(&self, order: &Order) -> u64 {
        let key =
            [self.seed, random::key_of("tpcc customer of order"), order.warehouse, order.district];
        1 + permuted_index(&key, order.number - 1, self.customers)
    }

    fn lines_of(&self, order: &Order) -> u64 {
        let name = random::key_of("tpcc lines of order");
        let key = [self.seed, name, order.warehouse, order.district, order.number];
        uniform(&mut random::stream(&key), 5, 15)
    }

    fn push_item(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::Item, unit);
        row.number(1 + unit);
        row.number(uniform(&mut random, 1, 10_000));
        row.letters(&mut random, 14, 24);
        row.cents(uniform(&mut random, 100, 10_000) as i64);
        row.original(&mut random);
    }

    fn push_warehouse(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::Warehouse, unit);
        row.number(1 + unit);
        row.letters(&mut random, 6, 10);
        row.address(&mut random);
        row.rate(uniform(&mut random, 0, 2000));
        // Ten for each customer, as they have paid: 300 000 with 3000 customers.
        row.cents((self.customers * DISTRICTS * 1000) as i64);
    }

    fn push_district(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::District, unit);
        row.number(1 + unit / DISTRICTS);
        row.number(1 + unit % DISTRICTS);
        row.letters(&mut random, 6, 10);
        row.address(&mut random);
        row.rate(uniform(&mut random, 0, 2000));
        row.cents((self.customers * 1000) as i64);
        row.number(self.customers + 1);
    }

    fn push_customer(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::Customer, unit);
        let Order { warehouse, district, number } = self.order(unit, self.customers, 1);
        row.number(warehouse);
        row.number(district);
        row.number(number);
        row.letters(&mut random, 8, 16);
        row.text(b"OE");
        let name = if number <= self.names() {
            number - 1
        } else {
            let c = Constants::from_seed(self.seed).last_load;
            nurand(&mut random, A_LAST, c, 0, self.names() - 1)
        };
        row.field(|buffer| push_last_name(buffer, name));
        row.address(&mut random);
        row.field(|buffer| push_digits(buffer, &mut random, 16));
        row.text(POPULATED);
        row.text(if random.next_below(10) == 0 { b"BC" } else { b"GC" });
        row.cents(5_000_000);
        row.rate(uniform(&mut random, 0, 5000));
        row.cents(-1000);
        row.cents(1000);
        row.number(1);
        row.number(0);
        row.letters(&mut random, 300, 500);
    }

    fn push_history(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::History, unit);
        let Order { warehouse, district, number } = self.order(unit, self.customers, 1);
        for value in [number, district, warehouse, district, warehouse] {
            row.number(value);
        }
        row.text(POPULATED);
        row.cents(1000);
        row.letters(&mut random, 12, 24);
    }

    fn push_order(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::Orders, unit);
        let order = self.order(unit, self.customers, 1);
        row.number(order.warehouse);
        row.number(order.district);
        row.number(order.number);
        row.number(self.customer_of(&order));
        row.text(POPULATED);
        if order.number <= self.last_delivered() {
            row.number(uniform(&mut random, 1, 10));
        } else {
            row.text(b"\\N");
        }
        row.number(self.lines_of(&order));
        row.number(1);
    }

    fn push_new_order(&self, unit: u64, row: &mut Row<'_>) {
        let per_district = self.customers - self.last_delivered();
        let order = self.order(unit, per_district, self.last_delivered() + 1);
        row.number(order.warehouse);
        row.number(order.district);
        row.number(order.number);
    }

    fn push_lines(&self, unit: u64, rows: &mut Vec<u8>) -> u64 {
        let mut random = self.stream(Table::OrderLine, unit);
        let order = self.order(unit, self.customers, 1);
        let delivered = order.number <= self.last_delivered();
        let lines = self.lines_of(&order);
        for line in 1..=lines {
            let mut row = Row { buffer: rows, fields: 0 };
            for value in [order.warehouse, order.district, order.number, line] {
                row.number(value);
            }
            row.number(uniform(&mut random, 1, self.items));
            row.number(order.warehouse);
            row.text(if delivered { POPULATED } else { b"\\N" });
            row.number(5);
            row.cents(if delivered { 0 } else { uniform(&mut random, 1, 999_999) as i64 });
            row.letters(&mut random, 24, 24);
            rows.push(b'\n');
        }
        lines
    }

    fn push_stock(&self, unit: u64, row: &mut Row<'_>) {
        let mut random = self.stream(Table::Stock, unit);
        row.number(1 + unit / self.items);
        row.number(1 + unit % self.items);
        row.number(uniform(&mut random, 10, 100));
        for _ in 0..3 {
            row.number(0);
        }
        row.original(&mut random);
        for _ in 0..DISTRICTS {
            row.letters(&mut random, 24, 24);
        }
    }
}

impl Dataset for Warehouses {
    fn key(&self) -> String {
        let Warehouses { warehouses, items, customers, seed } = self;
        format!("tpcc?warehouses={warehouses}&items={items}&customers={customers}&seed={seed}")
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        TABLES.iter().map(|table| table.create_script(dialect)).collect()
    }

    fn unit_count(&self, table: usize) -> u64 {
        match TABLES[table] {
            Table::Item => self.items,
            Table::Warehouse => self.warehouses,
            Table::District => self.districts(),
            Table::Customer | Table::History | Table::Orders | Table::OrderLine => {
                self.districts() * self.customers
            }
            Table::NewOrder => self.districts() * (self.customers - self.last_delivered()),
            Table::Stock => self.warehouses * self.items,
        }
    }

    fn push(&self, table: usize, unit: u64, rows: &mut Vec<u8>) -> u64 {
        let mut row = Row { buffer: rows, fields: 0 };
        match TABLES[table] {
            Table::Item => self.push_item(unit, &mut row),
            Table::Warehouse => self.push_warehouse(unit, &mut row),
            Table::District => self.push_district(unit, &mut row),
            Table::Customer => self.push_customer(unit, &mut row),
            Table::History => self.push_history(unit, &mut row),
            Table::Orders => self.push_order(unit, &mut row),
            Table::NewOrder => self.push_new_order(unit, &mut row),
            Table::OrderLine => return self.push_lines(unit, rows),
            Table::Stock => self.push_stock(unit, &mut row),
        }
        rows.push(b'\n');
        1
    }

    fn bytes(&self) -> u64 {
        // Mean bytes of a row: item 71; stock 307; customer 590, history 66, order 44, lines 690,
        // for each customer.
        let of_warehouse = self.items * 307 + DISTRICTS * self.customers * (590 + 66 + 44 + 690);
        self.items * 71 + self.warehouses * of_warehouse
    }

    fn invariants(&self, dialect: Dialect) -> Vec<(String, String)> {
        let _the_same_for_all = dialect;
        consistency::condition_queries()
    }
}

/// A line that is being written: fields with tabs between them.
struct Row<'a> {
    buffer: &'a mut Vec<u8>,
    fields: usize,
}

impl Row<'_> {
    fn field(&mut self, push: impl FnOnce(&mut Vec<u8>)) {
        if self.fields > 0 {
            self.buffer.push(b'\t');
        }
        self.fields += 1;
        push(self.buffer);
    }

    fn text(&mut self, text: &[u8]) {
        self.field(|buffer| buffer.extend_from_slice(text));
    }

    fn number(&mut self, number: u64) {
        self.field(|buffer| push_number(buffer, number));
    }

    fn cents(&mut self, value: i64) {
        self.field(|buffer| push_cents(buffer, value));
    }

    fn rate(&mut self, ten_thousandths: u64) {
        self.field(|buffer| push_decimal(buffer, ten_thousandths as i64, 4));
    }

    fn letters(&mut self, random: &mut RandomStream, low: u64, high: u64) {
        self.field(|buffer| push_letters(buffer, random, low, high));
    }

    /// Two streets, a city, a state and a zip code (clause 4.3.2.7).
    fn address(&mut self, random: &mut RandomStream) {
        for _ in 0..3 {
            self.letters(random, 10, 20);
        }
        self.field(|buffer| push_capitals(buffer, random));
        self.field(|buffer| {
            push_digits(buffer, random, 4);
            buffer.extend_from_slice(b"11111");
        });
    }

    /// 26 to 50 letters; in a tenth of the rows `ORIGINAL` stands somewhere among them.
    fn original(&mut self, random: &mut RandomStream) {
        const WORD: &[u8] = b"ORIGINAL";
        self.letters(random, 26, 50);
        if random.next_below(10) == 0 {
            let start = self.buffer.iter().rposition(|&byte| byte == b'\t').map_or(0, |at| at + 1);
            let room = self.buffer.len() - start - WORD.len();
            let at = start + uniform(random, 0, room as u64) as usize;
            self.buffer[at..at + WORD.len()].copy_from_slice(WORD);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    const STANDARD: Warehouses =
        Warehouses { warehouses: 2, items: 100_000, customers: 3000, seed: 11 };

    fn rows(of: &Warehouses, table: Table, units: impl Iterator<Item = u64>) -> Vec<Vec<String>> {
        let index = TABLES.iter().position(|other| *other == table).unwrap();
        let (mut text, mut count) = (Vec::new(), 0);
        units.for_each(|unit| count += of.push(index, unit, &mut text));
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<Vec<String>> =
            text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
        assert_eq!(rows.len() as u64, count);
        let columns = table.create_script(Dialect::Mysql).columns.len();
        assert!(rows.iter().all(|row| row.len() == columns), "{table:?}");
        rows
    }

    fn within(text: &str, low: f64, high: f64) {
        let value: f64 = text.parse().unwrap();
        assert!((low..=high).contains(&value), "{value} is not in {low}..={high}");
    }

    #[test]
    fn cardinalities_are_those_of_clause_4_3_3_1() {
        let units: Vec<u64> = (0..9).map(|table| STANDARD.unit_count(table)).collect();
        // item, warehouse, district, customer, history, orders, new_order, (orders), stock
        assert_eq!(units, [100_000, 2, 20, 60_000, 60_000, 60_000, 18_000, 60_000, 200_000]);
        assert_eq!((STANDARD.last_delivered(), STANDARD.names()), (2100, 1000));
    }

    #[test]
    fn items_and_stock_are_those_of_clause_4_3_3_1() {
        let items = rows(&STANDARD, Table::Item, 0..20_000);
        for (number, row) in items.iter().enumerate() {
            assert_eq!(row[0], (number + 1).to_string());
            within(&row[1], 1.0, 10_000.0);
            assert!((14..=24).contains(&row[2].len()) && (26..=50).contains(&row[4].len()));
            within(&row[3], 1.0, 100.0);
        }
        let stock = rows(&STANDARD, Table::Stock, 95_000..115_000);
        assert_eq!((&*stock[4_999][0], &*stock[4_999][1]), ("1", "100000"));
        assert_eq!((&*stock[5_000][0], &*stock[5_000][1]), ("2", "1"));
        for row in &stock {
            within(&row[2], 10.0, 100.0);
            assert_eq!(row[3..6], ["0", "0", "0"]);
            assert!(row[7..].iter().all(|text| text.len() == 24));
        }
        // A tenth of 20 000, five standard deviations wide.
        for (rows, column) in [(&items, 4), (&stock, 6)] {
            let original = rows.iter().filter(|row| row[column].contains("ORIGINAL")).count();
            assert!(original.abs_diff(2000) < 213, "{original}");
        }
    }

    #[test]
    fn customers_are_those_of_clause_4_3_3_1() {
        let customers = rows(&STANDARD, Table::Customer, 3000..6000);
        let mut names = BTreeMap::new();
        for (number, row) in customers.iter().enumerate() {
            assert_eq!(row[..3], ["1", "2", &*(number + 1).to_string()]);
            assert_eq!(
                (&*row[4], &*row[14], &*row[16], &*row[17]),
                ("OE", "50000.00", "-10.00", "10.00")
            );
            assert_eq!(row[18..20], ["1", "0"]);
            assert!((8..=16).contains(&row[3].len()) && (300..=500).contains(&row[20].len()));
            assert!(row[11].len() == 16 && row[10].len() == 9 && row[10].ends_with("11111"));
            within(&row[15], 0.0, 0.5);
            *names.entry(row[5].clone()).or_insert(0) += 1;
        }
        assert_eq!(names.len(), 1000, "each of the first thousand has a name of its own");
        // About 300 of 3000, five standard deviations wide.
        let bad = customers.iter().filter(|row| row[13] == "BC").count();
        assert!(bad.abs_diff(300) < 82, "{bad}");
        let history = rows(&STANDARD, Table::History, 0..3001);
        assert_eq!(history[3000][..5], ["1", "2", "1", "2", "1"]);
        assert!(history.iter().all(|row| row[6] == "10.00" && (12..=24).contains(&row[7].len())));
    }

    #[test]
    fn orders_are_those_of_clause_4_3_3_1() {
        let orders = rows(&STANDARD, Table::Orders, 0..3000);
        let customers: BTreeSet<&str> = orders.iter().map(|row| &*row[3]).collect();
        assert_eq!(customers.len(), 3000, "not a permutation");
        let lines = rows(&STANDARD, Table::OrderLine, 0..3000);
        let mut lines_of = BTreeMap::new();
        for row in &lines {
            *lines_of.entry(row[2].clone()).or_insert(0_u64) += 1;
            within(&row[4], 1.0, 100_000.0);
            assert_eq!((&*row[7], row[9].len()), ("5", 24));
            let delivered = row[2].parse::<u64>().unwrap() <= 2100;
            assert_eq!((row[6] == "\\N", row[8] == "0.00"), (!delivered, delivered), "{row:?}");
        }
        for (number, row) in orders.iter().enumerate() {
            assert_eq!(row[2], (number + 1).to_string());
            within(&row[6], 5.0, 15.0);
            assert_eq!(lines_of[&row[2]].to_string(), row[6]);
            assert_eq!(row[5] == "\\N", number >= 2100);
        }
        let waiting = rows(&STANDARD, Table::NewOrder, 0..901);
        assert_eq!(waiting[0], ["1", "1", "2101"]);
        assert_eq!(waiting[899], ["1", "1", "3000"]);
        assert_eq!(waiting[900], ["1", "2", "2101"]);
    }

    #[test]
    fn warehouses_and_districts_start_with_the_sums_of_the_standard() {
        let warehouses = rows(&STANDARD, Table::Warehouse, 0..2);
        assert!(warehouses.iter().all(|row| row[8] == "300000.00"));
        let districts = rows(&STANDARD, Table::District, 0..20);
        assert_eq!(districts[19][..2], ["2", "10"]);
        for row in warehouses.iter().chain(&districts) {
            let tax = row.iter().position(|text| text.starts_with("0.")).unwrap();
            within(&row[tax], 0.0, 0.2);
        }
        assert!(districts.iter().all(|row| row[9..] == ["30000.00", "3001"]));
    }

    #[test]
    fn rows_are_a_function_of_the_seed() {
        let other = Warehouses { seed: 12, ..STANDARD };
        for table in TABLES.into_iter().filter(|table| *table != Table::NewOrder) {
            assert_eq!(rows(&STANDARD, table, 1..2), rows(&STANDARD, table, 1..2));
            assert_ne!(rows(&STANDARD, table, 1..2), rows(&other, table, 1..2), "{table:?}");
        }
        assert_ne!(STANDARD.key(), other.key());
    }

    #[test]
    fn the_estimate_of_bytes_is_near() {
        let small = Warehouses { warehouses: 1, items: 2000, customers: 300, seed: 1 };
        let mut all = Vec::new();
        for table in 0..9 {
            (0..small.unit_count(table)).for_each(|unit| {
                small.push(table, unit, &mut all);
            });
        }
        let (real, said) = (all.len() as f64, small.bytes() as f64);
        assert!((0.95..1.1).contains(&(said / real)), "{said} bytes announced, {real} made");
    }
}
