//! A history as a document: a sparkline and a row for each shift of a series, and for programs one
//! for each series without any.

use dbdyno_document::csv::number_field;
use dbdyno_document::number::UNKNOWN;
use dbdyno_document::{
    DataTable, Document, Element, LabelledItem, Sparkline, SparklineStep, TableCell, TableColumn,
    Text, Tint,
};
use dbdyno_model::{BenchmarkHistory, HistorySeries, Severity, Shift, ShiftWeight, Warning};

use super::json::{CauseEntry, ShiftEntry, scale_name, shift_entry};
use super::{e_divisive, words};

/// Which series are shown in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryExtent {
    /// Those with a change, and the others where they are few.
    Changes,
    /// All of them.
    Whole,
}

/// So many series are shown in full whatever they show.
const FEW: usize = 3;

/// Columns of the word before the source.
const SOURCE_WIDTH: usize = 3;

/// The history as a document.
pub fn history_document(history: &BenchmarkHistory, extent: HistoryExtent) -> Document {
    let mut document = Document::from(vec![head_elements(history)]);
    let is_whole = extent == HistoryExtent::Whole || history.series.len() <= FEW;
    let (shown, left): (Vec<_>, Vec<_>) =
        history.series.iter().partition(|series| is_whole || has_change(series));
    for series in shown {
        let mut passage = above_drawing(series);
        passage.push(Element::Sparkline(sparkline(series)));
        passage.extend(below_drawing(series, history));
        document.push(passage);
    }
    if !left.is_empty() {
        document.push(vec![Element::Sentence(words::without_change(&left).into())]);
    }
    document
}

/// The answer, and what it is of.
pub(super) fn head_elements(history: &BenchmarkHistory) -> Vec<Element> {
    let source = LabelledItem::new(&history.source).with_label("of", SOURCE_WIDTH);
    let items = std::iter::once(source).chain(history.warnings.iter().map(warning)).collect();
    vec![Element::Headline(words::headline(history).into()), Element::Items(items)]
}

/// What stands above the drawing of a series.
pub(super) fn above_drawing(series: &HistorySeries) -> Vec<Element> {
    let mut above = vec![Element::Heading(words::title(series).into())];
    if !series.about.is_empty() {
        above.push(Element::Sentence(series.about.as_str().into()));
    }
    above.push(Element::Sentence(words::series_span(series).into()));
    above
}

/// What stands below it.
pub(super) fn below_drawing(series: &HistorySeries, history: &BenchmarkHistory) -> Vec<Element> {
    let rows = HistoryRow::of_series(series, history);
    let shown = if series.changes.shifts.is_empty() { &[] } else { &rows[..] };
    let table = DataTable::new(&columns(), shown).with_records(&columns(), &rows);
    let remarks = words::series_remarks(series).into_iter().map(Text::from);
    vec![
        Element::Table(table),
        Element::Items(series.warnings.iter().map(warning).collect()),
        Element::Notes(remarks.collect()),
    ]
}

/// Whether anything is to be said of a series beside that it has no change.
fn has_change(series: &HistorySeries) -> bool {
    let changes = &series.changes;
    !changes.shifts.is_empty()
        || !changes.slides.is_empty()
        || !series.lapsed.is_empty()
        || series.warnings.iter().any(may_hide_a_change)
}

/// Whether it leaves a doubt about the latest values: what lies there is not proved, or as many
/// were left out as a level has. A series with such a one is none "without a change".
fn may_hide_a_change(warning: &Warning) -> bool {
    let is_unmeasured = warning.severity == Severity::Caution && warning.code == "unmeasured";
    is_unmeasured || warning.is_latest_doubt(false)
}

fn warning(warning: &Warning) -> LabelledItem {
    let severity = warning.severity.name();
    let tint = match warning.severity {
        Severity::Note => Tint::None,
        Severity::Caution | Severity::Blocks => Tint::Undecided,
    };
    LabelledItem::new(&warning.text).tinted_label(severity, tint, severity.len() + 1)
}

fn sparkline(series: &HistorySeries) -> Sparkline {
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let highest = values.iter().copied().fold(f64::MIN, f64::max);
    let lowest = values.iter().copied().fold(f64::MAX, f64::min);
    let steps = series.changes.shifts.iter();
    let steps = steps.map(|&Shift { first, earliest, latest, .. }| SparklineStep {
        first,
        earliest,
        latest,
    });
    Sparkline {
        values,
        highest: words::value(series, highest).into(),
        lowest: words::value(series, lowest).into(),
        steps: steps.collect(),
    }
}

/// A shift of a series, or a series that has none: it may be too short to show one, and is not
/// passed over.
struct HistoryRow<'a> {
    series: &'a HistorySeries,
    shift: Option<(&'a Shift, ShiftEntry<'a>)>,
    /// The codes of what is to be known of the series and of the whole, each once.
    codes: String,
    /// Where E-divisive begins the level that is nearest.
    beside: Option<usize>,
}

impl<'a> HistoryRow<'a> {
    fn of_series(series: &'a HistorySeries, history: &BenchmarkHistory) -> Vec<HistoryRow<'a>> {
        let mut codes: Vec<&str> = Vec::new();
        for warning in series.warnings.iter().chain(&history.warnings) {
            if !codes.contains(&warning.code.as_str()) {
                codes.push(&warning.code);
            }
        }
        let codes = codes.join(";");
        let shifts =
            series.changes.shifts.iter().zip(e_divisive::nearest_places(series)).enumerate();
        let rows = shifts.map(|(at, (one, beside))| HistoryRow {
            series,
            shift: Some((one, shift_entry(series, at))),
            codes: codes.clone(),
            beside,
        });
        let rows: Vec<HistoryRow<'a>> = rows.collect();
        if rows.is_empty() {
            return vec![HistoryRow { series, shift: None, codes, beside: None }];
        }
        rows
    }

    /// What people see of the shift.
    fn shown(&self, of: impl Fn(&HistorySeries, &Shift) -> String) -> Text {
        self.shift.as_ref().map_or_else(String::new, |(shift, _)| of(self.series, shift)).into()
    }

    /// The answer, which has a tint where it is an alarm.
    fn answer(&self) -> TableCell {
        let Some((shift, _)) = &self.shift else { return TableCell::from("") };
        let tint = match (shift.weight, self.series.is_worse(shift.size.estimate)) {
            (ShiftWeight::Alarm, true) => Tint::Worse,
            (ShiftWeight::Alarm, false) => Tint::Better,
            _ => Tint::None,
        };
        TableCell::tinted_text(words::shift_answer(self.series, shift), tint).as_answer()
    }

    /// What programs read of the shift.
    fn field(&self, of: impl Fn(&ShiftEntry<'a>) -> String) -> String {
        self.shift.as_ref().map_or_else(String::new, |(_, entry)| of(entry))
    }
}

type HistoryColumn<'a> = TableColumn<'a, HistoryRow<'a>>;

fn columns<'a>() -> Vec<HistoryColumn<'a>> {
    shown_columns().into_iter().chain(recorded_columns()).collect()
}

/// The answer ends its column as a number does, so that a narrow screen gets several tables.
fn shown_columns<'a>() -> [HistoryColumn<'a>; 9] {
    [
        HistoryColumn::word_texts("run", |row| {
            row.shown(|series, shift| words::run(&series.points[shift.first]))
        }),
        HistoryColumn::number_texts("from", |row| {
            row.shown(|_, shift| (shift.first + 1).to_string())
        }),
        HistoryColumn::number_texts("change", |row| row.shown(words::shift_size)),
        HistoryColumn::number_texts("place", |row| row.shown(|_, shift| words::start_range(shift))),
        HistoryColumn::number_cells("answer", HistoryRow::answer),
        HistoryColumn::number_texts("p", |row| {
            row.shown(|_, shift| words::p_value_text(shift.p_value))
        }),
        HistoryColumn::number_texts("E-divisive", |row| {
            let beside = row.beside.map(|first| (first + 1).to_string());
            beside.unwrap_or_else(|| UNKNOWN.to_owned()).into()
        }),
        HistoryColumn::number_texts("before", |row| {
            row.shown(|series, shift| words::value(series, shift.before))
        }),
        HistoryColumn::number_texts("after", |row| {
            row.shown(|series, shift| words::value(series, shift.after))
        }),
    ]
}

/// In the words of the JSON contract.
fn recorded_columns<'a>() -> [HistoryColumn<'a>; 25] {
    [
        HistoryColumn::recorded_field("name", |row| row.series.name.clone()),
        HistoryColumn::recorded_field("about", |row| row.series.about.clone()),
        HistoryColumn::recorded_field("metric", |row| row.series.metric.clone()),
        HistoryColumn::recorded_field("better", |row| row.series.better.name().to_owned()),
        HistoryColumn::recorded_field("first", |row| row.field(|shift| shift.first.to_string())),
        HistoryColumn::recorded_field("run", |row| row.field(|shift| shift.run.to_owned())),
        HistoryColumn::recorded_field("version", |row| row.field(|shift| shift.version.to_owned())),
        HistoryColumn::recorded_field("unix_ms", |row| row.field(|shift| optional(shift.unix_ms))),
        HistoryColumn::recorded_field("earliest", |row| {
            row.field(|shift| shift.earliest.to_string())
        }),
        HistoryColumn::recorded_field("latest", |row| row.field(|shift| shift.latest.to_string())),
        HistoryColumn::recorded_field("before", |row| row.field(|shift| shift.before.to_string())),
        HistoryColumn::recorded_field("after", |row| row.field(|shift| shift.after.to_string())),
        HistoryColumn::recorded_field("change", |row| row.field(|shift| shift.change.to_string())),
        HistoryColumn::recorded_field("change_low", |row| {
            row.field(|shift| number_field(shift.change_low))
        }),
        HistoryColumn::recorded_field("change_high", |row| {
            row.field(|shift| number_field(shift.change_high))
        }),
        HistoryColumn::recorded_field("superiority", |row| {
            row.field(|shift| shift.superiority.to_string())
        }),
        HistoryColumn::recorded_field("p_value", |row| {
            row.field(|shift| shift.p_value.to_string())
        }),
        HistoryColumn::recorded_field("assumed_correlation", |row| {
            row.field(|shift| shift.assumed_correlation.to_string())
        }),
        HistoryColumn::recorded_field("direction", |row| {
            row.field(|shift| shift.direction.to_owned())
        }),
        HistoryColumn::recorded_field("weight", |row| row.field(|shift| shift.weight.to_owned())),
        HistoryColumn::recorded_field("scale", |row| scale_name(row.series).to_owned()),
        HistoryColumn::recorded_field("first_found_with", |row| {
            row.field(|shift| optional(shift.first_found_with))
        }),
        HistoryColumn::recorded_field("causes", |row| row.field(causes)),
        HistoryColumn::recorded_field("warnings", |row| row.codes.clone()),
        HistoryColumn::recorded_field("e_divisive", |row| optional(row.beside)),
    ]
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The facts that changed with a shift, for one column.
fn causes(shift: &ShiftEntry<'_>) -> String {
    let causes = shift
        .causes
        .iter()
        .map(|CauseEntry { fact, before, after, .. }| format!("{fact}: {before} → {after}"));
    causes.collect::<Vec<String>>().join("; ")
}
