//! What a dbdyno does that is counted itself: it asks an embedded arm, line by line.
//!
//! ```text
//!   arm 4096 200       ──▶ operations 4096 to 4295 of the arm        ──▶ 200 (statements)
//!   nothing 4096 200   ──▶ the same of nothing: what asking costs    ──▶ 200
//! ```
//!
//! callgrind counts inside of [`counted_section`] and writes a file after [`counted_file`]. It does
//! so by thread: what an engine does in threads of its own is inside of neither.
//!
//! The tables are there before it begins, filled by a dbdyno that is not counted. SQLite finds them
//! in a file. The engine has them in memory, and reads them from its directory as it is opened,
//! before anything is counted; see [`Tables`].

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use dbdyno_load::{Connector, EngineArm, LoadError, NumberedClient, SqliteFile};
use dbdyno_model::{ArmIndex, Plan, Target};
use dbdyno_workload::ReadyLoad;
use dbdyno_workload::ready::EventSource;

use super::small::ready_small_load;
use super::witness::NOBODY;
use crate::error::LabError;

/// Patterns of the functions' names, as callgrind takes them.
pub(super) const SECTION: &str = "*counted_section*";
pub(super) const FILE: &str = "*counted_file*";

/// An embedded arm that answers lines, for being counted.
pub struct Answerer<'a> {
    arm: NumberedClient<'a>,
    nothing: Option<NumberedClient<'a>>,
}

/// A load of a plan in the words of an embedded arm.
///
/// # Errors
/// As [`crate::check_plan`].
pub fn ready_embedded(plan: &Plan, arm: ArmIndex, label: &str) -> Result<ReadyLoad, LabError> {
    ready_small_load(plan, plan.arms[arm].dialect(), label)
}

impl<'a> Answerer<'a> {
    /// Opens the tables of an arm in this file, or in this directory.
    ///
    /// # Errors
    /// An arm whose tables no other process opens, or tables that cannot be opened.
    pub fn open(
        plan: &Plan,
        arm: ArmIndex,
        load: &'a ReadyLoad,
        path: &Path,
        stop: &'a AtomicBool,
    ) -> Result<Answerer<'a>, LabError> {
        let failed = |error: LoadError| LabError::Load(arm, "opening the tables".into(), error);
        let connector = match &plan.arms[arm].target {
            Target::Sqlite(pragmas) => {
                let (path, pragmas) = (path.to_owned(), pragmas.clone());
                Connector::Sqlite(SqliteFile { path, pragmas })
            }
            Target::Engine(design) => {
                let engine = EngineArm::open(path, design);
                Connector::Engine(engine.map_err(|error| failed(error.into()))?)
            }
            Target::Release(_) | Target::Url(_) | Target::Rocksdb(_) | Target::Mock(_) => {
                let text = "its tables are in nothing that a dbdyno under callgrind can open";
                return Err(LabError::Counting(arm, text.to_owned()));
            }
        };
        let known = matches!(load.event_source(), EventSource::Program(_));
        let nothing = known.then(|| NumberedClient::open(&Connector::Null, load, stop)).transpose();
        Ok(Answerer {
            arm: NumberedClient::open(&connector, load, stop).map_err(failed)?,
            nothing: nothing.map_err(failed)?,
        })
    }

    /// Answers a line with a line.
    pub fn answer_line(&mut self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let (whom, first, events) = (words.next(), words.next(), words.next());
        let (Some(whom), Some(first), Some(events)) =
            (whom, parsed_number(first), parsed_number(events))
        else {
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

fn parsed_number(word: Option<&str>) -> Option<u64> {
    word.and_then(|word| word.parse::<u64>().ok())
}

/// Where the tables of an embedded arm are, filled and closed.
pub(super) enum Tables {
    /// In a file that several processes may have open.
    Shared(PathBuf),
    /// In a directory that one process may have open.
    Single(PathBuf),
}

impl Tables {
    /// Those for load number `index`: the same for all loads, or a copy in `files`.
    ///
    /// # Errors
    /// The disk's refusal.
    pub(super) fn for_load(&self, index: usize, files: &Path) -> io::Result<PathBuf> {
        let directory = match self {
            Tables::Shared(file) => return Ok(file.clone()),
            Tables::Single(directory) => directory,
        };
        let copy = files.join(format!("tables-{index}"));
        fs::create_dir(&copy)?;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            fs::copy(entry.path(), copy.join(entry.file_name()))?;
        }
        Ok(copy)
    }
}

/// After its return callgrind writes what it has counted.
#[inline(never)]
fn counted_file(fixed: &mut NumberedClient<'_>, first: u64, events: u64) -> Result<u64, LoadError> {
    let answer = counted_section(fixed, first, events);
    // The call above is not the last thing, and so no jump.
    std::hint::black_box(answer)
}

/// Inside of it callgrind counts.
#[inline(never)]
fn counted_section(
    fixed: &mut NumberedClient<'_>,
    first: u64,
    events: u64,
) -> Result<u64, LoadError> {
    let answer = fixed.ask_operations(first, events);
    std::hint::black_box(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_judge::sample;
    use dbdyno_load::fill_tables;
    use dbdyno_model::Dialect;
    use dbdyno_workload::planned::datasets_of;

    /// Without callgrind, and else as two loads are counted: who asks the second one is there from
    /// the beginning, and finds all rows.
    #[test]
    fn each_load_has_the_rows_of_a_closed_engine_to_itself() {
        let target = "engine:?view=csn&device=none";
        let loads = ["update-nonindex", "point-query"];
        let mut plan = sample::of_cells(1, &loads, target, &[1], |_| {}).plan;
        plan.question.rows = 300;
        let Target::Engine(design) = plan.arms[ArmIndex::BASE].target else { panic!("{target}") };
        let (place, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let go_on = AtomicBool::new(false);
        let engine = Connector::Engine(EngineArm::open(place.path(), &design).unwrap());
        for dataset in datasets_of(&plan).unwrap() {
            fill_tables(&engine, Dialect::Engine, &*dataset, &go_on, &mut |_| {}).unwrap();
        }
        drop(engine);

        let tables = Tables::Single(place.path().to_owned());
        let loads = loads.map(|label| ready_embedded(&plan, ArmIndex::BASE, label).unwrap());
        let paths = [0, 1].map(|index| tables.for_load(index, files.path()).unwrap());
        assert_ne!(paths[0], paths[1]);
        let mut answerers = Vec::new();
        for (load, path) in loads.iter().zip(&paths) {
            answerers.push(Answerer::open(&plan, ArmIndex::BASE, load, path, &go_on).unwrap());
        }
        for answerer in &mut answerers {
            // Each of these statements must find its row.
            assert_eq!(answerer.answer_line("arm 7 20"), "20");
            assert_eq!(answerer.answer_line("nothing 7 20"), "20");
            assert_eq!(answerer.answer_line("nobody 7 20"), NOBODY);
            assert!(answerer.answer_line("arm 7").starts_with("error "));
        }
        assert!(tables.for_load(0, files.path()).is_err(), "a copy is made once");
    }

    #[test]
    fn a_file_is_everybodys() {
        let tables = Tables::Shared("arm.sqlite".into());
        let paths = [0, 1].map(|index| tables.for_load(index, Path::new("nowhere")).unwrap());
        assert!(paths.iter().all(|path| path == Path::new("arm.sqlite")), "{paths:?}");
    }
}
