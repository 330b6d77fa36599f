//! The window of a round whose clients have threads: it is opened and closed here.
//!
//! ```text
//!   this thread    spawn │ … lead-in │ look, and tell │ … window │ look, and tell │ join, add up
//!   threads              drive ──────────────────────────────────────────▶ Tally
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::book::Books;
use crate::error::LoadError;
use crate::patience;
use crate::round::{Moment, RoundMeasurement, RoundSpec};
use crate::tally::{Tally, add_up};
use crate::time::{duration_ns, now, unix_ms, wait_until};

/// When events count.
pub(crate) struct Window {
    pub(crate) open: Instant,
    pub(crate) close: Instant,
}

/// Gives each part of a round a thread, opens and closes the window, and adds up.
pub(crate) fn conduct_round<P: Send>(
    spec: &RoundSpec<'_>,
    parts: &mut [P],
    books: &Books,
    observe: &mut dyn FnMut(Moment),
    drive: impl Fn(&mut P, &Window, &AtomicBool) -> Result<Tally, LoadError> + Sync,
) -> Result<RoundMeasurement, LoadError> {
    let open = now() + spec.lead_in;
    let window = Window { open, close: open + spec.window };
    let failed = AtomicBool::new(false);
    let (stops, late) = (|| is_to_stop(spec, &failed), window.close + patience::AFTER_CLOSE);
    thread::scope(|scope| {
        let _watch = patience::watch_lock_waits(scope, spec.connector, || stops() || now() >= late);
        let mut handles = Vec::with_capacity(parts.len());
        for part in parts {
            let (drive, window, failed) = (&drive, &window, &failed);
            handles.push(scope.spawn(move || {
                let tally = drive(part, window, failed);
                tally.inspect_err(|_| failed.store(true, Ordering::Relaxed))
            }));
        }
        wait_until(window.open, spec.stop, &failed);
        let started_unix_ms = unix_ms();
        let opened = now();
        observe(Moment::Opened);
        wait_until(window.close, spec.stop, &failed);
        let observed_ns = duration_ns(now() - opened);
        observe(Moment::Closed);

        let mut tallies = Vec::with_capacity(handles.len());
        for handle in handles {
            tallies.push(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        let filing = spec.load.filing();
        add_up(tallies, filing, books, started_unix_ms, observed_ns, spec.window)
    })
}

/// Whether a client is to go no further: it was told from outside, or another one has failed.
#[inline]
pub(crate) fn is_to_stop(spec: &RoundSpec<'_>, failed: &AtomicBool) -> bool {
    spec.stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed)
}
