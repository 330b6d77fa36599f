//! Arithmetic with the values of a row or an event: `{= price * quantity}`.
//!
//! ```text
//!   formula   term { + | - term }
//!   term      factor { * | / | % factor }
//!   factor    number │ name │ - factor │ ( formula )
//! ```
//!
//! Numbers are decimals and exact: a sum has as many digits behind the point as the longer of its
//! parts, a product as many as both together. `/` and `%` are of whole numbers and give whole
//! numbers, rounded towards zero, as in PostgreSQL and SQLite. What is made of NULL is NULL, and so
//! is what is divided by zero.
//!
//! How long a number can get is known before the first one is computed (`Formula::max_digits`), so
//! that nothing overflows later.

use std::io::Write as _;

use crate::text::push_signed;

/// Digits that a number may have: those that 128 bits hold.
pub(crate) const DIGITS_MOST: u32 = 36;
/// Those of the number of a row: tables have at most two billion of them.
const ROW_DIGITS: Digits = Digits { before: 10, behind: 0 };
/// Parentheses and signs within each other.
const DEPTH_MOST: u32 = 32;
/// Characters of a formula.
const LONGEST: usize = 2_000;

/// A formula. Names are texts in a template and numbers where it has been bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula<N> {
    /// A number in units of `10^-decimals`.
    Number(i64, u8),
    /// The number of the row that is being made.
    Row,
    /// A remembered value.
    Name(N),
    /// What follows a minus.
    Minus(Box<Formula<N>>),
    /// Two and what is done with them.
    Two(Box<Formula<N>>, FormulaOperator, Box<Formula<N>>),
}

/// What is done with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulaOperator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`, of whole numbers.
    Over,
    /// `%`, of whole numbers.
    Rest,
}

/// A number in units of `10^-decimals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub units: i128,
    pub decimals: u32,
}

/// How many digits a number has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    pub before: u32,
    pub behind: u32,
}

impl Formula<String> {
    /// Reads a formula.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Formula<String>, String> {
        // Each term of a sum lies within the next, and dropping them takes as much of the stack.
        if text.len() > LONGEST {
            return Err(format!("a formula has at most {LONGEST} characters, not {}", text.len()));
        }
        let mut parser = Parser { rest: text.trim_start(), depth: 0 };
        let formula = parser.sum()?;
        match parser.rest.is_empty() {
            true => Ok(formula),
            false => Err(parser.expected("+, -, *, / or %")),
        }
    }
}

impl<N> Formula<N> {
    /// The same formula with other names.
    ///
    /// # Errors
    /// Those of `bind`.
    pub(crate) fn bind<M, E>(
        &self,
        bind: &mut impl FnMut(&N) -> Result<M, E>,
    ) -> Result<Formula<M>, E> {
        Ok(match self {
            Formula::Number(units, decimals) => Formula::Number(*units, *decimals),
            Formula::Row => Formula::Row,
            Formula::Name(name) => Formula::Name(bind(name)?),
            Formula::Minus(inner) => Formula::Minus(Box::new(inner.bind(bind)?)),
            Formula::Two(left, operation, right) => {
                let left = Box::new(left.bind(bind)?);
                Formula::Two(left, *operation, Box::new(right.bind(bind)?))
            }
        })
    }

    /// How many digits its value has at most, if `digits` says it of the values that are named.
    ///
    /// # Errors
    /// More than can be computed with, a division of numbers that are not whole, and those of
    /// `digits`.
    pub(crate) fn max_digits(
        &self,
        digits: &mut impl FnMut(&N) -> Result<Digits, String>,
    ) -> Result<Digits, String> {
        let found = match self {
            Formula::Number(units, decimals) => Digits::of_number(*units, u32::from(*decimals)),
            Formula::Row => ROW_DIGITS,
            Formula::Name(name) => digits(name)?,
            Formula::Minus(inner) => inner.max_digits(digits)?,
            Formula::Two(left, operation, right) => {
                let (left, right) = (left.max_digits(digits)?, right.max_digits(digits)?);
                let whole = left.behind == 0 && right.behind == 0;
                match operation {
                    FormulaOperator::Plus | FormulaOperator::Minus => Digits {
                        before: left.before.max(right.before) + 1,
                        behind: left.behind.max(right.behind),
                    },
                    FormulaOperator::Times => Digits {
                        before: left.before + right.before,
                        behind: left.behind + right.behind,
                    },
                    FormulaOperator::Over | FormulaOperator::Rest if !whole => {
                        return Err(
                            "/ and % divide whole numbers; multiply by a decimal instead, \
                                    for example price * 0.5"
                                .to_owned(),
                        );
                    }
                    FormulaOperator::Over => left,
                    FormulaOperator::Rest => {
                        Digits { before: left.before.min(right.before), behind: 0 }
                    }
                }
            }
        };
        match found.before + found.behind <= DIGITS_MOST {
            true => Ok(found),
            false => Err(format!("the result may have more than {DIGITS_MOST} digits")),
        }
    }

    /// Whether it may be NULL though no value that is named is.
    pub(crate) fn may_divide_by_zero(&self) -> bool {
        match self {
            Formula::Number(..) | Formula::Row | Formula::Name(_) => false,
            Formula::Minus(inner) => inner.may_divide_by_zero(),
            Formula::Two(left, operation, right) => {
                let divides = matches!(operation, FormulaOperator::Over | FormulaOperator::Rest);
                let never_zero = matches!(**right, Formula::Number(units, _) if units != 0);
                divides && !never_zero || left.may_divide_by_zero() || right.may_divide_by_zero()
            }
        }
    }

    /// Whether it has the number of the row.
    pub(crate) fn has_row(&self) -> bool {
        match self {
            Formula::Row => true,
            Formula::Number(..) | Formula::Name(_) => false,
            Formula::Minus(inner) => inner.has_row(),
            Formula::Two(left, _, right) => left.has_row() || right.has_row(),
        }
    }

    /// Its value in a row, with those that are named; `None` for NULL.
    pub(crate) fn value(&self, row: i64, named: &impl Fn(&N) -> Option<Number>) -> Option<Number> {
        match self {
            Formula::Number(units, decimals) => {
                Some(Number { units: i128::from(*units), decimals: u32::from(*decimals) })
            }
            Formula::Row => Some(Number { units: i128::from(row), decimals: 0 }),
            Formula::Name(name) => named(name),
            Formula::Minus(inner) => {
                let Number { units, decimals } = inner.value(row, named)?;
                Some(Number { units: -units, decimals })
            }
            Formula::Two(left, operation, right) => {
                operation.of(left.value(row, named)?, right.value(row, named)?)
            }
        }
    }
}

impl FormulaOperator {
    fn of(self, left: Number, right: Number) -> Option<Number> {
        let decimals = left.decimals.max(right.decimals);
        let alike = |number: Number| number.units * 10_i128.pow(decimals - number.decimals);
        Some(match self {
            FormulaOperator::Plus => Number { units: alike(left) + alike(right), decimals },
            FormulaOperator::Minus => Number { units: alike(left) - alike(right), decimals },
            FormulaOperator::Times => {
                Number { units: left.units * right.units, decimals: left.decimals + right.decimals }
            }
            FormulaOperator::Over => {
                Number { units: left.units.checked_div(right.units)?, decimals: 0 }
            }
            FormulaOperator::Rest => {
                Number { units: left.units.checked_rem(right.units)?, decimals: 0 }
            }
        })
    }
}

impl Digits {
    /// Those of a number.
    pub(crate) fn of_number(units: i64, decimals: u32) -> Digits {
        let all = units.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        Digits { before: all.saturating_sub(decimals).max(1), behind: decimals }
    }

    /// As many as the longer of two has, in front of the point and behind it.
    pub(crate) fn max_with(self, other: Digits) -> Digits {
        Digits { before: self.before.max(other.before), behind: self.behind.max(other.behind) }
    }
}

impl Number {
    /// A number that is written as digits, with a sign or not, with a point or not; `None` for
    /// other characters and for more digits than can be computed with.
    pub(crate) fn read(text: &[u8]) -> Option<Number> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let point = digits.iter().position(|&byte| byte == b'.');
        let (whole, behind) = digits.split_at(point.unwrap_or(digits.len()));
        let behind = behind.get(1..).unwrap_or_default();
        if whole.is_empty() || point.is_some() && behind.is_empty() {
            return None;
        }
        if whole.len() + behind.len() > DIGITS_MOST as usize {
            return None;
        }
        let mut units = 0_i128;
        for byte in whole.iter().chain(behind) {
            units = units * 10 + i128::from(byte.is_ascii_digit().then(|| byte - b'0')?);
        }
        let sign = if digits.len() < text.len() { -1 } else { 1 };
        Some(Number { units: sign * units, decimals: behind.len() as u32 })
    }

    /// How many digits it has.
    pub(crate) fn digit_count(self) -> Digits {
        let all = self.units.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        Digits { before: all.saturating_sub(self.decimals).max(1), behind: self.decimals }
    }

    /// The same as a whole number of 64 bits, if it is one.
    pub(crate) fn as_integer(self) -> Option<i64> {
        if self.decimals > 0 {
            return None;
        }
        i64::try_from(self.units).ok()
    }

    /// Appends it in decimal.
    pub(crate) fn push(self, buffer: &mut Vec<u8>) {
        if let Some(number) = self.as_integer() {
            return push_signed(buffer, number);
        }
        let unit = 10_u128.pow(self.decimals);
        let (whole, behind) = (self.units.unsigned_abs() / unit, self.units.unsigned_abs() % unit);
        let sign = if self.units < 0 { "-" } else { "" };
        let written = match self.decimals as usize {
            0 => write!(buffer, "{sign}{whole}"),
            width => write!(buffer, "{sign}{whole}.{behind:0width$}"),
        };
        written.expect("writing into a vector does not fail");
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl Parser<'_> {
    /// Passes the next character if it is one of these.
    fn passed(&mut self, known: &[char]) -> Option<char> {
        let next = self.rest.chars().next().filter(|next| known.contains(next))?;
        self.rest = self.rest[next.len_utf8()..].trim_start();
        Some(next)
    }

    fn expected(&self, what: &str) -> String {
        match self.rest.is_empty() {
            true => "the formula ends where a number, a name or ( is expected".to_owned(),
            false => format!("{:?} stands where {what} is expected", self.rest.trim_end()),
        }
    }

    fn sum(&mut self) -> Result<Formula<String>, String> {
        let mut all = self.product()?;
        while let Some(sign) = self.passed(&['+', '-']) {
            let operation =
                if sign == '+' { FormulaOperator::Plus } else { FormulaOperator::Minus };
            all = Formula::Two(Box::new(all), operation, Box::new(self.product()?));
        }
        Ok(all)
    }

    fn product(&mut self) -> Result<Formula<String>, String> {
        let mut all = self.factor()?;
        while let Some(sign) = self.passed(&['*', '/', '%']) {
            let operation = match sign {
                '*' => FormulaOperator::Times,
                '/' => FormulaOperator::Over,
                _ => FormulaOperator::Rest,
            };
            all = Formula::Two(Box::new(all), operation, Box::new(self.factor()?));
        }
        Ok(all)
    }

    fn factor(&mut self) -> Result<Formula<String>, String> {
        self.depth += 1;
        if self.depth > DEPTH_MOST {
            return Err(format!("parentheses are nested deeper than {DEPTH_MOST}"));
        }
        let factor = match self.passed(&['-', '(']) {
            Some('-') => Formula::Minus(Box::new(self.factor()?)),
            Some(_) => {
                let inner = self.sum()?;
                self.passed(&[')']).ok_or("'(' without ')'")?;
                inner
            }
            None => self.name_or_number()?,
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn name_or_number(&mut self) -> Result<Formula<String>, String> {
        let end = self.rest.find(|c| !is_name_char(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        if word.is_empty() {
            return Err(self.expected("a number, a name or ("));
        }
        self.rest = self.rest[end..].trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = Number::read(word.as_bytes());
            let fits = number.and_then(|n| Some((i64::try_from(n.units).ok()?, n.decimals)));
            let (units, decimals) = fits.ok_or_else(|| format!("{word:?} is no number"))?;
            return Ok(Formula::Number(units, decimals as u8));
        }
        match word.contains('.') {
            true => Err(format!("{word:?} is no name; a value is named without a table")),
            false if word == "row" => Ok(Formula::Row),
            false => Ok(Formula::Name(word.to_owned())),
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digits_of(text: &str) -> Result<Digits, String> {
        Formula::parse(text)?.max_digits(&mut |_| Ok(Digits { before: 4, behind: 2 }))
    }

    /// The value in characters, where `a` is -12.50, `n` is 7 and `none` is NULL.
    fn value(text: &str) -> String {
        let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let named = |name: &String| match name.as_str() {
            "a" => Number::read(b"-12.50"),
            "n" => Number::read(b"7"),
            _ => None,
        };
        let mut shown = Vec::new();
        match formula.value(41, &named) {
            None => shown.extend_from_slice(b"NULL"),
            Some(number) => number.push(&mut shown),
        }
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn a_formula_that_is_too_long_is_refused_and_not_followed() {
        let long = format!("1{}", "+1".repeat(300_000));
        let told = Formula::parse(&long).unwrap_err();
        assert!(told.contains("at most 2000 characters"), "{told}");
    }

    #[test]
    fn values_are_those_of_sql() {
        for (formula, expected) in [
            ("n", "7"),
            ("a * n", "-87.50"),
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("10 - 4 - 3", "3"),
            ("7 / 2", "3"),
            ("-7 / 2", "-3"),
            ("-7 % 3", "-1"),
            ("2 * 7 / 4 * 3", "9"),
            ("- -n", "7"),
            ("a + 1", "-11.50"),
            ("0.1 * 0.10", "0.010"),
            ("-0.05 + 0", "-0.05"),
            ("n / (n - 7)", "NULL"),
            ("n % 0", "NULL"),
            ("none + 1", "NULL"),
            ("(row - 1) / 10 + 1", "5"),
            ("9223372036854775807 + 1", "9223372036854775808"),
        ] {
            assert_eq!(value(formula), expected, "{formula}");
        }
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for (text, part) in [
            ("", "ends where"),
            ("n +", "ends where"),
            ("(n", "'(' without ')'"),
            ("n)", "\")\" stands where"),
            ("n m", "\"m\" stands where"),
            ("n || m", "\"|| m\" stands where"),
            ("1.", "is no number"),
            ("1e5", "is no number"),
            ("t.n", "without a table"),
        ] {
            let error = Formula::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Formula::parse(&"(".repeat(100_000)).is_err());
        assert!(Formula::parse(&"-".repeat(100_000)).is_err());
        assert!(digits_of("n / 2").unwrap_err().contains("whole numbers"));
        assert!(digits_of("n * n * n * n * n * n * n").unwrap_err().contains("36 digits"));
    }

    /// A formula, its text with no more parentheses than it needs, and its value as another
    /// arithmetic has it; small enough for that one to be exact.
    #[derive(Clone, Debug)]
    struct Made {
        text: String,
        /// How strongly the outermost operation binds.
        binds: u8,
        value: Option<f64>,
        is_whole: bool,
    }

    impl Made {
        fn in_front_of(&self, binds: u8) -> String {
            if self.binds < binds { format!("({})", self.text) } else { self.text.clone() }
        }
    }

    fn made() -> impl Strategy<Value = Made> {
        let leaf = prop_oneof![
            (0_i32..30).prop_map(|n| (n.to_string(), f64::from(n), true)),
            (0_i32..300).prop_map(|n| {
                let number = f64::from(n) / 4.0;
                (format!("{number:.2}"), number, false)
            }),
        ];
        let leaf = leaf.prop_map(|(text, value, is_whole)| Made {
            text,
            binds: 3,
            value: Some(value),
            is_whole,
        });
        leaf.prop_recursive(4, 16, 2, |inner| {
            (inner.clone(), inner, 0_usize..5).prop_map(|(left, right, at)| {
                let whole = left.is_whole && right.is_whole;
                let at = if at > 2 && !whole { 2 } else { at };
                let sign = ['+', '-', '*', '/', '%'][at];
                let binds = if at < 2 { 1 } else { 2 };
                let text =
                    format!("{} {sign} {}", left.in_front_of(binds), right.in_front_of(binds + 1));
                let value = left.value.zip(right.value).and_then(|(left, right)| match sign {
                    '+' => Some(left + right),
                    '-' => Some(left - right),
                    '*' => Some(left * right),
                    _ if right == 0.0 => None,
                    '/' => Some((left / right).trunc()),
                    _ => Some(left % right),
                });
                Made { text, binds, value, is_whole: whole }
            })
        })
    }

    proptest! {
        #[test]
        fn formulae_are_computed_as_another_arithmetic_does(made in made()) {
            // Beyond this that arithmetic is not exact.
            prop_assume!(made.value.is_none_or(|value| value.abs() < 1e9));
            let formula = Formula::parse(&made.text).unwrap();
            let Ok(bound) = formula.max_digits(&mut |_| unreachable!("no names")) else {
                return Err(TestCaseError::reject("too long"));
            };
            let value = formula.value(1, &|_| unreachable!("no names"));
            prop_assert_eq!(value.is_some(), made.value.is_some(), "{}", made.text);
            if let (Some(number), Some(expected)) = (value, made.value) {
                let found = number.units as f64 / 10_f64.powi(number.decimals as i32);
                prop_assert!((found - expected).abs() < 1e-6, "{}: {found}", made.text);
                let digits = number.digit_count();
                prop_assert!(digits.before <= bound.before && digits.behind == bound.behind);
                let mut shown = Vec::new();
                number.push(&mut shown);
                prop_assert_eq!(Number::read(&shown), Some(number));
            }
        }
    }
}
