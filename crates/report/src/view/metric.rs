//! What is judged beside the rate, in the words of the JSON contract.

use dbdyno_model::{MetricComparison, MetricVerdict};
use serde::{Serialize, Serializer};

use super::values::if_finite;

/// A cost or a latency of a cell that is judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricView {
    /// `server_cpu_us_per_op` or `latency_us_p99`.
    pub metric: &'static str,
    /// Test ÷ base: above 1 the test arm needs more.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % interval; `None`: not bounded.
    pub ratio_low: Option<f64>,
    /// Upper end of its 95 % interval; `None`: not bounded.
    pub ratio_high: Option<f64>,
    /// `higher`, `equal`, `lower` or `undecided`.
    #[serde(serialize_with = "named")]
    pub verdict: MetricVerdict,
    /// Two-sided p-value of "the arms are equal".
    pub p_value: Option<f64>,
    /// The same among all metrics.
    pub q_value: Option<f64>,
}

fn named<S: Serializer>(verdict: &MetricVerdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.name())
}

impl From<&MetricComparison> for MetricView {
    fn from(metric: &MetricComparison) -> MetricView {
        MetricView {
            metric: metric.metric.name(),
            ratio: if_finite(metric.ratio.estimate),
            // A ratio is estimated as a logarithm: zero bounds nothing.
            ratio_low: if_finite(metric.ratio.low).filter(|&low| low > 0.0),
            ratio_high: if_finite(metric.ratio.high),
            verdict: metric.verdict,
            p_value: if_finite(metric.p_value),
            q_value: metric.q_value.and_then(if_finite),
        }
    }
}
