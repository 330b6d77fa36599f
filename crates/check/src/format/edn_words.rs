//! Words of EDN by what they stand for: what Clojure has for equal is written in one way.
//!
//! ```text
//!   1  +1  1N  0x1  2r1       1          1.0  1.00  10e-1      1.0
//!   2/4                       1/2        1.50M                 1.5M
//!   \a  \u0061  \o141         \a         "a"  "\u0061"         a
//!   #uuid "0A…"               #uuid "0a…"     #inst "…00.500-00:00"   #inst "…00.5Z"
//! ```
//!
//! `1`, `1.0` and `1M` are three values for Clojure, and here. What Clojure refuses, and what its
//! readers and others read in different ways, is refused: a zero before digits, which makes them
//! octal, and instants that are not in UTC.
//!
//! Source: `LispReader` and `EdnReader`, <https://clojure.org/reference/reader>.

use std::borrow::Cow;

/// Names of characters that have no look.
const NAMED: [(&str, char); 6] = [
    ("newline", '\n'),
    ("space", ' '),
    ("tab", '\t'),
    ("return", '\r'),
    ("backspace", '\u{8}'),
    ("formfeed", '\u{c}'),
];
/// What stands behind a backslash in a string.
const ESCAPES: [(char, char); 7] = [
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('b', '\u{8}'),
    ('f', '\u{c}'),
    ('"', '"'),
    ('\\', '\\'),
];
/// What the digits of a moment look like, up to its second.
const SECOND: &str = "0000-00-00T00:00:00";

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number in one way, or a symbol as it is written.
///
/// # Errors
/// A sentence: it begins as a number, and is none that has one meaning.
pub(super) fn canonical_atom(word: &str) -> Result<Cow<'_, str>, String> {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(word.into());
    }
    let digits = unsigned.strip_suffix('N').unwrap_or(unsigned);
    let sign = if word.starts_with('-') { "-" } else { "" };
    if are_digits(digits) {
        return canonical_whole_number(word, digits).map(Cow::Borrowed);
    }
    if let Some(number) = number_in_base(unsigned) {
        let number = number.ok_or_else(|| format!("{word} has digits that its base has not"))?;
        return Ok(if number == 0 { "0".into() } else { format!("{sign}{number}").into() });
    }
    if let Some((above, below)) = unsigned.split_once('/')
        && are_digits(above)
        && are_digits(below)
    {
        let ratio = reduced_ratio(above, below).ok_or_else(|| format!("{word} is no ratio"))?;
        return Ok(if ratio == "0" { ratio.into() } else { format!("{sign}{ratio}").into() });
    }
    match unsigned.strip_suffix('M') {
        Some(decimal) if is_decimal(decimal) => {
            let digits = canonical_decimal(decimal).ok_or_else(|| {
                format!("{word} has an exponent and all of its digits; write it without one")
            })?;
            Ok(if digits == "0M" { digits.into() } else { format!("{sign}{digits}").into() })
        }
        None if is_decimal(unsigned) => Ok(canonical_double(word).into()),
        _ => Ok(word.into()),
    }
}

/// A whole number without the mark of its precision and without a plus.
fn canonical_whole_number<'a>(word: &'a str, digits: &'a str) -> Result<&'a str, String> {
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(format!(
            "{word} is no number of EDN, and Clojure reads it in another base, or not at all; \
             write it in decimal digits, without a zero before them"
        ));
    }
    Ok(if word.starts_with('-') && digits != "0" { &word[..=digits.len()] } else { digits })
}

/// `0x1f` and `2r101`: the number, `None` within if it is too large or its base has no such digit.
fn number_in_base(unsigned: &str) -> Option<Option<u128>> {
    let (base, digits) = unsigned.split_once(['x', 'X', 'r', 'R'])?;
    let is_hexadecimal = unsigned[base.len()..].starts_with(['x', 'X']);
    let base: u32 = match base {
        "0" if is_hexadecimal => 16,
        base if !is_hexadecimal && base.len() <= 2 => base.parse().ok()?,
        _ => return None,
    };
    let digits = if is_hexadecimal { digits.strip_suffix('N').unwrap_or(digits) } else { digits };
    if !(2..=36).contains(&base) || digits.is_empty() || digits.starts_with('+') {
        return None;
    }
    Some(u128::from_str_radix(digits, base).ok())
}

/// `2/4` as `1/2`, and `4/2` as `2`; `None` if it is divided by 0, or too long.
fn reduced_ratio(above: &str, below: &str) -> Option<String> {
    let (above, below): (u128, u128) = (above.parse().ok()?, below.parse().ok()?);
    let (mut common, mut rest) = (above, below);
    while rest != 0 {
        (common, rest) = (rest, common % rest);
    }
    match below.checked_div(common)? {
        0 => None,
        1 => Some((above / common).to_string()),
        below => Some(format!("{}/{below}", above / common)),
    }
}

/// Whether it is digits, with a point, an exponent, or both.
fn is_decimal(unsigned: &str) -> bool {
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    are_digits(whole)
        && (fraction.is_empty() || are_digits(fraction))
        && are_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
}

/// A decimal of any precision, without zeros that change nothing.
fn canonical_decimal(decimal: &str) -> Option<String> {
    if decimal.contains(['e', 'E']) {
        return None;
    }
    let (whole, fraction) = decimal.split_once('.').unwrap_or((decimal, ""));
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{whole}M") } else { format!("{whole}.{fraction}M") })
}

/// The double that a number with a point is read as.
fn canonical_double(word: &str) -> String {
    match word.parse::<f64>() {
        Ok(0.0) => "0.0".to_owned(),
        Ok(number) if number.is_finite() => format!("{number:?}"),
        _ if word.starts_with('-') => "##-Inf".to_owned(),
        _ => "##Inf".to_owned(),
    }
}

/// The character that is called so behind a backslash, with its backslash.
///
/// # Errors
/// A sentence: none is called so.
pub(super) fn canonical_character(name: &str) -> Result<String, String> {
    let mut letters = name.chars();
    let known = match (letters.next(), letters.as_str()) {
        (Some(letter), "") => Some(letter),
        (Some('u'), digits) if digits.len() == 4 => u32::from_str_radix(digits, 16)
            .ok()
            .filter(|_| !digits.starts_with('+'))
            .and_then(char::from_u32),
        (Some('o'), digits) => octal_character(digits),
        _ => NAMED.iter().find(|(known, _)| *known == name).map(|(_, letter)| *letter),
    };
    match known {
        None => Err(format!("\\{name} is no character of EDN")),
        Some(letter) if letter.is_control() || letter.is_whitespace() => {
            Ok(format!("\\u{:04x}", u32::from(letter)))
        }
        Some(letter) => Ok(format!("\\{letter}")),
    }
}

/// One to three octal digits, up to `377`.
fn octal_character(digits: &str) -> Option<char> {
    let is_octal = (1..=3).contains(&digits.len()) && are_digits(digits);
    let number = is_octal.then(|| u32::from_str_radix(digits, 8).ok()).flatten();
    number.filter(|number| *number <= 0o377).and_then(char::from_u32)
}

/// What a string holds that is written so between its quotes.
///
/// # Errors
/// A sentence: a backslash stands before what has no meaning behind one.
pub(super) fn string_content(written: &str) -> Result<Cow<'_, str>, String> {
    let Some(first) = written.find('\\') else { return Ok(written.into()) };
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    let mut at = Some(first);
    while let Some(place) = at {
        text.push_str(&rest[..place]);
        let (letter, length) = escaped_character(&rest[place + 1..]).ok_or_else(|| {
            let told: String = rest[place..].chars().take(6).collect();
            format!("a string has {told:?}, and EDN has no such escape; a backslash is two there")
        })?;
        text.push(letter);
        rest = &rest[place + 1 + length..];
        at = rest.find('\\');
    }
    text.push_str(rest);
    Ok(text.into())
}

/// The character with which a text behind a backslash begins, and the bytes that tell it.
fn escaped_character(text: &str) -> Option<(char, usize)> {
    let first = text.chars().next()?;
    if let Some((_, letter)) = ESCAPES.iter().find(|(known, _)| *known == first) {
        return Some((*letter, 1));
    }
    if first != 'u' {
        let length = text.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        return octal_character(&text[..length]).map(|letter| (letter, length));
    }
    // Clojure's characters are halves of the ones that need more than four digits.
    let high = utf16_unit(text)?;
    if let Some(letter) = char::from_u32(u32::from(high)) {
        return Some((letter, 5));
    }
    let low = utf16_unit(text[5..].strip_prefix('\\')?)?;
    let letter = char::decode_utf16([high, low]).next()?.ok()?;
    Some((letter, 11))
}

/// The number of `uXXXX`.
fn utf16_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    let are_all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    are_all.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

/// A word with its tag; `text` is the word, and `notation` how Clojure writes it.
///
/// # Errors
/// A sentence: it is an instant that is not written in UTC.
pub(super) fn tagged_word(tag: &str, text: &str, notation: &str) -> Result<String, String> {
    match tag {
        "uuid" => Ok(format!("#uuid {}", notation.to_ascii_lowercase())),
        "inst" => {
            moment_in_utc(text).map(|moment| format!("#inst \"{moment}\"")).ok_or_else(|| {
                format!(
                    "{notation} is no instant in UTC, such as \"2026-01-02T03:04:05.678-00:00\""
                )
            })
        }
        tag => Ok(format!("#{tag} {notation}")),
    }
}

/// A moment in UTC without the zeros that end its fraction.
fn moment_in_utc(text: &str) -> Option<String> {
    let (second, rest) = text.split_at_checked(SECOND.len())?;
    let mut pairs = second.bytes().zip(SECOND.bytes());
    if !pairs.all(|(one, like)| if like == b'0' { one.is_ascii_digit() } else { one == like }) {
        return None;
    }
    let fraction = ["Z", "-00:00", "+00:00"].iter().find_map(|zone| rest.strip_suffix(zone))?;
    match fraction.strip_prefix('.') {
        None if fraction.is_empty() => Some(format!("{second}Z")),
        Some(digits) if are_digits(digits) => match digits.trim_end_matches('0') {
            "" => Some(format!("{second}Z")),
            digits => Some(format!("{second}.{digits}Z")),
        },
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What Clojure 1.11 has for equal, in lines; those of two lines are not equal there.
    #[test]
    fn equal_numbers_are_written_in_one_way_and_others_in_another() {
        let lines = [
            &["1", "+1", "1N", "0x1", "0X01", "2r1", "36r1", "2/2", "+4/4"][..],
            &["-1", "-1N", "-0x1", "-2r1", "-3/3"],
            &["0", "-0", "+0", "0N", "-0x0", "0/7", "-0/7"],
            &["16", "0x10", "0x10N", "16r10", "+16"],
            &["1.0", "1.", "1.00", "10e-1", "+1.0", "1e0", "1E+0", "01.0", "0.1e1"],
            &["0.0", "-0.0", "0e5", "0."],
            &["0.1", "0.10000000000000001", "1e-1"],
            &["1M", "1.0M", "1.00M", "01M", "+1M"],
            &["-1.5M", "-1.50M"],
            &["0M", "-0M", "0.00M"],
            &["1/2", "2/4", "+3/6", "050/100"],
            &["-1/2", "-2/4"],
            &["##Inf", "1e400"],
            &["99999999999999999999", "+99999999999999999999N"],
            &["a"],
            &["+"],
            &["-"],
            &["-a"],
            &["2026-01-02"],
            &["100r1"],
            &["1r"],
            &["1.5N"],
        ];
        assert_one_of_each_line(&lines, |word| canonical_atom(word).unwrap().into_owned());
    }

    /// What stands in one line is written in one way, and in another one than the other lines.
    pub(in crate::format) fn assert_one_of_each_line(
        lines: &[&[&str]],
        write: impl Fn(&str) -> String,
    ) {
        let mut seen = std::collections::HashSet::new();
        for line in lines {
            let all: Vec<String> = line.iter().map(|text| write(text)).collect();
            assert!(all.iter().all(|text| *text == all[0]), "{line:?}: {all:?}");
            assert!(seen.insert(all[0].clone()), "{line:?} is another line's: {}", all[0]);
        }
    }

    /// Clojure's `(clojure.edn/read-string "010")` is 8: a bank of 45 and 55 was one of 37 and 45.
    #[test]
    fn numbers_that_are_read_in_two_ways_are_refused() {
        for word in ["010", "08", "+01", "-007", "01N"] {
            let wrong = canonical_atom(word).unwrap_err();
            assert!(wrong.contains("no number of EDN"), "{word}: {wrong}");
        }
        for word in ["2r2", "0xg", "0x1ffffffffffffffffffffffffffffffffff", "1/0", "1e5M"] {
            assert!(canonical_atom(word).is_err(), "{word}");
        }
    }

    #[test]
    fn characters_and_strings_are_what_they_hold() {
        for (names, letter) in [
            (&["a", "u0061", "o141"][..], "\\a"),
            (&["newline", "u000a", "o12", "o012"], "\\u000a"),
            (&["space", "u0020", " "], "\\u0020"),
            (&["u", "u0075"], "\\u"),
            (&["o"], "\\o"),
            (&["(", "u0028"], "\\("),
            (&["\\", "o134"], "\\\\"),
            (&["é", "u00e9"], "\\é"),
        ] {
            for name in names {
                assert_eq!(canonical_character(name).as_deref(), Ok(letter), "{name}");
            }
        }
        for none in ["", "ab", "u61", "u+061", "ud800", "o8", "o400", "Newline"] {
            assert!(canonical_character(none).is_err(), "{none}");
        }
        for (written, held) in [
            ("plain é", "plain é"),
            (r"a\u0061\141\tb\\n\0", "aaa\tb\\n\0"),
            (r#"\"\b\f\r\n"#, "\"\u{8}\u{c}\r\n"),
            (r"\ud83d\ude00é\1234", "😀éS4"),
        ] {
            assert_eq!(string_content(written).as_deref(), Ok(held), "{written}");
        }
        for none in [r"\d", r"\u12", r"\ud83d", r"\ud83d\u0061", r"\9", r"\477", "\\", r"\ué000"] {
            assert!(string_content(none).is_err(), "{none}");
        }
    }

    #[test]
    fn a_word_and_its_tag_are_one() {
        let told = |tag, text: &str| tagged_word(tag, text, &format!("{text:?}"));
        assert_eq!(told("uuid", "0A-b").as_deref(), Ok("#uuid \"0a-b\""));
        assert_eq!(told("foo", "A").as_deref(), Ok("#foo \"A\""));
        for one in ["05.500-00:00", "05.5Z", "05.50000+00:00"] {
            let moment = format!("2026-01-02T03:04:{one}");
            assert_eq!(told("inst", &moment).as_deref(), Ok("#inst \"2026-01-02T03:04:05.5Z\""));
        }
        for whole in ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000-00:00"] {
            assert_eq!(told("inst", whole).as_deref(), Ok("#inst \"2026-01-02T03:04:05Z\""));
        }
        for none in
            ["2026", "2026-01-02T03:04:05", "2026-01-02T03:04:05+01:00", "2026-01-02T03:04:05.Z"]
        {
            assert!(told("inst", none).is_err(), "{none}");
        }
    }
}
