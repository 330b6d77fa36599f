//! A load made ready for one server: all statements spelled out, events as a pure function.

use dbdyno_model::Dialect;
use dbdyno_model::random::{self, Stream};

use crate::catalog::{Expect, Load};
use crate::table::Tables;
use crate::template::{Generator, Template, TemplateError};
use crate::text;

/// How a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Prepared once for each connection, executed with parameters in binary form.
    Prepared,
    /// Begins or ends a transaction; without parameters.
    Control,
}

/// A statement as the server gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// SQL with the placeholders of the dialect.
    pub sql: String,
    /// How it is sent.
    pub kind: StatementKind,
}

/// One value of a parameter; text lies in the event's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// Characters `start..start + length` of the event's text.
    Text {
        /// First byte.
        start: u32,
        /// Number of bytes.
        length: u32,
    },
}

/// One execution within an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index into [`Program::statements`].
    pub statement: u32,
    /// First of its parameters in the event.
    pub first_value: u32,
    /// Number of its parameters.
    pub values: u32,
    /// What a right answer looks like; `None` for BEGIN and COMMIT.
    pub expect: Option<Expect>,
}

/// One turn of a load: a statement, or a transaction. Reused from turn to turn, so that making an
/// event allocates nothing once the buffers have grown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The executions in order.
    pub calls: Vec<Call>,
    values: Vec<Value>,
    text: Vec<u8>,
}

impl Event {
    /// The parameters of one of this event's calls.
    pub fn values(&self, call: &Call) -> &[Value] {
        &self.values[call.first_value as usize..(call.first_value + call.values) as usize]
    }

    /// The characters of a [`Value::Text`] of this event.
    pub fn text(&self, start: u32, length: u32) -> &[u8] {
        &self.text[start as usize..(start + length) as usize]
    }
}

#[derive(Clone, Debug)]
struct CompiledStep {
    /// For each ask: index of its statement on the first table; that on table `t` is `t` further.
    asks: Vec<CompiledAsk>,
    repeat: u32,
}

#[derive(Clone, Debug)]
struct CompiledAsk {
    first_statement: u32,
    generators: Vec<Generator>,
    expect: Expect,
}

/// A load made ready.
#[derive(Clone, Debug)]
pub struct Program {
    statements: Vec<Statement>,
    steps: Vec<CompiledStep>,
    /// Indexes of BEGIN and COMMIT.
    transaction: Option<(u32, u32)>,
    tables: Tables,
    load_key: u64,
}

impl Program {
    /// Makes `load` ready for a dialect and a set of tables.
    ///
    /// # Errors
    /// A template of the load that does not parse.
    pub fn compile(
        load: &Load,
        dialect: Dialect,
        tables: Tables,
    ) -> Result<Program, TemplateError> {
        let mut statements = Vec::new();
        let mut steps = Vec::new();
        for step in load.steps {
            let mut asks = Vec::new();
            for ask in step.asks {
                let template = Template::parse(ask.template)?;
                let first_statement = statements.len() as u32;
                statements.extend((0..tables.count).map(|index| Statement {
                    sql: template.sql(dialect, &Tables::name(index)),
                    kind: StatementKind::Prepared,
                }));
                let generators = template.generators();
                asks.push(CompiledAsk { first_statement, generators, expect: ask.expect });
            }
            steps.push(CompiledStep { asks, repeat: step.repeat });
        }
        let transaction = load.transaction.then(|| {
            let begin = statements.len() as u32;
            let control = |sql: &str| Statement { sql: sql.into(), kind: StatementKind::Control };
            statements.push(control(begin_statement(dialect, load.writes())));
            statements.push(control("COMMIT"));
            (begin, begin + 1)
        });
        Ok(Program { statements, steps, transaction, tables, load_key: random::key_of(load.name) })
    }

    /// All statements that events can refer to.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Overwrites `event` with operation number `operation` of client `client`. The same numbers
    /// give the same event, always.
    pub fn fill(&self, client: u32, operation: u64, event: &mut Event) {
        let key = [self.tables.seed, self.load_key, u64::from(client), operation];
        let mut random = random::stream(&key);
        event.calls.clear();
        event.values.clear();
        event.text.clear();
        if let Some((begin, _)) = self.transaction {
            event.calls.push(control_call(begin));
        }
        for step in &self.steps {
            let table = random.below(u64::from(self.tables.count)) as u32;
            for _ in 0..step.repeat {
                let mut last_id = 0;
                for ask in &step.asks {
                    self.push_call(ask, table, &mut last_id, &mut random, event);
                }
            }
        }
        if let Some((_, commit)) = self.transaction {
            event.calls.push(control_call(commit));
        }
    }

    fn push_call(
        &self,
        ask: &CompiledAsk,
        table: u32,
        last_id: &mut i64,
        random: &mut Stream,
        event: &mut Event,
    ) {
        let first_value = event.values.len() as u32;
        for generator in &ask.generators {
            let value = match *generator {
                Generator::Id => {
                    *last_id = 1 + random.below(self.tables.rows) as i64;
                    Value::Int(*last_id)
                }
                Generator::LastIdPlus(distance) => Value::Int(*last_id + distance),
                Generator::K => Value::Int(1 + random.below(self.tables.rows) as i64),
                Generator::C => push_text(&mut event.text, random, text::C_GROUPS),
                Generator::Pad => push_text(&mut event.text, random, text::PAD_GROUPS),
            };
            event.values.push(value);
        }
        event.calls.push(Call {
            statement: ask.first_statement + table,
            first_value,
            values: ask.generators.len() as u32,
            expect: Some(ask.expect),
        });
    }
}

/// SQLite takes its write lock at BEGIN: a read transaction that turns into a writer is refused
/// when another one wrote in between, and would be asked again without end.
fn begin_statement(dialect: Dialect, writes: bool) -> &'static str {
    match dialect {
        Dialect::Sqlite if writes => "BEGIN IMMEDIATE",
        Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite => "BEGIN",
    }
}

fn control_call(statement: u32) -> Call {
    Call { statement, first_value: 0, values: 0, expect: None }
}

fn push_text(buffer: &mut Vec<u8>, random: &mut Stream, groups: usize) -> Value {
    let start = buffer.len() as u32;
    text::push_groups(buffer, random, groups);
    Value::Text { start, length: buffer.len() as u32 - start }
}
