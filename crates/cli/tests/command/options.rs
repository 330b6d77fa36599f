//! What the user wants of a server is what the running server says of itself.

use dbdyno_model::{Arm, ArmIndex, ArmSpec, Target};
use dbdyno_store::Store as Results;
use dbdyno_wire::{Client, Endpoint};

use crate::common::{BRIEF, Done, Home, SHORT, finish, turn};
use crate::servers::{Ending, Store, are_here, home};

/// Starts a server with these settings, asks it, and takes it away.
fn asked(home: &Home, target: &str, questions: &[&str]) -> Vec<String> {
    let product = target.split(':').next().unwrap();
    let name = format!("opt-{product}-{}", std::process::id());
    let _ending = Ending(home, &name);
    let Done { code, out, err } = home.dbdyno(["server", "start", target, "--name", &name]);
    assert_eq!(code, 0, "{err}");
    let spec: ArmSpec = out.trim().parse().unwrap();
    let Target::Url(url) = spec.target else { panic!("{out}") };
    let endpoint = Endpoint {
        transport: url.transport,
        user: url.user,
        password: url.password.unwrap_or_default(),
        database: url.database,
        security: dbdyno_wire::Security::without_tls(),
    };
    let mut client: Box<dyn Client> = if target.starts_with("postgres") {
        Box::new(dbdyno_wire::postgres::PostgresConnection::connect(&endpoint).unwrap())
    } else {
        Box::new(dbdyno_wire::mysql::MysqlConnection::connect(&endpoint).unwrap())
    };
    let answers = questions.iter().map(|question| {
        let answer = client.query(question).unwrap_or_else(|error| panic!("{question}: {error}"));
        answer.rows[0].last().unwrap().clone().unwrap_or_default()
    });
    let answers = answers.collect();
    client.close();
    // What it was told is said before it starts, with the reason.
    assert!(err.contains("options of ") && err.contains("yours, instead of"), "{err}");
    answers
}

#[test]
fn a_mysql_says_of_itself_what_preset_file_and_option_say_the_last_first() {
    let Some(home) = home().filter(|_| are_here(["mvn"])) else { return };
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my.cnf");
    let text = "[mysqld]\nport = 1\ninnodb-io-capacity = 300\ninnodb_io_capacity_max = 700\n";
    std::fs::write(&file, text).unwrap();
    let words = "preset=cz-a&buffer=64M&redo=32M&charset=utf8mb4&durability=full";
    let options = "innodb_io_capacity=500&innodb_page_cleaners=1&innodb_page_size=8192";
    let target = format!("mysql:5.7?{words}&my-cnf={}&{options}", file.display());
    let answers = asked(
        &home,
        &target,
        &[
            "SHOW VARIABLES LIKE 'innodb_io_capacity'",
            "SHOW VARIABLES LIKE 'innodb_io_capacity_max'",
            "SHOW VARIABLES LIKE 'innodb_buffer_pool_size'",
            "SHOW VARIABLES LIKE 'innodb_log_file_size'",
            "SHOW VARIABLES LIKE 'innodb_flush_method'",
            "SHOW VARIABLES LIKE 'sync_binlog'",
            "SHOW VARIABLES LIKE 'log_bin'",
            "SHOW VARIABLES LIKE 'innodb_page_size'",
            "SELECT default_collation_name FROM information_schema.schemata \
             WHERE schema_name = database()",
        ],
    );
    let expected = [
        "500",
        "700",
        "67108864",
        "16777216",
        "O_DIRECT_NO_FSYNC",
        "1",
        "ON",
        "8192",
        "utf8mb4_general_ci",
    ];
    assert_eq!(answers, expected);
}

#[test]
fn a_postgres_says_of_itself_what_preset_file_and_option_say_the_last_first() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("postgresql.conf");
    std::fs::write(&file, "work_mem = 3MB\nport = 1\nbgwriter_delay = '150ms'\n").unwrap();
    // The last one is no option of the server: its data directory is made so.
    let words = "preset=cz-a&buffer=32M&redo=64M&charset=latin1&durability=full\
                 &wal_segment_size=2MB";
    let target =
        format!("postgres:15?{words}&postgresql-conf={}&bgwriter_delay=170ms", file.display());
    let questions = [
        "SHOW bgwriter_delay",
        "SHOW work_mem",
        "SHOW shared_buffers",
        "SHOW max_wal_size",
        "SHOW synchronous_commit",
        "SHOW server_encoding",
        "SHOW autovacuum_naptime",
        "SHOW wal_segment_size",
    ];
    let expected = ["170ms", "3MB", "32MB", "128MB", "on", "LATIN1", "10s", "2MB"];
    assert_eq!(asked(&home, &target, &questions), expected);
}

#[test]
fn two_arms_that_differ_in_a_setting_are_told_so_and_stored_so() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let base = "mariadb:10.11?innodb_io_capacity=300";
    let test = "mariadb:10.11?buffer=64M&redo=32M&flush=fsync&innodb-io-capacity=400";
    let more = ["--rounds", "1", "--load", "point-query"];
    let done =
        finish(store.command(&home, &[&["compare", base, test][..], &BRIEF, &more].concat()));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    for said in [
        "set    base: innodb_io_capacity=300 (yours)",
        "set    test: innodb_flush_method=fsync (flush=fsync, instead of O_DIRECT (preset=dbdyno))",
    ] {
        assert!(done.err.contains(said), "{said} is missing in: {}", done.err);
    }
    let results = Results::open(&store.path()).unwrap();
    let run = results.load(&results.list().unwrap().runs[0].id).unwrap();
    let of = |arm: Arm, name: &str| run.environment[arm.into()].get(name).to_owned();
    assert_eq!(of(Arm::Base, "setting.innodb_io_capacity"), "300");
    assert_eq!(of(Arm::Base, "reason.innodb_io_capacity"), "yours");
    assert_eq!(of(Arm::Base, "variable.innodb_io_capacity"), "300");
    assert_eq!(of(Arm::Test, "variable.innodb_io_capacity"), "400");
    assert_eq!(of(Arm::Test, "variable.innodb_buffer_pool_size"), "67108864");
    assert_eq!(of(Arm::Test, "variable.innodb_flush_method"), "fsync");
    assert_ne!(of(Arm::Base, "variable.innodb_flush_method"), "fsync");
    // The run can be repeated from what is stored of it.
    assert!(
        run.command.contains(&format!("'{}'", test.replace("innodb-io-", "innodb_io_"))),
        "{}",
        run.command
    );
}

/// Where a server resolves names, 127.0.0.1 is `localhost`, and whoever is root there had no
/// password: any account of the machine.
#[test]
fn nobody_is_root_without_a_password_whatever_the_preset() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let name = format!("opt-root-{}", std::process::id());
    let _ending = Ending(&home, &name);
    let target = "mariadb:10.11?preset=default&skip_name_resolve=OFF";
    let Done { code, out, err } = home.dbdyno(["server", "start", target, "--name", &name]);
    assert_eq!(code, 0, "{err}");
    let Target::Url(url) = out.trim().parse::<ArmSpec>().unwrap().target else { panic!("{out}") };
    let login = |user: &str, password: Option<dbdyno_model::Secret>| {
        dbdyno_wire::mysql::MysqlConnection::connect(&Endpoint {
            transport: url.transport.clone(),
            user: user.to_owned(),
            password: password.unwrap_or_default(),
            database: String::new(),
            security: dbdyno_wire::Security::without_tls(),
        })
    };
    assert!(login(&url.user, url.password.clone()).is_ok());
    for user in ["root", "", "mysql", "mariadb.sys", "nobody"] {
        let refused = login(user, None).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("Access denied"), "{user:?}: {refused}");
    }
}

/// What is downloaded has no LLVM: with `jit` on, which is the default of the server, a session
/// fails at its first long statement.
#[test]
fn a_postgres_without_a_compiler_is_not_told_to_compile() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let questions = ["SHOW jit", "SELECT sum(g) FROM generate_series(1, 200000) g"];
    let target = "postgres:15?preset=default&buffer=32M&shared_buffers=48MB";
    assert_eq!(asked(&home, target, &questions)[0], "off");
    let target = "postgres:15?jit=on";
    let Done { code, out, err } = home.dbdyno(["server", "start", target, "--name", "opt-jit"]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("with jit=on") && err.contains("without LLVM"), "{err}");
}

#[test]
fn an_option_that_a_server_does_not_know_is_refused_in_its_own_words() {
    let Some(home) = home() else { return };
    let _turn = turn();
    for (target, words) in [
        ("mariadb:10.11?innodb_turbo=1", "unknown variable 'innodb-turbo=1'"),
        ("mariadb:10.11?turbo=1", "unknown variable 'turbo=1'"),
        ("postgres:15?turbo_mode=1", "unrecognized configuration parameter \"turbo_mode\""),
        ("postgres:15?work_mem=much", "invalid value for parameter \"work_mem\""),
    ] {
        let Done { code, out, err } = home.dbdyno(["server", "start", target, "--name", "opt-no"]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(words) && err.contains("`dbdyno server options` shows"), "{err}");
        let store = Store::new();
        let compared = finish(store.command(&home, &["compare", target, target, "--quick"]));
        assert!(compared.code == 2 && compared.err.contains(words), "{compared:?}");
    }
    assert!(!home.path().join("bg/opt-no").exists());
}

/// A fifth of a processor is what the server gets, whatever else the host does. Where control
/// groups are not ours to make, that is said before anything starts.
#[test]
fn an_arm_gets_no_more_of_a_processor_than_its_limit_which_is_named() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let slow = "mariadb:10.11?cpus=0.2&memory=2G";
    let more = ["--pin", "none", "--clients", "4", "--restarts", "0", "--rounds", "3"];
    let args =
        [&["compare", "mariadb:10.11", slow, "--format", "json"][..], &SHORT, &more].concat();
    let store = Store::new();
    let done = finish(store.command(&home, &args));
    if done.code == 2 {
        assert!(done.err.contains("control group"), "{}", done.err);
        return;
    }
    let summary: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    let results = Results::open(&store.path()).unwrap();
    let run = results.load(&results.list().unwrap().runs[0].id).unwrap();
    for round in run.rounds.iter().filter(|round| round.key.arm == ArmIndex::TEST) {
        let share = round.cost.server_cpu_ns.unwrap() as f64 / round.wall_ns as f64;
        // A limit is kept over tenths of a second, of which the ends of a round cut two.
        assert!(share > 0.0 && share < 0.2 * 1.3, "{share} of a processor in {:?}", round.key);
    }
    let unequal = summary["audit"]["unequal"].as_array().expect("a list");
    let is_quota = |fact: &&serde_json::Value| {
        fact["name"].as_str().is_some_and(|name| name.starts_with("process.cgroup.cpu"))
    };
    let quota = unequal.iter().find(is_quota);
    assert_eq!(quota.expect("the limit is seen")["weight"], "varied");
}
