//! Servers that belong together: started, joined, watched, and taken down as one.
//!
//! ```text
//!   replicas:2                             group:3
//!
//!     source ◀──way── replica                primary ◀─way─▶ secondary
//!        ▲                                       ▲              ▲
//!        └─────way─── replica                    └──way─▶ secondary ◀─┘
//!
//!   galera:3   as a group, and all are alike; see [`mod@galera`]
//!
//!   template ──copy──▶ member 1 … member N ──launch──▶ all accept logins ──join──▶ marker row
//!                                                                          seen on every member
//! ```
//!
//! Each member is a [`Server`] as any other: a directory with an owner, a process that dies with
//! us, a port of its own. What is added here is what they say to each other. A member counts as up
//! when its part works — its threads run, or it is ONLINE, or it streams — *and* a row that was
//! written on the first member has been read on it; that a statement returned says nothing.
//!
//! With a delay the members reach each other over ways of ours, see [`mod@delay`]; the first
//! member is asked directly in any case.

mod background;
mod delay;
mod galera;
mod group;
mod lag;
mod member;
mod renewal;
mod replicas;
mod standing;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::thread;

use dbdyno_host::SharedHost;
use dbdyno_model::{LatencyHistogram, MemberRole, Product, Topology, TopologyShape};
use dbdyno_wire::WireError;

use crate::catalog::at_least;
use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::home::Home;
use crate::image::Image;
use crate::making::Making;
use crate::options::LaunchOptions;
use crate::release::Release;
use crate::server::{Node, Seat, Server};
use crate::space;
use crate::template::Template;
pub use background::{ensemble_members, start_together, start_together_again, stop_together};
use delay::Way;
use member::{Begins, JOIN_WITHIN_S, MemberConnection};
pub use standing::{MemberStanding, Works};

/// Where the marker row is while it is waited for.
const MARKER: &str = "dbdyno_marker";
/// Servers that belong together, running. Dropping it ends all of them, as with [`Server`].
#[derive(Debug)]
pub struct Ensemble {
    topology: Topology,
    /// The first is the source or the primary.
    members: Vec<Server>,
    ways: Vec<Between>,
    /// What ways added that are gone, out of the first member and into it.
    past: [LatencyHistogram; 2],
    /// Connections that ways refused that are gone.
    past_refused: u64,
    host: SharedHost,
    group_name: String,
}

/// A way from one member to another, by their numbers.
#[derive(Debug)]
struct Between {
    from: usize,
    to: usize,
    way: Way,
}

/// What a delay came to: the time from when a piece of bytes was taken in to when it was passed on.
#[derive(Clone, Debug)]
pub struct MeasuredDelay {
    /// Of what the first member sent to others.
    pub out: LatencyHistogram,
    /// Of what the others sent to the first.
    pub back: LatencyHistogram,
}

impl Ensemble {
    /// Starts servers of `release` that belong together, all on copies of `image` or on empty data
    /// directories, and waits until each does its part. `name` is that of the arm; members behind
    /// the first get a number to it.
    ///
    /// # Errors
    /// As [`Server::start`]; [`SandboxError::Unsuitable`] for a release that cannot do it;
    /// [`SandboxError::NotAMember`] if one does not join. Nothing stays behind then.
    pub fn start(
        home: &Home,
        release: &Release,
        options: &LaunchOptions,
        topology: Topology,
        image: Option<&Image>,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Ensemble, SandboxError> {
        check_support(release, topology.shape)?;
        fetch_requirements(home, release, topology.shape, progress)?;
        let told = options.told_to(release)?;
        let asked: Vec<String> =
            told.of_the_user().into_iter().map(|told| told.name.clone()).collect();
        let used = image.map(Image::begin_use).transpose()?;
        let fresh;
        let template = match &used {
            Some(used) => &used.template,
            None => {
                fresh = Template::find_or_make(
                    home,
                    release,
                    &Making::from_translation(&told),
                    progress,
                )?;
                &fresh
            }
        };
        let copied_mb = image.map_or(0, |image| image.mb);
        let each_mb = options.disk_mb(release.product).max(copied_mb);
        let needed_mb = u64::from(topology.shape.members()) * each_mb;
        space::require_free_space(&format!("starting {topology}"), home.dir(), needed_mb)?;
        let mut ensemble = Ensemble {
            topology,
            members: Vec::new(),
            ways: Vec::new(),
            past: [LatencyHistogram::new(), LatencyHistogram::new()],
            past_refused: 0,
            host: home.host().clone(),
            group_name: group::random_name()?,
        };
        for number in 0..topology.shape.members() {
            let name = if number == 0 { name.to_owned() } else { format!("{name}-{}", number + 1) };
            let mut member =
                Server::prepare(home, release, options, &name, template, copied_mb, progress)?;
            member.is_called(&name, topology.shape.role_of(number));
            make_member(&member.node())?;
            let mut settings = settings(release, topology.shape, number, &ensemble.group_name);
            settings.retain(|(name, _)| name == "server_id" || !asked.contains(name));
            member.add_settings(settings);
            if topology.delay.is_some() && matches!(topology.shape, TopologyShape::Group(_)) {
                group::hide_behind_names(&mut member, number, topology.shape)?;
            }
            ensemble.members.push(member);
        }
        if release.product == Product::Postgres {
            replicas::copy_the_source(&mut ensemble.members)?;
        }
        progress(&format!("joining {topology}"));
        ensemble.raise(Begins::Now)?;
        Ok(ensemble)
    }

    /// How they belong together.
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// The member that is written to.
    pub fn first(&self) -> &Server {
        &self.members[0]
    }

    /// All members with their roles; the first is [`Ensemble::first`].
    pub fn members(&self) -> impl Iterator<Item = (MemberRole, &Server)> {
        (0..)
            .zip(&self.members)
            .map(|(number, member)| (self.topology.shape.role_of(number), member))
    }

    /// What each member that follows has yet to do, seen from now.
    ///
    /// # Errors
    /// [`SandboxError::NotAMember`] for one that cannot be asked.
    pub fn member_standings(&self) -> Result<Vec<MemberStanding>, SandboxError> {
        lag::member_standings(&self.nodes(), self.topology.shape)
    }

    /// What the delay came to so far; `None` where the members speak to each other directly.
    pub fn added_delay(&self) -> Option<MeasuredDelay> {
        self.topology.delay?;
        let [mut out, mut back] = self.past.clone();
        for between in &self.ways {
            let [there, home] = between.way.added_delay();
            if between.from == 0 {
                out.merge(&there);
                back.merge(&home);
            } else if between.to == 0 {
                back.merge(&there);
                out.merge(&home);
            }
        }
        Some(MeasuredDelay { out, back })
    }

    /// Connections to ways between the members that were refused, since another account made them
    /// or there were more than members make.
    pub fn refused_connections(&self) -> u64 {
        let ways = self.ways.iter().map(|between| between.way.refused_connections());
        self.past_refused + ways.sum::<u64>()
    }

    /// Words that are this instance's own, each with what stands for it wherever instances are
    /// compared.
    pub fn own_words(&self) -> Vec<(String, String)> {
        let mut words = vec![(self.group_name.clone(), "<group>".to_owned())];
        for (number, member) in self.members.iter().enumerate() {
            let directory = member.data_dir().parent().map(|dir| dir.display().to_string());
            let word = format!("<member {}>", number + 1);
            words.extend(directory.map(|directory| (directory, word)));
        }
        words
    }

    /// Shuts all members down and starts them again on their data, as [`Server::restart`] does.
    ///
    /// # Errors
    /// As [`Ensemble::start`] and [`Server::stop`]; they are down then.
    pub fn restart(&mut self) -> Result<(), SandboxError> {
        self.halt()?;
        let MeasuredDelay { out, back } = self.added_delay().unwrap_or_else(|| MeasuredDelay {
            out: LatencyHistogram::new(),
            back: LatencyHistogram::new(),
        });
        self.past = [out, back];
        self.past_refused = self.refused_connections();
        self.ways.clear();
        self.raise(Begins::Again)
    }

    /// Keeps all members on these processors.
    ///
    /// # Errors
    /// As [`Server::pin_to_processors`].
    pub fn pin_to_processors(&self, processors: &[usize]) -> Result<(), SandboxError> {
        self.members.iter().try_for_each(|member| member.pin_to_processors(processors))
    }

    /// Shuts all down cleanly, those that follow first.
    ///
    /// # Errors
    /// As [`Server::stop`]; the first complaint after all are down.
    pub fn stop(mut self) -> Result<(), SandboxError> {
        self.halt()
    }

    /// Shuts all down cleanly: of a group all at once, since each takes seconds to say goodbye; of
    /// a source and replicas the source last, so that none of them misses it; of Galera one after
    /// the other, the first last, so that their positions tell whether they are equal.
    fn halt(&mut self) -> Result<(), SandboxError> {
        match self.topology.shape {
            TopologyShape::Group(_) => at_once(&mut self.members, Server::halt_cleanly).map(|_| ()),
            TopologyShape::Galera(_) => {
                one_by_one(self.members.iter_mut().rev(), Server::halt_cleanly)
            }
            TopologyShape::Replicas(_) => {
                let (source, replicas) = self.members.split_at_mut(1);
                let down = at_once(replicas, Server::halt_cleanly);
                // The source goes down whatever became of them.
                down.and(at_once(source, Server::halt_cleanly)).map(|_| ())
            }
        }
    }

    fn nodes(&self) -> Vec<Node> {
        self.members.iter().map(Server::node).collect()
    }

    /// Starts the processes, opens the ways, joins, and waits until all do their part.
    fn raise(&mut self, begins: Begins) -> Result<(), SandboxError> {
        if let TopologyShape::Galera(_) = self.topology.shape {
            galera::start_cluster(&mut self.members, begins)?;
        } else if self.first().node().product == Product::Postgres {
            // A standby wants its source to be there.
            launch_all(&mut self.members[..1])?;
            self.ways = self.open_ways()?;
            let nodes = self.nodes();
            replicas::point_standbys(&nodes, &self.seen_ports(&nodes))?;
            launch_all(&mut self.members[1..])?;
        } else {
            launch_all(&mut self.members)?;
            self.ways = self.open_ways()?;
        }
        if begins == Begins::Now {
            // On the first only: the others get it from there.
            self.first().tell_database()?;
        }
        let nodes = self.nodes();
        join(&nodes, self.topology, &self.seen_ports(&nodes))
    }

    fn open_ways(&self) -> Result<Vec<Between>, SandboxError> {
        let Some(delay) = self.topology.delay else { return Ok(Vec::new()) };
        let count = self.members.len();
        let accounts = [child::account_of_servers(), nix::unistd::geteuid().as_raw()];
        let open = |from: usize, to: usize, at: SocketAddrV4| {
            let there = SocketAddrV4::new(Ipv4Addr::LOCALHOST, self.members[to].node().port);
            let way = Way::open(at, there, delay.one_way_ns, &self.host, accounts);
            let way = way.map_err(SandboxError::io("listen on", &PathBuf::from(at.to_string())))?;
            Ok(Between { from, to, way })
        };
        match self.topology.shape {
            // None has a delay, see `Topology::check_delay`.
            TopologyShape::Galera(_) => Ok(Vec::new()),
            TopologyShape::Replicas(_) => {
                (1..count).map(|replica| open(replica, 0, delay::ANYWHERE)).collect()
            }
            TopologyShape::Group(_) => {
                let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
                let pairs = pairs.filter(|(from, to)| from != to);
                pairs
                    .map(|(from, to)| open(from, to, group::way_of(from, to, self.port(to))))
                    .collect()
            }
        }
    }

    fn port(&self, member: usize) -> u16 {
        self.members[member].node().port
    }

    /// For each member the port of the first as it sees it.
    fn seen_ports(&self, nodes: &[Node]) -> Vec<u16> {
        (0..nodes.len())
            .map(|number| {
                let way =
                    self.ways.iter().find(|between| (between.from, between.to) == (number, 0));
                way.and_then(|between| between.way.port().ok()).unwrap_or(nodes[0].port)
            })
            .collect()
    }
}

/// Whether the release can do it.
pub(crate) fn check_support(release: &Release, shape: TopologyShape) -> Result<(), SandboxError> {
    let refuse = |reason: &str| {
        let what = format!("{shape} of {}", release.name());
        Err(SandboxError::Unsuitable { what, reason: reason.to_owned() })
    };
    match (shape, release.product) {
        (TopologyShape::Replicas(_), Product::MySql) if !at_least(&release.version, "5.6.5") => {
            refuse("MySQL has GTIDs from 5.6 on; take mysql:5.6 or a later one")
        }
        (TopologyShape::Replicas(_), _) => Ok(()),
        (TopologyShape::Group(_), Product::MySql) if !at_least(&release.version, "8.0.27") => {
            refuse("groups are made of MySQL 8.0.27 or later; take mysql:8.0.33@maven or mysql:9.7")
        }
        (TopologyShape::Group(_), Product::MySql) => {
            let plugins = release.layout.plugins.as_ref().map(|dir| release.dir.join(dir));
            match plugins.filter(|dir| dir.join("group_replication.so").is_file()) {
                Some(_) => Ok(()),
                None => refuse(
                    "its package lacks the plugin group_replication; take mysql:8.0.33@maven or \
                     mysql:9.7",
                ),
            }
        }
        (TopologyShape::Galera(_), Product::MariaDb) => {
            galera::why_unavailable(release).map_or(Ok(()), refuse)
        }
        (TopologyShape::Galera(_), _) => refuse("Galera is MariaDB's; take mariadb:10.11"),
        (TopologyShape::Group(_), _) => {
            refuse("Group Replication is MySQL's; take mysql:8.0.33, or --topology replicas:N")
        }
    }
}

/// Gets what a release has not and what it needs for it.
pub(crate) fn fetch_requirements(
    home: &Home,
    release: &Release,
    shape: TopologyShape,
    progress: &mut dyn FnMut(&str),
) -> Result<(), SandboxError> {
    match shape {
        TopologyShape::Galera(_) => galera::fetch_provider(home, release, progress),
        TopologyShape::Group(_) | TopologyShape::Replicas(_) => Ok(()),
    }
}

/// What a member is told beside what every server is told.
pub(crate) fn settings(
    release: &Release,
    shape: TopologyShape,
    number: u8,
    group_name: &str,
) -> Vec<(String, String)> {
    let replicas = || replicas::settings(release.product, &release.version, number);
    let settings = match shape {
        TopologyShape::Galera(_) => galera::settings(),
        TopologyShape::Replicas(_) => replicas(),
        TopologyShape::Group(_) => {
            let mut settings = replicas();
            settings.extend(group::settings(&release.version, group_name));
            settings
        }
    };
    settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Makes a fresh copy of the template fit to live beside other copies.
pub(crate) fn make_member(node: &Node) -> Result<(), SandboxError> {
    match node.product {
        Product::Postgres => replicas::let_standbys_in(&node.data),
        // A server without this file makes itself a server_uuid, which must be its own.
        _ => {
            let path = node.data.join("auto.cnf");
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(SandboxError::io("remove", &path)(error))
                }
                _ => Ok(()),
            }
        }
    }
}

/// Joins members that accept logins, and waits until each does its part. `seen` is for each member
/// the port of the first as it sees it.
pub(crate) fn join(nodes: &[Node], topology: Topology, seen: &[u16]) -> Result<(), SandboxError> {
    match topology.shape {
        TopologyShape::Group(_) => group::form_group(nodes, topology)?,
        TopologyShape::Replicas(_) => replicas::start_replication(nodes, seen)?,
        // They have joined as they were started; here all of them see all.
        TopologyShape::Galera(count) => nodes
            .iter()
            .try_for_each(|node| galera::wait_until_synced(node, usize::from(count)).map(|_| ()))?,
    }
    let mut first = MemberConnection::connect(&nodes[0])?;
    let mark = mark(&mut first)?;
    for node in &nodes[1..] {
        wait_for_mark(node, &mark)?;
    }
    first.run(&format!("DROP TABLE {MARKER}"))
}

/// Writes a row that nobody can have seen before; returns it.
fn mark(first: &mut MemberConnection) -> Result<String, SandboxError> {
    let mark = crate::bootstrap::random_password()?;
    first.run(&format!("DROP TABLE IF EXISTS {MARKER}"))?;
    first.run(&format!("CREATE TABLE {MARKER} (mark VARCHAR(40) NOT NULL PRIMARY KEY)"))?;
    first.run(&format!("INSERT INTO {MARKER} VALUES ('{mark}')"))?;
    Ok(mark)
}

fn wait_for_mark(node: &Node, mark: &str) -> Result<(), SandboxError> {
    let deadline = Deadline::after_seconds(JOIN_WITHIN_S);
    let mut member = MemberConnection::connect(node)?;
    let question = format!("SELECT mark FROM {MARKER}");
    loop {
        // Until the table is there, the server refuses.
        match member.client.query(&question) {
            Ok(rows) if rows.first_value() == Some(mark) => return Ok(()),
            Ok(_) | Err(WireError::Server(_)) => {}
            Err(error) => {
                return Err(node.error_with_log(format!("was asked for the marker row: {error}")));
            }
        }
        if !deadline.pause() {
            return Err(node.error_with_log(format!(
                "did not apply a row of the first member within the time limit of {JOIN_WITHIN_S} s"
            )));
        }
    }
}

/// Starts all at once: each takes a second or more, most of it waiting for the disk.
fn launch_all(members: &mut [Server]) -> Result<(), SandboxError> {
    at_once(members, Server::launch_process).map(|_| ())
}

impl galera::Nodes for Vec<Server> {
    fn release(&self) -> Release {
        self[0].release().clone()
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn data_dir(&self, number: usize) -> PathBuf {
        self[number].data_dir()
    }

    fn launch_node(&mut self, number: usize, seat: Seat) -> Result<Node, SandboxError> {
        let member = &mut self[number];
        member.sit_down(seat);
        member.launch_process()?;
        Ok(member.node())
    }

    fn halt_node(&mut self, number: usize) -> Result<(), SandboxError> {
        self[number].halt_cleanly()
    }
}

/// Does something with one after the other. All of it is done before the first complaint is heard.
fn one_by_one<T>(
    items: impl IntoIterator<Item = T>,
    what: impl Fn(T) -> Result<(), SandboxError>,
) -> Result<(), SandboxError> {
    let ends: Vec<_> = items.into_iter().map(what).collect();
    ends.into_iter().collect()
}

/// Does something with all at once. All of it ends before the first complaint is heard.
fn at_once<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    what: impl Fn(T) -> Result<R, SandboxError> + Sync,
) -> Result<Vec<R>, SandboxError> {
    thread::scope(|scope| {
        let what = &what;
        let threads = items.into_iter().map(|item| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || what(item));
            thread.map_err(SandboxError::io("start a thread beside", Path::new("the others")))
        });
        let threads: Vec<_> = threads.collect();
        let ends = threads.into_iter().map(|thread| match thread?.join() {
            Ok(end) => end,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}
