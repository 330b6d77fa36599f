//! What the end of an operation says of its beginning, whatever the operation is of.
//!
//! ```text
//!   :invoke :txn [[:append 5 1] [:r 5 nil]]      :invoke :write 3     :transfer {:from 2 :to 7}
//!   :ok     :txn [[:append 5 1] [:r 5 [1]]]      :info   :timed-out   :fail [:negative 2 -1]
//!                repeated       answered                 a reason           a reason
//! ```
//!
//! An end repeats what was asked for, and has answers where there was nil; what a read was asked
//! with does not matter. One that was not confirmed may have a reason instead of a value, which is
//! told by its shape: numbers are no reason for numbers, nor a transaction for a transaction. An
//! end that says something else is of another operation: lines were lost or mixed up, and what
//! would be judged never happened.
//!
//! Sources: the clients of Jepsen's tests, <https://github.com/jepsen-io/jepsen>; `:timed-out` is in
//! its logs of etcd, `[:negative …]` in those of its banks.

use super::edn::Edn;
use crate::history::TransactionOutcome;

/// Functions whose end has an answer of its own.
const ANSWERED: [&str; 3] = ["read", "acquire", "release"];
/// Letters of a value that are told.
const TOLD: usize = 80;

/// The beginning of an operation that ends.
pub(super) struct Beginning<'m, 'a> {
    pub process: &'m str,
    pub map: &'m Edn<'a>,
    /// What is counted, `line` or `operation`, and the number of it.
    pub unit: &'static str,
    pub line: usize,
}

impl<'m, 'a> Beginning<'m, 'a> {
    /// The value of the operation that this end is of: its own, or that of the beginning where the
    /// end has none or a reason.
    ///
    /// # Errors
    /// The end is of another operation, or a confirmed one does not say what was read.
    pub(super) fn completed_value(
        &self,
        end: &'m Edn<'a>,
        outcome: TransactionOutcome,
    ) -> Result<&'m Edn<'a>, String> {
        let own = function_of(self.map);
        if let (Some(function), Some(own)) = (function_of(end), own)
            && function != own
        {
            let what = format!("ends :{function}, and had begun :{own}");
            return Err(self.contradicted(&what));
        }
        let (begun, ended) = (value_of(self.map), value_of(end));
        let is_ok = outcome == TransactionOutcome::Ok;
        match (operations_of(begun), operations_of(ended)) {
            (Some(asked), Some(answered)) => {
                self.require_operations(asked, answered)?;
                return Ok(ended);
            }
            (Some(asked), None) if is_ok && *ended == Edn::Nil && asked.iter().any(is_read) => {
                let what = "ends :ok and does not say what its reads saw; it had begun";
                return Err(self.contradicted(what));
            }
            (None, Some([_, ..])) if *begun == Edn::Nil => return Ok(ended),
            _ => {}
        }
        if operations_of(begun).is_none() && own.is_some_and(|own| ANSWERED.contains(&own)) {
            return Ok(ended);
        }
        if *ended == Edn::Nil || ended == begun || (!is_ok && !is_like(begun, ended)) {
            return Ok(begun);
        }
        let (ended, begun) = (told(ended), told(begun));
        let own = own.unwrap_or("txn");
        Err(self.contradicted(&format!("ends :{own} of {ended}, and had begun it of {begun}")))
    }

    /// Holds the operations of a transaction that ended against those that were asked for.
    fn require_operations(&self, asked: &[Edn<'_>], answered: &[Edn<'_>]) -> Result<(), String> {
        if asked.len() != answered.len() {
            let what = format!(
                "ends a transaction of {}, and had begun one of {}",
                counted(answered.len()),
                counted(asked.len())
            );
            return Err(self.contradicted(&what));
        }
        let mut both = (1..).zip(asked.iter().zip(answered));
        let other = both.find(|(_, (asked, answered))| !is_answer(asked, answered));
        other.map_or(Ok(()), |(number, (asked, answered))| {
            let (ended, begun) = (told(answered), told(asked));
            let what = format!(
                "ends a transaction whose operation {number} is {ended}, and had begun it with \
                 {begun}"
            );
            Err(self.contradicted(&what))
        })
    }

    fn contradicted(&self, what: &str) -> String {
        let Beginning { process, unit, line, .. } = self;
        let name = if process.is_empty() { "without a name" } else { process };
        format!("process {name} {what} in {unit} {line}")
    }
}

/// What an entry has for `:value`.
pub(super) fn value_of<'m, 'a>(map: &'m Edn<'a>) -> &'m Edn<'a> {
    map.get("value").unwrap_or(&Edn::Nil)
}

/// What an entry has for `:f`.
pub(super) fn function_of<'m>(map: &'m Edn<'_>) -> Option<&'m str> {
    map.get("f").filter(|function| **function != Edn::Nil).and_then(Edn::as_word)
}

/// The operations of a transaction: a vector whose items are vectors that begin with a keyword.
pub(super) fn operations_of<'a, 'b>(value: &'b Edn<'a>) -> Option<&'b [Edn<'a>]> {
    let items = value.as_items()?;
    let is_operation =
        |item: &Edn<'_>| matches!(item.as_items().and_then(<[_]>::first), Some(Edn::Keyword(_)));
    items.iter().all(is_operation).then_some(items)
}

fn is_read(operation: &Edn<'_>) -> bool {
    operation.as_items().and_then(<[_]>::first) == Some(&Edn::Keyword("r"))
}

/// Whether one operation of a transaction is what another one asked for, with answers. What a read
/// was asked with does not matter.
fn is_answer(asked: &Edn<'_>, answered: &Edn<'_>) -> bool {
    match (asked.as_items(), answered.as_items()) {
        (Some([own, key, ..]), Some([other, its, ..])) if is_read(asked) => {
            own == other && is_filled(key, its)
        }
        _ => is_filled(asked, answered),
    }
}

/// Whether one value is another one, with something where that has nil.
fn is_filled(begun: &Edn<'_>, ended: &Edn<'_>) -> bool {
    match (begun, ended) {
        (Edn::Nil, _) => true,
        (Edn::Items(begun), Edn::Items(ended)) if begun.len() == ended.len() => {
            begun.iter().zip(ended).all(|(begun, ended)| is_filled(begun, ended))
        }
        _ => begun == ended,
    }
}

/// Whether two values have one shape, so that neither is the reason why the other did not happen: a
/// word may be one, beside any word.
fn is_like(begun: &Edn<'_>, ended: &Edn<'_>) -> bool {
    match (begun, ended) {
        (Edn::Items(begun), Edn::Items(ended)) => {
            let mut both = begun.iter().zip(ended);
            begun.len() == ended.len() && both.all(|(one, other)| is_like(one, other))
        }
        (Edn::Map(begun), Edn::Map(ended)) => {
            let mut both = begun.iter().zip(ended);
            begun.len() == ended.len() && both.all(|(one, other)| one.0 == other.0)
        }
        (Edn::Atom(begun), Edn::Atom(ended)) => {
            begun == ended || (is_number(begun) && is_number(ended))
        }
        _ => begun == ended,
    }
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches(['-', '+']).starts_with(|first: char| first.is_ascii_digit())
}

fn counted(operations: usize) -> String {
    format!("{operations} operation{}", if operations == 1 { "" } else { "s" })
}

/// The beginning of a value as Clojure writes it.
fn told(value: &Edn<'_>) -> String {
    let notation = value.to_notation();
    match notation.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{} […]", &notation[..end]),
        None => notation,
    }
}

#[cfg(test)]
mod tests {
    use super::super::edn::Reader;
    use super::*;

    /// The value that an operation is taken to have, or what is wrong with its end.
    fn completed(function: &str, begun: &str, end: &str, ended: &str) -> Result<String, String> {
        let entry = |value: &str| format!("{{:f :{function} :value {value}}}");
        let (begun, ended) = (entry(begun), entry(ended));
        let of = |text| Reader::new(text).next_item().unwrap().unwrap().0;
        let (map, end_map) = (of(&begun), of(&ended));
        let beginning = Beginning { process: "7", map: &map, unit: "line", line: 3 };
        let outcome = match end {
            "ok" => TransactionOutcome::Ok,
            "fail" => TransactionOutcome::Failed,
            _ => TransactionOutcome::Unknown,
        };
        beginning.completed_value(&end_map, outcome).map(Edn::to_notation)
    }

    #[test]
    fn an_end_repeats_its_beginning_and_answers_it() {
        for (function, begun, end, ended, value) in [
            ("txn", "[[:append 5 1] [:r 5 nil]]", "ok", "[[:append 5 1] [:r 5 [1]]]", "ended"),
            ("txn", "[[:r x 3] [:w y nil]]", "ok", "[[:r x 4] [:w y 2]]", "ended"),
            ("txn", "[[:r nil nil]]", "ok", "[[:r 5 [1 2]]]", "ended"),
            ("txn", "[]", "ok", "[]", "ended"),
            ("txn", "nil", "ok", "[[:r 5 [1 2]]]", "ended"),
            ("txn", "[[:w x 1]]", "ok", "nil", "begun"),
            ("txn", "[[:w x 1] [:r x nil]]", "info", "nil", "begun"),
            ("txn", "[[:w x 1]]", "info", ":timed-out", "begun"),
            ("txn", "[[:w x 1]]", "fail", "[:negative 2 -1]", "begun"),
            ("read", "nil", "ok", "nil", "ended"),
            ("read", "[x nil]", "ok", "[x 5]", "ended"),
            ("read", "nil", "ok", "[]", "ended"),
            ("read", "4", "ok", "5", "ended"),
            ("acquire", "a", "ok", "{:fence 5}", "ended"),
            ("write", "3", "ok", "nil", "begun"),
            ("write", "3", "info", ":timed-out", "begun"),
            ("write", ":a", "info", ":timed-out", "begun"),
            ("write", "3", "info", "timeout", "begun"),
            ("cas", "[1 2]", "fail", "[:negative 2 -1]", "begun"),
            ("cas", "[1 2]", "fail", "3", "begun"),
            ("transfer", "{:from 2 :to 7 :amount 1}", "fail", "[:negative 2 -1]", "begun"),
            ("transfer", "{:from 2}", "fail", "{:error 3}", "begun"),
        ] {
            let taken = completed(function, begun, end, ended);
            let wanted = if value == "begun" { begun } else { ended };
            let of_map =
                |text: &str| text.replace("{:from 2 :to 7 :amount 1}", "{:amount 1 :from 2 :to 7}");
            assert_eq!(taken.as_deref(), Ok(&*of_map(wanted)), "{function} {begun} {end} {ended}");
        }
    }

    #[test]
    fn an_end_of_another_operation_is_refused() {
        for (function, begun, end, ended, what) in [
            ("txn", "[[:w x 1]]", "ok", "[[:w x 2]]", "whose operation 1 is [:w x 2]"),
            ("txn", "[[:w x 1]]", "ok", "[[:w y 1]]", "whose operation 1 is [:w y 1]"),
            ("txn", "[[:w x 1]]", "ok", "[[:append x 1]]", "operation 1 is [:append x 1]"),
            (
                "txn",
                "[[:w x 1] [:r x nil]]",
                "ok",
                "[[:w x 1] [:r y 1]]",
                "operation 2 is [:r y 1]",
            ),
            ("txn", "[[:w x 1] [:w y 1]]", "ok", "[[:w x 1]]", "a transaction of 1 operation, "),
            ("txn", "[[:w x 1]]", "info", "[]", "a transaction of 0 operations, "),
            ("txn", "[[:w x 1]]", "fail", "[[:w x 2]]", "whose operation 1 is [:w x 2]"),
            ("txn", "[[:w x 1]]", "ok", ":done", "ends :txn of :done, and had begun it of"),
            ("txn", "[[:r x nil]]", "ok", "nil", "does not say what its reads saw"),
            ("read", "[[:r x nil]]", "ok", "[[:r y 1]]", "operation 1 is [:r y 1]"),
            ("write", "1", "ok", "2", "ends :write of 2, and had begun it of 1 in line 3"),
            ("write", "1", "info", "2", "ends :write of 2"),
            ("write", "1", "ok", ":timed-out", "ends :write of :timed-out"),
            ("write", "nil", "ok", "5", "ends :write of 5"),
            ("write", "[x 1]", "fail", "[x 2]", "ends :write of [x 2]"),
            ("cas", "[1 2]", "info", "[1 3]", "ends :cas of [1 3]"),
            ("add", "5", "fail", "6", "ends :add of 6"),
            ("transfer", "{:from 2 :to 7}", "ok", "{:from 2 :to 6}", "ends :transfer of"),
            ("transfer", "{:from 2 :to 7}", "info", "{:from 2 :to 6}", "ends :transfer of"),
        ] {
            let refused = completed(function, begun, end, ended).unwrap_err();
            assert!(
                refused.starts_with("process 7 ends ") && refused.ends_with(" in line 3"),
                "{refused}"
            );
            assert!(refused.contains(what), "{function} {begun} {end} {ended}: {refused}");
        }
    }
}
