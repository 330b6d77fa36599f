//! Shares with their intervals, in tables of Markdown.

use std::fmt::Write as _;

use dbdyno_stats::{SHOWN_CONFIDENCE, share_interval};

/// So many of so many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub count: u64,
    pub of: u64,
}

impl Share {
    /// Counts how often it holds.
    pub(crate) fn count(of: u64, mut holds: impl FnMut(u64) -> bool) -> Share {
        Share { count: (0..of).filter(|&index| holds(index)).count() as u64, of }
    }

    /// The share itself.
    pub(crate) fn value(self) -> f64 {
        self.count as f64 / self.of as f64
    }

    /// `1.03 %`.
    pub(crate) fn percent(self) -> String {
        let percent = 100.0 * self.value();
        if percent < 9.95 { format!("{percent:.2} %") } else { format!("{percent:.1} %") }
    }

    /// `0.8 % (0.2 to 2.9)`.
    pub(crate) fn with_interval(self) -> String {
        let share = share_interval(self.count, self.of, SHOWN_CONFIDENCE).expect("a confidence");
        let [share, low, high] = [share.estimate, share.low, share.high].map(|n| 100.0 * n);
        format!("{share:.1} % ({low:.1} to {high:.1})")
    }
}

/// A table whose first column names the rows.
pub(crate) struct Table {
    text: String,
}

impl Table {
    /// With these columns.
    pub(crate) fn new(columns: &[&str]) -> Table {
        let rule = vec!["---"; columns.len()].join("|");
        Table { text: format!("| {} |\n|{rule}|\n", columns.join(" | ")) }
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: &[String]) {
        let _infallible = writeln!(self.text, "| {} |", cells.join(" | "));
    }

    /// The table, with an empty line behind it.
    pub(crate) fn end(self) -> String {
        self.text + "\n"
    }
}
