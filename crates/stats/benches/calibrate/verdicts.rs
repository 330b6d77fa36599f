//! False alarms: two arms that are equal, on hosts that are not even.

use dbdyno_model::{ArmIndex, Cell, IntervalChoice, IntervalKind, PerArm, RoundKey, Verdict};
use dbdyno_stats::{
    BETWEEN_STARTS_SD, DECISION_ALPHA, JudgementTerms, judge_nested, judge_starts, judge_unpaired,
    paired_estimate, welch,
};

use crate::hosts::{Host, normal, numbers};
use crate::table::{Share, Table};

/// Repetitions of what is claimed, and of what is only shown beside it.
const CLAIMED: u64 = 20_000;
const BESIDE: u64 = 4_000;
/// Standard deviation of the log-speed of a round.
const ROUND_SD: f64 = 0.02;
/// Too narrow for noise to prove anything equal, so that `equal` hides no alarm.
const BUDGET: f64 = 1e-4;
/// Starts that differ by so much are not what one start is judged by.
const WIDER_SD: f64 = 2.0 * BETWEEN_STARTS_SD;

/// The rounds of a run, as dbdyno orders them.
pub(crate) fn order(pairs: u32, seed: u64) -> Vec<RoundKey> {
    Cell { load: "point-query".to_owned(), clients: 1 }.rounds(seed, pairs)
}

/// Log-ratios of the pairs of one run of equal arms, on a host.
pub(crate) fn log_ratios(host: Host, pairs: u32, index: u64) -> Vec<f64> {
    let mut stream = numbers(host.name(), index);
    let speeds = host.speeds(2 * pairs as usize, ROUND_SD, &mut stream);
    let mut logs = vec![0.0; pairs as usize];
    for (round, speed) in order(pairs, index).iter().zip(speeds) {
        logs[round.pair as usize] += if round.arm == ArmIndex::TEST { speed } else { -speed };
    }
    logs
}

/// The same, in starts each of which has an error of its own, as large as it is assumed to be.
pub(crate) fn starts(host: Host, starts: u32, pairs: u32, index: u64) -> Vec<Vec<f64>> {
    starts_that_differ(host, [starts, pairs], BETWEEN_STARTS_SD, index)
}

fn starts_that_differ(host: Host, [starts, pairs]: [u32; 2], sd: f64, index: u64) -> Vec<Vec<f64>> {
    let logs = log_ratios(host, starts * pairs, index);
    let mut own = numbers("starts", index);
    let start = |start: &[f64]| {
        let off = sd * normal(&mut own);
        start.iter().map(|log| log + off).collect()
    };
    logs.chunks(pairs as usize).map(start).collect()
}

/// Judged as dbdyno judges: with the spread of starts assumed where there are fewer than three.
fn starts_alarm(starts: &[Vec<f64>]) -> bool {
    alarms(judge_starts(starts, BETWEEN_STARTS_SD, BUDGET).expect("logs").verdict)
}

pub(crate) fn alarms(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Faster)
}

/// `BBBB TTTT`, judged by Welch's test of rounds.
fn one_after_the_other(host: Host, rounds: u32, index: u64) -> bool {
    let mut stream = numbers(host.name(), index);
    let speeds = host.speeds(2 * rounds as usize, ROUND_SD, &mut stream);
    let (base, test) = speeds.split_at(rounds as usize);
    alarms(judge_unpaired(base, test, BUDGET, IntervalChoice::Auto).expect("rates").verdict)
}

/// A look after every pair from the third on, until the interval for one look excludes 1.
fn peeks(host: Host, pairs: u32, index: u64) -> bool {
    let logs = log_ratios(host, pairs, index);
    (3..=logs.len())
        .any(|seen| paired_estimate(&logs[..seen], 0.99).expect("logs").p_value < DECISION_ALPHA)
}

/// The seconds of two long rounds as if they were replicates.
fn seconds_as_replicates(host: Host, seconds: usize, index: u64) -> bool {
    let mut stream = numbers(host.name(), index);
    let arms = PerArm::from_fn(|_| {
        let round = host.speeds(8, ROUND_SD, &mut stream);
        let each = |speed: &f64| -> Vec<f64> {
            (0..seconds).map(|_| speed + ROUND_SD * normal(&mut stream)).collect()
        };
        round.iter().flat_map(each).collect::<Vec<f64>>()
    });
    welch(&arms.base, &arms.test, 0.99).expect("logs").p_value < DECISION_ALPHA
}

/// What each interval alarms, and how wide it is beside that of t, where pairs are the replicates,
/// with the spread of starts assumed, and where starts are.
fn by_interval() -> String {
    let choices: [(&str, IntervalChoice); 5] = [
        ("auto", IntervalChoice::Auto),
        ("t", IntervalChoice::Given(IntervalKind::T)),
        ("robust", IntervalChoice::Given(IntervalKind::Robust)),
        ("bca", IntervalChoice::Given(IntervalKind::Bca)),
        ("hodges-lehmann", IntervalChoice::Given(IntervalKind::HodgesLehmann)),
    ];
    let mut columns = vec!["host", "replicates"];
    columns.extend(choices.iter().map(|(name, _)| *name));
    columns.push("width of auto ÷ t");
    let mut table = Table::new(&columns);
    for host in Host::ALL {
        for (name, count, pairs) in
            [("1 start of 28 pairs", 1, 28), ("12 starts of 20 pairs", 12, 20)]
        {
            let mut widths = [0.0; 5];
            let shares = choices.iter().zip(&mut widths).map(|((_, interval), width)| {
                let terms = JudgementTerms {
                    between_sd: BETWEEN_STARTS_SD,
                    budget: BUDGET,
                    interval: *interval,
                    seed: 1,
                };
                let alarmed = |index| {
                    let nest = [starts(host, count, pairs, index)];
                    let judged = judge_nested(&nest, &terms).expect("logs");
                    *width += (judged.rqps.high / judged.rqps.low).ln();
                    alarms(judged.verdict)
                };
                Share::count(BESIDE, alarmed).percent()
            });
            let shares: Vec<String> = shares.collect();
            let ratio = format!("{:.2}", widths[0] / widths[1]);
            let head = [host.name().to_owned(), name.to_owned()];
            table.row(&[&head[..], &shares, &[ratio]].concat());
        }
    }
    table.end()
}

/// The table of false alarms.
pub(crate) fn section() -> String {
    let wider = format!("*1 start of 160 pairs, starts differ by {:.0} %*", 100.0 * WIDER_SD);
    let mut table = Table::new(&[
        "host",
        "1 start of 12 pairs",
        "1 start of 28 pairs",
        "16 starts of 6 pairs",
        "1 start of 160 pairs",
        &wider,
        "*BBBB TTTT, 12 rounds each*",
        "*a look after each of 40 pairs*",
        "*10 seconds of each of 8 rounds*",
    ]);
    for host in Host::ALL {
        let claimed = |count, pairs| {
            Share::count(CLAIMED, |index| starts_alarm(&starts(host, count, pairs, index)))
                .percent()
        };
        let beside = |naive: &dyn Fn(u64) -> bool| Share::count(BESIDE, naive).percent();
        table.row(&[
            host.name().to_owned(),
            claimed(1, 12),
            claimed(1, 28),
            claimed(16, 6),
            claimed(1, 160),
            beside(&|index| starts_alarm(&starts_that_differ(host, [1, 160], WIDER_SD, index))),
            beside(&|index| one_after_the_other(host, 12, index)),
            beside(&|index| peeks(host, 40, index)),
            beside(&|index| seconds_as_replicates(host, 10, index)),
        ]);
    }
    format!(
        "## False alarms\n\n\
         Two equal arms are compared; the table shows how often one is called slower or \
         faster at the level of 1 %.\n\
         A round has a noise of 2 %, and starts of servers differ by {:.1} %, as measured on \
         real servers; {CLAIMED} runs each, ±0.14 %.\n\
         A single start is judged as in dbdyno, with that spread assumed.\n\
         The columns in italics have {BESIDE} runs each.\n\
         The first of them shows the effect of a wrong assumption: dbdyno's verdicts where \
         starts differ by twice as much.\n\
         The others show methods that dbdyno does not use.\n\n\
         {}By `--interval`, {BESIDE} runs each, ±0.3 %.\n\
         For one start `hodges-lehmann` is the same as `robust`, because the assumed spread \
         of starts has no ranks:\n\n\
         {}",
        100.0 * BETWEEN_STARTS_SD,
        table.end(),
        by_interval()
    )
}
