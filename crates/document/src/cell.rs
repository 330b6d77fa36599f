//! Cells of tables: text, of which parts may have a tint, in one form or in several.
//!
//! ```text
//!   slower, needs 14 more pairs ² ³     the longest form
//!   slower ² ³                          a shorter one, for a terminal that is too narrow
//!   └ tint └ text without one  └ marks: numbers of footnotes
//! ```

use crate::text::Text;

/// What a colour repeats. Sign or word of a cell say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Nothing.
    #[default]
    None,
    /// Slower, or needing more.
    Worse,
    /// Faster, or needing less.
    Better,
    /// Next to no change.
    Near,
    /// Not decided.
    Undecided,
    /// Among the lowest of its column, or short of a target.
    Lowest,
    /// Among the highest of its column.
    Highest,
    /// Not to be compared.
    Incomparable,
    /// Lower than what it is measured against.
    Lower,
    /// Higher than what it is measured against.
    Higher,
}

impl Tint {
    /// Its class on a page.
    pub(crate) fn css_class(self) -> &'static str {
        match self {
            Tint::None => "",
            Tint::Worse => "worse",
            Tint::Better => "better",
            Tint::Near => "near",
            Tint::Undecided => "undecided",
            Tint::Lowest => "lowest",
            Tint::Highest => "highest",
            Tint::Incomparable => "incomparable",
            Tint::Lower => "lower",
            Tint::Higher => "higher",
        }
    }
}

/// Text with its tint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: Text,
    pub(crate) tint: Tint,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableCell {
    /// The longest one comes first.
    forms: Vec<Vec<Span>>,
    pub(crate) marks: Vec<usize>,
    pub(crate) is_answer: bool,
    /// What its background says on a page, and how strong that is, in percent.
    pub(crate) shade: (Tint, Option<f64>),
    /// What is less important, below the text on a page.
    pub(crate) small: Vec<TableCell>,
    /// Where the text leads to on a page, and by which name the cell is led to.
    pub(crate) link: Option<String>,
    pub(crate) anchor: Option<String>,
    /// A drawing, which only a page has.
    pub(crate) drawing: String,
}

impl TableCell {
    /// A text with a tint.
    pub fn tinted_text(text: impl Into<Text>, tint: Tint) -> TableCell {
        TableCell { forms: vec![vec![Span { text: text.into(), tint }]], ..TableCell::default() }
    }

    /// The same, in each of its forms with this text behind it.
    pub fn and_text(mut self, text: impl Into<Text>) -> TableCell {
        let span = Span { text: text.into(), tint: Tint::None };
        self.forms.iter_mut().for_each(|form| form.push(span.clone()));
        self
    }

    /// The same with all of another cell behind it. Both have one form.
    pub fn and_cell(mut self, other: TableCell) -> TableCell {
        let more = other.forms.into_iter().flatten().collect::<Vec<Span>>();
        self.forms.iter_mut().for_each(|form| form.extend(more.iter().cloned()));
        self
    }

    /// The same, or this one where a terminal is too narrow for the table. Cells of a table become
    /// shorter together; one that has no more forms stays as it is.
    pub fn or_shorter(mut self, shorter: TableCell) -> TableCell {
        self.forms.extend(shorter.forms);
        self
    }

    /// The same with the numbers of footnotes.
    pub fn with_marks(self, marks: Vec<usize>) -> TableCell {
        TableCell { marks, ..self }
    }

    /// The same as the answer of its row.
    pub fn as_answer(self) -> TableCell {
        TableCell { is_answer: true, ..self }
    }

    /// The same with a background on a page; of some it has a strength in percent.
    pub fn with_shade(self, tint: Tint, strength: Option<f64>) -> TableCell {
        TableCell { shade: (tint, strength), ..self }
    }

    /// The same with this below it on a page.
    pub fn with_small(self, small: TableCell) -> TableCell {
        TableCell { small: vec![small], ..self }
    }

    /// The same as a link to what has this anchor on the page.
    pub fn with_link(self, anchor: String) -> TableCell {
        TableCell { link: Some(anchor), ..self }
    }

    /// The same as what links to this anchor lead to.
    pub fn with_anchor(self, anchor: String) -> TableCell {
        TableCell { anchor: Some(anchor), ..self }
    }

    /// A drawing as SVG, for a column of drawings.
    pub fn from_svg(svg: String) -> TableCell {
        TableCell { drawing: svg, ..TableCell::default() }
    }

    /// How many forms it has.
    pub(crate) fn form_count(&self) -> usize {
        self.forms.len()
    }

    /// The form of which there are so many longer ones, or the shortest.
    pub(crate) fn nth_form(&self, number: usize) -> &[Span] {
        self.forms.get(number).or(self.forms.last()).map_or(&[], Vec::as_slice)
    }

    /// What a form says, on one line, without its marks.
    pub(crate) fn one_line(&self, number: usize) -> String {
        self.nth_form(number).iter().map(|span| span.text.one_line()).collect()
    }

    /// The marks with a space before them: ` ² ³`.
    pub(crate) fn superscript_marks(&self) -> String {
        self.marks.iter().map(|mark| format!(" {}", superscript_number(*mark))).collect()
    }

    /// Whether nothing is to be read.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.nth_form(0).iter().all(|span| span.text.is_empty())
    }
}

impl<T: Into<Text>> From<T> for TableCell {
    fn from(text: T) -> TableCell {
        TableCell::tinted_text(text, Tint::None)
    }
}

/// `¹²`: superscript digits, which need no markup.
pub(crate) fn superscript_number(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|byte| DIGITS[usize::from(byte - b'0')]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn superscripts_have_all_their_digits() {
        let cell = TableCell::from("equal").with_marks(vec![1, 23, 405]);
        assert_eq!(cell.superscript_marks(), " ¹ ²³ ⁴⁰⁵");
        assert_eq!(TableCell::from("equal").superscript_marks(), "");
    }
}
