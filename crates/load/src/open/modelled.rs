//! The open loop of a model: one line before as many counters as there are connections, exactly.

use dbdyno_model::OpenLoop;

use super::account::{Account, Times, conclude_round};
use super::spec::OpenSpec;
use crate::book::{self, Books};
use crate::crowd::open_sessions;
use crate::error::LoadError;
use crate::mock::MockArm;
use crate::round::{Moment, RoundMeasurement, RoundSpec};
use crate::session::ClientSession;
use crate::time::duration_ns;

/// Runs one round; see [`super::run_open`].
pub(super) fn run(
    arm: &MockArm,
    spec: &OpenSpec<'_>,
    observe: &mut dyn FnMut(Moment),
) -> Result<(RoundMeasurement, OpenLoop), LoadError> {
    let round = RoundSpec { kept: None, ..spec.round };
    arm.accept_clients(round.stop)?;
    let mut sessions = open_sessions(&round, observe)?;
    let times = book::Times::ServiceAndResponse;
    let books = Books::new(round.load.filing(), times, round.window, sessions.len());
    let accounts: Vec<Account> = (0..sessions.len())
        .map(|number| Account::new(round.window, books.of_client(number)))
        .collect();
    let begins_ns = arm.clock().now_ns();
    let open_ns = begins_ns + duration_ns(round.lead_in);
    let mut line = Line {
        free_ns: vec![-(duration_ns(round.lead_in) as i64); sessions.len()],
        accounts,
        ended: [0, 0],
    };
    line.serve(arm, spec, &mut sessions, open_ns)?;
    arm.record_events(begins_ns, duration_ns(round.lead_in), line.ended[0]);
    let (started_unix_ms, opened) = (arm.clock().unix_ms(), arm.total_usage());
    observe(Moment::Opened);
    arm.record_events(open_ns, duration_ns(round.window), line.ended[1]);
    observe(Moment::Closed);
    let (filing, window) = (round.load.filing(), round.window);
    let (measured, open) = conclude_round(
        line.accounts,
        filing,
        &books,
        started_unix_ms,
        duration_ns(window),
        window,
    )?;
    Ok((
        RoundMeasurement { usage: arm.usage_since(opened, round.clients, window), ..measured },
        open,
    ))
}

/// Connections that take events in the order in which they become free.
struct Line {
    free_ns: Vec<i64>,
    accounts: Vec<Account>,
    /// Events that ended before the window and in it.
    ended: [u64; 2],
}

impl Line {
    fn serve(
        &mut self,
        arm: &MockArm,
        spec: &OpenSpec<'_>,
        sessions: &mut [ClientSession<'_>],
        open_ns: u64,
    ) -> Result<(), LoadError> {
        let round = &spec.round;
        let close_ns = duration_ns(round.window) as i64;
        let give_up_ns = close_ns + duration_ns(spec.drain) as i64;
        let mut speed = arm.round_speed(round.load, round.clients, round.slow, round.lead_in);
        let mut schedule = spec.schedule.clone();
        let clients = u64::from(round.clients);
        loop {
            let number = schedule.next_number();
            let Some(intended_ns) = schedule.next_ns().filter(|ns| *ns < close_ns) else { break };
            let (first, free_ns) = first_free(&self.free_ns);
            let (client, operation) = (number % clients, round.first_operation + number / clients);
            let session = &mut sessions[first];
            if free_ns >= give_up_ns {
                let kind = session.kind_of(client as u32, operation);
                self.accounts[first].count_unanswered(kind, intended_ns, give_up_ns);
                continue;
            }
            session.make_as(client as u32, operation);
            let answer = session.ask_operation(operation)?;
            let sent_ns = intended_ns.max(free_ns);
            let at_ns = open_ns.saturating_add_signed(sent_ns);
            let end_ns = sent_ns + arm.event_ns(&mut speed, at_ns) as i64;
            self.accounts[first]
                .count_event(Times { intended_ns, free_ns, sent_ns, end_ns }, &answer);
            self.free_ns[first] = end_ns;
            self.ended[0] += u64::from(end_ns < 0);
            self.ended[1] += u64::from((0..close_ns).contains(&end_ns));
        }
        Ok(())
    }
}

fn first_free(free_ns: &[i64]) -> (usize, i64) {
    let first = free_ns.iter().copied().enumerate().min_by_key(|(_, ns)| *ns);
    first.expect("a round has a client")
}
