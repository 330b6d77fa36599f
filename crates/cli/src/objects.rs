//! Banks, sets, counters, registers and mutexes of `dbdyno check`, as text and JSON.

use std::fmt::Write as _;

use dbdyno_check::{ObjectJudgement, ObjectVerdict};
use serde_json::{Value, json};

use crate::exit::Exit;

/// How the program ends.
pub(crate) fn exit(judged: &ObjectJudgement) -> Exit {
    match judged.finding {
        ObjectVerdict::Holds(_) => Exit::Holds,
        ObjectVerdict::Broken { .. } => Exit::Fails,
        ObjectVerdict::CannotTell(_) => Exit::CannotTell,
    }
}

fn word(judged: &ObjectJudgement) -> &'static str {
    match judged.finding {
        ObjectVerdict::Holds(_) => "holds",
        ObjectVerdict::Broken { .. } => "broken",
        ObjectVerdict::CannotTell(_) => "cannot tell",
    }
}

/// What the file was taken for, how much of it was understood, and what was found.
pub(crate) fn text(judged: &ObjectJudgement) -> String {
    let (workload, counted) = (judged.workload, judged.counted);
    let keys = match counted.keys {
        1 => String::new(),
        keys => format!(" on {keys} keys"),
    };
    let mut out = format!(
        "{}: {}\ntaken for a {} of Jepsen: {} operations{keys}, {} ok, {} failed, {} of unknown \
         outcome; {} entries of the nemesis passed over\n",
        word(judged),
        workload.property(),
        workload.name(),
        counted.operations,
        counted.ok,
        counted.failed,
        counted.unknown,
        counted.passed_over,
    );
    for note in &judged.notes {
        let _ = writeln!(out, "{note}");
    }
    let told = match &judged.finding {
        ObjectVerdict::Holds(how) => format!("holds; {how}"),
        ObjectVerdict::Broken { anomaly, .. } => format!("broken by {anomaly}"),
        ObjectVerdict::CannotTell(why) => format!("cannot tell: {why}"),
    };
    let _ = writeln!(out, "\n{}, {}: {told}", workload.property(), workload.source());
    if let ObjectVerdict::Broken { evidence, .. } = &judged.finding {
        for line in evidence {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// The same for programs.
pub(crate) fn json(judged: &ObjectJudgement) -> String {
    let (workload, counted) = (judged.workload, judged.counted);
    let (told, anomaly, why, evidence): (_, _, Option<&str>, &[String]) = match &judged.finding {
        ObjectVerdict::Holds(how) => ("holds", None, Some(how), &[]),
        ObjectVerdict::Broken { anomaly, evidence } => ("broken", Some(anomaly), None, evidence),
        ObjectVerdict::CannotTell(why) => ("cannot_tell", None, Some(why), &[]),
    };
    let value: Value = json!({
        "schema": 1, "workload": workload.name(), "property": workload.property(),
        "definition": workload.source(), "verdict": told, "anomaly": anomaly, "why": why,
        "evidence": evidence, "notes": judged.notes, "operations": counted.operations,
        "ok": counted.ok, "failed": counted.failed, "unknown": counted.unknown,
        "passed_over": counted.passed_over, "keys": counted.keys,
    });
    dbdyno_report::json_text(&value)
}
