//! Words of commands that are shown to be copied into a shell.

/// A word as a shell takes it. Names of loads and files, and notes, may come from a store of
/// somebody else.
pub(crate) fn in_shell(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "_./,:=@%+-".contains(c)) {
        word.to_owned()
    } else {
        quoted_word(word)
    }
}

/// A word in quotes.
pub(crate) fn quoted_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_carry_out_is_quoted() {
        for (word, shown) in [
            ("warm:60s:scan,read-write", "warm:60s:scan,read-write"),
            ("scan?rows=5", "'scan?rows=5'"),
            ("`touch y`", "'`touch y`'"),
            ("a|b>c", "'a|b>c'"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(in_shell(word), shown);
        }
    }
}
