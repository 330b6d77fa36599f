//! Limits to which the kernel holds a server: a control group of its own.
//!
//! ```text
//!   version 2   /sys/fs/cgroup/…/dbdyno-base-PID-N      cpu.max, memory.max
//!   version 1   /sys/fs/cgroup/cpu/…/dbdyno-base-PID-N      cpu.cfs_quota_us, cpu.cfs_period_us
//!               /sys/fs/cgroup/memory/…/dbdyno-base-PID-N   memory.limit_in_bytes
//! ```
//!
//! A server enters between fork and exec, through files that were opened before it lost its rights,
//! so that nothing of it ever runs outside. No group is reconfigured that we have not made: where
//! control groups were not given into our hands, limits are refused.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use dbdyno_host::{Host, Launch, kernel};
use dbdyno_model::Setting;

use crate::clock::Deadline;
use crate::error::SandboxError;

/// Length of the slices in which processor time is given out, microseconds: the kernel's usual one.
const PERIOD_US: u64 = 100_000;
/// A group goes when the last of its processes is gone, which the kernel may notice a little later.
const GONE_WITHIN_S: u64 = 2;

/// What a server may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Thousandths of a processor.
    cpus_milli: Option<u32>,
    memory_mb: Option<u64>,
}

/// The groups of one server; dropping it removes them.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    dirs: Vec<PathBuf>,
}

impl Limits {
    /// Those among what a user wants of a server.
    pub(crate) fn from_settings(settings: &[Setting]) -> Limits {
        let mut limits = Limits::default();
        for setting in settings {
            match setting {
                Setting::Cpus(milli) => limits.cpus_milli = Some(*milli),
                Setting::Memory(mb) => limits.memory_mb = Some(*mb),
                _ => {}
            }
        }
        limits
    }

    /// Controllers that are needed, each with its files in version 2 and in version 1.
    fn controllers(self) -> Vec<(&'static str, Files, Files)> {
        let cpu = self.cpus_milli.map(quota_us).map(|quota_us| {
            let new = vec![("cpu.max", format!("{quota_us} {PERIOD_US}"))];
            let period = ("cpu.cfs_period_us", PERIOD_US.to_string());
            ("cpu", new, vec![period, ("cpu.cfs_quota_us", quota_us.to_string())])
        });
        let memory = self.memory_mb.map(|mb| {
            let bytes = (mb << 20).to_string();
            let new = vec![("memory.max", bytes.clone())];
            ("memory", new, vec![("memory.limit_in_bytes", bytes)])
        });
        cpu.into_iter().chain(memory).collect()
    }
}

fn quota_us(milli: u32) -> u64 {
    u64::from(milli) * PERIOD_US / 1_000
}

type Files = Vec<(&'static str, String)>;

impl ControlGroup {
    /// A group for what runs in `claim`, if there is any limit.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] where control groups are not ours to make.
    pub(crate) fn new(
        host: &dyn Host,
        claim: &Path,
        limits: Limits,
    ) -> Result<Option<ControlGroup>, SandboxError> {
        let own = host.kernel_text(&kernel::proc_path("self/cgroup")).unwrap_or_default();
        ControlGroup::under(Path::new(kernel::CONTROL_GROUPS), &own, claim, limits)
    }

    fn under(
        root: &Path,
        own: &str,
        claim: &Path,
        limits: Limits,
    ) -> Result<Option<ControlGroup>, SandboxError> {
        if limits == Limits::default() {
            return Ok(None);
        }
        let name = claim.file_name().unwrap_or(OsStr::new("server")).to_string_lossy();
        let name = format!("dbdyno-{name}");
        let mut group = ControlGroup { dirs: Vec::new() };
        for (controller, new, old) in limits.controllers() {
            let (parent, files) = match place(root, own, controller) {
                Some((parent, Version::Two)) => (parent, new),
                Some((parent, Version::One)) => (parent, old),
                None => return Err(refused(format!("no controller {controller:?} is at hand"))),
            };
            let dir = parent.join(&name);
            let made = match fs::create_dir(&dir) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
                made => made,
            };
            made.map_err(|error| refused(format!("{}: {error}", dir.display())))?;
            if !group.dirs.contains(&dir) {
                group.dirs.push(dir.clone());
            }
            for (file, value) in files {
                let path = dir.join(file);
                fs::write(&path, value)
                    .map_err(|error| refused(format!("{}: {error}", path.display())))?;
            }
        }
        // Whoever sweeps up after a killed dbdyno reads where they are.
        let list: String = group.dirs.iter().map(|dir| format!("{}\n", dir.display())).collect();
        let path = claim.join(LIST);
        fs::write(&path, list).map_err(SandboxError::io("write", &path))?;
        Ok(Some(group))
    }

    /// Makes what is started live in the group from its first instruction.
    pub(crate) fn admit_launch(&self, launch: &mut Launch) -> Result<(), SandboxError> {
        for dir in &self.dirs {
            let path = dir.join("cgroup.procs");
            let door = File::options().write(true).open(&path);
            launch.in_group(door.map_err(SandboxError::io("open", &path))?);
        }
        Ok(())
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        self.dirs.iter().for_each(|dir| remove(dir));
    }
}

/// A server in the background has no limits: nobody would be there to take its group away.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if there is any limit among these.
pub(crate) fn are_for_arms(settings: &[Setting]) -> Result<(), SandboxError> {
    if Limits::from_settings(settings) == Limits::default() {
        return Ok(());
    }
    Err(SandboxError::Unsuitable {
        what: "cpus= and memory=".to_owned(),
        reason: "they hold the arms of a comparison; limit a server in the background by starting \
                 it in a group of your own (systemd-run)"
            .to_owned(),
    })
}

/// The file of a claim that lists its groups.
const LIST: &str = "groups";

/// Removes the groups of a claim whose dbdyno is gone.
pub(crate) fn remove_stale_groups(claim: &Path) {
    let list = fs::read_to_string(claim.join(LIST)).unwrap_or_default();
    for dir in list.lines().map(Path::new) {
        let ours =
            dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("dbdyno-"));
        if ours && dir.starts_with(kernel::CONTROL_GROUPS) {
            remove(dir);
        }
    }
}

/// The kernel lets a group go that has no processes and no groups below it, and no other.
fn remove(dir: &Path) {
    let deadline = Deadline::after_seconds(GONE_WITHIN_S);
    while fs::remove_dir(dir).is_err_and(|error| error.kind() == ErrorKind::ResourceBusy) {
        if !deadline.pause_to_the_end() {
            return;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The directory in which a group with this controller can be made: in version 1 where we are
/// ourselves; in version 2 the nearest group above us that hands the controller down, for a group
/// with processes, as ours is, may not.
fn place(root: &Path, own: &str, controller: &str) -> Option<(PathBuf, Version)> {
    let is_there = |list: &str| list.split(',').any(|one| one == controller);
    if let Some((list, path)) = own_group(own, is_there) {
        let base = root.join(list);
        let own = base.join(path);
        let place = if own.is_dir() { own } else { base };
        return place.is_dir().then_some((place, Version::One));
    }
    let (_, path) = own_group(own, str::is_empty)?;
    let own = root.join(path);
    let mut above = own.ancestors().take_while(|dir| dir.starts_with(root));
    let place = above.find(|dir| hands_down(dir, controller))?;
    Some((place.to_owned(), Version::Two))
}

/// The list of controllers that is wanted, and the path of our own group below it, by the lines of
/// `/proc/self/cgroup`.
fn own_group(lines: &str, is_wanted: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    lines.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        is_wanted(controllers).then(|| (controllers, path.trim_start_matches('/')))
    })
}

/// Whether a group of version 2 gives the groups in it a controller.
fn hands_down(group: &Path, controller: &str) -> bool {
    let list = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
    list.split_whitespace().any(|one| one == controller)
}

fn refused(reason: String) -> SandboxError {
    SandboxError::Unsuitable {
        what: "cpus= and memory= need a control group".to_owned(),
        reason: format!(
            "{reason}; run dbdyno as root, or where control groups are delegated (systemd-run \
             --user --scope -p Delegate=yes dbdyno …), or leave them out"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { cpus_milli: Some(1_500), memory_mb: Some(2_048) };

    fn tree(dirs: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        dirs.iter().for_each(|dir| fs::create_dir_all(root.path().join(dir)).unwrap());
        root
    }

    #[test]
    fn what_is_wanted_is_written_as_each_version_has_it() {
        let root = tree(&["cpu/a", "memory", "claim"]);
        let claim = root.path().join("claim");
        let own = "4:memory:/elsewhere\n1:cpu:/a\n0::/";
        let group = ControlGroup::under(root.path(), own, &claim, LIMITS).unwrap().unwrap();
        let read = |file: &str| fs::read_to_string(root.path().join(file)).unwrap();
        assert_eq!(read("cpu/a/dbdyno-claim/cpu.cfs_quota_us"), "150000");
        assert_eq!(read("memory/dbdyno-claim/memory.limit_in_bytes"), "2147483648");
        assert_eq!(read("claim/groups").lines().count(), 2);
        assert_eq!(group.dirs.len(), 2);

        let root = tree(&["user/me/scope", "claim"]);
        fs::write(root.path().join("user/cgroup.subtree_control"), "cpu memory pids").unwrap();
        let claim = root.path().join("claim");
        let group =
            ControlGroup::under(root.path(), "0::/user/me/scope", &claim, LIMITS).unwrap().unwrap();
        let read = |file: &str| fs::read_to_string(group.dirs[0].join(file)).unwrap();
        assert_eq!(group.dirs, [root.path().join("user/dbdyno-claim")]);
        assert_eq!(
            (read("cpu.max"), read("memory.max")),
            ("150000 100000".into(), "2147483648".into())
        );
    }

    #[test]
    fn groups_that_are_not_ours_to_make_are_refused_with_what_to_try() {
        let root = tree(&["claim"]);
        let claim = root.path().join("claim");
        assert!(
            ControlGroup::under(root.path(), "0::/", &claim, Limits::default()).unwrap().is_none()
        );
        let text =
            ControlGroup::under(root.path(), "0::/x", &claim, LIMITS).unwrap_err().to_string();
        assert!(text.contains("Delegate=yes") && text.contains("cpu"), "{text}");
    }
}
