//! Rows and columns, from whatever form they came.
//!
//! ```text
//!   CSV · Markdown · JSON ─▶ Table: a header, rows of cells, each with its place in the file
//!                              └─▶ order · dimensions · figures ─▶ series
//! ```
//!
//! A cell is the text that stood in the file. What it means is decided by its whole column.

use dbdyno_model::Better;

use crate::error::JudgeError;

use super::cells::{self, DecimalMark};

/// What stands where there is no value.
const BLANKS: [&str; 8] = ["", "nan", "na", "n/a", "null", "none", "-", "inf"];
/// So many values of a column are named in a message.
const VALUES_NAMED_MOST: usize = 12;

/// Columns of one table at most: more are no columns, but rows that lie on their side.
pub(super) const COLUMNS_MOST: usize = 2_000;
/// Cells of one table at most.
pub(super) const CELLS_MOST: usize = 8_000_000;

/// In the column [`Table::better`]: more is better for all that the tool measures.
pub(super) const HIGHER: &str = "higher";
/// Less is better for all that the tool measures, or for most of it.
pub(super) const LOWER: &str = "lower";
/// The owner of the benchmark says that more is better.
pub(super) const BIGGER: &str = "bigger, by its owner";
/// The owner of the benchmark says that less is better.
pub(super) const SMALLER: &str = "smaller, by its owner";

/// What parted the cells; it says how likely a comma within a number is a decimal mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    Tab,
    /// Markdown, and the tables of the servers' clients.
    Pipe,
    /// None, because every value has its name.
    Json,
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its line, or that of the document in which it stands.
    pub(super) line: usize,
    /// Its number within an array, from 1.
    pub(super) entry: Option<usize>,
}

impl Place {
    pub(super) fn of_line(line: usize) -> Place {
        Place { line, entry: None }
    }

    /// What a row is called that has no name.
    pub(super) fn name(self) -> String {
        match self.entry {
            Some(entry) => format!("entry {entry}"),
            None => format!("line {}", self.line),
        }
    }
}

/// A row, with as many cells as the header has.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) place: Place,
    pub(super) cells: Vec<String>,
}

/// Cells of a file with the places of their rows.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    /// What the file is called in messages.
    pub(super) name: &'a str,
    /// What the file was taken for, in words.
    pub(super) form: String,
    pub(super) separator: Separator,
    pub(super) header_line: usize,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Row>,
    /// The columns that a form knows to be figures; found by their contents where it knows none.
    pub(super) figures: Option<Vec<usize>>,
    /// The columns of which a form knows that each combination of values is a series.
    pub(super) parting: Option<Vec<usize>>,
    /// The column in which a form says whether `higher` or `lower` is better.
    pub(super) better: Option<usize>,
    /// Columns that say how runs ended, which tell no series apart.
    pub(super) of_failures: Vec<usize>,
    /// Columns of outcomes that are written as 1 and 0, and which of them is good, if that is
    /// known.
    pub(super) outcomes: Vec<(usize, Option<Better>)>,
    /// Whether a moment is that of a run, so that several rows of one are its repeats.
    pub(super) has_moments_of_runs: bool,
    /// Why the rows have another order than the file tells at first sight, in a sentence.
    pub(super) of_order: Option<String>,
    /// What of the file is not in the table, in sentences.
    pub(super) passed_over: Vec<String>,
    /// Why the file may not have all that it was asked for, in sentences.
    pub(super) missing: Vec<String>,
    /// Lists that have figures of their own, which are in no cell.
    pub(super) lists: Vec<String>,
    /// Values that say how runs ended in a form that is not read, and their names.
    pub(super) unread_endings: Vec<String>,
    /// Runs of which nothing was measured.
    pub(super) runs_without_rows: Vec<RunWithoutRows>,
}

/// A run that is told, and of which no benchmark is.
#[derive(Clone, Debug)]
pub(super) struct RunWithoutRows {
    /// Where it stands in the file, in words.
    pub(super) place: String,
    /// When it was, as the file has it; blank where it says nothing.
    pub(super) date: String,
}

impl<'a> Table<'a> {
    pub(super) fn new(
        name: &'a str,
        form: &str,
        separator: Separator,
        header_line: usize,
        header: Vec<String>,
        rows: Vec<Row>,
    ) -> Table<'a> {
        Table {
            name,
            form: form.to_owned(),
            separator,
            header_line,
            header,
            rows,
            figures: None,
            parting: None,
            better: None,
            of_failures: Vec::new(),
            outcomes: Vec::new(),
            has_moments_of_runs: false,
            of_order: None,
            passed_over: Vec::new(),
            missing: Vec::new(),
            lists: Vec::new(),
            unread_endings: Vec::new(),
            runs_without_rows: Vec::new(),
        }
    }

    pub(super) fn cells(&self, column: usize) -> impl Iterator<Item = &str> {
        self.rows.iter().map(move |row| row.cells[column].trim())
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> &str {
        self.rows[row].cells[column].trim()
    }

    /// The column of this name, whatever the case.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|head| head.eq_ignore_ascii_case(name))
    }

    /// Whether the header calls a column one of these, whatever the case.
    pub(super) fn is_called(&self, column: usize, names: &[&str]) -> bool {
        names.iter().any(|name| self.header[column].eq_ignore_ascii_case(name))
    }

    /// The column that the user calls so.
    pub(super) fn column_named(&self, name: &str) -> Result<usize, JudgeError> {
        self.column(name).ok_or_else(|| {
            let what =
                format!("no column is called {name:?}; there are {}", self.header.join(", "));
            error_at(self.name, self.header_line, 1, &what)
        })
    }

    /// Whether most of what a column has are numbers, with or without a known unit.
    pub(super) fn is_numeric(&self, column: usize) -> bool {
        let present = || self.cells(column).filter(|cell| !is_blank(cell));
        let numbers = present().filter(|cell| cells::is_number(cell)).count();
        numbers > 0 && 2 * numbers > present().count()
    }

    /// What its values are, each once, in the order of the alphabet.
    pub(super) fn values(&self, column: usize) -> Vec<&str> {
        let mut values: Vec<&str> = self.cells(column).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Keeps the rows in which columns have these values.
    pub(super) fn keep_rows(&mut self, filters: &[(String, String)]) -> Result<(), JudgeError> {
        for (name, value) in filters {
            let column = self.column_named(name)?;
            if !self.cells(column).any(|cell| cell == value) {
                let mut there = self.values(column);
                there.truncate(VALUES_NAMED_MOST);
                let what =
                    format!("no row has {value:?} in {name:?}; there are {}", there.join(", "));
                return Err(self.refuse_column(column, &what));
            }
            self.rows.retain(|row| row.cells[column].trim() == value);
        }
        Ok(())
    }

    /// An error about a cell.
    pub(super) fn refuse_cell(&self, row: usize, column: usize, what: &str) -> JudgeError {
        let place = self.rows[row].place;
        match place.entry {
            None if self.separator != Separator::Json => {
                error_at(self.name, place.line, column + 1, what)
            }
            _ => {
                let what = format!("{}, {:?}: {what}", place.name(), self.header[column]);
                error_at(self.name, place.line, 1, &what)
            }
        }
    }

    /// An error about a column.
    pub(super) fn refuse_column(&self, column: usize, what: &str) -> JudgeError {
        let column = if self.separator == Separator::Json { 1 } else { column + 1 };
        error_at(self.name, self.header_line, column, what)
    }

    /// What the cells of some columns say about the decimal mark.
    pub(super) fn mark_evidence(&self, columns: &[usize]) -> cells::Evidence {
        columns.iter().fold(cells::Evidence::default(), |all, &column| {
            all.combined_with(cells::Evidence::from_cells(self.cells(column)))
        })
    }

    /// What stands for the decimal mark in a column: what its cells say, else what the columns of
    /// numbers say together, else what is usual between such separators.
    ///
    /// # Errors
    /// A cell that may mean two numbers where nothing decides it.
    pub(super) fn decimal_mark(
        &self,
        column: usize,
        whole: cells::Evidence,
    ) -> Result<DecimalMark, JudgeError> {
        let own = cells::Evidence::from_cells(self.cells(column));
        if let Some(mark) = own.decimal_mark().or_else(|| whole.decimal_mark()) {
            return Ok(mark);
        }
        let Some(open) = own.open else { return Ok(DecimalMark::Point) };
        let cell = self.cell(open, column);
        let is_usual = match self.separator {
            Separator::Semicolon => false,
            Separator::Tab => !cell.contains(','),
            Separator::Comma | Separator::Pipe | Separator::Json => true,
        };
        match is_usual && !own.is_at_odds() {
            true => Ok(DecimalMark::Point),
            false => Err(self.refuse_cell(
                open,
                column,
                &format!(
                    "{cell:?} may be a thousand times as much, by whether its mark is that of the \
                     decimals or of thousands, and no cell of the file decides it; say --decimal \
                     point or --decimal comma"
                ),
            )),
        }
    }
}

pub(super) fn is_blank(cell: &str) -> bool {
    let plain = cell.trim().trim_start_matches(['+', '-', '–', '—', '−']).to_ascii_lowercase();
    BLANKS.contains(&plain.as_str())
}

/// A message has at most so many letters of its beginning, and of its end, where the advice stands.
const BEGINNING_MOST: usize = 600;
const END_MOST: usize = 300;

/// An error with its place. What it quotes is somebody's, and may be of any size: of a long message
/// the middle is left out.
pub(super) fn error_at(name: &str, line: usize, column: usize, what: &str) -> JudgeError {
    let letters = what.chars().count();
    let what = match letters > BEGINNING_MOST + END_MOST {
        false => what.to_owned(),
        true => {
            let beginning: String = what.chars().take(BEGINNING_MOST).collect();
            let end: String = what.chars().skip(letters - END_MOST).collect();
            format!("{beginning} […] {end}")
        }
    };
    JudgeError::History(format!("{name}:{line}:{column}: {what}"))
}
