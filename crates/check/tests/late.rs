//! Files that begin late: correct histories are cut at each place, and are never broken; what no
//! past explains is found.

use dbdyno_check::{
    Checker, Input, Level, LevelVerdict, ObjectAssumptions, ObjectJudgement, ObjectVerdict,
    read_input,
};
use proptest::prelude::*;

use crate::small::Random;

/// The workloads that are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Simulated {
    Set,
    Counter,
    Register,
    Mutex,
}

const ALL: [Simulated; 4] =
    [Simulated::Set, Simulated::Counter, Simulated::Register, Simulated::Mutex];

/// One object, carried out an operation at a time.
#[derive(Default)]
struct Object {
    value: i64,
    elements: Vec<i64>,
    added: i64,
}

/// An operation that was asked for: function and value, and its answer once it has happened.
#[derive(Clone)]
struct Asked {
    process: usize,
    function: &'static str,
    value: Vec<i64>,
    answer: Option<(&'static str, String)>,
}

fn written(value: &[i64]) -> String {
    match value {
        [] => "nil".to_owned(),
        [one] => one.to_string(),
        many => format!("{many:?}").replace(',', ""),
    }
}

impl Object {
    fn ask(&mut self, of: Simulated, process: usize, random: &mut Random) -> Asked {
        let some = |random: &mut Random| random.below(3) as i64;
        let (function, value) = match (of, random.below(3)) {
            (Simulated::Mutex, 0) => ("release", vec![]),
            (Simulated::Mutex, _) => ("acquire", vec![]),
            (_, 0) => ("read", vec![]),
            (Simulated::Set, _) => {
                self.added += 1;
                // Now and then one is added again.
                let back = if random.below(4) == 0 { some(random) } else { 0 };
                ("add", vec![(self.added - back).max(1)])
            }
            (Simulated::Counter, _) => ("add", vec![some(random) - 1]),
            (Simulated::Register, 1) => ("cas", vec![some(random), some(random)]),
            (Simulated::Register, _) => ("write", vec![some(random)]),
        };
        Asked { process, function, value, answer: None }
    }

    /// Carries an operation out.
    fn carry_out(&mut self, of: Simulated, asked: &mut Asked) {
        let value = &asked.value;
        let told = match (asked.function, of) {
            ("read", Simulated::Set) => {
                let all: Vec<String> = self.elements.iter().map(i64::to_string).collect();
                format!("#{{{}}}", all.join(" "))
            }
            ("read", _) => self.value.to_string(),
            _ => written(value),
        };
        let is_done = match (asked.function, of) {
            ("add", Simulated::Set) => {
                let is_new = !self.elements.contains(&value[0]);
                if is_new {
                    self.elements.push(value[0]);
                }
                is_new
            }
            ("add", _) => {
                self.value += value[0];
                true
            }
            ("write", _) => {
                self.value = value[0];
                true
            }
            ("cas", _) => {
                let is_it = self.value == value[0];
                self.value = if is_it { value[1] } else { self.value };
                is_it
            }
            ("acquire", _) => std::mem::replace(&mut self.value, 1) == 0,
            ("release", _) => std::mem::replace(&mut self.value, 0) == 1,
            _ => true,
        };
        asked.answer = Some((if is_done { "ok" } else { "fail" }, told));
    }
}

/// The entries of a correct history: of clients whose outcome is lost one in `crashing` times, and
/// whose operation may be carried out later or never; 0 is never.
fn simulated(of: Simulated, seed: u64, crashing: usize) -> Vec<String> {
    const CLIENTS: usize = 3;
    let mut random = Random(seed);
    let (mut object, mut lines) = (Object::default(), Vec::new());
    let mut processes: Vec<usize> = (0..CLIENTS).collect();
    let mut open: Vec<Option<Asked>> = vec![None; CLIENTS];
    let mut lost: Vec<Asked> = Vec::new();
    let line = |asked: &Asked, kind: &str, value: &str| {
        let (process, function) = (asked.process, asked.function);
        format!(":process {process}, :type :{kind}, :f :{function}, :value {value}")
    };
    for step in 0..60 {
        if !lost.is_empty() && random.below(4) == 0 {
            let at = random.below(lost.len());
            object.carry_out(of, &mut lost.swap_remove(at));
        }
        let client = random.below(CLIENTS);
        match open[client].take() {
            None if step < 50 => {
                let asked = object.ask(of, processes[client], &mut random);
                lines.push(line(&asked, "invoke", &written(&asked.value)));
                open[client] = Some(asked);
            }
            Some(asked) if crashing > 0 && random.below(crashing) == 0 => {
                lines.push(line(&asked, "info", &written(&asked.value)));
                // Some tools go on with the process.
                processes[client] += CLIENTS * random.below(2);
                if asked.answer.is_none() {
                    lost.push(asked);
                }
            }
            Some(asked) => match &asked.answer {
                Some((kind, told)) => lines.push(line(&asked, kind, told)),
                None => {
                    let mut asked = asked;
                    object.carry_out(of, &mut asked);
                    open[client] = Some(asked);
                }
            },
            None => {}
        }
    }
    for mut asked in open.into_iter().flatten() {
        if crashing > 0 {
            lines.push(line(&asked, "info", &written(&asked.value)));
        } else {
            if asked.answer.is_none() {
                object.carry_out(of, &mut asked);
            }
            let (kind, told) = asked.answer.clone().unwrap_or(("info", String::new()));
            lines.push(line(&asked, kind, &told));
        }
    }
    lines
}

/// The text without its first lines.
fn text_from(lines: &[String], cut: usize) -> String {
    let numbered = lines.iter().enumerate().skip(cut);
    numbered.map(|(index, line)| format!("{{{line}, :index {index}}}\n")).collect()
}

fn judged(text: &str) -> Option<ObjectJudgement> {
    match read_input(text.as_bytes()) {
        Ok(Input::Objects(operations)) => {
            operations.judge_workload(&ObjectAssumptions::default()).ok()
        }
        Ok(Input::Transactions(..)) => panic!("{text}"),
        Err(bad) => panic!("{bad}: {text}"),
    }
}

/// Entries of one more client.
fn answered(function: &str, value: &str) -> [String; 2] {
    let asked = if function == "read" { "nil" } else { value };
    ["invoke", "ok"].map(|kind| {
        let value = if kind == "invoke" { asked } else { value };
        format!(":process 1000, :type :{kind}, :f :{function}, :value {value}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn a_correct_history_is_not_broken_wherever_its_file_begins(seed: u64) {
        for of in ALL {
            let lines = simulated(of, seed, 8);
            for cut in 0..lines.len().saturating_sub(1) {
                let text = text_from(&lines, cut);
                if let Some(judgement) = judged(&text) {
                    let is_broken = matches!(judgement.finding, ObjectVerdict::Broken { .. });
                    prop_assert!(!is_broken, "{:?} cut at {}: {:?}: {}", of, cut, judgement, text);
                    let is_told = judgement.notes.iter().any(|note| note.contains("begins with"));
                    prop_assert!(is_told || cut < 2, "{:?}", judgement.notes);
                }
            }
        }
    }

    #[test]
    fn what_no_past_explains_is_found_in_a_file_that_begins_late(seed: u64) {
        for of in ALL {
            let lines = simulated(of, seed, 0);
            let cut = 2 + (seed % 8) as usize;
            let planted: Vec<String> = match of {
                Simulated::Set => vec![
                    answered("add", "900"), answered("read", "#{900}"), answered("read", "#{}"),
                ],
                Simulated::Counter => vec![answered("read", "900"), answered("read", "901")],
                Simulated::Register => vec![answered("write", "900"), answered("read", "901")],
                Simulated::Mutex => vec![answered("acquire", "nil"), answered("acquire", "nil")],
            }.concat();
            let told = |times: usize| {
                let all = [&lines[..], &vec![planted.clone(); times].concat()].concat();
                judged(&text_from(&all, cut)).unwrap().finding
            };
            // One operation from before the file at most for each line that it lacks.
            let many = told(cut + 1);
            prop_assert!(matches!(many, ObjectVerdict::Broken { .. }), "{:?}: {:?}", of, many);
            let once = told(1);
            let is_held =
                matches!(once, ObjectVerdict::Holds(_) | ObjectVerdict::NothingCompared(_));
            prop_assert!(!is_held, "{:?}: {:?}", of, once);
            let is_broken = matches!(once, ObjectVerdict::Broken { .. });
            prop_assert!(of != Simulated::Set || is_broken, "{:?}", once);
        }
    }
}

/// Each of these was broken, or refused, as if nothing had come before its first line.
#[test]
fn a_late_file_says_what_is_not_known_of_its_beginning() {
    let entry = |index: usize, [begun, ended]: [String; 2]| {
        format!("{{{begun}, :index {index}}}\n{{{ended}, :index {}}}\n", index + 1)
    };
    for (function, value, last, meaning) in [
        ("add", "8", "#{7 8}", "an element that is read without being added here"),
        ("add", "8", "20", "the counter may have held any number"),
        ("cas", "[3 4]", "4", "the register may have held any value"),
        ("release", "nil", "", "the mutex may have been held or free"),
    ] {
        let next = match last {
            "" => answered("acquire", "nil"),
            last => answered("read", last),
        };
        let again = entry(44, next.clone());
        let text = entry(40, answered(function, value)) + &entry(42, next) + &again;
        let text = if function == "release" { text.replace(&again, "") } else { text };
        let judgement = judged(&text).unwrap();
        assert!(matches!(judgement.finding, ObjectVerdict::Holds(_)), "{judgement:?}");
        let note = &judgement.notes[0];
        assert!(note.contains("begins with index 40: what came before that is not"), "{note}");
        assert!(note.contains(meaning), "{note}");
    }
    // Without indices, the end of what the file has no beginning of.
    let text = "{:process 1, :type :ok, :f :release, :value nil}\n\
        {:process 0, :type :invoke, :f :acquire, :value nil}\n\
        {:process 0, :type :ok, :f :acquire, :value nil}\n\
        {:process 0, :type :invoke, :f :release, :value nil}\n\
        {:process 0, :type :ok, :f :release, :value nil}\n";
    let judgement = judged(text).unwrap();
    assert!(matches!(judgement.finding, ObjectVerdict::Holds(_)), "{judgement:?}");
    assert!(judgement.notes[0].contains("begins with the end of an operation"), "{judgement:?}");
}

/// JSON and logs of Jepsen begin late as EDN does, and what was cut keeps the times of the others.
#[test]
fn transactions_of_other_forms_begin_late_too() {
    let told = |text: &str| match read_input(text.as_bytes()).unwrap() {
        Input::Transactions(history, form) => (history, form.to_string()),
        Input::Objects(_) => panic!("{text}"),
    };
    let json = "{\"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"w\", \"x\", 1]], \"process\": 1, \
        \"index\": 9}\n{\"type\": \"invoke\", \"f\": \"txn\", \"value\": [[\"r\", \"y\", null]], \
        \"process\": 0, \"index\": 10}\n{\"type\": \"ok\", \"f\": \"txn\", \"value\": [[\"r\", \
        \"y\", 5]], \"process\": 0, \"index\": 11}\n";
    let log =
        "1\t:ok\t:txn\t[[:w :x 1]]\n0\t:invoke\t:txn\t[[:r :y nil]]\n0\t:ok\t:txn\t[[:r :y 5]]\n";
    for (text, called, beginning) in [
        (json, "JSON of Jepsen or elle-cli that begins", "with index 9: what came before"),
        (log, "history.txt of Jepsen, or its log that begins", "with the end of an operation"),
    ] {
        let (history, form) = told(text);
        assert!(form.starts_with(called) && form.contains(beginning), "{form}");
        assert!(form.contains("each of the 1 values"), "{form}");
        let verdict = Checker::new(&history).proved_verdict(Level::StrictSerializable);
        assert!(matches!(verdict, LevelVerdict::Holds(_)), "{verdict:?}");
    }
}
