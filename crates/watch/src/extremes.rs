//! What a metric was over the whole time of watching, in memory that does not grow.
//!
//! The least and the most are those of all values. For what lies between them values are kept, at
//! first each; when there is no room any more, every second one, and from then on every second that
//! comes, and so on: those that are kept are evenly spread over the whole time.

/// Values that are kept at most: an hour of seconds.
const KEPT_MOST: usize = 3_600;

/// What one metric was.
#[derive(Clone, Debug)]
pub struct MetricExtremes {
    kept: Vec<f64>,
    /// One of so many values is kept.
    stride: usize,
    /// Values since the last one that was kept.
    passed_over: usize,
    count: usize,
    least: f64,
    most: f64,
}

impl Default for MetricExtremes {
    fn default() -> MetricExtremes {
        MetricExtremes {
            kept: Vec::new(),
            stride: 1,
            passed_over: 0,
            count: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }
}

impl MetricExtremes {
    /// Takes a value.
    pub fn add_value(&mut self, value: f64) {
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
        self.count += 1;
        self.passed_over += 1;
        if self.passed_over < self.stride && self.count > 1 {
            return;
        }
        self.passed_over = 0;
        if self.kept.len() == KEPT_MOST {
            let mut place = 0;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride *= 2;
        }
        self.kept.push(value);
    }

    /// The least of all values; `None` where there was none.
    pub fn least_value(&self) -> Option<f64> {
        (self.count > 0).then_some(self.least)
    }

    /// The most of all values; `None` where there was none.
    pub fn most_value(&self) -> Option<f64> {
        (self.count > 0).then_some(self.most)
    }

    /// The value that so large a share of all is not above, by the nearest rank of those kept;
    /// `None` where there was none.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let mut kept = self.kept.clone();
        kept.sort_unstable_by(f64::total_cmp);
        let rank = (share * kept.len() as f64).ceil() as usize;
        kept.get(rank.clamp(1, kept.len().max(1)) - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = f64>) -> MetricExtremes {
        let mut extremes = MetricExtremes::default();
        values.for_each(|value| extremes.add_value(value));
        extremes
    }

    #[test]
    fn few_values_are_told_exactly_and_none_are_not_told() {
        let few = of((1..=100).map(f64::from));
        assert_eq!((few.least_value(), few.most_value(), few.count), (Some(1.0), Some(100.0), 100));
        assert_eq!((few.quantile(0.5), few.quantile(0.95)), (Some(50.0), Some(95.0)));
        let none = of(std::iter::empty());
        assert_eq!((none.least_value(), none.quantile(0.5), none.count), (None, None, 0));
    }

    /// A day of seconds: a trend, so that values which were kept unevenly would be off.
    #[test]
    fn a_day_is_kept_evenly_and_its_peak_is_not_lost() {
        let day = 86_400;
        let all = of((0..day).map(|second| if second == 777 { 1e9 } else { f64::from(second) }));
        assert_eq!(
            (all.least_value(), all.most_value(), all.count),
            (Some(0.0), Some(1e9), day as usize)
        );
        assert!(all.kept.len() <= KEPT_MOST && all.kept.len() > KEPT_MOST / 2 - 1);
        for share in [0.1, 0.5, 0.95] {
            let exact = share * f64::from(day);
            let off = (all.quantile(share).unwrap() - exact).abs() / f64::from(day);
            assert!(off < 0.01, "{share}: off by {off}");
        }
    }
}
