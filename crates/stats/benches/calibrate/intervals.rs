//! Coverage: how often an interval of 95 % has the truth in it.

use dbdyno_stats::{
    bca, fieller, geometric_mean_interval, mann_whitney, mean_interval, paired, signed_rank, welch,
};

use crate::hosts::{normal, numbers};
use crate::table::{Share, Table};

const RUNS: u64 = 10_000;
const CONFIDENCE: f64 = 0.95;
/// Noise of a log-ratio.
const SD: f64 = 0.03;
/// The true logarithm of the ratio.
const TRUTH: f64 = -0.07;

fn noisy(purpose: &str, count: usize, index: u64) -> Vec<f64> {
    let mut stream = numbers(purpose, index);
    (0..count).map(|_| TRUTH + SD * normal(&mut stream)).collect()
}

/// Noise with tails so heavy that it has no variance.
fn heavy(purpose: &str, count: usize, index: u64) -> Vec<f64> {
    let mut stream = numbers(purpose, index);
    let mut noise = || {
        let around: f64 = (0..2).map(|_| normal(&mut stream).powi(2)).sum();
        normal(&mut stream) / (around / 2.0).sqrt()
    };
    (0..count).map(|_| TRUTH + SD * noise()).collect()
}

fn rates(purpose: &str, count: usize, index: u64) -> Vec<f64> {
    noisy(purpose, count, index).into_iter().map(|log| 1000.0 * log.exp()).collect()
}

/// The table of coverage.
pub fn section() -> String {
    let mut table = Table::new(&["interval of 95 %", "replicates", "covers"]);
    let mut row = |name: &str, count: usize, covers: &dyn Fn(u64) -> bool| {
        let share = Share::count(RUNS, covers);
        table.row(&[name.to_owned(), count.to_string(), share.percent()]);
    };
    let within = |low: f64, high: f64, truth: f64| low <= truth && truth <= high;
    for count in [3, 6, 12, 28] {
        row("paired log-ratios, t", count, &|index| {
            let ratio = paired(&noisy("paired", count, index), CONFIDENCE).expect("logs").ratio;
            within(ratio.low, ratio.high, TRUTH.exp())
        });
    }
    for (base, test) in [(4, 4), (12, 12), (6, 24)] {
        row("unpaired log-rates, Welch", base.min(test), &|index| {
            let arms = [noisy("welch base", base, index), noisy("welch test", test, index)];
            // The test arm is three times as noisy.
            let test: Vec<f64> = arms[1].iter().map(|log| TRUTH + 3.0 * (log - TRUTH)).collect();
            let ratio = welch(&arms[0], &test, CONFIDENCE).expect("logs").ratio;
            within(ratio.low, ratio.high, 1.0)
        });
    }
    for count in [3, 12] {
        row("mean of one arm, t", count, &|index| {
            let mean = mean_interval(&noisy("mean", count, index), CONFIDENCE).expect("values");
            within(mean.low, mean.high, TRUTH)
        });
        row("geometric mean of rates, t", count, &|index| {
            let rates = rates("geometric", count, index);
            let mean = geometric_mean_interval(&rates, CONFIDENCE).expect("rates");
            within(mean.low, mean.high, 1000.0 * TRUTH.exp())
        });
    }
    for count in [8, 12, 28] {
        row("paired log-ratios, signed ranks", count, &|index| {
            let ranks = signed_rank(&noisy("ranks", count, index), CONFIDENCE).expect("logs");
            within(ranks.low, ranks.high, TRUTH)
        });
        row("the same, noise of Student's t with 2 degrees", count, &|index| {
            let ranks = signed_rank(&heavy("heavy", count, index), CONFIDENCE).expect("logs");
            within(ranks.low, ranks.high, TRUTH)
        });
    }
    for count in [10, 28] {
        row("paired log-ratios, BCa bootstrap", count, &|index| {
            let drawn = bca(&noisy("bca", count, index), CONFIDENCE, index).expect("logs");
            within(drawn.low, drawn.high, TRUTH)
        });
    }
    for count in [6, 12, 28] {
        row("unpaired log-rates, Mann and Whitney", count, &|index| {
            let arms = [noisy("mw base", count, index), noisy("mw test", count, index)];
            let ranks = mann_whitney(&arms[0], &arms[1], CONFIDENCE).expect("logs");
            within(ranks.low, ranks.high, 0.0)
        });
        row("ratio of unpaired means, Fieller", count, &|index| {
            let arms = [rates("fieller base", count, index), rates("fieller test", count, index)];
            let ratio = fieller(&arms[0], &arms[1], CONFIDENCE).expect("rates").ratio;
            within(ratio.low, ratio.high, 1.0)
        });
    }
    format!(
        "## Coverage\n\n\
         {RUNS} data sets each with a known truth, ±0.4 %.\n\n{}",
        table.end()
    )
}
