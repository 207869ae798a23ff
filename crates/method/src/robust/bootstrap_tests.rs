//! Standard errors of robust fits.

use super::*;
use crate::engine::runtime::Runtime;
use crate::support::planted::Planted;

/// Settings of a small fit.
fn small() -> crate::CheckedParams {
    let params = crate::Params {
        dim: 8,
        ..Default::default()
    };
    params.check().unwrap()
}

/// The middle of a list.
fn middle(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

#[test]
fn the_spread_of_a_robust_fit_is_that_of_fits_to_other_links_of_the_same_kind() {
    let plan = Planted {
        nodes: 240,
        ..Planted::default()
    };
    let recipe = Recipe {
        ridges: vec![1.0],
        ..Recipe::default()
    };
    let fit = |seed: u64| {
        let data = plan.data(&plan.links(seed), plan.vectors(1));
        let found = fit_model(&small(), &data, &recipe, Runtime::default()).unwrap();
        (found.model, data)
    };
    let pairs: Vec<(usize, usize)> = (0..60).map(|k| (k, 60 + (7 * k) % 180)).collect();
    let others: Vec<_> = (20..34).map(|seed| fit(seed).0).collect();
    let (model, data) = fit(20);
    let found = bootstrap(&model, &data, &recipe, 20, Runtime::default()).unwrap();
    let model = model.with_replicates(found).unwrap();
    let ratios = pairs.iter().map(|&(i, j)| {
        let logs: Vec<f64> = others.iter().map(|it| it.mu(i, j).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let squares: f64 = logs.iter().map(|it| (it - mean).powi(2)).sum();
        let deviation = (squares / (logs.len() - 1) as f64).sqrt();
        model.spread(i, j).unwrap().error / deviation
    });
    let ratio = middle(ratios.collect());
    println!("spread against that of other links: {ratio:.2}");
    assert!((0.5..=2.0).contains(&ratio), "{ratio}");
    // Clusters are those of the averages where these are recommended.
    let clusters: Vec<u32> = (0..240).map(|node| plan.class(node)).collect();
    let shares = together(&model, &clusters, 0).unwrap().unwrap();
    assert!(shares.iter().sum::<f64>() / 240.0 > 0.6);
}
