//! The rate over the number of clients: two curves, and what differs between them.
//!
//! ```text
//!   ln X │         ____ base      one number at 16 clients says: −6 %
//!        │      ·´ ___ ·          the curves say which part of it is
//!        │    ·´·´     test         λ  a client alone does less           −1 %
//!        │  ·´·´                    σ  clients queue for each other       −5 %
//!        │ ·                        κ  clients slow each other down        0 %
//!        └────────────── N                                        together −6 %
//! ```
//!
//! Gunther's universal scalability law, `X(N) = λN / (1 + σ(N−1) + κN(N−1))` with σ, κ ≥ 0
//! (*Guerrilla Capacity Planning*, Springer 2007, ch. 4–6), is fitted to the logarithms of the
//! rates. What is *shown* obeys σ, κ ≥ 0. What is *inferred* rests on the fit without these bounds,
//! whose estimates are close to normal even where the truth is 0, and intervals are cut at 0
//! afterwards: an estimate at its bound has no usual interval, and neither the percentile bootstrap
//! nor the delta method is right there (Andrews, "Inconsistency of the Bootstrap when a Parameter
//! is on the Boundary of the Parameter Space", Econometrica 68, 2000).
//!
//! The law is a description, and many servers do not obey it. Where a point is proved to lie off
//! its curve by more than the budget, no parameter is judged.

use dbdyno_model::{
    Arm, BandPoint, CurveChange, CurveFit, CurveQuestion, Interval, PerArm, Severity, UslCurve,
    Verdict, Warning,
};

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};
use crate::decision::{budget_log, few_rounds};
use crate::error::StatsError;
use crate::fit::{
    Gradient, Means, PointLogs, Solution, add_scaled, estimate_contrast, least_squares,
    least_squares_at_least_zero, nearest_to_one, of_arm, residuals,
};
use crate::power::MIN_PAIRS;
use crate::quotient::ratio_bounds;
use crate::several_questions::{self, Question};
use crate::student::Estimate;

/// Fewer points do not tell three parameters from a law that does not hold.
pub(crate) const USL_POINTS_LEAST: usize = 4;
/// The largest number of clients must be this many times the smallest one, so that contention can
/// be told from coherency.
const USL_SPREAD_LEAST: f64 = 4.0;
/// The smallest number of clients; with more, the rate of one client would be guessed.
const USL_SMALLEST_MOST: f64 = 2.0;
/// Nothing is said beyond this many times the largest number of clients.
const USL_REACH: f64 = 2.0;

/// What the rates at several client counts say.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The fitted curves; `None` where there are too few points.
    pub fit: Option<CurveFit>,
    /// Why there is no fit or no verdict, and what speaks against the assumptions.
    pub warnings: Vec<Warning>,
}

/// Fits the universal scalability law to both arms and judges what differs, from `points`, the
/// logarithms of rates by number of clients; see [`crate::judge_starts`] for `between_sd` and
/// [`crate::judge_pairs()`] for `budget`.
///
/// The five questions are one family: chance calls any of them slower or faster in no more than
/// [`DECISION_ALPHA`] of all pairs of curves in which nothing changed (Holm), and *equal* is proved
/// for all five together with 95 % confidence. Effects of σ and κ are those on the rate at the
/// largest number of clients; with that of λ they add up to the whole difference of the two curves
/// there (each is the mean over both orders in which σ and κ can change, as Shapley divides a sum).
///
/// Assumes independent pairs at every client count, noise of at most some per cent, and that the
/// law describes the server; where the points speak against the last, no question is answered.
///
/// # Errors
/// A point without pairs, a logarithm that is not finite or beyond ±50, a budget outside
/// 0 ≤ budget < 1.
pub fn fit_usl(points: &[PointLogs], between_sd: f64, budget: f64) -> Result<Curves, StatsError> {
    let budget_log = budget_log(budget)?;
    let means = Means::from_points(points)?;
    if let Some(warning) = too_few(&means.at) {
        return Ok(Curves { fit: None, warnings: vec![warning] });
    }
    let fitted = |arm: Arm| UslFit::of(&means.at, &means.logs[arm]);
    let (Some(base), Some(test)) = (fitted(Arm::Base), fitted(Arm::Test)) else {
        return Ok(Curves { fit: None, warnings: vec![superlinear()] });
    };
    let both = PerArm { base, test };
    let limit = USL_REACH * means.at.iter().copied().fold(0.0, f64::max);
    let arms = PerArm::try_from_fn(|arm| both[arm].curve(points, arm, limit))?;
    let least = points.iter().map(|point| point.pairs.len()).min().unwrap_or(0);
    let mut warnings = few_rounds(u32::try_from(least).unwrap_or(u32::MAX), "pairs of rounds");
    let against = misfit(points, &both, budget_log)?;
    let changes = if against.is_none() {
        warnings.extend(vague(&arms));
        let asked = UslQuestion { points, both: &both, arms: &arms, between_sd, limit };
        asked.changes(least >= MIN_PAIRS as usize, budget_log)?
    } else {
        Vec::new()
    };
    warnings.extend(against);
    Ok(Curves { fit: Some(CurveFit { arms, changes }), warnings })
}

/// `ln X(N)` with its derivatives by ln λ, σ and κ.
fn law(theta: &[f64; 3], clients: f64) -> Option<(f64, [f64; 3])> {
    let (waits, talks) = (clients - 1.0, clients * (clients - 1.0));
    let divisor = 1.0 + theta[1] * waits + theta[2] * talks;
    (divisor > 0.0 && divisor.is_finite()).then(|| {
        let log = theta[0] + clients.ln() - divisor.ln();
        (log, [1.0, -waits / divisor, -talks / divisor])
    })
}

/// What a client waits for an answer, `N/X`, with its derivatives by ln λ, σ and κ: linear in all
/// but the first, and defined where the law has no logarithm.
fn response(theta: &[f64; 3], clients: f64) -> (f64, [f64; 3]) {
    let (waits, talks) = (clients - 1.0, clients * (clients - 1.0));
    let alone = (-theta[0]).exp();
    let response = alone * (1.0 + theta[1] * waits + theta[2] * talks);
    (response, [-response, alone * waits, alone * talks])
}

/// Linear least squares of `N/X = (1 + σ(N−1) + κN(N−1)) / λ` with relative weights.
fn start(at: &[f64], logs: &[f64], free: [bool; 3]) -> Option<[f64; 3]> {
    let rows: Vec<[f64; 3]> = at
        .iter()
        .zip(logs)
        .map(|(&clients, &log)| {
            let share = (log - clients.ln()).exp();
            [share, share * (clients - 1.0), share * clients * (clients - 1.0)]
        })
        .collect();
    let [inverse, waits, talks] = nearest_to_one(&rows, free)?;
    (inverse > 0.0).then(|| [-inverse.ln(), waits / inverse, talks / inverse])
}

fn held(at: &[f64], logs: &[f64]) -> Option<Solution<3>> {
    least_squares_at_least_zero(law, at, logs, |free| start(at, logs, free), [1, 2])
}

/// The number of clients with the highest rate.
fn peak(theta: &[f64; 3]) -> f64 {
    if theta[2] <= 0.0 {
        return if theta[1] < 1.0 { f64::INFINITY } else { 1.0 };
    }
    ((1.0 - theta[1]).max(0.0) / theta[2]).sqrt().max(1.0)
}

/// The fit of one arm: with σ, κ ≥ 0 to be shown, and without these bounds to infer from.
struct UslFit {
    held: Solution<3>,
    free: Solution<3>,
}

impl UslFit {
    fn of(at: &[f64], logs: &[f64]) -> Option<UslFit> {
        let held = held(at, logs)?;
        let from = start(at, logs, [true; 3])
            .filter(|theta| at.iter().all(|&clients| law(theta, clients).is_some()));
        let free = least_squares(law, at, logs, from.unwrap_or(held.theta), [true; 3])?;
        Some(UslFit { held, free })
    }

    fn parameter(&self, points: &[PointLogs], arm: Arm, index: usize) -> Estimate {
        let mut slopes = [0.0; 3];
        slopes[index] = 1.0;
        estimate_contrast(points, self.free.theta[index], &of_arm(&self.free, arm, slopes), 0.0)
    }

    /// The logarithm of the highest rate within the reach, as a contrast: to first order, moving
    /// the peak does not change its height.
    fn height(&self, limit: f64) -> Option<(f64, [f64; 3])> {
        law(&self.free.theta, peak(&self.free.theta).min(limit))
    }

    fn curve(&self, points: &[PointLogs], arm: Arm, limit: f64) -> Result<UslCurve, StatsError> {
        let theta = &self.held.theta;
        let lambda = self.parameter(points, arm, 0).bounds(SHOWN_CONFIDENCE)?;
        let at_least_zero = |index: usize| {
            let (low, high) = self.parameter(points, arm, index).bounds(SHOWN_CONFIDENCE)?;
            Ok::<_, StatsError>(around(theta[index], low.max(0.0), high.max(0.0)))
        };
        let peak_clients = self.peak_clients(points, arm, limit);
        let misfit = self.held.residuals.iter().map(|left| left.exp_m1().abs()).fold(0.0, f64::max);
        Ok(UslCurve {
            lambda: around(theta[0].exp(), lambda.0.exp(), lambda.1.exp()),
            sigma: at_least_zero(1)?,
            kappa: at_least_zero(2)?,
            peak_rate: self.peak_rate(points, arm, limit, peak_clients)?,
            peak_clients,
            misfit,
            band: self.band(points, arm, limit)?,
        })
    }

    /// The curve as it is shown, in the band in which the fit without bounds says that it lies. The
    /// interval is that of the response time, in which the fit is nearly linear far beyond the
    /// points, too, where rates are skewed. No rate is above that of clients who never wait for
    /// each other; what that is, is known with errors that are rare beside those of the band.
    fn band(
        &self,
        points: &[PointLogs],
        arm: Arm,
        limit: f64,
    ) -> Result<Vec<BandPoint>, StatsError> {
        const PLACES: usize = 32;
        const RARE: f64 = 0.99;
        let (_, alone) = self.parameter(points, arm, 0).bounds(RARE)?;
        let mut band = Vec::with_capacity(PLACES);
        for index in 0..PLACES {
            let clients = limit.powf(index as f64 / (PLACES - 1) as f64);
            let Some((log, _)) = law(&self.held.theta, clients) else { continue };
            let (response, slopes) = response(&self.free.theta, clients);
            let response =
                estimate_contrast(points, response, &of_arm(&self.free, arm, slopes), 0.0);
            let (quick, slow) = response.bounds(SHOWN_CONFIDENCE)?;
            let most = clients * alone.exp();
            let rate = |response: f64| {
                if response > 0.0 { (clients / response).min(most) } else { most }
            };
            band.push(BandPoint { clients, rate: around(log.exp(), rate(slow), rate(quick)) });
        }
        Ok(band)
    }

    /// N*² is the ratio of 1 − σ and κ, whose interval is Fieller's: it has no upper end where κ
    /// may be 0.
    fn peak_clients(&self, points: &[PointLogs], arm: Arm, limit: f64) -> Interval {
        let [_, sigma, kappa] = self.free.theta;
        let along =
            |by_sigma: f64, by_kappa: f64| of_arm(&self.free, arm, [0.0, by_sigma, by_kappa]);
        let ratio = if kappa > 0.0 { (1.0 - sigma).max(0.0) / kappa } else { limit * limit };
        let of = |numerator: f64, denominator: f64| {
            estimate_contrast(points, 0.0, &along(-numerator, denominator), 0.0)
        };
        let (low, high) = ratio_bounds(
            [1.0 - sigma, kappa],
            [of(1.0, 0.0), of(0.0, 1.0), of(1.0, -ratio)],
            ratio,
            SHOWN_CONFIDENCE,
        );
        let within = |squared: f64| {
            let clients = squared.max(1.0).sqrt();
            if clients > limit { f64::INFINITY } else { clients }
        };
        let estimate = peak(&self.held.theta);
        let estimate = if estimate > limit { f64::INFINITY } else { estimate };
        around(estimate, within(low).min(limit), within(high))
    }

    /// X_max is not bounded above where the peak may lie beyond the reach.
    fn peak_rate(
        &self,
        points: &[PointLogs],
        arm: Arm,
        limit: f64,
        clients: Interval,
    ) -> Result<Interval, StatsError> {
        let height = law(&self.held.theta, peak(&self.held.theta).min(limit));
        let (Some((shown, _)), Some((log, slopes))) = (height, self.height(limit)) else {
            return Ok(Interval { estimate: f64::NAN, low: 0.0, high: f64::INFINITY });
        };
        let contrast = estimate_contrast(points, log, &of_arm(&self.free, arm, slopes), 0.0);
        let (low, high) = contrast.bounds(SHOWN_CONFIDENCE)?;
        let is_seen = clients.estimate.is_finite();
        let high = if clients.high.is_finite() { high.exp() } else { f64::INFINITY };
        let low = low.exp().min(shown.exp());
        let estimate = if is_seen { shown.exp() } else { f64::INFINITY };
        Ok(around(estimate, low, high))
    }
}

/// An interval that holds its estimate.
fn around(estimate: f64, low: f64, high: f64) -> Interval {
    Interval { estimate, low: low.min(estimate), high: high.max(estimate) }
}

/// The five questions about two curves.
struct UslQuestion<'a> {
    points: &'a [PointLogs],
    both: &'a PerArm<UslFit>,
    arms: &'a PerArm<UslCurve>,
    between_sd: f64,
    limit: f64,
}

impl UslQuestion<'_> {
    fn changes(&self, may_tell: bool, budget_log: f64) -> Result<Vec<CurveChange>, StatsError> {
        let questions = CurveQuestion::ALL.map(|question| self.estimate(question));
        let confidence = several_questions::simultaneous_confidence(questions.len());
        let mut asked = Vec::with_capacity(questions.len());
        for (estimate, p_value) in &questions {
            let (low, high) = estimate.bounds(confidence)?;
            asked.push(Question { better: estimate.mean, p_value: *p_value, low, high });
        }
        let verdicts = several_questions::family_verdicts(&asked, questions.len(), budget_log);
        let answers = CurveQuestion::ALL.into_iter().zip(&questions).zip(verdicts);
        let change = |((question, (estimate, _)), verdict): ((_, &(Estimate, f64)), Verdict)| {
            let (low, high) = estimate.bounds(SHOWN_CONFIDENCE)?;
            Ok(CurveChange {
                question,
                effect: Interval {
                    estimate: estimate.mean.exp(),
                    low: low.exp(),
                    high: high.exp(),
                },
                verdict: if may_tell { verdict } else { Verdict::Undecided },
            })
        };
        answers.map(change).collect()
    }

    /// The logarithm of the effect and the p-value of "none".
    fn estimate(&self, question: CurveQuestion) -> (Estimate, f64) {
        let unknown = Estimate { mean: f64::NAN, standard_error: 0.0, degrees: 0.0 };
        let found = match question {
            CurveQuestion::SingleClient => {
                let logs = PerArm::from_fn(|arm| self.both[arm].free.theta[0]);
                Some((logs.test - logs.base, PerArm::from_fn(sign).map(|s| [s, 0.0, 0.0])))
            }
            CurveQuestion::Contention => self.explained(1),
            CurveQuestion::Coherency => self.explained(2),
            CurveQuestion::PeakRate => self.higher(),
            CurveQuestion::PeakClients => return self.later().unwrap_or((unknown, 1.0)),
        };
        let Some((value, slopes)) = found else { return (unknown, 1.0) };
        let estimate = self.contrast(value, slopes);
        (estimate, estimate.p_value())
    }

    fn contrast(&self, value: f64, slopes: PerArm<[f64; 3]>) -> Estimate {
        estimate_contrast(self.points, value, &self.gradient(slopes), self.between_sd)
    }

    fn gradient(&self, slopes: PerArm<[f64; 3]>) -> Gradient {
        let of = |arm: Arm| of_arm(&self.both[arm].free, arm, slopes[arm]);
        add_scaled(&of(Arm::Base), &of(Arm::Test), 1.0)
    }

    /// What the change of σ (1) or κ (2) does to the logarithm of the rate at the largest number of
    /// clients: the mean of doing it before and after the change of the other one.
    fn explained(&self, index: usize) -> Option<(f64, PerArm<[f64; 3]>)> {
        let clients = self.limit / USL_REACH;
        let factor = [0.0, clients - 1.0, clients * (clients - 1.0)];
        let other = 3 - index;
        let of = |arm: Arm, index: usize| self.both[arm].free.theta[index];
        // The divisor of the law with this parameter of one arm and the other one of another.
        let divisor = |own: Arm, others: Arm| {
            let sum = 1.0 + of(own, index) * factor[index] + of(others, other) * factor[other];
            (sum > 0.0).then_some(sum)
        };
        let mut value = 0.0;
        let mut slopes = PerArm { base: [0.0; 3], test: [0.0; 3] };
        for own in Arm::BOTH {
            for others in Arm::BOTH {
                let divisor = divisor(own, others)?;
                let weight = -sign(own) / 2.0;
                value += weight * divisor.ln();
                slopes[own][index] += weight * factor[index] / divisor;
                slopes[others][other] += weight * factor[other] / divisor;
            }
        }
        Some((value, slopes))
    }

    /// Whether both peaks lie within the reach.
    fn are_seen(&self) -> bool {
        Arm::BOTH.into_iter().all(|arm| self.arms[arm].peak_clients.high.is_finite())
    }

    fn higher(&self) -> Option<(f64, PerArm<[f64; 3]>)> {
        if !self.are_seen() {
            return None;
        }
        let heights = PerArm {
            base: self.both.base.height(self.limit)?,
            test: self.both.test.height(self.limit)?,
        };
        let slopes = PerArm::from_fn(|arm| heights[arm].1.map(|slope| sign(arm) * slope));
        Some((heights.test.0 - heights.base.0, slopes))
    }

    /// ln N* is shown; whether it changed is asked of `(1−σ)κ` across the arms, which is linear in
    /// each parameter.
    fn later(&self) -> Option<(Estimate, f64)> {
        let inner = |arm: Arm| {
            let [_, sigma, kappa] = self.both[arm].free.theta;
            (sigma < 1.0 && kappa > 0.0).then_some((1.0 - sigma, kappa))
        };
        let (base, test) = (inner(Arm::Base)?, inner(Arm::Test)?);
        if !self.are_seen() {
            return None;
        }
        let half_log = |(rest, kappa): (f64, f64)| (rest / kappa).ln() / 2.0;
        let slopes = PerArm { base, test };
        let slopes = PerArm::from_fn(|arm| {
            let (rest, kappa) = slopes[arm];
            [0.0, -sign(arm) / (2.0 * rest), -sign(arm) / (2.0 * kappa)]
        });
        let shown = self.contrast(half_log(test) - half_log(base), slopes);
        let crossed = test.0 * base.1 - base.0 * test.1;
        let slopes = PerArm { base: [0.0, test.1, test.0], test: [0.0, -base.1, -base.0] };
        Some((shown, self.contrast(crossed, slopes).p_value()))
    }
}

fn sign(arm: Arm) -> f64 {
    match arm {
        Arm::Base => -1.0,
        Arm::Test => 1.0,
    }
}

fn too_few(at: &[f64]) -> Option<Warning> {
    let smallest = at.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = at.iter().copied().fold(0.0, f64::max);
    let why = if at.len() < USL_POINTS_LEAST {
        format!("it has {}", at.len())
    } else if smallest > USL_SMALLEST_MOST {
        format!("its smallest number of clients is {smallest}")
    } else if largest < USL_SPREAD_LEAST * smallest {
        format!("it goes from {smallest} to {largest}")
    } else {
        return None;
    };
    let text = format!(
        "a curve over clients needs {USL_POINTS_LEAST} client counts or more, from 1 or 2 to at \
         least {USL_SPREAD_LEAST} times that, and {why}; try --clients 1,2,4,8,16"
    );
    Some(Warning::new(Severity::Note, "curve-few-counts", text))
}

/// Where the points hardly tell the parameters apart.
fn vague(arms: &PerArm<UslCurve>) -> Option<Warning> {
    const VAGUE: f64 = 2.0;
    Arm::BOTH.iter().any(|arm| {
        let Interval { low, high, .. } = arms[*arm].lambda;
        high > VAGUE * low
    }).then(|| {
        let text = "λ, σ and κ can hardly be separated: all points lie where the rate no longer \
                    grows, or noise is too large; add client counts below the peak, or pairs";
        Warning::new(Severity::Note, "curve-vague", text)
    })
}

fn superlinear() -> Warning {
    let text = "the universal scalability law does not describe these points: the rate grows \
                faster than the number of clients; see whether few clients let processors sleep \
                (--pin)";
    Warning::new(Severity::Caution, "curve-superlinear", text)
}

/// Where the points are proved to be off the curve by more than the budget: by all points of both
/// arms together at [`DECISION_ALPHA`].
fn misfit(
    points: &[PointLogs],
    both: &PerArm<UslFit>,
    budget_log: f64,
) -> Result<Option<Warning>, StatsError> {
    let alpha = DECISION_ALPHA / (2 * points.len()) as f64;
    let mut worst = None::<(f64, f64, Arm)>;
    for arm in Arm::BOTH {
        let fitted = &both[arm];
        let is_off = fitted.held.residuals.iter().any(|left| left.abs() > budget_log);
        for index in [1, 2] {
            let (_, high) = fitted.parameter(points, arm, index).bounds(1.0 - alpha)?;
            if high < 0.0 && is_off {
                return Ok(Some(superlinear()));
            }
        }
        for (estimate, point) in residuals(points, &fitted.free, law, arm).iter().zip(points) {
            let proved = estimate.p_value() < alpha && estimate.mean.abs() > budget_log;
            let is_worse = worst.is_none_or(|(left, ..)| estimate.mean.abs() > left.abs());
            if proved && is_worse {
                worst = Some((estimate.mean, point.at, arm));
            }
        }
    }
    let told = |(left, clients, arm): (f64, f64, Arm)| {
        let (percent, word) =
            (left.exp_m1().abs() * 100.0, if left > 0.0 { "more" } else { "less" });
        let text = format!(
            "the universal scalability law does not describe these points, so no parameter is \
             judged: at {clients} clients {arm} does {percent:.1} % {word} than its curve, beyond \
             noise and budget; try fewer clients, up to where the rate stops growing"
        );
        Warning::new(Severity::Caution, "curve-misfit", text)
    };
    Ok(worst.map(told))
}
