//! The user of a terminal: which transaction comes next, how long one types and thinks.
//!
//! ```text
//!   operation ──▶ deck of 500 cards, shuffled anew for each 500 operations ──▶ Kind
//!
//!   end of operation k ──think(kind k)──▶ ──key(kind k+1)──▶ intended start of k+1
//! ```
//!
//! The deck is BenchmarkSQL's mix in whole cards: 216 Payments (43.2 %), 21 each (4.2 %) of
//! Order-Status, Delivery and Stock-Level, and 221 New-Orders, the rest. A deck holds the shares
//! exactly, however short a run is (clause 5.2.4.2).

use dbdyno_model::random::{self, RandomStream};

use super::delivery::Delivery;
use super::fill::Warehouses;
use super::new_order::NewOrder;
use super::order_status::OrderStatus;
use super::payment::Payment;
use super::random::permuted_index;
use super::stock_level::StockLevel;
use super::talk::Talk;
use super::terminal::Terminal;
use crate::dialogue::{Link, Partner, TurnFault};

/// The five transactions, in the order of the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// 221 cards.
    NewOrder,
    /// 216 cards.
    Payment,
    /// 21 cards.
    OrderStatus,
    /// 21 cards.
    Delivery,
    /// 21 cards.
    StockLevel,
}

impl Kind {
    /// All of them.
    pub(super) const ALL: [Kind; 5] =
        [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    /// What its latencies are filed under.
    pub(super) fn class_name(self) -> &'static str {
        match self {
            Kind::NewOrder => "new-order",
            Kind::Payment => "payment",
            Kind::OrderStatus => "order-status",
            Kind::Delivery => "delivery-background",
            Kind::StockLevel => "stock-level",
        }
    }

    /// The kind of a card of the sorted deck, counted from 0.
    fn of_card(mut card: u64) -> Kind {
        for kind in Kind::ALL {
            if card < kind.cards() {
                return kind;
            }
            card -= kind.cards();
        }
        unreachable!("the cards of all kinds are the deck")
    }

    fn cards(self) -> u64 {
        match self {
            Kind::NewOrder => 221,
            Kind::Payment => 216,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 21,
        }
    }

    /// Seconds that the user types (clause 5.2.5.7).
    fn keying_s(self) -> f64 {
        match self {
            Kind::NewOrder => 18.0,
            Kind::Payment => 3.0,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 2.0,
        }
    }

    /// Mean of the seconds that the user thinks (clause 5.2.5.7).
    fn think_mean_s(self) -> f64 {
        match self {
            Kind::NewOrder | Kind::Payment => 12.0,
            Kind::OrderStatus => 10.0,
            Kind::Delivery | Kind::StockLevel => 5.0,
        }
    }
}

/// Cards in the deck.
pub(crate) const DECK: u64 = 500;

/// No pause is longer: ten means of the longest think time, and the longest keying time.
const PAUSE_MOST_S: f64 = 10.0 * 12.0 + 18.0;

/// A number in 0 < x ≤ 1.
fn open_unit(random: &mut RandomStream) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Negative exponential of mean 1, cut at 10.
fn exponential(random: &mut RandomStream) -> f64 {
    (-open_unit(random).ln()).min(10.0)
}

/// Whether users type and think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserPace {
    /// They do: a terminal asks about every 21 s.
    Think,
    /// They do not: a terminal asks as fast as it is answered.
    Saturate,
}

/// One user.
#[derive(Clone, Debug)]
pub(super) struct User {
    terminal: Terminal,
    client: u64,
    pace: UserPace,
    text: Vec<u8>,
}

impl User {
    /// The user of terminal number `client`.
    pub(super) fn new(size: Warehouses, pace: UserPace, client: u32) -> User {
        User {
            terminal: Terminal::new(size, client),
            client: u64::from(client),
            pace,
            text: Vec::with_capacity(1024),
        }
    }

    /// The card that is drawn for an operation.
    pub(super) fn kind(&self, operation: u64) -> Kind {
        let deck = operation / DECK;
        let key = [self.terminal.size.seed, random::key_of("tpcc deck"), self.client, deck];
        Kind::of_card(permuted_index(&key, operation % DECK, DECK))
    }

    fn stream(&self, purpose: &str, operation: u64) -> RandomStream {
        random::stream(&[self.terminal.size.seed, random::key_of(purpose), self.client, operation])
    }

    /// Think time after an operation: negative exponential, cut at ten means (clause 5.2.5.4).
    fn think_s(&self, operation: u64) -> f64 {
        let mean = self.kind(operation).think_mean_s();
        exponential(&mut self.stream("tpcc think", operation)) * mean
    }

    /// What is left of a pause into which one looks at any moment. Long pauses are met more often
    /// than short ones, in proportion to their length; that is drawn by rejection.
    fn rest_of_pause_s(&self, operation: u64) -> f64 {
        let mut random = self.stream("tpcc phase", operation);
        loop {
            let (before, now) = (random.next_below(DECK), random.next_below(DECK));
            let think = exponential(&mut random) * Kind::of_card(before).think_mean_s();
            let pause = think + Kind::of_card(now).keying_s();
            if open_unit(&mut random) * PAUSE_MOST_S < pause {
                return open_unit(&mut random) * pause;
            }
        }
    }
}

impl Partner for User {
    fn take_turn(&mut self, operation: u64, link: &mut dyn Link) -> Result<usize, TurnFault> {
        let kind = self.kind(operation);
        let mut random = self.stream("tpcc input", operation);
        let (terminal, mut talk) = (&self.terminal, Talk(link));
        match kind {
            Kind::NewOrder => NewOrder::draw(terminal, &mut random).run(&mut talk)?,
            Kind::Payment => {
                Payment::draw(terminal, &mut random).run(&mut talk, &mut self.text)?;
            }
            Kind::OrderStatus => {
                OrderStatus::draw(terminal, &mut random).run(&mut talk, &mut self.text)?;
            }
            Kind::Delivery => Delivery::draw(terminal, &mut random).run(&mut talk)?,
            Kind::StockLevel => StockLevel::draw(terminal, &mut random).run(&mut talk)?,
        }
        Ok(kind as usize)
    }

    fn class_of(&mut self, operation: u64) -> Option<usize> {
        Some(self.kind(operation) as usize)
    }

    fn phase_us(&mut self, operation: u64) -> Option<u64> {
        match self.pace {
            UserPace::Saturate => None,
            UserPace::Think => Some((self.rest_of_pause_s(operation) * 1e6) as u64),
        }
    }

    fn pause_us(&mut self, operation: u64) -> Option<u64> {
        match self.pace {
            UserPace::Saturate => None,
            UserPace::Think => {
                let keying = self.kind(operation + 1).keying_s();
                Some(((self.think_s(operation) + keying) * 1e6) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(warehouses: u64, client: u32) -> User {
        let size = Warehouses { warehouses, items: 100_000, customers: 3000, seed: 5 };
        User::new(size, UserPace::Think, client)
    }

    #[test]
    fn every_deck_holds_the_mix_exactly_and_no_two_are_shuffled_alike() {
        let deck = |client, number: u64| -> Vec<Kind> {
            let user = user(1, client);
            (number * DECK..(number + 1) * DECK).map(|k| user.kind(k)).collect()
        };
        // Numbers as the lab gives them: pairs are 2³² operations apart.
        for number in [0, 1, (1 << 32) / DECK, (1 << 62) / DECK] {
            let mut kinds = deck(0, number);
            assert_ne!(kinds, deck(1, number));
            assert_ne!(kinds, deck(0, number + 1));
            kinds.sort_unstable();
            let count = |kind| kinds.iter().filter(|drawn| **drawn == kind).count();
            assert_eq!(Kind::ALL.map(count), [221, 216, 21, 21, 21]);
        }
    }

    /// The mean of a negative exponential that is cut at ten means is 1 − e⁻¹⁰ means.
    #[test]
    fn think_times_are_negative_exponential_and_cut() {
        let user = user(1, 0);
        let (mut sums, mut counts, mut below) = ([0.0; 5], [0_u32; 5], [0_u32; 5]);
        for operation in 0..200_000 {
            let kind = user.kind(operation);
            let think = user.think_s(operation) / kind.think_mean_s();
            assert!((0.0..=10.0).contains(&think));
            sums[kind as usize] += think;
            counts[kind as usize] += 1;
            below[kind as usize] += u32::from(think < std::f64::consts::LN_2);
        }
        for kind in Kind::ALL {
            let count = f64::from(counts[kind as usize]);
            let mean = sums[kind as usize] / count;
            let median = f64::from(below[kind as usize]) / count;
            assert!((mean - 1.0).abs() < 5.0 / count.sqrt(), "{kind:?}: mean {mean}");
            assert!((median - 0.5).abs() < 2.5 / count.sqrt(), "{kind:?}: {median} below ln 2");
        }
    }

    #[test]
    fn pauses_are_think_time_and_the_keying_of_the_next_one() {
        let mut thinking = user(1, 0);
        for operation in 0..1_000 {
            let pause_s = thinking.pause_us(operation).unwrap() as f64 / 1e6;
            let keying_s = thinking.kind(operation + 1).keying_s();
            assert!((pause_s - keying_s - thinking.think_s(operation)).abs() < 1e-5);
        }
        let mut fast = User { pace: UserPace::Saturate, ..thinking };
        assert_eq!((fast.pause_us(0), fast.phase_us(0)), (None, None));
    }

    /// Terminals that start with a rest of a pause ask at an even rate from the first second on:
    /// one event for each mean pause.
    #[test]
    fn rounds_begin_as_if_terminals_had_been_at_it_for_long() {
        const TERMINALS: u32 = 20_000;
        const SECONDS: usize = 60;
        let (mut starts, mut pauses, mut paused) = ([0.0; SECONDS], 0.0, 0.0);
        for client in 0..TERMINALS {
            let mut user = user(1, client);
            let mut at = user.phase_us(77).unwrap() as f64 / 1e6;
            for operation in 77.. {
                let Some(second) = starts.get_mut(at as usize) else { break };
                *second += 1.0;
                let pause = user.pause_us(operation).unwrap() as f64 / 1e6;
                at += pause;
                pauses += 1.0;
                paused += pause;
            }
        }
        // Pauses that begin within the minute are all counted whole: their mean has no bias.
        let expected = f64::from(TERMINALS) / (paused / pauses);
        assert!((20.0..22.5).contains(&(paused / pauses)), "{}", paused / pauses);
        for (second, count) in starts.iter().enumerate() {
            let off = (count - expected).abs() / expected.sqrt();
            assert!(off < 5.0, "second {second}: {count} of {expected:.0}");
        }
    }
}
