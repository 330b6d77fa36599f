//! Whom a client believes, and what it shows of itself.

use std::path::Path;
use std::sync::Arc;

use dbdyno_model::{Tls, TlsMode, TlsWords};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use super::authorities;
use crate::key_file;

/// What all connections of an arm share. Errors say what is wrong with which file.
pub(super) fn client_config(
    tls: &Tls,
    mode: TlsMode,
    words: TlsWords,
) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(tls, mode, words, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let (Some(certificate), Some(key)) = (&tls.certificate, &tls.key) else {
        return Ok(builder.with_no_client_auth());
    };
    let chain = read_certificates(words.certificate, certificate)?;
    let private = private_key(words.key, key)?;
    builder.with_client_auth_cert(chain, private).map_err(|error| match error {
        Error::InconsistentKeys(_) => format!(
            "the key of {}={key} is not that of the certificate in {}={certificate}; name the two \
             that belong together",
            words.key, words.certificate
        ),
        other => format!("{}={key} is of no use: {other}", words.key),
    })
}

fn verifier(
    tls: &Tls,
    mode: TlsMode,
    words: TlsWords,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    if mode <= TlsMode::Required {
        return Ok(Arc::new(Anybody(Arc::clone(provider))));
    }
    let roots = authorities::read(words.ca, tls.ca.as_deref())?;
    let built =
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    let webpki = built.map_err(|error| format!("{}: {error}", words.ca))?;
    Ok(match mode {
        TlsMode::VerifyIdentity => webpki,
        _ => Arc::new(AnyName(webpki)),
    })
}

/// All certificates of a file.
pub(super) fn read_certificates(
    option: &str,
    path: &str,
) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = read(option, path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!(
            "{option}={path} has no certificate in it; name a file in PEM, with lines BEGIN \
             CERTIFICATE and END CERTIFICATE"
        )),
        Err(error) => Err(format!("{option}={path} cannot be understood: {error}")),
    }
}

pub(super) fn private_key(option: &str, path: &str) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(&read(option, path)?).map_err(|_| {
        format!(
            "{option}={path} has no private key in PEM that can be read; a key with a passphrase \
             is not: write it without one, by openssl pkey -in FILE -out NEW"
        )
    })
}

fn read(option: &str, path: &str) -> Result<Vec<u8>, String> {
    key_file::read(Path::new(path))
        .map_err(|error| format!("{option}={path}: {error}; name a file that can be read"))
}

/// Believes whoever answers. Who proves a key that nobody vouches for proves nothing, so that is
/// not looked at either: old servers have certificates of a form that webpki does not take.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Believes a certificate that an authority has signed, whatever name is in it. webpki looks at
/// the name last, so that a wrong one says that all else is right.
#[derive(Debug)]
struct AnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.0.verify_server_cert(certificate, between, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
