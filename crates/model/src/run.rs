//! An experiment that was carried out, whole or in part.

use std::collections::BTreeMap;
use std::fmt;

use crate::arm::{Arm, PerArm};
use crate::arms::{ArmIndex, Pairing};
use crate::count::RunCounts;
use crate::foreign;
use crate::plan::Plan;
use crate::round::Round;
use crate::warning::Warning;

/// The name of a stored run: eight hexadecimal digits, of which any unambiguous prefix will do.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub String);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far a run got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// Rounds are being added, or the process died while they were.
    Partial,
    /// Stopped by the user; what was measured is valid.
    Interrupted,
    /// All rounds of the plan were measured.
    Complete,
}

impl RunStatus {
    /// `"partial"`, `"interrupted"` or `"complete"`.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Partial => "partial",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Complete => "complete",
        }
    }

    /// The status with this [`RunStatus::name`].
    pub fn from_name(name: &str) -> Option<RunStatus> {
        [RunStatus::Partial, RunStatus::Interrupted, RunStatus::Complete]
            .into_iter()
            .find(|status| status.name() == name)
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
        let name = foreign::bounded(&foreign::one_line(&name), NAME_MOST).into_owned();
        let value = foreign::bounded(&foreign::lines(&value), FACT_MOST).into_owned();
        self.facts.insert(name, value);
    }

    /// The fact, or the empty string where nothing is known.
    pub fn get(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }
}

/// What was found of an arm behind the first test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FurtherArm {
    /// What was true of it.
    pub environment: Environment,
    /// Its rounds, with the key that they have in its pair with base.
    pub rounds: Vec<Round>,
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
    /// What was true of base and of the first test.
    pub environment: PerArm<Environment>,
    /// What was measured of them, in the order of measuring.
    pub rounds: Vec<Round>,
    /// The same of each of [`Plan::further`]: as many, in their order.
    pub further: Vec<FurtherArm>,
    /// Arms that ended before the run did.
    pub ended: Vec<EndedArm>,
    /// Instructions per operation, where the plan wants them counted.
    pub counts: RunCounts,
    /// What the reader must know.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// What was true of an arm.
    pub fn environment_of(&self, arm: ArmIndex) -> &Environment {
        match arm.position() {
            0 => &self.environment.base,
            1 => &self.environment.test,
            more => &self.further[more - 2].environment,
        }
    }

    /// The rounds of an arm, with the key that they have in its pair with base.
    pub fn rounds_of(&self, arm: ArmIndex) -> impl Iterator<Item = &Round> {
        let side = arm.side();
        let rounds = match arm.position() {
            0 | 1 => &self.rounds,
            more => &self.further[more - 2].rounds,
        };
        rounds.iter().filter(move |round| round.key.arm == side)
    }

    /// All rounds of all arms, arm by arm where there are more than two.
    pub fn all_rounds(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().chain(self.further.iter().flat_map(|arm| &arm.rounds))
    }

    /// The run of two of its arms, as if they had been measured alone.
    pub fn of_pair(&self, pairing: Pairing) -> Run {
        let environment = PerArm::from_fn(|side| self.environment_of(pairing.of(side)).clone());
        let mut rounds: Vec<Round> = Vec::new();
        let mut test = self.rounds_of(pairing.test).peekable();
        let of_side = |round: &Round, arm: Arm| {
            let mut round = round.clone();
            round.key.arm = arm;
            round
        };
        for base in self.rounds_of(pairing.base) {
            while let Some(round) =
                test.next_if(|round| round.started_unix_ms < base.started_unix_ms)
            {
                rounds.push(of_side(round, Arm::Test));
            }
            rounds.push(of_side(base, Arm::Base));
        }
        rounds.extend(test.map(|round| of_side(round, Arm::Test)));
        Run {
            id: self.id.clone(),
            name: self.name.clone(),
            started_unix_ms: self.started_unix_ms,
            status: self.status,
            tool_version: self.tool_version.clone(),
            command: self.command.clone(),
            plan: self.plan.of_pair(pairing),
            environment,
            rounds,
            further: Vec::new(),
            ended: self.ended.clone(),
            counts: self.counts.of_pair(pairing),
            warnings: self.warnings.clone(),
        }
    }
}
