//! What is known of each load at each client count, arm by arm.

use dbdyno_model::{ArmIndex, Cell};

use super::rounds::PairRatio;
use crate::comparison::log_gain;
use crate::view::{ArmView, CellView};

/// One load at one client count.
pub(super) struct Row {
    pub(super) cell: Cell,
    /// Where it stands among the cells of the plan.
    pub(super) place: usize,
    /// What its load does: the name of a group in JSON.
    pub(super) group: Option<String>,
    /// Whether each client takes turns with the server on one processor.
    pub(super) is_on_one_processor: bool,
    /// What the rates count; empty where nothing was measured.
    pub(super) unit: &'static str,
    /// One for each arm, in their order.
    pub(super) arms: Vec<ArmCell>,
}

/// What is known of an arm in a cell.
#[derive(Default)]
pub(super) struct ArmCell {
    /// What it did.
    pub(super) did: Option<ArmView>,
    /// Against the reference; none of the reference itself.
    pub(super) answer: Option<Answer>,
    /// Against the arm before it; none of base.
    pub(super) step: Option<Answer>,
}

/// What was found between two arms in a cell.
pub(super) struct Answer {
    /// Against which arm.
    pub(super) against: ArmIndex,
    pub(super) view: CellView,
    /// What it rests on, in the order of measuring; empty where it does not rest on rates.
    pub(super) ratios: Vec<PairRatio>,
    /// Numbers of its notes, from 0.
    pub(super) notes: Vec<usize>,
    /// Those of them that stand beside its figure: what speaks against it, and no mere note, which
    /// most answers have.
    pub(super) marks: Vec<usize>,
}

impl Row {
    pub(super) fn new(cell: &Cell, arms: Vec<ArmCell>) -> Row {
        let answer = arms.iter().find_map(|arm| arm.answer.as_ref());
        let unit = answer.map_or("", |answer| match answer.view.measure {
            "max_rate" => "events/s at the limit",
            _ => answer.view.unit,
        });
        let group = answer.and_then(|answer| answer.view.group.clone());
        Row { cell: cell.clone(), place: 0, group, is_on_one_processor: false, unit, arms }
    }

    /// What was found of each arm against the reference.
    pub(super) fn arm_answers(&self) -> impl Iterator<Item = &CellView> {
        self.arms.iter().filter_map(|arm| arm.answer.as_ref()).map(|answer| &answer.view)
    }

    /// The logarithm of what the worst of the arms does of what the reference does; infinite where
    /// nothing was measured.
    pub(super) fn least_gain(&self) -> f64 {
        self.arm_answers().map(log_gain).fold(f64::INFINITY, f64::min)
    }
}
