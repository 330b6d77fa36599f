//! Both sides in turn, and what comes of it.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use dbdyno_model::random::mix_bits;
use dbdyno_stats::paired_estimate;

use crate::Wanted;

const SIDES: [&str; 3] = ["engine", "rocks", "none"];
const ENGINE: usize = 0;
const ROCKS: usize = 1;
const NONE: usize = 2;

/// What a round cost.
#[derive(Clone, Copy)]
struct Cost {
    elapsed_ns: f64,
    clients_ns: f64,
    process_ns: f64,
    conflicts: u64,
    answers: u64,
}

pub(crate) fn compare(wanted: &Wanted) {
    let words = |word, default| wanted.text(word, default).split(',').map(str::to_owned);
    let mut about = BTreeSet::new();
    let mut cell = |load: &str, log: &str, clients: &str| {
        let mut own = wanted.0.clone();
        for (word, value) in [("load", load), ("log", log), ("clients", clients)] {
            own.insert(word.to_owned(), value.to_owned());
        }
        about.extend(Cell::new(Wanted(own)).run());
    };
    println!(
        "| load | log | clients | transactions per CPU-second, engine ÷ RocksDB | µs each: engine \
         | RocksDB | asking | beside the clients: engine | RocksDB | per second: engine | RocksDB \
         | conflicts |"
    );
    println!("|{}", "---|".repeat(12));
    for load in words("load", "point-query,read-write,tpcc") {
        for log in words("log", "written,synced") {
            // Point queries write no log.
            if load == "point-query" && log == "synced" {
                continue;
            }
            words("clients", "1,8,64").for_each(|clients| cell(&load, &log, &clients));
        }
    }
    println!("\nBoth sides held the same rows after each cell; {:?}; with:", wanted.scale());
    about.iter().for_each(|side| println!("  {side}"));
}

/// One load with one number of clients.
struct Cell {
    wanted: Wanted,
    sides: Vec<Side>,
    /// Transactions that each client has done.
    done: u64,
}

impl Cell {
    fn new(wanted: Wanted) -> Cell {
        let sides = SIDES.iter().map(|side| Side::start(&wanted, side)).collect();
        Cell { wanted, sides, done: 0 }
    }

    /// Prints its row of the table; gives what the sides were.
    fn run(mut self) -> [String; 2] {
        let clients = self.wanted.number("clients", 1);
        let many = self.warm_up();
        let mut pairs = Vec::new();
        for pair in 0..self.wanted.number("pairs", 8) {
            // Two pairs are a block, A B B A or B A A B.
            let first = (mix_bits(pair / 2) ^ pair).is_multiple_of(2);
            let order = if first { [ENGINE, ROCKS] } else { [ROCKS, ENGINE] };
            pairs.push(self.round(many, order));
        }
        let each = (many * clients) as f64;
        let asking = self.sides[NONE].round(0, many).clients_ns / each / 1e3;
        let cost = |side: usize| move |pair: &[Cost; 2]| pair[side].process_ns;
        let logs: Vec<f64> =
            pairs.iter().map(|it| (cost(ROCKS)(it) / cost(ENGINE)(it)).ln()).collect();
        let ratio = paired_estimate(&logs, 0.95).expect("pairs can be judged").ratio;
        let mean =
            |of: &dyn Fn(&[Cost; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        let us = |side| mean(&cost(side)) / each / 1e3;
        let beside = |side: usize| {
            let clients = mean(&|it| it[side].clients_ns);
            100.0 * (1.0 - clients / mean(&cost(side)))
        };
        let rate = |side: usize| {
            let mut elapsed: Vec<f64> = pairs.iter().map(|it| it[side].elapsed_ns).collect();
            elapsed.sort_unstable_by(f64::total_cmp);
            each / (elapsed[elapsed.len() / 2] / 1e9)
        };
        let conflicts = |side: usize| pairs.iter().map(|it| it[side].conflicts).sum::<u64>();
        println!(
            "| {} | {} | {clients} | {:.2} ({:.2} … {:.2}) | {:.2} | {:.2} | {asking:.2} \
             | {:.0} % | {:.0} % | {:.0} | {:.0} | {} : {} |",
            self.wanted.text("load", ""),
            self.wanted.text("log", ""),
            ratio.estimate,
            ratio.low,
            ratio.high,
            us(ENGINE),
            us(ROCKS),
            beside(ENGINE),
            beside(ROCKS),
            rate(ENGINE),
            rate(ROCKS),
            conflicts(ENGINE),
            conflicts(ROCKS),
        );
        self.end()
    }

    /// Rounds that double until one takes a quarter of what is wanted; how many transactions of
    /// each client take what is wanted on the faster side.
    fn warm_up(&mut self) -> u64 {
        let wanted_ns = 1e9 * self.wanted.number("seconds", 1) as f64;
        let mut many = 4;
        loop {
            let costs = self.round(many, [ENGINE, ROCKS]);
            let elapsed_ns = costs[ENGINE].elapsed_ns.min(costs[ROCKS].elapsed_ns);
            if elapsed_ns > wanted_ns / 4.0 {
                return (many as f64 * wanted_ns / elapsed_ns) as u64 + 1;
            }
            many *= 2;
        }
    }

    /// The same transactions on both sides, in an order.
    fn round(&mut self, many: u64, order: [usize; 2]) -> [Cost; 2] {
        let mut costs = [None; 2];
        for side in order {
            costs[side] = Some(self.sides[side].round(self.done, many));
        }
        self.done += many;
        let costs = costs.map(|cost| cost.expect("both had their turn"));
        if self.wanted.number("clients", 1) == 1 {
            let [engine, rocks] = costs.map(|cost| cost.answers);
            assert_eq!(engine, rocks, "the sides answer differently");
        }
        costs
    }

    /// Compares what the sides hold; gives what they were.
    fn end(mut self) -> [String; 2] {
        let [engine, rocks] = [ENGINE, ROCKS].map(|side| self.sides[side].ask("contents"));
        assert_eq!(engine, rocks, "the sides hold other rows");
        [ENGINE, ROCKS].map(|side| self.sides[side].ask("about"))
    }
}

/// A process.
struct Side {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// What it writes to, as long as it runs.
    _directory: tempfile::TempDir,
}

impl Side {
    fn start(wanted: &Wanted, side: &str) -> Side {
        let base = std::env::current_exe().expect("this program has a path");
        // Beside the program, which is on a disk: what is for temporary files may be in memory.
        let place = base.parent().expect("a file is in a directory");
        let directory = tempfile::tempdir_in(place).expect("there is room beside this program");
        let words = wanted.0.iter().map(|(word, value)| format!("{word}={value}"));
        let mut child = Command::new(&base)
            .args(words)
            .arg(format!("directory={}", directory.path().display()))
            .arg(format!("side={side}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let to = child.stdin.take().expect("it is piped");
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut side = Side { child, to, from, _directory: directory };
        assert_eq!(side.answer(), "ready");
        side
    }

    fn round(&mut self, first: u64, many: u64) -> Cost {
        let answer = self.ask(&format!("round {first} {many}"));
        let numbers: Vec<u64> = answer.split(' ').map(|it| it.parse().expect("a number")).collect();
        let [elapsed, clients, process, conflicts, answers] = numbers[..] else {
            panic!("{answer}")
        };
        let [elapsed_ns, clients_ns, process_ns] = [elapsed, clients, process].map(|it| it as f64);
        Cost { elapsed_ns, clients_ns, process_ns, conflicts, answers }
    }

    fn ask(&mut self, question: &str) -> String {
        writeln!(self.to, "{question}").expect("it listens");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("it answers");
        line.trim_end().to_owned()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
