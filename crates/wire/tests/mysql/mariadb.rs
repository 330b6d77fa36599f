//! The MySQL client against a real MariaDB, which is bootstrapped in a folder of its own.
//!
//! Without `mariadbd` on this machine the test says so and passes, unless `DBDYNO_REQUIRE_SERVERS`
//! is set. What the client sends is judged by what the server then has; what it counts, by what the
//! server says in text form.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use dbdyno_model::{Secret, Transport};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{BulkTarget, Client, Endpoint, Param, RowBuffer, StatementCounts, WireError};

use super::mock::Folder;

const START_ATTEMPTS: u32 = 600;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(50);

/// A running MariaDB that goes away with its folder.
struct Server {
    process: Child,
    folder: Folder,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn find_mariadbd() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/libexec".into()]);
    folders.map(|folder| folder.join("mariadbd")).find(|file| file.is_file())
}

fn mariadbd(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--no-defaults")
        .arg(format!("--datadir={}", folder.join("data").display()))
        .arg(format!("--tmpdir={}", folder.display()))
        .args(["--innodb-log-file-size=8M", "--innodb-buffer-pool-size=8M"])
        .args(["--innodb-flush-log-at-trx-commit=0", "--max-allowed-packet=64M"])
        .stdout(Stdio::null())
        .stderr(File::create(folder.join("log")).unwrap());
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.arg("--user=root");
    }
    command
}

/// The statements that make the system tables, without which there are no accounts.
fn bootstrap_script() -> String {
    let share = ["/usr/share/mysql", "/usr/share/mariadb"].map(Path::new);
    let read = |name: &str| {
        let files = share.iter().flat_map(|folder| {
            ["mysql", "mariadb"].map(|product| folder.join(format!("{product}_{name}.sql")))
        });
        let file = files.into_iter().find(|file| file.is_file());
        fs::read_to_string(file.unwrap_or_else(|| panic!("no script {name}"))).unwrap()
    };
    ["system_tables", "performance_tables", "system_tables_data"]
        .map(read)
        .into_iter()
        .fold("use mysql;\nSET @auth_root_socket=NULL;\n".to_owned(), |script, part| script + &part)
}

impl Server {
    fn start(program: &Path) -> Server {
        let owned = Folder::new();
        let folder = &owned.0;
        fs::create_dir_all(folder.join("data/mysql")).unwrap();
        let script = folder.join("bootstrap.sql");
        fs::write(&script, bootstrap_script()).unwrap();
        let done = mariadbd(program, folder)
            .arg("--bootstrap")
            .stdin(File::open(&script).unwrap())
            .status()
            .unwrap();
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(done.success(), "{}", log());
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let process = mariadbd(program, folder)
            .arg(format!("--socket={}", folder.join("sock").display()))
            .arg(format!("--pid-file={}", folder.join("pid").display()))
            .arg(format!("--port={free}"))
            .args(["--bind-address=127.0.0.1", "--skip-name-resolve"])
            .args(["--character-set-server=utf8mb4", "--skip-log-bin"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let server = Server { process, folder: owned, port: free };
        for _ in 0..START_ATTEMPTS {
            if MysqlConnection::connect(&server.root()).is_ok() {
                return server;
            }
            thread::sleep(ATTEMPT_PAUSE);
        }
        panic!(
            "MariaDB does not answer:\n{}",
            fs::read_to_string(server.folder.0.join("log")).unwrap()
        )
    }

    /// Root over the unix socket.
    fn root(&self) -> Endpoint {
        Endpoint {
            transport: Transport::Unix(self.folder.0.join("sock").to_str().unwrap().to_owned()),
            user: "root".to_owned(),
            password: Secret::default(),
            database: String::new(),
            security: dbdyno_wire::Security::without_tls(),
        }
    }

    /// An account with a password over TCP, in the database `d`.
    fn ann(&self) -> Endpoint {
        Endpoint {
            transport: Transport::Tcp("127.0.0.1".to_owned(), self.port),
            user: "ann".to_owned(),
            password: Secret::new("sécret"),
            database: "d".to_owned(),
            security: dbdyno_wire::Security::without_tls(),
        }
    }
}

#[test]
fn mariadb_agrees() {
    let Some(program) = find_mariadbd() else {
        let required = std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some();
        assert!(!required, "mariadbd is missing: apt-get install mariadb-server-core");
        println!("mariadbd is missing; nothing was tested");
        return;
    };
    let server = Server::start(&program);
    let mut root = MysqlConnection::connect(&server.root()).unwrap();
    root.run("CREATE DATABASE d").unwrap();
    let two = root.run("CREATE DATABASE e; CREATE DATABASE f");
    assert!(two.is_err_and(|error| !error.is_fatal()), "one statement at a time");
    create_ann(&mut root);
    logins(&server, &mut root);
    session_is_latin1(&server);
    let mut ann = MysqlConnection::connect(&server.ann()).unwrap();
    values_arrive(&mut ann);
    nulls_arrive_in_every_place(&mut ann);
    rows_are_counted(&mut ann);
    changes_are_counted(&mut ann);
    errors_leave_the_connection_usable(&server, &mut ann);
    procedures_return_everything(&mut ann);
    super::types::read_back(&mut ann);
    rows_come_by_the_hundred(&mut root, &mut ann);
    bits_go_as_numbers(&mut ann);
    characters_are_those_of_sql(&mut ann);
    ends_are_noticed(&server, &mut root, ann);
}

/// The password in UTF-8, as a client sends its bytes.
fn create_ann(root: &mut MysqlConnection) {
    let once = root.query("SELECT PASSWORD(X'73C3A963726574')").unwrap();
    let hash = once.first_value().unwrap();
    root.run(&format!("CREATE USER ann@'%' IDENTIFIED BY PASSWORD '{hash}'")).unwrap();
    root.run("GRANT ALL ON d.* TO ann@'%'").unwrap();
}

fn logins(server: &Server, root: &mut MysqlConnection) {
    assert!(root.server_version().contains("MariaDB"), "{}", root.server_version());
    assert!(!root.server_version().starts_with("5.5.5"), "{}", root.server_version());
    let version = root.query("SELECT @@version, CONNECTION_ID()").unwrap().rows.remove(0);
    assert_eq!(version[0].as_deref(), Some(root.server_version()));
    assert_eq!(version[1], Some(root.connection_id().to_string()));

    let wrong = Endpoint { password: Secret::new("Secret"), ..server.ann() };
    let Err(WireError::Login(error)) = MysqlConnection::connect(&wrong) else { panic!() };
    assert_eq!((error.code, error.sqlstate.as_str()), (1045, "28000"));
    let wrong = Endpoint { database: "nowhere".to_owned(), ..server.ann() };
    let Err(WireError::Login(error)) = MysqlConnection::connect(&wrong) else { panic!() };
    assert!(matches!(error.code, 1044 | 1049), "{error}");

    root.run("SET GLOBAL max_connections=10").unwrap();
    let mut open = Vec::new();
    let error = loop {
        match MysqlConnection::connect(&server.ann()) {
            Ok(connection) => open.push(connection),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, WireError::Login(error) if error.code == 1040), "{error}");
    assert!(open.len() >= 9);
    root.run("SET GLOBAL max_connections=100").unwrap();
}

fn session_is_latin1(server: &Server) {
    let mut ann = MysqlConnection::connect(&server.ann()).unwrap();
    let rows = ann
        .query("SELECT @@character_set_client, @@character_set_results, @@collation_connection")
        .unwrap();
    let row: Vec<_> = rows.rows[0].iter().map(|value| value.as_deref().unwrap()).collect();
    assert_eq!(row, ["latin1", "latin1", "latin1_swedish_ci"]);
    assert_eq!(ann.query("SELECT HEX('€ÿ“')").unwrap().first_value(), Some("80FF93"));
    let text = ann.query("SELECT CONVERT(X'E282ACC3BFE2809C' USING utf8mb4)").unwrap();
    assert_eq!(text.first_value(), Some("€ÿ“"));
    Box::new(ann).close();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn values_arrive(ann: &mut MysqlConnection) {
    ann.run("CREATE TABLE v (n BIGINT, c LONGBLOB)").unwrap();
    let insert = ann.prepare("INSERT INTO v VALUES (?, ?)").unwrap();
    let every_byte: Vec<u8> = (0..=255).collect();
    let long = [0, 1, 250, 251, 65_535, 65_536].map(|length| vec![b'x'; length]);
    let larger_than_a_packet = vec![b'y'; 17_000_000];
    let texts = long.iter().chain([&every_byte, &larger_than_a_packet]);
    for (text, number) in texts.zip([0, -1, 1, i64::MIN, i64::MAX, 255, 256, 1 << 40]) {
        let list = vec![Param::Int(number), Param::Text(text)];
        let outcome = ann.execute(insert, &list).unwrap();
        assert_eq!(outcome, StatementCounts { rows: 0, affected: 1 });
        let rows = ann.query("SELECT n, LENGTH(c), HEX(LEFT(c, 256)) FROM v").unwrap();
        let row = &rows.rows[0];
        assert_eq!(row[0], Some(number.to_string()));
        assert_eq!(row[1], Some(text.len().to_string()));
        assert_eq!(row[2], Some(hex(&text[..text.len().min(256)])));
        assert_eq!(ann.run("DELETE FROM v").unwrap().affected, 1);
    }
    // The types of the same statement, the other way round: text for the number, number for text.
    let list = vec![Param::Text(b"-42"), Param::Int(-7)];
    ann.execute(insert, &list).unwrap();
    ann.execute(insert, &vec![Param::Int(8), Param::Null]).unwrap();
    let rows = ann.query("SELECT n, c FROM v ORDER BY n").unwrap().rows;
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(rows, [[text("-42"), text("-7")], [text("8"), None]]);
}

fn nulls_arrive_in_every_place(ann: &mut MysqlConnection) {
    let (width, marks) = (19, ["?"; 19].join(","));
    let columns: Vec<String> = (0..width).map(|column| format!("c{column} INT")).collect();
    ann.run(&format!("CREATE TABLE n ({})", columns.join(","))).unwrap();
    let insert = ann.prepare(&format!("INSERT INTO n VALUES ({marks})")).unwrap();
    for pattern in [0u32, 1, 0x7_FFFF, 0x5_5555, 0x2_AAAA, 0x180, 0x4_0000, 0] {
        let values = (0..width).map(|column| match pattern >> column & 1 {
            0 => Param::Int(column),
            _ => Param::Null,
        });
        let list: Vec<Param<'_>> = values.collect();
        assert_eq!(ann.execute(insert, &list).unwrap().affected, 1);
        let row = ann.query("SELECT * FROM n").unwrap().rows.remove(0);
        for (column, value) in row.iter().enumerate() {
            let expected = (pattern >> column & 1 == 0).then(|| column.to_string());
            assert_eq!(*value, expected, "column {column} of pattern {pattern:x}");
        }
        ann.run("DELETE FROM n").unwrap();
    }
}

fn rows_are_counted(ann: &mut MysqlConnection) {
    let text = "SELECT seq, REPEAT('x', seq % 500), NULL FROM seq_1_to_100000 WHERE seq <= ";
    let statement = ann.prepare(&format!("{text} ?")).unwrap();
    for count in [0, 1, 2, 99_999, 3, 100_000] {
        let list = vec![Param::Int(count)];
        let expected = StatementCounts { rows: count as u64, affected: 0 };
        assert_eq!(ann.execute(statement, &list).unwrap(), expected);
        assert_eq!(ann.run(&format!("{text} {count}")).unwrap(), expected);
    }
    let long = "SELECT REPEAT('x', 17000000) UNION ALL SELECT 'y'";
    let statement = ann.prepare(long).unwrap();
    assert_eq!(ann.execute(statement, &vec![]).unwrap().rows, 2);
    assert_eq!(ann.run(long).unwrap().rows, 2);
    assert_eq!(ann.query(long).unwrap().first_value().unwrap().len(), 17_000_000);
    // A list of ids of which some are not there: rows, not parameters, are counted.
    let statement = ann.prepare("SELECT seq FROM seq_1_to_10 WHERE seq IN (?,?,?)").unwrap();
    let list = [9, 10, 11].map(Param::Int).to_vec();
    assert_eq!(ann.execute(statement, &list).unwrap().rows, 2);
}

fn changes_are_counted(ann: &mut MysqlConnection) {
    ann.run("CREATE TABLE k (id INT PRIMARY KEY, k INT, c CHAR(9)) ENGINE=InnoDB").unwrap();
    let filled = ann.run("INSERT INTO k SELECT seq, 0, 'x' FROM seq_1_to_70000").unwrap();
    assert_eq!(filled.affected, 70_000);
    let update = ann.prepare("UPDATE k SET k=? WHERE id BETWEEN 1 AND ?").unwrap();
    for (value, last, expected) in [(1, 70_000, 70_000), (1, 70_000, 0), (2, 300, 300)] {
        let list = vec![Param::Int(value), Param::Int(last)];
        assert_eq!(ann.execute(update, &list).unwrap().affected, expected);
    }
    ann.run("BEGIN").unwrap();
    assert_eq!(ann.run("DELETE FROM k WHERE id > 60000").unwrap().affected, 10_000);
    ann.run("ROLLBACK").unwrap();
    assert_eq!(ann.query("SELECT COUNT(*) FROM k").unwrap().first_value(), Some("70000"));
}

fn errors_leave_the_connection_usable(server: &Server, ann: &mut MysqlConnection) {
    let refused = |result: Result<StatementCounts, WireError>| match result {
        Err(WireError::Server(error)) => (error.code, error.sqlstate),
        other => panic!("{other:?}"),
    };
    let state = |code, state: &str| (code, state.to_owned());
    assert_eq!(refused(ann.run("SELEC 1")), state(1064, "42000"));
    let insert = ann.prepare("INSERT INTO k VALUES (?, 0, '')").unwrap();
    let duplicate = ann.execute(insert, &vec![Param::Int(1)]);
    assert_eq!(refused(duplicate), state(1062, "23000"));
    assert!(matches!(ann.prepare("SELECT FROM"), Err(WireError::Server(_))));
    // An error after thousands of rows: the subquery has two rows for this one.
    let late = "SELECT seq, (SELECT 1 FROM seq_1_to_2 b WHERE a.seq = 50000 OR b.seq = 1) \
                FROM seq_1_to_100000 a";
    assert_eq!(refused(ann.run(late)), state(1242, "21000"));
    let statement = ann.prepare(late).unwrap();
    assert_eq!(refused(ann.execute(statement, &vec![])), state(1242, "21000"));

    let mut other = MysqlConnection::connect(&server.ann()).unwrap();
    other.run("BEGIN").unwrap();
    other.run("UPDATE k SET k=9 WHERE id=1").unwrap();
    let waiting = ann.run("SELECT * FROM k WHERE id=1 FOR UPDATE NOWAIT").unwrap_err();
    assert!(waiting.is_retryable(), "{waiting}");
    other.run("ROLLBACK").unwrap();
    assert_eq!(ann.query("SELECT 7").unwrap().first_value(), Some("7"));
}

fn procedures_return_everything(ann: &mut MysqlConnection) {
    ann.run(
        "CREATE PROCEDURE p() BEGIN SELECT seq FROM seq_1_to_3; SELECT 1, 2 FROM seq_1_to_4; END",
    )
    .unwrap();
    assert_eq!(ann.run("CALL p()").unwrap().rows, 7);
    let call = ann.prepare("CALL p()").unwrap();
    assert_eq!(ann.execute(call, &vec![]).unwrap().rows, 7);
    assert_eq!(ann.query("CALL p()").unwrap().rows.len(), 4, "the last result");
}

fn rows_come_by_the_hundred(root: &mut MysqlConnection, ann: &mut MysqlConnection) {
    ann.run("CREATE TABLE f (id INT PRIMARY KEY AUTO_INCREMENT, c VARCHAR(200), d DATE)").unwrap();
    let columns = ["id", "c", "d"].map(str::to_owned);
    let target = BulkTarget { table: "f", columns: &columns, numbers: &[] };
    let fill = |ann: &mut MysqlConnection, from: usize, to: usize| {
        let mut next = from;
        ann.bulk_load(&target, &mut |buffer: &mut Vec<u8>| {
            for _ in 0..1000 {
                next += 1;
                let (text, date) = ("z".repeat(next % 200), ["\\N", "2026-11-21"][next % 2]);
                buffer.extend_from_slice(format!("{next}\t{text}\t{date}\n").as_bytes());
            }
            next < to
        })
    };
    assert_eq!(fill(ann, 0, 50_000).unwrap(), 50_000);
    let sums = ann.query("SELECT COUNT(*), SUM(id), SUM(LENGTH(c)), COUNT(d) FROM f").unwrap();
    let expected = [50_000, 50_000 * 50_001 / 2, 250 * (199 * 200 / 2), 25_000];
    assert_eq!(sums.rows[0], expected.map(|number: u64| Some(number.to_string())));

    // A row that is there already takes all of its part away again.
    let refused = fill(ann, 49_999, 52_000);
    assert!(matches!(&refused, Err(WireError::Server(error)) if error.code == 1062), "{refused:?}");
    assert_eq!(ann.query("SELECT COUNT(*) FROM f").unwrap().first_value(), Some("50000"));
    let left = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
                WHERE VARIABLE_NAME='Prepared_stmt_count'";
    let before: u64 = root.query(left).unwrap().first_value().unwrap().parse().unwrap();
    assert_eq!(fill(ann, 50_000, 60_300).unwrap(), 11_000);
    let after: u64 = root.query(left).unwrap().first_value().unwrap().parse().unwrap();
    assert_eq!(before, after, "the server forgets the statements");

    // The client holds no files, and has said so.
    let refused = ann.run("LOAD DATA LOCAL INFILE 'rows' INTO TABLE f");
    assert!(matches!(refused, Err(WireError::Server(_))), "{refused:?}");
    assert_eq!(ann.query("SELECT 7").unwrap().first_value(), Some("7"));
}

/// Characters would go into a column of bits as the bytes that they are.
fn bits_go_as_numbers(ann: &mut MysqlConnection) {
    ann.run("SET SESSION sql_mode = 'STRICT_ALL_TABLES'").unwrap();
    ann.run("CREATE TABLE bits (id INT PRIMARY KEY, small BIT(5), wide BIT(64))").unwrap();
    let columns = ["id", "small", "wide"].map(str::to_owned);
    let wide = "1".repeat(64);
    let rows = format!("1\t00101\t{wide}\n2\t\\N\t0\n3\t11111\t10\n");
    let target = BulkTarget { table: "bits", columns: &columns, numbers: &[(1, 2), (2, 2)] };
    let mut fill = |target: &BulkTarget<'_>, rows: &str| {
        ann.bulk_load(target, &mut |buffer: &mut Vec<u8>| {
            buffer.extend_from_slice(rows.as_bytes());
            false
        })
    };
    assert_eq!(fill(&target, &rows).unwrap(), 3);
    let decimal = BulkTarget { numbers: &[(1, 10)], ..target };
    assert_eq!(fill(&decimal, "4\t31\t\\N\n").unwrap(), 1);
    let refused = fill(&decimal, "5\t32\t\\N\n");
    assert!(matches!(&refused, Err(WireError::Server(error)) if error.code == 1406), "{refused:?}");
    let refused = fill(&decimal, "5\tabc\t\\N\n");
    assert!(matches!(&refused, Err(WireError::Server(error)) if error.code == 1406), "{refused:?}");
    let found = ann.query("SELECT bin(small + 0), wide + 0 FROM bits ORDER BY id").unwrap();
    let expected =
        [["101", "18446744073709551615"], ["NULL", "0"], ["11111", "2"], ["11111", "NULL"]];
    let expected =
        expected.map(|row| row.map(|value| (value != "NULL").then(|| value.to_owned())).to_vec());
    assert_eq!(found.rows, expected);

    let sql = "SELECT id, small, wide FROM bits WHERE small = ?";
    let select = ann.prepare(sql).unwrap();
    let mut rows = RowBuffer::new();
    assert_eq!(ann.fetch(select, &vec![Param::Int(5)], &mut rows).unwrap().rows, 1);
    assert_eq!((rows.text_at(0, 1), rows.text_at(0, 2)), (Some(&b"\x05"[..]), Some(&[255; 8][..])));
    assert_eq!(ann.execute(select, &vec![Param::Int(31)]).unwrap().rows, 2);
    assert_eq!(ann.run(&sql.replace('?', "5")).unwrap().rows, 1);
}

/// A text is the same whether it comes within SQL, as a parameter or in bulk.
fn characters_are_those_of_sql(ann: &mut MysqlConnection) {
    const TEXT: &str = "größer – 5 €";
    ann.run("CREATE TABLE named (id INT, c VARCHAR(12) CHARACTER SET utf8mb4)").unwrap();
    ann.run(&format!("INSERT INTO named VALUES (1, '{TEXT}')")).unwrap();
    let insert = ann.prepare("INSERT INTO named VALUES (?, ?)").unwrap();
    ann.execute(insert, &vec![Param::Int(2), Param::Text(TEXT.as_bytes())]).unwrap();
    let columns = ["id", "c"].map(str::to_owned);
    let target = BulkTarget { table: "named", columns: &columns, numbers: &[] };
    let taken = ann.bulk_load(&target, &mut |buffer: &mut Vec<u8>| {
        buffer.extend_from_slice(format!("3\t{TEXT}\n").as_bytes());
        false
    });
    assert_eq!(taken.unwrap(), 1);
    let hex: String = TEXT.bytes().map(|byte| format!("{byte:02X}")).collect();
    let found = ann.query(&format!("SELECT id FROM named WHERE HEX(c) = '{hex}'")).unwrap();
    assert_eq!(found.rows.len(), 3, "{found:?}");
}

fn ends_are_noticed(server: &Server, root: &mut MysqlConnection, broken: MysqlConnection) {
    drop(broken);
    let mut ann = MysqlConnection::connect(&server.ann()).unwrap();
    root.run(&format!("KILL {}", ann.connection_id())).unwrap();
    let error = ann.run("SELECT 1").unwrap_err();
    assert!(error.is_fatal(), "{error}");
    assert!(ann.run("SELECT 1").is_err());

    let ann = MysqlConnection::connect(&server.ann()).unwrap();
    let id = ann.connection_id();
    Box::new(ann).close();
    // The server has let go of the connection, and takes its thread off the list in its own time.
    let list = format!("SELECT ID FROM information_schema.PROCESSLIST WHERE ID={id}");
    let is_gone = (0..10_000).any(|_| root.query(&list).unwrap().rows.is_empty());
    assert!(is_gone, "it stays on the list");
}
