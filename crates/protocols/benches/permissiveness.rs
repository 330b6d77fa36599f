//! What it costs to count all sets of histories, and to explore a protocol: one core.
//!
//! ```text
//!   cargo bench -p dbdyno-protocols
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::time::Instant;

use dbdyno_cases::InterleavingSize;
use dbdyno_protocols::{LEVELS, NamedProtocol};

fn main() {
    let shape: InterleavingSize = "3x2x2".parse().expect("it is a shape");
    println!("results of {shape}, level by level: produced ÷ allowed, of all sets");
    for protocol in NamedProtocol::all() {
        let begun = Instant::now();
        let Some(counted) = protocol.result_permissiveness(shape, 1_000_000) else { continue };
        let took_ms = begun.elapsed().as_secs_f64() * 1e3;
        let told = |level: usize| {
            let sets = counted[level].sets;
            format!("{} ÷ {}", sets.produced, sets.allowed)
        };
        let told: Vec<String> = (0..LEVELS.len()).map(told).collect();
        let all = counted[0].sets.all;
        println!("{:17} {} of {all}: {took_ms:.0} ms", protocol.name(), told.join("  "));
    }
    for protocol in NamedProtocol::all() {
        let begun = Instant::now();
        let judged = protocol.judge_outcomes(shape, protocol.level(), 10_000_000);
        let took_ms = begun.elapsed().as_secs_f64() * 1e3;
        let (states, outcomes) = (judged.states, judged.outcomes);
        println!(
            "{:17} {states} states, {outcomes} outcomes judged: {took_ms:.0} ms",
            protocol.name()
        );
    }
}
