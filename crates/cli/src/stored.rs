//! `dbdyno runs`, `show` and `report`: what was measured before.

use std::path::PathBuf;

use dbdyno_model::{Comparison, Run, foreign};
use dbdyno_report::{Order, View};
use dbdyno_store::{Listed, RunSummary};

use crate::args::{Place, Report, Runs, Show};
use crate::arms::{self, Chosen};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::values::{Still, StillShape};
use crate::{answer, compare, output, session};

/// Lists the stored runs, newest first.
pub(crate) fn runs(place: &Place, flags: &Runs) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let Listed { runs: summaries, corrupt } = store.list()?;
    for error in &corrupt {
        output::say(&format!("note   left out: {error}"));
    }
    if summaries.is_empty() && corrupt.is_empty() {
        output::say("no runs are stored yet; `dbdyno demo` makes one in a minute");
        return Ok(Exit::Holds);
    }
    let mut text = String::new();
    let is_shown = |run: &&RunSummary| flags.trials || run.explains.is_none();
    for run in summaries.iter().filter(is_shown).take(flags.limit) {
        let name = run.name.as_deref().map(|name| format!("@{}", foreign::one_line(name)));
        let name = name.unwrap_or_default();
        text.push_str(&format!(
            "{}  {}  {:11}  {:>4}/{:<4} rounds  {}  {name}\n",
            foreign::one_line(&run.id.0),
            run.started,
            run.status.name(),
            run.rounds_done,
            run.rounds_planned,
            foreign::one_line(&run.arms.join(" → ")),
        ));
    }
    output::print(&text)?;
    Ok(Exit::Holds)
}

/// Shows a stored run as `compare` showed it, or its arms against another one.
pub(crate) fn show(place: &Place, flags: &Show) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let against = flags.against.as_ref();
    match arms::choose(&store, &flags.run, flags.arm.as_deref(), against)? {
        Chosen::Two(run, comparison) => {
            output::comparison(&run, &comparison, flags.gate, &flags.told)?;
            Ok(answer::answer(&comparison, flags.gate))
        }
        Chosen::All(run, reference) => {
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
        Chosen::Two(run, comparison) => {
            if is_page_wanted {
                compare::write_report(&path(&run), &run, &comparison)?;
            }
            let write = |still: &Still| still_of_two(still, &run, *comparison, order);
            flags.still.as_ref().map_or(Ok(()), write)?;
        }
        Chosen::All(run, reference) => {
            let comparison = arms::judged(&run, reference)?;
            if is_page_wanted {
                arms::write_report(&path(&run), &run, &comparison, order)?;
            }
            let write = |still: &Still| arms::still(still, &run, &comparison, order);
            flags.still.as_ref().map_or(Ok(()), write)?;
        }
    }
    Ok(Exit::Holds)
}

/// The drawing of two arms is that of several.
fn still_of_two(
    still: &Still,
    run: &Run,
    comparison: Comparison,
    order: Order,
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
    output::write_page(&still.path, text)
}
