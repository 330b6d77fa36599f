//! Change points: where the level of a series of runs changed, by how much, how sure.
//!
//! ```text
//!   values ─▶ strays put aside
//!          ─▶ scores ─▶ step or bump that stands out most ─▶ null ─▶ p ≤ α ? cut : jump?
//!               ▲ tree: each part again, at half the α ◀───────────────────────┘
//!   no cut in a part ─▶ does it slide, or bend?
//!   cuts ─▶ a line explains it better? slide : settle ─▶ shift with size and place, given that
//!                                                        it was found
//!   what is left around the levels ─▶ two modes?
//! ```
//!
//! The usual tools run a t-test at the split that they chose because it is the best one, and find
//! changes in one series of ten in which nothing changes, in four of five where neighbours resemble
//! each other a lot (`docs/COMPARE.md`). Here the statistic that is tested *is* the largest over
//! all places, and its null is the same largest of the same values in any other order, or of noise
//! as correlated as the values are.
//!
//! What is found of correlated series is what does not look correlated, and noise moves a step
//! farther there: sizes and places take the correlation that is measured larger, the more so the
//! fewer values there are ([`Correlation::with_wariness`]). How much was chosen by series of 30 to
//! 240 values with φ of 0, 0.3 and 0.6, in which a step of 1.5, 2 or 3 standard deviations lies in
//! the middle or after the first fifth.
//!
//! [`Correlation::with_wariness`]: crate::correlation::Correlation::with_wariness
//!
//! *Assumed*: at most one kind of noise, whose neighbours resemble each other like AR(1) with a
//! correlation below about 0.9. A rhythm (nights, weekends) that is longer than a few runs is a
//! change to this function. Values of runs that were dropped because of their value are not what it
//! expects.
//!
//! A shift alarms when it is as large as the budget *and* single values of the two levels hardly
//! overlap. The second keeps series with two modes, one of which became rarer, from alarming.

mod apart;
mod bend;
mod beyond;
mod energy;
mod excess;
mod jump;
mod latest;
mod null;
mod place;
mod rate;
mod scores;
mod selection;
mod shape;
mod sides;
mod size;
mod spread;
mod stray;
mod tree;
mod trend;
mod unproved;

use dbdyno_model::{ChangeScale, Interval, SeriesChanges, Shift, ShiftWeight, Slide};

use crate::confidence::SHOWN_CONFIDENCE;
use crate::error::StatsError;
use crate::median::median_or_nan;
use null::Look;
use scores::Scan;
use selection::SelectedSize;
use tree::SeriesCut;

pub use apart::{LatestApart, latest_apart, latest_half_beyond};
pub use energy::{E_DIVISIVE_MOST, e_divisive};
pub use excess::{FarExcess, far_excess};
pub use latest::{LatestValues, latest_values};
pub use rate::chance_of_as_many;
pub use sides::{ModeShift, mode_shifts};
pub use spread::SpreadShift;
pub use unproved::{UnprovedStep, unproved_step};

/// Fewer values than this show no change at all at 1 %: with 12 there are 924 ways to part them
/// in halves.
pub const CHANGE_VALUES_LEAST: usize = 12;
/// More values than this are not taken.
pub(crate) const CHANGE_VALUES_MOST: usize = 10_000;

/// Of the chance of any change that is told by itself: distances of neighbours that resemble each
/// other have heavier tails than what steps are tested against.
const SPREAD_SHARE: f64 = 0.25;

/// So many values that lie surely on their side of a step, on each side, tell how far its levels
/// overlap.
const SURE_VALUES_LEAST: usize = 8;

/// What is asked of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeOptions {
    /// Chance of any change in a series in which nothing changes.
    pub alpha: f64,
    /// Smallest size that matters: a share, whatever the scale; of differences it is taken of the
    /// median of all absolute values.
    pub budget: f64,
    /// Least chance that a value of the new level lies beyond one of the old one, for an alarm.
    pub superiority: f64,
    /// How sizes are told.
    pub scale: ChangeScale,
    /// Seed of the draws.
    pub seed: u64,
}

impl ChangeOptions {
    /// The level at which everything is decided, and superiority 0.9.
    ///
    /// Assumes values that are positive and whose noise is a percentage: sizes are told as shares,
    /// by [`ChangeScale::Share`].
    pub fn with_budget(budget: f64) -> ChangeOptions {
        ChangeOptions {
            alpha: crate::DECISION_ALPHA,
            budget,
            superiority: 0.9,
            scale: ChangeScale::Share,
            seed: 1,
        }
    }
}

/// The changes in `values`, which are in the order of time.
///
/// Fewer than [`CHANGE_VALUES_LEAST`] show none. A function of its arguments: the same values give
/// the same answer, the same values in another unit too, and the same values backwards give the
/// changes backwards up to what numbers of draws decide.
///
/// Assumes that beside its changes a series has noise of one kind, of any distribution, whose
/// neighbours are independent or resemble each other like AR(1) with a correlation below about 0.9;
/// that it has no rhythm of several values; and that no value is missing because of its size.
///
/// # Errors
/// No values or too many, values that are not finite; with [`ChangeScale::Share`] values that are
/// not positive; an `alpha` that does not lie between 0 and 1.
pub fn change_points(values: &[f64], options: &ChangeOptions) -> Result<SeriesChanges, StatsError> {
    check(values)?;
    if !(options.alpha > 0.0 && options.alpha < 1.0) {
        return Err(StatsError::Confidence(1.0 - options.alpha));
    }
    let scaled = scaled(values, options.scale)?;
    if values.len() < CHANGE_VALUES_LEAST {
        return Ok(SeriesChanges::default());
    }
    let kept = stray::indices_without_strays(&scaled);
    let mut changes = changes_among(&those(values, &kept), &scaled, &kept, options);
    for shift in &mut changes.shifts {
        for place in [&mut shift.first, &mut shift.earliest, &mut shift.latest] {
            *place = kept[*place];
        }
    }
    for slide in &mut changes.slides {
        (slide.from, slide.to) = (kept[slide.from], kept[slide.to - 1] + 1);
    }
    changes.strays = (0..values.len()).filter(|at| kept.binary_search(at).is_err()).collect();
    Ok(changes)
}

fn those(values: &[f64], kept: &[usize]) -> Vec<f64> {
    kept.iter().map(|&at| values[at]).collect()
}

/// The changes in values of which none is a stray, at the places `kept` of all; places are those
/// among them.
fn changes_among(
    values: &[f64],
    all_scaled: &[f64],
    kept: &[usize],
    options: &ChangeOptions,
) -> SeriesChanges {
    let scaled = &those(all_scaled, kept)[..];
    let mut root = tree::grow_tree(scaled, 0, scaled.len(), options.alpha, options.seed);
    let mut slides = Vec::new();
    shape::extract_slides(scaled, &mut root, options.scale, options.seed, &mut slides);
    let mut cuts = root.all_cuts();
    // Where levels slide a step is not where their middles part.
    if slides.is_empty() {
        tree::settle_cuts(scaled, &mut cuts, 0, scaled.len());
        spread::drop_unproved_cuts(all_scaled, kept, &mut cuts, options.alpha, options.seed);
    }
    let shifts = shifts(values, scaled, &cuts, &slides, options);
    let firsts: Vec<usize> = cuts.iter().map(|cut| cut.first).collect();
    let left = size::around_levels(scaled, &firsts);
    let modes = if slides.is_empty() { shape::find_modes(&left, options.scale) } else { None };
    let scores = scores::normal_scores(&left);
    let best = Scan::of_length(scores.len()).best_step(&scores);
    let autocorrelation = null::correlation(Look::Step, &scores, &best).phi;
    SeriesChanges { shifts, slides, modes, autocorrelation, strays: Vec::new() }
}

fn check(values: &[f64]) -> Result<(), StatsError> {
    match values.iter().enumerate().find(|(_, value)| !value.is_finite() || value.abs() > 1e100) {
        _ if values.is_empty() => Err(StatsError::Empty),
        _ if values.len() > CHANGE_VALUES_MOST => {
            Err(StatsError::TooMany { count: values.len(), most: CHANGE_VALUES_MOST })
        }
        Some((index, &value)) => Err(StatsError::NotFinite { index, value }),
        None => Ok(()),
    }
}

/// Values on the scale on which sizes add up.
fn scaled(values: &[f64], scale: ChangeScale) -> Result<Vec<f64>, StatsError> {
    match scale {
        ChangeScale::Share => values
            .iter()
            .enumerate()
            .map(|(index, &value)| {
                if value > 0.0 {
                    Ok(value.ln())
                } else {
                    Err(StatsError::NotPositive { index, value })
                }
            })
            .collect(),
        ChangeScale::Difference => Ok(values.to_vec()),
    }
}

fn shifts(
    values: &[f64],
    scaled: &[f64],
    cuts: &[SeriesCut],
    slides: &[Slide],
    options: &ChangeOptions,
) -> Vec<Shift> {
    let unit = size::budget_unit(values, options.scale);
    let end_of = |at: usize| cuts.get(at).map_or(values.len(), |cut| cut.first);
    let mut shifts = Vec::with_capacity(cuts.len());
    for (at, cut) in cuts.iter().enumerate() {
        let begin = if at == 0 { 0 } else { cuts[at - 1].first };
        let (first, end) = (cut.first, end_of(at + 1));
        let both = shape::level_slides(&scaled[begin..end], begin, first, slides);
        let (moved, above, (earliest, latest)) =
            size_and_place(&both, first - begin, cut.least_found, options.seed);
        let superiority = above.max(1.0 - above);
        let size = Interval {
            estimate: size::reported_size(moved.estimate, options.scale),
            low: size::reported_size(moved.low, options.scale),
            high: size::reported_size(moved.high, options.scale),
        };
        let weight = if size.estimate.abs() < options.budget * unit {
            ShiftWeight::WithinBudget
        } else if superiority < options.superiority {
            ShiftWeight::Overlaps
        } else {
            ShiftWeight::Alarm
        };
        shifts.push(Shift {
            first,
            earliest: (begin + earliest).min(first),
            latest: (begin + latest).max(first),
            p_value: cut.p_value,
            null: cut.null,
            size,
            before: level(&values[begin..first], &scaled[begin..first], &both[..first - begin]),
            after: level(&values[first..end], &scaled[first..end], &both[first - begin..]),
            superiority,
            weight,
        });
    }
    shifts
}

/// The level of values: their median; of what slides, which is levelled otherwise than it was
/// scaled, the value where it was cut.
fn level(values: &[f64], scaled: &[f64], levelled: &[f64]) -> f64 {
    if scaled == levelled {
        return median_or_nan(values);
    }
    let is_same_scale = scaled == values;
    let of_level = median_or_nan(levelled);
    if is_same_scale { of_level } else { of_level.exp() }
}

/// The step at `first` in `values`: its size, the chance that a value after it lies above one
/// before it, and the places that it may have. Steps of so many standard deviations of the noise
/// as `least_found` are found.
///
/// Values between the places that a step may have are of the old level or of the new one: where
/// there are enough others, they make no two levels overlap.
fn size_and_place(
    values: &[f64],
    first: usize,
    least_found: f64,
    seed: u64,
) -> (Interval, f64, (usize, usize)) {
    let correlation = null::correlation_around(&size::around_levels(values, &[first]));
    let (before, after) = values.split_at(first);
    let (size, above) = size::estimate_shift(before, after, SHOWN_CONFIDENCE, correlation);
    let error = size::standard_error(before, after, correlation);
    let z = place::step_size(values, first) / error;
    let SelectedSize { size, share } =
        SelectedSize::from_interval(size, SHOWN_CONFIDENCE, z, least_found / error);
    let (earliest, latest) = place::place_range(values, first, correlation, share, seed);
    let sure = (&before[..earliest.min(first)], &after[latest.max(first) - first..]);
    let above = if sure.0.len().min(sure.1.len()) < SURE_VALUES_LEAST {
        above
    } else {
        let (_, of_sure) = size::estimate_shift(sure.0, sure.1, SHOWN_CONFIDENCE, correlation);
        if (of_sure - 0.5).abs() > (above - 0.5).abs() { of_sure } else { above }
    };
    (size, above, (earliest, latest))
}

/// The latest change of the noise around the levels of `changes` by a factor of three and more.
///
/// Assumes values and the changes that were found in them with these options; noise whose
/// neighbours resemble each other no more than steps allow.
pub fn spread_shift(
    values: &[f64],
    changes: &SeriesChanges,
    options: &ChangeOptions,
) -> Option<SpreadShift> {
    let scaled = scaled(values, options.scale).ok()?;
    if values.len() < CHANGE_VALUES_LEAST || !changes.slides.is_empty() || changes.modes.is_some() {
        return None;
    }
    let firsts: Vec<usize> = changes.shifts.iter().map(|shift| shift.first).collect();
    let left = size::around_levels(&scaled, &firsts);
    spread::spread_shifts(&left, SPREAD_SHARE * options.alpha, options.seed).pop()
}

/// Whether two answers name the same change: each lies where the other may, or next to it. A place
/// that is sure may still move by one when values are appended.
///
/// Assumes answers about one series, counted from the same first value: later values may have been
/// appended, but none dropped before.
pub fn is_same_shift(one: &Shift, other: &Shift) -> bool {
    one.earliest <= other.latest + 1 && other.earliest <= one.latest + 1
}
