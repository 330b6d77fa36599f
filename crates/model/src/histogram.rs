//! Latencies, kept whole.
//!
//! A log-linear histogram with three significant digits from 1 ns to 1 000 s: every percentile is
//! right to 0.1 % of its value, and recording allocates nothing. Values past the end are counted in
//! the last bucket and never dropped, so that counts always agree with the number of events.
//!
//! How a histogram lies in memory is nobody's business: two are equal, and are shown alike, if they
//! have equal counts in equal buckets.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use hdrhistogram::Histogram;

/// The largest latency that is told apart, in nanoseconds (1 000 s).
pub(crate) const LATENCY_NS_MAX: u64 = 1_000_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies of events in nanoseconds.
#[derive(Clone)]
pub struct LatencyHistogram(Counts);

#[derive(Clone)]
enum Counts {
    /// All buckets, for recording.
    Dense(Histogram<u64>),
    /// The buckets with something in them, as value and count, in order: a round that was read back
    /// takes a few kilobytes, and a run has thousands of them.
    Sparse(Vec<(u64, u64)>),
}

impl LatencyHistogram {
    /// An empty histogram, with all its memory (about 250 KiB) taken now.
    pub fn new() -> Self {
        LatencyHistogram(Counts::Dense(empty()))
    }

    /// No latencies, and no memory before one is recorded.
    pub fn new_sparse() -> Self {
        LatencyHistogram(Counts::Sparse(Vec::new()))
    }

    /// Counts one latency. Never fails, and allocates only once where the histogram was condensed
    /// or read back.
    #[inline]
    pub fn record_latency(&mut self, latency_ns: u64) {
        // The library has buckets past the end, up to the next power of two, which would be above
        // the one that takes still larger values.
        self.dense_mut().saturating_record(latency_ns.min(LATENCY_NS_MAX));
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        let sum = self.dense_mut();
        match &other.0 {
            Counts::Dense(other) => {
                sum.add(other).expect("all latency histograms have the same bounds");
            }
            Counts::Sparse(buckets) => add(sum, buckets),
        }
    }

    /// Number of latencies recorded.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Counts::Dense(histogram) => histogram.len(),
            Counts::Sparse(buckets) => {
                buckets.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
            }
        }
    }

    /// The latency in nanoseconds that a share `quantile` (0 to 1) of events did not exceed; 0 when
    /// empty.
    pub fn quantile_ns(&self, quantile: f64) -> u64 {
        let buckets = match &self.0 {
            Counts::Dense(histogram) if histogram.is_empty() => return 0,
            Counts::Dense(histogram) => return histogram.value_at_quantile(quantile),
            Counts::Sparse(buckets) => buckets,
        };
        let sought = ((quantile.min(1.0) * self.count() as f64).ceil() as u64).max(1);
        let mut passed = 0u64;
        for &(highest_ns, count) in buckets {
            passed = passed.saturating_add(count);
            if passed >= sought {
                let bucket = bucket_of(highest_ns);
                return if quantile == 0.0 { lowest_of(bucket) } else { highest_ns };
            }
        }
        0
    }

    /// The largest latency in nanoseconds; 0 when empty.
    pub fn max_ns(&self) -> u64 {
        match &self.0 {
            Counts::Dense(histogram) => histogram.max(),
            Counts::Sparse(buckets) => buckets.last().map_or(0, |(highest_ns, _)| *highest_ns),
        }
    }

    /// The mean latency in nanoseconds; 0 when empty. Every event of a bucket counts as its middle.
    pub fn mean_ns(&self) -> f64 {
        let buckets = match &self.0 {
            Counts::Dense(histogram) if histogram.is_empty() => return 0.0,
            Counts::Dense(histogram) => return histogram.mean(),
            Counts::Sparse(buckets) => buckets,
        };
        let total = self.count() as f64;
        // In the library's order of sums, so that both forms have the same mean to the last digit.
        buckets.iter().fold(0.0, |sum, &(highest_ns, count)| {
            sum + middle_of(bucket_of(highest_ns)) as f64 * count as f64 / total
        })
    }

    /// Gives back the memory of empty buckets: a histogram in which nothing is recorded any more
    /// takes kilobytes instead of 250 KiB, and is copied as quickly.
    pub fn shrink_to_fit(&mut self) {
        self.0 = Counts::Sparse(self.buckets().into_owned());
    }

    /// The histogram in the library's type, for a codec.
    pub fn to_hdr(&self) -> Cow<'_, Histogram<u64>> {
        match &self.0 {
            Counts::Dense(histogram) => Cow::Borrowed(histogram),
            Counts::Sparse(buckets) => {
                let mut histogram = empty();
                add(&mut histogram, buckets);
                Cow::Owned(histogram)
            }
        }
    }

    /// Takes the counts of a decoded histogram, whatever its bounds were.
    pub fn from_hdr(decoded: &Histogram<u64>) -> Self {
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for step in decoded.iter_recorded() {
            let value = highest_of(bucket_of(step.value_iterated_to()));
            match buckets.last_mut() {
                Some((last, count)) if *last == value => {
                    *count = count.saturating_add(step.count_at_value());
                }
                _ => buckets.push((value, step.count_at_value())),
            }
        }
        LatencyHistogram(Counts::Sparse(buckets))
    }

    /// The buckets with something in them: the largest value of each, and its count, in order.
    fn buckets(&self) -> Cow<'_, [(u64, u64)]> {
        match &self.0 {
            Counts::Dense(histogram) => Cow::Owned(buckets(histogram)),
            Counts::Sparse(buckets) => Cow::Borrowed(buckets),
        }
    }

    fn dense_mut(&mut self) -> &mut Histogram<u64> {
        if let Counts::Sparse(_) = &self.0 {
            self.0 = Counts::Dense(self.to_hdr().into_owned());
        }
        match &mut self.0 {
            Counts::Dense(histogram) => histogram,
            Counts::Sparse(_) => unreachable!("it has just been made dense"),
        }
    }
}

/// Latencies that many threads record at once: no lock, one atomic addition for each. Threads that
/// are busy at the same time had better have one each, or a few of them one.
#[derive(Debug)]
pub struct SharedHistogram(Vec<AtomicU64>);

impl SharedHistogram {
    /// An empty histogram, with all its memory (about 250 KiB) taken now.
    pub fn new() -> Self {
        SharedHistogram((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }

    /// Counts one latency. Never fails and never allocates.
    #[inline]
    pub fn record_latency(&self, latency_ns: u64) {
        self.0[bucket_of(latency_ns)].fetch_add(1, Ordering::Relaxed);
    }

    /// What was recorded so far.
    pub fn sum(&self) -> LatencyHistogram {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed)).enumerate();
        let recorded = counts.filter(|(_, count)| *count > 0);
        let buckets = recorded.map(|(bucket, count)| (highest_of(bucket), count));
        LatencyHistogram(Counts::Sparse(buckets.collect()))
    }
}

impl Default for SharedHistogram {
    fn default() -> Self {
        SharedHistogram::new()
    }
}

// The buckets of HdrHistogram at three significant digits: 2 048 of width 1, then 1 024 of each
// power of two.
const HALF: u32 = 10;
const POWERS: u32 = 30;
const BUCKETS: usize = ((POWERS + 1) << HALF) as usize;

#[inline]
fn bucket_of(value: u64) -> usize {
    let value = value.min(LATENCY_NS_MAX);
    let power = (u64::BITS - 1 - HALF) - (value | ((2 << HALF) - 1)).leading_zeros();
    ((power << HALF) as u64 + (value >> power)) as usize
}

fn lowest_of(bucket: usize) -> u64 {
    let (block, within) = (bucket as u64 >> HALF, bucket as u64 & ((1 << HALF) - 1));
    match block {
        0 => within,
        _ => (within + (1 << HALF)) << (block - 1),
    }
}

fn highest_of(bucket: usize) -> u64 {
    lowest_of(bucket + 1) - 1
}

fn middle_of(bucket: usize) -> u64 {
    let (lowest, next) = (lowest_of(bucket), lowest_of(bucket + 1));
    lowest + ((next - lowest) >> 1)
}

/// Equal counts in equal buckets.
impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &LatencyHistogram) -> bool {
        self.buckets() == other.buckets()
    }
}

/// Values and counts, as few as there are.
impl fmt::Debug for LatencyHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.buckets().iter().copied()).finish()
    }
}

fn empty() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, SIGNIFICANT_DIGITS)
        .expect("constant bounds are valid")
}

fn buckets(histogram: &Histogram<u64>) -> Vec<(u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
}

fn add(sum: &mut Histogram<u64>, buckets: &[(u64, u64)]) {
    for &(value, count) in buckets {
        sum.saturating_record_n(value, count);
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
            histogram.record_latency(value);
        }
        for quantile in [0.001, 0.1, 0.5, 0.95, 0.99, 0.999, 1.0] {
            let truth = quantile * 1e6;
            let error = (histogram.quantile_ns(quantile) as f64 - truth).abs() / truth;
            assert!(error <= 0.001, "q={quantile}: error {error}");
        }
    }

    #[test]
    fn what_was_read_back_is_what_it_was_and_can_be_added_to() {
        let mut histogram = LatencyHistogram::new();
        for value in [0, 1, 7, 1_500, 1_501, 2_000_000, u64::MAX] {
            histogram.record_latency(value);
        }
        let back = LatencyHistogram::from_hdr(&histogram.to_hdr());
        assert_eq!(back, histogram);
        assert_eq!(back.count(), 7);
        for quantile in [0.0, 0.3, 0.5, 0.9, 1.0] {
            assert_eq!(back.quantile_ns(quantile), histogram.quantile_ns(quantile));
        }
        assert_eq!((back.max_ns(), back.mean_ns()), (histogram.max_ns(), histogram.mean_ns()));
        let mut twice = back.clone();
        twice.merge(&back);
        histogram.merge(&back);
        assert_eq!(twice, histogram);
        twice.record_latency(5);
        assert_ne!(twice, histogram);
    }

    /// What a failing comparison prints is what it compared: it once showed two forms of the same
    /// counts, as if they were the difference.
    #[test]
    fn equal_counts_are_equal_and_shown_alike_in_every_form() {
        let top_of_last = 1_000_190_509_055;
        let ends = [LATENCY_NS_MAX, top_of_last, top_of_last + 1, (1 << 40) - 1, 1 << 40, u64::MAX];
        for end in ends {
            let mut recorded = LatencyHistogram::new();
            [end, 0, 1, 5_000, end].iter().for_each(|&value| recorded.record_latency(value));
            let read_back = LatencyHistogram::from_hdr(&recorded.to_hdr());
            let mut merged = LatencyHistogram::new();
            merged.merge(&read_back);
            let dense = LatencyHistogram(Counts::Dense(read_back.to_hdr().into_owned()));
            let shown = format!("{{0: 1, 1: 1, 5003: 1, {top_of_last}: 2}}");
            for form in [&recorded, &read_back, &merged, &dense] {
                assert_eq!(form, &recorded, "{end}");
                assert_eq!(form, &read_back, "{end}");
                assert_eq!(format!("{form:?}"), shown, "{end}");
            }
            merged.record_latency(end);
            assert!(merged != recorded && merged != read_back, "{end}");
        }
    }

    /// The library is the oracle: the same values in the same buckets, edges and far ends included.
    #[test]
    fn what_is_shared_counts_as_the_library_does() {
        let (mut alone, shared) = (LatencyHistogram::new(), SharedHistogram::new());
        let edges = (0..64).flat_map(|power| {
            let edge = 1u64 << power;
            [edge - 1, edge, edge + 1, edge + edge / 3]
        });
        let ends = [LATENCY_NS_MAX - 1, LATENCY_NS_MAX, LATENCY_NS_MAX + 1, u64::MAX];
        for value in edges.chain(0..5_000).chain(ends) {
            alone.record_latency(value);
            shared.record_latency(value);
        }
        assert_eq!(shared.sum(), alone);
        alone_and_condensed_say_the_same(&alone);
        assert_eq!(BUCKETS, empty().distinct_values());
    }

    /// What the library says of all its buckets is the oracle of what those in use say.
    fn alone_and_condensed_say_the_same(alone: &LatencyHistogram) {
        let mut condensed = alone.clone();
        condensed.shrink_to_fit();
        assert!(matches!((&alone.0, &condensed.0), (Counts::Dense(_), Counts::Sparse(_))));
        assert_eq!(&condensed, alone);
        assert_eq!(condensed.mean_ns().to_bits(), alone.mean_ns().to_bits());
        assert_eq!((condensed.max_ns(), condensed.count()), (alone.max_ns(), alone.count()));
        for thousandth in 0..=1_001 {
            let quantile = f64::from(thousandth) / 1_000.0;
            assert_eq!(condensed.quantile_ns(quantile), alone.quantile_ns(quantile), "{quantile}");
        }
    }

    #[test]
    fn a_condensed_histogram_says_the_same_to_the_last_digit() {
        alone_and_condensed_say_the_same(&LatencyHistogram::new());
        let mut histogram = LatencyHistogram::new();
        let mut state = 7u64;
        for _ in 0..3_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            histogram.record_latency(state >> 24 >> (state >> 59));
            if state.is_multiple_of(97) {
                alone_and_condensed_say_the_same(&histogram);
            }
        }
        alone_and_condensed_say_the_same(&histogram);
    }

    #[test]
    fn values_past_the_end_still_count() {
        let mut histogram = LatencyHistogram::new();
        histogram.record_latency(u64::MAX);
        histogram.record_latency(0);
        assert_eq!(histogram.count(), 2);
        assert!(histogram.quantile_ns(1.0) >= LATENCY_NS_MAX);
    }
}
