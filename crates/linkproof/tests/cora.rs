//! Fits of the Cora citation graph. They need its folder (`edges.csv`,
//! `features.mtx`, `labels.csv`) in the environment variable `LINKPROOF_CORA`
//! and say that they are skipped when it is unset; their twins on generated
//! data are in `recovery.rs`. Labels judge here, they choose nothing.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use linkproof::experiment::mean::Mean;
use linkproof::io::{read_features, read_labels, read_links};
use linkproof::measure::{KMeans, nmi};
use linkproof::params::{EncoderKind, OutputActivation, Params, Sampler, SolverKind};
use linkproof::{Dataset, Fitted, fit};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

fn cora() -> Option<(Dataset, Vec<u32>)> {
    let Some(folder) = std::env::var_os("LINKPROOF_CORA").map(PathBuf::from) else {
        eprintln!("skipped: LINKPROOF_CORA is unset");
        return None;
    };
    let links = read_links(folder.join("edges.csv"), &Default::default()).unwrap();
    let features = read_features(folder.join("features.mtx")).unwrap();
    let labels = read_labels(folder.join("labels.csv")).unwrap();
    let data = Dataset::new(links, features).unwrap();
    let labels = labels.of(data.ids()).into_iter().map(Option::unwrap);
    let labels = labels.collect();
    Some((data, labels))
}

/// NMI (x 100) of k-means with 7 clusters on the 542 test rows of each split.
fn nmi_on_test_rows(model: &Fitted, labels: &[u32], n_splits: u64) -> Mean {
    let values: Vec<f64> = (0..n_splits)
        .map(|split| {
            let mut rows: Vec<usize> = (0..labels.len()).collect();
            rows.shuffle(&mut ChaCha8Rng::seed_from_u64(split));
            rows.truncate(542);
            let y: Vec<f32> = rows
                .iter()
                .flat_map(|&row| model.row(row).to_vec())
                .collect();
            let truth: Vec<u32> = rows.iter().map(|&row| labels[row]).collect();
            let found = KMeans::new(7, split).fit(&y, 542, model.dim()).unwrap();
            100.0 * nmi(&truth, &found.labels).unwrap()
        })
        .collect();
    Mean::of(&values)
}

#[test]
fn a_plain_fit_is_good() {
    let Some((data, labels)) = cora() else {
        return;
    };
    let model = fit(&Params::default().check().unwrap(), &data).unwrap();
    let mean = nmi_on_test_rows(&model, &labels, 10);
    let report = model.report();
    eprintln!(
        "Cora (A), all defaults, 10 splits: NMI {:.1} +- {:.1}; {} steps in {:.1} s, held-out score {:?}",
        mean.mean, mean.standard_error, report.steps, report.seconds, report.held_out
    );
    assert!(mean.mean >= 45.0, "{mean:?}");
}

#[test]
fn the_papers_network_does_not_diverge_with_either_sampler() {
    let Some((data, labels)) = cora() else {
        return;
    };
    for sampler in [Sampler::Block, Sampler::Pairs] {
        let params = Params {
            dim: 100,
            encoder: Some(EncoderKind::Mlp),
            hidden: vec![3000],
            output_activation: OutputActivation::Tanh,
            batch_norm: true,
            dropout: 0.5,
            solver: Some(SolverKind::Sgd),
            sampler,
            steps: Some(60),
            ..Params::default()
        };
        let model = fit(&params.check().unwrap(), &data).unwrap();
        let (start, best) = model.report().held_out.unwrap();
        let mean = nmi_on_test_rows(&model, &labels, 5);
        eprintln!(
            "Cora (A), the paper's network, {sampler} sampler, 60 steps: held-out {start:.5} -> {best:.5}, NMI {:.1}",
            mean.mean
        );
        assert!(best < start, "{sampler}: {start} -> {best}");
        let last = model
            .report()
            .history
            .iter()
            .rev()
            .find_map(|record| record.held_out);
        assert!(last.unwrap() < start, "{sampler}: ended at {last:?}");
    }
}
