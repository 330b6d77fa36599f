//! Certificates for servers of a test: made anew each time, in files that a server under another
//! account can read.

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};

/// The group of the account under which servers run where tests are uid 0: `nogroup`.
const NOGROUP: u32 = 65_534;

/// Who signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for a server of these names, and its key, in PEM. It is good until that year.
    pub(crate) fn sign(&self, names: &[&str], until: i32) -> (String, String) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "dbdyno");
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// A folder with certificates.
pub(crate) struct Papers(tempfile::TempDir);

impl Papers {
    pub(crate) fn new() -> Papers {
        let folder = tempfile::Builder::new().prefix("papers").tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        Papers(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The file of an authority that is believed.
    pub(crate) fn believe(&self, authority: &Authority, name: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, &authority.pem).unwrap();
        path.display().to_string()
    }

    /// Writes `NAME.pem` and `NAME.key`, over those that are there; returns both paths.
    pub(crate) fn put(&self, name: &str, signed: &(String, String)) -> [String; 2] {
        let [certificate, key] = ["pem", "key"].map(|kind| self.path(&format!("{name}.{kind}")));
        std::fs::write(&certificate, &signed.0).unwrap();
        std::fs::write(&key, &signed.1).unwrap();
        let mode = match nix::unistd::geteuid().is_root() {
            true => {
                chown(&key, None, Some(NOGROUP)).unwrap();
                0o640
            }
            false => 0o600,
        };
        std::fs::set_permissions(&key, PermissionsExt::from_mode(mode)).unwrap();
        [certificate, key].map(|path| path.display().to_string())
    }
}
