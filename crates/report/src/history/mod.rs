//! What many runs say together.
//!
//! ```text
//!   History ──▶ words       sentences
//!           ──▶ e_divisive  what another method finds, for the rows of all
//!           ──▶ document    a sparkline and a row for each shift of a series
//!           ──▶ page        its parts, with a chart for each series, drawn here: no script
//!           ──▶ json
//!   + HistoryGateAnswer ──▶ gate   why it holds or does not, and the same as checks of `ci`
//! ```

mod chart;
mod document;
mod e_divisive;
mod gate;
mod json;
mod page;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
mod words;

pub use document::{HistoryExtent, history_document};
pub use gate::{history_checks, history_gate_result, history_gate_sentences};
pub use json::history_json;
pub use page::history_html;
