//! Texts of digits, made fast: making them is no part of what is measured.

use dbdyno_model::random::RandomStream;

/// Random digits.
#[inline]
pub(crate) fn random_digits<const LENGTH: usize>(random: &mut RandomStream) -> [u8; LENGTH] {
    const ASCII: u64 = 0x3030_3030_3030_3030;
    const OCTAL: u64 = 0x0707_0707_0707_0707;
    let mut text = [b'0'; LENGTH];
    for chunk in text.chunks_mut(8) {
        let word = (random.next_u64() & OCTAL) | ASCII;
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_digits_and_differ() {
        let mut random = dbdyno_model::random::stream(&[1]);
        let texts: [[u8; 60]; 2] = [random_digits(&mut random), random_digits(&mut random)];
        assert!(texts.iter().flatten().all(u8::is_ascii_digit));
        assert_ne!(texts[0], texts[1]);
        assert!((b'0'..b'8').all(|digit| texts[0].contains(&digit)));
    }
}
