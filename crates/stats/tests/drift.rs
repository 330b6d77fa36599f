//! Drift, found where it is and not where it is not, on runs that we make up.

use std::sync::LazyLock;

use dbdyno_model::random::{self, RandomStream};
use dbdyno_stats::{DriftVerdict, RateAt, StatsError, estimate_drift};
use statrs::distribution::{ContinuousCDF, Normal};

const TOLERANCE: f64 = 0.05;
const SECOND_NS: u64 = 1_000_000_000;

/// Standard normal noise by inversion of a table.
fn normal(stream: &mut RandomStream) -> f64 {
    const STEPS: u64 = 10_000;
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let quantile =
            |step: u64| Normal::standard().inverse_cdf((step as f64 + 0.5) / STEPS as f64);
        (0..STEPS).map(quantile).collect()
    });
    TABLE[stream.next_below(STEPS) as usize]
}

/// A run of slots of a second whose noise of 5 % keeps a share `phi` of itself from slot to slot.
fn run(seconds: u64, log_per_hour: f64, phi: f64, index: u64) -> Vec<RateAt> {
    let mut stream = random::stream(&[31, seconds, index]);
    let mut noise = normal(&mut stream);
    let slot = |second: u64| {
        noise = phi * noise + (1.0 - phi * phi).sqrt() * normal(&mut stream);
        let log = log_per_hour * second as f64 / 3600.0 + 0.05 * noise;
        RateAt { at_ns: second * SECOND_NS, rate: 1000.0 * log.exp() }
    };
    (0..seconds).map(slot).collect()
}

#[test]
fn the_interval_covers_the_truth_however_slots_resemble_each_other() {
    for phi in [0.0, 0.8, 0.98] {
        let truth = -0.10_f64;
        let covered = (0..2_000).filter(|&index| {
            let found = estimate_drift(&run(1_800, truth, phi, index), TOLERANCE).unwrap().per_hour;
            found.low <= truth.exp_m1() && truth.exp_m1() <= found.high
        });
        let covered = covered.count() as f64 / 2_000.0;
        assert!((0.93..=0.995).contains(&covered), "phi {phi}: {covered}");
    }
}

/// The same slots as if they were independent would be wrong in most runs.
#[test]
fn false_alarms_are_rare_where_slots_resemble_each_other() {
    let alarms = (0..2_000).filter(|&index| {
        let verdict = estimate_drift(&run(1_800, 0.0, 0.98, index), 0.0).unwrap().verdict;
        matches!(verdict, DriftVerdict::Declining | DriftVerdict::Rising)
    });
    let alarms = alarms.count() as f64 / 2_000.0;
    assert!(alarms <= 0.02, "{alarms}");
}

#[test]
fn each_drift_gets_its_name() {
    let named =
        |seconds, log| estimate_drift(&run(seconds, log, 0.5, 7), TOLERANCE).unwrap().verdict;
    assert_eq!(named(7_200, 0.0), DriftVerdict::Stable);
    assert_eq!(named(7_200, -0.3), DriftVerdict::Declining);
    assert_eq!(named(7_200, 0.3), DriftVerdict::Rising);
    assert_eq!(named(60, 0.0), DriftVerdict::Undecided);
    let found = estimate_drift(&run(7_200, -0.3, 0.5, 7), TOLERANCE).unwrap();
    assert!((found.per_hour.estimate - (-0.3_f64).exp_m1()).abs() < 0.02, "{found:?}");
    assert_eq!(found.blocks, 20);
}

#[test]
fn an_exact_decline_is_found_exactly_and_a_constant_does_not_drift() {
    let exact = |log: f64| -> Vec<RateAt> {
        let slot = |k: u64| {
            let rate = 500.0 * (log * k as f64 / 3600.0).exp();
            RateAt { at_ns: k * SECOND_NS, rate }
        };
        (0..3_600).map(slot).collect()
    };
    let found = estimate_drift(&exact(-0.2), TOLERANCE).unwrap();
    assert!((found.per_hour.estimate - (-0.2_f64).exp_m1()).abs() < 1e-4, "{found:?}");
    assert_eq!(found.verdict, DriftVerdict::Declining);
    let constant = estimate_drift(&exact(0.0), TOLERANCE).unwrap();
    assert_eq!(constant.verdict, DriftVerdict::Stable);
    assert!(constant.per_hour.estimate.abs() < 1e-9, "{constant:?}");
}

#[test]
fn too_little_is_undecided_and_nonsense_is_refused() {
    let few = run(4, 0.0, 0.0, 1);
    let found = estimate_drift(&few, TOLERANCE).unwrap();
    assert_eq!((found.verdict, found.blocks), (DriftVerdict::Undecided, 2));
    assert_eq!((found.per_hour.low, found.per_hour.high), (-1.0, f64::INFINITY));

    assert_eq!(estimate_drift(&[], TOLERANCE), Err(StatsError::Empty));
    let mut slots = run(100, 0.0, 0.0, 1);
    slots[3].rate = f64::NAN;
    assert!(matches!(
        estimate_drift(&slots, TOLERANCE),
        Err(StatsError::NotFinite { index: 3, .. })
    ));
    let mut slots = run(100, 0.0, 0.0, 1);
    slots[7].at_ns = slots[6].at_ns;
    assert_eq!(estimate_drift(&slots, TOLERANCE), Err(StatsError::NotInOrder { index: 7 }));
    let dead: Vec<RateAt> = run(100, 0.0, 0.0, 1);
    let dead: Vec<RateAt> = dead.into_iter().map(|slot| RateAt { rate: 0.0, ..slot }).collect();
    assert!(matches!(
        estimate_drift(&dead, TOLERANCE),
        Err(StatsError::NotPositive { index: 0, .. })
    ));
}
