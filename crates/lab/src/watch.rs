//! What an experiment tells while it runs.

use std::time::Duration;

use dbdyno_model::{ArmIndex, Round, RunId, Warning};

/// A sign of life.
#[derive(Debug)]
pub enum Progress<'a> {
    /// Something is being done to an arm that may take a while: a download, a start.
    Stage(ArmIndex, &'a str),
    /// Something that an arm's server is told because the user wants it, in the server's words.
    Told(ArmIndex, &'a str),
    /// An image of an arm's tables that stays on this host, with its size.
    ImageKept(ArmIndex, &'a str),
    /// Rows written to an arm.
    Filling {
        /// Which arm.
        arm: ArmIndex,
        /// Rows written.
        done: u64,
        /// Rows to write.
        total: u64,
    },
    /// Clients connect, which takes a while where there are many.
    Connecting {
        /// Which arm.
        arm: ArmIndex,
        /// Clients that have got in.
        inside: u32,
        /// Clients of the round.
        clients: u32,
        /// Time until all are in, as far as it can be told.
        left: Option<Duration>,
    },
    /// Measuring begins; from now on results are stored under this name.
    Begun(&'a RunId),
    /// A round of a cell begins.
    RoundBegins {
        /// Rounds measured so far, over all cells.
        done: u32,
        /// Rounds of the plan.
        total: u32,
        /// Measuring time that is left.
        left: Duration,
        /// Whether results may end it sooner.
        may_end_sooner: bool,
        /// Name of the load.
        load: &'a str,
        /// Number of clients.
        clients: u32,
    },
    /// A round has been measured and stored.
    RoundDone {
        /// Of which arm.
        arm: ArmIndex,
        /// What was measured.
        round: &'a Round,
        /// The processes that the arm's server began with; none where it lives in our threads, or
        /// on another host.
        server: &'a [u32],
    },
    /// A search for the highest rate is done: its path.
    Searched(&'a str),
    /// What is tried next in order to explain a difference.
    Trial(&'a str),
    /// What was measured is read, which takes a while.
    Reading(&'a str),
    /// Which of the stories of transactions is played.
    Playing(&'a str),
    /// Something that the user should know now; it is stored with the run, too.
    Warning(&'a Warning),
}

/// Rounds of a run: how far it is.
pub(crate) struct Counter {
    /// Measured.
    pub(crate) done: u32,
    /// To be measured.
    pub(crate) total: u32,
}

/// Whoever listens.
pub trait Watch {
    /// Takes a sign of life.
    fn report_progress(&mut self, progress: Progress<'_>);
}

/// Tells what is being done for an arm, in the words of whoever does it.
pub(crate) fn stages(watch: &mut dyn Watch, arm: ArmIndex) -> impl FnMut(&str) {
    move |text| watch.report_progress(Progress::Stage(arm, text))
}

/// Time that is left as people say it: `40 s`, `2.6 min`, `12 min`, `3.5 h`. A few minutes have a
/// decimal: of two minutes a rounded one would be a quarter.
pub fn left_for_people(left: Duration) -> String {
    let minutes = left.as_secs_f64() / 60.0;
    if (1.5..10.0).contains(&minutes) { format!("{minutes:.1} min") } else { for_people(left) }
}

/// A duration as people say it: `40 s`, `12 min`, `3.5 h`.
pub fn for_people(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..1.0 => format!("{seconds:.1} s"),
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}
