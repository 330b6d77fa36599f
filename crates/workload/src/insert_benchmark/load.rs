//! A step as a load: its tables, its foreground part, and what becomes of the rows.

use std::sync::Arc;

use super::dataset::PurchaseTables;
use super::role::Part;
use super::sizes::{Deletes, Sizes};
use super::steps::Step;
use crate::load::{Content, Group, Load, Trend, Unit};

impl Step {
    /// The step as a load.
    pub fn load(self, sizes: &Sizes, clients: u32, seed: u64) -> Load {
        let (group, trend) = match self {
            Step::RangeQueries(_) | Step::PointQueries(_) => {
                let trend = match sizes.deletes {
                    Deletes::On => Trend::Steady,
                    Deletes::Off => Trend::Grows,
                };
                let range = matches!(self, Step::RangeQueries(_));
                (if range { Group::Range } else { Group::Point }, trend)
            }
            Step::WriteInBulk | Step::WriteInBits if sizes.deletes == Deletes::On => {
                (Group::Write, Trend::Steady)
            }
            _ => (Group::Write, Trend::Grows),
        };
        Load {
            name: format!("{}{sizes}", self.name()),
            about: self.about(),
            group,
            trend,
            // In the steps that load, an operation is a row already.
            unit: match self {
                Step::RangeQueries(_) | Step::PointQueries(_) => Unit::Statements,
                _ => Unit::Rows(1),
            },
            dataset: Arc::new(PurchaseTables { clients, sizes: sizes.clone(), seed }),
            content: Content::Dialogue(Arc::new(Part::foreground(self, sizes, clients, seed))),
            background: None,
            options: Vec::new(),
        }
    }
}
