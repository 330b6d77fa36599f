//! What a server wrote to its error log, without what it writes as a matter of routine.
//!
//! PostgreSQL prints each checkpoint and each run of autovacuum, checkpoints by itself from 15 on
//! and both where it is told to. Two servers with the same work do that at different moments: who
//! prints it complains of nothing, and the line costs nothing beside the work that it tells of.

use std::cell::RefCell;

use dbdyno_model::Dialect;
use dbdyno_probe::ServerProbe;

/// How such an entry begins, behind its time.
const ROUTINE: [&str; 6] = [
    "LOG:  checkpoint starting:",
    "LOG:  checkpoint complete:",
    "LOG:  restartpoint ",
    "LOG:  automatic vacuum of ",
    "LOG:  automatic aggressive vacuum ",
    "LOG:  automatic analyze of ",
];
/// What is read of the log at once, in bytes; what is behind it counts as no routine.
const READ_MOST: u64 = 1 << 20;

/// The error log of a server, read on and on.
pub(super) struct ErrorLog {
    probe: ServerProbe,
    /// Whether entries of routine are told apart.
    has_routine: bool,
    read: RefCell<ErrorLogReading>,
}

/// What was read of it.
#[derive(Default)]
struct ErrorLogReading {
    bytes: u64,
    /// Those that are no routine.
    told: u64,
    /// Whether the last entry is; it goes on in lines that begin with a tabulator.
    is_routine: bool,
}

impl ErrorLog {
    pub(super) fn new(probe: &ServerProbe, dialect: Dialect) -> ErrorLog {
        let has_routine = dialect == Dialect::Postgres;
        ErrorLog { probe: probe.clone(), has_routine, read: RefCell::default() }
    }

    /// Bytes written until now that are no routine; `None` where the log is no file.
    pub(super) fn told_bytes(&self) -> Option<f64> {
        let size = self.probe.error_log_bytes()?;
        if !self.has_routine {
            return Some(size as f64);
        }
        let mut read = self.read.borrow_mut();
        let more = self.probe.error_log_since(read.bytes, READ_MOST)?;
        read.take(&more);
        if more.len() as u64 >= READ_MOST {
            let left = size.saturating_sub(read.bytes);
            read.bytes += left;
            read.told += left;
        }
        Some(read.told as f64)
    }
}

impl ErrorLogReading {
    /// Takes whole lines; the rest is read again with the next ones.
    fn take(&mut self, more: &[u8]) {
        let Some(end) = more.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines = &more[..=end];
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            if !line.starts_with(b"\t") {
                let text = String::from_utf8_lossy(line);
                self.is_routine = ROUTINE.iter().any(|words| text.contains(words));
            }
            if !self.is_routine {
                self.told += line.len() as u64;
            }
        }
        self.bytes += lines.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries as PostgreSQL 18 writes them, cut anywhere.
    #[test]
    fn routine_is_left_out_wherever_the_log_is_cut() {
        let routine = "2026-11-27 01:44:56.385 GMT [29] LOG:  checkpoint complete: wrote 1 buffer\n\
                       2026-11-27 01:44:57.001 GMT [41] LOG:  automatic vacuum of table \"a.b\": \
                       index scans: 0\n\tpages: 0 removed, 1 remain\n\ttuples: 5 removed\n";
        let told = "2026-11-27 01:44:58.000 GMT [50] WARNING:  there is no checkpoint\n\
                    \tHINT of that warning\n";
        let log = format!("{routine}{told}{routine}{told}");
        for cut in 0..log.len() {
            let mut read = ErrorLogReading::default();
            read.take(&log.as_bytes()[..cut]);
            let from = read.bytes as usize;
            assert!(from <= cut);
            read.take(&log.as_bytes()[from..]);
            assert_eq!((read.bytes, read.told), (log.len() as u64, 2 * told.len() as u64), "{cut}");
        }
    }
}
