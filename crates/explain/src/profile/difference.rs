//! The difference of two sets of profiles, function by function, for an operation.
//!
//! Samples of a function vary from profile to profile as those of chance do, and a little more:
//! the *dispersion* says how much more, over all functions of both sides (McCullagh and Nelder,
//! "Generalized Linear Models", 1989, ch. 6.2). What the whole costs varies by itself, too, as
//! servers do from start to start; both are in an interval. What is called changed holds among all
//! functions (Benjamini and Hochberg).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use dbdyno_model::{
    Arm, FlameNode, FunctionDifference, FunctionPlace, Interval, Match, PerArm, ProfileDifference,
    ProfileScale,
};
use dbdyno_stats as stats;

use super::excerpt::{Untold, hidden_weight, is_rest, rest_apart};
use super::flame::{Text, frame_tree};
use super::form::{MeasureUnit, ProfileError, ProfileMeasure};
use super::nameless::Nameless;
use super::names::{Pair, match_functions};
use super::samples::Profile;
use crate::effect::WIDE;

/// A profile and the operations that were carried out while it was taken, if they are known.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedProfile {
    /// What was sampled.
    pub profile: Profile,
    /// Operations.
    pub operations: Option<f64>,
}

/// One profile a side does not tell how far two of them are apart. Where there were four, it was
/// 1.31 (`docs/journal/2026-11-24-profiles.md`), with one client; threads that wait for each other
/// have more.
const DISPERSION_ASSUMED: f64 = 1.5;
/// Functions with fewer samples on average say little of the dispersion.
const SAMPLES_LEAST: f64 = 5.0;
/// A change that is called one has a q-value of at most this.
const Q_MOST: f64 = 0.05;

/// Why profiles cannot be compared, where they count different things: cycles and instructions,
/// samples of a processor and threads that wait.
pub fn why_incomparable(base: &[WeightedProfile], test: &[WeightedProfile]) -> Option<String> {
    let mut all = base.iter().chain(test);
    let first = &all.next()?.profile.measure;
    let place = base.first()?.profile.place;
    let other = all
        .map(|one| (&one.profile.measure, one.profile.place))
        .find(|(other, theirs)| first.is_incomparable_with(other) || *theirs != place)
        .map(|(other, _)| other)?;
    Some(format!(
        "one profile counts {}, and another one {}: nothing follows from comparing them; give \
         profiles of one kind",
        first.name(),
        other.name()
    ))
}

/// Whether weights of all profiles are of one kind, so that they can be divided by operations.
/// Backtraces are taken when somebody asks for them: their number says nothing of a time.
fn are_weights_alike(all: &[&WeightedProfile]) -> bool {
    let Some(first) = all.first().map(|one| &one.profile.measure) else { return false };
    let has_total = !matches!(first.unit, MeasureUnit::Share | MeasureUnit::Thread);
    has_total && all.iter().all(|one| first.is_weighed_as(&one.profile.measure))
}

/// By what profiles are made comparable.
fn scale_of(base: &[WeightedProfile], test: &[WeightedProfile]) -> ProfileScale {
    let all: Vec<&WeightedProfile> = base.iter().chain(test).collect();
    if all.iter().all(|one| one.operations.is_some_and(|operations| operations > 0.0))
        && are_weights_alike(&all)
    {
        ProfileScale::Operations
    } else {
        ProfileScale::Samples
    }
}

/// Compares profiles of base with those of test. Without the operations of all of them, or where
/// their weights count different units, only shares are compared.
///
/// # Panics
/// Where a side has no profile.
pub fn difference(base: &[WeightedProfile], test: &[WeightedProfile]) -> ProfileDifference {
    assert!(!base.is_empty() && !test.is_empty(), "profiles on both sides");
    let untold = untold(base, test);
    let (mut base, mut test) = (base.to_vec(), test.to_vec());
    for (arm, side) in [(Arm::Base, &mut base), (Arm::Test, &mut test)] {
        side.iter_mut().for_each(|one| untold.leave_out(arm, &mut one.profile));
    }
    let nameless = Nameless::of_sums(&PerArm { base: sum(&base), test: sum(&test) });
    for (arm, side) in [(Arm::Base, &mut base), (Arm::Test, &mut test)] {
        side.iter_mut().for_each(|one| nameless.leave_out(arm, &mut one.profile));
    }
    let (base, test) = (&base[..], &test[..]);
    let sides = PerArm { base, test };
    let scale = scale_of(base, test);
    let sums = PerArm::from_fn(|arm| sum(sides[arm]));
    let pairs = match_functions(&sums.base, &sums.test);
    let operations = PerArm::from_fn(|arm| operations(sides[arm], scale));
    let whole = sums.base.total / operations.base.iter().sum::<f64>();
    let tells_samples = PerArm::from_fn(|arm| tells_samples(sides[arm]));
    let is_tested = tells_samples.base && tells_samples.test;
    let dispersion = is_tested.then(|| dispersion(&sides, &pairs));
    let total_errors = PerArm::from_fn(|arm| total_error(sides[arm], &operations[arm]));
    let costs = Costs { sums: &sums, operations: &operations, whole, dispersion };
    let mut functions: Vec<FunctionDifference> = Vec::with_capacity(pairs.len());
    let hidden: Vec<PerArm<f64>> = pairs.iter().map(|pair| hidden_weights(&sides, pair)).collect();
    let apart = rest_apart(hidden.iter().copied());
    for (pair, hidden) in pairs.iter().zip(&hidden) {
        if is_rest(pair) {
            let rest = costs.of(pair, &apart, &total_errors);
            functions.push(FunctionDifference { hidden_share: *hidden, ..rest });
        } else {
            functions.push(costs.of(pair, hidden, &total_errors));
        }
    }
    let p_values: Vec<f64> = functions.iter().filter_map(|one| one.p_value).collect();
    let q_values = stats::benjamini_hochberg(&p_values);
    functions.iter_mut().zip(q_values).for_each(|(one, q)| one.q_value = Some(q));
    costs.say_what_moved(&pairs, &mut functions);
    let size = |one: &FunctionDifference| (one.weighted.estimate.abs(), one.share.base);
    functions.sort_by(|a, b| size(b).partial_cmp(&size(a)).unwrap_or(Ordering::Equal));
    let change: f64 = functions.iter().map(|one| one.weighted.estimate).sum();
    let error = total_errors.base.hypot((1.0 + change) * total_errors.test);
    let mass = |rung: Match| {
        let of_rung = pairs.iter().filter(|pair| pair.matched == rung);
        let own = of_rung.map(|pair| samples(&sums.base, &pair.names.base));
        // A sum of nothing is -0.
        own.fold(0.0, |sum, own| sum + own) / sums.base.total
    };
    ProfileDifference {
        functions,
        total: around(change, error),
        measure: measured(base, test),
        place: place(base, test),
        profiles: PerArm::from_fn(|arm| sides[arm].len()),
        samples: PerArm::from_fn(|arm| {
            sums[arm].unit.filter(|_| tells_samples[arm]).map(|unit| sums[arm].total / unit)
        }),
        scale,
        dispersion,
        matched: Match::ALL.map(|rung| (rung, mass(rung))).to_vec(),
        untold: untold.functions.into_iter().chain(nameless.functions).collect(),
        nameless_share: nameless.shares,
        programs: PerArm::from_fn(|arm| programs(sides[arm])),
        idle_share: PerArm::from_fn(|arm| idle_share(sides[arm])),
    }
}

/// What functions of a pair may have, at most, of the profiles of each side that do not tell them.
fn hidden_weights(sides: &PerArm<&[WeightedProfile]>, pair: &Pair) -> PerArm<f64> {
    PerArm::from_fn(|arm| hidden_weight(sides[arm].iter().map(|one| &one.profile), pair, arm))
}

/// Whether all profiles of a side tell how many samples they have: of shares, or of sums of times
/// and bytes, nobody knows what is chance.
fn tells_samples(side: &[WeightedProfile]) -> bool {
    side.iter().all(|WeightedProfile { profile, .. }| {
        profile.measure.unit != MeasureUnit::Share && profile.unit.is_some()
    })
}

/// Which function of a stack it counts for.
fn place(base: &[WeightedProfile], test: &[WeightedProfile]) -> FunctionPlace {
    let mut all = base.iter().chain(test).map(|one| one.profile.place);
    all.find(|place| *place == FunctionPlace::Waiting).unwrap_or_default()
}

/// The programs of a side that are counted together, and their shares, the largest first; none
/// where one is, or profiles do not tell them.
fn programs(side: &[WeightedProfile]) -> Vec<(String, f64)> {
    let all: f64 = side.iter().map(|one| one.profile.total).sum();
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for one in side.iter().filter(|one| one.profile.process.is_none()) {
        for (name, share) in &one.profile.programs {
            *shares.entry(name).or_default() += share * one.profile.total / all;
        }
    }
    let mut shares: Vec<(String, f64)> =
        shares.into_iter().map(|(name, share)| (name.to_owned(), share)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    if shares.len() > 1 { shares } else { Vec::new() }
}

/// The share of idle in all that the profiles of a side have.
fn idle_share(side: &[WeightedProfile]) -> f64 {
    let (mut idle, mut all) = (0.0, 0.0);
    for one in side {
        let Profile { total, idle_share, .. } = &one.profile;
        let whole = total / (1.0 - idle_share);
        (idle, all) = (idle + idle_share * whole, all + whole);
    }
    idle / all
}

/// What excerpts among the profiles do not tell.
fn untold(base: &[WeightedProfile], test: &[WeightedProfile]) -> Untold {
    let sides = PerArm { base, test };
    Untold::of_profiles(&sides.map(|side| side.iter().map(|one| &one.profile).collect()))
}

/// The stacks of both sides as one tree of frames; `texts` are those that the profiles were read
/// from. Costs are shares of what an operation of base costs.
///
/// # Errors
/// The first line that is no stack.
pub fn flame_graph(
    base: &[WeightedProfile],
    test: &[WeightedProfile],
    texts: &PerArm<Vec<&str>>,
) -> Result<FlameNode, ProfileError> {
    let sides = PerArm { base, test };
    let pairs = untold(base, test).merge_left_out(match_functions(&sum(base), &sum(test)));
    let is_by_operation = scale_of(base, test) == ProfileScale::Operations;
    let of_side = |arm: Arm| {
        let both = texts[arm].iter().zip(sides[arm]);
        both.map(|(stacks, one)| {
            let operations = one.operations.filter(|_| is_by_operation);
            Text { stacks, process: one.profile.process.as_deref(), operations }
        })
        .collect()
    };
    frame_tree(&PerArm::from_fn(of_side), &pairs)
}

/// What the cost of an operation is told in.
fn measured(base: &[WeightedProfile], test: &[WeightedProfile]) -> String {
    let mut all = base.iter().chain(test).map(|one| &one.profile.measure);
    let said = all.find(|one| one.event.is_some() || one.unit == MeasureUnit::Thread);
    match said {
        Some(said) if said.unit == MeasureUnit::Thread => {
            "time of threads, working or waiting".to_owned()
        }
        said => said.unwrap_or(&ProfileMeasure::UNTOLD).name(),
    }
}

/// All profiles of a side, added up.
fn sum(profiles: &[WeightedProfile]) -> Profile {
    Profile::sum(profiles.iter().map(|one| &one.profile))
}

/// What each profile is divided by.
fn operations(profiles: &[WeightedProfile], scale: ProfileScale) -> Vec<f64> {
    let of = |one: &WeightedProfile| match scale {
        ProfileScale::Operations => one.operations.unwrap_or(1.0),
        ProfileScale::Samples => one.profile.total,
    };
    profiles.iter().map(of).collect()
}

fn samples(profile: &Profile, names: &[Arc<str>]) -> f64 {
    // A sum of nothing is -0.
    names.iter().filter_map(|name| profile.own.get(name)).fold(0.0, |sum, own| sum + own)
}

/// How much farther the samples of a side are apart than by chance, at least 1.
fn dispersion(sides: &PerArm<&[WeightedProfile]>, pairs: &[Pair]) -> f64 {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for arm in Arm::BOTH {
        let side = sides[arm];
        if side.len() < 2 {
            continue;
        }
        let all: f64 = side.iter().map(|one| one.profile.total).sum();
        for pair in pairs {
            let seen: Vec<f64> =
                side.iter().map(|one| samples(&one.profile, &pair.names[arm])).collect();
            let sum: f64 = seen.iter().sum();
            let units = side.iter().filter_map(|one| one.profile.unit);
            let unit = units.fold(f64::MIN_POSITIVE, f64::max);
            if sum / unit / (seen.len() as f64) < SAMPLES_LEAST {
                continue;
            }
            for (one, seen) in side.iter().zip(&seen) {
                let expected = sum * one.profile.total / all;
                squares += (seen - expected).powi(2) / (expected * unit);
            }
            degrees += seen.len() as f64 - 1.0;
        }
    }
    if degrees > 0.0 { (squares / degrees).max(1.0) } else { DISPERSION_ASSUMED }
}

/// The standard error of the cost of an operation of a side, as a share of it.
fn total_error(side: &[WeightedProfile], operations: &[f64]) -> f64 {
    let costs = side.iter().zip(operations).map(|(one, operations)| one.profile.total / operations);
    let logs: Vec<f64> = costs.map(f64::ln).collect();
    let count = logs.len() as f64;
    if logs.len() < 2 {
        return 0.0;
    }
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

struct Costs<'a> {
    sums: &'a PerArm<Profile>,
    operations: &'a PerArm<Vec<f64>>,
    /// Cost of an operation in base, in weights.
    whole: f64,
    /// Absent where the number of samples is not told.
    dispersion: Option<f64>,
}

impl Costs<'_> {
    /// Cost of an operation in these functions, as a share of that of all in base.
    fn cost(&self, arm: Arm, samples: f64) -> f64 {
        samples / self.operations[arm].iter().sum::<f64>() / self.whole
    }

    /// The standard error of what functions with these weights add to the cost of an operation.
    fn error(&self, seen: &PerArm<f64>, total_errors: &PerArm<f64>, dispersion: f64) -> f64 {
        let variance = |arm: Arm| {
            // A function that was never seen might have been seen once.
            let unit = self.sums[arm].unit.unwrap_or(f64::INFINITY);
            let by_chance = dispersion * unit * seen[arm].max(unit);
            let by_chance = self.cost(arm, by_chance.sqrt());
            by_chance.powi(2) + (self.cost(arm, seen[arm]) * total_errors[arm]).powi(2)
        };
        (variance(Arm::Base) + variance(Arm::Test)).sqrt()
    }

    /// The difference of a pair, of which profiles that do not tell it may have hidden so much.
    fn of(
        &self,
        pair: &Pair,
        hidden: &PerArm<f64>,
        total_errors: &PerArm<f64>,
    ) -> FunctionDifference {
        let seen = PerArm::from_fn(|arm| samples(&self.sums[arm], &pair.names[arm]));
        let cost = PerArm::from_fn(|arm| self.cost(arm, seen[arm]));
        let error = self.dispersion.map(|dispersion| self.error(&seen, total_errors, dispersion));
        let weighted = cost.test - cost.base;
        let hidden_share = PerArm::from_fn(|arm| hidden[arm] / self.sums[arm].total);
        let hidden = PerArm::from_fn(|arm| self.cost(arm, hidden[arm]));
        let interval = around(weighted, error.unwrap_or(f64::INFINITY));
        // What is left is a difference even if all that is hidden is this function's.
        let least = if weighted > 0.0 {
            (weighted - hidden.base).max(0.0)
        } else {
            (weighted + hidden.test).min(0.0)
        };
        let name = |arm: Arm| pair.names[arm].first().map_or("", |name| name);
        FunctionDifference {
            name: match pair.matched {
                Match::Renamed => format!("{} → {}", name(Arm::Base), name(Arm::Test)),
                _ if pair.names.base.is_empty() => name(Arm::Test).to_owned(),
                _ => name(Arm::Base).to_owned(),
            },
            matched: pair.matched,
            share: PerArm::from_fn(|arm| seen[arm] / self.sums[arm].total),
            hidden_share,
            relative: cost.test / cost.base - 1.0,
            weighted: Interval {
                low: interval.low - hidden.base,
                high: interval.high + hidden.test,
                ..interval
            },
            p_value: error.map(|error| stats::normal_p_value(least / error)),
            q_value: None,
            moved_within: None,
        }
    }

    /// Costs that only went from one function to others under the same caller (FBDetect, SOSP 2024:
    /// cost shift): the caller with all that it calls did not change, and some of its callees did,
    /// up and down.
    fn say_what_moved(&self, pairs: &[Pair], functions: &mut [FunctionDifference]) {
        let is_changed = |one: &FunctionDifference| one.q_value.is_some_and(|q| q <= Q_MOST);
        let callers = PerArm::from_fn(|arm| Callers::of(&self.sums[arm]));
        let mut by_caller: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, pair) in pairs.iter().enumerate().filter(|(at, _)| is_changed(&functions[*at])) {
            for arm in Arm::BOTH {
                if let Some(caller) = callers[arm].main(&pair.names[arm]) {
                    let known = by_caller.entry(caller).or_default();
                    if !known.contains(&at) {
                        known.push(at);
                    }
                }
            }
        }
        for (caller, changed) in by_caller {
            let sum: f64 = changed.iter().map(|at| functions[*at].weighted.estimate).sum();
            let error = |at: &usize| {
                let Interval { low, high, .. } = functions[*at].weighted;
                (high - low) / (2.0 * WIDE)
            };
            let error = changed.iter().map(error).fold(0.0_f64, f64::hypot);
            let signs =
                |sign: f64| changed.iter().any(|at| functions[*at].weighted.estimate * sign > 0.0);
            if sum.abs() < 2.0 * error && signs(1.0) && signs(-1.0) {
                for at in changed {
                    functions[at].moved_within = Some(caller.to_owned());
                }
            }
        }
    }
}

/// Who calls each function, and how much: samples of its own and of what it calls.
struct Callers<'p>(BTreeMap<&'p str, Vec<(&'p str, f64)>>);

impl<'p> Callers<'p> {
    fn of(profile: &'p Profile) -> Callers<'p> {
        let mut callers: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
        for ((caller, name), samples) in &profile.by_caller {
            if !caller.is_empty() {
                callers.entry(name).or_default().push((caller, *samples));
            }
        }
        Callers(callers)
    }

    /// Who calls these functions most, but for themselves.
    fn main(&self, names: &[Arc<str>]) -> Option<&'p str> {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        let all = names.iter().filter_map(|name| self.0.get(&**name)).flatten();
        for (caller, samples) in
            all.filter(|(caller, _)| !names.iter().any(|name| **name == **caller))
        {
            *sums.entry(caller).or_default() += samples;
        }
        sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(caller, _)| caller)
    }
}

fn around(estimate: f64, error: f64) -> Interval {
    let half = WIDE * error;
    Interval { estimate, low: estimate - half, high: estimate + half }
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;
    use dbdyno_model::UntoldFunction;
    use dbdyno_model::random::stream;

    /// A profile of so many samples of 200 functions under ten callers, the first with so many
    /// times its usual share.
    fn sampled(seed: u64, samples: u64, first: f64, operations: f64) -> WeightedProfile {
        let weight = |at: u64| if at == 0 { 0.02 * first } else { 0.98 / 199.0 };
        let mut ends: Vec<f64> = Vec::with_capacity(200);
        for at in 0..200 {
            ends.push(ends.last().copied().unwrap_or_default() + weight(at));
        }
        let mut counts = vec![0_u64; 200];
        let mut stream = stream(&[seed]);
        for _ in 0..samples {
            let place = ends[199] * (stream.next_below(1 << 40) as f64 / (1_u64 << 40) as f64);
            counts[ends.partition_point(|end| *end < place).min(199)] += 1;
        }
        let mut text = format!("# samples: {samples}\n");
        for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            text.push_str(&format!("main;caller{};f{at} {count}\n", at % 10));
        }
        WeightedProfile { profile: read(&text).unwrap(), operations: Some(operations) }
    }

    fn side(seed: u64, samples: u64, first: f64, operations: f64) -> Vec<WeightedProfile> {
        (0..3).map(|of| sampled(100 * seed + of, samples, first, operations)).collect()
    }

    /// Shares alone do not tell what is chance: none of their differences is proved.
    #[test]
    fn shares_without_a_number_of_samples_are_not_tested() {
        let of = |head: &str, a: f64| {
            let b = 100.0 - a;
            let text = format!("{head}  {a:.2}%  m  m  [.] a\n  {b:.2}%  m  m  [.] b\n");
            WeightedProfile { profile: read(&text).unwrap(), operations: None }
        };
        let told = "# Samples: 10K of event 'cycles'\n";
        let top =
            "   PerfTop:  104692 irqs/sec  kernel:99.5%  exact: 0.0% [4000Hz cycles],  (all)\n";
        for (base, test) in [("", ""), (told, ""), ("", told), (top, top)] {
            let found = difference(&[of(base, 4.1)], &[of(test, 6.1)]);
            let one = &found.functions[0];
            assert_eq!((one.p_value, one.q_value), (None, None), "{found:?}");
            assert!(one.weighted.low.is_infinite() && one.weighted.high.is_infinite());
            assert!((one.weighted.estimate.abs() - 0.02).abs() < 1e-9, "{one:?}");
            assert_eq!(found.samples.base.is_some(), base == told);
            assert_eq!(found.dispersion, None);
        }
        let found = difference(&[of(told, 4.1)], &[of(told, 6.1)]);
        assert!(found.functions.iter().any(|one| one.q_value.unwrap() < 0.001), "{found:?}");
    }

    /// What a list that was cut does not have is not known, and is no difference.
    #[test]
    fn of_excerpts_only_what_both_tell_is_compared() {
        let cut = |lines: &str| {
            let text = format!("# Samples: 12K of event 'cycles'\n{lines}");
            WeightedProfile { profile: read(&text).unwrap(), operations: Some(1e6) }
        };
        let shared = "  19.76%  m  m  [.] buf_page\n  14.20%  m  m  [.] rw_lock\n";
        let longer = format!("{shared}   9.50%  m  m  [.] btr_search\n");
        let found = difference(&[cut(shared)], &[cut(&longer)]);
        assert!(found.total.low <= 1e-12 && found.total.high >= -1e-12, "{:?}", found.total);
        let names: Vec<&str> = found.functions.iter().map(|one| one.name.as_str()).collect();
        assert!(!names.contains(&"btr_search"), "{names:?}");
        assert!(
            found.functions.iter().all(|one| one.q_value.unwrap() > 0.5),
            "{:?}",
            found.functions
        );
    }

    /// The largest function of a list is named though the other list lacks it: with its share of
    /// the side that tells it, and without a difference. A profile that is whole tells all.
    #[test]
    fn what_one_excerpt_lacks_is_named_without_a_difference() {
        let of = |lines: &[(f64, &str)]| {
            let line = |(share, name): &(f64, &str)| format!("  {share}%  m  m  [.] {name}\n");
            let text: String = lines.iter().map(line).collect();
            let profile = read(&format!("# Samples: 12K of event 'cycles'\n{text}")).unwrap();
            WeightedProfile { profile, operations: Some(1e6) }
        };
        let base = of(&[(40.0, "scan(THD*)"), (20.0, "lock"), (2.0, "old")]);
        let test = of(&[(21.0, "lock.part.0"), (10.0, "new")]);
        let found = difference(std::slice::from_ref(&base), std::slice::from_ref(&test));
        let told = |one: &UntoldFunction| {
            let percent = |share: f64| (1_000.0 * share).round() / 10.0;
            let share = one.share.map(|share| share.map(percent));
            (one.name.clone(), share.base, share.test, one.lacking.base, one.lacking.test)
        };
        let untold: Vec<_> = found.untold.iter().map(told).collect();
        assert_eq!(
            untold,
            [
                ("scan(THD*)".to_owned(), Some(40.0), None, false, true),
                ("new".to_owned(), None, Some(10.0), true, false),
                ("old".to_owned(), Some(2.0), None, false, true),
            ]
        );
        let names: Vec<&str> = found.functions.iter().map(|one| one.name.as_str()).collect();
        assert!(names.contains(&"lock") && names.len() == 2, "{names:?}");
        let whole = of(&[(60.0, "scan(THD*)"), (40.0, "lock")]);
        let found = difference(&[base.clone(), whole.clone()], std::slice::from_ref(&whole));
        assert_eq!(found.untold.iter().map(told).collect::<Vec<_>>(), [], "old is 0 there");
        let other = of(&[(20.0, "lock")]);
        let found = difference(&[base.clone(), other], &[whole]);
        let scan = ("scan(THD*)".to_owned(), Some(40.0), Some(60.0), true, false);
        assert_eq!(told(&found.untold[0]), scan);
        let text = |lines: &str| format!("# Samples: 12K of event 'cycles'\n{lines}");
        let (cut, tail) = (
            text("  40%  m  m  [.] scan\n  20%  m  m  [.] lock\n"),
            text("  20%  m  m  [.] lock\n"),
        );
        let texts = PerArm { base: vec![&*cut], test: vec![&*tail] };
        let side =
            |text: &str| [WeightedProfile { profile: read(text).unwrap(), operations: Some(1.0) }];
        let tree = flame_graph(&side(&cut), &side(&tail), &texts).unwrap();
        let mut frames: Vec<&str> = tree.callees.iter().map(|one| one.name.as_str()).collect();
        frames.sort_unstable();
        assert_eq!(frames, ["[left out of an excerpt]", "lock"], "the graph claims none either");
    }

    /// All threads wait for conditions: the function that waits tells what for, whatever tool has
    /// looked at them.
    #[test]
    fn waits_are_compared_by_the_function_that_waits() {
        let pmp = |waits: &str| {
            format!(
                "  150 pthread_cond_wait,os_event::wait,{waits},one\n   30 poll,vio_io_wait,one\n"
            )
        };
        let gdb = |waits: &str| {
            let thread = |at: usize| {
                format!(
                    "Thread {at} (Thread 0x7f{at} (LWP {at})):\n#0  0x01 in \
                     pthread_cond_wait@@GLIBC_2.3.2 () from /x\n#1  0x02 in {waits} ()\n#2  0x03 in \
                     one ()\n\n"
                )
            };
            (1..151).map(thread).collect::<String>()
        };
        let folded =
            |waits: &str| format!("m;one;{waits};futex_wait;schedule;finish_task_switch 90\n");
        let bcc = |waits: &str| {
            format!(
                "Tracing off-CPU time (us) of all threads by user + kernel stack...\n    \
                 finish_task_switch\n    schedule\n    {waits}\n    one\n    -    m (7)\n        90\n\n"
            )
        };
        for (of, is_proved) in
            [(&pmp as &dyn Fn(&str) -> String, true), (&gdb, true), (&folded, false), (&bcc, false)]
        {
            let side = |waits: &str| {
                [WeightedProfile { profile: read(&of(waits)).unwrap(), operations: None }]
            };
            let found = difference(&side("lock_wait_suspend_thread"), &side("log_write_up_to"));
            assert_eq!(found.place, FunctionPlace::Waiting);
            for name in ["lock_wait_suspend_thread", "log_write_up_to"] {
                let one = found.functions.iter().find(|one| one.name == name).unwrap();
                assert!(one.weighted.estimate.abs() > 0.8, "{one:?}");
                assert_eq!(one.q_value.is_some_and(|q| q <= Q_MOST), is_proved, "{one:?}");
            }
        }
    }

    /// Cycles and instructions, or threads that wait and samples of a processor, are not compared;
    /// where weights are of different units, shares are.
    #[test]
    fn only_what_counts_the_same_is_compared() {
        let of = |text: &str| {
            vec![WeightedProfile { profile: read(text).unwrap(), operations: Some(10.0) }]
        };
        let report = |head: &str| format!("{head}   100.00%  m  m  [.] f\n");
        let events = "# Event count (approx.): 8000000\n";
        let cycles = report("# Samples: 4K of event 'cycles'\n");
        let counted = report(&format!("# Samples: 4K of event 'cycles'\n{events}"));
        let instructions = report(&format!("# Samples: 4K of event 'instructions'\n{events}"));
        let threads = "  7 poll,main\n";
        let (untold, shares) = ("main;f 12\n", report(""));
        for (base, test) in [(&counted, &instructions), (&cycles, &instructions)] {
            assert!(
                why_incomparable(&of(base), &of(test)).unwrap().contains("cycles, and another")
            );
        }
        assert!(why_incomparable(&of(&counted), &of(threads)).unwrap().contains("threads"));
        let (off, clock) = ("# event: offcpu-time\nf 9\n", "# event: cpu-clock\nf 9\n");
        for (base, test) in [(off, clock), (off, untold), (untold, off), (off, &*cycles)] {
            let why = why_incomparable(&of(base), &of(test)).unwrap();
            assert!(why.contains("off-CPU time"), "{why}");
        }
        assert_eq!(why_incomparable(&of(clock), &of("# event: task-clock\nf 9\n")), None);
        for (base, test, scale) in [
            (&*counted, &*counted, ProfileScale::Operations),
            (&counted, &cycles, ProfileScale::Samples),
            (&shares, &shares, ProfileScale::Samples),
            (threads, threads, ProfileScale::Samples),
            (untold, &counted, ProfileScale::Samples),
            (untold, untold, ProfileScale::Operations),
        ] {
            assert_eq!(why_incomparable(&of(base), &of(test)), None);
            assert_eq!(difference(&of(base), &of(test)).scale, scale, "{base} {test}");
        }
        let measure = |text: &str| difference(&of(text), &of(text)).measure;
        let measures = [&*counted, threads, untold].map(measure);
        assert_eq!(measures, ["cycles", "time of threads, working or waiting", "samples"]);
    }

    #[test]
    fn weights_add_up_to_the_change_of_the_whole() {
        let (base, test) = (side(1, 4_000, 1.0, 1_000.0), side(2, 4_400, 3.0, 1_000.0));
        let found = difference(&base, &test);
        let sum: f64 = found.functions.iter().map(|one| one.weighted.estimate).sum();
        assert!((sum - 0.1).abs() < 1e-9, "4 400 samples for 4 000");
        assert!((found.total.estimate - sum).abs() < 1e-12);
        assert_eq!(found.functions[0].name, "f0", "it was planted");
        assert!(found.functions[0].q_value.unwrap() < 1e-6);
        assert_eq!(found.scale, ProfileScale::Operations);
    }

    #[test]
    fn of_equal_profiles_no_function_is_called_changed() {
        let mut called = 0;
        for seed in 0..20 {
            let (base, test) =
                (side(10 + seed, 4_000, 1.0, 1.0), side(500 + seed, 4_000, 1.0, 1.0));
            let found = difference(&base, &test);
            assert!((1.0..1.3).contains(&found.dispersion.unwrap()), "{found:?}");
            called += u32::from(found.functions.iter().any(|one| one.q_value.unwrap() <= Q_MOST));
        }
        assert!(called <= 2, "{called} of 20");
    }

    /// Some tools print how long a stack was seen, in nanoseconds, and not how often.
    #[test]
    fn samples_are_as_many_as_there_were_whatever_their_weight() {
        let heavy = |one: &WeightedProfile| {
            let scaled = |sums: &BTreeMap<Arc<str>, f64>| {
                sums.iter().map(|(name, own)| (name.clone(), own * 1_001_001.0)).collect()
            };
            let Profile { own, by_caller, total, .. } = &one.profile;
            let by_caller = by_caller.iter().map(|(place, own)| (place.clone(), own * 1_001_001.0));
            let profile = Profile {
                unit: Some(1_001_001.0),
                own: scaled(own),
                by_caller: by_caller.collect(),
                total: total * 1_001_001.0,
                ..Profile::without_samples()
            };
            WeightedProfile { profile, operations: one.operations }
        };
        let rare: String = (0..9).map(|at| format!("main;r{at} 1001001\n")).collect();
        let text = format!("main;a 2002002\n{rare}");
        assert_eq!(read(&text).unwrap().unit, Some(1_001_001.0));
        let (base, test) = (side(3, 4_000, 1.0, 1.0), side(4, 4_000, 1.5, 1.0));
        let light = difference(&base, &test);
        let all = |side: &[WeightedProfile]| side.iter().map(heavy).collect::<Vec<_>>();
        let found = difference(&all(&base), &all(&test));
        assert_eq!(found.samples, light.samples);
        for one in &found.functions {
            let other = light.functions.iter().find(|other| other.name == one.name).unwrap();
            assert!(
                (one.q_value.unwrap() - other.q_value.unwrap()).abs() < 1e-9,
                "{one:?} {other:?}"
            );
            assert!((one.weighted.high - other.weighted.high).abs() < 1e-9);
        }
    }

    /// 10 % of a function of 2 % is found with three profiles of 80 000 samples a side, as
    /// `docs/journal/2026-11-24-explain.md` has it.
    #[test]
    fn a_tenth_of_a_small_function_is_found_with_enough_samples() {
        let (base, test) = (side(7, 80_000, 1.0, 1.0), side(8, 80_000, 1.1, 1.0));
        let found = difference(&base, &test);
        let planted = found.functions.iter().find(|one| one.name == "f0").unwrap();
        assert!(planted.q_value.unwrap() <= Q_MOST, "{planted:?}");
    }

    #[test]
    fn cost_that_only_moved_is_told_so() {
        let text = |a: u64, b: u64| {
            let samples = a + b + 6_000;
            format!("# samples: {samples}\nmain;work;a {a}\nmain;work;b {b}\nmain;rest 6000\n")
        };
        let one = |a, b| {
            vec![WeightedProfile { profile: read(&text(a, b)).unwrap(), operations: Some(1_000.0) }]
        };
        let found = difference(&one(900, 300), &one(300, 900));
        let of = |name: &str| found.functions.iter().find(|one| one.name == name).unwrap();
        assert_eq!(of("a").moved_within.as_deref(), Some("work"));
        assert_eq!(of("b").moved_within.as_deref(), Some("work"));
        let found = difference(&one(900, 300), &one(900, 600));
        assert!(found.functions.iter().all(|one| one.moved_within.is_none()), "it grew");
    }

    #[test]
    fn without_operations_shares_are_compared() {
        let mut base = side(1, 2_000, 1.0, 1.0);
        base[0].operations = None;
        let found = difference(&base, &side(2, 3_000, 1.0, 1.0));
        assert_eq!(found.scale, ProfileScale::Samples);
        assert!(found.total.estimate.abs() < 1e-9);
    }

    /// A hundred samples of a processor are a second; weights below one are weights.
    #[test]
    fn seconds_of_a_processor_are_a_hundred_samples_each() {
        let text = |a: f64, b: f64| {
            format!(
                "Type: cpu\nShowing nodes accounting for 23.27s, 100% of 23.27s total\n      flat  \
                 flat%   sum%        cum   cum%\n   {a}s 50.00% 50.00%   {a}s 50.00%  f\n   {b}s \
                 50.00% 100.0%  {b}s 50.00%  g\n"
            )
        };
        let side =
            |a, b| [WeightedProfile { profile: read(&text(a, b)).unwrap(), operations: None }];
        let found = difference(&side(11.63, 11.64), &side(8.0, 15.27));
        assert_eq!(found.samples.base.map(f64::round), Some(2_327.0));
        assert!(
            found.functions.iter().all(|one| one.q_value.unwrap() < 0.001),
            "{:?}",
            found.functions
        );
    }
}
