//! Servers in the background that belong together.
//!
//! ```text
//!   bg/NAME/      the source or the primary
//!   bg/NAME.2/    another member; its record says of whom, and what it is
//!   bg/NAME.3/    …
//! ```
//!
//! Each is a background server as any other. What belongs together is started, joined and stopped
//! together, under the name of the first. There is no delay between them: nobody stays who could
//! hold back what they send.

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_model::{MemberRole, Product, Topology, TopologyShape, Transport};
use dbdyno_wire::Endpoint;

use super::member::Begins;
use super::renewal::MemberPassword;
use super::{
    at_once, check_support, fetch_requirements, galera, group, join, make_member, one_by_one,
    renewal, replicas, settings,
};
use crate::allocator;
use crate::background::{BackgroundServer, BackgroundState, Membership, end_processes};
use crate::bootstrap::{DATABASE, USER};
use crate::cgroup;
use crate::error::SandboxError;
use crate::home::Home;
use crate::making::Making;
use crate::options::LaunchOptions;
use crate::password;
use crate::release::Release;
use crate::server::{
    Node, Seat, copy_data, lay_out, overlay_settings, own_security, socket_in, tell_database,
};
use crate::space;
use crate::template::Template;

impl BackgroundServer {
    /// What it is among those that it belongs to.
    pub fn member_role(&self) -> Option<MemberRole> {
        let membership = self.membership.as_ref()?;
        Some(membership.shape.role_of(membership.number.saturating_sub(1)))
    }
}

/// Starts servers of `release` that belong together on empty data directories; the first is called
/// `name`, the others `name.2` and so on.
///
/// # Errors
/// As [`BackgroundServer::start`]; [`SandboxError::NotAMember`] if one does not join. Nothing stays
/// behind then.
pub fn start_together(
    home: &Home,
    release: &Release,
    options: &LaunchOptions,
    shape: TopologyShape,
    name: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<BackgroundServer>, SandboxError> {
    check_support(release, shape)?;
    fetch_requirements(home, release, shape, progress)?;
    cgroup::are_for_arms(&options.settings)?;
    allocator::is_for_arms(&options.settings)?;
    let told = options.told_to(release)?;
    let asked: Vec<String> = told.of_the_user().into_iter().map(|told| told.name.clone()).collect();
    let template =
        Template::find_or_make(home, release, &Making::from_translation(&told), progress)?;
    let needed_mb = u64::from(shape.members()) * options.disk_mb(release.product);
    space::require_free_space(&format!("starting {shape}"), home.dir(), needed_mb)?;
    let group_name = group::random_name()?;
    let mut members = Vec::new();
    progress(&format!("starting {} in the background as {name}, {shape}", release.name()));
    let mut make = || -> Result<(), SandboxError> {
        for number in 0..shape.members() {
            let mut own = settings(release, shape, number, &group_name);
            // No two may have one, and an option of all of them gives each the same.
            own.retain(|(name, _)| name == "server_id" || !asked.contains(name));
            let mut all = told.settings();
            overlay_settings(&mut all, own);
            let called =
                if number == 0 { name.to_owned() } else { format!("{name}.{}", number + 1) };
            let membership = Membership { shape, number: number + 1, of: name.to_owned() };
            let member = BackgroundServer::create_stopped(
                home,
                release,
                all,
                &template,
                &called,
                Some(membership),
            )?;
            members.push(member);
            let member = &members[usize::from(number)];
            lay_out(&member.dir.join("s"), &template.data)?;
            make_member(&node(member, release)?)?;
        }
        if release.product == Product::Postgres {
            copy_the_source(home, release, &template, &mut members)?;
        }
        members = raise(home, release, &template, &members, Begins::Now)?;
        Ok(())
    };
    let made = make();
    if made.is_err() {
        for member in &members {
            end_processes(home, &member.dir);
            let _ = fs::remove_dir_all(&member.dir);
        }
    }
    made.map(|()| members)
}

/// All that belong to the same as this one, the first of them first; it alone if it is alone.
pub fn ensemble_members(home: &Home, one: &BackgroundServer) -> Vec<BackgroundServer> {
    let Some(membership) = &one.membership else { return vec![one.clone()] };
    let mut all = BackgroundServer::all_in(home);
    all.retain(|other| other.membership.as_ref().is_some_and(|m| m.of == membership.of));
    all.sort_by_key(|member| member.membership.as_ref().map(|m| m.number));
    all
}

/// Starts members, of which some or none run, on the data that they have. Those that run are
/// stopped first, unless all do.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if a member or the tree is gone; as [`start_together`], but their
/// data stay.
pub fn start_together_again(
    home: &Home,
    members: &[BackgroundServer],
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<BackgroundServer>, SandboxError> {
    let runs = |member: &BackgroundServer| matches!(member.state(), BackgroundState::Running(_));
    if members.iter().all(runs) {
        return Ok(members.to_vec());
    }
    let first = &members[0];
    let shape = first.membership.as_ref().map(|membership| membership.shape);
    let Some(shape) = shape.filter(|shape| usize::from(shape.members()) == members.len()) else {
        return Err(first.unsuitable_error(
            "not all of its members are here; remove it with `dbdyno server rm` and start anew"
                .to_owned(),
        ));
    };
    if members.iter().any(runs) {
        stop_together(home, members)?;
    }
    let release = first.release(home)?;
    let template = Template::find_or_make(home, &release, &Making::default(), progress)?;
    members.iter().for_each(|member| end_processes(home, &member.dir));
    progress(&format!("starting {} again, {shape}", first.name));
    raise(home, &release, &template, members, Begins::Again).inspect_err(|_| {
        members.iter().for_each(|member| end_processes(home, &member.dir));
    })
}

/// Shuts down all members that run; those that follow first.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if none runs; [`SandboxError::StopFailed`] for the first that had
/// to be killed, after all are down.
pub fn stop_together(home: &Home, members: &[BackgroundServer]) -> Result<(), SandboxError> {
    let running: Vec<&BackgroundServer> =
        members.iter().filter(|m| matches!(m.state(), BackgroundState::Running(_))).collect();
    if running.is_empty() {
        return members[0].stop(home);
    }
    if running[0].member_role() == Some(MemberRole::Node) {
        // One after the other, the first last: see `galera`.
        return one_by_one(running.into_iter().rev(), |member| member.stop(home));
    }
    // Those of a group go at once, since each takes seconds to say goodbye; a source goes last.
    let (sources, others): (Vec<_>, Vec<_>) =
        running.into_iter().partition(|member| member.member_role() == Some(MemberRole::Source));
    let down = at_once(others, |member| member.stop(home));
    down.and(at_once(sources, |member| member.stop(home))).map(|_| ())
}

/// Starts the processes, joins them, and waits until all do their part.
fn raise(
    home: &Home,
    release: &Release,
    template: &Template,
    members: &[BackgroundServer],
    begins: Begins,
) -> Result<Vec<BackgroundServer>, SandboxError> {
    let shape = members[0].membership.as_ref().map(|membership| membership.shape);
    let launch = |members: &[BackgroundServer]| {
        at_once(members, |member| member.launch_process(home, release, template, None))
    };
    let nodes = |members: &[BackgroundServer]| -> Result<Vec<Node>, SandboxError> {
        members.iter().map(|member| node(member, release)).collect()
    };
    let mut up = if let Some(TopologyShape::Galera(_)) = shape {
        let mut hall = Hall { home, release, template, members: members.to_vec() };
        galera::start_cluster(&mut hall, begins)?;
        hall.members
    } else {
        let (mut up, others) = (launch(&members[..1])?, &members[1..]);
        if release.product == Product::Postgres {
            let port = up[0].port;
            let all: Vec<BackgroundServer> = up.iter().chain(others).cloned().collect();
            replicas::point_standbys(&nodes(&all)?, &vec![port; members.len()])?;
        }
        up.extend(launch(others)?);
        up
    };
    let mut joining = nodes(&up)?;
    if begins == Begins::Now {
        // On the first only: the others get it from there.
        tell_database(release.product, &joining[0].endpoint).map_err(|error| {
            joining[0].error_with_log(format!("does not change its database: {error}"))
        })?;
    }
    let Some(shape) = shape else { return Ok(up) };
    let is_doubtful = up.iter().any(|member| password::is_doubtful(&member.dir));
    if is_doubtful && release.product != Product::Postgres {
        renewal::renew_each(release, shape, &passwords(&up, &joining))?;
        joining = nodes(&up)?;
    }
    let seen = vec![joining[0].port; joining.len()];
    join(&joining, Topology { shape, delay: None }, &seen)?;
    if is_doubtful && release.product == Product::Postgres {
        renewal::renew_through_source(release, &passwords(&up, &joining))?;
        // Standbys read at their start where the source is, and by which password.
        for standby in &up[1..] {
            standby.stop(home)?;
        }
        replicas::point_standbys(&nodes(&up)?, &seen)?;
        let again = launch(&up[1..])?;
        up.splice(1.., again);
        replicas::start_replication(&nodes(&up)?, &seen)?;
    }
    Ok(up)
}

fn passwords<'a>(members: &'a [BackgroundServer], nodes: &'a [Node]) -> Vec<MemberPassword<'a>> {
    let pairs = members.iter().zip(nodes);
    pairs.map(|(member, node)| MemberPassword { dir: &member.dir, node }).collect()
}

/// Background servers, and what is needed to start them.
struct Hall<'a> {
    home: &'a Home,
    release: &'a Release,
    template: &'a Template,
    members: Vec<BackgroundServer>,
}

impl galera::Nodes for Hall<'_> {
    fn release(&self) -> Release {
        self.release.clone()
    }

    fn count(&self) -> usize {
        self.members.len()
    }

    fn data_dir(&self, number: usize) -> PathBuf {
        data_of(&self.members[number].dir)
    }

    fn launch_node(&mut self, number: usize, seat: Seat) -> Result<Node, SandboxError> {
        let member = &mut self.members[number];
        *member = member.launch_process(self.home, self.release, self.template, Some(seat))?;
        node(member, self.release)
    }

    fn halt_node(&mut self, number: usize) -> Result<(), SandboxError> {
        self.members[number].stop(self.home)
    }
}

/// See [`replicas::copy_the_source`].
fn copy_the_source(
    home: &Home,
    release: &Release,
    template: &Template,
    members: &mut [BackgroundServer],
) -> Result<(), SandboxError> {
    members[0] = members[0].launch_process(home, release, template, None)?;
    members[0].stop(home)?;
    let source = data_of(&members[0].dir);
    for member in &members[1..] {
        let own = data_of(&member.dir);
        fs::remove_dir_all(&own).map_err(SandboxError::io("remove", &own))?;
        copy_data(&source, &own)?;
    }
    Ok(())
}

fn data_of(dir: &Path) -> PathBuf {
    dir.join("s/data")
}

fn node(member: &BackgroundServer, release: &Release) -> Result<Node, SandboxError> {
    let role = member.member_role().map_or("", MemberRole::name);
    let socket = socket_in(&member.dir.join("s"), release.product, member.port);
    let mut endpoint = Endpoint {
        transport: Transport::Unix(socket.display().to_string()),
        user: USER.to_owned(),
        password: member.password()?,
        database: DATABASE.to_owned(),
        security: own_security(release.product, &data_of(&member.dir)),
    };
    endpoint.password = password::accepted_password(&member.dir, release.product, &endpoint)?;
    Ok(Node {
        what: format!("{} {} ({}, {role})", release.product.name(), release.version, member.name),
        product: release.product,
        version: release.version.clone(),
        endpoint,
        port: member.port,
        log: member.error_log(),
        data: data_of(&member.dir),
    })
}
