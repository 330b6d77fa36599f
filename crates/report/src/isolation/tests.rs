//! Tables, stories and counts of a server that is made up.

use dbdyno_model::isolation::{
    CaseOutcome, CaseTold, IsolationLevel, Promise, StepAnswer, StepTold, StepWait,
};

use super::*;
use dbdyno_document::markdown;
use dbdyno_document::terminal::{self, Colour, TextStyle};

fn on_screen(all: &[IsolationTold], extent: IsolationExtent, width: usize) -> String {
    let document = isolation_document(all, extent, IsolationLayout::Apart);
    terminal::render_document(&document, &TextStyle { colour: Colour::Plain, width })
}

fn on_page(all: &[IsolationTold]) -> String {
    let layout = IsolationLayout::Together;
    markdown::render_document(&isolation_document(all, IsolationExtent::Tables, layout))
}

fn step(session: u8, sql: &str, answer: StepAnswer) -> StepTold {
    StepTold { session, sql: sql.to_owned(), answer, waited: None }
}

fn case(name: &str, anomaly: &str, outcome: CaseOutcome, promise: Promise) -> CaseTold {
    let wait = StepWait { for_whom: vec![1], until: Some(2) };
    let late = StepTold { waited: Some(wait), ..step(2, "update", StepAnswer::Changed(1)) };
    CaseTold {
        name: name.to_owned(),
        anomaly: anomaly.to_owned(),
        is_published: true,
        about: "What it is.".to_owned(),
        outcome,
        promise,
        steps: vec![
            step(1, "select", StepAnswer::Rows(vec![vec![Some("1".into()), None]])),
            late,
            step(1, "commit", StepAnswer::Changed(0)),
        ],
        refused_setup: None,
    }
}

fn told(cases: Vec<CaseTold>, shapes: Vec<ShapeTold>) -> IsolationTold {
    IsolationTold {
        target: "mysql:8.0".to_owned(),
        version: "8.0.33".to_owned(),
        family: "mysql".to_owned(),
        levels: vec![LevelTold { level: IsolationLevel::Serializable, cases, shapes }],
        is_cut_short: false,
    }
}

#[test]
fn a_broken_promise_is_marked_named_and_explained() {
    let cases = vec![
        case("P4", "P4", CaseOutcome::Occurs, Promise::Prevents),
        case("PMP", "PMP", CaseOutcome::BySnapshot, Promise::Prevents),
        case("PMP-write", "PMP", CaseOutcome::Occurs, Promise::Open),
        case("G2", "G2", CaseOutcome::ByError("1213".to_owned()), Promise::Open),
    ];
    let all = [told(cases, Vec::new())];
    let text = on_screen(&all, IsolationExtent::Tables, 100);
    for part in ["P4    occurs !", "PMP   some", "G2    error 1213 *", "P4 was seen"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let page = on_page(&all);
    let row = "| mysql:8.0 (8.0.33) | serializable | occurs ! | some | error 1213 \\* |";
    assert!(page.contains(row), "{page}");
    let json = isolation_json(&all);
    assert!(json.contains("\"broken\": true") && json.contains("\"error\": \"1213\""), "{json}");
}

#[test]
fn an_own_case_stands_by_itself_and_what_is_unknown_says_why() {
    let own = |name: &str, outcome| CaseTold {
        is_published: false,
        ..case(name, "P4", outcome, Promise::Open)
    };
    let cases = vec![
        case("P4", "P4", CaseOutcome::Occurs, Promise::Open),
        own("transfer", CaseOutcome::ByWaiting),
        own("refund", CaseOutcome::Unknown("T1 had no answer".to_owned())),
    ];
    let all = [told(cases, Vec::new())];
    let text = on_screen(&all, IsolationExtent::Tables, 100);
    for row in [["P4", "occurs"], ["transfer (P4)", "waits *"], ["refund (P4)", "unknown"]] {
        let is_there = |line: &str| line.trim_start().starts_with(row[0]) && line.ends_with(row[1]);
        assert!(text.lines().any(is_there), "{row:?} is missing in:\n{text}");
    }
    let why = "unknown at serializable: refund (P4): T1 had no answer";
    assert!(text.contains(why), "{text}");
}

#[test]
fn a_story_shows_waits_where_they_began_and_answers_where_they_came() {
    let all = [told(vec![case("P4", "P4", CaseOutcome::ByWaiting, Promise::Open)], Vec::new())];
    let text = on_screen(&all, IsolationExtent::Stories, 100);
    let lane = " ".repeat(26);
    let story = format!(
        "  T1 select → 1:null\n{lane}T2 update … waits for T1\n  T1 commit\n{lane}T2 … → 1 row\n"
    );
    assert!(text.contains(&story), "{text}");
}

#[test]
fn interleavings_are_counted_and_what_should_not_be_is_named() {
    let counts = Permissiveness {
        played: 10,
        allowed: 8,
        completed: 4,
        waited: 2,
        refused_after_waiting: 1,
        aborted: 1,
        not_serializable: 1,
        let_through: 1,
        ..Permissiveness::default()
    };
    let shape = ShapeTold {
        shape: "2x2x2".to_owned(),
        canonical: 40,
        counts,
        example: Some("T1 reads a".to_owned()),
    };
    let all = [told(Vec::new(), vec![shape])];
    let text = on_screen(&all, IsolationExtent::Tables, 120);
    for part in ["10/40", "50.0 %", "25.0 %", "12.5 %", "as T1 reads a"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(on_page(&all).contains("| 50.0 % |"));
}
