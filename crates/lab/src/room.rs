//! Whether all arms have room at once, in memory and on disk.
//!
//! ```text
//!   two servers     a quarter of the memory for their buffers
//!   k servers       the same quarter: each has 2/k of what one of two would have
//! ```

use std::sync::Arc;

use dbdyno_model::{Plan, Severity, Target, Warning};
use dbdyno_sandbox::Home;
use dbdyno_workload::Dataset;

use crate::error::LabError;

/// Less memory than this is no server's that anybody measures.
const MEMORY_LEAST_MB: u64 = 1_024;
/// A server takes so much on disk beside its tables: logs, dictionaries, undo and temporary files.
const SERVER_MB: u64 = 500;
/// Rows on disk with their indexes and the log of their filling, as a multiple of their text.
const ON_DISK: u64 = 3;

/// The memory of the host on which two servers would have as much each as the arms of this plan
/// have.
pub(crate) fn memory_of_two_mb(host_mb: u64, plan: &Plan) -> u64 {
    let servers = servers(plan).max(2) as u64;
    (2 * host_mb / servers).max(MEMORY_LEAST_MB.min(host_mb))
}

/// Arms that dbdyno starts as servers, or that have buffers of their own.
fn servers(plan: &Plan) -> usize {
    let has_buffers = |target: &Target| matches!(target, Target::Release(_) | Target::Rocksdb(_));
    plan.arms.values().filter(|spec| has_buffers(&spec.target)).count()
}

/// What the reader of a run must know: that servers have less memory than two would have.
pub(crate) fn memory_warning(host_mb: u64, plan: &Plan) -> Option<Warning> {
    let servers = servers(plan);
    (servers > 2).then(|| {
        let text = format!(
            "{servers} servers are up at once and share the memory that two would have: each is \
             set up as one of two on a host of {} MB (this one has {host_mb} MB)",
            memory_of_two_mb(host_mb, plan)
        );
        Warning::new(Severity::Note, "memory-shared", text)
    })
}

/// Looks whether the disk has room for all arms of a plan of more than two.
///
/// # Errors
/// [`LabError::Loads`] that says what is needed, what there is, and what to do.
pub(crate) fn check_disk_space(
    home: &Home,
    plan: &Plan,
    datasets: &[Arc<dyn Dataset>],
) -> Result<(), LabError> {
    let own = plan.arms.values().filter(|spec| !matches!(spec.target, Target::Url(_))).count();
    if plan.arms.count() == 2 || plan.arms.values().any(|spec| spec.is_mock()) {
        return Ok(());
    }
    let bytes: u64 = datasets.iter().map(|dataset| dataset.bytes()).sum();
    let each_mb = SERVER_MB + ON_DISK * bytes / (1 << 20);
    let needed_mb = each_mb * own as u64;
    match dbdyno_sandbox::free_mb(home.dir()) {
        Ok(free_mb) if free_mb < needed_mb => Err(LabError::Loads(format!(
            "{own} arms with tables of {} MB need about {needed_mb} MB on disk, and {} has {free_mb} \
             MB left; compare fewer at once, ask for fewer --rows, or give a --home on a larger disk",
            bytes >> 20,
            home.dir().display()
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_judge::sample;

    fn of(arms: usize, target: &str) -> Plan {
        let mut plan = sample::point_queries(target, 1, |_| {}).plan;
        plan.arms = vec![target.parse().unwrap(); arms].into_iter().collect();
        plan
    }

    #[test]
    fn any_number_of_servers_has_the_memory_of_two() {
        for arms in 2..=12 {
            let each_mb = memory_of_two_mb(24_000, &of(arms, "mariadb:10.11"));
            assert!(each_mb * arms as u64 <= 2 * 24_000, "{arms}: {each_mb}");
            assert_eq!(memory_warning(24_000, &of(arms, "mariadb:10.11")).is_some(), arms > 2);
            assert_eq!(memory_of_two_mb(24_000, &of(arms, "sqlite:")), 24_000);
        }
        assert_eq!(memory_of_two_mb(600, &of(12, "mysql:5.7")), 600, "nothing to share");
    }
}
