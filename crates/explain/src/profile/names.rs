//! Functions under the names of two builds.
//!
//! ```text
//!   exact      the name as it stands
//!   plain      without parameters, templates, `.part.0`, `[clone .cold]`, `[abi:cxx11]`, `@plt`
//!   renamed    what is left on both sides, where callers are alike and so are callees, or names
//!              have a stem in common: LLVM finds stale functions so (llvm#95135); alike is a
//!              cosine of at least 0.6
//! ```
//!
//! Of two functions under one caller nothing follows from the caller alone, as nothing does from
//! what everybody calls: a callee is evidence where most of its samples come from the function.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dbdyno_model::{Match, PerArm};

use super::samples::Profile;

/// Callers and callees must be so much alike.
const ALIKE_LEAST: f64 = 0.6;
/// So much of a callee comes from the function that it tells of it.
const OWN_CALLEE_LEAST: f64 = 0.5;
/// Shorter words of a name are in many others.
const WORD_LEAST: usize = 3;
/// Functions with less than this share of their side are not looked for under other names.
const SHARE_LEAST: f64 = 0.002;
/// Nor are those with fewer samples: who calls them is then a matter of chance.
const SAMPLES_LEAST: f64 = 30.0;

/// Whether it is the name of a file, for functions in it that have none.
pub(super) fn is_of_a_file(name: &str) -> bool {
    name.starts_with('[')
}

/// The function that a name is without what compilers and parameters add.
pub(super) fn plain(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut depth = 0_u32;
    let name = name.replace("(anonymous namespace)::", "").replace("operator()", "operator_call");
    let name = name.split(" [clone").next().unwrap_or_default().to_owned();
    let name = name.replace("[abi:cxx11]", "").replace("std::__cxx11::", "std::");
    for c in name.chars() {
        match c {
            // `operator<` and `operator->` are names.
            '<' | '>' if text.ends_with("operator") || text.ends_with("operator-") => text.push(c),
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(c),
            _ => {}
        }
    }
    let text = text.trim().trim_end_matches(" const").trim_end_matches("@plt");
    let added = ["part", "isra", "constprop", "cold", "lto_priv", "llvm"];
    let is_added = |piece: &str| {
        added.contains(&piece) || (!piece.is_empty() && piece.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut pieces: Vec<&str> = text.split('.').collect();
    while pieces.len() > 1 && pieces.last().is_some_and(|piece| is_added(piece)) {
        pieces.pop();
    }
    // What it returns is told of templates only.
    pieces.join(".").rsplit(' ').next().unwrap_or_default().to_owned()
}

/// Names that are one function.
type Names = Vec<Arc<str>>;

/// A function of both sides, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) names: PerArm<Names>,
    pub(super) matched: Match,
}

/// The names of two profiles that are one function each, and how they were matched.
pub(crate) fn matched_names(base: &Profile, test: &Profile) -> Vec<(PerArm<Names>, Match)> {
    pairs(base, test).into_iter().map(|pair| (pair.names, pair.matched)).collect()
}

/// Matches the functions of two profiles, all of a side added up.
pub(super) fn pairs(base: &Profile, test: &Profile) -> Vec<Pair> {
    let mut left = PerArm {
        base: base.own.keys().cloned().collect::<BTreeSet<_>>(),
        test: test.own.keys().cloned().collect::<BTreeSet<_>>(),
    };
    let mut found: Vec<Pair> = Vec::new();
    let exact: Names = left.base.intersection(&left.test).cloned().collect();
    for name in exact {
        left.base.remove(&name);
        left.test.remove(&name);
        found.push(pair([&name], [&name], Match::Exact));
    }
    let by_plain = |names: &BTreeSet<Arc<str>>| {
        let mut by: BTreeMap<String, Names> = BTreeMap::new();
        names.iter().for_each(|name| by.entry(plain(name)).or_default().push(name.clone()));
        by
    };
    let (mut base_plain, mut test_plain) = (by_plain(&left.base), by_plain(&left.test));
    // A part that was split off belongs to what has its name by itself.
    for one in found.iter_mut() {
        let name = plain(&one.names.base[0]);
        if name != *one.names.base[0] {
            continue;
        }
        one.names.base.extend(base_plain.remove(&name).unwrap_or_default());
        one.names.test.extend(test_plain.remove(&name).unwrap_or_default());
    }
    let both: Vec<String> =
        base_plain.keys().filter(|name| test_plain.contains_key(*name)).cloned().collect();
    for name in both {
        let names = PerArm {
            base: base_plain.remove(&name).unwrap_or_default(),
            test: test_plain.remove(&name).unwrap_or_default(),
        };
        found.push(Pair { names, matched: Match::Plain });
    }
    renamed(base, test, &mut base_plain, &mut test_plain, &mut found);
    let alone = |names: Names| Pair {
        names: PerArm { base: names, test: Vec::new() },
        matched: Match::Alone,
    };
    found.extend(base_plain.into_values().map(alone));
    found.extend(test_plain.into_values().map(|names| Pair {
        names: PerArm { base: Vec::new(), test: names },
        matched: Match::Alone,
    }));
    found
}

fn pair(base: [&Arc<str>; 1], test: [&Arc<str>; 1], matched: Match) -> Pair {
    let names = PerArm { base: vec![base[0].clone()], test: vec![test[0].clone()] };
    Pair { names, matched }
}

/// Matches what is left by who calls it and whom it calls, the most alike first.
fn renamed(
    base: &Profile,
    test: &Profile,
    base_left: &mut BTreeMap<String, Names>,
    test_left: &mut BTreeMap<String, Names>,
    found: &mut Vec<Pair>,
) {
    let weighty = |profile: &Profile, left: &BTreeMap<String, Names>| {
        let own =
            |names: &Names| -> f64 { names.iter().filter_map(|name| profile.own.get(name)).sum() };
        let least = SAMPLES_LEAST.max(SHARE_LEAST * profile.total);
        let heavy = left.iter().filter(|(name, _)| !is_of_a_file(name));
        let heavy = heavy.filter(|(_, names)| own(names) >= least);
        heavy.map(|(name, names)| (name.clone(), around(profile, names))).collect::<Vec<_>>()
    };
    let (bases, tests) = (weighty(base, base_left), weighty(test, test_left));
    let mut alike: Vec<(f64, &String, &String)> = Vec::new();
    for (base, of_base) in &bases {
        for (test, of_test) in &tests {
            let callers = cosine(&of_base.callers, &of_test.callers);
            let callees = cosine(&of_base.callees, &of_test.callees);
            let is_known = callees >= ALIKE_LEAST || have_a_stem(base, test);
            if callers >= ALIKE_LEAST && is_known {
                alike.push((callers + callees, base, test));
            }
        }
    }
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, base, test) in alike {
        if let (Some(of_base), Some(of_test)) = (base_left.get(base), test_left.get(test)) {
            let names = PerArm { base: of_base.clone(), test: of_test.clone() };
            found.push(Pair { names, matched: Match::Renamed });
            base_left.remove(base);
            test_left.remove(test);
        }
    }
}

/// Who calls a function, and whom it calls and few others do, by plain names, with the samples.
struct Around {
    callers: BTreeMap<String, f64>,
    callees: BTreeMap<String, f64>,
}

fn around(profile: &Profile, names: &[Arc<str>]) -> Around {
    let (mut callers, mut callees) = (BTreeMap::new(), BTreeMap::<&str, f64>::new());
    let is_one = |name: &Arc<str>| names.contains(name);
    for ((caller, name), samples) in &profile.by_caller {
        if is_one(name) && !is_one(caller) {
            *callers.entry(plain(caller)).or_default() += samples;
        }
        if is_one(caller) && !is_one(name) && !is_of_a_file(name) {
            *callees.entry(name).or_default() += samples;
        }
    }
    let mut all: BTreeMap<&str, f64> = BTreeMap::new();
    for ((_, name), samples) in &profile.by_caller {
        if callees.contains_key(&**name) {
            *all.entry(name).or_default() += samples;
        }
    }
    let own = callees.into_iter().filter(|(name, samples)| {
        let whole = all.get(name).copied().unwrap_or(f64::INFINITY);
        *samples >= OWN_CALLEE_LEAST * whole
    });
    let mut by_plain = BTreeMap::new();
    own.for_each(|(name, samples)| *by_plain.entry(plain(name)).or_default() += samples);
    Around { callers, callees: by_plain }
}

/// Whether half of the words of one name, two or more, are in the other: `row_search_for_mysql`,
/// `row_search_mvcc`.
fn have_a_stem(a: &str, b: &str) -> bool {
    let (a, b) = (words(a), words(b));
    let shared = a.intersection(&b).count();
    shared >= 2 && 2 * shared >= a.len().min(b.len())
}

/// The words of a name in small letters: `buf`, `Fetch`, `normal` of `buf::FetchNormal`.
fn words(name: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut last = '_';
    for c in name.chars().chain(['_']) {
        let begins = c.is_uppercase() && last.is_lowercase();
        if (begins || !c.is_alphanumeric()) && word.len() >= WORD_LEAST {
            words.insert(word.clone());
        }
        if begins || !c.is_alphanumeric() {
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last = c;
    }
    words
}

fn cosine(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> f64 {
    let dot: f64 = a.iter().filter_map(|(name, value)| Some(value * b.get(name)?)).sum();
    let size = |v: &BTreeMap<String, f64>| v.values().map(|x| x * x).sum::<f64>().sqrt();
    let sizes = size(a) * size(b);
    if sizes > 0.0 { dot / sizes } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::*;

    #[test]
    fn names_lose_what_compilers_and_parameters_add() {
        for (name, is) in [
            ("row_search_mvcc(unsigned char*, page_cur_mode_t)", "row_search_mvcc"),
            ("rec_get_offsets.part.0", "rec_get_offsets"),
            ("handle_query [clone .cold]", "handle_query"),
            ("Buf_fetch<Buf_fetch_normal>::single_page() const", "Buf_fetch::single_page"),
            ("(anonymous namespace)::cmp_data.constprop.3", "cmp_data"),
            ("void std::vector<int, A<int> >::push(int&&)", "std::vector::push"),
            ("String::append[abi:cxx11](char)", "String::append"),
            ("memcpy@plt", "memcpy"),
            ("a::operator()(int)", "a::operator_call"),
            ("libc.so.6", "libc.so"),
        ] {
            assert_eq!(plain(name), is, "{name}");
        }
    }

    /// Who is called by the same function need not be the same, nor who calls what all call.
    #[test]
    fn unrelated_functions_are_gone_and_new() {
        let text = |leaf: &str, other: &str| {
            format!(
                "m;{leaf} 100\nm;{other} 60\nm;{other};memcpy 50\nm;rest;memcpy 900\nm;rest 500\n"
            )
        };
        let base = read(&text("mutex_spin", "fill_help_tables")).unwrap();
        let test = read(&text("crc32_fast", "open_ssl_digest")).unwrap();
        let pairs = pairs(&base, &test);
        assert!(pairs.iter().all(|pair| pair.matched != Match::Renamed), "{pairs:?}");
        let test = read(&text("mutex_spin_wait", "open_ssl_digest")).unwrap();
        let pairs = self::pairs(&base, &test);
        let renamed = pairs.iter().filter(|pair| pair.matched == Match::Renamed);
        let names: Vec<&str> = renamed.map(|pair| &*pair.names.test[0]).collect();
        assert_eq!(names, ["mutex_spin_wait"]);
        for (a, b, is) in [
            ("row_search_for_mysql", "row_search_mvcc", true),
            ("Buf_fetch::single_page", "buf_page_single_get", true),
            ("log_write", "row_write", false),
            ("lock_rec_lock", "log_checkpoint", false),
        ] {
            assert_eq!(have_a_stem(a, b), is, "{a} {b}");
        }
    }

    #[test]
    fn functions_are_matched_on_the_surest_rung() {
        let base = read(
            "m;same 100\nm;old(int) 50\nm;split 70\nm;row_search_for_mysql 40\n\
             m;row_search_for_mysql;leaf 200\nm;gone;x 9\nm;gone 3\n",
        );
        let test = read(
            "m;same 100\nm;old(long) 50\nm;split 30\nm;split.part.0 40\nm;row_search_mvcc 40\n\
             m;row_search_mvcc;leaf 200\nm;new;y;z 9\nm;new 3\n",
        );
        let pairs = pairs(&base.unwrap(), &test.unwrap());
        let of = |name: &str| {
            let has = |pair: &&Pair| {
                pair.names.base.iter().chain(&pair.names.test).any(|known| **known == *name)
            };
            pairs.iter().find(has).unwrap()
        };
        assert_eq!(of("same").matched, Match::Exact);
        assert_eq!(of("old(int)").matched, Match::Plain);
        assert_eq!(of("split.part.0").names.test.len(), 2, "a part belongs to the whole");
        let renamed = of("row_search_for_mysql");
        assert_eq!((renamed.matched, &*renamed.names.test[0]), (Match::Renamed, "row_search_mvcc"));
        assert_eq!((of("x").matched, of("z").matched), (Match::Alone, Match::Alone));
    }
}
