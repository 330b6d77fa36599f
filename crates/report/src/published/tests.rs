//! Printed figures that nobody printed, for people and for programs.

use dbdyno_document::terminal::{self, Colour, TextStyle};
use dbdyno_document::{csv, markdown};
use dbdyno_model::experiment::{Expectation, FigureOutcome, RoundFigure, Sign};
use dbdyno_model::published::{
    ExplainedRows, FigureStanding, FoundSign, PublishedRow, PublishedTable, ReplicatedRow,
    ReplicatedTable, Replication, RunOrigin,
};
use dbdyno_model::{Cell, Interval};

use super::published_document;

const NAMES: &str = "file,of,base,test,what,load,theirs,ours,ours_low,ours_high,by_server_cpu,\
                     by_server_cpu_low,by_server_cpu_high,standing\r\n";

fn replication(tables: Vec<ReplicatedTable>, signs: Vec<FoundSign>) -> Replication {
    Replication {
        file: "a.toml".to_owned(),
        question: "Is it *so*?".to_owned(),
        source: "Somebody, somewhere.".to_owned(),
        run: RunOrigin {
            run: "1".to_owned(),
            started_unix_ms: 0,
            command: "dbdyno run a.toml".to_owned(),
            arms: vec![(vec!["5.6".to_owned()], "mysql:5.6".to_owned())],
            host: "a host".to_owned(),
        },
        tables,
        signs,
        explained: ExplainedRows::default(),
    }
}

fn text(of: &Replication) -> String {
    let style = TextStyle { colour: Colour::Plain, width: 100 };
    terminal::render_document(&published_document(std::slice::from_ref(of)), &style)
}

#[test]
fn a_table_that_was_not_measured_is_said_to_people_and_has_rows_for_programs() {
    let row = PublishedRow { load: "scan".to_owned(), ratio: 0.5, because: None };
    let table = ReplicatedTable {
        published: PublishedTable {
            of: "scans".to_owned(),
            base: "5.6".to_owned(),
            test: "9.7".to_owned(),
            what: RoundFigure::Rate,
            clients: None,
            rows: vec![row.clone()],
        },
        arms: None,
        clients: Vec::new(),
        rows: vec![ReplicatedRow {
            published: row,
            ours: None,
            by_server_cpu: None,
            standing: FigureStanding::NotTestable,
        }],
        agreement: None,
        by_server_cpu: None,
    };
    let of = replication(vec![table], Vec::new());
    let row = "a.toml,scans,5.6,9.7,rate,scan,0.5,,,,,,,not testable here\r\n";
    let document = published_document(std::slice::from_ref(&of));
    assert_eq!(csv::render_document(&document), [NAMES, row].concat());
    let shown = text(&of);
    assert!(shown.starts_with("1 figure: 1 not testable here\n"), "{shown}");
    let said = "\nscans (9.7 ÷ 5.6)\n  not testable here, no arm stands for 5.6 or 9.7\n";
    assert!(shown.ends_with(said), "{shown}");
}

/// Of a text that prints medians alone it was said that nothing was measured, and at once that all
/// was confirmed.
#[test]
fn a_table_of_medians_alone_shows_what_was_measured() {
    let row = PublishedRow { load: "median of point".to_owned(), ratio: 0.5, because: None };
    let table = ReplicatedTable {
        published: PublishedTable {
            of: "points".to_owned(),
            base: "5.6".to_owned(),
            test: "9.7".to_owned(),
            what: RoundFigure::Rate,
            clients: None,
            rows: vec![row.clone()],
        },
        arms: Some(dbdyno_model::Pairing::USUAL),
        clients: vec![1],
        rows: vec![ReplicatedRow {
            published: row,
            ours: Some(Interval { estimate: 0.51, low: 0.5, high: 0.52 }),
            by_server_cpu: None,
            standing: FigureStanding::Confirmed,
        }],
        agreement: None,
        by_server_cpu: None,
    };
    let shown = text(&replication(vec![table], Vec::new()));
    assert!(shown.contains("\n  1 confirmed.\n"), "{shown}");
    assert!(shown.contains("= confirmed"), "{shown}");
    assert!(!shown.contains("not testable here, none"), "{shown}");
}

#[test]
fn expectations_are_told_one_by_one_and_their_names_of_columns_stay() {
    let figure = RoundFigure::Rate;
    let ratio = Interval { estimate: 0.5, low: 0.4, high: 0.6 };
    let found = FoundSign {
        expectation: Expectation {
            figure: figure.clone(),
            sign: Sign::Less,
            why: "it is old".to_owned(),
        },
        test: None,
        outcome: FigureOutcome {
            figure,
            cell: Cell { load: "scan".to_owned(), clients: 1 },
            base: Some(2.0),
            test: Some(1.0),
            ratio: Some(ratio),
            sign: Some(Sign::Less),
        },
    };
    let of = replication(Vec::new(), vec![found]);
    let document = published_document(std::slice::from_ref(&of));
    assert_eq!(csv::render_document(&document), NAMES);
    let shown = text(&of);
    let said = "\nexpected: rate less, it is old\n  = confirmed         scan at 1 client: 2.0000 → \
                1.0000, 0.500 (0.400 to 0.600) of base, less\n";
    assert!(shown.ends_with(said), "{shown}");
    let page = markdown::render_document(&document);
    assert!(page.contains("\n### Is it \\*so\\*?\n\n* printed: Somebody, somewhere\n"), "{page}");
    assert!(page.contains("```text\ndbdyno run a.toml\ndbdyno published a.toml\n```\n"), "{page}");
}
