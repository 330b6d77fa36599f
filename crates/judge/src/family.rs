//! The cells of a comparison as one family: which verdicts a table of this size may tell.
//!
//! Each cell has been judged by itself. Here the p-values of all that are judged become q-values
//! ([`dbdyno_stats::benjamini_hochberg`]), and a cell whose *slower* or *faster* is one of so many
//! chances loses it, and says so. *Equal* is no discovery: it is proved against the budget, and is
//! left alone. So is a cell that something blocks, which is in no family.
//!
//! ```text
//!   rates     point-query 1   point-query 64   scan 1   …     one family
//!   metrics   server CPU, p99 of each of them           …     another one, under the same rule
//! ```
//!
//! Costs and latencies move with the rate. In one family with it their number would make the answer
//! that most people want blunter, and where the rate changed, their small p-values would vouch for
//! any other. So each of the two keeps its promise by itself. Families that are tested apart, by
//! the question that they answer: after Yekutieli, "Hierarchical False Discovery Rate-Controlling
//! Methodology", JASA 103, 2008.

use dbdyno_model::{
    CellComparison, MetricComparison, MetricVerdict, Severity, TestFamily, Verdict, Warning,
};
use dbdyno_stats as stats;

/// The p-value with which one of so many cells is told whatever the others show: what one errs in
/// by itself, or less where they are more than five.
pub(crate) fn alpha_among(cells: usize) -> f64 {
    stats::DECISION_ALPHA.min(stats::FALSE_DISCOVERIES / cells.max(1) as f64)
}

/// Gives all cells and metrics their q-values, and takes back what does not hold among so many.
pub(crate) fn control_false_discoveries(cells: &mut [&mut CellComparison]) -> TestFamily {
    TestFamily {
        cells: control_rates(cells),
        metrics: control_metrics(cells),
        p_at_most: stats::DECISION_ALPHA,
        q_at_most: stats::FALSE_DISCOVERIES,
    }
}

/// The first family, and how many are in it.
fn control_rates(cells: &mut [&mut CellComparison]) -> u32 {
    let is_judged = |cell: &CellComparison| {
        !cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks)
    };
    let judged: Vec<usize> = (0..cells.len()).filter(|&at| is_judged(cells[at])).collect();
    let p_values: Vec<f64> = judged.iter().map(|&at| cells[at].p_value).collect();
    cells.iter_mut().for_each(|cell| cell.q_value = None);
    for (&at, q_value) in judged.iter().zip(stats::benjamini_hochberg(&p_values)) {
        let cell = &mut cells[at];
        cell.q_value = Some(q_value);
        let is_told = matches!(cell.verdict, Verdict::Slower | Verdict::Faster);
        if is_told && q_value > stats::FALSE_DISCOVERIES {
            let text = format!(
                "{} by itself (p = {:.2} %), but among {} cells one like it is to be expected by \
                 chance (q = {:.0} %): measure this cell alone, or more pairs",
                cell.verdict.name(),
                100.0 * cell.p_value,
                judged.len(),
                100.0 * q_value
            );
            cell.verdict = Verdict::Undecided;
            cell.warnings.push(Warning::new(Severity::Note, "many-cells", text));
        }
    }
    judged.len() as u32
}

/// The second one. What it takes back keeps its interval and loses its word, without a warning: a
/// warning would mark the rate of the cell.
fn control_metrics(cells: &mut [&mut CellComparison]) -> u32 {
    let metrics = cells.iter_mut().flat_map(|cell| &mut *cell.metrics);
    let mut judged: Vec<&mut MetricComparison> = metrics.collect();
    let p_values: Vec<f64> = judged.iter().map(|metric| metric.p_value).collect();
    for (metric, q_value) in judged.iter_mut().zip(stats::benjamini_hochberg(&p_values)) {
        metric.q_value = Some(q_value);
        let is_told = matches!(metric.verdict, MetricVerdict::Higher | MetricVerdict::Lower);
        if is_told && q_value > stats::FALSE_DISCOVERIES {
            metric.verdict = MetricVerdict::Undecided;
        }
    }
    judged.len() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use dbdyno_model::{Interval, Metric};

    /// All of them are one family.
    fn whole(cells: &mut [CellComparison]) -> TestFamily {
        control_false_discoveries(&mut cells.iter_mut().collect::<Vec<_>>())
    }

    fn cells(p_values: &[f64]) -> Vec<CellComparison> {
        let run = sample::point_queries("sqlite:", 1, |_| {});
        let cell = crate::compare_run(run.first_pair()).unwrap().cells.remove(0);
        let cell = |&p_value: &f64| CellComparison {
            p_value,
            verdict: if p_value < 0.01 { Verdict::Slower } else { Verdict::Undecided },
            ..cell.clone()
        };
        p_values.iter().map(cell).collect()
    }

    #[test]
    fn a_cell_among_many_needs_more_proof() {
        let mut few = cells(&[0.008, 0.3, 0.6]);
        whole(&mut few);
        assert_eq!(few[0].verdict, Verdict::Slower);
        assert_eq!(few[0].q_value.map(|q| (q * 1e6).round() / 1e6), Some(0.024));
        let mut many = cells(&[0.008, 0.3, 0.6, 0.4, 0.5, 0.9, 0.8, 0.7]);
        whole(&mut many);
        assert_eq!(many[0].verdict, Verdict::Undecided);
        let lost = &many[0].warnings.last().unwrap();
        assert_eq!(lost.code, "many-cells");
        assert!(lost.text.starts_with("slower by itself (p = 0.80 %), but among 8"), "{lost:?}");
        // Others that show something vouch for it.
        let mut strong = cells(&[0.008, 0.0001, 0.0002, 0.0001, 0.5, 0.9, 0.8, 0.7]);
        whole(&mut strong);
        assert_eq!(strong[0].verdict, Verdict::Slower);
    }

    /// What ends the measuring of a cell must hold when all of them are known.
    #[test]
    fn who_is_told_among_many_stays_told() {
        assert_eq!(alpha_among(1), stats::DECISION_ALPHA);
        assert_eq!(alpha_among(5), stats::DECISION_ALPHA);
        for others in [5, 7, 39] {
            let mut p_values = vec![0.9; others];
            p_values.push(alpha_among(others + 1) * 0.999);
            let mut all = cells(&p_values);
            whole(&mut all);
            assert_eq!(all[others].verdict, Verdict::Slower, "{others}");
        }
    }

    #[test]
    fn a_blocked_cell_is_in_no_family() {
        let mut cells = cells(&[0.008, 0.3, 0.6, 0.4, 0.5, 0.9]);
        for cell in &mut cells[1..] {
            cell.warnings.push(Warning::new(Severity::Blocks, "x", "y"));
        }
        whole(&mut cells);
        assert_eq!((cells[0].verdict, cells[0].q_value), (Verdict::Slower, Some(0.008)));
        assert_eq!(cells[1].q_value, None);
    }

    fn metric(metric: Metric, p_value: f64) -> MetricComparison {
        let is_told = p_value < 0.01;
        let verdict = if is_told { MetricVerdict::Higher } else { MetricVerdict::Undecided };
        let ratio = Interval { estimate: 1.1, low: 1.02, high: 1.19 };
        MetricComparison { metric, ratio, verdict, p_value, q_value: None }
    }

    /// Cells with these p-values of their rates, and of their metrics.
    fn cells_with(all: &[(f64, [f64; 2])]) -> Vec<CellComparison> {
        let rates: Vec<f64> = all.iter().map(|(rate, _)| *rate).collect();
        let mut cells = cells(&rates);
        for (cell, (_, p_values)) in cells.iter_mut().zip(all) {
            let both = Metric::ALL.into_iter().zip(p_values);
            cell.metrics = both.map(|(one, p_value)| metric(one, *p_value)).collect();
        }
        cells
    }

    #[test]
    fn metrics_are_a_family_of_their_own() {
        let rates = [0.0001, 0.3, 0.6, 0.009];
        let p_values = [[0.008, 0.3], [0.6, 0.4], [0.5, 0.9], [0.8, 0.7]];
        let mut with: Vec<_> = rates.into_iter().zip(p_values).collect();
        let mut many = cells_with(&with);
        let family = whole(&mut many);
        assert_eq!((family.cells, family.metrics), (4, 8));
        let lost = many[0].metrics[0];
        assert_eq!(lost.verdict, MetricVerdict::Undecided, "one of eight has such a p-value");
        assert_eq!(lost.q_value.map(|q| (q * 1e6).round() / 1e6), Some(0.064));
        assert_eq!(lost.ratio.low, 1.02, "its interval stays");
        // The rates are told as if there were no metrics, and the metrics as if there were no
        // rates.
        let mut alone = cells(&rates);
        whole(&mut alone);
        for (with, alone) in many.iter().zip(&alone) {
            assert_eq!((with.verdict, with.q_value), (alone.verdict, alone.q_value));
            assert_eq!(with.warnings, alone.warnings);
        }
        with.truncate(1);
        let mut few = cells_with(&with);
        whole(&mut few);
        assert_eq!(few[0].metrics[0].verdict, MetricVerdict::Higher, "of two it is proof");
        assert_eq!(few[0].metrics[1].verdict, MetricVerdict::Undecided);
    }
}
