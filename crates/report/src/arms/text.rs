//! Text for a terminal: one load at one client count on a line, arms across.
//!
//! ```text
//!   queries/s at 1 client   mysql:5.6   mysql:5.7   mysql:8.0   history   against the arm before
//!   rows by key                            ▼ 0.97      ▼ 0.90             ▼ 0.97  ▼ 0.93
//!     point-query              21 840      = 0.99      ▼ 0.91       ▅▅▄   =  ▼ 0.92
//! ```
//!
//! Where a terminal is too narrow, the arms stand in several tables, and what stands behind them is
//! left out; with all sections it has tables of its own.

use dbdyno_document::layout::{self, Grid, Line};
use dbdyno_document::number::{GLUE, UNKNOWN};
use dbdyno_document::terminal::{Colour, Paint, TextStyle, painted};

use super::figure::{Better, Figure, Shade};
use super::table::{self, Table};
use super::view::ArmsView;
use super::view::Note;
use super::words::Signs;
use super::{costs, history, words};
use crate::cautions::TOLD_MOST;
use crate::notes;
use crate::sections::Section;
use crate::words as told;

/// How much a table of several arms says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmsTableDetail {
    /// Ratios.
    Ratios,
    /// And their intervals.
    Intervals,
}

/// The head of the column of histories.
const HISTORY: &str = "history";
/// Fewer arms than this are not put into a table of their own.
const ARMS_LEAST: usize = 2;

/// The report for a terminal. Ends with a line feed.
pub fn arms_text(
    view: &ArmsView,
    detail: ArmsTableDetail,
    parts: &[Section],
    style: &TextStyle,
) -> String {
    let mut text = String::new();
    for status in words::status(view) {
        let status = layout::paragraph(&status, style.width, "", "  ");
        text.push_str(&painted(&status, Paint::Caution, style.colour));
    }
    let headline = layout::paragraph(&words::headline(view), style.width, "", "");
    text.push_str(&painted(&headline, Paint::Strong, style.colour));
    text.push('\n');
    text.push_str(&arms(view, style.width));
    text.push('\n');
    if view.has_answers() {
        text.push_str(&rates(view, detail, parts, style));
        text.push('\n');
        text.push_str(&falls(view, parts, style.width));
        if parts.contains(&Section::Cost) {
            text.push_str(&cost_tables(view, detail, style));
        }
    }
    let counted = words::counted(view);
    if !counted.is_empty() {
        let ragged = counted[0].len();
        let lines = counted.into_iter().map(Line::Columns).collect();
        text.push_str(&Grid { lines, ragged }.render(style.width));
        text.push('\n');
    }
    let has_history = text.contains(HISTORY);
    text.push_str(&footnotes(view, parts, style.width));
    if has_history {
        text.push_str(&layout::paragraph(history::LEGEND, style.width, "", "  "));
    }
    text.replace(GLUE, " ")
}

fn arms(view: &ArmsView, width: usize) -> String {
    let counts = words::of_arms(view);
    let line = |arm: &super::view::ArmHead| {
        let count = counts.iter().find(|(of, _)| of.index == arm.index);
        let count = count.map_or(String::new(), |(_, count)| format!(": {count}"));
        let first = format!("  {:6}  ", arm.index);
        layout::paragraph(&format!("{}{count}", arm.label), width, &first, "          ")
    };
    view.arms.iter().map(line).collect()
}

/// Where each group starts to fall: one sentence for all of them, or one for each if everything is
/// wished.
fn falls(view: &ArmsView, parts: &[Section], width: usize) -> String {
    let falls = match words::falls_in_short(view).filter(|_| !is_everything(parts)) {
        Some(in_short) => vec![("starts to fall".to_owned(), in_short)],
        None => words::falls(view),
    };
    let line = |(called, sentence): &(String, String)| {
        layout::paragraph(sentence, width, &format!("{called}: "), "  ")
    };
    let text: String = falls.iter().map(line).collect();
    if text.is_empty() { text } else { text + "\n" }
}

/// Rates, and behind the last arms their history and each arm against the one before. Where a line
/// does not hold that, it has tables of its own if everything is wished, and is left out else.
fn rates(view: &ArmsView, detail: ArmsTableDetail, parts: &[Section], style: &TextStyle) -> String {
    let table = table::rates(view);
    let full = Tail::of(view, Steps::Told);
    if !is_everything(parts) {
        let tails = [full, Tail::of(view, Steps::LeftOut), Tail::none(view)];
        let made = |tail: &Tail| tables(view, &table, detail, tail, style.width);
        let mut made = tails.iter().map(made);
        let fitting = made.find(|tables| !tables.is_apart).unwrap_or_default();
        return coloured(&fitting.text, view.better(), style.colour);
    }
    let is_fitting = |tail: &Tail| {
        let columns = Columns { detail, arms: &[], tail: Some(tail) };
        grid(view, &table, &columns).width() <= style.width
    };
    let steps = table::steps(view).filter(|_| !is_fitting(&full));
    let tail = if steps.is_some() { Tail::of(view, Steps::LeftOut) } else { full };
    let mut lines = tables(view, &table, detail, &tail, style.width).text;
    if let Some(steps) = steps {
        lines.push_str("\nagainst the arm before:\n");
        lines.push_str(&tables(view, &steps, detail, &Tail::none(view), style.width).text);
    }
    coloured(&lines, view.better(), style.colour)
}

/// What operations cost, and rates by what the server's processor had to do.
fn cost_tables(view: &ArmsView, detail: ArmsTableDetail, style: &TextStyle) -> String {
    let (of_costs, said) = costs::tables(view);
    let by_cpu = costs::by_cpu(view);
    let nothing = Tail::none(view);
    let mut text = String::new();
    for table in &of_costs {
        let lines = tables(view, table, detail, &nothing, style.width).text;
        text.push_str(&(coloured(&lines, Better::Less, style.colour) + "\n"));
    }
    let mut asides: Vec<String> = said;
    asides.push(costs::ABOUT.to_owned());
    if let Some(table) = &by_cpu {
        let lines = tables(view, table, detail, &nothing, style.width).text;
        text.push_str(&layout::paragraph(&format!("{}:", table.title), style.width, "", ""));
        text.push_str(&(coloured(&lines, Better::More, style.colour) + "\n"));
        asides.extend(costs::about_sharing(view));
    }
    let asides = asides.iter().map(|aside| layout::paragraph(aside, style.width, "", "  "));
    text.extend(asides);
    text + "\n"
}

/// What stands behind the arms.
struct Tail {
    heads: Vec<String>,
    /// Of each part of the table, in their order.
    groups: Vec<Vec<String>>,
    /// Of each row of the view.
    rows: Vec<Vec<String>>,
}

/// Whether it is said behind the arms how each is against the one before it.
#[derive(Clone, Copy, PartialEq)]
enum Steps {
    Told,
    LeftOut,
}

impl Tail {
    fn none(view: &ArmsView) -> Tail {
        let nothing = |count: usize| vec![Vec::new(); count];
        Tail {
            heads: Vec::new(),
            groups: nothing(view.groups.len()),
            rows: nothing(view.rows.len()),
        }
    }

    fn of(view: &ArmsView, steps: Steps) -> Tail {
        let with_history = view.reference != dbdyno_model::Reference::Before;
        let columns = |history: String, step: String| -> Vec<String> {
            let step = (steps == Steps::Told && with_history).then_some(step);
            with_history.then_some(history).into_iter().chain(step).collect()
        };
        Tail {
            heads: columns(HISTORY.to_owned(), "against the arm before".to_owned()),
            groups: view
                .groups
                .iter()
                .map(|group| columns(String::new(), words::steps_of_group(view, group)))
                .collect(),
            rows: view
                .rows
                .iter()
                .map(|row| columns(history::blocks(view, row), words::steps(row)))
                .collect(),
        }
    }
}

/// Which columns a grid has.
struct Columns<'a> {
    detail: ArmsTableDetail,
    /// Places of arms; none where only what stands behind them is told.
    arms: &'a [usize],
    tail: Option<&'a Tail>,
}

/// Tables as text.
#[derive(Default)]
struct Tables {
    text: String,
    /// Whether what stands behind the arms has a table of its own.
    is_apart: bool,
}

/// Whether all sections that a report of several arms has are wished.
fn is_everything(parts: &[Section]) -> bool {
    [Section::Cost, Section::Notes].iter().all(|section| parts.contains(section))
}

/// As many tables as the width needs; the reference stands in each. What there is no room for
/// beside the last arms stands in a table of its own.
fn tables(
    view: &ArmsView,
    of: &Table,
    detail: ArmsTableDetail,
    tail: &Tail,
    width: usize,
) -> Tables {
    let others = of.others(view);
    let with = |arms, tail| grid(view, of, &Columns { detail, arms, tail });
    let (mut grids, mut from, mut is_apart) = (Vec::new(), 0, false);
    while from < others.len() {
        let fits =
            |to: &usize| *to < from + ARMS_LEAST || with(&others[from..*to], None).width() <= width;
        let to = (from + 1..=others.len()).rev().find(fits).unwrap_or(from + 1);
        let full = with(&others[from..to], Some(tail));
        if to < others.len() || tail.heads.is_empty() {
            grids.push(with(&others[from..to], None));
        } else if full.width() <= width {
            grids.push(full);
        } else {
            grids.extend([with(&others[from..to], None), with(&[], Some(tail))]);
            is_apart = true;
        }
        from = to;
    }
    let rendered = grids.iter().map(|grid| grid.render(width));
    Tables { text: rendered.collect::<Vec<_>>().join("\n"), is_apart }
}

fn grid(view: &ArmsView, of: &Table, columns: &Columns<'_>) -> Grid {
    let heads = view.heads();
    let has_arms = !columns.arms.is_empty();
    let mut head = match of.clients {
        Some(one) => vec![format!("{} at {}", of.unit, told::clients(one)).trim().to_owned()],
        None => vec![of.unit.clone(), "clients".to_owned()],
    };
    let begins = head.len();
    head.extend(has_arms.then(|| heads[of.first].clone()));
    head.extend(columns.arms.iter().map(|&at| heads[at].clone()));
    let ragged = head.len();
    head.extend(columns.tail.iter().flat_map(|tail| tail.heads.clone()));
    let mut lines = vec![Line::Columns(head)];
    for (number, part) in of.parts.iter().enumerate() {
        if let Some((called, medians)) = part.head() {
            let mut texts = vec![called.to_owned()];
            texts.resize(begins + usize::from(has_arms), String::new());
            texts.extend(columns.arms.iter().map(|&at| text_of(medians[at].as_ref(), "")));
            texts.extend(columns.tail.iter().flat_map(|tail| tail.groups[number].clone()));
            lines.push(Line::Columns(texts));
        }
        lines.extend(part.lines.iter().map(|line| of_row(of, line, columns)));
    }
    Grid { lines, ragged }
}

fn of_row(of: &Table, line: &table::Line, columns: &Columns<'_>) -> Line {
    let figure = |at: &usize| match &line.figures[*at] {
        Some(figure) => {
            let marks: Vec<usize> = figure.marks.iter().map(|note| note + 1).collect();
            let ratio = match columns.detail {
                ArmsTableDetail::Ratios => figure.text(),
                ArmsTableDetail::Intervals => figure.with_interval(),
            };
            format!("{ratio} {}", notes::marks(&marks)).trim_end().to_owned()
        }
        None => UNKNOWN.to_owned(),
    };
    let mut texts = vec![format!("  {}", line.load)];
    texts.extend(of.clients.is_none().then(|| line.clients.to_string()));
    texts.extend((!columns.arms.is_empty()).then(|| line.reference.clone()));
    texts.extend(columns.arms.iter().map(figure));
    texts.extend(columns.tail.iter().flat_map(|tail| tail.rows[line.row].clone()));
    Line::Columns(texts)
}

fn text_of(figure: Option<&Figure>, otherwise: &str) -> String {
    figure.map_or(otherwise.to_owned(), Figure::text)
}

/// Colours what stands behind each sign, and the sign; the two say the same.
fn coloured(text: &str, better: Better, colour: Colour) -> String {
    if colour == Colour::Plain {
        return text.to_owned();
    }
    let mut coloured = String::with_capacity(2 * text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['▼', '▲', '=', '~']) {
        let sign = rest[at..].chars().next().unwrap_or_default();
        let behind = &rest[at + sign.len_utf8()..];
        let number: String = behind
            .strip_prefix(GLUE)
            .map(|number| number.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect())
            .unwrap_or_default();
        let end = at + sign.len_utf8();
        let end = if number.is_empty() { end } else { end + GLUE.len_utf8() + number.len() };
        let paint = match (sign, number.parse::<f64>()) {
            ('~', _) => Paint::Doubt,
            (_, Ok(shown)) => match Shade::of(shown, better) {
                Shade::Worse => Paint::Bad,
                Shade::Better => Paint::Good,
                _ => Paint::Faint,
            },
            _ => Paint::None,
        };
        coloured.push_str(&rest[..at]);
        coloured.push_str(&painted(&rest[at..end], paint, colour));
        rest = &rest[end..];
    }
    coloured + rest
}

/// What speaks against something, the worst of it, and where the rest is said; or all of it.
fn footnotes(view: &ArmsView, parts: &[Section], width: usize) -> String {
    let is_brief = !parts.contains(&Section::Notes);
    let (told, left) = if is_brief { cautions(view) } else { (every_note(view), 0) };
    let mut text = String::new();
    for Footnote { at, note, others } in told {
        let more = match others {
            0 => String::new(),
            others => format!(" (and {others} like it)"),
        };
        let number = if is_brief && note.more.is_none() {
            String::new()
        } else {
            notes::superscript(at + 1) + " "
        };
        let first = format!("{number}{}: ", note.warning.severity);
        text.push_str(&layout::paragraph(&(note.text() + &more), width, &first, "  "));
    }
    text.push_str(&layout::paragraph(&rest(view, parts, left), width, "", "  "));
    text.push('\n');
    let detail = if is_everything(parts) { Signs::WithMethod } else { Signs::Alone };
    text.push_str(&layout::paragraph(&words::signs(view, detail), width, "", "  "));
    text
}

/// A note below the table.
struct Footnote<'a> {
    /// Its place among all notes.
    at: usize,
    note: &'a Note,
    /// How many more of its kind the run has.
    others: usize,
}

fn every_note(view: &ArmsView) -> Vec<Footnote<'_>> {
    let all = view.notes.iter().enumerate();
    all.map(|(at, note)| Footnote { at, note, others: 0 }).collect()
}

/// What blocks or endangers a verdict, one of each kind: what blocks first, then what is of the
/// whole run, then what most answers have; and how many kinds there are beside those.
fn cautions(view: &ArmsView) -> (Vec<Footnote<'_>>, usize) {
    let mut kinds = every_note(view);
    kinds.retain_mut(|Footnote { at, note, others }| {
        let like_it = alike(view, note);
        *others = like_it.len() - 1;
        !note.is_mere() && like_it[0] == *at
    });
    let reach = |note: &Note| std::cmp::Reverse(note.more.unwrap_or(u32::MAX));
    kinds.sort_by_key(|of| (!of.note.is_blocking(), reach(of.note)));
    let left = kinds.len().saturating_sub(TOLD_MOST);
    kinds.truncate(TOLD_MOST);
    (kinds, left)
}

/// The places of the notes of this kind, if it is of the whole run or of a pair of arms: no figure
/// of the table has its number. Else its own.
fn alike(view: &ArmsView, note: &Note) -> Vec<usize> {
    let is_alike = |other: &Note| match note.more {
        Some(_) => std::ptr::eq(other, note),
        None => {
            let (one, other_one) = (&note.warning, &other.warning);
            other.more.is_none()
                && (&one.code, one.severity) == (&other_one.code, other_one.severity)
        }
    };
    let all = view.notes.iter().enumerate();
    all.filter(|(_, other)| is_alike(other)).map(|(at, _)| at).collect()
}

/// Where the rest is.
fn rest(view: &ArmsView, parts: &[Section], cautions_left: usize) -> String {
    let notes = view.notes.iter().filter(|note| note.is_mere()).count() as u64;
    let is_left = |section: &Section| !parts.contains(section);
    let costs = is_left(&Section::Cost).then(|| "--section cost: what operations cost".to_owned());
    let counts = [(cautions_left as u64, "more caution"), (notes, "note")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| told::plural(count, what)).collect();
    let notes = (!counts.is_empty() && is_left(&Section::Notes))
        .then(|| format!("--section notes: {}", counts.join(", ")));
    let steps = view.has_steps() && view.has_answers() && !is_everything(parts);
    let steps = steps.then(|| "--against before: each arm against the one before it".to_owned());
    let one = Some("--arm ARM: one arm in full".to_owned());
    let parts: Vec<String> = [costs, notes, steps, one].into_iter().flatten().collect();
    format!("rest: dbdyno show {} with {}", view.head.run, parts.join("; "))
}
