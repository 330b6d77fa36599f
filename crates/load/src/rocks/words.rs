//! What the words mean.

use dbdyno_rocks::WalkDirection;

/// A statement with its parameters left out; tables by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Words<'a> {
    Create(&'a str),
    Drop(&'a str),
    IsThere(&'a str),
    Flush,
    Settings,
    Property(&'a str),
    Prepared(Verb<&'a str>),
}

/// What has parameters; `T` stands for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb<T> {
    Get(T),
    Put(T),
    Walk(T, WalkDirection, usize),
}

/// What is understood, for messages.
pub(super) const KNOWN: &str = "CREATE TABLE t, DROP TABLE t, TABLE t, FLUSH, SETTINGS, PROPERTY \
                                name, GET t ?, PUT t ? AT ?, SEEK t ? NEXT n, SEEK t ? PREV n";

impl<'a> Words<'a> {
    /// `None` for what is not understood.
    pub(super) fn from_statement(text: &'a str) -> Option<Words<'a>> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        Some(match words[..] {
            ["CREATE", "TABLE", table] => Words::Create(table),
            ["DROP", "TABLE", table] => Words::Drop(table),
            ["TABLE", table] => Words::IsThere(table),
            ["FLUSH"] => Words::Flush,
            ["SETTINGS"] => Words::Settings,
            ["PROPERTY", name] => Words::Property(name),
            ["GET", table, "?"] => Words::Prepared(Verb::Get(table)),
            ["PUT", table, "?", "AT", "?"] => Words::Prepared(Verb::Put(table)),
            ["SEEK", table, "?", way, count] => {
                let direction = match way {
                    "NEXT" => WalkDirection::Forwards,
                    "PREV" => WalkDirection::Backwards,
                    _ => return None,
                };
                Words::Prepared(Verb::Walk(table, direction, count.parse().ok()?))
            }
            _ => return None,
        })
    }
}

impl<T> Verb<T> {
    /// Parameters that it takes.
    pub(super) fn parameters(&self) -> usize {
        match self {
            Verb::Get(_) | Verb::Walk(..) => 1,
            Verb::Put(_) => 2,
        }
    }

    /// The same on a table by its number.
    pub(super) fn on_table<N>(self, number: impl FnOnce(T) -> Option<N>) -> Option<Verb<N>> {
        Some(match self {
            Verb::Get(table) => Verb::Get(number(table)?),
            Verb::Put(table) => Verb::Put(number(table)?),
            Verb::Walk(table, direction, most) => Verb::Walk(number(table)?, direction, most),
        })
    }
}

/// Bytes of a key.
pub(super) const KEY: usize = 20;
const TABLE: usize = 4;
const NUMBER: usize = 8;

/// A key as RocksDB has it.
pub(super) fn key(table: u32, number: i64) -> [u8; KEY] {
    let mut key = [b'0'; KEY];
    key[..TABLE].copy_from_slice(&table.to_be_bytes());
    // The sign's bit turned over: negative numbers come before the others.
    let ordered = number.cast_unsigned() ^ (1 << 63);
    key[TABLE..TABLE + NUMBER].copy_from_slice(&ordered.to_be_bytes());
    key
}

/// The table and the number of a key; `None` for what is no key of ours.
pub(super) fn split_key(key: &[u8]) -> Option<(u32, i64)> {
    let key: &[u8; KEY] = key.try_into().ok()?;
    let (table, rest) = key.split_first_chunk::<TABLE>()?;
    let number = rest.first_chunk::<NUMBER>()?;
    let number = (u64::from_be_bytes(*number) ^ (1 << 63)).cast_signed();
    Some((u32::from_be_bytes(*table), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_their_numbers_table_by_table() {
        let numbers = [i64::MIN, -256, -1, 0, 1, 255, 256, 1 << 62, i64::MAX];
        let keys: Vec<_> =
            (0..3).flat_map(|table| numbers.map(|number| key(table, number))).collect();
        assert!(keys.is_sorted() && keys.windows(2).all(|two| two[0] != two[1]));
        assert_eq!(split_key(&key(7, -256)), Some((7, -256)));
        assert_eq!(split_key(b"short"), None);
    }

    #[test]
    fn words_are_understood_or_not_at_all() {
        let walk = Verb::Walk("kv", WalkDirection::Backwards, 10);
        assert_eq!(Words::from_statement(" SEEK kv  ? PREV 10 "), Some(Words::Prepared(walk)));
        assert_eq!(Words::from_statement("PUT kv ? AT ?"), Some(Words::Prepared(Verb::Put("kv"))));
        for other in ["", "BEGIN", "GET kv", "GET kv ? ?", "SEEK kv ? NEXT x", "SELECT 1"] {
            assert_eq!(Words::from_statement(other), None, "{other}");
        }
    }
}
