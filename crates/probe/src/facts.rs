//! What is true of this host, for the environment of both arms.
//!
//! A fact that cannot be read is left out: where it matters whether two hosts differ, "not known"
//! is not a value. Everything that has misled a comparison before is here: the governor, huge
//! pages, the clock source, mitigations, and the mount options of the data (`discard`).

use std::path::Path;

use crate::parse;

/// Facts about this host by name: `host.kernel`, `host.cpu.model`, `host.memory_kb`, …
pub fn host_facts() -> Vec<(String, String)> {
    facts_under(Path::new("/"))
}

/// Facts about the file system in which `path` lies: `host.filesystem.type`, `.options`, `.device`.
/// Empty if that cannot be found out.
pub fn filesystem_facts(path: &Path) -> Vec<(String, String)> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let Ok(table) = std::fs::read("/proc/self/mountinfo") else {
        return Vec::new();
    };
    let table = String::from_utf8_lossy(&table);
    let Some(mount) = mount_of(&path, &table) else {
        return Vec::new();
    };
    [
        ("host.filesystem.type", mount.kind),
        ("host.filesystem.options", mount.options),
        ("host.filesystem.device", mount.device),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

struct Facts<'a> {
    root: &'a Path,
    found: Vec<(String, String)>,
}

/// The facts of the host whose root directory is `root`.
fn facts_under(root: &Path) -> Vec<(String, String)> {
    let mut facts = Facts { root, found: Vec::new() };
    facts.file("host.kernel", "proc/sys/kernel/osrelease");
    facts.keyed("host.os", "etc/os-release", "PRETTY_NAME=");
    facts.cpu();
    facts.file("host.cpu.idle_driver", "sys/devices/system/cpu/cpuidle/current_driver");
    facts.nodes();
    facts.memory();
    facts.file("host.swappiness", "proc/sys/vm/swappiness");
    facts.virtualisation();
    let clock_source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    facts.file("host.clock_source", clock_source);
    let huge_pages = "sys/kernel/mm/transparent_hugepage";
    facts.chosen("host.thp", &format!("{huge_pages}/enabled"));
    facts.chosen("host.thp.defrag", &format!("{huge_pages}/defrag"));
    facts.mitigations();
    facts.found
}

impl Facts<'_> {
    fn set(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.found.push((name.to_owned(), value));
        }
    }

    fn read(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.root.join(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The names in a folder, sorted.
    fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(path));
        let mut names: Vec<String> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn file(&mut self, name: &str, path: &str) {
        let value = self.read(path).unwrap_or_default();
        self.set(name, value);
    }

    fn keyed(&mut self, name: &str, path: &str, key: &str) {
        let text = self.read(path).unwrap_or_default();
        let value = value_of(&text, key);
        self.set(name, value.trim_matches('"'));
    }

    /// A file that lists the choices and puts the one in force into brackets.
    fn chosen(&mut self, name: &str, path: &str) {
        let text = self.read(path).unwrap_or_default();
        self.set(name, bracketed(&text));
    }

    fn cpu(&mut self) {
        let text = self.read("proc/cpuinfo").unwrap_or_default();
        // ARM has no model name; its part number is the nearest thing.
        let model = ["model name", "CPU part"].map(|key| value_of(&text, key).to_owned());
        let model = model.into_iter().find(|model| !model.is_empty());
        self.set("host.cpu.model", model.unwrap_or_default());
        let online = text.lines().filter(|line| line.starts_with("processor"));
        self.set("host.cpu.logical", online.count().to_string());
        self.set("host.cpu.cores_per_socket", value_of(&text, "cpu cores"));
        let cpus = "sys/devices/system/cpu";
        self.file("host.cpu.smt", &format!("{cpus}/smt/control"));
        self.file("host.cpu.boost", &format!("{cpus}/cpufreq/boost"));
        self.file("host.cpu.no_turbo", &format!("{cpus}/intel_pstate/no_turbo"));
        let mut governors: Vec<String> = self
            .names(cpus)
            .iter()
            .filter_map(|cpu| self.read(&format!("{cpus}/{cpu}/cpufreq/scaling_governor")))
            .collect();
        governors.sort();
        governors.dedup();
        self.set("host.cpu.governor", governors.join(", "));
    }

    /// Memory that is nearer to some processors than to others.
    fn nodes(&mut self) {
        let is_node = |name: &&String| {
            name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let count = self.names("sys/devices/system/node").iter().filter(is_node).count();
        if count > 0 {
            self.set("host.numa_nodes", count.to_string());
        }
    }

    fn memory(&mut self) {
        let text = self.read("proc/meminfo").unwrap_or_default();
        let kb = |key: &str| value_of(&text, key).trim_end_matches(" kB").to_owned();
        self.set("host.memory_kb", kb("MemTotal"));
        self.set("host.swap_kb", kb("SwapTotal"));
        self.set("host.huge_pages", kb("HugePages_Total"));
    }

    /// A hint: what the firmware calls the machine, and whether the processor says that it is one
    /// of a guest.
    fn virtualisation(&mut self) {
        let text = self.read("proc/cpuinfo").unwrap_or_default();
        let flags = value_of(&text, "flags");
        let guest = flags.split(' ').any(|flag| flag == "hypervisor");
        let dmi = |name: &str| self.read(&format!("sys/class/dmi/id/{name}"));
        let mut parts = vec![if guest { "guest" } else { "no sign of one" }.to_owned()];
        parts.extend(dmi("sys_vendor"));
        parts.extend(dmi("product_name"));
        parts.extend(self.read("sys/hypervisor/type"));
        if self.root.join(".dockerenv").exists() || self.root.join("run/.containerenv").exists() {
            parts.push("in a container".to_owned());
        }
        self.set("host.virtualisation", parts.join(", "));
    }

    /// `spectre_v2: Retpolines; …`, one after the other; what does not concern the processor is
    /// left out, for the list is long.
    fn mitigations(&mut self) {
        let folder = "sys/devices/system/cpu/vulnerabilities";
        let names = self.names(folder);
        let mut open = Vec::new();
        let mut closed = Vec::new();
        for name in &names {
            let state = self.read(&format!("{folder}/{name}")).unwrap_or_default();
            if state.starts_with("Vulnerable") {
                open.push(name.as_str());
            } else if let Some(how) = state.strip_prefix("Mitigation: ") {
                closed.push(format!("{name} ({how})"));
            }
        }
        let (open, closed) = (open.join(", "), closed.join(", "));
        self.set("host.vulnerable", open);
        self.set("host.mitigations", closed);
    }
}

/// The value on the first line that begins with `key`, behind the colon if there is one.
fn value_of<'a>(text: &'a str, key: &str) -> &'a str {
    let value = parse::keyed(text.as_bytes(), key.as_bytes());
    let value = value.and_then(|value| std::str::from_utf8(value).ok());
    let value = value.unwrap_or_default();
    value.strip_prefix(':').unwrap_or(value).trim()
}

/// What stands in brackets: `always [madvise] never` gives `madvise`.
fn bracketed(text: &str) -> &str {
    let choice = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    choice.map_or("", |(choice, _)| choice)
}

struct Mount {
    kind: String,
    options: String,
    device: String,
}

/// The mount that `path` lies in, from `/proc/self/mountinfo`: the longest mount point that is a
/// beginning of the path, and of several equal ones the last, which hides the others.
fn mount_of(path: &Path, table: &str) -> Option<Mount> {
    let mut best: Option<(usize, Mount)> = None;
    for line in table.lines() {
        let Some((point, mount)) = mount(line) else {
            continue;
        };
        let depth = Path::new(&point).components().count();
        let better = best.as_ref().is_none_or(|(other, _)| depth >= *other);
        if better && path.starts_with(&point) {
            best = Some((depth, mount));
        }
    }
    best.map(|(_, mount)| mount)
}

/// A line: `id parent major:minor root point options tags… - type device superblock-options`.
fn mount(line: &str) -> Option<(String, Mount)> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    let mut right = right.split(' ');
    let (kind, device) = (right.next()?, right.next()?);
    let options = format!("{},{}", left.get(5)?, right.next()?);
    let mut unique: Vec<&str> = Vec::new();
    for option in options.split(',') {
        if !unique.contains(&option) {
            unique.push(option);
        }
    }
    let mount =
        Mount { kind: kind.to_owned(), options: unique.join(","), device: unescape(device) };
    Some((unescape(left.get(4)?), mount))
}

/// The kernel writes space, tab, newline and backslash as `\040` and so on.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOUNTS: &str = include_str!("../tests/data/mountinfo");

    fn fact(facts: &[(String, String)], name: &str) -> String {
        let found = facts.iter().find(|(key, _)| key == name);
        found.map_or("-", |(_, value)| value).to_owned()
    }

    #[test]
    fn a_known_host_gives_known_facts() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/host");
        let facts = facts_under(&root);
        for (name, value) in [
            ("host.kernel", "6.1.0-28-amd64"),
            ("host.os", "Debian GNU/Linux 12 (bookworm)"),
            ("host.cpu.model", "AMD EPYC 7543 32-Core Processor"),
            ("host.cpu.logical", "2"),
            ("host.cpu.cores_per_socket", "32"),
            ("host.cpu.governor", "performance, powersave"),
            ("host.memory_kb", "24684096"),
            ("host.swap_kb", "0"),
            ("host.virtualisation", "guest, QEMU"),
            ("host.clock_source", "tsc"),
            ("host.thp", "madvise"),
            ("host.vulnerable", "spec_rstack_overflow"),
            ("host.mitigations", "spectre_v2 (Retpolines; STIBP: disabled)"),
            ("host.cpu.boost", "-"),
        ] {
            assert_eq!(fact(&facts, name), value, "{name}");
        }
    }

    #[test]
    fn this_host_has_the_facts_that_every_linux_has() {
        let facts = host_facts();
        for name in ["host.kernel", "host.memory_kb", "host.cpu.logical"] {
            assert_ne!(fact(&facts, name), "-", "{name}");
        }
        let of_root = filesystem_facts(Path::new("/"));
        assert_ne!(fact(&of_root, "host.filesystem.type"), "-");
    }

    #[test]
    fn the_last_of_the_deepest_mounts_is_the_one_that_is_seen() {
        let kind = |path: &str| {
            let mount = mount_of(Path::new(path), MOUNTS).unwrap();
            format!("{} {} {}", mount.kind, mount.device, mount.options)
        };
        assert_eq!(kind("/etc/x"), "ext4 /dev/vda1 rw,relatime,discard");
        assert_eq!(kind("/srv/my data/db"), "xfs /dev/sdb rw,noatime,attr2");
        assert_eq!(kind("/srv/my datas/db"), "ext4 /dev/vda1 rw,relatime,discard");
        assert_eq!(kind("/tmp"), "tmpfs tmpfs rw,size=1024k");
    }

    proptest! {
        #[test]
        fn no_mount_table_panics(table in "([/a -]|\\\\0|\n|\\PC){0,200}") {
            let _ = mount_of(Path::new("/a"), &table);
            let _ = bracketed(&table);
        }
    }
}
