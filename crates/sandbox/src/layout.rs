//! Where things are in a tree of executables.
//!
//! Each maker and each packager puts them elsewhere, and a tree says by its files which way it is:
//!
//! ```text
//!   Debian          usr/sbin/mariadbd  usr/share/mysql/english/errmsg.sys  usr/lib/mysql/plugin/
//!   the makers      bin/mysqld         share/english/errmsg.sys            lib/plugin/
//!   npm             mysqld             share/english/errmsg.sys
//!   PostgreSQL      usr/lib/postgresql/17/bin/postgres, or bin/postgres
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_model::{Dialect, Product};

use crate::catalog::compare_versions;

/// Places of a tree, relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The server's executable.
    pub(crate) server: PathBuf,
    /// Where the server looks for its other files: `--basedir`.
    pub(crate) base: PathBuf,
    /// Messages, character sets and initial SQL; none for PostgreSQL, which finds its own.
    pub(crate) share: Option<PathBuf>,
    /// Plugins, if there are any.
    pub(crate) plugins: Option<PathBuf>,
}

/// Directories in which the MySQL family has its server.
const BINS: [&str; 6] = ["usr/sbin", "usr/bin", "bin", "sbin", "libexec", ""];
const PLUGINS: [&str; 4] = ["lib/mysql/plugin", "lib/plugin", "lib64/mysql/plugin", "lib64/plugin"];
/// How deep in an unpacked package a tree may begin.
const DEEPEST: usize = 7;

impl Layout {
    /// The places of `product` in `tree`; none if its server is not there.
    pub(crate) fn find_in_tree(product: Product, tree: &Path) -> Option<Layout> {
        match product.dialect() {
            Dialect::Postgres => postgres(tree),
            _ => mysql_family(product, tree),
        }
    }

    /// The directory of the server and of the programs that came with it.
    pub(crate) fn program_dir(&self) -> PathBuf {
        self.server.parent().map(Path::to_owned).unwrap_or_default()
    }

    /// Everything of ours that may be executed in `tree`: the server, what initialises a data
    /// directory, and the clients.
    pub(crate) fn program_paths(&self, tree: &Path) -> Vec<PathBuf> {
        let mut programs = vec![tree.join(&self.server)];
        let names = ["initdb", "psql", "pg_ctl", "mariadb", "mysql"];
        let places = [self.program_dir(), self.base.join("bin")];
        for (place, name) in places.iter().flat_map(|place| names.map(|name| (place, name))) {
            let program = tree.join(place).join(name);
            let real = fs::symlink_metadata(&program).is_ok_and(|data| data.is_file());
            if real && !programs.contains(&program) {
                programs.push(program);
            }
        }
        programs
    }
}

fn mysql_family(product: Product, tree: &Path) -> Option<Layout> {
    let names: &[&str] =
        if product == Product::MariaDb { &["mariadbd", "mysqld"] } else { &["mysqld"] };
    let mut places =
        BINS.iter().flat_map(|dir| names.iter().map(move |name| Path::new(dir).join(name)));
    let server = places.find(|place| tree.join(place).is_file())?;
    let bin = server.parent().unwrap_or(Path::new(""));
    // A server that lies at the top has its files beside it.
    let base = bin.parent().unwrap_or(bin).to_owned();
    let share = share(&tree.join(&base))?;
    let plugins = PLUGINS.iter().map(|place| base.join(place));
    Some(Layout {
        plugins: plugins.into_iter().find(|place| tree.join(place).is_dir()),
        share: Some(share.strip_prefix(tree).ok()?.to_owned()),
        server,
        base,
    })
}

/// The directory with the messages. One with initial SQL is preferred: MariaDB's changed its name
/// between 10.11 and 11.8, and some releases have both.
fn share(base: &Path) -> Option<PathBuf> {
    let share = base.join("share");
    let subdirs = fs::read_dir(&share).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut places: Vec<PathBuf> = subdirs.filter(|path| path.is_dir()).collect();
    places.sort();
    places.push(share);
    let found = places.iter().find(|place| has_messages(place) && has_sql(place));
    found.or_else(|| places.iter().find(has_messages)).cloned()
}

fn has_messages(place: &&PathBuf) -> bool {
    place.join("english/errmsg.sys").is_file()
}

fn has_sql(place: &&PathBuf) -> bool {
    let scripts = ["mariadb_system_tables.sql", "mysql_system_tables.sql"];
    scripts.iter().any(|script| place.join(script).is_file())
}

fn postgres(tree: &Path) -> Option<Layout> {
    let versions = fs::read_dir(tree.join("usr/lib/postgresql")).into_iter().flatten().flatten();
    let mut debian: Vec<String> =
        versions.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    // A system may have several: the newest.
    debian.sort_by(|a, b| compare_versions(b, a));
    let debian = debian.iter().map(|version| Path::new("usr/lib/postgresql").join(version));
    let base = debian.chain([PathBuf::new()]).find(|base| {
        let has = |name| tree.join(base).join("bin").join(name).is_file();
        has("postgres") && has("initdb")
    })?;
    Some(Layout { server: base.join("bin/postgres"), base, share: None, plugins: None })
}

/// The directory below `unpacked` that is a tree of `product`.
pub(crate) fn root_in(product: Product, unpacked: &Path) -> Option<PathBuf> {
    let mut level = vec![unpacked.to_owned()];
    for _ in 0..DEEPEST {
        if let Some(root) = level.iter().find(|dir| Layout::find_in_tree(product, dir).is_some()) {
            return Some(root.clone());
        }
        let below = level.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
        level = below
            .map(|entry| entry.path())
            .filter(|path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()))
            .collect();
        level.sort();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    #[test]
    fn every_way_to_lay_out_a_tree_is_found() {
        let debian = tree(&[
            "usr/sbin/mariadbd",
            "usr/share/mysql/english/errmsg.sys",
            "usr/share/mysql/mysql_system_tables.sql",
            "usr/share/mariadb/english/errmsg.sys",
            "usr/lib/mysql/plugin/x.so",
        ]);
        let layout = Layout::find_in_tree(Product::MariaDb, debian.path()).unwrap();
        assert_eq!(layout.base, Path::new("usr"));
        assert_eq!(layout.share.as_deref(), Some(Path::new("usr/share/mysql")));
        assert_eq!(layout.plugins.as_deref(), Some(Path::new("usr/lib/mysql/plugin")));
        assert_eq!(Layout::find_in_tree(Product::MySql, debian.path()), None);

        let npm = tree(&["package/server/mysqld", "package/server/share/english/errmsg.sys"]);
        let root = root_in(Product::MySql, npm.path()).unwrap();
        assert_eq!(root, npm.path().join("package/server"));
        let layout = Layout::find_in_tree(Product::MySql, &root).unwrap();
        assert_eq!((layout.base.as_path(), layout.plugins), (Path::new(""), None));
        assert_eq!(layout.share.as_deref(), Some(Path::new("share")));

        let postgres =
            tree(&["usr/lib/postgresql/17/bin/postgres", "usr/lib/postgresql/17/bin/initdb"]);
        let layout = Layout::find_in_tree(Product::Postgres, postgres.path()).unwrap();
        assert_eq!(layout.program_dir(), Path::new("usr/lib/postgresql/17/bin"));
        assert_eq!(layout.program_paths(postgres.path()).len(), 2);
    }

    #[test]
    fn half_a_tree_is_none() {
        let half = tree(&["bin/mysqld", "x/bin/postgres"]);
        for product in Product::ALL {
            assert_eq!(root_in(product, half.path()), None);
        }
    }
}
