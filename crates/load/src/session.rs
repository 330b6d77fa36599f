//! One client's connection with all statements of a load prepared on it.
//!
//! ```text
//!   turn(operation) ── Program:  fill the event, execute its calls ─┐
//!                   └─ Dialogue: partner.turn(operation, Wire) ─────┤
//!                                                                   ▼
//!                                     rolled back for others? ROLLBACK and ask again
//! ```

use dbdyno_wire::Client;
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{Event, Partner, Program, ReadyLoad};

use crate::answer::{EventAnswer, Setback, count_retry};
use crate::connector::Connector;
use crate::error::LoadError;
use crate::kept::Seat;
use crate::record::{Recorder, Recording};
use crate::talk::Talk;
use crate::wire::{Answers, Wire, prepare_all};

/// A client's connection, ready to be asked.
pub struct ClientSession<'a> {
    wire: Wire<'a>,
    part: Turn<'a>,
    number: u32,
    recorder: Option<Box<Recorder>>,
}

/// How the next event comes about.
#[expect(clippy::large_enum_variant, reason = "one for each client, and the large one is usual")]
enum Turn<'a> {
    Program { program: &'a Program, client: u32, event: Event },
    Partner(Box<dyn Partner>),
}

impl<'a> ClientSession<'a> {
    /// Connects as client number `client` and prepares.
    ///
    /// # Errors
    /// No connection, or a statement that the server refuses to prepare.
    pub fn open(
        connector: &Connector,
        load: &'a ReadyLoad,
        client: u32,
    ) -> Result<ClientSession<'a>, LoadError> {
        let mut connection = connector.connect()?;
        let prepared = prepare_all(&mut *connection, load)?;
        Ok(ClientSession::resume(Seat { client: connection, prepared }, connector, load, client))
    }

    /// Goes on as client number `client` with its connection of an earlier round, on which this
    /// load is prepared.
    pub(crate) fn resume(
        seat: Seat,
        connector: &Connector,
        load: &'a ReadyLoad,
        client: u32,
    ) -> ClientSession<'a> {
        let part = match load.event_source() {
            EventSource::Program(program) => {
                Turn::Program { program, client, event: Event::default() }
            }
            EventSource::Dialogue(dialogue, dialect) => {
                Turn::Partner(dialogue.create_partner(client, *dialect))
            }
        };
        let answers = match connector {
            Connector::Null | Connector::Mock(_) => Answers::OfNobody,
            _ => Answers::OfServer,
        };
        ClientSession { wire: Wire::new(seat, load, answers), part, number: client, recorder: None }
    }

    /// Leaves the connection to who goes on with it.
    pub(crate) fn into_seat(self) -> Seat {
        self.wire.into_seat()
    }

    /// The connection itself.
    pub(crate) fn client(&mut self) -> &mut dyn Client {
        &mut *self.wire.client
    }

    /// Takes leave of the server.
    pub(crate) fn close(self) {
        self.wire.client.close();
    }

    /// The client's number.
    pub(crate) fn client_number(&self) -> u32 {
        self.number
    }

    /// Makes operation number `operation` ready. What making costs falls before the event's start
    /// where the caller reads the clock after this; a dialogue makes its statements as it goes.
    #[inline]
    pub fn make_operation(&mut self, operation: u64) {
        if let Turn::Program { program, client, event } = &mut self.part {
            program.fill_event(*client, operation, event);
        }
    }

    /// As [`ClientSession::make_operation`], but the operation is that of another client: in the
    /// open loop any connection may ask any client's question. A dialogue has its own client's
    /// questions only.
    #[inline]
    pub(crate) fn make_as(&mut self, client: u32, operation: u64) {
        if let Turn::Program { program, event, .. } = &mut self.part {
            program.fill_event(client, operation, event);
        }
    }

    /// The kind of an operation that will not be asked, of this client or, unless it is a dialogue,
    /// of any; `None` where only asking would tell.
    pub(crate) fn kind_of(&mut self, client: u32, operation: u64) -> Option<u32> {
        match &mut self.part {
            Turn::Program { program, event, .. } => {
                program.fill_event(client, operation, event);
                Some(event.kind)
            }
            Turn::Partner(partner) => partner.class_of(operation).map(|class| class as u32),
        }
    }

    /// Whether its questions may be those of other clients.
    pub(crate) fn is_program(&self) -> bool {
        matches!(self.part, Turn::Program { .. })
    }

    /// Carries out the operation that was made ready and checks every answer. When the server rolls
    /// it back for the sake of others it is asked again, as sysbench does.
    ///
    /// # Errors
    /// A broken connection, a refusal that is not for the sake of others or without end, or a wrong
    /// result;
    /// [`LoadError::Interrupted`] where the round is over and it still waited for others.
    pub fn ask_operation(&mut self, operation: u64) -> Result<EventAnswer, LoadError> {
        let mut retries = 0;
        loop {
            let asked = match &mut self.part {
                Turn::Program { event, .. } => self.wire.ask_event(event),
                Turn::Partner(partner) => Talk::new(&mut self.wire, self.recorder.as_deref_mut())
                    .take_turn(&mut **partner, operation),
            };
            match asked {
                Ok(answer) => return Ok(EventAnswer { retries, ..answer }),
                Err(Setback::AskAgain) => {
                    count_retry(&mut retries)?;
                    self.wire.roll_back()?;
                }
                Err(Setback::Failed(error)) => return Err(error),
            }
        }
    }

    /// Records from now on what the partner of a dialogue notes.
    pub(crate) fn record_on(&mut self, recording: &Recording) {
        self.recorder = Some(Box::new(recording.client_recorder(self.number)));
    }

    /// Records no more.
    pub(crate) fn end_record(&mut self, recording: &Recording) {
        if let Some(recorder) = self.recorder.take() {
            recording.return_recorder(*recorder);
        }
    }

    /// Looks at all rows of a load that tells its versions.
    ///
    /// # Errors
    /// Those of [`ClientSession::ask_operation`].
    pub(crate) fn survey_rows(&mut self) -> Result<(), LoadError> {
        let Turn::Partner(partner) = &mut self.part else { return Ok(()) };
        let mut retries = 0;
        loop {
            let talk = Talk::new(&mut self.wire, self.recorder.as_deref_mut());
            match talk.survey_rows(&mut **partner) {
                Ok(()) => return Ok(()),
                Err(Setback::AskAgain) => {
                    count_retry(&mut retries)?;
                    self.wire.roll_back()?;
                }
                Err(Setback::Failed(error)) => return Err(error),
            }
        }
    }

    /// Pause before the first operation of a round, microseconds, if the load has pauses.
    pub fn phase_us(&mut self, operation: u64) -> Option<u64> {
        match &mut self.part {
            Turn::Program { .. } => None,
            Turn::Partner(partner) => partner.phase_us(operation),
        }
    }

    /// Pause after an operation, microseconds, if the load has pauses.
    pub fn pause_us(&mut self, operation: u64) -> Option<u64> {
        match &mut self.part {
            Turn::Program { .. } => None,
            Turn::Partner(partner) => partner.pause_us(operation),
        }
    }
}
