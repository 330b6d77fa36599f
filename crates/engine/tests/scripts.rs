//! Isolation, told as stories: what each session does, what it sees, and who waits for whom.
//!
//! ```text
//!   == repeatable-read                   a fresh engine with rows (1, 10) and (2, 20)
//!   T1 begin                => ok
//!   T2 set 1 12             => waits     until somebody else does something
//!   T1 commit               => ok
//!      T2 goes on           => 1 row
//! ```
//!
//! The cases are those of Hermitage (Martin Kleppmann, github.com/ept/hermitage, CC-BY 4.0), with
//! its names, and some of what it leaves out: gaps, savepoints, statements that fail. Each is told
//! at each level. What stands behind `=>` is what the engine did when the file was last written
//! with `UPDATE_GOLDEN=1`; every design has to do the same.

use std::fmt::Write as _;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;
use std::{fs, thread};

use crate::mechanisms::mechanism_values;
use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{
    ColumnSpec, Datum, Engine, EngineOptions, EngineSession, IndexSpec, Intent, Path, Range,
    Result, RowView, Scan, Table, TableSpec, UpdateResult, Upkeep, ValueType, Visit, WaitWatch,
};

/// The designs that have to tell the same stories: the usual one, and as many as have each word of
/// each mechanism at least once.
fn designs() -> Vec<String> {
    let mechanisms = mechanism_values(8);
    let most = mechanisms.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let mixed = (0..most).map(|at| {
        let words = mechanisms.iter().map(|(name, values)| {
            format!("{name}={}", values[(at + values.len() / 2) % values.len()])
        });
        words.collect::<Vec<String>>().join("&")
    });
    [String::new()].into_iter().chain(mixed).collect()
}

#[test]
fn every_design_tells_the_same_stories() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut scripts: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    scripts.sort();
    assert!(scripts.len() >= 14, "{scripts:?}");
    let designs = designs();
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for path in scripts {
        let text = fs::read_to_string(&path).unwrap();
        for (index, design) in designs.iter().enumerate() {
            let told = tell(&text, design);
            if update && index == 0 {
                fs::write(&path, &told).unwrap();
            } else if !update || index > 0 {
                let want = if update { fs::read_to_string(&path).unwrap() } else { text.clone() };
                assert_eq!(told, want, "{} with {design:?}", path.display());
            }
        }
    }
}

/// The script, with what happened.
fn tell(script: &str, design: &str) -> String {
    let mut told = String::new();
    let mut stage: Option<Stage> = None;
    for line in script.lines() {
        if let Some(level) = line.strip_prefix("== ") {
            stage = Some(Stage::new(design, level));
            let _ = writeln!(told, "{line}");
            continue;
        }
        let command = line.split("=>").next().unwrap().trim();
        if line.starts_with(' ') {
            continue;
        }
        if command.is_empty() || command.starts_with('#') {
            let _ = writeln!(told, "{}", line.trim_end());
            continue;
        }
        let stage = stage.as_mut().expect("a story begins with its level");
        for (who, what, outcome) in stage.step(command) {
            let said = format!("{who} {what}");
            let _ = writeln!(told, "{said:<40} => {outcome}");
        }
    }
    told
}

/// An engine and the sessions that came up so far.
struct Stage {
    engine: Engine,
    table: Arc<Table>,
    actors: Vec<Actor>,
}

struct Actor {
    name: String,
    orders: Sender<String>,
    reports: Receiver<String>,
    watch: WaitWatch,
    /// Whether an order has not been reported on.
    busy: bool,
    thread: Option<thread::JoinHandle<()>>,
}

impl Stage {
    fn new(design: &str, level: &str) -> Stage {
        let design = format!("isolation={level}&device=none&lock_wait=600s&{design}");
        let design = design.parse().unwrap();
        let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(SimDisk::default()), &design, options).unwrap();
        let table = engine.create_table(spec()).unwrap();
        let mut session = engine.session();
        for (id, value) in [(1, 10), (2, 20)] {
            let row = [Datum::Int(id), Datum::Int(value)];
            session.statement(|it| it.insert(&table, &row)).unwrap();
        }
        Stage { engine, table, actors: Vec::new() }
    }

    /// Gives an order and waits until nothing happens any more.
    fn step(&mut self, command: &str) -> Vec<(String, String, String)> {
        let (name, order) = command.split_once(' ').unwrap();
        if name == "engine" {
            assert_eq!(order, "purge");
            self.engine.purge();
            return vec![(name.to_owned(), order.to_owned(), "ok".to_owned())];
        }
        let place = self.actor(name);
        let actor = &mut self.actors[place];
        if actor.busy {
            return vec![(name.to_owned(), order.to_owned(), "still waits".to_owned())];
        }
        actor.busy = true;
        actor.orders.send(order.to_owned()).unwrap();
        let mut reports = Vec::new();
        loop {
            for actor in self.actors.iter_mut().filter(|actor| actor.busy) {
                match actor.reports.try_recv() {
                    Ok(outcome) => {
                        actor.busy = false;
                        reports.push((actor.name.clone(), outcome));
                    }
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => panic!("{} fell over", actor.name),
                }
            }
            if self.actors.iter().all(|actor| !actor.busy || actor.watch.is_waiting()) {
                break;
            }
            thread::sleep(Duration::from_micros(50));
        }
        reports.sort();
        let own = reports.iter().position(|(who, _)| who == name);
        let own = own.map_or("waits".to_owned(), |at| reports.remove(at).1);
        let mut lines = vec![(name.to_owned(), order.to_owned(), own)];
        let went_on = |(who, outcome)| (format!("   {who}"), "goes on".to_owned(), outcome);
        lines.extend(reports.into_iter().map(went_on));
        lines
    }

    fn actor(&mut self, name: &str) -> usize {
        if let Some(place) = self.actors.iter().position(|actor| actor.name == name) {
            return place;
        }
        let (orders, receive) = channel::<String>();
        let (send, reports) = channel();
        let mut session = self.engine.session();
        let (watch, table) = (session.wait_watch(), self.table.clone());
        let thread = Some(thread::spawn(move || {
            for order in receive {
                let outcome = act(&mut session, &table, &order);
                let outcome = outcome.unwrap_or_else(|error| format!("error {}", error.code()));
                if send.send(outcome).is_err() {
                    return;
                }
            }
        }));
        self.actors.push(Actor {
            name: name.to_owned(),
            orders,
            reports,
            watch,
            busy: false,
            thread,
        });
        self.actors.len() - 1
    }
}

impl Drop for Stage {
    /// Those who wait at the end of a story go on when the others have gone.
    fn drop(&mut self) {
        let end = |actor: &mut Actor| {
            actor.orders = channel().0;
            actor.thread.take().unwrap().join().unwrap();
        };
        let (mut busy, mut idle): (Vec<_>, Vec<_>) =
            self.actors.drain(..).partition(|actor| actor.busy);
        idle.iter_mut().for_each(end);
        busy.iter_mut().for_each(end);
    }
}

fn spec() -> TableSpec {
    let columns = ["id", "value"].map(|name| ColumnSpec::optional(name, ValueType::BIGINT));
    let indexes = vec![IndexSpec::non_unique("value", &[1])];
    TableSpec { indexes, ..TableSpec::new("test", columns.into(), &[0]) }
}

/// Which rows an order is about.
enum Which {
    Id(i64),
    All,
    /// Rows with this value, found by looking at all.
    Value(i64),
    /// Rows with values that this number divides.
    Divided(i64),
    /// Rows with values from this one up to that one, by the index.
    By(i64, i64),
    /// Those of them that this number divides.
    DividedBy(i64, i64, i64),
}

/// Does what an order says; what came of it.
fn act(session: &mut EngineSession, table: &Arc<Table>, order: &str) -> Result<String> {
    let words: Vec<&str> = order.split(' ').collect();
    let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("{order}"));
    match words[..] {
        ["begin"] => session.begin(None).map(|()| "ok".to_owned()),
        ["view"] => {
            session.open_view();
            Ok("ok".to_owned())
        }
        ["commit"] => session.commit().map(|()| "ok".to_owned()),
        ["rollback"] => {
            session.rollback();
            Ok("ok".to_owned())
        }
        ["savepoint", name] => {
            session.savepoint(name);
            Ok("ok".to_owned())
        }
        ["back", "to", name] => session.rollback_to(name).map(|()| "ok".to_owned()),
        ["read", ref which @ ..] => show(session, table, &whom(which), Intent::Read),
        ["share", ref which @ ..] => show(session, table, &whom(which), Intent::Share),
        ["lock", ref which @ ..] => show(session, table, &whom(which), Intent::Update),
        ["insert", id, value] => {
            let row = [Datum::Int(number(id)), Datum::Int(number(value))];
            session.statement(|it| it.insert(table, &row)).map(|_| "1 row".to_owned())
        }
        ["set", ref which @ .., value] => {
            change(session, table, &whom(which), |_| Some(number(value)))
        }
        ["add", ref which @ .., value] => {
            change(session, table, &whom(which), |old| Some(old + number(value)))
        }
        ["delete", ref which @ ..] => change(session, table, &whom(which), |_| None),
        _ => panic!("nobody knows what {order} means"),
    }
}

fn whom(words: &[&str]) -> Which {
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{words:?}"));
    match words {
        ["all"] => Which::All,
        ["value", value] => Which::Value(number(value)),
        ["divided", "by", by] => Which::Divided(number(by)),
        ["by", "value", from, to] => Which::By(number(from), number(to)),
        ["by", "value", from, to, "divided", "by", by] => {
            Which::DividedBy(number(from), number(to), number(by))
        }
        [id] => Which::Id(number(id)),
        _ => panic!("nobody knows who {words:?} are"),
    }
}

fn cells(row: RowView<'_>) -> (i64, i64) {
    match (row.get(0), row.get(1)) {
        (Datum::Int(id), Datum::Int(value)) => (id, value),
        other => panic!("{other:?}"),
    }
}

/// Visits the rows that are meant.
fn find(
    session: &mut EngineSession,
    table: &Arc<Table>,
    which: &Which,
    intent: Intent,
    then: impl FnOnce(&mut dbdyno_engine::RunningStatement<'_>, &[(i64, i64)]) -> Result<()>,
) -> Result<Vec<(i64, i64)>> {
    session.statement(|it| {
        let mut found = Vec::new();
        if let Which::Id(id) = which {
            found.extend(it.get(table, &[Datum::Int(*id)], intent)?.map(cells));
        } else {
            let (from, to);
            let (path, range) = match which {
                Which::By(low, high) | Which::DividedBy(low, high, _) => {
                    (from, to) = ([Datum::Int(*low)], [Datum::Int(*high)]);
                    let range = Range { from: Bound::Included(&from), to: Bound::Included(&to) };
                    (Path::Secondary(0), range)
                }
                _ => (Path::Primary, Range::ALL),
            };
            it.scan_rows(table, &Scan { range, intent, ..Scan::whole_index(path) }, |_, row| {
                let (id, value) = cells(row);
                let meant = match which {
                    Which::Value(wanted) => value == *wanted,
                    Which::Divided(by) | Which::DividedBy(_, _, by) => value % by == 0,
                    _ => true,
                };
                if meant {
                    found.push((id, value));
                }
                if meant { Visit::On } else { Visit::Pass }
            })?;
        }
        then(it, &found)?;
        Ok(found)
    })
}

fn show(
    session: &mut EngineSession,
    table: &Arc<Table>,
    which: &Which,
    intent: Intent,
) -> Result<String> {
    let found = find(session, table, which, intent, |_, _| Ok(()))?;
    if found.is_empty() {
        return Ok("nothing".to_owned());
    }
    let rows: Vec<_> = found.iter().map(|(id, value)| format!("{id}:{value}")).collect();
    Ok(rows.join(" "))
}

fn change(
    session: &mut EngineSession,
    table: &Arc<Table>,
    which: &Which,
    becomes: impl Fn(i64) -> Option<i64>,
) -> Result<String> {
    let mut changed = 0;
    find(session, table, which, Intent::Update, |it, found| {
        for (id, value) in found {
            let key = [Datum::Int(*id)];
            let done = match becomes(*value) {
                None => it.delete(table, &key)?,
                Some(new) => {
                    let set = |_: RowView<'_>, row: &mut dbdyno_engine::RowWriter| {
                        row.set(1, Datum::Int(new));
                        Ok(())
                    };
                    it.update(table, &key, set)? != UpdateResult::Missing
                }
            };
            changed += usize::from(done);
        }
        Ok(())
    })?;
    Ok(format!("{changed} row{}", if changed == 1 { "" } else { "s" }))
}
