//! `dbdyno server`: releases that are here or can be had, and servers in the background.
//!
//! ```text
//!   get mysql:8.0            into the home          rm mysql-8.0.33@maven
//!   start mysql:8.0          runs in the background; prints its URL
//!   options mysql:8.0        what such a server is told, and why; starts nothing
//!   presets                  configurations that have a name
//!   stop NAME, start NAME    on the data that it has
//!   logs NAME, shell NAME    rm NAME
//! ```

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dbdyno_document::{Document, Element, LabelledItem};
use dbdyno_model::{
    ArmSpec, Begin, MaskedTarget, MemberRole, ReleaseSpec, Setting, SourceKind, Target,
    TargetError, Topology, TopologyShape, TransactionRecording, setting, split_version, target,
};
use dbdyno_sandbox::{
    BackgroundServer, BackgroundState, Home, Image, LaunchOptions, PRESETS, Release,
    ensemble_members, installed_releases, likely_version, start_together, start_together_again,
    stop_together,
};
use dbdyno_workload::suggest::did_you_mean;

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::server_list::{OfferExtent, release_document, server_list, state_and_role};
use crate::{files, output, session};

#[derive(Debug, Args)]
pub(crate) struct Server {
    #[command(subcommand)]
    pub command: ServerCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Download a release, as `compare` does when it needs one
    Get(Get),
    /// List downloaded servers, background servers, and what can be downloaded from where
    Ls(Ls),
    /// Start a server that keeps running in the background; prints its URL
    Start(Start),
    /// Show the options that a server would be started with, and why; starts nothing
    Options(OptionsOf),
    /// List the named configurations, for preset=NAME
    Presets,
    /// Stop a background server and keep its data
    Stop(ServerNameFlag),
    /// Open the server's command-line client on a background server
    Shell(ServerNameFlag),
    /// Show the end of a background server's error log
    Logs(Logs),
    /// List the images: data directories with tables, loaded once, from which runs start
    Images(Images),
    /// Remove a background server with its data, a release, or an image
    Rm(ServerNameFlag),
}

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// Also list packages, who made them, and their sizes
    #[arg(long)]
    pub all: bool,
}

/// Download a release, as `compare` does when it needs one.
///
/// Without --from it comes from where `dbdyno server ls` says: from Debian, checked by Debian's
/// signature, or from a registry, held against a SHA-256 that this dbdyno knows. The SHA-256 of
/// what was unpacked is printed and kept.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// mysql:8.0, mariadb:10.11.5, postgres:17@maven …
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// Take it out of this folder or archive of the maker's
    #[arg(long, value_name = "PATH")]
    pub from: Option<PathBuf>,
    /// Also take a release that this dbdyno knows no SHA-256 of, on the registry's word alone
    #[arg(long, conflicts_with = "from")]
    pub unpinned: bool,
}

/// Keep a server running in the background; prints its URL.
///
/// Settings stand behind a question mark: mysql:8.0?buffer=2G&binlog=on, see `dbdyno server
/// options`. What the server is told is printed before it starts.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// mysql:8.0, mariadb:11.8, postgres:17 …; or the name of one that was stopped
    #[arg(value_name = "SERVER|NAME")]
    pub server: String,
    /// What to call it; otherwise its release names it, such as mysql-8.0.33@maven
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Start servers that belong together, replicas:N, with MySQL group:N, or with MariaDB
    /// galera:N; prints the role and the URL of each. The others are called NAME.2, NAME.3 …
    #[arg(long, value_name = "replicas:N|group:N|galera:N")]
    pub topology: Option<TopologyShape>,
}

/// Show what a server would be told, and why; starts nothing.
///
/// Settings stand behind a question mark, joined by &: preset=dbdyno|default|cz-a, buffer=2G,
/// redo=1G, durability=full|relaxed|off, flush=direct|fsync|default,
/// charset=latin1|utf8mb4|default, binlog=on|off|default, pfs=on|off|default, my-cnf=FILE or
/// postgresql-conf=FILE, cpus=NUMBER, memory=SIZE, allocator=system|jemalloc|tcmalloc, and whatever
/// option the server itself has, as it spells it. A word beats the preset, a file beats the words,
/// an option beats the file.
#[derive(Debug, Args)]
pub(crate) struct OptionsOf {
    /// mysql:8.0, 'mariadb:10.11?buffer=2G&innodb_io_capacity=2000' …
    #[arg(value_name = "SERVER")]
    pub server: String,
    /// As on a machine with so much memory, for example 32G; otherwise this machine's
    #[arg(long, value_name = "SIZE", value_parser = parse_size_mb)]
    pub memory: Option<u64>,
}

fn parse_size_mb(text: &str) -> Result<u64, String> {
    setting::size_mb(text)
        .ok_or_else(|| "give a whole number with M, G or T, for example 32G".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct ServerNameFlag {
    /// As `dbdyno server ls` shows it
    #[arg(value_name = "NAME")]
    pub name: String,
}

#[derive(Debug, Args)]
pub(crate) struct Images {
    /// Read every file and compare it with what it was when the image was made
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// As `dbdyno server ls` shows it
    #[arg(value_name = "NAME")]
    pub name: String,
    /// How many lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub lines: usize,
}

/// Does what was asked.
pub(crate) fn run(place: &Place, flags: &Server) -> Result<Exit, Failure> {
    let home = session::open_home(place)?;
    match &flags.command {
        ServerCommand::Get(get) => got(&home, get),
        ServerCommand::Ls(flags) => list(&home, flags),
        ServerCommand::Start(start) => started(&home, start),
        ServerCommand::Options(of) => told(&home, of),
        ServerCommand::Presets => presets(),
        ServerCommand::Stop(named) => {
            stop_together(&home, &all_of(&home, &named.name)?)?;
            Ok(Exit::Holds)
        }
        ServerCommand::Shell(named) => {
            let server = background(&home, &named.name)?;
            let code = files::by_users_umask(|| server.run_shell(&home))?;
            Ok(if code == 0 { Exit::Holds } else { Exit::CouldNot })
        }
        ServerCommand::Logs(logs) => {
            let lines = background(&home, &logs.name)?.last_log_lines(logs.lines);
            output::print(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())?;
            Ok(Exit::Holds)
        }
        ServerCommand::Images(flags) => images(&home, flags),
        ServerCommand::Rm(named) => removed(&home, &named.name),
    }
}

/// What a target names, if it names a release.
fn release_of(text: &str) -> Result<ReleaseSpec, Failure> {
    match text.parse::<ArmSpec>() {
        Ok(ArmSpec {
            target: Target::Release(release),
            slow: 0.0,
            record: TransactionRecording::Off,
            begin,
        }) if begin == Begin::default() => Ok(release),
        Err(TargetError::UnknownKind(kind)) => Err(Failure::Usage(format!(
            "SERVER {:?}: unknown kind of server {kind:?}{}; write mysql:VERSION, \
             mariadb:VERSION or postgres:VERSION, or a name that `dbdyno server ls` shows",
            MaskedTarget::from_text(text),
            did_you_mean(&kind, target::KINDS)
        ))),
        Err(TargetError::Malformed(reason)) => Err(Failure::Usage(format!("SERVER: {reason}"))),
        Ok(_) => Err(Failure::Usage(
            "SERVER: that is no release; write mysql:VERSION, mariadb:VERSION or postgres:VERSION"
                .to_owned(),
        )),
    }
}

fn got(home: &Home, flags: &Get) -> Result<Exit, Failure> {
    let ReleaseSpec { product, version, settings } = release_of(&flags.server)?;
    if !settings.is_empty() {
        return Err(Failure::Usage(
            "SERVER: a release is the same with all settings; leave out the ? and what follows, and \
             give it to `dbdyno server start`"
                .to_owned(),
        ));
    }
    let release = match &flags.from {
        None if flags.unpinned => {
            dbdyno_sandbox::get_unpinned(home, product, &version, &mut output::say_text)?
        }
        None => dbdyno_sandbox::get(home, product, &version, &mut output::say_text)?,
        Some(path) => {
            let (version, source) = split_version(&version);
            if source.is_some_and(|source| source != SourceKind::Files) {
                return Err(Failure::Usage(format!(
                    "SERVER {:?} names a source and --from another; leave out the @ and what follows",
                    flags.server
                )));
            }
            dbdyno_sandbox::get_from(home, product, version, path, &mut output::say_text)?
        }
    };
    output::print(&output::list_text(&release_document(&release)?))?;
    Ok(Exit::Holds)
}

fn list(home: &Home, flags: &Ls) -> Result<Exit, Failure> {
    let extent = if flags.all { OfferExtent::Packages } else { OfferExtent::Versions };
    output::print(&output::list_text(&server_list(home, extent)?))?;
    Ok(Exit::Holds)
}

fn line_of(image: &Image) -> String {
    format!("  {:32} {:>6} MB\n", image.name, image.mb)
}

fn images(home: &Home, flags: &Images) -> Result<Exit, Failure> {
    let all = Image::all_in(home);
    if all.is_empty() {
        output::say_text("no images; `compare` makes them of tables from 64 MB on");
    }
    for image in &all {
        let mut text = line_of(image);
        for line in &image.key {
            text.push_str(&format!("      {line}\n"));
        }
        if flags.check {
            match image.verify_files() {
                Ok(()) => text.push_str("      checked: every file is what it was\n"),
                // Another dbdyno may remove it while its files are read: that is no damage.
                Err(_) if Image::find_by_name(home, &image.name).is_none() => {
                    text.push_str("      removed by another dbdyno while it was checked\n");
                }
                Err(error) => return Err(error.into()),
            }
        }
        output::print(&output::lines(text))?;
    }
    Ok(Exit::Holds)
}

/// The server of this name, with all that belong to it. Those are named by the first of them.
fn all_of(home: &Home, name: &str) -> Result<Vec<BackgroundServer>, Failure> {
    let named = background(home, name)?;
    match &named.membership {
        Some(membership) if membership.of != named.name => Err(Failure::Usage(format!(
            "NAME {name:?}: it belongs to {of}, and they start, stop and go together: name {of}",
            of = membership.of
        ))),
        _ => Ok(ensemble_members(home, &named)),
    }
}

/// What a target names, and among which others it is to be; a flag beats the target.
fn members_of(flags: &Start) -> Result<Option<(ReleaseSpec, TopologyShape)>, Failure> {
    let alone = match flags.server.parse::<ArmSpec>() {
        Ok(ArmSpec { target: Target::Release(release), slow: 0.0, mut begin, .. }) => {
            let topology = begin.topology.take();
            (begin == Begin::default()).then_some((release, topology))
        }
        _ => None,
    };
    let Some((release, Some(Topology { shape, delay }))) = alone else {
        let flag = flags.topology.map(|shape| Ok((release_of(&flags.server)?, shape)));
        return flag.transpose();
    };
    if delay.is_some() {
        return Err(Failure::Usage(
            "SERVER: a delay is kept by a dbdyno that stays, and none stays with servers in the \
             background; leave it out, or use it with `dbdyno compare`"
                .to_owned(),
        ));
    }
    Ok(Some((release, flags.topology.unwrap_or(shape))))
}

/// Starts servers that belong together on empty data directories.
fn started_together(
    home: &Home,
    flags: &Start,
    wanted: &ReleaseSpec,
    shape: TopologyShape,
) -> Result<Exit, Failure> {
    let release =
        dbdyno_sandbox::get(home, wanted.product, &wanted.version, &mut output::say_text)?;
    let name = flags.name.clone().unwrap_or_else(|| release.name());
    let options = LaunchOptions::for_host(home.memory_mb()).with_settings(&wanted.settings);
    let told = options.told_to(&release)?;
    output::say_text(&format!("options of each member\n{}", told.to_string().trim_end()));
    let members = start_together(home, &release, &options, shape, &name, &mut output::say_text)?;
    let usual = told.settings();
    let besides = members[0].settings.iter().filter(|setting| !usual.contains(setting));
    let besides: Vec<String> = besides.map(|(name, value)| format!("{name}={value}")).collect();
    output::say_text(&format!("for {shape} the first also gets: {}", besides.join(" ")));
    show_together(&members)
}

fn show_together(members: &[BackgroundServer]) -> Result<Exit, Failure> {
    let name = &members[0].name;
    output::say_text(&format!(
        "{} of {name} run; `dbdyno server stop {name}` ends them",
        members.len()
    ));
    for member in members {
        let role = member.member_role().map_or("", MemberRole::name);
        output::print(&format!("{role:9} {}\n", member.url()?.expose()))?;
    }
    Ok(Exit::Holds)
}

fn started(home: &Home, flags: &Start) -> Result<Exit, Failure> {
    flags.name.as_deref().map_or(Ok(()), BackgroundServer::check_name)?;
    if let Some((wanted, shape)) = members_of(flags)? {
        return started_together(home, flags, &wanted, shape);
    }
    let known =
        BackgroundServer::find_by_name(home, &flags.server).filter(|_| flags.name.is_none());
    if known.is_some_and(|known| known.membership.is_some()) {
        let members = all_of(home, &flags.server)?;
        return show_together(&start_together_again(home, &members, &mut output::say_text)?);
    }
    let server = match (BackgroundServer::find_by_name(home, &flags.server), &flags.name) {
        (Some(known), None) => awake(home, known)?,
        _ => {
            let wanted = release_of(&flags.server)?;
            let (product, version) = (wanted.product, &wanted.version);
            let release = dbdyno_sandbox::get(home, product, version, &mut output::say_text)?;
            let name = flags.name.clone().unwrap_or_else(|| release.name());
            match BackgroundServer::find_by_name(home, &name) {
                Some(known) if flags.name.is_none() && wanted.settings.is_empty() => {
                    awake(home, known)?
                }
                _ => new_one(home, &release, &wanted.settings, &name)?,
            }
        }
    };
    let name = &server.name;
    output::say_text(&format!(
        "{name} {}; `dbdyno server stop {name}` ends it",
        state_and_role(&server)
    ));
    // To the one who started it, and to nobody else, the password is shown.
    output::print(&format!("{}\n", server.url()?.expose()))?;
    Ok(Exit::Holds)
}

fn new_one(
    home: &Home,
    release: &Release,
    settings: &[Setting],
    name: &str,
) -> Result<BackgroundServer, Failure> {
    let options = LaunchOptions::for_host(home.memory_mb()).with_settings(settings);
    let told = options.told_to(release)?;
    output::say_text(&format!("options of {name}\n{}", told.to_string().trim_end()));
    Ok(BackgroundServer::start(home, release, &options, name, &mut output::say_text)?)
}

fn told(home: &Home, flags: &OptionsOf) -> Result<Exit, Failure> {
    let ReleaseSpec { product, version, settings } = release_of(&flags.server)?;
    let version = likely_version(home, product, &version);
    let memory_mb = flags.memory.unwrap_or_else(|| home.memory_mb());
    let options = LaunchOptions::for_host(memory_mb).with_settings(&settings);
    let told = options.translate_for(product, &version)?;
    output::print(&output::lines(format!("options of {} {version}\n{told}", product.name())))?;
    Ok(Exit::Holds)
}

/// Columns of a preset.
const PRESET_WIDTH: usize = 16;

fn presets() -> Result<Exit, Failure> {
    let items = PRESETS.iter().map(|about| {
        let setting = Setting::Preset(about.preset).to_string();
        LabelledItem::new(about.text).with_label(setting, PRESET_WIDTH)
    });
    let shown = "`dbdyno server options 'SERVER?preset=NAME'` shows the options of each";
    let document = Document::from(vec![vec![
        Element::Items(items.collect()),
        Element::Sentence(shown.into()),
    ]]);
    output::print(&output::list_text(&document))?;
    Ok(Exit::Holds)
}

/// Starts one that is known, unless it runs.
fn awake(home: &Home, known: BackgroundServer) -> Result<BackgroundServer, Failure> {
    match known.state() {
        BackgroundState::Running(_) => Ok(known),
        BackgroundState::Stopped | BackgroundState::Gone => {
            output::say_text(&format!("{} starts with the same options as before", known.name));
            for (name, value) in &known.settings {
                let equals = if value.is_empty() { "" } else { " = " };
                output::say_text(&format!("  {name}{equals}{value}"));
            }
            Ok(known.start_again(home, &mut output::say_text)?)
        }
    }
}

fn background(home: &Home, name: &str) -> Result<BackgroundServer, Failure> {
    BackgroundServer::find_by_name(home, name).ok_or_else(|| {
        let all: Vec<String> =
            BackgroundServer::all_in(home).into_iter().map(|known| known.name).collect();
        let hint = if all.is_empty() {
            "none runs; start one with `dbdyno server start mysql:8.0`".to_owned()
        } else {
            format!("there are {}", all.join(", "))
        };
        let name = MaskedTarget::from_text(name);
        Failure::Usage(format!("NAME {name:?}: there is no background server of this name; {hint}"))
    })
}

fn removed(home: &Home, name: &str) -> Result<Exit, Failure> {
    if BackgroundServer::check_name(name).is_ok() && dbdyno_sandbox::remove_unfinished(home, name)?
    {
        output::say_text(&format!("{name} is removed, which a start had left that was ended"));
        return Ok(Exit::Holds);
    }
    if BackgroundServer::find_by_name(home, name).is_some() {
        for server in all_of(home, name)?.iter().rev() {
            server.remove(home)?;
        }
        return Ok(Exit::Holds);
    }
    if let Some(image) = Image::find_by_name(home, name) {
        return if image.remove(home, &mut output::say_text)? {
            Ok(Exit::Holds)
        } else {
            Err(Failure::Usage(format!(
                "NAME {name:?}: a server is being started from this image; try again in a moment"
            )))
        };
    }
    let tree = name.replacen(':', "-", 1);
    let Some(release) = installed_releases(home).into_iter().find(|release| release.name() == tree)
    else {
        let name = MaskedTarget::from_text(name);
        return Err(Failure::Usage(format!(
            "NAME {name:?}: no background server, release or image has this name; `dbdyno server \
             ls` names all"
        )));
    };
    dbdyno_sandbox::remove(home, &release, &mut output::say_text)?;
    Ok(Exit::Holds)
}
