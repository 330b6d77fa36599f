//! Rounds of a model in the closed loop, one after the other or in slices that take turns.
//!
//! ```text
//!   one client   ├─ event ─┼─ event ─┼─ rest ─┼─ event ─┤     times from `Speed`, answers from
//!   another      ├──── event ────┼──── event ────┼─ …         a session, as of a server
//!                     lead-in    │ open       close │        looks: the clock is moved there
//! ```

use std::sync::Arc;
use std::time::Duration;

use dbdyno_model::{ArmIndex, Arms};
use dbdyno_workload::Filing;

use super::speed::Speed;
use super::{MockArm, UsedByMock};
use crate::answer::EventAnswer;
use crate::book::{Book, Books, Times};
use crate::connector::Connector;
use crate::crowd::open_sessions;
use crate::error::LoadError;
use crate::round::{Moment, RoundMeasurement, RoundSpec};
use crate::session::ClientSession;
use crate::slices::Slices;
use crate::tally::{Edges, Tally, add_up};
use crate::time::duration_ns;

/// Runs one round; see [`crate::run_round`].
pub(crate) fn run_round(
    arm: &MockArm,
    spec: &RoundSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<RoundMeasurement, LoadError> {
    arm.accept_clients(spec.stop)?;
    let mut sessions = sessions_of(spec, observe)?;
    let books = Books::new(spec.load.filing(), Times::Service, spec.window, sessions.len());
    let mut speed = speed_of(arm, spec);
    let begins_ns = arm.clock().now_ns();
    let open_ns = begins_ns + duration_ns(spec.lead_in);
    let span = Span { begins_ns, open_ns, close_ns: open_ns + duration_ns(spec.window) };
    let (mut tallies, mut before) = (Vec::with_capacity(sessions.len()), 0);
    for (client, session) in sessions.iter_mut().enumerate() {
        let asker = Asker { arm, spec, speed: &mut speed, session, book: books.of_client(client) };
        let (tally, early) = asker.run(&span)?;
        before += early;
        tallies.push(Ok(tally));
    }
    let counted: u64 = tallies.iter().flatten().map(|tally: &Tally| tally.events).sum();
    arm.record_events(begins_ns, duration_ns(spec.lead_in), before);
    let started_unix_ms = arm.clock().unix_ms();
    let opened = arm.total_usage();
    observe(Moment::Opened);
    arm.record_events(open_ns, duration_ns(spec.window), counted);
    observe(Moment::Closed);
    let window = spec.window;
    let filing = spec.load.filing();
    let measured = add_up(tallies, filing, &books, started_unix_ms, duration_ns(window), window)?;
    Ok(RoundMeasurement { usage: arm.usage_since(opened, spec.clients, window), ..measured })
}

fn speed_of(arm: &MockArm, spec: &RoundSpec<'_>) -> Speed {
    arm.round_speed(spec.load, spec.clients, spec.slow, spec.lead_in)
}

/// Connections that stay are no matter for a model: none of them is young.
pub(super) fn sessions_of<'a>(
    spec: &RoundSpec<'a>,
    observe: &mut dyn FnMut(Moment),
) -> Result<Vec<ClientSession<'a>>, LoadError> {
    open_sessions(&RoundSpec { kept: None, ..*spec }, observe)
}

/// A round in virtual time.
struct Span {
    begins_ns: u64,
    open_ns: u64,
    close_ns: u64,
}

/// A client in a round.
struct Asker<'r, 's, 'a> {
    arm: &'r MockArm,
    spec: &'r RoundSpec<'a>,
    speed: &'r mut Speed,
    session: &'s mut ClientSession<'a>,
    book: Option<Arc<Book>>,
}

impl Asker<'_, '_, '_> {
    /// Asks until the round is over; what was counted, and how many events came before that.
    fn run(mut self, span: &Span) -> Result<(Tally, u64), LoadError> {
        let spec = self.spec;
        let mut tally = Tally::new(spec.window, self.book.take());
        let mut edges = Edges::new(span.open_ns, span.close_ns, spec.clients);
        let mut operation = spec.first_operation;
        let number = self.session.client_number();
        let mut start_ns = span.begins_ns + duration_ns(spec.first_rest(number));
        // Clients do not go in step: but for the first, each is within its first event.
        let mut left = if number == 0 { 1.0 } else { 1.0 - self.speed.draw_phase() };
        let mut early = 0;
        while start_ns < span.close_ns {
            let (answer, took_ns) = self.event(operation, start_ns)?;
            let end_ns = start_ns + ((took_ns as f64 * left) as u64).max(1);
            let is_inside = end_ns >= span.open_ns;
            let end_ns = end_ns + if is_inside { self.speed.take_stall_ns() } else { 0 };
            left = 1.0;
            edges.note_event(start_ns, end_ns);
            if end_ns >= span.close_ns {
                break;
            }
            match end_ns.checked_sub(span.open_ns) {
                Some(since_open_ns) => tally.count(&answer, end_ns - start_ns, since_open_ns),
                None => early += 1,
            }
            let pause = spec.think.map_or(Duration::ZERO, |thinking| {
                thinking.pause(number, operation - spec.first_operation)
            });
            if !pause.is_zero() {
                edges.note_rest();
            }
            start_ns = end_ns + duration_ns(pause);
            operation += 1;
        }
        tally.edge_events = edges.edge_events();
        Ok((tally, early))
    }

    fn event(&mut self, operation: u64, at_ns: u64) -> Result<(EventAnswer, u64), LoadError> {
        self.session.make_operation(operation);
        let answer = self.session.ask_operation(operation)?;
        Ok((answer, self.arm.event_ns(self.speed, at_ns)))
    }
}

/// The models, if all arms are.
pub(crate) fn mock_arms<'a>(specs: &Arms<RoundSpec<'a>>) -> Option<Arms<&'a MockArm>> {
    let model = |spec: &RoundSpec<'a>| match spec.connector {
        Connector::Mock(arm) => Some(arm),
        _ => None,
    };
    Arms::try_from_fn(specs.indices(), |arm| model(&specs[arm]).ok_or(())).ok()
}

/// Runs the rounds of all arms in slices; see [`crate::run_interleaved`].
pub(crate) fn run_interleaved(
    arms: &Arms<&MockArm>,
    specs: &Arms<RoundSpec<'_>>,
    slices: &Slices,
    observe: &mut dyn FnMut(ArmIndex, Moment),
) -> Result<Arms<RoundMeasurement>, (ArmIndex, LoadError)> {
    let failed = |arm: ArmIndex| move |error: LoadError| (arm, error);
    let mut sessions = Arms::try_from_fn(specs.indices(), |arm| {
        arms[arm].accept_clients(specs[arm].stop).map_err(failed(arm))?;
        sessions_of(&specs[arm], &mut |moment| observe(arm, moment)).map_err(failed(arm))
    })?;
    let total = slices.window * slices.count;
    let books = Arms::from_fn(specs.indices(), |arm| {
        let clients = specs[arm].clients as usize;
        Books::new(specs[arm].load.filing(), Times::Service, total, clients)
    });
    let mut parts = Arms::from_fn(specs.indices(), |arm| Part {
        speed: speed_of(arms[arm], &specs[arm]),
        clients: (0..specs[arm].clients as usize)
            .map(|client| {
                SliceWork::new(Tally::new(total, books[arm].of_client(client)), &specs[arm])
            })
            .collect(),
        opened: UsedByMock::default(),
    });
    let mut started_unix_ms = 0;
    for turn in 0..slices.total_turns() {
        let arm = slices.arm_of(turn);
        if turn == slices.lead_ins() {
            started_unix_ms = arms[arm].clock().unix_ms();
            for (arm, part) in parts.iter_mut() {
                part.opened = arms[arm].total_usage();
                observe(arm, Moment::Opened);
            }
        }
        let slice = if turn < slices.lead_ins() {
            Slice { lead_in: specs[arm].lead_in, window: Duration::ZERO }
        } else {
            Slice { lead_in: slices.lead_in, window: slices.window }
        };
        parts[arm].turn(arms[arm], &mut sessions[arm], slice).map_err(failed(arm))?;
    }
    specs.iter().for_each(|(arm, _)| observe(arm, Moment::Closed));
    let mut measured = Arms::default();
    for (arm, part) in parts {
        let filing = specs[arm].load.filing();
        let sum = part.sum(arms[arm], filing, &books[arm], started_unix_ms);
        let sum = sum.map_err(failed(arm))?;
        measured.push(arm, sum);
    }
    Ok(measured)
}

/// One turn of an arm.
#[derive(Clone, Copy)]
struct Slice {
    lead_in: Duration,
    window: Duration,
}

/// What an arm does in its slices.
struct Part {
    speed: Speed,
    clients: Vec<SliceWork>,
    opened: UsedByMock,
}

/// What a client has done in its slices.
struct SliceWork {
    tally: Tally,
    operation: u64,
    counted_ns: u64,
    at_work_ns: u64,
}

impl SliceWork {
    fn new(tally: Tally, spec: &RoundSpec<'_>) -> SliceWork {
        SliceWork { tally, operation: spec.first_operation, counted_ns: 0, at_work_ns: 0 }
    }
}

impl Part {
    /// Lets all clients have a turn; a client counts from the end of one event to that of another,
    /// and the turn is over when the last one has its answer.
    fn turn(
        &mut self,
        arm: &MockArm,
        sessions: &mut [ClientSession<'_>],
        slice: Slice,
    ) -> Result<(), LoadError> {
        let begun_ns = arm.clock().now_ns();
        let open_ns = begun_ns + duration_ns(slice.lead_in);
        let (mut over_ns, mut events) = (begun_ns, 0);
        for (done, session) in self.clients.iter_mut().zip(sessions) {
            let mut event = |done: &mut SliceWork, at_ns: u64| {
                events += 1;
                session.make_operation(done.operation);
                let answer = session.ask_operation(done.operation)?;
                done.operation += 1;
                let took_ns = arm.event_ns(&mut self.speed, at_ns);
                Ok::<_, LoadError>((answer, at_ns + took_ns))
            };
            let mut start_ns = begun_ns;
            while start_ns < open_ns {
                start_ns = event(done, start_ns)?.1;
            }
            let opened_ns = start_ns;
            while start_ns < opened_ns + duration_ns(slice.window) {
                let (answer, end_ns) = event(done, start_ns)?;
                let since_open_ns = done.counted_ns + (end_ns - opened_ns);
                done.tally.count(&answer, end_ns - start_ns, since_open_ns);
                start_ns = end_ns;
            }
            if !slice.window.is_zero() {
                done.counted_ns += start_ns - opened_ns;
                done.at_work_ns += start_ns - begun_ns;
            }
            over_ns = over_ns.max(start_ns);
        }
        arm.record_events(begun_ns, over_ns - begun_ns, events);
        Ok(())
    }

    fn sum(
        self,
        arm: &MockArm,
        filing: &Filing,
        books: &Books,
        started_unix_ms: u64,
    ) -> Result<RoundMeasurement, LoadError> {
        let clients = self.clients.len().max(1) as u64;
        let mean = |ns: fn(&SliceWork) -> u64| self.clients.iter().map(ns).sum::<u64>() / clients;
        let (counted_ns, at_work_ns) = (mean(|done| done.counted_ns), mean(|done| done.at_work_ns));
        let tallies = self.clients.into_iter().map(|done| Ok(done.tally)).collect();
        let wall = Duration::from_nanos(counted_ns);
        let measured = add_up(tallies, filing, books, started_unix_ms, at_work_ns, wall)?;
        let usage = arm.usage_since(self.opened, clients as u32, Duration::from_nanos(at_work_ns));
        Ok(RoundMeasurement {
            usage: usage.scaled_by(counted_ns as f64 / at_work_ns.max(1) as f64),
            ..measured
        })
    }
}
