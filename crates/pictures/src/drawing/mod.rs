//! Pictures as SVG: charts, and small multiples of embeddings.
//!
//! ```
//! use linkproof_pictures::drawing::{Chart, Series};
//!
//! let chart = Chart {
//!     title: "Purity under false links".into(),
//!     y_label: "purity".into(),
//!     columns: vec!["none".into(), "+30%".into(), "+60%".into()],
//!     series: vec![
//!         Series::new("likelihood", vec![Some((0.95, 0.01)), Some((0.81, 0.02)), None]),
//!         Series::new("moment", vec![Some((0.96, 0.01)), Some((0.93, 0.01)), Some((0.9, 0.02))]),
//!     ],
//! };
//! assert!(chart.draw().to_svg().starts_with("<svg"));
//! ```

mod chart;
mod panels;
#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

pub use chart::{Chart, Series};
pub use panels::{NO_CLUSTER, Panel, panels, picture};

/// Right and down, from the top left corner.
type Point = (f32, f32);

const BLACK: &str = "#000000";
const GREY: &str = "#888888";
const RED: &str = "#d40000";

/// Colours that remain distinct for most forms of colour blindness (Okabe and Ito).
const COLOURS: [&str; 8] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#444444",
];

/// A picture on white ground; later shapes cover earlier ones. A shape with a place that
/// is not finite, as of a node that an embedding lost, is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// In units, which are the pixels of the SVG.
    width: f32,
    height: f32,
    /// What it shows, for readers who do not see it.
    title: String,
    /// As SVG.
    shapes: String,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stroke {
    colour: &'static str,
    width: f32,
    /// From 0 (not to be seen) to 1 (covers what lies under it).
    opacity: f32,
    /// Lengths of dash and gap in turn; empty for an unbroken line.
    dashes: &'static str,
}

impl Stroke {
    const fn new(colour: &'static str, width: f32, opacity: f32) -> Stroke {
        Stroke {
            colour,
            width,
            opacity,
            dashes: "",
        }
    }
}

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Anchor {
    Start,
    Middle,
    End,
    /// The middle of a text that runs upwards, as the title of an upright axis.
    Upwards,
}

impl Drawing {
    fn new(width: f32, height: f32, title: &str) -> Drawing {
        Drawing {
            width,
            height,
            title: title.to_owned(),
            shapes: String::new(),
        }
    }

    /// The picture as an SVG document.
    pub fn to_svg(&self) -> String {
        let (width, height) = (Number(self.width), Number(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" role=\"img\">\
             <title>{}</title><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             {}</svg>\n",
            escape(&self.title),
            self.shapes
        )
    }

    fn add(&mut self, shape: fmt::Arguments<'_>, places: &[Point]) {
        let is_finite = |(x, y): &Point| x.is_finite() && y.is_finite();
        if places.iter().all(is_finite) {
            // Writing to a string cannot fail.
            let _ = writeln!(self.shapes, "{shape}");
        }
    }

    /// Straight lines from point to point.
    fn line(&mut self, points: &[Point], stroke: Stroke) {
        let list = points.iter();
        let list: Vec<String> = list
            .map(|&(x, y)| format!("{},{}", Number(x), Number(y)))
            .collect();
        let list = list.join(" ");
        let attributes = attributes("none", stroke);
        self.add(
            format_args!(r#"<polyline points="{list}"{attributes}/>"#),
            points,
        );
    }

    fn circle(&mut self, centre: Point, radius: f32, fill: &str, stroke: Option<Stroke>) {
        let attributes = match stroke {
            Some(stroke) => attributes(fill, stroke),
            None => format!(r#" fill="{fill}""#),
        };
        let (x, y, radius) = (Number(centre.0), Number(centre.1), Number(radius));
        self.add(
            format_args!(r#"<circle cx="{x}" cy="{y}" r="{radius}"{attributes}/>"#),
            &[centre],
        );
    }

    /// One line of black text; `at` is a point of the line that the letters stand on.
    fn text(&mut self, words: &str, at: Point, size: f32, anchor: Anchor) {
        let (x, y, size) = (Number(at.0), Number(at.1), Number(size));
        let attributes = match anchor {
            Anchor::Start => String::new(),
            Anchor::Middle => r#" text-anchor="middle""#.to_owned(),
            Anchor::End => r#" text-anchor="end""#.to_owned(),
            Anchor::Upwards => {
                format!(r#" text-anchor="middle" transform="rotate(-90 {x} {y})""#)
            }
        };
        let words = escape(words);
        self.add(
            format_args!(r#"<text x="{x}" y="{y}" font-size="{size}"{attributes}>{words}</text>"#),
            &[at],
        );
    }
}

fn attributes(fill: &str, stroke: Stroke) -> String {
    let mut text = format!(
        r#" fill="{fill}" stroke="{}" stroke-width="{}" stroke-linejoin="round""#,
        stroke.colour,
        Number(stroke.width)
    );
    if !stroke.dashes.is_empty() {
        text.push_str(&format!(r#" stroke-dasharray="{}""#, stroke.dashes));
    }
    if stroke.opacity < 1.0 {
        text.push_str(&format!(r#" opacity="{}""#, Number(stroke.opacity)));
    }
    text
}

/// Hundredths of a unit are as fine as an eye sees.
struct Number(f32);

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:.2}", self.0);
        out.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

fn escape(text: &str) -> String {
    // XML has no way to write most control characters.
    let text = text.replace(char::is_control, " ").replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// The width of text. Letters of viewers differ, so this is generous.
fn width(words: &str, size: f32) -> f32 {
    words.chars().count() as f32 * size * 0.6
}

/// The text, cut off with dots where there is not room enough.
fn cut(words: &str, size: f32, room: f32) -> String {
    if width(words, size) <= room {
        return words.to_owned();
    }
    let n_letters = (room / width("m", size)) as usize;
    let kept: String = words.chars().take(n_letters.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// The text in lines, broken between words.
fn lines(words: &str, size: f32, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + width(" ", size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, size, room)),
        }
    }
    lines
}
