//! What stands in a cell of a table: a sign, a number, and how that is coloured.
//!
//! ```text
//!            0.95        1.05
//!   ─────────┤            ├─────────   by the number as it is shown
//!     worse       near      better     grey between; the other way round where more is worse
//! ```
//!
//! The edges are Callaghan's. A number that is not decided is hatched whatever it is, and no colour
//! says anything that sign and number do not.

use dbdyno_document::number::{self, GLUE};
use dbdyno_document::{TableCell, Tint};
use dbdyno_model::Verdict;

use super::groups::Median;
use super::rows::Answer;
use crate::rows;

/// Between these a number is grey.
const EDGES: [f64; 2] = [0.95, 1.05];
/// Decimals of medians.
const DECIMALS: i32 = 2;

/// Which direction is the good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// As of rates.
    More,
    /// As of costs and times.
    Less,
}

/// How a number is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shade {
    Worse,
    Near,
    Better,
    /// Hatched.
    Undecided,
    /// There is nothing to colour.
    None,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// What was found; empty where that was not judged.
    pub(super) sign: &'static str,
    /// As it is shown.
    pub(super) number: String,
    /// `(0.944 to 0.958)`, where it has an interval.
    pub(super) interval: Option<String>,
    /// The ratio itself, where there is one.
    pub(super) ratio: Option<f64>,
    /// What was found, worse as *slower*; none where that was not judged.
    pub(super) verdict: Option<Verdict>,
    pub(super) shade: Shade,
    /// Numbers of the notes that speak against it, from 0.
    pub(super) marks: Vec<usize>,
}

impl Shade {
    /// Of a number as it is shown.
    pub(super) fn of_ratio(shown: f64, better: Better) -> Shade {
        let [low, high] = EDGES;
        match (shown, better) {
            (shown, _) if low < shown && shown < high => Shade::Near,
            (shown, Better::More) if shown <= low => Shade::Worse,
            (shown, Better::Less) if shown >= high => Shade::Worse,
            _ => Shade::Better,
        }
    }

    /// What its colour repeats.
    pub(super) fn tint(self) -> Tint {
        match self {
            Shade::Worse => Tint::Worse,
            Shade::Near => Tint::Near,
            Shade::Better => Tint::Better,
            Shade::Undecided => Tint::Undecided,
            Shade::None => Tint::None,
        }
    }

    /// The name of the class in style sheets.
    pub(super) fn css_class(self) -> &'static str {
        match self {
            Shade::Worse => "worse",
            Shade::Near => "near",
            Shade::Better => "better",
            Shade::Undecided => "undecided",
            Shade::None => "none",
        }
    }
}

impl Figure {
    /// Of what was found between two arms.
    pub(super) fn of_answer(answer: &Answer) -> Figure {
        let view = &answer.view;
        let (effect, decimals) = (view.effect(), rows::rqps_decimals(view));
        let better = if view.response_ratio.is_some() { Better::Less } else { Better::More };
        let verdict = view.verdict.0;
        Figure {
            sign: verdict_sign(verdict),
            number: rows::rqps_text(view),
            interval: interval(effect.low, effect.high, decimals),
            ratio: effect.ratio,
            verdict: Some(verdict),
            shade: shade(effect.ratio, decimals, better, Some(verdict)),
            marks: answer.marks.clone(),
        }
    }

    /// Of a group.
    pub(super) fn of_median(median: &Median, better: Better) -> Figure {
        Figure::of_ratio(median.ratio, Some(median.verdict), DECIMALS, better)
    }

    /// A ratio without an interval; the sign is that of a rate.
    pub(super) fn of_ratio(
        ratio: f64,
        verdict: Option<Verdict>,
        decimals: i32,
        better: Better,
    ) -> Figure {
        Figure {
            sign: verdict.map_or("", verdict_sign),
            number: number::format_fixed(ratio, decimals),
            interval: None,
            ratio: Some(ratio),
            verdict,
            shade: shade(Some(ratio), decimals, better, verdict),
            marks: Vec::new(),
        }
    }

    /// `▼ 0.951`.
    pub(super) fn display_text(&self) -> String {
        match self.sign {
            "" => self.number.clone(),
            sign => format!("{sign}{GLUE}{}", self.number),
        }
    }

    /// `▼ 0.951 (0.944 to 0.958)`.
    pub(super) fn with_interval(&self) -> String {
        let interval = self.interval.as_ref().map_or(String::new(), |of| format!(" {of}"));
        format!("{}{interval}", self.display_text())
    }

    /// What the colour of sign and number repeats: nothing without a sign.
    pub(super) fn tint(&self) -> Tint {
        if self.sign.is_empty() { Tint::None } else { self.shade.tint() }
    }

    /// It in a table: coloured by its shade, and marked with its notes.
    pub(super) fn cell(&self) -> TableCell {
        let strength = matches!(self.shade, Shade::Worse | Shade::Better);
        let strength = strength.then(|| 100.0 * self.colour_strength());
        TableCell::tinted_text(self.display_text(), self.tint())
            .with_shade(self.shade.tint(), strength)
            .with_marks(self.marks.iter().map(|note| note + 1).collect())
    }

    /// The same with its interval.
    pub(super) fn cell_with_interval(&self) -> TableCell {
        let interval = self.interval.as_ref().map_or(String::new(), |of| format!(" {of}"));
        self.cell().and_text(interval)
    }

    /// How strong its colour is, from 0.35 to 1 at a factor of two.
    pub(super) fn colour_strength(&self) -> f64 {
        let size = self.ratio.map_or(0.0, |ratio| ratio.ln().abs() / std::f64::consts::LN_2);
        if size.is_finite() { 0.35 + 0.65 * size.min(1.0) } else { 1.0 }
    }
}

/// The sign of a verdict.
pub(super) fn verdict_sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▼",
        Verdict::Faster => "▲",
        Verdict::Equal => "=",
        Verdict::Undecided => "~",
    }
}

/// `(0.944 to 0.958)`.
pub(super) fn interval(low: Option<f64>, high: Option<f64>, decimals: i32) -> Option<String> {
    let [low, high] = [low?, high?].map(|bound| number::format_fixed(bound, decimals));
    Some(format!("({low}{GLUE}to{GLUE}{high})"))
}

fn shade(ratio: Option<f64>, decimals: i32, better: Better, verdict: Option<Verdict>) -> Shade {
    let Some(ratio) = ratio else { return Shade::Undecided };
    if verdict == Some(Verdict::Undecided) {
        return Shade::Undecided;
    }
    let place = 10f64.powi(decimals);
    Shade::of_ratio((ratio * place).round() / place, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_the_edges_of_the_tables_that_they_are_taken_from() {
        for (shown, expected) in [
            (0.62, Shade::Worse),
            (0.95, Shade::Worse),
            (0.951, Shade::Near),
            (1.0, Shade::Near),
            (1.049, Shade::Near),
            (1.05, Shade::Better),
            (2.48, Shade::Better),
        ] {
            assert_eq!(Shade::of_ratio(shown, Better::More), expected, "{shown}");
            let turned = match expected {
                Shade::Worse => Shade::Better,
                Shade::Better => Shade::Worse,
                other => other,
            };
            assert_eq!(Shade::of_ratio(shown, Better::Less), turned, "{shown}, of a cost");
        }
    }

    /// A number that reads 0.95 is coloured as 0.95 is, whatever it was before it was rounded.
    #[test]
    fn what_is_shown_is_what_is_coloured() {
        let figure = |ratio, verdict| Figure::of_ratio(ratio, verdict, 2, Better::More);
        let slower = figure(0.9532, Some(Verdict::Slower));
        assert_eq!((&*slower.display_text(), slower.shade), ("▼\u{a0}0.95", Shade::Worse));
        let undecided = figure(0.6, Some(Verdict::Undecided));
        assert_eq!(
            (&*undecided.display_text(), undecided.shade),
            ("~\u{a0}0.60", Shade::Undecided)
        );
        assert_eq!(&*figure(0.6, None).display_text(), "0.60", "not judged: no sign");
        let strengths = [0.95, 0.7, 0.5, 0.1].map(|ratio| figure(ratio, None).colour_strength());
        assert!(strengths.is_sorted() && strengths[0] > 0.35 && strengths[3] == 1.0);
    }
}
