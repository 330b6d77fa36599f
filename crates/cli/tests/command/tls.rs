//! Encryption: with servers that offer it, whose certificates are made for the test.

use dbdyno_model::{ArmSpec, Product, Target};
use dbdyno_wire::{Client, Endpoint, Security, WireError};
use serde_json::Value;

use crate::certificates::{Authority, Papers};
use crate::common::{BRIEF, Home, finish, turn};
use crate::servers::{Running, Store, are_here, home};

const GOOD: i32 = 2099;

/// Connects as behind this URL.
pub(crate) fn connect(url: &str) -> Result<Box<dyn Client>, WireError> {
    let Target::Url(url) = url.parse::<ArmSpec>().unwrap().target else { panic!("{url}") };
    let endpoint = Endpoint {
        security: Security::from_options(&url.tls, url.dialect, &url.transport)?,
        transport: url.transport,
        user: url.user,
        password: url.password.unwrap_or_default(),
        database: url.database,
    };
    Ok(match url.dialect {
        dbdyno_model::Dialect::Mysql => {
            Box::new(dbdyno_wire::mysql::MysqlConnection::connect(&endpoint)?)
        }
        _ => Box::new(dbdyno_wire::postgres::PostgresConnection::connect(&endpoint)?),
    })
}

/// What is said instead of a connection.
pub(crate) fn refusal(url: &str) -> String {
    match connect(url) {
        Ok(_) => panic!("{url} was reached"),
        Err(error) => error.to_string(),
    }
}

/// Each URL has its sentence, and every sentence says what to do.
fn refused(url: impl Fn(&str) -> String, cases: &[(&str, &[&str])]) {
    for (words, expected) in cases {
        let said = refusal(&url(words));
        for expected in *expected {
            assert!(said.contains(expected), "{words}: {said}");
        }
        assert!(said.contains("; ") && !said.contains("s3cret"), "{words}: {said}");
    }
}

fn json(home: &Home, store: &Store, base: &str, test: &str, more: &[&str]) -> Value {
    let more = [&BRIEF[..], &["--rounds", "1", "--format", "json"], more].concat();
    let done = finish(store.command(home, &[&["compare", base, test][..], &more].concat()));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    serde_json::from_str(&done.out).unwrap()
}

/// A comparison of an arm in the clear with an encrypted one says so, and that it was varied.
fn is_told(run: &Value) {
    let unequal = run["audit"]["unequal"].as_array().unwrap();
    let of = |name: &str| unequal.iter().find(|one| one["name"] == name);
    let encrypted = of("connection.encrypted").unwrap();
    assert_eq!((&encrypted["base"], &encrypted["test"]), (&"no".into(), &"yes".into()));
    assert_eq!(
        (&encrypted["weight"], &encrypted["rule"]),
        (&"varied".into(), &"encryption".into())
    );
    let warnings = run["warnings"].as_array().unwrap();
    let told: Vec<_> = warnings.iter().filter(|warning| warning["code"] == "encrypted").collect();
    assert_eq!(told.len(), 1, "{warnings:?}");
    assert!(told[0]["text"].as_str().unwrap().contains("TLSv1.3 TLS_AES_"), "{told:?}");
}

#[test]
fn mariadb_is_measured_encrypted_and_believed_only_as_far_as_wished() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let papers = Papers::new();
    let ca = papers.believe(&ours, "ca");
    let stranger = papers.believe(&other, "stranger");
    let [certificate, key] = papers.put("server", &ours.sign(&["127.0.0.1", "localhost"], GOOD));
    let settings = format!("preset=default&ssl_cert={certificate}&ssl_key={key}&ssl_ca={ca}");
    let running = Running::told(&home, Product::MariaDb, "10.11", &settings);
    let own = running.own_database();
    let account = format!("dbdyno:{}", running.password());
    let url = |words: &str| format!("{}?{words}", running.tcp(&account, &own));

    let mut client = connect(&url("tls=required")).unwrap();
    let encryption = client.encryption().unwrap();
    let cipher = client.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'").unwrap();
    assert_eq!(cipher.rows[0][1].as_deref(), Some(encryption.cipher.as_str()));
    let version = client.query("SHOW SESSION STATUS LIKE 'Ssl_version'").unwrap();
    assert_eq!(version.rows[0][1].as_deref(), Some(encryption.version));
    let long = client.query("SELECT REPEAT('a', 300000)").unwrap();
    assert_eq!(long.first_value().map(str::len), Some(300_000));
    client.close();
    for words in ["tls=off", "", "slow=1%"] {
        assert_eq!(connect(&url(words)).unwrap().encryption(), None, "{words}");
    }
    for words in [
        "tls=preferred".to_owned(),
        format!("tls=verify-ca&ssl-ca={ca}"),
        format!("tls=verify-identity&ssl-ca={ca}"),
        format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={ca}&ssl-cert={certificate}&ssl-key={key}"),
    ] {
        assert!(connect(&url(&words)).unwrap().encryption().is_some(), "{words}");
    }
    let over_socket = format!("{}&tls=required", running.socket("dbdyno", &own));
    let over_socket = over_socket.replace("dbdyno@", &format!("{account}@"));
    assert!(connect(&over_socket).unwrap().encryption().is_some());

    let store = Store::new();
    is_told(&json(&home, &store, &url("tls=off"), &url("tls=required"), &[]));

    // Nobody is believed who is not who he should be.
    let verify = |ca: &str| format!("tls=verify-identity&ssl-ca={ca}");
    refused(
        url,
        &[
            (&verify(&stranger), &["signed by none of the authorities in", "ssl-ca=FILE"]),
            ("tls=verify-ca", &["no authority of this machine"]),
            (&verify("/nowhere"), &["ssl-ca=/nowhere", "name a file"]),
            (&verify(&key), &["has no certificate of an authority in it"]),
            (
                &format!("tls=required&ssl-cert={ca}&ssl-key={key}"),
                &["not that of the certificate"],
            ),
        ],
    );
    let root = || running.connect(&own);
    let renew = |signed: &(String, String)| {
        papers.put("server", signed);
        root().run("FLUSH SSL").unwrap();
    };
    renew(&ours.sign(&["db.example"], GOOD));
    assert!(connect(&url(&format!("tls=verify-ca&ssl-ca={ca}"))).is_ok());
    refused(
        url,
        &[(&verify(&ca), &["not for the host 127.0.0.1: it is for db.example", "tls=verify-ca"])],
    );
    renew(&ours.sign(&[], GOOD));
    refused(url, &[(&verify(&ca), &["it names none in subjectAltName"])]);
    renew(&ours.sign(&["127.0.0.1"], 2021));
    refused(url, &[(&verify(&ca), &["has expired", "days ago", "tls=required"])]);
    assert!(connect(&url("tls=required")).is_ok(), "nobody looks at it");
    renew(&ours.sign(&["127.0.0.1"], GOOD));

    accounts_that_demand_encryption(&running, &own, &papers, (&ours, &other));
    crowds_and_open_loop(&home, &url("tls=required"));
    running.stop();
}

fn accounts_that_demand_encryption(
    running: &Running,
    database: &str,
    papers: &Papers,
    (ours, other): (&Authority, &Authority),
) {
    for (name, demand) in [("tls", "SSL"), ("paper", "X509")] {
        let sql = format!("CREATE USER {name}@'%' IDENTIFIED BY 's3cret' REQUIRE {demand}");
        running.connect(database).run(&sql).unwrap();
        running.connect(database).run(&format!("GRANT ALL ON *.* TO {name}@'%'")).unwrap();
    }
    let url = |account: &str, words: &str| {
        format!("{}?{words}", running.tcp(&format!("{account}:s3cret"), database))
    };
    refused(|words| url("tls", words), &[("tls=off", &["Access denied", "say tls=required"])]);
    assert!(connect(&url("tls", "tls=required")).is_ok());
    refused(
        |words| url("paper", words),
        &[("tls=required", &["Access denied", "ssl-cert=FILE and ssl-key=FILE"])],
    );
    let mine = |name: &str, authority: &Authority| {
        let [certificate, key] = papers.put(name, &authority.sign(&["me"], GOOD));
        url("paper", &format!("tls=required&ssl-cert={certificate}&ssl-key={key}"))
    };
    assert!(connect(&mine("mine", ours)).is_ok());
    let said = refusal(&mine("foreign", other));
    assert!(said.contains("does not take the certificate that ssl-cert= names"), "{said}");
}

/// More clients than threads, and clients that come when they come.
fn crowds_and_open_loop(home: &Home, url: &str) {
    let store = Store::new();
    let crowd = ["--clients", "300", "--load", "point-query,range-notcovered-pk"];
    // `max_connections` is 151 by default.
    let raise = connect(url).unwrap().run("SET GLOBAL max_connections=700");
    raise.unwrap();
    for cell in json(home, &store, url, url, &crowd)["cells"].as_array().unwrap() {
        assert!(cell["test"]["qps"].as_f64().is_some_and(|rate| rate > 0.0), "{cell}");
    }
    let open = ["--rate", "200", "--clients", "4", "--load", "point-query"];
    let run = json(home, &store, url, url, &open);
    let achieved = &run["cells"][0]["test"]["achieved_per_second"];
    assert!(achieved.as_f64().is_some_and(|rate| rate > 0.0), "{run}");
}

#[test]
fn a_server_that_does_not_encrypt_or_only_as_nobody_should_is_told_so() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let papers = Papers::new();
    let [certificate, key] = papers.put("server", &Authority::new("ours").sign(&["h"], GOOD));
    let old = format!("preset=default&ssl_cert={certificate}&ssl_key={key}&tls_version=TLSv1.1");
    for (settings, expected) in [
        ("", &["the server offers no encryption", "set ssl_cert and ssl_key", "tls=off"][..]),
        (&old, &["no way of encrypting in common", "TLS 1.2 and 1.3", "tls_version", "tls=off"]),
    ] {
        let running = Running::told(&home, Product::MariaDb, "10.11", settings);
        let account = format!("dbdyno:{}", running.password());
        let url =
            |words: &str| format!("{}?{words}", running.tcp(&account, &running.own_database()));
        refused(url, &[("tls=required", expected)]);
        let clear = connect(&url("tls=preferred")).map(|client| client.encryption());
        match settings {
            "" => assert_eq!(clear.unwrap(), None),
            _ => assert!(clear.unwrap_err().to_string().contains("or say tls=off")),
        }
        // The command says the same, and that it could not be done.
        let done = home.dbdyno(["diff", &url("tls=required"), &url("tls=off")]);
        assert_eq!(done.code, 2, "{done:?}");
        assert!(done.err.contains(expected[0]) && !done.err.contains(&running.password()));
        running.stop();
    }
}

#[test]
fn postgres_is_measured_encrypted_and_believed_only_as_far_as_wished() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let (ours, other) = (Authority::new("ours"), Authority::new("other"));
    let papers = Papers::new();
    let ca = papers.believe(&ours, "ca");
    let stranger = papers.believe(&other, "stranger");
    let [certificate, key] = papers.put("server", &ours.sign(&["127.0.0.1"], GOOD));
    let running = Running::start(&home, Product::Postgres, "18");
    let own = running.own_database();
    let account = format!("dbdyno:{}", running.password());
    let url = |words: &str| format!("{}?{words}", running.tcp(&account, &own));
    let tell = |settings: &[(&str, &str)]| {
        for (name, value) in settings {
            running.connect(&own).run(&format!("ALTER SYSTEM SET {name} = '{value}'")).unwrap();
        }
        running.connect(&own).run("SELECT pg_reload_conf()").unwrap();
    };
    refused(url, &[("sslmode=require", &["offers no encryption", "set ssl=on", "tls=off"])]);
    assert_eq!(connect(&url("sslmode=prefer")).unwrap().encryption(), None);

    tell(&[("ssl_cert_file", &certificate), ("ssl_key_file", &key), ("ssl", "on")]);
    // The postmaster reads its files a moment after it is told.
    crate::common::eventually("encryption", || connect(&url("sslmode=require")).is_ok());
    let mut client =
        connect(&url("sslmode=verify-full&sslrootcert=REPLACED").replace("REPLACED", &ca)).unwrap();
    let known = client
        .query("SELECT version, cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        .unwrap();
    let encryption = client.encryption().unwrap();
    assert_eq!(known.rows[0][0].as_deref(), Some(encryption.version));
    assert_eq!(known.rows[0][1].as_deref(), Some(encryption.cipher.as_str()));
    client.close();
    let direct = format!("sslmode=verify-full&sslrootcert={ca}&sslnegotiation=direct");
    assert!(connect(&url(&direct)).unwrap().encryption().is_some());
    refused(
        url,
        &[
            (
                &format!("sslmode=verify-full&sslrootcert={stranger}"),
                &["signed by none of the authorities in", "sslrootcert=FILE"],
            ),
            (
                &format!("sslmode=require&sslrootcert={stranger}"),
                &["signed by none of the authorities in"],
            ),
        ],
    );
    let store = Store::new();
    is_told(&json(&home, &store, &url("sslmode=disable"), &url(&direct), &[]));
    let crowd = ["--clients", "260", "--load", "point-query"];
    tell(&[("ssl_max_protocol_version", "TLSv1.2")]);
    let is_older = || {
        let version = connect(&url("sslmode=require")).unwrap().encryption().unwrap().version;
        version == "TLSv1.2"
    };
    crate::common::eventually("TLS 1.2", is_older);
    let run = json(&home, &store, &url("sslmode=require"), &url("tls=required"), &crowd);
    assert_eq!(run["audit"]["blocks"], 0, "{run}");

    // What OpenSSL of today offers of 1.1 is no more than the word.
    tell(&[("ssl_min_protocol_version", "TLSv1.1"), ("ssl_max_protocol_version", "TLSv1.1")]);
    crate::common::eventually("TLS 1.1", || connect(&url("sslmode=require")).is_err());
    refused(url, &[("sslmode=require", &["in common", "ssl_min_protocol_version", "tls=off"])]);
    running.stop();
}

#[test]
fn direct_tls_is_told_where_it_is_too_new() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let running = Running::start(&home, Product::Postgres, "15");
    let account = format!("dbdyno:{}", running.password());
    let url = |words: &str| format!("{}?{words}", running.tcp(&account, &running.own_database()));
    refused(
        url,
        &[("sslmode=require&sslnegotiation=direct", &["direct TLS needs PostgreSQL 17 or later"])],
    );
    running.stop();
}

/// MySQL's own ways of proving a password, of which two want the password itself.
#[test]
fn mysql_is_logged_in_to_by_each_of_its_methods() {
    let Some(home) = home() else { return };
    if !are_here(["mvn"]) {
        return;
    }
    let _turn = turn();
    let running = Running::told(&home, Product::MySql, "8.0", "preset=default");
    let own = running.own_database();
    let mut root = running.connect(&own);
    let methods = ["caching_sha2", "sha256", "mysql_native"];
    for method in methods {
        for (name, password) in [("with", "s3cret"), ("without", "")] {
            root.run(&format!(
                "CREATE USER '{method} {name}'@'%' IDENTIFIED WITH {method}_password BY '{password}'"
            ))
            .unwrap();
        }
    }
    root.run("GRANT ALL ON *.* TO 'caching_sha2 with'@'%'").unwrap();
    let url = |account: &str, words: &str| format!("{}?{words}", running.tcp(account, ""));
    let data = root.query("SELECT @@datadir").unwrap();
    let key =
        format!("tls=off&server-public-key-path={}public_key.pem", data.first_value().unwrap());
    for method in methods {
        // In clear and over TCP a password is not told to whoever asks for it.
        root.run("FLUSH PRIVILEGES").unwrap();
        let told = refusal(&url(&format!("{method}%20with:s3cret"), "tls=off"));
        assert_eq!(told.contains("it was not sent"), method != "mysql_native", "{told}");
        for words in ["tls=required", &key, "tls=off&get-server-public-key=on"] {
            // The first login is the one in which the server does not know the password yet.
            root.run("FLUSH PRIVILEGES").unwrap();
            for account in [format!("{method}%20with:s3cret"), format!("{method}%20without")] {
                let url = url(&account, words).replace("/?", "/mysql?");
                let reached = connect(&url);
                let is_in = match &reached {
                    Ok(client) => {
                        client.encryption().is_some() == words.starts_with("tls=required")
                    }
                    // It may not use that database, and only who is let in learns that.
                    Err(WireError::Login(error)) => error.code == 1044,
                    Err(_) => false,
                };
                assert!(is_in, "{account} {words}: {:?}", reached.err());
            }
            let wrong = refusal(&url(&format!("{method}%20with:wrong"), words));
            assert!(wrong.contains("Access denied") && !wrong.contains("wrong:"), "{wrong}");
        }
    }
    running.stop();
}
