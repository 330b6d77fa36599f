//! The RocksDB of the machine as an arm, measured for real. With `DBDYNO_REQUIRE_SERVERS=1` a
//! machine without one fails.

use crate::common::{Home, SHORT, turn};

/// Whether there is a RocksDB; its absence is said by the command itself, with what to do.
fn is_here(home: &Home) -> bool {
    let args = ["compare", "rocksdb:", "rocksdb:?no_such_option=1", "--load", "readrandom"];
    let done = home.dbdyno([&args[..], &SHORT].concat());
    assert_eq!(done.code, 2, "{done:?}");
    let is_here = done.err.contains("no_such_option");
    assert!(is_here || done.err.contains("apt-get install librocksdb-dev"), "{done:?}");
    assert!(is_here || std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none(), "{done:?}");
    is_here
}

#[test]
fn readers_are_measured_beside_a_writer_and_what_was_asked_for_is_varied() {
    let _turn = turn();
    let home = Home::new();
    if !is_here(&home) {
        return;
    }
    let test = "rocksdb:?preset=direct&cache=1M";
    // On a busy machine whoever is kept on one processor may not get a turn for a second.
    let load = ["--rounds", "3", "--pin", "none", "--load"];
    let load = [&load[..], &["overwrite,settle,readwhilewriting?writes=20"]].concat();
    let args = [&["compare", "rocksdb:", test][..], &SHORT, &load].concat();
    let done = home.dbdyno([&args[..], &["--format", "json"]].concat());
    assert!([0, 3].contains(&done.code), "{done:?}");
    let run: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let cell = &run["cells"][1];
    assert_eq!(cell["load"], "readwhilewriting?writes=20");
    for arm in ["base", "test"] {
        assert!(cell[arm]["qps"].as_f64().unwrap() > 0.0, "{cell}");
        assert!(cell[arm]["server_cpu_us_per_op"].as_f64().unwrap() > 0.0, "{cell}");
        let [class] = &cell[arm]["classes"].as_array().unwrap()[..] else { panic!("{cell}") };
        assert_eq!((&class["class"], &class["counts"]), (&"background".into(), &"events".into()));
        // It catches up by a second's worth at most, whatever the readers' rate is.
        let per_second = class["per_second"].as_f64().unwrap();
        assert!(per_second > 0.0 && per_second <= 2.0 * 20.0, "{class}");
    }
    let settled = run["warnings"].as_array().unwrap().iter().filter(|w| w["code"] == "settled");
    assert_eq!(settled.count(), 2, "{}", run["warnings"]);
    let audit = &run["audit"];
    let varied = audit["unequal"].as_array().unwrap().iter().filter(|u| u["weight"] == "varied");
    let names: Vec<&str> = varied.map(|unequal| unequal["name"].as_str().unwrap()).collect();
    for name in ["variable.use_direct_reads", "variable.compression", "variable.block_cache"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
}
