//! How numbers are written: as exactly as they are known, and no more.
//!
//! ```text
//!   21 843.27  known to ± 218      →  21 840
//!   −4.871 %   known to ± 0.75 %   →  −4.9 %
//!   45.2817 µs, spread not known   →  45.3 µs     (three significant digits)
//! ```
//!
//! An uncertainty keeps one or two digits by the rule of the Particle Data Group (two if its
//! leading digits are 100 to 354, one if 355 to 949, two and rounded up from 950), and the value is
//! written to the same place. Groups of digits and units are glued with no-break spaces, so that no
//! line is broken inside a number; the writers turn them into plain ones at the end, but for HTML.
//! Minus is U+2212.

/// No-break space: inside numbers and between number and unit.
pub const GLUE: char = '\u{a0}';
/// Stands where nothing could be observed.
pub const UNKNOWN: &str = "—";

const DECIMALS_MAX: i32 = 6;

/// How many decimals a value deserves that is known to `± uncertainty`. Negative: tens, hundreds ….
pub fn decimals_for(uncertainty: f64) -> Option<i32> {
    if !(uncertainty.is_finite() && uncertainty > 0.0) {
        return None;
    }
    let exponent = uncertainty.log10().floor() as i32;
    let leading = (uncertainty / 10f64.powi(exponent) * 100.0).round();
    // From 950 on it rounds up to "10" of the next decade: the same place as one digit of this one.
    let decimals = if leading < 355.0 { 1 - exponent } else { -exponent };
    Some(decimals.min(DECIMALS_MAX))
}

/// Decimals that show `digits` significant digits of a value.
fn decimals_of(value: f64, digits: i32) -> i32 {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    let exponent = value.abs().log10().floor() as i32;
    (digits - 1 - exponent).min(DECIMALS_MAX)
}

/// Rounds to a place, left of the point if `decimals` is negative, and groups thousands.
pub fn format_fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let scale = 10f64.powi(-decimals.min(0));
    let rounded = (value / scale).round() * scale;
    let rounded = if decimals < 0 { rounded } else { value };
    let digits = format!("{:.*}", decimals.max(0) as usize, rounded.abs());
    let is_zero = digits.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if rounded < 0.0 && !is_zero { "−" } else { "" };
    format!("{sign}{}", group(&digits))
}

/// Like [`format_fixed`], with a plus before what is above zero.
pub fn format_signed(value: f64, decimals: i32) -> String {
    let text = format_fixed(value, decimals);
    let shows_something = text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if value > 0.0 && value.is_finite() && shows_something { format!("+{text}") } else { text }
}

/// Three significant digits, thousands grouped.
pub fn three_digits(value: f64) -> String {
    format_fixed(value, decimals_of(value, 3).max(0))
}

/// A time that people wait: `40 s`, `12 min`, `3.5 h`.
pub fn minutes(minutes: f64) -> String {
    match minutes {
        ..1.5 => format!("{:.0}{GLUE}s", 60.0 * minutes),
        ..90.0 => format!("{minutes:.0}{GLUE}min"),
        _ => format!("{:.1}{GLUE}h", minutes / 60.0),
    }
}

/// A share as per cent, to the one or two digits that an uncertainty deserves.
pub fn percent_of_spread(share: f64) -> String {
    let percent = share * 100.0;
    if percent == 0.0 {
        return format!("0{GLUE}%");
    }
    if percent.abs() < 0.001 {
        return format!("<0.001{GLUE}%");
    }
    match decimals_for(percent.abs()) {
        Some(decimals) => format!("{}{GLUE}%", format_fixed(percent, decimals.clamp(0, 3))),
        None => UNKNOWN.to_owned(),
    }
}

/// A budget or another share that somebody typed: as few decimals as say it.
pub fn percent_as_given(share: f64) -> String {
    if !share.is_finite() {
        return UNKNOWN.to_owned();
    }
    let percent = (share * 100.0 * 1e6).round() / 1e6;
    let decimals = (0..DECIMALS_MAX)
        .find(|&decimals| {
            let scaled = percent * 10f64.powi(decimals);
            (scaled - scaled.round()).abs() < 1e-6
        })
        .unwrap_or(DECIMALS_MAX);
    format!("{}{GLUE}%", format_fixed(percent, decimals))
}

/// Separates thousands, from five digits on.
fn group(digits: &str) -> String {
    let whole_len = digits.find('.').unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(whole_len);
    if whole.len() < 4 {
        return digits.to_owned();
    }
    let mut grouped = String::with_capacity(digits.len() + 8);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(GLUE);
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// A value and its interval as `21 840 ± 1.0 %`.
pub fn with_spread(value: Option<f64>, low: Option<f64>, high: Option<f64>) -> String {
    let Some(value) = value else {
        return UNKNOWN.to_owned();
    };
    let (Some(low), Some(high)) = (low, high) else {
        return format!("{} ± ∞", format_fixed(value, decimals_of(value, 3)));
    };
    let half_width = (high - low).abs() / 2.0;
    let number = match decimals_for(half_width) {
        // At least two digits of the value, however vague it is.
        Some(decimals) => format_fixed(value, decimals.max(decimals_of(value, 2))),
        None => three_digits(value),
    };
    if value == 0.0 {
        return number;
    }
    let spread = percent_of_spread(half_width / value.abs());
    format!("{number} ± {spread}")
}

/// Microseconds in the unit that suits both values of a row: `45.3 µs`, `6.12 ms`, `1.20 s`.
pub fn latency(us: Option<f64>, other_us: Option<f64>) -> String {
    let Some(us) = us else {
        return UNKNOWN.to_owned();
    };
    let smaller = other_us
        .filter(|&other| other > 0.0)
        .map_or(us, |other| if us > 0.0 { us.min(other) } else { other });
    let (scale, unit) = match smaller {
        smaller if smaller >= 1e6 => (1e6, "s"),
        smaller if smaller >= 1e3 => (1e3, "ms"),
        _ => (1.0, "µs"),
    };
    format!("{}{GLUE}{unit}", three_digits(us / scale))
}

/// Test ÷ base as `×1.07`, or nothing to say.
pub fn ratio(base: Option<f64>, test: Option<f64>) -> Option<String> {
    let (base, test) = (base?, test?);
    if base == 0.0 && test == 0.0 {
        return Some("×1.00".to_owned());
    }
    let ratio = test / base;
    if !ratio.is_finite() {
        return Some("×∞".to_owned());
    }
    Some(match ratio.abs() {
        0.0 => "×0".to_owned(),
        size if size < 0.001 => "×<0.001".to_owned(),
        size if size < 0.1 => format!("×{}", format_fixed(ratio, 3)),
        size if size < 10.0 => format!("×{}", format_fixed(ratio, 2)),
        size if size < 100.0 => format!("×{}", format_fixed(ratio, 1)),
        _ => format!("×{}", format_fixed(ratio, 0)),
    })
}

/// A ratio with its interval as `×0.52 (0.50 to 0.54)`: with the decimals of [`ratio()`], or more
/// where a bound would read as 1, so that an interval that leaves 1 out is also seen to do so.
pub fn ratio_between(ratio: f64, low: f64, high: f64) -> String {
    let least = match ratio {
        ..0.1 => 3,
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    // A bound that is not 1 does not read as 1.
    let decimals = (least..=least + 2).find(|&decimals| {
        [low, high]
            .into_iter()
            .all(|bound| bound == 1.0 || ((bound - 1.0) * 10f64.powi(decimals)).round() != 0.0)
    });
    let decimals = decimals.unwrap_or(least);
    let [ratio, low, high] = [ratio, low, high].map(|value| format_fixed(value, decimals));
    format!("×{ratio} ({low} to {high})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_to_the_place_of_their_uncertainty() {
        let spread = |value: f64, half: f64| {
            with_spread(Some(value), Some(value - half), Some(value + half)).replace(GLUE, " ")
        };
        assert_eq!(spread(21_843.27, 218.0), "21 840 ± 1.0 %");
        assert_eq!(spread(21_843.27, 4_000.0), "22 000 ± 18 %");
        assert_eq!(spread(21_843.27, 40_000.0), "22 000 ± 183 %");
        assert_eq!(spread(21_843.27, 0.04), "21 843.27 ± <0.001 %");
        assert_eq!(spread(1_843.0, 0.0), "1 843 ± 0 %");
        assert_eq!(spread(0.0, 0.0), "0");
        assert_eq!(with_spread(None, None, None), "—");
        assert_eq!(with_spread(Some(5.0), Some(0.0), None), "5.00 ± ∞");
        let vague = with_spread(Some(11_643.0), None, None).replace(GLUE, " ");
        assert_eq!(vague, "11 600 ± ∞");
    }

    #[test]
    fn the_rule_of_the_particle_data_group() {
        for (uncertainty, decimals) in [
            (0.100, 2),
            (0.354, 2),
            (0.355, 1),
            (0.949, 1),
            (0.96, 1),
            (3.2, 1),
            (4.0, 0),
            (218.0, -1),
            (400.0, -2),
        ] {
            assert_eq!(decimals_for(uncertainty), Some(decimals), "± {uncertainty}");
        }
        for useless in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(decimals_for(useless), None);
        }
    }

    #[test]
    fn zero_has_no_sign_and_no_number_lies_by_its_sign() {
        assert_eq!(format_fixed(-0.0, 1), "0.0");
        assert_eq!(format_fixed(-0.04, 1), "0.0");
        assert_eq!(format_signed(0.04, 1), "0.0");
        assert_eq!(format_signed(0.06, 1), "+0.1");
        assert_eq!(format_signed(-0.06, 1), "−0.1");
        assert_eq!(format_signed(f64::NAN, 1), "—");
        assert_eq!(format_fixed(f64::INFINITY, 1), "—");
    }

    #[test]
    fn thousands_are_grouped() {
        let plain = |value, decimals| format_fixed(value, decimals).replace(GLUE, " ");
        assert_eq!(plain(999.0, 0), "999");
        assert_eq!(plain(1_000.0, 0), "1 000");
        assert_eq!(plain(-1_234_567.891, 2), "−1 234 567.89");
        assert_eq!(plain(1_234_567.0, -3), "1 235 000");
    }

    #[test]
    fn both_latencies_of_a_row_have_one_unit() {
        let both = |a: f64, b: f64| {
            [latency(Some(a), Some(b)), latency(Some(b), Some(a))].map(|t| t.replace(GLUE, " "))
        };
        assert_eq!(both(45.28, 45.0), ["45.3 µs", "45.0 µs"]);
        assert_eq!(both(900.0, 1_200.0), ["900 µs", "1 200 µs"]);
        assert_eq!(both(6_120.0, 1_000.0), ["6.12 ms", "1.00 ms"]);
        assert_eq!(both(2e6, 1.2e6), ["2.00 s", "1.20 s"]);
        assert_eq!(both(0.0, 1_200.0), ["0 ms", "1.20 ms"]);
    }

    #[test]
    fn ratios_of_nothing() {
        assert_eq!(ratio(Some(2.0), Some(2.1)).unwrap(), "×1.05");
        assert_eq!(ratio(Some(0.0), Some(0.0)).unwrap(), "×1.00");
        assert_eq!(ratio(Some(0.0), Some(1.0)).unwrap(), "×∞");
        assert_eq!(ratio(Some(1.0), Some(12.34)).unwrap(), "×12.3");
        assert_eq!(ratio(Some(1.0), Some(0.0312)).unwrap(), "×0.031");
        assert_eq!(ratio(None, Some(1.0)), None);
    }

    #[test]
    fn a_ratio_has_the_decimals_that_its_interval_needs() {
        assert_eq!(ratio_between(0.518, 0.5, 0.541), "×0.52 (0.50 to 0.54)");
        assert_eq!(ratio_between(1.0, 0.9981, 1.0021), "×1.000 (0.998 to 1.002)");
        assert_eq!(ratio_between(1.02, 1.003, 1.04), "×1.020 (1.003 to 1.040)");
        assert_eq!(ratio_between(1.0, 1.0, 1.0), "×1.00 (1.00 to 1.00)");
        assert_eq!(ratio_between(0.052, 0.0501, 0.0539), "×0.052 (0.050 to 0.054)");
        assert_eq!(ratio_between(12.34, 11.0, 13.8), "×12.3 (11.0 to 13.8)");
    }

    #[test]
    fn shares_that_somebody_typed() {
        assert_eq!(percent_as_given(0.02).replace(GLUE, " "), "2 %");
        assert_eq!(percent_as_given(0.025).replace(GLUE, " "), "2.5 %");
        assert_eq!(percent_as_given(f64::NAN), "—");
    }
}
