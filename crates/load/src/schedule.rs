//! When a paced writer commits.
//!
//! ```text
//!   interval = rows of a commit ÷ rows per second         here 3 clients
//!
//!   client 0  ─┬───────────┬───────────┬──▶   commit k of client c is due at
//!   client 1  ─────┬───────────┬──────────▶       (k + (2c + 1) / 2n) × interval
//!   client 2  ─────────┬───────────┬──────▶
//! ```
//!
//! The times are fixed before anything runs: a commit that was late does not move those after it,
//! and a writer that fell behind goes on without waiting until it has caught up. Only a server that
//! cannot take the rate stays behind.

use std::time::Duration;

/// The commits of one of several clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitSchedule {
    /// Rows of one commit.
    pub rows_per_commit: u64,
    /// Rows per second of this client.
    pub rate: u32,
    /// Which client, from 0.
    pub client: u32,
    /// Number of clients; at least 1.
    pub clients: u32,
}

impl CommitSchedule {
    /// When commit number `commit`, from 0, is due.
    pub(crate) fn due_time(&self, commit: u64) -> Duration {
        let clients = u128::from(self.clients.max(1));
        let halves = 2 * clients * u128::from(commit) + 2 * u128::from(self.client) + 1;
        let ns = halves * u128::from(self.rows_per_commit) * 1_000_000_000
            / (2 * clients * u128::from(self.rate.max(1)));
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// Number of rows that are due in `from .. to`.
    pub fn rows_due(&self, from: Duration, to: Duration) -> u64 {
        (self.commits_before(to) - self.commits_before(from.min(to))) * self.rows_per_commit
    }

    fn commits_before(&self, moment: Duration) -> u64 {
        let interval_ns = self.rows_per_commit as f64 * 1e9 / f64::from(self.rate.max(1));
        // Off by one at most where a commit is due at the very moment; then it is counted again.
        let mut commits = (moment.as_nanos() as f64 / interval_ns) as u64;
        while commits > 0 && self.due_time(commits - 1) >= moment {
            commits -= 1;
        }
        while self.due_time(commits) < moment {
            commits += 1;
        }
        commits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rows_per_commit: u64, rate: u32, client: u32, clients: u32) -> CommitSchedule {
        CommitSchedule { rows_per_commit, rate, client, clients }
    }

    /// 50 rows a commit at 100 rows/s: one commit each 0.5 s, the first after half of that.
    #[test]
    fn commits_are_due_when_a_hand_says_so() {
        let one = schedule(50, 100, 0, 1);
        assert_eq!(one.due_time(0), Duration::from_millis(250));
        assert_eq!(one.due_time(1), Duration::from_millis(750));
        assert_eq!(one.due_time(7), Duration::from_millis(3750));
        // Three clients at 1 000 rows/s: 50 ms between the commits of each, 16.67 ms between any.
        let dues: Vec<_> =
            (0..3).map(|c| schedule(50, 1000, c, 3).due_time(1).as_micros()).collect();
        assert_eq!(dues, [58_333, 75_000, 91_666]);
    }

    #[test]
    fn rows_due_in_a_window_are_those_of_the_commits_in_it() {
        let one = schedule(50, 100, 0, 1);
        let due = |from, to| one.rows_due(Duration::from_millis(from), Duration::from_millis(to));
        assert_eq!(due(0, 250), 0);
        assert_eq!(due(0, 251), 50);
        assert_eq!(due(250, 750), 50);
        assert_eq!(due(0, 3000), 300);
        assert_eq!(due(200, 3200), 300);
        assert_eq!(due(10, 10), 0);
    }

    #[test]
    fn the_rate_is_exact_over_any_length() {
        for (rows, rate, clients) in [(50, 100, 1), (50, 1000, 7), (5, 333, 2), (1, 1, 1)] {
            let hour = Duration::from_secs(3600);
            let rows_due: u64 = (0..clients)
                .map(|client| schedule(rows, rate, client, clients).rows_due(Duration::ZERO, hour))
                .sum();
            let wanted = 3600 * u64::from(rate) * u64::from(clients);
            assert!(rows_due.abs_diff(wanted) <= rows * u64::from(clients), "{rows_due} {wanted}");
        }
    }
}
