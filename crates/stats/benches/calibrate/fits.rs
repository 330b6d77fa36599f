//! Curves over clients and lines over rows: known parameters, known changes.

use dbdyno_model::{Arm, CurveQuestion, Interval, PerArm, Verdict};
use dbdyno_stats::{PointLogs, fit_usl, row_costs};

use crate::hosts::{normal, numbers};
use crate::table::{Share, Table};
use crate::verdicts::alarms;

const RUNS: u64 = 10_000;
const PAIRS: usize = 8;
const BUDGET: f64 = 0.02;
const CLIENTS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
const ROWS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];

/// λ, σ and κ.
type Law = [f64; 3];

fn rate([lambda, sigma, kappa]: Law, clients: f64) -> f64 {
    let others = clients - 1.0;
    lambda * clients / (1.0 + sigma * others + kappa * clients * others)
}

/// The number of clients with the highest rate, infinite where it always grows.
fn peak([_, sigma, kappa]: Law) -> f64 {
    ((1.0 - sigma) / kappa).sqrt()
}

/// The true effects, in the order of [`CurveQuestion::ALL`].
fn effects(base: Law, test: Law) -> [f64; 5] {
    let most = CLIENTS[CLIENTS.len() - 1];
    let log = |sigma: f64, kappa: f64| rate([1.0, sigma, kappa], most).ln();
    // The mean of doing it before and after the change of the other parameter.
    let by_sigma = |kappa: f64| log(test[1], kappa) - log(base[1], kappa);
    let by_kappa = |sigma: f64| log(sigma, test[2]) - log(sigma, base[2]);
    [
        test[0] / base[0],
        f64::midpoint(by_sigma(base[2]), by_sigma(test[2])).exp(),
        f64::midpoint(by_kappa(base[1]), by_kappa(test[1])).exp(),
        rate(test, peak(test)) / rate(base, peak(base)),
        peak(test) / peak(base),
    ]
}

/// Noisy logarithms of a figure at these places.
fn points(
    places: &[f64],
    sd: f64,
    purpose: &str,
    index: u64,
    figure: impl Fn(Arm, f64) -> f64,
) -> Vec<PointLogs> {
    let mut stream = numbers(purpose, index);
    let mut pair = |at: f64| PerArm::from_fn(|arm| figure(arm, at).ln() + sd * normal(&mut stream));
    let mut point =
        |at: &f64| PointLogs { at: *at, pairs: (0..PAIRS).map(|_| pair(*at)).collect() };
    places.iter().map(&mut point).collect()
}

fn holds(interval: Interval, truth: f64) -> bool {
    interval.low <= truth && truth <= interval.high
}

/// A cell; what has no truth is not counted.
fn covers(count: u64, of: u64, truth: f64) -> String {
    if truth.is_finite() && of > 0 { Share { count, of }.percent() } else { "–".to_owned() }
}

fn curves() -> String {
    let mut table =
        Table::new(&["law: σ, κ", "noise", "λ", "σ", "κ", "N*", "X_max", "any false verdict"]);
    for ([sigma, kappa], sd) in [
        ([0.05, 0.002], 0.01),
        ([0.05, 0.002], 0.03),
        ([0.2, 0.01], 0.03),
        ([0.05, 0.0], 0.03),
        ([0.0, 0.0], 0.03),
    ] {
        let law = [10_000.0, sigma, kappa];
        let truths = [law[0], law[1], law[2], peak(law), rate(law, peak(law))];
        let mut covered = [0_u64; 5];
        let mut wrong = 0;
        for index in 0..RUNS {
            let points = points(&CLIENTS, sd, "curves", index, |_, clients| rate(law, clients));
            let curves = fit_usl(&points, 0.0, BUDGET).expect("points");
            let Some(fit) = curves.fit else { continue };
            let base = &fit.arms.base;
            let told = [base.lambda, base.sigma, base.kappa, base.peak_clients, base.peak_rate];
            for (count, (interval, truth)) in covered.iter_mut().zip(told.into_iter().zip(truths)) {
                *count += u64::from(holds(interval, truth));
            }
            wrong += u64::from(fit.changes.iter().any(|change| alarms(change.verdict)));
        }
        let head = [format!("{sigma}, {kappa}"), format!("{:.0} %", 100.0 * sd)];
        let cells: Vec<String> = covered
            .into_iter()
            .zip(truths)
            .map(|(count, truth)| covers(count, RUNS, truth))
            .collect();
        let wrong = Share { count: wrong, of: RUNS }.percent();
        table.row(&[&head[..], &cells, &[wrong]].concat());
    }
    table.end()
}

/// How often the band holds the true rate at one of its places.
fn bands() -> String {
    let mut table = Table::new(&["law: σ, κ", "noise", "1 client", "6 clients", "32 clients"]);
    for ([sigma, kappa], sd) in
        [([0.05, 0.002], 0.01), ([0.05, 0.002], 0.03), ([0.2, 0.01], 0.03), ([0.0, 0.0], 0.03)]
    {
        let law = [10_000.0, sigma, kappa];
        let (mut covered, mut runs) = ([0_u64; 3], 0);
        for index in 0..RUNS {
            let points = points(&CLIENTS, sd, "bands", index, |_, clients| rate(law, clients));
            let Some(fit) = fit_usl(&points, 0.0, BUDGET).expect("points").fit else { continue };
            let band = &fit.arms.base.band;
            let Some(last) = band.last() else { continue };
            runs += 1;
            for (count, clients) in covered.iter_mut().zip([1.0, 6.0, last.clients]) {
                let far = |clients: f64, at: f64| (clients / at).ln().abs();
                let nearest = band
                    .iter()
                    .min_by(|a, b| far(a.clients, clients).total_cmp(&far(b.clients, clients)));
                *count +=
                    u64::from(nearest.is_some_and(|at| holds(at.rate, rate(law, at.clients))));
            }
        }
        let [one, six, last] = covered.map(|count| Share { count, of: runs }.percent());
        table.row(&[format!("{sigma}, {kappa}"), format!("{:.0} %", 100.0 * sd), one, six, last]);
    }
    table.end()
}

/// What is said where exactly one parameter of the test arm is worse, and how often the interval of
/// an effect has the truth in it.
fn changed_curves() -> [String; 2] {
    let law: Law = [10_000.0, 0.05, 0.002];
    let early: Law = [10_000.0, 0.2, 0.01];
    let mut verdicts = Table::new(&["changed", "λ slower", "σ slower", "κ slower", "any faster"]);
    let mut sizes = Table::new(&["changed", "λ", "σ", "κ", "X_max", "N*", "both peaks seen"]);
    for (name, base, test) in [
        ("λ by −5 %", law, [9_500.0, 0.05, 0.002]),
        ("σ from 0.05 to 0.08", law, [10_000.0, 0.08, 0.002]),
        ("κ from 0.002 to 0.005", law, [10_000.0, 0.05, 0.005]),
        ("κ from 0.01 to 0.015, σ 0.2", early, [10_000.0, 0.2, 0.015]),
    ] {
        let laws = PerArm { base, test };
        let truths = effects(base, test);
        let (mut slower, mut faster) = ([0_u64; 5], 0);
        let (mut told, mut covered) = ([0_u64; 5], [0_u64; 5]);
        for index in 0..RUNS {
            let figure = |arm: Arm, clients: f64| rate(laws[arm], clients);
            let points = points(&CLIENTS, 0.01, name, index, figure);
            let Some(fit) = fit_usl(&points, 0.0, BUDGET).expect("points").fit else { continue };
            for (at, change) in fit.changes.iter().enumerate() {
                assert_eq!(change.question, CurveQuestion::ALL[at], "all five, in their order");
                slower[at] += u64::from(change.verdict == Verdict::Slower);
                // Where a peak was not seen nothing is told of it.
                if change.effect.high.is_finite() {
                    told[at] += 1;
                    covered[at] += u64::from(holds(change.effect, truths[at]));
                }
            }
            faster += u64::from(fit.changes.iter().any(|one| one.verdict == Verdict::Faster));
        }
        let percent = |count: u64| Share { count, of: RUNS }.percent();
        let said = [slower[0], slower[1], slower[2], faster].map(percent);
        verdicts.row(&[&[name.to_owned()][..], &said].concat());
        let cells: Vec<String> =
            (0..5).map(|at| covers(covered[at], told[at], truths[at])).collect();
        sizes.row(&[&[name.to_owned()][..], &cells, &[percent(told[3])]].concat());
    }
    [verdicts.end(), sizes.end()]
}

/// Whether a part of the cost is called cheaper or dearer without being so; `ratio` is the truth.
fn is_false(verdict: Verdict, ratio: f64) -> bool {
    match verdict {
        Verdict::Slower => ratio.is_nan() || ratio <= 1.0,
        Verdict::Faster => ratio.is_nan() || ratio >= 1.0,
        Verdict::Equal | Verdict::Undecided => false,
    }
}

fn lines() -> String {
    let mut table = Table::new(&[
        "fixed, per row (µs)",
        "of the test arm",
        "noise",
        "fixed",
        "per row",
        "fixed, test ÷ base",
        "per row, test ÷ base",
        "any false verdict",
    ]);
    for (base, test, sd) in [
        ([50.0, 0.2], [50.0, 0.2], 0.01),
        ([50.0, 0.2], [50.0, 0.2], 0.03),
        ([50.0, 2.0], [50.0, 2.0], 0.03),
        ([5.0, 0.0], [5.0, 0.0], 0.03),
        ([50.0, 0.2], [59.0, 0.2], 0.03),
        ([50.0, 0.2], [50.0, 0.24], 0.03),
    ] {
        let costs = PerArm { base, test };
        let truths = [base[0], base[1], test[0] / base[0], test[1] / base[1]];
        let (mut told, mut covered, mut wrong) = ([0_u64; 4], [0_u64; 4], 0);
        for index in 0..RUNS {
            let figure = |arm: Arm, rows: f64| {
                let [fixed, per_row] = costs[arm];
                fixed + per_row * rows
            };
            let points = points(&ROWS, sd, "lines", index, figure);
            let costs = row_costs(&[points], 0.0, BUDGET).expect("points").remove(0);
            let Some(fit) = costs.fit else { continue };
            let parameters = [fit.arms.base.fixed_us, fit.arms.base.per_row_us].map(Some);
            let ratios = fit.changes.map(|changes| [changes.fixed.ratio, changes.per_row.ratio]);
            let ratios = ratios.map_or([None; 2], |ratios| ratios.map(Some));
            for (at, interval) in parameters.into_iter().chain(ratios).enumerate() {
                told[at] += u64::from(interval.is_some());
                covered[at] += u64::from(interval.is_some_and(|one| holds(one, truths[at])));
            }
            wrong += u64::from(fit.changes.is_some_and(|changes| {
                is_false(changes.fixed.verdict, truths[2])
                    || is_false(changes.per_row.verdict, truths[3])
            }));
        }
        let of_arm = |[fixed, per_row]: [f64; 2]| format!("{fixed}, {per_row}");
        let head = [of_arm(base), of_arm(test), format!("{:.0} %", 100.0 * sd)];
        let cells: Vec<String> =
            (0..4).map(|at| covers(covered[at], told[at], truths[at])).collect();
        let wrong = Share { count: wrong, of: RUNS }.percent();
        table.row(&[&head[..], &cells, &[wrong]].concat());
    }
    table.end()
}

/// The tables of fitted parameters.
pub(crate) fn section() -> String {
    let [said, sizes] = changed_curves();
    format!(
        "## Curves and lines\n\n\
         Coverage of the 95 % interval of each parameter, and how often two equal arms get \
         any false verdict among all questions of the fit (1 % nominal); {PAIRS} pairs at \
         each point, {RUNS} runs each, ±0.4 %.\n\
         An interval that ends at 0 misses a true value of 0 on one side only, in 2.5 % of \
         all cases.\n\n\
         Rates at 1, 2, 4, 8 and 16 clients by the universal scalability law, whose peak is \
         X_max at N* clients; a peak that may lie beyond 32 clients has no upper bound:\n\n\
         {}Verdicts where one parameter of the test arm is worse, with a noise of 1 %, {RUNS} \
         runs each:\n\n\
         {said}Coverage of the 95 % interval of such an effect; for peaks, among the runs in \
         which both peaks are seen:\n\n\
         {sizes}Coverage of 95 % bands around such curves, {RUNS} runs each; 32 clients are \
         twice the largest number that was measured:\n\n\
         {}Costs of 10, 100, 1 000 and 10 000 rows, fitted by a line.\n\
         Parameters are those of the base arm; a verdict is false if the parameter did not \
         change, or changed in the other direction:\n\n\
         {}",
        curves(),
        bands(),
        lines()
    )
}
