//! A table whose rows come one by one, while somebody looks: its columns are as wide as they are
//! said to be, and its head comes again before it has gone off the screen.
//!
//! ```text
//!                   statements   threads
//!   time, UTC               /s   running
//!   13:04:07             5 432         7
//! ```

use unicode_width::UnicodeWidthStr as _;

use crate::number::GLUE;

/// Rows between two heads: as many as the lines of an old terminal have room for.
const ROWS_OF_HEAD: usize = 20;
const GAP: &str = "  ";

/// A column of such a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollingColumn {
    /// The two lines of its head.
    pub head: [String; 2],
    /// Places that its texts take at least.
    pub width: usize,
    /// Whether its texts begin below each other, and do not end there.
    pub is_of_words: bool,
}

/// The table.
#[derive(Debug)]
pub struct RollingTable {
    columns: Vec<RollingColumn>,
    rows: usize,
}

impl RollingTable {
    /// Of these columns as many as have room in this width, at least the first two.
    pub fn new(columns: Vec<RollingColumn>, width: usize) -> RollingTable {
        let mut columns = columns;
        while columns.len() > 2 && table_width(&columns) > width {
            columns.pop();
        }
        RollingTable { columns, rows: 0 }
    }

    /// How many columns there are.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// The next row, with the head before it where it is time for one; texts beyond the columns
    /// are left out.
    pub fn next_row(&mut self, texts: &[String]) -> String {
        let mut lines = Vec::new();
        if self.rows.is_multiple_of(ROWS_OF_HEAD) {
            for line in 0..2 {
                let head = self.columns.iter().map(|column| column.head[line].as_str());
                lines.push(self.line(head));
            }
        }
        self.rows += 1;
        lines.push(self.line(texts.iter().map(String::as_str)));
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// A row of words: these texts in the first columns, and the last one across all others.
    pub fn words_row(&self, texts: &[String], last: &str) -> String {
        let first = self.line(texts.iter().map(String::as_str));
        format!("{first}{GAP}{last}\n")
    }

    fn line<'t>(&self, texts: impl Iterator<Item = &'t str>) -> String {
        let cells = self.columns.iter().zip(texts).map(|(column, text)| {
            let text = text.replace(GLUE, " ");
            let blank = " ".repeat(column.width().saturating_sub(text.width()));
            if column.is_of_words { text + &blank } else { blank + &text }
        });
        cells.collect::<Vec<_>>().join(GAP)
    }
}

impl RollingColumn {
    fn width(&self) -> usize {
        self.head.iter().map(|line| line.width()).chain([self.width]).max().unwrap_or(0)
    }
}

fn table_width(columns: &[RollingColumn]) -> usize {
    columns.iter().map(|column| column.width() + GAP.len()).sum::<usize>() - GAP.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(head: [&str; 2], width: usize, is_of_words: bool) -> RollingColumn {
        RollingColumn { head: head.map(str::to_owned), width, is_of_words }
    }

    fn columns() -> Vec<RollingColumn> {
        vec![
            column(["", "time"], 8, true),
            column(["statements", "/s"], 7, false),
            column(["threads", "running"], 5, false),
        ]
    }

    #[test]
    fn texts_stand_below_their_heads() {
        let mut table = RollingTable::new(columns(), 80);
        let row = ["13:04:07", "5\u{a0}432", "7"].map(str::to_owned);
        assert_eq!(
            table.next_row(&row),
            "          statements  threads\ntime              /s  running\n\
             13:04:07       5 432        7\n"
        );
        assert_eq!(table.next_row(&row), "13:04:07       5 432        7\n");
        let words = table.words_row(&["13:04:08".to_owned()], "gone");
        assert_eq!(words, "13:04:08  gone\n");
        let later: String = (2..=20).map(|_| table.next_row(&row)).collect();
        assert_eq!(later.matches("statements").count(), 1, "the head comes again");
    }

    #[test]
    fn what_has_no_room_is_left_out_from_the_right() {
        let mut table = RollingTable::new(columns(), 20);
        assert_eq!(table.column_count(), 2);
        let row = table.next_row(&["13:04:07", "5", "7"].map(str::to_owned));
        assert!(row.ends_with("13:04:07           5\n"), "{row}");
    }
}
