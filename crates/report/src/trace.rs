//! A trace of states as one HTML file that opens from disk and asks nobody: the steps, and the
//! state after each, with what changed.
//!
//! ```text
//!   steps          state after step 4
//!   1 T1 reads a   transactions   T1  open   r(a)=initial
//!   …              versions       a   initial, T2
//! ```

use dbdyno_document::html::{PageHead, data_block, escape};
use dbdyno_document::layout::printable_line;
use serde_json::Value;

use crate::html::STYLE;

const SCRIPT: &str = include_str!("../assets/trace.js");
const OWN_STYLE: &str = "\
.trace{display:grid;grid-template-columns:minmax(14rem,22rem) 1fr;gap:1rem 2rem;align-items:start}\
#steps{margin:0;padding:0 0 0 2.2rem}#steps button{font:inherit;color:inherit;text-align:left;\
width:100%;padding:.2rem .5rem;cursor:pointer;background:none;border:0;border-left:3px solid \
transparent}#steps button:hover{background:var(--shade)}#steps button[aria-current]\
{background:var(--shade);border-left-color:var(--base);font-weight:600}\
#state section{margin-bottom:1rem}#state h3{margin:.2rem 0 .3rem}#state h3:first-letter\
{text-transform:uppercase}#state th,#state td{text-align:left;white-space:normal;vertical-align:top}\
#state td.changed{background:color-mix(in srgb,var(--above) 25%,var(--paper));font-weight:600}\
#controls{position:sticky;top:0;background:var(--paper);padding:.5rem 0;display:flex;gap:.5rem;\
align-items:center;flex-wrap:wrap}#controls[hidden]{display:none}\
#controls button{font:inherit;padding:.3rem .9rem;color:var(--ink);background:var(--shade);\
border:1px solid var(--rule);border-radius:.3rem;cursor:pointer}#controls button:disabled{opacity:.4;\
cursor:default}pre{overflow-x:auto;white-space:pre;background:var(--shade);padding:.75rem;\
font-size:.85rem}\
@media (max-width:44rem){.trace{grid-template-columns:1fr}.steps{max-height:11rem;overflow-y:auto}}\
@media print{.steps{max-height:none}#controls{display:none!important}#steps button{border:0}\
pre{font-size:min(.85rem,calc(184mm/var(--least)/.62))}}\
\n";

/// What stands above a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHead<'a> {
    /// Whose trace it is.
    pub title: &'a str,
    /// Sentences.
    pub about: &'a [String],
    /// A drawing that belongs to its end; may be empty.
    pub drawing: &'a str,
}

/// A trace in the Informal Trace Format as a page: `steps` names what led to each state after the
/// first one.
pub fn trace_html(of: &TraceHead<'_>, steps: &[String], itf: &Value) -> String {
    let head = PageHead { title: of.title, styles: &[STYLE, OWN_STYLE], script: Some(SCRIPT) };
    let mut page = head.html();
    page.push_str(&format!("<body>\n<main>\n<header>\n<h1>{}</h1>\n", plain_html(of.title)));
    for sentence in of.about {
        page.push_str(&format!("<p>{}</p>\n", plain_html(sentence)));
    }
    page.push_str(
        "</header>\n<div id=\"controls\" hidden>\n\
         <button type=\"button\" id=\"back\">back</button>\n\
         <button type=\"button\" id=\"on\">on</button>\n\
         <span id=\"where\" aria-live=\"polite\"></span>\n</div>\n\
         <div class=\"trace\">\n<div class=\"steps\" \
         tabindex=\"0\" role=\"region\" aria-label=\"steps\">\n<ol id=\"steps\" start=\"0\">\n\
         <li>the beginning</li>\n",
    );
    for step in steps {
        page.push_str(&format!("<li>{}</li>\n", plain_html(step)));
    }
    page.push_str(
        "</ol>\n</div>\n<div id=\"state\"><p class=\"aside\">States are shown by the script of this page, \
         which did not run here.</p></div>\n</div>\n",
    );
    if !of.drawing.is_empty() {
        let lines: Vec<String> = of.drawing.lines().map(plain_html).collect();
        let least = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(1);
        page.push_str(&format!(
            "<section>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"sessions side by side\" \
             style=\"--least:{least}\">{}</pre>\n</section>\n",
            lines.join("\n")
        ));
    }
    page.push_str("<p class=\"aside\">Arrow keys go on and back; what changed is shaded.</p>\n");
    page.push_str(&format!(
        "</main>\n<script type=\"application/json\" id=\"trace-data\">{}</script>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        data_block(itf)
    ));
    page
}

fn plain_html(text: &str) -> String {
    escape(&printable_line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_steps_without_the_script_and_lets_nothing_out() {
        let about = ["</p><script>alert(1)</script>".to_owned()];
        let of = TraceHead { title: "2pl", about: &about, drawing: "T1 ─rw→ T2\n" };
        let itf = serde_json::json!({ "vars": ["action"], "states": [{ "action": "</script>" }] });
        let page = trace_html(&of, &["T1 reads a".to_owned()], &itf);
        assert!(page.contains("<li>T1 reads a</li>") && page.contains("T1 ─rw→ T2"));
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("http://") && !page.contains("https://"));
    }
}
