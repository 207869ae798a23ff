//! Line charts with bars of one standard error.

use super::axis::{self, Axis};
use super::{Anchor, BLACK, Drawing, Shape, Style, Text, marker, words};

/// A line chart: a line for each series over the places of one level axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Above the chart; long titles take several lines.
    pub title: String,
    /// What the level axis shows.
    pub x_label: String,
    /// What the upright axis shows.
    pub y_label: String,
    /// Where the points of all series stand.
    pub x: Axis,
    /// The lines. Up to 14 are told apart by colour, marker and dashes; with
    /// dots, up to 21.
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// As in the legend; a nameless series is not in it.
    pub name: String,
    /// Mean and standard error at each place of the axis. The line has a gap
    /// where there is none; an error of 0 has no bar.
    pub points: Vec<Option<(f64, f64)>>,
    /// The place of a point to ring.
    pub ringed: Option<usize>,
}

impl Series {
    /// A series without a ringed point.
    pub fn new(name: impl Into<String>, points: Vec<Option<(f64, f64)>>) -> Series {
        Series {
            name: name.into(),
            points,
            ringed: None,
        }
    }

    /// Mean and error at a place, where the mean can be drawn.
    fn at(&self, place: usize) -> Option<(f64, f64)> {
        let (mean, error) = self.points.get(place).copied().flatten()?;
        let error = if error.is_finite() { error.abs() } else { 0.0 };
        // Written so that NaN fails; sums of what passes are finite.
        (mean.abs() + error < 1e300).then_some((mean, error))
    }
}

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
    width: f32,
    height: f32,
    title: Vec<String>,
    x: (f64, f64),
    y: (f64, f64),
    y_ticks: Vec<(f64, String)>,
    /// How far the points of neighbouring series stand apart.
    beside: f32,
}

impl Frame {
    fn x(&self, value: f64) -> f32 {
        let share = (value - self.x.0) / (self.x.1 - self.x.0);
        self.left + share as f32 * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f32 {
        let share = (value - self.y.0) / (self.y.1 - self.y.0);
        self.bottom - share as f32 * (self.bottom - self.top)
    }
}

impl Chart {
    /// Draws it. The picture is as wide as the legend asks for.
    pub fn draw(&self) -> Drawing {
        let frame = self.frame();
        let mut drawing = Drawing::new(frame.width, frame.height, &self.title);
        self.draw_frame(&mut drawing, &frame);
        for index in 0..self.series.len() {
            self.draw_series(&mut drawing, &frame, index);
        }
        self.draw_legend(&mut drawing, &frame);
        drawing
    }

    fn frame(&self) -> Frame {
        let values = self.series.iter().flat_map(|series| {
            let points = (0..self.x.places.len()).filter_map(|place| series.at(place));
            points.flat_map(|(mean, error)| [mean - error, mean + error])
        });
        let (low, high) = axis::span(values);
        let step = axis::step((low, high));
        let y = (
            (low / step + 1e-3).floor() * step,
            (high / step - 1e-3).ceil() * step,
        );
        let y_ticks = axis::ticks(y, step);
        let widest = |names: &mut dyn Iterator<Item = &String>, size, most: f32| {
            let widths = names.map(|name| words::width(name, size));
            widths.fold(0.0, f32::max).min(most)
        };
        let ticks = widest(&mut y_ticks.iter().map(|tick| &tick.1), TICK_SIZE, PLOT.0);
        let left = MARGIN + LABEL_SIZE + 10.0 + ticks + 10.0;
        let n_places = self.x.places.len().max(1) as f32;
        let names = &mut self.x.ticks.iter().map(|tick| &tick.1);
        let slot = widest(names, TICK_SIZE, LONGEST_TICK) + TICK_SIZE;
        let plot_width = match self.x.is_categorical {
            true => PLOT.0.max(n_places * slot),
            false => PLOT.0,
        };
        let right = left + plot_width;
        let names = &mut self.series.iter().map(|series| &series.name);
        let legend = match widest(names, LEGEND_SIZE, LONGEST_NAME) {
            0.0 => 0.0,
            widest => MARGIN + LEGEND_LINE + 8.0 + widest,
        };
        let width = right + legend + MARGIN;
        let title = words::lines(&self.title, TITLE_SIZE, width - 2.0 * MARGIN);
        let top = MARGIN + title.len() as f32 * TITLE_SIZE * 1.3 + 12.0;
        let bottom = top + PLOT.1.max(self.series.len() as f32 * LEGEND_ROW);
        let n_series = self.series.len().max(1) as f32;
        let beside = match self.x.is_categorical {
            true => (0.4 * plot_width / n_places / n_series).min(5.0),
            false => 0.0,
        };
        Frame {
            left,
            top,
            right,
            bottom,
            width: width.ceil(),
            height: (bottom + TICK_SIZE + LABEL_SIZE + 20.0 + MARGIN).ceil(),
            title,
            x: self.x.range,
            y,
            y_ticks,
            beside,
        }
    }

    fn draw_frame(&self, drawing: &mut Drawing, frame: &Frame) {
        let (left, right, top, bottom) = (frame.left, frame.right, frame.top, frame.bottom);
        let (grid, ink) = (Style::stroked(0xe4e4e4, 1.0), Style::stroked(BLACK, 1.0));
        for (line, words) in (1u8..).zip(&frame.title) {
            let y = MARGIN + f32::from(line) * TITLE_SIZE * 1.3 - 6.0;
            drawing.text(words, (MARGIN, y), TITLE_SIZE, Anchor::Start);
        }
        for (value, name) in &frame.y_ticks {
            let y = frame.y(*value);
            drawing.line((left, y), (right, y), grid);
            let at = (left - 8.0, y + TICK_SIZE * 0.35);
            drawing.text(name, at, TICK_SIZE, Anchor::End);
        }
        let mut free_from = f32::NEG_INFINITY;
        for (value, name) in &self.x.ticks {
            let x = frame.x(*value);
            let name = words::cut(name, TICK_SIZE, LONGEST_TICK);
            let half = words::width(&name, TICK_SIZE) / 2.0;
            drawing.line((x, bottom), (x, bottom + 5.0), ink);
            // Where values crowd, a name that would run into the last is left out.
            if x - half >= free_from {
                let at = (x, bottom + 8.0 + TICK_SIZE);
                drawing.text(name, at, TICK_SIZE, Anchor::Middle);
                free_from = x + half + 4.0;
            }
        }
        let corners = vec![(left, top), (left, bottom), (right, bottom)];
        drawing.add(Shape::Path(corners, false, ink));
        let x_label = words::cut(&self.x_label, LABEL_SIZE, right - left);
        let at = ((left + right) / 2.0, frame.height - MARGIN);
        drawing.text(x_label, at, LABEL_SIZE, Anchor::Middle);
        drawing.add(Shape::Text(Text {
            words: words::cut(&self.y_label, LABEL_SIZE, bottom - top),
            at: (MARGIN + LABEL_SIZE * 0.8, (top + bottom) / 2.0),
            size: LABEL_SIZE,
            anchor: Anchor::Middle,
            upwards: true,
        }));
    }

    fn draw_series(&self, drawing: &mut Drawing, frame: &Frame, index: usize) {
        let series = &self.series[index];
        let middle = (self.series.len() as f32 - 1.0) / 2.0;
        let beside = (index as f32 - middle) * frame.beside;
        let place = |(at, &value): (usize, &f64)| {
            let (mean, error) = series.at(at)?;
            Some((
                frame.x(value) + beside,
                mean,
                error,
                series.ringed == Some(at),
            ))
        };
        let places: Vec<_> = self.x.places.iter().enumerate().map(place).collect();
        let thin = Style::stroked(marker::colour(index), 1.2).faint(0.7);
        for &(x, mean, error, _) in places.iter().flatten().filter(|place| place.2 > 0.0) {
            let (low, high) = (frame.y(mean - error), frame.y(mean + error));
            drawing.line((x, low), (x, high), thin);
            for y in [low, high] {
                drawing.line((x - 3.0, y), (x + 3.0, y), thin);
            }
        }
        for run in places.split(Option::is_none).filter(|run| run.len() > 1) {
            let points = run
                .iter()
                .flatten()
                .map(|place| (place.0, frame.y(place.1)));
            drawing.add(Shape::Path(points.collect(), false, marker::line(index)));
        }
        for &(x, mean, _, is_ringed) in places.iter().flatten() {
            let centre = (x, frame.y(mean));
            drawing.add(marker::marker(index, centre));
            if is_ringed {
                drawing.add(Shape::Circle(centre, 8.5, Style::stroked(BLACK, 1.5)));
            }
        }
    }

    fn draw_legend(&self, drawing: &mut Drawing, frame: &Frame) {
        let named = self.series.iter().enumerate();
        let named = named.filter(|(_, series)| !series.name.is_empty());
        let left = frame.right + MARGIN;
        let right = left + LEGEND_LINE;
        for (row, (index, series)) in named.enumerate() {
            let y = frame.top + (row as f32 + 0.5) * LEGEND_ROW;
            drawing.line((left, y), (right, y), marker::line(index));
            drawing.add(marker::marker(index, ((left + right) / 2.0, y)));
            let name = words::cut(&series.name, LEGEND_SIZE, LONGEST_NAME);
            let at = (right + 8.0, y + LEGEND_SIZE * 0.35);
            drawing.text(name, at, LEGEND_SIZE, Anchor::Start);
        }
    }
}
