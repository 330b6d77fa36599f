//! Names as a linker has them, written as people write them, to a limit.
//!
//! A name may refer to its own parts: of two hundred bytes become half a gigabyte where each part
//! is twice the one before. So writing ends where nobody reads on.

use std::fmt::{self, Write as _};

/// Bytes of a name that is written out; templates of C++ have some thousand.
pub const MANGLED_MOST: usize = 16 << 10;
/// Bytes of what is written; of it less is shown.
const WRITTEN_MOST: usize = 16 << 10;
/// How a linker's names begin: those of C++ and older Rust, with the sign that macOS puts before
/// all, of newer Rust, and of what runs before `main`.
const BEGINNINGS: [&str; 5] = ["_Z", "__Z", "_R", "__R", "_GLOBAL_"];

/// The language that a function is written in, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceLanguage {
    /// The form of the name shows it.
    Unknown,
    /// Rust.
    Rust,
    /// C++.
    Cpp,
    /// One whose names are not mangled.
    Other,
}

/// A name without its mangling: that of its language, or where that is not known of the one that
/// its form shows. Of one that has no end there is the beginning; what is no mangled name, or too
/// long for one, stays.
pub fn demangle_name(name: &str, language: SourceLanguage) -> String {
    let is_mangled = BEGINNINGS.iter().any(|begin| name.starts_with(begin));
    let text = (is_mangled && name.len() <= MANGLED_MOST).then(|| match language {
        SourceLanguage::Unknown => of_rust(name).or_else(|| of_cpp(name)),
        SourceLanguage::Rust => of_rust(name),
        SourceLanguage::Cpp => of_cpp(name),
        SourceLanguage::Other => None,
    });
    text.flatten().unwrap_or_else(|| name.to_owned())
}

/// The beginning of a text, of so many bytes at most.
pub fn text_beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(crate) fn of_rust(name: &str) -> Option<String> {
    let symbol = rustc_demangle::try_demangle(name).ok()?;
    let mut written = BoundedText::default();
    let done = write!(written, "{symbol:#}");
    written.after(done)
}

fn of_cpp(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let mut written = BoundedText::default();
    let done = symbol.structured_demangle(&mut written, &cpp_demangle::DemangleOptions::default());
    written.after(done)
}

/// The beginning of a text; whoever writes more gets an error, and ends.
#[derive(Default)]
struct BoundedText {
    text: String,
    is_full: bool,
}

impl BoundedText {
    /// What is there after it was written; nothing where that failed for another reason.
    fn after(self, done: fmt::Result) -> Option<String> {
        (done.is_ok() || self.is_full).then_some(self.text)
    }
}

impl fmt::Write for BoundedText {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let room = WRITTEN_MOST - self.text.len();
        if !self.is_full && piece.len() <= room {
            self.text.push_str(piece);
            return Ok(());
        }
        if !self.is_full {
            self.text.push_str(text_beginning(piece, room));
        }
        self.is_full = true;
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `pair<pair<…, …>, pair<…, …>>`, so many deep: each level writes twice the one before.
    fn doubled(levels: u32) -> String {
        let digits = |mut number: u32| {
            let mut text = Vec::new();
            loop {
                text.push(char::from_digit(number % 36, 36).unwrap().to_ascii_uppercase());
                number /= 36;
                if number == 0 {
                    break text.iter().rev().collect::<String>();
                }
            }
        };
        let mut name = "_Z1fSt4pairIiiE".to_owned();
        for level in 0..levels {
            let part = format!("S{}_", digits(level));
            name.push_str(&format!("S_I{part}{part}E"));
        }
        name
    }

    #[test]
    fn a_name_without_end_is_written_to_a_limit() {
        let short = demangle_name(&doubled(3), SourceLanguage::Unknown);
        assert!(short.starts_with("f(std::pair<int, int>") && short.ends_with(')'), "{short}");
        // Of this one there would be 578 MB.
        let name = doubled(30);
        assert!(name.len() < 400, "{}", name.len());
        for language in [SourceLanguage::Unknown, SourceLanguage::Cpp] {
            let text = demangle_name(&name, language);
            assert!(text.starts_with("f(std::pair<int, int>"), "{text:.60}");
            assert!((WRITTEN_MOST - 4..=WRITTEN_MOST).contains(&text.len()), "{}", text.len());
        }
    }

    #[test]
    fn what_is_no_mangled_name_stays() {
        let demangle = |name: &str| demangle_name(name, SourceLanguage::Unknown);
        for name in ["main", "d", "_start", "f<int>", "_Z", "_R", "RB_", "ZN4main4workEv"] {
            assert_eq!(demangle(name), name);
        }
        let long = format!("_Z{}{}v", MANGLED_MOST, "a".repeat(MANGLED_MOST));
        assert_eq!(demangle(&long), long);
        assert_eq!(demangle("_ZN4main4workEv"), "main::work()");
        let of_c = demangle_name("_ZN4main4workEv", SourceLanguage::Other);
        assert_eq!(of_c, "_ZN4main4workEv");
        assert_eq!(demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangle("_RNvNtCs5l0EXMQXRMU_4core3fmt5write"), "core::fmt::write");
    }
}
