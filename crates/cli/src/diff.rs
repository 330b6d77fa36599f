//! `dbdyno diff`: in what two servers, or the arms of stored runs, are unequal.
//!
//! ```text
//!   BASE TEST, servers   set up as `compare` does, looked at, taken down; nothing is measured
//!   RUN                  the two arms of a stored run, its cells included
//!   RUN RUN              their test arms, as `compare` compares them
//!   --rules              the rules themselves
//! ```

use std::path::PathBuf;

use dbdyno_document::markdown;
use dbdyno_lab::Lab;
use dbdyno_model::{
    ArmIndex, ArmSpec, Arms, Audit, Comparison, Environment, JudgingRule, Pairing, PerArm, Pin,
    Plan, PlanStability, Question, Quiet, RoundSchedule,
};
use dbdyno_report::{Extent, Plans, difference_document, difference_json};

use crate::args::{Format, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::loads::{self, LoadChoice};
use crate::progress::Ticker;
use crate::values::{Side, read_side};
use crate::{arms, login, output, session};

/// The flags of `dbdyno diff`; what it does is said where the command is defined.
#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// A server, or a stored run: @last, @NAME or the beginning of an id
    #[arg(value_name = "BASE", required_unless_present = "rules")]
    pub base: Option<String>,
    /// A server, or a stored run, of which the test arm is used; without TEST, the two arms of the
    /// run BASE are compared
    #[arg(value_name = "TEST")]
    pub test: Option<String>,
    /// Also make the tables of these loads, and compare their plans and answers
    #[arg(long, value_delimiter = ',')]
    pub load: Vec<String>,
    /// File that describes a load, which --load can then name
    #[arg(long, value_name = "FILE.toml")]
    pub load_file: Vec<PathBuf>,
    /// Tables of each arm
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(1..=2_000_000_000))]
    pub rows: u64,
    /// Also take N new samples of the optimizer's statistics on each server that dbdyno starts, and
    /// count how often a plan changes
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          requires = "load", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub samples: u32,
    /// Also show differences without a rule
    #[arg(long)]
    pub all: bool,
    /// Show the rules: what each compares, its weight, and its source
    #[arg(long, conflicts_with_all = ["base", "test"])]
    pub rules: bool,
    /// Output format: text, json or markdown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Shows the difference.
pub(crate) fn run(place: &Place, flags: &Diff) -> Result<Exit, Failure> {
    let Some(base) = &flags.base else {
        return rules(flags.format);
    };
    let base = read_side("BASE", base)?;
    let test = flags.test.as_deref().map(|test| read_side("TEST", test)).transpose()?;
    match (base, test) {
        (Side::Server(base), Some(Side::Server(test))) => {
            let (facts, audit, labels) = servers(place, flags, PerArm { base, test })?;
            let firmness = dbdyno_explain::plan_stability(&facts.as_ref());
            show(&audit, &labels, &firmness, flags)
        }
        (Side::Stored(base), None) => {
            let store = session::open_store(place)?;
            let pair = arms::load_pair(&store, &base)?;
            shown(&dbdyno_judge::compare_run(pair.as_run_pair())?, flags)
        }
        (Side::Stored(base), Some(Side::Stored(test))) => {
            let store = session::open_store(place)?;
            let (base, test) = (arms::load_pair(&store, &base)?, arms::load_pair(&store, &test)?);
            let (base, test) = (base.as_run_pair(), test.as_run_pair());
            shown(&dbdyno_judge::compare_stored(base, test, test.plan().rule.budget)?, flags)
        }
        _ => Err(Failure::Usage(
            "BASE and TEST must both be servers or both be stored runs; BASE alone is a stored run"
                .to_owned(),
        )),
    }
}

fn rules(format: Format) -> Result<Exit, Failure> {
    match format {
        Format::Text => {
            let told = dbdyno_audit::all_rules().into_iter().map(|rule| {
                let learnt = rule.sources.iter();
                let learnt = learnt.flat_map(|source| [source.title(), source.place()]);
                let learnt = learnt.collect::<Vec<&str>>().join("\n            ");
                format!(
                    "{}: {}; of two releases {}\n  looks at  {}\n  means     {}\n  learnt    {learnt}\n",
                    rule.key, rule.weight, rule.of_release, rule.looks_at, rule.advice
                )
            });
            let told = told.collect::<Vec<String>>().join("\n");
            output::print(&output::lines(told))?;
        }
        Format::Markdown => output::print(&dbdyno_audit::rules_as_markdown())?,
        Format::Json | Format::Csv => {
            return Err(Failure::Usage(
                "--rules has no shape for programs; take --format text or markdown".to_owned(),
            ));
        }
    }
    Ok(Exit::Holds)
}

fn shown(comparison: &Comparison, flags: &Diff) -> Result<Exit, Failure> {
    if flags.samples > 0 {
        return Err(Failure::Usage(
            "--samples is taken of servers that dbdyno starts; a stored run has none".to_owned(),
        ));
    }
    show(&comparison.audit, &comparison.labels, &[], flags)
}

fn show(
    audit: &Audit,
    labels: &PerArm<String>,
    firmness: &[PlanStability],
    flags: &Diff,
) -> Result<Exit, Failure> {
    let extent = if flags.all { Extent::All } else { Extent::WhatMatters };
    let changed = dbdyno_explain::all_plan_changes(audit);
    let plans = Plans { changed: &changed, firmness };
    output::print(&match flags.format {
        Format::Text => output::plain_text(&difference_document(audit, labels, plans, extent)),
        Format::Markdown => {
            markdown::render_document(&difference_document(audit, labels, plans, extent))
        }
        Format::Json => difference_json(audit, labels, plans),
        Format::Csv => {
            return Err(Failure::Usage(
                "--format csv has no shape for a difference; take text, json or markdown"
                    .to_owned(),
            ));
        }
    })?;
    Ok(Exit::Holds)
}

fn servers(
    place: &Place,
    flags: &Diff,
    mut arms: PerArm<ArmSpec>,
) -> Result<(PerArm<Environment>, Audit, PerArm<String>), Failure> {
    login::fill_login(&mut arms.base)?;
    login::fill_login(&mut arms.test)?;
    let LoadChoice { stages, files, .. } = if flags.load.is_empty() {
        LoadChoice { stages: Vec::new(), files: Vec::new(), step_seconds: None }
    } else {
        loads::choose_loads(&flags.load, &flags.load_file, None)?
    };
    let plan = Plan {
        arms: Arms::from([arms.base, arms.test]),
        question: Question {
            stages,
            tables: flags.tables,
            rows: flags.rows,
            files,
            ..Question::default()
        },
        schedule: RoundSchedule { round_ns: 1, slice_ns: 0, ..RoundSchedule::default() },
        rule: JudgingRule { budget: 0.0, ..JudgingRule::default() },
        quiet: Quiet { pin: Pin::None, ..Quiet::default() },
    };
    let home = session::open_home(place)?;
    let mut store = session::open_own_store(place)?;
    let stop = session::stop_flag();
    let mut ticker = Ticker::new();
    let clock = session::clock(&plan, &store, 0)?;
    let mut lab = Lab { home: &home, store: &mut store, stop: &stop, watch: &mut ticker, clock };
    let facts = dbdyno_lab::survey_arms(&mut lab, &plan, flags.samples)?;
    drop(ticker);
    let facts = PerArm::from_fn(|arm| facts[ArmIndex::from(arm)].clone());
    let arms = plan.pair_specs(Pairing::USUAL);
    let audit = dbdyno_audit::audit_arms(&arms, &facts.as_ref());
    let labels =
        PerArm::from_fn(|arm| format!("{} ({})", arms[arm], facts[arm].get("server.version")));
    Ok((facts, audit, labels))
}
