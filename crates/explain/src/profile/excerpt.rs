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
//!
//! How much is left out is known, and no function that is not named has more: one with 40 % on the
//! other side, where this one leaves 3 % out, has become less, by 37 % at least. So much is
//! claimed, and no more. Tables are rounded, so that what is left out is not nothing where the rows
//! seem to add up to the whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use dbdyno_model::{Arm, LEFT_OUT, PerArm, UntoldFunction, UntoldReason};

use super::names::{Pair, match_functions};
use super::samples::Profile;

/// What functions of a pair may have, at most, of the profiles of a side that do not tell them.
pub(super) fn hidden_weight<'p>(
    side: impl Iterator<Item = &'p Profile>,
    pair: &Pair,
    arm: Arm,
) -> f64 {
    if pair.names.base.iter().chain(&pair.names.test).any(|name| **name == *LEFT_OUT) {
        // Whatever this side has may be what the other one leaves out.
        let is_alone = pair.names[arm].is_empty();
        return if is_alone { side.map(|one| one.total).sum() } else { 0.0 };
    }
    let hiding = side.filter(|one| !tells_all(one, pair, arm));
    hiding.fold(0.0, |sum, one| sum + one.left_out_most)
}

/// What the rest of each side may have, at most, that stands among the functions of the other one:
/// a function that one side tells, and the other one may hide.
pub(super) fn rest_apart(hidden: impl Iterator<Item = PerArm<f64>>) -> PerArm<f64> {
    let mut sum = PerArm { base: 0.0, test: 0.0 };
    for one in hidden {
        sum.base += one.test;
        sum.test += one.base;
    }
    sum
}

/// Whether a pair is what is left out on both sides.
pub(super) fn is_rest(pair: &Pair) -> bool {
    Arm::BOTH.iter().all(|arm| pair.names[*arm].iter().any(|name| **name == *LEFT_OUT))
}

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
            if has_differed(sides, &sums, &pair) {
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

/// Whether the shares of a function differ, whatever it has of what is left out.
fn has_differed(sides: &PerArm<Vec<&Profile>>, sums: &PerArm<Profile>, pair: &Pair) -> bool {
    let least = PerArm::from_fn(|arm| {
        let own = pair.names[arm].iter().filter_map(|name| sums[arm].own.get(name)).sum::<f64>();
        own / sums[arm].total
    });
    let most = PerArm::from_fn(|arm| {
        let hidden = hidden_weight(sides[arm].iter().copied(), pair, arm);
        least[arm] + hidden / sums[arm].total
    });
    least.test > most.base || most.test < least.base
}

/// Whether a profile has a line of a function.
fn tells(profile: &Profile, pair: &Pair, arm: Arm) -> bool {
    pair.names[arm].iter().any(|name| profile.own.contains_key(name))
}

/// Whether a profile has a line of each piece of a function that a side has: `malloc` without
/// `malloc@plt` is a part of it.
fn tells_all(profile: &Profile, pair: &Pair, arm: Arm) -> bool {
    let told = pair.names[arm].iter().filter(|name| profile.own.contains_key(*name)).count();
    told >= pair.names.base.len().max(pair.names.test.len())
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

#[cfg(test)]
mod tests {
    use dbdyno_model::{FunctionDifference, ProfileDifference};

    use super::super::difference::{WeightedProfile, difference};
    use super::super::read::read;
    use super::LEFT_OUT;

    /// Of two profiles without operations.
    fn compared(base: &str, test: &str) -> ProfileDifference {
        let of = |text: &str| [WeightedProfile { profile: read(text).unwrap(), operations: None }];
        difference(&of(base), &of(test))
    }

    fn function<'d>(of: &'d ProfileDifference, name: &str) -> Option<&'d FunctionDifference> {
        of.functions.iter().find(|one| one.name == name)
    }

    fn is_untold(of: &ProfileDifference, name: &str) -> bool {
        of.untold.iter().any(|one| one.name == name) && function(of, name).is_none()
    }

    /// A report of 35 000 samples with these shares.
    fn report(rows: &[(&str, f64)]) -> String {
        let row = |(name, share): &(&str, f64)| format!("  {share:.2}%  m  m  [.] {name}\n");
        let head = "# Samples: 35000 of event 'cpu-clock'\n# Event count (approx.): 353535\n";
        head.to_owned() + &rows.iter().map(row).collect::<String>()
    }

    fn pprof(rows: usize, head: &str) -> String {
        let row = |at: usize| format!("1.00s 2.86% {at}.01% 1.00s 2.86% main.g{at}\n");
        let rows: String = (0..rows).map(row).collect();
        format!(
            "Type: cpu\nShowing nodes accounting for {head} of 35s total\nflat flat% sum% cum cum%\n\
             15.00s 42.86% 42.86% 15.00s 42.86% hot\n{rows}"
        )
    }

    fn flat(rows: usize) -> String {
        let row = |at: usize| format!("10000   2.50%  100  g{at}\n");
        let rows: String = (0..rows).map(row).collect();
        format!(
            "--- Execution profile ---\nTotal samples : 4000\n\nns percent samples top\n200000  \
             50.00%  2000  hot\n{rows}"
        )
    }

    /// With 97 % of the whole a table was taken for all of it, and the function that was cut off
    /// was proved to be gone.
    #[test]
    fn what_may_be_in_the_rest_is_not_proved_to_be_gone() {
        let rows: Vec<(String, f64)> = (0..20).map(|at| (format!("g{at}"), 2.86)).collect();
        let rows: Vec<(&str, f64)> =
            [("hot", 42.8)].into_iter().chain(rows.iter().map(|(n, s)| (&**n, *s))).collect();
        for (whole, cut, last) in [
            (report(&rows), report(&rows[..20]), "g19"),
            (pprof(20, "35s, 100%"), pprof(19, "34s, 97.14%"), "main.g19"),
            (pprof(20, "35s, 100%"), pprof(19, "35s, 100%"), "main.g19"),
            (flat(20), flat(19), "g19"),
        ] {
            for (base, test) in [(&whole, &cut), (&cut, &whole)] {
                let found = compared(base, test);
                assert!(is_untold(&found, last), "{found:?}");
                let changed = found.functions.iter().filter(|one| one.q_value.unwrap() < 0.5);
                let names: Vec<&str> = changed.map(|one| one.name.as_str()).collect();
                assert_eq!(names, Vec::<&str>::new(), "shares are of the whole on both sides");
            }
        }
    }

    /// What is left out has a share, and no function that is not named has more.
    #[test]
    fn of_what_is_gone_no_more_is_claimed_than_the_rest_leaves() {
        let base = report(&[("work", 60.0), ("hot", 30.0), ("warm", 10.0)]);
        let test = report(&[("work", 92.0)]);
        let found = compared(&base, &test);
        let hot = function(&found, "hot").unwrap();
        assert!(hot.q_value.unwrap() < 0.001 && (hot.weighted.estimate + 0.3).abs() < 1e-9);
        assert!((-0.22..-0.2).contains(&hot.weighted.high), "it may have 8 % yet: {hot:?}");
        let rest = function(&found, LEFT_OUT).unwrap();
        assert!(rest.q_value.unwrap() > 0.9, "the other side has no rest to compare: {rest:?}");
        let found = compared(&test, &base);
        let hot = function(&found, "hot").unwrap();
        assert!(hot.q_value.unwrap() < 0.001 && (0.2..0.22).contains(&hot.weighted.low));
        let found = compared(&base, &report(&[("work", 88.0)]));
        assert!(is_untold(&found, "warm") && !is_untold(&found, "hot"), "{found:?}");
    }

    /// What one list tells and the other may hide has a range, and the rest is another one's rest.
    #[test]
    fn what_a_cut_list_lacks_has_a_range_and_the_rest_no_change() {
        let base = report(&[("work", 60.0), ("parse", 15.0)]);
        let test = report(&[("work", 40.0), ("hot", 30.0), ("parse", 14.0)]);
        for (base, test, sign) in [(&base, &test, 1.0), (&test, &base, -1.0)] {
            let found = compared(base, test);
            let hot = function(&found, "hot").unwrap();
            let (low, high) = (hot.weighted.low * sign, hot.weighted.high * sign);
            assert!(low.min(high) < 0.1 && low.max(high) > 0.3, "from 5 to 30: {hot:?}");
            let hidden = hot.hidden_share.base.max(hot.hidden_share.test);
            assert!((0.25..0.252).contains(&hidden), "{hot:?}");
            let rest = function(&found, LEFT_OUT).unwrap();
            assert!(rest.q_value.unwrap() > 0.9, "hot may be a part of one: {rest:?}");
        }
    }

    /// A piece that was cut off on one side was added to its function on the other one.
    #[test]
    fn a_piece_that_one_list_lacks_is_no_change_of_its_function() {
        let whole = [("work", 60.0), ("f", 18.0), ("g", 9.0), ("f.part.0", 8.0)];
        for lines in [&whole[..3], &whole[..2]] {
            let found = compared(&report(lines), &report(&whole));
            assert!(found.functions.iter().all(|one| one.q_value.unwrap() > 0.9), "{found:?}");
        }
        let found = compared(&report(&whole), &report(&[("work", 60.0), ("f", 31.0), ("g", 9.0)]));
        let f = function(&found, "f").unwrap();
        assert!(f.weighted.estimate > 0.04 && f.hidden_share.base == 0.0, "both are told: {f:?}");
    }

    /// The rounding of two thousand rows may hide as much as was cut away: the rows that are left
    /// are shares of the whole, and none of them has become more by the cut.
    #[test]
    fn a_long_list_that_was_cut_is_a_part_of_its_whole() {
        let names: Vec<String> = (0..2_500).map(|at| format!("f{at}")).collect();
        let rows: Vec<(&str, f64)> = std::iter::once(("hot", 50.0))
            .chain(names.iter().map(|name| (name.as_str(), 0.02)))
            .collect();
        let (whole, cut) = (report(&rows), report(&rows[..2_001]));
        assert!(!read(&cut).unwrap().is_excerpt, "rounding explains a tenth");
        let found = compared(&whole, &cut);
        let hot = function(&found, "hot").unwrap();
        assert!(hot.weighted.estimate.abs() < 1e-9 && hot.q_value.unwrap() > 0.9, "{hot:?}");
        assert!(found.functions.iter().all(|one| one.q_value.unwrap() > 0.5));
    }

    /// Rows that are rounded add up to less than the whole, and hide a small function.
    #[test]
    fn rounding_leaves_nothing_out_and_may_hide_little() {
        let thirds = [("a", 33.33), ("b", 33.33), ("c", 33.33)];
        let profile = read(&report(&thirds)).unwrap();
        assert!(!profile.is_excerpt && profile.left_out_most > 0.0, "{profile:?}");
        let found = compared(&report(&[("a", 99.99), ("b", 0.01)]), &report(&[("a", 100.0)]));
        let gone = function(&found, "b").unwrap();
        assert!(gone.q_value.unwrap() > 0.5 && gone.weighted.high > 0.0, "{gone:?}");
    }
}
