//! What every command needs: the home, the store, and a way to be stopped.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dbdyno_lab::Clock;
use dbdyno_model::Plan;
use dbdyno_sandbox::Home;
use dbdyno_store::Store;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::Place;
use crate::failure::Failure;
use crate::output;

/// Opens the home and clears away what a killed dbdyno has left.
pub(crate) fn open_home(place: &Place) -> Result<Home, Failure> {
    let home = Home::open(place.home.as_deref())?;
    for cleaned in home.sweep() {
        output::say(&format!("cleaned up: {cleaned}"));
    }
    Ok(home)
}

/// Opens the store.
pub(crate) fn open_store(place: &Place) -> Result<Store, Failure> {
    let path: PathBuf = match &place.store {
        Some(path) => path.clone(),
        None => Home::open(place.home.as_deref())?.store_path(),
    };
    Ok(Store::open(&path)?)
}

/// The clock of an experiment by this plan, which goes on after so many rounds. Tests that stop or
/// kill a run at a known place let models halt there; nobody else sets the variable.
pub(crate) fn clock(plan: &Plan, store: &Store, rounds_before: usize) -> Result<Clock, Failure> {
    let halts = std::env::var("DBDYNO_MOCK_HALTS").ok().and_then(|rounds| rounds.parse().ok());
    Ok(dbdyno_lab::clock_of(plan, store, rounds_before, halts)?)
}

/// A flag that the first Ctrl-C sets, so that what was measured is kept; the second one ends the
/// program at once (its servers end with it).
pub(crate) fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let code = 128 + signal;
        // The order matters: the second signal finds the flag set by the first.
        let registered =
            signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&stop))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)));
        if let Err(error) = registered {
            output::say(&format!("signal {signal} cannot be caught: {error}"));
        }
    }
    stop
}
