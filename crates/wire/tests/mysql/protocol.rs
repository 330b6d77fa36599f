//! The MySQL client against servers played byte by byte: what real servers do seldom, what they
//! never should, and what exactly the client sends.

use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{BulkTarget, Client, Param, RowBuffer, StatementCounts, WireError};

use super::stage::*;

fn prepared(parameters: u8, columns: u8) -> Vec<u8> {
    vec![0, 9, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0]
}

#[test]
fn a_refusal_instead_of_a_greeting_is_a_refused_login() {
    for (payload, code, state) in [
        (error(1040, "Too many connections"), 1040, "42000"),
        // Servers send no SQLSTATE before they know what the client understands.
        (b"\xff\x69\x04Host '10.0.0.9' is blocked".to_vec(), 1129, "HY000"),
    ] {
        let (endpoint, player) = stage(move |peer| peer.send(0, &payload));
        let Err(WireError::Login(error)) = MysqlConnection::connect(&endpoint) else { panic!() };
        assert_eq!((error.code, error.sqlstate.as_str()), (code, state));
        assert!(error.message.contains("connections") || error.message.contains("blocked"));
        player.join().unwrap();
    }
}

#[test]
fn a_server_that_insists_on_tls_is_named_as_such() {
    const TLS: u32 = 1 << 11;
    let insecure = "Connections using insecure transport are prohibited";
    for (offered, code, words, expected) in [
        (0, 3159, insecure, "say tls=required"),
        (TLS, 3159, insecure, "say tls=required"),
        (TLS, 1045, "Access denied", "it may demand encryption"),
    ] {
        let (endpoint, player) = stage(move |peer| {
            peer.send(0, &greeting(offered, "mysql_native_password"));
            assert_eq!(peer.read()[1] & (TLS >> 8) as u8, 0, "we do not claim to speak it");
            peer.send(2, &error(code, words));
        });
        let error = MysqlConnection::connect(&endpoint).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, WireError::Login(_)) && text.contains(words), "{text}");
        assert!(text.contains(expected), "{text}");
        player.join().unwrap();
    }
    let (endpoint, player) = stage(move |peer| {
        peer.send(0, &greeting(0, "mysql_native_password"));
        peer.read();
        peer.send(2, &error(1045, "Access denied"));
    });
    let text = MysqlConnection::connect(&endpoint).unwrap_err().to_string();
    assert!(!text.contains("tls="), "no guess where there is no TLS: {text}");
    player.join().unwrap();
}

#[test]
fn methods_that_we_do_not_speak_are_named() {
    for (switch, name) in [
        (&b"\xfeclient_ed25519\0abcdefghijklmnopqrst\0"[..], "client_ed25519"),
        (b"\xfe", "mysql_old_password"),
    ] {
        let (endpoint, player) = stage(move |peer| {
            // The server's default may be unknown too: the account's method counts.
            peer.send(0, &greeting(0, "auth_gssapi_client"));
            peer.read();
            peer.send(2, switch);
        });
        let text = MysqlConnection::connect(&endpoint).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains("caching_sha2_password"), "{text}");
        assert!(!text.contains("secret"), "{text}");
        player.join().unwrap();
    }
}

#[test]
fn other_protocols_and_closed_doors_are_told_apart() {
    let (endpoint, player) = stage(|peer| peer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Protocol(_)), "{error}");
    player.join().unwrap();

    let (endpoint, player) = stage(|peer| peer.send(0, b"\x09old\0"));
    let text = MysqlConnection::connect(&endpoint).unwrap_err().to_string();
    assert!(text.contains("version 9"), "{text}");
    player.join().unwrap();

    let (endpoint, player) = stage(|_| {});
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Connect(..)), "{error}");
    player.join().unwrap();
    // Now nobody listens there.
    let error = MysqlConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(error, WireError::Connect(..)), "{error}");
}

#[test]
fn the_hello_says_latin1_and_the_proof_is_the_documented_one() {
    let (endpoint, player) = stage(|peer| {
        peer.send(0, &greeting(DEPRECATE_EOF, "mysql_native_password"));
        let hello = peer.read();
        let capabilities = u32::from_le_bytes(hello[..4].try_into().unwrap());
        assert_eq!(capabilities, 0x010E_A20D, "no TLS, files or multi-statements");
        assert_eq!(hello[8], 8, "latin1_swedish_ci");
        assert_eq!(&hello[9..32], [0; 23]);
        // SHA1('secret') xor SHA1('abcdefghijklmnopqrst' . SHA1(SHA1('secret'))), computed with
        // Python's hashlib.
        let proof = [
            0x88, 0x17, 0xc5, 0x0f, 0xa7, 0x79, 0xda, 0xef, 0x01, 0x0e, 0xe7, 0x57, 0x78, 0x25,
            0xb0, 0x84, 0x7d, 0xf9, 0x84, 0x2e,
        ];
        let rest = [b"ann\0\x14", &proof[..], b"d\0mysql_native_password\0"].concat();
        assert_eq!(&hello[32..], rest);
        peer.send(2, OK);
    });
    let connection = MysqlConnection::connect(&endpoint).unwrap();
    assert_eq!(connection.server_version(), "10.11.19-MariaDB-stage");
    assert_eq!(connection.connection_id(), 77);
    player.join().unwrap();
}

#[test]
fn results_in_the_older_manner_are_counted() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(0);
        peer.read();
        peer.write(&packets(1, &[&prepared(1, 1), COLUMN, EOF, COLUMN, EOF]));
        peer.read();
        // Rows in binary form; then the next statement must still be in step.
        peer.write(&packets(1, &[b"\x01", COLUMN, EOF, b"\0\0\x01x", b"\0\x04", EOF]));
        peer.read();
        peer.write(&packets(1, &[b"\x01", COLUMN, EOF, b"\x01x", b"\xfb", b"\0", EOF]));
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let statement = connection.prepare("SELECT c FROM t WHERE id < ?").unwrap();
    let outcome = connection.execute(statement, &vec![Param::Int(3)]).unwrap();
    assert_eq!(outcome, StatementCounts { rows: 2, affected: 0 });
    let rows = connection.query("SELECT c FROM t").unwrap();
    assert_eq!(rows.columns, ["c"]);
    assert_eq!(rows.rows, [[Some("x".to_owned())], [None], [Some(String::new())]]);
    player.join().unwrap();
}

#[test]
fn rows_are_kept_in_both_manners_and_in_any_pieces() {
    let of_type =
        |kind: u8, flags: u8| [&COLUMN[..COLUMN.len() - 6], &[kind, flags, 0, 0, 0, 0]].concat();
    // SMALLINT UNSIGNED, DATE, VARCHAR: 65535, 2026-01-02, "x"; then NULL but for the last.
    let (number, date) = (of_type(2, 0x20), of_type(0x0A, 0x80));
    let first = &b"\0\0\xff\xff\x04\xea\x07\x01\x02\x01x"[..];
    let second = &b"\0\x0c\x02yz"[..];
    for (modern, pieces) in [(0, 1000), (DEPRECATE_EOF, 1000), (0, 1), (DEPRECATE_EOF, 3)] {
        let (number, date) = (number.clone(), date.clone());
        let (endpoint, player) = stage(move |peer| {
            peer.let_in(modern);
            peer.read();
            let end: &[&[u8]] = if modern == 0 { &[EOF] } else { &[] };
            let definitions: &[&[u8]] = &[&number, &date, COLUMN];
            peer.write(&packets(1, &[&[&prepared(0, 3)[..]], definitions, end].concat()));
            peer.read();
            let last: &[&[u8]] = if modern == 0 { &[EOF] } else { &[OK_EOF] };
            let rows: &[&[u8]] = &[first, second];
            let answer = packets(1, &[&[&b"\x03"[..]], definitions, end, rows, last].concat());
            for piece in answer.chunks(pieces) {
                peer.write(piece);
            }
        });
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        let statement = connection.prepare("SELECT a, b, c FROM t").unwrap();
        let mut rows = RowBuffer::new();
        let outcome = connection.fetch(statement, &vec![], &mut rows).unwrap();
        assert_eq!(outcome, StatementCounts { rows: 2, affected: 0 });
        let shown: Vec<_> = (0..2)
            .flat_map(|row| (0..3).map(move |column| (row, column)))
            .map(|(row, column)| rows.text_at(row, column))
            .collect();
        let expected = [Some(&b"65535"[..]), Some(b"2026-01-02"), Some(b"x"), None, None];
        assert_eq!(shown[..5], expected);
        assert_eq!(shown[5], Some(&b"yz"[..]));
        player.join().unwrap();
    }
}

#[test]
fn every_result_of_a_procedure_is_read() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(0);
        peer.read();
        let (row, end) = (&b"\x01x"[..], &[0, 4, 0, 2, 0, 0, 0][..]);
        let first = [b"\x01", COLUMN, EOF, row, row, EOF_MORE];
        let second = [OK_MORE, b"\x01", COLUMN, EOF, row, EOF_MORE, end];
        peer.write(&packets(1, &[&first[..], &second[..]].concat()));
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let outcome = connection.run("CALL p()").unwrap();
    assert_eq!(outcome, StatementCounts { rows: 3, affected: 7 });
    player.join().unwrap();
}

#[test]
fn an_error_amid_rows_leaves_the_connection_usable() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        peer.read();
        let failed = error(1213, "Deadlock found");
        peer.write(&packets(1, &[b"\x01", COLUMN, b"\x01x", &failed]));
        peer.read();
        peer.write(&packets(1, &[b"\x01", COLUMN, b"\x01x", OK_EOF]));
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let error = connection.run("SELECT c FROM t FOR UPDATE").unwrap_err();
    assert!(error.is_retryable() && !error.is_fatal(), "{error}");
    assert_eq!(connection.run("SELECT c FROM t").unwrap().rows, 1);
    player.join().unwrap();
}

/// The answer in pieces of every size, so that every boundary is once between two reads.
#[test]
fn answers_may_arrive_in_pieces() {
    let answer = packets(1, &[b"\x01", COLUMN, b"\0\0\x03abc", b"\0\x04", OK_EOF]);
    let length = answer.len();
    let (endpoint, player) = stage(move |peer| {
        peer.let_in(DEPRECATE_EOF);
        peer.read();
        peer.write(&packets(1, &[&prepared(0, 1), COLUMN]));
        for cut in 1..length {
            peer.read();
            peer.write(&answer[..cut]);
            std::thread::yield_now();
            peer.write(&answer[cut..]);
        }
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let statement = connection.prepare("SELECT c FROM t").unwrap();
    for _ in 1..length {
        assert_eq!(connection.execute(statement, &vec![]).unwrap().rows, 2);
    }
    player.join().unwrap();
}

#[test]
fn types_are_sent_once_and_again_when_they_change() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        peer.read();
        peer.write(&packets(1, &[&prepared(2, 0), COLUMN, COLUMN]));
        let head = [0x17, 9, 0, 0, 0, 0, 1, 0, 0, 0];
        let one = 1i64.to_le_bytes();
        let both = [1, 8, 0, 0xFD, 0];
        for (tail, answer) in [
            ([&[0][..], &both, &one, b"\x02ab"].concat(), OK.to_vec()),
            ([&[0][..], &[0], &one, b"\x02ab"].concat(), OK.to_vec()),
            // NULL has any type, and takes no room among the values.
            ([&[1][..], &[0], b"\x02ab"].concat(), OK.to_vec()),
            ([&[0][..], &[1, 8, 0, 8, 0], &one, &one].concat(), error(1062, "Duplicate entry")),
            // After a refusal nobody knows what the server has kept.
            ([&[0][..], &[1, 8, 0, 8, 0], &one, &one].concat(), OK.to_vec()),
        ] {
            assert_eq!(peer.read(), [&head[..], &tail].concat());
            peer.send(1, &answer);
        }
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let statement = connection.prepare("UPDATE t SET k=? WHERE c=?").unwrap();
    let (one, text) = (Param::Int(1), Param::Text(b"ab"));
    connection.execute(statement, &vec![one, text]).unwrap();
    connection.execute(statement, &vec![one, text]).unwrap();
    connection.execute(statement, &vec![Param::Null, text]).unwrap();
    let error = connection.execute(statement, &vec![one, one]).unwrap_err();
    assert!(matches!(error, WireError::Server(_)), "{error}");
    connection.execute(statement, &vec![one, one]).unwrap();
    player.join().unwrap();
}

#[test]
fn a_wrong_number_of_parameters_is_not_sent() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        peer.read();
        peer.write(&packets(1, &[&prepared(1, 0), COLUMN]));
        let mut end = Vec::new();
        std::io::Read::read_to_end(&mut peer.0, &mut end).unwrap();
        assert_eq!(end, b"", "nothing was sent, not even a farewell");
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let statement = connection.prepare("DELETE FROM t WHERE id=?").unwrap();
    let text = connection.execute(statement, &vec![]).unwrap_err().to_string();
    assert!(text.contains("0 parameters for a statement that has 1"), "{text}");
    drop(connection);
    player.join().unwrap();
}

#[test]
fn packets_out_of_order_end_the_connection() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        peer.read();
        peer.write(&[packet(1, b"\x01"), packet(3, COLUMN)].concat());
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let text = connection.run("SELECT 1").unwrap_err().to_string();
    assert!(text.contains("number 3 came where 2"), "{text}");
    let text = connection.run("SELECT 1").unwrap_err().to_string();
    assert!(text.contains("given up"), "{text}");
    player.join().unwrap();
}

#[test]
fn a_server_that_hangs_up_is_quoted() {
    // As MySQL 8.0.24 and later do when wait_timeout has passed: the words may be read with the
    // answer before, or in place of the next one.
    for together in [true, false] {
        let (endpoint, player) = stage(move |peer| {
            peer.let_in(DEPRECATE_EOF);
            peer.read();
            let words = packet(0, &error(4031, "disconnected because of inactivity"));
            if together {
                return peer.write(&[packet(1, OK), words].concat());
            }
            peer.send(1, OK);
            peer.read();
            peer.write(&words);
        });
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        connection.run("SELECT 1").unwrap();
        let error = connection.run("SELECT 1").unwrap_err();
        assert!(matches!(error, WireError::Broken(_)), "{error}");
        assert!(error.to_string().contains("because of inactivity"), "{error}");
        player.join().unwrap();
    }
}

#[test]
fn broken_answers_are_told_apart() {
    for (bytes, expected) in [
        (packet(1, b"\x01")[..3].to_vec(), "in the middle of a packet"),
        (packets(1, &[b"\x01", COLUMN]), "before it answered"),
        (packet(1, b""), "empty packet"),
        (packet(1, b"\0\xfc"), "ended before its content"),
        (packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"), "columns"),
        (packet(1, b"\xfb/etc/passwd"), "asks for a file"),
        // A length of 16 MB is announced and three bytes come.
        ([&[0xFE, 0xFF, 0xFF, 1][..], b"\0\0\0"].concat(), "in the middle of a packet"),
    ] {
        let (endpoint, player) = stage(move |peer| {
            peer.let_in(DEPRECATE_EOF);
            peer.read();
            peer.write(&bytes);
        });
        let mut connection = MysqlConnection::connect(&endpoint).unwrap();
        let error = connection.run("SELECT 1").unwrap_err();
        assert!(error.is_fatal() && error.to_string().contains(expected), "{error}");
        player.join().unwrap();
    }
}

#[test]
fn bytes_that_nobody_asked_for_are_not_taken_for_the_next_answer() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        peer.read();
        peer.write(&[packet(1, OK), packet(1, OK)].concat());
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    connection.run("SELECT 1").unwrap();
    player.join().unwrap();
    let text = connection.run("SELECT 1").unwrap_err().to_string();
    assert!(text.contains("unexpected bytes"), "{text}");
}

#[test]
fn text_travels_as_latin1() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        assert_eq!(peer.read(), b"\x03SELECT '\x80\xe9'");
        peer.write(&packets(1, &[b"\x01", COLUMN, b"\x02\x80\xe9", OK_EOF]));
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    assert_eq!(connection.query("SELECT '€é'").unwrap().first_value(), Some("€é"));
    player.join().unwrap();
}

#[test]
fn refused_rows_are_rolled_back_and_the_connection_is_usable() {
    let (endpoint, player) = stage(|peer| {
        peer.let_in(DEPRECATE_EOF);
        assert_eq!(peer.read(), b"\x03BEGIN");
        peer.send(1, OK);
        assert!(peer.read().starts_with(b"\x16INSERT INTO t (id) VALUES (?),(?)"));
        peer.send(1, &error(1146, "Table 'd.t' doesn't exist"));
        assert_eq!(peer.read(), b"\x03ROLLBACK");
        peer.send(1, OK);
        assert_eq!(peer.read(), b"\x03INSERT");
        peer.send(1, OK);
        assert_eq!(peer.read(), [1], "the farewell");
    });
    let mut connection = MysqlConnection::connect(&endpoint).unwrap();
    let target = BulkTarget { table: "t", columns: &["id".to_owned()], numbers: &[] };
    let mut asked = 0;
    let refused = connection.bulk_load(&target, &mut |_| {
        asked += 1;
        false
    });
    let Err(WireError::Server(error)) = refused else { panic!("{refused:?}") };
    assert_eq!((error.code, asked), (1146, 0));
    connection.run("INSERT").unwrap();
    drop(connection);
    player.join().unwrap();
}
