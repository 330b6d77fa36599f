//! `dbdyno watch`: what servers that run already are doing, second by second.
//!
//! ```text
//!   a thread for each server ─ look ─▶ channel ─▶ a line each, on stdout
//!                                               └▶ what each metric was, at the end
//! ```
//!
//! A server that does not answer holds up no other one. Ctrl-C is the usual end: what was seen
//! until then is told, and that is no failure.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use dbdyno_lab::Clock;
use dbdyno_model::metric_lessons::find_lessons;
use dbdyno_model::{ArmSpec, ServerUrl, Target};
use dbdyno_report::{WatchLines, WatchedMetric, WatchedServer, watch_document, watch_line_json};
use dbdyno_sandbox::BackgroundServer;
use dbdyno_watch::{MetricExtremes, Observer, ServerLook};

use crate::args::{Place, ReportFormat};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{login, output, screen, session};

const SECOND: Duration = Duration::from_secs(1);
/// How long a thread sleeps until it looks whether it is to end.
const NAP: Duration = Duration::from_millis(50);

/// The flags of `dbdyno watch`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    /// Servers that run: URLs such as mysql://user@host:3306/db, or names of `dbdyno server ls`
    #[arg(value_name = "SERVER", required = true)]
    pub servers: Vec<String>,
    /// End after so many seconds; without it, Ctrl-C ends it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,
    /// Output format; json prints a line for each second and server
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
}

/// A look at one of the servers, by its number.
struct NumberedLook {
    server: usize,
    /// Whether it is the first, from which no rates are known yet.
    is_first: bool,
    unix_s: u64,
    look: ServerLook,
    about: ServerNotes,
}

/// What is known of a server besides figures.
#[derive(Clone, Default)]
struct ServerNotes {
    version: Option<String>,
    questions: usize,
    refusals: BTreeMap<String, String>,
    rare: Vec<(String, f64)>,
}

/// What was seen of a server.
#[derive(Default)]
struct WatchTotals {
    notes: ServerNotes,
    looks: u64,
    answers: u64,
    restarts: u64,
    extremes: BTreeMap<&'static str, MetricExtremes>,
    is_gone: bool,
}

/// Watches until the time is over or the user ends it.
pub(crate) fn run(place: &Place, flags: &Watch) -> Result<Exit, Failure> {
    let urls = flags.servers.iter().map(|text| url_of(place, text));
    let (names, urls): (Vec<String>, Vec<ServerUrl>) =
        urls.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let stop = session::stop_flag();
    let (tells, told) = mpsc::channel();
    for (server, url) in urls.iter().enumerate() {
        let connector = dbdyno_lab::connector_of_url(url)
            .map_err(|error| Failure::Usage(format!("{}: {error}", names[server])))?;
        let watcher = Watcher {
            server,
            observer: Observer::new(connector, SECOND),
            seconds: flags.seconds,
            stop: Arc::clone(&stop),
            tells: tells.clone(),
        };
        std::thread::spawn(move || watcher.look_each_second());
    }
    drop(tells);
    let seen = show_lines(flags, &names, &told)?;
    if flags.format != ReportFormat::Json {
        let servers = seen.into_iter().zip(names).map(|(seen, name)| seen.into_server(name));
        let servers: Vec<WatchedServer> = servers.collect();
        output::print_report(flags.format, || watch_document(&servers), String::new)?;
    }
    Ok(Exit::Holds)
}

/// One server and the thread that looks at it.
struct Watcher {
    server: usize,
    observer: Observer,
    seconds: Option<u64>,
    stop: Arc<AtomicBool>,
    tells: Sender<NumberedLook>,
}

impl Watcher {
    /// Looks at the beginning of each second, until the time is over, the user ends it, or nobody
    /// listens any more.
    fn look_each_second(mut self) {
        let clock = Clock::system();
        // Rates lie between two looks: the one at the beginning is none of those that are told.
        let looks = self.seconds.map_or(u64::MAX, |seconds| seconds.saturating_add(1));
        let end = self.seconds.map(Duration::from_secs);
        for number in 0..looks {
            let at = SECOND * u32::try_from(number).unwrap_or(u32::MAX);
            while clock.now() < at {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                std::thread::sleep(NAP.min(at.saturating_sub(clock.now())));
            }
            let unix_s = clock.unix_ms() / 1_000;
            let look = self.observer.look_once(&|| clock.now().as_nanos() as u64);
            let about = ServerNotes {
                version: self.observer.version().map(str::to_owned),
                questions: self.observer.question_count(),
                refusals: self.observer.refused_questions().clone(),
                rare: self.observer.rare_questions(),
            };
            let (server, is_first) = (self.server, number == 0);
            let numbered = NumberedLook { server, is_first, unix_s, look, about };
            if self.stop.load(Ordering::Relaxed) || self.tells.send(numbered).is_err() {
                return;
            }
            // Looks at a silent server take longer than a second.
            if end.is_some_and(|end| clock.now() >= end) {
                return;
            }
        }
    }
}

/// Prints a line for each look; returns what was seen of each server.
fn show_lines(
    flags: &Watch,
    names: &[String],
    told: &Receiver<NumberedLook>,
) -> Result<Vec<WatchTotals>, Failure> {
    let mut lines = WatchLines::new(names, screen::width());
    let mut seen: Vec<WatchTotals> = names.iter().map(|_| WatchTotals::default()).collect();
    let mut reasons = Vec::new();
    for NumberedLook { server, is_first, unix_s, look, about } in told {
        let name = &names[server];
        let of_server = &mut seen[server];
        if is_first {
            let (_, gone) = look.values_or_reason();
            // Most say themselves where they wanted to go.
            reasons.extend(gone.map(|why| {
                if why.contains(name.as_str()) { why.to_owned() } else { format!("{name}: {why}") }
            }));
            if reasons.len() == names.len() {
                return Err(Failure::Usage(reasons.join("\n")));
            }
            if gone.is_none() {
                continue;
            }
        }
        let was_gone = of_server.is_gone;
        of_server.add_look(&look, about);
        let line = match &look {
            _ if flags.format == ReportFormat::Markdown => continue,
            look if flags.format == ReportFormat::Json => {
                let (values, gone) = look.values_or_reason();
                watch_line_json(unix_s, name, values, gone)
            }
            ServerLook::Gone(_) if was_gone => continue,
            ServerLook::Gone(why) => {
                let why = format!("gone: {why}; tried again each second");
                lines.line_without_figures(unix_s, name, &why)
            }
            ServerLook::Restarted(_) => {
                lines.line_without_figures(unix_s, name, "began anew: its counters are at 0")
            }
            ServerLook::Told(values) => lines.line_of(unix_s, name, values),
        };
        output::print(&line)?;
    }
    Ok(seen)
}

impl WatchTotals {
    fn add_look(&mut self, look: &ServerLook, about: ServerNotes) {
        self.looks += 1;
        self.is_gone = matches!(look, ServerLook::Gone(_));
        let (values, gone) = look.values_or_reason();
        if gone.is_some() {
            return;
        }
        self.answers += 1;
        self.restarts += u64::from(matches!(look, ServerLook::Restarted(_)));
        self.notes = about;
        for (&name, &value) in values {
            self.extremes.entry(name).or_default().add_value(value);
        }
    }

    fn into_server(self, target: String) -> WatchedServer {
        let WatchTotals { notes, looks, answers, restarts, extremes, .. } = self;
        let metrics = find_lessons(None).into_iter().filter_map(|lesson| {
            let of_all = extremes.get(lesson.name)?;
            Some(WatchedMetric {
                lesson,
                least: of_all.least_value()?,
                median: of_all.quantile(0.5)?,
                p95: of_all.quantile(0.95)?,
                most: of_all.most_value()?,
            })
        });
        WatchedServer {
            target,
            version: notes.version,
            looks,
            answers,
            restarts,
            questions: notes.questions,
            refusals: notes.refusals.into_iter().collect(),
            rare: notes.rare,
            metrics: metrics.collect(),
        }
    }
}

/// A server that runs: by its URL, or by the name under which dbdyno started it.
fn url_of(place: &Place, text: &str) -> Result<(String, ServerUrl), Failure> {
    let home = session::open_home(place)?;
    let known = BackgroundServer::find_by_name(&home, text);
    let spelled = known.as_ref().map(BackgroundServer::url).transpose()?;
    let spelled = spelled.as_ref().map_or(text, dbdyno_model::Secret::expose);
    let mut spec = crate::verify::spec_of(spelled)?;
    login::fill_login(&mut spec)?;
    let ArmSpec { target: Target::Url(url), .. } = spec else {
        return Err(Failure::Usage(format!(
            "{text} does not run: `watch` starts no server; name the URL of one that runs, such as \
             mysql://user@host:3306/db, or start one with `dbdyno server start {text}`"
        )));
    };
    let name = known.map_or_else(|| url.transport.to_string(), |known| known.name);
    Ok((name, url))
}
