//! Functions under the names of two builds.
//!
//! ```text
//!   exact      the name as it stands, with all pieces and copies that compilers made of it
//!   plain      without parameters and templates: see `dbdyno_symbols`
//!   renamed    what is left on both sides, where callers are alike and so are callees, or names
//!              have a stem in common: LLVM finds stale functions so (llvm#95135); alike is a
//!              cosine of at least 0.6
//! ```
//!
//! Of two functions under one caller nothing follows from the caller alone, as nothing does from
//! what everybody calls: a callee is evidence where most of its samples come from the function. Nor
//! does it from words that half of a library has in its names. And where two functions of a side
//! are as much alike to one of the other, neither of them is called renamed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dbdyno_model::{FunctionPlace, LEFT_OUT, Match, NAMELESS, PerArm};
use dbdyno_symbols::{file_and_function, one_function, plain_name};

use super::ruby::{all_blocks_name, block_and_line};
use super::samples::Profile;
use super::waits::READY;

/// Callers and callees must be so much alike.
const ALIKE_LEAST: f64 = 0.6;
/// So much of a callee comes from the function that it tells of it.
const OWN_CALLEE_LEAST: f64 = 0.5;
/// Two that are alike within so much cannot be told apart.
const RIVAL_WITHIN: f64 = 0.05;
/// Words that stand in the names of many functions.
const COMMON: [&str; 20] = [
    "avx",
    "avx2",
    "evex",
    "sse2",
    "ssse3",
    "sse42",
    "erms",
    "unaligned",
    "rtm",
    "impl",
    "internal",
    "inline",
    "get",
    "set",
    "std",
    "const",
    "void",
    "func",
    "bool",
    "low",
];
/// Digits of an address at least, where nothing stands before it.
const ADDRESS_LEAST: usize = 8;
/// What the Windows Performance Analyzer writes for a function whose symbols it has not.
const WITHOUT_SYMBOLS: [&str; 3] = ["<Symbols disabled>", "<PDB not found>", "?"];
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

/// Whether a function has no name: its file stands for it, or an address.
pub(super) fn is_nameless(name: &str) -> bool {
    nameless_object(name).is_some()
}

/// Of a function without a name the file that it is of, empty where that is not known: `mysqld` of
/// `[mysqld]`, nothing of `[unknown]` and `0x55d0c0de1234`.
pub(super) fn nameless_object(name: &str) -> Option<&str> {
    if let Some(inside) = name.strip_prefix('[') {
        let is_known = [LEFT_OUT, NAMELESS, READY].contains(&name) || inside.contains(" tid=");
        let object = inside.split(']').next().unwrap_or_default();
        return (!is_known).then_some(if object == "unknown" { "" } else { object });
    }
    let bare = name.strip_suffix(KERNEL).unwrap_or(name);
    let (file, address) = file_and_function(bare).unwrap_or(("", bare));
    if is_address(address) || WITHOUT_SYMBOLS.contains(&address) {
        return Some(file);
    }
    let (file, offset) = bare.rsplit_once("+0x")?;
    let is_offset = !offset.is_empty() && offset.bytes().all(|b| b.is_ascii_hexdigit());
    let is_file = file.starts_with('/') || file.contains(".so");
    (is_offset && is_file).then(|| file.rsplit('/').next().unwrap_or(file))
}

/// `0x1f`, and without the sign where it is long.
fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").or(Some(text).filter(|it| it.len() >= ADDRESS_LEAST));
    digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The mark of a function of the kernel.
const KERNEL: &str = "_[k]";

/// Names that are one function.
type Names = Vec<Arc<str>>;

/// A function of both sides, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) names: PerArm<Names>,
    pub(super) matched: Match,
}

impl Pair {
    /// Of names that are one function, whether or not one of them stands on both sides.
    fn of_names(names: PerArm<Names>) -> Pair {
        let is_as_it_stands = names.base.iter().any(|name| names.test.contains(name));
        Pair { names, matched: if is_as_it_stands { Match::Exact } else { Match::Plain } }
    }
}

/// The names of two profiles that are one function each, and how they were matched.
pub(crate) fn matched_names(base: &Profile, test: &Profile) -> Vec<(PerArm<Names>, Match)> {
    match_functions(base, test).into_iter().map(|pair| (pair.names, pair.matched)).collect()
}

/// Matches the functions of two profiles, all of a side added up.
pub(super) fn match_functions(base: &Profile, test: &Profile) -> Vec<Pair> {
    // A function with its pieces and copies is one.
    let (mut base_left, mut test_left) = (by_function(base), by_function(test));
    unmark_kernel(&mut base_left, &test_left);
    unmark_kernel(&mut test_left, &base_left);
    put_default_copies(&mut base_left, &mut test_left);
    let mut found = pair_blocks(&mut base_left, &mut test_left);
    let both = |one: &BTreeMap<String, Names>, other: &BTreeMap<String, Names>| {
        one.keys().filter(|name| other.contains_key(*name)).cloned().collect::<Vec<String>>()
    };
    for name in both(&base_left, &test_left) {
        let names = PerArm {
            base: base_left.remove(&name).unwrap_or_default(),
            test: test_left.remove(&name).unwrap_or_default(),
        };
        found.push(Pair::of_names(names));
    }
    let (mut base_plain, mut test_plain) = (by_plain(base_left), by_plain(test_left));
    // What has no parameters in one profile has them in another one.
    for one in found.iter_mut() {
        let name = plain_name(&one.names.base[0]);
        if name != one_function(&one.names.base[0]) {
            continue;
        }
        one.names.base.extend(base_plain.remove(&name).unwrap_or_default());
        one.names.test.extend(test_plain.remove(&name).unwrap_or_default());
    }
    for name in both(&base_plain, &test_plain) {
        let names = PerArm {
            base: base_plain.remove(&name).unwrap_or_default(),
            test: test_plain.remove(&name).unwrap_or_default(),
        };
        found.push(Pair { names, matched: Match::Plain });
    }
    // All that waits has the same callees: they tell nothing of who calls them.
    if base.place != FunctionPlace::Waiting {
        renamed(base, test, &mut base_plain, &mut test_plain, &mut found);
    }
    put_nameless_together(&mut base_plain, &mut test_plain, &mut found);
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

/// The names of a profile by the function that they are of.
fn by_function(profile: &Profile) -> BTreeMap<String, Names> {
    let mut by: BTreeMap<String, Names> = BTreeMap::new();
    profile
        .own
        .keys()
        .for_each(|name| by.entry(one_function(name)).or_default().push(name.clone()));
    by
}

/// Takes the mark off functions of the kernel where the other side has none: not every tool marks
/// them. A server may have a function of the same name (`memcpy`), which is then another one,
/// unless the other side shows by others that it has the kernel's and does not tell them apart.
fn unmark_kernel(own: &mut BTreeMap<String, Names>, other: &BTreeMap<String, Names>) {
    if other.keys().any(|name| name.ends_with(KERNEL)) {
        return;
    }
    let marked = own.keys().filter_map(|name| {
        let bare = name.strip_suffix(KERNEL)?;
        other.contains_key(bare).then(|| (name.clone(), bare.to_owned()))
    });
    let marked: Vec<_> = marked.collect();
    let has_kernel = marked.iter().any(|(_, bare)| !own.contains_key(bare));
    for (name, bare) in marked {
        if has_kernel || !own.contains_key(&bare) {
            let names = own.remove(&name).unwrap_or_default();
            own.entry(bare).or_default().extend(names);
        }
    }
}

/// Takes out blocks of Ruby's methods that both sides have, the first of one with the first of the
/// other where there are as many, else all of a method together.
fn pair_blocks(
    base: &mut BTreeMap<String, Names>,
    test: &mut BTreeMap<String, Names>,
) -> Vec<Pair> {
    let (of_base, mut of_test) = (by_block(base), by_block(test));
    let mut found = Vec::new();
    for (block, base_blocks) in of_base {
        let Some(test_blocks) = of_test.remove(&block) else { continue };
        let mut all = base_blocks.iter().chain(&test_blocks);
        let are_told = all.all(|(line, _)| line.is_some());
        let names = PerArm {
            base: base_blocks.iter().filter_map(|(_, name)| base.remove(name)).collect::<Vec<_>>(),
            test: test_blocks.iter().filter_map(|(_, name)| test.remove(name)).collect::<Vec<_>>(),
        };
        if are_told && names.base.len() == names.test.len() {
            let pairs = names.base.into_iter().zip(names.test);
            found.extend(pairs.map(|(base, test)| Pair::of_names(PerArm { base, test })));
        } else {
            let all_blocks: Arc<str> = all_blocks_name(&block).into();
            let mut pair = Pair::of_names(names.map(|names| names.concat()));
            for side in [&mut pair.names.base, &mut pair.names.test] {
                side.retain(|name| *name != all_blocks);
                side.insert(0, all_blocks.clone());
            }
            found.push(pair);
        }
    }
    found
}

/// Blocks with their lines, those without one first, by their method.
fn by_block(names: &BTreeMap<String, Names>) -> BTreeMap<String, Vec<(Option<u32>, String)>> {
    let mut by: BTreeMap<String, Vec<(Option<u32>, String)>> = BTreeMap::new();
    for name in names.keys() {
        if let Some((block, line)) = block_and_line(name) {
            by.entry(block.to_owned()).or_default().push((line, name.clone()));
        }
    }
    by.values_mut().for_each(|blocks| blocks.sort());
    by
}

/// How the name of the copy ends that runs where a processor has what no other copy needs.
const DEFAULT_COPY: &str = ".default";

/// Puts `f.default` with `f` where one of the two profiles has other copies of it for processors,
/// or one side has `f` alone and the other one `f.default`. Elsewhere that is a name as others are:
/// `exports.default`.
fn put_default_copies(base: &mut BTreeMap<String, Names>, test: &mut BTreeMap<String, Names>) {
    let defaults: BTreeSet<String> = base.keys().chain(test.keys()).cloned().collect();
    for name in defaults {
        let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let text = numbered.strip_suffix('.').unwrap_or(&name);
        let Some(function) = text.strip_suffix(DEFAULT_COPY) else { continue };
        let has_copies = [&*base, &*test].iter().any(|side| {
            let mut names = side.get(function).into_iter().flatten();
            names.any(|it| it.strip_prefix(function).is_some_and(is_added_by_compiler))
        });
        let is_other_build = [(&*base, &*test), (&*test, &*base)].iter().any(|(one, other)| {
            let has_both = one.contains_key(&name) || other.contains_key(function);
            one.contains_key(function) && !has_both
        });
        let is_of_c = function.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if has_copies || is_of_c && is_other_build {
            for side in [&mut *base, &mut *test] {
                let names = side.remove(&name).unwrap_or_default();
                if !names.is_empty() {
                    side.entry(function.to_owned()).or_default().extend(names);
                }
            }
        }
    }
}

/// Whether what stands behind a function was added by a compiler, and is no word of a language as
/// the `clone` of `Hash.clone`.
fn is_added_by_compiler(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) || [".avx", ".resolver"].contains(&text)
}

/// Addresses that one side alone has, and what else has no name, are together what has none of a
/// file: programs lie elsewhere in memory each time that they are started.
fn put_nameless_together(
    base: &mut BTreeMap<String, Names>,
    test: &mut BTreeMap<String, Names>,
    found: &mut Vec<Pair>,
) {
    let names = PerArm { base: without_nameless(base), test: without_nameless(test) };
    let objects: BTreeSet<String> = names.base.keys().chain(names.test.keys()).cloned().collect();
    for object in objects {
        let mut names = PerArm::from_fn(|arm| names[arm].get(&object).cloned().unwrap_or_default());
        let place = format!("[{}]", if object.is_empty() { "unknown" } else { &object });
        match found.iter_mut().find(|pair| pair.names.base.iter().any(|name| **name == *place)) {
            Some(pair) => {
                pair.names.base.append(&mut names.base);
                pair.names.test.append(&mut names.test);
            }
            None => {
                let is_of_both = !names.base.is_empty() && !names.test.is_empty();
                let matched = if is_of_both { Match::Plain } else { Match::Alone };
                for side in [&mut names.base, &mut names.test] {
                    if side.is_empty() {
                        continue;
                    }
                    side.retain(|name| **name != *place);
                    side.insert(0, place.as_str().into());
                }
                found.push(Pair { names, matched });
            }
        }
    }
}

/// Takes out what has no name, by file.
fn without_nameless(left: &mut BTreeMap<String, Names>) -> BTreeMap<String, Names> {
    let mut nameless: BTreeMap<String, Names> = BTreeMap::new();
    left.retain(|_, names| {
        let object = names.first().and_then(|name| nameless_object(name)).map(str::to_owned);
        let is_named = object.is_none();
        if let Some(object) = object {
            nameless.entry(object).or_default().append(names);
        }
        is_named
    });
    nameless
}

/// The same by plain names.
fn by_plain(names: BTreeMap<String, Names>) -> BTreeMap<String, Names> {
    let mut by: BTreeMap<String, Names> = BTreeMap::new();
    names.into_iter().for_each(|(name, all)| by.entry(plain_name(&name)).or_default().extend(all));
    by
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
    let is_single = |(score, base, test): &(f64, &String, &String)| {
        let mut rivals = alike.iter().filter(|(_, b, t)| (b == base) != (t == test));
        rivals.all(|(other, ..)| *other < score - RIVAL_WITHIN)
    };
    let single: Vec<_> = alike.iter().filter(|one| is_single(one)).copied().collect();
    for (_, base, test) in single {
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
            *callers.entry(plain_name(caller)).or_default() += samples;
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
    own.for_each(|(name, samples)| *by_plain.entry(plain_name(name)).or_default() += samples);
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
        let is_telling = word.len() >= WORD_LEAST && !COMMON.contains(&word.as_str());
        if (begins || !c.is_alphanumeric()) && is_telling {
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
        let pairs = match_functions(&base, &test);
        assert!(pairs.iter().all(|pair| pair.matched != Match::Renamed), "{pairs:?}");
        let test = read(&text("mutex_spin_wait", "open_ssl_digest")).unwrap();
        let pairs = self::match_functions(&base, &test);
        let renamed = pairs.iter().filter(|pair| pair.matched == Match::Renamed);
        let names: Vec<&str> = renamed.map(|pair| &*pair.names.test[0]).collect();
        assert_eq!(names, ["mutex_spin_wait"]);
        for (a, b, is) in [
            ("row_search_for_mysql", "row_search_mvcc", true),
            ("Buf_fetch::single_page", "buf_page_single_get", true),
            ("log_write", "row_write", false),
            ("lock_rec_lock", "log_checkpoint", false),
            ("__memcpy_avx_unaligned_erms", "__memset_avx2_unaligned_erms", false),
        ] {
            assert_eq!(have_a_stem(a, b), is, "{a} {b}");
        }
    }

    /// Pieces and copies are one function, in whichever of the profiles they are and under
    /// whatever names; overloads are several.
    #[test]
    fn a_function_under_several_names_stands_once() {
        let base = "m;f(int) 40\nm;f(int) [clone .part.0] 30\nm;f(int) [clone .cold] 5\n\
                    m;memcpy@GLIBC_2.2.5 20\nm;g(int) 9\nm;g(long) 8\nm;h 7\nm;h.isra.0 3\n";
        let test = "m;f(int) 60\nm;f(int) [clone .part.1] 30\nm;memcpy@@GLIBC_2.14 20\n\
                    m;g(int) 9\nm;g(long) 8\nm;h.isra.0 9\nm;h(long, int) 1\n";
        let pairs = match_functions(&read(base).unwrap(), &read(test).unwrap());
        let mut told: Vec<(usize, usize, Match)> = pairs
            .iter()
            .map(|pair| (pair.names.base.len(), pair.names.test.len(), pair.matched))
            .collect();
        told.sort();
        let expected = [
            (1, 1, Match::Exact),
            (1, 1, Match::Exact),
            (1, 1, Match::Plain),
            (2, 2, Match::Exact),
            (3, 2, Match::Exact),
        ];
        assert_eq!(told, expected, "{pairs:?}");
    }

    /// The copy for processors that have nothing is one of them only where there are others.
    #[test]
    fn copies_for_processors_are_one_function() {
        for (base, test, count) in [
            ("m;dot.avx2 40\n", "m;dot.avx512f 30\n", 1),
            ("m;dot.avx2.0 40\n", "m;dot.default.2 30\n", 1),
            ("m;dot 40\n", "m;dot.default 30\n", 1),
            ("m;dot.default 40\nm;dot.resolver 1\n", "m;dot 30\n", 1),
            ("m;exports.default 40\nm;exports 4\n", "m;exports.default 3\nm;exports 3\n", 2),
            ("m;a.b.default 40\n", "m;a.b 3\n", 2),
            ("m;Hash.default 40\nm;Hash.clone 4\n", "m;Hash.default 3\nm;Hash.clone 3\n", 2),
        ] {
            let pairs = match_functions(&read(base).unwrap(), &read(test).unwrap());
            let functions = pairs.iter().filter(|pair| !pair.names.base.contains(&"m".into()));
            assert_eq!(functions.count(), count, "{base} {test} {pairs:?}");
        }
    }

    /// Tools of Windows and dtrace tell the file before a function.
    #[test]
    fn a_function_is_one_with_its_file_before_it_and_without() {
        for (base, test, matched) in [
            ("a!row_read 9\na!save! 4\n", "row_read 9\nsave! 4\n", Match::Plain),
            ("mysqld-8.0!row_read 9\n", "mysqld-8.4!row_read 9\n", Match::Plain),
            ("mysqld`row_read 9\n", "mysqld.exe!row_read 9\n", Match::Plain),
            ("a!init 9\nb!init 3\n", "a!init 9\nb!init 5\n", Match::Exact),
            ("a!0x7ff6 9\n", "a!<Symbols disabled> 9\n", Match::Plain),
        ] {
            let pairs = match_functions(&read(base).unwrap(), &read(test).unwrap());
            assert!(pairs.iter().all(|pair| pair.matched == matched), "{pairs:?}");
        }
    }

    /// A text of each tool, with a function of this name.
    fn of_each_tool(name: &str) -> Vec<String> {
        let speedscope = "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\
             \"profiles\":[{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"none\",\"startValue\":0,\
             \"endValue\":2,\"samples\":[[0]],\"weights\":[2]}],\
             \"shared\":{\"frames\":[{\"name\":\"NAME\"}]}}";
        [
            "main;NAME 12\n",
            "m 7 [001] 5.25: 250000 cycles:\n\t 7f3a NAME+0x1a (/x)\n\t 7f3b main (/x)\n\n",
            "# Samples: 4K of event 'cycles'\n    75.00%  m  m  [.] NAME\n",
            "Total: 2525 samples\n     298  11.8%  11.8%      345  13.7% NAME\n",
            "@[\n    NAME+12\n    main+3\n, m]: 36126\n",
            "Sampling at 49 Hertz of PID 7 by user stack.\n\n    NAME\n    main\n    -   m (7)\n   \
             \x20    5\n\n",
            "Thread 1 (LWP 7):\n#0  0x0000000000401136 in NAME () from /x\n#1  0x1 in main ()\n",
            "     12 NAME,main\n",
            "--- 50 ns (100.00%), 5 samples\n  [ 0] NAME\n  [ 1] main\n\n",
            speedscope,
        ]
        .map(|text| text.replace("NAME", name))
        .to_vec()
    }

    /// Whichever tool knew how to take a name apart.
    #[test]
    fn a_function_is_one_whichever_side_has_it_mangled() {
        for (mangled, known) in [
            ("_ZN4JOIN8optimizeEv", "JOIN::optimize"),
            ("_RNvNtCs5l0EXMQXRMU_4core3fmt5write", "core[846817f741e54dfd]::fmt::write"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write::hfedcba9876543210"),
        ] {
            for (one, other) in of_each_tool(mangled).iter().zip(of_each_tool(known)) {
                let (base, test) = (read(one).unwrap(), read(&other).unwrap());
                let pairs = match_functions(&base, &test);
                let is_one = pairs.iter().any(|pair| {
                    let is_named = |names: &Names| {
                        let plain = names.iter().map(|name| plain_name(name));
                        plain.clone().any(|it| it == "JOIN::optimize" || it == "core::fmt::write")
                    };
                    is_named(&pair.names.base) && is_named(&pair.names.test)
                });
                assert!(is_one, "{one}\n{pairs:?}");
                assert!(pairs.iter().all(|pair| pair.matched != Match::Alone), "{pairs:?}");
            }
        }
    }

    /// Not every tool marks the functions of the kernel.
    #[test]
    fn functions_of_the_kernel_are_one_with_their_mark_and_without() {
        let marked = "m;vfs_read_[k] 9\nm;memcpy_[k] 3\nm;memcpy 5\n";
        let matched = |test: &str| {
            let pairs = match_functions(&read(marked).unwrap(), &read(test).unwrap());
            let alone = pairs.iter().filter(|pair| pair.matched == Match::Alone);
            let mut alone: Vec<String> = alone
                .flat_map(|pair| pair.names.base.iter().chain(&pair.names.test))
                .map(ToString::to_string)
                .collect();
            alone.sort();
            alone
        };
        assert!(matched("m;vfs_read 9\nm;memcpy 8\n").is_empty());
        assert_eq!(matched("m;memcpy 5\n"), ["memcpy_[k]", "vfs_read_[k]"], "user code alone");
        assert_eq!(
            matched("m;vfs_read_[k] 9\nm;memcpy 5\n"),
            ["memcpy_[k]"],
            "what is not there is gone"
        );
    }

    /// A program lies elsewhere each time: its addresses are no functions that are gone and new.
    #[test]
    fn addresses_of_two_runs_are_together_what_has_no_name() {
        let pairs = match_functions(
            &read("m;0x55d0c0de1234 9\nm;[unknown] 5\nm;0x401000 7\nm;x`0x77 3\n").unwrap(),
            &read("m;55d0c0de9999 8\nm;0x7f00c0de1235 6\nm;0x401000 7\nm;[x] 3\n").unwrap(),
        );
        let told: Vec<(&str, Match)> =
            pairs.iter().map(|pair| (&*pair.names.base[0], pair.matched)).collect();
        let expected =
            [("0x401000", Match::Exact), ("[unknown]", Match::Plain), ("[x]", Match::Plain)];
        assert_eq!(told, expected, "{pairs:?}");
        let unknown = &pairs[1].names;
        assert_eq!((unknown.base.len(), unknown.test.len()), (2, 3), "{unknown:?}");
    }

    /// Two that are gone are as much alike to one that is new: nobody knows which was renamed.
    #[test]
    fn of_two_that_are_as_much_alike_none_is_called_renamed() {
        let base = "m;row_read_old_rec 100\nm;row_read_old_key 100\nm;rest 500\n";
        let test = "m;row_read_old_page 100\nm;rest 500\n";
        let pairs = match_functions(&read(base).unwrap(), &read(test).unwrap());
        assert!(pairs.iter().all(|pair| pair.matched != Match::Renamed), "{pairs:?}");
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
        let pairs = match_functions(&base.unwrap(), &test.unwrap());
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
