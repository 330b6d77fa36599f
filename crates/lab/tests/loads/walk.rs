//! Every load there is, at small size, in two places.
//!
//! ```text
//!   one by one     operations 0 … of one client in both: the same rows read and changed by each
//!                  of them, and in the end the same rows in all tables
//!   together       several clients for a moment, as a round does it: something is finished, rows
//!                  come, every answer is checked, and the tables are consistent
//! ```
//!
//! What is asked is a pure function of the seed, and both places hold the same rows, so that each
//! of them is an oracle for the SQL of the other. The list of loads is not kept by hand.

use std::path::Path;
use std::time::Duration;

use dbdyno_load::{
    ClientSession, EventAnswer, LoadError, RoundMeasurement, RoundSpec, check_invariants,
    drop_tables, run_round,
};
use dbdyno_model::design::{AdmissionGate, Device, View, Wake};
use dbdyno_model::{Design, Processors, Stage};
use dbdyno_workload::{Catalog, Content, Custom, Expect, Load, ReadyLoad, Tables, Trend, suite};

use super::place::{GO_ON, Place, difference, home, in_memory, turn};

const TABLES: Tables = Tables { count: 2, rows: 1_500, seed: 11 };
/// Operations of one client, one by one. TPC-C deals all five transactions in so many.
const OPERATIONS: u64 = 40;
/// The operations of clients that work together begin here, out of reach of the others.
const TOGETHER: u64 = 1 << 40;
/// A round that finishes nothing on a busy host is tried again, four times as long.
const WINDOWS_MS: [u64; 4] = [40, 160, 640, 2_560];

/// What is in no list: options that change statements, and a small TPC-C in place of the usual one.
const OPTIONS: [&str; 9] = [
    "read-only?trx=off",
    "read-write?trx=off&rand=latest",
    "write-only?trx=off&rand=zipfian",
    "update-only?trx=off",
    "update-inlist?rand=special",
    "delete?refill=on",
    "insert?refill=on",
    "read-write?range=7",
    "join?rows=10&rand=hotspot",
];
const SMALL_TPCC: &str = "tpcc?items=200&customers=30";
/// Columns that hold when something was done.
const TIMES_OF_DAY: [&str; 3] = ["h_date", "o_entry_d", "ol_delivery_d"];
const SHOP: &str = "examples/shop.toml";

/// Every load with its label.
fn loads() -> Vec<Load> {
    let mut catalog = Catalog::default();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SHOP);
    let shop = Custom::parse(SHOP, &std::fs::read_to_string(file).unwrap()).unwrap();
    let own = shop.name.clone();
    catalog.add_custom(shop).unwrap();
    let everything = suite::full_suite();
    let labels = everything.iter().filter_map(Stage::measured_label).map(|label| match label {
        "tpcc" => SMALL_TPCC,
        label => label,
    });
    let labels = labels.chain(OPTIONS).chain([own.as_str()]);
    let loads = labels.map(|label| catalog.resolve_load(label, TABLES).unwrap());
    // Those that take rows away come last: others look for every row.
    let takes = |load: &Load| matches!(load.trend, Trend::Shrinks | Trend::ShrinksAndIsRefilled);
    let (last, mut loads): (Vec<Load>, Vec<Load>) = loads.partition(takes);
    loads.extend(last);
    loads
}

/// Whether all that is asked for is counted alike: MariaDB and the engine count a row as unchanged
/// that has the new values already, as orders of the shop may.
fn changes_alike(load: &Load) -> bool {
    load.name != "shop"
}

fn one_by_one(load: &Load, place: &Place) -> Result<Vec<EventAnswer>, String> {
    let failed = |error: LoadError| format!("{} on {}: {error}", load.name, place.name);
    let ready = ReadyLoad::compile(load, place.dialect).unwrap();
    let mut session = ClientSession::open(&place.connector, &ready, 0).map_err(failed)?;
    let answers = (0..OPERATIONS).map(|operation| {
        session.make_operation(operation);
        session.ask_operation(operation)
    });
    answers.collect::<Result<_, _>>().map_err(failed)
}

/// What is wrong with a load when it is asked one by one.
fn compared(load: &Load, places: &[Place; 2]) -> Vec<String> {
    let (one, other) = match places.each_ref().map(|place| one_by_one(load, place)) {
        [Ok(one), Ok(other)] => (one, other),
        failed => return failed.into_iter().filter_map(Result::err).collect(),
    };
    let told = |answer: &EventAnswer| {
        let changed = if changes_alike(load) { answer.rows_changed } else { 0 };
        (answer.statements, answer.rows_read, changed, answer.kind)
    };
    let mut pairs = one.iter().zip(&other).enumerate();
    let differ = pairs.find(|(_, (one, other))| told(one) != told(other));
    let text = differ.map(|(operation, (one, other))| {
        format!("{}, operation {operation}: {one:?} against {other:?}", load.name)
    });
    text.into_iter().collect()
}

/// The tables of all loads, each once.
fn fill(loads: &[Load], places: &[Place; 2]) -> Vec<Load> {
    let mut filled: Vec<Load> = Vec::new();
    for load in loads {
        if !filled.iter().any(|known| known.dataset.key() == load.dataset.key()) {
            places.iter().for_each(|place| place.fill(&*load.dataset));
            filled.push(load.clone());
        }
    }
    filled
}

/// Each of these with each place.
fn both<'a>(
    loads: &'a [Load],
    places: &'a [Place; 2],
) -> impl Iterator<Item = (&'a Load, &'a Place)> {
    loads.iter().flat_map(move |load| places.iter().map(move |place| (load, place)))
}

/// Makes all tables anew.
fn fill_again(loads: &[Load], places: &[Place; 2]) {
    both(loads, places).for_each(|(load, place)| fill_anew(load, place));
}

fn fill_anew(load: &Load, place: &Place) {
    let tables = load.dataset.tables(place.dialect);
    let names: Vec<String> = tables.into_iter().map(|table| table.name).collect();
    drop_tables(&place.connector, &names).unwrap();
    place.fill(&*load.dataset);
}

/// Tables whose rows are not the same in both places, in all columns but these.
fn unlike(loads: &[Load], places: &[Place; 2], but: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for load in loads {
        for table in load.dataset.tables(places[0].dialect) {
            let mut columns = table.columns;
            columns.retain(|column| !but.contains(&column.as_str()));
            let [one, other] = places.each_ref().map(|place| place.content(&table.name, &columns));
            let differs = difference(&one, &other);
            found.extend(differs.map(|text| format!("table {}: {text}", table.name)));
        }
    }
    found
}

fn round(load: &Load, place: &Place, clients: u32) -> Result<RoundMeasurement, LoadError> {
    let ready = ReadyLoad::compile(load, place.dialect).unwrap();
    let mut outcome = Err(LoadError::NothingFinished);
    // What takes rows away might have taken all before it counts.
    let lead_in = Duration::from_millis(if takes_away(load) { 0 } else { 5 });
    for (attempt, window_ms) in WINDOWS_MS.into_iter().enumerate() {
        let spec = RoundSpec {
            load: &ready,
            connector: &place.connector,
            clients,
            first_operation: TOGETHER + ((attempt as u64) << 32),
            lead_in,
            window: Duration::from_millis(window_ms),
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record: None,
            stop: &GO_ON,
        };
        outcome = run_round(&spec, &mut |_| {});
        if !matches!(outcome, Err(LoadError::NothingFinished)) {
            break;
        }
    }
    outcome
}

fn takes_away(load: &Load) -> bool {
    matches!(load.trend, Trend::Shrinks | Trend::ShrinksAndIsRefilled)
}

/// Whether a load is to find nothing, as `scan` is.
fn finds_nothing(load: &Load) -> bool {
    let Content::Mix(mix) = &load.content else { return false };
    let mut asks = mix.steps.iter().flat_map(|step| &step.asks);
    asks.all(|ask| ask.expect == Expect::Rows(0, 0))
}

/// What is wrong with a load when several clients ask at once.
fn together(load: &Load, place: &Place, clients: u32) -> Option<String> {
    let wrong = |text: String| Some(format!("{} on {}: {text}", load.name, place.name));
    if takes_away(load) {
        // A fast server has taken all rows of the table away in the loads before.
        fill_anew(load, place);
    }
    let measured = match round(load, place, clients) {
        Ok(measured) => measured,
        Err(error) => return wrong(error.to_string()),
    };
    let answer = measured.answer;
    if measured.events == 0 || answer.statements < measured.events {
        return wrong(format!("{} events, {answer:?}", measured.events));
    }
    let rows = answer.rows_read + answer.rows_changed;
    if (rows == 0) != finds_nothing(load) {
        return wrong(format!("{rows} rows: {answer:?}"));
    }
    None
}

fn inconsistent(load: &Load, place: &Place) -> Option<String> {
    let checked = check_invariants(&place.connector, place.dialect, &*load.dataset);
    checked.err().map(|error| format!("{} on {}: {error}", load.name, place.name))
}

/// Asks all loads in both places, one by one and then with so many clients together.
fn walk(loads: Vec<Load>, places: [Place; 2], clients: u32) {
    let datasets = fill(&loads, &places);
    let mut wrong = unlike(&datasets, &places, &[]);
    for load in &loads {
        wrong.extend(compared(load, &places));
    }
    wrong.extend(unlike(&datasets, &places, &TIMES_OF_DAY));
    fill_again(&datasets, &places);
    wrong.extend(both(&loads, &places).filter_map(|(load, place)| together(load, place, clients)));
    wrong.extend(both(&datasets, &places).filter_map(|(load, place)| inconsistent(load, place)));
    places.into_iter().for_each(Place::stop);
    assert!(wrong.is_empty(), "{} of {} loads:\n{}", wrong.len(), loads.len(), wrong.join("\n"));
}

#[test]
fn every_sixth_load_does_the_same_on_mariadb_and_on_postgres() {
    let Some(home) = home() else { return };
    let _turn = turn();
    walk(loads().into_iter().step_by(6).collect(), Place::servers(&home), 2);
}

#[test]
#[ignore = "soak: every load on servers; every sixth is in make test"]
fn every_load_does_the_same_on_mariadb_and_on_postgres() {
    let Some(home) = home() else { return };
    let _turn = turn();
    walk(loads(), Place::servers(&home), 2);
}

#[test]
fn every_load_does_the_same_on_the_engine_and_on_sqlite() {
    let _turn = turn();
    walk(loads(), Place::embedded(), 4);
}

#[test]
fn a_design_of_the_engine_changes_no_answer() {
    let _turn = turn();
    let designs = [
        Design { view: View::Csn, wake: Wake::Broadcast, ..in_memory() },
        Design { view: View::Hybrid, gate: AdmissionGate::Pool(2), lock_shards: 1, ..in_memory() },
        Design { device: Device::Simulated(200), ..Design::default() },
    ];
    let catalog = Catalog::default();
    let loads =
        ["read-write", SMALL_TPCC].map(|label| catalog.resolve_load(label, TABLES).unwrap());
    for design in designs {
        let place = Place::engine(&design);
        for load in &loads {
            place.fill(&*load.dataset);
            assert_eq!(together(load, &place, 8), None, "{design:?}");
            assert_eq!(inconsistent(load, &place), None, "{design:?}");
        }
    }
}
