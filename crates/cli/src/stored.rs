//! `dbdyno runs`, `show` and `report`: what was measured before.

use std::path::PathBuf;

use dbdyno_document::layout::{Grid, Line};
use dbdyno_model::{Comparison, Run, foreign};
use dbdyno_report::{CellOrder, View};
use dbdyno_store::{RunSummary, StoreListing};

use crate::args::{Place, Report, Runs, Show};
use crate::arms::{self, RunSelection};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::values::{Still, StillShape};
use crate::{answer, compare, output, screen, session};

/// Lists the stored runs, newest first.
pub(crate) fn runs(place: &Place, flags: &Runs) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let StoreListing { runs: summaries, corrupt } = store.list()?;
    for error in &corrupt {
        output::say(&format!("note   left out: {error}"));
    }
    if summaries.is_empty() && corrupt.is_empty() {
        output::say("no runs are stored yet; `dbdyno demo` makes one in a minute");
        return Ok(Exit::Holds);
    }
    let shown: Vec<&RunSummary> = summaries
        .iter()
        .filter(|run| flags.trials || run.explains.is_none())
        .take(flags.limit)
        .collect();
    output::print(&listed(&shown, screen::columns()))?;
    Ok(Exit::Holds)
}

/// A line for each run. Where the screen is too narrow for that, the arms and the name, which tell
/// runs apart, have lines of their own.
fn listed(runs: &[&RunSummary], columns: Option<usize>) -> String {
    let one_each = runs.iter().map(|run| {
        let mut columns = head(run);
        columns.extend([arms(run), name(run)]);
        Line::Columns(columns)
    });
    let one_each = Grid { lines: one_each.collect(), ragged: 1 };
    let Some(width) = columns.filter(|width| one_each.width() > *width) else {
        return one_each.render(usize::MAX);
    };
    let two_each = runs.iter().flat_map(|run| {
        let behind = format!("  {} {}", arms(run), name(run));
        [Line::Columns(head(run)), Line::Across(behind)]
    });
    Grid { lines: two_each.collect(), ragged: 1 }.render(width)
}

/// What every run has, in columns.
fn head(run: &RunSummary) -> Vec<String> {
    vec![
        foreign::one_line(&run.id.0).into_owned(),
        run.started.clone(),
        run.status.name().to_owned(),
        format!("{}/{} rounds", run.rounds_done, run.rounds_planned),
    ]
}

fn arms(run: &RunSummary) -> String {
    foreign::one_line(&run.arms.join(" → ")).into_owned()
}

/// The name that the user gave it, with its @; empty if there is none.
fn name(run: &RunSummary) -> String {
    run.name.as_deref().map(|name| format!("@{}", foreign::one_line(name))).unwrap_or_default()
}

/// Shows a stored run as `compare` showed it, or its arms against another one.
pub(crate) fn show(place: &Place, flags: &Show) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let against = flags.against.as_ref();
    match arms::choose(&store, &flags.run, flags.arm.as_deref(), against)? {
        RunSelection::Two(run, comparison) => {
            output::comparison(&run, &comparison, flags.gate, &flags.told)?;
            Ok(answer::answer(&comparison, flags.gate))
        }
        RunSelection::All(run, reference) => {
            let comparison = arms::judged(&run, reference)?;
            arms::print(&run, &comparison, flags.gate, &flags.told)?;
            Ok(answer::of_arms(&comparison, flags.gate))
        }
    }
}

/// Writes a stored run as an HTML file, or in a shape without a script.
pub(crate) fn report(place: &Place, flags: &Report) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let name = |run: &Run| match &flags.arm {
        None => format!("dbdyno-{}.html", run.id),
        Some(arm) => format!("dbdyno-{}-{arm}.html", run.id),
    };
    let path = |run: &Run| flags.output.clone().unwrap_or_else(|| PathBuf::from(name(run)));
    let is_page_wanted = flags.still.is_none() || flags.output.is_some();
    let order = output::order(flags.worst_first);
    match arms::choose(&store, &flags.run, flags.arm.as_deref(), flags.against.as_ref())? {
        RunSelection::Two(run, comparison) => {
            if is_page_wanted {
                compare::write_report(&path(&run), &run, &comparison)?;
            }
            flags
                .still
                .as_ref()
                .map_or(Ok(()), |still| still_of_two(still, &run, *comparison, order))?;
        }
        RunSelection::All(run, reference) => {
            let comparison = arms::judged(&run, reference)?;
            if is_page_wanted {
                arms::write_report(&path(&run), &run, &comparison, order)?;
            }
            flags
                .still
                .as_ref()
                .map_or(Ok(()), |still| arms::still(still, &run, &comparison, order))?;
        }
    }
    Ok(Exit::Holds)
}

/// The drawing of two arms is that of several.
fn still_of_two(
    still: &Still,
    run: &Run,
    comparison: Comparison,
    order: CellOrder,
) -> Result<(), Failure> {
    let view = || View::new(run, &comparison);
    let text = match still.shape {
        StillShape::Markdown => dbdyno_report::markdown(&view()),
        StillShape::Csv => dbdyno_report::csv(&view()),
        StillShape::Json => dbdyno_report::json(&view()),
        StillShape::Svg => {
            return arms::still(still, run, &dbdyno_judge::as_arms(run, comparison), order);
        }
    };
    output::write_still(&still.path, &text)
}
