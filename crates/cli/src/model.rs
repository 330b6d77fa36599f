//! `dbdyno model`: isolation protocols as state machines, explored to their end.

use std::fmt::Write as _;

use dbdyno_cases::Shape;
use dbdyno_check::Level;
use dbdyno_protocols::{Judged, Named, Names};
use dbdyno_workload::suggest::did_you_mean;

use crate::args::DoctorFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Explore an isolation protocol as a state machine: all that a few transactions can make of it.
///
/// Without a name the protocols are listed. With one, all states are found, breadth first, and
/// every outcome is judged by the level that the protocol promises: it holds, or it is broken, and
/// a shortest way there is shown. Exit code 1: the level is broken; 3: there are more states than
/// --max-states.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelFlags {
    /// The protocol
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Transactions
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(2..=3))]
    pub transactions: u8,
    /// Keys
    #[arg(long, value_name = "K", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=3))]
    pub keys: u8,
    /// Reads and writes of a transaction, at most; its commit does not count
    #[arg(long, value_name = "M", default_value_t = 2,
          value_parser = clap::value_parser!(u8).range(1..=3))]
    pub operations: u8,
    /// Judge by this level, and not by the one that the protocol promises
    #[arg(long, value_name = "LEVEL", value_parser = crate::check::level)]
    pub level: Option<Level>,
    /// Plant a fault that has to be found; without NAME's faults are listed
    #[arg(long, value_name = "FAULT", requires = "name")]
    pub fault: Option<String>,
    /// Look at so many states at most
    #[arg(long, value_name = "N", default_value_t = 3_000_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub max_states: u32,
    /// Shape of what goes to stdout
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    pub format: DoctorFormat,
}

impl ModelFlags {
    fn shape(&self) -> Shape {
        Shape { transactions: self.transactions, keys: self.keys, operations: self.operations }
    }
}

/// Lists the protocols, or explores one.
pub(crate) fn run(flags: &ModelFlags) -> Result<Exit, Failure> {
    let Some(name) = &flags.name else {
        output::print(&match flags.format {
            DoctorFormat::Text => list(),
            DoctorFormat::Json => format!("{:#}\n", listed()),
        })?;
        return Ok(Exit::Holds);
    };
    let protocol = named(name, flags.fault.as_deref())?;
    let level = flags.level.unwrap_or(protocol.level());
    let judged =
        protocol.judge(flags.shape(), Names::ByAppearance, level, flags.max_states as usize);
    output::print(&match flags.format {
        DoctorFormat::Text => text(flags, protocol, level, &judged),
        DoctorFormat::Json => format!("{:#}\n", json(flags, protocol, level, &judged)),
    })?;
    Ok(match (&judged.broken, judged.is_cut_short) {
        (Some(_), _) => Exit::Fails,
        (None, true) => Exit::CannotTell,
        (None, false) => Exit::Holds,
    })
}

fn named(name: &str, fault: Option<&str>) -> Result<Named, Failure> {
    let names = || Named::all().map(Named::name);
    let Some(protocol) = Named::named(name) else {
        return Err(Failure::Usage(format!(
            "model {name}: no protocol is called so{}; there are {}",
            did_you_mean(name, names()),
            names().collect::<Vec<_>>().join(", ")
        )));
    };
    let Some(fault) = fault else { return Ok(protocol) };
    protocol.with_fault(fault).ok_or_else(|| {
        let faults = || protocol.faults().map(|fault| fault.0);
        Failure::Usage(format!(
            "--fault {fault}: {name} has no such fault{}; there are {}",
            did_you_mean(fault, faults()),
            faults().collect::<Vec<_>>().join(", ")
        ))
    })
}

fn list() -> String {
    let mut out = String::new();
    let width = Named::all().map(|one| one.name().len()).max().unwrap_or(0);
    for one in Named::all() {
        let _ = writeln!(out, "{:width$}  {}", one.name(), one.about());
        let faults: Vec<&str> = one.faults().map(|fault| fault.0).collect();
        let level = one.level();
        let _ = writeln!(out, "{:width$}  promises {level}; faults: {}", "", faults.join(", "));
    }
    out
}

fn listed() -> serde_json::Value {
    let one = |one: Named| {
        let faults =
            one.faults().map(|(name, about)| serde_json::json!({ "name": name, "about": about }));
        serde_json::json!({
            "name": one.name(), "about": one.about(), "promises": one.level().name(),
            "faults": faults.collect::<Vec<_>>(),
        })
    };
    serde_json::json!({ "schema": 1, "protocols": Named::all().map(one).collect::<Vec<_>>() })
}

fn text(flags: &ModelFlags, protocol: Named, level: Level, judged: &Judged) -> String {
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
        let told = match judged.is_cut_short {
            true => format!(
                "not broken in {} states, and there are more: raise --max-states, or ask for less",
                judged.states
            ),
            false => "holds in every outcome".to_owned(),
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

fn json(flags: &ModelFlags, protocol: Named, level: Level, judged: &Judged) -> serde_json::Value {
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
