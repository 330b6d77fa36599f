//! Laying out plain text: columns that line up, paragraphs that fit.
//!
//! Widths are those of a terminal, in which a Chinese character takes two places and a combining
//! accent none. Text from outside is made printable first: a server that puts an escape sequence
//! into its version shall not steer anybody's terminal.

use dbdyno_model::foreign;
use unicode_width::UnicodeWidthStr;

const GAP: &str = "   ";

/// A line of a grid.
pub(crate) enum Line {
    /// Text across all columns.
    Across(String),
    /// One text per column. The first column and those from `Grid::ragged` on start at their left
    /// edge, the others end at their right edge.
    Columns(Vec<String>),
}

/// Lines whose columns line up.
#[derive(Default)]
pub(crate) struct Grid {
    /// The lines in order.
    pub lines: Vec<Line>,
    /// The first column after the numbers.
    pub ragged: usize,
}

impl Grid {
    /// Widths of the columns.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = Vec::new();
        for line in &self.lines {
            let Line::Columns(texts) = line else { continue };
            widths.resize(widths.len().max(texts.len()), 0);
            for (width, text) in widths.iter_mut().zip(texts) {
                *width = (*width).max(text.width());
            }
        }
        widths
    }

    /// The width of the widest line, without those that run across.
    pub(crate) fn width(&self) -> usize {
        let columns = self.rendered_columns();
        columns.iter().flatten().map(|line| line.width()).max().unwrap_or(0)
    }

    /// The lines, each ending with a line feed; lines across are wrapped.
    pub(crate) fn render(&self, width: usize) -> String {
        let mut text = String::new();
        for (line, columns) in self.lines.iter().zip(self.rendered_columns()) {
            match (line, columns) {
                (Line::Across(across), _) => text.push_str(&paragraph(across, width, "", "  ")),
                (Line::Columns(_), columns) => {
                    text.push_str(&columns.unwrap_or_default());
                    text.push('\n');
                }
            }
        }
        text
    }

    fn rendered_columns(&self) -> Vec<Option<String>> {
        let widths = self.widths();
        let render = |texts: &Vec<String>| {
            let mut rendered = String::new();
            for (column, (text, &width)) in texts.iter().zip(&widths).enumerate() {
                let padding = " ".repeat(width.saturating_sub(text.width()));
                let gap = if column == 0 { "" } else { GAP };
                rendered.push_str(gap);
                if column == 0 || column >= self.ragged {
                    rendered.push_str(text);
                    rendered.push_str(&padding);
                } else {
                    rendered.push_str(&padding);
                    rendered.push_str(text);
                }
            }
            rendered.trim_end_matches(' ').to_owned()
        };
        let columns = |line: &Line| match line {
            Line::Columns(texts) => Some(render(texts)),
            Line::Across(_) => None,
        };
        self.lines.iter().map(columns).collect()
    }
}

/// Wraps at spaces (not at no-break spaces), with one indent for the first line and one for the
/// others. A word that is too long stays whole, so that it can be copied.
pub(crate) fn paragraph(text: &str, width: usize, first: &str, hanging: &str) -> String {
    let mut wrapped = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !is_empty && line.width() + 1 + word.width() > width {
            wrapped.push_str(&line);
            wrapped.push('\n');
            line = hanging.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    wrapped.push_str(&line);
    wrapped.push('\n');
    wrapped
}

/// The text on one line, without characters that steer a terminal or turn the direction of writing.
pub(crate) fn printable(text: &str) -> String {
    foreign::one_line(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_in_terminal_cells() {
        let row = |texts: [&str; 3]| Line::Columns(texts.map(str::to_owned).to_vec());
        let grid =
            Grid { lines: vec![row(["名前", "1", "x"]), row(["a", "10 000", ""])], ragged: 2 };
        assert_eq!(grid.render(80), "名前        1   x\na      10 000\n");
        assert_eq!(grid.width(), 17);
    }

    #[test]
    fn paragraphs_wrap_at_spaces_only() {
        let text = "one two\u{a0}three four";
        assert_eq!(paragraph(text, 10, "", " "), "one\n two\u{a0}three\n four\n");
        assert_eq!(paragraph("wordlongerthanthat x", 5, "", ""), "wordlongerthanthat\nx\n");
        assert_eq!(paragraph("", 5, "", ""), "\n");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb\u{202e}"), "a\u{fffd}[31m b\u{fffd}");
        assert_eq!(printable("grüße 名前 µ"), "grüße 名前 µ");
    }
}
