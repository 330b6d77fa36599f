//! What can be put on the road, as the user writes it.
//!
//! ```text
//!   mariadb:10.11                      a release that dbdyno gets and starts itself
//!   mysql:8.0
//!   postgres:17@maven                  the same, from this source and no other
//!   mysql:8.0?buffer=2G&binlog=on      the same, with settings; see `setting`
//!   mysql://user:pass@host:3306/db     a server that is running already
//!   mysql://user@localhost/db?socket=/run/mysqld/mysqld.sock
//!   postgres://user@/db?host=/run/postgresql
//!   mysql://user@host/db?tls=required  the same, encrypted; see `tls`
//!   mysql:///db?login-path=prod        account and host as `mysql_config_editor` keeps them
//!   postgres://?service=prod           as a service file has them; see `target_completion`
//!   sqlite:?synchronous=off            the bundled SQLite with pragmas
//!   rocksdb:?direct=on                 the RocksDB of the system with options, see `rocksdb`
//!   engine:?view=csn&wake=group        the reference engine in this design, see `design`
//!   mysql:8.0?cache=cold               how a release begins, see `begin`
//!   …?slow=5%                          any of them, slowed on purpose by a known share
//! ```

use std::fmt;
use std::str::FromStr;

use crate::begin::Begin;
use crate::design::{Design, Wire};
use crate::masking::{Boundary, MaskedTarget};
use crate::mock::MockModel;
use crate::product::{Dialect, Product, TargetError};
use crate::rocksdb::RocksOptions;
use crate::secret::Secret;
use crate::setting::{self, Setting};
use crate::target_parts::LeftOut;
use crate::target_words::{EMBEDDED, MOCK, SourceKind, is_version};
use crate::tls::{Tls, TlsMode};
use crate::transport::Transport;

pub use crate::target_words::KINDS;

/// Splits what follows a product's name: `8.0@maven` is 8.0 from Maven. A word behind the `@` that
/// names no source is the caller's to refuse; [`ArmSpec`] does.
pub fn split_version(asked: &str) -> (&str, Option<SourceKind>) {
    match asked.rsplit_once('@') {
        Some((version, source)) => (version, SourceKind::named(source)),
        None => (asked, None),
    }
}

/// A running server and an account on it. Two are equal that name the same server in the same way,
/// whatever of it was written and what is a default.
#[derive(Clone, Debug, Eq)]
pub struct ServerUrl {
    /// [`Dialect::Mysql`] or [`Dialect::Postgres`].
    pub dialect: Dialect,
    /// Where it listens.
    pub transport: Transport,
    /// Account.
    pub user: String,
    /// Its password; `None` if the URL gives none.
    pub password: Option<Secret>,
    /// Database in which the tables are made.
    pub database: String,
    /// Whether it is reached encrypted.
    pub tls: Tls,
    /// The group of `.mylogin.cnf` from which the rest comes. Account and host are empty then where
    /// the URL does not give them.
    pub login_path: Option<String>,
    /// What the URL leaves out; nothing, once [`ServerUrl::complete_with`] was asked.
    pub left_out: Box<LeftOut>,
}

impl PartialEq for ServerUrl {
    fn eq(&self, other: &ServerUrl) -> bool {
        let ServerUrl { dialect, transport, user, password, database, tls, login_path, left_out } =
            self;
        *dialect == other.dialect
            && *transport == other.transport
            && *user == other.user
            && *password == other.password
            && *database == other.database
            && *tls == other.tls
            && *login_path == other.login_path
            && left_out.service == other.left_out.service
    }
}

/// What an arm is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A release that dbdyno gets and starts itself.
    Release(ReleaseSpec),
    /// A server that is running already.
    Url(ServerUrl),
    /// The bundled SQLite on a file of its own, with pragmas set on every connection.
    Sqlite(Vec<(String, String)>),
    /// The RocksDB of the system in a directory of its own, with options that
    /// [`RocksOptions::read`] takes.
    Rocksdb(Vec<(String, String)>),
    /// The reference engine in a directory of its own, in this design.
    Engine(Design),
    /// A model in virtual time, with words that [`MockModel::read`] takes.
    Mock(Vec<(String, String)>),
}

/// A release, and what the user wants of the server. Two that differ in settings only are the same
/// release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseSpec {
    /// What it is.
    pub product: Product,
    /// The version is a prefix, and a source may follow: `10.11`, `8.0@maven`; see
    /// [`split_version`].
    pub version: String,
    /// In the order written; each once, files excepted.
    pub settings: Vec<Setting>,
}

/// An arm as the user wrote it: a target, and whether it is slowed on purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmSpec {
    /// What is measured.
    pub target: Target,
    /// Share of the rate that is taken away on purpose (0.05: every event is drawn out to 1/0.95 of
    /// its time by spinning in the client). An anchor to test the instrument with; 0 for real work.
    pub slow: f64,
    /// Whether clients record what they see.
    pub record: TransactionRecording,
    /// How a server begins that dbdyno starts itself; nothing special for all others.
    pub begin: Begin,
}

/// Whether clients record their transactions, so that the isolation of what is measured is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionRecording {
    /// They do not.
    #[default]
    Off,
    /// They do, and it costs something: the arm with it against the same one without says what.
    On,
}

/// What is said where a URL cannot be read for a character of its password.
const PERCENT_ENCODE: &str = "percent-encode what a password or a value has of the characters of a \
                              URL: % is %25, @ is %40, / is %2F, ? is %3F, # is %23, & is %26";

const MYSQL_PORT: u16 = 3306;
const POSTGRES_PORT: u16 = 5432;

impl ArmSpec {
    /// Whether it lives in the client's own threads.
    pub fn is_embedded(&self) -> bool {
        match &self.target {
            Target::Engine(design) => design.wire == Wire::Off,
            other => matches!(other, Target::Sqlite(_) | Target::Rocksdb(_)),
        }
    }

    /// Whether it can be started again: it is a server of ours, or lives in our threads.
    pub fn can_be_restarted(&self) -> bool {
        !matches!(self.target, Target::Url(_))
    }

    /// Whether a model answers for it.
    pub fn is_mock(&self) -> bool {
        matches!(self.target, Target::Mock(_))
    }

    /// The dialect that the arm speaks.
    pub fn dialect(&self) -> Dialect {
        match &self.target {
            Target::Release(release) => release.product.dialect(),
            Target::Url(url) => url.dialect,
            Target::Sqlite(_) => Dialect::Sqlite,
            Target::Rocksdb(_) => Dialect::Rocksdb,
            Target::Engine(_) => Dialect::Engine,
            // Its answers are made up, and most loads have words of this dialect.
            Target::Mock(_) => Dialect::Mysql,
        }
    }
}

impl FromStr for ArmSpec {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<ArmSpec, TargetError> {
        let masked = MaskedTarget::from_text(text);
        parse_masked(&masked).map_err(|error| match error {
            TargetError::UnknownKind(kind) => {
                TargetError::UnknownKind(MaskedTarget::replace_marks(&kind))
            }
            TargetError::Malformed(text) => {
                TargetError::Malformed(MaskedTarget::replace_marks(&text))
            }
        })
    }
}

/// Errors of this have the marks of secrets in them.
fn parse_masked(masked: &MaskedTarget) -> Result<ArmSpec, TargetError> {
    let text = masked.masked_text();
    if masked.secret_boundary() == Boundary::Doubtful {
        return Err(malformed(format!(
            "an @ stands behind the first / or ? of this URL; {PERCENT_ENCODE}"
        )));
    }
    let (body, query) = text.split_once('?').unwrap_or((text, ""));
    let mut options = parse_query(query)?;
    let slow = take_slow(&mut options)?;
    let record = take_record(&mut options)?;
    let is_embedded = EMBEDDED.iter().any(|kind| body.starts_with(kind));
    let is_mock = body.split(':').next() == Some(MOCK);
    let begin = if body.contains("://") || is_embedded || is_mock {
        Begin::default()
    } else {
        take_begin(&mut options)?
    };
    let target = if let Some((scheme, rest)) = body.split_once("://") {
        Target::Url(parse_url(scheme, rest, options, masked)?)
    } else {
        parse_release(body, options)?
    };
    let passwords = match &target {
        Target::Url(url) => url.password.iter().filter(|password| !password.is_empty()).count(),
        _ => 0,
    };
    // One that went nowhere would be taken for a name or a value.
    if masked.secret_count() > passwords {
        return Err(malformed(format!(
            "a password stands where none belongs; a URL has it as mysql://USER:PASSWORD@HOST/DB, \
             the clients' own files and prompts keep it out of commands; {PERCENT_ENCODE}"
        )));
    }
    Ok(ArmSpec { target, slow, record, begin })
}

/// The target as the user would write it, without any password: fit for tables, logs and stores.
impl fmt::Display for ArmSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = '?';
        match &self.target {
            Target::Release(release) => {
                write!(f, "{}:{}", release.product.name(), release.version)?;
                for setting in &release.settings {
                    let word = setting.word_for(release.product);
                    write!(f, "{separator}{word}={}", encode_value(&setting.value()))?;
                    separator = '&';
                }
            }
            Target::Url(url) => {
                let scheme = if url.dialect == Dialect::Mysql { "mysql" } else { "postgres" };
                write!(f, "{scheme}://{}@", encode(&url.user))?;
                match &url.transport {
                    Transport::Tcp(..) => write!(f, "{}/{}", url.transport, encode(&url.database))?,
                    Transport::Unix(path) => {
                        write!(f, "/{}?socket={}", encode(&url.database), encode(path))?;
                        separator = '&';
                    }
                }
                let login_path = url.login_path.clone().map(|path| ("login-path", path));
                let service = url.left_out.service.clone().map(|name| ("service", name));
                let elsewhere = login_path.into_iter().chain(service);
                for (name, value) in url.tls.options(url.dialect).into_iter().chain(elsewhere) {
                    write!(f, "{separator}{name}={}", encode(&value))?;
                    separator = '&';
                }
            }
            Target::Sqlite(options) | Target::Rocksdb(options) | Target::Mock(options) => {
                f.write_str(match self.target {
                    Target::Sqlite(_) => "sqlite:",
                    Target::Mock(_) => "mock:",
                    _ => "rocksdb:",
                })?;
                for (name, value) in options {
                    write!(f, "{separator}{name}={}", encode(value))?;
                    separator = '&';
                }
            }
            Target::Engine(design) => {
                f.write_str("engine:")?;
                for (name, value) in design.options() {
                    write!(f, "{separator}{name}={}", encode_value(&value))?;
                    separator = '&';
                }
            }
        }
        for (name, value) in self.begin.options() {
            write!(f, "{separator}{name}={}", encode_value(&value))?;
            separator = '&';
        }
        if self.slow > 0.0 {
            write!(f, "{separator}slow={}%", self.slow * 100.0)?;
            separator = '&';
        }
        if self.record == TransactionRecording::On {
            write!(f, "{separator}record=on")?;
        }
        Ok(())
    }
}

fn parse_release(body: &str, options: Vec<(String, String)>) -> Result<Target, TargetError> {
    let (kind, version) = body.split_once(':').unwrap_or((body, ""));
    let keyword = kind.split_once('=').map(|(word, _)| word.trim());
    let of_libpq = ["host", "hostaddr", "port", "user", "password", "dbname", "service", "sslmode"];
    if keyword.is_some_and(|word| of_libpq.contains(&word)) {
        return Err(malformed(
            "these are keywords of libpq; write postgres://USER@HOST:PORT/DATABASE".to_owned(),
        ));
    }
    let product = match kind {
        "mysql" => Product::MySql,
        "mariadb" => Product::MariaDb,
        "postgres" | "postgresql" => Product::Postgres,
        "sqlite" if version.is_empty() => return parse_sqlite(options),
        "sqlite" => {
            return Err(malformed(format!(
                "{body:?}: sqlite takes pragmas, not a version or a path; write sqlite:?{}",
                "synchronous=off"
            )));
        }
        "rocksdb" if version.is_empty() => {
            RocksOptions::read(&options).map_err(|text| malformed(format!("rocksdb: {text}")))?;
            return Ok(Target::Rocksdb(options));
        }
        "rocksdb" => {
            return Err(malformed(format!(
                "{body:?}: rocksdb is that of the system and takes options, not a version or a \
                 path; write rocksdb:?preset=direct"
            )));
        }
        "engine" if version.is_empty() => {
            let design = Design::read(&options);
            return design.map(Target::Engine).map_err(|text| malformed(format!("engine: {text}")));
        }
        "engine" => {
            return Err(malformed(format!(
                "{body:?}: engine takes fields of a design, not a version or a path; write \
                 engine:?view=csn"
            )));
        }
        MOCK if version.is_empty() => {
            MockModel::read(&options).map_err(|text| malformed(format!("mock: {text}")))?;
            return Ok(Target::Mock(options));
        }
        _ => return Err(TargetError::UnknownKind(kind.to_owned())),
    };
    check_version(product, version)?;
    let mut settings: Vec<Setting> = Vec::with_capacity(options.len());
    for (name, value) in options {
        let setting = Setting::parse(product, body, &name, &value)?;
        // A list has all its values, each once.
        let is_list = is_list(product, &setting);
        let repeated = settings.iter().any(|known| {
            known.name() == setting.name() && (!is_list || known.value() == setting.value())
        });
        if repeated && !matches!(setting, Setting::File(_)) {
            return Err(malformed(format!("{body}: {name} is set twice; leave one of them out")));
        }
        settings.push(setting);
    }
    Ok(Target::Release(ReleaseSpec { product, version: version.to_owned(), settings }))
}

/// Whether it is an option of which a server keeps all values. Switches of the planner are told in
/// one text.
fn is_list(product: Product, setting: &Setting) -> bool {
    let Setting::Raw(name, _) = setting else { return false };
    setting::is_accumulated(product, name) && setting::plain_name(name) != "optimizer_switch"
}

/// What was written is not repeated: it may be a URL with a password that lacks its slashes.
fn check_version(product: Product, asked: &str) -> Result<(), TargetError> {
    let (version, source) = split_version(asked);
    let name = product.name();
    let url = format!("a server that is running already is {name}://USER@HOST:PORT/DB");
    if version.contains('@') || !is_version(version) {
        return Err(malformed(format!("that is not a version; write {name}:VERSION; {url}")));
    }
    if source.is_none() && asked.contains('@') {
        let sources = SourceKind::ALL.map(SourceKind::name).join(", ");
        return Err(malformed(format!(
            "behind the @ stands where to get it from: {sources}; {url}"
        )));
    }
    Ok(())
}

fn parse_sqlite(options: Vec<(String, String)>) -> Result<Target, TargetError> {
    for (name, value) in &options {
        if name.is_empty() || value.is_empty() || !is_plain_word(name) || !is_plain_word(value) {
            return Err(malformed(format!(
                "sqlite: {name}={value} is not a pragma and its value; try synchronous=off"
            )));
        }
    }
    Ok(Target::Sqlite(options))
}

fn is_plain_word(text: &str) -> bool {
    text.trim_start_matches('-').chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What a URL names, part by part.
struct UrlParts {
    dialect: Dialect,
    host: String,
    port: u16,
    socket: Option<String>,
    user: String,
    password: Option<Secret>,
    database: String,
    login_path: Option<String>,
    service: Option<String>,
    has_port: bool,
}

fn parse_url(
    scheme: &str,
    rest: &str,
    mut options: Vec<(String, String)>,
    masked: &MaskedTarget,
) -> Result<ServerUrl, TargetError> {
    let wrong = |text: String| malformed(format!("{scheme} URL: {text}"));
    let (dialect, default_port, default_user) = dialect_of(scheme)?;
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (account, address) = match authority.rsplit_once('@') {
        Some((account, address)) => (account, address),
        None => ("", authority),
    };
    let (user, password) = match account.split_once(':') {
        Some((user, password)) => (decode(user)?, Some(password_of(password, masked)?)),
        None => (decode(account)?, None),
    };
    let (host, port) = parse_address(address, default_port)?;
    let account = account.split(':').next().unwrap_or_default();
    let is_v6 = address.starts_with('[');
    check_marks(&decode(account)?, if is_v6 { "" } else { &host }, &decode(database)?)?;
    let (database, socket) = (decode(database)?, host.starts_with('/').then(|| host.clone()));
    let (login_path, service) = (None, None);
    let mut url = UrlParts {
        dialect,
        host,
        port,
        socket,
        user,
        password,
        database,
        login_path,
        service,
        has_port: has_port(address),
    };
    let tls = Tls::take_from(&mut options, dialect).map_err(wrong)?;
    for (name, value) in options {
        match name.as_str() {
            "password" if url.password.is_none() => {
                url.password = Some(password_of(&value, masked)?);
            }
            "host" | "hostaddr" if !value.starts_with('/') => url.host = one_host(&value)?,
            "port" => (url.port, url.has_port) = (port_of(&value)?, true),
            name => url.tell(name, value).map_err(wrong)?,
        }
    }
    let left_out = url.left_out();
    let (transport, login_path) = (url.transport(), url.login_path);
    let is_given = !url.user.is_empty() || login_path.is_some();
    let user = if !is_given { default_user.to_owned() } else { url.user };
    let database = if url.database.is_empty() { "dbdyno".to_owned() } else { url.database };
    if dialect == Dialect::Postgres
        && matches!(transport, Transport::Unix(_))
        && tls.mode.is_some_and(|mode| mode >= TlsMode::Required)
    {
        return Err(malformed(
            "PostgreSQL encrypts nothing on a unix socket; leave out tls=, or name a host"
                .to_owned(),
        ));
    }
    let password = url.password;
    Ok(ServerUrl { dialect, transport, user, password, database, tls, login_path, left_out })
}

/// What a scheme speaks, on which port, and whose account is meant where none is written.
fn dialect_of(scheme: &str) -> Result<(Dialect, u16, &'static str), TargetError> {
    match scheme {
        "mysql" | "mariadb" => Ok((Dialect::Mysql, MYSQL_PORT, "root")),
        "postgres" | "postgresql" => Ok((Dialect::Postgres, POSTGRES_PORT, "postgres")),
        _ if scheme.starts_with("jdbc:") => {
            let kind = scheme.trim_start_matches("jdbc:").split(':').next().unwrap_or_default();
            Err(malformed(format!(
                "this is a string for JDBC; write {kind}://USER@HOST:PORT/DATABASE"
            )))
        }
        _ => Err(TargetError::UnknownKind(scheme.to_owned())),
    }
}

/// Names in which something else seems to stand are refused.
fn check_marks(user: &str, host: &str, database: &str) -> Result<(), TargetError> {
    for (what, name, marks) in
        [("user", user, ":\u{ff1a}"), ("host", host, ":@=;&#"), ("database", database, "?&;#=:@")]
    {
        if name.contains(|c: char| marks.contains(c)) {
            return Err(malformed(format!(
                "the {what} has a mark in it ({marks}) with which something else begins, such as a \
                 password; options stand behind one question mark, parted by &, and a password \
                 before the host: USER:PASSWORD@HOST"
            )));
        }
    }
    Ok(())
}

/// Whether an address names its port.
fn has_port(address: &str) -> bool {
    match address.rsplit_once(']') {
        Some((_, behind)) => behind.starts_with(':'),
        None => address.contains(':'),
    }
}

impl UrlParts {
    /// What is not among them.
    fn left_out(&mut self) -> Box<LeftOut> {
        Box::new(LeftOut {
            host: self.host.is_empty() && self.socket.is_none(),
            port: !self.has_port,
            user: self.user.is_empty(),
            database: self.database.is_empty(),
            service: self.service.take(),
        })
    }

    /// Takes a word behind the question mark; an error is a sentence about it.
    fn tell(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "socket" | "host" => self.socket = Some(value),
            "dbname" if self.database.is_empty() => self.database = value,
            "user" if self.user.is_empty() => self.user = value,
            "user" | "password" | "dbname" => {
                return Err(format!(
                    "{name}= is given twice; leave it out behind the question mark"
                ));
            }
            "login-path" if self.dialect == Dialect::Mysql => self.login_path = Some(value),
            "service" if self.dialect == Dialect::Postgres && !value.is_empty() => {
                self.service = Some(value);
            }
            _ if self.dialect == Dialect::Postgres && OF_LIBPQ.contains(&name) => {
                return Err(format!(
                    "{name}= is a word of libpq that dbdyno does not follow; leave it out, and \
                     name the one server that is meant"
                ));
            }
            _ => {
                return Err(format!(
                    "unknown option {name:?}; known are socket=PATH, user=, password=, \
                     slow=SHARE%, tls=MODE and the words of the server's own client for it"
                ));
            }
        }
        Ok(())
    }

    fn transport(&self) -> Transport {
        match &self.socket {
            Some(path) if self.dialect == Dialect::Postgres && !path.contains(".s.PGSQL.") => {
                Transport::Unix(format!("{}/.s.PGSQL.{}", path.trim_end_matches('/'), self.port))
            }
            Some(path) => Transport::Unix(path.clone()),
            None if self.host.is_empty() && self.login_path.is_none() => {
                Transport::Tcp("127.0.0.1".to_owned(), self.port)
            }
            None => Transport::Tcp(self.host.clone(), self.port),
        }
    }
}

/// The password for which a piece of the masked text stands.
fn password_of(piece: &str, masked: &MaskedTarget) -> Result<Secret, TargetError> {
    let password = masked.secret(piece).map_or("", Secret::expose);
    decode(password).map(Secret::new)
}

/// Words of libpq that choose among servers, or change what a session is: none is followed.
pub const OF_LIBPQ: [&str; 25] = [
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "fallback_application_name",
    "gssencmode",
    "keepalives",
    "keepalives_idle",
    "load_balance_hosts",
    "options",
    "passfile",
    "require_auth",
    "target_session_attrs",
    "tcp_user_timeout",
    "replication",
    "gssdelegation",
    "gsslib",
    "keepalives_count",
    "krbsrvname",
    "requirepeer",
    "sslcompression",
    "sslcrl",
    "sslpassword",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
];

/// A host, and not a list of them.
fn one_host(text: &str) -> Result<String, TargetError> {
    if text.contains(',') {
        Err(malformed(
            "several hosts are named; name the one that is meant: which server answers must be \
             known"
                .to_owned(),
        ))
    } else {
        Ok(text.to_owned())
    }
}

fn port_of(text: &str) -> Result<u16, TargetError> {
    text.parse::<u16>().ok().filter(|&port| port > 0).ok_or_else(|| {
        // What may be a password was taken out.
        if text.contains(char::is_control) {
            return malformed(
                "what stands behind the host is no port of one server; name one host, a port from 1 \
                 to 65535, and a password before the host: USER:PASSWORD@HOST"
                    .to_owned(),
            );
        }
        malformed(format!(
            "{text:?} is not a port; ports are 1 to 65535, and a password stands before the host: \
             USER:PASSWORD@HOST"
        ))
    })
}

/// `host`, `host:port`, `[v6]:port` or a percent-encoded socket directory.
fn parse_address(address: &str, default_port: u16) -> Result<(String, u16), TargetError> {
    one_host(address)?;
    if let Some(v6) = address.strip_prefix('[') {
        let (host, rest) = v6.split_once(']').ok_or_else(|| {
            malformed(format!("{address:?} lacks the closing bracket of an IPv6 address"))
        })?;
        let port = rest.strip_prefix(':').map_or(Ok(default_port), port_of)?;
        return Ok((host.to_owned(), port));
    }
    match address.split_once(':') {
        Some((host, port)) => Ok((decode(host)?, port_of(port)?)),
        None => Ok((decode(address)?, default_port)),
    }
}

fn parse_query(query: &str) -> Result<Vec<(String, String)>, TargetError> {
    query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                malformed(format!("option {part:?} lacks a value; write {part}=VALUE"))
            })?;
            Ok((decode(name)?, if name == "slow" { value.to_owned() } else { decode(value)? }))
        })
        .collect()
}

fn take_slow(options: &mut Vec<(String, String)>) -> Result<f64, TargetError> {
    let Some(index) = options.iter().position(|(name, _)| name == "slow") else {
        return Ok(0.0);
    };
    let (_, value) = options.remove(index);
    let percent = value.strip_suffix("%25").or_else(|| value.strip_suffix('%'));
    let share = percent.unwrap_or(&value).parse::<f64>().ok().map(|percent| percent / 100.0);
    share.filter(|share| (0.0..=0.9).contains(share)).ok_or_else(|| {
        malformed(format!("slow={value}: give a share from 0% to 90%, for example slow=5%"))
    })
}

fn take_record(options: &mut Vec<(String, String)>) -> Result<TransactionRecording, TargetError> {
    let Some(index) = options.iter().position(|(name, _)| name == "record") else {
        return Ok(TransactionRecording::Off);
    };
    let (_, value) = options.remove(index);
    match value.as_str() {
        "on" => Ok(TransactionRecording::On),
        "off" => Ok(TransactionRecording::Off),
        _ => Err(malformed(format!("record={value}: it is on or off"))),
    }
}

fn take_begin(options: &mut Vec<(String, String)>) -> Result<Begin, TargetError> {
    let begin = Begin::take_from(options).map_err(malformed)?;
    if let Some(version) = &begin.upgrade_from
        && (version.is_empty()
            || !version.chars().all(|c: char| c.is_ascii_alphanumeric() || ".-~@".contains(c)))
    {
        return Err(malformed(
            "upgrade-from= wants a version, for example upgrade-from=5.7".to_owned(),
        ));
    }
    Ok(begin)
}

fn malformed(text: String) -> TargetError {
    TargetError::Malformed(text)
}

/// Percent-decoding (RFC 3986, 2.1).
fn decode(text: &str) -> Result<String, TargetError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        match (hex_digit(rest.next()), hex_digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => {
                return Err(malformed(
                    "a % in a URL must be followed by two hexadecimal digits; percent-encode the \
                     character itself: it is %25"
                        .to_owned(),
                ));
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| malformed("a URL must decode to UTF-8".to_owned()))
}

fn hex_digit(byte: Option<u8>) -> Option<u32> {
    byte.and_then(|b| (b as char).to_digit(16))
}

fn encode(text: &str) -> String {
    escape(text, "-._~/")
}

/// The value of an option, behind the question mark, where more can be left as it is.
fn encode_value(text: &str) -> String {
    escape(text, "-._~/,:+@=")
}

fn escape(text: &str, besides: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || besides.contains(c);
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if plain(c) {
            encoded.push(c);
        } else {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ArmSpec, TargetError> {
        text.parse()
    }

    #[test]
    fn display_shows_no_password_and_parses_back_to_the_same_server() {
        for text in [
            "mariadb:10.11",
            "postgres:17?slow=5%",
            "mysql:8.0.33@maven",
            "mysql:8.0@maven?image=fresh&cache=cold&upgrade-from=5.7&slow=5%",
            "mariadb:10.11?innodb_flush_log_at_trx_commit=1&buffer=2G&preset=cz-a&my-cnf=./my.cnf",
            "postgres:17?synchronous_commit=on&postgresql-conf=./x.conf&slow=5%",
            "mysql:8.0?topology=group:3&delay=0.5ms",
            "mysql://bob:s3cret@db.example:3307/shop",
            "mysql://root@/x?socket=/run/mysqld/mysqld.sock&slow=2.5%",
            "postgres://ann:p%40ss@[::1]:5433/d",
            "postgres://ann@/d?host=/run/postgresql",
            "mysql://bob:s3cret@h/shop?tls=verify-ca&ssl-ca=./my ca.pem&slow=5%",
            "mysql://bob@/shop?socket=/s&tls=required",
            "mysql:///shop?login-path=prod",
            "mysql://bob@h:3307/shop?tls=required&login-path=prod",
            "postgres://ann@h/d?service=prod",
            "postgres://ann@h/d?sslmode=verify-full&sslcert=/c&sslkey=/k&sslnegotiation=direct",
            "sqlite:?synchronous=off&cache_size=-2000&slow=5%",
            "rocksdb:?preset=direct&cache=64M&max_background_jobs=4&slow=5%",
            "engine:",
            "engine:?view=csn&wake=broadcast&gate=tickets:64&device=8ms&slow=5%",
            "mock:?rate=1000&noise=0.02&seed=7&slow=5%",
        ] {
            let mut spec = parse(text).unwrap();
            let shown = spec.to_string();
            assert!(!shown.contains("s3cret") && !shown.contains("p@ss"), "{shown}");
            if let Target::Url(url) = &mut spec.target {
                url.password = None;
            }
            assert_eq!(parse(&shown).unwrap(), spec, "{text} shown as {shown}");
        }
    }

    #[test]
    fn urls_have_the_defaults_of_their_clients() {
        let Target::Url(url) = parse("postgres://localhost").unwrap().target else { panic!() };
        assert_eq!(url.transport, Transport::Tcp("localhost".into(), 5432));
        assert_eq!((url.user.as_str(), url.database.as_str()), ("postgres", "dbdyno"));
        let Target::Url(url) = parse("postgres://u@%2Frun%2Fpg:5433/d").unwrap().target else {
            panic!()
        };
        assert_eq!(url.transport, Transport::Unix("/run/pg/.s.PGSQL.5433".into()));
    }

    /// As applications write them: what names a server is followed, the rest is refused by name.
    #[test]
    fn the_words_of_libpq_and_of_jdbc_are_known() {
        let url = |text: &str| match parse(text).unwrap().target {
            Target::Url(url) => (url.transport, url.database),
            other => panic!("{other:?}"),
        };
        let tcp = |host: &str, port: u16| Transport::Tcp(host.to_owned(), port);
        for (text, transport, database) in [
            ("postgres://u@h/?port=5433&dbname=d", tcp("h", 5433), "d"),
            ("postgres:///d?host=localhost&port=6432", tcp("localhost", 6432), "d"),
            ("postgres://u@/d?hostaddr=10.0.0.1", tcp("10.0.0.1", 5432), "d"),
            (
                "postgres:///d?host=/run/pg&port=5433",
                Transport::Unix("/run/pg/.s.PGSQL.5433".into()),
                "d",
            ),
        ] {
            assert_eq!(url(text), (transport, database.to_owned()), "{text}");
        }
        for (text, hint) in [
            ("jdbc:mysql://h:3306/d?user=a", "write mysql://USER@HOST:PORT/DATABASE"),
            ("jdbc:postgresql://h/d", "write postgresql://USER@HOST:PORT/DATABASE"),
            ("host=localhost port=5432 dbname=x", "write postgres://USER@HOST:PORT/DATABASE"),
            ("postgres://u@h1:5432,h2:5432/d", "no port of one server; name one host"),
            ("postgres://u@h1,h2/d", "several hosts are named"),
            ("postgres://u@/d?host=h1,h2", "several hosts are named"),
            ("postgres://u@h/d?connect_timeout=2", "connect_timeout= is a word of libpq"),
            ("mysql://u@h/d?service=prod", "unknown option \"service\""),
            ("postgres://u@h/d?passfile=x", "passfile= is a word of libpq"),
            ("postgres://u@h/d?port=0", "is not a port"),
        ] {
            let told = parse(text).unwrap_err().to_string();
            assert!(told.contains(hint), "{text}: {told}");
        }
    }

    #[test]
    fn wrong_targets_say_what_to_try() {
        assert_eq!(parse("marriadb:10.11"), Err(TargetError::UnknownKind("marriadb".into())));
        for wrong in [
            "mysql:8.0@nowhere",
            "mysql:u:p@h/d",
            "mysql:8.0/x",
            "mysql:8.0?upgrade-from=",
            "mysql:8.0?image=old",
            "mysql:8.0?topology=group:2",
            "mysql:8.0?delay=5ms",
            "mysql://h/d?topology=group:3",
            "mysql://h/d?cache=cold",
            "mysql://h:99999/d",
            "mysql://h/d?sokcet=/x",
            "mysql://h/d?tls=on",
            "mysql://h/d?sslmode=require",
            "postgres://h/d?ssl-mode=required",
            "postgres://u@/d?host=/run/pg&tls=required",
            "mysql://u:%zz@h/d",
            "sqlite:/tmp/x.db",
            "sqlite:?synchronous",
            "sqlite:?x=1;drop",
            "sqlite:?slow=95%",
            "rocksdb:7.8",
            "rocksdb:?direct=maybe",
            "rocksdb:?cache=cold",
            "engine:1",
            "engine:?view=vectro",
            "engine:?cache=cold",
            "mock:?nois=0.1",
            "mock:?cache=cold",
            "mariadb:10.11?bufer=1G",
            "postgres://[::1/d",
        ] {
            assert!(matches!(parse(wrong), Err(TargetError::Malformed(_))), "{wrong} was taken");
        }
    }
}
