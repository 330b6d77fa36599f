//! The JSON of speedscope, which many profilers write: py-spy, rbspy, dotnet-trace, Pyroscope.
//!
//! ```text
//!   {"$schema": "https://www.speedscope.app/file-format-schema.json",
//!    "shared": {"frames": [{"name": "main"}, {"name": "read"}]},
//!    "profiles": [{"type": "sampled", "unit": "seconds", "samples": [[0, 1]], "weights": [0.01]},
//!                 {"type": "evented", "unit": "seconds", "events": [{"type": "O", "frame": 0, …
//! ```
//!
//! A file has a profile for each thread as a rule: they are added up where they have one unit.
//! Samples are numbers of frames, the outermost first. What is evented is a trace: each function
//! has the time in which it was the innermost one.
//!
//! An event of a trace is a few bytes, and stands for a whole stack: a file that opens three
//! thousand functions one in the other and closes them again has nine million functions in its
//! stacks. There is a limit to what all stacks of a trace may have together, by the number of its
//! events.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::coverage::Coverage;
use super::form::{Form, MeasureUnit, ProfileError, ProfileMeasure, Weighing, check_weights};
use super::programs::Sighting;
use super::ruby::BlockLines;
use super::stack::WrittenNames;

/// Functions in the stacks of a trace for each of its events, in the mean: those of Java, which are
/// the deepest, have some hundred.
const DEPTH_MOST: usize = 512;
/// What a trace of any length may have in all.
const FRAMES_FREE: usize = 1 << 20;

/// Whether a text is of speedscope.
pub(super) fn is_of_speedscope(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("speedscope.app/file-format-schema.json")
}

#[derive(Deserialize)]
struct File {
    shared: SharedFrames,
    profiles: Vec<Profile>,
}

impl File {
    /// The names of frames by number, each written once, however often samples refer to it: a name
    /// may be written a hundred times as long as it stands. Those that nothing refers to are empty.
    fn written_names<'n>(
        &'n self,
        written: &'n mut WrittenNames,
    ) -> Result<Vec<Cow<'n, str>>, ProfileError> {
        let frames = &self.shared.frames;
        let mut is_used = vec![false; frames.len()];
        for number in self.profiles.iter().flat_map(Profile::frames) {
            if let Some(is_used) = is_used.get_mut(number as usize) {
                *is_used = true;
            }
        }
        let named = frames.iter().zip(is_used);
        let named = named.map(|(frame, is_used)| if is_used { frame.name.as_str() } else { "" });
        named.clone().for_each(|name| written.learn_name(name));
        match written.endless_names() {
            Some(error) => Err(error),
            None => Ok(named.map(|name| written.written_name(name)).collect()),
        }
    }
}

#[derive(Deserialize)]
struct SharedFrames {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    #[serde(rename = "type")]
    kind: ProfileKind,
    unit: String,
    samples: Option<Samples>,
    weights: Option<Vec<f64>>,
    events: Option<Vec<Event>>,
}

impl Profile {
    /// The numbers of the frames that it refers to.
    fn frames(&self) -> impl Iterator<Item = u32> {
        let sampled = self.samples.iter().flat_map(|samples| &samples.frames).copied();
        sampled.chain(self.events.iter().flatten().map(|event| event.frame))
    }
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ProfileKind {
    Sampled,
    Evented,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Kind,
    at: f64,
    frame: u32,
}

#[derive(Deserialize, PartialEq)]
enum Kind {
    #[serde(rename = "O")]
    Open,
    #[serde(rename = "C")]
    Close,
}

/// Numbers of frames, of all samples one behind the other: a list for each would be larger.
#[derive(Default)]
struct Samples {
    frames: Vec<u32>,
    /// Where each sample ends.
    ends: Vec<usize>,
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Samples, D::Error> {
        let mut all = Samples::default();
        reader.deserialize_seq(List(&mut all))?;
        Ok(all)
    }
}

/// The list of samples.
struct List<'a>(&'a mut Samples);

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of samples")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut samples: A) -> Result<(), A::Error> {
        while samples.next_element_seed(One(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// One sample.
struct One<'a>(&'a mut Samples);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers of frames")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut frames: A) -> Result<(), A::Error> {
        while let Some(frame) = frames.next_element()? {
            self.0.frames.push(frame);
        }
        self.0.ends.push(self.0.frames.len());
        Ok(())
    }
}

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        let what: String = what.chars().take(200).collect();
        ProfileError::new(
            error.line(),
            format!("this is no JSON of speedscope: {what}; write it anew"),
        )
    })?;
    let wrong = |what: String| ProfileError::new(0, what);
    let mut written = WrittenNames::with_block_lines(BlockLines::Untold);
    let names = file.written_names(&mut written)?;
    let names: Vec<&str> = names.iter().map(Cow::as_ref).collect();
    let mut units: Vec<&str> = file.profiles.iter().map(|one| one.unit.as_str()).collect();
    units.sort_unstable();
    units.dedup();
    if let [one, other, ..] = units[..] {
        return Err(wrong(format!(
            "it has profiles in {one:.20} and in {other:.20}, which cannot be added up; leave those of \
             one unit in the file"
        )));
    }
    let unit = units.first().copied().unwrap_or("none");
    let (times, measure) = match unit {
        "none" => (1.0, ProfileMeasure::UNTOLD),
        "nanoseconds" => (1.0, time()),
        "microseconds" => (1e3, time()),
        "milliseconds" => (1e6, time()),
        "seconds" => (1e9, time()),
        "bytes" => (1.0, ProfileMeasure::of_unit(MeasureUnit::Event, Some("bytes"))),
        other => return Err(wrong(format!("{other:.20} is no unit of speedscope"))),
    };
    let is_traced = file.profiles.iter().any(|one| one.kind == ProfileKind::Evented);
    let (count, mut sum) = (file.profiles.len(), 0.0);
    for (at, profile) in file.profiles.iter().enumerate() {
        let given = match (&profile.kind, &profile.samples, &profile.weights, &profile.events) {
            (ProfileKind::Sampled, Some(samples), Some(weights), _) => {
                sampled(samples, weights, &names, &mut *take, times)
            }
            (ProfileKind::Evented, _, _, Some(events)) => {
                evented(events, &names, &mut *take, times)
            }
            (ProfileKind::Sampled, ..) => Err("it has no samples or no weights".to_owned()),
            (ProfileKind::Evented, ..) => Err("it has no events".to_owned()),
        };
        let given = given.and_then(|weights| {
            sum += weights;
            check_weights(0, sum).map_err(|error| error.what)
        });
        given.map_err(|what| wrong(format!("profile {} of {count}: {what}", at + 1)))?;
    }
    Ok(Form {
        taken_for: format!("JSON of speedscope, {count} profiles in {unit}"),
        measure,
        weighing: if is_traced || unit != "none" { Weighing::Periods } else { Weighing::Counts },
        coverage: Coverage::WHOLE,
    })
}

fn time() -> ProfileMeasure {
    ProfileMeasure::of_unit(MeasureUnit::Event, Some("time"))
}

fn named<'n>(names: &[&'n str], frame: u32) -> Result<&'n str, String> {
    let name = names.get(frame as usize).copied();
    name.ok_or_else(|| format!("there is no frame {frame}; there are {}", names.len()))
}

/// Gives each sample, and returns what all of them weigh.
fn sampled(
    samples: &Samples,
    weights: &[f64],
    names: &[&str],
    take: &mut dyn FnMut(&Sighting<'_>),
    times: f64,
) -> Result<f64, String> {
    if samples.ends.len() != weights.len() {
        let (samples, weights) = (samples.ends.len(), weights.len());
        return Err(format!("{samples} samples have {weights} weights"));
    }
    let (mut stack, mut begin, mut sum) = (Vec::new(), 0, 0.0);
    for (&end, &weight) in samples.ends.iter().zip(weights) {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(format!("a weight is a number from 0, and one is {weight}"));
        }
        stack.clear();
        for &frame in &samples.frames[begin..end] {
            stack.push(named(names, frame)?);
        }
        begin = end;
        if !stack.is_empty() {
            take(&Sighting::new(&stack, weight * times));
            sum += weight * times;
        }
    }
    Ok(sum)
}

/// Gives each stack of a trace, and returns what all of them weigh.
fn evented(
    events: &[Event],
    names: &[&str],
    take: &mut dyn FnMut(&Sighting<'_>),
    times: f64,
) -> Result<f64, String> {
    let (mut stack, mut sum): (Vec<&str>, f64) = (Vec::new(), 0.0);
    let mut last = events.first().map_or(0.0, |event| event.at);
    let mut left = DEPTH_MOST.saturating_mul(events.len()).saturating_add(FRAMES_FREE);
    for event in events {
        let name = named(names, event.frame)?;
        if event.at < last || !event.at.is_finite() {
            return Err(format!("an event is at {}, and the one before it at {last}", event.at));
        }
        if !stack.is_empty() && event.at > last {
            left = left.checked_sub(stack.len()).ok_or_else(|| {
                format!(
                    "its {} events are of stacks with more than {DEPTH_MOST} functions in the mean; \
                     trace a shorter time, or give a profile that is sampled",
                    events.len()
                )
            })?;
            take(&Sighting::new(&stack, (event.at - last) * times));
            sum += (event.at - last) * times;
        }
        last = event.at;
        match event.kind {
            Kind::Open => stack.push(name),
            Kind::Close if stack.last() == Some(&name) => drop(stack.pop()),
            Kind::Close => return Err(format!("{name:.60} is closed, and another one is open")),
        }
    }
    match stack.last() {
        Some(open) => Err(format!("{open:.60} is opened and never closed")),
        None => Ok(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::read;
    use super::super::stack::WrittenNames;

    fn of(profiles: &str) -> String {
        format!(
            "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[{profiles}],\
             \"shared\":{{\"frames\":[{{\"name\":\"a\"}},{{\"name\":\"b\",\"line\":3}}]}}}}"
        )
    }

    /// What was sampled, and what was traced, tell the same.
    #[test]
    fn profiles_of_one_unit_are_added_up() {
        let sampled = "{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"milliseconds\",\
                       \"startValue\":0,\"endValue\":9,\"samples\":[[0],[0,1],[]],\"weights\":[2,4,3]}";
        let evented = "{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"milliseconds\",\
                       \"startValue\":0,\"endValue\":6,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},\
                       {\"type\":\"O\",\"frame\":1,\"at\":2},{\"type\":\"C\",\"frame\":1,\"at\":6},\
                       {\"type\":\"C\",\"frame\":0,\"at\":6}]}";
        let one = read(&of(sampled)).unwrap();
        assert_eq!((one.own["a"], one.own["b"], one.total), (2e6, 4e6, 6e6));
        assert_eq!(one.taken_for, "JSON of speedscope, 1 profiles in milliseconds");
        assert_eq!(read(&of(evented)).unwrap().own, one.own);
        let both = read(&of(&format!("{sampled},{evented}"))).unwrap();
        assert_eq!((both.own["b"], both.measure), (8e6, one.measure));
    }

    /// A trace that opens so many functions one in the other, and closes them again.
    fn nested(depth: usize) -> String {
        let event =
            |kind: &str, at: usize| format!("{{\"type\":\"{kind}\",\"frame\":0,\"at\":{at}}}");
        let opened = (0..depth).map(|at| event("O", at));
        let events: Vec<String> =
            opened.chain((depth..2 * depth).map(|at| event("C", at))).collect();
        of(&format!("{{\"type\":\"evented\",\"unit\":\"none\",\"events\":[{}]}}", events.join(",")))
    }

    /// How many functions all stacks have together, or what is wrong.
    fn functions_given(text: &str) -> (usize, Result<(), String>) {
        let mut given = 0;
        let read = super::each_stack(text, &mut |seen| given += seen.stack.len());
        (given, read.map(drop).map_err(|error| error.what))
    }

    /// Time goes by what is given: with the square of the events if there were no limit.
    #[test]
    fn stacks_of_a_trace_are_limited_by_its_events() {
        for depth in [10, 1_000] {
            assert_eq!(functions_given(&nested(depth)), (depth * depth, Ok(())));
        }
        let (given, read) = functions_given(&nested(3_000));
        assert!(given <= 6_000 * super::DEPTH_MOST + super::FRAMES_FREE, "{given}");
        assert!(read.unwrap_err().contains("6000 events are of stacks with more than 512"));
    }

    #[test]
    fn a_long_name_is_cut_once() {
        let text = of("{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0]],\"weights\":[1]}");
        let text = text.replace("\"a\"", &format!("\"{}\"", "a".repeat(9_000)));
        let mut longest = 0;
        let most = |names: &[&str]| names.iter().map(|name| name.len()).max().unwrap_or(0);
        super::each_stack(&text, &mut |seen| longest = longest.max(most(seen.stack))).unwrap();
        assert!((4_000..=4_096).contains(&longest), "{longest}");
    }

    /// A mangled name of some bytes may be written as one of some thousand.
    #[test]
    fn names_are_written_once_and_have_a_limit() {
        let names_of = |names: &[String], samples: &str| {
            let text = of(&format!(
                "{{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":{samples},\"weights\":[1]}}"
            ));
            let frames: Vec<String> =
                names.iter().map(|name| format!("{{\"name\":\"{name}\"}}")).collect();
            let text = text.replace("{\"name\":\"a\"}", &frames.join(","));
            let file: super::File = serde_json::from_str(&text).unwrap();
            let mut written = WrittenNames::with_bytes_at_most(1_000);
            let names = file.written_names(&mut written);
            names.map(|names| names[0].to_string()).map_err(|error| error.what)
        };
        let several: Vec<String> = (100..200).map(|at| format!("_ZN4name4f{at}Ev")).collect();
        let equal = vec![several[0].clone(); 100];
        let all = format!("[{:?}]", (0..100).collect::<Vec<_>>());
        assert_eq!(names_of(&several, "[[0]]").as_deref(), Ok("name::f100()"));
        assert_eq!(names_of(&equal, &all).as_deref(), Ok("name::f100()"));
        assert!(names_of(&several, &all).unwrap_err().contains("no program has"));
    }

    #[test]
    fn what_is_damaged_is_told() {
        let sampled = |unit: &str, samples: &str, weights: &str| {
            format!(
                "{{\"type\":\"sampled\",\"unit\":\"{unit}\",\"samples\":{samples},\"weights\":{weights}}}"
            )
        };
        let traced = |events: &str| {
            format!("{{\"type\":\"evented\",\"unit\":\"none\",\"events\":[{events}]}}")
        };
        let open = "{\"type\":\"O\",\"frame\":0,\"at\":1}";
        let closed = "{\"type\":\"C\",\"frame\":1,\"at\":2}";
        for (text, why) in [
            (sampled("none", "[[0]]", "[1,2]"), "1 samples have 2 weights"),
            (sampled("none", "[[7]]", "[1]"), "there is no frame 7; there are 2"),
            (sampled("none", "[[0]]", "[-1]"), "a number from 0"),
            (sampled("furlongs", "[[0]]", "[1]"), "no unit"),
            (sampled("none", "[[0]", "[1]"), "this is no JSON of speedscope"),
            (
                sampled("none", "[[0]]", "[1], \"weights\": [2]"),
                "this is no JSON of speedscope: duplicate field `weights`",
            ),
            (sampled("none", "[[0]]", "[1]") + "," + &sampled("bytes", "[]", "[]"), "added up"),
            ("{\"type\":\"sampled\",\"unit\":\"none\"}".to_owned(), "no samples or no weights"),
            ("{\"type\":\"evented\",\"unit\":\"none\"}".to_owned(), "it has no events"),
            (traced(open), "never closed"),
            (format!("{},{closed}", traced(open)), "this is no JSON"),
            (traced(&format!("{open},{closed}")), "b is closed"),
            (traced(&format!("{closed},{open}")), "b is closed"),
            (traced(""), "there is no stack"),
        ] {
            let error = read(&of(&text)).unwrap_err();
            assert!(error.what.contains(why), "{error}\n{text}");
        }
    }
}
