//! What `perf report --stdio` prints: a line for each function, with its share of all samples.
//!
//! ```text
//!   # Samples: 12K of event 'cpu-clock'
//!   # Children      Self  Command  Shared Object      Symbol
//!       11.76%     0.96%  mysqld   mysqld             [.] row_search_mvcc
//! ```
//!
//! Shares have two digits, and the number of samples as many as `12K` has: enough for a table, and
//! who calls whom is not in it. Trees below a line are passed over.

use std::collections::BTreeMap;

/// The samples of each function of a report; `None` where no line is one of a report.
pub(super) fn read(text: &str) -> Option<BTreeMap<String, f64>> {
    let mut functions: BTreeMap<String, f64> = BTreeMap::new();
    let mut shares: Vec<(String, f64)> = Vec::new();
    let mut samples = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# Samples:") {
            samples = samples.or_else(|| count(rest.split_whitespace().next()?));
        }
        shares.extend(function(line));
    }
    if shares.is_empty() {
        return None;
    }
    // Of one that does not say how many samples it has, each hundredth of a per cent is one.
    let samples = samples.unwrap_or(10_000.0);
    for (name, share) in shares {
        *functions.entry(name).or_default() += share * samples;
    }
    Some(functions)
}

/// `12K`, `3M`, `870`.
fn count(text: &str) -> Option<f64> {
    let (number, times) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|number| number * times).filter(|count| *count > 0.0)
}

/// A line of a function: its name, or its file where it has none, and its own share.
fn function(line: &str) -> Option<(String, f64)> {
    let percent = |word: &str| word.strip_suffix('%')?.parse::<f64>().ok();
    // Stacks are passed here too, and are longer.
    percent(line.split_whitespace().next()?)?;
    let (before, symbol) =
        line.split_once(" [.] ").map(|both| (both.0, both.1.to_owned())).or_else(|| {
            line.split_once(" [k] ").map(|both| (both.0, format!("{}_[k]", both.1.trim())))
        })?;
    let words: Vec<&str> = before.split_whitespace().collect();
    let shares: Vec<f64> = words.iter().map_while(|word| percent(word)).collect();
    // Of two, the second is its own.
    let share = *shares.last().filter(|_| shares.len() <= 2)?;
    let symbol = symbol.trim();
    let name = match symbol.starts_with("0x") {
        true => format!("[{}]", words.last()?),
        false => symbol.to_owned(),
    };
    (share > 0.0).then_some((name, share / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
# Samples: 3K of event 'cpu-clock'
#
# Children      Self  Command          Shared Object      Symbol
# ........  ........  ...............  .................  .......
#
    11.76%     1.00%  mysqld           [kernel.kallsyms]  [k] exc_page_fault
            |
             --10.80%--exc_page_fault
                        --10.47%--handle_mm_fault

    11.73%     0.00%  mysqld           [kernel.kallsyms]  [k] asm_exc_page_fault
     9.10%     8.50%  mysqld           mysqld             [.] row_search_mvcc(unsigned char*, int)
     2.00%     2.00%  connection 12    mysqld             [.] 0x00000000012ab4
";

    #[test]
    fn functions_have_their_own_share_of_the_samples() {
        let functions = read(REPORT).unwrap();
        let rounded = functions.iter().map(|(name, own)| (name.as_str(), own.round()));
        assert_eq!(
            rounded.collect::<Vec<_>>(),
            [
                ("[mysqld]", 60.0),
                ("exc_page_fault_[k]", 30.0),
                ("row_search_mvcc(unsigned char*, int)", 255.0),
            ]
        );
    }

    #[test]
    fn reports_without_callers_are_read_and_other_texts_are_none() {
        let flat = "     7.32%  mysqld  [kernel.kallsyms]  [k] clear_page_erms\n";
        assert_eq!(read(flat).unwrap()["clear_page_erms_[k]"].round(), 732.0);
        assert_eq!(read("main;work;read 12\n"), None);
        assert_eq!(
            [count("12K"), count("2M"), count("870"), count("K")],
            [Some(12e3), Some(2e6), Some(870.0), None]
        );
    }
}
