//! Checks by name, as whoever looks at continuous integration knows them: what passed, what did
//! not, and why. Where they come from is not known here, and where they go to neither.

use dbdyno_model::GateOutcome;

/// Checks that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckSuite {
    /// What they are of.
    pub name: String,
    /// They, in order.
    pub checks: Vec<NamedCheck>,
}

/// A check with its answer. Texts are raw: writers escape them.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCheck {
    /// To which kind it belongs, such as a group of loads.
    pub class: String,
    /// What it is called.
    pub name: String,
    /// Its answer.
    pub status: CheckStatus,
    /// The answer in a sentence.
    pub message: String,
    /// What speaks against the answer, a line each.
    pub doubts: Vec<String>,
    /// The file that it is about, where there is one.
    pub file: Option<String>,
    /// How long it took, in seconds; 0 where nothing was measured.
    pub seconds: f64,
}

/// The answer of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// Nothing is wrong with it.
    Passed,
    /// It got worse, and nothing asked whether it may.
    Worse,
    /// It is not as was asked for.
    Failed,
    /// Part of what was asked, of which it cannot be told; the whole answers for it.
    Skipped,
    /// All that was asked, and it cannot be told.
    Error,
    /// The command that was to answer could not be carried out.
    NotRun,
}

/// What a gate says of all that it was asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The gate, as it is written.
    pub name: String,
    /// What it says.
    pub outcome: GateOutcome,
    /// The same in a sentence, with the reason.
    pub sentence: String,
}

impl GateResult {
    /// The gate as a check of its own. It fails exactly where the command ends with 1, and is an
    /// error exactly where that ends with 3, so that a report of tests and an exit code agree.
    pub(crate) fn gate_suite(&self, file: Option<&str>) -> CheckSuite {
        let status = match self.outcome {
            GateOutcome::Holds => CheckStatus::Passed,
            GateOutcome::Fails => CheckStatus::Failed,
            GateOutcome::CannotTell => CheckStatus::Error,
        };
        let check = NamedCheck {
            class: "gate".to_owned(),
            name: self.name.clone(),
            status,
            message: format!("gate {}", self.sentence),
            doubts: Vec::new(),
            file: file.map(str::to_owned),
            seconds: 0.0,
        };
        CheckSuite { name: "gate".to_owned(), checks: vec![check] }
    }
}

/// The only check of a command that could not be carried out: whoever reads no result sees why.
pub fn failure_checks(command: &str, reason: &str) -> Vec<CheckSuite> {
    let check = NamedCheck {
        class: "command".to_owned(),
        name: format!("dbdyno {command}"),
        status: CheckStatus::NotRun,
        message: reason.to_owned(),
        doubts: Vec::new(),
        file: None,
        seconds: 0.0,
    };
    vec![CheckSuite { name: "command".to_owned(), checks: vec![check] }]
}

/// What a gate says of a part: of the whole says it [`GateResult`].
pub(crate) fn status_of_part(outcome: GateOutcome) -> CheckStatus {
    match outcome {
        GateOutcome::Holds => CheckStatus::Passed,
        GateOutcome::Fails => CheckStatus::Failed,
        GateOutcome::CannotTell => CheckStatus::Skipped,
    }
}
