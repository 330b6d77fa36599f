//! Sentences and rows about a history.

use dbdyno_document::layout::printable;
use dbdyno_document::number::{self, GLUE, UNKNOWN};
use dbdyno_model::{
    BenchmarkHistory, ChangeScale, HistoryPoint, HistorySeries, NullKind, Shift, ShiftWeight,
};

use super::e_divisive;
use crate::calendar::minute;
use crate::words::plural;

/// The heads of [`rows`].
pub(super) const HEADS: [&str; 9] =
    ["from", "run", "before", "after", "change", "place", "p", "E-divisive", "answer"];

/// What was found, in a sentence.
pub(super) fn headline(history: &BenchmarkHistory) -> String {
    let alarms = |worse: bool| -> u64 {
        let of_one = |series: &HistorySeries| {
            let shifts = series.changes.shifts.iter();
            let counts = |shift: &&Shift| {
                shift.weight == ShiftWeight::Alarm && series.is_worse(shift.size.estimate) == worse
            };
            shifts.filter(counts).count() as u64
        };
        history.series.iter().map(of_one).sum()
    };
    let others: usize =
        history.series.iter().map(|series| series.changes.shifts.len()).sum::<usize>();
    let (worse, better) = (alarms(true), alarms(false));
    let others = others as u64 - worse - better;
    // "series" has no plural of its own.
    let count = format!("{} series", history.series.len());
    let budget = number::percent_as_given(history.budget);
    let told =
        |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", plural(count, "change")));
    let parts: Vec<String> = [
        told(worse, "to the worse"),
        told(better, "to the better"),
        told(others, "without an alarm"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match worse + better + others {
        0 => format!("No change found in {count}."),
        _ => format!("{} in {count}; alarms from {budget} on.", parts.join(", ")),
    }
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
        format!("{}, {better} is better", printable(&series.name))
    } else {
        format!("{}: {}, {better} is better", printable(&series.name), printable(&series.metric))
    }
}

/// How many values from when to when.
pub(super) fn span(series: &HistorySeries) -> String {
    let count = plural(series.points.len() as u64, "value");
    let time = |point: Option<&HistoryPoint>| Some(minute(point?.unix_ms?.max(0) as u64));
    match (time(series.points.first()), time(series.points.last())) {
        (Some(first), Some(last)) => format!("{count}, {first} to {last}"),
        _ => count,
    }
}

/// What a run is called: its label, and its version where that says more.
pub(super) fn run(point: &HistoryPoint) -> String {
    let (label, version) = (printable(&point.label), printable(&point.version));
    if version.is_empty() || version == label { label } else { format!("{label} ({version})") }
}

/// The answer to a shift.
pub(super) fn answer(series: &HistorySeries, shift: &Shift) -> &'static str {
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
        ChangeScale::Share => format!("{}{GLUE}%", number::signed(100.0 * value, 1)),
        ChangeScale::Difference => {
            let text = number::three_digits(value);
            if value > 0.0 { format!("+{text}") } else { text }
        }
    }
}

/// A value of a series with the digits that tell a tenth of the spread of most values.
pub(super) fn value(series: &HistorySeries, value: f64) -> String {
    let mut values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    values.sort_by(f64::total_cmp);
    let tenth = values.len() / 10;
    let spread = values[values.len() - 1 - tenth] - values[tenth];
    let decimals = number::decimals_for(spread / 10.0);
    decimals.map_or_else(|| number::three_digits(value), |decimals| number::fixed(value, decimals))
}

/// A row for each shift, in the order of [`HEADS`].
pub(super) fn rows(series: &HistorySeries) -> Vec<Vec<String>> {
    let row = |(shift, beside): (&Shift, Option<usize>)| {
        let place = match (shift.earliest + 1, shift.latest + 1) {
            (earliest, latest) if earliest == latest => format!("{earliest}"),
            (earliest, latest) => format!("{earliest} to {latest}"),
        };
        let bounds = if shift.size.low.is_finite() && shift.size.high.is_finite() {
            format!("{} to {}", size(series, shift.size.low), size(series, shift.size.high))
        } else {
            "no bounds".to_owned()
        };
        vec![
            format!("{}", shift.first + 1),
            run(&series.points[shift.first]),
            value(series, shift.before),
            value(series, shift.after),
            format!("{} ({bounds})", size(series, shift.size.estimate)),
            place,
            chance(shift.p_value),
            beside.map_or_else(|| UNKNOWN.to_owned(), |first| (first + 1).to_string()),
            answer(series, shift).to_owned(),
        ]
    };
    series.changes.shifts.iter().zip(e_divisive::shifts(series)).map(row).collect()
}

fn chance(p_value: f64) -> String {
    match p_value {
        p if p < 0.0001 => "<0.0001".to_owned(),
        p => format!("{p:.4}"),
    }
}

/// What else is to be said of a series, a sentence each.
pub(super) fn remarks(series: &HistorySeries) -> Vec<String> {
    let mut remarks = Vec::new();
    for (shift, causes) in series.changes.shifts.iter().zip(&series.causes) {
        if !causes.is_empty() {
            let each = causes.iter().map(|cause| {
                let at = cause.at + 1;
                let [fact, before, after] =
                    [&cause.fact, &cause.before, &cause.after].map(|text| short(text));
                format!("{fact} {before} → {after} (at {at})")
            });
            remarks.push(format!(
                "Where {} begins, this changed too: {}. That is a coincidence until one of them is \
                 changed alone.",
                shift.first + 1,
                each.collect::<Vec<String>>().join("; ")
            ));
        }
    }
    for (shift, found) in series.changes.shifts.iter().zip(&series.first_found) {
        if let Some(with) = found {
            remarks.push(format!(
                "The change at {} is new: it was first found with {with} values.",
                shift.first + 1
            ));
        }
    }
    for lapsed in &series.lapsed {
        remarks.push(format!(
            "A change at {} was found with the first {} values and is no longer found with {}.",
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
        e_divisive::none(series).iter().map(|first| (first + 1).to_string()).collect();
    (!places.is_empty()).then(|| {
        format!(
            "E-divisive, at the same significance level, finds further changes at {}.",
            places.join(", ")
        )
    })
}

fn short(text: &str) -> String {
    const MOST: usize = 60;
    let text = printable(text);
    match text.chars().count() > MOST {
        true => text.chars().take(MOST - 1).chain(['…']).collect(),
        false if text.is_empty() => "(empty)".to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;

    /// The other method has a column of its own, and a sentence for what no row can show.
    #[test]
    fn e_divisive_stands_beside_each_change() {
        let series = sample::series(100, &[31, 88], Some(&[30, 74]));
        let at = HEADS.iter().position(|head| *head == "E-divisive").unwrap();
        let column: Vec<String> = rows(&series).into_iter().map(|mut row| row.remove(at)).collect();
        assert_eq!(column, ["31", "75"]);
        assert!(rows(&series).iter().all(|row| row.len() == HEADS.len()));
        assert_eq!(remarks(&series), Vec::<String>::new());

        let apart = sample::series(100, &[31], Some(&[30, 74]));
        let told = remarks(&apart);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("finds further changes at 75."), "{told:?}");
        let silent = sample::series(100, &[31], None);
        assert_eq!(rows(&silent)[0][at], UNKNOWN);
        assert!(remarks(&silent)[0].contains("was not computed"), "{:?}", remarks(&silent));
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
