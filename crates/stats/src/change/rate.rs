//! From where on a series has more far values than before, and how likely that is by chance.
//!
//! ```text
//!   . . . . . . . . . . . . . . o . . o o . . o . o .      o is far: in how many of the latest?
//!                               ├── C(11, 5) ∕ C(25, 5) ┤   of all choices of five places
//! ```
//!
//! Where nothing changes, each choice of places for the far values is as likely, however far they
//! are and however many: that is all that is assumed, so that a series which is bad in one of five
//! runs from the beginning to the end is as rarely told as one without a bad run. Two questions are
//! asked:
//!
//! * How late the *first* far value comes. Of `k` among `n` values all lie among the latest `m`
//!   with a chance of C(m, k) ∕ C(n, k), which may be [`ALPHA_OF_FIRST`].
//! * From which place on there are most, with the chance of as many there (the upper tail of the
//!   hypergeometric distribution, as in Fisher's exact test). The smallest of these chances over
//!   all places is the statistic; how often chance makes one as small at *any* place is counted
//!   exactly, by going through the places from the end with the chance of each number of far values
//!   so far. That may be [`DECISION_ALPHA`].
//!
//! A stretch that ends with so many good values that the bad ones are over ([`CHANCE_OF_END`]) is
//! not told: it says nothing of the latest runs.

use super::scores::LEVEL_LEAST;
use crate::confidence::DECISION_ALPHA;

/// Fewer far values are single bad nights.
const FAR_LEAST: usize = 3;
/// Fewer values before are nothing to compare with.
pub(super) const BEFORE_LEAST: usize = 12;
/// One question beside that of all places, to which it adds little.
const ALPHA_OF_FIRST: f64 = DECISION_ALPHA / 2.0;
/// Where the far values of a stretch all come as early in it with a smaller chance, they are over.
const CHANCE_OF_END: f64 = 0.02;
/// Two chances that are the same number but for the rounding of sums.
const SAME_CHANCE: f64 = 1.0 + 1e-9;

/// How many of the latest values, of so many at most, have more far ones than those before, if that
/// is proved.
///
/// Assumes values that are exchangeable where nothing changes, and marks of them that do not depend
/// on their order.
pub(super) fn stretch_with_more(is_far: &[bool], most: usize) -> Option<usize> {
    let n = is_far.len();
    let most = most.min(n.checked_sub(BEFORE_LEAST)?);
    let far: Vec<usize> = (0..n).filter(|&at| is_far[at]).collect();
    let lengths = LEVEL_LEAST..=most;
    let begins = far.iter().enumerate().filter(|(_, begin)| lengths.contains(&(n - **begin)));
    let urn = Urn::new(n, far.len());
    let stretches = begins.filter(|(before, _)| far.len() - before >= FAR_LEAST);
    let chances =
        stretches.map(|(before, &begin)| (urn.chance(n - begin, far.len() - before), n - begin));
    let (chance, latest) = chances.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    if chance > DECISION_ALPHA {
        return None;
    }
    let of_first = far.first().map(|first| n - first).filter(|latest| lengths.contains(latest));
    let found = if urn.chance_at_any_place(chance, most) <= DECISION_ALPHA {
        Some(latest)
    } else {
        of_first.filter(|&latest| urn.chance(latest, far.len()) <= ALPHA_OF_FIRST)
    };
    let good = n - 1 - far.last()?;
    found.filter(|&latest| {
        let all = is_far[n - latest..].iter().filter(|&&is_far| is_far).count();
        chance_of_as_many(latest, latest - good, all, all) > CHANCE_OF_END
    })
}

/// The chance that of `all` places among `n`, drawn at random, at least `far` are among the latest:
/// the upper tail of the hypergeometric distribution.
///
/// Assumes that each choice of places is as likely.
pub fn chance_of_as_many(n: usize, latest: usize, all: usize, far: usize) -> f64 {
    Urn::new(n, all).chance(latest, far)
}

/// Places of which some are far, drawn at random.
struct Urn {
    places: usize,
    far: usize,
    ln_factorials: Vec<f64>,
}

impl Urn {
    fn new(places: usize, far: usize) -> Urn {
        let mut ln_factorials = Vec::with_capacity(places + 1);
        ln_factorials.push(0.0);
        for number in 1..=places {
            ln_factorials.push(ln_factorials[number - 1] + (number as f64).ln());
        }
        Urn { places, far, ln_factorials }
    }

    fn ln_choose(&self, of: usize, few: usize) -> f64 {
        self.ln_factorials[of] - self.ln_factorials[few] - self.ln_factorials[of - few]
    }

    /// The chance that at least so many far places are among the latest.
    fn chance(&self, latest: usize, far: usize) -> f64 {
        let (n, all) = (self.places, self.far);
        let least = far.max((all + latest).saturating_sub(n));
        let tail = (least..=all.min(latest)).map(|many| {
            let others = self.ln_choose(n - latest, all - many);
            (self.ln_choose(latest, many) + others - self.ln_choose(n, all)).exp()
        });
        tail.sum::<f64>().min(1.0)
    }

    /// The chance that for some number of latest places, `most` at most, as many are far as this
    /// chance or a smaller one has.
    fn chance_at_any_place(&self, chance: f64, most: usize) -> f64 {
        let (n, all) = (self.places, self.far);
        // How likely each number of far ones is among the latest so many, and none was too many.
        let mut likely = vec![0.0; all + 2];
        likely[0] = 1.0;
        let (mut too_many, mut passed) = (FAR_LEAST, 0.0);
        for latest in 1..=most {
            let left = (n + 1 - latest) as f64;
            for many in (0..=all.min(latest)).rev() {
                let stays = 1.0 - ((all - many) as f64 / left).min(1.0);
                let comes = many
                    .checked_sub(1)
                    .map_or(0.0, |fewer| likely[fewer] * ((all - fewer) as f64 / left).min(1.0));
                likely[many] = likely[many] * stays + comes;
            }
            if latest < LEVEL_LEAST {
                continue;
            }
            while too_many <= all.min(latest)
                && self.chance(latest, too_many) > chance * SAME_CHANCE
            {
                too_many += 1;
            }
            let from = too_many.min(all + 1);
            passed += likely[from..].iter_mut().map(std::mem::take).sum::<f64>();
        }
        passed.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::random;

    #[test]
    fn the_chance_is_that_of_drawing_from_an_urn() {
        // All ways to choose 3 of 6 places: one of 20 has all among the last three.
        assert!((chance_of_as_many(6, 3, 3, 3) - 1.0 / 20.0).abs() < 1e-12);
        assert!((chance_of_as_many(6, 3, 3, 2) - 10.0 / 20.0).abs() < 1e-12);
        assert!((chance_of_as_many(6, 3, 3, 0) - 1.0).abs() < 1e-12);
        assert!((chance_of_as_many(6, 3, 5, 2) - 1.0).abs() < 1e-12);
    }

    /// All choices of four places of eighteen, one by one.
    #[test]
    fn the_chance_at_any_place_is_a_count_of_all_choices() {
        let (n, all) = (18, 4);
        let urn = Urn::new(n, all);
        let mut smallest = Vec::new();
        for choice in 0_u32..1 << n {
            if choice.count_ones() as usize != all {
                continue;
            }
            // The lowest bit is the latest value.
            let chances = (LEVEL_LEAST..=n - BEFORE_LEAST).filter_map(|latest| {
                let far = (choice & ((1 << latest) - 1)).count_ones() as usize;
                (far >= FAR_LEAST).then(|| urn.chance(latest, far))
            });
            smallest.push(chances.fold(1.0, f64::min));
        }
        assert_eq!(smallest.len(), 3_060);
        for chance in [0.001, 0.005, 0.02, 0.05] {
            let as_small = smallest.iter().filter(|one| **one <= chance * SAME_CHANCE).count();
            let counted = as_small as f64 / smallest.len() as f64;
            let told = urn.chance_at_any_place(chance, n - BEFORE_LEAST);
            assert!((told - counted).abs() < 1e-9, "{chance}: {told} and {counted}");
        }
    }

    /// Where far values come at one rate from the beginning to the end, at most two series of a
    /// hundred have a stretch with more of them.
    #[test]
    fn a_rate_that_stays_is_none() {
        for (one_of, n) in [(20, 60), (10, 30), (10, 120), (5, 60), (5, 240)] {
            let found = (0..2_000).filter(|&seed| {
                let mut stream = random::stream(&[random::key_of("rate"), one_of, n, seed]);
                let is_far: Vec<bool> = (0..n).map(|_| stream.next_below(one_of) == 0).collect();
                stretch_with_more(&is_far, 240).is_some()
            });
            let found = found.count();
            assert!(found <= 26, "one of {one_of}, {n} values: {found} of 2000");
        }
    }

    #[test]
    fn a_rate_that_grows_is_found_with_its_place() {
        let places =
            |n: usize, far: &[usize]| -> Vec<bool> { (0..n).map(|at| far.contains(&at)).collect() };
        let eight = [41, 46, 52, 55, 61, 66, 72, 79];
        assert_eq!(stretch_with_more(&places(80, &eight), 240), Some(39));
        assert_eq!(stretch_with_more(&places(40, &[34, 36, 38, 39]), 240), Some(6), "by turns");
        let before = [5, 30, 61, 64, 66, 69, 71, 75, 78, 80, 83, 88, 90, 95, 97];
        assert_eq!(stretch_with_more(&places(100, &before), 240), Some(39));
        assert_eq!(stretch_with_more(&places(80, &[3, 17, 28, 41, 52, 55, 66, 79]), 240), None);
        assert_eq!(stretch_with_more(&places(60, &[57, 59]), 240), None, "single bad nights");
        assert_eq!(
            stretch_with_more(&places(85, &eight), 240),
            Some(44),
            "the same, five runs later"
        );
        assert_eq!(stretch_with_more(&places(110, &eight), 240), None, "thirty good runs later");
        assert_eq!(stretch_with_more(&places(15, &[12, 13, 14]), 240), None, "too few in all");
        assert_eq!(stretch_with_more(&[], 240), None);
        assert_eq!(stretch_with_more(&[true; 30], 240), None);
        assert_eq!(stretch_with_more(&[false; 30], 240), None);
    }
}
