//! Where this machine gets Debian's packages from, read out of its own apt sources.
//!
//! Two formats are read, the lines of `*.list` and the stanzas of `*.sources`. dbdyno knows no
//! host: it takes the mirror that the machine's keeper chose and asks it for another suite. A
//! machine has other sources too, some under a Debian suite's name (vendors do that), so an entry
//! counts only if its suite is one of Debian's, `main` is among its components, and no foreign key
//! signs it; and what is then had must be signed by Debian's archive key all the same.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// One mirror of Debian: the archive, and the security archive if the machine uses one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mirror {
    pub(crate) archive: String,
    pub(crate) security: Option<String>,
}

/// A source as the machine has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    uri: String,
    suite: String,
    components: Vec<String>,
    signed_by: Option<String>,
}

/// Names under which Debian's suites appear: code names, and the roles that they play.
const SUITES: [&str; 14] = [
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
    "experimental",
    "rc-buggy",
];

/// What follows a suite's name for its lesser suites, on the same mirror.
const POCKETS: [&str; 4] = ["-updates", "-backports", "-proposed-updates", "-backports-sloppy"];

/// Where Debian's archive key is, under the name of Debian's own package or of its successor.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// The keys with which Debian signs. Without them nothing is asked of a mirror: what it has would
/// be believed under any key that this machine trusts.
///
/// # Errors
/// [`SandboxError::NoKeyring`].
pub(crate) fn keyring() -> Result<PathBuf, SandboxError> {
    keyring_among(&KEYRINGS.map(PathBuf::from))
}

fn keyring_among(places: &[PathBuf]) -> Result<PathBuf, SandboxError> {
    let there = places.iter().find(|path| path.is_file());
    there.cloned().ok_or_else(|| SandboxError::NoKeyring { places: places.to_vec() })
}

/// The mirrors that the machine's sources name, the most trustworthy first. `etc` is `/etc/apt`.
/// Files that cannot be read or understood are passed over.
pub(crate) fn mirrors(etc: &Path) -> Vec<Mirror> {
    let mut entries = read(&etc.join("sources.list"), parse_list);
    let mut files: Vec<PathBuf> = fs::read_dir(etc.join("sources.list.d"))
        .map(|dir| dir.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.sort();
    for file in files {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => entries.extend(read(&file, parse_list)),
            Some("sources") => entries.extend(read(&file, parse_stanzas)),
            _ => {}
        }
    }
    select(&entries)
}

fn read(path: &Path, parse: fn(&str) -> Vec<Entry>) -> Vec<Entry> {
    let bytes = fs::read(path).unwrap_or_default();
    parse(&String::from_utf8_lossy(&bytes))
}

/// `deb [signed-by=KEY arch=…] URI SUITE COMPONENT…`
fn parse_list(text: &str) -> Vec<Entry> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Entry> {
    let line = line.split('#').next()?.trim();
    let rest = line.strip_prefix("deb")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let signed_by = options.split_whitespace().find_map(|option| option.strip_prefix("signed-by="));
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Entry {
        uri: words.next()?,
        suite: words.next()?,
        components: words.collect(),
        signed_by: signed_by.map(str::to_owned),
    })
}

/// Stanzas of `Name: value`, continued on lines that begin with white space.
fn parse_stanzas(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            entries.extend(stanza(&std::mem::take(&mut fields)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = fields.last_mut() {
                value.push('\n');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    entries
}

fn stanza(fields: &[(String, String)]) -> Vec<Entry> {
    let field =
        |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, v)| v.as_str());
    let words = |name: &str| field(name).unwrap_or_default().split_whitespace();
    let disabled = field("enabled").is_some_and(|v| matches!(v, "no" | "false" | "0" | "off"));
    if disabled || !words("types").any(|kind| kind == "deb") {
        return Vec::new();
    }
    let mut entries = Vec::new();
    for uri in words("uris") {
        for suite in words("suites") {
            entries.push(Entry {
                uri: uri.to_owned(),
                suite: suite.to_owned(),
                components: words("components").map(str::to_owned).collect(),
                signed_by: field("signed-by").filter(|v| !v.is_empty()).map(str::to_owned),
            });
        }
    }
    entries
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Archive,
    Security,
}

fn kind(suite: &str) -> Option<Kind> {
    let suite = suite.trim_end_matches('/');
    let security = suite.strip_suffix("-security").or_else(|| suite.strip_suffix("/updates"));
    if security.is_some_and(is_known_suite) {
        return Some(Kind::Security);
    }
    let pocket = POCKETS.iter().find_map(|pocket| suite.strip_suffix(pocket));
    is_known_suite(pocket.unwrap_or(suite)).then_some(Kind::Archive)
}

fn is_known_suite(name: &str) -> bool {
    SUITES.contains(&name)
}

/// 0: surely Debian's; 1: nothing against it; none: signed by a foreign key, or not usable
/// unattended.
fn rank(entry: &Entry) -> Option<u8> {
    let usable = !entry.uri.starts_with("cdrom:") && entry.uri.contains(':');
    if !usable || !entry.components.iter().any(|component| component == "main") {
        return None;
    }
    match &entry.signed_by {
        Some(key) => key.contains("debian-archive").then_some(0),
        None => Some(1),
    }
}

fn select(entries: &[Entry]) -> Vec<Mirror> {
    let of_kind = |wanted: Kind| -> Vec<String> {
        let mut found: Vec<(u8, &Entry)> = entries
            .iter()
            .filter(|entry| kind(&entry.suite) == Some(wanted))
            .filter_map(|entry| Some((rank(entry)?, entry)))
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        let mut uris = Vec::new();
        for (_, entry) in found {
            if !uris.contains(&entry.uri) {
                uris.push(entry.uri.clone());
            }
        }
        uris
    };
    let security = of_kind(Kind::Security).into_iter().next();
    let archives = of_kind(Kind::Archive).into_iter();
    archives.map(|archive| Mirror { archive, security: security.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archives(entries: &[Entry]) -> Vec<String> {
        select(entries).into_iter().map(|mirror| mirror.archive).collect()
    }

    #[test]
    fn the_lines_of_a_usual_machine_give_its_mirror_and_its_security_mirror() {
        let entries = parse_list(
            "# deb http://off.example/debian bookworm main\n\
             deb-src http://src.example/debian bookworm main\n\
             deb\thttp://mirror.example/debian bookworm main contrib # ours\n\
             deb [ arch=amd64 ] http://mirror.example/debian bookworm-updates main\n\
             deb http://security.example/debian-security bookworm-security main\n\
             deb [arch=amd64 signed-by=/etc/apt/keyrings/v.gpg] https://v.example bookworm main\n\
             deb https://other.example/linux bookworm stable\n\
             deb http://pg.example/apt bookworm-pgdg main\n\
             deb cdrom:[Debian]/ bookworm main\n\
             debx http://x.example bookworm main\n",
        );
        let security = Some("http://security.example/debian-security".to_owned());
        let archive = "http://mirror.example/debian".to_owned();
        assert_eq!(select(&entries), [Mirror { archive, security }]);
    }

    #[test]
    fn stanzas_are_read_with_their_continued_lines_and_switches() {
        let text = "# comment\nTypes: deb deb-src\nURIs: http://a.example/debian\n\
                    Suites: trixie\n trixie-updates\nComponents: main\n\
                    Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n\
                    Types: deb\nURIs: http://s.example/x\nSuites: trixie-security\n\
                    Components: main\n\n\
                    Enabled: no\nTypes: deb\nURIs: http://off.example\nSuites: trixie\n\
                    Components: main\n\n\
                    Types: deb\nURIs: http://vendor.example\nSuites: trixie\nComponents: main\n\
                    Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n xyz\n";
        let security = Some("http://s.example/x".to_owned());
        let archive = "http://a.example/debian".to_owned();
        assert_eq!(select(&parse_stanzas(text)), [Mirror { archive, security }]);
    }

    #[test]
    fn a_source_under_debians_key_goes_before_one_under_no_key() {
        let entries = parse_list(
            "deb http://unsigned.example/debian stable main\n\
             deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
             http://signed.example/debian stable main\n",
        );
        let expected = ["http://signed.example/debian", "http://unsigned.example/debian"];
        assert_eq!(archives(&entries), expected);
    }

    #[test]
    fn without_debians_keys_it_is_said_how_to_get_them() {
        let dir = tempfile::tempdir().unwrap();
        let places = ["k.gpg", "k.pgp"].map(|name| dir.path().join(name));
        let error = keyring_among(&places).unwrap_err().to_string();
        assert!(error.contains("k.gpg") && error.contains("debian-archive-keyring"), "{error}");
        fs::write(&places[1], "keys").unwrap();
        assert_eq!(keyring_among(&places).unwrap(), places[1]);
    }

    #[test]
    fn a_machine_that_is_not_debian_names_no_mirror() {
        let ubuntu = "deb http://archive.example/ubuntu noble main universe\n";
        assert!(select(&parse_list(ubuntu)).is_empty());
        assert!(mirrors(Path::new("/nonexistent")).is_empty());
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_to_read(
            text in "(?s).{0,200}",
            line in "deb[ \\[\\]a-z=:/.-]{0,60}",
        ) {
            for text in [&text, &line] {
                let mut entries = parse_list(text);
                entries.extend(parse_stanzas(text));
                for mirror in select(&entries) {
                    prop_assert!(!mirror.archive.contains(char::is_whitespace));
                }
            }
        }
    }
}
