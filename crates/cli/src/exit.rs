//! Exit codes. They are part of the contract: see `docs/CONTRACT.md`.

use dbdyno_model::GateOutcome;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The question is answered, the gate holds.
    Holds,
    /// The gate failed.
    Fails,
    /// It could not be done.
    CouldNot,
    /// What was measured does not decide it.
    CannotTell,
    /// Stopped by the user.
    Interrupted,
}

impl Exit {
    /// What a gate says, as the end of the program.
    pub(crate) fn of_gate(outcome: GateOutcome) -> Exit {
        match outcome {
            GateOutcome::Holds => Exit::Holds,
            GateOutcome::Fails => Exit::Fails,
            GateOutcome::CannotTell => Exit::CannotTell,
        }
    }

    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Fails => 1,
            Exit::CouldNot => 2,
            Exit::CannotTell => 3,
            Exit::Interrupted => 130,
        }
    }
}
