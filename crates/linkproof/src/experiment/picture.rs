//! Small multiples of embeddings as SVG: nodes coloured by cluster, links grey,
//! suspects red.

use std::fmt::Write;

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
/// Colours that remain distinct for most forms of colour blindness (Okabe and Ito).
const COLOURS: [&str; 8] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444",
];

/// Panels in rows of `columns`.
pub fn svg(title: &str, columns: usize, panels: &[Panel<'_>]) -> String {
    let columns = columns.max(1);
    let n_rows = panels.len().div_ceil(columns);
    let (width, height) = (columns as f32 * SIDE, n_rows as f32 * (SIDE + CAPTION));
    let mut out = String::new();
    let _ = writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" role="img"><title>{}</title><rect width="100%" height="100%" fill="#ffffff"/>"##,
        escape(title)
    );
    for (place, panel) in panels.iter().enumerate() {
        let x = (place % columns) as f32 * SIDE;
        let y = (place / columns) as f32 * (SIDE + CAPTION);
        let _ = writeln!(
            out,
            r##"<g transform="translate({x} {y})"><text x="{}" y="18" font-size="14" text-anchor="middle">{}</text><g transform="translate(0 {CAPTION})">"##,
            SIDE / 2.0,
            escape(&panel.title)
        );
        draw(&mut out, panel);
        out.push_str("</g></g>\n");
    }
    out.push_str("</svg>\n");
    out
}

fn draw(out: &mut String, panel: &Panel<'_>) {
    let points = place(panel.points);
    for marked in [false, true] {
        for &(a, b, _) in panel.links.iter().filter(|link| link.2 == marked) {
            let (a, b) = (points[a as usize], points[b as usize]);
            let style = if marked {
                r##"stroke="#d40000" stroke-opacity="0.5""##
            } else {
                r##"stroke="#888888" stroke-opacity="0.25""##
            };
            let _ = writeln!(
                out,
                r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" {style}/>"#,
                a.0, a.1, b.0, b.1
            );
        }
    }
    for (point, &cluster) in points.iter().zip(panel.clusters) {
        let colour = COLOURS[cluster as usize % COLOURS.len()];
        let _ = writeln!(
            out,
            r#"<circle cx="{:.1}" cy="{:.1}" r="3" fill="{colour}"/>"#,
            point.0, point.1
        );
    }
}

/// Scales points into the panel, with the same unit in both directions.
fn place(points: &[f32]) -> Vec<(f32, f32)> {
    let points: Vec<(f32, f32)> = points
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&[x, y]| (x, y))
        .collect();
    let range = |get: fn(&(f32, f32)) -> f32| {
        let low = points.iter().map(get).fold(f32::INFINITY, f32::min);
        let high = points.iter().map(get).fold(f32::NEG_INFINITY, f32::max);
        (low, high)
    };
    let (x, y) = (range(|p| p.0), range(|p| p.1));
    let extent = (x.1 - x.0).max(y.1 - y.0).max(f32::MIN_POSITIVE);
    let unit = (SIDE - 2.0 * MARGIN) / extent;
    let offset = |range: (f32, f32)| (SIDE - (range.1 - range.0) * unit) / 2.0;
    points
        .iter()
        .map(|p| {
            (
                offset(x) + (p.0 - x.0) * unit,
                offset(y) + (y.1 - p.1) * unit,
            )
        })
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_well_formed_and_escape_titles() {
        let panel = Panel {
            title: "<b>&".into(),
            points: &[0.0, 0.0, 1.0, 2.0, 1.0, 2.0],
            clusters: &[0, 1, 9],
            links: vec![(0, 1, true), (1, 2, false)],
        };
        let picture = svg("t", 2, &[panel.clone(), panel]);
        assert_eq!(picture.matches("<circle").count(), 6);
        assert_eq!(picture.matches("<line").count(), 4);
        assert!(picture.contains("&lt;b&gt;&amp;") && !picture.contains("<b>"));
        assert!(!picture.contains("NaN"));
    }
}
