//! What a text printed of a question, and what was measured of the same question here.
//!
//! ```text
//!   PublishedTable   release ÷ release, a ratio for each load   as the text prints it
//!   ReplicatedTable  the same with our ratio, its interval, and how the two stand
//! ```
//!
//! A printed ratio has no interval. What its author holds for a difference is known, though:
//! Callaghan reads his tables with a tolerance of five points of rQPS, so that a figure of
//! ours counts as the same within that tolerance ([`ratio_tolerance`]).

use crate::arms::Pairing;
use crate::experiment::{Expectation, FigureOutcome, RoundFigure};
use crate::explanation::{Explanation, Witness};
use crate::verdict::Interval;
use crate::words::words;

/// Ratios of one figure between two releases, as a text prints them.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTable {
    /// Where in the text they stand, in its words.
    pub of: String,
    /// The release that others are measured against, as the text names it.
    pub base: String,
    /// The other one.
    pub test: String,
    /// What the ratios are of.
    pub what: RoundFigure,
    /// The text's number of clients; `None` where it does not matter or is not said.
    pub clients: Option<u32>,
    /// A ratio for each load, in the order of the text.
    pub rows: Vec<PublishedRow>,
}

/// One printed figure.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// The load by our name, or `median of GROUP`.
    pub load: String,
    /// Test ÷ base.
    pub ratio: f64,
    /// Where ours differs: why, with the evidence, as whoever looked into it wrote it down.
    pub because: Option<String>,
}

impl PublishedRow {
    /// Whether this is a row of that load: by its whole name, or by the one before its options.
    pub fn is_of(&self, load: &str) -> bool {
        load == self.load || load.split('?').next() == Some(&self.load)
    }

    /// The group of loads of which this is the median.
    pub fn load_group(&self) -> Option<&str> {
        self.load.strip_prefix("median of ")
    }
}

words! {
    /// How a figure of ours stands to the printed one.
    FigureStanding {
        /// Our whole interval lies within the tolerance.
        Confirmed = "confirmed",
        /// Our whole interval lies without.
        Different = "different here",
        /// Neither: our interval is too wide.
        Open = "open",
        /// Nothing was measured that could be held against it.
        NotTestable = "not testable here",
    }
}

impl FigureStanding {
    /// How `ours` stands to a printed ratio.
    pub fn from_ratios(theirs: f64, ours: Option<Interval>) -> FigureStanding {
        let Some(ours) = ours else { return FigureStanding::NotTestable };
        let (low, high) = (theirs - ratio_tolerance(theirs), theirs + ratio_tolerance(theirs));
        match () {
            () if low <= ours.low && ours.high <= high => FigureStanding::Confirmed,
            () if ours.high < low || high < ours.low => FigureStanding::Different,
            () => FigureStanding::Open,
        }
    }
}

/// How far from a printed ratio a figure may lie and still be the same: 0.05, which is five basis
/// points in Callaghan's unit, or 5 % of ratios above 1.
pub fn ratio_tolerance(ratio: f64) -> f64 {
    0.05 * ratio.max(1.0)
}

/// What a text printed of the question of an experiment, and what a run found of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Replication {
    /// The file of the experiment.
    pub file: String,
    /// The question.
    pub question: String,
    /// Whose figures they are, and where they stand.
    pub source: String,
    /// The run that they are held against.
    pub run: RunOrigin,
    /// The tables, in the order of the text.
    pub tables: Vec<ReplicatedTable>,
    /// What was expected where a text has words or a chart and no figures.
    pub signs: Vec<FoundSign>,
    /// Where our own figures come from in cells whose figure lies further from the printed one than
    /// the tolerance; empty where nobody asked.
    pub explained: ExplainedRows,
}

/// An expectation, held against a cell of two arms.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundSign {
    /// What was expected.
    pub expectation: Expectation,
    /// The arm that was held against base, where there are more than two.
    pub test: Option<String>,
    /// What was found.
    pub outcome: FigureOutcome,
}

impl FoundSign {
    /// How the two stand.
    pub fn standing(&self) -> FigureStanding {
        match self.outcome.sign {
            Some(sign) if sign == self.expectation.sign => FigureStanding::Confirmed,
            Some(_) => FigureStanding::Different,
            None if self.outcome.base.is_none() => FigureStanding::NotTestable,
            None => FigureStanding::Open,
        }
    }
}

/// Where figures of ours come from.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOrigin {
    /// The id of the run.
    pub run: String,
    /// When it was started, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// The command that repeats it.
    pub command: String,
    /// Of each arm: the releases of the text that it stands for, and what it is called.
    pub arms: Vec<(Vec<String>, String)>,
    /// The host, in a few words.
    pub host: String,
}

/// A printed table and what was measured of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicatedTable {
    /// The table.
    pub published: PublishedTable,
    /// The arms that stand for its releases; `None` where one of them cannot be had.
    pub arms: Option<Pairing>,
    /// The numbers of clients with which ours were measured.
    pub clients: Vec<u32>,
    /// As many as there are printed.
    pub rows: Vec<ReplicatedRow>,
    /// How the rows of loads agree; `None` where nothing was measured.
    pub agreement: Option<Agreement>,
    /// The same where rates are taken from the server's processor time alone; of rates only.
    pub by_server_cpu: Option<Agreement>,
}

impl ReplicatedTable {
    /// Whether anything was measured that can be held against it.
    pub fn is_testable(&self) -> bool {
        self.rows.iter().any(|row| row.standing != FigureStanding::NotTestable)
    }
}

/// A printed figure and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicatedRow {
    /// The printed one.
    pub published: PublishedRow,
    /// Ours with its 95 % interval.
    pub ours: Option<Interval>,
    /// Of rates: what ours would be if the server's processor time were all that a statement
    /// takes, the reciprocal of its ratio.
    pub by_server_cpu: Option<Interval>,
    /// How they stand to each other.
    pub standing: FigureStanding,
}

impl ReplicatedRow {
    /// How far ours lies from the printed figure, as a multiple of the tolerance: beyond 1 it is
    /// another figure, as far as its estimate goes. `None` of what was not measured.
    pub fn distance(&self) -> Option<f64> {
        let theirs = self.published.ratio;
        self.ours.map(|ours| (ours.estimate - theirs).abs() / ratio_tolerance(theirs))
    }
}

/// Rows that lie beyond the tolerance, explained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExplainedRows {
    /// Those of rates first, and the furthest first.
    pub rows: Vec<ExplainedRow>,
    /// How those of rates agree of which instructions were counted.
    pub by_rate: Option<Agreement>,
    /// How the same rows would agree if time followed the instructions of the server.
    pub by_instructions: Option<Agreement>,
}

/// A row that lies beyond the tolerance, and where our own figure comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedRow {
    /// Of which table it is.
    pub of: String,
    /// What the ratios are of.
    pub what: RoundFigure,
    /// The printed ratio.
    pub theirs: f64,
    /// Ours.
    pub ours: f64,
    /// What makes the difference between our two arms.
    pub explanation: Explanation,
}

impl ExplainedRow {
    /// Base's instructions for an operation by test's: what the ratio of rates would be if time
    /// followed them. `None` of other figures, and where they were not counted.
    pub fn by_instructions(&self) -> Option<Interval> {
        let accounts = &self.explanation.accounts;
        let counted = accounts.iter().find(|account| account.witness == Witness::Instructions)?;
        let Interval { estimate, low, high } = counted.total.cost;
        (self.what == RoundFigure::Rate).then(|| Interval {
            estimate: 1.0 / (1.0 + estimate),
            low: 1.0 / (1.0 + high),
            high: 1.0 / (1.0 + low),
        })
    }
}

/// How far a column of ours agrees with a printed one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Rows with both.
    pub rows: u32,
    /// Spearman's rank correlation; `None` of fewer than three rows.
    pub rank_correlation: Option<f64>,
    /// The median of |ours − theirs|.
    pub median_difference: f64,
    /// The median of ours − theirs.
    pub median_shift: f64,
    /// Rows whose estimates differ by no more than the tolerance.
    pub within: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_confirmed_only_by_an_interval_that_lies_within_the_tolerance() {
        let ours = |low, high| Some(Interval { estimate: f64::midpoint(low, high), low, high });
        for (theirs, ours, standing) in [
            (0.62, ours(0.60, 0.66), FigureStanding::Confirmed),
            (0.62, ours(0.60, 0.70), FigureStanding::Open),
            (0.62, ours(0.68, 0.70), FigureStanding::Different),
            (0.62, ours(0.0, f64::INFINITY), FigureStanding::Open),
            (2.48, ours(2.37, 2.59), FigureStanding::Confirmed),
            (2.48, ours(2.0, 2.2), FigureStanding::Different),
            (0.62, None, FigureStanding::NotTestable),
        ] {
            assert_eq!(FigureStanding::from_ratios(theirs, ours), standing, "{theirs} {ours:?}");
        }
    }

    #[test]
    fn medians_name_their_group() {
        let row = |load: &str| PublishedRow { load: load.to_owned(), ratio: 1.0, because: None };
        assert_eq!(row("median of point").load_group(), Some("point"));
        assert_eq!(row("point-query").load_group(), None);
        assert!(row("l.i0").is_of("l.i0") && row("l.i0").is_of("l.i0?nr1=5"));
        assert!(!row("l.i0").is_of("l.i01") && !row("l.i0?nr1=5").is_of("l.i0"));
    }
}
