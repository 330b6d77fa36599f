//! A level that bends or jumps: it slides, or stays, and from some value on it slides another way,
//! or on another height.
//!
//! ```text
//!   ''::..        ..::       no step explains it, a bump is as correlated as noise that goes
//!        '::....::'          anywhere, and one line from end to end is flat
//!
//!   ''::..    ''::..         one line from end to end explains it better than steps do, and hides
//!         '':.      '::      that it has become worse
//! ```
//!
//! *Statistic:* of what one line leaves of the ranks, the share that two explain which meet at a
//! knee, or have one slope and a step between them, the largest over both and all places; whether
//! there is a slide from end to end does not matter to it. *Null:* the same largest of noise as
//! correlated as what the two lines leave, what such a fit takes put back (simulated, as for
//! steps). A latency that fell from 1 000 to 820 in 60 runs and rose to 1 054 in the next 40 was
//! told as one that does not change, and one that rose by 20 % at once while it fell by 0.2 % a run
//! as a slide to the better.

use dbdyno_model::random;

use super::null::{self, CORRELATION_MOST};
use super::trend::{self, VALUES_LEAST, VALUES_MOST};
use crate::agreement::average_ranks;
use crate::correlation::{Correlation, FitBias, variance_inflation};

/// Fewer values than this are no part of their own.
const PART_LEAST: usize = 6;
const DRAWS_MOST: u32 = 20_000;
/// What fitting two lines takes from the correlation of neighbours: 1 000 series for each of 20 to
/// 480 values and φ of 0 to 0.8.
const BIAS: FitBias = FitBias { fixed: 4.5, by_phi: 11.0 };
/// By so many standard errors the correlation is taken as larger than it looks, and by so many
/// n-ths more.
const CAUTION: (f64, f64) = (1.5, 15.0);
/// A part slides whose slope is so many of its standard errors.
const SLOPE_LEAST: f64 = 3.0;
/// A level that turns goes at least by this share of one way the other.
const TURN_LEAST: f64 = 0.25;
const ROUNDING: f64 = 1e-12;

/// What two lines do where one ends and the other begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BendKind {
    /// They meet.
    Knee,
    /// The second lies higher or lower.
    Jump,
}

/// Where a level bends or jumps, and which of its two parts slide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bend {
    pub kind: BendKind,
    /// The first value of the second part.
    pub first: usize,
    pub slides_before: bool,
    pub slides_after: bool,
    /// Chance of something as clear in noise of correlation `phi`.
    pub p_value: f64,
    pub phi: f64,
}

/// Where the values bend or jump, if they do, for a decision at `alpha`.
pub(crate) fn find(values: &[f64], alpha: f64, seed: u64) -> Option<Bend> {
    let n = values.len();
    if !(VALUES_LEAST..=VALUES_MOST).contains(&n) {
        return None;
    }
    let ranks = average_ranks(values);
    let shapes = [BendShapes::of(BendKind::Knee, n), BendShapes::of(BendKind::Jump, n)];
    let best = best_of(&shapes, &ranks)?;
    let left = shapes[best.kind as usize].left(&ranks, best.first);
    let Correlation { phi, standard_error } =
        Correlation::from_residuals(&left, BIAS, 0.0, ROUNDING);
    let caution = CAUTION.0 + CAUTION.1 / n as f64;
    let phi = (phi.max(0.0) + caution * standard_error).min(CORRELATION_MOST);
    let draws = ((1.0 / alpha).ceil() as u32).min(DRAWS_MOST);
    let mut stream = random::stream(&[seed, random::key_of("bend"), n as u64]);
    let mut noise = vec![0.0; n];
    for _ in 0..draws {
        null::simulate_noise(&mut stream, phi, &mut noise);
        if best_of(&shapes, &noise).is_some_and(|other| other.explained >= best.explained) {
            return None;
        }
    }
    let (before, after) = ranks.split_at(best.first);
    let bend = Bend {
        kind: best.kind,
        first: best.first,
        slides_before: has_slope(before, phi),
        slides_after: has_slope(after, phi),
        p_value: 1.0 / f64::from(draws + 1),
        phi,
    };
    (bend.kind == BendKind::Jump || bend.slides_before || bend.slides_after).then_some(bend)
}

/// The first value of the second part, where two lines explain most that meet, and one goes up and
/// the other down, neither by next to nothing.
pub(crate) fn find_turn(values: &[f64]) -> Option<usize> {
    if !(VALUES_LEAST..=VALUES_MOST).contains(&values.len()) {
        return None;
    }
    let first = BendShapes::of(BendKind::Knee, values.len()).best(&average_ranks(values))?.first;
    let (before, after) = (rise(&values[..first]), rise(&values[first..]));
    let turns = before * after < 0.0
        && before.abs().min(after.abs()) >= TURN_LEAST * before.abs().max(after.abs());
    turns.then_some(first)
}

/// The first value of the second part, where two lines with a jump between them explain most.
pub(crate) fn find_jump(values: &[f64]) -> Option<usize> {
    if !(VALUES_LEAST..=VALUES_MOST).contains(&values.len()) {
        return None;
    }
    Some(BendShapes::of(BendKind::Jump, values.len()).best(&average_ranks(values))?.first)
}

/// How far the line of least squares goes up from the first value to the last.
fn rise(values: &[f64]) -> f64 {
    trend::slope(values) * (values.len() - 1) as f64
}

/// Whether a line through these values is steeper than its error.
fn has_slope(part: &[f64], phi: f64) -> bool {
    let Some((strength, _)) = trend::fit_line(part) else { return false };
    let left = (1.0 - strength * strength).max(ROUNDING);
    let freedom = part.len() as f64 - 2.0;
    strength * (freedom / left / variance_inflation(phi)).sqrt() >= SLOPE_LEAST
}

/// Two lines that explain most.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BestBend {
    kind: BendKind,
    first: usize,
    /// The share that the second line explains of what one line leaves.
    explained: f64,
}

fn best_of(shapes: &[BendShapes; 2], values: &[f64]) -> Option<BestBend> {
    let found = shapes.iter().filter_map(|shapes| shapes.best(values));
    found.max_by(|a, b| a.explained.total_cmp(&b.explained))
}

/// For each place of so many values, what turns the shape of a second line there, which is
/// `max(0, place − first)` for a knee and 1 from `first` on for a jump, into something that no line
/// explains.
struct BendShapes {
    kind: BendKind,
    n: usize,
    /// By place, from [`PART_LEAST`] on: the slope of the line in the shape, and the length of what
    /// that line leaves.
    by_place: Vec<(f64, f64)>,
}

impl BendShapes {
    fn of(kind: BendKind, n: usize) -> BendShapes {
        let places = PART_LEAST..=n - PART_LEAST;
        BendShapes { kind, n, by_place: places.map(|first| without_line(kind, n, first)).collect() }
    }

    /// The place at which a second line explains most; `None` where one explains all.
    fn best(&self, values: &[f64]) -> Option<BestBend> {
        let mean = values.iter().sum::<f64>() / self.n as f64;
        let middle = (self.n as f64 - 1.0) / 2.0;
        let (mut both, mut squares) = (0.0, 0.0);
        for (place, value) in values.iter().enumerate() {
            both += (place as f64 - middle) * (value - mean);
            squares += (value - mean) * (value - mean);
        }
        let left_by_line = squares - both * both / squares_of_places(self.n);
        if left_by_line <= ROUNDING * squares {
            return None;
        }
        let mut best = BestBend { kind: self.kind, first: PART_LEAST, explained: 0.0 };
        // Of the values from the place on: their sum, and their sum by their distance from it.
        let (mut sum, mut by_distance) = (0.0, 0.0);
        for first in (PART_LEAST..self.n).rev() {
            by_distance += sum;
            sum += values[first] - mean;
            let Some((slope, length)) = self.by_place.get(first - PART_LEAST) else { continue };
            let by_shape = match self.kind {
                BendKind::Knee => by_distance,
                BendKind::Jump => sum,
            };
            let of_shape = (by_shape - slope * both) / length;
            let explained = of_shape * of_shape / left_by_line;
            if explained > best.explained {
                best = BestBend { first, explained, ..best };
            }
        }
        Some(best)
    }

    /// What two lines leave of the values whose second begins at `first`.
    fn left(&self, values: &[f64], first: usize) -> Vec<f64> {
        let n = self.n as f64;
        let mean = values.iter().sum::<f64>() / n;
        let middle = (n - 1.0) / 2.0;
        let (of_shape, length) = self.by_place[first - PART_LEAST];
        let mean_of_shape =
            (first..self.n).map(|at| shape_at(self.kind, first, at)).sum::<f64>() / n;
        let columns: Vec<(f64, f64)> = (0..self.n)
            .map(|at| {
                let place = at as f64 - middle;
                (place, shape_at(self.kind, first, at) - mean_of_shape - of_shape * place)
            })
            .collect();
        let (mut by_place, mut by_shape) = (0.0, 0.0);
        for ((place, shape), value) in columns.iter().zip(values) {
            by_place += place * (value - mean);
            by_shape += shape * (value - mean);
        }
        let slope = by_place / squares_of_places(self.n);
        let size = by_shape / (length * length);
        columns
            .iter()
            .zip(values)
            .map(|((place, shape), value)| value - mean - slope * place - size * shape)
            .collect()
    }
}

/// What a second line that begins at `first` adds at a place.
fn shape_at(kind: BendKind, first: usize, at: usize) -> f64 {
    match kind {
        _ if at < first => 0.0,
        BendKind::Knee => (at - first) as f64,
        BendKind::Jump => 1.0,
    }
}

/// Of the shape of a second line over `n` places: the slope of its line, and the length of what
/// that line leaves.
fn without_line(kind: BendKind, n: usize, first: usize) -> (f64, f64) {
    let middle = (n as f64 - 1.0) / 2.0;
    let (mut sum, mut both, mut squares) = (0.0, 0.0, 0.0);
    for place in first..n {
        let shape = shape_at(kind, first, place);
        sum += shape;
        both += shape * (place as f64 - middle);
        squares += shape * shape;
    }
    let slope = both / squares_of_places(n);
    (slope, (squares - sum * sum / n as f64 - slope * both).sqrt())
}

/// The squares of the distances of `n` places from their middle.
fn squares_of_places(n: usize) -> f64 {
    let n = n as f64;
    n * (n * n - 1.0) / 12.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(phi: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut values = vec![0.0; n];
        null::simulate_noise(
            &mut random::stream(&[random::key_of("knees"), seed]),
            phi,
            &mut values,
        );
        values
    }

    /// Falls by `down` until `first`, then rises by `up`, in noise of `deviation`.
    fn bend(n: usize, first: usize, down: f64, up: f64, deviation: f64, seed: u64) -> Vec<f64> {
        let level = |at: usize| match at.checked_sub(first) {
            None => -down * at as f64 / first as f64,
            Some(past) => up * past as f64 / (n - first) as f64 - down,
        };
        let noise = noise(0.0, n, seed);
        noise.iter().enumerate().map(|(at, noise)| level(at) + deviation * noise).collect()
    }

    #[test]
    fn two_lines_that_meet_leave_nothing() {
        let hinges = BendShapes::of(BendKind::Knee, 30);
        let values = bend(30, 12, 1.0, 3.0, 0.0, 1);
        let best = hinges.best(&values).unwrap();
        assert_eq!(best.first, 12);
        assert!((best.explained - 1.0).abs() < 1e-9, "{best:?}");
        assert!(hinges.left(&values, 12).iter().all(|one| one.abs() < 1e-9));
        // What one line leaves, by a fit of three columns with least squares.
        let other = hinges.left(&values, 20);
        let sums =
            [|_: usize| 1.0, |at: usize| at as f64, |at: usize| at.saturating_sub(20) as f64];
        for column in sums {
            let sum: f64 = other.iter().enumerate().map(|(at, left)| column(at) * left).sum();
            assert!(sum.abs() < 1e-9, "{sum}");
        }
        let line: Vec<f64> = (0..30).map(f64::from).collect();
        assert_eq!((hinges.best(&line), hinges.best(&[2.0; 30])), (None, None));
        let jumps = BendShapes::of(BendKind::Jump, 30);
        let values: Vec<f64> =
            (0..30).map(|at| f64::from(at) - if at < 18 { 0.0 } else { 9.0 }).collect();
        let best = jumps.best(&values).unwrap();
        assert!(best.first == 18 && (best.explained - 1.0).abs() < 1e-9, "{best:?}");
        assert!(jumps.left(&values, 18).iter().all(|one| one.abs() < 1e-9));
    }

    #[test]
    fn a_level_that_turns_is_found_where_it_turns() {
        let cases = [(100, 60, 0.2, 0.25), (60, 30, 0.2, 0.25), (40, 20, 0.2, 0.25)];
        for (n, first, down, up) in cases.into_iter().chain([(100, 80, 0.3, 0.2)]) {
            for (deviation, seed) in [(0.005, 1), (0.005, 2), (0.02, 3), (0.02, 4)] {
                let knee = find(&bend(n, first, down, up, deviation, seed), 2.5e-4, 1);
                let knee = knee.unwrap_or_else(|| panic!("{n} {first} {deviation} {seed}"));
                assert!(knee.first.abs_diff(first) <= 4, "{knee:?}, not {first}");
                assert_eq!(knee.kind, BendKind::Knee, "{knee:?}");
                assert!(knee.slides_before && knee.slides_after, "{knee:?}");
            }
        }
    }

    #[test]
    fn a_line_and_noise_do_not_bend() {
        let lines =
            (0..200).filter(|&seed| find(&bend(60, 0, 0.0, 0.5, 0.02, seed), 0.01, 1).is_some());
        assert!(lines.count() <= 2);
        for (n, phi, most) in [(30, 0.3, 4), (30, 0.6, 6), (60, 0.8, 8), (120, 0.8, 8)] {
            let found = (0..400).filter(|seed| find(&noise(phi, n, *seed), 0.01, 1).is_some());
            let count = found.count();
            assert!(count <= most, "{n} {phi}: {count}");
        }
    }
}
