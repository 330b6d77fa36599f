//! How often the statistics are right, counted: the text of `docs/CALIBRATION.md`.
//!
//! ```text
//!   cargo xtask calibrate             counts anew what is simulated, and writes the page
//!   cargo xtask calibrate runs        counts whole runs on models, and writes the section of them
//!   cargo xtask calibrate measure …   measures on real servers, keeps it in docs/calibration, and
//!                                     writes the sections about that
//! ```
//!
//! What is simulated is seeded: it changes when the arithmetic does, and never by chance.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod changes;
mod families;
mod fits;
mod hosts;
mod intervals;
mod measured;
mod sequences;
mod table;
mod verdicts;
mod whole;

use std::path::Path;

const HEAD: &str = "\
# Calibration

This page counts how often verdicts and intervals of dbdyno are wrong.
`cargo xtask calibrate` writes it; simulations have fixed seeds and repeat exactly.
`cargo xtask calibrate runs` repeats the whole runs on models.
`cargo xtask calibrate measure BASE TEST TIMES [flags of compare]` adds comparisons on real \
servers to `docs/calibration/measured.csv`, from which the last sections are made.
";

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(folder) = arguments.next() else {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("calibrate: give the folder docs/calibration; see the top of this file");
        return;
    };
    if arguments.next().as_deref() == Some("measured") {
        let folder = Path::new(&folder);
        return print!("{}{}", whole::section(folder), measured::section(folder));
    }
    println!("{HEAD}");
    print!("{}", verdicts::section());
    print!("{}", sequences::section());
    print!("{}", families::section());
    print!("{}", intervals::section());
    print!("{}", fits::section());
    print!("{}", changes::section());
    print!("{}", whole::section(Path::new(&folder)));
    print!("{}", measured::section(Path::new(&folder)));
}
