//! Traces in the Informal Trace Format, which Apalache and Quint read and write.
//!
//! ```text
//!   { "#meta": {…}, "vars": ["action", "transactions", …],
//!     "states": [ { "#meta": { "index": 0 }, "action": "", "transactions": { "#map": […] } },
//!                 … ] }
//! ```
//!
//! Source: Apalache, ADR-015, *Informal Trace Format in JSON*: numbers are `{"#bigint": "3"}`,
//! functions `{"#map": [[key, value], …]}`, records objects, sequences arrays. The action that led
//! to a state is a variable of it, empty in the first one.

use serde_json::{Map, Value, json};

use crate::fact::{Scene, StateFact};

const FORMAT: &str = "https://apalache-mc.org/docs/adr/015adr-trace.html";

/// A trace as ITF; `source` says what was explored, `description` what the trace shows.
#[must_use]
pub fn itf(trace: &[Scene], source: &str, description: &str) -> Value {
    let vars = trace.first().into_iter().flat_map(|scene| scene.facts.iter().map(|fact| fact.0));
    let vars: Vec<&str> = std::iter::once("action").chain(vars).collect();
    let state = |(index, scene): (usize, &Scene)| {
        let mut state = Map::new();
        state.insert("#meta".to_owned(), json!({ "index": index }));
        state.insert("action".to_owned(), json!(scene.action));
        for (name, fact) in &scene.facts {
            state.insert((*name).to_owned(), value(fact));
        }
        Value::Object(state)
    };
    json!({
        "#meta": {
            "format": "ITF", "format-description": FORMAT, "source": source,
            "description": description,
        },
        "vars": vars,
        "states": trace.iter().enumerate().map(state).collect::<Vec<_>>(),
    })
}

fn value(fact: &StateFact) -> Value {
    match fact {
        StateFact::Text(text) => json!(text),
        StateFact::Number(number) => json!({ "#bigint": number.to_string() }),
        StateFact::List(all) => Value::Array(all.iter().map(value).collect()),
        StateFact::Record(fields) => {
            let fields = fields.iter().map(|(name, fact)| ((*name).to_owned(), value(fact)));
            Value::Object(fields.collect())
        }
        StateFact::Map(entries) => {
            let entries = entries.iter().map(|(key, fact)| json!([key, value(fact)]));
            json!({ "#map": entries.collect::<Vec<_>>() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::NamedProtocol;

    /// What Apalache's document asks of a trace: all variables in every state, states numbered, and
    /// of objects only those with one known key, or records.
    #[test]
    fn a_trace_is_as_the_format_wants_it() {
        for protocol in NamedProtocol::all() {
            let judged =
                protocol.judge_outcomes("2x2x2".parse().unwrap(), protocol.level(), 1_000_000);
            let told = itf(&judged.trace, "a test", "an example");
            let vars: Vec<&str> = told["vars"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect();
            let states = told["states"].as_array().unwrap();
            assert_eq!(states.len(), judged.trace.len());
            for (index, state) in states.iter().enumerate() {
                let state = state.as_object().unwrap();
                assert_eq!(state["#meta"]["index"], index);
                assert_eq!(state.len(), vars.len() + 1);
                assert!(vars.iter().all(|name| state.contains_key(*name)));
                vars.iter().for_each(|name| assert_is_itf(&state[*name]));
            }
            assert_eq!(states[0]["action"], "");
        }
    }

    fn assert_is_itf(value: &Value) {
        match value {
            Value::Array(all) => all.iter().for_each(assert_is_itf),
            Value::Object(fields) if fields.contains_key("#map") => {
                assert_eq!(fields.len(), 1);
                for pair in fields["#map"].as_array().unwrap() {
                    assert_eq!(pair.as_array().unwrap().len(), 2);
                    assert_is_itf(&pair[1]);
                }
            }
            Value::Object(fields) if fields.contains_key("#bigint") => {
                assert!(fields["#bigint"].as_str().unwrap().parse::<i64>().is_ok());
            }
            Value::Object(fields) => {
                assert!(fields.keys().all(|name| !name.starts_with('#') && !name.contains(' ')));
                fields.values().for_each(assert_is_itf);
            }
            Value::String(_) | Value::Bool(_) => {}
            other => panic!("{other} is no value of the format"),
        }
    }
}
