//! The transactions, said once: of which statements each consists, in which order, and what the
//! client is answered. How a statement is carried out is each side's own.
//!
//! ```text
//!   read-write   10 × row ─ range ─ sum ─ range, sorted ─ range, each once
//!                ─ k + 1 ─ another c ─ a row taken out and put in
//!   new-order    warehouse ─ customer ─ district ─ order ─ n × (item ─ stock ─ line)
//!   payment      warehouse ─ district ─ customer, by name or number ─ history
//! ```

use crate::answers::Answers;
use crate::failure::Failure;
use crate::side::RivalClient;
use crate::work::{
    C_BYTES, CUSTOMER, DISTRICT, HISTORY, ITEM, LAST_BYTES, NEW_ORDER, NewOrder, ORDER_LINE,
    ORDERS, Payer, Payment, ReadWrite, STOCK, Sbtest, TpccRow, TpccTable, WAREHOUSE, name,
    stock_left,
};

/// The statements of one client, as a side carries them out. Each fails with a conflict, or with
/// what the database refuses; rows that are named by their key are there.
pub(crate) trait Statements {
    /// Begins a transaction.
    fn begin(&mut self) -> Result<(), Failure>;

    /// From now on reads that lock nothing see what is committed now.
    fn open_view(&mut self);

    /// Ends the transaction.
    fn commit(&mut self) -> Result<(), Failure>;

    /// Takes the transaction back, if there is one.
    fn rollback(&mut self) -> Result<(), Failure>;

    /// Answers `c` of a row, in a transaction of its own.
    fn lone_row(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure>;

    /// Answers `c` of a row.
    fn select_row(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure>;

    /// Answers `c` of [`crate::work::RANGE`] rows.
    fn select_range(&mut self, from: i64, answers: &mut Answers) -> Result<(), Failure>;

    /// The sum of `k` of as many rows.
    fn sum(&mut self, from: i64) -> Result<i64, Failure>;

    /// Makes `k` of a row one more, in the row and in the index.
    fn add_to_k(&mut self, id: i64) -> Result<(), Failure>;

    /// Gives a row another `c`.
    fn set_c(&mut self, id: i64, c: &[u8; C_BYTES]) -> Result<(), Failure>;

    /// Takes a row out, then puts another one in with its number.
    fn replace(&mut self, id: i64, row: &Sbtest) -> Result<(), Failure>;

    /// The first numbers of a row behind its key, and the beginning of its text; locks nothing.
    fn read<const N: usize, const T: usize>(
        &mut self,
        table: TpccTable,
        key: &[i64],
    ) -> Result<([i64; N], [u8; T]), Failure>;

    /// Locks a row and sets the first numbers behind its key; returns the beginning of its text.
    fn update_row<const N: usize, const T: usize>(
        &mut self,
        table: TpccTable,
        key: &[i64],
        set: impl FnOnce(&mut [i64; N]),
    ) -> Result<[u8; T], Failure>;

    /// Puts in a row that is not there; one without a key is another one each time.
    fn insert(&mut self, row: TpccRow<'_>) -> Result<(), Failure>;

    /// The customers of a district who have a last name, in order, by the index.
    fn customers_by_name(
        &mut self,
        district: [i64; 2],
        last: &[u8; LAST_BYTES],
    ) -> Result<Vec<i64>, Failure>;
}

/// A client who has these statements.
pub(crate) struct Asking<S>(pub S);

impl<S: Statements> Asking<S> {
    /// All of a transaction, or nothing of it.
    fn whole(&mut self, work: impl FnOnce(&mut S) -> Result<(), Failure>) -> Result<(), Failure> {
        let to = &mut self.0;
        let done = to.begin().and_then(|()| work(to)).and_then(|()| to.commit());
        if done.is_err() {
            to.rollback()?;
        }
        done
    }
}

impl<S: Statements> RivalClient for Asking<S> {
    fn point_query(&mut self, id: i64, answers: &mut Answers) -> Result<(), Failure> {
        answers.begin_statement();
        self.0.lone_row(id, answers)?;
        answers.end_statement();
        Ok(())
    }

    fn read_write(&mut self, what: &ReadWrite, answers: &mut Answers) -> Result<(), Failure> {
        self.whole(|to| {
            to.open_view();
            for &id in &what.points {
                answers.begin_statement();
                to.select_row(id, answers)?;
                answers.end_statement();
            }
            let [plain, summed, sorted, distinct] = what.ranges;
            answers.begin_statement();
            to.select_range(plain, answers)?;
            answers.end_statement();
            answers.begin_statement();
            answers.add_number(to.sum(summed)?);
            answers.end_statement();
            answers.begin_statement();
            to.select_range(sorted, answers)?;
            answers.sort_all(C_BYTES);
            answers.end_statement();
            answers.begin_statement();
            to.select_range(distinct, answers)?;
            answers.sort_distinct(C_BYTES);
            answers.end_statement();
            to.add_to_k(what.index_update)?;
            to.set_c(what.update.0, &what.update.1)?;
            to.replace(what.replace.0, &what.replace.1)
        })
    }

    fn new_order(&mut self, what: &NewOrder, answers: &mut Answers) -> Result<(), Failure> {
        let NewOrder { warehouse: w, district: d, customer: c, entry, ref lines } = *what;
        self.whole(|to| {
            to.open_view();
            answers.begin_statement();
            let ([tax], []) = to.read::<1, 0>(WAREHOUSE, &[w])?;
            let ([discount], last) = to.read::<1, LAST_BYTES>(CUSTOMER, &[w, d, c])?;
            answers.add_text(&last);
            let (mut district_tax, mut order) = (0, 0);
            to.update_row::<2, 0>(DISTRICT, &[w, d], |[tax, next]| {
                (district_tax, order) = (*tax, *next);
                *next += 1;
            })?;
            to.insert(ORDERS.make_row(&[w, d, order], &[c, entry, lines.len() as i64], &[]))?;
            to.insert(NEW_ORDER.make_row(&[w, d, order], &[], &[]))?;
            for (number, &(item, supply, quantity)) in (1..).zip(lines) {
                let ([price], []) = to.read::<1, 0>(ITEM, &[item])?;
                let info =
                    to.update_row::<3, 24>(STOCK, &[supply, item], |[left, sold, orders]| {
                        *left = stock_left(*left, quantity);
                        *sold += quantity;
                        *orders += 1;
                    })?;
                let taxed = (100 - discount) * (100 + tax + district_tax);
                let amount = price * quantity * taxed / 10_000;
                let line = [item, supply, quantity, amount];
                to.insert(ORDER_LINE.make_row(&[w, d, order, number], &line, &info))?;
                answers.add_number(amount);
            }
            answers.end_statement();
            Ok(())
        })
    }

    fn payment(&mut self, what: &Payment, answers: &mut Answers) -> Result<(), Failure> {
        let Payment { warehouse: w, district: d, payer, amount } = *what;
        self.whole(|to| {
            answers.begin_statement();
            to.update_row::<2, 0>(WAREHOUSE, &[w], |[_, paid]| *paid += amount)?;
            to.update_row::<3, 0>(DISTRICT, &[w, d], |[_, _, paid]| *paid += amount)?;
            let customer = match payer {
                Payer::Number(number) => number,
                Payer::Name(number) => {
                    let found = to.customers_by_name([w, d], &name(number))?;
                    found[found.len() / 2]
                }
            };
            let key = [w, d, customer];
            let last =
                to.update_row::<3, LAST_BYTES>(CUSTOMER, &key, |[_, balance, payments]| {
                    *balance -= amount;
                    *payments += 1;
                })?;
            answers.add_text(&last);
            to.insert(HISTORY.make_row(&[], &[w, d, customer, amount], &[]))?;
            answers.add_number(customer);
            answers.end_statement();
            Ok(())
        })
    }
}
