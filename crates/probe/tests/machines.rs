//! What is said of machines that are texts: `data/hosts`.

use std::path::Path;
use std::sync::Arc;

use dbdyno_host::{ScriptedHost, SharedHost};
use dbdyno_model::{Cost, Transport};
use dbdyno_probe::{
    HostSample, NotObservable, ServerProbe, directory_bytes, filesystem_facts, host_facts,
};

const GUEST: &str = include_str!("data/hosts/guest.txt");
const GROUPS: &str = include_str!("data/hosts/groups-of-version-1.txt");
const CONTAINER: &str = include_str!("data/hosts/container.txt");
/// The server of each, where there is one.
const MARIADB: u32 = 4242;
const CONTAINED: u32 = 1;

/// Facts as lines, those of the golden first.
fn lines(facts: &[(String, String)]) -> Vec<String> {
    facts.iter().map(|(name, value)| format!("{name} {value}")).collect()
}

fn probe(text: &str, pid: u32) -> (Arc<ScriptedHost>, ServerProbe) {
    let host = Arc::new(ScriptedHost::new(text));
    host.set_cpu_ns(pid, 4_000_000_000);
    let shared: SharedHost = host.clone();
    (host, ServerProbe::of_process(&shared, pid))
}

#[test]
fn each_machine_has_its_facts_and_no_others() {
    let guest = [
        "host.kernel 6.1.0-28-amd64",
        "host.os Debian GNU/Linux 12 (bookworm)",
        "host.cpu.model AMD EPYC 7543 32-Core Processor",
        "host.cpu.logical 2",
        "host.cpu.cores_per_socket 32",
        "host.cpu.governor performance, powersave",
        "host.memory_kb 24684096",
        "host.swap_kb 0",
        "host.huge_pages 0",
        "host.virtualisation guest, QEMU",
        "host.clock_source tsc",
        "host.thp madvise",
        "host.vulnerable spec_rstack_overflow",
        "host.mitigations spectre_v2 (Retpolines; STIBP: disabled)",
    ];
    let groups = [
        "host.kernel 3.10.0-1160.el7.x86_64",
        "host.os CentOS Linux 7 (Core)",
        "host.cpu.model Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
        "host.cpu.logical 64",
        "host.cpu.cores_per_socket 16",
        "host.cpu.smt on",
        "host.cpu.no_turbo 1",
        "host.cpu.governor performance",
        "host.cpu.idle_driver intel_idle",
        "host.numa_nodes 2",
        "host.memory_kb 394897820",
        "host.swap_kb 33554428",
        "host.huge_pages 102400",
        "host.swappiness 60",
        "host.virtualisation no sign of one, Dell Inc., PowerEdge R740",
        "host.thp always",
        "host.thp.defrag madvise",
    ];
    let container = [
        "host.os Alpine Linux v3.20",
        "host.cpu.model 0xd40",
        "host.cpu.logical 1",
        "host.memory_kb 4030000",
        "host.swap_kb 0",
        "host.virtualisation no sign of one, in a container",
    ];
    for (machine, expected) in [(GUEST, &guest[..]), (GROUPS, &groups), (CONTAINER, &container)] {
        assert_eq!(lines(&host_facts(&ScriptedHost::new(machine))), expected);
    }
}

#[test]
fn the_last_of_the_deepest_mounts_is_the_one_that_is_seen() {
    let table = format!("@ /proc/self/mountinfo\n{}", include_str!("data/mountinfo"));
    let host = ScriptedHost::new(&table);
    host.add_places("@ /var/db -> /srv/my data");
    for (path, facts) in [
        ("/etc/x", ["ext4", "rw,relatime,discard", "/dev/vda1"]),
        ("/srv/my data/db", ["xfs", "rw,noatime,attr2", "/dev/sdb"]),
        ("/srv/my datas/db", ["ext4", "rw,relatime,discard", "/dev/vda1"]),
        ("/tmp", ["tmpfs", "rw,size=1024k", "tmpfs"]),
    ] {
        let found = filesystem_facts(&host, Path::new(path));
        let names = ["type", "options", "device"].map(|name| format!("host.filesystem.{name}"));
        let expected: Vec<_> = names.into_iter().zip(facts.map(str::to_owned)).collect();
        assert_eq!(found, expected, "{path}");
    }
    assert!(filesystem_facts(&ScriptedHost::default(), Path::new("/")).is_empty());
}

#[test]
fn a_server_in_groups_of_version_1_says_what_holds_it() {
    let (_, probe) = probe(GROUPS, MARIADB);
    let expected = [
        "process.binary /usr/sbin/mariadbd",
        "process.allocator libjemalloc.so.1",
        "process.processors 0-31",
        "process.limit.open_files 16384",
        "process.limit.core_file 0",
        "process.cgroup.memory_limit 68719476736",
        "process.cgroup.cpus 0-31",
        "process.cgroup.cpu_quota_us 800000",
        "process.cgroup.cpu_period_us 100000",
        "process.filesystem.type ext4",
        "process.filesystem.options rw,noatime,data=ordered",
        "process.filesystem.device /dev/nvme0n1",
    ];
    assert_eq!(lines(&probe.process_facts()), expected);
    assert_eq!(probe.resident_bytes().unwrap(), Some(8192 << 10));
    assert_eq!(probe.error_log_bytes(), Some(22));
    assert_eq!(probe.error_log_since(6, 3).as_deref(), Some(&b"for"[..]));
}

#[test]
fn what_a_container_does_not_show_is_absent_and_never_zero() {
    let (_, probe) = probe(CONTAINER, CONTAINED);
    assert_eq!(lines(&probe.process_facts()), [""; 0]);
    assert_eq!(probe.resident_bytes(), Ok(None));
    assert_eq!(probe.error_log_bytes(), None);
    assert!(probe.held_memory().unwrap().is_none());
    let first = probe.sample().unwrap();
    let cost = probe.sample().unwrap().cost_since(&first);
    let known = Cost { server_cpu_ns: Some(0), server_kernel_ns: Some(0), ..Cost::default() };
    assert_eq!(cost, known);
    let address = Transport::Tcp("127.0.0.1".to_owned(), 3306);
    let host: SharedHost = Arc::new(ScriptedHost::new(CONTAINER));
    let error = ServerProbe::locate(&host, &address).unwrap_err();
    assert_eq!(error, NotObservable::NoPermission("127.0.0.1:3306".to_owned()));
}

/// Between two looks the server works for 90 ms, a third of it in the kernel, and a thread ends.
#[test]
fn what_a_server_used_between_two_looks_is_its_cost() {
    let (host, probe) = probe(GROUPS, MARIADB);
    let first = probe.sample().unwrap();
    host.set_cpu_ns(MARIADB, 4_090_000_000);
    host.add_places(
        "@ /proc/4242/stat\n\
         4242 (mariadbd) S 1 4242 4242 0 -1 0 0 0 0 0 306 103 0 0 20 0 2 0 777\n\
         @ /proc/4242/io\nread_bytes: 1000\nwrite_bytes: 9096\n\
         @ /proc/4242/task/4242/status\n\
         voluntary_ctxt_switches:\t15\nnonvoluntary_ctxt_switches:\t1\n",
    );
    host.remove(Path::new("/proc/4242/task/4250"));
    let second = probe.sample().unwrap();
    let cost = Cost {
        server_cpu_ns: Some(90_000_000),
        server_kernel_ns: Some(30_000_000),
        server_read_bytes: Some(0),
        server_written_bytes: Some(4_096),
        server_context_switches: Some(5),
        ..Cost::default()
    };
    assert_eq!(second.cost_since(&first), cost);
    // Another process under the same number is another server.
    host.add_places(
        "@ /proc/4242/stat\n4242 (sh) S 1 4242 4242 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 9999\n",
    );
    assert_eq!(probe.sample().unwrap_err(), NotObservable::ServerDied(MARIADB));
    host.remove(Path::new("/proc/4242"));
    assert_eq!(probe.sample().unwrap_err(), NotObservable::ServerDied(MARIADB));
}

#[test]
fn shares_of_a_machine_are_those_of_its_ticks() {
    let host = ScriptedHost::new(GROUPS);
    let first = HostSample::read(&host).unwrap();
    host.add_places("@ /proc/stat\ncpu  1040 50 410 60040 300 20 30 210 999 0\n");
    // 100 ticks of 10 ms: 50 busy, 10 stolen; the servers' 200 ms are 20 of them.
    let shares = HostSample::read(&host).unwrap().shares_since(&first, 200_000_000).unwrap();
    assert_eq!((shares.busy, shares.steal), (0.5, 0.1));
    assert!((shares.foreign - 0.3).abs() < 1e-12, "{shares:?}");
    host.add_places("@ /proc/stat\nintr 7\n");
    let error = HostSample::read(&host).unwrap_err().to_string();
    assert!(error.starts_with("/proc/stat cannot be used (no line \"cpu\")"), "{error}");
    host.remove(Path::new("/proc/stat"));
    let error = HostSample::read(&host).unwrap_err().to_string();
    assert!(error.starts_with("/proc/stat cannot be used (entity not found)"), "{error}");
}

/// Of whom: a socket's owner, its parent, what passes traffic on, or two that have nothing to do
/// with each other.
#[test]
fn who_serves_an_address_is_found_among_those_that_hold_its_socket() {
    let process = |pid: u32, name: &str, parent: u32| {
        format!(
            "@ /proc/{pid}/stat\n{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5\n"
        )
    };
    let holds = |pid: u32| format!("@ /proc/{pid}/fd/7 -> socket:[1060]\n");
    let listens = "@ /proc/net/tcp\n   0: 00000000:0CEA 00000000:0000 0A 0:0 0:0 0 0 0 1060 1\n";
    let address = || "127.0.0.1:3306".to_owned();
    for (processes, expected) in [
        (vec![(70, "postgres", 1), (71, "postgres", 70)], Ok(70)),
        (vec![(70, "systemd", 1), (71, "mariadbd", 70)], Ok(71)),
        (
            vec![(70, "docker-proxy", 1)],
            Err(NotObservable::Forwarder(address(), "docker-proxy".to_owned())),
        ),
        (vec![(70, "a", 1), (71, "b", 1)], Err(NotObservable::Ambiguous(address(), vec![70, 71]))),
        (vec![(7, "dbdyno", 1)], Err(NotObservable::Ourselves(address()))),
        (vec![], Err(NotObservable::NobodyListens(address()))),
    ] {
        let told =
            |(pid, name, parent): &(u32, &str, u32)| process(*pid, name, *parent) + &holds(*pid);
        let text: String = processes.iter().map(told).collect();
        let host: SharedHost =
            Arc::new(ScriptedHost::new(&format!("{listens}{text}")).with_own_pid(7));
        let found = ServerProbe::locate(&host, &Transport::Tcp("127.0.0.1".to_owned(), 3306));
        assert_eq!(found.map(|probe| probe.root_pid()), expected, "{processes:?}");
    }
}

#[test]
fn what_lies_in_a_folder_is_added_up_without_following_links() {
    let host = ScriptedHost::new(GROUPS);
    host.add_places("@ /data/mysql/db/t.ibd\nrows\n@ /data/mysql/away -> /data/error.log");
    assert_eq!(directory_bytes(&host, Path::new("/data/mysql")), Ok(2 * 4096));
    let error = directory_bytes(&host, Path::new("/data/none")).unwrap_err();
    assert!(error.to_string().starts_with("/data/none cannot be used"), "{error}");
}
