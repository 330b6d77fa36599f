//! Names of functions, as linkers, compilers and tools write them.
//!
//! ```text
//!   _ZN4JOIN8optimizeEv.part.0_[i]   as a linker has it, and a tool has marked it
//!     │ readable_name                of a text: what its language calls it, without marks
//!     ▼
//!   JOIN::optimize() [clone .part.0]
//!     │ one_function                 without pieces, copies, versions and hashes
//!     ▼
//!   JOIN::optimize()
//!     │ plain_name                   without parameters and templates
//!     ▼
//!   JOIN::optimize
//! ```
//!
//! Whoever reads names, from a file of `perf record` or from a text, writes them by the one rule
//! that is here, so that a function has one name whatever it was read from. Each step takes off
//! what the one before has left and adds nothing: done twice it does nothing more.

mod function_name;
mod libc;
mod mangled;
mod readable;

pub use function_name::{one_function, plain_name};
pub use mangled::{MANGLED_MOST, SourceLanguage, demangle_name, text_beginning};
pub use readable::{file_and_function, is_plainly_readable, readable_name};
