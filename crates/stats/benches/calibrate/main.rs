//! How often the statistics are right, counted: the text of `docs/CALIBRATION.md`.
//!
//! ```text
//!   cargo xtask calibrate            counts anew what is simulated, and writes the page
//!   cargo xtask calibrate aa …       measures on real servers, and adds to docs/calibration
//! ```
//!
//! Everything here is seeded: the page changes when the arithmetic does, and never by chance.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod hosts;
mod table;
mod verdicts;

fn main() {
    println!("{}", verdicts::section());
}
