//! What many runs say together, in five shapes.
//!
//! ```text
//!   History ──▶ words   sentences and rows that text, Markdown and page share
//!           ──▶ beside  what another method finds, for the rows of all
//!           ──▶ text    with a line of blocks for each series
//!           ──▶ page    with a chart for each series, drawn here: no script
//!           ──▶ json, csv
//! ```

mod chart;
mod e_divisive;
mod machine;
mod markdown;
mod page;
#[cfg(test)]
mod sample;
mod text;
mod words;

pub use machine::{history_csv, history_json};
pub use markdown::history_markdown;
pub use page::history_html;
pub use text::{HistoryExtent, history_text};
