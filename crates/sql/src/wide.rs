//! Products that have no room in 128 bits.
//!
//! ```text
//!   12 34 × 56 78      four words of 64 bits      cut to fit: 38 digits and a sign
//! ```
//!
//! MySQL's decimals have 65 digits, and those of `(a/b)*(c/d)` that are not told are many.

/// Magnitude of a number in 256 bits, the least word first, and its sign.
pub(crate) struct WideProduct {
    words: [u64; 4],
    is_negative: bool,
}

/// The product of two numbers.
pub(crate) fn wide_product(left: i128, right: i128) -> WideProduct {
    let halves = [left, right].map(|number| {
        let magnitude = number.unsigned_abs();
        [magnitude as u64, (magnitude >> 64) as u64]
    });
    let mut words = [0_u64; 4];
    for (low, one) in halves[0].into_iter().enumerate() {
        let mut carry = 0_u128;
        for (high, other) in halves[1].into_iter().enumerate() {
            let sum = u128::from(one) * u128::from(other) + u128::from(words[low + high]) + carry;
            words[low + high] = sum as u64;
            carry = sum >> 64;
        }
        words[low + 2] = carry as u64;
    }
    WideProduct { words, is_negative: (left < 0) != (right < 0) }
}

impl WideProduct {
    /// The number in 128 bits, and the digits behind the point that are left, of which it has
    /// `scale`: the last ones are cut until there is room, and no more than `most` are left. `None`
    /// where that would cut digits before the point.
    pub(crate) fn cut_to_fit(mut self, scale: u8, most: u8) -> Option<(i128, u8)> {
        let mut scale = scale;
        loop {
            match self.number().filter(|_| scale <= most) {
                Some(number) => return Some((number, scale)),
                None => scale = scale.checked_sub(1)?,
            }
            self.cut_digit();
        }
    }

    fn number(&self) -> Option<i128> {
        let [low, high, 0, 0] = self.words else { return None };
        let magnitude = i128::try_from(u128::from(high) << 64 | u128::from(low)).ok()?;
        Some(if self.is_negative { -magnitude } else { magnitude })
    }

    fn cut_digit(&mut self) {
        let mut rest = 0_u128;
        for word in self.words.iter_mut().rev() {
            let number = rest << 64 | u128::from(*word);
            *word = (number / 10) as u64;
            rest = number % 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The product in decimal digits, the first one first, as it is done on paper.
    fn on_paper(left: u128, right: u128) -> String {
        let digits = |number: u128| number.to_string().into_bytes().into_iter().rev();
        let mut sums = [0_u32; 80];
        for (at, one) in digits(left).enumerate() {
            for (beside, other) in digits(right).enumerate() {
                sums[at + beside] += u32::from(one - b'0') * u32::from(other - b'0');
            }
        }
        let mut carry = 0;
        let written = sums.map(|sum| {
            let number = sum + carry;
            carry = number / 10;
            char::from_digit(number % 10, 10).unwrap()
        });
        let written: String = written.iter().rev().collect();
        written.trim_start_matches('0').to_owned()
    }

    proptest! {
        #[test]
        fn a_product_is_cut_behind_its_first_digits(left: i128, right: i128, scale in 0_u8..77) {
            let written = on_paper(left.unsigned_abs(), right.unsigned_abs());
            match wide_product(left, right).cut_to_fit(scale, 38) {
                Some((number, kept)) => {
                    let told = number.unsigned_abs().to_string();
                    let told = if number == 0 { String::new() } else { told };
                    let cut = usize::from(scale - kept);
                    prop_assert_eq!(&written[..written.len().saturating_sub(cut)], told);
                    prop_assert!(number == 0 || (number < 0) == ((left < 0) != (right < 0)));
                    prop_assert!(kept <= 38 && (kept == scale || kept == 38 || written.len() > 38));
                }
                None => prop_assert!(written.len() > 38 + usize::from(scale)),
            }
        }
    }
}
