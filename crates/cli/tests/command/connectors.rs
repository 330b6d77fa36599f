//! The same steps by the connectors of five languages against the reference engine as a server:
//! what they send when they connect, transactions, levels, savepoints, days and times, the
//! catalogue. Each has its own script, which ends with the first step that went wrong.
//!
//! ```text
//!   Python   PyMySQL · mysql-connector-python · MySQLdb · SQLAlchemy by the first two
//!   Java     MySQL's Connector/J, as it is and with prepared statements
//!   Node.js  mysql2 · MariaDB's connector
//!   Go       go-sql-driver, as it is and with values in the text
//!   Perl     DBD::mysql · DBD::MariaDB, both also with prepared statements
//! ```
//!
//! What a machine lacks is got by the clients of its registries; with `DBDYNO_REQUIRE_SERVERS=1`
//! one that cannot be had is a failure. That the steps ask what MySQL does is seen in `make soak`.

use std::path::{Path, PathBuf};
use std::process::Command;

use dbdyno_model::{Product, Transport};
use nix::sys::signal::Signal;

use crate::clients::{PASSWORD, lacks, run, served};
use crate::common::{Home, finish};
use crate::servers::{self, Running};

/// A language and its connectors.
struct Language {
    name: &'static str,
    /// Gets them into a directory; commands that go through the steps at a place.
    ready: fn(&Path, &Place) -> Result<Vec<Command>, String>,
}

const PYTHON: Language = Language { name: "Python", ready: ready_python };
const JAVA: Language = Language { name: "Java", ready: ready_java };
const NODE: Language = Language { name: "Node.js", ready: ready_node };
const GO: Language = Language { name: "Go", ready: ready_go };
const PERL: Language = Language { name: "Perl", ready: ready_perl };

/// How a server is reached.
struct Place {
    port: String,
    user: String,
    password: String,
    database: String,
}

impl Place {
    fn args(&self) -> [&str; 4] {
        [&self.port, &self.user, &self.password, &self.database]
    }
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/connectors").join(name)
}

/// Lets the client of a registry bring something.
fn bring(program: &str, args: &[&str]) -> Result<(), String> {
    if Command::new(program).arg("--help").output().is_err() {
        return Err(format!("{program} is not here"));
    }
    let got = run(program, args);
    if got.code == 0 { Ok(()) } else { Err(format!("{program}: {}{}", got.out, got.err)) }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of letters")
}

fn ready_python(directory: &Path, place: &Place) -> Result<Vec<Command>, String> {
    let packages = ["PyMySQL==1.1.1", "mysql-connector-python==9.1.0", "SQLAlchemy==2.0.36"];
    let pip = ["-m", "pip", "install", "--quiet", "--target", text(directory)];
    bring("python3", &[&pip[..], &packages].concat())?;
    let mut connectors = Vec::new();
    for connector in ["pymysql", "mysql-connector", "sqlalchemy", "mysqldb"] {
        // The last is Debian's, and belongs to Debian's Python.
        let own = if connector == "mysqldb" { "/usr/bin/python3" } else { "python3" };
        let mut command = Command::new(own);
        command.arg(script("ask.py")).arg(connector).args(place.args());
        if connector != "mysqldb" {
            command.env("PYTHONPATH", directory);
        }
        connectors.push(command);
    }
    Ok(connectors)
}

fn ready_java(directory: &Path, place: &Place) -> Result<Vec<Command>, String> {
    let output = format!("-DoutputDirectory={}", directory.display());
    let artifact = "-Dartifact=com.mysql:mysql-connector-j:9.1.0";
    bring("mvn", &["--batch-mode", "--quiet", "dependency:copy", artifact, &output])?;
    let mut connectors = Vec::new();
    for how in ["", "&useServerPrepStmts=true&rewriteBatchedStatements=true"] {
        let Place { port, user, password, database } = place;
        let url = format!("jdbc:mysql://127.0.0.1:{port}/{database}");
        let secrets = "?allowPublicKeyRetrieval=true&sslMode=DISABLED";
        let mut command = Command::new("java");
        command.arg("-cp").arg(directory.join("*")).arg(script("Ask.java"));
        command.args([&format!("{url}{secrets}{how}"), user, password, database]);
        connectors.push(command);
    }
    Ok(connectors)
}

fn ready_node(directory: &Path, place: &Place) -> Result<Vec<Command>, String> {
    // Packages are looked for beside the script.
    let beside = directory.join("ask.mjs");
    std::fs::copy(script("ask.mjs"), &beside).map_err(|error| error.to_string())?;
    let packages = ["mysql2@3.11.5", "mariadb@3.4.0"];
    let npm = ["install", "--silent", "--no-audit", "--no-fund", "--prefix", text(directory)];
    bring("npm", &[&npm[..], &packages].concat())?;
    let mut command = Command::new("node");
    command.arg(beside).args(place.args());
    Ok(vec![command])
}

fn ready_go(directory: &Path, place: &Place) -> Result<Vec<Command>, String> {
    let module = "module ask\n\ngo 1.18\n\nrequire github.com/go-sql-driver/mysql v1.7.1\n";
    std::fs::write(directory.join("go.mod"), module).map_err(|error| error.to_string())?;
    std::fs::copy(script("ask.go"), directory.join("main.go")).map_err(|e| e.to_string())?;
    let program = directory.join("ask");
    let build = format!("cd '{}' && go mod tidy && go build -o ask .", directory.display());
    bring("sh", &["-c", &build])?;
    let mut connectors = Vec::new();
    for how in ["", "&interpolateParams=true&collation=utf8mb4_unicode_ci"] {
        let Place { port, user, password, database } = place;
        let to = format!("{user}:{password}@tcp(127.0.0.1:{port})/{database}?parseTime=true{how}");
        let mut command = Command::new(&program);
        command.args([&to, database]);
        connectors.push(command);
    }
    Ok(connectors)
}

fn ready_perl(_directory: &Path, place: &Place) -> Result<Vec<Command>, String> {
    let mut connectors = Vec::new();
    for driver in ["mysql", "MariaDB"] {
        // The packages are Debian's, and belong to Debian's Perl.
        bring("/usr/bin/perl", &[&format!("-MDBD::{driver}"), "-e", "1"])?;
        for prepared in ["0", "1"] {
            let mut command = Command::new("/usr/bin/perl");
            command.arg(script("ask.pl")).args([driver, prepared]).args(place.args());
            connectors.push(command);
        }
    }
    Ok(connectors)
}

/// Lets the connectors of a language go through the steps at a place.
fn go_through(language: &Language, directory: &Path, place: &Place) {
    let connectors = match (language.ready)(directory, place) {
        Ok(connectors) => connectors,
        Err(missing) => return lacks(&format!("connectors of {}: {missing}", language.name)),
    };
    for command in connectors {
        let asked = format!("{command:?}").replace(&place.password, "…");
        let done = finish(command);
        assert!(done.out.ends_with("all is well\n"), "{asked}: {done:?}");
    }
}

fn connectors_work(language: &Language) {
    let home = Home::new();
    let served = served(&home);
    let place = Place {
        port: served.port().to_string(),
        user: "root".to_owned(),
        password: PASSWORD.to_owned(),
        database: "test".to_owned(),
    };
    let directory = home.path().join("connectors");
    std::fs::create_dir(&directory).unwrap();
    go_through(language, &directory, &place);
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
}

#[test]
fn connectors_of_python_work() {
    connectors_work(&PYTHON);
}

#[test]
fn the_connector_of_java_works() {
    connectors_work(&JAVA);
}

#[test]
fn connectors_of_node_work() {
    connectors_work(&NODE);
}

#[test]
fn the_connector_of_go_works() {
    connectors_work(&GO);
}

#[test]
fn connectors_of_perl_work() {
    connectors_work(&PERL);
}

/// What the steps expect is what MySQL does.
#[test]
#[ignore = "soak: the steps on MySQL itself; the engine has them in make test"]
fn mysql_goes_through_the_same_steps() {
    let Some(shared) = servers::home() else { return };
    // Else it would hear every client in latin1.
    let heard = "charset=utf8mb4";
    let server = Running::told(&shared, Product::MySql, "8.0", heard);
    let endpoint = server.endpoint();
    let Transport::Tcp(_, port) = &endpoint.transport else { panic!("it listens on TCP") };
    let place = Place {
        port: port.to_string(),
        user: endpoint.user.clone(),
        password: endpoint.password.expose().to_owned(),
        database: endpoint.database.clone(),
    };
    let home = Home::new();
    for language in [PYTHON, JAVA, NODE, GO, PERL] {
        let directory = home.path().join(language.name);
        std::fs::create_dir(&directory).unwrap();
        go_through(&language, &directory, &place);
    }
    server.stop();
}
