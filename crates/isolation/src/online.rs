//! A load that is judged while it runs: records are read, judged and forgotten.
//!
//! ```text
//!   clients ──tapes──▶ Reader ──▶ check::Online ──▶ verdicts so far ──▶ who listens
//! ```
//!
//! The judge has a thread of its own beside the clients, and what it costs they do not get. Where
//! it is too slow, clients wait for it, so that nothing is missing.

use std::thread;
use std::time::Duration;

use dbdyno_check::{HEADER, Level, Online, OnlineVerdict, read_stream};
use dbdyno_load::{LoadError, Recording, RoundSpec, ask_each, end_recording, run_round};
use dbdyno_model::isolation::IsolationLevel;

use crate::bench::Bench;
use crate::closed_loop::FreshLoad;
use crate::random_load::{AskingLimit, RandomLoad};
use dbdyno_lab::LabError;

/// How often records are read where little comes.
const READ_EVERY: Duration = Duration::from_millis(5);
/// So many transactions later it is told again what can be said.
const TELL_EVERY: u64 = 20_000;

/// What was told of a level while it ran.
#[derive(Clone, Debug)]
pub struct OnlineTold {
    /// The level that sessions asked for.
    pub level: IsolationLevel,
    /// What the server promises there.
    pub promise: Level,
    /// What can be said of each level that can be decided while the history is recorded.
    pub verdicts: Vec<(Level, OnlineVerdict)>,
    /// Transactions that count.
    pub counted: u64,
    /// After how many of them it was known that the promise is broken, if it is.
    pub broken_at: Option<u64>,
    /// Transactions and versions that were kept at a time, at most.
    pub kept: (usize, usize),
    /// Attempts that were rolled back for the sake of others.
    pub retries: u64,
}

impl Bench<'_, '_> {
    /// Drives clients at one level under a load, and judges while they are at it.
    ///
    /// # Errors
    /// What the load met.
    pub(crate) fn judge_online(
        &mut self,
        level: IsolationLevel,
        load: RandomLoad,
        driven: &FreshLoad,
    ) -> Result<OnlineTold, LabError> {
        let recording = Recording::to_be_read(load.clients);
        let mut reader = recording.reader();
        let mut judge = Online::new(&Level::ALL);
        let mut told = OnlineTold {
            level,
            promise: driven.promise,
            verdicts: Vec::new(),
            counted: 0,
            broken_at: None,
            kept: (0, 0),
            retries: 0,
        };
        let spec = driven.round_spec(load, self.lab.stop);
        let recorded = RoundSpec { record: Some(&recording), ..spec };
        let asked = thread::scope(|scope| {
            let clients = scope.spawn(move || match load.extent {
                AskingLimit::Seconds(_) => {
                    run_round(&recorded, &mut |_| {}).map(|measured| measured.answer.retries)
                }
                AskingLimit::Transactions(count) => ask_each(&recorded, count),
            });
            let mut next_tell = TELL_EVERY;
            loop {
                // Seen before the last look: what was recorded until then is read.
                let is_over = clients.is_finished();
                self.look(&mut judge, &mut reader, &mut told);
                if told.counted >= next_tell {
                    next_tell = told.counted + TELL_EVERY;
                    let verdict = match told.broken_at {
                        Some(at) => format!("broken after {at}"),
                        None => "nothing against it".to_owned(),
                    };
                    self.report_progress(&format!(
                        "{level}: {} transactions, {verdict}",
                        told.counted
                    ));
                }
                if is_over {
                    break;
                }
                thread::sleep(READ_EVERY);
            }
            clients.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        told.retries = match asked {
            Ok(retries) => retries,
            Err(LoadError::NothingFinished) => 0,
            Err(error) => return Err(driven.load_error(error)),
        };
        let rest = end_recording(recording, &spec).map_err(|error| driven.load_error(error))?;
        let mut ops = Vec::new();
        read_stream(&rest.records[HEADER.len()..], &mut ops, |txn, ops| {
            judge.add_transaction(txn, ops)
        });
        told.counted = judge.counted_transactions();
        told.verdicts = judge.finish();
        Ok(told)
    }

    fn look(&self, judge: &mut Online, reader: &mut dbdyno_load::Reader, told: &mut OnlineTold) {
        let before = reader.read(|txn, ops| judge.add_transaction(txn, ops));
        judge.settle_before(before);
        let (txns, versions) = judge.retained_counts();
        told.kept = (told.kept.0.max(txns), told.kept.1.max(versions));
        told.counted = judge.counted_transactions();
        if told.broken_at.is_none()
            && judge.level_verdicts().iter().any(|(level, verdict)| {
                *level == told.promise && matches!(verdict, OnlineVerdict::Broken(_))
            })
        {
            told.broken_at = Some(told.counted);
        }
    }
}
