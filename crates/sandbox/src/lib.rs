//! Servers of our own: get them, initialise them, start them, stop them, leave nothing behind.
//!
//! ```text
//!   machine's apt sources ──▶ private apt root ──▶ .deb closure ──┐
//!   (mirror, keyring)         of a Debian suite     (signed)      ├─▶ tree, made to run ─▶ Release
//!   mvn · npm · pip · a file or folder · the system's own ────────┘   (libraries, rpath)     │
//!                                                                                            ▼
//!   Server ◀── start, first login ◀── copy ◀── template: a data directory, initialised once
//!      │
//!      ├─ lives in HOME/run/NAME-PID-N, owned by this process; dies with it, swept if it could not
//!      └─ or, as a `BackgroundServer`, in HOME/bg/NAME, until it is stopped
//! ```
//!
//! Everything is inside one directory, the [`Home`]:
//!
//! ```text
//!   dbdyno-home    the marker: a directory without it is not ours and is not touched
//!   dbdyno.db      the store (not this crate's)
//!   apt/SUITE/     indexes and downloads of a suite; the machine's own apt is left alone
//!   tools/         patchelf, if the machine has none; valgrind; what registries' clients keep
//!   servers/       one tree for each release; appears whole, by a rename, or not at all
//!   templates/     one initialised data directory for each release
//!   images/        data directories with tables in them, loaded once; see `image`
//!   run/           what belongs to a running dbdyno: data, sockets, logs; see `claim`
//!   bg/            servers that run without a dbdyno; see `background`
//!   receipts/      what was left at servers that are not ours; see `receipt`
//!   secret         by which runs are told apart that this home began; see `secret`
//! ```
//!
//! **Nothing left behind** rests on three things that do not depend on each other: `Drop` of
//! [`Server`]; the parent-death signal, by which the kernel kills a server whose dbdyno was
//! killed; and [`Home::remove_leftovers`], which at the next start removes what the two could not.
//!
//! All of it is private. Servers of root's dbdyno, which run under another account, pass through
//! the home and its parts by their group, see `home`.
//!
//! No server runs as uid 0: a dbdyno started by root runs them as uid 65534, see `child`. Each has
//! an account with a random password, so that other users of the machine cannot reach it through
//! its TCP port; the password is told on its socket only, where nobody else can listen.

mod allocator;
mod apt;
mod archive;
mod background;
mod bootstrap;
mod catalog;
mod cgroup;
mod child;
mod claim;
mod clock;
mod conffile;
mod conftree;
mod engine_server;
mod error;
mod fetch;
mod foreign_files;
mod get;
mod home;
mod image;
mod layout;
mod libraries;
mod limits;
mod lock;
mod making;
mod option_tree;
mod options;
mod ownership;
mod pages;
mod password;
mod presets;
mod process;
mod receipt;
mod recorder;
mod registry;
mod release;
mod relocate;
mod removal;
mod secret;
mod server;
mod sources;
mod space;
mod spelling;
mod stamp;
mod sums;
mod sweep;
mod symbols;
mod template;
mod tool;
mod topology;
mod translation;
mod tree;
mod upgrade;
mod valgrind;
mod wanted;
mod zstd_reader;

pub use background::{
    BackgroundServer, BackgroundState, Membership, remove, remove_unfinished, unfinished_starts,
};
pub use catalog::{Offer, Packer, all_offers, all_packers, may_offer};
pub use claim::Scratch;
pub use engine_server::EngineServer;
pub use error::SandboxError;
pub use get::{get, get_from, get_unpinned, likely_version};
pub use home::Home;
pub use image::{Image, ImageKey};
pub use option_tree::{OptionLine, OptionTree, OptionWish, option_tree};
pub use options::LaunchOptions;
pub use ownership::own_directory;
pub use presets::{PRESETS, PresetDescription};
pub use process::allowed_processors;
pub use receipt::{DatabaseMaker, KnownToken, Receipt, ReceiptPlace};
pub use recorder::{Events, Recorder};
pub use release::{Release, installed_releases};
pub use server::Server;
pub use space::free_mb;
pub use symbols::Symbols;
pub use topology::{
    Ensemble, MeasuredDelay, MemberStanding, Works, ensemble_members, start_together,
    start_together_again, stop_together,
};
pub use translation::{OptionReason, TranslatedOption, Translation};
pub use upgrade::{Undone, upgrade_path};
pub use valgrind::{CountMarks, CountedProgram, Valgrind};
