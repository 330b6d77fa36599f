//! Where two arms are unequal, and how much that weighs.

use std::fmt;

/// What an inequality means for the answer, the heaviest first after what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Weight {
    /// What the user varied, or what follows from it: the question itself.
    Varied,
    /// No verdict: the ratio would be that of this inequality, or of an error.
    Blocks,
    /// The reader must know it.
    Annotates,
    /// It is counted, and shown to those who ask.
    Harmless,
}

impl Weight {
    /// All of them, in order.
    pub const ALL: [Weight; 4] =
        [Weight::Varied, Weight::Blocks, Weight::Annotates, Weight::Harmless];

    /// `"varied"`, `"blocks"`, `"annotates"` or `"harmless"`.
    pub fn name(self) -> &'static str {
        match self {
            Weight::Varied => "varied",
            Weight::Blocks => "blocks",
            Weight::Annotates => "annotates",
            Weight::Harmless => "harmless",
        }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a fact came to be unequal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FactChange {
    /// Both arms have it, with different values, and their releases do not explain it.
    Different,
    /// A setting that nobody set, of two releases with different defaults.
    Default,
    /// A setting that only the release of test has.
    New,
    /// A setting that only the release of base has.
    Gone,
    /// Observed on one side only.
    Unseen,
}

impl FactChange {
    /// `"different"`, `"default"`, `"new"`, `"gone"` or `"not observed"`.
    pub fn name(self) -> &'static str {
        match self {
            FactChange::Different => "different",
            FactChange::Default => "default",
            FactChange::New => "new",
            FactChange::Gone => "gone",
            FactChange::Unseen => "not observed",
        }
    }
}

/// A fact that is not the same in both arms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inequality {
    /// The fact, for example `variable.sync_binlog`.
    pub name: String,
    /// Its value in the base arm; `None` if it is not there, or was not observed.
    pub base: Option<String>,
    /// The same in the test arm.
    pub test: Option<String>,
    /// What it means.
    pub weight: Weight,
    /// How it came about.
    pub change: FactChange,
    /// Key of the rule that says so.
    pub rule: &'static str,
    /// What it is about: a heading for people.
    pub topic: &'static str,
}

/// All inequalities of two arms, those that matter first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// By weight, topic and name.
    pub unequal: Vec<Inequality>,
    /// Number of facts that are the same in both arms.
    pub equal: usize,
}

impl Audit {
    /// The inequalities of this weight.
    pub fn of(&self, weight: Weight) -> impl Iterator<Item = &Inequality> {
        self.unequal.iter().filter(move |one| one.weight == weight)
    }
}
