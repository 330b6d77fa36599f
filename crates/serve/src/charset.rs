//! Characters of clients. The engine has UTF-8.

use std::borrow::Cow;

use dbdyno_wire::mysql::latin1;

/// The character set of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Latin1,
    /// `utf8mb4`, `utf8mb3`, `ascii` and `binary`: bytes go through as they are.
    Utf8,
}

/// Number of a collation of this set.
const LATIN1_SWEDISH_CI: u16 = 8;
const UTF8MB4_GENERAL_CI: u16 = 45;

impl Charset {
    /// The names that `SET NAMES` takes.
    pub(crate) const NAMES: &[&str] = &["latin1", "utf8mb4", "utf8mb3", "utf8", "ascii", "binary"];

    /// The set of this name; one that is not known is not one that could have been set.
    pub(crate) fn from_name(name: &str) -> Charset {
        if name.eq_ignore_ascii_case("latin1") { Charset::Latin1 } else { Charset::Utf8 }
    }

    /// The set to which a collation belongs that a client says it speaks (INFORMATION_SCHEMA's
    /// COLLATIONS of MySQL 8.0); the name of the set. Of all others the bytes go through.
    pub(crate) fn of_collation(collation: u16) -> &'static str {
        match collation {
            5 | 8 | 15 | 31 | 47 | 48 | 49 | 94 => "latin1",
            _ => "utf8mb4",
        }
    }

    /// A collation of the set, by number.
    pub(crate) fn collation(self) -> u16 {
        match self {
            Charset::Latin1 => LATIN1_SWEDISH_CI,
            Charset::Utf8 => UTF8MB4_GENERAL_CI,
        }
    }

    /// Bytes that a character takes at most.
    pub(crate) fn width(self) -> u32 {
        match self {
            Charset::Latin1 => 1,
            Charset::Utf8 => 4,
        }
    }

    /// What a client says, as text; `None` where it is none.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Charset::Latin1 if bytes.is_ascii() => {
                std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
            }
            Charset::Latin1 => Some(Cow::Owned(latin1::decode(bytes))),
            Charset::Utf8 => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
        }
    }

    /// Bytes of the engine as a client reads them; a character that its set does not have is a
    /// question mark, as MySQL has it.
    pub(crate) fn write(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        if self == Charset::Utf8 || bytes.is_ascii() {
            return Cow::Borrowed(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        Cow::Owned(
            text.chars().map(|character| latin1::byte_of(character).unwrap_or(b'?')).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_go_through_both_ways() {
        let latin1 = Charset::from_name("Latin1");
        assert_eq!(latin1.read(b"caf\xE9 \x80").as_deref(), Some("café €"));
        assert_eq!(latin1.write("café € ж".as_bytes()).as_ref(), b"caf\xE9 \x80 ?");
        assert_eq!(latin1.write(b"plain").as_ref(), b"plain");
        let utf8 = Charset::from_name(Charset::of_collation(255));
        assert_eq!(utf8.read("café".as_bytes()).as_deref(), Some("café"));
        assert_eq!(utf8.read(b"caf\xE9"), None);
        assert_eq!(utf8.write(b"\xFF").as_ref(), b"\xFF");
        assert_eq!(Charset::of_collation(8), "latin1");
    }
}
