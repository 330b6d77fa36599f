//! What the text of a profile is, and what its weights count.

use std::fmt;

use super::coverage::Coverage;

/// A line that is no stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// Which line, from 1; 0: the whole file.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

impl ProfileError {
    pub(super) fn new(line: usize, what: impl Into<String>) -> ProfileError {
        ProfileError { line, what: what.into() }
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

impl std::error::Error for ProfileError {}

/// All weights of a profile together, at most: a thousand processors have not so many cycles in a
/// million years, and what is made of sums is still a number.
const WEIGHTS_MOST: f64 = 1e30;

/// Looks at what all weights up to a line have together; 0: those of the whole file.
///
/// # Errors
/// It is more than any program has, or no number.
pub(super) fn check_weights(line: usize, sum: f64) -> Result<(), ProfileError> {
    if sum <= WEIGHTS_MOST {
        return Ok(());
    }
    let what = format!(
        "weights add up to more than {WEIGHTS_MOST:e}, which no program has; give what the tool \
         has printed"
    );
    Err(ProfileError::new(line, what))
}

/// What a text was taken for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Form {
    /// In words: `gdb backtraces, 3 samples of 41 threads`.
    pub(super) taken_for: String,
    pub(super) measure: ProfileMeasure,
    pub(super) weighing: Weighing,
    pub(super) coverage: Coverage,
}

/// What the weights of a profile count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileMeasure {
    /// What one of it is.
    pub unit: MeasureUnit,
    /// Of which event, where it is told: `cycles`.
    pub event: Option<String>,
    /// In which code.
    pub part: CodePart,
    /// Microseconds from one sample to the next one of a processor that works, as their times have
    /// it; absent where weights tell more, or nothing does.
    pub gap_us: Option<u32>,
}

/// Where an event is counted. Whoever is no root counts that of his program alone
/// (`perf_event_paranoid`), and perf says so behind a colon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodePart {
    /// Everywhere, or the text does not say where.
    #[default]
    Whole,
    /// `cycles:u`
    User,
    /// `cycles:k`
    Kernel,
}

impl CodePart {
    /// Of an event as perf writes it: `cycles:uppp`.
    pub(super) fn of_event(event: &str) -> CodePart {
        let event = event.trim().trim_matches('\'').trim_end_matches(':');
        let restricted = event.rsplit_once(':').map_or("", |(_, end)| end);
        match [restricted.contains('u'), restricted.contains('k')] {
            _ if restricted.bytes().any(|byte| !byte.is_ascii_alphabetic()) => CodePart::Whole,
            [true, false] => CodePart::User,
            [false, true] => CodePart::Kernel,
            _ => CodePart::Whole,
        }
    }

    /// Of both together.
    pub(super) fn union_with(self, other: CodePart) -> CodePart {
        if self == other { self } else { CodePart::Whole }
    }
}

/// What a weight of 1 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureUnit {
    /// What the tool has counted, which the text does not tell.
    Untold,
    /// A sample.
    Sample,
    /// An event, as a cycle.
    Event,
    /// A nanosecond, of a processor or of waiting.
    Nanosecond,
    /// A thread that was looked at, whether it worked or waited.
    Thread,
    /// Nothing by itself: only shares are told.
    Share,
}

/// How a line begins above collapsed stacks that tells what they count: `# event: cycles`.
pub const EVENT_LINE: &str = "# event: ";
/// How a line begins above collapsed stacks that tells how many samples all of them have:
/// `# samples: 12000`.
pub const SAMPLES_LINE: &str = "# samples:";
/// How a line begins above collapsed stacks whose counts are samples, which tells how many events a
/// sample stands for, of a clock nanoseconds: `# period: 10101010`.
pub const PERIOD_LINE: &str = "# period:";
/// The time that threads had no processor.
pub(super) const OFF_CPU: &str = "off-CPU time";
/// The same of stacks that say where threads were, and not what is counted.
pub(super) const WAITS: &str = "waits off the CPU";
/// The time of threads, whether they work or wait.
pub(super) const WALL: &str = "wall-clock time of threads";
/// The time of a processor, by whatever clock it was sampled.
pub(super) const PROCESSOR: &str = "processor time";
/// What was given by an allocator.
pub(super) const ALLOCATIONS: &str = "allocations";

/// What is counted by a clock that ticks at events which are not named.
pub(super) const EVENTS: &str = "events";
/// Times between samples of one rate differ by no more than this.
const GAPS_ALIKE: f64 = 1.2;

/// What perf counts in periods of an event: those of its clocks are nanoseconds.
pub(super) fn unit_of_periods(event: &str) -> MeasureUnit {
    match event {
        "cpu-clock" | "task-clock" | "offcpu-time" => MeasureUnit::Nanosecond,
        _ => MeasureUnit::Event,
    }
}

/// What an event counts, in words, where it is one of those that go by several names.
fn counted(event: &str) -> &str {
    match event {
        "cpu" | "cpu-clock" | "task-clock" => PROCESSOR,
        "wall" | "wall-clock" => WALL,
        off_cpu if lowercase_letters(off_cpu).starts_with("offcpu") => OFF_CPU,
        other => other,
    }
}

/// The letters of a name in lower case: `offcputime` of `off-CPU time`.
pub(super) fn lowercase_letters(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphabetic);
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Whether an event has an amount of its own each time, as a wait has a time and an allocation
/// bytes, so that sums of it tell no number of samples.
pub(super) fn is_amount(event: &str) -> bool {
    let event = lowercase_letters(event);
    ["offcpu", "alloc", "bytes", "wait", "delay", "block", "contention"]
        .iter()
        .any(|word| event.contains(word))
}

impl ProfileMeasure {
    /// Of a text that does not tell what it counts.
    pub(super) const UNTOLD: ProfileMeasure = ProfileMeasure {
        unit: MeasureUnit::Untold,
        event: None,
        part: CodePart::Whole,
        gap_us: None,
    };

    pub(super) fn of_unit(unit: MeasureUnit, event: Option<&str>) -> ProfileMeasure {
        let event = event.filter(|event| !event.is_empty()).map(counted);
        let event = event.map(str::to_owned);
        ProfileMeasure { unit, event, part: CodePart::Whole, gap_us: None }
    }

    pub(super) fn with_part(self, part: CodePart) -> ProfileMeasure {
        ProfileMeasure { part, ..self }
    }

    pub(super) fn with_gap(self, gap_us: Option<u32>) -> ProfileMeasure {
        ProfileMeasure { gap_us, ..self }
    }

    /// Whether a weight of 1 is as much in both, as far as that is told.
    pub(super) fn is_weighed_as(&self, other: &ProfileMeasure) -> bool {
        let are_alike = match (self.gap_us, other.gap_us) {
            (Some(one), Some(another)) => {
                f64::from(one.max(another)) <= GAPS_ALIKE * f64::from(one.min(another))
            }
            _ => true,
        };
        self.unit == other.unit && are_alike
    }

    fn is_off_cpu(&self) -> bool {
        self.event.as_deref().is_some_and(|event| event == OFF_CPU || event == WAITS)
    }

    /// Whether threads that wait are among what is counted.
    pub(super) fn has_waits(&self) -> bool {
        let is_wall = self.event.as_deref() == Some(WALL);
        self.unit == MeasureUnit::Thread || self.is_off_cpu() || is_wall
    }

    /// For people: `cycles`, `threads, waiting or not`.
    pub(super) fn name(&self) -> String {
        match (self.unit, &self.event) {
            (MeasureUnit::Thread, _) => "threads, working or waiting".to_owned(),
            (_, Some(event)) => match self.part {
                CodePart::Whole => event.clone(),
                // Whoever waits waits in the kernel, whatever stack is shown of it.
                CodePart::User if self.is_off_cpu() => format!("{event} by user stacks alone"),
                CodePart::Kernel if self.is_off_cpu() => format!("{event} by kernel stacks alone"),
                CodePart::User => format!("{event} of user code alone"),
                CodePart::Kernel => format!("{event} of the kernel alone"),
            },
            (MeasureUnit::Untold | MeasureUnit::Sample, None) => "samples".to_owned(),
            (MeasureUnit::Event, None) => "events".to_owned(),
            (MeasureUnit::Nanosecond, None) => "time".to_owned(),
            (MeasureUnit::Share, None) => "shares".to_owned(),
        }
    }

    /// Whether two profiles count different things, so that nothing follows from comparing them.
    pub(super) fn is_incomparable_with(&self, other: &ProfileMeasure) -> bool {
        let is_of_threads = |one: &ProfileMeasure| one.unit == MeasureUnit::Thread;
        let is_untold = |one: &ProfileMeasure| one.unit == MeasureUnit::Untold;
        if self.is_off_cpu() || other.is_off_cpu() {
            return self.is_off_cpu() != other.is_off_cpu() || self.part != other.part;
        }
        match (&self.event, &other.event) {
            (Some(one), Some(theirs)) => one != theirs || self.part != other.part,
            _ => {
                is_of_threads(self) != is_of_threads(other) && !is_untold(self) && !is_untold(other)
            }
        }
    }
}

/// How many samples weights stand for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Weighing {
    /// One for each of these.
    Unit(f64),
    /// As many of one weight as would say as much: Kish, *Survey Sampling*, 1965.
    Periods,
    /// One for each of a weight where they look like counts, else untold; see [`super::counts`].
    Counts,
    /// Weights are sums of amounts, as times and bytes: how many samples they stand for is untold.
    Untold,
}

/// An event without what it is restricted to: `cycles` of `cycles:u`.
pub(super) fn plain_event(event: &str) -> &str {
    let event = event.trim().trim_matches('\'').trim_end_matches(':');
    event
        .rsplit_once(':')
        .filter(|(_, end)| end.bytes().all(|b| b.is_ascii_alphabetic()))
        .map_or(event, |(event, _)| event)
}

/// Why two events in one file are refused.
pub(super) fn two_events(line: usize, first: &str, other: &str) -> ProfileError {
    ProfileError::new(
        line,
        format!(
            "samples of two events, {first} and {other}, cannot be added up; leave those of one in \
             the file"
        ),
    )
}
