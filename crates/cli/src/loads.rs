//! `dbdyno loads`, and what the words of `--load` mean.
//!
//! ```text
//!   --load point-query,warm:60s:scan,sysbench-32     a load, a stage, a suite
//!   --load ./shop.toml?rand=uniform                  the load that this file describes
//!   --load-file shop.toml --load shop                the same, by its name
//! ```
//!
//! A file becomes part of the plan; from then on its load goes by its name.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dbdyno_model::{LoadFile, Stage};
use dbdyno_workload::{
    Catalog, Custom, LoadGroup, SUITES, Suite, catalog, explain, insert_benchmark,
};

use crate::args::{Loads, LoadsCommand, ShowLoad, USUAL_LOAD};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::load_names::resolve_load;
use crate::output;
use crate::rand::Rand;
use crate::screen;

/// What is to be done, and the custom loads that it needs.
#[derive(Debug, PartialEq)]
pub(crate) struct LoadChoice {
    /// Stages in the order of the words; what is measured already is not measured again.
    pub stages: Vec<Stage>,
    /// Files whose loads the stages name.
    pub files: Vec<LoadFile>,
    /// For steps of the Insert Benchmark: length of a query step, seconds.
    pub step_seconds: Option<u64>,
}

/// What the words of `--load` mean, with the files of `--load-file`.
pub(crate) fn choose_loads(
    words: &[String],
    files: &[PathBuf],
    rand: Option<Rand<'_>>,
) -> Result<LoadChoice, Failure> {
    let mut catalog = Catalog::default();
    for file in files {
        add(&mut catalog, file)?;
    }
    let mut texts = Vec::new();
    for word in words {
        texts.push(by_name(&mut catalog, word)?);
    }
    let mut chosen = LoadChoice { stages: Vec::new(), files: Vec::new(), step_seconds: None };
    for (word, text) in words.iter().zip(&texts) {
        let wrong = |error: String| Failure::Usage(format!("--load {word}: {error}"));
        let (mut stages, step_seconds) = stages_of(text).map_err(wrong)?;
        if let Some(rand) = rand {
            stages = rand.set(&catalog, stages).map_err(wrong)?;
        }
        chosen.step_seconds = chosen.step_seconds.or(step_seconds);
        for stage in stages {
            if let Some(label) = stage.load() {
                resolve_load(&catalog, label).map_err(wrong)?;
                chosen.take_file(&catalog, label);
            }
            if stage.measured_label().is_none() || !chosen.stages.contains(&stage) {
                chosen.stages.push(stage);
            }
        }
    }
    // Else another load would be measured than the one that was written down.
    let is_usual = words.len() == 1 && words[0] == USUAL_LOAD;
    if let Some(file) = files.first().filter(|_| is_usual && chosen.files.is_empty()) {
        return Err(Failure::Usage(format!(
            "{}: none of the loads in this file is chosen; name one with --load",
            file.display()
        )));
    }
    Ok(chosen)
}

/// The stages of one word; with the length of a query step of the Insert Benchmark, if it is one.
fn stages_of(text: &str) -> Result<(Vec<Stage>, Option<u64>), String> {
    if let Some(expanded) = insert_benchmark::expand_benchmark(text) {
        let (stages, sizes) = expanded.map_err(|error| error.to_string())?;
        return Ok((stages, Some(sizes.seconds)));
    }
    let stages = match Suite::find(text) {
        Some(suite) => suite.stages(),
        None => vec![text.parse()?],
    };
    let step = insert_benchmark::BenchmarkStep::find(text).and_then(Result::ok);
    Ok((stages, step.map(|(_, sizes)| sizes.seconds)))
}

impl LoadChoice {
    fn take_file(&mut self, catalog: &Catalog, label: &str) {
        let Some(custom) = catalog.custom_of(label) else { return };
        let file = LoadFile { file: custom.file.clone(), text: custom.text.clone() };
        if !self.files.contains(&file) {
            self.files.push(file);
        }
    }
}

fn add(catalog: &mut Catalog, file: &Path) -> Result<String, Failure> {
    let shown = file.display().to_string();
    let text = dbdyno_lab::input::read_text(file).map_err(|error| {
        Failure::Usage(format!("{shown} cannot be read: {error}; give the path of a TOML file"))
    })?;
    let custom = Custom::parse(&shown, &text).map_err(|error| Failure::Usage(error.to_string()))?;
    let name = custom.name.clone();
    catalog.add_custom(custom).map_err(Failure::Usage)?;
    Ok(name)
}

/// The word with the name of a load in place of a path to its file.
fn by_name(catalog: &mut Catalog, word: &str) -> Result<String, Failure> {
    let Some(place) = place_of_file(word) else { return Ok(word.to_owned()) };
    let name = add(catalog, Path::new(&word[place.clone()]))?;
    Ok(format!("{}{name}{}", &word[..place.start], &word[place.end..]))
}

/// Where the path of a load's file stands in a word of `--load`, if it names one.
pub(crate) fn place_of_file(word: &str) -> Option<Range<usize>> {
    const ENDING: &str = ".toml";
    let end = word.find(ENDING)? + ENDING.len();
    // What stands before the path: `warm:`, `warm:60s:`.
    let start = word[..end].rfind(':').map_or(0, |at| at + 1);
    Some(start..end)
}

/// Lists the loads, or shows one of them.
pub(crate) fn run(flags: &Loads) -> Result<Exit, Failure> {
    match &flags.command {
        None => list(&flags.load_file, flags.all),
        Some(LoadsCommand::Show(show)) => self::show(show, &flags.load_file),
    }
}

/// A heading, and the name and a sentence of each load or suite below it.
type Part<'a> = (&'a str, Vec<(&'a str, &'a str)>);

fn list(files: &[PathBuf], all: bool) -> Result<Exit, Failure> {
    let mut catalog = Catalog::default();
    for file in files {
        add(&mut catalog, file)?;
    }
    let custom: Vec<(&str, &str)> = catalog
        .custom_loads()
        .map(|custom| (custom.name.as_str(), custom.about.as_str()))
        .collect();
    let mut suites: Vec<(&str, &str)> =
        SUITES.iter().map(|suite| (suite.name, suite.about)).collect();
    suites.push((insert_benchmark::NAME, insert_benchmark::ABOUT));
    let loads = built_in();
    let chosen = [("suites", suites), ("custom", custom)];
    let text = if all {
        let parts: Vec<Part<'_>> = loads.into_iter().chain(chosen).collect();
        format!("{}\nrest     dbdyno loads show NAME: what one load does\n", sentences(&parts))
    } else {
        format!(
            "{}{}\nrest     dbdyno loads show NAME: what one load does\n         \
             dbdyno loads --all: a line for each load\n",
            columns(&loads, screen::width()),
            sentences(&chosen),
        )
    };
    output::print(&output::lines(text))?;
    Ok(Exit::Holds)
}

/// The loads that dbdyno brings along: those of the microbenchmarks by group, then all others.
fn built_in() -> Vec<Part<'static>> {
    let entries = catalog::entries();
    let micro = catalog::micro::names();
    let part = |title, belongs: &dyn Fn(&catalog::LoadEntry) -> bool| {
        let chosen = entries.iter().filter(|entry| belongs(entry));
        (title, chosen.map(|entry| (entry.name, entry.about)).collect())
    };
    let groups = LoadGroup::ALL.map(|group| {
        part(group.name(), &|entry| entry.group == group && micro.contains(&entry.name))
    });
    let others = part("others", &|entry| !micro.contains(&entry.name));
    groups.into_iter().chain([others]).collect()
}

/// Each name on a line of its own, with its sentence.
fn sentences(parts: &[Part<'_>]) -> String {
    let names = parts.iter().flat_map(|(_, part)| part).map(|(name, _)| name.len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for (title, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        text.push_str(&format!("{title}\n"));
        for (name, about) in part {
            text.push_str(&format!("  {name:width$}  {about}\n"));
        }
    }
    text
}

/// Names only, in as many columns of one width as fit beside each other, from left to right.
fn columns(parts: &[Part<'_>], screen: usize) -> String {
    let names = parts.iter().flat_map(|(_, part)| part).map(|(name, _)| name.len());
    let width = names.max().unwrap_or(0) + 2;
    let count = (screen / width).max(1);
    let mut text = String::new();
    for (title, part) in parts.iter().filter(|(_, part)| !part.is_empty()) {
        text.push_str(&format!("{title}\n"));
        for row in part.chunks(count) {
            let cells: String =
                row.iter().map(|(name, _)| format!("  {name:0$}", width - 2)).collect();
            text.push_str(&format!("{}\n", cells.trim_end()));
        }
    }
    text
}

fn show(flags: &ShowLoad, files: &[PathBuf]) -> Result<Exit, Failure> {
    if let Some(suite) = Suite::find(&flags.load) {
        let stages: Vec<String> =
            suite.stages().iter().map(|stage| format!("  {stage}\n")).collect();
        let text = format!("{}  {}\n{}", suite.name, suite.about, stages.concat());
        output::print(&output::lines(text))?;
        return Ok(Exit::Holds);
    }
    if let Some(expanded) = insert_benchmark::expand_benchmark(&flags.load) {
        let (stages, _) = expanded.map_err(|error| Failure::Usage(error.to_string()))?;
        let stages: Vec<String> = stages.iter().map(|stage| format!("  {stage}\n")).collect();
        let (name, about) = (insert_benchmark::NAME, insert_benchmark::ABOUT);
        output::print(&output::lines(format!("{name}  {about}\n{}", stages.concat())))?;
        return Ok(Exit::Holds);
    }
    let mut catalog = Catalog::default();
    for file in files {
        add(&mut catalog, file)?;
    }
    let label = by_name(&mut catalog, &flags.load)?;
    let wrong = |error: String| Failure::Usage(format!("{}: {error}", flags.load));
    let load = resolve_load(&catalog, &label).map_err(wrong)?;
    let dialects: Vec<_> = explain::DIALECTS
        .into_iter()
        .map(|(dialect, _)| dialect)
        .filter(|dialect| flags.dialect.is_none_or(|wanted| wanted == *dialect))
        .collect();
    let text = explain::explain_load(&load, &dialects).map_err(|error| wrong(error.to_string()))?;
    output::print(&output::lines(text))?;
    Ok(Exit::Holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages(words: &[&str]) -> Vec<Stage> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        choose_loads(&words, &[], None).unwrap().stages
    }

    #[test]
    fn a_word_of_load_is_one_stage_or_a_suite() {
        assert_eq!(stages(&["point-query.pre"]), [Stage::Measure("point-query.pre".into())]);
        assert_eq!(stages(&["settle", "settle"]), [Stage::Settle, Stage::Settle]);
        assert_eq!(stages(&["scan", "scan"]).len(), 1);
        assert!(stages(&["sysbench-32"]).len() > 32);
    }

    #[test]
    fn a_path_stands_for_the_load_that_it_describes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let text = "name = 'own'\ngroup = 'point'\n[[step]]\nsql = 'SELECT 1'\nrows = 1\n";
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let words = [path.to_owned(), format!("warm:9s:{path}?rand=latest"), "scan".to_owned()];
        let chosen = choose_loads(&words, &[], None).unwrap();
        let shown: Vec<String> = chosen.stages.iter().map(Stage::to_string).collect();
        assert_eq!(shown, ["own", "warm:9s:own?rand=latest", "scan"]);
        assert_eq!(chosen.files, [LoadFile { file: path.to_owned(), text: text.to_owned() }]);
        let by_name = choose_loads(&["own".to_owned()], &[path.into()], None).unwrap();
        assert_eq!(by_name.files, chosen.files);
        let unused = choose_loads(&["scan".to_owned()], &[path.into()], None).unwrap();
        assert_eq!(unused.files, []);
        assert!(
            choose_loads(&[USUAL_LOAD.to_owned()], &[path.into()], None).is_err(),
            "none is named"
        );
    }

    #[test]
    fn names_stand_in_columns_that_fit_on_the_screen() {
        let parts = [("few", vec![("one", ""), ("three", ""), ("two", "")]), ("none", vec![])];
        assert_eq!(columns(&parts, 14), "few\n  one    three\n  two\n");
        assert_eq!(columns(&parts, 13), "few\n  one\n  three\n  two\n");
        assert_eq!(columns(&parts, 0), columns(&parts, 7));
    }

    #[test]
    fn the_catalog_fits_on_a_screen_and_leaves_out_no_load() {
        let text = columns(&built_in(), 80);
        assert!(text.lines().count() <= 30, "{text}");
        let mut shown: Vec<&str> = text.split_whitespace().collect();
        shown.sort_unstable();
        for entry in catalog::entries() {
            assert!(shown.binary_search(&entry.name).is_ok(), "{} is missing", entry.name);
        }
    }

    #[test]
    fn slips_of_the_finger_get_the_nearest_name() {
        let error =
            |word: &str| choose_loads(&[word.to_owned()], &[], None).unwrap_err().to_string();
        assert!(error("point-qurey").contains("\"point-query\""));
        assert!(error("warm:point-qurey").contains("\"point-query\""));
        assert!(error("sysbench-23").contains("\"sysbench-32\""));
        assert!(!error("xyz").contains("did you mean"));
        assert!(error("nowhere.toml").contains("cannot be read"));
    }
}
