//! What may be hidden in samples of functions without names.
//!
//! ```text
//!   base    f 20 %   g 40 %   [mysqld]  2 %         f, g may be all there is of them
//!   test    f 19 %            [mysqld] 41 %         g may be a part of the 41 %: untold, and so
//!                                                   is all that seems to have become less
//! ```
//!
//! A build that is stripped, or a tool that found no symbols, tells files and addresses where the
//! other side tells functions. As much as one side has more of these than the other one may be of
//! any function that seems to have become less there; more than that is not.

use std::collections::BTreeSet;
use std::sync::Arc;

use dbdyno_model::{Arm, NAMELESS, PerArm, UntoldFunction, UntoldReason};

use super::names::{is_nameless, match_functions};
use super::samples::Profile;

/// A side that has so much more of them than the other one hides functions.
const EXCESS_LEAST: f64 = 0.02;
/// What became less by chance is not looked for among them.
const LESS_LEAST: f64 = 0.1;
/// How far chance may make what became less larger than the excess.
const SLACK: f64 = 1.2;

/// Functions that may be among those without names, by their names on each side, those first that
/// have the largest share of a side.
pub(super) struct Nameless {
    names: PerArm<BTreeSet<Arc<str>>>,
    pub(super) functions: Vec<UntoldFunction>,
    /// The share of samples without names.
    pub(super) shares: PerArm<f64>,
}

impl Nameless {
    /// Of all profiles of each side, added up.
    pub(super) fn of_sums(sums: &PerArm<Profile>) -> Nameless {
        let shares = PerArm::from_fn(|arm| nameless_share(&sums[arm]));
        let mut all =
            Nameless { names: PerArm::from_fn(|_| BTreeSet::new()), functions: Vec::new(), shares };
        let excess = shares.test - shares.base;
        let hiding = if excess > 0.0 { Arm::Test } else { Arm::Base };
        if excess.abs() < EXCESS_LEAST {
            return all;
        }
        for pair in match_functions(&sums.base, &sums.test) {
            let names = pair.names.base.iter().chain(&pair.names.test);
            if names.clone().any(|name| is_nameless(name)) {
                for arm in Arm::BOTH {
                    all.names[arm].extend(pair.names[arm].iter().cloned());
                }
                continue;
            }
            let share = PerArm::from_fn(|arm| {
                let own = pair.names[arm].iter().filter_map(|name| sums[arm].own.get(name));
                own.fold(0.0, |sum, own| sum + own) / sums[arm].total
            });
            let (there, hidden) = (share[hiding.other_side()], share[hiding]);
            let less = there - hidden;
            if less <= LESS_LEAST * there || less > SLACK * excess.abs() {
                continue;
            }
            let Some(name) = pair.names.base.first().or(pair.names.test.first()) else { continue };
            all.functions.push(UntoldFunction {
                name: name.to_string(),
                share: share.map(Some),
                lacking: PerArm::from_fn(|arm| arm == hiding),
                reason: UntoldReason::Nameless,
            });
            for arm in Arm::BOTH {
                all.names[arm].extend(pair.names[arm].iter().cloned());
            }
        }
        let most = |one: &UntoldFunction| {
            one.share.base.into_iter().chain(one.share.test).fold(0.0, f64::max)
        };
        all.functions.sort_by(|a, b| most(b).total_cmp(&most(a)));
        all
    }

    /// Puts what is untold of a profile of this arm with what has no name in it.
    pub(super) fn leave_out(&self, arm: Arm, profile: &mut Profile) {
        if !self.functions.is_empty() {
            profile.put_together(&self.names[arm], NAMELESS);
        }
    }
}

/// The share of samples of functions without names.
fn nameless_share(profile: &Profile) -> f64 {
    let nameless = profile.own.iter().filter(|(name, _)| is_nameless(name));
    nameless.fold(0.0, |sum, (_, own)| sum + own) / profile.total
}

#[cfg(test)]
mod tests {
    use super::super::difference::{WeightedProfile, difference};
    use super::super::read::read;
    use super::*;

    fn side(functions: &[(&str, u32)]) -> [WeightedProfile; 1] {
        let all: u32 = functions.iter().map(|(_, count)| count).sum();
        let stacks: String =
            functions.iter().map(|(name, count)| format!("main;{name} {count}\n")).collect();
        let profile = read(&format!("# samples: {all}\n{stacks}")).unwrap();
        [WeightedProfile { profile, operations: Some(100.0) }]
    }

    /// A function whose name a stripped build has not was told as proved to be gone.
    #[test]
    fn what_may_have_no_name_is_untold() {
        let named = side(&[("scan", 4_000), ("lock", 2_000), ("sort", 3_900), ("[m]", 100)]);
        for hidden in [
            "[m]",
            "[unknown]",
            "0x0000000000f1de6b",
            "55d0c0de1234",
            "m`0x1234",
            "libm.so+0x29d90",
        ] {
            let stripped = side(&[("scan", 4_030), (hidden, 5_000), ("sort", 970)]);
            for (base, test, hiding) in
                [(&named, &stripped, Arm::Test), (&stripped, &named, Arm::Base)]
            {
                let found = difference(base, test);
                let untold: Vec<(&str, bool)> =
                    found.untold.iter().map(|one| (&*one.name, one.lacking[hiding])).collect();
                assert_eq!(untold, [("sort", true), ("lock", true)], "{hidden}");
                assert!((found.nameless_share[hiding] - 0.5).abs() < 1e-9);
                let named: Vec<&str> = found.functions.iter().map(|one| &*one.name).collect();
                assert_eq!(named.len(), 2, "{named:?}");
                assert!(found.functions.iter().all(|one| one.q_value.unwrap() > 0.05), "{found:?}");
            }
        }
    }

    /// gdb that read no symbols has the names of libraries alone: their waits were a new function.
    #[test]
    fn waits_whose_callers_have_no_name_are_no_difference() {
        let side = |caller: &str| {
            let thread = |number: usize| {
                format!(
                    "Thread {number} (LWP {number}):\n\
                     #0  0x7f in __futex_abstimed_wait_cancelable64 () from /lib/libc.so.6\n\
                     #1  0x55 in {caller} ()\n"
                )
            };
            let profile = read(&(1..=42).map(thread).collect::<String>()).unwrap();
            [WeightedProfile { profile, operations: None }]
        };
        let found = difference(&side("Ack_receiver::run"), &side("??"));
        assert!(found.functions.iter().all(|one| one.relative == 0.0), "{found:?}");
        assert_eq!(found.nameless_share, PerArm { base: 0.0, test: 1.0 });
        assert_eq!((&*found.untold[0].name, found.untold.len()), ("Ack_receiver::run", 1));
    }

    /// As many samples without names on both sides hide nothing, and neither do few of them.
    #[test]
    fn what_is_gone_where_names_are_as_many_is_a_difference() {
        for (base, test) in [(3_000, 3_000), (0, 100)] {
            let found = difference(
                &side(&[("scan", 5_000), ("lock", 2_000), ("[m]", base)]),
                &side(&[("scan", 7_000), ("[m]", test)]),
            );
            let lock = found.functions.iter().find(|one| one.name == "lock").unwrap();
            assert!(found.untold.is_empty() && lock.q_value.unwrap() < 0.001, "{found:?}");
        }
    }

    /// More is gone than has no name.
    #[test]
    fn what_does_not_fit_among_the_nameless_is_a_difference() {
        let found = difference(
            &side(&[("scan", 5_000), ("lock", 5_000)]),
            &side(&[("scan", 9_000), ("[m]", 1_000)]),
        );
        assert!(found.functions.iter().any(|one| one.name == "lock" && one.relative == -1.0));
    }
}
