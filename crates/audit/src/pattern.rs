//! Names with `*` for any characters.

/// Whether `name` is of this form. A star stands for any characters, none included.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let pieces: Vec<&str> = rest.split('*').collect();
    let (last, middle) = pieces.split_last().expect("a split has at least one piece");
    for piece in middle {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, is) in [
            ("variable.log_bin", "variable.log_bin", true),
            ("variable.log_bin", "variable.log_bin_index", false),
            ("variable.collation_*", "variable.collation_server", true),
            ("table.*.collation", "table.sbtest1.collation", true),
            ("table.*.collation", "table.sbtest1.engine", false),
            ("step[*].debt", "step[read at 4 clients].debt", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), is, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_matches_itself_with_anything_cut_out(
            name in "[a-c.]{0,9}", from in 0_usize..9, to in 0_usize..9,
        ) {
            let (from, to) = (from.min(name.len()), to.min(name.len()));
            if from <= to {
                let pattern = format!("{}*{}", &name[..from], &name[to..]);
                prop_assert!(matches_pattern(&pattern, &name));
                let longer = format!("{name}!");
                prop_assert!(!matches_pattern(&pattern, &longer) || to == name.len());
            }
        }
    }
}
