//! `dbdyno published`: what texts printed, beside what was measured here.
//!
//! ```text
//!   files of experiments ── their newest runs ──▶ printed figures and expected signs, held against
//!                                                 them (`crate::printed`) ──▶ one page
//!   --explain ── cells beyond the tolerance ──▶ `crate::explanation` ──▶ on the same page
//! ```

use std::path::Path;
use std::time::Duration;

use dbdyno_document::{csv, markdown, terminal};
use dbdyno_judge::RunFigures;
use dbdyno_model::experiment::RoundFigure;
use dbdyno_model::published::{ExplainedRow, FoundSign, ReplicatedTable, Replication};
use dbdyno_model::{Cell, Pairing, Run, RunPair};
use dbdyno_store::Store;

use crate::args::{Color, Place, PublishedFlags, PublishedFormat};
use crate::exit::Exit;
use crate::experiment::{self, Experiment};
use crate::explanation::{self, Extent};
use crate::failure::Failure;
use crate::{output, printed, screen, session};

/// Shows printed figures of experiments beside ours.
pub(crate) fn show_published(place: &Place, flags: &PublishedFlags) -> Result<Exit, Failure> {
    if flags.explain && matches!(flags.format, PublishedFormat::Csv | PublishedFormat::Svg) {
        return Err(Failure::Usage(
            "--explain has no shape in csv and svg; take text, markdown or json".to_owned(),
        ));
    }
    let mut store = session::open_known_store(place)?;
    let (mut runs, mut all) = (Vec::new(), Vec::new());
    for file in &flags.files {
        let (run, found) = replication(&store, file, flags.run.as_deref())?;
        runs.push(run);
        all.push(found);
    }
    if flags.explain {
        explain(place, &mut store, &runs, &mut all, flags.limit)?;
    }
    let style = screen::text_style(Color::Auto);
    let document = dbdyno_report::published_document(&all);
    let text = match flags.format {
        PublishedFormat::Text => terminal::render_document(&document, &style),
        PublishedFormat::Markdown => markdown::render_document(&document),
        PublishedFormat::Json => dbdyno_report::published_json(&all),
        PublishedFormat::Csv => csv::render_document(&document),
        PublishedFormat::Svg => dbdyno_report::published_svg(&all).ok_or_else(|| {
            Failure::Usage("there is nothing to draw: no printed figure was measured".to_owned())
        })?,
    };
    output::print_styled(&text, &style)?;
    Ok(printed::exit(&printed::figure_standings(&all)))
}

/// What a file says, held against its newest run, or against the one that was named.
fn replication(
    store: &Store,
    file: &Path,
    run: Option<&str>,
) -> Result<(Run, Replication), Failure> {
    let experiment = experiment::read(file)?;
    if experiment.published.tables.is_empty() && experiment.expectations.is_empty() {
        let what = "nothing was published: [[published]] with of, base, test and ratios, or \
                    [[expect]] with what, sign and why";
        return Err(Failure::Usage(format!("{}: {what}", file.display())));
    }
    let run = match run {
        Some(run) => store.load(&store.resolve_run(run)?)?,
        None => newest(store, file, &experiment)?,
    };
    let mut judged = RunFigures::of_run(&run);
    let signs = signs(&experiment, &run, &mut judged)?;
    let found = experiment.printed_question(file).held_against(&run, &mut judged, signs)?;
    Ok((run, found))
}

/// A cell of two arms whose figure lies beyond the tolerance.
struct Beyond {
    arms: Pairing,
    cell: Cell,
    distance: f64,
    /// Of which table, and both figures.
    of: String,
    what: RoundFigure,
    theirs: f64,
    ours: f64,
}

/// Explains where our own figures come from in cells that lie beyond the tolerance.
fn explain(
    place: &Place,
    store: &mut Store,
    runs: &[Run],
    all: &mut [Replication],
    limit: Option<Duration>,
) -> Result<(), Failure> {
    let home = session::open_home(place)?;
    let of_files: Vec<(usize, Beyond)> = (0..runs.len())
        .flat_map(|file| {
            beyond(&runs[file], &all[file].tables).into_iter().map(move |one| (file, one))
        })
        .collect();
    let wanted: Vec<(RunPair<'_>, Cell)> =
        of_files.iter().map(|(file, one)| (runs[*file].pair(one.arms), one.cell.clone())).collect();
    let extent = Extent { limit, ..Extent::default() };
    let told = explanation::explain_cells(&home, store, &wanted, extent)?;
    for ((file, one), explanation) in of_files.into_iter().zip(told) {
        let Beyond { of, what, theirs, ours, .. } = one;
        all[file].explained.rows.push(ExplainedRow { of, what, theirs, ours, explanation });
    }
    for found in all.iter_mut().map(|one| &mut one.explained) {
        let of_rates = found.rows.iter().filter(|row| row.what == RoundFigure::Rate);
        let counted = of_rates.filter_map(|row| Some((row, row.by_instructions()?.estimate)));
        let by_rate = counted.clone().map(|(row, _)| (row.theirs, row.ours));
        let by_rate = dbdyno_judge::agreement_of(by_rate);
        let by_instructions = counted.map(|(row, counted)| (row.theirs, counted));
        found.by_instructions = dbdyno_judge::agreement_of(by_instructions);
        found.by_rate = by_rate;
    }
    Ok(())
}

/// Cells whose figure lies further from the printed one than the tolerance, each once: those of
/// rates first, and the furthest first.
fn beyond(run: &Run, tables: &[ReplicatedTable]) -> Vec<Beyond> {
    let mut all: Vec<Beyond> = Vec::new();
    for table in tables {
        let Some(arms) = table.arms else { continue };
        for row in &table.rows {
            let distance = row.distance().filter(|distance| *distance > 1.0);
            let (Some(distance), Some(ours)) = (distance, row.ours) else { continue };
            let cell = run.plan.cells().into_iter().find(|cell| {
                row.published.is_of(&cell.load) && table.clients.contains(&cell.clients)
            });
            all.extend(cell.map(|cell| Beyond {
                arms,
                cell,
                distance,
                of: table.published.of.clone(),
                what: table.published.what.clone(),
                theirs: row.published.ratio,
                ours: ours.estimate,
            }));
        }
    }
    // What is explained is a difference of rates: those come first, also where another figure of
    // the same cell lies further off.
    all.sort_by(|one, other| {
        let (is_other, other_is) = (one.what != RoundFigure::Rate, other.what != RoundFigure::Rate);
        is_other.cmp(&other_is).then(other.distance.total_cmp(&one.distance))
    });
    let mut seen: Vec<(Pairing, Cell)> = Vec::new();
    all.retain(|one| {
        let key = (one.arms, one.cell.clone());
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    all
}

/// The newest run of the whole form, or else of the short one.
fn newest(store: &Store, file: &Path, experiment: &Experiment) -> Result<Run, Failure> {
    let mut names = experiment.run_names();
    let found = names.find_map(|name| store.resolve_run(&format!("@{name}")).ok());
    let Some(id) = found else {
        let file = file.display();
        return Err(Failure::Usage(format!(
            "{file}: no run of this experiment is stored; carry it out with `dbdyno run {file}`, \
             or name a run with --run"
        )));
    };
    Ok(store.load(&id)?)
}

/// Expectations, held against each other arm of a run.
fn signs(
    experiment: &Experiment,
    run: &Run,
    judged: &mut RunFigures<'_>,
) -> Result<Vec<FoundSign>, Failure> {
    let mut signs = Vec::new();
    for pairing in run.plan.against_base() {
        let test = run.plan.arms[pairing.test].to_string();
        let test = (run.plan.arms.count() > 2).then_some(test);
        for expectation in &experiment.expectations {
            let found = judged.cell_outcomes(pairing, &expectation.figure)?;
            signs.extend(found.iter().map(|outcome| FoundSign {
                expectation: expectation.clone(),
                test: test.clone(),
                outcome: outcome.clone(),
            }));
        }
    }
    Ok(signs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file of the repository can be carried out in both forms, and each arm that stands for a
    /// release is one that is measured.
    #[test]
    fn published_experiments_of_the_repository_can_be_carried_out() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut count = 0;
        for author in ["callaghan", "kravtchuk", "wang"] {
            for entry in std::fs::read_dir(folder.join(author)).unwrap() {
                let file = entry.unwrap().path();
                let told = file.display();
                let mut experiment =
                    experiment::read(&file).unwrap_or_else(|error| panic!("{error}"));
                // Whether this host can keep its processors awake is no question of the file.
                experiment.leave_out("idle");
                let figures = &experiment.published;
                assert!(
                    !figures.tables.is_empty() || !experiment.expectations.is_empty(),
                    "{told}"
                );
                for flags in [&[][..], &["--quick".to_owned()]] {
                    let compare = experiment::command_line(&file, &experiment, flags);
                    let compare =
                        compare.unwrap_or_else(|error| panic!("{told} {flags:?}: {error}")).1;
                    let arms = std::iter::once(&compare.base).chain(&compare.tests);
                    let arms = arms.map(|arm| arm.parse().unwrap()).collect();
                    let plan = crate::plan::from_flags(&compare, arms);
                    let plan = plan.unwrap_or_else(|error| panic!("{told} {flags:?}: {error}"));
                    let name = compare.name.unwrap_or_else(|| panic!("{told} has no name"));
                    assert!(experiment.run_names().any(|one| one == name), "{told}: {name}");
                    for (release, spec) in &figures.stands_for {
                        let is_arm = plan.arms.indices().any(|arm| &plan.arms[arm] == spec);
                        assert!(is_arm, "{told}: no arm is {spec}, which stands for {release}");
                    }
                    let loads: Vec<String> =
                        plan.cells().into_iter().map(|cell| cell.load).collect();
                    for row in figures.tables.iter().flat_map(|table| &table.rows) {
                        let is_measured =
                            row.load_group().is_some() || loads.iter().any(|load| row.is_of(load));
                        assert!(is_measured, "{told}: {} is not measured", row.load);
                    }
                }
                count += 1;
            }
        }
        assert!(count >= 10, "{count}");
    }
}
