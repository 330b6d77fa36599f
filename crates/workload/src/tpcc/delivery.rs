//! Delivery (clause 2.7): the oldest order of each district goes out, in the background.
//!
//! The terminal's request is answered before anything is asked of the server, so there is nothing
//! to measure in it; see the essay of [`crate::tpcc`].

use dbdyno_model::random::RandomStream;

use super::fill::DISTRICTS;
use super::random::uniform;
use super::statements::Ask;
use super::talk::{Money, Talk};
use super::terminal::Terminal;
use crate::dialogue::{Arg, TurnFault};

/// What the terminal's user has typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    warehouse: i64,
    carrier: i64,
}

impl Delivery {
    /// Draws one (clause 2.7.1).
    pub(super) fn draw(terminal: &Terminal, random: &mut RandomStream) -> Delivery {
        Delivery { warehouse: terminal.warehouse, carrier: uniform(random, 1, 10) as i64 }
    }

    /// Carries it out (clause 2.7.4) as one transaction over all districts. A district in which no
    /// order waits is passed over.
    ///
    /// # Errors
    /// That of the link, or a wrong answer.
    pub(super) fn run(&self, talk: &mut Talk<'_>) -> Result<(), TurnFault> {
        talk.run_control(Ask::BeginToWrite)?;
        for district in 1..=DISTRICTS as i64 {
            if let Some(order) = self.oldest(talk, district)? {
                self.deliver(talk, district, order)?;
            }
        }
        talk.run_control(Ask::Commit)
    }

    /// Takes the oldest order that waits. Another delivery may have been faster between the look
    /// and the grasp; then there is a new oldest one.
    fn oldest(&self, talk: &mut Talk<'_>, district: i64) -> Result<Option<i64>, TurnFault> {
        let home = [Arg::Int(self.warehouse), Arg::Int(district)];
        loop {
            let found = talk.fetch(Ask::Oldest, &home, 0, 1)?;
            if found.rows() == 0 {
                return Ok(None);
            }
            let order = found.int(0, 0)?;
            let [w, d] = home;
            if talk.change_some(Ask::TakeOldest, &[w, d, Arg::Int(order)], 0, 1)? == 1 {
                return Ok(Some(order));
            }
        }
    }

    fn deliver(&self, talk: &mut Talk<'_>, district: i64, order: i64) -> Result<(), TurnFault> {
        let key = [Arg::Int(self.warehouse), Arg::Int(district), Arg::Int(order)];
        let [w, d, o] = key;
        let customer = talk.fetch(Ask::OrderToDeliver, &key, 1, 1)?.int(0, 0)?;
        talk.change_one(Ask::DeliverOrder, &[Arg::Int(self.carrier), w, d, o])?;
        let sum = Money::from_cents(talk.fetch(Ask::SumLines, &key, 1, 1)?.cents_at(0, 0)?);
        talk.change_some(Ask::DeliverLines, &key, 5, 15)?;
        talk.change_one(Ask::CreditCustomer, &[sum.as_arg(), w, d, Arg::Int(customer)])
    }
}
