//! A private apt root: the machine's apt client and mirror, another suite, nothing of the machine
//! changed.
//!
//! ```text
//!   apt.conf ──▶ parts/  m-…  links to the machine's apt.conf.d (proxies, certificates, time-outs)
//!                        n-…  a link to its apt.conf
//!                        z-…  our directories, and no hooks; apt reads in the order of names
//!   sources.list   the machine's mirror with our suite, signed by Debian's key
//!   status         an almost empty list of installed packages: so the C library of the suite
//!                  comes along, and the server does not depend on the machine's
//! ```

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use dbdyno_host::Launch;

use crate::catalog::EXPERIMENTAL;
use crate::child;
use crate::error::SandboxError;
use crate::home::{Home, write_private};
use crate::sources::{self, Mirror};
use crate::space;
use crate::tool::{error_summary, run};

const ETC: &str = "/etc/apt";

/// Room for the indexes of a suite, in MB.
const INDEXES_MB: u64 = 100;

/// How the lines begin in which apt says what is wrong.
const COMPLAINTS: [&str; 2] = ["E:", "W:"];

/// Steps of the machine that are not for a private root: hooks that clean its caches or tell its
/// desktop, and indexes that a desktop wants.
const CLEARED: [&str; 9] = [
    "APT::Update::Pre-Invoke",
    "APT::Update::Post-Invoke",
    "APT::Update::Post-Invoke-Success",
    "DPkg::Pre-Install-Pkgs",
    "Acquire::IndexTargets::deb::DEP-11",
    "Acquire::IndexTargets::deb::DEP-11-icons",
    "Acquire::IndexTargets::deb::DEP-11-icons-small",
    "Acquire::IndexTargets::deb::DEP-11-icons-large",
    "Acquire::IndexTargets::deb::DEP-11-icons-hidpi",
];

/// A package file that apt would download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deb {
    pub(crate) file: String,
    pub(crate) bytes: u64,
}

impl Deb {
    /// Package and version, out of `NAME_VERSION_ARCHITECTURE.deb`.
    pub(crate) fn name_and_version(&self) -> Option<(String, String)> {
        let mut parts = self.file.strip_suffix(".deb")?.split('_');
        let (name, version) = (parts.next()?, parts.next()?);
        Some((name.to_owned(), version.replace("%3a", ":").replace("%3A", ":")))
    }
}

/// The private root of one suite.
#[derive(Clone)]
pub(crate) struct Apt {
    dir: PathBuf,
    suite: &'static str,
    /// The keys that its indexes must be signed by, and no others.
    keyring: PathBuf,
}

impl Apt {
    /// Sets the root up and brings its indexes up to date. The home's lock must be held.
    pub(crate) fn open(
        home: &Home,
        suite: &'static str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Apt, SandboxError> {
        space::require_free_space("downloading package indexes", home.dir(), INDEXES_MB)?;
        let keyring = sources::keyring()?;
        let apt = Apt { dir: home.dir().join("apt").join(suite), suite, keyring };
        let architecture = architecture()?;
        apt.lay_out(Path::new(ETC), &architecture)?;
        progress(&format!("reading the package indexes of Debian {suite}"));
        apt.update_from_any(&sources::mirrors(Path::new(ETC)))?;
        Ok(apt)
    }

    fn lay_out(&self, etc: &Path, architecture: &str) -> Result<(), SandboxError> {
        let parts = self.dir.join("parts");
        let _ = fs::remove_dir_all(&parts);
        for dir in ["parts", "lists/partial", "cache/archives/partial", "state"] {
            let dir = self.dir.join(dir);
            fs::create_dir_all(&dir).map_err(SandboxError::io("create", &dir))?;
        }
        let link = |from: &Path, prefix: &str| {
            let name = from.file_name().unwrap_or_default().to_string_lossy();
            let link = parts.join(format!("{prefix}-{name}"));
            symlink(from, &link).map_err(SandboxError::io("create", &link))
        };
        for part in fs::read_dir(etc.join("apt.conf.d")).into_iter().flatten().flatten() {
            link(&part.path(), "m")?;
        }
        let main = etc.join("apt.conf");
        if main.is_file() {
            link(&main, "n")?;
        }
        let conf =
            format!("Dir::Etc::parts \"{}\";\nDir::Etc::main \"/dev/null\";\n", parts.display());
        write_private(&self.dir.join("apt.conf"), &conf)?;
        write_private(&parts.join("z-dbdyno.conf"), &self.last_part(architecture))
    }

    fn last_part(&self, architecture: &str) -> String {
        let dir = self.dir.display();
        let clear: String = CLEARED.iter().map(|name| format!("#clear {name};\n")).collect();
        format!(
            "{clear}\
             Dir::Etc::sourcelist \"{dir}/sources.list\";\n\
             Dir::Etc::sourceparts \"/dev/null\";\n\
             Dir::Etc::preferences \"{dir}/preferences\";\n\
             Dir::Etc::preferencesparts \"/dev/null\";\n\
             Dir::State \"{dir}/state\";\n\
             Dir::State::lists \"{dir}/lists\";\n\
             Dir::State::status \"{dir}/state/status\";\n\
             Dir::Cache \"{dir}/cache\";\n\
             Dir::Cache::archives \"{dir}/cache/archives\";\n\
             Dir::Log \"{dir}/state\";\n\
             #clear APT::Architectures;\n\
             APT::Architecture \"{architecture}\";\n\
             APT::Architectures {{ \"{architecture}\"; }};\n\
             APT::Sandbox::User \"root\";\n\
             APT::Get::AllowUnauthenticated \"false\";\n\
             Acquire::AllowInsecureRepositories \"false\";\n\
             Acquire::AllowWeakRepositories \"false\";\n\
             Acquire::AllowDowngradeToInsecureRepositories \"false\";\n\
             APT::Install-Recommends \"false\";\n\
             APT::Update::Error-Mode \"any\";\n\
             Acquire::Languages \"none\";\n"
        )
    }

    /// Tries one mirror after the other, with its security archive and without.
    fn update_from_any(&self, mirrors: &[Mirror]) -> Result<(), SandboxError> {
        let mut failure =
            "this machine's apt sources in /etc/apt name no mirror of Debian".to_owned();
        let with = mirrors.iter().cloned();
        let bare = mirrors.iter().filter(|mirror| mirror.security.is_some());
        let without = bare.map(|mirror| Mirror { security: None, ..mirror.clone() });
        let mut first = true;
        for mirror in with.chain(without) {
            write_private(&self.dir.join("sources.list"), &self.sources_list(&mirror))?;
            self.assume(&[])?;
            let mut command = self.client("apt-get");
            command.args(["-q", "update"]);
            let output = run(command, "apt-get")?;
            if output.status.success() {
                return Ok(());
            }
            // What the most trustworthy mirror said is what helps.
            if std::mem::take(&mut first) {
                failure = error_summary(&output, &COMPLAINTS);
            }
        }
        Err(self.not_reachable(failure))
    }

    fn sources_list(&self, mirror: &Mirror) -> String {
        let key = format!("[signed-by={}] ", self.keyring.display());
        let suite = self.suite;
        let mut text = format!("deb {key}{} {suite} main\n", mirror.archive);
        if suite == EXPERIMENTAL {
            // It holds what differs from sid, and nothing else.
            text.push_str(&format!("deb {key}{} sid main\n", mirror.archive));
        }
        if let Some(security) = &mirror.security {
            text.push_str(&format!("deb {key}{security} {suite}-security main\n"));
        }
        text
    }

    /// Tells apt which packages are to count as installed.
    fn assume(&self, packages: &[&str]) -> Result<(), SandboxError> {
        let architecture = architecture()?;
        let status: String = packages
            .iter()
            .map(|name| {
                format!(
                    "Package: {name}\nStatus: install ok installed\nArchitecture: {architecture}\n\
                     Multi-Arch: foreign\nMaintainer: dbdyno\nVersion: 999:0\n\
                     Description: assumed, not needed to run a server\n\n"
                )
            })
            .collect();
        write_private(&self.dir.join("state/status"), &status)
    }

    /// Tells apt to take from experimental what belongs to this package, as its own libraries do,
    /// and everything else from sid.
    fn prefer(&self, spec: &str) -> Result<(), SandboxError> {
        let package = spec.split('=').next().unwrap_or(spec);
        let preferences = match self.suite {
            EXPERIMENTAL => format!(
                "Package: {package} src:{package}\nPin: release a={EXPERIMENTAL}\n\
                 Pin-Priority: 990\n"
            ),
            _ => String::new(),
        };
        write_private(&self.dir.join("preferences"), &preferences)
    }

    fn client(&self, tool: &'static str) -> Launch {
        let mut command = child::client(tool);
        command.env("APT_CONFIG", self.dir.join("apt.conf"));
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    /// Debian's versions of a package, as the indexes list them.
    pub(crate) fn package_versions(&self, package: &str) -> Result<Vec<String>, SandboxError> {
        let mut command = self.client("apt-cache");
        command.args(["madison", package]);
        let output = run(command, "apt-cache")?;
        Ok(parse_madison(&String::from_utf8_lossy(&output.stdout)))
    }

    /// What must be downloaded for `spec` (`PACKAGE` or `PACKAGE=VERSION`).
    pub(crate) fn packages_to_download(
        &self,
        spec: &str,
        assumed: &[&str],
    ) -> Result<Vec<Deb>, SandboxError> {
        self.assume(assumed)?;
        self.prefer(spec)?;
        let mut command = self.client("apt-get");
        command.args(["-y", "-q", "--print-uris", "install", spec]);
        let output = run(command, "apt-get")?;
        let debs = parse_uris(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() || debs.is_empty() {
            return Err(self.not_reachable(error_summary(&output, &COMPLAINTS)));
        }
        Ok(debs)
    }

    /// Downloads the closure of `spec`; returns the directory with the files.
    pub(crate) fn download(&self, spec: &str) -> Result<PathBuf, SandboxError> {
        let mut command = self.client("apt-get");
        command.args(["-y", "-q", "--download-only", "install", spec]);
        let output = run(command, "apt-get")?;
        if !output.status.success() {
            return Err(self.not_reachable(error_summary(&output, &COMPLAINTS)));
        }
        Ok(self.archives())
    }

    /// Deletes what was downloaded.
    pub(crate) fn delete_downloads(&self) {
        for entry in fs::read_dir(self.archives()).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "deb") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn archives(&self) -> PathBuf {
        self.dir.join("cache/archives")
    }

    fn not_reachable(&self, detail: String) -> SandboxError {
        let source = format!("Debian {}", self.suite);
        SandboxError::NotReachable { source, detail, check: "`apt-get update` works" }
    }
}

fn architecture() -> Result<String, SandboxError> {
    let mut command = child::machine_tool("dpkg");
    command.arg("--print-architecture");
    let output = run(command, "dpkg")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// `PACKAGE | VERSION | SOURCE` for each version.
fn parse_madison(text: &str) -> Vec<String> {
    let versions = text.lines().filter_map(|line| line.split('|').nth(1));
    versions.map(|version| version.trim().to_owned()).collect()
}

/// `'URI' FILE BYTES HASH` for each file; other lines are talk.
fn parse_uris(text: &str) -> Vec<Deb> {
    text.lines()
        .filter_map(|line| {
            let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
            let mut words = rest.split_whitespace();
            let file = words.next().filter(|file| file.ends_with(".deb") && !file.contains('/'))?;
            Some(Deb { file: file.to_owned(), bytes: words.next()?.parse().ok()? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_apt_are_read_and_talk_is_skipped() {
        let text = "Reading package lists...\nThe following NEW packages will be installed:\n\
            'http://m.example/p/libc6_2.36-9%2bdeb12u14_amd64.deb' libc6_2.36-9+deb12u14_amd64.deb \
            2759320 SHA256:00\n\
            'http://m.example/x' mariadb-common_1%3a10.11.19-0+deb12u1_all.deb 27624 SHA256:1\n\
            'http://m.example/x' ../../etc/evil.deb 1 SHA256:1\n'broken\n";
        let debs = parse_uris(text);
        assert_eq!(debs.iter().map(|deb| deb.bytes).collect::<Vec<_>>(), [2_759_320, 27_624]);
        let named = debs[1].name_and_version().unwrap();
        assert_eq!(named, ("mariadb-common".into(), "1:10.11.19-0+deb12u1".into()));
        let madison = " postgresql-15 | 15.20-0+deb12u1 | http://m.example b/main amd64 Packages\n\
                        postgresql-15 | 15.18-0+deb12u1 | http://m.example b/main amd64 Packages\n";
        assert_eq!(parse_madison(madison), ["15.20-0+deb12u1", "15.18-0+deb12u1"]);
        assert!(parse_madison("N: Unable to locate package x").is_empty());
    }

    /// Also of a mirror that the machine itself trusts blindly.
    #[test]
    fn every_source_is_held_against_debians_keys_alone() {
        let (dir, keyring) = ("/d".into(), "/k.gpg".into());
        let apt = Apt { dir, suite: EXPERIMENTAL, keyring };
        let security = Some("http://s.example".to_owned());
        let list = apt.sources_list(&Mirror { archive: "http://m.example".to_owned(), security });
        assert_eq!(list.lines().count(), 3);
        assert!(list.lines().all(|line| line.starts_with("deb [signed-by=/k.gpg] ")), "{list}");
    }

    #[test]
    fn the_machines_settings_hold_but_its_hooks_and_directories_do_not() {
        let mut dump = child::machine_tool("apt-config");
        dump.arg("dump");
        if !run(dump, "apt-config").is_ok_and(|output| output.status.success()) {
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let etc = dir.path().join("etc");
        fs::create_dir_all(etc.join("apt.conf.d")).unwrap();
        let part = "Acquire::Retries \"7\";\nDir::Cache \"/elsewhere\";\n\
                    APT::Get::AllowUnauthenticated \"true\";\n\
                    Acquire::AllowInsecureRepositories \"true\";\n\
                    Acquire::AllowWeakRepositories \"true\";\n\
                    Acquire::AllowDowngradeToInsecureRepositories \"true\";\n\
                    APT::Update::Post-Invoke { \"touch /tmp/x\"; };\n";
        fs::write(etc.join("apt.conf.d/zzzz-late"), part).unwrap();
        let main = "Dir::State \"/var/lib/apt\";\nAcquire::Languages \"de\";\n";
        fs::write(etc.join("apt.conf"), main).unwrap();
        let keyring = "/k.gpg".into();
        let apt = Apt { dir: dir.path().join("root"), suite: "trixie", keyring };
        apt.lay_out(&etc, "amd64").unwrap();
        let mut dump = apt.client("apt-config");
        dump.arg("dump");
        let output = run(dump, "apt-config").unwrap();
        let dump = String::from_utf8(output.stdout).unwrap();
        let has = |line: &str| dump.lines().any(|known| known == line);
        assert!(has("Acquire::Retries \"7\";"), "{dump}");
        assert!(!dump.contains("\"de\""), "{dump}");
        for lax in [
            "APT::Get::AllowUnauthenticated",
            "Acquire::AllowInsecureRepositories",
            "Acquire::AllowWeakRepositories",
            "Acquire::AllowDowngradeToInsecureRepositories",
        ] {
            assert!(has(&format!("{lax} \"false\";")), "{lax} in {dump}");
        }
        let root = apt.dir.display();
        for (name, value) in [("State", "state"), ("Cache", "cache")] {
            assert!(has(&format!("Dir::{name} \"{root}/{value}\";")), "{name} in {dump}");
        }
        assert!(!dump.contains("touch"), "{dump}");
    }
}
