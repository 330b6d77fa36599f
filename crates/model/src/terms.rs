//! The terms of a plan: a row for each part of it that is one value.
//!
//! ```text
//!   TERMS                      ┌── a store     a column, or a text where it is not usual
//!     name · field · flag ─────┼── a command   that repeats a run
//!     usual: Plan::default()   ├── two runs    whether they are of equal shape
//!                              └── a history   facts that may have to do with a change
//! ```
//!
//! All of them walk the table, so that an option is a field in [`plan`](crate::plan), a row here
//! and a flag of the command line. Stages, client counts and custom loads are lists and have no
//! row.

use std::fmt;
use std::str::FromStr;

use crate::count::Counting;
use crate::driving::Driving;
use crate::foreign::is_nonprinting;
use crate::idle::Idle;
use crate::keep_memory::KeepMemory;
use crate::method::IntervalChoice;
use crate::pin::Pin;
use crate::plan::Plan;
use crate::shell::in_shell;
use crate::stopping::Stopping;

/// All terms, in the order in which they stand in a command.
pub const TERMS: &[Term] = &[
    term!(schedule.pairs).in_column().always("--rounds").count("pairs").fact(),
    term!(schedule.round_ns)
        .in_column()
        .always_as(|plan| format!("--seconds {}", plan.schedule.round_ns as f64 / 1e9))
        .amount("nanoseconds of a round")
        .of_shape("the length of a round (ns)")
        .fact(),
    term!(question.tables).in_column().always("--tables").count("tables").of_shape("--tables"),
    term!(question.rows).in_column().always("--rows").amount("rows").of_shape("--rows"),
    term!(question.seed).in_column().always("--seed").of_shape("--seed"),
    term!(rule.budget)
        .in_column()
        .always_as(|plan| format!("--budget {}%", plan.rule.budget * 100.0)),
    // Which processors are used, and whether they sleep, is half of a short statement.
    term!(quiet.pin).in_column().always("--pin").of_shape("--pin").fact(),
    term!(schedule.restarts).in_column().always("--restarts").count("restarts").fact(),
    term!(rule.stopping),
    term!(schedule.limit_ns),
    term!(quiet.idle).flag("--idle").of_shape("--idle").fact_where_unusual(),
    term!(quiet.keep_memory).flag("--keep-memory").fact_where_unusual(),
    term!(schedule.reloads).in_column().flag("--reloads").count("reloads"),
    term!(schedule.slice_ns)
        .in_column()
        .flag_as(|plan| match plan.schedule.slice_ns {
            0 => "--slice none".to_owned(),
            ns => format!("--slice {}ms", ns as f64 / 1e6),
        })
        .amount("nanoseconds of a slice"),
    term!(rule.interval).in_column().flag("--interval"),
    term!(question.driving).in_column().flag_as(driving).of_shape("the way of driving"),
    term!(question.counting).flag_as(|plan| match plan.question.counting {
        Counting::Only => "--count-only".to_owned(),
        Counting::No | Counting::Beside => "--count".to_owned(),
    }),
    // What changed around the servers, such as a kernel, is what a history is asked for.
    term!(question.note).flag("--note").fact_where_unusual(),
    term!(schedule.lead_in_ns).in_column().amount("nanoseconds before it"),
    term!(schedule.warm_up_ns).in_column().amount("nanoseconds of warming up"),
];

fn driving(plan: &Plan) -> String {
    match &plan.question.driving {
        Driving::Closed => String::new(),
        Driving::Thinking(think) => format!("--think {think}"),
        Driving::Open(arrivals) => format!("--rate '{arrivals}'"),
        Driving::Search(slo) => format!("--find-max '{slo}'"),
    }
}

/// The row of a field. What is not said of it is not so: it is stored as a text, other flags than
/// its own say it in a command, any number is possible, and runs may differ by it.
macro_rules! term {
    ($part:ident.$field:ident) => {
        Term {
            name: stringify!($field),
            is_column: false,
            flag: TermFlag::Other,
            when: CommandPlace::WhereUnusual,
            largest: LargestValue::Any,
            shape: None,
            fact: FactPlace::Never,
            value: |plan| TermField::value(&plan.$part.$field),
            read: |plan, text| {
                plan.$part.$field = TermField::read(text)?;
                Ok(())
            },
        }
    };
}
use term;

/// A value of a plan: what it is called, and who says it how.
#[derive(Clone, Copy)]
pub struct Term {
    /// The name of its field, which is that of its column or row in a store.
    pub name: &'static str,
    /// Whether it has a column in the row of a run; else it has a row of its own where it is not
    /// usual, so that runs of older programs are runs with usual values.
    pub is_column: bool,
    /// The largest value of a run that can be carried out.
    pub largest: LargestValue,
    /// What a user knows it by, where runs that differ by it cannot be compared.
    pub shape: Option<&'static str>,
    flag: TermFlag,
    when: CommandPlace,
    fact: FactPlace,
    value: fn(&Plan) -> TermValue,
    read: fn(&mut Plan, &str) -> Result<(), String>,
}

/// How a command says a term.
#[derive(Clone, Copy)]
enum TermFlag {
    /// By flags that are no value of the plan, such as `--detect` and `--quick`.
    Other,
    /// By this flag and its value.
    Plain(&'static str),
    /// In words of its own.
    Own(fn(&Plan) -> String),
}

/// When a term stands in a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandPlace {
    /// In each.
    Always,
    /// Where its value is not usual.
    WhereUnusual,
}

#[derive(Clone, Copy)]
enum FactPlace {
    Never,
    Always,
    WhereUnusual,
}

/// What a number of a plan may be at most; with it what is counted.
#[derive(Clone, Copy)]
pub enum LargestValue {
    /// Any number.
    Any,
    /// Of things of which a run has many.
    Count(&'static str),
    /// Of what adds up over a run.
    Amount(&'static str),
}

/// The value of a term.
#[derive(Clone, Debug, PartialEq)]
pub enum TermValue {
    /// None is given.
    Absent,
    /// A count, or nanoseconds.
    Number(u64),
    /// A part of 1.
    Share(f64),
    /// What its type reads back.
    Text(String),
}

/// As a store keeps it in a text, and as [`Term::read`] takes it.
impl fmt::Display for TermValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TermValue::Absent => Ok(()),
            TermValue::Number(number) => write!(f, "{number}"),
            TermValue::Share(share) => write!(f, "{share}"),
            TermValue::Text(text) => f.write_str(text),
        }
    }
}

impl Term {
    /// The term with this name.
    pub fn from_name(name: &str) -> Option<&'static Term> {
        TERMS.iter().find(|term| term.name == name)
    }

    /// Its value in a plan.
    pub fn value(&self, plan: &Plan) -> TermValue {
        (self.value)(plan)
    }

    /// Whether it has its usual value.
    pub fn is_usual(&self, plan: &Plan) -> bool {
        self.value(plan) == self.value(&Plan::default())
    }

    /// Gives a plan the value with this text.
    ///
    /// # Errors
    /// A sentence about a text that is no value of it.
    pub fn read(&self, plan: &mut Plan, text: &str) -> Result<(), String> {
        (self.read)(plan, text)
    }

    /// What the command that repeats a plan says of it: a flag and its value; `None` where nothing
    /// has to be said, or nothing in this place.
    pub(crate) fn in_command(&self, plan: &Plan, place: CommandPlace) -> Option<String> {
        if self.when != place || place == CommandPlace::WhereUnusual && self.is_usual(plan) {
            return None;
        }
        match self.flag {
            TermFlag::Other => None,
            TermFlag::Plain(flag) => {
                Some(format!("{flag} {}", in_shell(&self.value(plan).to_string())))
            }
            TermFlag::Own(words) => Some(words(plan)),
        }
    }

    /// Its value as a fact of a run, by which later runs may differ for another reason than the
    /// server; `None` where it is none.
    pub fn as_fact(&self, plan: &Plan) -> Option<String> {
        match self.fact {
            FactPlace::Never => None,
            FactPlace::WhereUnusual if self.is_usual(plan) => None,
            FactPlace::Always | FactPlace::WhereUnusual => Some(self.value(plan).to_string()),
        }
    }

    const fn in_column(self) -> Term {
        Term { is_column: true, ..self }
    }

    const fn flag(self, flag: &'static str) -> Term {
        Term { flag: TermFlag::Plain(flag), ..self }
    }

    const fn flag_as(self, words: fn(&Plan) -> String) -> Term {
        Term { flag: TermFlag::Own(words), ..self }
    }

    const fn always(self, flag: &'static str) -> Term {
        Term { when: CommandPlace::Always, ..self.flag(flag) }
    }

    const fn always_as(self, words: fn(&Plan) -> String) -> Term {
        Term { when: CommandPlace::Always, ..self.flag_as(words) }
    }

    const fn count(self, what: &'static str) -> Term {
        Term { largest: LargestValue::Count(what), ..self }
    }

    const fn amount(self, what: &'static str) -> Term {
        Term { largest: LargestValue::Amount(what), ..self }
    }

    const fn of_shape(self, known_as: &'static str) -> Term {
        Term { shape: Some(known_as), ..self }
    }

    const fn fact(self) -> Term {
        Term { fact: FactPlace::Always, ..self }
    }

    const fn fact_where_unusual(self) -> Term {
        Term { fact: FactPlace::WhereUnusual, ..self }
    }
}

/// The type of a field that a term stands for.
trait TermField: Sized {
    fn value(&self) -> TermValue;
    fn read(text: &str) -> Result<Self, String>;
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is no number, or a larger one than there can be"))
}

fn text_of(field: &impl fmt::Display) -> TermValue {
    TermValue::Text(field.to_string())
}

/// Of a text that a user wrote.
const TEXT_MOST: usize = 200;

/// A line of text without characters that steer.
///
/// # Errors
/// A sentence that says what is wanted.
pub fn line_of_text(text: &str) -> Result<String, String> {
    if text.chars().any(is_nonprinting) || text.chars().count() > TEXT_MOST {
        return Err(format!("write one line of at most {TEXT_MOST} characters that can be seen"));
    }
    Ok(text.to_owned())
}

/// Types of fields: which value each is, and what reads its text.
macro_rules! term_fields {
    ($($name:ty: $value:expr, $read:expr;)+) => {
        $(impl TermField for $name {
            fn value(&self) -> TermValue {
                $value(self)
            }

            fn read(text: &str) -> Result<$name, String> {
                $read(text)
            }
        })+
    };
}

term_fields! {
    u32: |field: &u32| TermValue::Number(u64::from(*field)), number;
    u64: |field: &u64| TermValue::Number(*field), number;
    Option<u64>: |field: &Option<u64>| field.map_or(TermValue::Absent, TermValue::Number),
        |text| number(text).map(Some);
    f64: |field: &f64| TermValue::Share(*field), number;
    String: text_of, line_of_text;
    Counting: text_of, str::parse;
    Driving: text_of, str::parse;
    Idle: text_of, str::parse;
    IntervalChoice: text_of, str::parse;
    KeepMemory: text_of, str::parse;
    Pin: text_of, str::parse;
    Stopping: text_of, str::parse;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plan::{JudgingRule, Question, Quiet, RoundSchedule};

    /// Each value of it is another one than the usual.
    fn unusual() -> Plan {
        let usual = Question::default();
        Plan {
            arms: crate::arms::Arms::default(),
            question: Question {
                driving: "think 8s..12s".parse().unwrap(),
                tables: 4,
                rows: 100_000,
                seed: u64::MAX,
                counting: Counting::Only,
                note: "kernel 6.8, it's new".to_owned(),
                ..usual
            },
            schedule: RoundSchedule {
                pairs: 500,
                restarts: 23,
                reloads: 2,
                round_ns: 200_000_000,
                slice_ns: 0,
                lead_in_ns: 1,
                warm_up_ns: 2,
                limit_ns: Some(3),
            },
            rule: JudgingRule {
                budget: 0.1,
                interval: "robust".parse().unwrap(),
                stopping: "decided 18 48".parse().unwrap(),
            },
            quiet: Quiet {
                pin: "clients=0,5-9/servers=511".parse().unwrap(),
                idle: Idle::Poll,
                keep_memory: KeepMemory::Never,
            },
        }
    }

    /// What is not in the table is not stored, and its plan does not come back.
    #[test]
    fn a_plan_is_its_terms_and_its_lists() {
        let (usual, unusual) = (Plan::default(), unusual());
        let mut read = Plan::default();
        for term in TERMS {
            assert!(term.is_usual(&usual) && !term.is_usual(&unusual), "{}", term.name);
            term.read(&mut read, &term.value(&unusual).to_string()).unwrap();
        }
        assert_eq!(read, unusual);
        let names: BTreeSet<&str> = TERMS.iter().map(|term| term.name).collect();
        assert_eq!(names.len(), TERMS.len(), "a name stands for one term");
    }

    #[test]
    fn a_text_that_is_no_value_is_told() {
        for term in TERMS {
            let told = term.read(&mut Plan::default(), "be\ntween").unwrap_err();
            assert!(!told.is_empty(), "{}", term.name);
        }
        let pairs = Term::from_name("pairs").unwrap();
        let told = pairs.read(&mut Plan::default(), "5000000000").unwrap_err();
        assert!(told.contains("a larger one than there can be"), "{told}");
    }

    /// A command says what differs, and always what people look for in it.
    #[test]
    fn what_is_usual_is_left_out_of_a_command() {
        let of = |plan: &Plan, place| -> Vec<String> {
            TERMS.iter().filter_map(|term| term.in_command(plan, place)).collect()
        };
        let usual = of(&Plan::default(), CommandPlace::Always);
        assert_eq!(
            usual.join(" "),
            "--rounds 1 --seconds 1 --tables 1 --rows 1000000 --seed 1 --budget 2% --pin auto \
             --restarts 0"
        );
        assert_eq!(of(&Plan::default(), CommandPlace::WhereUnusual), Vec::<String>::new());
        assert_eq!(
            of(&unusual(), CommandPlace::WhereUnusual).join(" "),
            "--idle poll --keep-memory never --reloads 2 --slice none --interval robust --think \
             8s..12s --count-only --note 'kernel 6.8, it'\\''s new'"
        );
    }
}
