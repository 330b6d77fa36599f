//! Custom loads: the example, its values, and files that are wrong.

use std::fmt::Write as _;
use std::path::Path;

use dbdyno_model::{Dialect, random};
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{
    CallValue, Catalog, Custom, Event, Load, Program, ReadyLoad, SpecError, Tables,
};

const SHOP: &str = include_str!("../../../examples/shop.toml");
const TABLES: Tables = Tables { count: 2, rows: 1000, seed: 7 };
const DIALECTS: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

fn catalog(text: &str) -> Catalog {
    let mut catalog = Catalog::default();
    let custom = Custom::parse("test.toml", text).unwrap_or_else(|error| panic!("{error}"));
    catalog.add_custom(custom).unwrap();
    catalog
}

fn program(load: &Load, dialect: Dialect) -> Program {
    match ReadyLoad::compile(load, dialect).unwrap().event_source() {
        EventSource::Program(program) => Program::clone(program),
        EventSource::Dialogue(..) => panic!("{} is a dialogue", load.name),
    }
}

fn shown(event: &Event, value: &CallValue) -> String {
    match *value {
        CallValue::Null => "NULL".to_owned(),
        CallValue::Int(number) => number.to_string(),
        CallValue::Text { start, length } => {
            format!("'{}'", String::from_utf8_lossy(event.text_slice(start, length)))
        }
    }
}

/// The first rows of each table of the example and its first events, `UPDATE_GOLDEN=1` writes the
/// file anew.
#[test]
fn the_shop_asks_what_the_golden_file_says() {
    let load = catalog(SHOP).resolve_load("shop", TABLES).unwrap();
    let mut story = String::new();
    for (index, table) in load.dataset.tables(Dialect::Postgres).iter().enumerate() {
        let units = load.dataset.unit_count(index);
        writeln!(story, "# {}: {units} rows\n{}", table.name, table.create).unwrap();
        let mut rows = Vec::new();
        (0..3).for_each(|unit| assert_eq!(load.dataset.push(index, unit, &mut rows), 1));
        story.push_str(&String::from_utf8(rows).unwrap());
        table.finish.iter().for_each(|sql| writeln!(story, "{sql}").unwrap());
    }
    let program = program(&load, Dialect::Postgres);
    for operation in 0..6 {
        let mut event = Event::default();
        program.fill_event(1, operation, &mut event);
        writeln!(story, "\n# operation {operation}").unwrap();
        for call in &event.calls {
            let values: Vec<String> =
                event.values(call).iter().map(|value| shown(&event, value)).collect();
            let statement = &program.statements()[call.statement as usize].sql;
            let class = &program.statement_classes()[call.class as usize];
            writeln!(story, "{class}: {statement}\n    {}", values.join(" ")).unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/shop.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &story).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == story, "shop.txt differs; UPDATE_GOLDEN=1 writes it anew. Now:\n{story}");
}

#[test]
fn events_come_as_often_as_their_weights_say() {
    let load = catalog(SHOP).resolve_load("shop", TABLES).unwrap();
    let program = program(&load, Dialect::Mysql);
    let mut counts = std::collections::BTreeMap::<&str, u32>::new();
    let mut event = Event::default();
    for operation in 0..20_000 {
        program.fill_event(0, operation, &mut event);
        let first = event.calls.iter().find(|call| call.expect.is_some()).unwrap();
        *counts.entry(&program.statement_classes()[first.class as usize]).or_default() += 1;
    }
    for (name, share) in [("look", 0.6), ("order", 0.3), ("status", 0.1)] {
        let found = f64::from(counts[name]) / 20_000.0;
        // Five standard deviations of a share of 20 000.
        assert!((found - share).abs() < 0.018, "{name}: {found}");
    }
}

/// What is kept under a name is what comes again, NULL comes as often as it should, and `{seq}` is
/// never the same, whatever the client, the pair, the cell or the phase.
#[test]
fn values_hang_together() {
    let text = r#"
        name = "x"
        group = "write"
        tables = "none"
        rows = 10
        [[step]]
        sql = "A {id as a} {text 3 as b} {null 25%: int 1..9} {seq} {one of it's|é}"
        rows = "0.."
        channel = "text"
        [[step]]
        sql = "B {same a} {same b} {same seq}"
        rows = "0.."
    "#;
    let load = catalog(text).resolve_load("x", TABLES).unwrap();
    let program = program(&load, Dialect::Sqlite);
    let (mut nulls, mut sequences) = (0, std::collections::BTreeSet::new());
    let mut event = Event::default();
    let phases = [0, 1 << 61, 1 << 62];
    let cells = [0, 1 << 50, 2 << 50];
    let pairs = [0, 1 << 31, 1 << 32, 99 << 32];
    let firsts = phases.iter().flat_map(|p| cells.iter().map(move |c| p + c));
    let firsts: Vec<u64> = firsts.flat_map(|first| pairs.iter().map(move |p| first + p)).collect();
    for first in &firsts {
        for (client, operation) in (0..20).flat_map(|client| (0..10).map(move |o| (client, o))) {
            program.fill_event(client, first + operation, &mut event);
            let calls: Vec<_> = event.calls.iter().filter(|call| call.expect.is_some()).collect();
            let (a, b) = (event.values(calls[0]), event.values(calls[1]));
            assert_eq!((a[0], a[1], a[3]), (b[0], b[1], b[2]));
            nulls += u32::from(a[2] == CallValue::Null);
            let CallValue::Int(sequence) = a[3] else { panic!("{a:?}") };
            assert!(sequence > 1 << 58, "far above the ids of rows that were filled in");
            assert!(sequences.insert(sequence), "{sequence} comes twice");
            let mut sql = String::new();
            let statement = &program.statements()[calls[0].statement as usize];
            event.write_sql(calls[0], statement, &mut sql);
            assert!(sql.ends_with("'it''s'") || sql.ends_with("'é'"), "{sql}");
        }
    }
    let share = f64::from(nulls) / (firsts.len() * 200) as f64;
    assert!((share - 0.25).abs() < 0.03, "{share}");
}

/// Rows in which columns follow from others, computed here from the text of the others.
#[test]
fn columns_follow_from_others_of_their_row() {
    let text = r#"
        name = "x"
        group = "point"
        step = [{ sql = "SELECT 1", rows = 1 }]
        [[table]]
        name = "line"
        rows = 300
        create = "CREATE TABLE line (id INT, teller INT, price DECIMAL(9,2), quantity INT, vat INT, total DECIMAL(18,4), mail TEXT, again TEXT, doc JSON, maybe INT, twice INT)"
        [table.columns]
        id = "{row}"
        teller = "{= (id - 1) / 10 + 1}"
        price = "{decimal -9.99..99.99}"
        quantity = "{int 1..9}"
        vat = "{one of 7|19}"
        total = "{= price * quantity * (1 + vat * 0.01)}"
        mail = "{text 3..9}@{one of a|b}.org"
        again = "{same mail}?{same quantity}"
        doc = '{{"id": {row}, "tags": ["{one of a|b as tag}", "{same tag}"], "of": {{"p": {= price}}}}}'
        maybe = "{null 50%: int 1..9}"
        twice = "{= maybe * 2}"
    "#;
    let load = catalog(text).resolve_load("x", TABLES).unwrap();
    let mut nulls = 0;
    for unit in 0..300 {
        let mut row = Vec::new();
        load.dataset.push(0, unit, &mut row);
        let row = String::from_utf8(row).unwrap();
        let columns: Vec<&str> = row.trim_end().split('\t').collect();
        let [id, teller, price, quantity, vat, total, mail, again, doc, maybe, twice] = columns[..]
        else {
            panic!("{row}")
        };
        assert_eq!(id, (unit + 1).to_string());
        assert_eq!(teller, (unit / 10 + 1).to_string());
        let cents: i64 = price.replace('.', "").parse().unwrap();
        let times: i64 = quantity.parse().unwrap();
        let expected = cents * times * (100 + vat.parse::<i64>().unwrap());
        assert_eq!(total.replace('.', "").parse::<i64>().unwrap(), expected, "{row}");
        assert_eq!(total.split_once('.').unwrap().1.len(), 4, "{row}");
        assert_eq!(again, format!("{mail}?{quantity}"));
        let tag = doc.split('"').nth(5).unwrap();
        let written =
            format!(r#"{{"id": {id}, "tags": ["{tag}", "{tag}"], "of": {{"p": {price}}}}}"#);
        assert_eq!(doc, written);
        match maybe {
            "\\N" => assert_eq!(twice, "\\N"),
            number => assert_eq!(twice, (number.parse::<i64>().unwrap() * 2).to_string()),
        }
        nulls += u32::from(maybe == "\\N");
    }
    assert!((100..200).contains(&nulls), "{nulls} of 300 are NULL");
}

/// The same bits for every dialect, in the form that it compares with a column of bits.
#[test]
fn bits_are_numbers_or_characters() {
    let text = "name = 'x'\ngroup = 'point'\n[[step]]\nrows = 1\n\
                sql = \"SELECT {bits 1}, {bits 8 as b}, {bits 3..63}, {same b}, '0{same b}'\"";
    let load = catalog(text).resolve_load("x", TABLES).unwrap();
    let [mysql, postgres, sqlite] = DIALECTS.map(|dialect| program(&load, dialect));
    let mut seen = std::collections::BTreeSet::new();
    for operation in 0..1_000 {
        let values = |program: &Program| -> Vec<String> {
            let mut event = Event::default();
            program.fill_event(1, operation, &mut event);
            event.values(&event.calls[0]).iter().map(|value| shown(&event, value)).collect()
        };
        let (numbers, characters) = (values(&mysql), values(&postgres));
        assert_eq!(numbers, values(&sqlite));
        for (number, characters) in numbers.iter().zip(&characters).take(4) {
            let bits = characters.trim_matches('\'');
            assert_eq!(u64::from_str_radix(bits, 2).unwrap().to_string(), *number);
        }
        let lengths: Vec<usize> = characters.iter().map(|value| value.len() - 2).collect();
        assert!(lengths[0] == 1 && lengths[1] == 8 && (3..=63).contains(&lengths[2]));
        assert_eq!(numbers[1], numbers[3]);
        assert_eq!(characters[4], format!("'0{}'", characters[1].trim_matches('\'')));
        seen.insert(numbers[1].clone());
    }
    assert!(seen.len() > 200, "{} of 256 values in 1000 draws", seen.len());
}

/// Which columns are sent as numbers, and in which base they are written.
#[test]
fn columns_of_bits_are_numbers_to_some_servers() {
    let text = r#"
        name = "x"
        group = "point"
        step = [{ sql = "SELECT 1", rows = 1 }]
        [[table]]
        name = "t"
        rows = 1
        create = "CREATE TABLE t (id INT, flags BIT(8), mask BIT(9), kind BIT(2), text CHAR(8))"
        columns = { id = "{row}", flags = "{null 5%: bits 8 as f}", mask = "0{bits 8}", kind = "{int 0..3}", text = "{digits 8}" }
    "#;
    let load = catalog(text).resolve_load("x", TABLES).unwrap();
    let numbers = DIALECTS.map(|dialect| load.dataset.tables(dialect).remove(0).numbers);
    let bits = vec![(1, 2), (2, 2)];
    assert_eq!(numbers, [vec![(1, 2), (2, 2), (3, 10)], bits.clone(), bits]);
}

#[test]
fn options_and_labels_name_the_same_load() {
    let catalog = catalog(SHOP);
    let statements = |spec: &str, dialect| {
        let load =
            catalog.resolve_load(spec, TABLES).unwrap_or_else(|error| panic!("{spec}: {error}"));
        program(&load, dialect).statements().len()
    };
    for dialect in DIALECTS {
        // Two of its three events are transactions.
        let all = statements("shop", dialect);
        assert_eq!(all, statements("shop.pre", dialect));
        assert_eq!(all - 4, statements("shop?trx=off", dialect));
        assert_eq!(all + 2, statements("shop?trx=on&rand=latest&skew=0.5", dialect));
    }
    let error = |spec: &str| catalog.resolve_load(spec, TABLES).unwrap_err();
    assert!(matches!(error("shop?range=5"), SpecError::UnknownOption(..)));
    assert!(matches!(error("ship"), SpecError::UnknownLoad(..)));
}

#[test]
fn loads_that_need_different_tables_of_one_name_are_told_apart() {
    let mut catalog = catalog(SHOP);
    let mut add = |text: String| catalog.add_custom(Custom::parse("other.toml", &text).unwrap());
    assert_eq!(add(SHOP.to_owned()), Ok(()));
    assert!(add(SHOP.replace("stock", "left")).unwrap_err().contains("both describe"));
    add(SHOP.replace("name = \"shop\"", "name = \"shop2\"")).unwrap();
    let datasets = |specs: &[&str]| catalog.datasets_of(specs.iter().copied(), TABLES);
    assert_eq!(datasets(&["shop", "shop?rand=uniform", "point-query", "scan"]).unwrap().len(), 2);
    for wrong in [["shop", "shop2"], ["join?width=10", "join?width=20"]] {
        let error = datasets(&wrong).unwrap_err();
        assert!(matches!(error, SpecError::Clash(..)), "{wrong:?}: {error}");
    }
}

/// A statement for one dialect only makes a load for this dialect only.
#[test]
fn a_load_may_speak_one_dialect() {
    let text = "name = 'x'\ngroup = 'point'\n[[step]]\nrows = 1\n\
                sql = { postgres = 'SELECT 1 FROM {table} TABLESAMPLE SYSTEM (1)', \
                mysql = 'SELECT 1' }";
    let load = catalog(text).resolve_load("x", TABLES).unwrap();
    assert_eq!(DIALECTS.map(|dialect| load.supports_dialect(dialect)), [true, true, false]);
    assert!(DIALECTS.iter().all(|&dialect| {
        catalog(SHOP).resolve_load("shop", TABLES).unwrap().supports_dialect(dialect)
    }));
}

/// What a statement that a dialect does not have would have kept is not missed there.
#[test]
fn values_are_kept_in_the_dialects_that_a_load_speaks() {
    let text = "name = 'x'\ngroup = 'point'\n[[step]]\nrows = 1\n\
                sql = { mysql = 'SELECT {int 1..9 as n}', postgres = 'SELECT {int 1..9 as n}' }\n\
                [[step]]\nrows = 1\nsql = 'SELECT {same n}'";
    let load = catalog(text).resolve_load("x", TABLES).unwrap();
    assert_eq!(DIALECTS.map(|dialect| load.supports_dialect(dialect)), [true, true, false]);
    program(&load, Dialect::Postgres);
}

#[test]
fn a_row_that_is_locked_is_not_only_read() {
    for (sql, only_reads) in [
        ("SELECT c FROM {table} WHERE id = {id}", true),
        ("select substring(c from 1 for 3) from {table} where id = {id}", true),
        ("SELECT c FROM {table} WHERE id = {id} FOR UPDATE", false),
        ("select c from {table} where id = {id} for  no key update", false),
        ("SELECT c FROM {table} WHERE id = {id} LOCK IN SHARE MODE", false),
        ("SELECT (SELECT c FROM {table} WHERE id = {id} FOR SHARE)", false),
        ("CALL report({id})", false),
    ] {
        let step = format!("[[step]]\nrows = 1\nsql = '{sql}'\n");
        let text = format!("name = 'x'\ngroup = 'point'\n{step}");
        let load = catalog(&text).resolve_load("x", TABLES).unwrap();
        assert_eq!((load.only_reads(), load.writes_rows()), (only_reads, false), "{sql}");
    }
}

/// What is wrong, where it is wrong, and what to write instead.
#[test]
fn wrong_files_say_where_and_what_to_write() {
    let top = "name = 'x'\ngroup = 'point'\n";
    let step = |sql: &str| format!("{top}[[step]]\nrows = 1\nsql = '{sql}'\n");
    let table = |columns: &str| {
        format!(
            "{top}step = [{{ sql = 'SELECT 1', rows = 1 }}]\n[[table]]\nname = 't'\n\
             create = 'CREATE TABLE t (a INTEGER)'\n{columns}"
        )
    };
    let cases = [
        (format!("{top}wieght = 1\n"), (3, 1), "unknown key \"wieght\""),
        (top.to_owned(), (1, 1), "add [[step]]"),
        (step("SELECT 1") + "reapet = 2\n", (6, 1), "did you mean \"repeat\"?"),
        (step("SELECT {idd}"), (5, 15), "unknown generator {idd} (did you mean \"id\"?)"),
        (step("SELECT {id"), (5, 15), "'{' without '}'"),
        (step("SELECT 1}"), (5, 16), "'}' without '{'"),
        (step("SELECT {same buyer}"), (5, 15), "nothing was kept as \"buyer\""),
        (step("SELECT {id+9}"), (5, 15), "write {id} first"),
        (step("SELECT {id of items}"), (5, 15), "write {id}"),
        (step("SELECT 1").replace("rows = 1\n", ""), (4, 7), "what is a right answer?"),
        (step("SELECT 1").replace("rows = 1", "rows = '9..1'"), (4, 8), "no bounds"),
        (step("SELECT 1").replace("rows = 1", "rows = -1"), (4, 8), "a whole number from 0"),
        (step("SELECT 1").replace("point", "pint"), (2, 9), "did you mean \"point\"?"),
        (step("SELECT 1").replace("'x'", "'point-query'"), (1, 8), "take another name"),
        (step("SELECT 1").replace("'x'", "'a,b'"), (1, 8), "letters, digits"),
        (step("SELECT 1") + "sql = 'twice'", (6, 1), "not TOML: duplicate key"),
        (format!("{top}name"), (3, 5), "not TOML"),
        (format!("{top}rand = 'zipf'\n"), (3, 8), "did you mean \"zipfian\"?"),
        (format!("{top}rand = 'zipfian'\nskew = 9.5\n"), (4, 8), "lies between 0.01 and 5"),
        (
            format!("{top}[[step]]\nrows = 1\nsql = {{ postgre = 'SELECT 1' }}\n"),
            (5, 9),
            "did you mean \"postgres\"?",
        ),
        (
            format!("{top}[[step]]\nrows = 1\nsql = 'SELECT \"{{id}}\"'\n"),
            (5, 16),
            "write text in single quotes",
        ),
        (
            format!("{top}[[event]]\nname = 'a'\nweight = 0\nstep = [{{ sql = 'A', rows = 1 }}]\n"),
            (3, 1),
            "weight above 0",
        ),
        (table(""), (4, 1), "what is in its rows?"),
        (
            table("columns = { a = '{row}' }\n").replace("a INTEGER", "a INT REFERENCES u")
                + "[[table]]\nname = 'u'\ncreate = 'CREATE TABLE u (b INT REFERENCES t (a))'\n\
                   columns = { b = '{row}' }\n",
            (6, 10),
            "the tables t and u refer to each other",
        ),
        (table("columns = { a = '{id}' }"), (7, 18), "{id of TABLE}"),
        (table("columns = { a = '{id of u}' }"), (7, 18), "there is no table \"u\""),
        (table("columns = { a = 'x{null 5%: int 1..9}' }"), (7, 19), "all that a column has"),
        (table("columns = { a = '{\"b\": 1}' }"), (7, 18), "written twice: {{ and }}"),
        (table("columns = { a = '{\"b\": {row}}' }"), (7, 18), "written twice, {{ and }}"),
        (table("columns = { a = '{= b}', b = '1' }"), (7, 18), "no column \"b\" stands before"),
        (table("columns = { b = 'x', a = '{= b}' }"), (7, 27), "b is no number"),
        (table("columns = { b = '0.5', a = '{= 1 / b}' }"), (7, 29), "divide whole numbers"),
        (
            table("columns = { b = '{null 5%: int 1..9}', a = '1{= b}' }"),
            (7, 46),
            "may be NULL, and must be all that a column has",
        ),
        (table("columns = { a = '{= 1 +}' }"), (7, 18), "the formula ends where"),
        (table("columns = { a = '{bits 64}' }"), (7, 18), "from 1 to 63"),
        (table("columns = { a = '{same id}' }"), (7, 18), "{= id}"),
        (
            table("columns = { a = '1' }").replace("a INTEGER", "a INT GENERATED ALWAYS AS (1)"),
            (7, 17),
            "leave it out of columns",
        ),
        (step("SELECT {= row}"), (5, 15), "stands in columns"),
        (
            format!("{top}[[step]]\nrows = 1\nsql = \"SELECT DATE '{{int 1..9}}-01-01'\"\n"),
            (5, 21),
            "DATE takes none; write CAST",
        ),
        (step("SELECT {= x}"), (5, 15), "nothing was kept as \"x\""),
        (table("rows = '9'"), (7, 8), "a share of --rows"),
        (table("colums = { a = '1' }"), (7, 1), "did you mean \"columns\"?"),
        (table("").replace("CREATE TABLE t", "CREATE TABLE u"), (6, 10), "CREATE TABLE t"),
        (table("").replace("create = ", "# "), (4, 1), "has no create"),
    ];
    let mut wrong = Vec::new();
    for (text, (line, column), part) in cases {
        let Err(error) = Custom::parse("x.toml", &text) else { panic!("accepted: {text}") };
        assert!(error.message.contains(part), "{part:?} is not in: {error}\n{text}");
        if (error.line, error.column) != (line, column) {
            wrong.push(format!("({line}, {column}) expected: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that were damaged at random are refused or read, and what is read can be asked.
#[test]
fn no_file_makes_it_panic() {
    const WORDS: [&str; 33] = [
        "{{",
        "}}",
        "{= id * 2 / 0}",
        "'{int 1..9}'",
        "{bits 8}",
        "{",
        "}",
        "'",
        "\"",
        "\n",
        "[[step]]\n",
        "[[event]]\n",
        "[[table]]\n",
        "rows = 0\n",
        "{rows 3: ({k})}",
        "{id of items*3}",
        "{id+9223372036854775807}",
        "0",
        "-1",
        "%",
        "é",
        "\0",
        "9999999999",
        "{null 50%: seq as x}",
        "{same x}",
        "{row}",
        "{table}",
        "weight = 0\n",
        "tables = \"none\"\n",
        "..",
        "{ mysql = \"x\" }",
        "{int 1..9}",
        "=",
    ];
    let lines: Vec<&str> = SHOP.split_inclusive('\n').collect();
    let mut read = 0;
    for number in 0..6_000 {
        let mut random = random::stream(&[5, number]);
        let mut text: String = match random.next_below(3) {
            0 => SHOP.to_owned(),
            _ => lines.iter().filter(|_| random.next_below(40) > 0).copied().collect(),
        };
        for _ in 0..random.next_below(4) {
            let place = |random: &mut random::RandomStream, text: &str| {
                let mut at = random.next_below(text.len() as u64 + 1) as usize;
                while !text.is_char_boundary(at) {
                    at -= 1;
                }
                at
            };
            let at = place(&mut random, &text);
            match random.next_below(3) {
                0 => text.insert_str(at, WORDS[random.next_below(WORDS.len() as u64) as usize]),
                1 => drop(text.pop()),
                _ => {
                    let other = place(&mut random, &text);
                    let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 40));
                    let to = (to..=text.len()).find(|&to| text.is_char_boundary(to)).unwrap();
                    text.replace_range(from..to, "");
                }
            }
        }
        match Custom::parse("x.toml", &text) {
            Err(error) => assert!(error.line >= 1 && !error.to_string().is_empty()),
            Ok(custom) => {
                read += 1;
                ask(custom);
            }
        }
    }
    assert!((500..5_500).contains(&read), "{read} of 6000: the damage is too small or too great");
}

fn ask(custom: Custom) {
    let (name, text) = (custom.name.clone(), custom.text.clone());
    let mut catalog = Catalog::default();
    catalog.add_custom(custom).unwrap();
    let load = catalog.resolve_load(&name, TABLES).unwrap();
    let mut rows = Vec::new();
    for table in 0..load.dataset.tables(Dialect::Sqlite).len() {
        let units = load.dataset.unit_count(table);
        let made: u64 =
            (0..units.min(3)).map(|unit| load.dataset.push(table, unit, &mut rows)).sum();
        assert_eq!(made, units.min(3));
    }
    for dialect in DIALECTS.into_iter().filter(|&dialect| load.supports_dialect(dialect)) {
        let ready = ReadyLoad::compile(&load, dialect);
        let ready = ready.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let EventSource::Program(program) = ready.event_source() else { panic!() };
        let mut event = Event::default();
        (0..20).for_each(|operation| program.fill_event(3, operation, &mut event));
    }
}
