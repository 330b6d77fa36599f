//! `dbdyno compare` and `dbdyno resume`.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Parser as _;
use dbdyno_lab::{ExperimentOrder, Lab};
use dbdyno_model::{ArmSpec, Comparison, Gate, Plan, Run, RunStatus};
use dbdyno_sandbox::Home;
use dbdyno_store::Store;

use crate::args::{Compare, Place, PrintFlags, Resume, Section, ToldFormat};
use crate::arms::RunSelection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::findings::RunFindings;
use crate::once::Once;
use crate::progress::Ticker;
use crate::values::{Side, read_side};
use crate::{arms, explanation, files, login, origin, output, plan, session, until};

/// Compares servers, or two stored runs.
pub(crate) fn run(place: &Place, flags: &Compare) -> Result<Exit, Failure> {
    let sides = std::iter::once(read_side("BASE", &flags.base));
    let sides = sides.chain(flags.tests.iter().map(|test| read_side("TEST", test)));
    let sides = sides.collect::<Result<Vec<Side>, Failure>>()?;
    if let Some(arms) = sides
        .iter()
        .map(|side| match side {
            Side::Server(spec) => Some(spec.clone()),
            Side::Stored(_) => None,
        })
        .collect::<Option<Vec<ArmSpec>>>()
    {
        return servers(place, flags, arms);
    }
    match sides.as_slice() {
        [Side::Stored(base), Side::Stored(test)] => stored(place, flags, base, test),
        [Side::Stored(_), Side::Stored(_), ..] => Err(Failure::Usage(
            "two stored runs are compared at a time; `dbdyno history` shows how figures went over \
             many"
                .to_owned(),
        )),
        _ => Err(Failure::Usage(
            "BASE and TEST must both be servers or both be stored runs; a server cannot be \
             compared with a run of another day, because the host has changed since"
                .to_owned(),
        )),
    }
}

fn servers(place: &Place, flags: &Compare, arms: Vec<ArmSpec>) -> Result<Exit, Failure> {
    explanation::check_flags(flags)?;
    let (mut store, run) =
        measure_arms(place, flags, arms, |plan| plan::repeat_command(plan, flags))?;
    let exit = present_run(&mut store, &run, flags.report.as_deref(), flags.gate, &flags.told)?;
    if flags.explain && exit != Exit::Interrupted {
        explanation::explain_compared(place, &mut store, &run, flags)?;
    }
    announce_change(&run, exit, flags.gate.is_some() || flags.until.is_some());
    Ok(exit)
}

/// Says that the next release ends an undecided run for which nothing was asked with 0.
fn announce_change(run: &Run, exit: Exit, is_asked: bool) {
    // Without one of several arms that ended on the way the question stays open.
    if exit == Exit::CannotTell && !is_asked && run.ended.is_empty() {
        output::say_text(
            "exit   3, because a cell is undecided; the next release will exit with 0 here, and \
             with 3 only if --gate or --until is given",
        );
    }
}

/// The flags of `compare`, by themselves.
#[derive(clap::Parser)]
struct Words {
    #[command(flatten)]
    compare: Compare,
}

/// What `compare` would be told by these words, the first of which is its name.
pub(crate) fn flags_of(words: &[String]) -> Compare {
    Words::parse_from(words).compare
}

/// Measures two servers as the flags say.
pub(crate) fn measure_pair(place: &Place, flags: &Compare) -> Result<(Store, Run), Failure> {
    measure_arms(place, flags, servers_of(flags)?, |plan| plan::repeat_command(plan, flags))
}

/// The servers that flags name.
pub(crate) fn servers_of(flags: &Compare) -> Result<Vec<ArmSpec>, Failure> {
    let tests = flags.tests.iter().map(|test| ("TEST", test));
    std::iter::once(("BASE", &flags.base))
        .chain(tests)
        .map(|(what, text)| match read_side(what, text)? {
            Side::Server(spec) => Ok(spec),
            Side::Stored(_) => Err(Failure::Usage(
                "BASE and TEST are servers; a stored run has been measured already".to_owned(),
            )),
        })
        .collect()
}

/// Measures servers as the flags say; `command` is what makes such a run again.
pub(crate) fn measure_arms(
    place: &Place,
    flags: &Compare,
    arms: Vec<ArmSpec>,
    command: impl Fn(&Plan) -> String,
) -> Result<(Store, Run), Failure> {
    flags.report.as_deref().map_or(Ok(()), files::require_place)?;
    let plan = plan::from_flags(flags, arms)?;
    let home = session::open_home(place)?;
    let mut store = session::open_own_store(place)?;
    let known = plan::runs_alike(&plan, &store);
    let (plan, notes) = until::aim_plan(plan, flags, &known)?;
    notes.iter().for_each(|note| output::say_lines(&output::labelled_line("note", note)));
    let stop = session::stop_flag();
    let command = command(&plan);
    let words = if flags.verbose { plan::Words::EachCell } else { plan::Words::Few };
    let ticker = Ticker::for_format(flags.told.format)
        .with_plan(plan::announcement_of_plan(&plan, &known, words));
    let order = ExperimentOrder {
        plan: &plan,
        name: flags.name.as_deref(),
        command: &command,
        tool_version: env!("CARGO_PKG_VERSION"),
        varied: &flags.varied,
        trial_of: None,
    };
    let run = carry_out(&home, &mut store, &stop, &order, ticker)?;
    Ok((store, run))
}

/// Goes on with a run that stopped.
pub(crate) fn resume(place: &Place, flags: &Resume) -> Result<Exit, Failure> {
    flags.report.as_deref().map_or(Ok(()), files::require_place)?;
    let home = session::open_home(place)?;
    let mut store = session::open_known_store(place)?.with_trust(flags.trust_store);
    let stop = session::stop_flag();
    let mut run = store.load(&store.resolve_run(&flags.run)?)?;
    origin::announce_run(&store, &run)?;
    run.plan.arms.iter_mut().try_for_each(|(_, arm)| login::fill_again(arm))?;
    let longer = until::requested_extension(flags)
        .map(|extension| dbdyno_judge::forecast::extended_plan(&run, &extension));
    let longer = longer.transpose()?;
    output::say_lines(&plan::announcement_of_rest(&run, longer.as_ref()));
    let mut ticker = Ticker::for_format(flags.told.format).without_known(Once::from_store(&store)?);
    let clock = session::clock(&run.plan, &store, run.rounds.len())?;
    let mut lab = Lab { home: &home, store: &mut store, stop: &stop, watch: &mut ticker, clock };
    let id = match longer {
        Some(plan) => dbdyno_lab::extend(&mut lab, &run, plan)?,
        None => dbdyno_lab::resume(&mut lab, &run)?,
    };
    ticker.end_display().save_notes(&mut store)?;
    let run = store.load(&id)?;
    let exit = present_run(&mut store, &run, flags.report.as_deref(), flags.gate, &flags.told)?;
    announce_change(&run, exit, flags.gate.is_some() || flags.until.is_some());
    Ok(exit)
}

/// Prints what a run has found, and says what may be done with it.
pub(crate) fn present_run(
    store: &mut Store,
    run: &Run,
    report: Option<&Path>,
    gate: Option<Gate>,
    told: &PrintFlags,
) -> Result<Exit, Failure> {
    let found = RunFindings::from_selection(store, run, RunSelection::whole_run(run))?;
    found.print(gate, told)?;
    let pairs = found.judged_pairs();
    say_notes(store, told, pairs.iter().map(|(_, comparison)| *comparison))?;
    if let Some(path) = report {
        found.write_page(path, output::cell_order(told.worst_first))?;
    }
    let mut cells = pairs.iter().flat_map(|(_, comparison)| &comparison.cells);
    let is_open = cells.any(|cell| cell.pairs_missing.is_some());
    let is_explainable = match &found {
        RunFindings::Pair(pair, comparison) => explanation::is_possible(*pair, comparison),
        RunFindings::All(..) => false,
    };
    let answer = found.exit(gate);
    if told.format == ToldFormat::Text {
        say_what_next(run, is_open, report);
        if is_explainable {
            output::say_text(&format!(
                "why    dbdyno explain {}     finds by experiment where the difference comes from",
                run.id
            ));
        }
    }
    Ok(match run.status {
        RunStatus::Interrupted => Exit::Interrupted,
        RunStatus::Complete | RunStatus::Partial => answer,
    })
}

/// Says the notes on the method that nobody has been shown from this store yet, where only the
/// first screen is printed.
fn say_notes<'a>(
    store: &mut Store,
    told: &PrintFlags,
    found: impl Iterator<Item = &'a Comparison>,
) -> Result<(), Failure> {
    if told.format != ToldFormat::Text || told.all || told.section.contains(&Section::Notes) {
        return Ok(());
    }
    let mut once = Once::from_store(store)?;
    for comparison in found {
        let of_cells = comparison.cells.iter().flat_map(|cell| &cell.warnings);
        let notes = comparison.warnings.iter().chain(of_cells);
        for note in notes.filter(|note| note.is_about_method()) {
            if once.admits_warning(note) {
                output::say_lines(&output::labelled_line("note", &note.text));
            }
        }
    }
    once.save_notes(store)
}

/// Measures by a plan, and reads the run back from the store.
pub(crate) fn carry_out(
    home: &Home,
    store: &mut Store,
    stop: &AtomicBool,
    order: &ExperimentOrder<'_>,
    ticker: Ticker,
) -> Result<Run, Failure> {
    let mut ticker = ticker.without_known(Once::from_store(store)?);
    let clock = session::clock(order.plan, store, 0)?;
    let mut lab = Lab { home, store, stop, watch: &mut ticker, clock };
    let id = dbdyno_lab::run_experiment(&mut lab, order)?;
    ticker.end_display().save_notes(store)?;
    Ok(store.load(&id)?)
}

fn say_what_next(run: &Run, is_open: bool, report: Option<&Path>) {
    if run.status != RunStatus::Complete {
        output::say_text(&format!("go on  dbdyno resume {}", run.id));
    } else if is_open {
        output::say_text(&format!(
            "decide dbdyno resume {} --until decided     measures undecided cells for longer",
            run.id
        ));
    }
    if report.is_none() {
        output::say_text(&format!(
            "next   dbdyno report {}     one HTML file, opens offline",
            run.id
        ));
    }
    output::say_text(&format!("again  {}", run.command));
}

fn stored(place: &Place, flags: &Compare, base: &str, test: &str) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let (base, test) = (arms::load_pair(&store, base)?, arms::load_pair(&store, test)?);
    let comparison =
        dbdyno_judge::compare_stored(base.as_run_pair(), test.as_run_pair(), flags.budget)?;
    let found = RunFindings::Pair(test.as_run_pair(), Box::new(comparison));
    found.print(flags.gate, &flags.told)?;
    Ok(found.exit_of_look(flags.gate))
}
