//! Series that we make up.

use std::sync::LazyLock;

use dbdyno_model::random::{self, RandomStream};
use statrs::distribution::{ContinuousCDF, Normal};

/// What a series looks like. The noise has a standard deviation of 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// AR(1) with this correlation.
    Noise(f64),
    /// Independent, 2 % of the values ten standard deviations up.
    Spikes,
    /// Independent, the exponential of normal noise.
    LogNormal,
    /// Independent, 40 % of the values six standard deviations up.
    TwoModes,
    /// Up by 1.5 standard deviations in the middle.
    Step,
    /// Up by 3 for a fifth of the series, from the middle on.
    Bump,
    /// Up by 5 from beginning to end.
    Drift,
}

fn normal(stream: &mut RandomStream) -> f64 {
    const STEPS: u64 = 1 << 16;
    static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let quantile =
            |step: u64| Normal::standard().inverse_cdf((step as f64 + 0.5) / STEPS as f64);
        (0..STEPS).map(quantile).collect()
    });
    TABLE[stream.next_below(STEPS) as usize]
}

fn noise(stream: &mut RandomStream, phi: f64, n: usize) -> Vec<f64> {
    let own = (1.0 - phi * phi).sqrt();
    let mut value = normal(stream);
    let next = |_| {
        let this = value;
        value = phi * value + own * normal(stream);
        this
    };
    (0..n).map(next).collect()
}

/// The series of this number.
pub(crate) fn simulated(shape: Shape, n: usize, index: u64) -> Vec<f64> {
    let mut stream = random::stream(&[2026, 11, n as u64, index]);
    let phi = match shape {
        Shape::Noise(phi) => phi,
        _ => 0.0,
    };
    let mut values = noise(&mut stream, phi, n);
    for (at, value) in values.iter_mut().enumerate() {
        let spike = if stream.next_below(50) == 0 { 10.0 } else { 0.0 };
        let step = if at >= n / 2 { 1.5 } else { 0.0 };
        match shape {
            Shape::Noise(_) => {}
            Shape::Spikes => *value += spike,
            Shape::LogNormal => *value = value.exp(),
            Shape::TwoModes => *value += if stream.next_below(10) < 4 { 6.0 } else { 0.0 },
            Shape::Step => *value += step,
            Shape::Bump if (n / 2..n / 2 + n / 5).contains(&at) => *value += 3.0,
            Shape::Bump => {}
            Shape::Drift => *value += 5.0 * at as f64 / n as f64,
        }
    }
    values
}
