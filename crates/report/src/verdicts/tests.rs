//! Proofs that nobody found, as documents and as JSON.

use std::collections::BTreeMap;

use dbdyno_document::markdown;
use dbdyno_document::terminal::{self, Colour, TextStyle};

use super::*;
use crate::isolation::IsolationExtent;

fn level(level: &'static str, verdict: PropertyVerdict, drawing: &[&str]) -> LevelFinding {
    let drawing = drawing.iter().map(|line| (*line).into()).collect();
    let witness = LevelWitness { drawing, ..LevelWitness::default() };
    LevelFinding { level, definition: "PL-3", verdict, witness }
}

fn history(levels: Vec<LevelFinding>) -> HistoryReport {
    HistoryReport {
        schema: VERDICTS_SCHEMA,
        taken_for: None,
        transactions: 50,
        committed: 40,
        operations: 90,
        ww: 1,
        wr: 2,
        rw: 3,
        unplaced: 0,
        levels,
        anomalies: None,
        anomalies_untold_at: None,
    }
}

fn random() -> RandomReport {
    let levels = vec![
        level("snapshot-isolation", PropertyVerdict::broken_by("lost update"), &["T0", "", "  T1"]),
        level("read-committed", PropertyVerdict::holds(), &[]),
        level("serializable", PropertyVerdict::cannot_tell("it is too long"), &["T2"]),
    ];
    let lost_update = ReplayFinding {
        anomaly: "lost update".to_owned(),
        sessions: 2,
        runs: 20,
        seen: 0,
        rate_low: 0.0,
        rate_high: 0.16,
        waited: 3,
        refused: BTreeMap::from([("1213".to_owned(), 4)]),
        case: "case".to_owned(),
        sql: "begin;\ncommit;".to_owned(),
    };
    let level = RandomLevel {
        level: "repeatable-read",
        promise: "snapshot-isolation",
        of: PromisedTransactions::Disciplined,
        refused: BTreeMap::from([("1213".to_owned(), 7)]),
        connections_lost: 1,
        unrecorded: 5,
        unknown: 2,
        row_log: Some(RowLogFinding::Contradiction {
            agrees: false,
            difference: "row 7".to_owned(),
        }),
        anomalies: vec![PairFinding {
            anomaly: "lost update".to_owned(),
            pairs: 12,
            first_s: Some(0.5),
        }],
        witnesses: vec![lost_update],
        without_script: vec![UnplayedAnomaly {
            anomaly: "phantom".to_owned(),
            why: "it needs three".to_owned(),
        }],
        history: history(levels),
    };
    RandomReport {
        schema: VERDICTS_SCHEMA,
        kind: "rows",
        clients: 8,
        keys: 16,
        seconds: Some(5.0),
        transactions: None,
        extent: "5 s".to_owned(),
        seed: 1,
        servers: vec![RandomServer {
            target: "engine:".to_owned(),
            version: "1".to_owned(),
            levels: vec![level],
        }],
    }
}

#[test]
fn what_random_transactions_prove_is_told_level_by_level() {
    let text = |extent| {
        let style = TextStyle { colour: Colour::Plain, width: 200 };
        terminal::render_document(&random_document(&random(), extent), &style)
    };
    let head = "engine: (1): 8 clients on 16 rows, 5 s at each level\n\n\
        repeatable-read promises snapshot-isolation for transactions that lock all or nothing: \
        broken by lost update\n\
        \x20 PL-3\n\
        \x20 40 of 50 transactions committed; ww 1, wr 2, rw 3 dependencies\n\
        \x20 refused: 1213 ×7\n\
        \x20 5 transactions were not recorded: the memory for records was full, and the history \
        ends before them\n\
        \x20 connections lost: 1; of 2 transactions the outcome is unknown\n\
        \x20 ROW LOG DIFFERS from what clients were answered: row 7\n\
        \x20 T0\n\n\
        \x20   T1\n\
        \x20 lost update ×12, first after 0.50 s\n\
        \x20   played again by 2 sessions, a statement at a time: 0 of 20 (95 %: 0 to 16 %)\n\
        \x20   a statement waited in 3; error 1213 in 4; it takes more than that: statements at \
        work at the same time, or what the sessions did before\n";
    let script = "  begin;\n  commit;\n";
    let unplayed = "  phantom has no script: it needs three\n  held as well: read-committed\n  \
                    not promised: serializable, cannot tell: it is too long\n";
    assert_eq!(text(IsolationExtent::Tables), [head, unplayed].concat());
    assert_eq!(text(IsolationExtent::Stories), [head, script, unplayed, "  T2\n"].concat());
}

#[test]
fn names_of_a_contract_are_in_the_order_of_the_alphabet() {
    let json = verdicts_json(&random());
    let place = |name: &str| json.find(&format!("\n  \"{name}\":")).expect(name);
    let names = ["clients", "keys", "kind", "schema", "seconds", "seed", "servers", "transactions"];
    assert!(names.windows(2).all(|two| place(two[0]) < place(two[1])), "{json}");
    let log =
        "\"row_log\": {\n            \"agrees\": false,\n            \"difference\": \"row 7\"\n";
    assert!(json.contains(log), "{json}");
    assert!(!json.contains("taken_for") && !json.contains("drawing"), "{json}");
}

#[test]
fn a_history_without_an_anomaly_bounds_their_rate_and_tells_kinds() {
    let mut report = history(vec![level("serializable", PropertyVerdict::holds(), &[])]);
    let text = markdown::render_document(&history_report_document(&report));
    assert!(text.starts_with("**holds: serializable**\n\n50 transactions, 40 committed"), "{text}");
    assert!(text.contains("No anomaly in 40 commits: at most 7.5e-2 of commits"), "{text}");
    report.anomalies = Some(Vec::new());
    report.anomalies_untold_at = Some(vec!["causal"]);
    let text = markdown::render_document(&history_report_document(&report));
    assert!(text.contains("kinds of anomalies: none of those that the file tells"), "{text}");
    assert!(text.contains("others, which would break causal, cannot be told"), "{text}");
    report.levels.clear();
    report.committed = 29;
    let text = markdown::render_document(&history_report_document(&report));
    assert!(!text.contains("No anomaly in"), "too few: {text}");
}
