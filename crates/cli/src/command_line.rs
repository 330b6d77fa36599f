//! The command line, defined once: help, errors and completions come from here.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::args::{
    Compare, Demo, Doctor, Loads, Metrics, Place, PublishedFlags, Report, Resume, RunFile, Runs,
    Show,
};
use crate::check::Check;
use crate::counted::CountedFlags;
use crate::deadlocks::Deadlocks;
use crate::diff::Diff;
use crate::engine::EngineFlags;
use crate::explain::Explain;
use crate::history::History;
use crate::model::ModelFlags;
use crate::profile::ProfileFlags;
use crate::screen;
use crate::server::Server;
use crate::verify::Verify;

/// A dynamometer for transactional databases: which of two servers is slower, by how much, how
/// sure.
#[derive(Debug, Parser)]
#[command(
    name = "dbdyno",
    version,
    arg_required_else_help = true,
    term_width = screen::width()
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub place: Place,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compare two or more servers, or two stored runs
    ///
    /// A server that dbdyno downloads and starts is mysql:8.0, mariadb:11.8 or postgres:17
    /// (`dbdyno server ls` lists the releases; postgres:17@maven names the source as well). Options
    /// follow a question mark: 'mysql:8.0?binlog=on&durability=full' (`dbdyno server options`
    /// explains them).
    ///
    /// A server that is running already is mysql://USER@HOST/DB or postgres://USER@HOST/DB.
    /// Passwords may come from the files of the servers' own clients, from MYSQL_PWD and
    /// PGPASSWORD, or from a prompt. ?tls=off, preferred, required, verify-ca or verify-identity
    /// chooses the encryption; the names that the servers' own clients use are understood, too.
    ///
    /// Embedded databases are sqlite:?PRAGMA=VALUE, rocksdb:?preset=cached|buffered|direct and
    /// engine:?FIELD=VALUE, the reference engine with one mechanism changed (view, wake, log, gate
    /// and others; an error lists them). A stored run is @last, @NAME or the beginning of its id.
    Compare(Box<Compare>),
    /// Run an experiment that a file describes, and check the result against what the file expects
    ///
    /// The file names the arms and flags of `dbdyno compare`; flags on the command line override
    /// those of the file. Exit code 0: all results are as expected; 1: one is proved to be
    /// otherwise; 3: one is undecided.
    Run(RunFile),
    /// Compare published figures with the figures that were measured here
    ///
    /// A file of an experiment can contain printed ratios (`published`) and say which arm stands
    /// for which release. They are compared with the newest run of the experiment: of the full
    /// form, or of the short form if there is no other.
    Published(PublishedFlags),
    /// Find the cause of a difference between two servers by experiment
    ///
    /// TEST is started with groups of its differences (settings, defaults of the release, switches
    /// of the planner) set back to the values of BASE, and is measured or counted again, until the
    /// few settings that cause the difference are known, and how much is left for the code. Trials
    /// are stored: `explain RUN` continues where it stopped.
    Explain(Box<Explain>),
    /// Compare processor profiles of two servers, function by function
    ///
    /// Both servers run the load in turn while `perf record` samples the processors, in several
    /// starts of the servers. Functions are compared by their cost per operation. The weights of
    /// all functions add up to the whole change.
    ///
    /// --base and --test read profiles of other tools instead: files of `perf record`, stacks
    /// (collapsed, `main;work;read 12`, or as `perf script`, bpftrace or bcc prints them), the
    /// output of `perf report --stdio` or `pprof -top`, and backtraces of all threads (gdb,
    /// pt-pmp). Only what counts the same is compared. FILE@OPERATIONS says how many operations ran
    /// during the profile. With three or more profiles of each side, the intervals include the
    /// variation between profiles.
    Profile(ProfileFlags),
    /// Test which anomalies occur at which isolation level
    ///
    /// By default, clients run random transactions on few rows (--kind chooses the kind of rows)
    /// and record what they read and write. The history is judged by what the server promises of
    /// each level: the level holds, proved by an order of all transactions that was replayed, or it
    /// is broken, proved by a shortest cycle.
    ///
    /// --cases plays published cases of two or three sessions, statement by statement: those of
    /// Hermitage, of Jepsen's analysis of MySQL 8.0.34 and others. It reports whether the anomaly
    /// was seen, or what prevented it: a wait, an error, or a snapshot. Whether a session waits is
    /// asked of the server and not concluded from time. --interleavings plays all orders of small
    /// transactions, once up to symmetry, and counts which complete at once, which wait, and which
    /// are refused although serializability allows them. Exit code 1: an anomaly was seen that the
    /// server is known to prevent.
    Verify(Box<Verify>),
    /// Group the deadlocks of error logs by statements and locks
    ///
    /// The files are error logs of MySQL and MariaDB with innodb_print_all_deadlocks=ON, output of
    /// SHOW ENGINE INNODB STATUS (which has the latest deadlock only), or logs of PostgreSQL, as
    /// they are or out of a store of logs. A deadlock that is told several times counts once.
    /// Literals of statements are not printed.
    Deadlocks(Deadlocks),
    /// Decide which isolation levels a history of transactions satisfies, with a proof
    ///
    /// Exit code 0: all levels in question hold; 1: one is broken; 3: one could not be decided.
    Check(Check),
    /// Explore an isolation protocol as a state machine: all executions of a few transactions
    ///
    /// Without a name the protocols are listed. With one, all states are visited breadth first, and
    /// every outcome is judged by the level that the protocol promises: the level holds, or it is
    /// broken and a shortest execution that breaks it is shown. Exit code 1: the level is broken;
    /// 3: there are more states than --max-states.
    Model(Box<ModelFlags>),
    /// Show in what two servers differ, without measuring
    ///
    /// What is compared on purpose (versions, settings of a target) is listed apart from
    /// differences that would mislead; --rules prints the rule for each. Servers are written as for
    /// `dbdyno compare`. With --load, tables are filled, and plans and answers are compared, too.
    Diff(Diff),
    /// Continue a run that was interrupted, or measure undecided cells for longer
    ///
    /// The plan is that of the run, and measured rounds are kept. Servers and tables are created
    /// anew, and earlier writes are repeated unmeasured. With --rounds +N, --until decided or
    /// --limit, undecided cells are measured for longer; they are then judged after each start
    /// (interim analyses), with an interval that stays valid.
    Resume(Resume),
    /// Compare two designs of the embedded engine: one minute, nothing to install
    Demo(Demo),
    /// Check whether this host is fit to measure on: what to change, what it costs to ignore it
    ///
    /// Takes some seconds: it reads what the kernel reports, and times small fixed pieces of work.
    /// Exit code 3: something makes any measurement on this host useless.
    Doctor(Doctor),
    /// List the stored runs
    Runs(Runs),
    /// Show a stored run
    Show(Show),
    /// Write a stored run as one HTML file that opens offline
    Report(Report),
    /// Find change points of figures from run to run, in the store or in a CSV file
    ///
    /// Runs of the same load, clients and tables on the same kind of server form a series, whatever
    /// the version. If they share a base arm, the ratio to it is used, so that a change of the host
    /// does not count as a change of the server. A change is shown with its size, its place, and
    /// what else changed there. In a series without a change, one is found with a probability of 1
    /// %.
    History(Box<History>),
    /// List the loads, or show what one of them does
    ///
    /// A load is a mix of statements that clients ask over and over, with the tables that they ask:
    /// dbdyno makes and fills these on each server before it measures. `dbdyno loads show NAME`
    /// shows statements, tables and an example. A suite is a list of loads. A load of your own is a
    /// TOML file, of which docs/guide/custom-loads.md lists every key.
    Loads(Loads),
    /// Say what a metric of a server means, and what moves it
    ///
    /// A rate raises utilisation, utilisation pushes back, full utilisation makes waits, and waits
    /// that take too long make errors; response time is what all of it comes to. Each metric has
    /// its class, its unit, a sentence on what it is and one on what moves it, and the place where
    /// it stands in MySQL, MariaDB and PostgreSQL.
    Metrics(Metrics),
    /// Watch servers that run: a line each second, and what each metric was and means
    ///
    /// It asks what the server tells of itself, each question at most as often as half a per cent
    /// of one processor allows, and changes nothing. A server that goes away is tried again. At the
    /// end stands what each metric was, by class, with what it means; `dbdyno metrics NAME` says
    /// more.
    Watch(crate::watch::Watch),
    /// Run a load on an embedded arm, under callgrind
    #[command(hide = true)]
    Counted(CountedFlags),
    /// Print the completion script of a shell
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
    /// List and download servers, keep servers running in the background
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
