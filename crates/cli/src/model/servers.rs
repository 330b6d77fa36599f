//! The paths of a protocol, played on servers: do they do the same, statement by statement?
//!
//! ```text
//!   Tests ─▶ schedules ─▶ `lab` plays them at a level ─▶ replies ─▶ `difference` ─▶ report
//! ```

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_cases::{Interleaving, StatementAnswer, StatementReply};
use dbdyno_check::Level;
use dbdyno_isolation::{IsolationLab, ScheduleReplies, ScriptsOf, play_schedules};
use dbdyno_model::ArmSpec;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_protocols::{Cover, Difference, Nonconformity, Single, Tests, difference};
use dbdyno_report::verdicts::{ConformanceReport, CoverCounts, FirstDifference, PathsReport};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::{login, output, session, verify};

/// A server, and in which ways it parts from the protocol.
struct ServerConformance {
    report: ConformanceReport,
    kinds: BTreeSet<Nonconformity>,
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
) -> Result<(Vec<ConformanceReport>, Exit), Failure> {
    if targets.is_empty() {
        return Ok((Vec::new(), Exit::Holds));
    }
    let specs = targets.iter().map(|text| verify::spec_of(text));
    let mut specs: Vec<ArmSpec> = specs.collect::<Result<_, _>>()?;
    specs.iter_mut().try_for_each(login::fill_login)?;
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
                output::say_error(&format!("{spec}: {failure}"));
                exit = failure.exit();
            }
        }
        if all
            .last()
            .is_some_and(|one: &ServerConformance| one.report.played < tests.schedules.len() as u64)
        {
            exit = Exit::Interrupted;
            break;
        }
    }
    if exit == Exit::Holds {
        exit = exit_of(&all);
    }
    Ok((all.into_iter().map(|one| one.report).collect(), exit))
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
    let mut kinds = all.iter().flat_map(|one| &one.kinds).peekable();
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
    let (mut kinds, mut differences, mut first) = (BTreeSet::new(), BTreeMap::new(), None);
    for (schedule, served) in tests.schedules.iter().zip(&played.served) {
        let Some(parts) = difference(protocol, schedule, &served.replies) else { continue };
        kinds.insert(parts.kind());
        *differences.entry(parts.kind().in_words()).or_insert(0) += 1;
        first.get_or_insert_with(|| first_difference(schedule, &parts, served));
    }
    let report = ConformanceReport {
        target: spec.to_string(),
        version: played.version.clone(),
        level: level.name(),
        played: played.served.len() as u64,
        differences,
        first,
    };
    ServerConformance { report, kinds }
}

fn first_difference(
    schedule: &Interleaving,
    parts: &Difference,
    served: &ScheduleReplies,
) -> FirstDifference {
    FirstDifference {
        script: schedule.to_string(),
        statement: parts.place,
        step: Interleaving { steps: vec![schedule.steps[parts.place]] }.to_string(),
        protocol: reply(schedule, parts.model),
        server: reply(schedule, parts.server),
        error: words(served, parts.place),
    }
}

/// The error of a statement, in the words of the server; nothing if there was none.
fn words(served: &ScheduleReplies, place: usize) -> String {
    let said = served.errors.iter().find(|(at, _)| *at == place);
    said.map_or(String::new(), |(_, error)| format!("({error})"))
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

/// The paths of a protocol.
pub(super) fn paths_of(tests: &Tests) -> PathsReport {
    PathsReport {
        lower_bound: tests.lower_bound,
        fewest: cover_counts(&tests.cover),
        shortest: cover_counts(&tests.shortest),
        scripts: tests.schedules.iter().map(Interleaving::to_string).collect(),
        states: tests.states,
        transitions: tests.transitions,
    }
}

fn cover_counts(cover: &Cover) -> CoverCounts {
    let Cover { ways, steps, states, transitions } = *cover;
    CoverCounts { paths: ways, steps, states, transitions }
}
