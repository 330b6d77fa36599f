//! What people and programs see, kept as files.
//!
//! `UPDATE_GOLDEN=1 cargo test -p dbdyno-report --test report` writes the files anew, and those
//! of the tests in `arms` and `waits` as well, which the filter `golden::` would leave out. Read
//! the difference before committing it. A missing file is a failure.

use std::path::Path;

use crate::common::{self, Sample};
use dbdyno_document::terminal::{Colour, TextStyle};
use dbdyno_model::{Cell, Gate, GateOutcome};
use dbdyno_report::{
    CellOrder, GateCheck, GateResult, Section, View, benchfmt_report, comparison_checks, csv,
    first_markdown, first_screen, gate_markdown, github_annotations, html, json, junit_report,
    markdown, report_sections, terminal_report,
};

pub(crate) fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, actual).expect("the folder of golden files is writable");
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; write it with UPDATE_GOLDEN=1"));
    assert!(
        expected == actual,
        "{name} differs; if that is meant, write it with UPDATE_GOLDEN=1\n--- now\n{actual}"
    );
}

fn view(sample: &Sample) -> View {
    View::new(sample.run.first_pair(), &sample.comparison)
}

fn plain(width: usize) -> TextStyle {
    TextStyle { colour: Colour::Plain, width }
}

/// The first screen fits on one: the answer, a line a cell, three doubts at most.
#[test]
fn the_first_screen_answers_in_few_lines() {
    let first =
        |sample: &Sample, width| first_screen(&view(sample), CellOrder::Groups, &plain(width));
    for (name, sample) in [
        ("one", common::one_cell()),
        ("six", common::six_cells()),
        ("partial", common::partial()),
        ("nothing", common::nothing()),
        ("no-cells", common::no_cells()),
        ("hostile", common::hostile()),
    ] {
        let told = first(&sample, 100);
        assert!(told.lines().count() <= 25, "{name}: {told}");
        check(&format!("first-{name}.txt"), &told);
    }
    check("first-six-60.txt", &first(&common::six_cells(), 60));
    check("first-large.txt", &first(&common::large(), 110));
}

#[test]
fn the_worst_cell_comes_first_where_that_is_wished() {
    let view = view(&common::six_cells());
    check("worst-six.txt", &first_screen(&view, CellOrder::WorstFirst, &plain(100)));
    check("first-six.md", &first_markdown(&view, CellOrder::Groups));
    check("first-one.md", &first_markdown(&self::view(&common::one_cell()), CellOrder::Groups));
}

/// A gate that fails in one cell and is open in the other; names from outside stay names.
#[test]
fn continuous_integration_is_told_in_its_own_formats() {
    let view = view(&common::hostile());
    let outcomes = vec![GateOutcome::Fails, GateOutcome::CannotTell];
    let gate = Some(Gate { rqps_above: 0.98 });
    let unmeasured = Cell { load: "scan".to_owned(), clients: 4 };
    let checked = [GateCheck { view, gate, outcomes, unmeasured: vec![unmeasured] }];
    let result = GateResult {
        name: "rqps > 0.98".to_owned(),
        outcome: GateOutcome::Fails,
        sentence: "rqps > 0.98 fails: <b>::error::x\n##[endgroup] at 1 client".to_owned(),
    };
    let checks = comparison_checks(&checked, Some(&result));
    check("hostile.github", &github_annotations(&checks));
    check("hostile.xml", &junit_report(&checks));
    let summary = gate_markdown(&result);
    assert!(summary.ends_with("\n\n") && summary.trim_end().lines().count() == 1, "{summary}");
    let lines = benchfmt_report(&checked);
    check("hostile.bench", &lines);
    let results = lines.lines().filter(|line| line.starts_with("Benchmark"));
    for result in results {
        let fields: Vec<&str> = result.split(' ').collect();
        assert_eq!((fields.len(), fields[1], fields[3]), (6, "1", "ns/op"), "{result}");
        assert!(fields[2].parse::<f64>().is_ok_and(|ns| ns > 0.0), "{result}");
    }
}

#[test]
fn each_part_of_the_report_can_be_asked_for() {
    let view = view(&common::six_cells());
    let all = terminal_report(&view, &plain(100));
    for (section, told) in [
        (Section::Cost, "cost and latency"),
        (Section::Doubt, "how sure"),
        (Section::Notes, "op: one statement"),
    ] {
        let part = report_sections(&view, &[section], CellOrder::Groups, &plain(100));
        let from = part.find(told).unwrap_or_else(|| panic!("{told}: {part}"));
        let first = part[from..].lines().next().unwrap();
        assert!(all.contains(first), "{first} stands in the whole report, too");
    }
}

#[test]
fn text_of_one_cell() {
    check("one.txt", &terminal_report(&view(&common::one_cell()), &plain(120)));
}

#[test]
fn text_of_six_cells_at_three_widths() {
    let view = view(&common::six_cells());
    check("six-120.txt", &terminal_report(&view, &plain(120)));
    check("six-90.txt", &terminal_report(&view, &plain(90)));
    check("six-60.txt", &terminal_report(&view, &plain(60)));
}

#[test]
fn text_in_colour_only_repeats_the_words() {
    let view = view(&common::six_cells());
    let style = TextStyle { colour: Colour::Ansi, width: 120 };
    let coloured = terminal_report(&view, &style);
    check("six-colour.txt", &coloured);
    let mut bare = coloured;
    for code in ["0", "1", "1;33", "31", "32", "33"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(bare, terminal_report(&view, &plain(120)));
}

#[test]
fn text_of_runs_with_little_in_them() {
    check("partial.txt", &terminal_report(&view(&common::partial()), &plain(100)));
    check("nothing.txt", &terminal_report(&view(&common::nothing()), &plain(100)));
    check("no-cells.txt", &terminal_report(&view(&common::no_cells()), &plain(100)));
}

#[test]
fn text_of_many_cells_and_long_names() {
    let large = terminal_report(&view(&common::large()), &plain(110));
    let (rates, costs) = large.split_once("cost and latency").expect("both tables are there");
    check("large.txt", rates);
    assert_eq!(costs.matches("server CPU").count(), 150);
    for line in large.lines() {
        assert!(line.chars().count() <= 110, "too wide: {line}");
    }
}

#[test]
fn text_and_markdown_of_hostile_names() {
    let view = view(&common::hostile());
    check("hostile.txt", &terminal_report(&view, &plain(100)));
    check("hostile.md", &markdown(&view));
}

/// A row with a column more or less than its head is shown without it, or not at all.
#[test]
fn tables_in_markdown_have_as_many_columns_in_each_row() {
    for sample in [common::one_cell(), common::six_cells(), common::large()] {
        let text = markdown(&view(&sample));
        let columns = |line: &&str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = text.lines().collect();
        let tables = lines.chunk_by(|a, b| a.starts_with('|') && b.starts_with('|'));
        for table in tables.filter(|table| table[0].starts_with('|')) {
            assert!(table.iter().all(|line| columns(line) == columns(&table[0])), "{table:#?}");
        }
    }
}

#[test]
fn markdown_of_one_and_of_six_cells() {
    check("one.md", &markdown(&view(&common::one_cell())));
    check("six.md", &markdown(&view(&common::six_cells())));
    check("partial.md", &markdown(&view(&common::partial())));
}

#[test]
fn the_insert_benchmark_has_tables_of_its_own() {
    let view = view(&common::insert_benchmark());
    let tables = |text: String| {
        let from = text.find("Insert Benchmark: throughput").expect("the tables are there");
        text[from..].to_owned()
    };
    check("steps-100.txt", &tables(terminal_report(&view, &plain(100))));
    check("steps.md", &tables(markdown(&view)));
    let json: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
    let steps = serde_json::to_string_pretty(&json["insert_benchmark"]).unwrap();
    check("steps.json", &steps);
}

#[test]
fn what_engines_did_is_told_in_every_shape() {
    let view = view(&common::engines());
    let table = |text: String| {
        let from = text.find("What the engines did").expect("the table is there");
        text[from..].to_owned()
    };
    check("engines-100.txt", &table(terminal_report(&view, &plain(100))));
    check("engines.md", &table(markdown(&view)));
    let json: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
    check("engines.json", &serde_json::to_string_pretty(&json["mechanisms"]).unwrap());
    let page = table(html(&view));
    for told in ["lock_latch_held_ns / lock_latches", "voluntary_switches", "0.545 (0.541 to"] {
        assert!(page.contains(told), "{told} is not on the page");
    }
}

#[test]
fn what_is_judged_beside_the_rate_is_told_in_every_shape() {
    let view = view(&common::judged_metrics());
    let text = terminal_report(&view, &plain(100));
    let (rates, costs) = text.split_once("cost and latency").expect("both tables are there");
    check("metrics-100.txt", costs);
    let family = "of 4 that are judged: higher or lower if p is at most 1 % and q at most 5 %.";
    let rates = rates.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(rates.contains(family), "{rates}");
    let words = ["×1.30 (1.28 to 1.32)  higher", "×1.002 (0.997 to 1.007)  equal"];
    let others = ["×0.52 (0.50 to 0.54)  lower", "×1.01 (0.98 to 1.04)"];
    for shape in [markdown(&view), html(&view)] {
        for told in words.iter().chain(&others) {
            assert!(shape.contains(told), "{told} is not in {shape}");
        }
        assert!(shape.replace('\u{a0}', " ").contains(family));
    }
    let json: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
    assert_eq!(json["family"]["metrics"], 4);
    let metrics = serde_json::json!([json["cells"][0]["metrics"], json["cells"][1]["metrics"]]);
    check("metrics.json", &serde_json::to_string_pretty(&metrics).unwrap());
    let last = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        fields[fields.len() - 8..].join(",") + "\n"
    };
    check("metrics.csv", &csv(&view).lines().map(last).collect::<String>());
}

#[test]
fn curves_and_costs_over_rows_are_told() {
    let view = view(&common::shapes());
    let from =
        |text: String, first: &str| text[text.find(first).expect("they are told")..].to_owned();
    for width in [70, 110] {
        let shapes =
            from(terminal_report(&view, &plain(width)), "point-query over 1 to 16 clients");
        let end = shapes.find("\n¹").expect("notes follow");
        check(&format!("shapes-{width}.txt"), &shapes[..=end]);
    }
    let markdown = from(markdown(&view), "point-query over");
    let end = markdown.find("\n¹").expect("notes follow");
    check("shapes.md", &markdown[..=end]);
    let json: serde_json::Value = serde_json::from_str(&json(&view)).unwrap();
    let both = serde_json::json!({ "curves": json["curves"], "costs": json["costs"] });
    check("shapes.json", &serde_json::to_string_pretty(&both).unwrap());
}

#[test]
fn json_is_a_contract() {
    check("six.json", &json(&view(&common::six_cells())));
    check("partial.json", &json(&view(&common::partial())));
    check("nothing.json", &json(&view(&common::nothing())));
}

#[test]
fn csv_is_a_contract() {
    check("six.csv", &csv(&view(&common::six_cells())));
    check("hostile.csv", &csv(&view(&common::hostile())));
}

/// TPC-C has figures of its own; no other load has their names.
#[test]
fn tpcc_is_told_in_transactions_per_minute() {
    let view = view(&common::three_units());
    let [mix, scan, tpcc] = &view.summary.cells[..] else { panic!("three cells") };
    for other in [mix, scan] {
        assert_eq!((other.base.tpm_c, other.test.tpm_total), (None, None));
    }
    for arm in [&tpcc.base, &tpcc.test] {
        assert_eq!(arm.tpm_total, arm.tps.map(|tps| tps * 60.0));
        let new_orders = arm.classes.iter().find(|class| class.class == "new-order").unwrap();
        assert_eq!(arm.tpm_c, new_orders.per_second.map(|orders| orders * 60.0));
        assert!((arm.rate.unwrap() / arm.tpm_total.unwrap() - 1.0).abs() < 1e-12);
    }
    // Not counted is not known: no share of the mix stands in for it.
    let mut uncounted = common::three_units();
    uncounted.comparison.cells[2].arms.test.classes.clear();
    assert_eq!(self::view(&uncounted).summary.cells[2].test.tpm_c, None);
}

#[test]
fn cells_are_told_by_unit_and_events_by_class() {
    let view = view(&common::three_units());
    check("units-100.txt", &terminal_report(&view, &plain(100)));
    check("units-60.txt", &terminal_report(&view, &plain(60)));
    check("units.md", &markdown(&view));
    check("units.csv", &csv(&view));
    check("units.json", &json(&view));
}

#[test]
fn instructions_stand_beside_rates_and_alone() {
    let beside = view(&common::counts::beside());
    check("counts-100.txt", &terminal_report(&beside, &plain(100)));
    check("counts.md", &markdown(&beside));
    check("counts.csv", &csv(&beside));
    check("counts.json", &json(&beside));
    let alone = view(&common::counts::alone());
    check("counts-alone-100.txt", &terminal_report(&alone, &plain(100)));
    check("counts-alone.csv", &csv(&alone));
}
