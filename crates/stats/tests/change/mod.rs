//! Change points: false alarms, power and what must hold of any series.
//!
//! Seeded, so that every run sees the same noise. With 600 series the standard error of a share of
//! 1 % is 0.4 %; the bounds leave room for that, and `docs/CALIBRATION.md` has the shares of many
//! more.

mod series;

use dbdyno_model::{ChangeScale, NullKind, SeriesChanges, ShiftWeight, Slide};
use dbdyno_stats::{ChangeOptions, change_points, e_divisive, is_same_shift};
use proptest::collection::vec;
use proptest::prelude::*;
use series::{Shape, simulated};

fn options() -> ChangeOptions {
    ChangeOptions { scale: ChangeScale::Difference, ..ChangeOptions::with_budget(0.0) }
}

fn changes(values: &[f64]) -> SeriesChanges {
    change_points(values, &options()).unwrap()
}

fn share(count: u64, mut holds: impl FnMut(u64) -> bool) -> f64 {
    (0..count).filter(|&index| holds(index)).count() as f64 / count as f64
}

fn false_alarms(shape: Shape, n: usize, count: u64) -> f64 {
    share(count, |index| {
        let found = changes(&simulated(shape, n, index));
        !found.shifts.is_empty() || !found.slides.is_empty()
    })
}

/// So many values and so many after them that are this much larger.
fn step(shape: Shape, (before, after): (usize, usize), size: f64, index: u64) -> Vec<f64> {
    let mut values = simulated(shape, before + after, index);
    values[before..].iter_mut().for_each(|value| *value += size);
    values
}

#[test]
fn noise_of_any_kind_has_no_changes() {
    let kinds = [Shape::Noise(0.0), Shape::Spikes, Shape::LogNormal, Shape::TwoModes];
    for (n, count) in [(30, 400), (100, 200)] {
        for shape in kinds {
            let alarms = false_alarms(shape, n, count);
            assert!(alarms <= 0.02, "{shape:?} of {n}: {alarms}");
        }
    }
}

#[test]
fn correlated_noise_has_few_changes() {
    for (phi, most) in [(0.3, 0.03), (0.6, 0.06)] {
        for (n, count) in [(30, 600), (100, 200), (200, 100)] {
            let alarms = false_alarms(Shape::Noise(phi), n, count);
            assert!(alarms <= most, "{phi} of {n}: {alarms}");
        }
    }
}

#[test]
fn a_step_is_found_where_it_is_and_as_large_as_it_is() {
    let (mut found, mut placed, mut sized) = (0, 0, 0);
    let count = 120;
    for index in 0..count {
        let changes = changes(&simulated(Shape::Step, 100, index));
        let near = changes.shifts.iter().find(|shift| shift.first.abs_diff(50) <= 5);
        if let Some(shift) = near {
            found += 1;
            placed += u32::from((shift.earliest..=shift.latest).contains(&50));
            sized += u32::from(shift.size.low <= 1.5 && 1.5 <= shift.size.high);
        }
    }
    assert!(found >= 106, "{found} of {count}");
    assert!(placed >= found * 91 / 100, "{placed} of {found}");
    assert!(sized >= found * 91 / 100, "{sized} of {found}");
}

/// Half of such steps are found, those that are the clearest.
#[test]
fn a_step_that_is_found_by_luck_is_not_told_larger_than_it_is() {
    let (mut found, mut held, mut reach_zero) = (0, 0, 0);
    for index in 0..500 {
        let shifts = changes(&step(Shape::Noise(0.0), (10, 20), 1.6, index)).shifts;
        if let [shift] = &shifts[..] {
            found += 1;
            held += u32::from(shift.size.low <= 1.6 && 1.6 <= shift.size.high);
            reach_zero += u32::from(shift.size.low <= 0.0);
        }
    }
    assert!((180..320).contains(&found), "{found}");
    assert!(held >= found * 94 / 100, "{held} of {found}");
    assert!(reach_zero >= found / 10, "{reach_zero} of {found}");
}

#[test]
fn a_clear_step_among_few_values_has_a_size() {
    for before in [6, 8, 10, 15] {
        for index in 0..60 {
            let shifts = changes(&step(Shape::Noise(0.0), (before, before), 10.0, index)).shifts;
            if let [shift] = &shifts[..] {
                let size = shift.size;
                // So few values that resemble each other bound little, and the step is there.
                if shift.null != NullKind::Permutation {
                    assert!(
                        size.low > 0.0 || size.low.is_infinite(),
                        "{before}, {index}: {size:?}"
                    );
                    continue;
                }
                assert!(size.low > 4.0 && size.high < 17.0, "{before}, {index}: {size:?}");
            }
        }
    }
}

/// Latencies are told in whole milliseconds.
#[test]
fn rounding_does_not_make_a_size_next_to_nothing() {
    let (mut found, mut reach_zero) = (0, 0);
    for index in 0..150 {
        let values = step(Shape::Noise(0.0), (30, 30), 2.0, index);
        let rounded: Vec<f64> = values.iter().map(|value| value.round()).collect();
        for shift in changes(&rounded).shifts {
            found += 1;
            reach_zero += u32::from(shift.size.low <= 0.0 && shift.size.estimate > 0.0);
        }
    }
    assert!(found > 120 && reach_zero <= found / 50, "{reach_zero} of {found}");
}

/// The latest 20 of a stranger's 74 times are a twenty-fifth up. The step was put four values too
/// early, and those four made the levels overlap: no alarm.
#[test]
fn a_step_that_is_put_a_little_early_alarms() {
    let values = [
        165.1, 168.1, 167.9, 170.6, 174.9, 167.8, 167.5, 168.3, 164.6, 165.3, 165.4, 157.4, 158.4,
        164.9, 164.8, 164.9, 164.5, 169.4, 151.5, 165.1, 157.3, 165.0, 161.0, 137.9, 158.0, 154.5,
        164.2, 160.5, 164.8, 164.4, 134.2, 165.0, 165.7, 157.5, 161.4, 165.1, 165.3, 160.5, 165.2,
        167.7, 165.2, 164.1, 165.2, 164.2, 168.5, 168.4, 167.8, 150.0, 165.1, 164.8, 176.0, 164.4,
        164.6, 168.1, 174.7, 171.3, 175.1, 170.5, 175.3, 175.1, 171.2, 174.6, 170.7, 172.0, 172.5,
        173.2, 173.8, 175.5, 173.8, 174.9, 154.2, 171.1, 174.4, 171.8,
    ];
    let options = ChangeOptions::with_budget(0.02);
    let shifts = change_points(&values, &options).unwrap().shifts;
    let [shift] = &shifts[..] else { panic!("{shifts:?}") };
    assert!(shift.first < 54 && shift.weight == ShiftWeight::Alarm, "{shift:?}");
}

/// Four of five values of the new level lie beyond one of the old one.
#[test]
fn levels_that_overlap_seldom_alarm() {
    let options = ChangeOptions { superiority: 0.9, ..options() };
    let alarms = share(100, |index| {
        let shifts = change_points(&step(Shape::Noise(0.0), (50, 25), 1.19, index), &options);
        shifts.unwrap().shifts.iter().any(|shift| shift.weight == ShiftWeight::Alarm)
    });
    assert!(alarms <= 0.2, "{alarms}");
}

#[test]
fn a_level_that_comes_and_goes_is_two_changes() {
    let found = share(40, |index| {
        let changes = changes(&simulated(Shape::Bump, 100, index));
        let firsts: Vec<usize> = changes.shifts.iter().map(|shift| shift.first).collect();
        matches!(firsts[..], [up, down] if up.abs_diff(50) <= 2 && down.abs_diff(70) <= 2)
    });
    assert!(found >= 0.9, "{found}");
}

/// A latency that fell by 20 % in 60 runs and rose by 25 % in the next 40 was told as one that does
/// not change, and so was each of the others.
#[test]
fn a_level_that_turns_slides_twice() {
    let cases: [(&str, &[(usize, f64)]); 4] = [
        ("falls and rises", &[(60, -0.2), (40, 0.25)]),
        ("rises and falls", &[(60, 0.25), (40, -0.2)]),
        ("falls for long and rises", &[(85, -0.3), (15, 0.2)]),
        ("twice", &[(25, -0.2), (25, 0.25), (25, -0.2), (25, 0.25)]),
    ];
    for (name, parts) in cases {
        for index in 0..6 {
            let deviation = if index % 2 == 0 { 0.005 } else { 0.02 };
            let values = bent(parts, deviation, index);
            let found = changes(&values);
            let ends: Vec<usize> = found.slides.iter().map(|slide| slide.to).collect();
            let signs: Vec<f64> = found.slides.iter().map(|slide| slide.size.signum()).collect();
            let truth: Vec<f64> = parts.iter().map(|(_, rise)| rise.signum()).collect();
            assert_eq!(signs, truth, "{name} {index}: {:?}", found.slides);
            assert!(found.shifts.is_empty(), "{name} {index}: {:?}", found.shifts);
            let mut end = 0;
            for (told, (count, _)) in ends.iter().zip(parts) {
                end += count;
                assert!(told.abs_diff(end) <= 4, "{name} {index}: {ends:?}");
            }
        }
    }
}

/// What slides after a step is told beside it.
#[test]
fn a_slide_after_a_step_is_told() {
    for index in 0..6 {
        let mut values = bent(&[(60, 0.0), (40, 0.25)], 0.02, index);
        values[..60].iter_mut().for_each(|value| *value += 0.4);
        let found = changes(&values);
        let [shift] = &found.shifts[..] else { panic!("{index}: {:?}", found.shifts) };
        let [slide] = &found.slides[..] else { panic!("{index}: {:?}", found.slides) };
        assert!(shift.first == 60 && shift.size.estimate < 0.0, "{index}: {shift:?}");
        assert!((slide.from, slide.to) == (60, 100) && slide.size > 0.15, "{index}: {slide:?}");
    }
}

#[test]
fn a_level_that_stays_and_then_slides_alarms() {
    for deviation in [0.005, 0.02] {
        for index in 0..12 {
            let found = changes(&bent(&[(60, 0.0), (40, 0.25)], deviation, index));
            let alarms = found.shifts.iter().filter(|shift| shift.weight == ShiftWeight::Alarm);
            assert!(alarms.count() > 0, "{deviation} {index}: {found:?}");
        }
    }
}

/// A latency that fell by 0.2 % a run and rose by 20 % at once was told as one that slides to the
/// better. The size is that of the step, and not of what two middles of a slide make.
#[test]
fn a_step_within_a_slide_is_told_with_its_size() {
    for (slope, step) in [(-0.002, 0.2), (-0.002, 0.1), (-0.004, 0.3), (0.003, -0.15)] {
        for index in 0..8 {
            let noise = simulated(Shape::Noise(0.0), 110, index);
            let value = |(at, noise): (usize, &f64)| {
                let jump = if at >= 70 { step } else { 0.0 };
                1.0 + slope * at as f64 + jump + 0.01 * noise
            };
            let values: Vec<f64> = noise.iter().enumerate().map(value).collect();
            let found = changes(&values);
            let [shift] = &found.shifts[..] else { panic!("{slope} {step} {index}: {found:?}") };
            assert!(shift.first.abs_diff(70) <= 1, "{slope} {step} {index}: {shift:?}");
            assert!((shift.size.estimate - step).abs() < 0.02, "{slope} {step} {index}: {shift:?}");
            assert_eq!(shift.weight, ShiftWeight::Alarm, "{slope} {step} {index}: {shift:?}");
            let to_the_other_side = |slide: &Slide| slide.size * step < 0.0;
            assert!(found.slides.iter().all(to_the_other_side), "{index}: {:?}", found.slides);
            assert!(!found.slides.is_empty(), "{slope} {step} {index}");
        }
    }
}

/// Lines that meet, each so many values long and so steep in all.
fn bent(parts: &[(usize, f64)], deviation: f64, index: u64) -> Vec<f64> {
    let mut level = 1.0;
    let mut values = Vec::new();
    for &(count, rise) in parts {
        values.extend((0..count).map(|at| level + rise * at as f64 / count as f64));
        level += rise;
    }
    let noise = simulated(Shape::Noise(0.0), values.len(), index);
    values.iter().zip(noise).map(|(value, noise)| value + deviation * noise).collect()
}

#[test]
fn what_slides_is_named_and_is_no_step() {
    let (mut slides, mut steps) = (0, 0);
    for index in 0..100 {
        let changes = changes(&simulated(Shape::Drift, 100, index));
        slides += usize::from(!changes.slides.is_empty());
        steps += usize::from(!changes.shifts.is_empty());
    }
    assert!(slides >= 88 && steps <= 12, "{slides} slides, {steps} steps");
}

#[test]
fn two_modes_are_named_and_raise_no_alarm() {
    let named = share(100, |index| {
        let changes = changes(&simulated(Shape::TwoModes, 60, index));
        let alarms = |shift: &dbdyno_model::Shift| shift.weight == ShiftWeight::Alarm;
        changes.modes.is_some() && !changes.shifts.iter().any(alarms)
    });
    assert!(named >= 0.95, "{named}");
    for shape in [Shape::Noise(0.0), Shape::Spikes, Shape::Step] {
        let wrong = share(100, |index| changes(&simulated(shape, 60, index)).modes.is_some());
        assert!(wrong <= 0.03, "{shape:?}: {wrong}");
    }
}

/// What the comparison column is compared for: at the same nominal level it sees changes in
/// correlated noise that are none.
#[test]
fn e_divisive_takes_correlation_for_changes() {
    let theirs = share(60, |index| {
        !e_divisive(&simulated(Shape::Noise(0.6), 60, index), 0.01, 199, 1).unwrap().is_empty()
    });
    let ours = false_alarms(Shape::Noise(0.6), 60, 60);
    assert!(theirs > 0.3 && ours < 0.1, "{theirs} against {ours}");
}

#[test]
fn appended_values_keep_a_clear_change() {
    for index in 0..4 {
        let values = simulated(Shape::Bump, 100, index);
        let early = changes(&values[..66]);
        let clear = early.shifts.first().expect("three standard deviations are seen");
        for length in (67..=100).step_by(3) {
            let later = changes(&values[..length]);
            let kept = later.shifts.iter().any(|shift| is_same_shift(shift, clear));
            assert!(kept, "series {index}: gone with {length} values");
        }
    }
}

/// Values with few digits, so that there are ties, and a step in some.
fn values() -> impl Strategy<Value = Vec<f64>> {
    (vec(0..400i32, 12..60), 0..3i32, 0..60usize).prop_map(|(noise, step, at)| {
        let value = |(index, noise): (usize, i32)| {
            f64::from(noise + if index >= at { 300 * step } else { 0 }) / 8.0 + 1.0
        };
        noise.into_iter().enumerate().map(value).collect()
    })
}

fn firsts(changes: &SeriesChanges) -> Vec<usize> {
    changes.shifts.iter().map(|shift| shift.first).collect()
}

proptest! {
    // What is near the level of 1 % is decided by draws, and no theorem: of 200 seeds none was.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn another_unit_and_another_zero_change_nothing(values in values(), unit in 1..6i32) {
        let there: Vec<f64> =
            values.iter().map(|value| value * 2f64.powi(unit) + 1024.0).collect();
        let (one, other) = (changes(&values), changes(&there));
        prop_assert_eq!(firsts(&one), firsts(&other));
        for (a, b) in one.shifts.iter().zip(&other.shifts) {
            prop_assert_eq!(a.p_value, b.p_value);
            prop_assert!((a.size.estimate * 2f64.powi(unit) - b.size.estimate).abs() < 1e-6);
        }
    }

    #[test]
    fn backwards_a_single_change_is_mirrored(values in values()) {
        let mut backwards = values.clone();
        backwards.reverse();
        let (one, other) = (changes(&values), changes(&backwards));
        prop_assume!(one.shifts.len() == 1 && other.shifts.len() == 1);
        let (a, b) = (&one.shifts[0], &other.shifts[0]);
        let mirrored = values.len() - b.first;
        let is_mirror = (a.size.estimate + b.size.estimate).abs() < 1e-9;
        prop_assert!(is_mirror || a.first != mirrored, "{a:?} {b:?}");
        prop_assert!((a.earliest..=a.latest).contains(&mirrored), "{a:?} {b:?}");
        prop_assert!((a.superiority - b.superiority).abs() < 0.2);
    }

    #[test]
    fn spikes_of_any_size_are_no_level(
        places in vec(0..40usize, 1..=3), height in 1.0..1e12f64, noise in vec(0..100i32, 40..=40),
    ) {
        let mut values: Vec<f64> = noise.into_iter().map(f64::from).collect();
        // Evened out, so that there is nothing to be found but the spikes.
        for (at, value) in values.iter_mut().enumerate() {
            *value = *value / 1e3 + (at % 2) as f64;
        }
        for place in places {
            values[place] += height;
        }
        prop_assert!(changes(&values).shifts.is_empty());
    }

    #[test]
    fn nothing_makes_it_panic(values in vec(any::<f64>(), 0..40)) {
        let _ = change_points(&values, &ChangeOptions::with_budget(0.02));
        let _ = change_points(&values, &options());
        let _ = e_divisive(&values, 0.01, 19, 1);
    }
}
