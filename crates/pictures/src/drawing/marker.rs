//! How the lines of a chart are told apart: by colour, by marker, and when the
//! colours run out by dashes and hollow markers.

use std::f32::consts::PI;

use super::{COLOURS, Colour, Point, Shape, Style, WHITE};
use linkproof_numeric::math;

/// The palette without its yellow, which hardly shows on white, in an order
/// that keeps like colours apart.
const ORDER: [usize; 7] = [0, 5, 2, 1, 3, 4, 7];
const DASHES: [&[f32]; 3] = [&[], &[6.0, 3.0], &[2.0, 2.0]];

/// The corners of each marker (none make a circle), the turn of the first from
/// upright in half turns, how far the dents between corners lie from the middle
/// (1: no dents), and its radius. Small areas have a larger one, so that all
/// weigh the same.
const MARKERS: [(usize, f32, f32, f32); ORDER.len()] = [
    (0, 0.0, 1.0, 3.6),
    (4, 0.25, 1.0, 4.6),
    (3, 0.0, 1.0, 5.2),
    (4, 0.0, 1.0, 4.8),
    (3, 1.0, 1.0, 5.2),
    (5, 0.0, 0.45, 5.8),
    (4, 0.25, 0.4, 5.6),
];

/// The colour of the series at a place in the list.
pub(super) fn colour(series: usize) -> Colour {
    COLOURS[ORDER[series % ORDER.len()]]
}

/// The style of its line.
pub(super) fn line(series: usize) -> Style {
    Style {
        dashes: DASHES[series / ORDER.len() % DASHES.len()],
        ..Style::stroked(colour(series), 1.8)
    }
}

/// Its marker.
pub(super) fn marker(series: usize, centre: Point) -> Shape {
    let is_hollow = series / ORDER.len() % 2 == 1;
    let style = Style {
        fill: Some(if is_hollow { WHITE } else { colour(series) }),
        ..Style::stroked(colour(series), 1.4)
    };
    let (n_corners, turn, dent, radius) = MARKERS[series % MARKERS.len()];
    if n_corners == 0 {
        return Shape::Circle(centre, radius, style);
    }
    let per_corner = if dent < 1.0 { 2 } else { 1 };
    let n_steps = per_corner * n_corners;
    let point = |step: usize| {
        let radius = radius * if step % per_corner == 1 { dent } else { 1.0 };
        let angle = f64::from(PI * (turn + 2.0 * step as f32 / n_steps as f32));
        (
            centre.0 + radius * math::sin(angle) as f32,
            centre.1 - radius * math::cos(angle) as f32,
        )
    };
    Shape::Path((0..n_steps).map(point).collect(), true, style)
}
