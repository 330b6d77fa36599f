//! Laying out plain text: columns that line up, paragraphs that fit.
//!
//! ```text
//!   a grid that is too wide    1. heads are wrapped within their column, at spaces
//!                              2. a grid of numbers becomes several, one below the other
//!                              3. text is wrapped, then all that has spaces
//!                              4. words are cut; nothing is left out
//!   a line that is too long    goes on below the column in which it ends
//! ```
//!
//! Widths are those of a terminal, in which a Chinese character takes two places and a combining
//! accent none. Text from outside is made printable first: a server that puts an escape sequence
//! into its version shall not steer anybody's terminal.

use dbdyno_model::foreign;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

use crate::cell::Tint;
use crate::colour::{Colour, paint_text};
use crate::number::GLUE;

const GAP: &str = "   ";

/// Text is wrapped to this width before anything is broken to its single words.
const TEXT_LEAST: usize = 16;

/// Words are cut to this width: those of the first column, which names a line, last.
const FIRST_LEAST: usize = 32;
const CUT_LEAST: usize = 12;

/// A grid of numbers is not divided below this many columns beside the first.
const NUMBERS_LEAST: usize = 3;

/// A line of a grid.
#[derive(Clone)]
pub enum Line {
    /// Text across all columns.
    Across(String),
    /// One text per column. The first column and those from `Grid::ragged` on start at their left
    /// edge, the others end at their right edge.
    Columns(Vec<String>),
    /// The same with colours: of each column the text, and how many letters of it have which.
    /// Spaces are not counted, for wrapping adds some and takes others away.
    Cells(Vec<(String, Letters)>),
}

/// How many letters have which tint, in their order.
pub(crate) type Letters = Vec<(usize, Tint)>;

impl Line {
    /// The texts of its columns; nothing of a line across.
    fn texts(&self) -> Option<Vec<&str>> {
        match self {
            Line::Across(_) => None,
            Line::Columns(texts) => Some(texts.iter().map(String::as_str).collect()),
            Line::Cells(cells) => Some(cells.iter().map(|(text, _)| text.as_str()).collect()),
        }
    }

    /// The colours of a column.
    fn letters(&self, column: usize) -> &[(usize, Tint)] {
        match self {
            Line::Cells(cells) => &cells[column].1,
            Line::Across(_) | Line::Columns(_) => &[],
        }
    }
}

/// Lines whose columns line up.
#[derive(Default)]
pub struct Grid {
    /// The lines in order.
    pub lines: Vec<Line>,
    /// The first column after the numbers.
    pub ragged: usize,
}

impl Grid {
    /// For each column the largest that `measure` finds in these of its lines.
    fn largest(&self, measure: fn(&str) -> usize, lines: std::ops::RangeFrom<usize>) -> Vec<usize> {
        let columns = self.lines.iter().filter_map(Line::texts);
        let count = columns.clone().map(|texts| texts.len()).max().unwrap_or(0);
        let mut largest = vec![0; count];
        for texts in columns.skip(lines.start) {
            for (most, text) in largest.iter_mut().zip(texts) {
                *most = (*most).max(measure(text));
            }
        }
        largest
    }

    /// The width of the widest line, without those that run across: that of the columns, for the
    /// widest text of the last one that has any ends its line.
    pub fn width(&self) -> usize {
        let mut widths = self.largest(UnicodeWidthStr::width, 0..);
        while widths.last() == Some(&0) {
            widths.pop();
        }
        total(&widths)
    }

    /// The lines, each ending with a line feed; lines across are wrapped, and so is the text of
    /// columns where the grid is wider than this.
    pub fn render(&self, width: usize) -> String {
        self.render_coloured(width, Colour::Plain)
    }

    /// The same with the colours of its cells.
    pub(crate) fn render_coloured(&self, width: usize, colour: Colour) -> String {
        if let Some((first, rest)) = self.divided(width) {
            return first.render_coloured(width, colour) + &rest.render_coloured(width, colour);
        }
        let widths = self.fitted(width);
        let mut text = String::new();
        for line in &self.lines {
            match line {
                Line::Across(across) => {
                    let indent = indent_of(across);
                    text.push_str(&wrap_paragraph(across, width, indent, &format!("{indent}  ")));
                }
                _ => self.columns_of(line, &widths, colour).iter().for_each(|line| {
                    text.push_str(line);
                    text.push('\n');
                }),
            }
        }
        text
    }

    /// The first columns of a grid of numbers that fit, and the others behind the same first one;
    /// nothing of a grid that fits, or that ends with text.
    fn divided(&self, width: usize) -> Option<(Grid, Grid)> {
        let widths = self.least_of_heads();
        let count = widths.len();
        if self.ragged < count || count <= NUMBERS_LEAST + 1 {
            return None;
        }
        let first = (NUMBERS_LEAST + 1..=count)
            .rev()
            .find(|count| total(&widths[..*count]) <= width)
            .unwrap_or(NUMBERS_LEAST + 1);
        (first < count).then(|| (self.part(1..first), self.part(first..count)))
    }

    /// The widths where the first line is wrapped at each space, and the others are not.
    fn least_of_heads(&self) -> Vec<usize> {
        let words = self.largest(longest_word, 0..);
        let bodies = self.largest(UnicodeWidthStr::width, 1..);
        words.into_iter().zip(bodies).map(|(word, body)| word.max(body)).collect()
    }

    fn part(&self, chosen: std::ops::Range<usize>) -> Grid {
        let lines = self.lines.iter().map(|line| match line {
            Line::Columns(texts) => {
                let own = texts.iter().skip(chosen.start).take(chosen.len());
                Line::Columns(texts.iter().take(1).chain(own).cloned().collect())
            }
            Line::Cells(cells) => {
                let own = cells.iter().skip(chosen.start).take(chosen.len());
                Line::Cells(cells.iter().take(1).chain(own).cloned().collect())
            }
            across => across.clone(),
        });
        Grid { lines: lines.collect(), ragged: self.ragged }
    }

    /// Widths of the columns that fit. Where nothing helps, text is wrapped and the rest is whole.
    fn fitted(&self, width: usize) -> Vec<usize> {
        let natural = self.largest(UnicodeWidthStr::width, 0..);
        let heads = self.least_of_heads();
        let words = self.largest(longest_word, 0..);
        let rigid = self.largest(longest_number, 0..);
        let mut widths = natural.clone();
        shrink(&mut widths, &heads, width);
        let texts = natural.iter().zip(&words);
        let texts: Vec<usize> =
            texts.map(|(natural, word)| *word.max(natural.min(&TEXT_LEAST))).collect();
        shrink(&mut widths, &self.of_text(&texts), width);
        let mut cut = widths.clone();
        shrink(&mut cut, &words, width);
        for first in [FIRST_LEAST, CUT_LEAST] {
            let floors = words.iter().zip(&rigid).enumerate().map(|(at, (word, number))| {
                let least = if at == 0 { first } else { CUT_LEAST };
                *word.min(&least).max(number)
            });
            shrink(&mut cut, &self.of_text(&floors.collect::<Vec<usize>>()), width);
        }
        if total(&cut) <= width { cut } else { widths }
    }

    /// Floors below which text is not wrapped; numbers are not wrapped at all.
    fn of_text(&self, floors: &[usize]) -> Vec<usize> {
        let floors = floors.iter().enumerate();
        let floors = floors.map(
            |(at, floor)| {
                if at == 0 || at >= self.ragged { *floor } else { usize::MAX }
            },
        );
        floors.collect()
    }

    /// A line of columns with these widths, in as many lines as its longest text needs.
    fn columns_of(&self, line: &Line, widths: &[usize], colour: Colour) -> Vec<String> {
        let Some(texts) = line.texts() else { return Vec::new() };
        let cells: Vec<Vec<String>> =
            texts.iter().zip(widths).map(|(text, &width)| wrapped_cell(text, width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let paints = cells
            .iter()
            .enumerate()
            .map(|(at, lines)| letter_by_letter(lines, line.letters(at), colour));
        let paints: Vec<Vec<String>> = paints.collect();
        let rendered = (0..height).map(|number| {
            let mut rendered = String::new();
            for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
                let text = cell.get(number).map_or("", String::as_str);
                let padding = " ".repeat(width.saturating_sub(text.width()));
                let text = paints[column].get(number).map_or("", String::as_str);
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
        });
        rendered.collect()
    }
}

/// Lines of a wrapped text with the colours of its letters. A space between two letters of one
/// colour has it, too.
fn letter_by_letter(lines: &[String], letters: &[(usize, Tint)], colour: Colour) -> Vec<String> {
    if colour == Colour::Plain || letters.iter().all(|(_, tint)| *tint == Tint::None) {
        return lines.to_vec();
    }
    let mut tints = letters.iter().flat_map(|(count, tint)| std::iter::repeat_n(*tint, *count));
    let mut coloured = Vec::new();
    for line in lines {
        let (mut done, mut run, mut of_run) = (String::new(), String::new(), Tint::None);
        for letter in line.chars() {
            let tint = if letter == ' ' { of_run } else { tints.next().unwrap_or_default() };
            if tint != of_run {
                let bare = run.trim_end_matches(' ');
                done.push_str(&paint_text(bare, of_run.text_paint(), colour));
                done.push_str(&run[bare.len()..]);
                run.clear();
                of_run = tint;
            }
            run.push(letter);
        }
        coloured.push(done + &paint_text(&run, of_run.text_paint(), colour));
    }
    coloured
}

/// Makes the widest columns narrower, none below its floor, until all fit.
fn shrink(widths: &mut [usize], floors: &[usize], width: usize) {
    while total(widths) > width {
        let widest = (0..widths.len()).filter(|at| widths[*at] > floors[*at]);
        let Some(widest) = widest.max_by_key(|&at| widths[at]) else { break };
        widths[widest] -= 1;
    }
}

/// Columns of these widths with what stands between them.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

fn indent_of(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(' ').len()]
}

/// The width that a text needs whose lines break at spaces.
pub(crate) fn longest_word(text: &str) -> usize {
    let longest = text.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
    indent_of(text).len() + longest
}

/// The width of the longest number with its unit, or with its bounds: what no-break spaces hold
/// together.
fn longest_number(text: &str) -> usize {
    let numbers = text.split(' ').filter(|word| word.contains(GLUE));
    numbers.map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// A text of a column in lines of this width; words that are too long are cut.
fn wrapped_cell(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let indent = indent_of(text);
    let room = width.saturating_sub(indent.len()).max(1);
    let words: Vec<String> = text.split(' ').map(|word| cut(word, room)).collect();
    wrap_paragraph(&words.join(" "), width, indent, indent).lines().map(str::to_owned).collect()
}

/// A word with a space wherever it must be cut.
fn cut(word: &str, room: usize) -> String {
    let (mut text, mut used) = (String::new(), 0);
    for letter in word.chars() {
        let width = letter.width().unwrap_or(0);
        if used + width > room && used > 0 {
            text.push(' ');
            used = 0;
        }
        text.push(letter);
        used += width;
    }
    text
}

/// The text with its lines wrapped that are too long, at spaces. They go on below the last column
/// that leaves room for it: a column stands behind two spaces or more.
pub fn wrap_lines(text: &str, width: usize) -> String {
    let lines = text.lines().map(|line| {
        if line.width() <= width { format!("{line}\n") } else { wrapped_line(line, width) }
    });
    lines.collect()
}

fn wrapped_line(line: &str, width: usize) -> String {
    let indent = indent_of(line).len();
    // A column that has room begins within as many letters, of four bytes at most.
    let near = indent + 1..=width.saturating_mul(4);
    let starts = line.char_indices().map(|(at, _)| at).rev().filter(|at| near.contains(at));
    let column = starts
        .filter(|at| line[..*at].ends_with("  ") && !line[*at..].starts_with(' '))
        .find(|&at| {
            let room = width.saturating_sub(line[..at].width());
            room >= width / 3 && longest_word(&line[at..]) <= room
        });
    let hanging = " ".repeat(column.map_or(indent + 2, |at| line[..at].width()));
    let (mut wrapped, mut shown) = (String::new(), line[..indent].to_owned());
    for (number, word) in words(&line[indent..]).into_iter().enumerate() {
        if number > 0 && shown.width() + word.width() > width {
            wrapped.push_str(shown.trim_end_matches(' '));
            wrapped.push('\n');
            shown = format!("{hanging}{}", word.trim_start_matches(' '));
        } else {
            shown.push_str(word);
        }
    }
    format!("{wrapped}{}\n", shown.trim_end_matches(' '))
}

/// Words, each with the spaces before it. A command between backticks is one, so that it can be
/// copied.
fn words(text: &str) -> Vec<&str> {
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let (mut words, mut begin) = (Vec::new(), 0);
    let (mut is_quoted, mut has_letters) = (false, false);
    for (at, letter) in text.char_indices() {
        is_quoted = is_quoted != (letter == '`' && is_paired);
        if letter != ' ' {
            has_letters = true;
        } else if has_letters && !is_quoted {
            words.push(&text[begin..at]);
            (begin, has_letters) = (at, false);
        }
    }
    words.push(&text[begin..]);
    words
}

/// Wraps at spaces (not at no-break spaces), with one indent for the first line and one for the
/// others. A word that is too long stays whole and alone, so that it can be copied.
pub fn wrap_paragraph(text: &str, width: usize, first: &str, hanging: &str) -> String {
    let mut wrapped = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!is_empty);
        // A head whose first word does not fit beside it stands above it: the word is alone then.
        let has_text = !is_empty || !line.trim().is_empty();
        if has_text && line.width() + gap + word.width() > width {
            wrapped.push_str(line.trim_end());
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
pub fn printable_line(text: &str) -> String {
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

    fn grid(ragged: usize, rows: &[&[&str]]) -> Grid {
        let line = |row: &&[&str]| Line::Columns(row.iter().map(|&text| text.into()).collect());
        Grid { lines: rows.iter().map(line).collect(), ragged }
    }

    #[test]
    fn heads_are_wrapped_before_text_and_text_before_the_rest() {
        let wide = grid(2, &[&["a title", "base", "why"], &["  x", "1", "as it is and has been"]]);
        let whole = "a title   base   why\n  x          1   as it is and has been\n";
        assert_eq!(wide.render(80), whole);
        let narrow = "a       base   why\ntitle\n  x        1   as it is and has been\n";
        assert_eq!(wide.render(36), narrow);
        let narrower =
            "a       base   why\ntitle\n  x        1   as it is and has\n               been\n";
        assert_eq!(wide.render(31), narrower);
        let numbers = grid(3, &[&["", "a", "b"], &["x", "1 ± 1", "2\u{a0}±\u{a0}2"]]);
        assert_eq!(numbers.render(15), "      a       b\nx   1 ±   2\u{a0}±\u{a0}2\n      1\n");
    }

    #[test]
    fn words_are_cut_where_nothing_else_helps_and_nothing_is_lost() {
        let (name, value) = ("n".repeat(40), "v".repeat(60));
        let text = grid(1, &[&["", "base", "test"], &[&name, &value, "1"]]).render(60);
        assert!(text.lines().all(|line| line.width() <= 60), "{text}");
        let count = |letter: char| text.chars().filter(|&own| own == letter).count();
        assert_eq!((count('n'), count('v')), (40, 60), "{text}");
        let numbers = grid(4, &[&["", "11111", "22222", "33333"], &["a b", "1", "2", "3"]]);
        assert_eq!(numbers.render(10), numbers.render(80), "numbers stay whole");
    }

    #[test]
    fn a_grid_of_numbers_becomes_several() {
        let head = ["at", "100", "200", "300", "400", "500"];
        let several = grid(6, &[&head, &["x", "1", "2", "3", "4", "5"]]);
        let first = "at   100   200   300   400\nx      1     2     3     4\n";
        assert_eq!(several.render(27), format!("{first}at   500\nx      5\n"));
        assert_eq!(several.render(80).lines().count(), 2);
    }

    #[test]
    fn a_long_line_goes_on_below_its_last_column() {
        let text = "  name    one two three\nplain words go on further\nshort\n";
        let wrapped = "  name    one two\n          three\nplain words go on\n  further\nshort\n";
        assert_eq!(wrap_lines(text, 20), wrapped);
        assert_eq!(wrap_lines(text, 80), text);
        assert_eq!(wrap_lines("x  averylongword\n", 12), "x\n  averylongword\n");
        let columns = "  a = 1  of three four\n";
        assert_eq!(wrap_lines(columns, 18), "  a = 1  of three\n         four\n");
        assert_eq!(wrap_lines("try `a b c` or x\n", 12), "try `a b c`\n  or x\n");
        assert_eq!(wrap_lines("please try `a b c`\n", 12), "please try\n  `a b c`\n");
    }

    #[test]
    fn paragraphs_wrap_at_spaces_only() {
        let text = "one two\u{a0}three four";
        assert_eq!(wrap_paragraph(text, 10, "", " "), "one\n two\u{a0}three\n four\n");
        assert_eq!(wrap_paragraph("wordlongerthanthat x", 5, "", ""), "wordlongerthanthat\nx\n");
        assert_eq!(wrap_paragraph("", 5, "", ""), "\n");
        assert_eq!(
            wrap_paragraph("ofmanyletters x", 12, "test  ", "  "),
            "test\n  ofmanyletters\n  x\n"
        );
        assert_eq!(wrap_paragraph("of x", 12, "test  ", "  "), "test  of x\n");
    }

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(printable_line("a\u{1b}[31m\nb\u{202e}"), "a\u{fffd}[31m b\u{fffd}");
        assert_eq!(printable_line("grüße 名前 µ"), "grüße 名前 µ");
    }
}
