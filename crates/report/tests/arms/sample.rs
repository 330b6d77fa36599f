//! Made-up runs of several arms: seeded, so that goldens stay as they are.

use dbdyno_model::{
    Arm, ArmIndex, ArmSpec, ArmsComparison, Cell, Comparison, Environment, Interval,
    LatencyHistogram, Metric, MetricComparison, MetricVerdict, PairComparison, Pairing, RateUnit,
    Reference, Round, RoundKey, Run, Series, Severity, Verdict, Warning, random,
};

use crate::common::{Truth, compare, normal, one_cell};

/// A load: its name, its group, its rate in base, and what each arm does of what base does.
pub(crate) struct Load {
    pub name: &'static str,
    pub group: Option<&'static str>,
    pub qps: f64,
    pub of_base: Vec<f64>,
}

/// A run of several arms with the comparison that follows from it.
pub(crate) struct Sample {
    pub run: Run,
    pub comparison: ArmsComparison,
}

/// Four versions under ten loads of four groups: keys fall with the third arm, ranges little by
/// little, writes rise; one scan counts rows, and one load varies too much to tell.
pub(crate) fn four_versions() -> Sample {
    let load = |name, group, qps, of_base: [f64; 4]| Load {
        name,
        group: Some(group),
        qps,
        of_base: of_base.to_vec(),
    };
    let loads = [
        load("update-index", "write", 1_838.0, [1.0, 1.94, 1.39, 1.65]),
        load("insert", "write", 9_120.0, [1.0, 1.02, 1.3, 1.28]),
        load("point-query", "point", 21_843.0, [1.0, 0.99, 0.79, 0.72]),
        load("hot-points", "point", 15_311.0, [1.0, 1.0, 0.88, 0.86]),
        load("points-covered-pk", "point", 12_004.0, [1.0, 0.995, 0.91, 0.9]),
        load("range-covered-pk", "range", 8_004.0, [1.0, 0.97, 0.94, 0.91]),
        load("scan", "range", 12.5, [1.0, 0.97, 0.93, 0.9]),
        load("read-only-distinct", "range-aggregate", 6_020.0, [1.0, 0.9, 1.25, 1.25]),
        load("read-only-sum", "range-aggregate", 4_402.0, [1.0, 1.0, 1.01, 0.99]),
        load("shaky", "range-aggregate", 5_000.0, [1.0, 0.98, 0.9, 0.85]),
    ];
    let targets = ["mysql:5.6", "mysql:5.7", "mysql:8.0", "mysql:9.7"];
    let mut sample = sample(&targets, &loads, 12);
    let caution = "test: the client's threads waited for a processor for 34 % of the time";
    let pairs = &mut sample.comparison.pairs;
    for pair in pairs.iter_mut().skip(1) {
        let warning = Warning::new(Severity::Caution, "client-lag", caution);
        pair.comparison.cells[2].warnings.push(warning);
    }
    sample
}

/// As large as a run is: twelve versions under thirty-two loads.
pub(crate) fn large(pairs: u32) -> Sample {
    let groups = ["point", "range", "range-aggregate", "write"];
    let loads: Vec<Load> = (0..32u32)
        .map(|at| Load {
            name: format!("load-{at:02}-with-a-name-as-long-as-they-get").leak(),
            group: Some(groups[at as usize % 4]),
            qps: 900.0 * f64::from(at + 1),
            of_base: (0..12u32)
                .map(|arm| 0.985f64.powi(arm as i32) * (1.0 + 0.01 * f64::from((at * arm) % 7)))
                .collect(),
        })
        .collect();
    let targets: Vec<String> = (0..12).map(|arm| format!("mariadb:10.{arm}")).collect();
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    let mut sample = sample(&targets, &loads, pairs);
    for pair in &mut sample.comparison.pairs {
        for (at, cell) in pair.comparison.cells.iter_mut().enumerate() {
            for (severity, code) in [(Severity::Caution, "client-lag"), (Severity::Note, "slices")]
            {
                let text = format!("{code}, said of load {at} in as many words as it usually is");
                cell.warnings.push(Warning::new(severity, code, text.repeat(3)));
            }
        }
    }
    sample
}

/// A run of these targets.
pub(crate) fn sample(targets: &[&str], loads: &[Load], pairs: u32) -> Sample {
    let mut run = one_cell().run;
    run.plan.arms = targets.iter().map(|target| target.parse::<ArmSpec>().unwrap()).collect();
    run.plan.schedule.pairs = pairs;
    let measure = |load: &Load| dbdyno_model::Stage::Measure(load.name.to_owned());
    run.plan.question.stages = loads.iter().map(measure).collect();
    let latency = LatencyHistogram::from_hdr(&LatencyHistogram::new().to_hdr());
    let mut of_arms: Vec<Vec<Round>> = vec![Vec::new(); targets.len()];
    for (at, load) in loads.iter().enumerate() {
        for pair in 0..pairs {
            for (arm, rounds) in of_arms.iter_mut().enumerate() {
                let place = [at as u64, u64::from(pair), arm as u64];
                rounds.push(round(&run, load, place, &latency));
            }
        }
    }
    let comparison = judged(&run, targets, loads, &of_arms);
    run.rounds = of_arms.into_iter().flatten().collect();
    run.rounds.sort_by_key(|round| round.started_unix_ms);
    for arm in run.plan.arms.indices().skip(2) {
        run.environment.push(arm, Environment::default());
    }
    Sample { run, comparison }
}

fn round(run: &Run, load: &Load, [at, pair, arm]: [u64; 3], latency: &LatencyHistogram) -> Round {
    let index = ArmIndex(arm as u8);
    let noise = if load.name == "shaky" { 0.2 } else { 0.01 };
    let mut random = random::stream(&[run.plan.question.seed, at, pair, arm]);
    let qps = load.qps * load.of_base[arm as usize] * (noise * normal(&mut random)).exp();
    let statements = (1_000.0 * qps) as u64;
    Round {
        key: RoundKey {
            cell: Cell { load: load.name.to_owned(), clients: 1 },
            pair: pair as u32,
            arm: index,
        },
        start: pair as u32 / 4,
        started_unix_ms: run.started_unix_ms + 1_000_000 * at + 10_000 * pair + 100 * arm,
        wall_ns: 1_000_000_000_000,
        events: statements,
        statements,
        latency: latency.clone(),
        series: Series { slot_ns: 100_000_000, statements: Vec::new() },
        ..run.rounds[0].clone()
    }
}

/// Each arm against base, and against the one before it.
fn judged(run: &Run, targets: &[&str], loads: &[Load], arms: &[Vec<Round>]) -> ArmsComparison {
    let pair = |base: usize, test: usize| {
        let side = |arm: usize, side: Arm| {
            arms[arm].iter().map(move |round| {
                let mut round = round.clone();
                round.key.arm = side.into();
                round
            })
        };
        let rounds: Vec<Round> = side(base, Arm::Base).chain(side(test, Arm::Test)).collect();
        let cells = loads.iter().map(|load| {
            let [from, to] = [load.of_base[base], load.of_base[test]];
            cell(run, load, (load.qps * from, to / from), &rounds)
        });
        let pairing = Pairing { base: ArmIndex(base as u8), test: ArmIndex(test as u8) };
        let comparison = Comparison { cells: cells.collect(), ..one_cell().comparison };
        PairComparison { pairing, comparison }
    };
    let others = 1..targets.len();
    ArmsComparison {
        labels: targets.iter().map(|target| format!("{target} ({target}.1)")).collect(),
        cells: run.plan.cells(),
        one_processor: run.plan.cells(),
        reference: Reference::Arm(ArmIndex::BASE),
        pairs: others.clone().map(|test| pair(0, test)).collect(),
        steps: others.map(|test| pair(test - 1, test)).collect(),
        warnings: Vec::new(),
        ended: Vec::new(),
    }
}

fn cell(
    run: &Run,
    load: &Load,
    (qps, rqps): (f64, f64),
    rounds: &[Round],
) -> dbdyno_model::CellComparison {
    let truth = Truth {
        load: load.name,
        clients: 1,
        qps,
        rqps,
        noise: 0.01,
        pairs: run.plan.schedule.pairs,
    };
    let mut cell = compare(&truth, rounds, run.plan.rule.budget);
    cell.group = load.group.map(str::to_owned);
    if load.name == "scan" {
        cell.unit = RateUnit::Rows(1_000);
        for arm in Arm::BOTH {
            let rate = &mut cell.arms[arm].rate;
            (rate.estimate, rate.low, rate.high) =
                (rate.estimate * 1e3, rate.low * 1e3, rate.high * 1e3);
        }
    }
    // The server needs its share of the time of an operation, and the client always the same.
    let Interval { estimate, low, high } = cell.rqps;
    cell.metrics = vec![MetricComparison {
        metric: Metric::ServerCpu,
        ratio: Interval {
            estimate: estimate.powf(-1.2),
            low: high.powf(-1.2),
            high: low.powf(-1.2),
        },
        verdict: match cell.verdict {
            Verdict::Slower => MetricVerdict::Higher,
            Verdict::Faster => MetricVerdict::Lower,
            Verdict::Equal => MetricVerdict::Equal,
            Verdict::Undecided => MetricVerdict::Undecided,
        },
        p_value: cell.p_value,
        q_value: cell.q_value,
    }];
    cell
}
