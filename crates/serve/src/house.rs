//! What all connections find when they come.

use std::sync::Arc;

use dbdyno_engine::Engine;
use dbdyno_sql::KnownVariable;
use dbdyno_wire::mysql::server::{LoginAccount, LoginTerms};

use crate::kept::KeptStatements;
use crate::known;
use crate::processes::ProcessTable;
use crate::room::AnswerRoom;
use crate::settings::Settings;

/// What all connections have in common.
pub(crate) struct House {
    pub engine: Arc<Engine>,
    pub settings: Settings,
    /// The variables that there are.
    pub known: Arc<[KnownVariable]>,
    pub terms: LoginTerms,
    /// What is prepared on all connections.
    pub kept: KeptStatements,
    /// The sessions that there are.
    pub processes: Arc<ProcessTable>,
    /// Where long answers are built.
    pub room: AnswerRoom,
}

impl House {
    pub(crate) fn new(engine: Arc<Engine>, settings: Settings) -> House {
        let terms = LoginTerms {
            version: settings.version.clone(),
            account: LoginAccount::new(&settings.user, &settings.password),
            largest_request: settings.limits.request_bytes,
            security: settings.security.clone(),
        };
        House {
            engine,
            known: known::known_variables(&settings),
            terms,
            kept: Default::default(),
            processes: Default::default(),
            room: Default::default(),
            settings,
        }
    }
}
