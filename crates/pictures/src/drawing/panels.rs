//! Small multiples of embeddings: nodes coloured by cluster, links grey, marked
//! links red.

use super::{Anchor, COLOURS, Drawing, GREY, Point, RED, Stroke, cut, width};

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
    /// Links, and whether each is marked. Those to nodes without a point are left out.
    pub links: Vec<(u32, u32, bool)>,
    /// Nodes to write names beside, the most important first. A name that would run into
    /// another is left out.
    pub names: Vec<(u32, &'a str)>,
}

const SIDE: f32 = 300.0;
/// The side of a picture of its own.
const LARGE_SIDE: f32 = 900.0;
const MARGIN: f32 = 14.0;
const CAPTION: f32 = 26.0;
const CAPTION_SIZE: f32 = 14.0;
const NAME_SIZE: f32 = 11.0;
/// Longer names are cut.
const LONGEST_NAME: f32 = 180.0;

/// One panel as a picture of its own.
pub fn picture(title: &str, panel: &Panel<'_>) -> Drawing {
    // Many nodes are drawn small.
    let radius = (120.0 / (panel.clusters.len().max(1) as f32).sqrt()).clamp(0.7, 4.0);
    let mut drawing = Drawing::new(LARGE_SIDE, LARGE_SIDE + CAPTION, title);
    draw(&mut drawing, panel, (0.0, 0.0), LARGE_SIDE, radius);
    drawing
}

/// Panels in rows of `columns`.
pub fn panels(title: &str, columns: usize, panels: &[Panel<'_>]) -> Drawing {
    let columns = columns.max(1);
    let height = SIDE + CAPTION;
    let n_rows = panels.len().div_ceil(columns) as f32;
    let mut drawing = Drawing::new(columns as f32 * SIDE, n_rows * height, title);
    for (place, panel) in panels.iter().enumerate() {
        let (row, column) = ((place / columns) as f32, (place % columns) as f32);
        let corner = (column * SIDE, row * height);
        draw(&mut drawing, panel, corner, SIDE, 3.0);
    }
    drawing
}

fn draw(drawing: &mut Drawing, panel: &Panel<'_>, corner: Point, side: f32, radius: f32) {
    let caption = cut(&panel.title, CAPTION_SIZE, side);
    let at = (corner.0 + side / 2.0, corner.1 + 18.0);
    drawing.text(&caption, at, CAPTION_SIZE, Anchor::Middle);
    let points = place(panel.points, (corner.0, corner.1 + CAPTION), side);
    for (marked, colour, opacity) in [(false, GREY, 0.25), (true, RED, 0.5)] {
        let stroke = Stroke::new(colour, 1.0, opacity);
        for &(a, b, _) in panel.links.iter().filter(|link| link.2 == marked) {
            if let (Some(&a), Some(&b)) = (points.get(a as usize), points.get(b as usize)) {
                drawing.line(&[a, b], stroke);
            }
        }
    }
    for (&centre, &cluster) in points.iter().zip(panel.clusters) {
        let colour = match cluster {
            NO_CLUSTER => GREY,
            cluster => COLOURS[cluster as usize % COLOURS.len()],
        };
        drawing.circle(centre, radius, colour, None);
    }
    write_names(drawing, panel, &points, corner.0 + side, radius);
}

/// Writes names right of their nodes, or left of them near the right edge.
fn write_names(drawing: &mut Drawing, panel: &Panel<'_>, points: &[Point], edge: f32, radius: f32) {
    let mut taken: Vec<[f32; 4]> = Vec::new();
    for &(node, name) in &panel.names {
        let Some(&(x, y)) = points.get(node as usize) else {
            continue;
        };
        let name = cut(name, NAME_SIZE, LONGEST_NAME);
        let (length, gap) = (width(&name, NAME_SIZE), radius + 3.0);
        let fits = x + gap + length <= edge;
        let (left, at, anchor) = if fits {
            (x + gap, x + gap, Anchor::Start)
        } else {
            (x - gap - length, x - gap, Anchor::End)
        };
        let place = [
            left,
            left + length,
            y - NAME_SIZE * 0.6,
            y + NAME_SIZE * 0.6,
        ];
        let meets = |other: &[f32; 4]| {
            place[0] < other[1] && other[0] < place[1] && place[2] < other[3] && other[2] < place[3]
        };
        if taken.iter().any(meets) {
            continue;
        }
        taken.push(place);
        drawing.text(&name, (at, y + NAME_SIZE * 0.35), NAME_SIZE, anchor);
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
    let place = |[a, b]: &[f32; 2]| (left + (a - x.0) * unit, top + (y.1 - b) * unit);
    points.iter().map(place).collect()
}
