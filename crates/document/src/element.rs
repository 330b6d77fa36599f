//! Documents: what is said, and as what.
//!
//! ```text
//!   Document ── passages, which an empty line parts
//!                 └ elements, which stand below each other
//!                     Headline   the answer       Arms    who is compared
//!                     Title      of a passage     Items   findings, each with details
//!                     Sentence   of its own       Notes   what must be known of the rest
//!                     Prose      several of them  Lines   whose blanks count
//!                     Table      see `DataTable`
//! ```
//!
//! What stands below a headline or a title (also that of a table) in its passage belongs to it: a
//! terminal indents it.

use dbdyno_model::PerArm;

use crate::table::DataTable;
use crate::text::Text;

/// What is to be shown, in passages.
#[derive(Default)]
pub struct Document {
    pub(crate) passages: Vec<Vec<Element>>,
}

impl Document {
    /// Puts a passage behind the others. One without elements is none.
    pub fn push(&mut self, passage: Vec<Element>) {
        if !passage.is_empty() {
            self.passages.push(passage);
        }
    }
}

impl From<Vec<Vec<Element>>> for Document {
    fn from(passages: Vec<Vec<Element>>) -> Self {
        let mut document = Document::default();
        passages.into_iter().for_each(|passage| document.push(passage));
        document
    }
}

/// A part of a passage.
pub enum Element {
    /// The answer in a sentence.
    Headline(Text),
    /// What a passage is about.
    Title(Text),
    /// A sentence that stands for itself.
    Sentence(Text),
    /// Sentences that explain, one after the other.
    Prose(Text),
    /// Lines whose blanks count, such as columns of a story.
    Lines(Vec<Text>),
    /// The labels of the two arms.
    Arms(PerArm<Text>),
    /// Findings, one below the other.
    Items(Vec<LabelledItem>),
    /// What must be known of the rest, a paragraph each.
    Notes(Vec<Text>),
    /// A table.
    Table(DataTable),
}

/// A finding, what it is called, and what belongs to it.
#[derive(Default)]
pub struct LabelledItem {
    pub(crate) labels: Vec<ItemLabel>,
    pub(crate) text: Text,
    pub(crate) details: Vec<LabelledItem>,
}

/// A word before the text of an item, in a column.
pub(crate) struct ItemLabel {
    pub(crate) text: Text,
    /// Characters that it takes at least; a space follows.
    pub(crate) width: usize,
}

impl LabelledItem {
    /// An item that has no label yet.
    pub fn new(text: impl Into<Text>) -> LabelledItem {
        LabelledItem { text: text.into(), ..LabelledItem::default() }
    }

    /// The same behind one more label, in a column of at least so many characters.
    pub fn label(mut self, text: impl Into<Text>, width: usize) -> LabelledItem {
        self.labels.push(ItemLabel { text: text.into(), width });
        self
    }

    /// The same with one more item that belongs to it.
    pub fn detail(mut self, detail: LabelledItem) -> LabelledItem {
        self.details.push(detail);
        self
    }
}
