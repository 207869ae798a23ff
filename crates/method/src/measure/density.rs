//! Densities of ranks.

/// The density of sorted numbers between 0 and 1 at each of them, if it falls:
/// the slope of the least concave majorant of their distribution (Grenander).
pub fn falling_density(sorted: &[f64]) -> Vec<f64> {
    let m = sorted.len() as f64;
    // Corners of the majorant: places and heights, from (0, 0) to (1, 1).
    let mut corners: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    let steps = sorted
        .iter()
        .zip(1..)
        .map(|(&u, count)| (u, f64::from(count) / m));
    for point in steps.chain(std::iter::once((1.0, 1.0))) {
        while let [.., before, last] = corners.as_slice()
            && (last.1 - before.1) * (point.0 - last.0) <= (point.1 - last.1) * (last.0 - before.0)
        {
            corners.pop();
        }
        corners.push(point);
    }
    let mut piece = 1;
    let slope = |&u: &f64| {
        while piece + 1 < corners.len() && corners[piece].0 < u {
            piece += 1;
        }
        let (from, to) = (corners[piece - 1], corners[piece]);
        (to.1 - from.1) / (to.0 - from.0).max(f64::MIN_POSITIVE)
    };
    sorted.iter().map(slope).collect()
}
