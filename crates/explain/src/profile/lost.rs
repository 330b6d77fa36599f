//! Samples that a tool took and had no room for: they are in no figure, and a profile says so.
//!
//! ```text
//!   # Total Lost Samples: 33                              head of `perf report`
//!   mysqld 7 [001] 5.25: PERF_RECORD_LOST lost 33         `perf script --show-lost-events`
//!   mysqld 7 [001] 5.25: PERF_RECORD_LOST_SAMPLES lost 33
//!   Lost 33 events                                        bpftrace
//! ```
//!
//! What is lost is not lost by chance: a buffer overflows while the load is at its highest.
//! Source: perf-report(1), perf-script(1).

use std::fmt;

/// How many samples were lost, as far as the text tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LostSamples(u64);

impl LostSamples {
    /// Takes a line of the head of a report.
    pub(super) fn note_head(&mut self, line: &str) {
        if let Some(count) = line.strip_prefix("Total Lost Samples:") {
            self.add(count);
        }
    }

    /// Takes a line of a script; whether it tells of lost samples and is no sample itself.
    pub(super) fn note_record(&mut self, line: &str) -> bool {
        let Some((_, record)) = line.split_once(" PERF_RECORD_LOST") else { return false };
        let rest = record.strip_prefix("_SAMPLES").unwrap_or(record);
        let Some(count) = rest.trim_start().strip_prefix("lost ") else { return false };
        self.add(count);
        true
    }

    /// Takes a line of bpftrace; whether it tells of lost events.
    pub(super) fn note_events(&mut self, line: &str) -> bool {
        let line = line.trim();
        let line = line.strip_prefix("WARNING: ").unwrap_or(line);
        let count = line.strip_prefix("Lost ").and_then(|rest| rest.strip_suffix(" events"));
        count.inspect(|count| self.add(count)).is_some()
    }

    fn add(&mut self, count: &str) {
        let count = count.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        self.0 = self.0.saturating_add(count.unwrap_or(0));
    }
}

/// Nothing, or what stands behind the description of a profile.
impl fmt::Display for LostSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            lost => write!(f, "; {lost} more were lost, which are in no figure"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    #[test]
    fn lost_samples_are_told() {
        let script = "mysqld 7 [001] 5.25: 250000 cycles:u:\n\
                      \t7f3a41 row_search_mvcc+0x1a (/usr/sbin/mysqld)\n\n\
                      mysqld 7 [001] 5.26: PERF_RECORD_LOST lost 23\n\
                      mysqld 7 [001] 5.27: PERF_RECORD_LOST_SAMPLES lost 10\n";
        let profile = read(script).unwrap();
        let told = "; 33 more were lost, which are in no figure";
        assert!(profile.taken_for.contains(told), "{}", profile.taken_for);
        assert_eq!(profile.total, 250_000.0);
        let report = "# Total Lost Samples: 7\n#\n# Samples: 40  of event 'cycles'\n\
                      # Event count (approx.): 4000\n#\n# Overhead  Command  Shared Object  Symbol\n\
                      \x20   60.00%  mysqld   mysqld   [.] row_search_mvcc\n\
                      \x20   40.00%  mysqld   mysqld   [.] btr_cur_search\n";
        let told = read(report).unwrap().taken_for;
        assert!(told.contains("; 7 more were lost, which are in no figure"), "{told}");
        let none = read(&report.replace("Samples: 7", "Samples: 0")).unwrap().taken_for;
        assert!(!none.contains("lost"), "{none}");
        let map = "@[\n    f+1\n    main+5\n, mysqld]: 30\nLost 42 events\n\
                   WARNING: Lost 8 events\n@[\n    g+1\n    main+5\n, mysqld]: 3\n";
        let told = read(map).unwrap().taken_for;
        assert!(told.contains("; 50 more were lost, which are in no figure"), "{told}");
    }
}
