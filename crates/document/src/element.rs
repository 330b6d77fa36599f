//! Documents: what is said, and as what.
//!
//! ```text
//!   Document ── passages, which an empty line parts
//!                 └ elements, which stand below each other
//!                     Headline   the answer       Arms    who is compared
//!                     Heading    of a part        Items   findings, each with details
//!                     Title      of a passage     Lines   whose blanks count
//!                     Sentence   of its own       Notes   what must be known of the rest
//!                     Prose      several of them  Table   see `DataTable`
//!                     Status     how far it got   Terms   what is said of each of several
//!                     Sparkline  of a series      Footnotes   by their numbers
//!                     Fold       what need not stand open
//! ```
//!
//! What stands below a headline, a heading or a title (also that of a table) in its passage belongs
//! to it: a terminal indents it. A passage may belong to the one before it
//! ([`Document::push_below`]).

use dbdyno_model::PerArm;

use crate::cell::Tint;
use crate::sparkline::Sparkline;
use crate::table::DataTable;
use crate::text::Text;

/// What is to be shown, in passages.
#[derive(Default)]
pub struct Document {
    pub(crate) passages: Vec<Passage>,
}

/// Elements that stand below each other.
pub(crate) struct Passage {
    pub(crate) elements: Vec<Element>,
    /// Whether it belongs to the headline or title of the passage before it.
    pub(crate) is_below: bool,
}

impl Document {
    /// Puts a passage behind the others. One without elements is none.
    pub fn push(&mut self, elements: Vec<Element>) {
        self.add(Passage { elements, is_below: false });
    }

    /// The same of a passage that belongs to what the one before it is about.
    pub fn push_below(&mut self, elements: Vec<Element>) {
        self.add(Passage { elements, is_below: true });
    }

    fn add(&mut self, passage: Passage) {
        if !passage.elements.is_empty() {
            self.passages.push(passage);
        }
    }

    /// Puts the passages of another document behind these.
    pub fn append(&mut self, other: Document) {
        self.passages.extend(other.passages);
    }

    /// The passages of which people see something.
    pub(crate) fn visible_passages(&self) -> impl Iterator<Item = &Passage> {
        self.passages.iter().filter(|passage| passage.elements.iter().any(Element::is_shown))
    }

    /// All elements in order.
    pub(crate) fn all_elements(&self) -> impl Iterator<Item = &Element> {
        self.passages.iter().flat_map(|passage| &passage.elements)
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
    /// What a part of a long document is about: passages that follow belong to it, too.
    Heading(Text),
    /// What a passage is about.
    Title(Text),
    /// A sentence that stands for itself.
    Sentence(Text),
    /// Sentences that explain, one after the other.
    Prose(Text),
    /// Lines whose blanks count, such as columns of a story.
    Lines(Vec<Text>),
    /// Who is compared.
    Arms(Vec<ArmLabel>),
    /// Findings, one below the other.
    Items(Vec<LabelledItem>),
    /// What must be known of the rest, a paragraph each.
    Notes(Vec<Text>),
    /// A table.
    Table(DataTable),
    /// A series of values.
    Sparkline(Sparkline),
    /// What explains signs and words, for those who ask.
    Aside(Text),
    /// That something did not come to its end.
    Status(Text),
    /// What is said of each of several.
    Terms(Vec<(Text, Text)>),
    /// What must be known of what has their marks, or of everything.
    Footnotes(Vec<Footnote>),
    /// What need not stand open, and what it is.
    Fold(Text, Vec<Element>),
}

impl Element {
    /// Whether people see it: a table without a row and a title is one of programs alone.
    pub(crate) fn is_shown(&self) -> bool {
        match self {
            Element::Table(table) => !(table.rows.is_empty() && table.title.is_empty()),
            Element::Lines(texts) | Element::Notes(texts) => !texts.is_empty(),
            Element::Items(items) => !items.is_empty(),
            _ => true,
        }
    }
}

/// What an arm is called.
pub struct ArmLabel {
    /// Its name in the run: base, test, test2.
    pub name: Text,
    /// What it turned out to be.
    pub label: Text,
    /// Whether the others are measured against it.
    pub is_base: bool,
}

impl ArmLabel {
    /// Of both arms.
    pub fn of_both(labels: PerArm<impl Into<Text>>) -> Vec<ArmLabel> {
        let PerArm { base, test } = labels;
        vec![
            ArmLabel { name: "base".into(), label: base.into(), is_base: true },
            ArmLabel { name: "test".into(), label: test.into(), is_base: false },
        ]
    }
}

/// What must be known.
pub struct Footnote {
    /// By which it is found; nothing where it is of everything.
    pub number: Option<usize>,
    /// How much it weighs, as a word.
    pub severity: &'static str,
    /// What it says.
    pub text: Text,
    /// What it is called in JSON.
    pub code: Text,
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
    pub(crate) tint: Tint,
    /// Characters that it takes at least; a space follows.
    pub(crate) width: usize,
}

impl LabelledItem {
    /// An item that has no label yet.
    pub fn new(text: impl Into<Text>) -> LabelledItem {
        LabelledItem { text: text.into(), ..LabelledItem::default() }
    }

    /// The same behind one more label, in a column of at least so many characters.
    pub fn with_label(self, text: impl Into<Text>, width: usize) -> LabelledItem {
        self.tinted_label(text, Tint::None, width)
    }

    /// The same behind one more label, which has a tint.
    pub fn tinted_label(mut self, text: impl Into<Text>, tint: Tint, width: usize) -> LabelledItem {
        self.labels.push(ItemLabel { text: text.into(), tint, width });
        self
    }

    /// The same with one more item that belongs to it.
    pub fn with_detail(mut self, detail: LabelledItem) -> LabelledItem {
        self.details.push(detail);
        self
    }
}
