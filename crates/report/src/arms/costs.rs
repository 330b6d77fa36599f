//! What operations cost, in tables of the same shape as rates: of the reference as it is, of the
//! others how many times that.
//!
//! ```text
//!   server CPU µs/op   base: 31.2   arm: ▲ 1.31    judged: more is worse, coloured the other way
//!   KB written/op      base: 3.27   arm:   1.02    not judged: no sign
//!   rQPS by server CPU              arm: ▼ 0.76    the reciprocal of the first
//! ```
//!
//! Where a client takes turns with its server on one processor, the rate is that of both: what the
//! server loses is diluted by what the client needs, which stayed the same. The reciprocal of the
//! server's own processor time leaves the client out, and compares with what was measured with
//! clients elsewhere.

use dbdyno_document::number;
use dbdyno_model::{Metric, MetricVerdict, Verdict};

use super::figure::{self, Better, Figure, Shade};
use super::groups;
use super::rows::{Answer, Row};
use super::view::ArmsView;
use crate::view::{ArmView, MetricView};

/// Amounts below this, in their own unit, are not compared.
pub(super) const LEAST: f64 = 0.01;
pub(super) const NEXT_TO_NOTHING: &str = "<0.01";
/// Decimals of a ratio by processor time.
const DECIMALS: i32 = 2;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    ServerCpu,
    Switches,
    Read,
    Written,
}

/// What was found of a quantity between two arms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// How many times the other arm's: judged pair by pair, or of the two amounts.
    pub(super) ratio: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// Where it is judged.
    pub(super) verdict: Option<MetricVerdict>,
}

impl Quantity {
    pub(super) const ALL: [Quantity; 4] =
        [Quantity::ServerCpu, Quantity::Switches, Quantity::Read, Quantity::Written];

    /// For people.
    pub(super) fn display_name(self) -> &'static str {
        match self {
            Quantity::ServerCpu => "server CPU µs/op",
            Quantity::Switches => "context switches/op",
            Quantity::Read => "KB read/op",
            Quantity::Written => "KB written/op",
        }
    }

    /// Its name in JSON, as the figure of an arm.
    pub(super) fn name(self) -> &'static str {
        match self {
            Quantity::ServerCpu => Metric::ServerCpu.name(),
            Quantity::Switches => "context_switches_per_op",
            Quantity::Read => "read_kb_per_op",
            Quantity::Written => "written_kb_per_op",
        }
    }

    pub(super) fn value_in(self, arm: &ArmView) -> Option<f64> {
        match self {
            Quantity::ServerCpu => arm.server_cpu_us_per_op,
            Quantity::Switches => arm.context_switches_per_op,
            Quantity::Read => arm.read_kb_per_op,
            Quantity::Written => arm.written_kb_per_op,
        }
    }

    /// What was found of it; none where one of the arms was not observed.
    pub(super) fn cost_in(self, answer: &Answer) -> Option<Cost> {
        if let Some(MetricView { ratio, ratio_low, ratio_high, verdict, .. }) = self.judged(answer)
        {
            let verdict = Some(*verdict);
            return Some(Cost { ratio: *ratio, low: *ratio_low, high: *ratio_high, verdict });
        }
        let (base, test) = (self.value_in(&answer.view.base)?, self.value_in(&answer.view.test)?);
        let ratio = Some(test / base).filter(|ratio| ratio.is_finite());
        Some(Cost { ratio, low: None, high: None, verdict: None })
    }

    fn judged(self, answer: &Answer) -> Option<&MetricView> {
        answer.view.metrics.iter().find(|metric| metric.metric == self.name())
    }

    pub(super) fn figure_in(self, answer: &Answer) -> Option<Figure> {
        let (base, test) = (self.value_in(&answer.view.base)?, self.value_in(&answer.view.test)?);
        if base < LEAST && test < LEAST {
            return Some(figure_without_ratio(NEXT_TO_NOTHING));
        }
        let cost = self.cost_in(answer)?;
        let Some(ratio) = cost.ratio else { return Some(figure_without_ratio("∞")) };
        let decimals = decimals(ratio);
        let verdict = cost.verdict.map(as_of_a_rate);
        Some(Figure {
            sign: cost.verdict.map_or("", sign),
            interval: figure::interval(cost.low, cost.high, decimals),
            ..Figure::of_ratio(ratio, verdict, decimals, Better::Less)
        })
    }
}

/// rQPS as the server's processor time alone makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RateByCpu {
    pub(super) rqps: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) verdict: Verdict,
}

/// Of an arm whose client shares a processor with its server, where that is judged.
pub(super) fn rate_by_cpu(row: &Row, at: usize) -> Option<RateByCpu> {
    let answer = row.arms[at].answer.as_ref().filter(|_| row.is_on_one_processor)?;
    let cpu = Quantity::ServerCpu.judged(answer)?;
    Some(RateByCpu {
        rqps: 1.0 / cpu.ratio?,
        low: cpu.ratio_high.map(|high| 1.0 / high),
        high: cpu.ratio_low.map(|low| 1.0 / low),
        verdict: as_of_a_rate(cpu.verdict),
    })
}

impl RateByCpu {
    pub(super) fn as_figure(&self) -> Figure {
        Figure {
            interval: figure::interval(self.low, self.high, DECIMALS),
            ..Figure::of_ratio(self.rqps, Some(self.verdict), DECIMALS, Better::More)
        }
    }
}

/// What is said of rates by processor time: which figures compare with which.
pub(super) fn about_sharing(view: &ArmsView) -> Option<String> {
    let first = view.first();
    let shared = view.rows.iter().filter(|row| row.is_on_one_processor);
    let shares = shared.filter_map(|row| {
        let did = row.arms[first].did.as_ref()?;
        let (client, server) = (did.client_cpu_us_per_op?, did.server_cpu_us_per_op?);
        Some(client / (client + server)).filter(|share| share.is_finite())
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    let ends = [*shares.first()?, *shares.last()?];
    let [least, most] = ends.map(|share| number::format_fixed(100.0 * share, 0));
    let shares = if least == most { least } else { format!("{least} to {most}") };
    Some(format!(
        "One client shares a processor with its server and takes {shares}{}% of the processor time \
         in {}, which dilutes rQPS: it compares with what was measured in the same way. rQPS by \
         server CPU leaves the client out, and compares with what was measured with clients on \
         other processors.",
        number::GLUE,
        view.arms[first].index,
    ))
}

/// What the tables of costs mean.
pub(super) const ABOUT: &str = "Of the reference the cost itself, of the others how many times \
    that: ▲ higher, ▼ lower, = equal within the budget, ~ not decided; without a sign it is not \
    judged, and below 0.01 it is not compared. op: one statement; KB: 1024 bytes of storage \
    traffic of the server.";

/// The median of costs, in whose sign more is higher.
pub(super) fn median_of_costs<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<Figure> {
    let of = median(figures, Better::Less)?;
    let sign = of.verdict.map_or("", |verdict| sign(as_of_a_metric(verdict)));
    Some(Figure { sign, ..of })
}

pub(super) fn median<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    better: Better,
) -> Option<Figure> {
    let known = figures.filter_map(|figure| Some((figure.ratio?, figure.verdict)));
    let (ratio, verdict) = groups::median_ratio(known)?;
    Some(Figure::of_ratio(ratio, verdict, decimals(ratio), better))
}

fn figure_without_ratio(number: &str) -> Figure {
    let number = number.to_owned();
    let nothing = Figure::of_ratio(1.0, None, DECIMALS, Better::Less);
    Figure { number, ratio: None, shade: Shade::None, ..nothing }
}

/// As many as tell three digits at most.
fn decimals(ratio: f64) -> i32 {
    match ratio {
        ..0.1 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    }
}

fn sign(verdict: MetricVerdict) -> &'static str {
    match verdict {
        MetricVerdict::Higher => "▲",
        MetricVerdict::Equal => "=",
        MetricVerdict::Lower => "▼",
        MetricVerdict::Undecided => "~",
    }
}

/// Needing more is being slower.
fn as_of_a_rate(verdict: MetricVerdict) -> Verdict {
    match verdict {
        MetricVerdict::Higher => Verdict::Slower,
        MetricVerdict::Equal => Verdict::Equal,
        MetricVerdict::Lower => Verdict::Faster,
        MetricVerdict::Undecided => Verdict::Undecided,
    }
}

fn as_of_a_metric(verdict: Verdict) -> MetricVerdict {
    match verdict {
        Verdict::Slower => MetricVerdict::Higher,
        Verdict::Equal => MetricVerdict::Equal,
        Verdict::Faster => MetricVerdict::Lower,
        Verdict::Undecided => MetricVerdict::Undecided,
    }
}
