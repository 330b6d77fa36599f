//! Stock-Level (clause 2.8): how many of the items that were sold last are running short. It only
//! reads.

use dbdyno_model::random::RandomStream;

use super::random::uniform;
use super::statements::Ask;
use super::talk::Talk;
use super::terminal::Terminal;
use crate::dialogue::{Arg, TurnFault};

/// What the terminal's user has typed. Warehouse and district are always those of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StockLevel {
    warehouse: i64,
    district: i64,
    threshold: i64,
}

impl StockLevel {
    /// Draws one (clause 2.8.1).
    pub(super) fn draw(terminal: &Terminal, random: &mut RandomStream) -> StockLevel {
        StockLevel {
            warehouse: terminal.warehouse,
            district: terminal.district,
            threshold: uniform(random, 10, 20) as i64,
        }
    }

    /// Carries it out (clause 2.8.2).
    ///
    /// # Errors
    /// That of the link, or a wrong answer.
    pub(super) fn run(&self, talk: &mut Talk<'_>) -> Result<(), TurnFault> {
        let [w, d] = [Arg::Int(self.warehouse), Arg::Int(self.district)];
        talk.run_control(Ask::BeginToRead)?;
        talk.show_one(Ask::LowStock, &[w, Arg::Int(self.threshold), w, d])?;
        talk.run_control(Ask::Commit)
    }
}
