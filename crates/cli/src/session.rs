//! What every command needs: the home, the store, and a way to be stopped.
//!
//! ```text
//!   first signal ── flag: rounds end, what was measured is kept and told
//!        │ 3 s      connections are cut off: who waits for a server waits no more
//!        │ 5 s      the program ends, whatever it still waits for; its servers end with it
//!   second signal ─ the program ends at once
//! ```

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use dbdyno_lab::Clock;
use dbdyno_model::Plan;
use dbdyno_sandbox::Home;
use dbdyno_store::{SealKey, Store};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Opens the home and clears away what a killed dbdyno has left.
pub(crate) fn open_home(place: &Place) -> Result<Home, Failure> {
    let home = home_of(place)?;
    for cleaned in home.remove_leftovers(&mut output::say_text) {
        output::say_text(&format!("cleaned up: {cleaned}"));
    }
    Ok(home)
}

fn home_of(place: &Place) -> Result<Home, Failure> {
    let home = Home::open(place.home.as_deref())?;
    home.repair_notes().iter().for_each(|note| output::say_text(note));
    Ok(home)
}

/// Opens the store, to look at what it has. A file that was named and is not there is not made.
pub(crate) fn open_store(place: &Place) -> Result<Store, Failure> {
    let path = store_path(place)?;
    if let Some(named) = &place.store
        && fs::symlink_metadata(named).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        return Err(Failure::Usage(format!(
            "there is no store {}: look at --store and DBDYNO_STORE; `dbdyno compare` makes one",
            named.display()
        )));
    }
    Ok(Store::open(&path)?)
}

/// Opens the store, to begin runs in it.
pub(crate) fn open_own_store(place: &Place) -> Result<Store, Failure> {
    sealed(Store::open(&store_path(place)?)?, place)
}

/// Opens the store, to go on with runs of it that this home began.
pub(crate) fn open_known_store(place: &Place) -> Result<Store, Failure> {
    sealed(open_store(place)?, place)
}

fn sealed(store: Store, place: &Place) -> Result<Store, Failure> {
    Ok(store.sealed_by(SealKey::from_secret(home_of(place)?.secret()?)))
}

fn store_path(place: &Place) -> Result<PathBuf, Failure> {
    Ok(match &place.store {
        Some(path) => path.clone(),
        None => home_of(place)?.store_path(),
    })
}

/// The clock of an experiment by this plan, which goes on after so many rounds. Tests that stop or
/// kill a run at a known place let models halt there; nobody else sets the variable.
pub(crate) fn clock(plan: &Plan, store: &Store, rounds_before: usize) -> Result<Clock, Failure> {
    let halts = std::env::var("DBDYNO_MOCK_HALTS").ok().and_then(|rounds| rounds.parse().ok());
    Ok(dbdyno_lab::clock_of(plan, store, rounds_before, halts)?)
}

/// How long after the first signal the program ends at the latest.
const END_AFTER: Duration = Duration::from_millis(4_800);
/// Share of it for which servers are waited for; the rest is there to put away what there is.
const WAITS: f64 = 0.6;

/// How long a stop may take. Tests of what a stopped command puts away give it more, on machines
/// that do other work; nobody else sets the variable.
fn end_after() -> Duration {
    let told = std::env::var("DBDYNO_STOP_WITHIN_S").ok().and_then(|text| text.parse().ok());
    told.map_or(END_AFTER, Duration::from_secs)
}

/// The flag, once a command has asked for it.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Whether the user has asked a command to stop that does not end at once.
pub(crate) fn is_stopping() -> bool {
    STOP.get().is_some_and(|stop| stop.load(Ordering::Relaxed))
}

/// A flag that the first Ctrl-C sets, so that what was measured is kept; the second one ends the
/// program at once (its servers end with it), and so does the first after a few seconds.
pub(crate) fn stop_flag() -> Arc<AtomicBool> {
    Arc::clone(STOP.get_or_init(begin_to_listen))
}

fn begin_to_listen() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let watched = UnixStream::pair().and_then(|(told, tells)| {
        thread::Builder::new().name("stop".to_owned()).spawn(move || see_to_the_end(told))?;
        Ok(tells)
    });
    let tells = watched
        .inspect_err(|error| {
            output::say_text(&format!("nobody sees to it that a stop ends: {error}"))
        })
        .ok();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let code = 128 + signal;
        // The order matters: the second signal finds the flag set by the first.
        let registered =
            signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&stop))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
                .and_then(|id| match &tells {
                    Some(tells) => {
                        signal_hook::low_level::pipe::register(signal, tells.try_clone()?)
                    }
                    None => Ok(id),
                });
        if let Err(error) = registered {
            output::say_text(&format!("signal {signal} cannot be caught: {error}"));
        }
    }
    stop
}

/// Waits for the first signal, and then no longer than it says above.
#[expect(clippy::disallowed_methods, clippy::exit, reason = "what waits in vain is to end")]
fn see_to_the_end(mut told: UnixStream) {
    if told.read_exact(&mut [0]).is_err() {
        return;
    }
    let most = end_after();
    thread::sleep(most.mul_f64(WAITS));
    dbdyno_lab::cut_all();
    thread::sleep(most.mul_f64(1.0 - WAITS));
    output::say_text(
        "stopped; what was waited for did not end. What was measured is kept: dbdyno runs",
    );
    std::process::exit(i32::from(Exit::Interrupted.code()));
}
