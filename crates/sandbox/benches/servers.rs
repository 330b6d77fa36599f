//! Every release of the catalogue: got, initialised, started with each preset, asked, stopped.
//! Writes `docs/SERVERS.md`.
//!
//! ```text
//!   cargo xtask servers                      all: gigabytes to download, half an hour
//!   cargo xtask servers mysql:5.6 postgres   those whose target begins so; other rows stay
//! ```
//!
//! A release that was not here before is removed again, so that the disk holds one at a time.
//! Times are of one attempt on a machine that may be busy: they tell seconds from minutes.

#![expect(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program of its own, which says what it does and times it"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use dbdyno_model::{Dialect, Preset, Product, Setting};
use dbdyno_sandbox::{
    Home, LaunchOptions, Offer, Release, SandboxError, Server, Symbols, all_offers, get,
    installed_releases, remove,
};
use dbdyno_wire::{Client, Endpoint, WireError};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SERVERS.md");

const HEAD: &str = "# Servers

Every release that `dbdyno server ls` offers, as `cargo xtask servers` found it.
For a series the newest patch release was taken; older ones are named by their full version.
*init* makes the empty data directory, once for each release; *start* is until the first login.
Seconds are of one attempt on a small, busy machine.
*symbols*: `full` has lines and types, `names` all functions, `none` only what is exported.

What no source has in a package: MySQL 8.4 and 9.0 to 9.6, Percona Server, MariaDB 10.3, 10.4 and 10.6.
The maker's archive will do: `dbdyno server get mysql:8.4 --from ARCHIVE`, for Percona Server too, which counts as the MySQL that it is made from.
A second suite has `mariadb:11.8.9`, by its full version only.
Packages of Maven, npm and PyPI are not the makers' own: [who made them](guide/servers.md#who-made-the-packages).

| target | release | source | package | to download | on disk | get | init | start | stop | symbols |
|---|---|---|---|---|---|---|---|---|---|---|
";

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let home = Home::open(None).expect("the home opens");
    home.remove_leftovers(&mut |_| {});
    let mut rows = known_rows();
    let all: Vec<Offer> = all_offers();
    rows.retain(|target, _| all.iter().any(|offer| target_of(offer) == *target));
    let mut last = String::new();
    for offer in &all {
        let target = target_of(offer);
        if std::mem::replace(&mut last, target.clone()) == target {
            // The same series in a second suite, which only a full version reaches.
            continue;
        }
        let asked = |word: &String| target.starts_with(word.as_str());
        if wanted.is_empty() || wanted.iter().any(asked) {
            eprintln!("{target}");
            rows.insert(target, row(&home, offer));
            write(&all, &rows);
        }
    }
}

fn target_of(offer: &Offer) -> String {
    format!("{}:{}@{}", offer.product.name(), offer.version, offer.source.name())
}

/// The rows of the present file, by their target.
fn known_rows() -> BTreeMap<String, String> {
    let text = fs::read_to_string(FILE).unwrap_or_default();
    let row = |line: &str| {
        let target = line.strip_prefix("| `")?.split('`').next()?;
        Some((target.to_owned(), line.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

fn write(all: &[Offer], rows: &BTreeMap<String, String>) {
    let mut text = HEAD.to_owned();
    let mut targets: Vec<String> = all.iter().map(target_of).collect();
    targets.dedup();
    for row in targets.iter().filter_map(|target| rows.get(target)) {
        text.push_str(row);
        text.push('\n');
    }
    fs::write(Path::new(FILE), text).expect("the table is written");
}

fn row(home: &Home, offer: &Offer) -> String {
    let Offer { product, version, source, package, download_mb, .. } = offer;
    let head = format!("| `{}` |", target_of(offer));
    let tail = format!("{} | `{package}` | {download_mb} MB |", source.name());
    let asked = format!("{version}@{}", source.name());
    match measure(home, *product, &asked) {
        Ok(seen) => {
            let Seen { release, disk_mb, symbols, seconds: [get, init, start, stop] } = seen;
            format!(
                "{head} {release} | {tail} {disk_mb} MB | {get:.0} s | {init:.1} s | {start:.2} s \
                 | {stop:.2} s | {symbols} |"
            )
        }
        Err(error) => {
            eprintln!("  {error}");
            let first = error.lines().next().unwrap_or_default().replace('|', "/");
            format!("{head} – | {tail} – | – | – | – | – | {first} |")
        }
    }
}

struct Seen {
    release: String,
    disk_mb: u64,
    symbols: &'static str,
    /// To get it, to initialise a data directory, to start and to stop.
    seconds: [f64; 4],
}

fn measure(home: &Home, product: Product, asked: &str) -> Result<Seen, String> {
    let failed = |error: SandboxError| error.to_string();
    let before: Vec<String> = installed_releases(home).iter().map(Release::name).collect();
    let mut say = |text: &str| eprintln!("  {text}");
    let (release, get_s) = timed(|| get(home, product, asked, &mut say));
    let release = release.map_err(failed)?;
    let seen = lifetimes(home, &release).map(|[init, start, stop]| Seen {
        release: release.version.clone(),
        disk_mb: release.disk_mb().unwrap_or(0),
        symbols: release.read_symbols().map_or("unknown", Symbols::name),
        seconds: [get_s, init, start, stop],
    });
    if !before.contains(&release.name()) {
        remove(home, &release, &mut |_| {}).map_err(failed)?;
    }
    seen
}

/// Starts it twice: the first time includes the initialising. Then once with each other preset,
/// which has to be accepted but is not timed.
fn lifetimes(home: &Home, release: &Release) -> Result<[f64; 3], String> {
    let failed = |error: SandboxError| error.to_string();
    let small = || LaunchOptions { buffer_mb: 128, redo_mb: 64, ..LaunchOptions::for_host(2_048) };
    let (first_s, _) = life(home, release, &small()).map_err(failed)?;
    let (start_s, stop_s) = life(home, release, &small()).map_err(failed)?;
    for preset in [Preset::Default, Preset::Callaghan].map(Setting::Preset) {
        eprintln!("  with {preset}");
        life(home, release, &small().with_settings(&[preset, Setting::Redo(64)]))
            .map_err(failed)?;
    }
    Ok([(first_s - start_s).max(0.0), start_s, stop_s])
}

fn life(
    home: &Home,
    release: &Release,
    options: &LaunchOptions,
) -> Result<(f64, f64), SandboxError> {
    let (server, start_s) = timed(|| Server::start(home, release, options, "life", &mut |_| {}));
    let server = server?;
    for endpoint in [server.endpoint(), server.socket_endpoint()] {
        let answer = ask(release.product, &endpoint).unwrap_or_else(|error| error.to_string());
        assert_eq!(answer, "2", "{} does not answer", release.name());
    }
    let (stopped, stop_s) = timed(|| server.stop());
    stopped.map(|()| (start_s, stop_s))
}

fn ask(product: Product, endpoint: &Endpoint) -> Result<String, WireError> {
    let mut client: Box<dyn Client> = match product.dialect() {
        Dialect::Postgres => {
            Box::new(dbdyno_wire::postgres::PostgresConnection::connect(endpoint)?)
        }
        _ => Box::new(dbdyno_wire::mysql::MysqlConnection::connect(endpoint)?),
    };
    client.run("DROP TABLE IF EXISTS t")?;
    client.run("CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(20))")?;
    client.run("INSERT INTO t VALUES (1,'x'),(2,'y')")?;
    let rows = client.query("SELECT COUNT(*) FROM t")?;
    client.close();
    Ok(rows.first_value().unwrap_or("NULL").to_owned())
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let done = act();
    (done, begun.elapsed().as_secs_f64())
}
