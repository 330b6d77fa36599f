//! Numbers as people write them, decided by all cells of a column.
//!
//! ```text
//!   1.234,5   can only have the comma for its decimals: so has every cell of the column
//!   1.234     a thousand, or little more than one: the other cells decide, else nobody
//!   20 ms     a number and a unit; one column has one unit, or units that are parts of it
//!   3 ops/ms  what is counted by a time is a rate, and time by what is counted a cost
//!   **~950** (+1.2%)   signs around a number, and a change behind it, are not part of it
//! ```

/// What stands between a number and its decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalMark {
    /// `1,234.5`
    Point,
    /// `1.234,5`
    Comma,
}

/// Units that are parts of one another, with their size in that of the first of their family, and
/// units of which nobody can say how many make another: those stand in a family alone. What is
/// counted by the time, and time by what is counted, follows from these.
const UNITS: [(&str, &str, f64); 53] = [
    ("", "count", 1.0),
    ("k", "count", 1e3),
    ("K", "count", 1e3),
    ("M", "count", 1e6),
    ("G", "count", 1e9),
    ("ns", "time", 1.0),
    ("us", "time", 1e3),
    ("µs", "time", 1e3),
    ("μs", "time", 1e3),
    ("usec", "time", 1e3),
    ("ms", "time", 1e6),
    ("msec", "time", 1e6),
    ("s", "time", 1e9),
    ("sec", "time", 1e9),
    ("secs", "time", 1e9),
    ("second", "time", 1e9),
    ("seconds", "time", 1e9),
    ("nanoseconds", "time", 1.0),
    ("microseconds", "time", 1e3),
    ("milliseconds", "time", 1e6),
    ("minutes", "time", 6e10),
    // CloudWatch's names.
    ("Microseconds", "time", 1e3),
    ("Milliseconds", "time", 1e6),
    ("Seconds", "time", 1e9),
    ("Bytes", "bytes", 1.0),
    ("Percent", "%", 1.0),
    ("min", "time", 6e10),
    ("h", "time", 3.6e12),
    ("B", "bytes", 1.0),
    ("bytes", "bytes", 1.0),
    ("KiB", "bytes", 1024.0),
    ("MiB", "bytes", 1_048_576.0),
    ("GiB", "bytes", 1_073_741_824.0),
    ("TiB", "bytes", 1_099_511_627_776.0),
    // Of 1000 whoever wrote them, for nothing that is sent has another size.
    ("bit", "bits", 1.0),
    ("bits", "bits", 1.0),
    ("kbit", "bits", 1e3),
    ("kbits", "bits", 1e3),
    ("Kbit", "bits", 1e3),
    ("Kbits", "bits", 1e3),
    ("Mbit", "bits", 1e6),
    ("Mbits", "bits", 1e6),
    ("Gbit", "bits", 1e9),
    ("Gbits", "bits", 1e9),
    ("Tbit", "bits", 1e12),
    ("Tbits", "bits", 1e12),
    // Of 1000 or of 1024, whoever wrote it.
    ("kB", "kB", 1.0),
    ("KB", "KB", 1.0),
    ("MB", "MB", 1.0),
    ("GB", "GB", 1.0),
    ("TB", "TB", 1.0),
    ("T", "T", 1.0),
    ("%", "%", 1.0),
];
/// Signs of money, which stand before the number and are its unit.
const MONEY_SIGNS: [char; 4] = ['$', '€', '£', '¥'];
/// Units that are called by what is counted in a second: parts of none.
const RATES: [&str; 6] = ["qps", "tps", "rps", "iops", "ops", "fps"];
/// Of each operation: parts of none.
const COUNTED: [&str; 2] = ["B/op", "allocs/op"];
/// A longer unit is a sentence.
const UNIT_LETTERS_MOST: usize = 24;

/// A number and the unit behind it; what stands behind `±` is left away. `None` for what is none.
fn quantity(cell: &str, mark: DecimalMark) -> Option<(f64, &str)> {
    let cell = undecorated(cell);
    if let Some(rest) = cell.strip_prefix(MONEY_SIGNS) {
        let (value, unit) = number_and_rest(rest, mark)?;
        return unit.is_empty().then(|| (value, &cell[..cell.len() - rest.len()]));
    }
    let (cell, error) =
        cell.split_once('±').or_else(|| cell.split_once("+/-")).unwrap_or((cell, ""));
    let (value, unit) = number_and_rest(cell.trim_end(), mark)?;
    // `20 ± 1 ms`
    if unit.is_empty() && !error.is_empty() {
        return Some((value, number_and_rest(error.trim(), mark)?.1));
    }
    Some((value, unit))
}

/// A cell without what is set around its number: signs of Markdown, `~`, the apostrophe that keeps
/// a spreadsheet from calculating, the change against another run behind it, and a picture.
fn undecorated(cell: &str) -> &str {
    let mut cell = cell.trim();
    for pair in ["**", "__", "*", "_", "`"] {
        let inner = cell.strip_prefix(pair).and_then(|rest| rest.strip_suffix(pair));
        cell = inner.map_or(cell, str::trim);
    }
    cell = cell.strip_prefix(['\'', '~', '≈', '=']).map_or(cell, str::trim_start);
    if let Some((number, picture)) = cell.strip_suffix(':').and_then(|rest| rest.rsplit_once(':'))
        && !picture.is_empty()
        && picture.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    {
        cell = number.trim_end();
    }
    let change = cell.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    match change {
        Some((number, change)) if is_change(change) && !number.is_empty() => number.trim_end(),
        _ => cell,
    }
}

/// `+1.2%`, `-3 %`, `1.02x`
fn is_change(text: &str) -> bool {
    let text = text.trim();
    let Some(share) = text.strip_suffix(['%', 'x', '×']) else { return false };
    let share = share.trim().trim_start_matches(['+', '-', '−', '±', '~']);
    !share.is_empty() && share.bytes().all(|byte| byte.is_ascii_digit() || b".,".contains(&byte))
}

/// Whether a cell that is no number has one in a form that is not read: `>950`, `avg: 950.0`,
/// `950.0 / 1900.0`, `9,50,000`. Versions, dates, hashes and names have none.
pub(super) fn resembles_a_number(cell: &str) -> bool {
    let (label, value) = cell.rsplit_once([':', '=']).unwrap_or(("", cell));
    let is_label = label.contains(char::is_alphabetic);
    let cell = if is_label { value.trim() } else { cell.trim() };
    let Some(from) = cell.find(char::is_numeric) else { return false };
    let (before, number) = cell.split_at(from);
    let before = before.trim_end();
    let is_bare = before.chars().all(|c| "~≈<>≤≥=±([{\"'*_`×x$€£¥#+-−".contains(c));
    let end = number.find(|c: char| !c.is_numeric() && !['.', ','].contains(&c));
    let (number, behind) = number.split_at(end.unwrap_or(number.len()));
    let marks = number.matches(['.', ',']).count();
    let is_version = number.matches('.').count() > 1;
    let is_parted = behind.starts_with([' ', ')', ']', '/', '-', '–', '@', '*', '×', '·', '…']);
    // A whole number within words may count anything.
    let is_alone = !is_label && behind.is_empty() && !cell.bytes().all(|b| b.is_ascii_digit());
    !is_version && is_bare && (behind.is_empty() || is_parted) && (marks > 0 || is_alone)
}

fn number_and_rest(cell: &str, mark: DecimalMark) -> Option<(f64, &str)> {
    let digits_from = cell.find(|c: char| c.is_ascii_digit())?;
    let sign = match cell[..digits_from].trim_end_matches(['.', ',']) {
        "" | "+" => 1.0,
        "-" | "−" => -1.0,
        _ => return None,
    };
    let mut end = digits_from;
    for (at, c) in cell.char_indices().skip_while(|(at, _)| *at < digits_from) {
        let next = cell[at + c.len_utf8()..].chars().next();
        let is_digit_next = next.is_some_and(|next| next.is_ascii_digit());
        let is_within = c.is_ascii_digit()
            || [',', '.'].contains(&c)
            || (is_group_mark(c) && is_digit_next)
            || (['+', '-'].contains(&c) && is_digit_next && cell[..at].ends_with(['e', 'E']));
        let is_exponent = ['e', 'E'].contains(&c)
            && (is_digit_next || {
                let mut behind = cell[at + 1..].chars();
                behind.next().is_some_and(|c| ['+', '-'].contains(&c))
                    && behind.next().is_some_and(|c| c.is_ascii_digit())
            });
        if !is_within && !is_exponent {
            break;
        }
        end = at + c.len_utf8();
    }
    let begin = cell[..digits_from].trim_start_matches(['+', '-', '−']).len();
    let number = plain(&cell[digits_from - begin..end], mark)?.parse::<f64>().ok()?;
    let unit = cell[end..].trim();
    let is_unit = unit.chars().count() <= UNIT_LETTERS_MOST
        && !unit.contains(|c: char| c.is_ascii_digit() || [':', '-', '_'].contains(&c))
        && !unit.starts_with(['.', ',', '/', '+']) | ["/s"].contains(&unit);
    (number.is_finite() && is_unit).then_some((sign * number, unit))
}

/// Marks that stand between thousands and never before decimals.
fn is_group_mark(c: char) -> bool {
    ['\'', '’', '_', ' ', '\u{a0}', '\u{202f}', '\u{2009}'].contains(&c)
}

/// The number without marks between thousands and with a point before its decimals.
fn plain(text: &str, mark: DecimalMark) -> Option<String> {
    let (decimal, other) = match mark {
        DecimalMark::Point => ('.', ','),
        DecimalMark::Comma => (',', '.'),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let (whole, decimals) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(decimals) || (whole.is_empty() && decimals.is_empty()) {
        return None;
    }
    if let Some(group) = whole.chars().find(|c| !c.is_ascii_digit()) {
        if group != other && !is_group_mark(group) {
            return None;
        }
        let mut groups = whole.split(group);
        let first = groups.next().unwrap_or_default();
        let is_sound =
            (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0');
        if !is_sound || !groups.all(|group| group.len() == 3 && is_digits(group)) {
            return None;
        }
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    Some(format!("{whole}.{decimals}0{exponent}"))
}

/// Whether a cell is a number, alone or with a known unit.
pub(super) fn is_number(cell: &str) -> bool {
    [DecimalMark::Point, DecimalMark::Comma]
        .into_iter()
        .any(|mark| quantity(cell, mark).is_some_and(|(_, unit)| is_known(unit)))
}

/// Whether a cell is a number alone.
pub(super) fn is_bare_number(cell: &str) -> bool {
    [DecimalMark::Point, DecimalMark::Comma]
        .into_iter()
        .any(|mark| quantity(cell, mark).is_some_and(|(_, unit)| unit.is_empty()))
}

/// Whether a cell is a number with a unit that is not known.
pub(super) fn has_a_unit(cell: &str) -> bool {
    quantity(cell, DecimalMark::Point).is_some_and(|(_, unit)| !is_known(unit))
}

/// Whether a cell is a number with a unit that is known, such as `125.31 ms`.
pub(super) fn has_a_known_unit(cell: &str) -> bool {
    quantity(cell, DecimalMark::Point).is_some_and(|(_, unit)| !unit.is_empty() && is_known(unit))
}

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// A time, by itself.
    Time,
    /// A time, or something else that is used, for each of what is done.
    Cost,
    /// Something for each piece of time.
    Rate,
}

fn is_time(unit: &str) -> bool {
    size_of(unit).is_some_and(|(family, _)| family == "time")
}

/// What a unit measures; `None` where it does not say.
pub(super) fn unit_measure(unit: &str) -> Option<Measure> {
    if is_time(unit) {
        return Some(Measure::Time);
    }
    if COUNTED.contains(&unit) {
        return Some(Measure::Cost);
    }
    if RATES.contains(&unit.to_ascii_lowercase().as_str()) {
        return Some(Measure::Rate);
    }
    let (what, of) = unit.rsplit_once('/')?;
    match (is_time(what), is_time(of)) {
        (true, false) => Some(Measure::Cost),
        (false, true) => Some(Measure::Rate),
        _ => None,
    }
}

/// Whether a unit is a time for each of something, such as `ns/op`.
pub(super) fn is_time_of_each(unit: &str) -> bool {
    unit.rsplit_once('/').is_some_and(|(what, of)| is_time(what) && !is_time(of))
}

/// Whether a unit is a number of things, or a size of data.
pub(super) fn is_size(unit: &str) -> bool {
    unit.is_empty() || size_of(unit).is_some_and(|(family, _)| !["time", "%"].contains(&family))
}

pub(super) fn is_known(unit: &str) -> bool {
    size_of(unit).is_some() || unit_measure(unit).is_some()
}

/// The family of a unit in the table, and its size there.
fn size_of(unit: &str) -> Option<(&'static str, f64)> {
    let found = UNITS.iter().find(|(name, ..)| *name == unit);
    found.map(|(_, family, size)| (*family, *size))
}

/// The family of a unit and its size there. An unknown one is a family of its own.
pub(super) fn unit_family(unit: &str) -> (String, f64) {
    if let Some((family, size)) = size_of(unit) {
        return (family.to_owned(), size);
    }
    let alone = (unit.to_owned(), 1.0);
    let Some((what, of)) = unit.rsplit_once('/') else { return alone };
    match (size_of(what).unwrap_or((what, 1.0)), size_of(of).unwrap_or((of, 1.0))) {
        (("time", _), ("time", _)) => alone,
        (("time", size), (of, 1.0)) => (format!("time/{of}"), size),
        // By the second, so that usual factors are whole numbers.
        ((what, size), ("time", of)) => (format!("{what}/time"), size * (1e9 / of)),
        _ => alone,
    }
}

/// What cells say about the decimal mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Evidence {
    points: usize,
    commas: usize,
    /// The index of a cell that may be either.
    pub(super) open: Option<usize>,
}

impl Evidence {
    pub(super) fn from_cells<'a>(cells: impl Iterator<Item = &'a str>) -> Evidence {
        let mut all = Evidence::default();
        for (index, cell) in cells.enumerate() {
            match (quantity(cell, DecimalMark::Point), quantity(cell, DecimalMark::Comma)) {
                (Some(point), Some(comma)) if point.0 != comma.0 => {
                    all.open = all.open.or(Some(index));
                }
                (Some(_), None) => all.points += 1,
                (None, Some(_)) => all.commas += 1,
                _ => {}
            }
        }
        all
    }

    pub(super) fn combined_with(self, other: Evidence) -> Evidence {
        Evidence {
            points: self.points + other.points,
            commas: self.commas + other.commas,
            open: self.open,
        }
    }

    /// Where all that decides says the same.
    pub(super) fn decimal_mark(self) -> Option<DecimalMark> {
        match (self.points, self.commas) {
            (1.., 0) => Some(DecimalMark::Point),
            (0, 1..) => Some(DecimalMark::Comma),
            _ => None,
        }
    }

    /// Where some cells can only have the point, and some only the comma.
    pub(super) fn is_at_odds(self) -> bool {
        self.points > 0 && self.commas > 0
    }
}

/// Values of a series in one unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub(super) of_rows: Vec<Option<f64>>,
    /// Empty where numbers stand alone.
    pub(super) unit: String,
}

/// Reads cells, each `None` where it is blank.
///
/// # Errors
/// The index of a cell that is no number, or whose unit is no part of that of the others.
pub(super) fn values(cells: &[Option<&str>], mark: DecimalMark) -> Result<Values, (usize, String)> {
    let mut read: Vec<Option<(f64, &str)>> = Vec::with_capacity(cells.len());
    for (index, cell) in cells.iter().enumerate() {
        let Some(cell) = cell else {
            read.push(None);
            continue;
        };
        let number = quantity(cell, mark).ok_or_else(|| {
            (
                index,
                format!(
                    "{cell:?} is no number; write it as the cells beside it, such as 21840.5, or \
                     leave it blank"
                ),
            )
        });
        read.push(Some(number?));
    }
    let Some((_, first)) = read.iter().flatten().next().copied() else {
        return Ok(Values { of_rows: vec![None; cells.len()], unit: String::new() });
    };
    let (kind, first_size) = unit_family(first);
    let is_other = |(_, value): &(usize, &Option<(f64, &str)>)| {
        value.is_some_and(|(_, unit)| unit_family(unit).0 != kind)
    };
    if let Some((index, _)) = read.iter().enumerate().find(is_other) {
        let other = cells.iter().flatten().next().copied().unwrap_or_default();
        let cell = cells[index].unwrap_or_default();
        return Err((
            index,
            format!("{cell:?} is in another unit than {other:?}; write all of them in one"),
        ));
    }
    let is_one = read.iter().flatten().all(|(_, unit)| *unit == first);
    // Thousands and millions are no units, and numbers without them stand beside them.
    let is_count = kind == "count";
    let (unit, size) = if is_count { ("", 1.0) } else { (first, first_size) };
    let value = |(value, unit): (f64, &str)| {
        if is_one && !is_count { value } else { value * unit_family(unit).1 / size }
    };
    let of_rows = read.into_iter().map(|one| one.map(value)).collect();
    Ok(Values { of_rows, unit: unit.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let point = |text| quantity(text, DecimalMark::Point);
        let comma = |text| quantity(text, DecimalMark::Comma);
        for (text, value, unit) in [
            ("21840.5", 21840.5, ""),
            ("1,020,011.5", 1_020_011.5, ""),
            ("-3", -3.0, ""),
            ("−3", -3.0, ""),
            (".5", 0.5, ""),
            ("5.", 5.0, ""),
            ("1e3", 1000.0, ""),
            ("1.5E-3", 0.0015, ""),
            ("20 ms", 20.0, "ms"),
            ("20ms", 20.0, "ms"),
            ("1.2k", 1.2, "k"),
            ("512 MiB", 512.0, "MiB"),
            ("21 840 qps", 21840.0, "qps"),
            ("21'840", 21840.0, ""),
            ("21\u{202f}840", 21840.0, ""),
            ("12.3 ms ± 0.2 ms", 12.3, "ms"),
            ("12.3 ± 0.2 ms", 12.3, "ms"),
            ("45%", 45.0, "%"),
            ("~950", 950.0, ""),
            ("≈ 950", 950.0, ""),
            ("'950.5", 950.5, ""),
            ("**950.5**", 950.5, ""),
            ("`950 ms`", 950.0, "ms"),
            ("950.5 (+1.2%)", 950.5, ""),
            ("950.5 ms (1.02x)", 950.5, "ms"),
            ("950.5 :red_circle:", 950.5, ""),
            ("$950.5", 950.5, "$"),
        ] {
            assert_eq!(point(text), Some((value, unit)), "{text}");
        }
        assert_eq!(comma("1.234,5"), Some((1234.5, "")));
        assert_eq!(comma("1.234"), Some((1234.0, "")));
        assert_eq!(point("1.234"), Some((1.234, "")));
        for text in ["", "a", "1.2.3", "2024-01-31", "12:30", "6.1.0-generic", "1,23", "x1", "nan"]
        {
            assert_eq!(point(text), None, "{text}");
        }
        assert_eq!((comma("0.317"), comma("1.5")), (None, None), "no group begins with a zero");
    }

    #[test]
    fn a_number_that_is_not_read_is_seen() {
        for text in [
            ">950",
            "<950",
            "(950.0)",
            "×1.0000",
            "9,50,000",
            "950.0 @16",
            "945.0-955.0",
            "[945.0, 955.0]",
            "950.0 / 1900.0",
            "avg: 950.0",
            "p99=950.0",
            "９５０",
        ] {
            assert!(!is_number(text) && resembles_a_number(text), "{text}");
        }
        for text in [
            "8.0.32",
            "8.0.32 (build 5)",
            "2024-01-31",
            "6.1.0-13-amd64",
            "db-3",
            "run 12",
            "v12",
            "build: 12",
            "1f4e9c0",
            "12ab",
            "main",
            "1 of 2",
        ] {
            assert!(!resembles_a_number(text), "{text}");
        }
    }

    #[test]
    fn one_column_has_one_unit() {
        let of = |cells: &[&str]| {
            let cells: Vec<Option<&str>> = cells.iter().map(|cell| Some(*cell)).collect();
            values(&cells, DecimalMark::Point)
        };
        let told = |cells: &[&str]| {
            let values = of(cells).unwrap();
            (values.of_rows.into_iter().flatten().collect::<Vec<f64>>(), values.unit)
        };
        assert_eq!(told(&["20 ms", "1.5 s"]), (vec![20.0, 1500.0], "ms".to_owned()));
        assert_eq!(told(&["950", "1.2k", "3M"]), (vec![950.0, 1200.0, 3e6], String::new()));
        assert_eq!(told(&["512 MB", "513 MB"]), (vec![512.0, 513.0], "MB".to_owned()));
        let rates = told(&["1.5 Gbits/sec", "900 Mbits/sec"]);
        assert_eq!(rates, (vec![1.5, 0.9], "Gbits/sec".to_owned()));
        assert_eq!(told(&["2 stories"]), (vec![2.0], "stories".to_owned()));
        assert_eq!(told(&["2000 ops/s", "3 ops/ms"]), (vec![2000.0, 3000.0], "ops/s".to_owned()));
        assert_eq!(told(&["1 MiB/s", "512 KiB/s"]), (vec![1.0, 0.5], "MiB/s".to_owned()));
        assert_eq!(told(&["20 us/op", "1 ms/op"]), (vec![20.0, 1000.0], "us/op".to_owned()));
        for cells in [
            ["20 ms", "20"],
            ["512 KB", "1 MB"],
            ["20 ms", "20 qps"],
            ["1k", "2 ms"],
            ["20 ms/op", "20 ops/ms"],
            ["1 KB/s", "1 MB/s"],
        ] {
            assert_eq!(of(&cells).unwrap_err().0, 1, "{cells:?}");
        }
    }

    #[test]
    fn what_decides_the_mark_is_a_cell_that_can_only_have_one() {
        let of = |cells: &[&str]| Evidence::from_cells(cells.iter().copied());
        assert_eq!(of(&["1.234", "1.234,5"]).decimal_mark(), Some(DecimalMark::Comma));
        assert_eq!(of(&["1,234", "1,234.5"]).decimal_mark(), Some(DecimalMark::Point));
        assert_eq!(of(&["1,234", "0,234"]).decimal_mark(), Some(DecimalMark::Comma));
        assert_eq!((of(&["1.234"]).decimal_mark(), of(&["1.234"]).open), (None, Some(0)));
        assert!(of(&["1.5", "1,5"]).is_at_odds() && of(&["1.5", "1,5"]).decimal_mark().is_none());
        assert_eq!(of(&["12", "34"]), Evidence::default());
    }
}
