//! What is shown to people: documents that know no format, and one writer for each format.
//!
//! ```text
//!   a result of `report` ──► Document ──► terminal   width, colour, wrapping
//!                             │      ├──► markdown   for a pull request
//!                             │      └──► html       elements of a page; its head
//!                             └ DataTable ─► csv     the columns that have a machine's name
//!   checks of `report` ──► workflow   commands that a runner of GitHub reads
//! ```
//!
//! A result is *built* once, of elements that say what something is (an answer, a note, a column),
//! and *written* by whichever writer was asked for. Text is raw until then: a builder cannot forget
//! to escape, because it never does. So nothing else escapes, wraps, glues or colours.
//!
//! What is not ported yet lays itself out with the tools of the writers ([`layout`],
//! [`markdown::escape`], [`html::escape`], [`csv::record_line`]).

mod cell;
mod colour;
pub mod csv;
mod element;
pub mod html;
pub mod json;
pub mod layout;
pub mod markdown;
pub mod number;
mod rolling;
mod sparkline;
mod table;
pub mod terminal;
mod text;
pub mod workflow;

pub use cell::{TableCell, Tint};
pub use element::{ArmLabel, Document, Element, Footnote, LabelledItem};
pub use rolling::{RollingColumn, RollingTable};
pub use sparkline::{Sparkline, SparklineStep};
pub use table::{ColumnTone, DataTable, TableColumn};
pub use text::Text;
