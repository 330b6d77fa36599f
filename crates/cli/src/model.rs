//! `dbdyno model`: isolation protocols as state machines, explored to their end.
//!
//! ```text
//!   explored and judged ─┬─ --permissiveness   (`counted`)
//!                        ├─ --itf, --html      the trace
//!                        └─ --paths, --run     tests for servers (`servers`)
//! ```

mod counted;
mod servers;

use std::fmt::Write as _;
use std::path::PathBuf;

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;
use dbdyno_protocols::{ExplorationVerdict, NamedProtocol, Names, Single, Tests, itf};
use dbdyno_report::{TraceHead, trace_html};
use dbdyno_workload::suggest::did_you_mean;

use crate::args::{DoctorFormat, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{files, output};
use counted::CountedPermissiveness;

/// More states are not covered by paths.
const MOST_FOR_PATHS: usize = 300_000;

/// The flags of `dbdyno model`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelFlags {
    /// The protocol
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Number of transactions
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(2..=3))]
    pub transactions: u8,
    /// Number of keys
    #[arg(long, value_name = "K", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=3))]
    pub keys: u8,
    /// Reads and writes of a transaction, at most; its commit does not count
    #[arg(long, value_name = "M", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=3))]
    pub operations: u8,
    /// Judge by this level instead of the one that the protocol promises
    #[arg(long, value_name = "LEVEL", value_parser = crate::check::level)]
    pub level: Option<Level>,
    /// Plant a fault, which must be found; the list without NAME names the faults
    #[arg(long, value_name = "FAULT", requires = "name")]
    pub fault: Option<String>,
    /// Count which share of the results and of the orders of statements that levels allow the
    /// protocol admits
    #[arg(long, requires = "name")]
    pub permissiveness: bool,
    /// Play at most N orders of statements, spread over all of them
    #[arg(long, value_name = "N", default_value_t = 200_000, requires = "permissiveness",
          value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub sample: u64,
    /// Show the fewest paths that cover every transition: tests for servers
    #[arg(long, requires = "name")]
    pub paths: bool,
    /// Play these paths on servers, written as for `dbdyno compare`, at the level of the protocol,
    /// and show where a server deviates from it; exit code 1 if one does
    #[arg(long, value_name = "TARGET", requires = "name", num_args = 1..)]
    pub run: Vec<String>,
    /// Write the trace in the Informal Trace Format, for Apalache and Quint
    #[arg(long, value_name = "FILE", requires = "name")]
    pub itf: Option<PathBuf>,
    /// Write the trace as a page to step through
    #[arg(long, value_name = "FILE", requires = "name")]
    pub html: Option<PathBuf>,
    /// Visit at most N states
    #[arg(long, value_name = "N", default_value_t = 3_000_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub max_states: u32,
    /// Output format
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    pub format: DoctorFormat,
}

impl ModelFlags {
    fn shape(&self) -> InterleavingSize {
        InterleavingSize {
            transactions: self.transactions,
            keys: self.keys,
            operations: self.operations,
        }
    }
}

/// Lists the protocols, or explores one.
pub(crate) fn run(place: &Place, flags: &ModelFlags) -> Result<Exit, Failure> {
    let Some(name) = &flags.name else {
        output::print(&match flags.format {
            DoctorFormat::Text => output::lines(list()),
            DoctorFormat::Json => dbdyno_report::json_text(&listed()),
        })?;
        return Ok(Exit::Holds);
    };
    let protocol = named(name, flags.fault.as_deref())?;
    let level = flags.level.unwrap_or(protocol.level());
    let tests =
        if flags.paths || !flags.run.is_empty() { Some(tests_of(flags, protocol)?) } else { None };
    let judged = protocol.judge(flags.shape(), level, flags.max_states as usize);
    write_trace(flags, protocol, level, &judged)?;
    let states = flags.max_states as usize;
    let counted = flags
        .permissiveness
        .then(|| CountedPermissiveness::of(protocol, flags.shape(), level, states, flags.sample));
    let (tested, exit) = match &tests {
        Some((single, tests)) => servers::run(place, &flags.run, single, protocol.level(), tests)?,
        None => (Vec::new(), Exit::Holds),
    };
    output::print(&match flags.format {
        DoctorFormat::Text => {
            let mut told = text(flags, protocol, level, &judged);
            told.push_str(&counted.map_or(String::new(), |counted| counted.text(level)));
            if let Some((_, tests)) = &tests {
                told.push_str(&servers::paths_text(tests));
            }
            tested.iter().for_each(|one| told.push_str(&one.text()));
            output::lines(told)
        }
        DoctorFormat::Json => {
            let mut told = json(flags, protocol, level, &judged);
            if let Some(counted) = counted {
                told["permissiveness"] = counted.json(level);
            }
            if let Some((_, tests)) = &tests {
                told["paths"] = servers::paths_json(tests);
                told["servers"] = tested.iter().map(servers::ServerConformance::json).collect();
            }
            dbdyno_report::json_text(&told)
        }
    })?;
    Ok(match (&judged.broken, judged.is_cut_short) {
        (Some(_), _) => Exit::Fails,
        (None, true) => Exit::CannotTell,
        (None, false) => exit,
    })
}

/// The fewest paths of a protocol.
fn tests_of(flags: &ModelFlags, protocol: NamedProtocol) -> Result<(Single, Tests), Failure> {
    let single = protocol.single(flags.shape(), Names::ByAppearance).ok_or_else(|| {
        Failure::Usage(format!(
            "{} is a protocol of several servers, whose steps clients do not see; --paths and \
             --run are for those of one server, such as 2pl",
            protocol.name()
        ))
    })?;
    let tests = Tests::of(&single, (flags.max_states as usize).min(MOST_FOR_PATHS));
    let tests = tests.ok_or_else(|| {
        Failure::Usage(format!(
            "there are more than {} states, too many to be covered by paths; ask for fewer \
             --transactions, --keys or --operations",
            (flags.max_states as usize).min(MOST_FOR_PATHS)
        ))
    })?;
    Ok((single, tests))
}

/// Writes the trace where it was asked for.
fn write_trace(
    flags: &ModelFlags,
    protocol: NamedProtocol,
    level: Level,
    judged: &ExplorationVerdict,
) -> Result<(), Failure> {
    if flags.itf.is_none() && flags.html.is_none() {
        return Ok(());
    }
    let fault = protocol.fault().map(|fault| format!(" --fault {}", fault.0));
    let source = format!("dbdyno model {}{}", protocol.name(), fault.unwrap_or_default());
    let shown = match &judged.broken {
        Some(broken) => format!("a shortest way to break {level}: {}", broken.anomaly),
        None => format!("an outcome of all transactions; {level} was not broken"),
    };
    let trace = itf(&judged.trace, &source, &shown);
    if let Some(path) = &flags.itf {
        files::write(path, format!("{trace:#}\n"))?;
    }
    if let Some(path) = &flags.html {
        let mut about = vec![format!("{}: {}.", protocol.name(), protocol.about())];
        about.extend(protocol.fault().map(|fault| format!("Planted fault: {}.", fault.1)));
        about.push(format!("{} transactions, {} keys; {shown}.", flags.transactions, flags.keys));
        let drawing = judged.broken.as_ref().map_or("", |broken| &broken.drawing);
        let steps: Vec<String> =
            judged.trace[1..].iter().map(|scene| scene.action.clone()).collect();
        let head = TraceHead { title: &source, about: &about, drawing };
        output::write_page(path, trace_html(&head, &steps, &trace))?;
    }
    Ok(())
}

fn named(name: &str, fault: Option<&str>) -> Result<NamedProtocol, Failure> {
    let names = || NamedProtocol::all().map(NamedProtocol::name);
    let Some(protocol) = NamedProtocol::by_name(name) else {
        return Err(Failure::Usage(format!(
            "model {name}: unknown protocol{}; there are {}",
            did_you_mean(name, names()),
            names().collect::<Vec<_>>().join(", ")
        )));
    };
    let Some(fault) = fault else { return Ok(protocol) };
    protocol.with_fault(fault).ok_or_else(|| {
        let faults = || protocol.faults().map(|fault| fault.0);
        if faults().next().is_none() {
            return Failure::Usage(format!(
                "--fault {fault}: none can be planted in {name}; `dbdyno model` lists those of \
                 other protocols"
            ));
        }
        Failure::Usage(format!(
            "--fault {fault}: {name} has no such fault{}; there are {}",
            did_you_mean(fault, faults()),
            faults().collect::<Vec<_>>().join(", ")
        ))
    })
}

fn list() -> String {
    let mut out = String::new();
    let width = NamedProtocol::all().map(|one| one.name().len()).max().unwrap_or(0);
    for one in NamedProtocol::all() {
        let _ = writeln!(out, "{:width$}  {}", one.name(), one.about());
        let faults: Vec<&str> = one.faults().map(|fault| fault.0).collect();
        let planted = if faults.is_empty() {
            String::new()
        } else {
            format!("; faults: {}", faults.join(", "))
        };
        let _ = writeln!(out, "{:width$}  promises {}{planted}", "", one.level());
    }
    out
}

fn listed() -> serde_json::Value {
    let one = |one: NamedProtocol| {
        let faults =
            one.faults().map(|(name, about)| serde_json::json!({ "name": name, "about": about }));
        serde_json::json!({
            "name": one.name(), "about": one.about(), "promises": one.level().name(),
            "faults": faults.collect::<Vec<_>>(),
        })
    };
    let protocols: Vec<_> = NamedProtocol::all().map(one).collect();
    serde_json::json!({ "schema": 1, "protocols": protocols })
}

fn text(
    flags: &ModelFlags,
    protocol: NamedProtocol,
    level: Level,
    judged: &ExplorationVerdict,
) -> String {
    let mut out = format!("{}: {}\n", protocol.name(), protocol.about());
    if let Some((name, about)) = protocol.fault() {
        let _ = writeln!(out, "with the fault {name}: {about}");
    }
    let _ = writeln!(
        out,
        "{} transactions, {} keys, at most {} operations each, once up to symmetry",
        flags.transactions, flags.keys, flags.operations
    );
    let _ = writeln!(
        out,
        "{} states, {} transitions, {} ends, up to {} steps; {} outcomes",
        judged.states, judged.transitions, judged.ends, judged.depth, judged.outcomes
    );
    let source = level.source();
    let Some(broken) = &judged.broken else {
        let told = if judged.is_cut_short {
            format!(
                "not broken in {} states, and there are more: raise --max-states, or ask for less",
                judged.states
            )
        } else {
            "holds in every outcome".to_owned()
        };
        let _ = writeln!(out, "\n{level}, {source}: {told}");
        return out;
    };
    let steps = judged.trace.len() - 1;
    let _ = writeln!(out, "\n{level}, {source}: broken by {}", broken.anomaly);
    let _ = writeln!(out, "after {steps} steps; fewer do not break it:");
    for (number, scene) in judged.trace.iter().enumerate().skip(1) {
        let _ = writeln!(out, "  {number:2}  {}", scene.action);
    }
    let _ = writeln!(out);
    for line in broken.drawing.lines() {
        let _ = writeln!(out, "  {line}");
    }
    out
}

fn json(
    flags: &ModelFlags,
    protocol: NamedProtocol,
    level: Level,
    judged: &ExplorationVerdict,
) -> serde_json::Value {
    let verdict = match (&judged.broken, judged.is_cut_short) {
        (Some(_), _) => "broken",
        (None, true) => "cannot_tell",
        (None, false) => "holds",
    };
    let actions: Vec<&str> = judged.trace[1..].iter().map(|one| one.action.as_str()).collect();
    serde_json::json!({
        "schema": 1, "protocol": protocol.name(),
        "fault": protocol.fault().map(|fault| fault.0),
        "shape": flags.shape().to_string(), "states": judged.states,
        "transitions": judged.transitions, "ends": judged.ends, "depth": judged.depth,
        "outcomes": judged.outcomes, "level": level.name(), "verdict": verdict,
        "anomaly": judged.broken.as_ref().map(|broken| broken.anomaly.clone()),
        "trace": actions,
    })
}
