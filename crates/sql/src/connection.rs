//! One client of the engine, in SQL.
//!
//! ```text
//!   prepare   text ─► statement ─► plan                execute   plan + parameters ─► rows
//!   run       all of it at once
//! ```
//!
//! A statement is read and planned once; its plan holds the tables as they were then. When tables
//! or indexes have come or gone since, it is planned again.

use std::sync::Arc;

use dbdyno_engine::Engine;
use dbdyno_engine::EngineError;
use dbdyno_engine::row::Column;
use dbdyno_engine::session::{self, Session};
use dbdyno_engine::table::{IndexSpec, TableSpec, Uniqueness};
use dbdyno_engine::value::Value;

use crate::error::{Result, SqlError};
use crate::expr::Params;
use crate::operand::Operand;
use crate::parse::{self, ColumnDefinition, CreateTable, IndexDefinition, Statement, Time};
use crate::plan::{self, COLUMNS_MOST, Catalog, Table};
use crate::run::{self, Given, Sink};

/// A client.
pub struct Connection {
    engine: Arc<Engine>,
    session: Session,
    clock: fn() -> i64,
    prepared: Vec<Kept>,
}

/// What a statement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Rows told.
    pub rows: u64,
    /// Rows changed.
    pub affected: u64,
}

/// A statement that is executed again and again, and planned anew when tables have come or gone.
struct Kept {
    sql: Box<str>,
    generation: u64,
    prepared: Prepared,
}

/// A statement that can be executed.
struct Prepared {
    plan: Plan,
    marks: usize,
    time: Time,
}

enum Plan {
    Select(plan::Query),
    Insert(plan::Insert),
    Update(plan::Change),
    Delete(plan::Change),
    /// Lines of text.
    Told(Vec<String>),
    /// Not planned: what it says is done.
    Plain(Statement),
}

impl Connection {
    /// A client of this engine. `clock` gives microseconds since 1970, for CURRENT_TIMESTAMP.
    pub fn new(engine: Arc<Engine>, clock: fn() -> i64) -> Connection {
        let session = engine.session();
        Connection { engine, session, clock, prepared: Vec::new() }
    }

    /// Shows to other threads whether this client waits for a lock.
    pub fn watch(&self) -> session::Watch {
        self.session.watch()
    }

    /// Reads and plans a statement; returns its number on this connection, from 0.
    ///
    /// # Errors
    /// A statement that is not known, or that names what is not there.
    pub fn prepare(&mut self, sql: &str) -> Result<usize> {
        let kept = self.keep(sql)?;
        self.prepared.push(kept);
        Ok(self.prepared.len() - 1)
    }

    /// Executes a prepared statement.
    ///
    /// # Errors
    /// A wrong number of parameters, a value of the wrong kind, or the engine's refusal. Those of
    /// [`Connection::prepare`] where tables have come or gone since.
    ///
    /// # Panics
    /// If the statement was not prepared on this connection.
    pub fn execute(
        &mut self,
        statement: usize,
        params: &dyn Params,
        sink: &mut dyn Sink,
    ) -> Result<Done> {
        loop {
            self.renew(statement)?;
            let done = self.once(statement, params, sink);
            let Kept { generation, prepared, .. } = &self.prepared[statement];
            let is_gone = matches!(done, Err(SqlError::Engine(EngineError::NoTable(_))));
            let is_of_today = *generation == self.engine.generation();
            // Else it waited for a table that has been replaced, and has done nothing.
            if !is_gone || is_of_today || !prepared.changes_rows() {
                return done;
            }
        }
    }

    fn once(&mut self, statement: usize, params: &dyn Params, sink: &mut dyn Sink) -> Result<Done> {
        let Connection { engine, session, clock, prepared } = self;
        prepared[statement].prepared.execute(engine, session, *clock, params, sink)
    }

    /// Plans a statement again if tables or indexes have come or gone since it was planned.
    fn renew(&mut self, statement: usize) -> Result<()> {
        if self.prepared[statement].generation != self.engine.generation() {
            self.prepared[statement] = self.keep(&self.prepared[statement].sql)?;
        }
        Ok(())
    }

    /// Reads, plans and executes a statement without parameters.
    ///
    /// # Errors
    /// Those of [`Connection::prepare`] and [`Connection::execute`].
    pub fn run(&mut self, sql: &str, sink: &mut dyn Sink) -> Result<Done> {
        let statement = self.prepare(sql)?;
        let done = self.execute(statement, &[], sink);
        self.prepared.pop();
        done
    }

    /// Puts many rows in as one transaction, with the table locked whole: `more` appends the next
    /// rows to the buffer, which it finds empty, and says whether it did. A line is a row, a tab
    /// stands between fields, `\\N` is NULL. Returns how many rows there were.
    ///
    /// # Errors
    /// No such table or column, a field that its column does not take, or the engine's refusal;
    /// none of the rows is there then.
    pub fn bulk(
        &mut self,
        table: &str,
        columns: &[String],
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64> {
        let table = Catalog::table(&*self.engine, table)?;
        let from = plan::columns_of(&table, columns)?;
        self.session.begin(None)?;
        let mut rows = 0;
        let mut buffer = Vec::new();
        let done = loop {
            if !more(&mut buffer) {
                break self.session.commit().map_err(SqlError::from);
            }
            let put = in_statement(&mut self.session, |s| run::bulk(s, &table, &from, &buffer));
            match put {
                Ok(put) => rows += put,
                Err(error) => break Err(error),
            }
            buffer.clear();
        };
        if done.is_err() {
            self.session.rollback();
        }
        done.map(|()| rows)
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    fn keep(&self, sql: &str) -> Result<Kept> {
        // Before it is planned: what changes meanwhile is planned again.
        let generation = self.engine.generation();
        Ok(Kept { sql: sql.into(), generation, prepared: self.plan(sql)? })
    }

    fn plan(&self, sql: &str) -> Result<Prepared> {
        let parse::Parsed { statement, marks, time } = parse::parse(sql)?;
        let catalog = &*self.engine;
        let plan = match statement {
            Statement::Select(select) => Plan::Select(plan::plan_select(&select, catalog)?),
            Statement::Explain(select) => {
                let lines = plan::explain(&plan::plan_select(&select, catalog)?);
                // Whatever the marks stand for, the plan is the same.
                return Ok(Prepared { plan: Plan::Told(lines), marks: 0, time });
            }
            Statement::Insert(insert) => Plan::Insert(plan::plan_insert(&insert, catalog)?),
            Statement::Update(update) => Plan::Update(plan::plan_update(&update, catalog)?),
            Statement::Delete(delete) => Plan::Delete(plan::plan_delete(&delete, catalog)?),
            other => Plan::Plain(other),
        };
        Ok(Prepared { plan, marks, time })
    }
}

impl Catalog for Engine {
    fn table(&self, name: &str) -> Result<Arc<Table>> {
        let table = Table::of(Engine::table(self, name)?);
        let is_wide = table.indexes.iter().any(|index| index.columns.len() > COLUMNS_MOST);
        if is_wide {
            return Err(SqlError::Unknown(format!("keys of more than {COLUMNS_MOST} columns")));
        }
        Ok(Arc::new(table))
    }
}

impl Prepared {
    fn changes_rows(&self) -> bool {
        matches!(self.plan, Plan::Insert(_) | Plan::Update(_) | Plan::Delete(_))
    }

    fn execute(
        &self,
        engine: &Engine,
        session: &mut Session,
        clock: fn() -> i64,
        params: &dyn Params,
        sink: &mut dyn Sink,
    ) -> Result<Done> {
        if params.count() != self.marks {
            return Err(SqlError::Parameters(params.count(), self.marks));
        }
        // CURRENT_TIMESTAMP has whole seconds.
        let seconds = |us: i64| us - us.rem_euclid(1_000_000);
        let now = if self.time == Time::Asked { seconds(clock()) } else { 0 };
        let given = Given { params, now };
        let affected = match &self.plan {
            Plan::Select(query) => {
                sink.begin(&query.names);
                let rows = in_statement(session, |s| run::select(s, query, given, sink))?;
                return Ok(Done { rows, affected: 0 });
            }
            Plan::Told(lines) => {
                let rows = lines.iter().map(|line| [text(line)]);
                return Ok(told(sink, ["plan"], rows));
            }
            Plan::Insert(insert) => in_statement(session, |s| run::insert(s, insert, given))?,
            Plan::Update(change) => in_statement(session, |s| run::update(s, change, given))?,
            Plan::Delete(change) => in_statement(session, |s| run::delete(s, change, given))?,
            Plan::Plain(statement) => return plain(engine, session, statement, sink),
        };
        Ok(Done { rows: 0, affected })
    }
}

/// Runs something as one statement of the engine, which knows its own errors only.
fn in_statement<T>(
    session: &mut Session,
    run: impl FnOnce(&mut session::Statement<'_>) -> Result<T>,
) -> Result<T> {
    let mut failed = None;
    let done = session.statement(|statement| {
        run(statement).map_err(|error| match error {
            SqlError::Engine(error) => error,
            other => {
                let refused = EngineError::BadValue("the statement".to_owned(), other.to_string());
                failed = Some(other);
                refused
            }
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(done?),
    }
}

/// What needs no plan.
fn plain(
    engine: &Engine,
    session: &mut Session,
    statement: &Statement,
    sink: &mut dyn Sink,
) -> Result<Done> {
    match statement {
        Statement::Begin => session.begin(None)?,
        Statement::Commit => session.commit()?,
        Statement::Rollback => session.rollback(),
        Statement::Savepoint(name) => session.savepoint(name),
        Statement::RollbackTo(name) => session.rollback_to(name)?,
        Statement::Release(name) => session.release_savepoint(name)?,
        Statement::SetIsolation(isolation) => session.set_isolation(*isolation),
        Statement::ShowVariables => {
            let fields = engine.design().fields();
            let rows = fields.iter().map(|(name, value)| [text(name), text(value)]);
            return Ok(told(sink, SHOWN, rows));
        }
        Statement::ShowStatus => {
            let counts = engine.counts();
            let unpurged = ("unpurged_transactions", engine.unpurged() as u64);
            let rows = counts.all().chain([unpurged]);
            let rows = rows.map(|(name, count)| [text(name), Operand::Decimal(count.into(), 0)]);
            return Ok(told(sink, SHOWN, rows));
        }
        Statement::Checkpoint => engine.checkpoint()?,
        Statement::Analyze(names) => {
            for name in names {
                engine.table(name)?;
            }
        }
        _ => {
            // As MySQL does it: what defines tables ends the transaction before it.
            session.commit()?;
            define(engine, statement)?;
        }
    }
    Ok(Done::default())
}

const SHOWN: [&str; 2] = ["Variable_name", "Value"];

fn text(text: &str) -> Operand<'_> {
    Operand::text(text.as_bytes())
}

fn told<'r, const N: usize>(
    sink: &mut dyn Sink,
    columns: [&str; N],
    rows: impl Iterator<Item = [Operand<'r>; N]>,
) -> Done {
    sink.begin(&columns.map(str::to_owned));
    let mut count = 0;
    for row in rows {
        row.iter().for_each(|value| sink.value(value));
        sink.end_row();
        count += 1;
    }
    Done { rows: count, affected: 0 }
}

/// Makes and takes away tables and indexes.
fn define(engine: &Engine, statement: &Statement) -> Result<()> {
    match statement {
        Statement::CreateTable(create) => {
            engine.create_table(spec_of(create)?)?;
        }
        Statement::AddIndexes(name, indexes) => {
            let table = engine.table(name)?;
            for index in indexes {
                engine.create_index(name, index_of(index, name, table.columns())?)?;
            }
        }
        Statement::DropTable { name, if_there } => match engine.drop_table(name) {
            Err(EngineError::NoTable(_)) if *if_there => {}
            done => done?,
        },
        Statement::Truncate(name) => engine.truncate_table(name)?,
        _ => unreachable!("statements that define nothing are done elsewhere"),
    }
    Ok(())
}

fn spec_of(create: &CreateTable) -> Result<TableSpec> {
    let columns = create.columns.iter().map(column_of).collect::<Result<Vec<_>>>()?;
    let primary = places(&create.primary, &create.name, &columns)?;
    let indexes = create.indexes.iter().map(|index| index_of(index, &create.name, &columns));
    Ok(TableSpec {
        name: create.name.clone(),
        primary,
        auto_increment: create.columns.iter().position(|column| column.counts_up),
        indexes: indexes.collect::<Result<_>>()?,
        columns,
    })
}

fn column_of(column: &ColumnDefinition) -> Result<Column> {
    let (name, kind, nullable) = (column.name.clone(), column.kind, column.nullable);
    let default = match &column.default {
        Some(default) => run::constant(default, kind, &name)?,
        None => Value::Null,
    };
    Ok(Column { name, kind, nullable, default })
}

fn index_of(index: &IndexDefinition, table: &str, columns: &[Column]) -> Result<IndexSpec> {
    Ok(IndexSpec {
        name: index.name.clone(),
        columns: places(&index.columns, table, columns)?,
        uniqueness: if index.unique { Uniqueness::Unique } else { Uniqueness::Repeated },
    })
}

fn places(names: &[String], table: &str, columns: &[Column]) -> Result<Vec<usize>> {
    let place = |name: &String| {
        let found = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::Name(format!("{table} has no column {name}")))
    };
    names.iter().map(place).collect()
}
