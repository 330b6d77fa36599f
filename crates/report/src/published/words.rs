//! Figures and sentences that tables and explanations share.

use dbdyno_document::number::{GLUE, UNKNOWN, format_fixed, format_signed};
use dbdyno_model::Interval;
use dbdyno_model::experiment::FigureOutcome;
use dbdyno_model::published::Agreement;

/// What was found of a figure: `1.94 → 1.00, 0.516 (0.513 to 0.519) of base, less`.
pub fn outcome_words(outcome: &FigureOutcome) -> String {
    let (Some(base), Some(test)) = (outcome.base, outcome.test) else {
        return "was not observed".to_owned();
    };
    let ratio = outcome.ratio.map_or(String::new(), |ratio| {
        format!(", {:.3} ({:.3} to {:.3}) of base", ratio.estimate, ratio.low, ratio.high)
    });
    let sign = outcome.sign.map_or(String::new(), |sign| format!(", {}", sign.name()));
    format!("{base:.4} → {test:.4}{ratio}{sign}")
}

/// How far two columns of figures agree.
pub(super) fn agreement_text(agreement: &Agreement) -> String {
    let correlation = agreement.rank_correlation.map_or(String::new(), |correlation| {
        format!("rank correlation {}, ", two_decimals(correlation))
    });
    format!(
        "{correlation}median difference {} points (shift {}), {} of {} within 5",
        percentage_points(agreement.median_difference),
        format_signed(100.0 * agreement.median_shift, 1),
        agreement.within,
        agreement.rows
    )
}

/// Two decimals, as printed ratios have.
pub(super) fn two_decimals(value: f64) -> String {
    format_fixed(value, 2)
}

/// Hundredths of a ratio.
pub(super) fn percentage_points(difference: f64) -> String {
    format_fixed(100.0 * difference, 1)
}

/// `0.63 (0.60 to 0.66)`.
pub(super) fn with_ends(ours: Option<Interval>) -> String {
    ours.map_or(UNKNOWN.to_owned(), |ours| {
        format!(
            "{} ({}{GLUE}to{GLUE}{})",
            two_decimals(ours.estimate),
            two_decimals(ours.low),
            two_decimals(ours.high)
        )
    })
}
