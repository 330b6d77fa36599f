//! Why there is no encrypted connection, and what to do about it, in a sentence.

use std::io::{self, ErrorKind};

use dbdyno_model::{Dialect, Tls, TlsMode, TlsWords};
use rustls::{AlertDescription, CertificateError, Error, OtherError};

/// Whom we wanted to reach, and with what words.
#[derive(Debug)]
pub(super) struct About {
    pub(super) to: String,
    pub(super) host: String,
    pub(super) dialect: Dialect,
    pub(super) tls: Tls,
}

impl About {
    /// Something of ours is wrong: no server was asked.
    pub(super) fn not_ready(&self, text: &str) -> String {
        format!("{} cannot be reached encrypted: {text}", self.to)
    }

    pub(super) fn unnameable_host(&self) -> String {
        self.not_ready(&format!(
            "{:?} is no name that a certificate can have; name the host otherwise, or say \
             tls=verify-ca",
            self.host
        ))
    }

    pub(super) fn not_offered(&self) -> String {
        let how = match self.dialect {
            Dialect::Postgres => "set ssl=on, ssl_cert_file and ssl_key_file there",
            _ => "set ssl_cert and ssl_key there (and no skip_ssl)",
        };
        self.with_advice("the server offers no encryption", how)
    }

    pub(super) fn not_direct(&self) -> String {
        format!(
            "no encrypted connection to {}: the server does not know PostgreSQL's protocol as the \
             content of TLS; direct TLS needs PostgreSQL 17 or later: leave out \
             sslnegotiation=direct",
            self.to
        )
    }

    /// The socket failed during the handshake.
    pub(super) fn socket_failure(&self, error: &io::Error, direct: bool) -> String {
        let what = match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                "it agreed to encryption and then said nothing".to_owned()
            }
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                "it closed the connection during the handshake".to_owned()
            }
            _ => format!("{error} during the handshake"),
        };
        if direct {
            return format!(
                "no encrypted connection to {}: {what}; direct TLS needs PostgreSQL 17 or later: \
                 leave out sslnegotiation=direct",
                self.to
            );
        }
        self.with_advice(&what, "see the server's error log")
    }

    /// TLS itself failed.
    pub(super) fn tls_failure(&self, error: &Error, direct: bool) -> String {
        match error {
            Error::InvalidCertificate(error) => self.not_believed(error),
            Error::PeerIncompatible(_)
            | Error::AlertReceived(
                AlertDescription::ProtocolVersion
                | AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity,
            ) => self.nothing_in_common(error),
            Error::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::UnknownCA
                | AlertDescription::BadCertificate
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::AccessDenied,
            ) => self.not_admitted(error),
            Error::InvalidMessage(_) if direct => self.not_direct(),
            Error::NoApplicationProtocol
            | Error::AlertReceived(AlertDescription::NoApplicationProtocol) => self.not_direct(),
            other => self.with_advice(
                &format!("TLS failed: {other}"),
                "see the server's error log, and whether something stands between us and it",
            ),
        }
    }

    fn nothing_in_common(&self, error: &Error) -> String {
        let setting = match self.dialect {
            Dialect::Postgres => "ssl_min_protocol_version, ssl_max_protocol_version, ssl_ciphers",
            _ => "tls_version, ssl_cipher",
        };
        self.with_advice(
            &format!("the server and dbdyno have no way of encrypting in common ({error})"),
            &format!(
                "dbdyno speaks TLS 1.2 and 1.3 with ephemeral keys: let the server do so \
                 ({setting})"
            ),
        )
    }

    fn not_admitted(&self, error: &Error) -> String {
        let TlsWords { certificate, key, .. } = TlsWords::for_dialect(self.dialect);
        let what = match self.tls.certificate {
            Some(_) => format!("does not take the certificate that {certificate}= names ({error})"),
            None => format!("wants a certificate of ours ({error})"),
        };
        format!(
            "no encrypted connection to {}: the server {what}; name one that its authorities have \
             signed, with {certificate}=FILE and {key}=FILE",
            self.to
        )
    }

    fn not_believed(&self, error: &CertificateError) -> String {
        let ca = TlsWords::for_dialect(self.dialect).ca;
        let (whose, renew) = ("the server's certificate", "give the server a new one");
        let (what, advice) = match error {
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                let by = match self.tls.ca.as_deref() {
                    None | Some("system") => "no authority of this machine".to_owned(),
                    Some(path) => format!("none of the authorities in {path}"),
                };
                let advice = format!("name the file of the one that signed it as {ca}=FILE");
                (format!("{whose} is signed by {by}"), advice)
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                (format!("{whose} has expired{}", days_since(error)), renew.to_owned())
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => (
                format!("{whose} is not valid yet"),
                "look at the clocks of both hosts, or give the server another one".to_owned(),
            ),
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                return self.other_name(error);
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => (
                format!("{whose} is not for servers"),
                "give the server one with the purpose serverAuth".to_owned(),
            ),
            CertificateError::Other(OtherError(other)) => (
                format!("{whose} is of a form that cannot be verified ({other})"),
                "give the server one of version 3 that is not an authority's own (basicConstraints \
                 CA:FALSE)"
                    .to_owned(),
            ),
            other => (format!("{whose} is not believed ({other})"), renew.to_owned()),
        };
        self.unverified(&what, &advice)
    }

    fn other_name(&self, error: &CertificateError) -> String {
        let names = match error {
            CertificateError::NotValidForNameContext { presented, .. } => presented.as_slice(),
            _ => &[],
        };
        let names = match names {
            [] => "it names none in subjectAltName, and a common name does not count".to_owned(),
            // `DnsName("db.example")` is `db.example`.
            names => {
                format!(
                    "it is for {}",
                    names
                        .iter()
                        .map(|name| match name.split_once(['(', ')', '"']) {
                            Some(_) => name.split('"').nth(1).unwrap_or(name).to_owned(),
                            None => name.clone(),
                        })
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            }
        };
        let host = &self.host;
        format!(
            "no encrypted connection to {}: the server's certificate is not for the host {host}: \
             {names}; name the host as the certificate does, or say tls=verify-ca to believe its \
             authority alone",
            self.to
        )
    }

    fn unverified(&self, what: &str, advice: &str) -> String {
        format!(
            "no encrypted connection to {}: {what}; {advice}, or say tls=required to encrypt \
             without verifying",
            self.to
        )
    }

    fn with_advice(&self, what: &str, advice: &str) -> String {
        let otherwise = match self.tls.mode {
            Some(TlsMode::VerifyCa | TlsMode::VerifyIdentity | TlsMode::Required) => {
                "or say tls=off to measure without encryption"
            }
            _ => "or say tls=off",
        };
        format!("no encrypted connection to {}: {what}; {advice}, {otherwise}", self.to)
    }
}

/// How long ago it expired, for people: ` 3 days ago`.
fn days_since(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { time, not_after } => {
            let days = time.as_secs().saturating_sub(not_after.as_secs()) / 86_400;
            match days {
                0 => " today".to_owned(),
                1 => " a day ago".to_owned(),
                days => format!(" {days} days ago"),
            }
        }
        _ => String::new(),
    }
}
