//! `dbdyno runs`, `show` and `report`: what was measured before.

use std::path::PathBuf;

use dbdyno_document::{Document, Element, LabelledItem};
use dbdyno_model::Run;
use dbdyno_store::{RunSummary, StoreListing};

use crate::args::{Place, Report, Runs, Show};
use crate::arms::{self};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::findings::RunFindings;
use crate::{output, plan, session};

/// Lists the stored runs, newest first.
pub(crate) fn list_runs(place: &Place, flags: &Runs) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let StoreListing { runs: summaries, corrupt } = store.list()?;
    for error in &corrupt {
        output::say_text(&format!("note   left out: {error}"));
    }
    if summaries.is_empty() && corrupt.is_empty() {
        output::say_text("no runs are stored yet; `dbdyno demo` makes one in a minute");
        return Ok(Exit::Holds);
    }
    let shown: Vec<&RunSummary> = summaries
        .iter()
        .filter(|run| flags.trials || run.explains.is_none())
        .take(flags.limit)
        .collect();
    output::print(&output::list_text(&listed(&shown)))?;
    Ok(Exit::Holds)
}

/// Columns between what every run has.
const GAP: usize = 2;
/// Characters of an arm in a list: trials have hundreds of options, and `show` tells them all.
const ARM_MOST: usize = 64;

/// A line for each run: what every one has in columns, then the arms, the name and the note, which
/// tell runs apart.
fn listed(runs: &[&RunSummary]) -> Document {
    let heads: Vec<[String; 4]> = runs.iter().map(|run| head(run)).collect();
    let widths: [usize; 4] =
        std::array::from_fn(|at| heads.iter().map(|head| head[at].len()).max().unwrap_or(0) + GAP);
    let items = runs.iter().zip(heads).map(|(run, head)| {
        let name = run.name.as_deref().map(|name| format!(" @{name}")).unwrap_or_default();
        let note = run.note.as_deref().map(|note| format!("   {note}")).unwrap_or_default();
        let why = run.broke_off.as_deref().map(first_line).unwrap_or_default();
        let item = LabelledItem::new(arms_in_short(&run.arms) + &name + &note + &why);
        head.into_iter().zip(widths).fold(item, |item, (text, width)| item.with_label(text, width))
    });
    Document::from(vec![vec![Element::Items(items.collect())]])
}

/// The first line of a reason, behind what stands before it.
fn first_line(reason: &str) -> String {
    format!("   {}", reason.lines().next().unwrap_or_default())
}

/// The arms of a run, with as many options of each as there is room for.
fn arms_in_short(arms: &[String]) -> String {
    arms.iter().map(|arm| in_short(arm)).collect::<Vec<_>>().join(" → ")
}

fn in_short(arm: &str) -> String {
    let Some((target, options)) = arm.split_once('?').filter(|_| arm.chars().count() > ARM_MOST)
    else {
        return arm.to_owned();
    };
    let options: Vec<&str> = options.split('&').collect();
    let mut room = ARM_MOST.saturating_sub(target.chars().count());
    let shown = options.iter().take_while(|option| {
        let needed = option.chars().count() + 1;
        let has_room = needed <= room;
        room = room.saturating_sub(needed);
        has_room
    });
    let shown: Vec<&str> = shown.copied().collect();
    let first = if shown.is_empty() { String::new() } else { format!("?{}", shown.join("&")) };
    let more = plan::count_with_noun(options.len() - shown.len(), "more option");
    format!("{target}{first} and {more}")
}

/// What every run has.
fn head(run: &RunSummary) -> [String; 4] {
    let rounds = format!("{}/{} rounds", run.rounds_done, run.rounds_planned);
    [run.id.0.clone(), run.started.clone(), run.status.name().to_owned(), rounds]
}

/// Shows a stored run as `compare` showed it, or its arms against another one.
pub(crate) fn show_run(place: &Place, flags: &Show) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let against = flags.against.as_ref();
    let (run, selection) = arms::load_selection(&store, &flags.run, flags.arm.as_deref(), against)?;
    let found = RunFindings::from_selection(&store, &run, selection)?;
    found.print(flags.gate, &flags.told)?;
    Ok(found.exit_of_look(flags.gate))
}

/// Writes a stored run as an HTML file, or in a shape without a script.
pub(crate) fn write_report(place: &Place, flags: &Report) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let is_page_wanted = flags.still.is_none() || flags.output.is_some();
    let order = output::cell_order(flags.worst_first);
    let (run, selection) =
        arms::load_selection(&store, &flags.run, flags.arm.as_deref(), flags.against.as_ref())?;
    let found = RunFindings::from_selection(&store, &run, selection)?;
    if is_page_wanted {
        found.write_page(&page_path(flags, &run), order)?;
    }
    flags.still.as_ref().map_or(Ok(()), |still| found.write_still(still, order))?;
    Ok(Exit::Holds)
}

/// Where the page of a run goes, unless that is said.
fn page_path(flags: &Report, run: &Run) -> PathBuf {
    let name = match &flags.arm {
        None => format!("dbdyno-{}.html", run.id),
        Some(arm) => format!("dbdyno-{}-{arm}.html", run.id),
    };
    flags.output.clone().unwrap_or_else(|| PathBuf::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_shows_as_many_options_of_an_arm_as_there_is_room_for() {
        let few = "mysql:8.0?sync_binlog=1";
        assert_eq!(in_short(few), few);
        let many: Vec<String> = (0..300).map(|at| format!("option_{at}=ON")).collect();
        assert_eq!(
            in_short(&format!("mysql:8.0?{}", many.join("&"))),
            "mysql:8.0?option_0=ON&option_1=ON&option_2=ON&option_3=ON and 296 more options"
        );
        let one = format!("mysql:8.0?init_connect={}", "x".repeat(90));
        assert_eq!(in_short(&one), "mysql:8.0 and 1 more option");
        let url = format!("mysql://{}", "h".repeat(90));
        assert_eq!(in_short(&url), url, "what has no options is cut");
    }
}
