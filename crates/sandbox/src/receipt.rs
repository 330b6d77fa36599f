//! What this home has left at servers that are not ours, and what proves that.
//!
//! ```text
//!   receipts/TOKEN   server, database, whether that was made too, tables    written, and locked
//!        │                                                                  as long as we live
//!   marker with TOKEN at the server                                         made afterwards
//!        │
//!   killed ─▶ the next dbdyno of this home reads TOKEN there ─▶ its receipt says what may go
//! ```
//!
//! A server says nothing but the token, which 128 random bits make: what is taken away is what the
//! receipt names, in the place that the receipt names. A token without a receipt proves nothing.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::bootstrap::random_password;
use crate::error::SandboxError;
use crate::home::Home;
use crate::lock::LockedFile;

/// Where something was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptPlace {
    /// How the server is reached.
    pub server: String,
    /// The database there.
    pub database: String,
}

/// Who made the database in which tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseMaker {
    /// Somebody else: it stays.
    Others,
    /// We did: it goes when it is empty.
    Us,
}

/// What was left at a server; its file is locked for as long as this lives.
#[derive(Debug)]
pub struct Receipt {
    path: PathBuf,
    _held: LockedFile,
    token: String,
    server: String,
    database: String,
    made: DatabaseMaker,
    tables: Vec<String>,
}

/// What this home knows of a token.
#[derive(Debug)]
pub enum KnownToken {
    /// Nothing: somebody else's, or of another home.
    Unknown,
    /// The dbdyno that it is of lives.
    InUse,
    /// The dbdyno that it is of is gone; what it left may be taken away.
    Left(Receipt),
}

impl Receipt {
    /// Notes these tables under a new token, before any of them is made.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn write(
        home: &Home,
        place: &ReceiptPlace,
        made: DatabaseMaker,
        tables: Vec<String>,
    ) -> Result<Receipt, SandboxError> {
        let token = random_password()?;
        let path = home.receipts().join(&token);
        let (server, database) = (one_line(&place.server), one_line(&place.database));
        let receipt = || -> io::Result<LockedFile> {
            let mut file = File::options().create_new(true).write(true).mode(0o600).open(&path)?;
            file.lock()?;
            writeln!(file, "server {server}\ndatabase {database}\nmade {}", made.word())?;
            tables.iter().try_for_each(|table| writeln!(file, "table {}", one_line(table)))?;
            file.sync_all()?;
            Ok(LockedFile(file))
        };
        let held = receipt().map_err(SandboxError::io("write", &path))?;
        Ok(Receipt { path, _held: held, token, server, database, made, tables })
    }

    /// What this home knows of a token that was read at a server.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn look_up_token(home: &Home, token: &str) -> Result<KnownToken, SandboxError> {
        // It becomes the name of a file.
        let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_token {
            return Ok(KnownToken::Unknown);
        }
        let path = home.receipts().join(token);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(KnownToken::Unknown);
            }
            Err(error) => return Err(SandboxError::io("open", &path)(error)),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(KnownToken::InUse),
            Err(fs::TryLockError::Error(error)) => {
                return Err(SandboxError::io("lock", &path)(error));
            }
        }
        let text = io::read_to_string(&file).map_err(SandboxError::io("read", &path))?;
        let all = |word: &str| {
            let head = format!("{word} ");
            let lines = text.lines().filter_map(move |line| line.strip_prefix(&head));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let one = |word: &str| all(word).pop().unwrap_or_default();
        let made = match one("made").as_str() {
            word if word == DatabaseMaker::Us.word() => DatabaseMaker::Us,
            _ => DatabaseMaker::Others,
        };
        let (server, database, tables) = (one("server"), one("database"), all("table"));
        let token = token.to_owned();
        let left = Receipt { path, _held: LockedFile(file), token, server, database, made, tables };
        Ok(KnownToken::Left(left))
    }

    /// Removes receipts of dead dbdynos for this place, at which nothing of theirs is left.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn remove_stale(home: &Home, place: &ReceiptPlace) -> Result<(), SandboxError> {
        let dir = home.receipts();
        for entry in fs::read_dir(&dir).map_err(SandboxError::io("read", &dir))?.flatten() {
            let name = entry.file_name();
            if let KnownToken::Left(receipt) =
                Receipt::look_up_token(home, &name.to_string_lossy())?
                && receipt.is_of(place)
            {
                receipt.remove()?;
            }
        }
        Ok(())
    }

    /// What is marked with it at the server.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Whether it is of this place.
    pub fn is_of(&self, place: &ReceiptPlace) -> bool {
        self.server == one_line(&place.server) && self.database == one_line(&place.database)
    }

    /// How the server was reached, in printable characters.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Names of the tables.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// Who made the database.
    pub fn maker(&self) -> DatabaseMaker {
        self.made
    }

    /// Everything that it names has been taken away.
    ///
    /// # Errors
    /// [`SandboxError::Io`].
    pub fn remove(self) -> Result<(), SandboxError> {
        fs::remove_file(&self.path).map_err(SandboxError::io("remove", &self.path))
    }
}

impl DatabaseMaker {
    fn word(self) -> &'static str {
        match self {
            DatabaseMaker::Others => "others",
            DatabaseMaker::Us => "us",
        }
    }
}

/// A text in a line of its own. It is compared in this form, and never read back.
fn one_line(text: &str) -> String {
    text.escape_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn place(database: &str) -> ReceiptPlace {
        ReceiptPlace { server: "127.0.0.1:3306".to_owned(), database: database.to_owned() }
    }

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(&dir.path().join("h"))).unwrap();
        (dir, home)
    }

    #[test]
    fn what_was_left_is_known_by_its_token_once_its_dbdyno_is_gone() {
        let (_dir, home) = home();
        let tables = vec!["sbtest1".to_owned(), "sbtest2".to_owned()];
        let odd = "shop\ntable salaries";
        let receipt =
            Receipt::write(&home, &place(odd), DatabaseMaker::Us, tables.clone()).unwrap();
        let token = receipt.token().to_owned();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(home.receipts()), 0o700);
        assert_eq!(mode(home.receipts().join(&token)), 0o600);
        assert!(matches!(Receipt::look_up_token(&home, &token).unwrap(), KnownToken::InUse));
        drop(receipt);
        let KnownToken::Left(left) = Receipt::look_up_token(&home, &token).unwrap() else {
            panic!()
        };
        assert_eq!((left.tables(), left.maker()), (&tables[..], DatabaseMaker::Us));
        assert!(left.is_of(&place(odd)) && !left.is_of(&place("shop")));
        left.remove().unwrap();
        assert!(matches!(Receipt::look_up_token(&home, &token).unwrap(), KnownToken::Unknown));
    }

    #[test]
    fn a_token_that_is_none_is_no_path() {
        let (_dir, home) = home();
        fs::write(home.dir().join("outside"), "server x\n").unwrap();
        for token in ["../outside", "", "/etc/passwd", "0123456789abcdef0123456789abcde/", "x"] {
            let known = Receipt::look_up_token(&home, token).unwrap();
            assert!(matches!(known, KnownToken::Unknown), "{token}");
        }
    }

    #[test]
    fn receipts_of_a_place_where_nothing_is_left_are_forgotten() {
        let (_dir, home) = home();
        let write = |database| {
            Receipt::write(&home, &place(database), DatabaseMaker::Others, Vec::new()).unwrap()
        };
        let (gone, other, living) = (write("a"), write("b"), write("a"));
        drop(gone);
        drop(other);
        Receipt::remove_stale(&home, &place("a")).unwrap();
        assert_eq!(fs::read_dir(home.receipts()).unwrap().count(), 2);
        assert!(matches!(
            Receipt::look_up_token(&home, living.token()).unwrap(),
            KnownToken::InUse
        ));
    }
}
