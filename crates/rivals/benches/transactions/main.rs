//! Transactions per second of processor time: the reference engine and RocksDB's `TransactionDB`.
//!
//! ```text
//!   cargo bench -p dbdyno-rivals --bench transactions [-- WORD=VALUE …]
//!
//!   load=point-query,read-write,tpcc   log=written,synced   clients=1,8,64   pairs=8   seconds=1
//!   rows=100000   warehouses=8   items=10000   customers=300   seed=1   engine=view=csn&log=linked
//!   library=FILE, another RocksDB than that of the system
//!   rocks=OPTIONS, in the form of GetOptionsFromString, instead of those that are printed
//! ```
//!
//! Each side is a process of its own (this program, started again) with a thread for each client.
//! A round is a number of transactions, the same for both sides; rounds take turns, A B B A with a
//! random beginning. What a round costs is the processor time of its clients and of all that its
//! process did beside since its last round ended: purging, flushing, compacting. The share of the
//! latter is shown. A third side does nothing: what it costs to ask is in both figures and is shown
//! as well. Sides that answer differently, when there is one client, or hold other rows in the end,
//! end the benchmark.
//!
//! Ratios are engine ÷ RocksDB of transactions per processor-second, with the 95 % interval of
//! [`dbdyno_stats::paired_estimate`]. Transactions per second of the clock are medians, and say
//! little where the host has other things to do.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads clocks")]

mod child;
mod parent;

use std::collections::BTreeMap;

use dbdyno_rivals::work::Scale;
use dbdyno_rivals::{OPTIONS, RivalDurability};

/// What is wanted, as words and values.
struct Wanted(BTreeMap<String, String>);

impl Wanted {
    fn text<'a>(&'a self, word: &str, default: &'a str) -> &'a str {
        self.0.get(word).map_or(default, String::as_str)
    }

    fn number(&self, word: &str, default: u64) -> u64 {
        let number = |text: &String| text.parse().unwrap_or_else(|_| panic!("{word}={text}"));
        self.0.get(word).map_or(default, number)
    }

    fn scale(&self) -> Scale {
        Scale {
            rows: self.number("rows", 100_000) as i64,
            warehouses: self.number("warehouses", 8) as i64,
            items: self.number("items", 10_000) as i64,
            customers: self.number("customers", 300) as i64,
        }
    }

    fn rocks(&self) -> &str {
        self.text("rocks", OPTIONS)
    }
}

/// What clients do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load {
    PointQuery,
    ReadWrite,
    Tpcc,
}

impl Load {
    fn read(word: &str) -> Load {
        match word {
            "point-query" => Load::PointQuery,
            "read-write" => Load::ReadWrite,
            "tpcc" => Load::Tpcc,
            _ => panic!("there is no load {word:?}: point-query, read-write, tpcc"),
        }
    }
}

fn durability(word: &str) -> RivalDurability {
    match word {
        "written" => RivalDurability::Written,
        "synced" => RivalDurability::Synced,
        _ => panic!("a log is written or synced, not {word:?}"),
    }
}

fn main() {
    let arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let pair = |argument: String| {
        let (word, value) = argument.split_once('=').unwrap_or_else(|| panic!("{argument}"));
        (word.to_owned(), value.to_owned())
    };
    let wanted = Wanted(arguments.map(pair).collect());
    if wanted.0.contains_key("side") { child::serve(&wanted) } else { parent::compare(&wanted) }
}
