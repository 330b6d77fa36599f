//! The guide on custom loads: its table lists what the parser knows, and its examples run.

use std::fmt::Write as _;

use dbdyno_model::Dialect;
use dbdyno_workload::custom::keys::{KeySection, SECTIONS};
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::template::FORMS;
use dbdyno_workload::{Catalog, Custom, Event, ReadyLoad, Tables};

const TABLES: Tables = Tables { count: 2, rows: 1000, seed: 7 };
const BEGINNING: &str = "name = 'x'\ngroup = 'write'\n";
const CUSTOMERS: &str = "[[table]]\nname = 'customers'\nrows = 900\n\
                         create = 'CREATE TABLE customers (a TEXT)'\n";

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/custom-loads.md");
const LEDGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ledger.toml");

fn guide() -> String {
    std::fs::read_to_string(GUIDE).unwrap()
}

fn ready(text: &str) -> Result<ReadyLoad, String> {
    let custom = Custom::parse("guide.toml", text).map_err(|error| error.to_string())?;
    let name = custom.name.clone();
    let mut catalog = Catalog::default();
    catalog.add_custom(custom).unwrap();
    let load = catalog.resolve_load(&name, TABLES).unwrap();
    Ok(ReadyLoad::compile(&load, Dialect::Mysql).unwrap())
}

/// The first operation of a load with this statement, as text.
fn as_statement(tables: &str, sql: &str) -> Result<String, String> {
    let step = format!("[[step]]\nrows = '0..'\nchannel = 'text'\nsql = '''{sql}'''\n");
    let ready = ready(&format!("{BEGINNING}{step}{tables}"))?;
    let EventSource::Program(program) = ready.event_source() else { panic!("a dialogue") };
    let mut event = Event::default();
    program.fill_event(0, 0, &mut event);
    let call = event.calls.iter().find(|call| call.expect.is_some()).unwrap();
    let mut written = String::new();
    event.write_sql(call, &program.statements()[call.statement as usize], &mut written);
    Ok(written)
}

/// The first row of a table with this column.
fn as_column(column: &str) -> Result<String, String> {
    let step = "[[step]]\nrows = '0..'\nsql = 'SELECT 1'\n";
    let columns = format!("columns = {{ a = '''{column}''' }}\n");
    let text = format!("{BEGINNING}{step}{CUSTOMERS}{columns}");
    let custom = Custom::parse("guide.toml", &text).map_err(|error| error.to_string())?;
    let mut catalog = Catalog::default();
    catalog.add_custom(custom).unwrap();
    let load = catalog.resolve_load("x", TABLES).unwrap();
    let mut row = Vec::new();
    load.dataset.push(0, 0, &mut row);
    Ok(String::from_utf8(row).unwrap().trim_end().to_owned())
}

/// What an example gives, wherever it may stand.
fn gives(example: &str) -> String {
    let customers = format!("{CUSTOMERS}columns = {{ a = '1' }}\n");
    let errors = match as_statement("", example) {
        Ok(text) => return text,
        Err(error) => error,
    };
    let made = as_statement(&customers, example).or_else(|_| as_column(example));
    made.unwrap_or_else(|error| panic!("{example}: {errors}\n{error}"))
}

/// The cells of a row of a table in Markdown, without the marks of code.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\u{1}");
    let cells = line.trim_matches('|').split('|').map(|cell| cell.replace('\u{1}', "|"));
    cells.map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
}

#[test]
fn the_table_lists_every_generator_with_an_example_that_gives_what_it_says() {
    let guide = guide();
    let (_, table) = guide.split_once("| generator |").expect("the guide has a table");
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<String>> = lines.map(cells).collect();
    let listed: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(listed, FORMS, "the guide lists what the parser knows, in its order");
    let mut wrong = String::new();
    for row in &rows {
        let [form, _, example, said] = &row[..] else { panic!("{row:?} has other columns") };
        let word = form.trim_start_matches(['{', '…', ' ']);
        let word = word.split(['A', 'N', 'T', 'P', 'F', ' ', '…', '}']).next().unwrap();
        assert!(example.contains(word), "{example} is no example of {form}");
        let made = gives(example);
        if made != *said {
            writeln!(wrong, "{example}\n  gives {made}\n  the guide says {said}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Pieces of files: those that name a load are whole, the columns belong into a table.
#[test]
fn examples_in_toml_are_read() {
    let guide = guide();
    let blocks: Vec<&str> =
        guide.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 3, "{blocks:?}");
    for block in blocks {
        let text = match block.starts_with("name") {
            true => block.to_owned(),
            false => {
                format!("{BEGINNING}step = [{{ sql = 'SELECT 1', rows = 1 }}]\n{CUSTOMERS}{block}")
            }
        };
        ready(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

fn in_markdown(section: &KeySection) -> String {
    let mut table = format!("### {}\n\n| key | takes | says |\n|---|---|---|\n", section.heading);
    for key in section.keys {
        let takes = key.takes.replace('|', "\\|");
        writeln!(table, "| `{}` | {takes} | {} |", key.name, key.says).unwrap();
    }
    table
}

/// The tables of the guide are those of the code; `UPDATE_GOLDEN=1` writes them.
#[test]
fn the_guide_has_every_key() {
    let guide = guide();
    let (before, rest) = guide.split_once("<!-- keys -->\n").expect("where the tables begin");
    let (_, behind) = rest.split_once("<!-- end of keys -->").expect("where they end");
    let tables: Vec<String> = SECTIONS.iter().map(in_markdown).collect();
    let tables = tables.join("\n");
    let wanted = format!("{before}<!-- keys -->\n{tables}\n<!-- end of keys -->{behind}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(GUIDE, &wanted).unwrap();
    }
    assert!(guide == wanted, "if that is meant, write it with UPDATE_GOLDEN=1");
}

/// The keys that the reader says it takes, in this section of a file with one that it does not.
fn keys_read(text: &str) -> Vec<String> {
    let error = Custom::parse("keys.toml", text).unwrap_err().message;
    let (_, takes) = error.split_once(" takes ").unwrap_or_else(|| panic!("{error}"));
    let mut keys: Vec<String> = takes.split(", ").map(str::to_owned).collect();
    keys.sort();
    keys
}

#[test]
fn the_keys_are_those_that_are_read() {
    let step = "sql = 'SELECT 1'\nrows = 1\n";
    let event = format!("[[event]]\nname = 'e'\nodd = 1\n[[event.step]]\n{step}");
    let table = format!("{CUSTOMERS}odd = 1\n[[step]]\n{step}");
    let statement = "[[step]]\nstatements = [{ sql = 'SELECT 1', rows = 1, odd = 1 }]\n";
    let texts = [
        format!("odd = 1\n{BEGINNING}[[step]]\n{step}"),
        format!("{BEGINNING}{table}"),
        format!("{BEGINNING}{event}"),
        format!("{BEGINNING}[[step]]\n{step}odd = 1\n"),
        format!("{BEGINNING}{statement}"),
        format!("{BEGINNING}[[step]]\nsql = {{ default = 'SELECT 1', odd = 'x' }}\nrows = 1\n"),
    ];
    for (at, (section, text)) in SECTIONS.iter().zip(&texts).enumerate() {
        // A step that is one statement has the keys of both.
        let of_statement = if at == 3 { SECTIONS[4].keys } else { &[] };
        let keys = section.keys.iter().chain(of_statement);
        let mut keys: Vec<String> = keys.map(|key| key.name.to_owned()).collect();
        keys.sort();
        assert_eq!(keys, keys_read(text), "{}", section.heading);
    }
}

/// What cannot stand beside tables of its own is in the two examples of the guide.
#[test]
fn every_key_stands_in_an_example() {
    let ledger = std::fs::read_to_string(LEDGER).unwrap();
    ready(&ledger).unwrap();
    let guide = guide();
    let (_, others) = guide.split_once("<!-- end of keys -->").unwrap();
    for key in SECTIONS.iter().flat_map(|section| section.keys) {
        let is_there = |text: &str| {
            let words = [format!("{} = ", key.name), format!("[[{}]]", key.name)];
            words.iter().any(|word| text.contains(word.as_str()))
        };
        assert!(is_there(&ledger) || is_there(others), "{}", key.name);
    }
}
