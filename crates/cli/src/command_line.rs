//! The command line, defined once: help, errors and completions come from here.

use clap::{Parser, Subcommand};

use crate::args::{Compare, Demo, Doctor, Loads, Place, Report, Resume, RunFile, Runs, Show};
use crate::counted::Counted;
use crate::deadlocks::Deadlocks;
use crate::diff::Diff;
use crate::explain::Explain;
use crate::history::History;
use crate::profile::ProfileFlags;
use crate::server::Server;

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
    /// Find where the difference of two servers comes from, by experiment
    Explain(Box<Explain>),
    /// Compare processor profiles of two servers, function by function
    Profile(ProfileFlags),
    /// Cluster the deadlocks of error logs by statements and locks
    Deadlocks(Deadlocks),
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
}
