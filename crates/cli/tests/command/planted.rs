//! What somebody else has put into a database that is compared is never carried out, dropped or
//! believed, and a command that only looks leaves a server as it was.

use std::process::Stdio;

use dbdyno_model::{Identifier, Literal, Product};
use dbdyno_wire::Client;

use crate::common::{BRIEF, Done, Home, end, eventually, finish, turn};
use crate::servers::{Running, Store, home};
use crate::shared::Guest;

/// A marker as it was before there were receipts, which names these tables.
fn plant(client: &mut dyn Client, names: &str) {
    let columns = "table_names TEXT NOT NULL, token VARCHAR(16) NOT NULL, database_is_ours INTEGER";
    client.run(&format!("CREATE TABLE dbdyno_tables ({columns})")).unwrap();
    client.run(&format!("INSERT INTO dbdyno_tables VALUES ('{names}', 'x', 1)")).unwrap();
}

fn diff(home: &Home, url: &str, more: &[&str]) -> Done {
    let store = Store::new();
    finish(store.command(home, &[&["diff", url, url], more].concat()))
}

fn compare(home: &Home, url: &str) -> Done {
    let store = Store::new();
    let more = ["--rounds", "1", "--load", "point-query"];
    finish(store.command(home, &[&["compare", url, url][..], &BRIEF, &more].concat()))
}

/// Without line breaks.
fn said(done: &Done) -> String {
    done.err.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_refused(done: &Done) {
    let said = said(done);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(said.contains("has a table dbdyno_tables") && said.contains("by hand"), "{said}");
}

/// A user who may make tables writes SQL where names of tables stood.
#[test]
fn a_planted_marker_makes_nobody_superuser() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, Product::Postgres, "15");
    let mut client = guest.connect();
    client.run("CREATE ROLE eve_of_markers").unwrap();
    client.run("GRANT ALL ON SCHEMA public TO eve_of_markers; SET ROLE eve_of_markers").unwrap();
    plant(&mut *client, "pg_class where false; alter role eve_of_markers superuser; --");
    client.run("RESET ROLE").unwrap();
    let is_superuser = "SELECT rolsuper::text FROM pg_roles WHERE rolname = 'eve_of_markers'";

    let looked = diff(&home, &guest.url(), &[]);
    assert_eq!(looked.code, 0, "{looked:?}");
    is_refused(&compare(&home, &guest.url()));
    is_refused(&diff(&home, &guest.url(), &["--load", "point-query", "--rows", "10"]));
    assert_eq!(guest.ask(is_superuser), "false");
    assert_eq!(guest.ask("SELECT count(*) FROM dbdyno_tables"), "1", "it is not ours to drop");
    assert_eq!(guest.tables(), "1");

    // A view with a function, in the place of the marker and with a column like ours.
    client.run("DROP TABLE dbdyno_tables; SET ROLE eve_of_markers").unwrap();
    client
        .run(
            "CREATE FUNCTION seize() RETURNS int LANGUAGE plpgsql AS \
             'BEGIN ALTER ROLE eve_of_markers SUPERUSER; RETURN 1; END'",
        )
        .unwrap();
    let token = "token_0123456789abcdef0123456789abcdef";
    client.run(&format!("CREATE VIEW dbdyno_tables AS SELECT seize() AS {token}")).unwrap();
    client.run("RESET ROLE").unwrap();
    is_refused(&compare(&home, &guest.url()));
    assert_eq!(guest.ask(is_superuser), "false");
    client.run("DROP OWNED BY eve_of_markers; DROP ROLE eve_of_markers").unwrap();
}

/// What PostgreSQL would rather call than its own, for the types fit better.
#[test]
fn functions_and_operators_of_others_are_not_called_where_dbdyno_looks() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, Product::Postgres, "15");
    let mut client = guest.connect();
    client.run("CREATE ROLE eve_of_shadows; GRANT ALL ON SCHEMA public TO eve_of_shadows").unwrap();
    client.run("SET ROLE eve_of_shadows").unwrap();
    let seize = "LANGUAGE plpgsql AS 'BEGIN ALTER ROLE eve_of_shadows SUPERUSER; RETURN NULL; END'";
    for function in [
        "array_length(real[], integer) RETURNS integer",
        "array_to_string(integer[], text) RETURNS text",
        "date_part(text, interval) RETURNS double precision",
        "concat_ws(text, text, text, text, text) RETURNS text",
        "is_at(oid, regclass) RETURNS boolean",
        "is_of(oid, regnamespace) RETURNS boolean",
        "string_agg(name, text) RETURNS text",
        "pg_try_advisory_lock(integer) RETURNS boolean",
    ] {
        client.run(&format!("CREATE FUNCTION public.{function} {seize}")).unwrap();
    }
    for (function, right) in [("is_at", "regclass"), ("is_of", "regnamespace")] {
        let operator = format!("PROCEDURE = {function}, LEFTARG = oid, RIGHTARG = {right}");
        client.run(&format!("CREATE OPERATOR public.= ({operator})")).unwrap();
    }
    // Whoever has a transaction open is asked about while a cell is measured.
    client.run("BEGIN; SELECT 1").unwrap();
    let loads = ["--load", "point-query", "--rows", "100"];
    let looked = diff(&home, &guest.url(), &loads);
    assert_eq!(looked.code, 0, "{looked:?}");
    let measured = compare(&home, &guest.url());
    assert_eq!(measured.code, 3, "one round is too few for a verdict: {measured:?}");
    client.run("COMMIT; RESET ROLE").unwrap();
    let is_superuser = "SELECT rolsuper::text FROM pg_roles WHERE rolname = 'eve_of_shadows'";
    assert_eq!(guest.ask(is_superuser), "false");
    assert_eq!(guest.tables(), "0", "tables or marker are left");
    client.run("DROP OWNED BY eve_of_shadows; DROP ROLE eve_of_shadows").unwrap();
}

/// A table of another database stands in the marker.
#[test]
fn a_planted_marker_drops_no_table_of_others() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, Product::MariaDb, "10.11");
    let mut client = guest.connect();
    client.run("CREATE DATABASE payroll").unwrap();
    client.run("CREATE TABLE payroll.salaries (id INTEGER PRIMARY KEY)").unwrap();
    plant(&mut *client, "payroll.salaries");
    let looked = diff(&home, &guest.url(), &[]);
    assert_eq!(looked.code, 0, "{looked:?}");
    is_refused(&compare(&home, &guest.url()));
    let salaries = "SELECT count(*) FROM payroll.salaries";
    assert_eq!(guest.ask(salaries), "0", "it is there");
    assert_eq!(guest.ask("SELECT table_names FROM dbdyno_tables"), "payroll.salaries");
    client.run("DROP DATABASE payroll").unwrap();
}

/// What is there, and since when; who may only read finds nothing to complain of.
fn only_looked_at(product: Product, version: &'static str, catalogue: &str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, product, version);
    let mut client = guest.connect();
    client.run("CREATE TABLE theirs (id INTEGER PRIMARY KEY)").unwrap();
    plant(&mut *client, "theirs");
    let before = guest.ask(catalogue);
    assert!(before.contains("theirs") && before.contains("dbdyno_tables"), "{before}");
    let looked = diff(&home, &guest.url(), &["--all"]);
    assert_eq!(looked.code, 0, "{looked:?}");
    assert_eq!(guest.ask(catalogue), before);

    // No database is made for looking.
    let elsewhere = guest.url().replace("/guest_", "/unmade_guest_");
    let looked = diff(&home, &elsewhere, &[]);
    assert_eq!(looked.code, 2, "{looked:?}");
    assert_eq!(guest.ask(catalogue), before);
}

#[test]
fn diff_leaves_mariadb_as_it_was() {
    only_looked_at(
        Product::MariaDb,
        "10.11",
        "SELECT concat_ws(' ', (SELECT count(*) FROM information_schema.schemata WHERE \
         schema_name LIKE 'unmade%'), group_concat(table_name, create_time ORDER BY 1)) \
         FROM information_schema.tables WHERE table_schema = database()",
    );
}

#[test]
fn diff_leaves_postgres_as_it_was() {
    only_looked_at(
        Product::Postgres,
        "17",
        "SELECT (SELECT count(*) FROM pg_database WHERE datname LIKE 'unmade%')::text || \
         string_agg(relname || ' ' || oid || ' ' || relfilenode, ',' ORDER BY oid) \
         FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    );
}

/// Another home knows nothing of what a killed dbdyno has left, and says so.
#[test]
fn only_the_home_that_made_tables_takes_them_away() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, Product::MariaDb, "10.11");
    let store = Store::new();
    let url = guest.url();
    let more = ["--rounds", "10000"];
    let args = [&["compare", &url, &url][..], &BRIEF, &more].concat();
    let mut command = store.command(&home, &args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    home.wait_for_rounds(&mut child, &store.path(), 1);
    child.kill().unwrap();
    end(child);
    let left = guest.tables();
    assert_ne!(left, "0");

    let other = Home::new();
    let mut refused = compare(&other, &url);
    eventually("the end of the killed one's connections", || {
        if said(&refused).contains("another dbdyno works") {
            refused = compare(&other, &url);
        }
        !said(&refused).contains("another dbdyno works")
    });
    is_refused(&refused);
    assert!(said(&refused).contains("no receipt"), "{refused:?}");
    assert_eq!(guest.tables(), left, "something of another home was dropped");

    let again = compare(&home, &url);
    assert_eq!(again.code, 3, "one round is too few for a verdict: {again:?}");
    assert_eq!(guest.tables(), "0");
}

/// Clouds demand it of each table, the marker too.
#[test]
fn a_server_that_demands_primary_keys_is_compared() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let running = Running::start(&home, Product::MariaDb, "10.11");
    let own = running.own_database();
    running.connect(&own).run("SET GLOBAL innodb_force_primary_key=ON").unwrap();
    let url = running.socket(&format!("dbdyno:{}", running.password()), &own);
    let done = compare(&home, &url);
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    assert_eq!(running.tables(), "0");
    running.stop();
}

/// A look has nothing to write back, and a checkpoint writes all that others have changed.
#[test]
fn a_look_at_a_server_has_it_write_nothing() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let running = Running::start(&home, Product::Postgres, "15");
    let own = running.own_database();
    let url = running.socket(&format!("dbdyno:{}", running.password()), &own);
    let question = "SELECT checkpoints_req::text FROM pg_stat_bgwriter";
    let before = running.ask(question);
    let looked = diff(&home, &url, &[]);
    assert_eq!(looked.code, 0, "{looked:?}");
    assert_eq!(running.ask(question), before);
    running.stop();
}

/// The child is described before its parent, so that no order of filling but ours fits.
const FAMILY: &str = "\
name = 'family'
group = 'point'
[[table]]
name = 'child'
rows = 4000
create = 'CREATE TABLE child (id INT PRIMARY KEY, parent_id INT, \
FOREIGN KEY (parent_id) REFERENCES parent (id))'
columns = { id = '{row}', parent_id = '{id of parent}' }
[[table]]
name = 'parent'
rows = 2000
create = 'CREATE TABLE parent (id INT PRIMARY KEY)'
columns = { id = '{row}' }
[[step]]
sql = 'SELECT id FROM child WHERE id = {id of child}'
rows = 1
";

fn families(product: Product, version: &'static str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, product, version);
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    std::fs::write(file.path(), FAMILY).unwrap();
    for _ in 0..3 {
        let filled = diff(&home, &guest.url(), &["--load", file.path().to_str().unwrap()]);
        assert_eq!(filled.code, 0, "{filled:?}");
        assert_eq!(guest.tables(), "0");
    }
}

#[test]
fn tables_with_foreign_keys_are_filled_in_mariadb() {
    families(Product::MariaDb, "10.11");
}

#[test]
fn tables_with_foreign_keys_are_filled_in_postgres() {
    families(Product::Postgres, "17");
}

/// Names and texts in which everything stands that ends one, in the modes in which quotes and
/// backslashes mean something else.
fn come_back_as_they_were(product: Product, version: &'static str, modes: &[&str], listed: &str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let guest = Guest::on(&home, product, version);
    let dialect = product.dialect();
    let hostile = [
        "pg_class where false; drop table theirs; --",
        "payroll.salaries",
        "a`b\"c'd",
        "``",
        "\"\"",
        "\\",
        "\\'",
        "x\\`; -- ",
        "¿`é",
        "$$ $1 ? % /* */ # {}",
    ];
    for mode in modes {
        let mut client = guest.connect();
        client.run(mode).unwrap();
        for text in hostile {
            let name = Identifier::new(text.trim(), dialect).unwrap();
            client.run(&format!("CREATE TABLE {name} (id INTEGER PRIMARY KEY)")).unwrap();
            assert_eq!(client.query(listed).unwrap().first_value(), Some(text.trim()), "{mode}");
            client.run(&format!("DROP TABLE {name}")).unwrap();
            assert_eq!(guest.tables(), "0", "{mode}: {text}");
            let literal = Literal::new(text, dialect);
            let rows = client.query(&format!("SELECT {literal}")).unwrap();
            assert_eq!(rows.first_value(), Some(text), "{mode}");
        }
        client.close();
    }
}

#[test]
fn hostile_names_and_texts_come_back_from_mariadb() {
    come_back_as_they_were(
        Product::MariaDb,
        "10.11",
        &[
            "SET sql_mode = ''",
            "SET sql_mode = 'NO_BACKSLASH_ESCAPES'",
            "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
            "SET sql_mode = 'ANSI_QUOTES'",
        ],
        "SELECT table_name FROM information_schema.tables WHERE table_schema = database()",
    );
}

#[test]
fn hostile_names_and_texts_come_back_from_postgres() {
    come_back_as_they_were(
        Product::Postgres,
        "17",
        &["SET standard_conforming_strings = on", "SET standard_conforming_strings = off"],
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
}
