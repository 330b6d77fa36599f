//! What callgrind writes, read: the instructions of each function, its own and with what it called.
//!
//! ```text
//!   events: Ir                    the columns of cost lines
//!   positions: line               how many numbers stand before the costs
//!   ob=(2) /usr/sbin/mysqld       names are said once, and then by number
//!   fl=(3) ???
//!   fn=(7) handler::ha_index_read
//!   0 180                         180 of its own; a place may be relative: +3, -1, *
//!   cob=(4)  cfi=(5)  cfn=(8) row_search_mvcc
//!   calls=60 0
//!   0 9000                        what these calls cost, which is inclusive only
//!   totals: 9180
//! ```
//!
//! A function that is called while it runs is told apart by callgrind, as `name'2`. What it costs
//! is in what `name` costs with all that it calls; its own instructions are added to those of
//! `name`.
//!
//! The format is that of "Callgrind Format Specification", Valgrind manual, chapter 6 (version 1).

use std::collections::BTreeMap;

use dbdyno_symbols::{one_function, readable_name};

/// What one function did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FunctionCost {
    /// Instructions of its own.
    pub(crate) own: u64,
    /// Of its own and of all that it called, itself too, each once.
    pub(crate) inclusive: u64,
}

/// Function by file (program or library, without directories) and name (without parameters, empty
/// where there is none).
pub(crate) type Functions = BTreeMap<(String, String), FunctionCost>;

/// One file of callgrind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    /// All instructions, as the file says it.
    pub(crate) total: u64,
    /// By function.
    pub(crate) functions: Functions,
    /// What calls cost, by the names of caller and callee, where both have one.
    pub(crate) calls: Calls,
}

/// Inclusive instructions by caller and callee.
pub(crate) type Calls = BTreeMap<(String, String), u64>;

/// Whether a file is written to its end.
pub(crate) fn is_whole(text: &str) -> bool {
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    last.starts_with("totals:") && text.ends_with('\n')
}

/// Reads a file of callgrind.
///
/// # Errors
/// A sentence that names the line.
pub(crate) fn parse(text: &str) -> Result<Profile, String> {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.line(line).map_err(|why| format!("line {}: {why}", index + 1))?;
    }
    let total = reader.total.ok_or("it has no line `totals:`; it was not written to its end")?;
    let own: u64 = reader.functions.values().map(|cost| cost.own).sum();
    if own != total {
        return Err(format!("its functions have {own} instructions, and it says {total}"));
    }
    Ok(Profile { total, functions: reader.functions, calls: reader.edges })
}

#[derive(Default)]
struct Reader {
    objects: BTreeMap<u32, String>,
    names: BTreeMap<u32, String>,
    object: String,
    name: String,
    /// It runs inside of itself.
    is_within: bool,
    /// Whom the next call calls.
    callee: (Option<String>, String),
    /// Which runs inside of itself.
    is_callee_within: bool,
    /// The next cost line is that of calls.
    calls: bool,
    /// Which column of the costs counts instructions.
    column: usize,
    positions: usize,
    total: Option<u64>,
    functions: Functions,
    edges: Calls,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        match line.as_bytes().first() {
            None | Some(b'#') => return Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => return self.cost(line),
            Some(_) => {}
        }
        if let Some((word, rest)) = line.split_once('=') {
            return self.assignment(word, rest);
        }
        let Some((word, rest)) = line.split_once(':') else {
            return Err(format!("{line:?} is neither a cost nor a name"));
        };
        match word {
            "events" => {
                let mut events = rest.split_whitespace();
                let column = events.position(|event| event == "Ir");
                self.column = column.ok_or("it does not count instructions (Ir)")?;
            }
            "positions" => self.positions = rest.split_whitespace().count(),
            "totals" => self.total = Some(self.number(rest)?),
            // Version, creator, command, part, thread, descriptions and the like.
            _ => {}
        }
        Ok(())
    }

    fn assignment(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "ob" => self.object = base_name(&resolve(&mut self.objects, rest)?),
            "fn" => {
                let name = resolve(&mut self.names, rest)?;
                (self.name, self.is_within) = (plain_name(&name), is_within(&name));
            }
            "cob" => {
                self.callee.0 = Some(base_name(&resolve(&mut self.objects, rest)?));
            }
            "cfn" => {
                let name = resolve(&mut self.names, rest)?;
                (self.callee.1, self.is_callee_within) = (plain_name(&name), is_within(&name));
            }
            "calls" => self.calls = true,
            // Source files, and jumps, whose costs are none. Lines of a description have a colon
            // before their first equals sign.
            "fl" | "fi" | "fe" | "cfi" | "cfl" | "jump" | "jcnd" | "jfi" | "jfn" => {}
            _ if word.contains(':') => {}
            _ => return Err(format!("{word:?} is not known")),
        }
        Ok(())
    }

    fn number(&self, costs: &str) -> Result<u64, String> {
        // Columns that are missing at the end of a line are 0.
        let text = costs.split_whitespace().nth(self.column).unwrap_or("0");
        text.parse().map_err(|_| format!("{text:?} is no number of instructions"))
    }

    fn cost(&mut self, line: &str) -> Result<(), String> {
        let positions = self.positions.max(1);
        let rest = line.split_whitespace().skip(positions).collect::<Vec<_>>().join(" ");
        let cost = self.number(&rest)?;
        let entry = self.functions.entry((self.object.clone(), self.name.clone())).or_default();
        let add = |sum: u64| sum.checked_add(cost).ok_or("the sum is too large");
        if std::mem::take(&mut self.calls) {
            let object = self.callee.0.take();
            // A piece of it, or another of its name, which has its costs under this name already.
            let itself = !self.is_callee_within
                && self.callee.1 == self.name
                && object.is_none_or(|object| object == self.object);
            if !itself && !self.is_within {
                entry.inclusive = add(entry.inclusive)?;
                if !self.name.is_empty() && !self.callee.1.is_empty() {
                    let call = (self.name.clone(), self.callee.1.clone());
                    let sum = self.edges.entry(call).or_default();
                    *sum = add(*sum)?;
                }
            }
        } else {
            entry.own = add(entry.own)?;
            if !self.is_within {
                entry.inclusive = add(entry.inclusive)?;
            }
        }
        Ok(())
    }
}

/// `(7) name` says what 7 means, `(7)` uses it, `name` stands for itself.
fn resolve(known: &mut BTreeMap<u32, String>, text: &str) -> Result<String, String> {
    let numbered = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let numbered = numbered.and_then(|(number, rest)| Some((number.parse::<u32>().ok()?, rest)));
    let Some((number, rest)) = numbered else { return Ok(text.to_owned()) };
    match rest.strip_prefix(' ') {
        Some(name) => {
            known.insert(number, name.to_owned());
            Ok(name.to_owned())
        }
        None => known.get(&number).cloned().ok_or(format!("name ({number}) was never said")),
    }
}

/// What callgrind puts behind the name of a function that is called while it runs: `'2`.
fn recursion(name: &str) -> Option<&str> {
    let (head, digits) = name.rsplit_once('\'')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(head)
}

fn is_within(name: &str) -> bool {
    recursion(name).is_some()
}

fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// A function's name without its parameters, which differ from release to release, and without what
/// compiler and callgrind add; empty for an address.
pub(crate) fn plain_name(name: &str) -> String {
    let hex = name.strip_prefix("0x").unwrap_or_default();
    if name == "???" || (!hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return String::new();
    }
    let name = recursion(name).unwrap_or(name);
    let name = &one_function(&readable_name(name));
    let mut end = name.len();
    // Parameters stand in the first parentheses outside of <…> that are not at the beginning of a
    // part of the name, as in `(anonymous namespace)::f` and `operator()`.
    let mut depth = 0_usize;
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'<' if !name[..at].ends_with("operator") && !name[..at].ends_with("operator<") => {
                depth += 1;
            }
            b'>' if !name[..at].ends_with(['-', '=']) => depth = depth.saturating_sub(1),
            b'(' if depth == 0 => {
                let before = &name[..at];
                if !(before.is_empty() || before.ends_with("::") || before.ends_with("operator")) {
                    end = at;
                    break;
                }
            }
            _ => {}
        }
    }
    // What only calls a function of a library is told as that function.
    let plain = name[..end].split('@').next().unwrap_or_default();
    plain.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: &str = "# callgrind format\nversion: 1\ncreator: callgrind-3.24.0\npid: 7\n\
        cmd: ./a b=c:d\npart: 1\n\ndesc: I1 cache: \ndesc: Trigger: --dump-after=a=b\n\n\
        positions: line\nevents: Ir\nsummary: 9260\n\n\
        ob=(2) /usr/sbin/mysqld\nfl=(3) ???\nfn=(7) handler::read(int, char*)\n0 180\n\
        cob=(4) /lib/libc.so.6\ncfi=(5) s.c\ncfn=(8) memcpy@G_2\ncalls=60 0\n0 9000\n+3 20\n\n\
        ob=(4)\nfl=(5)\nfn=(8)\n10 8000\n* 1000\ncfn=(8)\ncalls=3 10\n* 500\n\n\
        ob=(2)\nfn=(9) 0x00000000005a1b20\n-2 60\n\ntotals: 9260\n";

    #[test]
    fn own_and_inclusive_are_told_apart() {
        let profile = parse(SMALL).unwrap();
        let of = |object: &str, name: &str| profile.functions[&(object.into(), name.into())];
        assert_eq!(of("mysqld", "handler::read"), FunctionCost { own: 200, inclusive: 9200 });
        assert_eq!(of("libc.so.6", "memcpy"), FunctionCost { own: 9000, inclusive: 9000 });
        assert_eq!(of("mysqld", ""), FunctionCost { own: 60, inclusive: 60 });
        let call = ("handler::read".to_owned(), "memcpy".to_owned());
        assert_eq!(profile.calls, Calls::from([(call, 9000)]), "memcpy calls itself");
        assert_eq!(profile.total, 9260);
    }

    /// Rows of `callgrind_annotate --threshold=100 --auto=no work.out` (Valgrind 3.19) and of the
    /// same with `--inclusive=yes`: file, function, own, inclusive. It has a row for each source
    /// file and for recursion; own instructions are their sum, inclusive ones those of the first.
    const ANNOTATED: [(&str, &str, u64, u64); 14] = [
        ("work", "main", 259, 189_663),
        ("work", "copy", 260, 187_496),
        ("work", "sum", 15_048 + 169_740, 184_788),
        ("work", "tree", 55 + 1_389, 1_444),
        ("work", "even", 72 + 160, 428),
        ("work", "odd", 67 + 165, 428),
        ("libc.so.6", "__memcpy_avx_unaligned_erms", 682, 682),
        ("libc.so.6", "__memset_avx2_unaligned_erms", 443, 443),
        ("libc.so.6", "memset", 23, 23),
        ("ld-linux-x86-64.so.2", "_dl_fixup", 192 + 2 + 2 + 2, 1_243),
        ("ld-linux-x86-64.so.2", "_dl_lookup_symbol_x", 184 + 92, 1_001),
        ("ld-linux-x86-64.so.2", "do_lookup_x", 468 + 10 + 8, 725),
        ("ld-linux-x86-64.so.2", "check_match", 120, 239),
        ("ld-linux-x86-64.so.2", "", 0, 189_663),
    ];

    #[test]
    fn a_real_file_says_what_callgrinds_own_reader_says() {
        let text = include_str!("../../tests/callgrind/work.out");
        assert!(is_whole(text));
        let profile = parse(text).unwrap();
        assert_eq!(profile.total, 189_663);
        for (object, name, own, inclusive) in ANNOTATED {
            let cost = profile.functions[&(object.into(), name.into())];
            assert_eq!(cost, FunctionCost { own, inclusive }, "{name} of {object}");
        }
    }

    #[test]
    fn a_torn_or_foreign_file_is_refused() {
        for length in 0..SMALL.len() - 1 {
            assert!(!is_whole(&SMALL[..length]), "torn at {length}");
        }
        assert!(is_whole(SMALL));
        assert!(parse("").unwrap_err().contains("totals"));
        assert!(parse(&SMALL.replace("0 180", "0 181")).unwrap_err().contains("9261"));
        assert!(parse(&SMALL.replace("Ir", "Dr")).unwrap_err().contains("line 12"));
        assert!(parse(&SMALL.replace("ob=(4)\n", "ob=(44)\n")).unwrap_err().contains("(44)"));
    }

    #[test]
    fn names_lose_what_differs_between_builds() {
        for (name, plain) in [
            ("do_command(THD*, bool)", "do_command"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("A::operator()(int) const", "A::operator()"),
            (
                "std::map<int, void (*)(int)>::find(int const&)",
                "std::map<int, void (*)(int)>::find",
            ),
            ("f(int) [clone .lto_priv.0]", "f"),
            ("row_search.constprop.0", "row_search"),
            ("ut_delay'2", "ut_delay"),
            ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
            ("{anonymous}::f(int) [clone .isra.0]", "(anonymous namespace)::f"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("operator<<(X&)", "operator<<"),
            ("0x00000000005a1b20", ""),
            ("memcpy@GLIBC_2.2.5", "memcpy"),
            ("???", ""),
            ("MYSQLparse(THD*)", "MYSQLparse"),
            ("_ZN3foo", "_ZN3foo"),
            ("_ZN4JOIN8optimizeEv.part.0", "JOIN::optimize"),
            ("_RNvNtCs5l0EXMQXRMU_4core3fmt5write", "core::fmt::write"),
        ] {
            assert_eq!(plain_name(name), plain, "{name}");
        }
    }

    proptest! {
        /// Whatever stands in the file: an answer or a refusal.
        #[test]
        fn no_file_makes_it_panic(
            at in 0..SMALL.len(),
            length in 0_usize..20,
            noise in "[-+*()=:0-9a-zA-Zü<>' \n]{0,20}",
        ) {
            let end = (at + length).min(SMALL.len());
            let text = format!("{}{noise}{}", &SMALL[..at], &SMALL[end..]);
            if let Ok(profile) = parse(&text) {
                let own: u64 = profile.functions.values().map(|cost| cost.own).sum();
                prop_assert_eq!(own, profile.total);
            }
            let _ = (parse(&noise), plain_name(&noise), is_whole(&noise));
        }
    }
}
