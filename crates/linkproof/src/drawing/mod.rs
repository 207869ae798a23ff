//! Pictures: a list of shapes, written as SVG and as PNG from the same list.
//!
//! ```
//! use linkproof::drawing::{Axis, Chart, Series};
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
mod glyphs;
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

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    /// From 0 to 255.
    pub red: u8,
    /// From 0 to 255.
    pub green: u8,
    /// From 0 to 255.
    pub blue: u8,
}

impl Colour {
    /// The colour of `0xrrggbb`.
    pub const fn new(hex: u32) -> Colour {
        let [_, red, green, blue] = hex.to_be_bytes();
        Colour { red, green, blue }
    }
}

/// Text and axes.
pub const BLACK: Colour = Colour::new(0x000000);
/// The ground.
pub const WHITE: Colour = Colour::new(0xffffff);
/// What shall stand back.
pub const GREY: Colour = Colour::new(0x888888);
/// What shall stand out.
pub const RED: Colour = Colour::new(0xd40000);

/// Colours that remain distinct for most forms of colour blindness (Okabe and Ito).
pub const COLOURS: [Colour; 8] = [
    Colour::new(0x0072b2),
    Colour::new(0xe69f00),
    Colour::new(0x009e73),
    Colour::new(0xcc79a7),
    Colour::new(0x56b4e9),
    Colour::new(0xd55e00),
    Colour::new(0xf0e442),
    Colour::new(0x444444),
];

/// A picture on white ground; later shapes cover earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// In units, which are the pixels of the SVG.
    pub width: f32,
    /// In units.
    pub height: f32,
    /// What it shows, for readers who do not see it.
    pub title: String,
    /// What it consists of.
    pub shapes: Vec<Shape>,
}

/// Right and down, from the top left corner.
pub type Point = (f32, f32);

/// A form and how it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// What and where.
    pub form: Form,
    /// In which colours.
    pub style: Style,
}

/// What is drawn. A form with a place that is not finite is left out.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A straight line.
    Line {
        /// One end.
        from: Point,
        /// The other.
        to: Point,
    },
    /// Straight lines from point to point.
    Polyline(Vec<Point>),
    /// Straight lines from point to point and back.
    Polygon(Vec<Point>),
    /// A circle.
    Circle {
        /// Its middle.
        centre: Point,
        /// Half its width.
        radius: f32,
    },
    /// A rectangle with upright sides.
    Rectangle {
        /// The top left corner.
        corner: Point,
        /// To the right.
        width: f32,
        /// Downwards.
        height: f32,
    },
    /// One line of text, in the colour of the style's filling.
    Text {
        /// What it says. PNG knows the characters of ISO 8859-1.
        words: String,
        /// A point of the line that the letters stand on.
        at: Point,
        /// The size of the font.
        size: f32,
        /// Which part of the text stands at the point.
        anchor: Anchor,
        /// Whether it runs upwards, as the title of an upright axis.
        upwards: bool,
    },
}

/// Which part of a text stands at its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// How a form is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// The colour inside.
    pub fill: Option<Colour>,
    /// The colour of the line.
    pub stroke: Option<Colour>,
    /// How thick the line is.
    pub width: f32,
    /// Lengths of dash and gap in turn; none for an unbroken line.
    pub dashes: &'static [f32],
    /// From 0 (not to be seen) to 1 (covers what lies under it).
    pub opacity: f32,
}

impl Style {
    /// Filled, without a line around it.
    pub const fn filled(colour: Colour) -> Style {
        Style {
            fill: Some(colour),
            stroke: None,
            width: 1.0,
            dashes: &[],
            opacity: 1.0,
        }
    }

    /// A line alone.
    pub const fn stroked(colour: Colour, width: f32) -> Style {
        Style {
            fill: None,
            stroke: Some(colour),
            width,
            dashes: &[],
            opacity: 1.0,
        }
    }

    /// The same, filled too.
    pub const fn and_filled(mut self, colour: Colour) -> Style {
        self.fill = Some(colour);
        self
    }

    /// The same with a broken line.
    pub const fn dashed(mut self, dashes: &'static [f32]) -> Style {
        self.dashes = dashes;
        self
    }

    /// The same, letting through what lies under it.
    pub const fn faint(mut self, opacity: f32) -> Style {
        self.opacity = opacity;
        self
    }
}

impl Form {
    /// A straight line.
    pub fn line(from: Point, to: Point) -> Form {
        Form::Line { from, to }
    }

    /// A level text.
    pub fn text(words: impl Into<String>, at: Point, size: f32, anchor: Anchor) -> Form {
        Form::Text {
            words: words.into(),
            at,
            size,
            anchor,
            upwards: false,
        }
    }

    fn is_finite(&self) -> bool {
        let finite = |point: &Point| point.0.is_finite() && point.1.is_finite();
        match self {
            Form::Line { from, to } => finite(from) && finite(to),
            Form::Polyline(points) | Form::Polygon(points) => points.iter().all(finite),
            Form::Circle { centre, radius } => finite(centre) && radius.is_finite(),
            Form::Rectangle {
                corner,
                width,
                height,
            } => finite(corner) && width.is_finite() && height.is_finite(),
            Form::Text { at, size, .. } => finite(at) && size.is_finite(),
        }
    }
}

impl Drawing {
    /// An empty picture.
    pub fn new(width: f32, height: f32, title: impl Into<String>) -> Drawing {
        Drawing {
            width,
            height,
            title: title.into(),
            shapes: Vec::new(),
        }
    }

    /// Adds a shape on top of the others.
    pub fn add(&mut self, form: Form, style: Style) {
        self.shapes.push(Shape { form, style });
    }

    fn drawable(&self) -> impl Iterator<Item = &Shape> {
        self.shapes.iter().filter(|shape| shape.form.is_finite())
    }
}
