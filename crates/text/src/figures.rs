//! Numbers in words.

/// A number with three figures that matter, and a comma before each three digits.
pub fn figures(x: f64) -> String {
    const TINY: f64 = 1e-4;
    let size = x.abs();
    match size {
        _ if x.is_nan() => "-".to_owned(),
        0.0 => "0".to_owned(),
        ..TINY if x > 0.0 => format!("<{TINY}"),
        ..TINY => format!(">-{TINY}"),
        1e15.. => format!("{x:.2e}"),
        // Weights and counts as they are.
        _ if x.fract() == 0.0 || size >= 999.5 => {
            let sign = if x < 0.0 { "-" } else { "" };
            format!("{sign}{}", grouped(size.round() as usize))
        }
        _ => {
            let places = (0..7).find(|&places| size * 10f64.powi(places) >= 99.95);
            let text = format!("{x:.*}", places.unwrap_or(7) as usize);
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
    }
}

/// A whole number with a comma before each three digits.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 link`, `5,542 links`. The plural goes to the last word.
pub fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{} {what}s", grouped(n)),
    }
}

/// A share in percent: `4%`, `0.4%`, and `0.004%` rather than `0.0%`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0%".to_owned(),
        ..0.001 => "less than 0.001%".to_owned(),
        ..0.095 => format!("{percent:.3}%"),
        ..0.95 => format!("{percent:.1}%"),
        _ => format!("{percent:.0}%"),
    }
}

/// A length of time: `8.2 s`, `5 min`.
pub fn in_seconds(seconds: f64) -> String {
    match seconds {
        ..9.5 => format!("{seconds:.1} s"),
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_right() {
        for (x, expected) in [
            (0.0, "0"),
            (100.0, "100"),
            (1234.0, "1,234"),
            (2.345_67, "2.35"),
            (12.345_6, "12.3"),
            (99.96, "100"),
            (999.9, "1,000"),
            (12_345.6, "12,346"),
            (0.004_56, "0.00456"),
            (-0.25, "-0.25"),
            (-12_345.0, "-12,345"),
            (1e-9, "<0.0001"),
            (-1e-9, ">-0.0001"),
            (2.5e20, "2.50e20"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(figures(x), expected);
        }
        let counts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(counts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [1, 2708].map(|n| counted(n, "node")),
            ["1 node", "2,708 nodes"]
        );
    }

    #[test]
    fn shares_and_times_are_in_units_that_people_use() {
        let shares = [0.0, 1e-9, 1.4e-5, 0.00144, 0.032, 0.956, 1.0].map(percent);
        let expected = [
            "0%",
            "less than 0.001%",
            "0.001%",
            "0.1%",
            "3%",
            "96%",
            "100%",
        ];
        assert_eq!(shares, expected);
        let times = [0.24, 8.2, 34.0, 300.0, 1e4, 1e6].map(in_seconds);
        assert_eq!(times, ["0.2 s", "8.2 s", "34 s", "5 min", "3 h", "12 days"]);
    }
}
