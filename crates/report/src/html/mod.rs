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
//! into HTML and lose every `<` on their way into the data block; even text that slipped through
//! could not run, because no script without the hash does.

mod doubt;
mod facts;
mod figure;
mod fold;
mod heat;
mod shapes;
mod sheets;
mod tables;

use dbdyno_document::html::{PageHead, data_block, escape};
use serde::Serialize;

use crate::groups;
use crate::notes::Notes;
use crate::view::{CellDetail, CellView, View};
use crate::words;
pub(crate) use facts::warning;
pub(crate) use fold::folded;

const SCRIPT: &str = include_str!("../../assets/page.js");
pub(crate) const STYLE: &str = include_str!("../../assets/page.css");

/// The report as one self-contained HTML file.
pub fn html(view: &View) -> String {
    let view = &view.printable();
    let notes = Notes::new(&view.summary);
    let head = PageHead { title: &title(view), styles: &[STYLE], script: Some(SCRIPT) };
    let mut page = head.html();
    page.push_str("<body>\n<main>\n");
    page.push_str(&headline(view));
    let (rates, heat) = (tables::rates(view, &notes), heat::table(view));
    let is_overview = view.summary.cells.len() > groups::UNGROUPED_MOST;
    let (first, second) = if is_overview { (heat, rates) } else { (rates, heat) };
    page.push_str(&first);
    page.push_str(&second);
    page.push_str(&facts::cautions(&view.summary));
    page.push_str(&shapes::sections(view));
    page.push_str(&sheets::tables(view));
    page.push_str(&charts(view));
    page.push_str(&doubt::table(view));
    page.push_str(&tables::costs(view));
    page.push_str(&facts::environment(view));
    page.push_str(&facts::warnings(&notes));
    page.push_str(&facts::provenance(view));
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
    let headline = words::headline(view);
    let summary = &view.summary;
    let mut text = String::from("<header>\n");
    if let Some(status) = &headline.status {
        text.push_str(&format!("<p class=\"status\" role=\"note\">{}</p>\n", escape(status)));
    }
    text.push_str(&format!("<h1>{}</h1>\n", escape(&headline.sentence)));
    if !headline.classes.is_empty() {
        text.push_str("<dl class=\"classes\">\n");
        for (verdict, members) in &headline.classes {
            let (class, word) = (verdict.name(), words::word(*verdict));
            text.push_str(&format!("<dt class=\"{class}\">{word}</dt>"));
            text.push_str(&format!("<dd>{}</dd>\n", escape(members)));
        }
        text.push_str("</dl>\n");
    }
    text.push_str("<dl class=\"arms\">\n");
    for (arm, label) in [("base", &summary.base.label), ("test", &summary.test.label)] {
        text.push_str(&format!("<dt class=\"{arm}\">{arm}</dt><dd>{}</dd>\n", escape(label)));
    }
    text.push_str("</dl>\n");
    if let Some(trust) = words::trust(summary) {
        text.push_str(&format!("<p class=\"trust\">{}</p>\n", escape(&trust)));
    }
    text + "</header>\n"
}

fn charts(view: &View) -> String {
    if view.summary.cells.is_empty() {
        return String::new();
    }
    "<section aria-labelledby=\"charts-title\">\n<h2 id=\"charts-title\">Rounds, latencies, pairs\
     </h2>\n<div id=\"charts\"><p class=\"aside\">The charts are drawn by the script of this page, \
     which did not run here. All results stand in the tables.</p></div>\n</section>\n"
        .to_owned()
}

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
        let change = words::change(summary);
        CellData {
            place: words::place(summary),
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
