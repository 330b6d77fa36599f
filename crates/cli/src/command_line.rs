//! The command line, defined once: help, errors and completions come from here.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::args::{
    Compare, Demo, Doctor, Loads, Place, Published, Report, Resume, RunFile, Runs, Show,
};
use crate::check::Check;
use crate::counted::Counted;
use crate::deadlocks::Deadlocks;
use crate::diff::Diff;
use crate::engine::EngineFlags;
use crate::explain::Explain;
use crate::history::History;
use crate::model::ModelFlags;
use crate::profile::ProfileFlags;
use crate::server::Server;
use crate::verify::Verify;

/// A dynamometer for transactional databases: which of two servers is slower, by how much, how
/// sure.
#[derive(Debug, Parser)]
#[command(name = "dbdyno", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two servers, or two stored runs
    Compare(Box<Compare>),
    /// Carry out an experiment that is written in a file
    Run(RunFile),
    /// Hold what texts printed against what was measured here
    Published(Published),
    /// Find where the difference of two servers comes from, by experiment
    Explain(Box<Explain>),
    /// Compare processor profiles of two servers, function by function
    Profile(ProfileFlags),
    /// Look at which anomalies occur at which isolation level
    Verify(Box<Verify>),
    /// Cluster the deadlocks of error logs by statements and locks
    Deadlocks(Deadlocks),
    /// Decide which isolation levels a history of transactions has, with proofs
    Check(Check),
    /// Explore an isolation protocol as a state machine
    Model(Box<ModelFlags>),
    /// Show in what two servers are unequal, without measuring
    Diff(Diff),
    /// Go on with a run that was interrupted or killed
    Resume(Resume),
    /// Compare two designs of the embedded engine: one minute, nothing to install
    Demo(Demo),
    /// Check whether this host is fit to measure on: what to change, what it costs to ignore it
    Doctor(Doctor),
    /// List the stored runs
    Runs(Runs),
    /// Show a stored run
    Show(Show),
    /// Write a stored run as one HTML file that opens offline
    Report(Report),
    /// Find where figures changed from run to run, in the store or in a CSV file
    History(Box<History>),
    /// List the loads, or show what one of them does
    Loads(Loads),
    /// Ask an embedded arm, for being counted
    #[command(hide = true)]
    Counted(Counted),
    /// Write what a shell needs to complete this command line
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a directory
    Man {
        /// The directory: dbdyno.1, dbdyno-compare.1 and so on
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
    },
    /// Serve the reference engine to clients of MySQL
    Engine(EngineFlags),
    /// Get servers, keep some running in the background, see what is here
    Server(Server),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    /// What workflows in `examples/ci` run is a command that there is.
    #[test]
    fn commands_of_the_examples_are_understood() {
        for file in ["github.yml", "gitlab.yml"] {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ci/");
            let text = std::fs::read_to_string(format!("{path}{file}")).unwrap();
            let lines = text.lines().map(|line| line.trim().trim_start_matches(['-', ' ']));
            let lines = lines.map(|line| line.trim_start_matches("run: "));
            let commands: Vec<&str> = lines.filter(|line| line.starts_with("dbdyno ")).collect();
            assert_eq!(commands.len(), 3, "{file}: {commands:?}");
            for command in commands {
                let command = command.split(" > ").find(|part| !part.ends_with(".xml")).unwrap();
                let quoted = command.replace("'rqps > 0.95'", "rqps>0.95");
                let quoted = quoted.replace("'rqps", "rqps>0.95");
                let words: Vec<&str> = quoted.split_whitespace().collect();
                assert!(Args::try_parse_from(&words).is_ok(), "{file}: {words:?}");
            }
        }
    }
}
