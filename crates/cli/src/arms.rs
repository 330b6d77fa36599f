//! Runs of more than two arms: what is shown of them, against which arm.

use std::path::Path;

use dbdyno_model::{
    ArmIndex, ArmsComparison, Comparison, Gate, MaskedTarget, Pairing, Reference, Run, RunPair,
};
use dbdyno_report::{ArmsDetail, ArmsView, CellOrder, GateCheck, View};
use dbdyno_store::Store;

use crate::args::{PrintFlags, Section, ToldFormat};
use crate::ci;
use crate::failure::Failure;
use crate::output;
use crate::screen;
use crate::values::{Against, Still, StillShape};

/// The arm with this name, or with this target where only one has it.
///
/// # Errors
/// Names those that there are.
pub(crate) fn arm_named(run: &Run, text: &str) -> Result<ArmIndex, Failure> {
    let specs = &run.plan.arms;
    if let Some(arm) = ArmIndex::from_name(text).filter(|arm| specs.get(*arm).is_some()) {
        return Ok(arm);
    }
    let named: Vec<ArmIndex> =
        specs.iter().filter(|(_, spec)| spec.to_string() == text).map(|(arm, _)| arm).collect();
    match named.as_slice() {
        [only] => Ok(*only),
        _ => {
            let all = specs.iter().map(|(arm, spec)| format!("{arm} ({spec})"));
            let all: Vec<String> = all.collect();
            Err(Failure::Usage(format!(
                "run {} has no arm {:?}, or several of that target; it has {}",
                run.id,
                MaskedTarget::of(text),
                all.join(", ")
            )))
        }
    }
}

/// The two arms that are to be shown in full: `arm`, against another one, the one before it, or
/// base.
///
/// # Errors
/// An arm that there is not, or that is to be shown against itself.
pub(crate) fn pairing(run: &Run, arm: &str, against: Option<&Against>) -> Result<Pairing, Failure> {
    let test = arm_named(run, arm)?;
    let base = match against {
        None => ArmIndex::BASE,
        Some(Against::Arm(arm)) => arm_named(run, arm)?,
        Some(Against::Before) => ArmIndex(test.0.saturating_sub(1)),
    };
    if base == test {
        return Err(Failure::Usage(format!(
            "{test} cannot be shown against itself; name another one with --against"
        )));
    }
    Ok(Pairing { base, test })
}

/// What arms are judged against where nobody says: base, or where nothing was measured of it, the
/// first arm of which something was.
pub(crate) fn usual(run: &Run) -> Reference {
    let mut arms = run.plan.arms.indices();
    let first = arms.find(|arm| run.arm(*arm).rounds().next().is_some());
    Reference::Arm(first.unwrap_or(ArmIndex::BASE))
}

/// What a run of several arms has found.
pub(crate) fn judged(run: &Run, reference: Reference) -> Result<ArmsComparison, Failure> {
    Ok(dbdyno_judge::compare_arms(run, reference)?)
}

/// What was found between two arms of a run, among all that it has, and how far this host is to be
/// trusted.
pub(crate) fn judged_pair(store: &Store, pair: RunPair<'_>) -> Result<Comparison, Failure> {
    let self_tests = Some(dbdyno_lab::self_tests(store, &pair.whole.id)?);
    Ok(Comparison { self_tests, ..dbdyno_judge::compare_pair(pair)? })
}

/// Prints it in the shape that was asked for.
pub(crate) fn print(
    run: &Run,
    comparison: &ArmsComparison,
    gate: Option<Gate>,
    told: &PrintFlags,
) -> Result<(), Failure> {
    let order = match told.format {
        ToldFormat::Json | ToldFormat::Jsonl | ToldFormat::Csv => CellOrder::Groups,
        _ => output::order(told.worst_first),
    };
    let view = ArmsView::new(run, comparison).sorted(order);
    let detail = if told.intervals { ArmsDetail::Intervals } else { ArmsDetail::Ratios };
    let sections = sections(run, told);
    let text = match told.format {
        ToldFormat::Text => {
            dbdyno_report::arms_text(&view, detail, &sections, &screen::style(told.color))
        }
        ToldFormat::Json => dbdyno_report::arms_json(&view),
        ToldFormat::Jsonl => ci::line(&dbdyno_report::arms_json(&view)),
        ToldFormat::Csv => dbdyno_report::arms_csv(&view),
        ToldFormat::Markdown => dbdyno_report::arms_markdown(&view, &sections),
        ToldFormat::Github => {
            let markdown = dbdyno_report::arms_markdown(&view, &sections);
            let checked = checked_pairs(run, comparison, gate);
            ci::github(&checked, &output::harmless(&markdown))?
        }
        ToldFormat::Junit => dbdyno_report::junit(&checked_pairs(run, comparison, gate)),
        ToldFormat::Benchfmt => dbdyno_report::benchfmt(&checked_pairs(run, comparison, gate)),
    };
    output::print_answer(&text, told.format, told.color)
}

/// Each pair of arms against the gate.
fn checked_pairs(run: &Run, comparison: &ArmsComparison, gate: Option<Gate>) -> Vec<GateCheck> {
    let pairs = comparison.pairs.iter().map(|pair| {
        let view = View::new(run.pair(pair.pairing), &pair.comparison);
        ci::checked(view, &pair.comparison, gate)
    });
    pairs.collect()
}

/// All sections that a report of several arms has.
const EVERYTHING: [dbdyno_report::Section; 2] =
    [dbdyno_report::Section::Cost, dbdyno_report::Section::Notes];

/// Which parts of a report of several arms are wished; of those that compare two arms in depth, it
/// is said where they are.
fn sections(run: &Run, told: &PrintFlags) -> Vec<dbdyno_report::Section> {
    if told.all {
        return EVERYTHING.to_vec();
    }
    if told.section.iter().any(|section| !matches!(section, Section::Cost | Section::Notes)) {
        output::say(&format!(
            "note   doubt, facts and engine are sections about one arm: dbdyno show {} --arm ARM \
             --section doubt",
            run.id
        ));
    }
    told.section.iter().map(output::section).collect()
}

/// Writes the page and says where it is.
pub(crate) fn write_report(
    path: &Path,
    run: &Run,
    comparison: &ArmsComparison,
    order: CellOrder,
) -> Result<(), Failure> {
    let view = ArmsView::new(run, comparison).sorted(order);
    output::write_page(path, dbdyno_report::arms_html(&view))
}

/// Writes what needs no script, and says where it is.
pub(crate) fn still(still: &Still, view: ArmsView, order: CellOrder) -> Result<(), Failure> {
    let order = match still.shape {
        StillShape::Csv | StillShape::Json => CellOrder::Groups,
        StillShape::Svg | StillShape::Markdown => order,
    };
    let view = view.sorted(order);
    let text = match still.shape {
        StillShape::Svg => dbdyno_report::arms_svg(&view),
        StillShape::Markdown => dbdyno_report::arms_markdown(&view, &EVERYTHING),
        StillShape::Csv => dbdyno_report::arms_csv(&view),
        StillShape::Json => dbdyno_report::arms_json(&view),
    };
    output::write_still(&still.path, &text)
}

/// What of a stored run is to be judged.
pub(crate) enum RunSelection {
    /// Two of its arms, which may be all that it has.
    Pair(Pairing),
    /// All arms of a larger one.
    All(Reference),
}

/// Two arms of a stored run.
pub(crate) struct StoredPair {
    run: Run,
    pairing: Pairing,
}

impl StoredPair {
    /// Base and the first test of a run.
    pub(crate) fn first(run: Run) -> StoredPair {
        StoredPair { run, pairing: Pairing::USUAL }
    }

    pub(crate) fn borrowed(&self) -> RunPair<'_> {
        self.run.pair(self.pairing)
    }
}

/// Loads a run of two arms, or two arms of a larger one: `@last/test2` is base and test2.
///
/// # Errors
/// No such run, no such arm, or a larger run of which no arm is named.
pub(crate) fn stored(store: &Store, text: &str) -> Result<StoredPair, Failure> {
    let whole = store.resolve(text).and_then(|id| store.load(&id));
    let (run, arm) = match (whole, text.rsplit_once('/')) {
        (Ok(run), _) => (run, None),
        (Err(_), Some((run, arm))) => (store.load(&store.resolve(run)?)?, Some(arm)),
        (Err(error), None) => return Err(error.into()),
    };
    match arm {
        Some(arm) => Ok(StoredPair { pairing: pairing(&run, arm, None)?, run }),
        None if run.plan.arms.count() == 2 => Ok(StoredPair::first(run)),
        None => {
            let arms = run.plan.arms.indices().skip(1).map(|arm| format!("{text}/{arm}"));
            Err(Failure::Usage(format!(
                "run {} has {} arms; name the one to compare with base: {}",
                run.id,
                run.plan.arms.count(),
                arms.collect::<Vec<_>>().join(", ")
            )))
        }
    }
}

/// Loads a run, and chooses what `--arm` and `--against` ask for.
///
/// # Errors
/// No such run, or no such arm.
pub(crate) fn choose(
    store: &Store,
    run: &str,
    arm: Option<&str>,
    against: Option<&Against>,
) -> Result<(Run, RunSelection), Failure> {
    let run = store.load(&store.resolve(run)?)?;
    let selection = match (arm, against) {
        (Some(arm), against) => RunSelection::Pair(pairing(&run, arm, against)?),
        (None, None) if run.plan.arms.count() == 2 => RunSelection::Pair(Pairing::USUAL),
        (None, Some(Against::Arm(arm))) => RunSelection::All(Reference::Arm(arm_named(&run, arm)?)),
        (None, Some(Against::Before)) => RunSelection::All(Reference::Before),
        (None, None) => RunSelection::All(usual(&run)),
    };
    Ok((run, selection))
}
