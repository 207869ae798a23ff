//! Line charts with bars of one standard error.

use linkproof_numeric::math;

use super::{Anchor, BLACK, COLOURS, Drawing, Stroke, cut, lines, width};

/// A line chart: a line for each series over named columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Above the chart; long titles take several lines.
    pub title: String,
    /// What the upright axis shows.
    pub y_label: String,
    /// What stands below each other's points.
    pub columns: Vec<String>,
    /// The lines. Colour and dashes distinguish up to 21.
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// As in the legend.
    pub name: String,
    /// Mean and standard error in each column. The line has a gap where there is none; an
    /// error of 0 has no bar.
    pub points: Vec<Option<(f64, f64)>>,
}

impl Series {
    /// A series of a name.
    pub fn new(name: impl Into<String>, points: Vec<Option<(f64, f64)>>) -> Series {
        Series {
            name: name.into(),
            points,
        }
    }

    /// Mean and error in a column, where the mean can be drawn.
    fn at(&self, column: usize) -> Option<(f64, f64)> {
        let (mean, error) = self.points.get(column).copied().flatten()?;
        let error = if error.is_finite() { error.abs() } else { 0.0 };
        // Written so that NaN fails; sums of what passes are finite.
        (mean.abs() + error < 1e300).then_some((mean, error))
    }
}

/// The palette without its yellow, which hardly shows on white, in an order
/// that keeps like colours apart.
const ORDER: [usize; 7] = [0, 5, 2, 1, 3, 4, 7];
const DASHES: [&str; 3] = ["", "6 3", "2 2"];

const TITLE_SIZE: f32 = 16.0;
const LABEL_SIZE: f32 = 14.0;
const TICK_SIZE: f32 = 12.0;
const LEGEND_SIZE: f32 = 13.0;
const MARGIN: f32 = 14.0;
const PLOT: (f32, f32) = (460.0, 300.0);
const LEGEND_ROW: f32 = 21.0;
const LEGEND_LINE: f32 = 30.0;
/// Longer names are cut.
const LONGEST_NAME: f32 = 340.0;
const LONGEST_TICK: f32 = 160.0;

/// Where everything stands.
struct Frame {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    /// The width of a column.
    slot: f32,
    /// The ends of the upright axis.
    range: (f64, f64),
    ticks: Vec<(f64, String)>,
}

impl Frame {
    fn x(&self, column: usize) -> f32 {
        self.left + (column as f32 + 0.5) * self.slot
    }

    fn y(&self, value: f64) -> f32 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0);
        self.bottom - share as f32 * (self.bottom - self.top)
    }
}

impl Chart {
    /// Draws it. The picture is as wide as columns and legend ask for.
    pub fn draw(&self) -> Drawing {
        let widest = |names: &mut dyn Iterator<Item = &String>, size, most: f32| {
            let widths = names.map(|name| width(name, size));
            widths.fold(0.0, f32::max).min(most)
        };
        let values = self.series.iter().flat_map(|series| {
            let points = (0..self.columns.len()).filter_map(|column| series.at(column));
            points.flat_map(|(mean, error)| [mean - error, mean + error])
        });
        let (range, ticks) = ticks(span(values));
        let tick = widest(&mut ticks.iter().map(|tick| &tick.1), TICK_SIZE, PLOT.0);
        let left = MARGIN + LABEL_SIZE + 10.0 + tick + 10.0;
        let slot = widest(&mut self.columns.iter(), TICK_SIZE, LONGEST_TICK) + TICK_SIZE;
        let n_columns = self.columns.len().max(1) as f32;
        let slot = slot.max(PLOT.0 / n_columns);
        let right = left + slot * n_columns;
        let names = &mut self.series.iter().map(|series| &series.name);
        let legend = MARGIN + LEGEND_LINE + 8.0 + widest(names, LEGEND_SIZE, LONGEST_NAME);
        let all = (right + legend + MARGIN).ceil();
        let title = lines(&self.title, TITLE_SIZE, all - 2.0 * MARGIN);
        let top = MARGIN + title.len() as f32 * TITLE_SIZE * 1.3 + 12.0;
        let bottom = top + PLOT.1.max(self.series.len() as f32 * LEGEND_ROW);
        let frame = Frame {
            left,
            top,
            right,
            bottom,
            slot,
            range,
            ticks,
        };
        let height = (bottom + 20.0 + TICK_SIZE + MARGIN).ceil();
        let mut drawing = Drawing::new(all, height, &self.title);
        for (line, words) in (1u8..).zip(&title) {
            let y = MARGIN + f32::from(line) * TITLE_SIZE * 1.3 - 6.0;
            drawing.text(words, (MARGIN, y), TITLE_SIZE, Anchor::Start);
        }
        self.draw_axes(&mut drawing, &frame);
        for index in 0..self.series.len() {
            self.draw_series(&mut drawing, &frame, index);
        }
        drawing
    }

    fn draw_axes(&self, drawing: &mut Drawing, frame: &Frame) {
        let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom);
        for (value, name) in &frame.ticks {
            let y = frame.y(*value);
            drawing.line(&[(left, y), (right, y)], Stroke::new("#e4e4e4", 1.0, 1.0));
            let at = (left - 8.0, y + TICK_SIZE * 0.35);
            drawing.text(name, at, TICK_SIZE, Anchor::End);
        }
        let ink = Stroke::new(BLACK, 1.0, 1.0);
        for (column, name) in self.columns.iter().enumerate() {
            let x = frame.x(column);
            drawing.line(&[(x, bottom), (x, bottom + 5.0)], ink);
            let name = cut(name, TICK_SIZE, LONGEST_TICK);
            let at = (x, bottom + 8.0 + TICK_SIZE);
            drawing.text(&name, at, TICK_SIZE, Anchor::Middle);
        }
        drawing.line(&[(left, top), (left, bottom), (right, bottom)], ink);
        let label = cut(&self.y_label, LABEL_SIZE, bottom - top);
        let at = (MARGIN + LABEL_SIZE * 0.8, (top + bottom) / 2.0);
        drawing.text(&label, at, LABEL_SIZE, Anchor::Upwards);
    }

    /// A line, its points and its place in the legend.
    fn draw_series(&self, drawing: &mut Drawing, frame: &Frame, index: usize) {
        let (series, n_series) = (&self.series[index], self.series.len() as f32);
        let colour = COLOURS[ORDER[index % ORDER.len()]];
        let stroke = Stroke {
            dashes: DASHES[index / ORDER.len() % DASHES.len()],
            ..Stroke::new(colour, 1.8, 1.0)
        };
        let marker = Some(Stroke::new(colour, 1.4, 1.0));
        // Points of neighbouring series stand a little beside each other.
        let apart = (0.4 * frame.slot / n_series).min(5.0);
        let beside = (index as f32 - (n_series - 1.0) / 2.0) * apart;
        let place = |column: usize| {
            let (mean, error) = series.at(column)?;
            Some((frame.x(column) + beside, mean, error))
        };
        let places: Vec<_> = (0..self.columns.len()).map(place).collect();
        let thin = Stroke::new(colour, 1.2, 0.7);
        for &(x, mean, error) in places.iter().flatten().filter(|place| place.2 > 0.0) {
            let (low, high) = (frame.y(mean - error), frame.y(mean + error));
            drawing.line(&[(x, low), (x, high)], thin);
            for y in [low, high] {
                drawing.line(&[(x - 3.0, y), (x + 3.0, y)], thin);
            }
        }
        for run in places.split(Option::is_none) {
            let points = run.iter().flatten().map(|&(x, mean, _)| (x, frame.y(mean)));
            let points: Vec<_> = points.collect();
            if points.len() > 1 {
                drawing.line(&points, stroke);
            }
            for centre in points {
                drawing.circle(centre, 3.6, colour, marker);
            }
        }
        let left = frame.right + MARGIN;
        let right = left + LEGEND_LINE;
        let y = frame.top + (index as f32 + 0.5) * LEGEND_ROW;
        drawing.line(&[(left, y), (right, y)], stroke);
        drawing.circle(((left + right) / 2.0, y), 3.6, colour, marker);
        let name = cut(&series.name, LEGEND_SIZE, LONGEST_NAME);
        let at = (right + 8.0, y + LEGEND_SIZE * 0.35);
        drawing.text(&name, at, LEGEND_SIZE, Anchor::Start);
    }
}

/// The range of values, opened where there is one value or none.
fn span(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let magnitude = low.abs().max(high.abs());
    if !magnitude.is_finite() {
        return (0.0, 1.0);
    }
    // Ranges that rounding has made are no ranges.
    if high - low > magnitude * 1e-9 {
        return (low, high);
    }
    let room = if magnitude == 0.0 {
        1.0
    } else {
        magnitude * 0.1
    };
    (low - room, high + room)
}

/// The ends of an axis that holds a range, and three to eight multiples of a step of 1, 2
/// or 5 times a power of 10 with their names.
pub(super) fn ticks((low, high): (f64, f64)) -> ((f64, f64), Vec<(f64, String)>) {
    let least = (high - low) / 8.0;
    let power = math::pow(10.0, math::log10(least).floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    // A thousandth of a step, for numbers that binary fractions miss.
    let (first, last) = ((low / step + 1e-3).floor(), (high / step - 1e-3).ceil());
    let smallest_digit = math::log10(step * (1.0 + 1e-9)).floor();
    let largest = step * first.abs().max(last.abs());
    let name = |value: f64| {
        if smallest_digit < -5.0 || largest >= 1e6 {
            let digits = math::log10(largest).floor() - smallest_digit;
            return format!("{value:.*e}", digits.max(0.0) as usize);
        }
        format!("{value:.*}", (-smallest_digit).max(0.0) as usize)
    };
    let ticks = (0..=(last - first) as u32).map(|number| {
        // Zero comes without a sign.
        let value = (first + f64::from(number)) * step + 0.0;
        (value, name(value))
    });
    ((first * step, last * step), ticks.collect())
}
