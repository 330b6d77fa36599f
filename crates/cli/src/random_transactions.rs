//! `dbdyno verify` without a case: random transactions, and what their history proves.
//!
//! ```text
//!   repeatable-read promises innodb-repeatable-read: holds          decides the exit code
//!     21402 committed; ww 13310, wr 10992, rw 12804                 what was exercised
//!     write skew (G2-item) ×312, first after 0.02 s; again 20 of 20 what was seen, and its rate
//!     not promised: serializable, broken by write skew (G2-item)    what else was looked at
//! ```

use dbdyno_check::{
    Checker, History, Level, LogAgrees, LoggedChange, TransactionOutcome, read_records,
    write_total_length,
};
use dbdyno_isolation::{
    AnomalyWitness, AskingLimit, IsolationLab, LevelRecord, PromiseScope, RandomLoad,
    RandomLoadKind, RowLog, Threads, random_transactions,
};
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_model::{ArmSpec, Target};
use dbdyno_report::IsolationExtent;
use dbdyno_report::verdicts::{
    PromisedTransactions, RandomLevel, RandomReport, RandomServer, RowLogFinding, VERDICTS_SCHEMA,
    VerdictWord, random_document, verdicts_json,
};
use dbdyno_workload::versioned::VersionedRowKind;

use crate::args::Place;
use crate::check::{self, USUAL};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::verify::{Verify, VerifyKind, levels_of};
use crate::{files, output, session, witnesses};

/// Drives each target, one after the other, and judges what was recorded.
pub(crate) fn run(place: &Place, flags: &Verify) -> Result<Exit, Failure> {
    let specs = flags.arm_specs()?;
    let levels = levels_of(&flags.level);
    refuse_what_is_at_odds(flags, &specs, &levels)?;
    let load = load_of(flags)?;
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let mut is_cut_short = false;
    let mut report = RandomReport {
        schema: VERDICTS_SCHEMA,
        kind: kind_name(flags.kind),
        clients: flags.clients,
        keys: flags.keys,
        seconds: flags.transactions.is_none().then_some(flags.seconds),
        transactions: flags.transactions,
        extent: load.extent.to_string(),
        seed: flags.seed,
        servers: Vec::new(),
    };
    if let Some(folder) = &flags.scripts {
        files::make_directory(folder)?;
    }
    for spec in &specs {
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let target = spec.to_string();
        let runs = if load.kind == RandomLoadKind::Rows { flags.repeat } else { 0 };
        let told =
            random_transactions(
                &mut lab,
                spec,
                &levels,
                load,
                runs,
                &mut |recorded| match judged(flags, &target, recorded) {
                    Ok((proved, witnesses)) => (Ok(proved), witnesses),
                    Err(failure) => (Err(failure), Vec::new()),
                },
            )?;
        drop(ticker);
        let mut levels = Vec::new();
        for (level, replayed) in told.levels {
            let mut level = level?;
            level.witnesses = replayed.into_iter().map(witnesses::replay_finding).collect();
            if let Some(folder) = &flags.scripts {
                witnesses::write_witnesses(folder, &target, &level)?;
            }
            levels.push(level);
        }
        is_cut_short |= told.is_cut_short;
        report.servers.push(RandomServer { target, version: told.version, levels });
        if is_cut_short {
            break;
        }
    }
    let extent = if flags.all { IsolationExtent::Stories } else { IsolationExtent::Tables };
    output::print_report(
        flags.format,
        || random_document(&report, extent),
        || verdicts_json(&report),
    )?;
    Ok(if is_cut_short { Exit::Interrupted } else { exit_of(&report) })
}

fn refuse_what_is_at_odds(
    flags: &Verify,
    specs: &[ArmSpec],
    levels: &[IsolationLevel],
) -> Result<(), Failure> {
    if flags.export.is_some() && (specs.len(), levels.len()) != (1, 1) {
        let text = "--export writes one history: name one target, and one level with --level";
        return Err(Failure::Usage(text.to_owned()));
    }
    flags.export.as_deref().map_or(Ok(()), files::require_place)?;
    if flags.scripts.is_some() && flags.repeat == 0 {
        let text =
            "--scripts keeps what was played again: leave --repeat out, or make it 1 or more";
        return Err(Failure::Usage(text.to_owned()));
    }
    if flags.one_thread && !specs.iter().all(|spec| matches!(spec.target, Target::Engine(_))) {
        let text = "--one-thread drives engine: alone; the clients of a server have a thread each";
        return Err(Failure::Usage(text.to_owned()));
    }
    Ok(())
}

/// What is asked; histories of the catalog's loads are not played again as scripts.
pub(crate) fn kind_of(flags: &Verify) -> Result<RandomLoadKind, Failure> {
    let shape = match flags.kind {
        VerifyKind::Rows => return Ok(RandomLoadKind::Rows),
        VerifyKind::Registers => VersionedRowKind::Register,
        VerifyKind::Lists => VersionedRowKind::List,
        VerifyKind::Counters => VersionedRowKind::Counter,
    };
    let flag = if flags.one_thread {
        "--one-thread"
    } else if flags.row_log {
        "--row-log"
    } else if flags.scripts.is_some() {
        "--scripts"
    } else {
        return Ok(RandomLoadKind::Load(shape));
    };
    let text = format!("{flag} is for --kind rows; leave one of them out");
    Err(Failure::Usage(text))
}

/// How much is asked, and of what.
pub(crate) fn load_of(flags: &Verify) -> Result<RandomLoad, Failure> {
    Ok(RandomLoad {
        kind: kind_of(flags)?,
        clients: flags.clients,
        extent: extent_of(flags),
        keys: flags.keys,
        seed: flags.seed,
        reads_log: flags.row_log,
        threads: threads_of(flags),
    })
}

fn threads_of(flags: &Verify) -> Threads {
    if flags.one_thread { Threads::OneForAll } else { Threads::OneEach }
}

fn extent_of(flags: &Verify) -> AskingLimit {
    flags.transactions.map_or(AskingLimit::Seconds(flags.seconds), AskingLimit::Transactions)
}

fn judged(
    flags: &Verify,
    target: &str,
    mut recorded: LevelRecord,
) -> Result<(RandomLevel, Vec<AnomalyWitness>), Failure> {
    let mut history = read_records(&recorded.records).map_err(|bad| {
        Failure::Usage(format!("the history that was recorded cannot be read: {bad}"))
    })?;
    if let Some(path) = flags.export.as_ref().filter(|_| recorded.of == PromiseScope::OfAll) {
        match flags.kind {
            // Searches by ranges and deletions have words in records alone.
            VerifyKind::Rows => {
                write_total_length(&mut recorded.records);
                files::write(path, &recorded.records)?;
            }
            _ => check::export_history(&history, path)?,
        }
    }
    let LevelRecord { level, promise: promised, family, of, refused, lost, unrecorded, .. } =
        recorded;
    let log = recorded.log.map(|log| settled(&mut history, &log));
    let checker = Checker::new(&history);
    let others = USUAL.into_iter().filter(|level| *level != promised);
    let asked: Vec<Level> = std::iter::once(promised).chain(others).collect();
    let verdicts = checker.proved_verdicts(&asked);
    let promise = &verdicts[0].1;
    let anomalies = witnesses::find_anomalies(&history, &checker, threads_of(flags));
    let source = format!("dbdyno verify {target} --level {level} --seed {}", flags.seed);
    // A case is of all transactions, whoever says its statements.
    let prevented = (of == PromiseScope::OfAll).then(|| format!("{family} {level}"));
    let witnesses = match flags.kind {
        VerifyKind::Rows => {
            witnesses::anomaly_witnesses(&history, &anomalies, promise, &prevented, &source)
        }
        _ => Vec::new(),
    };
    let proved = RandomLevel {
        level: level.name(),
        promise: promised.name(),
        of: match of {
            PromiseScope::OfAll => PromisedTransactions::All,
            PromiseScope::OfDisciplined => PromisedTransactions::Disciplined,
        },
        refused,
        connections_lost: lost,
        unrecorded,
        unknown: unknown_outcomes(&history),
        row_log: log.map(row_log_finding),
        anomalies: anomalies.into_iter().map(witnesses::pair_finding).collect(),
        witnesses: Vec::new(),
        without_script: witnesses::unplayed_anomalies(&witnesses),
        history: check::report_of(&history, &checker.contention(), &verdicts),
    };
    Ok((proved, witnesses))
}

fn row_log_finding(log: Result<LogAgrees, String>) -> RowLogFinding {
    match log {
        Ok(LogAgrees { transactions, changes, unknown: (done, undone) }) => {
            RowLogFinding::Agreement { agrees: true, transactions, changes, done, undone }
        }
        Err(difference) => RowLogFinding::Contradiction { agrees: false, difference },
    }
}

/// Compares with the server's own log, which also tells what became of transactions.
fn settled(history: &mut History, log: &RowLog) -> Result<LogAgrees, String> {
    let mut all = Vec::with_capacity(log.len());
    for txn in log {
        let changes: Option<Vec<LoggedChange>> = txn
            .iter()
            .map(|change| {
                let key = history.key_of(change.column, change.key)?;
                Some(LoggedChange { key, before: change.before, after: change.after })
            })
            .collect();
        all.push(changes.ok_or("the log has a row that no client wrote")?);
    }
    history.settle_by_log(&all).map_err(|differs| differs.to_string())
}

/// What the promises turned out to be; a log that contradicts clients breaks them, too.
fn exit_of(report: &RandomReport) -> Exit {
    let levels = report.servers.iter().flat_map(|server| &server.levels);
    check::exit_of(levels.filter_map(|level| match level.row_log {
        Some(RowLogFinding::Contradiction { .. }) => Some(VerdictWord::Broken),
        _ => level.history.levels.first().map(|promised| promised.verdict.verdict),
    }))
}

fn unknown_outcomes(history: &History) -> usize {
    (0..history.len())
        .filter(|txn| history.txn(*txn).outcome == TransactionOutcome::Unknown)
        .count()
}

pub(crate) fn kind_name(kind: VerifyKind) -> &'static str {
    match kind {
        VerifyKind::Rows => "rows",
        VerifyKind::Registers => "registers",
        VerifyKind::Lists => "lists",
        VerifyKind::Counters => "counters",
    }
}
