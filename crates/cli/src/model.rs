//! `dbdyno model`: isolation protocols as state machines, explored to their end.

use std::fmt::Write as _;

use dbdyno_cases::Shape;
use dbdyno_check::Level;
use dbdyno_protocols::{Judged, Named, Results, Schedules, Share};
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
    /// Plant a fault, which has to be found; the list without NAME has the faults
    #[arg(long, value_name = "FAULT", requires = "name")]
    pub fault: Option<String>,
    /// Count what it lets happen of all that levels allow: results, and orders of statements
    #[arg(long, requires = "name")]
    pub permissiveness: bool,
    /// Play so many orders of statements at most, spread over all of them
    #[arg(long, value_name = "N", default_value_t = 200_000, requires = "permissiveness",
          value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub sample: u64,
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
    let judged = protocol.judge(flags.shape(), level, flags.max_states as usize);
    let counted = flags.permissiveness.then(|| Counted::of(flags, protocol, level));
    output::print(&match flags.format {
        DoctorFormat::Text => {
            let counted = counted.map_or(String::new(), |counted| counted.text(level));
            text(flags, protocol, level, &judged) + &counted
        }
        DoctorFormat::Json => {
            let mut told = json(flags, protocol, level, &judged);
            if let Some(counted) = counted {
                told["permissiveness"] = counted.json(level);
            }
            format!("{told:#}\n")
        }
    })?;
    Ok(match (&judged.broken, judged.is_cut_short) {
        (Some(_), _) => Exit::Fails,
        (None, true) => Exit::CannotTell,
        (None, false) => Exit::Holds,
    })
}

/// Permissiveness, as far as it was counted.
struct Counted {
    results: Option<Vec<Results>>,
    schedules: Option<Schedules>,
}

impl Counted {
    fn of(flags: &ModelFlags, protocol: Named, level: Level) -> Counted {
        let shape = flags.shape();
        Counted {
            results: protocol.results(shape, flags.max_states as usize),
            schedules: protocol.schedules(shape, level, flags.sample),
        }
    }

    fn text(&self, level: Level) -> String {
        let mut out = String::new();
        match &self.results {
            None => out.push_str("\nresults: too many to be counted; ask for less\n"),
            Some(results) => {
                let all = results.first().map_or(0, |one| one.sets.all);
                let _ = writeln!(
                    out,
                    "\nresults: of {all} sets of histories, those that a level allows, and of \
                     these those produced"
                );
                results.iter().for_each(|one| result_line(&mut out, one));
            }
        }
        let Some(told) = &self.schedules else { return out };
        let _ = writeln!(
            out,
            "\nschedules: {} of {} orders of statements, once up to symmetry, by {level}",
            told.played, told.canonical
        );
        let share =
            |part: u64| format!("{:5.1} %", 100.0 * part as f64 / told.allowed.max(1) as f64);
        let lines = [
            ("allowed", told.allowed, ""),
            ("  completed at once", told.completed, ""),
            ("  blocked", told.blocked, ""),
            ("  deadlock", told.deadlocked, ""),
            ("  aborted", told.aborted, ""),
            ("    wrongly", told.wrongly_aborted, "; the result would have been allowed"),
        ];
        for (name, number, why) in lines {
            let _ = writeln!(out, "  {name:19} {number:8}  {}{why}", share(number));
        }
        if told.let_through > 0 {
            let what = "completed, and the result is not allowed";
            let _ = writeln!(out, "  {:19} {:8}  {what}", "let through", told.let_through);
        }
        out
    }

    fn json(&self, level: Level) -> serde_json::Value {
        let share = |one: &Share| {
            serde_json::json!({
                "all": one.all, "allowed": one.allowed, "produced": one.produced,
                "let_through": one.let_through,
            })
        };
        let result = |one: &Results| {
            serde_json::json!({
                "level": one.level.name(), "sets": share(&one.sets),
                "classes": share(&one.classes),
            })
        };
        let results = self.results.as_ref().map(|all| all.iter().map(result).collect::<Vec<_>>());
        let schedules = self.schedules.as_ref().map(|told| {
            serde_json::json!({
                "level": level.name(), "canonical": told.canonical, "played": told.played,
                "allowed": told.allowed, "completed": told.completed, "blocked": told.blocked,
                "deadlocked": told.deadlocked, "aborted": told.aborted,
                "wrongly_aborted": told.wrongly_aborted, "let_through": told.let_through,
            })
        });
        serde_json::json!({ "results": results, "schedules": schedules })
    }
}

fn result_line(out: &mut String, one: &Results) {
    let Share { allowed, produced, let_through, .. } = one.sets;
    let beyond = match let_through {
        0 => String::new(),
        more => format!("; and {more} that it does not"),
    };
    let _ = writeln!(
        out,
        "  {:23} {produced:6} ÷ {allowed:6} = {:5.1} %  (classes {} ÷ {}){beyond}",
        one.level.name(),
        100.0 * one.sets.ratio(),
        one.classes.produced,
        one.classes.allowed,
    );
}

fn named(name: &str, fault: Option<&str>) -> Result<Named, Failure> {
    let names = || Named::all().map(Named::name);
    let Some(protocol) = Named::by_name(name) else {
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
