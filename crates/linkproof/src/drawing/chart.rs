//! Line charts with bars of one standard error.

use super::axis::{self, Axis};
use super::{Anchor, BLACK, Colour, Drawing, Form, Point, Style, marker, words};

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
const GRID: Colour = Colour::new(0xe4e4e4);
const RING: f32 = 8.5;

/// Where everything stands.
struct Layout {
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

impl Layout {
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
        let layout = self.layout();
        let mut drawing = Drawing::new(layout.width, layout.height, self.title.clone());
        self.draw_frame(&mut drawing, &layout);
        for (index, series) in self.series.iter().enumerate() {
            self.draw_series(&mut drawing, &layout, (index, series));
        }
        self.draw_legend(&mut drawing, &layout);
        drawing
    }

    fn layout(&self) -> Layout {
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
        Layout {
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

    fn draw_frame(&self, drawing: &mut Drawing, layout: &Layout) {
        let ink = Style::filled(BLACK);
        let (left, right, top, bottom) = (layout.left, layout.right, layout.top, layout.bottom);
        for (line, words) in (1u8..).zip(&layout.title) {
            let at = (MARGIN, MARGIN + f32::from(line) * TITLE_SIZE * 1.3 - 6.0);
            drawing.add(Form::text(words, at, TITLE_SIZE, Anchor::Start), ink);
        }
        for (value, name) in &layout.y_ticks {
            let y = layout.y(*value);
            let line = Form::line((left, y), (right, y));
            drawing.add(line, Style::stroked(GRID, 1.0));
            let at = (left - 8.0, y + TICK_SIZE * 0.35);
            drawing.add(Form::text(name, at, TICK_SIZE, Anchor::End), ink);
        }
        let mut free_from = f32::NEG_INFINITY;
        for (value, name) in &self.x.ticks {
            let x = layout.x(*value);
            let name = words::cut(name, TICK_SIZE, LONGEST_TICK);
            let half = words::width(&name, TICK_SIZE) / 2.0;
            drawing.add(
                Form::line((x, bottom), (x, bottom + 5.0)),
                Style::stroked(BLACK, 1.0),
            );
            // Where values crowd, a name that would run into the last is left out.
            if x - half >= free_from {
                let at = (x, bottom + 8.0 + TICK_SIZE);
                drawing.add(Form::text(name, at, TICK_SIZE, Anchor::Middle), ink);
                free_from = x + half + 4.0;
            }
        }
        let corners = vec![(left, top), (left, bottom), (right, bottom)];
        drawing.add(Form::Polyline(corners), Style::stroked(BLACK, 1.0));
        let x_label = words::cut(&self.x_label, LABEL_SIZE, right - left);
        let at = ((left + right) / 2.0, layout.height - MARGIN);
        drawing.add(Form::text(x_label, at, LABEL_SIZE, Anchor::Middle), ink);
        let y_label = Form::Text {
            words: words::cut(&self.y_label, LABEL_SIZE, bottom - top),
            at: (MARGIN + LABEL_SIZE * 0.8, (top + bottom) / 2.0),
            size: LABEL_SIZE,
            anchor: Anchor::Middle,
            upwards: true,
        };
        drawing.add(y_label, ink);
    }

    fn draw_series(
        &self,
        drawing: &mut Drawing,
        layout: &Layout,
        (index, series): (usize, &Series),
    ) {
        let middle = (self.series.len() as f32 - 1.0) / 2.0;
        let beside = (index as f32 - middle) * layout.beside;
        let place = |(at, &value): (usize, &f64)| {
            let (mean, error) = series.at(at)?;
            let x = layout.x(value) + beside;
            let bar = (layout.y(mean - error), layout.y(mean + error));
            let is_ringed = series.ringed == Some(at);
            Some(((x, layout.y(mean)), (error > 0.0).then_some(bar), is_ringed))
        };
        let places: Vec<_> = self.x.places.iter().enumerate().map(place).collect();
        let thin = Style::stroked(marker::colour(index), 1.2).faint(0.7);
        for &((x, _), bar, _) in places.iter().flatten() {
            let Some((low, high)) = bar else { continue };
            drawing.add(Form::line((x, low), (x, high)), thin);
            for y in [low, high] {
                drawing.add(Form::line((x - 3.0, y), (x + 3.0, y)), thin);
            }
        }
        for run in places.split(Option::is_none).filter(|run| run.len() > 1) {
            let points = run.iter().flatten().map(|place| place.0).collect();
            drawing.add(Form::Polyline(points), marker::line(index));
        }
        for &(centre, _, is_ringed) in places.iter().flatten() {
            add_marker(drawing, index, centre);
            if is_ringed {
                let ring = Form::Circle {
                    centre,
                    radius: RING,
                };
                drawing.add(ring, Style::stroked(BLACK, 1.5));
            }
        }
    }

    fn draw_legend(&self, drawing: &mut Drawing, layout: &Layout) {
        let named = self.series.iter().enumerate();
        let named = named.filter(|(_, series)| !series.name.is_empty());
        let left = layout.right + MARGIN;
        let mut y = layout.top + LEGEND_ROW / 2.0;
        for (index, series) in named {
            let line = Form::line((left, y), (left + LEGEND_LINE, y));
            drawing.add(line, marker::line(index));
            add_marker(drawing, index, (left + LEGEND_LINE / 2.0, y));
            let name = words::cut(&series.name, LEGEND_SIZE, LONGEST_NAME);
            let at = (left + LEGEND_LINE + 8.0, y + LEGEND_SIZE * 0.35);
            let name = Form::text(name, at, LEGEND_SIZE, Anchor::Start);
            drawing.add(name, Style::filled(BLACK));
            y += LEGEND_ROW;
        }
    }
}

fn add_marker(drawing: &mut Drawing, series: usize, centre: Point) {
    let (form, style) = marker::marker(series, centre);
    drawing.add(form, style);
}
