//! How the lines of a chart are told apart: by colour, by marker, and when the
//! colours run out by dashes and hollow markers.

use std::f32::consts::PI;

use super::{COLOURS, Colour, Form, Point, Style, WHITE};
use crate::math;

/// The palette without its yellow, which hardly shows on white, in an order
/// that keeps like colours apart.
const ORDER: [usize; 7] = [0, 5, 2, 1, 3, 4, 7];
const DASHES: [&[f32]; 3] = [&[], &[6.0, 3.0], &[2.0, 2.0]];
const RADIUS: f32 = 4.0;

/// Corners, the turn of the first from upright in half turns, and how far the
/// dents between corners lie from the middle, where there are any. No corners
/// make a circle. Small areas are a little larger, so that all weigh the same.
struct Outline {
    n_corners: usize,
    turn: f32,
    dent: Option<f32>,
    enlarged: f32,
}

const fn outline(n_corners: usize, turn: f32, dent: Option<f32>, enlarged: f32) -> Outline {
    Outline {
        n_corners,
        turn,
        dent,
        enlarged,
    }
}

const OUTLINES: [Outline; 7] = [
    outline(0, 0.0, None, 0.9),
    outline(4, 0.25, None, 1.15),
    outline(3, 0.0, None, 1.3),
    outline(4, 0.0, None, 1.2),
    outline(3, 1.0, None, 1.3),
    outline(5, 0.0, Some(0.45), 1.45),
    outline(4, 0.25, Some(0.4), 1.4),
];

/// The colour of the series at a place in the list.
pub(super) fn colour(series: usize) -> Colour {
    COLOURS[ORDER[series % ORDER.len()]]
}

/// The style of its line.
pub(super) fn line(series: usize) -> Style {
    let dashes = DASHES[series / ORDER.len() % DASHES.len()];
    Style::stroked(colour(series), 1.8).dashed(dashes)
}

/// Its marker.
pub(super) fn marker(series: usize, centre: Point) -> (Form, Style) {
    let colour = colour(series);
    let hollow = series / ORDER.len() % 2 == 1;
    let style = Style::stroked(colour, 1.4).and_filled(if hollow { WHITE } else { colour });
    let outline = &OUTLINES[series % OUTLINES.len()];
    let radius = RADIUS * outline.enlarged;
    if outline.n_corners == 0 {
        return (Form::Circle { centre, radius }, style);
    }
    let n_steps = outline.n_corners * if outline.dent.is_some() { 2 } else { 1 };
    let corner = |step: usize| {
        let radius = match outline.dent {
            Some(dent) if step % 2 == 1 => dent * radius,
            _ => radius,
        };
        let angle = f64::from(PI * (outline.turn + 2.0 * step as f32 / n_steps as f32));
        (
            centre.0 + radius * math::sin(angle) as f32,
            centre.1 - radius * math::cos(angle) as f32,
        )
    };
    (Form::Polygon((0..n_steps).map(corner).collect()), style)
}
