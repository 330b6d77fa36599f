//! `dbdyno published`: what texts printed, beside what was measured here.
//!
//! ```text
//!   files of experiments ── their newest runs ──▶ printed figures and expected signs, held against
//!                                                 them (`crate::printed`) ──▶ one page
//!   --explain ── cells beyond the tolerance ──▶ `crate::explanation` ──▶ on the same page
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use dbdyno_model::published::{FoundSign, ReplicatedTable, Replication};
use dbdyno_model::{Cell, Pairing, Run};
use dbdyno_store::Store;

use crate::args::{Color, Place, Published, PublishedFormat};
use crate::exit::Exit;
use crate::experiment::{self, Experiment};
use crate::explanation::{self, Extent};
use crate::failure::Failure;
use crate::{output, printed, session};

/// Shows printed figures of experiments beside ours.
pub(crate) fn published(place: &Place, flags: &Published) -> Result<Exit, Failure> {
    if flags.explain && matches!(flags.format, PublishedFormat::Csv | PublishedFormat::Svg) {
        return Err(Failure::Usage(
            "--explain has no shape in csv and svg; take text, markdown or json".to_owned(),
        ));
    }
    let mut store = session::open_store(place)?;
    let of_file = |file: &PathBuf| {
        let experiment = experiment::read(file)?;
        if experiment.published.tables.is_empty() && experiment.expectations.is_empty() {
            let what = "nothing was published: [[published]] with of, base, test and ratios, or \
                        [[expect]] with what, sign and why";
            return Err(Failure::Usage(format!("{}: {what}", file.display())));
        }
        let run = match &flags.run {
            Some(run) => store.load(&store.resolve(run)?)?,
            None => newest(&store, file, &experiment)?,
        };
        let found = experiment.asked(file).held_against(&run, signs(&experiment, &run)?)?;
        Ok((run, found))
    };
    let of_files = flags.files.iter().map(of_file).collect::<Result<Vec<_>, Failure>>()?;
    let (runs, mut all): (Vec<Run>, Vec<Replication>) = of_files.into_iter().unzip();
    if flags.explain {
        explain(place, &mut store, &runs, &mut all, flags.limit)?;
    }
    output::print(&match flags.format {
        PublishedFormat::Text => dbdyno_report::published_text(&all, &output::style(Color::Auto)),
        PublishedFormat::Markdown => dbdyno_report::published_markdown(&all),
        PublishedFormat::Json => dbdyno_report::published_json(&all),
        PublishedFormat::Csv => dbdyno_report::published_csv(&all),
        PublishedFormat::Svg => dbdyno_report::published_svg(&all).ok_or_else(|| {
            Failure::Usage("there is nothing to draw: no printed figure was measured".to_owned())
        })?,
    })?;
    Ok(printed::exit(&all))
}

/// Explains where our own figures come from in cells that lie beyond the tolerance.
fn explain(
    place: &Place,
    store: &mut Store,
    runs: &[Run],
    all: &mut [Replication],
    limit: Option<Duration>,
) -> Result<(), Failure> {
    let mut cells: Vec<(usize, Pairing, Cell)> = Vec::new();
    // Each pair of arms once, so that its cells share their trials.
    let mut pairs: Vec<(usize, Pairing, Run)> = Vec::new();
    for (file, (run, found)) in runs.iter().zip(all.iter()).enumerate() {
        for (arms, cell) in beyond(run, &found.tables) {
            if !pairs.iter().any(|(of, pair, _)| (*of, *pair) == (file, arms)) {
                pairs.push((file, arms, run.of_pair(arms)));
            }
            cells.push((file, arms, cell));
        }
    }
    let of_pair = |file: usize, arms: Pairing| {
        pairs.iter().find(|(of, pair, _)| (*of, *pair) == (file, arms)).map(|(.., run)| run)
    };
    let wanted: Vec<(&Run, Cell)> = cells
        .iter()
        .filter_map(|(file, arms, cell)| Some((of_pair(*file, *arms)?, cell.clone())))
        .collect();
    let extent = Extent { limit, ..Extent::default() };
    let told = explanation::explained(&session::open_home(place)?, store, &wanted, extent)?;
    for ((file, ..), one) in cells.iter().zip(told) {
        all[*file].explained.push(one);
    }
    Ok(())
}

/// Cells whose figure lies further from the printed one than the tolerance, each once, the furthest
/// first.
fn beyond(run: &Run, tables: &[ReplicatedTable]) -> Vec<(Pairing, Cell)> {
    let mut all: Vec<(f64, Pairing, Cell)> = Vec::new();
    for table in tables {
        let Some(arms) = table.arms else { continue };
        for row in &table.rows {
            let Some(distance) = row.distance().filter(|distance| *distance > 1.0) else {
                continue;
            };
            let is_of = |cell: &Cell| {
                row.published.is_of(&cell.load) && table.clients.contains(&cell.clients)
            };
            all.extend(run.plan.cells().into_iter().find(is_of).map(|cell| (distance, arms, cell)));
        }
    }
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut cells: Vec<(Pairing, Cell)> = Vec::new();
    for (_, arms, cell) in all {
        let is_there = cells.iter().any(|one| *one == (arms, cell.clone()));
        cells.extend((!is_there).then_some((arms, cell)));
    }
    cells
}

/// The newest run of the whole form, or else of the short one.
fn newest(store: &Store, file: &Path, experiment: &Experiment) -> Result<Run, Failure> {
    let mut names = experiment.run_names();
    let found = names.find_map(|name| store.resolve(&format!("@{name}")).ok());
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
fn signs(experiment: &Experiment, run: &Run) -> Result<Vec<FoundSign>, Failure> {
    let mut signs = Vec::new();
    for pairing in run.plan.against_base() {
        let of_pair = run.of_pair(pairing);
        let comparison = dbdyno_judge::compare_pair(run, pairing)?;
        let test = run.plan.spec(pairing.test).to_string();
        let test = (!run.plan.further.is_empty()).then_some(test);
        for expectation in &experiment.expectations {
            let found = dbdyno_judge::outcomes(&of_pair, &comparison, &expectation.figure)?;
            signs.extend(found.into_iter().map(|outcome| FoundSign {
                expectation: expectation.clone(),
                test: test.clone(),
                outcome,
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
                let experiment = experiment::read(&file).unwrap_or_else(|error| panic!("{error}"));
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
                        let is_arm = plan.indices().any(|arm| plan.spec(arm) == spec);
                        assert!(is_arm, "{told}: no arm is {spec}, which stands for {release}");
                    }
                    let loads: Vec<String> =
                        plan.cells().into_iter().map(|cell| cell.load).collect();
                    for row in figures.tables.iter().flat_map(|table| &table.rows) {
                        let is_measured =
                            row.group().is_some() || loads.iter().any(|load| row.is_of(load));
                        assert!(is_measured, "{told}: {} is not measured", row.load);
                    }
                }
                count += 1;
            }
        }
        assert!(count >= 10, "{count}");
    }
}
