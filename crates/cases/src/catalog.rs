//! The cases that come with dbdyno.
//!
//! Most are Hermitage's, told anew: github.com/ept/hermitage by Martin Kleppmann and contributors,
//! CC-BY 4.0, whose names they keep. Its stories were played by hand; here they are data.

use crate::case::Case;
use crate::parse::parse;

/// Stories by file, in the order in which cases are shown.
const STORIES: [(&str, &str); 22] = [
    ("g0.txt", include_str!("../stories/g0.txt")),
    ("g1a.txt", include_str!("../stories/g1a.txt")),
    ("aborted-write.txt", include_str!("../stories/aborted-write.txt")),
    ("g1b.txt", include_str!("../stories/g1b.txt")),
    ("g1c.txt", include_str!("../stories/g1c.txt")),
    ("otv.txt", include_str!("../stories/otv.txt")),
    ("pmp.txt", include_str!("../stories/pmp.txt")),
    ("pmp-write.txt", include_str!("../stories/pmp-write.txt")),
    ("p4.txt", include_str!("../stories/p4.txt")),
    ("counter.txt", include_str!("../stories/counter.txt")),
    ("g-single.txt", include_str!("../stories/g-single.txt")),
    ("g-single-predicate.txt", include_str!("../stories/g-single-predicate.txt")),
    ("g-single-write.txt", include_str!("../stories/g-single-write.txt")),
    ("g2-item.txt", include_str!("../stories/g2-item.txt")),
    ("g2.txt", include_str!("../stories/g2.txt")),
    ("g2-two-edges.txt", include_str!("../stories/g2-two-edges.txt")),
    ("own-update.txt", include_str!("../stories/own-update.txt")),
    ("locked-read.txt", include_str!("../stories/locked-read.txt")),
    ("own-column.txt", include_str!("../stories/own-column.txt")),
    ("own-view.txt", include_str!("../stories/own-view.txt")),
    ("snapshot-deleted.txt", include_str!("../stories/snapshot-deleted.txt")),
    ("snapshot-deleted-index.txt", include_str!("../stories/snapshot-deleted-index.txt")),
];

/// All of them, in the order in which they are shown.
///
/// # Panics
/// Never for stories that a test has read.
pub fn published_cases() -> Vec<Case> {
    STORIES
        .into_iter()
        .map(|(file, text)| match parse(text) {
            Ok(case) => Case { is_published: true, ..case },
            Err(error) => panic!("{file}: {error}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::case::StepAction;

    #[test]
    fn every_story_is_read_and_has_a_name_of_its_own() {
        let all = published_cases();
        let names: BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/stories");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), all.len());
    }

    #[test]
    fn whoever_begins_ends() {
        for case in published_cases() {
            for session in 1..=case.sessions() {
                let of = |step: &&crate::case::StoryStep| step.session == session;
                let last = case.steps.iter().rfind(of).unwrap().action;
                assert!(matches!(last, StepAction::Commit | StepAction::Rollback), "{}", case.name);
            }
        }
    }
}
