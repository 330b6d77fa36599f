//! Files of other checkers are read, damage is said with its place, and what was written is read
//! back.

use dbdyno_check::{
    Checker, Format, History, INITIAL, Input, Level, LevelVerdict, TransactionOutcome,
    read_history, read_input, replay, write_history,
};

fn read(text: &str) -> History {
    read_history(text.as_bytes()).unwrap()
}

fn anomaly(history: &History, level: Level) -> String {
    Checker::new(history).level_verdict(level).anomaly().unwrap_or_default().to_owned()
}

/// The first example of Elle's manual: T2 saw the second element and not what came before it.
const LISTS: &str = "\
{:type :invoke, :f :txn, :value [[:append :x 1] [:r :y nil]], :process 0, :index 1}
{:type :invoke, :f :txn, :value [[:append :y 1] [:r :x nil]], :process 1, :index 2}
{:type :ok, :f :txn, :value [[:append :x 1] [:r :y []]], :process 0, :index 3}
{:type :ok, :f :txn, :value [[:append :y 1] [:r :x []]], :process 1, :index 4}
; both saw nothing of the other
#jepsen.history.Op{:type :invoke, :f :txn, :value [[:r :x nil]], :process 0, :index 5}
{:type :ok, :f :txn, :value [[:r :x [1]]], :process 0, :index 6}
";

#[test]
fn lists_of_elle() {
    let history = read(LISTS);
    assert_eq!((history.len(), history.session_count()), (3, 2));
    assert_eq!(anomaly(&history, Level::Serializable), "write skew (G2-item)");
    assert_eq!(anomaly(&history, Level::SnapshotIsolation), "");
    let vector = format!("[{LISTS}]");
    assert_eq!(write_history(&read(&vector), Format::Json), write_history(&history, Format::Json));
}

/// A text and a number of the same letters were one key, so that what two lists saw was one's; a
/// verdict stood on how a file is read.
#[test]
fn a_text_and_a_number_of_the_same_letters_are_not_one_in_silence() {
    let edn = |key: &str, value: &str| {
        format!(
            "{{:type :ok, :f :txn, :value [[:append 1 1]], :process 0, :index 0}}\n\
             {{:type :ok, :f :txn, :value [[:r {key} [{value}]]], :process 1, :index 1}}\n"
        )
    };
    let json = |key: &str, value: &str| {
        format!(
            "{{\"session\": 0, \"ops\": [[\"append\", 1, 1]]}}\n\
             {{\"session\": 1, \"ops\": [[\"r\", {key}, [{value}]]]}}\n"
        )
    };
    for (key, value) in [("\"1\"", "1"), ("1", "\"1\"")] {
        for text in [edn(key, value), json(key, value)] {
            let refused = read_history(text.as_bytes()).unwrap_err().to_string();
            assert!(refused.contains("another form"), "{text}: {refused}");
        }
    }
    let refused = read_history(edn(":1", "1").as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("another form"), "{refused}");
    for (key, value) in [("1.0", "1"), ("1", "1e0"), ("1", "1.0")] {
        let history = read(&json(key, value));
        assert_eq!(anomaly(&history, Level::Serializable), "", "{key} {value}");
        assert_eq!(history.txn(1).outcome, TransactionOutcome::Ok);
    }
    let texts = edn("\"1\"", "\"1\"").replace("[:append 1 1]", "[:append \"1\" \"1\"]");
    assert_eq!(anomaly(&read(&texts), Level::Serializable), "");
}

/// A key in two forms was two keys, so that a lost update of one of them held.
#[test]
fn a_word_of_text_and_a_name_of_dbcop_stand_in_one_form() {
    let text = |key: &str, value: &str| {
        format!("w(x,1,0,0)\nr(x,1,1,1)\nw(x,2,1,1)\nr({key},{value},2,2)\nw({key},3,2,2)\n")
    };
    assert_eq!(anomaly(&read(&text("x", "1")), Level::Serializable), "lost update");
    for (key, value) in [("\"x\"", "1"), (":x", "1"), ("x", "\"1\""), ("x", "\"01\"")] {
        let refused = read_history(text(key, value).as_bytes()).unwrap_err().to_string();
        assert!(refused.starts_with("line 4, column 3: "), "{refused}");
        assert!(refused.contains("another form"), "{refused}");
    }
    let dbcop = |variable: &str, version: &str| {
        format!(
            "[[{{\"events\": [{{\"Write\": {{\"variable\": 0, \"version\": 1}}}}], \"committed\": \
             true}}],\n[{{\"events\": [{{\"Read\": {{\"variable\": {variable}, \"version\": \
             {version}}}}}], \"committed\": true}}]]"
        )
    };
    assert_eq!(anomaly(&read(&dbcop("0", "1")), Level::Serializable), "");
    for (variable, version, what) in [
        ("\"0\"", "1", "another form"),
        ("[0]", "1", "no key"),
        ("0", "\"1\"", "one form"),
        ("0", "[1]", "no value"),
        ("0", "true", "no value"),
        ("0", "1.5", "no value"),
    ] {
        let refused = read_history(dbcop(variable, version).as_bytes()).unwrap_err().to_string();
        assert!(refused.starts_with("session 1, transaction 0: "), "{refused}");
        assert!(refused.contains(what), "{refused}");
    }
}

/// Keys and values that Clojure has for equal were two, so that a read of what the other spelling
/// wrote was a garbage read, and a lost update one of two keys.
#[test]
fn equal_values_of_edn_are_one_however_they_are_written() {
    let edn = |key: &str, value: &str, seen_key: &str, seen: &str| {
        format!(
            "{{:type :ok, :f :txn, :value [[:w {key} {value}]], :process 0, :index 0}}\n\
             {{:type :ok, :f :txn, :value [[:r {seen_key} {seen}]], :process 1, :index 1}}\n"
        )
    };
    for (one, other) in [
        ("\"a\"", "\"\\u0061\""),
        ("\"a\\nb\"", "\"a\nb\""),
        ("1.0", "1.00"),
        ("16", "0x10"),
        ("1/2", "2/4"),
        ("\\a", "\\u0061"),
        ("#uuid \"AB\"", "#uuid \"ab\""),
    ] {
        assert_eq!(anomaly(&read(&edn("1", one, "1", other)), Level::Serializable), "", "{one}");
        let history = read(&edn(one, "7", other, "7"));
        assert_eq!(anomaly(&history, Level::Serializable), "", "{one}");
    }
    for (one, other) in [("#{1 2}", "#{2 1}"), ("{1 2 3 4}", "{3 4 1 2}"), ("[1 2]", "(1 2)")] {
        let history = read(&edn(one, "7", other, "7"));
        assert_eq!(anomaly(&history, Level::Serializable), "", "{one}");
    }
    for (one, other) in [("[\"a\"]", "[:a]"), ("[1 2]", "#{1 2}"), ("1", "1.0"), ("#a 7", "7")] {
        let history = read(&edn(one, "7", other, "7"));
        assert_eq!(anomaly(&history, Level::Serializable), "garbage read", "{one}");
    }
}

/// A process that is called like the rest of an operation was read as that.
#[test]
fn a_word_of_json_is_no_edn() {
    let json = |process: &str, word: &str| {
        format!(
            "[{{\"type\": \"ok\", \"f\": \"txn\", \"process\": {process}, \
             \"value\": [[{word}, 1, 2]], \"index\": 0}}]"
        )
    };
    let history = read(&json("\"0} {:type :ok :process 9 :value [[:w 1 1]]\"", "\"w\""));
    assert_eq!((history.len(), history.session_count()), (1, 1));
    let refused = read_history(json("0", "\"w 1 1] [:r\"").as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("operation"), "{refused}");
}

/// What was of another kind than its place has was taken for untold, so that the operations, the
/// times or the outcome of a transaction were gone, and what the file shows held.
#[test]
fn what_is_of_another_kind_is_refused_and_not_untold() {
    let skew = |third: &str| {
        format!(
            "{{:type :ok :f :txn :value [[:w x 1] [:w y 1]] :process 0}}\n\
             {{:type :ok :f :txn :value [[:r x 1] [:w y 2]] :process 1}}\n{third}"
        )
    };
    let third = "{:type :ok :f :txn :value [[:r y 1] [:w x 2]] :process 2}\n";
    for head in ["", "; a remark\r", "; a remark\n"] {
        let history = read(&skew(&format!("{head}{third}")));
        assert_ne!(anomaly(&history, Level::Serializable), "", "{head:?}");
    }
    let edn = |field: &str| skew(&third.replace('}', &format!(" {field}}}")));
    let json = |third: &str| {
        format!("[{{\"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"w\", 1, 1]]}}, {third}]")
    };
    let lines =
        |outcome: &str| format!("{{\"session\": 0, \"outcome\": {outcome}, \"ops\": []}}\n");
    let ops = |op: &str| lines("\"ok\"").replace("[]", &format!("[{op}]"));
    let dbcop = |session: &str| {
        let event = "{\"Write\": {\"variable\": 0, \"version\": 1}}";
        format!("[[{{\"events\": [{event}], \"committed\": true}}], {session}]")
    };
    let viper = |field: &str, rows: &str| {
        format!("{{\"value\": [[\"w\", 4, 1, true], [\"range\", 1, 9, {rows}, []]]{field}}}\n")
    };
    for (text, place) in [
        (edn(":time 40.0"), "line 3, column 1: :time is 40.0"),
        (edn(":time \"40\""), "line 3, column 1: :time is \"40\""),
        (edn(":index -2"), "line 3, column 1: :index is -2"),
        (skew(&third.replace("2}", "[2]}")), "line 3, column 1: :process is [2]"),
        (skew(&third.replace("[:w x 2]", "[:w x [2 3]]")), "[2 3] is no value"),
        (skew(&third.replace("[:w x 2]", "[:append x #{2}]")), "#{2} is no value"),
        (skew(&third.replace("[:r y 1]", "[:r y #{1}]")), "#{1} is no value"),
        (skew(&third.replace("[:w x 2]", "#{:w 2}")), "has no transaction as its :value"),
        (ops("[\"w\", \"x\", [1, 2]]"), "operation 1: \"w\" writes [1,2]"),
        (ops("[\"insert\", \"x\", null]"), "operation 1: \"insert\" writes null"),
        (ops("[\"r\", \"x\"]"), "operation 1: it has no value"),
        (ops("[\"r\", \"x\", [1, null]]"), "null is no element of a list"),
        (skew(&third.replace("[:r y 1]", "[:r y [1 nil]]")), "nil is no element of a list"),
        (edn(":time 7"), "line 3, column 1: it has :time, and those before it have none"),
        (skew(&third.replace("2}", ":nemesis-x}")), "line 3, column 1: what breaks the system"),
        (format!("```\n{}```{third}```\n", skew("")), "line 4, column 1: no operation"),
        (json("\"{}\""), "operation 2: it is no object"),
        (json("{\"type\": \"ok\", \"time\": \"40\"}"), "operation 2: :time is \"40\""),
        (json("[{\"type\": \"ok\"}]"), "operation 2: it is no object"),
        (lines("false"), "line 1, column 1: \"outcome\" is false"),
        (lines("null"), "line 1, column 1: \"outcome\" is null"),
        (dbcop("{\"0\": []}"), "session 1: \"a session\" is"),
        (
            dbcop("[{\"events\": [], \"committed\": \"no\"}]"),
            "session 1, transaction 0: \"committed\"",
        ),
        (viper(", \"preBeginTS\": \"4\"", "[]"), "the log, line 1, column 1: \"preBeginTS\" is"),
        (viper("", "{\"id\": 4}"), "line 1, column 1: operation 2: \"liveKVs\" is"),
        ("0 :ok :txn [[:w x 1]]\n{:type :ok}\n".to_owned(), "line 2, column 1: no operation"),
    ] {
        let refused = read_input(text.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains(place), "{text}\n{refused}");
    }
    assert!(read_input(viper("", "[]").as_bytes()).is_ok());
    assert!(read_input(lines("\"ok\"").replace("[]", "[[\"w\", 1, 1]]").as_bytes()).is_ok());
}

#[test]
fn a_number_below_zero_is_one_however_it_is_written() {
    let text = |written: &str, read: &str| format!("w(x,{written},0,0)\nr(x,{read},1,0)\n");
    for (written, read) in [("-5", "-05"), ("-0", "0"), ("+7", "007")] {
        let history = read_history(text(written, read).as_bytes()).unwrap();
        assert_eq!(anomaly(&history, Level::Serializable), "", "{written} {read}");
    }
    let rolled_back = read("w(x,3,0,-01)\nr(x,3,1,1)\n");
    assert_eq!(anomaly(&rolled_back, Level::Serializable), "G1a (aborted read)");
    let json = "[{\"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"w\", 1, true]]},\
                 {\"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"r\", 1, \"true\"]]}]";
    let refused = read_history(json.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("another form"), "{refused}");
}

/// Columns are counted on from the item before, in characters: a line of 4 MB took 23 s where each
/// was counted from the beginning.
#[test]
fn a_history_on_one_line_has_its_columns() {
    let many = "{:type :ok :f :txn :value [[:w \"é\" 1]] :process 0} ".repeat(1_000);
    let wrong = read_history(format!("{many}]").as_bytes()).unwrap_err().to_string();
    assert_eq!(
        wrong,
        format!("line 1, column {}: ] stands where a value should be", many.chars().count() + 1)
    );
}

/// A transaction without times was before all others.
#[test]
fn real_time_is_not_judged_where_some_have_no_times() {
    let text = |begin: &str| {
        format!(
            "{{\"session\": 0, \"begin\": 10, \"commit\": 20, \"ops\": [[\"w\", 1, 1]]}}\n\
             {{\"session\": 1, {begin}\"ops\": [[\"r\", 1, 1]]}}\n\
             {{\"session\": 2, \"outcome\": \"failed\", \"ops\": [[\"w\", 1, 2]]}}\n"
        )
    };
    let verdict =
        |begin: &str| Checker::new(&read(&text(begin))).level_verdict(Level::StrictSerializable);
    assert!(matches!(verdict("\"begin\": 30, \"commit\": 40, "), LevelVerdict::Holds(_)));
    for begin in ["", "\"commit\": 40, "] {
        assert!(matches!(verdict(begin), LevelVerdict::CannotTell(_)), "{begin}");
    }
}

/// What dbcop marks as not done was taken for written.
#[test]
fn an_event_of_dbcop_that_did_not_succeed_did_nothing() {
    let text = |success: bool| {
        format!(
            "{{\"params\": {{}}, \"data\": [[{{\"events\": [{{\"write\": true, \"variable\": 0, \
             \"value\": 1, \"success\": {success}}}], \"success\": true}}], [{{\"events\": \
             [{{\"write\": false, \"variable\": 0, \"value\": 1, \"success\": true}}], \
             \"success\": true}}]]}}"
        )
    };
    assert_eq!(anomaly(&read(&text(true)), Level::Serializable), "");
    assert_eq!(anomaly(&read(&text(false)), Level::Serializable), "garbage read");
}

/// The last of two lines won.
#[test]
fn two_outcomes_of_one_transaction_are_refused() {
    for (first, second) in [("abort", "unknown"), ("unknown", "abort")] {
        let text = format!("w(x,1,0,0)\n{first}(0,0)\n{second}(0,0)\nr(x,1,1,1)\n");
        let refused = read_history(text.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains("line 3") && refused.contains("another outcome"), "{refused}");
    }
    assert_eq!(read("w(x,1,0,0)\nabort(0,0)\nabort(0,0)\nr(y,0,1,1)\n").len(), 2);
}

/// `committed` was taken and `success` passed over, and `value` where `version` said another one.
#[test]
fn what_dbcop_says_in_two_ways_must_agree() {
    let event = r#"{"Write": {"variable": 0, "version": 1}}"#;
    let flat = r#"{"write": true, "variable": 0, "value": 1, "success": true}"#;
    let told = |events: &str, outcome: &str| {
        let text = format!(r#"[[{{"events": [{events}], {outcome}}}]]"#);
        let history = read_history(text.as_bytes()).map_err(|bad| bad.to_string())?;
        Ok::<_, String>(history.txn(0).outcome)
    };
    let (ok, failed) = (TransactionOutcome::Ok, TransactionOutcome::Failed);
    for (outcome, wanted) in [
        (r#""committed": true, "success": true"#, ok),
        (r#""committed": false, "success": false"#, failed),
        (r#""committed": null, "success": false"#, failed),
        (r#""committed": true, "id": 7"#, ok),
    ] {
        assert_eq!(told(event, outcome), Ok(wanted), "{outcome}");
        assert_eq!(told(flat, outcome), Ok(wanted), "{outcome}");
    }
    for (events, outcome) in [
        (event, r#""committed": false, "success": true"#),
        (event, r#""success": false, "committed": true"#),
        (event, r#""committed": true, "aborted": true"#),
        (event, r#""committed": true, "success": 1"#),
        (&*event.replace("\"version\": 1", "\"version\": 1, \"value\": 2"), "\"committed\": true"),
        (&*event.replace("\"version\"", "\"key\": 1, \"version\""), "\"committed\": true"),
        (&*event.replace("\"version\"", "\"success\": false, \"version\""), "\"committed\": true"),
        (&*event.replace("}}", "}, \"committed\": false}"), "\"committed\": true"),
        (&*flat.replace("\"value\"", "\"version\": 2, \"value\""), "\"committed\": true"),
        (&*flat.replace("\"value\"", "\"key\": 1, \"value\""), "\"committed\": true"),
        (&*flat.replace("\"success\"", "\"committed\": false, \"success\""), "\"success\": true"),
    ] {
        let refused = told(events, outcome).unwrap_err();
        assert!(refused.starts_with("session 0, transaction 0: "), "{events} {outcome}: {refused}");
    }
}

/// A value that is written with decimals in one line and without in another was a garbage read.
#[test]
fn spellings_of_one_number_are_one_value() {
    let json = |written: &str| {
        let step = |kind: &str, value: &str| {
            format!(
                "{{\"type\":\"ok\",\"f\":\"txn\",\"process\":0,\"value\":[[\"{kind}\",\"x\",{value}]]}}\n"
            )
        };
        read(&(step("w", written) + &step("r", "100")))
    };
    for written in ["100", "100.0", "1e2", "1.0E+2"] {
        assert_eq!(anomaly(&json(written), Level::Serializable), "", "{written}");
    }
    assert_eq!(anomaly(&json("100.5"), Level::ReadCommitted), "garbage read");
    let text = |written: &str| read(&format!("w(1,{written},0,0)\nr(1,5,1,1)\n"));
    for written in ["5", "05", "+5"] {
        assert_eq!(anomaly(&text(written), Level::Serializable), "", "{written}");
        let key = read(&format!("w({written},1,0,0)\nr(5,1,1,1)\n"));
        assert_eq!(anomaly(&key, Level::Serializable), "", "{written}");
        let rolled_back = read(&format!("w(x,1,0,5)\nabort(0,{written})\nr(x,1,1,0)\n"));
        assert_eq!(anomaly(&rolled_back, Level::ReadCommitted), "G1a (aborted read)", "{written}");
    }
    let words = read("w(k05,1,0,0)\nr(k5,1,1,1)\n");
    assert_eq!(anomaly(&words, Level::ReadCommitted), "garbage read");
}

/// A history of one operation of 48 MB took nearly five gigabytes.
#[test]
fn one_operation_with_millions_of_values_is_refused() {
    let text = |count: usize| {
        let values = "[] ".repeat(count);
        format!("{{:type :ok, :f :txn, :process 0, :value [{values}]}}")
    };
    let refused = read_history(text(3_000_001).as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("more than 3000000 values"), "{refused}");
    // It is each operation that has the limit, and not the file.
    let refused = read_history(text(10).repeat(2).as_bytes()).unwrap_err().to_string();
    assert!(!refused.contains("values in it"), "{refused}");
}

/// A time that was one number was passed over, and a stale read "cannot be told".
#[test]
fn a_time_is_two_numbers_or_one_and_never_passed_over() {
    let of = |begin: &str, commit: &str| {
        format!(
            "{{\"session\": 0, \"begin\": 1, \"commit\": 5, \"ops\": [[\"w\", \"x\", 1]]}}\n\
             {{\"session\": 1, \"begin\": {begin}, \"commit\": {commit}, \
             \"ops\": [[\"r\", \"x\", null]]}}\n"
        )
    };
    for (begin, commit) in [("10", "20"), ("[10, 12]", "[15, 20]"), ("10", "[15, 20]")] {
        let history = read(&of(begin, commit));
        assert_eq!(
            anomaly(&history, Level::StrictSerializable),
            "G-single-realtime",
            "{begin} {commit}"
        );
    }
    for wrong in ["\"10\"", "10.5", "-1", "[10]", "[1, 2, 3]", "{}", "[10, \"x\"]", "true"] {
        let refused = read_history(of(wrong, "20").as_bytes()).unwrap_err().to_string();
        assert!(refused.contains("\"begin\" is ") && refused.contains("line 2"), "{refused}");
    }
}

/// Transactions that overlap, each of a process of its own.
fn lists(all: &[(&str, &str)]) -> History {
    let mut text = String::new();
    for (process, (kind, value)) in all.iter().enumerate() {
        let end = format!(":type :{kind}, :f :txn, :process {process}, :value {value}");
        text += &format!("{{:type :invoke, :f :txn, :process {process}, :index {process}}}\n");
        text += &format!("{{{end}, :index {}}}\n", process + 100);
    }
    read(&text)
}

#[test]
fn a_list_with_an_own_element_tells_what_that_follows() {
    // 1 is the first element; who read nothing and appended 2 missed it.
    let lost = lists(&[
        ("ok", "[[:append x 1] [:r x [1]]]"),
        ("ok", "[[:r x []] [:append x 2]]"),
        ("ok", "[[:r x []]]"),
    ]);
    assert_eq!(anomaly(&lost, Level::Serializable), "lost update");
    assert_eq!(anomaly(&lost, Level::ReadCommitted), "");
    let two = lists(&[
        ("ok", "[[:append x 1] [:append x 2]]"),
        ("ok", "[[:append x 3] [:r x [3]]]"),
        ("ok", "[[:r x [1 2]]]"),
    ]);
    assert_eq!(anomaly(&two, Level::ReadUncommitted), "incompatible order");
    let circle = lists(&[
        ("ok", "[[:append x 1] [:append y 1]]"),
        ("ok", "[[:r x [1]] [:append y 2] [:r y [2]]]"),
        ("ok", "[[:r y [2 1]]]"),
    ]);
    assert_eq!(anomaly(&circle, Level::ReadCommitted), "G1c");
}

#[test]
fn every_element_of_a_list_was_read() {
    let read = |value: &str| {
        lists(&[("fail", "[[:append x 1]]"), ("ok", "[[:append x 2]]"), ("ok", value)])
    };
    for value in ["[[:r x [1 2]]]", "[[:append x 3] [:r x [2 1 3]]]"] {
        assert_eq!(anomaly(&read(value), Level::ReadCommitted), "G1a (aborted read)");
        assert_eq!(anomaly(&read(value), Level::ReadUncommitted), "");
    }
    assert_eq!(anomaly(&read("[[:r x [7 2]]]"), Level::ReadUncommitted), "garbage read");
}

#[test]
fn who_was_not_answered_may_come_later_than_its_client_gave_up() {
    let history = |kind: &str| {
        read(&format!(
            "{{:type :invoke, :f :txn, :value [[:append x 1]], :process 0, :index 0}}\n\
             {{:type :{kind}, :f :txn, :value [[:append x 1]], :process 0, :index 1}}\n\
             {{:type :invoke, :f :txn, :value [[:r x nil]], :process 1, :index 2}}\n\
             {{:type :ok, :f :txn, :value [[:r x []]], :process 1, :index 3}}\n\
             {{:type :invoke, :f :txn, :value [[:r x nil]], :process 1, :index 4}}\n\
             {{:type :ok, :f :txn, :value [[:r x [1]]], :process 1, :index 5}}\n"
        ))
    };
    for level in [Level::StrictSerializable, Level::StrongSnapshotIsolation] {
        assert_eq!(anomaly(&history("ok"), level), "G-single-realtime");
        let late = history("info");
        let LevelVerdict::Holds(proof) = Checker::new(&late).level_verdict(level) else {
            panic!("{level} does not hold")
        };
        assert_eq!(replay(&late, level, &proof), Ok(()));
    }
}

#[test]
fn registers_of_elle_and_what_became_of_them() {
    let history = read(
        "{:type :invoke :f :txn :value [[:w x 1]] :process 3 :time 10}\n\
         {:type :invoke :f :start :value nil :process :nemesis :time 11}\n\
         {:type :fail :f :txn :value [[:w x 1]] :process 3 :time 12}\n\
         {:type :invoke :f :txn :value [[:w x 2] [:r y nil]] :process 3 :time 13}\n\
         {:type :info :f :txn :process 3 :time 14}\n\
         {:type :invoke :f :txn :value [[:w x 3]] :process 4 :time 15}\n\
         {:type :invoke :f :txn :value [[:r x nil]] :process 5 :time 15}\n\
         {:type :ok :f :txn :value [[:r x nil]] :process 5 :time 16}\n",
    );
    let outcomes: Vec<TransactionOutcome> = (0..4).map(|txn| history.txn(txn).outcome).collect();
    assert_eq!(
        outcomes,
        [
            TransactionOutcome::Failed,
            TransactionOutcome::Unknown,
            TransactionOutcome::Ok,
            TransactionOutcome::Unknown
        ]
    );
    assert_eq!(history.ops(1).len(), 1, "what a transaction without an answer read is not known");
    assert_eq!(history.ops(2)[0].value, INITIAL);
    assert_eq!(history.txn(0).times.begin_invoke_ns, 10);
}

#[test]
fn what_is_wrong_with_edn_is_told_with_its_place() {
    let told = |text: &str| read_history(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(
        told("{:type :ok, :value [[:r :x nil]]}\n  {:type :ok, :value [[:q :x 1]]}"),
        "line 2, column 3: :q is no operation; an operation is [:append key value], [:w key value] \
         or [:r key value]"
    );
    assert_eq!(
        told("[{:type :ok, :value []} {:type :odd}]"),
        "line 1, column 25: :odd is no type; there are invoke, ok, fail and info"
    );
    assert!(told("{:type :ok, :value [[:r").starts_with("line 1, column 24: the file ends"));
}

/// What Jepsen writes for people tells the same as its EDN, under whatever name.
#[test]
fn histories_that_jepsen_writes_for_people_are_read() {
    let ops = [
        ("0", ":invoke", "[[:append 9 1] [:r 8 nil]]", ""),
        ("0", ":ok", "[[:append 9 1] [:r 8 []]]", ""),
        ("1", ":invoke", "[[:r 9 nil]]", ""),
        ("1", ":ok", "[[:r 9 [1]]]", "\t{\"start_ts\" 41}"),
        ("1", ":invoke", "[[:append 8 1]]", ""),
        ("1", ":info", "[[:append 8 1]]", "\t:timeout"),
    ];
    let lines = |head: &str, between: &str| -> String {
        let line = |(process, event, value, error): &(&str, &str, &str, &str)| {
            format!("{head}{process}{between}{event}{between}:txn{between}{value}{error}\n")
        };
        ops.iter().map(line).collect()
    };
    let edn: String = ops
        .iter()
        .map(|(process, event, value, _)| {
            format!("{{:type {event} :f :txn :value {value} :process {process}}}\n")
        })
        .collect();
    let written = |history: &History| write_history(history, Format::Edn).unwrap();
    let expected = written(&read_history(edn.as_bytes()).unwrap());
    for text in [
        lines("", "\t"),
        lines("", "   "),
        lines("INFO [2021-04-13 23:32:29,761] jepsen worker 0 - jepsen.util ", "\t"),
        lines("2020-09-11 15:37:05,049{GMT}\tINFO\t[jepsen worker 6-h] jepsen.util: ", "\t"),
        format!("2020-09-11 15:37:04,000\tINFO\t[main] jepsen.cli: up\n{}", lines("", "\t")),
    ] {
        let text = format!("{text}:nemesis\t:info\t:start\tnil\n");
        let Input::Transactions(history, form) = read_input(text.as_bytes()).unwrap() else {
            panic!("{text}");
        };
        assert_eq!(form.to_string(), "history.txt of Jepsen, or its log");
        assert_eq!(written(&history), expected, "{text}");
    }
    let register =
        "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t1\n";
    assert!(matches!(read_input(register.as_bytes()).unwrap(), Input::Objects(_)));
    let wrong = lines("", "\t").replace("[:r 9 ", "[:q 9 ");
    let wrong = read_history(wrong.as_bytes()).unwrap_err().to_string();
    assert!(wrong.starts_with("line 4, column 1: :q is no operation"), "{wrong}");
}

/// An end that said another transaction than its beginning was taken for what had happened, so that
/// a lost update held.
#[test]
fn the_end_of_a_transaction_is_that_of_its_beginning() {
    let text = |end: &str, ended: &str| {
        format!(
            "{{:type :invoke, :f :txn, :value [[:r x nil] [:append x 1]], :process 0}}\n\
             {{:type :{end}, :f :txn, :value {ended}, :process 0}}\n"
        )
    };
    let outcome = |end: &str, ended: &str| {
        let history = read_history(text(end, ended).as_bytes()).map_err(|bad| bad.to_string());
        history.map(|history| history.ops(0).len())
    };
    for (end, ended) in [
        ("ok", "[[:r x []]]"),
        ("ok", "[[:r x []] [:append x 1] [:append x 2]]"),
        ("ok", "[[:r x []] [:append x 2]]"),
        ("ok", "[[:append x 1] [:r x []]]"),
        ("info", "[[:r x nil] [:append x 2]]"),
        ("fail", "[[:r x nil]]"),
        ("info", "[]"),
        ("ok", "nil"),
    ] {
        let refused = outcome(end, ended).unwrap_err();
        assert!(refused.starts_with("line 2, column 1: process 0 ends"), "{refused}");
        assert!(refused.ends_with("in line 1"), "{refused}");
    }
    let other = text("ok", "[[:r x []] [:append x 1]]").replace(":ok, :f :txn", ":ok, :f :read");
    let other = read_history(other.as_bytes()).unwrap_err().to_string();
    assert!(other.contains("ends :read, and had begun :txn in line 1"), "{other}");
    let json = r#"[{"type": "invoke", "f": "txn", "value": [["w", "x", 1]], "process": 0},
        {"type": "ok", "f": "txn", "value": [["w", "x", 2]], "process": 0}]"#;
    let json = read_history(json.as_bytes()).unwrap_err().to_string();
    assert!(
        json.starts_with("operation 2: process 0 ends a transaction whose operation"),
        "{json}"
    );
    assert!(json.ends_with("in operation 1"), "{json}");
    for (end, ended, ops) in [
        ("ok", "[[:r x []] [:append x 1]]", 2),
        ("info", "[[:r x []] [:append x 1]]", 1),
        ("info", "nil", 1),
        ("info", ":timed-out", 1),
    ] {
        assert_eq!(outcome(end, ended), Ok(ops), "{end} {ended}");
    }
}

/// A time that never moves is none: nothing is known of real time.
#[test]
fn one_time_everywhere_is_no_clock() {
    let history = |time: &str| {
        let line = |event: &str, op: &str, process: u32| {
            format!("{{:type :{event} :f :txn :value [{op}] :process {process} :time {time}}}\n")
        };
        let mut text = line("invoke", "[:w x 1]", 0) + &line("ok", "[:w x 1]", 0);
        text += &(line("invoke", "[:r x nil]", 1) + &line("ok", "[:r x nil]", 1));
        text += &line("invoke", "[:w y 1]", 2);
        read_history(text.as_bytes()).unwrap()
    };
    for time in ["0", "7"] {
        let history = history(time);
        let checker = Checker::new(&history);
        match checker.level_verdict(Level::StrictSerializable) {
            LevelVerdict::CannotTell(told) => assert!(told.contains("one and the same"), "{told}"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(checker.level_verdict(Level::Serializable), LevelVerdict::Holds(_)));
    }
}

/// Of two values under one name nobody knows which was meant, in whatever form a history is.
#[test]
fn a_name_that_stands_twice_is_refused_with_its_place() {
    let told = |text: &str| read_history(text.as_bytes()).unwrap_err().to_string();
    for (text, place) in [
        ("{\"session\": 0, \"ops\": []}\n{\"session\": 0, \"session\": 1, \"ops\": []}", (2, 24)),
        ("{\"session\": 0, \"ops\": [[\"w\", \"x\", 1]], \"ops\": []}", (1, 44)),
        (
            "[{\"type\": \"ok\", \"f\": \"txn\", \"value\": [],\n \"value\": [[\"w\", 1, 2]]}]",
            (2, 8),
        ),
        ("[[{\"events\": [], \"committed\": true,\n  \"committed\": false}]]", (2, 13)),
        ("{\"value\": [[\"r\", 4, 17, false]], \"value\": []}", (1, 40)),
        ("{:type :ok, :value []}\n{:type :ok, :value [[:w x 1]], :value []}", (2, 32)),
    ] {
        let (line, column) = place;
        let wrong = told(text);
        assert!(
            wrong.contains(&format!("line {line}, column {column}: the name ")),
            "{wrong}\n{text}"
        );
        assert!(wrong.contains("stands twice in one object"), "{wrong}");
    }
    let broken = told("{\"session\": 0, \"ops\": []}\n{\"session\": 0, }");
    assert_eq!(broken, "line 2, column 16: this is no JSON: trailing comma", "one place");
}

#[test]
fn the_text_of_plume_has_writes_of_transactions_that_were_rolled_back() {
    let history = read("w(1,5,0,-1)\nr(1,5,1,7)\nw(1,6,1,7)\nr(1,0,0,8)");
    assert_eq!(anomaly(&history, Level::ReadCommitted), "G1a (aborted read)");
    let plume = write_history(&history, Format::Plume).unwrap();
    assert_eq!(
        String::from_utf8(plume).unwrap(),
        "w(0,1,0,-1)\nr(0,1,1,1)\nw(0,2,1,1)\nr(0,0,0,2)\n"
    );
}

#[test]
fn every_format_says_the_same_of_a_history() {
    let text =
        "w(x,1<null,0,0)\nr(x,1<null,1,1)\nw(y,2<null,1,1)\nr(y,2<null,0,2)\nr(x,null,0,2)\n";
    let history = read(text);
    let wanted = anomaly(&history, Level::SnapshotIsolation);
    assert_eq!(wanted, "G-single");
    for format in [Format::Records, Format::Text, Format::Json, Format::Edn, Format::Dbcop] {
        let bytes = write_history(&history, format).unwrap();
        let again = read_history(&bytes).unwrap_or_else(|bad| panic!("{format:?}: {bad}"));
        assert_eq!(again.len(), 3, "{format:?}");
        assert_eq!(anomaly(&again, Level::SnapshotIsolation), wanted, "{format:?}");
        assert_eq!(write_history(&again, format).unwrap(), bytes, "{format:?}");
    }
}

#[test]
fn damaged_files_of_dbcop_are_refused_by_the_byte() {
    let bytes = write_history(&read("w(x,1,0,0)\nr(x,1,1,1)"), Format::Dbcop).unwrap();
    for end in 110..bytes.len() {
        let told = read_history(&bytes[..end]).unwrap_err();
        assert!(told.place.starts_with("byte "), "{told}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(read_history(&longer).unwrap_err().what.contains("more bytes"));
    let mut odd = bytes;
    *odd.last_mut().unwrap() = 7;
    assert!(read_history(&odd).unwrap_err().what.contains("7 where 0 or 1 should be"));
}

/// A session that was lost took its lost update with it, and the rest held.
#[test]
fn a_file_of_dbcop_has_what_it_says_that_it_has() {
    let json = |params: &str| {
        let events = "{\"events\": [{\"write\": true, \"variable\": 0, \"value\": V, \
                      \"success\": true}], \"success\": true}";
        let one = |value: &str| events.replace('V', value);
        format!(
            "{{\"params\": {params}, \"data\": [[{}, {}], [{}, {}]]}}",
            one("1"),
            one("2"),
            one("3"),
            one("4")
        )
    };
    let stated = |name: &str, count: &str| json(&format!("{{\"{name}\": {count}}}"));
    for (name, fits) in
        [("n_node", "2"), ("n_variable", "7"), ("n_transaction", "2"), ("n_event", "1")]
    {
        read(&stated(name, fits));
        let text = read_history(stated(name, "\"2\"").as_bytes()).unwrap_err().to_string();
        assert!(text.starts_with(&format!("params: \"{name}\" is \"2\"; it is a whole")), "{text}");
        let none = read_history(stated(name, "0").as_bytes()).unwrap_err().to_string();
        assert!(none.starts_with(&format!("params: {name} is 0, and there are ")), "{none}");
    }
    let lost = read_history(stated("n_node", "3").as_bytes()).unwrap_err().to_string();
    assert!(lost.starts_with("params: n_node is 3, and there are 2 sessions"), "{lost}");
    assert!(read_history(json("3").as_bytes()).unwrap_err().to_string().contains("no object"));
    let bytes = write_history(&read("w(x,1,0,0)\nr(x,1,1,1)\nr(x,1,1,2)"), Format::Dbcop).unwrap();
    for (word, other) in [(1, 1), (1, 3), (2, 0), (3, 1), (4, 0)] {
        let mut contradicted = bytes.clone();
        contradicted[8 * word] = other;
        let told = read_history(&contradicted).unwrap_err();
        assert_eq!(told.place, "bytes 0 to 39", "word {word}: {told}");
    }
}

#[test]
fn a_verdict_is_there_for_every_level_whatever_the_format() {
    for level in Level::ALL.into_iter().filter(|level| *level >= Level::ReadUncommitted) {
        let verdict = Checker::new(&read(LISTS)).level_verdict(level);
        assert!(!matches!(verdict, LevelVerdict::CannotTell(_)), "{level}: {verdict:?}");
    }
}

/// Nothing that was understood is no history that has every level.
#[test]
fn a_file_in_which_no_transaction_is_found_is_refused() {
    let nemesis = "{:type :info, :f :kill, :process :nemesis, :value nil, :time 1}\n";
    for text in ["", "\n\n", "; a comment\n", "# a comment\n", "[]", "()", nemesis] {
        let bad = read_history(text.as_bytes()).unwrap_err();
        assert!(bad.what.contains("a history has a line such as r(x,1,0,0)"), "{text}: {bad}");
    }
    for (function, value) in [
        ("read", "{0 10, 1 20}"),
        ("transfer", "{:from 0, :to 1, :amount 5}"),
        ("add", "3"),
        ("read", "#{1 2 3}"),
        ("read", "[1 2 3]"),
        ("cas", "[1 2]"),
        ("acquire", "nil"),
        ("write", "[1 3]"),
    ] {
        let text = format!(
            "{{:type :invoke, :f :{function}, :value {value}, :process 0}}\n\
             {{:type :ok, :f :{function}, :value {value}, :process 0}}\n"
        );
        let bad = read_history(text.as_bytes()).unwrap_err().to_string();
        assert!(bad.starts_with(&format!("line 2, column 1: :f :{function} has no ")), "{bad}");
    }
}

/// Porcupine's `test_data/kv`: its answer spoke of transactions.
#[test]
fn a_store_of_texts_is_refused_by_its_name() {
    for (function, value) in [("append", "\"x 0 0 y\""), ("put", "\"\""), ("get", "nil")] {
        let text = format!(
            "{{:process 0, :type :invoke, :f :{function}, :key \"0\", :value {value}}}\n\
             {{:process 0, :type :ok, :f :{function}, :key \"0\", :value {value}}}\n"
        );
        let bad = read_input(text.as_bytes()).unwrap_err().to_string();
        assert!(
            bad.starts_with(&format!("line 2, column 1: :f :{function} is of a store")),
            "{bad}"
        );
        assert!(bad.contains("Porcupine's kv logs"), "{bad}");
    }
}

/// Whatever `:f` is called: what is a transaction is one.
#[test]
fn a_long_fork_is_of_transactions() {
    let op = |process: u32, name: &str, value: &str| {
        format!("{{:type :ok, :f :{name}, :value {value}, :process {process}}}\n")
    };
    let text = [
        op(0, "write", "[[:w 0 1]]"),
        op(1, "write", "[[:w 1 1]]"),
        op(2, "read", "[[:r 0 1] [:r 1 nil]]"),
        op(3, "read", "[[:r 0 nil] [:r 1 1]]"),
    ];
    let history = read_history(text.concat().as_bytes()).unwrap();
    assert_eq!((history.len(), history.op_count()), (4, 6));
    let broken = Checker::new(&history).level_verdict(Level::SnapshotIsolation).anomaly().is_some();
    assert!(broken);
}

/// The same operations as EDN in a vector, in a list and one by one, as JSON in an array and one by
/// one, and behind a byte order mark.
#[test]
fn a_history_of_jepsen_is_the_same_in_each_of_its_notations() {
    let maps = [
        r#"{:type :invoke, :f :txn, :value [[:append 5 1] [:r 5 nil]], :process 0, :time 10}"#,
        r#"{:type :ok, :f :txn, :value [[:append 5 1] [:r 5 [1]]], :process 0, :time 20}"#,
        r#"{:type :ok, :f :txn, :value [[:w "x\"y" 7] [:r 5 []]], :process 1, :time 30}"#,
    ];
    let objects = [
        r#"{"type": "invoke", "f": "txn", "value": [["append", 5, 1], ["r", 5, null]], "process": 0, "time": 10}"#,
        r#"{"index": 1, "type": ":ok", "f": ":txn", "value": [[":append", 5, 1], ["r", 5, [1]]], "process": 0, "time": 20}"#,
        r#"{"type": "ok", "f": "txn", "value": [["w", "x\"y", 7], ["r", 5, []]], "process": 1, "time": 30}"#,
    ];
    let text = |history: &History| {
        String::from_utf8(write_history(history, Format::Edn).unwrap()).unwrap()
    };
    let plain = text(&read_history(maps.join("\n").as_bytes()).unwrap());
    for told in [
        format!("[{}]", maps.join("\n ")),
        format!("({})", maps.join(" ")),
        format!("[{}]", objects.join(",\n")),
        objects.join("\n"),
        format!("\u{feff}{}", maps.join("\n")),
    ] {
        assert_eq!(text(&read_history(told.as_bytes()).unwrap()), plain, "{told}");
    }
    let wrong = objects[1].replace("\"r\"", "\"frob\"");
    let bad = read_history(format!("[{},{wrong}]", objects[0]).as_bytes()).unwrap_err();
    assert!(bad.to_string().starts_with("operation 2: "), "{bad}");
}

#[test]
fn a_process_does_one_thing_at_a_time() {
    let invoke =
        |key: u32| format!("{{:type :invoke, :f :txn, :value [[:w {key} 1]], :process 3}}\n");
    let bad = read_history((invoke(1) + &invoke(2)).as_bytes()).unwrap_err().to_string();
    assert!(bad.starts_with("line 2, column 1: process 3 begins another operation"), "{bad}");
    assert!(bad.contains("in line 1 has not ended"), "{bad}");
}

#[test]
fn a_witness_names_what_the_file_calls_transactions() {
    let (one, two) = ("[[:r [a 1] nil] [:w \"b\" 1]]", "[[:r \"b\" nil] [:w [a 1] 2]]");
    let skew = format!(
        "[{{:type :invoke, :f :txn, :value {one}, :process 7, :index 3}}\n\
         {{:type :invoke, :f :txn, :value {two}, :process 9, :index 4}}\n\
         {{:type :ok, :f :txn, :value {one}, :process 7, :index 5}}\n\
         {{:type :ok, :f :txn, :value {two}, :process 9, :index 6}}]"
    );
    let history = read(&skew);
    let verdict = Checker::new(&history).level_verdict(Level::Serializable);
    let told = dbdyno_check::violation_drawing(&history, &verdict);
    for line in [
        "T0 is process 7, index 5, lines 1 to 3\n",
        "T1 is process 9, index 6, lines 2 to 4\n",
        "r([a 1]) = initial",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let json =
        "[{\"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"r\", \"x\", 1]], \"process\": 2}]";
    let flawed = read(json);
    let garbage = Checker::new(&flawed).level_verdict(Level::ReadCommitted);
    let told = dbdyno_check::violation_drawing(&flawed, &garbage);
    assert!(told.ends_with("T0 is process 2, operation 1\n"), "{told}");
    let lines = read("{\"session\": 0, \"ops\": [[\"w\", \"x\", 1]]}");
    assert_eq!(lines.origin_text(0).as_deref(), Some("line 1"));
}

#[test]
fn tests_of_awdit_are_sessions_and_transactions_under_each_other() {
    // Whoever read 1 of key 1 had seen its writer, and then misses what that wrote to key 0.
    let text = "w 0 1\n-----\nw 0 2\nw 1 1\n=====\nr 1 1\nr 0 1\n";
    let history = read(text);
    assert_eq!((history.len(), history.session_count()), (3, 2));
    assert_eq!(history.origin_text(2).as_deref(), Some("lines 3 to 4"));
    assert_eq!(anomaly(&history, Level::ReadCommitted), "");
    assert_eq!(anomaly(&history, Level::MonotonicReadCommitted), "G-seen-process");
    let wrong = read_history(b"w 0 1\nx 0 1\n").unwrap_err().to_string();
    assert_eq!(wrong, "line 2, column 1: x is no operation; there are r and w");
}

#[test]
fn json_and_text_of_dbcop() {
    let skew = [
        "// two sessions\n[x:=1 y:=2] [y==2 x:=3]\n---\n[x==1 y:=4] [x:=9]!\n",
        r#"[[{"events": [{"Write": {"variable": 0, "version": 1}}, {"Write": {"variable": 1, "version": 2}}], "committed": true},
             {"events": [{"Read": {"variable": 1, "version": 2}}, {"Write": {"variable": 0, "version": 3}}], "committed": true}],
            [{"events": [{"Read": {"variable": 0, "version": 1}}, {"Write": {"variable": 1, "version": 4}}], "committed": true},
             {"events": [{"Write": {"variable": 0, "version": 9}}], "committed": false}]]"#,
    ];
    for text in skew {
        let history = read(text);
        let outcomes: Vec<TransactionOutcome> =
            (0..4).map(|txn| history.txn(txn).outcome).collect();
        assert_eq!(
            outcomes.iter().filter(|outcome| **outcome == TransactionOutcome::Failed).count(),
            1
        );
        assert_eq!(anomaly(&history, Level::SnapshotIsolation), "", "{text}");
        assert_ne!(anomaly(&history, Level::Serializable), "", "{text}");
    }
    let old = r#"{"params": {"id": 0}, "info": "", "start": "", "end": "", "data": [[{"events":
        [{"write": true, "variable": 0, "value": 1, "success": true},
         {"write": false, "variable": 1, "value": 5, "success": false}], "success": true}]]}"#;
    assert_eq!(read(old).op_count(), 1);
    let initial = read("[x==?]\n---\n[x:=1]\n");
    assert_eq!(initial.ops(0)[0].value, INITIAL);
    let wrong = read_history(b"[x:=1]\n[x:=?]\n").unwrap_err().to_string();
    assert_eq!(wrong, "line 2, column 1: \"x:=?\" writes no version");
}

/// Operations whose file names no process have no session in common, from which it would follow
/// that one saw the other.
#[test]
fn who_has_no_process_has_no_session() {
    let text = "{:type :ok, :f :txn, :value [[:w :x 1]]}\n\
                {:type :ok, :f :txn, :value [[:r :x nil]]}\n";
    let verdict = |text: &str| {
        let history = read_history(text.as_bytes()).unwrap();
        Checker::new(&history).level_verdict(Level::Causal)
    };
    assert!(matches!(verdict(text), LevelVerdict::Holds(_)));
    let of_one = text.replace(":f", ":process 3, :f");
    assert!(verdict(&of_one).anomaly().is_some());
}

/// Who looks for `:ok` in a history leaves out when transactions began: two that overlapped were
/// told to follow each other.
#[test]
fn without_invocations_nothing_is_known_of_real_time() {
    let whole = "{:type :invoke :f :txn :value [[:w x 2]] :process 2 :time 0}\n\
                 {:type :invoke :f :txn :value [[:r x nil]] :process 3 :time 1}\n\
                 {:type :invoke :f :txn :value [[:r x nil] [:w x 1]] :process 1 :time 2}\n\
                 {:type :ok :f :txn :value [[:r x nil] [:w x 1]] :process 1 :time 3}\n\
                 {:type :ok :f :txn :value [[:w x 2]] :process 2 :time 4}\n\
                 {:type :ok :f :txn :value [[:r x 1]] :process 3 :time 5}\n";
    let answers: String =
        whole.lines().filter(|line| line.contains(":ok")).flat_map(|line| [line, "\n"]).collect();
    for (text, is_known) in [(whole, true), (&answers, false)] {
        let history = read(text);
        let verdict = Checker::new(&history).level_verdict(Level::StrictSerializable);
        match verdict {
            LevelVerdict::Holds(_) => assert!(is_known),
            LevelVerdict::CannotTell(why) => assert!(!is_known && why.contains(":invoke"), "{why}"),
            _ => panic!("{text}"),
        }
        assert!(matches!(
            Checker::new(&history).level_verdict(Level::Serializable),
            LevelVerdict::Holds(_)
        ));
    }
}

/// What was written before a file begins looks like a value that nobody wrote.
#[test]
fn a_history_without_its_head_says_so() {
    let told = |first: u64| {
        let text = format!(
            "{{:index {first} :type :invoke :f :txn :value [[:r x nil]] :process 0}}\n\
             {{:index {} :type :ok :f :txn :value [[:r x nil]] :process 0}}\n",
            first + 1
        );
        match read_input(text.as_bytes()).unwrap() {
            Input::Transactions(_, form) => form.to_string(),
            Input::Objects(_) => panic!("{text}"),
        }
    };
    assert!(told(2).contains("begins with index 2"), "{}", told(2));
    assert_eq!(told(0), "EDN of Jepsen or Elle");
    assert_eq!(told(1), told(0), "nothing is asked and answered in one line");
}

/// Strictly serial histories of which the first lines are lost were broken by garbage reads. What
/// is broken whatever was written before is broken still.
#[test]
fn what_was_written_before_a_file_begins_is_no_garbage() {
    let text = |first: u64, all: &[&str]| -> String {
        let mut text = String::new();
        for (at, ops) in all.iter().enumerate() {
            for (place, kind) in ["invoke", "ok"].iter().enumerate() {
                let index = first + (2 * at + place) as u64;
                text.push_str(&format!(
                    "{{:type :{kind} :f :txn :value [{ops}] :process {at} :index {index} :time \
                     {index}}}\n"
                ));
            }
        }
        text
    };
    let registers = ["[:r x 7]", "[:w x 9] [:r y 8]", "[:r x 9] [:r y 8]"];
    let lists = ["[:r x [1 2]]", "[:append x 3]", "[:r x [1 2 3]] [:r y [5]]"];
    for serial in [registers, lists] {
        let level = Level::StrictSerializable;
        assert_eq!(anomaly(&read(&text(40, &serial)), level), "", "{serial:?}");
        assert_ne!(anomaly(&read(&text(0, &serial)), level), "", "{serial:?}");
    }
    let turned = ["[:r x 7]", "[:w x 9]", "[:r x 7]"];
    assert_ne!(anomaly(&read(&text(40, &turned)), Level::StrictSerializable), "");
    let torn = ["[:r x [1 2]]", "[:r x [2 1]]", "[:append x 3]"];
    assert_ne!(anomaly(&read(&text(40, &torn)), Level::Serializable), "");
}
