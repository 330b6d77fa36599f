//! What was not made here: what going on with it would do, said before it is done.
//!
//! ```text
//!   a stored run that this home did not begin   what it starts, and the statements that it sends
//!   the file of an experiment                   what it reaches beyond servers that dbdyno gets
//!                                               and starts itself, and loads that it has
//! ```
//!
//! `resume`, and `explain` with its trials, start what a run names, with its options, and send the
//! statements of its loads. The laboratory refuses that for a run of somebody else; here stands
//! what the user has to look at before he says `--trust-store`.
//!
//! The file of an experiment may come from anywhere, too. Most of them name releases, options that
//! are numbers and words, and loads by their names, and are carried out as they are. What is left
//! is what a script could do: log in somewhere with the passwords that the user has, send
//! statements of its own, start programs or read files that an option names, read files elsewhere,
//! write files. That takes `--trust-experiment`. What the user adds behind the file is his own.

use std::path::{Path, PathBuf};

use dbdyno_model::{ArmIndex, ArmSpec, RocksOptions, Run, Setting, Target, foreign, setting};
use dbdyno_store::Store;

use crate::failure::Failure;
use crate::output;

/// Lines of a load's file that are shown; what people write by hand has fewer.
const LINES_MOST: usize = 60;

/// Says what a run would carry out, unless this home began it.
///
/// # Errors
/// A store that cannot be read.
pub(crate) fn announce_run(store: &Store, run: &Run) -> Result<(), Failure> {
    if !store.is_own(&run.id)? {
        announced(run).iter().for_each(|line| output::say_text(line));
    }
    Ok(())
}

fn announced(run: &Run) -> Vec<String> {
    let mut lines =
        vec![format!("run {} was not begun from this home. To go on with it means", run.id)];
    for (arm, spec) in run.plan.arms.iter() {
        let target = foreign::one_line(&spec.to_string()).into_owned();
        lines.push(format!("  {arm}: {} {target}", does(spec)));
    }
    for file in &run.plan.question.files {
        lines.extend(statements(&file.file, &file.text, "in the table plan_file of the store"));
    }
    lines
}

fn does(spec: &ArmSpec) -> &'static str {
    match spec.target {
        Target::Url(_) => "to log in with your account to",
        Target::Release(_) => "to start, on this machine, with these options,",
        _ => "to run, in this process,",
    }
}

/// A heading, and what stands in the file of a load; `rest` says where more of it can be read.
fn statements(file: &str, text: &str, rest: &str) -> Vec<String> {
    let mut lines = vec![format!("  to send what {} holds:", foreign::one_line(file))];
    let shown = text.lines().take(LINES_MOST);
    lines.extend(shown.map(|line| format!("    {}", foreign::one_line(line))));
    let more = text.lines().count().saturating_sub(LINES_MOST);
    if more > 0 {
        lines.push(format!("    … and {more} lines more, {rest}"));
    }
    lines
}

/// What the file of an experiment says, as far as it matters what it may reach.
#[derive(Debug)]
pub(crate) struct Wishes<'a> {
    /// Where the file is.
    pub file: &'a Path,
    /// The servers, as they are named: nothing is filled in from the environment.
    pub arms: &'a [ArmSpec],
    /// Files of loads and arrivals.
    pub inputs: Vec<PathBuf>,
    /// What is written, or where things are kept.
    pub outputs: Vec<PathBuf>,
}

impl Wishes<'_> {
    /// Refuses what reaches beyond servers that dbdyno starts itself, unless the user trusts it.
    ///
    /// # Errors
    /// A sentence that says how to go on, after lines that say what would be done.
    pub(crate) fn require_trust(&self, is_trusted: bool) -> Result<(), Failure> {
        let reach = self.reach();
        if reach.is_empty() {
            return Ok(());
        }
        let file = self.file.display();
        output::say_text(&format!("to carry out {file} means"));
        reach.iter().for_each(|line| output::say_text(line));
        if is_trusted {
            return Ok(());
        }
        Err(Failure::Usage(format!(
            "{file} was not carried out, for it does more than start servers that dbdyno gets \
             itself; if you trust whoever wrote it: `dbdyno run --trust-experiment {file}`"
        )))
    }

    /// A line for each thing; none for an experiment that keeps to what dbdyno starts itself.
    fn reach(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (arm, spec) in ArmIndex::all(self.arms.len()).zip(self.arms) {
            if reaches_out(&spec.target) {
                let target = foreign::one_line(&spec.to_string()).into_owned();
                lines.push(format!("  {arm}: {} {target}", does(spec)));
            }
        }
        let is_asked = self.arms.iter().any(|spec| takes_statements(&spec.target));
        for path in &self.inputs {
            let shown = path.display().to_string();
            if !self.is_beside(path) {
                lines.push(format!("  to read {}, elsewhere", foreign::one_line(&shown)));
            } else if is_asked && let Ok(text) = dbdyno_lab::input::read_text(path) {
                lines.extend(statements(&shown, &text, "in that file"));
            }
        }
        let written = self.outputs.iter().map(|path| path.display().to_string());
        lines.extend(written.map(|path| format!("  to write {}", foreign::one_line(&path))));
        lines
    }

    /// Whether a file, where links lead to, lies in the folder of the experiment or below it. One
    /// that is not there is nowhere else.
    fn is_beside(&self, path: &Path) -> bool {
        let folder = match self.file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let is_plain = path.strip_prefix(folder).is_ok_and(|rest| {
            rest.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        });
        match (folder.canonicalize(), path.canonicalize()) {
            (Ok(folder), Ok(path)) => path.starts_with(folder),
            _ => is_plain,
        }
    }
}

/// Whether a target is more than what dbdyno makes by itself: a server of somebody, or one that is
/// told a file, a program or a library.
fn reaches_out(target: &Target) -> bool {
    match target {
        Target::Url(_) => true,
        Target::Release(release) => release.settings.iter().any(|setting| match setting {
            Setting::File(_) => true,
            Setting::Raw(name, value) => !setting::is_plain(name, value),
            _ => false,
        }),
        Target::Sqlite(options) => {
            options.iter().any(|(name, value)| !setting::is_plain(name, value))
        }
        // What is handed on may fill a disk by its number alone.
        Target::Rocksdb(options) => options.iter().any(|(name, _)| !RocksOptions::is_known(name)),
        // They open no file but their own, and take numbers and words.
        Target::Mock(_) | Target::Engine(_) => false,
    }
}

/// Whether a load's own statements are carried out as they stand, by a server that may write files
/// and start programs.
fn takes_statements(target: &Target) -> bool {
    matches!(target, Target::Url(_) | Target::Release(_) | Target::Sqlite(_))
}
