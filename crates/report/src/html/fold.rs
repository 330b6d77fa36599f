//! Sections that are there, but do not stand in the way.

use dbdyno_document::Element;
use dbdyno_document::html::{self, escape};

/// A section of which only the title is seen until it is opened, or a link into it is followed.
pub(crate) fn folded_section(id: &str, title: &str, elements: &[Element]) -> String {
    folded_body(id, title, &html::render_elements_below(title, elements))
}

/// The same of what is written already.
pub(crate) fn folded_body(id: &str, title: &str, body: &str) -> String {
    format!(
        "<details class=\"section\" aria-labelledby=\"{id}-title\">\n<summary>\
         <h2 id=\"{id}-title\">{}</h2></summary>\n{body}</details>\n",
        escape(title)
    )
}
