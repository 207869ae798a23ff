//! Letters for PNG without any font of the system: a bitmap font whose letters
//! are enlarged to smooth outlines.

use embedded_graphics::geometry::{OriginDimensions, Point as Place};
use embedded_graphics::image::GetPixel;
use embedded_graphics::mono_font::MonoFont;
use embedded_graphics::mono_font::iso_8859_1::FONT_10X20;
use embedded_graphics::pixelcolor::BinaryColor;

/// The largest of the built-in fonts, so that the least is made up between dots.
const FONT: MonoFont<'static> = FONT_10X20;
/// The box of a letter, in dots.
const CELL: (f32, f32) = (10.0, 20.0);
/// The height of a letter's box at font size 1. The capitals are then as high
/// as those of common fonts.
const LINE: f32 = 1.12;

/// The width of a letter at font size 1.
pub(super) const ADVANCE: f32 = LINE * CELL.0 / CELL.1;
/// From the line that letters stand on to the top of their box, at font size 1.
pub(super) const ASCENT: f32 = LINE * 16.0 / CELL.1;
/// From the line that letters stand on to the bottom of their box.
pub(super) const DESCENT: f32 = LINE - ASCENT;

/// A line of text as a grid of dots.
pub(super) struct Letters {
    indices: Vec<i32>,
}

impl Letters {
    pub(super) fn new(words: &str) -> Letters {
        let index = |letter| FONT.glyph_mapping.index(letter) as i32;
        Letters {
            indices: words.chars().map(index).collect(),
        }
    }

    fn dot(&self, column: i32, row: i32) -> f32 {
        let (width, height) = (CELL.0 as i32, CELL.1 as i32);
        if column < 0 || !(0..height).contains(&row) {
            return 0.0;
        }
        let Some(&index) = self.indices.get((column / width) as usize) else {
            return 0.0;
        };
        let per_row = FONT.image.size().width as i32 / width;
        let at = Place::new(
            index % per_row * width + column % width,
            index / per_row * height + row,
        );
        match FONT.image.pixel(at) {
            Some(BinaryColor::On) => 1.0,
            _ => 0.0,
        }
    }

    /// How much ink lies at a place `along` the text from its beginning and
    /// `above` the line that letters stand on, in units of font size 1.
    /// `pixel` is the size of a pixel in these units.
    ///
    /// Between the dots the ink is interpolated and cut at one half, which turns
    /// stairs into slopes; the cut is as wide as a pixel.
    pub(super) fn ink(&self, along: f32, above: f32, pixel: f32) -> f32 {
        let dots = CELL.1 / LINE;
        let (x, y) = (along * dots - 0.5, (ASCENT - above) * dots - 0.5);
        let (column, row) = (x.floor(), y.floor());
        let (right, down) = (x - column, y - row);
        let (column, row) = (column as i32, row as i32);
        let level = |row| self.dot(column, row) * (1.0 - right) + self.dot(column + 1, row) * right;
        let ink = level(row) * (1.0 - down) + level(row + 1) * down;
        let steepness = (1.0 / (pixel * dots)).max(1.0);
        // A cut a little below one half keeps diagonals of single dots together.
        (0.5 + (ink - 0.42) * steepness).clamp(0.0, 1.0)
    }
}
