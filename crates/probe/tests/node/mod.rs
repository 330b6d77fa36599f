//! A process that does as it is told, and says what it used by its own account (getrusage).
//!
//! A test binary starts itself as a node: `--exact trees::node --nocapture` with
//! `DBDYNO_TEST_NODE` set. Orders go in by lines; each is answered by `ok CPU_NS`, the process's
//! own time so far, that of its children not included.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use dbdyno_host::own;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

const ROLE: &str = "DBDYNO_TEST_NODE";

/// A node and the pipes to it.
pub(crate) struct Node {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Node {
    pub(crate) fn start() -> Node {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "trees::node", "--nocapture"])
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Node {
            orders: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives an order and waits until it is done; returns the answering process's own time.
    pub(crate) fn tell(&mut self, order: &str) -> u64 {
        let orders = self.orders.as_mut().unwrap();
        writeln!(orders, "{order}").unwrap();
        loop {
            let mut line = String::new();
            let length = self.answers.read_line(&mut line).unwrap();
            assert!(length > 0, "the node died at {order:?}");
            if let Some(cpu_ns) = line.strip_prefix("ok ") {
                return cpu_ns.trim().parse().unwrap();
            }
        }
    }

    /// Lets it end by itself and waits for it.
    pub(crate) fn end(mut self) {
        drop(self.orders.take());
        let mut rest = String::new();
        while self.answers.read_line(&mut rest).unwrap() > 0 {}
        self.child.wait().unwrap();
    }
}

fn own_cpu_ns() -> u64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let ns = |time: TimeVal| time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1000;
    ns(usage.user_time()) + ns(usage.system_time())
}

/// The loop of a node; returns at once in an ordinary test run.
#[expect(clippy::print_stdout, reason = "standard output is the pipe to the parent")]
pub(crate) fn run_if_told() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let mut children: Vec<Option<Node>> = Vec::new();
    println!();
    for line in std::io::stdin().lines() {
        let cpu_ns = obey(&line.unwrap(), &mut children);
        println!("ok {cpu_ns}");
    }
    children.into_iter().flatten().for_each(Node::end);
}

fn obey(line: &str, children: &mut Vec<Option<Node>>) -> u64 {
    let (order, rest) = line.split_once(' ').unwrap_or((line, ""));
    let number = || rest.parse::<u64>().unwrap();
    match order {
        "child" => children.push(Some(Node::start())),
        "to" => {
            let (index, order) = rest.split_once(' ').unwrap();
            let child = children[index.parse::<usize>().unwrap()].as_mut();
            return child.unwrap().tell(order);
        }
        "reap" => children[number() as usize].take().unwrap().end(),
        "burn" => burn(number()),
        "thread" => {
            let ms = number();
            std::thread::spawn(move || burn(ms)).join().unwrap();
        }
        "sleep" => (0..number()).for_each(|_| std::thread::sleep(Duration::from_micros(100))),
        "write" => {
            let mut file = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            file.write_all(&vec![7; number() as usize]).unwrap();
            file.sync_all().unwrap();
        }
        "say" => {}
        other => panic!("order {other:?}"),
    }
    own_cpu_ns()
}

/// Uses the processor for so many milliseconds of its own time, however long that takes.
fn burn(ms: u64) {
    let until = own::thread_cpu_ns() + ms * 1_000_000;
    let mut sum = 0u64;
    while own::thread_cpu_ns() < until {
        for step in 0..2_000u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(step));
        }
    }
}
