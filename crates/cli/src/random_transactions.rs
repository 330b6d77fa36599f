//! `dbdyno verify` without a case: random transactions, and what their history proves.
//!
//! ```text
//!   repeatable-read promises innodb-repeatable-read: holds          decides the exit code
//!     21402 committed; ww 13310, wr 10992, rw 12804                 what was exercised
//!     not promised: serializable, broken by write skew (G2-item)    what else was looked at
//! ```

use std::fmt::Write as _;

use dbdyno_check::{Checker, History, Level, Verdict, drawn, read_records};
use dbdyno_lab::{Extent, IsolationLab, RandomLoad, Recorded, RecordedOf, random_transactions};
use serde_json::{Value, json};

use crate::args::Place;
use crate::check::{self, USUAL};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::verify::{Verify, VerifyFormat, levels_of};
use crate::{output, session};

/// Drives each target, one after the other, and judges what was recorded.
pub(crate) fn run(place: &Place, flags: &Verify) -> Result<Exit, Failure> {
    let specs = flags.specs()?;
    let levels = levels_of(&flags.level);
    if flags.export.is_some() && (specs.len(), levels.len()) != (1, 1) {
        let text = "--export writes one history: name one target, and one level with --level";
        return Err(Failure::Usage(text.to_owned()));
    }
    let load = RandomLoad {
        clients: flags.clients,
        extent: extent_of(flags),
        keys: flags.keys,
        seed: flags.seed,
    };
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let mut all = Vec::new();
    let mut is_cut_short = false;
    for spec in &specs {
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let recorded = random_transactions(&mut lab, spec, &levels, load)?;
        drop(ticker);
        if let (Some(path), [only]) = (&flags.export, recorded.levels.as_slice()) {
            std::fs::write(path, &only.records)
                .map_err(|error| Failure::Write(path.display().to_string(), error))?;
        }
        is_cut_short |= recorded.is_cut_short;
        all.push((spec.to_string(), judged(recorded)?));
        if is_cut_short {
            break;
        }
    }
    output::print(&match flags.format {
        VerifyFormat::Json => told_json(flags, &all),
        VerifyFormat::Text => told_text(flags, &all),
        // Lanes of sessions are drawn with spaces.
        VerifyFormat::Markdown => format!("```text\n{}```\n", told_text(flags, &all)),
    })?;
    Ok(if is_cut_short { Exit::Interrupted } else { exit_of(&all) })
}

fn extent_of(flags: &Verify) -> Extent {
    flags.transactions.map_or(Extent::Seconds(flags.seconds), Extent::Transactions)
}

/// A server with what was proved level by level.
struct Judged {
    version: String,
    levels: Vec<Proved>,
}

/// What the history of one level proves.
struct Proved {
    recorded: Recorded,
    history: History,
    contention: dbdyno_check::Contention,
    promise: Verdict,
    /// Levels that the server does not promise.
    beyond: Vec<(Level, Verdict)>,
}

fn judged(recorded: RecordedOf) -> Result<Judged, Failure> {
    let prove = |recorded: Recorded| {
        let history = read_records(&recorded.records).map_err(|bad| {
            Failure::Usage(format!("the history that was recorded cannot be read: {bad}"))
        })?;
        let checker = Checker::new(&history);
        let promise = check::proved(&history, recorded.promise, &checker);
        let beyond = USUAL.into_iter().filter(|level| *level != recorded.promise);
        let beyond = beyond.map(|level| (level, check::proved(&history, level, &checker)));
        let beyond = beyond.collect();
        let contention = checker.contention();
        Ok(Proved { recorded, contention, promise, beyond, history })
    };
    let levels = recorded.levels.into_iter().map(prove).collect::<Result<_, Failure>>()?;
    Ok(Judged { version: recorded.version, levels })
}

fn exit_of(all: &[(String, Judged)]) -> Exit {
    let promises = || all.iter().flat_map(|(_, one)| &one.levels).map(|one| &one.promise);
    match () {
        () if promises().any(|verdict| verdict.anomaly().is_some()) => Exit::Fails,
        () if promises().any(|verdict| matches!(verdict, Verdict::CannotTell(_))) => {
            Exit::CannotTell
        }
        () => Exit::Holds,
    }
}

fn told_text(flags: &Verify, all: &[(String, Judged)]) -> String {
    let mut out = String::new();
    for (target, one) in all {
        let _ = writeln!(
            out,
            "{target} ({}): {} clients on {} rows, {} at each level",
            one.version,
            flags.clients,
            flags.keys,
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

fn level_text(proved: &Proved, draw_all: bool) -> String {
    let Proved { recorded, history, contention: seen, promise, beyond } = proved;
    let (word, proof) = match promise {
        Verdict::Holds(_) => ("holds".to_owned(), "; an order of all transactions was replayed"),
        other => (check::word(other), ""),
    };
    let mut out = format!(
        "  {} promises {}: {word}\n    {}{proof}\n",
        recorded.level,
        recorded.promise,
        recorded.promise.source(),
    );
    let _ = writeln!(
        out,
        "    {} of {} transactions committed; ww {}, wr {}, rw {} dependencies",
        seen.committed,
        history.len(),
        seen.ww,
        seen.wr,
        seen.rw
    );
    if !recorded.refused.is_empty() {
        let refused = recorded.refused.iter().map(|(error, count)| format!("{error} ×{count}"));
        let _ = writeln!(out, "    refused: {}", refused.collect::<Vec<_>>().join(", "));
    }
    if let Some(bound) = check::bound(seen).filter(|_| matches!(promise, Verdict::Holds(_))) {
        let _ = writeln!(out, "    {bound}");
    }
    let drawing = |out: &mut String, verdict: &Verdict| {
        drawn(history, verdict).lines().for_each(|line| out.push_str(&format!("      {line}\n")));
    };
    drawing(&mut out, promise);
    let of = |is: fn(&Verdict) -> bool| beyond.iter().filter(move |(_, verdict)| is(verdict));
    let held: Vec<&str> =
        of(|verdict| matches!(verdict, Verdict::Holds(_))).map(|(level, _)| level.name()).collect();
    if !held.is_empty() {
        let _ = writeln!(out, "    held as well: {}", held.join(", "));
    }
    for (level, verdict) in of(|verdict| !matches!(verdict, Verdict::Holds(_))) {
        let _ = writeln!(out, "    not promised: {level}, {}", check::word(verdict));
        if draw_all {
            drawing(&mut out, verdict);
        }
    }
    out
}

fn told_json(flags: &Verify, all: &[(String, Judged)]) -> String {
    let level = |proved: &Proved| -> Value {
        let levels: Vec<(Level, Verdict)> =
            std::iter::once((proved.recorded.promise, proved.promise.clone()))
                .chain(proved.beyond.iter().cloned())
                .collect();
        json!({
            "level": proved.recorded.level.name(),
            "promise": proved.recorded.promise.name(),
            "refused": proved.recorded.refused,
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
        "schema": 1, "clients": flags.clients, "keys": flags.keys,
        "seconds": flags.transactions.is_none().then_some(flags.seconds),
        "transactions": flags.transactions, "seed": flags.seed, "servers": servers,
    });
    format!("{told:#}\n")
}
