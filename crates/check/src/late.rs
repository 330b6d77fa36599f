//! How a history of Jepsen shows that its file was cut at the front, as `tail` does.
//!
//! ```text
//!   :index 0, 1, 2 … ┆ 17 :invoke   18 :ok …     the first index is beyond 1
//!   :invoke :add 5   ┆ :ok :add 5   :invoke …    a process ends what it did not begin here
//! ```
//!
//! In the one line before index 1 nothing can have been asked and answered, and some count from 1.
//! A file without any beginning was searched for answers, and says nothing of where it begins.

use std::collections::HashSet;
use std::fmt;

/// What a file that begins late says of what came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateBeginning {
    first_index: Option<u64>,
    /// Operations that end in the file and began before it.
    cut_operations: u64,
}

impl LateBeginning {
    /// How many operations at most began before the file and never ended; `None` if it has no
    /// indices. Each of the entries before is the beginning of one at most.
    pub(crate) fn lost_at_most(self) -> Option<u64> {
        self.first_index.map(|index| index.saturating_sub(self.cut_operations))
    }
}

impl fmt::Display for LateBeginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first_index {
            Some(index) if index > 1 => write!(f, "begins with index {index}")?,
            _ => f.write_str("begins with the end of an operation that it has no beginning of")?,
        }
        f.write_str(": what came before that is not known")
    }
}

/// What is found of the beginning of a file while its entries are read.
#[derive(Debug, Default)]
pub(crate) struct FirstEntries {
    first_index: Option<u64>,
    processes: HashSet<String>,
    cut_operations: u64,
    has_beginnings: bool,
}

impl FirstEntries {
    /// Notes an entry of any process.
    pub(crate) fn note_index(&mut self, index: Option<u64>) {
        self.first_index = [self.first_index, index].into_iter().flatten().min();
    }

    /// Notes that a client began an operation.
    pub(crate) fn note_beginning(&mut self, process: &str) {
        self.has_beginnings = true;
        self.processes.insert(process.to_owned());
    }

    /// Notes that a client ended an operation that did not begin in the file: whether that is the
    /// first that the file has of it.
    pub(crate) fn note_cut_end(&mut self, process: &str) -> bool {
        let is_first = !process.is_empty() && self.processes.insert(process.to_owned());
        self.cut_operations += u64::from(is_first);
        is_first
    }

    /// Whether a client ended what did not begin in the file.
    pub(crate) fn has_cut_ends(&self) -> bool {
        self.cut_operations > 0
    }

    /// What shows that the file begins late, if it does.
    pub(crate) fn late_beginning(&self) -> Option<LateBeginning> {
        let is_cut = self.has_beginnings && self.cut_operations > 0;
        let is_late = is_cut || self.first_index.is_some_and(|index| index > 1);
        let FirstEntries { first_index, cut_operations, .. } = *self;
        is_late.then_some(LateBeginning { first_index, cut_operations })
    }
}
