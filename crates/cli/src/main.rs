//! dbdyno, a dynamometer for transactional databases: the command line.
//!
//! ```text
//!   command_line ──▶ a command ──▶ lab, judge, store, report     data to stdout
//!                        │                                       talk to stderr
//!                        └──▶ exit     0 holds · 1 fails · 2 could not · 3 cannot tell
//! ```
//!
//! This is the only crate that prints, prompts or exits.

mod answer;
mod args;
mod arms;
mod check;
mod ci;
mod command_line;
mod compare;
mod counted;
mod deadlocks;
mod demo;
mod diff;
mod doctor;
mod engine;
mod exit;
mod experiment;
mod explain;
mod explanation;
mod failure;
mod files;
mod findings;
mod history;
mod insert_benchmark;
mod levels;
mod load_names;
mod loads;
mod login;
mod manual;
mod metrics;
mod model;
mod no_answer;
mod objects;
mod once;
mod online;
mod origin;
mod output;
mod plan;
mod printed;
mod profile;
mod progress;
mod published;
mod rand;
mod random_transactions;
mod screen;
mod server;
mod server_list;
mod session;
mod stored;
mod until;
mod values;
mod verify;
mod watch;
mod witnesses;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue};
use dbdyno_model::{mask_line, mask_message};

use command_line::{Args, Command};
use exit::Exit;
use failure::Failure;
use no_answer::ReadByPrograms;

fn main() -> ExitCode {
    files::keep_private();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(wanted) => return report(told(wanted), None),
    };
    let read = ReadByPrograms::of_command(&args.command);
    let outcome = match args.command {
        Command::Compare(compare) => compare::run(&args.place, &compare),
        Command::Explain(flags) => explain::run(&args.place, &flags),
        Command::Profile(flags) => profile::run(&args.place, &flags),
        Command::Verify(flags) if flags.online => online::run(&args.place, &flags),
        Command::Verify(flags) if flags.is_random() => {
            random_transactions::run(&args.place, &flags)
        }
        Command::Verify(flags) => verify::run(&args.place, &flags),
        Command::Deadlocks(flags) => deadlocks::run(&flags),
        Command::Check(flags) => check::run(&flags),
        Command::Model(flags) => model::run(&args.place, &flags),
        Command::Diff(diff) => diff::run(&args.place, &diff),
        Command::Resume(resume) => compare::resume(&args.place, &resume),
        Command::Published(flags) => published::show_published(&args.place, &flags),
        Command::Run(run) => experiment::run(&args.place, &run),
        Command::Demo(demo) => demo::run(&args.place, &demo),
        Command::Doctor(doctor) => doctor::run(&args.place, &doctor),
        Command::Runs(runs) => stored::list_runs(&args.place, &runs),
        Command::Show(show) => stored::show_run(&args.place, &show),
        Command::Report(report) => stored::write_report(&args.place, &report),
        Command::History(history) => history::run(&args.place, &history),
        Command::Loads(loads) => loads::run(&loads),
        Command::Metrics(metrics) => metrics::run(&metrics),
        Command::Watch(watch) => watch::run(&args.place, &watch),
        Command::Counted(counted) => counted::run(&args.place, &counted),
        Command::Completions { shell } => manual::print_completions(shell),
        Command::Man { directory } => manual::write_pages(&directory),
        Command::Engine(flags) => engine::run(&args.place, &flags),
        Command::Server(server) => server::run(&args.place, &server),
    };
    report(outcome, read)
}

/// Help or the version on stdout, or on stderr what cannot be meant, without what may be a password
/// in it.
fn told(mut wanted: clap::Error) -> Result<Exit, Failure> {
    let masked: Vec<(ContextKind, ContextValue)> = wanted
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(mask_line(text)))),
            _ => None,
        })
        .collect();
    for (kind, value) in masked {
        wanted.insert(kind, value);
    }
    if wanted.use_stderr() {
        // What a value was refused for repeats it.
        output::say_text(mask_message(&wanted.render().to_string()).trim_end());
        return Ok(Exit::CouldNot);
    }
    match wanted.print() {
        Ok(()) => Ok(Exit::Holds),
        Err(error) => Err(Failure::Write("to stdout".to_owned(), error)),
    }
}

/// Says what went wrong, if anything, also to a program that reads the answer, and ends the
/// program.
fn report(outcome: Result<Exit, Failure>, read: Option<ReadByPrograms>) -> ExitCode {
    let exit = outcome.unwrap_or_else(|failure| {
        let reason = mask_message(&failure.to_string());
        output::say_error(&reason);
        let exit = failure.exit();
        if let Some(read) = read.filter(|_| exit != Exit::Holds) {
            // Where stdout is gone, stderr and the exit code have told it.
            let _gone = read.print_failure(&reason);
        }
        exit
    });
    // What was cut off fails in many ways, also where others of the same command go on.
    let exit = match exit {
        Exit::CouldNot if session::is_stopping() => Exit::Interrupted,
        exit => exit,
    };
    ExitCode::from(exit.code())
}
