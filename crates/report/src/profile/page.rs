//! The difference of profiles as one HTML file that opens from disk and asks nobody: the functions
//! that changed, and the stacks of both sides as a graph in which one looks closer and searches.

use dbdyno_document::html::{self, PageHead, data_block};
use dbdyno_document::layout::printable_line;
use dbdyno_document::{ArmLabel, Document, Element, Text};
use dbdyno_model::{FlameNode, PerArm, ProfileDifference};
use serde::Serialize;

use super::{ProfileExtent, headline, notes, table};
use crate::html::STYLE;

const SCRIPT: &str = include_str!("../../assets/flame.js");
const OWN_STYLE: &str = "\
td.text:first-child{max-width:34rem;overflow-wrap:anywhere;white-space:normal}\
#flame{position:relative;overflow:hidden;margin:.75rem 0}\
#flame button{position:absolute;height:27px;padding:0;border:0;border-right:1px solid var(--paper);\
color:var(--ink);font:11px/17px system-ui,sans-serif;text-align:left;overflow:hidden;cursor:pointer}\
#flame span{position:absolute;inset:0 0 auto;padding:0 .25rem;white-space:nowrap;overflow:hidden}\
#flame i{position:absolute;left:0;height:3px}#flame i.base{bottom:4px;background:var(--base)}\
#flame i.test{bottom:0;background:var(--test)}\
#flame button.found{outline:2px solid var(--ink);outline-offset:-2px}\
#flame button:focus-visible{outline:2px solid var(--doubt);outline-offset:-2px}\
#flame-details{min-height:3em;overflow-wrap:anywhere}\
#flame-search{font:inherit;padding:.2rem .4rem;width:min(24rem,100%)}\
.key i{display:inline-block;width:1.5rem;height:.4rem;margin:0 .35rem .1rem 0}\
.key .base{background:var(--base)}.key .test{background:var(--test)}\n";

/// The difference and the stacks of both sides as one self-contained HTML file.
pub fn profile_html(of: &ProfileDifference, flame: &FlameNode, labels: &PerArm<String>) -> String {
    let arms = PerArm::from_fn(|arm| Text::from(&labels[arm]));
    let title = format!("{} against {}: profiles", labels.test, labels.base);
    let head = PageHead { title: &title, styles: &[STYLE, OWN_STYLE], script: Some(SCRIPT) };
    let above = Document::from(vec![
        vec![Element::Headline(headline(of).into()), Element::Arms(ArmLabel::of_both(arms))],
        vec![Element::Table(table(of, ProfileExtent::Changed).with_title("Functions"))],
    ]);
    let notes = notes(of).into_iter().map(Text::from).collect();
    let below = Document::from(vec![vec![Element::Notes(notes)]]);
    let mut page = head.html() + "<body>\n<main>\n" + &html::render_document(&above);
    page.push_str(GRAPH);
    page.push_str(&html::render_document(&below));
    page.push_str("</main>\n");
    page.push_str(&format!(
        "<script type=\"application/json\" id=\"flame-data\">{}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        data_block(&Frame::of(flame))
    ));
    page
}

const GRAPH: &str = "<section aria-labelledby=\"flame-title\">\n\
<h2 id=\"flame-title\">Who called whom, and what that costs an operation</h2>\n\
<p class=\"aside key\">A frame is as wide as it costs in the dearer arm. \
<i class=\"base\"></i>base <i class=\"test\"></i>test: how much of that width each arm needs; the \
number behind a name is what test needs more, in per cent of an operation of base. Click a frame to \
look closer, Escape to see all.</p>\n\
<input id=\"flame-search\" type=\"search\" placeholder=\"find functions\" \
aria-label=\"find functions\" hidden>\n\
<p id=\"flame-details\" aria-live=\"polite\"></p>\n\
<div id=\"flame\"><p class=\"aside\">The graph is drawn by the script of this page, which did not \
run here. The functions that changed stand in the table.</p></div>\n</section>\n";

/// A node as the script of the page takes it.
#[derive(Serialize)]
struct Frame {
    name: String,
    base: f64,
    test: f64,
    width: f64,
    children: Vec<Frame>,
}

impl Frame {
    fn of(node: &FlameNode) -> Frame {
        // A hundredth of a per cent of an operation is narrower than a line.
        let [base, test, width] =
            [node.cost.base, node.cost.test, node.width].map(|share| (share * 1e5).round() / 1e5);
        Frame {
            name: printable_line(&node.name),
            base,
            test,
            width,
            children: node.callees.iter().map(Frame::of).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{
        FunctionDifference, FunctionPlace, Interval, Match, ProfileScale, UntoldFunction,
        UntoldReason,
    };

    fn difference_of(name: &str) -> ProfileDifference {
        let exactly = |estimate| Interval { estimate, low: estimate, high: estimate };
        ProfileDifference {
            place: FunctionPlace::Innermost,
            functions: vec![FunctionDifference {
                name: name.to_owned(),
                matched: Match::Exact,
                share: PerArm { base: 1.0, test: 1.0 },
                hidden_share: PerArm { base: 0.0, test: 0.0 },
                relative: 0.5,
                weighted: exactly(0.5),
                p_value: Some(1e-9),
                q_value: Some(1e-9),
                moved_within: None,
            }],
            total: exactly(0.5),
            measure: "processor time".to_owned(),
            profiles: PerArm { base: 3, test: 3 },
            samples: PerArm { base: Some(900.0), test: Some(1350.0) },
            scale: ProfileScale::Operations,
            dispersion: Some(1.0),
            matched: vec![(Match::Exact, 1.0)],
            untold: Vec::new(),
            programs: PerArm::from_fn(|_| Vec::new()),
            idle_share: PerArm { base: 0.0, test: 0.0 },
            nameless_share: PerArm { base: 0.0, test: 0.0 },
        }
    }

    #[test]
    fn names_leave_neither_the_table_nor_the_data_of_the_graph() {
        let hostile = "</script><b>read".to_owned();
        let of = difference_of(&hostile);
        let cost = PerArm { base: 1.0, test: 1.5 };
        let flame = FlameNode { name: hostile, cost, width: 1.5, callees: Vec::new() };
        let labels = PerArm { base: "<base>".to_owned(), test: "test".to_owned() };
        let page = profile_html(&of, &flame, &labels);
        assert!(!page.contains("<b>") && !page.contains("<base>"), "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        let data = "{\"base\":1.0,\"children\":[],\"name\":\"\\u003c/script>\\u003cb>read\",\
                    \"test\":1.5,\"width\":1.5}";
        assert!(page.contains(data), "{page}");
    }

    /// A function that may be among those without names is no difference, and the headline says
    /// how many samples have none.
    #[test]
    fn samples_without_names_are_in_the_headline() {
        let mut of = difference_of("[functions without names]");
        of.untold = vec![UntoldFunction {
            name: "lock_wait".to_owned(),
            share: PerArm { base: Some(0.2), test: Some(0.0) },
            lacking: PerArm { base: false, test: true },
            reason: UntoldReason::Nameless,
        }];
        of.nameless_share = PerArm { base: 0.01, test: 0.6 };
        let text = dbdyno_document::markdown::render_document(&super::super::profile_document(
            &of,
            super::super::ProfileExtent::Changed,
        ));
        let said = text.replace(dbdyno_document::number::GLUE, " ");
        for words in ["60.0 % of test has no names", "may have no name in test", "none can be"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        assert!(!said.contains("excerpt"), "{said}");
    }
}
