//! dbdyno, a dynamometer for transactional databases: the command line.
//!
//! ```text
//!   args ──▶ command ──▶ lab, store, report      data to stdout
//!                │                               talk to stderr
//!                └──▶ exit                       0 holds · 1 fails · 2 could not · 3 cannot tell
//! ```
//!
//! This is the only crate that prints, prompts or exits.

mod args;
mod compare;
mod counted;
mod demo;
mod diff;
mod doctor;
mod exit;
mod experiment;
mod failure;
mod history;
mod insert_benchmark;
mod levels;
mod loads;
mod output;
mod plan;
mod progress;
mod rand;
mod server;
mod session;
mod stored;
mod until;

use clap::Parser as _;

fn main() -> std::process::ExitCode {
    let args = args::Args::parse();
    exit::report(match args.command {
        args::Command::Compare(compare) => compare::run(&args.place, &compare),
        args::Command::Diff(diff) => diff::run(&args.place, &diff),
        args::Command::Resume(resume) => compare::resume(&args.place, &resume),
        args::Command::Run(run) => experiment::run(&args.place, &run),
        args::Command::Demo(demo) => demo::run(&args.place, &demo),
        args::Command::Doctor(doctor) => doctor::run(&args.place, &doctor),
        args::Command::Runs(runs) => stored::runs(&args.place, &runs),
        args::Command::Show(show) => stored::show(&args.place, &show),
        args::Command::Report(report) => stored::report(&args.place, &report),
        args::Command::History(history) => history::run(&args.place, &history),
        args::Command::Loads(loads) => loads::run(&loads),
        args::Command::Counted(counted) => counted::run(&args.place, &counted),
        args::Command::Server(server) => server::run(&args.place, &server),
    })
}
