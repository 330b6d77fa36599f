//! Whatever a client says, the server answers it in whole packets or ends its connection: it does
//! not panic, does not wait for ever, disturbs nobody else, and ends when it is told to.
//!
//! ```text
//!   input ── all that one client sends, byte by byte ──▶ server ──▶ whole packets, and behind a
//!                                                                   question for TLS its records
//!   change ─ nearly always the content of a packet, whose header then says how long it is
//!            else any byte: torn packets, wrong lengths, numbers out of order
//! ```
//!
//! The account has no password, so that a dialogue can be played again: no proof in it depends on
//! what the server said. Each input has a server of its own, and does the same whenever it comes.

#![no_main]

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use dbdyno_engine::disk::SimDisk;
use dbdyno_engine::{Engine, EngineOptions, Upkeep};
use dbdyno_model::{Design, Secret};
use dbdyno_serve::{EngineListener, Listener, ServeLimits, ServerSecurity, Settings};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client as _, Endpoint, Security};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// What the tables hold that dialogues ask for.
const TABLES: [&str; 4] = [
    "CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT, c VARCHAR(20), d \
     DECIMAL(8,2), at DATETIME, KEY k_t (k))",
    "INSERT INTO t VALUES (1, 7, 'abc', 1.5, '2026-11-25 12:00:00'), (2, NULL, '', NULL, NULL)",
    "CREATE TABLE own (id INT PRIMARY KEY, n INT)",
    "INSERT INTO own VALUES (1, 0)",
];

/// How many bytes a packet can grow by at a time.
const ROOM: usize = 64;
const HEADER: usize = 4;

static SOCKET: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("dbdyno-served-{}", std::process::id())));

/// Who asks for encryption is heard, and what follows is read by TLS.
static SECURITY: LazyLock<ServerSecurity> =
    LazyLock::new(|| ServerSecurity::self_signed().unwrap());

fn server(at: &Path) -> EngineListener {
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    // Who asks for what the witness has locked is told so at once.
    let design: Design = "lock_wait=1ms".parse().unwrap();
    let engine = Engine::open(Arc::new(SimDisk::default()), &design, options);
    let settings = Settings {
        user: "root".to_owned(),
        password: Secret::default(),
        security: Some(SECURITY.clone()),
        database: "test".to_owned(),
        version: "8.0.33-fuzz".to_owned(),
        clock: || 1_795_635_000_500_000,
        limits: ServeLimits {
            request_bytes: 1 << 16,
            answer_bytes: 1 << 20,
            ..ServeLimits::default()
        },
    };
    let _ = std::fs::remove_file(at);
    EngineListener::start(Listener::bind_unix(at).unwrap(), engine.unwrap(), settings).unwrap()
}

fn connect(server: &EngineListener) -> MysqlConnection {
    let endpoint = Endpoint {
        transport: server.transport().clone(),
        user: "root".to_owned(),
        password: Secret::default(),
        database: "test".to_owned(),
        security: Security::without_tls(),
    };
    MysqlConnection::connect(&endpoint).unwrap()
}

/// Packets: their numbers and contents, and what is behind the last whole one.
fn packets(mut bytes: &[u8]) -> (Vec<(u8, Vec<u8>)>, &[u8]) {
    let mut packets = Vec::new();
    while let Some((&[low, middle, high, number], rest)) = bytes.split_first_chunk() {
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else { break };
        packets.push((number, payload.to_vec()));
        bytes = rest;
    }
    (packets, bytes)
}

/// Whether a dialogue begins with the short answer to the greeting, with CLIENT_SSL in it.
fn asks_for_tls(said: &[u8]) -> bool {
    const SHORT: usize = 32;
    said.starts_with(&[SHORT as u8, 0, 0, 1]) && said.len() >= HEADER + SHORT && said[5] & 8 != 0
}

fn are_records(mut heard: &[u8]) {
    while let Some((&[kind, major, _, high, low], rest)) = heard.split_first_chunk() {
        assert!((20..=24).contains(&kind) && major == 3, "no record of TLS: {heard:?}");
        let length = usize::from(u16::from_be_bytes([high, low]));
        heard = rest.get(length..).expect("a whole record");
    }
    assert!(heard.is_empty(), "it ends in the midst of a record: {heard:?}");
}

fuzz_target!(|said: &[u8]| {
    // It does what it says.
    if said.windows(5).any(|word| word.eq_ignore_ascii_case(b"sleep")) {
        return;
    }
    let server = server(&SOCKET);
    let mut witness = connect(&server);
    for sql in TABLES {
        witness.run(sql).unwrap();
    }
    witness.run("BEGIN").unwrap();
    witness.run("UPDATE own SET n = n + 1 WHERE id = 1").unwrap();
    let mut client = UnixStream::connect(&*SOCKET).unwrap();
    // It may have ended the connection already.
    let _ = client.write_all(said);
    let _ = client.shutdown(Shutdown::Write);
    let mut heard = Vec::new();
    let _ = client.read_to_end(&mut heard);
    let (answers, rest) = packets(&heard);
    assert_eq!(answers[0].1.first(), Some(&10), "a greeting");
    match asks_for_tls(said) {
        true => are_records(&heard[HEADER + answers[0].1.len()..]),
        false => assert!(rest.is_empty(), "it ends in the midst of a packet: {rest:?}"),
    }
    // Whatever became of its tables, its own transaction goes on.
    assert_eq!(witness.query("SELECT 1 + 1").unwrap().first_value(), Some("2"));
    assert_eq!(witness.query("SELECT n FROM own WHERE id = 1").unwrap().first_value(), Some("1"));
    witness.run("COMMIT").unwrap();
    server.stop().unwrap();
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let (mut all, rest) = packets(&data[..size]);
    let (what, which) = (seed % 16, (seed / 16) as usize);
    if all.is_empty() || what == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let (at, other) = (which % all.len(), which / all.len() % all.len());
    match what {
        1 => drop(all.remove(at)),
        2 => all.insert(at, all[at].clone()),
        3 => all.swap(at, other),
        4 => all[at].0 ^= 1,
        _ => {
            let payload = &mut all[at].1;
            let length = payload.len();
            payload.resize(length + ROOM, 0);
            let length = fuzzer_mutate(payload, length, length + ROOM);
            payload.truncate(length);
        }
    }
    let mut changed = Vec::with_capacity(size + ROOM + HEADER);
    for (number, payload) in &all {
        let [low, middle, high, _] = (payload.len() as u32).to_le_bytes();
        changed.extend_from_slice(&[low, middle, high, *number]);
        changed.extend_from_slice(payload);
    }
    changed.extend_from_slice(rest);
    let length = changed.len().min(max_size);
    data[..length].copy_from_slice(&changed[..length]);
    length
});
