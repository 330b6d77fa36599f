//! Every release that is here settles, and by conditions that it can be asked for.

use dbdyno_model::{Dialect, Product};
use dbdyno_sandbox::Release;
use serde_json::Value;

use crate::common::{Home, finish, turn};
use crate::servers::{Store, home};

/// What is waited for.
fn gauges(product: Product) -> &'static [&'static str] {
    match product.dialect() {
        Dialect::Postgres => &["autovacuum workers"],
        _ => &["history list", "dirty pages"],
    }
}

fn settled(home: &Home, release: &Release) {
    let store = Store::new();
    let (name, version) = (release.product.name(), &release.version);
    let target = format!("{name}:{version}@{}", release.source.name());
    let flags = ["--quick", "--seconds", "0.5", "--warm-up", "0.3", "--rows", "3000"];
    let more = ["--rounds", "1", "--load", "update-index,settle,point-query", "--format", "json"];
    let args = [&["compare", &target, &target][..], &flags, &more].concat();
    let done = finish(store.command(home, &args));
    assert_eq!(done.code, 3, "{target}: {done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    let of_settling = |warning: &&Value| warning["code"].as_str().unwrap().contains("settled");
    let all = run["warnings"].as_array().unwrap().iter();
    let texts: Vec<&str> = all.filter(of_settling).map(|w| w["text"].as_str().unwrap()).collect();
    assert_eq!(texts.len(), 2, "{target}: {texts:?}");
    for text in texts {
        assert!(text.contains(": settled in"), "{target}: {text}");
        for gauge in gauges(release.product) {
            assert!(text.contains(gauge), "{target}: {gauge} was not seen: {text}");
        }
    }
}

#[test]
#[ignore = "soak: every release that is here; one of each family is in make test"]
fn every_release_that_is_here_settles_by_what_can_be_seen() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let opened = dbdyno_sandbox::Home::open(Some(home.path())).unwrap();
    let releases = dbdyno_sandbox::installed_releases(&opened);
    assert!(!releases.is_empty(), "there is no release in {}", home.path().display());
    releases.iter().for_each(|release| settled(&home, release));
}
