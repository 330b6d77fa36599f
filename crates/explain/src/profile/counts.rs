//! Whether the weights of stacks are numbers of samples.
//!
//! Collapsed stacks are sums: of samples, or of cycles, microseconds and bytes, and seldom do they
//! say of what. Where a thousand microseconds are taken for a thousand samples, chance is taken for
//! a change. Samples show by their tail: of a server's many stacks most are rare, and were seen
//! once, twice, some times.
//!
//! ```text
//!   samples        1 1 1 1 1 1 1 1 2 2 3 5 9 40 700          many ones, and few are large
//!   clock          the same, each times 10101010 ns
//!   cycles, times  1 1 9 166807 171070 177602 184354 …       nothing of that
//! ```
//!
//! Where weights do not look so, nobody knows how many samples there were, and no verdict is given.

/// Stacks that were seen once, at least; of fewer stacks some may by chance have the same amount.
const ONES_LEAST: u64 = 8;
/// Their share of all stacks, at least: of recorded profiles of servers 46 % to 90 %, and of waits
/// in whole milliseconds up to 20 %.
const ONES_SHARE_LEAST: f64 = 0.25;
/// Half of all stacks were seen so many times at most.
const FEW: f64 = 10.0;
/// The weight of a sample is 1, or a period of at least so many nanoseconds or microseconds.
const PERIOD_LEAST: f64 = 1_000.0;
/// How far a multiple of a period may be from a whole one.
const ROUNDING: f64 = 1e-6;

/// The weight of one sample, of weights and how many stacks have each; none where they do not look
/// like numbers of samples.
pub(super) fn weight_of_sample(weights: &[(f64, u64)]) -> Option<f64> {
    let least = weights.iter().map(|(weight, _)| *weight).fold(f64::INFINITY, f64::min);
    let is_period = least >= PERIOD_LEAST && least.is_finite();
    if least != 1.0 && !is_period {
        return None;
    }
    let (mut ones, mut few, mut all) = (0, 0, 0);
    for (weight, stacks) in weights {
        let times = weight / least;
        if (times - times.round()).abs() > ROUNDING {
            return None;
        }
        all += stacks;
        ones += if times.round() == 1.0 { *stacks } else { 0 };
        few += if times <= FEW { *stacks } else { 0 };
    }
    // A line for each sample, as of a text that nobody has summed up.
    let is_unsummed = ones == all && !is_period;
    let has_tail = ones >= ONES_LEAST && ones as f64 >= ONES_SHARE_LEAST * all as f64;
    (is_unsummed || (has_tail && 2 * few >= all)).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::super::difference::{WeightedProfile, difference};
    use super::super::read::read;
    use dbdyno_model::ProfileDifference;
    use dbdyno_model::random::{RandomStream, stream};

    /// Profiles of each kind that are compared.
    const PAIRS: u64 = 20;
    const STACKS: usize = 60;
    const SAMPLES: u64 = 2_000;

    fn uniform(stream: &mut RandomStream) -> f64 {
        stream.next_below(1 << 40) as f64 / (1_u64 << 40) as f64
    }

    /// An amount whose logarithm is about normal with this deviation, around a middle.
    fn amount(stream: &mut RandomStream, middle: f64, deviation: f64) -> f64 {
        let sum: f64 = (0..4).map(|_| uniform(stream)).sum();
        middle * ((sum - 2.0) * 3.0_f64.sqrt() * deviation).exp()
    }

    /// Sums of what is drawn for each sample, by stack: the first has so many times its share.
    fn sums(seed: u64, first: f64, draw: &dyn Fn(&mut RandomStream, usize) -> f64) -> String {
        let mut stream = stream(&[seed]);
        // The first in the middle, the others as often as words are.
        let share = |at: usize| if at == 0 { 0.4 * first } else { (at as f64).powf(-1.6) };
        let whole: f64 = (0..STACKS).map(share).sum();
        let mut sums = [0.0; STACKS];
        for _ in 0..SAMPLES {
            let (mut place, mut at) = (whole * uniform(&mut stream), 0);
            while place > share(at) && at < STACKS - 1 {
                place -= share(at);
                at += 1;
            }
            // A stack stands for rarer ones, which nobody has seen twice.
            sums[at] += draw(&mut stream, at).trunc();
        }
        let lines = sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0);
        lines.map(|(at, sum)| format!("main;work;f{at} {sum}\n")).collect()
    }

    fn found(base: &str, test: &str) -> ProfileDifference {
        let of = |text: &str| [WeightedProfile { profile: read(text).unwrap(), operations: None }];
        difference(&of(base), &of(test))
    }

    fn changed(of: &ProfileDifference) -> usize {
        of.functions.iter().filter(|one| one.q_value.is_some_and(|q| q <= 0.05)).count()
    }

    /// A tail of rare stacks, as all profiles of servers have.
    fn with_tail(seed: u64, text: &str, draw: &dyn Fn(&mut RandomStream, usize) -> f64) -> String {
        let mut stream = stream(&[seed, 1]);
        let tail = (0..40).map(|at| {
            let weight = draw(&mut stream, at).trunc().max(1.0);
            format!("main;rare;r{at} {weight}\n")
        });
        text.to_owned() + &tail.collect::<String>()
    }

    /// Two draws of one distribution, whatever weights are: changes that are none are found in one
    /// of twenty at most.
    #[test]
    fn of_equal_profiles_nothing_is_called_changed_whatever_weights_are() {
        let cycles = |stream: &mut RandomStream, at: usize| match at {
            // As each recording begins, until the kernel has found the period.
            50.. => 1.0 + (stream.next_below(9) as f64),
            _ => amount(stream, 170_000.0, 0.4),
        };
        let clock = |_: &mut RandomStream, _: usize| 10_101_010.0;
        let ones = |_: &mut RandomStream, _: usize| 1.0;
        let micros = |stream: &mut RandomStream, _: usize| amount(stream, 400.0, 1.5);
        let millis = |stream: &mut RandomStream, _: usize| amount(stream, 4.0, 1.5);
        let bytes = |stream: &mut RandomStream, _: usize| {
            [16.0, 32.0, 64.0, 1_024.0, 65_536.0, 1_048_576.0][stream.next_below(6) as usize]
        };
        type Draw<'d> = &'d dyn Fn(&mut RandomStream, usize) -> f64;
        let kinds: [(&str, Draw<'_>); 10] = [
            ("", &cycles),
            ("# event: cycles\n", &cycles),
            ("", &clock),
            ("", &ones),
            ("", &micros),
            ("# event: off-CPU\n", &micros),
            ("# event: offcpu-time\n", &millis),
            ("", &millis),
            ("", &bytes),
            ("# event: alloc\n", &bytes),
        ];
        for (kind, (head, draw)) in (0..).zip(kinds) {
            let mut wrong = 0;
            for pair in 0..PAIRS {
                let of = |side: u64| {
                    let seed = 1_000 * kind + 2 * pair + side;
                    head.to_owned() + &with_tail(seed, &sums(seed, 1.0, draw), draw)
                };
                wrong += u64::from(changed(&found(&of(0), &of(1))) > 0);
            }
            assert!(20 * wrong <= PAIRS, "kind {kind}, {head:?}: {wrong} of {PAIRS}");
        }
    }

    /// What costs twice as much is found where weights are samples, of a clock or without a unit.
    #[test]
    fn what_is_planted_is_found_in_counts() {
        for period in [1.0, 10_101_010.0] {
            let draw = |_: &mut RandomStream, _: usize| period;
            for pair in 0..PAIRS {
                let of = |seed, first| with_tail(seed, &sums(seed, first, &draw), &draw);
                let found = found(&of(2 * pair, 1.0), &of(2 * pair + 1, 2.0));
                let planted = found.functions.iter().find(|one| one.name == "f0").unwrap();
                assert!(planted.q_value.is_some_and(|q| q <= 0.05), "{period} {planted:?}");
                assert!(found.samples.base.unwrap() * planted.share.base >= 200.0, "{found:?}");
            }
        }
    }

    /// Few stacks, however often they were seen, may be anything, unless the text says what.
    #[test]
    fn where_the_number_of_samples_is_not_told_nothing_is_proved() {
        let of = |head: &str, a: u64| format!("{head}main;a {a}\nmain;b 60000\n");
        let none = found(&of("", 30_000), &of("", 60_000));
        assert_eq!((changed(&none), none.samples.base), (0, None));
        let why = read(&of("", 30_000)).unwrap().taken_for;
        assert!(why.ends_with("how many samples their weights stand for is not told"), "{why}");
        let told = found(&of("# samples: 900\n", 30_000), &of("# samples: 1200\n", 60_000));
        assert_eq!((changed(&told), told.samples.base.map(f64::round)), (2, Some(900.0)));
        let error = read("# samples: many\nmain;a 1\n").unwrap_err();
        assert!(error.line == 1 && error.what.contains("# samples: 12000"), "{error}");
    }
}
