//! An initialised, empty data directory for each release, made once and copied for each start.
//!
//! ```text
//!   templates/TREE-tN/    TREE is a name in servers/; behind it what it is made with: -LATIN1
//!     password    of the account in it; random, readable by dbdyno only
//!     s/data      the data directory, owned by the account under which servers run
//! ```
//!
//! Three ways lead there. PostgreSQL has `initdb`. MariaDB, and MySQL before 5.7, read the SQL that
//! makes the system tables while *bootstrapping*. MySQL from 5.7 on initialises itself, and is then
//! started once, on its socket only, to be told of our account.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use dbdyno_host::{EndSignal, Launch, RunningProgram};

use dbdyno_model::{Dialect, Product, Secret, Transport};
use dbdyno_wire::{Client, Endpoint};

use crate::bootstrap;
use crate::catalog::at_least;
use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::foreign_files::{give_text, private_dir};
use crate::home::{Home, make_passage, write_private};
use crate::making::Making;
use crate::release::Release;
use crate::relocate::flush;
use crate::space;

/// Room for initialising a data directory, in MB.
const INIT_MB: u64 = 200;
/// Seconds that initialising may take; 1 to 7 are usual.
const INIT_WITHIN_S: u64 = 300;
/// Counts up when what a template holds changes, so that older ones are not used.
pub(crate) const FORMAT: u32 = 4;

/// A data directory to copy, and how to log in to it.
pub(crate) struct Template {
    pub(crate) data: PathBuf,
    pub(crate) password: Secret,
}

impl Template {
    /// Finds the template of `release` that is made so, or makes it.
    pub(crate) fn find_or_make(
        home: &Home,
        release: &Release,
        making: &Making,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Template, SandboxError> {
        home.check_traversable()?;
        let name = format!("{}-t{FORMAT}{}", release.name(), making.name_suffix());
        let dir = home.dir().join("templates").join(name);
        if !dir.is_dir() {
            let _lock = home.lock(progress)?;
            home.remove_unfinished("templates");
            if !dir.is_dir() {
                make(home, release, making, &dir, progress)?;
            }
        }
        let path = dir.join("password");
        let password = fs::read_to_string(&path).map_err(SandboxError::io("read", &path))?;
        Ok(Template { data: dir.join("s/data"), password: Secret::new(password.trim()) })
    }
}

fn make(
    home: &Home,
    release: &Release,
    making: &Making,
    dir: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<(), SandboxError> {
    let what = format!("{} {}", release.product.name(), release.version);
    space::require_free_space(&format!("initialising {what}"), home.dir(), INIT_MB)?;
    progress(&format!("initialising a data directory of {what}"));
    let fresh = home.dir().join("templates").join(format!(".tmp-{}", std::process::id()));
    let made = fill(release, making, &fresh).and_then(|()| {
        flush(&fresh)?;
        fs::rename(&fresh, dir).map_err(SandboxError::io("rename", &fresh))
    });
    if made.is_err() {
        home.remove_unfinished("templates");
    }
    made
}

fn fill(release: &Release, making: &Making, fresh: &Path) -> Result<(), SandboxError> {
    make_passage(fresh)?;
    let work = fresh.join("s");
    private_dir(&work).map_err(SandboxError::io("create", &work))?;
    let password = bootstrap::random_password()?;
    write_private(&fresh.join("password"), &password)?;
    if release.product.dialect() == Dialect::Postgres {
        return fill_postgres(release, making, fresh, &work, &password);
    }
    for dir in ["data", "tmp"] {
        let dir = work.join(dir);
        private_dir(&dir).map_err(SandboxError::io("create", &dir))?;
    }
    if bootstrap::initialises_itself(release.product, &release.version) {
        fill_by_itself(release, making, fresh, &work, &password)
    } else {
        fill_by_bootstrap(release, making, fresh, &work, &password)
    }
}

/// The redo log is made small: at the first start it gets its size.
const SMALL_REDO: [&str; 2] =
    ["--loose-innodb-log-file-size=8M", "--loose-innodb-redo-log-capacity=16M"];

fn fill_by_bootstrap(
    release: &Release,
    making: &Making,
    fresh: &Path,
    work: &Path,
    password: &str,
) -> Result<(), SandboxError> {
    let tables = work.join("data/mysql");
    private_dir(&tables).map_err(SandboxError::io("create", &tables))?;
    let sql = bootstrap::bootstrap_sql(release, password)?;
    let options = making.of_mysqld();
    let options = SMALL_REDO.into_iter().chain(options.iter().map(String::as_str));
    execute(release, fresh, work, &sql, &options.collect::<Vec<_>>())?;
    drop_fixed_redo(release, &work.join("data"))
}

/// Makes those system tables in the data directory of an older release that this one has and that
/// did not. `dir` is that of the server, which is down.
pub(crate) fn add_system_tables(
    release: &Release,
    dir: &Path,
    settings: &[String],
) -> Result<(), SandboxError> {
    let sql = bootstrap::upgrade_sql(release)?;
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    execute(release, dir, &dir.join("s"), &sql, &settings)
}

/// Lets the server read SQL without anybody to log in.
fn execute(
    release: &Release,
    dir: &Path,
    work: &Path,
    sql: &str,
    settings: &[&str],
) -> Result<(), SandboxError> {
    let script = dir.join("bootstrap.sql");
    write_private(&script, sql)?;
    let mut command = mysqld_command(release, work);
    command.arg("--bootstrap").args(settings).arg("--max-allowed-packet=8M");
    if !bootstrap::initialises_itself(release.product, &release.version) {
        command.arg("--skip-ssl");
    }
    let done = complete(command, release, dir, Some(&script));
    fs::remove_file(&script).map_err(SandboxError::io("remove", &script))?;
    done
}

/// Before 5.6.8 MySQL refuses a redo log of another size, and makes one where there is none: takes
/// away that of a server that was shut down.
pub(crate) fn drop_fixed_redo(release: &Release, data: &Path) -> Result<(), SandboxError> {
    if release.product == Product::MySql && !at_least(&release.version, "5.6.8") {
        for number in 0..2 {
            let log = data.join(format!("ib_logfile{number}"));
            fs::remove_file(&log).map_err(SandboxError::io("remove", &log))?;
        }
    }
    Ok(())
}

/// Settings, beside its own, of an InnoDB server that is started only to be shut down with nothing
/// left to do.
pub(crate) fn at_rest(product: Product, version: &str) -> Vec<(String, String)> {
    let mut settings = vec![
        ("innodb_fast_shutdown", "0"),
        // Not there before MySQL 5.6 and MariaDB 10.0.
        ("loose_innodb_buffer_pool_dump_at_shutdown", "OFF"),
    ];
    if product != Product::MySql || at_least(version, "5.6.8") {
        settings.push(("loose_innodb_log_file_size", "8M"));
        settings.push(("loose_innodb_redo_log_capacity", "16M"));
    }
    settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn fill_by_itself(
    release: &Release,
    making: &Making,
    fresh: &Path,
    work: &Path,
    password: &str,
) -> Result<(), SandboxError> {
    let mut command = mysqld_command(release, work);
    command.arg("--initialize-insecure").args(SMALL_REDO).args(making.of_mysqld());
    complete(command, release, fresh, None)?;
    let mut command = mysqld_command(release, work);
    let socket = work.join("mysql.sock");
    command.args(SMALL_REDO).args(making.of_mysqld());
    command.args(["--skip-networking", "--skip-log-bin", "--loose-mysqlx=OFF"]);
    command.arg(format!("--socket={}", socket.display()));
    command.arg(format!("--pid-file={}", work.join("pid").display()));
    redirect(&mut command, fresh, None)?;
    let program = release.server().display().to_string();
    let mut server = child::start(command).map_err(SandboxError::spawn(&program))?;
    let told = tell(&socket, password, &mut || matches!(server.try_wait(), Ok(None)));
    let ended = end(&mut *server);
    match (told, ended) {
        (Ok(()), Ok(true)) => Ok(()),
        (Ok(()), _) => Err(failed(release, fresh, "it did not shut down")),
        (Err(error), _) => Err(failed(release, fresh, &error)),
    }
}

/// Logs in as root as soon as that is possible and makes our account and database.
fn tell(socket: &Path, password: &str, lives: &mut dyn FnMut() -> bool) -> Result<(), String> {
    let root = Endpoint {
        transport: Transport::Unix(socket.display().to_string()),
        user: "root".to_owned(),
        password: Secret::default(),
        database: String::new(),
        security: dbdyno_wire::Security::without_tls(),
    };
    let deadline = Deadline::after_seconds(INIT_WITHIN_S);
    let mut client = loop {
        match dbdyno_wire::mysql::MysqlConnection::connect(&root) {
            Ok(client) => break Box::new(client),
            Err(error) if !lives() || !deadline.pause() => return Err(error.to_string()),
            Err(_) => {}
        }
    };
    for sql in bootstrap::mysql_sql(password) {
        // Not the statement, which has the password in it.
        client.run(&sql).map_err(|error| format!("making our account: {error}"))?;
    }
    client.close();
    Ok(())
}

/// Shuts a server down; whether it did so in time and cleanly.
fn end(server: &mut dyn RunningProgram) -> io::Result<bool> {
    server.send_signal(EndSignal::Terminate)?;
    let deadline = Deadline::after_seconds(INIT_WITHIN_S);
    while deadline.pause() {
        if let Some(status) = server.try_wait()? {
            return Ok(status.success());
        }
    }
    server.kill()?;
    server.wait()?;
    Ok(false)
}

/// `mysqld` or `mariadbd` with every path that differs from the compiled-in ones.
pub(crate) fn mysqld_command(release: &Release, work: &Path) -> Launch {
    let layout = &release.layout;
    let path = |name: &str, path: PathBuf| format!("--{name}={}", path.display());
    let mut command = release.command_for(&release.server(), work);
    command.arg("--no-defaults");
    command.arg(path("basedir", release.dir.join(&layout.base)));
    if let Some(plugins) = &layout.plugins {
        command.arg(path("plugin-dir", release.dir.join(plugins)));
    }
    if let Some(share) = &layout.share {
        let share = release.dir.join(share);
        command.arg(path("lc-messages-dir", share.clone()));
        command.arg(path("character-sets-dir", share.join("charsets")));
    }
    command.arg(path("datadir", work.join("data")));
    command.arg(path("tmpdir", work.join("tmp")));
    if release.product == Product::MySql && at_least(&release.version, "5.7") {
        // Some builds end if the directory that is compiled in does not exist.
        command.arg("--secure-file-priv=");
    }
    command
}

fn fill_postgres(
    release: &Release,
    making: &Making,
    fresh: &Path,
    work: &Path,
    password: &str,
) -> Result<(), SandboxError> {
    let secret = work.join("password");
    give_text(&secret, password)?;
    let data = work.join("data");
    let mut initdb = release.command_for(&release.program_path("initdb"), work);
    // To a random password SCRAM's thousands of hashes add nothing but CPU time at each login.
    initdb.arg("-D").arg(&data).args(["-U", bootstrap::USER, "-A", "md5"]);
    initdb.arg("--pwfile").arg(&secret).args(making.of_initdb(&release.version)?);
    initdb.arg(if at_least(&release.version, "10") { "--no-sync" } else { "--nosync" });
    complete(initdb, release, fresh, None)?;
    fs::remove_file(&secret).map_err(SandboxError::io("remove", &secret))?;

    let script = fresh.join("bootstrap.sql");
    write_private(&script, &bootstrap::postgres_sql())?;
    let mut single = release.command_for(&release.server(), work);
    single.args(["--single", "-D"]).arg(&data);
    single.args(["-c", "timezone=GMT", "-c", "log_timezone=GMT", "postgres"]);
    complete(single, release, fresh, Some(&script))?;
    fs::remove_file(&script).map_err(SandboxError::io("remove", &script))
}

/// Runs one step to its end; its failure comes with the end of what it wrote.
fn complete(
    mut command: Launch,
    release: &Release,
    fresh: &Path,
    input: Option<&Path>,
) -> Result<(), SandboxError> {
    redirect(&mut command, fresh, input)?;
    let program = command.program().to_string_lossy().into_owned();
    let status =
        child::run_within(command, INIT_WITHIN_S).map_err(SandboxError::spawn(&program))?;
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(failed(release, fresh, &status.to_string())),
        None => Err(failed(release, fresh, &format!("no end within {INIT_WITHIN_S} s"))),
    }
}

/// Sends what a step says to the log of `fresh`, and reads its input from a file.
fn redirect(command: &mut Launch, fresh: &Path, input: Option<&Path>) -> Result<(), SandboxError> {
    let log = fresh.join("log");
    let mut redirect = || -> io::Result<()> {
        command.stdout(open_private(&log)?).stderr(open_private(&log)?);
        if let Some(input) = input {
            command.stdin(File::open(input)?);
        }
        Ok(())
    };
    redirect().map_err(SandboxError::io("open", &log))
}

fn open_private(path: &Path) -> Result<std::fs::File, std::io::Error> {
    File::options().create(true).append(true).mode(0o600).open(path)
}

fn failed(release: &Release, fresh: &Path, how: &str) -> SandboxError {
    let (name, version) = (release.product.name(), &release.version);
    let what = format!("making the system tables of {name} {version} failed: {how}");
    SandboxError::StartFailed { what, log: child::last_lines(&fresh.join("log"), 12) }
}
