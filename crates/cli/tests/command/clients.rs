//! Clients of others against the reference engine as a server: MariaDB's command line, sysbench
//! 1.0.20, PyMySQL and MariaDB's JDBC connector. What a machine lacks is got by the clients of its
//! registries; with `DBDYNO_REQUIRE_SERVERS=1` one that cannot be had is a failure. The server
//! offers encryption; all but sysbench come without it, and again verifying its certificate.

use std::process::Command;

use crate::certificates::{Authority, Papers};
use crate::common::{Done, Home, finish, skipped, turn};
use crate::serve::Served;

pub(crate) const PASSWORD: &str = "of the clients";

/// A server whose account has a password, so that each client proves it by its own method.
pub(crate) fn served(home: &Home) -> Served {
    served_with(home, &[])
}

fn served_with(home: &Home, more: &[&str]) -> Served {
    let file = home.path().join("password");
    std::fs::write(&file, format!("{PASSWORD}\n")).unwrap();
    let args = ["--design", "device=none", "--password-file", file.to_str().unwrap()];
    Served::start(home, &home.path().join("tables"), &[&args[..], more].concat())
}

/// One that offers encryption, and the file of the authority that has signed its certificate.
fn served_encrypted(home: &Home) -> (Served, Papers, String) {
    let papers = Papers::new();
    let authority = Authority::new("authority of the clients");
    let [certificate, key] =
        papers.put("server", &authority.sign(&["localhost", "127.0.0.1"], 2100));
    let served = served_with(home, &["--tls-cert", &certificate, "--tls-key", &key]);
    let believed = papers.believe(&authority, "authority.pem");
    (served, papers, believed)
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Says that something is missing, where that may be.
pub(crate) fn lacks(what: &str) {
    let required = std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some();
    assert!(!required, "DBDYNO_REQUIRE_SERVERS is set and there is no {what}");
    skipped(&format!("this machine has no {what}"));
}

pub(crate) fn run(program: &str, args: &[&str]) -> Done {
    let mut command = Command::new(program);
    command.args(args).env("MYSQL_PWD", PASSWORD);
    finish(command)
}

#[test]
fn the_command_line_of_mariadb_works() {
    let Some(program) = ["mariadb", "mysql"].into_iter().find(|program| has(program)) else {
        return lacks("mariadb");
    };
    let home = Home::new();
    let (served, _papers, believed) = served_encrypted(&home);
    let port = served.port().to_string();
    let ask_with = |encryption: &[&str], sql: &str| {
        let to = ["--no-defaults", "--host=127.0.0.1", "--protocol=tcp", "--user=root"];
        let port = format!("--port={port}");
        let how = [&*port, "--default-character-set=utf8mb4", "--table", "--execute", sql, "test"];
        run(program, &[&to[..], encryption, &how].concat())
    };
    let ask = |sql: &str| ask_with(&["--skip-ssl"], sql);
    let done =
        ask("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, c CHAR(20), n DECIMAL(6,2)); \
         INSERT INTO t (c, n) VALUES ('caf\u{e9} \u{436}', 1.5), (NULL, NULL); \
         SELECT id, c, n, count(*) FROM t GROUP BY id, c, n ORDER BY id; SELECT version()");
    assert_eq!(done.code, 0, "{done:?}");
    // How wide columns are differs from version to version of the client.
    let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("| 1 | caf\u{e9} \u{436} | 1.50 | 1 |"), "{done:?}");
    assert!(words.contains("| 2 | NULL | NULL | 1 |"), "{done:?}");
    assert!(done.out.contains("dbdyno"), "its version is told: {done:?}");
    let done = ask("SELECT 1 FROM nowhere");
    assert!(done.err.contains("ERROR 1146 (42S02)"), "{done:?}");
    let verifies = [&*format!("--ssl-ca={believed}"), "--ssl-verify-server-cert"];
    let done = ask_with(&verifies, "SELECT c FROM t; SHOW STATUS LIKE 'Ssl_version'");
    assert!(done.out.contains("caf\u{e9} \u{436}"), "{done:?}");
    assert!(done.out.contains("TLSv1."), "{done:?}");
    let wrong = Command::new(program)
        .args(["--no-defaults", "--host=127.0.0.1", "--protocol=tcp", "--user=root"])
        .args([&*format!("--port={port}"), "--skip-ssl", "--execute", "SELECT 1"])
        .env("MYSQL_PWD", "wrong")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("1045"), "{wrong:?}");
    assert_eq!(served.end(nix::sys::signal::Signal::SIGTERM), Some(0));
}

#[test]
fn sysbench_prepares_runs_and_cleans_up() {
    if !has("sysbench") {
        return lacks("sysbench");
    }
    let _turn = turn();
    let home = Home::new();
    let served = served(&home);
    let port = format!("--mysql-port={}", served.port());
    let password = format!("--mysql-password={PASSWORD}");
    let sysbench = |script: &str, command: &str| {
        let done = run(
            "sysbench",
            &[
                script,
                "--db-driver=mysql",
                "--mysql-host=127.0.0.1",
                &port,
                "--mysql-user=root",
                &password,
                "--mysql-db=test",
                "--tables=2",
                "--table-size=1000",
                "--threads=2",
                "--events=200",
                "--time=0",
                "--rand-type=uniform",
                command,
            ],
        );
        assert_eq!(done.code, 0, "{script} {command}: {done:?}");
        assert!(!done.out.contains("FATAL"), "{script} {command}: {done:?}");
        done.out
    };
    sysbench("oltp_common", "prepare");
    for script in [
        "oltp_point_select",
        "oltp_read_only",
        "oltp_read_write",
        "oltp_write_only",
        "oltp_insert",
        "oltp_delete",
        "oltp_update_index",
        "oltp_update_non_index",
        "select_random_points",
        "select_random_ranges",
    ] {
        let out = sysbench(script, "run");
        assert!(out.contains("total number of events:              200"), "{script}: {out}");
    }
    sysbench("oltp_common", "cleanup");
    assert_eq!(served.tables(PASSWORD), [""; 0]);
    assert_eq!(served.end(nix::sys::signal::Signal::SIGTERM), Some(0));
}

const PYTHON: &str = r#"
import sys, datetime, decimal, pymysql
from pymysql.cursors import DictCursor
port, password, believed = int(sys.argv[1]), sys.argv[2], sys.argv[3]
db = pymysql.connect(host='127.0.0.1', port=port, user='root', password=password, database='test')
with db.cursor() as c:
    key = 'id INT AUTO_INCREMENT PRIMARY KEY'
    c.execute(f'CREATE TABLE py ({key}, c CHAR(20), d DECIMAL(6,2), at DATETIME)')
    at = datetime.datetime(2026, 11, 25, 19, 30, 0)
    row = ("caf\u00e9 'quoted' \\", decimal.Decimal('-1.50'), at)
    c.execute('INSERT INTO py (c, d, at) VALUES (%s, %s, %s)', row)
    assert c.lastrowid == 1, c.lastrowid
    c.executemany('INSERT INTO py (c) VALUES (%s)', [('b',), (None,)])
    assert c.rowcount == 2, c.rowcount
db.commit()
with db.cursor(DictCursor) as c:
    c.execute('SELECT id, c, d, at, count(*) AS n FROM py GROUP BY id, c, d, at ORDER BY id')
    rows = c.fetchall()
    assert rows[0] == dict(id=1, c=row[0], d=row[1], at=at, n=1), rows
    assert rows[2]['c'] is None, rows
with db.cursor() as c:
    c.execute('UPDATE py SET d = d * 2 WHERE id = 1')
db.rollback()
with db.cursor() as c:
    c.execute('SELECT d FROM py WHERE id = 1')
    assert c.fetchone() == (decimal.Decimal('-1.50'),)
    try:
        c.execute('INSERT INTO py (id) VALUES (1)')
        raise SystemExit('a duplicate was taken')
    except pymysql.err.IntegrityError as error:
        assert error.args[0] == 1062, error
db.ping()
db.close()
ssl = dict(ca=believed, check_hostname=True, verify_mode='required')
db = pymysql.connect(host='127.0.0.1', port=port, user='root', password=password, database='test',
                     ssl=ssl)
with db.cursor() as c:
    c.execute('SELECT c FROM py WHERE id = 1')
    assert c.fetchone() == (row[0],)
    c.execute("SHOW STATUS LIKE 'Ssl_version'")
    assert c.fetchone()[1].startswith('TLSv1.')
    # Django, SQLAlchemy and Hibernate ask for the rows that were found, and not for those changed.
    c.execute('UPDATE py SET c = c WHERE id < 3')
    assert c.rowcount == 0, c.rowcount
db.close()
found = pymysql.constants.CLIENT.FOUND_ROWS
db = pymysql.connect(host='127.0.0.1', port=port, user='root', password=password, database='test',
                     ssl=ssl, client_flag=found)
with db.cursor() as c:
    c.execute('UPDATE py SET c = c WHERE id < 3')
    assert c.rowcount == 2, c.rowcount
    try:
        c.execute('SELECT table_name FROM information_schema.tables')
        raise SystemExit('there is no such schema')
    except pymysql.err.NotSupportedError as error:
        assert error.args[0] == 1235 and 'information_schema' in error.args[1], error
db.close()
print('python is content')
"#;

#[test]
fn pymysql_works() {
    if !has("python3") {
        return lacks("python3");
    }
    let home = Home::new();
    let packages = home.path().join("packages");
    let target = packages.to_str().unwrap();
    let pip = ["-m", "pip", "install", "--quiet", "--target", target, "PyMySQL==1.1.1"];
    let got = run("python3", &pip);
    if got.code != 0 {
        return lacks(&format!("PyMySQL: {}", got.err));
    }
    let (served, _papers, believed) = served_encrypted(&home);
    let script = home.path().join("ask.py");
    std::fs::write(&script, PYTHON).unwrap();
    let mut command = Command::new("python3");
    command.arg(&script).args([&*served.port().to_string(), PASSWORD, &believed]);
    command.env("PYTHONPATH", target);
    let done = finish(command);
    assert!(done.out.contains("python is content"), "{done:?}");
    assert_eq!(served.end(nix::sys::signal::Signal::SIGTERM), Some(0));
}

const JAVA: &str = r#"
import java.math.BigDecimal;
import java.sql.*;

public class Ask {
  static void is(Object expected, Object got) {
    if (!expected.equals(got)) throw new AssertionError(expected + " expected, got " + got);
  }

  static void ask(String url, String password, String tls) throws Exception {
    try (Connection db = DriverManager.getConnection(url, "root", password)) {
      try (Statement s = db.createStatement();
           ResultSet r = s.executeQuery("SHOW STATUS LIKE 'Ssl_version'")) {
        r.next();
        is(tls, r.getString(2).split("\\.")[0]);
      }
      try (Statement s = db.createStatement()) {
        s.execute("DROP TABLE IF EXISTS jdbc");
        String key = "id INT AUTO_INCREMENT PRIMARY KEY";
        String rest = "c VARCHAR(20), d DECIMAL(6,2), at DATETIME";
        s.execute("CREATE TABLE jdbc (" + key + ", " + rest + ")");
      }
      String insert = "INSERT INTO jdbc (c, d, at) VALUES (?, ?, ?)";
      try (PreparedStatement p = db.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
        p.setString(1, "caf\u00e9 \u0436");
        p.setBigDecimal(2, new BigDecimal("-1.50"));
        p.setTimestamp(3, Timestamp.valueOf("2026-11-25 19:30:00"));
        is(1, p.executeUpdate());
        try (ResultSet keys = p.getGeneratedKeys()) { keys.next(); is(1, keys.getInt(1)); }
      }
      db.setAutoCommit(false);
      db.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      try (PreparedStatement p = db.prepareStatement("UPDATE jdbc SET d = d + ? WHERE id = ?")) {
        for (int i = 0; i < 3; i++) { p.setInt(1, 1); p.setInt(2, 1); p.addBatch(); }
        is(3, p.executeBatch().length);
      }
      db.rollback();
      String select = "SELECT id, c, d, at FROM jdbc WHERE id = ?";
      try (PreparedStatement p = db.prepareStatement(select)) {
        p.setInt(1, 1);
        try (ResultSet r = p.executeQuery()) {
          r.next();
          is("caf\u00e9 \u0436", r.getString("c"));
          is(new BigDecimal("-1.50"), r.getBigDecimal(3));
          is(Timestamp.valueOf("2026-11-25 19:30:00"), r.getTimestamp("at"));
        }
      }
      db.commit();
      try (Statement s = db.createStatement()) {
        s.executeUpdate("INSERT INTO jdbc (id) VALUES (1)");
        throw new AssertionError("a duplicate was taken");
      } catch (SQLException error) {
        is(1062, error.getErrorCode());
      }
      is(true, db.isValid(5));
    }
  }

  public static void main(String[] args) throws Exception {
    String url = "jdbc:mariadb://127.0.0.1:" + args[0] + "/test?sslMode=";
    ask(url + "disable", args[1], "");
    ask(url + "disable&useServerPrepStmts=true", args[1], "");
    ask(url + "verify-full&serverSslCert=" + args[2], args[1], "TLSv1");
    System.out.println("java is content");
  }
}
"#;

#[test]
fn the_jdbc_connector_of_mariadb_works() {
    if !has("java") || !has("mvn") {
        return lacks("java and mvn");
    }
    let home = Home::new();
    let jars = home.path().join("jars");
    let got = run(
        "mvn",
        &[
            "--batch-mode",
            "--quiet",
            "dependency:copy",
            "-Dartifact=org.mariadb.jdbc:mariadb-java-client:3.4.1",
            &format!("-DoutputDirectory={}", jars.display()),
        ],
    );
    if got.code != 0 {
        return lacks(&format!("connector of MariaDB: {}{}", got.out, got.err));
    }
    let (served, _papers, believed) = served_encrypted(&home);
    let source = home.path().join("Ask.java");
    std::fs::write(&source, JAVA).unwrap();
    let mut command = Command::new("java");
    command.arg("-cp").arg(format!("{}/*", jars.display())).arg(source);
    command.args([&*served.port().to_string(), PASSWORD, &believed]);
    let done = finish(command);
    assert!(done.out.contains("java is content"), "{done:?}");
    assert_eq!(served.end(nix::sys::signal::Signal::SIGTERM), Some(0));
}
