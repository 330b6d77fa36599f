//! `dbdyno deadlocks`: every deadlock of a log, clustered by what they have in common.

use std::path::{Path, PathBuf};

use dbdyno_explain::{deadlock_clusters, merged_deadlocks};
use dbdyno_lab::input;

use crate::args::DoctorFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// A log is read into memory; a larger one is cut by its user.
const LOG_MOST: u64 = 2 << 30;

/// The flags of `dbdyno deadlocks`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Deadlocks {
    /// Files to read, together; - is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = DoctorFormat::Text)]
    pub format: DoctorFormat,
}

/// Reads and prints.
pub(crate) fn run(flags: &Deadlocks) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    for file in &flags.files {
        all.extend(deadlock_clusters(&text_of(file)?));
    }
    let clusters = merged_deadlocks(all);
    output::print(&match flags.format {
        DoctorFormat::Text => dbdyno_report::deadlocks_text(&clusters, output::width()),
        DoctorFormat::Json => dbdyno_report::deadlocks_json(&clusters),
    })?;
    Ok(Exit::Holds)
}

fn text_of(file: &Path) -> Result<String, Failure> {
    let read = match file.to_str() {
        Some("-") => input::read_from(std::io::stdin().lock(), LOG_MOST),
        _ => input::read(file, LOG_MOST),
    };
    let bytes = read.map_err(|error| {
        let text =
            format!("could not read {}: {error}; name the error log of a server", file.display());
        Failure::Usage(text)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
