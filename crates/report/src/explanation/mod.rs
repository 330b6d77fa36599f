//! Where a difference comes from, on one page: causes with their shares, what is left, how it is
//! known and what was not tried.
//!
//! Text, Markdown and page share headline, tables and notes (`words`); JSON has the names of
//! `docs/CONTRACT.md`.

mod facts;
pub(crate) mod json;
mod page;
pub(crate) mod plan;
mod text;
mod words;

pub use json::explanation_json;
pub use page::explanation_html;
pub use text::{explanation_markdown, explanation_text};
