//! `dbdyno verify --online`: verdicts of transactions that nobody keeps.
//!
//! ```text
//!   repeatable-read promises innodb-repeatable-read: holds
//!     21402 committed; 37 of them, and 112 versions, were kept at a time at most
//!     not promised: serializable, broken by write skew (G2-item)
//! ```

use dbdyno_check::OnlineVerdict;
use dbdyno_isolation::{IsolationLab, OnlineOf, OnlineTold, RandomLoadKind, online_transactions};
use dbdyno_report::verdicts::{
    OnlineFinding, OnlineLevel, OnlineReport, OnlineServer, PropertyVerdict, VERDICTS_SCHEMA,
    VerdictWord, online_document, verdicts_json,
};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::random_transactions::{kind_name, kind_of, load_of};
use crate::verify::{Verify, VerifyKind, levels_of};
use crate::{check, output, session};

/// Drives each target, one after the other, and judges meanwhile.
pub(crate) fn run(place: &Place, flags: &Verify) -> Result<Exit, Failure> {
    let (shape, load) = match (kind_of(flags)?, flags.kind) {
        (_, VerifyKind::Counters) => return refuse("the sums of counters are matched at the end"),
        (RandomLoadKind::Rows, _) => {
            return refuse("what searches by ranges saw is decided at the end");
        }
        (RandomLoadKind::Load(shape), _) => (shape, load_of(flags)?),
    };
    let specs = flags.arm_specs()?;
    let levels = levels_of(&flags.level);
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let mut report = OnlineReport {
        schema: VERDICTS_SCHEMA,
        kind: kind_name(flags.kind),
        clients: load.clients,
        keys: load.keys,
        extent: load.extent.to_string(),
        seed: flags.seed,
        online: Vec::new(),
    };
    let mut is_cut_short = false;
    for spec in &specs {
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let told = online_transactions(&mut lab, spec, &levels, load, shape)?;
        drop(ticker);
        is_cut_short = told.is_cut_short;
        report.online.push(server_of(spec.to_string(), told));
        if is_cut_short {
            break;
        }
    }
    output::print_report(flags.format, || online_document(&report), || verdicts_json(&report))?;
    Ok(if is_cut_short { Exit::Interrupted } else { exit_of(&report) })
}

fn refuse(why: &str) -> Result<Exit, Failure> {
    let text = format!("--online judges --kind registers and --kind lists: {why}");
    Err(Failure::Usage(text))
}

/// What the promises turned out to be; one that nothing is known of cannot be told.
fn exit_of(report: &OnlineReport) -> Exit {
    let levels = report.online.iter().flat_map(|server| &server.levels);
    check::exit_of(levels.map(|of| {
        let promised = of.levels.iter().find(|one| one.level == of.promise);
        promised.map_or(VerdictWord::CannotTell, |one| one.verdict.verdict)
    }))
}

fn server_of(target: String, of: OnlineOf) -> OnlineServer {
    let levels = of.levels.into_iter().map(level_of).collect();
    OnlineServer { target, version: of.version, levels }
}

fn level_of(of: OnlineTold) -> OnlineLevel {
    let levels = of.verdicts.into_iter().map(|(level, verdict)| OnlineFinding {
        level: level.name(),
        verdict: match verdict {
            OnlineVerdict::Holds => PropertyVerdict::holds(),
            OnlineVerdict::Broken(anomaly) => PropertyVerdict::broken_by(anomaly),
            OnlineVerdict::CannotTell(why) => PropertyVerdict::cannot_tell(why),
        },
    });
    OnlineLevel {
        level: of.level.name(),
        promise: of.promise.name(),
        definition: of.promise.definition_source(),
        committed: of.counted,
        known_after: of.broken_at,
        kept_transactions: of.kept.0,
        kept_versions: of.kept.1,
        retries: of.retries,
        levels: levels.collect(),
    }
}
