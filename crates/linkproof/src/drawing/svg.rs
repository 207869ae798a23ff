//! Drawings as SVG.

use std::fmt::{self, Write};

use super::{Anchor, Colour, Drawing, Form, Point, Shape, Style};

impl Drawing {
    /// The picture as an SVG document.
    pub fn to_svg(&self) -> String {
        let (width, height) = (Number(self.width), Number(self.height));
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" role="img"><title>{}</title><rect width="100%" height="100%" fill="#ffffff"/>
"##,
            escape(&self.title)
        );
        for shape in self.drawable() {
            // Writing to a string cannot fail.
            let _ = write(&mut out, shape);
        }
        out.push_str("</svg>\n");
        out
    }
}

fn write(out: &mut String, shape: &Shape) -> fmt::Result {
    let style = attributes(&shape.style);
    match &shape.form {
        Form::Line { from, to } => writeln!(
            out,
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}"{style}/>"#,
            Number(from.0),
            Number(from.1),
            Number(to.0),
            Number(to.1)
        ),
        Form::Polyline(points) => {
            writeln!(out, r#"<polyline points="{}"{style}/>"#, list(points))
        }
        Form::Polygon(points) => {
            writeln!(out, r#"<polygon points="{}"{style}/>"#, list(points))
        }
        Form::Circle { centre, radius } => writeln!(
            out,
            r#"<circle cx="{}" cy="{}" r="{}"{style}/>"#,
            Number(centre.0),
            Number(centre.1),
            Number(*radius)
        ),
        Form::Rectangle {
            corner,
            width,
            height,
        } => writeln!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}"{style}/>"#,
            Number(corner.0),
            Number(corner.1),
            Number(*width),
            Number(*height)
        ),
        Form::Text {
            words,
            at,
            size,
            anchor,
            upwards,
        } => {
            let (x, y) = (Number(at.0), Number(at.1));
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => r#" text-anchor="middle""#,
                Anchor::End => r#" text-anchor="end""#,
            };
            let turn = match upwards {
                true => format!(r#" transform="rotate(-90 {x} {y})""#),
                false => String::new(),
            };
            let (size, words) = (Number(*size), escape(words));
            writeln!(
                out,
                r#"<text x="{x}" y="{y}" font-size="{size}"{anchor}{turn}{style}>{words}</text>"#
            )
        }
    }
}

fn attributes(style: &Style) -> String {
    let mut out = match style.fill {
        Some(colour) => format!(r#" fill="{colour}""#),
        None => r#" fill="none""#.to_owned(),
    };
    if let Some(colour) = style.stroke {
        let width = Number(style.width);
        let _ = write!(
            out,
            r#" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round""#
        );
        if !style.dashes.is_empty() {
            let dashes: Vec<String> = style.dashes.iter().map(f32::to_string).collect();
            let _ = write!(out, r#" stroke-dasharray="{}""#, dashes.join(" "));
        }
    }
    if style.opacity < 1.0 {
        let _ = write!(out, r#" opacity="{}""#, Number(style.opacity));
    }
    out
}

fn list(points: &[Point]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|&(x, y)| format!("{},{}", Number(x), Number(y)))
        .collect();
    points.join(" ")
}

impl fmt::Display for Colour {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
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
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML has no way to write most control characters.
            other if other.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
