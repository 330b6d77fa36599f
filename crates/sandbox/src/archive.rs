//! Taking a package apart, without any program: what is in it is refused or limited while it comes
//! out, see `tree`.
//!
//! ```text
//!   .zip .jar .whl ── members that are wanted ──┐
//!   .tar .tgz .txz … ── by its first bytes:     ├─▶ NewTree ─┬─ the server is in it
//!        gzip, xz, bzip2, zstd ── tar ──────────┤            └─ an archive is in it: once more
//!   .deb ── ar ── data.tar.… ───────────────────┘
//!   a folder ── opened one below the other ─────┘
//! ```

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nix::dir::Dir;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstatat};
use tar::EntryType;

use crate::error::SandboxError;
use crate::foreign_files::{open_plain, set_mode_of};
use crate::tree::{Kind, NewTree, Outward};
use crate::zstd_reader::ZstdReader;

/// How deep an archive lies within another.
const DEEPEST: usize = 4;
/// Memory for the dictionary of xz, KB: that of its strongest level, `-9e`, twice.
const XZ_KB: u32 = 132 << 10;
/// Bytes that may stand between two members of a tar: long names, which are kept in memory.
const BETWEEN: u64 = 1 << 20;
/// Bytes of zeros with which a tar ends, of two blocks at least one.
const END_OF_TAR: u64 = 512;
/// What a `.deb` begins with, and the length of the heads in it: `man 5 ar`.
const AR_MAGIC: &[u8; 8] = b"!<arch>\n";
const AR_HEAD: usize = 60;
/// The bits of a mode that say what kind of file it is, and those of a symbolic link.
const KIND_BITS: u32 = 0o170_000;
const LINK_BITS: u32 = 0o120_000;
const LONGEST_TARGET: u64 = 4_096;

/// Whether `file` is called like an archive that can be taken apart.
pub(crate) fn is_archive(file: &Path) -> bool {
    let name = name_of(file);
    is_zip(&name) || is_tar(&name)
}

/// Unpacks `file` into the directory `into`; `members` are patterns of what is wanted of a zip
/// file, none for all. Returns the links that were left out.
pub(crate) fn unpack(
    file: &Path,
    members: &[&str],
    outward: Outward,
    into: &Path,
) -> Result<Vec<String>, SandboxError> {
    let opened = open_plain(file).map_err(SandboxError::io("open", file))?;
    let packed = opened.metadata().map_err(SandboxError::io("read", file))?.len();
    let mut tree = NewTree::create_in(into, file, Some(packed), outward)?;
    let name = name_of(file);
    if is_zip(&name) {
        unzip(opened, members, &mut tree)?;
    } else if is_tar(&name) {
        untar(BufReader::new(opened), &mut tree)?;
    } else {
        let detail =
            "it is no archive of a kind that is known (.zip, .jar, .whl, .tar…)".to_owned();
        return Err(SandboxError::Damaged { place: file.to_owned(), detail });
    }
    tree.finish()
}

/// What is said of links that were left out, if any were.
pub(crate) fn left_out_note(left_out: &[String]) -> Option<String> {
    let first = left_out.first()?;
    let links = if left_out.len() == 1 { "1 link" } else { &format!("{} links", left_out.len()) };
    Some(format!("leaving out {links} to what the package does not have, as {first}"))
}

/// Unpacks packages of Debian into one tree.
pub(crate) fn unpack_debs(debs: &[PathBuf], into: &Path) -> Result<Vec<String>, SandboxError> {
    let Some(first) = debs.first() else { return Ok(Vec::new()) };
    let mut packed = 0;
    for deb in debs {
        packed += fs::metadata(deb).map_err(SandboxError::io("read", deb))?.len();
    }
    let source = if debs.len() == 1 { first } else { first.parent().unwrap_or(first) };
    let mut tree = NewTree::create_in(into, source, Some(packed), Outward::LeftOut)?;
    for deb in debs {
        let opened = open_plain(deb).map_err(SandboxError::io("open", deb))?;
        let data = data_of(BufReader::new(opened)).map_err(|error| {
            let detail = format!("it is no package of Debian: {error}");
            SandboxError::Damaged { place: deb.clone(), detail }
        })?;
        untar(data, &mut tree)?;
    }
    tree.finish()
}

/// Copies a folder. Files that not everybody may read are copied only if they belong to whom the
/// folder belongs: what comes out can be read by all.
pub(crate) fn copy(
    from: &Path,
    outward: Outward,
    into: &Path,
) -> Result<Vec<String>, SandboxError> {
    let mut tree = NewTree::create_in(into, from, None, outward)?;
    let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let dir = Dir::open(from, flags, Mode::empty());
    let mut dir = dir.map_err(|errno| SandboxError::io("open", from)(errno.into()))?;
    let owner = fs::metadata(from).map_err(SandboxError::io("read", from))?.uid();
    copy_below(&mut dir, from, owner, Path::new(""), &mut tree)?;
    tree.finish()
}

fn copy_below(
    dir: &mut Dir,
    from: &Path,
    owner: u32,
    above: &Path,
    tree: &mut NewTree,
) -> Result<(), SandboxError> {
    let failed = |errno: nix::errno::Errno| SandboxError::io("read", from)(errno.into());
    let mut names = Vec::new();
    for entry in dir.iter() {
        let name = entry.map_err(failed)?.file_name().to_owned();
        if ![c".", c".."].contains(&name.as_c_str()) {
            names.push(name);
        }
    }
    names.sort();
    for name in names {
        let path = above.join(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let member = path.as_os_str().as_bytes();
        let found = fstatat(&*dir, &*name, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(failed)?;
        let still = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        match SFlag::from_bits_truncate(found.st_mode & SFlag::S_IFMT.bits()) {
            SFlag::S_IFDIR => {
                tree.directory(member)?;
                let flags = still | OFlag::O_DIRECTORY;
                let mut below =
                    Dir::openat(dir.as_fd(), &*name, flags, Mode::empty()).map_err(failed)?;
                copy_below(&mut below, from, owner, &path, tree)?;
            }
            SFlag::S_IFLNK => {
                let target = readlinkat(&*dir, &*name).map_err(failed)?;
                tree.add_link(member, target.as_bytes())?;
            }
            SFlag::S_IFREG => {
                let file = openat(&*dir, &*name, still, Mode::empty()).map_err(failed)?;
                let mut file = File::from(file);
                let found = file.metadata().map_err(SandboxError::io("read", from))?;
                if !found.is_file() {
                    return Err(tree.special_file_error(member));
                }
                if found.mode() & 0o004 == 0 && found.uid() != owner {
                    let why = "not everybody may read it, and it does not belong to whom the \
                               folder belongs; give it to that account, or leave it out";
                    return Err(tree.refusal_error(member, why));
                }
                tree.file(member, Kind::of_mode(found.mode()), &mut file)?;
            }
            _ => return Err(tree.special_file_error(member)),
        }
    }
    Ok(())
}

fn unzip(file: File, members: &[&str], tree: &mut NewTree) -> Result<(), SandboxError> {
    let mut archive =
        zip::ZipArchive::new(BufReader::new(file)).map_err(|error| torn_archive(tree, error))?;
    for number in 0..archive.len() {
        let mut member = archive.by_index(number).map_err(|error| torn_archive(tree, error))?;
        let name = member.name_raw().to_vec();
        let text = String::from_utf8_lossy(&name).into_owned();
        if !members.is_empty() && !members.iter().any(|pattern| fits(pattern, &text)) {
            continue;
        }
        let mode = member.unix_mode().unwrap_or(0);
        if member.is_dir() {
            tree.directory(&name)?;
        } else if mode & KIND_BITS == LINK_BITS {
            let mut target = Vec::new();
            let read = (&mut member).take(LONGEST_TARGET).read_to_end(&mut target);
            read.map_err(|error| tree.unreadable_error(error))?;
            tree.add_link(&name, &target)?;
        } else if mode & KIND_BITS == 0 || mode & KIND_BITS == SFlag::S_IFREG.bits() {
            tree.file(&name, Kind::of_mode(mode), &mut member)?;
        } else {
            return Err(tree.special_file_error(&name));
        }
    }
    Ok(())
}

fn torn_archive(tree: &NewTree, error: zip::result::ZipError) -> SandboxError {
    tree.unreadable_error(io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

/// Whether a name fits a pattern in which `*` is any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(head) else { return false };
    (0..=name.len()).filter(|&at| name.is_char_boundary(at)).any(|at| fits(rest, &name[at..]))
}

/// Unpacks a tar, compressed in whatever way its first bytes say.
fn untar(packed: impl BufRead, tree: &mut NewTree) -> Result<(), SandboxError> {
    let between = Rc::new(Cell::new(u64::MAX));
    // Heads of members count, too: twice as much as all files may have.
    let left = tree.most_bytes().saturating_mul(2);
    let inner = plain(packed).map_err(|error| tree.unreadable_error(error))?;
    let bounded = BoundedReader { inner, left, between: Rc::clone(&between), zeros: 0 };
    let mut archive = tar::Archive::new(bounded);
    let mut entries = archive.entries().map_err(|error| tree.unreadable_error(error))?;
    loop {
        between.set(BETWEEN);
        let Some(entry) = entries.next() else { break };
        between.set(u64::MAX);
        let mut entry = entry.map_err(|error| tree.unreadable_error(error))?;
        let name = entry.path_bytes().into_owned();
        let target = entry.link_name_bytes().map(|target| target.into_owned());
        let mode = entry.header().mode().map_err(|error| tree.unreadable_error(error))?;
        match entry.header().entry_type() {
            EntryType::Directory => tree.directory(&name)?,
            EntryType::Symlink => tree.add_link(&name, &target.unwrap_or_default())?,
            EntryType::Link => tree.second_name(&name, &target.unwrap_or_default())?,
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                tree.file(&name, Kind::of_mode(mode), &mut entry)?;
            }
            EntryType::XGlobalHeader => {}
            _ => return Err(tree.special_file_error(&name)),
        }
        // What is left of it does not count as lying between.
        let rest = io::copy(&mut entry, &mut io::sink());
        rest.map_err(|error| tree.unreadable_error(error))?;
    }
    read_to_the_end(archive.into_inner()).map_err(|error| tree.unreadable_error(error))
}

/// Reads what stands behind the members: blocks of zeros, without which a tar is cut off, and the
/// end of what packs it, which has its sums.
fn read_to_the_end(mut bounded: BoundedReader<impl Read>) -> io::Result<()> {
    io::copy(&mut bounded, &mut io::sink())?;
    if bounded.zeros < END_OF_TAR {
        return Err(wrong_archive("it is cut off: it has no end"));
    }
    Ok(())
}

/// The bytes of a file, uncompressed.
fn plain<'a>(mut packed: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let first = packed.fill_buf()?;
    Ok(match first {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => {
            Box::new(lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_KB))
        }
        [b'B', b'Z', b'h', ..] => Box::new(bzip2::bufread::MultiBzDecoder::new(packed)),
        // A frame, or one that is skipped and stands before it.
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            Box::new(ZstdReader::new(packed))
        }
        _ => Box::new(packed),
    })
}

/// A stream that ends with an error where more comes than may.
struct BoundedReader<R> {
    inner: R,
    /// Of all.
    left: u64,
    /// Until the next member.
    between: Rc<Cell<u64>>,
    /// With how many zeros that which was read ends.
    zeros: u64,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.left.min(self.between.get());
        if most == 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it grows beyond its limit"));
        }
        let length = buffer.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..length])?;
        self.left -= read as u64;
        self.between.set(self.between.get() - read as u64);
        let zeros = buffer[..read].iter().rev().take_while(|byte| **byte == 0).count();
        self.zeros = if zeros == read { self.zeros + zeros as u64 } else { zeros as u64 };
        Ok(read)
    }
}

/// The part of a `.deb` that has the files: `man 5 deb`.
fn data_of(mut deb: BufReader<File>) -> io::Result<impl BufRead> {
    let mut magic = [0; 8];
    deb.read_exact(&mut magic)?;
    if magic != *AR_MAGIC {
        return Err(wrong_archive("it does not begin as one"));
    }
    loop {
        let mut head = [0; AR_HEAD];
        deb.read_exact(&mut head)?;
        let length =
            std::str::from_utf8(&head[48..58]).ok().and_then(|text| text.trim().parse().ok());
        let length: u64 = length.ok_or_else(|| wrong_archive("a part of it has no length"))?;
        if head.starts_with(b"data.tar") {
            return Ok(BufReader::new(deb.take(length)));
        }
        // Parts begin at even places.
        let padded = length.saturating_add(length % 2);
        if io::copy(&mut (&mut deb).take(padded), &mut io::sink())? != padded {
            return Err(wrong_archive("it ends before its files"));
        }
    }
}

fn wrong_archive(what: &str) -> std::io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// The file below `dir` whose name ends with `ending`.
pub(crate) fn find(dir: &Path, ending: &str) -> Option<PathBuf> {
    let mut level = vec![dir.to_owned()];
    for _ in 0..DEEPEST {
        let below = level.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
        let paths: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
        let ends = |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ending))
        };
        let found = paths.iter().find(|path| path.is_file() && ends(path));
        if found.is_some() {
            return found.cloned();
        }
        level = paths
            .into_iter()
            .filter(|path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir()))
            .collect();
    }
    None
}

/// Lets everybody execute these: some packages lose the rights of their files. Where one is a link
/// within `tree`, what it leads to.
pub(crate) fn make_programs(tree: &Path, programs: &[PathBuf]) -> Result<(), SandboxError> {
    let tree = tree.canonicalize().map_err(SandboxError::io("find", tree))?;
    programs.iter().try_for_each(|program| {
        let itself = program.canonicalize().map_err(SandboxError::io("find", program))?;
        if !itself.starts_with(&tree) {
            let reason = "it is a link that leads out of its folder".to_owned();
            let what = program.display().to_string();
            return Err(SandboxError::Unsuitable { what, reason });
        }
        set_mode_of(&itself, 0o755).map_err(SandboxError::io("set the mode of", &itself))
    })
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn is_zip(name: &str) -> bool {
    [".jar", ".zip", ".whl"].iter().any(|ending| name.ends_with(ending))
}

fn is_tar(name: &str) -> bool {
    let short = [".tgz", ".txz", ".tbz2", ".tar"].iter().any(|ending| name.ends_with(ending));
    short || [".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use tar::Header;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// A directory and ways to fill it.
    struct Bench(tempfile::TempDir);

    impl Bench {
        fn new() -> Bench {
            Bench(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// A tar of these members: name, kind, target of a link, content.
        fn tar(&self, file: &str, members: &[(&str, EntryType, &str, &[u8])]) -> PathBuf {
            let mut builder = tar::Builder::new(Vec::new());
            for (name, kind, target, content) in members {
                let mut header = Header::new_gnu();
                header.set_entry_type(*kind);
                header.set_size(content.len() as u64);
                header.set_mode(0o6755);
                // As it is, though the library would not write it.
                header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
                header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
                header.set_cksum();
                builder.append(&header, *content).unwrap();
            }
            fs::write(self.at(file), builder.into_inner().unwrap()).unwrap();
            self.at(file)
        }

        fn refusal(&self, members: &[(&str, EntryType, &str, &[u8])]) -> String {
            let file = self.tar("hostile.tar", members);
            let into = self.at("into");
            let _ = fs::remove_dir_all(&into);
            unpack(&file, &[], Outward::Refused, &into).unwrap_err().to_string()
        }
    }

    const FILE: EntryType = EntryType::Regular;
    const LINK: EntryType = EntryType::Symlink;

    #[test]
    fn an_archive_in_an_archive_is_found_and_a_torn_one_is_refused() {
        let bench = Bench::new();
        let gzip = |from: &Path, to: &Path| {
            let to = File::create(to).unwrap();
            let mut packer = flate2::write::GzEncoder::new(to, flate2::Compression::fast());
            packer.write_all(&fs::read(from).unwrap()).unwrap();
            packer.finish().unwrap();
        };
        let inner = bench.tar("inner", &[("./deep/file", FILE, "", b"x")]);
        gzip(&inner, &bench.at("Inner.tar.gz"));
        let packed = fs::read(bench.at("Inner.tar.gz")).unwrap();
        let outer = bench.tar("outer", &[("a/b/Inner.tar.gz", FILE, "", &packed)]);
        gzip(&outer, &bench.at("outer.tgz"));

        let unpack = |file: &Path, into| unpack(file, &[], Outward::Refused, &bench.at(into));
        unpack(&bench.at("outer.tgz"), "one").unwrap();
        let inner = find(&bench.at("one"), "Inner.tar.gz").unwrap();
        unpack(&inner, "two").unwrap();
        assert_eq!(fs::read_to_string(bench.at("two/deep/file")).unwrap(), "x");

        let whole = fs::read(bench.at("outer.tgz")).unwrap();
        fs::write(bench.at("torn.tgz"), &whole[..whole.len() / 2]).unwrap();
        let error = unpack(&bench.at("torn.tgz"), "three").unwrap_err();
        assert!(matches!(error, SandboxError::Damaged { .. }), "{error}");
        fs::write(bench.at("x.rpm"), "x").unwrap();
        assert!(!is_archive(&bench.at("x.rpm")) && is_archive(Path::new("mysql-8.4.tar.xz")));
        assert!(unpack(&bench.at("x.rpm"), "four").is_err());
    }

    /// What stands behind the members was not read, so that neither a wrong sum nor a lost part was
    /// noticed.
    #[test]
    fn an_archive_with_a_wrong_sum_or_without_its_end_is_refused() {
        let bench = Bench::new();
        let members: [(&str, EntryType, &str, &[u8]); 2] =
            [("a", FILE, "", &[7; 512]), ("b", FILE, "", &[8; 512])];
        let tar = fs::read(bench.tar("plain", &members)).unwrap();
        let gzip = |bytes: &[u8]| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        };
        let changed = |mut bytes: Vec<u8>, at: usize| {
            bytes[at] ^= 1;
            bytes
        };
        let whole = gzip(&tar);
        let eights = whole.iter().position(|byte| *byte == 8).unwrap();
        let eights = eights + whole[eights..].windows(9).position(|w| w == [8; 9]).unwrap();
        let length = whole.len();
        for (name, bytes, is_whole) in [
            ("whole.tar", tar.clone(), true),
            ("whole.tgz", whole.clone(), true),
            ("changed.tgz", changed(whole.clone(), eights), false),
            ("sum.tgz", changed(whole.clone(), length - 8), false),
            ("without_sum.tgz", whole[..length - 8].to_vec(), false),
            ("cut_behind_a_member.tar", tar[..1_024].to_vec(), false),
            ("cut_behind_a_member.tgz", gzip(&tar[..1_024]), false),
        ] {
            fs::write(bench.at(name), bytes).unwrap();
            let into = bench.at("into");
            let _ = fs::remove_dir_all(&into);
            let done = unpack(&bench.at(name), &[], Outward::Refused, &into);
            assert_eq!(done.is_ok(), is_whole, "{name}: {done:?}");
        }
    }

    #[test]
    fn names_that_lead_out_or_steer_a_terminal_are_refused() {
        let bench = Bench::new();
        for (name, why) in [
            ("/tmp/b-evil", "leads out"),
            ("a/../../evil", "leads out"),
            ("a/..", "leads out"),
            ("bin/\u{1b}]0;x\u{7}", "steer a terminal"),
            ("a\nb", "steer a terminal"),
        ] {
            let said = bench.refusal(&[(name, FILE, "", b"x")]);
            assert!(said.contains(why), "{name:?}: {said}");
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
        let deep = "d/".repeat(45) + "f";
        assert!(bench.refusal(&[(&deep, FILE, "", b"x")]).contains("more than 40 directories"));
    }

    #[test]
    fn links_that_leave_the_tree_are_refused_however_they_go() {
        let bench = Bench::new();
        fs::write(bench.at("secret"), "s").unwrap();
        let link = |name, target| (name, LINK, target, &b""[..]);
        for hostile in [
            &[link("mysqld", "/etc/shadow")][..],
            &[link("bin/mysqld", "../../secret")],
            // No step of these leaves by itself.
            &[link("d/up", ".."), link("out", "d/up/../secret")],
            &[link("a", "b"), link("b", "a")],
        ] {
            let said = bench.refusal(hostile);
            assert!(said.contains("leads out"), "{said}");
        }
        // A file comes in the place of the link on whose way it lies.
        let file = bench.tar("x.tar", &[link("d", ".."), ("d/secret", FILE, "", b"x")]);
        unpack(&file, &[], Outward::Refused, &bench.at("y/z")).unwrap();
        assert!(bench.at("y/z/d/secret").is_file() && !bench.at("y/secret").exists());
        assert_eq!(fs::read_to_string(bench.at("secret")).unwrap(), "s");
        let said = bench.refusal(&[("f", EntryType::Link, "../secret", b"")]);
        assert!(said.contains("leads out"), "{said}");
        let said = bench.refusal(&[("f", EntryType::Link, "none", b"")]);
        assert!(said.contains("second name"), "{said}");
    }

    /// What led to another part of an archive leads out once its server's folder stands alone.
    #[test]
    fn links_of_a_part_that_lead_to_other_parts_are_refused_or_left_out() {
        let bench = Bench::new();
        let members = [
            ("a/b/mysql/bin/mysqld", FILE, "", &b"x"[..]),
            ("a/b/mysql/bin/self", LINK, "mysqld", b""),
            ("a/b/mysql/share/x.sql", LINK, "../../../../etc/shadow", b""),
        ];
        for outward in [Outward::Refused, Outward::LeftOut] {
            let into = bench.at(&format!("{outward:?}"));
            unpack(&bench.tar("x.tar", &members), &[], Outward::Refused, &into).unwrap();
            let part = into.join("a/b/mysql");
            match crate::tree::confine_links(&part, Path::new("x.tar"), outward) {
                Err(error) => assert!(error.to_string().contains("share/x.sql"), "{error}"),
                Ok(left_out) => assert_eq!(left_out.len(), 1, "{left_out:?}"),
            }
            let is_refused = outward == Outward::Refused;
            assert_eq!(part.join("share/x.sql").symlink_metadata().is_ok(), is_refused);
            assert!(part.join("bin/self").is_file(), "what leads to its own part stays");
        }
    }

    #[test]
    fn links_within_the_tree_are_made_and_of_packages_the_others_are_left_out() {
        let bench = Bench::new();
        let members = [
            ("lib/a.so.1.2", FILE, "", &b"lib"[..]),
            ("lib/a.so", LINK, "a.so.1.2", b""),
            ("bin/x", LINK, "../lib/./a.so", b""),
            ("lib/same", EntryType::Link, "lib/a.so.1.2", b""),
            ("etc", LINK, "/etc", b""),
        ];
        let file = bench.tar("x.tar", &members);
        let left_out = unpack(&file, &[], Outward::LeftOut, &bench.at("into")).unwrap();
        assert_eq!(left_out, ["\"etc\" → \"/etc\""]);
        assert!(fs::symlink_metadata(bench.at("into/etc")).is_err());
        for name in ["bin/x", "lib/same", "lib/a.so"] {
            assert_eq!(fs::read(bench.at("into").join(name)).unwrap(), b"lib", "{name}");
        }
        assert!(unpack(&file, &[], Outward::Refused, &bench.at("other")).is_err());
    }

    #[test]
    fn devices_and_pipes_are_refused_and_no_bit_gives_rights() {
        let bench = Bench::new();
        for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo] {
            let said = bench.refusal(&[("dev/sda", kind, "", b"")]);
            assert!(said.contains("device"), "{said}");
        }
        let file = bench.tar("x.tar", &[("bin/su", FILE, "", b"x"), ("d", FILE, "", b"y")]);
        unpack(&file, &[], Outward::Refused, &bench.at("into")).unwrap();
        for (name, mode) in [("bin/su", 0o755), ("bin", 0o755), ("", 0o755)] {
            let found = fs::metadata(bench.at("into").join(name)).unwrap().permissions().mode();
            assert_eq!(found & 0o7777, mode, "{name}");
        }
    }

    #[test]
    fn what_grows_beyond_all_measure_is_refused_with_the_limit() {
        let bench = Bench::new();
        let bomb = bench.at("bomb.zip");
        let mut zip = zip::ZipWriter::new(File::create(&bomb).unwrap());
        zip.start_file("bin/mysqld", SimpleFileOptions::default()).unwrap();
        for _ in 0..100 {
            zip.write_all(&vec![0; 1 << 20]).unwrap();
        }
        zip.finish().unwrap();
        let said = unpack(&bomb, &[], Outward::Refused, &bench.at("into")).unwrap_err().to_string();
        assert!(said.contains("more than 6") && said.contains("--from FOLDER"), "{said}");

        // The same in what the reader of tars keeps in memory: the name of a member.
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::GNULongName);
        header.set_size(8 << 20);
        header.set_cksum();
        packer.write_all(header.as_bytes()).unwrap();
        packer.write_all(&vec![b'a'; 9 << 20]).unwrap();
        fs::write(bench.at("name.tgz"), packer.finish().unwrap()).unwrap();
        let file = bench.at("name.tgz");
        let said = unpack(&file, &[], Outward::Refused, &bench.at("two")).unwrap_err().to_string();
        assert!(said.contains("more than") && said.contains("MB"), "{said}");
    }

    #[test]
    fn of_a_zip_only_what_is_wanted_comes_and_its_links_are_links() {
        let bench = Bench::new();
        let file = bench.at("x.jar");
        let mut zip = zip::ZipWriter::new(File::create(&file).unwrap());
        let options = SimpleFileOptions::default();
        zip.start_file("my/bin/mysqld", options.unix_permissions(0o4755)).unwrap();
        zip.write_all(b"x").unwrap();
        zip.start_file("my/docs/README", options).unwrap();
        zip.add_symlink("my/lib/a.so", "../bin/mysqld", options).unwrap();
        zip.finish().unwrap();
        unpack(&file, &["*bin/mysqld", "*lib/*.so*"], Outward::Refused, &bench.at("i")).unwrap();
        assert!(!bench.at("i/my/docs").exists());
        assert_eq!(fs::read_link(bench.at("i/my/lib/a.so")).unwrap(), Path::new("../bin/mysqld"));
        let mode = fs::metadata(bench.at("i/my/bin/mysqld")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o755);
        for (pattern, name, is_fit) in
            [("*share/*", "a/share/b/c", true), ("*.so", "x.so.1", false), ("a*b*c", "aXbYc", true)]
        {
            assert_eq!(fits(pattern, name), is_fit, "{pattern} {name}");
        }
    }

    #[test]
    fn a_package_of_debian_is_its_data() {
        let bench = Bench::new();
        let data = fs::read(bench.tar("d", &[("./usr/sbin/x", FILE, "", b"x")])).unwrap();
        let mut deb = AR_MAGIC.to_vec();
        for (name, content) in [("debian-binary", &b"2.0"[..]), ("data.tar", &data)] {
            let (size, zero) = (content.len(), 0);
            let head = format!("{name:<16}{zero:<12}{zero:<6}{zero:<6}{zero:<8}{size:<10}`\n");
            deb.extend_from_slice(head.as_bytes());
            deb.extend_from_slice(content);
            deb.resize(deb.len().next_multiple_of(2), b'\n');
        }
        fs::write(bench.at("x.deb"), deb).unwrap();
        unpack_debs(&[bench.at("x.deb")], &bench.at("into")).unwrap();
        assert_eq!(fs::read(bench.at("into/usr/sbin/x")).unwrap(), b"x");
        fs::write(bench.at("y.deb"), "!<arch>\n").unwrap();
        let error = unpack_debs(&[bench.at("y.deb")], &bench.at("two")).unwrap_err().to_string();
        assert!(error.contains("no package of Debian"), "{error}");
    }

    #[test]
    fn a_folder_is_copied_without_what_leads_out_of_it_or_is_somebody_elses_secret() {
        let bench = Bench::new();
        fs::create_dir_all(bench.at("from/bin")).unwrap();
        fs::write(bench.at("from/bin/mysqld"), "x").unwrap();
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(&bench.at("from/bin/mysqld"), 0o4755);
        symlink("mysqld", bench.at("from/bin/link")).unwrap();
        copy(&bench.at("from"), Outward::Refused, &bench.at("one")).unwrap();
        let copied = fs::metadata(bench.at("one/bin/mysqld")).unwrap();
        assert_eq!(copied.permissions().mode() & 0o7777, 0o755);
        assert_eq!(fs::read_link(bench.at("one/bin/link")).unwrap(), Path::new("mysqld"));

        fs::write(bench.at("outside"), "s").unwrap();
        mode(&bench.at("outside"), 0o600);
        symlink("../../outside", bench.at("from/bin/other")).unwrap();
        let said = copy(&bench.at("from"), Outward::Refused, &bench.at("two")).unwrap_err();
        assert!(said.to_string().contains("leads out"), "{said}");
        fs::remove_file(bench.at("from/bin/other")).unwrap();
        let pipe = bench.at("from/bin/pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
        let said = copy(&bench.at("from"), Outward::Refused, &bench.at("three")).unwrap_err();
        assert!(said.to_string().contains("a pipe"), "{said}");
        fs::remove_file(&pipe).unwrap();
        if nix::unistd::geteuid().is_root() {
            // A second name of a file of root's in the folder of somebody else.
            fs::hard_link(bench.at("outside"), bench.at("from/bin/second")).unwrap();
            std::os::unix::fs::chown(bench.at("from"), Some(1), Some(1)).unwrap();
            let said = copy(&bench.at("from"), Outward::Refused, &bench.at("four")).unwrap_err();
            assert!(said.to_string().contains("not everybody may read it"), "{said}");
        }
    }

    #[test]
    fn the_mode_of_what_a_link_leads_to_outside_is_never_set() {
        let bench = Bench::new();
        fs::create_dir(bench.at("tree")).unwrap();
        fs::write(bench.at("outside"), "s").unwrap();
        fs::set_permissions(bench.at("outside"), fs::Permissions::from_mode(0o600)).unwrap();
        symlink(bench.at("outside"), bench.at("tree/mysqld")).unwrap();
        let said = make_programs(&bench.at("tree"), &[bench.at("tree/mysqld")]).unwrap_err();
        assert!(said.to_string().contains("leads out"), "{said}");
        let mode = fs::metadata(bench.at("outside")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
