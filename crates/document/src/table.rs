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

use crate::cell::TableCell;
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

type ShownCell<'a, R> = Box<dyn Fn(&R) -> TableCell + 'a>;
type RecordedField<'a, R> = Box<dyn Fn(&R) -> String + 'a>;

impl<'a, R> TableColumn<'a, R> {
    /// A column of words.
    pub fn word_texts(title: impl Into<Text>, shown: impl Fn(&R) -> Text + 'a) -> Self {
        TableColumn::word_cells(title, move |row| shown(row).into())
    }

    /// A column of numbers.
    pub fn number_texts(title: impl Into<Text>, shown: impl Fn(&R) -> Text + 'a) -> Self {
        TableColumn::number_cells(title, move |row| shown(row).into())
    }

    /// A column of words, of which some have a tint, marks, or shorter forms.
    pub fn word_cells(title: impl Into<Text>, shown: impl Fn(&R) -> TableCell + 'a) -> Self {
        TableColumn::shown(title.into(), Alignment::Left, Box::new(shown))
    }

    /// A column of numbers, of which some have a tint, marks, or shorter forms.
    pub fn number_cells(title: impl Into<Text>, shown: impl Fn(&R) -> TableCell + 'a) -> Self {
        TableColumn::shown(title.into(), Alignment::Right, Box::new(shown))
    }

    fn shown(title: Text, alignment: Alignment, cell: ShownCell<'a, R>) -> Self {
        let head = ColumnHead {
            title,
            alignment,
            most: None,
            is_group: false,
            is_dispensable: false,
            is_off_terminals: false,
            is_drawing: false,
            is_untitled_on_terminals: false,
            marks: Vec::new(),
            tone: ColumnTone::None,
            about: Text::default(),
        };
        TableColumn { shown: Some((head, cell)), recorded: None }
    }

    /// The same, which a terminal leaves out if it is too narrow: the last such column first.
    pub fn as_dispensable(mut self) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.is_dispensable = true);
        self
    }

    /// The same with what its signs mean, which is told below the table where the column is shown.
    pub fn with_legend(mut self, about: impl Into<Text>) -> Self {
        let about = about.into();
        self.shown.iter_mut().for_each(|(head, _)| head.about = about.clone());
        self
    }

    /// The same, of which a terminal leaves the title out: the columns before it say it.
    pub fn untitled_on_terminals(mut self) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.is_untitled_on_terminals = true);
        self
    }

    /// The same with the numbers of footnotes beside its title.
    pub fn with_marks(mut self, marks: Vec<usize>) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.marks = marks.clone());
        self
    }

    /// The same as the numbers of an arm.
    pub fn of_arm(mut self, tone: ColumnTone) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.tone = tone);
        self
    }

    /// A column of drawings, which only pages have; its title says what they are to those who do
    /// not see them.
    pub fn drawing_cells(title: impl Into<Text>, shown: impl Fn(&R) -> TableCell + 'a) -> Self {
        let mut column = TableColumn::number_cells(title, shown).off_terminals();
        column.shown.iter_mut().for_each(|(head, _)| head.is_drawing = true);
        column
    }

    /// The same, for which no terminal has room.
    pub fn off_terminals(mut self) -> Self {
        self.shown.iter_mut().for_each(|(head, _)| head.is_off_terminals = true);
        self
    }

    /// A column for programs, by its name in JSON. What is not known is empty.
    pub fn recorded_field(name: &'static str, field: impl Fn(&R) -> String + 'a) -> Self {
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

/// Whose numbers a column has: on a page its head has the colour of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnTone {
    /// Nobody's.
    None,
    /// Of what others are measured against.
    Base,
    /// Of what is measured against it.
    Test,
}

/// What stands above a column.
#[derive(Clone)]
pub(crate) struct ColumnHead {
    pub(crate) title: Text,
    pub(crate) alignment: Alignment,
    /// Characters after which a terminal cuts.
    pub(crate) most: Option<usize>,
    pub(crate) is_group: bool,
    pub(crate) is_dispensable: bool,
    pub(crate) is_off_terminals: bool,
    pub(crate) is_drawing: bool,
    pub(crate) is_untitled_on_terminals: bool,
    /// Numbers of footnotes.
    pub(crate) marks: Vec<usize>,
    pub(crate) tone: ColumnTone,
    pub(crate) about: Text,
}

/// A row of cells that people see.
#[derive(Clone)]
pub(crate) struct TableRow {
    /// Whether it names the rows below it.
    pub(crate) is_group: bool,
    /// Of the first columns; the others are empty.
    pub(crate) cells: Vec<TableCell>,
}

/// A table whose cells are filled.
#[derive(Clone)]
pub struct DataTable {
    pub(crate) title: Text,
    /// Whether the head of the first column is what the table is called.
    pub(crate) has_corner: bool,
    /// How many of the first columns stand in each part where a terminal divides it.
    pub(crate) leads: usize,
    /// What its signs mean.
    pub(crate) about: Text,
    pub(crate) heads: Vec<ColumnHead>,
    pub(crate) rows: Vec<TableRow>,
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
            has_corner: false,
            leads: 0,
            about: Text::default(),
            heads: shown.clone().map(|(head, _)| head.clone()).collect(),
            rows: Vec::new(),
            has_sum: false,
            names: recorded.clone().map(|(name, _)| *name).collect(),
            records: Vec::new(),
        };
        table.add_rows(columns, rows);
        table
    }

    /// Names, and the numbers that belong to them under these heads.
    pub fn of_numbers(
        name: impl Into<Text>,
        heads: impl IntoIterator<Item = impl Into<Text>>,
        rows: impl IntoIterator<Item = (impl Into<Text>, Vec<TableCell>)>,
    ) -> DataTable {
        type Row = Vec<TableCell>;
        let numbers = heads.into_iter().enumerate().map(|(at, head)| {
            TableColumn::number_cells(head, move |row: &Row| {
                row.get(at + 1).cloned().unwrap_or_default()
            })
        });
        let name = TableColumn::word_cells(name, |row: &Row| row[0].clone());
        let columns: Vec<TableColumn<'_, Row>> = std::iter::once(name).chain(numbers).collect();
        let rows = rows.into_iter().map(|(name, cells)| {
            let mut row = vec![TableCell::from(name)];
            row.extend(cells);
            row
        });
        DataTable::new(&columns, &rows.collect::<Vec<Row>>())
    }

    /// Puts more rows below the others, filled from these columns.
    pub fn add_rows<'r, R: 'r>(
        &mut self,
        columns: &[TableColumn<'_, R>],
        rows: impl IntoIterator<Item = &'r R>,
    ) {
        for row in rows {
            let shown = columns.iter().filter_map(|column| column.shown.as_ref());
            let cells = shown.map(|(_, cell)| cell(row)).collect();
            self.rows.push(TableRow { is_group: false, cells });
            self.records.push(record(columns, row));
        }
    }

    /// Puts a row below the others that names those which will follow, with what is to be said of
    /// all of them. One cell runs across all columns.
    pub fn add_group(&mut self, cells: Vec<TableCell>) {
        self.rows.push(TableRow { is_group: true, cells });
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
    pub fn with_title(mut self, title: impl Into<Text>) -> DataTable {
        self.title = title.into();
        self
    }

    /// The same, called by the head of its first column.
    pub fn titled_by_its_corner(self) -> DataTable {
        DataTable { has_corner: true, ..self }
    }

    /// The same, which a terminal may divide between columns: so many of the first ones, of words
    /// or of numbers, stand in each part.
    pub fn divided_behind(self, leads: usize) -> DataTable {
        DataTable { leads, ..self }
    }

    /// The same with what its signs mean.
    pub fn with_legend(mut self, about: impl Into<Text>) -> DataTable {
        self.about = about.into();
        self
    }

    /// The same without columns that say nothing in any row. Drawings stay.
    pub fn without_empty_columns(mut self) -> DataTable {
        for at in (0..self.heads.len()).rev() {
            let cells = self.rows.iter().map(|row| row.cells.get(at));
            let is_empty = cells.flatten().all(TableCell::is_empty) && !self.heads[at].is_drawing;
            if is_empty {
                self.heads.remove(at);
                let rows = self.rows.iter_mut().filter(|row| at < row.cells.len());
                rows.for_each(|row| drop(row.cells.remove(at)));
            }
        }
        self
    }

    /// Whether no row was filled.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The same, whose last row is the sum of the others.
    pub fn with_sum(mut self) -> DataTable {
        self.has_sum = true;
        self
    }
}

impl ColumnHead {
    /// The title with its marks.
    pub(crate) fn cell(&self) -> TableCell {
        TableCell::from(self.title.clone()).with_marks(self.marks.clone())
    }
}

impl DataTable {
    /// What its signs mean, and those of its columns.
    pub(crate) fn legend_texts(&self, columns: &[usize]) -> Vec<&Text> {
        let of_columns = columns.iter().map(|at| &self.heads[*at].about);
        std::iter::once(&self.about).chain(of_columns).filter(|about| !about.is_empty()).collect()
    }
}

fn record<R>(columns: &[TableColumn<'_, R>], row: &R) -> Vec<String> {
    let recorded = columns.iter().filter_map(|column| column.recorded.as_ref());
    recorded.map(|(_, field)| field(row)).collect()
}
