//! Passwords from files, the environment and a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use dbdyno_model::{ArmSpec, Product, Target, Transport};
use nix::pty::openpty;

use crate::common::{Done, Home, eventually, finish, turn};
use crate::servers::{Running, home};

fn write(folder: &Path, name: &str, mode: u32, text: &str) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
}

fn ask(home: &Home, folder: &Path, url: &str) -> Command {
    let mut command = home.command(["diff", url, url]);
    command.env("HOME", folder);
    command
}

fn is_in(done: &Done, password: &str) {
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!done.out.contains(password) && !done.err.contains(password), "{done:?}");
}

#[test]
fn a_password_comes_from_the_files_of_the_clients() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let running = Running::start(&home, Product::MariaDb, "10.11");
    let (password, own) = (running.password(), running.own_database());
    let url = running.tcp("dbdyno", &own);
    let run = || finish(ask(&home, folder, &url));
    let refused = run();
    assert!(refused.code == 2 && refused.err.contains("~/.my.cnf"), "{refused:?}");

    write(folder, ".my.cnf", 0o600, &format!("[client]\nuser=dbdyno\npassword={password}\n"));
    is_in(&run(), &password);
    // That of another account is not taken there.
    write(folder, ".my.cnf", 0o600, &format!("[client]\nuser=root\npassword={password}\n"));
    assert_eq!(run().code, 2);
    write(
        folder,
        ".my.cnf",
        0o600,
        &format!("[client]\npassword=x\n[dbdyno]\npassword={password}\n"),
    );
    is_in(&run(), &password);
    write(folder, ".my.cnf", 0o600, "[client]\nhunter2 hunter2\n");
    let broken = run();
    assert!(broken.code == 2 && broken.err.contains(".my.cnf: line 2: no option"), "{broken:?}");
    assert!(!broken.err.contains("hunter2"), "{broken:?}");
    write(folder, ".my.cnf", 0o666, &format!("[client]\npassword={password}\n"));
    let open = run();
    assert!(open.code == 2 && open.err.contains("everybody can write it"), "{open:?}");
    // Files are followed as clients follow them, unless anybody may have written them.
    let secret = folder.join("secret.cnf");
    let including = format!("!include {}\n", secret.display());
    write(folder, ".my.cnf", 0o600, &including);
    for (mode, code) in [(0o600, 0), (0o666, 2)] {
        let group = format!("[client-mariadb]\npassword={password}\n");
        write(folder, "secret.cnf", mode, &group);
        let run = run();
        assert_eq!(run.code, code, "{run:?}");
        assert_eq!(run.err.contains("secret.cnf is not used"), code == 2, "{run:?}");
    }
    std::fs::remove_file(folder.join(".my.cnf")).unwrap();

    write(folder, ".mylogin.cnf", 0o600, "no such thing");
    let broken = run();
    assert!(broken.code == 2 && broken.err.contains(".mylogin.cnf: line 1: it ends"), "{broken:?}");
    let mut unknown = ask(&home, folder, "mysql:///d?login-path=prod");
    unknown.env("MYSQL_TEST_LOGIN_FILE", "/nowhere");
    let unknown = finish(unknown);
    assert!(unknown.code == 2 && unknown.err.contains("no login path \"prod\""), "{unknown:?}");
    std::fs::remove_file(folder.join(".mylogin.cnf")).unwrap();

    let mut by_variable = ask(&home, folder, &url);
    by_variable.env("MYSQL_PWD", &password);
    is_in(&finish(by_variable), &password);
    a_terminal_is_asked(&home, folder, &url, &password);
    running.stop();
}

/// What is typed is not shown.
fn a_terminal_is_asked(home: &Home, folder: &Path, url: &str, password: &str) {
    let pair = openpty(None, None).unwrap();
    let slave = || Stdio::from(pair.slave.try_clone().unwrap());
    let mut command = ask(home, folder, url);
    command.stdin(slave()).stderr(slave()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(command);
    drop(pair.slave);
    let mut terminal = File::from(pair.master);
    let mut screen = terminal.try_clone().unwrap();
    // Processes of other tests may have inherited the terminal, so that its end tells nothing.
    let (pieces, seen) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = [0; 1024];
        while let Ok(count @ 1..) = screen.read(&mut piece) {
            if pieces.send(piece[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    let (mut shown, mut asked) = (Vec::new(), 0);
    eventually("the end of the command", || {
        while let Ok(piece) = seen.try_recv() {
            shown.extend(piece);
        }
        let questions = String::from_utf8_lossy(&shown).matches("password for mysql://").count();
        if questions > asked {
            asked = questions;
            writeln!(terminal, "{password}").unwrap();
        }
        child.try_wait().unwrap().is_some()
    });
    let shown = String::from_utf8_lossy(&shown);
    assert!(child.wait().unwrap().success(), "{shown}");
    assert!(asked == 2 && !shown.contains(password), "{shown}");
}

#[test]
fn a_password_comes_from_the_file_of_postgres() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let running = Running::start(&home, Product::Postgres, "15");
    let (password, own) = (running.password(), running.own_database());
    let url = running.tcp("dbdyno", &own);
    let run = || finish(ask(&home, folder, &url));
    write(folder, ".pgpass", 0o600, &format!("127.0.0.1:*:{own}:dbdyno:{password}\n"));
    is_in(&run(), &password);
    write(folder, ".pgpass", 0o600, &format!("elsewhere:*:*:*:{password}\n"));
    assert_eq!(run().code, 2);
    write(folder, ".pgpass", 0o600, "# mine\nhunter2\n");
    let broken = run();
    assert!(broken.code == 2 && broken.err.contains(".pgpass: line 2: write HOST"), "{broken:?}");
    assert!(!broken.err.contains("hunter2"), "{broken:?}");
    write(folder, ".pgpass", 0o644, &format!("*:*:*:*:{password}\n"));
    let open = run();
    assert!(open.code == 2 && open.err.contains("others can read it; chmod 600"), "{open:?}");
    let mut by_file = ask(&home, folder, &url);
    write(folder, "elsewhere", 0o600, &format!("*:*:*:*:{password}\n"));
    by_file.env("PGPASSFILE", folder.join("elsewhere"));
    is_in(&finish(by_file), &password);
    a_service_names_the_server(&home, folder, &url, &password);
    running.stop();
}

/// A service, or the environment, names the server; a file that others can write does not.
fn a_service_names_the_server(home: &Home, folder: &Path, url: &str, password: &str) {
    let Target::Url(whole) = url.parse::<ArmSpec>().unwrap().target else { panic!("{url}") };
    let Transport::Tcp(host, port) = whole.transport else { panic!("{url}") };
    let (user, database) = (whole.user, whole.database);
    let service = format!(
        "[shop]\nhost={host}\nport={port}\nuser={user}\ndbname={database}\npassword={password}\n"
    );
    write(folder, ".pg_service.conf", 0o600, &service);
    is_in(&finish(ask(home, folder, "postgres://?service=shop")), password);
    let mut by_variable = ask(home, folder, "postgres://");
    by_variable.env("PGSERVICE", "shop");
    is_in(&finish(by_variable), password);
    write(folder, ".pg_service.conf", 0o666, &service);
    let open = finish(ask(home, folder, "postgres://?service=shop"));
    assert!(open.code == 2 && open.err.contains("others can write it"), "{open:?}");
    let mut by_parts = ask(home, folder, "postgres://");
    let port = port.to_string();
    for (name, value) in [
        ("PGHOST", host.as_str()),
        ("PGPORT", port.as_str()),
        ("PGUSER", user.as_str()),
        ("PGDATABASE", database.as_str()),
        ("PGPASSWORD", password),
    ] {
        by_parts.env(name, value);
    }
    is_in(&finish(by_parts), password);
}
