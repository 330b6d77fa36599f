//! The PostgreSQL client and the scripted server speak the same language, and what the script says
//! is what the client reports.

use std::sync::Arc;

use dbdyno_model::Secret;
use dbdyno_wire::mock::{
    Auth, FixedScript, Login, MockProtocol, MockReply, MockServer, Script, ServiceTime, Turn,
};
use dbdyno_wire::postgres::PostgresConnection;
use dbdyno_wire::{BulkTarget, Client, Param, StatementCounts, WireError};

const POINT: &str = "SELECT c FROM sbtest1 WHERE id=$1";

fn start(login: Login, script: impl Script + 'static) -> MockServer {
    MockServer::start(MockProtocol::Postgres, login, Arc::new(script)).unwrap()
}

/// What a statement gets by its number.
struct Numbered(fn(u64) -> MockReply);

impl Script for Numbered {
    fn statement_turn(&self, _connection: u64, statement: u64) -> Turn {
        Turn { delay: ServiceTime::None, reply: (self.0)(statement) }
    }
}

fn deadlock() -> MockReply {
    MockReply::Error { code: 0, sqlstate: "40P01", message: "deadlock detected".to_owned() }
}

#[test]
fn the_client_reports_what_the_script_says() {
    let server = start(
        Login::without_password("bob"),
        Numbered(|statement| match statement {
            0 => MockReply::Rows { count: 3, width: 119 },
            1 => MockReply::Rows { count: 0, width: 0 },
            2 => MockReply::Affected(7),
            3 => deadlock(),
            4 => MockReply::Rows { count: 100_000, width: 10 },
            5 => MockReply::Rows { count: 2, width: 300_000 },
            _ => MockReply::Rows { count: 1, width: 1 },
        }),
    );
    let mut client = PostgresConnection::connect(&server.endpoint()).unwrap();
    let begin = client.prepare("BEGIN").unwrap();
    let point = client.prepare(POINT).unwrap();
    let update = client.prepare("UPDATE t SET c=$2 WHERE id=$1").unwrap();
    let one = [Param::Int(1)];
    assert_eq!(client.execute(begin, &&[][..]).unwrap(), StatementCounts::default());
    let rows = |rows| StatementCounts { rows, affected: 0 };
    assert_eq!(client.execute(point, &&one[..]).unwrap(), rows(3));
    assert_eq!(client.execute(point, &&one[..]).unwrap(), rows(0));
    let two = [Param::Int(1), Param::Text(b"x")];
    let changed = client.execute(update, &&two[..]).unwrap();
    assert_eq!(changed, StatementCounts { rows: 0, affected: 7 });
    let error = client.execute(point, &&one[..]).unwrap_err();
    assert!(error.is_retryable() && !error.is_fatal(), "{error}");
    assert_eq!(client.execute(point, &&one[..]).unwrap(), rows(100_000));
    assert_eq!(client.execute(point, &&one[..]).unwrap(), rows(2));
    assert_eq!(client.execute(point, &&[Param::Null][..]).unwrap(), rows(1));
    assert_eq!(client.run("SELECT 1").unwrap(), rows(1));
    assert_eq!(client.run("COMMIT").unwrap(), StatementCounts::default());
    assert_eq!((server.statements(), server.control_count(), server.connection_count()), (8, 2, 1));
    Box::new(client).close();
}

#[test]
fn a_cut_is_fatal_and_nothing_is_counted() {
    let server = start(Login::without_password("bob"), FixedScript(Turn::now(MockReply::Cut)));
    let mut client = PostgresConnection::connect(&server.endpoint()).unwrap();
    let point = client.prepare(POINT).unwrap();
    let error = client.execute(point, &&[Param::Int(1)][..]).unwrap_err();
    assert!(matches!(error, WireError::Broken(_)), "{error}");
    assert_eq!(server.statements(), 0);
}

#[test]
fn whole_results_are_kept() {
    let server = start(
        Login::without_password("bob"),
        FixedScript(Turn::now(MockReply::Rows { count: 2, width: 3 })),
    );
    let mut client = PostgresConnection::connect(&server.endpoint()).unwrap();
    let rows = client.query("SELECT c FROM t").unwrap();
    assert_eq!(rows.columns, ["c"]);
    assert_eq!(rows.rows, vec![vec![Some("xxx".to_owned())]; 2]);
}

#[test]
fn every_proof_is_given_and_a_wrong_password_is_refused() {
    for auth in [Auth::Trust, Auth::Md5, Auth::Scram] {
        let login = Login { user: "bob".to_owned(), password: Secret::new("pa ss,=é"), auth };
        let server = start(login, FixedScript(Turn::point_query()));
        let mut endpoint = server.endpoint();
        let client = PostgresConnection::connect(&endpoint).unwrap();
        assert_eq!((client.server_version(), client.connection_id()), ("15.0", 1));
        if auth == Auth::Trust {
            continue;
        }
        endpoint.password = Secret::new("wrong");
        let error = PostgresConnection::connect(&endpoint).unwrap_err();
        let WireError::Login(said) = &error else { panic!("{error}") };
        assert_eq!(said.sqlstate, "28P01");
        assert!(!error.to_string().contains("wrong"), "{error}");
        endpoint.password = Secret::default();
        let error = PostgresConnection::connect(&endpoint).unwrap_err();
        assert!(error.to_string().contains("none was given"), "{error}");
    }
}

#[test]
fn data_goes_over_in_pieces_of_any_size() {
    let server =
        start(Login::without_password("bob"), FixedScript(Turn::now(MockReply::Affected(0))));
    let mut client = PostgresConnection::connect(&server.endpoint()).unwrap();
    let sizes = [0_usize, 1, 7, 70_000, 1_000_000, 0, 3];
    let mut turn = 0;
    let target = BulkTarget { table: "t", columns: &["a".to_owned()], numbers: &[] };
    let count = client.bulk_load(&target, &mut |piece| {
        assert!(piece.is_empty());
        piece.extend(b"a\n".iter().cycle().take(2 * sizes[turn]));
        turn += 1;
        turn < sizes.len()
    });
    assert_eq!(count.unwrap(), sizes.iter().sum::<usize>() as u64);
    assert_eq!(client.run("UPDATE t SET k=1").unwrap(), StatementCounts::default());
}

#[test]
fn a_refusal_ends_a_transfer_that_would_never_end() {
    let server = start(
        Login::without_password("bob"),
        Numbered(|statement| if statement == 0 { deadlock() } else { MockReply::Affected(4) }),
    );
    let mut client = PostgresConnection::connect(&server.endpoint()).unwrap();
    let target = BulkTarget { table: "t", columns: &["a".to_owned()], numbers: &[] };
    let error = client
        .bulk_load(&target, &mut |piece| {
            piece.resize(200_000, b'\n');
            true
        })
        .unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert_eq!(client.run("UPDATE t SET k=1").unwrap().affected, 4);
}
