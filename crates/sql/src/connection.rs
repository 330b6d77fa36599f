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
use dbdyno_engine::session::{self, EngineSession};
use dbdyno_model::design::Isolation;

use crate::column::{ColumnKind, ResultColumn};
use crate::define::execute_definition;
use crate::error::{Result, SqlError, TOLD_MOST};
use crate::expr::Params;
use crate::host::SessionHost;
use crate::operand::Operand;
use crate::parse::{
    self, Access, Assignment, Characteristics, Scope, Show, Snapshot, Statement, Time,
};
use crate::plan::{self, COLUMNS_MOST, Catalog, Table};
use crate::run::{self, ExecutionInput, Sink};
use crate::settings::{Autocommit, Settings};
use crate::show::{self, emit_rows};
use crate::variables::{Variables, parse_switch};
use crate::watch::StatementWatch;

/// A client.
pub struct SqlConnection {
    engine: Arc<Engine>,
    session: EngineSession,
    clock: fn() -> i64,
    /// By number; those that were forgotten leave room for others.
    prepared: Vec<Option<Box<KeptStatement>>>,
    settings: Settings,
    /// The server around it, if there is one.
    host: Option<Box<dyn SessionHost>>,
}

/// What a statement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementEffect {
    /// Rows told.
    pub rows: u64,
    /// Rows changed.
    pub affected: u64,
    /// Rows that a change was for, also those that were as it makes them.
    pub found: u64,
    /// The first of the numbers that a table gave to rows that were put in; where it gave none,
    /// the last that the rows brought.
    pub first_number: Option<i64>,
    /// What MySQL says of it in words.
    pub words: EffectWords,
}

/// What MySQL says in words of what a statement did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EffectWords {
    /// Nothing.
    #[default]
    None,
    /// How many rows were met, and how many of them changed.
    Matched,
    /// How many rows were put in.
    Records,
}

/// What is known of a prepared statement before it is executed.
#[derive(Clone, Debug)]
pub struct StatementDescription {
    /// How many parameters it takes.
    pub marks: usize,
    /// The columns of its answer; none for a statement that tells no rows.
    pub columns: Arc<[ResultColumn]>,
    /// Whether it is about transactions only: MySQL prepares no such statement but COMMIT.
    pub is_control: bool,
}

/// A statement that is executed again and again, and planned anew when tables have come or gone.
struct KeptStatement {
    sql: Box<str>,
    generation: u64,
    /// Of its answer, where it is planned for so many.
    rows_most: u64,
    prepared: PreparedStatement,
}

/// A statement that can be executed.
struct PreparedStatement {
    plan: Plan,
    columns: Arc<[ResultColumn]>,
    marks: usize,
    time: Time,
    variables: parse::Variables,
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

impl SqlConnection {
    /// A client of this engine. `clock` gives microseconds since 1970, for CURRENT_TIMESTAMP.
    pub fn new(engine: Arc<Engine>, clock: fn() -> i64) -> SqlConnection {
        SqlConnection::with_variables(engine, clock, Variables::new(Arc::default()))
    }

    /// A client whose session has variables.
    pub fn with_variables(
        engine: Arc<Engine>,
        clock: fn() -> i64,
        variables: Variables,
    ) -> SqlConnection {
        let session = engine.session();
        let settings = Settings::new(variables, engine.design().isolation);
        SqlConnection { engine, session, clock, prepared: Vec::new(), settings, host: None }
    }

    /// Tells it of the server around it, which may end its statements.
    pub fn set_host(&mut self, host: Box<dyn SessionHost>) {
        self.host = Some(host);
    }

    /// Shows to other threads whether this client waits for a lock.
    pub fn wait_watch(&self) -> session::WaitWatch {
        self.session.wait_watch()
    }

    /// The variables of its session.
    pub fn variables(&self) -> &Variables {
        &self.settings.variables
    }

    /// Whether statements are transactions of their own.
    pub fn autocommit(&self) -> Autocommit {
        self.settings.autocommit
    }

    /// Whether a transaction was begun and has not ended.
    pub fn is_in_transaction(&self) -> bool {
        self.session.is_open()
    }

    /// Makes it as it was at first: the transaction is rolled back, statements and variables are
    /// forgotten.
    pub fn reset(&mut self) {
        self.session.rollback();
        self.prepared.clear();
        let isolation = self.engine.design().isolation;
        self.session.set_isolation(isolation);
        self.settings.variables.reset();
        self.settings = Settings::new(self.settings.variables.clone(), isolation);
    }

    /// Reads and plans a statement; returns its number on this connection.
    ///
    /// # Errors
    /// A statement that is not known, or that names what is not there.
    pub fn prepare(&mut self, sql: &str) -> Result<usize> {
        let kept = Some(Box::new(self.keep(sql)?));
        if let Some(free) = self.prepared.iter().position(Option::is_none) {
            self.prepared[free] = kept;
            return Ok(free);
        }
        self.prepared.push(kept);
        Ok(self.prepared.len() - 1)
    }

    /// What is known of a prepared statement.
    ///
    /// # Panics
    /// If the statement was not prepared on this connection.
    pub fn describe_statement(&self, statement: usize) -> StatementDescription {
        let kept = self.prepared[statement].as_ref().expect(NOT_PREPARED);
        let PreparedStatement { plan, columns, marks, .. } = &kept.prepared;
        let is_control = matches!(
            plan,
            Plan::Plain(
                Statement::Begin(..)
                    | Statement::Rollback
                    | Statement::RollbackTo(_)
                    | Statement::Savepoint(_)
                    | Statement::Release(_)
                    | Statement::Use(_)
            )
        );
        StatementDescription { marks: *marks, columns: columns.clone(), is_control }
    }

    /// Forgets a prepared statement; its number may be given to another.
    ///
    /// # Panics
    /// If the statement was not prepared on this connection.
    pub fn forget_statement(&mut self, statement: usize) {
        self.prepared[statement].take().expect(NOT_PREPARED);
    }

    /// Executes a prepared statement.
    ///
    /// # Errors
    /// A wrong number of parameters, a value of the wrong kind, or the engine's refusal. Those of
    /// [`SqlConnection::prepare`] where tables have come or gone since.
    ///
    /// # Panics
    /// If the statement was not prepared on this connection.
    pub fn execute(
        &mut self,
        statement: usize,
        params: &dyn Params,
        sink: &mut dyn Sink,
    ) -> Result<StatementEffect> {
        let mut kept = self.prepared[statement].take().expect(NOT_PREPARED);
        let done = self.carry_out(&mut kept, params, sink);
        self.prepared[statement] = Some(kept);
        done
    }

    fn carry_out(
        &mut self,
        kept: &mut KeptStatement,
        params: &dyn Params,
        sink: &mut dyn Sink,
    ) -> Result<StatementEffect> {
        loop {
            self.renew(kept)?;
            let done = self.once(&kept.prepared, params, sink);
            let KeptStatement { generation, prepared, .. } = kept;
            let is_gone = matches!(done, Err(SqlError::Engine(EngineError::NoTable(_))));
            let is_of_today = *generation == self.engine.generation();
            // Else it waited for a table that has been replaced, and has done nothing.
            if !is_gone || is_of_today || !prepared.changes_rows() {
                return done;
            }
        }
    }

    /// Plans a statement again if what it was planned for may be another now.
    fn renew(&self, kept: &mut KeptStatement) -> Result<()> {
        if kept.generation != self.engine.generation()
            || kept.rows_most != self.settings.rows_most
            || kept.prepared.variables == parse::Variables::Asked
        {
            *kept = self.keep(&kept.sql)?;
        }
        Ok(())
    }

    /// Reads, plans and executes a statement without parameters.
    ///
    /// # Errors
    /// Those of [`SqlConnection::prepare`] and [`SqlConnection::execute`].
    pub fn run(&mut self, sql: &str, sink: &mut dyn Sink) -> Result<StatementEffect> {
        let mut kept = self.keep(sql)?;
        self.carry_out(&mut kept, &[], sink)
    }

    /// The one schema is to be used from now on, which it is anyway.
    ///
    /// # Errors
    /// It is not called so.
    pub fn use_database(&self, name: &str) -> Result<()> {
        match self.settings.variables.value_text("database()") {
            Some(known) if known == name => Ok(()),
            _ => Err(SqlError::NoDatabase(name.to_owned())),
        }
    }

    /// Puts many rows in as one transaction, with the table locked whole: `more` appends the next
    /// rows to the buffer, which it finds empty, and says whether it did. A line is a row, a tab
    /// stands between fields, `\\N` is NULL. Returns how many rows there were.
    ///
    /// # Errors
    /// No such table or column, a field that its column does not take, or the engine's refusal;
    /// none of the rows is there then.
    pub fn bulk_insert(
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
            let put =
                in_statement(&mut self.session, |s| run::insert_lines(s, &table, &from, &buffer));
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

    fn keep(&self, sql: &str) -> Result<KeptStatement> {
        // Before it is planned: what changes meanwhile is planned again.
        let generation = self.engine.generation();
        let rows_most = self.settings.rows_most;
        Ok(KeptStatement { sql: sql.into(), generation, rows_most, prepared: self.plan(sql)? })
    }

    fn plan(&self, sql: &str) -> Result<PreparedStatement> {
        let parse::ParsedStatement { statement, marks, time, variables, schemas } =
            parse::parse(sql)?;
        schemas.iter().try_for_each(|schema| self.use_database(schema))?;
        let catalog = &self.here();
        let mut columns = Arc::default();
        let mut marks = marks;
        let plan = match statement {
            Statement::Select(mut select) => {
                if let (None, Ok(most)) = (&select.limit, i64::try_from(self.settings.rows_most)) {
                    select.limit = Some(parse::Expr::Int(most));
                }
                let query = plan::plan_select(&select, catalog)?;
                columns = query.columns.clone();
                if columns.len() > TOLD_MOST {
                    return Err(SqlError::TooManyColumns(columns.len()));
                }
                Plan::Select(query)
            }
            Statement::Explain(select) => {
                let lines = plan::explain_query(&plan::plan_select(&select, catalog)?);
                // Whatever the marks stand for, the plan is the same.
                marks = 0;
                columns = Arc::new([ResultColumn::new("plan", ColumnKind::Any)]);
                Plan::Told(lines)
            }
            Statement::Insert(insert) => Plan::Insert(plan::plan_insert(&insert, catalog)?),
            Statement::Update(update) => Plan::Update(plan::plan_update(&update, catalog)?),
            Statement::Delete(delete) => Plan::Delete(plan::plan_delete(&delete, catalog)?),
            other => {
                if let Statement::Show(show) = &other {
                    let schema = self.settings.variables.value_text("database()");
                    columns = show::columns(show, schema.unwrap_or("engine"));
                }
                Plan::Plain(other)
            }
        };
        Ok(PreparedStatement { plan, columns, marks, time, variables })
    }

    fn here(&self) -> Here<'_> {
        Here { engine: &self.engine, settings: &self.settings }
    }

    fn once(
        &mut self,
        prepared: &PreparedStatement,
        params: &dyn Params,
        sink: &mut dyn Sink,
    ) -> Result<StatementEffect> {
        if params.count() != prepared.marks {
            return Err(SqlError::Parameters(params.count(), prepared.marks));
        }
        let now = if prepared.time == Time::Asked { whole_seconds_us((self.clock)()) } else { 0 };
        self.enter_transaction(prepared)?;
        let host = self.host.take();
        let watch = StatementWatch::new(host.as_deref(), matches!(prepared.plan, Plan::Select(_)));
        let given = ExecutionInput { params, now, watch: &watch };
        let done = self.execute_plan(prepared, given, sink);
        self.host = host;
        if !self.session.is_open() {
            self.session.set_isolation(self.settings.isolation);
        }
        done
    }

    /// Begins the transaction of a statement where it begins one, takes over what was said of the
    /// next one, and sees whether it may write.
    fn enter_transaction(&mut self, prepared: &PreparedStatement) -> Result<()> {
        let is_of_rows = prepared.is_of_rows();
        let begins = self.settings.autocommit == Autocommit::Off && !self.session.is_open();
        if begins && (is_of_rows || prepared.is_savepoint()) {
            self.begin(None)?;
        }
        let Settings { access, access_of_open, next, .. } = &mut self.settings;
        let access = if prepared.is_definition() {
            // It ends the transaction before it.
            *access
        } else if self.session.is_open() {
            *access_of_open
        } else {
            next.access.unwrap_or(*access)
        };
        if access == Access::ReadOnly && (prepared.is_definition() || prepared.locks_to_write()) {
            return Err(SqlError::ReadOnlyTransaction);
        }
        if is_of_rows && !self.session.is_open() {
            let Characteristics { isolation, .. } = std::mem::take(next);
            isolation.into_iter().for_each(|level| self.session.set_isolation(level));
        }
        Ok(())
    }

    /// Begins a transaction, which may write as it is said, or as transactions may.
    fn begin(&mut self, access: Option<Access>) -> Result<()> {
        let Characteristics { isolation, access: next } = std::mem::take(&mut self.settings.next);
        self.session.begin(isolation)?;
        self.settings.access_of_open = access.or(next).unwrap_or(self.settings.access);
        Ok(())
    }

    fn execute_plan(
        &mut self,
        prepared: &PreparedStatement,
        given: ExecutionInput<'_>,
        sink: &mut dyn Sink,
    ) -> Result<StatementEffect> {
        let session = &mut self.session;
        let affected = match &prepared.plan {
            Plan::Select(query) => {
                sink.begin_rows(&query.columns);
                let rows = in_statement(session, |s| run::select(s, query, given, sink))?;
                return Ok(StatementEffect { rows, ..StatementEffect::default() });
            }
            Plan::Told(lines) => {
                let rows = lines.iter().map(|line| [line.clone()]);
                let rows = emit_rows(sink, &prepared.columns, rows);
                return Ok(StatementEffect { rows, ..StatementEffect::default() });
            }
            Plan::Insert(insert) => {
                let run::InsertResult { rows, first_number, own_number } =
                    in_statement(session, |s| run::insert(s, insert, given))?;
                if let Some(number) = first_number {
                    self.settings.last_number = number;
                }
                return Ok(StatementEffect {
                    rows: 0,
                    affected: rows,
                    found: rows,
                    first_number: first_number.or(own_number),
                    words: if rows > 1 { EffectWords::Records } else { EffectWords::None },
                });
            }
            Plan::Update(change) => {
                let run::UpdatedRows { changed, found } =
                    in_statement(session, |s| run::update(s, change, given))?;
                return Ok(StatementEffect {
                    affected: changed,
                    found,
                    words: EffectWords::Matched,
                    ..StatementEffect::default()
                });
            }
            Plan::Delete(change) => in_statement(session, |s| run::delete(s, change, given))?,
            Plan::Plain(Statement::Show(Show::Processes)) => {
                let processes = given.watch.host().map(SessionHost::list_processes);
                let rows = processes.unwrap_or_default();
                let rows = show::emit_processes(rows, &self.settings, &prepared.columns, sink);
                return Ok(StatementEffect { rows, ..StatementEffect::default() });
            }
            Plan::Plain(Statement::Kill(id, what)) => {
                if !given.watch.host().is_some_and(|host| host.kill(*id, *what)) {
                    return Err(SqlError::NoSession(*id));
                }
                0
            }
            Plan::Plain(Statement::Show(show)) => {
                let SqlConnection { engine, settings, .. } = self;
                let rows = show::execute_show(show, engine, settings, &prepared.columns, sink)?;
                return Ok(StatementEffect { rows, ..StatementEffect::default() });
            }
            Plan::Plain(statement) => {
                self.plain(statement)?;
                0
            }
        };
        Ok(StatementEffect { affected, found: affected, ..StatementEffect::default() })
    }

    /// What needs no plan and tells no rows.
    fn plain(&mut self, statement: &Statement) -> Result<()> {
        let SqlConnection { engine, session, .. } = self;
        match statement {
            Statement::Begin(snapshot, access) => {
                self.begin(*access)?;
                if *snapshot == Snapshot::AtOnce {
                    self.session.open_view();
                }
            }
            Statement::Commit => session.commit()?,
            Statement::Rollback => session.rollback(),
            Statement::Savepoint(name) => session.savepoint(name),
            Statement::RollbackTo(name) => session.rollback_to(name)?,
            Statement::Release(name) => session.release_savepoint(name)?,
            Statement::SetTransaction(scope, said) => self.set_transaction(*scope, *said)?,
            Statement::Set(all) => {
                for Assignment { scope, name, value } in all {
                    let value = run::evaluate(&plan::plan_value("a value", value, &self.here())?)?;
                    self.set(*scope, name, &value)?;
                }
            }
            Statement::Use(name) => self.use_database(name)?,
            Statement::Checkpoint => engine.checkpoint()?,
            Statement::Analyze(names) => {
                for name in names {
                    engine.table(name)?;
                }
            }
            _ => {
                // As MySQL does it: what defines tables ends the transaction before it.
                session.commit()?;
                execute_definition(engine, statement)?;
            }
        }
        Ok(())
    }

    fn set(&mut self, scope: Scope, name: &str, value: &Operand<'_>) -> Result<()> {
        let wrong = || SqlError::VariableValue(name.to_owned(), value.to_string());
        match name {
            "autocommit" => {
                let is_on = parse_switch(&value.to_string()).ok_or_else(wrong)?;
                if is_on && self.settings.autocommit == Autocommit::Off {
                    self.session.commit()?;
                }
                self.settings.autocommit = if is_on { Autocommit::On } else { Autocommit::Off };
            }
            "transaction_isolation" | "tx_isolation" => {
                let text = value.to_string();
                let mut levels = Isolation::ALL.iter();
                let level = levels.find(|level| level.name().eq_ignore_ascii_case(&text));
                let isolation = Some(*level.ok_or_else(wrong)?);
                let said = Characteristics { isolation, ..Characteristics::default() };
                self.set_transaction(scope, said)?;
            }
            "transaction_read_only" | "tx_read_only" => {
                let is_on = parse_switch(&value.to_string()).ok_or_else(wrong)?;
                let access = Some(if is_on { Access::ReadOnly } else { Access::ReadWrite });
                let said = Characteristics { access, ..Characteristics::default() };
                self.set_transaction(scope, said)?;
            }
            _ => {
                self.settings.variables.set(name, value)?;
                let most = self.settings.variables.value_text("sql_select_limit");
                let most = most.and_then(|text| text.parse().ok());
                self.settings.rows_most = most.unwrap_or(u64::MAX);
            }
        }
        Ok(())
    }

    fn set_transaction(&mut self, scope: Scope, said: Characteristics) -> Result<()> {
        let Settings { isolation, access, next, .. } = &mut self.settings;
        match scope {
            Scope::Next if self.session.is_open() => return Err(SqlError::TransactionOpen),
            Scope::Next => {
                next.isolation = said.isolation.or(next.isolation);
                next.access = said.access.or(next.access);
            }
            Scope::Session => {
                *isolation = said.isolation.unwrap_or(*isolation);
                *access = said.access.unwrap_or(*access);
                self.session.set_isolation(*isolation);
            }
        }
        Ok(())
    }
}

/// CURRENT_TIMESTAMP has whole seconds.
fn whole_seconds_us(us: i64) -> i64 {
    us - us.rem_euclid(1_000_000)
}

const NOT_PREPARED: &str = "a statement is executed on the connection that prepared it";

/// Where the names in a statement are looked up.
struct Here<'a> {
    engine: &'a Engine,
    settings: &'a Settings,
}

impl Catalog for Here<'_> {
    fn table(&self, name: &str) -> Result<Arc<Table>> {
        Catalog::table(self.engine, name)
    }

    fn session_variable(&self, name: &str) -> Result<Operand<'static>> {
        self.settings.value(name)
    }
}

impl Catalog for Engine {
    fn table(&self, name: &str) -> Result<Arc<Table>> {
        let table = Table::from_handle(Engine::table(self, name)?);
        let is_wide = table.indexes.iter().any(|index| index.columns.len() > COLUMNS_MOST);
        if is_wide {
            return Err(SqlError::Unknown(format!("keys of more than {COLUMNS_MOST} columns")));
        }
        Ok(Arc::new(table))
    }
}

impl PreparedStatement {
    fn changes_rows(&self) -> bool {
        matches!(self.plan, Plan::Insert(_) | Plan::Update(_) | Plan::Delete(_))
    }

    /// Whether it reads or changes rows of tables, in a transaction.
    fn is_of_rows(&self) -> bool {
        match &self.plan {
            Plan::Select(query) => !query.levels.is_empty() || !query.queries.is_empty(),
            _ => self.changes_rows(),
        }
    }

    fn is_savepoint(&self) -> bool {
        matches!(self.plan, Plan::Plain(Statement::Savepoint(_)))
    }

    /// Whether it makes, changes or takes away tables.
    fn is_definition(&self) -> bool {
        use Statement::{AddKeys, CreateTable, DropTable, Truncate};
        let Plan::Plain(statement) = &self.plan else { return false };
        matches!(statement, CreateTable(_) | AddKeys(_) | DropTable { .. } | Truncate(_))
    }

    /// Whether it changes rows, or locks them for a change.
    fn locks_to_write(&self) -> bool {
        let locks = matches!(&self.plan, Plan::Select(query) if query.lock == parse::Lock::Update);
        locks || self.changes_rows()
    }
}

/// Runs something as one statement of the engine, which knows its own errors only.
fn in_statement<T>(
    session: &mut EngineSession,
    run: impl FnOnce(&mut session::RunningStatement<'_>) -> Result<T>,
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
