//! The beginning of a text, for readers that look no farther.

/// At most so many bytes of a text, up to the end of a character.
pub(super) fn beginning(text: &str, bytes_most: usize) -> &str {
    let mut end = text.len().min(bytes_most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stay_whole() {
        let cut = [0, 1, 2, 3, 4, 9].map(|most| beginning("aäb", most));
        assert_eq!(cut, ["", "a", "a", "aä", "aäb", "aäb"]);
    }
}
