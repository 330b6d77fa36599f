//! The character set of every session: what MySQL calls latin1, which is Windows-1252 with its five
//! holes filled by the control characters of the same number.
//!
//! One set for both arms, whatever their servers' defaults are: a server that converts to utf8mb4
//! does more work per row than one that does not, and a comparison must not measure that.

use std::borrow::Cow;

use crate::error::WireError;

/// Characters of the bytes 0x80 to 0x9F; the others are numbered as in Unicode.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of these bytes. Every byte is a character.
pub fn decode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|&byte| match byte {
            0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
            _ => char::from(byte),
        })
        .collect()
}

/// The bytes of this text; without a copy where it is plain ASCII.
///
/// # Errors
/// [`WireError::Protocol`] for a character that the set does not have.
#[inline]
pub(super) fn encode(text: &str) -> Result<Cow<'_, [u8]>, WireError> {
    if text.is_ascii() {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    let byte = |character| {
        byte_of(character).ok_or_else(|| {
            WireError::Protocol(format!(
                "the session speaks latin1, which has no {character:?}; write it as a hexadecimal \
                 literal (X'…') or rename what is called so"
            ))
        })
    };
    text.chars().map(byte).collect::<Result<Vec<u8>, WireError>>().map(Cow::Owned)
}

/// UTF-8 in this set, and of how many bytes; `None` if it is not UTF-8 or has other characters.
pub(super) fn bytes(text: &[u8]) -> Option<(usize, impl Iterator<Item = u8>)> {
    let text = std::str::from_utf8(text).ok()?;
    let all = text.chars().map(byte_of);
    let count = all.clone().try_fold(0, |count, byte| byte.map(|_| count + 1))?;
    Some((count, all.flatten()))
}

/// The byte of a character, if the set has it.
pub fn byte_of(character: char) -> Option<u8> {
    if let Some(index) = HIGH.iter().position(|&high| high == character) {
        return Some(0x80 + index as u8);
    }
    u8::try_from(character).ok().filter(|byte| !(0x80..=0x9F).contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_reads_back_as_itself() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = decode(&bytes);
        assert_eq!(text.chars().count(), 256);
        assert_eq!(encode(&text).unwrap().as_ref(), bytes);
    }

    #[test]
    fn characters_are_those_of_mysql() {
        // SELECT HEX(CONVERT('€ÿ“' USING latin1)) says 80FF93.
        assert_eq!(encode("€ÿ“").unwrap().as_ref(), [0x80, 0xFF, 0x93]);
        assert!(encode("ж").is_err());
        for other in ["ж".as_bytes(), b"\xe9t\xe9"] {
            assert!(bytes(other).is_none());
        }
        let (count, found) = bytes("€ÿ“a".as_bytes()).unwrap();
        assert_eq!((count, found.collect::<Vec<u8>>()), (4, b"\x80\xff\x93a".to_vec()));
    }
}
