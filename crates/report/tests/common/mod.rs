//! Made-up runs that look like real ones: seeded, so that goldens stay as they are.

pub(crate) mod counts;

use dbdyno_model::experiment::{FigureOutcome, RoundFigure};
use dbdyno_model::insert_benchmark::{ArmMetrics, COLUMNS, StepMetrics};
use dbdyno_model::random::{self, RandomStream};
use dbdyno_model::{
    Arm, ArmIndex, ArmSummary, Arms, Audit, BandPoint, Basis, Cell, CellComparison, ClassSummary,
    ClassTally, ClassTimes, ClassUnit, Comparison, Cost, CostChange, CostChanges, CostComparison,
    CostFit, CostLine, CostMeasure, CostPoint, CurveChange, CurveComparison, CurveFit, CurvePoint,
    CurveQuestion, Environment, ExperimentLevel, FactChange, Inequality, Interval, IntervalKind,
    LatencyHistogram, LatencyUs, LevelShare, Levels, Metric, MetricComparison, MetricVerdict,
    PerArm, Plan, PointPlace, Question, RateUnit, Readings, Round, RoundKey, RoundSchedule, Run,
    RunId, RunStatus, SelfTests, Series, Severity, Since, SingleRuns, Spend, Stage, TestFamily,
    UslCurve, Verdict, VerdictMeasure, Warning, Weight,
};

const STARTED_UNIX_MS: u64 = 1_793_277_187_000;
const SLOT_NS: u64 = 100_000_000;

/// What a cell of a made-up run is like.
#[derive(Clone, Copy)]
pub(crate) struct Truth {
    pub load: &'static str,
    pub clients: u32,
    /// QPS of the base arm.
    pub qps: f64,
    /// True rQPS.
    pub rqps: f64,
    /// Standard deviation of log QPS from round to round.
    pub noise: f64,
    pub pairs: u32,
}

/// A run of several cells with the comparison that follows from it.
pub(crate) struct Sample {
    pub run: Run,
    pub comparison: Comparison,
}

/// One decided cell of 24 pairs.
pub(crate) fn one_cell() -> Sample {
    let truth = Truth {
        load: "point-query",
        clients: 1,
        qps: 21_843.0,
        rqps: 0.951,
        noise: 0.012,
        pairs: 24,
    };
    sample(&[truth], 24)
}

/// One cell of two designs of the reference engine, with what their mechanisms did.
pub(crate) fn engines() -> Sample {
    let mut sample = one_cell();
    let cell = sample.comparison.cells[0].cell.clone();
    let figure = |name: &str, base: f64, test: f64, ratio: Option<[f64; 3]>| FigureOutcome {
        figure: RoundFigure::read(name),
        cell: cell.clone(),
        base: Some(base),
        test: Some(test),
        ratio: ratio.map(|[low, estimate, high]| Interval { estimate, low, high }),
        sign: None,
    };
    sample.comparison.mechanisms = vec![
        figure("engine.activations / engine.commits", 1.94, 1.0, Some([0.513, 0.516, 0.519])),
        figure(
            "engine.lock_latch_held_ns / engine.lock_latches",
            81.25,
            93.5,
            Some([1.09, 1.151, 1.22]),
        ),
        figure("engine.deadlocks / engine.commits", 0.0, 0.021, None),
        figure("engine.voluntary_switches", 1.87, 1.02, Some([0.541, 0.545, 0.549])),
        figure("engine.involuntary_switches", 0.034, 0.031, Some([0.81, 0.91, 1.02])),
    ];
    sample
}

/// Two cells whose costs and latencies are judged, with all that can be said of them.
pub(crate) fn judged_metrics() -> Sample {
    let truth = |clients, qps, rqps| {
        let load = "point-query";
        Truth { load, clients, qps, rqps, noise: 0.012, pairs: 24 }
    };
    let mut sample = sample(&[truth(1, 21_843.0, 0.951), truth(8, 88_120.0, 0.999)], 24);
    let one = |metric, [low, estimate, high]: [f64; 3], verdict, p_value| MetricComparison {
        metric,
        ratio: Interval { estimate, low, high },
        verdict,
        p_value,
        q_value: Some(2.0 * p_value),
    };
    let (cpu, p99) = (Metric::ServerCpu, Metric::P99);
    let [first, second] = &mut sample.comparison.cells[..] else { panic!("two cells") };
    first.metrics = vec![
        one(cpu, [1.2811, 1.3024, 1.3241], MetricVerdict::Higher, 0.0001),
        one(p99, [0.9971, 1.0018, 1.0066], MetricVerdict::Equal, 0.4),
    ];
    second.metrics = vec![
        one(cpu, [0.4987, 0.5184, 0.5389], MetricVerdict::Lower, 0.0002),
        one(p99, [0.9764, 1.0082, 1.0411], MetricVerdict::Undecided, 0.5),
    ];
    for cell in [first, second] {
        let PerArm { base, test } = &mut cell.arms;
        let ratios = [cell.metrics[0].ratio.estimate, cell.metrics[1].ratio.estimate];
        test.server_cpu_us_per_op = base.server_cpu_us_per_op.map(|us| us * ratios[0]);
        test.latency_us.p99 = base.latency_us.p99 * ratios[1];
    }
    sample.comparison.family.metrics = 4;
    sample
}

/// Six cells with all four verdicts, and warnings that share footnotes.
pub(crate) fn six_cells() -> Sample {
    let truth =
        |load, clients, qps, rqps, noise, pairs| Truth { load, clients, qps, rqps, noise, pairs };
    let mut sample = sample(
        &[
            truth("point-query", 1, 21_843.0, 0.951, 0.012, 12),
            truth("point-query", 8, 88_120.0, 0.999, 0.006, 12),
            truth("update-nonindex", 1, 1_204.0, 1.121, 0.02, 12),
            truth("update-nonindex", 8, 6_310.0, 0.98, 0.12, 12),
            truth("read-write", 1, 9_944.0, 0.62, 0.015, 12),
            truth("read-write", 8, 31_212.0, 1.001, 0.009, 12),
        ],
        12,
    );
    let saturated = Warning::new(
        Severity::Caution,
        "client-saturated",
        "the load generator used 96 % of its processors; give it more cores or use fewer clients",
    );
    let retried = Warning::new(
        Severity::Note,
        "retries",
        "more than one event in a hundred was asked again after a deadlock",
    );
    let cells = &mut sample.comparison.cells;
    cells[1].warnings.push(saturated.clone());
    cells[5].warnings.extend([saturated, retried]);
    sample.run.warnings.push(Warning::new(
        Severity::Note,
        "turbo",
        "turbo is on: the clock of the processor changes with its temperature",
    ));
    sample
}

/// A run that died after its first pair: no interval is bounded.
pub(crate) fn partial() -> Sample {
    let truth =
        Truth { load: "read-write", clients: 4, qps: 12_004.0, rqps: 0.97, noise: 0.02, pairs: 1 };
    let mut sample = sample(&[truth], 24);
    sample.run.status = RunStatus::Partial;
    sample.comparison.cells[0].pairs_missing = Some(23);
    sample.comparison.cells[0].missing_ns = Some(200_000_000_000);
    sample.comparison.cells[0].detectable = None;
    sample
}

/// The first round of the first pair and nothing else; interrupted; nothing finite.
pub(crate) fn nothing() -> Sample {
    let mut sample = partial();
    sample.run.status = RunStatus::Interrupted;
    sample.run.rounds.truncate(1);
    let cell = &mut sample.comparison.cells[0];
    let unknown = Interval { estimate: f64::NAN, low: f64::NEG_INFINITY, high: f64::INFINITY };
    cell.pairs = 0;
    cell.pairs_missing = None;
    cell.rqps = unknown;
    for arm in Arm::BOTH {
        cell.arms[arm].qps = unknown;
        cell.arms[arm].latency_us = LatencyUs::default();
        cell.arms[arm].tps = -0.0;
        cell.arms[arm].retries_per_event = f64::NAN;
    }
    sample
}

/// A comparison without any cell.
pub(crate) fn no_cells() -> Sample {
    let mut sample = nothing();
    sample.run.rounds.clear();
    sample.comparison.cells.clear();
    sample
}

/// Two undecided cells, one of them blocked by a warning; text from outside that tries to escape.
pub(crate) fn hostile() -> Sample {
    let truth =
        |load, clients| Truth { load, clients, qps: 812.0, rqps: 0.97, noise: 0.08, pairs: 4 };
    let mut sample = sample(&[truth("range|scan <b>", 1), truth("range|scan <b>", 64)], 4);
    sample.comparison.cells[1].warnings.push(Warning::new(
        Severity::Blocks,
        "result-sets-differ",
        "</script><img src=x onerror=alert(1)> different rows; \"compare\" the data",
    ));
    let label =
        "mariadb:10.11 (\u{1b}[31m</script><script>alert(\"x\")</script>, `|` & 名前 'Grüße')";
    sample.comparison.labels.base = label.to_owned();
    sample.run.command = "dbdyno compare 'a</script>' \"b\" --name <!--".to_owned();
    sample.run.name = Some("\u{202e}<i>name</i>".to_owned());
    sample.run.environment[ArmIndex::TEST]
        .set("variable.init_connect", "</td></table><script>alert(2)</script>");
    sample
}

/// Three steps of the Insert Benchmark: one plain, one faster on test, one whose background fell
/// short on test.
pub(crate) fn insert_benchmark() -> Sample {
    let truth = |load| Truth { load, clients: 2, qps: 812.0, rqps: 0.97, noise: 0.08, pairs: 4 };
    let mut sample = sample(&[truth("l.i0"), truth("l.x"), truth("qr100")], 4);
    let arm = |rate: f64, background: Option<f64>| {
        let mut columns = [None; COLUMNS.len()];
        let mut set = |name: &str, value: f64| {
            columns[COLUMNS.iter().position(|column| *column == name).unwrap()] = Some(value);
        };
        set("ips", background.unwrap_or(rate));
        set("qps", if background.is_some() { rate } else { 0.0 });
        set("cpupq", 31.4);
        set("rss", 1.25);
        ArmMetrics {
            columns,
            kept: background.map(|ips| ips / 200.0),
            getmin_count: 2,
            getmin_ms_mean: background.map(|_| 3.5),
            getmin_ms_max: background.map(|_| 6.0),
            debt_begin: Some(1200.0),
            debt_end: Some(0.0),
        }
    };
    let step = |load: &str, rates: [f64; 2], background: Option<[f64; 2]>| StepMetrics {
        cell: Cell { load: load.to_owned(), clients: 2 },
        step: load.to_owned(),
        target_ips: background.map(|_| 200.0),
        arms: PerArm {
            base: arm(rates[0], background.map(|both| both[0])),
            test: arm(rates[1], background.map(|both| both[1])),
        },
    };
    sample.comparison.insert_benchmark = vec![
        step("l.i0", [90_123.0, 88_000.0], None),
        step("l.x", [200_000.0, 300_000.0], None),
        step("qr100", [4000.0, 3000.0], Some([200.0, 150.0])),
    ];
    sample
}

/// What the five transactions of TPC-C take of a hundred, roughly, and how long each takes beside
/// the first.
const TPCC: [(&str, f64, f64); 5] = [
    ("new-order", 0.442, 1.0),
    ("payment", 0.432, 0.4),
    ("order-status", 0.042, 0.2),
    ("delivery-background", 0.042, 3.0),
    ("stock-level", 0.042, 0.6),
];

/// Three units: TPC-C in transactions per minute with its five classes, whose users think; a scan
/// in rows; a mix of statements whose classes are counted.
pub(crate) fn three_units() -> Sample {
    let truth =
        |load, clients, qps, rqps| Truth { load, clients, qps, rqps, noise: 0.01, pairs: 6 };
    let tpcc = truth("tpcc?think=on", 20, 9_000.0, 0.9);
    let mut sample =
        sample(&[truth("read-write", 8, 31_212.0, 1.05), truth("scan", 1, 1_250.0, 1.3), tpcc], 6);
    for round in &mut sample.run.rounds {
        round.classes = match round.key.cell.load.as_str() {
            "read-write" => statements(round),
            "scan" => Vec::new(),
            _ => transactions(round),
        };
    }
    let [mix, scan, tpcc] = &mut sample.comparison.cells[..] else { panic!("three cells") };
    (scan.unit, tpcc.unit) = (RateUnit::Rows(1_000), RateUnit::Transactions);
    tpcc.since = Since::Intended;
    let scaled = |interval: Interval, by: f64| Interval {
        estimate: interval.estimate * by,
        low: interval.low * by,
        high: interval.high * by,
    };
    for arm in Arm::BOTH {
        let (scan, tpcc, mix) = (&mut scan.arms[arm], &mut tpcc.arms[arm], &mut mix.arms[arm]);
        scan.rate = scaled(scan.qps, 1_000.0);
        tpcc.rate = scaled(tpcc.qps, tpcc.tps * 60.0 / tpcc.qps.estimate);
        tpcc.classes =
            TPCC.map(|(name, share, length)| class_of_events(tpcc, name, share, length)).into();
        mix.classes = [("begin", 0.05), ("point", 0.9), ("commit", 0.05)]
            .map(|(name, share)| ClassSummary {
                name: name.to_owned(),
                counted: ClassUnit::Statements,
                per_second: mix.qps.estimate * share,
                latency_us: None,
                response_us: None,
            })
            .into();
    }
    sample
}

fn class_of_events(arm: &ArmSummary, name: &str, share: f64, length: f64) -> ClassSummary {
    let LatencyUs { p50, p95, p99, p999, max } = arm.latency_us;
    let [p50, p95, p99, p999, max] = [p50, p95, p99, p999, max].map(|us| us * length);
    ClassSummary {
        name: name.to_owned(),
        counted: ClassUnit::Events,
        per_second: arm.tps * share,
        latency_us: Some(LatencyUs { p50, p95, p99, p999, max }),
        response_us: None,
    }
}

fn statements(round: &Round) -> Vec<ClassTally> {
    let class = |name: &str, per_event: u64| ClassTally {
        name: name.to_owned(),
        count: round.statements * per_event / 20,
        slots: round.series.statements.iter().map(|count| count * per_event / 20).collect(),
        times: None,
    };
    vec![class("begin", 1), class("point", 18), class("commit", 1)]
}

fn transactions(round: &Round) -> Vec<ClassTally> {
    let class = |(name, share, _): (&str, f64, f64)| ClassTally {
        name: name.to_owned(),
        count: (round.events as f64 * share) as u64,
        slots: round.series.statements.iter().map(|n| (*n as f64 * share) as u64).collect(),
        times: Some(ClassTimes { latency: round.latency.clone(), response: None }),
    };
    TPCC.map(class).into()
}

/// A curve whose contention grew and one that the law does not describe; a cost whose fixed part
/// grew, and one with too few sizes.
pub(crate) fn shapes() -> Sample {
    let mut sample = six_cells();
    let law = |[lambda, sigma, kappa]: [f64; 3], clients: f64| {
        lambda * clients / (1.0 + sigma * (clients - 1.0) + kappa * clients * (clients - 1.0))
    };
    let about = |estimate: f64, share: f64| Interval {
        estimate,
        low: estimate * (1.0 - share),
        high: estimate * (1.0 + share),
    };
    let truth = PerArm { base: [21_840.0, 0.05, 0.003], test: [21_700.0, 0.09, 0.003] };
    let usl = |truth: [f64; 3]| {
        let peak = ((1.0 - truth[1]) / truth[2]).sqrt();
        UslCurve {
            lambda: about(truth[0], 0.011),
            sigma: about(truth[1], 0.12),
            kappa: Interval { low: 0.0, ..about(truth[2], 1.2) },
            peak_clients: about(peak, 0.08),
            peak_rate: about(law(truth, peak), 0.012),
            misfit: 0.006,
            band: (0..=10)
                .map(|step| 2f64.powf(f64::from(step) / 2.0))
                .map(|clients| BandPoint { clients, rate: about(law(truth, clients), 0.02) })
                .collect(),
        }
    };
    let points = |truth: PerArm<[f64; 3]>, bend: f64| -> Vec<CurvePoint> {
        let point = |clients: u32| CurvePoint {
            clients,
            rates: truth.map(|truth| {
                let knee = f64::from(clients).powf(-bend);
                about(law(truth, f64::from(clients)) * knee, 0.015)
            }),
            place: if clients == 1 { PointPlace::LeftOut } else { PointPlace::Fitted },
        };
        [1, 2, 4, 8, 16].map(point).into()
    };
    let effects = [0.994, 0.871, 1.001, 0.926, 0.979];
    let verdicts =
        [Verdict::Equal, Verdict::Slower, Verdict::Undecided, Verdict::Slower, Verdict::Undecided];
    let change = |((question, effect), verdict): ((CurveQuestion, f64), Verdict)| CurveChange {
        question,
        effect: about(effect, 0.014),
        verdict,
    };
    let changes = CurveQuestion::ALL.into_iter().zip(effects).zip(verdicts).map(change);
    let warning = |severity, code: &str, text: &str| Warning::new(severity, code, text);
    let mut kneed = usl(truth.base);
    kneed.kappa.low = 0.0;
    kneed.peak_clients = Interval { estimate: f64::INFINITY, low: 21.0, high: f64::INFINITY };
    sample.comparison.curves = vec![
        CurveComparison {
            load: "point-query".to_owned(),
            unit: RateUnit::Queries,
            points: points(truth, 0.0),
            fit: Some(CurveFit {
                arms: PerArm { base: usl(truth.base), test: usl(truth.test) },
                changes: changes.collect(),
            }),
            warnings: vec![warning(
                Severity::Note,
                "curve-one-processor",
                "the point at 1 client is left out; try --pin none",
            )],
        },
        CurveComparison {
            load: "read-write".to_owned(),
            unit: RateUnit::Queries,
            points: points(truth, 0.3),
            fit: Some(CurveFit {
                arms: PerArm { base: kneed.clone(), test: kneed },
                changes: Vec::new(),
            }),
            warnings: vec![warning(
                Severity::Caution,
                "curve-misfit",
                "the law does not describe these points; try fewer clients",
            )],
        },
    ];
    let line = |fixed: f64, per_row: f64| CostLine {
        fixed_us: about(fixed, 0.013),
        per_row_us: about(per_row, 0.011),
        misfit: 0.004,
    };
    let cost_points = |measure_us: f64| -> Vec<CostPoint> {
        let point = |(load, rows): (&str, f64)| CostPoint {
            load: load.to_owned(),
            rows,
            cost_us: PerArm {
                base: about(measure_us + 50.0 + 0.3 * rows, 0.01),
                test: about(measure_us + 59.0 + 0.3 * rows, 0.01),
            },
        };
        [
            ("random-points_range=10", 10.0),
            ("random-points", 100.0),
            ("random-points_range=1000", 1e3),
        ]
        .map(point)
        .into()
    };
    let cost = |measure, fit, points, warnings| CostComparison {
        loads: "random-points".to_owned(),
        clients: 1,
        measure,
        points,
        fit,
        warnings,
    };
    let changes = CostChanges {
        fixed: CostChange { ratio: about(1.18, 0.015), verdict: Verdict::Slower },
        per_row: CostChange { ratio: about(1.001, 0.009), verdict: Verdict::Equal },
    };
    let fit = CostFit {
        arms: PerArm { base: line(50.0, 0.3), test: line(59.0, 0.3003) },
        changes: Some(changes),
    };
    let few = warning(Severity::Note, "cost-few-sizes", "3 sizes are needed; add one");
    sample.comparison.costs = vec![
        cost(CostMeasure::ServerCpu, Some(fit), cost_points(0.0), Vec::new()),
        cost(CostMeasure::Elapsed, None, cost_points(20.0)[..2].to_vec(), vec![few]),
    ];
    sample
}

/// 30 loads × 5 client counts, long names and long labels.
pub(crate) fn large() -> Sample {
    let mut truths = Vec::new();
    for load in 0..30u32 {
        for (at, clients) in [1, 8, 32, 128, 1024].into_iter().enumerate() {
            let name =
                format!("load-{load:02}{}", ["", "-with-a-rather-long-name"][load as usize % 2]);
            truths.push(Truth {
                load: name.leak(),
                clients,
                qps: 1_000.0 * f64::from(load + 1) * (at + 1) as f64,
                rqps: 0.9 + 0.01 * f64::from((load * 7 + clients) % 20),
                noise: 0.004 * f64::from(1 + (load + clients) % 9),
                pairs: 2,
            });
        }
    }
    let mut sample = sample(&truths, 2);
    let long =
        "mariadb:11.8 (11.8.2-MariaDB-ubu2404-log built from source with a very long comment)";
    sample.comparison.labels.test = long.repeat(3);
    sample
}

fn sample(truths: &[Truth], planned_pairs: u32) -> Sample {
    let plan = plan(truths, planned_pairs);
    let mut rounds = Vec::new();
    let mut now_ms = STARTED_UNIX_MS + 5_000;
    for (index, truth) in truths.iter().enumerate() {
        for key in keys(&plan, truth) {
            rounds.push(round(&plan, key, truth, index as u64, now_ms));
            now_ms += (plan.schedule.round_ns + plan.schedule.lead_in_ns) / 1_000_000;
        }
    }
    let comparison = Comparison {
        mechanisms: Vec::new(),
        labels: PerArm {
            base: "mariadb:10.11 (10.11.19-MariaDB)".to_owned(),
            test: "mariadb:11.8 (11.8.2-MariaDB)".to_owned(),
        },
        budget: plan.rule.budget,
        cells: truths.iter().map(|truth| compare(truth, &rounds, plan.rule.budget)).collect(),
        insert_benchmark: Vec::new(),
        counts: Vec::new(),
        curves: Vec::new(),
        costs: Vec::new(),
        family: TestFamily {
            cells: truths.len() as u32,
            metrics: 0,
            p_at_most: 0.01,
            q_at_most: 0.05,
        },
        audit: audit(),
        self_tests: Some(SelfTests {
            cells: 200,
            wrong: 2,
            share: Interval { estimate: 0.01, low: 0.0027, high: 0.0357 },
        }),
        warnings: Vec::new(),
    };
    let run = Run {
        id: RunId("3f2c9c1a".to_owned()),
        name: None,
        started_unix_ms: STARTED_UNIX_MS,
        status: RunStatus::Complete,
        tool_version: "0.1.0".to_owned(),
        command: "dbdyno compare mariadb:10.11 mariadb:11.8 --load point-query --clients 1"
            .to_owned(),
        environment: environment(),
        plan,
        rounds,
        ended: Vec::new(),
        counts: dbdyno_model::RunCounts::default(),
        warnings: Vec::new(),
    };
    Sample { run, comparison }
}

fn keys(plan: &Plan, truth: &Truth) -> Vec<RoundKey> {
    let cell = Cell { load: truth.load.to_owned(), clients: truth.clients };
    let measured = |key: &RoundKey| key.pair < truth.pairs;
    plan.rounds(&cell).into_iter().filter(measured).collect()
}

fn plan(truths: &[Truth], pairs: u32) -> Plan {
    let mut loads: Vec<String> = truths.iter().map(|truth| truth.load.to_owned()).collect();
    loads.dedup();
    let mut clients: Vec<u32> = truths.iter().map(|truth| truth.clients).collect();
    clients.sort_unstable();
    clients.dedup();
    Plan {
        arms: Arms::from(["mariadb:10.11", "mariadb:11.8"].map(|arm| arm.parse().unwrap())),
        question: Question {
            stages: loads.into_iter().map(Stage::Measure).collect(),
            clients,
            seed: 42,
            tables: 8,
            rows: 100_000,
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs,
            round_ns: 1_000_000_000,
            lead_in_ns: 200_000_000,
            warm_up_ns: 5_000_000_000,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        ..Plan::default()
    }
}

/// Roughly normal: the sum of four uniform numbers, scaled.
pub(crate) fn normal(stream: &mut RandomStream) -> f64 {
    let sum: f64 = (0..4).map(|_| stream.next_below(1 << 20) as f64 / (1 << 20) as f64).sum();
    (sum - 2.0) * 3f64.sqrt()
}

fn round(plan: &Plan, key: RoundKey, truth: &Truth, cell: u64, started_unix_ms: u64) -> Round {
    let side = u64::from(key.arm.0);
    let mut random = random::stream(&[plan.question.seed, cell, u64::from(key.pair), side]);
    let share = if key.arm == ArmIndex::TEST { truth.rqps } else { 1.0 };
    let true_qps = truth.qps * share;
    let qps = true_qps * (truth.noise * normal(&mut random)).exp();
    let slots: Vec<u64> = (0..plan.schedule.round_ns / SLOT_NS)
        .map(|_| (qps * SLOT_NS as f64 / 1e9 * (1.0 + 0.02 * normal(&mut random))).max(0.0) as u64)
        .collect();
    let statements: u64 = slots.iter().sum();
    let events = if truth.load.starts_with("read-write") { statements / 20 } else { statements };
    let mut latency = LatencyHistogram::new();
    let median_ns = 1e9 * f64::from(truth.clients) * statements as f64 / events.max(1) as f64 / qps;
    for _ in 0..events.min(1_000) {
        let tail = if random.next_below(200) == 0 { 6.0 } else { 1.0 };
        latency.record_latency((median_ns * tail * (0.15 * normal(&mut random)).exp()) as u64);
    }
    Round {
        key,
        start: 0,
        filling: 0,
        started_unix_ms,
        wall_ns: plan.schedule.round_ns,
        events,
        statements,
        rows_read: statements,
        rows_changed: 0,
        retries: 0,
        latency,
        series: Series { slot_ns: SLOT_NS, statements: slots },
        classes: Vec::new(),
        cost: Cost::default(),
        pauses: None,
        open: None,
        readings: Readings::default(),
    }
}

pub(crate) fn compare(truth: &Truth, rounds: &[Round], budget: f64) -> CellComparison {
    let cell = Cell { load: truth.load.to_owned(), clients: truth.clients };
    let of_arm = |arm: Arm| -> Vec<&Round> {
        let here = |round: &&Round| round.key.cell == cell && round.key.arm == arm.into();
        let mut rounds: Vec<&Round> = rounds.iter().filter(here).collect();
        rounds.sort_by_key(|round| round.key.pair);
        rounds
    };
    let (base, test) = (of_arm(Arm::Base), of_arm(Arm::Test));
    let ratios: Vec<f64> = base.iter().zip(&test).map(|(b, t)| (t.qps() / b.qps()).ln()).collect();
    let rqps = interval(&ratios);
    let verdict = match rqps {
        _ if rqps.low > 1.0 - budget && rqps.high < 1.0 + budget => Verdict::Equal,
        _ if rqps.high < 1.0 => Verdict::Slower,
        _ if rqps.low > 1.0 => Verdict::Faster,
        _ => Verdict::Undecided,
    };
    let half_width = (rqps.high - rqps.low) / 2.0;
    CellComparison {
        group: None,
        pairs: truth.pairs,
        pairs_dropped: 0,
        unit: RateUnit::Queries,
        since: Since::Sent,
        rqps,
        measure: VerdictMeasure::Rate,
        verdict,
        basis: Basis {
            interval: IntervalKind::T,
            replicates: ExperimentLevel::Pair,
            count: truth.pairs,
            why: "the tails of the pairs are light (1.02)".to_owned(),
        },
        p_value: if verdict == Verdict::Undecided { 0.2 } else { 0.0004 },
        q_value: Some(if verdict == Verdict::Undecided { 0.25 } else { 0.0012 }),
        levels: rqps.low.is_finite().then(|| levels(truth)),
        single_runs: rqps.low.is_finite().then_some(SingleRuns {
            runs: 8,
            level: ExperimentLevel::Start,
            low: rqps.low * 0.97,
            high: rqps.high * 1.03,
        }),
        detectable: half_width.is_finite().then_some(half_width * 1.4),
        pairs_missing: (verdict == Verdict::Undecided).then_some(14),
        missing_ns: None,
        looks: None,
        metrics: Vec::new(),
        arms: PerArm {
            base: summary(&base, truth, 1.0),
            test: summary(&test, truth, 1.0 / truth.rqps),
        },
        warnings: Vec::new(),
        cell,
    }
}

/// Levels as a run has them whose servers were started seven times.
fn levels(truth: &Truth) -> Levels {
    let part = |level, count, sd, share, seconds, best| LevelShare {
        level,
        count,
        sd,
        share,
        seconds: Some(seconds),
        best,
        is_assumed: level == ExperimentLevel::Start && truth.pairs < 6,
    };
    Levels {
        parts: vec![
            part(ExperimentLevel::Pair, 18.0, truth.noise, 0.62, 0.26, Some(24)),
            part(ExperimentLevel::Start, 8.0, 0.009, 0.38, 4.1, None),
        ],
        spend: vec![
            Spend { level: ExperimentLevel::Start, narrows: 0.21 },
            Spend { level: ExperimentLevel::Pair, narrows: 0.13 },
        ],
    }
}

/// Mean of logarithms with 2.2 standard errors to each side; unbounded for a single one.
fn interval(logs: &[f64]) -> Interval {
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let reach = if logs.len() > 1 { 2.2 * (variance / n).sqrt() } else { f64::INFINITY };
    Interval { estimate: mean.exp(), low: (mean - reach).exp(), high: (mean + reach).exp() }
}

fn summary(rounds: &[&Round], truth: &Truth, cost: f64) -> ArmSummary {
    let logs: Vec<f64> = rounds.iter().map(|round| round.qps().ln()).collect();
    let mut latency = LatencyHistogram::new();
    rounds.iter().for_each(|round| latency.merge(&round.latency));
    let us = |quantile: f64| latency.quantile_ns(quantile) as f64 / 1e3;
    let tps: f64 = rounds.iter().map(|round| round.tps()).sum();
    let per_op = 1e6 / truth.qps * cost;
    ArmSummary {
        rate: interval(&logs),
        qps: interval(&logs),
        tps: tps / rounds.len() as f64,
        server_cpu_us_per_op: Some(per_op * 0.7),
        client_cpu_us_per_op: Some(4.123),
        context_switches_per_op: Some(2.0031 * cost),
        read_kb_per_op: None,
        written_kb_per_op: Some(if truth.load == "point-query" { 0.0 } else { 3.27 }),
        latency_us: LatencyUs {
            p50: us(0.5),
            p95: us(0.95),
            p99: us(0.99),
            p999: us(0.999),
            max: us(1.0),
        },
        retries_per_event: if truth.load == "read-write" { 0.0131 } else { 0.0 },
        open: None,
        classes: Vec::new(),
    }
}

/// One inequality of each weight and each change.
fn audit() -> Audit {
    use {FactChange::*, Weight::*};
    let one = |name: &str, base: Option<&str>, test: Option<&str>, rest| {
        let (weight, change, rule, topic) = rest;
        let [base, test] = [base, test].map(|value| value.map(str::to_owned));
        Inequality { name: name.to_owned(), base, test, weight, change, rule, topic }
    };
    let version = (Some("10.11.19-MariaDB"), Some("11.8.2-MariaDB"));
    let (gone, new) = ("variable.innodb_change_buffering", "variable.innodb_snapshot_isolation");
    Audit {
        unequal: vec![
            one("server.version", version.0, version.1, (Varied, Different, "version", "identity")),
            one(new, None, Some("ON"), (Varied, New, "isolation", "threads, locks and isolation")),
            one(gone, Some("ON"), None, (Varied, Gone, "flushing", "redo, flushing and purge")),
            one(
                "variable.character_set_server",
                Some("latin1"),
                Some("utf8mb4"),
                (Annotates, Default, "charset", "character sets"),
            ),
            one(
                "variable.optimizer_switch",
                Some("index_merge=on,mrr=off,cost_based=on"),
                Some("index_merge=on,mrr=on,cost_based=on"),
                (Harmless, Default, "optimizer", "optimizer"),
            ),
            one("variable.a", Some("0"), Some("1"), (Harmless, Default, "other-setting", "other")),
            one("process.allocator", Some("glibc"), None, (Harmless, Unseen, "allocator", "build")),
        ],
        equal: 6,
    }
}

fn environment() -> Arms<Environment> {
    let known = [
        ("10.11.19-MariaDB", "innodb_change_buffering"),
        ("11.8.2-MariaDB", "innodb_snapshot_isolation"),
    ];
    Arms::from(known.map(|(version, rare)| {
        let mut environment = Environment::default();
        for (name, value) in [
            ("host.cpu", "AMD EPYC 7B13, 2 of 2 processors"),
            ("host.kernel", "6.1.0-25-amd64"),
            ("host.memory", "8 GiB"),
            ("server.version", version),
            ("variable.innodb_buffer_pool_size", "1073741824"),
            ("variable.innodb_flush_method", "O_DIRECT"),
            ("variable.sync_binlog", "0"),
            ("variable.init_connect", ""),
        ] {
            environment.set(name, value);
        }
        environment.set(format!("variable.{rare}"), "ON");
        environment
    }))
}
