//! What a dbdyno that no longer lives has left in the home is ended and removed.
//!
//! ```text
//!   run/NAME-PID-N/                           a claim whose owner is gone: servers, then files
//!   servers/ templates/ tools/  .tmp-…        a tree that was being made: nobody has the lock
//! ```
//!
//! A claim is dead when its owner is not running *and* nobody holds the lock on its record. The
//! second half covers a home that is shared by containers, where the pids of one mean nothing in
//! another.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cgroup;
use crate::claim::owner_lives;
use crate::home::Home;
use crate::process::{Identity, kill_servers_in};
use crate::removal;
use crate::server::remove_shared_memory;

impl Home {
    /// Ends and removes whatever a dbdyno that no longer lives has left here. Call it at every
    /// start. What belongs to a living dbdyno, this one included, is not touched. Returns what was
    /// done, a clause each; empty if there was nothing. `progress` hears for whom it waits.
    pub fn remove_leftovers(&self, progress: &mut dyn FnMut(&str)) -> Vec<String> {
        let mut done = sweep_claims(self, progress);
        if let Ok(Some(_lock)) = self.try_lock() {
            for part in ["servers", "templates", "tools"] {
                done.extend(self.remove_unfinished(part));
            }
        }
        done
    }

    /// Removes directories that were being made in `part` when their maker died; their names begin
    /// with `.tmp-`. Only under the lock.
    pub(crate) fn remove_unfinished(&self, part: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir().join(part)) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        let unfinished = paths.filter(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp-"))
        });
        unfinished
            .filter_map(|path: PathBuf| {
                end_servers(self, &path);
                fs::remove_dir_all(&path).ok()?;
                Some(format!("removed the unfinished {}", path.display()))
            })
            .collect()
    }
}

/// Ends and removes claims whose owners are gone.
fn sweep_claims(home: &Home, progress: &mut dyn FnMut(&str)) -> Vec<String> {
    let Ok(_exclusive) = home.lock_run(progress) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(home.run()) else { return Vec::new() };
    let dirs = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    dirs.filter(|dir| !owner_lives(home, dir)).filter_map(|dir| clean(home, &dir)).collect()
}

/// Kills the servers that work in `dir` and removes what the system keeps for them outside of it.
fn end_servers(home: &Home, dir: &Path) -> Vec<u32> {
    let killed = kill_servers_in(&**home.machine(), &home.servers_dir(), dir);
    remove_shared_memory(&dir.join("s/data"));
    killed
}

fn clean(home: &Home, dir: &Path) -> Option<String> {
    let recorded = fs::read_to_string(dir.join("server")).unwrap_or_default();
    let host = &**home.machine();
    let recorded = Identity::from_line(&recorded).filter(|recorded| recorded.is_alive(host));
    let mut killed = Vec::new();
    if let Some(server) = recorded {
        server.kill(host);
        killed.push(server.pid);
    }
    for pid in end_servers(home, dir) {
        if !killed.contains(&pid) {
            killed.push(pid);
        }
    }
    cgroup::remove_stale_groups(dir);
    removal::remove(dir).ok()?;
    let name = dir.file_name()?.to_string_lossy();
    let mut text = format!("removed {name}, whose dbdyno is gone");
    if !killed.is_empty() {
        let pids: Vec<_> = killed.iter().map(ToString::to_string).collect();
        text.push_str(&format!(", and killed what ran there (pid {})", pids.join(", ")));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        (dir, home)
    }

    #[test]
    fn what_a_dead_owner_left_is_removed_whatever_its_record_says() {
        let (_dir, home) = home();
        let own = Identity::own_process(&**home.host()).unwrap().to_line();
        let reused = own.replacen(' ', " 9", 1);
        for (name, owner) in [("a", "999999999 5 x\n"), ("b", ""), ("c", "1"), ("d", &reused)] {
            let dir = home.run().join(name);
            fs::create_dir_all(dir.join("s/data")).unwrap();
            fs::write(dir.join("owner"), owner).unwrap();
        }
        fs::create_dir(home.run().join("e")).unwrap();
        let done = home.remove_leftovers(&mut |_| {});
        assert_eq!(done.len(), 5, "{done:?}");
        assert_eq!(fs::read_dir(home.run()).unwrap().count(), 0);
    }

    #[test]
    fn what_was_being_made_by_a_dead_dbdyno_is_removed_and_what_is_finished_is_not() {
        let (_dir, home) = home();
        fs::create_dir_all(home.servers_dir().join(".tmp-1/usr")).unwrap();
        fs::create_dir_all(home.servers_dir().join("kept")).unwrap();
        let lock = home.lock(&mut |_| {}).unwrap();
        assert!(
            home.remove_leftovers(&mut |_| {}).is_empty(),
            "removed while another dbdyno was making it"
        );
        drop(lock);
        assert_eq!(home.remove_leftovers(&mut |_| {}).len(), 1);
        assert!(
            !home.servers_dir().join(".tmp-1").exists() && home.servers_dir().join("kept").exists()
        );
    }
}
