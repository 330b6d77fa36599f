//! From a cycle of a recorded history to a story that anybody can play.
//!
//! ```text
//!   T7 ─rw→ T9   T7 read 0.3 = 41, which T9 replaced          edges
//!   T9 ─ww→ T7   T7 replaced 0.3 = 57, which T9 wrote
//!        │ only the operations on the edges; a key becomes a row, a version a number
//!        ▼
//!   T1: begin    T1: select …  => a1                          lanes, and for each edge what must
//!   T2: begin    T2: update …  T2: commit                     have been read for it: the anomaly
//!   T1: update … T1: select …  => a2   T1: commit             occurs if all of them were
//! ```
//!
//! A recorder notes when transactions began and ended, not when each statement was at work. So the
//! order of steps is sought: first those in which every transaction on which another depends has
//! ended before, then those in which what is read is settled at the beginning, then those in which
//! statements follow each other as the edges have it, whoever has ended. Each order is tried until
//! one shows the anomaly.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dbdyno_check::{ABSENT, CycleStep, Dependency, History, INITIAL, Op, OperationKind};

/// Sessions that a story has at most.
const LANES_MOST: usize = 3;
/// Orders of one kind that are tried.
const ORDERS_MOST: usize = 12;
/// The number of a version is that of its row times this, and one more for each write.
const NUMBERS_OF_A_ROW: usize = 100;

/// What every story of one witness has in common.
#[derive(Clone, Debug)]
pub struct Origin<'a> {
    /// What the anomaly is called.
    pub anomaly: &'a str,
    /// The command that found it.
    pub source: &'a str,
    /// The promise that it breaks, as a line `prevented:` has it, if it does.
    pub prevented: Option<String>,
}

/// The stories that a cycle could be, as case files, the likeliest first.
///
/// # Errors
/// Why no story of three sessions has this cycle.
pub fn witness_stories(
    history: &History,
    steps: &[CycleStep],
    origin: &Origin<'_>,
) -> Result<Vec<String>, String> {
    let plot = Plot::of(history, steps)?;
    let mut all = Vec::new();
    for way in [Way::AfterTheEnd, Way::FromSnapshots, Way::AsStatements] {
        for order in plot.orders(way) {
            all.push(plot.story(origin, way, &order));
        }
    }
    if all.is_empty() {
        Err("no order of its statements agrees with all of its edges".to_owned())
    } else {
        Ok(all)
    }
}

/// What the order of steps keeps of the edges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Who depends on another reads and writes when that one has ended.
    AfterTheEnd,
    /// The same, and what is seen is settled before anybody does anything.
    FromSnapshots,
    /// Statements follow each other, ends come when they come.
    AsStatements,
}

/// What a lane does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Read { locks: bool },
    Scan { locks: bool },
    Write,
    Insert,
    Delete,
}

/// An operation on an edge.
#[derive(Clone, Debug)]
struct Part {
    place: usize,
    key: u32,
    deed: Deed,
    /// The version that was read or written.
    version: u32,
    /// Whether another column of the row was written before by the same transaction.
    is_behind_own_write: bool,
    /// What must have been answered, once it is known.
    wanted: Option<String>,
}

/// A part of a lane, or its end: the lane and how many parts it has before.
type Place = (usize, usize);
/// What comes before what.
type Rule = (Place, Place);

struct Edge {
    from: Place,
    to: Place,
    is_anti: bool,
}

/// Lanes with their parts, and the edges between them by lane and number of the part.
struct Plot {
    lanes: Vec<Vec<Part>>,
    edges: Vec<Edge>,
    keys: Vec<u32>,
    /// Whether a row is there at the beginning, by key.
    is_there: Vec<bool>,
}

impl Plot {
    fn of(history: &History, steps: &[CycleStep]) -> Result<Plot, String> {
        let txns: Vec<usize> = steps.iter().map(|step| step.from).collect();
        if txns.len() > LANES_MOST {
            return Err(format!("{} transactions have a part in it, a case has three", txns.len()));
        }
        let lane = |txn: usize| txns.iter().position(|known| *known == txn).unwrap_or(0);
        let mut lanes: Vec<BTreeMap<usize, Part>> = vec![BTreeMap::new(); txns.len()];
        let mut found = Vec::new();
        for step in steps {
            let (from, to) = ends(history, step).ok_or_else(|| {
                format!("{} has no statement to repeat", step.dependency.short_name())
            })?;
            let is_anti = is_anti(step.dependency);
            found.push((lane(step.from), from.place, lane(step.to), to.place, is_anti));
            for (txn, part) in [(step.from, from), (step.to, to)] {
                let key = part.key;
                let known = lanes[lane(txn)].entry(part.place).or_insert(part);
                if known.key != key {
                    return Err("one search has a part in two of its edges".to_owned());
                }
            }
        }
        let number = |lane: usize, place: usize| lanes[lane].keys().position(|at| *at == place);
        let edges = found.iter().map(|&(one, from, other, to, is_anti)| Edge {
            from: (one, number(one, from).unwrap_or(0)),
            to: (other, number(other, to).unwrap_or(0)),
            is_anti,
        });
        let edges = edges.collect();
        let lanes: Vec<Vec<Part>> =
            lanes.into_iter().map(|parts| parts.into_values().collect()).collect();
        let mut keys: Vec<u32> = lanes.iter().flatten().map(|part| part.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let is_there = keys.iter().map(|key| is_there_at_first(&lanes, *key)).collect();
        let mut plot = Plot { lanes, edges, keys, is_there };
        plot.expect()?;
        Ok(plot)
    }

    /// The row of a key in the story.
    fn row(&self, key: u32) -> usize {
        10 * (1 + self.keys.iter().position(|known| *known == key).unwrap_or(0))
    }

    /// By version that somebody on the cycle writes, its number.
    fn numbers(&self) -> BTreeMap<u32, usize> {
        let mut numbers = BTreeMap::new();
        for part in self
            .lanes
            .iter()
            .flatten()
            .filter(|part| matches!(part.deed, Deed::Write | Deed::Insert))
        {
            let next = numbers.len() + 1;
            numbers.insert(part.version, NUMBERS_OF_A_ROW * self.row(part.key) / 10 + next);
        }
        numbers
    }

    /// What each edge wants to have been read.
    fn expect(&mut self) -> Result<(), String> {
        let numbers = self.numbers();
        let deletions = self
            .lanes
            .iter()
            .flatten()
            .filter(|part| part.deed == Deed::Delete)
            .map(|part| part.version);
        let deletions: Vec<u32> = deletions.collect();
        let mut outside: BTreeMap<u32, u32> = BTreeMap::new();
        let mut value = |key: u32, version: u32, is_there: bool, row: usize| {
            if let Some(number) = numbers.get(&version) {
                return Ok(Some(*number));
            }
            let is_absence = version == ABSENT || deletions.contains(&version);
            if is_absence || (version == INITIAL && !is_there) {
                return Ok(None);
            }
            if !is_there {
                let text = "a row is put in that was there, and who took it away has no part in it";
                return Err(text.to_owned());
            }
            if *outside.entry(key).or_insert(version) != version {
                let text = "it rests on two versions that others wrote, which a case has one of";
                return Err(text.to_owned());
            }
            Ok(Some(NUMBERS_OF_A_ROW * row / 10))
        };
        let mut wanted = Vec::new();
        for (lane, number) in self
            .lanes
            .iter()
            .enumerate()
            .flat_map(|(lane, parts)| (0..parts.len()).map(move |number| (lane, number)))
        {
            let part = &self.lanes[lane][number];
            let row = self.row(part.key);
            let at = self.keys.iter().position(|key| *key == part.key).unwrap_or(0);
            let is_there = self.is_there[at];
            if matches!(part.deed, Deed::Read { .. } | Deed::Scan { .. }) {
                let seen = value(part.key, part.version, is_there, row)?;
                let rows = seen.map_or("nothing".to_owned(), |seen| format!("{row}:{seen}"));
                wanted.push((lane, number, rows));
                continue;
            }
            let Some(edge) =
                self.edges.iter().find(|edge| !edge.is_anti && edge.to == (lane, number))
            else {
                continue;
            };
            let before = &self.lanes[edge.from.0][edge.from.1];
            if part.deed != Deed::Write {
                return Err("nothing shows what an insert or a delete replaced".to_owned());
            }
            let own = numbers[&part.version];
            let Some(old) = value(part.key, before.version, is_there, row)? else {
                return Err("it replaces what was deleted".to_owned());
            };
            wanted.push((lane, number, format!("{row}:{own}:{old}")));
        }
        for (lane, number, rows) in wanted {
            self.lanes[lane][number].wanted = Some(rows);
        }
        Ok(())
    }

    /// Orders of the parts and ends of all lanes, as the lanes whose turn it is.
    fn orders(&self, way: Way) -> Vec<Vec<usize>> {
        let end = |lane: usize| (lane, self.lanes[lane].len());
        let rules: Vec<Rule> = self
            .edges
            .iter()
            .filter_map(|edge| match (way, edge.is_anti) {
                (Way::AsStatements, _) | (Way::AfterTheEnd, true) => Some((edge.from, edge.to)),
                (Way::FromSnapshots, true) => None,
                (_, false) => Some((end(edge.from.0), edge.to)),
            })
            .collect();
        let mut orders = Vec::new();
        let mut turn = Vec::new();
        self.walk(&rules, &mut vec![0; self.lanes.len()], &mut turn, &mut orders);
        orders
    }

    fn walk(
        &self,
        rules: &[Rule],
        next: &mut Vec<usize>,
        turn: &mut Vec<usize>,
        orders: &mut Vec<Vec<usize>>,
    ) {
        if orders.len() == ORDERS_MOST {
            return;
        }
        if next.iter().zip(&self.lanes).all(|(next, lane)| *next > lane.len()) {
            return orders.push(turn.clone());
        }
        for lane in 0..self.lanes.len() {
            let here = (lane, next[lane]);
            if here.1 > self.lanes[lane].len()
                || rules
                    .iter()
                    .any(|(before, behind)| *behind == here && next[before.0] <= before.1)
            {
                continue;
            }
            next[lane] += 1;
            turn.push(lane);
            self.walk(rules, next, turn, orders);
            turn.pop();
            next[lane] -= 1;
        }
    }

    fn story(&self, origin: &Origin<'_>, way: Way, order: &[usize]) -> String {
        let numbers = self.numbers();
        let mut body = String::new();
        let mut wanted = Vec::new();
        if way == Way::FromSnapshots {
            (1..=self.lanes.len()).for_each(|name| body += &format!("T{name}: begin snapshot\n"));
        }
        // Who comes first is T1.
        let mut known: Vec<usize> = Vec::new();
        let mut next = vec![0; self.lanes.len()];
        for &lane in order {
            if !known.contains(&lane) {
                known.push(lane);
            }
            let name = known.iter().position(|one| *one == lane).unwrap_or(0) + 1;
            if next[lane] == 0 && way != Way::FromSnapshots {
                let _ = writeln!(body, "T{name}: begin");
            }
            match self.lanes[lane].get(next[lane]) {
                Some(part) => {
                    let answer = format!("t{name}-{}", next[lane] + 1);
                    for line in self.statements(part, &numbers, &answer) {
                        let _ = writeln!(body, "T{name}: {line}");
                    }
                    wanted.extend(part.wanted.iter().map(|rows| format!("{answer} is {rows}")));
                }
                None => {
                    let _ = writeln!(body, "T{name}: commit");
                }
            }
            next[lane] += 1;
        }
        let there = self.keys.iter().zip(&self.is_there).filter(|(_, is_there)| **is_there);
        let rows: Vec<String> = there
            .map(|(key, _)| self.row(*key))
            .map(|row| format!("{row}:{}", NUMBERS_OF_A_ROW * row / 10))
            .collect();
        let prevented = origin.prevented.iter().map(|promise| format!("prevented: {promise}\n"));
        format!(
            "case: {}\nanomaly: {}\nabout: Found among random transactions; only the operations \
             on the cycle are left.\nsource: {}\nrows: {}\n{}occurs: {}\n\n{body}",
            anomaly_file_name(origin.anomaly),
            origin.anomaly,
            origin.source,
            if rows.is_empty() { "999:0".to_owned() } else { rows.join(" ") },
            prevented.collect::<String>(),
            wanted.join(" and "),
        )
    }

    fn statements(&self, part: &Part, numbers: &BTreeMap<u32, usize>, answer: &str) -> Vec<String> {
        let row = self.row(part.key);
        let own = numbers.get(&part.version).copied().unwrap_or(0);
        let select = "select id, value from test where";
        match part.deed {
            Deed::Read { locks } => {
                let touch = format!("update test set mark = 1 where id = {row}");
                let read = format!("{select} id = {row}{} => {answer}", lock_clause(locks));
                if part.is_behind_own_write { vec![touch, read] } else { vec![read] }
            }
            Deed::Scan { locks } => {
                let (low, high) = (row - 5, row + 5);
                vec![format!(
                    "{select} id > {low} and id < {high}{} => {answer}",
                    lock_clause(locks)
                )]
            }
            Deed::Write => {
                let write = format!("update test set mark = value, value = {own} where id = {row}");
                let shown =
                    format!("select id, value, mark from test where id = {row} => {answer}");
                if part.wanted.is_some() { vec![write, shown] } else { vec![write] }
            }
            Deed::Insert => {
                vec![format!("insert into test (id, value, mark) values ({row}, {own}, 0)")]
            }
            Deed::Delete => vec![format!("delete from test where id = {row}")],
        }
    }
}

fn lock_clause(locks: bool) -> &'static str {
    if locks { " for update" } else { "" }
}

/// The name of an anomaly as one word of a file's name.
pub fn anomaly_file_name(anomaly: &str) -> String {
    let plain = anomaly.split(" (").next().unwrap_or(anomaly);
    plain.replace(' ', "-")
}

/// A more exact name of what two transactions did: whether a value was another one the second time
/// although it was no locking read, but one behind a write to another column of its row.
#[must_use]
pub fn refine_anomaly_name(history: &History, name: String, steps: &[CycleStep; 2]) -> String {
    let again = steps.iter().find(|step| is_read_dependency(step.dependency));
    match name.as_str() {
        "non-repeatable read"
            if again.is_some_and(|step| {
                ends(history, step).is_some_and(|(_, to)| to.is_behind_own_write)
            }) =>
        {
            "non-repeatable read through an own update".to_owned()
        }
        _ => name,
    }
}

fn is_read_dependency(d: Dependency) -> bool {
    matches!(d, Dependency::Read | Dependency::CurrentRead)
}

/// Whether a row is there before anybody on the cycle does anything: who puts it in found it gone,
/// or has taken it away himself.
fn is_there_at_first(lanes: &[Vec<Part>], key: u32) -> bool {
    lanes.iter().all(|parts| {
        let first = |deed: Deed| parts.iter().position(|p| p.key == key && p.deed == deed);
        match (first(Deed::Delete), first(Deed::Insert)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(delete), Some(insert)) => delete < insert,
        }
    })
}

fn is_anti(dependency: Dependency) -> bool {
    use Dependency::{Anti, CurrentAnti, CurrentPredicateAnti, PredicateAnti};
    matches!(dependency, Anti | CurrentAnti | PredicateAnti | CurrentPredicateAnti)
}

fn is_write(kind: OperationKind) -> bool {
    matches!(kind, OperationKind::Write | OperationKind::Insert | OperationKind::Delete)
}

/// The operations at both ends of an edge.
fn ends(history: &History, step: &CycleStep) -> Option<(Part, Part)> {
    match step.dependency {
        Dependency::Write => Some((version_write(history, step)?, next_write(history, step)?)),
        Dependency::Read | Dependency::CurrentRead => {
            Some((version_write(history, step)?, read(history, step, step.to)?))
        }
        Dependency::Session | Dependency::RealTime => None,
        _ => Some((read(history, step, step.from)?, next_write(history, step)?)),
    }
}

/// The operation that wrote the version of an edge.
fn version_write(history: &History, step: &CycleStep) -> Option<Part> {
    write(history, step.from, step.key, |op| op.value == step.version)
}

/// The operation that replaced the version of an edge.
fn next_write(history: &History, step: &CycleStep) -> Option<Part> {
    write(history, step.to, step.key, |op| op.prev == step.version)
}

/// What a transaction writes to a row: the write that is meant, or else its first one.
fn write(history: &History, txn: usize, key: u32, is_meant: impl Fn(&Op) -> bool) -> Option<Part> {
    let ops = history.ops(txn);
    let mut writes = (0..ops.len()).filter(|at| ops[*at].key == key && is_write(ops[*at].kind));
    let meant = writes.clone().find(|at| is_meant(&ops[*at]));
    part(history, txn, meant.or_else(|| writes.next())?)
}

/// Where a transaction reads the version of an edge, or a range that it would stand in.
fn read(history: &History, step: &CycleStep, txn: usize) -> Option<Part> {
    let ops = history.ops(txn);
    let at = match step.dependency {
        Dependency::PredicateAnti | Dependency::CurrentPredicateAnti => ops.iter().position(|op| {
            matches!(op.kind, OperationKind::Scan | OperationKind::CurrentScan)
                && (op.key..op.key.saturating_add(op.value)).contains(&step.key)
        }),
        _ => ops
            .iter()
            .position(|op| op.key == step.key && !is_write(op.kind) && op.value == step.version)
            .or_else(|| ops.iter().position(|op| op.key == step.key && op.value == ABSENT)),
    };
    let mut part = part(history, txn, at?)?;
    part.key = step.key;
    Some(part)
}

fn part(history: &History, txn: usize, place: usize) -> Option<Part> {
    let ops = history.ops(txn);
    let op = ops[place];
    let row = |key: u32| history.key_name(key).rsplit('.').next().map(str::to_owned);
    let own_row = row(op.key);
    let is_behind_own_write =
        ops[..place].iter().any(|other| is_write(other.kind) && row(other.key) == own_row);
    let locks = matches!(op.kind, OperationKind::CurrentRead | OperationKind::CurrentScan)
        && !is_behind_own_write;
    let deed = match op.kind {
        OperationKind::Read | OperationKind::CurrentRead => Deed::Read { locks },
        OperationKind::Scan | OperationKind::CurrentScan => Deed::Scan { locks },
        OperationKind::Write => Deed::Write,
        OperationKind::Insert => Deed::Insert,
        OperationKind::Delete => Deed::Delete,
        _ => return None,
    };
    let version = if matches!(deed, Deed::Scan { .. }) { ABSENT } else { op.value };
    let key = op.key;
    Some(Part { place, key, deed, version, is_behind_own_write, wanted: None })
}

#[cfg(test)]
mod tests {
    use dbdyno_check::{
        Checker, HEADER, OpRecord, Times, TransactionOutcome, Txn, UNKNOWN, encode_end,
        read_history,
    };

    use super::*;

    fn first(text: &str) -> Result<Vec<String>, String> {
        of(&read_history(text.as_bytes()).unwrap())
    }

    /// The stories of the first kind of anomaly.
    fn of(history: &History) -> Result<Vec<String>, String> {
        let refine =
            |name: String, steps: &[CycleStep; 2]| refine_anomaly_name(history, name, steps);
        let kinds = Checker::new(history).pair_anomalies(refine);
        let steps = kinds[0].examples[0];
        let source = "dbdyno verify mysql:9.7";
        let origin = Origin { anomaly: &kinds[0].name, source, prevented: None };
        witness_stories(history, &steps, &origin)
    }

    const LOST: &str = "r(z,0,0,0)\nr(x,0,0,0)\nr(x,0,1,1)\nw(x,1<0,1,1)\nw(x,2<1,0,0)\n\
        w(z,3<0,0,0)\nr(z,0,1,1)";

    #[test]
    fn a_cycle_becomes_a_story_of_its_operations_alone() {
        let all = first(LOST).unwrap();
        let story = &all[0];
        assert!(!story.contains("30"), "z has no part in it: {story}");
        let steps: Vec<&str> = story.lines().skip_while(|line| !line.is_empty()).skip(1).collect();
        let wanted = [
            "T1: begin",
            "T1: select id, value from test where id = 10 => t1-1",
            "T2: begin",
            "T2: update test set mark = value, value = 101 where id = 10",
            "T2: commit",
            "T1: update test set mark = value, value = 102 where id = 10",
            "T1: select id, value, mark from test where id = 10 => t1-2",
            "T1: commit",
        ];
        assert_eq!(steps, wanted, "{story}");
        assert!(story.contains("occurs: t1-1 is 10:100 and t1-2 is 10:102:101"), "{story}");
        for story in &all {
            let case = dbdyno_cases::parse(story);
            assert!(case.is_ok_and(|case| case.sessions() == 2), "{story}");
        }
    }

    #[test]
    fn who_reads_a_row_behind_his_own_write_writes_it_before() {
        let text = "r(0.3,0,0,0)\nw(0.3,1<0,1,1)\nw(1.3,2<0,0,0)\nR(0.3,1<0,0,0)";
        let story = first(text).unwrap().remove(0);
        assert!(story.contains("anomaly: non-repeatable read through an own update\n"), "{story}");
        let touch = "T1: update test set mark = 1 where id = 10\nT1: select id, value from test \
            where id = 10 => t1-2";
        assert!(story.contains(touch), "{story}");
        assert!(!story.contains("for update"), "{story}");
    }

    #[test]
    fn a_read_that_is_old_in_the_order_of_statements_is_read_from_a_snapshot() {
        // T0 reads y behind the end of T1 and x as it was before.
        let text = "w(x,1<0,1,1)\nw(y,2<0,1,1)\nr(y,2<0,0,0)\nr(x,0,0,0)";
        let all = first(text).unwrap();
        assert!(all.iter().all(|story| dbdyno_cases::parse(story).is_ok()));
        assert!(all[0].contains("begin snapshot"), "no order without one has it: {}", all[0]);
    }

    #[test]
    fn what_was_taken_away_or_not_there_yet_is_read_as_nothing() {
        let op = |kind, key, value, prev| OpRecord { kind, table: 0, key, value, prev }.encode();
        let end = |session, ns, ops| {
            let times = Times { commit_return_ns: ns, ..Times::default() };
            encode_end(Txn { session, outcome: TransactionOutcome::Ok, times, token: 0 }, ops)
        };
        // T0 takes row 1 away and puts row 2 in; T1 misses row 1 and row 2.
        let mut records = HEADER.to_vec();
        records.extend(op(OperationKind::Delete, 1, 5, 0));
        records.extend(op(OperationKind::Insert, 2, 6, 0));
        records.extend(end(0, 1, 2));
        records.extend(op(OperationKind::Scan, 2, 1, 0));
        records.extend(op(OperationKind::Read, 1, 5, UNKNOWN));
        records.extend(end(1, 2, 2));
        let all = of(&dbdyno_check::read_records(&records).unwrap()).unwrap();
        let story = &all[0];
        assert!(story.contains("rows: 10:100\n"), "{story}");
        assert!(story.contains("delete from test where id = 10\n"), "{story}");
        assert!(story.contains("where id > 15 and id < 25 => "), "{story}");
        assert_eq!(story.matches(" is nothing").count(), 2, "{story}");
        assert!(dbdyno_cases::parse(story).is_ok(), "{story}");
    }

    /// As a random history of MariaDB had it: who takes a row away puts it in again.
    #[test]
    fn a_row_that_is_taken_away_and_put_in_again_was_there() {
        let op = |kind, key, value, prev| OpRecord { kind, table: 0, key, value, prev }.encode();
        let end = |session, ns, ops| {
            let times = Times { commit_return_ns: ns, ..Times::default() };
            encode_end(Txn { session, outcome: TransactionOutcome::Ok, times, token: 0 }, ops)
        };
        let history = |takes_away: bool| {
            let mut records = HEADER.to_vec();
            // T0 replaces the row that T1 has read, by one that T1 reads next.
            if takes_away {
                records.extend(op(OperationKind::Delete, 1, 5, 0));
            }
            records.extend(op(OperationKind::Insert, 1, 6, if takes_away { 5 } else { 0 }));
            records.extend(end(0, 1, 1 + u32::from(takes_away)));
            records.extend(op(OperationKind::Read, 1, 0, UNKNOWN));
            records.extend(op(OperationKind::Read, 1, 6, UNKNOWN));
            records.extend(end(1, 2, 2));
            of(&dbdyno_check::read_records(&records).unwrap())
        };
        let story = history(true).unwrap().remove(0);
        assert!(story.contains("rows: 10:100\n"), "{story}");
        assert!(story.contains("t1-1 is 10:100 and t1-2 is 10:101"), "{story}");
        let story = history(false).unwrap().remove(0);
        assert!(story.contains("t1-1 is nothing and t1-2 is 10:101"), "{story}");
    }

    #[test]
    fn what_four_transactions_do_is_no_case() {
        let step = |from: usize, to: usize| CycleStep {
            from,
            to,
            dependency: Dependency::Anti,
            key: 0,
            version: 0,
            by: None,
            is_assumed: false,
        };
        let history = read_history(LOST.as_bytes()).unwrap();
        let steps = [step(0, 1), step(1, 2), step(2, 3), step(3, 0)];
        let origin = Origin { anomaly: "G2-item", source: "", prevented: None };
        assert!(witness_stories(&history, &steps, &origin).unwrap_err().contains("4 transactions"));
    }
}
