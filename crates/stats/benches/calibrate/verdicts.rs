//! False alarms: two arms that are equal, on hosts that are not even.

use dbdyno_model::{Arm, Cell, IntervalChoice, IntervalKind, PerArm, RoundKey, Verdict};
use dbdyno_stats::{
    BETWEEN_LIVES_SD, DECISION_ALPHA, Terms, judge_lives, judge_nested, judge_unpaired, paired,
    welch,
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

/// The rounds of a run, as dbdyno orders them.
pub fn order(pairs: u32, seed: u64) -> Vec<RoundKey> {
    Cell { load: "point-query".to_owned(), clients: 1 }.rounds(seed, pairs)
}

/// Log-ratios of the pairs of one run of equal arms, on a host.
pub fn log_ratios(host: Host, pairs: u32, index: u64) -> Vec<f64> {
    let mut stream = numbers(host.name(), index);
    let speeds = host.speeds(2 * pairs as usize, ROUND_SD, &mut stream);
    let mut logs = vec![0.0; pairs as usize];
    for (round, speed) in order(pairs, index).iter().zip(speeds) {
        logs[round.pair as usize] += if round.arm == Arm::Test { speed } else { -speed };
    }
    logs
}

/// The same, in lives each of which has an error of its own.
pub fn lives(host: Host, lives: u32, pairs: u32, index: u64) -> Vec<Vec<f64>> {
    let logs = log_ratios(host, lives * pairs, index);
    let mut own = numbers("lives", index);
    let life = |life: &[f64]| {
        let off = BETWEEN_LIVES_SD * normal(&mut own);
        life.iter().map(|log| log + off).collect()
    };
    logs.chunks(pairs as usize).map(life).collect()
}

pub fn alarms(verdict: Verdict) -> bool {
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
    (3..=logs.len()).any(|seen| paired(&logs[..seen], 0.99).expect("logs").p_value < DECISION_ALPHA)
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

/// What each interval alarms, and how wide it is beside that of t, where pairs are the replicates
/// and where lives are.
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
        for (name, count, pairs, between_sd) in
            [("28 pairs", 1, 28, 0.0), ("12 lives of 20 pairs", 12, 20, BETWEEN_LIVES_SD)]
        {
            let nest = |index| match count {
                1 => vec![vec![log_ratios(host, pairs, index)]],
                _ => vec![lives(host, count, pairs, index)],
            };
            let mut widths = [0.0; 5];
            let shares = choices.iter().zip(&mut widths).map(|((_, interval), width)| {
                let terms = Terms { between_sd, budget: BUDGET, interval: *interval, seed: 1 };
                let alarmed = |index| {
                    let judged = judge_nested(&nest(index), &terms).expect("logs");
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
pub fn section() -> String {
    let mut table = Table::new(&[
        "host",
        "12 pairs",
        "28 pairs",
        "8 lives of 20 pairs",
        "1 life of 160 pairs",
        "*BBBB TTTT, 12 rounds each*",
        "*a look after each of 40 pairs*",
        "*10 seconds of each of 8 rounds*",
    ]);
    for host in Host::ALL {
        let in_lives = |count, pairs, between| {
            Share::count(CLAIMED, |index| {
                let lives = if between > 0.0 {
                    lives(host, count, pairs, index)
                } else {
                    vec![log_ratios(host, pairs, index)]
                };
                alarms(judge_lives(&lives, between, BUDGET).expect("logs").verdict)
            })
        };
        let beside = |naive: &dyn Fn(u64) -> bool| Share::count(BESIDE, naive).percent();
        table.row(&[
            host.name().to_owned(),
            in_lives(1, 12, 0.0).percent(),
            in_lives(1, 28, 0.0).percent(),
            in_lives(8, 20, BETWEEN_LIVES_SD).percent(),
            in_lives(1, 160, BETWEEN_LIVES_SD).percent(),
            beside(&|index| one_after_the_other(host, 12, index)),
            beside(&|index| peeks(host, 40, index)),
            beside(&|index| seconds_as_replicates(host, 10, index)),
        ]);
    }
    format!(
        "## False alarms\n\n\
         Two equal arms; how often one is called slower or faster at the level of 1 %.\n\
         A round has a noise of 2 %, and lives of servers differ by {:.1} %, as measured; {CLAIMED} \
         runs each, ±0.14 %.\n\
         The columns in italics are the ways that dbdyno does not go, {BESIDE} runs each.\n\n{}\
         By `--interval`, {BESIDE} runs each, ±0.3 %:\n\n{}",
        100.0 * BETWEEN_LIVES_SD,
        table.end(),
        by_interval()
    )
}
