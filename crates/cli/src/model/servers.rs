//! The paths of a protocol, played on servers: do they do the same, statement by statement?
//!
//! ```text
//!   Tests ─▶ schedules ─▶ `lab` plays them at a level ─▶ replies ─▶ `difference` ─▶ Tested
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dbdyno_cases::{Interleaving, StatementAnswer, StatementReply};
use dbdyno_check::Level;
use dbdyno_lab::{IsolationLab, ScheduleReplies, ScriptsOf, play_schedules};
use dbdyno_model::ArmSpec;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_protocols::{Cover, Difference, Nonconformity, Single, Tests, difference};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::{login, output, session, verify};

/// A server that was held against a protocol.
pub(super) struct ServerConformance {
    target: String,
    version: String,
    level: IsolationLevel,
    played: usize,
    kinds: BTreeMap<Nonconformity, u64>,
    /// The first schedule in which they part.
    first: Option<(Interleaving, Difference, String)>,
}

/// Plays the schedules of `tests` on all targets.
///
/// # Errors
/// Targets that are none, and what keeps a server from being asked where no other one was.
pub(super) fn run(
    place: &Place,
    targets: &[String],
    protocol: &Single,
    level: Level,
    tests: &Tests,
) -> Result<(Vec<ServerConformance>, Exit), Failure> {
    if targets.is_empty() {
        return Ok((Vec::new(), Exit::Holds));
    }
    let specs = targets.iter().map(|text| verify::spec_of(text));
    let mut specs: Vec<ArmSpec> = specs.collect::<Result<_, _>>()?;
    specs.iter_mut().try_for_each(login::fill)?;
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let level = level_of(level);
    let (mut all, mut exit) = (Vec::new(), Exit::Holds);
    for spec in &specs {
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let played = play_schedules(&mut lab, spec, level, protocol.shape, &tests.schedules);
        drop(ticker);
        match played {
            Ok(played) => all.push(tested(protocol, spec, level, tests, &played)),
            // What others have told stays worth seeing.
            Err(error) => {
                let failure = Failure::from(error);
                output::complain(&format!("{spec}: {failure}"));
                exit = failure.exit();
            }
        }
        if all.last().is_some_and(|one| one.played < tests.schedules.len()) {
            exit = Exit::Interrupted;
            break;
        }
    }
    if exit == Exit::Holds {
        exit = exit_of(&all);
    }
    Ok((all, exit))
}

/// What servers call the level that goes with what a protocol promises.
fn level_of(level: Level) -> IsolationLevel {
    match level {
        level if level <= Level::ReadUncommitted => IsolationLevel::ReadUncommitted,
        level if level <= Level::MonotonicAtomicView => IsolationLevel::ReadCommitted,
        level if level < Level::ViewSerializable => IsolationLevel::RepeatableRead,
        _ => IsolationLevel::Serializable,
    }
}

fn exit_of(all: &[ServerConformance]) -> Exit {
    let mut kinds = all.iter().flat_map(|one| one.kinds.keys()).peekable();
    if kinds.peek().is_none() {
        Exit::Holds
    } else if kinds.all(|kind| *kind == Nonconformity::Silent) {
        Exit::CannotTell
    } else {
        Exit::Fails
    }
}

fn tested(
    protocol: &Single,
    spec: &ArmSpec,
    level: IsolationLevel,
    tests: &Tests,
    played: &ScriptsOf,
) -> ServerConformance {
    let mut kinds = BTreeMap::new();
    let mut first = None;
    for (schedule, served) in tests.schedules.iter().zip(&played.served) {
        let Some(parts) = difference(protocol, schedule, &served.replies) else { continue };
        *kinds.entry(parts.kind()).or_insert(0) += 1;
        first = first.or_else(|| Some((schedule.clone(), parts, words(served, parts.place))));
    }
    ServerConformance {
        target: spec.to_string(),
        version: played.version.clone(),
        level,
        played: played.served.len(),
        kinds,
        first,
    }
}

/// The error of a statement, in the words of the server; nothing if there was none.
fn words(served: &ScheduleReplies, place: usize) -> String {
    let said = served.errors.iter().find(|(at, _)| *at == place);
    said.map_or(String::new(), |(_, error)| format!(" ({error})"))
}

impl ServerConformance {
    /// In words.
    pub(super) fn text(&self) -> String {
        let parted: u64 = self.kinds.values().sum();
        let mut out = format!(
            "\n{} ({}) at {}: {} of {} scripts go as the protocol says\n",
            self.target,
            self.version,
            self.level,
            self.played as u64 - parted,
            self.played
        );
        for (kind, count) in &self.kinds {
            let _ = writeln!(out, "  {count:5}  {}", kind.words());
        }
        if let Some((schedule, parts, error)) = &self.first {
            let statement = Interleaving { steps: vec![schedule.steps[parts.place]] };
            let _ = writeln!(out, "  the first: {schedule}");
            let _ = writeln!(
                out,
                "    {statement}: the protocol {}, the server {}{error}",
                reply(schedule, parts.model),
                reply(schedule, parts.server)
            );
        }
        out
    }

    /// For programs.
    pub(super) fn json(&self) -> serde_json::Value {
        let kinds: serde_json::Map<String, serde_json::Value> = self
            .kinds
            .iter()
            .map(|(kind, count)| (kind.words().to_owned(), serde_json::json!(count)))
            .collect();
        let first = self.first.as_ref().map(|(schedule, parts, error)| {
            serde_json::json!({
                "script": schedule.to_string(), "statement": parts.place,
                "protocol": reply(schedule, parts.model),
                "server": reply(schedule, parts.server), "error": error.trim(),
            })
        });
        serde_json::json!({
            "target": self.target, "version": self.version, "level": self.level.name(),
            "played": self.played, "differences": kinds, "first": first,
        })
    }
}

/// What came of a statement, in words.
fn reply(schedule: &Interleaving, one: StatementReply) -> String {
    let waited = if one.waited { "waits, and then " } else { "" };
    let answer = match one.answer {
        StatementAnswer::Read(None) => "reads what was there at first".to_owned(),
        StatementAnswer::Read(Some(place)) => match schedule.steps.get(place) {
            Some((who, _)) => format!("reads what T{} wrote", who + 1),
            None => "reads a value that was never written".to_owned(),
        },
        StatementAnswer::Done => "does it".to_owned(),
        StatementAnswer::Refused => "refuses it".to_owned(),
        StatementAnswer::LeftOut => "has no transaction left for it".to_owned(),
        StatementAnswer::Nothing => "does not answer".to_owned(),
    };
    format!("{waited}{answer}")
}

/// The paths of a protocol in words.
pub(super) fn paths_text(tests: &Tests) -> String {
    let Cover { ways, steps, .. } = tests.cover;
    let shortest = tests.shortest;
    let mut out = format!(
        "\npaths: {ways} take all {} transitions, in {steps} steps; {} is the least that is \
         possible\n",
        tests.transitions, tests.lower_bound
    );
    let _ = writeln!(out, "  what clients ask on them: {} scripts", tests.schedules.len());
    let _ = writeln!(
        out,
        "  shortest paths to all {} states: {}, {} steps, {} transitions ({:.1} %)",
        tests.states,
        shortest.ways,
        shortest.steps,
        shortest.transitions,
        100.0 * shortest.transitions as f64 / tests.transitions.max(1) as f64
    );
    out
}

/// The same for programs.
pub(super) fn paths_json(tests: &Tests) -> serde_json::Value {
    let cover = |one: &Cover| {
        serde_json::json!({
            "paths": one.ways, "steps": one.steps, "states": one.states,
            "transitions": one.transitions,
        })
    };
    let scripts: Vec<String> = tests.schedules.iter().map(Interleaving::to_string).collect();
    serde_json::json!({
        "lower_bound": tests.lower_bound, "fewest": cover(&tests.cover),
        "shortest": cover(&tests.shortest), "scripts": scripts,
    })
}
