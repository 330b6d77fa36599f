//! Whether a cell that is no number has one, in a form that is not read.
//!
//! ```text
//!   >950   avg: 950.0   950.0 / 1900.0   9,50,000         a sign, a label, a second one, lakhs
//!   58.3ms (1.2ms)   58.3 (n=5)   58304/1000   58.3|116   with what stands behind it
//!   mean 58.3   OK 58.3   avg=58.3ms max=…   US$58.30     with a word before it
//!   0xe3c0   ٥٨٫٣   {"mean": 58.3}                        written by other rules
//!   8.0.32   2024-01-31   run 12   db-3   6.1.0-amd64     versions, dates and names have none
//! ```

use super::cells;

/// Words that stand before a figure and say what it is, or how the run ended.
const WORDS: [&str; 29] = [
    "mean", "avg", "average", "median", "med", "min", "max", "total", "sum", "p", "score", "time",
    "ok", "okay", "pass", "passed", "done", "fail", "failed", "success", "usd", "eur", "gbp",
    "jpy", "chf", "inr", "cny", "about", "approx",
];
const MONEY: [char; 7] = ['$', '€', '£', '¥', '₹', '₩', '₽'];
/// Letters of a country before a sign of money.
const COUNTRY_LETTERS_MOST: usize = 3;
/// A longer number in base 16 is a hash.
const HEX_DIGITS_MOST: usize = 8;
/// Marks that part a number from what stands behind it.
const PARTING: [char; 9] = ['(', '[', '/', '|', ',', ';', ']', ')', '}'];

/// Whether a cell that is no number has one in a form that is not read.
pub(super) fn is_like_a_number(cell: &str) -> bool {
    cells::resembles_a_number(cell) || is_of_other_rules(cell) || is_between_words(cell)
}

/// Base 16, other digits, an object of JSON, a formula of a spreadsheet.
fn is_of_other_rules(cell: &str) -> bool {
    let is_hex =
        cell.strip_prefix("0x").or_else(|| cell.strip_prefix("0X")).is_some_and(|digits| {
            (1..=HEX_DIGITS_MOST).contains(&digits.len())
                && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
    let is_foreign = cell.starts_with(|c: char| c.is_numeric() && !c.is_ascii());
    let has_digit = cell.contains(|c: char| c.is_ascii_digit());
    let is_object = cell.starts_with('{') && cell.ends_with('}') && cell.contains(':');
    let is_formula = cell.starts_with('=')
        && cell[1..].starts_with(|c: char| c.is_ascii_alphabetic())
        && cell.contains('(');
    is_hex || is_foreign || has_digit && (is_object || is_formula)
}

/// A number with a known word or a picture before it, or with something behind it that belongs to
/// it.
fn is_between_words(cell: &str) -> bool {
    let Some(from) = cell.find(|c: char| c.is_ascii_digit()) else { return false };
    let (before, number) = cell.split_at(from);
    let end = number.find(|c: char| !c.is_ascii_digit() && !['.', ','].contains(&c));
    let (number, behind) = number.split_at(end.unwrap_or(number.len()));
    let end = behind.find(|c: char| !c.is_alphabetic() && c != '%');
    let (unit, rest) = behind.split_at(end.unwrap_or(behind.len()));
    let is_parted = rest.is_empty()
        || rest.starts_with(PARTING)
        || rest.starts_with(char::is_whitespace)
        || rest.starts_with(|c: char| !c.is_ascii() && !c.is_alphanumeric());
    let is_version = number.matches('.').count() > 1;
    if is_version || !is_parted || !cells::is_known(unit) || before.ends_with(['-', '_', '#']) {
        return false;
    }
    let is_measure = number.contains(['.', ',']) || !unit.is_empty();
    match is_before_a_figure(before) {
        Some(true) => is_measure || before.ends_with(MONEY),
        Some(false) => is_measure && !rest.is_empty() || has_a_second_number(rest),
        None => false,
    }
}

/// Whether known words or pictures stand before a number; `None` for others.
fn is_before_a_figure(before: &str) -> Option<bool> {
    let words: Vec<String> = before
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_money = before.ends_with(MONEY)
        && words.iter().all(|word| word.chars().count() <= COUNTRY_LETTERS_MOST);
    let are_known = words.iter().all(|word| WORDS.contains(&word.as_str()));
    let is_picture = words.is_empty() && before.contains(|c: char| !c.is_ascii());
    (is_money || are_known).then_some(is_money || is_picture || !words.is_empty())
}

/// `(120)`, `(n=5)`, `/1000`, `|116`
fn has_a_second_number(rest: &str) -> bool {
    let rest = rest.trim();
    let inner = rest
        .strip_prefix(['(', '['])
        .and_then(|rest| rest.strip_suffix([')', ']']))
        .or_else(|| rest.strip_prefix(['/', '|']));
    let inner = inner.map(str::trim).map(|inner| inner.trim_start_matches(['n', '=', ' ', '±']));
    inner.is_some_and(|inner| {
        !inner.is_empty()
            && inner.bytes().all(|byte| byte.is_ascii_digit() || b".,".contains(&byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_something_around_it_is_seen() {
        for text in [
            "58304/1000",
            "58304 (120)",
            "58.3ms (1.2ms)",
            "58.3ms (n=5)",
            "58.3 (n=5)",
            "58.3ms/116.6ms",
            "58.3|116.6",
            "avg=58.3ms",
            "avg=58.3ms max=60.1ms",
            "avg=58.3ms min=1ms med=2ms p(95)=3ms",
            "mean 58.3",
            "OK 58.3",
            "🟢 58.30",
            "{\"mean\": 58.3}",
            "0xe3c0",
            "US$58.30",
            "EUR 58.30",
            "٥٨٫٣",
            "=HYPERLINK(\"u\",58.3)",
            "58.3 PASS",
            ">950",
        ] {
            assert!(is_like_a_number(text), "{text}");
        }
        for text in [
            "8.0.32",
            "8.0.32-log (build 5)",
            "2024-01-31",
            "2024-01-31 10:00:00",
            "31 Jan 2024",
            "6.1.0-13-amd64",
            "db-3",
            "run 12",
            "run #12",
            "build: 12",
            "v12",
            "v1.2",
            "MariaDB 10.11",
            "Linux 6.1",
            "gcc (Debian 12.2.0-14) 12.2.0",
            "Intel(R) Xeon(R) CPU @ 2.20GHz",
            "r5.large",
            "1f4e9c0",
            "4e21",
            "0x1f4e9c0aa7b2",
            "https://ci.example/runs/1234",
            "http://127.0.0.1:8080/x",
            "10.0.0.12",
            "refs/pull/12/merge",
            "shard-1/3",
            "sql_mode=12",
            "buffer_pool=1G",
            "Fix #12: speed up 3 things",
            "main",
            "",
            "=",
            "{}",
        ] {
            assert!(!is_like_a_number(text), "{text}");
        }
    }
}
