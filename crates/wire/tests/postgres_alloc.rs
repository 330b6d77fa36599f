//! In the steady state an execution of the PostgreSQL client allocates nothing.

use std::sync::Arc;

use dbdyno_wire::mock::{EveryNth, Login, MockProtocol, MockReply, MockServer, Turn};
use dbdyno_wire::postgres::PostgresConnection;
use dbdyno_wire::{Client, Param, RowBuffer};

use crate::allocations::ALLOCATIONS;

#[test]
fn an_execution_allocates_nothing() {
    let script = EveryNth {
        n: 3.try_into().unwrap(),
        usual: Turn::point_query(),
        // A result that is longer than the buffer, with rows that are longer than it.
        rare: Turn::now(MockReply::Rows { count: 3, width: 100_000 }),
    };
    let server =
        MockServer::start(MockProtocol::Postgres, Login::without_password("bob"), Arc::new(script));
    let server = server.unwrap();
    let mut client = PostgresConnection::connect(&server.endpoint()).unwrap();
    let begin = client.prepare("BEGIN").unwrap();
    let point = client.prepare("SELECT c FROM t WHERE id=$1").unwrap();
    let update = client.prepare("UPDATE t SET c=$1 WHERE id IN ($2,$3,$4)").unwrap();
    let text = [b'x'; 119];
    let none = &[][..];
    let one = &[Param::Int(5)][..];
    // The last one is beyond int4 and goes as characters.
    let four = [Param::Text(&text), Param::Int(-1), Param::Null, Param::Int(i64::MIN)];
    let four = &four[..];
    let mut rows = 0;
    let mut kept = RowBuffer::new();
    let mut turn = |client: &mut PostgresConnection| {
        client.execute(begin, &none).unwrap();
        rows += client.execute(point, &one).unwrap().rows;
        client.execute(update, &four).unwrap();
        let fetched = client.fetch(point, &one, &mut kept).unwrap().rows;
        assert_eq!(kept.rows() as u64, fetched);
        rows += client.run("SELECT c FROM t WHERE id=5").unwrap().rows;
        client.run("COMMIT").unwrap();
    };
    for _ in 0..3 {
        turn(&mut client);
    }
    let before = ALLOCATIONS.get();
    for _ in 0..1000 {
        turn(&mut client);
    }
    let after = ALLOCATIONS.get();
    assert!(before > 0, "the counter counts");
    assert_eq!(after - before, 0);
    // One statement in three got three rows.
    assert_eq!(server.statements(), 4 * 1003);
    assert!(rows > 2 * 1001);
}
