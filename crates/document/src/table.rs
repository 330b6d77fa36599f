//! Tables: a column is one place.
//!
//! ```text
//!   column   title      ┐ for people: terminal, Markdown, HTML     "base, µs"    12.3
//!            shown      ┘
//!            name       ┐ for programs: CSV, in the words of JSON  base_us       12.3456
//!            recorded   ┘
//! ```
//!
//! A column has either side or both: an interval is one column of people and three of programs.

use crate::text::Text;

/// Where the texts of a column stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment {
    /// Words begin below each other.
    Left,
    /// Numbers end below each other.
    Right,
}

/// A column of rows of this type.
pub struct TableColumn<'a, R> {
    shown: Option<(ColumnHead, ShownCell<'a, R>)>,
    recorded: Option<(&'static str, RecordedField<'a, R>)>,
}

type ShownCell<'a, R> = Box<dyn Fn(&R) -> Text + 'a>;
type RecordedField<'a, R> = Box<dyn Fn(&R) -> String + 'a>;

impl<'a, R> TableColumn<'a, R> {
    /// A column of words.
    pub fn words(title: impl Into<Text>, shown: impl Fn(&R) -> Text + 'a) -> Self {
        TableColumn::shown(title.into(), Alignment::Left, Box::new(shown))
    }

    /// A column of numbers.
    pub fn numbers(title: impl Into<Text>, shown: impl Fn(&R) -> Text + 'a) -> Self {
        TableColumn::shown(title.into(), Alignment::Right, Box::new(shown))
    }

    fn shown(title: Text, alignment: Alignment, cell: ShownCell<'a, R>) -> Self {
        let head = ColumnHead { title, alignment, most: None, is_group: false };
        TableColumn { shown: Some((head, cell)), recorded: None }
    }

    /// A column for programs, by its name in JSON. What is not known is empty.
    pub fn recorded(name: &'static str, field: impl Fn(&R) -> String + 'a) -> Self {
        TableColumn { shown: None, recorded: Some((name, Box::new(field))) }
    }

    /// The same for programs, too.
    pub fn and_recorded(mut self, name: &'static str, field: impl Fn(&R) -> String + 'a) -> Self {
        self.recorded = Some((name, Box::new(field)));
        self
    }

    /// The same, cut behind so many characters on a terminal.
    pub fn cut_behind(mut self, most: usize) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.most = Some(most));
        self
    }

    /// The same as the group of its rows: rows of one group follow each other. A terminal names the
    /// group once, above its rows, and leaves the heads of the columns out.
    pub fn as_group(mut self) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.is_group = true);
        self
    }
}

/// What stands above a column.
#[derive(Clone)]
pub(crate) struct ColumnHead {
    pub(crate) title: Text,
    pub(crate) alignment: Alignment,
    /// Characters after which a terminal cuts.
    pub(crate) most: Option<usize>,
    pub(crate) is_group: bool,
}

/// A table whose cells are filled.
pub struct DataTable {
    pub(crate) title: Text,
    pub(crate) heads: Vec<ColumnHead>,
    /// Of each row the cells that people see.
    pub(crate) rows: Vec<Vec<Text>>,
    pub(crate) has_sum: bool,
    pub(crate) names: Vec<&'static str>,
    /// Of each row the fields that programs read.
    pub(crate) records: Vec<Vec<String>>,
}

impl DataTable {
    /// The columns, filled from each of the rows.
    pub fn new<'r, R: 'r>(
        columns: &[TableColumn<'_, R>],
        rows: impl IntoIterator<Item = &'r R>,
    ) -> DataTable {
        let shown = columns.iter().filter_map(|column| column.shown.as_ref());
        let recorded = columns.iter().filter_map(|column| column.recorded.as_ref());
        let mut table = DataTable {
            title: Text::default(),
            heads: shown.clone().map(|(head, _)| head.clone()).collect(),
            rows: Vec::new(),
            has_sum: false,
            names: recorded.clone().map(|(name, _)| *name).collect(),
            records: Vec::new(),
        };
        for row in rows {
            table.rows.push(shown.clone().map(|(_, cell)| cell(row)).collect());
            table.records.push(record(columns, row));
        }
        table
    }

    /// The same, of which programs read these rows, where people see an excerpt.
    pub fn with_records<'r, R: 'r>(
        mut self,
        columns: &[TableColumn<'_, R>],
        rows: impl IntoIterator<Item = &'r R>,
    ) -> DataTable {
        self.records = rows.into_iter().map(|row| record(columns, row)).collect();
        self
    }

    /// The same with a title.
    pub fn titled(mut self, title: impl Into<Text>) -> DataTable {
        self.title = title.into();
        self
    }

    /// The same, whose last row is the sum of the others.
    pub fn with_sum(mut self) -> DataTable {
        self.has_sum = true;
        self
    }
}

fn record<R>(columns: &[TableColumn<'_, R>], row: &R) -> Vec<String> {
    let recorded = columns.iter().filter_map(|column| column.recorded.as_ref());
    recorded.map(|(_, field)| field(row)).collect()
}
