//! An initialised, empty data directory for each release, made once and copied for each start.
//!
//! ```text
//!   templates/PRODUCT-VERSION-tN/
//!     password    of the account in it; random, readable by dbdyno only
//!     s/data      the data directory, owned by the account under which servers run
//! ```

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use dbdyno_model::{Product, Secret};

use crate::bootstrap;
use crate::child;
use crate::error::SandboxError;
use crate::home::{Home, write_private};
use crate::release::Release;
use crate::relocate::flush;
use crate::space;

/// Room for initialising a data directory, in MB.
const INIT_MB: u64 = 200;
/// Seconds that initialising may take; 1 to 7 are usual.
const INIT_WITHIN_S: u64 = 300;
/// Counts up when what a template holds changes, so that older ones are not used.
const FORMAT: u32 = 2;

/// A data directory to copy, and how to log in to it.
pub(crate) struct Template {
    pub(crate) data: PathBuf,
    pub(crate) password: Secret,
}

impl Template {
    /// Finds the template of `release`, or makes it.
    pub(crate) fn of(
        home: &Home,
        release: &Release,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Template, SandboxError> {
        let name = format!("{}-{}-t{FORMAT}", release.product.name(), release.version);
        let dir = home.dir().join("templates").join(name);
        if !dir.is_dir() {
            let _lock = home.lock(progress)?;
            home.remove_unfinished("templates");
            if !dir.is_dir() {
                make(home, release, &dir, progress)?;
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
    dir: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<(), SandboxError> {
    let what = format!("{} {}", release.product.name(), release.version);
    space::require(&format!("initialising {what}"), home.dir(), INIT_MB)?;
    progress(&format!("initialising a data directory of {what}"));
    let fresh = home.dir().join("templates").join(format!(".tmp-{}", std::process::id()));
    let made = fill(release, &fresh).and_then(|()| {
        flush(&fresh)?;
        fs::rename(&fresh, dir).map_err(SandboxError::io("rename", &fresh))
    });
    if made.is_err() {
        let _ = fs::remove_dir_all(&fresh);
    }
    made
}

fn fill(release: &Release, fresh: &Path) -> Result<(), SandboxError> {
    fs::create_dir(fresh).map_err(SandboxError::io("create", fresh))?;
    crate::home::set_mode(fresh, 0o755)?;
    let work = fresh.join("s");
    child::private_dir(&work).map_err(SandboxError::io("create", &work))?;
    let password = bootstrap::random_password()?;
    write_private(&fresh.join("password"), &password)?;
    match release.product {
        Product::MariaDb => fill_mariadb(release, fresh, &work, &password),
        Product::Postgres => fill_postgres(release, fresh, &work, &password),
    }
}

/// The redo log is made small: at the first start it gets its size.
fn fill_mariadb(
    release: &Release,
    fresh: &Path,
    work: &Path,
    password: &str,
) -> Result<(), SandboxError> {
    for dir in ["data", "data/mysql", "tmp"] {
        let dir = work.join(dir);
        child::private_dir(&dir).map_err(SandboxError::io("create", &dir))?;
    }
    let script = fresh.join("bootstrap.sql");
    write_private(&script, &bootstrap::mariadb_sql(&release.dir, password)?)?;
    let mut command = mariadbd(release, work);
    command.args(["--bootstrap", "--innodb-log-file-size=8M", "--max-allowed-packet=8M"]);
    command.arg("--skip-ssl");
    let initialised = complete(command, release, fresh, Some(&script));
    fs::remove_file(&script).map_err(SandboxError::io("remove", &script))?;
    initialised
}

/// `mariadbd` with every path that differs from the compiled-in ones.
pub(crate) fn mariadbd(release: &Release, work: &Path) -> Command {
    let share = bootstrap::mariadb_share(&release.dir);
    let path = |name: &str, path: PathBuf| format!("--{name}={}", path.display());
    let mut command = child::server_command(&release.server(), work);
    command.arg("--no-defaults");
    command.arg(path("basedir", release.dir.join("usr")));
    command.arg(path("plugin-dir", release.dir.join("usr/lib/mysql/plugin")));
    command.arg(path("lc-messages-dir", share.clone()));
    command.arg(path("character-sets-dir", share.join("charsets")));
    command.arg(path("datadir", work.join("data")));
    command.arg(path("tmpdir", work.join("tmp")));
    command
}

fn fill_postgres(
    release: &Release,
    fresh: &Path,
    work: &Path,
    password: &str,
) -> Result<(), SandboxError> {
    let secret = work.join("password");
    write_private(&secret, password)?;
    child::give_to_server(&secret).map_err(SandboxError::io("chown", &secret))?;
    let data = work.join("data");
    let mut initdb = child::server_command(&release.program("initdb"), work);
    // To a random password SCRAM's thousands of hashes add nothing but CPU time at each login.
    initdb.arg("-D").arg(&data).args(["-U", bootstrap::USER, "-A", "md5"]);
    initdb.arg("--pwfile").arg(&secret).args(["--locale=C", "-E", "UTF8", "--no-sync"]);
    complete(initdb, release, fresh, None)?;
    fs::remove_file(&secret).map_err(SandboxError::io("remove", &secret))?;

    let script = fresh.join("bootstrap.sql");
    write_private(&script, &bootstrap::postgres_sql())?;
    let mut single = child::server_command(&release.server(), work);
    single.args(["--single", "-D"]).arg(&data);
    single.args(["-c", "timezone=GMT", "-c", "log_timezone=GMT", "postgres"]);
    complete(single, release, fresh, Some(&script))?;
    fs::remove_file(&script).map_err(SandboxError::io("remove", &script))
}

/// Runs one step to its end; its failure comes with the end of what it wrote.
fn complete(
    mut command: Command,
    release: &Release,
    fresh: &Path,
    input: Option<&Path>,
) -> Result<(), SandboxError> {
    let log = fresh.join("log");
    let open = |path: &Path| File::options().create(true).append(true).open(path);
    let mut redirect = || -> io::Result<()> {
        command.stdout(open(&log)?).stderr(open(&log)?);
        if let Some(input) = input {
            command.stdin(File::open(input)?);
        }
        Ok(())
    };
    redirect().map_err(SandboxError::io("open", &log))?;
    let program = command.get_program().to_string_lossy().into_owned();
    let status =
        child::run_within(command, INIT_WITHIN_S).map_err(SandboxError::spawn(&program))?;
    let how = match status {
        Some(status) if status.success() => return Ok(()),
        Some(status) => status.to_string(),
        None => format!("no end within {INIT_WITHIN_S} s"),
    };
    let (name, version) = (release.product.name(), &release.version);
    let what = format!("initialising a data directory of {name} {version} failed: {how}");
    Err(SandboxError::StartFailed { what, log: child::last_lines(&log, 12) })
}
