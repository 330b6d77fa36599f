//! Order-Status (clause 2.6): a customer asks for the last order. It only reads.

use dbdyno_model::random::RandomStream;

use super::fill::DISTRICTS;
use super::payment::CustomerKey;
use super::random::uniform;
use super::statements::Ask;
use super::talk::Talk;
use super::terminal::Terminal;
use crate::dialogue::{Arg, TurnFault};

/// What the terminal's user has typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OrderStatus {
    warehouse: i64,
    district: i64,
    customer: CustomerKey,
}

impl OrderStatus {
    /// Draws one (clause 2.6.1).
    pub(super) fn draw(terminal: &Terminal, random: &mut RandomStream) -> OrderStatus {
        OrderStatus {
            warehouse: terminal.warehouse,
            district: uniform(random, 1, DISTRICTS) as i64,
            customer: CustomerKey::draw(terminal, random),
        }
    }

    /// Carries it out (clause 2.6.2). `text` is room for characters.
    ///
    /// # Errors
    /// That of the link, or a wrong answer.
    pub(super) fn run(&self, talk: &mut Talk<'_>, text: &mut Vec<u8>) -> Result<(), TurnFault> {
        let [w, d] = [Arg::Int(self.warehouse), Arg::Int(self.district)];
        talk.run_control(Ask::BeginToRead)?;
        let c = Arg::Int(self.customer.find(talk, self.warehouse, self.district, text)?);
        talk.show_one(Ask::Customer, &[w, d, c])?;
        // Every customer has placed an order before the load begins.
        let order = talk.fetch(Ask::LastOrder, &[w, d, w, d, c], 1, 1)?.int(0, 0)?;
        talk.show_some(Ask::Lines, &[w, d, Arg::Int(order)], 5, 15)?;
        talk.run_control(Ask::Commit)
    }
}
