//! What the pairs of rounds of two arms say, in the order in which they were measured.

use std::collections::BTreeMap;

use dbdyno_model::{ArmIndex, Cell, Pairing, RateUnit, Round, Run};

/// The rounds of a run by arm, cell and pair.
pub(super) struct Rounds<'a>(BTreeMap<(ArmIndex, &'a Cell), BTreeMap<u32, &'a Round>>);

/// What a pair of rounds says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PairRatio {
    /// Rate of the arm ÷ rate of the other one.
    pub(super) ratio: f64,
    /// The start of the servers in which it was measured.
    pub(super) start: u32,
}

impl<'a> Rounds<'a> {
    /// Of these arms, numbered as in this list.
    pub(super) fn from_run(run: &'a Run, arms: &[ArmIndex]) -> Rounds<'a> {
        let mut rounds: BTreeMap<_, BTreeMap<u32, &Round>> = BTreeMap::new();
        for (number, arm) in ArmIndex::all(arms.len()).zip(arms) {
            for round in run.arm(*arm).rounds() {
                let of_cell = rounds.entry((number, &round.key.cell)).or_default();
                of_cell.insert(round.key.pair, round);
            }
        }
        Rounds(rounds)
    }

    /// The ratios of two arms in a cell; a pair whose rounds say nothing is left out.
    pub(super) fn ratios(&self, pairing: Pairing, cell: &Cell, unit: RateUnit) -> Vec<PairRatio> {
        let both = [pairing.base, pairing.test].map(|arm| self.0.get(&(arm, cell)));
        let [Some(base), Some(test)] = both else {
            return Vec::new();
        };
        let both = base.iter().filter_map(|(pair, base)| Some((*base, *test.get(pair)?)));
        let mut ratios: Vec<(u64, PairRatio)> = both
            .map(|(base, test)| {
                let ratio = unit.rate(test) / unit.rate(base);
                let began = base.started_unix_ms.min(test.started_unix_ms);
                (began, PairRatio { ratio, start: base.start })
            })
            .filter(|(_, pair)| pair.ratio.is_finite() && pair.ratio > 0.0)
            .collect();
        ratios.sort_by_key(|(began, _)| *began);
        ratios.into_iter().map(|(_, pair)| pair).collect()
    }
}
