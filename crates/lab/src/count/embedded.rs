//! What a dbdyno does that is counted itself: it asks an embedded arm, line by line.
//!
//! ```text
//!   arm 4096 200       ──▶ operations 4096 to 4295 of the arm        ──▶ 200 (statements)
//!   nothing 4096 200   ──▶ the same of nothing: what asking costs    ──▶ 200
//! ```
//!
//! callgrind counts inside of [`counted_section`] and writes a file after [`counted_file`].

use std::sync::atomic::AtomicBool;

use dbdyno_load::{Connector, Fixed, LoadError, SqliteFile};
use dbdyno_model::{Arm, Plan, Target};
use dbdyno_workload::ReadyLoad;
use dbdyno_workload::ready::Part;

use super::witness::NOBODY;
use crate::error::LabError;

/// Patterns of the functions' names, as callgrind takes them.
pub(super) const SECTION: &str = "*counted_section*";
pub(super) const FILE: &str = "*counted_file*";

/// An embedded arm that answers lines, for being counted.
pub struct Answerer<'a> {
    arm: Fixed<'a>,
    nothing: Option<Fixed<'a>>,
}

/// A load of a plan in the words of an embedded arm.
///
/// # Errors
/// As [`crate::check`].
pub fn ready(plan: &Plan, arm: Arm, label: &str) -> Result<ReadyLoad, LabError> {
    super::ready(plan, plan.arms[arm].dialect(), label)
}

impl<'a> Answerer<'a> {
    /// Opens the tables of an arm in this file.
    ///
    /// # Errors
    /// An arm that is not in a file, or tables that cannot be opened.
    pub fn open(
        plan: &Plan,
        arm: Arm,
        load: &'a ReadyLoad,
        path: &std::path::Path,
        stop: &'a AtomicBool,
    ) -> Result<Answerer<'a>, LabError> {
        let failed = |error: LoadError| LabError::Load(arm, "opening the tables".into(), error);
        let Target::Sqlite(pragmas) = &plan.arms[arm].target else {
            return Err(LabError::Counting(arm, "its tables are not in a file".to_owned()));
        };
        let connector =
            Connector::Sqlite(SqliteFile { path: path.to_owned(), pragmas: pragmas.clone() });
        let known = matches!(load.part(), Part::Program(_));
        let nothing = known.then(|| Fixed::open(&Connector::Null, load, stop)).transpose();
        Ok(Answerer {
            arm: Fixed::open(&connector, load, stop).map_err(failed)?,
            nothing: nothing.map_err(failed)?,
        })
    }

    /// Answers a line with a line.
    pub fn answer(&mut self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let (whom, first, events) = (words.next(), words.next(), words.next());
        let number = |word: Option<&str>| word.and_then(|word| word.parse::<u64>().ok());
        let (Some(whom), Some(first), Some(events)) = (whom, number(first), number(events)) else {
            return format!("error {line:?} is no question");
        };
        let asked = match (whom, &mut self.nothing) {
            ("arm", _) => counted_file(&mut self.arm, first, events),
            ("nothing", Some(nothing)) => counted_file(nothing, first, events),
            _ => return NOBODY.to_owned(),
        };
        match asked {
            Ok(statements) => statements.to_string(),
            Err(error) => format!("error {error}").replace('\n', " "),
        }
    }
}

/// After its return callgrind writes what it has counted.
#[inline(never)]
fn counted_file(fixed: &mut Fixed<'_>, first: u64, events: u64) -> Result<u64, LoadError> {
    let answer = counted_section(fixed, first, events);
    // The call above is not the last thing, and so no jump.
    std::hint::black_box(answer)
}

/// Inside of it callgrind counts.
#[inline(never)]
fn counted_section(fixed: &mut Fixed<'_>, first: u64, events: u64) -> Result<u64, LoadError> {
    let answer = fixed.ask(first, events);
    std::hint::black_box(answer)
}
