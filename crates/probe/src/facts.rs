//! What is true of this host, for the environment of both arms.
//!
//! A fact that cannot be read is left out: where it matters whether two hosts differ, "not known"
//! is not a value. Everything that has misled a comparison before is here: the governor, huge
//! pages, the clock source, mitigations, and the mount options of the data (`discard`).

use std::path::Path;

use dbdyno_host::{Host, kernel};

use crate::parse;

/// Facts about the file system in which `path` lies: `host.filesystem.type`, `.options`, `.device`.
/// Empty if that cannot be found out.
pub fn filesystem_facts(host: &dyn Host, path: &Path) -> Vec<(String, String)> {
    let path = host.without_links(path).unwrap_or_else(|_| path.to_owned());
    let table = host.kernel_text(&kernel::proc_path("self/mountinfo")).unwrap_or_default();
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
    host: &'a dyn Host,
    found: Vec<(String, String)>,
}

/// Facts about a host by name: `host.kernel`, `host.cpu.model`, `host.memory_kb`, …
pub fn host_facts(host: &dyn Host) -> Vec<(String, String)> {
    let mut facts = Facts { host, found: Vec::new() };
    facts.file("host.kernel", &kernel::proc_path("sys/kernel/osrelease"));
    facts.keyed("host.os", Path::new("/etc/os-release"), "PRETTY_NAME=");
    facts.cpu();
    let cpus = kernel::sys_path("devices/system/cpu");
    facts.file("host.cpu.idle_driver", &cpus.join("cpuidle/current_driver"));
    facts.nodes();
    facts.memory();
    facts.file("host.swappiness", &kernel::proc_path("sys/vm/swappiness"));
    facts.virtualisation();
    let clock_source = "devices/system/clocksource/clocksource0/current_clocksource";
    facts.file("host.clock_source", &kernel::sys_path(clock_source));
    let huge_pages = kernel::sys_path("kernel/mm/transparent_hugepage");
    facts.chosen("host.thp", &huge_pages.join("enabled"));
    facts.chosen("host.thp.defrag", &huge_pages.join("defrag"));
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

    fn read(&self, path: &Path) -> Option<String> {
        Some(self.host.kernel_text(path)?.trim().to_owned())
    }

    /// The names in a folder, sorted.
    fn names(&self, path: &Path) -> Vec<String> {
        let names = self.host.names(path).unwrap_or_default();
        let mut names: Vec<String> =
            names.into_iter().filter_map(|name| name.into_string().ok()).collect();
        names.sort();
        names
    }

    fn file(&mut self, name: &str, path: &Path) {
        let value = self.read(path).unwrap_or_default();
        self.set(name, value);
    }

    fn keyed(&mut self, name: &str, path: &Path, key: &str) {
        let text = self.read(path).unwrap_or_default();
        let value = value_of(&text, key);
        self.set(name, value.trim_matches('"'));
    }

    /// A file that lists the choices and puts the one in force into brackets.
    fn chosen(&mut self, name: &str, path: &Path) {
        let text = self.read(path).unwrap_or_default();
        self.set(name, bracketed(&text));
    }

    fn cpu(&mut self) {
        let text = self.read(&kernel::proc_path("cpuinfo")).unwrap_or_default();
        // ARM has no model name; its part number is the nearest thing.
        let model = ["model name", "CPU part"].map(|key| value_of(&text, key).to_owned());
        let model = model.into_iter().find(|model| !model.is_empty());
        self.set("host.cpu.model", model.unwrap_or_default());
        let online = text.lines().filter(|line| line.starts_with("processor"));
        self.set("host.cpu.logical", online.count().to_string());
        self.set("host.cpu.cores_per_socket", value_of(&text, "cpu cores"));
        let cpus = kernel::sys_path("devices/system/cpu");
        self.file("host.cpu.smt", &cpus.join("smt/control"));
        self.file("host.cpu.boost", &cpus.join("cpufreq/boost"));
        self.file("host.cpu.no_turbo", &cpus.join("intel_pstate/no_turbo"));
        let mut governors: Vec<String> = self
            .names(&cpus)
            .iter()
            .filter_map(|cpu| self.read(&cpus.join(cpu).join("cpufreq/scaling_governor")))
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
        let nodes = self.names(&kernel::sys_path("devices/system/node"));
        let count = nodes.iter().filter(is_node).count();
        if count > 0 {
            self.set("host.numa_nodes", count.to_string());
        }
    }

    fn memory(&mut self) {
        let text = self.read(&kernel::proc_path("meminfo")).unwrap_or_default();
        let kb = |key: &str| value_of(&text, key).trim_end_matches(" kB").to_owned();
        self.set("host.memory_kb", kb("MemTotal"));
        self.set("host.swap_kb", kb("SwapTotal"));
        self.set("host.huge_pages", kb("HugePages_Total"));
    }

    /// A hint: what the firmware calls the machine, and whether the processor says that it is one
    /// of a guest.
    fn virtualisation(&mut self) {
        let text = self.read(&kernel::proc_path("cpuinfo")).unwrap_or_default();
        let flags = value_of(&text, "flags");
        let guest = flags.split(' ').any(|flag| flag == "hypervisor");
        let dmi = |name: &str| self.read(&kernel::sys_path("class/dmi/id").join(name));
        let mut parts = vec![if guest { "guest" } else { "no sign of one" }.to_owned()];
        parts.extend(dmi("sys_vendor"));
        parts.extend(dmi("product_name"));
        parts.extend(self.read(&kernel::sys_path("hypervisor/type")));
        let marks = ["/.dockerenv", "/run/.containerenv"];
        if marks.iter().any(|mark| self.host.status(Path::new(mark)).is_ok()) {
            parts.push("in a container".to_owned());
        }
        self.set("host.virtualisation", parts.join(", "));
    }

    /// `spectre_v2: Retpolines; …`, one after the other; what does not concern the processor is
    /// left out, for the list is long.
    fn mitigations(&mut self) {
        let folder = kernel::sys_path("devices/system/cpu/vulnerabilities");
        let names = self.names(&folder);
        let mut open = Vec::new();
        let mut closed = Vec::new();
        for name in &names {
            let state = self.read(&folder.join(name)).unwrap_or_default();
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
    let value = parse::value_of_key(text.as_bytes(), key.as_bytes());
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
    use dbdyno_host::Local;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn this_host_has_the_facts_that_every_linux_has() {
        let facts = [host_facts(&Local), filesystem_facts(&Local, Path::new("/"))].concat();
        for name in ["host.kernel", "host.memory_kb", "host.cpu.logical", "host.filesystem.type"] {
            assert!(facts.iter().any(|(known, _)| known == name), "{name} in {facts:?}");
        }
    }

    proptest! {
        #[test]
        fn no_mount_table_panics(table in "([/a -]|\\\\0|\n|\\PC){0,200}") {
            let _ = mount_of(Path::new("/a"), &table);
            let _ = bracketed(&table);
        }
    }
}
