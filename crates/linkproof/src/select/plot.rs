//! The criterion against the ridge, as SVG: one line for each score and
//! exponent.

use std::fmt::Write;

use super::{Candidate, Comparison, Selection};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Colours that remain distinct for most forms of colour blindness (Okabe and Ito).
const COLOURS: [&str; 8] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444",
];

/// How far each candidate is behind the best, per link, against its ridge.
/// Candidates that failed have no point.
pub fn plot(selection: &Selection) -> String {
    let points: Vec<&Comparison> = selection
        .candidates
        .iter()
        .filter(|one| one.behind.is_some())
        .collect();
    let highest = points
        .iter()
        .filter_map(|one| one.behind)
        .fold(0.0, f64::max);
    let highest = if highest > 0.0 { highest } else { 1.0 };
    let ridges = points.iter().map(|one| place(one.entry.candidate.ridge));
    let low = ridges.clone().fold(f64::INFINITY, f64::min);
    let high = ridges.fold(f64::NEG_INFINITY, f64::max);
    let x = move |ridge: f64| {
        let width = WIDTH - LEFT - RIGHT;
        match high > low {
            true => LEFT + (place(ridge) - low) / (high - low) * width,
            false => LEFT + width / 2.0,
        }
    };
    let y = move |behind: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - behind.max(0.0) / highest);
    let mut out = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12" role="img"><title>Held-out criterion against ridge</title><rect width="100%" height="100%" fill="#ffffff"/>
<text x="{LEFT}" y="20" font-size="14">Held-out {}: behind the best, a link</text>
"##,
        selection.criterion
    );
    axes(&mut out, &points, &x, &y, highest);
    let mut columns: Vec<Vec<&Comparison>> = Vec::new();
    for point in points {
        let same = |column: &&mut Vec<&Comparison>| {
            let first: &Candidate = &column[0].entry.candidate;
            first.same_column(&point.entry.candidate)
        };
        match columns.iter_mut().find(same) {
            Some(column) => column.push(point),
            None => columns.push(vec![point]),
        }
    }
    let several = {
        let all = &selection.candidates;
        let shape = |one: &Comparison| (one.entry.candidate.dim, one.entry.candidate.walks);
        all.iter().any(|one| shape(one) != shape(&all[0]))
    };
    for (index, column) in columns.iter().enumerate() {
        draw(&mut out, column, (index, several), &x, &y, selection);
    }
    out.push_str("</svg>\n");
    out
}

/// A ridge of 0 stands left of all others.
fn place(ridge: f64) -> f64 {
    ridge.max(1e-6).log10()
}

fn axes(
    out: &mut String,
    points: &[&Comparison],
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
    highest: f64,
) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let _ = writeln!(
        out,
        r##"<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#000000"/><text x="{}" y="{}" text-anchor="middle">ridge</text>"##,
        (LEFT + right) / 2.0,
        HEIGHT - 10.0
    );
    let mut ridges: Vec<f64> = points.iter().map(|one| one.entry.candidate.ridge).collect();
    ridges.sort_by(f64::total_cmp);
    ridges.dedup();
    for ridge in ridges {
        let at = x(ridge);
        let _ = writeln!(
            out,
            r##"<path d="M{at:.1} {bottom}v5" stroke="#000000"/><text x="{at:.1}" y="{}" text-anchor="middle">{ridge}</text>"##,
            bottom + 18.0
        );
    }
    for share in [0.0, 0.5, 1.0] {
        let at = y(share * highest);
        let _ = writeln!(
            out,
            r##"<path d="M{LEFT} {at:.1}h-5" stroke="#000000"/><text x="{}" y="{:.1}" text-anchor="end">{:.4}</text>"##,
            LEFT - 8.0,
            at + 4.0,
            share * highest
        );
    }
}

/// A line with its points, the bars of one standard error, and its name.
fn draw(
    out: &mut String,
    column: &[&Comparison],
    (index, several): (usize, bool),
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
    selection: &Selection,
) {
    let colour = COLOURS[index % COLOURS.len()];
    let points: Vec<(f64, f64, &Comparison)> = column
        .iter()
        .filter_map(|one| Some((x(one.entry.candidate.ridge), one.behind?, *one)))
        .collect();
    let path: Vec<String> = points
        .iter()
        .map(|(x, behind, _)| format!("{x:.1},{:.1}", y(*behind)))
        .collect();
    let _ = writeln!(
        out,
        r##"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="1.5"/>"##,
        path.join(" ")
    );
    for (x, behind, one) in points {
        if let Some(error) = one.standard_error.filter(|error| *error > 0.0) {
            let _ = writeln!(
                out,
                r##"<path d="M{x:.1} {:.1}V{:.1}" stroke="{colour}"/>"##,
                y(behind - error),
                y(behind + error)
            );
        }
        let chosen = one.entry.candidate == selection.chosen;
        let (radius, fill) = if chosen { (6, colour) } else { (3, "#ffffff") };
        let _ = writeln!(
            out,
            r##"<circle cx="{x:.1}" cy="{:.1}" r="{radius}" fill="{fill}" stroke="{colour}"/>"##,
            y(behind)
        );
    }
    let candidate = &column[0].entry.candidate;
    let mut name = match candidate.beta {
        0.0 => candidate.score.to_string(),
        beta => format!("{} {beta}", candidate.score),
    };
    if several {
        let _ = write!(name, ", dim {}, walks {}", candidate.dim, candidate.walks);
    }
    let (left, top) = (WIDTH - RIGHT + 15.0, TOP + 18.0 * index as f64);
    let _ = writeln!(
        out,
        r##"<path d="M{left} {top}h16" stroke="{colour}" stroke-width="2"/><text x="{}" y="{}">{name}</text>"##,
        left + 22.0,
        top + 4.0
    );
}
