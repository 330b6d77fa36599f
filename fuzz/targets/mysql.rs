//! Whatever a server says behind the login, the MySQL client returns.

#![no_main]

#[path = "../../crates/wire/tests/mysql/blast.rs"]
mod blast;
#[expect(dead_code, reason = "shared with tests that play more")]
#[path = "../../crates/wire/tests/mysql/stage.rs"]
mod stage;

use dbdyno_wire::mysql::Connection;
use dbdyno_wire::{BulkTarget, Client, Param, RowBuffer};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

use stage::*;

#[derive(Arbitrary, Debug)]
struct Case {
    is_modern: bool,
    asked: Asked,
    /// Payloads, each sent as a packet with the number that it should have.
    payloads: Vec<Vec<u8>>,
    /// What comes behind them as it is.
    bytes: Vec<u8>,
}

#[derive(Arbitrary, Debug)]
enum Asked {
    Login,
    Run,
    Query,
    Prepare,
    Bulk,
    /// Of a statement that was prepared before.
    Fetch,
}

fn ask(connection: &mut Connection, asked: &Asked) {
    // Whether this is an answer or an error is the answer's business.
    match asked {
        Asked::Login => {}
        Asked::Run => drop(connection.run("SELECT 1")),
        Asked::Query => drop(connection.query("SELECT 1")),
        Asked::Prepare => drop(connection.prepare("SELECT ?")),
        Asked::Bulk => {
            let target = BulkTarget { table: "t", columns: &["id".to_owned()] };
            drop(connection.bulk(&target, &mut |_| false));
        }
        Asked::Fetch => {
            if let Ok(statement) = connection.prepare("SELECT ?") {
                let mut rows = RowBuffer::new();
                drop(connection.fetch(statement, &vec![Param::Int(1)], &mut rows));
            }
        }
    }
}

fuzz_target!(|case: Case| {
    let Case { is_modern, asked, payloads, bytes } = case;
    let is_login = matches!(asked, Asked::Login);
    let is_fetch = matches!(asked, Asked::Fetch);
    let (endpoint, player) = stage(move |peer| {
        let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        if is_login {
            peer.send(0, &greeting(DEPRECATE_EOF, "caching_sha2_password"));
            return blast::blast(&mut peer.0, &[packets(2, &payloads), bytes].concat());
        }
        peer.let_in(if is_modern { DEPRECATE_EOF } else { 0 });
        if is_fetch {
            peer.read();
            let end: &[&[u8]] = if is_modern { &[] } else { &[EOF] };
            let prepared = [0, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
            peer.write(&packets(1, &[&[&prepared[..], COLUMN], end].concat()));
        }
        blast::blast(&mut peer.0, &[packets(1, &payloads), bytes].concat());
    });
    if let Ok(mut connection) = Connection::connect(&endpoint) {
        ask(&mut connection, &asked);
        Box::new(connection).close();
    }
    player.join().unwrap();
});
