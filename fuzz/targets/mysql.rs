//! Whatever a server says behind the login, the MySQL client returns.

#![no_main]

mod asked;
#[path = "../../crates/wire/tests/mysql/blast.rs"]
mod blast;
#[expect(dead_code, reason = "shared with tests that play more")]
#[path = "../../crates/wire/tests/mysql/stage.rs"]
mod stage;

use dbdyno_wire::Client;
use dbdyno_wire::mysql::MysqlConnection;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

use asked::Asked;
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

fuzz_target!(|case: Case| {
    let Case { is_modern, asked, payloads, bytes } = case;
    let is_login = matches!(asked, Asked::Login);
    let is_prepared = matches!(asked, Asked::Execute | Asked::Fetch);
    let (endpoint, player) = stage(move |peer| {
        let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        if is_login {
            peer.send(0, &greeting(DEPRECATE_EOF, "caching_sha2_password"));
            return blast::blast(&mut peer.0, &[packets(2, &payloads), bytes].concat());
        }
        peer.let_in(if is_modern { DEPRECATE_EOF } else { 0 });
        if is_prepared {
            peer.read();
            let end: &[&[u8]] = if is_modern { &[] } else { &[EOF] };
            let prepared = [0, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
            peer.write(&packets(1, &[&[&prepared[..], COLUMN], end].concat()));
        }
        blast::blast(&mut peer.0, &[packets(1, &payloads), bytes].concat());
    });
    if let Ok(mut connection) = MysqlConnection::connect(&endpoint) {
        asked.ask_server(&mut connection, "SELECT ?");
        Box::new(connection).close();
    }
    player.join().unwrap();
});
