//! One document, as each writer writes it.

use dbdyno_document::terminal::{self, Colour, TextStyle};
use dbdyno_document::{
    DataTable, Document, Element, LabelledItem, TableColumn, csv, html, markdown,
};
use dbdyno_model::PerArm;

/// A level, its group, and what was found of it.
type LevelRow = (&'static str, &'static str, f64);
type LevelColumn = TableColumn<'static, LevelRow>;

const LEVELS: [LevelRow; 3] =
    [("locks", "=evil|name", 1.5), ("locks", "b", 22.0), ("reads", "c\u{1b}[2J", 3.25)];

fn columns() -> Vec<LevelColumn> {
    vec![
        LevelColumn::words("why", |row| format!("because of {}", row.1).into()).cut_behind(12),
        LevelColumn::words("name", |row| row.1.into()).and_recorded("name", |row| row.1.to_owned()),
        LevelColumn::numbers("µs", |row| format!("{:.1}\u{a0}µs", row.2).into())
            .and_recorded("us", |row| row.2.to_string()),
        LevelColumn::recorded("us_low", |_| csv::number(Some(f64::NEG_INFINITY))),
    ]
}

fn plain(document: &Document, width: usize) -> String {
    terminal::written(document, &TextStyle { colour: Colour::Plain, width })
}

fn document() -> Document {
    let arms = PerArm { base: "a <b>".into(), test: "##[error]".into() };
    let item = LabelledItem::new("it is slow and has been so").label("caution", 8);
    let item = item.detail(LabelledItem::new("something").label("change", 6));
    Document::from(vec![
        vec![Element::Headline("test is slower".into()), Element::Arms(arms)],
        Vec::new(),
        vec![Element::Table(DataTable::new(&columns()[1..], &LEVELS).titled("Levels").with_sum())],
        vec![Element::Items(vec![item, LabelledItem::new("one").detail(LabelledItem::new("two"))])],
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
fn markdown_and_pages_show_text_as_it_is_meant() {
    let expected = "**test is slower**\n\n\
                    * base: a &lt;b&gt;\n* test: \\#\\#\\[error\\]\n\nLevels:\n\n\
                    | name | µs |\n|:--|--:|\n| =evil\\|name | 1.5 µs |\n| b | 22.0 µs |\n\
                    | c\u{fffd}\\[2J | 3.2 µs |\n\n* caution: it is slow and has been so\n  * \
                    change: something\n* one\n  * two\n\nmore:\n\n* \\*bold\\*\n";
    assert_eq!(markdown::written(&document()), expected);
    let page = html::written(&document());
    for part in [
        "<header>\n<h1>test is slower</h1>\n<dl class=\"arms\">\n<dt class=\"base\">base</dt>",
        "<dd>a &lt;b&gt;</dd>\n<dt class=\"test\">test</dt><dd>#&#35;[error]</dd>\n</dl>\n</header>",
        "<section>\n<h2>Levels</h2>\n",
        "<th scope=\"col\" class=\"text\">name</th><th scope=\"col\">µs</th></tr>",
        "<tr class=\"sum\"><td class=\"text\">c\u{fffd}[2J</td><td>3.2\u{a0}µs</td></tr>",
        "<li><b>caution</b> it is slow and has been so<ul>\n<li><b>change</b> something</li>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
}

#[test]
fn programs_read_the_columns_that_have_names() {
    let expected = "name,us,us_low\r\n'=evil|name,1.5,\r\nb,22,\r\nc\u{fffd}[2J,3.25,\r\n";
    assert_eq!(csv::written(&document()), expected);
    let excerpt = DataTable::new(&columns(), &LEVELS[..1]).with_records(&columns(), &LEVELS);
    let excerpt = Document::from(vec![vec![Element::Table(excerpt)]]);
    assert_eq!(csv::written(&excerpt), expected);
    assert_eq!(markdown::written(&excerpt).lines().count(), 3);
}

#[test]
fn a_terminal_puts_words_last_cuts_them_and_names_a_group_once() {
    let words_first =
        Document::from(vec![vec![Element::Table(DataTable::new(&columns()[..], &LEVELS[1..2]))]]);
    let expected = "why                 µs   name\nbecause of b   22.0 µs   b\n";
    assert_eq!(plain(&words_first, 80), expected);
    let mut columns = columns();
    columns[0] = LevelColumn::words("", |row| row.0.into()).as_group();
    let grouped = DataTable::new(&columns, &LEVELS).titled("Levels");
    let grouped =
        Document::from(vec![vec![Element::Table(grouped), Element::Sentence("and 2 more".into())]]);
    let locks = "Levels\n  locks\n    =evil|name    1.5 µs\n    b            22.0 µs\n";
    let reads = "  reads\n    c\u{fffd}[2J         3.2 µs\n  and 2 more\n";
    let expected = [locks, reads].concat();
    assert_eq!(plain(&grouped, 80), expected);
    assert!(markdown::written(&grouped).starts_with("| Levels | name | µs |\n|:--|:--|--:|\n"));
    let empty = DataTable::new::<LevelRow>(&[], []);
    let empty = Document::from(vec![vec![Element::Table(empty)]]);
    assert_eq!(plain(&empty, 80), "");
}
