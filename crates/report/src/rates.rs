//! The columns of rates: a column is made here once, and tables choose among them.
//!
//! ```text
//!   first screen   load                 base   test   change   interval          answer
//!   several counts load                 1 client, 8 clients, …: change and interval each
//!   whole report   clients, below load  base   test   change   interval   ratio  answer
//!   page           load, or clients     answer change interval drawn ratio base test pairs …
//! ```

use dbdyno_document::number::{self, GLUE};
use dbdyno_document::{ColumnTone, DataTable, TableCell, TableColumn, Text, Tint};
use dbdyno_model::Verdict;

use crate::cautions;
use crate::groups::{self, NamedGroup};
use crate::notes::Notes;
use crate::rows::{self, RateRow};
use crate::view::CellView;
use crate::words::{self, Group};

/// A cell as it stands in tables of rates.
pub(crate) struct RatedCell<'a> {
    pub(crate) cell: &'a CellView,
    row: RateRow,
    /// Numbers of its notes.
    marks: Vec<usize>,
}

/// A column of such cells.
pub(crate) type RateColumn<'c, 'a> = TableColumn<'c, RatedCell<'a>>;

impl<'a> RatedCell<'a> {
    /// Each of these cells with the numbers of its notes.
    pub(crate) fn from_cells(cells: &[&'a CellView], notes: &Notes<'_>) -> Vec<RatedCell<'a>> {
        let rated = cells.iter().map(|cell| RatedCell {
            cell,
            row: rows::rate(cell),
            marks: notes.of_cell(cell),
        });
        rated.collect()
    }
}

/// The load of each cell.
pub(crate) fn load_column<'a>(title: impl Into<Text>) -> RateColumn<'static, 'a> {
    TableColumn::word_texts(title, |of: &RatedCell<'_>| (&of.cell.load).into())
}

/// How many clients each cell has, below its load.
pub(crate) fn clients<'a>(title: impl Into<Text>) -> RateColumn<'static, 'a> {
    TableColumn::word_texts(title, |of: &RatedCell<'_>| (&of.row.clients).into())
}

pub(crate) fn base_column<'a>() -> RateColumn<'static, 'a> {
    TableColumn::number_cells("base", |of: &RatedCell<'_>| figure(&of.row.base))
        .of_arm(ColumnTone::Base)
}

pub(crate) fn test_column<'a>() -> RateColumn<'static, 'a> {
    TableColumn::number_cells("test", |of: &RatedCell<'_>| figure(&of.row.test))
        .of_arm(ColumnTone::Test)
}

/// A rate with its spread, and at last without it.
fn figure(with_spread: &str) -> TableCell {
    let bare = with_spread.split(" ±").next().unwrap_or_default();
    TableCell::from(with_spread).or_shorter(with_spread.into()).or_shorter(bare.into())
}

pub(crate) fn change_column<'a>() -> RateColumn<'static, 'a> {
    TableColumn::number_texts("test vs base", |of: &RatedCell<'_>| (&of.row.change).into())
}

/// The interval of the change beside it.
pub(crate) fn interval<'a>() -> RateColumn<'static, 'a> {
    let column = TableColumn::word_texts(format!("95{GLUE}% interval"), |of: &RatedCell<'_>| {
        format!("({})", bare_interval(&of.row.interval).replace(' ', &GLUE.to_string())).into()
    });
    column.untitled_on_terminals()
}

/// An interval beside what says that it is of percents.
fn bare_interval(interval: &str) -> String {
    interval.replace(&format!("{GLUE}%"), "")
}

/// The ratio of both arms: rQPS, if the figures are rates.
pub(crate) fn ratio<'a>(group: &Group<'_>) -> RateColumn<'static, 'a> {
    // The ratio of response times, or of highest rates, is no rQPS.
    let title = if group.unit.is_some() { "rQPS" } else { "ratio" };
    TableColumn::number_texts(title, |of: &RatedCell<'_>| (&of.row.rqps).into()).off_terminals()
}

/// The answer, with what is missing for one.
pub(crate) fn answer_column<'a>() -> RateColumn<'static, 'a> {
    let column = TableColumn::word_cells("answer", |of: &RatedCell<'_>| {
        answer_of(of).with_marks(of.marks.clone())
    });
    column.untitled_on_terminals()
}

/// The answer, with a sign where anything speaks against it.
pub(crate) fn answer_in_short<'a>() -> RateColumn<'static, 'a> {
    let column = TableColumn::word_cells("answer", |of: &RatedCell<'_>| {
        answer_of(of).and_text(sign(of.cell))
    });
    column.untitled_on_terminals()
}

fn answer_of(of: &RatedCell<'_>) -> TableCell {
    let word =
        TableCell::tinted_text(words::verdict_word(of.row.verdict), verdict_tint(of.row.verdict));
    let needs = words::needed_pairs(of.cell).map_or(String::new(), |needs| format!(", {needs}"));
    word.clone().and_text(needs).or_shorter(word).as_answer()
}

/// What the colour of a verdict repeats.
pub(crate) fn verdict_tint(verdict: Verdict) -> Tint {
    match verdict {
        Verdict::Slower => Tint::Worse,
        Verdict::Faster => Tint::Better,
        Verdict::Undecided => Tint::Undecided,
        Verdict::Equal => Tint::None,
    }
}

/// The sign of a cell that anything speaks against.
fn sign(cell: &CellView) -> &'static str {
    let is_doubted = cell.warnings.iter().any(|warning| cautions::is_doubt(&warning));
    if is_doubted || cell.is_doubted_by_run { " !" } else { "" }
}

/// Loads with their client counts below them.
pub(crate) fn below_loads<'a>(
    columns: &[RateColumn<'_, 'a>],
    cells: &[RatedCell<'a>],
) -> DataTable {
    let mut table = DataTable::new(columns, &[]);
    for of_load in cells.chunk_by(|a, b| a.cell.load == b.cell.load) {
        table.add_group(vec![(&of_load[0].cell.load).into()]);
        table.add_rows(columns, of_load);
    }
    table.titled_by_its_corner()
}

/// A line a load of cells that have one number of clients: rates, change, interval, answer.
pub(crate) fn one_count_table(
    title: &str,
    clients: u32,
    groups: &[NamedGroup<&CellView>],
    notes: &Notes<'_>,
    budget: Option<f64>,
) -> DataTable {
    let corner = format!("{title} at {}", words::clients(clients));
    let columns = [
        load_column(corner),
        base_column(),
        test_column(),
        change_column(),
        interval(),
        answer_in_short(),
    ];
    let mut table = DataTable::new(&columns, &[]);
    for (called, cells) in groups {
        if let Some(called) = called {
            let median = groups::median(cells).map(|median| format!("median {median}"));
            let mut names = vec![TableCell::from(called)];
            names.resize(3, TableCell::default());
            names.push(median.unwrap_or_default().into());
            table.add_group(names);
        }
        table.add_rows(&columns, &RatedCell::from_cells(cells, notes));
    }
    table.titled_by_its_corner().with_legend(answer_legend(groups, budget).join("; "))
}

/// A line a load, and a column for each number of clients.
pub(crate) fn client_counts_table(
    title: &str,
    counts: &[u32],
    groups: &[NamedGroup<&CellView>],
    budget: Option<f64>,
) -> DataTable {
    type Line<'a> = Vec<&'a CellView>;
    let corner = format!("{title}, test vs base");
    let mut columns =
        vec![TableColumn::word_texts(corner, |cells: &Line<'_>| (&cells[0].load).into())];
    columns.extend(counts.iter().map(|&count| {
        TableColumn::number_cells(words::clients(count), move |cells: &Line<'_>| {
            let cell = cells.iter().find(|cell| cell.clients == count);
            cell.map(|cell| in_column(cell)).unwrap_or_default()
        })
    }));
    let mut table = DataTable::new(&columns, &[]);
    for (called, cells) in groups {
        if let Some(called) = called {
            table.add_group(vec![called.into()]);
        }
        let mut lines: Vec<Line<'_>> = Vec::new();
        for cell in cells {
            match lines.iter_mut().find(|line| line[0].load == cell.load) {
                Some(line) => line.push(cell),
                None => lines.push(vec![cell]),
            }
        }
        table.add_rows(&columns, &lines);
    }
    let within = within(budget);
    let signs = format!("▼ slower, ▲ faster, = equal{within}, ~ cannot tell: neither");
    table.titled_by_its_corner().with_legend([vec![signs], sign_legend(groups)].concat().join("; "))
}

/// `within 2 %`, the budget of an equality.
fn within(budget: Option<f64>) -> String {
    budget.map_or(String::new(), |budget| format!(" within {}", number::percent_as_given(budget)))
}

/// What the sign behind an answer means, where a cell has one.
fn sign_legend(groups: &[NamedGroup<&CellView>]) -> Vec<String> {
    let has_sign = groups.iter().flat_map(|(_, cells)| cells).any(|cell| !sign(cell).is_empty());
    has_sign.then(|| "! a caution speaks against it".to_owned()).into_iter().collect()
}

/// What the answers of a column of words mean, as far as the words do not say it.
fn answer_legend(groups: &[NamedGroup<&CellView>], budget: Option<f64>) -> Vec<String> {
    let mut cells = groups.iter().flat_map(|(_, cells)| cells);
    let is_open = cells.any(|cell| cell.verdict.0 == Verdict::Undecided && !cell.is_blocked());
    let within = within(budget);
    let words = format!("cannot tell: neither surely slower or faster, nor surely equal{within}");
    is_open.then_some(words).into_iter().chain(sign_legend(groups)).collect()
}

/// How the answer of a cell stands in a column; the interval where there is room.
fn in_column(cell: &CellView) -> TableCell {
    let sign = match cell.verdict.0 {
        Verdict::Slower => "▼",
        Verdict::Faster => "▲",
        Verdict::Equal => "=",
        Verdict::Undecided => "~",
    };
    let change = words::cell_change(cell);
    let mut short = TableCell::from(format!("{sign} {}", change.estimate));
    if let Some(interval) = change.interval {
        let long = short.clone().and_text(format!(" ({})", bare_interval(&interval)));
        short = long.or_shorter(short);
    }
    short.and_text(self::sign(cell))
}
