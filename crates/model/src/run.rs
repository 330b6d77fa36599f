//! An experiment that was carried out, whole or in part.

use std::collections::BTreeMap;
use std::fmt;

use crate::arms::{ArmIndex, Arms};
use crate::count::RunCounts;
use crate::foreign;
use crate::plan::Plan;
use crate::round::Round;
use crate::warning::Warning;
use crate::words::words;

/// The name of a stored run: eight hexadecimal digits, of which any unambiguous prefix will do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

words! {
    /// How far a run got.
    RunStatus {
        /// Rounds are being added, or the process died while they were.
        Partial = "partial",
        /// Stopped by the user; what was measured is valid.
        Interrupted = "interrupted",
        /// All rounds of the plan were measured.
        Complete = "complete",
    }
}

/// Characters of the name of a fact, and of a fact: plans are the longest.
const NAME_MOST: usize = 1000;
const FACT_MOST: usize = 1_000_000;

/// What was true of one arm and of the host, as flat facts: `server.version`,
/// `variable.sync_binlog`, `host.kernel`. Sorted, so that two of them can be compared line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Fact by name.
    pub facts: BTreeMap<String, String>,
}

impl Environment {
    /// Records a fact, which a server may have said: what steers a terminal is taken out, and what
    /// is longer than any fact is cut.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value): (String, String) = (name.into(), value.into());
        let name = foreign::truncate_text(&foreign::one_line(&name), NAME_MOST).into_owned();
        let value = foreign::truncate_text(&foreign::lines(&value), FACT_MOST).into_owned();
        self.facts.insert(name, value);
    }

    /// The fact, or the empty string where nothing is known.
    pub fn get(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }
}

/// An arm that could not be started, or that died on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedArm {
    /// Which one.
    pub arm: ArmIndex,
    /// What happened, in the words of the error.
    pub why: String,
}

/// An experiment with everything that was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its name in the store.
    pub id: RunId,
    /// A name given by the user (`--name`), usable as `@name`.
    pub name: Option<String>,
    /// When it began, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How far it got.
    pub status: RunStatus,
    /// The version of dbdyno that measured it.
    pub tool_version: String,
    /// The command that reproduces it; passwords are not part of it.
    pub command: String,
    /// What was to be measured.
    pub plan: Plan,
    /// What was true of each arm.
    pub environment: Arms<Environment>,
    /// What was measured of them, in the order of measuring.
    pub rounds: Vec<Round>,
    /// Arms that ended before the run did.
    pub ended: Vec<EndedArm>,
    /// Instructions per operation, where the plan wants them counted.
    pub counts: RunCounts,
    /// What the reader must know.
    pub warnings: Vec<Warning>,
}
