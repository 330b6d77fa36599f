//! What people and programs put around a text when they pass it on.
//!
//! ```text
//!   ```clojure                             a fence of Markdown
//!   > {:type :ok …}                        a mail that is answered
//!   FF FE 7B 00 …                          UTF-16, as a redirection of Windows writes it
//! ```
//!
//! It is taken away so that what is left keeps its lines and columns.

use std::borrow::Cow;

/// The text without it; anything else as it is.
pub(super) fn strip_wrapping(bytes: &[u8]) -> Cow<'_, [u8]> {
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let (pairs, _) = bytes[2..].as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        let text = String::from_utf16(&units).ok().filter(|_| bytes.len().is_multiple_of(2));
        text.map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
    };
    match bytes {
        [0xff, 0xfe, ..] => return utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => return utf16(u16::from_be_bytes),
        _ => {}
    }
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|_| first.is_some()) else {
        return Cow::Borrowed(bytes);
    };
    let is_fenced = text.trim_start().lines().next().is_some_and(is_fence);
    let mut filled = text.lines().filter(|line| !line.trim().is_empty());
    if is_fenced {
        each_line(text, |line| if is_fence(line) { "" } else { line })
    } else if first == Some(&b'>') && filled.all(|line| line.trim_start().starts_with('>')) {
        Cow::Owned(text.replace("\n>", "\n ").replacen('>', " ", 1).into_bytes())
    } else {
        Cow::Borrowed(bytes)
    }
}

const FENCE: &str = "```";

/// Whether a line is a fence: behind its signs one word at most says what is within.
fn is_fence(line: &str) -> bool {
    let word = line.trim().strip_prefix(FENCE).map(|rest| rest.trim_start_matches('`').trim());
    word.is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
}

fn each_line<'a>(text: &'a str, line: impl Fn(&'a str) -> &'a str) -> Cow<'a, [u8]> {
    let mut told = String::with_capacity(text.len());
    for own in text.lines() {
        told.push_str(line(own));
        told.push('\n');
    }
    Cow::Owned(told.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_text_goes_and_places_stay() {
        let of =
            |text: &str| String::from_utf8(strip_wrapping(text.as_bytes()).into_owned()).unwrap();
        assert_eq!(of("```clojure\n{:a 1}\n```\n"), "\n{:a 1}\n\n");
        assert_eq!(of("> {:a 1}\n>\n> {:b 2}\n"), "  {:a 1}\n \n  {:b 2}\n");
        assert_eq!(of("```\n{:a 1}\n```{:b 2}\n```\n"), "\n{:a 1}\n```{:b 2}\n\n");
        for same in ["", "\n", "```{:a 1}\n{:b 2}\n", "{:a \"> x\"}\n", "> a\nb\n", "r(x,1,0,0)\n"]
        {
            assert_eq!(of(same), same);
        }
        let little =
            [0xff, 0xfe].into_iter().chain("{:ä 1}".encode_utf16().flat_map(u16::to_le_bytes));
        assert_eq!(&*strip_wrapping(&little.collect::<Vec<u8>>()), "{:ä 1}".as_bytes());
        assert_eq!(&*strip_wrapping(b"\xff\x00\x80"), b"\xff\x00\x80");
    }
}
