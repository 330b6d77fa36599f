//! Which sessions wait for which, as their arm says.
//!
//! ```text
//!   servers   server::BlockingWatch, on a connection of its own
//!   engine    its own word, session by session
//!   SQLite    –   a step that would wait is refused
//! ```

use dbdyno_load::{Clock, EngineWatch};
use dbdyno_server::{Blocker, BlockingWatch, Waiting};
use dbdyno_wire::WireError;

/// Whether it matters for whom a session waits, where that is not plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitAttribution {
    /// It is to be told.
    Told,
    /// It is asked only where it decides something.
    AsNeeded,
}

/// Who can say who waits.
pub(crate) enum Witness {
    /// A server.
    Server(BlockingWatch),
    /// The engine, session by session.
    Engine(Vec<EngineWatch>),
    /// Nobody waits there.
    Silent,
}

impl Witness {
    /// Which of the sessions with these ids wait, and for which ids where that is told.
    pub(crate) fn waiting_sessions(
        &mut self,
        ids: &[u64],
        clock: &Clock,
    ) -> Result<Vec<Waiting>, WireError> {
        match self {
            Witness::Server(watch) => watch.look_at_sessions(ids, &|| clock.now()),
            Witness::Engine(watches) => {
                Ok(watches.iter().map(|watch| watch.is_waiting().then_some(None)).collect())
            }
            Witness::Silent => Ok(ids.iter().map(|_| None).collect()),
        }
    }

    /// Whether a circle of waits is broken before anybody can be seen waiting in it.
    pub(crate) fn breaks_circles_at_once(&self) -> bool {
        match self {
            Witness::Server(watch) => watch.breaks_circles_at_once(),
            Witness::Engine(_) | Witness::Silent => true,
        }
    }

    /// For whom each of these sessions waits; `None` where nobody can say.
    pub(crate) fn blockers(&mut self, ids: &[u64], clock: &Clock) -> Option<Vec<Vec<Blocker>>> {
        match self {
            Witness::Server(watch) => watch.find_blockers(ids, &|| clock.now()),
            Witness::Engine(_) | Witness::Silent => None,
        }
    }

    /// Ends a session from outside.
    pub(crate) fn end_session(&mut self, id: u64) {
        if let Witness::Server(watch) = self {
            watch.end_session(id);
        }
    }
}

/// Whether some of these wait in a circle; `edges` leads from each to those it waits for.
pub(crate) fn has_circle(edges: &[Vec<usize>]) -> bool {
    let reach = |from: usize| {
        let (mut seen, mut open) = (vec![false; edges.len()], edges[from].clone());
        while let Some(at) = open.pop() {
            if at == from {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&edges[at]);
            }
        }
        false
    };
    (0..edges.len()).any(reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_chains_are_not() {
        assert!(has_circle(&[vec![1], vec![0]]));
        assert!(has_circle(&[vec![], vec![2], vec![3], vec![1]]));
        assert!(!has_circle(&[vec![], vec![0], vec![1, 0]]));
    }
}
