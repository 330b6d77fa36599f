//! A history for a pull request.

use dbdyno_document::layout::printable;
use dbdyno_document::markdown::escape;
use dbdyno_document::number::GLUE;
use dbdyno_model::{BenchmarkHistory, HistorySeries};

use super::words;

/// The history as Markdown (GitHub's dialect).
pub fn history_markdown(history: &BenchmarkHistory) -> String {
    let mut text = format!("**{}**\n", escape(&words::headline(history)));
    for warning in &history.warnings {
        let told = escape(&printable(&warning.text));
        text.push_str(&format!("\n- {}: {told}\n", warning.severity.name()));
    }
    for series in &history.series {
        text.push_str(&of_series(series));
    }
    text.replace(GLUE, " ")
}

fn of_series(series: &HistorySeries) -> String {
    let mut text = format!("\n### {}\n\n", escape(&words::title(series)));
    let about = if series.about.is_empty() {
        String::new()
    } else {
        format!("{}; ", escape(&printable(&series.about)))
    };
    text.push_str(&format!("{about}{}\n\n", escape(&words::span(series))));
    let rows = words::rows(series);
    if !rows.is_empty() {
        text.push_str(&format!("| {} |\n", words::HEADS.join(" | ")));
        text.push_str("|--:|:--|--:|--:|--:|--:|--:|--:|:--|\n");
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        text.push('\n');
    }
    for warning in &series.warnings {
        let told = escape(&printable(&warning.text));
        text.push_str(&format!("- {}: {told}\n", warning.severity.name()));
    }
    for remark in words::remarks(series) {
        text.push_str(&format!("- {}\n", escape(&remark)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::sample;

    /// The head of the table has as many columns as its rows, and text from outside stays in its
    /// line.
    #[test]
    fn a_table_is_one_and_a_note_is_one_line() {
        let mut series = sample::series(40, &[20], Some(&[20]));
        series.about = "against\n\nmany".to_owned();
        series.warnings = vec![sample::warning("slides")];
        series.warnings[0].text = "first\n\nsecond".to_owned();
        let text = history_markdown(&sample::history(vec![series], Vec::new()));
        let columns = |line: &str| line.matches('|').count();
        let table: Vec<usize> =
            text.lines().filter(|line| line.starts_with('|')).map(columns).collect();
        assert_eq!(table, [words::HEADS.len() + 1; 3], "{text}");
        assert!(text.contains("against  many; 40 values"), "{text}");
        assert!(text.contains("- caution: first  second\n"), "{text}");
    }
}
