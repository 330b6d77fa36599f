//! The guide on custom loads: its table lists what the parser knows, and its examples run.

use std::fmt::Write as _;
use std::path::Path;

use dbdyno_model::Dialect;
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::template::FORMS;
use dbdyno_workload::{Catalog, Custom, Event, ReadyLoad, Tables};

const TABLES: Tables = Tables { count: 2, rows: 1000, seed: 7 };
const BEGINNING: &str = "name = 'x'\ngroup = 'write'\n";
const CUSTOMERS: &str = "[[table]]\nname = 'customers'\nrows = 900\n\
                         create = 'CREATE TABLE customers (a TEXT)'\n";

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/custom-loads.md");
    std::fs::read_to_string(path).unwrap()
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
