//! When a cell is over by what was measured of it, whatever the others come to show.

use std::collections::BTreeSet;

use crate::sequential::{Values, is_known, sequence_of, values_of};
use crate::{JudgeError, compare_arms, family};
use dbdyno_model::{
    ArmIndex, Cell, CellComparison, Pairing, Reference, Run, RunPair, Stopping, Verdict,
};
use dbdyno_stats::{self as stats, ConfidenceSequence};

/// Whether a cell is over by what was measured of it: in each arm that is left, against base.
pub fn is_over(run: &Run, cell: &Cell) -> Result<bool, JudgeError> {
    let left = left(run);
    if left.is_empty() {
        return Ok(false);
    }
    for pairing in left {
        if !is_over_between(run.pair(pairing), cell)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The pairs with base that go on; where base has ended nothing is judged on the way.
fn left(run: &Run) -> Vec<Pairing> {
    let has_ended = |arm: ArmIndex| run.ended.iter().any(|ended| ended.arm == arm);
    run.plan
        .against_base()
        .into_iter()
        .filter(|pairing| !has_ended(pairing.base) && !has_ended(pairing.test))
        .collect()
}

fn is_over_between(run: RunPair<'_>, cell: &Cell) -> Result<bool, JudgeError> {
    if let Stopping::Known { half } = run.plan().rule.stopping {
        return is_known(run, cell, half);
    }
    let Some(sequence) = &sequence_of(run.plan(), cell) else { return Ok(false) };
    let Some(values) = values_of(run, cell) else { return Ok(false) };
    let (logs, known_sd) = (&values.logs, values.known_sd);
    let look = stats::judge_sequence(logs, known_sd, run.plan().rule.budget, sequence)?;
    let alpha = family::alpha_among(run.plan().answer_count());
    let is_sharp = match run.plan().rule.stopping {
        Stopping::Detect { effect, power, .. } => finds(&values, sequence, alpha, power) <= effect,
        _ => false,
    };
    let is_told = match look.verdict {
        Verdict::Equal => true,
        // What others of the family could take back again is not over.
        Verdict::Slower | Verdict::Faster => look.p_value <= alpha,
        Verdict::Undecided => false,
    };
    Ok(is_told || is_sharp)
}

/// The cells of a run that are decided, by the rule of its plan, and stay so whatever the others
/// come to show.
pub fn decided_cells(run: &Run) -> Result<BTreeSet<Cell>, JudgeError> {
    let pairs = compare_arms(run, Reference::Arm(ArmIndex::BASE))?.pairs;
    let alpha = family::alpha_among(run.plan.answer_count());
    // What was judged once keeps its verdict, for it gets no look.
    let stays = |run: RunPair<'_>, cell: &CellComparison| match cell.verdict {
        Verdict::Undecided => false,
        Verdict::Equal => true,
        Verdict::Slower | Verdict::Faster => {
            cell.p_value <= alpha || values_of(run, &cell.cell).is_none()
        }
    };
    let left = left(run);
    let cells = if left.is_empty() { Vec::new() } else { run.plan.cells() };
    let mut decided: BTreeSet<Cell> = cells.into_iter().collect();
    for pair in pairs.into_iter().filter(|pair| left.contains(&pair.pairing)) {
        let of_pair = run.pair(pair.pairing);
        let cells = pair.comparison.cells.into_iter().filter(|cell| stays(of_pair, cell));
        let cells: BTreeSet<Cell> = cells.map(|cell| cell.cell).collect();
        decided.retain(|cell| cells.contains(cell));
    }
    Ok(decided)
}

/// The smallest change that they find with this chance and p-value, as a share.
fn finds(values: &Values, sequence: &ConfidenceSequence, alpha: f64, power: f64) -> f64 {
    let sd = stats::paired_estimate(&values.logs, stats::SHOWN_CONFIDENCE).map(|of| of.sd_log);
    let starts = values.logs.len() as u32;
    sd.map_or(f64::INFINITY, |sd| {
        sequence.detectable_change(sd, values.known_sd, starts, alpha, power)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare_run;
    use crate::sample;

    /// Equal arms, and a test arm that does three quarters of the work, with a little noise.
    fn run(pairs: u32, percent: u64) -> Run {
        let mut run = sample::of_pairs(pairs, "point-query", "sqlite:", 1, |round| {
            let share = if round.key.arm == ArmIndex::TEST { percent } else { 100 };
            let noise = 7 * u64::from(round.key.pair * 13 % 5);
            sample::set_events(round, (100 * share + noise) as f64);
            round.start = round.key.pair / 2;
        });
        (run.plan.schedule.pairs, run.plan.schedule.restarts) = (40, 19);
        run.plan.rule.budget = 0.02;
        run.plan.rule.stopping = Stopping::Decided { pairs: 2, horizon: 20 };
        run
    }

    #[test]
    fn a_cell_is_over_when_a_look_decides_it_and_not_before_the_third() {
        let over = |pairs, percent| {
            let run = run(pairs, percent);
            let cell = run.plan.cells().remove(0);
            (is_over(&run, &cell).unwrap(), compare_run(run.first_pair()).unwrap().cells[0].verdict)
        };
        assert_eq!(over(4, 75), (false, Verdict::Undecided));
        assert_eq!(over(20, 75), (true, Verdict::Slower));
        assert_eq!(over(20, 100), (true, Verdict::Equal));
    }
}
