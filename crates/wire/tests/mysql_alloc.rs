//! The steady state of the MySQL client allocates nothing.

use std::num::NonZeroU64;
use std::sync::Arc;

use dbdyno_wire::mock::{EveryNth, Login, MockProtocol, MockReply, MockServer, Turn};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client, Param, RowBuffer};

use crate::allocations::ALLOCATIONS;

#[test]
fn statements_allocate_nothing_once_warm() {
    // A large result now and then: the buffers are grown by the first and stay.
    let script = EveryNth {
        n: NonZeroU64::new(7).unwrap(),
        usual: Turn::point_query(),
        rare: Turn::now(MockReply::Rows { count: 2_000, width: 300 }),
    };
    let login = Login::without_password("root");
    let server = MockServer::start(MockProtocol::Mysql, login, Arc::new(script)).unwrap();
    let mut connection = MysqlConnection::connect(&server.endpoint()).unwrap();
    let select = connection.prepare("SELECT c FROM t WHERE id=? AND c=?").unwrap();
    let update = connection.prepare("UPDATE t SET c=? WHERE id=?").unwrap();
    let (id, text) = (Param::Int(5), Param::Text(&[b'x'; 500]));
    let lists = [vec![id, text], vec![text, id], vec![Param::Null, text]];
    let mut rows = RowBuffer::new();
    let mut round = || {
        for _ in 0..20 {
            connection.run("BEGIN").unwrap();
            connection.execute(select, &lists[0]).unwrap();
            connection.execute(select, &lists[2]).unwrap();
            connection.execute(update, &lists[1]).unwrap();
            let fetched = connection.fetch(select, &lists[0], &mut rows).unwrap();
            assert_eq!(rows.rows() as u64, fetched.rows);
            connection.run("SELECT c FROM t").unwrap();
            connection.run("COMMIT").unwrap();
        }
    };
    round();
    let before = ALLOCATIONS.get();
    round();
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert!(before > 0, "the allocator counts");
    assert_eq!(server.statements(), 200);
}
