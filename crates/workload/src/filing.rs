//! Under which classes a load's events are filed.
//!
//! ```text
//!   kind of event          statements of each class           filed as
//!   card of TPC-C          whatever the answers ask for       event of that transaction
//!   browse (custom load)   BEGIN  browse ×3  COMMIT           event of class browse
//!   read-write             BEGIN  point ×10  sum …  COMMIT    statements of each class
//! ```
//!
//! A *kind* is a way in which an event can come out: all events of a kind have the same statements
//! in number and class. So it is enough to count kinds while a load runs; how often each class was
//! asked follows from it afterwards.

/// What is counted apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filing {
    /// Nothing: all events are of one kind and of one class.
    Whole,
    /// Events by their class, of which these are the names; a kind is a class.
    Events(Vec<String>),
    /// Statements by their class, because events have several.
    Statements {
        /// The names of the classes.
        classes: Vec<String>,
        /// By kind and class: statements of one event.
        per_event: Vec<Vec<u64>>,
    },
}

impl Filing {
    /// Number of kinds.
    pub fn kind_count(&self) -> usize {
        match self {
            Filing::Whole => 1,
            Filing::Events(classes) => classes.len(),
            Filing::Statements { per_event, .. } => per_event.len(),
        }
    }

    /// Files events under their classes, or nothing if there is one class.
    pub(crate) fn of_events(classes: Vec<String>) -> Filing {
        if classes.len() > 1 { Filing::Events(classes) } else { Filing::Whole }
    }
}
