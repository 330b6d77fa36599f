//! One arm under callgrind: it is asked a fixed number of operations, and tells what that cost.
//!
//! ```text
//!   a session on a server   connect · prepare · N operations · leave ──▶ one file
//!   a session embedded      N operations by a dbdyno under callgrind ──▶ one file, and one
//!                           of the same operations against nothing
//! ```
//!
//! Files are waited for, because a server writes them in its own time. What was there before the
//! session, such as what the look for the first login left, is none of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_load::{Connector, LoadError, NumberedClient};
use dbdyno_model::{ArmIndex, Dialect};
use dbdyno_sandbox::CountedProgram;
use dbdyno_workload::ReadyLoad;

use super::callgrind::{self, Profile};
use crate::error::LabError;

/// How often the place of the files is looked at, and for how long.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS_MOST: u32 = 2_400;
/// Looks without anything new until nothing more is expected.
const QUIET_LOOKS: u32 = 4;

/// An arm that is counted.
pub(super) struct Witness<'a> {
    pub(super) arm: ArmIndex,
    /// Where callgrind writes.
    pub(super) files: PathBuf,
    pub(super) asked: CountSource,
    pub(super) stop: &'a AtomicBool,
    pub(super) seen: BTreeSet<PathBuf>,
}

/// The answer of a program for a load that cannot be asked of nothing.
pub(super) const NOBODY: &str = "-";

/// Who is asked.
pub(super) enum CountSource {
    Server(Connector, Dialect),
    /// A dbdyno that asks an embedded arm, for each load.
    Programs(BTreeMap<String, CountedProgram>),
}

/// What a session was, and what it cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub(super) statements: u64,
    pub(super) profile: Profile,
}

impl Witness<'_> {
    /// Asks operations `first` to `first + events` of a load.
    pub(super) fn session(
        &mut self,
        label: &str,
        load: &ReadyLoad,
        first: u64,
        events: u64,
    ) -> Result<Session, LabError> {
        self.go_on(label)?;
        let question = format!("{first} {events}");
        match &mut self.asked {
            CountSource::Server(connector, dialect) => {
                let (connector, dialect) = (connector.clone(), *dialect);
                self.settle();
                let asked =
                    NumberedClient::open(&connector, load, self.stop).and_then(|mut fixed| {
                        let process = fixed.server_process(dialect)?;
                        let statements = fixed.ask_operations(first, events)?;
                        fixed.close();
                        Ok((process, statements))
                    });
                let doing = || format!("counting {label}");
                let (process, statements) =
                    asked.map_err(|error| LabError::Load(self.arm, doing(), error))?;
                let name = process.map(|pid| format!("out.{pid}"));
                Ok(Session { statements, profile: self.await_file(label, name.as_deref())? })
            }
            CountSource::Programs(programs) => {
                let answer = ask(self.arm, programs, label, &format!("arm {question}"))?;
                let statements = answer.parse();
                let statements = statements.map_err(|_| LabError::Counting(self.arm, answer))?;
                let profile = self.await_file(label, None)?;
                let CountSource::Programs(programs) = &mut self.asked else {
                    unreachable!("as before")
                };
                let answer = ask(self.arm, programs, label, &format!("nothing {question}"))?;
                let profile = match answer.as_str() {
                    NOBODY => profile,
                    _ => profile_without(profile, &self.await_file(label, None)?),
                };
                Ok(Session { statements, profile })
            }
        }
    }

    /// Refuses to, once somebody wants it to stop. What is asked meanwhile is done in seconds.
    fn go_on(&self, label: &str) -> Result<(), LabError> {
        if self.stop.load(Ordering::Relaxed) {
            let doing = format!("counting {label}");
            return Err(LabError::Load(self.arm, doing, LoadError::Interrupted));
        }
        Ok(())
    }

    /// Takes note of all files that are there, once none is added.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < QUIET_LOOKS {
            thread::sleep(LOOK);
            let before = self.seen.len();
            self.seen.extend(files_in(&self.files));
            quiet = if self.seen.len() == before { quiet + 1 } else { 0 };
        }
    }

    /// Waits for a new file that is whole and has instructions in it: the one of this name, or any.
    fn await_file(&mut self, label: &str, name: Option<&str>) -> Result<Profile, LabError> {
        for _ in 0..LOOKS_MOST {
            self.go_on(label)?;
            for path in files_in(&self.files) {
                let named = path.file_name().unwrap_or_default().to_string_lossy();
                let is_wanted = name.is_none_or(|name| name == named);
                if self.seen.contains(&path) || !is_wanted {
                    continue;
                }
                let Ok(text) = fs::read_to_string(&path) else { continue };
                if !callgrind::is_whole(&text) {
                    continue;
                }
                self.seen.insert(path.clone());
                let profile = callgrind::parse(&text).map_err(|why| {
                    LabError::Counting(self.arm, format!("{}: {why}", path.display()))
                })?;
                // Read once, it is only in the way.
                let _ = fs::remove_file(&path);
                if profile.total > 0 {
                    return Ok(profile);
                }
            }
            thread::sleep(LOOK);
        }
        Err(LabError::Counting(
            self.arm,
            "callgrind wrote nothing of a session; a server whose functions have no names that \
             callgrind can find (a static or stripped build) cannot be counted: take the same \
             version from another source, as `dbdyno server ls` shows them"
                .to_owned(),
        ))
    }
}

fn ask(
    arm: ArmIndex,
    programs: &mut BTreeMap<String, CountedProgram>,
    label: &str,
    question: &str,
) -> Result<String, LabError> {
    let Some(program) = programs.get_mut(label) else { unreachable!("each load has one") };
    let answer = program.exchange_lines(question).map_err(|error| LabError::Sandbox(arm, error))?;
    match answer.strip_prefix("error ") {
        Some(why) => Err(LabError::Counting(arm, why.to_owned())),
        None => Ok(answer),
    }
}

/// What callgrind has written so far, oldest part first.
fn files_in(dir: &std::path::Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| entry.metadata().is_ok_and(|data| data.len() > 0))
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("out.")))
        .collect();
    paths.sort_by_key(|path| {
        path.extension().and_then(|part| part.to_string_lossy().parse::<u64>().ok())
    });
    paths
}

/// What is left of `all` without `part`: asking, of an embedded arm.
pub(super) fn profile_without(all: Profile, part: &Profile) -> Profile {
    let mut left = all;
    left.total = left.total.saturating_sub(part.total);
    for (name, cost) in &part.functions {
        if let Some(own) = left.functions.get_mut(name) {
            own.own = own.own.saturating_sub(cost.own);
            own.inclusive = own.inclusive.saturating_sub(cost.inclusive);
        }
    }
    for (call, cost) in &part.calls {
        if let Some(own) = left.calls.get_mut(call) {
            *own = own.saturating_sub(*cost);
        }
    }
    left
}
