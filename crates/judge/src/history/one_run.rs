//! What tools write of one run, which is no history by itself.
//!
//! A history has a row for each of many runs, and says when each was. What has neither is refused
//! by the name of its tool, with what is needed; a table to which a column of times was added, or
//! whose order is told, is a table as any other.

use serde_json::Value;

use super::asked::OrderAsked;

/// How lines begin that tools print, and whose they are.
const BEGINS: [(&str, &str); 17] = [
    ("sysbench ", "sysbench"),
    ("pgbench (", "pgbench"),
    ("transaction type: ", "pgbench"),
    ("Running the test with following options", "sysbench"),
    ("[ ", "sysbench"),
    ("[OVERALL], ", "YCSB"),
    ("Vuser ", "HammerDB"),
    ("goos: ", "`go test -bench`"),
    ("Benchmark  ", "JMH, which has a table with -rf csv"),
    ("Benchmark", "`go test -bench`"),
    ("name  ", "benchstat"),
    ("test ", "`cargo bench`"),
    ("Benchmark 1: ", "hyperfine"),
    ("Running ", "wrk"),
    ("YCSB Client ", "YCSB"),
    ("20", "YCSB"),
    ("name,iterations,real_time,cpu_time,", "Google Benchmark in CSV"),
];
/// What else such a line has, where it may stand in a table as well.
const HAS: [(&str, &str); 10] = [
    ("[ ", " thds: "),
    ("Vuser ", "RESULT"),
    ("Benchmark  ", " Mode  Cnt "),
    ("Benchmark", " ns/op"),
    ("name  ", " delta"),
    ("test ", " ns/iter "),
    ("[OVERALL], ", "(ms), "),
    ("Running ", " test @ "),
    ("20", " current ops/sec"),
    ("name,iterations,real_time,cpu_time,", "time_unit"),
];

/// Tables that tools write of one run: the tool, columns that it has, others that it may have, how
/// columns of parameters begin, and which of them tells what was measured.
struct OfTool {
    tool: &'static str,
    has: &'static [&'static str],
    may_have: &'static [&'static str],
    parameters: &'static str,
    names: &'static str,
}

const TABLES: [OfTool; 2] = [
    OfTool {
        tool: "JMH",
        has: &["benchmark", "mode", "score", "unit"],
        may_have: &["threads", "samples", "score error (99.9%)", "score error (99,9%)"],
        parameters: "param: ",
        names: "Benchmark",
    },
    OfTool {
        tool: "hyperfine",
        has: &["command", "mean", "stddev", "min", "max"],
        may_have: &["median", "user", "system"],
        parameters: "parameter_",
        names: "command",
    },
];

/// Whether a column is a time of hyperfine's, by the columns beside it: they are called after
/// places in a distribution, and the unit of all of them is the second.
pub(super) fn is_time_of_hyperfine(header: &[String], column: usize) -> bool {
    let Some(of) = TABLES.iter().find(|of| of.tool == "hyperfine") else { return false };
    let is_time =
        |head: &str| of.names != head && (of.has.contains(&head) || of.may_have.contains(&head));
    let heads: Vec<String> = header.iter().map(|head| head.to_ascii_lowercase()).collect();
    of.has.iter().all(|name| heads.iter().any(|head| head == name)) && is_time(&heads[column])
}

/// The line and the tool of a text that tells of one run.
pub(super) fn output_of_one_run(text: &str) -> Option<(usize, &'static str)> {
    text.lines().take(20).enumerate().find_map(|(at, line)| {
        let (begin, tool) = BEGINS.iter().find(|(begin, _)| line.starts_with(begin))?;
        let is_it = match HAS.iter().find(|(of, _)| of == begin) {
            Some((_, also)) => line.contains(also),
            // A column may be called so.
            None => !line.contains([',', ';', '\t']),
        };
        is_it.then_some((at + 1, *tool))
    })
}

/// Why a table is refused that a tool has written of one run, by the columns that it has and no
/// others.
pub(super) fn single_run_refusal(header: &[String], asked: Option<&OrderAsked>) -> Option<String> {
    if asked.is_some() {
        return None;
    }
    let heads: Vec<String> = header.iter().map(|head| head.to_ascii_lowercase()).collect();
    let is_of = |of: &&OfTool| {
        let is_known = |head: &String| {
            let known = of.has.contains(&head.as_str()) || of.may_have.contains(&head.as_str());
            known || head.starts_with(of.parameters)
        };
        of.has.iter().all(|name| heads.iter().any(|head| head == name))
            && heads.iter().all(is_known)
    };
    let of = TABLES.iter().find(is_of)?;
    Some(format!(
        "this is what {tool} writes of one run, which says nothing of when; put the tables of all \
         runs below each other with a column called date, or say --order oldest-first --by {names} \
         if they stand below each other already; to compare two runs is no history",
        tool = of.tool,
        names = of.names
    ))
}

/// Why a document of JSON tells of one run or of rows that lie on their side, and of no history.
pub(super) fn document_of_one_run(object: &serde_json::Map<String, Value>) -> Option<String> {
    let all = |is: fn(&Value) -> bool| !object.is_empty() && object.values().all(is);
    if object.values().any(|value| value.get("point_estimate").is_some()) {
        return Some(
            "this is of criterion, whose estimates have no time; write a line {\"date\": …, \
             \"mean\": …} for each run"
                .to_owned(),
        );
    }
    if all(has_measures) {
        return Some(
            "this is Bencher's metric format, which has no time; write a line {\"date\": …, \
             \"bench\": …, \"value\": …} for each run"
                .to_owned(),
        );
    }
    let is_split = ["columns", "index", "data"].iter().all(|name| object.contains_key(*name));
    (is_split || all(is_numbered)).then(|| {
        "this is a table of pandas whose rows lie on their side; write it with \
         to_json(orient=\"records\"), or to_csv()"
            .to_owned()
    })
}

/// Whether each of its fields is a measure with a value.
fn has_measures(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| {
        !fields.is_empty() && fields.values().all(|one| one.get("value").is_some())
    })
}

/// Whether its fields are called by the numbers of rows.
fn is_numbered(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| {
        !fields.is_empty()
            && fields.keys().all(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use dbdyno_model::Better;

    use super::super::HistoryQuestion;
    use super::super::file::of_file;

    /// `mean` was taken for a figure of which more is better.
    #[test]
    fn times_of_hyperfine_are_better_when_less() {
        let line = |day: u32| {
            format!(
                "{{\"date\": \"2026-01-{day:02}\", \"command\": \"q\", \"mean\": 1.5, \"stddev\": \
                 0.01, \"median\": 1.5, \"min\": 1.4, \"max\": 1.6, \"user\": 1.1, \"system\": 0.1, \
                 \"rows\": 7}}\n"
            )
        };
        let text: String = (1..=12).map(line).collect();
        let history = of_file("a.jsonl", &text, &HistoryQuestion::of_figures(&[])).unwrap();
        assert!(history.series.len() >= 7, "{:?}", history.series.len());
        for series in history.series.iter().filter(|one| one.metric != "rows") {
            assert_eq!(series.better, Better::Lower, "{}", series.metric);
        }
    }
}
