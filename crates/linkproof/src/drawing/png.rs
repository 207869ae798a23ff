//! Drawings as PNG: the same bytes on every run, without any font of the system.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect,
    Stroke, StrokeDash, Transform,
};

use super::glyphs::{ADVANCE, ASCENT, DESCENT, Letters};
use super::{Anchor, Colour, Drawing, Form, Point, Shape};
use crate::error::{Error, Result};

/// The most pixels to a side.
const LONGEST: f32 = 16_384.0;

impl Drawing {
    /// The picture as a PNG file, with `scale` pixels a unit.
    pub fn to_png(&self, scale: f32) -> Result<Vec<u8>> {
        let (width, height) = (self.width * scale, self.height * scale);
        let fits = |side: f32| (1.0..=LONGEST).contains(&side);
        if !(fits(width) && fits(height)) {
            let accepted = format!(
                "what makes a picture of {} x {} units 1 to {LONGEST} pixels wide and high",
                self.width, self.height
            );
            return Err(Error::argument("scale", accepted, scale));
        }
        let unfit = |found: String| Error::data("picture", found, "one that PNG can hold");
        let mut pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32)
            .ok_or_else(|| unfit(format!("{width} x {height} pixels")))?;
        pixmap.fill(Color::WHITE);
        for shape in self.drawable() {
            match shape.form {
                Form::Text { .. } => write_text(&mut pixmap, shape, scale),
                _ => draw(&mut pixmap, shape, scale),
            }
        }
        pixmap
            .encode_png()
            .map_err(|source| unfit(source.to_string()))
    }
}

fn draw(pixmap: &mut Pixmap, shape: &Shape, scale: f32) {
    // A form without extent, such as a line to itself, has no path.
    let Some(path) = path(&shape.form) else {
        return;
    };
    let style = &shape.style;
    let transform = Transform::from_scale(scale, scale);
    if let Some(colour) = style.fill {
        let paint = paint(colour, style.opacity);
        pixmap.fill_path(&path, &paint, FillRule::Winding, transform, None);
    }
    if let Some(colour) = style.stroke {
        let stroke = Stroke {
            width: style.width,
            line_join: LineJoin::Round,
            dash: StrokeDash::new(style.dashes.to_vec(), 0.0),
            ..Stroke::default()
        };
        let paint = paint(colour, style.opacity);
        pixmap.stroke_path(&path, &paint, &stroke, transform, None);
    }
}

fn path(form: &Form) -> Option<Path> {
    match form {
        Form::Line { from, to } => connected(&[*from, *to], false),
        Form::Polyline(points) => connected(points, false),
        Form::Polygon(points) => connected(points, true),
        Form::Circle { centre, radius } => PathBuilder::from_circle(centre.0, centre.1, *radius),
        Form::Rectangle {
            corner,
            width,
            height,
        } => Rect::from_xywh(corner.0, corner.1, *width, *height).map(PathBuilder::from_rect),
        Form::Text { .. } => None,
    }
}

fn connected(points: &[Point], closed: bool) -> Option<Path> {
    let (first, rest) = points.split_first()?;
    let mut builder = PathBuilder::new();
    builder.move_to(first.0, first.1);
    for point in rest {
        builder.line_to(point.0, point.1);
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint(colour: Colour, opacity: f32) -> Paint<'static> {
    let alpha = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    let mut paint = Paint::default();
    paint.set_color_rgba8(colour.red, colour.green, colour.blue, alpha);
    paint
}

fn write_text(pixmap: &mut Pixmap, shape: &Shape, scale: f32) {
    let Form::Text {
        words,
        at,
        size,
        anchor,
        upwards,
    } = &shape.form
    else {
        return;
    };
    let Some(colour) = shape.style.fill else {
        return;
    };
    // From here on in pixels.
    let size = size * scale;
    let length = words.chars().count() as f32 * ADVANCE * size;
    let start = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -length / 2.0,
        Anchor::End => -length,
    };
    let (above, below) = (ASCENT * size, DESCENT * size);
    // Letters that stand on the edge of a pixel are sharper.
    let at = ((at.0 * scale).round(), (at.1 * scale).round());
    let (x, y) = match upwards {
        true => (
            (at.0 - above, at.0 + below),
            (at.1 - start - length, at.1 - start),
        ),
        false => (
            (at.0 + start, at.0 + start + length),
            (at.1 - above, at.1 + below),
        ),
    };
    let letters = Letters::new(words);
    let columns = pixel_range(x, pixmap.width());
    let n_columns = pixmap.width() as usize;
    let rows = pixel_range(y, pixmap.height());
    let pixels = pixmap.pixels_mut();
    for row in rows {
        for column in columns.clone() {
            let (right, down) = (column as f32 + 0.5 - at.0, row as f32 + 0.5 - at.1);
            let (along, above) = match upwards {
                true => (-down - start, -right),
                false => (right - start, -down),
            };
            let ink = letters.ink(along / size, above / size, 1.0 / size);
            let pixel = &mut pixels[row * n_columns + column];
            *pixel = mixed(*pixel, colour, ink * shape.style.opacity.clamp(0.0, 1.0));
        }
    }
}

/// The pixels of a span, one more on either side for soft edges.
fn pixel_range(span: (f32, f32), n_pixels: u32) -> std::ops::Range<usize> {
    let within = |place: f32| place.clamp(0.0, n_pixels as f32) as usize;
    within(span.0.floor() - 1.0)..within(span.1.ceil() + 1.0)
}

/// The ground is opaque, so premultiplied colours are colours.
fn mixed(ground: PremultipliedColorU8, colour: Colour, share: f32) -> PremultipliedColorU8 {
    let mix = |under: u8, over: u8| {
        let mixed = f32::from(under) * (1.0 - share) + f32::from(over) * share;
        mixed.round() as u8
    };
    PremultipliedColorU8::from_rgba(
        mix(ground.red(), colour.red),
        mix(ground.green(), colour.green),
        mix(ground.blue(), colour.blue),
        255,
    )
    .unwrap_or(ground)
}
