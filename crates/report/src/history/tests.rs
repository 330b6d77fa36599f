//! Histories as documents, written.

use dbdyno_document::terminal::{self, Colour, TextStyle};
use dbdyno_document::{csv, markdown};
use dbdyno_model::{BenchmarkHistory, HistorySeries, Severity, Warning};

use super::{HistoryExtent, history_document, sample, words};

fn text(history: &BenchmarkHistory, extent: HistoryExtent, width: usize) -> String {
    let document = history_document(history, extent);
    terminal::render_document(&document, &TextStyle { colour: Colour::Plain, width })
}

fn told(count: usize, extent: HistoryExtent) -> String {
    let mut all: Vec<HistorySeries> = (0..count)
        .map(|_| sample::series(100, &[], Some(&[])))
        .chain([sample::series(100, &[31], Some(&[31]))])
        .collect();
    all[0].warnings.push(Warning::new(Severity::Caution, "too-short", "4 values are too few"));
    text(&sample::history(all, Vec::new()), extent, 100)
}

#[test]
fn a_narrow_screen_gets_two_tables_and_loses_nothing() {
    let history = sample::history(vec![sample::series(100, &[31], Some(&[30]))], Vec::new());
    let words = |text: &str| {
        // The sparkline is as wide as there is room.
        let told = text.lines().filter(|line| !line.contains('│'));
        let mut words: Vec<&str> = told.flat_map(str::split_whitespace).collect();
        words.sort_unstable();
        words.dedup();
        words.join(" ")
    };
    let (narrow, wide) =
        (text(&history, HistoryExtent::Whole, 76), text(&history, HistoryExtent::Whole, 120));
    assert!(narrow.lines().all(|line| line.chars().count() <= 76), "{narrow}");
    assert!(narrow.lines().count() > wide.lines().count(), "{narrow}");
    assert_eq!(words(&narrow), words(&wide), "{narrow}");
}

#[test]
fn many_series_without_a_change_are_counted() {
    let text = told(40, HistoryExtent::Changes);
    assert!(text.lines().count() <= 25, "{text}");
    assert_eq!(text.matches("higher is better").count(), 1, "the one with a change");
    let said = "40 series without a change, 1 of them too short to show one: --all prints each";
    assert!(text.contains(said), "{text}");
    let whole = told(40, HistoryExtent::Whole);
    assert_eq!(whole.matches("higher is better").count(), 41);
    assert_eq!(told(2, HistoryExtent::Changes), told(2, HistoryExtent::Whole), "few");
}

/// Where values were left out that may have been a level, a series without a change says so.
#[test]
fn what_may_hide_a_change_is_shown_among_many() {
    let mut all: Vec<HistorySeries> = (0..8).map(|_| sample::series(100, &[], None)).collect();
    for (at, severity) in [(2, Severity::Caution), (5, Severity::Note)] {
        let text = format!("{} values left out", at + 3);
        all[at].warnings.push(Warning::new(severity, "unmeasured", text));
    }
    let far = Warning::new(Severity::Caution, "latest-far", "three times as long".to_owned());
    all[6].warnings.push(far);
    let text = text(&sample::history(all, Vec::new()), HistoryExtent::Changes, 100);
    assert!(text.contains("5 values left out") && !text.contains("8 values left"), "{text}");
    assert!(text.contains("three times as long"), "{text}");
    assert!(text.contains("6 series without a change"), "{text}");
}

/// Of a level of too few values no bound is known: text said so, and JSON told the lower one.
#[test]
fn a_change_without_bounds_has_none_in_any_format() {
    let mut series = sample::series(40, &[20], None);
    let size = &mut series.changes.shifts[0].size;
    (size.low, size.high) = (-1.0, f64::INFINITY);
    let entry = super::json::shift_entry(&series, 0);
    assert_eq!((entry.change_low, entry.change_high), (None, None));
    assert!(words::shift_size(&series, &series.changes.shifts[0]).contains("no bounds"));
}

/// Values of 5 among some of 500 were told as 10.
#[test]
fn a_value_is_not_rounded_to_twice_as_much() {
    let mut series = sample::series(40, &[], None);
    for (at, point) in series.points.iter_mut().enumerate() {
        point.value = if at % 3 == 0 { 500.0 } else { 5.0 };
    }
    let told = [5.0, 500.0, 0.0, -5.0].map(|value| words::value(&series, value));
    assert_eq!(told, ["5.00", "500", "0", "−5.00"]);
}

#[test]
fn the_headline_counts_slides_and_says_no_change_of_none() {
    let mut slid = sample::series(40, &[], None);
    let slide = |from, to, size| dbdyno_model::Slide { from, to, size };
    slid.changes.slides = vec![slide(0, 20, 0.1), slide(20, 40, -0.2), slide(30, 40, -0.1)];
    let headline = |series| {
        let history = sample::history(vec![series], Vec::new());
        let text = markdown::render_document(&history_document(&history, HistoryExtent::Whole));
        text.lines().find(|line| line.contains("in 1 series")).unwrap_or_default().to_owned()
    };
    let told = headline(slid);
    assert!(told.contains("2 slides to the worse, 1 slide to the better in 1 series"), "{told}");
    let still = headline(sample::series(40, &[], None));
    assert!(still.contains("No change found in 1 series"), "{still}");
}

/// Text from outside stays in its line, and what E-divisive finds in its row.
#[test]
fn a_table_is_one_and_a_note_is_one_line() {
    let mut series = sample::series(40, &[20], Some(&[18]));
    series.about = "against\n\nmany".to_owned();
    series.warnings = vec![sample::warning("slides")];
    series.warnings[0].text = "first\n\nsecond".to_owned();
    let history = sample::history(vec![series], Vec::new());
    let text = markdown::render_document(&history_document(&history, HistoryExtent::Whole));
    let row =
        "| run 20 | 21 | −5.0 % (−6.0 % to −4.0 %) | 21 | **worse** | 0.0010 | 19 | 100.0 | 95.0 |";
    assert!(text.lines().any(|line| line == row), "{text}");
    assert!(text.contains("\nagainst  many\n\n40 values\n"), "{text}");
    assert!(text.contains("* caution: first  second\n"), "{text}");
}

/// What a warning or another method says of a series is in its rows, whatever was found.
#[test]
fn every_series_has_a_row_with_its_warnings() {
    let mut changed = sample::series(40, &[20], Some(&[18, 33]));
    changed.warnings = vec![sample::warning("slides"), sample::warning("slides")];
    let mut quiet = sample::series(10, &[], Some(&[5]));
    quiet.warnings = vec![sample::warning("two-modes"), sample::warning("too-short")];
    let whole = vec![sample::warning("left-out"), sample::warning("too-short")];
    let history = sample::history(vec![changed, quiet], whole);
    let csv = csv::render_document(&history_document(&history, HistoryExtent::Whole));
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let [heads, of_changed, of_quiet] = &rows[..] else { panic!("{csv}") };
    assert_eq!((heads.len(), of_changed.len(), of_quiet.len()), (25, 25, 25), "{csv}");
    let cell = |row: &[&str], head: &str| {
        let at = heads.iter().position(|one| *one == head).unwrap();
        row[at].to_owned()
    };
    assert_eq!(cell(of_changed, "first"), "20");
    assert_eq!(cell(of_changed, "warnings"), "slides;left-out;too-short");
    assert_eq!(cell(of_changed, "e_divisive"), "18");
    assert_eq!(cell(of_quiet, "warnings"), "two-modes;too-short;left-out");
    assert_eq!(cell(of_quiet, "name"), "qps");
    assert_eq!(cell(of_quiet, "scale"), "share");
    for head in ["first", "run", "change", "weight", "causes", "e_divisive"] {
        assert_eq!(cell(of_quiet, head), "", "{head}");
    }
}
