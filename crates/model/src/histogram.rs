//! Latencies, kept whole.
//!
//! A log-linear histogram with three significant digits from 1 ns to 1 000 s: every percentile is
//! right to 0.1 % of its value, and recording allocates nothing. Values past the end are counted in
//! the last bucket and never dropped, so that counts always agree with the number of events.

use hdrhistogram::Histogram;

/// The largest latency that is told apart, in nanoseconds (1 000 s).
pub const LATENCY_NS_MAX: u64 = 1_000_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies of events in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyHistogram(Histogram<u64>);

impl LatencyHistogram {
    /// An empty histogram, with all its memory (about 250 KiB) taken now.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENCY_NS_MAX, SIGNIFICANT_DIGITS)
            .expect("constant bounds are valid");
        LatencyHistogram(histogram)
    }

    /// Counts one latency. Never allocates, never fails.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.0.saturating_record(latency_ns);
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.0.add(&other.0).expect("all latency histograms have the same bounds");
    }

    /// Number of latencies recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency in nanoseconds that a share `quantile` (0 to 1) of events did not exceed; 0 when
    /// empty.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.value_at_quantile(quantile) }
    }

    /// The largest latency in nanoseconds; 0 when empty.
    pub fn max_ns(&self) -> u64 {
        self.0.max()
    }

    /// The mean latency in nanoseconds; 0 when empty.
    pub fn mean_ns(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.mean() }
    }

    /// The histogram in the library's type, for a codec.
    pub fn as_hdr(&self) -> &Histogram<u64> {
        &self.0
    }

    /// Takes the counts of a decoded histogram, whatever its bounds were.
    pub fn from_hdr(decoded: &Histogram<u64>) -> Self {
        let mut histogram = LatencyHistogram::new();
        for step in decoded.iter_recorded() {
            let value = step.value_iterated_to();
            histogram.0.saturating_record_n(value, step.count_at_value());
        }
        histogram
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        LatencyHistogram::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_a_thousandth() {
        let mut histogram = LatencyHistogram::new();
        for value in 1..=1_000_000u64 {
            histogram.record(value);
        }
        for quantile in [0.001, 0.1, 0.5, 0.95, 0.99, 0.999, 1.0] {
            let truth = quantile * 1e6;
            let error = (histogram.quantile_ns(quantile) as f64 - truth).abs() / truth;
            assert!(error <= 0.001, "q={quantile}: error {error}");
        }
    }

    #[test]
    fn values_past_the_end_still_count() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(u64::MAX);
        histogram.record(0);
        assert_eq!(histogram.count(), 2);
        assert!(histogram.quantile_ns(1.0) >= LATENCY_NS_MAX);
    }
}
