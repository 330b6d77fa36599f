//! The words of a name.
//!
//! ```text
//!   http_req_failed   responseTimeP95   errors/s        p99@max tps
//!   http req failed   response time p95 errors / s      p99 @ max tps
//! ```
//!
//! A name is parted at signs and where small letters end. `rd_sec/s` of sar and `wr_sec` of sadf
//! are sectors of a disk, 512 bytes each, and no time.

/// Words of rates; with a k, m or g before one of the first eight they are rates as well.
pub(super) const RATES: [&str; 17] = [
    "qps",
    "tps",
    "rps",
    "ops",
    "iops",
    "ips",
    "fps",
    "qph",
    "tpm",
    "tpmc",
    "nopm",
    "throughput",
    "bandwidth",
    "goodput",
    "kops",
    "mops",
    "bw",
];
/// Words of names of columns whose numbers are part of a name.
const LABEL_WORDS: [&str; 30] = [
    "version",
    "commit",
    "sha",
    "hash",
    "revision",
    "release",
    "tag",
    "branch",
    "ref",
    "build",
    "label",
    "name",
    "id",
    "url",
    "uri",
    "link",
    "message",
    "comment",
    "comments",
    "note",
    "notes",
    "description",
    "title",
    "author",
    "host",
    "hostname",
    "machine",
    "instance",
    "seed",
    "image",
];

/// Whether a name is of what names or dates a run.
pub(super) fn is_of_label(name: &str) -> bool {
    name_words(name).iter().any(|word| LABEL_WORDS.contains(&word.as_str()))
}

/// The words of a name, in small letters; `/` and `@` are words.
pub(super) fn name_words(name: &str) -> Vec<String> {
    // `MiB` is one word, although a small letter ends before its last one.
    let name = ["Ki", "Mi", "Gi", "Ti"].iter().fold(name.to_owned(), |name, unit| {
        name.replace(&format!("{unit}B"), &format!("{}b", unit.to_lowercase()))
    });
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut was_small = false;
    for letter in name.chars() {
        if ['/', '@'].contains(&letter) {
            words.push(letter.to_string());
        }
        if !letter.is_alphanumeric() {
            (is_open, was_small) = (false, false);
            continue;
        }
        if !is_open || (was_small && letter.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        (is_open, was_small) = (true, letter.is_lowercase());
    }
    for at in 1..words.len() {
        if is_of_sectors(&words, at) {
            words[at] = SECTORS.to_owned();
        }
    }
    // `(s)` is a unit, and any other `s` may be one of anything.
    if ["(s)", "[s]"].iter().any(|unit| name.to_lowercase().contains(unit)) {
        words.push("sec".to_owned());
    }
    words
}

/// What sar and iostat shorten to `sec`.
const SECTORS: &str = "sectors";

/// Whether the word at this place is of sectors: one that is read or written, by the time, or in
/// the words of sysstat.
fn is_of_sectors(words: &[String], at: usize) -> bool {
    ["sec", "secs", "sect"].contains(&words[at].as_str())
        && match words[at - 1].as_str() {
            "rd" | "wr" | "dc" => true,
            "r" | "w" | "d" | "read" | "reads" | "write" | "writes" => {
                is_second_behind(&words[at + 1..])
            }
            _ => false,
        }
}

/// Whether words go on with `/ s` or `per second`.
fn is_second_behind(words: &[String]) -> bool {
    let [per, of, ..] = words else { return false };
    ["/", "per"].contains(&per.as_str()) && ["s", "sec", "second"].contains(&of.as_str())
}

/// Whether one of the words is in a list.
pub(super) fn has_word(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}
