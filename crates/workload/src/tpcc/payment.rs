//! Payment (clause 2.5), and how customers are found by both Payment and Order-Status.

use dbdyno_model::random::RandomStream;

use super::fill::DISTRICTS;
use super::random::{A_CUSTOMER, A_LAST, nurand, push_last_name, uniform};
use super::statements::Ask;
use super::talk::{Money, Talk, TalkRows};
use super::terminal::Terminal;
use crate::dialogue::{Arg, TurnFault};
use crate::text::push_number;

/// A customer as the terminal's user names one: 60 % by last name, 40 % by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CustomerKey {
    /// Number of the last name.
    Last(u64),
    /// Number of the customer.
    Number(i64),
}

impl CustomerKey {
    /// Draws one.
    pub(super) fn draw(terminal: &Terminal, random: &mut RandomStream) -> CustomerKey {
        let constants = &terminal.constants;
        if uniform(random, 1, 100) <= 60 {
            let names = terminal.size.names();
            CustomerKey::Last(nurand(random, A_LAST, constants.last_run, 0, names - 1))
        } else {
            let customers = terminal.size.customers;
            CustomerKey::Number(nurand(random, A_CUSTOMER, constants.customer, 1, customers) as i64)
        }
    }

    /// The customer's number: of all with that last name, ordered by first name, the middle one.
    ///
    /// # Errors
    /// That of the link, or a name that nobody has.
    pub(super) fn find(
        self,
        talk: &mut Talk<'_>,
        warehouse: i64,
        district: i64,
        text: &mut Vec<u8>,
    ) -> Result<i64, TurnFault> {
        let name = match self {
            CustomerKey::Number(number) => return Ok(number),
            CustomerKey::Last(name) => name,
        };
        text.clear();
        push_last_name(text, name);
        let values = [Arg::Int(warehouse), Arg::Int(district), Arg::Text(text)];
        let found = talk.fetch(Ask::CustomersByName, &values, 1, usize::MAX)?;
        found.int(middle(found.rows()), 0)
    }
}

/// The place, from 0, that is number n/2 rounded up, from 1.
fn middle(rows: usize) -> usize {
    rows.div_ceil(2) - 1
}

/// What the terminal's user has typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Payment {
    warehouse: i64,
    district: i64,
    customer_warehouse: i64,
    customer_district: i64,
    customer: CustomerKey,
    cents: i64,
}

/// Characters of `c_data`.
const DATA_MOST: usize = 500;

impl Payment {
    /// Draws one (clause 2.5.1): 15 % of the customers belong to another warehouse.
    pub(super) fn draw(terminal: &Terminal, random: &mut RandomStream) -> Payment {
        let district = uniform(random, 1, DISTRICTS) as i64;
        let remote = uniform(random, 1, 100) <= 15;
        let (customer_warehouse, customer_district) = if remote {
            (terminal.other_warehouse(random), uniform(random, 1, DISTRICTS) as i64)
        } else {
            (terminal.warehouse, district)
        };
        Payment {
            warehouse: terminal.warehouse,
            district,
            customer_warehouse,
            customer_district,
            customer: CustomerKey::draw(terminal, random),
            cents: uniform(random, 100, 500_000) as i64,
        }
    }

    /// Carries it out (clause 2.5.2). `text` is room for characters.
    ///
    /// # Errors
    /// That of the link, or a wrong answer.
    pub(super) fn run(&self, talk: &mut Talk<'_>, text: &mut Vec<u8>) -> Result<(), TurnFault> {
        let [w, d] = [Arg::Int(self.warehouse), Arg::Int(self.district)];
        let money = Money::from_cents(self.cents);
        talk.run_control(Ask::BeginToWrite)?;
        let mut places = [0; 24];
        let mut length = keep(&mut places, 0, &talk.fetch(Ask::Warehouse, &[w], 1, 1)?)?;
        length += 4;
        length = keep(&mut places, length, &talk.fetch(Ask::District, &[w, d], 1, 1)?)?;
        places[..length].iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');

        let (cw, cd) = (self.customer_warehouse, self.customer_district);
        let c = self.customer.find(talk, cw, cd, text)?;
        let key = [Arg::Int(cw), Arg::Int(cd), Arg::Int(c)];
        let credit = talk.fetch(Ask::CustomerToPay, &key, 1, 1)?;
        let bad = credit.text_at(0, 0)? == b"BC";
        talk.change_one(Ask::PayWarehouse, &[money.as_arg(), w])?;
        talk.change_one(Ask::PayDistrict, &[money.as_arg(), w, d])?;
        let [kw, kd, kc] = key;
        if bad {
            self.write_data(text, c, &money);
            text.extend_from_slice(talk.fetch(Ask::CustomerData, &key, 1, 1)?.text_at(0, 0)?);
            text.truncate(DATA_MOST);
            let values = [money.as_arg(), money.as_arg(), Arg::Text(text), kw, kd, kc];
            talk.change_one(Ask::PayBadCustomer, &values)?;
        } else {
            talk.change_one(Ask::PayCustomer, &[money.as_arg(), money.as_arg(), kw, kd, kc])?;
        }
        let history = [kc, kd, kw, d, w, money.as_arg(), Arg::Text(&places[..length])];
        talk.change_one(Ask::AddHistory, &history)?;
        talk.run_control(Ask::Commit)
    }

    /// What is put before the data of a customer with bad credit.
    fn write_data(&self, text: &mut Vec<u8>, customer: i64, money: &Money) {
        text.clear();
        let district = self.customer_district;
        let numbers = [customer, district, self.customer_warehouse, self.district, self.warehouse];
        for number in numbers {
            push_number(text, number.unsigned_abs());
            text.push(b' ');
        }
        if let Arg::Text(amount) = money.as_arg() {
            text.extend_from_slice(amount);
        }
        text.push(b' ');
    }
}

/// Copies a name, the first column, to `places[start..]`; returns where it ends.
fn keep(places: &mut [u8; 24], start: usize, answer: &TalkRows<'_>) -> Result<usize, TurnFault> {
    let name = answer.text_at(0, 0)?;
    let end = start + name.len();
    let room = places.get_mut(start..end);
    let room =
        room.ok_or_else(|| TurnFault::Wrong("a name is longer than ten characters".into()))?;
    room.copy_from_slice(name);
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::terminal::tests::{draws, terminal};

    #[test]
    fn payments_are_drawn_by_clause_2_5_1() {
        let terminal = terminal(4, 2);
        let payments = draws(20_000, |random| Payment::draw(&terminal, random));
        let (mut remote, mut by_name) = (0_usize, 0_usize);
        for payment in &payments {
            assert_eq!(payment.warehouse, terminal.warehouse);
            assert!((1..=4).contains(&payment.customer_warehouse));
            assert!((1..=10).contains(&payment.district));
            assert!((100..=500_000).contains(&payment.cents));
            let far = payment.customer_warehouse != payment.warehouse;
            assert!(far || payment.customer_district == payment.district);
            remote += usize::from(far);
            match payment.customer {
                CustomerKey::Last(name) => {
                    assert!(name < 1000);
                    by_name += 1;
                }
                CustomerKey::Number(number) => assert!((1..=3000).contains(&number)),
            }
        }
        // Five standard deviations wide.
        assert!(remote.abs_diff(3_000) < 253, "{remote} of 20 000 are remote");
        assert!(by_name.abs_diff(12_000) < 347, "{by_name} of 20 000 by name");
    }

    #[test]
    fn the_middle_customer_is_number_n_half_rounded_up() {
        assert_eq!([1, 2, 3, 4, 5].map(middle), [0, 0, 1, 1, 2]);
    }
}
