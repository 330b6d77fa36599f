//! The end of a recording: all rows are looked at once, and what was recorded is put together.

use dbdyno_wire::Patience;

use crate::error::LoadError;
use crate::record::{Recording, RoundRecord};
use crate::round::RoundSpec;
use crate::session::ClientSession;

/// Looks at every row, when nobody asks any more, so that versions which nobody read have their
/// places, and puts together what was recorded. Where somebody's room had ended, rows are not
/// looked at: they hold what was not recorded.
///
/// # Errors
/// What the survey met.
pub fn end_recording(recording: Recording, spec: &RoundSpec<'_>) -> Result<RoundRecord, LoadError> {
    if !recording.is_full() {
        let mut session = ClientSession::open(spec.connector, spec.load, recording.clients())?;
        session.client().set_patience(Patience::WORK);
        session.record_on(&recording);
        session.survey_rows()?;
        session.end_record(&recording);
        session.close();
    }
    Ok(recording.into_record())
}
