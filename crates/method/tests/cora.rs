//! Fits of the Cora citation graph. They need its folder (`edges.csv`,
//! `features.mtx`, `labels.csv`) in the environment variable `LINKPROOF_CORA`
//! and say that they are skipped when it is unset; their twins on generated
//! data are in `recovery.rs`. Labels judge here, they choose nothing.

#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use linkproof_lab::labelled::{Labelled, rows_of};
use linkproof_lab::mean::Mean;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::fit;
use linkproof_method::params::{
    EncoderKind, Mlp, OutputActivation, Params, Sampler, Sampling, SolverKind,
};
use linkproof_method::robust::{Recipe, embed_new, fit_model};

fn cora() -> Option<Labelled> {
    let Some(folder) = std::env::var_os("LINKPROOF_CORA").map(PathBuf::from) else {
        eprintln!("skipped: LINKPROOF_CORA is unset");
        return None;
    };
    Some(Labelled::read(&folder).unwrap())
}

/// NMI (x 100) of k-means with 7 clusters on the 542 test rows of each split.
fn nmi_on_test_rows(cora: &Labelled, y: &[f32], dim: usize, n_splits: u64) -> Mean {
    let values: Vec<f64> = (0..n_splits)
        .map(|seed| {
            let test = cora.split(seed).test;
            assert_eq!(test.len(), 542);
            cora.nmi(&rows_of(y, dim, &test), &test, seed).unwrap()
        })
        .collect();
    Mean::of(&values)
}

#[test]
fn a_plain_fit_is_good() {
    let Some(cora) = cora() else {
        return;
    };
    let model = fit(&Params::default().check().unwrap(), &cora.data).unwrap();
    let mean = nmi_on_test_rows(&cora, model.embeddings(), 64, 10);
    let report = model.report();
    eprintln!(
        "Cora (A), all defaults, 10 splits: NMI {:.1} +- {:.1}; {} steps in {:.1} s, held-out score {:?}",
        mean.mean, mean.standard_error, report.steps, report.seconds, report.held_out
    );
    assert!(mean.mean >= 45.0, "{mean:?}");
}

#[test]
fn the_papers_network_does_not_diverge_with_either_sampler() {
    let Some(cora) = cora() else {
        return;
    };
    for sampler in [Sampler::Block, Sampler::Pairs] {
        let params = Params {
            dim: 100,
            encoder: Some(EncoderKind::Mlp),
            mlp: Mlp {
                hidden: vec![3000],
                output_activation: OutputActivation::Tanh,
                batch_norm: true,
                dropout: 0.5,
                ..Mlp::default()
            },
            solver: Some(SolverKind::Sgd),
            sampling: Sampling {
                sampler,
                ..Sampling::default()
            },
            steps: Some(60),
            ..Params::default()
        };
        let model = fit(&params.check().unwrap(), &cora.data).unwrap();
        let (start, best) = model.report().held_out.unwrap();
        let mean = nmi_on_test_rows(&cora, model.embeddings(), 100, 5);
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

#[test]
fn a_robust_fit_finds_more_than_a_plain_one_also_of_unseen_nodes() {
    let Some(cora) = cora() else {
        return;
    };
    let params = Params::default().check().unwrap();
    let (recipe, runtime) = (Recipe::default(), Runtime::default());
    let model = fit(&params, &cora.data).unwrap();
    let robust = fit_model(&params, &cora.data, &recipe, runtime).unwrap();
    let plain = nmi_on_test_rows(&cora, model.embeddings(), 64, 5).mean;
    let smooth = nmi_on_test_rows(&cora, robust.model.recommended(), 64, 5).mean;

    let split = cora.split(0);
    let training = cora.training(&split).unwrap();
    let model = fit_model(&params, &training.data, &recipe, runtime);
    let model = model.unwrap().model;
    let embed = |links| embed_new(&model, 0, &training.unseen, links).unwrap();
    let judge = |y: &[f32]| cora.nmi(y, &split.test, 0).unwrap();
    let alone = judge(&embed(None).embeddings);
    let with_links = judge(&embed(Some(&training.links)).embeddings);
    eprintln!(
        "Cora, robust: (A) {plain:.1}, robust {smooth:.1}; (B) from features {alone:.1}, with \
         links {with_links:.1}"
    );
    assert!(smooth > plain + 3.0 && smooth > 50.0, "{plain} {smooth}");
    assert!(alone > 38.0 && with_links > 48.0, "{alone} {with_links}");
}
