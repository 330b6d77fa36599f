//! Whatever a server says, from the login on, the PostgreSQL client returns.

#![no_main]

mod asked;
#[path = "../../crates/wire/tests/mysql/blast.rs"]
mod blast;
#[expect(dead_code, reason = "shared with tests that play more")]
#[path = "../../crates/wire/tests/mysql/stage.rs"]
mod stage;

use dbdyno_wire::Client;
use dbdyno_wire::postgres::PostgresConnection;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

use asked::Asked;

/// AuthenticationOk, and ready for a query.
const LET_IN: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

#[derive(Arbitrary, Debug)]
struct Case {
    is_let_in: bool,
    asked: Asked,
    /// Messages: a kind and a body whose length is told rightly.
    messages: Vec<(Kind, Vec<u8>)>,
    /// What comes behind them as it is.
    bytes: Vec<u8>,
}

/// Those that the protocol has.
#[derive(Arbitrary, Debug)]
enum Kind {
    Authentication,
    BindComplete,
    CloseComplete,
    CommandComplete,
    CopyIn,
    DataRow,
    Empty,
    Error,
    NoData,
    Notice,
    ParameterDescription,
    ParameterStatus,
    ParseComplete,
    Ready,
    RowDescription,
    Other(u8),
}

impl Kind {
    fn byte(&self) -> u8 {
        match self {
            Kind::Authentication => b'R',
            Kind::BindComplete => b'2',
            Kind::CloseComplete => b'3',
            Kind::CommandComplete => b'C',
            Kind::CopyIn => b'G',
            Kind::DataRow => b'D',
            Kind::Empty => b'I',
            Kind::Error => b'E',
            Kind::NoData => b'n',
            Kind::Notice => b'N',
            Kind::ParameterDescription => b't',
            Kind::ParameterStatus => b'S',
            Kind::ParseComplete => b'1',
            Kind::Ready => b'Z',
            Kind::RowDescription => b'T',
            Kind::Other(byte) => *byte,
        }
    }
}

fuzz_target!(|case: Case| {
    let Case { is_let_in, asked, messages, bytes } = case;
    let mut said = if is_let_in { LET_IN.to_vec() } else { Vec::new() };
    for (kind, body) in &messages {
        said.push(kind.byte());
        said.extend((body.len() as u32 + 4).to_be_bytes());
        said.extend(body);
    }
    said.extend(bytes);
    let (endpoint, player) = stage::stage(move |peer| blast::blast(&mut peer.0, &said));
    if let Ok(mut connection) = PostgresConnection::connect(&endpoint) {
        asked.ask_server(&mut connection, "SELECT $1");
        Box::new(connection).close();
    }
    player.join().unwrap();
});
