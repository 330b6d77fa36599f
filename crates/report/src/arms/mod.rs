//! A run of more than two arms: loads down, arms across.
//!
//! ```text
//!   ArmsComparison ──▶ ArmsView ──▶ csv, json
//!                        │   └────▶ tables ──▶ document, page, svg
//!                        │
//!                        ├ rows: of each cell what every arm did, its answer against the reference
//!                        │       (base as a rule), and its answer against the arm before it
//!                        └ groups: rows whose loads do the same kind of work, their medians, and
//!                                where they start to fall
//! ```
//!
//! An answer is that of a run of two arms; [`crate::View`] shows one of these pairs in full.

mod costs;
mod csv;
mod document;
mod evidence;
mod figure;
mod groups;
mod history;
mod json;
mod page;
mod rounds;
mod rows;
mod svg;
mod table;
mod view;
mod words;

pub use csv::arms_csv;
pub use document::{ArmsTableDetail as ArmsDetail, arms_markdown, arms_text};
pub use json::arms_json;
pub use page::arms_html;
pub use svg::arms_svg;
pub use view::ArmsView;
