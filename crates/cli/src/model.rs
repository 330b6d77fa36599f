//! `dbdyno model`: isolation protocols as state machines, explored to their end.
//!
//! ```text
//!   explored and judged ─┬─ --permissiveness   (`counted`)
//!                        ├─ --itf, --html      the trace
//!                        └─ --paths, --run     tests for servers (`servers`)
//! ```

mod counted;
mod servers;

use std::path::PathBuf;

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;
use dbdyno_document::Text;
use dbdyno_protocols::{ExplorationVerdict, NamedProtocol, Names, Single, Tests, itf};
use dbdyno_report::verdicts::{
    FaultEntry, ProtocolList, ProtocolReport, ProtocolSummary, VERDICTS_SCHEMA, VerdictWord,
    protocol_list_document, protocol_report_document, verdicts_json,
};
use dbdyno_report::{TraceHead, trace_html};
use dbdyno_workload::suggest::did_you_mean;

use crate::args::{Place, ReportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{files, output};

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
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
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
        let list = list();
        output::print_report(
            flags.format,
            || protocol_list_document(&list),
            || verdicts_json(&list),
        )?;
        return Ok(Exit::Holds);
    };
    let protocol = named(name, flags.fault.as_deref())?;
    let level = flags.level.unwrap_or(protocol.level());
    let tests =
        if flags.paths || !flags.run.is_empty() { Some(tests_of(flags, protocol)?) } else { None };
    let judged = protocol.judge_outcomes(flags.shape(), level, flags.max_states as usize);
    if let Some(why) = &judged.undecided {
        return Err(Failure::Usage(format!("{level} cannot be told of a model: {why}")));
    }
    write_trace(flags, protocol, level, &judged)?;
    let mut report = report_of(flags, protocol, level, &judged);
    if flags.permissiveness {
        report.permissiveness = Some(counted::permissiveness_report(
            protocol,
            flags.shape(),
            level,
            flags.max_states as usize,
            flags.sample,
        ));
    }
    let (tested, exit) = match &tests {
        Some((single, tests)) => servers::run(place, &flags.run, single, protocol.level(), tests)?,
        None => (Vec::new(), Exit::Holds),
    };
    if let Some((_, tests)) = &tests {
        report.paths = Some(servers::paths_of(tests));
        report.servers = Some(tested);
    }
    output::print_report(
        flags.format,
        || protocol_report_document(&report),
        || verdicts_json(&report),
    )?;
    Ok(match report.verdict {
        VerdictWord::Broken => Exit::Fails,
        VerdictWord::CannotTell => Exit::CannotTell,
        VerdictWord::Holds => exit,
    })
}

/// The fewest paths of a protocol.
fn tests_of(flags: &ModelFlags, protocol: NamedProtocol) -> Result<(Single, Tests), Failure> {
    let single = protocol.as_single(flags.shape(), Names::ByAppearance).ok_or_else(|| {
        Failure::Usage(format!(
            "{} is a protocol of several servers, whose steps clients do not see; --paths and \
             --run are for those of one server, such as 2pl",
            protocol.name()
        ))
    })?;
    let tests = Tests::of_protocol(&single, (flags.max_states as usize).min(MOST_FOR_PATHS));
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
    let Some(protocol) = NamedProtocol::by_name(name) else {
        let names: Vec<&str> = NamedProtocol::all().map(NamedProtocol::name).collect();
        return Err(Failure::Usage(format!(
            "model {name}: unknown protocol{}; there are {}",
            did_you_mean(name, names.iter().copied()),
            names.join(", ")
        )));
    };
    let Some(fault) = fault else { return Ok(protocol) };
    protocol.with_fault(fault).ok_or_else(|| {
        let faults: Vec<&str> = protocol.faults().map(|fault| fault.0).collect();
        if faults.is_empty() {
            return Failure::Usage(format!(
                "--fault {fault}: none can be planted in {name}; `dbdyno model` lists those of \
                 other protocols"
            ));
        }
        Failure::Usage(format!(
            "--fault {fault}: {name} has no such fault{}; there are {}",
            did_you_mean(fault, faults.iter().copied()),
            faults.join(", ")
        ))
    })
}

fn list() -> ProtocolList {
    let protocols = NamedProtocol::all().map(|one| ProtocolSummary {
        name: one.name(),
        about: one.about(),
        promises: one.level().name(),
        faults: one.faults().map(|(name, about)| FaultEntry { name, about }).collect(),
    });
    ProtocolList { schema: VERDICTS_SCHEMA, protocols: protocols.collect() }
}

/// What exploring found.
fn report_of(
    flags: &ModelFlags,
    protocol: NamedProtocol,
    level: Level,
    judged: &ExplorationVerdict,
) -> ProtocolReport {
    let broken = judged.broken.as_ref();
    ProtocolReport {
        schema: VERDICTS_SCHEMA,
        protocol: protocol.name(),
        about: protocol.about(),
        fault: protocol.fault().map(|fault| fault.0),
        fault_about: protocol.fault().map(|fault| fault.1),
        shape: flags.shape().to_string(),
        size: format!(
            "{} transactions, {} keys, at most {} operations each",
            flags.transactions, flags.keys, flags.operations
        ),
        states: judged.states,
        transitions: judged.transitions,
        ends: judged.ends,
        depth: judged.depth,
        outcomes: judged.outcomes,
        level: level.name(),
        definition: level.definition_source(),
        verdict: match (broken, judged.is_cut_short) {
            (Some(_), _) => VerdictWord::Broken,
            (None, true) => VerdictWord::CannotTell,
            (None, false) => VerdictWord::Holds,
        },
        anomaly: broken.map(|broken| broken.anomaly.clone()),
        trace: judged.trace[1..].iter().map(|scene| scene.action.clone()).collect(),
        drawing: broken.iter().flat_map(|broken| broken.drawing.lines()).map(Text::from).collect(),
        permissiveness: None,
        paths: None,
        servers: None,
    }
}
