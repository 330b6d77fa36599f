//! Histories that are a directory of logs.
//!
//! | files | history |
//! |---|---|
//! | `history.edn`, `.json`, `.jsonl`, `.bincode`, `.txt` or `.hist` | that file |
//! | `….log` that begin with a transaction in binary form | Cobra's, a session each |
//! | `J….log` with a transaction a line in JSON | Viper's, a session each |

use super::form::HistoryForm;
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

/// Whether a file of a directory is one that histories have.
#[must_use]
pub fn is_log(name: &str) -> bool {
    WHOLE.contains(&name) || name.ends_with(".log")
}

/// Reads the files of a directory for which [`is_log`], each with its name.
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
    let is_first = |is_it: fn(&[u8]) -> bool| logs.first().is_some_and(|(_, bytes)| is_it(bytes));
    if is_first(cobra::is_it) {
        let history = refuse_nothing(cobra::read(&logs)?, logs.len())?;
        return Ok(Input::Transactions(Box::new(history), HistoryForm::Cobra(logs.len())));
    }
    let text = |(name, bytes)| std::str::from_utf8(bytes).ok().map(|text| (name, text));
    let texts: Vec<(&str, &str)> = logs.iter().copied().filter_map(text).collect();
    if texts.len() == logs.len() && texts.first().is_some_and(|(_, text)| viper::is_it(text)) {
        let history = refuse_nothing(viper::read(&texts)?, logs.len())?;
        return Ok(Input::Transactions(Box::new(history), HistoryForm::Viper(logs.len())));
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

    #[test]
    fn a_directory_is_taken_for_what_its_files_are() {
        let viper = "{\"value\": [[\"w\", 1, 2, true]]}\n";
        assert_eq!(read(&[("J1.log", viper), ("J2.log", viper)]), Ok(HistoryForm::Viper(2)));
        let edn = "{:type :ok :f :txn :value [[:w x 1]] :process 0}";
        assert_eq!(read(&[("history.edn", edn), ("jepsen.log", "INFO")]), Ok(HistoryForm::Edn));
        let cobra = "S00000000W000000000000000000000000C00000000";
        assert_eq!(read(&[("T1.log", cobra), ("T2.log", "")]), Ok(HistoryForm::Cobra(1)));
        let none = read(&[]).unwrap_err();
        assert!(none.starts_with("the directory: no logs are in it"), "{none}");
        let other = read(&[("server.log", "INFO started")]).unwrap_err();
        assert!(other.contains("server.log is neither"), "{other}");
        let broken = read(&[("history.edn", "{:type")]).unwrap_err();
        assert!(broken.starts_with("history.edn, line 1"), "{broken}");
    }
}
