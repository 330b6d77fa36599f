//! Where RocksDB is, and which.
//!
//! ```text
//!   librocksdb.so            what the package librocksdb-dev links to the release of the system
//!   librocksdb.so.7.8 …      else the newest of what the run-time package alone brings
//! ```
//!
//! It is loaded once and stays: RocksDB has threads of its own that outlive its databases. Two
//! releases in one process would share some of their symbols (`nm -D` shows them as unique), which
//! neither is made for; so there is one library for both arms.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::api::{Api, TransactionApi};

/// RocksDB, loaded.
pub struct Library {
    pub(crate) api: Api,
    /// Or why not.
    pub(crate) transactions: Result<TransactionApi, String>,
    version: String,
    path: PathBuf,
    has_test_points: bool,
}

/// Why there is no RocksDB here; a sentence that ends with what to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoLibrary(String);

impl fmt::Display for NoLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoLibrary {}

const NAME: &str = "librocksdb.so";
/// Where the run-time package alone leaves a library without a name that the linker knows.
const DIRECTORIES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
];

impl Library {
    /// The RocksDB of this machine; loaded by the first call.
    ///
    /// # Errors
    /// There is none, or it lacks a function.
    pub fn of_system() -> Result<&'static Library, NoLibrary> {
        static LIBRARY: OnceLock<Result<Library, NoLibrary>> = OnceLock::new();
        LIBRARY.get_or_init(Library::load).as_ref().map_err(NoLibrary::clone)
    }

    /// Another one, by its file, beside or instead of the machine's; it stays loaded. Debian's and
    /// Ubuntu's are built with assertions and test points on, which a measurement may not want.
    ///
    /// # Errors
    /// It cannot be loaded, or it lacks a function.
    pub fn load_from(file: &Path) -> Result<&'static Library, NoLibrary> {
        let refused =
            |reason| NoLibrary(format!("RocksDB's library could not be loaded: {reason}"));
        Ok(Box::leak(Box::new(open(file).map_err(refused)?)))
    }

    /// Whether it was built with test points on, as only builds for debugging are: its assertions
    /// and locks of test points cost time in every call.
    pub fn is_for_debugging(&self) -> bool {
        self.has_test_points
    }

    /// Its release, such as `7.8.3`, as its file is named; `unknown` where that says nothing.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn load() -> Result<Library, NoLibrary> {
        let mut names = vec![PathBuf::from(NAME)];
        names.extend(installed());
        let mut reasons = Vec::new();
        for name in names {
            match open(&name) {
                Ok(library) => return Ok(library),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(NoLibrary(format!(
            "RocksDB's library could not be loaded ({}); install it with: apt-get install \
             librocksdb-dev",
            reasons.join("; ")
        )))
    }
}

/// Libraries by the name of a release, newest first.
fn installed() -> Vec<PathBuf> {
    let entries = DIRECTORIES.iter().filter_map(|directory| std::fs::read_dir(directory).ok());
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<(Vec<u32>, PathBuf)> =
        paths.filter_map(|path| Some((release_of(&path)?, path))).collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// The numbers behind `librocksdb.so.`.
fn release_of(path: &Path) -> Option<Vec<u32>> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let numbers = name.strip_prefix(NAME)?.strip_prefix('.')?;
    numbers.split('.').map(|number| number.parse().ok()).collect()
}

/// `Dl_info` of `dlfcn.h`.
#[repr(C)]
struct Place {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn dladdr(address: *const c_void, place: *mut Place) -> c_int;
}

/// `RTLD_NOW`; without `RTLD_GLOBAL` nothing else is resolved from it.
const NOW: c_int = 2;

/// `rocksdb::SyncPoint::GetInstance()`, which is compiled where `NDEBUG` is not defined
/// (`test_util/sync_point.h`).
const TEST_POINTS: &CStr = c"_ZN7rocksdb9SyncPoint11GetInstanceEv";

fn open(name: &Path) -> Result<Library, String> {
    let text = CString::new(name.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: the name ends with a zero. The initialisers of the library run here; it is RocksDB
    // by its name, which is meant to be loaded into any process. It is never unloaded.
    let library = unsafe { dlopen(text.as_ptr(), NOW) };
    if library.is_null() {
        return Err(last_error());
    }
    let mut first: *mut c_void = std::ptr::null_mut();
    let mut find = |symbol: &CStr| {
        // SAFETY: the library is loaded and stays so, and the name ends with a zero.
        let found = unsafe { dlsym(library, symbol.as_ptr()) };
        if first.is_null() {
            first = found;
        }
        found
    };
    // SAFETY: the symbols are those of a library called RocksDB, whose C API has them.
    let (api, transactions) = unsafe { (Api::find(&mut find), TransactionApi::find(&mut find)) };
    let missing = |name| format!("{} has no {name}", text.to_string_lossy());
    let (api, transactions) = (api.map_err(missing)?, transactions.map_err(missing));
    // SAFETY: as in `find`; the name ends with a zero.
    let test_points = unsafe { dlsym(library, TEST_POINTS.as_ptr()) };
    let path = file_of(first).unwrap_or_else(|| name.to_owned());
    let path = path.canonicalize().unwrap_or(path);
    let numbers = release_of(&path).unwrap_or_default();
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    let version = if numbers.is_empty() { "unknown".to_owned() } else { numbers.join(".") };
    let has_test_points = !test_points.is_null();
    Ok(Library { api, transactions, version, path, has_test_points })
}

/// What the last call of the loader has to complain of.
fn last_error() -> String {
    // SAFETY: dlerror returns null or a text that stays until this thread's next call of it.
    let text = unsafe {
        let text = dlerror();
        if text.is_null() { None } else { Some(CStr::from_ptr(text)) }
    };
    text.map_or_else(|| "no reason given".to_owned(), |text| text.to_string_lossy().into_owned())
}

/// The file from which a function was loaded.
fn file_of(function: *const c_void) -> Option<PathBuf> {
    let null = std::ptr::null();
    let no = std::ptr::null_mut();
    let mut place = Place { file: null, base: no, symbol: null, address: no };
    // SAFETY: dladdr takes any address and writes a whole `Dl_info` where it returns non-zero.
    let is_known = unsafe { dladdr(function, &raw mut place) } != 0;
    if !is_known || place.file.is_null() {
        return None;
    }
    // SAFETY: the name is that of a loaded file and stays as long as it is loaded: for ever.
    let name = unsafe { CStr::from_ptr(place.file) };
    Some(PathBuf::from(name.to_str().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_names_and_compared_by_number() {
        let of = |name: &str| release_of(Path::new(name));
        assert_eq!(of("/usr/lib/librocksdb.so.7.8.3"), Some(vec![7, 8, 3]));
        assert!(of("librocksdb.so.9.10") > of("librocksdb.so.9.9"));
        for other in ["librocksdb.so", "librocksdb.a", "librocksdb.so.x", "libsnappy.so.1"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_library_that_is_not_there_or_is_another_one_is_said_so() {
        let error = |name: &str| open(Path::new(name)).map(|_| ()).unwrap_err();
        assert!(error("libno-such-thing.so.1").contains("libno-such-thing"));
        assert!(error("libc.so.6").contains("libc.so.6 has no rocksdb_options_create"));
        let Err(NoLibrary(said)) = Library::load_from(Path::new("/no/such.so")) else {
            unreachable!()
        };
        assert!(said.contains("/no/such.so"), "{said}");
    }
}
