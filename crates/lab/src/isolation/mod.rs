//! How servers isolate transactions, looked at: cases that have a name, and small interleavings.
//!
//! ```text
//!   target ─▶ set up as for a comparison ─▶ level by level ─┬─ cases           a table of 3 rows
//!                                                           └─ interleavings   two rows for each
//! ```
//!
//! Nothing is measured here: what counts is the order of statements, and who waits is asked of the
//! server (`steps`). On a server that is not ours the tables are marked and taken away as those of
//! a load are.

mod cases;
mod interleavings;
mod tables;
mod words;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dbdyno_cases::{Case, Family, Shape};
use dbdyno_load::Clock;
use dbdyno_model::isolation::{IsolationLevel, IsolationTold, LevelTold};
use dbdyno_model::{
    ArmIndex, ArmSpec, Arms, Dialect, Product, ReleaseSpec, Setting, Switch, Target,
};
use dbdyno_sandbox::Home;
use dbdyno_workload::Dataset;

use crate::arm::{Restores, SetUp, Station, open_station};
use crate::error::LabError;
use crate::watch::Watch;
use tables::Tables;
use words::Words;

/// What is asked of a server.
pub struct IsolationQuestion<'a> {
    /// The server.
    pub spec: &'a ArmSpec,
    /// At these levels, where it has them.
    pub levels: &'a [IsolationLevel],
    /// These cases.
    pub cases: &'a [Case],
    /// Interleavings of these shapes, and how many of each at most.
    pub shapes: &'a [(Shape, u64)],
    /// Decides which ones where there are more.
    pub seed: u64,
}

/// Where it is asked.
pub struct IsolationLab<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Set from outside to stop; what is known until then is kept.
    pub stop: &'a AtomicBool,
    /// Who listens.
    pub watch: &'a mut dyn Watch,
}

/// Which arm the server is, where an error names one: there is no other.
const ARM: ArmIndex = ArmIndex::BASE;
/// Sessions that are connected at a time, and whoever asks who waits.
const CLIENTS: u32 = 8;

/// Sets a server up, asks it, and takes it down.
///
/// # Errors
/// A server that cannot be had, that breaks, or that does not tell who waits.
pub fn isolation(
    lab: &mut IsolationLab<'_>,
    question: &IsolationQuestion<'_>,
) -> Result<IsolationTold, LabError> {
    if matches!(question.spec.target, Target::Rocksdb(_) | Target::Mock(_)) {
        let text = "isolation is looked at with SQL statements, which this arm does not take; name \
                    mysql:, mariadb:, postgres:, sqlite:, engine: or a URL";
        return Err(LabError::Loads(text.to_owned()));
    }
    let clock = Clock::system();
    let spec = telling(question.spec);
    let tables: [Arc<dyn Dataset>; 1] = [Arc::new(Tables)];
    let setup = SetUp {
        home: lab.home,
        arm: ARM,
        spec: &spec,
        datasets: &tables,
        memory_mb: dbdyno_sandbox::memory_mb(),
        clients: CLIENTS,
        restores: Restores::No,
        stop: lab.stop,
        clock: &clock,
    };
    let station = open_station(&setup, &Arms::from_fn([], |_| unreachable!()), lab.watch)?;
    let told = asked(lab, question, &station, &clock);
    let down = station.take_down(ARM);
    let told = told?;
    down.map(|()| told)
}

/// MySQL from 8.0 on tells for whom a session waits only with its performance schema.
fn telling(spec: &ArmSpec) -> ArmSpec {
    let mut spec = spec.clone();
    if let Target::Release(ReleaseSpec { product: Product::MySql, settings, .. }) = &mut spec.target
        && !settings.iter().any(|setting| matches!(setting, Setting::Pfs(_)))
    {
        settings.push(Setting::Pfs(Switch::On));
    }
    spec
}

fn asked(
    lab: &mut IsolationLab<'_>,
    question: &IsolationQuestion<'_>,
    station: &Station,
    clock: &Clock,
) -> Result<IsolationTold, LabError> {
    let server = |error| LabError::Server(ARM, question.spec.to_string(), error);
    let mut client = station.connector.connect().map_err(server)?;
    let words = Words::of(&mut *client, station.dialect);
    client.close();
    let mut bench = Bench { lab, station, words, clock };
    let mut levels = Vec::new();
    for &level in question.levels {
        if bench.is_stopped() {
            break;
        }
        if !bench.words.has_level(level) {
            continue;
        }
        let cases = bench.cases(level, question.cases).map_err(server)?;
        let shapes = bench.shapes(level, question).map_err(server)?;
        levels.push(LevelTold { level, cases, shapes });
    }
    Ok(IsolationTold {
        target: question.spec.to_string(),
        version: station.environment.get("server.version").to_owned(),
        family: bench.words.family.name().to_owned(),
        levels,
        is_cut_short: bench.is_stopped(),
    })
}

/// A server that is asked.
struct Bench<'a, 'b> {
    lab: &'a mut IsolationLab<'b>,
    station: &'a Station,
    words: Words,
    clock: &'a Clock,
}

impl Bench<'_, '_> {
    fn is_stopped(&self) -> bool {
        self.lab.stop.load(Ordering::Relaxed)
    }

    fn tell(&mut self, text: &str) {
        self.lab.watch.progress(crate::watch::Progress::Reading(text));
    }

    fn family(&self) -> Family {
        self.words.family
    }

    fn dialect(&self) -> Dialect {
        self.station.dialect
    }
}
