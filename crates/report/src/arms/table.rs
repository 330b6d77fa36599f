//! Tables of one shape, which the document, the page and the drawing lay out.
//!
//! ```text
//!                    base: as it is   arm: ratio   arm: ratio
//!   rows by key                          median       median      a part for each group
//!     point-query        21 840          ▼ 0.91       ▼ 0.73      a line for each row
//! ```

use dbdyno_document::number::{self, UNKNOWN};

use super::costs::{self, Quantity};
use super::figure::{Better, Figure};
use super::groups::Group;
use super::rows::Row;
use super::view::ArmsView;
use super::words;

/// Loads down, arms across.
pub(super) struct Table {
    /// What it shows.
    pub(super) title: String,
    /// What the figures of the reference count, unless they say it themselves.
    pub(super) unit: String,
    /// The number of clients, if all rows have the same.
    pub(super) clients: Option<u32>,
    /// Where the arm stands whose figures are as they are.
    pub(super) first: usize,
    pub(super) parts: Vec<Part>,
    /// Medians of all rows, where there are several parts.
    pub(super) all: Option<Part>,
}

/// A group.
pub(super) struct Part {
    /// What it is called; nothing where it is the only one.
    pub(super) called: Option<String>,
    /// Medians, one for each arm; none of the reference.
    pub(super) medians: Vec<Option<Figure>>,
    pub(super) lines: Vec<Line>,
}

/// A load at one client count.
pub(super) struct Line {
    /// Which row of the view it is.
    pub(super) row: usize,
    /// Its load.
    pub(super) load: String,
    pub(super) clients: u32,
    /// The figure of the reference.
    pub(super) reference: String,
    /// One for each arm; none of the reference, nor where nothing was measured.
    pub(super) figures: Vec<Option<Figure>>,
}

/// What a table shows.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    /// Rates against the reference.
    Rates,
    /// Rates against the arm before.
    Steps,
    /// What operations cost.
    Cost(Quantity),
    /// Rates by the processor time of servers.
    RateByCpu,
}

impl Contents {
    fn title(self, view: &ArmsView) -> String {
        match self {
            Contents::Rates => words::title(view),
            Contents::Steps => {
                format!("{}, each against the arm before it", words::ratio_name(view))
            }
            Contents::Cost(quantity) => quantity.display_name().to_owned(),
            Contents::RateByCpu => "rQPS by server CPU".to_owned(),
        }
    }

    fn unit(self, view: &ArmsView) -> &'static str {
        match self {
            Contents::Rates | Contents::Steps => words::common_unit(view),
            Contents::Cost(quantity) => quantity.display_name(),
            Contents::RateByCpu => "op/s of server CPU",
        }
    }

    /// Where the arm stands whose figures are as they are.
    fn first(self, view: &ArmsView) -> usize {
        if matches!(self, Contents::Steps) { 0 } else { view.first() }
    }

    /// What that arm has in a row.
    fn reference(self, view: &ArmsView, row: &Row) -> String {
        let first = self.first(view);
        let did = row.arms[first].did.as_ref();
        let amount = match self {
            Contents::Rates | Contents::Steps => {
                return words::rate(row, first, words::common_unit(view));
            }
            Contents::Cost(quantity) => did.and_then(|did| quantity.value_in(did)),
            Contents::RateByCpu => did
                .filter(|_| row.is_on_one_processor)
                .and_then(|did| Some(1e6 / did.server_cpu_us_per_op?)),
        };
        amount.map_or(UNKNOWN.to_owned(), number::three_digits)
    }

    /// What another arm has in a row.
    fn figure(self, row: &Row, at: usize) -> Option<Figure> {
        let arm = &row.arms[at];
        match self {
            Contents::Rates => arm.answer.as_ref().map(Figure::of_answer),
            Contents::Steps => arm.step.as_ref().map(Figure::of_answer),
            Contents::Cost(quantity) => quantity.figure_in(arm.answer.as_ref()?),
            Contents::RateByCpu => Some(costs::rate_by_cpu(row, at)?.as_figure()),
        }
    }

    /// The median of an arm in a group of these lines.
    fn median(self, view: &ArmsView, group: &Group, at: usize, lines: &[Line]) -> Option<Figure> {
        let figures = lines.iter().filter_map(|line| line.figures[at].as_ref());
        let median = match self {
            Contents::Rates => group.arms.get(at)?.answer.as_ref()?,
            Contents::Steps => group.arms.get(at)?.step.as_ref()?,
            Contents::Cost(_) => return costs::median_of_costs(figures),
            Contents::RateByCpu => return costs::median(figures, Better::More),
        };
        Some(Figure::of_median(median, view.better_direction()))
    }
}

impl Part {
    fn new(view: &ArmsView, contents: Contents, group: &Group) -> Part {
        let arms = 0..view.arms.len();
        let mut lines = Vec::new();
        for row in group.rows.clone() {
            let of = &view.rows[row];
            lines.push(Line {
                row,
                load: of.cell.load.clone(),
                clients: of.cell.clients,
                reference: contents.reference(view, of),
                figures: arms.clone().map(|at| contents.figure(of, at)).collect(),
            });
        }
        let medians = arms.map(|at| contents.median(view, group, at, &lines)).collect();
        Part { called: group.called.clone(), medians, lines }
    }
}

impl Table {
    pub(super) fn new(view: &ArmsView, contents: Contents) -> Table {
        let first = view.rows.first().map(|row| row.cell.clients);
        let all = view.all.as_ref().map(|group| Part::new(view, contents, group));
        Table {
            title: contents.title(view),
            unit: contents.unit(view).to_owned(),
            clients: first.filter(|one| view.rows.iter().all(|row| row.cell.clients == *one)),
            first: contents.first(view),
            parts: view.groups.iter().map(|group| Part::new(view, contents, group)).collect(),
            all: all.map(|all| Part { lines: Vec::new(), ..all }),
        }
    }

    /// Whether any arm has a figure.
    pub(super) fn has_figures(&self) -> bool {
        self.lines().any(|line| line.figures.iter().any(Option::is_some))
    }

    /// All lines of all parts.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.parts.iter().flat_map(|part| &part.lines)
    }

    /// Places of the arms beside the reference.
    pub(super) fn other_arms(&self, view: &ArmsView) -> Vec<usize> {
        (0..view.arms.len()).filter(|at| *at != self.first).collect()
    }
}

/// Rates against the reference.
pub(super) fn rates(view: &ArmsView) -> Table {
    Table::new(view, Contents::Rates)
}

/// Rates against the arm before; none where that is what [`rates`] are, or there are two arms.
pub(super) fn steps_table(view: &ArmsView) -> Option<Table> {
    view.has_steps().then(|| Table::new(view, Contents::Steps))
}

/// The tables of costs, and what is said of quantities that have none.
pub(super) fn costs_by_quantity(view: &ArmsView) -> (Vec<Table>, Vec<String>) {
    let (mut tables, mut said) = (Vec::new(), Vec::new());
    for quantity in Quantity::ALL {
        let table = Table::new(view, Contents::Cost(quantity));
        let of_lines = table.lines().flat_map(|line| line.figures.iter().flatten());
        let figures: Vec<&Figure> = of_lines.collect();
        if figures.is_empty() {
            said.push(format!("{}: could not be observed.", quantity.display_name()));
        } else if figures.iter().all(|figure| figure.number == costs::NEXT_TO_NOTHING) {
            said.push(format!(
                "{}: below {} in every cell.",
                quantity.display_name(),
                costs::LEAST
            ));
        } else {
            tables.push(table);
        }
    }
    (tables, said)
}

/// rQPS by the server's processor time; none where no client shares a processor with a server.
pub(super) fn by_cpu(view: &ArmsView) -> Option<Table> {
    Some(Table::new(view, Contents::RateByCpu)).filter(Table::has_figures)
}
