//! Cutting a series where its level changes.
//!
//! ```text
//!   whole series    step? α·15/20    else bump? α·3/20    else jump? α·1/20    (slide? α·1/20)
//!     ├─ left       step? half that  …                   chance of any false cut: α
//!     └─ right      step? half that  …                   each depth spends half of the one above
//! ```
//!
//! A regression that was repaired is a bump. For the statistic of steps it hides itself: what is
//! left beside the best step looks like correlation. 20 values of 100 that are three standard
//! deviations up are found in 3 of 100 series by steps alone and in all with bumps.
//!
//! After all cuts are known each is moved to where it stands out most between its neighbours.

use dbdyno_model::NullKind;

use super::jump;
use super::null::{self, Chance, Look};
use super::place;
use super::scores::{Best, LEVEL_LEAST, Scan, normal_scores};
use super::size;

const STEP_SHARE: f64 = 0.75;
const BUMP_SHARE: f64 = 0.15;
const JUMP_SHARE: f64 = 0.05;
/// What is left for a stretch that has no cut.
const SLIDE_SHARE: f64 = 1.0 - STEP_SHARE - BUMP_SHARE - JUMP_SHARE;
/// Among more values than this bumps are found after a step has parted them only: there are as many
/// as pairs of values.
const BUMPS_MOST: usize = 1_000;
/// Among more values than this ranks see a step whatever the correlation.
const JUMPS_MOST: usize = 1_000;

/// A cut.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeriesCut {
    /// The first value of the new level.
    pub first: usize,
    /// Chance of something as clear where nothing changes.
    pub p_value: f64,
    /// In which sense nothing.
    pub null: NullKind,
    /// The smallest size that is found there, in standard deviations of the noise.
    pub least_found: f64,
}

/// A stretch that was looked at, and the stretches it was cut into.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub from: usize,
    pub to: usize,
    /// At which it was looked at.
    pub alpha: f64,
    pub cuts: Vec<SeriesCut>,
    pub parts: Vec<Node>,
}

impl Node {
    /// All cuts in here, in order.
    pub(crate) fn all_cuts(&self) -> Vec<SeriesCut> {
        let mut cuts: Vec<SeriesCut> = self.parts.iter().flat_map(Node::all_cuts).collect();
        cuts.extend(self.cuts.iter().cloned());
        cuts.sort_by_key(|cut| cut.first);
        cuts
    }

    /// For a decision whether a stretch without cuts slides.
    pub(crate) fn slide_alpha(&self) -> f64 {
        SLIDE_SHARE * self.alpha
    }
}

/// Cuts `values[from..to]`.
pub(crate) fn grow_tree(values: &[f64], from: usize, to: usize, alpha: f64, seed: u64) -> Node {
    let mut node = Node { from, to, alpha, cuts: Vec::new(), parts: Vec::new() };
    let n = to - from;
    if n < 2 * LEVEL_LEAST {
        return node;
    }
    let scores = normal_scores(&values[from..to]);
    let scan = Scan::of_length(n);
    let looks = [(Look::Step, STEP_SHARE * alpha), (Look::Bump, BUMP_SHARE * alpha)];
    for (look, alpha) in looks {
        if look == Look::Bump && n > BUMPS_MOST {
            continue;
        }
        let best = look.best_change(&scan, &scores);
        if best.statistic == 0.0 {
            continue;
        }
        let null = null::choose_null(look, &scores, &best);
        let Chance { p_value, least_found } =
            null::change_chance(look, &scan, &scores, &best, null, alpha, seed);
        if p_value <= alpha {
            let least_found = scan.size(&Best { statistic: least_found, ..best });
            let ends = [best.from, best.to].into_iter().filter(|&end| end < n);
            node.cuts = ends
                .map(|end| SeriesCut { first: from + end, p_value, null, least_found })
                .collect();
            break;
        }
    }
    if node.cuts.is_empty() {
        node.cuts.extend(jumps(&values[from..to], JUMP_SHARE * alpha, seed));
        node.cuts.iter_mut().for_each(|cut| cut.first += from);
    }
    // Ranks know too little of a large step to say where it is.
    settle_cuts(values, &mut node.cuts, from, to);
    let mut begin = from;
    let ends: Vec<usize> = node.cuts.iter().map(|cut| cut.first).chain([to]).collect();
    if ends.len() > 1 {
        for end in ends {
            node.parts.push(grow_tree(values, begin, end, alpha / 2.0, seed));
            begin = end;
        }
    }
    node
}

/// The steps that stand out by their size, where their rank does not say so: in correlated noise,
/// among the last few values, and where levels come and go. Each of them is larger than the largest
/// of noise, so that they are found together and not one in the parts of the other: each depth has
/// half the `alpha`, and of seven steps four were never asked for.
fn jumps(values: &[f64], alpha: f64, seed: u64) -> Vec<SeriesCut> {
    let best = jump::largest_gap(values);
    if values.len() > JUMPS_MOST || best.statistic == 0.0 {
        return Vec::new();
    }
    let around = size::around_levels(values, &jump::levels(values));
    let phi = null::correlation_around(&around).phi.max(0.0);
    // Ranks of heavy tails resemble each other less than the values do.
    let phi = f64::midpoint(phi, null::CORRELATION_MOST);
    let Some(Chance { p_value, least_found }) = jump::gap_chance(&best, phi, alpha, seed) else {
        return Vec::new();
    };
    if p_value > alpha {
        return Vec::new();
    }
    let firsts = jump::gaps_above(values, least_found);
    let cut = |at: usize| {
        let begin = if at == 0 { 0 } else { firsts[at - 1].0 };
        let end = firsts.get(at + 1).map_or(values.len(), |next| next.0);
        let (first, gap) = firsts[at];
        SeriesCut {
            first,
            p_value,
            null: NullKind::Correlated(phi),
            least_found: least_found / gap * place::step_size(&values[begin..end], first - begin),
        }
    };
    (0..firsts.len()).map(cut).collect()
}

/// Moves each cut to where it stands out most between its neighbours.
pub(crate) fn settle_cuts(values: &[f64], cuts: &mut [SeriesCut], from: usize, to: usize) {
    const ROUNDS: usize = 3;
    for _ in 0..ROUNDS {
        for at in 0..cuts.len() {
            let begin = if at == 0 { from } else { cuts[at - 1].first };
            let end = cuts.get(at + 1).map_or(to, |next| next.first);
            let tamed = place::clamp_outliers(&values[begin..end], cuts[at].first - begin);
            let best = Scan::of_length(end - begin).best_step(&tamed);
            if best.statistic > 0.0 {
                cuts[at].first = begin + best.from;
            }
        }
    }
}
