//! The demonstration: the paper's synthetic graph with false links and with
//! corrupted weights, fitted by all three scores.

use super::mean::Mean;
use super::synthetic::{CLUSTERS, Noise, Synthetic, synthetic};
use linkproof_method::audit::ExpectedLink;
use linkproof_method::error::{Error, Result};
use linkproof_method::measure::{KMeans, purity};
use linkproof_method::model::{Fitted, fit};
use linkproof_method::params::{Normalize, OptimizerKind, Params, Precision, ScoreKind};

/// The data sets of each kind.
pub const DATA_SETS: u64 = 20;

/// The two kinds of noise.
pub const SETTINGS: [(&str, Noise); 2] = [
    (
        "false links",
        Noise {
            xi: 0.03,
            corrupted: 0.0,
            weight: 0.0,
        },
    ),
    (
        "corrupted weights",
        Noise {
            xi: 0.01,
            corrupted: 0.005,
            weight: 100.0,
        },
    ),
];

/// The scores, all with the same ridge.
pub const SCORES: [ScoreKind; 3] = [
    ScoreKind::Likelihood,
    ScoreKind::Moment,
    ScoreKind::Probability,
];

/// The parameters of every fit of the demonstration.
pub fn params(score: ScoreKind, seed: u64) -> Params {
    Params {
        dim: 2,
        score,
        beta: 0.5,
        ridge: Some(10.0),
        normalize: Normalize::None,
        validation: Some(0.0),
        optimizer: Some(OptimizerKind::Lbfgs),
        precision: Precision::F64,
        seed,
        ..Params::default()
    }
}

/// A fit and how well its clusters match the true ones.
#[derive(Debug, Clone)]
pub struct DemoFit {
    /// The score.
    pub score: ScoreKind,
    /// The model.
    pub model: Fitted,
    /// The purity of the clusters that k-means finds.
    pub purity: f64,
}

/// Fits one data set with each score.
fn fit_scores(data: &Synthetic, seed: u64) -> Result<Vec<DemoFit>> {
    let one = |score: ScoreKind| {
        let model = fit(&params(score, seed).check()?, &data.data)?;
        let kmeans = KMeans::new(CLUSTERS, seed);
        let found = kmeans.fit(model.embeddings(), model.n_nodes(), model.dim())?;
        Ok(DemoFit {
            score,
            purity: purity(&data.labels, &found.labels)?,
            model,
        })
    };
    SCORES.into_iter().map(one).collect()
}

/// One kind of noise: purity by score over all data sets, and the first data
/// set with its fits.
#[derive(Debug, Clone)]
pub struct DemoSetting {
    /// Its name.
    pub name: &'static str,
    /// The noise.
    pub noise: Noise,
    /// The purity of each score.
    pub purity: Vec<Mean>,
    /// The first data set.
    pub example: Synthetic,
    /// Its fits.
    pub fits: Vec<DemoFit>,
}

/// Runs one kind of noise over [`DATA_SETS`] data sets from `seed` on;
/// `after_each` is called after each data set.
pub fn run_setting(
    (name, noise): (&'static str, Noise),
    seed: u64,
    mut after_each: impl FnMut(),
) -> Result<DemoSetting> {
    let mut values = vec![Vec::new(); SCORES.len()];
    let mut first = None;
    for shift in 0..DATA_SETS {
        let seed = seed.wrapping_add(shift);
        let made = synthetic(seed, noise)?;
        let fits = fit_scores(&made, seed)?;
        for (values, fit) in values.iter_mut().zip(&fits) {
            values.push(fit.purity);
        }
        first.get_or_insert((made, fits));
        after_each();
    }
    let (example, fits) = first.ok_or_else(|| Error::data("data sets", "none", "some"))?;
    Ok(DemoSetting {
        name,
        noise,
        purity: values.iter().map(|values| Mean::of(values)).collect(),
        example,
        fits,
    })
}

/// The links of the example whose weights the fit by the probability score trusts least, and
/// whether each joins two clusters (and so is false).
pub fn suspects(setting: &DemoSetting, most: usize) -> Vec<(ExpectedLink, bool)> {
    let Some(robust) = setting.fits.last() else {
        return Vec::new();
    };
    let (model, labels) = (&robust.model, &setting.example.labels);
    let links = setting.example.data.graph().links().map(|link| {
        let expected = model.pair(link.src as usize, link.dst as usize);
        ExpectedLink::new(model.params(), link, expected)
    });
    let mut links: Vec<ExpectedLink> = links.collect();
    links.sort_by(|a, b| a.trust.total_cmp(&b.trust).then(a.mu.total_cmp(&b.mu)));
    let is_false = |it: &ExpectedLink| labels[it.src as usize] != labels[it.dst as usize];
    let first = links.into_iter().take(most);
    first.map(|link| (link, is_false(&link))).collect()
}
