//! Pictures: a list of shapes, written as SVG and as PNG from the same list.
//!
//! ```
//! use linkproof_pictures::drawing::{Axis, Chart, Series};
//!
//! let chart = Chart {
//!     title: "Purity under false links".into(),
//!     x_label: "false links".into(),
//!     y_label: "purity".into(),
//!     x: Axis::categories(["none", "+30%", "+60%"]),
//!     series: vec![
//!         Series::new("likelihood", vec![Some((0.95, 0.01)), Some((0.81, 0.02)), None]),
//!         Series::new("moment", vec![Some((0.96, 0.01)), Some((0.93, 0.01)), Some((0.9, 0.02))]),
//!     ],
//! };
//! let drawing = chart.draw();
//! assert!(drawing.to_svg().starts_with("<svg"));
//! assert!(drawing.to_png(2.0)?.starts_with(b"\x89PNG"));
//! # Ok::<(), linkproof::Error>(())
//! ```

mod axis;
mod chart;
mod marker;
mod panels;
mod png;
mod svg;
#[cfg(test)]
mod tests;
mod words;

pub use axis::Axis;
pub use chart::{Chart, Series};
pub use panels::{NO_CLUSTER, Panel, panels, picture};

/// Pixels a unit in the PNG files that are written: text is crisp on dense
/// screens and in print.
pub const PNG_SCALE: f32 = 2.0;

/// `0xrrggbb`.
type Colour = u32;
/// Right and down, from the top left corner.
type Point = (f32, f32);

const BLACK: Colour = 0x000000;
const WHITE: Colour = 0xffffff;
const GREY: Colour = 0x888888;
const RED: Colour = 0xd40000;

/// Colours that remain distinct for most forms of colour blindness (Okabe and Ito).
const COLOURS: [Colour; 8] = [
    0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0xf0e442, 0x444444,
];

/// A picture on white ground; later shapes cover earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// In units, which are the pixels of the SVG.
    width: f32,
    height: f32,
    /// What it shows, for readers who do not see it.
    title: String,
    shapes: Vec<Shape>,
}

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    /// Straight lines from point to point, and back where it is closed.
    Path(Vec<Point>, bool, Style),
    /// A centre and a radius.
    Circle(Point, f32, Style),
    Text(Text),
}

/// One line of black text.
#[derive(Debug, Clone, PartialEq)]
struct Text {
    words: String,
    /// A point of the line that the letters stand on.
    at: Point,
    size: f32,
    anchor: Anchor,
    /// Whether it runs upwards, as the title of an upright axis.
    upwards: bool,
}

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Style {
    fill: Option<Colour>,
    stroke: Option<Colour>,
    /// How thick the line is.
    width: f32,
    /// Lengths of dash and gap in turn; none for an unbroken line.
    dashes: &'static [f32],
    /// From 0 (not to be seen) to 1 (covers what lies under it).
    opacity: f32,
}

impl Style {
    const fn filled(colour: Colour) -> Style {
        Style {
            fill: Some(colour),
            stroke: None,
            width: 1.0,
            dashes: &[],
            opacity: 1.0,
        }
    }

    const fn stroked(colour: Colour, width: f32) -> Style {
        Style {
            fill: None,
            stroke: Some(colour),
            width,
            ..Style::filled(colour)
        }
    }

    const fn faint(self, opacity: f32) -> Style {
        Style { opacity, ..self }
    }
}

impl Drawing {
    fn new(width: f32, height: f32, title: &str) -> Drawing {
        Drawing {
            width,
            height,
            title: title.to_owned(),
            shapes: Vec::new(),
        }
    }

    /// Adds a shape on top of the others; one with a place that is not finite,
    /// as of a node that an embedding lost, is left out.
    fn add(&mut self, shape: Shape) {
        let finite = |point: &Point| point.0.is_finite() && point.1.is_finite();
        let is_finite = match &shape {
            Shape::Path(points, ..) => points.iter().all(finite),
            Shape::Circle(centre, radius, _) => finite(centre) && radius.is_finite(),
            Shape::Text(text) => finite(&text.at),
        };
        if is_finite {
            self.shapes.push(shape);
        }
    }

    fn line(&mut self, from: Point, to: Point, style: Style) {
        self.add(Shape::Path(vec![from, to], false, style));
    }

    /// Adds a level text.
    fn text(&mut self, words: impl Into<String>, at: Point, size: f32, anchor: Anchor) {
        self.add(Shape::Text(Text {
            words: words.into(),
            at,
            size,
            anchor,
            upwards: false,
        }));
    }
}
