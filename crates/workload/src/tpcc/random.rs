//! TPC-C's random numbers and texts (clauses 2.1.6 and 4.3.2), and permutations without a memory.
//!
//! A standard driver shuffles arrays: a deck of cards, the order in which customers ordered. Here
//! row *i* and operation *k* must be known without their predecessors, so a shuffle is a bijection
//! that is computed:
//!
//! ```text
//!   i ──▶ (left, right) ──4 rounds: left, right = right, left ^ f(key, right)──▶ j
//!         └── j ≥ n? walk on: j is the next i ──┘
//! ```
//!
//! That is a Feistel network with cycle walking (Black and Rogaway, "Ciphers with Arbitrary Finite
//! Domains", CT-RSA 2002).

use dbdyno_model::random::{self, RandomStream};

/// A uniform number in `low..=high`.
pub(super) fn uniform(random: &mut RandomStream, low: u64, high: u64) -> u64 {
    low + random.next_below(high - low + 1)
}

/// NURand(A, x, y) of clause 2.1.6: `(((0..=A) | (x..=y)) + C) mod (y − x + 1) + x`.
pub(crate) fn nurand(random: &mut RandomStream, a: u64, c: u64, low: u64, high: u64) -> u64 {
    let bits = uniform(random, 0, a) | uniform(random, low, high);
    (bits + c) % (high - low + 1) + low
}

/// The constants C of NURand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    /// For last names while the tables are filled.
    pub last_load: u64,
    /// For last names while the load runs.
    pub last_run: u64,
    /// For customer numbers.
    pub customer: u64,
    /// For item numbers.
    pub item: u64,
}

/// A of NURand for last names.
pub(crate) const A_LAST: u64 = 255;
/// A of NURand for customer numbers.
pub(crate) const A_CUSTOMER: u64 = 1023;
/// A of NURand for item numbers.
pub(crate) const A_ITEM: u64 = 8191;

impl Constants {
    /// Constants of a seed. By clause 2.1.6.1 those for last names differ by 65 to 119, but not by
    /// 96 nor 112, lest what is often loaded be what is often asked.
    pub(super) fn from_seed(seed: u64) -> Constants {
        let mut random = random::stream(&[seed, random::key_of("tpcc constants")]);
        let last_load = random.next_below(A_LAST + 1);
        let allowed = |run: &u64| {
            let delta = run.abs_diff(last_load);
            (65..=119).contains(&delta) && delta != 96 && delta != 112
        };
        let last_run = loop {
            let run = random.next_below(A_LAST + 1);
            if allowed(&run) {
                break run;
            }
        };
        let customer = random.next_below(A_CUSTOMER + 1);
        Constants { last_load, last_run, customer, item: random.next_below(A_ITEM + 1) }
    }
}

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// Appends the last name of a number in 0..=999: a syllable for each digit (clause 4.3.2.3).
pub(crate) fn push_last_name(buffer: &mut Vec<u8>, number: u64) {
    for digit in [number / 100, number / 10 % 10, number % 10] {
        buffer.extend_from_slice(SYLLABLES[digit as usize].as_bytes());
    }
}

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Letters that one random number of 64 bits gives: 62¹⁰ is below 2⁶⁰.
const LETTERS_PER_DRAW: usize = 10;

/// Appends a random a-string of `low..=high` characters (clause 4.3.2.2).
pub(crate) fn push_letters(buffer: &mut Vec<u8>, random: &mut RandomStream, low: u64, high: u64) {
    let length = uniform(random, low, high) as usize;
    push_from(buffer, random, LETTERS, length);
}

/// Appends `length` random digits, an n-string.
pub(crate) fn push_digits(buffer: &mut Vec<u8>, random: &mut RandomStream, length: usize) {
    push_from(buffer, random, &LETTERS[..10], length);
}

/// Appends two random capitals, for a state.
pub(crate) fn push_capitals(buffer: &mut Vec<u8>, random: &mut RandomStream) {
    push_from(buffer, random, &LETTERS[10..36], 2);
}

/// Takes the letters of a draw from its top: the integer part of a fraction times the number of
/// letters is a letter, the rest is the next fraction.
fn push_from(buffer: &mut Vec<u8>, random: &mut RandomStream, letters: &[u8], length: usize) {
    let mut left = length;
    while left > 0 {
        let mut fraction = random.next_u64();
        for _ in 0..left.min(LETTERS_PER_DRAW) {
            let product = u128::from(fraction) * letters.len() as u128;
            buffer.push(letters[(product >> 64) as usize]);
            fraction = product as u64;
        }
        left -= left.min(LETTERS_PER_DRAW);
    }
}

/// Appends `value` shifted by two digits: 1234 as `12.34`.
pub(crate) fn push_cents(buffer: &mut Vec<u8>, value: i64) {
    push_decimal(buffer, value, 2);
}

/// Appends `value` with the last `digits` digits behind the point.
pub(crate) fn push_decimal(buffer: &mut Vec<u8>, value: i64, digits: u32) {
    if value < 0 {
        buffer.push(b'-');
    }
    let unit = 10_u64.pow(digits);
    crate::text::push_number(buffer, value.unsigned_abs() / unit);
    buffer.push(b'.');
    let behind = value.unsigned_abs() % unit;
    for place in (0..digits).rev() {
        buffer.push(b'0' + (behind / 10_u64.pow(place) % 10) as u8);
    }
}

/// An amount in cents from what a server calls a decimal: `12.34`, SQLite's `12.3`, `12` or
/// `12.339999999999998`.
pub(super) fn parse_cents(text: &[u8]) -> Option<i64> {
    let value: f64 = std::str::from_utf8(text).ok()?.trim().parse().ok()?;
    // Amounts are below 10¹³ cents, where a double is exact to a thousandth of one.
    (value.abs() < 1e11).then(|| (value * 100.0).round() as i64)
}

/// The place of `index` in a permutation of `0..count` that belongs to `key`.
pub(crate) fn permuted_index(key: &[u64], index: u64, count: u64) -> u64 {
    assert!(index < count, "{index} is not one of {count}");
    let half = (64 - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut keys = random::stream(key);
    let keys = [keys.next_u64(), keys.next_u64(), keys.next_u64(), keys.next_u64()];
    let mut place = index;
    loop {
        let (mut left, mut right) = (place >> half, place & mask);
        for key in keys {
            (left, right) = (right, left ^ (random::mix_bits(key ^ right) & mask));
        }
        place = left << half | right;
        if place < count {
            return place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chi_square(observed: &[u64], expected: &[f64]) -> f64 {
        observed.iter().zip(expected).map(|(&o, &e)| (o as f64 - e).powi(2) / e).sum()
    }

    /// The probability of each outcome, by counting all pairs that the formula combines.
    fn exact(a: u64, c: u64, low: u64, high: u64) -> Vec<f64> {
        let range = high - low + 1;
        let mut share = vec![0.0; range as usize];
        for first in 0..=a {
            for second in low..=high {
                share[(((first | second) + c) % range) as usize] += 1.0;
            }
        }
        let all = (a + 1) as f64 * range as f64;
        share.iter().map(|count| count / all).collect()
    }

    /// Neighbouring outcomes are put together into 100 cells; chi-square with 99 degrees of
    /// freedom, 0.1 % point 148.2.
    #[test]
    fn nurand_follows_its_formula() {
        const DRAWS: u64 = 200_000;
        for (a, c, low, high) in [(255, 157, 0, 999), (1023, 7, 1, 3000), (8191, 4711, 1, 2000)] {
            let share = exact(a, c, low, high);
            let width = share.len() / 100;
            let mut observed = [0_u64; 100];
            let mut random = random::stream(&[a, 1]);
            for _ in 0..DRAWS {
                let drawn = nurand(&mut random, a, c, low, high);
                assert!((low..=high).contains(&drawn));
                observed[(drawn - low) as usize / width] += 1;
            }
            let cell = |cell: &[f64]| cell.iter().sum::<f64>() * DRAWS as f64;
            let expected: Vec<f64> = share.chunks(width).map(cell).collect();
            let found = chi_square(&observed, &expected);
            assert!(found < 148.2, "A {a}: chi-square {found}");
            // The test would tell it from a uniform draw.
            let uniform = vec![DRAWS as f64 / 100.0; 100];
            assert!(chi_square(&observed, &uniform) > 1_000.0, "A {a} looks uniform");
        }
    }

    #[test]
    fn constants_keep_the_rule_of_clause_2_1_6_1() {
        let mut deltas = std::collections::BTreeSet::new();
        for seed in 0..3_000 {
            let constants = Constants::from_seed(seed);
            assert!(constants.last_load <= 255 && constants.last_run <= 255);
            assert!(constants.customer <= 1023 && constants.item <= 8191);
            deltas.insert(constants.last_run.abs_diff(constants.last_load));
        }
        let allowed = (65..=119).filter(|delta| ![96, 112].contains(delta));
        assert_eq!(deltas.into_iter().collect::<Vec<_>>(), allowed.collect::<Vec<_>>());
    }

    /// The example of clause 4.3.2.3 is 371.
    #[test]
    fn last_names_are_made_of_syllables() {
        let name = |number| {
            let mut name = Vec::new();
            push_last_name(&mut name, number);
            String::from_utf8(name).unwrap()
        };
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!((name(0).as_str(), name(999).as_str()), ("BARBARBAR", "EINGEINGEING"));
        let all: std::collections::BTreeSet<String> = (0..1000).map(name).collect();
        assert_eq!(all.len(), 1000);
    }

    #[test]
    fn permutations_hit_everything_once_and_keys_matter() {
        for count in [1, 2, 3, 10, 500, 3000] {
            let mut places: Vec<u64> = (0..count).map(|i| permuted_index(&[1], i, count)).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..count), "{count}");
        }
        let of = |key| (0..500).map(|i| permuted_index(&[key], i, 500)).collect::<Vec<_>>();
        let same = of(1).iter().zip(&of(2)).filter(|(one, two)| one == two).count();
        assert!(same < 10, "{same} of 500 in the same place");
        // The first place is uniform over keys: 99 degrees of freedom, 0.1 % point 148.2.
        let mut cells = [0_u64; 100];
        (0..50_000).for_each(|key| cells[permuted_index(&[key], 0, 500) as usize / 5] += 1);
        let found = chi_square(&cells, &[500.0; 100]);
        assert!(found < 148.2, "chi-square {found}");
    }

    #[test]
    fn letters_are_uniform_and_as_long_as_asked() {
        let mut random = random::stream(&[3]);
        let (mut cells, mut lengths) = ([0_u64; 256], [0_u64; 30]);
        for _ in 0..20_000 {
            let mut text = Vec::new();
            push_letters(&mut text, &mut random, 14, 24);
            text.iter().for_each(|&letter| cells[usize::from(letter)] += 1);
            lengths[text.len()] += 1;
        }
        assert!(lengths[..14].iter().chain(&lengths[25..]).all(|&count| count == 0));
        let seen: Vec<u64> = cells.into_iter().filter(|&count| count > 0).collect();
        let expected = seen.iter().sum::<u64>() as f64 / 62.0;
        // 61 degrees of freedom, 0.1 % point 100.9.
        let found = chi_square(&seen, &[expected; 62]);
        assert!(seen.len() == 62 && found < 100.9, "{} letters, chi-square {found}", seen.len());
    }

    #[test]
    fn amounts_are_written_and_read_to_the_cent() {
        for (value, text) in [(0, "0.00"), (5, "0.05"), (-1000, "-10.00"), (1_234_567, "12345.67")]
        {
            let mut written = Vec::new();
            push_cents(&mut written, value);
            assert_eq!(String::from_utf8(written.clone()).unwrap(), text);
            assert_eq!(parse_cents(&written), Some(value));
        }
        assert_eq!(parse_cents(b"12.339999999999998"), Some(1234));
        assert_eq!(parse_cents(b"12.3"), Some(1230));
        assert_eq!(
            (parse_cents(b"x"), parse_cents(b"1e300"), parse_cents(b"nan")),
            (None, None, None)
        );
        let mut tax = Vec::new();
        push_decimal(&mut tax, 375, 4);
        assert_eq!(tax, b"0.0375");
    }
}
