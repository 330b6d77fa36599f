//! A step as a load: its tables, its foreground part, and what becomes of the rows.

use std::sync::Arc;

use super::dataset::PurchaseTables;
use super::role::RolePart;
use super::sizes::{Deletes, Sizes};
use super::steps::BenchmarkStep;
use crate::load::{Content, Load, LoadGroup, Trend, Unit};

impl BenchmarkStep {
    /// The step as a load.
    pub fn load(self, sizes: &Sizes, clients: u32, seed: u64) -> Load {
        let (group, trend) = match self {
            BenchmarkStep::RangeQueries(_) | BenchmarkStep::PointQueries(_) => {
                let trend = match sizes.deletes {
                    Deletes::On => Trend::Steady,
                    Deletes::Off => Trend::Grows,
                };
                let range = matches!(self, BenchmarkStep::RangeQueries(_));
                (if range { LoadGroup::Range } else { LoadGroup::Point }, trend)
            }
            BenchmarkStep::WriteInBulk | BenchmarkStep::WriteInBits
                if sizes.deletes == Deletes::On =>
            {
                (LoadGroup::Write, Trend::Steady)
            }
            _ => (LoadGroup::Write, Trend::Grows),
        };
        Load {
            name: format!("{}{sizes}", self.name()),
            about: self.summary_line(),
            group,
            trend,
            // In the steps that load, an operation is a row already.
            unit: match self {
                BenchmarkStep::RangeQueries(_) | BenchmarkStep::PointQueries(_) => Unit::Statements,
                _ => Unit::Rows(1),
            },
            dataset: Arc::new(PurchaseTables { clients, sizes: sizes.clone(), seed }),
            content: Content::Dialogue(Arc::new(RolePart::of_foreground(
                self, sizes, clients, seed,
            ))),
            background: None,
            options: Vec::new(),
            file: None,
        }
    }
}
