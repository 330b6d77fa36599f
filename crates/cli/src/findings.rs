//! What a run has found, between two of its arms or of all that it has, in every shape.
//!
//! ```text
//!   run ──RunSelection──▶ RunFindings ─┬─ print   stdout, by --format
//!                                      ├─ page    one HTML file
//!                                      ├─ still   SVG, Markdown, CSV or JSON in a file
//!                                      └─ pairs   what the exit code, notes and gates rest on
//! ```
//!
//! Two arms are shown in depth, several beside each other: that is all that the two differ in here.

use std::path::Path;

use dbdyno_model::{ArmsComparison, Comparison, Gate, Run, RunPair};
use dbdyno_report::{ArmsDetail, ArmsView, CellOrder, CheckSuite, GateCheck, Section, View};
use dbdyno_store::Store;

use crate::answer::JudgedCells;
use crate::args::{self, PrintFlags, ToldFormat};
use crate::arms::{self, RunSelection};
use crate::ci;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::screen::text_style;
use crate::values::{Still, StillShape};

/// All sections that a report of several arms has.
const OF_ARMS: [Section; 2] = [Section::Cost, Section::Notes];

/// What a run has found.
pub(crate) enum RunFindings<'r> {
    /// Between two arms.
    Pair(RunPair<'r>, Box<Comparison>),
    /// Of all arms of a larger run.
    All(&'r Run, ArmsComparison),
}

impl<'r> RunFindings<'r> {
    /// Judges what was selected of a run.
    ///
    /// # Errors
    /// Rates that cannot be judged, which only a damaged store can hold.
    pub(crate) fn from_selection(
        store: &Store,
        run: &'r Run,
        selection: RunSelection,
    ) -> Result<RunFindings<'r>, Failure> {
        Ok(match selection {
            RunSelection::Pair(pairing) => {
                let pair = run.pair(pairing);
                RunFindings::Pair(pair, Box::new(arms::judged_pair(store, pair)?))
            }
            RunSelection::All(reference) => {
                RunFindings::All(run, dbdyno_judge::compare_arms(run, reference)?)
            }
        })
    }

    /// Each two arms that were judged, and what was found between them.
    pub(crate) fn judged_pairs(&self) -> Vec<(RunPair<'r>, &Comparison)> {
        match self {
            RunFindings::Pair(pair, comparison) => vec![(*pair, comparison)],
            RunFindings::All(run, comparison) => {
                let pairs = comparison.pairs.iter();
                pairs.map(|of| (run.pair(of.pairing), &of.comparison)).collect()
            }
        }
    }

    /// Prints it in the shape that was asked for, and as much of it for people.
    ///
    /// # Errors
    /// A stdout, or a summary of a workflow, that cannot be written.
    pub(crate) fn print(&self, gate: Option<Gate>, told: &PrintFlags) -> Result<(), Failure> {
        let (sections, order) = (self.sections(told), output::cell_order(told.worst_first));
        let text = match told.format {
            ToldFormat::Text => self.text(&sections, told),
            ToldFormat::Json => self.json(),
            ToldFormat::Jsonl => dbdyno_report::result_line(&self.json()),
            ToldFormat::Csv => self.csv(),
            ToldFormat::Markdown => self.markdown(&sections, told.all, order),
            ToldFormat::Github => {
                let markdown = self.markdown(&sections, told.all, order);
                let result = gate.map(|gate| self.judged_cells().gate_result(gate));
                ci::github_output(
                    &self.checks(gate),
                    &ci::workflow_summary(result.as_ref(), &markdown),
                )?
            }
            ToldFormat::Junit => dbdyno_report::junit_report(&self.checks(gate)),
            ToldFormat::Benchfmt => dbdyno_report::benchfmt_report(&self.checked(gate)),
        };
        output::print_answer(&text, told.format, told.color)
    }

    /// Writes the page and says where it is.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write_page(&self, path: &Path, order: CellOrder) -> Result<(), Failure> {
        let page = match self.in_depth() {
            Some(view) => dbdyno_report::html(&view),
            None => dbdyno_report::arms_html(&self.beside_each_other(order)),
        };
        output::write_page(path, page)
    }

    /// Writes what needs no script, and says where it is.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write_still(&self, still: &Still, order: CellOrder) -> Result<(), Failure> {
        let text = match still.shape {
            StillShape::Csv => self.csv(),
            StillShape::Json => self.json(),
            StillShape::Svg => dbdyno_report::arms_svg(&self.beside_each_other(order)),
            StillShape::Markdown => self.markdown(&OF_ARMS, true, order),
        };
        output::write_still(&still.path, &text)
    }

    /// Two arms in depth; `None` of several.
    fn in_depth(&self) -> Option<View> {
        match self {
            RunFindings::Pair(pair, comparison) => Some(View::new(*pair, comparison)),
            RunFindings::All(..) => None,
        }
    }

    /// Arms beside each other, of which two are the least.
    fn beside_each_other(&self, order: CellOrder) -> ArmsView {
        let view = match self {
            RunFindings::Pair(pair, comparison) => ArmsView::of_pair(
                *pair,
                &dbdyno_judge::as_arms(*pair, Comparison::clone(comparison)),
            ),
            RunFindings::All(run, comparison) => ArmsView::new(run, comparison),
        };
        view.with_cell_order(order)
    }

    fn text(&self, sections: &[Section], told: &PrintFlags) -> String {
        let (order, style) = (output::cell_order(told.worst_first), text_style(told.color));
        let detail = if told.intervals { ArmsDetail::Intervals } else { ArmsDetail::Ratios };
        match self.in_depth() {
            Some(view) if told.all => dbdyno_report::terminal_report(&view, &style),
            Some(view) if sections.is_empty() => dbdyno_report::first_screen(&view, order, &style),
            Some(view) => dbdyno_report::report_sections(&view, sections, order, &style),
            None => {
                let view = self.beside_each_other(order);
                dbdyno_report::arms_text(&view, detail, sections, &style)
            }
        }
    }

    fn markdown(&self, sections: &[Section], is_whole: bool, order: CellOrder) -> String {
        match self.in_depth() {
            Some(view) if is_whole => dbdyno_report::markdown(&view),
            Some(view) => dbdyno_report::first_markdown(&view, order),
            None => dbdyno_report::arms_markdown(&self.beside_each_other(order), sections),
        }
    }

    fn json(&self) -> String {
        match self.in_depth() {
            Some(view) => dbdyno_report::json(&view),
            None => dbdyno_report::arms_json(&self.beside_each_other(CellOrder::Groups)),
        }
    }

    fn csv(&self) -> String {
        match self.in_depth() {
            Some(view) => dbdyno_report::csv(&view),
            None => dbdyno_report::arms_csv(&self.beside_each_other(CellOrder::Groups)),
        }
    }

    /// The answer to what was found, of all pairs together; what a gate says is told to whoever
    /// watches.
    pub(crate) fn exit(&self, gate: Option<Gate>) -> Exit {
        let cells = self.judged_cells();
        let Some(gate) = gate else { return cells.exit() };
        let result = cells.gate_result(gate);
        output::say_text(&output::labelled_line("gate", &result.sentence));
        Exit::of_gate(result.outcome)
    }

    /// The answer to who looks at what is stored: only a gate has another than that it was shown.
    pub(crate) fn exit_of_look(&self, gate: Option<Gate>) -> Exit {
        gate.map_or(Exit::Holds, |gate| self.exit(Some(gate)))
    }

    /// All pairs together, and arms that ended.
    fn judged_cells(&self) -> JudgedCells {
        let ended = match self {
            RunFindings::Pair(..) => &[],
            RunFindings::All(_, all) => all.ended.as_slice(),
        };
        JudgedCells::new(&self.judged_pairs(), ended)
    }

    /// The gate and each cell as checks.
    fn checks(&self, gate: Option<Gate>) -> Vec<CheckSuite> {
        let result = gate.map(|gate| self.judged_cells().gate_result(gate));
        dbdyno_report::comparison_checks(&self.checked(gate), result.as_ref())
    }

    /// Each pair of arms against the gate.
    fn checked(&self, gate: Option<Gate>) -> Vec<GateCheck> {
        let pairs = self.judged_pairs().into_iter();
        pairs.map(|(pair, of)| ci::gate_check(pair, of, gate)).collect()
    }

    /// The parts of a report that are wished; of those that compare two arms in depth, it is said
    /// where they are.
    fn sections(&self, told: &PrintFlags) -> Vec<Section> {
        if let RunFindings::All(run, _) = self {
            if told.all {
                return OF_ARMS.to_vec();
            }
            if !told
                .section
                .iter()
                .all(|section| matches!(section, args::Section::Cost | args::Section::Notes))
            {
                output::say_text(&format!(
                    "note   doubt, facts and engine are sections about one arm: dbdyno show {} \
                     --arm ARM --section doubt",
                    run.id
                ));
            }
        }
        told.section.iter().map(output::report_section).collect()
    }
}
