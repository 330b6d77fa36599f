//! Looking after every start: false alarms, and what it costs to find something.

use dbdyno_model::random::RandomStream;
use dbdyno_model::{IntervalChoice, Verdict};
use dbdyno_stats::{
    BETWEEN_STARTS_SD, ConfidenceSequence, ControlLimits, DECISION_ALPHA, POWER, RunStarts,
    detectable_change, judge_pairs, judge_runs, judge_sequence, judge_unpaired,
};

use crate::hosts::{Host, normal, numbers};
use crate::table::{Share, Table};
use crate::verdicts::{self, alarms};

const CLAIMED: u64 = 10_000;
const POWERED: u64 = 4_000;
/// Too narrow for noise to prove anything equal, so that `equal` hides no alarm.
const BUDGET: f64 = 1e-4;

/// What looking after each of these starts ends with, and after how many; `known_sd` is what they
/// have in common.
fn look(starts: &[f64], known_sd: f64, sequence: &ConfidenceSequence) -> (Verdict, usize) {
    look_from(3, starts, known_sd, sequence)
}

fn look_from(
    first: usize,
    starts: &[f64],
    known_sd: f64,
    sequence: &ConfidenceSequence,
) -> (Verdict, usize) {
    for seen in first..=starts.len() {
        let look = judge_sequence(&starts[..seen], known_sd, BUDGET, sequence).expect("starts");
        if look.verdict != Verdict::Undecided {
            return (look.verdict, seen);
        }
    }
    (Verdict::Undecided, starts.len())
}

fn means(host: Host, starts: u32, pairs: u32, index: u64) -> Vec<f64> {
    let starts = verdicts::starts(host, starts, pairs, index);
    starts.iter().map(|start| start.iter().sum::<f64>() / start.len() as f64).collect()
}

fn alarm_table() -> String {
    let plans = [(6, 72), (12, 12), (24, 48)];
    let mut table = Table::new(&[
        "host",
        "planned 6 starts, up to 72 looked at",
        "planned 12, up to 12",
        "planned 24, up to 48",
        "24 stretches of one start",
        "12 judged once, then up to 36",
        "planned 12, disturbed pairs left out",
    ]);
    for host in Host::ALL {
        let of_plan = plans.map(|(horizon, most)| {
            let sequence = ConfidenceSequence::new(horizon);
            let stops = |index| alarms(look(&means(host, most, 6, index), 0.0, &sequence).0);
            Share::count(CLAIMED, stops).percent()
        });
        let others = [stretches(host), extended(host), sifted(host)].map(Share::percent);
        table.row(&[&[host.name().to_owned()][..], &of_plan, &others].concat());
    }
    table.end()
}

/// Servers live once: what their start is off by is in every stretch, and its spread is known.
fn stretches(host: Host) -> Share {
    const STRETCHES: usize = 24;
    let sequence = ConfidenceSequence::new(STRETCHES as u32);
    Share::count(CLAIMED, |index| {
        let off = BETWEEN_STARTS_SD * normal(&mut numbers("one start", index));
        let logs = verdicts::log_ratios(host, 6 * STRETCHES as u32, index);
        let mean = |part: &[f64]| off + part.iter().sum::<f64>() / part.len() as f64;
        let parts: Vec<f64> = logs.chunks(6).map(mean).collect();
        alarms(look(&parts, BETWEEN_STARTS_SD, &sequence).0)
    })
}

/// A run that was judged once, and where that was undecided, looked at from then on.
fn extended(host: Host) -> Share {
    const ONCE: usize = 12;
    let sequence = ConfidenceSequence::after_judgement(ONCE as u32);
    Share::count(CLAIMED, |index| {
        let starts = means(host, 3 * ONCE as u32, 6, index);
        alarms(judge_pairs(&starts[..ONCE], BUDGET).expect("starts").verdict)
            || alarms(look_from(ONCE + 1, &starts, 0.0, &sequence).0)
    })
}

/// In a tenth of the pairs the host is disturbed: they have more noise, and a witness that says so
/// more or less clearly. What is usual of the witness is worked out anew at each look, as
/// `judge::exclusion` does, so that a pair that an earlier look had may be missing in a later one.
fn sifted(host: Host) -> Share {
    const STARTS: u32 = 12;
    /// Logarithms of canaries: what is nearer to the centre is usual in any case.
    const LEAST: f64 = 0.22;
    let sequence = ConfidenceSequence::new(STARTS);
    Share::count(CLAIMED, |index| {
        let mut own = numbers("disturbed pairs", index);
        let mut pair = |log: f64| match own.next_below(10) {
            0 => (log + 0.1 * normal(&mut own), 0.2 + 0.3 * normal(&mut own).abs()),
            _ => (log, 0.05 * normal(&mut own)),
        };
        let starts: Vec<Vec<(f64, f64)>> = verdicts::starts(host, STARTS, 6, index)
            .into_iter()
            .map(|start| start.into_iter().map(&mut pair).collect())
            .collect();
        let is_alarm = |seen: usize| {
            let says: Vec<f64> = starts[..seen].iter().flatten().map(|(_, says)| *says).collect();
            let limits =
                ControlLimits::from_values(&says, LEAST).expect("three starts have 18 pairs");
            let kept = |start: &Vec<(f64, f64)>| {
                let usual =
                    start.iter().filter(|(_, says)| limits.distance_outside(*says).is_none());
                let logs: Vec<f64> = usual.map(|(log, _)| *log).collect();
                (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
            };
            let means: Vec<f64> = starts[..seen].iter().filter_map(kept).collect();
            alarms(judge_sequence(&means, 0.0, BUDGET, &sequence).expect("starts").verdict)
        };
        (3..=starts.len()).any(is_alarm)
    })
}

/// Effects in units of what one look after the planned number of starts finds with 80 %.
fn cost_table() -> String {
    const PLANNED: u32 = 24;
    let least = detectable_change(BETWEEN_STARTS_SD, PLANNED, DECISION_ALPHA, POWER).ln_1p();
    let sequence = ConfidenceSequence::new(PLANNED);
    let mut table = Table::new(&[
        "true effect",
        "one look after 24 starts finds",
        "looking after each of 24 finds",
        "starts until then, mean",
    ]);
    for times in [0.0, 0.5, 1.0, 1.5, 2.0, 3.0] {
        let starts = |index| -> Vec<f64> {
            let mut stream = numbers("cost of looking", index);
            let start = |_| times * least + BETWEEN_STARTS_SD * normal(&mut stream);
            (0..PLANNED).map(start).collect()
        };
        let at_once = Share::count(POWERED, |index| {
            alarms(judge_pairs(&starts(index), BUDGET).expect("starts").verdict)
        });
        let mut used = 0;
        let in_turn = Share::count(POWERED, |index| {
            let (verdict, seen) = look(&starts(index), 0.0, &sequence);
            used += seen;
            alarms(verdict)
        });
        table.row(&[
            format!("{:.2} %", 100.0 * (times * least).exp_m1()),
            at_once.percent(),
            in_turn.percent(),
            format!("{:.1}", used as f64 / POWERED as f64),
        ]);
    }
    table.end()
}

/// Two runs with the same base arm, each measured until it was decided or had twice the starts that
/// it planned, and what is said of the second one against the first.
fn two_runs() -> String {
    let run = |planned: Option<u32>, truth: f64, stream: &mut RandomStream| {
        let most = planned.map_or(12, |planned| 2 * planned);
        let start = |_| truth.ln_1p() + BETWEEN_STARTS_SD * normal(stream);
        let starts: Vec<f64> = (0..most).map(start).collect();
        let sequence = planned.map(ConfidenceSequence::new);
        let seen = sequence.map_or(starts.len(), |sequence| look(&starts, 0.0, &sequence).1);
        (starts[..seen].to_vec(), sequence)
    };
    let said = |plans: [Option<u32>; 2], truths: [f64; 2], index: u64| {
        let mut stream = numbers("two runs", index);
        let [(base, of_base), (test, of_test)] =
            [0, 1].map(|at: usize| run(plans[at], truths[at], &mut stream));
        let base_starts = RunStarts { starts: &base, looks: of_base.as_ref() };
        let test_starts = RunStarts { starts: &test, looks: of_test.as_ref() };
        let judged = judge_runs(base_starts, test_starts, BUDGET).expect("starts");
        let auto = IntervalChoice::Auto;
        let by_welch = judge_unpaired(&base, &test, BUDGET, auto).expect("starts");
        (judged.verdict, by_welch.verdict)
    };
    let (both, mixed, apart) = ([Some(12); 2], [None, Some(12)], [Some(6), Some(24)]);
    let mut table = Table::new(&[
        "true rQPS of the runs",
        "planned 12 and 12",
        "*by Welch*",
        "judged once with 12, planned 12",
        "*by Welch*",
        "planned 6 and 24",
        "*by Welch*",
    ]);
    for truths in [[0.0, 0.0], [-0.01, -0.01], [-0.02, -0.02], [-0.04, -0.04], [0.0, -0.03]] {
        let mut row = vec![truths.map(|truth| format!("{:.2}", 1.0 + truth)).join(", ")];
        for plans in [both, mixed, apart] {
            let ours = |index| alarms(said(plans, truths, index).0);
            let welch = |index| alarms(said(plans, truths, index).1);
            row.push(Share::count(CLAIMED, ours).percent());
            row.push(Share::count(CLAIMED, welch).percent());
        }
        table.row(&row);
    }
    table.end()
}

/// The tables of `--until decided`.
pub(crate) fn section() -> String {
    format!(
        "## Looking after every start\n\n\
         Equal arms with an interim analysis (a *look*) after each start of 6 pairs, \
         beginning with the third, until one arm is called slower or faster; {CLAIMED} runs \
         each, ±0.2 %.\n\
         Stretches of one start share the deviation of that start.\n\
         A run that was judged once and is then extended may have an error rate of 1.2 %.\n\
         In the last column a tenth of the pairs is disturbed, a canary shows the disturbance \
         with varying clarity, and each look decides anew which pairs are left out.\n\n\
         {}The cost of interim analyses: starts differ by {:.1} %, and there is no noise \
         within a start; {POWERED} runs each.\n\n\
         {}Two stored runs have the same base arm, and each was looked at after every start \
         until it was decided or had twice its planned starts.\n\
         The table shows how often the second run is called slower or faster than the first, \
         which is false in all rows but the last.\n\n\
         {}",
        alarm_table(),
        100.0 * BETWEEN_STARTS_SD,
        cost_table(),
        two_runs()
    )
}
