//! Whether the terms of a package are met by licences that are allowed: SPDX expressions.
//!
//! ```text
//!   either = both { "OR" both }      both = one { "AND" one }
//!   one    = "(" either ")" | NAME [ "WITH" NAME ]
//! ```
//!
//! A slash, which packages of old have, is an `OR`. What is none of this is not met.

/// Whether one can take the package under allowed licences alone.
pub(super) fn is_met(terms: &str, allowed: &[String]) -> bool {
    let spaced = terms.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    reader.either() == Some(true) && reader.words.is_empty()
}

struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [String],
}

impl Reader<'_> {
    /// The next word, if it is this one.
    fn skip(&mut self, word: &str) -> bool {
        let is_next = self.words.first() == Some(&word);
        if is_next {
            self.words = &self.words[1..];
        }
        is_next
    }

    fn either(&mut self) -> Option<bool> {
        let mut met = self.both()?;
        while self.skip("OR") {
            met |= self.both()?;
        }
        Some(met)
    }

    fn both(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.skip("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.skip("(") {
            let met = self.either()?;
            return self.skip(")").then_some(met);
        }
        let mut name = self.name()?;
        if self.skip("WITH") {
            name = format!("{name} WITH {}", self.name()?);
        }
        Some(self.allowed.contains(&name))
    }

    fn name(&mut self) -> Option<String> {
        let (name, rest) = self.words.split_first()?;
        let is_name = !["OR", "AND", "WITH", "(", ")"].contains(name);
        self.words = rest;
        is_name.then(|| (*name).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_needs_one_and_a_sum_needs_all() {
        let allowed = ["MIT", "ISC", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
        let allowed = allowed.map(str::to_owned);
        for met in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0 OR MIT",
            "MIT/Unlicense",
            "MIT AND ISC",
            "GPL-3.0 AND ISC OR MIT",
            "(GPL-3.0 OR MIT) AND ISC",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(is_met(met, &allowed), "{met}");
        }
        for unmet in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR ISC) AND GPL-3.0",
            "MIT WITH LLVM-exception",
            "MIT OR",
            "(MIT",
            "MIT ISC",
            "OR",
            "mit",
        ] {
            assert!(!is_met(unmet, &allowed), "{unmet}");
        }
    }
}
