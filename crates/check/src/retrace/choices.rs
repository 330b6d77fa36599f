//! Whether pairs can be put in an order so that none of some sets of orders is there as a whole.
//!
//! The search of Davis, Logemann and Loveland (CACM 5, 1962): what is forced is done first, then
//! both orders of a pair are tried. Bounded, for proofs are small or forced.

use std::collections::HashMap;

use super::facts::Choice;

/// Pairs of which both orders are tried at most.
const TRIALS_AT_MOST: u32 = 20_000;

/// By pair with the smaller one first, whether the smaller one comes first.
type Orders = HashMap<Choice, bool>;

/// Whether some orders of the pairs contain none of the sets; `None` if that took too long.
pub(super) fn leave_a_choice(sets: &[Vec<Choice>]) -> Option<bool> {
    let mut left = TRIALS_AT_MOST;
    search(sets, Orders::new(), &mut left)
}

fn search(sets: &[Vec<Choice>], mut orders: Orders, left: &mut u32) -> Option<bool> {
    let Some(open) = forced(sets, &mut orders) else { return Some(false) };
    let Some(pair) = open else { return Some(true) };
    *left = left.checked_sub(1)?;
    for is_first in [true, false] {
        let mut orders = orders.clone();
        orders.insert(pair, is_first);
        if search(sets, orders, left)? {
            return Some(true);
        }
    }
    Some(false)
}

/// Does all that the sets force; gives an open pair of one of them, if there is any, and `None` if
/// one of them is there as a whole.
fn forced(sets: &[Vec<Choice>], orders: &mut Orders) -> Option<Option<Choice>> {
    loop {
        let (mut is_done, mut some_open) = (true, None);
        for set in sets {
            let is_not = |choice: &&Choice| order(orders, **choice) == Some(false);
            if set.iter().any(|choice| is_not(&choice)) {
                continue;
            }
            let mut open = set.iter().filter(|choice| order(orders, **choice).is_none());
            match (open.next(), open.next()) {
                (None, _) => return None,
                (Some(&(one, other)), None) => {
                    orders.insert(sorted((one, other)), one > other);
                    is_done = false;
                }
                (Some(&choice), Some(_)) => some_open = Some(sorted(choice)),
            }
        }
        if is_done {
            return Some(some_open);
        }
    }
}

/// Whether the first of two comes first, if that is settled.
fn order(orders: &Orders, choice: Choice) -> Option<bool> {
    let is_first = orders.get(&sorted(choice))?;
    Some(*is_first == (choice.0 < choice.1))
}

fn sorted(choice: Choice) -> Choice {
    (choice.0.min(choice.1), choice.0.max(choice.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_left_unless_both_orders_are_in_a_set() {
        assert_eq!(leave_a_choice(&[]), Some(true));
        assert_eq!(leave_a_choice(&[vec![(1, 2)]]), Some(true));
        assert_eq!(leave_a_choice(&[vec![(1, 2)], vec![(2, 1)]]), Some(false));
        assert_eq!(leave_a_choice(&[vec![]]), Some(false));
        let of_two = [vec![(1, 2), (3, 4)], vec![(1, 2), (4, 3)], vec![(2, 1), (3, 4)]];
        assert_eq!(leave_a_choice(&of_two), Some(true));
        let all = [of_two.as_slice(), &[vec![(2, 1), (4, 3)]]].concat();
        assert_eq!(leave_a_choice(&all), Some(false));
    }
}
