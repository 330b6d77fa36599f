//! Shares with their intervals, in tables of Markdown.

use std::fmt::Write as _;

/// So many of so many.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub count: u64,
    pub of: u64,
}

impl Share {
    /// Counts how often it holds.
    pub fn count(of: u64, mut holds: impl FnMut(u64) -> bool) -> Share {
        Share { count: (0..of).filter(|&index| holds(index)).count() as u64, of }
    }

    /// The share itself.
    pub fn value(self) -> f64 {
        self.count as f64 / self.of as f64
    }

    /// Its 95 % interval (Wilson, "Probable Inference", JASA 22, 1927).
    pub fn interval(self) -> [f64; 2] {
        const Z: f64 = 1.959_963_984_540_054;
        let (share, of) = (self.value(), self.of as f64);
        let centre = (share + Z * Z / (2.0 * of)) / (1.0 + Z * Z / of);
        let spread = (share * (1.0 - share) / of + Z * Z / (4.0 * of * of)).sqrt();
        let half = Z * spread / (1.0 + Z * Z / of);
        [(centre - half).max(0.0), (centre + half).min(1.0)]
    }

    /// `1.03 %`.
    pub fn percent(self) -> String {
        let percent = 100.0 * self.value();
        if percent < 9.95 { format!("{percent:.2} %") } else { format!("{percent:.1} %") }
    }

    /// `0.8 % (0.2 to 2.9)`.
    pub fn with_interval(self) -> String {
        let [low, high] = self.interval().map(|bound| 100.0 * bound);
        format!("{:.1} % ({low:.1} to {high:.1})", 100.0 * self.value())
    }
}

/// A table whose first column names the rows.
pub struct Table {
    text: String,
}

impl Table {
    /// With these columns.
    pub fn new(columns: &[&str]) -> Table {
        let rule = vec!["---"; columns.len()].join("|");
        Table { text: format!("| {} |\n|{rule}|\n", columns.join(" | ")) }
    }

    /// One more row.
    pub fn row(&mut self, cells: &[String]) {
        let _infallible = writeln!(self.text, "| {} |", cells.join(" | "));
    }

    /// The table, with an empty line behind it.
    pub fn end(self) -> String {
        self.text + "\n"
    }
}
