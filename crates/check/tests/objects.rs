//! Banks, sets, counters, registers and mutexes: cases of Jepsen's own tests with its answers, and
//! registers against trying all orders.

use dbdyno_check::{
    Input, ObjectAssumptions, ObjectJudgement, ObjectVerdict, Workload, read_input,
};
use proptest::prelude::*;

use crate::small::Random;

/// One entry: process, what happened, function and value.
type Entry<'a> = (u32, &'a str, &'a str, &'a str);

fn text(entries: &[Entry<'_>]) -> String {
    let line = |(process, kind, function, value): &Entry<'_>| {
        format!("{{:process {process}, :type :{kind}, :f :{function}, :value {value}}}\n")
    };
    entries.iter().map(line).collect()
}

fn judged_with(text: &str, stated: &ObjectAssumptions) -> Result<ObjectJudgement, String> {
    match read_input(text.as_bytes()).map_err(|bad| bad.to_string())? {
        Input::Objects(operations) => operations.judge_workload(stated),
        Input::Transactions(..) => Err("transactions".to_owned()),
    }
}

fn judged(entries: &[Entry<'_>]) -> ObjectJudgement {
    judged_with(&text(entries), &ObjectAssumptions::default()).unwrap()
}

/// The name of the anomaly, "" where it holds, "?" where it cannot be told, "-" where nothing was
/// compared.
fn told(entries: &[Entry<'_>]) -> String {
    word(&judged(entries).finding)
}

fn word(finding: &ObjectVerdict) -> String {
    match finding {
        ObjectVerdict::Holds(_) => String::new(),
        ObjectVerdict::CannotTell(_) => "?".to_owned(),
        ObjectVerdict::NothingCompared(_) => "-".to_owned(),
        ObjectVerdict::Broken { anomaly, .. } => anomaly.clone(),
    }
}

/// Two spellings of one value were two, so that a register was broken by a read of what was
/// written; two forms of one word were one, so that it held.
#[test]
fn values_are_what_clojure_has_for_equal() {
    let register = |written: &str, seen: &str| {
        text(&[
            (0, "invoke", "write", written),
            (0, "ok", "write", written),
            (1, "invoke", "read", "nil"),
            (1, "ok", "read", seen),
        ])
    };
    let told = |written: &str, seen: &str| {
        let judged = judged_with(&register(written, seen), &ObjectAssumptions::default());
        judged.map(|judged| word(&judged.finding))
    };
    for (written, seen) in [
        ("\"a\"", "\"\\u0061\""),
        ("1.0", "1.00"),
        ("1/2", "2/4"),
        ("#{1 2 10}", "#{10 2 1}"),
        ("{:a 1 :b #{1 2}}", "{:b #{2 1} :a 1}"),
        ("#uuid \"AB\"", "#uuid \"ab\""),
    ] {
        assert_eq!(told(written, seen).as_deref(), Ok(""), "{written} {seen}");
    }
    for (written, seen) in [("1", "1.0"), ("#{1 2}", "[1 2]"), ("#foo 1", "1")] {
        let broken = told(written, seen);
        assert_eq!(broken.as_deref(), Ok("no order of the operations"), "{written} {seen}");
    }
    for (written, seen) in [
        (":a", "\"a\""),
        ("a", ":a"),
        ("true", "\"true\""),
        ("[:a]", "[a]"),
        ("1", "\"1\""),
        (":1", "1"),
        ("-7", ":-7"),
        ("\"nil\"", "nil"),
    ] {
        let refused = told(written, seen).unwrap_err();
        assert!(refused.contains("another form"), "{written} {seen}: {refused}");
    }
}

/// A number and a text of the same letters were one account or key, and two values.
#[test]
fn accounts_keys_and_elements_stand_in_one_form() {
    let told = |text: &str| judged_with(text, &ObjectAssumptions::default());
    let bank = |account: &str, of_read: &str| {
        let transfer = format!("{{:from {account} :to 1 :amount 5}}");
        let read = format!("{{{of_read} 5 1 5}}");
        text(&[
            (1, "invoke", "read", "nil"),
            (1, "ok", "read", &read),
            (0, "invoke", "transfer", &transfer),
            (0, "ok", "transfer", &transfer),
            (1, "invoke", "read", "nil"),
            (1, "ok", "read", "{0 0 1 10}"),
        ])
    };
    for (account, of_read, line) in
        [("\"0\"", "0", "line 3: "), (":0", "0", "line 3: "), ("0", "\"0\"", "line 3: ")]
    {
        let refused = told(&bank(account, of_read)).unwrap_err();
        assert!(refused.starts_with(line) && refused.contains("another form"), "{refused}");
    }
    assert_eq!(word(&told(&bank("0", "0")).unwrap().finding), "");
    let keyed = |written: &str, asked: &str| {
        let (written, answered) = (format!("[{written} 1]"), format!("[{asked} 1]"));
        let asked = format!("[{asked} nil]");
        text(&[
            (0, "invoke", "write", &written),
            (0, "ok", "write", &written),
            (1, "invoke", "read", &asked),
            (1, "ok", "read", &answered),
        ])
    };
    let refused = told(&keyed("1", "\"1\"")).unwrap_err();
    assert!(refused.starts_with("line 3: 1 stands here in another form"), "{refused}");
    assert_eq!(word(&told(&keyed("\"1\"", "\"1\"")).unwrap().finding), "", "a key and a value");
    let set = [
        (0, "invoke", "add", "1"),
        (0, "ok", "add", "1"),
        (1, "invoke", "read", "nil"),
        (1, "ok", "read", "[\"1\"]"),
    ];
    let refused = told(&text(&set)).unwrap_err();
    assert!(refused.starts_with("line 4: 1 stands here in another form"), "{refused}");
    let stated = |initial: &str, seen: &str| {
        let text = text(&[
            (1, "invoke", "read", "nil"),
            (1, "ok", "read", seen),
            (0, "invoke", "write", "2"),
            (1, "invoke", "read", "nil"),
            (1, "ok", "read", seen),
        ]);
        let initial = Some(initial.to_owned());
        let stated = ObjectAssumptions { initial, ..ObjectAssumptions::default() };
        word(&judged_with(&text, &stated).unwrap().finding)
    };
    assert_eq!((stated("1", "\"1\""), stated("1", "1"), stated(":1", ":1")), Default::default());
    assert_eq!(stated("1", "3"), "no order of the operations");
}

/// The end of a change that says another value than its beginning was passed over, and so were a
/// key beside the value, and transfers that are no maps.
#[test]
fn what_an_operation_says_twice_must_agree() {
    let told = |text: &str| judged_with(text, &ObjectAssumptions::default()).unwrap_err();
    for (function, begun, ended) in
        [("write", "1", "2"), ("add", "1", "100"), ("cas", "[1 2]", "[1 3]")]
    {
        let entries = [(0, "invoke", function, begun), (0, "ok", function, ended)];
        assert!(told(&text(&entries)).contains("had begun it of"), "{function}");
    }
    for (function, begun, ended) in [
        ("transfer", "{:from 0 :to 1 :amount 5}", "{:from 0 :to 1 :amount 6}"),
        ("write", "[x 1]", "[x 2]"),
        ("add", "7", "8"),
    ] {
        for end in ["ok", "fail", "info"] {
            let entries = [(0, "invoke", function, begun), (0, end, function, ended)];
            assert!(told(&text(&entries)).contains("had begun it of"), "{function} {end}");
        }
    }
    let other = text(&[(0, "invoke", "acquire", "nil"), (0, "ok", "release", "nil")]);
    assert!(told(&other).contains("ends :release, and had begun :acquire"), "{}", told(&other));
    let keyed = text(&[(0, "invoke", "write", "1, :key \"a\"")]);
    assert!(told(&keyed).contains(":key of its own"), "{}", told(&keyed));
    let transfer = text(&[
        (0, "invoke", "transfer", "[0 2 5]"),
        (0, "ok", "transfer", "[0 2 5]"),
        (1, "invoke", "read", "nil"),
        (1, "ok", "read", "{0 5 1 5}"),
    ]);
    assert!(told(&transfer).contains("{:from, :to, :amount}"), "{}", told(&transfer));
    let listed = "{:process [3], :type :invoke, :f :read, :value nil}";
    assert!(told(listed).contains(":process is [3]"), "{}", told(listed));
}

/// The words of an operation that is open, and its answer once it happened.
type OpenOperation = (String, Option<(bool, String)>);

/// A register under ten clients, some of whose writes and swaps are never answered.
fn busy_register(seed: u64) -> String {
    let mut random = Random(seed);
    let (mut held, mut text) = (0, String::new());
    let mut open: Vec<Option<OpenOperation>> = vec![None; 10];
    let mut processes: Vec<u32> = (0..10).collect();
    for _ in 0..400 {
        let client = random.below(10);
        let line = |kind: &str, rest: &str, process: u32| {
            format!("{{:process {process}, :type :{kind}, {rest}}}\n")
        };
        let (one, other) = (random.below(4), random.below(4));
        match open[client].take() {
            None => {
                let asked = [
                    ":f :read, :value nil".to_owned(),
                    format!(":f :write, :value {one}"),
                    format!(":f :cas, :value [{one} {other}]"),
                ][random.below(3)]
                .clone();
                text += &line("invoke", &asked, processes[client]);
                open[client] = Some((asked, None));
            }
            Some((asked, None)) => {
                let words: Vec<usize> = asked
                    .split(|c: char| !c.is_ascii_digit())
                    .filter_map(|word| word.parse().ok())
                    .collect();
                let answer = match words[..] {
                    [] => (true, format!(":f :read, :value {held}")),
                    [from, _] if from != held => (false, asked.clone()),
                    [.., to] => {
                        held = to;
                        (true, asked.clone())
                    }
                };
                open[client] = Some((asked, Some(answer)));
            }
            Some((asked, Some(_))) if random.below(8) == 0 => {
                text += &line("info", &asked, processes[client]);
                processes[client] += 10;
            }
            Some((_, Some((is_done, answer)))) => {
                text += &line(if is_done { "ok" } else { "fail" }, &answer, processes[client]);
            }
        }
    }
    format!("{}{text}", line_of_zero())
}

/// The register holds 0 before anybody else writes.
fn line_of_zero() -> String {
    text(&[(999, "invoke", "write", "0"), (999, "ok", "write", "0")])
}

/// Which of several orders is replayed hung on the seed of a hasher.
#[test]
fn one_history_has_one_answer() {
    for seed in 0..20 {
        let text = busy_register(seed);
        let told = || judged_with(&text, &ObjectAssumptions::default()).unwrap();
        let first = told();
        assert_eq!(word(&first.finding), "", "{seed}");
        for _ in 0..4 {
            assert_eq!(told(), first, "{seed}");
        }
    }
}

#[test]
fn a_bank_has_the_total_of_its_first_reads() {
    let first = [(0, "invoke", "read", "nil"), (0, "ok", "read", "{0 60, 1 40}")];
    let transfer = [
        (1, "invoke", "transfer", "{:from 0, :to 1, :amount 5}"),
        (1, "ok", "transfer", "{:from 0, :to 1, :amount 5}"),
    ];
    let last = |value| [(0, "invoke", "read", "nil"), (0, "ok", "read", value)];
    let all = |value| [&first[..], &transfer, &last(value)].concat();
    let right = judged(&all("{0 105, 1 -5}"));
    assert_eq!((right.workload, word(&right.finding).as_str()), (Workload::Bank, ""));
    assert!(right.notes[0].contains("the total is 100"), "{:?}", right.notes);
    assert!(right.notes[1].contains("1 reads have a negative balance"), "{:?}", right.notes);
    assert_eq!(told(&all("{0 55, 1 40}")), "wrong total");
    assert_eq!(told(&all("{0 nil, 1 40}")), "balance missing");
    // In a row, as older tests have it.
    let row = text(&all("{0 55, 1 40}")).replace("{0 60, 1 40}", "[60 40]");
    assert_eq!(
        word(&judged_with(&row, &ObjectAssumptions::default()).unwrap().finding),
        "wrong total"
    );
}

#[test]
fn a_bank_whose_total_nothing_says_is_refused_unless_reads_contradict_each_other() {
    let begun = [(1, "invoke", "transfer", "{:from 0, :to 1, :amount 5}")];
    let read = |value| [(0, "invoke", "read", "nil"), (0, "ok", "read", value)];
    let one = [&begun[..], &read("{0 60, 1 40}")].concat();
    let error = judged_with(&text(&one), &ObjectAssumptions::default()).unwrap_err();
    assert!(error.contains("all 1 reads add up to 100: state the total with --total"), "{error}");
    let of = |total| ObjectAssumptions { total: Some(total), ..ObjectAssumptions::default() };
    assert_eq!(word(&judged_with(&text(&one), &of(100)).unwrap().finding), "");
    assert_eq!(word(&judged_with(&text(&one), &of(99)).unwrap().finding), "wrong total");
    assert_eq!(told(&[&one[..], &read("{0 60, 1 41}")].concat()), "two totals");
}

/// A sum that is right is not that of all accounts where a read lacks one, and is of one too many
/// where it has an account that there is not.
#[test]
fn accounts_of_a_bank_are_the_same_in_all_reads() {
    let with = |first: &str, last: &str| {
        let read = |value| [(0, "invoke", "read", "nil"), (0, "ok", "read", value)];
        let transfer = "{:from 0, :to 1, :amount 5}";
        let moved = [(1, "invoke", "transfer", transfer), (1, "ok", "transfer", transfer)];
        text(&[&read(first)[..], &moved, &read(last)].concat())
    };
    let told = |first, last, accounts: Option<&str>| {
        let accounts = accounts.map(|all| all.split(',').map(str::to_owned).collect());
        let stated = ObjectAssumptions { accounts, ..ObjectAssumptions::default() };
        judged_with(&with(first, last), &stated).unwrap()
    };
    for (first, last, unstated, of_two, of_three) in [
        ("{0 60, 1 40}", "{1 45, 0 55}", "", "", ""),
        ("{0 60, 1 40}", "{0 55, 1 35, 2 10}", "?", "unexpected account", ""),
        ("{0 60, 1 40}", "{0 100}", "?", "", ""),
        ("{0 100}", "{0 95, 1 5}", "?", "", ""),
        // A confirmed transfer names an account that no read has.
        ("{0 100}", "{0 100}", "?", "", ""),
        ("{}", "{}", "?", "-", "-"),
        ("{0 60, 1 40}", "{0 55, 2 45}", "?", "unexpected account", ""),
        ("{0 60, 1 40}", "{0 55, 1 35, 2 1}", "wrong total", "wrong total", "wrong total"),
        // An account in each place of a row.
        ("[60 40]", "[55 45]", "", "", "wrong number of accounts"),
        (
            "[60 40]",
            "[55 35 10]",
            "two numbers of accounts",
            "wrong number of accounts",
            "wrong number of accounts",
        ),
    ] {
        let verdicts = [None, Some("0,1"), Some("0,1,2")]
            .map(|accounts| word(&told(first, last, accounts).finding));
        assert_eq!(verdicts, [unstated, of_two, of_three], "{first} {last}");
    }
    let noted = told("{0 60, 1 40}", "{0 100}", Some("0,1")).notes;
    assert!(
        noted[1].starts_with("1 of 2 reads lack an account: account 1 is not in "),
        "{noted:?}"
    );
    let ObjectVerdict::CannotTell(why) = told("{0 60, 1 40}", "{0 100}", None).finding else {
        panic!("a sum of some accounts")
    };
    assert!(why.contains("state with --accounts"), "{why}");
    // One account in two forms is one or two.
    let both = with("{0 60, 1 40}", "{1 45, 0 55}").replace("{0 ", "{\"0\" ");
    let both = judged_with(&both, &ObjectAssumptions::default()).unwrap_err();
    assert!(both.contains("0 stands here in another form"), "{both}");
}

/// An answer that nothing stands behind is none: "holds" was said of a single read, of a lock that
/// nobody got, and of a register that was only written.
#[test]
fn what_nothing_was_compared_with_does_not_hold() {
    let of =
        |function, value, end, answer| [(0, "invoke", function, value), (0, end, function, answer)];
    let transfer = "{:from 0, :to 1, :amount 5}";
    let transfer = of("transfer", transfer, "ok", transfer);
    let read = |answer| of("read", "nil", "ok", answer);
    let (add, write) = (of("add", "1", "ok", "1"), of("write", "1", "ok", "1"));
    let acquire = |end| of("acquire", "nil", end, "nil");
    let release = of("release", "nil", "ok", "nil");
    let balances = read("{0 60, 1 40}");
    for (entries, expected) in [
        (vec![balances], "-"),
        (vec![balances, balances], "-"),
        (vec![balances, transfer], "-"),
        (vec![balances, transfer, balances], ""),
        (vec![read("0"), add], "-"),
        (vec![read("1"), add], "impossible sum"),
        (vec![add, read("1")], ""),
        (vec![write, of("read", "nil", "info", "nil")], "-"),
        (vec![read("7"), write], "-"),
        (vec![read("7"), write, of("cas", "[2 3]", "fail", "[2 3]")], "-"),
        (vec![write, read("1")], ""),
        (vec![write, of("cas", "[1 2]", "ok", "[1 2]")], ""),
        (vec![read("7"), read("8"), write], "no order of the operations"),
        (vec![acquire("info")], "-"),
        (vec![acquire("fail")], "-"),
        (vec![acquire("ok")], "-"),
        (vec![acquire("ok"), release], ""),
        (vec![release], "no order of the operations"),
    ] {
        assert_eq!(told(&entries.concat()), expected, "{entries:?}");
    }
    // What is stated is something to compare with.
    let alone = text(&balances);
    let of = |total| ObjectAssumptions { total: Some(total), ..ObjectAssumptions::default() };
    assert_eq!(word(&judged_with(&alone, &of(100)).unwrap().finding), "");
    assert_eq!(word(&judged_with(&alone, &of(99)).unwrap().finding), "wrong total");
    // A key of which nothing was compared says nothing of the others.
    let of_key = |key: &str, entries: &[Entry<'_>]| {
        text(entries).replace(":value ", &format!(":value [{key} ")).replace("}\n", "]}\n")
    };
    let both = of_key("x", &write) + &of_key("y", &[write, read("1")].concat());
    let judged = |text: &str| judged_with(text, &ObjectAssumptions::default()).unwrap().finding;
    let ObjectVerdict::Holds(how) = judged(&both) else { panic!("one of two keys was read") };
    assert_eq!(how, "each of 1 keys is as it should be; of 1 more nothing was compared");
    assert_eq!(word(&judged(&(of_key("x", &write) + &of_key("y", &write)))), "-");
}

#[test]
fn elements_are_lost_unexpected_recovered_or_never_read() {
    let add =
        |process, end, value| [(process, "invoke", "add", value), (process, end, "add", value)];
    let read = |value| [(4, "invoke", "read", "nil"), (4, "ok", "read", value)];
    let all = |value| {
        [
            &add(0, "ok", "0")[..],
            &add(0, "ok", "1"),
            &add(1, "info", "10"),
            &add(2, "fail", "20"),
            &read(value),
        ]
        .concat()
    };
    let lost = judged(&all("#{0 10 30}"));
    let ObjectVerdict::Broken { anomaly, evidence } = &lost.finding else { panic!("{lost:?}") };
    assert_eq!(anomaly, "lost elements");
    assert!(evidence[1].starts_with("1 was added by process 0: add 1 (lines 3 and 4)"));
    assert!(evidence.iter().any(|line| line.starts_with("30 is in the read")), "{evidence:?}");
    assert_eq!(told(&all("[0 1 1]")), "elements read twice");
    assert_eq!(told(&all("#{0 1 20}")), "elements of failed additions");
    let right = judged(&all("#{0 1 10}"));
    assert_eq!(word(&right.finding), "");
    assert_eq!(right.notes, ["1 elements of unknown outcome were read: they were added"]);
    let counted = right.counted;
    assert_eq!((counted.operations, counted.ok, counted.failed, counted.unknown), (5, 3, 1, 1));
    let unread = [&read("#{}")[..], &add(0, "ok", "0")].concat();
    assert_eq!(told(&unread), "?");
    // Nobody says whether it is a set or a counter.
    let alone = judged_with(&text(&add(0, "ok", "0")), &ObjectAssumptions::default()).unwrap_err();
    assert!(alone.starts_with("no read was answered"), "{alone}");
}

/// Jepsen's set-full: reads that overlap the addition, and reads after it.
#[test]
fn an_element_is_lost_only_to_reads_that_begin_after_it_is_known() {
    let (a, b) = ((0, "invoke", "add", "0"), (0, "ok", "add", "0"));
    let r = (1, "invoke", "read", "nil");
    let (seen, missed) = ((1, "ok", "read", "#{0}"), (1, "ok", "read", "#{}"));
    for found in [[r, a, seen, b], [r, a, b, seen], [a, r, seen, b], [a, b, r, seen]] {
        assert_eq!(told(&found), "", "{found:?}");
    }
    for open in [[r, a, missed, b], [r, a, b, missed], [a, r, missed, b], [a, r, b, missed]] {
        assert_eq!(told(&open), "?", "{open:?}");
    }
    assert_eq!(told(&[a, b, r, missed]), "lost elements");
    assert_eq!(told(&[r, seen, a, b]), "unexpected elements", "before anybody asked for it");
    // Seen, missed, and seen again: stale, not lost.
    let stale = judged(&[a, b, r, missed, r, seen]);
    assert_eq!(word(&stale.finding), "");
    assert!(stale.notes[0].starts_with("1 elements are stale"), "{:?}", stale.notes);
    assert_eq!(told(&[a, r, seen, r, missed]), "lost elements");
}

#[test]
fn a_counter_is_within_its_bounds() {
    let (read, inv) = ("read", "invoke");
    assert_eq!(told(&[(0, inv, "add", "1"), (1, inv, read, "nil"), (1, "ok", read, "0")]), "");
    let two = [(0, inv, "add", "1"), (1, inv, read, "nil"), (1, "ok", read, "1")];
    assert_eq!(told(&two), "");
    assert_eq!(judged(&two).workload, Workload::Counter);
    let failed = [
        (0, inv, "add", "1"),
        (0, "fail", "add", "1"),
        (1, inv, read, "nil"),
        (1, "ok", read, "1"),
    ];
    assert_eq!(told(&failed), "impossible sum");
    let rolling = [
        (0, inv, read, "nil"),
        (1, inv, "add", "1"),
        (0, "ok", read, "0"),
        (0, inv, read, "nil"),
        (1, "ok", "add", "1"),
        (1, inv, "add", "2"),
        (0, "ok", read, "3"),
        (0, inv, read, "nil"),
        (1, "ok", "add", "2"),
        (0, "ok", read, "5"),
    ];
    let ObjectVerdict::Broken { evidence, .. } = judged(&rolling).finding else { panic!() };
    assert!(evidence[1].ends_with("it must be from 1 to 3"), "{evidence:?}");
    let down = [
        (0, inv, "add", "-2"),
        (1, inv, read, "nil"),
        (1, "ok", read, "-2"),
        (0, "ok", "add", "-2"),
        (1, inv, read, "nil"),
        (1, "ok", read, "0"),
    ];
    let ObjectVerdict::Broken { evidence, .. } = judged(&down).finding else { panic!() };
    assert!(evidence[0].starts_with("1 of 2") && evidence[1].ends_with("from -2 to -2"));
}

#[test]
fn a_lost_write_may_happen_late_or_never_and_a_failed_one_does_not() {
    let write =
        |process, end, value| [(process, "invoke", "write", value), (process, end, "write", value)];
    let read = |value| [(9, "invoke", "read", "nil"), (9, "ok", "read", value)];
    let late =
        |end| [&write(0, "ok", "1")[..], &write(1, end, "2"), &read("1"), &read("2")].concat();
    assert_eq!(told(&late("info")), "");
    assert_eq!(told(&late("fail")), "no order of the operations");
    let never = [&write(0, "ok", "1")[..], &write(1, "info", "2"), &read("1")].concat();
    assert_eq!(told(&never), "");
    // It is one write: it does not happen twice.
    let twice = [&late("info")[..], &write(0, "ok", "1"), &read("2")].concat();
    assert_eq!(told(&twice), "no order of the operations");
}

#[test]
fn what_a_register_began_with_is_read_or_stated() {
    let read = [(0, "invoke", "read", "nil"), (0, "ok", "read", "7")];
    let change = [(1, "invoke", "cas", "[7 8]"), (1, "ok", "cas", "[7 8]")];
    let shown = judged(&[&read[..], &change].concat());
    assert_eq!(word(&shown.finding), "");
    assert!(shown.notes[0].starts_with("the register began with 7"), "{:?}", shown.notes);
    let unshown = [&change[..], &[(0, "invoke", "read", "nil"), (0, "ok", "read", "8")]].concat();
    assert_eq!(told(&unshown), "?");
    let of = |initial: &str| {
        let stated =
            ObjectAssumptions { initial: Some(initial.to_owned()), ..ObjectAssumptions::default() };
        word(&judged_with(&text(&unshown), &stated).unwrap().finding)
    };
    assert_eq!((of("7").as_str(), of("nil").as_str()), ("", "no order of the operations"));
}

#[test]
fn keys_are_judged_one_by_one() {
    let entries = [
        (0, "invoke", "write", "[x 1]"),
        (0, "ok", "write", "[x 1]"),
        (1, "invoke", "read", "[y nil]"),
        (1, "ok", "read", "[y nil]"),
        (0, "invoke", "read", "[x nil]"),
        (0, "ok", "read", "[x 2]"),
    ];
    let all = judged(&entries);
    assert_eq!(all.counted.keys, 2);
    let ObjectVerdict::Broken { evidence, .. } = &all.finding else { panic!("{all:?}") };
    assert!(evidence[0].starts_with("key x: process 0: read 2 (lines 5 and 6)"), "{evidence:?}");
}

/// The set of elle-cli's tests: what was added has keys, and what was read has none.
#[test]
fn a_read_without_the_key_that_it_was_asked_with_is_refused() {
    let entries = [
        (0, "invoke", "add", "[0 1]"),
        (0, "ok", "add", "[0 1]"),
        (0, "invoke", "read", "[0 nil]"),
    ];
    let with = |answer| text(&[&entries[..], &[(0, "ok", "read", answer)]].concat());
    for answer in ["[0 1 2]", "[1 [1]]", "[]", "nil"] {
        let refused = judged_with(&with(answer), &ObjectAssumptions::default()).unwrap_err();
        assert!(refused.contains("in line 4 is answered without the key 0"), "{refused}");
    }
    let told = judged_with(&with("[0 [1]]"), &ObjectAssumptions::default()).unwrap();
    assert_eq!(word(&told.finding), "");
}

#[test]
fn a_mutex_is_held_by_one() {
    let step = |process, kind, function| (process, kind, function, "nil");
    let held = [step(0, "invoke", "acquire"), step(0, "ok", "acquire")];
    let again = [step(1, "invoke", "acquire"), step(1, "ok", "acquire")];
    let release = [step(0, "invoke", "release"), step(0, "ok", "release")];
    assert_eq!(told(&[&held[..], &release, &again].concat()), "");
    assert_eq!(told(&[&held[..], &again, &release].concat()), "no order of the operations");
}

/// The answers of a lock that has fences were passed over without a word.
#[test]
fn fences_of_a_mutex_grow() {
    let held = |process, fence| {
        [
            (process, "invoke", "acquire", "nil"),
            (process, "ok", "acquire", fence),
            (process, "invoke", "release", "nil"),
            (process, "ok", "release", "nil"),
        ]
    };
    let told = |first, second| {
        let text = text(&[held(0, first), held(1, second)].concat());
        let told = judged_with(&text, &ObjectAssumptions::default()).unwrap();
        (word(&told.finding).to_owned(), told.notes.last().cloned().unwrap_or_default())
    };
    let (word, note) = told("{:fence 5}", "{:fence 6}");
    assert_eq!(
        (word.as_str(), note.as_str()),
        ("", "2 acquisitions have a fence, which must grow")
    );
    let shrunk = "a fence that does not grow";
    for second in ["{:uid 2 :fence 6}", "{:uid 2 :fence 7}"] {
        assert_eq!(told("{:uid 1 :fence 7}", second).0, shrunk, "{second}");
    }
    // A number alone may be that of a client.
    for (first, second) in [(":a", ":b"), ("5", "4")] {
        let (word, note) = told(first, second);
        assert!(word.is_empty() && note.ends_with("they are not judged"), "{word} {note}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let wrong = |text: &str| judged_with(text, &ObjectAssumptions::default()).unwrap_err();
    let queue = text(&[
        (0, "invoke", "read", "nil"),
        (0, "ok", "read", "1"),
        (0, "invoke", "enqueue", "1"),
        (0, "ok", "enqueue", "1"),
    ]);
    assert!(wrong(&queue).starts_with("operations :enqueue, :read are of no workload"));
    let open = text(&[(0, "ok", "read", "1")]);
    assert_eq!(wrong(&open), "line 1, column 1: process 0 ends an operation that it did not begin");
    let twice = text(&[(3, "invoke", "read", "nil"), (3, "invoke", "read", "nil")]);
    assert!(wrong(&twice).starts_with("line 2, column 1: process 3 begins another operation"));
    let cut = "[{:process 0, :type :invoke, :f :read, :value nil}\n";
    assert_eq!(
        wrong(cut),
        "line 2, column 1: the file ends within a list or vector: it is cut off"
    );
}

#[test]
fn json_has_the_same_objects() {
    let json = r#"[{"type": "invoke", "f": "read", "process": 0, "value": null},
        {"type": "ok", "f": "read", "process": 0, "value": {"a": 3, "b": 4}},
        {"type": "invoke", "f": "transfer", "process": 0, "value": {"from": "a", "to": "b"}},
        {"type": "info", "f": "transfer", "process": 0, "value": {"from": "a", "to": "b"}},
        {"type": "invoke", "f": "read", "process": 1, "value": null},
        {"type": "ok", "f": "read", "process": 1, "value": {"a": 2, "b": 4}}]"#;
    let told = judged_with(json, &ObjectAssumptions::default()).unwrap();
    assert_eq!((told.workload, word(&told.finding).as_str()), (Workload::Bank, "wrong total"));
    let ObjectVerdict::Broken { evidence, .. } = told.finding else { panic!() };
    assert!(evidence[1].contains("(operations 5 and 6)"), "{evidence:?}");
    // Names in JSON are texts, whatever they stand for.
    for account in ["0", "\"0\""] {
        let of_number = json.replace("\"a\":", "\"0\":").replace("\"a\"", account);
        let told = judged_with(&of_number, &ObjectAssumptions::default()).unwrap();
        assert_eq!(word(&told.finding), "wrong total", "{account}");
    }
    let both = json.replacen("\"from\": \"a\"", "\"from\": \"3\"", 2);
    let both = both.replace("\"to\": \"b\"", "\"to\": 3");
    let both = judged_with(&both, &ObjectAssumptions::default()).unwrap_err();
    assert!(both.starts_with("operation 3: 3 stands here in another form"), "{both}");
    let alone = wrong_of_reads();
    assert!(alone.starts_with("operations :read are of no workload"), "{alone}");
}

/// Reads alone are of no object in particular.
fn wrong_of_reads() -> String {
    let reads = text(&[(0, "invoke", "read", "nil"), (0, "ok", "read", "1")]);
    judged_with(&reads, &ObjectAssumptions::default()).unwrap_err()
}

/// An operation of the oracle: what it does, when it began and ended (never: `None`).
#[derive(Clone, Copy, Debug)]
enum Act {
    Read(u32),
    Write(u32),
    Change(u32, u32),
}

/// Whether some order of the operations, of lost ones any, agrees with time and all answers.
fn has_order(all: &[(Act, usize, Option<usize>)], is_in: u32, held: u32) -> bool {
    let rest = || (0..all.len()).filter(|at| is_in & (1 << at) == 0);
    if rest().all(|at| all[at].2.is_none()) {
        return true;
    }
    rest().any(|at| {
        let (act, began, _) = all[at];
        let is_late = rest().any(|other| all[other].2.is_some_and(|ended| ended < began));
        let next = match act {
            Act::Read(value) => (value == held).then_some(held),
            Act::Write(value) => Some(value),
            Act::Change(from, to) => (from == held).then_some(to),
        };
        !is_late && next.is_some_and(|held| has_order(all, is_in | 1 << at, held))
    })
}

/// Some operations of three processes, of which some are lost, on a register that holds 0.
fn drawn_at_random(seed: u64) -> (String, Vec<(Act, usize, Option<usize>)>) {
    let mut random = Random(seed);
    let mut lines = vec![
        "{:type :invoke, :f :read, :process 9}".to_owned(),
        "{:type :ok, :f :read, :value 0, :process 9}".to_owned(),
    ];
    let mut all: Vec<(Act, usize, Option<usize>)> = Vec::new();
    let mut open: Vec<Option<usize>> = vec![None; 3];
    let mut names = [0, 1, 2];
    for _ in 0..16 {
        let process = random.below(3);
        let mut value = || random.below(3) as u32;
        let Some(at) = open[process] else {
            let act = match value() {
                0 => Act::Read(value()),
                1 => Act::Write(value()),
                _ => Act::Change(value(), value()),
            };
            open[process] = Some(all.len());
            let (function, asked) = spelled(act);
            let asked = if function == "read" { "nil".to_owned() } else { asked };
            let name = names[process];
            lines.push(format!(
                "{{:type :invoke, :f :{function}, :value {asked}, :process {name}}}"
            ));
            all.push((act, lines.len(), None));
            continue;
        };
        let (function, answer) = spelled(all[at].0);
        let is_lost = random.below(5) == 0;
        let kind = if is_lost { "info" } else { "ok" };
        let name = names[process];
        lines.push(format!("{{:type :{kind}, :f :{function}, :value {answer}, :process {name}}}"));
        if is_lost {
            names[process] += 3;
        } else {
            all[at].2 = Some(lines.len());
        }
        open[process] = None;
    }
    (lines.join("\n"), all)
}

fn spelled(act: Act) -> (&'static str, String) {
    match act {
        Act::Read(value) => ("read", value.to_string()),
        Act::Write(value) => ("write", value.to_string()),
        Act::Change(from, to) => ("cas", format!("[{from} {to}]")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn registers_are_what_trying_all_orders_says(seed: u64) {
        let (text, all) = drawn_at_random(seed);
        let is_changed = all.iter().any(|(act, ..)| !matches!(act, Act::Read(_)));
        prop_assume!(is_changed);
        let told = judged_with(&text, &ObjectAssumptions::default()).unwrap();
        let wanted = if has_order(&all, 0, 0) { "" } else { "no order of the operations" };
        // An order without an answer is one, too.
        let word = word(&told.finding).replace('-', "");
        prop_assert_eq!(word, wanted, "{}", text);
    }
}
