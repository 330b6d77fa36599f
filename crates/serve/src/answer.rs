//! Rows of the engine as packets of the protocol.

use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_sql::{ColumnKind, Operand, ResultColumn, Sink, parts_of_time};
use dbdyno_wire::mysql::server::{ColumnType, Definition, Definitions, ResponseBuilder, ValueForm};

use crate::charset::Charset;
use crate::room::AnswerShare;

/// The definitions of the columns of a statement, once they were asked for.
#[derive(Default)]
pub(crate) struct ColumnDefinitions {
    of: Option<(Arc<[ResultColumn]>, Charset)>,
    definitions: Definitions,
}

/// Rows on their way into an answer.
pub(crate) struct Telling<'a, 'r> {
    answers: &'a mut ResponseBuilder,
    kept: &'a mut ColumnDefinitions,
    form: ValueForm,
    charset: Charset,
    /// Bytes that an answer has at most.
    most: usize,
    room: &'a mut AnswerShare<'r>,
    column: usize,
    told: AnswerResult,
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerResult {
    /// There are no rows in it.
    NoRows,
    Rows,
    /// It has grown too large.
    TooLarge,
    /// There is no room for it beside the answers of others.
    NoRoom,
    /// A number has no room in its column.
    OutOfRange,
}

impl<'a, 'r> Telling<'a, 'r> {
    pub(crate) fn new(
        answers: &'a mut ResponseBuilder,
        kept: &'a mut ColumnDefinitions,
        form: ValueForm,
        charset: Charset,
        most: usize,
        room: &'a mut AnswerShare<'r>,
    ) -> Telling<'a, 'r> {
        let told = AnswerResult::NoRows;
        Telling { answers, kept, form, charset, most, room, column: 0, told }
    }

    pub(crate) fn answer_result(&self) -> AnswerResult {
        self.told
    }

    #[inline]
    fn put_shown(&mut self, value: &Operand<'_>) {
        self.answers.put_formatted(format_args!("{value}"));
    }

    /// A number in a column whose numbers have at least so many digits behind the point.
    #[inline]
    fn put_decimal(&mut self, units: i128, has: u8, scale: u8) {
        let more = 10_i128.checked_pow(scale.saturating_sub(has).into());
        match more.and_then(|more| units.checked_mul(more)) {
            Some(units) => self.put_shown(&Operand::Decimal(units, scale.max(has))),
            None => self.told = AnswerResult::OutOfRange,
        }
    }
}

impl Sink for Telling<'_, '_> {
    fn begin_rows(&mut self, columns: &Arc<[ResultColumn]>) {
        self.kept.define(self.answers, columns, self.charset);
        self.answers.begin_rows(&self.kept.definitions, self.form);
        self.told = AnswerResult::Rows;
    }

    #[inline]
    fn value(&mut self, value: &Operand<'_>) {
        if self.told != AnswerResult::Rows {
            return;
        }
        let kind = self.kept.definitions.kind(self.column);
        self.column += 1;
        match (value, kind) {
            (Operand::Null, _) => self.answers.null(),
            (Operand::Int(number), ColumnType::Int) => self.answers.int(*number),
            (Operand::Timestamp(us, _), ColumnType::DateTime(_))
            | (Operand::Date(us), ColumnType::Date)
                if self.form == ValueForm::Binary =>
            {
                self.answers.date_time(parts_of_time(*us));
            }
            (Operand::Timestamp(us, _), ColumnType::DateTime(digits)) => {
                self.put_shown(&Operand::Timestamp(*us, digits));
            }
            (Operand::Date(_), ColumnType::Date) => self.put_shown(value),
            (_, ColumnType::Int | ColumnType::DateTime(_) | ColumnType::Date) => {
                self.told = AnswerResult::OutOfRange;
            }
            (
                Operand::Int(_) | Operand::Decimal(..) | Operand::Quotient(..),
                ColumnType::Decimal(scale),
            ) => {
                let (units, has) = value.told_number().unwrap_or_default();
                self.put_decimal(units, has, scale);
            }
            (Operand::Text(text), _) => self.answers.put_text(&self.charset.write(text)),
            (shown, _) => self.put_shown(shown),
        }
    }

    #[inline]
    fn end_row(&mut self) -> ControlFlow<()> {
        if self.told != AnswerResult::Rows {
            return ControlFlow::Break(());
        }
        self.column = 0;
        self.answers.end_row();
        if self.answers.len() > self.most {
            self.told = AnswerResult::TooLarge;
        } else if !self.room.has_room(self.answers.len()) {
            self.told = AnswerResult::NoRoom;
        }
        match self.told {
            AnswerResult::Rows => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

impl ColumnDefinitions {
    fn define(
        &mut self,
        answers: &ResponseBuilder,
        columns: &Arc<[ResultColumn]>,
        charset: Charset,
    ) {
        let is_known = self
            .of
            .as_ref()
            .is_some_and(|(known, of)| Arc::ptr_eq(known, columns) && *of == charset);
        if is_known {
            return;
        }
        let names: Vec<_> = columns.iter().map(|column| name(column, charset)).collect();
        let definitions: Vec<_> = columns
            .iter()
            .zip(&names)
            .map(|(column, name)| Definition { name, kind: kind(column.kind, charset) })
            .collect();
        self.definitions = answers.build_definitions(&definitions);
        self.of = Some((columns.clone(), charset));
    }
}

/// What a client is told of a statement that it prepared.
pub(crate) fn write_prepare_response(
    answers: &mut ResponseBuilder,
    number: u32,
    marks: u16,
    columns: &[ResultColumn],
    charset: Charset,
) {
    let names: Vec<_> = columns.iter().map(|column| name(column, charset)).collect();
    let definitions: Vec<_> = columns
        .iter()
        .zip(&names)
        .map(|(column, name)| Definition { name, kind: kind(column.kind, charset) })
        .collect();
    answers.put_prepared(number, marks, &definitions);
}

fn name(column: &ResultColumn, charset: Charset) -> Vec<u8> {
    charset.write(column.name.as_bytes()).into_owned()
}

fn kind(kind: ColumnKind, charset: Charset) -> ColumnType {
    /// Bytes of a text of which nothing is known.
    const ANY: u32 = 1 << 24;
    let (collation, width) = (charset.collation(), charset.width());
    match kind {
        ColumnKind::Int => ColumnType::Int,
        ColumnKind::Decimal(scale) => ColumnType::Decimal(scale),
        ColumnKind::Text(most) => ColumnType::Text(collation, most.saturating_mul(width)),
        ColumnKind::Timestamp(digits) => ColumnType::DateTime(digits),
        ColumnKind::Date => ColumnType::Date,
        ColumnKind::Any => ColumnType::Text(collation, ANY),
    }
}
