//! `dbdyno check`: which isolation levels a history of transactions has, with proofs.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use dbdyno_check::{
    AnomalyKind, BadInput, Checker, Contention, Cycle, FlawKind, Format, History, HistoryFiles,
    HistoryForm, Input, Level, LevelVerdict, MAGIC, ObjectAssumptions, Operations, cycle_pictures,
    history_files, read_directory, read_input, read_records_from, violation_drawing, write_history,
};
use dbdyno_document::Text;
use dbdyno_lab::input;
use dbdyno_report::verdicts::{
    AnomalyFinding, DependencyStep, FlawStep, HistoryReport, LevelFinding, LevelWitness,
    PropertyVerdict, VERDICTS_SCHEMA, VerdictWord, history_report_document, object_document,
    verdicts_json,
};

use crate::args::ReportFormat;
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
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
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
    /// The accounts of a bank, with commas, where reads do not have the same ones
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub accounts: Vec<String>,
    /// What a register held at the beginning, where no read before the first write says it; nil is
    /// nothing
    #[arg(long, value_name = "VALUE")]
    pub initial: Option<String>,
}

/// A level by its name.
pub(crate) fn level(text: &str) -> Result<Level, String> {
    Level::ALL.into_iter().find(|level| level.name() == text).ok_or_else(|| {
        let names: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
        format!("no such level; there are {}", names.join(", "))
    })
}

/// Reads, decides and prints.
pub(crate) fn run(flags: &Check) -> Result<Exit, Failure> {
    let FileInput { input, file_read } = input_of(&flags.file)?;
    let (history, form) = match input {
        Input::Transactions(history, form) => (history, form),
        Input::Objects(operations) => return run_objects(flags, &operations, file_read),
    };
    if flags.total.is_some() || flags.initial.is_some() || !flags.accounts.is_empty() {
        let what = "--total, --accounts and --initial are of banks and registers, and the file has \
                    transactions";
        return Err(Failure::Usage(format!("{}: {what}", flags.file.display())));
    }
    if let Some(path) = &flags.export {
        export_history(&history, path)?;
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
    let verdicts = checker.proved_verdicts(levels);
    if let Some(twice) = verdicts.iter().find(|(_, verdict)| is_of_a_value_twice(verdict)) {
        let told = violation_drawing(&history, &twice.1);
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
    let mut report = report_of(&history, &seen, &verdicts);
    report.taken_for = Some(match file_read {
        Some(file) => format!("{form}, {file}"),
        None => form.to_string(),
    });
    if flags.anomalies {
        let kinds = checker.anomaly_kinds(&verdicts);
        report.anomalies = Some(kinds.iter().map(|kind| anomaly_finding(&history, kind)).collect());
        report.anomalies_untold_at = Some(undecided(&verdicts));
    }
    output::print_report(
        flags.format,
        || history_report_document(&report),
        || verdicts_json(&report),
    )?;
    Ok(exit_of(report.levels.iter().map(|level| level.verdict.verdict)))
}

/// What broken and undecided levels mean for a script.
pub(crate) fn exit_of(verdicts: impl Iterator<Item = VerdictWord>) -> Exit {
    let verdicts: Vec<VerdictWord> = verdicts.collect();
    if verdicts.contains(&VerdictWord::Broken) {
        Exit::Fails
    } else if verdicts.contains(&VerdictWord::CannotTell) {
        Exit::CannotTell
    } else {
        Exit::Holds
    }
}

/// Judges what has no transactions, and so no levels.
fn run_objects(
    flags: &Check,
    operations: &Operations,
    file_read: Option<String>,
) -> Result<Exit, Failure> {
    let flag = match flags {
        Check { level, .. } if !level.is_empty() => Some("--level"),
        Check { export: Some(_), .. } => Some("--export"),
        Check { pictures: Some(_), .. } => Some("--pictures"),
        Check { anomalies: true, .. } => Some("--anomalies"),
        _ => None,
    };
    let stated = ObjectAssumptions {
        total: flags.total,
        accounts: (!flags.accounts.is_empty()).then(|| flags.accounts.clone()),
        initial: flags.initial.clone(),
    };
    let judged = operations.judge_workload(&stated);
    let mut judged =
        judged.map_err(|what| Failure::Usage(format!("{}: {what}", flags.file.display())))?;
    judged.notes.extend(file_read.map(|file| format!("its history is {file}")));
    if let Some(flag) = flag {
        return Err(Failure::Usage(format!(
            "{}: {flag} is of transactions, and this is a {}; leave {flag} out",
            flags.file.display(),
            judged.workload.name()
        )));
    }
    let report = objects::report_of(judged);
    output::print_report(flags.format, || object_document(&report), || verdicts_json(&report))?;
    Ok(exit_of([report.verdict.verdict].into_iter()))
}

/// Whether a verdict says no more than that the file gives one value to two writes.
fn is_of_a_value_twice(verdict: &LevelVerdict) -> bool {
    matches!(verdict, LevelVerdict::Flaw(flaw) if flaw.kind == FlawKind::DuplicateWrite)
}

/// Draws the cycles of all levels that are broken.
fn draw(history: &History, all: &[(Level, LevelVerdict)], directory: &Path) -> Result<(), Failure> {
    files::make_directory(directory)?;
    for (level, verdict) in all {
        for (number, picture) in (1..).zip(cycle_pictures(history, verdict)) {
            let ending = if number == 1 { String::new() } else { format!("-{number}") };
            let path = directory.join(format!("{level}{ending}.svg"));
            files::write(&path, output::sanitize_text(&picture).as_bytes())?;
        }
    }
    Ok(())
}

/// Writes the history in the format that the file's name ends with.
pub(crate) fn export_history(history: &History, path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = Format::of_ending(ending);
    let bytes = write_history(history, format)
        .map_err(|what| Failure::Usage(format!("{}: {what}", path.display())))?;
    let has_times = (0..history.len()).any(|txn| history.txn(txn).times.commit_return_ns > 0);
    if has_times && matches!(format, Format::Text | Format::Plume | Format::Dbcop) {
        let text = "this form has no words for times: read back, the history tells nothing of \
                    levels of real time; .edn, .jsonl, and any other ending, keep them";
        output::say_text(&output::labelled_line("note", text));
    }
    files::write(path, bytes)
}

/// Levels that cannot be told: there may be anomalies that would break them.
fn undecided(verdicts: &[(Level, LevelVerdict)]) -> Vec<&'static str> {
    let open =
        verdicts.iter().filter(|(_, verdict)| matches!(verdict, LevelVerdict::CannotTell(_)));
    open.map(|(level, _)| level.name()).collect()
}

/// What is known of a history.
pub(crate) fn report_of(
    history: &History,
    seen: &Contention,
    verdicts: &[(Level, LevelVerdict)],
) -> HistoryReport {
    let levels = verdicts.iter().map(|(level, verdict)| LevelFinding {
        level: level.name(),
        definition: level.definition_source(),
        verdict: match verdict {
            LevelVerdict::Holds(_) => PropertyVerdict::holds(),
            LevelVerdict::CannotTell(why) => PropertyVerdict::cannot_tell(why),
            broken => PropertyVerdict::broken_by(broken.anomaly().unwrap_or_default()),
        },
        witness: witness(history, verdict),
    });
    HistoryReport {
        schema: VERDICTS_SCHEMA,
        taken_for: None,
        transactions: history.len(),
        committed: seen.committed,
        operations: history.op_count(),
        ww: seen.ww,
        wr: seen.wr,
        rw: seen.rw,
        unplaced: seen.unplaced,
        levels: levels.collect(),
        anomalies: None,
        anomalies_untold_at: None,
    }
}

fn anomaly_finding(history: &History, kind: &AnomalyKind) -> AnomalyFinding {
    let (count, counted) = kind.count.unzip();
    AnomalyFinding {
        anomaly: kind.name.clone(),
        count,
        counted,
        why_not_counted: kind.why_not_counted(),
        witness: witness(history, &kind.witness),
    }
}

/// What breaks a level.
fn witness(history: &History, verdict: &LevelVerdict) -> LevelWitness {
    let drawing = violation_drawing(history, verdict).lines().map(Text::from).collect();
    let mut witness = LevelWitness { drawing, ..LevelWitness::default() };
    match verdict {
        LevelVerdict::Cycle(_, cycle) => {
            witness.cycle = steps(history, cycle);
            witness.shortest = Some(cycle.is_shortest);
        }
        LevelVerdict::NoOrder(_, cycles) => {
            let cycles = cycles.iter().map(|cycle| steps(history, cycle));
            witness.a_cycle_of_each_order = cycles.collect();
        }
        LevelVerdict::Flaw(flaw) => {
            witness.flaw = Some(FlawStep {
                transaction: flaw.txn,
                origin: history.origin_text(flaw.txn),
                other: flaw.other,
                other_origin: flaw.other.and_then(|txn| history.origin_text(txn)),
                key: history.key_name(flaw.key),
                version: history.value_name(flaw.version),
            });
        }
        _ => {}
    }
    witness
}

fn steps(history: &History, cycle: &Cycle) -> Vec<DependencyStep> {
    let steps = cycle.steps.iter().map(|step| {
        let is_of_versions = step.key != dbdyno_check::UNKNOWN;
        DependencyStep {
            from: step.from,
            to: step.to,
            dependency: step.dependency.short_name(),
            key: is_of_versions.then(|| history.key_name(step.key)),
            version: is_of_versions.then(|| history.value_name(step.version)),
            seen_by: step.by,
            assumed: step.is_assumed,
            from_origin: history.origin_text(step.from),
            to_origin: history.origin_text(step.to),
        }
    });
    steps.collect()
}

/// What is in a file, or in a directory.
struct FileInput {
    input: Input,
    /// Of a directory the file that was read, and others that were not.
    file_read: Option<String>,
}

/// What is in a file, or in a directory of the logs of one history. Records are read piece by
/// piece: what they take would be the greater part of the memory.
fn input_of(file: &Path) -> Result<FileInput, Failure> {
    if std::fs::metadata(file).is_ok_and(|about| about.is_dir()) {
        return directory_input(file);
    }
    let told = match dbdyno_files::open(file).ok().map(|mut open| (is_of_records(&mut open), open))
    {
        Some((true, mut open)) => {
            let history = read_records_from(&mut open).map_err(|bad| bad.to_string());
            history.map(|history| Input::Transactions(Box::new(history), HistoryForm::Records))
        }
        _ => read_input(&bytes_of(file)?).map_err(|bad| bad.to_string()),
    };
    let input = told.map_err(|bad| Failure::Usage(format!("{}: {bad}", file.display())))?;
    Ok(FileInput { input, file_read: None })
}

/// Whether a file begins as records do; what is behind that is left to be read.
fn is_of_records(file: &mut std::fs::File) -> bool {
    let mut begin = Vec::new();
    let length = MAGIC.len() as u64;
    file.by_ref().take(length).read_to_end(&mut begin).is_ok() && begin == MAGIC
}

/// The history of a directory. What is called as a part of it and is no file on a disk is refused
/// by its name: the rest of it is another history.
fn directory_input(directory: &Path) -> Result<FileInput, Failure> {
    let names = names_within(directory).map_err(|error| unread(directory, &error))?;
    let chosen = history_files(&names).map_err(|bad| refused_input(directory, &bad))?;
    let HistoryFiles { read, beside } = chosen;
    for name in &beside {
        let path = directory.join(name);
        dbdyno_files::check_regular_file(&path).map_err(|error| unread(&path, &error))?;
    }
    let mut left = HISTORY_MOST;
    let mut files = Vec::new();
    for name in read {
        let path = directory.join(&name);
        let bytes = input::read(&path, left).map_err(|error| unread(&path, &error))?;
        left -= bytes.len() as u64;
        files.push((name, bytes));
    }
    let input = read_directory(&files).map_err(|bad| refused_input(directory, &bad))?;
    Ok(FileInput { input, file_read: history_read(&files, &beside) })
}

/// Which file of a directory was read, where one is the history, and which were not.
fn history_read(files: &[(String, Vec<u8>)], beside: &[String]) -> Option<String> {
    let (name, _) = files.first().filter(|(name, _)| !name.ends_with(".log"))?;
    Some(match beside {
        [] => name.clone(),
        others => format!("{name}; not read: {}", others.join(", ")),
    })
}

fn names_within(directory: &Path) -> std::io::Result<Vec<String>> {
    let all = std::fs::read_dir(directory)?;
    all.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn refused_input(path: &Path, bad: &BadInput) -> Failure {
    Failure::Usage(format!("{}: {bad}", path.display()))
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("could not read {}: {error}; name a history", path.display()))
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = match file.to_str() {
        Some("-") => input::read_from(std::io::stdin().lock(), HISTORY_MOST),
        _ => input::read(file, HISTORY_MOST),
    };
    read.map_err(|error| unread(file, &error))
}
