//! What can go wrong, by meaning. Each message ends with what to try next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dbdyno_model::Product;

/// Why a server could not be had, started or stopped.
#[derive(Debug)]
pub enum SandboxError {
    /// No release matches the version that was asked for.
    UnknownVersion {
        /// The product.
        product: Product,
        /// What was asked for.
        asked: String,
        /// What can be had.
        available: Vec<String>,
    },
    /// The package source cannot be used.
    NotReachable {
        /// The suite or the machine's sources.
        source: String,
        /// The package client's own words.
        detail: String,
        /// What must work on this machine; a clause.
        check: &'static str,
    },
    /// One source cannot be used; others have it, too.
    Elsewhere {
        /// Why the preferred source cannot be used.
        error: Box<SandboxError>,
        /// Targets that name another source.
        others: Vec<String>,
    },
    /// A package is another than the one that was pinned. It was deleted.
    Changed {
        /// Which one.
        what: String,
        /// The SHA-256 that it must have.
        pinned: String,
        /// The one that it has.
        found: String,
    },
    /// There is no SHA-256 that a package could be held against. It was not kept.
    Unpinned {
        /// Which one.
        what: String,
    },
    /// There is no key by which packages of Debian could be checked.
    NoKeyring {
        /// Where it was looked for.
        places: Vec<PathBuf>,
    },
    /// The disk is too full. Checked before anything is written.
    NoSpace {
        /// The file system, by a path on it.
        place: PathBuf,
        /// What needs the room.
        purpose: String,
        /// Megabytes needed.
        needed_mb: u64,
        /// Megabytes free.
        free_mb: u64,
    },
    /// The machine, or the account, allows a server too little. Checked before it is started.
    TooSmall {
        /// What needs it.
        purpose: String,
        /// Of what there is too little.
        what: &'static str,
        /// How much is needed.
        needed: u64,
        /// How much is allowed.
        allowed: u64,
        /// How to raise it.
        raise: &'static str,
    },
    /// The directory is not a home of ours, or cannot serve as one.
    NotOurs {
        /// The directory.
        place: PathBuf,
        /// Why not; a clause.
        reason: String,
    },
    /// The server, or its initialisation, ended or did not answer in time.
    StartFailed {
        /// Which one, and how it ended.
        what: String,
        /// The last lines of its error log.
        log: Vec<String>,
    },
    /// A server runs and does not do its part among those that belong together.
    NotAMember {
        /// Which one.
        what: String,
        /// What was seen of it; a clause.
        why: String,
        /// What its error log says of that.
        log: Vec<String>,
    },
    /// The server had ended by itself, or did not shut down within the limit and was killed.
    StopFailed {
        /// Which one, and how it ended.
        what: String,
        /// The last lines of its error log.
        log: Vec<String>,
    },
    /// A program of the system is absent.
    MissingTool {
        /// Its name.
        tool: String,
    },
    /// What was named on the command line is not there, or cannot be used as it was meant.
    Unsuitable {
        /// What was named.
        what: String,
        /// Why not, and what to try; a clause.
        reason: String,
    },
    /// Somebody else can change what is in a directory of ours.
    Exposed {
        /// The directory, or one above it, or a link on the way.
        place: PathBuf,
        /// Its owner, by name.
        owner: String,
        /// Its mode.
        mode: u32,
        /// What that means; a clause.
        why: &'static str,
        /// The command that mends it.
        mend: String,
    },
    /// Another dbdyno holds the home and did not let go.
    Busy {
        /// The lock.
        place: PathBuf,
        /// Who has it; a noun.
        holder: String,
        /// How long was waited.
        within_s: u64,
    },
    /// A package was had, but what is in it does not work here.
    Damaged {
        /// Which tree.
        place: PathBuf,
        /// What was seen.
        detail: String,
    },
    /// The operating system refused.
    Io {
        /// What was tried, as a verb: `create`, `read`.
        action: &'static str,
        /// On what.
        place: PathBuf,
        /// Its answer.
        error: io::Error,
    },
}

impl SandboxError {
    /// Turns an error of the operating system into one of ours; for `map_err`.
    pub(crate) fn io(action: &'static str, place: &Path) -> impl FnOnce(io::Error) -> SandboxError {
        let place = place.to_owned();
        move |error| SandboxError::Io { action, place, error }
    }

    /// For programs that may be absent: `NotFound` means the program.
    pub(crate) fn spawn(tool: &str) -> impl FnOnce(io::Error) -> SandboxError + use<'_> {
        move |error| match error.kind() {
            io::ErrorKind::NotFound => SandboxError::MissingTool { tool: tool.to_owned() },
            _ => SandboxError::Io { action: "run", place: PathBuf::from(tool), error },
        }
    }
}

/// What to install for a missing program: Debian's package where it is called otherwise.
fn package_of(tool: &str) -> &str {
    match tool {
        "mvn" => "it (package maven)",
        "python3" => "it (packages python3 and python3-pip)",
        _ => "it",
    }
}

/// How to go on without a server of our own.
fn by_url(product: Product) -> &'static str {
    match product {
        Product::MySql | Product::MariaDb => {
            "start the server yourself and name it as mysql://USER@HOST:PORT/DB"
        }
        Product::Postgres => {
            "start the server yourself and name it as postgres://USER@HOST:PORT/DB"
        }
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxError::UnknownVersion { product, asked, available } => {
                write_unknown(f, *product, asked, available)
            }
            SandboxError::Changed { what, pinned, found } => write_changed(f, what, pinned, found),
            SandboxError::Unpinned { what } => write_unpinned(f, what),
            SandboxError::NoKeyring { places } => write_no_keyring(f, places),
            SandboxError::NotReachable { source, detail, check } => write!(
                f,
                "packages of {source} cannot be had: {detail}; see whether {check} on this \
                 machine, or start the server yourself and name it by its URL"
            ),
            SandboxError::Elsewhere { error, others } => {
                write!(f, "{error}; another source has it, too: try {}", others.join(" or "))
            }
            SandboxError::NoSpace { place, purpose, needed_mb, free_mb } => {
                write_no_space(f, place, purpose, *needed_mb, *free_mb)
            }
            SandboxError::TooSmall { purpose, what, needed, allowed, raise } => write!(
                f,
                "{purpose} needs {needed} {what} and may have {allowed}: {raise}; or use fewer \
                 --clients"
            ),
            SandboxError::NotOurs { place, reason } => write!(
                f,
                "{} cannot be dbdyno's home: {reason}; set DBDYNO_HOME to a new or empty directory",
                place.display()
            ),
            SandboxError::StartFailed { what, log } => {
                write_log(f, what, log)?;
                f.write_str(start_hint(log))?;
                f.write_str(", or name a running server by its URL")
            }
            SandboxError::NotAMember { what, why, log } => write_member(f, what, why, log),
            SandboxError::StopFailed { what, log } => write_log(f, what, log)
                .and_then(|()| f.write_str("distrust what was measured or written last")),
            SandboxError::MissingTool { tool } => write!(
                f,
                "this system has no {tool}, so dbdyno cannot get and start servers itself; install \
                 {}, or name a running server as mysql://… or postgres://…",
                package_of(tool)
            ),
            SandboxError::Unsuitable { what, reason } => write!(f, "{what}: {reason}"),
            SandboxError::Exposed { place, owner, mode, why, mend } => {
                write_exposed(f, place, owner, *mode, why, mend)
            }
            SandboxError::Busy { place, holder, within_s } => write!(
                f,
                "{holder} has been holding {} for {within_s} s; wait for it, end it, or set \
                 DBDYNO_HOME to another directory",
                place.display()
            ),
            SandboxError::Damaged { place, detail } => write!(
                f,
                "{}: what is in it does not run here: {detail}; try again with a fresh copy, or \
                 start the server yourself and name it by its URL",
                place.display()
            ),
            SandboxError::Io { action, place, error } => write!(
                f,
                "cannot {action} {}: {error}; see the permissions and the room there, or set \
                 DBDYNO_HOME to another directory",
                place.display()
            ),
        }
    }
}

/// How servers say that they do not get their memory: that a buffer pool is mentioned says nothing.
const MEMORY: [&str; 6] = [
    "annot allocate memory",
    "ut of memory",
    "annot allocate",
    "could not map anonymous shared memory",
    "could not create shared memory",
    "annot initialize buffer pool",
];
/// How they say that a setting belongs to the making of a data directory, and this one has another.
const MADE_OTHERWISE: [&str; 5] = [
    "uses page size",
    "lower_case_table_names settings for server",
    "is of a different size",
    "the expected size",
    "undo tablespaces",
];

/// What to try, from what the server said.
fn start_hint(log: &[String]) -> &'static str {
    // A server does not mind an unknown option that was told with `loose_`; it only mentions it.
    let says = |part: &str| log.iter().any(|l| l.contains(part) && !l.contains("'loose-"));
    if ["unknown variable", "unknown option", "unrecognized configuration", "for parameter"]
        .iter()
        .any(|part| says(part))
    {
        "correct what the log names or leave it out, and try again (`dbdyno server options` shows \
         all that a server is told)"
    } else if says("could not look up effective user ID") {
        "run dbdyno under an account that is in /etc/passwd"
    } else if MEMORY.iter().any(|part| says(part)) {
        "try again with less memory for the server"
    } else if MADE_OTHERWISE.iter().any(|part| says(part)) {
        "its data directory was made with another value: give it one of its own, or leave the \
         setting out"
    } else if says("No space left") {
        "make room on the disk"
    } else {
        "mend what the log names and try again"
    }
}

fn write_unknown(
    f: &mut fmt::Formatter<'_>,
    product: Product,
    asked: &str,
    available: &[String],
) -> fmt::Result {
    let name = product.name();
    let offers: Vec<_> = available.iter().map(|v| format!("{name}:{v}")).collect();
    let (offers, hint) = (offers.join(", "), by_url(product));
    write!(f, "{name}:{asked} cannot be had; try one of {offers}, or {hint}")?;
    match product {
        Product::Postgres => f.write_str(
            "; one that came out after this dbdyno has no pinned SHA-256: `dbdyno server get \
             --unpinned` takes it all the same",
        ),
        Product::MySql | Product::MariaDb => Ok(()),
    }
}

fn write_changed(f: &mut fmt::Formatter<'_>, what: &str, pinned: &str, found: &str) -> fmt::Result {
    write!(
        f,
        "{what} is not the package that this dbdyno knows: its SHA-256 must be {pinned} and is \
         {found}; it was deleted, and nothing in it was run. A proxy or mirror may have damaged it: \
         try again; if it stays so, somebody has exchanged it: take another source (`dbdyno server \
         ls --all`), or the maker's archive with `dbdyno server get --from`"
    )
}

fn write_unpinned(f: &mut fmt::Formatter<'_>, what: &str) -> fmt::Result {
    write!(
        f,
        "no SHA-256 is pinned for {what}, so that nobody can say whether it is what it was; take \
         another release (`dbdyno server ls`), or this one all the same with `dbdyno server get \
         --unpinned`"
    )
}

fn write_no_space(
    f: &mut fmt::Formatter<'_>,
    place: &Path,
    purpose: &str,
    needed_mb: u64,
    free_mb: u64,
) -> fmt::Result {
    write!(
        f,
        "{purpose} needs {needed_mb} MB in {} but {free_mb} MB are free; make room, or set \
         DBDYNO_HOME to a directory on a larger disk",
        place.display()
    )
}

fn write_exposed(
    f: &mut fmt::Formatter<'_>,
    place: &Path,
    owner: &str,
    mode: u32,
    why: &str,
    mend: &str,
) -> fmt::Result {
    write!(
        f,
        "{} belongs to {owner} and has the mode {mode:04o}: {why}, so nothing is kept there; if you \
         trust what is in it now, mend it with `{mend}`, else name another directory (--home, \
         DBDYNO_HOME, --data)",
        place.display()
    )
}

fn write_no_keyring(f: &mut fmt::Formatter<'_>, places: &[PathBuf]) -> fmt::Result {
    let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
    write!(
        f,
        "this machine does not have Debian's keys ({}), without which nothing that comes from \
         Debian can be checked; install the package debian-archive-keyring (`apt-get install \
         debian-archive-keyring`), take a release from another source (`dbdyno server ls`), or \
         start the server yourself and name it by its URL",
        places.join(" or ")
    )
}

fn write_member(f: &mut fmt::Formatter<'_>, what: &str, why: &str, log: &[String]) -> fmt::Result {
    write_log(f, &format!("{what} {why}"), log)?;
    f.write_str(member_hint(why, log))
}

/// What to try, from what a member of a topology said. The patterns are those of errors that were
/// met or that the manuals name.
fn member_hint(why: &str, log: &[String]) -> &'static str {
    let says = |part: &str| why.contains(part) || log.iter().any(|line| line.contains(part));
    let known: [(&[&str], &str); 8] = [
        (
            &["more executed transactions", "transactions not present in the group"],
            "it has transactions that the others have not: start all of them anew on empty data \
             directories",
        ),
        (
            &["secure connection", "MY-002061", "Access denied", "authentication failed"],
            "the account by which it follows is refused: start all of them anew, so that they are \
             copies of one data directory",
        ),
        (
            &["equal MySQL server UUIDs", "same server_uuid", "UUID as this"],
            "two of them have the same server_uuid: remove auto.cnf from the data directory of one",
        ),
        (&["server ids", "server_id"], "two of them have the same server_id: give each its own"),
        (
            &["already running", "error 3093"],
            "a group of this name runs already: stop that first (dbdyno server ls)",
        ),
        (
            &["Port already in use", "Address already in use", "bind on socket"],
            "another program took a port meanwhile: try again",
        ),
        (
            &["purged required binary logs", "has already been removed", "1236"],
            "what it had still to read is gone at the source: start all of them anew",
        ),
        (
            &["time limit"],
            "the machine may be busy: try again with fewer members, or with less --delay",
        ),
    ];
    let found = known.iter().find(|(parts, _)| parts.iter().any(|part| says(part)));
    found.map_or("mend what the log names and try again", |(_, hint)| hint)
}

fn write_log(f: &mut fmt::Formatter<'_>, what: &str, log: &[String]) -> fmt::Result {
    if log.is_empty() {
        return write!(f, "{what}; its error log is empty; ");
    }
    writeln!(f, "{what}; the end of its error log:")?;
    log.iter().try_for_each(|line| writeln!(f, "    {line}"))
}

impl std::error::Error for SandboxError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of MySQL 8.0.33 and PostgreSQL 15 as they were written.
    #[test]
    fn what_to_try_follows_from_the_cause_in_the_log() {
        let hint = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            start_hint(&lines)
        };
        let size = "[ERROR] [MY-012224] [InnoDB] Data file './ibdata1' uses page size 16384, but \
                    the innodb_page_size start-up parameter is 8192";
        let pool = "[Note] [MY-012910] [InnoDB] Initializing buffer pool, total size = 128M";
        assert!(hint(&[pool, size]).contains("made with another value"));
        let none = "[ERROR] [MY-012956] [InnoDB] Cannot allocate memory for the buffer pool";
        assert!(hint(&[pool, none]).contains("less memory"));
        let shared = "FATAL:  could not map anonymous shared memory: Cannot allocate memory";
        assert!(hint(&[shared]).contains("less memory"));
        assert!(hint(&[pool, "[ERROR] Table 'mysql.user' is broken"]).contains("mend what"));
    }
}
