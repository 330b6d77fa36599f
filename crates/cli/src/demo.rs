//! `dbdyno demo`: the main job with nothing to install.
//!
//! Two designs of the reference engine that differ in one mechanism: who is woken when a group of
//! commits has reached the disk. Wang found that of MySQL's wake-ups about half are for nothing
//! ("The Art of Problem-Solving in Software Engineering: How to Make MySQL Better", on group
//! commit); here that can be counted.

use dbdyno_lab::ExperimentOrder;
use dbdyno_model::{Arms, Plan, Question, RoundSchedule, RunStatus, Stage};

use crate::args::{Demo, Place};
use crate::arms::RunSelection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::findings::RunFindings;
use crate::progress::Ticker;
use crate::{compare, files, output, plan, session};

/// A device of 8 ms: what is shown does not depend on the disk of this host.
const BASE: &str = "engine:?wake=broadcast&device=8ms";
const TEST: &str = "engine:?wake=group&device=8ms";
/// Few, and so many that two groups are always under way.
const CLIENTS: [u32; 2] = [16, 128];

/// Measures for less than a minute, prints the table, writes the report.
pub(crate) fn run(place: &Place, flags: &Demo) -> Result<Exit, Failure> {
    let home = session::open_home(place)?;
    let mut store = session::open_own_store(place)?;
    let stop = session::stop_flag();
    let arm = |text: &str| text.parse().expect("the targets of the demo are well formed");
    let plan = Plan {
        arms: Arms::from([arm(BASE), arm(TEST)]),
        question: Question {
            stages: vec![Stage::Measure("update-nonindex".into())],
            clients: CLIENTS.into(),
            rows: 100_000,
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs: 40,
            round_ns: 200_000_000,
            lead_in_ns: 20_000_000,
            warm_up_ns: 1_000_000_000,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        ..Plan::default()
    };
    files::require_place(&flags.output)?;
    output::say_text(&plan::announcement_of_plan(
        &plan,
        &plan::runs_alike(&plan, &store),
        plan::Words::Few,
    ));
    let order = ExperimentOrder {
        plan: &plan,
        name: Some("demo"),
        command: "dbdyno demo",
        tool_version: env!("CARGO_PKG_VERSION"),
        varied: &[],
        trial_of: None,
    };
    let ticker = Ticker::for_format(flags.told.format);
    let run = compare::carry_out(&home, &mut store, &stop, &order, ticker)?;
    let found = RunFindings::from_selection(&store, &run, RunSelection::whole_run(&run))?;
    found.print(None, &flags.told)?;
    found.write_page(&flags.output, output::cell_order(flags.told.worst_first))?;
    Ok(match run.status {
        RunStatus::Interrupted => Exit::Interrupted,
        RunStatus::Complete | RunStatus::Partial => Exit::Holds,
    })
}
