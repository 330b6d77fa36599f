//! What a run of several arms concludes: a comparison for each pair that somebody asks of.

use std::fmt;

use crate::arms::{ArmIndex, Pairing};
use crate::comparison::{CellComparison, Comparison};
use crate::plan::Cell;
use crate::run::EndedArm;
use crate::warning::Warning;

/// Two arms of a run, and what was found between them.
#[derive(Clone, Debug, PartialEq)]
pub struct PairComparison {
    /// Which two.
    pub pairing: Pairing,
    /// The same as that of a run of these two alone, but for what a larger family tells.
    pub comparison: Comparison,
}

/// What the arms of a run are judged against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// All others against this one: base, where nobody asks for another one.
    Arm(ArmIndex),
    /// Each against the one before it.
    Before,
}

impl Reference {
    /// The arm that has no other one to be judged against.
    pub fn first(self) -> ArmIndex {
        match self {
            Reference::Arm(arm) => arm,
            Reference::Before => ArmIndex::BASE,
        }
    }
}

/// `base`, `test2`, or `before`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Arm(arm) => arm.fmt(f),
            Reference::Before => f.pad("before"),
        }
    }
}

/// The answer to a run of several arms.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmsComparison {
    /// What the arms are called, in their order.
    pub labels: Vec<String>,
    /// All cells of the plan, in its order.
    pub cells: Vec<Cell>,
    /// Cells in which the clients of each arm are on one processor with its server, so that they
    /// take turns and what a client needs is part of the rate.
    pub one_processor: Vec<Cell>,
    /// What they are judged against.
    pub reference: Reference,
    /// Each other arm against it: all cells of all of them are one family.
    pub pairs: Vec<PairComparison>,
    /// Each arm against the one before it: a family of their own. They are shown and decide
    /// nothing, for what they say is said against the reference already.
    pub steps: Vec<PairComparison>,
    /// What the reader must know of the whole.
    pub warnings: Vec<Warning>,
    /// Arms that ended before the run did.
    pub ended: Vec<EndedArm>,
}

impl ArmsComparison {
    /// What was found of an arm against the reference, in a cell.
    pub fn against_reference(&self, test: ArmIndex, cell: &Cell) -> Option<&CellComparison> {
        find(&self.pairs, test, cell)
    }
}

fn find<'a>(
    pairs: &'a [PairComparison],
    test: ArmIndex,
    cell: &Cell,
) -> Option<&'a CellComparison> {
    let pair = pairs.iter().find(|pair| pair.pairing.test == test)?;
    pair.comparison.cells.iter().find(|of| of.cell == *cell)
}
