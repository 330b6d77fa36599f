//! A history for a pull request.

use dbdyno_model::{History, HistorySeries};

use super::words;
use crate::markdown::escape;
use crate::number::GLUE;

/// The history as Markdown (GitHub's dialect).
pub fn history_markdown(history: &History) -> String {
    let mut text = format!("**{}**\n", escape(&words::headline(history)));
    for warning in &history.warnings {
        text.push_str(&format!("\n- {}: {}\n", warning.severity.name(), escape(&warning.text)));
    }
    for series in &history.series {
        text.push_str(&of_series(series));
    }
    text.replace(GLUE, " ")
}

fn of_series(series: &HistorySeries) -> String {
    let mut text = format!("\n### {}\n\n", escape(&words::title(series)));
    let about = match series.about.is_empty() {
        true => String::new(),
        false => format!("{}; ", escape(&series.about)),
    };
    text.push_str(&format!("{about}{}\n\n", escape(&words::span(series))));
    let rows = words::rows(series);
    if !rows.is_empty() {
        text.push_str(&format!("| {} |\n", words::HEADS.join(" | ")));
        text.push_str("|--:|:--|--:|--:|--:|--:|--:|:--|\n");
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        text.push('\n');
    }
    for warning in &series.warnings {
        text.push_str(&format!("- {}: {}\n", warning.severity.name(), escape(&warning.text)));
    }
    for remark in words::remarks(series) {
        text.push_str(&format!("- {}\n", escape(&remark)));
    }
    text
}
