//! Data directories with tables in them, loaded once and copied for each start.
//!
//! ```text
//!   images/RELEASE-HASH/
//!     dbdyno-image   the stamp: key, size, and length and hash of every file; its time is that of
//!                    the last use, and who copies the image holds it locked
//!     password       of the account in it; readable by dbdyno only
//!     s/data         the data directory, which nobody ever runs on
//!
//!   fill ─▶ stop ─▶ slow stop with a small redo log ─▶ rename into images/
//!                                                        │ copy
//!                 every arm, every later run  ◀──────────┘
//! ```
//!
//! The key says everything that shapes the data directory: the release and its packages, the
//! settings, the tables. A setting counts unless it is known not to leave a trace in the data: one
//! that is not known costs a filling, never a wrong image. The hash in the name is short; what
//! decides is the key in the stamp.
//!
//! An image appears whole, by a rename, or not at all: until then it lies in a claim, which is
//! swept when its owner is gone. It is removed the same way: first renamed into a claim. It is
//! copied, not linked, so that no write of a server reaches it; `server images --check` proves it.
//!
//! Images take a quarter of the room there is at most; beyond that those that were not used for
//! the longest time go.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dbdyno_model::random::{key_of, mix_bits};
use dbdyno_model::{Product, Secret};

use crate::catalog::at_least;
use crate::claim::Claim;
use crate::clock;
use crate::error::SandboxError;
use crate::foreign_files::{open_plain, private_dir};
use crate::home::{Home, make_passage, write_private};
use crate::lock::LockedFile;
use crate::options::LaunchOptions;
use crate::release::Release;
use crate::relocate::flush;
use crate::space;
use crate::template::{self, Template};

const STAMP: &str = "dbdyno-image";
const FORMAT: &str = "dbdyno-image 1";
/// One part in so many of the room that there is, free or taken by images, is for images.
const SHARE: u64 = 4;

/// Settings that leave no trace in the data of a server that was shut down. The size of the redo
/// log is among them where a server makes it anew at its start, see [`is_traceless`].
const TRACELESS: [&str; 24] = [
    "autovacuum",
    "dynamic_shared_memory_type",
    "fsync",
    "huge_pages",
    "innodb_buffer_pool_size",
    "innodb_buffer_pool_size_max",
    "innodb_data_file_buffering",
    "innodb_data_file_write_through",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_redo_log_capacity",
    "jit",
    "max_connections",
    "max_wal_size",
    "mysqlx",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "shared_buffers",
    "skip_name_resolve",
    "skip_ssl",
    "sync_binlog",
    "synchronous_commit",
    "work_mem",
];

/// Everything that shapes a data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageKey {
    tree: String,
    lines: Vec<String>,
}

impl ImageKey {
    /// The key of tables that `release` is filled with. `content` says everything about them, a
    /// line each.
    ///
    /// # Errors
    /// As [`LaunchOptions::translate_for`].
    pub fn new(
        release: &Release,
        options: &LaunchOptions,
        content: &[String],
    ) -> Result<ImageKey, SandboxError> {
        let mut lines = vec![
            format!("release {} {}", release.name(), release.fingerprint()),
            // How accounts are made.
            format!("template {}", template::FORMAT),
        ];
        let translation = options.told_to(release)?;
        for told in translation.made_with.iter().chain(&translation.told) {
            if !is_traceless(release.product, &release.version, &told.name) {
                lines.push(format!("setting {}={}", told.name, told.value));
            }
        }
        lines.extend(content.iter().map(|line| format!("content {}", line.replace('\n', " "))));
        Ok(ImageKey { tree: release.name(), lines })
    }

    /// What an image with this key is called.
    pub fn name(&self) -> String {
        format!("{}-{:012x}", self.tree, key_of(&self.lines.join("\n")) >> 16)
    }
}

/// Whether a setting leaves no trace. Before 5.6.8 MySQL did not start with another size of the
/// redo log than that of the files which are there.
fn is_traceless(product: Product, version: &str, name: &str) -> bool {
    let name = name.replace('-', "_");
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    let resizes = product != Product::MySql || at_least(version, "5.6.8");
    TRACELESS.contains(&name) || (name == "innodb_log_file_size" && resizes)
}

/// A loaded data directory.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its name among the others.
    pub name: String,
    /// The release that it was loaded by, as its tree is called.
    pub tree: String,
    /// Its key, a line for each thing that shapes it.
    pub key: Vec<String>,
    /// Disk that it takes, in MB.
    pub mb: u64,
    /// When it was last used.
    pub used: SystemTime,
    dir: PathBuf,
    files: Vec<Entry>,
}

/// A file of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    path: String,
    length: u64,
    hash: u64,
}

/// Held while an image is copied, so that nobody removes it.
pub(crate) struct Use {
    pub(crate) template: Template,
    _lock: LockedFile,
}

impl Image {
    /// All of them, the one that was used last first.
    pub fn all_in(home: &Home) -> Vec<Image> {
        let entries = fs::read_dir(home.images()).into_iter().flatten().flatten();
        let mut all: Vec<Image> = entries.filter_map(|entry| Image::read(&entry.path())).collect();
        all.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// The one with this name.
    pub fn find_by_name(home: &Home, name: &str) -> Option<Image> {
        Image::all_in(home).into_iter().find(|image| image.name == name)
    }

    /// The one with this key, if it is here and has all its files.
    pub fn find(home: &Home, key: &ImageKey) -> Option<Image> {
        let image = Image::read(&home.images().join(key.name()))?;
        (image.key == key.lines && image.has_its_files()).then_some(image)
    }

    /// Reads every file and compares it with what it was when the image was made.
    ///
    /// # Errors
    /// [`SandboxError::Damaged`] if anything differs.
    pub fn verify_files(&self) -> Result<(), SandboxError> {
        let data = self.data();
        let found = entries_of(&data).map_err(SandboxError::io("read", &data))?;
        if found == self.files {
            return Ok(());
        }
        let differs = self.files.iter().find(|entry| !found.contains(entry));
        let differs = differs.or_else(|| found.iter().find(|entry| !self.files.contains(entry)));
        let detail = format!(
            "{} is not what it was when the image was made; remove it with `dbdyno server rm {}`",
            differs.map_or("the order of files", |entry| entry.path.as_str()),
            self.name
        );
        Err(SandboxError::Damaged { place: data, detail })
    }

    /// The version of the release that it was loaded by.
    pub(crate) fn version(&self) -> String {
        let version = self.tree.split_once('-').map_or("", |(_, version)| version);
        version.split('@').next().unwrap_or_default().to_owned()
    }

    /// One number for the content of all files.
    pub fn content_hash(&self) -> u64 {
        self.files.iter().fold(0, |hash, entry| mix_bits(hash ^ entry.hash ^ key_of(&entry.path)))
    }

    /// Removes it, unless somebody copies it at this moment. Whether it was removed.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn remove(
        &self,
        home: &Home,
        progress: &mut dyn FnMut(&str),
    ) -> Result<bool, SandboxError> {
        let Ok(stamp) = File::open(self.dir.join(STAMP)) else { return Ok(true) };
        if stamp.try_lock().is_err() {
            return Ok(false);
        }
        // Away from its name at once: half an image must not be found.
        let claim = Claim::new(home, "image", progress)?;
        match fs::rename(&self.dir, claim.dir().join("image")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SandboxError::io("rename", &self.dir)(error))
            }
            _ => Ok(true),
        }
    }

    /// Keeps it from being removed while it is copied, and counts as a use.
    pub(crate) fn begin_use(&self) -> Result<Use, SandboxError> {
        let path = self.dir.join(STAMP);
        let gone = || SandboxError::Unsuitable {
            what: format!("image {}", self.name),
            reason: "another dbdyno has removed it; run the command again".to_owned(),
        };
        let stamp = File::open(&path).map_err(|_| gone())?;
        stamp.lock_shared().map_err(SandboxError::io("lock", &path))?;
        let secret = self.dir.join("password");
        // Removed between opening and locking, it is not under its name any more.
        let password = fs::read_to_string(&secret).map_err(|_| gone())?;
        let _only_for_the_order = stamp.set_modified(clock::time_of_day());
        let template = Template { data: self.data(), password: Secret::new(password.trim()) };
        Ok(Use { template, _lock: LockedFile(stamp) })
    }

    fn data(&self) -> PathBuf {
        self.dir.join("s/data")
    }

    fn has_its_files(&self) -> bool {
        let data = self.data();
        self.files.iter().all(|entry| {
            let found = fs::symlink_metadata(data.join(&entry.path));
            found.is_ok_and(|found| found.len() == entry.length)
        })
    }

    fn read(dir: &Path) -> Option<Image> {
        let stamp = dir.join(STAMP);
        let used = fs::metadata(&stamp).and_then(|found| found.modified()).ok()?;
        let Stamp { tree, key, mb, files } = parse(&fs::read_to_string(stamp).ok()?)?;
        let name = dir.file_name()?.to_str()?.to_owned();
        Some(Image { name, tree, key, mb, used, dir: dir.to_owned(), files })
    }
}

/// Whether there is room for an image of `mb` and a copy of it; makes room by removing those that
/// were not used for the longest time.
///
/// # Errors
/// [`SandboxError::Io`].
pub(crate) fn make_room(
    home: &Home,
    mb: u64,
    progress: &mut dyn FnMut(&str),
) -> Result<bool, SandboxError> {
    let mut images = Image::all_in(home);
    loop {
        let taken: u64 = images.iter().map(|image| image.mb).sum();
        let free = space::free_mb(home.dir())?;
        // The image itself is there already: the data directory becomes it.
        if fits(mb, taken, free) {
            return Ok(true);
        }
        let Some(oldest) = images.pop() else { return Ok(false) };
        oldest.remove(home, progress)?;
    }
}

/// The room that an image of `mb` wants to be free beside itself, if there are no others.
pub(crate) fn room_for(mb: u64) -> u64 {
    mb.saturating_mul(SHARE - 1)
}

fn fits(mb: u64, taken: u64, free: u64) -> bool {
    taken + mb <= (free + taken + mb) / SHARE && mb <= free
}

/// Turns the data directory of a server that was shut down into an image. If another dbdyno has
/// made the same one meanwhile, that is returned.
pub(crate) fn keep_image(
    home: &Home,
    key: &ImageKey,
    data: &Path,
    password: &Secret,
    progress: &mut dyn FnMut(&str),
) -> Result<Image, SandboxError> {
    let claim = Claim::new(home, "image", progress)?;
    let fresh = claim.dir().join("image");
    make_passage(&fresh)?;
    let work = fresh.join("s");
    private_dir(&work).map_err(SandboxError::io("create", &work))?;
    let kept = work.join("data");
    fs::rename(data, &kept).map_err(SandboxError::io("rename", data))?;
    forget_buffers(&kept);
    write_private(&fresh.join("password"), password.expose())?;
    let stamp = Stamp {
        tree: key.tree.clone(),
        key: key.lines.clone(),
        mb: space::size_mb(&kept)?,
        files: entries_of(&kept).map_err(SandboxError::io("read", &kept))?,
    };
    write_private(&fresh.join(STAMP), &stamp.text())?;
    flush(&fresh)?;
    let dir = home.images().join(key.name());
    if fs::rename(&fresh, &dir).is_err() {
        if let Some(theirs) = Image::find(home, key) {
            return Ok(theirs);
        }
        // Not whole, or of an older format.
        if dir.exists() {
            let old = claim.dir().join("old");
            fs::rename(&dir, &old).map_err(SandboxError::io("rename", &dir))?;
        }
        fs::rename(&fresh, &dir).map_err(SandboxError::io("rename", &fresh))?;
    }
    Image::read(&dir).ok_or_else(|| SandboxError::Damaged {
        place: dir,
        detail: "the stamp that was just written cannot be read".to_owned(),
    })
}

/// Removes the list of pages that InnoDB would read at its next start.
pub(crate) fn forget_buffers(data: &Path) {
    let _need_not_be_there = fs::remove_file(data.join("ib_buffer_pool"));
}

struct Stamp {
    tree: String,
    key: Vec<String>,
    mb: u64,
    files: Vec<Entry>,
}

impl Stamp {
    fn text(&self) -> String {
        let mut text = format!("{FORMAT}\ntree {}\nmb {}\n", self.tree, self.mb);
        for line in &self.key {
            let _infallible = writeln!(text, "key {line}");
        }
        for Entry { path, length, hash } in &self.files {
            let _infallible = writeln!(text, "file {hash:016x} {length} {path}");
        }
        text.push_str("end\n");
        text
    }
}

fn parse(text: &str) -> Option<Stamp> {
    let body = text.strip_prefix(FORMAT)?.strip_prefix('\n')?.strip_suffix("end\n")?;
    let mut stamp = Stamp { tree: String::new(), key: Vec::new(), mb: 0, files: Vec::new() };
    for line in body.lines() {
        match line.split_once(' ')? {
            ("tree", tree) => tree.clone_into(&mut stamp.tree),
            ("mb", mb) => stamp.mb = mb.parse().ok()?,
            ("key", key) => stamp.key.push(key.to_owned()),
            ("file", rest) => {
                let mut words = rest.splitn(3, ' ');
                let hash = u64::from_str_radix(words.next()?, 16).ok()?;
                let length = words.next()?.parse().ok()?;
                stamp.files.push(Entry { path: words.next()?.to_owned(), length, hash });
            }
            _ => return None,
        }
    }
    Some(stamp)
}

/// Every file below `dir`, in the order of their paths.
fn entries_of(dir: &Path) -> io::Result<Vec<Entry>> {
    let mut paths = vec![dir.to_owned()];
    let mut entries = Vec::new();
    while let Some(path) = paths.pop() {
        if fs::symlink_metadata(&path)?.is_dir() {
            for entry in fs::read_dir(&path)? {
                paths.push(entry?.path());
            }
            continue;
        }
        let (length, hash) = match fs::read_link(&path) {
            // A tablespace: where it is, not what is there.
            Ok(target) => {
                let target = target.to_string_lossy();
                (target.len() as u64, key_of(&target))
            }
            Err(_) => content_of(&path)?,
        };
        let path = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().into_owned();
        entries.push(Entry { path, length, hash });
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// Length and hash of a file. The hash tells accidents, not attacks: whoever may write here may
/// write the stamp as well.
fn content_of(path: &Path) -> io::Result<(u64, u64)> {
    let mut file = open_plain(path)?;
    let mut buffer = vec![0_u8; 1 << 20];
    let (mut length, mut hash) = (0, 0_u64);
    loop {
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read(&mut buffer[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        if filled == 0 {
            return Ok((length, mix_bits(hash ^ length)));
        }
        length += filled as u64;
        buffer[filled..].fill(0);
        for word in buffer[..filled.next_multiple_of(8)].chunks_exact(8) {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            hash = mix_bits(hash ^ word).wrapping_add(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        (dir, home)
    }

    fn key(content: &str) -> ImageKey {
        let lines = vec!["release mariadb-10.11.19 1".to_owned(), format!("content {content}")];
        ImageKey { tree: "mariadb-10.11.19".to_owned(), lines }
    }

    fn make(home: &Home, content: &str) -> Image {
        let data = home.dir().join("data");
        fs::create_dir_all(data.join("sub dir")).unwrap();
        fs::write(data.join("ibdata1"), content).unwrap();
        fs::write(data.join("sub dir/t.ibd"), vec![7; 3_000_001]).unwrap();
        fs::write(data.join("ib_buffer_pool"), "1,2").unwrap();
        keep_image(home, &key(content), &data, &Secret::new("secret"), &mut |_| {}).unwrap()
    }

    #[test]
    fn an_image_is_found_by_its_key_and_by_no_other() {
        let (_dir, home) = home();
        assert!(Image::find(&home, &key("a")).is_none());
        let image = make(&home, "a");
        assert_eq!(Image::find(&home, &key("a")).unwrap().files, image.files);
        assert!(Image::find(&home, &key("b")).is_none());
        assert_eq!(image.files.len(), 2, "what would be preloaded is part of it: {image:?}");
        let used = image.begin_use().unwrap();
        assert_eq!(used.template.password.expose(), "secret");
        assert!(!image.remove(&home, &mut |_| {}).unwrap(), "removed while it was copied");
        drop(used);
        assert!(image.remove(&home, &mut |_| {}).unwrap());
        assert!(Image::find(&home, &key("a")).is_none() && image.begin_use().is_err());
        assert_eq!(fs::read_dir(home.run()).unwrap().count(), 0);
    }

    #[test]
    fn one_that_differs_by_a_byte_or_lacks_a_file_is_told() {
        let (_dir, home) = home();
        let image = make(&home, "a");
        image.verify_files().unwrap();
        let file = image.data().join("sub dir/t.ibd");
        let mut bytes = fs::read(&file).unwrap();
        bytes[2_999_999] ^= 1;
        fs::write(&file, &bytes).unwrap();
        let error = image.verify_files().unwrap_err().to_string();
        assert!(error.contains("sub dir/t.ibd") && error.contains("server rm"), "{error}");
        assert!(Image::find(&home, &key("a")).is_some(), "lengths are as they were");
        fs::remove_file(&file).unwrap();
        assert!(Image::find(&home, &key("a")).is_none());
        // What is not whole gives way to what is.
        let again = make(&home, "a");
        again.verify_files().unwrap();
        assert_eq!(again.content_hash(), image.content_hash());
    }

    #[test]
    fn a_torn_stamp_is_no_image() {
        let (_dir, home) = home();
        let image = make(&home, "a");
        let text = fs::read_to_string(image.dir.join(STAMP)).unwrap();
        for length in 0..text.len() {
            assert!(parse(&text[..length]).is_none(), "torn at {length}");
        }
        assert!(parse(&text).is_some());
    }

    #[test]
    fn images_take_a_quarter_of_the_room_at_most() {
        assert_eq!(room_for(100), 300);
        assert!(fits(100, 0, 300) && !fits(101, 0, 300));
        assert!(fits(50, 50, 300) && !fits(60, 50, 300));
        let (_dir, home) = home();
        make(&home, "a");
        assert!(!make_room(&home, u64::MAX / 8, &mut |_| {}).unwrap());
        assert!(Image::all_in(&home).is_empty(), "room was not made");
    }

    #[test]
    fn what_leaves_a_trace_is_part_of_the_key() {
        let traceless = |product, version, name| is_traceless(product, version, name);
        assert!(traceless(Product::MariaDb, "10.11.19", "innodb_buffer_pool_size"));
        assert!(traceless(Product::MariaDb, "10.11.19", "loose_innodb_buffer_pool_size_max"));
        assert!(traceless(Product::MySql, "8.0.33", "innodb-log-file-size"));
        assert!(!traceless(Product::MySql, "5.5.34", "innodb_log_file_size"));
        for shapes in ["innodb_page_size", "character_set_server", "what_is_not_known"] {
            assert!(!traceless(Product::MySql, "8.0.33", shapes), "{shapes}");
        }
    }
}
