//! Whether a connection is encrypted, and whom it believes, as the user writes it behind a URL.
//!
//! ```text
//!   tls=off               never
//!   tls=preferred         where the server offers it
//!   tls=required          always; whoever answers is believed
//!   tls=verify-ca         … and its certificate is signed by one of ours
//!   tls=verify-identity   … and names the host that was meant
//! ```
//!
//! Clients of MySQL say `ssl-mode`, `ssl-ca`, `ssl-cert` and `ssl-key` for it, those of PostgreSQL
//! `sslmode`, `sslrootcert`, `sslcert`, `sslkey` and `sslnegotiation`; either is understood behind
//! the URL of its server.
//!
//! Where nothing is said, a connection to another host is encrypted if the server offers it, as it
//! is with both clients. One that stays on this host (a unix socket, the loopback device) is not:
//! there nobody listens in, and servers are measured as they were before.
//!
//! A MySQL server may ask for the password itself. Where nothing is encrypted it goes out under an
//! RSA key of the server or not at all; which keys are believed is said in the words of MySQL's
//! client, `server-public-key-path` and `get-server-public-key`.

use std::net::IpAddr;

use crate::product::Dialect;
use crate::transport::Transport;

/// How much is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    /// No encryption.
    Off,
    /// Encryption where the server offers it.
    Preferred,
    /// Encryption or no connection.
    Required,
    /// The same, to a server whose certificate a known authority has signed.
    VerifyCa,
    /// The same, and the certificate is for the host of the URL.
    VerifyIdentity,
}

impl TlsMode {
    /// All of them, the weakest first.
    pub const ALL: [TlsMode; 5] = [
        TlsMode::Off,
        TlsMode::Preferred,
        TlsMode::Required,
        TlsMode::VerifyCa,
        TlsMode::VerifyIdentity,
    ];

    /// The name behind `tls=`.
    pub fn name(self) -> &'static str {
        match self {
            TlsMode::Off => "off",
            TlsMode::Preferred => "preferred",
            TlsMode::Required => "required",
            TlsMode::VerifyCa => "verify-ca",
            TlsMode::VerifyIdentity => "verify-identity",
        }
    }

    /// As `tls=`, and as the clients' own options, say it.
    fn named(option: &str, value: &str) -> Result<TlsMode, String> {
        let word = value.to_ascii_lowercase().replace('_', "-");
        let known = match (option, word.as_str()) {
            ("sslmode", "disable") | ("ssl-mode", "disabled") => Some(TlsMode::Off),
            ("sslmode", "prefer") => Some(TlsMode::Preferred),
            ("sslmode", "require") => Some(TlsMode::Required),
            ("sslmode", "verify-full") => Some(TlsMode::VerifyIdentity),
            ("sslmode", "allow") => {
                return Err("sslmode=allow leaves to the server whether encryption is measured; \
                            say disable, prefer or require"
                    .to_owned());
            }
            ("sslmode", "verify-ca") => Some(TlsMode::VerifyCa),
            ("sslmode", _) | ("ssl-mode", "off") => None,
            (_, word) => TlsMode::ALL.into_iter().find(|mode| mode.name() == word),
        };
        known.ok_or_else(|| {
            let known = match option {
                "sslmode" => "disable, prefer, require, verify-ca, verify-full".to_owned(),
                "ssl-mode" => {
                    "DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY".to_owned()
                }
                _ => TlsMode::ALL.map(TlsMode::name).join(", "),
            };
            format!("{option}={value}: known are {known}")
        })
    }
}

/// Who speaks of TLS first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsStart {
    /// The server's protocol, which then changes over.
    #[default]
    Negotiated,
    /// The connection begins with TLS: PostgreSQL since 17.
    Direct,
}

/// The RSA key under which a MySQL server may be sent a password that nothing else hides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PasswordKey {
    /// None: such a password is not sent.
    #[default]
    Unknown,
    /// That in this file, in PEM; the server's `public_key.pem`.
    File(String),
    /// Whichever the server offers. Who stands between can offer one of his own.
    Offered,
}

/// What the user says of encryption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// How much is wanted; `None` where nothing was said.
    pub mode: Option<TlsMode>,
    /// File of the authorities that are believed, in PEM; `system` for those of this machine.
    pub ca: Option<String>,
    /// File of the certificate that we show, in PEM, and the file of its key.
    pub certificate: Option<String>,
    /// See `certificate`.
    pub key: Option<String>,
    /// How it begins.
    pub start: TlsStart,
    /// Under which key a password goes where nothing is encrypted; MySQL and MariaDB only.
    pub password_key: PasswordKey,
}

/// What files are called behind a URL: of authorities, of a certificate, of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsWords {
    /// Authorities.
    pub ca: &'static str,
    /// Our certificate.
    pub certificate: &'static str,
    /// Its key.
    pub key: &'static str,
}

impl TlsWords {
    /// Those of a dialect.
    pub fn for_dialect(dialect: Dialect) -> TlsWords {
        match dialect {
            Dialect::Postgres => {
                TlsWords { ca: "sslrootcert", certificate: "sslcert", key: "sslkey" }
            }
            _ => TlsWords { ca: "ssl-ca", certificate: "ssl-cert", key: "ssl-key" },
        }
    }
}

impl TlsWords {
    fn contain(&self, word: &str) -> bool {
        [self.ca, self.certificate, self.key].contains(&word)
    }
}

/// The word for how TLS begins.
const START: &str = "sslnegotiation";

/// The word for the file of the server's RSA key, in URLs and option files.
pub const KEY_FILE: &str = "server-public-key-path";
/// The word that lets the server say its RSA key.
pub const KEY_OFFERED: &str = "get-server-public-key";

impl Tls {
    /// Whether [`Tls::take_from`] takes an option with this name for one of the dialects.
    pub(crate) fn is_option(name: &str) -> bool {
        let [mysql, postgres] = [Dialect::Mysql, Dialect::Postgres].map(TlsWords::for_dialect);
        let plain = name.replace('_', "-");
        ["tls", "ssl-mode", "sslmode", START, KEY_FILE, KEY_OFFERED].contains(&plain.as_str())
            || [mysql, postgres].iter().any(|words| words.contain(&plain))
    }

    /// Takes what speaks of encryption out of the options of a URL.
    ///
    /// # Errors
    /// A sentence: a value that is not known, words that contradict each other.
    pub(crate) fn take_from(
        options: &mut Vec<(String, String)>,
        dialect: Dialect,
    ) -> Result<Tls, String> {
        let words = TlsWords::for_dialect(dialect);
        let own = if dialect == Dialect::Postgres { "sslmode" } else { "ssl-mode" };
        let mut tls = Tls::default();
        let mut required_by_libpq = false;
        let mut left = Vec::with_capacity(options.len());
        for (name, value) in options.drain(..) {
            // An option file of MySQL may spell it with either.
            let plain =
                if dialect == Dialect::Mysql { name.replace('_', "-") } else { name.clone() };
            let plain = plain.as_str();
            if plain == "tls" || plain == own {
                let mode = TlsMode::named(plain, &value)?;
                if tls.mode.is_some_and(|known| known != mode) {
                    return Err(format!("tls= and {own}= say two things; leave one of them out"));
                }
                required_by_libpq |= plain == "sslmode" && mode == TlsMode::Required;
                tls.mode = Some(mode);
            } else if plain == words.ca {
                tls.ca = Some(file(plain, value)?);
            } else if plain == words.certificate {
                tls.certificate = Some(file(plain, value)?);
            } else if plain == words.key {
                tls.key = Some(file(plain, value)?);
            } else if plain == START && dialect == Dialect::Postgres {
                tls.start = match value.as_str() {
                    "direct" => TlsStart::Direct,
                    "postgres" => TlsStart::Negotiated,
                    _ => return Err(format!("{START}={value}: known are postgres and direct")),
                };
            } else if plain == KEY_FILE && dialect == Dialect::Mysql {
                tls.password_key = PasswordKey::File(file(plain, value)?);
            } else if plain == KEY_OFFERED && dialect == Dialect::Mysql {
                tls.password_key = tls.password_key.or_offered(is_on(plain, &value)?);
            } else {
                left.push((name, value));
            }
        }
        *options = left;
        // Whoever names authorities wants them asked: `ssl-ca` by itself means so to MySQL's
        // client, and `require` with a file of them to PostgreSQL's.
        if tls.ca.is_some() && (tls.mode.is_none() || required_by_libpq) {
            tls.mode = Some(TlsMode::VerifyCa);
        }
        tls.check(words)?;
        Ok(tls)
    }

    fn check(&self, words: TlsWords) -> Result<(), String> {
        let TlsWords { ca, certificate, key } = words;
        let modes_with_ca = [TlsMode::VerifyCa, TlsMode::VerifyIdentity];
        if self.ca.is_some() && !self.mode.is_some_and(|mode| modes_with_ca.contains(&mode)) {
            return Err(format!(
                "{ca}= names authorities, which this mode does not check; say tls=verify-ca or \
                 tls=verify-identity, or leave it out"
            ));
        }
        if self.certificate.is_some() != self.key.is_some() {
            return Err(format!("{certificate}= and {key}= belong together; name both files"));
        }
        if self.mode == Some(TlsMode::Off)
            && (self.certificate.is_some() || self.start == TlsStart::Direct)
        {
            return Err("without encryption there is nothing to show a certificate to, nor to \
                        begin with; leave tls=off out or the other words"
                .to_owned());
        }
        let surely = self.mode.is_some_and(|mode| mode >= TlsMode::Required);
        if self.start == TlsStart::Direct && !surely {
            return Err(format!("{START}=direct wants tls=required, verify-ca or verify-identity"));
        }
        Ok(())
    }

    /// What is wanted of a connection to there. On a unix socket nothing is encrypted that need not
    /// be, as with both clients.
    pub fn mode_to(&self, transport: &Transport) -> TlsMode {
        match (self.mode, transport) {
            (None, _) if stays_here(transport) => TlsMode::Off,
            (Some(TlsMode::Preferred), Transport::Unix(_)) => TlsMode::Off,
            (mode, _) => mode.unwrap_or(TlsMode::Preferred),
        }
    }

    /// As options of a URL, which `Tls::take_from` reads.
    pub fn options(&self, dialect: Dialect) -> Vec<(&'static str, String)> {
        let words = TlsWords::for_dialect(dialect);
        let mut options = Vec::new();
        options.extend(self.mode.map(|mode| ("tls", mode.name().to_owned())));
        let files =
            [(words.ca, &self.ca), (words.certificate, &self.certificate), (words.key, &self.key)];
        options.extend(files.into_iter().filter_map(|(name, file)| Some((name, file.clone()?))));
        if self.start == TlsStart::Direct {
            options.push((START, "direct".to_owned()));
        }
        match &self.password_key {
            PasswordKey::Unknown => {}
            PasswordKey::File(path) => options.push((KEY_FILE, path.clone())),
            PasswordKey::Offered => options.push((KEY_OFFERED, "on".to_owned())),
        }
        options
    }
}

impl PasswordKey {
    /// With what `get-server-public-key` says. A file counts more, as for MySQL's client.
    fn or_offered(self, offered: KeyTrust) -> PasswordKey {
        match (self, offered) {
            (file @ PasswordKey::File(_), _) => file,
            (_, KeyTrust::Believed) => PasswordKey::Offered,
            (_, KeyTrust::NotBelieved) => PasswordKey::Unknown,
        }
    }

    /// With what a line of an option file says; as it is, where the line is of something else.
    ///
    /// # Errors
    /// A sentence: the value is not one of the option's.
    pub fn of_option(self, name: &str, value: &str) -> Result<PasswordKey, String> {
        match name.replace('_', "-").as_str() {
            KEY_FILE if !value.is_empty() => Ok(PasswordKey::File(value.to_owned())),
            // A bare word switches on.
            KEY_OFFERED => {
                let value = if value.is_empty() { "on" } else { value };
                Ok(self.or_offered(is_on(KEY_OFFERED, value)?))
            }
            _ => Ok(self),
        }
    }
}

/// What `get-server-public-key` says.
#[derive(Clone, Copy)]
enum KeyTrust {
    Believed,
    NotBelieved,
}

/// A switch, as MySQL's option files write it.
fn is_on(option: &str, value: &str) -> Result<KeyTrust, String> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "1" | "true" => Ok(KeyTrust::Believed),
        "off" | "0" | "false" => Ok(KeyTrust::NotBelieved),
        _ => Err(format!("{option}= is on or off")),
    }
}

fn file(option: &str, value: String) -> Result<String, String> {
    if value.is_empty() { Err(format!("{option}= wants a file")) } else { Ok(value) }
}

/// Whether what is sent there never leaves this host.
fn stays_here(transport: &Transport) -> bool {
    match transport {
        Transport::Unix(_) => true,
        Transport::Tcp(host, _) => {
            host.eq_ignore_ascii_case("localhost")
                || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: Dialect, text: &str) -> Result<Tls, String> {
        let options = text.split('&').filter_map(|option| option.split_once('='));
        let mut options = options.map(|(name, value)| (name.into(), value.into())).collect();
        let tls = Tls::take_from(&mut options, dialect)?;
        assert!(options.is_empty(), "{options:?} are left");
        Ok(tls)
    }

    #[test]
    fn either_client_is_understood_and_both_are_shown_alike() {
        use Dialect::{Mysql, Postgres};
        for (dialect, written, shown) in [
            (Mysql, "", ""),
            (Mysql, "tls=required", "tls=required"),
            (Mysql, "ssl-mode=VERIFY_IDENTITY&ssl_ca=a", "tls=verify-identity&ssl-ca=a"),
            (Mysql, "ssl-mode=DISABLED", "tls=off"),
            (Mysql, "ssl-ca=/a.pem", "tls=verify-ca&ssl-ca=/a.pem"),
            (Mysql, "ssl-cert=a&ssl-key=b", "ssl-cert=a&ssl-key=b"),
            (Mysql, "get_server_public_key=1", "get-server-public-key=on"),
            (Mysql, "get-server-public-key=off&tls=off", "tls=off"),
            (
                Mysql,
                "server-public-key-path=k.pem&get-server-public-key=on",
                "server-public-key-path=k.pem",
            ),
            (
                Mysql,
                "get-server-public-key=on&server_public_key_path=k.pem",
                "server-public-key-path=k.pem",
            ),
            (Postgres, "sslmode=prefer", "tls=preferred"),
            (Postgres, "sslmode=require", "tls=required"),
            (Postgres, "sslmode=require&sslrootcert=a", "tls=verify-ca&sslrootcert=a"),
            (Postgres, "sslmode=verify-full", "tls=verify-identity"),
            (
                Postgres,
                "sslnegotiation=direct&sslmode=require",
                "tls=required&sslnegotiation=direct",
            ),
            (Postgres, "sslnegotiation=postgres&tls=off", "tls=off"),
        ] {
            let tls = read(dialect, written).unwrap();
            let options = tls.options(dialect);
            let text: Vec<_> =
                options.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(text.join("&"), shown, "{written}");
            assert_eq!(read(dialect, shown).unwrap(), tls);
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_in_a_sentence() {
        use Dialect::{Mysql, Postgres};
        for (dialect, written, expected) in [
            (Mysql, "tls=on", "known are off, preferred"),
            (Mysql, "ssl-mode=require", "known are DISABLED"),
            (Postgres, "sslmode=REQUIRED", "known are disable"),
            (Postgres, "sslmode=allow", "leaves to the server"),
            (Postgres, "tls=off&sslmode=require", "say two things"),
            (Mysql, "tls=required&ssl-ca=a", "does not check"),
            (Mysql, "ssl-cert=a", "belong together"),
            (Mysql, "tls=off&ssl-cert=a&ssl-key=b", "leave tls=off out"),
            (Postgres, "sslnegotiation=direct", "wants tls=required"),
            (Postgres, "sslnegotiation=soon", "known are postgres and direct"),
            (Mysql, "ssl-ca=", "wants a file"),
            (Mysql, "server-public-key-path=", "wants a file"),
            (Mysql, "get-server-public-key=maybe", "is on or off"),
        ] {
            let error = read(dialect, written).unwrap_err();
            assert!(error.contains(expected), "{written}: {error}");
        }
    }

    #[test]
    fn what_stays_on_this_host_is_encrypted_only_when_asked() {
        let silent = Tls::default();
        let tcp = |host: &str| Transport::Tcp(host.to_owned(), 1);
        for here in ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"] {
            assert_eq!(silent.mode_to(&tcp(here)), TlsMode::Off, "{here}");
        }
        assert_eq!(silent.mode_to(&Transport::Unix("/s".into())), TlsMode::Off);
        for elsewhere in ["db.example", "10.0.0.1", "fe80::1", "localhost.example"] {
            assert_eq!(silent.mode_to(&tcp(elsewhere)), TlsMode::Preferred, "{elsewhere}");
        }
        let said = Tls { mode: Some(TlsMode::Required), ..Tls::default() };
        assert_eq!(said.mode_to(&tcp("127.0.0.1")), TlsMode::Required);
    }
}
