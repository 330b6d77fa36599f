//! Known causes of slower releases, as people have told of them: whether each is a suspect, and
//! which place it has among what differs between such releases.

use dbdyno_model::{Audit, FactChange, Inequality, PerArm, Weight};

use crate::{Pointing, Resource, find_suspects};

/// A post: the arms, what an operation cost more of by its account, the cause, and where it
/// stands.
struct Post {
    arms: [&'static str; 2],
    points_to: Resource,
    cause: (&'static str, Option<&'static str>, Option<&'static str>),
    source: &'static str,
}

const POSTS: [Post; 10] = [
    Post {
        arms: ["mysql:5.6", "mysql:5.7"],
        points_to: Resource::Syncs,
        cause: ("sync_binlog", Some("0"), Some("1")),
        source: "percona.com 2016-06-03: binary logs make MySQL 5.7 slower than 5.6",
    },
    Post {
        arms: ["mysql:5.6", "mysql:5.7"],
        points_to: Resource::Processor,
        cause: ("performance_schema", Some("OFF"), Some("ON")),
        source: "rimzy.net: defaults of 5.6 and 5.7",
    },
    Post {
        arms: ["postgres:10", "postgres:12"],
        points_to: Resource::Processor,
        cause: ("jit", Some("off"), Some("on")),
        source: "solovyov.net 2020: PostgreSQL query JIT",
    },
    Post {
        arms: ["postgres:13", "postgres:14"],
        points_to: Resource::Processor,
        cause: ("enable_memoize", None, Some("on")),
        source: "pgflare.com: planner regressions",
    },
    Post {
        arms: ["postgres:17", "postgres:18"],
        points_to: Resource::Pages,
        cause: ("io_method", None, Some("worker")),
        source: "PostgreSQL 18, release notes and 19.4.4",
    },
    Post {
        arms: ["mariadb:10.11", "mariadb:11.4"],
        points_to: Resource::Syncs,
        cause: ("innodb_flush_method", Some("O_DIRECT_NO_FSYNC"), Some("O_DIRECT")),
        source: "jira.mariadb.org MDEV-33545",
    },
    Post {
        arms: ["mysql:8.0", "mysql:8.4"],
        points_to: Resource::Pages,
        cause: ("innodb_flush_method", Some("fsync"), Some("O_DIRECT")),
        source: "jfg-mysql.blogspot.com 2026-02: more than flushing, also caching",
    },
    Post {
        arms: ["mariadb:10.8", "mariadb:10.11"],
        points_to: Resource::Processor,
        cause: ("optimizer_prune_level", Some("1"), Some("2")),
        source: "openmrs-distro-referenceapplication#800, MDEV-28852",
    },
    Post {
        arms: ["mariadb:10.5", "mariadb:10.11"],
        points_to: Resource::Pages,
        cause: ("innodb_buffer_pool_size", Some("2147483648"), Some("134217728")),
        source: "friendica#13373",
    },
    Post {
        arms: ["mysql:5.7", "mysql:8.0"],
        points_to: Resource::Locks,
        cause: ("query_cache_type", Some("ON"), None),
        source: "dmwm/deployment#1116: it locked up the server",
    },
];

/// What differs between most releases of a family and is the cause of none of these.
const COMMON: [(&str, &str, &str); 14] = [
    ("back_log", "80", "151"),
    ("connect_timeout", "10", "5"),
    ("innodb_purge_threads", "1", "4"),
    ("max_allowed_packet", "4194304", "67108864"),
    ("table_definition_cache", "1400", "2000"),
    ("net_buffer_length", "16384", "8192"),
    ("innodb_open_files", "2000", "4000"),
    ("thread_cache_size", "9", "100"),
    ("lc_messages", "en_US", "en_GB"),
    ("sort_buffer_size", "262144", "2097152"),
    ("innodb_lru_scan_depth", "1024", "1536"),
    ("wal_buffers", "512", "2048"),
    ("max_wal_size", "1024", "4096"),
    ("innodb_io_capacity", "200", "10000"),
];

fn unequal(name: &str, base: Option<&str>, test: Option<&str>) -> Inequality {
    let name = format!("variable.{name}");
    let change = match (base, test) {
        (None, _) => FactChange::New,
        (_, None) => FactChange::Gone,
        _ => FactChange::Default,
    };
    let rule = dbdyno_audit::rule_key_of(&name);
    let (base, test) = (base.map(str::to_owned), test.map(str::to_owned));
    Inequality { name, base, test, weight: Weight::Varied, change, rule, topic: "" }
}

/// Ten posts whose cause is known: it is a suspect, and what the facts of such a cell point to puts
/// it first. Where the facts point to nothing, it is among the first three.
#[test]
fn causes_that_were_published_are_tried_first() {
    for post in &POSTS {
        let (name, base, test) = post.cause;
        let common = COMMON.iter().filter(|(known, ..)| *known != name);
        let mut all: Vec<Inequality> =
            common.map(|(name, base, test)| unequal(name, Some(base), Some(test))).collect();
        all.push(unequal(name, base, test));
        let audit = Audit { unequal: all, equal: 0 };
        let arms = PerArm { base: post.arms[0], test: post.arms[1] };
        let arms = arms.map(|text| text.parse::<dbdyno_model::ArmSpec>().unwrap());
        let place = |pointing: &Pointing| {
            let found = find_suspects(&arms.as_ref(), &audit, pointing);
            let place = found.tried.iter().position(|one| one.name == name);
            place.unwrap_or_else(|| panic!("{name} is no suspect, of {}: {found:?}", post.source))
        };
        assert!(place(&Pointing::to(post.points_to)) == 0, "{name}: {}", post.source);
        assert!(place(&Pointing::default()) < 3, "{name}: {}", post.source);
    }
}
