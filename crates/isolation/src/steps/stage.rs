//! Sessions on threads of their own, and whoever sends them their steps.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dbdyno_load::{Clock, Connector};
use dbdyno_model::isolation::{StepAnswer, StepWait};
use dbdyno_server::{BlockingWatch, Onlooker, Waiting};
use dbdyno_wire::{Client, WireError};

use super::waits::{WaitAttribution, Witness, has_circle};

/// An answer that comes within this is waited for before the server is asked who waits.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// Afterwards the server is asked this often, and later more seldom.
const LOOK_EVERY: Duration = Duration::from_micros(300);
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(20);
/// With no answer, and no word that it waits, for so long, nobody knows.
const LIMIT: Duration = Duration::from_secs(20);
/// Where a server cannot say for whom two sessions wait, or may leave a circle until somebody else
/// has gone, so many looks in a row must see the same.
const LOOKS_IN_DOUBT: u32 = 10;

/// One step: statements that belong together, of which the last one's answer counts.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Which session, from 0.
    pub session: usize,
    /// What it says.
    pub statements: Vec<String>,
    /// What that does to its transaction.
    pub effect: Effect,
}

/// What a step does to the transaction of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It begins one.
    Begins,
    /// It leaves it open.
    Goes,
    /// It ends it.
    Ends,
}

/// What came of a step.
#[derive(Clone, Debug)]
pub(crate) struct StepReport {
    /// Its place in the script.
    pub place: usize,
    /// What was answered.
    pub answer: StepAnswer,
    /// Whether it waited.
    pub waited: Option<StepWait>,
}

/// Sessions that are connected.
pub(crate) struct Stage {
    clock: Clock,
    witness: Witness,
    actors: Vec<Actor>,
    reports: Receiver<(usize, Result<StepAnswer, WireError>)>,
    is_spoiled: bool,
}

struct Actor {
    id: u64,
    orders: Option<Sender<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
    doing: Doing,
    /// Whether it has a transaction open.
    open: bool,
    /// Whether its transaction was refused, so that further steps of it are left out.
    refused: bool,
    /// Places in the script of what it has not sent yet.
    later: VecDeque<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Nothing,
    /// The step at this place of what was told.
    Step(usize),
    /// It rolls back what was refused.
    RollsBack,
    /// Nobody knows; it was ended from outside.
    Lost,
}

impl Stage {
    /// Connects so many sessions, each of which says `first` before all else.
    ///
    /// # Errors
    /// No connection, or the refusal of one of the statements.
    pub(crate) fn open(
        connector: &Connector,
        count: usize,
        first: &[String],
        clock: &Clock,
    ) -> Result<Stage, WireError> {
        let (sender, reports) = channel();
        let mut actors = Vec::new();
        let mut watches = Vec::new();
        for index in 0..count {
            let mut client = match connector {
                Connector::Engine(arm) => {
                    let (client, watch) = arm.watched_client();
                    watches.push(watch);
                    client
                }
                _ => connector.connect()?,
            };
            first.iter().try_for_each(|sql| client.run(sql).map(|_| ()))?;
            actors.push(Actor::start(index, client, sender.clone()));
        }
        let witness = match connector {
            Connector::Mysql(_) | Connector::Postgres(_) => {
                let Onlooker { client, server, .. } = connector.open_onlooker()?;
                Witness::Server(BlockingWatch::from_client(client, server)?)
            }
            Connector::Engine(_) => Witness::Engine(watches),
            _ => Witness::Silent,
        };
        Ok(Stage { clock: clock.clone(), witness, actors, reports, is_spoiled: false })
    }

    /// Whether a session had to be ended: it takes another stage to play on.
    pub(crate) fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    /// Plays a script to its end; what is still open then is rolled back.
    ///
    /// # Errors
    /// A connection that broke, or a server that does not let us see who waits.
    pub(crate) fn play_script(
        &mut self,
        script: &[Line],
        whom: WaitAttribution,
    ) -> Result<Vec<StepReport>, WireError> {
        let mut told = Vec::with_capacity(script.len());
        for actor in &mut self.actors {
            (actor.open, actor.refused) = (false, false);
        }
        for (place, line) in script.iter().enumerate() {
            self.actors[line.session].later.push_back(place);
            self.send_what_can_be(script, whom, &mut told)?;
        }
        while !self.is_spoiled
            && let Some(at) = self.actors.iter().position(holds_what_others_want)
        {
            self.actors[at].roll_back();
            self.settle(whom, &mut told)?;
            self.send_what_can_be(script, whom, &mut told)?;
        }
        self.give_up();
        for later in self.actors.iter_mut().map(|actor| std::mem::take(&mut actor.later)) {
            told.extend(later.into_iter().map(|place| StepReport {
                place,
                answer: StepAnswer::LeftOut,
                waited: None,
            }));
        }
        Ok(told)
    }

    fn send_what_can_be(
        &mut self,
        script: &[Line],
        whom: WaitAttribution,
        told: &mut Vec<StepReport>,
    ) -> Result<(), WireError> {
        while !self.is_spoiled
            && let Some(at) =
                self.actors.iter().position(|actor| actor.is_idle() && !actor.later.is_empty())
        {
            let Some(place) = self.actors[at].later.pop_front() else { return Ok(()) };
            self.send(at, place, &script[place], told);
            self.settle(whom, told)?;
        }
        Ok(())
    }

    fn send(&mut self, at: usize, place: usize, line: &Line, told: &mut Vec<StepReport>) {
        let actor = &mut self.actors[at];
        if line.effect == Effect::Begins {
            (actor.open, actor.refused) = (true, false);
        }
        let left_out = actor.refused;
        let answer = if left_out { StepAnswer::LeftOut } else { StepAnswer::Nothing };
        told.push(StepReport { place, answer, waited: None });
        if !left_out {
            if line.effect == Effect::Ends {
                actor.open = false;
            }
            actor.order(line.statements.clone(), Doing::Step(told.len() - 1));
        }
    }

    /// Waits until everybody has been answered or waits for somebody who will not go on by himself.
    fn settle(&mut self, whom: WaitAttribution, told: &mut [StepReport]) -> Result<(), WireError> {
        let mut patience = FIRST_LOOK;
        let mut since = self.clock.now();
        let mut looks = 0;
        while self.actors.iter().any(|actor| !actor.is_idle()) {
            match self.reports.recv_timeout(patience) {
                Ok((at, answer)) => {
                    self.take(at, answer, told)?;
                    (patience, looks, since) = (FIRST_LOOK, 0, self.clock.now());
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender of each"),
            }
            let ids: Vec<u64> = self.actors.iter().map(|actor| actor.id).collect();
            let seen = self.witness.waiting_sessions(&ids, &self.clock)?;
            // What was answered while we looked is not in what was seen.
            if let Ok((at, answer)) = self.reports.try_recv() {
                self.take(at, answer, told)?;
                (patience, looks, since) = (FIRST_LOOK, 0, self.clock.now());
                continue;
            }
            looks += 1;
            self.note(&seen, told);
            if self.is_settled(&seen, looks, whom, told)? {
                return Ok(());
            }
            if self.clock.now().saturating_sub(since) > LIMIT {
                self.give_up();
                return Ok(());
            }
            patience = if patience == FIRST_LOOK { LOOK_EVERY } else { 2 * patience };
            patience = patience.min(LOOK_AT_LEAST_EVERY);
        }
        Ok(())
    }

    /// Notes who was seen waiting.
    fn note(&self, seen: &[Waiting], told: &mut [StepReport]) {
        let ids: Vec<u64> = self.actors.iter().map(|actor| actor.id).collect();
        for (actor, waiting) in self.actors.iter().zip(seen) {
            let (Doing::Step(at), Some(whom)) = (actor.doing, waiting) else { continue };
            let names = |id: &u64| ids.iter().position(|own| own == id).map(|at| at as u8 + 1);
            let for_whom: Vec<u8> = whom.iter().flatten().filter_map(names).collect();
            let wait = told[at].waited.get_or_insert(StepWait { for_whom: vec![], until: None });
            if !for_whom.is_empty() {
                wait.for_whom = for_whom;
            }
        }
    }

    /// Whether everybody who is at work waits, and for somebody who is not.
    fn is_settled(
        &mut self,
        seen: &[Waiting],
        looks: u32,
        whom: WaitAttribution,
        told: &mut [StepReport],
    ) -> Result<bool, WireError> {
        let busy: Vec<usize> =
            (0..self.actors.len()).filter(|at| !self.actors[*at].is_idle()).collect();
        let idle_and_open: Vec<usize> = (0..self.actors.len())
            .filter(|at| self.actors[*at].is_idle() && self.actors[*at].open)
            .collect();
        // With nobody left who could let go, the server has a deadlock to break.
        if busy.iter().any(|at| seen[*at].is_none()) || idle_and_open.is_empty() {
            return Ok(false);
        }
        let is_plain =
            busy.len() == 1 && (idle_and_open.len() == 1 || whom == WaitAttribution::AsNeeded);
        if is_plain && seen[busy[0]] == Some(None) {
            if idle_and_open.len() == 1 {
                self.name(busy[0], vec![idle_and_open[0]], told);
            }
            return Ok(true);
        }
        if whom == WaitAttribution::AsNeeded && self.witness.breaks_circles_at_once() {
            return Ok(true);
        }
        let Some(edges) = self.edges(seen, &busy)? else {
            return Ok(busy.len() == 1 || looks >= LOOKS_IN_DOUBT);
        };
        // The tables may be older than what was seen: all who wait must be in them.
        if busy.iter().any(|at| edges[*at].is_empty()) {
            return Ok(false);
        }
        busy.iter().for_each(|at| self.name(*at, edges[*at].clone(), told));
        // MySQL follows one edge of each session only: it does not see a circle in which somebody
        // also waits for one who is idle, and breaks it when that one has gone.
        let waits_for_idle = busy.iter().any(|at| edges[*at].iter().any(|one| !busy.contains(one)));
        Ok(!has_circle(&edges) || (waits_for_idle && looks >= LOOKS_IN_DOUBT))
    }

    /// From each session to those that it waits for; `None` where the server cannot say.
    fn edges(
        &mut self,
        seen: &[Waiting],
        busy: &[usize],
    ) -> Result<Option<Vec<Vec<usize>>>, WireError> {
        let ids: Vec<u64> = self.actors.iter().map(|actor| actor.id).collect();
        if busy.iter().all(|at| matches!(seen[*at], Some(Some(_)))) {
            let edges = seen.iter().map(|one| {
                one.iter().flatten().flatten().filter_map(|id| self.place_of(*id)).collect()
            });
            return Ok(Some(edges.collect()));
        }
        let Some(known) = self.witness.blockers(&ids, &self.clock) else { return Ok(None) };
        let edges = known.into_iter().enumerate().map(|(at, blockers)| {
            let whom = blockers
                .into_iter()
                .filter_map(|one| Some((self.place_of(one.id)?, one.by_request)));
            // Who asked for a lock later stands behind.
            let ahead = whom.filter(|(other, by_request)| {
                !by_request || self.step_of(*other) < self.step_of(at)
            });
            ahead.map(|(other, _)| other).collect()
        });
        Ok(Some(edges.collect()))
    }

    /// The actor whose session has this number at the server.
    fn place_of(&self, id: u64) -> Option<usize> {
        self.actors.iter().position(|actor| actor.id == id)
    }

    /// The step that an actor waits for the answer of.
    fn step_of(&self, at: usize) -> Option<usize> {
        match self.actors[at].doing {
            Doing::Step(step) => Some(step),
            _ => None,
        }
    }

    fn name(&self, at: usize, whom: Vec<usize>, told: &mut [StepReport]) {
        let Doing::Step(step) = self.actors[at].doing else { return };
        if let Some(wait) = &mut told[step].waited {
            wait.for_whom = whom.into_iter().map(|at| at as u8 + 1).collect();
            wait.for_whom.sort_unstable();
        }
    }

    /// Takes the answer to an actor.
    fn take(
        &mut self,
        at: usize,
        answer: Result<StepAnswer, WireError>,
        told: &mut [StepReport],
    ) -> Result<(), WireError> {
        let actor = &mut self.actors[at];
        if actor.doing == Doing::Lost {
            return Ok(());
        }
        let doing = std::mem::replace(&mut actor.doing, Doing::Nothing);
        let answer = answer?;
        let Doing::Step(step) = doing else { return Ok(()) };
        let refused = matches!(answer, StepAnswer::Refused { .. });
        let last = told.len() - 1;
        told[step].answer = answer;
        if let Some(wait) = &mut told[step].waited {
            wait.until = Some(last);
        }
        if refused {
            actor.refused = true;
            actor.roll_back();
        }
        Ok(())
    }

    /// Ends whoever is still at work.
    fn give_up(&mut self) {
        for actor in self.actors.iter_mut().filter(|actor| !actor.is_idle()) {
            actor.doing = Doing::Lost;
            self.is_spoiled = true;
            self.witness.end_session(actor.id);
        }
    }
}

/// Whoever is idle and open holds what others may wait for.
fn holds_what_others_want(actor: &Actor) -> bool {
    actor.is_idle() && actor.open
}

impl Actor {
    fn start(
        index: usize,
        mut client: Box<dyn Client>,
        reports: Sender<(usize, Result<StepAnswer, WireError>)>,
    ) -> Actor {
        let (orders, receive) = channel::<Vec<String>>();
        let id = client.connection_id();
        let thread = std::thread::spawn(move || {
            for statements in receive {
                let answer = say(&mut *client, &statements);
                let is_over = answer.is_err();
                if reports.send((index, answer)).is_err() || is_over {
                    return;
                }
            }
            client.close();
        });
        Actor {
            id,
            orders: Some(orders),
            thread: Some(thread),
            doing: Doing::Nothing,
            open: false,
            refused: false,
            later: VecDeque::new(),
        }
    }

    fn is_idle(&self) -> bool {
        self.doing == Doing::Nothing
    }

    fn order(&mut self, statements: Vec<String>, doing: Doing) {
        self.doing = doing;
        if let Some(orders) = &self.orders {
            // A thread that has gone has said why.
            let _ = orders.send(statements);
        }
    }

    fn roll_back(&mut self) {
        let was_open = std::mem::replace(&mut self.open, false);
        if was_open || self.refused {
            self.order(vec!["ROLLBACK".to_owned()], Doing::RollsBack);
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for actor in &mut self.actors {
            actor.orders = None;
            let thread = actor.thread.take();
            // Whoever still waits is ended by the server, or with it.
            if actor.is_idle()
                && let Some(thread) = thread
            {
                let _ = thread.join();
            }
        }
    }
}

/// Says statements one after the other, up to the first that is refused.
fn say(client: &mut dyn Client, statements: &[String]) -> Result<StepAnswer, WireError> {
    let mut answer = StepAnswer::Changed(0);
    for sql in statements {
        let is_query = sql.trim_start().get(..6).is_some_and(|w| w.eq_ignore_ascii_case("select"));
        let said = if is_query {
            few_rows(client, sql).map(StepAnswer::Rows)
        } else {
            client.run(sql).map(|outcome| StepAnswer::Changed(outcome.affected))
        };
        answer = match said {
            Ok(answer) => answer,
            Err(WireError::Server(error)) => {
                let (code, sqlstate, message) = (error.code, error.sqlstate, error.message.into());
                return Ok(StepAnswer::Refused { code, sqlstate, message });
            }
            Err(fatal) => return Err(fatal),
        };
    }
    Ok(answer)
}

/// Rows of an answer that is kept for the story: tables of cases have a few.
const STEP_ROWS_MAX: usize = 1_000;
/// Bytes of all their values.
const STEP_BYTES_MAX: usize = 64 << 10;

/// The rows of an answer that outlives the next one. Connections bound what they hold at a time,
/// and stories hold the answers of all their steps.
///
/// # Errors
/// [`WireError::Protocol`] for more than a table of a case can have; the others of the connection.
pub(crate) fn few_rows(
    client: &mut dyn Client,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, WireError> {
    let rows = client.query(sql)?.rows;
    match excess(&rows) {
        None => Ok(rows),
        Some(excess) => Err(WireError::Protocol(format!("{sql} has {excess}"))),
    }
}

/// What there is too much of, where there is.
fn excess(rows: &[Vec<Option<String>>]) -> Option<String> {
    let bytes: usize = rows.iter().flatten().flatten().map(String::len).sum();
    (rows.len() > STEP_ROWS_MAX || bytes > STEP_BYTES_MAX).then(|| {
        format!(
            "{} rows of {bytes} bytes; the answer to a step has at most {STEP_ROWS_MAX} of \
             {STEP_BYTES_MAX}",
            rows.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_stories_are_as_small_as_tables_of_cases() {
        let row = |value: &str| vec![Some(value.to_owned()), None];
        assert_eq!(excess(&vec![row("17"); STEP_ROWS_MAX]), None);
        let many = excess(&vec![row("17"); STEP_ROWS_MAX + 1]).unwrap();
        assert!(many.starts_with("1001 rows of 2002 bytes"), "{many}");
        let long = excess(&[row(&"x".repeat(STEP_BYTES_MAX + 1))]).unwrap();
        assert!(long.starts_with("1 rows of 65537 bytes"), "{long}");
    }
}
