//! Settings by which a session plans: what one server says of them may be told to another.
//!
//! ```text
//!   base  join_cache_level 2, plugin_dir /x     test  join_cache_level 8, plugin_dir /y
//!           └─▶ known here, a number  ─▶  SET join_cache_level=2
//!               not known             ─▶  nothing
//! ```
//!
//! A server says what it likes, and test may be somebody's own: a name that is not known here is
//! told to nobody (`extension_destdir` names a folder whose library is loaded, `debug` a file that
//! is written), and of a known one only a value of its kind. Names: MySQL 8.0 and MariaDB Server
//! documentation, "Server System Variables"; PostgreSQL 17 documentation, 19.4 "Resource
//! Consumption" and 19.7 "Query Planning".

use dbdyno_model::{Dialect, Environment, plain_number};

use crate::planner::{Switch, changed_switches};

const VARIABLE: &str = "variable.";
const SWITCHES: &str = "optimizer_switch";
/// Units behind the values of PostgreSQL, whose settings are told in them anyway; bytes of those of
/// memory.
const UNITS: [(&str, f64); 8] = [
    ("8kB", 8192.0),
    ("16kB", 16_384.0),
    ("kB", 1024.0),
    ("MB", 1_048_576.0),
    ("B", 1.0),
    ("ms", 1.0),
    ("s", 1.0),
    ("min", 1.0),
];
/// What multiplies memory does so by no more; PostgreSQL's own default is 2.
const FACTOR_MOST: f64 = 16.0;
/// A session of test is let have as much memory for one thing, however much base says that it has.
const BYTES_MOST: f64 = (1_u64 << 30) as f64;
/// Servers have some thirty switches, and differ in fewer settings.
const SETTINGS_MOST: usize = 128;

/// What values a setting has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    /// A number.
    Count,
    /// A number of bytes that a session takes.
    Bytes,
    /// A number by which memory is multiplied.
    Factor,
    /// On or off.
    Switch,
    /// One of these words, or several with commas.
    Words(&'static [&'static str]),
    /// The name of a character set or a collation.
    CharacterSet,
}

use ValueKind::{Bytes, CharacterSet, Count, Factor, Words};

const OF_MYSQL: &[(&str, ValueKind)] = &[
    ("big_tables", ValueKind::Switch),
    ("character_set_connection", CharacterSet),
    ("collation_connection", CharacterSet),
    ("default_tmp_storage_engine", Words(&["InnoDB", "MyISAM", "MEMORY", "Aria"])),
    ("eq_range_index_dive_limit", Count),
    ("expensive_subquery_limit", Count),
    ("in_predicate_conversion_threshold", Count),
    ("internal_tmp_mem_storage_engine", Words(&["MEMORY", "TempTable"])),
    ("join_buffer_size", Bytes),
    ("join_buffer_space_limit", Bytes),
    ("join_cache_level", Count),
    ("max_heap_table_size", Bytes),
    ("max_length_for_sort_data", Count),
    ("max_seeks_for_key", Count),
    ("max_sort_length", Bytes),
    ("mrr_buffer_size", Bytes),
    (
        "optimizer_adjust_secondary_key_costs",
        Words(&[
            "adjust_secondary_key_cost",
            "disable_max_seek",
            "disable_forced_index_in_group_by",
            "fix_innodb_cardinality",
            "fix_reuse_range_for_ref",
            "fix_card_multiplier",
        ]),
    ),
    ("optimizer_extra_pruning_depth", Count),
    ("optimizer_join_limit_pref_ratio", Count),
    ("optimizer_max_sel_arg_weight", Count),
    ("optimizer_max_sel_args", Count),
    ("optimizer_prune_level", Count),
    ("optimizer_search_depth", Count),
    ("optimizer_selectivity_sampling_limit", Count),
    ("optimizer_use_condition_selectivity", Count),
    ("range_alloc_block_size", Bytes),
    ("range_optimizer_max_mem_size", Bytes),
    ("read_buffer_size", Bytes),
    ("read_rnd_buffer_size", Bytes),
    ("rowid_merge_buff_size", Bytes),
    ("secondary_engine_cost_threshold", Count),
    ("sort_buffer_size", Bytes),
    ("sql_big_selects", ValueKind::Switch),
    ("sql_buffer_result", ValueKind::Switch),
    ("tmp_memory_table_size", Bytes),
    ("tmp_table_size", Bytes),
    (
        "use_stat_tables",
        Words(&[
            "never",
            "complementary",
            "preferably",
            "complementary_for_queries",
            "preferably_for_queries",
        ]),
    ),
];

const OF_POSTGRES: &[(&str, ValueKind)] = &[
    ("constraint_exclusion", Words(&["on", "off", "partition"])),
    ("cpu_index_tuple_cost", Count),
    ("cpu_operator_cost", Count),
    ("cpu_tuple_cost", Count),
    ("cursor_tuple_fraction", Count),
    ("debug_parallel_query", Words(&["off", "on", "regress"])),
    ("effective_cache_size", Count),
    ("effective_io_concurrency", Count),
    ("force_parallel_mode", Words(&["off", "on", "regress"])),
    ("from_collapse_limit", Count),
    ("geqo", ValueKind::Switch),
    ("geqo_effort", Count),
    ("geqo_generations", Count),
    ("geqo_pool_size", Count),
    ("geqo_seed", Count),
    ("geqo_selection_bias", Count),
    ("geqo_threshold", Count),
    ("hash_mem_multiplier", Factor),
    ("jit", ValueKind::Switch),
    ("jit_above_cost", Count),
    ("jit_inline_above_cost", Count),
    ("jit_optimize_above_cost", Count),
    ("join_collapse_limit", Count),
    ("max_parallel_workers", Count),
    ("max_parallel_workers_per_gather", Count),
    ("min_parallel_index_scan_size", Count),
    ("min_parallel_table_scan_size", Count),
    ("parallel_leader_participation", ValueKind::Switch),
    ("parallel_setup_cost", Count),
    ("parallel_tuple_cost", Count),
    ("plan_cache_mode", Words(&["auto", "force_generic_plan", "force_custom_plan"])),
    ("random_page_cost", Count),
    ("recursive_worktable_factor", Count),
    ("seq_page_cost", Count),
    ("temp_buffers", Bytes),
    ("work_mem", Bytes),
];

/// Settings that are not the same in both arms, as a session of test is given them behind `SET`:
/// `optimizer_switch='hash_join=off'`. Only settings by which sessions plan, and only values of
/// their kind; what a server does not have it refuses.
pub fn planner_settings(dialect: Dialect, base: &Environment, test: &Environment) -> Vec<String> {
    let mut found = Vec::new();
    for (fact, of_test) in &test.facts {
        let Some(name) = fact.strip_prefix(VARIABLE) else { continue };
        let of_base = base.facts.get(fact);
        if of_base == Some(of_test) {
            continue;
        }
        match of_base {
            Some(value) if name == SWITCHES && dialect == Dialect::Mysql => {
                found.extend(changed_switches(value, of_test).iter().filter_map(switch_told));
            }
            Some(value) => found.extend(told(dialect, name, value)),
            // What only test can do, and does.
            None if of_test == "on" => {
                let off = told(dialect, name, "off");
                found.extend(off.filter(|_| name.starts_with("enable_")));
            }
            None => {}
        }
    }
    // What is an optimizer's by its name is tried first, as of two that do it that one is meant.
    let is_of_others = |told: &String| {
        let name = told.split('=').next().unwrap_or_default();
        dbdyno_audit::rule_key_of(&format!("{VARIABLE}{name}")) != "optimizer"
    };
    found.sort_by_key(is_of_others);
    found.truncate(SETTINGS_MOST);
    found
}

/// A switch as base has it: off, where base has none.
fn switch_told(switch: &Switch) -> Option<String> {
    let value = switch.base.as_deref().unwrap_or("off");
    let is_plain = is_word(&switch.name) && matches!(value, "on" | "off");
    is_plain.then(|| format!("{SWITCHES}='{}={value}'", switch.name))
}

/// `None` of a setting that no session plans by, and of a value that is none of its kind.
fn told(dialect: Dialect, name: &str, value: &str) -> Option<String> {
    let (value, bytes) = match value.rsplit_once(' ') {
        Some((number, unit)) if dialect == Dialect::Postgres => {
            let known = UNITS.iter().find(|(known, _)| *known == unit);
            known.map_or((value, 1.0), |(_, bytes)| (number, *bytes))
        }
        _ => (value, 1.0),
    };
    let is_taken = match kind_of(dialect, name)? {
        Count => plain_number(value).is_some(),
        Bytes => plain_number(value).is_some_and(|number| number * bytes <= BYTES_MOST),
        Factor => plain_number(value).is_some_and(|number| number <= FACTOR_MOST),
        ValueKind::Switch => {
            ["on", "off", "0", "1"].iter().any(|known| known.eq_ignore_ascii_case(value))
        }
        Words(known) => {
            value.split(',').all(|word| known.iter().any(|known| known.eq_ignore_ascii_case(word)))
        }
        CharacterSet => is_word(value),
    };
    let is_bare = dialect == Dialect::Mysql && plain_number(value).is_some();
    is_taken.then(|| if is_bare { format!("{name}={value}") } else { format!("{name}='{value}'") })
}

fn kind_of(dialect: Dialect, name: &str) -> Option<ValueKind> {
    let (known, more) = match dialect {
        Dialect::Mysql => {
            (OF_MYSQL, (name.starts_with("optimizer_") && name.ends_with("_cost")).then_some(Count))
        }
        Dialect::Postgres => {
            (OF_POSTGRES, name.starts_with("enable_").then_some(ValueKind::Switch))
        }
        _ => return None,
    };
    let listed = known.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    listed.or(more.filter(|_| is_word(name)))
}

/// Letters, digits and underscores: the name stands in a statement as it is.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn environment(facts: &[(&str, &str)]) -> Environment {
        let mut environment = Environment::default();
        facts.iter().for_each(|(name, value)| environment.set(*name, *value));
        environment
    }

    #[test]
    fn what_differs_is_told_as_a_session_takes_it() {
        let base = environment(&[
            ("variable.optimizer_switch", "mrr=on,index_merge=on"),
            ("variable.eq_range_index_dive_limit", "10"),
            ("variable.sql_mode", ""),
            ("variable.join_buffer_size", "131072"),
        ]);
        let test = environment(&[
            ("variable.optimizer_switch", "mrr=on,index_merge=off,hash_join=on"),
            ("variable.eq_range_index_dive_limit", "200"),
            ("variable.sql_mode", "STRICT"),
            ("variable.join_buffer_size", "262144"),
            ("variable.datadir", "elsewhere"),
        ]);
        assert_eq!(
            planner_settings(Dialect::Mysql, &base, &test),
            [
                "eq_range_index_dive_limit=10",
                "optimizer_switch='index_merge=on'",
                "optimizer_switch='hash_join=off'",
                "join_buffer_size=131072",
            ]
        );
        let base = environment(&[("variable.work_mem", "4096 kB"), ("variable.jit", "off")]);
        let test = environment(&[
            ("variable.work_mem", "64 kB"),
            ("variable.jit", "on"),
            ("variable.enable_memoize", "on"),
        ]);
        let mut found = planner_settings(Dialect::Postgres, &base, &test);
        found.sort();
        assert_eq!(found, ["enable_memoize='off'", "jit='off'", "work_mem='4096'"]);
    }

    /// A relay in front of base said that its `extension_destdir` is a folder of its own, and test
    /// loaded a library from there; a debug build of MySQL writes the file that `debug` names.
    #[test]
    fn what_no_session_plans_by_is_told_to_nobody() {
        let told = |dialect, name: &str, of_base: &str, of_test: &str| {
            let fact = format!("{VARIABLE}{name}");
            let (base, test) = (environment(&[(&fact, of_base)]), environment(&[(&fact, of_test)]));
            planner_settings(dialect, &base, &test)
        };
        for (name, value) in [
            ("extension_destdir", "/tmp/evil"),
            ("session_preload_libraries", "/tmp/evil.so"),
            ("search_path", "evil"),
            ("log_min_messages", "debug5"),
            ("debug_print_plan", "on"),
            ("enable_seqscan", "on; drop table t"),
            ("enable_.x", "on"),
            ("work_mem", "infinity"),
            ("work_mem", "NaN"),
            ("work_mem", "2147483647 kB"),
            ("temp_buffers", "1073741823 8kB"),
            ("hash_mem_multiplier", "1000"),
            ("constraint_exclusion", "x"),
        ] {
            assert_eq!(told(Dialect::Postgres, name, value, "other"), [""; 0], "{name}");
        }
        for (name, value) in [
            ("debug", "d:t:O,/tmp/trace"),
            ("join_buffer_size", "infinity"),
            ("join_buffer_size", "18446744073709551615"),
            ("init_connect", "drop table t"),
            ("optimizer_trace", "enabled=on"),
            ("optimizer_switch", "x y=on"),
            ("optimizer_switch", "mrr=@@datadir"),
            ("sql_mode", "ANSI_QUOTES"),
            ("character_set_connection", "utf8'"),
        ] {
            assert_eq!(told(Dialect::Mysql, name, value, "mrr=off,x y=off"), [""; 0], "{name}");
        }
        assert_eq!(
            told(Dialect::Postgres, "enable_memoize", "off", "on"),
            ["enable_memoize='off'"]
        );
        let words = "fix_innodb_cardinality,disable_max_seek";
        let name = "optimizer_adjust_secondary_key_costs";
        assert_eq!(told(Dialect::Mysql, name, words, ""), [format!("{name}='{words}'")]);
        let cost = "optimizer_disk_read_cost";
        assert_eq!(told(Dialect::Mysql, cost, "10.24", "1"), [format!("{cost}=10.24")]);
    }

    #[test]
    fn a_crowd_of_settings_is_bounded() {
        let facts: Vec<String> = (0..1_000).map(|at| format!("variable.enable_x{at}")).collect();
        let of = |value| facts.iter().map(|fact| (fact.as_str(), value)).collect::<Vec<_>>();
        let (base, test) = (environment(&of("off")), environment(&of("on")));
        assert_eq!(planner_settings(Dialect::Postgres, &base, &test).len(), SETTINGS_MOST);
        assert_eq!(planner_settings(Dialect::Postgres, &environment(&[]), &test).len(), 128);
    }

    /// Names and values with all that has a meaning in SQL.
    fn hostile() -> impl Strategy<Value = String> {
        let pieces =
            vec!["'", "\"", "`", "\\", ";", "--", "=", ",", " ", "é", "\n", "on", "x", "1"];
        let pieces = prop::sample::select(pieces);
        prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// What another server says of its settings is a name, a sign and one value: read by other
        /// code than wrote it.
        #[test]
        fn a_setting_of_another_server_is_one_assignment(
            name in hostile(),
            of_base in hostile(),
            of_test in hostile(),
        ) {
            let known = [SWITCHES, "work_mem", "join_buffer_size", "collation_connection", "geqo"];
            for name in [name].into_iter().chain(known.map(str::to_owned)) {
                let fact = format!("{VARIABLE}{name}");
                let base = environment(&[(&fact, &of_base)]);
                let test = environment(&[(&fact, &of_test)]);
                for dialect in [Dialect::Mysql, Dialect::Postgres] {
                    for told in planner_settings(dialect, &base, &test) {
                        let (name, value) = told.split_once('=').unwrap();
                        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.".contains(&b);
                        prop_assert!(name.bytes().all(is_part), "{told}");
                        let inside = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\''));
                        let is_text = inside.is_some_and(|v| {
                            !v.contains(['\'', '\\']) && v.bytes().all(|b| (32..127).contains(&b))
                        });
                        prop_assert!(is_text || value.parse::<f64>().is_ok(), "{told}");
                    }
                }
            }
        }
    }
}
