//! Coverage: how often an interval of 95 % has the truth in it.

use std::fmt::Display;

use dbdyno_model::random::RandomStream;
use dbdyno_model::{IntervalChoice, IntervalKind, Verdict};
use dbdyno_stats::{
    BETWEEN_STARTS_SD, ConfidenceSequence, JudgementTerms, Look, RateAt, bca, estimate_drift,
    fieller, geometric_mean_interval, judge_nested, judge_sequence, mann_whitney, mean_interval,
    paired_estimate, signed_rank, welch,
};

use crate::hosts::{Host, normal, numbers};
use crate::table::{Share, Table};

const RUNS: u64 = 10_000;
const CONFIDENCE: f64 = 0.95;
/// Noise of a log-ratio.
const SD: f64 = 0.03;
/// The true logarithm of the ratio.
const TRUTH: f64 = -0.07;
const BUDGET: f64 = 0.02;

/// One number of noise.
type Noise = fn(&mut RandomStream) -> f64;

/// Student's t with 2 degrees: tails so heavy that it has no variance.
fn wild(stream: &mut RandomStream) -> f64 {
    let around: f64 = (0..2).map(|_| normal(stream).powi(2)).sum();
    normal(stream) / (around / 2.0).sqrt()
}

fn disturbed(noise: Noise, purpose: &str, count: usize, index: u64) -> Vec<f64> {
    let mut stream = numbers(purpose, index);
    (0..count).map(|_| TRUTH + SD * noise(&mut stream)).collect()
}

fn noisy(purpose: &str, count: usize, index: u64) -> Vec<f64> {
    disturbed(normal, purpose, count, index)
}

fn rates(purpose: &str, count: usize, index: u64) -> Vec<f64> {
    noisy(purpose, count, index).into_iter().map(|log| 1000.0 * log.exp()).collect()
}

/// Starts of pairs, each of them off by what lives differ by.
fn starts(noise: Noise, [count, pairs]: [usize; 2], index: u64) -> Vec<Vec<f64>> {
    let mut stream = numbers("starts of pairs", index);
    let start = |_| {
        let own = TRUTH + BETWEEN_STARTS_SD * normal(&mut stream);
        (0..pairs).map(|_| own + SD * noise(&mut stream)).collect()
    };
    (0..count).map(start).collect()
}

fn within(low: f64, high: f64, truth: f64) -> bool {
    low <= truth && truth <= high
}

fn row(table: &mut Table, name: &str, replicates: impl Display, share: Share) {
    table.row(&[name.to_owned(), replicates.to_string(), share.percent()]);
}

fn by_t(table: &mut Table) {
    for count in [3, 6, 12, 28] {
        let covered = Share::count(RUNS, |index| {
            let ratio =
                paired_estimate(&noisy("paired", count, index), CONFIDENCE).expect("logs").ratio;
            within(ratio.low, ratio.high, TRUTH.exp())
        });
        row(table, "paired log-ratios, t", count, covered);
    }
    for (base, test) in [(4, 4), (12, 12), (6, 24)] {
        let covered = Share::count(RUNS, |index| {
            let arms = [noisy("welch base", base, index), noisy("welch test", test, index)];
            // The test arm is three times as noisy.
            let test: Vec<f64> = arms[1].iter().map(|log| TRUTH + 3.0 * (log - TRUTH)).collect();
            let ratio = welch(&arms[0], &test, CONFIDENCE).expect("logs").ratio;
            within(ratio.low, ratio.high, 1.0)
        });
        row(table, "unpaired log-rates, Welch", base.min(test), covered);
    }
    for count in [3, 12] {
        let covered = Share::count(RUNS, |index| {
            let mean = mean_interval(&noisy("mean", count, index), CONFIDENCE).expect("values");
            within(mean.low, mean.high, TRUTH)
        });
        row(table, "mean of one arm, t", count, covered);
        let covered = Share::count(RUNS, |index| {
            let rates = rates("geometric", count, index);
            let mean = geometric_mean_interval(&rates, CONFIDENCE).expect("rates");
            within(mean.low, mean.high, 1000.0 * TRUTH.exp())
        });
        row(table, "geometric mean of rates, t", count, covered);
    }
}

fn by_ranks_and_draws(table: &mut Table) {
    for count in [8, 12, 28] {
        let covered = |noise: Noise, purpose: &str| {
            Share::count(RUNS, |index| {
                let logs = disturbed(noise, purpose, count, index);
                let ranks = signed_rank(&logs, CONFIDENCE).expect("logs");
                within(ranks.low, ranks.high, TRUTH)
            })
        };
        row(table, "paired log-ratios, signed ranks", count, covered(normal, "ranks"));
        let name = "the same, noise of Student's t with 2 degrees";
        row(table, name, count, covered(wild, "heavy"));
    }
    for count in [10, 28] {
        let covered = Share::count(RUNS, |index| {
            let drawn = bca(&noisy("bca", count, index), CONFIDENCE, index).expect("logs");
            within(drawn.low, drawn.high, TRUTH)
        });
        row(table, "paired log-ratios, BCa bootstrap", count, covered);
    }
    for count in [6, 12, 28] {
        let covered = Share::count(RUNS, |index| {
            let arms = [noisy("mw base", count, index), noisy("mw test", count, index)];
            let ranks = mann_whitney(&arms[0], &arms[1], CONFIDENCE).expect("logs");
            within(ranks.low, ranks.high, 0.0)
        });
        row(table, "unpaired log-rates, Mann and Whitney", count, covered);
        let covered = Share::count(RUNS, |index| {
            let arms = [rates("fieller base", count, index), rates("fieller test", count, index)];
            let ratio = fieller(&arms[0], &arms[1], CONFIDENCE).expect("rates").ratio;
            within(ratio.low, ratio.high, 1.0)
        });
        row(table, "ratio of unpaired means, Fieller", count, covered);
    }
}

/// Pairs within starts, as a cell is judged.
fn nested(table: &mut Table) {
    let heavy = "the same, noise of Student's t with 2 degrees";
    let rows: [(&str, IntervalKind, Noise, [usize; 2]); 8] = [
        ("means of starts, t", IntervalKind::T, normal, [3, 20]),
        ("means of starts, t", IntervalKind::T, normal, [16, 6]),
        ("Hodges–Lehmann estimates of starts, `robust`", IntervalKind::Robust, normal, [16, 6]),
        (heavy, IntervalKind::Robust, wild, [16, 6]),
        ("pairs with the assumed spread of starts, t", IntervalKind::T, normal, [1, 12]),
        ("pairs with the assumed spread of starts, t", IntervalKind::T, normal, [1, 160]),
        (
            "pairs with the assumed spread of starts, `robust`",
            IntervalKind::Robust,
            normal,
            [1, 28],
        ),
        (heavy, IntervalKind::Robust, wild, [1, 28]),
    ];
    for (name, kind, noise, shape) in rows {
        let interval = IntervalChoice::Given(kind);
        let terms =
            JudgementTerms { between_sd: BETWEEN_STARTS_SD, budget: BUDGET, interval, seed: 1 };
        let covered = Share::count(RUNS, |index| {
            let nest = [starts(noise, shape, index)];
            let ratio = judge_nested(&nest, &terms).expect("logs").rqps;
            within(ratio.low, ratio.high, TRUTH.exp())
        });
        let [count, pairs] = shape;
        let lived = if count == 1 { "start" } else { "starts" };
        row(table, name, format!("{count} {lived} of {pairs} pairs"), covered);
    }
}

/// With a look after each value from the third one on: `known_sd` is what all values have in
/// common.
fn looked_at(table: &mut Table, values: &str, known_sd: f64) {
    const PLANNED: u32 = 12;
    const LOOKED_AT: usize = 24;
    let sequence = ConfidenceSequence::new(PLANNED);
    let mut decided = 0;
    let always = Share::count(RUNS, |index| {
        let off = known_sd * normal(&mut numbers("in common", index));
        let mut seen = noisy("looked at", LOOKED_AT, index);
        seen.iter_mut().for_each(|log| *log += off);
        let look = |count: usize| judge_sequence(&seen[..count], known_sd, BUDGET, &sequence);
        let looks: Vec<Look> = (3..=LOOKED_AT).map(|count| look(count).expect("logs")).collect();
        let covers = |look: &Look| within(look.rqps.low, look.rqps.high, TRUTH.exp());
        let last = looks.iter().find(|look| look.verdict != Verdict::Undecided);
        decided += u64::from(last.or(looks.last()).is_some_and(covers));
        looks.iter().all(covers)
    });
    let replicates = format!("3 to {LOOKED_AT} {values}");
    let name = format!("{values}, planned {PLANNED} and looked at: at all looks together");
    row(table, &name, &replicates, always);
    let decided = Share { count: decided, of: RUNS };
    row(table, "the same, at the look that ends the run", &replicates, decided);
}

/// The drift of a rate in an hour, in which neighbouring rounds resemble each other.
fn over_time(table: &mut Table) {
    const PER_HOUR: f64 = -0.03;
    for host in [Host::Independent, Host::Ar3, Host::Ar6] {
        for count in [16_u32, 40, 400] {
            let hour = |round: u32| f64::from(round) / f64::from(count);
            let covered = Share::count(RUNS, |index| {
                let mut stream = numbers("over time", index);
                let speeds = host.speeds(count as usize, SD, &mut stream);
                let rate = |(round, speed): (u32, &f64)| RateAt {
                    at_ns: (3.6e12 * hour(round)) as u64,
                    rate: (speed + hour(round) * PER_HOUR.ln_1p()).exp(),
                };
                let rates: Vec<RateAt> = (0..count).zip(&speeds).map(rate).collect();
                let found = estimate_drift(&rates, BUDGET).expect("rates").per_hour;
                within(found.low, found.high, PER_HOUR)
            });
            let name = format!("drift of one arm, {}", host.name());
            row(table, &name, format!("{count} rounds"), covered);
        }
    }
}

/// The table of coverage.
pub(crate) fn section() -> String {
    let mut table = Table::new(&["interval of 95 %", "replicates", "covers"]);
    by_t(&mut table);
    by_ranks_and_draws(&mut table);
    nested(&mut table);
    looked_at(&mut table, "starts", 0.0);
    looked_at(&mut table, "stretches of one start", BETWEEN_STARTS_SD);
    over_time(&mut table);
    format!(
        "## Coverage\n\n\
         {RUNS} data sets each with a known true value, ±0.4 %.\n\
         Where pairs lie within starts, starts differ by {:.1} %; for a single start that \
         spread is assumed.\n\
         Intervals for repeated looks have to hold at all looks together; at the look that \
         ends a run their coverage is higher.\n\n\
         {}",
        100.0 * BETWEEN_STARTS_SD,
        table.end()
    )
}
