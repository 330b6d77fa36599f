//! No field of another kind passes a gate.
//!
//! Of each form of JSON that is read there are forty runs, the latest ten of which take half as
//! long again. In these each field becomes, one after the other, a value of every other kind, or is
//! gone. A reader that takes such a field for untold loses what got worse, and a gate looks at the
//! good runs before it: each such file is refused, fails or leaves a doubt.

use dbdyno_model::GateOutcome;
use serde_json::{Value, json};

use super::judge_gate;
use crate::history::{HistoryQuestion, of_file};

const RUNS: u32 = 40;
const GOOD: u32 = 30;

/// A form: how a run is written, and how runs follow each other.
struct Form {
    name: &'static str,
    run: fn(u32, f64) -> Value,
    text: fn(&[Value]) -> String,
}

const FORMS: [Form; 7] = [
    Form { name: "rows", run: row, text: array },
    Form { name: "github-action-benchmark", run: entry, text: data_js },
    Form { name: "Google Benchmark", run: google, text: lines },
    Form { name: "pytest-benchmark", run: pytest, text: lines },
    Form { name: "pyperf", run: pyperf, text: lines },
    Form { name: "asv", run: asv, text: lines },
    Form { name: "Nyrkiö", run: metrics, text: array },
];

fn array(runs: &[Value]) -> String {
    Value::Array(runs.to_vec()).to_string()
}

fn lines(runs: &[Value]) -> String {
    runs.iter().map(|run| format!("{run}\n")).collect()
}

fn data_js(runs: &[Value]) -> String {
    format!("window.BENCHMARK_DATA = {}", json!({"entries": {"Suite": runs}}))
}

fn date(run: u32) -> String {
    format!("2026-{:02}-{:02}T03:00:00+00:00", 1 + run / 28, 1 + run % 28)
}

fn unix_ms(run: u32) -> u64 {
    1_767_225_600_000 + 86_400_000 * u64::from(run)
}

fn commit(run: u32) -> String {
    format!("{:040x}", u64::from(run + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn row(run: u32, ms: f64) -> Value {
    json!({"date": date(run), "commit": commit(run), "test": "a", "ok": true,
           "time": {"p99_ms": ms}})
}

fn entry(run: u32, ms: f64) -> Value {
    let bench = json!({"name": "b", "value": ms, "unit": "ms/op", "range": "± 3"});
    json!({"commit": {"id": commit(run)}, "date": unix_ms(run), "tool": "go", "benches": [bench]})
}

fn google(run: u32, ms: f64) -> Value {
    let bench = json!({"name": "BM_a", "iterations": 1000, "real_time": ms, "cpu_time": ms,
                       "time_unit": "ms"});
    json!({"context": {"date": date(run), "host_name": "h"}, "benchmarks": [bench]})
}

fn pytest(run: u32, ms: f64) -> Value {
    let bench = json!({"name": "a", "stats": {"median": ms / 1e3, "mean": ms / 1e3}});
    json!({"datetime": date(run), "machine_info": {"node": "h"}, "benchmarks": [bench]})
}

fn pyperf(run: u32, ms: f64) -> Value {
    let process = json!({"metadata": {"date": date(run)}, "values": [ms / 1e3, ms / 1e3]});
    json!({"benchmarks": [{"metadata": {"name": "a", "unit": "second"}, "runs": [process]}]})
}

fn asv(run: u32, ms: f64) -> Value {
    json!({"commit_hash": commit(run), "date": unix_ms(run), "params": {"machine": "h"},
           "results": {"time_a": [[ms / 1e3], []]}})
}

fn metrics(run: u32, ms: f64) -> Value {
    json!({"timestamp": unix_ms(run) / 1000, "attributes": {"branch": "main"},
           "metrics": [{"name": "lat", "unit": "ms", "value": ms}]})
}

/// A step on the way to a field.
#[derive(Clone, Debug)]
enum Step {
    Name(String),
    Place(usize),
}

/// All fields and elements of a value, itself first.
fn places(value: &Value, to: &[Step], all: &mut Vec<Vec<Step>>) {
    all.push(to.to_vec());
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                places(inner, &[to, &[Step::Name(name.clone())]].concat(), all);
            }
        }
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate() {
                places(inner, &[to, &[Step::Place(at)]].concat(), all);
            }
        }
        _ => {}
    }
}

/// What stands at a place.
fn found<'v>(value: &'v mut Value, to: &[Step]) -> &'v mut Value {
    to.iter().fold(value, |inner, step| match step {
        Step::Name(name) => &mut inner[name.as_str()],
        Step::Place(at) => &mut inner[*at],
    })
}

/// Values of other kinds, made of what stood there.
fn others(stood: &Value) -> Vec<Value> {
    let others = [
        json!(null),
        json!(true),
        json!(false),
        json!(""),
        json!("x"),
        json!(-1),
        json!(1e300),
        json!([]),
        json!({}),
        json!([1]),
        json!({"a": 1}),
        json!([stood, stood]),
        json!({"a": stood}),
    ];
    others.into_iter().filter(|other| other != stood).collect()
}

/// Takes away what stands at a place within another value.
fn remove(run: &mut Value, to: &[Step]) {
    let Some((last, outer)) = to.split_last() else { return };
    match (found(run, outer), last) {
        (Value::Object(fields), Step::Name(name)) => drop(fields.remove(name)),
        (Value::Array(list), Step::Place(at)) => drop(list.remove(*at)),
        _ => unreachable!("a place is in a list or in an object"),
    }
}

/// Whether a gate on the latest twenty runs passes.
fn passes(text: &str) -> bool {
    let question = HistoryQuestion { look_back: 20, ..HistoryQuestion::of_figures(&[]) };
    of_file("f.json", text, &question)
        .is_ok_and(|told| judge_gate(&told, 20).outcome == GateOutcome::Holds)
}

/// The text of all runs, of which the latest are changed.
fn text_of(form: &Form, change: impl Fn(&mut Value)) -> String {
    let run = |run: u32| {
        let level = if run < GOOD { 100.0 } else { 150.0 };
        let mut written = (form.run)(run, level + f64::from(run * 37 % 11) / 10.0);
        if run >= GOOD {
            change(&mut written);
        }
        written
    };
    (form.text)(&(0..RUNS).map(run).collect::<Vec<Value>>())
}

#[test]
fn no_field_of_another_kind_passes_a_gate() {
    let mut passed = Vec::new();
    for form in &FORMS {
        assert!(!passes(&text_of(form, |_| {})), "{}: what got worse passes", form.name);
        let mut all = Vec::new();
        places(&(form.run)(0, 100.0), &[], &mut all);
        for place in &all {
            let stood = found(&mut (form.run)(0, 100.0), place).clone();
            for other in others(&stood) {
                if passes(&text_of(form, |run| *found(run, place) = other.clone())) {
                    passed.push(format!("{}: {place:?} is {other}", form.name));
                }
            }
            if !place.is_empty() && passes(&text_of(form, |run| remove(run, place))) {
                passed.push(format!("{}: {place:?} is gone", form.name));
            }
        }
    }
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}
