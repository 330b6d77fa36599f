//! An explanation as one HTML file without any script: it opens from disk and asks nobody.

use dbdyno_document::html::{self, PageHead, escape};
use dbdyno_document::layout::printable_line;
use dbdyno_document::{DataTable, Document, Element, TableColumn};
use dbdyno_model::{DifferenceAccount, Explanation, FactComparison, Ledger};

use super::document::{facts_table, ledger_table};
use super::words::{self, Row};
use super::{facts, plan};
use crate::html::STYLE;

const OWN_STYLE: &str = "td.bar{width:32%;min-width:9rem}\
td.bar svg{display:block;width:100%;height:1.1em}\
td.bar .loss{fill:var(--slower)}td.bar .gain{fill:var(--faster)}td.bar .sum{fill:var(--faint)}\
td.bar line{stroke:var(--ink);stroke-width:1}\
@media screen and (max-width:40rem){td.bar{min-width:4rem}}";

/// The explanations as one self-contained HTML file.
pub fn explanation_html(all: &[Explanation]) -> String {
    let title = all.first().map_or_else(String::new, words::headline);
    let head = PageHead { title: &title, styles: &[STYLE, OWN_STYLE], script: None };
    let mut page = head.html();
    page.push_str("<body>\n<main>\n");
    all.iter().for_each(|one| page.push_str(&of_cell(one)));
    page.push_str(
        "<p class=\"aside\">A cause is told as it is worth if it alone is taken back; with what \
         causes are worth together beyond that, the other differences and the code they add up to \
         the sum. Intervals are 95 %.</p>\n</main>\n</body>\n</html>\n",
    );
    page
}

fn of_cell(of: &Explanation) -> String {
    let mut text = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"aside\">base {} · test {}</p>\n</header>\n",
        plain(&words::headline(of)),
        plain(&of.labels[0]),
        plain(&of.labels[1]),
    );
    for account in &of.accounts {
        text.push_str(&table(account, of));
    }
    text.push_str(&of.ledger.as_ref().map_or_else(String::new, ledger));
    text.push_str(&work(of));
    text.push_str(&plans(of));
    let notes = words::reader_notes(of).into_iter().map(|note| Element::Sentence(note.into()));
    text.push_str(&html::render_document(&Document::from(vec![notes.collect()])));
    text + &trials(of)
}

fn plain(text: &str) -> String {
    escape(&printable_line(text))
}

fn table(account: &DifferenceAccount, of: &Explanation) -> String {
    let [name, values, share] = words::column_heads(account);
    let mut text = format!(
        "<section>\n<h2>{}</h2>\n{}<table>\n<thead><tr>\
         <th scope=\"col\" class=\"text\">{name}</th><th scope=\"col\" class=\"text\">{values}</th>\
         <th scope=\"col\">{share}</th><th scope=\"col\"></th>\
         </tr></thead>\n<tbody>\n",
        plain(&words::title(account)),
        html::scroll_box(&words::title(account))
    );
    let rows = words::rows(account, of);
    let widest = rows.iter().map(|row| row.part.abs()).fold(1.0, f64::max);
    // What makes test cheaper is drawn the other way.
    let is_loss = account.total.cost.estimate >= 0.0;
    for (at, row) in rows.iter().enumerate() {
        let is_sum = at + 1 == rows.len();
        let class = if is_sum { " class=\"sum\"" } else { "" };
        text.push_str(&format!(
            "<tr{class}><td class=\"text\">{}</td><td class=\"text\">{}</td><td>{}</td>\
             <td class=\"bar\">{}</td></tr>\n",
            plain(&row.name),
            plain(&row.values),
            plain(&row.share),
            bar(row, widest, is_sum, is_loss),
        ));
    }
    text + "</tbody>\n</table></div>\n</section>\n"
}

/// A bar to the right of the middle for what goes with the whole, to the left for what goes
/// against it.
fn bar(row: &Row, widest: f64, is_sum: bool, is_loss: bool) -> String {
    let length = 100.0 * row.part.abs() / widest;
    let with = row.part >= 0.0;
    let class = match (is_sum, with == is_loss) {
        (true, _) => "sum",
        (false, true) => "loss",
        (false, false) => "gain",
    };
    let x = if with { 100.0 } else { 100.0 - length };
    format!(
        "<svg viewBox=\"0 0 200 10\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{:.0} % of the whole\"><rect class=\"{class}\" x=\"{x:.1}\" y=\"2\" \
         width=\"{length:.1}\" height=\"6\"/><line x1=\"100\" y1=\"0\" x2=\"100\" y2=\"10\"/></svg>",
        100.0 * row.part
    )
}

fn ledger(ledger: &Ledger) -> String {
    let table = ledger_table(ledger).with_title("Where the time of an operation goes");
    html::render_document(&Document::from(vec![vec![Element::Table(table)]]))
}

/// What servers did for an operation: what differs, and behind it all that they tell.
fn work(of: &Explanation) -> String {
    if of.work.is_empty() {
        return String::new();
    }
    let title = Element::Title("What servers did for an operation".into());
    let told =
        html::render_elements(&[title, Element::Table(facts_table(&facts::shown_facts(of).0))]);
    let all: Vec<&FactComparison> = of.work.iter().collect();
    let all = html::render_elements_below("all facts", &[Element::Table(facts_table(&all))]);
    format!("<section>\n{told}<details><summary>all facts</summary>\n{all}</details>\n</section>\n")
}

/// Plans that changed, base beside test.
fn plans(of: &Explanation) -> String {
    if of.plans.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<section>\n<h2>Plans that changed</h2>\n{}<table>\n<thead><tr><th class=\"text\">what</th>\
         <th class=\"text\">base</th><th class=\"text\">test</th></tr></thead>\n<tbody>\n",
        html::scroll_box("Plans that changed")
    );
    for [what, base, test] in of.plans.iter().flat_map(plan::rows) {
        let cells = [what, base, test].map(|cell| plain(&cell).replace(" | ", "<br>"));
        let cells = cells.map(|cell| format!("<td class=\"text\">{cell}</td>"));
        text.push_str(&format!("<tr>{}</tr>\n", cells.concat()));
    }
    text.push_str("</tbody>\n</table></div>\n");
    for cause in of.plans.iter().filter_map(plan::cause_sentence) {
        text.push_str(&format!("<p>{}</p>\n", plain(&cause)));
    }
    text + "</section>\n"
}

fn trials(of: &Explanation) -> String {
    type TrialColumn = TableColumn<'static, [String; 4]>;
    if of.trials.is_empty() {
        return String::new();
    }
    let columns = [
        TrialColumn::word_texts("run", |row| row[0].as_str().into()),
        TrialColumn::word_texts("by", |row| row[1].as_str().into()),
        TrialColumn::word_texts("as in base", |row| row[2].as_str().into()),
        TrialColumn::word_texts("an operation costs, against base", |row| row[3].as_str().into()),
    ];
    let rows: Vec<[String; 4]> = of.trials.iter().map(words::trial_row).collect();
    let table = Element::Table(DataTable::new(&columns, &rows));
    let table = html::render_elements_below("all trials", &[table]);
    format!("<details><summary>all trials</summary>\n{table}</details>\n")
}
