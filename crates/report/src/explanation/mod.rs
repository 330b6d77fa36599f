//! Where a difference comes from, on one page: causes with their shares, what is left, how it is
//! known and what was not tried.
//!
//! Document and page share headline, tables and notes (`words`); JSON has the names of
//! `docs/CONTRACT.md`.

mod document;
mod facts;
pub(crate) mod json;
mod page;
pub(crate) mod plan;
mod words;

pub use document::explanation_document;
pub use json::explanation_json;
pub use page::explanation_html;
