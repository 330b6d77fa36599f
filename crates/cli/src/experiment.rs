//! `dbdyno run`: an experiment from a file.
//!
//! ```text
//!   question = "…"            in words
//!   source = "…"              who says so, and where
//!   base = "engine:?…"        the arms; more than two: arms = ["engine:?…", "engine:?…", …]
//!   test = "engine:?…"
//!   flags = { load = "…", clients = [1, 8], quick = true }      those of `dbdyno compare`
//!   quick = { rows = 200000, limit = "20m" }      those that differ in the file's own short form,
//!                                                 which `dbdyno run FILE --quick` asks for
//!   found = "…"               what was found when it was run last, in words
//!
//!   [[expect]]                written before it was run
//!   what = "activations / commits"
//!   sign = "less"
//!   why = "…"
//!
//!   causes = ["innodb_page_size"]    instead, or as well: what `dbdyno explain` must name
//!
//!   [[published]]             instead, or as well: what a text printed (`crate::printed`)
//! ```
//!
//! What the flags may be is said once, where `compare` has them: the file is turned into its
//! command line. A null result is a result; what it would need to see more stands in `found`.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Parser as _;
use dbdyno_document::terminal;
use dbdyno_judge::RunFigures;
use dbdyno_model::experiment::{Expectation, RoundFigure, Sign};
use dbdyno_model::published::FigureStanding;
use dbdyno_model::{
    ArmIndex, ArmSpec, Arrivals, Cell, Comparison, RateShape, Run, RunPair, RunStatus,
};
use dbdyno_store::Store;
use dbdyno_workload::FileError;
use dbdyno_workload::file::{FileEntry, FileSection, Source};

use crate::args::{Compare, Place, RunFile, ToldFormat};
use crate::command_line::{Args, Command};
use crate::exit::Exit;
use crate::explanation::{self, Extent};
use crate::failure::Failure;
use crate::origin::Wishes;
use crate::printed::{self, PrintedQuestion, PublishedFigures};
use crate::values::{Side, read_side};
use crate::{arms as arms_of, compare, loads, output, screen, session};

/// An experiment, read.
#[derive(Debug)]
pub(crate) struct Experiment {
    question: String,
    source: String,
    arms: Vec<String>,
    flags: Vec<(String, String)>,
    /// Flags that come before the others where the short form is asked for; none if the file has
    /// no short form of its own.
    quick: Option<Vec<(String, String)>>,
    pub expectations: Vec<Expectation>,
    /// What an explanation must name, if there is to be one.
    causes: Option<Vec<String>>,
    /// What a text printed of the same question.
    pub published: PublishedFigures,
}

/// Carries the experiment out.
pub(crate) fn run(place: &Place, flags: &RunFile) -> Result<Exit, Failure> {
    let experiment = read(&flags.file)?;
    let by_hand: Vec<String> = flags.flags.iter().filter(|flag| *flag != TRUST).cloned().collect();
    let (own, compare) = command_line(&flags.file, &experiment, &by_hand)?;
    // What stands behind the file is read with its flags, and is meant for the whole command.
    let place = &if is_placed(&by_hand) { own } else { place.clone() };
    let arms = experiment.arms(&flags.file)?;
    let is_trusted = flags.trust_experiment || by_hand.len() < flags.flags.len();
    experiment.wishes(&flags.file, &by_hand, &arms)?.require_trust(is_trusted)?;
    output::say_text(&format!("asks   {}", experiment.question));
    output::say_text(&format!("source {}", experiment.source));
    let again = std::iter::once(format!("dbdyno run {}", flags.file.display()));
    let again: Vec<String> = again.chain(flags.flags.iter().cloned()).collect();
    let (mut store, run) = compare::measure_arms(place, &compare, arms, |_| again.join(" "))?;
    let shown = compare::present_run(
        &mut store,
        &run,
        compare.report.as_deref(),
        compare.gate,
        &compare.told,
    )?;
    // A gate that was asked for has to hold as well.
    let is_shut = compare.gate.is_some() && shown != Exit::Holds;
    if run.status == RunStatus::Interrupted || is_shut {
        return Ok(shown);
    }
    let mut exits = Vec::new();
    if !experiment.published.tables.is_empty() {
        let judged = &mut RunFigures::of_run(&run);
        let question = experiment.printed_question(&flags.file);
        let all = [question.held_against(&run, judged, Vec::new())?];
        let style = screen::text_style(compare.told.output_shape().color);
        let text = terminal::render_document(&dbdyno_report::published_document(&all), &style);
        output::say_styled(&format!("\n{text}"), &style);
        let mut standings = printed::figure_standings(&all);
        // The short form says itself that it leaves loads out.
        standings.retain(|one| !is_quick(&by_hand) || *one != FigureStanding::NotTestable);
        exits.push(printed::exit(&standings));
    }
    let is_held = !experiment.expectations.is_empty();
    for pairing in run.plan.against_base().into_iter().filter(|_| is_held) {
        if run.plan.arms.count() > 2 {
            output::say_text(&format!("arm    {}: {}", pairing.test, run.plan.arms[pairing.test]));
        }
        let pair = run.pair(pairing);
        let comparison = arms_of::judged_pair(&store, pair)?;
        exits.push(hold_against(pair, &comparison, &experiment.expectations)?);
    }
    if let Some(causes) = &experiment.causes {
        exits.push(explained(place, &mut store, &run, causes, &compare)?);
    }
    // What is refuted for one arm is refuted, and what is open for one is open.
    let worst = [Exit::Fails, Exit::CannotTell].into_iter().find(|exit| exits.contains(exit));
    Ok(worst.unwrap_or(Exit::Holds))
}

/// Says of each expectation what was found.
fn hold_against(
    run: RunPair<'_>,
    comparison: &Comparison,
    expectations: &[Expectation],
) -> Result<Exit, Failure> {
    let (mut refuted, mut open) = (false, comparison.cells.is_empty());
    for expectation in expectations {
        let Expectation { figure, sign, why } = expectation;
        output::say_text(&format!("expect {figure} {}: {why}", sign.name()));
        for outcome in dbdyno_judge::figure_outcomes(run, comparison, figure)? {
            let verdict = match outcome.sign {
                Some(found) if found == *sign => "as expected",
                Some(_) => {
                    refuted = true;
                    "OTHERWISE"
                }
                None => {
                    open = true;
                    "cannot tell"
                }
            };
            let words = dbdyno_report::outcome_words(&outcome);
            output::say_text(&format!("       {}: {words}, {verdict}", outcome.cell));
        }
    }
    Ok(match (refuted, open) {
        (true, _) => Exit::Fails,
        (_, true) => Exit::CannotTell,
        _ => Exit::Holds,
    })
}

/// A cause that is worth less than this share of the cost of an operation in the slower arm is no
/// cause.
const CAUSE_LEAST: f64 = 0.02;

/// Explains what is proved, and holds the causes against those that were expected.
fn explained(
    place: &Place,
    store: &mut Store,
    run: &Run,
    expected: &[String],
    flags: &Compare,
) -> Result<Exit, Failure> {
    let run = run.first_pair();
    let comparison = arms_of::judged_pair(store, run)?;
    let cells = explanation::explainable_cells(run, &comparison);
    let extent = Extent { counts_only: flags.count_only, limit: flags.limit, by: None };
    let home = session::open_home(place)?;
    let wanted: Vec<(RunPair<'_>, Cell)> = cells.into_iter().map(|cell| (run, cell)).collect();
    let all = explanation::explain_cells(&home, store, &wanted, extent)?;
    let shown = explanation::print_explanations(&all, flags.told.output_shape(), None)?;
    output::say_text(&format!("expect causes {}", listed(expected)));
    let is_named = !expected.is_empty();
    let mut is_refuted = is_named && all.is_empty();
    if all.is_empty() {
        let verdict = if is_named { "OTHERWISE" } else { "as expected" };
        output::say_text(&format!("       nothing is proved slower or faster, {verdict}"));
    }
    for one in &all {
        let account = one.accounts.last();
        // Of the slower arm's cost.
        let whole = account.map_or(1.0, |account| (1.0 + account.total.cost.estimate).max(1.0));
        let least = CAUSE_LEAST * whole;
        let found = account
            .iter()
            .flat_map(|account| &account.causes)
            .filter(|cause| cause.worth.cost.estimate.abs() >= least);
        let found: Vec<String> = found.map(|cause| cause.suspect.name.clone()).collect();
        let is_as_expected = found.iter().all(|one| expected.contains(one))
            && expected.iter().all(|one| found.contains(one));
        is_refuted |= !is_as_expected && one.open.is_none();
        let verdict = match (is_as_expected, &one.open) {
            (true, _) => "as expected",
            (false, Some(_)) => "cannot tell",
            (false, None) => "OTHERWISE",
        };
        output::say_text(&format!("       {}: {}, {verdict}", one.cell, listed(&found)));
    }
    Ok(if is_refuted { Exit::Fails } else { shown })
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The flag of `compare` that asks for an experiment's own short form where the file has one.
const QUICK: &str = "--quick";

fn is_quick(by_hand: &[String]) -> bool {
    by_hand.iter().any(|flag| flag == QUICK)
}
/// As `args::RunFile` has it; behind the file it is among the flags of `compare`.
const TRUST: &str = "--trust-experiment";

/// The file as flags of `compare`; those that are given by hand come before its own.
///
/// # Errors
/// Flags that `compare` does not know.
pub(crate) fn command_line(
    file: &Path,
    read: &Experiment,
    by_hand: &[String],
) -> Result<(Place, Compare), Failure> {
    let has_quick = read.quick.is_some();
    let mut line = read.words(file, by_hand);
    line.extend(by_hand.iter().filter(|flag| !(has_quick && *flag == QUICK)).cloned());
    parsed(file, &line)
}

fn parsed(file: &Path, line: &[String]) -> Result<(Place, Compare), Failure> {
    match Args::try_parse_from(line) {
        Ok(Args { place, command: Command::Compare(compare) }) => Ok((place, *compare)),
        Ok(_) => unreachable!("the line begins with compare"),
        Err(error) => {
            let said = error.to_string();
            let said = said.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Err(wrong(file, format!("{said}; flags are those of `dbdyno compare`")))
        }
    }
}

#[cfg(test)]
impl Experiment {
    /// Leaves a flag out of both forms.
    pub(crate) fn leave_out(&mut self, flag: &str) {
        self.flags.retain(|(name, _)| name != flag);
        self.quick.iter_mut().for_each(|quick| quick.retain(|(name, _)| name != flag));
    }
}

/// Whether these flags say where servers and results are.
fn is_placed(flags: &[String]) -> bool {
    let mut names = flags.iter().filter_map(|flag| flag.split('=').next());
    names.any(|name| ["--store", "--home"].contains(&name))
}

/// The value of a flag, where the files that it names stand beside the file that names them.
fn beside(file: &Path, name: &str, value: &str) -> String {
    let folder = file.parent().unwrap_or(Path::new(""));
    let places = inputs_of(name, value).into_iter().map(|(word, path)| {
        let Some(Range { start, end }) = path else { return word.to_owned() };
        let path_beside = folder.join(&word[start..end]);
        format!("{}{}{}", &word[..start], path_beside.display(), &word[end..])
    });
    places.collect::<Vec<_>>().join(",")
}

/// The words of a flag, and where in each the path of a file stands that is read.
fn inputs_of<'a>(name: &str, value: &'a str) -> Vec<(&'a str, Option<Range<usize>>)> {
    const RECORDING: &str = "file:";
    match name {
        "load" => value.split(',').map(|word| (word, loads::place_of_file(word))).collect(),
        "load-file" => vec![(value, Some(0..value.len()))],
        "rate" => {
            let is_file = value.starts_with(RECORDING);
            vec![(value, is_file.then_some(RECORDING.len()..value.len()))]
        }
        _ => vec![(value, None)],
    }
}

/// Reads the file of an experiment.
///
/// # Errors
/// No file, or what is wrong with it and where.
pub(crate) fn read(file: &Path) -> Result<Experiment, Failure> {
    let text = dbdyno_lab::input::read_text(file).map_err(|error| {
        wrong(file, format!("{error}; experiments are files that end in .toml"))
    })?;
    parse(&file.display().to_string(), &text).map_err(|error| Failure::Usage(error.to_string()))
}

fn wrong(file: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::Usage(format!("{}: {what}", file.display()))
}

fn parse(file: &str, text: &str) -> Result<Experiment, FileError> {
    let source = Source { file, text };
    let document = source.parse()?;
    let top = FileSection::of_file(source, "an experiment", &document);
    let experiment = Experiment {
        question: required_text(&top, "question", "question = \"Does …?\"")?,
        source: required_text(&top, "source", "source = \"who says so, and where\"")?,
        arms: arms(&top)?,
        flags: flags(&top, "flags")?.unwrap_or_default(),
        quick: flags(&top, "quick")?,
        causes: causes(&top)?,
        published: PublishedFigures::read(&top)?,
        expectations: expectations(&top)?,
    };
    required_text(&top, "found", "found = \"what was found, in words\"")?;
    top.finish()?;
    Ok(experiment)
}

fn required_text(
    top: &FileSection<'_, '_>,
    key: &'static str,
    example: &'static str,
) -> Result<String, FileError> {
    top.required(key, example)?.as_text().map(str::to_owned)
}

/// `base` and `test`, or a list of arms.
fn arms(top: &FileSection<'_, '_>) -> Result<Vec<String>, FileError> {
    let Some(list) = top.value("arms") else {
        let base = required_text(top, "base", "base = \"engine:\", or arms = [\"engine:\", …]")?;
        return Ok(vec![base, required_text(top, "test", "test = \"engine:?wake=group\"")?]);
    };
    let arms = list.list()?.into_iter().map(|arm| arm.as_text().map(str::to_owned));
    let arms = arms.collect::<Result<Vec<String>, FileError>>()?;
    if !(2..=ArmIndex::MOST).contains(&arms.len()) {
        return Err(list.error("an experiment has 2 to 12 arms, the first of which is base"));
    }
    Ok(arms)
}

impl Experiment {
    /// The servers that are named.
    fn arms(&self, file: &Path) -> Result<Vec<ArmSpec>, Failure> {
        self.arms
            .iter()
            .map(|text| match read_side("the arm", text) {
                Ok(Side::Server(spec)) => Ok(spec),
                Ok(Side::Stored(_)) => Err(wrong(file, format!("{text} is a stored run, no arm"))),
                Err(error) => Err(wrong(file, error)),
            })
            .collect()
    }

    /// The flags of the file that count beside those that are given by hand.
    fn chosen(&self, by_hand: &[String]) -> Vec<(&str, &str)> {
        let quick = self.quick.as_deref().filter(|_| is_quick(by_hand)).unwrap_or_default();
        let named: Vec<&str> = by_hand.iter().filter_map(|flag| flag.split('=').next()).collect();
        let usual = self.flags.iter();
        let usual = usual.filter(|(name, _)| quick.iter().all(|(other, _)| other != name));
        let all = usual.chain(quick).filter(|(name, _)| !named.contains(&&*format!("--{name}")));
        all.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The command line that the file alone is, beside these flags.
    fn words(&self, file: &Path, by_hand: &[String]) -> Vec<String> {
        let mut line: Vec<String> = ["dbdyno", "compare"].map(String::from).into();
        line.extend(self.arms.iter().cloned());
        line.extend(self.chosen(by_hand).into_iter().map(|(name, value)| match value {
            "true" => format!("--{name}"),
            // One word, so that no value is taken for a flag.
            value => format!("--{name}={}", beside(file, name, value)),
        }));
        line
    }

    /// What the file alone asks for. It is judged by what its command line means, and not by what
    /// it looks like.
    ///
    /// # Errors
    /// Flags that `compare` does not know.
    fn wishes<'a>(
        &self,
        file: &'a Path,
        by_hand: &[String],
        arms: &'a [ArmSpec],
    ) -> Result<Wishes<'a>, Failure> {
        let (_, own) = parsed(file, &self.words(file, by_hand))?;
        let of_load = own.load.iter().filter_map(|word| Some(&word[loads::place_of_file(word)?]));
        let mut inputs: Vec<PathBuf> = of_load.map(PathBuf::from).collect();
        inputs.extend(own.load_file);
        if let Some(Arrivals { shape: RateShape::Recorded(path), .. }) = own.rate {
            inputs.push(PathBuf::from(path));
        }
        let places = self.chosen(by_hand).into_iter();
        let places = places.filter(|(name, _)| ["store", "home"].contains(name));
        // A workflow on GitHub reads its summary there.
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY")
            .filter(|_| own.told.format == ToldFormat::Github)
            .map(PathBuf::from);
        let outputs = own.report.into_iter().chain(summary);
        let outputs = outputs.chain(places.map(|(_, path)| PathBuf::from(path)));
        Ok(Wishes { file, arms, inputs, outputs: outputs.collect() })
    }

    /// What printed figures are held against.
    pub(crate) fn printed_question<'a>(&'a self, file: &'a Path) -> PrintedQuestion<'a> {
        PrintedQuestion {
            file,
            question: &self.question,
            source: &self.source,
            figures: &self.published,
        }
    }

    /// The names that its runs have: of the whole form, and of the short one.
    pub(crate) fn run_names(&self) -> impl Iterator<Item = &str> {
        let all = self.flags.iter().chain(self.quick.iter().flatten());
        all.filter(|(flag, _)| flag == "name").map(|(_, name)| name.as_str())
    }
}

type Flags = Vec<(String, String)>;

fn flags(top: &FileSection<'_, '_>, key: &'static str) -> Result<Option<Flags>, FileError> {
    let Some(flags) = top.value(key) else { return Ok(None) };
    let mut all = Vec::new();
    for (name, _, value) in flags.as_section(key)?.all_entries() {
        // Of a name without a letter `--` would be left, behind which all words are arms.
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        if !is_name {
            let what = "the name of a flag has small letters, and dashes between them, and its \
                        value stands behind the sign";
            return Err(value.error(what));
        }
        all.push((name.to_owned(), value.as_plain_text()?));
    }
    Ok(Some(all))
}

/// What an explanation must name.
fn causes(top: &FileSection<'_, '_>) -> Result<Option<Vec<String>>, FileError> {
    let Some(causes) = top.value("causes") else { return Ok(None) };
    let names = causes.list()?.into_iter().map(|name| name.as_text().map(str::to_owned));
    names.collect::<Result<Vec<String>, FileError>>().map(Some)
}

fn expectations(top: &FileSection<'_, '_>) -> Result<Vec<Expectation>, FileError> {
    let is_held_otherwise = ["causes", "published"].iter().any(|key| top.value(key).is_some());
    if is_held_otherwise && top.value("expect").is_none() {
        return Ok(Vec::new());
    }
    let expect = top.required("expect", "[[expect]] with what, sign and why")?;
    let all = printed::limited_list(&expect)?;
    if all.is_empty() {
        return Err(expect.error("nothing is expected; write [[expect]] with what, sign and why"));
    }
    all.into_iter().map(expectation).collect()
}

fn expectation(entry: FileEntry<'_, '_>) -> Result<Expectation, FileError> {
    let section = entry.as_section("an expectation")?;
    let what = section.required("what", "what = \"rate\"")?.as_text()?;
    let word =
        section.required("sign", "sign = \"less\"")?.as_one_of(&Sign::ALL.map(Sign::name))?;
    let why = section.required("why", "why = \"because …\"")?.as_text()?.to_owned();
    section.finish()?;
    let sign = Sign::named(word).expect("one of their words");
    Ok(Expectation { figure: RoundFigure::read(what), sign, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
question = "Does waking fewer cost less?"
source = "an essay"
base = "sqlite:"
test = "sqlite:?synchronous=off"
flags = { load = "point-query", clients = [1, 2], quick = true, seconds = 0.5 }
found = "nothing yet"

[[expect]]
what = "rate"
sign = "equal"
why = "reads do not sync"
"#;

    /// What `dbdyno run FILE --store X` says of places is not lost among the flags of `compare`.
    #[test]
    fn places_behind_the_file_are_those_of_the_command() {
        let flags = ["--quick", "--store", "x.db"].map(str::to_owned);
        let read = parse("a.toml", FILE).unwrap();
        let (place, _) = command_line(Path::new("a.toml"), &read, &flags).unwrap();
        assert_eq!(place.store.as_deref(), Some(Path::new("x.db")));
        assert!(is_placed(&flags) && !is_placed(&flags[..1]));
    }

    /// Behind `--` the user's own flags would be taken for arms, his gate among them.
    #[test]
    fn a_flag_has_a_letter() {
        for name in ["\"\"", "\"-\"", "\"--\"", "-quick", "\"-load\""] {
            let text = FILE.replace("quick = true", &format!("{name} = true"));
            let told = parse("a.toml", &text).unwrap_err().to_string();
            assert!(told.contains("the name of a flag has small letters"), "{name}: {told}");
        }
    }

    fn read_with(flags: &[&str]) -> Result<Compare, Failure> {
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        command_line(Path::new("a.toml"), &parse("a.toml", FILE).unwrap(), &flags)
            .map(|(_, compare)| compare)
    }

    #[test]
    fn a_file_is_a_command_line_and_flags_by_hand_come_first() {
        let compare = read_with(&[]).unwrap();
        assert_eq!((compare.clients, compare.quick), (vec![1, 2], true));
        assert_eq!(compare.seconds.unwrap().as_millis(), 500);
        let compare = read_with(&["--clients", "8", "--seconds=0.2"]).unwrap();
        assert_eq!(compare.clients, [8]);
        assert_eq!(compare.seconds.unwrap().as_millis(), 200);
    }

    #[test]
    fn a_file_may_have_a_short_form_of_its_own() {
        let file = FILE.replace("found =", "quick = { clients = [4], rows = 100 }\nfound =");
        let experiment = parse("a.toml", &file).unwrap();
        let with = |flags: &[&str]| {
            let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
            command_line(Path::new("a.toml"), &experiment, &flags).unwrap().1
        };
        let (long, short) = (with(&[]), with(&["--quick"]));
        assert_eq!((long.clients, long.rows), (vec![1, 2], 1_000_000));
        assert_eq!((short.clients, short.rows), (vec![4], 100));
        assert_eq!(
            short.load,
            ["point-query"],
            "what the short form does not say is as in the long one"
        );
        assert_eq!(with(&["--quick", "--rows", "7"]).rows, 7);
    }

    #[test]
    fn loads_stand_beside_the_file() {
        for (file, flag, value, placed) in [
            ("a/b.toml", "load", "scan,hot.toml", "scan,a/hot.toml"),
            (
                "a/b.toml",
                "load",
                "warm:60s:hot.toml?rand=uniform",
                "warm:60s:a/hot.toml?rand=uniform",
            ),
            ("b.toml", "load", "hot.toml", "hot.toml"),
            ("a/b.toml", "load", "/c/hot.toml", "/c/hot.toml"),
            ("a/b.toml", "load-file", "hot", "a/hot"),
            ("a/b.toml", "rate", "file:night.txt", "file:a/night.txt"),
            ("a/b.toml", "rate", "poisson:1000", "poisson:1000"),
            ("a/b.toml", "name", "hot.toml", "hot.toml"),
        ] {
            assert_eq!(beside(Path::new(file), flag, value), placed);
        }
    }

    #[test]
    fn arms_are_base_and_test_or_a_list() {
        let two = parse("a.toml", FILE).unwrap().arms;
        assert_eq!(two.len(), 2);
        let (base, test) = (&two[0], &two[1]);
        let pair = format!("base = {base:?}\ntest = {test:?}\n");
        assert!(FILE.contains(&pair), "{pair}");
        let listed = |list: &str| parse("a.toml", &FILE.replace(&pair, list));
        let of_three = listed("arms = [\"sqlite:\", \"engine:\", \"engine:?view=csn\"]\n").unwrap();
        assert_eq!(of_three.arms, ["sqlite:", "engine:", "engine:?view=csn"]);
        let line = command_line(Path::new("a.toml"), &of_three, &[]).unwrap().1;
        assert_eq!((&*line.base, line.tests.len()), ("sqlite:", 2));
        for wrong in ["arms = [\"sqlite:\"]\n", "arms = \"sqlite:\"\n", "base = \"sqlite:\"\n"] {
            assert!(listed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        for (from, to, said) in [
            ("question =", "questoin =", "a.toml:1:1: an experiment has no question"),
            ("found =", "extra = 1\nfound =", "a.toml:7:1: unknown key \"extra\""),
            ("sign = \"equal\"", "sign = \"better\"", "more, less, equal"),
            ("why =", "because =", "an expectation has no why"),
            ("[[expect]]", "[expect]", "expect takes a list"),
            ("quick = true", "quick = false", "a.toml:6:59: "),
        ] {
            let error = parse("a.toml", &FILE.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(said), "{to}: {error}");
        }
        let error = read_with(&["--quik"]).unwrap_err().to_string();
        assert!(error.starts_with("a.toml: ") && error.contains("--quik"), "{error}");
    }

    /// Each case can be carried out, and what is planted stands behind one of its arms.
    #[test]
    fn the_cases_of_the_repository_are_experiments() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cases");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut count = 0;
        for file in files.filter(|file| !file.to_string_lossy().ends_with(".load.toml")) {
            let told = file.display();
            let experiment = read(&file).unwrap_or_else(|error| panic!("{error}"));
            let compare = command_line(&file, &experiment, &[]).unwrap().1;
            let causes = experiment.causes.unwrap_or_else(|| panic!("{told} expects no causes"));
            for cause in &causes {
                let short = cause.replace("performance_schema", "pfs");
                let has_all = |arm: &&String| short.split(' ').all(|word| arm.contains(word));
                let is_planted = experiment.arms.iter().any(|arm| has_all(&arm));
                assert!(is_planted, "{told}: {cause}");
            }
            let arms = [&compare.base, &compare.tests[0]].map(|text| text.parse().unwrap());
            let planned = crate::plan::from_flags(&compare, arms.to_vec());
            planned.unwrap_or_else(|e| panic!("{told}: {e}"));
            count += 1;
        }
        assert!(count >= 8, "{count}");
    }

    /// Nobody has to trust the experiments of the repository, but where they send statements that
    /// are no load of dbdyno's.
    #[test]
    fn experiments_of_the_repository_keep_to_what_dbdyno_starts() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut refused = Vec::new();
        for kind in ["callaghan", "cases", "essays", "kravtchuk", "wang"] {
            for entry in std::fs::read_dir(folder.join(kind)).unwrap() {
                let file = entry.unwrap().path();
                let Ok(experiment) = read(&file) else { continue };
                let arms = experiment.arms(&file).unwrap();
                if experiment.wishes(&file, &[], &arms).unwrap().require_trust(false).is_err() {
                    refused.push(file.file_stem().unwrap().to_string_lossy().into_owned());
                }
            }
        }
        refused.sort();
        assert_eq!(refused, ["condition-fanout", "range-of-a-constant", "stale-statistics"]);
    }

    /// Each file of the repository can be carried out, and varies one thing.
    #[test]
    fn the_experiments_of_the_repository_are_experiments() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/essays");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut count = 0;
        let is_load = |file: &Path| file.ends_with("hot.toml") || file.ends_with("rows20.toml");
        for file in files.filter(|file| !is_load(file)) {
            let told = file.display();
            let experiment = read(&file).unwrap_or_else(|error| panic!("{error}"));
            let compare = command_line(&file, &experiment, &[]).unwrap().1;
            let arm = |text: &str| text.parse::<dbdyno_model::ArmSpec>().unwrap();
            let arms = vec![arm(&compare.base), arm(&compare.tests[0])];
            let design = |arm: &dbdyno_model::ArmSpec| match &arm.target {
                dbdyno_model::Target::Engine(design) => *design,
                other => panic!("{told}: {other:?}"),
            };
            let varied = design(&arms[0]).differing_fields(&design(&arms[1]));
            assert_eq!(varied.len(), 1, "{told}: {varied:?}");
            crate::plan::from_flags(&compare, arms).unwrap_or_else(|e| panic!("{told}: {e}"));
            count += 1;
        }
        assert!(count >= 15, "{count}");
    }
}
