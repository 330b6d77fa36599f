//! Values of parameters as the engine takes them.

use dbdyno_sql::{Operand, Params};
use dbdyno_wire::mysql::server::{ParameterValue, Parameters};

use crate::charset::Charset;

/// The parameters of one execution.
pub(crate) struct ExecutionParameters<'a> {
    pub parameters: &'a Parameters,
    pub values: &'a [u8],
    pub charset: Charset,
}

impl ExecutionParameters<'_> {
    /// The first parameter, from 1, with a text that is none in the character set of the client:
    /// the engine has UTF-8 alone, and everything is some text in latin1.
    pub(crate) fn first_wrong_text(&self) -> Option<usize> {
        if self.charset == Charset::Latin1 {
            return None;
        }
        let mut values =
            (0..self.parameters.count()).map(|at| self.parameters.get(self.values, at));
        let wrong = values.position(|value| {
            matches!(value, ParameterValue::Text(bytes) if self.charset.read(bytes).is_none())
        });
        wrong.map(|index| index + 1)
    }
}

impl Params for ExecutionParameters<'_> {
    fn count(&self) -> usize {
        self.parameters.count()
    }

    fn get(&self, index: usize) -> Operand<'_> {
        match self.parameters.get(self.values, index) {
            ParameterValue::Null => Operand::Null,
            ParameterValue::Int(number) => Operand::Int(number),
            ParameterValue::Unsigned(number) => match i64::try_from(number) {
                Ok(number) => Operand::Int(number),
                Err(_) => Operand::Decimal(number.into(), 0),
            },
            ParameterValue::Text(bytes) if self.charset == Charset::Utf8 || bytes.is_ascii() => {
                Operand::of_text(bytes)
            }
            ParameterValue::Text(bytes) => {
                owned(self.charset.read(bytes).unwrap_or_default().into_owned())
            }
            // Its shortest digits: the engine has decimals, and reads them where one is wanted.
            ParameterValue::Double(number) => owned(number.to_string()),
            ParameterValue::Date([year, month, day, hour, minute, second, us]) => owned(format!(
                "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{us:06}"
            )),
            ParameterValue::Time(is_negative, [hours, minutes, seconds, us]) => {
                let sign = if is_negative { "-" } else { "" };
                owned(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}.{us:06}"))
            }
        }
    }
}

fn owned(text: String) -> Operand<'static> {
    Operand::Text(text.into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_engine() {
        let mut parameters = Parameters::new(4);
        let values = [
            &[0, 1][..],
            &[0x08, 0x80, 0x05, 0, 0xFD, 0, 0x0A, 0],
            &u64::MAX.to_le_bytes(),
            &0.1_f64.to_le_bytes(),
            b"\x02\xE9x",
            &[4, 0xEA, 0x07, 11, 25],
        ]
        .concat();
        parameters.read(&values).unwrap();
        let given = ExecutionParameters {
            parameters: &parameters,
            values: &values,
            charset: Charset::Latin1,
        };
        let shown: Vec<_> = (0..given.count()).map(|index| given.get(index).to_string()).collect();
        let expected = ["18446744073709551615", "0.1", "éx", "2026-11-25 00:00:00.000000"];
        assert_eq!(shown, expected);
        assert_eq!(given.first_wrong_text(), None, "everything is some text in latin1");
        let utf8 = ExecutionParameters { charset: Charset::Utf8, ..given };
        assert_eq!(utf8.first_wrong_text(), Some(3));
    }
}
