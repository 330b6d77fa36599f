//! Curves over clients and lines over rows: known parameters, known changes.

use dbdyno_model::{Arm, CurveQuestion, Interval, PerArm, Verdict};
use dbdyno_stats::{PointLogs, row_costs, usl};

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

fn curves() -> String {
    let mut table = Table::new(&["law: σ, κ", "noise", "λ", "σ", "κ", "any false verdict"]);
    for ([sigma, kappa], sd) in [
        ([0.05, 0.002], 0.01),
        ([0.05, 0.002], 0.03),
        ([0.2, 0.01], 0.03),
        ([0.05, 0.0], 0.03),
        ([0.0, 0.0], 0.03),
    ] {
        let law = [10_000.0, sigma, kappa];
        let mut covered = [0_u64; 3];
        let mut wrong = 0;
        for index in 0..RUNS {
            let points = points(&CLIENTS, sd, "curves", index, |_, clients| rate(law, clients));
            let curves = usl(&points, 0.0, BUDGET).expect("points");
            let Some(fit) = curves.fit else { continue };
            let base = &fit.arms.base;
            for (count, (interval, truth)) in
                covered.iter_mut().zip([base.lambda, base.sigma, base.kappa].into_iter().zip(law))
            {
                *count += u64::from(holds(interval, truth));
            }
            wrong += u64::from(fit.changes.iter().any(|change| alarms(change.verdict)));
        }
        let percent = |count: u64| Share { count, of: RUNS }.percent();
        table.row(&[
            format!("{sigma}, {kappa}"),
            format!("{:.0} %", 100.0 * sd),
            percent(covered[0]),
            percent(covered[1]),
            percent(covered[2]),
            percent(wrong),
        ]);
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
            let Some(fit) = usl(&points, 0.0, BUDGET).expect("points").fit else { continue };
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

/// What is said where exactly one parameter of the test arm is worse.
fn changed_curves() -> String {
    const CHANGED: u64 = 2_000;
    let law: Law = [10_000.0, 0.05, 0.002];
    let mut table = Table::new(&["changed", "λ slower", "σ slower", "κ slower", "any faster"]);
    for (name, test) in [
        ("λ by −5 %", [9_500.0, 0.05, 0.002]),
        ("σ from 0.05 to 0.08", [10_000.0, 0.08, 0.002]),
        ("κ from 0.002 to 0.005", [10_000.0, 0.05, 0.005]),
    ] {
        let law = PerArm { base: law, test };
        let asked =
            [CurveQuestion::SingleClient, CurveQuestion::Contention, CurveQuestion::Coherency];
        let mut slower = [0; 3];
        let mut faster = 0;
        for index in 0..CHANGED {
            let figure = |arm: Arm, clients: f64| rate(law[arm], clients);
            let points = points(&CLIENTS, 0.01, name, index, figure);
            let Some(fit) = usl(&points, 0.0, BUDGET).expect("points").fit else { continue };
            for (count, question) in slower.iter_mut().zip(asked) {
                let says = |verdict| {
                    let mut changes = fit.changes.iter();
                    changes.any(|one| one.question == question && one.verdict == verdict)
                };
                *count += u64::from(says(Verdict::Slower));
            }
            faster += u64::from(fit.changes.iter().any(|one| one.verdict == Verdict::Faster));
        }
        let percent = |count: u64| Share { count, of: CHANGED }.percent();
        table.row(&[
            name.to_owned(),
            percent(slower[0]),
            percent(slower[1]),
            percent(slower[2]),
            percent(faster),
        ]);
    }
    table.end()
}

fn lines() -> String {
    let mut table =
        Table::new(&["fixed, per row (µs)", "noise", "fixed", "per row", "any false verdict"]);
    for ([fixed, per_row], sd) in
        [([50.0, 0.2], 0.01), ([50.0, 0.2], 0.03), ([50.0, 2.0], 0.03), ([5.0, 0.0], 0.03)]
    {
        let (mut covered, mut wrong) = ([0_u64; 2], 0);
        for index in 0..RUNS {
            let figure = |_, rows: f64| fixed + per_row * rows;
            let points = points(&ROWS, sd, "lines", index, figure);
            let costs = row_costs(&[points], 0.0, BUDGET).expect("points").remove(0);
            let Some(fit) = costs.fit else { continue };
            covered[0] += u64::from(holds(fit.arms.base.fixed_us, fixed));
            covered[1] += u64::from(holds(fit.arms.base.per_row_us, per_row));
            wrong += u64::from(fit.changes.is_some_and(|changes| {
                alarms(changes.fixed.verdict) || alarms(changes.per_row.verdict)
            }));
        }
        let percent = |count: u64| Share { count, of: RUNS }.percent();
        table.row(&[
            format!("{fixed}, {per_row}"),
            format!("{:.0} %", 100.0 * sd),
            percent(covered[0]),
            percent(covered[1]),
            percent(wrong),
        ]);
    }
    table.end()
}

/// The tables of fitted parameters.
pub fn section() -> String {
    format!(
        "## Curves and lines\n\n\
         How often the interval of 95 % of a parameter has the truth in it, and how often two equal \
         arms get any false verdict among all questions of the fit (1 % nominal); {PAIRS} pairs at \
         each place, {RUNS} runs each, ±0.4 %.\n\
         An interval that ends at 0 misses a truth of 0 on one side only, in 2.5 % of all cases.\n\n\
         Rates at 1, 2, 4, 8 and 16 clients by the universal scalability law:\n\n{}\
         And what is said where one parameter of the test arm is worse, with a noise of 1 %, 2000 \
         runs each:\n\n{}\
         Bands of 95 % around such curves, {RUNS} runs each; 32 clients are twice as many as were \
         measured:\n\n{}\
         Costs of 10, 100, 1 000 and 10 000 rows on a line:\n\n{}",
        curves(),
        changed_curves(),
        bands(),
        lines()
    )
}
