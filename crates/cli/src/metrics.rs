//! `dbdyno metrics`: what servers tell of themselves, and what it means.

use dbdyno_model::metric_lessons::find_lessons;
use dbdyno_report::{MetricExtent, metrics_document, metrics_json};

use crate::args::Metrics;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Lists the metrics, or shows those in which a word stands.
pub(crate) fn run(flags: &Metrics) -> Result<Exit, Failure> {
    let lessons = find_lessons(flags.word.as_deref());
    if let Some(word) = flags.word.as_deref().filter(|_| lessons.is_empty()) {
        return Err(Failure::Usage(format!(
            "no metric has the word {word:?}: in its name, in what is said of it, or in what a \
             server calls it; `dbdyno metrics` lists all"
        )));
    }
    let extent = match (&flags.word, flags.all) {
        (None, false) => MetricExtent::List,
        _ => MetricExtent::Lessons,
    };
    output::print_report(
        flags.format,
        || metrics_document(&lessons, extent),
        || metrics_json(&lessons),
    )?;
    Ok(Exit::Holds)
}
