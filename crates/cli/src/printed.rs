//! What texts printed, as files of experiments have it, held against a run.
//!
//! ```text
//!   # in the file of an experiment
//!   [stands-for]                    a release of the text, and the arm that stands for it
//!   "5.6.51" = "mysql:5.6.24"
//!
//!   [[published]]
//!   of = "point queries"            where in the text
//!   base = "5.6.51"
//!   test = "9.7.0"
//!   what = "rate"                   a figure as in [[expect]]; the rate where it is left out
//!   clients = 1                     theirs, where it matters
//!   ratios = { hot-points = 0.65, "median of point" = 0.73 }
//!   because = { hot-points = "…" }  why ours differ, with evidence, once somebody knows
//! ```

use std::path::Path;

use dbdyno_judge::RunFigures;
use dbdyno_model::experiment::RoundFigure;
use dbdyno_model::published::{
    ExplainedRows, FigureStanding, FoundSign, PublishedRow, PublishedTable, ReplicatedTable,
    Replication, RunOrigin,
};
use dbdyno_model::{ArmIndex, ArmSpec, Pairing, Run};
use dbdyno_workload::FileError;
use dbdyno_workload::file::{FileEntry, FileSection};

use crate::exit::Exit;
use crate::failure::Failure;

/// Tables, and expectations, of a file: each may ask for a figure of its own of every cell.
const LIST_MOST: usize = 256;

/// What a text printed, and who stands for whom.
#[derive(Debug, Default)]
pub(crate) struct PublishedFigures {
    /// In the order of the file.
    pub tables: Vec<PublishedTable>,
    /// A release as the text names it, and an arm as the experiment does.
    pub stands_for: Vec<(String, ArmSpec)>,
}

/// The question of an experiment, as far as figures are held against it.
pub(crate) struct PrintedQuestion<'a> {
    /// The file.
    pub file: &'a Path,
    /// The question.
    pub question: &'a str,
    /// Who says so, and where.
    pub source: &'a str,
    /// What was printed.
    pub figures: &'a PublishedFigures,
}

impl PrintedQuestion<'_> {
    /// The printed tables, with what this run has found of each.
    ///
    /// # Errors
    /// Rates that cannot be judged, which only a damaged store can hold.
    pub(crate) fn held_against(
        &self,
        run: &Run,
        judged: &mut RunFigures<'_>,
        signs: Vec<FoundSign>,
    ) -> Result<Replication, Failure> {
        let tables = self.figures.tables.iter().map(|table| {
            let arms = self.figures.arms_of(table, run);
            Ok(dbdyno_judge::replicate(judged, table.clone(), arms)?)
        });
        Ok(Replication {
            file: self.file.display().to_string(),
            question: self.question.to_owned(),
            source: self.source.to_owned(),
            run: origin(self.figures, run),
            tables: tables.collect::<Result<Vec<ReplicatedTable>, Failure>>()?,
            signs,
            explained: ExplainedRows::default(),
        })
    }
}

fn origin(figures: &PublishedFigures, run: &Run) -> RunOrigin {
    let fact = |name| run.environment[ArmIndex::BASE].get(name);
    RunOrigin {
        run: run.id.to_string(),
        started_unix_ms: run.started_unix_ms,
        command: without_places(&run.command),
        arms: run
            .plan
            .arms
            .indices()
            .map(|arm| {
                let spec = &run.plan.arms[arm];
                let theirs = figures.stands_for.iter().filter(|(_, own)| own == spec);
                let version = run.environment[arm].get("server.version");
                let version =
                    if version.is_empty() { String::new() } else { format!(" ({version})") };
                (theirs.map(|(release, _)| release.clone()).collect(), format!("{spec}{version}"))
            })
            .collect(),
        host: format!("{} processors, {}", fact("host.cpu.logical"), fact("host.cpu.model")),
    }
}

/// A command without the places of one host.
fn without_places(command: &str) -> String {
    let mut words = command.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            None if ["--home", "--store"].contains(&word) => drop(words.next()),
            Some(("--home" | "--store", _)) => {}
            _ => kept.push(word),
        }
    }
    kept.join(" ")
}

/// How each printed figure and each expected sign stands.
pub(crate) fn figure_standings(all: &[Replication]) -> Vec<FigureStanding> {
    let rows = all.iter().flat_map(|one| &one.tables).flat_map(|table| &table.rows);
    let signs = all.iter().flat_map(|one| &one.signs).map(FoundSign::standing);
    rows.map(|row| row.standing).chain(signs).collect()
}

/// As of expectations: what differs is refuted; what is open or was not measured cannot be told.
pub(crate) fn exit(standings: &[FigureStanding]) -> Exit {
    let are_confirmed = standings.iter().all(|one| *one == FigureStanding::Confirmed);
    if standings.contains(&FigureStanding::Different) {
        Exit::Fails
    } else if are_confirmed && !standings.is_empty() {
        Exit::Holds
    } else {
        Exit::CannotTell
    }
}

impl PublishedFigures {
    /// The arms of a run that stand for the releases of a table.
    fn arms_of(&self, table: &PublishedTable, run: &Run) -> Option<Pairing> {
        let arm = |release: &str| {
            let (_, spec) = self.stands_for.iter().find(|(of, _)| of == release)?;
            run.plan.arms.indices().find(|arm| &run.plan.arms[*arm] == spec)
        };
        let arms = Pairing { base: arm(&table.base)?, test: arm(&table.test)? };
        (arms.base != arms.test).then_some(arms)
    }

    /// Reads `[stands-for]` and `[[published]]`, if they are there.
    ///
    /// # Errors
    /// What is wrong with them, and where.
    pub(crate) fn read(top: &FileSection<'_, '_>) -> Result<PublishedFigures, FileError> {
        let mut stands_for = Vec::new();
        if let Some(all) = top.value("stands-for") {
            for (release, _, arm) in all.as_section("stands-for")?.all_entries() {
                let text = arm.as_text()?;
                let spec = text.parse().map_err(|error| arm.error(format!("{text}: {error}")))?;
                stands_for.push((release.to_owned(), spec));
            }
        }
        let tables = match top.value("published") {
            Some(all) => limited_list(&all)?.into_iter().map(table).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        Ok(PublishedFigures { tables, stands_for })
    }
}

/// The tables or expectations of a file, as many as are held against a run.
pub(crate) fn limited_list<'a, 'i>(
    all: &FileEntry<'a, 'i>,
) -> Result<Vec<FileEntry<'a, 'i>>, FileError> {
    let list = all.list()?;
    if list.len() > LIST_MOST {
        let count = list.len();
        let text = format!(
            "{count} of them, and at most {LIST_MOST} are held against a run; write \
                            the others into a file of their own"
        );
        return Err(all.error(text));
    }
    Ok(list)
}

fn table(entry: FileEntry<'_, '_>) -> Result<PublishedTable, FileError> {
    let section = entry.as_section("a published table")?;
    let text = |key, example| section.required(key, example)?.as_text().map(str::to_owned);
    let ratios = section.required("ratios", "ratios = { point-query = 0.62 }")?;
    let reasons = match section.value("because") {
        Some(reasons) => reasons.as_section("because")?.all_entries(),
        None => Vec::new(),
    };
    let mut rows = Vec::new();
    for (load, _, ratio) in ratios.as_section("ratios")?.all_entries() {
        let because = reasons.iter().find(|(of, ..)| *of == load);
        let because = because.map(|(_, _, why)| why.as_text().map(str::to_owned)).transpose()?;
        rows.push(PublishedRow { load: load.to_owned(), ratio: positive(&ratio)?, because });
    }
    if let Some((of, _, why)) =
        reasons.iter().find(|(of, ..)| !rows.iter().any(|row| row.load == **of))
    {
        return Err(why.error(format!("there is no ratio of {of:?} that this could explain")));
    }
    let what = match section.value("what") {
        Some(what) => RoundFigure::read(what.as_text()?),
        None => RoundFigure::Rate,
    };
    let clients = match section.value("clients") {
        Some(clients) => Some(clients.as_number(1, 1_000_000)? as u32),
        None => None,
    };
    let table = PublishedTable {
        of: text("of", "of = \"point queries\"")?,
        base: text("base", "base = \"5.6.51\"")?,
        test: text("test", "test = \"9.7.0\"")?,
        what,
        clients,
        rows,
    };
    section.finish()?;
    Ok(table)
}

/// A ratio.
fn positive(entry: &FileEntry<'_, '_>) -> Result<f64, FileError> {
    let number = entry.as_plain_text()?.parse::<f64>().ok();
    number
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .ok_or_else(|| entry.error("a ratio is a number above 0, such as 0.62".to_owned()))
}

#[cfg(test)]
mod tests {
    use dbdyno_workload::file::Source;

    use super::*;

    const FILE: &str = r#"
[stands-for]
"5.6" = "mysql:5.6.24"

[[published]]
of = "a table"
base = "5.6"
test = "9.7"

[published.ratios]
point-query = 0.62
"median of point" = 1

[published.because]
point-query = "another build"
"#;

    fn read(text: &str) -> Result<PublishedFigures, String> {
        let source = Source { file: "a.toml", text };
        let document = source.parse().map_err(|error| error.to_string())?;
        let top = FileSection::of_file(source, "an experiment", &document);
        PublishedFigures::read(&top).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_is_its_ratios_and_why_ours_differ() {
        let figures = read(FILE).unwrap();
        let table = &figures.tables[0];
        assert_eq!((&*table.base, &*table.test, &table.what), ("5.6", "9.7", &RoundFigure::Rate));
        let rows = table.rows.iter().map(|row| (&*row.load, row.ratio, row.because.as_deref()));
        let rows: Vec<_> = rows.collect();
        let expected =
            [("point-query", 0.62, Some("another build")), ("median of point", 1.0, None)];
        assert_eq!(rows, expected);
        assert_eq!(figures.stands_for[0].1.to_string(), "mysql:5.6.24");
    }

    #[test]
    fn what_is_wrong_with_figures_is_said_with_its_place() {
        for (from, to, said) in [
            ("0.62", "-0.62", "a.toml:11:15: a ratio is a number above 0"),
            ("0.62", "\"half\"", "a.toml:11:15: a ratio is a number above 0"),
            ("mysql:5.6.24", "mysql5.6", "a.toml:3:9: mysql5.6"),
            ("point-query = \"another", "scan = \"another", "no ratio of \"scan\""),
            ("base = \"5.6\"", "", "a published table has no base"),
            ("[published.ratios]", "[published.figures]", "a published table has no ratios"),
            ("test =", "clients = 0\ntest =", "clients takes a whole number from 1"),
        ] {
            assert!(FILE.contains(from), "{from}");
            let error = read(&FILE.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(said), "{to}: {error}");
        }
    }

    #[test]
    fn a_file_has_tables_that_somebody_reads() {
        let table =
            "[[published]]\nof = \"t\"\nbase = \"1\"\ntest = \"2\"\nratios = { scan = 0.9 }\n";
        assert_eq!(read(&table.repeat(LIST_MOST)).unwrap().tables.len(), LIST_MOST);
        let error = read(&table.repeat(LIST_MOST + 1)).unwrap_err();
        assert!(error.contains("257 of them, and at most 256"), "{error}");
    }

    #[test]
    fn commands_do_not_name_places_of_a_host() {
        let command = "dbdyno run a.toml --home /x --quick --store=/y/z.db";
        assert_eq!(without_places(command), "dbdyno run a.toml --quick");
    }
}
