//! Names of a text as its language has them, without what tools add.
//!
//! ```text
//!   _ZN4JOIN8optimizeEv   _RNvNtCs1_4core3fmt5write     mangled: the tool had no demangler
//!   _$LT$A$u20$as$u20$B$GT$::drop::h0123…               half: it knew C++, and this is Rust
//!   f+0x1a   f+0x1a/0x340                               how far into the function
//!   f_[i]   f_[j]   f_[0]   f_[1]                       inlined, compiled, interpreted
//!   work (app.py:12)   exec - f.rb:12   A.run:12        a line of it
//!   LazyCompile:*f   LazyCompile:~f                     by which compiler
//!   A$$Lambda$7/0x00007f01.run   $Proxy7.get            numbers that a run of Java has given
//!   __GI___libc_read   __read                           by which alias of the C library
//! ```
//!
//! None of this is of the function: one profile has it, another one of the same program has not, or
//! has other numbers. A line is taken off where something else names the function. What has no name
//! but its place, as a lambda or a frame that is a line of a file, keeps its line: two of a file
//! are two. What the kernel's functions are marked with stays, for a server may have a function of
//! the same name.

use std::borrow::Cow;

use super::libc::libc_name;
use super::mangled::{MANGLED_MOST, SourceLanguage, demangle_name, of_rust};

/// The mark of a function of the kernel.
pub(crate) const KERNEL: &str = "_[k]";
/// What tools put behind names of functions that were inlined, compiled while the program ran, and
/// interpreted, as `stackcollapse-perf.pl` and async-profiler do (its manual, option `ann`).
const MARKS: [&str; 5] = ["_[i]", "_[j]", "_[0]", "_[1]", "_[2]"];
/// What stands for a name where there is none.
const ANONYMOUS: [&str; 12] = [
    "<lambda>",
    "<listcomp>",
    "<genexpr>",
    "<dictcomp>",
    "<setcomp>",
    "(anonymous)",
    "<anonymous>",
    "[anonymous]",
    "anonymous",
    "(anonymous function)",
    "{closure}",
    "[unknown]",
];
/// How names of blocks begin that are in no method.
const ANONYMOUS_BLOCK: &str = "block in <";
/// How the names of files end that have lines.
const SOURCES: [&str; 26] = [
    "py", "pyx", "rb", "erb", "js", "mjs", "cjs", "ts", "tsx", "php", "pl", "pm", "lua", "go",
    "rs", "java", "kt", "scala", "c", "h", "cc", "cpp", "hpp", "cxx", "ic", "swift",
];
/// What V8 puts before a name.
const V8: [&str; 6] = ["LazyCompile:", "Function:", "JS:", "Script:", "Eval:", "RegExp:"];
/// Classes that Java makes while it runs, and numbers.
const NUMBERED: [&str; 4] = [
    "GeneratedMethodAccessor",
    "GeneratedConstructorAccessor",
    "GeneratedSerializationConstructorAccessor",
    "$Proxy",
];
/// The same for each lambda.
const LAMBDA: &str = "$$Lambda";
/// Things that are taken off a name, at most; tools add one or two.
const STEPS_MOST: usize = 16;
/// Digits of the address of a class, at least.
const ADDRESS_LEAST: usize = 6;

/// A name of a text as its language has it, without what its tool has added: mangling, marks,
/// offsets, lines, aliases of the C library, and numbers that were given while it ran. One that is
/// longer than any mangled name stays.
pub fn readable_name(name: &str) -> Cow<'_, str> {
    let (bare, mark) = without_marks(name.trim());
    if bare.is_empty() || bare.len() > MANGLED_MOST {
        return Cow::Borrowed(name.trim());
    }
    let mut text = Cow::Borrowed(bare);
    // The kernel has no C library: what is called like one of its functions is another one.
    let alias = if mark.is_empty() { without_alias } else { |_: &str| None };
    let steps = [demangled, without_class_numbers, without_tier, without_line, alias];
    // Each may find what another one has left.
    for _ in 0..STEPS_MOST {
        let Some(changed) = steps.iter().find_map(|step| step(&text)) else { break };
        text = Cow::Owned(without_marks(&changed).0.to_owned());
    }
    match text {
        Cow::Borrowed(text) if text.len() + mark.len() == name.len() => Cow::Borrowed(name),
        text => Cow::Owned(format!("{text}{mark}")),
    }
}

/// Whether a name shows at once that [`readable_name`] would leave it: most names do, and a profile
/// has millions.
pub fn is_plainly_readable(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is_of_linker = name.starts_with(['_', ' ']) || name.ends_with(' ');
    let has_signs = bytes.iter().any(|byte| b"$+[`!".contains(byte) || *byte < b' ');
    let has_pairs = bytes.windows(2).any(|two| match two {
        [b':', next] => next.is_ascii_digit() || b"*~^_".contains(next),
        two => two == b"0x",
    });
    !is_of_linker && !has_signs && !has_pairs && name.is_ascii() && !name.contains("Generated")
}

/// A name without marks and offsets, and the mark of the kernel if it has that.
fn without_marks(name: &str) -> (&str, &'static str) {
    let (mut name, mut mark) = (name, "");
    loop {
        let of_kernel = name.strip_suffix(KERNEL);
        if of_kernel.is_some() {
            mark = KERNEL;
        }
        let bare = of_kernel.or(MARKS.iter().find_map(|mark| name.strip_suffix(mark)));
        match bare.map(str::trim_end) {
            Some(bare) => name = bare,
            None if without_offset(name) != name => name = without_offset(name),
            None => return (name, mark),
        }
    }
}

/// `f` of `f+0x1a`, `f+0x1a/0x340` and `f+26`.
fn without_offset(name: &str) -> &str {
    let Some((before, offset)) = name.rsplit_once('+') else { return name };
    let is_offset = is_digits(offset) || offset.split('/').all(is_hex);
    let is_of_file = before.starts_with(['/', '[']) || before.contains(".so");
    let is_name = !before.is_empty() && !before.ends_with("operator") && !is_of_file;
    if is_offset && is_name { before.trim_end() } else { name }
}

/// `0x1a`
fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The file of a program and the function in it, where dtrace and tools of Windows put that before
/// it: "libc.so.1`malloc", `mysqld.exe!row_search_mvcc`. `save!` of Ruby has none, nor has
/// "A::`scalar deleting destructor'".
pub fn file_and_function(name: &str) -> Option<(&str, &str)> {
    let at = name.find(['!', '`'])?;
    let (file, function) = (&name[..at], &name[at + 1..]);
    let is_file = file.chars().all(|c| c.is_alphanumeric() || "._-+".contains(c));
    let is_function = function.starts_with(|c: char| c.is_alphanumeric() || "_~<?@$`".contains(c));
    (!file.is_empty() && is_file && is_function).then_some((file, function))
}

/// A name whose mangling was understood. Tools put a file before it, and linkers and compilers
/// something behind it.
fn demangled(name: &str) -> Option<String> {
    let at = file_and_function(name).map_or(0, |(file, _)| file.len() + 1);
    let (file, name) = name.split_at(at);
    if let Some(text) = half_demangled(name).or_else(|| without_begin_signs(name)) {
        return Some(format!("{file}{text}"));
    }
    let end = name.find(|c| !is_of_linker(c)).unwrap_or(name.len());
    let (symbol, behind) = name.split_at(end);
    let whole = demangle_name(symbol, SourceLanguage::Unknown);
    if whole != symbol {
        return Some(format!("{file}{whole}{behind}"));
    }
    // What a compiler has put behind it may be nothing that a demangler knows.
    let (symbol, piece) = symbol.split_at(symbol.find('.')?);
    let whole = demangle_name(symbol, SourceLanguage::Unknown);
    (whole != symbol).then(|| format!("{file}{whole}{piece}{behind}"))
}

/// `_$LT$A$u20$as$u20$B$GT$::drop::h0123456789abcdef`: older Rust, taken for C++. Put together as
/// its linker had it, it is read as that.
fn half_demangled(name: &str) -> Option<String> {
    let is_escaped = ["$LT$", "$GT$", "$RF$", "$BP$", "$u7b$", "$u20$"].iter();
    if name.starts_with("_Z") || !is_escaped.clone().any(|escape| name.contains(escape)) {
        return None;
    }
    let parts = name.split("::").map(|part| {
        let is_part = !part.is_empty() && part.chars().all(is_of_linker);
        is_part.then(|| format!("{}{part}", part.len()))
    });
    of_rust(&format!("_ZN{}E", parts.collect::<Option<String>>()?)).filter(|text| text != name)
}

/// `a::{{closure}}` of `a::_{{closure}}`: older Rust puts a sign before what begins with none of
/// a name, and some converters leave it.
fn without_begin_signs(name: &str) -> Option<String> {
    let begin = name.strip_prefix('_').filter(|rest| rest.starts_with(['<', '{']));
    let text = begin.unwrap_or(name).replace("::_{", "::{").replace("::_<", "::<");
    (text != name).then_some(text)
}

/// Whether a character stands in names of linkers.
fn is_of_linker(c: char) -> bool {
    c.is_alphanumeric() || "_.$".contains(c)
}

/// The function without the line of it, if it has a name.
fn without_line(name: &str) -> Option<String> {
    if let Some(inside) = name.strip_suffix(')') {
        let (function, place) = inside.rsplit_once('(')?;
        let file = before_line(place).filter(|file| is_file(file))?;
        return has_name(function).then(|| format!("{function}({file})"));
    }
    let rest = before_line(name)?;
    let at = rest.rfind([' ', ':']).map_or(0, |at| at + 1);
    let (function, last) = rest.split_at(at);
    if is_file(last) {
        let function = function.trim_end_matches([' ', ':', '-']);
        let function = function.strip_suffix(" at").unwrap_or(function);
        return has_name(function).then(|| rest.to_owned());
    }
    let ends_as_name = last.ends_with(|c: char| c.is_alphanumeric() || "_)>?!".contains(c));
    let is_thread = last.contains('/') && !last.contains('.');
    (ends_as_name && !is_thread && has_name(rest)).then(|| rest.to_owned())
}

/// What stands before `:12`, or before a line and a column, `:12:34`.
fn before_line(text: &str) -> Option<&str> {
    let once = before_number(text)?;
    Some(before_number(once).unwrap_or(once))
}

fn before_number(text: &str) -> Option<&str> {
    let (before, number) = text.rsplit_once(':')?;
    (is_digits(number) && !before.is_empty() && !before.ends_with(':')).then_some(before)
}

/// Whether something names the file of a source, not a function.
fn is_file(text: &str) -> bool {
    let is_source = text.rsplit_once('.').is_some_and(|(_, end)| SOURCES.contains(&end));
    is_source || text.starts_with("<frozen ")
}

fn has_name(function: &str) -> bool {
    let function = function.trim();
    let function = V8.iter().find_map(|kind| function.strip_prefix(kind)).unwrap_or(function);
    let function = function.trim_start_matches(['*', '~', '^', '+']).trim_end();
    // `LazyCompile: /a/script.js`: a kind alone is no name.
    let is_kind = V8.iter().any(|kind| kind.strip_suffix(':') == Some(function));
    !function.is_empty()
        && !is_kind
        && !function.starts_with(ANONYMOUS_BLOCK)
        && !ANONYMOUS.iter().any(|nobody| function.ends_with(nobody))
}

/// `LazyCompile:f` of `LazyCompile:*f`: by which of its compilers V8 had made it.
fn without_tier(name: &str) -> Option<String> {
    V8.iter().find_map(|kind| {
        let function = name.strip_prefix(kind)?.strip_prefix(['*', '~', '^', '+'])?;
        Some(format!("{kind}{}", function.trim_start_matches(['*', '~', '^', '+'])))
    })
}

/// A function of the C library under the name by which programs call it.
fn without_alias(name: &str) -> Option<String> {
    let exported = libc_name(name);
    (exported.len() < name.len()).then(|| exported.to_owned())
}

/// A name without the numbers of classes that Java makes while it runs.
fn without_class_numbers(name: &str) -> Option<String> {
    let mut text = without_class_addresses(name);
    for class in NUMBERED {
        if let Some(at) = text.find(class).map(|at| at + class.len()) {
            let digits = leading_digits(&text[at..]);
            text.replace_range(at..at + digits, "");
        }
    }
    if let Some(at) = text.find(LAMBDA).map(|at| at + LAMBDA.len()) {
        // Of a class loaded by its number: `$$Lambda$14/1831932724`.
        for sign in ['$', '/'] {
            let digits = text[at..].strip_prefix(sign).map_or(0, leading_digits);
            let end = if digits > 0 { at + 1 + digits } else { at };
            text.replace_range(at..end, "");
        }
    }
    (text != name).then_some(text)
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A name without the addresses of hidden classes: `/0x0000000800066840` of `A/0x….run`.
fn without_class_addresses(name: &str) -> String {
    let (mut text, mut done) = (String::new(), 0);
    for (at, begin) in name.match_indices("0x") {
        let digits = &name[at + begin.len()..];
        let count = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
        let Some(class) = name[..at].strip_suffix(['/', '+', '.']) else { continue };
        let is_behind_class = class.ends_with(|c: char| c.is_alphanumeric() || "_$".contains(c));
        let is_before_method = digits[count..].starts_with(['.', ';', ':']);
        if count >= ADDRESS_LEAST && is_behind_class && is_before_method && class.len() >= done {
            text.push_str(&name[done..class.len()]);
            done = at + begin.len() + count;
        }
    }
    text + &name[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{one_function, plain_name};
    use proptest::prelude::*;

    #[test]
    fn mangled_names_are_those_of_their_language() {
        for (name, is) in [
            ("_ZN4JOIN8optimizeEv", "JOIN::optimize()"),
            ("__ZN4JOIN8optimizeEv", "JOIN::optimize()"),
            ("_ZN4JOIN8optimizeEv_[i]", "JOIN::optimize()"),
            ("_ZN4JOIN8optimizeEv_[k]", "JOIN::optimize()_[k]"),
            ("_ZN4JOIN8optimizeEv+0x1a", "JOIN::optimize()"),
            ("_ZN4JOIN8optimizeEv@plt", "JOIN::optimize()@plt"),
            ("mysqld`_ZN4JOIN8optimizeEv", "mysqld`JOIN::optimize()"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.119926661", "core::fmt::write"),
            ("_RNvNtCs5l0EXMQXRMU_4core3fmt5write", "core::fmt::write"),
            (
                "_$LT$std..io..Stdout$u20$as$u20$std..io..Write$GT$::flush::h06ac14a1d1d3e45b",
                "<std::io::Stdout as std::io::Write>::flush",
            ),
            ("a::main::_$u7b$$u7b$closure$u7d$$u7d$::h06ac14a1d1d3e45b", "a::main::{{closure}}"),
            ("a::main::_{{closure}}", "a::main::{{closure}}"),
            ("_<a::B as c::D>::drop", "<a::B as c::D>::drop"),
            ("_ZN71_$LT$core..hash..sip..Hasher$LT$S$GT$5write17h22efaee90", ""),
            ("_Zebra", ""),
        ] {
            assert_eq!(readable_name(name), if is.is_empty() { name } else { is }, "{name}");
        }
        for name in ["_ZN4JOIN8optimizeEv.part.0", "_ZN4JOIN8optimizeEv.llvm.7_[i]"] {
            assert_eq!(one_function(&readable_name(name)), "JOIN::optimize()", "{name}");
        }
    }

    #[test]
    fn what_tools_add_is_not_of_the_name() {
        for (name, is) in [
            ("f_[j]", "f"),
            ("f_[0]", "f"),
            ("byte[]_[i]", "byte[]"),
            ("vfs_read+0x99/0x180_[k]", "vfs_read_[k]"),
            ("work+12", "work"),
            ("work (app.py:12)", "work (app.py)"),
            ("exec - lib/f.rb:12", "exec - lib/f.rb"),
            ("block in exec - lib/f.rb:12", "block in exec - lib/f.rb"),
            ("main.work /src/main.go:12", "main.work /src/main.go"),
            ("main:main.c:12", "main:main.c"),
            ("LazyCompile:*fib /a/script.js:3:7", "LazyCompile:fib /a/script.js"),
            ("LazyCompile:* /a/script.js:3:7", "LazyCompile: /a/script.js:3:7"),
            ("JS:* /a/script.js:99:3", "JS: /a/script.js:99:3"),
            ("java/util/Arrays.copyOf:3745", "java/util/Arrays.copyOf"),
            ("java.lang.Thread.run(Thread.java:748)", "java.lang.Thread.run(Thread.java)"),
            ("Main$$Lambda$14/0x0000000800066840.run", "Main$$Lambda.run"),
            ("Main$$Lambda$14/1831932724.run", "Main$$Lambda.run"),
            ("Main$$Lambda+0x00007f1c8c000a18.run_[j]", "Main$$Lambda.run"),
            ("Main$$Lambda.0x00007f1c8c000a18.run", "Main$$Lambda.run"),
            ("a/LambdaForm$MH/0x0000000800066840.invoke", "a/LambdaForm$MH.invoke"),
            ("sun/GeneratedMethodAccessor17.invoke", "sun/GeneratedMethodAccessor.invoke"),
            ("com.sun.proxy.$Proxy7.get", "com.sun.proxy.$Proxy.get"),
            ("__GI___libc_read", "read"),
            ("__GI___poll+0x4f_[i]", "poll"),
            ("__libc_malloc [libc-2.31.so]", "malloc [libc-2.31.so]"),
        ] {
            assert_eq!(readable_name(name), is, "{name}");
        }
    }

    /// Two of a file, or of a class, are two.
    #[test]
    fn what_tells_functions_apart_stays() {
        for name in [
            "app.rb:12",
            "lib/app.py:12",
            "<lambda> (app.py:12)",
            "<genexpr> (app.py:12)",
            "block in <main> - f.rb:12",
            "LazyCompile:anonymous /a/b.js:12:34",
            "{closure} /a/b.php:3",
            "f_[k]",
            "__poll_[k]",
            "__read (app.py)",
            "operator+",
            "libc.so.6+0x29d90",
            "/usr/sbin/mysqld+0x1234",
            "kworker/0:1",
            "swapper/0",
            "main.func1.2",
            "a$1.run",
            "Main.lambda$run$0",
            "std::vector<int>::push",
            "[unknown]",
            "$s4main3fooyyF",
            "$s4main3FooV3baryySiFTf4n_n",
            "lists:map/2",
            "0x00007f1c8c000a18",
            "_[k]",
            "",
        ] {
            assert_eq!(readable_name(name), name);
        }
    }

    /// However two builds were mangled, and whether a tool knew how, a function has one name.
    #[test]
    fn a_function_has_one_plain_name_however_it_was_mangled() {
        for (one, other) in [
            ("_ZN4JOIN8optimizeEv", "JOIN::optimize"),
            ("_ZN3foo3barEi.cold_[i]", "foo::bar"),
            (
                "_ZN5alloc3vec16Vec$LT$T$C$A$GT$4push17h0123456789abcdefE",
                "alloc::vec::Vec<T,A>::push::hfedcba9876543210",
            ),
            ("_RNvMs_NtC5alloc3vecINtB4_3VechE4push", "alloc::vec::Vec<T,A>::push"),
            ("_RINvNtC4core3ptr13drop_in_placehEC1a", "core::ptr::drop_in_place<u8>"),
            ("_ZN12_GLOBAL__N_16single", "_ZN12_GLOBAL__N_16single"),
        ] {
            let plain = |name: &str| plain_name(&readable_name(name));
            assert_eq!(plain(one), plain(other), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_readable_stays(
            name in "(_ZN|_R|__GI_|__|read|f|1a|\\$LT\\$|\\$|\\$\\$Lambda|::|[.+:/() -]|12|\
                     Generated(Constructor|Method)Accessor|0x[0-9a-f]{6}|_\\[[ijk0]\\]|py|js|\
                     JS:|[*~]|é){0,8}",
        ) {
            let once = readable_name(&name).into_owned();
            prop_assert_eq!(readable_name(&once).into_owned(), once.clone());
            prop_assert!(once.is_empty() == name.trim().is_empty(), "{once:?}");
            prop_assert!(!is_plainly_readable(&name) || once == name, "{name:?} {once:?}");
        }
    }
}
