//! Servers that let dbdyno in and then say nothing, or never come to an end: one signal ends what
//! waits for them.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use nix::sys::signal::Signal;

use crate::common::{Home, end, eventually, signal};

/// What a server does when it is asked for the first time.
#[derive(Clone, Copy, Debug)]
enum Then {
    Silence,
    /// Notices without end, which PostgreSQL may send at any time.
    Notices,
}

/// A server that lets everybody in; where it is, and what tells that it was asked.
fn server(protocol: &'static str, then: Then) -> (String, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{protocol}://ann@{}/d", listener.local_addr().unwrap());
    let (asked, is_asked) = channel();
    // It lives as long as the test program.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, asked) = (stream.unwrap(), asked.clone());
            thread::spawn(move || drop(play(&mut stream, protocol, then, &asked)));
        }
    });
    (url, is_asked)
}

fn play(
    stream: &mut TcpStream,
    protocol: &str,
    then: Then,
    asked: &Sender<()>,
) -> std::io::Result<()> {
    let mut heard = [0; 4096];
    if protocol == "mysql" {
        let greeting = [
            b"\x0a8.0.33\0\x4d\0\0\0abcdefgh\0\x8D\xA2\x08\x02\0\x0E\x01\x15".as_slice(),
            &[0; 10],
            b"ijklmnopqrst\0mysql_native_password\0",
        ]
        .concat();
        stream.write_all(&[&[greeting.len() as u8, 0, 0, 0], &greeting[..]].concat())?;
        let _hello = stream.read(&mut heard)?;
        stream.write_all(b"\x07\0\0\x02\0\0\0\x02\0\0\0")?;
    } else {
        let _startup = stream.read(&mut heard)?;
        stream.write_all(
            b"R\0\0\0\x08\0\0\0\0S\0\0\0\x16server_version\x0015\0K\0\0\0\x0c\0\0\0\x4d\0\0\0\x01\
              Z\0\0\0\x05I",
        )?;
    }
    // Whoever goes before it has asked does not count.
    if stream.read(&mut heard)? > 5 {
        // The test may be over.
        let _ = asked.send(());
    }
    match then {
        Then::Silence => stream.read_to_end(&mut Vec::new()).map(drop),
        Then::Notices => {
            let many = b"N\0\0\0\x0bSNOTE\0\0".repeat(1_000);
            loop {
                stream.write_all(&many)?;
            }
        }
    }
}

/// It takes half a minute, three seconds for each stop: that a signal reaches what waits in a
/// socket, in the program as it is installed, is seen nowhere else.
#[test]
fn one_signal_ends_a_command_that_waits_for_a_server() {
    for (protocol, then) in
        [("mysql", Then::Silence), ("postgres", Then::Silence), ("postgres", Then::Notices)]
    {
        let (url, is_asked) = server(protocol, then);
        for command in ["diff", "compare"] {
            let home = Home::new();
            let mut command_line = home.command([command, &url, &url]);
            command_line.env_remove("DBDYNO_STOP_WITHIN_S");
            command_line.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command_line.spawn().unwrap();
            eventually("a question", || {
                assert!(child.try_wait().unwrap().is_none(), "{command} has not asked anything");
                is_asked.try_recv().is_ok()
            });
            signal(&child, Signal::SIGTERM);
            let done = end(child);
            assert_eq!(done.code, 130, "{command} {protocol} {then:?}: {done:?}");
            while is_asked.try_recv().is_ok() {}
        }
    }
}
