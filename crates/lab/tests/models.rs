//! Whole runs on models: what is measured is what the models are.
//!
//! ```text
//!   words ─▶ target ─▶ plan ─▶ rounds ─▶ store ─▶ judge ─▶ cells
//!     └──────────────── truth, worked out here ──────────────┘
//! ```

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_judge::compare_run;
use dbdyno_lab::{Clock, ExperimentOrder, Lab, Progress, Watch, clock_of, run_experiment};
use dbdyno_model::{Arms, CellComparison, Pin, Plan, Question, Quiet, RoundSchedule, Stage};
use dbdyno_sandbox::Home;
use dbdyno_store::Store;
use proptest::prelude::*;

struct Silent;

impl Watch for Silent {
    fn report_progress(&mut self, _progress: Progress<'_>) {}
}

fn plan(arms: [&str; 2], clients: u32, pairs: u32, restarts: u32) -> Plan {
    Plan {
        arms: Arms::from(arms.map(|arm| arm.parse().expect("a model"))),
        question: Question {
            stages: vec![Stage::Measure("point-query".to_owned())],
            clients: vec![clients],
            rows: 1_000,
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs,
            round_ns: 200_000_000,
            lead_in_ns: 20_000_000,
            warm_up_ns: 1_000_000_000,
            restarts,
            ..RoundSchedule::default()
        },
        quiet: Quiet { pin: Pin::None, ..Quiet::default() },
        ..Plan::default()
    }
}

/// The only cell of a run.
fn measured(plan: &Plan) -> CellComparison {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(Some(&folder.path().join("home"))).unwrap();
    let mut store = Store::open(&folder.path().join("results.db")).unwrap();
    let clock = clock_of(plan, &store, 0, None).unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = Silent;
    let mut lab = Lab { home: &home, store: &mut store, stop: &stop, watch: &mut watch, clock };
    let order = ExperimentOrder {
        plan,
        name: None,
        command: "a test",
        tool_version: "0",
        varied: &[],
        trial_of: None,
    };
    let id = run_experiment(&mut lab, &order).unwrap_or_else(|error| panic!("{error}"));
    compare_run(store.load(&id).unwrap().first_pair()).unwrap().cells.remove(0)
}

/// Further from the truth than this is no chance: one in 16 000 where the spread is as it was told.
const SIGMAS: f64 = 4.0;
/// What the resolution of histograms and the ends of windows leave.
const STEPS: f64 = 0.004;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Rate, ratio and cost of a cell are those of its models, to what noise leaves of them.
    #[test]
    fn cells_are_what_their_models_are(
        rate in 300.0_f64..6_000.0,
        noise in 0.0_f64..0.05,
        restarts in 0.0_f64..0.03,
        (host, ar) in (0.0_f64..0.05, 0.0_f64..0.95),
        (sigma, clients) in (0.0_f64..0.1, 1_u32..9),
        lost in 0.0_f64..0.4,
        cpu_us in 1.0_f64..40.0,
        seed in 1_u32..1_000_000,
    ) {
        let words = format!(
            "mock:?rate={rate}&noise={noise}&restarts={restarts}&sigma={sigma}&cpu_us={cpu_us}\
             &host={host}&ar={ar}&seed={seed}"
        );
        let slowed = format!("{words}&slow={}%", 100.0 * lost);
        let (pairs, starts) = (24.0, 6.0);
        let cell = measured(&plan([&words, &slowed], clients, 24, 5));

        // The host is the same for both rounds of a pair only where they take turns in slices.
        let of_rounds = noise.hypot(host);
        let sd = (2.0 * (of_rounds * of_rounds / pairs + restarts * restarts / starts)).sqrt();
        let off = (cell.rqps.estimate.ln() - (1.0 - lost).ln()).abs();
        let rqps = cell.rqps.estimate;
        prop_assert!(off < SIGMAS * sd + STEPS, "{rqps} where {lost} is lost");

        let n = f64::from(clients);
        let truth = n * rate / (1.0 + sigma * (n - 1.0));
        let off = (cell.arms.base.qps.estimate / truth).ln().abs();
        // The host wanders for as long as it is correlated.
        let wandering = host / ((pairs * (1.0 - ar)).sqrt().max(1.0));
        let sd = (noise * noise / pairs + restarts * restarts / starts).sqrt() + 2.0 * wandering;
        prop_assert!(off < SIGMAS * sd + STEPS, "{} of {truth}", cell.arms.base.qps.estimate);

        let cost = cell.arms.base.server_cpu_us_per_op.unwrap();
        prop_assert!((cost / cpu_us - 1.0).abs() < 0.06, "{cost} of {cpu_us} µs");
    }
}

/// The same plan on the same words is the same run, to the bit; another seed is another one.
#[test]
fn a_run_of_models_is_a_function_of_its_words() {
    let rqps = |seed: u32| {
        let arm = format!("mock:?noise=0.02&restarts=0.01&host=0.03&ar=0.8&seed={seed}");
        measured(&plan([&arm, &arm], 1, 12, 2)).rqps.estimate.to_bits()
    };
    assert_eq!(rqps(1), rqps(1));
    assert_ne!(rqps(1), rqps(2));
}

/// Notes how long was said to be left, and when.
struct Promises(Clock, Vec<(Duration, Duration)>);

impl Watch for Promises {
    fn report_progress(&mut self, progress: Progress<'_>) {
        if let Progress::RoundBegins { left, .. } = progress {
            self.1.push((self.0.now(), left));
        }
    }
}

/// With warm-ups, starts that take longer than the plan reckons with, slices, and a cell whose
/// rounds are drawn out: from a third of the run on, what is left is told within a fifth, as long
/// as it is more than some seconds.
#[test]
fn the_time_that_is_left_is_what_it_takes() {
    for (start_s, row_us, loads, restarts) in [
        (9.0, 0, "point-query,read-only,update-index", 3),
        (0.5, 0, "point-query,insert", 7),
        (30.0, 0, "point-query", 5),
        (0.5, 1_000, "random-points_range=1000,point-query,insert", 0),
    ] {
        let words = format!("mock:?noise=0.02&cold=0.3&warm_s=2&start_s={start_s}&row_us={row_us}");
        let mut plan = plan([&words, &words], 2, 48, restarts);
        plan.question.stages =
            loads.split(',').map(|load| Stage::Measure(load.to_owned())).collect();
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(Some(&folder.path().join("home"))).unwrap();
        let mut store = Store::open(&folder.path().join("results.db")).unwrap();
        let clock = clock_of(&plan, &store, 0, None).unwrap();
        let stop = AtomicBool::new(false);
        let mut watch = Promises(clock.clone(), Vec::new());
        let now = clock.clone();
        let mut lab = Lab { home: &home, store: &mut store, stop: &stop, watch: &mut watch, clock };
        let order = ExperimentOrder {
            plan: &plan,
            name: None,
            command: "a test",
            tool_version: "0",
            varied: &[],
            trial_of: None,
        };
        run_experiment(&mut lab, &order).unwrap_or_else(|error| panic!("{error}"));
        let (began, end) = (watch.1[0].0, now.now());
        for (at, left) in watch.1 {
            let (at, end) = ((at - began).as_secs_f64(), (end - began).as_secs_f64());
            let (truth, told) = (end - at, left.as_secs_f64());
            let off = (told - truth).abs();
            let is_told = at < end / 3.0 || off <= 0.2 * truth + 2.0;
            assert!(
                is_told,
                "{loads}: after {at:.1} of {end:.1} s {told:.1} s were said to be left"
            );
        }
    }
}
