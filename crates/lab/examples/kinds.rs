//! What the plain model makes of planted graphs of other kinds, beside the model for them.
//!
//! `cargo run --release -p linkproof-lab --example kinds -- [SEEDS]` prints a table in
//! Markdown, means over seeds: the share of the planted classes that k-means finds (NMI),
//! how well links among unseen pairs are told (AUC), and what else the kind has to tell:
//! of hubs the correlation of offsets (plain: of lengths) with the planted popularity, of
//! directed links the share whose direction is told, of two kinds of nodes the share of what
//! is expected that is between nodes of one kind, where no link can be. Last the seconds of
//! a fit.

use std::error::Error;

use linkproof_lab::kinds::Kind;
use linkproof_method::params::{Normalize, Similarity};
use linkproof_method::{Dataset, Params, fit};

type Outcome<T> = Result<T, Box<dyn Error>>;
type Make = fn(u64) -> linkproof_method::Result<Kind>;

/// NMI, AUC, what else there is, and seconds.
fn figures(kind: &Kind, params: &Params, data: &Dataset) -> Outcome<[f64; 4]> {
    let model = fit(&params.clone().check()?, data)?;
    let seconds = model.report().seconds;
    let told = match kind.name {
        "directed" => kind.direction_told(&model),
        "hubs" => kind.popularity_told(&model),
        "bipartite" => kind.impossible_share(&model),
        _ => f64::NAN,
    };
    let auc = kind.held_out_auc(params, data)?;
    Ok([kind.clusters(&model)?, auc, told, seconds])
}

fn main() -> Outcome<()> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(3), |text| text.parse())?;
    let plain = Params {
        dim: 8,
        ridge: Some(2.0),
        normalize: Normalize::None,
        ..Params::default()
    };
    let offsets = Params {
        offsets: true,
        ..plain.clone()
    };
    let signed = Params {
        similarity: Similarity::Signed,
        ..plain.clone()
    };
    let rows: [(&str, Make, &Params); 5] = [
        ("hubs", |seed| Kind::hubs(1.0, false, seed), &offsets),
        (
            "hubs, data vectors",
            |seed| Kind::hubs(1.0, true, seed),
            &offsets,
        ),
        ("unlike nodes linked", Kind::unlike, &signed),
        ("directed", Kind::directed, &plain),
        ("bipartite", Kind::bipartite, &plain),
    ];
    println!(
        "| graph | NMI: plain | ours | AUC: plain | ours | told: plain | ours | seconds: plain | ours |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, make, ours) in rows {
        let mut sums = [[0.0; 4]; 2];
        for seed in 0..seeds {
            let kind = make(seed)?;
            let found = [
                figures(&kind, &plain, &kind.plain)?,
                figures(&kind, ours, &kind.data)?,
            ];
            for (sums, found) in sums.iter_mut().zip(found) {
                let both = sums.iter_mut().zip(found);
                both.for_each(|(sum, x)| *sum += x / seeds as f64);
            }
        }
        let cells = (0..4).flat_map(|place| [sums[0][place], sums[1][place]]);
        let shown = |x: f64| {
            if x.is_nan() {
                String::new()
            } else {
                format!("{x:.2}")
            }
        };
        let cells: Vec<String> = cells.map(shown).collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}
