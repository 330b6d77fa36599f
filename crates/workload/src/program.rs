//! A load made ready for one server: all statements spelled out, events as a pure function.

use dbdyno_model::Dialect;
use dbdyno_model::random::{self, Prefix, RandomStream};

use crate::dataset::Dataset;
use crate::filing::Filing;
use crate::generate::{Bits, KEPT_MOST, Memory, Scope};
use crate::generator::{Generator, GeneratorName};
use crate::load::{Channel, Choice, Expect, Mix, TableDraw, TransactionMode};
use crate::statement::{CallValue, Statement, StatementKind};
use crate::template::{Template, TemplateError};
use crate::text;

/// One execution within an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index into [`Program::statements`].
    pub statement: u32,
    /// Index into [`Program::statement_classes`].
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
    /// Its kind, as [`Filing`] counts them.
    pub kind: u32,
    values: Vec<CallValue>,
    text: Vec<u8>,
    memory: Memory,
}

impl Event {
    /// The parameters of one of this event's calls.
    pub fn values(&self, call: &Call) -> &[CallValue] {
        &self.values[call.first_value as usize..(call.first_value + call.values) as usize]
    }

    /// The characters of a [`CallValue::Text`] of this event.
    pub fn text_slice(&self, start: u32, length: u32) -> &[u8] {
        &self.text[start as usize..(start + length) as usize]
    }

    /// Writes a call as text: the pieces of its statement with its parameters between them.
    /// Generators make no backslashes, so that a quote doubled is all that quoting needs.
    pub fn write_sql(&self, call: &Call, statement: &Statement, sql: &mut String) {
        sql.clear();
        let (first, rest) = statement.pieces.split_first().expect("a text statement has pieces");
        sql.push_str(first);
        let values = self.values(call);
        assert_eq!(values.len(), rest.len(), "a parameter without its place");
        for (value, piece) in values.iter().zip(rest) {
            self.write_value(value, sql);
            sql.push_str(piece);
        }
    }

    /// The parameters of a call as they stand in a text.
    pub fn literals(&self, call: &Call) -> Vec<String> {
        self.values(call)
            .iter()
            .map(|value| {
                let mut text = String::new();
                self.write_value(value, &mut text);
                text
            })
            .collect()
    }

    fn write_value(&self, value: &CallValue, sql: &mut String) {
        match *value {
            CallValue::Null => sql.push_str("NULL"),
            CallValue::Int(number) => text::push_integer(sql, number),
            CallValue::Text { start, length } => {
                text::push_quoted(sql, self.text_slice(start, length))
            }
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
    generators: Vec<Generator<usize>>,
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
struct Turn {
    steps: Vec<CompiledStep>,
    weights: Vec<u32>,
    frame: Option<Frame>,
    scope: Scope,
    /// By step with weights, else one for all: the kind of such an event.
    kinds: Vec<u32>,
    /// Names under which events of this turn keep values.
    kept: usize,
}

/// A mix or a choice of several made ready.
#[derive(Clone, Debug)]
pub struct Program {
    statements: Vec<Statement>,
    classes: Vec<String>,
    turns: Vec<Turn>,
    /// The weight of each turn; empty where there is one only.
    shares: Vec<u32>,
    filing: Filing,
    tables: u32,
    /// With what the keys of all events begin: the seed and the load.
    prefix: Prefix,
}

impl Program {
    /// Makes a mix ready for a dialect and its tables. `key` names the load: loads of equal keys
    /// ask the same questions.
    ///
    /// # Errors
    /// A template of the load that does not parse, or that names a table which is not there.
    pub fn compile(
        mix: &Mix,
        key: &str,
        dialect: Dialect,
        dataset: &dyn Dataset,
    ) -> Result<Program, TemplateError> {
        let mut program = Program::empty(key, dataset);
        program.add(mix, dialect, dataset)?;
        program.file();
        Ok(program)
    }

    /// The same for several mixes, of which each event is one.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn compile_choice(
        choice: &Choice,
        key: &str,
        dialect: Dialect,
        dataset: &dyn Dataset,
    ) -> Result<Program, TemplateError> {
        let mut program = Program::empty(key, dataset);
        for (weight, mix) in &choice.mixes {
            program.add(mix, dialect, dataset)?;
            program.shares.push(*weight);
        }
        program.file();
        Ok(program)
    }

    fn empty(key: &str, dataset: &dyn Dataset) -> Program {
        Program {
            statements: Vec::new(),
            classes: Vec::new(),
            turns: Vec::new(),
            shares: Vec::new(),
            filing: Filing::Whole,
            tables: dataset.drawn_tables().len() as u32,
            prefix: Prefix::from_parts(&[dataset.seed(), random::key_of(key)]),
        }
    }

    fn add(
        &mut self,
        mix: &Mix,
        dialect: Dialect,
        dataset: &dyn Dataset,
    ) -> Result<(), TemplateError> {
        let names = dataset.drawn_tables();
        let mut binder = Binder {
            mix,
            dataset,
            scope: scope(mix, dialect, dataset),
            tables: Vec::new(),
            kept: Vec::new(),
        };
        let mut steps = Vec::new();
        for step in &mix.steps {
            let mut asks = Vec::new();
            for ask in &step.asks {
                let template = Template::statement(ask.sql.for_dialect(dialect))?;
                let first_statement = self.statements.len() as u32;
                for name in &names {
                    self.statements.push(statement(&template, ask.channel, dialect, name));
                }
                let class = self.class(&ask.class);
                let generators =
                    template.parameter_generators().map(|generator| binder.bind(generator));
                let generators = generators.collect::<Result<_, _>>()?;
                asks.push(CompiledAsk { first_statement, class, generators, expect: ask.expect });
            }
            steps.push(CompiledStep { asks, repeat: step.repeat, table: step.table });
        }
        let (scope, kept) = (binder.scope, binder.kept.len());
        let frame = (mix.transaction == TransactionMode::Explicit).then(|| Frame {
            begin: self.control(begin_statement(dialect, mix), "begin"),
            commit: self.control("COMMIT", "commit"),
        });
        let (weights, kinds) = (mix.weights.clone(), Vec::new());
        self.turns.push(Turn { steps, weights, frame, scope, kinds, kept });
        Ok(())
    }

    /// Finds the kinds of events, and what is filed under which class.
    fn file(&mut self) {
        let all: Vec<Vec<KindOfEvent>> =
            self.turns.iter().map(|turn| turn.events(self.classes.len())).collect();
        let mut known = Vec::new();
        let mut single = |kind: &KindOfEvent| {
            let class = kind.single_class?;
            let place = known.iter().position(|known| *known == class);
            Some(place.unwrap_or_else(|| {
                known.push(class);
                known.len() - 1
            }) as u32)
        };
        let by_class: Option<Vec<Vec<u32>>> =
            all.iter().map(|kinds| kinds.iter().map(&mut single).collect()).collect();
        if let Some(by_class) = by_class {
            for (turn, kinds) in self.turns.iter_mut().zip(by_class) {
                turn.kinds = kinds;
            }
            self.filing = Filing::of_events(
                known.into_iter().map(|class| self.classes[class as usize].clone()).collect(),
            );
            return;
        }
        let mut number = 0..;
        for (turn, kinds) in self.turns.iter_mut().zip(&all) {
            turn.kinds = number.by_ref().take(kinds.len()).collect();
        }
        let per_event = all.into_iter().flatten().map(|kind| kind.statements).collect();
        self.filing = Filing::Statements { classes: self.classes.clone(), per_event };
    }

    /// All statements that events can refer to.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The classes of statements, in the order of their first use.
    pub fn statement_classes(&self) -> &[String] {
        &self.classes
    }

    /// What series and latencies are filed under.
    pub fn filing(&self) -> &Filing {
        &self.filing
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
        self.statements.push(Statement::new_control(sql));
        let statement = self.statements.len() as u32 - 1;
        Call { statement, class, first_value: 0, values: 0, expect: None }
    }

    /// Overwrites `event` with operation number `operation` of client `client`. The same numbers
    /// give the same event, always.
    pub fn fill_event(&self, client: u32, operation: u64, event: &mut Event) {
        let mut random = self.prefix.stream(&[u64::from(client), operation]);
        event.calls.clear();
        event.values.clear();
        event.text.clear();
        let turn = if self.shares.is_empty() {
            &self.turns[0]
        } else {
            &self.turns[drawn(&self.shares, &mut random)]
        };
        if let Some(frame) = turn.frame {
            event.calls.push(frame.begin);
        }
        let (steps, kind) = if turn.weights.is_empty() {
            (&turn.steps[..], 0)
        } else {
            let step = drawn(&turn.weights, &mut random);
            (std::slice::from_ref(&turn.steps[step]), step)
        };
        event.kind = turn.kinds[kind];
        event.memory.begin_operation(client, operation, turn.kept);
        for step in steps {
            let table = match step.table {
                TableDraw::Random => random.next_below(u64::from(self.tables)) as u32,
                TableDraw::OfClient => client % self.tables,
            };
            for _ in 0..step.repeat {
                event.memory.forget_row();
                for ask in &step.asks {
                    turn.push_call(ask, table, &mut random, event);
                }
            }
        }
        if let Some(frame) = turn.frame {
            event.calls.push(frame.commit);
        }
    }
}

/// One way in which an event of a turn can come out.
struct KindOfEvent {
    /// By class.
    statements: Vec<u64>,
    /// The class of all of its statements but BEGIN and COMMIT.
    single_class: Option<u32>,
}

impl Turn {
    fn events(&self, classes: usize) -> Vec<KindOfEvent> {
        if self.weights.is_empty() {
            return vec![self.event(&self.steps, classes)];
        }
        self.steps.chunks(1).map(|step| self.event(step, classes)).collect()
    }

    fn event(&self, steps: &[CompiledStep], classes: usize) -> KindOfEvent {
        let mut statements = vec![0; classes];
        for step in steps {
            for ask in &step.asks {
                statements[ask.class as usize] += u64::from(step.repeat);
            }
        }
        let mut present = (0..).zip(&statements).filter(|(_, count)| **count > 0);
        let single_class = match (present.next(), present.next()) {
            (Some((class, _)), None) => Some(class),
            _ => None,
        };
        if let Some(frame) = self.frame {
            statements[frame.begin.class as usize] += 1;
            statements[frame.commit.class as usize] += 1;
        }
        KindOfEvent { statements, single_class }
    }

    fn push_call(
        &self,
        ask: &CompiledAsk,
        table: u32,
        random: &mut RandomStream,
        event: &mut Event,
    ) {
        let first_value = event.values.len() as u32;
        for generator in &ask.generators {
            let value = self.scope.value(generator, &mut event.memory, random, &mut event.text);
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
}

/// An index, in proportion to its weight.
fn drawn(weights: &[u32], random: &mut RandomStream) -> usize {
    let sum: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
    let mut drawn = random.next_below(sum);
    for (index, &weight) in weights.iter().enumerate() {
        if drawn < u64::from(weight) {
            return index;
        }
        drawn -= u64::from(weight);
    }
    unreachable!("the number drawn lies below the sum of the weights")
}

/// Gives numbers to the names in the generators of a mix.
struct Binder<'a> {
    mix: &'a Mix,
    dataset: &'a dyn Dataset,
    scope: Scope,
    tables: Vec<String>,
    kept: Vec<String>,
}

impl Binder<'_> {
    fn bind(&mut self, generator: &Generator) -> Result<Generator<usize>, TemplateError> {
        generator.bind(&mut |named, name| match named {
            GeneratorName::Table => self.table(name),
            GeneratorName::Value | GeneratorName::NewValue => self.value(name),
        })
    }

    fn table(&mut self, name: &str) -> Result<usize, TemplateError> {
        if let Some(known) = self.tables.iter().position(|known| known == name) {
            return Ok(known);
        }
        let rows = self.dataset.rows_of(name).filter(|&rows| rows > 0);
        let message = format!("there is no table {name:?} with rows among those of the load");
        let rows = rows.ok_or(TemplateError { offset: 0, message })?;
        self.scope.others.push(self.mix.draw.over_rows(rows));
        self.tables.push(name.to_owned());
        Ok(self.tables.len() - 1)
    }

    fn value(&mut self, name: &str) -> Result<usize, TemplateError> {
        if let Some(known) = self.kept.iter().position(|known| known == name) {
            return Ok(known);
        }
        if self.kept.len() == KEPT_MOST {
            let message = format!("more than {KEPT_MOST} names for values; use fewer");
            return Err(TemplateError { offset: 0, message });
        }
        self.kept.push(name.to_owned());
        Ok(self.kept.len() - 1)
    }
}

fn scope(mix: &Mix, dialect: Dialect, dataset: &dyn Dataset) -> Scope {
    let rows = dataset.rows();
    Scope {
        rows,
        ids: mix.draw.over_rows(rows),
        others: Vec::new(),
        bits: Bits::for_dialect(dialect),
    }
}

fn statement(template: &Template, channel: Channel, dialect: Dialect, table: &str) -> Statement {
    let sql = template.sql(dialect, table);
    match channel {
        Channel::Prepared => Statement::new_prepared(sql),
        Channel::Text => {
            Statement { sql, pieces: template.sql_pieces(table), kind: StatementKind::Text }
        }
    }
}

/// SQLite takes its write lock at BEGIN: a read transaction that turns into a writer is refused
/// when another one wrote in between, and would be asked again without end.
fn begin_statement(dialect: Dialect, mix: &Mix) -> &'static str {
    match dialect {
        Dialect::Sqlite if mix.writes_rows() => "BEGIN IMMEDIATE",
        Dialect::Mysql
        | Dialect::Engine
        | Dialect::Postgres
        | Dialect::Sqlite
        | Dialect::Rocksdb => "BEGIN",
    }
}
