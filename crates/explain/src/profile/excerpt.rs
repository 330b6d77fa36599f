//! What excerpts do not tell.
//!
//! A list that was cut tells the functions at its top. What one list names and another one does not
//! may be anything there, from nothing to as much as is left out: no difference follows from it.
//!
//! ```text
//!   base, an excerpt     f 20 %   g 40 %             compared: f, and all the rest together
//!   test, an excerpt     f 25 %            h 10 %    untold:   g, 40 % of base; h, 10 % of test
//! ```
//!
//! Such functions are kept by name, with what is known of them: the largest may be among them.

use std::collections::BTreeSet;
use std::sync::Arc;

use dbdyno_model::{Arm, LEFT_OUT, PerArm, UntoldFunction, UntoldReason};

use super::names::{Pair, match_functions};
use super::samples::Profile;

/// Functions that an excerpt does not tell, by their names on each side, those first that have the
/// largest share of a side.
pub(super) struct Untold {
    names: PerArm<BTreeSet<Arc<str>>>,
    pub(super) functions: Vec<UntoldFunction>,
}

impl Untold {
    /// Of the profiles of both sides.
    pub(super) fn of_profiles(sides: &PerArm<Vec<&Profile>>) -> Untold {
        let mut untold =
            Untold { names: PerArm::from_fn(|_| BTreeSet::new()), functions: Vec::new() };
        if !sides.base.iter().chain(&sides.test).any(|one| one.is_excerpt) {
            return untold;
        }
        let sums = PerArm::from_fn(|arm| Profile::sum(sides[arm].iter().copied()));
        for pair in match_functions(&sums.base, &sums.test) {
            let lacking = PerArm::from_fn(|arm| {
                sides[arm].iter().any(|one| one.is_excerpt && !tells(one, &pair, arm))
            });
            let name = pair.names.base.first().or(pair.names.test.first());
            let Some(name) = name.filter(|name| ***name != *LEFT_OUT) else { continue };
            if !lacking.base && !lacking.test {
                continue;
            }
            let share = PerArm::from_fn(|arm| share(&sides[arm], &pair, arm));
            untold.functions.push(UntoldFunction {
                name: name.to_string(),
                share,
                lacking,
                reason: UntoldReason::Excerpt,
            });
            for arm in Arm::BOTH {
                untold.names[arm].extend(pair.names[arm].iter().cloned());
            }
        }
        let most = |one: &UntoldFunction| {
            one.share.base.into_iter().chain(one.share.test).fold(0.0_f64, f64::max)
        };
        untold.functions.sort_by(|a, b| most(b).total_cmp(&most(a)));
        untold
    }

    /// Puts what is untold of a profile of this arm with what is left out of it.
    pub(super) fn leave_out(&self, arm: Arm, profile: &mut Profile) {
        profile.leave_out(&self.names[arm]);
    }

    /// Functions of both sides, where all that is untold counts as left out.
    pub(super) fn merge_left_out(&self, mut pairs: Vec<Pair>) -> Vec<Pair> {
        let is_untold = |pair: &Pair| {
            let of = |arm: Arm| {
                pair.names[arm]
                    .iter()
                    .any(|name| **name == *LEFT_OUT || self.names[arm].contains(name))
            };
            of(Arm::Base) || of(Arm::Test)
        };
        let Some(at) = pairs.iter().position(is_untold) else { return pairs };
        let mut all = pairs.remove(at);
        pairs.retain(|pair| {
            if is_untold(pair) {
                for arm in Arm::BOTH {
                    all.names[arm].extend(pair.names[arm].iter().cloned());
                }
            }
            !is_untold(pair)
        });
        for arm in Arm::BOTH {
            all.names[arm].retain(|name| **name != *LEFT_OUT);
            all.names[arm].insert(0, LEFT_OUT.into());
        }
        pairs.push(all);
        pairs
    }
}

/// Whether a profile has a line of a function.
fn tells(profile: &Profile, pair: &Pair, arm: Arm) -> bool {
    pair.names[arm].iter().any(|name| profile.own.contains_key(name))
}

/// What a function has of the profiles that tell it, or that are whole; nothing of none.
fn share(side: &[&Profile], pair: &Pair, arm: Arm) -> Option<f64> {
    let telling = side.iter().filter(|one| !one.is_excerpt || tells(one, pair, arm));
    let (mut own, mut total) = (0.0, 0.0);
    for one in telling {
        total += one.total;
        own += pair.names[arm].iter().filter_map(|name| one.own.get(name)).sum::<f64>();
    }
    (total > 0.0).then(|| own / total)
}
