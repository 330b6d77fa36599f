//! Character columns as sysbench fills them: groups of eleven random digits joined by `-`.

use dbdyno_model::random::RandomStream;

/// Groups in column `c`, which makes 119 characters.
pub(crate) const C_GROUPS: usize = 10;
/// Groups in column `pad`, which makes 59 characters.
pub(crate) const PAD_GROUPS: usize = 5;

const DIGITS_PER_GROUP: u64 = 100_000_000_000;

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0u8; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// Appends `groups` groups of eleven digits. One random number makes one group: a call for each
/// digit would cost as much as the rest of the client together.
pub(crate) fn push_groups(buffer: &mut Vec<u8>, random: &mut RandomStream, groups: usize) {
    for group in 0..groups {
        let mut digits = [b'-'; 12];
        let mut rest = random.next_below(DIGITS_PER_GROUP);
        for pair in (1..6).rev() {
            digits[2 * pair..2 * pair + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
            rest /= 100;
        }
        digits[1] = b'0' + rest as u8;
        buffer.extend_from_slice(if group == 0 { &digits[1..] } else { &digits });
    }
}

/// A number in decimal, at the end of `digits`.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

/// Appends a number in decimal.
pub fn push_number(buffer: &mut Vec<u8>, number: u64) {
    buffer.extend_from_slice(decimal(number, &mut [0; 20]));
}

/// Appends a number in decimal, with its sign.
pub fn push_signed(buffer: &mut Vec<u8>, number: i64) {
    push_decimal(buffer, number, 0);
}

/// Appends a number in decimal to a text.
pub(crate) fn push_integer(text: &mut String, number: i64) {
    if number < 0 {
        text.push('-');
    }
    let mut digits = [0; 20];
    text.extend(decimal(number.unsigned_abs(), &mut digits).iter().map(|&digit| char::from(digit)));
}

/// Appends a literal of SQL: quotes are doubled, backslashes are not expected.
pub(crate) fn push_quoted(sql: &mut String, value: &[u8]) {
    sql.push('\'');
    for chunk in value.utf8_chunks() {
        for (index, part) in chunk.valid().split('\'').enumerate() {
            sql.push_str(if index == 0 { "" } else { "''" });
            sql.push_str(part);
        }
    }
    sql.push('\'');
}

/// Appends a number in decimal, with zeros before it if it has fewer digits.
pub(crate) fn push_padded(buffer: &mut Vec<u8>, number: u64, digits: u32) {
    for place in (1..digits).rev() {
        if number < 10_u64.saturating_pow(place) {
            buffer.push(b'0');
        }
    }
    push_number(buffer, number);
}

/// Appends a number in units of `10^-decimals`.
pub(crate) fn push_decimal(buffer: &mut Vec<u8>, number: i64, decimals: u8) {
    if number < 0 {
        buffer.push(b'-');
    }
    let unit = 10_u64.pow(u32::from(decimals));
    push_number(buffer, number.unsigned_abs() / unit);
    if decimals > 0 {
        buffer.push(b'.');
        push_padded(buffer, number.unsigned_abs() % unit, u32::from(decimals));
    }
}

/// Appends random letters, thirteen for each random number.
pub(crate) fn push_letters(buffer: &mut Vec<u8>, random: &mut RandomStream, count: usize) {
    const BLOCK: usize = 13;
    for start in (0..count).step_by(BLOCK) {
        let mut rest = random.next_below(26_u64.pow(BLOCK as u32));
        for _ in 0..BLOCK.min(count - start) {
            buffer.push(b'a' + (rest % 26) as u8);
            rest /= 26;
        }
    }
}

/// Appends `count` characters that an algorithm of the LZ family makes half as many of: the second
/// half repeats the first, whose characters have six random bits each. `db_bench` makes its values
/// so (`--compression_ratio=0.5`).
pub(crate) fn push_twice(buffer: &mut Vec<u8>, random: &mut RandomStream, count: usize) {
    const BLOCK: usize = 10;
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (start, half) = (buffer.len(), count.div_ceil(2));
    for done in (0..half).step_by(BLOCK) {
        let mut bits = random.next_u64();
        for _ in 0..BLOCK.min(half - done) {
            buffer.push(LETTERS[(bits & 63) as usize]);
            bits >>= 6;
        }
    }
    buffer.extend_from_within(start..start + count - half);
}

/// Appends a random UUID (version 4 of RFC 9562).
pub(crate) fn push_uuid(buffer: &mut Vec<u8>, random: &mut RandomStream) {
    let (high, low) = (random.next_u64(), random.next_u64());
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    for (index, byte) in high.to_be_bytes().into_iter().chain(low.to_be_bytes()).enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            buffer.push(b'-');
        }
        for digit in [byte >> 4, byte & 15] {
            buffer.push(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
}

/// Appends random digits, sixteen for each random number.
pub(crate) fn push_digits(buffer: &mut Vec<u8>, random: &mut RandomStream, count: usize) {
    const BLOCK: usize = 16;
    for start in (0..count).step_by(BLOCK) {
        let mut rest = random.next_below(10_u64.pow(BLOCK as u32));
        for _ in 0..BLOCK.min(count - start) {
            buffer.push(b'0' + (rest % 10) as u8);
            rest /= 10;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::random::stream;

    #[test]
    fn columns_have_the_shape_of_sysbench() {
        let mut random = stream(&[1]);
        let mut counts = [0u32; 10];
        for _ in 0..1000 {
            let mut c = Vec::new();
            push_groups(&mut c, &mut random, C_GROUPS);
            assert_eq!(c.len(), 119);
            for group in c.split(|&byte| byte == b'-') {
                assert_eq!(group.len(), 11);
                group.iter().for_each(|&digit| counts[(digit - b'0') as usize] += 1);
            }
        }
        // Chi-square over ten digits: 9 degrees of freedom, 0.1 % point 27.9.
        let expected = 11_000.0;
        let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        assert!(chi2 < 27.9, "digits are not uniform: chi-square {chi2}");
    }

    #[test]
    fn numbers_print_as_numbers() {
        for number in [0, 9, 10, 12_345, u64::MAX] {
            let mut buffer = Vec::new();
            push_number(&mut buffer, number);
            assert_eq!(String::from_utf8(buffer).unwrap(), number.to_string());
        }
        for number in [0, -1, 10, i64::MIN, i64::MAX] {
            let mut text = String::new();
            push_integer(&mut text, number);
            assert_eq!(text, number.to_string());
        }
        let decimal = |number, decimals| {
            let mut buffer = Vec::new();
            push_decimal(&mut buffer, number, decimals);
            String::from_utf8(buffer).unwrap()
        };
        let decimals = [decimal(-5, 2), decimal(1205, 2), decimal(7, 0), decimal(-1, 9)];
        assert_eq!(decimals, ["-0.05", "12.05", "7", "-0.000000001"]);
        let mut uuid = Vec::new();
        push_uuid(&mut uuid, &mut stream(&[3]));
        assert_eq!((uuid.len(), uuid[14], b"89ab".contains(&uuid[19])), (36, b'4', true));
        for count in [1, 15, 16, 17, 100] {
            let mut letters = Vec::new();
            push_letters(&mut letters, &mut stream(&[2]), count);
            assert!(letters.len() == count && letters.iter().all(u8::is_ascii_lowercase));
            let mut buffer = Vec::new();
            push_digits(&mut buffer, &mut stream(&[2]), count);
            assert!(buffer.len() == count && buffer.iter().all(u8::is_ascii_digit));
        }
    }
}
