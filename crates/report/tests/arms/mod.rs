//! What people and programs see of several arms, kept as files, and what must hold of it whatever
//! is in the run.

mod sample;

use crate::golden::check;
use crate::page::assert_paths_have_places;
use dbdyno_document::terminal::{Colour, TextStyle};
use dbdyno_model::{ArmIndex, EndedArm, Reference, Severity, Verdict, Warning};
use dbdyno_report::{
    ArmsDetail, ArmsView, CellOrder, Section, arms_csv, arms_html, arms_json, arms_markdown,
    arms_svg, arms_text,
};
use sample::{Sample, four_versions, large};
use serde_json::Value;

const ALL: [Section; 2] = [Section::Cost, Section::Notes];

fn view(sample: &Sample) -> ArmsView {
    ArmsView::new(&sample.run, &sample.comparison)
}

fn text(sample: &Sample, width: usize, parts: &[Section]) -> String {
    let style = TextStyle { colour: Colour::Plain, width };
    arms_text(&view(sample), ArmsDetail::Ratios, parts, &style)
}

#[test]
fn text_at_two_widths_and_with_costs() {
    let sample = four_versions();
    check("arms-110.txt", &text(&sample, 110, &[]));
    check("arms-70.txt", &text(&sample, 70, &[]));
    check("arms-costs.txt", &text(&sample, 110, &ALL));
    for (sample, width) in [(large(2), 100), (four_versions(), 80)] {
        for line in text(&sample, width, &ALL).lines() {
            assert!(line.chars().count() <= width, "too wide: {line}");
        }
    }
}

/// What speaks against figures is numbered from 1, however much is said of the whole run before.
#[test]
fn numbers_beside_figures_have_no_gaps() {
    let mut sample = four_versions();
    let whole = [(Severity::Note, "placed"), (Severity::Caution, "idle-states")];
    let of_run =
        whole.map(|(severity, code)| Warning::new(severity, code, format!("{code} it is")));
    sample.comparison.warnings.splice(..0, of_run);
    let brief = text(&sample, 110, &[]);
    assert!(
        brief.contains("0.792 ¹") && brief.contains("\n¹ caution: test2: the client"),
        "{brief}"
    );
    assert!(brief.contains("\ncaution: idle-states it is"), "{brief}");
    assert_eq!(by_place(&brief, &["¹ caution", "caution: idle"]), ["caution: idle", "¹ caution"]);
    let whole = text(&sample, 110, &ALL);
    assert!(whole.contains("\n² caution: idle-states it is"), "{whole}");
    assert_eq!(by_place(&whole, &["note: placed", "² caution"]), ["² caution", "note: placed"]);
}

/// Of what endangers a verdict, the worst three kinds are told at first, and the others counted:
/// what blocks before what is of the whole run, and that before what few answers have.
#[test]
fn the_first_screen_tells_the_worst_three_cautions() {
    let mut sample = four_versions();
    let whole = ["one", "two", "three"].map(|code| (Severity::Caution, code));
    let of_run = whole.into_iter().chain([(Severity::Blocks, "four")]);
    let of_run =
        of_run.map(|(severity, code)| Warning::new(severity, code, format!("{code} it is")));
    sample.comparison.warnings.splice(..0, of_run);
    let brief = text(&sample, 110, &[]);
    let told = ["blocks: four it is", "caution: one it is", "caution: two it is"];
    assert_eq!(by_place(&brief, &told), told);
    assert!(!brief.contains("three it is") && !brief.contains("the client"), "{brief}");
    assert!(brief.contains("--section notes: 2 more cautions;"), "{brief}");
    assert!(brief.contains("0.792 ¹"), "the mark stays, and --section notes tells what it is");
    let whole = text(&sample, 110, &ALL);
    assert!(whole.contains("caution: three it is") && whole.contains("the client's threads"));
}

/// Where each of these stands in a text, in the order of the text.
fn by_place<'a>(text: &str, names: &[&'a str]) -> Vec<&'a str> {
    let place = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name} is not in {text}"));
    let mut names = names.to_vec();
    names.sort_by_key(|name| place(name));
    names
}

/// The worst of the arms counts: the last one as a rule, and of an aggregate the second.
#[test]
fn on_request_groups_and_their_loads_begin_with_what_lost_most() {
    let sample = four_versions();
    let sorted = || view(&sample).with_cell_order(CellOrder::WorstFirst);
    let style = TextStyle { colour: Colour::Plain, width: 110 };
    let text = arms_text(&sorted(), ArmsDetail::Ratios, &[], &style);
    let groups = ["rows by key", "rows by range", "ranges, counted", "writes"];
    let loads = [
        "point-query",
        "hot-points",
        "points-covered-pk",
        "range-covered-pk",
        "  scan",
        "read-only-distinct",
        "shaky",
        "read-only-sum",
        "update-index",
        "insert",
    ];
    assert_eq!(
        by_place(&text, &groups),
        ["rows by key", "ranges, counted", "rows by range", "writes"]
    );
    let expected = [
        "point-query",
        "hot-points",
        "points-covered-pk",
        "shaky",
        "read-only-distinct",
        "read-only-sum",
        "  scan",
        "range-covered-pk",
        "insert",
        "update-index",
    ];
    assert_eq!(by_place(&text, &loads), expected, "{text}");
    let markdown = arms_markdown(&sorted(), &[]);
    let table = |text: &str, from: &str| text.split_once(from).unwrap().1.to_owned();
    let bare = expected.map(str::trim_start);
    assert_eq!(by_place(&table(&markdown, "at 1"), &bare), bare);
    let page = arms_html(&sorted());
    assert_eq!(by_place(&table(&page, "<h2 id=\"arms-title\""), &bare), bare);
    let usual = arms_text(&view(&sample), ArmsDetail::Ratios, &[], &style);
    let in_order = |text: &str| {
        let (table, _) = text.split_once("starts to fall: ").unwrap();
        let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(in_order(&text), in_order(&usual), "the same lines in another order");
    for link in page.split(" href=\"#").skip(1) {
        let place = format!(" id=\"{}\"", link.split('"').next().unwrap());
        assert_eq!(page.matches(&place).count(), 1, "{place}");
    }
}

#[test]
fn text_in_colour_only_repeats_the_signs() {
    let sample = four_versions();
    let style = TextStyle { colour: Colour::Ansi, width: 110 };
    let coloured = arms_text(&view(&sample), ArmsDetail::Ratios, &ALL, &style);
    assert!(coloured.contains("\u{1b}[31m▼ 0.716\u{1b}[0m"), "{coloured}");
    assert!(coloured.contains("\u{1b}[32m▲ 1.647\u{1b}[0m") && coloured.contains("[2m= 0.991"));
    let mut bare = coloured;
    for code in ["0", "1", "1;33", "2", "31", "32", "33"] {
        bare = bare.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(bare, text(&sample, 110, &ALL));
}

#[test]
fn markdown_csv_and_json_are_kept() {
    let view = view(&four_versions());
    check("arms.md", &arms_markdown(&view, &ALL));
    check("arms.csv", &arms_csv(&view));
    let mut json: Value = serde_json::from_str(&arms_json(&view)).unwrap();
    check("arms-groups.json", &serde_json::to_string_pretty(&json["groups"]).unwrap());
    // Answers are those of two arms, whose contract is kept elsewhere.
    let mut arm = json["cells"][2]["arms"][3].take();
    for name in ["did", "answer", "against_before"] {
        arm.as_object_mut().unwrap().remove(name);
    }
    check("arms-cell.json", &serde_json::to_string_pretty(&arm).unwrap());
}

/// The median of numbers by sorting them, with the mean of logarithms in the middle.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let middle = |at: usize| all[at].ln();
    ((middle((all.len() - 1) / 2) + middle(all.len() / 2)) / 2.0).exp()
}

/// Medians, their verdicts and falls, worked out from the comparison itself.
#[test]
fn groups_are_told_as_they_are() {
    let sample = four_versions();
    let json: Value = serde_json::from_str(&arms_json(&view(&sample))).unwrap();
    let groups = json["groups"].as_array().unwrap();
    let names: Vec<&str> = groups.iter().filter_map(|group| group["group"].as_str()).collect();
    assert_eq!(names, ["point", "range", "range-aggregate", "write"], "and all loads");
    for group in groups {
        let is_own = |cell: &&dbdyno_model::CellComparison| {
            group["group"].is_null() || cell.group.as_deref() == group["group"].as_str()
        };
        for (name, pairs) in
            [("answer", &sample.comparison.pairs), ("against_before", &sample.comparison.steps)]
        {
            for pair in pairs {
                let cells: Vec<_> = pair.comparison.cells.iter().filter(is_own).collect();
                let told = &group["arms"][pair.pairing.test.position()][name];
                let expected = median(cells.iter().map(|cell| cell.rqps.estimate).collect());
                let found = told["median"].as_f64().unwrap();
                assert!((found - expected).abs() < 1e-12, "{name} {found} {expected}");
                let slower = |cell: &&&_| {
                    let cell: &dbdyno_model::CellComparison = cell;
                    cell.verdict == Verdict::Slower
                };
                assert_eq!(told["slower"], cells.iter().filter(slower).count(), "{group}");
                assert_eq!(told["cells"], cells.len());
            }
        }
    }
    let falls = |at: usize| groups[at]["falls_with"].as_str();
    assert_eq!([0, 1, 2, 3].map(falls), [Some("test2"), Some("test"), Some("test"), None]);
    let said = groups[0]["sentence"].as_str().unwrap();
    assert!(said.starts_with("starts to fall with mysql:8.0 (median 0.8"), "{said}");
    assert!(said.contains("; mysql:9.7 loses 14 points against mysql:5.6"), "{said}");
}

/// The reciprocal of the ratio of processor times, where client and server share a processor.
#[test]
fn rates_by_processor_time_are_reciprocals() {
    let mut sample = four_versions();
    let told = |sample: &Sample| -> Vec<Value> {
        let json: Value = serde_json::from_str(&arms_json(&view(sample))).unwrap();
        let cells = json["cells"].as_array().unwrap().iter();
        cells.map(|cell| cell["arms"][1]["by_server_cpu"].clone()).collect()
    };
    let shared = told(&sample);
    let cells = &sample.comparison.pairs[0].comparison.cells;
    for (told, cell) in shared.iter().zip(cells) {
        let cpu = cell.metrics[0].ratio;
        for (name, expected) in
            [("rqps", cpu.estimate), ("rqps_low", cpu.high), ("rqps_high", cpu.low)]
        {
            let found = told[name].as_f64().unwrap();
            assert!((found * expected - 1.0).abs() < 1e-12, "{name} {told}");
        }
        assert_eq!(told["verdict"], cell.verdict.name());
    }
    sample.comparison.one_processor.truncate(1);
    let apart = told(&sample);
    assert!(!apart[0].is_null() && apart[1..].iter().all(Value::is_null));
}

/// Each link of the page has a place to go to, and each answer is reached by one.
#[test]
fn every_figure_of_the_page_leads_to_its_evidence() {
    for sample in [four_versions(), large(2)] {
        let page = arms_html(&view(&sample));
        let after = |part: &'static str| {
            let parts = page.split(part).skip(1);
            parts.map(|rest| rest.split('"').next().unwrap()).collect::<Vec<_>>()
        };
        let (links, places) = (after(" href=\"#"), after(" id=\""));
        for link in &links {
            assert_eq!(places.iter().filter(|place| place == &link).count(), 1, "{link}");
        }
        let evidence: Vec<&str> = after("<article id=\"");
        let others = sample.run.plan.arms.count() - 1;
        assert_eq!(evidence.len(), others * sample.run.plan.cells().len());
        assert!(evidence.iter().all(|one| links.contains(one)), "an article nobody reaches");
        assert!(!page.contains("<script") && page.contains("script-src 'none'"));
        for reference in ["http:", "https:", "url(", "<img", "<link", "@import"] {
            assert!(!page.contains(reference), "{reference}");
        }
        assert!(!page.contains("NaN"));
    }
}

#[test]
fn an_article_has_what_its_answer_rests_on() {
    let sample = four_versions();
    let page = arms_html(&view(&sample));
    let from = page.find("point-query at 1\u{a0}client: mysql:9.7 against mysql:5.6").unwrap();
    let article = page[from..].split("</article>").next().unwrap().replace('\u{a0}', " ");
    for said in [
        "mysql:9.7 is slower on point-query at 1 client",
        "fewer queries per second (95 % interval",
        "p 0.04 %",
        "12 pairs",
        "by server CPU ▼ 0.6",
        "against mysql:8.0: ▼ 0.9",
        "context switches/op",
        "the client&#39;s threads waited for a processor for 34 %",
        "dbdyno show 3f2c9c1a --arm test3 --against base --all",
    ] {
        assert!(article.contains(said), "{said:?} is not in {article}");
    }
    let strip = article.split("class=\"dots\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(strip.matches("h0").count(), 12, "a dot for each pair");
    let starts = article.split("class=\"starts\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(starts.matches('M').count(), 2, "three starts");
}

#[test]
fn a_large_run_stays_a_file_that_can_be_mailed() {
    let page = arms_html(&view(&large(48)));
    assert_paths_have_places(&page);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// Elements close as they open, and nothing is fetched.
fn well_formed(xml: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in xml.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("no end: {part}"));
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{part}"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_drawing_stands_by_itself() {
    for (sample, rows) in [(four_versions(), 10), (large(2), 32)] {
        let svg = arms_svg(&view(&sample));
        well_formed(&svg);
        assert_eq!(svg.matches("<g transform").count(), rows, "a history for each row");
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("<title"));
        let fetched = svg.replace("http://www.w3.org/2000/svg", "").replace("url(#hatch)", "");
        for reference in ["http", "url(", "href", "@import", "<image", "<script", "NaN", "inf"] {
            assert!(!fetched.contains(reference), "{reference}");
        }
        let number = |name: &str| -> f64 {
            svg.split(&format!(" {name}=\""))
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap()
                .parse()
                .unwrap()
        };
        let (width, height) = (number("width"), number("height"));
        for (axis, most) in [("x", width), ("y", height)] {
            for place in svg.split("<text x=").skip(1) {
                let place = if axis == "x" { place } else { place.split(" y=").nth(1).unwrap() };
                let at: f64 =
                    place.trim_start_matches('"').split('"').next().unwrap().parse().unwrap();
                assert!((0.0..=most).contains(&at), "{axis} {at} of {most}");
            }
        }
    }
    check("arms.svg", &arms_svg(&view(&four_versions())));
}

#[test]
fn names_from_outside_stay_names() {
    let mut sample = four_versions();
    sample.comparison.labels[1] = "mysql \u{1b}[31m<script>alert(1)</script> & \"x\"".to_owned();
    let why = "</text><script>".to_owned();
    sample.comparison.ended = vec![EndedArm { arm: ArmIndex(3), why }];
    for cell in &mut sample.comparison.cells {
        cell.load = cell.load.replace("shaky", "<b>shaky");
    }
    for pair in sample.comparison.pairs.iter_mut().chain(&mut sample.comparison.steps) {
        for cell in &mut pair.comparison.cells {
            cell.cell.load = cell.cell.load.replace("shaky", "<b>shaky");
        }
    }
    let view = view(&sample);
    let (page, svg) = (arms_html(&view), arms_svg(&view));
    well_formed(&svg);
    for shape in [&page, &svg] {
        assert!(!shape.contains("<script") && !shape.contains("<b>shaky"));
        assert!(shape.contains("&lt;b&gt;shaky") && !shape.contains('\u{1b}'));
    }
}

/// Where each arm is measured against the one before it, there is no history against one of them.
#[test]
fn against_the_arm_before_there_is_no_history() {
    let mut sample = four_versions();
    sample.comparison.reference = Reference::Before;
    sample.comparison.pairs = sample.comparison.steps.clone();
    let told = text(&sample, 110, &[]);
    assert!(!told.contains('▅') && told.contains("each against the one before it"), "{told}");
    let view = view(&sample);
    assert!(!arms_html(&view).contains("class=\"picture\""));
    assert_paths_have_places(&arms_html(&view));
    well_formed(&arms_svg(&view));
}
