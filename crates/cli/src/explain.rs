//! `dbdyno explain`: where a difference comes from.
//!
//! ```text
//!   RUN          a stored run whose differences are explained
//!   BASE TEST    measured first, as `dbdyno compare` does
//! ```

use std::path::PathBuf;
use std::time::Duration;

use dbdyno_model::{Cell, Explanation, FactWorth, Run, RunPair, RunStatus};
use dbdyno_store::Store;

use crate::args::{Format, Place, PrintFlags, Shape};
use crate::exit::Exit;
use crate::explanation::{
    By, Extent, explain_cells, explainable_cells, print_explanations, report_nothing,
};
use crate::failure::Failure;
use crate::findings::RunFindings;
use crate::{arms, compare, files, origin, output, session};

/// The flags of `dbdyno explain`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// A stored run: @last, @NAME, the beginning of an id, or RUN/ARM; or BASE, a server
    #[arg(value_name = "RUN", default_value = "@last")]
    pub run: String,
    /// A server to measure against BASE first
    #[arg(value_name = "TEST")]
    pub test: Option<String>,
    /// The loads of BASE and TEST; of a stored run: explain only these [default: point-query; all
    /// that are proved slower or faster]
    #[arg(long, value_delimiter = ',', value_name = "LOAD")]
    pub load: Vec<String>,
    /// Numbers of clients, as --load
    #[arg(long, value_delimiter = ',', value_name = "N")]
    pub clients: Vec<u32>,
    /// Rows of each table of BASE and TEST
    #[arg(long, value_name = "N", requires = "test")]
    pub rows: Option<u64>,
    /// Measure by which causes are found [default: instructions if they show the difference, else
    /// rates]
    #[arg(long, value_enum)]
    pub by: Option<By>,
    /// Count instructions only; causes are not confirmed by rates
    #[arg(long, conflicts_with = "by")]
    pub count_only: bool,
    /// Time for trials, after BASE and TEST have been measured: 10m, 90s, 1h. A trial that is not
    /// done by then is cut short; 0 shows what is known already
    #[arg(long, value_name = "TIME", value_parser = crate::values::parse_limit_of_trials)]
    pub limit: Option<Duration>,
    /// Carry out trials also for a run that was not begun from this home: start the servers that
    /// the store names, with their options, and send its statements
    #[arg(long, conflicts_with = "test")]
    pub trust_store: bool,
    /// List all counters that the servers report, also those that do not differ
    #[arg(long)]
    pub all_facts: bool,
    /// Also write a page to this file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub shape: Shape,
}

/// Explains what a run has found.
pub(crate) fn run(place: &Place, flags: &Explain) -> Result<Exit, Failure> {
    flags.report.as_deref().map_or(Ok(()), files::require_place)?;
    let extent = Extent { by: flags.by, counts_only: flags.count_only, limit: flags.limit };
    let (mut store, pair) = match &flags.test {
        Some(test) => {
            let (store, run) = measured(place, flags, test)?;
            if run.status == RunStatus::Interrupted {
                output::say_text(&format!(
                    "go on  dbdyno resume {id}, and then dbdyno explain {id}",
                    id = run.id
                ));
                return Ok(Exit::Interrupted);
            }
            (store, arms::StoredPair::first(run))
        }
        None => {
            let store = session::open_known_store(place)?.with_trust(flags.trust_store);
            let pair = arms::load_pair(&store, &flags.run)?;
            (store, pair)
        }
    };
    let run = pair.as_run_pair();
    let comparison = arms::judged_pair(&store, run)?;
    let wanted = |cell: &Cell| {
        (flags.load.is_empty() || flags.load.contains(&cell.load))
            && (flags.clients.is_empty() || flags.clients.contains(&cell.clients))
    };
    let is_named = flags.test.is_none() && !(flags.load.is_empty() && flags.clients.is_empty());
    let all = if is_named { run.plan().cells() } else { explainable_cells(run, &comparison) };
    // What was measured first has no other cells than those that were named, maybe by a file.
    let is_wanted = |cell: &Cell| flags.test.is_some() || wanted(cell);
    let cells: Vec<(RunPair<'_>, Cell)> =
        all.into_iter().filter(is_wanted).map(|cell| (run, cell)).collect();
    if cells.is_empty() {
        // What was measured for it has been shown to nobody.
        if flags.test.is_some() && flags.shape.format == Format::Text {
            let found = RunFindings::Pair(run, Box::new(comparison.clone()));
            found.print(None, &PrintFlags::with_defaults(flags.shape.color))?;
        }
        return report_nothing(run, &comparison, is_named);
    }
    let is_startable = run.arm_specs().values().all(|arm| arm.can_be_restarted());
    if is_startable && flags.limit != Some(Duration::ZERO) {
        origin::announce_run(&store, run.whole)?;
    }
    let home = session::open_home(place)?;
    let mut all = explain_cells(&home, &mut store, &cells, extent)?;
    if flags.all_facts {
        ask_for_all(&mut all);
    }
    print_explanations(&all, flags.shape, flags.report.as_deref())
}

/// Marks the facts that do not tell anything by themselves as asked for.
fn ask_for_all(all: &mut [Explanation]) {
    let facts = all.iter_mut().flat_map(|one| &mut one.work);
    let listed = facts.filter(|one| one.worth == FactWorth::Listed);
    listed.for_each(|one| one.worth = FactWorth::AskedFor);
}

/// Measures two servers first, by the flags that `compare` has.
fn measured(place: &Place, flags: &Explain, test: &str) -> Result<(Store, Run), Failure> {
    let mut words: Vec<String> =
        ["compare", &flags.run, test, "--quick"].map(str::to_owned).to_vec();
    let clients: Vec<String> = flags.clients.iter().map(u32::to_string).collect();
    let rows = flags.rows.map(|rows| rows.to_string());
    let listed = [("--load", flags.load.join(",")), ("--clients", clients.join(","))];
    let given = listed.into_iter().chain([("--rows", rows.unwrap_or_default())]);
    for (flag, value) in given.filter(|(_, value)| !value.is_empty()) {
        words.extend([flag.to_owned(), value]);
    }
    if flags.count_only {
        words.push("--count-only".to_owned());
    }
    compare::measure_pair(place, &compare::flags_of(&words))
}
