//! The parsers on what real kernels wrote, and on anything.

use dbdyno_probe::parse::{
    Io, context_switches, host_ticks, io, process_stat, socket_inode, tcp_listeners, unix_listeners,
};
use proptest::prelude::*;

#[test]
fn a_program_may_call_itself_anything() {
    let samples: [(&[u8], &[u8]); 4] = [
        (include_bytes!("data/stat_postgres"), b"postgres"),
        (include_bytes!("data/stat_spaces"), b"my (db) server)"),
        (b"7 () S 1", b""),
        (b"7 (\xff\n) R 2 S 9) S 1", b"\xff\n) R 2 S 9"),
    ];
    let tail = b" 7 7 0 -1 0 1 2 3 4 11 12 13 14 20 0 1 0 987";
    for (sample, comm) in samples {
        let mut text = sample.to_vec();
        if text.len() < 50 {
            text.extend_from_slice(tail);
        }
        let parsed = process_stat(&text).unwrap();
        assert_eq!(parsed.comm, comm);
        assert!(parsed.state == b'S');
    }
}

#[test]
fn the_right_fields_are_taken() {
    let parsed = process_stat(include_bytes!("data/stat_spaces")).unwrap();
    assert_eq!((parsed.pid, parsed.ppid), (4711, 815));
    assert_eq!((parsed.user_ticks, parsed.kernel_ticks), (850, 132));
    let reaped = (parsed.reaped_user_ticks, parsed.reaped_kernel_ticks);
    assert_eq!(reaped, (691, 2662));
    assert_eq!(parsed.started_ticks, 123_456);

    let status = include_bytes!("data/status_mariadbd_thread");
    assert_eq!(context_switches(status), Some(1234 + 56));
    let expected = Io { read_bytes: 5_918_720, written_bytes: 13_021_184 };
    assert_eq!(io(include_bytes!("data/io")), Some(expected));
    let ticks = host_ticks(include_bytes!("data/host_stat")).unwrap();
    assert_eq!(ticks.busy, 61_141 + 6 + 17_297 + 3 + 3_827);
    assert_eq!(ticks.steal, 107);
    assert_eq!(ticks.total, ticks.busy + 459_348 + 2_857 + 107);
    assert_eq!(socket_inode(b"socket:[123]"), Some(123));
    assert_eq!(socket_inode(b"/dev/null"), None);
}

/// The samples were written by a little-endian kernel.
#[cfg(target_endian = "little")]
#[test]
fn listening_sockets_are_told_from_others() {
    let shown = |text: &[u8]| {
        let show = |one: &dbdyno_probe::parse::TcpListener| {
            format!("{}|{}|{}", one.address, one.port, one.inode)
        };
        tcp_listeners(text).iter().map(show).collect::<Vec<_>>()
    };
    assert_eq!(shown(include_bytes!("data/tcp")), ["127.0.0.1|5432|55899", "0.0.0.0|3306|1060"]);
    assert_eq!(
        shown(include_bytes!("data/tcp6")),
        ["::1|5432|55898", "::ffff:127.0.0.9|3307|7", "::|33060|1061"]
    );
}

#[test]
fn only_sockets_that_listen_at_a_path_are_taken() {
    assert_eq!(
        unix_listeners(include_bytes!("data/unix")),
        [
            (b"/run/mysqld/mysqld.sock".to_vec(), 23_456),
            (b"/srv/my data/.s.PGSQL.5432".to_vec(), 34_567),
        ]
    );
}

fn everything(bytes: &[u8]) {
    let _ = process_stat(bytes);
    let _ = context_switches(bytes);
    let _ = io(bytes);
    let _ = host_ticks(bytes);
    let _ = tcp_listeners(bytes);
    let _ = unix_listeners(bytes);
    let _ = socket_inode(bytes);
}

const SAMPLES: [&[u8]; 8] = [
    include_bytes!("data/stat_postgres"),
    include_bytes!("data/stat_spaces"),
    include_bytes!("data/status_mariadbd_thread"),
    include_bytes!("data/io"),
    include_bytes!("data/host_stat"),
    include_bytes!("data/tcp"),
    include_bytes!("data/tcp6"),
    include_bytes!("data/unix"),
];

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        everything(&bytes);
    }

    /// Cut, changed and doubled samples reach further into the parsers than noise does.
    #[test]
    fn no_hurt_sample_panics(
        which in 0..SAMPLES.len(),
        cut in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = SAMPLES[which].to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        everything(&bytes);
        everything(&bytes[cut.index(bytes.len())..]);
        everything(&bytes[..cut.index(bytes.len())]);
    }

    #[test]
    fn every_name_is_found_whole(comm in proptest::collection::vec(any::<u8>(), 0..15)) {
        let mut text = b"42 (".to_vec();
        text.extend_from_slice(&comm);
        text.extend_from_slice(b") D 1 7 7 0 -1 0 1 2 3 4 11 12 13 14 20 0 1 0 987 0 0\n");
        let parsed = process_stat(&text).unwrap();
        prop_assert_eq!(parsed.comm, comm);
        prop_assert_eq!((parsed.pid, parsed.state, parsed.started_ticks), (42, b'D', 987));
    }
}
