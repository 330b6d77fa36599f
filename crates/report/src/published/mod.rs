//! Printed figures beside ours: theirs, ours with its interval, and how the two stand.
//!
//! ```text
//!   several Replications ──▶ one table of all printed tables: how many rows stand how
//!   each                 ──▶ who stood for whom, then a row for each printed figure
//!                        ──▶ svg: theirs across, ours upwards; what is confirmed lies in the band
//! ```

mod explained;
mod json;
mod svg;

use dbdyno_document::layout::{Grid, Line, paragraph, printable};
use dbdyno_document::markdown::escape;
use dbdyno_document::number::{GLUE, UNKNOWN, fixed, signed};
use dbdyno_document::terminal::TextStyle;
use dbdyno_model::Interval;
use dbdyno_model::experiment::{Expectation, FigureOutcome};
use dbdyno_model::published::{
    Agreement, FigureStanding, FoundSign, ReplicatedRow, ReplicatedTable, Replication,
};

use crate::calendar::utc;

pub use json::published_json;
pub use svg::published_svg;

/// What the columns mean.
const KEY: &str = "Ratios are test ÷ base. Ours has its 95 % interval. Confirmed: the whole \
                   interval lies within 0.05 of the printed ratio (5 % of ratios above 1); \
                   different here: the whole interval lies without; open: neither. By server CPU: \
                   the reciprocal of the ratio of the server's processor time for each statement, \
                   in which no client has a share. Rank correlation is Spearman's.";

/// For a terminal. Ends with a line feed.
pub fn published_text(all: &[Replication], style: &TextStyle) -> String {
    let width = style.width;
    let mut text = String::new();
    for one in all {
        text.push_str(&paragraph(&printable(&one.question), width, "", "  "));
        text.push_str(&paragraph(&printable(&one.source), width, "  ", "  "));
        text.push_str(&paragraph(&origin(one), width, "  ", "  "));
        for table in &one.tables {
            text.push('\n');
            text.push_str(&paragraph(&finding(table), width, "", "  "));
            if table.agreement.is_some() {
                text.push_str(&grid(table).render(width));
            }
            for because in reasons(table) {
                text.push_str(&paragraph(&because, width, "  ", "    "));
            }
        }
        if !one.signs.is_empty() {
            text.push('\n');
        }
        for sign in &one.signs {
            text.push_str(&paragraph(&expected(sign), width, "", "  "));
        }
        text.push('\n');
        text.push_str(&explained::text(&one.explained, style, &agreed));
    }
    (text + &paragraph(KEY, width, "", "  ")).replace(GLUE, " ")
}

fn grid(table: &ReplicatedTable) -> Grid {
    let heads = ["load", "theirs", "ours", "(95 % interval)", "by server CPU", ""];
    let mut lines = vec![Line::Columns(heads.map(str::to_owned).to_vec())];
    lines.extend(table.rows.iter().map(|row| {
        let ours = row.ours.map_or(UNKNOWN.to_owned(), |ours| two(ours.estimate));
        Line::Columns(vec![
            format!("  {}", printable(&row.published.load)),
            two(row.published.ratio),
            ours,
            row.ours.map_or(String::new(), ends),
            row.by_server_cpu.map_or(UNKNOWN.to_owned(), |ours| two(ours.estimate)),
            sign(row.standing).to_owned(),
        ])
    }));
    Grid { lines, ragged: 5 }
}

/// What stands above a page.
const TITLE: &str = "# What was published, measured again\n\n\
                     Each row of the first table is a table or a claim that somebody printed; the \
                     sections below have every figure, and the commands that repeat them.\n\n";

/// For a page. Ends with a line feed.
pub fn published_markdown(all: &[Replication]) -> String {
    let mut text = String::from(TITLE);
    text.push_str(
        "| printed | rows | confirmed | different here | open | not testable here | rank \
         correlation | median difference | by server CPU |\n|:--|--:|--:|--:|--:|--:|--:|--:|:--|\n",
    );
    for one in all {
        for table in &one.tables {
            text.push_str(&overview(one, table));
        }
        text.push_str(&overview_of_signs(one));
    }
    text.push_str(&format!("\n{}\n", KEY.replace(". ", ".\n")));
    for one in all {
        text.push_str(&format!("\n## {}\n\n", escape(&one.question)));
        text.push_str(&format!("Printed: {}.\n", escape(one.source.trim_end_matches('.'))));
        text.push_str(&format!("Ours: {}.\n", escape(&origin(one))));
        text.push_str(&format!("\n    {}\n    dbdyno published {}\n", one.run.command, one.file));
        text.push_str("\n| printed | measured here |\n|:--|:--|\n");
        for (theirs, label) in &one.run.arms {
            let theirs = if theirs.is_empty() { UNKNOWN.to_owned() } else { theirs.join(", ") };
            text.push_str(&format!("| {} | {} |\n", escape(&theirs), escape(label)));
        }
        for table in &one.tables {
            text.push_str(&format!("\n### {}\n\n{}\n", heading(table), escape(&finding(table))));
            if table.agreement.is_some() {
                text.push_str(&rows_markdown(table));
            }
        }
        text.push_str(&signs_markdown(one));
        text.push_str(&explained::for_page(&one.explained, &agreed));
    }
    text.replace(GLUE, " ")
}

fn overview(one: &Replication, table: &ReplicatedTable) -> String {
    let author = one.source.split(',').next().unwrap_or_default();
    let counts = FigureStanding::ALL.map(|standing| format!(" {} |", count(table, standing)));
    let figures = |agreement: &Agreement| {
        let correlation = agreement.rank_correlation;
        let correlation = correlation.map_or(UNKNOWN.to_owned(), two);
        (correlation, format!("{}{GLUE}points", points(agreement.median_difference)))
    };
    let (correlation, difference) =
        table.agreement.as_ref().map_or_else(|| (UNKNOWN.to_owned(), UNKNOWN.to_owned()), figures);
    let by_cpu = table.by_server_cpu.as_ref().map(figures);
    let by_cpu = by_cpu.map_or(UNKNOWN.to_owned(), |(one, other)| format!("{one}, {other}"));
    format!(
        "| {}: {} | {} |{} {correlation} | {difference} | {by_cpu} |\n",
        escape(author),
        escape(&table.published.of),
        table.rows.len(),
        counts.concat()
    )
}

fn overview_of_signs(one: &Replication) -> String {
    if one.signs.is_empty() {
        return String::new();
    }
    let author = one.source.split(',').next().unwrap_or_default();
    let of = |standing| one.signs.iter().filter(|sign| sign.standing() == standing).count();
    let counts = FigureStanding::ALL.map(|standing| format!(" {} |", of(standing)));
    let unknown = format!(" {UNKNOWN} |").repeat(3);
    format!(
        "| {}: {} | {} |{}{unknown}\n",
        escape(author),
        escape(&one.question),
        one.signs.len(),
        counts.concat()
    )
}

fn signs_markdown(one: &Replication) -> String {
    if one.signs.is_empty() {
        return String::new();
    }
    let mut text =
        String::from("\n| where | figure | expected | found | |\n|:--|:--|:--|:--|:--|\n");
    for found in &one.signs {
        let Expectation { figure, sign: expected, why } = &found.expectation;
        text.push_str(&format!(
            "| {} | {} | {}: {} | {} | {} |\n",
            escape(&place(found)),
            escape(&figure.to_string()),
            expected.word(),
            escape(why),
            escape(&outcome_words(&found.outcome)),
            sign(found.standing())
        ));
    }
    text
}

/// `rate less at read-write, 64 clients: 1.94 → 1.00, …: as expected`.
fn expected(found: &FoundSign) -> String {
    let Expectation { figure, sign: expected, .. } = &found.expectation;
    format!(
        "{} {figure} {}: {} ({})",
        sign(found.standing()),
        expected.word(),
        printable(&place(found)),
        outcome_words(&found.outcome)
    )
}

fn place(found: &FoundSign) -> String {
    let arm = found.test.as_ref().map_or(String::new(), |arm| format!(", {arm}"));
    format!("{}{arm}", found.outcome.cell)
}

/// What was found of a figure: `1.94 → 1.00, 0.516 (0.513 to 0.519) of base, less`.
pub fn outcome_words(outcome: &FigureOutcome) -> String {
    let (Some(base), Some(test)) = (outcome.base, outcome.test) else {
        return "was not observed".to_owned();
    };
    let ratio = outcome.ratio.map_or(String::new(), |ratio| {
        format!(", {:.3} ({:.3} to {:.3}) of base", ratio.estimate, ratio.low, ratio.high)
    });
    let sign = outcome.sign.map_or(String::new(), |sign| format!(", {}", sign.word()));
    format!("{base:.4} → {test:.4}{ratio}{sign}")
}

fn rows_markdown(table: &ReplicatedTable) -> String {
    let mut text =
        String::from("\n| load | theirs | ours | by server CPU | |\n|:--|--:|--:|--:|:--|\n");
    for row in &table.rows {
        let with_ends = |ours: Interval| format!("{} {}", two(ours.estimate), ends(ours));
        let because = row.published.because.as_ref();
        let because = because.map_or(String::new(), |why| format!(": {}", escape(why)));
        text.push_str(&format!(
            "| {} | {} | {} | {} | {}{because} |\n",
            escape(&row.published.load),
            two(row.published.ratio),
            row.ours.map_or(UNKNOWN.to_owned(), with_ends),
            row.by_server_cpu.map_or(UNKNOWN.to_owned(), with_ends),
            sign(row.standing),
        ));
    }
    text
}

/// CSV: a row for each printed figure. The names are a contract.
pub fn published_csv(all: &[Replication]) -> String {
    let mut text = String::from(
        "file,of,base,test,what,load,theirs,ours,ours_low,ours_high,by_server_cpu,\
         by_server_cpu_low,by_server_cpu_high,standing\r\n",
    );
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
    };
    for (one, table) in all.iter().flat_map(|one| one.tables.iter().map(move |table| (one, table)))
    {
        let published = &table.published;
        let what = published.what.to_string();
        for row in &table.rows {
            let head = [&one.file, &published.of, &published.base, &published.test, &what];
            let head = head.into_iter().chain([&row.published.load]).cloned();
            let interval = |ours: Option<Interval>| {
                let all = [ours.map(|o| o.estimate), ours.map(|o| o.low), ours.map(|o| o.high)];
                all.map(number)
            };
            let fields = head
                .chain([row.published.ratio.to_string()])
                .chain(interval(row.ours))
                .chain(interval(row.by_server_cpu))
                .chain([row.standing.name().to_owned()]);
            text.push_str(&dbdyno_document::csv::line(fields.collect()));
        }
    }
    text
}

/// When, by which command, on what ours were measured.
fn origin(one: &Replication) -> String {
    let run = &one.run;
    format!("run {} of {}, {}", run.run, utc(run.started_unix_ms), printable(&run.host))
}

fn heading(table: &ReplicatedTable) -> String {
    escape(&table.published.of)
}

/// How many rows stand how, and how far they agree, in a sentence.
fn finding(table: &ReplicatedTable) -> String {
    let published = &table.published;
    let of = format!("{} ({} ÷ {})", published.of, published.test, published.base);
    let Some(agreement) = &table.agreement else {
        let why = match table.arms {
            None => format!("no arm stands for {} or {}", published.base, published.test),
            Some(_) => "none of its loads was measured".to_owned(),
        };
        return format!("{}: not testable here, {why}", printable(&of));
    };
    let counts = FigureStanding::ALL.into_iter().map(|one| (one, count(table, one)));
    let counts = counts.filter(|(_, count)| *count > 0);
    let counts: Vec<String> =
        counts.map(|(standing, count)| format!("{count} {}", standing.name())).collect();
    let by_cpu = table
        .by_server_cpu
        .as_ref()
        .map_or(String::new(), |agreement| format!("; by server CPU {}", agreed(agreement)));
    let clients = match (published.clients, table.clients.as_slice()) {
        (Some(theirs), [ours]) if theirs != *ours => {
            format!(" With {} here, {theirs} there.", crate::words::clients(*ours))
        }
        _ => String::new(),
    };
    format!("{}: {}; {}{by_cpu}.{clients}", printable(&of), counts.join(", "), agreed(agreement))
}

fn agreed(agreement: &Agreement) -> String {
    let correlation = agreement
        .rank_correlation
        .map_or(String::new(), |correlation| format!("rank correlation {}, ", two(correlation)));
    format!(
        "{correlation}median difference {} points (shift {}), {} of {} within 5",
        points(agreement.median_difference),
        signed(100.0 * agreement.median_shift, 1),
        agreement.within,
        agreement.rows
    )
}

/// Why ours differ, row by row, as far as somebody wrote that down.
fn reasons(table: &ReplicatedTable) -> impl Iterator<Item = String> {
    let of = |row: &ReplicatedRow| {
        let because = row.published.because.as_ref()?;
        Some(format!("{}: {}", printable(&row.published.load), printable(because)))
    };
    table.rows.iter().filter_map(of)
}

fn count(table: &ReplicatedTable, standing: FigureStanding) -> usize {
    table.rows.iter().filter(|row| row.standing == standing).count()
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

/// Two decimals, as printed ratios have.
fn two(value: f64) -> String {
    fixed(value, 2)
}

fn points(difference: f64) -> String {
    fixed(100.0 * difference, 1)
}

/// `(0.60 to 0.66)`.
fn ends(ours: Interval) -> String {
    format!("({}{GLUE}to{GLUE}{})", two(ours.low), two(ours.high))
}
