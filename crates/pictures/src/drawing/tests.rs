use super::*;

fn chart(n_series: usize, n_columns: usize) -> Chart {
    let series = |index: usize| {
        let value = |column: usize| {
            let mean = 0.95 - 0.02 * (index * column) as f64 - 0.01 * index as f64;
            Some((mean, 0.004 * (1 + column) as f64))
        };
        Series::new(
            format!("method {index}"),
            (0..n_columns).map(value).collect(),
        )
    };
    Chart {
        title: "Purity of clusters under false links (mean ± standard error)".into(),
        y_label: "purity".into(),
        columns: (0..n_columns)
            .map(|column| format!("+{}%", 30 * column))
            .collect(),
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

/// The number in an attribute of a tag.
fn number(tag: &str, name: &str) -> f32 {
    let after = tag.split(&format!(" {name}=\"")).nth(1).unwrap();
    after.split('"').next().unwrap().parse().unwrap()
}

/// Every text lies within the picture, however wide its letters.
fn assert_inside(drawing: &Drawing) {
    let texts = drawing.shapes.lines().filter(|it| it.starts_with("<text"));
    for text in texts {
        let (tag, rest) = text.split_once('>').unwrap();
        let words = rest.trim_end_matches("</text>");
        let (x, y, size) = (number(tag, "x"), number(tag, "y"), number(tag, "font-size"));
        let length = width(words, size);
        let before = if tag.contains("\"middle\"") {
            length / 2.0
        } else if tag.contains("\"end\"") {
            length
        } else {
            0.0
        };
        let ((along, end), (above, below)) = if tag.contains("rotate") {
            ((y - length + before, drawing.height), (x, drawing.width))
        } else {
            ((x - before, drawing.width), (y, drawing.height))
        };
        assert!(along >= -0.01 && along + length <= end + 0.01, "{words}");
        let above = above + 0.01;
        assert!(
            above >= size * 0.8 && above + size * 0.2 <= below,
            "{words}"
        );
    }
}

fn count(drawing: &Drawing, what: &str) -> usize {
    drawing.shapes.matches(what).count()
}

const LINE: &str = "stroke-width=\"1.8\"";

#[test]
fn svg_is_well_formed_and_escapes_text() {
    let mut chart = chart(3, 4);
    chart.title = "<b>&\u{1}\"quoted\"".into();
    chart.series[0].name = "a < b > c & d".into();
    let drawing = chart.draw();
    let svg = drawing.to_svg();
    assert_well_formed(&svg);
    assert!(svg.contains("&lt;b&gt;&amp; \"quoted\"") && !svg.contains("<b>"));
    assert!(svg.contains("a &lt; b &gt; c &amp; d"));
    assert_eq!(count(&drawing, LINE), 2 * 3);
    assert_eq!(count(&drawing, "<circle"), 3 * 4 + 3);
    assert_eq!(svg, chart.draw().to_svg());
}

#[test]
fn series_are_told_apart_and_stand_where_their_values_are() {
    let mut chart = chart(14, 1);
    for (index, series) in chart.series.iter_mut().enumerate() {
        series.points = vec![Some((index as f64, 0.0))];
    }
    let drawing = chart.draw();
    let circles = drawing
        .shapes
        .lines()
        .filter(|it| it.starts_with("<circle"));
    let (points, legend): (Vec<&str>, Vec<&str>) = {
        let circles: Vec<&str> = circles.collect();
        (
            circles.iter().copied().step_by(2).collect(),
            circles.iter().copied().skip(1).step_by(2).collect(),
        )
    };
    let heights: Vec<f32> = points.iter().map(|tag| number(tag, "cy")).collect();
    let apart = heights[0] - heights[1];
    assert!(
        heights
            .windows(2)
            .all(|y| (y[0] - y[1] - apart).abs() < 0.02 && apart > 0.0)
    );
    assert!(
        legend
            .windows(2)
            .all(|y| number(y[0], "cy") < number(y[1], "cy"))
    );
    // The second half has other dashes.
    assert_eq!(count(&drawing, "stroke-dasharray"), 7);
    let colour = |tag: &str| tag.split("fill=").nth(1).unwrap()[..9].to_owned();
    let colours: std::collections::HashSet<String> = points.iter().map(|it| colour(it)).collect();
    assert_eq!(colours.len(), 7);
}

#[test]
fn missing_points_leave_gaps() {
    let mut chart = chart(2, 5);
    chart.series[0].points[2] = None;
    chart.series[1].points[1] = Some((f64::NAN, 0.1));
    chart.series[1].points[2] = Some((0.5, f64::INFINITY));
    chart.series[1].points.truncate(4);
    let drawing = chart.draw();
    // Two of the first, one of the second, and two in the legend.
    assert_eq!(count(&drawing, LINE), 2 + 1 + 2);
    assert_well_formed(&drawing.to_svg());
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
        assert_eq!(count(&drawing, "<circle"), 2 * 2, "and in the legend");
    }
    for empty in [chart(0, 0), chart(3, 0), chart(0, 3)] {
        assert_well_formed(&empty.draw().to_svg());
    }
}

#[test]
fn long_words_stay_in_the_picture() {
    let mut chart = chart(3, 12);
    let long = "a name that goes on and on ".repeat(8);
    chart.series[1].name = long.clone();
    chart.title = format!("{long}{}", "m".repeat(400));
    chart.y_label = long.clone();
    assert_inside(&chart.draw());
    chart.columns = vec![long; 3];
    assert_inside(&chart.draw());
}

#[test]
fn ticks_are_round_numbers() {
    let names = |low, high| -> Vec<String> {
        let ticks = chart::ticks((low, high)).1;
        ticks.into_iter().map(|tick| tick.1).collect()
    };
    assert_eq!(names(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(names(-3.0, 30.0)[..3], ["-5", "0", "5"]);
    assert_eq!(names(0.81, 0.96)[..2], ["0.80", "0.82"]);
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
    assert_well_formed(&drawing.to_svg());
    assert_eq!(count(&drawing, "<circle"), 6);
    assert_eq!(count(&drawing, "<polyline"), 4);
    assert_eq!((drawing.width, drawing.height), (600.0, 326.0));
    assert!(
        drawing
            .shapes
            .contains(&format!("r=\"3\" fill=\"{}\"", COLOURS[0]))
    );
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
