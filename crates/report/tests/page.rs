//! What must hold of the HTML file whatever is in the run.

use crate::common::{self, Sample};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dbdyno_report::{View, csv, html, json};
use serde_json::Value;
use sha2::{Digest, Sha256};

const SCRIPT: &str = include_str!("../assets/page.js");
const STYLE: &str = include_str!("../assets/page.css");
const CODE_BYTES_MAX: usize = 150 * 1024;

fn samples() -> Vec<Sample> {
    vec![
        common::one_cell(),
        common::six_cells(),
        common::judged_metrics(),
        common::partial(),
        common::nothing(),
        common::no_cells(),
        common::hostile(),
        common::engines(),
        common::insert_benchmark(),
        common::three_units(),
        common::shapes(),
        common::counts::beside(),
        common::counts::alone(),
    ]
}

fn page(sample: &Sample) -> String {
    html(&View::new(sample.run.first_pair(), &sample.comparison))
}

/// What stands between the first `start` and the next `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start}"));
    rest.split_once(end).unwrap_or_else(|| panic!("no {end} after {start}")).0
}

fn data(page: &str) -> Value {
    let block = between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
    serde_json::from_str(block).expect("the data block is JSON")
}

#[test]
fn the_code_stays_within_its_budget() {
    let size = SCRIPT.len() + STYLE.len();
    assert!(size > 10_000, "the built page is missing: run 'npm run build' in web/");
    assert!(size <= CODE_BYTES_MAX, "{size} bytes of script and style");
}

#[test]
fn nothing_is_fetched() {
    for part in [SCRIPT, STYLE] {
        let names_of_languages = part.replace("http://www.w3.org/", "");
        for reference in ["http://", "https://", "url(", "@import", "import(", "fetch("] {
            assert!(!names_of_languages.contains(reference), "{reference} in the page's code");
        }
    }
    for sample in samples() {
        let page = page(&sample);
        let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        let before_scripts = page.split("<script").next().expect("split gives one part at least");
        for attribute in [" src=\"", " href=\"h", "<link", "<img", "<iframe", "<object"] {
            assert!(!before_scripts.contains(attribute), "{attribute} in the page");
        }
    }
}

#[test]
fn the_policy_admits_the_script_of_the_page_and_no_other() {
    let page = page(&common::one_cell());
    let script = between(&page, "</script>\n<script>", "</script>");
    let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
    let policy = between(&page, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.contains(&format!("script-src 'sha256-{hash}';")), "{policy}");
    assert!(!policy.contains("unsafe-eval"));
}

#[test]
fn text_from_outside_stays_text() {
    let sample = common::hostile();
    let page = page(&sample);
    assert_eq!(page.matches("<script").count(), 2 + SCRIPT.matches("<script").count());
    assert_eq!(page.matches("</script").count(), 2);
    assert_eq!(page.matches("<!--").count(), 0);
    assert_eq!(page.matches("<img").count(), 0);
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
    assert!(page.contains("名前 &#39;Grüße&#39;"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    let label = data(&page)["base"].as_str().unwrap().to_owned();
    assert_eq!(label, sample.comparison.labels.base.replace('\u{1b}', "\u{fffd}"));
}

/// Charts of curves are drawn without the script: a point and its interval for each arm and client
/// count, lines where there is a fit, and no place outside of the drawing.
#[test]
fn curves_and_costs_are_drawn_without_a_script() {
    let page = page(&common::shapes());
    let (essence, _) = page.split_once("<script").expect("there is a script");
    let charts: Vec<&str> = essence.split("<svg class=\"chart\"").skip(1).collect();
    assert_eq!(charts.len(), 4, "two curves and two costs");
    let count = |chart: &str, part: &str| {
        chart.split("</svg>").next().unwrap_or_default().matches(part).count()
    };
    assert_eq!(count(charts[0], "<g class=\"mark "), 10, "five counts, two arms");
    assert_eq!(count(charts[0], " apart\""), 2, "one of them is left out");
    for (chart, lines, bands) in [(0, 2, 2), (1, 2, 2), (2, 2, 0), (3, 0, 0)] {
        assert_eq!(count(charts[chart], "class=\"line "), lines, "{chart}");
        assert_eq!(count(charts[chart], "class=\"band "), bands, "{chart}");
    }
    assert!(!essence.contains("NaN") && !essence.contains(">inf"), "a place that is no number");
    assert!(essence.contains("contention: slower by 12.9\u{a0}%"));
}

/// A path without places, or with one that is no number, is an error on the console of a browser:
/// rows of which nothing was measured have none.
pub(crate) fn assert_paths_have_places(page: &str) {
    let drawn = page.split("<script").next().unwrap_or_default();
    for path in drawn.split(" d=\"").skip(1) {
        let path = path.split('"').next().unwrap_or_default();
        let is_plain = path.chars().all(|c| !c.is_alphabetic() || "MLHVZhvl".contains(c));
        let is_begun = path
            .strip_prefix('M')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '-'));
        assert!(path.is_empty() || is_plain && is_begun, "a path that cannot be drawn: {path}");
    }
}

#[test]
fn paths_have_places_whatever_was_measured() {
    samples().iter().for_each(|sample| assert_paths_have_places(&page(sample)));
}

#[test]
fn the_essence_needs_no_script() {
    let page = page(&common::six_cells());
    let (essence, _) = page.split_once("<script").expect("there is a script");
    for said in [
        "6 cells: test is slower on 2, equal on 2, faster on 1; cannot tell on 1",
        "mariadb:10.11 (10.11.19-MariaDB)",
        "−38.5\u{a0}%",
        "21\u{a0}850 ± 1.0\u{a0}%",
        "server CPU µs/op",
        "latency p99.9",
        "the load generator used 96 % of its processors",
        "innodb_change_buffering",
        "dbdyno compare mariadb:10.11",
        "2026-10-29 12:33:07 UTC",
        "~ 1.00",
    ] {
        assert!(essence.contains(said), "{said:?} is not in the page");
    }
}

#[test]
fn facts_that_differ_come_before_those_that_do_not() {
    let page = page(&common::one_cell());
    let at = |name: &str| page.find(name).unwrap_or_else(|| panic!("no {name}"));
    assert!(at("host.kernel") < at("server.version"));
    assert!(at("server.version") < at("variable.sync_binlog"));
    assert!(page.contains("Equal in both arms: 4\u{a0}facts"));
}

#[test]
fn the_data_block_has_every_round_and_every_pair() {
    for sample in samples() {
        let data = data(&page(&sample));
        let cells = data["cells"].as_array().unwrap();
        assert_eq!(cells.len(), sample.comparison.cells.len());
        for (cell, expected) in cells.iter().zip(&sample.comparison.cells) {
            let rounds = cell["detail"]["rounds"].as_array().unwrap();
            let measured = sample.run.rounds.iter().filter(|r| r.key.cell == expected.cell);
            let qps: Vec<f64> = measured.map(|round| round.qps()).collect();
            let shown: Vec<f64> = rounds.iter().map(|r| r["qps"].as_f64().unwrap()).collect();
            assert_eq!(shown, qps);
            let pairs = cell["detail"]["pairs"].as_array().unwrap();
            assert_eq!(pairs.len(), expected.pairs as usize);
        }
    }
}

#[test]
fn a_large_run_stays_a_file_that_can_be_mailed() {
    let page = page(&common::large());
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    let heat = between(&page, "<div class=\"panels\">", "</table>");
    assert_eq!(heat.matches("<td class=").count(), 150);
    assert_eq!(heat.matches("<th scope=\"row\">").count(), 30);
}

/// The answer first, then what endangers it; what says how sure, what it costs and how the method
/// works is there, folded. Where there are many cells the coloured overview comes first.
#[test]
fn the_page_has_the_order_of_the_first_screen() {
    let places = |page: &str, ids: &[&str]| -> Vec<usize> {
        let at = |id: &&str| page.find(&format!(" id=\"{id}\"")).unwrap_or_else(|| panic!("{id}"));
        ids.iter().map(at).collect()
    };
    let few = ["rates-title-0", "heat-title", "cautions-title", "charts-title", "doubt-title"];
    let rest = ["costs-title", "facts-title", "notes-title", "origin-title"];
    let six = page(&common::six_cells());
    assert!(places(&six, &[&few[..], &rest[..]].concat()).is_sorted());
    assert!(places(&page(&common::large()), &["heat-title", "rates-title-0"]).is_sorted());
    for folded in ["doubt", "costs", "facts", "notes"] {
        let opened = format!("<details class=\"section\" aria-labelledby=\"{folded}-title\">");
        assert!(six.contains(&opened), "{folded} is not folded");
    }
}

#[test]
fn counts_have_a_section_of_their_own() {
    let page = page(&common::counts::alone());
    let counts = between(&page, "<h2>Instructions per operation</h2>", "</main>");
    for text in [
        "no verdict",
        "<h2>Instructions per operation: by function, point-query</h2>",
        "ut_delay|&lt;b&gt; (mysqld)",
    ] {
        assert!(counts.contains(text), "no {text} in {counts}");
    }
    assert!(!page.contains("Insert Benchmark"));
    assert!(!self::page(&common::insert_benchmark()).contains("Instructions per"));
}

/// The names in CSV are those of JSON, flattened; nothing is missing, nothing is made up.
#[test]
fn csv_and_json_have_the_same_names_and_values() {
    let sample = common::six_cells();
    let view = View::new(sample.run.first_pair(), &sample.comparison);
    let csv = csv(&view);
    let mut lines = csv.split("\r\n").map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let json: Value = serde_json::from_str(&json(&view)).unwrap();
    for cell in json["cells"].as_array().unwrap() {
        let row = lines.next().unwrap();
        let mut expected = Vec::new();
        flatten("", cell, &mut expected);
        let is_list = |name: &str| ["warnings", "levels", "next_minute", "metrics"].contains(&name);
        expected.retain(|(name, _)| !is_list(name) && !name.ends_with("_classes"));
        let mut seen = 0;
        for (name, value) in &expected {
            if let Some(column) = header.iter().position(|column| column == name) {
                let is_same = match value {
                    Value::Null => row[column].is_empty(),
                    Value::String(text) => row[column] == text,
                    number => is_close(row[column], number),
                };
                assert!(is_same, "{name}: {value} is not {}", row[column]);
                seen += 1;
                continue;
            }
            // What is null as a whole, in the closed loop, has its parts as empty columns.
            let is_part = |column: &&str| column.starts_with(&format!("{name}_"));
            let parts: Vec<_> = (0..header.len()).filter(|&at| is_part(&header[at])).collect();
            assert!(value.is_null() && !parts.is_empty(), "no column {name}");
            assert!(parts.iter().all(|&part| row[part].is_empty()), "{name} is null");
            seen += parts.len();
        }
        let of_run = ["run", "status", "base_label", "test_label", "warnings", "class"];
        let of_tpcc = ["base_tpm_c", "base_tpm_total", "test_tpm_c", "test_tpm_total"];
        let of_levels = ["share_pair", "share_life", "share_filling"];
        let of_counts = header.iter().filter(|column| column.contains("instructions_")).count();
        let of_metrics = ["ratio", "ratio_low", "ratio_high", "verdict"]
            .iter()
            .flat_map(|end| [format!("server_cpu_{end}"), format!("p99_{end}")]);
        assert!(of_metrics.clone().all(|name| header.contains(&&*name)));
        let others =
            of_run.len() + of_tpcc.len() + of_levels.len() + of_counts + of_metrics.count();
        assert_eq!(header.len(), seen + others);
    }
}

/// A count stands in all cells of its load, and in a row of its own where there is none.
#[test]
fn csv_and_json_have_the_same_counts() {
    for sample in [common::counts::beside(), common::counts::alone(), common::six_cells()] {
        let view = View::new(sample.run.first_pair(), &sample.comparison);
        let csv = csv(&view);
        let mut lines = csv.split("\r\n").map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let mut counted = std::collections::BTreeSet::new();
        for row in lines.filter(|row| row.len() == header.len()) {
            let load = row[at("load")];
            let Some(count) = view.summary.counts.iter().find(|count| count.load == load) else {
                assert_eq!(row[at("instructions_verdict")], "", "{load}");
                continue;
            };
            counted.insert(load.to_owned());
            for (name, value) in [
                ("base_instructions_per_op", count.base.instructions_per_op),
                ("test_instructions_per_op", count.test.instructions_per_op),
                ("instructions_ratio", count.ratio),
                ("instructions_ratio_low", count.ratio_low),
                ("instructions_ratio_high", count.ratio_high),
            ] {
                assert_eq!(row[at(name)].parse().ok(), value, "{load}: {name}");
            }
            assert_eq!(row[at("instructions_verdict")], count.verdict.name());
            let is_blocked = row[at("instructions_warnings")] == "count-unsteady";
            assert_eq!(is_blocked, !count.warnings.is_empty());
        }
        assert_eq!(counted.len(), view.summary.counts.len());
    }
}

/// Equal but for the last bit, which reading JSON may lose.
fn is_close(text: &str, number: &Value) -> bool {
    let (a, b): (f64, f64) = (text.parse().unwrap(), number.as_f64().unwrap());
    (a - b).abs() <= a.abs() * 1e-15
}

fn flatten(prefix: &str, value: &Value, into: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let dash = if prefix.is_empty() { "" } else { "_" };
                flatten(&format!("{prefix}{dash}{name}"), value, into);
            }
        }
        plain => into.push((prefix.to_owned(), plain.clone())),
    }
}

#[test]
fn colours_of_steps_only_repeat_their_marks() {
    let page = page(&common::insert_benchmark());
    let steps = between(&page, "<h2>Insert Benchmark: throughput</h2>", "id=\"charts-title\"");
    let tinted: Vec<&str> = steps.split("<td class=").skip(1).collect();
    assert!(tinted.len() >= 6, "{steps}");
    for cell in tinted {
        let text = between(cell, ">", "</td>");
        assert!(text.ends_with(['▼', '▲', '∅', '−', '+']), "{text}");
    }
    assert!(steps.contains("3\u{a0}000 ∅"), "{steps}");
}

/// The page's essence has a table for each unit and the classes; its data has their series.
#[test]
fn classes_are_in_tables_and_in_the_data() {
    let page = page(&common::three_units());
    let (essence, _) = page.split_once("<script").unwrap();
    for said in [
        ">Queries per second</h2>",
        ">Rows per second</h2>",
        ">Transactions per minute</h2>",
        "by class, response times from the intended start",
        "delivery-background p99",
        "tpmC",
    ] {
        assert!(essence.contains(said), "{said:?} is not in the page");
    }
    let data = data(&page);
    let detail = |cell: usize| &data["cells"][cell]["detail"];
    assert_eq!(detail(2)["classes"].as_array().unwrap().len(), 5);
    assert_eq!(detail(2)["class_unit"], "transactions/min");
    assert_eq!(detail(0)["class_unit"], "statements/s");
    assert!(detail(1)["classes"].as_array().unwrap().is_empty());
    for cell in [0, 2] {
        for round in detail(cell)["rounds"].as_array().unwrap() {
            let classes = round["classes"].as_array().unwrap();
            assert_eq!(classes.len(), detail(cell)["classes"].as_array().unwrap().len());
            for class in classes {
                assert_eq!(class["slots"].as_array().unwrap().len(), 10);
            }
        }
    }
}
