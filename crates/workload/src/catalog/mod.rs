//! The loads that come with dbdyno.
//!
//! | file        | loads                                                                      |
//! |-------------|----------------------------------------------------------------------------|
//! | [`micro`]   | Callaghan's microbenchmarks, under his names                               |
//! | [`oltp`]    | sysbench's OLTP mixes                                                      |
//! | [`classics`]| a join and a bulk insert: the two that users found slower in MySQL 8.0     |
//! | [`tpcc`]    | TPC-C, see [`crate::tpcc`]                                                 |
//!
//! A load is found by its name with options, see [`crate::spec`]. Facts about names, statements and
//! their order were read in `mdcallag/mytools` and in sysbench's documentation; the code was not.

pub mod classics;
pub mod micro;
pub mod oltp;
pub mod tpcc;

use std::sync::Arc;

use crate::draw::Draw;
use crate::insert_benchmark;
use crate::load::{Content, Group, Load, Mix, Transaction, Trend, Unit};
use crate::spec::{Options, Spec, SpecError};
use crate::table::Tables;

/// A load of the catalog, without its tables.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Its place in the table of results.
    pub group: Group,
    make: fn(&mut Options, Tables) -> Result<Made, SpecError>,
}

/// What an entry makes of its options.
struct Made {
    dataset: Arc<dyn crate::dataset::Dataset>,
    content: Content,
    trend: Trend,
    unit: Unit,
}

impl Made {
    fn mix(mix: Mix, tables: Tables) -> Made {
        Made {
            dataset: Arc::new(tables),
            content: Content::Mix(mix),
            trend: Trend::Steady,
            unit: Unit::Statements,
        }
    }
}

/// Stands behind the name of a load that is asked a second time, before anything was written.
pub const BEFORE_WRITES: &str = ".pre";

/// All loads, in the order of the list.
pub fn entries() -> Vec<Entry> {
    let mut entries = micro::entries();
    entries.extend(oltp::entries());
    entries.extend(classics::entries());
    entries.extend(tpcc::entries());
    entries
}

/// The load that a spec names. `tables` are those that sysbench's loads ask; loads with tables of
/// their own take the seed from it.
///
/// `NAME.pre` is the load NAME; so is Callaghan's label `NAME_range=100`, where the range is only a
/// label.
///
/// A step of the Insert Benchmark comes with tables for one client.
///
/// # Errors
/// An unknown name or option, or a value that an option cannot have.
pub fn resolve(spec: &str, tables: Tables) -> Result<Load, SpecError> {
    if let Some(step) = insert_benchmark::Step::find(spec) {
        let (step, sizes) = step?;
        return Ok(step.load(&sizes, 1, tables.seed));
    }
    let parsed = Spec::parse(spec)?;
    let plain = parsed.name.strip_suffix(BEFORE_WRITES).unwrap_or(&parsed.name);
    let entries = entries();
    let find = |name: &str| entries.iter().find(|entry| entry.name == name);
    let entry = find(plain)
        .or_else(|| find(plain.strip_suffix("_range=100")?))
        .or_else(|| find(plain.strip_suffix("_range=10000").filter(|name| *name == "write-only")?))
        .ok_or_else(|| SpecError::UnknownLoad(parsed.name.clone()))?;
    let mut options = parsed.options();
    let made = (entry.make)(&mut options, tables)?;
    options.finish()?;
    Ok(Load {
        name: spec.to_owned(),
        about: entry.about.to_owned(),
        group: entry.group,
        trend: made.trend,
        unit: made.unit,
        dataset: made.dataset,
        content: made.content,
    })
}

/// The options `rand` and `skew`.
fn draw(options: &mut Options, default: Draw) -> Result<Draw, SpecError> {
    let name = options.text("rand");
    let skew = options.fraction("skew")?;
    let Some(name) = name else {
        return match (default, skew) {
            (default, None) => Ok(default),
            (Draw::Zipfian(_), Some(skew)) => named("zipfian", Some(skew)),
            (_, Some(skew)) => Err(SpecError::BadValue(
                "skew".to_owned(),
                skew.to_string(),
                "a distribution beside it: rand=zipfian, pareto, hotspot or latest".to_owned(),
            )),
        };
    };
    named(&name, skew)
}

fn named(name: &str, skew: Option<f64>) -> Result<Draw, SpecError> {
    Draw::from_name(name, skew).map_err(|takes| {
        let option = if takes.contains("unknown") { "rand" } else { "skew" };
        let value = if option == "rand" { name.to_owned() } else { format!("{skew:?}") };
        SpecError::BadValue(option.to_owned(), value, takes)
    })
}

/// The option `trx`.
fn transaction(options: &mut Options) -> Result<Transaction, SpecError> {
    Ok(match options.word("trx", &["on", "off"])? {
        "off" => Transaction::Autocommit,
        _ => Transaction::Explicit,
    })
}
