//! A load made ready for one server: all statements spelled out, events as a pure function.

use dbdyno_model::Dialect;
use dbdyno_model::random::{self, Stream};

use crate::dataset::Dataset;
use crate::draw::Sampler;
use crate::load::{Channel, Expect, Mix, TableDraw, Transaction};
use crate::template::{Generator, Template, TemplateError};
use crate::text;

/// How a statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Prepared once for each connection, executed with parameters in binary form.
    Prepared,
    /// As text, with its parameters written into it.
    Text,
    /// Begins or ends a transaction; without parameters.
    Control,
}

/// A statement as the server gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// SQL with the placeholders of the dialect.
    pub sql: String,
    /// The same SQL cut at its placeholders, for a statement that is sent as text; else empty.
    pub pieces: Vec<String>,
    /// How it is sent.
    pub kind: StatementKind,
}

impl Statement {
    /// A statement that is prepared.
    pub fn prepared(sql: impl Into<String>) -> Statement {
        Statement { sql: sql.into(), pieces: Vec::new(), kind: StatementKind::Prepared }
    }

    /// A statement without parameters that begins or ends a transaction.
    pub fn control(sql: impl Into<String>) -> Statement {
        Statement { sql: sql.into(), pieces: Vec::new(), kind: StatementKind::Control }
    }
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
    /// Index into [`Program::classes`].
    pub class: u32,
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

    /// Writes a call as text: the pieces of its statement with its parameters between them.
    /// Generators make digits and dashes only, so that quoting needs no escapes.
    pub fn write_sql(&self, call: &Call, statement: &Statement, sql: &mut String) {
        sql.clear();
        let (first, rest) = statement.pieces.split_first().expect("a text statement has pieces");
        sql.push_str(first);
        let values = self.values(call);
        assert_eq!(values.len(), rest.len(), "a parameter without its place");
        for (value, piece) in values.iter().zip(rest) {
            match *value {
                Value::Int(number) => text::push_integer(sql, number),
                Value::Text { start, length } => {
                    sql.push('\'');
                    sql.extend(self.text(start, length).iter().map(|&byte| char::from(byte)));
                    sql.push('\'');
                }
            }
            sql.push_str(piece);
        }
    }
}

#[derive(Clone, Debug)]
struct CompiledStep {
    asks: Vec<CompiledAsk>,
    repeat: u32,
    table: TableDraw,
}

#[derive(Clone, Debug)]
struct CompiledAsk {
    /// Index of its statement on the first table; that on table `t` is `t` further.
    first_statement: u32,
    class: u32,
    generators: Vec<Generator>,
    expect: Expect,
}

/// BEGIN and COMMIT.
#[derive(Clone, Copy, Debug)]
struct Frame {
    begin: Call,
    commit: Call,
}

/// A mix made ready.
#[derive(Clone, Debug)]
pub struct Program {
    statements: Vec<Statement>,
    classes: Vec<String>,
    steps: Vec<CompiledStep>,
    weights: Vec<u32>,
    frame: Option<Frame>,
    tables: u32,
    rows: u64,
    seed: u64,
    ids: Sampler,
    load_key: u64,
}

impl Program {
    /// Makes a mix ready for a dialect and its tables. `key` names the load: loads of equal keys
    /// ask the same questions.
    ///
    /// # Errors
    /// A template of the load that does not parse.
    pub fn compile(
        mix: &Mix,
        key: &str,
        dialect: Dialect,
        dataset: &dyn Dataset,
    ) -> Result<Program, TemplateError> {
        let names = dataset.drawn_tables();
        let mut program = Program {
            statements: Vec::new(),
            classes: Vec::new(),
            steps: Vec::new(),
            weights: mix.weights.clone(),
            frame: None,
            tables: names.len() as u32,
            rows: dataset.rows(),
            seed: dataset.seed(),
            ids: mix.draw.over(dataset.rows()),
            load_key: random::key_of(key),
        };
        for step in &mix.steps {
            let mut asks = Vec::new();
            for ask in &step.asks {
                let template = Template::parse(ask.sql.of(dialect))?;
                let first_statement = program.statements.len() as u32;
                for name in &names {
                    program.statements.push(statement(&template, ask.channel, dialect, name));
                }
                let class = program.class(&ask.class);
                let generators = template.generators().collect();
                asks.push(CompiledAsk { first_statement, class, generators, expect: ask.expect });
            }
            program.steps.push(CompiledStep { asks, repeat: step.repeat, table: step.table });
        }
        if mix.transaction == Transaction::Explicit {
            let begin = program.control(begin_statement(dialect, mix), "begin");
            let commit = program.control("COMMIT", "commit");
            program.frame = Some(Frame { begin, commit });
        }
        Ok(program)
    }

    /// All statements that events can refer to.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The classes of statements, in the order of their first use.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    fn class(&mut self, name: &str) -> u32 {
        let known = self.classes.iter().position(|class| class == name);
        known.unwrap_or_else(|| {
            self.classes.push(name.to_owned());
            self.classes.len() - 1
        }) as u32
    }

    fn control(&mut self, sql: &str, class: &str) -> Call {
        let class = self.class(class);
        self.statements.push(Statement::control(sql));
        let statement = self.statements.len() as u32 - 1;
        Call { statement, class, first_value: 0, values: 0, expect: None }
    }

    /// Overwrites `event` with operation number `operation` of client `client`. The same numbers
    /// give the same event, always.
    pub fn fill(&self, client: u32, operation: u64, event: &mut Event) {
        let key = [self.seed, self.load_key, u64::from(client), operation];
        let mut random = random::stream(&key);
        event.calls.clear();
        event.values.clear();
        event.text.clear();
        if let Some(frame) = self.frame {
            event.calls.push(frame.begin);
        }
        for step in self.drawn_steps(&mut random) {
            let table = match step.table {
                TableDraw::Random => random.below(u64::from(self.tables)) as u32,
                TableDraw::OfClient => client % self.tables,
            };
            for _ in 0..step.repeat {
                let mut last = Last { id: 0, k: 0, sequence: sequence(client, operation) };
                for ask in &step.asks {
                    self.push_call(ask, table, &mut last, &mut random, event);
                }
            }
        }
        if let Some(frame) = self.frame {
            event.calls.push(frame.commit);
        }
    }

    /// All steps, or the one that the weights have drawn.
    fn drawn_steps(&self, random: &mut Stream) -> &[CompiledStep] {
        if self.weights.is_empty() {
            return &self.steps;
        }
        let sum: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let mut drawn = random.below(sum);
        for (index, &weight) in self.weights.iter().enumerate() {
            if drawn < u64::from(weight) {
                return &self.steps[index..=index];
            }
            drawn -= u64::from(weight);
        }
        unreachable!("the number drawn lies below the sum of the weights")
    }

    fn push_call(
        &self,
        ask: &CompiledAsk,
        table: u32,
        last: &mut Last,
        random: &mut Stream,
        event: &mut Event,
    ) {
        let first_value = event.values.len() as u32;
        for &generator in &ask.generators {
            let value = self.value(generator, last, random, &mut event.text);
            event.values.push(value);
        }
        event.calls.push(Call {
            statement: ask.first_statement + table,
            class: ask.class,
            first_value,
            values: ask.generators.len() as u32,
            expect: Some(ask.expect),
        });
    }

    #[inline]
    fn value(
        &self,
        generator: Generator,
        last: &mut Last,
        random: &mut Stream,
        buffer: &mut Vec<u8>,
    ) -> Value {
        let rows = self.rows;
        match generator {
            Generator::Id => {
                last.id = self.ids.draw(random) as i64;
                Value::Int(last.id)
            }
            Generator::LastIdPlus(distance) => Value::Int(last.id + distance),
            Generator::HotId(distance) => Value::Int((rows / 2) as i64 + distance),
            Generator::K => {
                last.k = 1 + random.below(rows) as i64;
                Value::Int(last.k)
            }
            Generator::LastKPlus(distance) => Value::Int(last.k + distance),
            Generator::C => {
                pushed(buffer, |buffer| text::push_groups(buffer, random, text::C_GROUPS))
            }
            Generator::Pad => {
                pushed(buffer, |buffer| text::push_groups(buffer, random, text::PAD_GROUPS))
            }
            Generator::Int(low, high) => {
                let span = high.abs_diff(low).saturating_add(1);
                Value::Int(low.wrapping_add(random.below(span) as i64))
            }
            Generator::Digits(count) => {
                pushed(buffer, |buffer| text::push_digits(buffer, random, count as usize))
            }
            Generator::Const(number) => Value::Int(number),
            Generator::Sequence => {
                last.sequence += 1;
                Value::Int(last.sequence)
            }
        }
    }
}

/// What generators of one round of asks refer back to.
struct Last {
    id: i64,
    k: i64,
    sequence: i64,
}

/// Operations of pairs start 2^32 apart, of which far fewer are used: 20 bits for the pair, 24 for
/// the operation within it, 10 for the client and 8 for the place within the event make 62.
fn sequence(client: u32, operation: u64) -> i64 {
    let pair = (operation >> 32) & 0xf_ffff;
    let within = operation & 0xff_ffff;
    ((((pair << 24) | within) << 10 | u64::from(client & 0x3ff)) << 8) as i64
}

fn statement(template: &Template, channel: Channel, dialect: Dialect, table: &str) -> Statement {
    let sql = template.sql(dialect, table);
    match channel {
        Channel::Prepared => Statement::prepared(sql),
        Channel::Text => {
            Statement { sql, pieces: template.pieces(table), kind: StatementKind::Text }
        }
    }
}

/// SQLite takes its write lock at BEGIN: a read transaction that turns into a writer is refused
/// when another one wrote in between, and would be asked again without end.
fn begin_statement(dialect: Dialect, mix: &Mix) -> &'static str {
    match dialect {
        Dialect::Sqlite if mix.writes() => "BEGIN IMMEDIATE",
        Dialect::Mysql | Dialect::Postgres | Dialect::Sqlite => "BEGIN",
    }
}

fn pushed(buffer: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) -> Value {
    let start = buffer.len() as u32;
    push(buffer);
    Value::Text { start, length: buffer.len() as u32 - start }
}
