//! A host is looked at.

use crate::common::Home;

#[test]
fn a_host_is_told_what_to_change() {
    let home = Home::new();
    let done = home.dbdyno(["doctor", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&done.out).expect("JSON");
    let findings = report["findings"].as_array().expect("a list");
    let state = |code: &str| {
        let found = findings.iter().find(|found| found["code"] == code);
        found.and_then(|found| found["state"].as_str()).unwrap_or("nothing").to_owned()
    };
    for code in ["processors", "memory", "disk", "sync", "even-processor", "timers", "tools"] {
        assert_ne!(state(code), "nothing", "{code}: {}", done.out);
    }
    for found in findings.iter().filter(|found| found["state"] != "good") {
        assert!(found["change"].is_string() && found["cost"].is_string(), "{found}");
    }
    let blocked = findings.iter().any(|found| found["state"] == "blocks");
    assert_eq!(done.code, if blocked { 3 } else { 0 });
    let left = std::fs::read_dir(home.path()).unwrap();
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("doctor")), "{left:?}");
}
