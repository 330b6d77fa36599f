//! Where two arms are unequal, and how much that weighs.

use crate::words::words;

words! {
    /// What an inequality means for the answer, the heaviest first after what was asked for.
    #[derive(PartialOrd, Ord)]
    Weight {
        /// What the user varied, or what follows from it: the question itself.
        Varied = "varied",
        /// No verdict: the ratio would be that of this inequality, or of an error.
        Blocks = "blocks",
        /// The reader must know it.
        Annotates = "annotates",
        /// It is counted, and shown to those who ask.
        Harmless = "harmless",
    }
}

words! {
    /// How a fact came to be unequal.
    #[derive(PartialOrd, Ord)]
    FactChange {
        /// Both arms have it, with different values, and their releases do not explain it.
        Different = "different",
        /// A setting that nobody set, of two releases with different defaults.
        Default = "default",
        /// A setting that only the release of test has.
        New = "new",
        /// A setting that only the release of base has.
        Gone = "gone",
        /// Observed on one side only.
        Unseen = "not observed",
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
    pub fn of_weight(&self, weight: Weight) -> impl Iterator<Item = &Inequality> {
        self.unequal.iter().filter(move |one| one.weight == weight)
    }
}
