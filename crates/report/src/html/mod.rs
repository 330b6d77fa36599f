//! One HTML file that opens from disk and asks nobody.
//!
//! ```text
//!   <head>    policy: nothing may be fetched; the style; nothing else
//!   <body>    sentence → rates, rQPS by load and clients → what endangers it   ┐ written by Rust,
//!             <div id="charts">   filled by the script                         │ complete without
//!             folded: how sure, cost and latency, environment, notes,          │ the script
//!             provenance                                                       ┘
//!   <script type="application/json">   rounds, pairs and curves, for the charts
//!   <script>  the page's code, the only script that the policy admits (by its hash)
//! ```
//!
//! Labels, commands and facts come from servers and users. They pass through `escape` on their way
//! into HTML and through `data_block` on theirs to the script, and each takes from them what
//! steers; even text that slipped through could not run, because no script without the hash does.

mod facts;
mod figure;
mod fold;
mod heat;
mod rates;
mod shapes;

use dbdyno_document::html::{self, PageHead, data_block};
use dbdyno_document::{Document, Element};
use serde::Serialize;

use crate::comparison;
use crate::groups;
use crate::notes::Notes;
use crate::tables;
use crate::view::{CellDetail, CellView, View};
use crate::words;
pub(crate) use facts::origin_table;
pub(crate) use fold::folded_body;
use fold::folded_section;

const SCRIPT: &str = include_str!("../../assets/page.js");
pub(crate) const STYLE: &str = include_str!("../../assets/page.css");

/// The report as one self-contained HTML file.
pub fn html(view: &View) -> String {
    let notes = Notes::new(&view.summary);
    let head = PageHead { title: &title(view), styles: &[STYLE], script: Some(SCRIPT) };
    let mut page = head.html();
    page.push_str("<body>\n<main>\n");
    page.push_str(&headline(view));
    let (rates, heat) = (rates::rates_sections(view, &notes), heat::table(view));
    let is_overview = view.summary.cells.len() > groups::UNGROUPED_MOST;
    let (first, second) = if is_overview { (heat, rates) } else { (rates, heat) };
    page.push_str(&first);
    page.push_str(&second);
    page.push_str(&facts::cautions_html(&view.summary));
    page.push_str(&shapes::sections_html(view));
    let tables = tables::all_tables(view).into_iter().map(|table| vec![Element::Table(table)]);
    page.push_str(&html::render_document(&Document::from(tables.collect::<Vec<_>>())));
    if !view.summary.cells.is_empty() {
        page.push_str(CHARTS);
        page.push_str(&folded_section("doubt", DOUBT, &comparison::doubt_elements(view)));
        let costs = [
            Element::Table(comparison::cost_table(view)),
            Element::Aside(words::op_definition(view).into()),
        ];
        page.push_str(&folded_section("costs", "Cost and latency", &costs));
    }
    page.push_str(&facts::environment(view));
    page.push_str(&facts::notes_html(&notes));
    page.push_str(&facts::provenance_html(view));
    page.push_str("</main>\n");
    page.push_str(&scripts(view));
    page.push_str("</body>\n</html>\n");
    page
}

fn title(view: &View) -> String {
    let summary = &view.summary;
    let name = summary.name.as_deref().unwrap_or(&summary.run);
    let (base, test) = (&summary.base.label, &summary.test.label);
    format!("{test} against {base}: dbdyno {name}")
}

fn headline(view: &View) -> String {
    let mut elements: Vec<Element> =
        comparison::answer_elements(view).into_iter().flatten().collect();
    elements.push(comparison::arms_element(&view.summary));
    elements.extend(words::trust_note(&view.summary).map(|trust| Element::Sentence(trust.into())));
    format!("<header>\n{}</header>\n", html::render_elements(&elements))
}

const DOUBT: &str = "How sure, and where the doubt comes from";

const CHARTS: &str = "<section aria-labelledby=\"charts-title\">\n<h2 id=\"charts-title\">Rounds, \
    latencies, pairs</h2>\n<div id=\"charts\"><p class=\"aside\">The charts are drawn by the script \
    of this page, which did not run here. All results stand in the tables.</p></div>\n</section>\n";

/// What the script needs, and no more.
#[derive(Serialize)]
struct Data<'a> {
    base: &'a str,
    test: &'a str,
    cells: Vec<CellData<'a>>,
}

#[derive(Serialize)]
struct CellData<'a> {
    place: String,
    change: String,
    interval: Option<String>,
    summary: &'a CellView,
    detail: &'a CellDetail,
}

impl<'a> CellData<'a> {
    fn new(summary: &'a CellView, detail: &'a CellDetail) -> Self {
        let change = words::cell_change(summary);
        CellData {
            place: words::cell_place(summary),
            change: change.estimate,
            interval: change.interval,
            summary,
            detail,
        }
    }
}

fn scripts(view: &View) -> String {
    let cells = view.summary.cells.iter().zip(&view.detail.cells);
    let data = Data {
        base: &view.summary.base.label,
        test: &view.summary.test.label,
        cells: cells.map(|(summary, detail)| CellData::new(summary, detail)).collect(),
    };
    format!(
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{SCRIPT}</script>\n",
        data_block(&data)
    )
}
