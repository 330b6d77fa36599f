//! `dbdyno verify --online`: verdicts of transactions that nobody keeps.
//!
//! ```text
//!   repeatable-read promises innodb-repeatable-read: holds
//!     21402 committed; 37 of them, and 112 versions, were kept at a time at most
//!     not promised: serializable, broken by write skew (G2-item)
//! ```

use std::fmt::Write as _;

use dbdyno_check::{Level, OnlineVerdict};
use dbdyno_lab::{
    IsolationLab, OnlineOf, OnlineTold, RandomLoad, RandomLoadKind, online_transactions,
};
use serde_json::{Value, json};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Ticker;
use crate::random_transactions::{kind_name, kind_of, load_of};
use crate::verify::{Verify, VerifyFormat, VerifyKind, levels_of};
use crate::{output, session};

/// Drives each target, one after the other, and judges meanwhile.
pub(crate) fn run(place: &Place, flags: &Verify) -> Result<Exit, Failure> {
    let (shape, load) = match (kind_of(flags)?, flags.kind) {
        (_, VerifyKind::Counters) => return refuse("the sums of counters are matched at the end"),
        (RandomLoadKind::Rows, _) => {
            return refuse("what searches by ranges saw is decided at the end");
        }
        (RandomLoadKind::Load(shape), _) => (shape, load_of(flags)?),
    };
    let specs = flags.specs()?;
    let levels = levels_of(&flags.level);
    let home = session::open_home(place)?;
    let stop = session::stop_flag();
    let mut all = Vec::new();
    for spec in &specs {
        let mut ticker = Ticker::new();
        let mut lab = IsolationLab { home: &home, stop: &stop, watch: &mut ticker };
        let told = online_transactions(&mut lab, spec, &levels, load, shape)?;
        drop(ticker);
        let is_cut_short = told.is_cut_short;
        all.push((spec.to_string(), told));
        if is_cut_short {
            break;
        }
    }
    output::print(&match flags.format {
        VerifyFormat::Json => json_of(flags, &load, &all),
        VerifyFormat::Text => output::lines(text_of(flags, &load, &all)),
        VerifyFormat::Markdown => format!("```text\n{}```\n", text_of(flags, &load, &all)),
    })?;
    Ok(exit_of(&all))
}

fn refuse(why: &str) -> Result<Exit, Failure> {
    let text = format!("--online judges --kind registers and --kind lists: {why}");
    Err(Failure::Usage(text))
}

fn promised(told: &OnlineTold) -> Option<&OnlineVerdict> {
    told.verdicts.iter().find(|(level, _)| *level == told.promise).map(|(_, verdict)| verdict)
}

fn exit_of(all: &[(String, OnlineOf)]) -> Exit {
    let verdicts = || all.iter().flat_map(|(_, one)| &one.levels).map(promised);
    if all.iter().any(|(_, one)| one.is_cut_short) {
        Exit::Interrupted
    } else if verdicts().any(|one| matches!(one, Some(OnlineVerdict::Broken(_)))) {
        Exit::Fails
    } else if verdicts().all(|one| one == Some(&OnlineVerdict::Holds)) {
        Exit::Holds
    } else {
        Exit::CannotTell
    }
}

fn word(verdict: &OnlineVerdict) -> String {
    match verdict {
        OnlineVerdict::Holds => "holds".to_owned(),
        OnlineVerdict::Broken(anomaly) => format!("broken by {anomaly}"),
        OnlineVerdict::CannotTell(why) => format!("cannot tell: {why}"),
    }
}

fn text_of(flags: &Verify, load: &RandomLoad, all: &[(String, OnlineOf)]) -> String {
    let mut out = String::new();
    for (target, one) in all {
        let _ = writeln!(
            out,
            "{target} ({}): {} clients on {} {}, {} at each level, judged meanwhile",
            one.version,
            load.clients,
            load.keys,
            kind_name(flags.kind),
            load.extent
        );
        one.levels.iter().for_each(|told| out.push_str(&level_text(told)));
        out.push('\n');
    }
    out
}

fn level_text(told: &OnlineTold) -> String {
    let OnlineTold { level, promise, counted, kept, .. } = told;
    let verdict = promised(told).map(word).unwrap_or_default();
    let mut out = format!("\n  {level} promises {promise}: {verdict}\n    {}\n", promise.source());
    let _ = writeln!(
        out,
        "    {counted} committed; {} of them, and {} versions, were kept at a time at most",
        kept.0, kept.1
    );
    if told.retries > 0 {
        let _ =
            writeln!(out, "    refused: serialization failures and deadlocks ×{}", told.retries);
    }
    if let Some(at) = told.broken_at {
        let _ = writeln!(out, "    known after {at} transactions");
    }
    let others = || told.verdicts.iter().filter(|(level, _)| level != promise);
    let held: Vec<&str> = others()
        .filter(|(_, verdict)| *verdict == OnlineVerdict::Holds)
        .map(|(level, _)| level.name())
        .collect();
    if !held.is_empty() {
        let _ = writeln!(out, "    held as well: {}", held.join(", "));
    }
    for (level, verdict) in others().filter(|(_, verdict)| *verdict != OnlineVerdict::Holds) {
        let _ = writeln!(out, "    not promised: {level}, {}", word(verdict));
    }
    out
}

fn json_of(flags: &Verify, load: &RandomLoad, all: &[(String, OnlineOf)]) -> String {
    let servers = all.iter().map(|(target, one)| {
        let levels: Vec<Value> = one.levels.iter().map(json_of_level).collect();
        json!({ "target": target, "version": one.version, "levels": levels })
    });
    let told = json!({
        "schema": 1, "kind": kind_name(flags.kind), "clients": load.clients, "keys": load.keys,
        "seed": flags.seed, "online": servers.collect::<Vec<_>>(),
    });
    dbdyno_report::json_text(&told)
}

fn json_of_level(told: &OnlineTold) -> Value {
    let verdicts = told.verdicts.iter().map(|(level, verdict)| json_of_verdict(*level, verdict));
    json!({
        "level": told.level.name(), "promise": told.promise.name(),
        "committed": told.counted, "known_after": told.broken_at,
        "kept_transactions": told.kept.0, "kept_versions": told.kept.1,
        "retries": told.retries,
        "levels": verdicts.collect::<Vec<_>>(),
    })
}

fn json_of_verdict(level: Level, verdict: &OnlineVerdict) -> Value {
    let (told, anomaly, why) = match verdict {
        OnlineVerdict::Holds => ("holds", None, None),
        OnlineVerdict::Broken(anomaly) => ("broken", Some(anomaly), None),
        OnlineVerdict::CannotTell(why) => ("cannot_tell", None, Some(why)),
    };
    json!({ "level": level.name(), "verdict": told, "anomaly": anomaly, "why": why })
}
