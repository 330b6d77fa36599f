//! Whether the fixed cost of a statement changed, or the cost of each row.
//!
//! ```text
//!   µs per event │              ╱ test     ranges of 10 rows: +17 %, of 1000 rows: +1 %
//!                │         ╱  ╱ base         fixed cost    a: +18 %   slower
//!                │    ╱  ╱                   cost per row  b:  0 %    equal
//!             a  ├ ╱ ╱                     so what changed lies above the storage engine
//!                └──────────────── rows
//! ```
//!
//! `cost(rows) = a + b·rows` with a, b ≥ 0, fitted to the logarithms of the costs, for noise is a
//! percentage. As for curves over clients ([`mod@crate::usl`]), what is inferred rests on the fit
//! without the bounds. Intervals of `a_test ÷ a_base` are Fieller's: where the fixed cost drowns in
//! that of the rows, they have no end, and there is no verdict.
//!
//! A line is a description: caches that overflow, or a sort that spills, bend it. Where a point is
//! proved to lie off its line by more than the budget, nothing is judged.

use dbdyno_model::{
    Arm, CostChange, CostChanges, CostFit, CostLine, Interval, PerArm, Severity, Verdict, Warning,
};

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::decision::{budget_log, few_rounds};
use crate::error::StatsError;
use crate::fit::{
    Means, PointLogs, Solution, add_scaled, estimate_contrast, least_squares,
    least_squares_at_least_zero, nearest_to_one, of_arm, residuals,
};
use crate::power::MIN_PAIRS;
use crate::quotient::ratio_bounds;
use crate::several_questions::{self, Question};
use crate::student::Estimate;

/// With fewer sizes whether they lie on a line cannot be seen.
pub(crate) const COST_POINTS_LEAST: usize = 3;

/// What costs at several numbers of rows say.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCosts {
    /// The fitted lines; `None` where there are too few sizes.
    pub fit: Option<CostFit>,
    /// Why there is no fit or no verdict, and what speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// Fits lines to the costs of both arms and judges what differs: for each of several `measures` of
/// the cost of the same events, the logarithms of costs by number of rows. See
/// [`crate::judge_starts`] for `between_sd` and [`crate::judge_pairs()`] for `budget`.
///
/// The two questions of all measures are one family: chance calls any of them slower or faster in
/// no more than [`DECISION_ALPHA`] of all families in which nothing changed (Holm), and *equal* is
/// proved for all together with 95 % confidence.
///
/// Assumes independent pairs at every size, noise of at most some per cent, and lines; where the
/// points speak against the last, nothing is judged.
///
/// # Errors
/// A point without pairs, a logarithm that is not finite or beyond ±50, a budget outside
/// 0 ≤ budget < 1.
pub fn row_costs(
    measures: &[Vec<PointLogs>],
    between_sd: f64,
    budget: f64,
) -> Result<Vec<RowCosts>, StatsError> {
    let budget_log = budget_log(budget)?;
    let questions = 2 * measures.len();
    let confidence = several_questions::simultaneous_confidence(questions);
    let mut costs = Vec::with_capacity(measures.len());
    let (mut asked, mut of) = (Vec::new(), Vec::new());
    for (index, points) in measures.iter().enumerate() {
        let (cost, ratios) = one(points, between_sd, budget_log)?;
        for ratio in ratios.iter().flatten() {
            let (low, high) = ratio.bounds(confidence);
            asked.push(Question {
                better: -ratio.ratio().ln(),
                p_value: ratio.p_value(),
                low: -high.ln(),
                high: -low.ln(),
            });
        }
        of.extend(ratios.map(|ratios| (index, ratios)));
        costs.push(cost);
    }
    let verdicts = several_questions::family_verdicts(&asked, questions, budget_log);
    for ((index, ratios), verdicts) in of.iter().zip(verdicts.chunks_exact(2)) {
        let change = |at: usize| {
            let (low, high) = ratios[at].bounds(SHOWN_CONFIDENCE);
            let may_tell = costs[*index].warnings.is_empty();
            CostChange {
                ratio: Interval { estimate: ratios[at].ratio(), low, high },
                verdict: if may_tell { verdicts[at] } else { Verdict::Undecided },
            }
        };
        let changes = CostChanges { fixed: change(0), per_row: change(1) };
        costs[*index].fit.iter_mut().for_each(|fit| fit.changes = Some(changes));
    }
    Ok(costs)
}

/// The lines of one measure, and the ratios of their parameters where they may be judged.
fn one(
    points: &[PointLogs],
    between_sd: f64,
    budget_log: f64,
) -> Result<(RowCosts, Option<[Ratio; 2]>), StatsError> {
    let means = Means::from_points(points)?;
    let without = |warning| Ok((RowCosts { fit: None, warnings: vec![warning] }, None));
    if means.at.len() < COST_POINTS_LEAST {
        let text = format!(
            "fixed cost and cost per row need {COST_POINTS_LEAST} sizes or more, and there are {}; \
             add one, as in --load 'read-only_range=10,read-only,read-only_range=10000'",
            means.at.len()
        );
        return without(Warning::new(Severity::Note, "cost-few-sizes", text));
    }
    let fitted = |arm: Arm| RowCostFit::of(&means.at, &means.logs[arm]);
    let (Some(base), Some(test)) = (fitted(Arm::Base), fitted(Arm::Test)) else {
        return without(not_a_line("the cost falls as rows are added".to_owned()));
    };
    let both = PerArm { base, test };
    let arms = PerArm::try_from_fn(|arm| both[arm].line(points, arm))?;
    let least = points.iter().map(|point| point.pairs.len()).min().unwrap_or(0);
    let mut warnings = Vec::new();
    if least < MIN_PAIRS as usize {
        warnings = few_rounds(u32::try_from(least).unwrap_or(u32::MAX), "pairs of rounds");
    }
    let bent = bend(points, &both, budget_log);
    let ratios =
        bent.is_none().then(|| [0, 1].map(|index| Ratio::of(points, &both, index, between_sd)));
    warnings.extend(bent);
    Ok((RowCosts { fit: Some(CostFit { arms, changes: None }), warnings }, ratios))
}

/// `ln(a + b·rows)` with its derivatives.
fn line(theta: &[f64; 2], rows: f64) -> Option<(f64, [f64; 2])> {
    let cost = theta[0] + theta[1] * rows;
    (cost > 0.0 && cost.is_finite()).then(|| (cost.ln(), [1.0 / cost, rows / cost]))
}

/// Linear least squares with relative weights.
fn start(at: &[f64], logs: &[f64], free: [bool; 2]) -> Option<[f64; 2]> {
    let rows: Vec<[f64; 2]> =
        at.iter().zip(logs).map(|(&rows, &log)| [(-log).exp(), rows * (-log).exp()]).collect();
    nearest_to_one(&rows, free)
}

/// The fit of one arm: with a, b ≥ 0 to be shown, and without these bounds to infer from.
struct RowCostFit {
    held: Solution<2>,
    free: Solution<2>,
}

impl RowCostFit {
    fn of(at: &[f64], logs: &[f64]) -> Option<RowCostFit> {
        let begin = |free| start(at, logs, free);
        let held = least_squares_at_least_zero(line, at, logs, begin, [0, 1])?;
        let from =
            begin([true; 2]).filter(|theta| at.iter().all(|&rows| line(theta, rows).is_some()));
        let free = least_squares(line, at, logs, from.unwrap_or(held.theta), [true; 2])?;
        Some(RowCostFit { held, free })
    }

    fn line(&self, points: &[PointLogs], arm: Arm) -> Result<CostLine, StatsError> {
        let parameter = |index: usize| {
            let mut slopes = [0.0; 2];
            slopes[index] = 1.0;
            let gradient = of_arm(&self.free, arm, slopes);
            let estimate = estimate_contrast(points, self.free.theta[index], &gradient, 0.0);
            let (low, high) = estimate.bounds(SHOWN_CONFIDENCE)?;
            let shown = self.held.theta[index];
            Ok::<_, StatsError>(Interval {
                estimate: shown,
                low: low.max(0.0).min(shown),
                high: high.max(shown),
            })
        };
        let misfit = self.held.residuals.iter().map(|left| left.exp_m1().abs()).fold(0.0, f64::max);
        Ok(CostLine { fixed_us: parameter(0)?, per_row_us: parameter(1)?, misfit })
    }
}

/// A parameter of the test arm over that of the base arm.
struct Ratio {
    values: [f64; 2],
    errors: [Estimate; 3],
    difference: Estimate,
}

impl Ratio {
    fn of(points: &[PointLogs], both: &PerArm<RowCostFit>, index: usize, between_sd: f64) -> Ratio {
        let values = [both.test.free.theta[index], both.base.free.theta[index]];
        let mut slopes = [0.0; 2];
        slopes[index] = 1.0;
        let test = of_arm(&both.test.free, Arm::Test, slopes);
        let base = of_arm(&both.base.free, Arm::Base, slopes);
        // An error in the ratio of the arms is told as one of the test arm, twice its half.
        let known = 2.0 * between_sd;
        let less = |times: f64| {
            let value = values[0] - times * values[1];
            estimate_contrast(points, value, &add_scaled(&test, &base, -times), 0.0)
        };
        let widened = |mut estimate: Estimate| {
            let own = estimate_contrast(points, 0.0, &test, known).standard_error.powi(2)
                - estimate_contrast(points, 0.0, &test, 0.0).standard_error.powi(2);
            let before = estimate.standard_error;
            estimate.standard_error = before.hypot(own.max(0.0).sqrt());
            if before > 0.0 {
                estimate.degrees *= (estimate.standard_error / before).powi(4);
            }
            estimate
        };
        let ratio = ratio_of(values);
        let of_base = estimate_contrast(points, values[1], &base, 0.0);
        let of_test = widened(estimate_contrast(points, values[0], &test, 0.0));
        let errors = [of_test, of_base, widened(less(ratio))];
        Ratio { values, errors, difference: widened(less(1.0)) }
    }

    /// At least zero; not a number where the base arm has none.
    fn ratio(&self) -> f64 {
        let [test, base] = self.values;
        if base > 0.0 { test.max(0.0) / base } else { f64::NAN }
    }

    fn p_value(&self) -> f64 {
        if self.ratio().is_finite() { self.difference.p_value() } else { 1.0 }
    }

    fn bounds(&self, confidence: f64) -> (f64, f64) {
        let (low, high) = ratio_bounds(self.values, self.errors, ratio_of(self.values), confidence);
        let ratio = self.ratio();
        (low.min(ratio), high.max(ratio))
    }
}

/// The quotient, or 1 where there is none.
fn ratio_of([test, base]: [f64; 2]) -> f64 {
    if test > 0.0 && base > 0.0 { test / base } else { 1.0 }
}

/// Where the points are proved to be off the line by more than the budget: by all points of both
/// arms together at [`DECISION_ALPHA`].
fn bend(points: &[PointLogs], both: &PerArm<RowCostFit>, budget_log: f64) -> Option<Warning> {
    let alpha = DECISION_ALPHA / (2 * points.len()) as f64;
    let mut worst = None::<(f64, f64, Arm)>;
    for arm in Arm::BOTH {
        for (estimate, point) in residuals(points, &both[arm].free, line, arm).iter().zip(points) {
            let proved = estimate.p_value() < alpha && estimate.mean.abs() > budget_log;
            if proved && worst.is_none_or(|(left, ..)| estimate.mean.abs() > left.abs()) {
                worst = Some((estimate.mean, point.at, arm));
            }
        }
    }
    let (left, rows, arm) = worst?;
    let (percent, word) = (left.exp_m1().abs() * 100.0, if left > 0.0 { "more" } else { "less" });
    Some(not_a_line(format!(
        "at {rows:.0} rows {arm} costs {percent:.1} % {word} than its line, beyond noise and budget"
    )))
}

fn not_a_line(why: String) -> Warning {
    let text = format!(
        "cost is no straight line over rows here, so neither part is judged: {why}; caches that \
         overflow and sorts that spill do this, try sizes that are nearer to each other"
    );
    Warning::new(Severity::Caution, "cost-not-a-line", text)
}
