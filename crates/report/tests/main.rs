//! What readers see: golden texts, and the page.

mod arms;
mod common;
mod golden;
mod page;
mod waits;
