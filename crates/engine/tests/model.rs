//! The engine against a model: an ordered map, a snapshot for each view, and nothing else.
//!
//! ```text
//!   history (a seed) ─┬─► engine of some design, several sessions, one statement at a time
//!                     └─► maps: what is committed, what each session's view and writes are
//!   after every step: the same answer; at the end: the same rows by every index, both ways
//! ```
//!
//! Statements are given one at a time, so that whoever would have to wait gives up at once; the
//! model does not know locks, so it takes over from the engine whether a statement was refused, and
//! only that. With one session nothing is ever refused, and every design must give the very same
//! answers. Now and then the engine ends in the midst of it all and is opened again, by whichever
//! design is next: what was committed is there, and nothing else.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use crate::mechanisms::mechanism_values;
use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineError, EngineOptions, EngineSession, Fields, IndexSpec,
    Intent, Path, Range, Result, RowView, Scan, ScanDirection, Table, TableSpec, UpdateResult,
    Upkeep, Value, ValueType, Visit,
};
use dbdyno_model::Design;
use dbdyno_model::design::Isolation;
use dbdyno_model::random::{RandomStream, stream};

/// a, b: the primary key; k, u, c.
type Key = (i64, i64);
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cells {
    k: Option<i64>,
    u: Option<i64>,
    c: Vec<u8>,
}
type Map = BTreeMap<Key, Cells>;

/// The engine is opened again after so many steps.
const RESTART: u64 = 130;

fn spec() -> TableSpec {
    let columns = vec![
        ColumnSpec::optional("a", ValueType::BIGINT),
        ColumnSpec::optional("b", ValueType::TIMESTAMP),
        ColumnSpec::optional("k", ValueType::Decimal { digits: 18, scale: 2 }),
        ColumnSpec::optional("u", ValueType::BIGINT),
        ColumnSpec::optional("c", ValueType::Text { most: 40 }),
    ];
    let indexes = vec![IndexSpec::non_unique("k", &[2, 4]), IndexSpec::unique("u", &[3])];
    TableSpec { indexes, ..TableSpec::new("t", columns, &[0, 1]) }
}

fn decimal(value: Option<i64>) -> Datum<'static> {
    value.map_or(Datum::Null, Datum::Decimal)
}

fn int(value: Option<i64>) -> Datum<'static> {
    value.map_or(Datum::Null, Datum::Int)
}

fn read_row(row: RowView<'_>) -> (Key, Cells) {
    let (Datum::Int(a), Datum::Timestamp(b)) = (row.get(0), row.get(1)) else { panic!() };
    let k = match row.get(2) {
        Datum::Null => None,
        Datum::Decimal(k) => Some(k),
        other => panic!("{other:?}"),
    };
    let u = match row.get(3) {
        Datum::Null => None,
        Datum::Int(u) => Some(u),
        other => panic!("{other:?}"),
    };
    let c = match row.get(4) {
        Datum::Null => Vec::new(),
        Datum::Text(c) => c.to_vec(),
        other => panic!("{other:?}"),
    };
    ((a, b), Cells { k, u, c })
}

fn key_of((a, b): Key) -> [Datum<'static>; 2] {
    [Datum::Int(a), Datum::Timestamp(b)]
}

/// One client, and what the model knows of it.
struct Client {
    session: EngineSession,
    open: bool,
    isolation: Isolation,
    /// What its view sees, at repeatable read.
    view: Option<Map>,
    /// What it wrote: `None` for rows taken away. Beside its view this is what it reads.
    own: BTreeMap<Key, Option<Cells>>,
    /// What it had written at each of its savepoints, the oldest first.
    savepoints: Vec<(&'static str, BTreeMap<Key, Option<Cells>>)>,
}

impl Client {
    fn end(&mut self) {
        (self.open, self.view) = (false, None);
        self.own.clear();
        self.savepoints.clear();
    }

    /// What a consistent read sees.
    fn sees(&mut self, committed: &Map) -> Map {
        let base = if self.open && self.isolation == Isolation::RepeatableRead {
            self.view.get_or_insert_with(|| committed.clone()).clone()
        } else {
            committed.clone()
        };
        overlay(base, &self.own)
    }

    /// What a current read sees: what is newest.
    fn newest(&self, committed: &Map) -> Map {
        overlay(committed.clone(), &self.own)
    }
}

fn overlay(mut map: Map, own: &BTreeMap<Key, Option<Cells>>) -> Map {
    for (key, cells) in own {
        match cells {
            Some(cells) => map.insert(*key, cells.clone()),
            None => map.remove(key),
        };
    }
    map
}

struct World {
    disk: SimDisk,
    /// None for a moment, while it is opened again.
    engine: Option<Engine>,
    table: Arc<Table>,
    committed: Map,
    clients: Vec<Client>,
    /// All that was answered.
    answers: Vec<String>,
}

fn open(disk: &SimDisk, design: &Design) -> Engine {
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let design = Design { lock_wait: Duration::from_millis(1), ..*design };
    Engine::open(Arc::new(disk.clone()), &design, options).unwrap()
}

fn many_clients(engine: &Engine, many: usize) -> Vec<Client> {
    let client = |_| Client {
        session: engine.session(),
        open: false,
        isolation: engine.design().isolation,
        view: None,
        own: BTreeMap::new(),
        savepoints: Vec::new(),
    };
    (0..many).map(client).collect()
}

fn any_name(random: &mut RandomStream) -> &'static str {
    ["s", "z"][random.next_below(2) as usize]
}

fn small(random: &mut RandomStream) -> Option<i64> {
    match random.next_below(12) {
        0 => None,
        number => Some(number as i64 * 300 - 1500),
    }
}

impl World {
    fn new(design: &Design, clients: usize) -> World {
        let disk = SimDisk::default();
        let engine = open(&disk, design);
        let table = engine.create_table(spec()).unwrap();
        let clients = many_clients(&engine, clients);
        let (committed, answers) = (Map::new(), Vec::new());
        World { disk, engine: Some(engine), table, committed, clients, answers }
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().expect("it is open")
    }

    /// Ends the engine, whatever is open in it, and opens it again.
    fn restart(&mut self, design: &Design) {
        let clients = self.clients.len();
        self.clients.clear();
        self.engine = None;
        let engine = open(&self.disk, design);
        self.table = engine.table("t").unwrap();
        self.clients = many_clients(&engine, clients);
        self.engine = Some(engine);
    }

    /// Runs a history; `next` is the design with which the engine is opened again.
    fn run(&mut self, seed: u64, steps: u64, mut next: impl FnMut() -> Design) {
        for step in 0..steps {
            if step % RESTART == RESTART - 1 {
                self.restart(&next());
            }
            let mut random = stream(&[seed, step]);
            let client = random.next_below(self.clients.len() as u64) as usize;
            match random.next_below(46) {
                0..=2 => self.begin(client, &mut random),
                3 | 4 => self.commit(client),
                5 => self.rollback(client),
                6 | 40..=42 => self.savepoint(client, &mut random),
                7 | 43..=45 => self.back(client, &mut random),
                8 => drop(self.engine().purge()),
                9 if step % 4 == 0 => self.engine().checkpoint().unwrap(),
                9..=11 => self.insert_many(client, &mut random),
                12..=17 => self.insert(client, &mut random),
                18..=24 => self.update(client, &mut random),
                25..=29 => self.delete(client, &mut random),
                30..=33 => self.get(client, &mut random),
                _ => self.scan(client, &mut random),
            }
        }
        (0..self.clients.len()).for_each(|client| self.commit(client));
        self.engine().purge();
        assert_eq!(self.engine().unpurged_transactions(), 0);
        let mut random = stream(&[seed]);
        (0..30).for_each(|_| self.scan(0, &mut random));
    }

    fn begin(&mut self, client: usize, random: &mut RandomStream) {
        self.commit(client);
        let it = &mut self.clients[client];
        it.isolation = match random.next_below(3) {
            0 => Isolation::ReadCommitted,
            1 => Isolation::RepeatableRead,
            _ => Isolation::Serializable,
        };
        it.session.begin(Some(it.isolation)).unwrap();
        it.open = true;
    }

    fn commit(&mut self, client: usize) {
        let it = &mut self.clients[client];
        it.session.commit().unwrap();
        self.committed = overlay(std::mem::take(&mut self.committed), &it.own);
        it.end();
    }

    fn rollback(&mut self, client: usize) {
        let it = &mut self.clients[client];
        it.session.rollback();
        it.end();
    }

    fn savepoint(&mut self, client: usize, random: &mut RandomStream) {
        let (it, name) = (&mut self.clients[client], any_name(random));
        it.session.savepoint(name);
        if it.open {
            it.savepoints.retain(|(known, _)| *known != name);
            it.savepoints.push((name, it.own.clone()));
        }
    }

    /// Back to a savepoint, or on without it.
    fn back(&mut self, client: usize, random: &mut RandomStream) {
        let (it, name) = (&mut self.clients[client], any_name(random));
        let is_forgotten = random.next_below(3) == 0;
        let done = match is_forgotten {
            true => it.session.release_savepoint(name),
            false => it.session.rollback_to(name),
        };
        let Some(place) = it.savepoints.iter().position(|(known, _)| *known == name) else {
            return assert!(matches!(done, Err(EngineError::NoSavepoint(_))));
        };
        done.unwrap();
        if is_forgotten {
            it.savepoints.truncate(place);
        } else {
            it.savepoints.truncate(place + 1);
            it.own = it.savepoints[place].1.clone();
        }
    }

    /// Compares what a write gave; takes over what the model says was written.
    fn wrote(
        &mut self,
        client: usize,
        got: Result<String>,
        want: (&str, Vec<(Key, Option<Cells>)>),
    ) {
        let alone = self.clients.len() == 1;
        let it = &mut self.clients[client];
        match got {
            Ok(got) => {
                assert_eq!(got, want.0);
                self.answers.push(got);
                it.own.extend(want.1);
                if !it.open {
                    self.committed = overlay(std::mem::take(&mut self.committed), &it.own);
                    it.own.clear();
                }
            }
            Err(EngineError::LockWaitTimeout) => assert!(!alone, "who is alone waits for nobody"),
            Err(error) => {
                assert_eq!(error.code().to_string(), want.0, "{error}");
                self.answers.push(error.code().to_string());
            }
        }
    }

    fn any_key(random: &mut RandomStream) -> Key {
        (random.next_below(12) as i64 - 3, random.next_below(4) as i64)
    }

    fn any_cells(random: &mut RandomStream) -> Cells {
        let letters = random.next_below(4) as usize;
        let c = (0..letters).map(|_| random.next_below(3) as u8).collect();
        let u = if random.next_below(3) == 0 { None } else { Some(random.next_below(40) as i64) };
        Cells { k: small(random), u, c }
    }

    fn insert(&mut self, client: usize, random: &mut RandomStream) {
        let (key, cells) = (Self::any_key(random), Self::any_cells(random));
        let it = &mut self.clients[client];
        let newest = it.newest(&self.committed);
        let taken = newest.contains_key(&key) || takes(&newest, key, cells.u);
        let want = if taken { "1062" } else { "in" };
        let [a, b] = key_of(key);
        let row = [a, b, decimal(cells.k), int(cells.u), Datum::Text(&cells.c)];
        let got = it.session.statement(|it| it.insert(&self.table, &row));
        let written = if taken { Vec::new() } else { vec![(key, Some(cells.clone()))] };
        self.wrote(client, got.map(|_| "in".to_owned()), (want, written));
    }

    /// Several rows in one statement: all of them, or none.
    fn insert_many(&mut self, client: usize, random: &mut RandomStream) {
        let many = 2 + random.next_below(3);
        let rows: Vec<_> =
            (0..many).map(|_| (Self::any_key(random), Self::any_cells(random))).collect();
        let it = &mut self.clients[client];
        let mut newest = it.newest(&self.committed);
        let mut want = ("in", Vec::new());
        for (key, cells) in &rows {
            if newest.contains_key(key) || takes(&newest, *key, cells.u) {
                want = ("1062", Vec::new());
                break;
            }
            newest.insert(*key, cells.clone());
            want.1.push((*key, Some(cells.clone())));
        }
        let got = it.session.statement(|it| {
            rows.iter().try_for_each(|(key, cells)| {
                let [a, b] = key_of(*key);
                let row = [a, b, decimal(cells.k), int(cells.u), Datum::Text(&cells.c)];
                it.insert(&self.table, &row).map(|_| ())
            })
        });
        self.wrote(client, got.map(|()| "in".to_owned()), want);
    }

    fn update(&mut self, client: usize, random: &mut RandomStream) {
        let (key, cells) = (Self::any_key(random), Self::any_cells(random));
        let (which, to) = (random.next_below(5), Self::any_key(random));
        let it = &mut self.clients[client];
        let newest = it.newest(&self.committed);
        let got = it.session.statement(|it| {
            it.update(&self.table, &key_of(key), |_, row| {
                match which {
                    0 => row.set(2, decimal(cells.k)),
                    1 => row.set(3, int(cells.u)),
                    2 => row.set(4, Datum::Text(&cells.c)),
                    3 => {
                        row.set(0, Datum::Int(to.0));
                        row.set(1, Datum::Timestamp(to.1));
                    }
                    _ => {
                        row.set(2, decimal(cells.k));
                        row.set(3, int(cells.u));
                    }
                }
                Ok(())
            })
        });
        let got = got.map(|updated| match updated {
            UpdateResult::Missing => "missing".to_owned(),
            UpdateResult::Same => "same".to_owned(),
            UpdateResult::Changed => "changed".to_owned(),
        });
        let Some(old) = newest.get(&key) else {
            return self.wrote(client, got, ("missing", Vec::new()));
        };
        let (mut new, mut new_key) = (old.clone(), key);
        match which {
            0 => new.k = cells.k,
            1 => new.u = cells.u,
            2 => new.c = cells.c,
            3 => new_key = to,
            _ => (new.k, new.u) = (cells.k, cells.u),
        }
        let want = if new == *old && new_key == key {
            ("same", Vec::new())
        } else if (new_key != key && newest.contains_key(&new_key)) || takes(&newest, key, new.u) {
            ("1062", Vec::new())
        } else if new_key != key {
            ("changed", vec![(key, None), (new_key, Some(new))])
        } else {
            ("changed", vec![(key, Some(new))])
        };
        self.wrote(client, got, want);
    }

    fn delete(&mut self, client: usize, random: &mut RandomStream) {
        let key = Self::any_key(random);
        let it = &mut self.clients[client];
        let there = it.newest(&self.committed).contains_key(&key);
        let got = it.session.statement(|it| it.delete(&self.table, &key_of(key)));
        let got = got.map(|there| there.to_string());
        let written = if there { vec![(key, None)] } else { Vec::new() };
        self.wrote(client, got, (&there.to_string(), written));
    }

    fn get(&mut self, client: usize, random: &mut RandomStream) {
        let key = Self::any_key(random);
        let intent = [Intent::Read, Intent::Share, Intent::Update][random.next_below(3) as usize];
        let table = self.table.clone();
        let got = self.clients[client]
            .session
            .statement(|it| Ok(it.get(&table, &key_of(key), intent)?.map(|row| read_row(row).1)));
        let map = self.map_for(client, intent);
        self.compare(got, map.get(&key).cloned());
    }

    /// What a read with an intent sees.
    fn map_for(&mut self, client: usize, intent: Intent) -> Map {
        let it = &mut self.clients[client];
        let locks = it.open && it.isolation == Isolation::Serializable;
        if intent != Intent::Read || locks {
            it.newest(&self.committed)
        } else {
            it.sees(&self.committed)
        }
    }

    fn scan(&mut self, client: usize, random: &mut RandomStream) {
        let path = [Path::Primary, Path::Secondary(0), Path::Secondary(1)];
        let path = path[random.next_below(3) as usize];
        let direction = [ScanDirection::Up, ScanDirection::Down][random.next_below(2) as usize];
        let intent = [Intent::Read, Intent::Read, Intent::Update][random.next_below(3) as usize];
        let fields = [Fields::All, Fields::OfIndex][random.next_below(2) as usize];
        let most = 1 + random.next_below(30) as usize;
        // Rows that were not meant: at read committed their locks are given back.
        let passed = random.next_below(4) as usize;
        let values: Vec<Vec<Datum<'_>>> = (0..2)
            .map(|_| match path {
                Path::Primary => {
                    let (a, b) = Self::any_key(random);
                    let all = [Datum::Int(a), Datum::Timestamp(b)];
                    all[..random.next_below(3) as usize].to_vec()
                }
                Path::Secondary(0) => vec![decimal(small(random))],
                Path::Secondary(_) => {
                    vec![int(random.next_below(44).checked_sub(4).map(|u| u as i64))]
                }
            })
            .collect();
        let range = match random.next_below(5) {
            0 => Range::of_prefix(&values[0]),
            1 => Range { from: Bound::Included(&values[0]), to: Bound::Excluded(&values[1]) },
            2 => Range { from: Bound::Excluded(&values[0]), to: Bound::Included(&values[1]) },
            3 => Range { from: Bound::Unbounded, to: Bound::Included(&values[1]) },
            _ => Range::ALL,
        };
        let scan = Scan { path, range, direction, intent, fields };
        let table = self.table.clone();
        let mut rows = Vec::new();
        let got = self.clients[client].session.statement(|it| {
            it.scan_rows(&table, &scan, |_, row| {
                rows.push(read_row(row));
                match rows.len() {
                    all if all == most => Visit::Stop,
                    some if some % 3 == passed => Visit::Pass,
                    _ => Visit::On,
                }
            })
        });
        let map = self.map_for(client, intent);
        let of_index = |(key, mut cells): (Key, Cells)| {
            match (path, fields) {
                (_, Fields::All) => {}
                (Path::Primary, _) => {}
                (Path::Secondary(0), _) => cells.u = None,
                (Path::Secondary(_), _) => (cells.k, cells.c) = (None, Vec::new()),
            }
            (key, cells)
        };
        let got = got.map(|()| rows.into_iter().map(of_index).collect::<Vec<_>>());
        let want = expected(&map, &scan, most).into_iter().map(of_index).collect();
        self.compare(got, want);
    }

    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, got: Result<T>, want: T) {
        match got {
            Ok(got) => {
                assert_eq!(got, want);
                self.answers.push(format!("{got:?}"));
            }
            Err(EngineError::LockWaitTimeout) => assert!(self.clients.len() > 1),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Whether another row has the value in the unique index.
fn takes(map: &Map, key: Key, u: Option<i64>) -> bool {
    u.is_some() && map.iter().any(|(known, cells)| *known != key && cells.u == u)
}

/// What a scan gives, by sorting.
fn expected(map: &Map, scan: &Scan<'_>, most: usize) -> Vec<(Key, Cells)> {
    let columns = |(key, cells): &(Key, Cells)| -> Vec<Value> {
        let own = match scan.path {
            Path::Primary => Vec::new(),
            Path::Secondary(0) => vec![decimal(cells.k), Datum::Text(&cells.c)],
            Path::Secondary(_) => vec![int(cells.u)],
        };
        own.into_iter().chain(key_of(*key)).map(Datum::to_value).collect()
    };
    let prefix = |row: &[Value], values: &[Datum<'_>]| {
        let values: Vec<_> = values.iter().map(|value| value.to_value()).collect();
        row[..values.len()].cmp(&values[..])
    };
    let mut rows: Vec<_> = map.iter().map(|(key, cells)| (*key, cells.clone())).collect();
    rows.sort_by_key(columns);
    rows.retain(|row| {
        let row = columns(row);
        let from = match scan.range.from {
            Bound::Unbounded => true,
            Bound::Included(values) => prefix(&row, values).is_ge(),
            Bound::Excluded(values) => prefix(&row, values).is_gt(),
        };
        let to = match scan.range.to {
            Bound::Unbounded => true,
            Bound::Included(values) => prefix(&row, values).is_le(),
            Bound::Excluded(values) => prefix(&row, values).is_lt(),
        };
        from && to
    });
    if scan.direction == ScanDirection::Down {
        rows.reverse();
    }
    rows.truncate(most);
    rows
}

fn design(text: &str) -> Design {
    format!("device=none&{text}").parse().unwrap()
}

/// The usual design, each word of a mechanism by itself, some words together, and the other levels.
fn designs() -> Vec<String> {
    let mut designs = vec![
        String::new(),
        "view=csn&view_close=latched".to_owned(),
        "log=linked&wake=direct&view=hybrid".to_owned(),
    ];
    for (name, values) in mechanism_values(1) {
        designs.extend(values.into_iter().map(|value| format!("{name}={value}")));
    }
    designs.extend(Isolation::ALL.map(|level| format!("isolation={level}")));
    designs.retain(|text| text.is_empty() || design(text) != design(""));
    designs
}

#[test]
fn every_design_gives_the_same_answers_to_the_same_history() {
    for seed in 0..6 {
        let mut first: Option<Vec<String>> = None;
        for text in &designs() {
            let mut world = World::new(&design(text), 1);
            world.run(seed, 400, || design(text));
            let answers = std::mem::take(&mut world.answers);
            assert!(answers.len() > 200);
            // What is read without a transaction does not depend on the level.
            assert_eq!(first.get_or_insert_with(|| answers.clone()), &answers, "{text} {seed}");
        }
    }
}

#[test]
fn sessions_see_what_their_levels_promise() {
    let designs = designs();
    for seed in 0..60 {
        let text = &designs[seed as usize % designs.len()];
        let mut world = World::new(&design(text), 4);
        let mut others = designs.iter().cycle().skip(seed as usize);
        world.run(1_000 + seed, 600, || design(others.next().expect("they go round")));
        assert!(world.answers.len() > 200, "{text}: nearly all was refused");
    }
}
