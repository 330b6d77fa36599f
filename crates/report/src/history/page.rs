//! A history as one HTML file without any script: it opens from disk and asks nobody.

use dbdyno_document::html::{self, PageHead};
use dbdyno_document::{DataTable, Document, Element, TableColumn};
use dbdyno_model::{BenchmarkHistory, HistoryPoint, HistorySeries};

use super::document::{above_drawing, below_drawing, head_elements};
use super::{chart, words};
use crate::html::STYLE;

const OWN_STYLE: &str = "\
svg.history{width:100%;height:auto;display:block;overflow:visible;color:var(--base)}\
svg.history text{fill:var(--faint);font-size:12px}\
svg.history .grid{stroke:var(--rule);stroke-width:1}\
svg.history circle{fill:currentcolor}\
svg.history .level{stroke:var(--ink);stroke-width:1.5}\
svg.history g rect{fill:currentcolor;opacity:.14}svg.history g line{stroke:currentcolor;\
stroke-width:1.5}svg.history g.slower{color:var(--slower)}svg.history g.faster{color:\
var(--faster)}svg.history g.undecided{color:var(--doubt)}@media screen and (max-width:40rem)\
{svg.history text{font-size:22px}svg.history .fine{display:none}}\
@media print{svg.history text{font-size:14px}}";

const KEY: &str = "Dots are values, lines the medians of levels; the shaded band is where a change \
                   may begin (95 %). Sizes have 95 % intervals, which take into account that what \
                   barely was found is smaller than it looks; p is the chance of something as \
                   clear where nothing changes; E-divisive is where that method, at the same \
                   level, begins the nearest new level.";

/// The history as one self-contained HTML file.
pub fn history_html(history: &BenchmarkHistory) -> String {
    let title = format!("{} dbdyno history", words::headline(history));
    let title = PageHead { title: &title, styles: &[STYLE, OWN_STYLE], script: None };
    let head = html::render_document(&Document::from(vec![head_elements(history)]));
    let series = history.series.iter().map(|series| {
        let (above, below) = (above_drawing(series), below_drawing(series, history));
        let title = words::title(series);
        let values = Element::Fold("all values".into(), vec![Element::Table(values(series))]);
        let [above, below, values] = [above, below, vec![values]]
            .map(|elements| html::render_elements_below(&title, &elements));
        format!("<section>\n{above}{}{below}{values}</section>\n", chart::svg(series))
    });
    let key = html::render_elements(&[Element::Notes(vec![KEY.into()])]);
    let series: String = series.collect();
    format!("{}<body>\n<main>\n{head}{series}{key}</main>\n</body>\n</html>\n", title.html())
}

/// What the dots say where they are pointed at.
fn values(series: &HistorySeries) -> DataTable {
    type PointColumn<'a> = TableColumn<'a, (usize, &'a HistoryPoint)>;
    let columns = [
        PointColumn::number_texts("", |(at, _)| (at + 1).to_string().into()),
        PointColumn::word_texts("run", |(_, point)| words::run(point).into()),
        PointColumn::number_texts("value", |(_, point)| words::value(series, point.value).into()),
    ];
    DataTable::new(&columns, &series.points.iter().enumerate().collect::<Vec<_>>())
}
