//! Images of loaded tables: made once, used again, never written to.

use dbdyno_sandbox::Image;
use dbdyno_store::Store as Results;
use serde_json::Value;

use crate::common::{Home, finish, turn};
use crate::servers::{Store, home};

/// The images of tables with so many rows.
fn images_of(home: &Home, rows: u64) -> Vec<Image> {
    let home = dbdyno_sandbox::Home::open(Some(home.path())).unwrap();
    let content = format!("&rows={rows}&");
    let has = |image: &Image| image.key.iter().any(|line| line.contains(&content));
    Image::all_in(&home).into_iter().filter(has).collect()
}

/// Removes them however the test ends, and those that a test which was killed has left.
struct Removing<'a>(&'a Home, u64);

impl Removing<'_> {
    fn new(home: &Home, rows: u64) -> Removing<'_> {
        remove_images_of(home, rows);
        Removing(home, rows)
    }
}

impl Drop for Removing<'_> {
    fn drop(&mut self) {
        remove_images_of(self.0, self.1);
    }
}

fn remove_images_of(home: &Home, rows: u64) {
    for image in images_of(home, rows) {
        home.dbdyno(["server", "rm", &image.name]);
    }
}

fn notes(run: &Value) -> Vec<String> {
    let all = run["warnings"].as_array().unwrap().iter();
    let of_images = all.filter(|warning| warning["code"] == "image");
    of_images.map(|warning| warning["text"].as_str().unwrap().to_owned()).collect()
}

fn made_once(release: &str, rows: u64, versions: &str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let _removing = Removing::new(&home, rows);
    let store = Store::new();
    let rows_text = rows.to_string();
    let run = |image: &str| {
        let more = ["--rows", &rows_text, "--load", "delete", "--rounds", "1"];
        let more = [&more[..], &["--image", image, "--format", "json"]].concat();
        let args = [
            &["compare", release, release][..],
            &["--quick", "--seconds", "0.3", "--warm-up", "0.1"],
            &more,
        ]
        .concat();
        let done = finish(store.command(&home, &args));
        assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
        let is_told = done.err.contains("the loaded tables are kept for later runs: ");
        assert_eq!(is_told, image == "fresh", "an image that stays is told: {}", done.err);
        serde_json::from_str::<Value>(&done.out).unwrap()
    };
    assert!(notes(&run("auto")).is_empty(), "tables as small as these are filled");
    let made = notes(&run("fresh"));
    let [note] = made.as_slice() else { panic!("{made:?}") };
    assert!(note.contains("both arms") && note.contains("made by this run"), "{note}");
    let images = images_of(&home, rows);
    let [image] = images.as_slice() else { panic!("{images:?}") };
    assert!(note.contains(&image.name) && image.name.contains(versions), "{note}");
    image.verify_files().unwrap();

    let used = notes(&run("auto"));
    assert!(used[0].contains(&image.name) && used[0].contains("made earlier"), "{used:?}");
    // What was deleted meanwhile was deleted in copies.
    image.verify_files().unwrap();
    let listed = home.dbdyno(["server", "images", "--check"]);
    assert!(listed.code == 0 && listed.out.contains(&image.name), "{listed:?}");
    assert!(home.dbdyno(["server", "ls"]).out.contains(&image.name));
    assert!(notes(&run("none")).is_empty());
    assert_eq!(home.dbdyno(["server", "rm", &image.name]).code, 0);
    assert!(images_of(&home, rows).is_empty());
}

#[test]
fn an_image_of_mariadb_is_made_once_and_never_written_to() {
    made_once("mariadb:10.11", 2_345, "10.11.");
}

#[test]
fn an_image_of_postgres_is_made_once_and_never_written_to() {
    made_once("postgres:15", 2_346, "15.");
}

#[test]
fn tables_of_an_older_release_are_upgraded_in_place() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let _removing = Removing::new(&home, 2_347);
    let store = Store::new();
    let flags = ["--quick", "--seconds", "1", "--warm-up", "0.3", "--rows", "2347"];
    let more = ["--rounds", "1", "--upgrade-from", "10.11", "--format", "json"];
    let args = [&["compare", "mariadb:11.8", "mariadb:11.8"][..], &flags, &more].concat();
    let done = finish(store.command(&home, &args));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    let label = run["test"]["label"].as_str().unwrap();
    assert!(label.contains("upgrade-from=10.11") && label.contains("(11.8."), "{label}");
    let warnings = run["warnings"].as_array().unwrap().iter();
    let mut texts = warnings.filter(|warning| warning["code"] == "upgraded-in-place");
    let text = texts.next().unwrap()["text"].as_str().unwrap();
    assert!(text.starts_with("test: its tables were loaded by mariadb 10.11."), "{text}");
    assert!(texts.next().is_none(), "the base arm was upgraded, too");
    // That of the older release, and that of the upgraded tables.
    let mut trees: Vec<String> = images_of(&home, 2_347).into_iter().map(|i| i.tree).collect();
    trees.sort();
    assert!(trees.len() == 2 && trees[0].contains("10.11."), "{trees:?}");
}

/// What `delete` took away is there again behind `restore`, in the middle of a run and on both
/// families: every id is found.
#[test]
fn tables_are_restored_between_loads() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let _removing = Removing::new(&home, 2_348);
    let store = Store::new();
    let flags = ["--quick", "--seconds", "1", "--warm-up", "0.3", "--rows", "2348"];
    let more = ["--rounds", "1", "--restarts", "0", "--load", "delete,restore,point-query"];
    let args = [&["compare", "mariadb:10.11", "postgres:15"][..], &flags, &more].concat();
    let done = finish(store.command(&home, &args));
    assert_eq!(done.code, 3, "one round is too few for a verdict: {done:?}");
    let results = Results::open(&store.path()).unwrap();
    let run = results.load(&results.list().unwrap().runs[0].id).unwrap();
    let rounds = |load: &str| -> Vec<(u64, u64)> {
        let rounds = run.rounds.iter().filter(|round| round.key.cell.load == load);
        rounds.map(|round| (round.statements, round.rows_read)).collect()
    };
    // So few rows may all be gone when the round begins.
    let deleted = rounds("delete");
    assert!(deleted.len() == 2 && deleted.iter().all(|(count, ..)| *count > 0), "{deleted:?}");
    let asked = rounds("point-query");
    let all_found = |(count, rows): &(u64, u64)| *count > 0 && rows == count;
    assert!(asked.len() == 2 && asked.iter().all(all_found), "{asked:?}");
}

#[test]
fn an_upgrade_that_the_maker_does_not_support_is_refused_before_anything_is_got() {
    let home = Home::new();
    let refused = home.dbdyno(["compare", "mysql:8.0", "mysql:9.7", "--upgrade-from", "8.0"]);
    assert!(refused.code == 2 && refused.err.contains("8.4 comes first"), "{refused:?}");
    let refused = home.dbdyno(["compare", "postgres:15", "postgres:17?upgrade-from=15"]);
    assert!(refused.code == 2 && refused.err.contains("pg_upgrade"), "{refused:?}");
    assert_eq!(std::fs::read_dir(home.path().join("servers")).unwrap().count(), 0);
}

#[test]
fn a_server_that_is_not_dbdynos_has_no_image_and_no_cold_start() {
    let home = Home::new();
    for flag in [["--image", "fresh"], ["--cache", "cold"], ["--upgrade-from", "5.7"]] {
        let refused = home.dbdyno([&["compare", "sqlite:", "sqlite:"][..], &flag].concat());
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains(flag[0]) && refused.err.contains("leave"), "{refused:?}");
    }
}
