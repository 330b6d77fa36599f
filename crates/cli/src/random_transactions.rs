//! `dbdyno verify` without a case: random transactions, and what their history proves.
//!
//! ```text
//!   repeatable-read promises innodb-repeatable-read: holds          decides the exit code
//!     21402 committed; ww 13310, wr 10992, rw 12804                 what was exercised
//!     write skew (G2-item) ×312, first after 0.02 s; again 20 of 20 what was seen, and its rate
//!     not promised: serializable, broken by write skew (G2-item)    what else was looked at
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dbdyno_check::{
    Checker, History, Level, LevelVerdict, LogAgrees, LoggedChange, TransactionOutcome, drawn,
    read_records, seal,
};
use dbdyno_lab::{
    AnomalyWitness, AskingLimit, IsolationLab, LevelRecord, PromiseScope, RandomLoad,
    RandomLoadKind, RowLog, Threads, WitnessReplay, random_transactions,
};
use dbdyno_model::Target;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_workload::versioned::VersionedRowKind;
use serde_json::{Value, json};

use crate::args::Place;
use crate::check::{self, USUAL};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::verify::{Verify, VerifyFormat, VerifyKind, levels_of};
use crate::witnesses::{self, Anomaly};
use crate::{files, output, session};

/// Drives each target, one after the other, and judges what was recorded.
pub(crate) fn run(place: &Place, flags: &Verify) -> Result<Exit, Failure> {
    let specs = flags.specs()?;
    let levels = levels_of(&flags.level);
    if flags.export.is_some() && (specs.len(), levels.len()) != (1, 1) {
        let text = "--export writes one history: name one target, and one level with --level";
        return Err(Failure::Usage(text.to_owned()));
    }
    if flags.scripts.is_some() && flags.repeat == 0 {
        let text =
            "--scripts keeps what was played again: leave --repeat out, or make it 1 or more";
        return Err(Failure::Usage(text.to_owned()));
    }
    let load = load_of(flags)?;
    if flags.one_thread && !specs.iter().all(|spec| matches!(spec.target, Target::Engine(_))) {
        let text = "--one-thread drives engine: alone; the clients of a server have a thread each";
        return Err(Failure::Usage(text.to_owned()));
    }
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let mut all = Vec::new();
    let mut is_cut_short = false;
    if let Some(folder) = &flags.scripts {
        files::make_directory(folder)?;
    }
    for spec in &specs {
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let target = spec.to_string();
        let mut judge = |recorded| match judged(flags, &target, recorded) {
            Ok((proved, witnesses)) => (Ok(proved), witnesses),
            Err(failure) => (Err(failure), Vec::new()),
        };
        let runs = if load.kind == RandomLoadKind::Rows { flags.repeat } else { 0 };
        let told = random_transactions(&mut lab, spec, &levels, load, runs, &mut judge)?;
        drop(ticker);
        let mut proved = Vec::new();
        for (level, replayed) in told.levels {
            let level = LevelProof { replayed, ..level? };
            if let Some(folder) = &flags.scripts {
                witnesses::keep(folder, &target, level.level, &level.replayed)?;
            }
            proved.push(level);
        }
        is_cut_short |= told.is_cut_short;
        all.push((target, ServerProof { version: told.version, levels: proved }));
        if is_cut_short {
            break;
        }
    }
    output::print(&match flags.format {
        VerifyFormat::Json => told_json(flags, &all),
        VerifyFormat::Text => output::lines(told_text(flags, &all)),
        // Lanes of sessions are drawn with spaces.
        VerifyFormat::Markdown => format!("```text\n{}```\n", told_text(flags, &all)),
    })?;
    Ok(if is_cut_short { Exit::Interrupted } else { exit_of(&all) })
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

/// A server with what was proved level by level.
struct ServerProof {
    version: String,
    levels: Vec<LevelProof>,
}

/// What the history of one level proves.
struct LevelProof {
    level: IsolationLevel,
    promised: Level,
    of: PromiseScope,
    refused: BTreeMap<String, u64>,
    lost: u64,
    unrecorded: u64,
    /// What the server's own log says to it.
    log: Option<Result<LogAgrees, String>>,
    history: History,
    contention: dbdyno_check::Contention,
    promise: LevelVerdict,
    /// Levels that the server does not promise.
    beyond: Vec<(Level, LevelVerdict)>,
    /// What two transactions did to each other.
    anomalies: Vec<Anomaly>,
    /// Witnesses that have no script, and why.
    unplayed: Vec<(String, String)>,
    replayed: Vec<WitnessReplay>,
}

fn judged(
    flags: &Verify,
    target: &str,
    mut recorded: LevelRecord,
) -> Result<(LevelProof, Vec<AnomalyWitness>), Failure> {
    let mut history = read_records(&recorded.records).map_err(|bad| {
        Failure::Usage(format!("the history that was recorded cannot be read: {bad}"))
    })?;
    if let Some(path) = flags.export.as_ref().filter(|_| recorded.of == PromiseScope::OfAll) {
        match flags.kind {
            // Searches by ranges and deletions have words in records alone.
            VerifyKind::Rows => {
                seal(&mut recorded.records);
                files::write(path, &recorded.records)?;
            }
            _ => check::exported(&history, path)?,
        }
    }
    let LevelRecord { level, promise: promised, family, of, refused, lost, unrecorded, .. } =
        recorded;
    let log = recorded.log.map(|log| settled(&mut history, &log));
    let checker = Checker::new(&history);
    let others = USUAL.into_iter().filter(|level| *level != promised);
    let asked: Vec<Level> = std::iter::once(promised).chain(others).collect();
    let mut beyond = checker.verdicts(&asked);
    let (_, promise) = beyond.remove(0);
    let contention = checker.contention();
    let anomalies = witnesses::anomalies(&history, &checker, threads_of(flags));
    let source = format!("dbdyno verify {target} --level {level} --seed {}", flags.seed);
    // A case is of all transactions, whoever says its statements.
    let prevented = (of == PromiseScope::OfAll).then(|| format!("{family} {level}"));
    let witnesses = match flags.kind {
        VerifyKind::Rows => witnesses::of(&history, &anomalies, &promise, &prevented, &source),
        _ => Vec::new(),
    };
    let unplayed = witnesses::unplayed(&witnesses);
    let replayed = Vec::new();
    let proved = LevelProof {
        level,
        promised,
        of,
        refused,
        lost,
        unrecorded,
        log,
        contention,
        promise,
        beyond,
        anomalies,
        unplayed,
        replayed,
        history,
    };
    Ok((proved, witnesses))
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

fn exit_of(all: &[(String, ServerProof)]) -> Exit {
    let levels = || all.iter().flat_map(|(_, one)| &one.levels);
    let promises = || levels().map(|one| &one.promise);
    let contradicts_log = levels().any(|one| matches!(one.log, Some(Err(_))));
    if contradicts_log || promises().any(|verdict| verdict.anomaly().is_some()) {
        Exit::Fails
    } else if promises().any(|verdict| matches!(verdict, LevelVerdict::CannotTell(_))) {
        Exit::CannotTell
    } else {
        Exit::Holds
    }
}

fn told_text(flags: &Verify, all: &[(String, ServerProof)]) -> String {
    let mut out = String::new();
    for (target, one) in all {
        let _ = writeln!(
            out,
            "{target} ({}): {} clients on {} {}, {} at each level",
            one.version,
            flags.clients,
            flags.keys,
            kind_name(flags.kind),
            extent_of(flags)
        );
        for proved in &one.levels {
            out.push('\n');
            out.push_str(&level_text(proved, flags.all));
        }
        out.push('\n');
    }
    out
}

fn level_text(proved: &LevelProof, draw_all: bool) -> String {
    let LevelProof { level, promised, refused, history, contention: seen, promise, beyond, .. } =
        proved;
    let (word, proof) = match promise {
        LevelVerdict::Holds(_) => {
            ("holds".to_owned(), "; an order of all transactions was replayed")
        }
        other => (check::word(other), ""),
    };
    let of_whom = match proved.of {
        PromiseScope::OfAll => "",
        PromiseScope::OfDisciplined => " for transactions that lock all or nothing",
    };
    let source = promised.source();
    let mut out = format!("  {level} promises {promised}{of_whom}: {word}\n    {source}{proof}\n");
    let _ = writeln!(
        out,
        "    {} of {} transactions committed; ww {}, wr {}, rw {} dependencies",
        seen.committed,
        history.len(),
        seen.ww,
        seen.wr,
        seen.rw
    );
    if !refused.is_empty() {
        let refused = refused.iter().map(|(error, count)| format!("{error} ×{count}"));
        let _ = writeln!(out, "    refused: {}", refused.collect::<Vec<_>>().join(", "));
    }
    out.push_str(&missing(proved));
    match &proved.log {
        Some(Ok(agrees)) => out.push_str(&agreed(agrees)),
        Some(Err(differs)) => {
            let _ = writeln!(out, "    ROW LOG DIFFERS from what clients were answered: {differs}");
        }
        None => {}
    }
    if let Some(bound) = check::bound(seen).filter(|_| matches!(promise, LevelVerdict::Holds(_))) {
        let _ = writeln!(out, "    {bound}");
    }
    let drawing = |out: &mut String, verdict: &LevelVerdict| {
        drawn(history, verdict).lines().for_each(|line| out.push_str(&format!("      {line}\n")));
    };
    drawing(&mut out, promise);
    out.push_str(&witnesses::text(&proved.anomalies, &proved.replayed, draw_all));
    for (anomaly, why) in &proved.unplayed {
        let _ = writeln!(out, "    {anomaly} has no script: {why}");
    }
    let of = |is: fn(&LevelVerdict) -> bool| beyond.iter().filter(move |(_, verdict)| is(verdict));
    let held: Vec<&str> = of(|verdict| matches!(verdict, LevelVerdict::Holds(_)))
        .map(|(level, _)| level.name())
        .collect();
    if !held.is_empty() {
        let _ = writeln!(out, "    held as well: {}", held.join(", "));
    }
    for (level, verdict) in of(|verdict| !matches!(verdict, LevelVerdict::Holds(_))) {
        let _ = writeln!(out, "    not promised: {level}, {}", check::word(verdict));
        if draw_all {
            drawing(&mut out, verdict);
        }
    }
    out
}

/// What is not in the history, or not known of it.
fn missing(proved: &LevelProof) -> String {
    let mut out = String::new();
    if proved.unrecorded > 0 {
        let _ = writeln!(
            out,
            "    {} transactions were not recorded: the memory for records was full, and the \
             history ends before them",
            proved.unrecorded
        );
    }
    if proved.lost > 0 {
        let unknown = unknown_outcomes(&proved.history);
        let _ = writeln!(
            out,
            "    connections lost: {}; of {unknown} transactions the outcome is unknown",
            proved.lost
        );
    }
    out
}

fn agreed(agrees: &LogAgrees) -> String {
    let LogAgrees { transactions, changes, unknown: (done, undone) } = agrees;
    let mut text = format!(
        "    row log: {transactions} transactions, {changes} changes, all as clients were answered\n"
    );
    if done + undone > 0 {
        let _ = writeln!(text, "    of unknown outcome: {done} in the log, {undone} not");
    }
    text
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

fn told_json(flags: &Verify, all: &[(String, ServerProof)]) -> String {
    let level = |proved: &LevelProof| -> Value {
        let levels: Vec<(Level, LevelVerdict)> =
            std::iter::once((proved.promised, proved.promise.clone()))
                .chain(proved.beyond.iter().cloned())
                .collect();
        json!({
            "level": proved.level.name(),
            "promise": proved.promised.name(),
            "of": match proved.of {
                PromiseScope::OfAll => "all",
                PromiseScope::OfDisciplined => "disciplined",
            },
            "refused": proved.refused,
            "connections_lost": proved.lost,
            "unrecorded": proved.unrecorded,
            "row_log": proved.log.as_ref().map(|log| match log {
                Ok(agrees) => json!({
                    "agrees": true, "transactions": agrees.transactions, "changes": agrees.changes,
                }),
                Err(differs) => json!({ "agrees": false, "difference": differs }),
            }),
            "unknown": unknown_outcomes(&proved.history),
            "anomalies": witnesses::anomalies_json(&proved.anomalies),
            "witnesses": witnesses::json(&proved.replayed),
            "without_script": proved.unplayed.iter().map(|(anomaly, why)| {
                json!({ "anomaly": anomaly, "why": why })
            }).collect::<Vec<_>>(),
            "history": check::value(&proved.history, &proved.contention, &levels),
        })
    };
    let servers: Vec<Value> = all
        .iter()
        .map(|(target, one)| {
            json!({
                "target": target, "version": one.version,
                "levels": one.levels.iter().map(level).collect::<Vec<_>>(),
            })
        })
        .collect();
    let told = json!({
        "schema": 1, "kind": kind_name(flags.kind), "clients": flags.clients, "keys": flags.keys,
        "seconds": flags.transactions.is_none().then_some(flags.seconds),
        "transactions": flags.transactions, "seed": flags.seed, "servers": servers,
    });
    dbdyno_report::json_text(&told)
}
