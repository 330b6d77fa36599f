//! What Jepsen writes for people: `history.txt`, and the lines of its log that tell operations.
//!
//! ```text
//!   0 ⇥ :invoke ⇥ :txn ⇥ [[:append 9 1] [:r 8 nil]]                          history.txt
//!   1 ⇥ :info ⇥ :txn ⇥ [[:r 9 nil]] ⇥ :timeout                               an error behind it
//!   INFO [2021-04-13 23:32:29,761] jepsen worker 0 - jepsen.util 0 ⇥ :ok ⇥ …     jepsen.log
//!   INFO  jepsen.util - 3 ⇥ :ok ⇥ :read ⇥ nil                                of 2014
//!   2020-09-11 15:37:05,049 ⇥ INFO ⇥ [jepsen worker 6] jepsen.util: 6 ⇥ :ok ⇥ …
//!      ─▶ {:process 0 :type :invoke :f :txn :value [[:append 9 1] [:r 8 nil]]}
//! ```
//!
//! They are read as EDN with a map in the same line, so that lines keep their numbers. The lines of
//! a log have its clock, which tells when a line was written and not when somebody asked: the order
//! of the lines is what is taken.

use super::edn::{Reader, is_word};
use crate::bad_input::{BadInput, bad_input_at};

/// Lines at the beginning among which an operation has to be: a log begins with what is set up.
const LINES_MOST: usize = 20_000;
/// Whose lines tell operations.
const LOGGERS: [&str; 3] = ["jepsen.util: ", "jepsen.util - ", "jepsen.util "];

/// An operation as a line has it.
struct LoggedOperation<'t> {
    process: &'t str,
    event: &'t str,
    function: &'t str,
    /// The value, and what may stand behind it.
    rest: &'t str,
}

/// Whether a text has such lines.
pub(super) fn is_it(text: &str) -> bool {
    text.lines().take(LINES_MOST).any(|line| logged_operation(line).is_some())
}

/// What a line of a log tells behind the name of its logger.
fn logged_part(line: &str) -> Option<&str> {
    LOGGERS.iter().find_map(|name| line.split_once(name)).map(|(_, rest)| rest)
}

fn logged_operation(line: &str) -> Option<LoggedOperation<'_>> {
    let mut rest = logged_part(line).unwrap_or(line).trim();
    let mut words = [""; 3];
    for word in &mut words {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        (*word, rest) = rest.split_at(end);
        rest = rest.trim_start();
    }
    let [process, event, function] = words;
    let is_event = [":invoke", ":ok", ":fail", ":info"].contains(&event);
    let is_function = function.len() > 1 && function.starts_with(':');
    (is_event && is_function && is_word(process) && is_word(function)).then_some(LoggedOperation {
        process,
        event,
        function,
        rest,
    })
}

/// The same history as EDN. A log tells other things as well; where operations have none of its
/// heads, what stands below the first of them is one.
pub(super) fn edn_of(text: &str) -> Result<String, BadInput> {
    let is_log = text.lines().any(|line| logged_part(line).is_some());
    let mut has_begun = false;
    let mut edn = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(LoggedOperation { process, event, function, rest }) = logged_operation(line) {
            has_begun = true;
            edn.push_str(&format!("{{:process {process} :type {event} :f {function} :value "));
            edn.push_str(match rest {
                "" => "nil",
                rest => value(rest),
            });
            edn.push('}');
        } else if !is_log && has_begun && !line.trim().is_empty() {
            let what = "no operation; one is a process, :invoke, :ok, :fail or :info, a function \
                        and its value, as in 0 :ok :read 5";
            return Err(bad_input_at(number, 1, what));
        }
        edn.push('\n');
    }
    Ok(edn)
}

/// The value with which a text begins; one that is none is reported by the reader of EDN.
fn value(text: &str) -> &str {
    let mut reader = Reader::new(text);
    match reader.first() {
        Ok(length) => &text[..length],
        Err(_) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_lines_keep_their_line() {
        let text = "INFO [2021-04-13 23:32:29,761] jepsen worker 0 - jepsen.util 0\t:invoke\t:txn\t\
                    [[:r 1 nil]]\n2020-09-11 15:37:05,049{GMT}\tINFO\t[jepsen node n1] jepsen.db: up\n\
                    2020-09-11 15:37:05,049{GMT}\tINFO\t[jepsen worker 6-172.28.1.2] jepsen.util: \
                    6\t:ok\t:txn\t[[:r 3 [1 3]] [:append 1 6]]\t{\"start_ts\" 41, :x [1]}\n\
                    INFO  jepsen.util - 3\t:ok\t:read\tnil\n\
                    :nemesis  :info  :start  nil\n7    :fail  :read  nil  :timeout\n7 :ok :read\n";
        assert!(is_it(text));
        assert_eq!(
            edn_of(text).unwrap().lines().collect::<Vec<_>>(),
            [
                "{:process 0 :type :invoke :f :txn :value [[:r 1 nil]]}",
                "",
                "{:process 6 :type :ok :f :txn :value [[:r 3 [1 3]] [:append 1 6]]}",
                "{:process 3 :type :ok :f :read :value nil}",
                "{:process :nemesis :type :info :f :start :value nil}",
                "{:process 7 :type :fail :f :read :value nil}",
                "{:process 7 :type :ok :f :read :value nil}",
            ]
        );
        for none in ["", "r(x,1,0,0)\n", "0 1 2 3\n", "INFO jepsen.util up\n"] {
            assert!(!is_it(none), "{none}");
        }
    }
}
