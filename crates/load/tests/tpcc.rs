//! TPC-C on the embedded arm: many terminals at once, consistency before and after.

use std::sync::atomic::AtomicBool;
use std::thread;

use dbdyno_load::{ClientSession, Connector, LoadError, SqliteFile, check_invariants, fill_tables};
use dbdyno_model::Dialect;
use dbdyno_workload::{Filing, Load, ReadyLoad, Tables, resolve_load};

const SPEC: &str = "tpcc?warehouses=2&items=1000&customers=60";
const CLASSES: [&str; 5] =
    ["new-order", "payment", "order-status", "delivery-background", "stock-level"];

struct Arm {
    connector: Connector,
    load: Load,
    _directory: tempfile::TempDir,
}

impl Arm {
    fn filled() -> Arm {
        let directory = tempfile::tempdir().unwrap();
        let pragmas = [("journal_mode", "WAL"), ("synchronous", "OFF")];
        let pragmas = pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let path = directory.path().join("arm.sqlite");
        let connector = Connector::Sqlite(SqliteFile { path, pragmas });
        let load = resolve_load(SPEC, Tables { count: 1, rows: 1, seed: 3 }).unwrap();
        let stop = AtomicBool::new(false);
        fill_tables(&connector, Dialect::Sqlite, &*load.dataset, &stop, &mut |_| {}).unwrap();
        Arm { connector, load, _directory: directory }
    }

    fn ask(&self, sql: &str) -> String {
        let rows = self.connector.connect().unwrap().query(sql).unwrap();
        rows.first_value().unwrap_or("NULL").to_owned()
    }

    fn number(&self, sql: &str) -> i64 {
        self.ask(sql).parse().unwrap()
    }

    /// Rows that break conditions 1 to 4.
    fn violations(&self) -> Vec<i64> {
        let questions = self.load.dataset.invariants(Dialect::Sqlite);
        questions.iter().map(|(sql, _)| self.number(sql)).collect()
    }

    fn check(&self) -> Result<(), LoadError> {
        check_invariants(&self.connector, Dialect::Sqlite, &*self.load.dataset)
    }

    /// Carries out operations of one client; returns how many there were of each class.
    fn work(&self, client: u32, operations: u64) -> [i64; 5] {
        let script = ReadyLoad::compile(&self.load, Dialect::Sqlite).unwrap();
        assert_eq!(script.filing(), &Filing::Events(CLASSES.map(str::to_owned).into()));
        let mut session = ClientSession::open(&self.connector, &script, client).unwrap();
        let mut counts = [0; 5];
        for operation in 0..operations {
            session.make_operation(operation);
            let answer = session.ask_operation(operation).unwrap_or_else(|error| panic!("{error}"));
            assert!(answer.statements >= 3, "BEGIN, a question, COMMIT");
            counts[answer.kind as usize] += 1;
        }
        counts
    }
}

const CONSISTENT: [i64; 4] = [0; 4];

#[test]
fn many_terminals_leave_the_tables_consistent_and_nothing_is_lost_or_done_twice() {
    let arm = Arm::filled();
    assert_eq!(arm.violations(), CONSISTENT);
    let counted = |sql: &str| arm.number(sql);
    let history = counted("SELECT COUNT(*) FROM tpcc_history");
    let orders = counted("SELECT COUNT(*) FROM tpcc_orders");
    let waiting = counted("SELECT COUNT(*) FROM tpcc_new_order");
    assert_eq!((history, orders, waiting), (1200, 1200, 360));

    let mut counts = [0; 5];
    thread::scope(|scope| {
        let workers: Vec<_> = (0..5)
            .map(|client| {
                scope.spawn({
                    let arm = &arm;
                    move || arm.work(client, 150)
                })
            })
            .collect();
        for worker in workers {
            for (sum, count) in counts.iter_mut().zip(worker.join().unwrap()) {
                *sum += count;
            }
        }
    });
    assert_eq!(arm.violations(), CONSISTENT);
    arm.check().unwrap();
    assert_eq!(counts.iter().sum::<i64>(), 750);
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
    let [new_orders, payments, _, deliveries, _] = counts;
    assert_eq!(counted("SELECT COUNT(*) FROM tpcc_history"), history + payments);
    let placed = counted("SELECT COUNT(*) FROM tpcc_orders") - orders;
    assert!(placed < new_orders && placed > new_orders * 9 / 10, "{placed} of {new_orders}");
    let delivered = waiting + placed - counted("SELECT COUNT(*) FROM tpcc_new_order");
    assert_eq!(delivered, deliveries * 10, "not one for each district");
    // What deliveries credit is what their orders' lines cost (consistency condition 12, in sum):
    // balances are −10 each in the beginning, payments lower them.
    let paid = "SELECT ROUND(SUM(h_amount) * 100) FROM tpcc_history";
    let balance = "SELECT ROUND(SUM(c_balance) * 100) FROM tpcc_customer";
    let credited = "SELECT ROUND(SUM(ol_amount) * 100) FROM tpcc_order_line \
                    WHERE ol_delivery_d IS NOT NULL";
    let cents = |sql: &str| arm.ask(sql).parse::<f64>().unwrap() as i64;
    assert_eq!(cents(balance), cents(credited) - cents(paid));
    let bad = "SELECT COUNT(*) FROM tpcc_customer WHERE c_credit='BC' AND c_payment_cnt>1 AND \
               c_data NOT LIKE c_id || ' ' || c_d_id || ' ' || c_w_id || ' %'";
    assert_eq!(counted(bad), 0, "bad credit is not written down");
}

#[test]
fn each_broken_condition_is_found() {
    let arm = Arm::filled();
    let planted = [
        "UPDATE tpcc_district SET d_ytd=d_ytd+0.01 WHERE d_w_id=2 AND d_id=3",
        "UPDATE tpcc_district SET d_next_o_id=d_next_o_id+1 WHERE d_w_id=1 AND d_id=10",
        "DELETE FROM tpcc_new_order WHERE no_w_id=1 AND no_d_id=1 AND no_o_id=50",
        "DELETE FROM tpcc_order_line WHERE ol_w_id=2 AND ol_d_id=5 AND ol_o_id=7 AND ol_number=1",
    ];
    let mut broken = CONSISTENT;
    for (condition, sql) in planted.into_iter().enumerate() {
        arm.connector.connect().unwrap().run(sql).unwrap();
        broken[condition] = 1;
        assert_eq!(arm.violations(), broken, "after {sql}");
        let error = arm.check().unwrap_err().to_string();
        assert!(error.contains("condition 1: ") && error.contains(": 1, right is 0"), "{error}");
    }
}

#[test]
fn the_same_operations_do_the_same_to_both_arms() {
    let state = || {
        let arm = Arm::filled();
        arm.work(1, 200);
        let lines = "SELECT group_concat(ol_w_id || ol_d_id || ol_o_id || ol_i_id || ol_amount) \
                     FROM tpcc_order_line WHERE ol_o_id > 40";
        [arm.ask(lines), arm.ask("SELECT group_concat(c_balance) FROM tpcc_customer")]
    };
    assert!(state() == state(), "the same questions left different tables");
}
