//! The events of a file: steps, statements, weights.
//!
//! ```text
//!   [[event]]  name, weight, transaction
//!     [[event.step]]  sql, rows or changed, class, channel, repeat, table
//!     [[event.step]]  statements = [{ sql = …, rows = … }, …], repeat, table
//! ```
//!
//! A load with one event has no `[[event]]`: its steps stand at the top.

use crate::custom::check::Checker;
use crate::custom::dialects::{DIALECTS, by_dialect};
use crate::custom::schema::Place;
use crate::draw::Draw;
use crate::file::{FileEntry, FileError, FileSection};
use crate::load::{Ask, Channel, Expect, LoadStep, Mix, Sql, TableDraw, TransactionMode, Trend};

/// Statements that an event may have, repetitions counted.
const CALLS_MOST: u64 = 10_000;

/// All events with their weights.
pub(super) fn read_events(
    top: &FileSection<'_, '_>,
    place: &Place,
    draw: Draw,
) -> Result<Vec<(u32, Mix)>, FileError> {
    let default = transaction(top)?;
    let (steps, events) = (top.value("step"), top.value("event"));
    if let (Some(_), Some(event)) = (&steps, &events) {
        return Err(event.error("steps stand either at the top or in events, not in both"));
    }
    let mix = |transaction, steps| Mix { transaction, steps, weights: Vec::new(), draw };
    if let Some(entry) = steps {
        let steps = self::steps(&entry, None, place)?;
        let alone = steps.len() == 1 && steps[0].repeat == 1 && steps[0].asks.len() == 1;
        let usual = if alone { TransactionMode::Autocommit } else { TransactionMode::Explicit };
        return Ok(vec![(1, mix(default.unwrap_or(usual), steps))]);
    }
    let Some(entry) = events else {
        // A step that is misspelled is found by its name.
        top.finish()?;
        return Err(top.error("a load asks something: add [[step]] with sql = \"…\""));
    };
    let mut all = Vec::new();
    for entry in entry.list()? {
        let event = entry.as_section("an event")?;
        let name =
            event.required("name", "name = \"order\", which its latencies are filed under")?;
        let class = class(&name)?;
        let weight =
            event.value("weight").map_or(Ok(1), |weight| weight.as_number(0, 1_000_000))?;
        let transaction = transaction(&event)?.or(default).unwrap_or(TransactionMode::Explicit);
        let steps = event.required("step", "[[event.step]] with sql = \"…\" below it")?;
        let steps = self::steps(&steps, Some(&class), place)?;
        event.finish()?;
        all.push((weight as u32, mix(transaction, steps)));
    }
    if all.iter().all(|(weight, _)| *weight == 0) {
        return Err(entry.error("no event has a weight above 0; give one of them weight = 1"));
    }
    Ok(all)
}

fn transaction(section: &FileSection<'_, '_>) -> Result<Option<TransactionMode>, FileError> {
    let Some(entry) = section.value("transaction") else { return Ok(None) };
    Ok(Some(if entry.boolean()? { TransactionMode::Explicit } else { TransactionMode::Autocommit }))
}

fn class(entry: &FileEntry<'_, '_>) -> Result<String, FileError> {
    let name = entry.as_text()?;
    if name.is_empty() || name.len() > 63 || name.chars().any(char::is_control) {
        return Err(entry.error("a name is a short text"));
    }
    Ok(name.to_owned())
}

fn steps(
    entry: &FileEntry<'_, '_>,
    class: Option<&str>,
    place: &Place,
) -> Result<Vec<LoadStep>, FileError> {
    let mut steps = Vec::new();
    let mut calls = 0;
    let mut checkers = DIALECTS.map(|_| Some(Checker::new(place)));
    for entry in entry.list()? {
        let section = entry.as_section("a step")?;
        let repeat = section.value("repeat").map_or(Ok(1), |repeat| repeat.as_number(1, 10_000))?;
        let table = match section.value("table") {
            Some(entry) => match entry.as_one_of(&["random", "client"])? {
                "client" => TableDraw::OfClient,
                _ => TableDraw::Random,
            },
            None => TableDraw::Random,
        };
        checkers.iter_mut().flatten().for_each(|checker| checker.begin_step(repeat));
        let asks = match (section.value("statements"), section.value("sql")) {
            (Some(list), None) => {
                let mut asks = Vec::new();
                for entry in list.list()? {
                    let section = entry.as_section("a statement")?;
                    let sql = section.required("sql", "sql = \"SELECT …\"")?;
                    asks.push(ask(&section, &sql, class, &mut checkers)?);
                    section.finish()?;
                }
                asks
            }
            (None, Some(sql)) => vec![ask(&section, &sql, class, &mut checkers)?],
            (Some(list), Some(_)) => {
                return Err(list.error("a step has either sql or statements, not both"));
            }
            (None, None) => {
                return Err(section.error("a step has no sql; write sql = \"SELECT …\""));
            }
        };
        section.finish()?;
        calls += repeat * asks.len() as u64;
        if calls > CALLS_MOST {
            let message = format!("an event of more than {CALLS_MOST} statements; repeat less");
            return Err(entry.error(message));
        }
        steps.push(LoadStep { asks, repeat: repeat as u32, table });
    }
    if steps.iter().all(|step| step.asks.is_empty()) {
        return Err(entry.error("without statements there is nothing to ask; add sql = \"…\""));
    }
    Ok(steps)
}

fn ask(
    section: &FileSection<'_, '_>,
    sql: &FileEntry<'_, '_>,
    class: Option<&str>,
    checkers: &mut [Option<Checker<'_>>; 3],
) -> Result<Ask, FileError> {
    let own = section.value("class").map(|entry| self::class(&entry)).transpose()?;
    let channel = match section.value("channel") {
        Some(entry) if entry.as_one_of(&["prepared", "text"])? == "text" => Channel::Text,
        Some(_) | None => Channel::Prepared,
    };
    let texts = by_dialect(sql)?;
    for ((text, entry), checker) in texts.iter().zip(checkers) {
        match (entry, checker.as_mut()) {
            (Some(entry), Some(checker)) => checker.statement(text, channel, entry)?,
            // A load without one of its statements is not for this dialect: what others refer to
            // need not be there.
            (None, _) => *checker = None,
            (Some(_), None) => {}
        }
    }
    let [mysql, postgres, sqlite] = texts.map(|(text, _)| text);
    let first = [&mysql, &postgres, &sqlite].into_iter().find(|text| !text.is_empty());
    let class = own.or(class.map(str::to_owned)).or(first.map(|text| first_word(text)));
    let expect = match (section.value("rows"), section.value("changed")) {
        (Some(rows), None) => bounds(&rows).map(|(low, high)| Expect::Rows(low, high))?,
        (None, Some(changed)) => bounds(&changed).map(|(low, high)| Expect::Changed(low, high))?,
        (Some(_), Some(changed)) => {
            return Err(changed.error("a statement either returns rows or changes them"));
        }
        (None, None) => {
            // One of them misspelled is found by its name.
            section.finish()?;
            return Err(sql.error(
                "what is a right answer? write rows = 1 or changed = 1 beside it, or bounds: \
                 rows = \"0..10\", rows = \"0..\"",
            ));
        }
    };
    let class = class.unwrap_or_default();
    Ok(Ask { class, sql: Sql::of_three([mysql, postgres, sqlite]), expect, channel })
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_lowercase()
}

/// `1`, `"1..5"` or `"1.."`.
fn bounds(entry: &FileEntry<'_, '_>) -> Result<(u64, u64), FileError> {
    if !entry.is_text() {
        let exact = entry.as_number(0, i64::MAX as u64)?;
        return Ok((exact, exact));
    }
    let text = entry.as_text()?;
    let wrong =
        || entry.error(format!("{text:?} is no number and no bounds such as \"0..10\" or \"1..\""));
    let (low, high) = text.split_once("..").ok_or_else(wrong)?;
    let low = low.trim().parse().map_err(|_| wrong())?;
    let high = match high.trim() {
        "" => u64::MAX,
        high => high.parse().map_err(|_| wrong())?,
    };
    if low <= high { Ok((low, high)) } else { Err(wrong()) }
}

/// What happens to the tables, by the rows that come and go with the statements, where the file
/// does not say it: where more come than go, whatever the bounds allow, they grow, and the other
/// way round. Else they may keep their size.
pub(super) fn size_trend(events: &[(u32, Mix)]) -> Trend {
    let (mut comes, mut goes) = (RowBounds::NONE, RowBounds::NONE);
    for (weight, mix) in events.iter().filter(|(weight, _)| *weight > 0) {
        for (at, step) in mix.steps.iter().enumerate() {
            let share = mix.weights.get(at).copied().unwrap_or(1);
            let times = u64::from(*weight) * u64::from(share) * u64::from(step.repeat);
            for ask in step.asks.iter().filter(|_| times > 0) {
                match rows_move(ask) {
                    Some(RowMove::Come) => comes.add(rows_of(ask), times),
                    Some(RowMove::Go) => goes.add(rows_of(ask), times),
                    None => {}
                }
            }
        }
    }
    if comes.low > goes.high || (comes.high > 0 && goes.high == 0) {
        return Trend::Grows;
    }
    let shrinks = goes.low > comes.high || (goes.high > 0 && comes.high == 0);
    if shrinks { Trend::Shrinks } else { Trend::Steady }
}

/// How many rows at least and at most.
#[derive(Clone, Copy)]
struct RowBounds {
    low: u64,
    high: u64,
}

impl RowBounds {
    const NONE: RowBounds = RowBounds { low: 0, high: 0 };

    fn add(&mut self, rows: RowBounds, times: u64) {
        self.low = self.low.saturating_add(rows.low.saturating_mul(times));
        self.high = self.high.saturating_add(rows.high.saturating_mul(times));
    }
}

/// Whether a statement brings rows or takes them away.
enum RowMove {
    Come,
    Go,
}

/// By the words of the statement, in whichever dialect they say it; one that does both replaces.
fn rows_move(ask: &Ask) -> Option<RowMove> {
    let texts = [&ask.sql.mysql, &ask.sql.postgres, &ask.sql.sqlite];
    let texts = texts.map(|text| text.trim_start().to_ascii_lowercase());
    let comes = texts.iter().any(|text| brings_rows(text));
    let goes = texts.iter().any(|text| takes_rows(text));
    if comes == goes {
        return None;
    }
    Some(if comes { RowMove::Come } else { RowMove::Go })
}

fn brings_rows(text: &str) -> bool {
    // A row that is there already changes, or stays.
    let may_stay = text.contains(" on duplicate ") || text.contains(" on conflict ");
    let is_within = text.starts_with("with ") && text.contains("insert into ");
    (text.starts_with("insert into ") || is_within) && !may_stay
}

fn takes_rows(text: &str) -> bool {
    let is_within = text.starts_with("with ") && text.contains("delete from ");
    let is_merged = text.starts_with("merge ") && text.contains(" then delete");
    text.starts_with("delete ") || text.starts_with("truncate ") || is_within || is_merged
}

/// The rows that a statement changes; where it returns some, nothing but that there may be one.
fn rows_of(ask: &Ask) -> RowBounds {
    match ask.expect {
        Expect::Changed(low, high) => RowBounds { low, high },
        Expect::Rows(..) => RowBounds { low: 0, high: u64::MAX },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Custom;
    use super::*;

    /// All hundred rows were gone before anything was measured, and tables kept their size.
    #[test]
    fn tables_grow_and_shrink_by_the_statements() {
        let of = |more: &str, statements: &[&str]| {
            let step = |sql: &&str| {
                let what = if sql.starts_with("SELECT") { "rows" } else { "changed" };
                format!("[[step]]\nsql = \"{sql}\"\n{what} = 1\n")
            };
            let steps: String = statements.iter().map(step).collect();
            let text = format!(
                "name = \"l\"\ngroup = \"write\"\n{more}\n[[table]]\nname = \"a\"\nrows = 100\n\
                 create = \"CREATE TABLE a (id INTEGER PRIMARY KEY)\"\n\
                 columns = {{ id = \"{{row}}\" }}\n{steps}"
            );
            Custom::parse("l.toml", &text).unwrap().trend
        };
        let (delete, insert) = ("DELETE FROM a WHERE id = {id}", "INSERT INTO a VALUES ({seq})");
        assert_eq!(of("", &[delete]), Trend::Shrinks);
        assert_eq!(of("", &[insert]), Trend::Grows);
        assert_eq!(of("", &[insert, delete]), Trend::Steady);
        assert_eq!(of("", &[insert, insert, delete]), Trend::Grows);
        assert_eq!(of("", &[insert, delete, delete]), Trend::Shrinks);
        let within = "WITH d AS (DELETE FROM a WHERE id = {id} RETURNING id) SELECT id FROM d";
        assert_eq!(of("", &[within]), Trend::Shrinks);
        assert_eq!(of("", &[insert, within]), Trend::Steady, "nobody knows how many");
        let merge =
            "MERGE INTO a USING (SELECT {id} AS i) s ON a.id = s.i WHEN MATCHED THEN DELETE";
        assert_eq!(of("", &[merge]), Trend::Shrinks);
        assert_eq!(of("", &["SELECT id FROM a WHERE id = {id}"]), Trend::Steady);
        assert_eq!(of("trend = \"steady\"", &[insert]), Trend::Steady);
        let upsert = "INSERT INTO a VALUES ({id}) ON CONFLICT (id) DO NOTHING";
        assert_eq!(of("", &[upsert]), Trend::Steady);
    }
}
