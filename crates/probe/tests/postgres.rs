//! A real PostgreSQL with 64 backends: found by its sockets, and its cost compared with what its
//! own backends say of themselves. Prints what a look at it costs:
//! `cargo test -p dbdyno-probe --test probe postgres:: -- --nocapture`.

use std::io::{Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dbdyno_host::local_host;
use dbdyno_model::Transport;
use dbdyno_probe::ServerProbe;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};

/// Folder of `initdb` and `postgres`, the newest that is installed.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut folders: Vec<PathBuf> = versions.flatten().map(|one| one.path().join("bin")).collect();
    folders.sort();
    let search = std::env::var_os("PATH").unwrap_or_default();
    folders.splice(0..0, std::env::split_paths(&search));
    let found = folders.into_iter().rfind(|folder| folder.join("initdb").exists());
    found.expect("this test needs PostgreSQL: apt-get install postgresql")
}

/// PostgreSQL refuses to run as root.
fn unprivileged(command: &mut Command, user: Option<&User>) {
    if let Some(user) = user {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
}

struct Postgres {
    postmaster: Child,
    folder: tempfile::TempDir,
    port: u16,
}

impl Postgres {
    fn start() -> Postgres {
        let folder = tempfile::tempdir().unwrap();
        let user = geteuid().is_root().then(|| {
            let known = ["postgres", "nobody"].into_iter();
            known.filter_map(|name| User::from_name(name).unwrap()).next().unwrap()
        });
        if let Some(user) = &user {
            chown(folder.path(), Some(user.uid.as_raw()), Some(user.gid.as_raw())).unwrap();
        }
        let data = folder.path().join("data");
        let mut initdb = Command::new(programs().join("initdb"));
        unprivileged(&mut initdb, user.as_ref());
        initdb.current_dir(folder.path()).arg("-D").arg(&data);
        let options = ["-U", "postgres", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"];
        let made = initdb.args(options).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut postgres = Command::new(programs().join("postgres"));
        unprivileged(&mut postgres, user.as_ref());
        postgres.current_dir(folder.path()).arg("-D").arg(&data);
        postgres.arg("-k").arg(folder.path()).args(["-p", &port.to_string()]);
        postgres.args(["-h", "127.0.0.1", "-c", "fsync=off", "-c", "max_connections=80"]);
        // The workers of a parallel query are not in the statistics of its leader.
        postgres.args(["-c", "autovacuum=off", "-c", "max_parallel_workers_per_gather=0"]);
        let postmaster = postgres.stderr(Stdio::null()).spawn().unwrap();
        Postgres { postmaster, folder, port }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join(format!(".s.PGSQL.{}", self.port))
    }

    /// Tries until the server takes connections, or has given up.
    fn connect(&mut self) -> Session {
        loop {
            let session = Session::connect(&self.socket());
            if let Some(session) = session {
                return session;
            }
            let ended = self.postmaster.try_wait().unwrap();
            assert!(ended.is_none(), "postgres did not start: {ended:?}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // SIGQUIT: the immediate shutdown.
        let pid = Pid::from_raw(self.postmaster.id() as i32);
        let _ = kill(pid, Signal::SIGQUIT);
        let _ = self.postmaster.wait();
    }
}

/// Just enough of the protocol to log in without a password and to send a text.
struct Session(UnixStream);

impl Session {
    fn connect(path: &Path) -> Option<Session> {
        let mut session = Session(UnixStream::connect(path).ok()?);
        let parameters = b"\0\x03\0\0user\0postgres\0database\0postgres\0\0";
        let length = (parameters.len() as u32 + 4).to_be_bytes();
        session.0.write_all(&[&length[..], parameters].concat()).ok()?;
        session.until_ready()?;
        Some(session)
    }

    fn query(&mut self, sql: &str) -> String {
        let length = (sql.len() as u32 + 5).to_be_bytes();
        let message = [b"Q", &length[..], sql.as_bytes(), b"\0"].concat();
        self.0.write_all(&message).unwrap();
        self.until_ready().unwrap()
    }

    /// Everything up to ReadyForQuery as text; `None` if the server refused or went.
    fn until_ready(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head).ok()?;
            let length = u32::from_be_bytes(head[1..].try_into().unwrap()) - 4;
            let mut body = vec![0; length as usize];
            self.0.read_exact(&mut body).ok()?;
            text.push_str(&String::from_utf8_lossy(&body));
            match head[0] {
                b'E' => return None,
                b'Z' => return Some(text),
                _ => {}
            }
        }
    }

    /// Runs a statement; returns the processor time that the backend says it took (getrusage, as
    /// `log_statement_stats` gives it: `0.123456 s user, 0.001234 s system, …`).
    fn cpu_ns_of(&mut self, sql: &str) -> u64 {
        self.query("SET client_min_messages = log");
        self.query("SET log_statement_stats = on");
        let text = self.query(sql);
        self.query("SET log_statement_stats = off");
        let seconds = |unit: &str| -> f64 {
            let end = text.find(unit).unwrap_or_else(|| panic!("no {unit:?} in {text:?}"));
            let number = text[..end].rsplit(|c: char| !c.is_ascii_digit() && c != '.');
            number.into_iter().next().unwrap().parse().unwrap()
        };
        ((seconds(" s user") + seconds(" s system")) * 1e9) as u64
    }
}

#[test]
fn a_postgres_with_64_backends_is_found_and_counted_right() {
    let mut server = Postgres::start();
    let mut sessions: Vec<Session> = (0..64).map(|_| server.connect()).collect();
    let postmaster = server.postmaster.id();

    let path = server.socket().to_str().unwrap().to_owned();
    let at_port = |host: &str| Transport::Tcp(host.to_owned(), server.port);
    for transport in [Transport::Unix(path), at_port("127.0.0.1"), at_port("localhost")] {
        let found = ServerProbe::locate(&local_host(), &transport).unwrap();
        assert_eq!(found.root_pid(), postmaster, "{transport}");
    }

    let probe = ServerProbe::of_process(&local_host(), postmaster);
    probe.sample().unwrap();
    let first = probe.sample().unwrap();
    assert!(first.process_count() > 64, "{}", first.process_count());
    let work = "SELECT sum(hashint8(i)) FROM generate_series(1, 700000) i";
    let mut truth_ns = 0;
    for session in sessions.iter_mut().take(2) {
        truth_ns += session.cpu_ns_of(work);
    }
    // A backend that comes and goes, and one that goes.
    truth_ns += server.connect().cpu_ns_of(work);
    truth_ns += sessions.pop().unwrap().cpu_ns_of(work);
    let gone = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        probe.sample().unwrap().process_count() < first.process_count()
    });
    assert!(gone, "the backends of closed connections do not end");
    let second = probe.sample().unwrap();
    let cost = second.cost_since(&first);
    let cpu_ns = cost.server_cpu_ns.unwrap();
    println!(
        "looking at {} processes took {:.2} ms of processor; {:.0} ms were seen, {:.0} ms said",
        second.process_count(),
        second.probe_cpu_ns as f64 / 1e6,
        cpu_ns as f64 / 1e6,
        truth_ns as f64 / 1e6,
    );
    // Not in the backends' own account: starting and ending them, and parsing of the settings.
    assert!(cpu_ns + 20_000_000 >= truth_ns, "{cpu_ns} < {truth_ns}");
    assert!(cpu_ns <= truth_ns + truth_ns / 20 + 60_000_000, "{cpu_ns} > {truth_ns}");
    let said_kernel = cost.server_kernel_ns.unwrap();
    assert!(said_kernel < cpu_ns / 2, "{cost:?}");
    assert!(cost.server_context_switches.unwrap() > 0, "{cost:?}");
    assert!(second.probe_cpu_ns > 0);
}
