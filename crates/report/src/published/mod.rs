//! Printed figures beside ours: theirs, ours with its interval, and how the two stand.
//!
//! ```text
//!   several Replications ──▶ one table of all printed tables: how many figures stand how
//!   each                 ──▶ which arm stood for which release, then a row for each figure
//!                        ──▶ svg: theirs across, ours upwards; what is confirmed lies in the band
//! ```

mod explained;
mod json;
mod svg;
#[cfg(test)]
mod tests;
mod words;

use dbdyno_document::csv::number_field;
use dbdyno_document::number::{GLUE, UNKNOWN};
use dbdyno_document::{DataTable, Document, Element, LabelledItem, TableColumn, Text};
use dbdyno_model::experiment::Expectation;
use dbdyno_model::published::{
    Agreement, FigureStanding, FoundSign, ReplicatedRow, ReplicatedTable, Replication,
};

use crate::calendar::format_utc;
use crate::words::{clients, count_with_noun};

pub use json::published_json;
pub use svg::published_svg;
pub use words::outcome_words;
use words::{agreement_text, percentage_points, two_decimals, with_ends};

/// What the columns mean.
const KEY: &str = "Ratios are test ÷ base. Ours has its 95 % interval. Confirmed: the whole \
                   interval lies within 0.05 of the printed ratio (5 % of ratios above 1); \
                   different here: the whole interval lies without; open: neither. By server CPU: \
                   the reciprocal of the ratio of the server's processor time for each statement, \
                   in which no client has a share. Rank correlation is Spearman's.";

/// Columns of whose figures they are, and of how one stands.
const OWNER_WIDTH: usize = 7;
const STANDING_WIDTH: usize = 19;

/// How many figures stand how, then each printed table and each expectation, and what explains
/// them. Programs get a row for each printed figure; the names are a contract.
pub fn published_document(all: &[Replication]) -> Document {
    let counts: Vec<FigureCounts> = all.iter().flat_map(FigureCounts::of_file).collect();
    // The names of the columns, also where no figure was printed.
    let names = DataTable::new::<FigureRow<'_>>(&figure_columns(), []);
    let mut document = Document::from(vec![
        vec![
            Element::Headline(headline(&counts).into()),
            Element::Table(DataTable::new(&count_columns(), &counts)),
            Element::Table(names),
        ],
        vec![Element::Prose(KEY.into())],
    ]);
    for one in all {
        document.push(origin(one));
        one.tables.iter().for_each(|table| document.push(figures(one, table)));
        for signs in one.signs.chunk_by(|sign, next| sign.expectation == next.expectation) {
            document.push(expected(signs));
        }
        document.append(explained::explained_document(&one.explained));
    }
    document
}

/// What was printed together, and how many figures of it stand how.
struct FigureCounts {
    printed: String,
    of: [usize; FigureStanding::ALL.len()],
    agreement: Option<Agreement>,
    by_server_cpu: Option<Agreement>,
}

impl FigureCounts {
    /// Those of each table, and those of all signs together.
    fn of_file(one: &Replication) -> Vec<FigureCounts> {
        let author = one.source.split(',').next().unwrap_or_default();
        let tables = one.tables.iter().map(|table| FigureCounts {
            printed: format!("{author}: {}", table.published.of),
            of: counts(table.rows.iter().map(|row| row.standing)),
            agreement: table.agreement,
            by_server_cpu: table.by_server_cpu,
        });
        let signs = (!one.signs.is_empty()).then(|| FigureCounts {
            printed: format!("{author}: {}", one.question),
            of: counts(one.signs.iter().map(FoundSign::standing)),
            agreement: None,
            by_server_cpu: None,
        });
        tables.chain(signs).collect()
    }
}

/// How many stand in each way, in the order of [`FigureStanding::ALL`].
fn counts(standings: impl Iterator<Item = FigureStanding>) -> [usize; FigureStanding::ALL.len()] {
    let standings: Vec<FigureStanding> = standings.collect();
    FigureStanding::ALL.map(|one| standings.iter().filter(|standing| **standing == one).count())
}

/// `1 confirmed, 2 open`: those that there are.
fn in_words(counts: [usize; FigureStanding::ALL.len()]) -> String {
    let counts = FigureStanding::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let words = counts.map(|(standing, count)| format!("{count} {}", standing.name()));
    words.collect::<Vec<String>>().join(", ")
}

fn headline(counts: &[FigureCounts]) -> String {
    let mut sums = [0; FigureStanding::ALL.len()];
    for one in counts {
        sums.iter_mut().zip(one.of).for_each(|(sum, count)| *sum += count);
    }
    format!("{}: {}", count_with_noun(sums.iter().sum::<usize>() as u64, "figure"), in_words(sums))
}

fn count_columns() -> Vec<TableColumn<'static, FigureCounts>> {
    type CountColumn = TableColumn<'static, FigureCounts>;
    let mut columns = vec![
        CountColumn::word_texts("printed", |one| one.printed.as_str().into()),
        CountColumn::number_texts("rows", |one| one.of.iter().sum::<usize>().to_string().into()),
    ];
    columns.extend(FigureStanding::ALL.into_iter().enumerate().map(|(at, standing)| {
        CountColumn::number_texts(standing.name(), move |one| one.of[at].to_string().into())
    }));
    columns.extend([
        CountColumn::number_texts("rank correlation", |one| rank_correlation(one.agreement).into()),
        CountColumn::number_texts("median difference", |one| {
            median_difference(one.agreement).into()
        }),
        CountColumn::number_texts("by server CPU", |one| match one.by_server_cpu {
            None => UNKNOWN.into(),
            of => format!("{}, {}", rank_correlation(of), median_difference(of)).into(),
        }),
    ]);
    columns
}

fn rank_correlation(agreement: Option<Agreement>) -> String {
    agreement.and_then(|of| of.rank_correlation).map_or(UNKNOWN.to_owned(), two_decimals)
}

fn median_difference(agreement: Option<Agreement>) -> String {
    agreement.map_or(UNKNOWN.to_owned(), |of| {
        format!("{}{GLUE}points", percentage_points(of.median_difference))
    })
}

/// What is asked, whose figures they are, how ours were measured and what stood for what.
fn origin(one: &Replication) -> Vec<Element> {
    let run = &one.run;
    let ours = format!("run {} of {}, {}", run.run, format_utc(run.started_unix_ms), run.host);
    let items = vec![
        LabelledItem::new(one.source.trim_end_matches('.')).with_label("printed", OWNER_WIDTH),
        LabelledItem::new(ours).with_label("ours", OWNER_WIDTH),
    ];
    type ArmColumn = TableColumn<'static, (Vec<String>, String)>;
    let columns = [
        ArmColumn::word_texts("printed", |(releases, _)| match releases.as_slice() {
            [] => UNKNOWN.into(),
            releases => releases.join(", ").into(),
        }),
        ArmColumn::word_texts("measured here", |(_, label)| label.into()),
    ];
    let commands = [run.command.clone(), format!("dbdyno published {}", one.file)];
    vec![
        Element::Heading(one.question.as_str().into()),
        Element::Items(items),
        Element::Lines(commands.map(Text::from).into()),
        Element::Table(DataTable::new(&columns, &run.arms)),
    ]
}

/// A printed figure, and whose it is.
struct FigureRow<'a> {
    of: &'a Replication,
    table: &'a ReplicatedTable,
    row: &'a ReplicatedRow,
}

/// A printed table with its rows, as far as anything of it was measured.
fn figures(of: &Replication, table: &ReplicatedTable) -> Vec<Element> {
    let published = &table.published;
    let rows: Vec<FigureRow<'_>> =
        table.rows.iter().map(|row| FigureRow { of, table, row }).collect();
    let shown = if table.is_testable() { &rows[..] } else { &[] };
    let shown = DataTable::new(&figure_columns(), shown).with_records(&figure_columns(), &rows);
    let title = format!("{} ({} ÷ {})", published.of, published.test, published.base);
    let reasons = table.rows.iter().filter_map(|row| {
        let because = row.published.because.as_ref()?;
        Some(format!("{}: {because}", row.published.load).into())
    });
    vec![
        Element::Title(title.into()),
        Element::Sentence(finding(table).into()),
        Element::Table(shown),
        Element::Notes(reasons.collect()),
    ]
}

fn figure_columns<'a>() -> [TableColumn<'a, FigureRow<'a>>; 14] {
    type FigureColumn<'a> = TableColumn<'a, FigureRow<'a>>;
    [
        FigureColumn::recorded_field("file", |one| one.of.file.clone()),
        FigureColumn::recorded_field("of", |one| one.table.published.of.clone()),
        FigureColumn::recorded_field("base", |one| one.table.published.base.clone()),
        FigureColumn::recorded_field("test", |one| one.table.published.test.clone()),
        FigureColumn::recorded_field("what", |one| one.table.published.what.to_string()),
        FigureColumn::word_texts("load", |one| one.row.published.load.as_str().into())
            .and_recorded("load", |one| one.row.published.load.clone()),
        FigureColumn::number_texts("theirs", |one| two_decimals(one.row.published.ratio).into())
            .and_recorded("theirs", |one| one.row.published.ratio.to_string()),
        FigureColumn::number_texts("ours", |one| with_ends(one.row.ours).into())
            .and_recorded("ours", |one| number_field(one.row.ours.map(|ours| ours.estimate))),
        FigureColumn::recorded_field("ours_low", |one| {
            number_field(one.row.ours.map(|ours| ours.low))
        }),
        FigureColumn::recorded_field("ours_high", |one| {
            number_field(one.row.ours.map(|ours| ours.high))
        }),
        FigureColumn::number_texts("by server CPU", |one| with_ends(one.row.by_server_cpu).into())
            .and_recorded("by_server_cpu", |one| {
                number_field(one.row.by_server_cpu.map(|ours| ours.estimate))
            }),
        FigureColumn::recorded_field("by_server_cpu_low", |one| {
            number_field(one.row.by_server_cpu.map(|ours| ours.low))
        }),
        FigureColumn::recorded_field("by_server_cpu_high", |one| {
            number_field(one.row.by_server_cpu.map(|ours| ours.high))
        }),
        FigureColumn::word_texts("", |one| sign(one.row.standing).into())
            .and_recorded("standing", |one| one.row.standing.name().to_owned()),
    ]
}

/// What became of an expectation in each cell.
fn expected(signs: &[FoundSign]) -> Vec<Element> {
    let Expectation { figure, sign: expected, why } = &signs[0].expectation;
    let items = signs.iter().map(|found| {
        let arm = found.test.as_ref().map_or(String::new(), |arm| format!(", {arm}"));
        let FoundSign { outcome, .. } = found;
        LabelledItem::new(format!("{}{arm}: {}", outcome.cell, outcome_words(outcome)))
            .with_label(sign(found.standing()), STANDING_WIDTH)
    });
    vec![
        Element::Title(format!("expected: {figure} {}, {why}", expected.name()).into()),
        Element::Items(items.collect()),
    ]
}

/// How many rows stand how, and how far they agree, in a sentence.
fn finding(table: &ReplicatedTable) -> String {
    let published = &table.published;
    if !table.is_testable() {
        return match table.arms {
            None => format!(
                "not testable here, no arm stands for {} or {}",
                published.base, published.test
            ),
            Some(_) => "not testable here, none of its loads was measured".to_owned(),
        };
    }
    let counts = in_words(counts(table.rows.iter().map(|row| row.standing)));
    // Medians of groups are no loads, which alone agree or do not.
    let Some(agreement) = &table.agreement else { return format!("{counts}.") };
    let by_cpu = table.by_server_cpu.as_ref().map_or(String::new(), |agreement| {
        format!("; by server CPU {}", agreement_text(agreement))
    });
    let with = match (published.clients, table.clients.as_slice()) {
        (Some(theirs), [ours]) if theirs != *ours => {
            format!(" With {} here, {theirs} there.", clients(*ours))
        }
        _ => String::new(),
    };
    format!("{counts}; {}{by_cpu}.{with}", agreement_text(agreement))
}

/// The words of a standing with a sign in front.
fn sign(standing: FigureStanding) -> &'static str {
    match standing {
        FigureStanding::Confirmed => "= confirmed",
        FigureStanding::Different => "≠ different here",
        FigureStanding::Open => "~ open",
        FigureStanding::NotTestable => "— not testable here",
    }
}
