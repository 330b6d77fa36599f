//! Tables of one shape, which the document, the page and the drawing lay out.
//!
//! ```text
//!                    base: as it is   arm: ratio   arm: ratio
//!   rows by key                          median       median      a part for each group
//!     point-query        21 840          ▼ 0.91       ▼ 0.73      a line for each row
//! ```

use super::figure::Figure;
use super::groups::{Group, Medians};
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

/// The median of an arm in a group, of which these are the lines.
type OfGroup<'a> = &'a dyn Fn(&Group, usize, &[Line]) -> Option<Figure>;

/// What is taken of a row for a table.
pub(super) struct Source<'a> {
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) first: usize,
    pub(super) reference: &'a dyn Fn(&Row) -> String,
    pub(super) figure: &'a dyn Fn(&Row, usize) -> Option<Figure>,
    pub(super) median: OfGroup<'a>,
}

impl Table {
    pub(super) fn new(view: &ArmsView, source: &Source<'_>) -> Table {
        let arms = 0..view.arms.len();
        let line = |row: usize| {
            let of = &view.rows[row];
            Line {
                row,
                load: of.cell.load.clone(),
                clients: of.cell.clients,
                reference: (source.reference)(of),
                figures: arms.clone().map(|at| (source.figure)(of, at)).collect(),
            }
        };
        let part = |group: &Group| {
            let lines: Vec<Line> = group.rows.clone().map(line).collect();
            let medians = arms.clone().map(|at| (source.median)(group, at, &lines)).collect();
            Part { called: group.called.clone(), medians, lines }
        };
        let first = view.rows.first().map(|row| row.cell.clients);
        Table {
            title: source.title.clone(),
            unit: source.unit.clone(),
            clients: first.filter(|one| view.rows.iter().all(|row| row.cell.clients == *one)),
            first: source.first,
            parts: view.groups.iter().map(part).collect(),
            all: view.all.as_ref().map(part).map(|all| Part { lines: Vec::new(), ..all }),
        }
    }

    /// All lines of all parts.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        self.parts.iter().flat_map(|part| &part.lines)
    }

    /// Places of the arms beside the reference.
    pub(super) fn others(&self, view: &ArmsView) -> Vec<usize> {
        (0..view.arms.len()).filter(|at| *at != self.first).collect()
    }
}

/// Rates against the reference.
pub(super) fn rates(view: &ArmsView) -> Table {
    let unit = words::unit(view);
    let reference = |row: &Row| words::rate(row, view.first(), unit);
    let figure = |row: &Row, at: usize| row.arms[at].answer.as_ref().map(Figure::of);
    let median = |group: &Group, at: usize, _: &[Line]| {
        of_median(view, group.arms.get(at), |arm| arm.answer.as_ref())
    };
    Table::new(
        view,
        &Source {
            title: words::title(view),
            unit: unit.to_owned(),
            first: view.first(),
            reference: &reference,
            figure: &figure,
            median: &median,
        },
    )
}

/// Rates against the arm before; none where that is what [`rates`] are, or there are two arms.
pub(super) fn steps(view: &ArmsView) -> Option<Table> {
    if !view.has_steps() {
        return None;
    }
    let unit = words::unit(view);
    let reference = |row: &Row| words::rate(row, 0, unit);
    let figure = |row: &Row, at: usize| row.arms[at].step.as_ref().map(Figure::of);
    let median = |group: &Group, at: usize, _: &[Line]| {
        of_median(view, group.arms.get(at), |arm| arm.step.as_ref())
    };
    let title = format!("{}, each against the arm before it", words::ratio_name(view));
    let source = Source {
        title,
        unit: unit.to_owned(),
        first: 0,
        reference: &reference,
        figure: &figure,
        median: &median,
    };
    Some(Table::new(view, &source))
}

fn of_median(
    view: &ArmsView,
    medians: Option<&Medians>,
    pick: fn(&Medians) -> Option<&super::groups::Median>,
) -> Option<Figure> {
    medians.and_then(pick).map(|median| Figure::of_median(median, view.better()))
}
