//! Every event is filed as what it is: its calls, counted one by one, are the oracle.

use dbdyno_model::Dialect;
use dbdyno_workload::catalog::entries;
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{
    Catalog, Custom, Event, Filing, Load, Program, ReadyLoad, Tables, resolve_load,
};

const TABLES: Tables = Tables { count: 2, rows: 1000, seed: 7 };
const SHOP: &str = include_str!("../../../examples/shop.toml");

/// Looks at some events, and says under which classes they were filed.
fn check(name: &str, program: &Program) -> Vec<String> {
    let filing = program.filing();
    let mut event = Event::default();
    for operation in 0..300 {
        program.fill_event(3, operation, &mut event);
        let mut counts = vec![0; program.statement_classes().len()];
        event.calls.iter().for_each(|call| counts[call.class as usize] += 1);
        let asked = event.calls.iter().filter(|call| call.expect.is_some());
        let mut asked: Vec<&String> =
            asked.map(|call| &program.statement_classes()[call.class as usize]).collect();
        asked.dedup();
        let kind = event.kind as usize;
        assert!(kind < filing.kind_count(), "{name}");
        match filing {
            Filing::Whole => assert_eq!(asked.len(), 1, "{name}"),
            Filing::Events(classes) => assert_eq!(asked, [&classes[kind]], "{name}"),
            Filing::Statements { classes, per_event } => {
                assert_eq!(classes, program.statement_classes(), "{name}");
                assert_eq!(per_event[kind], counts, "{name}");
            }
        }
    }
    match filing {
        Filing::Whole => Vec::new(),
        Filing::Events(classes) | Filing::Statements { classes, .. } => classes.clone(),
    }
}

fn program(load: &Load) -> std::sync::Arc<Program> {
    match ReadyLoad::compile(load, Dialect::Mysql).unwrap().event_source() {
        EventSource::Program(program) => program.clone(),
        EventSource::Dialogue(..) => panic!("{} is no program", load.name),
    }
}

#[test]
fn all_loads_file_their_events_as_what_they_are() {
    let (mut seen, mut mixes) = (0, Vec::new());
    for entry in entries() {
        let load = resolve_load(entry.name, TABLES).unwrap();
        let ready = ReadyLoad::compile(&load, Dialect::Mysql).unwrap();
        let EventSource::Program(program) = ready.event_source() else { continue };
        assert_eq!(ready.filing(), program.filing());
        let classes = check(entry.name, program);
        match program.filing() {
            Filing::Whole => {}
            Filing::Statements { .. } => mixes.push(entry.name),
            Filing::Events(_) => panic!("{}: {classes:?}", entry.name),
        }
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
    let expected = [
        "read-only-distinct_range=1000",
        "read-only-order_range=1000",
        "read-only_range=10000",
        "read-only",
        "read-only_range=10",
        "read-only-simple_range=1000",
        "read-only-sum_range=1000",
        "read-write",
        "read-write_range=10",
        "write-only",
        "update-only",
    ];
    assert_eq!(mixes, expected);
    let load = resolve_load("read-write?trx=off", TABLES).unwrap();
    assert!(!check("without transactions", &program(&load)).contains(&"begin".to_owned()));
}

#[test]
fn transactions_of_a_custom_load_are_classes_of_events() {
    let mut catalog = Catalog::default();
    catalog.add_custom(Custom::parse("shop.toml", SHOP).unwrap()).unwrap();
    let load = catalog.resolve_load("shop", TABLES).unwrap();
    let program = program(&load);
    assert_eq!(check("shop", &program), ["look", "order", "status"]);
    assert!(matches!(program.filing(), Filing::Events(_)));
}

/// One event whose statements differ in class is enough: statements are counted then.
#[test]
fn statements_are_counted_where_one_event_has_several_classes() {
    let text = r#"
        name = "x"
        group = "point"
        tables = "none"
        rows = 10
        [[event]]
        name = "single"
        weight = 3
        [[event.step]]
        sql = "A {id}"
        rows = "0.."
        [[event]]
        name = "mixed"
        [[event.step]]
        sql = "B {id}"
        rows = "0.."
        repeat = 4
        [[event.step]]
        sql = "C {id}"
        rows = "0.."
        class = "other"
    "#;
    let mut catalog = Catalog::default();
    catalog.add_custom(Custom::parse("x.toml", text).unwrap()).unwrap();
    let program = program(&catalog.resolve_load("x", TABLES).unwrap());
    let classes = check("x", &program);
    assert!(["single", "mixed", "other"].iter().all(|name| classes.contains(&(*name).to_owned())));
    assert_eq!(program.filing().kind_count(), 2);
}

/// TPC-C's terminals know what they would have asked.
#[test]
fn the_class_of_a_transaction_is_known_without_asking() {
    let load = resolve_load("tpcc", TABLES).unwrap();
    let ready = ReadyLoad::compile(&load, Dialect::Postgres).unwrap();
    let Filing::Events(classes) = ready.filing() else { panic!("transactions are events") };
    let mut terminal = ready.create_partner(1).unwrap();
    let mut counts = vec![0; classes.len()];
    (0..500).for_each(|operation| counts[terminal.class_of(operation).unwrap()] += 1);
    assert_eq!(counts, [221, 216, 21, 21, 21]);
    assert_eq!(classes[0], "new-order");
    assert!(
        !load.rests_between_events()
            && resolve_load("tpcc?think=on", TABLES).unwrap().rests_between_events()
    );
}
