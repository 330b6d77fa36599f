//! A link whose answers are checked: every statement says how many rows are right.

use crate::dialogue::{AnswerRows, Arg, Link, TurnFault};

use super::statements::Ask;

/// A link, spoken to in the statements of TPC-C.
pub(super) struct Talk<'a>(pub &'a mut dyn Link);

impl Talk<'_> {
    /// BEGIN, COMMIT or ROLLBACK.
    ///
    /// # Errors
    /// That of the link.
    pub(super) fn run_control(&mut self, ask: Ask) -> Result<(), TurnFault> {
        self.0.run(ask as usize, &[]).map(|_| ())
    }

    /// Changes one row.
    ///
    /// # Errors
    /// That of the link, or another number of rows.
    pub(super) fn change_one(&mut self, ask: Ask, values: &[Arg<'_>]) -> Result<(), TurnFault> {
        self.change_some(ask, values, 1, 1).map(|_| ())
    }

    /// Changes `low..=high` rows, and says how many.
    ///
    /// # Errors
    /// That of the link, or another number of rows.
    pub(crate) fn change_some(
        &mut self,
        ask: Ask,
        values: &[Arg<'_>],
        low: u64,
        high: u64,
    ) -> Result<u64, TurnFault> {
        let changed = self.0.run(ask as usize, values)?.changed;
        if (low..=high).contains(&changed) {
            return Ok(changed);
        }
        Err(wrong_answer(ask, values, &format!("changed {changed} rows, right is {low} to {high}")))
    }

    /// Reads one row that a terminal would show and nobody looks into.
    ///
    /// # Errors
    /// That of the link, or another number of rows.
    pub(super) fn show_one(&mut self, ask: Ask, values: &[Arg<'_>]) -> Result<(), TurnFault> {
        self.show_some(ask, values, 1, 1)
    }

    /// Reads `low..=high` rows that a terminal would show.
    ///
    /// # Errors
    /// That of the link, or another number of rows.
    pub(crate) fn show_some(
        &mut self,
        ask: Ask,
        values: &[Arg<'_>],
        low: u64,
        high: u64,
    ) -> Result<(), TurnFault> {
        let rows = self.0.run(ask as usize, values)?.rows;
        if (low..=high).contains(&rows) {
            return Ok(());
        }
        Err(wrong_answer(ask, values, &format!("returned {rows} rows, right is {low} to {high}")))
    }

    /// Reads `low..=high` rows.
    ///
    /// # Errors
    /// That of the link, or another number of rows.
    pub(super) fn fetch(
        &mut self,
        ask: Ask,
        values: &[Arg<'_>],
        low: usize,
        high: usize,
    ) -> Result<TalkRows<'_>, TurnFault> {
        let answer = self.0.fetch(ask as usize, values)?;
        let rows = answer.rows();
        if (low..=high).contains(&rows) {
            return Ok(TalkRows { ask, answer });
        }
        Err(wrong_answer(ask, values, &format!("returned {rows} rows, right is {low} to {high}")))
    }
}

/// Rows of the number that was asked for.
pub(super) struct TalkRows<'a> {
    ask: Ask,
    answer: &'a dyn AnswerRows,
}

impl<'a> TalkRows<'a> {
    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.answer.rows()
    }

    /// An integer.
    ///
    /// # Errors
    /// [`TurnFault::Wrong`] where there is none.
    pub(super) fn int(&self, row: usize, column: usize) -> Result<i64, TurnFault> {
        let value = self.answer.int(row, column);
        value.ok_or_else(|| wrong_answer(self.ask, &[], &format!("column {column} is no integer")))
    }

    /// Characters.
    ///
    /// # Errors
    /// [`TurnFault::Wrong`] where there are none.
    pub(super) fn text_at(&self, row: usize, column: usize) -> Result<&'a [u8], TurnFault> {
        let value = self.answer.text_at(row, column);
        value.ok_or_else(|| wrong_answer(self.ask, &[], &format!("column {column} is NULL")))
    }

    /// An amount of money in cents.
    ///
    /// # Errors
    /// [`TurnFault::Wrong`] where there is none.
    pub(super) fn cents_at(&self, row: usize, column: usize) -> Result<i64, TurnFault> {
        let text = self.text_at(row, column)?;
        let value = super::random::parse_cents(text);
        value.ok_or_else(|| wrong_answer(self.ask, &[], &format!("column {column} is no amount")))
    }
}

/// A wrong answer, in words.
pub(super) fn wrong_answer(ask: Ask, values: &[Arg<'_>], what: &str) -> TurnFault {
    let shown: Vec<String> = values.iter().map(shown).collect();
    TurnFault::Wrong(format!("TPC-C statement {ask:?} ({}) {what}", shown.join(", ")))
}

fn shown(value: &Arg<'_>) -> String {
    match value {
        Arg::Null => "NULL".to_owned(),
        Arg::Int(number) => number.to_string(),
        Arg::Text(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

/// An amount as characters, without an allocation.
pub(super) struct Money {
    text: [u8; 24],
    length: usize,
}

impl Money {
    /// An amount in cents.
    pub(super) fn from_cents(cents: i64) -> Money {
        let mut money = Money { text: [0; 24], length: 0 };
        let mut start = money.text.len();
        let mut rest = cents.unsigned_abs();
        let mut place = 0;
        while place < 3 || rest > 0 {
            if place == 2 {
                start -= 1;
                money.text[start] = b'.';
            }
            start -= 1;
            money.text[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            place += 1;
        }
        if cents < 0 {
            start -= 1;
            money.text[start] = b'-';
        }
        money.length = money.text.len() - start;
        money
    }

    /// As a parameter.
    pub(super) fn as_arg(&self) -> Arg<'_> {
        Arg::Text(&self.text[self.text.len() - self.length..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_as_rows_are() {
        for cents in [0, 5, 99, 100, -1000, 1_234_567, i64::MAX, i64::MIN] {
            let mut row = Vec::new();
            super::super::random::push_cents(&mut row, cents);
            assert_eq!(Money::from_cents(cents).as_arg(), Arg::Text(&row));
        }
    }
}
