//! A limit of time that holds, whatever is being done when it has passed.
//!
//! ```text
//!   begin ──────────── limit ───────────── 1 s ────────────────────────▶ the work returns
//!     `stop` is the user's │ `stop` is set:  │ connections are cut off, and waiting for servers,
//!                          │ rounds and      │ programs and files ends
//!                          │ counting end    │
//! ```
//!
//! Time is that of the laboratory's clock. Models take none of the system's, so that the clock is
//! looked at whenever something is told; servers of which nothing is heard are looked after by a
//! thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use dbdyno_load::Clock;
use dbdyno_wire::AllCut;

use dbdyno_lab::{Lab, LabError, Progress, Watch};

/// How often the thread looks.
const LOOK: Duration = Duration::from_millis(50);
/// How long rounds that are told to stop may take before what they wait for is cut off.
const GRACE: Duration = Duration::from_secs(1);

/// The limit of a piece of work, and whether it is to end.
pub(crate) struct TimeLimit<'a> {
    clock: Clock,
    /// When it passes; never without a limit.
    due: Option<Duration>,
    /// Set by the user.
    asked: &'a AtomicBool,
    /// Set when it passes, or once the user has asked.
    stop: AtomicBool,
    has_passed: AtomicBool,
}

impl TimeLimit<'_> {
    /// Whether it has passed, the clock being looked at.
    pub(crate) fn has_passed(&self) -> bool {
        if self.due.is_some_and(|due| self.clock.now() >= due) {
            self.has_passed.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
        self.has_passed.load(Ordering::Relaxed)
    }

    /// Whether the user wants to stop.
    pub(crate) fn is_asked(&self) -> bool {
        let is_asked = self.asked.load(Ordering::Relaxed);
        if is_asked {
            self.stop.store(true, Ordering::Relaxed);
        }
        is_asked
    }

    /// Whether the work is to end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_asked() || self.has_passed()
    }

    /// Whether what failed did so because the work is to end.
    pub(crate) fn is_cause_of(&self, error: &LabError) -> bool {
        self.is_over() && !matches!(error, LabError::Store(_) | LabError::Judge(_))
    }

    /// Looks after the work until nobody holds the other end any more.
    fn look_after(&self, over: &std::sync::mpsc::Receiver<()>) {
        let is_real = matches!(self.clock, Clock::System(_));
        let mut cut = None;
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let is_late = !self.is_asked() && is_real && self.has_passed();
            let past = self.due.map_or(Duration::ZERO, |due| self.clock.now().saturating_sub(due));
            if is_late && past >= GRACE && cut.is_none() {
                cut = Some(AllCut::cut_connections());
            }
        }
    }
}

/// Looks at the clock whenever something is told.
struct Looking<'a> {
    outer: &'a mut dyn Watch,
    limit: &'a TimeLimit<'a>,
}

impl Watch for Looking<'_> {
    fn report_progress(&mut self, progress: Progress<'_>) {
        self.limit.is_over();
        self.outer.report_progress(progress);
    }
}

/// Does `work` in a laboratory that is stopped when this limit has passed, from now on.
///
/// # Errors
/// Those of the work, and a system that gives no thread.
pub(crate) fn with_time_limit<T>(
    lab: &mut Lab<'_>,
    limit: Option<Duration>,
    work: impl FnOnce(&mut Lab<'_>, &TimeLimit<'_>) -> Result<T, LabError>,
) -> Result<T, LabError> {
    let clock = lab.clock.clone();
    let due = limit.map(|limit| clock.now().saturating_add(limit));
    let (stop, has_passed) = (AtomicBool::new(false), AtomicBool::new(false));
    let limit = TimeLimit { clock, due, asked: lab.stop, stop, has_passed };
    let (works, over) = channel::<()>();
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("limit".to_owned());
        let looking = builder.spawn_scoped(scope, || {
            let over = over;
            limit.look_after(&over);
        });
        looking.map_err(|error| LabError::Unlike(format!("no thread for the limit: {error}")))?;
        let mut watch = Looking { outer: lab.watch, limit: &limit };
        let (home, clock) = (lab.home, lab.clock.clone());
        let mut inner = Lab { home, store: lab.store, stop: &limit.stop, watch: &mut watch, clock };
        let done = work(&mut inner, &limit);
        drop(works);
        done
    })
}
