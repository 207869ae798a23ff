//! Drawings as SVG.

use std::fmt::{self, Write};

use super::{Anchor, Drawing, Shape, Style, Text};

impl Drawing {
    /// The picture as an SVG document.
    pub fn to_svg(&self) -> String {
        let (width, height) = (Number(self.width), Number(self.height));
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" role="img"><title>{}</title><rect width="100%" height="100%" fill="#ffffff"/>
"##,
            escape(&self.title)
        );
        for shape in &self.shapes {
            // Writing to a string cannot fail.
            let _ = write(&mut out, shape);
        }
        out.push_str("</svg>\n");
        out
    }
}

fn write(out: &mut String, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Path(points, closed, style) => {
            let name = if *closed { "polygon" } else { "polyline" };
            write!(out, r#"<{name} points=""#)?;
            for (place, (x, y)) in points.iter().enumerate() {
                let gap = if place == 0 { "" } else { " " };
                write!(out, "{gap}{},{}", Number(*x), Number(*y))?;
            }
            writeln!(out, r#""{style}/>"#)
        }
        Shape::Circle((x, y), radius, style) => {
            let (x, y, radius) = (Number(*x), Number(*y), Number(*radius));
            writeln!(out, r#"<circle cx="{x}" cy="{y}" r="{radius}"{style}/>"#)
        }
        Shape::Text(Text {
            words,
            at,
            size,
            anchor,
            upwards,
        }) => {
            let (x, y, size) = (Number(at.0), Number(at.1), Number(*size));
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => r#" text-anchor="middle""#,
                Anchor::End => r#" text-anchor="end""#,
            };
            write!(out, r#"<text x="{x}" y="{y}" font-size="{size}"{anchor}"#)?;
            if *upwards {
                write!(out, r#" transform="rotate(-90 {x} {y})""#)?;
            }
            writeln!(out, ">{}</text>", escape(words))
        }
    }
}

/// The attributes of a shape, each after a blank.
impl fmt::Display for Style {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fill {
            Some(colour) => write!(out, r##" fill="#{colour:06x}""##)?,
            None => out.write_str(r#" fill="none""#)?,
        }
        if let Some(colour) = self.stroke {
            let width = Number(self.width);
            write!(
                out,
                r##" stroke="#{colour:06x}" stroke-width="{width}" stroke-linejoin="round""##
            )?;
            if let [dash, gap] = self.dashes {
                write!(out, r#" stroke-dasharray="{dash} {gap}""#)?;
            }
        }
        match self.opacity < 1.0 {
            true => write!(out, r#" opacity="{}""#, Number(self.opacity)),
            false => Ok(()),
        }
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
    // XML has no way to write most control characters.
    let text = text.replace(char::is_control, " ").replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}
