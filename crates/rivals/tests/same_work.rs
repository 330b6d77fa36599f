//! Both sides, asked the same, answer the same and hold the same in the end.

use dbdyno_model::Design;
use dbdyno_rivals::work::{Questions, Scale};
use dbdyno_rivals::{
    Answers, Contents, EngineSide, Failure, OPTIONS, RivalClient, RivalDatabase, RivalDurability,
    RocksSide,
};
use dbdyno_rocks::Library;

const SCALE: Scale = Scale { rows: 600, warehouses: 2, items: 120, customers: 40 };

/// With `DBDYNO_REQUIRE_SERVERS=1` a machine without RocksDB fails, else it has nothing to test.
fn sides(directory: &tempfile::TempDir) -> Option<[Box<dyn RivalDatabase>; 2]> {
    let library = match Library::of_system() {
        Ok(library) => library,
        Err(error) if std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some() => panic!("{error}"),
        Err(_) => return None,
    };
    let [one, other] = ["engine", "rocks"].map(|name| directory.path().join(name));
    let written = RivalDurability::Written;
    let engine = EngineSide::open(&one, &Design::default(), written, &SCALE);
    let rocks = RocksSide::open(library, &other, OPTIONS, written, &SCALE);
    let engine = engine.unwrap_or_else(|error| panic!("{error}"));
    let rocks = rocks.unwrap_or_else(|error| panic!("{error}"));
    Some([Box::new(engine), Box::new(rocks)])
}

fn ask(client: &mut dyn RivalClient, questions: &Questions, number: u64, answers: &mut Answers) {
    let again = |done: Result<(), Failure>| match done {
        Ok(()) => false,
        Err(Failure::Conflict) => true,
        Err(Failure::Broken(what)) => panic!("{what}"),
    };
    while again(match number % 4 {
        0 => client.point_query(questions.point_query(number), answers),
        1 => client.read_write(&questions.read_write(number), answers),
        2 => client.new_order(&questions.new_order(number), answers),
        _ => client.payment(&questions.payment(number), answers),
    }) {}
}

fn contents(side: &dyn RivalDatabase) -> Contents {
    side.read_contents().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn one_client_is_answered_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let Some([engine, rocks]) = sides(&directory) else { return };
    assert_eq!(contents(&*engine), contents(&*rocks), "what they begin with");
    assert_eq!(contents(&*engine).rows("sbtest.second"), 600);
    assert_eq!(contents(&*engine).rows("stock"), 240);
    let before = contents(&*engine);
    let questions = Questions::new(SCALE, 7, 1, 0);
    let mut clients = [engine.client(), rocks.client()];
    for number in 0..400 {
        let sums = clients.each_mut().map(|client| {
            let mut answers = Answers::default();
            ask(&mut **client, &questions, number, &mut answers);
            answers.take_sum()
        });
        assert_eq!(sums[0], sums[1], "{number}");
    }
    drop(clients);
    assert_eq!(contents(&*engine), contents(&*rocks));
    everything_was_done(&before, &contents(&*engine), &questions);
}

/// Both sides are given the same statements: one that is missing is missing on both.
fn everything_was_done(before: &Contents, after: &Contents, questions: &Questions) {
    let lines = (0..400).filter(|number| number % 4 == 2);
    let lines: usize = lines.map(|number| questions.new_order(number).lines.len()).sum();
    for (name, rows) in [
        ("sbtest", 600),
        ("sbtest.second", 600),
        ("history", 100),
        ("orders", 100),
        ("new_order", 100),
        ("order_line", lines as u64),
    ] {
        assert_eq!(after.rows(name), rows, "{name}");
        assert_ne!(after.sum(name), before.sum(name), "{name}");
    }
    for name in ["warehouse", "district", "customer", "stock"] {
        assert_ne!(after.sum(name), before.sum(name), "{name}");
    }
    for name in ["item", "customer.second"] {
        assert_eq!(after.sum(name), before.sum(name), "{name}");
    }
}

#[test]
fn many_clients_leave_the_same_behind() {
    let directory = tempfile::tempdir().unwrap();
    let Some(sides) = sides(&directory) else { return };
    let clients = 4;
    for side in &sides {
        std::thread::scope(|scope| {
            for client in 0..clients {
                scope.spawn(move || {
                    let questions = Questions::new(SCALE, 9, clients, client);
                    let (mut client, mut answers) = (side.client(), Answers::default());
                    (0..200).for_each(|it| ask(&mut *client, &questions, it, &mut answers));
                });
            }
        });
    }
    assert_eq!(contents(&*sides[0]), contents(&*sides[1]));
    assert_eq!(contents(&*sides[0]).rows("sbtest"), 600);
    assert_eq!(contents(&*sides[0]).rows("orders"), 200);
}
