//! What the response times of a schedule must be, by simulating the queue exactly.
//!
//! One line, `servers` counters, first come first served; event `k` needs `service_ns[k]`. A stall
//! closes the whole house: it begins when its event reaches a counter, and until its end nobody's
//! service begins, nor its own. What is being served meanwhile goes on.
//!
//! Nothing of the generator is used here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The house is closed for `lasts_ns` from the moment at which event `event` reaches a counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    pub event: usize,
    pub lasts_ns: i64,
}

/// What happened to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visit {
    pub intended_ns: i64,
    /// When it reached a counter.
    pub sent_ns: i64,
    pub end_ns: i64,
}

/// Simulates; `intended_ns` must not go back.
pub(crate) fn simulate(
    intended_ns: &[i64],
    service_ns: &[i64],
    servers: usize,
    stalls: &[Stall],
) -> Vec<Visit> {
    let mut free: BinaryHeap<Reverse<i64>> = (0..servers).map(|_| Reverse(i64::MIN)).collect();
    let mut closed_until = i64::MIN;
    let mut visits = Vec::with_capacity(intended_ns.len());
    for (event, (&intended_ns, &service_ns)) in intended_ns.iter().zip(service_ns).enumerate() {
        let Reverse(first_free) = free.pop().expect("there is a server");
        let sent_ns = intended_ns.max(first_free);
        for stall in stalls.iter().filter(|stall| stall.event == event) {
            closed_until = closed_until.max(sent_ns + stall.lasts_ns);
        }
        let end_ns = sent_ns.max(closed_until) + service_ns;
        free.push(Reverse(end_ns));
        visits.push(Visit { intended_ns, sent_ns, end_ns });
    }
    visits
}
