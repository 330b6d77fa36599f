//! One server and the session that looks at it.

use std::collections::BTreeMap;
use std::time::Duration;

use dbdyno_load::Connector;
use dbdyno_server::{FactReader, ServerRelease};
use dbdyno_wire::{Client, Patience, WireError};

use crate::moments::{FactMoments, MetricValues};
use crate::pace::QuestionPace;

/// An answer that takes longer is given up, with the session: a look that is late is no look.
const PATIENCE: Patience = Patience::Each(Duration::from_secs(5));

/// Looks at one server.
pub struct Observer {
    connector: Connector,
    every_ns: u64,
    session: Option<Session>,
    moments: FactMoments,
    /// How often each question is asked; kept over sessions, so that one that ended a session by
    /// being dear is not the first of the next.
    pace: Option<QuestionPace>,
    /// What the server refuses to tell, by question, in its words.
    refusals: BTreeMap<String, String>,
    uptime_s: Option<f64>,
}

struct Session {
    client: Box<dyn Client>,
    reader: FactReader,
    version: String,
}

/// What a look at a server has shown.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerLook {
    /// What each metric is.
    Told(MetricValues),
    /// It has begun anew since the last look: counters have no rate yet.
    Restarted(MetricValues),
    /// It does not answer, and why.
    Gone(String),
}

impl ServerLook {
    /// What each metric is, and why it does not answer where it does not.
    pub fn values_or_reason(&self) -> (&MetricValues, Option<&str>) {
        static NOTHING: MetricValues = MetricValues::new();
        match self {
            ServerLook::Told(values) | ServerLook::Restarted(values) => (values, None),
            ServerLook::Gone(why) => (&NOTHING, Some(why)),
        }
    }
}

impl Observer {
    /// Looks at the server behind a connector, at most once in so long a time.
    pub fn new(connector: Connector, every: Duration) -> Observer {
        Observer {
            connector,
            every_ns: every.as_nanos() as u64,
            session: None,
            moments: FactMoments::default(),
            pace: None,
            refusals: BTreeMap::new(),
            uptime_s: None,
        }
    }

    /// Looks at it, with a clock that gives nanoseconds and goes on.
    pub fn look_once(&mut self, clock: &dyn Fn() -> u64) -> ServerLook {
        match self.read(clock) {
            Ok((at_ns, facts)) => {
                let uptime_s = facts.get("uptime_s").copied();
                let is_anew =
                    matches!((self.uptime_s, uptime_s), (Some(old), Some(new)) if new < old);
                self.uptime_s = uptime_s.or(self.uptime_s);
                if is_anew {
                    self.moments.forget_all();
                    return ServerLook::Restarted(self.moments.take_reading(at_ns, &facts));
                }
                ServerLook::Told(self.moments.take_reading(at_ns, &facts))
            }
            Err(why) => {
                self.session = None;
                ServerLook::Gone(why)
            }
        }
    }

    /// The release that it says it is, once it has answered.
    pub fn version(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.version.as_str())
    }

    /// What it refuses to tell: the question, and the server's words.
    pub fn refused_questions(&self) -> &BTreeMap<String, String> {
        &self.refusals
    }

    /// Questions of one look at most.
    pub fn question_count(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.reader.question_count())
    }

    /// The questions that are too dear for each look, and how many seconds lie between two.
    pub fn rare_questions(&self) -> Vec<(String, f64)> {
        let (Some(session), Some(pace)) = (&self.session, &self.pace) else { return Vec::new() };
        let rare = pace.rare_questions().into_iter();
        rare.map(|(question, s)| (session.reader.question_text(question).to_owned(), s)).collect()
    }

    fn read(&mut self, clock: &dyn Fn() -> u64) -> Result<(u64, MetricValues), String> {
        if self.session.is_none() {
            self.session = Some(self.open().map_err(|error| error.to_string())?);
        }
        let session = self.session.as_mut().expect("it was opened");
        let questions = session.reader.question_count();
        if questions == 0 {
            return Err(format!("no metric is known of {}", session.version));
        }
        let every_ns = self.every_ns;
        let pace = self.pace.get_or_insert_with(|| QuestionPace::new(questions, every_ns));
        let at_ns = clock();
        let mut facts = BTreeMap::new();
        for question in 0..questions {
            if !pace.is_due(question, at_ns) {
                continue;
            }
            let began_ns = clock();
            let asked = session.reader.ask_question(question, &mut *session.client, &mut facts);
            pace.note_answer(question, began_ns, clock());
            if let Err(error) = asked {
                if error.is_fatal() {
                    return Err(error.to_string());
                }
                let text = session.reader.question_text(question).to_owned();
                self.refusals.entry(text).or_insert_with(|| error.to_string());
            }
        }
        Ok((at_ns, facts))
    }

    fn open(&self) -> Result<Session, WireError> {
        let mut client = self.connector.connect_to_ask()?;
        client.set_patience(PATIENCE);
        let server = ServerRelease::of_client(&*client, self.connector.dialect());
        let version = client.server_version().to_owned();
        Ok(Session { client, reader: FactReader::for_live_view(server), version })
    }
}
