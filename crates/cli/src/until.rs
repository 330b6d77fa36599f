//! `--detect`, `--power`, `--until` and `--limit`: what is wanted of a run, in place of a number of
//! rounds.

use dbdyno_judge::forecast::{End, Extension, Numbers, Wish};
use dbdyno_model::{Plan, Run, WantedWords};

use crate::args::{Compare, Resume, Until};
use crate::failure::Failure;

/// The plan that the flags want, and what is to be said of it beside the plan.
///
/// # Errors
/// What cannot be found, or cannot be looked at.
pub(crate) fn aim_plan(
    plan: Plan,
    flags: &Compare,
    known: &[Run],
) -> Result<(Plan, Vec<String>), Failure> {
    let given = flags.rounds.is_some() || flags.restarts.is_some();
    let wish = Wish {
        detect: flags.detect.map(|effect| (effect, flags.power)),
        end: end_of(flags.until),
        limit: flags.limit,
        numbers: numbers(given),
        warm_up: numbers(flags.warm_up.is_some()),
    };
    dbdyno_judge::forecast::plan_for_wish(plan, &wish, known).map_err(Failure::Usage)
}

fn numbers(are_given: bool) -> Numbers {
    if are_given { Numbers::Given } else { Numbers::Usual }
}

/// How a run is to be made longer; `None`: it is not.
pub(crate) fn requested_extension(flags: &Resume) -> Option<Extension> {
    let is_wanted = flags.rounds.is_some() || flags.until.is_some() || flags.limit.is_some();
    is_wanted.then_some(Extension { pairs: flags.rounds, limit: flags.limit })
}

/// The flags that stand in a command in place of numbers, but for numbers that are given.
pub(crate) fn in_words(flags: &Compare) -> WantedWords {
    let detect = flags
        .detect
        .map(|effect| format!("--detect {}% --power {}%", effect * 100.0, flags.power * 100.0));
    let until = flags.until.map(|Until::Decided| "--until decided".to_owned());
    let limit = flags.limit.map(|limit| format!("--limit {}s", limit.as_secs_f64()));
    let flags_of: Vec<String> = [detect, until, limit].into_iter().flatten().collect();
    let numbers = [("pairs", flags.rounds), ("restarts", flags.restarts)];
    let unsaid = numbers.into_iter().filter(|(_, given)| given.is_none() && !flags_of.is_empty());
    let in_place_of = unsaid.map(|(term, _)| term).collect();
    WantedWords { flags: flags_of, in_place_of }
}

fn end_of(until: Option<Until>) -> End {
    match until {
        Some(Until::Decided) => End::Decided,
        None => End::Planned,
    }
}
