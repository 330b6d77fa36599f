//! Rows of the engine as packets of the protocol.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use dbdyno_sql::{
    ColumnKind, ColumnOrigin, KeyRole, Operand, ResultColumn, Sink, TEXT_MOST, parts_of_time,
};
use dbdyno_wire::mysql::server::{
    ColumnFlags, ColumnType, Definition, DefinitionOrigin, Definitions, ResponseBuilder, TextForm,
    ValueForm,
};

use crate::charset::Charset;
use crate::room::AnswerShare;

/// The definitions of the columns of a statement, once they were asked for.
pub(crate) struct ColumnDefinitions<'s> {
    /// The schema in which all tables are.
    schema: &'s str,
    of: Option<(Arc<[ResultColumn]>, Charset)>,
    definitions: Definitions,
}

/// Rows on their way into an answer.
pub(crate) struct Telling<'a, 'r, 's> {
    answers: &'a mut ResponseBuilder,
    kept: &'a mut ColumnDefinitions<'s>,
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

impl<'a, 'r, 's> Telling<'a, 'r, 's> {
    pub(crate) fn new(
        answers: &'a mut ResponseBuilder,
        kept: &'a mut ColumnDefinitions<'s>,
        form: ValueForm,
        charset: Charset,
        most: usize,
        room: &'a mut AnswerShare<'r>,
    ) -> Telling<'a, 'r, 's> {
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

impl Sink for Telling<'_, '_, '_> {
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
            (Operand::Int(number), ColumnType::Int { bytes, .. }) => {
                self.answers.int(*number, bytes);
            }
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
            (_, ColumnType::Int { .. } | ColumnType::DateTime(_) | ColumnType::Date) => {
                self.told = AnswerResult::OutOfRange;
            }
            (
                Operand::Int(_) | Operand::Decimal(..) | Operand::Quotient(..),
                ColumnType::Decimal { scale, .. },
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

impl<'s> ColumnDefinitions<'s> {
    pub(crate) fn in_schema(schema: &'s str) -> ColumnDefinitions<'s> {
        ColumnDefinitions { schema, of: None, definitions: Definitions::default() }
    }

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
        self.definitions = self.written(columns, charset, |all| answers.build_definitions(all));
        self.of = Some((columns.clone(), charset));
    }

    /// Tells a client of a statement that it prepared.
    pub(crate) fn write_prepare_response(
        &self,
        answers: &mut ResponseBuilder,
        number: u32,
        marks: u16,
        columns: &[ResultColumn],
        charset: Charset,
    ) {
        self.written(columns, charset, |all| answers.put_prepared(number, marks, all));
    }

    /// Calls `write` with the definitions of columns.
    fn written<T>(
        &self,
        columns: &[ResultColumn],
        charset: Charset,
        write: impl FnOnce(&[Definition<'_>]) -> T,
    ) -> T {
        let schema = charset.write(self.schema.as_bytes());
        let names: Vec<_> =
            columns.iter().map(|column| ColumnNames::new(column, charset)).collect();
        let definitions: Vec<_> = columns
            .iter()
            .zip(&names)
            .map(|(column, names)| Definition {
                name: &names.name,
                kind: kind(column.kind, charset),
                flags: flags(column),
                origin: names.origin.as_ref().map(|[alias, table, column]| DefinitionOrigin {
                    schema: &schema,
                    alias,
                    table,
                    column,
                }),
            })
            .collect();
        write(&definitions)
    }
}

/// The names of a column in the character set of a client.
struct ColumnNames<'c> {
    name: Cow<'c, [u8]>,
    /// The table as the statement calls it, the table, the column of it.
    origin: Option<[Cow<'c, [u8]>; 3]>,
}

impl<'c> ColumnNames<'c> {
    fn new(column: &'c ResultColumn, charset: Charset) -> ColumnNames<'c> {
        let origin = column.origin.as_ref().map(|origin| {
            let ColumnOrigin { alias, table, column, .. } = origin;
            [alias, table, column].map(|name| charset.write(name.as_bytes()))
        });
        ColumnNames { name: charset.write(column.name.as_bytes()), origin }
    }
}

/// What is told of a column besides its type.
fn flags(column: &ResultColumn) -> u16 {
    let is_text = matches!(column.kind, ColumnKind::Text(_) | ColumnKind::Char(_));
    let is_number = matches!(column.kind, ColumnKind::Int { .. } | ColumnKind::Decimal { .. });
    let is_of_table = column.origin.is_some();
    let mut flags = 0;
    for (is, flag) in [
        (column.is_required, ColumnFlags::NOT_NULL),
        (is_text && is_of_table || is_number && !is_of_table, ColumnFlags::BINARY),
    ] {
        flags |= if is { flag } else { 0 };
    }
    let Some(origin) = &column.origin else { return flags };
    for (is, flag) in [
        (origin.key == KeyRole::Primary, ColumnFlags::PRIMARY_KEY),
        (origin.key == KeyRole::Unique, ColumnFlags::UNIQUE_KEY),
        (origin.key == KeyRole::First, ColumnFlags::MULTIPLE_KEY),
        (origin.is_key_part, ColumnFlags::PART_OF_KEY),
        (origin.counts_up, ColumnFlags::AUTO_INCREMENT),
        (origin.needs_value, ColumnFlags::NO_DEFAULT_VALUE),
    ] {
        flags |= if is { flag } else { 0 };
    }
    flags
}

/// The type of a text of at most so many characters.
fn text_type(form: TextForm, most: u32, charset: Charset) -> ColumnType {
    let bytes = most.saturating_mul(charset.width());
    ColumnType::Text { form, collation: charset.collation(), bytes }
}

fn kind(kind: ColumnKind, charset: Charset) -> ColumnType {
    /// Characters of a text of which nothing is known: 16 MiB in UTF-8.
    const ANY: u32 = 1 << 22;
    match kind {
        ColumnKind::Int { bytes, signed } => ColumnType::Int { bytes, signed },
        ColumnKind::Decimal { digits, scale } => ColumnType::Decimal { digits, scale },
        ColumnKind::Char(most) => text_type(TextForm::Char, most, charset),
        ColumnKind::Text(most) if most < TEXT_MOST => text_type(TextForm::Varchar, most, charset),
        ColumnKind::Text(most) => text_type(TextForm::Blob, most - 1, charset),
        ColumnKind::Timestamp(digits) => ColumnType::DateTime(digits),
        ColumnKind::Date => ColumnType::Date,
        ColumnKind::Any => text_type(TextForm::Varchar, ANY, charset),
    }
}
