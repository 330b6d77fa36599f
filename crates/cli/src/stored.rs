//! `dbdyno runs`, `show` and `report`: what was measured before.

use std::path::PathBuf;

use dbdyno_store::Listed;

use crate::args::{Place, Report, Runs, Show};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{answer, compare, output, session};

/// Lists the stored runs, newest first.
pub fn runs(place: &Place, flags: &Runs) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let Listed { runs: summaries, corrupt } = store.list()?;
    for error in &corrupt {
        output::say(&format!("note   left out: {error}"));
    }
    if summaries.is_empty() && corrupt.is_empty() {
        output::say("no runs are stored yet; `dbdyno demo` makes one in a minute");
        return Ok(Exit::Holds);
    }
    let mut text = String::new();
    for run in summaries.iter().take(flags.limit) {
        let name = run.name.as_ref().map(|name| format!("@{name}")).unwrap_or_default();
        text.push_str(&format!(
            "{}  {}  {:11}  {:>4}/{:<4} rounds  {} → {}  {name}\n",
            run.id,
            run.started,
            run.status.name(),
            run.rounds_done,
            run.rounds_planned,
            run.arms.base,
            run.arms.test,
        ));
    }
    output::print(&text)?;
    Ok(Exit::Holds)
}

/// Shows a stored run as `compare` showed it.
pub fn show(place: &Place, flags: &Show) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let run = store.load(&store.resolve(&flags.run)?)?;
    let comparison = compare::judged(&store, &run)?;
    output::comparison(&run, &comparison, flags.shape)?;
    Ok(answer::answer(&comparison, flags.gate))
}

/// Writes a stored run as an HTML file.
pub fn report(place: &Place, flags: &Report) -> Result<Exit, Failure> {
    let store = session::open_store(place)?;
    let run = store.load(&store.resolve(&flags.run)?)?;
    let comparison = compare::judged(&store, &run)?;
    let default = || PathBuf::from(format!("dbdyno-{}.html", run.id));
    let path = flags.output.clone().unwrap_or_else(default);
    compare::write_report(&path, &run, &comparison)?;
    Ok(Exit::Holds)
}
