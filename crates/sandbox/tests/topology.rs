//! Real servers that belong together: joined, written to, read from, killed.
#![expect(clippy::print_stdout, reason = "a test that downloads says what it waits for")]

use std::fs;
use std::path::PathBuf;

use crate::common::{connect, eventually, home, options, processes_in, release, single};
use dbdyno_model::{MemberRole, NetworkDelay, Product, Topology, TopologyShape};
use dbdyno_sandbox::{Ensemble, Home, LaunchOptions, Release, Server, Works};

fn start(home: &Home, release: &Release, shape: &str, delay: Option<&str>) -> Ensemble {
    let delay = delay.map(|delay| delay.parse::<NetworkDelay>().unwrap());
    let topology = Topology { shape: shape.parse::<TopologyShape>().unwrap(), delay };
    let progress = &mut |step: &str| println!("{step}");
    Ensemble::start(home, release, &options(), topology, None, "base", progress)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn write(release: &Release, ensemble: &Ensemble, rows: u32) {
    let mut first = connect(release.product, &ensemble.first().endpoint());
    first.run("CREATE TABLE IF NOT EXISTS t (a INT PRIMARY KEY)").unwrap();
    let next = single(&mut *first, "SELECT coalesce(max(a),0) FROM t").parse::<u32>().unwrap();
    for row in 1..=rows {
        first.run(&format!("INSERT INTO t VALUES ({})", next + row)).unwrap();
    }
}

/// Every member has what the first has, and says so.
fn everywhere(release: &Release, ensemble: &Ensemble, rows: &str) {
    for (role, member) in ensemble.members() {
        let mut client = connect(release.product, &member.endpoint());
        eventually(&format!("{rows} rows on {member:?}"), || {
            let count = client.query("SELECT count(*) FROM t");
            count.is_ok_and(|count| count.first_value() == Some(rows))
        });
        // Ours may do everything, and MariaDB and MySQL 5.6 have no way to forbid it that.
        let lax = release.product == Product::MariaDb || release.version.starts_with("5.6");
        if matches!(role, MemberRole::Replica | MemberRole::Secondary) && !lax {
            assert!(client.run("INSERT INTO t VALUES (-1)").is_err(), "{member:?} took a write");
        }
    }
    eventually("members that are not behind", || {
        let all = ensemble.member_standings().unwrap_or_else(|e| panic!("{e}"));
        all.iter().all(|one| {
            let is_known = one.works == Works::Yes && one.transactions.or(one.bytes).is_some();
            is_known && one.transactions.unwrap_or(0) == 0 && one.bytes.unwrap_or(0) == 0
        })
    });
}

fn ground(member: &Server) -> PathBuf {
    member.data_dir().ancestors().nth(2).unwrap().to_owned()
}

/// Members listen for each other on every address, which is not ours to choose.
fn lets_in_this_machine_only(release: &Release, ensemble: &Ensemble) {
    for (_, member) in ensemble.members() {
        let mut client = connect(release.product, &member.endpoint());
        let allowed = single(&mut *client, "SELECT @@group_replication_ip_allowlist");
        assert_eq!(allowed, "127.0.0.1/8");
    }
}

/// The whole life of servers that belong together.
fn life(tool: &str, product: Product, version: &str, shape: &str, delay: Option<&str>) {
    let Some(home) = home(tool) else { return };
    let release = release(&home, product, version);
    let mut ensemble = start(&home, &release, shape, delay);
    write(&release, &ensemble, 20);
    everywhere(&release, &ensemble, "20");
    ensemble.restart().unwrap_or_else(|e| panic!("{e}"));
    write(&release, &ensemble, 5);
    everywhere(&release, &ensemble, "25");
    if let Some(delay) = delay {
        let least = delay.parse::<NetworkDelay>().unwrap().one_way_ns;
        let added = ensemble.added_delay().unwrap();
        for way in [&added.out, &added.back] {
            assert!(way.count() > 20, "{}", way.count());
            assert!(way.quantile_ns(0.0) >= least / 1_001 * 1_000, "{}", way.quantile_ns(0.0));
        }
        println!("added p50 {} p99 {} ns", added.out.quantile_ns(0.5), added.out.quantile_ns(0.99));
    }
    if matches!(ensemble.topology().shape, TopologyShape::Group(_)) {
        lets_in_this_machine_only(&release, &ensemble);
    }
    let grounds: Vec<PathBuf> = ensemble.members().map(|(_, member)| ground(member)).collect();
    match ensemble.topology().shape {
        TopologyShape::Replicas(_) | TopologyShape::Galera(_) => {
            ensemble.stop().unwrap_or_else(|e| panic!("{e}"))
        }
        // A clean end of a group takes ten seconds, in which nothing is learnt.
        TopologyShape::Group(_) => drop(ensemble),
    }
    for ground in grounds {
        assert!(!ground.exists() && processes_in(&ground).is_empty());
    }
}

#[test]
fn a_mariadb_and_its_replica_live() {
    life("apt-get", Product::MariaDb, "10.11", "replicas:1", Some("2ms"));
}

#[test]
fn a_postgres_and_its_standby_live() {
    life("apt-get", Product::Postgres, "17", "replicas:1", Some("2ms"));
}

#[test]
fn a_group_of_mysql_lives() {
    life("mvn", Product::MySql, "8.0.33", "group:3", Some("2ms"));
}

/// A member that is killed before it is one ends the start, by its name; nothing is left of any.
#[test]
fn a_member_that_is_killed_while_starting_is_named() {
    let Some(home) = home("apt-get") else { return };
    let release = release(&home, Product::MariaDb, "10.11");
    let run = home.dir().join("run");
    let of_this = |name: &str| {
        let entries = fs::read_dir(&run).unwrap().flatten();
        let mut dirs = entries.map(|entry| entry.path());
        let own = format!("{name}-{}-", std::process::id());
        dirs.find(|dir| dir.file_name().unwrap().to_string_lossy().starts_with(&own))
    };
    let error = std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            let topology = Topology { shape: TopologyShape::Replicas(2), delay: None };
            let options = LaunchOptions { buffer_mb: 128, ..LaunchOptions::for_host(2_048) };
            Ensemble::start(&home, &release, &options, topology, None, "dies", &mut |_| {})
        });
        let mut victim = 0;
        eventually("the start of the third", || {
            let text =
                of_this("dies-3").and_then(|dir| fs::read_to_string(dir.join("server")).ok());
            let pid = text.and_then(|text| text.split(' ').next()?.parse().ok());
            victim = pid.unwrap_or(0);
            victim > 1
        });
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(victim),
            nix::sys::signal::Signal::SIGKILL,
        )
        .unwrap();
        starting.join().unwrap().unwrap_err()
    });
    let text = error.to_string();
    assert!(text.contains("(dies-3, replica)") && text.contains("try again"), "{text}");
    for name in ["dies", "dies-2", "dies-3"] {
        assert_eq!(of_this(name), None, "{text}");
    }
}

/// Releases that are tried by hand, with the variable set to what is wanted:
/// `mysql:9.7 group:3 5ms`.
#[test]
fn what_is_asked_for_lives() {
    let Ok(text) = std::env::var("DBDYNO_TEST_TOPOLOGY") else { return };
    let words: Vec<&str> = text.split(' ').collect();
    let (product, version) = words[0].split_once(':').unwrap();
    life("true", Product::named(product).unwrap(), version, words[1], words.get(2).copied());
}
