//! The authorities that are believed: those of a file, or those of the machine.

use std::fs;
use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::key_file;

/// What stands for those of the machine, as with PostgreSQL's client.
const SYSTEM: &str = "system";
/// Where distributions keep them: Debian, Fedora, SUSE, Alpine.
const OF_THE_MACHINE: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Reads them; those of the machine where no file is named.
pub(super) fn read(option: &str, file: Option<&str>) -> Result<RootCertStore, String> {
    match file {
        None | Some(SYSTEM) => {
            let found = OF_THE_MACHINE.iter().find_map(|path| fs::read(path).ok());
            let pem = found.ok_or_else(|| {
                format!(
                    "this machine has no file of authorities ({}); name one with {option}=FILE",
                    OF_THE_MACHINE.join(", ")
                )
            })?;
            store(&pem).ok_or_else(|| "the authorities of this machine cannot be read".to_owned())
        }
        Some(path) => {
            let pem = key_file::read(Path::new(path))
                .map_err(|e| format!("{option}={path}: {e}; name a file that can be read"))?;
            store(&pem).ok_or_else(|| {
                format!(
                    "{option}={path} has no certificate of an authority in it; name a file in \
                     PEM, with lines BEGIN CERTIFICATE and END CERTIFICATE"
                )
            })
        }
    }
}

/// Whatever is an authority in there; those of a machine have some that no longer are.
fn store(pem: &[u8]) -> Option<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_slice_iter(pem).filter_map(Result::ok);
    let (added, _) = roots.add_parsable_certificates(certificates);
    (added > 0).then_some(roots)
}
