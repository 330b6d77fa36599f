//! Names of functions, without what is not of the function.
//!
//! ```text
//!   as it stands   cmp(int) [clone .constprop.3]   memcpy@@GLIBC_2.14   std::fmt::write::h0a1b…
//!   one function   cmp(int)                        memcpy               std::fmt::write
//!   plain          cmp                             memcpy               std::fmt::write
//! ```
//!
//! What compilers and linkers add says which piece or copy of a function it is, and which build:
//! two names without it that are equal are one function. Parameters and templates tell overloads
//! and instances apart; they differ from release to release, so that names without them are only
//! matched where nothing better is left.

use super::readable::{KERNEL, file_and_function};

/// What compilers put behind a dot: pieces that were split off, copies for some callers, and names
/// that became unique for the linker. GCC, and LLVM (`llvm`, `__uniq`, `__part`, `argprom`,
/// `specialized`). A piece that runs seldom (`cold`) is of the function that it was split from:
/// what it costs is what that function costs, and other builds split elsewhere or not at all.
const ADDED: [&str; 18] = [
    "part",
    "isra",
    "constprop",
    "cold",
    "hot",
    "warm",
    "unlikely",
    "lto_priv",
    "localalias",
    "lto",
    "llvm",
    "__uniq",
    "resolver",
    "eh",
    "clone",
    "__part",
    "argprom",
    "specialized",
];
/// How tools write the namespace that has no name.
const ANONYMOUS: [&str; 5] = [
    "{anonymous}::",
    "<anonymous>::",
    "`anonymous namespace'::",
    "_GLOBAL__N_1::",
    "[anonymous]::",
];
const NAMELESS: &str = "(anonymous namespace)::";
/// Features of processors by which GCC and LLVM call the copies of a function that they choose from
/// when a program begins (`target_clones`), and that nobody else calls a function.
const FEATURES: [&str; 6] = ["avx", "sse2", "sse3", "sse4", "ssse3", "bmi2"];
/// Those that stand beside such a one: `avx2_bmi_fma`.
const MORE_FEATURES: [&str; 12] = [
    "1",
    "2",
    "aes",
    "bmi",
    "f16c",
    "fma",
    "lzcnt",
    "movbe",
    "pclmul",
    "popcnt",
    "vaes",
    "vpclmulqdq",
];
/// How names of copies for models of processors begin, and for features of ARM.
const MODELS: [&str; 20] = [
    "arch_x86_64",
    "arch_haswell",
    "arch_broadwell",
    "arch_skylake",
    "arch_icelake",
    "arch_cascadelake",
    "arch_sapphirerapids",
    "arch_sandybridge",
    "arch_ivybridge",
    "arch_nehalem",
    "arch_westmere",
    "arch_core",
    "arch_znver",
    "arch_bdver",
    "cpu_power",
    "_Msve",
    "_Msme",
    "_Mdotprod",
    "_Mlse",
    "_Mfp16",
];

/// The function that a name is of, without what compilers and linkers add: the pieces into which it
/// was split, the copies for some callers, the version of a symbol, the hash of a crate.
///
/// The mark of a function of the kernel stays behind it.
pub fn one_function(name: &str) -> String {
    let (mut text, mut mark) = (name.trim(), "");
    loop {
        let of_kernel = text.strip_suffix(KERNEL).map(str::trim_end).filter(|it| !it.is_empty());
        if of_kernel.is_some() {
            mark = KERNEL;
        }
        let shorter = of_kernel.unwrap_or_else(|| without_added(text));
        if shorter == text {
            break;
        }
        text = shorter;
    }
    let text = ANONYMOUS.iter().fold(text.to_owned(), |text, form| text.replace(form, NAMELESS));
    without_hashes(&text) + mark
}

/// A name without the last thing that was added; a name that is nothing else stays.
fn without_added(name: &str) -> &str {
    let name = name.trim_end();
    let shorter = clone_of(name)
        .or_else(|| piece_of(name))
        .or_else(|| versioned(name))
        .or_else(|| legacy_hash(name));
    shorter.filter(|shorter| !shorter.is_empty()).unwrap_or(name)
}

/// `f(int) [clone .cold]` of binutils, `f(int) (.cold)` of LLVM.
fn clone_of(name: &str) -> Option<&str> {
    let (before, last) = name.rsplit_once(" [clone ").or_else(|| name.rsplit_once(" (."))?;
    (last.ends_with(']') || last.ends_with(')')).then(|| before.trim_end())
}

/// `f.part.0`, `f.cold`, `f.llvm.1234`, `f.avx2`, `f.sse4.2.1`.
fn piece_of(name: &str) -> Option<&str> {
    let (mut before, mut piece) = name.rsplit_once('.')?;
    while !piece.is_empty() && piece.bytes().all(|byte| byte.is_ascii_digit()) {
        (before, piece) = before.rsplit_once('.')?;
    }
    let is_copy = is_for_processors(piece) && !before.contains(['.', '/']);
    (is_copy || ADDED.contains(&piece)).then_some(before)
}

/// Whether a copy of a function is for some processors: `avx512f`, `sse4_2`, `arch_haswell`.
fn is_for_processors(piece: &str) -> bool {
    let mut words = piece.split('_');
    MODELS.iter().any(|model| piece.starts_with(model))
        || piece.split('_').any(is_feature)
            && words.all(|word| is_feature(word) || MORE_FEATURES.contains(&word))
}

fn is_feature(word: &str) -> bool {
    FEATURES.iter().any(|feature| word.starts_with(feature))
}

/// `memcpy@GLIBC_2.2.5`, `memcpy@@GLIBC_2.14`; what calls it from elsewhere, `memcpy@plt`, is a
/// function of its own.
fn versioned(name: &str) -> Option<&str> {
    let (before, version) = name.split_once('@')?;
    let version = version.trim_start_matches('@');
    (version != "plt"
        && !version.is_empty()
        && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)))
    .then_some(before)
}

/// `core::fmt::write::h0123456789abcdef`: what Rust's older mangling ends with.
fn legacy_hash(name: &str) -> Option<&str> {
    let (before, last) = name.rsplit_once("::")?;
    let digits = last.strip_prefix('h')?;
    (digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(before)
}

/// `core[846817f741e54dfd]::fmt::write`: what Rust's newer mangling has behind each crate.
fn without_hashes(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('[') {
        // A name that was cut has no end of it.
        let inside = rest[at + 1..].split_once(']').map_or("", |(inside, _)| inside);
        let is_hash = (10..=16).contains(&inside.len())
            && inside.bytes().all(|byte| byte.is_ascii_hexdigit())
            && inside.bytes().any(|byte| byte.is_ascii_digit());
        let is_behind_a_name = rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let until = if is_hash && is_behind_a_name { at } else { at + 1 };
        text.push_str(&rest[..until]);
        rest = if until == at { &rest[at + inside.len() + 2..] } else { &rest[until..] };
    }
    text + rest
}

/// The function that a name is, without what compilers add, parameters, templates and what it
/// returns.
pub fn plain_name(name: &str) -> String {
    let whole = one_function(name).replace(NAMELESS, "").replace("operator()", "operator_call");
    let name = whole.replace("[abi:cxx11]", "").replace("std::__cxx11::", "std::");
    // Constructors of Java, and what runs when a class is loaded.
    let name = name.replace("<init>", "{init}").replace("<clinit>", "{clinit}");
    let name = file_and_function(&name).map_or(&*name, |(_file, function)| function);
    let name = as_dotted_java(name).unwrap_or_else(|| as_older_rust(name));
    let mut text = String::with_capacity(name.len());
    // `<A as Drop>::drop` of Rust is told from others by what stands in front.
    let own_depth = u32::from(name.starts_with('<'));
    let mut depth = 0_u32;
    for c in name.chars() {
        match c {
            // `operator<` and `operator->` are names.
            '<' | '>' if text.ends_with("operator") || text.ends_with("operator-") => text.push(c),
            '<' | '(' => {
                if depth < own_depth && text.is_empty() {
                    text.push(c);
                }
                depth += 1;
            }
            '>' | ')' => {
                depth = depth.saturating_sub(1);
                if depth < own_depth && text.starts_with('<') && !text.contains('>') {
                    text.push(c);
                }
            }
            _ if depth == 0 || (depth <= own_depth && !text.contains('>')) => text.push(c),
            _ => {}
        }
    }
    let text = text.trim().trim_end_matches(" const").trim_end_matches("@plt");
    let mut pieces: Vec<&str> = text.split('.').collect();
    let is_number = |piece: &str| !piece.is_empty() && piece.bytes().all(|b| b.is_ascii_digit());
    while pieces.len() > 1 && pieces.last().is_some_and(|piece| is_number(piece)) {
        pieces.pop();
    }
    without_result(&pieces.join("."), &whole)
}

/// `java.util.Arrays.copyOf` of `java/util/Arrays.copyOf`, of `Ljava/util/Arrays;::copyOf`, as
/// files of symbols have it that Java's agents write for perf, and of `java/util/Arrays:.copyOf`,
/// which converters make of that, for in their texts `;` ends a name.
fn as_dotted_java(name: &str) -> Option<String> {
    let end = name.find([';', ':', '(', '<', ' ']).unwrap_or(name.len());
    let (class, rest) = name.split_at(end);
    let is_class = class.contains('/') || class.starts_with('L') && rest.starts_with(";::");
    if !is_class || class.starts_with('/') {
        return None;
    }
    let method = rest.trim_start_matches([';', ':', '.']);
    if method.len() == rest.len() {
        return Some(format!("{}{rest}", class.replace('/', ".")));
    }
    let class = class.strip_prefix('L').unwrap_or(class);
    // What it takes and returns is told as classes are.
    let method = method.split('(').next().unwrap_or(method);
    let is_method = method.starts_with(|c: char| c.is_alphabetic() || "_$<{".contains(c));
    is_method.then(|| format!("{}.{method}", class.replace('/', ".")))
}

/// Names of Rust's newer mangling as the older one has them: `A<u8>::new` of `<A<u8>>::new`,
/// `f<u8>` of `f::<u8>`, and closures without their numbers.
fn as_older_rust(name: &str) -> String {
    let mut text = name.to_owned();
    if let Some((owner, rest)) = owner_in_brackets(name) {
        text = format!("{owner}{rest}");
    }
    while let Some(at) = text.find("{closure#") {
        let Some(end) = text[at..].find('}') else { break };
        text.replace_range(at..=at + end, "{{closure}}");
    }
    // `f()::<lambda()>` is none of Rust.
    if text.contains("::<") && !text.contains("::<lambda") {
        text.replace("::<", "<")
    } else {
        text
    }
}

/// `A<u8>` and `::new` of `<A<u8>>::new`; `<A as B>::new` is a name of its own.
fn owner_in_brackets(name: &str) -> Option<(&str, &str)> {
    let inside = name.strip_prefix('<').filter(|it| it.starts_with(char::is_alphabetic))?;
    let mut depth = 1_u32;
    let end = inside.char_indices().find_map(|(at, c)| {
        match c {
            '<' => depth += 1,
            '>' if !inside[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let (owner, rest) = (&inside[..end], &inside[end + 1..]);
    (rest.starts_with("::") && !owner.contains(" as ")).then_some((owner, rest))
}

/// What a function returns is told of templates only, which end in their parameters. `operator
/// bool`, `<A as Drop>`, and what other languages and tools write are names with a space.
fn without_result(name: &str, whole: &str) -> String {
    if name.starts_with('<') {
        return name.to_owned();
    }
    let is_template = whole.contains('<') && whole.contains('(');
    match name.find("operator ") {
        Some(at) => {
            let before = name[..at].rsplit(' ').next().unwrap_or_default();
            format!("{before}{}", &name[at..])
        }
        None if is_template => name.rsplit(' ').next().unwrap_or_default().to_owned(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_compilers_and_linkers_add_is_not_of_the_function() {
        for (name, is) in [
            ("rec_get_offsets.part.0", "rec_get_offsets"),
            ("rec_get_offsets.part.0.isra.3", "rec_get_offsets"),
            ("cmp.constprop.0.cold", "cmp"),
            ("f.lto_priv.12", "f"),
            ("f.llvm.1234567890123", "f"),
            ("f.__uniq.123.llvm.9", "f"),
            ("f(int) [clone .part.0] [clone .cold]", "f(int)"),
            ("f(int) (.cold)", "f(int)"),
            ("memcpy@GLIBC_2.2.5", "memcpy"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("memcpy@plt", "memcpy@plt"),
            ("alloc::vec::Vec<T>::push::h0123456789abcdef", "alloc::vec::Vec<T>::push"),
            ("core[846817f741e54dfd]::fmt::write", "core::fmt::write"),
            // Cut within it, and at the end of the text, which was a panic.
            ("core[846817f741", "core[846817f741"),
            ("core[846817f741e5::fmt::write", "core[846817f741e5::fmt::write"),
            ("{anonymous}::f(int)", "(anonymous namespace)::f(int)"),
            ("_GLOBAL__N_1::f(int)", "(anonymous namespace)::f(int)"),
            ("f(int)", "f(int)"),
            ("libc.so.6", "libc.so.6"),
            ("a[3]::b", "a[3]::b"),
            ("String::append[abi:cxx11](char)", "String::append[abi:cxx11](char)"),
            ("finish_task_switch.isra.0_[k]", "finish_task_switch_[k]"),
            ("f.cold.1", "f"),
            ("f.specialized.2.argprom", "f"),
            ("dot.avx2", "dot"),
            ("dot.avx512", "dot"),
            ("dot.avx512f.0", "dot"),
            ("dot.sse4_2", "dot"),
            ("dot.sse4.2", "dot"),
            ("dot.sse4.2.1", "dot"),
            ("dot.avx2_bmi_fma", "dot"),
            ("dot.arch_x86_64_v3", "dot"),
            ("dot.arch_haswell.2", "dot"),
            ("dot.cpu_power9", "dot"),
            ("dot._MsveMdotprod", "dot"),
            ("dot._Main", "dot._Main"),
            ("config.arch_name", "config.arch_name"),
            ("dot.resolver", "dot"),
            ("dot.avx2.part.0", "dot"),
            ("dot(int) [clone .default]", "dot(int)"),
            ("github.com/x/simd.avx2", "github.com/x/simd.avx2"),
            ("java.lang.Math.fma", "java.lang.Math.fma"),
            ("events.sse", "events.sse"),
            ("dot.default", "dot.default"),
            ("f.1.2", "f.1.2"),
            (".cold", ".cold"),
            ("_[k]", "_[k]"),
            ("[unknown]", "[unknown]"),
        ] {
            assert_eq!(one_function(name), is, "{name}");
        }
    }

    #[test]
    fn plain_names_have_no_parameters_and_still_tell_functions_apart() {
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
            ("A::operator bool() const", "A::operator bool"),
            ("operator new(unsigned long)", "operator new"),
            ("void* operator new[](unsigned long)", "operator new[]"),
            ("libc.so.6", "libc.so"),
            ("Exec Query (2)", "Exec Query"),
            ("malloc [libc-2.31.so]", "malloc [libc-2.31.so]"),
            ("exec - f.rb:12", "exec - f.rb:12"),
            (
                "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
                "<alloc::vec::Vec as core::ops::Drop>::drop",
            ),
            ("<A<u8>>::new::h0123456789abcdef", "A::new"),
            ("java/util/Arrays.copyOf", "java.util.Arrays.copyOf"),
            ("Ljava/util/Arrays;::copyOf", "java.util.Arrays.copyOf"),
            ("Ljava/util/Arrays:.copyOf", "java.util.Arrays.copyOf"),
            ("java/util/Arrays:.copyOf", "java.util.Arrays.copyOf"),
            ("LMain;::main", "Main.main"),
            ("Lock::wait", "Lock::wait"),
            ("La/B;.get(Lc/D;II)Lc/D;", "a.B.get"),
            ("a.B.<init>", "a.B.{init}"),
            ("La/B;::<clinit>", "a.B.{clinit}"),
            ("lib/a.rb:12", "lib/a.rb:12"),
            ("/usr/lib/a.so", "/usr/lib/a.so"),
            ("rg`<A as B>::new", "<A as B>::new"),
            ("libc.so.1`malloc", "malloc"),
            ("mysqld!row_search_mvcc", "row_search_mvcc"),
            ("mysqld.exe!JOIN::optimize", "JOIN::optimize"),
            ("mysqld!std::vector<int,std::allocator<int> >::push_back", "std::vector::push_back"),
            ("mysqld!`anonymous namespace'::f", "f"),
            ("A::`scalar deleting destructor'", "A::`scalar deleting destructor'"),
            ("mysqld!A::`scalar deleting destructor'", "A::`scalar deleting destructor'"),
            ("save!", "save!"),
            ("block in save!", "block in save!"),
            ("User#save!", "User#save!"),
            ("A::operator!=(int)", "A::operator!="),
            ("$s4main3fooyyF", "$s4main3fooyyF"),
            ("<str>::len", "str::len"),
            ("core::ptr::drop_in_place::<u8>", "core::ptr::drop_in_place"),
            ("a::main::{closure#1}", "a::main::{{closure}}"),
            ("f(int)::<lambda(char)>", "f::"),
        ] {
            assert_eq!(plain_name(name), is, "{name}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_off_is_taken_off_once(
            name in "([a-z@.:<>()\\[\\] {}_0-9é]|_\\[k\\]|[.]part|::h0123456789abcdef){0,40}",
        ) {
            let once = one_function(&name);
            prop_assert_eq!(one_function(&once), once.clone());
            prop_assert!(once.is_empty() == name.trim().is_empty(), "{once:?}");
            let _ = plain_name(&name);
        }
    }
}
