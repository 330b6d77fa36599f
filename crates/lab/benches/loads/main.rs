//! Every load on two servers: the table in `docs/LOADS.md`.
//!
//! ```text
//!   cargo bench -p dbdyno-lab --bench loads -- BASE TEST [CLIENTS [FILE]] > docs/LOADS.md
//!
//!     part "loads-1"   everything at 1 client    ─┐
//!     part "loads-4"   at 4, if CLIENTS is 1,4    ├─▶ FILE, a store of runs ─▶ Markdown on stdout
//!     part "loads-ib"  the Insert Benchmark      ─┘
//! ```
//!
//! A part is an ordinary run: both servers at the same time, rounds in random pairs. It takes
//! about five minutes; one that is complete in FILE is not measured again, so that the table can
//! be made in several sittings. Nothing is asserted: the figures are those of one machine.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

mod table;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dbdyno_lab::{ExperimentOrder, Lab, Progress, Watch, run_experiment};
use dbdyno_model::{
    ArmSpec, Arms, LoadFile, Pin, Plan, Question, RoundSchedule, Run, RunStatus, Stage,
};
use dbdyno_sandbox::Home;
use dbdyno_store::Store;
use dbdyno_workload::insert_benchmark::expand_benchmark;
use dbdyno_workload::suite;

const ROWS: u64 = 1_000_000;
const SHOP: &str = "examples/shop.toml";
const INSERT_BENCHMARK: &str = "insert-benchmark?nr1=200000&nr2=50000";

/// A run that the table is made from.
struct Part {
    name: String,
    plan: Plan,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let [base, test, more @ ..] = arguments.as_slice() else {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("loads: give BASE TEST [CLIENTS [FILE]]; see the top of this file");
        return;
    };
    let [base, test] = [base, test].map(|text| text.parse::<ArmSpec>().expect("a server"));
    let clients = more.first().map_or("1", String::as_str).split(',');
    let clients = clients.map(|count| count.parse::<u32>().expect("a number of clients"));
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = more.get(1).map_or_else(|| folder.path().join("loads.db"), PathBuf::from);
    let mut store = Store::open(&path).expect("the file opens");
    let arms = Arms::from([base, test]);
    let of_clients =
        |clients| Part { name: format!("loads-{clients}"), plan: everything(&arms, clients) };
    let mut parts: Vec<Part> = clients.map(of_clients).collect();
    parts.push(Part { name: "loads-ib".to_owned(), plan: insert_benchmark(&arms) });
    let runs: Vec<Run> = parts.iter().map(|part| run(&mut store, part)).collect();
    print!("{}", table::markdown(&runs));
}

/// The run of a part, measured if it is not there.
fn run(store: &mut Store, part: &Part) -> Run {
    let known = store.resolve_run(&format!("@{}", part.name)).ok();
    let known = known.and_then(|id| store.load(&id).ok());
    let is_it = |run: &Run| run.status == RunStatus::Complete && run.plan == part.plan;
    if let Some(run) = known.filter(is_it) {
        return run;
    }
    let home = Home::open(None).expect("the home opens");
    let stop = AtomicBool::new(false);
    let order = ExperimentOrder {
        plan: &part.plan,
        name: Some(&part.name),
        command: "cargo bench -p dbdyno-lab --bench loads",
        tool_version: env!("CARGO_PKG_VERSION"),
        varied: &[],
        trial_of: None,
    };
    let clock = dbdyno_load::Clock::system();
    let mut lab = Lab { home: &home, store, stop: &stop, watch: &mut Telling, clock };
    let id = run_experiment(&mut lab, &order).unwrap_or_else(|error| panic!("{error}"));
    store.load(&id).expect("what was just stored can be read")
}

/// Says on stderr how far it is.
struct Telling;

impl Watch for Telling {
    fn report_progress(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Stage(arm, text) => eprintln!("{arm}: {text}"),
            Progress::Warning(warning) => eprintln!("warning: {}", warning.text),
            Progress::RoundDone { round, .. } if round.key.pair == 0 => {
                eprintln!("{} {}: {:.0}/s", round.key.cell, round.key.arm, round.qps());
            }
            _ => {}
        }
    }
}

/// All loads but the Insert Benchmark. Some seconds each: five pairs give an interval.
fn everything(arms: &Arms<ArmSpec>, clients: u32) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SHOP);
    let text = std::fs::read_to_string(path).expect("the example is there");
    let mut stages = suite::full_suite();
    // All tables lie in memory, and each load is warmed up by itself.
    stages.retain(|stage| !matches!(stage, Stage::Warm { .. }));
    // Its tables are its own, so it may come last.
    stages.push(Stage::Measure("shop".to_owned()));
    Plan {
        arms: arms.clone(),
        question: Question {
            stages,
            clients: vec![clients],
            rows: ROWS,
            files: vec![LoadFile { file: SHOP.to_owned(), text }],
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs: 5,
            round_ns: 200_000_000,
            lead_in_ns: 50_000_000,
            warm_up_ns: 600_000_000,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        ..Plan::default()
    }
}

fn insert_benchmark(arms: &Arms<ArmSpec>) -> Plan {
    let expanded = expand_benchmark(INSERT_BENCHMARK).expect("it is the Insert Benchmark");
    let (stages, _) = expanded.expect("its sizes are right");
    let mut plan = everything(arms, 1);
    plan.question.stages = stages;
    plan.question.files = Vec::new();
    plan.schedule.round_ns = 800_000_000;
    plan.schedule.lead_in_ns = 300_000_000;
    // Each client has three connections, so that the processors stay awake.
    plan.quiet.pin = Pin::None;
    plan
}
