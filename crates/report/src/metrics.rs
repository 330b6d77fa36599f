//! The dictionary of metrics, for people and for programs: what each one is, what moves it, and
//! where it stands in servers.

use dbdyno_document::{Document, Element, LabelledItem, Text};
use dbdyno_model::metric_lessons::{MetricClass, MetricLesson};
use dbdyno_model::server_facts::FactKind;
use serde::Serialize;

/// Version of the JSON; raised when a name changes its meaning.
const SCHEMA: u32 = 1;

/// How much is told of each metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricExtent {
    /// Its name, and what it is.
    List,
    /// All of it.
    Lessons,
}

/// Metrics as a document, by class.
pub fn metrics_document(lessons: &[&MetricLesson], extent: MetricExtent) -> Document {
    let mut document = Document::default();
    let width = lessons.iter().map(|lesson| lesson.name.len()).max().unwrap_or(0) + 2;
    for class in MetricClass::ALL {
        let of_class: Vec<&MetricLesson> =
            lessons.iter().copied().filter(|lesson| lesson.class == class).collect();
        if of_class.is_empty() {
            continue;
        }
        match extent {
            MetricExtent::List => {
                let items = of_class
                    .iter()
                    .map(|lesson| LabelledItem::new(lesson.meaning).with_label(lesson.name, width));
                let heading = Element::Title(class.name().into());
                document.push(vec![heading, Element::Items(items.collect())]);
            }
            MetricExtent::Lessons => {
                of_class.into_iter().for_each(|lesson| document.push(lesson_elements(lesson)));
            }
        }
    }
    document
}

fn lesson_elements(lesson: &MetricLesson) -> Vec<Element> {
    let fact = lesson.server_fact();
    let unit = if fact.unit.is_empty() { String::new() } else { format!(" in {}", fact.unit) };
    let title =
        format!("{}: {}, {}{unit}", lesson.name, lesson.class.name(), fact.kind.kind_word());
    let mut terms: Vec<(Text, Text)> =
        vec![("is".into(), lesson.meaning.into()), ("moved by".into(), lesson.movers.into())];
    if let FactKind::Each(one, of) = fact.kind {
        terms.push(("made of".into(), format!("{one} ÷ {of}").into()));
    }
    for source in fact.sources {
        let families: Vec<&str> = source.product_families().iter().map(|of| of.name()).collect();
        let place = format!("{}: {}", source.releases_text(), source.place);
        terms.push((families.join(", ").into(), place.into()));
    }
    vec![Element::Title(title.into()), Element::Terms(terms)]
}

#[derive(Serialize)]
struct MetricsJson<'a> {
    schema: u32,
    metrics: Vec<MetricJson<'a>>,
}

#[derive(Serialize)]
struct MetricJson<'a> {
    name: &'a str,
    class: &'a str,
    kind: &'a str,
    unit: &'a str,
    meaning: &'a str,
    movers: &'a str,
    places: Vec<PlaceJson>,
}

#[derive(Serialize)]
struct PlaceJson {
    families: Vec<&'static str>,
    releases: String,
    place: String,
}

/// Metrics as JSON.
pub fn metrics_json(lessons: &[&'static MetricLesson]) -> String {
    let metrics = lessons.iter().map(|lesson| MetricJson::new(lesson)).collect();
    crate::json::json_text(&MetricsJson { schema: SCHEMA, metrics })
}

impl MetricJson<'static> {
    fn new(lesson: &'static MetricLesson) -> MetricJson<'static> {
        let fact = lesson.server_fact();
        let places = fact.sources.iter().map(|source| PlaceJson {
            families: source.product_families().iter().map(|product| product.name()).collect(),
            releases: source.releases_text(),
            place: source.place.to_string(),
        });
        MetricJson {
            name: lesson.name,
            class: lesson.class.name(),
            kind: fact.kind.kind_word(),
            unit: fact.unit,
            meaning: lesson.meaning,
            movers: lesson.movers,
            places: places.collect(),
        }
    }
}
