//! EDN, the notation of Clojure's data, as far as histories use it.
//!
//! ```text
//!   nil  true  -12  1.5  1/2  \c  "text"  :keyword  symbol  (list)  [vector]  #{set}  {:a map}
//!   #jepsen.history.Op{:tagged 1}   #uuid "…"   #_ discarded   ; comment   , is a space
//! ```
//!
//! What Clojure has for equal is one value here, however it is written ([`super::edn_words`]): sets
//! and maps are kept in one order, and a list is the vector of its items. The tag of a collection
//! is left out; that of a word is a part of it. Source: <https://github.com/edn-format/edn>.

use std::borrow::Cow;

use dbdyno_json::stands_twice;

use super::edn_words::{canonical_atom, canonical_character, string_content, tagged_word};
use crate::bad_input::{BadInput, bad_input_at};
use crate::builder::NameForm;

/// Data within data at most: deeper ones are refused before they use up the stack.
const DEPTH_AT_MOST: usize = 64;
/// Values within one at most: with their vectors they take some 512 MiB, whatever they are.
const VALUES_AT_MOST: usize = 3_000_000;
/// What follows two signs instead of a tag: numbers that have no digits.
const WITHOUT_DIGITS: [&str; 3] = ["#Inf", "#-Inf", "#NaN"];

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edn<'a> {
    Nil,
    /// `:name`, without the colon.
    Keyword(&'a str),
    /// A number, a symbol, a character, `true` or `false`, or a word with its tag.
    Atom(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
    /// A list or vector.
    Items(Vec<Edn<'a>>),
    /// In rising order.
    Set(Vec<Edn<'a>>),
    /// In the order of the keys.
    Map(Vec<(Edn<'a>, Edn<'a>)>),
}

impl<'a> Edn<'a> {
    /// What a map has under a keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<&Edn<'a>> {
        let Edn::Map(pairs) = self else { return None };
        pairs.iter().find(|(key, _)| *key == Edn::Keyword(keyword)).map(|(_, value)| value)
    }

    /// The items of a list or vector. Those of a set have no order, and mean something else.
    pub(super) fn as_items(&self) -> Option<&[Edn<'a>]> {
        match self {
            Edn::Items(items) => Some(items),
            _ => None,
        }
    }

    /// What is one word, without what shows its form.
    pub(super) fn as_word(&self) -> Option<&str> {
        match self {
            Edn::Keyword(word) => Some(word),
            Edn::Atom(word) | Edn::Text(word) => Some(word),
            Edn::Nil => Some("nil"),
            Edn::Items(_) | Edn::Set(_) | Edn::Map(_) => None,
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

    /// A word without what shows its form, or a collection as Clojure writes it.
    pub(super) fn to_text(&self) -> String {
        self.as_word().map_or_else(|| self.to_notation(), str::to_owned)
    }

    /// As Clojure writes it: equal values have one notation, and others another.
    pub(super) fn to_notation(&self) -> String {
        let many =
            |items: &[Edn<'_>]| items.iter().map(Edn::to_notation).collect::<Vec<_>>().join(" ");
        match self {
            Edn::Nil => "nil".to_owned(),
            Edn::Keyword(word) => format!(":{word}"),
            Edn::Atom(word) => word.to_string(),
            Edn::Text(text) => format!("{text:?}"),
            Edn::Items(items) => format!("[{}]", many(items)),
            Edn::Set(items) => format!("#{{{}}}", many(items)),
            Edn::Map(pairs) => {
                let pair = |(key, value): &(Edn<'_>, Edn<'_>)| {
                    format!("{} {}", key.to_notation(), value.to_notation())
                };
                format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// The word that a map has under a keyword; `None` if it has nothing there.
    ///
    /// # Errors
    /// A sentence: something else stands there.
    pub(super) fn get_word(&self, keyword: &str) -> Result<Option<&str>, String> {
        match self.get(keyword) {
            None | Some(Edn::Nil) => Ok(None),
            Some(other) => match other.as_word() {
                Some(word) => Ok(Some(word)),
                None => Err(format!(":{keyword} is {}, and no word", other.to_notation())),
            },
        }
    }

    /// The whole number from 0 that a map has under a keyword; `None` if it has nothing there, or
    /// -1, which is Jepsen's word for that.
    ///
    /// # Errors
    /// A sentence: something else stands there.
    pub(super) fn get_count(&self, keyword: &str) -> Result<Option<u64>, String> {
        match self.get(keyword) {
            None | Some(Edn::Nil) => Ok(None),
            Some(Edn::Atom(word)) if word == "-1" => Ok(None),
            Some(Edn::Atom(word)) if word.parse::<u64>().is_ok() => Ok(word.parse().ok()),
            Some(other) => {
                Err(format!(":{keyword} is {}, and no whole number from 0", other.to_notation()))
            }
        }
    }
}

/// A byte of a text, with its line and column from 1.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    line: usize,
    column: usize,
}

impl Default for Place {
    fn default() -> Place {
        Place { at: 0, line: 1, column: 1 }
    }
}

/// Reads one value after the other.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The place that was counted last.
    known: Place,
    /// The end of the list or vector that is being read, an item after the other.
    end: Option<u8>,
    /// How many values the one that is being read may still have in it.
    left: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, known: Place::default(), end: None, left: VALUES_AT_MOST }
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
        let known = if at < self.known.at { Place::default() } else { self.known };
        let Place { at: begin, mut line, mut column } = known;
        let passed = &self.text[begin..at];
        let (lines, last) = match passed.rfind('\n') {
            Some(end) => (passed[..=end].matches('\n').count(), &passed[end + 1..]),
            None => (0, passed),
        };
        if lines > 0 {
            (line, column) = (line + lines, 1);
        }
        column += last.chars().count();
        self.known = Place { at, line, column };
        (line, column)
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
                    // A carriage return ends a comment as well, for Clojure's readers.
                    let mut rest = bytes[self.at..].iter();
                    let end = rest.position(|byte| matches!(byte, b'\n' | b'\r'));
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
            Some(b'#') => self.tagged_value(depth),
            Some(b'\\') => self.character_value(),
            Some(b':') => {
                self.at += 1;
                match self.token() {
                    "" => self.bad("a colon without a name"),
                    word => Ok(Edn::Keyword(word)),
                }
            }
            Some(other) => {
                let begin = self.at;
                match self.token() {
                    "" => self.bad(format!("{} stands where a value should be", char::from(other))),
                    "nil" => Ok(Edn::Nil),
                    word => self.word_at(begin, canonical_atom(word)).map(Edn::Atom),
                }
            }
        }
    }

    /// What a word stands for, or what is wrong with it and where it begins.
    fn word_at<T>(&mut self, begin: usize, word: Result<T, String>) -> Result<T, BadInput> {
        word.or_else(|what| {
            self.at = begin;
            self.bad(what)
        })
    }

    /// A set, a number without digits, or a value behind a tag.
    fn tagged_value(&mut self, depth: usize) -> Result<Edn<'a>, BadInput> {
        let begin = self.at;
        self.at += 1;
        if self.peek() == Some(b'{') {
            return self.set_value(depth);
        }
        let tag = self.token();
        if tag.is_empty() || tag.starts_with('#') {
            if WITHOUT_DIGITS.contains(&tag) {
                return Ok(Edn::Atom(self.text[begin..self.at].into()));
            }
            self.at = begin;
            return self.bad("# stands where a value should be");
        }
        self.skip(depth)?;
        let value = self.value(depth + 1)?;
        match value {
            // Its keys are others: they are in the namespace that is the tag.
            Edn::Map(_) if tag.starts_with(':') => {
                Ok(Edn::Atom(format!("#{tag}{}", value.to_notation()).into()))
            }
            Edn::Items(_) | Edn::Set(_) | Edn::Map(_) => Ok(value),
            word => {
                let word =
                    tagged_word(tag, word.as_word().unwrap_or_default(), &word.to_notation());
                self.word_at(begin, word).map(|word| Edn::Atom(word.into()))
            }
        }
    }

    /// A backslash, the character behind it, and what may follow that.
    fn character_value(&mut self) -> Result<Edn<'a>, BadInput> {
        let begin = self.at;
        let rest = &self.text[begin + 1..];
        self.at += 1 + rest.chars().next().map_or(0, char::len_utf8);
        self.token();
        let name = &self.text[begin + 1..self.at];
        self.word_at(begin, canonical_character(name)).map(|word| Edn::Atom(word.into()))
    }

    /// A set, of which the sign has been read.
    fn set_value(&mut self, depth: usize) -> Result<Edn<'a>, BadInput> {
        let begin = self.at - 1;
        let mut items = self.many(b'}', depth)?;
        items.sort_unstable();
        if let Some(both) = items.windows(2).find(|both| both[0] == both[1]) {
            self.at = begin;
            return self.bad(format!("a set has {} twice", both[0].to_notation()));
        }
        Ok(Edn::Set(items))
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
        let mut pairs = Vec::new();
        loop {
            self.skip(depth)?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                break;
            }
            let begin = self.at;
            let key = self.value(depth + 1)?;
            self.skip(depth)?;
            if self.peek() == Some(b'}') {
                self.at += 1;
                return self.bad("a map ends after a key without a value");
            }
            pairs.push((key, self.value(depth + 1)?, begin));
        }
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        let twice = pairs.windows(2).filter(|both| both[0].0 == both[1].0);
        if let Some([_, (key, _, begin)]) = twice.min_by_key(|both| both[1].2) {
            self.at = *begin;
            return self.bad(stands_twice(&key.to_text()));
        }
        Ok(Edn::Map(pairs.into_iter().map(|(key, value, _)| (key, value)).collect()))
    }

    fn string(&mut self) -> Result<Edn<'a>, BadInput> {
        let first = self.at + 1;
        let mut is_escaped = false;
        for (place, byte) in self.text.as_bytes()[first..].iter().enumerate() {
            match byte {
                b'"' if !is_escaped => {
                    self.at = first + place + 1;
                    let text = string_content(&self.text[first..first + place]);
                    return self.word_at(first - 1, text).map(Edn::Text);
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
        let end = rest.find(ends_word).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
}

/// Whether a text is one word from its beginning to its end.
pub(super) fn is_word(text: &str) -> bool {
    !text.contains(ends_word)
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '"' | '(' | ')' | '[' | ']' | '{' | '}')
}

#[cfg(test)]
mod tests {
    use super::super::edn_words::tests::assert_one_of_each_line;
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

    fn one(text: &str) -> Edn<'_> {
        Reader::new(text).next().unwrap().unwrap().0
    }

    #[test]
    fn values_are_read_and_what_is_no_value_passed_over() {
        let text = "; head\n#a.b{:k [1, -2N \"x\\\"y\"] #_ gone :n nil} (:a b #{})";
        let mut reader = Reader::new(text);
        let (map, line, column) = reader.next().unwrap().unwrap();
        assert_eq!((line, column), (2, 1));
        let items = map.get("k").unwrap().as_items().unwrap();
        assert_eq!(
            items,
            [Edn::Atom("1".into()), Edn::Atom("-2".into()), Edn::Text("x\"y".into())]
        );
        assert_eq!(map.get("n"), Some(&Edn::Nil));
        let (list, _, column) = reader.next().unwrap().unwrap();
        assert_eq!(list.as_items().unwrap()[2], Edn::Set(Vec::new()));
        assert_eq!(column, 41);
        assert_eq!(reader.next(), Ok(None));
    }

    /// What Clojure has for equal, in lines; those of two lines are not equal there.
    #[test]
    fn equal_values_have_one_notation_and_others_another() {
        let lines = [
            &["[1 \"a\" :b]", "(1N \"\\u0061\" , :b)", "#some.Record [0x1 \"\\141\" :b]"][..],
            &["[1 a :b]"],
            &["[1 :a b]"],
            &["[\"1 a\" :b]"],
            &["#{1 2}", "#{2 1}", "#{+2 1N}"],
            &["[1 2]"],
            &["{1 2}"],
            &["{:a 1 :b #{1 2}}", "{:b #{2 1}, :a 1}"],
            &["{:a 1 \"b\" #{1 2}}"],
            &["[\\a \\( \\newline]", "[\\u0061 \\u0028 \\o12]"],
            &["##Inf", "1e999"],
            &["##-Inf"],
            &["##NaN"],
            &["#foo \"x\"", "#foo \"\\u0078\""],
            &["#foo :x"],
            &["#foo x"],
            &["#uuid \"AB\"", "#uuid \"ab\""],
            &["#:n{:a 1}"],
            &["{:a 1}"],
            &["[#object[a.B 0x5e3f \"a.B@5e3f\"]]"],
        ];
        assert_one_of_each_line(&lines, |text| one(text).to_notation());
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
        assert_eq!(told("[1 #{2 3 +2}]"), "line 1, column 4: a set has 2 twice");
        assert!(told("{:b 1 :a 2 :a 3 :b 4}").starts_with("line 1, column 12: the name \"a\""));
        for (none, place) in
            [("[1 010]", 4), ("[\\foo]", 2), ("[\"a\\d\"]", 2), ("[# 1]", 2), ("##x", 1)]
        {
            assert!(told(none).starts_with(&format!("line 1, column {place}: ")), "{}", told(none));
        }
    }
}
