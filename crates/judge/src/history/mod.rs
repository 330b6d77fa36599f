//! What many runs say together.
//!
//! ```text
//!   stored runs ─▶ series: same load, clients, tables and kind of server; the version may differ
//!   a file      ─▶ series: one for each column of numbers, and for each test, host …
//!                    └─▶ stats::change ─▶ shifts, slides, modes
//!                          ├─▶ what of the environment changed there too
//!                          └─▶ the same without the latest runs: what is new, what lapsed
//! ```
//!
//! A run has two arms. Where the runs have their base arm in common, it is the control: the ratio
//! of the arms is the series, and a change of the host falls out. Else there are raw rates, and a
//! change of the host looks like a change of the server; the reader is told.

mod alike;
mod asked;
mod causes;
mod cells;
mod counters;
mod csv;
mod dimensions;
mod direction;
mod documents;
mod endings;
mod failures;
mod figures;
mod file;
mod forms;
mod gaps;
mod gate;
mod idle;
mod influx;
mod jmh;
mod json;
mod kinds;
mod lists;
mod markdown;
mod names;
mod namesakes;
mod one_run;
mod order;
mod parameters;
mod pgbench;
mod repeats;
mod resembling;
mod stated;
mod table;
mod times;
mod units;
mod unmeasured;
mod versions;
mod vocabulary;
mod when;
mod words;

use std::rc::Rc;

use dbdyno_model::latest_doubt::{
    LAPSED_ALARM, LATEST_FAR, MODE_SHIFT, SMALL_STEPS, SPREAD_SHIFT, UNPROVED_STEP,
};
use dbdyno_model::{
    BenchmarkHistory, Better, Cause, ChangeScale, HistoryPoint, HistorySeries, LapsedShift, Modes,
    SeriesChanges, Severity, Shift, ShiftWeight, Slide, Warning,
};
use dbdyno_stats::{self as stats, StatsError};

use crate::error::JudgeError;

pub use asked::{DecimalMark, FileAsked, OrderAsked};
pub use figures::{Gathering, LEFT_OUT, RunFigure};
pub use file::of_file;
pub use gate::judge_gate;

/// Permutations of E-divisive.
const E_DIVISIVE_DRAWS: u32 = 199;
/// So many of the latest values are taken away, one by one, to see what they changed.
const LOOK_BACK: usize = 8;
/// The code of a warning: a column has numbers in a form that is not read.
pub(crate) const UNREAD: &str = "unread";
/// The code of a warning: there are too few values to prove a change.
const TOO_SHORT: &str = "too-short";
/// Squares of the numbers of values of all series: the time that is taken goes with them, and that
/// of twenty series of the longest that are taken is some ten minutes.
const SQUARES_MOST: f64 = 20.0 * 1e8;
/// So many of the latest values, with strays among them, are looked at together.
const LATEST: usize = 10;
/// So many strays among them are no single bad nights.
const LATEST_STRAYS_LEAST: usize = 3;
/// Where strays lie anywhere with a larger chance of as many there, they are as usual.
const LATEST_STRAYS_CHANCE: f64 = 0.02;
/// A level that wanders has longer stretches on one side.
const LATEST_APART_MOST: usize = 40;
/// Of so many of the latest values half may lie beyond all before.
const LATEST_HALF_MOST: usize = 20;
/// A level and its noise begin within so many values of each other.
const SAME_PLACE_REACH: usize = 5;
/// So many values that were left out are named in a note.
const STRAYS_NAMED_MOST: usize = 6;
/// So many changes in one direction and none in the other have a chance of 1 in 32 where both are
/// as likely.
const ONE_SIDED_LEAST: usize = 6;

/// What is asked of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryQuestion {
    /// Loads to be looked at; empty for all.
    pub loads: Vec<String>,
    /// Numbers of clients to be looked at; empty for all.
    pub clients: Vec<u32>,
    /// Figures, or columns of a file; empty for those that say most.
    pub figures: Vec<String>,
    /// Rows of a file to be looked at: name of a column and its value.
    pub filters: Vec<(String, String)>,
    /// Which direction is good, where a name does not tell.
    pub better: Option<Better>,
    /// Smallest change that alarms, as a share.
    pub budget: f64,
    /// Least chance that a value of the new level lies beyond one of the old one, for an alarm.
    pub superiority: f64,
    /// With so many of the latest values missing it is looked, too, when a change was first found;
    /// with eight at least.
    pub look_back: usize,
    /// Only so many of the latest values.
    pub last: Option<usize>,
    /// What a file does not say of itself.
    pub file: FileAsked,
}

#[cfg(test)]
impl HistoryQuestion {
    /// Of these figures, with what a user gets who asks for nothing else.
    pub(crate) fn of_figures(figures: &[&str]) -> HistoryQuestion {
        HistoryQuestion {
            loads: Vec::new(),
            clients: Vec::new(),
            figures: figures.iter().map(|&name| name.to_owned()).collect(),
            filters: Vec::new(),
            better: None,
            budget: dbdyno_model::USUAL_BUDGET,
            superiority: 0.9,
            look_back: 0,
            last: None,
            file: FileAsked::default(),
        }
    }
}

/// A series before it is judged.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub name: String,
    pub about: String,
    pub metric: String,
    pub better: Better,
    pub points: Vec<HistoryPoint>,
    /// Facts of each point, by name.
    pub facts: Vec<Rc<causes::Facts>>,
    pub warnings: Vec<Warning>,
}

/// Judges series.
pub(crate) fn judge_series(
    source: &str,
    raws: Vec<Raw>,
    question: &HistoryQuestion,
    mut warnings: Vec<Warning>,
) -> Result<BenchmarkHistory, JudgeError> {
    let most = question.last.unwrap_or(usize::MAX);
    let counts: Vec<usize> = raws.iter().map(|raw| raw.points.len().min(most)).collect();
    refuse_too_many_values(&counts)?;
    let series: Vec<HistorySeries> =
        raws.into_iter().map(|raw| judge_one(raw, question)).collect::<Result<_, JudgeError>>()?;
    warnings.extend(one_sided(&series));
    Ok(BenchmarkHistory {
        source: source.to_owned(),
        budget: question.budget,
        superiority: question.superiority,
        alpha: stats::DECISION_ALPHA,
        series,
        warnings,
    })
}

/// Refuses series of so many values each that would take longer together than [`SQUARES_MOST`]
/// says.
fn refuse_too_many_values(counts: &[usize]) -> Result<(), JudgeError> {
    let squares: f64 = counts.iter().map(|&count| (count as f64).powi(2)).sum();
    if squares <= SQUARES_MOST {
        return Ok(());
    }
    let longest = counts.iter().copied().max().unwrap_or_default();
    let last = (SQUARES_MOST / counts.len() as f64).sqrt() as usize;
    Err(JudgeError::History(format!(
        "{} series of up to {longest} values would take many minutes; --last {last} takes the \
         latest of each, and --metric, --load, --clients and --where fewer series",
        counts.len()
    )))
}

fn judge_one(mut raw: Raw, question: &HistoryQuestion) -> Result<HistorySeries, JudgeError> {
    if let Some(last) = question.last {
        let away = raw.points.len().saturating_sub(last);
        raw.points.drain(..away);
        raw.facts.drain(..away);
    }
    let values: Vec<f64> = raw.points.iter().map(|point| point.value).collect();
    let is_positive = values.iter().all(|&value| value > 0.0);
    let scale = if is_positive { ChangeScale::Share } else { ChangeScale::Difference };
    let options = stats::ChangeOptions {
        superiority: question.superiority,
        scale,
        ..stats::ChangeOptions::with_budget(question.budget)
    };
    let changes = stats::change_points(&values, &options).map_err(|error| match error {
        StatsError::TooMany { count, most } => JudgeError::History(format!(
            "the series {:?} has {count} values, and at most {most} are judged together; --last \
             {most} takes the latest",
            raw.name
        )),
        error => error.into(),
    })?;
    let Past { first_found, first_alarmed, lapsed, lapsed_alarms } =
        looked_back(&values, &changes, &options, question.look_back)?;
    let causes: Vec<Vec<Cause>> =
        changes.shifts.iter().map(|shift| causes::shift_causes(shift, &raw.facts)).collect();
    let e_divisive = if values.len() <= stats::E_DIVISIVE_MOST {
        Some(stats::e_divisive(&values, options.alpha, E_DIVISIVE_DRAWS, options.seed)?)
    } else {
        None
    };
    let mut warnings = raw.warnings;
    warnings.extend(notes(values.len(), &changes, scale));
    warnings.extend(latest_far(&values, &changes, raw.better, &options, question));
    warnings.extend(unproved(&values, &changes, raw.better, &options, question));
    warnings.extend(small_steps(&changes, raw.better, scale, question, values.len()));
    let of_modes = stats::mode_shifts(&values, &changes, &options)?;
    let asked = values.len().saturating_sub(question.look_back.max(LOOK_BACK));
    warnings.extend(of_modes.iter().map(|shift| moved_mode(shift, raw.better, scale, asked)));
    let mut recent = lapsed_alarms.iter().filter(|(shift, _)| asked <= shift.first);
    warnings.extend(
        recent.find_map(|(shift, found_with)| {
            alarm_that_lapsed(shift, *found_with, raw.better, scale)
        }),
    );
    let of_spread = stats::spread_shift(&values, &changes, &options);
    warnings.extend(of_spread.map(|shift| moved_spread(&shift, &changes, asked)));
    if !warnings.iter().any(|one| one.is_latest_doubt(false)) {
        warnings.extend(latest_apart(&values, &changes, raw.better, &options, question));
    }
    warnings.extend(causes::mixed_hosts(&raw.facts));
    warnings.extend(causes::work_gone(&raw.facts));
    Ok(HistorySeries {
        name: raw.name,
        about: raw.about,
        metric: raw.metric,
        better: raw.better,
        scale,
        points: raw.points,
        changes,
        causes,
        first_found,
        first_alarmed,
        lapsed,
        e_divisive,
        warnings,
    })
}

/// What was found with fewer values.
struct Past {
    first_found: Vec<Option<usize>>,
    first_alarmed: Vec<Option<usize>>,
    lapsed: Vec<LapsedShift>,
    /// Those of them that alarmed, and with how many values at most; in falling order of these.
    lapsed_alarms: Vec<(Shift, usize)>,
}

/// When each shift was first found, and which shifts were found and are not any more.
fn looked_back(
    values: &[f64],
    changes: &SeriesChanges,
    options: &stats::ChangeOptions,
    look_back: usize,
) -> Result<Past, JudgeError> {
    let back = look_back.max(LOOK_BACK);
    let shortest = values.len().saturating_sub(back).max(stats::CHANGE_VALUES_LEAST);
    let mut first_found = vec![Some(values.len()); changes.shifts.len()];
    let mut first_alarmed = first_found.clone();
    let mut lapsed: Vec<(Shift, usize)> = Vec::new();
    for length in (shortest..values.len()).rev() {
        let earlier = stats::change_points(&values[..length], options)?;
        for shift in earlier.shifts {
            let same = |other: &Shift| stats::is_same_shift(&shift, other);
            if let Some(at) = changes.shifts.iter().position(same) {
                let is_first = length > shortest || shortest == stats::CHANGE_VALUES_LEAST;
                first_found[at] = is_first.then_some(length);
                if shift.weight == ShiftWeight::Alarm {
                    first_alarmed[at] = first_found[at];
                }
            } else if !lapsed.iter().any(|(known, _)| stats::is_same_shift(known, &shift)) {
                lapsed.push((shift, length));
            }
        }
    }
    let alarms = lapsed.iter().filter(|(shift, _)| shift.weight == ShiftWeight::Alarm);
    let lapsed_alarms = alarms.cloned().collect();
    let lapsed = lapsed.into_iter();
    let lapsed = lapsed.map(|(shift, found_with)| LapsedShift { first: shift.first, found_with });
    Ok(Past { first_found, first_alarmed, lapsed: lapsed.collect(), lapsed_alarms })
}

fn notes(count: usize, changes: &SeriesChanges, scale: ChangeScale) -> Vec<Warning> {
    let mut notes = Vec::new();
    if count < stats::CHANGE_VALUES_LEAST {
        let text = format!(
            "{count} values are too few to prove a change; at least {} are needed",
            stats::CHANGE_VALUES_LEAST
        );
        notes.push(Warning::new(Severity::Caution, TOO_SHORT, text));
    }
    if !changes.strays.is_empty() {
        let named = changes.strays.iter().take(STRAYS_NAMED_MOST);
        let named: Vec<String> = named.map(|stray| (stray + 1).to_string()).collect();
        let more = match changes.strays.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let noun = if changes.strays.len() == 1 { "value" } else { "values" };
        let text = format!(
            "Far from all around them, and left out of the tests: {noun} {}{more}. Fewer than four \
             values together are no level.",
            named.join(", ")
        );
        notes.push(Warning::new(Severity::Note, "strays", text));
    }
    for Slide { from, to, size: slid } in &changes.slides {
        let text = format!(
            "Values {} to {} slide by {} rather than step; look for what grows, such as tables, \
             logs or fragmentation.",
            from + 1,
            to,
            size_written(*slid, scale)
        );
        notes.push(Warning::new(Severity::Caution, "slides", text));
    }
    notes.extend(changes.modes.map(|modes| two_modes(&modes, count - changes.strays.len(), scale)));
    notes
}

/// Two levels of `count` values, between which they go from run to run, or stay for some.
fn two_modes(modes: &Modes, count: usize, scale: ChangeScale) -> Warning {
    let Modes { apart, share_upper, crossings } = *modes;
    let apart = size_written(apart, scale);
    let levels = format!(
        "two levels {} apart, {:.0} % of them at the upper one",
        apart.trim_start_matches('+'),
        100.0 * share_upper
    );
    let expected = 2.0 * share_upper * (1.0 - share_upper) * count as f64;
    let text = if crossings as f64 >= expected / 2.0 {
        format!(
            "Values jump between {levels}; look for what differs from run to run, such as memory \
             layout, placement or a second host."
        )
    } else {
        format!(
            "Values stay for some {:.0} runs each at {levels}; look for what lasts that long, such \
             as a host, a setting or a set of data.",
            count as f64 / (crossings + 1) as f64
        )
    };
    Warning::new(Severity::Caution, "two-modes", text)
}

/// That a change to the worse alarmed with fewer values and is no longer found: a gate that failed
/// for it a few runs ago has no reason to pass now.
fn alarm_that_lapsed(
    shift: &Shift,
    found_with: usize,
    better: Better,
    scale: ChangeScale,
) -> Option<Warning> {
    let size = shift.size.estimate;
    ((size < 0.0) == (better == Better::Higher)).then(|| {
        let text = format!(
            "A change of {} from value {} on alarmed with the first {found_with} values and is no \
             longer found: single runs decide it, and more of them would.",
            size_written(size, scale),
            shift.first + 1
        );
        Warning::new(Severity::Caution, LAPSED_ALARM, text)
    })
}

/// What of the latest values lies far from those before.
fn latest_far(
    values: &[f64],
    changes: &SeriesChanges,
    better: Better,
    options: &stats::ChangeOptions,
    question: &HistoryQuestion,
) -> Vec<Warning> {
    let now_and_then = bad_now_and_then(values, changes, better, question);
    let latest = latest(values, changes, better, options);
    let latest = latest.or_else(|| match now_and_then {
        Some(_) => None,
        None => latest_strays(values, changes, better),
    });
    latest.into_iter().chain(now_and_then).collect()
}

/// What lies at the end and is no level yet, or no single bad night.
fn latest(
    values: &[f64],
    changes: &SeriesChanges,
    better: Better,
    options: &stats::ChangeOptions,
) -> Option<Warning> {
    let latest = stats::latest_values(values, changes, options)?;
    let of = match latest.count {
        1 => "The latest value is".to_owned(),
        count => format!("The latest {count} values are"),
    };
    let of_strays = match strays_of_latest(values, changes) {
        [] => String::new(),
        strays => format!(", and {} of those right before lie far away, too", strays.len()),
    };
    let text = format!(
        "{of} far from the level before: {}{of_strays}. That is too few to tell a level from bad \
         nights; the next runs do.",
        size_written(latest.size, options.scale)
    );
    let is_worse = (latest.size < 0.0) == (better == Better::Higher);
    let severity = if is_worse { Severity::Caution } else { Severity::Note };
    Some(Warning::new(severity, LATEST_FAR, text))
}

/// The strays among the latest values.
fn strays_of_latest<'c>(values: &[f64], changes: &'c SeriesChanges) -> &'c [usize] {
    let from = values.len().saturating_sub(LATEST);
    &changes.strays[changes.strays.partition_point(|&stray| stray < from)..]
}

/// That so many of the latest values are strays as are no single bad nights, nor the share that a
/// series has of them from the beginning.
fn latest_strays(values: &[f64], changes: &SeriesChanges, better: Better) -> Option<Warning> {
    let strays = strays_of_latest(values, changes);
    let latest = values.len().min(LATEST);
    let (all, few) = (changes.strays.len(), strays.len());
    let chance = stats::chance_of_as_many(values.len(), latest, all, few);
    if few < LATEST_STRAYS_LEAST || chance > LATEST_STRAYS_CHANCE {
        return None;
    }
    let usual = changes
        .shifts
        .last()
        .map_or_else(|| stats::median(values).unwrap_or_default(), |last| last.after);
    let mut sides = strays.iter().map(|&at| values[at] < usual);
    let is_worse = sides.any(|is_below| is_below == (better == Better::Higher));
    let severity = if is_worse { Severity::Caution } else { Severity::Note };
    let text = format!(
        "{few} of the latest {latest} values lie far from those around them: more than bad nights \
         now and then."
    );
    Some(Warning::new(severity, LATEST_FAR, text))
}

/// That more of the latest runs are far to one side than of those before, where the median is the
/// same: since the last level that alarms, which is told by itself. To the better that is a remark,
/// which hides nothing.
fn bad_now_and_then(
    values: &[f64],
    changes: &SeriesChanges,
    better: Better,
    question: &HistoryQuestion,
) -> Option<Warning> {
    let sides =
        [(better, "worse", Severity::Caution), (better.opposite(), "better", Severity::Note)];
    sides.into_iter().find_map(|(better, side, severity)| {
        let (count, excess) = far_now_and_then(values, changes, better, question)?;
        let before = count - excess.latest;
        let before = match excess.far_before {
            0 => format!("none of the {before} before is"),
            1 => format!("1 of the {before} before is"),
            far => format!("{far} of the {before} before are"),
        };
        let text = format!(
            "{} of the latest {} values are far to the {side}, at {} where {} is usual, and \
             {before}: the typical value hides what happens now and then.",
            excess.far,
            excess.latest,
            value_written(excess.typical_far),
            value_written(excess.usual),
        );
        Some(Warning::new(severity, LATEST_FAR, text))
    })
}

/// Values far to the worse, if this is the better side, and of how many values they are an excess.
fn far_now_and_then(
    values: &[f64],
    changes: &SeriesChanges,
    better: Better,
    question: &HistoryQuestion,
) -> Option<(usize, stats::FarExcess)> {
    let is_higher = better == Better::Higher;
    // A slide of nothing is none that could make the latest values bad.
    let mut slides = changes.slides.iter().filter(|slide| slide.size.abs() >= question.budget);
    if slides.any(|slide| (slide.size < 0.0) == is_higher) {
        return None;
    }
    // The first value of the last level, and of the last one that was to the worse.
    let mut levels = vec![0, 0];
    for shift in changes.shifts.iter().filter(|shift| shift.weight == ShiftWeight::Alarm) {
        let is_worse = (shift.size.estimate < 0.0) == is_higher;
        levels = vec![shift.first, if is_worse { shift.first } else { levels[1] }];
    }
    levels.dedup();
    levels.into_iter().find_map(|first| {
        let values = &values[first..];
        let excess = stats::far_excess(values, question.look_back, is_higher, question.budget)?;
        Some((values.len(), excess))
    })
}

/// That a step among few values, or behind the last level, is neither proved nor nothing: a caution
/// where it is to the worse and among the values that are asked about.
fn unproved(
    values: &[f64],
    changes: &SeriesChanges,
    better: Better,
    options: &stats::ChangeOptions,
    question: &HistoryQuestion,
) -> Option<Warning> {
    let step = stats::unproved_step(values, changes, options)?;
    let asked = values.len().saturating_sub(question.look_back.max(LOOK_BACK));
    let is_worse = (step.after < step.before) == (better == Better::Higher);
    let severity = if is_worse && step.first >= asked { Severity::Caution } else { Severity::Note };
    let text = format!(
        "From value {} on all values lie apart from those right before, at {} where {} was usual, \
         but {} values are too few to tell that from noise that goes somewhere and stays for some \
         runs: a few more would.",
        step.first + 1,
        value_written(step.after),
        value_written(step.before),
        step.count
    );
    Some(Warning::new(severity, UNPROVED_STEP, text))
}

/// That all of the latest values are worse than all right before them, where nothing else says it;
/// or better, which is a remark.
fn latest_apart(
    values: &[f64],
    changes: &SeriesChanges,
    better: Better,
    options: &stats::ChangeOptions,
    question: &HistoryQuestion,
) -> Option<Warning> {
    let most = question.look_back.clamp(LOOK_BACK, LATEST_APART_MOST);
    let is_higher = better == Better::Higher;
    // A level that slides to the end is told by itself.
    if changes.slides.iter().any(|slide| slide.to + LOOK_BACK >= values.len()) {
        return None;
    }
    let worse = stats::latest_apart(values, !is_higher, most, options);
    let worse = worse.map(|found| (found, "worse", Severity::Caution));
    let found = worse.or_else(|| {
        let better = stats::latest_apart(values, is_higher, most, options)?;
        Some((better, "better", Severity::Note))
    });
    let is_all = found.is_some();
    let whose = if is_all { "The latest" } else { "Of the latest runs" };
    let (found, side, severity) = found.or_else(|| {
        let half = stats::latest_half_beyond(values, !is_higher, LATEST_HALF_MOST, options)?;
        Some((half, "worse", Severity::Caution))
    })?;
    // What is known of a level that began within the same values.
    let looked_at = if is_all { most } else { most.max(LATEST_HALF_MOST) };
    let asked = values.len() - looked_at.min(values.len());
    let is_known = changes.shifts.iter().any(|shift| {
        let is_up = shift.size.estimate > 0.0;
        shift.first >= asked
            && shift.weight == ShiftWeight::Alarm
            && is_up == (found.after > found.before)
    });
    if is_known {
        return None;
    }
    let text = format!(
        "{whose} {} values are all {side} than each of the {} before, at {} where {} was usual: \
         that is seldom chance, and no proved change.",
        found.count,
        found.passed,
        value_written(found.after),
        value_written(found.before),
    );
    Some(Warning::new(severity, UNPROVED_STEP, text))
}

/// That changes to the worse among the latest values, each of which is within the budget, add up to
/// more than it.
fn small_steps(
    changes: &SeriesChanges,
    better: Better,
    scale: ChangeScale,
    question: &HistoryQuestion,
    count: usize,
) -> Option<Warning> {
    let asked = count.saturating_sub(question.look_back.max(LOOK_BACK));
    let steps: Vec<f64> = changes
        .shifts
        .iter()
        .filter(|shift| shift.first >= asked && shift.weight == ShiftWeight::WithinBudget)
        .map(|shift| shift.size.estimate)
        .collect();
    let sum = match scale {
        ChangeScale::Share => steps.iter().map(|step| 1.0 + step).product::<f64>() - 1.0,
        // The budget of differences is a share of the median, which sizes are not.
        ChangeScale::Difference => return None,
    };
    let is_worse = (sum < 0.0) == (better == Better::Higher);
    (steps.len() > 1 && is_worse && sum.abs() >= question.budget).then(|| {
        let text = format!(
            "{} changes among the latest values, each within the budget, add up to {}.",
            steps.len(),
            size_written(sum, scale)
        );
        Warning::new(Severity::Caution, SMALL_STEPS, text)
    })
}

/// That one of two levels has moved: a caution where that is to the worse and among the values that
/// are asked about.
fn moved_mode(
    shift: &stats::ModeShift,
    better: Better,
    scale: ChangeScale,
    asked: usize,
) -> Warning {
    let is_worse = (shift.size < 0.0) == (better == Better::Higher);
    let severity =
        if is_worse && shift.first >= asked { Severity::Caution } else { Severity::Note };
    let text = format!(
        "Of the two levels the one at {:.4} has moved by {} from value {} on; the other one hides \
         that. Look at each by itself, such as with --where.",
        shift.before,
        size_written(shift.size, scale),
        shift.first + 1
    );
    Warning::new(severity, MODE_SHIFT, text)
}

/// That values scatter more, or less, around their level: a caution where it is more, among the
/// values that are asked about, and no level alarms there, which has noise of its own. The typical
/// value says nothing of it.
fn moved_spread(shift: &stats::SpreadShift, changes: &SeriesChanges, asked: usize) -> Warning {
    let lie = spread_written(shift.ratio);
    let mut alarms = changes.shifts.iter().filter(|level| level.weight == ShiftWeight::Alarm);
    let is_of_level = alarms.any(|level| level.first.abs_diff(shift.first) <= SAME_PLACE_REACH);
    let is_told = shift.ratio > 1.0 && shift.first >= asked && !is_of_level;
    let severity = if is_told { Severity::Caution } else { Severity::Note };
    let text = format!(
        "From value {} on values lie {lie}: what changed is how alike runs are. \
         Look for what differs from run to run, such as a second host, a neighbour or shorter runs.",
        shift.first + 1
    );
    Warning::new(severity, SPREAD_SHIFT, text)
}

/// How values lie that scatter so many times as much as those before.
fn spread_written(ratio: f64) -> String {
    let (times, side) = if ratio > 1.0 { (ratio, "far from") } else { (1.0 / ratio, "near to") };
    if times.is_finite() {
        format!("{times:.1} times as {side} their level as those before")
    } else if ratio > 1.0 {
        "apart from each other, and most of those before do not".to_owned()
    } else {
        "at one level, and those before do not".to_owned()
    }
}

/// A value with four decimals at most.
fn value_written(value: f64) -> String {
    ((1e4 * value).round() / 1e4).to_string()
}

/// The size of a change, for people.
fn size_written(size: f64, scale: ChangeScale) -> String {
    match scale {
        ChangeScale::Share => format!("{:+.1} %", 100.0 * size),
        ChangeScale::Difference => format!("{size:+.4}"),
    }
}

/// Changes to the worse only, or to the better only: real servers have both.
fn one_sided(series: &[HistorySeries]) -> Option<Warning> {
    let sides = |one: &HistorySeries| -> Vec<bool> {
        one.changes.shifts.iter().map(|shift| one.is_worse(shift.size.estimate)).collect()
    };
    let (worse, better): (Vec<bool>, Vec<bool>) =
        series.iter().flat_map(sides).partition(|&is_worse| is_worse);
    if worse.len() + better.len() < ONE_SIDED_LEAST || !(worse.is_empty() || better.is_empty()) {
        return None;
    }
    let direction = if better.is_empty() { "worse" } else { "better" };
    let text = format!(
        "All {} changes are to the {direction}: what only ever goes one way is often the process \
         and not the server. Look for tables that grow, a disk that fills, a host that ages.",
        worse.len() + better.len()
    );
    Some(Warning::new(Severity::Caution, "one-sided", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1 900 series each was within its limit, and all of them together had none.
    #[test]
    fn more_values_than_can_be_judged_are_refused_with_what_takes_fewer() {
        let error = refuse_too_many_values(&[9_000; 26]).unwrap_err().to_string();
        assert!(error.contains("26 series of up to 9000 values"), "{error}");
        assert!(error.contains("--last 8770 takes"), "{error}");
        for counts in [&[8_770; 26][..], &[10_000; 20], &[400; 10_000]] {
            assert!(refuse_too_many_values(counts).is_ok());
        }
    }
}
