//! Sentences and rows about a history.

use dbdyno_document::number::{self, GLUE};
use dbdyno_model::{
    BenchmarkHistory, ChangeScale, HistoryPoint, HistorySeries, Interval, NullKind, Shift,
    ShiftWeight,
};

use super::e_divisive;
use crate::calendar::format_minute;
use crate::words::count_with_noun;

/// A value is not rounded by more than this share of itself.
const ROUNDING_MOST: f64 = 0.125;

/// What was found, in a sentence.
pub(super) fn headline(history: &BenchmarkHistory) -> String {
    let (mut worse, mut better, mut others) = (0, 0, 0);
    for series in &history.series {
        for shift in &series.changes.shifts {
            match (shift.weight, series.is_worse(shift.size.estimate)) {
                (ShiftWeight::Alarm, true) => worse += 1,
                (ShiftWeight::Alarm, false) => better += 1,
                _ => others += 1,
            }
        }
    }
    // "series" has no plural of its own.
    let count = format!("{} series", history.series.len());
    let parts = [
        (worse, "change", "to the worse"),
        (better, "change", "to the better"),
        (others, "change", "without an alarm"),
        (slides(history, true), "slide", "to the worse"),
        (slides(history, false), "slide", "to the better"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _, _)| *count > 0)
        .map(|(count, noun, what)| format!("{} {what}", count_with_noun(count, noun)))
        .collect();
    if parts.is_empty() {
        return format!("No change found in {count}.");
    }
    let budget = number::percent_as_given(history.budget);
    format!("{} in {count}; alarms from {budget} on.", parts.join(", "))
}

/// How many slides go that way.
fn slides(history: &BenchmarkHistory, to_the_worse: bool) -> u64 {
    let mut count = 0;
    for series in &history.series {
        let slides = series.changes.slides.iter();
        count += slides.filter(|one| series.is_worse(one.size) == to_the_worse).count();
    }
    count as u64
}

/// How many series have no change, and of how many that says little.
pub(super) fn without_change(series: &[&HistorySeries]) -> String {
    let short =
        series.iter().filter(|of| of.warnings.iter().any(|one| one.code == "too-short")).count();
    let short = match short {
        0 => String::new(),
        all if all == series.len() => ", all of them too short to show one".to_owned(),
        some => format!(", {some} of them too short to show one"),
    };
    format!("{} series without a change{short}: --all prints each", series.len())
}

/// What the series is.
pub(super) fn title(series: &HistorySeries) -> String {
    let better = series.better.name();
    if series.name == series.metric {
        format!("{}, {better} is better", series.name)
    } else {
        format!("{}: {}, {better} is better", series.name, series.metric)
    }
}

/// How many values from when to when.
pub(super) fn series_span(series: &HistorySeries) -> String {
    let count = count_with_noun(series.points.len() as u64, "value");
    match (time(series.points.first()), time(series.points.last())) {
        (Some(first), Some(last)) => format!("{count}, {first} to {last}"),
        _ => count,
    }
}

fn time(point: Option<&HistoryPoint>) -> Option<String> {
    Some(format_minute(point?.unix_ms?.max(0) as u64))
}

/// What a run is called: its label, and its version where that says more.
pub(super) fn run(point: &HistoryPoint) -> String {
    let HistoryPoint { label, version, .. } = point;
    if version.is_empty() || version == label {
        label.clone()
    } else {
        format!("{label} ({version})")
    }
}

/// The answer to a shift.
pub(super) fn shift_answer(series: &HistorySeries, shift: &Shift) -> &'static str {
    match (shift.weight, series.is_worse(shift.size.estimate)) {
        // The typical value is the same, which is neither.
        (ShiftWeight::Overlaps, _) if shift.size.estimate == 0.0 => "overlaps",
        (ShiftWeight::Alarm, true) => "worse",
        (ShiftWeight::Alarm, false) => "better",
        (ShiftWeight::Overlaps, true) => "worse, overlaps",
        (ShiftWeight::Overlaps, false) => "better, overlaps",
        (ShiftWeight::WithinBudget, _) => "within budget",
    }
}

/// Among fewer values the intervals of weak shifts hold less often than they say where neighbours
/// resemble each other (`docs/CALIBRATION.md` counts 30 and 60).
const TELL_CORRELATION: usize = 40;

/// A size in the scale of a series.
pub(super) fn size(series: &HistorySeries, value: f64) -> String {
    match series.scale {
        ChangeScale::Share => format!("{}{GLUE}%", number::format_signed(100.0 * value, 1)),
        ChangeScale::Difference => {
            let text = number::three_digits(value);
            if value > 0.0 { format!("+{text}") } else { text }
        }
    }
}

/// A change in a sentence without a verb: its size, and where it begins, by the place of the value,
/// its run and its time.
pub(super) fn shift_phrase(series: &HistorySeries, shift: &Shift) -> String {
    let point = &series.points[shift.first];
    let names = [Some(run(point)).filter(|name| !name.is_empty()), time(Some(point))];
    let place: String = names.into_iter().flatten().map(|name| format!(", {name}")).collect();
    let [first, count] = [shift.first + 1, series.points.len()];
    let size = shift_size(series, shift);
    format!("{size} from value {first} of {count} on{place}").replace(GLUE, " ")
}

/// A value of a series with the digits that tell a tenth of the spread of most values.
pub(super) fn value(series: &HistorySeries, value: f64) -> String {
    let mut values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    values.sort_by(f64::total_cmp);
    let tenth = values.len() / 10;
    let spread = values[values.len() - 1 - tenth] - values[tenth];
    match number::decimals_for(spread / 10.0) {
        Some(decimals)
            if value == 0.0 || 0.5 * 10f64.powi(-decimals) <= ROUNDING_MOST * value.abs() =>
        {
            number::format_fixed(value, decimals)
        }
        // Far below the others, as 5 among values of 500: to tens it would be twice as much.
        _ => number::three_digits(value),
    }
}

/// The size of a shift with its bounds.
pub(super) fn shift_size(series: &HistorySeries, shift: &Shift) -> String {
    let bounds = match shift_bounds(shift) {
        Some((low, high)) => format!("{} to {}", size(series, low), size(series, high)),
        None => "no bounds".to_owned(),
    };
    format!("{} ({bounds})", size(series, shift.size.estimate))
}

/// The bounds of the size of a shift: both, or none where a level has too few values. Of a share
/// that has none the lower one is −1, the least that there is, and tells nothing.
pub(super) fn shift_bounds(shift: &Shift) -> Option<(f64, f64)> {
    let Interval { low, high, .. } = shift.size;
    (low.is_finite() && high.is_finite()).then_some((low, high))
}

/// The values with which a shift may begin.
pub(super) fn start_range(shift: &Shift) -> String {
    match (shift.earliest + 1, shift.latest + 1) {
        (earliest, latest) if earliest == latest => format!("{earliest}"),
        (earliest, latest) => format!("{earliest} to {latest}"),
    }
}

/// The chance of something as clear where nothing changes.
pub(super) fn p_value_text(p_value: f64) -> String {
    match p_value {
        p if p < 0.0001 => "<0.0001".to_owned(),
        p => format!("{p:.4}"),
    }
}

/// What else is to be said of a series, a sentence each.
pub(super) fn series_remarks(series: &HistorySeries) -> Vec<String> {
    let mut remarks = Vec::new();
    for (shift, causes) in series.changes.shifts.iter().zip(&series.causes) {
        if !causes.is_empty() {
            let each = causes.iter().map(|cause| {
                let at = cause.at + 1;
                let [fact, before, after] =
                    [&cause.fact, &cause.before, &cause.after].map(|text| short(text));
                format!("{fact} {before} → {after} (at value {at})")
            });
            remarks.push(format!(
                "Where the level changed, at value {}, this changed too: {}. That is a coincidence \
                 until one of them is changed alone.",
                shift.first + 1,
                each.collect::<Vec<String>>().join("; ")
            ));
        }
    }
    for (shift, found) in series.changes.shifts.iter().zip(&series.first_found) {
        if let Some(with) = found {
            remarks.push(format!(
                "The change at value {} is new: it was first found with {with} values.",
                shift.first + 1
            ));
        }
    }
    for lapsed in &series.lapsed {
        remarks.push(format!(
            "A change at value {} was found with the first {} values and is no longer found with \
             {}.",
            lapsed.first + 1,
            lapsed.found_with,
            series.points.len()
        ));
    }
    let correlated = series.changes.shifts.iter().find_map(|shift| match shift.null {
        NullKind::Correlated(phi) => Some(phi),
        NullKind::Permutation => None,
    });
    if let Some(phi) = correlated {
        remarks.push(format!(
            "Neighbouring values are correlated ({phi:.2}); changes are tested against correlated \
             noise."
        ));
    }
    if !series.changes.shifts.is_empty() && series.points.len() < TELL_CORRELATION {
        remarks.push(
            "With so few values the correlation of neighbours is hardly known; if they are \
             correlated, the intervals of sizes and places hold with less than 95 %."
                .to_owned(),
        );
    }
    remarks.extend(elsewhere(series));
    remarks
}

/// What E-divisive says of the same values and stands beside no shift.
fn elsewhere(series: &HistorySeries) -> Option<String> {
    if series.e_divisive.is_none() {
        return Some("E-divisive was not computed: there are too many values.".to_owned());
    }
    let places: Vec<String> =
        e_divisive::unmatched_places(series).iter().map(|first| (first + 1).to_string()).collect();
    (!places.is_empty()).then(|| {
        format!(
            "E-divisive, which takes values for independent, finds further changes at value {} at \
             the same significance level; no alarm rests on it.",
            places.join(", ")
        )
    })
}

fn short(text: &str) -> String {
    const MOST: usize = 60;
    if text.is_empty() {
        "(empty)".to_owned()
    } else if text.chars().count() > MOST {
        text.chars().take(MOST - 1).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;

    /// What another method finds is said in a sentence where no row can show it.
    #[test]
    fn e_divisive_stands_beside_a_change_or_is_told() {
        assert_eq!(
            series_remarks(&sample::series(100, &[31, 88], Some(&[30, 74]))),
            Vec::<String>::new()
        );
        let told = series_remarks(&sample::series(100, &[31], Some(&[30, 74])));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains("finds further changes at value 75 at the same"), "{told:?}");
        let silent = series_remarks(&sample::series(100, &[31], None));
        assert!(silent[0].contains("was not computed"), "{silent:?}");
    }

    #[test]
    fn changes_without_an_alarm_are_told_by_number() {
        let mut series = sample::series(100, &[31, 88], Some(&[]));
        for shift in &mut series.changes.shifts {
            shift.weight = ShiftWeight::WithinBudget;
        }
        let history = sample::history(vec![series], Vec::new());
        let headline = headline(&history).replace(GLUE, " ");
        assert!(headline.starts_with("2 changes without an alarm in 1 series"), "{headline}");
    }
}
