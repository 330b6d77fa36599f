//! The stamp of a finished tree: what it is, where it came from, and where it was made.
//!
//! A tree is written under a temporary name, stamped, flushed to the disk and renamed; one without
//! a stamp that can be read is therefore not finished and not used. Executables have the tree's
//! path in them, so the stamp has it too: if it differs from where the tree is found, the home was
//! moved.
//!
//! Checksums are ours, taken of the packages before they were unpacked; what the registry's client
//! had verified by then is said in `registry`.

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_model::{Product, SourceKind};

use crate::error::SandboxError;
use crate::home::write_private;

const FILE: &str = "dbdyno-stamp";
const FORMAT: &str = "dbdyno-release 1";

/// What is known of an unpacked release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) product: Product,
    pub(crate) line: String,
    pub(crate) version: String,
    /// Debian's suite; empty elsewhere.
    pub(crate) suite: String,
    pub(crate) root: PathBuf,
    pub(crate) packages: Vec<(String, String)>,
    pub(crate) source: SourceKind,
    /// What the source calls it: a package, coordinates, a path.
    pub(crate) called: String,
    /// Directories with libraries that the server must be told of, relative to the tree.
    pub(crate) libraries: Vec<PathBuf>,
    /// Name and SHA-256 of each package.
    pub(crate) sums: Vec<(String, String)>,
}

impl Stamp {
    /// Reads the stamp of `tree`; none if the tree is not finished.
    pub(crate) fn read(tree: &Path) -> Option<Stamp> {
        parse(&fs::read_to_string(tree.join(FILE)).ok()?)
    }

    /// Stamps `tree`.
    pub(crate) fn write(&self, tree: &Path) -> Result<(), SandboxError> {
        write_private(&tree.join(FILE), &self.text())
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{FORMAT}\nproduct {}\nline {}\nversion {}\nsuite {}\nroot {}\nsource {}\ncalled {}\n",
            self.product.name(),
            self.line,
            self.version,
            self.suite,
            self.root.display(),
            self.source.name(),
            one_line(&self.called),
        );
        for dir in &self.libraries {
            text.push_str(&format!("libraries {}\n", dir.display()));
        }
        for (file, sum) in &self.sums {
            text.push_str(&format!("sha256 {sum} {}\n", one_line(file)));
        }
        for (name, version) in &self.packages {
            text.push_str(&format!("package {name} {version}\n"));
        }
        text.push_str("end\n");
        text
    }
}

/// The name of a file as a word of a line, whatever it is called.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn parse(text: &str) -> Option<Stamp> {
    let body = text.strip_prefix(FORMAT)?.strip_suffix("end\n")?;
    let pairs: Vec<(&str, &str)> = body.lines().filter_map(|line| line.split_once(' ')).collect();
    let of = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let product = of("product")?;
    let all = |name: &'static str| {
        pairs.iter().filter(move |(known, _)| *known == name).map(|(_, value)| *value)
    };
    let packages = all("package").filter_map(|value| value.split_once(' '));
    let sums = all("sha256").filter_map(|value| value.split_once(' '));
    // Stamps from before there was another source than Debian do not name it.
    let source = of("source").map_or(Some(SourceKind::Debian), SourceKind::named)?;
    Some(Stamp {
        product: Product::named(product)?,
        line: of("line")?.to_owned(),
        version: of("version")?.to_owned(),
        suite: of("suite")?.to_owned(),
        root: PathBuf::from(of("root")?),
        packages: packages.map(|(name, v)| (name.to_owned(), v.to_owned())).collect(),
        source,
        called: of("called").unwrap_or_default().to_owned(),
        libraries: all("libraries").map(PathBuf::from).collect(),
        sums: sums.map(|(sum, file)| (file.to_owned(), sum.to_owned())).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_back_whole_and_a_torn_one_not_at_all() {
        let stamp = Stamp {
            product: Product::MariaDb,
            line: "10.11".into(),
            version: "10.11.19".into(),
            suite: "bookworm".into(),
            root: "/h/servers/mariadb-10.11.19".into(),
            packages: vec![("libc6".into(), "2.36-9".into()), ("x".into(), "1:2".into())],
            source: SourceKind::Debian,
            called: "mariadb-server-core".into(),
            libraries: vec!["a/b".into(), "c".into()],
            sums: vec![("x_1%3a2_amd64.deb".into(), "00ff".into())],
        };
        let text = stamp.text();
        assert_eq!(parse(&text), Some(stamp));
        for length in 0..text.len() {
            assert_eq!(parse(&text[..length]), None, "torn at {length}");
        }
    }

    #[test]
    fn a_stamp_of_old_is_debians() {
        let text = "dbdyno-release 1\nproduct postgres\nline 15\nversion 15.20\n\
                    suite bookworm\nroot /h/x\npackage libc6 2.36\nend\n";
        let stamp = parse(text).unwrap();
        assert_eq!((stamp.source, stamp.called.as_str()), (SourceKind::Debian, ""));
        assert!(parse(&text.replace("suite", "source nowhere\nsuite")).is_none());
    }
}
