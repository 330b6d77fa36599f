//! `dbdyno profile`: which functions two servers differ in, for an operation.
//!
//! ```text
//!   BASE TEST           profiles are taken: rounds of their own while processors are sampled
//!   --base … --test …   profiles of anybody's tool are read
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dbdyno_explain::profile::{
    EVENT_LINE, PERIOD_LINE, SAMPLES_LINE, WaitStacks, WeightedProfile, by_class, compare_waits,
    difference, flame_graph, read_process, why_incomparable,
};
use dbdyno_lab::profile::SampleKind;
use dbdyno_lab::{ArmProfile, Lab, Stacks, input};
use dbdyno_model::{Arm, MaskedTarget, PerArm, Plan, ProfileDifference, Target, WaitProfile};
use dbdyno_report::{ProfileExtent, profile_document, profile_json, waits_document, waits_json};

use crate::args::{Place, Shape};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::{compare, files, output, plan, session};

/// Collapsed stacks are read into memory.
const PROFILE_MOST: u64 = 4 << 30;
/// One that is packed may be small and grow without end.
const UNPACKED_MOST: u64 = 256 << 20;

/// The flags of `dbdyno profile`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct ProfileFlags {
    /// Two servers, as `dbdyno compare` takes them
    #[arg(value_names = ["BASE", "TEST"], num_args = 2, conflicts_with_all = ["base", "test"],
          required_unless_present_any = ["base", "test"])]
    pub servers: Vec<String>,
    /// The load of BASE and TEST [default: point-query]
    #[arg(long, value_name = "LOAD", requires = "servers")]
    pub load: Option<String>,
    /// Clients at once [default: 1]
    #[arg(long, value_name = "N", requires = "servers")]
    pub clients: Option<u32>,
    /// Rows of each table
    #[arg(long, value_name = "N", requires = "servers")]
    pub rows: Option<u64>,
    /// Profiles of each server, each after a restart
    #[arg(long, value_name = "N", default_value_t = 4, requires = "servers",
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub profiles: u32,
    /// How long each profile takes: 10s, 1m
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "servers",
          value_parser = crate::values::parse_limit)]
    pub seconds: Duration,
    /// Profile what sessions wait for (off CPU) instead of where they use the processor
    #[arg(long, requires = "servers", conflicts_with_all = ["report", "all"])]
    pub waits: bool,
    /// Keep the profiles in this directory, as collapsed stacks
    #[arg(long, value_name = "DIRECTORY", requires = "servers")]
    pub keep: Option<PathBuf>,
    /// Profiles of base: FILE or FILE@OPERATIONS, separated by spaces
    #[arg(long, num_args = 1.., value_name = "FILE[@OPERATIONS]", value_parser = parse_file,
          requires = "test")]
    pub base: Vec<(PathBuf, Option<f64>)>,
    /// Profiles of test
    #[arg(long, num_args = 1.., value_name = "FILE[@OPERATIONS]", value_parser = parse_file,
          requires = "base")]
    pub test: Vec<(PathBuf, Option<f64>)>,
    /// Only programs of this name, as `mysqld`, of files that tell programs
    #[arg(long, value_name = "NAME", requires = "base")]
    pub process: Option<String>,
    /// Also write a page to this file, with a graph of the stacks of both sides
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Show all functions, also those that did not change
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub shape: Shape,
}

/// `base.folded@120000`.
fn parse_file(text: &str) -> Result<(PathBuf, Option<f64>), String> {
    let Some((file, operations)) = text.rsplit_once('@') else { return Ok((text.into(), None)) };
    let number = operations.parse::<f64>().ok().filter(|number| *number > 0.0);
    let number = number.filter(|number| number.is_finite());
    match number {
        Some(number) => Ok((file.into(), Some(number))),
        // What stands there may be a part of a password; the option's value is shown masked.
        None => {
            Err("what stands behind its last @ is no number of operations; write FILE@120000, \
                     or FILE alone"
                .to_owned())
        }
    }
}

/// Shows the difference.
pub(crate) fn run(place: &Place, flags: &ProfileFlags) -> Result<Exit, Failure> {
    let [base, test] = flags.servers.as_slice() else {
        let process = flags.process.as_deref();
        let sides =
            PerArm { base: of_files(&flags.base, process)?, test: of_files(&flags.test, process)? };
        return compared(flags, &sides).map(|()| Exit::Holds);
    };
    let plan = plan_of(flags, base, test)?;
    let (all, exit) = taken(place, flags, &plan)?;
    if let Some(directory) = &flags.keep {
        keep(directory, &sides_of(&all), flags.waits)?;
    }
    if flags.waits {
        waited(flags, &plan, &all)?;
    } else {
        compared(flags, &sides_of(&all))?;
    }
    Ok(exit)
}

/// Compares where sides work, and shows it.
fn compared(flags: &ProfileFlags, sides: &PerArm<Vec<Side>>) -> Result<(), Failure> {
    let profiles = PerArm { base: weighed(&sides.base)?, test: weighed(&sides.test)? };
    if flags.servers.is_empty() {
        for arm in Arm::BOTH {
            for (side, one) in sides[arm].iter().zip(&profiles[arm]) {
                output::say_text(&format!("{}: taken for {}", side.name, one.profile.taken_for));
            }
        }
    }
    if let Some(why) = why_incomparable(&profiles.base, &profiles.test) {
        return Err(Failure::Usage(why));
    }
    let found = difference(&profiles.base, &profiles.test);
    show(flags, &found)?;
    let Some(path) = &flags.report else { return Ok(()) };
    let texts = PerArm::from_fn(|arm| {
        sides[arm].iter().map(|side| side.stacks.as_str()).collect::<Vec<_>>()
    });
    let flame = flame_graph(&profiles.base, &profiles.test, &texts)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let labels = labels(flags, sides);
    output::write_page(path, dbdyno_report::profile_html(&found, &flame, &labels))
}

/// What was waited in one start of a server, by class.
fn by_start(plan: &Plan, one: &ArmProfile) -> Result<WaitProfile, Failure> {
    let (stacks, operations) = (one.stacks.collapsed.as_str(), one.operations);
    let waited = WaitStacks { stacks, operations, wall_ns: one.wall_ns };
    let classes = by_class(plan.arms[one.arm.into()].dialect(), plan.question.clients[0], &waited)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(WaitProfile { arm: one.arm, start: one.start, classes })
}

/// Compares what sessions wait for, and shows it.
fn waited(flags: &ProfileFlags, plan: &Plan, all: &[ArmProfile]) -> Result<(), Failure> {
    let all: Vec<WaitProfile> =
        all.iter().map(|one| by_start(plan, one)).collect::<Result<_, _>>()?;
    let found = compare_waits(plan.question.clients[0], &all);
    output::print_document(flags.shape, || waits_document(&found), || waits_json(&found))
}

/// What each side is called: its server, or its files.
fn labels(flags: &ProfileFlags, sides: &PerArm<Vec<Side>>) -> PerArm<String> {
    match flags.servers.as_slice() {
        [base, test] => {
            PerArm { base, test }.map(|server| MaskedTarget::from_text(server).to_string())
        }
        _ => PerArm::from_fn(|arm| {
            sides[arm].iter().map(|side| side.name.as_str()).collect::<Vec<_>>().join(", ")
        }),
    }
}

fn show(flags: &ProfileFlags, found: &ProfileDifference) -> Result<(), Failure> {
    let extent = if flags.all { ProfileExtent::All } else { ProfileExtent::Changed };
    output::print_document(flags.shape, || profile_document(found, extent), || profile_json(found))
}

/// A profile: what it is called, its stacks as text, and the operations beside it.
struct Side {
    name: String,
    stacks: String,
    operations: Option<f64>,
    told: Naming,
}

/// Where it stands which programs stacks are of.
enum Naming {
    /// In the text, if anywhere; of a program that is asked for, the others are left out.
    Within { process: Option<String> },
    /// Beside it: samples by program, and those of idle processors.
    Beside { programs: BTreeMap<String, f64>, idle: f64 },
}

/// Collapsed stacks below lines that tell what they count, where that is known.
fn of_event(stacks: &Stacks) -> String {
    let Stacks { samples, collapsed, .. } = stacks;
    let event = stacks.event.as_ref().map(|event| format!("{EVENT_LINE}{event}\n"));
    let mut text = event.unwrap_or_default();
    if stacks.event.as_deref() != Some("offcpu-time") && *samples > 0.0 {
        text.push_str(&format!("{SAMPLES_LINE} {samples}\n"));
    }
    if let Some(period) = stacks.period {
        text.push_str(&format!("{PERIOD_LINE} {period}\n"));
    }
    text + collapsed
}

/// Takes profiles of two servers.
fn taken(
    place: &Place,
    flags: &ProfileFlags,
    plan: &Plan,
) -> Result<(Vec<ArmProfile>, Exit), Failure> {
    let home = session::open_home(place)?;
    let mut store = session::open_own_store(place)?;
    let stop = session::stop_flag();
    output::say_text(&format!(
        "profiles of {}: {} of each arm, {:.0} s each",
        plan.cells().first().map(ToString::to_string).unwrap_or_default(),
        plan.schedule.restarts + 1,
        f64::from(plan.schedule.pairs) * plan.schedule.round_ns as f64
            / 1e9
            / f64::from(plan.schedule.restarts + 1),
    ));
    let mut ticker = Ticker::new();
    let clock = session::clock(plan, &store, 0)?;
    let mut lab = Lab { home: &home, store: &mut store, stop: &stop, watch: &mut ticker, clock };
    let kind = if flags.waits { SampleKind::Waits } else { SampleKind::Samples };
    let all = dbdyno_lab::profile_arms(&mut lab, plan, kind, env!("CARGO_PKG_VERSION"))?;
    drop(ticker);
    let lost = all.iter().map(|one| one.stacks.lost).max().unwrap_or(0);
    if lost > 0 {
        output::say_text(&format!(
            "note   {lost} records were lost, for they came faster than they could be written: {}",
            if flags.waits {
                "waits among them count as working; fewer clients, or a quieter host"
            } else {
                "what is shown is of the others; a quieter host"
            }
        ));
    }
    let was_stopped = stop.load(std::sync::atomic::Ordering::Relaxed);
    for arm in Arm::BOTH {
        if !all.iter().any(|one| one.arm == arm) {
            let why = if was_stopped { "it was interrupted before" } else { "it used none" };
            return Err(Failure::Usage(format!(
                "no processor time of {arm} was sampled: {why}; a server on another host cannot be \
                 sampled"
            )));
        }
        say_unnamed(arm, &all);
    }
    Ok((all, if was_stopped { Exit::Interrupted } else { Exit::Holds }))
}

/// Profiles by arm.
fn sides_of(all: &[ArmProfile]) -> PerArm<Vec<Side>> {
    PerArm::from_fn(|arm| {
        let own = all.iter().filter(|one| one.arm == arm);
        let sides = own.map(|one| Side {
            name: format!("{arm}-{}", one.start + 1),
            stacks: of_event(&one.stacks),
            operations: Some(one.operations),
            told: Naming::Within { process: None },
        });
        sides.collect()
    })
}

fn plan_of(flags: &ProfileFlags, base: &str, test: &str) -> Result<Plan, Failure> {
    let load = flags.load.clone().unwrap_or_else(|| "point-query".to_owned());
    let mut words = ["compare", base, test, "--load", &load].map(str::to_owned).to_vec();
    let clients = flags.clients.map(|clients| clients.to_string());
    let rows = flags.rows.map(|rows| rows.to_string());
    for (flag, value) in [("--clients", clients), ("--rows", rows)] {
        words.extend(value.map(|value| [flag.to_owned(), value]).into_iter().flatten());
    }
    let compare = compare::flags_of(&words);
    let plan = plan::from_flags(&compare, compare::servers_of(&compare)?)?;
    if plan.cells().len() != 1 {
        return Err(Failure::Usage(format!(
            "profiles are of one load, and {load} has {}; name one of them",
            plan.labels().join(", ")
        )));
    }
    let are_servers =
        plan.arms.values().all(|arm| matches!(arm.target, Target::Release(_) | Target::Url(_)));
    if flags.waits && !are_servers {
        let text = "waits are profiled in servers; an embedded arm works in the \
                    threads of dbdyno itself; leave out --waits to see where it works";
        return Err(Failure::Usage(text.to_owned()));
    }
    if plan.arms.values().any(|arm| arm.is_mock()) {
        let text = "a model uses no processor that could be sampled; name servers";
        return Err(Failure::Usage(text.to_owned()));
    }
    Ok(dbdyno_lab::profile::plan_of(&plan, flags.profiles, flags.seconds.as_secs_f64()))
}

/// Says of which files the functions have no names.
fn say_unnamed(arm: Arm, all: &[ArmProfile]) {
    let own = all.iter().filter(|one| one.arm == arm).map(|one| &one.stacks);
    let samples: f64 = own.clone().map(|stacks| stacks.samples).sum();
    let mut files: Vec<(&str, f64)> = Vec::new();
    for (file, count) in own.flat_map(|stacks| &stacks.unnamed) {
        match files.iter_mut().find(|(known, _)| known == file) {
            Some((_, known)) => *known += count,
            None => files.push((file, *count)),
        }
    }
    files.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (file, count) in files.into_iter().filter(|(_, count)| *count >= 0.01 * samples) {
        output::say_text(&format!(
            "note   {:.0} % of the samples of {arm} are in functions of {file} without names: it \
             is stripped; with its debug package, or of a build that has symbols, they would have \
             some",
            100.0 * count / samples
        ));
    }
}

/// Writes profiles as files that this command, and tools for flame graphs, read.
fn keep(directory: &Path, sides: &PerArm<Vec<Side>>, waits: bool) -> Result<(), Failure> {
    files::make_directory(directory)?;
    let mut command = "dbdyno profile".to_owned();
    for arm in Arm::BOTH {
        command.push_str(&format!(" --{arm}"));
        for side in &sides[arm] {
            let path = directory.join(format!("{}.folded", side.name));
            files::write(&path, output::sanitize_text(&side.stacks).as_bytes())?;
            let operations = side.operations.unwrap_or_default();
            command.push_str(&format!(" {}@{operations:.0}", path.display()));
        }
    }
    output::say_text(&if waits {
        format!("kept in {}: stacks of waits, in microseconds", directory.display())
    } else {
        format!("kept; to compare them again: {command}")
    });
    Ok(())
}

/// Files may be large: each is read by a thread.
fn of_files(files: &[(PathBuf, Option<f64>)], process: Option<&str>) -> Result<Vec<Side>, Failure> {
    parallel(files, |(file, operations)| of_file(file, *operations, process))
}

fn of_file(file: &Path, operations: Option<f64>, process: Option<&str>) -> Result<Side, Failure> {
    let name = file.display().to_string();
    input::open(file).map_err(|error| unread(file, &error))?;
    match dbdyno_lab::import_stacks(file, process).map_err(Failure::Usage)? {
        Some(stacks) if stacks.samples == 0.0 => {
            let of = process.map_or_else(String::new, |name| {
                format!(" of a process named {name}; leave out --process to see all")
            });
            Err(Failure::Usage(format!("{name}: it has no sample{of}")))
        }
        Some(stacks) => {
            for (program, why) in &stacks.unread {
                output::say_text(&format!("note   functions of {program} have no names: {why}"));
            }
            let text = of_event(&stacks);
            let told = Naming::Beside { programs: stacks.programs, idle: stacks.idle };
            Ok(Side { name, stacks: text, operations, told })
        }
        // Names of functions may have any bytes.
        None => {
            let bytes = input::read(file, PROFILE_MOST)
                .and_then(|bytes| input::decode_text(bytes, UNPACKED_MOST));
            let stacks = bytes.map_err(|error| unread(file, &error))?;
            let told = Naming::Within { process: process.map(str::to_owned) };
            Ok(Side { name, stacks, operations, told })
        }
    }
}

/// That a file could not be read.
fn unread(file: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("{}: {error}; name the file of a profile", file.display()))
}

fn weighed(sides: &[Side]) -> Result<Vec<WeightedProfile>, Failure> {
    parallel(sides, |side| {
        let profile = match &side.told {
            Naming::Within { process } => read_process(&side.stacks, process.as_deref()),
            Naming::Beside { programs, idle } => {
                read_process(&side.stacks, None).map(|it| it.with_programs(programs, *idle))
            }
        };
        let profile = profile.map_err(|error| Failure::Usage(format!("{}:{error}", side.name)))?;
        Ok(WeightedProfile { profile, operations: side.operations })
    })
}

fn parallel<I: Sync, O: Send>(
    all: &[I],
    work: impl Fn(&I) -> Result<O, Failure> + Sync,
) -> Result<Vec<O>, Failure> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = all.iter().map(|one| scope.spawn(move || work(one))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|read| read.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording whose samples have no addresses has no stack, and no number of samples above
    /// none.
    #[test]
    fn of_no_stack_no_samples_are_told() {
        let none = of_event(&Stacks { event: Some("cycles".to_owned()), ..Stacks::default() });
        let error = read_process(&none, None).unwrap_err();
        assert!(error.what.contains("there is no stack in it"), "{error}");
        let collapsed = "main;work 3\n".to_owned();
        let some = of_event(&Stacks { samples: 3.0, collapsed, ..Stacks::default() });
        assert_eq!(read_process(&some, None).unwrap().unit, Some(1.0));
    }
}
