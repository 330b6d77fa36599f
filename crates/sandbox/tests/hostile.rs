//! Archives and folders that mean no good, and somebody else on a port of ours.
#![expect(clippy::print_stdout, reason = "a test that downloads says what it waits for")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use dbdyno_model::{Product, Transport};
use dbdyno_sandbox::{BackgroundServer, Home, Server, get_from};
use dbdyno_wire::{Client as _, Endpoint, Security};

use crate::common::{home, options, release};

/// A folder that is laid out as a server of MySQL's is, and a home.
struct Hostile {
    dir: tempfile::TempDir,
    home: Home,
}

impl Hostile {
    fn new() -> Hostile {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        mode(dir.path(), 0o755);
        let home = Home::open(Some(&dir.path().join("home"))).unwrap();
        let hostile = Hostile { dir, home };
        fs::create_dir_all(hostile.at("my/bin")).unwrap();
        fs::create_dir_all(hostile.at("my/share/english")).unwrap();
        fs::write(hostile.at("my/share/english/errmsg.sys"), "x").unwrap();
        hostile
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn server(&self, script: &str) {
        fs::write(self.at("my/bin/mysqld"), format!("#!/bin/sh\n{script}\n")).unwrap();
        mode(&self.at("my/bin/mysqld"), 0o755);
    }

    fn archive(&self) -> PathBuf {
        let file = self.at("my.tar.gz");
        let mut tar = Command::new("tar");
        tar.arg("-czf").arg(&file).arg("-C").arg(self.dir.path()).arg("my");
        assert!(tar.status().unwrap().success());
        file
    }

    fn take(&self, path: &Path) -> Result<dbdyno_sandbox::Release, String> {
        get_from(&self.home, Product::MySql, "", path, &mut |_| {}).map_err(|e| e.to_string())
    }

    fn is_empty(&self) -> bool {
        fs::read_dir(self.home.dir().join("servers")).unwrap().next().is_none()
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_server_out_of_an_archive_is_asked_with_no_rights_and_no_environment() {
    let hostile = Hostile::new();
    fs::create_dir(hostile.at("seen")).unwrap();
    mode(&hostile.at("seen"), 0o777);
    let seen = hostile.at("seen/by-it");
    hostile.server(&format!(
        "{{ echo \"manifest=${{CARGO_MANIFEST_DIR-unset}} home=$HOME\"\n\
         while read -r line; do echo \"$line\"; done < /proc/self/status; }} > {}\n\
         echo 'mysqld  Ver 5.6.99 for Linux on x86_64'",
        seen.display()
    ));
    let release = hostile.take(&hostile.archive()).unwrap();
    assert_eq!(release.version, "5.6.99");
    let text = fs::read_to_string(&seen).unwrap();
    assert!(text.starts_with("manifest=unset "), "our environment in {text}");
    let line = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("NoNewPrivs:"), "1");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(line(set), "0000000000000000", "{set}");
    }
    if nix::unistd::geteuid().is_root() {
        assert_eq!(line("Uid:"), "65534 65534 65534 65534");
        assert_eq!(line("Gid:"), "65534 65534 65534 65534");
        assert_eq!(line("Groups:"), "");
    }
}

#[test]
fn a_server_that_is_a_link_out_of_its_folder_is_neither_run_nor_opened_up() {
    let hostile = Hostile::new();
    let secret = hostile.at("secret");
    fs::write(&secret, "#!/bin/sh\necho root:hash\n").unwrap();
    mode(&secret, 0o600);
    for target in [secret.clone(), PathBuf::from("../../secret"), PathBuf::from("../../../../x")] {
        let _ = fs::remove_file(hostile.at("my/bin/mysqld"));
        symlink(&target, hostile.at("my/bin/mysqld")).unwrap();
        let mut said = vec![hostile.take(&hostile.archive()).unwrap_err()];
        said.push(hostile.take(&hostile.at("my")).unwrap_err());
        for said in said {
            // What leads nowhere is no server either.
            let known = ["leads out", "there is no mysql server"];
            assert!(known.iter().any(|known| said.contains(known)), "{said}");
            assert!(!said.contains("root:hash"), "{said}");
        }
        let found = fs::metadata(&secret).unwrap().permissions().mode();
        assert_eq!(found & 0o7777, 0o600, "its mode was set");
        assert!(hostile.is_empty());
    }
}

#[test]
fn a_server_that_says_nothing_or_too_much_or_steers_the_terminal_is_refused() {
    let hostile = Hostile::new();
    for script in ["exit 0", "while :; do echo endless; done", "printf '\\033]0;evil\\007 x'"] {
        hostile.server(script);
        let said = hostile.take(&hostile.at("my")).unwrap_err();
        assert!(said.len() < 2_000 && !said.chars().any(char::is_control), "{said:?}");
        assert!(hostile.is_empty());
    }
}

/// Ends a background server however its test ends.
struct Ending<'a>(&'a Home, &'a str);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if let Some(server) = BackgroundServer::find_by_name(self.0, self.1) {
            let _ = server.stop(self.0);
            let _ = server.remove(self.0);
        }
    }
}

fn logs_in(server: &BackgroundServer, password: &str) -> bool {
    let endpoint = Endpoint {
        transport: Transport::Tcp("127.0.0.1".to_owned(), server.port),
        user: "dbdyno".to_owned(),
        password: dbdyno_model::Secret::new(password),
        database: "dbdyno".to_owned(),
        security: Security::without_tls(),
    };
    let client: Result<Box<dyn dbdyno_wire::Client>, _> = match server.product {
        Product::Postgres => dbdyno_wire::postgres::PostgresConnection::connect(&endpoint)
            .map(|it| Box::new(it) as _),
        _ => dbdyno_wire::mysql::MysqlConnection::connect(&endpoint).map(|it| Box::new(it) as _),
    };
    client.map(|client| client.close()).is_ok()
}

/// Whoever takes the port of a server that was stopped is not spoken to at the next start, and
/// what its clients may have told it meanwhile is of no use.
fn a_squatter_hears_nothing(product: Product, version: &str) {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, product, version);
    let name = format!("squat-{}-{}", product.name().len(), std::process::id());
    let _ending = Ending(&home, &name);
    let say = &mut |step: &str| println!("{step}");
    let server = BackgroundServer::start(&home, &release, &options(), &name, say);
    let server = server.unwrap_or_else(|e| panic!("{e}"));
    let password = |server: &BackgroundServer| {
        let url = server.url().unwrap().expose().to_owned();
        url.split_once("dbdyno:").unwrap().1.split_once('@').unwrap().0.to_owned()
    };
    let first = password(&server);
    assert!(logs_in(&server, &first));
    server.stop(&home).unwrap_or_else(|e| panic!("{e}"));
    let squatter = TcpListener::bind(("127.0.0.1", server.port)).unwrap();
    squatter.set_nonblocking(true).unwrap();
    let again = server.start_again(&home, say).unwrap_or_else(|e| panic!("{e}"));
    let heard = squatter.accept();
    assert!(heard.is_err(), "the squatter was spoken to: {heard:?}");
    assert_ne!(again.port, server.port);
    let second = password(&again);
    assert_ne!(first, second, "the password that may be known was kept");
    assert!(!logs_in(&again, &first) && logs_in(&again, &second));
    // Nothing was doubtful this time.
    again.stop(&home).unwrap_or_else(|e| panic!("{e}"));
    let third = again.start_again(&home, say).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((third.port, password(&third)), (again.port, second.clone()));
    // Whoever gave it a new password was killed before it was noted that this one holds.
    third.stop(&home).unwrap_or_else(|e| panic!("{e}"));
    let dir = home.dir().join("bg").join(&name);
    fs::rename(dir.join("password"), dir.join("password.next")).unwrap();
    fs::write(dir.join("password"), &first).unwrap();
    let fourth = third.start_again(&home, say).unwrap_or_else(|e| panic!("{e}"));
    let last = password(&fourth);
    assert!(last != second && !logs_in(&fourth, &second) && logs_in(&fourth, &last));
    assert!(!dir.join("password.next").exists());
}

#[test]
fn a_squatter_on_the_port_of_mariadb_hears_nothing() {
    a_squatter_hears_nothing(Product::MariaDb, "10.11");
}

#[test]
fn a_squatter_on_the_port_of_postgres_hears_nothing() {
    a_squatter_hears_nothing(Product::Postgres, "17");
}

/// What the server sends to a client that logs in through here.
fn overheard(port: u16, log_in: impl FnOnce(u16)) -> Vec<u8> {
    let door = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let own = door.local_addr().unwrap().port();
    std::thread::scope(|scope| {
        let ear = scope.spawn(move || {
            let (mut client, _) = door.accept().unwrap();
            let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (mut there, mut from) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let carry = std::thread::spawn(move || {
                let _end = std::io::copy(&mut from, &mut there);
                let _gone = there.shutdown(Shutdown::Write);
            });
            let (mut heard, mut piece) = (Vec::new(), [0; 4_096]);
            while let Ok(read @ 1..) = server.read(&mut piece) {
                heard.extend_from_slice(&piece[..read]);
                let _gone = client.write_all(&piece[..read]);
            }
            let _gone = client.shutdown(Shutdown::Both);
            carry.join().unwrap();
            heard
        });
        log_in(own);
        ear.join().unwrap()
    })
}

/// `caching_sha2_password` remembers who came over the socket: over TCP a proof is enough, and
/// nobody is asked for the password under a key that might be anybody's.
#[test]
fn a_mysql_of_ours_never_wants_the_password_over_tcp() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::MySql, "9.7");
    let mut server = Server::start(&home, &release, &options(), "sha2", &mut |_| {}).unwrap();
    for round in ["first", "after a restart"] {
        let endpoint = server.endpoint();
        let Transport::Tcp(_, port) = endpoint.transport else { panic!() };
        let heard = overheard(port, |own| {
            let transport = Transport::Tcp("127.0.0.1".to_owned(), own);
            let endpoint = Endpoint { transport, ..endpoint.clone() };
            dbdyno_wire::mysql::MysqlConnection::connect(&endpoint)
                .map(|c| Box::new(c).close())
                .unwrap();
        });
        let said = |bytes: &[u8]| heard.windows(bytes.len()).any(|window| window == bytes);
        // A packet of two bytes: more of the method's talk, and 3 for "known", 4 for "tell".
        assert!(said(&[2, 0, 0, 2, 1, 3]) && !said(&[2, 0, 0, 2, 1, 4]), "{round}: {heard:?}");
        if round == "first" {
            server.restart().unwrap();
        }
    }
    server.stop().unwrap();
}
