//! Explaining what runs have proved, and showing it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use dbdyno_lab::Lab;
use dbdyno_model::{
    Cell, Comparison, CountVerdict, Driving, Explanation, Run, RunPair, Severity, Verdict, Witness,
};
use dbdyno_sandbox::Home;
use dbdyno_store::Store;

use crate::args::{Compare, Format, Place, Shape};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::{arms, output, plan, session};

/// In what causes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Instructions per operation, under callgrind
    Instructions,
    /// Operations per second
    Rate,
}

/// How far is looked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extent {
    pub(crate) by: Option<By>,
    pub(crate) counts_only: bool,
    pub(crate) limit: Option<Duration>,
}

/// Whether what `compare --explain` asks for can be done.
pub(crate) fn check_flags(flags: &Compare) -> Result<(), Failure> {
    let is_for_programs = matches!(flags.told.output_shape().format, Format::Json | Format::Csv);
    match flags.explain {
        true if flags.tests.len() > 1 => Err(Failure::Usage(
            "--explain is of two servers; leave it out, and explain an arm of the run afterwards: \
             dbdyno explain @last/test2"
                .to_owned(),
        )),
        true if is_for_programs => Err(Failure::Usage(
            "--explain writes for people, in text or markdown; for programs leave it out, and then \
             dbdyno explain --format json"
                .to_owned(),
        )),
        true | false => Ok(()),
    }
}

/// Explains what `compare` has proved.
pub(crate) fn explain_compared(
    place: &Place,
    store: &mut Store,
    run: &Run,
    flags: &Compare,
) -> Result<(), Failure> {
    let run = run.first_pair();
    let comparison = arms::judged_pair(store, run)?;
    let cells = explainable_cells(run, &comparison);
    if cells.is_empty() {
        return report_nothing(run, &comparison, false).map(drop);
    }
    let extent = Extent { counts_only: flags.count_only, limit: flags.limit, by: None };
    let wanted: Vec<(RunPair<'_>, Cell)> = cells.into_iter().map(|cell| (run, cell)).collect();
    let all = explain_cells(&session::open_home(place)?, store, &wanted, extent)?;
    output::print("\n")?;
    print_explanations(&all, flags.told.output_shape(), None).map(drop)
}

/// Cells of which something is proved: by their rates, or by instructions where only these were
/// counted.
pub(crate) fn proved_cells(run: RunPair<'_>, comparison: &Comparison) -> Vec<Cell> {
    let is_different = |cell: &Cell| {
        let by_rate = comparison.cells.iter().find(|one| one.cell == *cell);
        let by_count = comparison.counts.iter().find(|one| one.load == cell.load);
        match (by_rate, by_count) {
            (Some(one), _) => matches!(one.verdict, Verdict::Slower | Verdict::Faster),
            (None, Some(one)) => matches!(one.verdict, CountVerdict::More | CountVerdict::Fewer),
            (None, None) => false,
        }
    };
    run.plan().cells().into_iter().filter(is_different).collect()
}

/// Cells that are explained where none is named: those of which something is proved, and those
/// that have no verdict for a reason which is the answer. A client that is the limit is; so is what
/// blocks the verdict of servers by URL, of which nothing else is asked.
pub(crate) fn explainable_cells(run: RunPair<'_>, comparison: &Comparison) -> Vec<Cell> {
    let proved = proved_cells(run, comparison);
    let is_strange = run.arm_specs().values().any(|arm| !arm.can_be_restarted());
    let is_answered = |cell: &Cell| {
        let judged = comparison.cells.iter().find(|one| one.cell == *cell);
        let warnings = judged.into_iter().flat_map(|one| &one.warnings);
        let mut blocking = warnings
            .chain(comparison.warnings.iter().filter(|_| is_strange))
            .filter(|warning| warning.severity == Severity::Blocks);
        blocking.any(|warning| is_strange || warning.code.starts_with("client-"))
    };
    let all = run.plan().cells().into_iter();
    all.filter(|cell| proved.contains(cell) || is_answered(cell)).collect()
}

/// Whether something is proved that an explanation could be asked for.
pub(crate) fn is_possible(run: RunPair<'_>, comparison: &Comparison) -> bool {
    let is_ours = run.arm_specs().values().all(|arm| arm.can_be_restarted());
    is_ours
        && run.plan().question.driving == Driving::Closed
        && !proved_cells(run, comparison).is_empty()
}

/// Explains cells of runs of two arms, one after the other. They share the time: each may take an
/// equal part of what those before it have left.
pub(crate) fn explain_cells(
    home: &Home,
    store: &mut Store,
    wanted: &[(RunPair<'_>, Cell)],
    extent: Extent,
) -> Result<Vec<Explanation>, Failure> {
    let stop = session::stop_flag();
    let mut left_ms = extent.limit.map(|limit| limit.as_millis() as u64);
    let mut all = Vec::with_capacity(wanted.len());
    for (place, (run, cell)) in wanted.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            let left = wanted.len() - place;
            output::say_text(&format!(
                "{left} of {} cells were not begun; dbdyno explain {} continues with them",
                wanted.len(),
                run.whole.id
            ));
            break;
        }
        if wanted.len() > 1 {
            output::say_text(&format!("explaining {cell}, {} of {}", place + 1, wanted.len()));
        }
        let share_ms = left_ms.map(|left| left / (wanted.len() - place) as u64);
        let of_run = wanted[place..].iter().filter(|(other, _)| is_same(*other, *run));
        let beside: Vec<Cell> = of_run.skip(1).map(|(_, cell)| cell.clone()).collect();
        let asked = CellQuestion { run: *run, cell, beside: &beside, limit_ms: share_ms };
        let (explanation, spent_ms) = one(home, store, &stop, &asked, extent)?;
        left_ms = left_ms.map(|left| left.saturating_sub(spent_ms));
        all.push(explanation);
    }
    Ok(all)
}

fn is_same(one: RunPair<'_>, other: RunPair<'_>) -> bool {
    one.whole.id == other.whole.id && one.pairing == other.pairing
}

/// A cell that is explained.
struct CellQuestion<'a> {
    run: RunPair<'a>,
    cell: &'a Cell,
    /// Those of the same run that come after it.
    beside: &'a [Cell],
    limit_ms: Option<u64>,
}

/// Explains one cell, and says how long that took, in milliseconds of the run's clock.
fn one(
    home: &Home,
    store: &mut Store,
    stop: &AtomicBool,
    &CellQuestion { run, cell, beside, limit_ms }: &CellQuestion<'_>,
    extent: Extent,
) -> Result<(Explanation, u64), Failure> {
    if run.plan().question.driving != Driving::Closed {
        return Err(Failure::Usage(
            "what is explained is the rate of a closed loop; measure without --rate, --find-max \
             and --think, and explain that"
                .to_owned(),
        ));
    }
    let comparison = arms::judged_pair(store, run)?;
    let judged = comparison.cells.iter().find(|one| one.cell == *cell);
    let found = judged.map(|one| (one.rqps, one.pairs));
    let rates = plan::rates_of_trials(run.plan(), found);
    let mut ticker = Ticker::new();
    let clock = session::clock(run.plan(), store, run.whole.rounds.len())?;
    let began_ms = clock.unix_ms();
    let mut lab = Lab { home, store, stop, watch: &mut ticker, clock: clock.clone() };
    let question = dbdyno_trials::ExplainQuestion {
        run,
        cell,
        beside,
        by: if extent.counts_only {
            Some(Witness::Instructions)
        } else {
            extent.by.map(|by| match by {
                By::Instructions => Witness::Instructions,
                By::Rate => Witness::Rate,
            })
        },
        rates: (!extent.counts_only).then_some(&rates),
        limit_ms,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let explanation = dbdyno_trials::explain_difference(&mut lab, &question)?;
    Ok((explanation, clock.unix_ms().saturating_sub(began_ms)))
}

/// Prints explanations, and says whether all are complete.
pub(crate) fn print_explanations(
    all: &[Explanation],
    shape: Shape,
    report: Option<&Path>,
) -> Result<Exit, Failure> {
    if shape.format == Format::Csv {
        return Err(Failure::Usage(
            "--format csv has no shape for an explanation; take text, json or markdown".to_owned(),
        ));
    }
    output::print_document(
        shape,
        || dbdyno_report::explanation_document(all),
        || dbdyno_report::explanation_json(all),
    )?;
    if let Some(path) = report {
        output::write_page(path, dbdyno_report::explanation_html(all))?;
    }
    let is_open = all.iter().any(|one| one.open.is_some() || one.limit.is_some());
    Ok(if is_open { Exit::CannotTell } else { Exit::Holds })
}

/// Says that nothing is to be explained, or what could be.
///
/// A cell without a verdict may have something to explain, and is no answer.
pub(crate) fn report_nothing(
    run: RunPair<'_>,
    comparison: &Comparison,
    is_named: bool,
) -> Result<Exit, Failure> {
    if is_named {
        let cells: Vec<String> = run.plan().cells().iter().map(ToString::to_string).collect();
        let text = format!("run {} has no such cell; it has {}", run.whole.id, cells.join(", "));
        return Err(Failure::Usage(text));
    }
    let warnings = comparison.cells.iter().flat_map(|one| &one.warnings);
    let mut warnings = warnings.chain(&comparison.warnings);
    let is_blocked = warnings.any(|warning| warning.severity == Severity::Blocks);
    let is_open = comparison.cells.iter().any(|one| one.verdict == Verdict::Undecided);
    let is_empty = comparison.cells.iter().all(|one| one.pairs == 0);
    let so = match (is_empty, is_open || is_blocked) {
        (true, _) => "as no pair of rounds was measured",
        (_, true) => "but not all cells have a verdict",
        (_, false) => "so there is nothing to explain",
    };
    output::say_text(&format!(
        "nothing in run {id} is proved slower or faster, {so}; `dbdyno explain {id} --load LOAD` \
         explains it nevertheless, and `dbdyno show {id}` has what was measured",
        id = run.whole.id
    ));
    Ok(if is_empty || is_open || is_blocked { Exit::CannotTell } else { Exit::Holds })
}
