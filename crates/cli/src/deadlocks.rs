//! `dbdyno deadlocks`: every deadlock of a log, clustered by what they have in common.

use std::path::{Path, PathBuf};

use dbdyno_explain::{
    DeadlockGap, DeadlockReading, LogDirection, gather_deadlocks, read_deadlocks,
};
use dbdyno_lab::input;
use dbdyno_report::{
    DeadlockInPart, DeadlockInput, DeadlocksShown, deadlocks_document, deadlocks_json,
};

use crate::args::ReportFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// A log is read into memory; a larger one is cut by its user.
const LOG_MOST: u64 = 2 << 30;
/// One that is packed may be small and grow without end.
const UNPACKED_MOST: u64 = 256 << 20;

/// The flags of `dbdyno deadlocks`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Deadlocks {
    /// Files to read, together; - is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
}

/// Reads and prints. A deadlock that is spoken of and not understood is none that was not there.
pub(crate) fn run(flags: &Deadlocks) -> Result<Exit, Failure> {
    let (mut inputs, mut all) = (Vec::new(), Vec::new());
    for file in &flags.files {
        let reading = read_deadlocks(&text_of(file)?);
        if let Some(why) = refusal(file, &reading) {
            return Err(Failure::Usage(why));
        }
        inputs.push(DeadlockInput {
            file: file.display().to_string(),
            taken_for: taken_for(&reading),
            lines: reading.lines,
            passed_over: reading.passed_over,
            unread: reading.unread,
            in_part: reading.in_part.into_iter().map(in_part).collect(),
            client_errors: reading.client_errors,
            newest_first: reading.direction == LogDirection::NewestFirst,
            sources: reading.sources,
        });
        all.extend(reading.tellings);
    }
    let gathered = gather_deadlocks(all);
    let shown = DeadlocksShown {
        inputs,
        clusters: gathered.clusters,
        repeated: gathered.repeated,
        repeated_tellings: gathered.repeated_tellings,
        doubtful: gathered.doubtful,
    };
    output::print_report(flags.format, || deadlocks_document(&shown), || deadlocks_json(&shown))?;
    Ok(Exit::Holds)
}

/// What a text was taken for, and what was undone of what had become of it.
fn taken_for(reading: &DeadlockReading) -> Vec<String> {
    let kinds = reading.kinds.iter().map(|kind| kind.name().to_owned());
    kinds.chain(reading.repairs.iter().map(|repair| repair.name())).collect()
}

fn in_part(gap: DeadlockGap) -> DeadlockInPart {
    DeadlockInPart { line: gap.line, missing: gap.missing }
}

/// Why nothing can be said of a text.
fn refusal(file: &Path, reading: &DeadlockReading) -> Option<String> {
    let file = file.display();
    if let Some(wrong) = &reading.wrong {
        return Some(format!("{file}:{wrong}"));
    }
    if !reading.tellings.is_empty() {
        return None;
    }
    if let Some(line) = reading.unread.first() {
        return Some(format!(
            "{file}:{line}: a deadlock is announced here, and who took part could not be read; \
             needed are the lines that follow it in the server's own log: TRANSACTION and RECORD \
             LOCKS of InnoDB (innodb_print_all_deadlocks=ON), DETAIL of PostgreSQL \
             (log_error_verbosity=default)"
        ));
    }
    if let Some(line) = reading.client_errors.first() {
        let count = reading.client_errors.len();
        return Some(format!(
            "{file}:{line}: a client is told here by error 1213 ({count} of them in all) that a \
             deadlock, or with Galera a conflict in certification, ended its transaction, and not \
             which one; name the server's own log (innodb_print_all_deadlocks=ON, \
             wsrep_log_conflicts=ON), or what SHOW ENGINE INNODB STATUS prints"
        ));
    }
    (reading.kinds.is_empty()).then(|| {
        let lines = reading.lines;
        format!(
            "{file}: none of its {lines} lines is of a log of MySQL, MariaDB or PostgreSQL, or of \
             SHOW ENGINE INNODB STATUS; name the error log of a server"
        )
    })
}

fn text_of(file: &Path) -> Result<String, Failure> {
    let read = match file.to_str() {
        Some("-") => input::read_from(std::io::stdin().lock(), LOG_MOST),
        _ => input::read(file, LOG_MOST),
    };
    let text = read.and_then(|bytes| input::decode_text(bytes, UNPACKED_MOST));
    text.map_err(|error| {
        let text =
            format!("could not read {}: {error}; name the error log of a server", file.display());
        Failure::Usage(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log with nothing but these answered that there were no deadlocks.
    #[test]
    fn errors_of_clients_alone_are_not_called_none() {
        let error = "ERROR 1213 (40001): Deadlock: wsrep aborted transaction\n";
        let log = format!("2026-01-01T00:00:00.1Z 5 [Note] ready\n{error}{error}");
        let why = refusal(Path::new("log"), &read_deadlocks(&log)).unwrap();
        assert!(why.starts_with("log:2: ") && why.contains("(2 of them in all)"), "{why}");
        assert!(why.contains("Galera") && why.contains("certification"), "{why}");
        let log = "2026-01-01 00:00:00 UTC [7] LOG:  ready\npq: deadlock detected (40P01)\n";
        let why = refusal(Path::new("log"), &read_deadlocks(log)).unwrap();
        assert!(why.starts_with("log:2: a deadlock is announced here"), "{why}");
    }
}
