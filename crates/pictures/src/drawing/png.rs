//! Drawings as PNG: the same bytes on every run, without any font of the system.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::{Anchor, BLACK, Colour, Drawing, Point, Shape, Style, Text};
use linkproof_method::error::{Error, Result};

/// Latin and Greek letters.
const FONT: &[u8] = include_bytes!("font/sans.ttf");
/// The most pixels to a side.
const LONGEST: f32 = 16_384.0;

impl Drawing {
    /// The picture as a PNG file, with `scale` pixels a unit.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>> {
        let (width, height) = (self.width * scale, self.height * scale);
        let fits = |side: f32| (1.0..=LONGEST).contains(&side);
        let refused = |found: String| {
            let size = format!("{} x {} units", self.width, self.height);
            let accepted = format!("what makes {size} 1 to {LONGEST} pixels wide and high");
            Error::argument("scale", accepted, found)
        };
        if !(fits(width) && fits(height)) {
            return Err(refused(scale.to_string()));
        }
        let mut pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32)
            .ok_or_else(|| refused(scale.to_string()))?;
        let font = Face::parse(FONT, 0).map_err(|error| refused(error.to_string()))?;
        pixmap.fill(Color::WHITE);
        let scale = Transform::from_scale(scale, scale);
        for shape in &self.shapes {
            // A form without extent, such as a line to itself, has no path.
            let (path, style, transform) = match shape {
                Shape::Path(points, closed, style) => (connected(points, *closed), *style, scale),
                Shape::Circle((x, y), radius, style) => {
                    (PathBuilder::from_circle(*x, *y, *radius), *style, scale)
                }
                Shape::Text(text) => {
                    let (path, transform) = letters(text, &font);
                    (path, Style::filled(BLACK), transform.post_concat(scale))
                }
            };
            if let Some(path) = path {
                draw(&mut pixmap, &path, &style, transform);
            }
        }
        pixmap
            .encode_png()
            .map_err(|error| refused(error.to_string()))
    }
}

fn draw(pixmap: &mut Pixmap, path: &Path, style: &Style, transform: Transform) {
    let paint = |colour: Colour| {
        let [_, red, green, blue] = colour.to_be_bytes();
        let mut paint = Paint::default();
        paint.set_color_rgba8(red, green, blue, (style.opacity * 255.0).round() as u8);
        paint
    };
    if let Some(colour) = style.fill {
        pixmap.fill_path(path, &paint(colour), FillRule::Winding, transform, None);
    }
    if let Some(colour) = style.stroke {
        let stroke = Stroke {
            width: style.width,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(style.dashes.to_vec(), 0.0),
            ..Stroke::default()
        };
        pixmap.stroke_path(path, &paint(colour), &stroke, transform, None);
    }
}

fn connected(points: &[Point], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (place, point) in points.iter().enumerate() {
        match place {
            0 => builder.move_to(point.0, point.1),
            _ => builder.line_to(point.0, point.1),
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

/// The outlines of a text in the font's units, and where they stand. A letter
/// that the font does not have is a box.
fn letters(text: &Text, font: &Face<'_>) -> (Option<Path>, Transform) {
    let mut pen = Pen {
        path: PathBuilder::new(),
        along: 0.0,
    };
    for letter in text.words.chars() {
        let glyph = font.glyph_index(letter).unwrap_or(GlyphId(0));
        font.outline_glyph(glyph, &mut pen);
        pen.along += f32::from(font.glyph_hor_advance(glyph).unwrap_or(0));
    }
    let before = match text.anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => pen.along / 2.0,
        Anchor::End => pen.along,
    };
    let unit = text.size / f32::from(font.units_per_em());
    let turn = if text.upwards { -90.0 } else { 0.0 };
    let transform = Transform::from_translate(-before, 0.0)
        .post_scale(unit, unit)
        .post_rotate(turn)
        .post_translate(text.at.0, text.at.1);
    (pen.path.finish(), transform)
}

/// Draws the outlines of letters, one after the other. Fonts count upwards.
struct Pen {
    path: PathBuilder,
    along: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.along + x, -y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.along + x, -y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let along = self.along;
        self.path.quad_to(along + x1, -y1, along + x, -y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let along = self.along;
        self.path
            .cubic_to(along + x1, -y1, along + x2, -y2, along + x, -y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
