//! Runs of several arms: judged in pairs, and told as one family.
//!
//! ```text
//!   run of k arms ──pair──▶ base and one test   k − 1 of them   one family: all cells of all
//!                 └─pair──▶ arm and the one before it   k − 1   another family
//! ```
//!
//! Rounds of base stand in each of the first, so that their answers lean on each other: the
//! procedure of Benjamini and Hochberg holds for ratios with one denominator in common, as for
//! comparisons of treatments with one control (Benjamini and Yekutieli, "The Control of the False
//! Discovery Rate in Multiple Testing under Dependency", Annals of Statistics 29, 2001).

use dbdyno_model::{
    ArmIndex, ArmsComparison, Cell, Comparison, PairComparison, Pairing, Plan, Reference, Run,
    RunPair,
};

use crate::cautions::saturation;
use crate::comparison::{arm_label, conclude_comparison, draft_comparison, whole_run_warnings};
use crate::error::JudgeError;
use crate::family;

/// Judges a run of two arms or more against `reference`, which is base as a rule.
///
/// # Errors
/// Rates that cannot be judged, which only a damaged store can hold.
pub fn compare_arms(run: &Run, reference: Reference) -> Result<ArmsComparison, JudgeError> {
    let plan = &run.plan;
    let pairings = match reference {
        Reference::Before => plan.against_before(),
        Reference::Arm(base) => against(plan, base),
    };
    Ok(ArmsComparison {
        pairs: family_of(run, pairings)?,
        steps: family_of(run, plan.against_before())?,
        ..nothing_of(run, plan.arms.indices().as_slice(), reference)
    })
}

/// A comparison of two arms in the form of one of several.
pub fn as_arms(run: RunPair<'_>, comparison: Comparison) -> ArmsComparison {
    let only = vec![PairComparison { pairing: Pairing::USUAL, comparison }];
    let reference = Reference::Arm(ArmIndex::BASE);
    let arms = [run.pairing.base, run.pairing.test];
    ArmsComparison { pairs: only.clone(), steps: only, ..nothing_of(run.whole, &arms, reference) }
}

/// What is known of these arms of a run before anything is judged.
fn nothing_of(run: &Run, arms: &[ArmIndex], reference: Reference) -> ArmsComparison {
    let labels = arms.iter().map(|arm| arm_label(&run.plan.arms[*arm], &run.environment[*arm]));
    ArmsComparison {
        labels: labels.collect(),
        cells: run.plan.cells(),
        one_processor: one_processor(run, arms),
        reference,
        pairs: Vec::new(),
        steps: Vec::new(),
        warnings: whole_run_warnings(run),
        ended: run.ended.clone(),
    }
}

/// Cells in which clients take turns with the servers on one processor. An embedded arm has no
/// clients, and servers by URL are where they are.
fn one_processor(run: &Run, arms: &[ArmIndex]) -> Vec<Cell> {
    let mut specs = arms.iter().map(|arm| &run.plan.arms[*arm]);
    if !specs.all(|spec| spec.can_be_restarted() && !spec.is_embedded()) {
        return Vec::new();
    }
    let pair = run.pair(Pairing { base: arms[0], test: arms[1] });
    let is_one = |cell: &Cell| {
        saturation::cell_placement(pair, cell).is_some_and(|placement| placement.is_one_processor())
    };
    run.plan.cells().into_iter().filter(is_one).collect()
}

/// Judges two arms of a run: one of all those that could have been asked for against the same base,
/// so that who picks one out of eleven is told no more of it than who looks at all.
///
/// # Errors
/// Rates that cannot be judged, which only a damaged store can hold.
pub fn compare_pair(pair: RunPair<'_>) -> Result<Comparison, JudgeError> {
    let pairs = family_of(pair.whole, against(pair.plan(), pair.pairing.base))?;
    let found = pairs.into_iter().find(|found| found.pairing == pair.pairing);
    Ok(found.expect("two different arms of the run").comparison)
}

/// All other arms against this one.
fn against(plan: &Plan, base: ArmIndex) -> Vec<Pairing> {
    let others = plan.arms.indices().filter(|arm| *arm != base);
    others.map(|test| Pairing { base, test }).collect()
}

/// Judges these pairs as one family.
fn family_of(run: &Run, pairings: Vec<Pairing>) -> Result<Vec<PairComparison>, JudgeError> {
    let runs = pairings.into_iter().map(|pairing| run.pair(pairing));
    let mut drafts = runs.clone().map(draft_comparison).collect::<Result<Vec<_>, _>>()?;
    let cells = drafts.iter_mut().flat_map(|draft| &mut draft.cells);
    let family = family::control_false_discoveries(&mut cells.collect::<Vec<_>>());
    let concluded = runs.zip(drafts).map(|(pair, draft)| {
        let comparison = conclude_comparison(pair, draft, family)?;
        Ok(PairComparison { pairing: pair.pairing, comparison })
    });
    concluded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::compare_run;
    use crate::sample;

    /// What was measured of the others changes nothing between two arms.
    #[test]
    fn two_arms_of_three_are_judged_as_if_they_were_alone() {
        let two = sample::of_pairs(12, "point-query", "mysql://u@h/d", 1, |_| {});
        let mut three = two.clone();
        let last = ArmIndex(2);
        three.plan.arms.push(last, two.plan.arms[ArmIndex::TEST].clone());
        three.environment.push(last, two.environment[ArmIndex::TEST].clone());
        let mut moved: Vec<_> = two.arm(ArmIndex::TEST).rounds().cloned().collect();
        moved.iter_mut().for_each(|round| round.key.arm = last);
        three.rounds.iter_mut().for_each(|round| round.statements /= 2);
        three.rounds.retain(|round| round.key.arm == ArmIndex::TEST);
        three.rounds.extend(two.arm(ArmIndex::BASE).rounds().cloned());
        three.rounds.extend(moved);
        let pair = three.pair(Pairing { base: ArmIndex::BASE, test: last });
        let alone = compare_run(two.first_pair()).unwrap();
        assert_eq!(compare_run(pair).unwrap().cells, alone.cells);
        let other = compare_run(three.first_pair()).unwrap();
        assert_ne!(other.cells[0].rqps, alone.cells[0].rqps);
    }
}
