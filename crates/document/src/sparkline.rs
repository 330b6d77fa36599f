//! A series of values on two lines of letters.
//!
//! ```text
//!   1.003 │▆▇▆▇▆▇▇▆▇▂▁▂▁▂▁▁▂     a block is the median of the values of its column
//!   0.898 │        ┄▲            a step; ┄ where it may begin
//! ```

use crate::text::Text;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Columns of blocks, however wide the screen is.
const COLUMNS_LEAST: usize = 10;
const COLUMNS_MOST: usize = 200;
/// Columns where nothing tells how wide the screen is.
pub(crate) const WIDTH_IN_FILES: usize = 80;

/// A series of values, and where its level changes.
pub struct Sparkline {
    /// In their order; at least one.
    pub values: Vec<f64>,
    /// What the highest and the lowest value are called.
    pub highest: Text,
    /// See [`Sparkline::highest`].
    pub lowest: Text,
    /// Where levels begin.
    pub steps: Vec<SparklineStep>,
}

/// The place of a change; values are counted from 0.
pub struct SparklineStep {
    /// The first value of the new level.
    pub first: usize,
    /// The earliest value with which it may begin.
    pub earliest: usize,
    /// The latest one.
    pub latest: usize,
}

impl Sparkline {
    /// Two lines that fit into this width.
    pub(crate) fn lines(&self, width: usize) -> [Text; 2] {
        let labels = [self.highest.one_line(), self.lowest.one_line()];
        let gutter = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let room = width.saturating_sub(gutter + 2).clamp(COLUMNS_LEAST, COLUMNS_MOST);
        let columns = self.values.len().min(room);
        let [highest, lowest] =
            labels.map(|label| " ".repeat(gutter - label.chars().count()) + &label);
        let marks = self.marks(columns);
        [
            Text::from(format!("{highest} │{}", self.blocks(columns))),
            Text::from(format!("{lowest} │{marks}").trim_end()),
        ]
    }

    /// The column of a value.
    fn column_of(&self, at: usize, columns: usize) -> usize {
        at * columns / self.values.len()
    }

    fn blocks(&self, columns: usize) -> String {
        let mut of_columns: Vec<Vec<f64>> = vec![Vec::new(); columns];
        for (at, value) in self.values.iter().enumerate() {
            of_columns[self.column_of(at, columns)].push(*value);
        }
        let low = self.values.iter().copied().fold(f64::MAX, f64::min);
        let high = self.values.iter().copied().fold(f64::MIN, f64::max);
        let blocks = of_columns.into_iter().map(|mut own| {
            own.sort_by(f64::total_cmp);
            let share = if high > low { (own[own.len() / 2] - low) / (high - low) } else { 0.5 };
            BLOCKS[((share * 7.0).round() as usize).min(7)]
        });
        blocks.collect()
    }

    fn marks(&self, columns: usize) -> String {
        let mut marks = vec![' '; columns];
        for step in &self.steps {
            let (earliest, latest) = (step.earliest, step.latest);
            let may_begin = self.column_of(earliest, columns)..=self.column_of(latest, columns);
            marks[may_begin].fill('┄');
        }
        for step in &self.steps {
            marks[self.column_of(step.first, columns)] = '▲';
        }
        marks.into_iter().collect()
    }
}
