//! Real trees of processes, compared with what those processes say of themselves.

use crate::node::{self, Node};
use dbdyno_host::{Local, local_host, own};
use dbdyno_model::{Cost, Transport};
use dbdyno_probe::{HostSample, NotObservable, ServerProbe, ServerSample};

/// What a reaped child adds or takes by being counted in ticks, and what telling the orders costs.
const SLACK_NS: u64 = 40_000_000;

/// Not a test of its own: the body of the processes that are looked at.
#[test]
fn node() {
    node::run_if_told();
}

fn sample(node: &Node) -> ServerSample {
    ServerProbe::of_process(&local_host(), node.pid()).sample().unwrap()
}

fn cost(node: &Node, earlier: &ServerSample) -> Cost {
    sample(node).cost_since(earlier)
}

#[track_caller]
fn assert_near(cost: &Cost, truth_ns: u64) {
    let cpu_ns = cost.server_cpu_ns.unwrap();
    let allowed_ns = truth_ns / 50 + SLACK_NS;
    assert!(
        cpu_ns.abs_diff(truth_ns) <= allowed_ns,
        "{} ms were seen, {} ms were used",
        cpu_ns / 1_000_000,
        truth_ns / 1_000_000
    );
}

#[test]
fn threads_count_also_those_that_ended() {
    let mut root = Node::start();
    let before_ns = root.tell("burn 50");
    let first = sample(&root);
    root.tell("thread 150");
    let after_ns = root.tell("burn 50");
    let cost = cost(&root, &first);
    assert_near(&cost, after_ns - before_ns);
    assert!(cost.server_cpu_ns.unwrap() >= 200_000_000, "{cost:?}");
    root.end();
}

/// The child used 400 ms before the window and 100 ms in it. Counted twice it would be 500 ms, and
/// forgotten 0.
#[test]
fn a_child_that_goes_is_counted_from_the_first_look_on() {
    let mut root = Node::start();
    root.tell("child");
    let before_ns = root.tell("to 0 burn 400");
    let first = sample(&root);
    assert_eq!(first.process_count(), 2);
    let after_ns = root.tell("to 0 burn 100");
    root.tell("reap 0");
    let second = sample(&root);
    assert_eq!(second.process_count(), 1);
    assert_near(&second.cost_since(&first), after_ns - before_ns);
    root.end();
}

#[test]
fn children_and_grandchildren_that_come_stay_and_flit_are_all_counted() {
    let mut root = Node::start();
    root.tell("child");
    root.tell("to 0 child");
    let stays_ns = root.tell("to 0 burn 60");
    let grandchild_ns = root.tell("to 0 to 0 burn 60");
    let first = sample(&root);
    // Stays; its child goes; a new one flits; another comes.
    let grandchild_ns = root.tell("to 0 to 0 burn 100") - grandchild_ns;
    root.tell("to 0 reap 0");
    root.tell("child");
    let flits_ns = root.tell("to 1 burn 150");
    root.tell("reap 1");
    root.tell("child");
    let comes_ns = root.tell("to 2 burn 80");
    let stays_ns = root.tell("to 0 burn 100") - stays_ns;
    let cost = cost(&root, &first);
    assert_near(&cost, grandchild_ns + flits_ns + comes_ns + stays_ns);
    root.end();
}

#[test]
fn a_neighbour_is_not_charged() {
    let mut root = Node::start();
    let mut neighbour = Node::start();
    let before_ns = root.tell("burn 20");
    let first = sample(&root);
    neighbour.tell("burn 300");
    let after_ns = root.tell("burn 20");
    assert_near(&cost(&root, &first), after_ns - before_ns);
    root.end();
    neighbour.end();
}

#[test]
fn context_switches_are_those_of_the_server() {
    let mut root = Node::start();
    root.tell("child");
    root.tell("to 0 say");
    let first = sample(&root);
    root.tell("to 0 sleep 500");
    let switches = cost(&root, &first).server_context_switches.unwrap();
    assert!((500..5_000).contains(&switches), "{switches}");
    root.end();
}

/// Written by a child that is gone when the second look is taken: the kernel has added it to the
/// parent, and only once. A file system in memory would write nothing; then there is nothing to
/// see.
#[test]
fn bytes_written_survive_the_child_and_count_once() {
    const WRITTEN: u64 = 4 << 20;
    let mut root = Node::start();
    root.tell("child");
    root.tell("to 0 write 3000000");
    let first = sample(&root);
    root.tell(&format!("to 0 write {WRITTEN}"));
    root.tell("reap 0");
    let bytes = cost(&root, &first).server_written_bytes.unwrap();
    let facts =
        dbdyno_probe::filesystem_facts(&Local, std::path::Path::new(env!("CARGO_TARGET_TMPDIR")));
    if facts.iter().any(|(_, value)| value == "tmpfs") {
        assert_eq!(bytes, 0);
    } else {
        assert!((WRITTEN..WRITTEN + (1 << 20)).contains(&bytes), "{bytes}");
    }
    root.end();
}

#[test]
fn a_server_that_dies_says_so() {
    let root = Node::start();
    let pid = root.pid();
    let probe = ServerProbe::of_process(&local_host(), pid);
    probe.sample().unwrap();
    root.end();
    assert_eq!(probe.sample().unwrap_err(), NotObservable::ServerDied(pid));
}

#[test]
fn a_server_that_is_dead_but_not_buried_died() {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let probe = ServerProbe::of_process(&local_host(), child.id());
    // Waits for the end without waiting for the process.
    let id = nix::sys::wait::Id::Pid(nix::unistd::Pid::from_raw(child.id() as i32));
    let flags = nix::sys::wait::WaitPidFlag::WEXITED | nix::sys::wait::WaitPidFlag::WNOWAIT;
    nix::sys::wait::waitid(id, flags).unwrap();
    let error = probe.sample().unwrap_err();
    assert_eq!(error, NotObservable::ServerDied(child.id()));
    child.wait().unwrap();
}

#[test]
fn what_we_serve_ourselves_and_what_others_serve_is_refused() {
    let ours = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = |host: &str, port| Transport::Tcp(host.into(), port);
    let port = ours.local_addr().unwrap().port();
    let locate = |transport: &Transport| ServerProbe::locate(&local_host(), transport).unwrap_err();
    assert!(matches!(locate(&at("127.0.0.1", port)), NotObservable::Ourselves(_)));
    assert!(matches!(locate(&at("localhost", port)), NotObservable::Ourselves(_)));
    drop(ours);
    assert!(matches!(locate(&at("127.0.0.1", port)), NotObservable::NobodyListens(_)));
    assert!(matches!(locate(&at("203.0.113.7", port)), NotObservable::OtherHost(_)));
    assert!(matches!(locate(&at("no.such.invalid", port)), NotObservable::UnknownHost(..)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let at_path = Transport::Unix(path.to_str().unwrap().to_owned());
    assert!(matches!(locate(&at_path), NotObservable::Ourselves(_)));
    drop(listener);
    assert!(matches!(locate(&at_path), NotObservable::NobodyListens(_)));
}

#[test]
fn our_own_work_is_busy_and_not_foreign() {
    let first = HostSample::read(&Local).unwrap();
    let began_ns = own::process_cpu_ns();
    while own::process_cpu_ns() < began_ns + 200_000_000 {
        std::hint::black_box(0);
    }
    let shares = HostSample::read(&Local).unwrap().shares_since(&first, 0).unwrap();
    assert!(shares.busy > 0.0 && shares.busy <= 1.0, "{shares:?}");
    assert!(shares.foreign < shares.busy, "{shares:?}");
}
