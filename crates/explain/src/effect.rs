//! What a value is worth in both measures: the time of an operation, and the rate.
//!
//! ```text
//!   a trial: an operation costs v times what it costs in base     time  v
//!                                                                 rate  1 ÷ v, which is rQPS
//!   an effect: what it costs more than another trial              time  v − w,  rate  1/v − 1/w
//! ```
//!
//! What independent causes cost adds up in time, and rates are what users get. The two part where a
//! difference is large: of a factor of 177, a cause that takes 172 of base's times away brings back
//! 19 points of the rate. So each is computed from trials, and neither is scaled into the other.

use dbdyno_model::{Interval, Worth};

/// Half of a 95 % interval, in standard errors.
pub(crate) const WIDE: f64 = 1.959_964;
/// Points of a whole.
const POINTS: f64 = 100.0;

/// What a trial has found: what an operation costs there, and the standard error of that. What
/// independent causes cost adds up, which their ratios do not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostEstimate {
    /// Cost of an operation ÷ that in base: instructions, or time; above 0.
    pub cost: f64,
    /// Its standard error.
    pub error: f64,
}

impl CostEstimate {
    /// What it costs more than base, with its 95 % intervals.
    pub fn beside_base(self) -> Worth {
        Effect::from_estimate(self)
            .minus(Effect::from_estimate(CostEstimate { cost: 1.0, error: 0.0 }))
            .with_intervals()
    }
}

/// A number with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// A value, or a sum of values, in both measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    /// Cost of an operation, by that in base.
    pub(crate) cost: Part,
    /// Operations in a second, by those in base, if nothing else took time.
    pub(crate) rate: Part,
}

impl Effect {
    /// The value of a trial. The error of a ratio is that of its reciprocal, as shares.
    pub(crate) fn from_estimate(value: CostEstimate) -> Effect {
        let CostEstimate { cost, error } = value;
        Effect {
            cost: Part { value: cost, error },
            rate: Part { value: cost.recip(), error: error / cost.powi(2) },
        }
    }

    /// The sum of these values, each so many times, as if their errors were independent.
    pub(crate) fn sum(terms: &[(f64, Effect)]) -> Effect {
        Effect {
            cost: Part::sum(terms.iter().map(|(weight, one)| (*weight, one.cost))),
            rate: Part::sum(terms.iter().map(|(weight, one)| (*weight, one.rate))),
        }
    }

    /// What it is together with another one.
    pub(crate) fn plus(self, other: Effect) -> Effect {
        Effect::sum(&[(1.0, self), (1.0, other)])
    }

    /// What it is more than another one.
    pub(crate) fn minus(self, other: Effect) -> Effect {
        Effect::sum(&[(1.0, self), (-1.0, other)])
    }

    /// With the error that base has, by which this part of it was divided.
    pub(crate) fn with_base_error(self, part: Effect, base_error: f64) -> Effect {
        Effect {
            cost: self.cost.with_error(part.cost.value * base_error),
            rate: self.rate.with_error(part.rate.value * base_error),
        }
    }

    /// With 95 % intervals.
    pub(crate) fn with_intervals(self) -> Worth {
        Worth { cost: self.cost.interval(1.0), points: self.rate.interval(POINTS) }
    }

    /// What a part is worth, with the errors that its intervals have.
    pub(crate) fn of_part(part: &Worth) -> Effect {
        Effect { cost: Part::of(part.cost, 1.0), rate: Part::of(part.points, POINTS) }
    }
}

impl Part {
    /// The sum of these numbers, each so many times, as if their errors were independent.
    fn sum(terms: impl Iterator<Item = (f64, Part)>) -> Part {
        terms.fold(Part { value: 0.0, error: 0.0 }, |sum, (weight, one)| Part {
            value: sum.value + weight * one.value,
            error: sum.error.hypot(weight * one.error),
        })
    }

    /// With one more error, which is independent of its own.
    fn with_error(self, error: f64) -> Part {
        Part { error: self.error.hypot(error), ..self }
    }

    /// Its 95 % interval, in a unit of which so many are one.
    fn interval(self, scale: f64) -> Interval {
        let (value, half) = (scale * self.value, scale * WIDE * self.error);
        Interval { estimate: value, low: value - half, high: value + half }
    }

    /// The number that has this 95 % interval.
    fn of(interval: Interval, scale: f64) -> Part {
        let Interval { estimate, low, high } = interval;
        Part { value: estimate / scale, error: (high - low) / (2.0 * WIDE * scale) }
    }

    /// Whether it is at least so large, and so many times its error.
    pub(crate) fn is_at_least(self, least: f64, errors: f64) -> bool {
        let size = self.value.abs();
        size >= least && size >= errors * self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A factor of 177, known badly: the rate that is left has as small an error as it is itself.
    #[test]
    fn points_are_those_of_the_rate_whatever_the_time_is() {
        let whole = CostEstimate { cost: 177.0, error: 40.0 }.beside_base();
        assert!((whole.points.estimate + 100.0 * (1.0 - 1.0 / 177.0)).abs() < 1e-9);
        assert!(whole.points.low > -100.0 && whole.points.high < -99.0, "{whole:?}");
        assert!((whole.cost.estimate - 176.0).abs() < 1e-9);
        let left = CostEstimate { cost: 5.0, error: 0.1 };
        let back = Effect::from_estimate(CostEstimate { cost: 177.0, error: 40.0 })
            .minus(Effect::from_estimate(left));
        let back = back.with_intervals();
        assert!((back.points.estimate - 100.0 * (1.0 / 177.0 - 0.2)).abs() < 1e-9, "{back:?}");
        assert_eq!(Effect::of_part(&back).with_intervals().points.estimate, back.points.estimate);
    }
}
