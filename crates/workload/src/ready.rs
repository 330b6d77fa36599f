//! A load made ready for one server, whatever its content.

use std::sync::Arc;

use dbdyno_model::Dialect;

use crate::dialogue::{Dialogue, Partner};
use crate::filing::Filing;
use crate::load::{BackgroundMix, Content, Load};
use crate::program::Program;
use crate::span::load_span;
use crate::statement::Statement;
use crate::template::TemplateError;

/// What clients carry out.
#[derive(Clone, Debug)]
pub struct ReadyLoad {
    statements: Vec<Statement>,
    filing: Filing,
    part: EventSource,
    background: Option<Beside>,
    rows: f64,
    file: Option<Arc<str>>,
}

/// Who is at work beside the clients.
#[derive(Clone, Debug)]
pub struct Beside {
    /// What is done.
    pub load: Arc<ReadyLoad>,
    /// Events per second.
    pub per_second: u64,
}

/// How events come about.
#[derive(Clone, Debug)]
pub enum EventSource {
    /// From templates.
    Program(Arc<Program>),
    /// From a conversation in this dialect.
    Dialogue(Arc<dyn Dialogue>, Dialect),
}

impl ReadyLoad {
    /// Makes a load ready.
    ///
    /// # Errors
    /// A template of the load that does not parse.
    pub fn compile(load: &Load, dialect: Dialect) -> Result<ReadyLoad, TemplateError> {
        let background = match &load.background {
            None => None,
            Some(BackgroundMix { mix, per_second }) => {
                let key = format!("{} beside", load.name);
                let program = Program::compile(mix, &key, dialect, &*load.dataset)?;
                let load = Arc::new(ReadyLoad::of_program(program));
                Some(Beside { load, per_second: *per_second })
            }
        };
        let ready = match &load.content {
            Content::Mix(mix) => {
                let program = Program::compile(mix, &load.name, dialect, &*load.dataset)?;
                ReadyLoad::of_program(program)
            }
            Content::Choice(choice) => {
                let key = &load.name;
                ReadyLoad::of_program(Program::compile_choice(
                    choice,
                    key,
                    dialect,
                    &*load.dataset,
                )?)
            }
            Content::Dialogue(dialogue) => ReadyLoad {
                statements: dialogue.statements(dialect),
                filing: Filing::of_events(dialogue.class_names()),
                part: EventSource::Dialogue(Arc::clone(dialogue), dialect),
                background: None,
                rows: 0.0,
                file: None,
            },
        };
        let rows = load_span(load, None).map_or(0.0, |span| span.rows);
        let file = load.file.as_deref().map(Arc::from);
        Ok(ReadyLoad { background, rows, file, ..ready })
    }

    /// A program by itself.
    pub fn of_program(program: Program) -> ReadyLoad {
        ReadyLoad {
            statements: program.statements().to_vec(),
            filing: program.filing().clone(),
            part: EventSource::Program(Arc::new(program)),
            background: None,
            rows: 0.0,
            file: None,
        }
    }

    /// The file that describes it, if its user wrote it.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// All statements that are prepared or sent by number.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// What series and latencies are filed under.
    pub fn filing(&self) -> &Filing {
        &self.filing
    }

    /// Who is at work beside the clients, if anybody is.
    pub fn background(&self) -> Option<&Beside> {
        self.background.as_ref()
    }

    /// Rows that an event asks for, as [`load_span`] counts them; 0 where no number is known.
    pub fn rows(&self) -> f64 {
        self.rows
    }

    /// How events come about.
    pub fn event_source(&self) -> &EventSource {
        &self.part
    }

    /// The partner of a client, if the load is a dialogue.
    pub fn create_partner(&self, client: u32) -> Option<Box<dyn Partner>> {
        match &self.part {
            EventSource::Program(_) => None,
            EventSource::Dialogue(dialogue, dialect) => {
                Some(dialogue.create_partner(client, *dialect))
            }
        }
    }
}
