//! What a URL leaves out of a login: the password, and what service files, the environment and
//! login paths say of account and host.
//!
//! ```text
//!                 MySQL, MariaDB                          PostgreSQL
//!   first         the URL                                 the URL
//!                                                         [SERVICE] of ~/.pg_service.conf
//!                 ~/.mylogin.cnf  [PATH], else [client]    PGPASSWORD
//!                 ~/.my.cnf       [dbdyno], [client], …    PGPASSFILE, else ~/.pgpass
//!                 /etc/mysql/my.cnf, /etc/my.cnf
//!                 MYSQL_PWD
//!   last          a terminal is asked, where the server refuses the account without a password
//! ```
//!
//! The order is that of the servers' own clients, with one exception: `MYSQL_PWD` is the weakest
//! for MySQL's client and so it is here, but an entry of a file counts only for the account and the
//! host that it names. A client takes the password of `[client]` to whatever host it is sent, which
//! is how the password of one server comes to stand in the log of another.
//!
//! Option files include others as the clients' own do. Groups of MariaDB's clients and of `mysql`
//! count as `[client]` does: of all of them the latest line wins. An included file has to be root's
//! or ours.
//!
//! Option files of MySQL's clients also say which RSA key of the server is believed
//! (`server-public-key-path`, `get-server-public-key`), unless the URL does.
//!
//! A file that others could read is left alone, with a note, as PostgreSQL's client does.
//!
//! Account, host and encryption are completed once, when a target is written: what is stored names
//! one server, whatever the environment says when a run goes on. See `libpq`.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use dbdyno_model::{ArmSpec, Dialect, PasswordKey, Secret, ServerUrl, Target, Transport};

use crate::failure::Failure;
use crate::output;

mod libpq;
mod my_cnf;
mod mylogin;
mod pgpass;
mod prompt;

use my_cnf::Account;

/// Option files of the machine, a later one wins: where MySQL's and MariaDB's clients look.
const OF_MACHINE: [&str; 2] = ["/etc/my.cnf", "/etc/mysql/my.cnf"];

/// Longer files keep no passwords.
const MAX_BYTES: u64 = 1 << 20;

/// A file that is wrong: which, and a sentence.
#[derive(Debug)]
struct Wrong(PathBuf, String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.display(), self.1)
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Failure {
        Failure::Usage(wrong.to_string())
    }
}

/// Fills in what the URL of an arm leaves out.
///
/// # Errors
/// A file that cannot be understood, a login path or a service that is not there, a variable of the
/// environment that is not followed.
pub(crate) fn fill_login(arm: &mut ArmSpec) -> Result<(), Failure> {
    if let Target::Url(url) = &mut arm.target {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let wrong = match url.dialect {
            Dialect::Postgres => {
                let around =
                    libpq::Surroundings { variable: &variable, read: &|path| read_service(path) };
                libpq::complete_url(url, &around)
            }
            _ => libpq::complete_mysql(url, &variable),
        };
        wrong.map_err(Failure::Usage)?;
    }
    fill_again(arm)
}

/// Fills in the password of an arm that names its server.
///
/// # Errors
/// A file that cannot be understood, a login path that is not there.
pub(crate) fn fill_again(arm: &mut ArmSpec) -> Result<(), Failure> {
    let shown = arm.to_string();
    let Target::Url(url) = &mut arm.target else { return Ok(()) };
    match url.dialect {
        Dialect::Postgres => fill_postgres(url)?,
        _ => fill_mysql(url)?,
    }
    if url.password.is_none() && prompt::is_possible() && dbdyno_lab::wants_password(url) {
        url.password = prompt::ask_password(&format!("password for {shown}: "))?.map(Secret::new);
    }
    url.password.iter().for_each(output::hide_password);
    Ok(())
}

fn fill_mysql(url: &mut ServerUrl) -> Result<(), Failure> {
    let path = variable("MYSQL_TEST_LOGIN_FILE").or_else(|| at_home(".mylogin.cnf"));
    let mut logins = None;
    if let Some(path) = &path
        && (url.login_path.is_some() || url.password.is_none())
        && let Some(bytes) = read(path, Readers::OwnerAlone)?
    {
        let text =
            mylogin::decrypt_option_file(&bytes).map_err(|text| Wrong(path.clone(), text))?;
        logins = Some(my_cnf::parse(&text).map_err(|text| Wrong(path.clone(), text))?);
    }
    if let Some(name) = url.login_path.clone() {
        let known = logins.as_ref().and_then(|logins| logins.get(&name));
        let Some(account) = known else { return Err(no_login_path(&name, path.as_deref())) };
        take_account(url, account);
    }
    let is_keyed = url.tls.password_key != PasswordKey::Unknown;
    if url.password.is_some() && is_keyed {
        return Ok(());
    }
    if url.password.is_none() {
        url.password = logins.and_then(|logins| password_for(url, logins.get("client")?));
    }
    for account in accounts_of_clients(at_home(".my.cnf").as_deref())? {
        take_key(url, &account);
        if url.password.is_none() {
            url.password = password_for(url, &account);
        }
    }
    if url.password.is_none() {
        url.password = std::env::var("MYSQL_PWD").ok().map(Secret::new);
    }
    Ok(())
}

/// What option files of clients say, the strongest first: those of the user, then of the machine.
///
/// # Errors
/// The user's file cannot be understood. Of those of the machine a line on stderr says so.
fn accounts_of_clients(of_user: Option<&Path>) -> Result<Vec<Account>, Wrong> {
    let mut all = Vec::new();
    if let Some(path) = of_user.filter(|path| is_trusted(path, Owners::Anybody)) {
        all = my_cnf::of_clients(path, &is_included).map_err(|text| Wrong(path.into(), text))?;
    }
    for path in OF_MACHINE.iter().rev().map(Path::new) {
        if !is_trusted(path, Owners::RootOrUs) {
            continue;
        }
        match my_cnf::of_clients(path, &is_included) {
            Ok(accounts) => all.extend(accounts),
            Err(text) => {
                output::say_text(&format!("note   {} is not used: {text}", path.display()));
            }
        }
    }
    Ok(all)
}

/// Who may have a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owners {
    RootOrUs,
    Anybody,
}

/// Whether a file is there, and one that nobody else can have written; a line says why not.
fn is_trusted(path: &Path, owners: Owners) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    about.is_file() && why_distrusted(&about, owners).inspect(|why| say_unused(path, why)).is_none()
}

/// Whether an included file counts.
fn is_included(path: &Path, about: &fs::Metadata) -> bool {
    why_distrusted(about, Owners::RootOrUs).inspect(|why| say_unused(path, why)).is_none()
}

/// What everybody can write, anybody may have written.
fn why_distrusted(about: &fs::Metadata, owners: Owners) -> Option<&'static str> {
    let is_ours = [0, nix::unistd::geteuid().as_raw()].contains(&about.uid());
    if about.permissions().mode() & 0o002 != 0 {
        Some("everybody can write it; chmod o-w")
    } else if owners == Owners::RootOrUs && !is_ours {
        Some("it is somebody else's; chown")
    } else {
        None
    }
}

fn say_unused(path: &Path, why: &str) {
    let path = path.display();
    output::say_text(&format!("note   {path} is not used: {why} {path}"));
}

fn no_login_path(name: &str, file: Option<&Path>) -> Failure {
    let file = file.map_or_else(|| "~/.mylogin.cnf".to_owned(), |path| path.display().to_string());
    Failure::Usage(format!(
        "there is no login path {name:?} in {file}; see mysql_config_editor print --all, or make \
         it with mysql_config_editor set --login-path={name} --host=… --user=… --password"
    ))
}

/// Account, host and password of a login path, where the URL does not give them.
fn take_account(url: &mut ServerUrl, account: &Account) {
    if url.user.is_empty() {
        url.user = account.user.clone().unwrap_or_else(|| "root".to_owned());
    }
    if let Transport::Tcp(host, port) = &url.transport
        && host.is_empty()
    {
        let host = account.host.clone().unwrap_or_else(|| "localhost".to_owned());
        url.transport = match &account.socket {
            // What MySQL's client does: `localhost` is the socket.
            Some(socket) if host == "localhost" => Transport::Unix(socket.clone()),
            _ => Transport::Tcp(host, account.port.unwrap_or(*port)),
        };
    }
    if url.password.is_none() {
        url.password.clone_from(&account.password);
    }
    take_key(url, account);
}

/// The password of an entry, if it is for this account and this host.
fn password_for(url: &ServerUrl, account: &Account) -> Option<Secret> {
    if is_for(url, account) { account.password.clone() } else { None }
}

/// Which key of the server is believed, where the URL does not say.
fn take_key(url: &mut ServerUrl, account: &Account) {
    if url.tls.password_key == PasswordKey::Unknown && is_for(url, account) {
        url.tls.password_key.clone_from(&account.password_key);
    }
}

/// Whether an entry is for this account and this host.
fn is_for(url: &ServerUrl, account: &Account) -> bool {
    let same_user = account.user.as_ref().is_none_or(|user| *user == url.user);
    let same_place = match &url.transport {
        Transport::Tcp(host, port) => {
            let here = |host: &str| ["localhost", "127.0.0.1", "::1"].contains(&host);
            account.host.as_ref().is_none_or(|known| known == host || (here(known) && here(host)))
                && account.port.is_none_or(|known| known == *port)
        }
        Transport::Unix(path) => {
            account.host.as_ref().is_none_or(|known| known == "localhost")
                && account.socket.as_ref().is_none_or(|known| known == path)
        }
    };
    same_user && same_place
}

fn fill_postgres(url: &mut ServerUrl) -> Result<(), Failure> {
    if url.password.is_some() {
        return Ok(());
    }
    url.password = std::env::var("PGPASSWORD").ok().map(Secret::new);
    let path = variable("PGPASSFILE").or_else(|| at_home(".pgpass"));
    if url.password.is_none()
        && let Some(path) = path
        && let Some(bytes) = read(&path, Readers::OwnerAlone)?
    {
        let text = String::from_utf8_lossy(&bytes);
        let found = pgpass::find(&text, url).map_err(|text| Wrong(path, text))?;
        url.password = found;
    }
    Ok(())
}

/// The text of a service file, if it is there.
///
/// # Errors
/// A sentence: it is no ordinary file, too large, or others can write it, so that they would choose
/// to whom a password goes.
fn read_service(path: &Path) -> Result<Option<String>, String> {
    let Ok(about) = fs::metadata(path) else { return Ok(None) };
    dbdyno_files::owner::check_way(path).map_err(|error| error.to_string())?;
    let is_of_others =
        about.permissions().mode() & 0o022 != 0 || !dbdyno_files::owner::is_trusted(about.uid());
    if is_of_others {
        return Err(format!(
            "others can write it, and it says to whom a password goes; chmod go-w {}",
            path.display()
        ));
    }
    if !about.is_file() {
        return Err("that is no ordinary file".to_owned());
    }
    let bytes = read(path, Readers::Anybody).map_err(|Wrong(_, text)| text)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn at_home(name: &str) -> Option<PathBuf> {
    variable("HOME").map(|home| home.join(name))
}

/// Who may be able to read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    OwnerAlone,
    Anybody,
}

/// The content of a file, if it is there and for us.
fn read(path: &Path, readers: Readers) -> Result<Option<Vec<u8>>, Wrong> {
    let wrong = |text: String| Wrong(path.to_owned(), text);
    let Ok(about) = fs::metadata(path) else { return Ok(None) };
    if !about.is_file() {
        return Ok(None);
    }
    let mode = about.permissions().mode();
    let (too_open, which) = match readers {
        Readers::OwnerAlone => (mode & 0o077 != 0, "others can read it"),
        // What everybody can write, anybody may have written.
        Readers::Anybody => (mode & 0o002 != 0, "everybody can write it"),
    };
    if too_open {
        let path = path.display();
        output::say_text(&format!("note   {path} is not used: {which}; chmod 600 {path}"));
        return Ok(None);
    }
    match dbdyno_files::read(path, MAX_BYTES) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            Err(wrong("it is larger than 1 MB and keeps no passwords; take it away".to_owned()))
        }
        read => read.map(Some).map_err(|error| {
            wrong(format!("{error}; make it a file that can be read, or take it away"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pg_service.conf");
        assert_eq!(read_service(&file), Ok(None));
        fs::write(&file, "[a]\nhost=h\n").unwrap();
        for (mode, is_taken) in [(0o644, true), (0o600, true), (0o664, false), (0o646, false)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_service(&file).is_ok(), is_taken, "{mode:o}");
        }
        assert!(read_service(folder.path()).is_err());
    }

    fn url(text: &str) -> ServerUrl {
        let Target::Url(url) = text.parse::<ArmSpec>().unwrap().target else { panic!() };
        url
    }

    fn account(text: &str) -> Account {
        my_cnf::parse(&format!("[client]\n{text}\n")).ok().unwrap().remove("client").unwrap()
    }

    #[test]
    fn a_password_goes_only_to_the_account_and_the_host_that_it_is_for() {
        for (entry, target, is_for_it) in [
            ("password=x", "mysql://bob@h/d", true),
            ("password=x\nuser=bob", "mysql://bob@h/d", true),
            ("password=x\nuser=ann", "mysql://bob@h/d", false),
            ("password=x\nhost=h", "mysql://bob@h/d", true),
            ("password=x\nhost=g", "mysql://bob@h/d", false),
            ("password=x\nhost=localhost", "mysql://bob@127.0.0.1/d", true),
            ("password=x\nhost=localhost", "mysql://bob@/d?socket=/s", true),
            ("password=x\nhost=h", "mysql://bob@/d?socket=/s", false),
            ("password=x\nport=3307", "mysql://bob@h/d", false),
            ("password=x\nport=3307", "mysql://bob@h:3307/d", true),
            ("user=bob", "mysql://bob@h/d", false),
        ] {
            let found = password_for(&url(target), &account(entry));
            assert_eq!(found.is_some(), is_for_it, "{entry:?} for {target}");
        }
    }

    #[test]
    fn a_key_is_believed_of_the_host_that_it_is_for_and_where_the_url_says_none() {
        let offered = "get-server-public-key=on";
        for (entry, target, expected) in [
            (offered.to_owned(), "mysql://bob@h/d", PasswordKey::Offered),
            (format!("{offered}\nhost=g"), "mysql://bob@h/d", PasswordKey::Unknown),
            (
                offered.to_owned(),
                "mysql://bob@h/d?server-public-key-path=k",
                PasswordKey::File("k".to_owned()),
            ),
        ] {
            let mut url = url(target);
            take_key(&mut url, &account(&entry));
            assert_eq!(url.tls.password_key, expected, "{entry:?} for {target}");
        }
    }

    #[test]
    fn a_login_path_gives_what_the_url_does_not() {
        let known = account("user=bob\nhost=db.example\nport=3307\npassword=x");
        let mut blank = url("mysql:///shop?login-path=prod");
        take_account(&mut blank, &known);
        assert_eq!(blank.user, "bob");
        assert_eq!(blank.transport, Transport::Tcp("db.example".to_owned(), 3307));
        assert_eq!(blank.password, Some(Secret::new("x")));
        let mut given = url("mysql://ann:y@h/shop?login-path=prod");
        take_account(&mut given, &known);
        assert_eq!(given.user, "ann");
        assert_eq!(given.transport, Transport::Tcp("h".to_owned(), 3306));
        assert_eq!(given.password, Some(Secret::new("y")));
        let mut local = url("mysql:///shop?login-path=prod");
        take_account(&mut local, &account("socket=/s"));
        assert_eq!(local.transport, Transport::Unix("/s".to_owned()));
        assert_eq!(local.user, "root");
    }
}
