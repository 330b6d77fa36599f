//! Histories that are a directory of logs.
//!
//! | files | history |
//! |---|---|
//! | `history.edn`, `.json`, `.jsonl`, `.bincode`, `.txt` or `.hist` | that file |
//! | `….log` that begin with a transaction in binary form | Cobra's, a session each |
//! | `J….log` with a transaction a line in JSON | Viper's, a session each |
//!
//! Of several histories the first one by its name is read. Of the logs none may be missing: without
//! a session that broke a level the rest has it, so that what is called as a log and is none that
//! can be read is refused.

use super::form::{HistoryForm, LogCount};
use super::{Input, cobra, read_input, refuse_nothing, viper};
use crate::bad_input::BadInput;

/// The names of a file that is a history by itself.
const WHOLE: [&str; 6] = [
    "history.edn",
    "history.json",
    "history.jsonl",
    "history.bincode",
    "history.txt",
    "history.hist",
];

/// The files of a directory that are a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryFiles {
    /// Those to be read: one history, or all logs, by name.
    pub read: Vec<String>,
    /// Other histories, which are not read.
    pub beside: Vec<String>,
}

/// Chooses among the names of all that is in a directory: the first history by its name, or else
/// all logs.
///
/// # Errors
/// One of them cannot be read as it stands, such as a log that is packed: a history without it is
/// another one.
pub fn history_files(names: &[String]) -> Result<HistoryFiles, BadInput> {
    let mut histories = named(names, is_history)?;
    if histories.is_empty() {
        return Ok(HistoryFiles { read: named(names, is_log)?, beside: Vec::new() });
    }
    let beside = histories.split_off(1);
    Ok(HistoryFiles { read: histories, beside })
}

fn is_history(name: &str) -> bool {
    WHOLE.contains(&name)
}

fn is_log(name: &str) -> bool {
    name.ends_with(".log")
}

/// The names that are so, in their order.
fn named(names: &[String], is: fn(&str) -> bool) -> Result<Vec<String>, BadInput> {
    let mut found = Vec::new();
    for name in names {
        if is(name) {
            found.push(name.clone());
        } else if is(&plain_name(name)) {
            let what = "by its name it belongs to the history, and it cannot be read as it stands; \
                        unpack it, give it the name that it would have then, or move it out of the \
                        directory";
            return Err(BadInput { place: name.clone(), what: what.to_owned() });
        }
    }
    found.sort();
    Ok(found)
}

/// What a file was called before it was packed or put aside, in small letters: `t3.log` of
/// `T3.log.1.gz` and of `T3.log-20260101`; all that stands behind such a name was added to it.
fn plain_name(name: &str) -> String {
    let plain = name.to_ascii_lowercase();
    let whole =
        WHOLE.iter().find(|whole| plain.starts_with(**whole) && ends_at(&plain, whole.len()));
    let log = plain.match_indices(".log").map(|(at, ending)| at + ending.len());
    let end = whole
        .map(|whole| whole.len())
        .or_else(|| log.into_iter().find(|&end| ends_at(&plain, end)));
    plain[..end.unwrap_or(plain.len())].to_owned()
}

/// Whether a word of a name ends there.
fn ends_at(name: &str, end: usize) -> bool {
    !name[end..].starts_with(|next: char| next.is_ascii_alphanumeric())
}

/// Reads the files of a directory that [`history_files`] has chosen, each with its name.
///
/// # Errors
/// There is none, they are of no history that is known, or the first thing that cannot be meant,
/// with its place.
pub fn read_directory(files: &[(String, Vec<u8>)]) -> Result<Input, BadInput> {
    if let Some((name, bytes)) = files.iter().find(|(name, _)| WHOLE.contains(&name.as_str())) {
        return read_input(bytes)
            .map_err(|bad| BadInput { place: format!("{name}, {}", bad.place), ..bad });
    }
    let logs: Vec<(&str, &[u8])> = files
        .iter()
        .filter(|(name, bytes)| name.ends_with(".log") && !bytes.is_empty())
        .map(|(name, bytes)| (name.as_str(), &bytes[..]))
        .collect();
    let count = LogCount { sessions: logs.len(), empty: files.len() - logs.len() };
    let is_first = |is_it: fn(&[u8]) -> bool| logs.first().is_some_and(|(_, bytes)| is_it(bytes));
    if is_first(cobra::is_it) {
        let history = refuse_nothing(cobra::read(&logs)?, logs.len())?;
        let form = HistoryForm::of_cobra(count, &history);
        return Ok(Input::Transactions(Box::new(history), form));
    }
    let text = |(name, bytes)| std::str::from_utf8(bytes).ok().map(|text| (name, text));
    let texts: Vec<(&str, &str)> = logs.iter().copied().filter_map(text).collect();
    if texts.len() == logs.len() && texts.first().is_some_and(|(_, text)| viper::is_it(text)) {
        let history = refuse_nothing(viper::read(&texts)?, logs.len())?;
        return Ok(Input::Transactions(Box::new(history), HistoryForm::Viper(count)));
    }
    let found = match logs.first() {
        Some((name, _)) => format!("{name} is neither a log of Cobra nor one of Viper"),
        None => "no logs are in it".to_owned(),
    };
    let what = format!(
        "{found}; of a directory there are read history.edn, history.json, history.bincode, \
         history.txt, Cobra's T….log and Viper's J….log; name the history itself if it is another \
         file"
    );
    Err(BadInput { place: "the directory".to_owned(), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> Result<HistoryForm, String> {
        let files: Vec<(String, Vec<u8>)> = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
            .collect();
        match read_directory(&files).map_err(|bad| bad.to_string())? {
            Input::Transactions(_, form) => Ok(form),
            Input::Objects(_) => Err("objects".to_owned()),
        }
    }

    fn chosen(names: &[&str]) -> Result<(String, String), String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let files = history_files(&names).map_err(|bad| bad.place)?;
        Ok((files.read.join(" "), files.beside.join(" ")))
    }

    #[test]
    fn one_history_or_all_logs_are_read() {
        let told = |read: &str, beside: &str| Ok((read.to_owned(), beside.to_owned()));
        assert_eq!(chosen(&["T2.log", "readme.txt", "T1.log"]), told("T1.log T2.log", ""));
        let jepsen = ["jepsen.log", "history.txt", "jepsen.log.gz", "history.edn", "test.fressian"];
        assert_eq!(chosen(&jepsen), told("history.edn", "history.txt"));
        assert_eq!(chosen(&["x.logs", "log.1", "catalog"]), told("", ""));
    }

    /// It was passed over, and a lost update with it.
    #[test]
    fn a_log_that_cannot_be_read_as_it_stands_is_refused_by_its_name() {
        for other in [
            "T3.log.gz",
            "T3.LOG",
            "T3.log.1",
            "T3.log.2.XZ",
            "t3.log.old",
            "T3.log-20260101",
            "T3.log-20260101.gz",
            "T3.log~",
            "T3.log.tar.gz",
            "T3.log.txt",
        ] {
            assert_eq!(chosen(&["T1.log", other, "T2.log"]), Err(other.to_owned()));
        }
        for other in ["history.edn.gz", "History.edn", "history.json.zst", "history.edn-2026"] {
            assert_eq!(chosen(&["history.jsonl", other]), Err(other.to_owned()));
            assert_eq!(chosen(&["jepsen.log", other]), Err(other.to_owned()));
        }
    }

    /// What it wrote may have been undone, and nothing was said.
    #[test]
    fn a_log_that_ends_within_a_transaction_is_named() {
        let begun = "S00000001W000000000000000000000000";
        let whole = begun.to_owned() + "C00000001";
        let form =
            read(&[("T1.log", &whole), ("T2.log", &whole.replace('1', "2")), ("T3.log", begun)]);
        let told = form.unwrap().to_string();
        assert!(
            told.ends_with(
                "a session each: 3, one of which ends within a transaction of unknown \
                                outcome: T3.log, transaction 3030303030303031, bytes 0 to 33"
            ),
            "{told}"
        );
    }

    #[test]
    fn a_directory_is_taken_for_what_its_files_are() {
        let viper = "{\"value\": [[\"w\", 1, 2, true]]}\n";
        assert_eq!(
            read(&[("J1.log", viper), ("J2.log", viper)]),
            Ok(HistoryForm::Viper(LogCount { sessions: 2, empty: 0 }))
        );
        let edn = "{:type :ok :f :txn :value [[:w x 1]] :process 0}";
        assert_eq!(read(&[("history.edn", edn), ("jepsen.log", "INFO")]), Ok(HistoryForm::Edn));
        let one_and_empty = LogCount { sessions: 1, empty: 1 };
        assert_eq!(one_and_empty.to_string(), "a session each: 1 (and an empty one)");
        let cobra = "S00000000W000000000000000000000000C00000000";
        assert_eq!(
            read(&[("T1.log", cobra), ("T2.log", "")]),
            Ok(HistoryForm::Cobra(one_and_empty, Vec::new()))
        );
        let none = read(&[]).unwrap_err();
        assert!(none.starts_with("the directory: no logs are in it"), "{none}");
        let other = read(&[("server.log", "INFO started")]).unwrap_err();
        assert!(other.contains("server.log is neither"), "{other}");
        let broken = read(&[("history.edn", "{:type")]).unwrap_err();
        assert!(broken.starts_with("history.edn, line 1"), "{broken}");
    }
}
