//! `dbdyno check`: which isolation levels a history of transactions has, with proofs.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use dbdyno_check::{
    AnomalyKind, Checker, Contention, Cycle, FlawKind, Format, History, HistoryForm, Input, Level,
    LevelVerdict, MAGIC, ObjectAssumptions, Operations, drawn, is_log, pictures, read_directory,
    read_input, read_records_from, write_history,
};
use dbdyno_lab::input;

use crate::args::DoctorFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{files, objects, output};

/// Levels that are decided where none is asked for.
pub(crate) const USUAL: [Level; 4] = [
    Level::ReadCommitted,
    Level::InnodbRepeatableRead,
    Level::SnapshotIsolation,
    Level::Serializable,
];

/// A history of text is read into memory; longer ones are recorded in records.
const HISTORY_MOST: u64 = 4 << 30;

/// The flags of `dbdyno check`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The history: records of dbdyno, JSON lines, text such as r(x,1,0,0), EDN of Elle and
    /// Jepsen, a file of dbcop or AWDIT, a directory of logs of Cobra or Viper; - is stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Levels to decide, separated by commas [default: read-committed, innodb-repeatable-read,
    /// snapshot-isolation and serializable]
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = level)]
    pub level: Vec<Level>,
    /// Also tell every kind of anomaly that the history has, with a witness of each
    #[arg(long)]
    pub anomalies: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    pub format: DoctorFormat,
    /// Also write the history: as .txt, .plume, .jsonl, .edn, .bincode (dbcop), or else as records
    /// of dbdyno
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Draw each cycle that breaks a level, as LEVEL.svg or LEVEL-2.svg in this directory
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// What the accounts of a bank add up to, where no read before the first transfer says it
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub total: Option<i64>,
    /// What a register held at the beginning, where no read before the first write says it; nil is
    /// nothing
    #[arg(long, value_name = "VALUE")]
    pub initial: Option<String>,
}

/// Commits from which on 3 ÷ N is the 95 % upper bound of a rate of which nothing was seen: Hanley
/// and Lippman-Hand, *If nothing goes wrong, is everything all right?*, JAMA 249, 1983.
const RULE_OF_THREE_FROM: u64 = 30;

/// A level by its name.
pub(crate) fn level(text: &str) -> Result<Level, String> {
    Level::ALL.into_iter().find(|level| level.name() == text).ok_or_else(|| {
        let names: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
        format!("no such level; there are {}", names.join(", "))
    })
}

/// Reads, decides and prints.
pub(crate) fn run(flags: &Check) -> Result<Exit, Failure> {
    let (history, form) = match input_of(&flags.file)? {
        Input::Transactions(history, form) => (history, form),
        Input::Objects(operations) => return run_objects(flags, &operations),
    };
    if flags.total.is_some() || flags.initial.is_some() {
        let what =
            "--total and --initial are of banks and registers, and the file has transactions";
        return Err(Failure::Usage(format!("{}: {what}", flags.file.display())));
    }
    if let Some(path) = &flags.export {
        exported(&history, path)?;
    }
    let levels = if flags.level.is_empty() { &USUAL[..] } else { &flags.level };
    let checker = Checker::new(&history);
    let seen = checker.contention();
    if seen.committed == 0 {
        return Err(Failure::Usage(format!(
            "{}: none of its {} transactions is known to have committed, so that there is nothing \
             to judge; a history needs the ends of transactions, such as :type :ok",
            flags.file.display(),
            history.len()
        )));
    }
    let verdicts = checker.verdicts(levels);
    if let Some(twice) = verdicts.iter().find(|(_, verdict)| is_of_a_value_twice(verdict)) {
        let told = drawn(&history, &twice.1);
        let told = told.lines().next().unwrap_or_default();
        return Err(Failure::Usage(format!(
            "{}: {}, so that nobody can say which of the two a read saw; the writes of a key must \
             have unique values",
            flags.file.display(),
            told.trim_end()
        )));
    }
    if let Some(directory) = &flags.pictures {
        draw(&history, &verdicts, directory)?;
    }
    let kinds = flags.anomalies.then(|| checker.anomaly_kinds(&verdicts));
    output::print(&match flags.format {
        DoctorFormat::Text => {
            let kinds =
                kinds.map_or(String::new(), |kinds| kinds_text(&history, &verdicts, &kinds));
            output::lines(text(&history, form, &seen, &verdicts) + &kinds)
        }
        DoctorFormat::Json => {
            let mut told = value(&history, &seen, &verdicts);
            told["taken_for"] = form.to_string().into();
            if let Some(kinds) = kinds {
                let all = kinds.iter().map(|kind| kind_value(&history, kind));
                told["anomalies"] = all.collect();
                told["anomalies_untold_at"] = undecided(&verdicts).into();
            }
            dbdyno_report::json_text(&told)
        }
    })?;
    let any = |is: fn(&LevelVerdict) -> bool| verdicts.iter().any(|(_, verdict)| is(verdict));
    Ok(if any(|verdict| verdict.anomaly().is_some()) {
        Exit::Fails
    } else if any(|verdict| matches!(verdict, LevelVerdict::CannotTell(_))) {
        Exit::CannotTell
    } else {
        Exit::Holds
    })
}

/// Judges what has no transactions, and so no levels.
fn run_objects(flags: &Check, operations: &Operations) -> Result<Exit, Failure> {
    let of_file = |what: String| Failure::Usage(format!("{}: {what}", flags.file.display()));
    let flag = match flags {
        Check { level, .. } if !level.is_empty() => Some("--level"),
        Check { export: Some(_), .. } => Some("--export"),
        Check { pictures: Some(_), .. } => Some("--pictures"),
        Check { anomalies: true, .. } => Some("--anomalies"),
        _ => None,
    };
    let stated = ObjectAssumptions { total: flags.total, initial: flags.initial.clone() };
    let judged = operations.judged(&stated).map_err(of_file)?;
    if let Some(flag) = flag {
        return Err(of_file(format!(
            "{flag} is of transactions, and this is a {}; leave {flag} out",
            judged.workload.name()
        )));
    }
    output::print(&match flags.format {
        DoctorFormat::Text => output::lines(objects::text(&judged)),
        DoctorFormat::Json => objects::json(&judged),
    })?;
    Ok(objects::exit(&judged))
}

/// Whether a verdict says no more than that the file gives one value to two writes.
fn is_of_a_value_twice(verdict: &LevelVerdict) -> bool {
    matches!(verdict, LevelVerdict::Flaw(flaw) if flaw.kind == FlawKind::DuplicateWrite)
}

/// Draws the cycles of all levels that are broken.
fn draw(history: &History, all: &[(Level, LevelVerdict)], directory: &Path) -> Result<(), Failure> {
    files::make_directory(directory)?;
    for (level, verdict) in all {
        for (number, picture) in (1..).zip(pictures(history, verdict)) {
            let ending = if number == 1 { String::new() } else { format!("-{number}") };
            let path = directory.join(format!("{level}{ending}.svg"));
            files::write(&path, output::harmless(&picture).as_bytes())?;
        }
    }
    Ok(())
}

/// Writes the history in the format that the file's name ends with.
pub(crate) fn exported(history: &History, path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = Format::of_ending(ending);
    let bytes = write_history(history, format)
        .map_err(|what| Failure::Usage(format!("{}: {what}", path.display())))?;
    let has_times = (0..history.len()).any(|txn| history.txn(txn).times.commit_return_ns > 0);
    if has_times && matches!(format, Format::Text | Format::Plume | Format::Dbcop) {
        let text = "this form has no words for times: read back, the history tells nothing of \
                    levels of real time; .edn, .jsonl, and any other ending, keep them";
        output::say(&output::talk("note", text));
    }
    files::write(path, bytes)
}

fn text(
    history: &History,
    form: HistoryForm,
    seen: &Contention,
    verdicts: &[(Level, LevelVerdict)],
) -> String {
    let mut out = format!(
        "{}\ntaken for {form}\n{} transactions, {} committed, {} operations; {} ww, {} wr, {} rw dependencies\n",
        headline(verdicts),
        history.len(),
        seen.committed,
        history.op_count(),
        seen.ww,
        seen.wr,
        seen.rw
    );
    for (level, verdict) in verdicts {
        let source = level.source();
        let _ = writeln!(out, "\n{level}, {source}: {}", word(verdict));
        for line in drawn(history, verdict).lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
    }
    let is_clean = verdicts.iter().all(|(_, verdict)| matches!(verdict, LevelVerdict::Holds(_)));
    if let Some(bound) = bound(seen).filter(|_| is_clean) {
        let _ = writeln!(out, "\n{bound}");
    }
    out
}

/// Levels that cannot be told: there may be anomalies that would break them.
fn undecided(verdicts: &[(Level, LevelVerdict)]) -> Vec<&'static str> {
    let open =
        verdicts.iter().filter(|(_, verdict)| matches!(verdict, LevelVerdict::CannotTell(_)));
    open.map(|(level, _)| level.name()).collect()
}

/// The kinds of anomalies, each with its witness.
fn kinds_text(
    history: &History,
    verdicts: &[(Level, LevelVerdict)],
    kinds: &[AnomalyKind],
) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    let told = match (names.is_empty(), undecided(verdicts)) {
        (true, open) if open.is_empty() => "none was found".to_owned(),
        (true, open) => format!(
            "none of those that the file tells (wrong reads, lost updates, write skew, cycles of \
             known dependencies); whether there are others, which would break {}, cannot be told",
            open.join(" or ")
        ),
        (false, open) if open.is_empty() => names.join(", "),
        (false, open) => format!(
            "{}; whether there are others, which would break {}, cannot be told",
            names.join(", "),
            open.join(" or ")
        ),
    };
    let mut out = format!("\nkinds of anomalies: {told}\n");
    for kind in kinds {
        let _ = match kind.count {
            Some((count, of)) => writeln!(out, "\n{}, {of}: {count}", kind.name),
            None => {
                let why = kind.why_not_counted().unwrap_or_default();
                writeln!(out, "\n{}: not counted, for {why}", kind.name)
            }
        };
        for line in drawn(history, &kind.witness).lines() {
            let _ = writeln!(out, "{}", format!("  {line}").trim_end());
        }
    }
    out
}

/// Which levels are what, the broken ones first.
fn headline(verdicts: &[(Level, LevelVerdict)]) -> String {
    let class = |verdict: &LevelVerdict| match verdict {
        LevelVerdict::Holds(_) => "holds",
        LevelVerdict::CannotTell(_) => "cannot tell",
        _ => "broken",
    };
    let told = ["broken", "cannot tell", "holds"].into_iter().filter_map(|word| {
        let own = verdicts.iter().filter(|(_, verdict)| class(verdict) == word);
        let own: Vec<String> = own.map(|(level, _)| level.to_string()).collect();
        (!own.is_empty()).then(|| format!("{word}: {}", own.join(", ")))
    });
    told.collect::<Vec<_>>().join("; ")
}

/// A verdict in a few words.
pub(crate) fn word(verdict: &LevelVerdict) -> String {
    match verdict {
        LevelVerdict::Holds(_) => "holds; an order of the transactions was replayed".to_owned(),
        LevelVerdict::CannotTell(why) => format!("cannot tell: {why}"),
        broken => format!("broken by {}", broken.anomaly().unwrap_or_default()),
    }
}

/// How rare an anomaly must be of which none was seen; nothing of too few commits.
pub(crate) fn bound(seen: &Contention) -> Option<String> {
    let rate = 3.0 / seen.committed as f64;
    let told = format!(
        "No anomaly in {} commits: at most {rate:.1e} of commits have one, with 95 %.",
        seen.committed
    );
    (seen.committed >= RULE_OF_THREE_FROM).then_some(told)
}

/// What is known of a history, as JSON.
pub(crate) fn value(
    history: &History,
    seen: &Contention,
    verdicts: &[(Level, LevelVerdict)],
) -> serde_json::Value {
    let levels: Vec<serde_json::Value> = verdicts
        .iter()
        .map(|(level, verdict)| {
            let (told, why) = match verdict {
                LevelVerdict::Holds(_) => ("holds", None),
                LevelVerdict::CannotTell(why) => ("cannot_tell", Some(why)),
                _ => ("broken", None),
            };
            let mut level = serde_json::json!({
                "level": level.name(), "definition": level.source(), "verdict": told,
                "anomaly": verdict.anomaly(), "why": why,
            });
            add_witness(&mut level, history, verdict);
            level
        })
        .collect();
    serde_json::json!({
        "schema": 1, "transactions": history.len(), "committed": seen.committed,
        "operations": history.op_count(),
        "ww": seen.ww, "wr": seen.wr, "rw": seen.rw, "unplaced": seen.unplaced,
        "levels": levels,
    })
}

/// A kind of anomaly, as JSON.
fn kind_value(history: &History, kind: &AnomalyKind) -> serde_json::Value {
    let (count, counted) = kind.count.unzip();
    let mut told = serde_json::json!({ "anomaly": kind.name, "count": count, "counted": counted });
    told["why_not_counted"] = kind.why_not_counted().into();
    add_witness(&mut told, history, &kind.witness);
    told
}

/// Adds what breaks a level: a cycle, several ones, or what no order explains.
fn add_witness(told: &mut serde_json::Value, history: &History, verdict: &LevelVerdict) {
    let steps = |cycle: &Cycle| -> Vec<serde_json::Value> {
        cycle.steps.iter().map(|s| step(history, s)).collect()
    };
    let (mut cycle, mut each, mut shortest, mut flaw) = (Vec::new(), Vec::new(), None, None);
    match verdict {
        LevelVerdict::Cycle(_, own) => (cycle, shortest) = (steps(own), Some(own.is_shortest)),
        LevelVerdict::NoOrder(_, cycles) => each = cycles.iter().map(steps).collect(),
        LevelVerdict::Flaw(own) => {
            flaw = Some(serde_json::json!({
                "transaction": own.txn, "origin": history.origin(own.txn),
                "other": own.other, "other_origin": own.other.and_then(|txn| history.origin(txn)),
                "key": history.key_name(own.key), "version": history.value_name(own.version),
            }));
        }
        _ => {}
    }
    told["cycle"] = cycle.into();
    told["shortest"] = shortest.into();
    told["a_cycle_of_each_order"] = each.into();
    told["flaw"] = flaw.into();
}

fn step(history: &History, step: &dbdyno_check::CycleStep) -> serde_json::Value {
    let is_of_versions = (step.key as usize) != dbdyno_check::UNKNOWN as usize;
    let key = is_of_versions.then(|| history.key_name(step.key));
    let version = is_of_versions.then(|| history.value_name(step.version));
    serde_json::json!({
        "from": step.from, "to": step.to, "dependency": step.dependency.short(),
        "key": key, "version": version, "seen_by": step.by, "assumed": step.is_assumed,
        "from_origin": history.origin(step.from), "to_origin": history.origin(step.to),
    })
}

/// What is in a file, or in a directory of the logs of one history. Records are read piece by
/// piece: what they take would be the greater part of the memory.
fn input_of(file: &Path) -> Result<Input, Failure> {
    let begins = |open: &mut std::fs::File| {
        let mut begin = Vec::new();
        let length = MAGIC.len() as u64;
        open.by_ref().take(length).read_to_end(&mut begin).is_ok() && begin == MAGIC
    };
    let is_directory = std::fs::metadata(file).is_ok_and(|about| about.is_dir());
    let told = match dbdyno_files::open(file).ok().map(|mut open| (begins(&mut open), open)) {
        Some((true, mut open)) => {
            let history = read_records_from(&mut open).map_err(|bad| bad.to_string());
            history.map(|history| Input::Transactions(Box::new(history), HistoryForm::Records))
        }
        _ if is_directory => read_directory(&logs_of(file)?).map_err(|bad| bad.to_string()),
        _ => read_input(&bytes_of(file)?).map_err(|bad| bad.to_string()),
    };
    told.map_err(|bad| Failure::Usage(format!("{}: {bad}", file.display())))
}

/// The files of a directory that may be logs of a history, by name.
fn logs_of(directory: &Path) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let unread = |error: std::io::Error| {
        Failure::Usage(format!("could not read {}: {error}; name a history", directory.display()))
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let is_file = std::fs::metadata(entry.path()).is_ok_and(|about| about.is_file());
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_file && is_log(&name) {
            names.push((name, entry.path()));
        }
    }
    names.sort();
    let mut left = HISTORY_MOST;
    let mut logs = Vec::new();
    for (name, path) in names {
        let bytes = input::read(&path, left).map_err(unread)?;
        left -= bytes.len() as u64;
        logs.push((name, bytes));
    }
    Ok(logs)
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file.to_str() {
        Some("-") => input::read_from(std::io::stdin().lock(), HISTORY_MOST),
        _ => input::read(file, HISTORY_MOST),
    };
    read.map_err(|error| {
        let text = format!("could not read {}: {error}; name a history", file.display());
        Failure::Usage(text)
    })
}
