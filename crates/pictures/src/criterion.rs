//! The criterion against the ridge as a chart: one line for each score and
//! exponent.

use std::fmt::Write;

use crate::drawing::{Axis, Chart, Drawing, Series};
use linkproof_method::select::{Comparison, Selection};
use linkproof_numeric::math;

/// How far each candidate is behind the best, per link, against its ridge; the
/// chosen one is ringed. Candidates that failed have no point.
pub fn plot(selection: &Selection) -> Drawing {
    let points = selection.candidates.iter();
    let points: Vec<&Comparison> = points.filter(|one| one.behind.is_some()).collect();
    let mut ridges: Vec<f64> = points.iter().map(|one| one.candidate.ridge).collect();
    ridges.sort_by(f64::total_cmp);
    ridges.dedup();
    let mut columns: Vec<Vec<&Comparison>> = Vec::new();
    for point in points {
        let candidate = &point.candidate;
        let same = |column: &&mut Vec<&Comparison>| {
            let first = column.first();
            first.is_some_and(|first| first.candidate.same_column(candidate))
        };
        match columns.iter_mut().find(same) {
            Some(column) => column.push(point),
            None => columns.push(vec![point]),
        }
    }
    let shape = |one: &Comparison| (one.candidate.dim, one.candidate.walks);
    let shapes = selection.candidates.windows(2);
    let several = shapes
        .into_iter()
        .any(|two| shape(&two[0]) != shape(&two[1]));
    let columns = columns.iter();
    let series = columns.map(|column| line(column, &ridges, several, selection));
    let chart = Chart {
        title: format!(
            "Held-out {}: behind the best, a link (chosen: ringed)",
            selection.criterion
        ),
        x_label: "ridge".into(),
        y_label: "behind the best".into(),
        series: series.collect(),
        x: Axis::labelled(
            ridges
                .iter()
                .map(|&ridge| (place(ridge), ridge.to_string()))
                .collect(),
        ),
    };
    chart.draw()
}

/// A ridge of 0 stands left of all others.
fn place(ridge: f64) -> f64 {
    math::log10(ridge.max(1e-6))
}

/// The candidates that differ by their ridge alone.
fn line(column: &[&Comparison], ridges: &[f64], several: bool, selection: &Selection) -> Series {
    let at = |ridge: &f64| {
        let mut column = column.iter();
        column.find(|one| one.candidate.ridge == *ridge)
    };
    let point = |ridge: &f64| {
        let one = at(ridge)?;
        Some((one.behind?, one.standard_error.unwrap_or(0.0)))
    };
    let is_chosen = |ridge: &f64| {
        let one = at(ridge);
        one.is_some_and(|one| one.candidate == selection.chosen)
    };
    Series {
        name: column
            .first()
            .map_or_else(String::new, |one| name(one, several)),
        points: ridges.iter().map(point).collect(),
        ringed: ridges.iter().position(is_chosen),
    }
}

fn name(one: &Comparison, several: bool) -> String {
    let candidate = &one.candidate;
    let mut name = match candidate.beta {
        0.0 => candidate.score.to_string(),
        beta => format!("{} {beta}", candidate.score),
    };
    if several {
        let _ = write!(name, ", dim {}, walks {}", candidate.dim, candidate.walks);
    }
    name
}

#[cfg(test)]
mod tests {
    use linkproof_lab::synthetic::{Noise, synthetic};
    use linkproof_method::Runtime;
    use linkproof_method::params::{Normalize, Params, ScoreKind};
    use linkproof_method::select::{Grid, Search, select};

    use super::*;

    #[test]
    fn each_score_has_a_line_and_the_choice_a_ring() {
        let made = synthetic(1, Noise::false_links(0.01)).unwrap();
        let base = Params {
            dim: 2,
            normalize: Normalize::None,
            ..Params::default()
        };
        let search = Search {
            grid: Grid {
                scores: ScoreKind::ALL.to_vec(),
                betas: vec![0.5],
                ridges: vec![1.0, 10.0, 100.0],
                ..Grid::around(&base)
            },
            ..Search::around(&base)
        };
        let found = select(&base, &made.data, &search, Runtime::default()).unwrap();
        let picture = plot(&found).to_svg();
        // Three scores, in the plot and in the legend; round markers of the first
        // score, there too, and the ring.
        assert_eq!(picture.matches("stroke-width=\"1.8\"").count(), 2 * 3);
        assert_eq!(picture.matches("<circle").count(), 3 + 1 + 1);
        assert!(picture.contains("probability 0.5") && !picture.contains("NaN"));
    }
}
