//! The tables of a custom load: sysbench's, its own, or what is there already.
//!
//! ```text
//!   [[table]]  name, rows, create, columns = { id = "{row}", … }, after
//!
//!   create ─▶ rows: a line for each, column by column ─▶ after: indexes ─▶ statistics
//! ```
//!
//! A row is a pure function of seed, table and row number. Ids in columns are uniform, whatever the
//! distribution of the load: it says which rows are asked for, not what is in them.

use std::sync::Arc;

use dbdyno_model::{Dialect, random};

use crate::custom::check::Checker;
use crate::custom::declared::declared_columns;
use crate::custom::dialects::{DIALECTS, by_dialect};
use crate::custom::schema::{OwnTable, Place, ROWS_MOST, Rows};
use crate::dataset::{Dataset, TableScript};
use crate::draw::Draw;
use crate::file::{FileEntry, FileError, FileSection};
use crate::generate::{Bits, Memory, Scope};
use crate::generator::{Generator, GeneratorName};
use crate::load::Sql;
use crate::references::find_circle;
use crate::statement::CallValue;
use crate::table::Tables;
use crate::template::{Template, TemplatePart, is_name};
use crate::text;

/// Reads `tables`, `rows` and the `[[table]]`s.
pub(super) fn read_tables(top: &FileSection<'_, '_>) -> Result<Place, FileError> {
    let (kind, own, rows) = (top.value("tables"), top.value("table"), top.value("rows"));
    let word = kind.as_ref().map(|kind| kind.as_one_of(&["sbtest", "none"])).transpose()?;
    match (word, own) {
        (Some(_), Some(table)) => {
            Err(table.error("a load has either tables = … or [[table]] of its own"))
        }
        (None, Some(table)) => match rows {
            Some(rows) => Err(rows.error("each [[table]] has rows of its own; move it there")),
            None => own_tables(&table),
        },
        (Some("none"), None) => {
            let rows = rows.map(|rows| rows.as_number(1, ROWS_MOST)).transpose()?;
            Ok(Place::There { rows })
        }
        (_, None) => match rows {
            Some(rows) => Err(rows.error(
                "the rows of sysbench's tables come from --rows; rows stands with tables = \
                 \"none\" or in a [[table]]",
            )),
            None => Ok(Place::Sbtest),
        },
    }
}

fn own_tables(entry: &FileEntry<'_, '_>) -> Result<Place, FileError> {
    let entries = entry.list()?;
    let mut tables: Vec<OwnTable> = Vec::new();
    for entry in &entries {
        let section = entry.as_section("a table")?;
        let name = section.required("name", "name = \"orders\"")?;
        let text = name.as_text()?;
        if !is_name(text) {
            return Err(name.error("a table's name has letters, digits and '_'"));
        }
        if tables.iter().any(|known| known.name.eq_ignore_ascii_case(text)) {
            return Err(name.error("there is a table of this name above"));
        }
        let rows =
            section.value("rows").map_or(Ok(Rows::Percent(100)), |rows| self::rows(&rows))?;
        let create = section.required("create", "create = \"CREATE TABLE …\"")?;
        let create = sql(&create, text)?;
        let after = match section.value("after") {
            Some(list) => list.list()?.iter().map(sql_of).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        // Read below: a column may refer to a table that comes later.
        section.value("columns");
        section.finish()?;
        tables.push(OwnTable { name: text.to_owned(), rows, create, after, columns: Vec::new() });
    }
    if tables.is_empty() {
        return Err(entry.error("a list of tables without a table; leave it out"));
    }
    in_some_order(&tables, &entries)?;
    let place = Place::Own(tables.clone());
    for (table, entry) in tables.iter_mut().zip(&entries) {
        table.columns = columns(&entry.as_section("a table")?, table, &place)?;
    }
    Ok(Place::Own(tables))
}

/// Servers make a table only after those that it refers to.
fn in_some_order(tables: &[OwnTable], entries: &[FileEntry<'_, '_>]) -> Result<(), FileError> {
    for dialect in [Dialect::Mysql, Dialect::Postgres] {
        let creates: Vec<(&str, &str)> =
            tables.iter().map(|table| (&*table.name, table.create.for_dialect(dialect))).collect();
        if let Some([one, other]) = find_circle(&creates) {
            let section = entries[one].as_section("a table")?;
            let create = section.required("create", "create = \"CREATE TABLE …\"")?;
            let (one, other) = (&tables[one].name, &tables[other].name);
            return Err(create.error(format!(
                "the tables {one} and {other} refer to each other, and neither can be made first; \
                 add one of the foreign keys when both are filled: after = [\"ALTER TABLE {one} \
                 ADD FOREIGN KEY …\"]"
            )));
        }
    }
    Ok(())
}

fn columns(
    section: &FileSection<'_, '_>,
    table: &OwnTable,
    place: &Place,
) -> Result<Vec<(String, Generator)>, FileError> {
    let Some(entry) = section.value("columns") else {
        return if table.is_empty() {
            Ok(Vec::new())
        } else {
            Err(section
                .error("what is in its rows? write columns = { id = \"{row}\" }, or rows = 0"))
        };
    };
    let mut checker = Checker::new(place);
    let mut columns = Vec::new();
    let all = entry.as_section("columns")?.all_entries();
    let mut templates = Vec::new();
    for (name, _, entry) in &all {
        if !is_name(name) {
            return Err(entry.error(format!("{name:?}: a column has letters, digits and '_'")));
        }
        let template = Template::parse(entry.as_text()?);
        templates.push(template.map_err(|error| entry.error_within(error.offset, error.message))?);
    }
    let (new, named) = names(&templates);
    for ((name, _, entry), template) in all.iter().zip(&templates) {
        if let Some(made) = made_by_server(table, name) {
            return Err(entry.error(made));
        }
        let mut generator = checker.column(template, entry)?;
        let has = |names: &[Arc<str>]| names.iter().any(|known| &**known == *name);
        if has(&named) && !has(&new) {
            let kept = checker.column_is_kept(name, &generator);
            kept.map_err(|message| entry.error(message))?;
            generator = Generator::Keep((*name).into(), Box::new(generator));
        }
        columns.push(((*name).to_owned(), generator));
    }
    if columns.is_empty() {
        return Err(entry.error("a table without columns; write columns = { id = \"{row}\" }"));
    }
    Ok(columns)
}

/// Why a column is not filled.
fn made_by_server(table: &OwnTable, name: &str) -> Option<String> {
    let generated = DIALECTS.iter().any(|(_, dialect)| {
        declared_columns(table.create.for_dialect(*dialect)).is_generated(name)
    });
    generated.then(|| {
        format!(
            "{name} is a generated column, which the server computes by itself; leave it out of \
             columns"
        )
    })
}

/// The names under which values are remembered, and those of values that are referred to: of the
/// latter, some are columns.
fn names(templates: &[Template]) -> (Vec<Arc<str>>, Vec<Arc<str>>) {
    let (mut new, mut named) = (Vec::new(), Vec::new());
    let mut note = |kind: GeneratorName, name: &Arc<str>| -> Result<(), std::convert::Infallible> {
        match kind {
            GeneratorName::Table => {}
            GeneratorName::NewValue => new.push(Arc::clone(name)),
            GeneratorName::Value => named.push(Arc::clone(name)),
        }
        Ok(())
    };
    for part in templates.iter().flat_map(Template::parts) {
        if let TemplatePart::Parameter(generator, _) = part {
            let Ok(_) = generator.bind(&mut note);
        }
    }
    (new, named)
}

/// `10000`, or `"10%"` of the rows of the plan.
fn rows(entry: &FileEntry<'_, '_>) -> Result<Rows, FileError> {
    if !entry.is_text() {
        return Ok(Rows::Exactly(entry.as_number(0, ROWS_MOST)?));
    }
    let share = entry.as_text()?.strip_suffix('%').and_then(|share| share.trim().parse().ok());
    match share.filter(|share| *share <= 1_000_000) {
        Some(share) => Ok(Rows::Percent(share)),
        None => Err(entry.error("rows takes a number, or a share of --rows such as \"300%\"")),
    }
}

fn sql_of(entry: &FileEntry<'_, '_>) -> Result<Sql, FileError> {
    Ok(Sql::of_three(by_dialect(entry)?.map(|(text, _)| text)))
}

/// CREATE statements name the table that they make: what is taken away afterwards goes by name.
fn sql(entry: &FileEntry<'_, '_>, table: &str) -> Result<Sql, FileError> {
    let texts = by_dialect(entry)?;
    for (text, entry) in &texts {
        let Some(entry) = entry else { continue };
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut words = words.filter(|word| !word.is_empty());
        let begins = words.next().is_some_and(|word| word.eq_ignore_ascii_case("create"));
        if !begins || !words.any(|word| word == table) {
            return Err(entry.error(format!("this is not CREATE TABLE {table} (…)")));
        }
    }
    Ok(Sql::of_three(texts.map(|(text, _)| text)))
}

/// The tables with the sizes of a plan.
pub(super) fn build_dataset(place: &Place, key: String, tables: Tables) -> Arc<dyn Dataset> {
    match place {
        Place::Sbtest => Arc::new(tables),
        Place::There { rows } => Arc::new(There { rows: rows.unwrap_or(1), seed: tables.seed }),
        Place::Own(own) => Arc::new(Own::new(own, key, tables)),
    }
}

/// Tables that are there already.
#[derive(Clone, Debug)]
struct There {
    rows: u64,
    seed: u64,
}

impl Dataset for There {
    fn key(&self) -> String {
        format!("none?rows={}&seed={}", self.rows, self.seed)
    }

    fn tables(&self, _dialect: Dialect) -> Vec<TableScript> {
        Vec::new()
    }

    /// None that is ours; a statement is still spelled out once.
    fn drawn_tables(&self) -> Vec<String> {
        vec!["none".to_owned()]
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn unit_count(&self, _table: usize) -> u64 {
        0
    }

    fn push(&self, _table: usize, _unit: u64, _rows: &mut Vec<u8>) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// The load's own tables.
#[derive(Debug)]
struct Own {
    key: String,
    seed: u64,
    tables: Vec<SizedTable>,
    scope: Scope,
}

/// A table with its size.
#[derive(Debug)]
struct SizedTable {
    described: OwnTable,
    rows: u64,
    stream: u64,
    columns: Vec<Generator<usize>>,
}

impl Own {
    fn new(own: &[OwnTable], key: String, tables: Tables) -> Own {
        let sizes: Vec<u64> = own.iter().map(|table| table.rows(tables)).collect();
        let others = sizes.iter().map(|&rows| Draw::Uniform.over_rows(rows.max(1))).collect();
        let rows = sizes[0].max(1);
        let ids = Draw::Uniform.over_rows(rows);
        let scope = Scope { rows, ids, others, bits: Bits::Characters };
        let key = format!("{key}&rows={sizes:?}&seed={}", tables.seed);
        let sized = own.iter().zip(sizes).map(|(table, rows)| SizedTable {
            described: table.clone(),
            rows,
            stream: random::key_of(&table.name),
            columns: bound(table, own),
        });
        Own { key, seed: tables.seed, tables: sized.collect(), scope }
    }
}

/// The columns with numbers for names: a table's place in the file, a value's place in the row.
fn bound(table: &OwnTable, own: &[OwnTable]) -> Vec<Generator<usize>> {
    let mut kept: Vec<String> = Vec::new();
    let mut bind =
        |named: GeneratorName, name: &Arc<str>| -> Result<usize, std::convert::Infallible> {
            let place = match named {
                GeneratorName::Table => own.iter().position(|table| *table.name == **name),
                GeneratorName::Value | GeneratorName::NewValue => {
                    kept.iter().position(|known| **known == **name).or_else(|| {
                        kept.push(name.to_string());
                        Some(kept.len() - 1)
                    })
                }
            };
            Ok(place.expect("names are checked when the file is read"))
        };
    let columns = table.columns.iter().map(|(_, generator)| {
        let Ok(generator) = generator.bind(&mut bind);
        generator
    });
    columns.collect()
}

/// In which base the digits of a column are those of a number: into a BIT column of MySQL
/// characters would go as the bytes that they are.
fn base(
    dialect: Dialect,
    generator: &Generator,
    columns: &[(String, Generator)],
    is_bit: bool,
) -> Option<u32> {
    match dialect {
        _ if gives_bits(generator, columns) => Some(2),
        Dialect::Mysql if is_bit => Some(10),
        _ => None,
    }
}

/// Whether a generator gives nothing but bits.
fn gives_bits(generator: &Generator, columns: &[(String, Generator)]) -> bool {
    match generator {
        Generator::Bits(..) => true,
        Generator::Null(_, inner) | Generator::Keep(_, inner) => gives_bits(inner, columns),
        Generator::Kept(name) => columns.iter().any(|(_, column)| match column {
            Generator::Keep(kept, inner) => kept == name && gives_bits(inner, columns),
            _ => false,
        }),
        Generator::Joined(parts) => {
            let is_fixed = |part: &Generator| match part {
                Generator::Literal(text) => text.bytes().all(|byte| matches!(byte, b'0' | b'1')),
                _ => false,
            };
            parts.iter().all(|part| is_fixed(part) || gives_bits(part, columns))
                && !parts.iter().all(is_fixed)
        }
        _ => false,
    }
}

impl Dataset for Own {
    fn key(&self) -> String {
        self.key.clone()
    }

    fn tables(&self, dialect: Dialect) -> Vec<TableScript> {
        let script = |table: &SizedTable| {
            let OwnTable { name, create, after, columns, .. } = &table.described;
            let statistics = match dialect {
                Dialect::Mysql | Dialect::Engine => format!("ANALYZE TABLE {name}"),
                Dialect::Postgres => format!("VACUUM ANALYZE {name}"),
                Dialect::Sqlite => format!("ANALYZE {name}"),
                Dialect::Rocksdb => String::new(),
            };
            let after = after.iter().map(|sql| sql.for_dialect(dialect).to_owned());
            let own = declared_columns(create.for_dialect(dialect));
            let all = DIALECTS.map(|(_, dialect)| declared_columns(create.for_dialect(dialect)));
            let base = |(place, (name, generator)): (usize, &(String, Generator))| {
                Some((place, base(dialect, generator, columns, own.is_bit(name))?))
            };
            let is_reshaped =
                |place: &usize| all.iter().any(|all| all.is_reshaped(&columns[*place].0));
            TableScript {
                name: name.clone(),
                create: create.for_dialect(dialect).to_owned(),
                columns: columns
                    .iter()
                    .map(|(name, _)| own.column_spelling(dialect, name))
                    .collect(),
                numbers: columns.iter().enumerate().filter_map(base).collect(),
                reshaped: (0..columns.len()).filter(is_reshaped).collect(),
                finish: after.filter(|sql| !sql.is_empty()).chain([statistics]).collect(),
            }
        };
        self.tables.iter().map(script).collect()
    }

    /// A statement names its tables itself, and is spelled out once.
    fn drawn_tables(&self) -> Vec<String> {
        vec![self.tables[0].described.name.clone()]
    }

    fn rows(&self) -> u64 {
        self.scope.rows
    }

    fn rows_of(&self, table: &str) -> Option<u64> {
        self.tables.iter().find(|known| known.described.name == table).map(|known| known.rows)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn unit_count(&self, table: usize) -> u64 {
        self.tables[table].rows
    }

    fn push(&self, table: usize, unit: u64, rows: &mut Vec<u8>) -> u64 {
        let table = &self.tables[table];
        let mut random =
            random::stream(&[self.seed, random::key_of("custom rows"), table.stream, unit]);
        let mut memory = Memory::of_row(unit as i64 + 1);
        // Characters of this row, so that a later column can repeat those of an earlier one.
        let mut made = Vec::new();
        for (index, column) in table.columns.iter().enumerate() {
            if index > 0 {
                rows.push(b'\t');
            }
            match self.scope.value(column, &mut memory, &mut random, &mut made) {
                CallValue::Null => rows.extend_from_slice(b"\\N"),
                CallValue::Int(number) => text::push_signed(rows, number),
                CallValue::Text { start, length } => {
                    let (start, length) = (start as usize, length as usize);
                    rows.extend_from_slice(&made[start..start + length]);
                }
            }
        }
        rows.push(b'\n');
        1
    }

    fn bytes(&self) -> u64 {
        self.tables
            .iter()
            .enumerate()
            .map(|(index, table)| {
                let mut row = Vec::new();
                if table.rows > 0 {
                    self.push(index, 0, &mut row);
                }
                (row.len() as u64 + 20).saturating_mul(table.rows)
            })
            .fold(0, u64::saturating_add)
    }
}
