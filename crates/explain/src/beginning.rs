//! The beginning of a text, for readers that look no farther.

use std::borrow::Cow;

/// At most so many bytes of a text, up to the end of a character.
pub(crate) fn text_beginning(text: &str, bytes_most: usize) -> &str {
    let mut end = text.len().min(bytes_most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A text, or its beginning and a mark where it is longer.
pub(crate) fn shortened_text(text: &str, bytes_most: usize) -> Cow<'_, str> {
    match text_beginning(text, bytes_most) {
        whole if whole.len() == text.len() => Cow::Borrowed(text),
        cut => Cow::Owned(format!("{cut}…")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stay_whole() {
        let cut = [0, 1, 2, 3, 4, 9].map(|most| text_beginning("aäb", most));
        assert_eq!(cut, ["", "a", "a", "aä", "aäb", "aäb"]);
        assert_eq!([shortened_text("aäb", 2), shortened_text("aäb", 4)], ["a…", "aäb"]);
    }
}
