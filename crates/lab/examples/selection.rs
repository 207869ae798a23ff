//! How well settings are chosen without labels, on graphs whose clusters are
//! known.
//!
//! `cargo run --release -p linkproof --example selection -- [SEEDS]`
//!
//! For each kind of noise: the purity of the clusters found with the chosen
//! settings, with the candidate that is best on average, and with an average
//! candidate, over graphs of 200 nodes (mean and standard error).

use linkproof_lab::mean::Mean;
use linkproof_lab::synthetic::{CLUSTERS, Noise, synthetic};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::measure::{KMeans, purity};
use linkproof_method::model::folds::HoldOut;
use linkproof_method::params::{Normalize, Params, ScoreKind};
use linkproof_method::select::{Grid, Search, candidates, select};
use linkproof_method::{CheckedParams, Dataset, Error, fit};
use rayon::prelude::*;

const SETTINGS: [(&str, Noise); 5] = [
    ("xi .01", noise(0.01, 0.0, 0.0)),
    ("xi .02", noise(0.02, 0.0, 0.0)),
    ("xi .03", noise(0.03, 0.0, 0.0)),
    ("0.5% at 20", noise(0.01, 0.005, 20.0)),
    ("0.5% at 100", noise(0.01, 0.005, 100.0)),
];

const fn noise(xi: f64, corrupted: f64, weight: f64) -> Noise {
    Noise {
        xi,
        corrupted,
        weight,
    }
}

fn clusters_purity(params: &CheckedParams, data: &Dataset, labels: &[u32]) -> f64 {
    let found = || -> Result<f64, Error> {
        let model = fit(params, data)?;
        let clusters = KMeans::new(CLUSTERS, 0).fit(model.embeddings(), model.n_nodes(), 2)?;
        purity(labels, &clusters.labels)
    };
    // A candidate that cannot be fitted finds one cluster.
    found().unwrap_or(0.25)
}

fn main() -> Result<(), Error> {
    let seeds: u64 = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(8);
    let base = Params {
        dim: 2,
        normalize: Normalize::None,
        ..Params::default()
    };
    let wide = Grid {
        scores: ScoreKind::ALL.to_vec(),
        betas: vec![0.1, 0.5, 1.0],
        ..Grid::around(&base)
    };
    let all = candidates(&wide, &base)?;
    println!(
        "| noise | chosen of {} candidates | by folds of nodes | best candidate | average candidate |",
        all.len()
    );
    println!("|---|---|---|---|---|");
    for (name, noise) in SETTINGS {
        let (mut chosen, mut plain) = (Vec::new(), Vec::new());
        let mut table: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
        for seed in 0..seeds {
            let made = synthetic(seed, noise)?;
            let judge = |params: &CheckedParams| clusters_purity(params, &made.data, &made.labels);
            let purities: Vec<f64> = all.par_iter().map(|(_, params)| judge(params)).collect();
            for (column, purity) in table.iter_mut().zip(purities) {
                column.push(purity);
            }
            for (hold_out, found) in [(HoldOut::Pairs, &mut chosen), (HoldOut::Nodes, &mut plain)] {
                let search = Search {
                    grid: wide.clone(),
                    hold_out,
                    ..Search::around(&base)
                };
                let choice = select(&base, &made.data, &search, Runtime::default())?.chosen;
                eprintln!(
                    "{name} {seed}: {} {} ridge {}",
                    choice.score, choice.beta, choice.ridge
                );
                found.push(judge(&choice.params(&base).check()?));
            }
        }
        let means: Vec<Mean> = table.iter().map(|column| Mean::of(column)).collect();
        let best = means.iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
        let average = Mean::of(&means.iter().map(|mean| mean.mean).collect::<Vec<_>>());
        let show = |mean: &Mean| format!("{:.3} ± {:.3}", mean.mean, mean.standard_error);
        println!(
            "| {name} | {} | {} | {} | {:.3} |",
            show(&Mean::of(&chosen)),
            show(&Mean::of(&plain)),
            best.map_or_else(String::new, show),
            average.mean
        );
    }
    Ok(())
}
