//! How the doubt of a result is worked out: what may be asked for, and what was done.
//!
//! ```text
//!   --interval auto            t, or robust where the tails of pairs are heavy on both sides
//!              t               mean of the pairs of a start; Student's t over starts
//!              robust          Hodges–Lehmann estimate of a start's pairs; Student's t over starts
//!              bca             mean of the pairs of a start; bootstrap (BCa) over starts
//!              hodges-lehmann  as robust; exact signed-rank interval over starts
//! ```
//!
//! Where servers had too few starts, pairs stand in the place of starts, and what starts are off
//! by is assumed, which has no ranks: `hodges-lehmann` is `robust` there. Where tables were filled
//! several times, fillings stand there. What each of them is worth is in the crate `stats`.

use std::fmt;
use std::str::FromStr;

/// Which interval is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IntervalChoice {
    /// By the tails of the pairs, never by the result.
    #[default]
    Auto,
    /// This one, where there are enough replicates for it.
    Given(IntervalKind),
}

/// An interval, and what stands for a start in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalKind {
    /// Means, and Student's t.
    T,
    /// Hodges–Lehmann estimates, and Student's t over them.
    Robust,
    /// Means, and the bias-corrected and accelerated bootstrap.
    Bca,
    /// Hodges–Lehmann estimates, and the exact interval of signed ranks; of rounds that were not
    /// paired, Mann and Whitney's.
    HodgesLehmann,
    /// Where results may end a run: means, and an interval for all looks together.
    Sequence,
    /// Of two stored runs: means of logarithms, and Welch's t.
    Welch,
    /// Of two stored runs without a common base: means of rates, and Fieller's interval.
    Fieller,
}

impl IntervalKind {
    /// Those that can be asked for.
    pub const ALL: [IntervalKind; 4] =
        [IntervalKind::T, IntervalKind::Robust, IntervalKind::Bca, IntervalKind::HodgesLehmann];

    /// The spelling in flags and JSON: `t|robust|bca|hodges-lehmann|sequence`; of stored runs
    /// `welch|fieller`.
    pub fn name(self) -> &'static str {
        match self {
            IntervalKind::T => "t",
            IntervalKind::Robust => "robust",
            IntervalKind::Bca => "bca",
            IntervalKind::HodgesLehmann => "hodges-lehmann",
            IntervalKind::Sequence => "sequence",
            IntervalKind::Welch => "welch",
            IntervalKind::Fieller => "fieller",
        }
    }
}

/// A level of the experiment: what is repeated within what. Events and phases are no levels: they
/// are averaged in their round, for neighbours share their moment. Nor is the host, of which a run
/// has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ExperimentLevel {
    /// Two neighbouring rounds, one of each arm.
    Pair,
    /// From one start of the servers to the next.
    Start,
    /// From one filling of the tables to the next.
    Filling,
}

impl ExperimentLevel {
    /// The spelling in JSON: `pair|life|filling`.
    pub fn name(self) -> &'static str {
        match self {
            ExperimentLevel::Pair => "pair",
            // As the JSON of schema 1 and 2 has called it from the beginning.
            ExperimentLevel::Start => "life",
            ExperimentLevel::Filling => "filling",
        }
    }
}

/// What an interval rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Which interval it is.
    pub interval: IntervalKind,
    /// What was repeated: the replicates.
    pub replicates: ExperimentLevel,
    /// How many of them there are; of rounds that were not paired, in the arm with fewer.
    pub count: u32,
    /// Why this interval, in half a sentence.
    pub why: String,
}

impl fmt::Display for IntervalChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IntervalChoice::Auto => "auto",
            IntervalChoice::Given(kind) => kind.name(),
        })
    }
}

impl FromStr for IntervalChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<IntervalChoice, String> {
        if text == "auto" {
            return Ok(IntervalChoice::Auto);
        }
        let known = IntervalKind::ALL.into_iter().find(|kind| kind.name() == text);
        let given = known.map(IntervalChoice::Given);
        given.ok_or_else(|| "write auto, t, robust, bca or hodges-lehmann".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_read_back() {
        let given = IntervalKind::ALL.map(IntervalChoice::Given);
        for choice in given.into_iter().chain([IntervalChoice::Auto]) {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        assert!("student".parse::<IntervalChoice>().unwrap_err().contains("robust"));
    }
}
