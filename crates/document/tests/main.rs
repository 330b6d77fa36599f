//! One document, as each writer writes it.

use dbdyno_document::terminal::{self, Colour, TextStyle};
use dbdyno_document::{
    ArmLabel, DataTable, Document, Element, Footnote, LabelledItem, Sparkline, SparklineStep,
    TableCell, TableColumn, Tint, csv, html, markdown,
};
use dbdyno_model::PerArm;

/// A level, its group, and what was found of it.
type LevelRow = (&'static str, &'static str, f64);
type LevelColumn = TableColumn<'static, LevelRow>;

const LEVELS: [LevelRow; 3] =
    [("locks", "=evil|name", 1.5), ("locks", "b", 22.0), ("reads", "c\u{1b}[2J", 3.25)];

fn columns() -> Vec<LevelColumn> {
    vec![
        LevelColumn::word_texts("why", |row| format!("because of {}", row.1).into()).cut_behind(12),
        LevelColumn::word_texts("name", |row| row.1.into())
            .and_recorded("name", |row| row.1.to_owned()),
        LevelColumn::number_texts("µs", |row| format!("{:.1}\u{a0}µs", row.2).into())
            .and_recorded("us", |row| row.2.to_string()),
        LevelColumn::recorded_field("us_low", |_| csv::number_field(Some(f64::NEG_INFINITY))),
    ]
}

fn plain(document: &Document, width: usize) -> String {
    terminal::render_document(document, &TextStyle { colour: Colour::Plain, width })
}

fn document() -> Document {
    let arms = PerArm { base: "a <b>", test: "##[error]" };
    let item = LabelledItem::new("it is slow and has been so").with_label("caution", 8);
    let item = item.with_detail(LabelledItem::new("something").with_label("change", 6));
    Document::from(vec![
        vec![Element::Headline("test is slower".into()), Element::Arms(ArmLabel::of_both(arms))],
        Vec::new(),
        vec![Element::Table(
            DataTable::new(&columns()[1..], &LEVELS).with_title("Levels").with_sum(),
        )],
        vec![Element::Items(vec![
            item,
            LabelledItem::new("one").with_detail(LabelledItem::new("two")),
        ])],
        vec![Element::Title("more".into()), Element::Notes(vec!["*bold*".into()])],
    ])
}

#[test]
fn a_terminal_indents_what_belongs_to_a_headline_and_wraps_below_the_text() {
    let above = "test is slower\n  base  a <b>\n  test  ##[error]\n\n";
    let table = "Levels\n  name              µs\n  =evil|name    1.5 µs\n  b            22.0 µs\n  \
                 c\u{fffd}[2J         3.2 µs\n\n";
    let items = "caution  it is slow and has\n         been so\n         change something\none\n  \
                 two\n\nmore\n  *bold*\n";
    let expected = [above, table, items].concat();
    assert_eq!(plain(&document(), 28), expected);
}

#[test]
fn an_item_goes_on_further_left_where_a_word_has_no_room_below_its_text() {
    let item = LabelledItem::new("a-word-of-many-letters").with_label("server", 10);
    let document = Document::from(vec![vec![Element::Items(vec![item])]]);
    assert_eq!(plain(&document, 33), "server     a-word-of-many-letters\n");
    assert_eq!(plain(&document, 32), "server\n  a-word-of-many-letters\n");
}

#[test]
fn markdown_and_pages_show_text_as_it_is_meant() {
    let expected = "**test is slower**\n\n\
                    * base: a &lt;b&gt;\n* test: \\#\\#\\[error\\]\n\nLevels:\n\n\
                    | name | µs |\n|:--|--:|\n| =evil\\|name | 1.5 µs |\n| b | 22.0 µs |\n\
                    | c\u{fffd}\\[2J | 3.2 µs |\n\n* caution: it is slow and has been so\n  * \
                    change: something\n* one\n  * two\n\nmore:\n\n* \\*bold\\*\n";
    assert_eq!(markdown::render_document(&document()), expected);
    let page = html::render_document(&document());
    for part in [
        "<header>\n<h1>test is slower</h1>\n<dl class=\"arms\">\n<dt class=\"base\">base</dt>",
        "<dd>a &lt;b&gt;</dd>\n<dt class=\"test\">test</dt><dd>#&#35;[error]</dd>\n</dl>\n</header>",
        "<section>\n<h2>Levels</h2>\n",
        "<th scope=\"col\" class=\"text\">name</th><th scope=\"col\">µs</th></tr>",
        "<tr class=\"sum\"><th scope=\"row\">c\u{fffd}[2J</th><td>3.2\u{a0}µs</td></tr>",
        "<li><b>caution</b> it is slow and has been so<ul>\n<li><b>change</b> something</li>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn programs_read_the_columns_that_have_names() {
    let expected = "name,us,us_low\r\n'=evil|name,1.5,\r\nb,22,\r\nc\u{fffd}[2J,3.25,\r\n";
    assert_eq!(csv::render_document(&document()), expected);
    let excerpt = DataTable::new(&columns(), &LEVELS[..1]).with_records(&columns(), &LEVELS);
    let excerpt = Document::from(vec![vec![Element::Table(excerpt)]]);
    assert_eq!(csv::render_document(&excerpt), expected);
    assert_eq!(markdown::render_document(&excerpt).lines().count(), 3);
}

#[test]
fn a_terminal_puts_words_last_cuts_them_and_names_a_group_once() {
    let words_first =
        Document::from(vec![vec![Element::Table(DataTable::new(&columns()[..], &LEVELS[1..2]))]]);
    let expected = "why                 µs   name\nbecause of b   22.0 µs   b\n";
    assert_eq!(plain(&words_first, 80), expected);
    let mut columns = columns();
    columns[0] = LevelColumn::word_texts("", |row| row.0.into()).as_group();
    let grouped = DataTable::new(&columns, &LEVELS).with_title("Levels");
    let grouped =
        Document::from(vec![vec![Element::Table(grouped), Element::Sentence("and 2 more".into())]]);
    let locks = "Levels\n  locks\n    =evil|name    1.5 µs\n    b            22.0 µs\n";
    let reads = "  reads\n    c\u{fffd}[2J         3.2 µs\n  and 2 more\n";
    let expected = [locks, reads].concat();
    assert_eq!(plain(&grouped, 80), expected);
    assert!(
        markdown::render_document(&grouped).starts_with("| Levels | name | µs |\n|:--|:--|--:|\n")
    );
    let empty = DataTable::new::<LevelRow>(&[], []);
    let empty = Document::from(vec![vec![Element::Table(empty)]]);
    assert_eq!(plain(&empty, 80), "");
}

#[test]
fn programs_get_one_table_of_those_that_people_see_apart() {
    let part = |shown: &[LevelRow], records| {
        let table = DataTable::new(&columns(), shown).with_records(&columns(), records);
        vec![Element::Heading("part".into()), Element::Table(table), Element::Notes(Vec::new())]
    };
    let document = Document::from(vec![
        vec![Element::Table(DataTable::new::<LevelRow>(&columns(), []))],
        part(&[], &LEVELS[1..]),
        part(&LEVELS[1..2], &LEVELS[..1]),
    ]);
    let expected = "name,us,us_low\r\nb,22,\r\nc\u{fffd}[2J,3.25,\r\n'=evil|name,1.5,\r\n";
    assert_eq!(csv::render_document(&document), expected);
    let table = "  why                 µs   name\n  because of b   22.0 µs   b\n";
    assert_eq!(plain(&document, 80), format!("part\n\npart\n{table}"));
    let table = "| why | name | µs |\n|:--|:--|--:|\n| because of b | b | 22.0 µs |\n";
    assert_eq!(markdown::render_document(&document), format!("### part\n\n### part\n\n{table}"));
}

#[test]
fn a_sparkline_is_as_wide_as_there_is_room_and_marks_where_levels_begin() {
    let of_half = |at: usize| if at < 20 { 1.0 } else { 0.5 };
    let series = Sparkline {
        values: (0..40).map(of_half).collect(),
        highest: "1.0".into(),
        lowest: "0.5".into(),
        steps: vec![SparklineStep { first: 20, earliest: 18, latest: 21 }],
    };
    let title = Element::Title("halves".into());
    let document = Document::from(vec![vec![title, Element::Sparkline(series)]]);
    let blocks = "█".repeat(10) + &"▁".repeat(10);
    let expected = format!("halves\n  1.0 │{blocks}\n  0.5 │         ┄▲\n");
    assert_eq!(plain(&document, 27), expected);
    let (blocks, marks) = ("█".repeat(20) + &"▁".repeat(20), " ".repeat(18));
    let lines = format!("1.0 │{blocks}\n0.5 │{marks}┄┄▲┄");
    assert_eq!(markdown::render_document(&document), format!("halves:\n\n```text\n{lines}\n```\n"));
    assert!(html::render_document(&document).contains(&format!("<pre>{lines}</pre>")));
}

/// A load, its rate with its spread and without, and its answer.
type RateRow = (&'static str, [&'static str; 2], &'static str);

const RATES: [RateRow; 2] =
    [("=scan", ["10 ± 1", "10"], "slower"), ("point", ["2 000 ± 3", "2 000"], "cannot tell")];

fn rates() -> DataTable {
    let columns = [
        TableColumn::word_texts("rates", |row: &RateRow| row.0.into()).with_marks(vec![12]),
        TableColumn::number_cells("test", |row: &RateRow| {
            TableCell::from(row.1[0]).or_shorter(row.1[1].into())
        }),
        TableColumn::drawing_cells("drawn", |_| TableCell::from_svg("<svg/>".to_owned())),
        TableColumn::number_texts("ratio", |_| "0.5".into()).off_terminals(),
        TableColumn::word_cells("answer", |row: &RateRow| {
            let tint = if row.2 == "slower" { Tint::Worse } else { Tint::Undecided };
            TableCell::tinted_text(row.2, tint).and_text(" !").with_marks(vec![1]).as_answer()
        })
        .untitled_on_terminals(),
        TableColumn::word_texts("and more", |_| "if there is room".into())
            .with_legend("More.")
            .as_dispensable(),
    ];
    let mut table = DataTable::new(&columns, &[]);
    table.add_group(vec!["all of them".into()]);
    table.add_rows(&columns, &RATES);
    table.titled_by_its_corner()
}

/// Every cell has its shorter form before any column is left out, and what a column means is not
/// told without it.
#[test]
fn a_narrow_terminal_has_shorter_cells_and_fewer_columns() {
    let document = Document::from(vec![vec![Element::Table(rates())]]);
    let wide = "rates ¹²        test                     and more\nall of them\n  =scan       10 ± \
                1   slower ! ¹        if there is room\n  point    2 000 ± 3   cannot tell ! ¹   \
                if there is room\n  More.\n";
    assert_eq!(plain(&document, 80), wide);
    assert!(plain(&document, 53).contains("  point    2 000   cannot tell ! ¹   if"));
    let narrow = "rates ¹²        test\nall of them\n  =scan       10 ± 1   slower ! ¹\n  point    \
                  2 000 ± 3   cannot tell ! ¹\n";
    assert_eq!(plain(&document, 40), narrow);
    assert!(plain(&document, 36).contains("  point    2 000   cannot tell ! ¹\n"));
    let style = TextStyle { colour: Colour::Ansi, width: 30 };
    let coloured = terminal::render_document(&document, &style);
    assert!(coloured.contains("\u{1b}[31mslower\u{1b}[0m ! ¹"), "{coloured}");
    assert!(coloured.contains("\u{1b}[33mcannot tell\u{1b}[0m\n"), "{coloured}");
}

#[test]
fn each_writer_has_its_own_way_for_marks_answers_and_drawings() {
    let document = Document::from(vec![vec![Element::Table(rates())]]);
    let text = markdown::render_document(&document);
    assert!(text.starts_with("| rates ¹² | test | ratio | answer | and more |\n"), "{text}");
    assert!(text.contains("| **all of them** | | | | |\n"), "{text}");
    assert!(
        text.contains("| =scan | 10 ± 1 | 0.5 | **slower !** ¹ | if there is room |"),
        "{text}"
    );
    let page = html::render_document(&document);
    for part in [
        "rates<sup class=\"marks\"><a href=\"#note-12\">12</a></sup></th>",
        "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"6\">all of them</th></tr>",
        "<td class=\"picture\"><svg/></td>",
        "<td class=\"text answer worse\">slower !<sup class=\"marks\">",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

/// The first columns stand in each part, and words never stand alone.
#[test]
fn a_table_is_divided_between_its_columns() {
    let heads = ["base", "arm 1", "arm 2", "arm 3"];
    let cells = heads.map(TableCell::from).to_vec();
    let table = DataTable::of_numbers("load", heads, [("x", cells)]).divided_behind(2);
    let document = Document::from(vec![vec![Element::Table(table)]]);
    let first = "load   base   arm 1   arm 2\nx      base   arm 1   arm 2\n";
    let second = "load   base   arm 3\nx      base   arm 3\n";
    assert_eq!(plain(&document, 30), format!("{first}\n{second}"));
    assert_eq!(plain(&document, 80).lines().count(), 2);
}

#[test]
fn what_is_around_tables_is_told_in_each_format() {
    let note = |number, text: &str| Footnote {
        number,
        severity: "caution",
        text: text.into(),
        code: "c".into(),
    };
    let mut document = Document::default();
    document.push(vec![Element::Status("STOPPED".into()), Element::Headline("it is <b>".into())]);
    document.push_below(vec![Element::Sentence("below".into())]);
    document.push(vec![Element::Terms(vec![("point".into(), "falls".into())])]);
    document.push(vec![Element::Fold("more".into(), vec![Element::Aside("A. B".into())])]);
    document.push(vec![Element::Footnotes(vec![note(Some(2), "one"), note(None, "two")])]);
    let text = "STOPPED\nit is <b>\n\n  below\n\npoint: falls\n\nA. B\n\n² caution: one\ncaution: \
                two\n";
    assert_eq!(plain(&document, 80), text);
    let expected = "> **STOPPED**\n\n**it is &lt;b&gt;**\n\nbelow\n\n* **point**: falls\n\n\
                    <details><summary>more</summary>\n\nA.\nB\n\n</details>\n\n\
                    ² **caution**: one  \n**caution**: two  \n";
    assert_eq!(markdown::render_document(&document), expected);
    let page = html::render_document(&document);
    for part in [
        "<p class=\"status\" role=\"note\">STOPPED</p>",
        "<dl class=\"terms\">\n<dt>point</dt><dd>falls</dd>\n</dl>",
        "<details><summary>more</summary>\n<p class=\"aside\">A. B</p>\n</details>",
        "<li id=\"note-2\"><b class=\"caution\">caution</b> one <code>c</code></li>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}
