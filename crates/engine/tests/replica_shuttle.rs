//! A source and its replica in many random orders of their threads.
//!
//! Two sessions write the same few rows while the replica reads what is durable and applies it on
//! three threads; in every third history it is ended in the midst of it and begun again. In the end
//! both have the same rows. Who is not woken is an order in which nothing moves any more.

use std::sync::atomic::{AtomicU64, Ordering};

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::follow::difference;
use dbdyno_engine::sync::{Arc, thread};
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, IndexSpec, Replica,
    Result, Table, TableSpec, Upkeep, ValueType,
};
use dbdyno_model::Design;
use dbdyno_model::random::{RandomStream, stream};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

use crate::depth;

const TRANSACTIONS: u64 = 3;
const ORDERS: usize = 100;
const SEED: u64 = 11;
const STACK_BYTES: usize = 1 << 20;

fn open(design: &Design) -> Arc<Engine> {
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    Arc::new(Engine::open(Arc::new(SimDisk::default()), design, options).unwrap())
}

fn story(design: &Design, seed: u64) {
    let (source, engine) = (open(design), open(&Design::default()));
    let columns = ["id", "v"].map(|name| ColumnSpec::required(name, ValueType::BIGINT)).to_vec();
    let mut spec = TableSpec::new("t", columns, &[0]);
    spec.indexes.push(IndexSpec::unique("v", &[1]));
    let table = source.create_table(spec).unwrap();
    let start = || Replica::start(source.clone(), engine.clone(), None).unwrap();
    let mut replica = start();
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let (source, table) = (source.clone(), table.clone());
            thread::spawn(move || {
                let mut session = source.session();
                for number in 0..TRANSACTIONS {
                    let mut random = stream(&[seed, writer, number]);
                    match transaction(&mut session, &table, &mut random) {
                        Ok(()) => {}
                        Err(EngineError::Deadlock | EngineError::Duplicate(..)) => {
                            session.rollback();
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    if seed.is_multiple_of(3) {
        replica.stop().unwrap();
        replica = start();
    }
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    replica.catch_up().unwrap();
    assert_eq!(difference(&source, &engine), None);
    replica.stop().unwrap();
}

fn transaction(
    session: &mut EngineSession,
    table: &Arc<Table>,
    random: &mut RandomStream,
) -> Result<()> {
    session.begin(None)?;
    for _ in 0..1 + random.next_below(2) {
        let key = [Datum::Int(random.next_below(3) as i64)];
        let value = Datum::Int(random.next_below(4) as i64);
        session.statement(|it| {
            if random.next_below(4) == 0 {
                return it.delete(table, &key).map(|_| ());
            }
            let set = it.update(table, &key, |_, row| {
                row.set(1, value);
                Ok(())
            })?;
            match set {
                dbdyno_engine::UpdateResult::Missing => {
                    it.insert(table, &[key[0], value]).map(|_| ())
                }
                _ => Ok(()),
            }
        })?;
    }
    session.commit()
}

fn are_the_same(text: &str) {
    let design: Design = format!("topology=replica:1&{text}").parse().unwrap();
    let config = || {
        let mut config = Config::new();
        config.stack_size = STACK_BYTES;
        config
    };
    let tell = |first: u64| {
        let seeds = AtomicU64::new(first);
        move || story(&design, seeds.fetch_add(1, Ordering::Relaxed))
    };
    let (seed, orders) = (depth::seed(SEED), depth::orders(ORDERS));
    let first = depth::seed(0);
    Runner::new(RandomScheduler::new_from_seed(seed, orders), config()).run(tell(first));
    let rarely = PctScheduler::new_from_seed(seed, 4, orders);
    Runner::new(rarely, config()).run(tell(first + orders as u64));
}

#[test]
fn dag_in_any_order() {
    are_the_same("depend=dag&certify=exact&apply=dag:3");
}

#[test]
fn dag_in_the_order_of_the_source() {
    are_the_same("depend=writeset&apply=dag:3&apply_order=kept");
}

#[test]
fn low_water_mark_behind_a_linked_log() {
    are_the_same("depend=commit-order&apply=lwm:2&log=linked&wake=futex");
}
