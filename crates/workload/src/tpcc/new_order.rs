//! New-Order (clause 2.4): the backbone of the load, and what tpmC counts.

use dbdyno_model::random::RandomStream;

use super::random::{A_CUSTOMER, A_ITEM, nurand, uniform};
use super::statements::Ask;
use super::talk::{Money, Talk, wrong_answer};
use super::terminal::Terminal;
use crate::dialogue::{Arg, TurnFault};

/// Most lines of an order.
pub(super) const LINES_MOST: usize = 15;

/// What the terminal's user has typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewOrder {
    warehouse: i64,
    district: i64,
    customer: i64,
    lines: [Line; LINES_MOST],
    count: usize,
    /// Whether the last item is one that nobody sells.
    mistaken: bool,
}

/// A line of an order. The order of the fields is that in which lines are worked off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    supply: i64,
    item: i64,
    quantity: i64,
}

impl NewOrder {
    /// Draws one (clause 2.4.1).
    pub(super) fn draw(terminal: &Terminal, random: &mut RandomStream) -> NewOrder {
        let size = &terminal.size;
        let home = terminal.warehouse;
        let district = uniform(random, 1, super::fill::DISTRICTS) as i64;
        let c = terminal.constants.customer;
        let customer = nurand(random, A_CUSTOMER, c, 1, size.customers) as i64;
        let count = uniform(random, 5, LINES_MOST as u64) as usize;
        let mistaken = uniform(random, 1, 100) == 1;
        let mut lines = [Line::default(); LINES_MOST];
        for line in &mut lines[..count] {
            let item = nurand(random, A_ITEM, terminal.constants.item, 1, size.items) as i64;
            let remote = uniform(random, 1, 100) == 1;
            let supply = if remote { terminal.other_warehouse(random) } else { home };
            *line = Line { supply, item, quantity: uniform(random, 1, 10) as i64 };
        }
        // All take the rows of the stock in the same order, so that they do not wait for each other
        // in a circle. The mistake is the last line, by the standard.
        let found = if mistaken { count - 1 } else { count };
        lines[..found].sort_unstable();
        if mistaken {
            lines[found].item = size.items as i64 + 1;
        }
        NewOrder { warehouse: home, district, customer, lines, count, mistaken }
    }

    /// Whether the whole order comes from the terminal's own warehouse.
    fn all_local(&self) -> bool {
        self.lines[..self.count].iter().all(|line| line.supply == self.warehouse)
    }

    /// Carries it out (clause 2.4.2).
    ///
    /// # Errors
    /// That of the link, or a wrong answer.
    pub(super) fn run(&self, talk: &mut Talk<'_>) -> Result<(), TurnFault> {
        let home = [Arg::Int(self.warehouse), Arg::Int(self.district)];
        let [w, d] = home;
        talk.run_control(Ask::BeginToWrite)?;
        talk.show_one(Ask::BuyerAndWarehouse, &[w, d, Arg::Int(self.customer)])?;
        let number = talk.fetch(Ask::NextOrder, &home, 1, 1)?.int(0, 0)?;
        let o = Arg::Int(number);
        talk.change_one(Ask::CountOrder, &home)?;
        let all_local = Arg::Int(i64::from(self.all_local()));
        let order = [w, d, o, Arg::Int(self.customer), Arg::Int(self.count as i64), all_local];
        talk.change_one(Ask::AddOrder, &order)?;
        talk.change_one(Ask::AddNewOrder, &[w, d, o])?;
        for (place, line) in self.lines[..self.count].iter().enumerate() {
            let mistake = self.mistaken && place + 1 == self.count;
            let wanted = usize::from(!mistake);
            let item = talk.fetch(Ask::Item, &[Arg::Int(line.item)], wanted, wanted)?;
            if mistake {
                return talk.run_control(Ask::Rollback);
            }
            let price = item.cents_at(0, 0)?;
            self.take(talk, number, place, line, price)?;
        }
        talk.run_control(Ask::Commit)
    }

    fn take(
        &self,
        talk: &mut Talk<'_>,
        order: i64,
        place: usize,
        line: &Line,
        price: i64,
    ) -> Result<(), TurnFault> {
        let key = [Arg::Int(line.supply), Arg::Int(line.item)];
        let stock = talk.fetch(Ask::Stock, &key, 1, 1)?;
        let there = stock.int(0, 0)?;
        // The first two columns are the quantity and the data.
        let info = stock.text_at(0, 1 + self.district as usize)?;
        let mut kept = [0; 24];
        let kept = kept.get_mut(..info.len());
        let kept = kept.ok_or_else(|| wrong_answer(Ask::Stock, &key, "returned a long s_dist"))?;
        kept.copy_from_slice(info);
        let remote = Arg::Int(i64::from(line.supply != self.warehouse));
        let left = Arg::Int(restocked(there, line.quantity));
        let quantity = Arg::Int(line.quantity);
        talk.change_one(Ask::TakeStock, &[left, quantity, remote, key[0], key[1]])?;
        let amount = Money::from_cents(price * line.quantity);
        let values = [
            Arg::Int(self.warehouse),
            Arg::Int(self.district),
            Arg::Int(order),
            Arg::Int(place as i64 + 1),
            key[1],
            key[0],
            quantity,
            amount.as_arg(),
            Arg::Text(kept),
        ];
        talk.change_one(Ask::AddLine, &values)
    }
}

/// What is left of a stock: it is filled up by 91 before it falls below 10.
fn restocked(there: i64, taken: i64) -> i64 {
    if there >= taken + 10 { there - taken } else { there - taken + 91 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::terminal::tests::{draws, terminal};

    #[test]
    fn orders_are_drawn_by_clause_2_4_1() {
        let terminal = terminal(5, 3);
        let orders: Vec<NewOrder> = draws(20_000, |random| NewOrder::draw(&terminal, random));
        let (mut lines, mut remote, mut mistakes) = (0, 0, 0);
        for order in &orders {
            assert_eq!(order.warehouse, terminal.warehouse);
            assert!((1..=10).contains(&order.district) && (1..=3000).contains(&order.customer));
            assert!((5..=15).contains(&order.count));
            let taken = &order.lines[..order.count];
            let real = &taken[..order.count - usize::from(order.mistaken)];
            assert!(real.is_sorted_by_key(|line| (line.supply, line.item)));
            assert!(real.iter().all(|line| (1..=100_000).contains(&line.item)));
            assert!(taken.iter().all(|line| (1..=10).contains(&line.quantity)));
            assert!(taken.iter().all(|line| (1..=5).contains(&line.supply)));
            assert!(!order.mistaken || taken[order.count - 1].item == 100_001);
            lines += order.count;
            let far = taken.iter().filter(|line| line.supply != order.warehouse).count();
            assert_eq!(order.all_local(), far == 0);
            remote += far;
            mistakes += usize::from(order.mistaken);
        }
        // 1 % of 200 000 lines and of 20 000 orders, five standard deviations wide.
        assert!(lines.abs_diff(200_000) < 2_300, "{lines} lines");
        assert!(remote.abs_diff(lines / 100) < 225, "{remote} of {lines} are remote");
        assert!(mistakes.abs_diff(200) < 71, "{mistakes} mistakes");
    }

    #[test]
    fn with_one_warehouse_nothing_is_remote() {
        let terminal = terminal(1, 0);
        let orders = draws(1_000, |random| NewOrder::draw(&terminal, random));
        assert!(orders.iter().all(NewOrder::all_local));
    }

    #[test]
    fn stock_is_filled_up_by_clause_2_4_2_2() {
        assert_eq!((restocked(20, 10), restocked(19, 10), restocked(10, 1)), (10, 100, 100));
    }
}
