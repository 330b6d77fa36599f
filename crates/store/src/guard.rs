//! What keeps a file that somebody else made from doing more than being read.
//!
//! ```text
//!   path ── a file, whose journal names no other ──▶ opened
//!              │
//!              ├─ no function, view or trigger of the file is ever run       `harden`
//!              ├─ our names are tables, with our columns                     `check_tables`
//!              ├─ ids of runs are ids, and no paths or commands              `check_ids`
//!              └─ no question takes more steps than the file has bytes for   `Allowance`
//! ```
//!
//! The tables are a function of the version, so that those of a file can be compared with them: a
//! view called `run` or a computed column is found before anything is asked of it. A tree of pages
//! may still lead by many ways to one page; that is what steps are counted for.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OptionalExtension as _};

use crate::error::{Result, StoreError};

/// The largest text or blob: those of rounds take some kilobytes, custom loads at most 1 MiB.
const VALUE_BYTES_MOST: i32 = 64 << 20;

/// Steps of SQLite's machine between two looks at what is left.
const STEPS_BETWEEN_LOOKS: i32 = 1000;

/// What a question may take for each byte of the file; those of dbdyno take less than one.
const STEPS_PER_BYTE: u64 = 50;

/// What it may take besides.
const STEPS_LEAST: u64 = 2_000_000;

/// The last bytes of a rollback journal that names a super-journal, a file which SQLite deletes
/// (SQLite, pager.c, `readSuperJournal`).
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Refuses what is no file, without waiting for it, and a journal that would have another file
/// deleted: dbdyno never writes one.
pub(crate) fn check_kind(path: &Path) -> Result<()> {
    let fail = |why: &str| Err(StoreError::CannotOpen(path.to_owned(), why.to_owned()));
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => return fail("it is a folder"),
        Ok(about) if !about.is_file() => return fail("it is a pipe, a socket or a device"),
        // A file that is not there is made.
        _ => {}
    }
    if let Err(error) = dbdyno_files::check_regular_file(path)
        && error.kind() == std::io::ErrorKind::InvalidInput
    {
        return fail("the kernel makes it up; name a file on a disk");
    }
    // SQLite follows links, and the journal stands beside the file that they lead to.
    let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let journal = path_with_suffix(&file, "-journal");
    match fs::metadata(&journal) {
        Ok(about) if !about.is_file() => fail("its journal is no file"),
        Ok(_) if names_another(&journal) => fail("its journal names another file"),
        _ => Ok(()),
    }
}

fn names_another(journal: &Path) -> bool {
    let mut last = [0; JOURNAL_MAGIC.len()];
    let read = File::open(journal).and_then(|mut file| {
        file.seek(SeekFrom::End(-(last.len() as i64)))?;
        file.read_exact(&mut last)
    });
    read.is_ok() && last == JOURNAL_MAGIC
}

pub(crate) fn path_with_suffix(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Takes from a file what it could run, before anything is read from it.
pub(crate) fn harden_connection(connection: &Connection) -> rusqlite::Result<()> {
    use DbConfig::{
        SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
        SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    };
    connection.set_db_config(SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MOST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;")
}

/// What a table is made of: its kind, and each column with its type and whether it is computed.
/// Constraints are left out: only who writes is bound by them, and none can call what is unsafe.
#[derive(PartialEq)]
struct Shape {
    kind: String,
    columns: Vec<Column>,
}

#[derive(PartialEq)]
struct Column {
    name: String,
    of_type: String,
    is_not_null: bool,
    key_position: i64,
    /// 0: a column of the table; else of a virtual table, or computed.
    hidden: i64,
}

/// `None` where nothing has that name.
fn shape(connection: &Connection, name: &str) -> rusqlite::Result<Option<Shape>> {
    let kind = "SELECT type FROM pragma_table_list(?1) WHERE schema = 'main'";
    let kind: Option<String> = connection.query_row(kind, [name], |row| row.get(0)).optional()?;
    let Some(kind) = kind else { return Ok(None) };
    if kind != TABLE {
        return Ok(Some(Shape { kind, columns: Vec::new() }));
    }
    let columns = "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1)";
    let mut statement = connection.prepare(columns)?;
    let columns = statement.query_map([name], |row| {
        Ok(Column {
            name: row.get(0)?,
            of_type: row.get(1)?,
            is_not_null: row.get(2)?,
            key_position: row.get(3)?,
            hidden: row.get(4)?,
        })
    })?;
    Ok(Some(Shape { kind, columns: columns.collect::<rusqlite::Result<_>>()? }))
}

/// Whether the names that dbdyno asks are its own tables. What a user has put beside them stays
/// his: it is never asked. `steps` make the tables of the version.
///
/// # Errors
/// [`StoreError::NotOurs`], which names what is something else.
pub(crate) fn check_tables(path: &Path, connection: &Connection, steps: &[&str]) -> Result<()> {
    let fail = |error| crate::error::explain_sqlite(path, error);
    let refused = |why: String| Err(StoreError::NotOurs(path.to_owned(), why));
    let model = Connection::open_in_memory().map_err(fail)?;
    steps.iter().try_for_each(|step| model.execute_batch(step)).map_err(fail)?;
    for name in tables_of(&model).map_err(fail)? {
        match shape(connection, &name).map_err(fail)? {
            None => return refused(format!("it has no table {name}")),
            Some(found) if found.kind != TABLE => {
                return refused(format!("{name:?} is a {} in it, not a table", found.kind));
            }
            Some(found) if Some(&found) != shape(&model, &name).map_err(fail)?.as_ref() => {
                return refused(format!("its table {name:?} has other columns"));
            }
            Some(_) => {}
        }
        let computed = "SELECT count(*) FROM pragma_index_list(?1) list, \
             pragma_index_xinfo(list.name) part WHERE part.cid = -2";
        let computed: i64 =
            connection.query_row(computed, [&name], |row| row.get(0)).map_err(fail)?;
        if computed > 0 {
            return refused(format!("an index of its table {name:?} computes what it holds"));
        }
    }
    Ok(())
}

/// Whether all runs are called as dbdyno calls them: ids are parts of names of files, and of
/// commands to copy.
///
/// # Errors
/// [`StoreError::NotOurs`], which shows one that is none.
pub(crate) fn check_ids(path: &Path, connection: &Connection) -> Result<()> {
    let strange = "SELECT id FROM run NOT INDEXED \
         WHERE length(id) <> ?1 OR id GLOB '*[^0-9a-f]*' LIMIT 1";
    let strange: Option<String> = connection
        .query_row(strange, [ID_LENGTH as i64], |row| row.get(0))
        .optional()
        .map_err(|error| crate::error::explain_sqlite(path, error))?;
    strange.map_or(Ok(()), |id| {
        let shown: String = id.chars().take(ID_SHOWN).collect();
        let what = format!("a run in it is called {shown:?}, which is no id");
        Err(StoreError::NotOurs(path.to_owned(), what))
    })
}

/// Hexadecimal digits of an id.
pub(crate) const ID_LENGTH: usize = 8;
/// Characters of what is no id that are shown.
const ID_SHOWN: usize = 40;

const TABLE: &str = "table";

fn tables_of(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// How much a question may still take; the rest is for files that lead in circles.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    /// Looks that are left.
    left: Arc<AtomicU64>,
    path: PathBuf,
}

impl Allowance {
    /// Counts the steps of a connection from here on.
    pub(crate) fn for_connection(
        path: &Path,
        connection: &mut Connection,
    ) -> rusqlite::Result<Allowance> {
        let allowance = Allowance { left: Arc::default(), path: path.to_owned() };
        allowance.renew_steps();
        let left = Arc::clone(&allowance.left);
        // Two threads never look at once, so that what is read and written is one number.
        let is_used_up = move || {
            let now = left.load(Ordering::Relaxed);
            left.store(now.saturating_sub(1), Ordering::Relaxed);
            now == 0
        };
        connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(is_used_up))?;
        Ok(allowance)
    }

    /// Begins anew, with the size that the file has now.
    pub(crate) fn renew_steps(&self) {
        let bytes = file_size(&self.path) + file_size(&path_with_suffix(&self.path, "-wal"));
        let steps = STEPS_LEAST + STEPS_PER_BYTE * bytes;
        self.left.store(steps / STEPS_BETWEEN_LOOKS as u64, Ordering::Relaxed);
    }
}

fn file_size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |about| about.len())
}
