//! Arms that are made unequal on purpose, on real servers, and must be found so; and two equal
//! ones, of which nothing must be said.

use std::collections::BTreeSet;

use dbdyno_model::Product;
use serde_json::Value;

use crate::common::{Home, finish, turn};
use crate::servers::{Running, Store, home};

/// Asks the user's own table by a column that may have an index.
const BY_N: &str = "\
name = 'by-n'
group = 'point'
tables = 'none'
[[step]]
sql = 'SELECT note FROM theirs WHERE n = {int 1..2000}'
rows = 1
";

/// Two servers of one release, by URL: of what somebody did to them nothing is known beforehand.
struct Pair<'a> {
    home: &'a Home,
    store: Store,
    base: Running,
    test: Running,
}

impl Pair<'_> {
    fn start<'a>(home: &'a Home, product: Product, version: &str) -> Pair<'a> {
        let start = || Running::start(home, product, version);
        Pair { home, store: Store::new(), base: start(), test: start() }
    }

    fn url(running: &Running, database: &str) -> String {
        running.socket(&format!("dbdyno:{}", running.password()), database)
    }

    fn urls(&self, database: &str) -> [String; 2] {
        [Pair::url(&self.base, database), Pair::url(&self.test, database)]
    }

    /// Runs the command on both, in a database that is made for it or is there.
    fn json(&self, code: i32, command: &str, urls: &[String; 2], flags: &[&str]) -> Value {
        let args = [&[command, &urls[0], &urls[1], "--format", "json"][..], flags].concat();
        let done = finish(self.store.command(self.home, &args));
        assert_eq!(done.code, code, "{done:?}");
        serde_json::from_str(&done.out).unwrap()
    }

    fn diff(&self, urls: &[String; 2]) -> Value {
        let flags = ["--load", "point-query,read-write", "--rows", "1000"];
        self.json(0, "diff", urls, &flags)["audit"].clone()
    }

    /// The rules that found something of this weight after these statements on the test arm.
    fn planted(&self, weight: &str, statements: &[&str]) -> BTreeSet<String> {
        let mut client = self.test.connect(&self.test.own_database());
        for sql in statements {
            client.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        client.close();
        rules(&self.diff(&self.urls("audited")), weight)
    }

    /// A table of the user's on both, without the index on one.
    fn make_theirs(&self) {
        for (running, indexed) in [(&self.base, true), (&self.test, false)] {
            let mut client = running.connect(&running.own_database());
            let create = "CREATE TABLE theirs (id INTEGER PRIMARY KEY, n INTEGER, note CHAR(9))";
            client.run(create).unwrap();
            for ten in 0..200 {
                let row = |n: u32| format!("({}, {}, 'keep')", 10 * ten + n, 10 * ten + n);
                let rows: Vec<String> = (1..=10).map(row).collect();
                let rows = rows.join(", ");
                client.run(&format!("INSERT INTO theirs VALUES {rows}")).unwrap();
            }
            if indexed {
                client.run("CREATE INDEX by_n ON theirs (n)").unwrap();
            }
            client.close();
        }
    }

    /// One of the arms reads the whole table: no verdict, however clear the ratio.
    fn finds_another_plan(&self) {
        self.make_theirs();
        let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
        std::fs::write(file.path(), BY_N).unwrap();
        let load = file.path().to_str().unwrap();
        let urls = [
            Pair::url(&self.base, &self.base.own_database()),
            Pair::url(&self.test, &self.test.own_database()),
        ];
        let flags = ["--load", load, "--rounds", "8", "--seconds", "0.3", "--warm-up", "0.1"];
        let run = self.json(3, "compare", &urls, &[&flags[..], &["--clients", "2"]].concat());
        let cell = &run["cells"][0];
        assert_eq!(cell["verdict"], "undecided");
        let blocking = |cell: &Value| {
            let warnings = cell["warnings"].as_array().unwrap().iter();
            let mut blocking = warnings.filter(|warning| warning["severity"] == "blocks");
            blocking.any(|warning| warning["code"] == "plan")
        };
        assert!(blocking(cell), "{cell:#}");
        let flags = [&flags[..], &["--clients", "2", "--varied", "plan"]].concat();
        let args = [&["compare", &urls[0], &urls[1], "--format", "json"][..], &flags].concat();
        let meant = finish(self.store.command(self.home, &args));
        let meant: Value = serde_json::from_str(&meant.out).unwrap();
        assert!(!blocking(&meant["cells"][0]), "{meant:#}");
        assert!(meant["audit"]["varied"].as_u64() > Some(0), "{:#}", meant["audit"]);

        // The same question has another answer where somebody has changed the row.
        let mut client = self.test.connect(&self.test.own_database());
        client.run("UPDATE theirs SET note = 'lost'").unwrap();
        client.close();
        let audit = self.json(0, "diff", &urls, &["--load", load])["audit"].clone();
        let blocking = set(&["plan", "results", "table-content"]);
        assert_eq!(rules(&audit, "blocks"), blocking, "the index that is missing, too: {audit:#}");
    }

    fn stop(self) {
        self.base.stop();
        self.test.stop();
    }
}

/// The rules behind inequalities of this weight.
fn rules(audit: &Value, weight: &str) -> BTreeSet<String> {
    let unequal = audit["unequal"].as_array().unwrap().iter();
    let of_weight = unequal.filter(|one| one["weight"] == weight);
    of_weight.map(|one| one["rule"].as_str().unwrap().to_owned()).collect()
}

fn set(rules: &[&str]) -> BTreeSet<String> {
    rules.iter().map(|rule| (*rule).to_owned()).collect()
}

#[test]
fn what_is_planted_into_one_of_two_equal_servers_of_mariadb_is_found() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let pair = Pair::start(&home, Product::MariaDb, "10.11");
    let equal = pair.diff(&pair.urls("audited"));
    assert_eq!((&equal["blocks"], &equal["annotates"]), (&0.into(), &0.into()), "{equal:#}");
    assert!(equal["equal"].as_u64() > Some(700), "{equal:#}");

    // Each is taken back before the next.
    let charset = ["SET GLOBAL character_set_server=utf8mb4"];
    assert_eq!(pair.planted("blocks", &charset), set(&["charset"]));
    let durability = [
        "SET GLOBAL character_set_server=latin1",
        "SET GLOBAL collation_server=latin1_swedish_ci",
        "SET GLOBAL innodb_flush_log_at_trx_commit=1",
    ];
    assert_eq!(pair.planted("blocks", &durability), set(&["durability"]));
    let printing =
        ["SET GLOBAL innodb_flush_log_at_trx_commit=2", "SET GLOBAL innodb_print_all_deadlocks=ON"];
    assert_eq!(pair.planted("annotates", &printing), set(&["deadlock-printing"]));
    let other =
        ["SET GLOBAL innodb_print_all_deadlocks=OFF", "SET GLOBAL div_precision_increment=7"];
    assert_eq!(pair.planted("annotates", &other), set(&["other-setting"]));
    assert_eq!(pair.planted("annotates", &["SET GLOBAL div_precision_increment=4"]), set(&[]));

    let watched = Running::told(&home, Product::MariaDb, "10.11", "performance_schema=ON");
    let urls = [Pair::url(&pair.base, "audited"), Pair::url(&watched, "audited")];
    let audit = pair.diff(&urls);
    assert!(rules(&audit, "annotates").contains("instrumentation"), "{audit:#}");
    watched.stop();

    pair.finds_another_plan();
    pair.stop();
}

#[test]
fn what_is_planted_into_one_of_two_equal_servers_of_postgres_is_found() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let pair = Pair::start(&home, Product::Postgres, "15");
    let equal = pair.diff(&pair.urls("audited"));
    assert_eq!((&equal["blocks"], &equal["annotates"]), (&0.into(), &0.into()), "{equal:#}");

    let durability = ["ALTER SYSTEM SET full_page_writes=off", "SELECT pg_reload_conf()"];
    assert_eq!(pair.planted("blocks", &durability), set(&["durability"]));
    let printing = [
        "ALTER SYSTEM RESET full_page_writes",
        "ALTER SYSTEM SET log_lock_waits=on",
        "SELECT pg_reload_conf()",
    ];
    assert_eq!(pair.planted("annotates", &printing), set(&["deadlock-printing"]));

    // Every statement into the log, which only shows once something is measured.
    let logging = [
        "ALTER SYSTEM RESET log_lock_waits",
        "ALTER SYSTEM SET log_statement='all'",
        "SELECT pg_reload_conf()",
    ];
    assert_eq!(pair.planted("annotates", &logging), set(&["instrumentation"]));
    let flags = "--rows 1000 --rounds 2 --seconds 0.2 --warm-up 0.1 --clients 2 --load point-query";
    let flags: Vec<&str> = flags.split(' ').collect();
    let run = pair.json(3, "compare", &pair.urls("audited"), &flags);
    assert_eq!(rules(&run["audit"], "blocks"), set(&["error-log"]), "{:#}", run["audit"]);

    let quiet = ["ALTER SYSTEM RESET log_statement", "SELECT pg_reload_conf()"];
    assert_eq!(pair.planted("annotates", &quiet), set(&[]));
    pair.finds_another_plan();
    pair.stop();
}
