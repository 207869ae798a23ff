//! Small multiples of embeddings: nodes coloured by cluster, links grey, marked
//! links red.

use super::{Anchor, BLACK, COLOURS, Drawing, Form, GREY, Point, RED, Style, words};

/// The cluster of a node that is in none: it is grey.
pub const NO_CLUSTER: u32 = u32::MAX;

/// One panel.
#[derive(Debug, Clone)]
pub struct Panel<'a> {
    /// Its caption.
    pub title: String,
    /// Two coordinates a node.
    pub points: &'a [f32],
    /// The cluster of each node.
    pub clusters: &'a [u32],
    /// Links, and whether each is marked.
    pub links: Vec<(u32, u32, bool)>,
}

const SIDE: f32 = 300.0;
const MARGIN: f32 = 14.0;
const CAPTION: f32 = 26.0;
const CAPTION_SIZE: f32 = 14.0;
const RADIUS: f32 = 3.0;
/// The side of a picture of its own.
const LARGE_SIDE: f32 = 900.0;

/// One panel as a picture of its own.
pub fn picture(title: &str, panel: &Panel<'_>) -> Drawing {
    let mut drawing = Drawing::new(LARGE_SIDE, LARGE_SIDE + CAPTION, title);
    let caption = words::cut(&panel.title, CAPTION_SIZE, LARGE_SIDE);
    let place = (LARGE_SIDE / 2.0, 18.0);
    let caption = Form::text(caption, place, CAPTION_SIZE, Anchor::Middle);
    drawing.add(caption, Style::filled(BLACK));
    // Many nodes are drawn small.
    let radius = (120.0 / (panel.clusters.len().max(1) as f32).sqrt()).clamp(0.7, 4.0);
    draw(&mut drawing, panel, (0.0, CAPTION), (LARGE_SIDE, radius));
    drawing
}

/// Panels in rows of `columns`. Links to nodes without a point are left out.
pub fn panels(title: &str, columns: usize, panels: &[Panel<'_>]) -> Drawing {
    let columns = columns.max(1);
    let n_rows = panels.len().div_ceil(columns);
    let (width, height) = (columns as f32 * SIDE, n_rows as f32 * (SIDE + CAPTION));
    let mut drawing = Drawing::new(width, height, title);
    for (place, panel) in panels.iter().enumerate() {
        let x = (place % columns) as f32 * SIDE;
        let y = (place / columns) as f32 * (SIDE + CAPTION);
        let caption = words::cut(&panel.title, CAPTION_SIZE, SIDE);
        drawing.add(
            Form::text(
                caption,
                (x + SIDE / 2.0, y + 18.0),
                CAPTION_SIZE,
                Anchor::Middle,
            ),
            Style::filled(BLACK),
        );
        draw(&mut drawing, panel, (x, y + CAPTION), (SIDE, RADIUS));
    }
    drawing
}

fn draw(drawing: &mut Drawing, panel: &Panel<'_>, corner: Point, (side, radius): (f32, f32)) {
    let points = place(panel.points, corner, side);
    for marked in [false, true] {
        let style = match marked {
            true => Style::stroked(RED, 1.0).faint(0.5),
            false => Style::stroked(GREY, 1.0).faint(0.25),
        };
        for &(a, b, _) in panel.links.iter().filter(|link| link.2 == marked) {
            if let (Some(&a), Some(&b)) = (points.get(a as usize), points.get(b as usize)) {
                drawing.add(Form::line(a, b), style);
            }
        }
    }
    for (&centre, &cluster) in points.iter().zip(panel.clusters) {
        let colour = match cluster {
            NO_CLUSTER => GREY,
            cluster => COLOURS[cluster as usize % COLOURS.len()],
        };
        drawing.add(Form::Circle { centre, radius }, Style::filled(colour));
    }
}

/// Scales points into the panel, with the same unit in both directions.
fn place(points: &[f32], corner: Point, side: f32) -> Vec<Point> {
    let (points, _) = points.as_chunks::<2>();
    let range = |axis: usize| {
        let values = points.iter().map(|point| point[axis]);
        let values = values.filter(|value| value.is_finite());
        let low = values.clone().fold(f32::INFINITY, f32::min);
        (low, values.fold(f32::NEG_INFINITY, f32::max))
    };
    let (x, y) = (range(0), range(1));
    let extent = (x.1 - x.0).max(y.1 - y.0).max(f32::MIN_POSITIVE);
    let unit = (side - 2.0 * MARGIN) / extent;
    let offset = |range: (f32, f32)| (side - (range.1 - range.0) * unit) / 2.0;
    let (left, top) = (corner.0 + offset(x), corner.1 + offset(y));
    points
        .iter()
        .map(|point| {
            (
                left + (point[0] - x.0) * unit,
                top + (y.1 - point[1]) * unit,
            )
        })
        .collect()
}
