//! A script of statements, taken by a protocol as a server takes it.
//!
//! ```text
//!   T1 writes a   T2 writes a   T2 writes b   T1 commits
//!                     │ waits        │ kept                 T2: … answered, then writes b
//!                     └──────────────┴──────────▶ when T1 has let go
//! ```
//!
//! Whoever waits keeps his further statements, and sends them, once he is answered, before the
//! script goes on. Whoever was rolled back leaves the rest out. Whoever is still open at the end of
//! the script is rolled back. That is how `dbdyno verify` plays servers, so that the two can be
//! compared statement by statement.

use std::collections::VecDeque;

use dbdyno_cases::{Interleaving, KeyOperation, StatementAnswer, StatementReply};

use crate::explore::Protocol;
use crate::outcome::{Did, KeyVersion, MOST, ProtocolOutcome};
use crate::single::{Phase, Single, SingleAction, SingleState};

/// A script that was played to its end.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// By place in the script.
    pub replies: Vec<StatementReply>,
    /// By place, whether it closed a circle of waits and was answered when that was broken: some
    /// servers look for a circle before they wait, others are seen waiting first.
    pub closed_circle: Vec<bool>,
    /// Whether a circle of waits had to be broken.
    pub had_deadlock: bool,
    /// What came of the transactions.
    pub outcome: ProtocolOutcome,
}

/// All ways in which a protocol can take a script: one, unless there are deadlocks, whose victim
/// may be any of those in the circle.
pub(crate) fn possible_runs(protocol: &Single, script: &Interleaving) -> Vec<Run> {
    let playing = Playing {
        state: protocol.initial(),
        at: 0,
        later: std::array::from_fn(|_| VecDeque::new()),
        sent: [None; MOST],
        replies: vec![
            StatementReply { answer: StatementAnswer::LeftOut, waited: false };
            script.steps.len()
        ],
        closed_circle: vec![false; script.steps.len()],
        had_deadlock: false,
    };
    let mut open = vec![playing];
    let mut done = Vec::new();
    while let Some(playing) = open.pop() {
        playing.go(protocol, script, &mut open, &mut done);
    }
    done
}

#[derive(Clone)]
struct Playing {
    state: SingleState,
    /// Statements of the script that were handed out.
    at: usize,
    /// By transaction, places of statements that it has not sent.
    later: [VecDeque<usize>; MOST],
    /// By transaction, the place of the statement that has no answer.
    sent: [Option<usize>; MOST],
    replies: Vec<StatementReply>,
    closed_circle: Vec<bool>,
    had_deadlock: bool,
}

impl Playing {
    /// Plays on until a circle has to be broken, or to the end.
    fn go(
        mut self,
        protocol: &Single,
        script: &Interleaving,
        open: &mut Vec<Playing>,
        done: &mut Vec<Run>,
    ) {
        let mut choices = Vec::new();
        loop {
            protocol.add_actions(&self.state, &mut choices);
            let has_circle =
                choices.first().is_some_and(|action| matches!(action, SingleAction::Victim(_)));
            self.note(script, has_circle);
            if has_circle {
                for victim in choices.iter().rev() {
                    let mut other = self.clone();
                    other.had_deadlock = true;
                    other.state = protocol.next_state(&self.state, *victim);
                    open.push(other);
                }
                return;
            }
            choices.clear();
            if let Some(who) =
                (0..MOST).find(|who| self.sent[*who].is_none() && !self.later[*who].is_empty())
            {
                self.send(protocol, script, who);
            } else if let Some((who, _)) = script.steps.get(self.at) {
                self.later[usize::from(*who)].push_back(self.at);
                self.at += 1;
            } else if let Some(who) = (0..MOST).find(|who| self.state.phase_of(*who) == Phase::Open)
            {
                // Whoever is left open holds what others may wait for.
                protocol.roll_back(&mut self.state, who);
            } else {
                let outcome = protocol.outcome_of(&self.state).unwrap_or_default();
                let Playing { replies, closed_circle, had_deadlock, .. } = self;
                done.push(Run { replies, closed_circle, had_deadlock, outcome });
                return;
            }
        }
    }

    fn send(&mut self, protocol: &Single, script: &Interleaving, who: usize) {
        let Some(place) = self.later[who].pop_front() else { return };
        if self.state.phase_of(who) == Phase::RolledBack {
            return;
        }
        let what = script.steps[place].1;
        self.sent[who] = Some(place);
        self.state = protocol.next_state(&self.state, SingleAction::Asks(who as u8, what));
    }

    /// Notes who was answered, and who waits.
    fn note(&mut self, script: &Interleaving, has_circle: bool) {
        for who in 0..MOST {
            let Some(place) = self.sent[who] else { continue };
            let reply = &mut self.replies[place];
            match self.state.phase_of(who) {
                Phase::Waits(_) => {
                    reply.waited |= !has_circle;
                    self.closed_circle[place] = !reply.waited;
                    continue;
                }
                Phase::RolledBack => reply.answer = StatementAnswer::Refused,
                _ => {
                    reply.answer = match (
                        script.steps[place].1,
                        self.state.operations_of(who).iter().last(),
                    ) {
                        (KeyOperation::Read(_), Some(Did::Read(_, seen))) => {
                            StatementAnswer::Read(place_of(script, seen))
                        }
                        _ => StatementAnswer::Done,
                    };
                }
            }
            self.sent[who] = None;
        }
    }
}

/// Where in a script a version is written.
fn place_of(script: &Interleaving, version: KeyVersion) -> Option<usize> {
    let (writer, number) = (version.writer()?, version.operation_index()?);
    let own = script.steps.iter().enumerate().filter(|(_, (who, _))| usize::from(*who) == writer);
    own.map(|(place, _)| place).nth(number)
}
