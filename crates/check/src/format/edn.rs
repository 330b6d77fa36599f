//! EDN, the notation of Clojure's data, as far as histories use it.
//!
//! ```text
//!   nil  true  -12  1.5  "text"  :keyword  symbol  (list)  [vector]  #{set}  {:a map}
//!   #jepsen.history.Op{:tagged 1}   #_ discarded   ; comment   , is a space
//! ```
//!
//! A tag is left out and its value kept. Source: <https://github.com/edn-format/edn>.

use std::collections::HashSet;

use dbdyno_json::stands_twice;

use crate::bad_input::{BadInput, bad_input_at};
use crate::builder::NameForm;

/// Data within data at most: deeper ones are refused before they use up the stack.
const DEPTH_AT_MOST: usize = 64;
/// Values within one at most: with their vectors they take some 512 MiB, whatever they are.
const VALUES_AT_MOST: usize = 3_000_000;
/// Keys of a map of which each is held against each other one: an operation has some six.
const FEW: usize = 16;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Edn<'a> {
    Nil,
    /// `:name`, without the colon.
    Keyword(&'a str),
    /// A number, a symbol, `true` or `false`, as it is written; a whole number in one way.
    Atom(&'a str),
    /// A string, as it is written between its quotes.
    Text(&'a str),
    /// A list, vector or set.
    Items(Vec<Edn<'a>>),
    Map(Vec<(Edn<'a>, Edn<'a>)>),
}

impl<'a> Edn<'a> {
    /// What a map has under a keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<&Edn<'a>> {
        let Edn::Map(pairs) = self else { return None };
        pairs.iter().find(|(key, _)| *key == Edn::Keyword(keyword)).map(|(_, value)| value)
    }

    /// The items of a list, vector or set.
    pub(super) fn as_items(&self) -> Option<&[Edn<'a>]> {
        match self {
            Edn::Items(items) => Some(items),
            _ => None,
        }
    }

    /// How it is written, of what is one word.
    pub(super) fn as_word(&self) -> Option<&'a str> {
        match self {
            Edn::Keyword(word) | Edn::Atom(word) | Edn::Text(word) => Some(word),
            Edn::Nil => Some("nil"),
            Edn::Items(_) | Edn::Map(_) => None,
        }
    }

    /// In which form it is written.
    pub(super) fn name_form(&self) -> NameForm {
        match self {
            Edn::Text(_) => NameForm::Text,
            Edn::Keyword(_) => NameForm::Keyword,
            _ => NameForm::Bare,
        }
    }

    /// As it is written, but for spaces; what a map or tag looks like does not matter here.
    pub(super) fn to_text(&self) -> String {
        let many = |items: &[Edn<'_>]| items.iter().map(Edn::to_text).collect::<Vec<_>>().join(" ");
        match self {
            Edn::Items(items) => format!("[{}]", many(items)),
            Edn::Map(pairs) => {
                let pair = |(key, value): &(Edn<'_>, Edn<'_>)| {
                    format!("{} {}", key.to_text(), value.to_text())
                };
                format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(" "))
            }
            word => word.as_word().unwrap_or_default().to_owned(),
        }
    }

    /// A whole number from 0.
    pub(super) fn as_number(&self) -> Option<u64> {
        match self {
            Edn::Atom(word) => word.parse().ok(),
            _ => None,
        }
    }
}

/// A whole number without the mark of its precision and without a plus: `1N` and `+1` are the key
/// that `1` is, and `-0` is `0`.
fn without_mark(word: &str) -> &str {
    let number = word.strip_suffix('N').unwrap_or(word);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match number.as_bytes().first() {
        _ if !is_whole => word,
        Some(b'-') if digits != "0" => number,
        _ => digits,
    }
}

/// Whether Clojure reads a word as a number that is none of decimal digits as they stand: `010` is
/// 8 there, `0x10` and `2r1` are 16 and 1, and `08` is an error. EDN has none of them.
fn is_of_another_base(word: &str) -> bool {
    let number = word.strip_suffix('N').unwrap_or(word);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    let Some((base, rest)) = digits.split_once(['x', 'X', 'r', 'R']) else {
        let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        return is_whole && digits.len() > 1 && digits.starts_with('0');
    };
    (1..=2).contains(&base.len())
        && base.bytes().all(|byte| byte.is_ascii_digit())
        && !rest.is_empty()
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Reads one value after the other.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the line began that was counted last, and its number.
    line: (usize, usize),
    /// The end of the list or vector that is being read, an item after the other.
    end: Option<u8>,
    /// How many values the one that is being read may still have in it.
    left: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, line: (0, 1), end: None, left: VALUES_AT_MOST }
    }

    /// Bytes up to the end of the first value of the text.
    pub(super) fn first(&mut self) -> Result<usize, BadInput> {
        self.skip(0)?;
        self.value(0)?;
        Ok(self.at)
    }

    /// The next value and the line and column at which it begins, of values that follow each other
    /// and of those in one list or vector; `None` at the end.
    pub(super) fn next_item(&mut self) -> Result<Option<(Edn<'a>, usize, usize)>, BadInput> {
        loop {
            self.skip(0)?;
            match (self.peek(), self.end) {
                (None, Some(_)) => {
                    return self.bad("the file ends within a list or vector: it is cut off");
                }
                (Some(b'['), None) => self.end = Some(b']'),
                (Some(b'('), None) => self.end = Some(b')'),
                (Some(byte), Some(end)) if byte == end => self.end = None,
                _ => return self.next(),
            }
            self.at += 1;
        }
    }

    /// The next value and the line and column at which it begins; `None` at the end.
    fn next(&mut self) -> Result<Option<(Edn<'a>, usize, usize)>, BadInput> {
        self.skip(0)?;
        if self.at == self.text.len() {
            return Ok(None);
        }
        let (line, column) = self.place(self.at);
        self.left = VALUES_AT_MOST;
        Ok(Some((self.value(0)?, line, column)))
    }

    /// Line and column of a byte, from 1. Asked for in rising order it is linear in all.
    fn place(&mut self, at: usize) -> (usize, usize) {
        let (mut begin, mut number) = if at < self.line.0 { (0, 1) } else { self.line };
        while let Some(end) = self.text[begin..at].find('\n') {
            (begin, number) = (begin + end + 1, number + 1);
        }
        self.line = (begin, number);
        (number, self.text[begin..at].chars().count() + 1)
    }

    fn bad<T>(&mut self, what: impl Into<String>) -> Result<T, BadInput> {
        let at = self.at.min(self.text.len());
        let (line, column) = self.place(at);
        Err(bad_input_at(line, column, what))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over spaces, comments and what is discarded, which lies as deep as what it stands
    /// before.
    fn skip(&mut self, depth: usize) -> Result<(), BadInput> {
        let bytes = self.text.as_bytes();
        // `#_ #_ a b` discards both.
        let mut discarded = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b';' => {
                    let end = bytes[self.at..].iter().position(|byte| *byte == b'\n');
                    self.at = end.map_or(bytes.len(), |end| self.at + end);
                }
                b'#' if bytes.get(self.at + 1) == Some(&b'_') => {
                    self.at += 2;
                    discarded += 1;
                }
                b',' => self.at += 1,
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ if discarded == 0 => break,
                _ => {
                    self.value(depth + 1)?;
                    discarded -= 1;
                }
            }
        }
        match discarded {
            0 => Ok(()),
            _ => self.bad("the file ends where a value should be"),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Edn<'a>, BadInput> {
        if depth > DEPTH_AT_MOST {
            return self.bad(format!("data within data more than {DEPTH_AT_MOST} times"));
        }
        let Some(left) = self.left.checked_sub(1) else {
            return self.bad(format!("one operation with more than {VALUES_AT_MOST} values in it"));
        };
        self.left = left;
        match self.peek() {
            None => self.bad("the file ends where a value should be"),
            Some(b'[') => self.many(b']', depth).map(Edn::Items),
            Some(b'(') => self.many(b')', depth).map(Edn::Items),
            Some(b'{') => self.map(depth),
            Some(b'"') => self.string(),
            Some(b'#') => {
                self.at += 1;
                if self.peek() == Some(b'{') {
                    return self.many(b'}', depth).map(Edn::Items);
                }
                self.token();
                self.skip(depth)?;
                self.value(depth + 1)
            }
            Some(b':') => {
                self.at += 1;
                match self.token() {
                    "" => self.bad("a colon without a name"),
                    word => Ok(Edn::Keyword(word)),
                }
            }
            Some(other) => match self.token() {
                "" => self.bad(format!("{} stands where a value should be", char::from(other))),
                "nil" => Ok(Edn::Nil),
                word if is_of_another_base(word) => self.bad(format!(
                    "{word} is no number of EDN, and Clojure reads it in another base, or not at \
                     all; write it in decimal digits, without a zero before them"
                )),
                word => Ok(Edn::Atom(without_mark(word))),
            },
        }
    }

    fn many(&mut self, end: u8, depth: usize) -> Result<Vec<Edn<'a>>, BadInput> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip(depth)?;
            if self.peek() == Some(end) {
                self.at += 1;
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Edn<'a>, BadInput> {
        self.at += 1;
        let (mut pairs, mut begins) = (Vec::new(), Vec::new());
        loop {
            self.skip(depth)?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                break;
            }
            begins.push(self.at);
            let key = self.value(depth + 1)?;
            self.skip(depth)?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                return self.bad("a map ends after a key without a value");
            }
            pairs.push((key, self.value(depth + 1)?));
        }
        if let Some(twice) = twice(&pairs) {
            let key = pairs[twice].0.to_text();
            self.at = begins[twice];
            return self.bad(stands_twice(&key));
        }
        Ok(Edn::Map(pairs))
    }

    fn string(&mut self) -> Result<Edn<'a>, BadInput> {
        let first = self.at + 1;
        let mut is_escaped = false;
        for (place, byte) in self.text.as_bytes()[first..].iter().enumerate() {
            match byte {
                b'"' if !is_escaped => {
                    self.at = first + place + 1;
                    return Ok(Edn::Text(&self.text[first..first + place]));
                }
                b'\\' => is_escaped = !is_escaped,
                _ => is_escaped = false,
            }
        }
        self.bad("a string without an end")
    }

    /// Characters up to a space, a bracket or the like; empty if none is there.
    fn token(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"') || is_bracket(c))
            .unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
}

/// The first pair whose key an earlier one has: EDN has each key of a map once.
fn twice(pairs: &[(Edn<'_>, Edn<'_>)]) -> Option<usize> {
    if pairs.len() <= FEW {
        return (0..pairs.len())
            .find(|at| pairs[..*at].iter().any(|(key, _)| *key == pairs[*at].0));
    }
    let mut seen = HashSet::with_capacity(pairs.len());
    (0..pairs.len()).find(|at| !seen.insert(&pairs[*at].0))
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is discarded was passed over by a function that calls itself.
    #[test]
    fn what_is_discarded_has_a_depth_and_no_length() {
        let first = |text: &str| Reader::new(text).first();
        let many = "#_ ".repeat(100_000);
        assert!(first(&format!("{many}{}:a", "1 ".repeat(100_000))).is_ok());
        assert!(first(&many).is_err(), "nothing follows");
        assert!(first(&"#_[".repeat(100_000)).is_err());
        assert!(first("#_ #_ 1 2").is_err());
        assert_eq!(first("#_ #_ 1 2 3").unwrap(), 11);
    }

    #[test]
    fn values_are_read_and_what_is_no_value_passed_over() {
        let text = "; head\n#a.b{:k [1, -2N \"x\\\"y\"] #_ gone :n nil} (:a b #{})";
        let mut reader = Reader::new(text);
        let (map, line, column) = reader.next().unwrap().unwrap();
        assert_eq!((line, column), (2, 1));
        let items = map.get("k").unwrap().as_items().unwrap();
        assert_eq!(items, [Edn::Atom("1"), Edn::Atom("-2"), Edn::Text("x\\\"y")]);
        assert_eq!(map.get("n"), Some(&Edn::Nil));
        let (list, _, column) = reader.next().unwrap().unwrap();
        assert_eq!(list.as_items().unwrap()[2], Edn::Items(Vec::new()));
        assert_eq!(column, 41);
        assert_eq!(reader.next(), Ok(None));
    }

    #[test]
    fn a_whole_number_is_one_however_it_is_marked() {
        for (written, read) in [
            ("1N", "1"),
            ("+1", "1"),
            ("-0", "0"),
            ("-12N", "-12"),
            ("N", "N"),
            ("1.5N", "1.5N"),
            ("x1N", "x1N"),
            ("+", "+"),
        ] {
            let value = Reader::new(written).next().unwrap().unwrap().0;
            assert_eq!(value, Edn::Atom(read), "{written}");
        }
    }

    /// Clojure's `(clojure.edn/read-string "010")` is 8: a bank of 45 and 55 was one of 37 and 45.
    #[test]
    fn numbers_of_another_base_are_refused() {
        for word in ["010", "08", "+01", "-007", "01N", "0x10", "0XfN", "2r101", "36rZ", "-16rff"] {
            let wrong = Reader::new(word).next().unwrap_err().to_string();
            assert!(wrong.contains("no number of EDN"), "{word}: {wrong}");
        }
        for word in
            ["0", "-0", "10", "0N", "0.5", "1e05", "x01", "100r1", "r1", "1r", "x", "2026-01-02"]
        {
            assert!(Reader::new(word).next().is_ok(), "{word}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = |text: &str| {
            let mut reader = Reader::new(text);
            loop {
                match reader.next() {
                    Err(bad) => return bad.to_string(),
                    Ok(None) => return String::new(),
                    Ok(Some(_)) => {}
                }
            }
        };
        assert_eq!(
            told("{:a 1}\n{:a}"),
            "line 2, column 5: a map ends after a key without a value"
        );
        assert_eq!(told("1\n2\n  ]"), "line 3, column 3: ] stands where a value should be");
        assert_eq!(told("[1"), "line 1, column 3: the file ends where a value should be");
        assert_eq!(told("\"a"), "line 1, column 1: a string without an end");
        assert!(told(&"[".repeat(100)).contains("more than 64 times"));
    }
}
