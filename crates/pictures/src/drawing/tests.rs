use tiny_skia::Pixmap;

use super::marker::colour;
use super::*;

fn chart(n_series: usize, n_places: usize) -> Chart {
    let series = |index: usize| {
        let value = |place: usize| {
            let mean = 0.95 - 0.02 * (index * place) as f64 - 0.01 * index as f64;
            Some((mean, 0.004 * (1 + place) as f64))
        };
        Series::new(
            format!("method {index}"),
            (0..n_places).map(value).collect(),
        )
    };
    Chart {
        title: "Purity of clusters under false links (mean ± standard error)".into(),
        x_label: "false links".into(),
        y_label: "purity".into(),
        x: Axis::categories((0..n_places).map(|place| format!("+{}%", 30 * place))),
        series: (0..n_series).map(series).collect(),
    }
}

/// The tags that open and close, which must pair; and no stray `<`, `&` or NaN.
fn assert_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        assert!(!text.contains('>'), "{piece}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{piece}");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for after in svg.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;"];
        assert!(known.iter().any(|name| after.starts_with(name)), "{after}");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

fn picture(drawing: &Drawing, scale: f32) -> Pixmap {
    Pixmap::decode_png(&drawing.to_png(scale).unwrap()).unwrap()
}

fn colour_at(picture: &Pixmap, (x, y): Point, scale: f32) -> Colour {
    let pixel = picture.pixel((x * scale) as u32, (y * scale) as u32);
    let pixel = pixel.unwrap().demultiply();
    Colour::from_be_bytes([0, pixel.red(), pixel.green(), pixel.blue()])
}

/// The middle of a circle or polygon.
fn middle(shape: &Shape) -> Option<Point> {
    match shape {
        Shape::Circle(centre, ..) => Some(*centre),
        Shape::Path(corners, true, _) => {
            let n = corners.len() as f32;
            let sum = |get: fn(&Point) -> f32| corners.iter().map(get).sum::<f32>() / n;
            Some((sum(|corner| corner.0), sum(|corner| corner.1)))
        }
        _ => None,
    }
}

/// Every text lies within the picture, however wide its letters.
fn assert_inside(drawing: &Drawing) {
    for shape in &drawing.shapes {
        let Shape::Text(Text {
            words,
            at,
            size,
            anchor,
            upwards,
        }) = shape
        else {
            continue;
        };
        let length = words::width(words, *size);
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let ((along, end), (above, below)) = match upwards {
            true => (
                (at.1 - length + before, drawing.height),
                (at.0, drawing.width),
            ),
            false => ((at.0 - before, drawing.width), (at.1, drawing.height)),
        };
        assert!(along >= 0.0 && along + length <= end, "{words}");
        assert!(
            above >= size * 0.8 && above + size * 0.2 <= below,
            "{words}"
        );
    }
}

#[test]
fn svg_is_well_formed_and_escapes_text() {
    let mut chart = chart(3, 4);
    chart.title = "<b>&\u{1}\"quoted\"".into();
    chart.series[0].name = "a < b > c & d".into();
    let svg = chart.draw().to_svg();
    assert_well_formed(&svg);
    assert!(svg.contains("&lt;b&gt;&amp; \"quoted\"") && !svg.contains("<b>"));
    assert!(svg.contains("a &lt; b &gt; c &amp; d"));
    assert_eq!(svg.matches("stroke-width=\"1.8\"").count(), 2 * 3);
}

#[test]
fn png_shows_every_series_where_its_points_are() {
    let mut chart = chart(14, 1);
    // One above the other.
    for (index, series) in chart.series.iter_mut().enumerate() {
        series.points = vec![Some((index as f64, 0.0))];
    }
    let drawing = chart.draw();
    let scale = 2.0;
    let picture = picture(&drawing, scale);
    let expected = (drawing.width * scale, drawing.height * scale);
    assert_eq!((picture.width() as f32, picture.height() as f32), expected);
    let middles: Vec<Point> = drawing.shapes.iter().filter_map(middle).collect();
    assert_eq!(middles.len(), 2 * 14);
    for (series, &at) in middles[..14].iter().enumerate() {
        // The markers of the second half are hollow.
        let expected = if series < 7 { colour(series) } else { WHITE };
        assert_eq!(colour_at(&picture, at, scale), expected, "series {series}");
    }
}

#[test]
fn text_is_drawn_level_and_upwards() {
    let mut drawing = Drawing::new(100.0, 100.0, "");
    let dark = |drawing: &Drawing, x: std::ops::Range<u32>, y: std::ops::Range<u32>| {
        let picture = picture(drawing, 1.0);
        let places = y.flat_map(|y| x.clone().map(move |x| (x, y)));
        let dark = |(x, y)| picture.pixel(x, y).unwrap().red() < 100;
        places.filter(|&place| dark(place)).count()
    };
    assert_eq!(dark(&drawing, 0..100, 0..100), 0);
    drawing.text("0.5 ± 1", (50.0, 50.0), 12.0, Anchor::Start);
    let all = dark(&drawing, 0..100, 0..100);
    assert!(all > 50);
    assert_eq!(dark(&drawing, 50..100, 30..56), all);
    if let Shape::Text(text) = &mut drawing.shapes[0] {
        text.upwards = true;
    }
    let upright = dark(&drawing, 0..100, 0..100);
    assert!(upright.abs_diff(all) < all / 5, "{upright} {all}");
    assert_eq!(dark(&drawing, 30..56, 0..50), upright);
}

#[test]
fn bytes_are_the_same_twice() {
    let drawing = chart(8, 5).draw();
    assert_eq!(drawing.to_png(2.0).unwrap(), drawing.to_png(2.0).unwrap());
    assert_eq!(drawing.to_svg(), chart(8, 5).draw().to_svg());
}

#[test]
fn missing_points_leave_gaps() {
    let mut chart = chart(2, 5);
    chart.series[0].points[2] = None;
    chart.series[1].points[1] = Some((f64::NAN, 0.1));
    chart.series[1].points[2] = Some((0.5, f64::INFINITY));
    chart.series[1].points.truncate(4);
    let drawing = chart.draw();
    let thick =
        |shape: &&Shape| matches!(shape, Shape::Path(_, false, style) if style.width == 1.8);
    // Two of the first, one of the second, and two in the legend.
    assert_eq!(drawing.shapes.iter().filter(thick).count(), 2 + 1 + 2);
    assert_well_formed(&drawing.to_svg());
    assert!(drawing.to_png(1.0).is_ok());
}

#[test]
fn charts_with_little_in_them_are_drawn() {
    let point = |mean: f64| vec![Some((mean, 0.0))];
    for mean in [0.0, 1.0, -3e-9, 1e12, 1e299] {
        let mut single = chart(0, 1);
        single.series = vec![Series::new("a", point(mean)), Series::new("b", point(mean))];
        let drawing = single.draw();
        assert_well_formed(&drawing.to_svg());
        assert_inside(&drawing);
        let markers = drawing.shapes.iter().filter_map(middle);
        assert_eq!(markers.count(), 2 * 2, "on the line and in the legend");
    }
    for empty in [chart(0, 0), chart(3, 0), chart(0, 3)] {
        assert_well_formed(&empty.draw().to_svg());
        assert!(empty.draw().to_png(1.0).is_ok());
    }
}

#[test]
fn long_words_stay_in_the_picture() {
    let mut chart = chart(3, 12);
    let long = "a name that goes on and on ".repeat(8);
    chart.series[1].name = long.clone();
    chart.title = format!("{long}{}", "m".repeat(400));
    chart.x_label = long.clone();
    chart.y_label = long.clone();
    assert_inside(&chart.draw());
    chart.x = Axis::categories(vec![long; 3]);
    assert_inside(&chart.draw());
    let near = [(0.0, "zero"), (1e-3, "almost zero"), (1.0, "one")];
    chart.x = Axis::labelled(near.map(|(at, name)| (at, name.into())).to_vec());
    let svg = chart.draw().to_svg();
    assert!(svg.contains(">zero<") && svg.contains(">one<") && !svg.contains("almost zero"));
}

#[test]
fn ticks_are_round_numbers() {
    let names = |low, high| -> Vec<String> {
        let ticks = axis::ticks((low, high), axis::step((low, high)));
        ticks.into_iter().map(|tick| tick.1).collect()
    };
    assert_eq!(names(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(
        names(0.81, 0.96),
        [
            "0.82", "0.84", "0.86", "0.88", "0.90", "0.92", "0.94", "0.96"
        ]
    );
    assert_eq!(names(-3.0, 30.0), ["0", "5", "10", "15", "20", "25", "30"]);
    assert_eq!(names(0.0, 3e-7)[1], "5.0e-8");
    assert_eq!(names(0.0, 5e6)[1], "1e6");
}

#[test]
fn panels_show_links_and_clusters() {
    let panel = Panel {
        title: "<b>&".into(),
        points: &[0.0, 0.0, 1.0, 2.0, 1.0, 2.0],
        clusters: &[0, 1, 9],
        links: vec![(0, 1, true), (1, 2, false), (0, 7, true)],
        names: Vec::new(),
    };
    let drawing = panels("t", 2, &[panel.clone(), panel]);
    let svg = drawing.to_svg();
    assert_well_formed(&svg);
    assert_eq!(svg.matches("<circle").count(), 6);
    assert_eq!(svg.matches("<polyline").count(), 4);
    assert_eq!((drawing.width, drawing.height), (600.0, 326.0));
    let at = drawing.shapes.iter().find_map(middle);
    let found = colour_at(&picture(&drawing, 2.0), at.unwrap(), 2.0);
    assert_eq!(found, COLOURS[0]);
    // Points that an embedding lost are left out.
    let lost = Panel {
        title: String::new(),
        points: &[0.0, 0.0, f32::NAN, 2.0],
        clusters: &[0, 1],
        links: vec![(0, 1, true)],
        names: vec![(0, "<kept>"), (0, "below it"), (1, "lost"), (7, "unknown")],
    };
    let svg = panels("t", 1, &[lost]).to_svg();
    assert_well_formed(&svg);
    assert_eq!(svg.matches("<circle").count(), 1);
    // A name that would run into another is left out too.
    assert!(svg.contains("&lt;kept&gt;"));
    assert!(!svg.contains("below it") && !svg.contains("lost") && !svg.contains("unknown"));
}

#[test]
fn sizes_that_png_cannot_hold_are_refused() {
    let drawing = Drawing::new(100.0, 50.0, "");
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e6] {
        let error = drawing.to_png(scale).unwrap_err();
        assert!(error.to_string().starts_with("scale must be "), "{error}");
    }
}
