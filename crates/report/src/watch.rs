//! What was seen of servers while they were watched: a line for each second, and what each metric
//! was over the whole time, with what it means.

use std::collections::BTreeMap;

use dbdyno_document::number::{UNKNOWN, format_fixed, three_digits};
use dbdyno_document::{
    DataTable, Document, Element, RollingColumn, RollingTable, TableColumn, Text,
};
use dbdyno_model::foreign;
use dbdyno_model::metric_lessons::{MetricClass, MetricLesson};
use dbdyno_model::server_facts::FactKind;
use serde::Serialize;

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;
const SECONDS_PER_DAY: u64 = 86_400;
/// Characters of a question that are shown.
const QUESTION_SHOWN: usize = 100;

/// A server that was watched.
pub struct WatchedServer {
    /// As the user named it, without its password.
    pub target: String,
    /// What it says it is; none where it never answered.
    pub version: Option<String>,
    /// Seconds in which it was looked at, and in which it answered.
    pub looks: u64,
    /// Those in which it answered.
    pub answers: u64,
    /// How often it had begun anew.
    pub restarts: u64,
    /// Questions of a look.
    pub questions: usize,
    /// What it refuses to tell: the question, and its words.
    pub refusals: Vec<(String, String)>,
    /// Questions that were too dear for each second, and the seconds between two.
    pub rare: Vec<(String, f64)>,
    /// What each metric was, in the order of the dictionary.
    pub metrics: Vec<WatchedMetric>,
}

/// What a metric was over the whole time.
pub struct WatchedMetric {
    /// What it means.
    pub lesson: &'static MetricLesson,
    /// The least.
    pub least: f64,
    /// Half of its values are not above it.
    pub median: f64,
    /// Of a hundred values 95 are not above it.
    pub p95: f64,
    /// The most.
    pub most: f64,
}

/// A column of the lines: the first of these metrics that a server tells.
struct LiveColumn {
    head: [&'static str; 2],
    metrics: &'static [&'static str],
}

/// Ordered by what a person in trouble looks at first: how much is done, who does it, who waits,
/// what was put off. MySQL counts a commit without the word COMMIT by its handlers alone.
const LIVE_COLUMNS: [LiveColumn; 9] = [
    LiveColumn { head: ["statements", "/s"], metrics: &["statements"] },
    LiveColumn { head: ["commits", "/s"], metrics: &["handler_commits", "commits"] },
    LiveColumn { head: ["sessions", "running"], metrics: &["threads_running"] },
    LiveColumn { head: ["sessions", "connected"], metrics: &["threads_connected"] },
    LiveColumn { head: ["waiting", "for locks"], metrics: &["row_lock_waiting"] },
    LiveColumn { head: ["rows read", "/s"], metrics: &["rows_examined", "rows_fetched"] },
    LiveColumn { head: ["pages read", "/s"], metrics: &["pages_read"] },
    LiveColumn { head: ["log bytes", "/s"], metrics: &["redo_bytes"] },
    LiveColumn { head: ["versions", "left"], metrics: &["history_list", "dead_rows"] },
];

/// Lines of what servers are each second.
pub struct WatchLines {
    table: RollingTable,
    has_names: bool,
}

impl WatchLines {
    /// For servers with these names, in this width.
    pub fn new(names: &[String], width: usize) -> WatchLines {
        let has_names = names.len() > 1;
        let mut columns = vec![word_column("time, UTC", 9)];
        if has_names {
            let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
            columns.push(word_column("server", widest));
        }
        columns.extend(LIVE_COLUMNS.map(|LiveColumn { head, .. }| RollingColumn {
            head: head.map(str::to_owned),
            width: 9,
            is_of_words: false,
        }));
        WatchLines { table: RollingTable::new(columns, width), has_names }
    }

    /// The line of a server that answered; `unix_s` is the second.
    pub fn line_of(
        &mut self,
        unix_s: u64,
        name: &str,
        values: &BTreeMap<&'static str, f64>,
    ) -> String {
        let mut texts = self.first_texts(unix_s, name);
        texts.extend(LIVE_COLUMNS.iter().map(|column| {
            let value = column.metrics.iter().find_map(|metric| values.get(metric));
            value.map_or(UNKNOWN.to_owned(), |value| figure(*value))
        }));
        self.table.next_row(&texts)
    }

    /// The line of a server of which there are no figures, and why.
    pub fn line_without_figures(&self, unix_s: u64, name: &str, why: &str) -> String {
        self.table.words_row(&self.first_texts(unix_s, name), why)
    }

    fn first_texts(&self, unix_s: u64, name: &str) -> Vec<String> {
        let mut texts = vec![time_of_day(unix_s)];
        texts.extend(self.has_names.then(|| name.to_owned()));
        texts
    }
}

fn word_column(head: &str, width: usize) -> RollingColumn {
    RollingColumn { head: [String::new(), head.to_owned()], width, is_of_words: true }
}

/// A time of day in UTC, as `13:04:07`.
fn time_of_day(unix_s: u64) -> String {
    let second = unix_s % SECONDS_PER_DAY;
    format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

/// What was seen of all servers, as a document.
pub fn watch_document(servers: &[WatchedServer]) -> Document {
    let mut document = Document::default();
    for server in servers {
        document.push(head_of(server));
        for class in MetricClass::ALL {
            let of_class = server.metrics.iter().filter(|metric| metric.lesson.class == class);
            let moved = of_class.filter(|metric| metric.most > 0.0);
            let table = DataTable::new(&metric_columns(), moved);
            if !table.is_empty() {
                let table = table.with_title(class.name()).titled_by_its_corner();
                document.push_below(vec![Element::Table(table)]);
            }
        }
        document.push_below(notes_of(server));
    }
    document
}

fn head_of(server: &WatchedServer) -> Vec<Element> {
    let version = server.version.as_deref().unwrap_or("a server that never answered");
    let mut text = format!(
        "{}: {version}, answered in {} of {} seconds",
        server.target, server.answers, server.looks
    );
    if server.restarts > 0 {
        let times = if server.restarts == 1 { "once" } else { "more than once" };
        text += &format!(", began anew {times}");
    }
    vec![Element::Headline(text.into())]
}

fn metric_columns() -> Vec<TableColumn<'static, WatchedMetric>> {
    vec![
        TableColumn::word_texts("metric", |metric: &WatchedMetric| metric.lesson.name.into()),
        TableColumn::number_texts("least", |metric: &WatchedMetric| figure(metric.least).into()),
        TableColumn::number_texts("median", |metric: &WatchedMetric| figure(metric.median).into()),
        TableColumn::number_texts("p95", |metric: &WatchedMetric| figure(metric.p95).into()),
        TableColumn::number_texts("most", |metric: &WatchedMetric| figure(metric.most).into()),
        TableColumn::word_texts("unit", |metric: &WatchedMetric| unit_of(metric.lesson).into()),
        TableColumn::word_texts("is", |metric: &WatchedMetric| metric.lesson.meaning.into()),
    ]
}

/// A number of things has no digits behind the point, and a rate has three digits.
fn figure(value: f64) -> String {
    if value.fract() == 0.0 { format_fixed(value, 0) } else { three_digits(value) }
}

/// In what a metric is told: counters are by the second.
fn unit_of(lesson: &MetricLesson) -> String {
    let fact = lesson.server_fact();
    match fact.kind {
        FactKind::Counter => format!("{}/s", fact.unit),
        FactKind::Gauge | FactKind::Each(..) => fact.unit.to_owned(),
    }
}

/// What is to be known of the figures.
fn notes_of(server: &WatchedServer) -> Vec<Element> {
    let zero = server.metrics.iter().filter(|metric| metric.most <= 0.0).count();
    let mut notes: Vec<Text> = Vec::new();
    if server.answers > 0 {
        notes.push(
            format!(
                "{} metrics are told, {zero} of them were 0 all the time and are left out; each \
                 look asks up to {} questions, which are among the statements of the server",
                server.metrics.len(),
                server.questions
            )
            .into(),
        );
    }
    for (question, seconds) in &server.rare {
        notes.push(
            format!(
                "asked each {seconds:.0} s and not each second, since the answer takes long: \
                 {}",
                foreign::truncate_text(question, QUESTION_SHOWN)
            )
            .into(),
        );
    }
    for (question, words) in &server.refusals {
        let question = foreign::truncate_text(question, QUESTION_SHOWN);
        notes.push(format!("not told: {words}; asked: {question}").into());
    }
    vec![Element::Notes(notes)]
}

#[derive(Serialize)]
struct WatchLineJson<'a> {
    schema: u32,
    unix_s: u64,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metrics: BTreeMap<&'static str, f64>,
}

/// What a server was in one second, as a line of JSON; `gone` says why it did not answer.
pub fn watch_line_json(
    unix_s: u64,
    server: &str,
    values: &BTreeMap<&'static str, f64>,
    gone: Option<&str>,
) -> String {
    let line = WatchLineJson { schema: SCHEMA, unix_s, server, gone, metrics: values.clone() };
    crate::json::json_line(&line)
}

#[cfg(test)]
mod tests {
    use dbdyno_document::terminal::{self, Colour, TextStyle};

    use super::*;

    fn lesson(name: &str) -> &'static MetricLesson {
        let all = dbdyno_model::metric_lessons::find_lessons(None);
        all.into_iter().find(|lesson| lesson.name == name).unwrap()
    }

    #[test]
    fn a_line_has_what_is_known_and_dashes_for_the_rest() {
        let names = ["a".to_owned(), "standby".to_owned()];
        let mut lines = WatchLines::new(&names, 60);
        let values = BTreeMap::from([("transactions", 12.5), ("commits", 5_432.0)]);
        assert_eq!(
            lines.line_of(1_785_000_007, "a", &values),
            "                    statements    commits   sessions\n\
             time, UTC  server           /s         /s    running\n\
             17:20:07   a                 —      5 432          —\n"
        );
        let gone = lines.line_without_figures(1_785_000_008, "standby", "gone: why");
        assert_eq!(gone, "17:20:08   standby  gone: why\n");
    }

    #[test]
    fn what_moved_is_told_by_class_with_what_it_means() {
        let metric = |name, most| {
            let (least, median, p95) = (0.0, most / 2.0, most);
            WatchedMetric { lesson: lesson(name), least, median, p95, most }
        };
        let server = WatchedServer {
            target: "db1:3306".to_owned(),
            version: Some("8.0.33".to_owned()),
            looks: 60,
            answers: 58,
            restarts: 1,
            questions: 6,
            refusals: vec![("SELECT 1".to_owned(), "Access denied".to_owned())],
            rare: vec![("SHOW ENGINE INNODB STATUS".to_owned(), 12.4)],
            metrics: vec![metric("statements", 900.0), metric("deadlocks", 0.0)],
        };
        let style = TextStyle { colour: Colour::Plain, width: 100 };
        let text = terminal::render_document(&watch_document(&[server]), &style);
        for part in [
            "db1:3306: 8.0.33, answered in 58 of 60 seconds, began anew once",
            "statements       0      450   900    900   statements/s   statements that clients sent",
            "2 metrics are told, 1 of them were 0",
            "asked each 12 s",
            "not told: Access denied; asked: SELECT 1",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("deadlocks"), "{text}");
    }

    #[test]
    fn a_line_of_json_says_what_is_known_or_why_nothing_is() {
        let values = BTreeMap::from([("commits", 5.0)]);
        assert_eq!(
            watch_line_json(7, "a", &values, None),
            "{\"schema\":1,\"unix_s\":7,\"server\":\"a\",\"metrics\":{\"commits\":5.0}}\n"
        );
        let gone = watch_line_json(8, "a", &BTreeMap::new(), Some("closed"));
        assert_eq!(gone, "{\"schema\":1,\"unix_s\":8,\"server\":\"a\",\"gone\":\"closed\"}\n");
    }
}
