//! Values are laid out here as the protocol's documentation spells them, and what they are shown as
//! is computed by other means than the decoder's: wide integers, the standard library's own
//! notation, seconds since midnight.

use proptest::prelude::*;

use super::*;

const NEWDECIMAL: u8 = 0xF6;

fn column(kind: u8, flags: u16) -> Column {
    Column { kind, flags, width: 10, decimals: 0 }
}

/// A row of these columns; `None` is NULL.
fn row(values: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut bits = vec![0_u8; (values.len() + 9) / 8];
    for (index, value) in values.iter().enumerate() {
        if value.is_none() {
            bits[(index + 2) / 8] |= 1 << ((index + 2) % 8);
        }
    }
    let values = values.iter().flatten().flatten().copied();
    [0].into_iter().chain(bits).chain(values).collect()
}

fn decoded(columns: &[Column], row: &[u8]) -> Result<Vec<Option<String>>, WireError> {
    let mut rows = RowBuffer::new();
    rows.begin_rows(columns.len());
    push_row(row, columns, &mut rows)?;
    Ok((0..columns.len())
        .map(|index| rows.text_at(0, index).map(|text| String::from_utf8(text.to_vec()).unwrap()))
        .collect())
}

fn shown(column: Column, value: &[u8]) -> String {
    decoded(&[column], &row(&[Some(value.to_vec())])).unwrap().remove(0).unwrap()
}

fn float(value: f64) -> String {
    shown(Column { decimals: AS_MANY, ..column(DOUBLE, 0) }, &value.to_le_bytes())
}

/// A date or a time in so many bytes.
fn packed(fields: &[&[u8]], length: usize) -> Vec<u8> {
    let all = fields.concat();
    [&[length as u8], &all[..length]].concat()
}

proptest! {
    #[test]
    fn integers_of_every_width_and_sign(
        bits: u64,
        padding in prop_oneof![Just(0), Just(ZEROFILL)],
    ) {
        let kinds = [(TINY, 1), (SHORT, 2), (YEAR, 2), (LONG, 4), (INT24, 4), (LONGLONG, 8)];
        for (kind, width) in kinds {
            let bytes = &bits.to_le_bytes()[..width];
            let unsigned = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | i128::from(*byte));
            let half = 1_i128 << (8 * width - 1);
            let signed = if unsigned >= half { unsigned - 2 * half } else { unsigned };
            let text = shown(column(kind, UNSIGNED | padding), bytes);
            let wide = if padding == 0 { 0 } else { 10 };
            prop_assert_eq!(text, format!("{unsigned:0wide$}"));
            prop_assert_eq!(shown(column(kind, 0), bytes), signed.to_string());
        }
    }

    #[test]
    fn nulls_in_every_place(values in prop::collection::vec(any::<Option<u16>>(), 1..40)) {
        let columns = vec![column(SHORT, UNSIGNED); values.len()];
        let bytes = |value: Option<u16>| value.map(|number| number.to_le_bytes().to_vec());
        let laid_out: Vec<_> = values.iter().map(|value| bytes(*value)).collect();
        let expected: Vec<_> =
            values.iter().map(|value| value.map(|number| number.to_string())).collect();
        prop_assert_eq!(decoded(&columns, &row(&laid_out)).unwrap(), expected);
    }

    #[test]
    fn doubles_read_back_as_the_same_number(bits: u64, small in -1e6..1e6_f64) {
        for value in [f64::from_bits(bits), small, small.round(), small / 1e9] {
            if value.is_finite() {
                let text = float(value);
                let read = text.parse::<f64>().unwrap();
                prop_assert_eq!(read.to_bits(), value.to_bits(), "{}", text);
                let plain = value == 0.0
                    || (1e-15..1e15).contains(&value.abs())
                    || (value.abs() > 1e15 && value.fract() != 0.0);
                prop_assert_eq!(text.contains('e'), !plain, "{}", text);
                let mantissa = text.split('e').next().unwrap();
                prop_assert!(!mantissa.contains('.') || !mantissa.ends_with('0'), "{}", text);
            }
        }
    }

    #[test]
    fn floats_have_six_digits(value in -1e9..1e9_f32) {
        let text = shown(Column { decimals: AS_MANY, ..column(FLOAT, 0) }, &value.to_le_bytes());
        let digits = text.trim_start_matches(['-', '0', '.']).replace('.', "");
        prop_assert!(digits.trim_end_matches('0').len() <= 6, "{}", text);
        let error = (text.parse::<f64>().unwrap() - f64::from(value)).abs();
        prop_assert!(error <= f64::from(value).abs() * 5e-6, "{text} for {value}");
    }

    #[test]
    fn times_are_counted_in_hours(
        seconds in 0_u32..3_020_400,
        micros in 0_u32..1_000_000,
        minus: bool,
    ) {
        let day = seconds / 86_400;
        let [hour, minute, second] =
            [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(|part| part as u8);
        let fields = [
            &[u8::from(minus)][..],
            &day.to_le_bytes(),
            &[hour, minute, second],
            &micros.to_le_bytes(),
        ];
        let hours = seconds / 3600;
        let whole = format!("{}{hours:02}:{minute:02}:{second:02}", if minus { "-" } else { "" });
        prop_assert_eq!(&shown(column(TIME, 0), &packed(&fields, 8)), &whole);
        let fine = Column { decimals: 6, ..column(TIME, 0) };
        prop_assert_eq!(shown(fine, &packed(&fields, 12)), format!("{whole}.{micros:06}"));
        prop_assert_eq!(shown(fine, &packed(&fields, 8)), format!("{whole}.000000"));
    }

    #[test]
    fn no_row_makes_the_decoder_panic(
        row in prop::collection::vec(any::<u8>(), 0..80),
        definitions in prop::collection::vec(any::<(u8, u16, u32, u8)>(), 0..12),
        kinds in prop::collection::vec(0_u8..0x11, 12),
    ) {
        let columns: Vec<_> = definitions
            .iter()
            .zip(&kinds)
            .map(|(&(kind, flags, width, decimals), &known)| {
                Column { kind: if kind < 128 { known } else { kind }, flags, width, decimals }
            })
            .collect();
        let mut rows = RowBuffer::new();
        rows.begin_rows(columns.len());
        let _ = push_row(&row, &columns, &mut rows);
        let _ = push_row(&[&[0][..], &row].concat(), &columns, &mut rows);
        let _ = Column::read(&row);
    }
}

#[test]
fn dates_are_as_long_as_they_need_to_be() {
    let fields = [&2026_u16.to_le_bytes()[..], &[1, 2, 3, 4, 5], &6_u32.to_le_bytes()];
    for (kind, decimals, length, expected) in [
        (DATE, 0, 4, "2026-01-02"),
        (DATE, 0, 0, "0000-00-00"),
        (DATETIME, 0, 0, "0000-00-00 00:00:00"),
        (DATETIME, 3, 0, "0000-00-00 00:00:00.000"),
        (DATETIME, 0, 4, "2026-01-02 00:00:00"),
        (TIMESTAMP, 0, 7, "2026-01-02 03:04:05"),
        (TIMESTAMP, 2, 7, "2026-01-02 03:04:05.00"),
        (DATETIME, 6, 11, "2026-01-02 03:04:05.000006"),
        (DATETIME, 5, 11, "2026-01-02 03:04:05.00000"),
        (DATETIME, AS_MANY, 11, "2026-01-02 03:04:05.000006"),
        (DATETIME, AS_MANY, 7, "2026-01-02 03:04:05"),
    ] {
        let column = Column { decimals, ..column(kind, 0) };
        assert_eq!(shown(column, &packed(&fields, length)), expected);
    }
    assert_eq!(shown(column(TIME, 0), &[0]), "00:00:00");
    for (kind, length) in [(DATE, 3), (DATETIME, 12), (TIME, 7), (TIME, 255)] {
        let value = [&[length][..], &[0; 255]].concat();
        assert!(decoded(&[column(kind, 0)], &row(&[Some(value)])).is_err());
    }
}

#[test]
fn numbers_are_written_as_mariadb_writes_them() {
    // SELECT CAST(… AS DOUBLE) in MariaDB 10.11 and MySQL 8.0.
    for (value, expected) in [
        (0.0, "0"),
        (1.0, "1"),
        (-0.5, "-0.5"),
        (123.456, "123.456"),
        (1e14, "100000000000000"),
        (1e15, "1e15"),
        (1_240_045_198_237_108.2, "1240045198237108.2"),
        (9_999_999_999_999_999.0, "1e16"),
        (123_456_789_012_345_680.0, "1.2345678901234568e17"),
        (1e-15, "0.000000000000001"),
        (1.5e-16, "1.5e-16"),
        (f64::MAX, "1.7976931348623157e308"),
    ] {
        assert_eq!(float(value), expected);
    }
    let two = Column { decimals: 2, ..column(DOUBLE, 0) };
    assert_eq!(shown(two, &1.125_f64.to_le_bytes()), "1.12");
    assert_eq!(shown(two, &(-7_f64).to_le_bytes()), "-7.00");
    let padded = Column { decimals: 2, ..column(DOUBLE, ZEROFILL) };
    assert_eq!(shown(padded, &3.5_f64.to_le_bytes()), "0000003.50");
    assert_eq!(shown(column(NEWDECIMAL, 0), b"\x0612.340"), "12.340");
}

#[test]
fn a_row_that_does_not_fit_is_refused() {
    let columns = [column(LONG, 0)];
    for bytes in [&[][..], &[0], &[1, 0, 1, 0, 0, 0], &[0, 0, 1, 0, 0], &[0, 0, 1, 0, 0, 0, 9]] {
        assert!(decoded(&columns, bytes).is_err(), "{bytes:?}");
    }
    assert_eq!(decoded(&columns, &[0, 4]).unwrap(), [None]);
}
