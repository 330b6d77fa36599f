//! A short run on a server that is there.

use dbdyno_lab::{ExperimentOrder, Lab, Watch, run_experiment};
use dbdyno_model::{Arms, Pin, Plan, Question, Quiet, RoundSchedule, Run, RunStatus};
use dbdyno_sandbox::Home;
use dbdyno_store::Store;
use dbdyno_workload::Tables;

use super::place::GO_ON;

/// Two pairs of rounds for each of these stages, with both arms on one server.
pub(crate) fn plan(url: &str, tables: &Tables, stages: &[&str]) -> Plan {
    Plan {
        arms: Arms::from([url; 2].map(|arm| arm.parse().unwrap())),
        question: Question {
            stages: stages.iter().map(|stage| stage.parse().unwrap()).collect(),
            clients: vec![2],
            seed: tables.seed,
            tables: tables.count,
            rows: tables.rows,
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs: 2,
            round_ns: 400_000_000,
            lead_in_ns: 20_000_000,
            warm_up_ns: 200_000_000,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        quiet: Quiet { pin: Pin::None, ..Quiet::default() },
        ..Plan::default()
    }
}

/// Carries it out to its end.
pub(crate) fn carry_out(home: &Home, plan: &Plan, watch: &mut dyn Watch) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("results.db")).unwrap();
    let clock = dbdyno_load::Clock::system();
    let stop = &GO_ON;
    let mut lab = Lab { home, store: &mut store, stop, watch, clock };
    let order = ExperimentOrder {
        plan,
        name: None,
        command: "a test",
        tool_version: "0",
        varied: &[],
        trial_of: None,
    };
    let id = run_experiment(&mut lab, &order).unwrap_or_else(|error| panic!("{error}"));
    let run = store.load(&id).unwrap();
    assert_eq!(run.status, RunStatus::Complete);
    run
}
