//! What to make of what was seen. Each check looks at one thing and names what it costs to ignore
//! it: measured here a moment ago, or by whom it was measured.

use dbdyno_model::{Finding, Severity};
use dbdyno_probe::HostShares;

use super::seen::DoctorReadings;
use Severity::{Blocks, Caution, Note};

/// The fact that says how the frequency of the processors is governed.
pub(super) const GOVERNOR: &str = "host.cpu.governor";

/// All checks, in the order in which they are shown.
const CHECKS: [fn(&DoctorReadings) -> Option<Finding>; 23] = [
    processors,
    memory,
    disk,
    file_system,
    sync,
    others,
    steal,
    even_sums,
    even_memory,
    memory_at_rest,
    timers,
    wake_up,
    governor,
    boost,
    threads_of_a_core,
    idle,
    nodes,
    clock_source,
    huge_pages,
    swap,
    guest,
    open_files,
    tools,
];

/// What was found, one thing after the other.
pub(super) fn judge_readings(seen: &DoctorReadings) -> Vec<Finding> {
    CHECKS.iter().filter_map(|check| check(seen)).collect()
}

fn processors(seen: &DoctorReadings) -> Option<Finding> {
    let count = seen.processors;
    let model = seen.host_fact("host.cpu.model").unwrap_or("of unknown make");
    let found = format!("{count} × {model}");
    let mitigated = seen.host_fact("host.mitigations").is_some();
    let found = if mitigated { format!("{found}, with mitigations") } else { found };
    Some(match count {
        1 => Finding::with_advice(
            Caution,
            "processors",
            found,
            "use a host with two processors or more",
            "client and server take turns: what is measured at several clients is the scheduler",
        ),
        _ => Finding::without_advice("processors", found),
    })
}

fn memory(seen: &DoctorReadings) -> Option<Finding> {
    let found = format!("{:.1} GB", seen.memory_mb as f64 / 1024.0);
    Some(match seen.memory_mb {
        0..2_000 => Finding::with_advice(
            Caution,
            "memory",
            found,
            "use a host with 4 GB or more, or small tables (`dbdyno compare --rows`)",
            "each server gets an eighth of it for its buffers: tables of more than that are read \
             from disk, and the disk is measured",
        ),
        _ => Finding::without_advice("memory", found),
    })
}

fn disk(seen: &DoctorReadings) -> Option<Finding> {
    let free_mb = seen.free_mb?;
    let found = format!("{:.0} GB free for servers and results", free_mb as f64 / 1024.0);
    let severity = match free_mb {
        0..2_000 => Blocks,
        2_000..10_000 => Note,
        _ => return Some(Finding::without_advice("disk", found)),
    };
    let change = "make room, or name another place with --home or DBDYNO_HOME";
    let cost = "two servers with 1 000 000 rows need about 2 GB; what does not fit is refused";
    Some(Finding::with_advice(severity, "disk", found, change, cost))
}

fn file_system(seen: &DoctorReadings) -> Option<Finding> {
    let kind = seen.host_fact("host.filesystem.type")?;
    let options = seen.host_fact("host.filesystem.options").unwrap_or_default();
    let device = seen.host_fact("host.filesystem.device").unwrap_or("?");
    let found = format!("{kind} on {device} ({})", options.replace(',', ", "));
    let elsewhere = "name a directory on a local disk with --home or DBDYNO_HOME";
    let (severity, change, cost) = match kind {
        "tmpfs" | "ramfs" => (
            Caution,
            elsewhere,
            "nothing is ever synced: durable commits and reads from disk cost nothing here",
        ),
        "overlay" => (
            Caution,
            elsewhere,
            "the first write to a file copies it whole, in the middle of a measurement",
        ),
        "nfs" | "nfs4" | "cifs" | "9p" | "fuse" | "virtiofs" => {
            (Caution, elsewhere, "every sync crosses a network or a user process")
        }
        _ if options.split(',').any(|option| option == "discard") => (
            Note,
            "mount without discard and run fstrim between runs",
            "dropping tables of one round may slow the next one down: Callaghan found more TRIM in \
             progress behind one of his slower results (Small Datum, 2026)",
        ),
        _ => return Some(Finding::without_advice("file-system", found)),
    };
    Some(Finding::with_advice(severity, "file-system", found, change, cost))
}

fn sync(seen: &DoctorReadings) -> Option<Finding> {
    let syncs = match &seen.syncs {
        Ok(syncs) => syncs,
        Err(error) => {
            let found = format!("no file could be written: {error}");
            let change = "name another place with --home or DBDYNO_HOME";
            return Some(Finding::with_advice(
                Blocks,
                "sync",
                found,
                change,
                "no server can be started",
            ));
        }
    };
    let (median_us, late_us) = (us(syncs.quantile_ns(0.5)), us(syncs.quantile_ns(0.99)));
    let found = format!("fdatasync of 4 KiB {median_us:.0} µs, p99 {late_us:.0} µs");
    let (change, cost) = if median_us < 20.0 {
        (
            "nothing, if commits are not to be durable; else a disk that syncs",
            "a sync as fast as this does not reach a medium: group commit and durability cannot be \
             compared",
        )
    } else if median_us > 5_000.0 {
        (
            "use an SSD, or a server without durable commits (the default of dbdyno)",
            "one client commits no more often than the disk syncs, whatever the server does",
        )
    } else {
        return Some(Finding::without_advice("sync", found));
    };
    Some(Finding::with_advice(Note, "sync", found, change, cost))
}

/// What can be known of a host at once, before anything runs on it.
pub(super) fn judge_beforehand(
    shares: Option<HostShares>,
    governor: Option<&str>,
) -> impl Iterator<Item = Finding> {
    let of_shares = shares.into_iter().flat_map(|of| [others_of(of), steal_of(of)]);
    of_shares.chain([governor_of(governor)]).flatten()
}

fn others(seen: &DoctorReadings) -> Option<Finding> {
    others_of(seen.shares?)
}

fn others_of(shares: HostShares) -> Option<Finding> {
    let share = shares.foreign;
    let found = format!("others use {:.0} % of the processors", share * 100.0);
    let severity = match share {
        ..0.02 => return Some(Finding::without_advice("others", found)),
        ..0.05 => Note,
        ..0.5 => Caution,
        _ => Blocks,
    };
    let change = "stop them (`top` shows who they are) and measure then";
    let cost = "they take processors and caches from one arm more than from the other: intervals \
                become wider, and a run against a drifting host gives false verdicts unless its \
                arms take turns";
    Some(Finding::with_advice(severity, "others", found, change, cost))
}

fn steal(seen: &DoctorReadings) -> Option<Finding> {
    steal_of(seen.shares?)
}

fn steal_of(shares: HostShares) -> Option<Finding> {
    let share = shares.steal;
    let found =
        format!("the hypervisor withholds {:.1} % of the processor time (steal)", share * 100.0);
    let severity = match share {
        ..0.005 => return Some(Finding::without_advice("steal", found)),
        ..0.05 => Note,
        _ => Caution,
    };
    let change = "use a host with dedicated processors";
    let cost = "results vary more than the servers do; 200 short pairs help, long rounds do not";
    Some(Finding::with_advice(severity, "steal", found, change, cost))
}

fn even_sums(seen: &DoctorReadings) -> Option<Finding> {
    even("even-processor", "equal additions", seen.sums.relative_spread(), [0.05, 0.15])
}

fn even_memory(seen: &DoctorReadings) -> Option<Finding> {
    even("even-memory", "equal walks through 64 MB", seen.chases.relative_spread(), [0.15, 0.40])
}

fn memory_at_rest(seen: &DoctorReadings) -> Option<Finding> {
    let rested = seen.rested?;
    let share = rested.away as f64 / rested.pages as f64;
    if share < 0.01 {
        return Some(Finding::without_advice(
            "memory-at-rest",
            "memory that rested for 10 s was still there",
        ));
    }
    let found = format!(
        "of memory that rested for 10 s, {:.1} % was taken away; a page takes {:.0} µs to come back",
        share * 100.0,
        us(rested.away_ns / rested.away)
    );
    let change = "leave `dbdyno compare --keep-memory` at auto and choose rows so that tables \
                  are touched all the time, or use a host that leaves its guests their memory";
    let cost = "who touches a page that was taken waits for it, one arm more than the other by \
                luck; pages are read before rounds, which takes 0.1 s for each GB of each arm";
    Some(Finding::with_advice(Caution, "memory-at-rest", found, change, cost))
}

/// Nine of ten pieces of equal work lie within `spread` of each other.
fn even(code: &str, work: &str, spread: f64, [note, caution]: [f64; 2]) -> Option<Finding> {
    let found = format!("{work} differ by {:.1} %", spread * 100.0);
    if spread < note {
        return Some(Finding::without_advice(code, found));
    }
    let severity = if spread < caution { Note } else { Caution };
    let change = "stop other work, fix the frequency, use a host that is not shared";
    let cost = "differences smaller than this need many pairs: give more rounds (`dbdyno compare \
                --rounds`), or minutes";
    Some(Finding::with_advice(severity, code, found, change, cost))
}

fn timers(seen: &DoctorReadings) -> Option<Finding> {
    let (median_us, late_us) =
        (us(seen.lateness.quantile_ns(0.5)), us(seen.lateness.quantile_ns(0.99)));
    let found = format!("sleepers wake up {median_us:.0} µs late, 1 of 100 {late_us:.0} µs");
    if late_us < 1_000.0 {
        return Some(Finding::without_advice("timers", found));
    }
    let change = "stop other work; on a guest, ask for dedicated processors";
    let cost = "with `dbdyno compare --rate` that much is in the response times of 1 event in \
                100, and not the server's doing; `lag` shows it apart";
    Some(Finding::with_advice(Caution, "timers", found, change, cost))
}

fn wake_up(seen: &DoctorReadings) -> Option<Finding> {
    let turns = seen.turns.as_ref()?;
    let found = format!(
        "one client and one server take {:.0} thousand turns/s on one processor, {:.0} thousand on \
         two",
        in_thousands(turns.same),
        in_thousands(turns.apart)
    );
    let factor = turns.same / turns.apart;
    if factor < 1.5 {
        return Some(Finding::without_advice("wake-up", found));
    }
    let change = "leave `dbdyno compare --pin` at auto, which puts one client and its server on \
                  one processor; or use `dbdyno compare --idle poll`";
    let cost = format!(
        "with `dbdyno compare --pin none`, one client measures sleeping processors that wake up: {factor:.1} times \
         fewer turns here"
    );
    Some(Finding::with_advice(Note, "wake-up", found, change, cost))
}

fn in_thousands(rate: f64) -> f64 {
    rate / 1e3
}

fn governor(seen: &DoctorReadings) -> Option<Finding> {
    governor_of(seen.host_fact(GOVERNOR))
}

fn governor_of(governor: Option<&str>) -> Option<Finding> {
    let Some(governor) = governor else {
        return Some(Finding::without_advice("governor", "the frequency is not ours to govern"));
    };
    if governor == "performance" {
        return Some(Finding::without_advice("governor", governor));
    }
    let change = "cpupower frequency-set -g performance";
    let cost = "the frequency follows the load: a lone client is measured at a low one, and the \
                first seconds of a round at another one than the last";
    Some(Finding::with_advice(Caution, "governor", governor, change, cost))
}

fn boost(seen: &DoctorReadings) -> Option<Finding> {
    let is_on = seen.host_fact("host.cpu.boost") == Some("1")
        || seen.host_fact("host.cpu.no_turbo") == Some("0");
    if !is_on {
        return None;
    }
    let change = "echo 0 > /sys/devices/system/cpu/cpufreq/boost, or 1 > …/intel_pstate/no_turbo";
    let cost = "the frequency depends on how many processors are busy and how warm they are; fixed \
                frequencies were among the settings that made MongoDB's results steady (D. Daly)";
    Some(Finding::with_advice(
        Note,
        "boost",
        "processors run faster when few are busy",
        change,
        cost,
    ))
}

fn threads_of_a_core(seen: &DoctorReadings) -> Option<Finding> {
    if seen.host_fact("host.cpu.smt") != Some("on") {
        return None;
    }
    let change = "echo off > /sys/devices/system/cpu/smt/control";
    let cost = "two threads of one core are not two processors: the curve over clients bends where \
                cores are used twice. Callaghan measures with SMT off";
    Some(Finding::with_advice(Note, "smt", "two threads share a core", change, cost))
}

fn idle(seen: &DoctorReadings) -> Option<Finding> {
    let driver = seen.host_fact("host.cpu.idle_driver")?;
    if driver == "none" {
        return None;
    }
    let change = "dbdyno compare --idle poll …, where few clients are measured";
    let cost = "waking up from deep sleep is part of every answer at few clients; see wake-up";
    Some(Finding::with_advice(Note, "idle-states", format!("driver {driver}"), change, cost))
}

fn nodes(seen: &DoctorReadings) -> Option<Finding> {
    let nodes: u32 = seen.host_fact("host.numa_nodes")?.parse().ok()?;
    if nodes < 2 {
        return None;
    }
    let change = "name processors of one node: `dbdyno compare --pin clients=…/servers=…` (`lscpu` \
                  lists them)";
    let cost = "memory of the other node is slower, and what of a server's lies there differs from \
                start to start; Wang bound MySQL to one node to see a lock scheduler at all";
    Some(Finding::with_advice(Note, "numa", format!("{nodes} nodes"), change, cost))
}

fn clock_source(seen: &DoctorReadings) -> Option<Finding> {
    let source = seen.host_fact("host.clock_source")?;
    if !["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"].contains(&source) {
        return Some(Finding::without_advice("clock-source", source));
    }
    let change = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource";
    let cost = "each look at the clock is a system call of a microsecond or more; servers that \
                time their statements (performance_schema) pay for several a statement";
    Some(Finding::with_advice(Caution, "clock-source", source, change, cost))
}

fn huge_pages(seen: &DoctorReadings) -> Option<Finding> {
    let choice = seen.host_fact("host.thp")?;
    if choice != "always" {
        return Some(Finding::without_advice(
            "huge-pages",
            format!("transparent huge pages: {choice}"),
        ));
    }
    let change = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
    let cost = "the kernel moves a server's memory together while it is measured, and gives small \
                allocations 2 MB: start to start a server differs by more, and its memory grows";
    let found = "transparent huge pages: always";
    Some(Finding::with_advice(Note, "huge-pages", found, change, cost))
}

fn swap(seen: &DoctorReadings) -> Option<Finding> {
    let swap_kb: u64 = seen.host_fact("host.swap_kb")?.parse().ok()?;
    let swappiness: u64 = seen.host_fact("host.swappiness")?.parse().ok()?;
    if swap_kb == 0 || swappiness <= 10 {
        return None;
    }
    let found = format!("{} MB of swap, swappiness {swappiness}", swap_kb / 1024);
    let change = "sysctl vm.swappiness=1";
    let cost = "pages of the arm that waits may be swapped out for the page cache of the other one";
    Some(Finding::with_advice(Note, "swap", found, change, cost))
}

fn guest(seen: &DoctorReadings) -> Option<Finding> {
    let kind = seen.host_fact("host.virtualisation")?;
    if !kind.starts_with("guest") && !kind.contains("container") {
        return None;
    }
    let change = "measure on a dedicated machine if points matter";
    let cost = "neighbours that cannot be seen: identical 6 s runs gave 77 to 98 thousand \
                queries/s on a guest without any steal shown. Rates of pairs can be compared, \
                lone ones not";
    Some(Finding::with_advice(Note, "guest", kind, change, cost))
}

fn open_files(seen: &DoctorReadings) -> Option<Finding> {
    let allowed = seen.open_files?;
    let found = format!("{allowed} open files allowed");
    if allowed >= 10_000 {
        return Some(Finding::without_advice("open-files", found));
    }
    let change = "raise the limit (ulimit -Hn, /etc/security/limits.conf, LimitNOFILE=)";
    let cost = "each client needs one or two: thousands of clients are refused";
    Some(Finding::with_advice(Note, "open-files", found, change, cost))
}

fn tools(seen: &DoctorReadings) -> Option<Finding> {
    if seen.missing.is_empty() {
        return Some(Finding::without_advice("tools", "all programs that get releases are there"));
    }
    let names: Vec<&str> = seen.missing.iter().map(|(program, _)| *program).collect();
    let cannot: Vec<&str> = seen.missing.iter().map(|(_, what)| *what).collect();
    let found = format!("not there: {}", names.join(", "));
    let cost = format!("cannot be got: {}", cannot.join(", "));
    Some(Finding::with_advice(Note, "tools", found, "install them", cost))
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::super::seen::Turns;
    use super::*;
    use crate::canaries::Sample;
    use dbdyno_probe::Reach;

    /// A host on which there is nothing to say.
    fn sound() -> DoctorReadings {
        let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        DoctorReadings {
            facts: [
                fact("host.cpu.model", "X"),
                fact("host.cpu.governor", "performance"),
                fact("host.clock_source", "tsc"),
                fact("host.thp", "madvise"),
                fact("host.filesystem.type", "xfs"),
                fact("host.filesystem.options", "rw,noatime"),
                fact("host.numa_nodes", "1"),
                fact("host.swap_kb", "0"),
                fact("host.swappiness", "60"),
                fact("host.virtualisation", "no sign of one"),
            ]
            .into(),
            processors: 8,
            memory_mb: 64_000,
            rested: Some(Reach { pages: 4_000, away: 4, away_ns: 80_000 }),
            free_mb: Some(100_000),
            open_files: Some(1 << 20),
            turns: Some(Turns { same: 60_000.0, apart: 55_000.0 }),
            sums: Sample::of_durations(vec![100, 101]),
            chases: Sample::of_durations(vec![100, 101]),
            syncs: Ok(Sample::of_durations(vec![130_000; 9])),
            lateness: Sample::of_durations(vec![60_000; 9]),
            shares: Some(HostShares { busy: 0.01, steal: 0.0, foreign: 0.01 }),
            missing: Vec::new(),
        }
    }

    #[test]
    fn what_is_known_at_once_is_told_before_a_run() {
        let told = |foreign, governor| {
            let shares = HostShares { busy: foreign, steal: 0.0, foreign };
            let all = judge_beforehand(Some(shares), Some(governor));
            let cautions = all.filter(|one| one.severity >= Some(Caution));
            cautions.map(|one| one.code).collect::<Vec<String>>().join(" ")
        };
        assert_eq!(told(0.01, "performance"), "");
        assert_eq!(told(0.3, "performance"), "others");
        assert_eq!(told(0.7, "powersave"), "others governor");
    }

    #[test]
    fn a_sound_host_is_told_nothing() {
        let bad: Vec<Finding> =
            judge_readings(&sound()).into_iter().filter(|found| found.severity.is_some()).collect();
        assert_eq!(bad, []);
        assert!(judge_readings(&sound()).len() > 10, "what is good is shown as well");
    }

    #[test]
    fn each_fault_is_found_by_its_check_and_by_no_other() {
        let fact = |seen: &mut DoctorReadings, name: &str, value: &str| {
            seen.facts.insert(name.to_owned(), value.to_owned());
        };
        type Plant<'a> = (&'a str, Severity, &'a dyn Fn(&mut DoctorReadings));
        let plants: &[Plant<'_>] = &[
            ("processors", Caution, &|s| s.processors = 1),
            ("memory", Caution, &|s| s.memory_mb = 1_000),
            ("disk", Blocks, &|s| s.free_mb = Some(100)),
            ("disk", Note, &|s| s.free_mb = Some(5_000)),
            ("file-system", Caution, &|s| fact(s, "host.filesystem.type", "overlay")),
            ("file-system", Caution, &|s| fact(s, "host.filesystem.type", "tmpfs")),
            ("file-system", Note, &|s| fact(s, "host.filesystem.options", "rw,discard")),
            ("sync", Note, &|s| s.syncs = Ok(Sample::of_durations(vec![2_000]))),
            ("sync", Note, &|s| s.syncs = Ok(Sample::of_durations(vec![9_000_000]))),
            ("sync", Blocks, &|s| s.syncs = Err("denied".to_owned())),
            ("others", Caution, &|s| {
                s.shares = Some(HostShares { busy: 0.3, steal: 0.0, foreign: 0.3 });
            }),
            ("steal", Caution, &|s| {
                s.shares = Some(HostShares { busy: 0.0, steal: 0.2, foreign: 0.0 });
            }),
            ("even-processor", Caution, &|s| s.sums = Sample::of_durations(vec![100, 130])),
            ("even-memory", Note, &|s| s.chases = Sample::of_durations(vec![100, 130])),
            ("memory-at-rest", Caution, &|s| {
                s.rested = Some(Reach { pages: 4_000, away: 200, away_ns: 22_000_000 });
            }),
            ("timers", Caution, &|s| s.lateness = Sample::of_durations(vec![50_000, 4_000_000])),
            ("wake-up", Note, &|s| s.turns = Some(Turns { same: 48e3, apart: 14e3 })),
            ("governor", Caution, &|s| fact(s, "host.cpu.governor", "powersave")),
            ("boost", Note, &|s| fact(s, "host.cpu.no_turbo", "0")),
            ("smt", Note, &|s| fact(s, "host.cpu.smt", "on")),
            ("idle-states", Note, &|s| fact(s, "host.cpu.idle_driver", "intel_idle")),
            ("numa", Note, &|s| fact(s, "host.numa_nodes", "2")),
            ("clock-source", Caution, &|s| fact(s, "host.clock_source", "hpet")),
            ("huge-pages", Note, &|s| fact(s, "host.thp", "always")),
            ("swap", Note, &|s| fact(s, "host.swap_kb", "1000")),
            ("guest", Note, &|s| fact(s, "host.virtualisation", "guest, QEMU")),
            ("open-files", Note, &|s| s.open_files = Some(1_024)),
            ("tools", Note, &|s| s.missing = vec![("mvn", "releases from Maven")]),
        ];
        for (code, severity, plant) in plants {
            let mut seen = sound();
            plant(&mut seen);
            let bad: Vec<(String, Severity)> = judge_readings(&seen)
                .into_iter()
                .filter_map(|found| Some((found.code.clone(), found.severity?)))
                .collect();
            assert_eq!(bad, [((*code).to_owned(), *severity)]);
        }
        let found: std::collections::BTreeSet<&str> =
            plants.iter().map(|(code, ..)| *code).collect();
        assert_eq!(found.len(), CHECKS.len(), "a check that nothing was planted for");
    }
}
